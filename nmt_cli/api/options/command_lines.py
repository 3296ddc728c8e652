"""Builds the commands that messages suggest, from the typed command or from stored options."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt_cli.api.options.refusals import ExplicitOptions
from nmt_cli.corpus.config import FILE_OPTIONS, SPLIT_OPTIONS, PrepareOptions, is_size
from nmt_cli.errors import OptionError
from nmt_cli.model.config import ModelConfig
from nmt_cli.settings import Settings, name_option, option_fields
from nmt_cli.training.options import FIRST_RUN, TrainOptions

if TYPE_CHECKING:
    from nmt_cli.corpus.manifest import Manifest
    from nmt_cli.training.data.synthetic_pairs import StageOptions


# Commands to type: as originally typed, with more options, or recalled from a prepared corpus's manifest.


TypedOption = tuple[str, ...]  # a flag and its value, if it takes one
NETWORK = tuple(name_option(field) for field in option_fields(ModelConfig) if field.name != "dropout")
INSTEAD_OF: Mapping[str, Collection[str]] = {  # settings that cannot stand beside one that is added
    "batch": ("batch-tokens",),
    "epochs": ("time",),
    "init-from": NETWORK,  # that of the parent is taken
    "time": ("epochs",),
}


@dataclass(frozen=True)
class CommandLine:
    """A command to type: its name, its arguments, and its options in order."""

    name: str
    arguments: tuple[str, ...] = ()
    options: tuple[TypedOption, ...] = ()

    def __str__(self) -> str:
        return shlex.join(["nmt", self.name, *self.arguments, *(part for option in self.options for part in option)])

    def extend(self, *options: TypedOption) -> CommandLine:
        """Returns the command with more options, which replace existing ones: no option may be given twice."""
        added = [name_typed(option) for option in options]
        replaced = {name for setting in added for name in (setting, *INSTEAD_OF.get(setting, ()))}
        others = (option for option in self.options if name_typed(option) not in replaced)
        return replace(self, options=(*others, *options))

    def omit(self, names: Collection[str]) -> CommandLine:
        """Returns the command without the options of these names."""
        return replace(self, options=tuple(option for option in self.options if name_typed(option) not in names))

    def add_input(self, name: str) -> CommandLine:
        """Returns the command with one more argument."""
        return replace(self, arguments=(*self.arguments, name))


def describe_prepare(inputs: Sequence[str], config: PrepareOptions, data: Path) -> CommandLine:
    """Returns the command that prepared a corpus, with inputs and options as typed."""
    return join_prepare(inputs, config.to_mapping(), data)


def recall_prepare(manifest: Manifest, data: Path) -> CommandLine:
    """Recalls the command that prepared a corpus from its manifest, which has file names without folders.

    The reader must fill in any file that is not in the current directory, and the inputs if there are several.
    """
    held_out = {name for role in SPLIT_OPTIONS for name in str(manifest.options.get(role)).split(",")}
    inputs = [name for name in manifest.inputs if name not in held_out]
    options = {
        name: [find_file(part, name) for part in as_list(value)] if name in FILE_OPTIONS and value else value
        for name, value in manifest.options.items()
    }
    return join_prepare([find_file(inputs[0], "corpus")] if len(inputs) == 1 else ["CORPUS"], options, data)


def find_file(name: str, what: str) -> str:
    """Returns a size or the name of an existing file unchanged; for any other name, a word in capitals to replace."""
    is_typeable = is_size(name) or all(Path(part).exists() for part in name.split(","))
    return name if is_typeable else what.partition("_")[0].upper()


def join_prepare(inputs: Sequence[str], options: Mapping[str, Any], data: Path) -> CommandLine:
    return CommandLine("prepare", tuple(inputs), (*list_prepare_options(options), *list_places(data)))


def list_prepare_options(options: Mapping[str, Any]) -> list[TypedOption]:
    """Returns the options that are set, as typed."""
    typed: list[TypedOption] = []
    for field in option_fields(PrepareOptions):
        value = options.get(field.name, field.default)
        if value not in (field.default, list(field.default) if isinstance(field.default, tuple) else None, False):
            typed += list_values(f"--{name_option(field)}", value)
    return typed


def list_values(option: str, value: Any) -> list[TypedOption]:
    """Returns an option as typed: a switch without a value, an option with several values once per value.

    For a switch that is off, `option` begins with `--no-`.
    """
    return [(option,)] if isinstance(value, bool) else [(option, str(item)) for item in as_list(value)]


def name_typed(option: TypedOption) -> str:
    """Returns the name of the setting that a typed option sets."""
    return option[0].removeprefix("--").removeprefix("no-")


def as_list(value: Any) -> list[Any]:
    return [*value] if isinstance(value, list | tuple) else [value]


def list_places(data: Path, model: Path = Path("model")) -> list[TypedOption]:
    """Returns the options for the directories of a corpus and a model, unless they are the defaults."""
    places = (("--data", data, "prepared"), ("--model", model, "model"))
    return [(flag, str(path)) for flag, path, usual in places if str(path) != usual]


def describe_train(data: Path, model: Path, *options: TypedOption) -> CommandLine:
    """Returns the command that trains on a corpus, with these options."""
    return CommandLine("train", (), (*list_places(data, model), *options))


# The options of a training run continued by `--resume`, which need not be given again.
#
# Loads neither TensorFlow nor Keras, since the command line asks before it waits for them.


def find_saved_options(
    values: Mapping[str, Any], explicit: ExplicitOptions
) -> Mapping[type[Settings], Mapping[str, Any]]:
    """Returns the options of the checkpoint that --resume continues from; empty without --resume or a checkpoint.

    `values` holds all options. Raises OptionError if an explicit option differs from a saved one that cannot change.
    Its hint also names the command that trains another model with this option, to compare both.
    """
    if not values["resume"] or values["force"]:
        return {}
    from nmt_cli.training.request import read_saved_options, select_saved

    model, runs, names = values["model"], values["runs"], {*explicit.typed, *explicit.filed}
    directory, stages = locate_first_run(model, runs), find_options_of_stages(model, runs)
    try:
        if stages is not None:
            return select_saved(directory, stages.saved, values, names)
        return read_saved_options(directory, values, names)
    except OptionError as error:
        again = describe_train(values.get("data", Path("prepared")), name_beside(model), *recall_typed(model, runs))
        another = again.extend(*list_typed(values, explicit))
        raise OptionError(
            error.message, hint=f"{error.hint}; to compare both, train another model: `{another}`"
        ) from error


def select_explicit(
    explicit: ExplicitOptions, model: Path, *, resume: bool, force: bool, runs: int
) -> frozenset[str] | None:
    """Returns the names of the options set by the user; None if a checkpoint already fixes all options."""
    names = explicit.select_fields(ModelConfig) | explicit.select_fields(TrainOptions)
    stages = find_options_of_stages(model, runs) if resume and not force else None
    if stages is not None:
        return None if stages.explicit is None else stages.explicit | names
    saved = find_saved_options({"resume": resume, "force": force, "runs": runs, "model": model}, explicit)
    return None if saved else names


def recall_typed(model: Path, runs: int) -> Sequence[TypedOption]:
    """Returns the network and training options that were typed when the run that --resume continues began."""
    from nmt_cli.training.request import read_started_facts

    stages = find_options_of_stages(model, runs)
    if stages is not None:
        return stages.typed
    facts = read_started_facts(locate_first_run(model, runs)) or {}
    return [tuple(map(str, option)) for option in facts.get("typed", ())]


def list_typed(values: Mapping[str, Any], explicit: ExplicitOptions) -> list[TypedOption]:
    """Returns the typed options of the network and of training, given the values of all, and the file of the others."""
    typed: list[TypedOption] = [] if explicit.file is None else [("--config", str(explicit.file))]
    fields = (explicit.select_fields(ModelConfig) | explicit.select_fields(TrainOptions)) & values.keys()
    for name, flag in explicit.typed.items():
        typed += list_values(flag, values[name]) if name in fields else []
    return typed


def name_beside(model: Path) -> Path:
    """Returns a directory for another model beside this one."""
    others = (model.with_name(f"{model.name}-{number}") for number in count(2))
    return next(other for other in others if not other.exists())


def find_options_of_stages(model: Path, runs: int) -> StageOptions | None:
    """Returns the original options of a training run with synthetic pairs, if --resume uses them."""
    from nmt_cli.training.data.synthetic_pairs import find_stage_options

    return find_stage_options(locate_first_run(model, runs), several_runs=runs > 1)


def locate_first_run(model: Path, runs: int) -> Path:
    return model / FIRST_RUN if runs > 1 else model
