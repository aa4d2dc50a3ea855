"""Read rubrics from tables in CSV, Excel workbooks and Markdown."""
