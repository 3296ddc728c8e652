import importlib.metadata
import json
import sys
from typing import Any

import pytest

from nmt_cli.errors import DamagedError, explain_install


class InstalledFrom:
    def __init__(self, origin: dict[str, Any] | None) -> None:
        self.origin = origin

    def read_text(self, name: str) -> str | None:
        return None if self.origin is None else json.dumps(self.origin)


@pytest.mark.parametrize(
    ("origin", "prefix", "hint"),
    [
        (None, "/venv", "pip install 'nmt-cli[serve]'"),
        ({"url": "file:///home/me/nmt", "dir_info": {}}, "/venv", "pip install '/home/me/nmt[serve]'"),
        ({"url": "file:///nmt", "dir_info": {"editable": True}}, "/venv", "pip install -e '/nmt[serve]'"),
        (
            {"url": "https://a.example/nmt", "vcs_info": {"vcs": "git"}},
            "/venv",
            "pip install 'nmt-cli[serve] @ git+https://a.example/nmt'",
        ),
        (
            {"url": "file:///tmp/nmt_cli-0.1.0-py3-none-any.whl", "archive_info": {}},
            "/venv",
            "pip install '/tmp/nmt_cli-0.1.0-py3-none-any.whl[serve]'",
        ),
        (
            {"url": "https://a.example/nmt.whl", "archive_info": {}},
            "/venv",
            "pip install 'nmt-cli[serve] @ https://a.example/nmt.whl'",
        ),
        (None, "/home/me/.local/share/uv/tools/nmt-cli", "uv tool install --force 'nmt-cli[serve]'"),
        (None, "/home/me/.local/pipx/venvs/nmt-cli", "pipx install --force 'nmt-cli[serve]'"),
    ],
)
def test_the_line_that_installs_an_extra_fits_where_the_package_came_from(
    monkeypatch: pytest.MonkeyPatch, origin: dict[str, Any] | None, prefix: str, hint: str
) -> None:
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: InstalledFrom(origin))
    monkeypatch.setattr(sys, "prefix", prefix)
    assert explain_install("serve") == f"install it with: {hint}"


def test_what_is_damaged_has_a_hint() -> None:
    assert "--force" in DamagedError("weights.npz is damaged").hint
    assert DamagedError("state.npz is damaged", hint="start over").hint == "start over"
