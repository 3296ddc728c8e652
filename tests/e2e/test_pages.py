"""The HTML pages in a real browser."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nmt_cli.api.drawings.drawing import embed_file
from nmt_cli.evaluation.analysis.profile import build_profile
from nmt_cli.evaluation.comparison import compare_systems
from nmt_cli.evaluation.metrics.score import Material
from nmt_cli.evaluation.report import score_material
from nmt_cli.visuals.labels import LabelledAttention, PageSentence, write_page
from nmt_cli.visuals.page import write_comparison, write_report

SCRIPT = "<script>document.title='broken'</script>"
DIAGONAL = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.0, 0.1, 0.9], [0.3, 0.3, 0.4]])


def sentence(source: list[str], target: list[str], attention: np.ndarray = DIAGONAL) -> PageSentence:
    words = LabelledAttention(
        source=tuple(source),
        target=tuple(target),
        attention=attention,
        probabilities=(0.5,) * len(target),
        source_text=" ".join(source),
        target_text=" ".join(target),
    )
    return PageSentence(words, words, "entropy 1.0")


@pytest.fixture
def opened(chromium: Any, tmp_path: Path) -> Any:
    """The browser, with a page of two sentences open."""
    write_page(
        [sentence(["where", SCRIPT, "?"], ["wo", "ist", "es", "?"]), sentence(["a", "b", "c"], list("ABCD"))],
        tmp_path / "page.html",
    )
    return visit(chromium, tmp_path / "page.html")


def visit(chromium: Any, path: Path) -> Any:
    chromium.get_log("browser"), chromium.get_log("performance")  # what was logged before is forgotten
    chromium.get(path.as_uri())
    return chromium


def find(page: Any, selector: str) -> list[Any]:
    return list(page.find_elements("css selector", selector))


def hover(page: Any, element: Any) -> None:
    from selenium.webdriver import ActionChains

    ActionChains(page).move_to_element(element).perform()


def weights(page: Any, selector: str) -> list[float]:
    read = "return getComputedStyle(arguments[0]).getPropertyValue('--w')"
    return [float(page.execute_script(read, one) or 0) for one in find(page, selector)]


def status(page: Any, place: int) -> str:
    """What is told below the words, without the marks that isolate them."""
    return find(page, ".status")[place].text.replace("\u2068", "").replace("\u2069", "")


def colours(png: bytes) -> int:
    from matplotlib.image import imread

    pixels = imread(io.BytesIO(png))[::4, ::4, :3]
    return len(np.unique(pixels.reshape(-1, 3), axis=0))


def test_a_page_loads_without_errors_or_requests_and_is_not_blank(opened: Any) -> None:
    assert opened.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in opened.get_log("performance")]
    asked = [message["params"]["request"]["url"] for message in messages if "requestWillBeSent" in message["method"]]
    assert [url for url in asked if not url.startswith(("file:", "data:", "chrome:"))] == []
    assert colours(opened.get_screenshot_as_png()) > 10
    assert len(find(opened, "table")) == 2


def test_markup_in_a_sentence_is_shown_as_text(opened: Any) -> None:
    assert opened.title == "Attention"
    assert SCRIPT in find(opened, "h2")[0].text
    assert [head.text for head in find(opened, "section:first-of-type tbody th")] == ["where", SCRIPT, "?"]


def test_a_produced_word_shows_its_sources_and_a_source_word_its_targets(opened: Any) -> None:
    lines = "section:first-of-type .sequence:nth-of-type"
    assert set(weights(opened, f"{lines}(1) .word")) == {0.0}
    hover(opened, find(opened, "section:first-of-type thead th")[1])  # "ist"
    assert weights(opened, f"{lines}(1) .word") == pytest.approx([0.111, 0.889, 0.111], abs=0.001)
    assert "80 %" in status(opened, 0) and "ist (probability 50 %)" in status(opened, 0)
    hover(opened, find(opened, f"{lines}(1) .word")[2])  # "?"
    assert weights(opened, f"{lines}(2) .word") == pytest.approx([0.111, 0.111, 1.0, 0.444], abs=0.001)
    assert status(opened, 0).startswith("? → es 90 %")


def test_source_words_stand_down_the_side_unless_transposed(opened: Any) -> None:
    assert len(find(opened, "section:last-of-type tbody tr")) == 3
    find(opened, "#transpose")[0].click()
    assert [head.text for head in find(opened, "section:last-of-type tbody th")] == list("ABCD")
    hover(opened, find(opened, "section:last-of-type tbody th")[2])
    assert "C (probability 50 %) ← c 90 %" in status(opened, 1)


def test_the_keyboard_reaches_every_cell(opened: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    table = find(opened, "table")[1]
    table.send_keys(Keys.ARROW_DOWN)
    assert status(opened, 1) == "A ← a 70 %"
    table.send_keys(Keys.ARROW_DOWN + Keys.ARROW_RIGHT)
    assert status(opened, 1) == "B ← b 80 %"
    assert len(find(opened, "td.cell")) == 1
    table.send_keys(Keys.ESCAPE)
    assert status(opened, 1) == "" and not find(opened, ".here")


def test_dark_is_dark_and_light_is_light(opened: Any) -> None:
    def background() -> int:
        return sum(map(int, find(opened, "body")[0].value_of_css_property("background-color")[5:].split(",")[:3]))

    choice = {option.text: option for option in find(opened, "#theme option")}
    choice["dark"].click()
    assert background() < 150
    choice["light"].click()
    assert background() == 765


def test_heads_and_layers_can_be_chosen_where_there_are_any(opened: Any, tmp_path: Path) -> None:
    assert not find(opened, "#layer")[0].is_displayed()
    heads = np.stack([np.stack([DIAGONAL, DIAGONAL[:, ::-1]])] * 2)  # (L, H, T, S)
    write_page([sentence(["a", "b", "c"], list("ABCD"), heads)], tmp_path / "heads.html")
    visit(opened, tmp_path / "heads.html")
    assert find(opened, "#layer")[0].is_displayed()
    find(opened, "#head option")[2].click()
    hover(opened, find(opened, "thead th")[2])  # "C": 90 % on c, seen backwards on a
    assert "C (probability 50 %) ← a 90 %" in status(opened, 0)


def test_sixty_words_fit_and_no_label_is_cut(chromium: Any, tmp_path: Path) -> None:
    labels = [f"word{n}" * (1 + n % 3) for n in range(60)]
    write_page([sentence(labels, labels, np.eye(60))], tmp_path / "long.html")
    visit(chromium, tmp_path / "long.html")
    fits = "return [...document.querySelectorAll('th span')].every(s => s.scrollHeight <= s.clientHeight + 1)"
    assert chromium.execute_script(fits)
    assert chromium.execute_script("return document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("compared", [False, True])
def test_a_report_loads_without_an_error_and_shows_markup_as_text(
    chromium: Any, tmp_path: Path, compared: bool
) -> None:
    material = Material([SCRIPT, "b c"] * 60, [["a", "x"], ["b c", "y"]] * 60, [SCRIPT, "5 b"] * 60)
    metrics, facts = ["bleu", "chrf", "ter", "rougeL"], {"test_set": "sentences of <x>", "inputs": {"source": "<y>"}}
    report = replace(score_material(metrics, material).add_warnings("<i>careful</i>"), profile=build_profile(material))
    other = score_material(metrics, Material(["a", "b c"] * 60, material.references, material.sources))
    if compared:
        comparison = compare_systems(["ours", "<b>other</b>"], [report, other])
        write_comparison(replace(comparison, warnings=report.warnings), tmp_path / "r.html", **facts)
    else:
        write_report(report, tmp_path / "r.html", model=None, **facts)
    visit(chromium, tmp_path / "r.html")
    assert chromium.get_log("browser") == []
    text = find(chromium, "body")[0].text
    assert SCRIPT in text and "<i>careful</i>" in text
    shown = ("<b>other</b>", "paired bootstrap") if compared else ("sentences of <x>", "The 20 worst sentences")
    assert all(part in text for part in shown)
    assert not find(chromium, "script, b" if compared else "script, b, i")  # of intervals
    assert colours(chromium.get_screenshot_as_png()) > 10


@pytest.mark.parametrize("width", [360, 1400])
def test_pages_use_the_width_of_a_screen_and_never_more(chromium: Any, tmp_path: Path, width: int) -> None:
    material = Material(["a", "b c"] * 60, [["a", "x"], ["b c", "y"]] * 60, ["5", "5 b"] * 60)
    report = replace(score_material(["bleu", "chrf"], material), profile=build_profile(material))
    names = [f"models/a-transformer-of-day-{number}" for number in range(5)]
    write_comparison(compare_systems(names, [report] * 5), tmp_path / "systems.html", test_set="x", inputs={})
    (tmp_path / "beam.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="3000" height="300"/>')
    notebook = f'<meta name="viewport" content="width=device-width">{embed_file(tmp_path / "beam.svg")}'
    (tmp_path / "beam.html").write_text(notebook, encoding="utf-8")
    metrics = {"width": width, "height": 700, "deviceScaleFactor": 1, "mobile": width < 500}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        for name in ("systems.html", "beam.html"):
            visit(chromium, tmp_path / name)
            assert chromium.execute_script("return document.documentElement.scrollWidth") <= width, name
        assert find(chromium, "img")[0].size["width"] == 3000
        visit(chromium, tmp_path / "systems.html")
        assert find(chromium, ".compared")[0].size["width"] > 0.85 * width
        chromium.save_screenshot(str(tmp_path / "shown.png"))
    finally:
        chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
