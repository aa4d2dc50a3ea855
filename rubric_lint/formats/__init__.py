"""What others write: dialects of other systems, home-made rubrics, suites of AgentV, sheets.

Call `search.locate` for the rubrics of a document, `home_made.understand` for what nobody described, `sheets.reading`
for tables of cells, `agentv` for suites. `dialects/` has a module or a table for each system. `convert` writes.
"""
