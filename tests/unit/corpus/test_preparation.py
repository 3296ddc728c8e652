import gzip
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from nmt_cli.corpus.clean import Cleaner, Reason
from nmt_cli.corpus.config import PrepareConfig
from nmt_cli.corpus.formats import Row
from nmt_cli.corpus.preparation import CleanPairs, Rejected, read_pairs, take, write_rejected
from support.corpora import toy_pairs, write_tsv

CELLS = st.one_of(st.text(alphabet="ab \u00a0\t", max_size=20), st.text(max_size=8))


@given(st.lists(st.tuples(CELLS, CELLS, st.booleans()), max_size=40))
def test_kept_and_dropped_add_up_to_what_was_read(rows: list[tuple[str, str, bool]]) -> None:
    cleaner, pairs = Cleaner(PrepareConfig(max_length=4)), CleanPairs(Path("x.tsv"))
    for line, (source, target, more) in enumerate(rows, start=1):
        take(Row(line, source, target, more), cleaner, pairs)
    assert len(pairs.sources) == len(pairs.targets)
    assert len(pairs.sources) + sum(pairs.dropped.values()) == len(rows)
    assert list(pairs.dropped) == ["empty", "too long", "length ratio", "duplicate"]


def test_text_is_normalised_before_it_is_judged(tmp_path: Path) -> None:
    rows = [("Tom\u00a0 ran.", "Tom lief."), ("Tom ran.", " Tom\tlief."), ("Cafe\u0301", "Café"), ("\u200b", "x")]
    pairs = read_pairs(write_tsv(tmp_path / "a.tsv", [rows[0], rows[2], rows[3]]), PrepareConfig(), silent)
    assert pairs.sources == ["Tom ran.", "Café"]
    assert pairs.rejected == [Rejected(Reason.EMPTY, "", "x", 3)]


def test_progress_ends_at_the_size_of_the_file_at_most(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    path = write_tsv(tmp_path / "a.tsv", toy_pairs(50))
    read_pairs(path, PrepareConfig(), lambda *what: told.append(what))
    assert told == [("reading", 0, path.stat().st_size)]


def test_rejected_pairs_can_be_read_with_reason_and_line(tmp_path: Path) -> None:
    path = tmp_path / "rejected.tsv.gz"
    write_rejected(path, [Rejected(Reason.RATIO, "a b", "ü", 7)])
    assert gzip.decompress(path.read_bytes()).decode() == "length ratio\ta b\tü\t7\n"


def silent(stage: str, done: int, total: int) -> None:
    """A progress callback that tells nobody."""
