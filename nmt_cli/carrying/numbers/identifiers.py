"""Digits with letters, signs or brackets: `A4-17`, `v1.2.3`, `#123`, `[3]`."""

from __future__ import annotations

from nmt_cli.carrying.numbers.notation import NumericKind
from nmt_cli.carrying.numbers.patterns import BEFORE, LETTER, MINUS
from nmt_cli.carrying.spans import SpanKind
from nmt_cli.text.characters import THIN_BLANKS

MIXED = r"[A-Za-z0-9]{0,40}"  # the rest of a part of a code
HEXADECIMAL = r"[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){0,6}"
LENGTH = r"\d{1,9}(?:[.,]\d{1,9})?"
IDENTIFIERS = NumericKind(
    SpanKind.IDENTIFIER,
    patterns=(
        # Shortened addresses of machines (RFC 4291): fe80::1, ::1, fe80::/10.
        rf"(?<![\w:])(?:{HEXADECIMAL}::(?:{HEXADECIMAL})?|::{HEXADECIMAL})(?:/\d{{1,3}})?(?!:?\w|::)",
        # Numbers of orders and colours, paragraphs, powers of ten: #123, #ff0000, § 5a, 1e-5.
        rf"(?<![\w&#])#(?:\d{{1,12}}(?:-\d{{1,12}}){{0,4}}|[0-9A-Fa-f]{{6}})(?![{LETTER}])",
        rf"(?:§§?|¶|№)[ {THIN_BLANKS}]?\d{{1,5}}[a-z]?(?![{LETTER}])",
        rf"{BEFORE}\d{{1,20}}+(?:[.,]\d{{1,20}}+)?[eE][{MINUS}]\d{{1,4}}(?![{LETTER}])",
        # Parts of an article of a law: 5(1)(a), 12b(iv).
        rf"{BEFORE}\d{{1,5}}[a-z]?(?:\((?:\d{{1,3}}|[a-z]|[ivx]{{2,5}})\)){{1,5}}(?!\w)",
        # Digits, then one small letter: 10k, 1080p, 12a, 2x; but 5e is an ordinal in French, and the 20s are a decade.
        rf"{BEFORE}\d{{1,12}}(?:[.,]\d{{1,9}})?(?![ap]\.m)[a-df-rt-z](?![{LETTER}'’])",
        # A number alone in brackets keeps them: [12], [3, 4], (34); but (030) 1234 is a telephone number. At the end of
        # a text, brackets are taken off as its frame.
        r"\[\d{1,4}(?: ?[-–,] ?\d{1,4}){0,5}\](?!\s*$)|(?<!\w)\(\d{1,4}\)(?![ -]?\d)(?!\w)",
        # Measures: 10 x 20 x 30 cm.
        rf"{BEFORE}{LENGTH}(?: ?[x×] ?{LENGTH}){{1,3}}(?: ?(?:[kcmµ]?m|px|in|ft|[mcd]?l|[kmµ]?g))?(?![{LETTER}])",
        # A code in brackets is one with them: tools for translators write what they hide as `[X7X]`.
        rf"\[(?:[A-Za-z]{{1,12}}\d|\d{{1,12}}[A-Z]){MIXED}\]",
        # Numbers of books, accounts and articles, with what they are called.
        r"(?:ISBN|ISSN)(?:-1[03])?:?[ -]?\d(?:[ -]?\d){5,15}(?:[ -]?[Xx])?(?![\dA-Za-z])",
        rf"{BEFORE}[A-Z]{{2}}\d{{2}}(?: ?[A-Z0-9]{{4}}){{2,7}}(?: ?[A-Z0-9]{{1,3}})?(?![{LETTER}])",
        # Versions before they are final: v1.2.3-beta, 1.0.0-rc.1
        rf"{BEFORE}v?\d{{1,5}}(?:\.\d{{1,5}}){{2}}-[a-z]{{1,12}}(?:\.?\d{{1,5}})?(?![{LETTER}])",
        # Letters, then digits: A4-17, MP3, v1.2.3, COVID-19; digits, then capitals: 3D, 4K, 12A; mixed: 4x4, 3f2a.
        rf"{BEFORE}(?:[A-Za-z]{{1,12}}|[A-Z]{{1,12}}-)\d{MIXED}(?:[-./_]\d{MIXED}|[-_][A-Z]{{1,20}}){{0,8}}(?![{LETTER}])",
        rf"{BEFORE}\d{{1,12}}(?!(?:AM|PM|ST|ND|RD|TH)(?![{LETTER}]))[A-Z][A-Z0-9]{{0,20}}(?:-[A-Z0-9]{{1,20}}){{0,4}}(?![{LETTER}])",
        rf"{BEFORE}\d{{1,12}}[A-Za-z]{{1,12}}\d{MIXED}(?:-{MIXED}){{0,6}}(?![{LETTER}])",
        # Addresses of machines in hexadecimal digits.
        r"(?<![\w:])(?:[0-9A-Fa-f]{1,4}::?){2,8}[0-9A-Fa-f]{1,4}(?![\w:])",
    ),
    signs=r"\d:",
)
