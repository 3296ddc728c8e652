"""Greedy and beam search over a step model: ids, scores and attention. Knows no text, file or network."""
