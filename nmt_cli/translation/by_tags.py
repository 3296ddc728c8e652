"""Translates lines that have tags of their own, those of equal tags together, and lines of passages in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nmt_cli.search.config import SearchConfig
from nmt_cli.text.tags import TagSet

if TYPE_CHECKING:
    from nmt_cli.translation.batch_search import CountReporter
    from nmt_cli.translation.passages import TextPassage
    from nmt_cli.translation.result import Translation
    from nmt_cli.translation.translator import Translator


def translate_tagged(
    translator: Translator,
    lines: Sequence[str],
    tags: Sequence[TagSet],
    config: SearchConfig,
    progress: CountReporter | None = None,
    *,
    chains: Sequence[Sequence[int]] = (),
    **options: Any,
) -> list[Translation]:
    """Returns one translation per line, behind its own `tags`, in order.

    `options` are those of the translator; the lines of each of `chains`, by their index, have equal tags.
    """
    if len(set(tags)) <= 1:
        options |= {"chains": chains} if chains else {}
        return translator.translate(lines, replace(config, tags=next(iter(tags), ())), progress, **options)
    translations: dict[int, Translation] = {}
    for tags_of_group in dict.fromkeys(tags):
        rows = [row for row, tags_of_row in enumerate(tags) if tags_of_row == tags_of_group]
        done, positions = len(translations), {row: position for position, row in enumerate(rows)}
        report = None if progress is None else (lambda more, done=done: progress(done + more))
        of_group = {**options, "first_line": options.get("first_line", 0) + done}
        if chains:
            of_group["chains"] = [[positions[row] for row in chain] for chain in chains if chain[0] in positions]
        some = [lines[row] for row in rows]
        translated = translator.translate(some, replace(config, tags=tags_of_group), report, **of_group)
        translations |= zip(rows, translated, strict=True)
    return [translations[row] for row in range(len(lines))]


def translate_passages(
    translator: Translator,
    lines: Sequence[str],
    tags: Sequence[TagSet],
    passages: Sequence[TextPassage],
    config: SearchConfig,
    progress: CountReporter | None = None,
    **options: Any,
) -> list[Translation]:
    """Returns what `translate_tagged` does, with the lines of `passages` in context; each passage has equal tags."""
    if not passages:
        return translate_tagged(translator, lines, tags, config, progress, **options)
    all_lines, all_tags, chains = list(lines), list(tags or [()] * len(lines)), list[list[int]]()
    for passage in passages:
        before = range(len(all_lines), len(all_lines) + len(passage.before))
        chains.append([*before, *passage.rows])
        all_lines += passage.before
        all_tags += [all_tags[passage.rows[0]]] * len(before)
    report = None if progress is None else (lambda done: progress(min(done, len(lines))))
    return translate_tagged(translator, all_lines, all_tags, config, report, chains=chains, **options)[: len(lines)]
