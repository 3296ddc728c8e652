"""Gettext catalogues: `msgid` is translated into `msgstr`; nothing else changes.

    #, fuzzy                    kept: a person has to decide
    msgid "one"
    msgstr "eins"

    msgid "Open %s"             translated; without its "%s", the translation would be marked fuzzy
    msgstr ""

Existing translations are kept unless `retranslate` is set. The header, comments, contexts and obsolete entries are
always kept. The first plural form is translated from `msgid`, the others from `msgid_plural`. A message that a person
must review is marked fuzzy, so that gettext ignores it."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from itertools import islice

from nmt_cli.carrying.kinds import find_spans
from nmt_cli.carrying.syntax import ANY_PLACEHOLDER, CHOICE, has_same_placeholders, move_to_word
from nmt_cli.documents.document import Content, Document, TranslationUnit, make_verbatim_unit
from nmt_cli.documents.encodings import DOCUMENT_MEBIBYTES
from nmt_cli.formats.po import ESCAPES, PoEntry, read_entries
from nmt_cli.languages.codes import find_code, find_language_tag, is_same_language
from nmt_cli.text.words import has_letters
from nmt_cli.translation.result import FailedCheck, Translation, drop_doubt_mark, name_sides
from nmt_cli.translation.segmentation.segments import find_sentence_starts, wants_blank

# Fills in the header of a catalogue that was made from a template, as gettext's `msginit` does.


# The entry of the header: its comments and flags, and its lines.
HEADER_ENTRY = re.compile(r'(?:[ \t]*(?:#[^\n]*)?\n)*msgid ""\nmsgstr ""\n(?:"[^\n]*"\n)+')
LANGUAGE_LINE = re.compile(r'"Language: *([\w@-]*) *\\n"')
EMPTY_PLURALS = "nplurals=INTEGER; plural=EXPRESSION;"


def complete_header(text: str, source: str, language: str) -> str:
    """Returns a catalogue with its language changed to the target's, and with a template's header filled in.

    A header that a person has filled in is otherwise unchanged, and so are plural forms that nmt does not know.
    """
    header, tag = HEADER_ENTRY.match(text), find_language_tag(language)
    if header is None or not tag:
        return text

    def name_language(line: re.Match[str]) -> str:
        is_free = is_same_language(line[1], source) if line[1] else is_template
        return f'"Language: {tag.replace("-", "_")}\\n"' if is_free else line[0]

    is_template = "charset=CHARSET" in header[0]
    filled = LANGUAGE_LINE.sub(name_language, header[0])
    if not is_template:
        return filled + text[header.end() :]
    filled = filled.replace("charset=CHARSET", "charset=UTF-8").replace("#, fuzzy\n", "")
    filled = filled.replace(EMPTY_PLURALS, load_plural_forms().get(find_code(language), EMPTY_PLURALS))
    return filled + text[header.end() :]


@cache
def load_plural_forms() -> dict[str, str]:
    """Returns the `Plural-Forms` of languages, by language code."""
    return {code: row[1] for row in read_plural_table() for code in row[0].split()}


@cache
def read_plural_table() -> list[list[str]]:
    """Returns rows of language codes, their `Plural-Forms`, and their CLDR plural categories for whole numbers."""
    lines = (files("nmt_cli.languages") / "data" / "plural-forms.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return [line.split("\t") for line in lines]


def find_plural_categories(language: str) -> tuple[str, ...]:
    """Returns the names of a language's plural forms; if they are not known, those that most languages have."""
    code = find_code(language)
    categories = (row[2] for row in read_plural_table() if code in row[0].split())
    return tuple(next(categories, "one other").split())


MESSAGE_WIDTH = 78  # characters of a line of a new text
SPELLINGS = str.maketrans({character: spelled for spelled, character in ESCAPES.items()})
KEPT_FUZZY = "fuzzy translations that were kept (--retranslate replaces them)"
LOST_PLACEHOLDER = "marked fuzzy, because a placeholder such as %s or {name} was dropped"
GUESSED_FORMS = "marked fuzzy, because more than two plural forms were translated from only two"
FAILED_CHECK = "marked fuzzy, because a check failed; a comment names it"
REMARK = "# nmt: "  # begins a comment that says why a person must review a message
PLURAL_FORMS = re.compile(r"nplurals\s*=\s*([1-9])(?!\d)")  # no language has more; 10**9 would fill the memory


def list_messages(translations: Sequence[Translation]) -> list[str]:
    """Returns the faults in a message's translations; if it has several sentences, quotes those of low confidence."""

    def name(check: FailedCheck, translation: Translation) -> str:
        if check.kind != "confidence" or translation.least_sure or len(translations) == 1:
            return check.message
        return f"{check.message} in: {name_sides(translation.source, translation.hypotheses[0].text)}"

    failing = [translation for translation in translations if translation.needs_review]
    return list(dict.fromkeys(name(check, text) for text in failing for check in text.checks))


@dataclass(frozen=True)
class Message:
    """A text of several lines and sentences, with the spaces and line breaks between them."""

    parts: tuple[str, ...]  # sentences at odd indices, the text between them at even ones

    @classmethod
    def from_text(cls, text: str, *, by_sentence: bool, accelerator: str = "") -> Message:
        """Splits a text at its lines, and at its sentences if `by_sentence`.

        If the catalogue declares an `accelerator`, it is moved to the start of the word that contains it.
        """
        parts = [""]
        for line in re.split(r"(\s*[\n\x00-\x08\x0b-\x1f]\s*)", text):
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
        """Returns the message with its sentences translated and joined as the script requires, consuming one
        translation for each.
        """
        texts = [translation.text for translation in islice(translations, len(self.sentences))]
        whole = self.parts[0]
        for text, following, between in zip(texts, [*texts, ""][1:], self.parts[2::2], strict=True):
            if text and following and not between.strip(" "):
                between = (between or " ") if wants_blank(text, following, bool(between)) else ""
            whole += text + between
        return whole


class MessageDocument(Document):
    """The base class of catalogues, whose messages are translated line by line and sentence by sentence."""

    accelerator = ""

    def split_message(self, text: str) -> Message:
        """Splits a message into the parts to translate; a message found in a translation memory stays whole."""
        bare = text.strip()
        if self.source.memory is not None and bare and self.source.memory.has_text(text):
            before, _, after = text.partition(bare)
            return Message((before, bare, after))
        return Message.from_text(text, by_sentence=self.source.split_sentences, accelerator=self.accelerator)

    def split_forms(self, sources: Sequence[str]) -> dict[str, Message]:
        """Returns each distinct text among the forms of a message, divided into its parts."""
        return {text: self.split_message(text) for text in dict.fromkeys(sources)}


def list_form_texts(forms: Mapping[str, Message]) -> tuple[str, ...]:
    return tuple(text for form in forms.values() for text in form.sentences)


def fill_forms(forms: Mapping[str, Message], translations: Sequence[Translation]) -> dict[str, str]:
    """Returns the translation of each distinct text."""
    remaining = map(drop_doubt_mark, translations)
    return {text: form.fill_sentences(remaining) for text, form in forms.items()}


class CatalogueDocument(MessageDocument):
    def read_units(self) -> Iterator[TranslationUnit]:
        lines = split_lines(self.source.read_text(DOCUMENT_MEBIBYTES))
        self.line_end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
        self.forms: int | None = None
        self.accelerator = ""
        for _ in self.read_entries(lines):  # so that what cannot be read is refused before anything is translated
            pass
        kept: list[str] = []  # since the last unit
        for entry in self.read_entries(lines):
            if entry.is_header:
                kept.append(self.read_header(entry))
            elif entry.message and self.needs_translation(entry):
                yield make_verbatim_unit("".join([*kept, entry.before]))
                yield self.make_unit(entry)
                kept = []
            else:
                kept += [entry.before, *entry.lines]
        yield make_verbatim_unit("".join(kept))

    def read_entries(self, lines: Sequence[str]) -> Iterator[PoEntry]:
        hint = "check the file with `msgfmt --check`"
        return read_entries(enumerate(lines, start=1), partial(self.source.refuse, hint=hint))

    def read_header(self, entry: PoEntry) -> str:
        """Reads what a header says about the catalogue, and returns the header with missing values filled in."""
        fields = entry.read_header()
        self.forms = count_plural_forms(fields.get("Plural-Forms", ""))
        self.accelerator = fields.get("X-Accelerator-Marker", "")
        text = "".join([entry.before, *entry.lines])
        bare = text.replace("\r\n", "\n")
        completed = complete_header(bare, self.source.source_language, self.source.target_language)
        return text if completed == bare else completed.replace("\n", self.line_end)

    def needs_translation(self, entry: PoEntry) -> bool:
        """Whether the entry lacks a translation, or all are to be replaced; notes fuzzy translations that are kept."""
        if self.source.config.retranslate or self.source.reads_back:
            return True
        existing = list_translations(entry)
        if "fuzzy" in entry.flags and any(existing):
            self.notes[KEPT_FUZZY] += 1
            return False
        return not all(existing)

    def make_unit(self, entry: PoEntry) -> TranslationUnit:
        plural = entry.texts.get("msgid_plural")
        sources = [entry.texts["msgid"]]
        if plural:
            count = self.forms or len(entry.forms) or 2
            sources = [*sources, *[plural] * (count - 1)] if count > 1 else [plural]
        distinct = self.split_forms(sources)

        def write_entry(translations: Sequence[Translation]) -> str:
            by_source = fill_forms(distinct, translations)
            forms = [by_source[text] for text in sources]
            if not self.source.config.retranslate:
                forms = [entry.forms.get(form) or text for form, text in enumerate(forms)]
            messages = list_messages(translations)
            fuzzy = self.needs_review(entry, sources, forms, messages)
            lines = [line.replace("\r\n", "\n") for line in entry.lines[: entry.message]]
            head = set_flags(lines, [flag for flag in entry.flags if flag != "fuzzy"], fuzzy=fuzzy)
            names = [f"msgstr[{form}]" for form in range(len(forms))] if plural else ["msgstr"]
            message = [line for name, form in zip(names, forms, strict=True) for line in write_message(name, form)]
            return "".join([*set_remarks(head, messages), *message]).replace("\n", self.line_end)

        # The texts whose placeholders a translation must have or, read back, those that it has.
        is_compared = self.source.reads_back and not is_without_placeholders(entry)
        held = list_translations(entry) if is_compared else sources
        return TranslationUnit(
            list_form_texts(distinct),
            write_entry,
            raw="".join(entry.lines),
            content=Content(tuple(held)),
            context=entry.texts.get("msgctxt", ""),
        )

    def is_marked(self, written: bytes) -> bool:
        return re.search(rb"^#,.*\bfuzzy\b", written, re.MULTILINE) is not None

    def needs_review(
        self, entry: PoEntry, sources: Sequence[str], forms: Sequence[str], messages: Sequence[str]
    ) -> bool:
        """Whether a person must review the translations; notes the reason."""
        has_lost = not is_without_placeholders(entry) and not all(map(has_same_placeholders, sources, forms))
        has_guessed = len(forms) > 2
        has_failed = bool(messages) and not (has_lost or has_guessed)
        self.notes += Counter({LOST_PLACEHOLDER: int(has_lost), GUESSED_FORMS: int(has_guessed and not has_lost)})
        self.notes += Counter({FAILED_CHECK: int(has_failed)})
        return has_lost or has_guessed or has_failed or self.source.config.fuzzy


def list_translations(entry: PoEntry) -> list[str]:
    """Returns the translations that an entry has, or has room for."""
    return list(entry.forms.values()) if entry.texts.get("msgid_plural") else [entry.texts.get("msgstr", "")]


def write_message(keyword: str, text: str) -> list[str]:
    """Returns the lines of a keyword and its text, divided at line ends, or wrapped if it is one long line."""
    parts = [part.translate(SPELLINGS) for part in text.splitlines(keepends=True)]
    room = MESSAGE_WIDTH - len(keyword) - 3  # of which signs that are escaped take none
    if len(parts) == 1 and len(text) - sum(ord(sign) in SPELLINGS for sign in text) > room:
        parts = ["", *textwrap.wrap(parts[0], MESSAGE_WIDTH - 2, drop_whitespace=False, break_long_words=False)]
    elif len(parts) != 1:
        parts = ["", *parts]
    first, *others = parts
    return [f'{keyword} "{first}"\n', *(f'"{part}"\n' for part in others)]


def is_without_placeholders(entry: PoEntry) -> bool:
    """Whether the flags of an entry say that it has no placeholders."""
    formats = [flag for flag in entry.flags if flag.endswith("-format")]
    return bool(formats) and all(flag.startswith("no-") for flag in formats)


def split_lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


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
    """Whether there is anything to translate: a letter outside placeholders, or within a choice of texts."""
    return has_letters(re.sub(ANY_PLACEHOLDER, lambda match: match[0] if re.match(CHOICE, match[0]) else "", text))


def count_plural_forms(declared: str) -> int | None:
    """Returns the number of plural forms that a header declares; None if it is missing or too large."""
    match = PLURAL_FORMS.search(declared)
    return int(match[1]) if match else None
