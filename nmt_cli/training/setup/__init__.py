"""Decisions before the first update: the defaults that suit a corpus, the size of the network, the run itself."""
