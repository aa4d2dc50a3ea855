"""Improve a rubric: propose other wordings, and offer only what measures better on answers not used to write it."""
