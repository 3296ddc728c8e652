"""Files of entries: INI, TOML, PHP, DTD, resource scripts, calendars, Fluent, and strings of Apple and Java."""

import pytest

from nmt_cli.documents.strings import entries
from support.documents import convert_bytes, echo_document, list_texts
from support.translations import aligned, louder

INI = """; not this
[main section]
hello=Good morning.
quoted = "He said \\"no\\".\\nThen he left."
  blanks  =  two  words  
url = https://example.org
empty =
# key = not this
[[not this]]
equal=a = b is true
"""
TOML = '''# not = "this"
title = "The \\"Blue\\" café" # nor this
[page."not this"]
'a key' = 'raw \\ words'
"other key".name = "words"
list = ["one thing", "two things", 3]
url = "https://example.org/a"
long = """
First line
  second line \\
  goes on"""
id = "soup"
date = 1979-05-27
'''
PHP = """<?php
// 'not' => 'this'
/* 'nor' => "this" */
namespace Lang; # 'no' => 'no'
return [
  'hello' => 'It\\'s here',
  "two" => "A \\"line\\"\\n and $name, {$x}",
  'nested' => array('a' => 'Some words'),
  'url' => 'https://example.org',
  'call' => trans('not this one'),
  3 => 'a number => key',
];
$texts['key'] = 'Good morning';
$query = 'SELECT it FROM them';
"""
DTD = """<!-- <!ENTITY no "not this"> -->
<!ENTITY where "Where is <b>Tom</b> &amp; &brand;?">
<!ENTITY % locale SYSTEM "not/this.dtd">
<!ENTITY two.label
  'Say "yes"'>
<!ENTITY percent "100&#37; of it">
"""
RC = """#include "not this.h"
// "nor this"
STRINGTABLE
BEGIN
  IDS_ONE "One ""thing""\\n here"
  IDS_TWO, "Two\\tthings"
END
MENUITEM "&Import...", 601, MFT_STRING
CAPTION "A window"
FONT 8, "MS Shell Dlg"
    LTEXT "Some text", -1, 0, 0
    CONTROL "A button",IDC_X,"Button",WS_TABSTOP
    VALUE "FileDescription", "not this"
"""
ICS = """BEGIN:VCALENDAR
DTSTART:20240101T100000Z
SUMMARY:Come\\, if you can\\; bring food
DESCRIPTION;LANGUAGE=en;ALTREP="http://a:b":A long line that goes
  on here\\nand ends
LOCATION:not this
END:VCALENDAR
BEGIN:VCARD
FN:Not This
TITLE:Head cook
END:VCARD
"""
FTL = """# not = this
-brand = Not This
hello = Good morning, { $user }.
    .title = Where is it?
    .accesskey = W
long =
    First line
    goes on

    and on.
mails = You have { $n ->
    [one] one mail
   *[other] { $n } mails
} in { -brand }.
"""
APPLE = """/* "not" = "this"; */
"hello" = "Say \\"yes\\"";
"two" = /* nor "this" */ // ; nor this
  "A line\\nand another" /* = "or this" */ ;
"id" = "soup";
three = "caf\\U00e9";
"n" = "{count, plural, one {One file} other {# files}}";
"""
PROPERTIES = """# not = this
hello = It's a café
two: first, \\
   and on\\nanother line
  three  Words
url = https://example.org
many = {0} isn''t here
n = {count, plural, one {One file} other {# files}}
"""
FILES = {
    "ini": INI,
    "toml": TOML,
    "php": PHP,
    "dtd": DTD,
    "rc": RC,
    "ics": ICS,
    "ftl": FTL,
    "apple": APPLE,
    "properties": PROPERTIES,
}
TEXTS = {
    "ini": ["Good morning.", 'He said "no".', "Then he left.", "two words", "a = b is true"],
    "toml": [
        *('The "Blue" café', "raw \\ words", "words", "one thing", "two things"),
        *("First line", "second line goes on"),
    ],
    "php": ["It's here", 'A "line"', "and $name, {$x}", "Some words", "a number => key", "Good morning"],
    "dtd": ["Where is <b>Tom</b> & {1}?", 'Say "yes"', "100% of it"],
    "rc": ['One "thing"', "here", "Two things", "&Import...", "A window", "Some text", "A button"],
    "ics": ["Come, if you can; bring food", "A long line that goes on here", "and ends", "Head cook"],
    "ftl": [
        *("Good morning, { $user }.", "Where is it?", "First line goes on and on.", "You have"),
        *("one mail", "{ $n } mails", "in { -brand }."),
    ],
    "apple": ['Say "yes"', "A line", "and another", "café", "One file", "# files"],
    "properties": ["It's a café", "first, and on", "another line", "Words", "{0} isn't here", "One file", "# files"],
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_file_stays_byte_for_byte_where_the_translation_equals_the_text(name: str, line_end: str) -> None:
    data = FILES[name].replace("\n", line_end).encode()
    assert echo_document(name, data) == data


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", FILES)
def test_the_texts_are_the_values_that_people_read(name: str, line_end: str) -> None:
    assert list_texts(name, FILES[name].replace("\n", line_end).encode()) == TEXTS[name]


@pytest.mark.parametrize(
    ("name", "text", "written"),
    [
        ("ini", 'a="b c"', 'a="x \\"y\\" \\\\"'),
        ("toml", 'a = "b c"', 'a = "x \\"y\\" \\\\"'),
        ("toml", "a = 'b c'", "a = 'x \"y\" \\'"),
        ("php", "'a' => 'b c',", "'a' => 'x \"y\" \\\\',"),
        ("dtd", '<!ENTITY a "b c">', '<!ENTITY a "x &quot;y&quot; \\">'),
        ("rc", 'LTEXT "b c"', 'LTEXT "x ""y"" \\\\"'),
        ("ics", "NOTE:b c", 'NOTE:x "y" \\\\'),
        ("ftl", "a = b c", 'a = x "y" \\'),
    ],
)
def test_what_a_translation_has_is_escaped_as_the_format_wants_it(name: str, text: str, written: str) -> None:
    assert convert_bytes(name, text.encode(), lambda source: aligned(source, 'x "y" \\'.split(), [0, 0, 1])) == (
        written.encode()
    )


def test_a_file_in_utf_16_keeps_its_encoding() -> None:
    data = RC.encode("utf-16")
    assert convert_bytes("rc", data, louder).decode("utf-16") == RC.replace('One ""thing""', 'ONE ""THING""').replace(
        "n here", "n HERE"
    ).replace("Two\\tthings", "TWO\\tTHINGS").replace("&Import", "&IMPORT").replace("A window", "A WINDOW").replace(
        "Some text", "SOME TEXT"
    ).replace("A button", "A BUTTON")


def test_every_row_of_the_table_is_tried() -> None:
    assert len(entries.EntryDocument.__subclasses__()) == len(FILES)
