"""Checks that mend a text: wrongly decoded characters, control characters, HTML."""

from __future__ import annotations

import html
import re

from nmt_cli.corpus.checks.check import TextCheck
from nmt_cli.text.characters import QUOTES
from nmt_cli.text.normalise import drop_invisible

# UTF-8 decoded as cp1252: a letter from "Â" to "ô", then one to three characters of the upper half. A single group
# counts only if correct text does not contain it: "ß“" and "à »" can be German and French.
UPPER_HALF = "\u0080-\u00bf" + bytes(range(0x80, 0xA0)).decode("cp1252", "ignore")
GROUP = f"(?:[Â-ß][{UPPER_HALF}]|[à-ï][{UPPER_HALF}]{{2}}|[ð-ô][{UPPER_HALF}]{{3}})"
ALONE = f"Ã[\u0080-\u00bf€‚ƒ„†‡ˆ‰Š‹ŒŽ‘“•–—˜™š›œžŸ]|Â[\u0080-\u00bf]|â€[{UPPER_HALF}]|ðŸ[{UPPER_HALF}]{{2}}"
MISREAD = re.compile(f"{GROUP}{{2,}}|{ALONE}")
CP1252 = {bytes([byte]).decode("cp1252", "replace"): byte for byte in range(0x80, 0x100)}

ENTITY = re.compile(r"&(?:[A-Za-z]{2,8}|#\d{1,7}|#[xX][0-9a-fA-F]{1,6});")
TAG = re.compile(
    r"</?(a|abbr|b|big|blockquote|br|center|cite|code|dd|div|dl|dt|em|font|h[1-6]|hr|i|img|li|ol|p|pre|q|s|small|span|"
    r"strike|strong|sub|sup|table|tbody|td|th|thead|tr|tt|u|ul)(?:\s[^<>]{0,500})?/?>",
    re.IGNORECASE,
)
MENTION_QUOTES = frozenset(QUOTES + "`")
EMPTY_TAGS = ("img", "hr", "br")
BREAKING_TAG = re.compile(r"</?(?:br|p|div|li|td|tr|h[1-6]|dd|dt|hr|th)\b", re.IGNORECASE)


class Mojibake(TextCheck):
    name = "mojibake"
    problem = "UTF-8 read as cp1252 (“fÃ¼r” for “für”)"

    def mend_text(self, text: str) -> str:
        return text if text.isascii() or not MISREAD.search(text) else MISREAD.sub(decode_misread, text)


def decode_misread(misread: re.Match[str]) -> str:
    """Returns wrongly decoded text as it should read; unchanged if its bytes are invalid UTF-8."""
    try:
        data = bytes(CP1252.get(character, ord(character)) for character in misread[0])
        return data.decode("utf-8")
    except ValueError:  # UnicodeDecodeError is one, too
        return misread[0]


class Markup(TextCheck):
    name = "markup"
    problem = "HTML entities or tags"

    def mend_text(self, text: str) -> str:
        if "&" in text:
            text = ENTITY.sub(decode_entity, text)
        if "<" in text:
            text = TAG.sub(drop_tag, text)
        return text


def is_quoted(match: re.Match[str]) -> bool:
    """Whether a text speaks of a piece of markup, which stands by itself between marks of quotation."""
    before, after = match.string[: match.start()][-1:], match.string[match.end() :][:1]
    return before in MENTION_QUOTES and after in MENTION_QUOTES and bool(before and after)


def decode_entity(match: re.Match[str]) -> str:
    """Returns what an entity spells; itself if the text speaks of it: in quotes, or beside the letter it spells."""
    spelled = html.unescape(match[0])
    is_explained = spelled.isalpha() and spelled in match.string
    return match[0] if is_explained or is_quoted(match) else spelled


def drop_tag(match: re.Match[str]) -> str:
    """Returns what a tag stands for; itself if the text speaks of it: in quotes, or among words without its partner."""
    around = match.string[: match.start()][-1:] + match.string[match.end() :][:1]
    name = match[1].lower()
    has_partner = len(set(re.findall(rf"<(/?){name}\b", match.string.lower()))) == 2
    is_alone = len(around) == 2 and not any(map(str.isalnum, around)) and not has_partner
    if is_quoted(match) or (is_alone and name not in EMPTY_TAGS and not BREAKING_TAG.match(match[0])):
        return match[0]
    return " " if BREAKING_TAG.match(match[0]) else ""


class Control(TextCheck):
    name = "control"
    problem = "control or invisible characters"

    def mend_text(self, text: str) -> str:
        return drop_invisible(text)
