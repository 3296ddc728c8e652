"""Scores of hypotheses against references. Knows nothing of models."""
