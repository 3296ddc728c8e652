"""Text whose paragraphs are wrapped, and mail: how it is recognised, joined, and wrapped again."""

from base64 import b64decode, b64encode

import pytest

from nmt_cli.documents.document import is_wrapped
from support.documents import convert_bytes
from support.translations import aligned, converted, louder, same

MAIL = (
    "Dear Tom,\n\nThis letter is for you and for nobody else.\nIf you are not Tom, please tell us that you\n"
    "have it, and then forget it. Nobody else is\nto know.\n\n> We have read your letter of last week. It\n"
    "> was a good one.\n\n- bring bread and the good butter from the\n  market. It is open on Sunday\n- a knife\n\n"
    "-- \nEva Berg\nin the old house\n"
)
LOUD_MAIL = MAIL.upper().replace("EVA BERG", "Eva Berg")  # of the signature
VERSES = (
    "The rain has gone away today,\nthe sun is here, and we may play,\nAnd all the birds are in the tree\nand sing."
)
SENTENCES = (
    "The sun is warm today, and I am glad.\nWe go home when it is dark in the town.\nI have a house. It is old.\n"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MAIL, True),
        (VERSES, False),
        (SENTENCES * 3, False),
        (
            "a man in a red shirt is walking\na dog runs on the green grass\ntwo women are talking on a bench\n" * 3,
            False,
        ),
        ("- bread\n- butter\n- a good knife and a fork\n", False),
        ("one\ttwo\nthree\tfour\n", False),
        ("", False),
    ],
)
def test_wrapped_text_is_recognised(text: str, expected: bool) -> None:
    assert is_wrapped(text) == expected


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_paragraph_is_one_text_and_wrapped_again(end: str) -> None:
    written, notes = converted("wrapped", MAIL.replace("\n", end))
    assert notes == {}
    assert written == LOUD_MAIL.replace("\n", end)


@pytest.mark.parametrize("form", ["text", "wrapped"])
def test_names_and_addresses_of_a_signature_stay(form: str) -> None:
    signature = "-- \nWill Young, PhD\nHead of Sales\nT +44 20 7946\n12 Baker St., London\n"
    written, _ = converted(form, f"Will Young\n\n{signature}sent from home.\n")
    assert written == f"WILL YOUNG\n\n{signature}SENT FROM HOME.\n"


def test_the_signature_of_a_text_ends_with_a_blank_line() -> None:
    assert converted("text", "-- \nWill Young\n\nWill Young\n--\nWill Young\n")[0] == (
        "-- \nWill Young\n\nWILL YOUNG\n--\nWILL YOUNG\n"
    )


def test_what_becomes_longer_gets_more_lines_with_the_marks_of_the_first() -> None:
    text = "> We have read your letter of last week. It\n> was a good one.\n"
    written = converted("wrapped", text, lambda one: louder(one.replace("good", "good and very long")))[0]
    assert written == "> WE HAVE READ YOUR LETTER OF LAST WEEK. IT\n> WAS A GOOD AND VERY LONG ONE.\n"


@pytest.mark.parametrize("wrapped", ["", "We have read your letter of last week,\nand it was a good one.\n\n"])
@pytest.mark.parametrize("form", ["wrapped", "eml"])
def test_a_paragraph_that_is_one_line_stays_one_beside_shorter_lines(form: str, wrapped: str) -> None:
    """A short line beside wrapped ones is wrapped as they are."""
    head = "Subject: 1\n\n" if form == "eml" else ""
    long, short = ("It is a good house, and the old " + word for word in ("garden is big too.\n", "one.\n"))
    text = head + wrapped + long + "\n" + short
    written, _ = converted(form, text, lambda one: louder(one.replace("old", "very old")))
    *_, longer, other = written.split("\n\n")
    assert longer == "IT IS A GOOD HOUSE, AND THE VERY OLD GARDEN IS BIG TOO."
    assert other == "IT IS A GOOD HOUSE, AND THE VERY OLD ONE.\n".replace(" ONE", "\nONE" if wrapped else " ONE")


def test_what_is_not_changed_is_written_byte_for_byte() -> None:
    assert converted("wrapped", MAIL, same)[0] == MAIL


HEADER = "From: eva@x.org\nSubject: Re: [list] A letter\nMIME-Version: 1.0\n"
PARTS = (
    f'{HEADER}Content-Type: multipart/mixed; boundary="ab"\n\nkept\n--ab\n\n{MAIL}\n--ab\nContent-Type: text/html; '
    "charset=latin1\nContent-Transfer-Encoding: quoted-printable\n\n<p title=3D1>a caf=E9</p>\n--ab\n"
    "Content-Type: text/plain\nContent-Disposition: attachment\n\nHello.\n--ab--\n"
)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_subject_and_the_parts_of_a_mail_are_translated_and_attachments_stay(end: str) -> None:
    data = PARTS.replace("\n", end).encode()
    assert convert_bytes("eml", data, same) == data
    loud = PARTS.replace("A letter", "A LETTER").replace(MAIL, LOUD_MAIL).replace("a caf=E9", "A CAF=C9")
    assert convert_bytes("eml", data, louder) == loud.replace("\n", end).encode()


def test_a_mail_whose_charset_lacks_a_letter_becomes_utf_8() -> None:
    umlaut = convert_bytes("eml", f"{HEADER}\nA letter\n".encode(), lambda text: aligned(text, ["Ä", "Brief"], [0, 1]))
    assert umlaut.decode() == (
        HEADER.replace("Re: [list] A letter", "=?utf-8?b?UmU6IFtsaXN0XSDDhCBCcmllZg==?=")
        + "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\nÄ Brief\n"
    )


def test_a_text_in_base64_stays_so_and_a_file_of_several_messages_is_read_whole() -> None:
    head = "From eva Mon May  2 16:07:05 2005\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\n"
    data = head.encode() + b64encode(b"A letter\n") + b"\n\n"
    first, second = convert_bytes("eml", data * 2, louder).split(head.encode())[1:]
    assert b64decode(first) == b64decode(second) == b"A LETTER\n"


def test_signed_mail_is_told_and_stays() -> None:
    written, notes = converted("eml", "Content-Type: multipart/signed; boundary=a\n\n--a\n\nHello.\n--a--\n")
    assert "Hello." in written and notes == {"signed or encrypted parts, left unchanged": 1}
