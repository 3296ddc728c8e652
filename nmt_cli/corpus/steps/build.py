"""The last steps of `prepare`: split the checked pairs, obtain subwords, encode all splits, write the directory.

Knows how the files of a prepared directory are written; `dataset.py` knows how they are read. Letters: N pairs.
"""

from __future__ import annotations

import gzip
import platform
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from nmt_cli import __version__
from nmt_cli.arrays.types import IntArray
from nmt_cli.corpus.checks import CHECKS, SAMPLED_OUT
from nmt_cli.corpus.checks.repeats import HeldOut
from nmt_cli.corpus.config import FILE_OPTIONS, SPLIT_OPTIONS, PrepareConfig, is_size
from nmt_cli.corpus.manifest import (
    FORMAT,
    TRUNCATION,
    Action,
    FileRecord,
    Finding,
    LeakReport,
    Manifest,
    MonolingualText,
    PairCounts,
    PictureStatistics,
    SubwordStatistics,
)
from nmt_cli.corpus.pairs import Pairs, Role
from nmt_cli.corpus.steps.monolingual import MonolingualSide, write_monolingual
from nmt_cli.corpus.steps.near_duplicates import number_near_equal
from nmt_cli.corpus.steps.pictures import Pictures
from nmt_cli.corpus.steps.reading import CorpusInputs, PrepareProgress
from nmt_cli.corpus.steps.run_checks import EXAMPLES, make_example
from nmt_cli.corpus.steps.split import (
    Sizes,
    Splits,
    choose_sizes,
    find_connected_groups,
    measure_leak,
    number_keys,
    split_by_groups,
)
from nmt_cli.corpus.steps.subwords import encode_splits, measure_subwords, obtain_subwords
from nmt_cli.errors import DataError
from nmt_cli.text.profile import PROFILE_NAME
from nmt_cli.text.profiling.building import build_profile
from nmt_cli.text.tokenizer_settings import TokenizerSettings

REASONS = ("", *(check.name for check in CHECKS), SAMPLED_OUT)  # by the numbers in `Pairs.reasons`
DROP_REASONS = (*(check.name for check in CHECKS if check.action == "dropped"), SAMPLED_OUT)


@dataclass(frozen=True)
class Division:
    """The rows of each split, the leak of a random split, and the number of rows repeated by weight."""

    splits: Splits
    leak: LeakReport
    repeated: int


@dataclass(frozen=True)
class CheckedCorpus:
    """A corpus that has been read, checked and split, and only lacks its subwords."""

    pairs: Pairs
    inputs: CorpusInputs
    pictures: Pictures | None  # None where the sources are text
    findings: tuple[Finding, ...]
    division: Division
    languages: tuple[str, str]
    monolingual: Sequence[MonolingualSide] = ()


def build(corpus: CheckedCorpus, directory: Path, config: PrepareConfig, report_progress: PrepareProgress) -> Manifest:
    """Fills `directory` with a prepared corpus. Returns its manifest, which is the last file written."""
    pairs, splits = corpus.pairs, corpus.division.splits
    # 1. Write the text: the pairs that were dropped, with their reasons, those of each split, and the profile of train.
    report_progress("writing", 0, 0)
    write_rejected(directory / "rejected.tsv.gz", pairs)
    for split, rows in splits.by_name.items():
        write_pairs(directory / f"{split}.tsv", pairs, rows)
    write_profile(directory / PROFILE_NAME, pairs, splits.train, has_pictures=corpus.pictures is not None)
    monolingual: dict[str, MonolingualText] = {
        text.side: write_monolingual(text, directory) for text in corpus.monolingual
    }
    # 2. Learn the subwords from train alone, so that dev and test stay unseen.
    report_progress("learning subwords", 0, 0)
    subwords = obtain_subwords(pairs, splits.train, directory, config)
    # 3. Encode all splits.
    truncated_rows = encode_splits(pairs, splits, subwords, directory, report_progress, config)
    findings = corpus.findings + report_truncation(pairs, truncated_rows, config)
    # 4. Measure what was written; pictures are stored where the sources are not text.
    if corpus.pictures is None:
        source: SubwordStatistics | PictureStatistics = measure_subwords("source", pairs, splits, subwords, directory)
    else:
        source = corpus.pictures.store(splits, directory, report_progress)
    target = measure_subwords("target", pairs, splits, subwords, directory)
    # 5. Write the manifest.
    manifest = describe_corpus(corpus, findings, source, target, subwords.settings, directory, config)
    manifest = replace(manifest, monolingual=monolingual)
    manifest.write(directory)
    return manifest


def refuse_empty(splits: Splits) -> None:
    """Raises DataError for a split without pairs, which can happen when the checks drop dev or test data from files."""
    for name, rows in splits.by_name.items():
        if not len(rows):
            hint = "they are empty or share sentences with the test data; see --strict --report report.html"
            raise DataError(f"no pair of the {name} data can be used", hint=hint)


def report_truncation(pairs: Pairs, rows: IntArray, config: PrepareConfig) -> tuple[Finding, ...]:
    """Returns the finding about sources truncated to `--max-source-length`; empty if there are none."""
    problem = f"sources longer than --max-source-length {config.max_source_length}"
    return describe_rows(pairs, rows, check=TRUNCATION, problem=problem, action="cut")


def split_pairs(pairs: Pairs, config: PrepareConfig, report_progress: PrepareProgress) -> Division:
    """Splits the pairs by connected groups; dev and test pairs from files keep their role.

    Pairs are first left out, and finally repeated, by the weights of their inputs. Raises DataError if there are too
    few pairs.
    """
    report_progress("splitting", 0, 3)
    leave_out_by_weight(pairs, config.seed)
    in_training = pairs.is_kept & pairs.has_role("train")
    rows = np.flatnonzero(in_training & pairs.may_be_held_out)
    where = " + ".join(dict.fromkeys(pairs.input_names))
    from_files = frozenset(pairs.input_roles) - {"train"}
    sizes = choose_sizes(
        len(rows),
        config.dev,
        config.test,
        where=where,
        from_files=from_files,
        losses=list_losses(pairs),
        training_only=int(in_training.sum()) - len(rows),
    )
    # 1. Number the sentences, then group the pairs that share a sentence, or nearly share it where that is asked for.
    sources, targets = number_keys(pairs.facts.source_keys[rows]), number_keys(pairs.facts.target_keys[rows])
    report_progress("splitting", 1, 3)
    near_numbers = number_near_duplicates(pairs, rows) if config.near_duplicates else []
    groups = find_connected_groups(*(number_keys(keys[rows]) for keys in pairs.connecting_keys), *near_numbers)
    report_progress("splitting", 2, 3)
    # 2. Draw whole groups for test and dev, and measure what a random split would have leaked.
    lengths = np.maximum(pairs.facts.source_lengths, pairs.facts.target_lengths)[rows]
    drawn_rows = split_by_groups(groups, lengths, sizes, seed=config.seed, where=where)
    leak = measure_leak(sources, targets, Sizes(sizes.dev, sizes.test or len(rows) // 10), seed=config.seed)
    counts = np.bincount(groups)
    report = LeakReport(
        groups=int(np.count_nonzero(counts)),
        largest_group=int(counts.max(initial=0)),
        test_sources_by_rows=round(leak.sources, 4),
        test_targets_by_rows=round(leak.targets, 4),
    )
    # 3. Repeat training pairs by weight; use dev and test pairs from files instead of drawn ones.
    dev = choose_held_out(pairs, "dev", rows[drawn_rows.dev])
    test = choose_held_out(pairs, "test", rows[drawn_rows.test])
    once = np.concatenate([rows[drawn_rows.train], select_training_only(pairs, np.concatenate([dev, test]))])
    train = repeat_by_weight(pairs, once, config.seed)
    return Division(Splits(train, dev, test), report, len(train) - len(once))


def select_training_only(pairs: Pairs, held_out: IntArray) -> IntArray:
    """Returns the rows of training-only inputs, dropping those that share a sentence with `held_out`."""
    rows = np.flatnonzero(pairs.is_kept & pairs.has_role("train") & ~pairs.may_be_held_out)
    is_leak = np.zeros(len(rows), dtype=np.bool_)
    for keys in pairs.connecting_keys:
        is_leak |= np.isin(keys[rows], keys[held_out])
    pairs.reasons[rows[is_leak]] = REASONS.index(HeldOut.name)
    return rows[~is_leak]


def list_losses(pairs: Pairs) -> dict[str, int]:
    """Returns the number of training pairs dropped by each check, largest first."""
    reasons = pairs.reasons[pairs.has_role("train")]
    counts = np.bincount(reasons, minlength=len(REASONS)).tolist()
    losses = {name: count for name, count in zip(REASONS[1:], counts[1:], strict=True) if count}
    return dict(sorted(losses.items(), key=lambda loss: -loss[1]))


def choose_held_out(pairs: Pairs, role: Role, drawn_rows: IntArray) -> IntArray:
    """Returns the rows of dev or test: those from files with this role if there are any, else the drawn ones."""
    return np.flatnonzero(pairs.is_kept & pairs.has_role(role)) if role in pairs.input_roles else drawn_rows


def number_near_duplicates(pairs: Pairs, rows: IntArray) -> list[IntArray]:
    """Returns (N,) numbers for each side; rows whose sentences are near-duplicates have equal numbers."""
    facts = pairs.facts
    return [
        number_near_equal(pairs.source, rows, facts.source_keys[rows]),
        number_near_equal(pairs.target, rows, facts.target_keys[rows]),
    ]


def drop_near_held_out(pairs: Pairs, config: PrepareConfig) -> tuple[Finding, ...]:
    """With `--near-duplicates`, drops training pairs with a near-duplicate in the dev or test data from files.

    Returns the finding about them. Not a regular check, because it is slow and must see only the pairs kept by those.
    """
    if not config.near_duplicates or len(set(pairs.input_roles)) == 1:
        return ()
    rows = np.flatnonzero(pairs.is_kept)
    in_training = pairs.has_role("train")[rows]
    is_near = np.any(
        [np.isin(numbers, numbers[~in_training]) for numbers in number_near_duplicates(pairs, rows)], axis=0
    )
    dropped_rows = rows[is_near & in_training]
    pairs.reasons[dropped_rows] = REASONS.index(HeldOut.name)
    problem = "a near-duplicate of a sentence in the dev or test data"
    return describe_rows(pairs, dropped_rows, check=HeldOut.name, problem=problem, action="dropped")


def describe_rows(pairs: Pairs, rows: IntArray, *, check: str, problem: str, action: Action) -> tuple[Finding, ...]:
    """Returns a finding about these rows; empty without rows."""
    examples = tuple(make_example(pairs, row, as_it_was=False) for row in rows[:EXAMPLES].tolist())
    finding = Finding(check=check, problem=problem, count=len(rows), action=action, note="", examples=examples)
    return (finding,) if len(rows) else ()


def leave_out_by_weight(pairs: Pairs, seed: int) -> None:
    """Keeps only a random share of the pairs of an input whose weight is less than 1; the weight is the share."""
    generator = np.random.default_rng([seed, 3])
    for number, weight in enumerate(pairs.input_weights):
        if weight < 1:
            rows = np.flatnonzero(pairs.is_kept & (pairs.facts.input_numbers == number))
            left_out = generator.permutation(rows)[round(weight * len(rows)) :]
            pairs.reasons[left_out] = REASONS.index(SAMPLED_OUT)


def repeat_by_weight(pairs: Pairs, train: IntArray, seed: int) -> IntArray:
    """Returns the rows of train in random order, repeating those of inputs with a weight above 1.

    The fraction of a weight repeats that share of the rows once more: with 1.5, every other row occurs twice.
    """
    weights = np.array(pairs.input_weights)[pairs.facts.input_numbers[train]]
    if (weights <= 1).all():
        return train
    generator = np.random.default_rng([seed, 4])
    times = np.maximum(weights, 1)
    whole_times = np.floor(times)
    repeats = (whole_times + (generator.random(len(train)) < times - whole_times)).astype(int)
    return generator.permutation(np.repeat(train, repeats))


def write_rejected(path: Path, pairs: Pairs) -> None:
    """Writes reason, source, target, line and file of each dropped pair, without a time in the gzip header."""
    rows = np.flatnonzero(~pairs.is_kept)
    facts = pairs.facts
    reasons = [REASONS[number] for number in pairs.reasons[rows].tolist()]
    places = zip(
        facts.line_numbers[rows].tolist(),
        (pairs.input_names[n] for n in facts.input_numbers[rows].tolist()),
        strict=True,
    )
    texts = zip(pairs.source.select(rows), pairs.target.select(rows), strict=True)
    with path.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as packed:
        for reason, (source, target), (line, name) in zip(reasons, texts, places, strict=True):
            packed.write(f"{reason}\t{source}\t{target}\t{line}\t{name}\n".encode())


def write_pairs(path: Path, pairs: Pairs, rows: IntArray) -> None:
    """Writes the pairs of these rows as a TSV file without a header."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(
            f"{source}\t{target}\n"
            for source, target in zip(pairs.source.select(rows), pairs.target.select(rows), strict=True)
        )


def write_profile(path: Path, pairs: Pairs, rows: IntArray, *, has_pictures: bool) -> None:
    """Writes the profile of the training text."""
    texts = zip(pairs.source.select(rows), pairs.target.select(rows), strict=True)
    path.write_text(build_profile(texts, has_pictures=has_pictures), encoding="utf-8", newline="\n")


def describe_corpus(
    corpus: CheckedCorpus,
    findings: tuple[Finding, ...],
    source: SubwordStatistics | PictureStatistics,
    target: SubwordStatistics,
    tokenizer: TokenizerSettings,
    directory: Path,
    config: PrepareConfig,
) -> Manifest:
    """Returns the manifest of `directory`, with the checksums of all its files."""
    source_language, target_language = corpus.languages
    return Manifest(
        format=FORMAT,
        source_language=source_language,
        target_language=target_language,
        tokenizer=tokenizer,
        counts=count_pairs(corpus.pairs, corpus.division),
        leak=corpus.division.leak,
        findings=findings,
        source=source,
        target=target,
        options=strip_paths(config) | {"tokenizer": tokenizer.kind, "lowercase": tokenizer.lowercase},
        inputs=corpus.inputs.records,
        outputs={path.name: FileRecord.from_file(path) for path in sorted(directory.iterdir())},
        tools={
            "nmt-cli": __version__,
            "python": platform.python_version(),
            "numpy": version("numpy"),
            "sentencepiece": version("sentencepiece"),
        },
    )


def count_pairs(pairs: Pairs, division: Division) -> PairCounts:
    """Counts the pairs read, kept, dropped by reason, and put into each split."""
    by_reason = dict(zip(REASONS, np.bincount(pairs.reasons, minlength=len(REASONS)).tolist(), strict=True))
    return PairCounts(
        read=len(pairs),
        kept=by_reason[""],
        dropped={name: by_reason[name] for name in DROP_REASONS},
        splits={split: len(rows) for split, rows in division.splits.by_name.items()},
        repeated=division.repeated,
        more_columns=pairs.more_columns,
    )


def strip_paths(config: PrepareConfig) -> dict[str, Any]:
    """Returns the options with file names without folders, so that equal input gives equal output anywhere."""
    options = config.to_mapping()
    for name in FILE_OPTIONS:
        value = options[name]
        if isinstance(value, tuple):
            options[name] = [Path(part).name for part in value]
        elif value is not None and not (name in SPLIT_OPTIONS and is_size(value)):
            options[name] = ",".join(Path(part).name for part in value.split(","))
    return options
