"""The source side: a row is a text, or the grid of a picture."""
