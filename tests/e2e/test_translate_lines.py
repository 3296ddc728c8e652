"""What `nmt translate` writes for a line, with a model that has learned a toy language."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.commands import nmt, succeed
from support.models import WORDS
from support.spans import sentences_with_spans


def test_one_line_in_gives_one_line_out(learned: Path) -> None:
    lines = ["bade giko.", "", "  ", "\u2028", "字 x", "BADE GIKO!", "lu\x00ma.", "ba" * 400]
    text = "\n".join(lines)  # no newline at the end
    done = succeed("translate", cwd=learned, text=text)
    out = done.stdout.split("\n")
    assert len(out) == len(lines) + 1 and out[-1] == ""
    assert out[1:4] == ["", "  ", ""]
    assert (
        done.stderr.count("characters of the source never seen in training, so their translation is a guess") == 1
        and "字" in done.stderr
    )


def test_greedy_search_says_the_same_with_scores_and_without(learned: Path) -> None:
    greedy, text = ("translate", "--beam-size", "1"), "bade giko.\n\nlu.\n"
    plain = succeed(*greedy, cwd=learned, text=text).stdout.splitlines()
    scored = [line.split("\t") for line in succeed(*greedy, "--scores", cwd=learned, text=text).stdout.splitlines()]
    assert [translation for _, translation in scored] == plain
    assert all(float(score) < 0 for score, translation in scored if translation)
    told = [json.loads(line) for line in succeed(*greedy, "--json", cwd=learned, text=text).stdout.splitlines()]
    assert [one["translation"] for one in told] == plain
    assert all(one["log_probability"] < 0 for line in told for one in line["hypotheses"])


def test_n_best_lists_and_scores_are_countable(learned: Path) -> None:
    out = succeed("translate", "--n-best", "3", "--scores", cwd=learned, text="bade giko.\n\nlu.\n").stdout
    rows = [line.split("\t") for line in out.splitlines()]
    assert len(rows) == 9
    scores = [float(score) for score, _ in rows[:3]]
    assert scores == sorted(scores, reverse=True)
    assert rows[3:6] == [["0.0000", ""]] * 3


def test_json_says_all_of_a_line_and_alignments_are_those_of_the_words(learned: Path) -> None:
    text = "bade giko.\n\n"
    told = [json.loads(line) for line in succeed("translate", "--json", cwd=learned, text=text).stdout.splitlines()]
    plain = succeed("translate", "--alignments", "--scores", cwd=learned, text=text).stdout.splitlines()
    score, translation, alignment = plain[0].split("\t")
    (best,) = told[0]["hypotheses"]
    assert (told[0]["translation"], told[1]["translation"]) == (translation, "")
    assert best["score"] == pytest.approx(float(score), abs=1e-4)
    assert " ".join(f"{i}-{j}" for i, j in best["alignment"]) == alignment
    # The toy language puts the first word last, and the network was right to look there.
    assert {"1-0", "0-1"} <= set(alignment.split())
    assert sum(best["token_log_probabilities"]) == pytest.approx(best["log_probability"])
    assert told[0]["repairs"] == [] and plain[1] == "0.0000\t\t"


def test_scoring_gives_the_log_probability_that_translating_found(learned: Path) -> None:
    (told,) = [
        json.loads(line)
        for line in succeed("translate", "--json", cwd=learned, text="bade giko.").stdout.split("\n")[:1]
    ]
    pair = f"bade giko.\t{told['translation']}\n\nbade giko.\tlu lu lu.\n"
    first, blank, other = (
        line.split("\t") for line in succeed("translate", "--score", cwd=learned, text=pair).stdout.splitlines()
    )
    assert float(first[0]) == pytest.approx(told["hypotheses"][0]["log_probability"], abs=1e-3)
    assert first[1] == told["translation"] and blank == ["0.0000", ""] and float(other[0]) < float(first[0])
    done = nmt("translate", "--score", cwd=learned, text="bade giko.\tedab.\nno tab\n")
    assert done.returncode == 65 and "line 2 of the input is not a pair" in done.stderr


def test_samples_are_drawn_alike_from_a_file_and_from_a_pipe_that_waits(learned: Path) -> None:
    lines = ["bade giko lu.", "ma ne po.", "bade giko lu."]
    options = ["--sample", "--temperature", "3", "--seed", "3"]
    together = succeed("translate", *options, cwd=learned, text="\n".join(lines)).stdout.splitlines()
    command = [sys.executable, "-m", "nmt_cli", "translate", *options]
    with subprocess.Popen(command, cwd=learned, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin and process.stdout
        for line, expected in zip(lines, together, strict=True):
            process.stdin.write(f"{line}\n".encode())
            process.stdin.flush()
            assert process.stdout.readline().decode() == f"{expected}\n"
        process.stdin.close()
    assert nmt("translate", "--top-p", "0.5", cwd=learned, text="lu.\n").stderr.splitlines() == [
        "error: --top-p needs --sample",
        "hint: add --sample, or leave it out",
    ]


def test_prefix_ban_and_ensemble_from_the_command_line(learned: Path) -> None:
    text = "bade giko lu.\nma ne po.\n"
    forced = succeed(
        "translate", "--prefix", "ul", "--no-repeat-ngram", "1", cwd=learned, text=text
    ).stdout.splitlines()
    assert all(line.startswith("ul") for line in forced)
    alone = succeed("translate", cwd=learned, text=text).stdout
    assert succeed("translate", "--ensemble", "model", cwd=learned, text=text).stdout == alone
    assert succeed("translate", "--rerank", "model", cwd=learned, text=text).stdout.count("\n") == 2
    done = nmt("translate", "--replace-unknown", cwd=learned, text=text)
    assert done.returncode == 2 and "unigram subwords" in done.stderr


def test_healthy_lines_are_byte_for_byte_the_same_with_and_without_healing(learned: Path) -> None:
    rows = (learned / "prepared" / "test.tsv").read_text(encoding="utf-8").splitlines()
    text = "".join(row.split("\t")[0] + "\n" for row in rows) + "ba" * 300 + "\n"
    told = [json.loads(line) for line in succeed("translate", "--json", cwd=learned, text=text).stdout.splitlines()]
    repaired = succeed("translate", cwd=learned, text=text)
    plain = succeed("translate", "--no-repair", cwd=learned, text=text)
    assert "translated again" not in plain.stderr
    ill = {number for number, one in enumerate(told) if one["repairs"]}
    assert len(ill) < len(told) / 10
    pairs = zip(repaired.stdout.splitlines(), plain.stdout.splitlines(), strict=True)
    assert {number for number, (one, other) in enumerate(pairs) if one != other} <= ill
    assert bool(ill) == ("translated again" in repaired.stderr)


def test_files_are_read_and_written_by_name(learned: Path) -> None:
    (learned / "in.txt").write_bytes(b"bade giko.\r\nlu.")
    done = succeed("translate", "in.txt", "-o", "out.txt", "--beam-size", "1", cwd=learned)
    assert done.stdout == ""
    first, second = succeed("translate", "--beam-size", "1", cwd=learned, text="bade giko.\nlu.\n").stdout.splitlines()
    assert (learned / "out.txt").read_bytes().decode() == f"{first}\r\n{second}"
    succeed("translate", "in.txt", "in.txt", "-o", "both.txt", "--beam-size", "1", cwd=learned)
    assert (learned / "both.txt").read_bytes().decode() == f"{first}\r\n{second}\n" * 2


def test_a_thousand_protected_spans_survive_byte_for_byte(learned: Path) -> None:
    lines = sentences_with_spans(WORDS, 1000)
    done = succeed("translate", cwd=learned, text="".join(f"{line}\n" for line, _ in lines))
    translations = done.stdout.split("\n")[:-1]
    assert sum(len(spans) for _, spans in lines) == 1000
    for (line, spans), translation in zip(lines, translations, strict=True):
        for span in spans:
            assert translation.count(span) >= sum(other.count(span) for other in spans), (line, translation)


def test_terms_of_a_glossary_have_their_translation(learned: Path) -> None:
    (learned / "terms.tsv").write_text("giko\tWunschwort\n", encoding="utf-8")
    done = succeed("translate", "--glossary", "terms.tsv", cwd=learned, text="bade giko lu.\nbade lu.\n")
    first, second = done.stdout.splitlines()
    assert "Wunschwort" in first and "Wunschwort" not in second
    (learned / "terms.tsv").write_text("giko\tWunschwort\nlu\n", encoding="utf-8")
    failed = nmt("translate", "--glossary", "terms.tsv", cwd=learned, text="bade.\n")
    assert failed.returncode == 65
    assert "terms.tsv, row 2" in failed.stderr


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells a process its peak of memory")
def test_a_line_of_ten_thousand_words_is_one_line_in_bounded_memory(learned: Path) -> None:
    line = " ".join(f"{WORDS[n % 64]}{'.' if n % 7 == 6 else ''}" for n in range(10_000))
    # Its own peak: that of `getrusage` begins with the memory of the process that started it, here that of the tests.
    code = "import re, sys; from nmt_cli.cli.app import main\ntry: main()\nfinally: "
    code += "print(*re.findall(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read()), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code, "translate", "--beam-size", "2"],
        cwd=learned,
        input=f"{line}\n{line}\n".encode(),
        capture_output=True,
        check=True,
    )
    out = done.stdout.decode().splitlines()
    assert len(out) == 2 and out[0] == out[1]
    assert len(out[0].split()) > 5000
    # KiB. The program and its batches; attention as one array would need 400 MB a line more.
    assert int(done.stderr.split()[-1]) < 400_000
