"""Serve findings, fixes and facts about rubrics over the Language Server Protocol."""
