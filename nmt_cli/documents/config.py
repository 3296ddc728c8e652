"""Document options. Imports only the standard library, since the command line is built from these options."""

from __future__ import annotations

from typing import Any, Literal

from nmt_cli.formats import join_formats
from nmt_cli.settings import Settings, setting

Undecodable = Literal["strict", "replace"]


class DocumentOptions(Settings, panel="Format"):
    """The format of the input, and which parts of it to translate."""

    format: str | None = setting(
        None, f"Input format: {join_formats('translate')} [from the file's content and name, else text].", harmless=True
    )

    def __init__(self, **values: Any) -> None:
        column = values.get("column", ())
        super().__init__(**{**values, "column": (column,) if isinstance(column, str) else column or ()})

    column: tuple[str, ...] = setting(
        (),
        "tsv, csv: column to translate, by name or by number from 1 (repeat it for several). jsonl: its key, or a "
        "path. xlsx, ods: a column, rather than all texts.",
        harmless=True,
    )
    new_column: str | None = setting(
        None,
        "Name of the column for the translations [the name of --column, _ and the target language]. In an "
        "existing column, only empty cells are filled.",
        harmless=True,
    )
    qa_column: str | None = setting(
        None, "tsv, csv, jsonl, xlsx, ods: name of a new column for failed checks.", harmless=True
    )
    sort_by_confidence: bool = setting(
        False, "tsv, csv, jsonl, xlsx, ods: write the rows with the least confident translations first.", harmless=True
    )
    retranslate: bool = setting(
        False,
        "po, xliff, ts, xcstrings, tmx: replace existing translations; tables and spreadsheets: also those in "
        "--new-column.",
    )
    confidence: bool = setting(
        False,
        "Write the probability that each translation is good (chrF of at least 50) before it; in a table, as a column.",
        panel="Checks",
        harmless=True,
    )
    fuzzy: bool = setting(
        False,
        "po, xliff, ts, xcstrings: mark all new translations for review (po: fuzzy), not only those that fail a check.",
        harmless=True,
    )
    encoding: str | None = setting(
        None,
        "Encoding of the input and of the output, such as cp1252 or utf-16 [UTF-8 or, with a byte order mark, UTF-16; "
        "po: as its header says].",
        harmless=True,
    )
    errors: Undecodable = setting("strict", "Invalid UTF-8: strict stops; replace reads it as U+FFFD.")

    @property
    def needs_confidence(self) -> bool:
        """Whether these options need a model that can rate its translations."""
        return self.confidence or self.sort_by_confidence
