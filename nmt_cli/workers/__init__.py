"""Workers for blocks: this process, worker processes or a Ray cluster. Does not know the content of blocks."""
