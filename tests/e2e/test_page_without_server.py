"""A page of a model, opened from disk: it translates as nmt does and asks nobody for anything.

Needs what docs/page.md lists, in the folder that `python tests/support/page_assets.py` makes or NMT_PAGE_ASSETS names.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import nmt_cli as nmt
from support.page_assets import find_page_assets

FROZEN = Path(__file__).parents[1] / "frozen"
LINES = (FROZEN / "eng.txt").read_text(encoding="utf-8").split("\n")[:-1:25]
TRANSLATE = """
const [lines, done] = arguments;
ready.then((translate) => done(lines.map((line) => translate(line)[0])), (error) => done(String(error)));
"""
UNLIKE_MACHINES = 0.02  # largest share of lines for which two machines may differ, as for the frozen outputs


@pytest.fixture(scope="module")
def opened_page(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    assets = find_page_assets()
    if assets is None:
        pytest.skip("the page is not opened: python tests/support/page_assets.py makes what it needs")
    written = nmt.export("eng-deu", tmp_path_factory.mktemp("written") / "page", "page", assets=assets)
    chromium.set_page_load_timeout(300)
    chromium.set_script_timeout(300)
    chromium.get_log("browser"), chromium.get_log("performance")  # what was logged before is forgotten
    chromium.get((written / "index.html").as_uri())
    return chromium


def test_a_page_from_disk_translates_as_nmt_does_without_a_request(opened_page: Any) -> None:
    translated = opened_page.execute_async_script(TRANSLATE, LINES)
    expected = nmt.load("eng-deu").translate(LINES, beam_size=1)
    unlike = [pair for pair in zip(translated, expected, strict=True) if pair[0] != pair[1]]
    assert len(unlike) <= UNLIKE_MACHINES * len(LINES), unlike
    entries = [json.loads(entry["message"])["message"] for entry in opened_page.get_log("performance")]
    sent = [entry["params"] for entry in entries if entry["method"] == "Network.requestWillBeSent"]
    of_page = [one["request"]["url"] for one in sent if one["documentURL"].startswith("file:")]
    assert of_page
    assert [url for url in of_page if not url.startswith(("file:", "blob:", "data:"))] == []
    assert [entry for entry in opened_page.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_what_is_typed_appears_with_what_nmt_tells_of_it(opened_page: Any) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    box = opened_page.find_element("css selector", "#source")
    box.send_keys("Where is the station?\n\nI have 3.5 <b>dogs</b>.")
    rows = "return [...document.querySelectorAll('#target p')].map((row) => row.firstChild.textContent)"
    expected = nmt.load("eng-deu").translate(["Where is the station?", "", "I have 3.5 <b>dogs</b>."], beam_size=1)
    WebDriverWait(opened_page, 60).until(lambda page: page.execute_script(rows) == expected)
    assert opened_page.find_element("css selector", "#status").text == ""
