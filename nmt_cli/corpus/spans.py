"""Spans of text that translation must carry over byte for byte, and text in which they are masked.

Two ways lead through a network. A span that stands for a word (an address, an amount, `{name}`) is *carried*: a
placeholder takes its place, which the network has learnt to bring over. Markup and emoji stand for no word and would
only disturb it: they are *lifted* out of the text and put back by attention. Knows nothing of networks or files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from nmt_cli.corpus.clean import UNSPACED, normalise, unspaced
from nmt_cli.corpus.tokenizer import PLACEHOLDERS

MARK = "\ufdd0"  # stands for a lifted span while text is normalised; a code that is no character and never will be

BREAKS = r"\x00-\x1f\x7f-\x9f\u2028\u2029"  # what no span contains: control characters and ends of lines
LETTER = r"A-Za-z0-9_\u00c0-\u024f\u0370-\u052f"  # of scripts with blanks: the characters that make a longer word
UNSPACED_LETTERS = UNSPACED[1:-1]

ADDRESS = (
    rf"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%{{}}-]|(?![{UNSPACED_LETTERS}])[^\W_]|(?<=[/=?&#_-])[{UNSPACED_LETTERS}]+)"
)
DOMAINS = "com|org|net|edu|gov|io|dev|app|info|eu|de|fr|es|ch|uk|jp|cn"
# Bounded, so that a line of nothing but digits and points takes no longer than any other.
NUMBER = r"(?:\d{1,3}(?:[ \u00a0\u202f'’]\d{3}){1,6}(?!\d)(?:[.,]\d{1,20})?|\d{1,20}+(?:[.,]\d{1,20}+){0,6})"
AMOUNT = rf"[+±~≈−-]?{NUMBER}(?: ?[-–] ?{NUMBER})?"
SIGNS = "$€£¥₹₽₩₪₫₴₺₦฿¢₿"
CURRENCIES = "EUR|USD|GBP|JPY|CHF|CNY|INR|RUB|BRL|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|TRY|ZAR|KRW|MXN|SGD|HKD|BTC"
# A single letter after a blank may be a word of its own ("5 A students"): only those that are usual units are taken.
UNITS = (
    "km/h|m/s|mph|kWh|MWh|kW|MW|GW|kV|mV|mA|mAh|kHz|MHz|GHz|Hz|kPa|hPa|bar|kcal|kJ|dB|[kMGT]i?[Bb](?:/s|it/s)?|[kMG]bps"
    "|[kcmµμn]m[²³23]?|m[²³]|ha|[kmµμ]g|[mcd]l|mL|lbs?|oz|ft|yd|min|[mµμn]s|px|pt|rpm|dpi|fps|ppm"
)
PATTERNS = {
    "lifted": "|".join(
        (
            # Markup: a comment, a declaration, an instruction, or a tag, in whose quotes a `>` may stand.
            rf"<!--[^{BREAKS}]{{0,2000}}?-->|<[!?][A-Za-z\[][^<>{BREAKS}]{{0,2000}}>",
            rf"</?[A-Za-z][\w:.-]*+(?:\s(?:[^<>\"'{BREAKS}]|\"[^\"{BREAKS}]{{0,2000}}\"|'[^'{BREAKS}]{{0,2000}}')*+)?/?>",
            # Emoji: flags, keycaps, and pictures with skin, variant, tags and what they are joined to (UTS 51, ED-16).
            r"[\U0001f1e6-\U0001f1ff]{1,2}|[0-9#*]\ufe0f?\u20e3",
            r"(?:{0}(?:\u200d{0})*)".format(
                "(?:[\U0001f000-\U0001f1e5\U0001f200-\U0001faff\u2600-\u27bf\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55"
                "\u231a\u231b\u23e9-\u23f3\u23f8-\u23fa\u25fd\u25fe\u2934\u2935]"
                "|[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u25ff\u3030\u303d\u3297\u3299](?=\ufe0f))"
                "[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
            ),
        )
    ),
    "address": "|".join(
        (
            rf"(?<![{LETTER}])(?:[A-Za-z][A-Za-z0-9+.-]{{1,20}}://|www\.|mailto:){ADDRESS}+",
            rf"(?<![{LETTER}.+-])(?:(?![{UNSPACED_LETTERS}])[\w.+%-]){{1,64}}@(?:[^\W_]|-){{1,63}}(?:\.[A-Za-z0-9-]{{2,63}})+",
            rf"(?<![{LETTER}.-])(?:[A-Za-z0-9-]{{1,63}}\.){{1,5}}(?:{DOMAINS})(?![{LETTER}-])(?:[/?#]{ADDRESS}*)?",
        )
    ),
    "carried": "|".join(
        (
            r"⟦\d⟧",  # a placeholder of our own in the text itself
            rf"\{{\{{[^{{}}{BREAKS}]{{0,80}}\}}\}}|[$#%]?\{{[^{{}}{BREAKS}]{{0,60}}\}}",
            rf"%(?:\d+\$)?\(\w{{1,40}}\)[#0+-]*\d*(?:\.\d+)?[a-zA-Z]|%(?:\d+\$)?[#0+-]*\d*(?:\.\d+)?"
            rf"(?:[sd]|(?:hh|h|ll|l|z)?[iuoxXeEfFgGc@](?![{LETTER}]))|%%",
            r"&(?:[A-Za-z][A-Za-z0-9]{1,30}|#\d{1,7}|#x[0-9A-Fa-f]{1,6});",
            rf"(?<![{LETTER}])(?:US|AU|CA|HK|NZ|R)?[{SIGNS}] ?{AMOUNT}(?:(?:k|K|M|B|bn|m)(?![{LETTER}]))?",
            rf"(?<![{LETTER}])(?:{CURRENCIES})[ \u00a0\u202f]?{AMOUNT}",
            rf"(?<![{LETTER}]){AMOUNT}(?:[ \u00a0\u202f]?(?:[{SIGNS}]|[%‰](?![{LETTER}])|°(?:[CFK](?![{LETTER}]))?"
            rf"|(?:{CURRENCIES}|{UNITS}|[mglhVW])(?![{LETTER}]))|[AKJNT](?![{LETTER}]))",
        )
    ),
}
# No span is without one of these; most sentences are, and looking for these alone is fast.
TRIGGER = re.compile(
    r"[0-9@%{<&⟦$€£¥\u20a0-\u20bf฿¢©®\u203c\u2049\u20e3\u2100-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]|://|mailto:|www\.|\w\.[a-z]|\d"
)

INLINE = frozenset(
    "a abbr b bdi bdo big bpt bx cite code del dfn em ept ex font g i ins it kbd mark ph q s samp small span strike"
    " strong sub sup tt u var x".split()
)
TAG = r"(?s)<(/?)([A-Za-z][\w:.-]*)[^>]*?(/?)>$"
EMPTY_TAGS = frozenset("area base br bx col embed ex hr img input link meta param ph source track wbr x".split())


class Span(NamedTuple):
    """What stands from `start` to `end` of a line, and what is to stand in its translation."""

    start: int
    end: int
    text: str
    lifted: bool
    markup: bool = False  # markup or an emoji, which stands for no word

    @property
    def tag(self) -> Tag | None:
        """What it opens or closes, if it is a tag that belongs to another."""
        return tag_of(self.text) if self.markup else None

    @property
    def divides(self) -> bool:
        """Whether the words before and after it are two, also without a blank."""
        found = re.match(TAG, self.text)
        return found is None or found[2].lower() not in INLINE


class Tag(NamedTuple):
    name: str
    closes: bool


@lru_cache(maxsize=1 << 12)
def tag_of(markup: str) -> Tag | None:
    """None for what is no tag, or one that has no other half; asked again and again where tags stand in each other."""
    found = re.match(TAG, markup)
    if found is None or found[3] or found[2].lower() in EMPTY_TAGS:
        return None
    return Tag(found[2], closes=bool(found[1]))


@cache
def whole_pattern() -> re.Pattern[str]:
    """All of PATTERNS, made when first needed: it takes longer to compile than a sentence to translate."""
    return re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in PATTERNS.items()))


def find_spans(text: str) -> list[Span]:
    """The protected spans of a line, in order; none touches or overlaps another carried one."""
    if not TRIGGER.search(text):
        return []
    spans: list[Span] = []
    for found in whole_pattern().finditer(text):
        start, end = found.span()
        if found.lastgroup == "address":
            end = start + len(trimmed(found[0]))
        markup = found.lastgroup == "lifted"
        add(spans, Span(start, end, text[start:end], lifted=markup, markup=markup))
    return spans


def add(spans: list[Span], span: Span) -> None:
    """Appends `span`, as one with the last if both are carried and touch."""
    if spans and spans[-1].end == span.start and not spans[-1].lifted and not span.lifted:
        last = spans.pop()
        span = Span(last.start, span.end, last.text + span.text, lifted=False)
    spans.append(span)


def trimmed(address: str) -> str:
    """An address without the punctuation of the sentence that it ends, or the bracket around it.

    >>> trimmed("https://en.wikipedia.org/wiki/Hund_(dog)).")
    'https://en.wikipedia.org/wiki/Hund_(dog)'
    """
    while address:
        last = address[-1]
        opening = {")": "(", "]": "[", "}": "{"}.get(last)
        unbalanced = opening is not None and address.count(opening) < address.count(last)
        if not (unbalanced or last in ".,;:!?'*_~"):
            break
        address = address[:-1]
    return address


class Lifted(NamedTuple):
    """A span that was taken out of a text."""

    span: Span
    offset: int  # in the text without it
    blank_before: bool  # in the text with it; so at its beginning and end
    blank_after: bool


class Masked(NamedTuple):
    """A normalised text in which `⟦0⟧`, `⟦1⟧` ... stand for the carried spans, and which is without the lifted ones."""

    text: str
    carried: tuple[Span, ...]
    lifted: tuple[Lifted, ...]
    numbers: tuple[int, ...] = ()  # of the placeholders of `carried`; without any, they count from 0

    @property
    def names(self) -> list[str]:
        """The placeholders of `carried`."""
        return [PLACEHOLDERS[number] for number in self.numbers or range(len(self.carried))]

    @property
    def words(self) -> str:
        """The text without the placeholders."""
        return PLACEHOLDER.sub("", self.text) if self.carried else self.text

    @property
    def has_words(self) -> bool:
        """Whether anything is left that could be translated."""
        return any(map(str.isalnum, self.words))

    @property
    def spans(self) -> tuple[Span, ...]:
        return (*self.carried, *(lifted.span for lifted in self.lifted))


PLACEHOLDER = re.compile("⟦[0-9]⟧")


def mask(text: str, spans: Sequence[Span], numbers: Sequence[int] | None = None) -> Masked:
    """`text` with `spans` (in order, at most ten carried) masked.

    `numbers` are those of the carried ones; without them, they count from 0.
    """
    if not spans:
        return Masked(normalise(text.replace(MARK, "")), (), ())
    carried = [span for span in spans if not span.lifted]
    numbers = tuple(range(len(carried)) if numbers is None else numbers)
    names = iter([PLACEHOLDERS[number] for number in numbers])
    parts, place = [], 0
    for span in spans:
        parts += [text[place : span.start].replace(MARK, ""), MARK if span.lifted else next(names)]
        place = span.end
    parts.append(text[place:].replace(MARK, ""))
    lifted = [span for span in spans if span.lifted]
    return lift(normalise("".join(parts)), lifted, carried)._replace(numbers=numbers)


def lift(marked: str, spans: Sequence[Span], carried: Sequence[Span]) -> Masked:
    """The text in which each of `spans` is a `MARK`, without the marks, and where they stood."""
    first, *rest = marked.split(MARK)
    text, place, lifted = first, len(first), []
    for span, part in zip(spans, rest, strict=True):
        before = place == 0 or marked[place - 1] == " "
        place += 1
        after = place == len(marked) or marked[place] == " "
        lifted.append(Lifted(span, len(text), before, after))
        place += len(part)
        text = joined(text, part, apart=span.divides)
    text = text.rstrip()
    clamped = tuple(one._replace(offset=min(one.offset, len(text))) for one in lifted)
    return Masked(text, tuple(carried), clamped)


def joined(left: str, right: str, *, apart: bool) -> str:
    """Both with one blank where either had one, or where they are to be `apart` and two words would meet."""
    if not left or left.endswith(" "):
        return left + right.lstrip()
    blank = apart and left[-1].isalnum() and right[:1].isalnum() and not unspaced(left[-1])
    return f"{left} {right}" if blank else left + right


class MaskedSide(NamedTuple):
    """One side of a sentence pair as a network learns it."""

    text: str  # as it was
    spans: tuple[Span, ...]  # those of it that are masked
    masked: Masked


def masked_pair(source: str, target: str) -> tuple[str, str]:
    """A sentence pair as a network learns it: what is protected and stands on both sides is masked on both.

    What stands on one side alone stays as it is, but for `⟦0⟧` itself, which must not pass for a placeholder.
    """
    sides = masked_sides(source, target)
    return sides[0].masked.text, sides[1].masked.text


def masked_sides(source: str, target: str) -> tuple[MaskedSide, MaskedSide]:
    """As `masked_pair`, with what is masked on each side."""
    of_source, of_target = find_spans(source), find_spans(target)
    if not of_source or not of_target:
        return (
            as_it_is(unlike_ours(source) if of_source else source),
            as_it_is(unlike_ours(target) if of_target else target),
        )
    shared = Counter(span.text for span in of_source) & Counter(span.text for span in of_target)
    of_source = limited(taken(of_source, shared))
    left = Counter(span.text for span in of_source)
    of_target = taken(of_target, left)
    numbers: dict[str, list[int]] = {}
    for number, span in enumerate(span for span in of_source if not span.lifted):
        numbers.setdefault(span.text, []).append(number)
    own = [numbers[span.text].pop(0) for span in of_target if not span.lifted]
    masks = mask(unlike_ours(source), of_source), mask(unlike_ours(target), of_target, own)
    if not all(one.text for one in masks):
        return as_it_is(unlike_ours(source)), as_it_is(unlike_ours(target))
    return MaskedSide(source, tuple(of_source), masks[0]), MaskedSide(target, tuple(of_target), masks[1])


def as_it_is(text: str) -> MaskedSide:
    return MaskedSide(text, (), Masked(text, (), ()))


def taken(spans: Iterable[Span], wanted: Counter[str]) -> list[Span]:
    """The first of `spans` with each text, as many as `wanted`."""
    rest, found = Counter(wanted), []
    for span in spans:
        if rest[span.text] > 0:
            rest[span.text] -= 1
            found.append(span)
    return found


def limited(spans: Iterable[Span]) -> list[Span]:
    """All lifted spans and as many carried ones as there are placeholders."""
    carried, found = 0, []
    for span in spans:
        carried += not span.lifted
        if span.lifted or carried <= len(PLACEHOLDERS):
            found.append(span)
    return found


def unlike_ours(text: str) -> str:
    """`text` in which nothing reads like a placeholder."""
    return PLACEHOLDER.sub(lambda found: f"[{found[0][1]}]", text)
