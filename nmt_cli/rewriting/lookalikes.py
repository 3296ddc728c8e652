"""Characters that look or mean the same: variants of marks, letters of other scripts, invisible characters.

Lists only possible replacements; `characters` chooses among them by the training text.
"""

from __future__ import annotations

import unicodedata

# Marks of one meaning; within a line the nearest come first, and what follows a blank is farther away.
MARK_LOOKALIKES = (
    "-‐‑‒−﹣－⁃˗ –—―⸺⸻﹘",
    "–—―⸺⸻﹘ -‐‑‒−",
    ".．｡。﹒․ ।۔።॥",
    ",，、､﹐،٫፣‚",
    "?？؟﹖⁇՞፧",
    "!！﹗ǃ՜",
    ":：︰∶﹕꞉፡",
    ";；؛﹔፤",
    "•·‧∙●◦▪▫■□‣⁌⁍○・･ *-",
    "~～〜∼˜",
    "*＊∗⁎٭",
    "/／⁄∕",
    "(（﹙❨ [｛{",
    ")）﹚❩ ]｝}",
    "[［【〔〖〘 (（",
    "]］】〕〗〙 )）",
    "<＜﹤〈⟨",
    ">＞﹥〉⟩",
    "%％٪﹪",
    "&＆﹠",
    "+＋﹢",
    "=＝﹦",
    "#＃﹟♯",
    "@＠﹫",
    "$＄﹩",
    "|｜∣ǀ¦",
    "_＿",
    "^＾ˆ",
    "\\＼﹨∖",
    "×✕✖⨯xX*",
    "'’ʼ′＇‛`´ʹ‘",  # the apostrophe; as quotes they are pairs, see below
)
DOUBLE_PAIRS = (
    *(('"', '"'), ("“", "”"), ("„", "“"), ("„", "”"), ("”", "”"), ("«", "»"), ("»", "«"), ("»", "»")),
    *(("「", "」"), ("『", "』"), ("〝", "〟"), ("＂", "＂"), ("″", "″"), ("❝", "❞"), ("〞", "〞"), ("‟", "”")),
)
SINGLE_PAIRS = (
    *(("'", "'"), ("‘", "’"), ("‚", "‘"), ("‚", "’"), ("’", "’"), ("‹", "›"), ("›", "‹"), ("`", "'"), ("`", "`")),
    *(("´", "´"), ("‛", "’"), ("❛", "❜"), ("＇", "＇"), ("′", "′")),
)
OPENERS = frozenset(opening for opening, closing in (*DOUBLE_PAIRS, *SINGLE_PAIRS) if opening != closing)
LONG_DASHES = "—―⸺⸻"  # which part clauses without blanks, where a hyphen would join two words
# Letters that Unicode does not decompose, each before what is written where it is missing.
BROKEN_PAIRS = (
    "ß ss ẞ SS æ ae Æ AE œ oe Œ OE ø o Ø O ł l Ł L đ d Đ D ð d Ð D þ th Þ Th ħ h Ħ H ŧ t Ŧ T ı i ŋ ng ə e Ə E ƒ f ɡ g "
    "ي ی ی ي ك ک ک ك"
).split()
BROKEN_LETTERS = dict(zip(BROKEN_PAIRS[::2], BROKEN_PAIRS[1::2], strict=True))
CYRILLIC, LATIN_FOR_CYRILLIC = "АВЕЅІЈКМНОРСТУХаеѕіјорсухԁһԛԝ", "ABESIJKMHOPCTYXaesijopcyxdhqw"
GREEK, LATIN_FOR_GREEK = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧοαικνρυ", "ABEZHIKMNOPTYXoaikvpu"

# Scripts in whose words joiners and non-joiners decide about shapes or meanings: Arabic, Syriac, those of South Asia,
# Tibetan, Myanmar, Khmer, Mongolian.
JOINING_SCRIPTS = (
    *((0x0600, 0x08FF), (0x0900, 0x0DFF), (0x0F00, 0x109F), (0x1780, 0x18AF), (0xA840, 0xA8FF), (0xFB50, 0xFDFF)),
    *((0xFE70, 0xFEFE), (0x10A60, 0x10AFF), (0x11000, 0x11FFF), (0x1E900, 0x1E95F)),
)
SHAPERS = "\u200c\u200d\u180b\u180c\u180d\u180e\u180f"  # joiners, and what chooses a shape in Mongolian
FILLERS = "\u034f\u115f\u1160\u3164\uffa0\ufffc\u17b4\u17b5"  # no letters, though Unicode files some of them there


def find_same_marks(character: str) -> list[str]:
    """Returns groups of characters with the same meaning as a mark, nearest first."""
    lines = [line for line in MARK_LOOKALIKES if character in line.split(" ")[0]]
    lines += [line for line in MARK_LOOKALIKES if character in line and line not in lines]
    return [group for line in lines for group in line.split(" ")]


def pair_same_letters() -> dict[str, str]:
    """Returns, for letters, those of other scripts that look identical."""
    same: dict[str, str] = {}
    for letter, latin in zip(CYRILLIC + GREEK, LATIN_FOR_CYRILLIC + LATIN_FOR_GREEK, strict=True):
        same[letter], same[latin] = latin, same.get(latin, "") + letter
    return same


SAME_LETTERS = pair_same_letters()


def is_invisible(character: str) -> bool:
    """Whether a character has no shape and is no blank: direction marks, joiners, variation selectors, fillers."""
    code = ord(character)
    if code < 0x34F:
        return False
    if character in FILLERS or 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF or 0x180B <= code <= 0x180F:
        return True
    # Some signs of Arabic and its neighbours are format characters, though they are drawn.
    return (
        unicodedata.category(character) == "Cf"
        and (code >= 0x2000 or code == 0x061C)
        and code not in (0x110BD, 0x110CD)
    )


def is_joining(character: str) -> bool:
    """Whether a character is a letter or mark of a script that needs joiners."""
    return unicodedata.category(character)[0] in "LM" and any(
        first <= ord(character) <= last for first, last in JOINING_SCRIPTS
    )


def name_character(character: str) -> str:
    """Returns a character as messages show it: an invisible one by code and name."""
    if character.isprintable() and not unicodedata.combining(character) and not is_invisible(character):
        return character
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()
