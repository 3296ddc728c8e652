"""Batches of training pairs, and how they are augmented."""
