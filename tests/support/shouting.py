"""A translator that needs no model: the translations are the sources in upper case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

from nmt_cli.corpus.dataset import PreparedCorpus
from nmt_cli.corpus.manifest import ReferencedSource, SentencePair
from nmt_cli.translation import forced
from nmt_cli.translation.config import TranslateOptions
from nmt_cli.translation.lines import Line
from nmt_cli.translation.request import TranslationRequest

SURE = forced.ForcedTarget(
    tokens=(5, 3), log_probabilities=(0.0, 0.0), likeliest=(True, True), attention=np.ones((2, 1))
)


@dataclass
class Shouting:
    fingerprint: str
    beam_size: int = 0
    training: Mapping[str, str] = field(default_factory=dict)
    language: str = "eng"
    confidence: None = None  # it rates nothing
    profile: None = None
    target: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(fingerprint="toy-1"))

    @property
    def card(self) -> SimpleNamespace:
        return SimpleNamespace(
            development_bleu=None,
            development_gain=None,
            dataset_fingerprint=self.fingerprint,
            source={"type": "text"},
            languages=("abc", self.language),
            source_language="abc",
            target_language=self.language,
            training=self.training,
        )

    def with_stored_pictures(self, stored: object) -> Shouting:
        return self

    def translate(
        self, lines: Sequence[str | Line], options: TranslateOptions, progress: Callable[[int], None] | None = None
    ) -> list[SimpleNamespace]:
        self.beam_size = options.search.beam_size
        texts = [line.text if isinstance(line, Line) else line for line in lines]
        return [SimpleNamespace(text=text.upper(), cut=False, source_cut_from=None, failure=None) for text in texts]


def use_shouting(monkeypatch: pytest.MonkeyPatch) -> Shouting:
    """The translator that `TranslationRequest.load` gives; a test split of 100 sentences, of which half are right."""
    pairs = [SentencePair("abc def", "ABC DEF" if number % 2 else "xyz") for number in range(100)]
    splits = {"test": pairs, "dev": pairs[:40], "train": [SentencePair("Tom saw it", "TOM SAW IT")]}
    corpus = SimpleNamespace(
        read_text_sizes=lambda split: (),
        read_pairs=lambda split: splits[split],
        load_pictures=dict,
        read_references=lambda split: [ReferencedSource(pair.source, (pair.target,)) for pair in splits[split]],
        select_texts=list,
        manifest=SimpleNamespace(tags={}),
        fingerprint="f1",
        languages=("abc", "eng"),
        source_language="abc",
        target_language="eng",
        splits=splits,
    )
    translator = Shouting("f1")
    monkeypatch.setattr(PreparedCorpus, "load", lambda directory: corpus)
    monkeypatch.setattr(forced, "force_lines", lambda translator, sources, *rest, **options: [SURE] * len(sources))
    monkeypatch.setattr(TranslationRequest, "load", lambda *arguments, **options: translator)
    return translator
