"""Batches of training pairs, and their augmentation."""
