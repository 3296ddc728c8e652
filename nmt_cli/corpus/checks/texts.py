"""Checks of texts and pairs: repairs, empty or identical sides, lengths, repetition."""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nmt_cli.arrays.scratch import (
    AnyKeys,
    Scratch,
    ValueCounts,
    count_values,
    find_equal_rows,
    find_members,
    iterate_blocks,
    judge_blocks,
    mark_repeated,
)
from nmt_cli.arrays.types import BoolArray, IntArray
from nmt_cli.corpus.checks.check import CheckResult, CorpusCheck, PairCheck, TextCheck
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.pairs import PairFacts, Pairs, Side, Texts
from nmt_cli.languages.rules import has_rules
from nmt_cli.text.characters import QUOTES, THIN_BLANKS
from nmt_cli.text.normalise import count_words, drop_invisible
from nmt_cli.text.tags import TagPurpose, find_tag_value
from nmt_cli.text.words import APOSTROPHES, choose_apostrophe, has_letters, has_word
from nmt_cli.text.wrapping import format_count

# Checks that repair a text: wrongly decoded characters, control characters, HTML.


# UTF-8 decoded as cp1252: a letter from "Â" to "ô", then one to three characters of the upper half. A single group
# counts only if correct text does not contain it: "ß“" and "à »" can be German and French.
UPPER_HALF = "\u0080-\u00bf" + bytes(range(0x80, 0xA0)).decode("cp1252", "ignore")
GROUP = f"(?:[Â-ß][{UPPER_HALF}]|[à-ï][{UPPER_HALF}]{{2}}|[ð-ô][{UPPER_HALF}]{{3}})"
ALONE = f"Ã[\u0080-\u00bf€‚ƒ„†‡ˆ‰Š‹ŒŽ‘“•–—˜™š›œžŸ]|Â[\u0080-\u00bf]|â€[{UPPER_HALF}]|ðŸ[{UPPER_HALF}]{{2}}"
MISREAD = re.compile(f"{GROUP}{{2,}}|{ALONE}")
CP1252 = {bytes([byte]).decode("cp1252", "replace"): byte for byte in range(0x80, 0x100)}

ENTITY = re.compile(r"&(?:[A-Za-z]{2,8}|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});")
TAG = re.compile(
    r"</?(a|abbr|b|big|blockquote|br|center|cite|code|dd|div|dl|dt|em|font|h[1-6]|hr|i|img|li|ol|p|pre|q|s|small|span|"
    r"strike|strong|sub|sup|table|tbody|td|th|thead|tr|tt|u|ul)(?:\s[^<>]{0,500})?/?>",
    re.IGNORECASE,
)
MENTION_QUOTES = frozenset(QUOTES + "`")
EMPTY_TAGS = ("img", "hr", "br")
BREAKING_TAG = re.compile(r"</?(?:br|p|div|li|td|tr|h[1-6]|dd|dt|hr|th)\b", re.IGNORECASE)


# In none of 160,000 pairs of everyday sentences, captions and help pages, and in 425 of 17,000 of a dictionary.
NOTE = re.compile(
    r"\s*[(\[]\s*(?:lit|literally|literal(?=\s*:)|literalmente|wörtl|wörtlich)\b[^()\[\]]*[)\]]", re.IGNORECASE
)


class Mojibake(TextCheck):
    name = "mojibake"
    problem = "UTF-8 read as cp1252 (“fÃ¼r” for “für”)"

    def mend_text(self, text: str) -> str:
        return text if text.isascii() or not MISREAD.search(text) else MISREAD.sub(decode_misread, text)


def decode_misread(misread: re.Match[str]) -> str:
    """Returns wrongly decoded text as it should read; unchanged if its bytes are invalid UTF-8."""
    try:
        data = bytes(CP1252.get(character, ord(character)) for character in misread[0])
        return data.decode("utf-8")
    except ValueError:  # UnicodeDecodeError is one, too
        return misread[0]


class Markup(TextCheck):
    name = "markup"
    problem = "HTML entities or tags"

    def mend_text(self, text: str) -> str:
        if "&" in text:
            text = ENTITY.sub(decode_entity, text)
        if "<" in text:
            text = TAG.sub(drop_tag, text)
        return text


def is_quoted(match: re.Match[str]) -> bool:
    """Whether markup stands alone in quotation marks, so that the text is about it."""
    before, after = match.string[: match.start()][-1:], match.string[match.end() :][:1]
    return before in MENTION_QUOTES and after in MENTION_QUOTES and bool(before and after)


def decode_entity(match: re.Match[str]) -> str:
    """Returns an entity's text, or the entity itself if the sentence is about it: quoted, or beside its letter."""
    spelled = html.unescape(match[0])
    is_explained = spelled.isalpha() and spelled in match.string
    return match[0] if is_explained or is_quoted(match) else spelled


def drop_tag(match: re.Match[str]) -> str:
    """Returns what replaces a tag, or the tag itself if the sentence is about it: quoted, or without its partner."""
    around = match.string[: match.start()][-1:] + match.string[match.end() :][:1]
    name = match[1].lower()
    has_partner = len(set(re.findall(rf"<(/?){name}\b", match.string.lower()))) == 2
    is_alone = len(around) == 2 and not any(map(str.isalnum, around)) and not has_partner
    if is_quoted(match) or (is_alone and name not in EMPTY_TAGS and not BREAKING_TAG.match(match[0])):
        return match[0]
    return " " if BREAKING_TAG.match(match[0]) else ""


class Notes(TextCheck):
    name = "notes"
    problem = "a note such as (lit. ...), which the model would write into translations"

    def mend_text(self, text: str) -> str:
        mended = NOTE.sub("", text) if "(" in text or "[" in text else text
        return mended if any(map(str.isalnum, mended)) else text


class Control(TextCheck):
    name = "control"
    problem = "control or invisible characters"

    def mend_text(self, text: str) -> str:
        return drop_invisible(text)


class Composition(TextCheck):
    name = "composition"
    problem = "accents stored apart from their letters (n and a tilde for ñ)"

    def mend_text(self, text: str) -> str:
        return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


# Checks of what the spreadsheets of field linguists have beside sentences: glosses, headings, a cell twice,
# boundaries of morphemes, words of the source. A few of each are chance; none is dropped, since only a person knows.
#
# "mi-kwa 3SG-eat" a gloss; "KARTA" / "LETTER" a heading.


BRACKETS = re.compile(
    r"\([^()]{2,}\)|\[[^\[\]]{2,}\]|\(\?\)|(?<=\w) [/~] (?=\w)|^\*(?=\w)|<[^\W\d_]{3,}>|\{[^\W\d_]{3,}\}|\blit\. "
)
BRACKET_MARKS = re.compile(r"[(\[/~*<{]|lit\.")  # a fast guard
GLOSS = re.compile(
    r"(?<![^\W_])(?:[123](?:SG|PL|DU|S|P|EXCL|INCL)|SG|PL|DU|NOM|ACC|ERG|ABS|GEN|DAT|POSS|PST|PRS|PRES|PAST|FUT|NEG|IMP|"
    r"PROG|PFV|IPFV|CAUS|APPL|REFL|LOC|INS|COMPL|INCOMPL|CLF|DET|EVID|NMLZ)(?=[-.=:]|\s|$)"
)
LIKE_A_GLOSS = re.compile(r"[A-Z]{2}|[123][SP]")  # a fast guard
BOUNDARY = re.compile(r"[^\W\d_][-=][^\W\d_]")
MANY_BOUNDARIES = 0.3  # share of the words of a text that have one
PLAIN_WORD = re.compile(r"(?<![^\W_])[^\W\d_]{4,}")  # long enough not to be the same by chance
LEAST_SHARED, LEAST_SHARED_PART = 3, 0.5  # words, in all and of the target's


class Brackets(PairCheck):
    name = "brackets"
    problem = "brackets, variants (a / b) or an asterisk on only one side, which become part of the translation"
    action = "reported"
    least_share = 0.02  # 1.8 % of LibreOffice's help, whose brackets are prose; 5 to 30 % of lists with explanations

    def has_problem(self, source: str, target: str) -> bool:
        if not BRACKET_MARKS.search(source + target):
            return False
        return bool(BRACKETS.search(source)) != bool(BRACKETS.search(target))


class Glosses(PairCheck):
    name = "glosses"
    problem = "grammatical glosses such as 3SG or PST"
    action = "reported"
    least_share = 0.005

    def has_problem(self, source: str, target: str) -> bool:
        return any(LIKE_A_GLOSS.search(text) and len(GLOSS.findall(text)) > 1 for text in (source, target))


class Capitals(PairCheck):
    name = "capitals"
    problem = "one side all in capitals"
    action = "reported"
    least_share = 0.005

    def has_problem(self, source: str, target: str) -> bool:
        return any(text.isupper() and " " in text and len(text) > SHORTEST_HEADING for text in (source, target))


class WrittenTwice(PairCheck):
    name = "written-twice"
    problem = "the same text twice in a cell"
    action = "reported"

    def has_problem(self, source: str, target: str) -> bool:
        return is_doubled(source) != is_doubled(target)


def is_doubled(text: str) -> bool:
    """Whether a text is the same three or more words twice; repeating fewer may well be grammatical."""
    if text.find(text[:4], 4) < 0:  # a fast guard
        return False
    words = [word for word in text.split() if any(map(str.isalnum, word))]
    half = len(words) // 2
    return half > 2 and len(words) == 2 * half and words[:half] == words[half:]


class Boundaries(PairCheck):
    name = "boundaries"
    problem = "morpheme boundaries (mi-kwa) in many words, which users will not type"
    action = "reported"
    least_share = 0.02

    def has_problem(self, source: str, target: str) -> bool:
        marked = [has_boundaries(text) for text in (source, target)]
        return marked[0] != marked[1]


def has_boundaries(text: str) -> bool:
    marks = len(BOUNDARY.findall(text)) if "-" in text or "=" in text else 0
    return marks > 1 and marks >= MANY_BOUNDARIES * (text.count(" ") + 1)


class SourceWords(PairCheck):
    name = "source-words"
    problem = "a target that copies at least half of its words from the source"
    action = "reported"
    least_share = 0.005

    def has_problem(self, source: str, target: str) -> bool:
        words = {*target.split()}
        if len(words & {*source.split()}) < LEAST_SHARED - 1 or source == target:  # a fast guard
            return False
        words = {word for word in PLAIN_WORD.findall(target) if word[0].islower()}  # others may be names
        shared = words.intersection(PLAIN_WORD.findall(source))
        return len(shared) >= max(LEAST_SHARED, LEAST_SHARED_PART * len(words))


class ApostropheCheck(CorpusCheck):
    """Reports what `unify_apostrophes` noted; it runs first, so that the checks find repetitions in repaired text."""

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareOptions) -> CheckResult:
        rows: BoolArray = pairs.shared_results.get(self.name, np.zeros(len(pairs), np.bool_))
        return CheckResult(rows & candidates, pairs.shared_results.get(f"{self.name} note", ""))


class Apostrophes(ApostropheCheck):
    name = "apostrophes"
    problem = "several apostrophes for one letter"
    action = "mended"


class MixedApostrophes(ApostropheCheck):
    name = "mixed-apostrophes"
    problem = "several apostrophes for one letter, none of them clearly the most common: use only one in the file"
    action = "reported"


# Apostrophes within words, or at their ends, are letters in many languages, and keyboards have several.


FEWEST_APOSTROPHES = 50  # of a side of one language
SIDES: tuple[Side, Side] = ("source", "target")
TAG_KINDS = TagPurpose.SOURCE, TagPurpose.TARGET
OVERWHELMING = 0.8  # share of one of them, from which the others are slips


def unify_apostrophes(pairs: Pairs, languages: tuple[str, str], config: PrepareOptions) -> None:
    """Replaces all apostrophes of a side with its most common one if that clearly prevails, and notes the rows.

    Skips languages with known rules, since their apostrophes are typographic and say nothing.
    """
    numbers = pairs.language_numbers
    for side, kind, usual in zip(SIDES, TAG_KINDS, languages, strict=True):
        if side not in config.text_sides:
            continue
        replaced: dict[int, str] = {}
        for number in np.unique(numbers).tolist():
            rows = np.flatnonzero(numbers == number)
            code = find_tag_value(pairs.tag_sets[int(pairs.facts.tags[rows[0]])], kind) or usual
            if not has_rules(code):
                replaced |= judge_apostrophes(pairs, side, rows, keep=Apostrophes.name in config.keep)
        if replaced:
            pairs.replace_texts(side, replaced)


def judge_apostrophes(pairs: Pairs, side: Side, rows: IntArray, *, keep: bool) -> dict[int, str]:
    """Returns the repaired texts by row, and notes the rows found, for the checks to report."""
    marks_of: dict[int, set[str]] = {}
    stops_of: dict[int, set[str]] = {}
    counts: Counter[str] = Counter()
    for row, text in zip(rows.tolist(), pairs.get_texts(side).select(rows), strict=True):
        if marks := choose_apostrophe(text).findall(text):
            counts.update(marks)
            marks_of[row] = {*marks}
        if GLOTTAL_STOP in text:
            stops_of[row] = {*APOSTROPHE_WORD.findall(text.lower())}
    if stops_of and marks_of:
        note_glottal_stops(pairs, side, stops_of, [*marks_of], max(counts, key=lambda mark: counts[mark]))
    if counts.total() < FEWEST_APOSTROPHES or len(counts) < 2:
        return {}
    (usual, most), *others = counts.most_common()
    slips = [row for row, marks in marks_of.items() if marks != {usual}]
    is_clear = most >= OVERWHELMING * counts.total()
    name = Apostrophes.name if is_clear else MixedApostrophes.name
    if is_clear or sum(count for _, count in others) >= FEWEST_APOSTROPHES:
        noted = pairs.shared_results.setdefault(name, np.zeros(len(pairs), np.bool_))
        noted[slips] = True
        written = ", ".join(f"{mark} {count:,}" for mark, count in counts.most_common())
        pairs.shared_results[f"{name} note"] = f"{side}: {written}" + (f"; now all are {usual}" if is_clear else "")
    if not is_clear or keep:
        return {}
    texts = pairs.get_texts(side).select(np.array(slips))
    return {row: choose_apostrophe(text).sub(usual, text) for row, text in zip(slips, texts, strict=True)}


GLOTTAL_STOP, FEWEST_IN_BOTH = "ʔ", 5
APOSTROPHE_WORD = re.compile(rf"[\w{APOSTROPHES}]+")


def note_glottal_stops(pairs: Pairs, side: Side, stops_of: dict[int, set[str]], rows: list[int], usual: str) -> None:
    """Notes rows with ʔ in words that other rows spell with the `usual` apostrophe, if there are too many for chance.

    Many languages use both characters, one of them after consonants, so that no word has both spellings.
    """
    texts = pairs.get_texts(side).select(np.array(rows))
    words = (word for text in texts for word in APOSTROPHE_WORD.findall(text.lower()) if usual in word)
    both = set().union(*stops_of.values()) & {word.replace(usual, GLOTTAL_STOP) for word in words}
    if len(both) >= FEWEST_IN_BOTH:
        noted = pairs.shared_results.setdefault(MixedApostrophes.name, np.zeros(len(pairs), np.bool_))
        noted[[row for row, words in stops_of.items() if words & both]] = True
        written = f"{side}: {usual} and {GLOTTAL_STOP} in the same words, such as {min(both)}"
        pairs.shared_results[f"{MixedApostrophes.name} note"] = written


# Checks of a single pair: an empty side, lost characters, identical sides, numbers that disagree.


SHORTEST_HEADING = 12  # characters of a text in capitals that is no abbreviation
SHORT_WORDS = 3  # words; the sides of such a pair may well be the same: a name, "OK", "Taxi!"
NUMBER = re.compile(rf"(?<!\d)\d{{1,3}}(?:[.,{THIN_BLANKS}' ]\d{{3}})+(?!\d)|\d+")
DIGIT = re.compile(r"\d")
QUESTION_MARK = re.compile(r"(?<=[^\W\d_])\?(?=[^\W\d_])(?![A-Z])")  # not in "Really?No"; in no line of Tatoeba
# Before a word, if the other side asks nothing: in none of 600,000 pairs with Spanish, German and nine other languages.
FIRST_MARK = re.compile(r"(?<![^ ])\?(?=[^\W\d_])")
ASKS = re.compile("[?¿？؟;]")


class Empty(PairCheck):
    name = "empty"
    problem = "an empty side"
    covers_every_role = True

    def has_problem(self, source: str, target: str) -> bool:
        return not source or not target


# In no pair of 220,000 everyday sentences, and of twelve small corpora of the Americas in 1 % of Otomi, which are
# headings, and in less than 0.2 % of the others, most of them damaged.
class Placeholders(CorpusCheck):
    name = "placeholders"
    problem = "a stand-in for a missing translation: ?, XXX, N/A, [missing], or one text for many sentences"

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareOptions) -> CheckResult:
        facts = pairs.facts
        source = SideFacts(facts.source_keys, facts.source_lengths, facts.source_words, pairs.source)
        target = SideFacts(facts.target_keys, facts.target_lengths, facts.target_words, pairs.target)
        both = ((source, target), (target, source))
        return CheckResult(np.logical_or(*(find_stand_ins(*sides, candidates, pairs.scratch) for sides in both)))


class SideFacts(NamedTuple):
    """The facts (N,) about one side of N pairs, as `PairFacts` has them, and its texts."""

    keys: NDArray[np.uint64]
    lengths: NDArray[np.int32]
    words: NDArray[np.int32]
    texts: Texts


def find_stand_ins(side: SideFacts, other: SideFacts, candidates: BoolArray, scratch: Scratch) -> BoolArray:
    """Returns a mask (N,) of the candidates in which this side's text stands in for a missing one."""
    is_missing, lengths, others = np.zeros(len(candidates), np.bool_), side.lengths, other.lengths
    ratio = max(1, int(others[candidates].sum(dtype=np.int64))) / max(1, int(lengths[candidates].sum(dtype=np.int64)))

    def count_far(lengths: NDArray[np.int32]) -> NDArray[np.float64]:
        """Returns the length at which the other side becomes far too long for texts of these lengths."""
        return np.asarray(np.maximum(SHORTEST_SENTENCE, MUCH_LONGER * ratio * lengths))

    def is_brief(block: slice) -> BoolArray:
        return candidates[block] & (lengths[block] > 0) & (lengths[block] <= LONGEST_STAND_IN)

    def may_be_none(block: slice) -> BoolArray:
        return is_brief(block) & ((side.words[block] <= 1) | (others[block] >= count_far(lengths[block])))

    # 1. The same text for many sentences, which are usually far too long for it.
    for part in find_equal_rows([side.keys], judge_blocks(len(candidates), is_brief), scratch):
        for rows in np.split(part.rows, part.starts[1:]) if len(part.rows) >= OFTEN_REPEATED else ():
            distinct = rows[np.unique(other.keys[rows], return_index=True)[1]]
            usual = np.exp(np.log(np.maximum(1, others[distinct])).mean())
            is_missing[rows] = len(distinct) >= OFTEN_REPEATED and usual >= count_far(lengths[rows[0]])
    # 2. Texts that stand for none wherever they are.
    rows = scratch.find_rows(judge_blocks(len(candidates), may_be_none))
    judged = zip(
        side.texts.select(rows), other.texts.select(rows), others[rows] >= count_far(lengths[rows]), strict=True
    )
    is_missing[rows] |= np.fromiter((stands_for_none(*pair) for pair in judged), np.bool_, len(rows))
    return is_missing


LONGEST_STAND_IN, SHORTEST_SENTENCE = 20, 15  # characters
MUCH_LONGER, OFTEN_REPEATED = 2.5, 5
USUAL_PLACEHOLDER = re.compile(r"(?i:n/a|todo|tb[ad]|fixme|x{3,})|NA|[(\[<{].*[)\]>}]")
SPREADSHEET_ERROR = re.compile(r"#[¡¿]?[^\W\da-z_][^\Wa-z_]*(?:/0)?[?!]|#N/?[ADV]|Err:\d{3}")


def stands_for_none(text: str, other: str, is_long: bool) -> bool:
    """Whether a text has no word or is a usual placeholder; `is_long` means that `other` is far too long for it."""
    if not has_word(text):
        return has_letters(other) and (is_long or len(text) > 1)
    pattern = USUAL_PLACEHOLDER if is_long else SPREADSHEET_ERROR
    return other[:1] != text[0] and bool(pattern.fullmatch(text) or SPREADSHEET_ERROR.fullmatch(text))


class LostCharacters(PairCheck):
    name = "damaged"
    problem = "lost characters (U+FFFD, or ? for letters that an encoding lacks: save the file as .xlsx or CSV UTF-8)"

    def has_problem(self, source: str, target: str) -> bool:
        sides = ((source, target), (target, source))
        return "\ufffd" in source + target or any("?" in text and has_lost(text, other) for text, other in sides)


def has_lost(text: str, other: str) -> bool:
    """Whether question marks stand for lost letters: within words, or before one if the other side asks nothing."""
    return bool(QUESTION_MARK.search(text) or (FIRST_MARK.search(text) and not ASKS.search(other)))


class Identical(PairCheck):
    name = "identical"
    problem = f"the same text of more than {SHORT_WORDS} words on both sides"

    def has_problem(self, source: str, target: str) -> bool:
        return source == target and count_words(source) > SHORT_WORDS


class IdenticalShort(PairCheck):
    name = "identical-short"
    problem = f"the same text of up to {SHORT_WORDS} words on both sides"
    action = "reported"

    def has_problem(self, source: str, target: str) -> bool:
        return bool(source) and source == target and count_words(source) <= SHORT_WORDS


class Numbers(PairCheck):
    name = "numbers"
    problem = "source and target have different numbers"
    action = "reported"

    def has_problem(self, source: str, target: str) -> bool:
        if DIGIT.search(source) is None or DIGIT.search(target) is None:
            return False  # a number in words does not disagree
        return list_numbers(source) != list_numbers(target)


def list_numbers(text: str) -> list[str]:
    """Returns the sorted numbers of a text in ASCII digits, without thousands separators or leading zeros."""
    numbers = ("".join(str(unicodedata.decimal(sign, "")) for sign in number) for number in NUMBER.findall(text))
    return sorted(number.lstrip("0") for number in numbers)


class Unfinished(PairCheck):
    """Depends only on the file: `steps/reading.py` flags the pairs, whatever their text."""

    name = "unfinished"
    problem = "a translation marked fuzzy, new or unfinished in its file"

    def has_problem(self, source: str, target: str) -> bool:
        return False


# Checks of repetition: duplicate pairs, sources with several targets, test sentences in the training data.


class HeldOut(CorpusCheck):
    name = "held-out"
    problem = "a sentence of the given dev or test data"
    can_be_kept = False
    covers_every_role = True
    crosses_languages = True

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareOptions) -> CheckResult:
        """Finds training pairs that share a sentence with dev or test data from files, and dev pairs with test data."""
        dev, test = (pairs.has_role(role) & candidates for role in ("dev", "test"))
        rows = np.zeros(len(pairs), dtype=np.bool_)
        if dev.any() or test.any():
            in_training = pairs.has_role("train")
            for keys in pairs.connecting_keys:
                in_test = find_members(keys, keys[test])
                rows |= in_test & ~test
                rows |= find_members(keys, keys[dev & ~in_test]) & in_training
        return CheckResult(rows & candidates)


def list_form_keys(pairs: Pairs) -> list[AnyKeys]:
    """Returns keys (N,) that are equal for pairs with the same form and tags: a label may also occur in a manual."""
    facts = pairs.facts
    return [facts.source_keys, facts.target_keys, *([facts.tags] if len(pairs.tag_sets) > 1 else [])]


class Duplicate(CorpusCheck):
    name = "duplicate"
    problem = "duplicates"

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareOptions) -> CheckResult:
        keys = [*list_form_keys(pairs), pairs.facts.checksums]
        return CheckResult(mark_repeated(keys, candidates, pairs.scratch, pairs.rank))


class DuplicateForm(CorpusCheck):
    name = "duplicate-form"
    problem = "duplicates that differ only in case, width or the shape of quotes"

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareOptions) -> CheckResult:
        keys = list_form_keys(pairs)
        rows = mark_repeated(keys, candidates, pairs.scratch, pairs.rank)
        if Duplicate.name in config.keep:
            rows &= ~mark_repeated([*keys, pairs.facts.checksums], candidates, pairs.scratch, pairs.rank)
        return CheckResult(rows)


class ManyTargets(CorpusCheck):
    name = "many-targets"
    problem = "the same source with several targets"
    action = "reported"

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareOptions) -> CheckResult:
        rows, sources, most = np.zeros(len(pairs), dtype=np.bool_), 0, 0
        for part in find_equal_rows([pairs.facts.source_keys], candidates, pairs.scratch):
            rows[part.rows] = True
            sources += len(part.starts)
            most = max(most, int(np.diff(part.starts, append=len(part.rows)).max(initial=0)))
        return CheckResult(rows, f"{format_count(sources, 'source')}, with up to {most:,} targets")


# Length checks: sides far longer than typical of the corpus, and pairs whose lengths do not match.
#
# The pairs themselves show what is typical; `--max-length` and `--max-ratio` set fixed limits instead.


MINIMUM_PAIRS = 100  # for learning what is typical
CHARACTERS_PER_WORD = 20  # text with more characters per word of the limit is no sentence: a URL, a table, base64

# Words. In a corpus of short sentences, long ones are rare and good; only one of hundreds of words costs memory.
SHORTEST_LIMIT, LONGEST_LIMIT = 100, 1_000
SPREADS_TO_LONG = 5.0

SHORT_PAIR = 5  # words; up to here a ratio says nothing: "Feierabend." is "Let's call it a day."
BINS = 20
SPREADS_TO_RATIO = 6.0
LEAST_SPREAD = 0.15  # of the log ratio; no corpus is so regular that 20 % more would be a problem
LEAST_RATIO = 2.0
FEW_PAIRS_RATIO = 3  # words for one, where pairs are too few to learn from

HALF, LOWER_HALF = 32, 2**32 - 1  # two lengths make one number of 64 bits


class TooLong(CorpusCheck):
    name = "too-long"
    problem = "one side is far longer than is typical here"

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareOptions) -> CheckResult:
        facts = pairs.facts

        def measure_words(block: slice) -> NDArray[np.int32]:
            return np.maximum(facts.source_words[block], facts.target_words[block])

        blocks = iterate_blocks(len(pairs))
        limit = config.max_length or learn_length_limit(
            count_values(measure_words(block)[candidates[block]] for block in blocks)
        )

        def is_too_long(block: slice) -> BoolArray:
            characters = np.maximum(facts.source_lengths[block], facts.target_lengths[block])
            return (measure_words(block) > limit) | (characters > limit * CHARACTERS_PER_WORD)

        rows = judge_blocks(len(pairs), lambda block: is_too_long(block) & candidates[block])
        return CheckResult(rows, f"more than {format_count(limit, 'word')}")


def learn_length_limit(words: ValueCounts) -> int:
    """Returns the maximum number of words in a typical sentence: five spreads above the median of logarithms."""
    if words.total < MINIMUM_PAIRS:
        return SHORTEST_LIMIT
    logarithms = ValueCounts(np.log(np.maximum(words.values, 1)), words.counts)
    median, high = logarithms.find_quantiles([0.5, 0.9])
    spread = (high - median) / 1.2816  # of a normal distribution with the same 90th percentile
    return round(min(max(float(np.exp(median + SPREADS_TO_LONG * spread)), SHORTEST_LIMIT), LONGEST_LIMIT))


class Ratio(CorpusCheck):
    name = "length-ratio"
    problem = "source and target lengths do not match"

    def find_problems(self, pairs: Pairs, candidates: BoolArray, config: PrepareOptions) -> CheckResult:
        facts = pairs.facts
        if config.max_ratio is not None:
            return judge_words(facts, candidates, config.max_ratio)
        if np.count_nonzero(candidates) < MINIMUM_PAIRS:
            return judge_words(facts, candidates, FEW_PAIRS_RATIO)
        # 1. Whether a ratio is unusual depends on the two lengths alone, of which there are few.
        blocks = iterate_blocks(len(pairs))
        lengths = count_values(join_lengths(facts, block)[candidates[block]] for block in blocks)
        source_lengths, target_lengths = lengths.values >> HALF, lengths.values & LOWER_HALF
        ratios = np.log((target_lengths + 1.0) / (source_lengths + 1.0))
        typical = float(np.exp(ValueCounts(ratios, lengths.counts).find_median()))
        is_unusual = find_unusual(ratios, source_lengths * np.sqrt(typical), lengths.counts)
        # 2. Find the pairs with such lengths.
        unusual = lengths.values[is_unusual]

        def is_unlike(block: slice) -> BoolArray:
            longer = np.maximum(facts.source_words[block], facts.target_words[block])
            return find_members(join_lengths(facts, block), unusual) & (longer > SHORT_PAIR)

        rows = judge_blocks(len(pairs), lambda block: is_unlike(block) & candidates[block])
        return CheckResult(rows, f"typical ratio here: {typical:.2f}")


def join_lengths(facts: PairFacts, block: slice) -> NDArray[np.int64]:
    """Returns both lengths of each pair as one number."""
    return facts.source_lengths[block].astype(np.int64) << HALF | facts.target_lengths[block]


def judge_words(facts: PairFacts, candidates: BoolArray, most: float) -> CheckResult:
    """Finds the pairs, except short ones, with more than `most` words on one side for each word on the other."""

    def is_unlike(block: slice) -> BoolArray:
        words = facts.source_words[block], facts.target_words[block]
        longer = np.maximum(*words)
        return (longer > SHORT_PAIR) & (longer > most * np.minimum(*words)) & candidates[block]

    return CheckResult(
        judge_blocks(len(candidates), is_unlike), f"more than {most:g} words for each word of the other side"
    )


def find_unusual(ratios: NDArray[np.float64], sizes: NDArray[np.float64], counts: NDArray[np.int64]) -> BoolArray:
    """Returns a mask (V,) of the log ratios that are far from those of pairs of about the same size.

    `counts` holds the number of pairs with each ratio and size. The ratios of short sentences vary more than those of
    long ones. Pairs are therefore sorted into up to twenty bins with equal numbers of pairs, each with its own median
    and spread.
    """
    # 1. The size of a pair is the mean of both sides, so that a pair with one long side is compared with pairs like it.
    sizes = sizes * np.exp(ratios / 2)
    # 2. Sort the pairs into bins.
    bins = min(BINS, int(counts.sum()) // MINIMUM_PAIRS)
    edges = np.unique(ValueCounts(sizes, counts).find_quantiles(np.linspace(0, 1, bins + 1)[1:-1]))
    bin_numbers = np.searchsorted(edges, sizes, side="right")
    # 3. In each bin, find the ratios far from its median.
    is_unusual = np.zeros(len(ratios), dtype=np.bool_)
    for index in range(len(edges) + 1):
        in_bin = bin_numbers == index
        if counts[in_bin].sum() >= MINIMUM_PAIRS // 2:
            median = ValueCounts(ratios[in_bin], counts[in_bin]).find_median()
            distance = np.abs(ratios - median)
            spread = max(1.4826 * ValueCounts(distance[in_bin], counts[in_bin]).find_median(), LEAST_SPREAD)
            is_unusual |= in_bin & (distance > SPREADS_TO_RATIO * spread) & (distance > np.log(LEAST_RATIO))
    return is_unusual
