"""Training that starts from another model: its weights, for the same subwords or others, and its old pairs."""
