"""Analyses beyond scores: significance, sentence groups, alignments, warnings, the nearest training pairs."""
