"""Read files: decode bytes to text, and parse text to node trees with places."""
