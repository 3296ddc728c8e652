"""Translated documents that wait to be fetched: their names, their number, their end."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from nmt_cli.server.results import ResultStore
from nmt_cli.server.service import Service
from support.served import make_pool, serve_on_port


def test_names_of_uploads_become_harmless() -> None:
    store = ResultStore()
    for name in ("../../etc/passwd", "..\\..\\boot.ini", "a\x00b.txt", ".bashrc", "x" * 300 + ".txt", "", 'a";b.txt'):
        result = store.make_name(name)
        assert store.find_path(result).parent == store.folder
        store.find_path(result).write_text("")
        assert store.find(result) is not None, result
    assert store.find("../" + store.make_name("a.txt")) is None
    store.close()


def test_results_are_deleted_whether_anybody_asks_for_one_or_not() -> None:
    service = Service(make_pool()[0], results=ResultStore(seconds=0.1))
    with serve_on_port(service):
        path = service.results.find_path(service.results.make_name("a.txt"))
        path.write_text("")
        for _ in range(50):
            time.sleep(0.05)
            if not path.exists():
                break
        assert path.parent.is_dir()
        assert not path.exists()


def test_results_expire_and_end_with_the_server() -> None:
    store = ResultStore(seconds=0.05)
    name = store.make_name("a.txt")
    store.find_path(name).write_text("")
    assert store.find(name)
    time.sleep(0.1)
    assert store.find(name) is None
    folder = store.folder
    assert folder.stat().st_mode & 0o077 == 0
    store.close()
    assert not folder.exists()


def write_result(store: ResultStore, name: str, *, age: float = 0.0, size: int = 1) -> Path:
    path = store.find_path(store.make_name(name))
    path.write_bytes(bytes(size))
    os.utime(path, (time.time() - age,) * 2)
    return path


def test_results_are_bounded_together_and_the_oldest_goes_first() -> None:
    store = ResultStore(most_bytes=100)
    old, young = write_result(store, "old.txt", age=20, size=60), write_result(store, "young.txt", age=10, size=60)
    assert store.find(old.name) is None and store.find(young.name) == young
    small = write_result(store, "small.txt", size=40)
    assert store.find(small.name) == small and store.find(young.name) == young
    store.close()


def test_results_may_be_renamed_while_others_are_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    store = ResultStore()
    gone, here = write_result(store, "gone.txt"), write_result(store, "here.txt")
    names = [gone, here, store.find_path(f".{here.name}.123.partial")]
    old = write_result(store, "old.txt", age=1_000)
    unfinished = store.find_path(f".{here.name}.77.partial")  # of a document that takes longer than results are kept
    unfinished.write_text("")
    os.utime(unfinished, (0, 0))
    gone.unlink()
    monkeypatch.setattr(Path, "iterdir", lambda folder: iter([*names, old, unfinished]))
    assert store.find(here.name) == here
    assert unfinished.exists() and not old.exists()
    store.close()
