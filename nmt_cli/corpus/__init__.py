"""From text files to a prepared directory: reading, cleaning, splitting, subwords, ids, batches."""
