"""Finds the header of a table, and the two columns that hold the texts of pairs, by their content.

    id      English        licence     German              columns 2 and 4: the header names two languages
    7       He came.       CC-BY       Er kam.

    7       He came.       CC-BY       Er kam.             columns 2 and 4, from five rows on: the others are
    8       She left.      CC-BY       Sie ging.           numbers and attributions

A column holds no text if most of its cells are numbers, identifiers, addresses, dates or attributions, or if all are
equal. Does not depend on file formats.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from nmt_cli.errors import DataError
from nmt_cli.formats.inputs import ReadOptions
from nmt_cli.formats.reader import find_cell_language, find_columns, find_known_columns
from nmt_cli.formats.sniffing import is_name
from nmt_cli.languages.codes import (
    CLEAR_CODES,
    HEADING_SEPARATORS,
    LONGEST_NAME,
    NOT_CODES,
    find_code,
    find_codes,
    find_named_language,
    find_rare_name,
    fold_name,
    has_region,
    is_common_code,
    is_common_name,
    is_full_name,
    is_language_code,
    is_same_language,
)
from nmt_cli.text.normalise import count_words, normalise
from nmt_cli.text.tags import means_language
from nmt_cli.text.wrapping import shorten_text

Records = Sequence[Sequence[str]]

ENOUGH = 5  # rows from which the content of a column can be judged
MANY = 20  # rows from which few distinct words are labels, and a column beside a text is no text
SHARE = 0.8  # of the cells of a column that tell what it holds
MOST_TITLES = 5  # rows above a table
SHOWN = 8  # columns of the row that an error shows
CELL = 24  # characters of a cell that are shown
LANGUAGE_HEADING = re.compile(
    r"(?<![^\W_])(?:languages?|lang|idiomas?|lenguas?|langues?|sprachen?|línguas?|iso(?:[ _-]?639)?(?:[ _-]?3)?)"
    r"(?:[ _-]?(?:code|name|id))?(?![^\W_])",
    re.IGNORECASE,
)
SOURCE_HEADING = re.compile(r"source|src|from|origen|quell|orig", re.IGNORECASE)
KINDS = {  # of cells that are no text
    "numbers": re.compile(r"[-+]?[\d.,'\u00a0 ]*\d(?:[eE][-+]?\d+)?\s*%?"),
    "addresses": re.compile(r"(?:https?|ftp|file)://\S+|www\.\S+|\S+@\S+\.\w+|(?:[\w.-]*/)+[\w.-]+"),
    "dates": re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:[T ]\d{1,2}:\d\d\S*)?"),
    "identifiers": re.compile(r"(?=\S*[\d|_])[!-~]+"),
}
ATTRIBUTION = re.compile(r"\bCC[- ]?(?:BY|0)\b|\blicen[cs]e|attribution|copyright|©|public domain", re.IGNORECASE)
# Words of headings of text, an idea a line: a row that names one idea on both sides is a pair ("Text" / "Texto").
CLEAR_IDEAS = """
    source src
    target trg tgt
    text texto texte текст tx
    translation translated transl traducción traduccion traduction tradução traducao trad trad. übersetzung перевод ft
    sentence oración oracion frase phrase satz предложение utterance enunciado énoncé segment
    meaning significado sens bedeutung значение
    gloss glosses glosa glosas glose gloses glosse ge
    form forma forme lexeme lx lemma lema headword
    word palabra mot wort слово
    transcription transcripción transcripcion orthography orthographic ortografía ortográfica ipa
    language lang lengua idioma langue sprache língua l vernacular native vernáculo
    free libre frei livre
    national practical
""".strip().splitlines()
OTHER_IDEAS = """
    original
    input
    output
    string line
    entry entrada
    definition definición definicion
    value
    reference ref
    hypothesis mt
    machine
    side
    column
""".strip().splitlines()  # also words of programs: beside a name that says nothing, they may well be a pair
HEADINGS = {word: idea for idea, words in enumerate([*CLEAR_IDEAS, *OTHER_IDEAS]) for word in words.split()}
FILLERS = frozenset("in en em of de di auf на".split())  # "Frase en otomí"
INTERLINEAR = frozenset(  # of lines between a text and its translation, also among other words
    """
    lx ge ps mb gloss glosses segmentation morpheme morphemes interlinear literal glosa glosas segmentación morfemas
    interlineal glose gloses interlinéaire glosse wörtlich analysis análisis analisis analyse análise glosado
    """.split()
)
PHONETIC = frozenset(
    "phonetic phonemic ipa fonética fonetica fonémica phonétique phonetisch fonologica fonológica".split()
)
OTHER_HEADINGS = INTERLINEAR | frozenset(
    """
    id ids no nr number index line key url score date split domain type category tag tags note notes comment comments
    author licence license attribution corpus file name length status lang language sl tl
    speaker informant consultant remark remarks nota notas comentario comentarios observaciones hablante fuente fecha
    tema remarque remarques locuteur falante fonte bemerkung bemerkungen anmerkung sprecher quelle datum
    """.split()
)
DIGITS = "0123456789"
SHORT = 3  # words of a heading, beside a remark in brackets
FOREIGN = 0.2  # of the words of a column, at most, that those in other languages beside it have
ALIKE = 0.1  # share of the rows with at most `SHORT` words in all: 23 % of a catalogue, at most 8 % of other corpora


@dataclass(frozen=True)
class Layout:
    """The 0-based columns of a table, whether its first row is a header, and the header's cells and languages."""

    source: int
    target: int
    has_header: bool = False
    languages: tuple[str, str] | None = None
    names: tuple[str, ...] = ()  # the own names of the languages in both headings, as they are written; "" for none
    note: str = ""  # what a person should know of the choice
    headings: tuple[str, ...] = ()
    groups: dict[str, int] = field(default_factory=dict)  # the columns of `--group-column`
    tags: int | None = None  # the column of `--tag-column`
    language: int | None = None  # the column of the languages of the targets

    @property
    def known(self) -> list[int]:
        """The numbers, from 1, of the columns that are read but hold no text."""
        return [1 + column for column in (*self.groups.values(), self.tags, self.language) if column is not None]

    @property
    def group(self) -> int | None:
        """The column whose values say what a pair belongs to, or None."""
        return next(iter(self.groups.values()), None)


def find_layout(records: Records, options: ReadOptions, where: str, languages: Sequence[str]) -> Layout:
    """Returns the layout of a table that begins with these records; `languages` are those implied by its name.

    Raises DataError if the two columns cannot be told apart from others, or are the same.
    """
    filled = [fields for fields in records if any(cell.strip() for cell in fields)]
    first = list(filled[0]) if filled else []
    by_name = is_name(options.source_column) or is_name(options.target_column)
    width = Counter(map(len, filled)).most_common(1)[0][0] if filled else 0
    pair = None if by_name else find_language_columns(filled, width, languages)
    sides = [None if by_name else find_side(filled, width, code) for code in options.languages]
    is_named = by_name or any(is_name(column) and column in first for column in options.other_columns)
    is_header = is_named or None not in (pair or sides) or has_headings(first, width, languages)
    body = filled[1:] if is_header else filled
    others = find_known_columns(options.other_columns, first if is_named else (), width)
    language = find_language_column(filled, width, options, is_header=is_header)
    others |= {} if language is None else {"languages": language}
    if by_name or (options.source_column is not None and options.target_column is not None):
        columns, note = find_columns(options, first if is_header else None, where), ""
    else:
        table = Table(body, width, where, first if is_header else None, sides if is_header else [], pair)
        columns, note = choose_columns(table, options, others, is_decided=sum(map(is_language_code, languages)) >= 2)
    if not is_header and max(columns) < len(first) and len(records) > 1:
        headings = [first[column] for column in columns]
        is_header = are_headings(headings, languages) or are_above_text(headings, body, columns)
    header = tuple(first) if is_header else ()
    names = [header[column] for column in columns] if max(columns) < len(header) else []
    groups = find_known_columns(options.group_columns, header, width)
    tags = find_known_columns([options.tag_column] if options.tag_column else [], header, width).values()
    codes = name_languages(names)
    source = options.source_language or (codes[0] if codes else "")
    if language in columns or (options.language_column is None and are_in_language(body, language, source)):
        language = None
    unlisted = tuple(map(name_unknown, names)) if codes else ()
    return Layout(*columns, is_header, codes, unlisted, note, header, groups, next(iter(tags), None), language)


def are_in_language(body: Records, column: int | None, language: str) -> bool:
    """Whether all cells of a column name `language`, the source language, which the targets are hardly in."""
    if column is None or not language:
        return False
    codes = {find_cell_language(cells[column]) or "" for cells in body if column < len(cells) and cells[column].strip()}
    return bool(codes) and all(is_same_language(code, language) for code in codes)


def find_language_column(records: Records, width: int, options: ReadOptions, *, is_header: bool) -> int | None:
    """Returns the column that names the language of each target: the one given, or one recognised by its content.

    Such a column has a heading that says "language", or only languages as values; it is never one of just two columns.
    """
    if options.language_column is not None:
        header = records[0] if records else ()
        return next(iter(find_known_columns([options.language_column], header, width).values()), None)
    if not options.finds_languages or width < 3:
        return None
    others = {name.strip() for name in (options.source_column, options.target_column, *options.other_columns) if name}
    for column in range(width):
        heading = records[0][column].strip() if is_header and column < len(records[0]) else ""
        cells = [cells[column].strip() for cells in records[is_header:] if column < len(cells)]
        if {heading, str(column + 1)} & others or SOURCE_HEADING.search(heading):
            continue
        if holds_languages(list(filter(None, cells)), is_named=bool(LANGUAGE_HEADING.search(heading))):
            return column
    return None


def holds_languages(cells: Sequence[str], *, is_named: bool) -> bool:
    """Whether all cells name languages. Without a heading to prove it, capitals may be initials, and words domains."""
    distinct = set(cells)
    if not distinct or not all(is_language_code(cell) or is_full_name(cell) for cell in distinct):
        return False
    if is_named:
        return len(cells) >= ENOUGH
    is_clear = all(len(cell) > 3 or (cell.islower() and cell not in NOT_CODES) for cell in distinct)
    rare = [cell for cell in distinct if means_language(cell)]
    is_one = len(distinct) == 1 and all(map(is_common_code, distinct))  # as of a source
    return len(cells) >= MANY and is_clear and not is_one and 2 * len(rare) > len(distinct)


def find_language_columns(filled: Records, width: int, languages: Sequence[str]) -> tuple[int, int] | None:
    """Returns the two columns whose headings name languages in a table of three or more; None unless exactly two do."""
    if width < 3 or min(map(len, filled[:2])) < width:
        return None
    columns = [column for column, cell in enumerate(filled[0]) if names_language(cell, languages)]
    columns = [column for column in columns if not is_other_heading(filled[0][column].strip())]  # "English gloss"
    headings = [filled[0][column] for column in columns]
    if len(columns) != 2 or any(cells[column] == filled[0][column] for cells in filled[1:2] for column in columns):
        return None
    source, target = (str(find_named_language(heading)) for heading in headings)
    return None if is_same_language(source, target) else (columns[0], columns[1])


def find_side(filled: Records, width: int, language: str | None) -> int | None:
    """Returns the column whose heading names this language; None unless exactly one does."""
    if not language or len(filled) < 2 or min(map(len, filled[:2])) < max(width, 2):
        return None
    columns = [
        column
        for column, (cell, below) in enumerate(zip(*filled[:2], strict=False))
        if cell != below and is_named_by(cell, language) and not is_other_heading(cell.strip())
    ]
    return columns[0] if len(columns) == 1 else None


def is_named_by(heading: str, language: str) -> bool:
    """Whether a heading names a language: by its code, by its name, or by a name that is in no list."""
    name = fold_name(language)
    if name and name in (fold_name(heading), fold_name(name_unknown(heading))):
        return True
    codes = [find_named_language(heading) if names_language(heading, [language]) else None, *find_codes(heading)]
    return any(code and is_same_language(code, language) for code in codes)


def names_language(cell: str, languages: Sequence[str]) -> bool:
    """Whether a heading names a language, or several; a rare code "key", or a word "id", only if in `languages`."""
    code = cell.strip()
    if LANGUAGE_HEADING.fullmatch(code) or (code.lower() in NOT_CODES and code not in languages):
        return False
    if len(code) > 4 and code[-1:].isalpha() and len(code.split()) <= LONGEST_NAME and len(find_codes(code)) > 1:
        return True  # of several languages: Chatino
    is_rare = is_language_code(code) and not is_common_code(code) and code not in languages
    return is_heading(cell, languages) and find_named_language(cell) is not None and not is_rare


def name_languages(headings: Sequence[str]) -> tuple[str, str] | None:
    """Returns the codes of two headings' languages in the same form: "en" and "de" for "English" and "deu".

    A side whose heading names none is "source" or "target": "es" and "target" for "Spanish" and "text".
    """
    codes = [find_named_language(heading) for heading in headings]
    if len(codes) != 2 or not any(codes):
        return None
    source, target = codes[0] or "source", codes[1] or "target"
    if None in codes:
        alone = next(heading.strip() for heading, code in zip(headings, codes, strict=True) if code)
        is_word = is_language_code(alone) and (not is_common_code(alone) or alone.lower() in NOT_CODES)
        return None if is_word else (source, target)
    is_mixed = len(find_code(source)) == len(find_code(target)) and len(source) != len(target)
    return (find_code(source), find_code(target)) if is_mixed and not has_region(source + target) else (source, target)


def name_unknown(heading: str) -> str:
    """Returns the name of a language that nmt does not know: "woruna" of "woruna sentence (mine)", "" of "sentence"."""
    usual = {"", *FILLERS, *HEADINGS, *OTHER_HEADINGS}
    words = re.split(r"[\s_:/]+", drop_remark(heading))
    words = [word for word in words if word.lower().strip(DIGITS) not in usual]
    return " ".join(words) if len(words) <= SHORT else ""


def count_titles(records: Records, options: ReadOptions) -> int:
    """Returns the number of rows above a table that do not belong to it.

    Such rows have one cell, such as a title, or hold names with values above headings of more columns.
    """
    names = {name for name in (options.source_column, options.target_column, *options.other_columns) if name}
    filled = [[cell.strip() for cell in cells if cell.strip()] for cells in records]
    first = next((number for number, cells in enumerate(filled) if len(cells) > 1), 0)
    for number in range(first + 1, min(MOST_TITLES + 1, len(filled))):
        if len(filled[number]) > max(map(len, filled[:number])) and has_headings(filled[number], 3, ()):
            first = number
    is_title = first <= MOST_TITLES and not options.one_side
    return first if is_title and not any(names.intersection(cells) for cells in filled[:first]) else 0


def count_filled(cells: Sequence[str]) -> int:
    """Returns the number of cells that are not blank."""
    return sum(bool(cell.strip()) for cell in cells)


def find_single_column(records: Records) -> Layout:
    """Returns the layout of a table with one text column, used for both sides."""
    filled = [cells for cells in records if count_filled(cells)]
    column = next(number for number, cell in enumerate(filled[0]) if cell.strip())
    return Layout(column, column, has_header=len(filled) > 1 and is_heading(filled[0][column], ()))


def has_headings(first: Sequence[str], width: int, languages: Sequence[str]) -> bool:
    """Whether the first row of three or more columns names them: all cells are short, and most are common names."""
    if width < 3 or len(first) < width or len({cell.strip().lower() for cell in first}) < len(first):
        return False
    usual = [cell for cell in first if is_heading(cell, languages) or is_other_heading(cell.strip())]
    return 2 * len(usual) > len(first) and all(len(cell) <= 40 for cell in first)


def is_other_heading(cell: str) -> bool:
    """Whether a cell is a common name for a column without text: "id", "notes", "idioma", "Interlinear gloss"."""
    is_usual = cell.lower() in OTHER_HEADINGS or LANGUAGE_HEADING.fullmatch(cell) is not None
    words = split_heading(cell)
    return is_usual or (len(words) <= SHORT and not INTERLINEAR.isdisjoint(words))


def is_heading(cell: str, languages: Sequence[str]) -> bool:
    """Whether a cell is a common name for a text column: "source", "Target text", "German", "en", "text_de"."""
    name = cell.strip().lower()
    if name and name in (language.lower() for language in languages):
        return True
    words = split_heading(name)
    if not 0 < len(words) <= SHORT:
        return False
    is_usual = [find_idea(w) is not None or (is_plain(w) and find_named_language(w) is not None) for w in words]
    return all(is_usual) or is_language_code(name) or bool(find_rare_name(name))


def split_heading(cell: str) -> list[str]:
    """Returns the words of a heading in lower case, without a remark in brackets: "l1" for "\\L1 (mine)"."""
    words = re.sub(r"(?:^|\s)\(.*\)|@\w+$|[\s_:/\\-]+", " ", cell.lower()).split()
    return [word for word in words if word not in FILLERS and not word.isdigit()] or words


def is_plain(word: str) -> bool:
    """Whether a word has no separators inside, unlike a formula: in "LEN(text)", the code `len` is not a language."""
    return HEADING_SEPARATORS.search(word) is None


def find_idea(word: str) -> int | None:
    """Returns the number of the idea that a heading's word (perhaps with digits) stands for; None for other words."""
    return HEADINGS.get(word.rstrip(DIGITS))


def are_headings(cells: Sequence[str], languages: Sequence[str]) -> bool:
    """Whether both cells name columns of text, and are not just words that are codes of rare languages ("the", "das").

    Nor may they name the same language or idea: "Hungarian" / "Ungarisch", "Text" / "Texto".
    """
    codes = [cell.strip() for cell in cells if is_language_code(cell.strip())]
    if len(codes) == len(cells) and not any(is_common_code(code) or code in languages for code in codes):
        return False
    return all(is_heading(cell, languages) for cell in cells) and not are_alike(cells)


def are_alike(cells: Sequence[str]) -> bool:
    """Whether both cells are equal, or name the same language or idea; "L1" and "L2" differ by their number."""
    if len({cell.strip().lower() for cell in cells}) < len(cells):
        return True
    languages = [find_named_language(cell) for cell in cells]
    if None not in languages:
        return is_same_language(str(languages[0]), str(languages[1]))
    words = [[word.rstrip(DIGITS) for word in split_heading(cell)] for cell in cells]
    ideas = [list(map(find_idea, of_cell)) for of_cell in words]
    return words[0] != words[1] and ideas[0] == ideas[1] and None not in ideas[0]


def are_above_text(cells: Sequence[str], body: Records, columns: Sequence[int]) -> bool:
    """Whether one of two cells is clearly a heading, the other is as short, and longer texts follow below them.

    Above a list of words, a cell is a heading if it is the only one that names a language.
    """
    if are_alike(cells) or not any(map(is_clear_heading, cells)) or not all(map(could_name, cells)):
        return False
    rows = [[normalise(fields[column]) for column in columns] for fields in body if max(columns) < len(fields)]
    if len(rows) > MANY and sum(is_common_name(cell) for row in rows for cell in row) == 1:
        return True
    longest = min(SHORT, sum(map(count_words, map(drop_remark, cells))))
    return sum(any(row) and sum(map(count_words, row)) <= longest for row in rows) <= ALIKE * len(rows)


def drop_remark(cell: str) -> str:
    return cell.strip().partition(" (")[0]


def could_name(cell: str) -> bool:
    """Whether a cell is short enough for a column name, and not a sentence."""
    name = cell.strip().lstrip("\\")
    is_closed = unicodedata.category(name[-1:] or ".").startswith("P") and not name.endswith(")")
    return name[:1].isalpha() and not is_closed and count_words(drop_remark(name)) <= SHORT


def is_clear_heading(cell: str) -> bool:
    """Whether a cell names a language in full, has only words of headings, or is a code that is hardly a word."""
    words, code = split_heading(cell), cell.strip()
    if code.lower() in CLEAR_CODES and (code.islower() or code.isupper()):
        return True
    ideas = map(find_idea, words)
    known = [(i is not None and i < len(CLEAR_IDEAS)) or find_rare_name(w) for w, i in zip(words, ideas, strict=True)]
    return (bool(words) and all(known)) or bool(find_rare_name(code))


class Table(NamedTuple):
    """The sample of a table from which two columns are chosen; columns are counted from 0."""

    body: Records
    width: int
    where: str
    header: Sequence[str] | None
    sides: Sequence[int | None]  # the columns whose headings name the languages of the options
    pair: tuple[int, int] | None  # the only two whose headings name languages


def choose_columns(
    table: Table, options: ReadOptions, others: Mapping[str, int], *, is_decided: bool
) -> tuple[tuple[int, int], str]:
    """Returns the two columns of text, and a note if they are not simply the first two. Raises DataError.

    Languages in headings decide first, then a language that nmt may not know (next to known ones), then the content,
    ignoring glosses. If more than two columns remain, the first two are taken if `is_decided`, for example by languages
    in the file name.
    """
    body, width, where, header, sides, pair = table
    default = find_columns(options, None, where)
    others = {**others, **find_known_columns(options.other_columns, header or (), width)}
    names = {options.tag_column: "tags", options.language_column: "languages", "languages": "languages"}
    known = {column: names.get(name, "groups") for name, column in others.items()}
    is_chosen = options.source_column is not None or options.target_column is not None or not options.finds_text
    chosen = [*dict.fromkeys(column for column in sides if column is not None and not is_chosen)]
    if len(chosen) == 2:
        return (chosen[0], chosen[1]), note_columns(table, (chosen[0], chosen[1]), known)
    is_short = len(body) < ENOUGH and known.keys().isdisjoint(default)
    if is_chosen or width < 2 or (is_short and pair is None):
        return default, ""
    kinds = [known.get(column) or name_content(body, column, width) for column in range(width)]
    texts = [column for column in range(width) if not kinds[column]]
    if width == 2:
        if len(texts) == 1 and len(body) >= MANY and has_sentences(body, texts[0]):
            refuse_columns(table, kinds, texts)
        return default, ""
    for is_no_text in (is_other_heading, is_phonetic):  # glosses and notes are text, too
        if len(texts) > 2 and header is not None:
            headings = {column: cell.strip() for column, cell in enumerate(header) if is_no_text(cell.strip())}
            kinds = [kind or headings.get(column, "") for column, kind in enumerate(kinds)]
            texts = [column for column in texts if not kinds[column]]
    if pair is not None:
        texts = [*[column for column in texts if is_other_language(table, column)][:1], *pair]
    elif len(texts) > 2 and len(sentences := [column for column in texts if has_sentences(body, column)]) == 2:
        kinds = [kind or ("" if column in sentences else "words") for column, kind in enumerate(kinds)]
        texts = sentences
    rest = [column for column in texts if column not in chosen]
    if len(rest) + len(chosen) < 2 or (len(rest) + len(chosen) > 2 and pair is None and not is_decided):
        refuse_columns(table, kinds, [*chosen, *rest])
    both = [*chosen, *rest][:2]
    columns = (
        (min(both), max(both)) if not chosen else (both[0], both[1]) if sides[0] is not None else (both[1], both[0])
    )
    return columns, note_columns(table, columns, dict(enumerate(kinds)))


def note_columns(table: Table, columns: tuple[int, int], kinds: Mapping[int, str]) -> str:
    """Returns a note about the columns that are used and those that are ignored; empty if the choice is obvious."""
    others = [column for column in range(table.width) if column not in columns]
    texts = [column for column in others if not kinds.get(column) and not name_content(table.body, column, table.width)]
    headings = table.header or ()
    is_plain = columns == (0, 1) or columns == table.pair
    if is_plain and all(column < len(headings) and is_other_heading(headings[column].strip()) for column in texts):
        return ""
    labels = [kinds.get(column) or "".join(headings[column : column + 1]).strip() or "text" for column in others]
    ignored = ", ".join(f"{column + 1} {name}" for column, name in zip(others, labels, strict=True))
    more = "; for others: --source-column, --target-column" if texts else ""
    note = f"columns {columns[0] + 1} and {columns[1] + 1} contain text and are used"
    return note + (f"; ignored: {ignored}" if ignored else "") + more


def is_phonetic(cell: str) -> bool:
    """Whether a heading names a phonetic spelling of a text, which counts only where there is no other."""
    return not PHONETIC.isdisjoint(split_heading(cell))


def is_other_language(table: Table, column: int) -> bool:
    """Whether a text column, next to two whose headings name languages, is in a language that nmt may not know.

    Its cells differ, have words, and share few of them with the other two: "Context", in English, would share many.
    """
    pair = table.pair or ()
    rows = [
        [fields[number].lower() for number in (column, *pair)] for fields in table.body if len(fields) >= table.width
    ]
    words, *known = ([word for row in rows for word in row[side].split()] for side in range(1 + len(pair)))
    others = set().union(*known)
    shared = sum(word in others for word in words)
    is_full = 2 * len(words) >= min(map(len, known)) and 2 * len({row[0] for row in rows}) > len(rows) >= ENOUGH
    return column not in pair and is_full and shared <= FOREIGN * len(words)


def has_sentences(body: Records, column: int) -> bool:
    """Whether most cells of a column have several words, so that a column of numbers is hardly its translation."""
    return 2 * sum(" " in fields[column].strip() for fields in body if column < len(fields)) > len(body)


def name_content(body: Records, column: int, width: int) -> str:
    """Names the content of a column that is not text; empty if it is text."""
    cells = [fields[column].strip() for fields in body if column < len(fields)]
    cells = [cell for cell in cells if cell]
    if not cells:
        return "nothing"
    kinds = Counter(kind for kind in map(name_kind, cells) if kind)
    if kinds.total() >= SHARE * len(cells):
        return kinds.most_common(1)[0][0]
    if len(cells) < ENOUGH:
        return ""
    distinct = set(cells)
    if sum(map(bool, map(ATTRIBUTION.search, cells))) >= SHARE * len(cells):
        return "attributions"
    if all(is_language_code(cell) for cell in distinct) and len(distinct) <= 3:
        return "languages"
    if len(distinct) == 1 and width > 2:
        return "always the same"
    is_label = not any(" " in cell for cell in distinct) and len(distinct) <= max(3, len(cells) // 20)
    return "labels" if is_label and len(cells) >= MANY and width > 2 else ""


def name_kind(cell: str) -> str:
    return next((kind for kind, pattern in KINDS.items() if pattern.fullmatch(cell)), "")


def refuse_columns(table: Table, kinds: Sequence[str], texts: Sequence[int]) -> None:
    """Raises a DataError that shows the first row with its column numbers, and the options to type."""
    row = [*(table.header or table.body[0])][:SHOWN]
    shown = "  ".join(f"{number}: {shorten_text(' '.join(cell.split()), CELL)!r}" for number, cell in enumerate(row, 1))
    more = " ..." if len(kinds) > SHOWN else ""
    if len(kinds) == 2 and "nothing" in kinds:
        message = f"{table.where}: column {1 + kinds.index('nothing')} is empty: {shown}"
        raise DataError(message, hint="add the translations; for text in one language only, use --monolingual-target")
    count = {0: "no column holds", 1: "only one column holds"}.get(len(texts), f"{len(texts)} columns hold")
    guess = sorted(texts, key=lambda column: not has_sentences(table.body, column))[:2]
    options = "with --source-column and --target-column; each row needs both texts (see docs/small-corpora.md)"
    if guess[1:]:  # by their headings, since other files may have them in other places
        names = [shlex.quote(table.header[column]) if table.header else str(column + 1) for column in sorted(guess)]
        options = f"for instance with --source-column {names[0]} --target-column {names[1]}"
    raise DataError(
        f"{table.where}: {count} text, of {len(kinds)}: {shown}{more}",
        hint=f"name the two columns of the pairs, {options}",
    )
