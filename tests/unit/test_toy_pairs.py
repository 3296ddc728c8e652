"""The lesson's corpus: a grammar in which word order and agreement are known."""

import itertools
from collections import Counter

from support.scripts import load_script

PAIRS = load_script("examples/toy_pairs.py").make_pairs()


def test_pairs_are_the_same_each_time_and_of_one_to_three_clauses() -> None:
    assert load_script("examples/toy_pairs.py").make_pairs() == PAIRS
    verbs = {"sees", "looks", "finds", "likes", "draws", "forgets"}
    clauses = Counter(len(verbs & set(source.split())) for source in PAIRS)
    assert len(PAIRS) == 3_000 and set(clauses) == {1, 2, 3}


def test_french_agrees_elides_and_puts_adjectives_behind_their_noun() -> None:
    french = " ".join(PAIRS.values()).replace(".", "").split()
    follows = set(itertools.pairwise(french))
    assert {("chat", "noir"), ("vache", "blanche"), ("reine", "fatiguée")} <= follows
    assert not {("vache", "noir"), ("noir", "chat"), ("la", "infirmière"), ("le", "oiseau"), ("de", "le")} & follows
    assert {"l'oiseau", "l'infirmière", "qu'un", "d'une", "du"} <= set(french)
