"""Glossaries of requests: sent with a text, or created before and named by their ids. Knows no shape.

They are held in memory until the server ends. Each belongs to the key that its client sent, or to the address of one
without a key: nobody else finds it.
"""

from __future__ import annotations

import csv
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from nmt_cli.carrying.glossary import Glossary
from nmt_cli.errors import DataError
from nmt_cli.languages.codes import KnownLanguage
from nmt_cli.server.errors import RequestError

MOST_TERMS = 1_000  # of a glossary, which is searched in every line of its requests
MOST_CHARACTERS = 100_000  # of a glossary, some 10 times those of its terms in memory
MOST_OF_KEY = 100  # glossaries
MOST_TOGETHER = 1_000
LONGEST_NAME = 1_000  # characters
READERS: Mapping[str, Callable[[str], Iterable[list[str]]]] = {
    "tsv": lambda text: (line.split("\t") for line in text.splitlines()),
    "csv": lambda text: (row[:2] for row in csv.reader(text.splitlines())),  # DeepL's has the languages behind them
}


def read_terms(value: Any, form: str = "tsv") -> Glossary:
    """Returns the glossary of an object of terms, or of a text with a term and its translation on each line.

    Raises RequestError for anything else, and for one that is too large.
    """
    if form not in READERS:
        raise RequestError(400, f"Value for 'entries_format' not supported: {form}")
    rows: Iterable[list[str]]
    if isinstance(value, Mapping) and all(isinstance(term, str) for pair in value.items() for term in pair):
        size, rows = sum(map(len, (*value, *value.values()))), map(list, value.items())
    elif isinstance(value, str):
        size, rows = len(value), (row for row in READERS[form](value) if any(cell.strip() for cell in row))
    else:
        raise RequestError(400, "Invalid request: a glossary is an object of terms, or a text of lines")
    if size > MOST_CHARACTERS:
        raise RequestError(413, f"a glossary of more than {MOST_CHARACTERS:,} characters; this server takes no more")
    try:
        glossary = Glossary.from_rows(islice(rows, MOST_TERMS + 1), "glossary")
    except (DataError, csv.Error) as error:
        raise RequestError(400, f"Invalid request: {error}") from error
    if len(glossary.terms) > MOST_TERMS:
        raise RequestError(413, f"a glossary of more than {MOST_TERMS:,} terms; this server takes no more")
    return glossary


@dataclass(frozen=True)
class ClientGlossary:
    """A glossary that a client has created."""

    name: str
    source: KnownLanguage
    target: KnownLanguage
    glossary: Glossary
    owner: str  # who created it: a key, or an address
    identifier: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    created: datetime = field(default_factory=lambda: datetime.now(UTC))


class GlossaryStore:
    """The glossaries that clients have created, by their ids."""

    def __init__(self) -> None:
        self.glossaries: dict[str, ClientGlossary] = {}

    def add(self, glossary: ClientGlossary) -> None:
        """Keeps a glossary. Raises RequestError if its owner, or the server, has too many."""
        if len(self.list_of(glossary.owner)) >= MOST_OF_KEY:
            raise RequestError(456, f"Quota exceeded: {MOST_OF_KEY} glossaries; delete one")
        if len(self.glossaries) >= MOST_TOGETHER:
            raise RequestError(507, "this server has too many glossaries")
        self.glossaries[glossary.identifier] = glossary

    def list_of(self, owner: str) -> list[ClientGlossary]:
        """Returns the glossaries of an owner, oldest first."""
        return [glossary for glossary in self.glossaries.values() if glossary.owner == owner]

    def find(self, identifier: str, owner: str) -> ClientGlossary:
        """Returns a glossary of an owner. Raises RequestError for any other."""
        glossary = self.glossaries.get(identifier)
        if glossary is None or glossary.owner != owner:
            raise RequestError(404, "Glossary not found")
        return glossary

    def remove(self, identifier: str, owner: str) -> None:
        """Deletes a glossary of an owner. Raises RequestError for any other."""
        del self.glossaries[self.find(identifier, owner).identifier]
