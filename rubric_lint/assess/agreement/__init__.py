"""Measure how well judges agree with people and with each other, for a whole rubric, each criterion and each band."""
