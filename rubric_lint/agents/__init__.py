"""The server for coding agents, by the Model Context Protocol: `rubric-lint mcp`.

`server` takes calls, `tools` has what they run, `roots` refuses paths outside the allowed folders.
"""
