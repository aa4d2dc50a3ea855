"""Read text: bytes to text to a node tree with places."""
