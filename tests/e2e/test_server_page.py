"""The server's page in a real browser, with a translator that writes in capitals."""

import json
from collections.abc import Iterator
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from nmt_cli.server.service import Service
from nmt_cli.server.stores import SuggestionFile
from nmt_cli.translation.result import FailedCheck, Translation
from support.served import make_pool, serve_on_port
from support.translations import louder


def offer_two(text: str) -> Translation:
    """The text in capitals, or the same twice; of a doubt it is not sure, and German is German already."""
    translation = louder(text)
    first = translation.hypotheses[0]
    is_unsure = "doubt" in text
    checks = [FailedCheck("confidence", "confidence 0.30 is below 0.4")] * is_unsure
    checks += [FailedCheck("language", "German already")] * ("hallo" in text)
    return translation._replace(
        confidence=0.3 if is_unsure else None,
        checks=tuple(checks),
        hypotheses=(first, first._replace(text=f"{first.text} {first.text}")),
    )


@pytest.fixture
def corrections(tmp_path: Path) -> Path:
    return tmp_path / "corrections.tsv"


@pytest.fixture
def page(chromium: Any, corrections: Path) -> Iterator[Any]:
    pool, _ = make_pool(("eng", "deu"), ("deu", "eng"), rule=offer_two)
    with serve_on_port(Service(pool, suggestions=SuggestionFile(corrections))) as (url, _):
        chromium.implicitly_wait(5)
        chromium.get_log("browser"), chromium.get_log("performance")
        chromium.get(url)
        yield chromium
        problems = [entry for entry in chromium.get_log("browser") if entry["level"] == "SEVERE"]
        assert not problems
        chromium.get("about:blank")


def find(page: Any, selector: str) -> Any:
    return page.find_element("css selector", selector)


def write(page: Any, text: str) -> None:
    find(page, "#direction option")
    find(page, "#source").send_keys(text)


def wait_for_rows(page: Any, *expected: str) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    script = "return [...document.querySelectorAll('#target .row')].map((row) => row.textContent)"
    WebDriverWait(page, 10).until(lambda page: page.execute_script(script) == list(expected))


def test_text_is_translated_while_one_types_and_never_read_as_markup(page: Any) -> None:
    write(page, "hello <img src=x onerror=document.title='broken'>\n\nyou")
    wait_for_rows(page, "HELLO <IMG SRC=X ONERROR=DOCUMENT.TITLE='BROKEN'>", "", "YOU")
    assert page.title == "nmt"
    assert not page.find_elements("css selector", "#target img, #mirror img")


def test_a_word_shows_what_it_looked_at(page: Any) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    write(page, "hello you")
    wait_for_rows(page, "HELLO YOU")
    ActionChains(page).move_to_element(page.find_elements("css selector", ".word")[1]).perform()
    marked = page.find_elements("css selector", "#mirror span[style]")
    strengths = [float(node.value_of_css_property("background-color").split(",")[-1].strip(" )")) for node in marked]
    assert [node.get_attribute("textContent") for node in marked] == ["hello", "you"]
    assert strengths[0] < 0.1 < strengths[1]


def test_a_line_shows_its_confidence_beside_its_text(page: Any) -> None:
    write(page, "a doubt")
    wait_for_rows(page, "A DOUBT")
    shown = "return getComputedStyle(document.querySelector('.confidence.unsure'), '::before').content"
    assert "30" in page.execute_script(shown)
    find(page, "#shade").click()
    assert page.execute_script(shown) == "none"
    find(page, "#shade").click()


def test_another_translation_is_chosen_by_keyboard(page: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    write(page, "hello")
    wait_for_rows(page, "HELLO")
    find(page, ".row.choice").send_keys(Keys.ENTER)
    page.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    page.switch_to.active_element.send_keys(Keys.ENTER)
    wait_for_rows(page, "HELLO HELLO")


def read_when_complete(path: Path, pairs: int) -> list[tuple[str, str]]:
    """The pairs of a file of suggestions, once it has so many behind its heading."""
    for _ in range(100):
        if path.exists() and (text := path.read_text(encoding="utf-8")).count("\n") > pairs:
            return [(line["source"], line["target"]) for line in map(json.loads, text.splitlines()[1:])]
        sleep(0.1)
    raise AssertionError(f"{path} has fewer than {pairs} pairs")


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("GOOD\nHALLO\nYOU", [("hello", "HALLO")]),  # the changed line
        ("GOOD HALLO YOU", [("good hello you", "GOOD HALLO YOU")]),  # all, once lines no longer match
    ],
)
def test_corrected_lines_are_kept(page: Any, corrections: Path, written: str, kept: list[tuple[str, str]]) -> None:
    write(page, "good\nhello\nyou")
    wait_for_rows(page, "GOOD", "HELLO", "YOU")
    find(page, "#correct").click()
    page.execute_script("document.getElementById('target').textContent = arguments[0]", written)
    find(page, "#correct").click()
    assert read_when_complete(corrections, 1) == kept


def test_the_languages_are_swapped(page: Any) -> None:
    write(page, "hello")
    wait_for_rows(page, "HELLO")
    find(page, "#swap").click()
    wait_for_rows(page, "HELLO")
    assert find(page, "#source").get_attribute("value") == "HELLO"
    assert find(page, "#model").text == "deu-eng"
    assert find(page, "#direction").get_attribute("value") == "de en"


def test_a_text_in_the_target_language_offers_to_swap(page: Any) -> None:
    write(page, "hallo")
    assert find(page, "#status button").get_attribute("textContent") == "swap"
    assert find(page, "#status").get_attribute("textContent") == "This looks like German: swap"
    find(page, "#status button").click()
    wait_for_rows(page, "HALLOGerman already")
    assert find(page, "#direction").get_attribute("value") == "de en"


def test_doubtful_texts_of_a_document_are_reviewed(page: Any, corrections: Path, tmp_path: Path) -> None:
    subtitles = ["hello", "a doubt", "hallo"]
    cues = [f"{n}\n00:00:0{n},000 --> 00:00:0{n},900\n{text}\n" for n, text in enumerate(subtitles, start=1)]
    drop(page, tmp_path / "film.srt", "\n".join(cues))
    find(page, "#review li")
    assert find(page, "#review h2").text == "film.srt: 2 of 3 texts to look at"
    assert [item.text for item in page.find_elements("css selector", "#review p")] == ["hallo", "a doubt"]
    page.execute_script("document.querySelectorAll('#review textarea')[1].value = 'ein Zweifel'")
    find(page, "#again").click()
    assert read_when_complete(corrections, 1) == [("a doubt", "ein Zweifel")]


def drop(page: Any, path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    find(page, "#direction option")
    find(page, "#file").send_keys(str(path))


def read_download(path: Path) -> str:
    """What a browser has downloaded, under the name that the server gave it."""
    for _ in range(100):
        if path.exists() and (text := path.read_text(encoding="utf-8")):
            return text
        sleep(0.1)
    raise AssertionError(f"there is no {path.name}, but {[other.name for other in path.parent.iterdir()]}")


@pytest.fixture
def downloads(page: Any, tmp_path: Path) -> Path:
    folder = tmp_path / "downloads"
    page.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})
    return folder


def test_a_document_comes_back_translated_under_its_name_with_the_language(
    page: Any, tmp_path: Path, downloads: Path
) -> None:
    drop(page, tmp_path / "film.srt", "1\n00:00:01,000 --> 00:00:02,000\nhello\n")
    assert "HELLO" in read_download(downloads / "film.de.srt")


def test_the_column_of_a_table_is_named_after_the_page_asks_for_it(page: Any, tmp_path: Path, downloads: Path) -> None:
    """The review of the document before is not shown as if it was one of the table."""
    drop(page, tmp_path / "doubts.txt", "a doubt\n")
    assert find(page, "#review li").is_displayed() and not find(page, "#column").is_displayed()
    drop(page, tmp_path / "list.csv", "id,text\n1,hello\n2,a doubt\n")
    find(page, "#column-form:not([hidden])")
    assert "the columns are id, text" in find(page, "#status").text and not find(page, "#review li").is_displayed()
    find(page, "#column").send_keys("text\n")
    assert read_download(downloads / "list.de.csv").splitlines()[1:] == ["1,hello,HELLO", "2,a doubt,A DOUBT"]
    assert find(page, "#review h2").text == "list.csv: 1 of 2 texts to look at"
    (downloads / "list.de.csv").unlink()
    find(page, "#again").click()
    assert "HELLO" in read_download(downloads / "list.de.csv")
    page.get_log("browser")  # that a request was refused


def test_a_file_that_is_not_translated_says_what_to_do(page: Any, tmp_path: Path) -> None:
    drop(page, tmp_path / "column.pdf", "%PDF-1.4")
    find(page, "#status.error")
    assert find(page, "#status").text.endswith("does not read; extract its text first: pdftotext -layout column.pdf")
    assert not find(page, "#column").is_displayed()
    page.get_log("browser")


def test_languages_can_be_changed_and_nothing_comes_from_elsewhere(page: Any) -> None:
    write(page, "hello")
    wait_for_rows(page, "HELLO")
    page.find_elements("css selector", "#direction option")[1].click()
    wait_for_rows(page, "HELLO")
    messages = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    requests = [
        message["params"]["request"] for message in messages if message["method"] == "Network.requestWillBeSent"
    ]
    hosts = {request["url"].split("/")[2] for request in requests if request["url"].startswith("http")}
    assert len(hosts) == 1
    assert '"source":"de"' in [request.get("postData") or "" for request in requests][-1]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_phone_shows_it_without_scrolling_sideways(page: Any, theme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": theme}]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    metrics = {"width": 360, "height": 700, "deviceScaleFactor": 1, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        write(page, "hello " * 30 + "longwordwithoutblanks" * 8)
        find(page, ".row")
        assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth")
        colours = "const style = getComputedStyle(document.body); return [style.color, style.backgroundColor]"
        ink, ground = page.execute_script(colours)
        assert (brightness(ink) > brightness(ground)) == (theme == "dark")
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def brightness(colour: str) -> int:
    return sum(int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3])
