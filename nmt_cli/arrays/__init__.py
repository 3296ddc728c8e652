"""Arrays: their types, ragged arrays, padding, batches. Does not depend on text, files or networks."""
