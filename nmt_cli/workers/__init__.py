"""Who works on blocks: this process, worker processes or a Ray cluster. Knows nothing of what the blocks are."""
