"""Decides the tags of inputs and of their pairs, labels registers, and counts tags. Does not depend on vocabularies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from nmt_cli.arrays.scratch import count_numbers, iterate_blocks
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.pairs import SELECTED, Pairs
from nmt_cli.corpus.steps.split import Splits
from nmt_cli.errors import OptionError
from nmt_cli.formats.inputs import CorpusFile
from nmt_cli.languages.codes import find_variety
from nmt_cli.languages.rules import find_rules
from nmt_cli.text.tags import Tag, TagPurpose, TagSet, find_tag_value, merge_tags, parse_tag_list, reverse_tags
from nmt_cli.text.wrapping import format_count

LANGUAGES = TagPurpose.TARGET, TagPurpose.SOURCE


def tag_inputs(inputs: Sequence[CorpusFile], config: PrepareOptions) -> list[CorpusFile]:
    """Returns the files of a corpus with the tags of the languages that the options name for each.

    A file's own tags take precedence. Raises OptionError unless there is one language for all files of the corpus, one
    for each, or one for each of those without such a tag.
    """
    if config.source_type != "text" and any(file.tags for file in inputs):
        raise OptionError("the sources are pictures, and only texts can have tags", hint="leave the tags out")
    tags: list[list[Tag]] = [[] for _ in inputs]
    for kind, languages, option in (
        (TagPurpose.TARGET, config.target_languages, "--target-language"),
        (TagPurpose.SOURCE, config.source_languages, "--source-language"),
    ):
        if len(languages) < 2:
            continue
        open_files = [n for n, file in enumerate(inputs) if len(languages) == len(inputs) or not has_kind(file, kind)]
        if len(languages) != len(open_files):
            count, files = format_count(len(languages), "language"), format_count(len(open_files), "file")
            raise OptionError(
                f"{option} names {count}, but there {'is' if len(open_files) == 1 else 'are'} {files}",
                hint="name one language, or one for each file, in their order",
            )
        for number, language in zip(open_files, languages, strict=True):
            tags[number].append(Tag(kind, language))
    tagged = [replace(file, tags=merge_tags(of_file, file.tags)) for file, of_file in zip(inputs, tags, strict=True)]
    refuse_second_spellings(file.tags for file in tagged)
    return tagged


def refuse_second_spellings(tag_sets: Iterable[TagSet]) -> None:
    """Raises OptionError for a language that tags spell in two ways: a network would take `>nl` and `>nld` for two."""
    spelled: dict[tuple[TagPurpose, str], Tag] = {}
    for tag in sorted({tag for tags in tag_sets for tag in tags if tag.kind in LANGUAGES}):
        other = spelled.setdefault((tag.kind, find_variety(tag.value)), tag)
        if other != tag:
            hint = f"write {other.value} for the {tag.kind} of all pairs"
            raise OptionError(f"{other.value} and {tag.value} are the same language", hint=hint)


def has_kind(file: CorpusFile, kind: TagPurpose) -> bool:
    return any(tag.kind is kind for tag in file.tags)


def label_registers(pairs: Pairs, config: PrepareOptions, target_language: str) -> None:
    """If requested, tags pairs without a register by how their targets address people.

    The rules are those of the language that tags name, else of `target_language`. Raises OptionError if none has rules.
    """
    if config.register != "auto":
        return
    tag_sets = list(enumerate(pairs.tag_sets))
    codes = {number: find_tag_value(tags, TagPurpose.TARGET) or target_language for number, tags in tag_sets}
    rules = {number: find_rules(code) for number, code in codes.items()}
    if not any(of_language.formal for of_language in rules.values()):
        raise OptionError(
            f"--register auto: nmt has no rules for forms of address in {target_language}",
            hint="add a column with the register of each pair, and name it with --tag-column",
        )
    for number, tags in tag_sets:
        if rules[number].formal and not any(tag.kind is TagPurpose.REGISTER for tag in tags):
            rows = pairs.scratch.find_rows(pairs.facts.tags == number)
            for block in iterate_blocks(len(rows), SELECTED):
                registers = [rules[number].find_register(text) for text in pairs.target.select(rows[block])]
                numbers = {
                    register: pairs.number_tags(merge_tags(tags, parse_tag_list(register)))
                    for register in sorted(set(registers))
                }
                pairs.facts.tags[rows[block]] = [numbers[register] for register in registers]


def refuse_unpaired_tags(tag_sets: Sequence[TagSet], pairs: Pairs) -> None:
    """Raises OptionError if text without translations has a tag that no pair has."""
    corpus_tags = {tag for tags in pairs.tag_sets for tag in tags}
    missing = sorted({tag for tags in tag_sets for tag in tags} - corpus_tags)
    if missing:
        names = ", ".join(map(str, sorted(corpus_tags))) or "none"
        raise OptionError(
            (f"no pair has the tag {missing[0]}, which the monolingual text has"),
            hint=f"the tags of the pairs are {names}",
        )


def list_tag_pieces(tag_sets: Sequence[TagSet]) -> list[str]:
    """Returns the pieces that a vocabulary needs for these tags in either direction, in order."""
    both = {tag for tags in tag_sets for tag in (*tags, *reverse_tags(tags))}
    return [tag.piece for tag in sorted(both)]


def count_tags(pairs: Pairs, splits: Splits) -> dict[str, dict[str, int]]:
    """Returns the number of pairs of each split by tag, most frequent tags first."""
    counts: dict[str, dict[str, int]] = {}
    for split, rows in splits.by_name.items():
        numbers = count_numbers(pairs.scratch.take(pairs.facts.tags, rows), len(pairs.tag_sets)).tolist()
        for tags, number in zip(pairs.tag_sets, numbers, strict=True):
            for tag in tags:
                of_tag = counts.setdefault(str(tag), dict.fromkeys(splits.by_name, 0))
                of_tag[split] += number
    return dict(sorted(counts.items(), key=lambda item: (-Counter(item[1]).total(), item[0])))
