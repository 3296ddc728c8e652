"""The names of a corpus's two languages: from the options, the file itself, its name, or else its text.

The text decides only if it leaves no doubt; nothing is downloaded for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np

from nmt_cli.arrays.types import BoolArray
from nmt_cli.corpus.checks.languages import OtherFile, recognise_language
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.manifest import Finding
from nmt_cli.corpus.pairs import Pairs, Side
from nmt_cli.corpus.steps.reading import CorpusInputs
from nmt_cli.corpus.steps.run_checks import describe_rows, divide_by_language
from nmt_cli.corpus.steps.tagging import has_kind
from nmt_cli.errors import find_nearest
from nmt_cli.languages.codes import (
    CODE,
    find_code,
    find_codes,
    find_language,
    find_languages_in_name,
    fold_name,
    guess_languages,
    has_identifier,
    is_common_code,
    is_same_language,
    load_identifier,
    load_names,
)
from nmt_cli.text.tags import TagPurpose, TagSet, find_tag_value
from nmt_cli.text.wrapping import format_count

UNKNOWN: tuple[Side, Side] = ("source", "target")
PRIVATE = re.compile("q[a-t][a-z](?![a-z])")  # codes that ISO 639-3 leaves to those who need one
KINDS = TagPurpose.SOURCE, TagPurpose.TARGET
PREFIXES = {TagPurpose.SOURCE: "from", TagPurpose.TARGET: "to"}
MOST_NAMED = 12  # languages of tags in a note
LEAST_ALIKE = 0.8  # similarity of a name to that of a listed language: Germn, but not Qatoꞌa (Ata)


def choose_languages(inputs: CorpusInputs, config: PrepareOptions, pairs: Pairs, notes: list[str]) -> tuple[str, str]:
    """Returns the names of both languages. Adds a note about those decided by the text, or left unknown."""
    declared = inputs.readers[0].languages or UNKNOWN
    by_name = guess_languages(*(path.name for path in inputs.inputs[0].files))
    known = [
        other if code == side or is_same_language(code, other) else code  # the name decides how a code is written
        for side, code, other in zip(UNKNOWN, declared, by_name, strict=True)
    ]
    sides = [
        option or (code if code not in UNKNOWN else side)
        for side, option, code in zip(UNKNOWN, inputs.readers[0].options.languages, known, strict=True)
    ]
    if config.reverse:  # the options name the columns of the file
        sides = [side if code in UNKNOWN else code for side, code in zip(UNKNOWN, reversed(sides), strict=True)]
    tagged = (find_tagged_language(pairs, kind) for kind in KINDS)
    sides = [language or side if side in UNKNOWN else side for side, language in zip(sides, tagged, strict=True)]
    if "source" in config.text_sides:
        sides = name_by_text(pairs, sides, notes)
    names = inputs.readers[0].language_names or ("", "")  # of languages that neither a code nor the text decides
    names = names[::-1] if config.reverse else names
    sides = [name if side in UNKNOWN and name else side for side, name in zip(sides, names, strict=True)]
    notes += list_untagged(inputs, (sides[0], sides[1]), config)
    notes += [*list_unknown(sides), *list_doubtful(pairs.tag_sets)]
    return sides[0], sides[1]


def name_by_text(pairs: Pairs, sides: list[str], notes: list[str]) -> list[str]:
    """Returns the languages; recognises one that nothing names from its text if that leaves no doubt. Adds a note."""
    unnamed = [side for side in UNKNOWN if side in sides]
    first = pairs.is_kept & (pairs.facts.input_numbers == 0)  # others may be in another language
    by_text = {
        side: recognise_language(pairs, pairs.get_texts(side), first)
        or recognise_language(pairs, pairs.get_texts(side))
        for side in unnamed
    }
    read = [by_text.get(cast(Side, side)) or side for side in sides]
    if read != sides and not is_same_language(*read):
        codes = " -> ".join(code for code, side in zip(read, sides, strict=True) if side in UNKNOWN)
        which = "languages are" if len(unnamed) > 1 else f"{unnamed[0]} language is"
        options = ", ".join(f"--{side}-language" for side in unnamed)
        notes.append(f"the {which} {codes}, judging by the text; to name others: {options}")
        return read
    if len(unnamed) == len(sides):
        notes.append("the languages are unknown; to name them: --source-language, --target-language")
    return sides


def find_tagged_language(pairs: Pairs, kind: TagPurpose) -> str | None:
    """Returns the language that the first pair with a tag of this kind names."""
    return next(filter(None, (find_tag_value(tags, kind) for tags in pairs.tag_sets)), None)


def list_untagged(inputs: CorpusInputs, languages: tuple[str, str], config: PrepareOptions) -> Iterator[str]:
    """Yields a note for each file without a language tag if its name or content says otherwise, or others have one.

    `languages` are the ones assumed for pairs without tags.
    """
    languages = languages[::-1] if config.reverse else languages  # as the columns of the files are
    tagged = {tag.kind for file in inputs.inputs for tag in file.tags}
    for file, reader in zip(inputs.inputs, inputs.readers, strict=True):
        declared = reader.languages or find_languages_in_name(*(path.name for path in file.files))
        for kind, code, usual in zip(KINDS, declared, languages, strict=True):
            language = usual if code in UNKNOWN else code
            is_other = not (usual in UNKNOWN or is_same_language(language, usual))
            has_column = reader.has_tag_column or (kind is TagPurpose.TARGET and reader.has_language_column)
            if (is_other or kind in tagged) and not (has_column or has_kind(file, kind)):
                tag = f"{file.name}={PREFIXES[kind]}:{language}"
                why = f"has {language} as its {kind}, but" if is_other else f"has no tag of its {kind}, so"
                yield f"{file.name} {why} nmt treats it as {usual}; if it is not, use {tag}"


def list_unknown(languages: Sequence[str]) -> Iterator[str]:
    """Yields a note for each language named by a word or code that is in no list and may be a typing error."""
    for language in languages:
        is_listed = CODE.fullmatch(language) is not None and find_language(language).name != language
        if language not in UNKNOWN and not is_listed and PRIVATE.match(language) is None:
            written = fold_name(language)
            known = {fold_name(name) for names in load_names().values() for name in names}
            alike = {name for name in known if name[:1] == written[:1]}  # few slips change the first letter
            nearest = find_nearest(written, alike, LEAST_ALIKE)
            guess = f"; did you mean {nearest.title()}?" if nearest else ""
            yield f"{language} is not a language that nmt knows; nmt uses it as a name{guess}"


def list_doubtful(tag_sets: Sequence[TagSet]) -> Iterator[str]:
    """Yields notes about tags that could be words or codes of rare languages, saying which they were taken for."""
    tags = sorted({tag for tags in tag_sets for tag in tags})
    rare = [tag for tag in tags if tag.kind in KINDS and len(tag.value) == 3 and not is_common_code(tag.value)]
    if rare:
        languages = ", ".join(f"{tag.value} {find_language(tag.value).name}" for tag in rare[:MOST_NAMED])
        more = f" and {len(rare) - MOST_NAMED} more" if len(rare) > MOST_NAMED else ""
        yield f"tags that name languages: {languages}{more}; if one is a domain, write domain:{rare[0].value}"
    for tag in tags:
        if tag.kind is TagPurpose.DOMAIN and tag.value in load_names() and len(tag.value) == 3:
            name = find_language(tag.value).name
            yield f"the tag {tag.value} is used as a domain; for the language {name}, write to:{tag.value}"
        elif tag.kind is TagPurpose.DOMAIN and len(tag.value) > 4 and len(codes := find_codes(tag.value)) > 1:
            several = f"{format_count(len(codes), 'language')} share this name, for example {codes[0]}"
            yield f"the tag {tag.value} is used as a domain; {several}; for that language, write to:{codes[0]}"


def find_misread_files(
    pairs: Pairs, languages: tuple[str, str], findings: Sequence[Finding], config: PrepareOptions
) -> Iterator[Finding]:
    """Yields a finding for each side of a file whose text is clearly in another language than assumed.

    Judges only languages that the identifier knows; skips files that another check found.
    """
    known = {example.file for finding in findings if finding.check == OtherFile.name for example in finding.examples}
    for number, name in enumerate(pairs.input_names if has_identifier() and OtherFile.name not in config.keep else ()):
        of_file = pairs.is_kept & (pairs.facts.input_numbers == number) & (name not in known)
        for rows in divide_by_language(pairs, of_file):
            yield from find_misread_rows(pairs, rows, number, languages, config)


def find_misread_rows(
    pairs: Pairs, rows: BoolArray, number: int, languages: tuple[str, str], config: PrepareOptions
) -> Iterator[Finding]:
    """Yields a finding for each side of the rows (N,) of file `number`, which have the same languages."""
    if rows.any():
        tags = pairs.tag_sets[int(pairs.facts.tags[rows.argmax()])]
        for side, kind, usual in zip(UNKNOWN, KINDS, languages, strict=True):
            code = find_code(find_tag_value(tags, kind) or usual)
            if code not in load_identifier().labels or usual in UNKNOWN or side not in config.text_sides:
                continue
            read = recognise_language(pairs, pairs.get_texts(side), rows)
            other: Side = "target" if side == "source" else "source"
            is_turned = read is None and recognise_language(pairs, pairs.get_texts(other), rows) == code
            problem = ""
            if is_turned and usual in languages:
                order = languages if config.reverse else languages[::-1]
                typed = f"--source-language {order[0]} --target-language {order[1]}"
                problem = (
                    f"a file whose {other} looks like {find_language(code).name}, the language of its {side}: its "
                    f"columns are the other way round; use {typed}{'' if config.reverse else ' --reverse'}"
                )
            if read is not None and find_code(read) != code:
                has_column = find_tag_value(pairs.input_tags[number], kind) != find_tag_value(tags, kind)
                typed = f"use {pairs.input_names[number]}={PREFIXES[kind]}:{read}"
                remedy = "correct the language column" if has_column else typed
                problem = (
                    f"a file whose {side} looks like {find_language(read).name}, but is treated as "
                    f"{find_language(code).name}; to change this, {remedy}"
                )
            if problem:
                yield from describe_rows(
                    pairs, np.flatnonzero(rows), check=OtherFile.name, problem=problem, action="reported"
                )
