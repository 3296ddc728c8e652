"""What scores hide: significance, sentence groups, alignments, warnings, the nearest training pairs."""
