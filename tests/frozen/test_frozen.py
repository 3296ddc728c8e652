"""Frozen outputs: what becomes of 1,000 English and 1,000 German lines with the bundled models, byte for byte.

A refactoring changes nothing here. Where a change is meant, write the files anew, read their diff, and give the reason
in the commit:

    python tests/frozen/test_frozen.py

Processors differ in the last bits of a product, so now and then a network writes another word on another machine. Such
a line is told from one that the code changed: the network read the same texts, and wrote another.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from nmt_cli.runtime.installed_models import list_bundled_models
from nmt_cli.search.config import SearchOptions
from nmt_cli.search.constraints import TextId
from nmt_cli.search.step_model import SearchResult
from nmt_cli.sources.source import SourceRow
from nmt_cli.translation.config import CheckOptions, RepairOptions, TranslateOptions
from nmt_cli.translation.request import TranslationRequest
from nmt_cli.translation.result import Translation
from nmt_cli.translation.search import Network

HERE = Path(__file__).parent
MODELS = {"eng": "eng-deu", "deu": "deu-eng"}
UNLIKE_MACHINES = 0.02  # largest share of lines for which networks on two machines may differ


class RecordingNetwork(Network):
    """Notes what the network reads and first writes for each piece of each line."""

    exchanges: ClassVar[dict[TextId, list[str]]] = {}

    def search_rows(
        self, rows: Sequence[SourceRow], config: SearchOptions, text_ids: Sequence[TextId], *others: Any
    ) -> list[list[SearchResult]]:
        searched = super().search_rows(rows, config, text_ids, *others)
        for row, text_id, results in zip(rows, text_ids, searched, strict=True):
            read = self.source.subwords.decode(row.values.tolist())
            written = self.target.decode(results[0].tokens) if results else ""
            self.exchanges.setdefault(text_id, [read, written])
        return searched


def translate_lines(language: str) -> Iterator[dict[str, Any]]:
    """Yields what becomes of each line of a language."""
    lines = (HERE / f"{language}.txt").read_text(encoding="utf-8").split("\n")[:-1]
    request = TranslationRequest(list_bundled_models()[MODELS[language]], threads=1)
    translator = request.load()
    translator.network = recording = RecordingNetwork(*translator.network)
    recording.exchanges.clear()
    found = translator.translate(
        lines, TranslateOptions(SearchOptions(), repair=RepairOptions(), checks=CheckOptions())
    )
    exchanges = defaultdict(list)
    for text_id, exchange in sorted(recording.exchanges.items()):
        exchanges[text_id.line].append(exchange)
    for number, (line, translation) in enumerate(zip(lines, found, strict=True)):
        yield {"line": line, **describe(translation), "network": exchanges[number]}


def describe(translation: Translation) -> dict[str, Any]:
    """Returns what a person is shown of a translation."""
    return {
        "text": translation.text,
        "repairs": [[repair.fault, repair.remedy] for repair in translation.repairs],
        "checks": [[check.kind, check.message] for check in translation.checks],
        "read_as": [list(pair) for pair in translation.read_as],
        "carried": list(translation.carried),
        "placed": [[span.text, span.placed_by, span.doubtful] for span in translation.placed],
    }


@pytest.mark.parametrize("language", MODELS)
def test_outputs_are_as_they_were(language: str) -> None:
    frozen = map(json.loads, (HERE / f"{language}.jsonl").read_text(encoding="utf-8").splitlines())
    unlike, changed = 0, []
    for before, now in zip(frozen, translate_lines(language), strict=True):
        difference = {key: (before[key], now[key]) for key in before if before[key] != now[key]}
        if "network" in difference and has_same_sources(before["network"], now["network"]):
            unlike += 1  # of an equal text, the network wrote another translation
        elif difference:
            changed.append({"line": now["line"], **difference})
    assert not changed
    assert unlike <= UNLIKE_MACHINES * 1000


def has_same_sources(before: list[list[str]], now: list[list[str]]) -> bool:
    return [read for read, _ in before] == [read for read, _ in now]


def main() -> None:
    for language in sys.argv[1:] or MODELS:
        rows = (json.dumps(row, ensure_ascii=False) for row in translate_lines(language))
        (HERE / f"{language}.jsonl").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
