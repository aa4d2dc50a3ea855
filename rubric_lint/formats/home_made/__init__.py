"""Rubrics in forms of teams: what a file holds of them, the table that describes a form, and its reader."""
