"""A translator without a network, that writes its lines in capitals or whatever a rule says."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from copy import copy
from pathlib import Path
from typing import Any, get_origin, get_type_hints

from nmt_cli.api.translator import Translator
from nmt_cli.model.config import ModelConfig
from nmt_cli.runtime.model_directory import FORMAT, ModelCard
from nmt_cli.training import checkpoints
from nmt_cli.training.options import TrainOptions
from nmt_cli.translation.config import LineOptions, TranslateOptions
from nmt_cli.translation.lines import Line
from nmt_cli.translation.result import Translation
from nmt_cli.translation.segmentation.line_reader import LineReader
from nmt_cli.translation.stages import copy_line, isolate
from support.translations import Rule, louder


def make_card(source: str = "eng", target: str = "deu", **entries: Any) -> ModelCard:
    """A card with the entries of a model that was never trained, and these."""
    kinds = get_type_hints(ModelCard)
    values: dict[str, Any] = {name: (get_origin(kind) or kind)() for name, kind in kinds.items()}
    values |= {"format": FORMAT, "source_language": source, "target_language": target, "source": {"type": "text"}}
    return ModelCard(**{**values, **entries})


def write_state(directory: Path, updates: int, *, complete: bool = False) -> None:
    """Writes the checkpoint of a training that was begun with `--epochs 20`, and has made so many updates."""
    (directory / "checkpoints").mkdir(parents=True, exist_ok=True)
    identity = {"network": ModelConfig.from_options().to_mapping(), "training": TrainOptions(epochs=20).to_mapping()}
    facts = {"identity": identity, "updates": updates, "progress": {"rollbacks": 0, "epoch": 1}}
    facts |= {"format": checkpoints.FORMAT, "complete": complete, "typed": [("--epochs", "20")]}
    checkpoints.write_arrays(checkpoints.locate_state(directory), [(checkpoints.FACTS, json.dumps(facts))])


class FakeTranslator:
    """What the interfaces need of a `LineTranslator`: one translation per line, made by a rule."""

    def __init__(self, card: ModelCard | None = None, rule: Rule = louder, seconds_per_line: float = 0.0) -> None:
        self.card = card or make_card()
        self.profile = None
        self.rule = rule
        self.seconds_per_line = seconds_per_line
        self.reader = LineReader(LineOptions(), copies_placeholders=False, glossary=None)
        self.batches: list[list[str]] = []  # the lines of each call
        self.configs: list[Any] = []
        self.memories: list[Any] = []
        self.active = 0
        self.lock = threading.Lock()

    def with_glossary(self, glossary: Any) -> FakeTranslator:
        """A translator that writes the terms of a glossary before it follows the rule; it shares what was asked."""
        other = copy(self)
        other.rule = lambda line: self.rule(" ".join(glossary.terms.get(word, word) for word in line.split()))
        return other

    def translate(
        self,
        lines: Sequence[str | Line],
        options: TranslateOptions,
        progress: Callable[[int], None] | None = None,
        *,
        first_line: int = 0,
    ) -> list[Translation]:
        texts = [line.text if isinstance(line, Line) else line for line in lines]
        with self.lock:
            self.batches.append(texts)
            self.configs.append(options.search)
            self.memories.append(options.memory)
        time.sleep(self.seconds_per_line * len(lines))
        if progress is not None:
            progress(len(lines))
        done: dict[int, Translation] = {}
        for trial in isolate([[row] for row in range(len(texts))]):
            with trial:
                done |= {row: self.rule(texts[row])._replace(source=texts[row]) for row in trial.rows}
            if trial.failure is not None:
                done[trial.rows[0]] = copy_line(texts[trial.rows[0]], trial.failure)
        return [done[row] for row in range(len(texts))]


def fake_loaded(fake: FakeTranslator | None = None, **options: Any) -> Translator:
    return Translator(fake or FakeTranslator(), Path("model"), options)  # type: ignore[arg-type]
