"""Recurrences for training whose gradients are written out: as exact as automatic differentiation, and faster."""
