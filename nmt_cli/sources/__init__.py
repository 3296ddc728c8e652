"""What a row of the source side is: text, or the grid of an image."""
