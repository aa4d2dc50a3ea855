"""Test rubrics: answers of known worth, recorded judge outputs, and what the scores must come to."""
