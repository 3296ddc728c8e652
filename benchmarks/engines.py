"""How fast do engines find the rows whose keys repeat, and in how much memory?

    python benchmarks/engines.py [--pairs 10000000] [--work DIR]

This is what `nmt prepare` asks of all sentences at once: the numbers of the rows whose 64-bit key another row has, too,
sorted by key and row. The keys are those of sentences of which a third repeat. Each engine is a process of its own and
reads the keys from a file; DuckDB and Polars (`pip install duckdb polars`) stream them. All must give equal rows.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import make_parser, measure_command

Rows = Any  # an array; numpy is only imported in the processes that are measured
WRITER = "keys"


def sort_with_nmt(folder: Path) -> Rows:
    """The way of `nmt prepare`: partitions by the first bits of the keys."""
    import numpy as np

    from nmt_cli.arrays.scratch import Scratch, find_equal_rows

    keys = np.load(folder / "keys.npy", mmap_mode="r")
    is_chosen = np.ones(len(keys), np.bool_)
    return np.concatenate([part.rows for part in find_equal_rows([keys], is_chosen, Scratch(folder))])


def sort_with_numpy(folder: Path) -> Rows:
    """All at once, in memory."""
    import numpy as np

    keys = np.load(folder / "keys.npy")
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    same = ordered[1:] == ordered[:-1]
    return order[np.append(same, False) | np.append(False, same)]


def sort_with_duckdb(folder: Path) -> Rows:
    import duckdb
    import numpy as np

    connection = duckdb.connect(str(folder / "keys.duckdb"))
    connection.execute(f"SET memory_limit = '1GB'; SET temp_directory = '{folder}'; SET threads = 2")
    rows = connection.execute(
        f"""WITH repeated AS (SELECT key FROM '{folder}/keys.parquet' GROUP BY key HAVING count(*) > 1)
        SELECT row FROM '{folder}/keys.parquet' SEMI JOIN repeated USING (key) ORDER BY key, row"""
    ).fetchnumpy()
    return np.asarray(rows["row"], np.int64)


def sort_with_polars(folder: Path) -> Rows:
    import polars

    keys = polars.scan_parquet(folder / "keys.parquet")
    repeated = keys.group_by("key").len().filter(polars.col("len") > 1)
    rows = keys.join(repeated, on="key", how="semi").sort("key", "row").select("row").collect(engine="streaming")
    return rows["row"].to_numpy()


ENGINES: dict[str, Callable[[Path], Rows]] = {
    "nmt": sort_with_nmt,
    "numpy": sort_with_numpy,
    "duckdb": sort_with_duckdb,
    "polars": sort_with_polars,
}


def write_keys(folder: Path, pairs: int, seed: int) -> None:
    """Writes the keys as an array and as a table; a third of the rows repeats the key of another."""
    import numpy as np
    import pyarrow
    from pyarrow import parquet

    generator = np.random.default_rng(seed)
    sentences = generator.integers(0, 2**64, pairs, dtype=np.uint64)
    is_repeated = generator.random(pairs) < 1 / 3
    sentences[is_repeated] = sentences[(generator.random(is_repeated.sum()) ** 3 * pairs).astype(np.int64)]
    np.save(folder / "keys.npy", sentences)
    table = pyarrow.table({"key": sentences, "row": np.arange(pairs)})
    parquet.write_table(table, folder / "keys.parquet")


def main() -> None:
    parser = make_parser(__doc__, "seed")
    parser.add_argument("--pairs", type=int, default=10_000_000)
    parser.add_argument("--engine", choices=[WRITER, *ENGINES], help="one alone, in this process and the folder --work")
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    if options.engine == WRITER:
        write_keys(options.work, options.pairs, options.seed)
        return
    if options.engine:
        import numpy as np

        rows = ENGINES[options.engine](options.work)
        (options.work / options.engine).write_text(hashlib.sha256(rows.astype(np.int64).tobytes()).hexdigest())
        return
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        for name in (WRITER, *ENGINES):
            size = ["--pairs", str(options.pairs), "--seed", str(options.seed)]
            cost = measure_command([sys.executable, __file__, "--engine", name, "--work", folder, *size])
            if name == WRITER:
                continue
            digest = Path(folder, name).read_text()[:8]
            print(
                f"{options.pairs:>11,} {name:8} {cost.wall:6.1f} s {cost.processors:6.1f} s of processors "
                f"{cost.megabytes:7,.0f} MB  rows {digest}",
                flush=True,
            )


if __name__ == "__main__":
    main()
