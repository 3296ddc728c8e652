"""`nmt visualize`: where the network looked, what search considered, how training went, what the data are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from nmt_cli.cli.attention_view import Wanted, draw_attention
from nmt_cli.cli.charts import draw_corpus, draw_history, draw_search, list_nearest
from nmt_cli.cli.options import DataDirectory, Given, ModelDirectory, Quiet, described, with_settings
from nmt_cli.cli.render import Screen
from nmt_cli.errors import OptionError
from nmt_cli.search.config import SearchConfig


def flag(name: str, help: str) -> Any:
    return typer.Option(name, help=help, rich_help_panel="Pictures")


OF_ATTENTION = {"target", "pairs", "gold", "subwords", "transpose"}
OF_SEARCH = {field.name for field in described(SearchConfig)}
MEANINGLESS = {  # what says nothing where something else than attention is shown
    "--beam": OF_ATTENTION,
    "--curves": OF_ATTENTION | OF_SEARCH | {"sentences"},
    "--corpus": OF_ATTENTION | OF_SEARCH | {"sentences"},
    "--nearest": OF_ATTENTION | OF_SEARCH | {"output"},
}


@with_settings
def visualize(
    *,
    given: Given,
    sentences: Annotated[
        list[str] | None, typer.Argument(metavar="[SENTENCE]...", help="Sentences to translate.", show_default=False)
    ] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "-o",
            "--output",
            help="File to write, .png, .svg or .html, or - for the terminal; may be repeated.  [default: -]",
            show_default=False,
            rich_help_panel="Files",
        ),
    ] = None,
    target: Annotated[
        list[str] | None, flag("--target", "Show attention under this translation; once for each sentence.")
    ] = None,
    pairs: Annotated[
        Path | None, flag("--pairs", "Tab-separated file of sentences and the translations to show.")
    ] = None,
    gold: Annotated[
        Path | None, flag("--gold", "Links of people (0-0 1-2, a line a sentence) to measure attention against.")
    ] = None,
    subwords: Annotated[bool, flag("--subwords", "Show subword pieces instead of words.")] = False,
    transpose: Annotated[bool, flag("--transpose", "Source across and translation downwards.")] = False,
    beam: Annotated[bool, flag("--beam", "Draw the tree of the beam search instead.")] = False,
    curves: Annotated[bool, flag("--curves", "Draw the learning curves of the model instead.")] = False,
    corpus: Annotated[bool, flag("--corpus", "Draw lengths and frequencies of the prepared corpus instead.")] = False,
    nearest: Annotated[
        int, typer.Option(help="List this many nearest training pairs instead.", min=0, rich_help_panel="Pictures")
    ] = 0,
    data: DataDirectory = Path("prepared"),
    model: ModelDirectory = Path("model"),
    search: SearchConfig,
    quiet: Quiet = False,
) -> None:
    """Draw the attention of translations: source words downwards, produced words across.

    On the terminal, as a picture (.png, .svg) or as an interactive page (.html). --beam, --curves, --corpus and
    --nearest show something else instead; so does --data without a sentence: the corpus in that directory.
    """
    screen = Screen(quiet=quiet)
    lines, outputs = tuple(sentences or ()), tuple(output or ())
    if not (lines or target or pairs or gold or beam or curves or nearest) and "data" in given.typed:
        corpus = True
    check_meaning(given, {"--beam": beam, "--curves": curves, "--corpus": corpus, "--nearest": nearest > 0})
    if curves:
        draw_history(model, outputs, screen)
    elif corpus:
        draw_corpus(data, outputs, screen)
    elif beam:
        draw_search(lines, outputs, model, search, screen)
    elif nearest:
        list_nearest(lines, nearest, data, model, screen)
    else:
        wanted = Wanted.of(lines, target or (), pairs, outputs, merge=not subwords, transpose=transpose, gold=gold)
        draw_attention(wanted, model, search, screen)


def check_meaning(given: Given, instead: Mapping[str, bool]) -> None:
    """Raises OptionError for several things to be shown `instead` of attention, and for what says nothing of one."""
    wanted = [option for option, asked in instead.items() if asked]
    if len(wanted) > 1:
        raise OptionError("--beam, --curves, --corpus and --nearest are one each", hint="give one of them")
    for option in wanted:
        given.refuse(MEANINGLESS[option], f"does not go with {option}", hint="leave one of them out")
    if translation := given.first({"target", "pairs"}):
        why, hint = f"does not go with {translation}", "it is about search: leave it out"
        given.refuse(OF_SEARCH - {"max_source_length"}, why, hint=hint)
