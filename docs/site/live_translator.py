"""Puts a translator on the first page of the site, if NMT_PAGE_ASSETS names the folder that docs/page.md describes.

A hook of MkDocs. The translator is fetched when a reader opens it, not before.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nmt_cli as nmt

ASSETS = os.environ.get("NMT_PAGE_ASSETS")
FOLDER = "translator"
FRAME = f"""<details>
<summary>Translate here, from English to German: {{size}} MB, then nothing leaves this browser</summary>
<iframe title="Translator" src="{FOLDER}/index.html" loading="lazy" style="width: 100%; height: 26rem"></iframe>
</details>
"""


def on_post_build(config: Any) -> None:
    """Writes the translator into the site, and a frame that shows it above the first heading of the first page."""
    if ASSETS is None:
        return
    site = Path(config.site_dir)
    written = nmt.export("eng-deu", site / FOLDER, "page", assets=ASSETS, force=True)
    size = sum(path.stat().st_size for path in written.rglob("*.*")) / 1e6
    start = site / "index.html"
    before, heading, after = start.read_text(encoding="utf-8").partition("<h2 ")
    start.write_text(f"{before}{FRAME.format(size=round(size))}{heading}{after}", encoding="utf-8")
