"""The last steps of `prepare`: obtain subwords, encode all splits, write the directory.

Knows how the files of a prepared directory are written; `dataset.py` knows how they are read. Letters: N pairs.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nmt_cli import __version__
from nmt_cli.arrays.scratch import count_numbers
from nmt_cli.corpus.checks import CHECKS, SAMPLED_OUT
from nmt_cli.corpus.config import FILE_OPTIONS, SPLIT_OPTIONS, PrepareOptions, is_size
from nmt_cli.corpus.manifest import (
    FORMAT,
    TRUNCATION,
    FileRecord,
    Finding,
    Manifest,
    MonolingualText,
    PairCounts,
    SourceStatistics,
    SubwordStatistics,
)
from nmt_cli.corpus.pairs import Pairs
from nmt_cli.corpus.steps.context import describe_order
from nmt_cli.corpus.steps.encoding import Encoding, encode_splits, read_written, write_pairs, write_rejected
from nmt_cli.corpus.steps.held_out import REASONS, Division
from nmt_cli.corpus.steps.monolingual import MonolingualSide, write_monolingual
from nmt_cli.corpus.steps.reading import CorpusInputs, PrepareProgress
from nmt_cli.corpus.steps.run_checks import describe_rows
from nmt_cli.corpus.steps.sources import CorpusSources
from nmt_cli.corpus.steps.subwords import measure_subwords, obtain_subwords
from nmt_cli.corpus.steps.tagging import count_tags
from nmt_cli.text.profile import PROFILE_NAME
from nmt_cli.text.symbols import TokenizerSettings
from nmt_cli.workers.choice import ExecutorOptions

DROP_REASONS = (*(check.name for check in CHECKS if check.action == "dropped"), SAMPLED_OUT)


@dataclass(frozen=True)
class CheckedCorpus:
    """A corpus that has been read, checked and split, and only lacks its subwords."""

    pairs: Pairs
    inputs: CorpusInputs
    sources: CorpusSources
    findings: tuple[Finding, ...]
    division: Division
    languages: tuple[str, str]
    monolingual: Sequence[MonolingualSide] = ()


def build(
    corpus: CheckedCorpus,
    directory: Path,
    config: PrepareOptions,
    report_progress: PrepareProgress,
    processes: ExecutorOptions,
) -> Manifest:
    """Fills `directory` with a prepared corpus. Returns its manifest, which is the last file written."""
    pairs, splits = corpus.pairs, corpus.division.splits
    # 1. Write the text: the pairs that were dropped, with their reasons, those of each split, and the profile of train.
    report_progress("writing", 0, 0)
    write_rejected(directory / "rejected.tsv.gz", pairs)
    for split, rows in splits.by_name.items():
        write_pairs(directory / f"{split}.tsv", pairs, rows)
    profile = corpus.sources.build_profile(read_written(directory / "train.tsv"))
    (directory / PROFILE_NAME).write_text(profile, encoding="utf-8", newline="\n")
    monolingual: dict[str, MonolingualText] = {
        text.side: write_monolingual(text, directory) for text in corpus.monolingual
    }
    # 2. Learn the subwords from train alone, so that dev and test stay unseen.
    report_progress("learning subwords", 0, 0)
    subwords = obtain_subwords(pairs, splits.train, directory, config)
    # 3. Encode all splits.
    encoding = Encoding(subwords, config)
    truncated_rows = encode_splits(pairs, splits, encoding, directory, report_progress, processes)
    problem = f"sources longer than max-source-length={config.max_source_length}"
    cut = describe_rows(pairs, truncated_rows, check=TRUNCATION, problem=problem, action="cut")
    # 4. Measure what was written; pictures are stored now.
    source = corpus.sources.store(pairs, splits, subwords, directory, report_progress)
    target = measure_subwords("target", pairs, splits, subwords, directory)
    # 5. Write the manifest.
    manifest = describe_corpus(corpus, corpus.findings + cut, source, target, subwords.settings, directory, config)
    tags, order = count_tags(pairs, splits), describe_order(pairs, splits, config)
    manifest = replace(manifest, monolingual=monolingual, tags=tags, context=order)
    manifest.write(directory)
    return manifest


def describe_corpus(
    corpus: CheckedCorpus,
    findings: tuple[Finding, ...],
    source: SourceStatistics,
    target: SubwordStatistics,
    tokenizer: TokenizerSettings,
    directory: Path,
    config: PrepareOptions,
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
    by_reason = dict(zip(REASONS, count_numbers(pairs.reasons, len(REASONS)).tolist(), strict=True))
    return PairCounts(
        read=len(pairs),
        kept=by_reason[""],
        dropped={name: by_reason[name] for name in DROP_REASONS},
        splits={split: len(rows) for split, rows in division.splits.by_name.items()},
        repeated=division.repeated,
        more_columns=pairs.more_columns,
    )


def strip_paths(config: PrepareOptions) -> dict[str, Any]:
    """Returns the options with file names without folders, so that equal input gives equal output anywhere."""
    options = config.to_mapping()
    for name in FILE_OPTIONS:
        value = options[name]
        if isinstance(value, tuple):
            options[name] = [Path(part).name for part in value]
        elif value is not None and not (name in SPLIT_OPTIONS and is_size(value)):
            options[name] = ",".join(Path(part).name for part in value.split(","))
    return options
