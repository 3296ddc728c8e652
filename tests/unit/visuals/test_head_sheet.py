from pathlib import Path

import numpy as np
import pytest

from nmt_cli.errors import OptionError
from nmt_cli.visuals.heatmap import AxisLabels, Panel, build_sheet_figure, draw_head_sheet

SOURCE, TARGET = ["where", "is", "it"], ["wo", "ist"]
HEADS = np.random.default_rng(1).dirichlet(np.ones(3), (2, 4, 2))  # (L, H, T, S)


def test_a_sheet_has_a_panel_for_every_head_with_one_scale(tmp_path: Path) -> None:
    figure = build_sheet_figure(HEADS, AxisLabels(SOURCE, TARGET, "source", "translation"), ("where is it", "wo ist"))
    *panels, scale = figure.axes
    assert [axes.get_xlabel() for axes in panels] == [f"layer {n // 4 + 1}, head {n % 4 + 1}" for n in range(8)]
    limits = {axes.collections[0].get_clim() for axes in panels}
    assert len(limits) == 1 and scale.get_ylabel() == "attention weight"
    first, second = panels[0].collections[0].get_array(), HEADS[0, 0].T
    np.testing.assert_allclose(np.asarray(first).reshape(3, 2), second)


def test_only_the_panels_at_the_edge_have_tokens(tmp_path: Path) -> None:
    panel = Panel(HEADS, AxisLabels(SOURCE, TARGET), ("a", "b"))
    assert draw_head_sheet(panel, tmp_path / "h.svg") == ""
    text = (tmp_path / "h.svg").read_text(encoding="utf-8")
    assert (text.count(">where<"), text.count(">ist<"), text.count("layer 2, head")) == (2, 4, 4)
    with pytest.raises(OptionError):
        draw_head_sheet(panel._replace(labels=AxisLabels(SOURCE[:2], TARGET)), tmp_path / "h.svg")
