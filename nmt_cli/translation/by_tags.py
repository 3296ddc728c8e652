"""Translates lines that have tags of their own, those of equal tags together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nmt_cli.search.config import SearchConfig
from nmt_cli.text.tags import TagSet

if TYPE_CHECKING:
    from nmt_cli.translation.batch_search import CountReporter
    from nmt_cli.translation.result import Translation
    from nmt_cli.translation.translator import Translator


def translate_tagged(
    translator: Translator,
    lines: Sequence[str],
    tags: Sequence[TagSet],
    config: SearchConfig,
    progress: CountReporter | None = None,
    *,
    first_line: int = 0,
    **options: Any,
) -> list[Translation]:
    """Returns one translation per line, behind its own `tags`, in order; `options` are those of the translator."""
    tags = tags or [()] * len(lines)
    translations: dict[int, Translation] = {}
    for own_tags in dict.fromkeys(tags):
        rows = [row for row, of_row in enumerate(tags) if of_row == own_tags]
        done = len(translations)
        report = None if progress is None else (lambda more, done=done: progress(done + more))
        translated = translator.translate(
            [lines[row] for row in rows],
            replace(config, tags=own_tags),
            report,
            first_line=first_line + done,
            **options,
        )
        translations |= zip(rows, translated, strict=True)
    return [translations[row] for row in range(len(lines))]
