"""Catalogues of Qt and Xcode, and Apple's property lists: what is translated, into which forms, and what stays."""

import json

import pytest

from nmt_cli.errors import DataError
from nmt_cli.formats.inputs import ReadOptions, parse_input
from nmt_cli.formats.opening import open_reader
from support.documents import convert_bytes
from support.translations import converted, louder

TS = '<?xml version="1.0"?>\n<!DOCTYPE TS>\n<TS version="2.1"{}><context>{}</context></TS>\n'
DONE = "<message><source>A dog</source><translation{}>Ein Hund</translation></message>"
NUMBER = '<message numerus="yes"><source>%n dog(s)</source><translation type="unfinished"/></message>'
# A message as it stands in a catalogue, and with its translation in capitals; None: as it was.
QT = [
    (DONE.format(""), None),
    (DONE.format(' type="vanished"'), None),
    (DONE.format(' type="unfinished"'), None),
    (
        "<message><location line='1'/><source>&amp;Go &apos;on&apos;</source><comment>c</comment>"
        '<translation type="unfinished"></translation></message>',
        "<message><location line='1'/><source>&amp;Go &apos;on&apos;</source><comment>c</comment>"
        "<translation>&amp;GO &apos;ON&apos;</translation></message>",
    ),
    (
        '<message><source>A<byte value="x1b"/>dog</source></message>',
        '<message><source>A<byte value="x1b"/>dog</source><translation>A<byte value="x1b"/>DOG</translation></message>',
    ),
    (
        NUMBER,
        NUMBER.replace(
            ' type="unfinished"/>',
            "><numerusform>%N DOG</numerusform><numerusform>%N DOGS</numerusform></translation>",
        ),
    ),
]


@pytest.mark.parametrize(("message", "written"), QT)
def test_a_message_of_qt_gets_its_translation(message: str, written: str | None) -> None:
    document = TS.format(' language="de"', message)
    assert converted("ts", document)[0] == document.replace(message, written or message)


@pytest.mark.parametrize(("language", "forms"), [("ja", 1), ("de", 2), ("pl", 3), ("ar", 6)])
def test_a_number_has_the_forms_of_the_target_language(language: str, forms: int) -> None:
    written = convert_bytes("ts", TS.format("", NUMBER).encode(), louder, language).decode()
    assert f'language="{language}"' in written
    assert written.count("<numerusform>%N DOG") == forms
    assert ('type="unfinished"' in written) == (forms > 2)


def test_a_catalogue_of_other_languages_is_refused() -> None:
    with pytest.raises(DataError, match="en -> fr"):
        convert_bytes("ts", TS.format(' sourcelanguage="en" language="fr"', DONE.format("")).encode(), louder)


def unit(value: str, state: str = "translated") -> dict[str, object]:
    return {"stringUnit": {"state": state, "value": value}}


def write_catalogue(strings: dict[str, object], indent: int | None = 2) -> str:
    catalogue = {"sourceLanguage": "en", "strings": strings, "version": "1.0"}
    return json.dumps(catalogue, indent=indent, separators=(",", " : ") if indent else None)


DOGS = {"variations": {"plural": {"one": unit("%lld dog"), "other": unit("%lld dogs")}}}
# A string of Xcode, and its German texts in the order of their paths; None: it stays as it is.
XCODE: list[tuple[dict[str, object], list[str] | None]] = [
    ({}, ["A DOG"]),
    ({"localizations": {"en": unit("The dog")}}, ["THE DOG"]),
    ({"localizations": {"de": unit("", "new"), "en": unit("The dog")}}, ["THE DOG"]),
    ({"localizations": {"de": unit("Ein Hund")}}, None),
    ({"localizations": {"de": unit("Ein Hund", "needs_review")}}, None),
    ({"shouldTranslate": False}, None),
    ({"extractionState": "stale"}, None),
    ({"localizations": {"en": DOGS, "fr": unit("x")}}, ["%LLD DOG", "%LLD DOGS"]),
    ({"localizations": {"en": {"variations": {"device": {"mac": unit("Click"), "other": DOGS}}}}},
     ["CLICK", "%LLD DOG", "%LLD DOGS"]),
    ({"localizations": {"en": {**unit("%#@n@ here"), "substitutions": {"n": {"argNum": 1, **DOGS}}}}},
     ["%#@N@ HERE", "%LLD DOG", "%LLD DOGS"]),
]  # fmt: skip


def list_values(tree: object) -> list[str]:
    if not isinstance(tree, dict):
        return []
    return [value for key, child in tree.items() for value in ([child] if key == "value" else list_values(child))]


@pytest.mark.parametrize("indent", [2, None])
@pytest.mark.parametrize(("string", "values"), XCODE)
def test_a_string_of_xcode_gets_its_translation(string: dict, values: list[str] | None, indent: int | None) -> None:
    text = write_catalogue({"A dog": string}, indent)
    written = converted("xcstrings", text)[0]
    if values is None:
        assert written == text
        return
    held = json.loads(written)["strings"]["A dog"]
    assert list_values(held["localizations"].pop("de")) == values
    assert held["localizations"] == {
        key: value for key, value in string.get("localizations", {}).items() if key != "de"
    }
    assert written == write_catalogue(json.loads(written)["strings"], indent)  # spelled as the rest


def test_polish_has_more_forms_which_a_person_reviews() -> None:
    text = write_catalogue({"dogs": {"localizations": {"en": DOGS}}})
    plural = json.loads(convert_bytes("xcstrings", text.encode(), louder, "pl"))["strings"]["dogs"]["localizations"]
    forms = plural["pl"]["variations"]["plural"]
    assert list(forms) == ["few", "many", "one", "other"]
    assert {form["stringUnit"]["state"] for form in forms.values()} == {"needs_review"}


RULE = (
    "<plist><dict><key>%d dogs</key><dict><key>NSStringLocalizedFormatKey</key><string>%#@n@</string><key>n</key><dict>"
    "<key>NSStringFormatSpecTypeKey</key><string>NSStringPluralRuleType</string><key>one</key><string>%d dog</string>"
    "<key>other</key><string>%d dogs</string></dict></dict><key>CFBundleName</key><string>Good dogs</string>"
    "<key>NSCameraUsageDescription</key><string>To see dogs</string></dict></plist>"
)


@pytest.mark.parametrize(("language", "more"), [("de", ()), ("pl", ("few", "many"))])
def test_a_plural_rule_of_apple_has_the_categories_of_the_target(language: str, more: tuple[str, ...]) -> None:
    expected = (
        RULE.replace(">%d dog<", ">%D DOG<").replace(">%d dogs</s", ">%D DOGS</s").replace("To see dogs", "TO SEE DOGS")
    )
    for category in reversed(more):
        more_text = f"%D DOGS</string><key>{category}</key><string>%D DOGS</string>"
        expected = expected.replace("%D DOGS</string>", more_text, 1)
    assert convert_bytes("plist", RULE.encode(), louder, language).decode() == expected


NUMBERS = "<numerusform>%n Hund</numerusform><numerusform>%n Hunde</numerusform></translation></message>"
MESSAGES = DONE.format("") + DONE.format(' type="obsolete"') + NUMBER.replace("/></message>", f">{NUMBERS}")
STRINGS: dict[str, object] = {
    "A dog": {"localizations": {"de": unit("Ein Hund")}},
    "A cat": {"localizations": {"de": unit("Katze", "new")}},
    "x": {"localizations": {"en": DOGS, "de": DOGS}},
}
PAIRS = {
    "a.ts": (
        TS.format(' language="de"', MESSAGES),
        [("A dog", "Ein Hund", False), ("%n dog", "%n Hund", True), ("%n dogs", "%n Hunde", True)],
    ),
    "a.xcstrings": (
        write_catalogue(STRINGS),
        [
            ("A dog", "Ein Hund", False),
            ("A cat", "Katze", True),
            ("%lld dog", "%lld dog", False),
            ("%lld dogs", "%lld dogs", False),
        ],
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_are_read_from_catalogues(name: str, tmp_path: object) -> None:
    text, pairs = PAIRS[name]
    path = tmp_path / name  # type: ignore[operator]
    path.write_text(text, encoding="utf-8")
    rows = open_reader(parse_input(str(path)), ReadOptions())
    assert [(row.source, row.target, row.is_unfinished) for row in rows] == pairs
