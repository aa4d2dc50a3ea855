"""What reward functions share: options, counts, the judge that they ask."""
