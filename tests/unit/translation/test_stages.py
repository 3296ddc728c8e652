"""The stages of a translation stand in an order in which each has what it needs, and touches nothing else."""

import ast
import inspect
from dataclasses import fields

import pytest

from nmt_cli.translation import stages
from nmt_cli.translation.batch import TranslationBatch
from nmt_cli.translation.stages import STAGES, Stage

FIELDS = {field.name for field in fields(TranslationBatch)}
FILLED = set().union(*(stage.gives for stage in STAGES)) | {"lines"}  # by stages; the others are what was asked for


def list_used(stage: Stage) -> tuple[set[str], set[str]]:
    """The fields of the batch that the code of a stage reads, and those that it assigns, fills or hands on."""
    nodes = [
        node
        for node in ast.walk(ast.parse(inspect.getsource(stage.run)))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "batch"
    ]
    helpers = {"list_ids": {"segments"}}
    read = set().union(*(helpers.get(node.attr, {node.attr}) for node in nodes if isinstance(node.ctx, ast.Load)))
    written = {node.attr for node in nodes if isinstance(node.ctx, ast.Store)}
    return read & FILLED, written


def test_every_stage_has_what_it_needs() -> None:
    filled = {"lines"}
    for stage in STAGES:
        assert stage.needs <= filled, f"{stage.run.__name__} needs {stage.needs - filled}"
        filled |= stage.gives
    assert "result" in filled


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.run.__name__)
def test_a_stage_says_what_it_reads_and_writes(stage: Stage) -> None:
    read, written = list_used(stage)
    assert read <= stage.needs | stage.gives
    assert written <= stage.gives
    assert stage.needs | stage.gives <= FIELDS
    assert stage.run.__doc__


def test_the_order_is_that_of_the_module() -> None:
    lines = [inspect.getsourcelines(stage.run)[1] for stage in STAGES]
    assert lines == sorted(lines)
    assert inspect.getmodule(STAGES[0].run) is stages
