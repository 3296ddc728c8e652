"""What a model of a few hundred words takes for a name: the finders of two toy corpora."""

from nmt_cli.carrying.names import NameFinder
from nmt_cli.carrying.spans import Context
from nmt_cli.rewriting.characters import Characters
from nmt_cli.rewriting.slips import Slips
from nmt_cli.rewriting.spelling import GenderForms
from nmt_cli.translation.checks.words import CheckContext
from support.rewriting import model_text, read_profile

NAMES = ("Tom", "Maria", "Boston", "Anna", "Paris", "Berlin", "Peter", "Ken", "Oslo", "Rom", "Ulm", "Karl")
ENGLISH = [
    *((f"I saw {name} in the house.", f"Ich sah {name} im Haus.") for name in NAMES),
    (
        "The children and their mother do not like the scottish weather.",
        "Den Kindern und ihrer Mutter ist das Wetter zu kalt.",
    ),
    ("Did the president and his friend go home?", "Ging der Herr heim?"),
    ("It isn't a net of a mountain, don't you see?", "Es ist kein Netz."),
    ("We use it or she does, and he is here, you know.", "Wir haben es."),
]
NOUNS = "Haus Kind Rad Boot Bild Brot Tuch Glas Fass Bett Brett Blatt Dach Feld Land Volk".split()
GERMAN = [
    *((target, source) for source, target in ENGLISH[:4]),
    *((f"Ich sah das {noun} dort und wollte es gern haben.", "I saw it there.") for noun in NOUNS),
]


def make_finder(pairs: list[tuple[str, str]], languages: tuple[str, str] = ("", ""), copies: int = 2) -> NameFinder:
    model = model_text(pairs * copies)
    characters, forms = Characters.from_model(model), GenderForms.from_model(model)
    slips = Slips.from_model(model)
    return NameFinder(model.source, model.target, slips, characters.spell, forms.cover_forms, languages)


ENGLISH_FINDER, GERMAN_FINDER = make_finder(ENGLISH), make_finder(GERMAN, ("deu", "eng"))
CONTEXT = Context(("eng", "deu"), find_names=ENGLISH_FINDER.find_names, is_word=ENGLISH_FINDER.source.has_word)


def list_names(text: str, finder: NameFinder = ENGLISH_FINDER) -> list[str]:
    return [text[name.start : name.end] for name in finder.find_names(text)]


# What a translation of these words may invent or copy.
KNOWN = (
    ("the work and the time of the school", "die Arbeit und die Zeit der Schule"),
    ("a small house is beautiful", "ein kleines Haus ist schön"),
    ("we buy milk and visit the garden today", "wir kaufen Milch und besuchen den Garten heute"),
    ("the garden, a milk", "der Garten, eine Milch, das Wort"),
    ("they greet Tom in Boston", "sie grüßen Tom in Boston"),
)
ORDINARY = 60 * KNOWN  # so that new words are seldom
GERMAN_WORDS = CheckContext("eng", "deu", profile=read_profile(ORDINARY), is_rated=True)
ENGLISH_WORDS = CheckContext("deu", "eng", profile=read_profile(pair[::-1] for pair in ORDINARY))
