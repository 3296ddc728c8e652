"""Recurrences for training with hand-written gradients: as exact as automatic differentiation, and faster."""
