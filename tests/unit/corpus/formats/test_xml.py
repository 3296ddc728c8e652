"""XML that is a trap, damaged, or another format."""

from pathlib import Path

import pytest

from support.formats import refusal

BOMB = '<!DOCTYPE tmx [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(10)
)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (f'{BOMB}]><tmx><body><tu><tuv lang="a"><seg>&k;</seg></tuv></tu></body></tmx>', "declares entities"),
        ('<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]><tmx><tu>&x;</tu></tmx>', "declares entities"),
        ("<tmx>" + "<a>" * 100_000, "more than 200 nested elements"),
        ("<tmx><tu><tuv>" + "x" * (1 << 23), "a unit has more than"),
        ("<html></html>", "is a web page"),
        ("<other></other>", "the root is <other>, not <tmx>"),
        ("<tmx><body>", "is not XML"),
        ("a\tb\n", "is not XML"),
        ('<?xml version="1.0" encoding="klingon"?><tmx/>', "klingon"),
        ("<tmx></tmx>", "is empty"),
    ],
)
def test_xml_that_is_a_trap_or_no_translation_memory_is_refused(tmp_path: Path, data: str, message: str) -> None:
    assert message in refusal(tmp_path / "a.tmx", data)
