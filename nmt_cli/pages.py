"""The frame of every HTML page that nmt writes: one file with its theme, style and script."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import resources

from nmt_cli.files import GENERATOR

# The frame of every HTML page that nmt writes: one file with its theme, style and script.
#
# A page needs no network connection, and its security policy allows none. Must not know what a page shows.


POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
THEMES = (
    '<label class="theme">colours <select id="theme"><option value="">as the system</option>'
    '<option value="light">light</option><option value="dark">dark</option></select></label>'
)


def render_document(title: str, body: Sequence[str], *, style: str = "", script: str = "") -> str:
    """Returns a page, light or dark as set in the reader's system or on the page. `body` holds HTML, `title` text."""
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en" translate="no">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta name="generator" content="{GENERATOR}">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            f'<title>{escape(title)}</title>\n<link rel="icon" href="data:,">',
            f"<style>\n{read_asset('nmt_cli', 'theme.css')}{style}</style>\n</head>\n<body>\n{THEMES}",
            *body,
            *([f"<script>\n{script}</script>"] if script else []),
            "</body>\n</html>\n",
        )
    )


def read_asset(package: str, name: str) -> str:
    """Returns the text of a file in a package, such as a style sheet."""
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")
