"""Intents of repairs, and the edits of a text that carry them out and leave every other byte alone.

A rule states an `intents.Repair`; call `making.make_fix` for its edits. `fields` makes those of single fields, `moving`
and `alias_graph` refuse what is unsafe, and `patch` writes collections whose data change.
"""
