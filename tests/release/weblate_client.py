"""Lets Weblate's own code for machine translation talk to `nmt translate --serve`, and checks what it makes of it.

    pip download --no-deps weblate && unzip weblate-*.whl 'weblate/*.py' -d WEBLATE
    pip install django requests python-dateutil siphashc rapidfuzz      # in an environment of its own
    nmt translate --serve 5000
    python tests/release/weblate_client.py WEBLATE http://127.0.0.1:5000

All of Weblate needs a database and libraries in C. Here its classes for LibreTranslate and DeepL run as they are, with
their base class, cache and requests; what they take from elsewhere (languages, forms, and where the placeholders of a
text are) has stand-ins. Exits with 1 if something is not as Weblate needs it.
"""

import re
import sys
import types
from pathlib import Path
from typing import NamedTuple

PLACEHOLDER = re.compile(r"%\(\w+\)s|%[sd]|\{\w*\}|</?\w+>")
ENCLOSING = {"I am %(a)snot%(b)s hungry.": r"\)s(kein|nicht)\w*%", "Please open the <b>door</b>.": "<b>Tür</b>"}
TEXTS = [
    "Where is the station?",
    "Hello, %(name)s!",
    "The file {name} was not found.",
    "Tom & Mary are <b>here</b>.",
    "5 < 6",
    *ENCLOSING,
    *(f"I have {number} books." for number in range(2, 15)),  # 20 in all: what Weblate sends at once
]


class Language(NamedTuple):
    """A language, as much as the classes ask for."""

    code: str


def set_up(weblate: Path) -> None:
    import django
    from django.conf import settings

    settings.configure(CACHES={"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}, USE_I18N=False)
    django.setup()
    sys.path.insert(0, str(weblate))

    def find_placeholders(text: str, unit: object, highlight_syntax: bool = False) -> list[tuple[int, int, str]]:
        return [(match.start(), match.end(), match[0]) for match in PLACEHOLDER.finditer(text)]

    forms = ("BaseMachineryForm", "DeepLMachineryForm", "LibreTranslateMachineryForm")
    stand_ins: dict[str, dict[str, object]] = {
        "glossary.models": {"get_glossary_tsv": lambda translation: ""},
        "checks.utils": {"highlight_string": find_placeholders},
        "lang.models": {"Language": Language, "PluralMapper": object},
        "machinery.forms": dict.fromkeys(forms, object),
        "machinery.types": {"SourceLanguageChoices": object},
        "utils": {"__path__": [str(weblate / "weblate" / "utils")]},
        "utils.errors": {"report_error": lambda *args, **kwargs: None},
        "utils.site": {"get_site_url": lambda: "https://weblate.example"},
        "utils.version": {"USER_AGENT": "Weblate"},
        "logger": {"LOGGER": None},
    }
    for name, values in stand_ins.items():
        module = sys.modules[f"weblate.{name}"] = types.ModuleType(f"weblate.{name}")
        module.__dict__.update(values)


def check_service(kind: type, url: str) -> list[str]:
    """Returns what is wrong with a service."""
    service = kind({"url": url, "key": "any"})
    service.delete_cache()
    service.validate_settings()
    problems = []
    for source, target in (("en", "de"), ("en_US", "de_AT")):
        pair = service.get_languages(Language(source), Language(target))
        if [code.lower() for code in pair] != ["en", "de"]:
            problems.append(f"{source} and {target} are {pair}")
    unit = types.SimpleNamespace(translation=None)
    results = service._translate(
        *service.get_languages(Language("en"), Language("de")), [(text, unit) for text in TEXTS]
    )
    for text in TEXTS:
        (result,) = results[text]
        print(f"  {text}\n      {result['text']}")
        if sorted(PLACEHOLDER.findall(text)) != sorted(PLACEHOLDER.findall(result["text"])):
            problems.append(f"{text!r} became {result['text']!r}")
        if not re.search(ENCLOSING.get(text, ""), result["text"]):
            problems.append(f"{text!r} lost a word: {result['text']!r}")
        if len(text) > 10 and text == result["text"]:
            problems.append(f"{text!r} was not translated")
    try:
        service.get_languages(Language("fr"), Language("de"))
        problems.append("French is offered")
    except Exception as error:
        if type(error).__name__ != "UnsupportedLanguageError":
            problems.append(f"French is refused with {error!r}")
    return problems


def main() -> None:
    weblate, url = Path(sys.argv[1]), sys.argv[2].rstrip("/")
    set_up(weblate)
    from weblate.machinery.deepl import DeepLTranslation
    from weblate.machinery.libretranslate import LibreTranslateTranslation

    problems = []
    for kind, address in ((LibreTranslateTranslation, f"{url}/"), (DeepLTranslation, f"{url}/v2/")):
        print(f"{kind.name}, {address}")
        problems += check_service(kind, address)
    for problem in problems:
        print(f"! {problem}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
