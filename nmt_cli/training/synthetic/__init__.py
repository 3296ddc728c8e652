"""Synthetic pairs: text without translations, and the training pairs themselves, translated by helper models."""
