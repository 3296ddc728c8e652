"""Arrays: their types, ragged arrays, padding, batches. Knows nothing of text, files or networks."""
