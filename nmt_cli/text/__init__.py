"""Strings: normal form, words, subwords, profiles, streams of lines. Does not depend on corpora or networks."""
