"""Finds codes: words, phrases and joined spans that do not look like words of the training text.

`report.pdf`, `C++` and `git commit -m "x"` are codes, and so is `%s:%s` as a whole. `{0}` and `{1}` in `{0}here{1}`
enclose a word, as tags do.

    CodeFinder          Type f(x, y) in main.cpp    f(x, y), a phrase with spaces and brackets; main.cpp, a word
    join_tokens         %s:%s, {width}px            a masked span and the rest of its token become one code
    take_wraps_out      Click {0}here{1}            both are taken out, so that no network can lose the word

The words of the training text decide: `and/or` is not a code, and `foo.bar` is a code if the training text never
contains `foo`. The patterns are strings. They are compiled at their first use, because most texts do not need them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from nmt_cli.carrying.spans import NUMERIC, PROGRAM_TOKENS, Context, Kind, Pair, Span, SpanKind, WordTest
from nmt_cli.languages.rules import find_rules
from nmt_cli.text.characters import (
    ANY_CLOSING,
    ANY_OPENING,
    END_MARKS,
    FINAL_MARKS,
    INVISIBLE,
    OPERATORS,
    PAUSES,
    POWERS,
)
from nmt_cli.text.profile import TextProfile
from nmt_cli.text.words import has_letters

# Patterns as text: compiled at their first use, which most texts do not need.
BEHIND_WORD = f"{END_MARKS}{PAUSES}{ANY_CLOSING}>*_{INVISIBLE}"
BEFORE_PHRASE = rf"(?<![^\s{re.escape(ANY_OPENING)}])"
ARGUMENTS, INDEX = r"\([^()\n]{0,60}\)", r"\[[^\[\]\s]{0,40}\]"
ENDING = r"[(\[](?![xyz][)\]])[^\W\d_]{1,3}[)\]]"  # of a word: file(s), child[ren]
VARIABLES = r"\((?:[a-z]|\d+)(?:, ?(?:[a-z]|\d+))*\)"
OPERAND = rf"(?:{ARGUMENTS}|{INDEX})"
CALL = rf"(?<![\w.])(?P<name>[A-Za-z_][\w.]{{0,60}})(?P<rest>{OPERAND}(?:(?:\.\w+)?{OPERAND})*)(?!\w)"
DUNDER = r"(?<![\w.])__[a-z]\w{0,40}__(?!\w)"
MERGE_FIELD = r"[«‹][A-Z]\w{1,40}[»›]"  # of a letter, where no quotation has such marks
ENUMERATOR = r"(?<!\S)\((?:[a-z]|[ivx]{2,4})\)(?=[\s,;]|$)"  # where one is not alone: (a) the house, (b) the garden
# A formula of terms and small numbers: x = y + 2, A -> B, E = mc², a ≠ 2πr
NUMBER_OF = r"\d{1,3}[^\W\d_]{1,3}(?!\w)|\d{1,2}(?![.,]?\d)"
TERM = rf"(?:[^\W\d_]{{1,3}}[{POWERS}]+|[^\W\d_](?:[{OPERATORS}][^\W\d_])*|{NUMBER_OF})"
RELATION = rf"(?:[=+*/<>^{OPERATORS}]|[<>=!]=|[-=]>)"
FORMULA = (
    rf"{BEFORE_PHRASE}(?!\d){TERM} {RELATION} {TERM}(?: (?:-|{RELATION}) {TERM})*(?=[\s{re.escape(BEHIND_WORD)}]|$)"
)
TERM_ALONE = rf"[{POWERS}]|(?<=\w)[{OPERATORS}](?=\w)"  # πr², m·a
LONGEST_SYMBOL = 3  # letters of a term
# An option with its value, quoted or in capitals: -m "x", --model DIR
OPTION_VALUE = (
    r"\"[^\"\n]{1,80}\"|'[^'\n]{1,80}'|(?![AI]\b)[A-Z](?!\w)|[A-Z][A-Z\d_]{1,20}(?!\w)(?= -|\W*$|.{0,80}[a-z])"
)
VALUED_OPTION = rf"(?:--[A-Za-z][\w=./-]*|-[A-Za-z]{{1,3}}(?!\w))(?: (?:{OPTION_VALUE}))?"
OPTION_ALONE = rf"{BEFORE_PHRASE}--[A-Za-z][\w-]* (?:{OPTION_VALUE})|{BEFORE_PHRASE}-[A-Za-z] [A-Z][A-Z\d_]+(?=\W*$)"
# Words, all in small letters or in capitals, then options: git commit -m "x"
COMMAND = (
    rf"{BEFORE_PHRASE}(?:[a-z][\w.-]*(?: [a-z][\w.-]*){{0,3}}|[A-Z][A-Z\d.-]+(?: [A-Z][A-Z\d.-]+){{0,3}})"
    rf"(?: {VALUED_OPTION})+"
)
# A variable of a game in brackets, beside other words: [name], [player.name], [count!t]
VARIABLE = rf"{BEFORE_PHRASE}\[(?P<name>[a-z][a-z\d]+(?:[._-][a-z\d]+)*)(?:![a-z]{{1,2}})?\](?![\w(\[])"
# A letter that is a clause, and no article: Q: A?
LONE_LETTER = rf"(?:^|(?<=[{END_MARKS}{PAUSES}]\s))(?=[A-Z](?!\w))(?i:{{}})(?=[{END_MARKS}{PAUSES}]|$)"
FUNCTION_SHARE = 0.025  # occurrences per text from which a word is one of grammar: not, was; text and time are rarer
COMMON_SHARE = 0.01  # occurrences per text from which a word links others


def make_code(text: str, start: int, end: int) -> Span:
    """Returns the characters of a text from `start` to `end` as a code."""
    return Span(start, end, text[start:end], SpanKind.CODE)


def may_be_phrase(part: str) -> bool:
    """Whether a space-separated part of a text may belong to a phrase of code."""
    is_letter = part[:1].isupper() and not part[1:2].isalnum()
    return "«" in part or is_letter or part.startswith(("_", "*", "[")) or re.match(ENUMERATOR, part) is not None


def find_enumerators(text: str) -> list[tuple[int, int]]:
    """Returns the bracketed letters that number parts of a sentence, except one that begins the sentence."""
    matches = list(re.finditer(ENUMERATOR, text)) if "(" in text else []
    return [match.span() for match in matches if match.start() > 0] if len(matches) > 1 else []


VARIABLE_SIGNS, SIGNS_WITHIN = frozenset(("*", "**", "&")), frozenset("_~")
REACH = 40  # characters on either side of a span that may belong to it
# Patterns as text: compiled at their first use, which most texts do not need.
BETWEEN = r"[:/@=_.,;×+-]{0,3}"
LEFT = rf"(?<![^\s{re.escape(ANY_OPENING)}])(?:[A-Za-z][\w.-]*[:@=/]?|[\\$@%#]{{1,2}}:?)$"
BEFORE_VALUE = r"(?:^|\s)--?[A-Za-z][\w-]*[ =]?$"
QUOTED_KINDS = PROGRAM_TOKENS | {SpanKind.ADDRESS, SpanKind.ELEMENT}
FILE_TYPES = frozenset(
    "aac apk avi bak bat bin bmp bz2 cfg cmd conf cpp css csv dat db deb dll dmg doc docx eml env epub exe flac"
    " gif gz htm html ico ini ipynb iso jar java jpeg jpg js json jsx lock log md mkv mov mp3 mp4 mpg odp ods odt"
    " ogg pdf php png ppt pptx ps py rar rb rpm rs rss rtf scss sh sql srt svg tar tex tgz tiff tmp tmx toml ts"
    " tsv tsx ttf txt vcf vtt wav webm webp woff xhtml xlf xls xlsx xml xz yaml yml zip".split()
)
FILE_ENDING = rf"(?:\.(?:{'|'.join(sorted(FILE_TYPES, key=len, reverse=True))})(?!\w))+"
RIGHT = rf"(?i:{FILE_ENDING})|[:@=/_.]?[A-Za-z_][\w/:]*+(?i:{FILE_ENDING})?(?!['’-]\w)|[:/.@_]\d+"


def join_tokens(spans: Sequence[Span], text: str, is_word: WordTest) -> list[Span]:
    """Joins each masked span with the rest of its token; `spans` must be in order."""
    joined: list[Span] = []
    for span, following in zip(spans, [*spans[1:], None], strict=True):
        if span.kind in QUOTED_KINDS and not span.is_extracted and is_quoted(span, text):
            span = span._replace(start=span.start - 1, end=span.end + 1, text=f"'{span.text}'")
        if span.kind in PROGRAM_TOKENS and not span.is_extracted:
            start = joined[-1].end if joined else 0
            end = following.start if following else len(text)
            span = extend_token(span, text, max(start, span.start - REACH), min(end, span.end + REACH), is_word)
            if joined and is_one_token(joined[-1], span, text):
                span = make_code(text, joined.pop().start, span.end)
        joined.append(span)
    return joined


def is_quoted(span: Span, text: str) -> bool:
    """Whether single quotes, which a network mistakes for apostrophes, enclose nothing but a span."""
    if not span.start or not text[span.start - 1] == text[span.end : span.end + 1] == "'":
        return False
    before, behind = text[: span.start - 1][-1:], text[span.end + 1 :][:1]
    return not before.strip(f" {ANY_OPENING}") and not behind.strip(f" {BEHIND_WORD}")


def extend_token(span: Span, text: str, start: int, end: int, is_word: WordTest) -> Span:
    """Extends a span by adjacent text between `start` and `end`, unless that text consists of words."""
    before = re.search(LEFT, text[start : span.start])
    after = re.match(RIGHT, text[span.end : end])
    abbreviates = before and before[0].endswith(".") and span.is_number  # ca.100
    start = span.start - (len(before[0]) if before and not abbreviates and is_no_word(before[0], is_word) else 0)
    end = span.end + (len(after[0]) if after and is_no_word(after[0], is_word) else 0)
    return span if (start, end) == (span.start, span.end) else make_code(text, start, end)


def is_variable(sign: Span, text: str, context: Context) -> bool:
    """Whether a sign belongs to the word after it, which is in lower case and unseen in training: `*args`, `&x`.

    At the start of a text, `_` and `~` mark a menu entry (`_zoom`); elsewhere they may begin a variable.
    """
    signs = VARIABLE_SIGNS | SIGNS_WITHIN if sign.start else VARIABLE_SIGNS
    if context.is_word is None or sign.text not in signs:
        return False
    name = re.compile(r"[a-z]\w*").match(text, sign.end)
    return name is not None and not context.is_word(name[0])


def is_no_word(part: str, is_word: WordTest) -> bool:
    """Whether a part of a token has more than known or capitalised words; a single letter does not count as a word."""
    words = re.findall(r"[^\W\d_]+", part)
    is_marked = "_" in part or re.search(f"(?i:{FILE_ENDING})", part) is not None
    return not words or is_marked or any(len(word) == 1 or is_strange(word, is_word) for word in words)


def is_strange(word: str, is_word: WordTest) -> bool:
    return word != word.capitalize() and not is_word(word)


def is_one_token(first: Span, second: Span, text: str) -> bool:
    """Whether only signs separate two spans that are not both numbers, or a space separates two placeholders."""
    if first.is_extracted or first.kind not in PROGRAM_TOKENS or {first.kind, second.kind} <= NUMERIC:
        return False
    is_value = second.text[0] == "<" and re.search(BEFORE_VALUE, f"{first.text} ") is not None
    between = text[first.end : second.start]
    if between == " ":
        return is_value or first.kind is second.kind is SpanKind.PLACEHOLDER
    return re.fullmatch(BETWEEN, between) is not None


# Codes of games that touch a word and stand for none: colours, styles, pauses.
TOUCHED = rf"(?<=[\w{END_MARKS},])"
ESCAPED = r"\\[A-Za-z]{1,4}\[[^\[\]\s]{0,20}\]"  # RPG Maker: \C[2]
CONTROL_CODES = Kind(
    SpanKind.WRAP,
    form="taken out",
    patterns=(
        # Minecraft: §a, &a; before a small letter, & begins an entry of a menu
        r"§(?:\d(?=[^\W\d_]{2}|[§{%\[(])|[a-fk-orx](?=[\w§{%\[(]))|(?<=\S)§[\da-fk-or]",
        r"&#[\dA-Fa-f]{6}(?![\dA-Fa-f;])|&(?:\d(?=[^\W\d_]{2}|[&{%\[])|[a-fk-or](?=[A-ZÀ-Þ\d&{%]))|(?:(?<="
        + rf"[a-z{FINAL_MARKS}]"
        + r"{2})|(?<=[\]}])|(?<=%[sd])|(?<=&[\da-f]\d))&[\da-fk-or](?![\w;])",
        # World of Warcraft, Quake, Half-Life
        r"\|c[\dA-Fa-f]{8}|\|[HT][^|\s]{1,60}\|[ht]|(?<="
        + rf"[\w{FINAL_MARKS}\]]"
        + r"{2})\|[hr](?![\w|])|(?<=\w)\|r(?=\|)|(?<=\|r)\|n",
        # no time or ordinal: @5pm, ^2nd
        rf"(?<!\w)[\^@]\d(?=[A-ZÀ-Þ]|[^\W\d_]{{4}})|(?:(?<=[^\W\d_]{{3}})|(?<=[^\W\d_][{END_MARKS}]))[\^@]\d(?!\w)",
        # RPG Maker, Ren'Py
        rf"{ESCAPED}(?=[^\W\d_])|{TOUCHED}{ESCAPED}|\\[.!|^<>{{}}](?=[\\\w])|(?<=[\w{END_MARKS}|])\\[.!|^<>{{}}](?![\w{{\[(])",
        rf"(?<=[{END_MARKS}])\{{(?:w|p|nw|fast)(?:=[\d.]{{1,5}})?\}}",
        # Notes of Markdown: here[^1]; terminals: \033[1m; Grand Theft Auto: ~r~
        r"(?<=\S)\[\^[\w-]{1,40}\](?![\w(\[:])|\\(?:e|x1[bB]|0?33|u001[bB])\[[\d;]{0,20}m|"
        rf"~[a-z]~(?=[^\W\d_]{{2}})|(?<=[^\W\d_]{{2}})~[a-z]~|(?<=[{END_MARKS}])~[a-z]~",
        # Consoles: %c before a style; marks around a text, where no formula can be: $$The dog$$
        r"(?<!\d)%c(?=[A-ZÀ-Þ][a-zß-ÿ])|\${2}(?=[A-ZÀ-Þ][a-zß-ÿ]+ [^$\n]{1,80}\${2})|(?<=[a-zß-ÿ]{2})\${2}(?!\w)",
    ),
    signs=r"§&|^@\\{%$~",
)


WRAPPED_WORD = r"[^\W\d_]+(?:['’-][^\W\d_]+)*"


def take_wraps_out(spans: Sequence[Span], text: str, is_word: WordTest) -> list[Span]:
    """Takes codes that wrap words out of a text; `is_word` distinguishes words from parts of codes."""
    result = list(spans)
    tokens = [index for index, span in enumerate(spans) if span.kind is SpanKind.WRAP or not span.is_extracted]
    wrapping: set[int] = set()
    for first, second in pairwise(tokens):
        if first not in wrapping and is_pair(spans[first], spans[second], text, is_word):
            wrapping |= {first, second}
            for index, closes in ((first, False), (second, True)):
                result[index] = take_out(spans[index], Pair(spans[first].text, closes))
    for index in tokens:
        if index not in wrapping and touches_word(spans[index], text, is_word):
            result[index] = take_out(spans[index], None)
    return result


def take_out(span: Span, pair: Pair | None) -> Span:
    return span._replace(kind=SpanKind.WRAP, is_extracted=True, pair=pair)


def is_pair(first: Span, second: Span, text: str, is_word: WordTest) -> bool:
    """Whether two codes directly enclose known words, with no letter or digit outside; `x` is a times sign."""
    inside, before, after = text[first.end : second.start], text[: first.start][-1:], text[second.end :][:1]
    if first.kind is second.kind is SpanKind.WRAP:
        return inside.strip() == inside != ""
    if not {first.kind, second.kind} <= PROGRAM_TOKENS or before.isalnum() or after.isalnum():
        return False
    words = re.findall(WRAPPED_WORD, inside)
    return inside[:1].isalpha() and inside[-1:].isalpha() and inside != "x" and all(map(is_word, words))


def touches_word(span: Span, text: str, is_word: WordTest) -> bool:
    """Whether a span begins or ends with a sign that touches a known word: `{n}dogs`, `dogs{n}`."""
    if span.kind not in PROGRAM_TOKENS:
        return False
    before = re.search(f"{WRAPPED_WORD}$", text[max(0, span.start - REACH) : span.start])
    after = re.compile(rf"{WRAPPED_WORD}(?!\w)").match(text, span.end, span.end + REACH)
    touching = [
        word[0] for word, sign in ((before, span.text[0]), (after, span.text[-1])) if word and not sign.isalnum()
    ]
    return any(len(word) > 1 and is_word(word) for word in touching)


# Patterns as text: compiled at their first use, which most texts do not need.
BEFORE_WORD = f"{ANY_OPENING}<*_{INVISIBLE}"
OPTION, FLAGS = r"--[A-Za-z]\w", r"-[a-z]{1,3}"  # of a command: --dry-run, -v, -rf
# What no word has.
NOT_IN_WORDS = (
    r"^&(?=[a-z])|[_\\@#+=^|~*$%<>]|(?<![^\W\d_])`|`(?![^\W\d_])|::|[-=]>|\?\.|(?<=[^\W\d_])&{1,2}(?=[^\W\d_])"
)
GLUED = r"-{2,}|[-=]>|[#=|~^+]+"  # signs that may touch a word of the language and are no part of it
LONE_SIGN = r"[&+=<>|/\\^~@#*→←⇒]{1,3}|<?[=-]{1,2}>|<[=-]{1,2}"  # between two words
KEBAB = r"[a-z][a-z0-9]*(?:(?:-[a-z0-9]+){2,8}|--[a-z0-9]+)"  # my-component-name, btn--primary
KEY_COMBINATION = (
    r"[A-Z][^\W\d_]{2,}(?:\+[A-Z][^\W_]*)*\+?"  # Ctrl+S, Alt+ before F4, which a model of documentation knows
)
TYPED = r"0[xX][0-9A-Fa-f]{1,40}|[a-z]{2}-[A-Z]{2}"  # numbers and locales of programs: 0xFF, en-US
LONGEST_CODE = 5  # letters of a text in capitals that is a code, not shouting: EUR, NULL
FREQUENT_WORD_COUNT = 100  # occurrences from which a letter is a word: I
RARE_SIGN_COUNT, RARE_SIGN_SHARE = 3, 0.0001  # occurrences at most, and those per text
SHORTEST_WORD = 4  # letters; a shorter part of a path may be a unit


class CodeFinder:
    """Finds text written unlike the words of the training text."""

    def __init__(self, source: TextProfile, language: str = "") -> None:
        rules = find_rules(language)
        self.source = source
        self.lone_article = LONE_LETTER.format(rules.determiners or "(?!)")
        self.letters = rules.one_letter_words
        self.grammar = "|".join(filter(None, (rules.determiners, rules.subjects, rules.objects, rules.noun_signs)))

    def find_lone_code(self, text: str) -> Span | None:
        """Returns the only word of a text if it is `true`, `false`, or a few capitals not usually in lower case."""
        if text in ("true", "false"):
            return make_code(text, 0, len(text))
        if len(text) > 2 * LONGEST_CODE or not text.isupper():
            return None
        word = strip_marks(text.strip())
        usual = self.source.find_usual_case(word)
        is_code = word.isalpha() and len(word) <= LONGEST_CODE and usual in (None, word)
        may_be_word = not self.letters.isdisjoint((word, word.lower()))
        if not is_code or (may_be_word and self.source.count_word(word) >= FREQUENT_WORD_COUNT):
            return None
        return make_code(text, text.index(word), text.index(word) + len(word))

    def find_phrases(self, text: str) -> list[Span]:
        """Returns the phrases of code in order, keeping the first of those that overlap."""
        ranges = [
            *self.find_calls(text),
            *self.find_commands(text),
            *self.find_variables(text),
            *find_enumerators(text),
        ]
        patterns = [FORMULA, DUNDER, OPTION_ALONE, self.lone_article, *[MERGE_FIELD] * self.has_rare_sign("«")]
        ranges += [match.span() for pattern in patterns for match in re.finditer(pattern, text)]
        phrases: list[Span] = []
        for start, end in sorted(ranges):
            if not phrases or phrases[-1].end <= start:
                phrases.append(make_code(text, start, end))
        return phrases

    def find_calls(self, text: str) -> Iterator[tuple[int, int]]:
        """Yields calls and elements of lists: `main()`, `foo.bar(x)`, `a[i]`, but not `file(s)` or `house[1]`."""
        for match in re.finditer(CALL, text) if "(" in text or "[" in text else ():
            name, rest = match["name"], match["rest"]
            is_variable = len(name) == 1 and (rest[0] == "[" or re.fullmatch(VARIABLES, rest) is not None)
            if rest == "()" or is_variable or (self.has_strange_part(name) and not re.fullmatch(ENDING, rest)):
                yield match.span()

    def find_commands(self, text: str) -> Iterator[tuple[int, int]]:
        """Yields commands with options, starting at the first word that is unknown or, in a text of mixed case, in
        capitals; but not `git with -m`.
        """
        is_shouted = text.isupper()
        for match in re.finditer(COMMAND, text) if " -" in text else ():
            words = list(re.finditer(r"\S+", match[0].partition(" -")[0]))
            is_command = match[0][0].isupper() and not is_shouted
            unknown = next((word.start() for word in words if is_command or not self.source.has_word(word[0])), None)
            if unknown is not None and self.source.count_word(words[-1][0]) < COMMON_SHARE * self.source.texts:
                yield match.start() + unknown, match.end()

    def find_variables(self, text: str) -> Iterator[tuple[int, int]]:
        """Yields bracketed variables next to words: `[name]`, but not `[not]` or `[him]`, which a writer added."""
        for match in re.finditer(VARIABLE, text) if "[" in text else ():
            is_common = (
                self.source.count_word(match["name"]) >= FUNCTION_SHARE * self.source.texts
                or re.fullmatch(self.grammar, match["name"]) is not None
            )
            before, after = text[: match.start()].rstrip(), text[match.end() :]
            if not is_common and (has_letters(after) or before[-1:] not in END_MARKS):
                yield match.span()

    def has_strange_part(self, word: str) -> bool:
        """Whether a part of a word is unseen in training and not merely capitalised."""
        parts = re.findall(r"[^\W\d_]{2,}", word)
        return any(is_strange(part, self.source.has_word) for part in parts)

    def find_glued(self, written: str, start: int) -> list[Span]:
        """Returns the signs attached to known words; none if anything else is attached, as the whole is then a code."""
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
        """Whether a space-separated part of a text consists of signs, at least one of them rare in training."""
        return re.fullmatch(LONE_SIGN, part) is not None and self.has_rare_sign(part)

    def has_rare_sign(self, part: str) -> bool:
        """Whether one of the signs in this part of a text almost never occurs in training."""
        most = max(RARE_SIGN_COUNT, RARE_SIGN_SHARE * self.source.texts)
        return any(self.source.character_counts.get(sign, 0) <= most for sign in part)

    def is_code(self, word: str) -> bool:
        """Whether a word, without surrounding punctuation, is written unlike any word of a language."""
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
            parts = re.split("-+", word)
            is_prose = "--" in word and all(map(self.source.has_form, parts))
            return not is_prose and not self.source.find_word(word).total and self.links.isdisjoint(parts[1:-1])
        if "/" in word:
            return self.is_path(word)
        return re.fullmatch(TYPED, word) is not None or ("." in word and self.is_file(word)) or self.is_member(word)

    def is_term(self, written: str) -> bool:
        """Whether a word has mathematical signs and contains no known word: `πr²`, but not `dog²`, which has a note."""
        if written.isascii() or not has_letters(written) or not re.search(TERM_ALONE, written):
            return False
        parts = re.findall(r"[^\W\d_]+", written)
        return all(len(part) == 1 or (len(part) <= LONGEST_SYMBOL and not self.source.has_word(part)) for part in parts)

    @cached_property
    def links(self) -> frozenset[str]:
        """The words between the first and the last part of a compound, such as `to` in `up-to-date`."""
        compounds = (key.split("-") for key in self.source.words.list_keys() if "-" in key)
        return frozenset(part for parts in compounds for part in parts[1:-1])

    def is_member(self, word: str) -> bool:
        """Whether a full stop or a colon joins parts, one of them unseen in training: `foo.bar`, `xml:lang`."""
        parts = re.split("[.:]", word)
        return len(parts) > 1 and len(parts[-1]) > 1 and self.has_strange_part(word)

    def is_path(self, word: str) -> bool:
        """Whether a word with a slash is a path, a unit or an abbreviation such as I/O, not a choice such as and/or."""
        parts = [part for part in word.replace("/-", "/").split("/") if part]  # Mieter/-in has two words
        if word[0] in "/." or word.count("/") > 1 or self.is_file(parts[-1]):
            return True
        if all(len(part) == 1 and part.isupper() for part in parts):
            return True
        short = [part for part in parts if len(part) < SHORTEST_WORD or part.isupper() or part in FILE_TYPES]
        return len(parts) > 1 and any(not self.source.has_word(part) for part in short)

    def is_file(self, word: str) -> bool:
        """Whether a word with a full stop names a file, a program or a member of one, and is not an abbreviation."""
        first, *parts = word.split(".")
        if not parts or parts[-1] == "":
            return False
        if not first:  # .NET, .txt, not ...and
            return len(parts) == 1 and (parts[0].isupper() or not self.source.has_word(parts[0]))
        return parts[-1].lower() in FILE_TYPES or (len(parts) > 1 and all(len(part) > 1 for part in (first, *parts)))


def strip_marks(part: str) -> str:
    """Returns a word without the punctuation around it."""
    return part.lstrip(BEFORE_WORD).rstrip(BEHIND_WORD)


def widen_code(text: str, start: int, end: int) -> Span:
    """Returns a code extended by an adjacent bracket that completes a pair: `[a-z]+`, `count(*)`."""
    code = text[start:end]
    for opening, closing in ("()", "[]"):
        depth = code.count(opening) - code.count(closing)
        start -= depth < 0 and text[start - 1 : start] == opening
        end += depth > 0 and text[end : end + 1] == closing
    return make_code(text, start, end)
