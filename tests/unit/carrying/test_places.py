"""Countries and cities in the words of the target's language, by the names that CLDR gives them."""

import pytest

from nmt_cli.carrying.people import RARE_PLACE_COUNT, find_places
from support.rewriting import model_text

FREQUENT = [("We live in Austria.", "Wir leben hier.")] * RARE_PLACE_COUNT
PAIRS = [*FREQUENT, ("We eat turkey and we like oral exams.", "Wir essen.")]
SOURCE = model_text(PAIRS).source


def list_places(text: str, languages: tuple[str, str] = ("eng", "deu")) -> dict[str, str]:
    return {text[span.start : span.end]: span.text for span in find_places(text, languages, SOURCE)}


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("She is from Denmark.", {"Denmark": "Dänemark"}),
        ("DENMARK'S QUEEN", {"DENMARK": "DÄNEMARK"}),
        (
            "to Den\u200bmark and New\u00a0Zea\u00adland",
            {"Den\u200bmark": "Dänemark", "New\u00a0Zea\u00adland": "Neuseeland"},
        ),
        ("Austria is small.", {}),  # training has it often
        ("from Copenhagen to New Zealand", {"Copenhagen": "Kopenhagen", "New Zealand": "Neuseeland"}),
        ("Bosnia and Herzegovina", {"Bosnia and Herzegovina": "Bosnien und Herzegowina"}),
        ("Côte d’Ivoire, N’Djamena", {"Côte d’Ivoire": "Côte d’Ivoire", "N’Djamena": "N’Djamena"}),
        ("Turkey is good meat.", {}),
        ("We went to Turkey.", {"Turkey": "Türkei"}),
        ("Oral exams", {}),
        ("Michael Jordan is in Jordan.", {"Jordan": "Jordanien"}),
        ("a denmark", {}),
    ],
)
def test_a_rare_place_is_written_in_the_words_of_the_target(text: str, places: dict[str, str]) -> None:
    assert list_places(text) == places


@pytest.mark.parametrize(
    ("languages", "text", "places"),
    [
        (("deu", "eng"), "Wir waren in Rumänien.", {"Rumänien": "Romania"}),
        (("fra", "spa"), "Maurice est en Suède.", {"Suède": "Suecia"}),
        (("eng", "jpn"), "Vienna", {"Vienna": "ウィーン"}),
        (("rus", "eng"), "Дания и Швеция", {"Дания": "Denmark", "Швеция": "Sweden"}),
        (("eng", "xxx"), "Denmark", {"Denmark": "Denmark"}),
    ],
)
def test_places_are_known_in_other_languages(languages: tuple[str, str], text: str, places: dict[str, str]) -> None:
    assert list_places(text, languages) == places
