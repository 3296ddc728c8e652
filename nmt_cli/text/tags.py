"""Tags and context, which a network reads before the source: a language, a domain, a register, the previous line.

`parse_tag_list("to:deu ui")` returns the tags `>deu` and `ui`, whose pieces `⟦>deu⟧⟦ui⟧` no text can spell. The
previous sentence and its translation form a `SentenceContext`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from nmt_cli.errors import OptionError
from nmt_cli.text.normalise import is_solid
from nmt_cli.text.wrapping import format_count

FORMAL, INFORMAL = "formal", "informal"
NAME_OF_TAG = r"[^\W\d_][\w-]{0,30}"
TAG_FORM = re.compile(rf">({NAME_OF_TAG})|({NAME_OF_TAG})>|(?:(to|from|domain):)?({NAME_OF_TAG})")
TAG_EXAMPLES = "write ui for a domain, formal or informal, to:deu or from:deu for a language"
# Codes of languages that few people speak, which are rather meant as domains.
ALSO_DOMAINS = frozenset(
    """
    law med bio mul web app doc gov edu fin tax ted pat sms faq sci tec art bus mil his lit mus net soc hum rel rec geo
    eco log lab lex mag map new ads bot dev old raw cli gui api bug tip job dir com org pop kid mix syn ext
    label even male news paper page menu
    """.split()
)
MOST_CANDIDATES = 6  # languages of one name that an error shows


class TagPurpose(StrEnum):
    """The purpose of a tag; tags are read in this order."""

    TARGET = "target language"
    SOURCE = "source language"
    DOMAIN = "domain"
    REGISTER = "register"


PURPOSES = tuple(TagPurpose)


class Tag(NamedTuple):
    """A tag; as a string it is written `>nld`, `nld>`, `ui` or `formal`."""

    kind: TagPurpose
    value: str

    def __str__(self) -> str:
        before, after = self.kind is TagPurpose.TARGET, self.kind is TagPurpose.SOURCE
        return f"{'>' * before}{self.value}{'>' * after}"

    @property
    def piece(self) -> str:
        """The piece of this tag in a vocabulary."""
        return f"⟦{self}⟧"

    @property
    def reversed(self) -> Tag | None:
        """The tag of the same pair in the other direction; None for a register, which the new source itself shows."""
        if self.kind is TagPurpose.REGISTER:
            return None
        return self._replace(kind=OTHER_SIDE.get(self.kind, self.kind))


OTHER_SIDE = {TagPurpose.TARGET: TagPurpose.SOURCE, TagPurpose.SOURCE: TagPurpose.TARGET}
TagSet = tuple[Tag, ...]  # at most one of each kind, in order of kind


def parse_tag_name(text: str) -> Tag:
    """Parses `>nld` or `to:nld`, `nld>` or `from:nld`, `ui`, `formal`. Raises OptionError for anything else."""
    match = TAG_FORM.fullmatch(text.strip().removeprefix("⟦").removesuffix("⟧"))
    if match is None:
        raise OptionError(f"{text!r} is not a tag", hint=TAG_EXAMPLES)
    target, source, prefix, name = match.groups()
    if target or prefix == "to":
        return Tag(TagPurpose.TARGET, target or name)
    if source or prefix == "from":
        return Tag(TagPurpose.SOURCE, source or name)
    if prefix == "domain":
        return Tag(TagPurpose.DOMAIN, name.lower())
    return Tag(TagPurpose.REGISTER if name.lower() in (FORMAL, INFORMAL) else TagPurpose.DOMAIN, name.lower())


def parse_typed_tag(text: str) -> Tag:
    """Parses a tag typed next to a file, where the code or the name of a language is enough.

    A word that is a code but more likely means a domain is read as a domain: `law`, also the code of Lauje.
    """
    tag = parse_tag_name(text)
    if tag.kind in (TagPurpose.TARGET, TagPurpose.SOURCE):
        return tag._replace(value=resolve_language(tag.value))
    is_bare = tag.kind is TagPurpose.DOMAIN and ":" not in text
    return Tag(TagPurpose.TARGET, resolve_language(text.strip())) if is_bare and means_language(text.strip()) else tag


def means_language(word: str) -> bool:
    """Whether a bare word means a language: a code that is not a common domain, or a name of several letters."""
    from nmt_cli.languages.codes import is_common_code, is_full_name, is_language_code  # langcodes, which few need

    if is_common_code(word):
        return True
    is_known = (len(word) == 3 and is_language_code(word)) or is_full_name(word)
    return is_known and word.lower() not in ALSO_DOMAINS


@lru_cache(4096)
def resolve_language(text: str) -> str:
    """Returns the code of a language given by code or name, in any case and with or without accents.

    `resolve_language("Rarámuri")` is `"tar"`. A code stays as typed, and so does a name that is in no list: people have
    languages of their own. Raises OptionError, naming the candidates, for a name that several languages share.
    """
    from nmt_cli.languages.codes import CODE, find_codes, find_language, is_language_code

    name = text.strip()
    is_code = CODE.fullmatch(name) and (len(name) <= 3 or is_language_code(name))
    codes = () if is_code else find_codes(name)
    if len(codes) > 1:
        shown = ", ".join(f"{code} ({find_language(code).name})" for code in codes[:MOST_CANDIDATES])
        more = f", and {len(codes) - MOST_CANDIDATES} more" if len(codes) > MOST_CANDIDATES else ""
        count = format_count(len(codes), "language")
        raise OptionError(f"{name} may be one of {count}", hint=f"give its code: {shown}{more}")
    return codes[0] if codes else name


@lru_cache(4096)
def parse_tag_list(text: str) -> TagSet:
    """Parses tags separated by spaces, commas or semicolons."""
    return merge_tags(map(parse_typed_tag, re.split(r"[\s,;]+", text.strip()))) if text.strip() else ()


def parse_stored_tags(text: str) -> TagSet:
    """Parses tags as `str` writes them, separated by spaces: `law` is a domain, `>law` a language."""
    return merge_tags(map(parse_tag_name, text.split()))


def merge_tags(*groups: Iterable[Tag]) -> TagSet:
    """Returns the tags of all groups, the last of each kind. Raises OptionError for two of a kind in one group."""
    by_kind: dict[TagPurpose, Tag] = {}
    for group in groups:
        tags = list(group)
        of_group = {tag.kind: tag for tag in tags}
        for tag in tags:
            if of_group[tag.kind] != tag:
                raise OptionError(f"{tag} and {of_group[tag.kind]} are both a {tag.kind}", hint="give only one of them")
        by_kind |= of_group
    return tuple(by_kind[kind] for kind in PURPOSES if kind in by_kind)


def reverse_tags(tags: Iterable[Tag]) -> TagSet:
    """Returns the tags of the same pair in the other direction."""
    return merge_tags(other for tag in tags if (other := tag.reversed) is not None)


def find_tag_value(tags: Iterable[Tag], kind: TagPurpose) -> str | None:
    """Returns the value of the tag of this kind, if there is one: the code of a language, a domain, a register."""
    return next((tag.value for tag in tags if tag.kind is kind), None)


def replace_languages(languages: tuple[str, str], tags: Iterable[Tag]) -> tuple[str, str]:
    """Returns the codes of source and target, replaced by any that the tags name."""
    tags = tuple(tags)
    source, target = (find_tag_value(tags, kind) for kind in (TagPurpose.SOURCE, TagPurpose.TARGET))
    return source or languages[0], target or languages[1]


LONGEST_CONTEXT = 50  # words of a sentence, on either side, that is read as context


class SentenceContext(NamedTuple):
    """The previous sentence as a network reads it, and the ids of its translation, which end with the separator."""

    source: str
    target: tuple[int, ...]


def join_sentences(first: str, second: str) -> str:
    """Returns two sentences as one line."""
    needs_blank = first and second and not (is_solid(first[-1]) and is_solid(second[0]))
    return first + (" " if needs_blank else "") + second
