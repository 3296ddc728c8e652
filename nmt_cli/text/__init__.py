"""Strings: normal form, words, subwords, protected spans, streams of lines. Knows no corpora, batches or networks."""
