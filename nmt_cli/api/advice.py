"""Advice for somebody who has prepared a corpus or trained on it.

It states the typical scores, their precision, and the commands that would help most.

It reads only the manifest and the results, and measures nothing. At import, it needs only the standard library.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from nmt_cli.api.options.command_lines import INSTEAD_OF, CommandLine, list_values, name_typed
from nmt_cli.languages.codes import find_code, find_language
from nmt_cli.text.tags import Tag, TagPurpose, parse_tag_name
from nmt_cli.text.wrapping import format_count

if TYPE_CHECKING:
    from nmt_cli.corpus.manifest import Manifest
    from nmt_cli.training.watcher import TrainReport, Validation


class MeasuredRange(NamedTuple):
    """The range of BLEU that this toolkit's networks reached on the test set of a corpus with `pairs` pairs."""

    pairs: int
    low: float
    high: float
    source: str


# Tatoeba English-German: short sentences of everyday life. Other text has other scores.
MEASURED = (
    MeasuredRange(1_000, 4.5, 6, "benchmarks/log/small-corpora.md"),
    MeasuredRange(2_500, 9, 11, "benchmarks/log/small-corpora.md"),
    MeasuredRange(5_000, 16, 18, "benchmarks/log/small-corpora.md"),
    MeasuredRange(20_000, 28, 30, "benchmarks/log/synthetic-pairs.md"),
    MeasuredRange(50_000, 33, 35, "benchmarks/log/minutes.md"),
    MeasuredRange(165_000, 39, 43, "benchmarks/log/hour.md"),
)
MEASURED_ON = "Tatoeba English-German"
MOSTLY_EVERYDAY = 0.75  # share of such sentences: Tatoeba has 0.99, LibreOffice's help 0.33, its labels 0.25
FEW_UNKNOWN = 0.01  # share of target pieces: subwords leave none, 1,000 words a seventh of Tatoeba
REACH = 1.5  # the table speaks for corpora up to so many times smaller or larger than its ends

# Half of a 95 % interval of BLEU (bootstrap, `nmt evaluate`) on so many test sentences; it shrinks with the root of
# their number: measured 0.9 with 5,000, 1.8 to 2.0 with 1,000, 2.9 to 3.2 with 500 (benchmarks/RESULTS.md).
INTERVAL, INTERVAL_SENTENCES = 0.9, 5_000

FEW_FOR_PARENT = 20_000  # training pairs, up to which a parent is offered: measured at 2,500 to 6,441
SHORTENING = ("epochs", "batch", "batch-tokens", "epoch-pairs", "time")  # settings that may leave too few updates
ENOUGH_SHARE = 0.5  # of the updates of the defaults, below which they are too few
FEW_PAIRS = 50_000  # training pairs, up to which more of them are worth a word
FEW_FOR_TEXT = 200_000  # training pairs, up to which text without translations is worth a word
SMALL_TEST = 500  # test pairs
MANY_REJECTED = 0.05  # share of the pairs, those dropped for an EXPECTED reason apart
EXPECTED = ("duplicate", "duplicate-form", "empty", "held-out", "weight")  # nothing is lost that could be trained on
# Findings that are part of no sentence, and that only a person can fix.
WRITTEN = ("notes", "brackets", "glosses", "boundaries", "written-twice", "source-words", "mixed-apostrophes")
MOST_SUGGESTIONS = 3
FORCE = ("--force",)
ENOUGH_UPDATES = 3_000  # below these, a network that has learned nothing has had too little time
STILL_RISING = 0.5  # BLEU that the last quarter of the epochs gained
LEARNED_NOTHING = 1.0  # BLEU on the development set
HARDLY_TRANSLATES = 5.0  # BLEU on the development set, below which few words of a translation are right
# chrF beyond that of random sentences, below which a low BLEU is not due to long words alone: 1,000 pairs of
# English-German have a BLEU of 5.2 and a chrF of 22.8, random sentences one of 14.4 (benchmarks/log/small-corpora.md).
LEAST_GAIN = 8.0
ALIKE = 0.02  # share of different translations under which all count as alike


@dataclass(frozen=True)
class Suggestion:
    """A suggested improvement, and the command for it."""

    what: str
    command: str


@dataclass(frozen=True)
class Advice:
    """The scores that the size of a corpus implies, and suggestions, most useful first."""

    train_pairs: int
    test_pairs: int
    interval: float  # half of a 95 % interval of BLEU on the test set
    usual: tuple[float, float] | None  # BLEU measured with so many pairs; None where nothing comparable was measured
    suggestions: tuple[Suggestion, ...]
    cause: Suggestion | None = None  # of low scores, if it is known, which comes before all suggestions

    def to_mapping(self) -> dict[str, Any]:
        """Returns the advice as `--json` prints it."""
        return asdict(self)

    def format_lines(self, width: int | None = None) -> list[str]:
        """Returns the advice in words: a line per suggestion, or two if one would be wider than `width` columns."""
        pairs = format_count(self.train_pairs, "training pair")
        usual = self.usual and f"{self.usual[0]:.0f} to {self.usual[1]:.0f} BLEU is typical ({MEASURED_ON})"
        widest = max((len(suggestion.what) for suggestion in self.suggestions), default=0)
        rows = list(map(astuple, self.suggestions))
        lines = [f"    {what.ljust(widest)}   {command}" for what, command in rows]
        if width is not None and max(map(len, lines), default=0) > width:
            lines = [line for what, command in rows for line in (f"  {what}:", f"    {command}")]
        return [
            *([] if self.cause is None else [f"{self.cause.what}:   {self.cause.command}"]),
            *([f"with {pairs}, {usual}"] if usual else []),
            f"with {format_count(self.test_pairs, 'test pair')}, a BLEU score is accurate to ± {self.interval:.1f}",
            *([f"{'What' if self.cause is None else 'After that, what'} helps most:", *lines] if lines else []),
        ]


def compute_interval(test_pairs: int) -> float:
    """Returns half the width of BLEU's 95 % confidence interval: 0.9 times sqrt(5,000 / test sentences)."""
    return INTERVAL * math.sqrt(INTERVAL_SENTENCES / max(test_pairs, 1))


def find_usual_bleu(train_pairs: int) -> tuple[float, float] | None:
    """Returns the typical range of BLEU for this many pairs, interpolated in log size between measurements."""
    first, last = MEASURED[0], MEASURED[-1]
    if not first.pairs / REACH <= train_pairs <= last.pairs * REACH:
        return None
    size = min(max(train_pairs, first.pairs), last.pairs)
    below, above = next((a, b) for a, b in pairwise(MEASURED) if size <= b.pairs)
    share = math.log(size / below.pairs) / math.log(above.pairs / below.pairs)
    low, high = (a + share * (b - a) for a, b in ((below.low, above.low), (below.high, above.high)))
    return round(low, 1), round(high, 1)


class BaseCommands(NamedTuple):
    """The commands that suggestions extend."""

    prepare: CommandLine  # prepares this corpus
    train: CommandLine  # trains on it anew, in place of the trained model
    resume: CommandLine | None = None  # continues the training; None if it cannot be continued
    beside: CommandLine | None = None  # trains another model, where the trained one is worth keeping


class TrainingSummary(NamedTuple):
    """The facts about a training run on which advice depends."""

    is_reversed: bool = False  # from target to source
    has_parent: bool = False  # or no installed model suits the corpus
    synthetic: str = "none"  # the mode of its synthetic pairs
    has_time: bool = False  # was given by --time, instead of epochs
    runs: int = 1
    is_done: bool = False  # or the corpus was only prepared


def advise_on_corpus(manifest: Manifest, commands: BaseCommands) -> Advice:
    """Returns the advice for a prepared corpus."""
    return make_advice(manifest, suggest_for_corpus(manifest, commands, TrainingSummary()))


def advise_on_model(
    manifest: Manifest, report: TrainReport, commands: BaseCommands, trained: TrainingSummary
) -> Advice:
    """Returns the advice for a model trained on a corpus."""
    cause = find_cause(manifest, report, commands)
    if cause is None and has_learned_nothing(report.validation):
        return make_advice(manifest, suggest_for_nothing(manifest, report, commands))
    beside = commands._replace(train=commands.beside or commands.train)
    more = suggest_for_corpus(manifest, beside, trained._replace(is_done=True))
    if cause is not None:  # another training run would be cut short as well, or mend something else first
        data = [suggestion for suggestion in more if suggestion.command.startswith("nmt prepare ")]
        return make_advice(manifest, data, cause, report.validation.bleu)
    return make_advice(manifest, [*suggest_longer(report, commands), *more], None, report.validation.bleu)


def find_cause(manifest: Manifest, report: TrainReport, commands: BaseCommands) -> Suggestion | None:
    """Returns the typed options to leave out, if they allowed too few updates to learn much."""
    from nmt_cli.training.defaults import count_usual_updates  # which few commands need

    typed = [option for option in commands.train.options if name_typed(option) in SHORTENING]
    done = max((record.steps for record in report.records), default=0)
    usual = count_usual_updates(manifest.counts.splits["train"])
    if not typed or done >= ENOUGH_SHARE * usual:
        return None
    options = " ".join(" ".join(option) for option in typed)
    needed = f"{done:,} of about {format_count(max(100, round(usual, -2)), 'update')} that this corpus size needs"
    return make_suggestion(f"{needed}: leave out {options}", commands.train.omit(SHORTENING))


def make_advice(
    manifest: Manifest,
    suggestions: Iterator[Suggestion] | Sequence[Suggestion],
    cause: Suggestion | None = None,
    reached: float = 0.0,
) -> Advice:
    """Returns the advice, with the typical BLEU unless a model has `reached` more."""
    splits = manifest.counts.splits
    usual = find_usual_bleu(splits["train"]) if is_like_measured(manifest) else None
    return Advice(
        train_pairs=splits["train"],
        test_pairs=splits["test"],
        interval=round(compute_interval(splits["test"]), 1),
        usual=None if usual is not None and reached > usual[1] else usual,
        suggestions=tuple(islice(suggestions, MOST_SUGGESTIONS)),
        cause=cause,
    )


def is_like_measured(manifest: Manifest) -> bool:
    """Whether the pairs are like those that gave the typical BLEU.

    These are short sentences with a final mark, in upper and lower case, of which the network can write every word. A
    model of several languages has no typical BLEU, because it depends on each language. Nor do languages without a
    two-letter code, because many of their words are as long as a sentence.
    """
    languages = {manifest.source_language, manifest.target_language} - {"source", "target"}
    is_rare = any(len(find_code(code)) != 2 for code in languages)
    is_whole = manifest.target.unknown_share <= FEW_UNKNOWN and not manifest.options.get("lowercase")
    is_everyday = manifest.source.everyday_share >= MOSTLY_EVERYDAY
    return is_everyday and is_whole and "," not in manifest.direction and not is_rare


def suggest_for_corpus(manifest: Manifest, commands: BaseCommands, trained: TrainingSummary) -> Iterator[Suggestion]:
    """Yields suggestions that apply to a corpus, in order: first other data, then other training runs."""
    counts, train = manifest.counts, manifest.counts.splits["train"]
    dropped = {check: count for check, count in counts.dropped.items() if count and check not in EXPECTED}
    reported = (finding for finding in manifest.findings if finding.action == "reported")
    written = {finding.check: finding.count for finding in reported if finding.check in WRITTEN}
    report = commands.prepare.extend(("--report", "report.html"), FORCE)
    for what, faulty in (("rejected pair", dropped), ("pair to correct by hand", written)):
        count = (sum if faulty is dropped else max)(faulty.values() or [0])  # a pair may be reported by several checks
        if count > MANY_REJECTED * counts.read:
            pairs = format_count(count, what, what.replace("pair", "pairs", 1))
            yield make_suggestion(f"the {pairs} ({max(faulty, key=lambda check: faulty[check])})", report)
    side = "source" if trained.is_reversed else "target"
    has_written = side in manifest.monolingual
    if manifest.source.is_text and train < FEW_FOR_TEXT and not has_written:
        rarest = find_rarest(manifest, side)
        language = rarest.value if rarest else getattr(manifest, f"{side}_language")
        unknown = language == side
        name, suffix = (f"the {side} language", "txt") if unknown else (find_language(language).name, language)
        texts = list_values(f"--monolingual-{side}", f"more.{suffix}{spell_tag(rarest)}")
        yield make_suggestion(f"monolingual text in {name}", commands.prepare.extend(*texts, FORCE))
    if manifest.source.is_text and train < FEW_FOR_PARENT and not trained.has_parent:
        yield from suggest_parent(manifest, commands, trained)
    if counts.splits["test"] < SMALL_TEST and train >= 4 * SMALL_TEST:
        yield make_suggestion("a larger test set", commands.prepare.extend(("--test", str(SMALL_TEST)), FORCE))
    if train < FEW_PAIRS:
        yield suggest_pairs(manifest, commands)
    elif not trained.has_time:
        yield make_suggestion("an hour of training", commands.train.extend(("--time", "60m")))
    if trained.runs == 1:
        yield make_suggestion("the best of three seeds", commands.train.extend(("--runs", "3")))
    if manifest.source.is_text and trained.synthetic not in ("diversify", "both"):
        option = ("--synthetic", "both" if has_written else "diversify")
        yield make_suggestion("synthetic copies of the pairs, made by two models", commands.train.extend(option))


def suggest_pairs(manifest: Manifest, commands: BaseCommands) -> Suggestion:
    """Suggests more pairs; with several languages, for the one that has the fewest."""
    rarest = find_rarest(manifest, "target") or find_rarest(manifest, "source")
    name = f" of {find_language(rarest.value).name}" if rarest else ""
    return make_suggestion(
        f"more pairs{name}", commands.prepare.add_input(f"more.tsv{spell_tag(rarest)}").extend(FORCE)
    )


def find_rarest(manifest: Manifest, side: str) -> Tag | None:
    """Returns the language with the fewest training pairs on a side; None unless tags name several languages."""
    counts = {parse_tag_name(name): of_splits["train"] for name, of_splits in manifest.tags.items()}
    languages = [tag for tag in counts if tag.kind is (TagPurpose.TARGET if side == "target" else TagPurpose.SOURCE)]
    return min(languages, key=lambda tag: counts[tag]) if len(languages) > 1 else None


def spell_tag(language: Tag | None) -> str:
    """Returns the tag as typed after a file name."""
    return f"={'to' if language.kind is TagPurpose.TARGET else 'from'}:{language.value}" if language else ""


def suggest_parent(manifest: Manifest, commands: BaseCommands, trained: TrainingSummary) -> Iterator[Suggestion]:
    """Suggests the best installed model to start from, unless `nmt train` will start from it by default."""
    from nmt_cli.runtime.model_directory import list_starts  # which other commands do not need here

    sides = (manifest.source_language, manifest.target_language)
    if any(name_typed(option) in INSTEAD_OF["init-from"] for option in commands.train.options):
        return  # the network of the parent would replace that which the user chose
    for start in list_starts(sides[::-1] if trained.is_reversed else sides)[:1]:
        if trained.is_done or len(start.sides) > 1:
            option = ("--init-from", start.name)
            what = f"starting from {start.name}, {start.doubt or f'with {start.reason}'}"
            yield make_suggestion(what, commands.train.extend(option))


def make_suggestion(what: str, command: CommandLine) -> Suggestion:
    return Suggestion(what, str(command))


def suggest_longer(report: TrainReport, commands: BaseCommands) -> Iterator[Suggestion]:
    """Yields the suggestion to train longer, if the scores were still rising at the end."""
    scores = [record.bleu for record in report.records if record.complete]
    if len(scores) < 4 or report.planned_epochs is None or report.runs or commands.resume is None:
        return
    before = max(scores[: -(-3 * len(scores) // 4)])
    if scores[-1] == max(scores) and scores[-1] > before + STILL_RISING:
        longer = commands.resume.extend(("--epochs", str(2 * report.planned_epochs)))
        yield make_suggestion("longer training", longer)


def suggest_for_nothing(manifest: Manifest, report: TrainReport, commands: BaseCommands) -> Iterator[Suggestion]:
    """Yields suggestions for a model that has learned nothing for no known reason."""
    train, updates = manifest.counts.splits["train"], max((record.steps for record in report.records), default=0)
    if updates < ENOUGH_UPDATES:
        epochs = min(200, max(5, math.ceil(ENOUGH_UPDATES * 32 / max(train, 1))))
        longer = commands.train.extend(("--batch", "32"), ("--epochs", str(epochs)))
        yield make_suggestion(f"more than {format_count(updates, 'update')}", longer)
    else:
        yield make_suggestion("a lower learning rate", commands.train.extend(("--learning-rate", "5e-4")))
    checked = commands.prepare.extend(("--report", "report.html"), FORCE)
    yield make_suggestion("source and target columns that match", checked)
    if train < FEW_PAIRS:
        yield suggest_pairs(manifest, commands)


def has_learned_nothing(validation: Validation) -> bool:
    """Whether the translations of the development set are worthless, or all alike."""
    is_low = validation.bleu < LEARNED_NOTHING and hardly_translates(validation.bleu, validation.gain)
    return is_low or validation.distinct_share < ALIKE


def describe_weakness(bleu: float | None, gain: float | None) -> list[str]:
    """Returns a message if a model can hardly translate, judging by BLEU and chrF gain on its development set."""
    if bleu is None or not hardly_translates(bleu, gain):
        return []
    beyond = (
        gain is not None
        and f", and chrF {abs(gain):.1f} points {'above' if gain >= 0 else 'below'} that of random sentences,"
    )
    return [f"this model can hardly translate: BLEU {bleu:.1f}{beyond or ''} on its development set"]


def hardly_translates(bleu: float, gain: float | None) -> bool:
    """Whether translations get few words right, judging by BLEU and, if known, the `gain` in chrF over chance.

    In a language of long words, BLEU is low even where most of a word is right, and chrF is high even by chance.
    """
    return bleu < HARDLY_TRANSLATES and (gain is None or gain < LEAST_GAIN)
