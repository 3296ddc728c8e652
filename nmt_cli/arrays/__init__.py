"""Arrays: their types, ragged arrays, batches. Knows nothing of text, files or networks."""
