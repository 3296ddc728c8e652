"""Tags and context: what a network reads in front of a source: a language, a domain, a register, the line before."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from nmt_cli.errors import OptionError
from nmt_cli.text.normalise import is_solid

# Tags: what a network reads in front of a source, and learns to obey: a language, a domain or a register.
#
# Each is one piece of the vocabulary, which no text can spell. Knows no vocabulary and no corpus.


FORMAL, INFORMAL = "formal", "informal"
NAME_OF_TAG = r"[^\W\d_][\w-]{0,30}"
TAG_FORM = re.compile(rf">({NAME_OF_TAG})|({NAME_OF_TAG})>|(?:(to|from):)?({NAME_OF_TAG})")
TAG_EXAMPLES = "write ui for a domain, formal or informal, to:deu or from:deu for a language"


class TagPurpose(StrEnum):
    """What a tag decides, in the order in which tags are read."""

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
        """Its piece in a vocabulary."""
        return f"⟦{self}⟧"

    @property
    def reversed(self) -> Tag | None:
        """The tag of the same pair in the other direction; None for a register, which its source then shows."""
        if self.kind is TagPurpose.REGISTER:
            return None
        return self._replace(kind=OTHER_SIDE.get(self.kind, self.kind))


OTHER_SIDE = {TagPurpose.TARGET: TagPurpose.SOURCE, TagPurpose.SOURCE: TagPurpose.TARGET}
TagSet = tuple[Tag, ...]  # at most one of each kind, in order of kind


def parse_tag_name(text: str) -> Tag:
    """Parses `>nld` or `to:nld`, `nld>` or `from:nld`, `ui`, `formal`. Raises OptionError for anything else."""
    match = TAG_FORM.fullmatch(text.strip().removeprefix("⟦").removesuffix("⟧"))
    if match is None:
        raise OptionError(f"{text!r} is no tag", hint=TAG_EXAMPLES)
    target, source, prefix, name = match.groups()
    if target or prefix == "to":
        return Tag(TagPurpose.TARGET, target or name)
    if source or prefix == "from":
        return Tag(TagPurpose.SOURCE, source or name)
    return Tag(TagPurpose.REGISTER if name.lower() in (FORMAL, INFORMAL) else TagPurpose.DOMAIN, name.lower())


def parse_typed_tag(text: str) -> Tag:
    """Parses a tag as it is typed beside a file, where the two-letter or three-letter code of a language is enough."""
    from nmt_cli.languages.codes import is_common_code  # langcodes, which few inputs need

    tag = parse_tag_name(text)
    is_language = tag.kind is TagPurpose.DOMAIN and is_common_code(text)
    return Tag(TagPurpose.TARGET, text) if is_language else tag


@lru_cache(4096)
def parse_tag_list(text: str) -> TagSet:
    """Parses tags separated by blanks, commas or semicolons."""
    return merge_tags(map(parse_typed_tag, re.split(r"[\s,;]+", text.strip()))) if text.strip() else ()


def merge_tags(*groups: Iterable[Tag]) -> TagSet:
    """Returns the tags of all groups; of one kind, the last group decides. Raises OptionError for two in one group."""
    by_kind: dict[TagPurpose, Tag] = {}
    for group in groups:
        tags = list(group)
        of_group = {tag.kind: tag for tag in tags}
        for tag in tags:
            if of_group[tag.kind] != tag:
                raise OptionError(f"{tag} and {of_group[tag.kind]} are both a {tag.kind}", hint="give one of them")
        by_kind |= of_group
    return tuple(by_kind[kind] for kind in PURPOSES if kind in by_kind)


def reverse_tags(tags: Iterable[Tag]) -> TagSet:
    """Returns the tags of the same pair in the other direction."""
    return merge_tags(other for tag in tags if (other := tag.reversed) is not None)


def find_tag_value(tags: Iterable[Tag], kind: TagPurpose) -> str | None:
    """Returns what the tag of this kind says, if there is one: the code of a language, a domain, a register."""
    return next((tag.value for tag in tags if tag.kind is kind), None)


def replace_languages(languages: tuple[str, str], tags: Iterable[Tag]) -> tuple[str, str]:
    """Returns the codes of source and target, in place of which tags may name others."""
    tags = tuple(tags)
    source, target = (find_tag_value(tags, kind) for kind in (TagPurpose.SOURCE, TagPurpose.TARGET))
    return source or languages[0], target or languages[1]


# Context: the sentence before, which a network may read in front of a sentence, with its translation.
#
# Knows no vocabulary, no corpus and no documents.


LONGEST_CONTEXT = 50  # words of a sentence, on either side, that is read as context


class SentenceContext(NamedTuple):
    """The sentence before as a network reads it, and the ids of its translation, which end with the separator."""

    source: str
    target: tuple[int, ...]


def join_sentences(first: str, second: str) -> str:
    """Returns two sentences as one line."""
    needs_blank = first and second and not (is_solid(first[-1]) and is_solid(second[0]))
    return first + (" " if needs_blank else "") + second
