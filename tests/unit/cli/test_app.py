import errno
import io
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from nmt_cli import __version__
from nmt_cli.cli.app import NmtGroup, PanelledCommand, app, check_streams, load_command
from nmt_cli.errors import DataError, ExitCode
from nmt_cli.translation.stages import copy_line

runner = CliRunner()
COMMANDS = ["prepare", "train", "translate", "evaluate", "visualize"]


def test_help_lists_the_five_commands_in_the_order_of_use() -> None:
    out = runner.invoke(app, ["--help"]).stdout
    places = [out.index(f"\n  {command} ") for command in COMMANDS]
    assert places == sorted(places)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_a_help_text_and_a_heading(command: str) -> None:
    result = runner.invoke(app, [command, "--help"])
    assert result.exit_code == 0
    registered = load_command(command)
    assert [one.name for one in registered.params if not one.help] == []
    assert "Everyday options:" in result.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_a_default_is_what_its_parameter_would_be_converted_to(command: str) -> None:
    """Since no default is converted. Where several values may be given, None stands for none."""
    registered = load_command(command)
    context = registered.make_context(command, [], resilient_parsing=True)
    for one in registered.get_params(context):
        default = one.get_default(context)
        converted = type(one).process_value(one, context, default)
        assert (converted or None) == (default or None), one.name
        assert type(converted) is type(default) or default is None, one.name


def test_defaults_run_their_callbacks_and_required_values_are_asked_for() -> None:
    seen: list[object] = []
    small = typer.Typer(cls=NmtGroup)

    def see(value: int) -> int:
        seen.append(value)
        return value

    @small.callback()
    def main(level: int = typer.Option(3, callback=see)) -> None: ...

    @small.command(cls=PanelledCommand)
    def one(name: str) -> None: ...

    assert "Missing argument 'name'" in runner.invoke(small, ["one"]).stderr
    assert seen == [3]


def test_the_version_is_that_of_the_package() -> None:
    assert runner.invoke(app, ["--version"]).stdout == f"nmt {__version__}\n"


def failing(problem: BaseException) -> typer.Typer:
    small = typer.Typer(cls=NmtGroup)

    @small.callback()
    def main() -> None: ...

    @small.command()
    def fail() -> None:
        raise problem

    return small


def test_an_error_is_two_lines_on_stderr_and_a_named_exit_code() -> None:
    result = runner.invoke(failing(DataError("that is wrong", hint="do this")), ["fail"])
    assert result.stderr == "error: that is wrong\nhint: do this\n"
    assert (result.stdout, result.exit_code) == ("", ExitCode.DATA)


def test_a_full_disk_is_told_in_plain_words() -> None:
    problem = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "model/encoder.onnx")
    result = runner.invoke(failing(problem), ["fail"])
    assert result.stderr.startswith("error: the disk is full: model/encoder.onnx could not be written\nhint: ")
    assert result.exit_code == ExitCode.CANNOT_WRITE


def test_an_interruption_exits_as_shells_expect() -> None:
    result = runner.invoke(failing(KeyboardInterrupt()), ["fail"])
    assert (result.exit_code, result.stdout) == (ExitCode.INTERRUPTED, "")


@pytest.mark.parametrize(
    ("request_to_end", "code"), [(KeyboardInterrupt(), ExitCode.INTERRUPTED), (SystemExit(143), ExitCode.TERMINATED)]
)
def test_a_request_that_a_compiled_module_made_an_error_of_is_still_one(
    request_to_end: BaseException, code: int
) -> None:
    problem = ImportError("initialization failed")
    problem.__cause__ = request_to_end
    assert runner.invoke(failing(problem), ["fail"]).exit_code == code


def test_a_module_that_cannot_be_loaded_is_an_error() -> None:
    assert isinstance(runner.invoke(failing(ImportError("no such module")), ["fail"]).exception, ImportError)


def test_a_traceback_is_shown_only_to_those_who_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    logger = logging.getLogger("nmt_cli")
    for name, value in (("handlers", []), ("level", logger.level)):
        monkeypatch.setattr(logger, name, value)
    monkeypatch.setenv("NMT_DEBUG", "1")
    result = runner.invoke(failing(DataError("that is wrong")), ["fail"])
    assert isinstance(result.exception, DataError)
    (handler,) = logger.handlers
    monkeypatch.setattr(handler, "stream", shown := io.StringIO())
    copy_line("a text on which nmt fails", ValueError("why"))
    copy_line("a text that is kept", DataError("no fault of nmt"))
    assert shown.getvalue() == "nmt failed on a text:\nValueError: why\n"


def test_a_command_does_not_wait_for_the_imports_of_the_others() -> None:
    code = (
        "import sys, nmt_cli.cli.app as a; a.load_command('translate');"
        "print([name for name in sys.modules if name in ('nmt_cli.cli.evaluate', 'nmt_cli.cli.visualize')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_module_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "nmt_cli", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"nmt {__version__}\n"


@pytest.mark.parametrize(("arguments", "code"), [(["--version"], ExitCode.OK), (["no-such-command"], ExitCode.USAGE)])
def test_the_process_ends_with_its_code_after_its_exit_handlers(arguments: list[str], code: int) -> None:
    registering = "a.check_streams = lambda: atexit.register(lambda: sys.stdout.write('done'))"
    program = f"import atexit, sys, nmt_cli.cli.app as a; {registering}; sys.argv[1:] = {arguments}; a.main()"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout[-4:]) == (code, "done")


def test_python_tells_of_an_error_that_none_expected() -> None:
    failing = "a.check_streams = lambda: 1 / 0"
    program = f"import sys, nmt_cli.cli.app as a; {failing}; sys.argv[1:] = ['--version']; a.main()"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == 1
    assert "ZeroDivisionError" in ended.stderr


def test_names_of_files_are_printed_with_their_control_characters_shown(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["prepare", str(tmp_path / "a\x1b]0;t\x07\nb.tsv")])
    assert r"a\x1b]0;t\x07\nb.tsv does not exist" in result.stderr
    assert "\x1b" not in result.stderr and "\x07" not in result.stderr


def test_findings_show_the_control_characters_of_a_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        f"the sentence number {number} says n {number}\tder Satz Nummer {number} sagt n {number}\n"
        for number in range(300)
    ]
    lines[3] = "the word for it is fÃ¼r\x1b]0;title\x07\tdas Wort ist fÃ¼r \x9b2J\n"
    (tmp_path / "corpus.tsv").write_text("".join(lines), encoding="utf-8")
    command = [
        "prepare",
        str(tmp_path / "corpus.tsv"),
        "--data",
        str(tmp_path / "p"),
        "-v",
        "--dev",
        "20",
        "--test",
        "20",
    ]
    result = CliRunner().invoke(app, [*command, "--vocab-size", "330"])
    assert result.exit_code == 0, result.stderr
    assert r"\x1b]0;title\x07" in result.stderr
    assert not set(result.stderr) & set("\x1b\x07\x9b")


@pytest.mark.parametrize(("encoding", "expected"), [("cp1252", "#*+- Bahnhof…ß?"), ("ascii", "#*+- Bahnhof.??")])
def test_signs_that_an_encoding_lacks_are_told_apart(
    encoding: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    buffer = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(buffer, encoding=encoding))
    check_streams()
    print("█▓▒░ Bahnhof…ß漢", end="", flush=True)
    assert buffer.getvalue().decode(encoding) == expected
