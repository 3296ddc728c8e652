"""Strings: normal form, words, subwords, profiles, streams of lines. Knows no corpora, batches or networks."""
