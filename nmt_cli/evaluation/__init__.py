"""Scores hypotheses against references. Must not know training."""
