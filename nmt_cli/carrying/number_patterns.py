"""Patterns of what is written in digits and carried over unchanged: numbers, dates, codes, amounts.

A number of one or two digits alone is not among them: languages write it as a word, so the network translates it. Only
what they look like; `span_patterns` puts all patterns together.
"""

from __future__ import annotations

import re

from nmt_cli.text.characters import DASHES, OPENING, OPENING_QUOTES, THIN_BLANKS
from nmt_cli.text.normalise import UNSPACED

LETTER = r"A-Za-z0-9_\u00c0-\u024f\u0370-\u052f"  # in scripts with spaces: characters that continue a word
WORD_LETTER = r"A-Za-z_\u00c0-\u024f\u0370-\u052f"  # the same without digits
UNSPACED_LETTERS = UNSPACED[1:-1]
MINUS = r"+±−-"

# Bounded, so that a line of nothing but digits and points takes no longer to search than any other.
NUMBER = (
    rf"(?:\d{{1,3}}(?:[ {THIN_BLANKS}'’]\d{{3}}){{1,6}}(?!\d)(?:[.,]\d{{1,20}})?|\d{{1,20}}+(?:[.,]\d{{1,20}}+){{0,6}})"
)
# Between two numbers, a dash with blanks on both sides or on none; in "€30 -5 °C" it is a sign.
# A sign before a number, as in ">5" and "is >= 5"; a lone ">" that begins a line quotes a mail.
COMPARISON = r"(?:(?<![\w<>=-])(?:[<>]=?|[≤≥≈≠])|(?<=\S )(?:[<>]=?|[≤≥≈≠]) )"
AMOUNT = rf"{COMPARISON}?[~≈{MINUS}]?{NUMBER}(?:(?:[-–]| [-–] ){NUMBER})?"
SIGNS = "$€£¥₹₽₩₪₫₴₺₦฿¢₿"
CURRENCIES = "EUR|USD|GBP|JPY|CHF|CNY|INR|RUB|BRL|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|TRY|ZAR|KRW|MXN|SGD|HKD|BTC"
# A single letter after a space may be a word of its own ("5 A students"), so only letters that are common units count.
UNITS = (
    "km/h|m/s|mph|kWh|MWh|kW|MW|GW|kV|mV|mA|mAh|kHz|MHz|GHz|Hz|kPa|hPa|bar|kcal|kJ|dB|[kMGT]i?[Bb](?:/s|it/s)?|[kMG]bps"
    "|[kcmµμn]m[²³23]?|m[²³]|ha|[kmµμ]g|[mcd]l|mL|lbs?|oz|ft|yd|min|[mµμn]s|px|pt|rpm|dpi|fps|ppm"
)
AMOUNTS = (
    # A price without cents: 5,- or 5,– €.
    rf"(?<![{LETTER}.,])\d{{1,9}}(?:\.\d{{3}}){{0,3}},[-{DASHES}]{{1,2}}(?: ?[{SIGNS}])?(?![\w-])",
    rf"(?<![{LETTER}])(?:US|AU|CA|HK|NZ|R)?[{SIGNS}] ?{AMOUNT}(?:(?:k|K|M|B|bn|m)(?![{LETTER}]))?",
    rf"(?<![{LETTER}])(?:{CURRENCIES})[ {THIN_BLANKS}]?{AMOUNT}",
    rf"(?<![{LETTER}]){AMOUNT}(?:[ {THIN_BLANKS}]?(?:[{SIGNS}]|[%‰](?![{LETTER}])|°(?:[CFK](?![{LETTER}]))?"
    rf"|(?:{CURRENCIES}|{UNITS}|[mglhVW])(?![{LETTER}]))|[AKJNT](?![{LETTER}])|[ {THIN_BLANKS}]s(?![{LETTER}'’]))",
)

BEFORE, AFTER = rf"(?<![{LETTER}])", rf"(?![{WORD_LETTER}])"
SIGN = rf"(?:(?<![\d.,)])[{MINUS}])?"
MIXED = r"[A-Za-z0-9]{0,40}"  # the rest of a part of a code
HEXADECIMAL = r"[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){0,6}"
TIME = r"\d{1,2}(?:[:.]\d{2})?"
# `am` before a German noun or its adjective is no half of the day: 3 am Tisch, 3 am letzten Tag; but 5 am Monday.
AM_OF_GERMAN = (
    r"(?:(?<= am)\s+(?:[A-ZÄÖÜ][a-zäöüß]+(?<!day)|(?!when|then|often|even|ten)[a-zäöüß]+en)\b"
    r"|(?<= AM)\s+[A-ZÄÖÜ]{4,}(?<!DAY)\b)"
)
HALF = rf"[ {THIN_BLANKS}]?(?:[ap]m|[AP]M|[ap]\.m|[AP]\.M)(?![{LETTER}])(?!{AM_OF_GERMAN})"
SIZE = r"\d{1,9}(?:[.,]\d{1,9})?"
CODES = (
    # Times of day, with the half of the day that they are in: 10:30 a.m., 5 PM; a full stop may end the sentence too.
    # Both ends of a range are in it: 5-6 p.m., 5 to 6 p.m.
    rf"{BEFORE}{TIME}(?= (?:to|and|or|until|till) {TIME}{HALF})",
    # A time alone, such as a cell of a table, is no sentence.
    rf"(?i:^(?:{TIME} ?[-–] ?)?{TIME}[ {THIN_BLANKS}]?[ap]\.m\.$)",
    rf"{BEFORE}(?:{TIME} ?[-–] ?)?{TIME}{HALF}"
    rf"(?:(?<=\.[mM])\.(?!\s*$|\s+[{OPENING_QUOTES}]?[A-ZÀ-Þ]))?",
    # Shortened addresses of machines (RFC 4291): fe80::1, ::1, fe80::/10.
    rf"(?<![\w:])(?:{HEXADECIMAL}::(?:{HEXADECIMAL})?|::{HEXADECIMAL})(?:/\d{{1,3}})?(?![\w:])",
    # Numbers of orders and colours, paragraphs, powers of ten: #123, #ff0000, § 5a, 1e-5.
    rf"(?<![\w&#])#(?:\d{{1,12}}|[0-9A-Fa-f]{{6}})(?![{LETTER}])",
    rf"(?:§§?|¶|№)[ {THIN_BLANKS}]?\d{{1,5}}[a-z]?(?![{LETTER}])",
    rf"{BEFORE}\d{{1,20}}+(?:[.,]\d{{1,20}}+)?[eE][{MINUS}]\d{{1,4}}(?![{LETTER}])",
    # Parts of an article of a law: 5(1)(a), 12b(iv).
    rf"{BEFORE}\d{{1,5}}[a-z]?(?:\((?:\d{{1,3}}|[a-z]|[ivx]{{2,5}})\)){{1,5}}(?!\w)",
    # Digits, then one small letter: 10k, 1080p, 12a, 2x; but 5e is an ordinal in French, and the 20s are a decade.
    rf"{BEFORE}\d{{1,12}}(?:[.,]\d{{1,9}})?(?![ap]\.m)[a-df-rt-z](?![{LETTER}'’])",
    # A number alone in brackets keeps them: [12], [3, 4], (34); but (030) 1234 is a telephone number. At the end of a
    # text, brackets are taken off as its frame.
    r"\[\d{1,4}(?: ?[-–,] ?\d{1,4}){0,5}\](?!\s*$)|(?<!\w)\(\d{1,4}\)(?![ -]?\d)(?!\w)",
    # Measures: 10 x 20 x 30 cm.
    rf"{BEFORE}{SIZE}(?: ?[x×] ?{SIZE}){{1,3}}(?: ?(?:[kcmµ]?m|px|in|ft))?(?![{LETTER}])",
    # A code in brackets is one with them: tools for translators write what they hide as `[X7X]`.
    rf"\[(?:[A-Za-z]{{1,12}}\d|\d{{1,12}}[A-Z]){MIXED}\]",
    # Numbers of books, accounts and articles, with what they are called.
    r"(?:ISBN|ISSN)(?:-1[03])?:?[ -]?\d(?:[ -]?\d){5,15}(?:[ -]?[Xx])?(?![\dA-Za-z])",
    rf"{BEFORE}[A-Z]{{2}}\d{{2}}(?: ?[A-Z0-9]{{4}}){{2,7}}(?: ?[A-Z0-9]{{1,3}})?(?![{LETTER}])",
    # Letters, then digits: A4-17, MP3, v1.2.3, COVID-19; digits, then capitals: 3D, 4K, 12A; mixed: 4x4, 3f2a.
    rf"{BEFORE}(?:[A-Za-z]{{1,12}}|[A-Z]{{1,12}}-)\d{MIXED}(?:[-./_]\d{MIXED}){{0,8}}(?![{LETTER}])",
    rf"{BEFORE}\d{{1,12}}(?!(?:AM|PM|ST|ND|RD|TH)(?![{LETTER}]))[A-Z][A-Z0-9]{{0,20}}(?:-[A-Z0-9]{{1,20}}){{0,4}}(?![{LETTER}])",
    rf"{BEFORE}\d{{1,12}}[A-Za-z]{{1,12}}\d{MIXED}(?:-{MIXED}){{0,6}}(?![{LETTER}])",
    # Addresses of machines in hexadecimal digits.
    r"(?<![\w:])(?:[0-9A-Fa-f]{1,4}::?){2,8}[0-9A-Fa-f]{1,4}(?![\w:])",
)
NUMBERS = (
    rf"{COMPARISON}[{MINUS}]?{NUMBER}{AFTER}",
    # Telephone numbers: with a country code, with a leading zero, or with an area code in brackets.
    rf"(?<![\w+])(?=\+?\(?\d(?:[^\d\n]{{0,3}}\d){{5}})"
    rf"(?:\+\d{{1,3}}(?: \(?\d{{1,4}}\)?)?|\(0\d{{1,5}}\)|0\d{{1,5}}|\(\d{{3}}\)(?= ?\d{{3}}-\d{{4}}))"
    rf"(?:(?:[ /.-]| ?[/-] ?)?\(?\d{{2,12}}\)?){{1,7}}{AFTER}",
    # Thousands apart: by thin blanks or apostrophes, or by blanks where nothing else is meant (60 000, 1 234 567).
    rf"{BEFORE}{SIGN}\d{{1,3}}(?:(?:[{THIN_BLANKS}'’]\d{{3}}){{1,6}}|(?: \d{{3}}){{2,6}}| 000)(?!\d)"
    rf"(?:[.,]\d{{1,20}})?{AFTER}",
    # Digits with marks between: dates, times, decimals, versions, fractions, ranges, addresses of machines.
    rf"{BEFORE}{SIGN}\d{{1,20}}+(?:[.,:/–-]\d{{1,20}}+){{1,12}}{AFTER}",
    # Three digits or more, a leading zero, or a sign.
    rf"{BEFORE}{SIGN}(?:\d{{3,40}}+|0\d{{1,40}}+){AFTER}",
    rf"(?<![^\s{re.escape(OPENING)}])[{MINUS}]\d{{1,2}}(?![\d{WORD_LETTER}])",
)
