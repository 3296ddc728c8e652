"""The table of options that cannot be combined, for all commands, and the options that the user set."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from nmt_cli.api.drawings.config import SUBJECTS, TERMINAL, DrawingOptions
from nmt_cli.api.serve_config import ServeOptions
from nmt_cli.api.translating.line_layout import LayoutOptions
from nmt_cli.documents.config import DocumentOptions
from nmt_cli.errors import OptionError
from nmt_cli.evaluation.config import SUBWORD_TOKENIZERS
from nmt_cli.search.config import SamplingOptions, SearchOptions
from nmt_cli.settings import Settings, name_option, option_fields
from nmt_cli.translation.config import (
    CheckOptions,
    ContextOptions,
    LineOptions,
    MemoryOptions,
    RepairOptions,
    TagOptions,
)
from nmt_cli.workers.choice import ExecutorOptions

if TYPE_CHECKING:
    from nmt_cli.runtime.model_directory import ModelCard

# A row of the table of refusals, and the values that it inspects.


class SettingValues(dict[str, Any]):
    """The values of a command's settings by name; None for settings that it lacks."""

    def __missing__(self, name: str) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        return self[name]


class Refusal(NamedTuple):
    """A rule that refuses settings `when` others have certain values.

    `why` completes a sentence that begins with the option; in it and in the hint, `{name}` is the value of a setting.
    If the option `beside` is typed, options from a file do not count.
    """

    settings: Collection[str]
    when: Callable[[SettingValues], Any]
    why: str
    hint: str = "leave one of them out"
    beside: str = ""


def require(settings: Collection[str], other: str, hint: str) -> Refusal:
    """Returns a rule that refuses settings that mean nothing without another one."""
    why = f"needs --{other.replace('_', '-')}"
    return Refusal(settings, lambda values: values[other] is None or values[other] is False, why, hint)


def exclude(settings: Collection[str], other: str, hint: str = "leave one of them out", beside: str = "") -> Refusal:
    """Returns a rule that refuses settings that mean nothing together with another one."""
    return Refusal(settings, itemgetter(other), f"cannot be combined with --{other.replace('_', '-')}", hint, beside)


def collect_values(settings: Iterable[Settings], others: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the values of all these settings and the others by name."""
    return {name: value for group in settings for name, value in vars(group).items()} | dict(others)


def list_names(*kinds: type[Settings]) -> frozenset[str]:
    return frozenset(field.name for kind in kinds for field in option_fields(kind))


# The explicitly set settings: on the command line, in the environment, in a file, or as arguments in Python.


class ExplicitOptions(NamedTuple):
    """The typed options, and the options from the environment and a file, even if equal to the default.

    Each maps the names of parameters to options as typed. `file` comes from a typed `--config`. `off` holds the names
    of switches that are explicitly off, as they are by default. `origins` says which variable or file each option in
    `filed` comes from.
    """

    typed: Mapping[str, str]
    filed: Mapping[str, str]
    file: Path | None = None
    off: frozenset[str] = frozenset()
    origins: Mapping[str, str] = MappingProxyType({})

    @classmethod
    def from_arguments(
        cls, arguments: Mapping[str, Any], *kinds: type[Settings], earlier: Collection[str] = ()
    ) -> ExplicitOptions:
        """Returns the options that a program gives as arguments: fields of these settings, and others.

        Options of an `earlier` call, which is meant for several calls, count like options from a file.
        """
        fields = {field.name: field for kind in kinds for field in option_fields(kind)}
        flags = {name: name_option(fields[name]) if name in fields else name.replace("_", "-") for name in arguments}
        typed = {name: f"--{flag}" for name, flag in flags.items() if name not in earlier}
        filed = {name: f"--{flag}" for name, flag in flags.items() if name in earlier}
        defaults = {name: field.default for name, field in fields.items()}
        off = {name for name, value in arguments.items() if is_off(value) and not defaults.get(name)}
        return cls(typed, filed, off=frozenset(off), origins=dict.fromkeys(filed, "an earlier call"))

    @property
    def ambient(self) -> frozenset[str]:
        """The names of options set by the environment, or by a file that was found rather than named."""
        return frozenset(
            name for name, origin in self.origins.items() if name in self.filed and origin != str(self.file)
        )

    @property
    def settings_from(self) -> dict[str, str]:
        """The variable or the file that each untyped option comes from, for `--json` and reports."""
        return {spell_name(self.filed[name]): origin for name, origin in self.origins.items() if name in self.filed}

    @property
    def origin_entry(self) -> dict[str, dict[str, str]]:
        """`settings_from` as an entry of `--json`; empty if all options were typed."""
        return {"settings_from": self.settings_from} if self.settings_from else {}

    @contextmanager
    def name_origin(self) -> Iterator[None]:
        """Adds the variable or file to an OptionError in the block if the first option it names comes from there."""
        try:
            yield
        except OptionError as error:
            first = re.search(r"--([\w-]+)", error.message)
            names = {spell_name(option): name for name, option in self.filed.items()}
            if first is None or first[1] not in names:
                raise
            name = names[first[1]]
            message = error.message.replace(first[0], self.filed[name], 1)
            raise OptionError(f"{self.origins[name]}: {message}", hint=error.hint) from error

    def select_fields(self, settings: type[Settings]) -> frozenset[str]:
        """Returns the names of the fields of `settings` that are set explicitly."""
        return frozenset(field.name for field in option_fields(settings)) & {*self.typed, *self.filed}

    def find_overruled(self, settings: type[Settings]) -> frozenset[str]:
        """Returns the names of the fields of `settings` set by a file but contradicted by a typed option."""
        pairs = [(field.name, field.metadata["setting"].instead_of) for field in option_fields(settings)]
        both_ways = {*pairs, *((other, name) for name, other in pairs)}
        return frozenset(name for name, other in both_ways if name in self.filed and other in self.typed)

    def drop(self, names: Collection[str]) -> ExplicitOptions:
        """Returns the same options without those in `names` that were not typed."""
        return self._replace(filed={name: option for name, option in self.filed.items() if name not in names})

    def find_first(self, names: Collection[str], *, beside: str = "") -> str | None:
        """Returns the first of these options that is set; if `beside` is typed, others count only if typed, too."""
        options = self.typed if beside in self.typed else {**self.filed, **self.typed}
        return next((option for name, option in options.items() if name in names and name not in self.off), None)


# Returns options that are not set explicitly, by the class of their settings, from the values of all options.
Fallback = Callable[[Mapping[str, Any], ExplicitOptions], Mapping[type[Settings], Mapping[str, Any]]]


def leave_open(values: Mapping[str, Any], explicit: ExplicitOptions) -> Mapping[type[Settings], Mapping[str, Any]]:
    """The default fallback of a command: leaves unset options at their defaults."""
    return {}


def spell_name(option: str) -> str:
    """Returns the name of an option as it is typed."""
    return option.removeprefix("--")


def is_off(value: Any) -> bool:
    """Whether a setting with this value requests nothing."""
    return value is None or value is False


# Settings that cannot be combined: one table for all commands, and for the functions of the Python interface.
#
# A row refuses explicit settings that others make meaningless. The settings themselves check individual values, and
# whether the widths of a network fit each other.


def reads_pictures(values: SettingValues) -> bool:
    return bool(values.source_type != "text")


def compares_nothing(values: SettingValues) -> bool:
    """Whether the attention has no comparison width of its own."""
    from nmt_cli.model.config import ATTENTIONS  # which translating does not need

    return values.attention is not None and not ATTENTIONS[values.attention].has_comparison_width


OF_SEARCH = list_names(SearchOptions)
FOR_TEXT = "leave it out with {source_type}"
PREPARE = (
    require({"source_file"}, "target_file", "give both, or a file of pairs"),
    require({"target_file"}, "source_file", "give both, or a file of pairs"),
    Refusal(
        {"min_count"},
        lambda v: v.tokenizer != "word",
        "counts words, but --tokenizer is {tokenizer}",
        "add --tokenizer word, or set the size with --vocab-size",
    ),
    exclude({"vocab_size", "tokenizer_from"}, "min_count"),
    exclude({"vocab_size"}, "tokenizer_from"),
    Refusal({"image_weights"}, lambda v: v.source_type != "image", "needs --source-type image", "add it"),
    Refusal({"reverse"}, reads_pictures, "would make pictures the target side", FOR_TEXT),
    Refusal({"monolingual_source", "monolingual_target"}, reads_pictures, "needs text as the source", FOR_TEXT),
    Refusal({"near_duplicates"}, reads_pictures, "compares texts", FOR_TEXT),
    require({"context_share"}, "context", "add --context 1"),
    Refusal({"tag_column", "register", "context"}, reads_pictures, "needs text as the source", FOR_TEXT),
    Refusal({"max_source_length"}, reads_pictures, "counts the subwords of texts", FOR_TEXT),
    Refusal(
        {"max_length", "max_ratio"}, reads_pictures, "belongs to a check that does not apply to captions", FOR_TEXT
    ),
    Refusal(
        {"keep"},
        lambda v: reads_pictures(v) and "empty" in v.keep,
        "empty is not possible: every caption needs a picture",
        FOR_TEXT,
    ),
)
STARTS_OVER = Refusal({"force"}, lambda v: v.resume, "starts over, but --resume continues", "use only one")
TRAIN = (
    STARTS_OVER,
    exclude({"epochs"}, "time", "use only one: the time determines the number of epochs"),
    exclude({"batch"}, "batch_tokens", "use only one: batch sizes are counted in sentences or in tokens"),
    require({"replay_share"}, "replay", "name the prepared directory of the old pairs with --replay"),
    Refusal(
        {"attention_units"},
        compares_nothing,
        "cannot be combined with --attention {attention}",
        "use --attention additive, concat or scaled-dot",
        beside="attention",
    ),
    Refusal(
        {"max_positions"},
        lambda v: v.positions == "sinusoidal",
        "cannot be combined with --positions sinusoidal",
        "leave --max-positions out: sinusoidal positions are unlimited",
        beside="positions",
    ),
)
NEEDS_RERANK = require({"rerank_weight"}, "rerank", "add --rerank MODEL")
NEEDS_MEMORY = Refusal({"neighbours"}, lambda v: True, "needs --tm", "use this option with nmt translate --tm FILE")
SEARCHED = {
    "n_best",
    "prefix",
    "rerank",
    *list_names(SearchOptions, SamplingOptions, RepairOptions, LineOptions, MemoryOptions),
}
NOT_SERVED = {
    *("files", "output", "force", "resume", "n_best", "prefix", "score", "strict", "report", "check_with"),
    *list_names(LayoutOptions, DocumentOptions, ExecutorOptions, TagOptions, ContextOptions),
}
OF_CONFIDENCE = {"confidence", "min_confidence", "sort_by_confidence"}
NOT_EXPORTED = {
    *(SEARCHED | NOT_SERVED) - {"output", "force"},
    *("serve", "precision", "ensemble", "check_with", *list_names(ServeOptions, CheckOptions)),
}
TRANSLATE = (
    STARTS_OVER,
    require({"assets"}, "export", "add --export page"),
    exclude(NOT_EXPORTED | {"info"}, "export", "leave it out: --export translates nothing"),
    exclude(NOT_EXPORTED - {"json"}, "info", "leave it out: --info translates nothing"),
    require(list_names(ServeOptions) - {"serve"}, "serve", "add --serve 5000, or leave it out"),
    exclude(NOT_SERVED, "serve", "leave it out: clients send the texts"),
    exclude(
        SEARCHED - {"max_source_length", "protect"}, "score", "leave it out: nmt does not generate the translation"
    ),
    exclude({"prefix"}, "tm"),
    *(
        exclude({"context"}, option, "leave it out: nmt then reads each line on its own")
        for option in ("prefix", "sample", "score")
    ),
    exclude({"beam_size", "rerank"}, "sample", "leave it out: --n-best sets the number of samples", beside="sample"),
    Refusal(
        {"n_best"},
        lambda v: not v.sample and v.n_best > v.beam_size,
        "{n_best} needs a --beam-size of at least {n_best}",
        "add --beam-size {n_best}",
    ),
    require(list_names(SamplingOptions) - {"sample"}, "sample", "add --sample, or leave it out"),
    require({"on_low_confidence"}, "min_confidence", "set the threshold: --min-confidence 0.8"),
    Refusal(
        {"strict", "report", "qa_column", "check_with", *OF_CONFIDENCE},
        lambda v: v.check is False,
        "cannot be combined with --no-check",
    ),
    *(exclude(OF_CONFIDENCE, option) for option in ("score", "sample", "ensemble")),
    Refusal(
        {"rerank"},
        lambda v: v.serve is not None and len(v.model or ()) > 1,
        "works with one model, but you serve several",
        "serve one, or leave it out",
    ),
    NEEDS_RERANK,
    NEEDS_MEMORY._replace(
        when=lambda v: v.tm == () and v.serve is None, hint="name a translation memory with --tm"
    ),  # a function may be given one later
    Refusal({"workers"}, lambda v: v.ray is not None and v.workers > 1, "cannot be combined with --ray"),
)
OF_MODEL = "model"  # the rows of `translate` that need the model's card, as `card`, and the kind of its `subwords`
MODEL = (
    Refusal(
        {"alignments", "replace_unknown", "check_with"},
        lambda v: v.card.network.get("attention") == "none",
        "needs attention, but this model has none",
        "leave it out, or name another --model",
    ),
    Refusal(
        {"coverage_penalty"},
        lambda v: v.coverage_penalty > 0 and v.card.network.get("attention") == "none",
        "needs attention, but this model has none",
        "leave it out, or name another --model",
    ),
    Refusal(
        {"alignments", "replace_unknown", "tm", "check_with", *list_names(LineOptions)},
        lambda v: not v.card.side.is_text,
        "applies to text, but this is a captioning model",
        "leave it out",
    ),
    Refusal(
        {"replace_unknown"},
        lambda v: v.subwords not in ("word", "char"),
        "replaces unknown words, but the {subwords} subwords of this model can spell every word",
        "leave it out; it works only for models with --tokenizer word or char",
    ),
)


def measures(values: SettingValues, start: str) -> Any:
    """Whether a metric whose name begins with `start` may be requested; one from another package may use any option."""
    from nmt_cli.evaluation.metrics.registry import ALL, NAMES, simplify_name  # which translating does not need

    names = {simplify_name(part.strip()) for entry in values.metric or [ALL] for part in entry.split(",")}
    return names - {*map(simplify_name, NAMES)} or any(name == ALL or name.startswith(start) for name in names)


def need_metric(settings: Collection[str], start: str, metric: str) -> Refusal:
    """Returns a rule that refuses the settings of metrics that are not requested."""
    return Refusal(
        settings, lambda values: not measures(values, start), f"is for --metric {metric}", "add it, or leave it out"
    )


REPLACES_NONE = "replaces a file, but you named none"
EVALUATE = (
    Refusal({"force"}, lambda v: not (v.write_to or v.sentences), REPLACES_NONE, "add --report or --sentences"),
    need_metric({"smooth", "bleu_tokenizer", "bleu_spm"}, "bleu", "bleu"),
    need_metric({"beta"}, "rouge", "rougeL"),
    need_metric({"comet_model"}, "comet", "comet"),
    need_metric({"bertscore_model"}, "bertscore", "bertscore"),
    exclude({"as_json"}, "explain", "leave it out"),
    Refusal(
        {"model", "precision", "rerank", *OF_SEARCH, *list_names(TagOptions, ContextOptions)},
        lambda v: v.hypothesis and not any(path.is_dir() for path in v.against or ()),
        "cannot be combined with --hypothesis, whose lines are already translated",
        "leave it out",
    ),
    Refusal(
        {"rerank"},
        lambda v: len(v.model or ()) > 1 or len(v.against or ()) > 1,
        "works with one --model and at most one --against",
    ),
    NEEDS_RERANK,
    NEEDS_MEMORY,
    Refusal({"source"}, lambda v: not v.reference, "needs --reference", "nmt evaluate --source FILE --reference FILE"),
    Refusal(
        {"hypothesis"},
        lambda v: not v.reference,
        "needs --reference",
        "nmt evaluate --hypothesis FILE --reference FILE",
    ),
    Refusal(
        {"reference"},
        lambda v: not (v.source or v.hypothesis),
        "needs --source or --hypothesis",
        "nmt translates the --source FILE, or scores the --hypothesis FILE",
    ),
    Refusal(
        list_names(TagOptions),
        lambda v: not v.reference,
        "applies to files only: in a split, each pair has its own tags",
        "leave it out (each tag gets a row), or name files with --source and --reference",
    ),
    Refusal({"split"}, lambda v: v.reference, "selects a part of --data, but you are scoring files"),
    Refusal(
        {"bleu_tokenizer"},
        lambda v: v.bleu_tokenizer in SUBWORD_TOKENIZERS and v.bleu_spm is None,
        "{bleu_tokenizer} needs its SentencePiece model, which nmt does not download",
        "name its file with --bleu-spm; sacreBLEU's documentation links to the flores200 model",
    ),
    Refusal(
        {"bleu_spm"},
        lambda v: v.bleu_tokenizer not in SUBWORD_TOKENIZERS,
        "needs --bleu-tokenizer flores200 or spm",
        "add it",
    ),
)
OF_ATTENTION = list_names(DrawingOptions) - {*SUBJECTS}
OF_TRANSLATIONS = OF_SEARCH | list_names(TagOptions)
NOT_DRAWN = {  # what is meaningless where something other than attention is drawn
    "beam": OF_ATTENTION | {"curves", "corpus", "network", "nearest"},
    "curves": OF_ATTENTION | OF_TRANSLATIONS | {"sentences", "corpus", "network", "nearest"},
    "corpus": OF_ATTENTION | OF_TRANSLATIONS | {"sentences", "network", "nearest"},
    "network": OF_ATTENTION | OF_TRANSLATIONS | {"sentences", "nearest"},
    "nearest": OF_ATTENTION | OF_TRANSLATIONS | {"output", "open_files"},
}
VISUALIZE = (
    Refusal({"force"}, lambda v: all(path == TERMINAL for path in v.output or ()), REPLACES_NONE, "add -o a.png"),
    NEEDS_RERANK,
    NEEDS_MEMORY,
    *(exclude(settings, subject) for subject, settings in NOT_DRAWN.items()),
    *(
        exclude(OF_SEARCH - {"max_source_length"}, option, "leave it out: nmt does not generate the translation")
        for option in ("target", "pairs")
    ),
    Refusal(
        {"heads"},
        lambda v: not v.open_files and all(path == TERMINAL for path in v.output or ()),
        "cannot be drawn in a terminal",
        "name a file with --output: heads.png, or heads.html",
    ),
    Refusal(
        OF_TRANSLATIONS,
        lambda v: not any(v[name] for name in ("sentences", "target", "pairs", *SUBJECTS)),
        "needs a sentence to translate",
        'nmt visualize "where is the station?"',
    ),
    exclude({"sentences", "target"}, "pairs", "give one of them"),
)
REFUSALS = {
    "prepare": PREPARE,
    "train": TRAIN,
    "translate": TRANSLATE,
    OF_MODEL: MODEL,
    "evaluate": EVALUATE,
    "visualize": VISUALIZE,
}


def refuse_combinations(command: str, explicit: ExplicitOptions, values: Mapping[str, Any]) -> None:
    """Raises OptionError for the first settings of a command that cannot be combined."""
    settings = SettingValues(values)
    for row in REFUSALS.get(command, ()):
        option = explicit.find_first(row.settings, beside=row.beside)
        if option is not None and row.when(settings):
            raise OptionError(f"{option} {row.why.format_map(settings)}", hint=row.hint.format_map(settings))


def refuse_for_model(explicit: ExplicitOptions, search: SearchOptions, card: ModelCard) -> None:
    """Raises OptionError for the first of these options that a model has no use for."""
    refuse_combinations(OF_MODEL, explicit, {**vars(search), "card": card, "subwords": card.tokenizer.get("kind")})


def find_ignored(
    command: str, explicit: ExplicitOptions, values: Mapping[str, Any], defaults: Mapping[str, Any]
) -> frozenset[str]:
    """Returns the ambient options of a command that conflict with others, and so get their `defaults` instead.

    Nobody asked for them in this call, so they are left out instead of causing an error.
    """
    settings, ignored = SettingValues(values), frozenset[str]()
    for row in REFUSALS.get(command, ()) if explicit.ambient else ():
        if row.when(settings):
            names = choose_ignored(row, explicit, settings, defaults) - ignored
            ignored |= names
            settings.update((name, defaults.get(name)) for name in names)
    return ignored


def choose_ignored(
    row: Refusal, explicit: ExplicitOptions, settings: SettingValues, defaults: Mapping[str, Any]
) -> frozenset[str]:
    """Returns the ambient options that a row refuses or, if it refuses a typed one, those that cause the refusal."""
    refused = frozenset(row.settings) - explicit.off
    if not refused & explicit.typed.keys():
        return frozenset() if row.beside in explicit.typed else explicit.ambient & refused
    reasons = {name: SettingValues({**settings, name: defaults.get(name)}) for name in explicit.ambient}
    return frozenset(name for name, without in reasons.items() if not row.when(without))
