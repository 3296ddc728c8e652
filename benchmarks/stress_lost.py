"""What gets lost in hostile lines, and whether `nmt translate` says so: `stress.py --lost`.

A hostile line is one or several sentences, changed in up to three ways, with numbers, tags, placeholders and addresses
put in. What must come through is counted without the checks of the product.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from stress_rows import CHANGES, WORD, list_lost_numbers

from nmt_cli.search.config import SearchOptions
from nmt_cli.translation.config import CheckOptions, RepairOptions, TranslateOptions
from nmt_cli.translation.result import Translation
from nmt_cli.translation.translator import LineTranslator

BATCH = 500  # lines that are translated together
GREEDY = SearchOptions(beam_size=1)
JOINTS = (" ", " ", "<br>", "<br/>", "</p><p>", " 🙂 ", "</li><li>")
NUMBERS = (
    "1984 17 42 3 3,500 2.75 192.168.0.1 A4-17 12:45 2024-03-09 21 5th 50% $20 +49 30 901820 v1.2.3 -4 08/15 2 1 1990s"
    " 3rd 100th 1,234,567.89 ½ 10–12 COVID-19 7.5kg"
).split()
PLACEHOLDERS = "%s %d %(count)d {name} {0} {{user.name}} %1 %L2 %<x>d $t(key) ${value} %-5.2f %n &nbsp; %%".split()
ADDRESSES = ("https://example.org/a?b=1&c=2", "me@example.org", "www.example.org", "<code>x = 1</code>", "`ls -l`")
TAGS = ("b", "i", "span class='x'", 'a href="https://example.org/"')
EMPTY_TAGS = ("<br/>", '<img src="a.png">', "<x id='1'/>")
MOST_CHANGES, MOST_INSERTIONS, MOST_SENTENCES = 3, 3, 3
SHORT = 0.5  # of the letters of the clean translations of its sentences: a text of several has then lost one
BREAKING = frozenset({"U+200E in front", "entities"})  # rows that go last
KINDS = ("any", "number", "tag", "placeholder", "sentence", "line")


class HostileLine(NamedTuple):
    """A line to translate, its sentences as they were, and what must stand in its translation."""

    text: str
    sentences: tuple[str, ...]
    spans: tuple[str, ...]


def make_lines(sources: Sequence[str], count: int, seed: int) -> list[HostileLine]:
    generator = Random(seed)
    return [make_line(sources, generator) for _ in range(count)]


def make_line(sources: Sequence[str], generator: Random) -> HostileLine:
    """Returns a hostile mixture of sentences that are drawn from the sources."""
    count = generator.choice((1, 1, *range(2, MOST_SENTENCES + 1)))
    sentences = tuple(generator.choice(sources) for _ in range(count))
    # 1. Change the words: case, errors, marks.
    rows = generator.sample(CHANGES, generator.randint(0, MOST_CHANGES))
    changed = list(sentences)
    for row in sorted(rows, key=lambda row: row.name in BREAKING):
        changed = [row.change(sentence, generator) for sentence in changed]
    # 2. Put in what must come through.
    spans: list[str] = []
    parts = [sentence.split(" ") for sentence in changed]
    for _ in range(generator.randint(0, MOST_INSERTIONS)):
        spans += insert_span(generator.choice(parts), generator)
    # 3. Join the sentences.
    text, *rest = (" ".join(words) for words in parts)
    for sentence in rest:
        joint = generator.choice(JOINTS)
        spans += re.findall(r"<[^>]*>|🙂", joint)
        text += joint + sentence
    return HostileLine(text, sentences, tuple(spans))


def insert_span(words: list[str], generator: Random) -> list[str]:
    """Puts a number, a placeholder, an address or tags between the words, and returns the spans among them.

    Numbers are not among the spans: they are counted by value.
    """
    index, kind = generator.randrange(len(words)), generator.randrange(5)
    if kind == 0:
        words.insert(index, generator.choice(NUMBERS))
        return []
    if kind == 1 and words[index].isalpha():
        tag = generator.choice(TAGS)
        spans = [f"<{tag}>", f"</{tag.split()[0]}>"]
        words[index] = words[index].join(spans)
        return spans
    span = generator.choice((PLACEHOLDERS, ADDRESSES, EMPTY_TAGS)[kind % 3])
    words.insert(index, span)
    return [span]


def list_losses(line: HostileLine, target: str, clean: Sequence[str], language: str) -> Iterator[str]:
    """Yields the kinds of what `target` lost; `clean` are the translations of the sentences as they were."""
    letters = sum(map(len, WORD.findall(re.sub(r"<[^>]*>", " ", target))))
    expected = sum(len(word) for text in clean for word in WORD.findall(text))
    if expected and not letters:
        yield "line"
        return
    for span, count in Counter(line.spans).items():
        if target.count(span) < count:
            yield "tag" if span[0] == "<" else "placeholder"
    if list_lost_numbers(html.unescape(line.text), html.unescape(target), language):
        yield "number"
    if len(line.sentences) > 1 and letters < SHORT * expected:
        yield "sentence"


def is_reported(translation: Translation) -> bool:
    """Whether `nmt translate` names the line: a failed check, a repair without success, a span at a guessed place."""
    has_failed = any(repair.remedy is None for repair in translation.repairs)
    return bool(translation.checks) or has_failed or any(placed.doubtful for placed in translation.placed)


def translate_lines(translator: LineTranslator, lines: Sequence[str]) -> Iterator[Translation]:
    """Translates greedily, with repairs and checks."""
    for start in range(0, len(lines), BATCH):
        batch = lines[start : start + BATCH]
        yield from translator.translate(
            batch, TranslateOptions(GREEDY, repair=RepairOptions(), checks=CheckOptions()), first_line=start
        )


def count_losses(translator: LineTranslator, lines: Sequence[HostileLine], shown: int = 0) -> dict[str, Counter[str]]:
    """Returns how many lines lost something, by kind: of all lines, and of those that no message names.

    The count of "any" is of lines; `shown` of those without a message are printed.
    """
    sentences = sorted({sentence for line in lines for sentence in line.sentences})
    found = (translation.text for translation in translator.translate(sentences, TranslateOptions(GREEDY)))
    clean = dict(zip(sentences, found, strict=True))
    counts = {name: Counter[str]() for name in ("lost", "silent")}
    translations = translate_lines(translator, [line.text for line in lines])
    for line, translation in zip(lines, translations, strict=True):
        expected = [clean[sentence] for sentence in line.sentences]
        kinds = set(list_losses(line, translation.text, expected, translator.card.target_language))
        kinds |= {"any"} if kinds else set()
        counts["lost"].update(kinds)
        if kinds and not is_reported(translation):
            counts["silent"].update(kinds)
            if counts["silent"]["any"] <= shown:
                print(f"    {line.text}\n      {translation.text}\n      {sorted(kinds)}")
    return counts
