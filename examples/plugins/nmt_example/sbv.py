"""A kind of documents: YouTube captions (SBV), of which each cue is a line of two times and lines of text."""

from __future__ import annotations

import re

from nmt_cli.documents.cues import CueDocument
from nmt_cli.documents.marks import TextSyntax
from nmt_cli.formats import FileFormat

TIME = r"\d+:\d\d:\d\d\.\d{3}"


class SbvDocument(CueDocument):
    """Captions; times and line ends are kept, a sentence of two cues is translated as a whole."""

    format = FileFormat("sbv", "YouTube captions (SBV)", (".sbv",), ("translate",))
    cue = re.compile(rf"^{TIME},{TIME}\r?\n(?P<text>(?:[^\r\n]+(?:\r?\n)?)*)", re.MULTILINE)
    syntax = TextSyntax(re.compile(r"[ \t\r\n]+"), lambda _: " ", str)
