"""Tokens that contain a masked span and more, which are one code: `%s:%s`, `localhost:8080`, `foo_{id}`, `{width}px`.

Knows spans and which words training had.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from nmt_cli.carrying.kind import Context, WordTest
from nmt_cli.carrying.spans import NUMERIC, PROGRAM_TOKENS, Span, SpanKind
from nmt_cli.text.characters import ANY_OPENING

VARIABLE_SIGNS, SIGNS_WITHIN = frozenset(("*", "**", "&")), frozenset("_~")
REACH = 40  # characters on either side of a span that may belong to it
# Patterns as text: compiled at their first use, which most texts do not need.
BETWEEN = r"[:/@=_.,;×+-]{0,3}"
LEFT = rf"(?<![^\s{re.escape(ANY_OPENING)}])(?:[A-Za-z][\w.-]*[:@=/]?|[\\$@%#]{{1,2}}:?)$"
BEFORE_VALUE = r"(?:^|\s)--?[A-Za-z][\w-]*[ =]?$"
RIGHT = r"[:@=/_.]?[A-Za-z_][\w/:]*+(?!['’-]\w)|[:/.@_]\d+"


def join_tokens(spans: Sequence[Span], text: str, is_word: WordTest) -> list[Span]:
    """Joins masked spans with what belongs to them in their token; spans are in order."""
    joined: list[Span] = []
    for span, following in zip(spans, [*spans[1:], None], strict=True):
        if span.kind in PROGRAM_TOKENS and not span.is_extracted:
            start = joined[-1].end if joined else 0
            end = following.start if following else len(text)
            span = extend_token(span, text, max(start, span.start - REACH), min(end, span.end + REACH), is_word)
            if joined and is_one_token(joined[-1], span, text):
                span = make_token(text, joined.pop().start, span.end)
        elif joined and is_argument(joined[-1], span, text):
            span = make_token(text, joined.pop().start, span.end)
        joined.append(span)
    return joined


def extend_token(span: Span, text: str, start: int, end: int, is_word: WordTest) -> Span:
    """Extends a span by what adjoins it, from `start` to `end` at most, unless it consists of words."""
    before = re.search(LEFT, text[start : span.start])
    after = re.match(RIGHT, text[span.end : end])
    abbreviates = before and before[0].endswith(".") and span.is_number  # ca.100
    start = span.start - (len(before[0]) if before and not abbreviates and is_no_word(before[0], is_word) else 0)
    end = span.end + (len(after[0]) if after and is_no_word(after[0], is_word) else 0)
    return span if (start, end) == (span.start, span.end) else make_token(text, start, end)


def is_variable(sign: Span, text: str, context: Context) -> bool:
    """Whether a sign belongs to the word behind it, in small letters, that training never had: `*args`, `&x`.

    `_` and `~` begin an entry of a menu (`_zoom`), and variables only within a text.
    """
    signs = VARIABLE_SIGNS | SIGNS_WITHIN if sign.start else VARIABLE_SIGNS
    if context.is_word is None or sign.text not in signs:
        return False
    name = re.compile(r"[a-z]\w*").match(text, sign.end)
    return name is not None and not context.is_word(name[0])


def is_no_word(part: str, is_word: WordTest) -> bool:
    """Whether a part of a token is more than known words and capitalised ones; one letter is a word by itself only."""
    words = re.findall(r"[^\W\d_]+", part)
    return not words or "_" in part or any(len(word) == 1 or is_strange(word, is_word) for word in words)


def is_strange(word: str, is_word: WordTest) -> bool:
    return word != word.capitalize() and not is_word(word)


def is_one_token(first: Span, second: Span, text: str) -> bool:
    """Whether signs alone are between two spans, which are not both numbers."""
    if first.is_extracted or first.kind not in PROGRAM_TOKENS or {first.kind, second.kind} <= NUMERIC:
        return False
    return re.fullmatch(BETWEEN, text[first.end : second.start]) is not None


def is_argument(command: Span, tag: Span, text: str) -> bool:
    """Whether a tag stands for the value of the option with which a code ends: `git commit -m <message>`."""
    return command.kind is SpanKind.CODE and command.end >= tag.start - 1 and is_value(tag, text)


def is_value(tag: Span, text: str) -> bool:
    """Whether a tag that encloses nothing stands behind an option of a command."""
    if tag.kind is not SpanKind.TAG or tag.pair is None:
        return False
    # The few characters before first: texts of many tags would be read through for each.
    before = text[max(0, tag.start - REACH) : tag.start]
    return re.search(BEFORE_VALUE, before) is not None and f"</{tag.pair.name}>" not in text


def make_token(text: str, start: int, end: int) -> Span:
    return Span(start, end, text[start:end], SpanKind.CODE)
