"""Collects the translations that fail a check, and renders them as one HTML page or as JSON.

The page needs no network connection and escapes every text. Knows translations; must not know the checks.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from nmt_cli.files import write_text
from nmt_cli.pages import read_asset, render_document
from nmt_cli.text.wrapping import format_count
from nmt_cli.translation.result import CheckKind, FailedCheck, LeastSure, Translation

OF_CHANGED = "These failed no check, but nmt replaced, copied or chose some of their words."
OF_UNSURE = "These failed no check, but are the least likely to be good."
TO_CORRECT = (
    "To correct texts, write a file with the source, a tab and the better translation on each line, and translate "
    "again with --tm FILE."
)
UNSURE_SHOWN = 50  # texts that failed no check, but have the least confidence
MEMORY_NAMES = {
    "memory": "from the translation memory",
    "memory_numbers": "from the translation memory, with adapted numbers",
    "memory_part": "partly from the translation memory",
}
CHANGES: Mapping[str, Callable[[Translation], Iterable[str]]] = {
    "read": lambda translation: (f"{read.word} as {read.known}" for read in translation.readings),
    "protected": lambda translation: dict.fromkeys(span.text for span in translation.placed),
    "kept": lambda translation: translation.kept,
    "other pairs of the translation memory": lambda translation: (rival.text for rival in translation.rivals),
    "translated again": lambda translation: (repair.remedy for repair in translation.repairs if repair.remedy),
}
FILE_COLUMNS = {"carried": "words copied", "failed": "failed", "confidence": "confidence"}
PLACES_SHOWN = 5  # of equal texts
ENTRIES_SHOWN = 5_000  # of the page; a browser draws no more at ease


class CheckTitle(NamedTuple):
    """The title of a kind of check."""

    summary: str  # what is wrong with the texts that fail it
    rule: str  # its page and anchor in the documentation


class QaEntry(NamedTuple):
    """A text whose translation a person should check."""

    number: int  # of the text in the whole input, from 1
    source: str
    translation: str
    checks: tuple[FailedCheck, ...]
    changes: Mapping[str, Sequence[str]]  # besides the search, by the names in CHANGES
    confidence: float | None = None  # the probability that the translation is good, if the model can tell
    origin: str = "network"  # or a translation memory
    where: str = ""  # the file, chapter or verse, where there are several
    least_sure: LeastSure | None = None  # the worst sentence of several

    @classmethod
    def from_translation(cls, number: int, translation: Translation, where: str = "") -> QaEntry:
        """Returns the entry of a translation."""
        best = translation.hypotheses[0].text if translation.hypotheses else ""
        return cls(
            number,
            translation.source,
            best,
            translation.checks,
            list_changes(translation),
            translation.confidence,
            translation.origin,
            where,
            translation.least_sure,
        )


def list_changes(translation: Translation) -> dict[str, list[str]]:
    """Returns the changes made outside the search, by the names in CHANGES."""
    changes = {name: list(find(translation)) for name, find in CHANGES.items()}
    return {name: texts for name, texts in changes.items() if texts}


@dataclass
class QaReport:
    """The texts that failed a check, collected translation by translation."""

    titles: Mapping[CheckKind, CheckTitle]  # in the order of the report
    what: str  # where the texts come from
    languages: tuple[str, str]
    thing: str = "line"  # what a text is called
    settings_from: Mapping[str, str] = field(default_factory=dict)  # the variables and files of options, if any
    texts: int = 0
    entries: list[QaEntry] = field(default_factory=list)
    changed: list[QaEntry] = field(default_factory=list)  # that failed no check
    unsure: list[tuple[float, int, QaEntry]] = field(default_factory=list)  # a heap, the surest first; negated
    confidence_sum: float = 0.0
    rated: int = 0  # texts with a confidence
    recalled: int = 0  # texts from a translation memory, as a whole
    remarks: dict[str, list[str]] = field(default_factory=dict)  # about the whole, by their titles
    files: Sequence[Mapping[str, Any]] = ()  # the counts of each file and its chapters, where there are several

    def add(self, translation: Translation, where: str = "", number: int | None = None) -> None:
        """Counts one translation, with its number in its file, and keeps it if it failed a check or was changed."""
        self.texts += bool(translation.source.strip())
        self.recalled += translation.is_recalled
        entry = QaEntry.from_translation(number or self.texts, translation, where)
        if translation.checks:
            self.entries.append(entry)
        elif entry.changes:
            self.changed.append(entry)
        if entry.confidence is not None:
            self.rated += 1
            self.confidence_sum += entry.confidence
            if not translation.checks:
                heappush(self.unsure, (-entry.confidence, -self.texts, entry))
                if len(self.unsure) > UNSURE_SHOWN:
                    heappop(self.unsure)

    @property
    def least_sure(self) -> list[QaEntry]:
        """The least confident texts among those that failed no check, least confident first."""
        return [entry for _, _, entry in sorted(self.unsure, reverse=True)]

    @property
    def counts(self) -> dict[CheckKind, int]:
        """The number of texts that failed each check, in the order of `titles`."""
        counts = Counter(check.kind for entry in self.entries for check in entry.checks)
        return {kind: counts[kind] for kind in self.titles if counts[kind]}

    def write(self, path: Path) -> None:
        """Writes the report to a .html or .json file."""
        write_text(path, render_json(self) if path.suffix.lower() == ".json" else render_page(self))


def render_json(report: QaReport) -> str:
    """Returns the report as one JSON object."""
    values = {
        "input": report.what,
        "source_language": report.languages[0],
        "target_language": report.languages[1],
        **({"settings_from": dict(report.settings_from)} if report.settings_from else {}),
        "texts": report.texts,
        "failed": len(report.entries),
        "from_memory": report.recalled,
        "checks": report.counts,
        "rules": {kind: report.titles[kind].rule for kind in report.counts},
        "mean_confidence": report.confidence_sum / report.rated if report.rated else None,
        **({"files": report.files} if report.files else {}),
        **({"remarks": report.remarks} if report.remarks else {}),
        "entries": [map_entry(entry) for entry in report.entries],
        "changed": [map_entry(entry) for entry in report.changed],
        "least_sure": [map_entry(entry) for entry in report.least_sure],
    }
    return json.dumps(values, ensure_ascii=False, indent=1) + "\n"


def map_entry(entry: QaEntry) -> dict[str, Any]:
    values = entry._asdict()
    origin, where, worst = (values.pop(name) for name in ("origin", "where", "least_sure"))
    checks = [check._asdict() for check in entry.checks]
    added = {**({"where": where} if where else {}), **({"least_sure": worst.to_mapping()} if worst else {})}
    return {**values, **added, "checks": checks, "from": origin}


def render_page(report: QaReport) -> str:
    """Returns the page: the counts of each check, and all texts that failed one."""
    body = [
        render_head(report),
        render_counts(report),
        render_files(report),
        *(render_remarks(title, lines) for title, lines in report.remarks.items()),
        render_list("Failed checks", report.entries, report.thing),
        render_list("Changed", report.changed, report.thing, OF_CHANGED),
        render_list("Least confident", report.least_sure, report.thing, OF_UNSURE),
    ]
    style, script = (read_asset("nmt_cli.visuals", f"qa.{kind}") for kind in ("css", "js"))
    return render_document(f"Checks: {report.what}", body, style=style, script=script)


def render_head(report: QaReport) -> str:
    things = format_count(report.texts, report.thing)
    failed = (
        format_count(len(report.entries), "needs review", "need review") if report.entries else "none failed a check"
    )
    source, target = map(escape, report.languages)
    sure = f" Mean confidence {report.confidence_sum / report.rated:.2f}." if report.rated else ""
    recalled = (
        f" {format_count(report.recalled, 'comes', 'come')} from the translation memory." if report.recalled else ""
    )
    origins = ", ".join(f"{name} ({origin})" for name, origin in report.settings_from.items())
    settings = f" Not from the command line: {escape(origins)}." if origins else ""
    return (
        f"<h1>Translations to review in {escape(report.what)}</h1>"
        f'<p class="faint">{source} to {target}. Of {things}, {failed}.{recalled}{sure}{settings}</p>'
        f'<p class="faint">{TO_CORRECT}</p>'
    )


def render_counts(report: QaReport) -> str:
    """Returns the table of checks with a bar for each; its boxes filter the list below."""
    if not report.entries:
        return ""
    most = max(report.counts.values())
    rows = []
    for kind, count in report.counts.items():
        box = f'<label><input type="checkbox" data-kind="{escape(kind)}" checked disabled> {escape(kind)}</label>'
        bar = f'<span class="bar" style="width:{100 * count / most:.1f}%"></span>'
        title = report.titles[kind]
        rows.append(
            f'<tr><th scope="row">{box} <small>{escape(title.summary)} · {escape(title.rule)}</small></th>'
            f'<td class="n">{count:,}</td><td class="chart">{bar}</td></tr>'
        )
    head = f'<tr><th scope="col">check</th><th scope="col" class="n">{report.thing}s</th><th></th></tr>'
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def render_files(report: QaReport) -> str:
    """Returns the table of files and their chapters; empty if there is one file without chapters."""
    if not report.files:
        return ""
    head = "".join(f'<th scope="col" class="n">{title}</th>' for title in (f"{report.thing}s", *FILE_COLUMNS.values()))
    rows = "".join(
        render_part(file) + "".join(render_part(chapter, "chapter") for chapter in file.get("chapters", ()))
        for file in report.files
    )
    return f'<table><thead><tr><th scope="col">file</th>{head}</tr></thead><tbody>{rows}</tbody></table>'


def render_part(part: Mapping[str, Any], kind: str = "file") -> str:
    """Returns the row of a file or chapter."""
    name = f'<th scope="row" class="{kind}">{escape(part["name"])}</th>'
    if "error" in part:
        return f'<tr>{name}<td colspan="4">{escape(part["error"]["message"])}</td></tr>'
    confidence = "" if part["confidence"] is None else f"{part['confidence']:.2f}{' (low)' if part['is_low'] else ''}"
    cells = [f"{part['texts']:,}", *(f"{part[name]:,}" for name in FILE_COLUMNS if name != "confidence"), confidence]
    numbers = "".join(f'<td class="n">{cell}</td>' for cell in cells)
    return f"<tr>{name}{numbers}</tr>"


def render_remarks(title: str, lines: Sequence[str]) -> str:
    """Returns a list of remarks below a title."""
    items = "".join(f'<li dir="auto">{escape(line)}</li>' for line in lines[:ENTRIES_SHOWN])
    return f"<h2>{escape(title[:1].upper() + title[1:])}</h2><ul>{items}</ul>"


def render_list(title: str, entries: Sequence[QaEntry], thing: str, note: str = "") -> str:
    """Returns a list of texts below a title, with a note on what they have in common; empty if there are none."""
    if not entries:
        return ""
    groups: dict[tuple[object, ...], list[QaEntry]] = {}  # of equal texts, translations and checks
    for entry in entries:
        groups.setdefault((entry.source, entry.translation, entry.checks, str(entry.changes)), []).append(entry)
    rest = len(groups) - ENTRIES_SHOWN
    more = f'<p class="faint">and {rest:,} more; a .json report contains all of them</p>' if rest > 0 else ""
    note = note and f'<p class="faint">{note}</p>'
    items = "".join(render_entry(*group, thing=thing) for group in islice(groups.values(), ENTRIES_SHOWN))
    return f"<h2>{title}</h2>{note}<ol>{items}</ol>{more}"


def render_entry(entry: QaEntry, *equal: QaEntry, thing: str) -> str:
    """Returns the first of several equal entries, with a count of them."""
    kinds = escape("|".join(check.kind for check in entry.checks))
    shown = f' data-kinds="{kinds}"' if entry.checks else ""
    sure = f" <small>confidence {entry.confidence:.2f}</small>" if entry.confidence is not None else ""
    why = escape("; ".join(check.message for check in entry.checks))
    changes = "".join(
        f"<dt>{escape(kind)}</dt><dd>{escape(', '.join(texts))}</dd>" for kind, texts in entry.changes.items()
    )
    origin = f" <small>{MEMORY_NAMES[entry.origin]}</small>" if entry.origin in MEMORY_NAMES else ""
    where = entry.where and f" <small>{escape(entry.where)}</small>"
    others = [other.where for other in equal if other.where]
    also = others and f", also {', '.join(others[:PLACES_SHOWN])}{' ...' * (len(others) > PLACES_SHOWN)}"
    times = f" <small>{1 + len(equal):,} times{escape(also or '')}</small>" if equal else ""
    worst = entry.least_sure
    source = mark_sentence(entry.source, worst.source if worst else "")
    translation = mark_sentence(entry.translation, worst.text if worst else "")
    return (
        f"<li{shown}><b>{escape(thing)} {entry.number:,}</b>{where}{times}"
        f'<span class="why">{why}</span>{origin}{sure}<dl>'
        f'<dt>source</dt><dd dir="auto">{source}</dd>'
        f'<dt>translation</dt><dd dir="auto">{translation or "<i>empty</i>"}</dd>{changes}</dl></li>'
    )


def mark_sentence(text: str, sentence: str) -> str:
    """Returns a text as HTML, highlighting the sentence if the text contains it."""
    before, marked, after = text.partition(sentence) if sentence else (text, "", "")
    return escape(before) + (f"<mark>{escape(marked)}</mark>" if marked else "") + escape(after)
