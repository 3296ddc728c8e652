"""Writes 3,000 pairs of simple English and French sentences, made by a grammar, for a lesson on attention.

python examples/toy_pairs.py > toy.tsv

French puts these adjectives behind their noun and adverbs behind the verb, so attention leaves the diagonal where one
expects it. Sentences have one to three clauses: a network without attention loses its way in the long ones.
"""

from __future__ import annotations

import random
import re

PAIRS = 3_000
CLAUSES = (0.5, 0.3, 0.2)  # shares of sentences with one, two, three clauses

# English: French, with the gender of nouns and both genders of adjectives.
BEINGS = """cat: chat m, dog: chien m, bird: oiseau m, boy: garçon m, teacher: professeur m, baker: boulanger m,
    cow: vache f, girl: fille f, queen: reine f, mouse: souris f, nurse: infirmière f, singer: chanteuse f"""
THINGS = "letter: lettre f, house: maison f, table: table f, book: livre m, cake: gâteau m, boat: bateau m"
PLACES = "garden: jardin m, street: rue f, kitchen: cuisine f, forest: forêt f, town: village m, school: école f"
ADJECTIVES = """black: noir noire, white: blanc blanche, green: vert verte, red: rouge rouge,
    tired: fatigué fatiguée, famous: célèbre célèbre, strong: fort forte, calm: calme calme"""
ARTICLES = "the: le la, a: un une"
VERBS = "sees: voit, looks for: cherche, finds: trouve, likes: aime, draws: dessine, forgets: oublie"
ADVERBS = "often: souvent, always: toujours, rarely: rarement"
PREPOSITIONS = "in: dans, behind: derrière, near: près de"
CONJUNCTIONS = "and: et, because: parce que, when: quand, but: mais"
ELISION = re.compile(r"\b(l|d|qu)[ea] (?=[aeiouéh])")


def choose(chance: random.Random, words: str) -> tuple[str, str]:
    """Returns an English word and its French ones."""
    english, french = chance.choice(re.split(r",\s+", words)).split(": ")
    return english, french


def make_noun_phrase(chance: random.Random, nouns: str) -> tuple[str, str]:
    """Returns an article and a noun, one in two with an adjective."""
    (noun, noun_french), (article, articles) = choose(chance, nouns), choose(chance, ARTICLES)
    target, gender = noun_french.split()
    target = f"{articles.split()[gender == 'f']} {target}"
    if chance.random() < 0.5:
        return f"{article} {noun}", target
    adjective, forms = choose(chance, ADJECTIVES)
    return f"{article} {adjective} {noun}", f"{target} {forms.split()[gender == 'f']}"


def make_clause(chance: random.Random) -> tuple[str, str]:
    """Returns subject, verb and object, with an adverb or a place in some."""
    subject, verb = make_noun_phrase(chance, BEINGS), choose(chance, VERBS)
    parts = [subject, verb, make_noun_phrase(chance, f"{BEINGS}, {THINGS}")]
    if chance.random() < 0.3:
        parts += [choose(chance, PREPOSITIONS), make_noun_phrase(chance, PLACES)]
    source, target = ([part[side] for part in parts] for side in (0, 1))
    if chance.random() < 0.3:
        adverb, french = choose(chance, ADVERBS)
        source.insert(1, adverb)
        target.insert(2, french)
    return " ".join(source), " ".join(target)


def make_sentence(chance: random.Random) -> tuple[str, str]:
    """Returns one to three clauses."""
    source, target = make_clause(chance)
    for _ in range(chance.choices((0, 1, 2), CLAUSES)[0]):
        conjunction, clause = choose(chance, CONJUNCTIONS), make_clause(chance)
        source, target = f"{source} {conjunction[0]} {clause[0]}", f"{target} {conjunction[1]} {clause[1]}"
    return f"{source}.", ELISION.sub(r"\1'", target).replace("de le ", "du ") + "."


def make_pairs() -> dict[str, str]:
    """Returns the translation of each sentence."""
    chance = random.Random(1)
    pairs: dict[str, str] = {}
    while len(pairs) < PAIRS:
        source, target = make_sentence(chance)
        pairs[source] = target
    return pairs


if __name__ == "__main__":
    for source, target in make_pairs().items():
        print(f"{source}\t{target}")
