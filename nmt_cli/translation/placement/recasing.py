"""Puts the case of a source back into its translation: whole for a line in capitals, by word alignment for words.

Spans that must not change keep theirs. Knows no network.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from nmt_cli.rewriting.case import CasePlan, capitalise_text, upper_text
from nmt_cli.translation.placement.word_alignment import link_words
from nmt_cli.translation.result import Hypothesis, Link, Translation


def recase_translation(
    translation: Translation, plan: CasePlan, language: str, source_words: Mapping[int, int]
) -> Translation:
    """Returns the translation of a piece with all its hypotheses in the case of the source.

    `source_words` says which word of the line each word is that the network read, since links of lines with spans count
    the words of the line.
    """
    hypotheses = []
    for hypothesis in translation.hypotheses:
        links, counts_line = find_piece_links(translation, hypothesis) if plan.kind != "upper" else ((), False)
        words = frozenset(source_words[word] for word in plan.words) if counts_line else plan.words
        spans = [span.text for span in hypothesis.placed_spans]
        text = recase_text(hypothesis.text, plan._replace(words=words), links, spans, language)
        hypotheses.append(hypothesis._replace(text=text))
    return translation._replace(hypotheses=tuple(hypotheses))


def find_piece_links(translation: Translation, hypothesis: Hypothesis) -> tuple[tuple[Link, ...], bool]:
    """Returns the word links of a piece, none for a network without attention, and whether they count the line."""
    if not hypothesis.attention.any():
        return (), False
    if hypothesis.words and hypothesis.words[0].links is not None:
        return hypothesis.words[0].links, True
    return link_words(translation.source_pieces, hypothesis.pieces, hypothesis.attention), False


def recase_text(text: str, plan: CasePlan, links: Sequence[Link], spans: Sequence[str], language: str) -> str:
    """Returns a translation in the case of its source.

    `links` are those of its words, and `spans` the texts in it that must not change.
    """
    if plan.kind == "upper":
        return "".join(part if is_span else upper_text(part, language) for part, is_span in split_spans(text, spans))
    words = [match.span() for match in re.finditer(r"\S+", text)]
    choose = choose_title_words if plan.kind == "title" else choose_shouted_words
    kept = [is_span for part, is_span in split_spans(text, spans) for _ in part]
    letters = list(text)
    for index in choose([text[start:end] for start, end in words], plan, links):
        free = [position for position in range(*words[index]) if not kept[position] and text[position].isalpha()]
        for position in free[:1] if plan.kind == "title" else free:
            change = capitalise_text if plan.kind == "title" else upper_text
            letters[position] = change(letters[position], language)
    return "".join(letters)


def split_spans(text: str, spans: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yields the parts of a text, and whether each is one of `spans`."""
    names = "|".join(re.escape(span) for span in sorted(spans, key=len, reverse=True) if span)
    for number, part in enumerate(re.split(f"({names})", text) if names else [text]):
        yield part, number % 2 == 1


def choose_title_words(words: Sequence[str], plan: CasePlan, links: Sequence[Link]) -> list[int]:
    """Returns the words that get a capital: those of the source's capitals, and all if nothing is linked."""
    linked: dict[int, set[int]] = {}
    for source, target in links:
        linked.setdefault(target, set()).add(source)
    return [index for index in range(len(words)) if not links or linked.get(index, set()) & plan.words]


def choose_shouted_words(words: Sequence[str], plan: CasePlan, links: Sequence[Link]) -> list[int]:
    """Returns the word of the translation for each word of the source that was in capitals: the longest linked one."""
    chosen = []
    for source in plan.words:
        targets = [target for other, target in links if other == source and target < len(words)]
        chosen += sorted(targets, key=lambda target: -len(words[target]))[:1]
    return chosen
