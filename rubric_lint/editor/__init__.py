"""The language server: `rubric-lint lsp`.

`features.Server` hands each request on: `server/` holds documents and their findings, `answers/` has what editors ask
for, a module for each request.
"""
