"""Rewrites source text that would mislead the network, and undoes it in the translation."""
