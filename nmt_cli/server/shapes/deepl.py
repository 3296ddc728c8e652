"""The part of DeepL's version 2 that its official clients and Weblate need."""

from __future__ import annotations

from typing import Any

from nmt_cli.server.calls import Call
from nmt_cli.server.paths import BOTH, ServedPath
from nmt_cli.server.shapes import deepl_documents, deepl_glossaries
from nmt_cli.server.shapes.deepl_glossaries import find_named_glossary
from nmt_cli.text.tags import FORMAL, INFORMAL

NO_LIMIT = 1_000_000_000_000


async def translate(call: Call) -> Any:
    values = call.values
    texts = values.read_texts("text")
    target = values.read_text("target_lang")
    source = values.read_text("source_lang", default="auto")
    lists = values.read_texts("ignore_tags") if values.find("ignore_tags") else []
    ignored = frozenset(name.strip().lower() for names in lists for name in names.split(","))
    are_markup = values.find("tag_handling") in ("xml", "html")
    formality = values.read_text("formality", default="default")
    glossary = find_named_glossary(call, source, target)
    if glossary is not None:
        source = glossary.source.code
    translated = await call.service.translate_texts(
        *(texts, source, target),
        are_markup=are_markup,
        kept_tags=ignored,
        formality=formality,
        glossary=None if glossary is None else glossary.glossary,
    )
    language = translated.model.source.code.upper()
    return {
        "translations": [
            {"detected_source_language": language, "text": text, "billed_characters": len(source_text)}
            for source_text, text in zip(texts, translated.texts, strict=True)
        ]
    }


async def list_languages(call: Call) -> Any:
    """Lists the source languages or, with `type=target`, the target languages."""
    pool = call.service.pool
    are_targets = call.values.find("type") == "target"
    languages = dict.fromkeys(model.target for model in pool.models) if are_targets else pool.sources
    formal = {model.target for model in pool.models if {FORMAL, INFORMAL} <= model.card.tags.keys()}
    return [
        {
            "language": language.code.upper(),
            "name": language.name,
            **({"supports_formality": language in formal} if are_targets else {}),
        }
        for language in languages
    ]


async def report_usage(call: Call) -> Any:
    return {"character_count": 0, "character_limit": NO_LIMIT}


PATHS = tuple(
    path._replace(error_key="message")
    for path in (
        ServedPath(
            *("/v2/translate", translate, "Translate texts, as DeepL does.", ("text", "target_lang")),
            optional=("source_lang", "tag_handling", "ignore_tags", "formality", "glossary_id"),
        ),
        ServedPath("/v2/languages", list_languages, "List the languages, as DeepL does.", (), ("type",), BOTH),
        ServedPath("/v2/usage", report_usage, "Say that there is no quota.", methods=BOTH),
        *deepl_glossaries.PATHS,
        *deepl_documents.PATHS,
    )
)
