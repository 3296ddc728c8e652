"""Languages by their codes and names: ISO 639-1, 639-2 and 639-3 codes, regional varieties, and names in headers.

Two codes are one language if langcodes completes them to the same language and script: "en-GB" and "eng" are, "zh-CN"
and "zh-TW" are not.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

CODE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z]{2,4}|[-_]\d{3})*")
# Names of languages as headers of tables have them, each in English and in the language itself.
NAMES = {
    name: code
    for code, names in {
        "af": "afrikaans",
        "am": "amharic",
        "ar": "arabic العربية",
        "az": "azerbaijani",
        "be": "belarusian",
        "bg": "bulgarian български",
        "bn": "bengali bangla বাংলা",
        "ca": "catalan català",
        "cs": "czech čeština česky",
        "cy": "welsh cymraeg",
        "da": "danish dansk",
        "de": "german deutsch",
        "el": "greek ελληνικά",
        "en": "english",
        "eo": "esperanto",
        "es": "spanish español castellano",
        "et": "estonian eesti",
        "eu": "basque euskara",
        "fa": "persian farsi فارسی",
        "fi": "finnish suomi",
        "fr": "french français francais",
        "ga": "irish gaeilge",
        "gl": "galician galego",
        "gu": "gujarati",
        "ha": "hausa",
        "he": "hebrew עברית",
        "hi": "hindi हिन्दी",
        "hr": "croatian hrvatski",
        "hu": "hungarian magyar",
        "hy": "armenian հայերեն",
        "id": "indonesian",
        "ig": "igbo",
        "is": "icelandic íslenska",
        "it": "italian italiano",
        "ja": "japanese 日本語",
        "ka": "georgian ქართული",
        "kk": "kazakh",
        "km": "khmer",
        "ko": "korean 한국어",
        "la": "latin",
        "lt": "lithuanian lietuvių",
        "lv": "latvian latviešu",
        "mk": "macedonian македонски",
        "mn": "mongolian",
        "mr": "marathi",
        "ms": "malay",
        "mt": "maltese malti",
        "my": "burmese",
        "nb": "norwegian norsk bokmål",
        "ne": "nepali",
        "nl": "dutch nederlands",
        "pa": "punjabi",
        "pl": "polish polski",
        "pt": "portuguese português portugues",
        "ro": "romanian română",
        "ru": "russian русский",
        "sk": "slovak slovenčina",
        "sl": "slovenian slovenščina",
        "sq": "albanian shqip",
        "sr": "serbian српски",
        "sv": "swedish svenska",
        "sw": "swahili kiswahili",
        "ta": "tamil",
        "te": "telugu",
        "th": "thai ไทย",
        "tl": "tagalog filipino",
        "tr": "turkish türkçe",
        "uk": "ukrainian українська",
        "ur": "urdu",
        "uz": "uzbek",
        "vi": "vietnamese",
        "yo": "yoruba",
        "zh": "chinese mandarin 中文 汉语",
        "zu": "zulu",
    }.items()
    for name in names.split()
}


@cache
def find_language_key(code: str) -> str:
    """Returns what is equal for the codes of one language in one script; the code itself if it is no language's."""
    import langcodes  # takes long to import, and most files have no codes

    bare = code.strip().replace("_", "-")
    try:
        tag = langcodes.Language.get(bare)
        full = tag.maximize()
    except (ValueError, LookupError, AttributeError):
        return bare.lower()
    return f"{full.language}-{full.script}" if full.language else bare.lower()


@lru_cache(4096)
def name_language(code: str) -> str:
    """Returns the English name of a language, as in "German"; the code itself if NAMES does not have it."""
    short = find_language_key(code).split("-")[0]
    return next((name.title() for name, known_code in NAMES.items() if known_code == short), code)


def is_same_language(code: str, other: str) -> bool:
    """Whether two codes are one language in one script, whatever their regions: "en-US", "en_GB" and "eng"."""
    return code == other or find_language_key(code) == find_language_key(other)


@lru_cache(4096)  # a translation memory asks for each of its texts
def is_same_variety(code: str, requested: str) -> bool:
    """Whether a code is the requested one, or a variety of it where no region is requested: "en-US" for "en"."""
    if normalise_code(code) == normalise_code(requested):
        return True
    return not has_region(requested) and is_same_language(code, requested)


def normalise_code(code: str) -> str:
    return code.strip().lower().replace("_", "-")


def has_region(code: str) -> bool:
    return re.search(r"[-_](?:[A-Za-z]{2}|\d{3})$", code.strip()) is not None


@cache
def is_language_code(text: str) -> bool:
    """Whether a text is the code of a language that exists: "de", "deu", "pt-BR"; a longer name is none."""
    if not CODE.fullmatch(text):
        return False
    import langcodes

    return bool(langcodes.tag_is_valid(text.replace("_", "-")))


@cache
def is_common_code(code: str) -> bool:
    """Whether a code is, or stands for, a language with a code of two letters: "de" and "deu" for German."""
    import langcodes

    return is_language_code(code) and len(langcodes.Language.get(code.replace("_", "-")).language or "xxx") == 2


def find_named_language(heading: str) -> str | None:
    """Returns the code of the language that a heading names, by its name or its code; None if it names none."""
    words = [word for word in re.split(r"[^\w-]+|_", heading.strip()) if word]
    by_word = [NAMES[word.lower()] for word in words if word.lower() in NAMES]
    if not by_word and is_language_code(heading.strip()):
        return heading.strip()
    codes = [word for word in words if len(word) in (2, 3) and word.lower() not in NOT_CODES and is_language_code(word)]
    choices = by_word or (codes if len(words) > 1 else [])
    return choices[0] if len(choices) == 1 else None


NOT_CODES = frozenset("id src trg tgt ref hyp mt the no nr in out sl tl".split())  # common words of headings
