"""Running the checks: what is dropped, kept, mended and reported, and what `--strict` refuses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.manifest import Finding, FindingExample
from nmt_cli.corpus.steps.run_checks import refuse_findings, run_checks
from nmt_cli.errors import DataError
from support.corpora import check_rows, examine_rows


def test_given_test_data_is_not_cleaned_but_for_empty_sides() -> None:
    rows = [("a", "1"), ("b b b b", "b b b b"), ("b b b b", "b b b b"), ("", "x")]
    pairs = examine_rows(rows, roles=["train", "test"], inputs=[0, 1, 1, 1])
    run_checks(pairs, PrepareConfig(), lambda done: None)
    assert pairs.is_kept.tolist() == [True, True, True, False]


def test_what_is_kept_is_still_reported_and_neither_dropped_nor_mended() -> None:
    rows = [("a &amp; b", "x"), ("c c c c", "c c c c")]
    config = PrepareConfig(keep=("markup", "identical"))
    pairs = examine_rows(rows, keep=config.keep)
    findings = {finding.check: finding.action for finding in run_checks(pairs, config, lambda done: None)}
    assert findings == {"markup": "kept", "identical": "kept"}
    assert pairs.is_kept.all() and pairs.source[0] == "a &amp; b"


def test_examples_of_mended_pairs_show_what_was_there() -> None:
    finding = check_rows([("x", "y"), ("a &amp; b", "z")])["markup"]
    assert (finding.examples[0].source, finding.examples[0].line, finding.count) == ("a &amp; b", 2, 1)


@pytest.mark.parametrize(("checks", "hint"), [(["held-out"], "report.html"), (["held-out", "empty"], "--keep empty")])
def test_what_strict_advises_to_keep_can_be_kept(checks: list[str], hint: str) -> None:
    place = FindingExample(file="a.tsv", line=1, source="x", target="y")
    bad = [Finding(check=name, problem="", count=1, action="dropped", note="", examples=(place,)) for name in checks]
    with pytest.raises(DataError) as caught:
        refuse_findings(tuple(bad))
    assert caught.value.hint.endswith(hint)


CELLS = st.one_of(st.text(alphabet="ab \u00a0\t&;<", max_size=20), st.text(max_size=8))


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=40))
def test_any_pairs_are_kept_or_dropped_for_a_reason(rows: list[tuple[str, str]]) -> None:
    pairs = examine_rows(rows)
    findings = run_checks(pairs, PrepareConfig(max_length=4), lambda done: None)
    assert sum(finding.count for finding in findings if finding.action == "dropped") == int((~pairs.is_kept).sum())
    assert all(0 < len(finding.examples) <= 3 and finding.count >= len(finding.examples) for finding in findings)
