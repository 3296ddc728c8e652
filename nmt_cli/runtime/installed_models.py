"""Models by name: installed packages, and the models in `data/models` of a clone.

A package `nmt_model_NAME` offers its folder `model` under the entry point group `nmt_cli.models`. The package is never
imported: a model is data, and nothing in it runs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from nmt_cli.errors import NotFoundError, find_nearest
from nmt_cli.files import acquire_system_lock
from nmt_cli.formats import list_preparations
from nmt_cli.plugins import read_entry_points

CARD = "model.json"  # the file that makes a directory a model
CHECKPOINTS = "checkpoints"  # the directory that only training reads
FLOAT, INT8 = "float", "int8"  # precisions of the weights
LOCK = "lock"  # the file there that names the process that trains
GROUP = "nmt_cli.models"
MODEL = "model"  # the folder of the model in its package
PREFIX = "nmt_model_"  # of the names of packages
MODELS_SHOWN = 5  # in a hint
BUNDLED = ("deu-eng", "eng-deu")  # the packages in data/models
CHECKOUT = Path(__file__).parents[2] / "data" / "models"


def name_package(name: str) -> str:
    """Returns the name of the package that offers the model `name`."""
    return PREFIX + name.replace("-", "_")


def name_packaged(directory: Path) -> str | None:
    """Returns the name of a package's model; None if `directory` is in no package."""
    package = directory.parent.name
    is_packaged = directory.name == MODEL and package.startswith(PREFIX)
    return package.removeprefix(PREFIX).replace("_", "-") if is_packaged else None


def is_packaged(directory: Path) -> bool:
    """Whether a directory is the model of a package, either by its name or because it is installed."""
    real = directory.resolve()
    return name_packaged(real) is not None or real in (model.resolve() for model in list_models().values())


def find_model(path: Path) -> Path:
    """Returns a model's directory: `path` itself, or that of the installed model with this name.

    A directory with a model takes precedence, also one in a package; a path that is neither is returned unchanged.
    Reading the entry points of all packages takes a tenth of the start time, so they are read last.
    Raises NotFoundError, which suggests the intended name, for a file in a model directory and for a packed model.
    """
    directory = check_directory(path) if path.exists() else path
    if (directory / CARD).exists() or path.name != str(path):
        return directory
    return find_packaged(path.name) or list_bundled_models().get(path.name) or list_models().get(path.name, directory)


def find_model_or_file(path: Path) -> Path:
    """Returns an existing path, possibly a file, unchanged; else the directory of the installed model of this name."""
    return path if path.exists() else find_model(path)


def check_directory(path: Path) -> Path:
    """Returns `path` if it is a directory, or the directory of the model inside it if it is a package's folder.

    Raises NotFoundError for a file; the error names what is expected instead.
    """
    if path.is_dir():
        packaged = [] if (path / CARD).exists() else list(path.glob(f"nmt_model_*/{MODEL}/{CARD}"))
        return packaged[0].parent if len(packaged) == 1 else path
    if path.name == CARD:
        raise NotFoundError(
            f"{path} is the card of a model; --model takes its directory", hint=f"--model {path.parent}"
        )
    if path.suffix.lower() in (".zip", ".gz", ".tgz", ".tar", ".xz", ".zst", ".whl"):
        unpack = "pip install" if path.suffix == ".whl" else "unzip" if path.suffix == ".zip" else "tar -xf"
        raise NotFoundError(
            f"{path} is a packed model, but --model takes a directory", hint=f"unpack it first: {unpack} {path}"
        )
    raise NotFoundError(
        f"{path} is a file; --model takes the directory that `nmt train` wrote",
        hint="the directory contains model.json",
    )


def find_packaged(name: str) -> Path | None:
    """Returns the directory of the model in the installed package that is named after it, if there is one."""
    package = name_package(name)
    return next(locate_model(package), None) if package.isidentifier() else None


def locate_model(package: str) -> Iterator[Path]:
    """Yields the directories of the models in a package, without importing it."""
    from importlib.util import find_spec  # this takes longer than all else here, and only names need it

    try:
        spec = find_spec(package)
    except ValueError:  # no name of a package
        return
    for location in (spec.submodule_search_locations or ()) if spec is not None else ():
        if (Path(location, MODEL) / CARD).is_file():
            yield Path(location, MODEL)


def list_models() -> dict[str, Path]:
    """Returns the directories of all named models, in order of name; an installed one takes precedence."""
    return dict(sorted({**list_bundled_models(), **list_installed_models()}.items()))


def name_model(directory: Path) -> str:
    """Returns what `--model` takes: the model's name if it has one, else its directory."""
    return next((name for name, known in list_models().items() if known == directory), str(directory))


def list_installed_models() -> dict[str, Path]:
    """Returns the models of installed packages, without importing them."""
    models: dict[str, Path] = {}
    for entry in read_entry_points(GROUP):
        for directory in locate_model(entry.value.split(".")[0].split(":")[0]):
            models.setdefault(entry.name, directory)
    return models


def list_bundled_models() -> dict[str, Path]:
    """Returns the models in the checkout that contains this package, if any."""
    cards = sorted(CHECKOUT.glob(f"*/nmt_model_*/{MODEL}/{CARD}"))
    return {card.parents[2].name: card.parent for card in cards}


def list_beside(directory: Path) -> list[Path]:
    """Returns the models in the folder of a directory, in order."""
    return sorted(card.parent for card in directory.parent.glob(f"*/{CARD}"))


def write_installation(name: str) -> str:
    """Returns the command, for the folder of nmt's sources, that installs a bundled model for this nmt."""
    tools = {"pipx": "pipx inject nmt-cli data/models/{}", "uv": "uv tool install . --with ./data/models/{}"}
    tool = next((tool for tool in tools if tool in Path(sys.prefix).parts), None)
    return tools.get(str(tool), "pip install data/models/{}").format(name)


def list_installable() -> list[str]:
    """Returns the bundled models that are not installed."""
    return [name for name in BUNDLED if name not in list_models()]


def suggest_making() -> str:
    """Returns how to make a model here, with the first command that works."""
    if Path("prepared", "dataset.json").is_file():
        return "train one: `nmt train`"
    return f"train one on your sentence pairs, beginning with `{list_preparations()[0]}`"


def is_being_trained(directory: Path) -> bool:
    """Whether a process on this machine is training a model in a directory now."""
    with suppress(OSError), (directory / CHECKPOINTS / LOCK).open("rb") as file:
        return bool(file.read(1)) and acquire_system_lock(file.fileno()) is False
    return False


def explain_missing_model(directory: Path) -> NotFoundError:
    """Returns the error for a directory without a model; its hint names the models beside it, and those with a name."""
    if is_being_trained(directory):
        hint = "wait until training finishes, or press Ctrl-C there: it then stops early with a usable model"
        return NotFoundError(f"{directory}/ is being trained, and contains no model yet", hint=hint)
    names = {**{path.name: str(path) for path in list_beside(directory)}, **{name: name for name in list_models()}}
    nearest = find_nearest(directory.name, names)
    installable = list_installable()
    if directory.name in installable:
        hint = f"install it from nmt's source folder: {write_installation(directory.name)}"
    elif nearest is not None:
        hint = f"did you mean {names[nearest]}?"
    elif names:
        shown = " or ".join(f"--model {name}" for name in list(names.values())[:MODELS_SHOWN])
        hint = f"name a model that exists, {shown}; or {suggest_making()}"
    else:
        installation = write_installation(BUNDLED[-1])
        hint = f"{suggest_making()}; or install one from nmt's source folder: {installation}"
    return NotFoundError(f"there is no model in {directory}/", hint=hint)
