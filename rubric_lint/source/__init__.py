"""Bytes to text to a node tree with places, and changed data back to text.

Call `source.Source` for a text, `reading` for its documents, `document` and `path` for places in it. `patch/` writes
changed data, `edits/` makes the edits of repairs.
"""
