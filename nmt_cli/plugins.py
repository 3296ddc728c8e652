"""Loads plugins: entry points of other packages that add formats, metrics, server interfaces and models.

Entry points are read only when something unknown to nmt is requested, and a plugin is imported only when it is used. A
package with damaged entry points does not hide others. Must not depend on the kinds of plugins. Standard library only.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from nmt_cli.errors import MissingExtraError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def read_entry_points(group: str) -> Iterator[EntryPoint]:
    """Yields the entry points of a group; skips packages whose entry points are damaged."""
    from importlib.metadata import distributions  # takes as long as all else that a command needs to start

    for distribution in distributions():
        try:
            entries = list(distribution.entry_points.select(group=group))
            _ = [entry.name + entry.value for entry in entries]
        except (TypeError, ValueError, OSError):  # `importlib.metadata` parses them without checking
            continue
        yield from entries


@cache
def list_plugins(group: str) -> tuple[EntryPoint, ...]:
    """Returns the plugins of a group, sorted by name; of several with the same name, only the first."""
    plugins: dict[str, EntryPoint] = {}
    for entry in read_entry_points(group):
        plugins.setdefault(entry.name, entry)
    return tuple(plugins[name] for name in sorted(plugins))


def find_plugin(group: str, name: str) -> EntryPoint | None:
    """Returns the plugin with this name, ignoring case."""
    return next((plugin for plugin in list_plugins(group) if plugin.name.lower() == name.lower()), None)


def load_plugin(plugin: EntryPoint) -> Any:
    """Returns the object that a plugin names. Raises MissingExtraError if it cannot be imported."""
    try:
        return plugin.load()
    except Exception as error:  # whatever the code of others raises
        package = name_package_of(plugin)
        raise MissingExtraError(
            f"{plugin.name} of the package {package} cannot be loaded: {type(error).__name__}: {error}",
            hint=f"install another version of {package}, or remove it: pip uninstall {package}",
        ) from error


def name_package_of(plugin: EntryPoint) -> str:
    """Returns the name of the package that provides a plugin."""
    return plugin.dist.name if plugin.dist is not None else plugin.value.partition(":")[0]
