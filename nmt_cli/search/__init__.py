"""Greedy and beam search over a step model: ids, scores and attention. Does not depend on texts, files or networks."""
