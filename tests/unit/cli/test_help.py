"""The help pages: their order, their parts, and that they fit the terminal."""

import re

import pytest
from typer.testing import CliRunner

from nmt_cli.cli.app import NmtCommands, app, load_command
from nmt_cli.cli.help import shorten_description
from nmt_cli.cli.help_pages import FIRST_STEPS, PAGES
from nmt_cli.cli.parsing.configuration import name_option

runner = CliRunner()
COMMANDS = list(NmtCommands.lazy)
WIDTHS = (40, 60, 80, 120)


def render(*arguments: str, width: int = 80) -> str:
    result = runner.invoke(app, list(arguments), env={"COLUMNS": str(width)})
    assert result.exit_code == 0
    return result.stdout


def section_of(page: str, heading: str) -> str:
    return page[page.index(f"\n{heading}") + 1 :].split("\n\n")[0]


def words_of(page: str) -> list[str]:
    """The words of a page, without what depends on its width: line ends of commands, breaks after bars and slashes."""
    return sorted(re.sub(r"(\||/(?=\n +--))\n +", r"\1", re.sub(r" \\\n", "\n", page)).replace("# ", "").split())


@pytest.mark.parametrize("command", [*COMMANDS, ""])
@pytest.mark.parametrize("flag", ["--help", "--help-all"])
def test_a_page_has_the_same_words_at_every_width_and_no_line_is_wider(command: str, flag: str) -> None:
    if not command:
        flag = "--help"
    widest = words_of(render(*filter(None, [command]), flag, width=120))
    for width in WIDTHS:
        page = render(*filter(None, [command]), flag, width=width)
        assert words_of(page) == widest
        assert [line for line in page.splitlines() if len(line) > width] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_begins_with_arguments_five_examples_and_everyday_options(command: str) -> None:
    page = render(command, "--help")
    headings = re.findall(r"^(\w[^\n]*):$", page, re.MULTILINE)
    expected = ["Arguments"] if "\nArguments:\n" in page else []
    assert headings[: len(expected) + 2] == [*expected, "Examples", "Everyday options"]
    assert section_of(page, "Examples:").count("nmt ") == 5 == len(PAGES[command].examples)
    assert page.rstrip().endswith(f"Documentation: docs/{command}.md")


@pytest.mark.parametrize("command", COMMANDS)
def test_an_example_and_its_effect_fit_a_line_of_eighty_columns(command: str) -> None:
    examples = section_of(render(command, "--help", width=80), "Examples:").splitlines()[1:]
    assert len(examples) == 5 and all(" # " in line for line in examples)


@pytest.mark.parametrize("command", [[], ["train"]])
def test_help_is_a_command_too(command: list[str]) -> None:
    pages = [CliRunner().invoke(app, typed).stdout for typed in ([*command, "--help"], ["help", *command])]
    assert pages[0] == pages[1] != ""


def test_the_first_page_says_what_to_type_first() -> None:
    page = render("--help")
    steps = section_of(page, "Start with")
    assert [step.command.split("nmt ")[1].split()[0] for step in FIRST_STEPS] == COMMANDS
    assert all(step.command in steps for step in FIRST_STEPS)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_everyday_option_is_one_of_the_command(command: str) -> None:
    names = [name_option(parameter) for parameter in load_command(command).params]
    assert set(PAGES[command].everyday) <= set(names)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_every_option_and_full_help_describes_it(command: str) -> None:
    short, full = render(command, "--help"), render(command, "--help-all", width=120)
    for parameter in load_command(command).params:
        if parameter.param_type_name == "option" and not parameter.hidden:
            names = [name for name in (*parameter.opts, *parameter.secondary_opts) if name.startswith("--")]
            assert set(names) & set(re.findall(r"--[\w-]+", short)), parameter.name
            assert " ".join(parameter.help.split("[")[0].split()[:3]) in " ".join(full.split()), parameter.name


@pytest.mark.parametrize("command", COMMANDS)
def test_no_page_has_a_type_of_python_or_a_doubled_default(command: str) -> None:
    full = render(command, "--help-all")
    assert not re.search(r"<|list\[|int range|x>=|default: no-|\.\. \[", full)


@pytest.mark.parametrize("command", ["prepare", "train", "translate"])
def test_long_help_fits_on_two_screens_and_everything_is_one_page_away(command: str) -> None:
    assert len(render(command, "--help").splitlines()) <= 2 * 40
    assert f"{command} --help-all" in render(command, "--help")


def test_a_flag_shows_what_changes_its_default() -> None:
    page = render("translate", "--help-all")
    assert "\n  --repair/--no-repair " in page and "[default: on]" in page
    assert "\n  --strict " in page and "--no-strict" not in page


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("Seed.", "Seed."),
        ("Size of the beam; 1 is greedy search.", "Size of the beam; 1 is greedy search."),
        ("Write a page. It is a single file that can be sent to anybody.", "Write a page."),
        (
            "Penalty (Wu et al. 2016; see there); what is said after this is long.",
            "Penalty (Wu et al. 2016; see there).",
        ),
    ],
)
def test_a_short_description_is_the_first_clause_and_what_is_short(text: str, short: str) -> None:
    assert shorten_description(text) == short


def test_a_flag_may_be_repeated() -> None:
    result = runner.invoke(app, ["translate", "-q", "-q", "--repair", "--repair", "no-such-file"])
    assert "no-such-file" in result.stderr
