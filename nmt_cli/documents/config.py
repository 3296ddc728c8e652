"""Settings of how a document is read and written. Standard library only: they become options of the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nmt_cli.settings import Settings, setting

FormatName = Literal["text", "tsv", "csv", "jsonl", "srt", "po", "md"]
Undecodable = Literal["strict", "replace"]


@dataclass(frozen=True, kw_only=True)
class DocumentConfig(Settings):
    """What the input is, and what of it is translated."""

    format: FormatName | None = setting(
        None, "text, tsv, csv, jsonl, srt, po or md [by the ending of the file, else text].", panel="Format"
    )
    column: str | None = setting(
        None, "Column of the text in tsv and csv, by name or number from 1; its key in jsonl.", panel="Format"
    )
    new_column: str | None = setting(
        None, "Name of the column that is added [that of --column, _ and the target language].", panel="Format"
    )
    retranslate: bool = setting(False, "po: replace translations that are there already.", panel="Format")
    errors: Undecodable = setting(
        "strict", "What to do with bytes that are no UTF-8: stop, or replace them with U+FFFD.", panel="Format"
    )
