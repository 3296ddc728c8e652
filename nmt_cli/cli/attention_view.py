"""What `nmt visualize` does with sentences: translates or forces them, measures, draws. `visualize.py` has the options.

Must stay light: it is imported for `nmt --help`.
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from nmt_cli.cli.open_model import open_translator
from nmt_cli.cli.render import Screen
from nmt_cli.errors import DataError, OptionError
from nmt_cli.evaluation.texts import read_sentences
from nmt_cli.search.config import SearchConfig
from nmt_cli.text.normalise import normalise
from nmt_cli.translation.config import LineConfig
from nmt_cli.translation.truncation import SourceCuts, limits_told
from nmt_cli.translation.word_alignment import links
from nmt_cli.visuals.canvas import SUFFIXES, check_suffix
from nmt_cli.visuals.heatmap import draw, terminal_lines
from nmt_cli.visuals.words import Attended, attended

if TYPE_CHECKING:
    from nmt_cli.translation.result import Translation
    from nmt_cli.translation.translator import Translator

TERMINAL = Path("-")
PAGES = (".html",)


@dataclass(frozen=True)
class Wanted:
    """What is to be drawn, and where to."""

    sentences: tuple[str, ...]
    targets: tuple[str, ...]  # as many as sentences, or none: then the model translates
    outputs: tuple[Path, ...]  # TERMINAL stands for standard output
    merge: bool
    transpose: bool
    gold: Path | None

    @classmethod
    def of(
        cls,
        sentences: Sequence[str],
        targets: Sequence[str],
        pairs: Path | None,
        outputs: Sequence[Path],
        *,
        merge: bool,
        transpose: bool,
        gold: Path | None,
    ) -> Wanted:
        """Raises OptionError for what does not go together, before anything is loaded."""
        if pairs is not None:
            if sentences or targets:
                raise OptionError("--pairs does not go with sentences or --target", hint="give one of them")
            sentences, targets = read_pairs(pairs)
        sentences = [" ".join(sentence.split("\n")) for sentence in sentences]
        if not sentences or not all(sentence.strip() for sentence in sentences):
            raise OptionError("the sentence is empty", hint='write it in quotes: nmt visualize "where is the station?"')
        if targets and len(targets) != len(sentences):
            raise OptionError(
                f"{len(targets)} --target for {len(sentences)} sentences", hint="give one for each, in their order"
            )
        if not all(target.strip() for target in targets):
            raise OptionError("a --target is empty", hint="leave it out to see what the model writes")
        if gold is not None and not targets:
            raise OptionError(
                "--gold needs the translations that its links belong to", hint="name them with --target or --pairs"
            )
        for output in outputs:
            if output != TERMINAL:
                check_suffix(output, (*SUFFIXES, *PAGES))
        drawn_anyway = () if gold is not None else (TERMINAL,)
        return cls(tuple(sentences), tuple(targets), tuple(outputs) or drawn_anyway, merge, transpose, gold)


def read_pairs(path: Path) -> tuple[list[str], list[str]]:
    """Sources and targets of a tab-separated file. Raises DataError for a line that is no pair."""
    rows = [line.split("\t") for line in read_sentences(path)]
    for number, row in enumerate(rows, start=1):
        if len(row) < 2 or not (row[0].strip() and row[1].strip()):
            raise DataError(f"{path}, line {number:,} is no pair", hint="a line is a source, a tab and its translation")
    if not rows:
        raise DataError(f"{path} is empty")
    return [row[0] for row in rows], [row[1] for row in rows]


def draw_attention(wanted: Wanted, model: Path, search: SearchConfig, screen: Screen) -> None:
    """Draws every sentence to every output, and tells how good an alignment the attention is."""
    # As `nmt translate` does, the network reads the sentences of a line one by one; but a given target is of it all.
    translator = open_translator(model, lines=LineConfig(split_sentences=not wanted.targets))
    if translator.card.network.get("attention") == "none":
        raise OptionError(
            f"the model in {model}/ has no attention to draw",
            hint="train one with another --attention than none; --beam, --curves and --nearest work with this one",
        )
    translations = translated(wanted, translator, search)
    if any(translation.cut for translation in translations):
        screen.warn(f"a translation was cut before its end, at {limits_told(search.max_length)}")
    if cuts := SourceCuts.of(translations).told:
        screen.warn(cuts)
    for translation in translations:
        if not translation.text:
            screen.warn(f"the model translates {translation.source!r} to nothing")
    pictures = translator.card.source.get("type", "text") != "text"
    measures = [measured(translation, pictures) for translation in translations]
    for output in wanted.outputs:
        if output == TERMINAL:
            print_drawings(translations, wanted, measures)
        elif output.suffix.lower() in PAGES:
            write_html(translations, wanted, measures, output)
            screen.say(told(output, translations))
        else:
            draw_pictures(translations, wanted, output, pictures, screen)
    if wanted.gold is not None:
        typer.echo(gold_line(translations, wanted.gold))


def told(output: Path, translations: Sequence[Translation]) -> str:
    several = len(translations) > 1
    return f"{output}: {len(translations)} sentences" if several else drawn(output, translations[0])


def drawn(output: Path, translation: Translation) -> str:
    return f"{output}: {translation.text}" if translation.text else f"{output} is written"


def translated(wanted: Wanted, translator: Translator, search: SearchConfig) -> list[Translation]:
    """The best translations, or the given ones as the model sees them."""
    if wanted.targets:
        from nmt_cli.translation.forced import forced_translations

        sentences, targets = wanted.sentences, wanted.targets
        translations = forced_translations(translator, sentences, targets, limit=search.max_source_length)
    else:
        translations = translator.translate(list(wanted.sentences), dataclasses.replace(search, n_best=1))
    for translation in translations:
        if not translation.hypotheses:
            raise OptionError(
                f"nothing is left of {translation.source!r} once it is normalised", hint="give a sentence with words"
            )
    return translations


def measured(translation: Translation, pictures: bool) -> str:
    """Entropy of the attention by words, and its diagonal share where the source has an order."""
    from nmt_cli.evaluation.analysis.alignment import diagonal_share, entropy

    attention = attended(translation, merge=True).attention
    probability = translation.hypotheses[0].log_probability
    near = "" if pictures else f", {diagonal_share(attention):.0%} near the diagonal"
    what = "caption" if pictures else "translation"
    return (
        f"attention entropy {entropy(attention):.2f} bits a word{near}; log-probability of the {what} {probability:.2f}"
    )


def print_drawings(translations: Sequence[Translation], wanted: Wanted, measures: Sequence[str]) -> None:
    width = shutil.get_terminal_size().columns
    for place, (translation, measure) in enumerate(zip(translations, measures, strict=True)):
        if place:
            typer.echo("")
        one = attended(translation, merge=wanted.merge)
        typer.echo("\n".join([one.source_text, one.target_text, "", *terminal_drawing(one, wanted, width), measure]))


def terminal_drawing(one: Attended, wanted: Wanted, width: int) -> list[str]:
    if wanted.transpose:
        return terminal_lines(one.attention.T, one.target, one.source, width)
    return terminal_lines(one.attention, one.source, one.target, width)


def draw_pictures(
    translations: Sequence[Translation], wanted: Wanted, output: Path, pictures: bool, screen: Screen
) -> None:
    """One picture a sentence; of several each has its number in its name."""
    for number, translation in enumerate(translations, start=1):
        path = output if len(translations) == 1 else output.with_stem(f"{output.stem}-{number}")
        one = attended(translation, merge=wanted.merge)
        missing = draw_over_picture(one, path) if pictures else draw_heatmap(one, wanted, path)
        screen.say(drawn(path, translation))
        if missing:
            warn_of_glyphs(missing, screen)


def draw_heatmap(one: Attended, wanted: Wanted, path: Path) -> str:
    labels, array = (one.source, one.target), one.attention
    if wanted.transpose:
        labels, array = (one.target, one.source), one.attention.T
    return draw(array, *labels, path, title=(one.source_text, one.target_text))


def draw_over_picture(one: Attended, path: Path) -> str:
    """Each word's weights over the picture that the source names, or that stands beside its features."""
    from nmt_cli.visuals.grid import draw_grid
    from nmt_cli.visuals.picture import picture_beside

    return draw_grid(
        one.attention, one.target, path, title=one.target_text, picture=picture_beside(Path(one.source_text))
    )


def warn_of_glyphs(missing: str, screen: Screen) -> None:
    screen.warn(f"no installed font shows {missing[:20]} (drawn as boxes): write an .svg, or install a Noto font")


def write_html(translations: Sequence[Translation], wanted: Wanted, measures: Sequence[str], output: Path) -> None:
    from nmt_cli.visuals.html import Shown, write_page

    shown = [
        Shown(attended(translation, merge=True), attended(translation, merge=False), measure)
        for translation, measure in zip(translations, measures, strict=True)
    ]
    write_page(shown, output, merge=wanted.merge, transpose=wanted.transpose)


def gold_line(translations: Sequence[Translation], path: Path) -> str:
    """The alignment error rate of the attention and its means, words being what stands between blanks."""
    from nmt_cli.evaluation.analysis.alignment import check_links, diagonal_share, entropy, error_rate, read_links

    gold = read_links(path, len(translations))
    sizes = [(len(normalise(one.source).split()), len(one.text.split())) for one in translations]
    check_links(gold, sizes, path)
    rate = error_rate([frozenset(links(one, one.hypotheses[0])) for one in translations], gold)
    whole = [
        attended(translation, merge=True).attention for translation in translations
    ]  # with the end of the sentence
    bits = sum(map(entropy, whole)) / len(whole)
    near = sum(map(diagonal_share, whole)) / len(whole)
    return (
        f"alignment error rate {100 * rate:.1f} %   attention entropy {bits:.2f} bits a word   "
        f"{near:.0%} near the diagonal   ({len(gold):,} sentences, each word's strongest link)"
    )
