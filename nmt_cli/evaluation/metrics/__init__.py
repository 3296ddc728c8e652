"""Metrics: hypotheses and references in, scores with signatures out."""
