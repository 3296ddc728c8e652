"""The steps of `prepare` after reading: check, split, obtain subwords, encode, write.

Knows how the files of a prepared directory are written; `dataset.py` knows where, and how they are read.
Letters: N pairs.
"""

from __future__ import annotations

import gzip
import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from nmt_cli import __version__
from nmt_cli.arrays.ragged import IntArray
from nmt_cli.corpus.checks import CHECKS, SAMPLED_OUT
from nmt_cli.corpus.checks.repeats import HeldOut
from nmt_cli.corpus.config import PrepareConfig, languages_in
from nmt_cli.corpus.manifest import (
    CUT,
    FORMAT,
    Action,
    Counts,
    Features,
    FileRecord,
    Finding,
    LeakReport,
    Manifest,
    Subwords,
)
from nmt_cli.corpus.pairs import Pairs
from nmt_cli.corpus.steps.near_duplicates import near_numbers
from nmt_cli.corpus.steps.pictures import Pictures
from nmt_cli.corpus.steps.reading import Inputs, Progress
from nmt_cli.corpus.steps.run_checks import EXAMPLES, example
from nmt_cli.corpus.steps.split import (
    Sizes,
    Splits,
    connected_groups,
    is_size,
    leak_by_rows,
    numbered,
    split_by_groups,
    wanted_sizes,
)
from nmt_cli.corpus.steps.subwords import Vocabularies, encode_splits, measure_subwords, obtain_subwords
from nmt_cli.errors import DataError

REASONS = ("", *(check.name for check in CHECKS), SAMPLED_OUT)  # by number, as `Pairs.reasons` holds them
DROPPING = (*(check.name for check in CHECKS if check.action == "dropped"), SAMPLED_OUT)


@dataclass(frozen=True)
class Division:
    """The rows of each split, and what the split was measured by."""

    splits: Splits
    leak: LeakReport
    repeated: int


def build(
    pairs: Pairs,
    findings: tuple[Finding, ...],
    inputs: Inputs,
    pictures: Pictures | None,
    directory: Path,
    config: PrepareConfig,
    told: Progress,
) -> Manifest:
    """Fills `directory` with a prepared corpus; its manifest, which is the last file written."""
    division = divide(pairs, config, told)
    refuse_empty(division.splits)
    told("writing", 0, 0)
    write_rejected(directory / "rejected.tsv.gz", pairs)
    for split, rows in division.splits.items():
        write_pairs(directory / f"{split}.tsv", pairs, rows)
    told("learning subwords", 0, 0)
    vocabularies = obtain_subwords(pairs, division.splits.train, directory, config)
    cut = encode_splits(pairs, division.splits, vocabularies, directory, told, config)
    findings += cut_sources(pairs, cut, config)
    source = (
        pictures.store(division.splits, directory, told)
        if pictures
        else measure_subwords("source", pairs, division.splits, vocabularies, directory)
    )
    manifest = describe(pairs, findings, inputs, division, vocabularies, source, directory, config)
    manifest.write(directory)
    return manifest


def refuse_empty(splits: Splits) -> None:
    """Raises DataError for a split without pairs, as given dev or test data may be once they are checked."""
    for name, rows in splits.items():
        if not len(rows):
            hint = "they are empty, or share sentences with the test data: --strict --report report.html tells"
            raise DataError(f"no pair of the {name} data can be used", hint=hint)


def cut_sources(pairs: Pairs, rows: IntArray, config: PrepareConfig) -> tuple[Finding, ...]:
    """What the report says of the sources that were cut at `--max-source-length`; nothing where none was."""
    problem = f"sources of more subwords than --max-source-length {config.max_source_length}"
    return reported(pairs, rows, check=CUT, problem=problem, action="cut")


def divide(pairs: Pairs, config: PrepareConfig, progress: Progress) -> Division:
    """Splits the pairs by connected groups, beside what was given. Raises DataError if they are too few."""
    progress("splitting", 0, 3)
    leave_out_by_weight(pairs, config.seed)
    rows = np.flatnonzero(pairs.alive & pairs.in_role("train"))
    where, given = " + ".join(dict.fromkeys(pairs.names)), frozenset(pairs.roles) - {"train"}
    sizes = wanted_sizes(len(rows), config.dev, config.test, where=where, given=given)
    sources, targets = numbered(pairs.facts.source_keys[rows]), numbered(pairs.facts.target_keys[rows])
    progress("splitting", 1, 3)
    near = near_kinds(pairs, rows) if config.near_duplicates else []
    groups = connected_groups(*(numbered(keys[rows]) for keys in pairs.connecting_keys), *near)
    progress("splitting", 2, 3)
    lengths = np.maximum(pairs.facts.source_lengths, pairs.facts.target_lengths)[rows]
    drawn = split_by_groups(groups, lengths, sizes, seed=config.seed, where=where)
    leak = leak_by_rows(sources, targets, Sizes(sizes.dev, sizes.test or len(rows) // 10), seed=config.seed)
    counts = np.bincount(groups)
    report = LeakReport(
        groups=int(np.count_nonzero(counts)),
        largest_group=int(counts.max()),
        test_sources_by_rows=round(leak.sources, 4),
        test_targets_by_rows=round(leak.targets, 4),
    )
    train = repeat_by_weight(pairs, rows[drawn.train], config.seed)
    splits = Splits(train, *(split_rows(pairs, name, rows[getattr(drawn, name)]) for name in ("dev", "test")))
    return Division(splits, report, len(train) - len(drawn.train))


def split_rows(pairs: Pairs, name: Any, drawn: IntArray) -> IntArray:
    """The rows of dev or test: those that were given for it, else those that were drawn."""
    return np.flatnonzero(pairs.alive & pairs.in_role(name)) if name in pairs.roles else drawn


def near_kinds(pairs: Pairs, rows: IntArray) -> list[IntArray]:
    """For each side (N,) equal numbers of rows whose sentences are nearly equal."""
    facts = pairs.facts
    return [
        near_numbers(pairs.source, rows, facts.source_keys[rows]),
        near_numbers(pairs.target, rows, facts.target_keys[rows]),
    ]


def drop_near_held_out(pairs: Pairs, config: PrepareConfig) -> tuple[Finding, ...]:
    """Drops training pairs that are connected with given dev or test pairs by nearly equal sentences, where wanted.

    Returns what the report says of them. Not a check like the others: it is slow, and looks at what these have left.
    """
    if not config.near_duplicates or len(set(pairs.roles)) == 1:
        return ()
    rows = np.flatnonzero(pairs.alive)
    in_training = pairs.in_role("train")[rows]
    near = np.any([np.isin(kind, kind[~in_training]) for kind in near_kinds(pairs, rows)], axis=0)
    dropped = rows[near & in_training]
    pairs.reasons[dropped] = REASONS.index(HeldOut.name)
    problem = "a sentence that is nearly one of the dev or test data that was given"
    return reported(pairs, dropped, check=HeldOut.name, problem=problem, action="dropped")


def reported(pairs: Pairs, rows: IntArray, *, check: str, problem: str, action: Action) -> tuple[Finding, ...]:
    """A finding about these rows; none without any."""
    examples = tuple(example(pairs, row, as_it_was=False) for row in rows[:EXAMPLES].tolist())
    found = Finding(check=check, problem=problem, count=len(rows), action=action, note="", examples=examples)
    return (found,) if len(rows) else ()


def leave_out_by_weight(pairs: Pairs, seed: int) -> None:
    """Of an input with a weight of less than 1, leaves out that many of its pairs, drawn at random."""
    generator = np.random.default_rng([seed, 3])
    for number, weight in enumerate(pairs.weights):
        if weight < 1:
            own = np.flatnonzero(pairs.alive & (pairs.facts.inputs == number))
            left_out = generator.permutation(own)[round(weight * len(own)) :]
            pairs.reasons[left_out] = REASONS.index(SAMPLED_OUT)


def repeat_by_weight(pairs: Pairs, train: IntArray, seed: int) -> IntArray:
    """The rows of train, those of inputs with a weight of more than 1 as often as it says, in random order again."""
    weights = np.array(pairs.weights)[pairs.facts.inputs[train]]
    if (weights <= 1).all():
        return train
    generator = np.random.default_rng([seed, 4])
    times = np.maximum(weights, 1)
    whole = np.floor(times)
    repeats = (whole + (generator.random(len(train)) < times - whole)).astype(int)
    return generator.permutation(np.repeat(train, repeats))


def write_rejected(path: Path, pairs: Pairs) -> None:
    """Reason, source, target, line and file of each dropped pair; without the time that gzip puts in its header."""
    rows = np.flatnonzero(~pairs.alive)
    facts = pairs.facts
    reasons = [REASONS[number] for number in pairs.reasons[rows].tolist()]
    places = zip(facts.lines[rows].tolist(), (pairs.names[n] for n in facts.inputs[rows].tolist()), strict=True)
    texts = zip(pairs.source.of(rows), pairs.target.of(rows), strict=True)
    with path.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as packed:
        for reason, (source, target), (line, name) in zip(reasons, texts, places, strict=True):
            packed.write(f"{reason}\t{source}\t{target}\t{line}\t{name}\n".encode())


def write_pairs(path: Path, pairs: Pairs, rows: IntArray) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(
            f"{source}\t{target}\n" for source, target in zip(pairs.source.of(rows), pairs.target.of(rows), strict=True)
        )


def describe(
    pairs: Pairs,
    findings: tuple[Finding, ...],
    inputs: Inputs,
    division: Division,
    vocabularies: Vocabularies,
    source: Subwords | Features,
    directory: Path,
    config: PrepareConfig,
) -> Manifest:
    """The manifest of what was written to `directory`."""
    source_language, target_language = languages_of(inputs, config)
    return Manifest(
        format=FORMAT,
        source_language=source_language,
        target_language=target_language,
        tokenizer=vocabularies.settings,
        counts=count_pairs(pairs, division),
        leak=division.leak,
        findings=findings,
        source=source,
        target=measure_subwords("target", pairs, division.splits, vocabularies, directory),
        options=options_without_paths(config)
        | {"tokenizer": vocabularies.settings.kind, "lowercase": vocabularies.settings.lowercase},
        inputs=inputs.records,
        outputs={path.name: FileRecord.of(path) for path in sorted(directory.iterdir())},
        tools={
            "nmt-cli": __version__,
            "python": platform.python_version(),
            "numpy": version("numpy"),
            "sentencepiece": version("sentencepiece"),
        },
    )


def count_pairs(pairs: Pairs, division: Division) -> Counts:
    by_reason = dict(zip(REASONS, np.bincount(pairs.reasons, minlength=len(REASONS)).tolist(), strict=True))
    return Counts(
        read=len(pairs),
        kept=by_reason[""],
        dropped={name: by_reason[name] for name in DROPPING},
        splits={split: len(rows) for split, rows in division.splits.items()},
        repeated=division.repeated,
        more_columns=pairs.more_columns,
    )


def languages_of(inputs: Inputs, config: PrepareConfig) -> tuple[str, str]:
    """The languages as given, as the first input itself says, or as its name says."""
    first = inputs.inputs[0]
    named = inputs.readers[0].languages or languages_in(*(path.name for path in first.files))
    return config.source_language or named[0], config.target_language or named[1]


def options_without_paths(config: PrepareConfig) -> dict[str, Any]:
    """The options, with files named without their folders, so that equal input gives equal output anywhere."""
    options = config.to_mapping()
    for name in ("dev", "test", "tokenizer_from", "image_weights"):
        wish = options[name]
        if wish is not None and not (name in ("dev", "test") and is_size(wish)):
            options[name] = ",".join(Path(part).name for part in wish.split(","))
    return options
