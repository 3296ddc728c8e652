"""Workers for blocks: this process, worker processes or a Ray cluster. Knows nothing about the content of blocks."""
