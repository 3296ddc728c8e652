"""Gettext catalogues, parsed by polib: `msgid` is translated into `msgstr`; nothing else changes.

Existing translations are kept unless `retranslate` is set. The header, comments, contexts and obsolete entries are
always kept. The first plural form is translated from `msgid`, the others from `msgid_plural`. A message that a person
must review is marked fuzzy, so that gettext ignores it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import TYPE_CHECKING, Any

from nmt_cli.carrying.kinds import find_spans
from nmt_cli.carrying.syntax import ANY_PLACEHOLDER, CHOICE, has_same_placeholders, move_to_word
from nmt_cli.documents.document import Content, Document, TranslationUnit, import_library, make_verbatim_unit
from nmt_cli.languages.codes import find_code, find_language_tag
from nmt_cli.text.words import has_letters
from nmt_cli.translation.result import drop_doubt_mark, name_sides
from nmt_cli.translation.segmentation.segments import find_sentence_starts, wants_blank

if TYPE_CHECKING:
    from nmt_cli.translation.result import FailedCheck, Translation


# Fills in the header of a catalogue that was made from a template, as gettext's `msginit` does.


# The entry of the header: its comments and flags, and its lines.
HEADER_ENTRY = re.compile(r'(?:[ \t]*(?:#[^\n]*)?\n)*msgid ""\nmsgstr ""\n(?:"[^\n]*"\n)+')
EMPTY_PLURALS = "nplurals=INTEGER; plural=EXPRESSION;"


def complete_header(text: str, language: str) -> str:
    """Returns a catalogue with the language, the encoding and the plural forms where its header has none.

    A header that a person has filled in, and the forms of a language without known ones, stay as they are.
    """
    header, tag = HEADER_ENTRY.match(text), find_language_tag(language)
    if header is None or not tag or "charset=CHARSET" not in header[0]:
        return text
    filled = header[0].replace("charset=CHARSET", "charset=UTF-8").replace("#, fuzzy\n", "")
    filled = re.sub(r'"Language: *\\n"', lambda _: f'"Language: {tag.replace("-", "_")}\\n"', filled)
    filled = filled.replace(EMPTY_PLURALS, load_plural_forms().get(find_code(language), EMPTY_PLURALS))
    return filled + text[header.end() :]


@cache
def load_plural_forms() -> dict[str, str]:
    """Returns the `Plural-Forms` of languages by their codes."""
    lines = (files("nmt_cli.languages") / "data" / "plural-forms.tsv").read_text(encoding="utf-8").splitlines()[1:]
    rows = (line.split("\t") for line in lines)
    return {code: forms for codes, forms in rows for code in codes.split()}


PO_MEBIBYTES = 48  # of which the parser makes about 1 GiB in memory
KEPT_FUZZY = "fuzzy translations that were kept (--retranslate replaces them)"
LOST_PLACEHOLDER = "marked fuzzy, because a placeholder such as %s or {name} was lost"
GUESSED_FORMS = "marked fuzzy, because more than two plural forms were translated from only two"
FAILED_CHECK = "marked fuzzy, because a check failed, which a comment names"
REMARK = "# nmt: "  # begins a comment that says why a person must review a message
PLURAL_FORMS = re.compile(r"nplurals\s*=\s*([1-9])(?!\d)")  # no language has more; 10**9 would fill the memory


def list_messages(translations: Sequence[Translation]) -> list[str]:
    """Returns what is wrong with the translations of a message; of several sentences, names those of low confidence."""

    def name(check: FailedCheck, translation: Translation) -> str:
        if check.kind != "confidence" or translation.least_sure or len(translations) == 1:
            return check.message
        return f"{check.message} in: {name_sides(translation.source, translation.hypotheses[0].text)}"

    failing = [translation for translation in translations if translation.needs_review]
    return list(dict.fromkeys(name(check, text) for text in failing for check in text.checks))


@dataclass(frozen=True)
class Message:
    """A text of several lines and sentences, with the blanks and line breaks between them."""

    parts: tuple[str, ...]  # sentences at odd indices, the text between them at even ones

    @classmethod
    def from_whole(cls, text: str) -> Message:
        """Returns a text translated as a whole, with its line breaks."""
        bare = text.strip()
        before, _, after = text.partition(bare)
        return cls((before, bare, after))

    @classmethod
    def from_text(cls, text: str, *, by_sentence: bool, accelerator: str = "") -> Message:
        """Splits a text at its lines, and at its sentences if `by_sentence`.

        The `accelerator` that a catalogue declares, if any, moves before the word in which it is.
        """
        parts = [""]
        for line in re.split(r"(\s*\n\s*)", text):
            starts = find_sentence_starts(line, find_spans(line)) if by_sentence else [0]
            for start, end in zip(starts, [*starts[1:], len(line)], strict=True):
                sentence = line[start:end]
                bare = sentence.strip() if has_words(sentence) else ""
                before, _, after = sentence.partition(bare) if bare else (sentence, "", "")
                parts[-1] += before
                if bare:
                    parts += [move_to_word(bare, accelerator, find_spans(bare)) if accelerator else bare, after]
        return cls(tuple(parts))

    @property
    def sentences(self) -> tuple[str, ...]:
        return self.parts[1::2]

    def fill_sentences(self, translations: Iterator[Translation]) -> str:
        """Returns the message with its sentences translated, consuming one translation each, joined as the script
        requires.
        """
        texts = [translation.text for translation in islice(translations, len(self.sentences))]
        whole = self.parts[0]
        for text, following, between in zip(texts, [*texts, ""][1:], self.parts[2::2], strict=True):
            if text and following and not between.strip(" "):
                between = (between or " ") if wants_blank(text, following, bool(between)) else ""
            whole += text + between
        return whole


class CatalogueDocument(Document):
    def read_units(self) -> Iterator[TranslationUnit]:
        self.polib = import_library("polib", "polib", "Catalogues of gettext")
        text = self.source.read_text(PO_MEBIBYTES)
        self.line_end = "\r\n" if "\r\n" in text else "\n"
        lines = split_lines(complete_header(text.replace("\r\n", "\n"), self.source.target_language))
        catalogue = self.parse_catalogue("".join(lines))
        self.forms = count_plural_forms(catalogue.metadata)
        self.accelerator = catalogue.metadata.get("X-Accelerator-Marker", "").strip()
        entries = [entry for entry in catalogue if not entry.obsolete]
        blocks = split_entries(lines)
        if len(blocks) == len(entries) + 1:
            del blocks[0]  # the header
        if len(blocks) != len(entries):
            self.source.refuse(1, "the entries are not valid gettext", "check the file with `msgfmt --check`")
        yield from self.replace_entries(lines, blocks, entries)

    def replace_entries(
        self, lines: list[str], blocks: list[EntryBlock], entries: list[Any]
    ) -> Iterator[TranslationUnit]:
        """Yields the catalogue as units; `blocks` are the line ranges of `entries`."""
        position = 0
        for block, entry in zip(blocks, entries, strict=True):
            if self.needs_translation(entry):
                yield make_verbatim_unit(self.join_lines(lines[position : block.start]))
                yield self.make_unit(lines[block.start : block.end], block.message - block.start, entry)
                position = block.end
        yield make_verbatim_unit(self.join_lines(lines[position:]))

    def join_lines(self, lines: Sequence[str]) -> str:
        return "".join(lines).replace("\n", self.line_end)

    def parse_catalogue(self, text: str) -> Any:
        try:
            return self.polib.pofile(text)
        except OSError as error:
            match = re.search(r"line (\d+)", str(error))
            line = int(match[1]) if match else 1
            self.source.refuse(line, "not valid gettext", "check the file with `msgfmt --check`")

    def needs_translation(self, entry: Any) -> bool:
        """Whether the entry lacks a translation or all are replaced; notes fuzzy translations that are kept."""
        if self.source.config.retranslate or self.source.reads_back:
            return True
        existing = list(entry.msgstr_plural.values()) if entry.msgid_plural else [entry.msgstr]
        if entry.fuzzy and any(existing):
            self.notes[KEPT_FUZZY] += 1
            return False
        return not all(existing)

    def make_unit(self, lines: list[str], first: int, entry: Any) -> TranslationUnit:
        """Returns the unit of an entry with these `lines`; its `msgstr` begins at index `first`."""
        sources = [entry.msgid]
        if entry.msgid_plural:
            count = self.forms or len(entry.msgstr_plural) or 2
            sources = [entry.msgid, *[entry.msgid_plural] * (count - 1)] if count > 1 else [entry.msgid_plural]
        distinct = {text: self.split_message(text) for text in dict.fromkeys(sources)}

        def write_entry(translations: Sequence[Translation]) -> str:
            remaining = map(drop_doubt_mark, translations)
            by_source = {text: form.fill_sentences(remaining) for text, form in distinct.items()}
            forms = [by_source[text] for text in sources]
            if not self.source.config.retranslate:
                forms = [entry.msgstr_plural.get(form) or text for form, text in enumerate(forms)]
            messages = list_messages(translations)
            fuzzy = self.needs_review(entry, sources, forms, messages)
            head = set_flags(lines[:first], [flag for flag in entry.flags if flag != "fuzzy"], fuzzy=fuzzy)
            head = set_remarks(head, messages)
            return self.join_lines([*head, self.format_message(entry, forms)])

        texts = tuple(text for form in distinct.values() for text in form.sentences)
        held = sources if is_without_placeholders(entry) else self.list_held(entry, sources)
        return TranslationUnit(texts, write_entry, raw=self.join_lines(lines), content=Content(tuple(held)))

    def list_held(self, entry: Any, sources: Sequence[str]) -> Sequence[str]:
        """Returns the texts whose placeholders a translation must have or, read back, those that it has."""
        if not self.source.reads_back:
            return sources
        return list(entry.msgstr_plural.values()) if entry.msgid_plural else [entry.msgstr]

    def is_marked(self, written: bytes) -> bool:
        return re.search(rb"^#,.*\bfuzzy\b", written, re.MULTILINE) is not None

    def split_message(self, text: str) -> Message:
        """Splits a message into the parts to translate; one found in a translation memory stays whole."""
        if self.source.memory is not None and text.strip() and self.source.memory.has_text(text):
            return Message.from_whole(text)
        return Message.from_text(text, by_sentence=self.source.split_sentences, accelerator=self.accelerator)

    def needs_review(self, entry: Any, sources: Sequence[str], forms: Sequence[str], messages: Sequence[str]) -> bool:
        """Whether a person must review the translations; notes the reason."""
        has_lost = not is_without_placeholders(entry) and not all(map(has_same_placeholders, sources, forms))
        has_guessed = len(forms) > 2
        has_failed = bool(messages) and not (has_lost or has_guessed)
        self.notes += Counter({LOST_PLACEHOLDER: int(has_lost), GUESSED_FORMS: int(has_guessed and not has_lost)})
        self.notes += Counter({FAILED_CHECK: int(has_failed)})
        return has_lost or has_guessed or has_failed or self.source.config.fuzzy

    def format_message(self, entry: Any, forms: Sequence[str]) -> str:
        """Returns the lines of `msgstr`, wrapped and escaped as by polib."""
        values: dict[str, Any] = {"msgid": "", "msgstr": forms[0]}
        if entry.msgid_plural:
            values = {"msgid": "", "msgid_plural": "", "msgstr_plural": dict(enumerate(forms))}
        text: str = self.polib.POEntry(**values).__unicode__()
        return text[text.index("msgstr") :].rstrip("\n") + "\n"


def is_without_placeholders(entry: Any) -> bool:
    """Whether nothing in an entry is a placeholder, by its flags."""
    formats = [flag for flag in entry.flags if flag.endswith("-format")]
    return bool(formats) and all(flag.startswith("no-") for flag in formats)


@dataclass(frozen=True)
class EntryBlock:
    """The lines [start, end) of an entry; `message` is the first line of its `msgstr`."""

    start: int
    message: int
    end: int


def split_entries(lines: Sequence[str]) -> list[EntryBlock]:
    """Returns the entries that are not obsolete, in order, with their preceding comments."""
    blocks: list[EntryBlock] = []
    start, message = 0, None
    for number, line in enumerate(line.lstrip(" \t") for line in (*lines, "")):  # polib ignores indentation
        continues = line.startswith(('"', "msgstr"))
        if message is not None and not continues:
            blocks.append(EntryBlock(start, message, number))
            start, message = number, None
        if line.startswith("msgstr") and message is None:
            message = number
        if message is None and (not line.strip() or line.startswith("#~")):
            start = number + 1
    return blocks


def split_lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text.replace("\r\n", "\n"))


def set_flags(lines: list[str], flags: list[str], *, fuzzy: bool) -> list[str]:
    """Returns the lines before `msgstr` with these flags, without those of the replaced translation."""
    others = [line for line in lines if not line.lstrip(" \t").startswith(("#,", "#|"))]
    if not (flags or fuzzy):
        return others
    index = next((number for number, line in enumerate(others) if not line.lstrip(" \t").startswith("#")), len(others))
    return [*others[:index], f"#, {', '.join(['fuzzy'] * fuzzy + flags)}\n", *others[index:]]


def set_remarks(lines: list[str], messages: Sequence[str]) -> list[str]:
    """Returns the lines before `msgstr` with a comment per message, replacing those of earlier translations.

    The comments follow the translator's, which come first in an entry.
    """
    others = [line for line in lines if not line.startswith(REMARK)]
    index = next((number for number, line in enumerate(others) if not re.match(r"#(?:\s|$)|\s*$", line)), len(others))
    remarks = [f"{REMARK}{' '.join(message.split())}\n" for message in messages]
    return [*others[:index], *remarks, *others[index:]]


def has_words(text: str) -> bool:
    """Whether there is anything to translate: a letter outside placeholders, or a text to choose."""
    return has_letters(re.sub(ANY_PLACEHOLDER, lambda match: match[0] if re.match(CHOICE, match[0]) else "", text))


def count_plural_forms(metadata: dict[str, str]) -> int | None:
    """Returns the number of plural forms declared in the header; None if there is none that a language may have."""
    match = PLURAL_FORMS.search(metadata.get("Plural-Forms", ""))
    return int(match[1]) if match else None
