"""XLIFF 1.2, XLIFF 2 and SDLXLIFF: `<source>` is translated into `<target>`; nothing else changes.

Existing translations are kept unless `retranslate` is set. Inline elements (`<g> <x> <ph> <pc> <mrk>`) are kept and
placed. Segments of a unit (`<mrk mtype="seg">`) are translated separately. The state of a translation becomes
`translated` or, if a check failed or a position was guessed, one that asks for review.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nmt_cli.documents.document import Document, DocumentSource, TranslationUnit, make_verbatim_unit
from nmt_cli.documents.xliff_target import TargetBuilder, XliffScope
from nmt_cli.documents.xml.scanner import MarkupToken
from nmt_cli.documents.xml.tree import (
    XmlNode,
    decode_xml,
    read_attribute,
    read_node,
    refuse_part,
    scan_xml,
    set_attribute,
    strip_prefix,
)
from nmt_cli.languages.codes import find_language_tag, has_same_primary_tag

if TYPE_CHECKING:
    from nmt_cli.documents.encodings import DecodedText
    from nmt_cli.translation.result import Translation

OTHER_LANGUAGES = "units left as they are, in a <file> of other languages"


class XliffDocument(Document):
    def __init__(self, source: DocumentSource) -> None:
        super().__init__(source)
        self.scope = XliffScope()
        self.has_files = False  # whether any <file> has the languages of the model
        self.others: list[tuple[str, str]] = []

    def read_units(self) -> Iterator[TranslationUnit]:
        decoded = decode_xml(self.source)
        yield make_verbatim_unit(decoded.mark)
        tokens = scan_xml(decoded.text)
        seen: list[str] = []  # what stands before the next unit
        for token in tokens:
            name = strip_prefix(token.name)
            if token.kind in ("open", "empty") and name in ("trans-unit", "segment"):
                node = read_node(tokens, token)
                unit = self.make_unit(node, decoded)
                if unit is not None:
                    yield make_verbatim_unit(decoded.encode("".join(seen)))
                    yield unit
                    seen = []
                else:
                    seen.append(node.raw)
            else:
                seen.append(self.read_token(token, name, tokens))
        yield make_verbatim_unit(decoded.encode("".join(seen)))
        self.check_languages()

    def read_token(self, token: MarkupToken, name: str, tokens: Iterator[MarkupToken]) -> str:
        """Reads a token outside of units, and returns its output."""
        if token.kind == "close":
            self.scope.kept.pop()
        elif token.kind == "open":
            if name in ("originalData", "seg-defs", "note", "notes", "skl", "reference", "alt-trans", "bin-unit"):
                node = read_node(tokens, token)
                if name == "originalData":
                    self.scope.data = {data.read("id"): data.text for data in node.elements}
                return node.raw
            outside = bool(self.scope.kept and self.scope.kept[-1])
            translate = read_attribute(token.raw, "translate")
            self.scope.kept.append(translate == "no" or (outside and translate != "yes"))
            if name == "xliff":
                self.scope.version = read_attribute(token.raw, "version")
                return self.read_languages(token.raw, "srcLang", "trgLang") if self.scope.is_second else token.raw
            if name == "file" and not self.scope.is_second:
                return self.read_languages(token.raw, "source-language", "target-language")
            if name == "unit":
                self.scope.data = {}
        return token.raw

    def read_languages(self, tag: str, source: str, target: str) -> str:
        """Records the languages of a file, and returns its tag with the target language added if missing."""
        self.scope.languages = (read_attribute(tag, source), read_attribute(tag, target))
        if self.is_ours():
            self.has_files = True
        else:
            self.others.append(self.scope.languages)
        language = find_language_tag(self.source.target_language)
        return (
            tag
            if self.scope.languages[1] or not (language and self.is_ours())
            else set_attribute(tag, target, language)
        )

    def is_ours(self) -> bool:
        """Whether the languages of the file match the model's, as far as both are known."""
        models = (self.source.source_language, self.source.target_language)
        return all(
            not (find_language_tag(model) and find_language_tag(code)) or has_same_primary_tag(model, code)
            for model, code in zip(models, self.scope.languages, strict=True)
        )

    def check_languages(self) -> None:
        """Raises DataError if no file matches the model's languages."""
        if self.others and not self.has_files:
            source, target = self.others[0]
            models = (
                f"{find_language_tag(self.source.source_language)} -> {find_language_tag(self.source.target_language)}"
            )
            refuse_part(
                self.source.name,
                f"it is {source or '?'} -> {target or '?'}, and the model translates {models}",
                "name another --model, or correct the languages in the file",
            )

    def make_unit(self, node: XmlNode, decoded: DecodedText) -> TranslationUnit | None:
        """Returns the unit of a trans-unit or segment; None if it is kept."""
        if not self.is_ours():
            self.notes[OTHER_LANGUAGES] += 1
            return None
        translate = node.read("translate")
        if translate == "no" or (self.scope.kept and self.scope.kept[-1] and translate != "yes"):
            return None
        builder = TargetBuilder(node, self.scope, self.notes, self.source.config, reads_back=self.source.reads_back)
        if not builder.texts and not self.source.reads_back:
            return None

        def write_unit(translations: Sequence[Translation]) -> str | bytes:
            return decoded.encode(builder.write(translations))

        held = builder.target if self.source.reads_back else builder.segmented or builder.source
        content = None if held is None or builder.existing else builder.make_paragraph(held.children).content
        return TranslationUnit(builder.texts, write_unit, raw=decoded.encode(node.raw), content=content)
