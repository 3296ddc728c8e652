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
    **options: Any,
) -> list[Translation]:
    """Returns one translation per line, behind its own `tags`, in order; `options` are those of the translator."""
    if len(set(tags)) <= 1:
        return translator.translate(lines, replace(config, tags=next(iter(tags), ())), progress, **options)
    translations: dict[int, Translation] = {}
    for tags_of_group in dict.fromkeys(tags):
        rows = [row for row, tags_of_row in enumerate(tags) if tags_of_row == tags_of_group]
        done = len(translations)
        report = None if progress is None else (lambda more, done=done: progress(done + more))
        of_group = {**options, "first_line": options.get("first_line", 0) + done}
        some = [lines[row] for row in rows]
        translated = translator.translate(some, replace(config, tags=tags_of_group), report, **of_group)
        translations |= zip(rows, translated, strict=True)
    return [translations[row] for row in range(len(lines))]
