"""Folders in, folders out, through the command line."""

import json
import subprocess
import sys
from pathlib import Path

from support.archives import make_docx, unpack

TRANSLATE = [sys.executable, "-m", "nmt_cli", "translate", "--beam-size", "1"]


def test_a_folder_keeps_its_form_and_a_damaged_file_costs_itself_alone(place: Path, tmp_path: Path) -> None:
    (tmp_path / "in/sub").mkdir(parents=True)
    (tmp_path / "in/a.txt").write_text("bade giko.\n\nlu.\n")
    (tmp_path / "in/sub/b.docx").write_bytes(make_docx("<w:p><w:r><w:t>bade giko.</w:t></w:r></w:p>"))
    (tmp_path / "in/sub/c.docx").write_bytes(b"PK\3\4 damaged")
    (tmp_path / "in/sub/d.png").write_bytes(b"\x89PNG\r\n")
    (tmp_path / "in/sub/e.docx").write_bytes(b"\0damaged")
    (tmp_path / "in/table.csv").write_text("id,English\n1,bade giko.\n")
    report = tmp_path / "qa.json"
    command = [*TRANSLATE, f"{tmp_path}/in", "-o", f"{tmp_path}/out", "--json", "--report", str(report)]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True)
    assert done.returncode == 65, done.stderr
    assert sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("[!.]*.*")) == [
        "a.txt",
        "sub/b.docx",
    ]
    assert len((tmp_path / "out/a.txt").read_text().split("\n")) == 4
    assert "word/media/image1.png" in unpack((tmp_path / "out/sub/b.docx").read_bytes())
    files = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(Path(file["name"]).name, file["texts"], "error" in file) for file in files] == [
        ("e.docx", 0, True),
        ("table.csv", 0, True),
        ("a.txt", 2, False),
        ("b.docx", 1, False),
        ("c.docx", 0, True),
    ]
    told = " ".join(done.stderr.split())
    assert "1 of 6 files neither translated nor copied" in told and "d.png (a picture)" in told
    assert "error: 3 of 5 files not translated" in told and "c.docx: docx must be a zip archive" in told
    assert "table.csv: a table without the column that --column names" in told
    assert json.loads(report.read_text())["files"] == files


def test_a_name_in_a_folder_forges_no_line_and_a_link_leads_nowhere_else(place: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.txt").write_text("mine\n")
    for name in ("a\n  b.txt: 1 text, confidence 1.00.txt", "c\x1b]0;title\x07.txt", "d\u202efdp.txt"):
        (tmp_path / "in" / name).write_text("bade giko.\n")
    (tmp_path / "in/host.txt").symlink_to(tmp_path / "secret.txt")
    done = subprocess.run(
        [*TRANSLATE, "in", "-o", "out", "--model", place / "model"], cwd=tmp_path, capture_output=True
    )
    shown = done.stderr.decode()
    assert done.returncode == 0 and r"in/a\n  b.txt: 1 text" in shown and r"c\x1b]0;title\x07.txt" in shown
    assert not [line for line in shown.splitlines() if line.startswith("  b.txt")] and "\u202e" not in shown
    assert "host.txt (a link to a file outside the folder)" in " ".join(shown.split())
    assert len(list((tmp_path / "out").glob("*.txt"))) == 3 and not (tmp_path / "out/host.txt").exists()
