"""The benchmark of the rules leaves each out: it knows all rows of the tables, and its parts exist."""

import pkgutil

import pytest
from rules import PARTS, TABLES, leave_out, list_losses, list_rules

SOURCE, REFERENCE = "Press <b>3</b> or 4.", "Drücken Sie <b>3</b> oder 4."


def test_every_row_of_the_tables_is_a_rule_with_a_name_of_its_own() -> None:
    rows = sum(len(pkgutil.resolve_name(path)) for path in TABLES.values())
    assert len(list_rules()) == rows + len(PARTS)


@pytest.mark.parametrize("name", PARTS)
def test_what_a_part_stands_for_exists_and_is_something_else(name: str) -> None:
    path, attribute, instead = PARTS[name]
    assert getattr(pkgutil.resolve_name(path), attribute) != instead


def test_a_row_is_left_out_of_the_tables_that_have_it_alone() -> None:
    row, other = object(), object()
    assert leave_out(row, (other, row)) == (other,)
    assert leave_out(row, (other,)) == (other,)
    assert leave_out(row, [row]) == [row]


@pytest.mark.parametrize(
    ("source", "reference", "target", "kinds"),
    [
        (SOURCE, REFERENCE, REFERENCE, set()),
        (SOURCE, REFERENCE, "Drücken Sie 3 oder 5.", {"number", "markup"}),
        ("Press 4.", "Drücken Sie.", "Drücken.", set()),  # the reference has no number either
        ("I saw Kazimierz.", "Ich sah Kazimierz.", "Ich sah ihn.", {"name"}),
        ("I saw it. It was large.", "Ich sah es. Es war groß.", "Ich sah.", {"sentence"}),
    ],
)
def test_what_the_reference_has_and_a_translation_has_not_is_lost(
    source: str, reference: str, target: str, kinds: set[str]
) -> None:
    assert set(list_losses(source, reference, target, "deu")) == kinds
