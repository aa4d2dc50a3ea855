"""Read rubrics from tables in CSV, Excel workbooks and Markdown.

Call `reading.read_tables` for the tables of a file and `rubrics.read_rubric` for the rubric of one. `csv_file`,
`excel_file` and `markdown_file` read cells with their places; `outline` finds the rubrics of a document. `columns`
finds out what each column holds.
"""
