"""What changed between two runs or two versions of a rubric, and whether limits hold."""
