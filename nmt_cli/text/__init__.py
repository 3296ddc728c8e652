"""Strings: normalising, words, tokenizers, protected spans, streams of lines. Knows nothing of networks."""
