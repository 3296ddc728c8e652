"""Words written as no word in the language of the training text is: `report.pdf`, `C++`, `my-component-name`.

`codes` finds what is written as no prose in any language is, `code_phrases` what has blanks and brackets. Knows the
profile of the source, but no names.
"""

from __future__ import annotations

import re
from functools import cached_property

from nmt_cli.carrying.code_phrases import BEHIND_WORD, PhraseFinder, make_code
from nmt_cli.carrying.spans import Span, SpanKind
from nmt_cli.text.characters import ANY_OPENING, END_MARKS, INVISIBLE, PAUSES
from nmt_cli.text.profile import TextProfile
from nmt_cli.text.words import has_letters

# Patterns as text: compiled at their first use, which most texts do not need.
BEFORE_WORD = f"{ANY_OPENING}<*_{INVISIBLE}"
OPTION, FLAGS = r"--[A-Za-z]\w", r"-[a-z]{1,3}"  # of a command: --dry-run, -v, -rf
# What no word has.
NOT_IN_WORDS = (
    r"^&(?=[a-z])|[_\\@#+=^|~*$%<>]|(?<![^\W\d_])`|`(?![^\W\d_])|::|[-=]>|\?\.|(?<=[^\W\d_])&{1,2}(?=[^\W\d_])"
)
GLUED = r"-{2,}|[-=]>|[#=|~^+]+"  # signs that may touch a word of the language and are no part of it
LONE_SIGN = r"[&+=<>|/\\^~@#*→←⇒]{1,3}|<?[=-]{1,2}>|<[=-]{1,2}"  # between two words
KEBAB = r"[a-z][a-z0-9]*(?:-[a-z0-9]+){2,8}"  # my-component-name
KEY_COMBINATION = (
    r"[A-Z][^\W\d_]{2,}(?:\+[A-Z][^\W_]*)*\+?"  # Ctrl+S, Alt+ before F4, which a model of documentation knows
)
TYPED = r"0[xX][0-9A-Fa-f]{1,40}|[a-z]{2}-[A-Z]{2}"  # numbers and locales of programs: 0xFF, en-US
FILE_TYPES = frozenset(
    "aac apk avi bak bat bin bmp bz2 cfg cmd conf cpp css csv dat db deb dll dmg doc docx eml env epub exe flac"
    " gif gz htm html ico ini ipynb iso jar java jpeg jpg js json jsx lock log md mkv mov mp3 mp4 mpg odp ods odt"
    " ogg pdf php png ppt pptx ps py rar rb rpm rs rss rtf scss sh sql srt svg tar tex tgz tiff tmp tmx toml ts"
    " tsv tsx ttf txt vcf vtt wav webm webp woff xhtml xlf xls xlsx xml xz yaml yml zip".split()
)
LONGEST_CODE = 5  # letters of a text in capitals that is a code, not shouting: EUR, NULL
FREQUENT_WORD_COUNT = 100  # occurrences from which a letter is a word: I
RARE_SIGN_COUNT, RARE_SIGN_SHARE = 3, 0.0001  # occurrences at most, and those per text
SHORTEST_WORD = 4  # letters; a shorter part of a path may be a unit


class CodeFinder:
    """Finds what is written unlike the words of the training text."""

    def __init__(self, source: TextProfile) -> None:
        self.source = source
        self.phrases = PhraseFinder(source)

    def find_lone_code(self, text: str) -> Span | None:
        """Returns the only word of a text if it is a few capitals, and no word that training had in small letters."""
        if len(text) > 2 * LONGEST_CODE or not text.isupper():
            return None
        word = strip_marks(text.strip())
        usual = self.source.find_usual_case(word)
        is_code = word.isalpha() and len(word) <= LONGEST_CODE and (usual is None or usual == word)
        if not is_code or (len(word) == 1 and self.source.count_word(word) >= FREQUENT_WORD_COUNT):
            return None
        return make_code(text, text.index(word), text.index(word) + len(word))

    def find_glued(self, written: str, start: int) -> list[Span]:
        """Returns the signs that touch known words, if there is nothing else between two blanks; else it is a code."""
        signs = list(re.finditer(GLUED, written))
        words = [word.strip(END_MARKS + PAUSES) for word in re.split(GLUED, written)]
        if not all(word == "" or self.source.has_word(word) for word in words):
            return []
        for before, sign, after in zip(words[:-1], signs, words[1:], strict=True):
            is_capitalised = after[:1].isupper() and not after[1:].isupper()
            begins = is_capitalised and (start == 0 or self.source.find_usual_case(after) != after)
            if not (begins if after and sign[0] != "|" else len(before) > 1):
                return []
        return [
            Span(start + sign.start(), start + sign.end(), sign[0], SpanKind.SIGN, is_extracted=True) for sign in signs
        ]

    def find_signs(self, before: str, bare: str) -> str:
        """Returns the signs before a word that belong to it: `*args`, `*.txt`, `_id`, but not those of `*very*`."""
        signs, word = re.search(r"(?:\*{1,2}|_)$", before), bare.rstrip(BEHIND_WORD)
        if signs is None or signs[0][0] in bare:
            return ""
        is_code = (word[:1] == "." and signs[0] != "_") or (word.islower() and not self.source.has_word(word))
        return signs[0] if is_code else ""

    def is_lone_sign(self, part: str) -> bool:
        """Whether a part of a text between blanks consists of signs that training almost never had."""
        return re.fullmatch(LONE_SIGN, part) is not None and self.has_rare_sign(part)

    def has_rare_sign(self, part: str) -> bool:
        """Whether training almost never had one of the signs in this part of a text."""
        most = max(RARE_SIGN_COUNT, RARE_SIGN_SHARE * self.source.texts)
        return any(self.source.character_counts.get(sign, 0) <= most for sign in part)

    def is_code(self, word: str) -> bool:
        """Whether a word, without surrounding marks, is written unlike any word of a language."""
        if word.isalpha() or not has_letters(word):
            return False
        if re.fullmatch(FLAGS, word):
            return len(word) == len("-v") or not self.source.has_word(word[1:])
        if re.match(OPTION, word):
            return not self.source.find_word(word).total  # whatever words it consists of
        if re.fullmatch(KEY_COMBINATION, word) and not self.has_rare_sign("+"):
            return not all(map(self.source.has_word, word.rstrip("+").split("+")))
        if re.search(NOT_IN_WORDS, word):
            return len(word) > 1 and not self.source.has_word(word)
        if re.fullmatch(KEBAB, word):
            return not self.source.find_word(word).total and self.links.isdisjoint(word.split("-")[1:-1])
        if "/" in word:
            return self.is_path(word)
        return re.fullmatch(TYPED, word) is not None or ("." in word and self.is_file(word)) or self.is_member(word)

    @cached_property
    def links(self) -> frozenset[str]:
        """The words between the first and the last part of a compound, such as `to` in `up-to-date`."""
        compounds = (key.split("-") for key in self.source.words.list_keys() if "-" in key)
        return frozenset(part for parts in compounds for part in parts[1:-1])

    def is_member(self, word: str) -> bool:
        """Whether a full stop or a colon joins parts, one of which training never had: `foo.bar`, `xml:lang`."""
        parts = re.split("[.:]", word)
        return len(parts) > 1 and len(parts[-1]) > 1 and self.phrases.has_strange_part(word)

    def is_path(self, word: str) -> bool:
        """Whether a word with a slash is a path, a unit or a sign such as I/O, not alternatives such as and/or."""
        parts = [part for part in word.replace("/-", "/").split("/") if part]  # Mieter/-in has two words
        if word[0] in "/." or word.count("/") > 1 or self.is_file(parts[-1]):
            return True
        if all(len(part) == 1 and part.isupper() for part in parts):
            return True
        short = [part for part in parts if len(part) < SHORTEST_WORD or part.isupper() or part in FILE_TYPES]
        return len(parts) > 1 and any(not self.source.has_word(part) for part in short)

    def is_file(self, word: str) -> bool:
        """Whether a word with a full stop names a file, a program or a member of one, and is no abbreviation."""
        first, *parts = word.split(".")
        if not parts or parts[-1] == "":
            return False
        if not first:  # .NET, .txt, not ...and
            return len(parts) == 1 and (parts[0].isupper() or not self.source.has_word(parts[0]))
        return parts[-1].lower() in FILE_TYPES or (len(parts) > 1 and all(len(part) > 1 for part in (first, *parts)))


def strip_marks(part: str) -> str:
    """Returns a part of a text without the marks around its word."""
    return part.lstrip(BEFORE_WORD).rstrip(BEHIND_WORD)


def widen_code(text: str, start: int, end: int) -> Span:
    """Returns a code with the bracket beside it whose partner it has: `[a-z]+`, `count(*)`."""
    code = text[start:end]
    for opening, closing in ("()", "[]"):
        depth = code.count(opening) - code.count(closing)
        start -= depth < 0 and text[start - 1 : start] == opening
        end += depth > 0 and text[end : end + 1] == closing
    return make_code(text, start, end)
