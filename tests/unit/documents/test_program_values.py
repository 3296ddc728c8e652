"""Values of configuration files that programs read are no text: commands, classifiers, names of packages."""

import pytest

from nmt_cli.documents.strings.syntax import is_text


@pytest.mark.parametrize(
    ("value", "key", "outer"),
    [
        ("Development Status :: 4 - Beta", "anything", ()),
        ("tsc -p . && node dist/index.js", "anything", ()),
        ("pytest -x -q tests", "anything", ()),
        ("-y", "anything", ()),
        ("--watch=all", "anything", ()),
        ("npx", "command", ()),
        ("start", "args", ()),
        ("vite build", "dev", ("scripts",)),
        ("latest", "left-pad", ("devDependencies",)),
        ("ubuntu-latest", "runs-on", ("jobs", "build")),
        ("production", "MODE", ("env",)),
        ("UP", "select", ("[tool", "ruff")),
        ("shop", "name", ("[project",)),
    ],
)
def test_values_of_programs_are_no_text(value: str, key: str, outer: tuple[str, ...]) -> None:
    assert not is_text(value, key, outer)


@pytest.mark.parametrize(
    ("value", "key", "outer"),
    [
        ("A small shop for books.", "description", ("[project",)),
        ("Build the shop", "name", ("jobs",)),
        ("Command to run", "command", ("labels",)),
        ("Command", "command", ("labels",)),
        ("see docs/readme.md for help", "help", ()),
        ("either this and/or that", "help", ()),
        ("save", "ok", ()),
        ("full name", "name", ()),
        ("draw a line", "tip", ("tool",)),
        ("wait ... please", "tip", ()),
        ("well-known words", "tip", ()),
        ("one :two", "tip", ()),
    ],
)
def test_words_for_people_are_text(value: str, key: str, outer: tuple[str, ...]) -> None:
    assert is_text(value, key, outer)
