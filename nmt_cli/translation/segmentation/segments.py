"""Cuts a line into segments that a network can translate, at sentence ends, and joins their translations."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from nmt_cli.carrying.spans import COVERS, EMOJI_COVER, Span, cover_spans, cut_spans, list_overlapping
from nmt_cli.languages.rules import LanguageRules, find_rules
from nmt_cli.text import characters
from nmt_cli.text.normalise import find_unspaced, is_solid
from nmt_cli.text.symbols import PLACEHOLDERS
from nmt_cli.text.words import skip_blanks, skip_blanks_back

# Finds sentence ends: marks of many scripts, closing marks after them, and full stops that end nothing.
#
# The rules of the language list the abbreviations. Knows only text.


SEEN_AROUND = 80  # characters on both sides of a mark that show of what it is a part
WORDS_BEFORE_EMOJI = 2  # in "I ❤ New York" it stands for a word
BLANK_AFTER = characters.SPACED_FINAL_MARKS + characters.ELLIPSES  # marks that a blank follows, or the end
SOLID = characters.SOLID_FINAL_MARKS  # marks that need none
ANY_MARK = rf"[{BLANK_AFTER}{SOLID}{EMOJI_COVER}]"
CLOSERS = re.escape(characters.ANY_CLOSING)
# Patterns as text: Python compiles and caches them at their first use.
END = (
    rf"(?<![{BLANK_AFTER}])[{BLANK_AFTER}]++(?:[{CLOSERS}{COVERS}]|[ {characters.THIN_BLANKS}][»›])*+\s+"
    rf"|[{SOLID}]++[{re.escape(characters.CLOSING)}]*\s*"
    rf"|(?<=[^\W\d_])[{characters.SPACED_FINAL_MARKS}](?=[^\W\d_])"
    rf"|{EMOJI_COVER}+(?:\s*{EMOJI_COVER})*\s*"
)
WORD_BEFORE = rf"(?:^|(?<=[\s{re.escape(characters.ANY_OPENING)}./]))(?:[^\W\d_]\.\s?)*([^\W_]+)\.$|([^\s.]+)\.$"
# A small number: of a day or an item, but not of a page ("p. 31."). A unit is no initial ("2 m.").
SMALL_NUMBER = (
    rf"(?:^|(?<=[\s{COVERS}*_~>{re.escape(characters.ANY_OPENING)}])|(?<=\b[^\W\d_]\.))"
    r"(?<![^\W\d_]\.\s)\d{1,2}\.$"
)
# With a full stop; 1.1 and 1.1.1 are covered.
LIST_MARK = rf"[^\W\d_]|[ivx]{{1,5}}|[IVX]{{1,5}}|[{COVERS}]{{3}}|[{COVERS}]{{5}}"
UNIT = rf"[\d{COVERS}]\s?[mglhtsмлт]\.$"


def has_mark_inside(text: str) -> bool:
    """Whether a text has sentence-ending punctuation before its last character.

    Fast, because nearly all texts are single sentences without any.
    """
    match = re.compile(ANY_MARK).search(text)
    return match is not None and match.end() < len(text.rstrip())


def find_sentence_ends(covered: str, start: int, end: int, language: str) -> Iterator[int]:
    """Yields the position after each sentence end from `start` to `end`, including the spaces that follow.

    `covered` is a text whose spans are covered; `language` is the code of its language.
    """
    is_cased = any(map(str.isupper, covered))
    for match in re.compile(END).finditer(covered, start, end):
        if ends_sentence(covered, match, start, find_rules(language), is_cased=is_cased):
            start = match.end()
            yield start


def ends_with_mark(covered: str) -> bool:
    """Whether a text ends with punctuation that may end a sentence."""
    return (
        re.search(
            rf"[{BLANK_AFTER}{SOLID}](?:[{CLOSERS}{COVERS}{EMOJI_COVER}]|[ {characters.THIN_BLANKS}][»›])*\s*$",
            covered[-40:],
        )
        is not None
    )


def ends_sentence(covered: str, match: re.Match[str], start: int, rules: LanguageRules, *, is_cased: bool) -> bool:
    """Whether a new sentence begins after `match`; without capitals in the text, lower case there proves nothing.

    `start` is where the sentence begins.
    """
    following = covered[match.end() : match.end() + 1]
    marks = match[0].rstrip()
    # 1. Marks of scripts without blanks: the sentence goes on after a quotation.
    if marks[0] in SOLID:
        return marks[-1] in SOLID or not re.compile(rules.goes_on).match(covered, match.end())
    if marks[0] == EMOJI_COVER:
        before = covered[max(start, match.start() - SEEN_AROUND) : match.start()]
        return following.isupper() and len(before.split()) >= WORDS_BEFORE_EMOJI
    # 2. A mark without a blank after it.
    if match[0] == marks:
        return begins_without_blank(covered, match, rules)
    # 3. A small letter goes on; an ellipsis ends nothing.
    if is_cased and following.islower():
        return False
    run = marks.rstrip(f"{characters.ANY_CLOSING}{COVERS} {characters.THIN_BLANKS}")
    if run.strip(f".{characters.ELLIPSES}") == "" and (len(run) > 1 or run in characters.ELLIPSES):
        return False
    # 4. "Go!" Tom said.
    first, last = skip_blanks(covered, start), marks[-1]
    if run[-1] in characters.LIVELY_MARKS and covered[first] in characters.QUOTES and last in characters.QUOTES:
        return False
    # 5. The mark of an item of a list.
    end = skip_blanks_back(covered, match.start(), first)
    if run == "." and re.compile(LIST_MARK).fullmatch(covered, first, end):
        return False
    return run != "." or not is_abbreviation(covered, match.start() + 1, following, rules, is_cased=is_cased)


def begins_without_blank(covered: str, match: re.Match[str], rules: LanguageRules) -> bool:
    """Whether a sentence begins right after punctuation, as in "I like tea.I like coffee.", but not in a name."""
    position = match.start()
    if not (covered[position - 1].islower() and covered[position - 2 : position - 1].isalpha()):
        return False
    if not covered[position + 1].isupper() or covered[position + 2 : position + 3].isupper():
        return False
    before = covered[max(0, position - SEEN_AROUND) : position].split()[-1]
    after = covered[position + 1 : position + 1 + SEEN_AROUND].split()[0]
    if "." in before or re.search(r"[/\\_=@:.]\w", f"{before} {after}"):
        return False
    return not is_among_words(before.strip(characters.ANY_OPENING), rules.abbreviations)


def is_abbreviation(covered: str, end: int, following: str, rules: LanguageRules, *, is_cased: bool) -> bool:
    """Whether the full stop before `end` belongs to an abbreviation, an initial or an ordinal."""
    text = covered[max(0, end - 16) : end]
    if re.search(SMALL_NUMBER, text):
        return True
    match = re.search(WORD_BEFORE, text)
    if match is None or (re.search(UNIT, text) and following.isupper()):
        return False
    word = (match[1] or match[2]).lstrip(characters.ANY_OPENING + COVERS)  # (approx. 5 km), <i>z. B.</i>
    if len(word) == 1 and word.isalpha():
        return word not in rules.one_letter_words and not find_unspaced(word)
    begins_number = following.isdigit() or (following != "" and following in COVERS)
    return (
        is_among_words(word, rules.abbreviations)
        or (begins_number and is_among_words(word, rules.before_numbers))
        or (is_among_words(word, rules.often_last) and (begins_number or not is_cased))
    )


def is_among_words(word: str, words: Collection[str]) -> bool:
    """Whether a word is one of `words`, whose lower-case entries also match capitalised words."""
    return word in words or word.lower() in words


# Cuts a line into segments that a network can translate, and joins their translations.
#
# Knows text and spans, but no networks.


MAX_WORD_LETTERS = 15  # a longer word counts as several, so that a line without blanks is bounded too

# Patterns as text: Python compiles and caches them at their first use, and a line that fits needs only one of them.
CLAUSE = (
    rf"[{characters.SPACED_PAUSES}{re.escape(characters.CLOSING_BRACKETS)}{characters.DASHES}]\s+"
    rf"|[{characters.SOLID_PAUSES}]\s*"
)
BLANKS = r"\s+"
COVERED = rf"{COVERS[0]}+|{COVERS[1]}+|{EMOJI_COVER}+"
CHARACTER = rf"{COVERED}|[^{COVERS}{EMOJI_COVER}]"
LEVELS = ("", CLAUSE, BLANKS, CHARACTER)  # the first level is that of sentences

ROMAN, MARK_ENDS = "ivxIVX", (".", ")", ":")  # of marks of lists: iv) IV. A:
PLAIN_ENDS = frozenset(characters.FINAL_MARKS)


class Segment(NamedTuple):
    """A part of a line, either translated independently or kept exactly."""

    text: str
    spans: tuple[Span, ...]  # with their positions in `text`
    blank_before: bool  # whether a blank separates it from the segment before
    ends_sentence: bool
    is_frame: bool = False  # whether it is kept, such as a list mark or a tag that divides
    is_glued: bool = False  # whether it follows the segment before exactly: that has all blanks between them
    is_label: bool = False  # whether it names what follows: "Note", before a colon
    goes_on: bool = False  # whether it begins no sentence, though a frame is before it
    is_report: bool = False  # whether it says who spoke the quotation before it


def is_plain(segment: Segment) -> bool:
    """Whether a segment surely has no frame: fast, since nearly all sentences have none."""
    text = segment.text.rstrip()
    first_letters = text[:1].isalpha() and text[1:2] not in MARK_ENDS
    first_letters = first_letters and (text[0] not in ROMAN or text[:7].lstrip(ROMAN)[:1] not in MARK_ENDS)
    last = text[-1:]
    return not segment.spans and first_letters and (last.isalnum() or (last in PLAIN_ENDS and not text.endswith("..")))


class SegmentedLine(NamedTuple):
    """A line with its spans covered, so that no cut falls inside them."""

    text: str
    covered: str
    spans: Sequence[Span]  # in order
    language: str

    def fits_within(self, start: int, end: int, max_words: int) -> bool:
        """Whether a range has at most `max_words` words, and enough placeholders exist for its masked spans."""
        return self.count_masked(start, end) <= len(PLACEHOLDERS) and (
            end - start <= max_words or self.count_words(start, end) <= max_words
        )

    def count_words(self, start: int, end: int) -> float:
        """Counts the words from `start` to `end`; a span counts as one.

        In a script without spaces, two characters count as one word.
        """
        text = re.sub(COVERED, "x", self.covered[start:end])
        return max(len(text.split()) + len(find_unspaced(text)) / 2, len(text) / MAX_WORD_LETTERS)

    def count_masked(self, start: int, end: int) -> int:
        """Counts the masked spans from `start` to `end`."""
        return sum(not span.is_extracted for span in list_overlapping(self.spans, start, end))


def cut(
    text: str, spans: Sequence[Span], max_words: int, language: str = "", *, by_sentence: bool = True
) -> list[Segment]:
    """Returns a segment per sentence of `text`; without `by_sentence`, a single one if the text fits.

    A sentence of more than `max_words` is cut after clauses, then words, then characters, into as few segments as
    possible.
    """
    if not spans and is_short_sentence(text, max_words):
        return [Segment(text, (), blank_before=False, ends_sentence=ends_with_mark(text))]
    line = SegmentedLine(text, cover_spans(text, spans), spans, language)
    ranges = list(split_to_fit(line, 0, len(text), max_words, 0, must_split=by_sentence))
    return [
        segment
        for before, (start, end) in zip([(0, 0), *ranges], ranges, strict=False)
        if (segment := make_segment(line, start, end, before[1])) is not None
    ]


def is_short_sentence(text: str, max_words: int) -> bool:
    """Whether a text without spans is surely one sentence that fits: fast, since nearly all are."""
    return (
        text.isascii()
        and len(text) <= max_words * MAX_WORD_LETTERS
        and 0 < len(text.split()) <= max_words
        and not has_mark_inside(text)
    )


def find_sentence_starts(text: str, spans: Sequence[Span], language: str = "") -> list[int]:
    """Returns the positions at which the sentences of `text` begin; the first is 0."""
    ends = find_sentence_ends(cover_spans(text, spans), 0, len(text), language)
    return [0, *(end for end in ends if end < len(text))]


def split_to_fit(
    line: SegmentedLine, start: int, end: int, max_words: int, level: int, *, must_split: bool = False
) -> Iterator[tuple[int, int]]:
    """Yields ranges that fit and cover `start` to `end`; with `must_split`, divides at least at this level."""
    if level == len(LEVELS) or (not must_split and line.fits_within(start, end, max_words)):
        yield start, end
        return
    parts = list(split_at(line, start, end, level))
    if level == 0:
        for part in parts:
            yield from split_to_fit(line, *part, max_words, 1)
        return
    yield from merge_parts(
        line, [piece for part in parts for piece in split_to_fit(line, *part, max_words, level + 1)], max_words
    )


def split_at(line: SegmentedLine, start: int, end: int, level: int) -> Iterator[tuple[int, int]]:
    """Yields the parts from `start` to `end` that end with a separator of this level."""
    if level == 0:
        ends = find_sentence_ends(line.covered, start, end, line.language)
    else:
        ends = (match.end() for match in re.compile(LEVELS[level]).finditer(line.covered, start, end))
    for part_end in ends:
        yield start, part_end
        start = part_end
    if start < end:
        yield start, end


def merge_parts(line: SegmentedLine, parts: Sequence[tuple[int, int]], max_words: int) -> Iterator[tuple[int, int]]:
    """Merges neighbouring parts as long as they fit together."""
    first, last = parts[0]
    words, spans = line.count_words(first, last), line.count_masked(first, last)
    for start, end in parts[1:]:
        more_words, more_spans = line.count_words(start, end), line.count_masked(start, end)
        if words + more_words > max_words or spans + more_spans > len(PLACEHOLDERS):
            yield first, last
            first, words, spans = start, 0.0, 0
        last, words, spans = end, words + more_words, spans + more_spans
    yield first, last


def make_segment(line: SegmentedLine, start: int, end: int, previous_end: int) -> Segment | None:
    """Returns the text from `start` to `end` as a segment; None if it is blank."""
    text = line.text[start:end]
    if not text.strip():
        return None
    blank = previous_end > 0 and (text[0].isspace() or line.text[start - 1].isspace())
    return Segment(text, cut_spans(line.spans, start, end), blank, ends_with_mark(line.covered[start:end]))


def join_segments(segments: Sequence[Segment], translations: Sequence[str]) -> Iterator[str]:
    """Yields each translation's addition to the line: its text, after a space if the source or the script needs one."""
    left = ""  # the last text that is not empty
    for number, (segment, translation) in enumerate(zip(segments, translations, strict=True)):
        inside = number < len(segments) - 1 and not segment.ends_sentence and not segment.is_frame
        marks = characters.FULL_STOPS + (characters.EXCLAMATION_MARKS if has_frame_after(segments, number) else "")
        text = drop_full_stop(segment.text, translation, marks) if inside else translation
        needs_blank = left and text and not segment.is_glued and wants_blank(left, text, segment.blank_before)
        yield (" " if needs_blank else "") + text
        left = text or left


def wants_blank(left: str, right: str, blank: bool) -> bool:
    """Whether a space goes between two segments; never between characters of scripts without spaces."""
    solid = [is_solid(left[-1]), is_solid(right[0])]
    return not all(solid) and (blank or left[-1] in characters.END_MARKS or solid[0] != solid[1])


def has_frame_after(segments: Sequence[Segment], number: int) -> bool:
    """Whether a colon, an ellipsis or the like was removed from the end of a segment."""
    return number + 1 < len(segments) and segments[number + 1].is_frame and segments[number + 1].is_glued


def drop_full_stop(source: str, translation: str, marks: str) -> str:
    """Removes the final full stop from the translation of a part of a sentence, or replaces it with the source's pause.

    `marks` are all characters that count as a full stop.
    """
    last = source.rstrip()[-1:]
    if translation[-1:] not in marks or last in marks or not translation:
        return translation
    return translation[:-1].rstrip(marks) + (last if last in characters.PAUSES else "")
