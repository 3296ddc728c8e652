"""Makes the lines of the frozen outputs: sentences of the bundled corpus, each written as real texts write them.

python tests/frozen/lines.py        # writes eng.txt and deu.txt: run it only to add kinds of lines
"""

import html
import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

HERE = Path(__file__).parent
CORPUS = HERE.parents[1] / "data" / "eng-deu.tsv"
PER_WAY = 12  # lines for each way to write a sentence
PLAIN = 130

Write = Callable[[str, random.Random], str]
NEIGHBOURS = {
    key: row[index + 1] for row in ("qwertyuiop", "asdfghjkl", "zxcvbnm") for index, key in enumerate(row[:-1])
}


def wrap(opening: str, closing: str, text: str, generator: random.Random) -> str:
    """Puts marks around one or two words of a text."""
    words = text.split()
    start = generator.randrange(len(words))
    end = min(len(words), start + generator.randint(1, 2))
    words[start], words[end - 1] = opening + words[start], words[end - 1] + closing
    return " ".join(words)


def insert(part: str, text: str, generator: random.Random) -> str:
    """Puts a part between two words of a text, or at one of its ends."""
    words = text.split()
    words.insert(generator.randint(0, len(words)), part)
    return " ".join(words)


def mistype(text: str, generator: random.Random) -> str:
    """Leaves out, doubles, exchanges or misses one letter of a text."""
    index = generator.choice([index for index, letter in enumerate(text) if letter.isalpha()])
    letter, following = text[index], text[index + 1 : index + 2]
    written = generator.choice(("", letter * 2, following + letter, NEIGHBOURS.get(letter, letter)))
    return text[:index] + written + text[index + (2 if written == following + letter else 1) :]


def exchange_letters(pairs: dict[str, str], text: str, generator: random.Random) -> str:
    return text.translate(str.maketrans(pairs))


def widen(text: str, generator: random.Random) -> str:
    """Writes the letters and digits of a text in full width."""
    return "".join(chr(ord(letter) + 0xFEE0) if letter.isascii() and letter.isalnum() else letter for letter in text)


def name(names: tuple[str, ...], text: str, generator: random.Random) -> str:
    """Puts a strange name in the place of a known one, else in front."""
    strange = generator.choice(names)
    known = next((word for word in text.split() if word.strip(".,!?") in ("Tom", "Mary", "Boston", "Maria")), None)
    return text.replace(known.strip(".,!?"), strange) if known else f"{strange}: {text}"


NAMES = ("Kazimierz", "Siobhan", "Okonkwo", "Szczecin", "Xiomara", "Iñigo", "Zeynep", "J. R. Thorvaldsen", "Łódź")
CODES = ("report.pdf", "C++", "AT&T", "snake_case", "getElementById", "main()", "NULL", "@tom_b", "#holiday", "--help")
TAGS = (("<b>", "</b>"), ('<a href="x.html">', "</a>"), ("<i>", "</i>"), ('<x id="1">', "</x>"), ("<code>", "</code>"))
PARTS = (
    "{name}",
    "%s",
    "%(count)d",
    "${user}",
    "<br>",
    "<br/>",
    "&nbsp;",
    "🙂",
    ":-)",
    "https://example.org/a?b=1",
    "me@example.org",
    "⟦0⟧",
    "[X5X]",
    "{{title}}",
    "%1$s",
    "&copy;",
    "CO₂",
    "1½",
)
PAIRS = (("*", "*"), ("**", "**"), ("_", "_"), ("~~", "~~"), ("(", ")"), ("[", "]"), ("{", "}"), ('"', '"'), ("'", "'"))
AROUND = (
    ("“", "”"),
    ("„", "“"),
    ("«", "»"),
    ('"', '"'),
    ("'", "'"),
    ("(", ")"),
    ("<p>", "</p>"),
    ("**", "**"),
    ("- ", ""),
    ("3. ", ""),
    ("a) ", ""),
    ("1.2.3 ", ""),
    ("• ", ""),
    ("> ", ""),
    ("Q: ", ""),
    ("", " 🙂"),
    ("", " [4]"),
    ("\u200e", ""),
    ("", "\u200b"),
    ("  ", "  "),
    ("[x] ", ""),
    ("iv) ", ""),
    ("", "..."),
    ("", ":"),
)
ENGLISH = (
    "I have {n} books and {m} pens.",
    "It costs ${n}.50.",
    "The flight leaves at {h}:{q}0 p.m.",
    "See you at {h} p.m.",
    "We work from {h} to 5 p.m. every day.",
    "He was born on March {d}, 19{n}.",
    "Come back on the {d}th of October.",
    "On October {d} we leave.",
    "It rained in April 20{n}.",
    "She is {n} years old.",
    "The 19{n}s were hard.",
    "This is the {d}rd time.",
    "He ran {n}.5 km.",
    "It weighs {n},000.5 kg.",
    "Call +49 30 {n}{n}{m}{m}.",
    "It is {n} °C outside.",
    "About {n} % of us agreed.",
    "Version {h}.{q}.1 is out.",
    "There were {n},{m}00 people.",
    "Turn to page {n} (chapter {h}).",
    "The box is {n} x {m} x 10 cm.",
    "He read pp. {h}-{n}.",
    "I waited for {h} or {d} hours.",
    "He and/or she is {h} years old.",
    "Tom's brother(s) came at {h} a.m.",
    "We need {h}/{d} of it.",
    "My ID is A{n}-{m}B.",
    "The meeting is on 12/{d}/20{n}.",
    "He owes me €{n} and £{m}.",
    "They won {h}:{q}.",
    "In §{n} of the law it says no.",
)
GERMAN = (
    "Ich habe {n} Bücher und {m} Stifte.",
    "Es kostet {n},50 €.",
    "Der Zug fährt um {h}:{q}0 Uhr.",
    "Wir sehen uns um {h} Uhr.",
    "Wir arbeiten von {h} bis 17 Uhr.",
    "Er wurde am {d}. März 19{n} geboren.",
    "Komm am {d}. Oktober zurück.",
    "Am {d}. Oktober fahren wir.",
    "Im April 20{n} regnete es.",
    "Sie ist {n} Jahre alt.",
    "Die 19{n}er waren hart.",
    "Das ist das {d}. Mal.",
    "Er lief {n},5 km.",
    "Es wiegt {n}.000,5 kg.",
    "Ruf +49 30 {n}{n}{m}{m} an.",
    "Draußen sind es {n} °C.",
    "Etwa {n} % von uns stimmten zu.",
    "Version {h}.{q}.1 ist da.",
    "Es kamen {n}.{m}00 Leute.",
    "Siehe Seite {n} (Kapitel {h}).",
    "Die Kiste ist {n} x {m} x 10 cm groß.",
    "Er las S. {h}-{n}.",
    "Ich wartete {h} oder {d} Stunden.",
    "Er und/oder sie ist {h} Jahre alt.",
    "Die Schüler*innen kamen um {h} Uhr.",
    "Liebe Kolleg:innen, es ist {h} Uhr.",
    "Jede*r kennt Lehrer/-innen.",
    "Meine Nummer ist A{n}-{m}B.",
    "Das Treffen ist am {d}.12.20{n}.",
    "Er schuldet mir {n} € und {m} £.",
    "Sie gewannen {h}:{q}.",
    "In § {n} des Gesetzes steht nein.",
    "Das ist z. B. Dr. Müller, mind. {n} Jahre alt.",
)
CYRILLIC = {"a": "а", "e": "е", "o": "о"}
COMBINING = {"ä": "a\u0308", "ö": "o\u0308", "ü": "u\u0308", "e": "e\u0301"}
CURLY = {"'": "’", "-": "‑", " ": "\u00a0"}


def list_ways() -> dict[str, Write]:
    """Returns the ways to write a sentence, by name."""
    ways: dict[str, Write] = {
        "upper": lambda text, _: text.upper(),
        "lower": lambda text, _: text.lower(),
        "title": lambda text, _: " ".join(word[:1].upper() + word[1:] for word in text.split()),
        "shift": lambda text, _: text[:2].upper() + text[2:],
        "no mark": lambda text, _: text.rstrip(".!?"),
        "entities": lambda text, _: html.escape(text).replace(" ", "&nbsp;", 1).replace("ü", "&uuml;"),
        "full width": widen,
        "tab": lambda text, _: text.replace(" ", "\t", 1),
        "foreign": partial(insert, "москва"),
        "slashes": lambda text, _: text.replace(" ", "/", 1),
        "option": partial(insert, "(a) and (b)"),
        "quoted word": partial(wrap, "“", "”"),
        "menu": lambda text, generator: generator.choice("_&") + text.rstrip(".!?"),
        "formula": partial(insert, "x = y + 2"),
        "long": lambda text, _: f"{text[:-1]}, " * 12 + text,
    }
    ways |= {f"mistyped {number}": mistype for number in range(6)}
    ways |= {f"strange {number}": partial(name, NAMES) for number in range(3)}
    ways |= {f"code {number}": partial(name, CODES) for number in range(3)}
    ways |= {f"letters {pairs}": partial(exchange_letters, pairs) for pairs in (CYRILLIC, COMBINING, CURLY)}
    ways |= {f"tags {tags}": partial(wrap, *tags) for tags in TAGS}
    ways |= {f"part {part}": partial(insert, part) for part in PARTS}
    ways |= {f"pair {pair}": partial(wrap, *pair) for pair in PAIRS}
    return ways


def write_lines(sentences: list[str], templates: tuple[str, ...], seed: int) -> Iterator[str]:
    """Yields the lines of a language: plain, each way a few, what stands around a sentence, templates, joined ones."""
    generator = random.Random(seed)
    yield from generator.sample(sentences, PLAIN)
    for write in list_ways().values():
        count = PER_WAY if not str(write).count("insert") else PER_WAY // 2
        yield from (write(sentence, generator) for sentence in generator.sample(sentences, count))
    for before, after in AROUND:
        yield from (f"{before}{sentence}{after}" for sentence in generator.sample(sentences, 4))
    for joint in (" ", "<br>", " – ", "; ", " | ", "\\n", "…"):
        yield from (joint.join(generator.sample(sentences, 2)) for _ in range(6))
    for template in templates:
        for _ in range(4):
            numbers = {
                "n": 20 + generator.randrange(79),
                "m": generator.randrange(10, 99),
                "d": generator.randint(3, 28),
            }
            line = template.format(h=generator.randint(1, 12), q=generator.randrange(6), **numbers)
            yield generator.choice((str, str, str, str.upper, str.lower))(line)


def main() -> None:
    pairs = [line.split("\t") for line in CORPUS.read_text(encoding="utf-8").splitlines()[:6000]]
    for language, side, templates in (("eng", 0, ENGLISH), ("deu", 1, GERMAN)):
        sentences = [pair[side] for pair in pairs if 3 <= len(pair[side].split()) <= 12]
        lines = [line for line in write_lines(sentences, templates, seed=side) if line.strip()][:1000]
        (HERE / f"{language}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
        print(language, len(lines))


if __name__ == "__main__":
    main()
