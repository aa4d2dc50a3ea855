"""The language server: the engine's findings, fixes and facts in the terms of the Language Server Protocol."""
