import dataclasses
from typing import Literal

import pytest

from nmt_cli.cli.app import NmtCommands, load_command
from nmt_cli.errors import OptionError
from nmt_cli.model.config import ModelConfig, Vocabularies
from nmt_cli.settings import Settings, check_value, setting
from nmt_cli.text.symbols import TokenizerSettings

WITHOUT_DEFAULTS = (ModelConfig, Vocabularies, TokenizerSettings)  # an abstract class, and entries of a card


class Oven(Settings):
    heat: int = setting(180, "Degrees.", panel="Baking", low=50, high=250)
    mode: Literal["fan", "grill"] = setting("fan", "Way of heating.", panel="Baking")
    hours: float | None = setting(None, "Time.", panel="Baking", low=0)
    door_open: bool = setting(False, "Whether heat is wasted.", panel="Baking", flag="open")


def test_defaults_are_valid_and_survive_a_round_trip() -> None:
    assert Oven.from_mapping(Oven().to_mapping(), where="x") == Oven()


def list_kinds(kind: type[Settings]) -> list[type[Settings]]:
    return [kind, *(other for child in kind.__subclasses__() for other in list_kinds(child))]


def test_every_default_has_its_type_and_is_in_its_range() -> None:
    """Which `Settings` takes for granted."""
    for name in NmtCommands.lazy:
        load_command(name)
    built = [kind() for kind in list_kinds(Settings)[1:] if kind not in WITHOUT_DEFAULTS]
    for settings in built:
        for field in dataclasses.fields(settings):
            check_value(field, settings.resolve_field_types()[field.name], getattr(settings, field.name))
    assert len(built) > 15


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"heat": 49}, "--heat is 49, but must be at least 50"),
        ({"heat": 251}, "--heat is 251, but must be at most 250"),
        ({"heat": 60.5}, "--heat cannot be 60.5"),
        ({"heat": True}, "--heat cannot be True"),
        ({"mode": "steam"}, "--mode cannot be 'steam'"),
        ({"hours": -1.0}, "--hours is -1.0, but must be at least 0"),
        ({"hours": float("nan")}, "--hours is nan, but must be a number"),
        ({"hours": float("inf")}, "--hours is inf, but must be a number"),
        ({"door_open": 1}, "--open cannot be 1"),
    ],
)
def test_a_value_outside_its_type_or_range_is_named_at_once(values: dict, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        Oven(**values)
    assert message in caught.value.message


@pytest.mark.parametrize("values", [{"heat": 50}, {"heat": 250}, {"hours": 0}, {"hours": 2}, {"mode": "grill"}])
def test_bounds_belong_to_the_range(values: dict) -> None:
    Oven(**values)


def test_an_unknown_key_names_the_nearest() -> None:
    with pytest.raises(OptionError) as caught:
        Oven.from_mapping({"haet": 100}, where="oven.toml")
    assert (caught.value.message, caught.value.hint) == ("oven.toml: there is no option 'haet'", "did you mean 'heat'?")


def test_an_unknown_key_like_none_lists_them_all() -> None:
    with pytest.raises(OptionError) as caught:
        Oven.from_mapping({"zzz": 100}, where="oven.toml")
    assert caught.value.hint == "the options are heat, mode, hours, door_open"
