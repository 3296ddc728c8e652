"""The marks of USFM, the markup of Bible translations, by what they do. Knows neither corpora nor documents."""

from __future__ import annotations

import re

MARKER = re.compile(r"(\\\+?[A-Za-z][\w-]*\*?|\\\*)")
OPTIONAL_BREAK = r"(?<!:)//"  # of a line; `://` is in an address
USFM_NOTES = frozenset("f fe ef x ex fig rq va vp ca rb".split())  # which hold what is not the text of a verse
# Marks of paragraphs in which verses go on; those of headings and introductions are all others that are no characters'.
PARAGRAPH_MARK = re.compile(
    r"(?:p|m|po|pr|cls|pmo|pm|pmc|pmr|pi\d?|mi|nb|pc|ph\d?|q\d?|qr|qc|qm\d?|lh|li\d?|lf|lim\d?|tr|t[chr]+[\d-]*|b|pb)"
)
CELL_MARK = re.compile(r"tr|t[chr]+[\d-]*")  # of a row of a table, and of its cells, each a text by itself
CHARACTER_MARK = re.compile(
    r"(?:add|addpn|bk|dc|k|nd|ord|pn|png|qt|sig|sls|tl|w|w[ghaj]|em|bd|it|bdit|no|sc|sup|jmp|pro|rb|qs|qac|lik|liv\d?|"
    r"litl|ior|iqt|ndx|efm|fm)"
)
MILESTONE = re.compile(r"(?:[\w-]+-[se]|ts)")
BOOK = re.compile(r"\s*([A-Z0-9]{3})\b")
VERSE_NUMBER = re.compile(r"\s*(\d+)[a-z]?(?:\s*[-\u2013,]\s*(\d+)[a-z]?)?[ \t\r\n~]*")
