"""Replaces characters unseen in training with the nearest equivalents that the model knows.

`„Ｈｅｌｌｏ“ — naïve` is read as `"Hello" - naive` by a model of plain ASCII. The training text decides, not a list: a
character that occurs there is never touched, except for a mark that is rare among thousands of another form, and for
letters of a script that is only quoted. The tables of characters that look or mean the same only list candidates.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Self

from nmt_cli.carrying.spans import COVERS, EMOJI_COVER, PLACEHOLDER_PATTERN
from nmt_cli.languages.codes import DATA
from nmt_cli.rewriting.protocol import ModelText, Rewrite, TextContext
from nmt_cli.text.aligned import AlignedText, Edit
from nmt_cli.text.characters import (
    BRACKETS,
    DASHES,
    HYPHENS,
    INVERTED_MARKS,
    OPENING_BRACKETS,
)
from nmt_cli.text.words import APOSTROPHES, EDGES, choose_apostrophe, choose_word_pattern, has_letters

AROUND = EDGES + BRACKETS  # a word

# Marks of one meaning; within a line the nearest come first, and what follows a blank is farther away. Among the single
# quotes, the apostrophe; as quotes they are pairs.
MARK_LOOKALIKES = (DATA / "lookalikes.txt").read_text(encoding="utf-8").splitlines()
DOUBLE_PAIRS = (
    *(('"', '"'), ("“", "”"), ("„", "“"), ("„", "”"), ("”", "”"), ("«", "»"), ("»", "«"), ("»", "»")),
    *(("「", "」"), ("『", "』"), ("〝", "〟"), ("＂", "＂"), ("″", "″"), ("❝", "❞"), ("〞", "〞"), ("‟", "”")),
    *(("《", "》"), ("〈", "〉")),
)
SINGLE_PAIRS = (
    *(("'", "'"), ("‘", "’"), ("‚", "‘"), ("‚", "’"), ("’", "’"), ("‹", "›"), ("›", "‹"), ("`", "'"), ("`", "`")),
    *(("´", "´"), ("‛", "’"), ("❛", "❜"), ("＇", "＇"), ("′", "′")),
)
OPENERS = frozenset(opening for opening, closing in (*DOUBLE_PAIRS, *SINGLE_PAIRS) if opening != closing)
LONG_DASHES = "—―⸺⸻"  # which part clauses without blanks, where a hyphen would join two words
# Letters that Unicode does not decompose, each before what is written where it is missing.
BROKEN_PAIRS = (
    "ß ss ẞ SS æ ae Æ AE œ oe Œ OE ø o Ø O ł l Ł L đ d Đ D ð d Ð D þ th Þ Th ħ h Ħ H ŧ t Ŧ T ı i ŋ ng ə e Ə E ƒ f ɡ g "
    "ي ی ی ي ك ک ک ك"
).split()
BROKEN_LETTERS = dict(zip(BROKEN_PAIRS[::2], BROKEN_PAIRS[1::2], strict=True))
CYRILLIC, LATIN_FOR_CYRILLIC = "АВЕЅІЈКМНОРСТУХаеѕіјорсухԁһԛԝ", "ABESIJKMHOPCTYXaesijopcyxdhqw"
GREEK, LATIN_FOR_GREEK = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧοαικνρυ", "ABEZHIKMNOPTYXoaikvpu"

# Scripts in whose words joiners and non-joiners decide about shapes or meanings: Arabic, Syriac, those of South Asia,
# Tibetan, Myanmar, Khmer, Mongolian.
JOINING_SCRIPTS = (
    *((0x0600, 0x08FF), (0x0900, 0x0DFF), (0x0F00, 0x109F), (0x1780, 0x18AF), (0xA840, 0xA8FF), (0xFB50, 0xFDFF)),
    *((0xFE70, 0xFEFE), (0x10A60, 0x10AFF), (0x11000, 0x11FFF), (0x1E900, 0x1E95F)),
)
SHAPERS = "\u200c\u200d\u180b\u180c\u180d\u180e\u180f"  # joiners, and what chooses a shape in Mongolian
FILLERS = "\u034f\u115f\u1160\u3164\uffa0\ufffc\u17b4\u17b5"  # no letters, though Unicode files some of them there


def find_same_marks(character: str) -> list[str]:
    """Returns groups of characters with the same meaning as a mark, nearest first."""
    lines = [line for line in MARK_LOOKALIKES if character in line.split(" ")[0]]
    lines += [line for line in MARK_LOOKALIKES if character in line and line not in lines]
    return [group for line in lines for group in line.split(" ")]


def find_usual_pair(pairs: Sequence[tuple[str, str]], counts: Mapping[str, int]) -> tuple[str, str]:
    """Returns the pair of quotes whose rarer member is the most frequent."""
    return max(pairs, key=lambda pair: min(counts.get(quote, 0) for quote in pair))


def pair_same_letters() -> dict[str, str]:
    """Returns, for each letter, the letters of other scripts that look identical."""
    same: dict[str, str] = {}
    for letter, latin in zip(CYRILLIC + GREEK, LATIN_FOR_CYRILLIC + LATIN_FOR_GREEK, strict=True):
        same[letter], same[latin] = latin, same.get(latin, "") + letter
    return same


SAME_LETTERS = pair_same_letters()


def is_invisible(character: str) -> bool:
    """Whether a character has no shape and is not a space: direction marks, joiners, variation selectors, fillers."""
    code = ord(character)
    if code < 0x34F:
        return False
    if character in FILLERS or 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF or 0x180B <= code <= 0x180F:
        return True
    # Some signs of Arabic and its neighbours are format characters, though they are drawn.
    return (
        unicodedata.category(character) == "Cf"
        and (code >= 0x2000 or code == 0x061C)
        and code not in (0x110BD, 0x110CD)
    )


def is_joining(character: str) -> bool:
    """Whether a character is a letter or mark of a script that needs joiners."""
    return unicodedata.category(character)[0] in "LM" and any(
        first <= ord(character) <= last for first, last in JOINING_SCRIPTS
    )


def name_character(character: str) -> str:
    """Returns a character as messages show it: an invisible one as its code and name."""
    if character.isprintable() and not unicodedata.combining(character) and not is_invisible(character):
        return character
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()


RARE_MARK = 10  # occurrences of a mark; fewer are an accident,
RARER = 1000  # if another form of the mark occurs so many times as often
RARE_SCRIPT = 0.0001  # share of the letters and digits of training
LAST_LATIN = "\u024f"
BEFORE_OPENING = f" {OPENING_BRACKETS}{INVERTED_MARKS}{HYPHENS}{DASHES}</"
ANYWHERE = TextContext()


class Characters(Rewrite):
    """Reads characters unseen in training as their nearest equivalents: quotes, dashes, widths, digits, accents.

    `counts` holds the frequency of each character in training; `apostrophe` is the only one within its words, so that
    others are known only as quotes, if at all.
    """

    def __init__(self, counts: Mapping[str, int], apostrophe: str = "") -> None:
        self.counts, self.apostrophe = counts, apostrophe
        self.slips = frozenset(APOSTROPHES if apostrophe else "") - {apostrophe}
        rare = frozenset((*self.find_rare_marks(), *self.find_rare_letters()))
        self.known = frozenset(counts) - rare | {" ", "⟦", "⟧"}
        self.replacements: dict[str, str] = {}  # of characters for which their neighbours do not matter

    def find_rare_marks(self) -> Iterator[str]:
        """Yields marks too rare in training to be learned, although another form of the same mark is frequent.

        Also yields rare invisible characters, about which a network knows only what a few emoji taught it.
        """
        least = RARE_SCRIPT * sum(self.counts.values())
        for mark, count in self.counts.items():
            if count < least and is_invisible(mark):
                yield mark
            elif count < RARE_MARK and not mark.isalnum():
                others = find_same_marks(mark)[:1]
                if any(self.counts.get(other, 0) >= RARER * count for group in others for other in group):
                    yield mark

    def find_rare_letters(self) -> Iterator[str]:
        """Yields letters and digits of scripts that hardly occur in training: foreign words, full-width digits."""
        scripts = {sign: unicodedata.name(sign, "").split(" ")[0] for sign in self.counts if sign.isalnum()}
        sizes: Counter[str] = Counter()
        for sign, script in scripts.items():
            sizes[script] += self.counts[sign]
        least = RARE_SCRIPT * sizes.total()
        yield from (sign for sign, script in scripts.items() if sign > LAST_LATIN and sizes[script] < least)

    @classmethod
    def from_model(cls, model: ModelText) -> Self:
        return cls(model.source.character_counts, model.source.words.apostrophe)

    def read(self, text: AlignedText, context: TextContext = ANYWHERE) -> tuple[AlignedText, None] | None:
        """Returns a normalised text in known characters; None if it has no unknown ones."""
        has_slips = not self.slips.isdisjoint(text.text)
        if self.known.issuperset(text.text) and not has_slips:
            return None
        slips = {match.start() for match in choose_apostrophe(text.text).finditer(text.text)} if has_slips else set()
        protected = {index for match in PLACEHOLDER_PATTERN.finditer(text.text) for index in range(*match.span())}
        characters: list[tuple[str, int]] = []
        for index, (character, origin) in enumerate(zip(text.text, text.origins, strict=True)):
            is_kept = character in self.known or index in protected
            replacement = character if is_kept else self.replace_character(text.text, index)
            replacement = self.apostrophe if index in slips else replacement
            characters += [(part, origin) for part in replacement]
        composed = AlignedText.from_characters(characters).compose()
        result = AlignedText.from_characters(clean_blanks(zip(composed.text, composed.origins, strict=True)))
        return None if result.text == text.text else (result, None)

    def spell(self, word: str) -> str:
        """Returns a word in known characters, without invisible ones."""
        result = None if word.isascii() else self.read(AlignedText.from_text(word))
        return result[0].text if result else word

    def find_foreign_words(self, text: str) -> list[tuple[int, int]]:
        """Returns the ranges of words without a single letter that is known or has an equivalent, merging neighbours.

        A word has the signs between its letters: `¯\\_(ツ)_/¯`. Empty for a text without any known letter.
        """
        if self.known.issuperset(text) or not any(letter in self.known for letter in text if letter.isalpha()):
            return []
        runs: list[tuple[int, int]] = []
        for start, end in self.find_words_between_blanks(text):
            if not has_letters(text[start:end]) or not self.is_foreign(text, start, end):
                continue
            if runs and not text[runs[-1][1] : start].strip():
                start, _ = runs.pop()
            runs.append((start, end))
        return runs

    def find_words_between_blanks(self, text: str) -> Iterator[tuple[int, int]]:
        """Yields each space-separated part without surrounding punctuation, or its words if it has known letters."""
        for match in re.finditer(rf"[^\s{COVERS}{EMOJI_COVER}]+", text):
            start, end = match.end() - len(match[0].lstrip(AROUND)), match.start() + len(match[0].rstrip(AROUND))
            if self.is_foreign(text, start, end):
                yield start, end
            else:
                yield from (word.span() for word in choose_word_pattern(text).finditer(text, start, end))

    def is_foreign(self, text: str, start: int, end: int) -> bool:
        """Whether the model knows no letter from `start` to `end`."""
        return all(
            text[index] not in self.known
            and self.replace_character(text, index) == text[index]
            and text[index].swapcase() not in self.known
            for index in range(start, end)
            if text[index].isalpha()
        )

    def replace_character(self, text: str, index: int) -> str:
        """Returns the replacement of an unseen character, or the character itself if nothing is nearer."""
        character = text[index]
        # 1. What has no shape has no meaning either, outside the scripts that need it.
        if is_invisible(character):
            return character if character in SHAPERS and index and is_joining(text[index - 1]) else ""
        # 2. Quotes open or close, dashes part words, letters of another script need a word around them.
        for replacement in self.suggest_in_context(text, index):
            return replacement
        # 3. A letter that is only known in the other case waits for `LetterCase`.
        if character.swapcase() in self.known:
            return character
        # 4. All else depends on the character alone.
        if character not in self.replacements:
            self.replacements[character] = next(self.list_candidates(character), character)
        return self.replacements[character]

    def suggest_in_context(self, text: str, index: int) -> Iterator[str]:
        character, before, after = text[index], text[index - 1 : index], text[index + 1 : index + 2]
        is_between_words = before.isalnum() and after.isalnum()
        quotes = [pairs for pairs in (DOUBLE_PAIRS, SINGLE_PAIRS) if any(character in pair for pair in pairs)]
        if quotes and not (quotes[0] is SINGLE_PAIRS and is_between_words):
            opens = not before or before in BEFORE_OPENING or (before in OPENERS and before != character)
            yield from self.choose_quote(quotes[0], opens=opens)
        if character in LONG_DASHES and is_between_words and self.known.isdisjoint(DASHES + LONG_DASHES):
            yield from (f" {dash} " for dash in self.choose_known(HYPHENS))
        if unicodedata.decomposition(character).startswith("<fraction>") and before.isdigit():
            yield from (f" {fraction}" for fraction in self.list_candidates(character))
        if character.isalpha():
            yield from self.suggest_same_letter(text, index)

    def list_candidates(self, character: str) -> Iterator[str]:
        """Yields possible replacements of a character, nearest first."""
        # 1. Another form of the same mark.
        yield from self.suggest_mark(character)
        # 2. What Unicode calls compatible: full width, ligatures, circled, mathematical; but no letters above the line.
        compatible = unicodedata.normalize("NFKC", character)
        is_raised = len(compatible) > 1 and unicodedata.decomposition(character).startswith("<super>")
        if compatible != character and " " not in compatible and not is_raised:
            yield from self.spell_known(compatible)
        # 3. The same digit.
        yield from self.suggest_digit(character)
        # 4. The same letter without its marks.
        yield from self.spell_known(BROKEN_LETTERS.get(character, ""))
        base = unicodedata.normalize("NFD", character)
        yield from self.spell_known(base[0] if len(base) > 1 else "")
        if len(base) > 1 and character != base[0].swapcase():
            yield from self.spell_known(base[0].swapcase())
        if unicodedata.category(character) == "Mn":
            yield ""

    def suggest_digit(self, character: str) -> Iterator[str]:
        value = unicodedata.decimal(character, None)
        if value is not None:
            digits = (other for other in self.known if unicodedata.decimal(other, None) == value)
            yield from sorted(digits, key=lambda digit: (-self.counts[digit], digit))[:1]

    def suggest_same_letter(self, text: str, index: int) -> Iterator[str]:
        """Yields an identical-looking letter if the rest of its word is known or looks like known letters."""
        if next(self.choose_known(SAME_LETTERS.get(text[index], "")), None) is None:
            return  # nearly all letters; a look at the whole word for each would take long
        start = end = index
        while start > 0 and text[start - 1].isalpha():
            start -= 1
        while end < len(text) and text[end].isalpha():
            end += 1
        word = text[start:end]
        same = [list(self.choose_known(SAME_LETTERS.get(letter, ""))) for letter in word]
        readable = all(letter in self.known or others for letter, others in zip(word, same, strict=True))
        if readable and any(letter in self.known for letter in word):
            yield from same[index - start]

    def choose_quote(self, pairs: Sequence[tuple[str, str]], *, opens: bool) -> Iterator[str]:
        """Yields the opening or closing quote of the pair that is most frequent in training."""
        best = find_usual_pair(pairs, self.counts)
        if all(quote in self.known for quote in best):
            yield best[0] if opens else best[1]

    def choose_known(self, characters: Sequence[str]) -> Iterator[str]:
        """Yields the most frequent known character, if any."""
        usable = [character for character in characters if character in self.counts]
        if usable:
            yield max(usable, key=lambda character: self.counts[character])

    def spell_known(self, text: str) -> Iterator[str]:
        """Yields the text if each of its characters is known or is a mark with a known form."""
        parts = [character if character in self.known else next(self.suggest_mark(character), "") for character in text]
        if text and all(parts):
            yield "".join(parts)

    def suggest_mark(self, character: str) -> Iterator[str]:
        for group in find_same_marks(character):
            yield from self.choose_known(group)


class LetterCase(Rewrite):
    """Reads all letters in one case if the training text has no other."""

    def __init__(self, known: frozenset[str]) -> None:
        self.known = known

    @classmethod
    def from_model(cls, model: ModelText) -> Self:
        return cls(Characters.from_model(model).known)

    def read(self, text: AlignedText, context: TextContext) -> tuple[AlignedText, None] | None:
        if self.known.issuperset(text.text):
            return None
        letters = [
            letter if letter in self.known or letter.swapcase() not in self.known else letter.swapcase()
            for letter in text.text
        ]
        edits = [Edit(index, index + 1, letter) for index, letter in enumerate(letters) if letter != text.text[index]]
        return (text.replace(edits), None) if edits else None


def clean_blanks(characters: Iterator[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Yields the characters without outer spaces, and with each run of spaces reduced to one."""
    blank: tuple[str, int] | None = None
    begun = False
    for part, index in characters:
        if part == " ":
            blank = blank or (part, index)
            continue
        if blank is not None and begun:
            yield blank
        yield part, index
        blank, begun = None, True
