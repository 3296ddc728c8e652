"""The kinds of sources that a corpus is made from: texts, or pictures (`pictures.py`). One table, `FINDERS`.

Knows neither how they are read nor how they are split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

from nmt_cli.corpus.pairs import Pairs
from nmt_cli.corpus.sides import SourceStatistics
from nmt_cli.corpus.steps.pictures import Pictures, find_pictures
from nmt_cli.corpus.steps.reading import CorpusInputs, PrepareProgress
from nmt_cli.corpus.steps.split import Splits
from nmt_cli.corpus.steps.subwords import LearnedSubwords, measure_subwords
from nmt_cli.sources.source import PictureReader
from nmt_cli.text.profiling.building import build_profile


class SourceTexts:
    """Sources that are sentences."""

    checks = None  # the names of the checks that suit them: all

    def build_profile(self, train: Iterable[tuple[str, str]]) -> str:
        """Returns the content of the profile of the training pairs."""
        return build_profile(train)

    def store(
        self, pairs: Pairs, splits: Splits, subwords: LearnedSubwords, directory: Path, report_progress: PrepareProgress
    ) -> SourceStatistics:
        """Writes what is not written with the subwords. Returns the statistics of the sources for the manifest."""
        return measure_subwords("source", pairs, splits, subwords, directory)


CorpusSources: TypeAlias = SourceTexts | Pictures
Finder = Callable[[Pairs, CorpusInputs, PictureReader | None, PrepareProgress], CorpusSources]

# By --source-type.
FINDERS: Mapping[str, Finder] = {
    "text": lambda *request: SourceTexts(),
    "features": find_pictures,
    "image": find_pictures,
}
