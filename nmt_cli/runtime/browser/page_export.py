"""Writes a model as a folder of static files that translate in a browser, without a server.

The page runs this package in Pyodide, and the graphs of the model in ONNX Runtime Web. Both programs, and NumPy, come
from a folder that the user names. Browsers refuse to fetch files from disk, but run scripts from there, so each file is
a script that hands over its content.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import shutil
import subprocess
import zlib
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import onnxruntime

import nmt_cli
from nmt_cli.errors import DamagedError, NotFoundError, OptionError
from nmt_cli.languages.codes import find_language
from nmt_cli.pages import read_asset
from nmt_cli.runtime.browser.web_onnxruntime import name_facts
from nmt_cli.runtime.model_directory import CARD, ModelDirectory, name_graphs, name_weights
from nmt_cli.runtime.onnx_engine import KeptGraph, write_graph

HERE = "nmt_cli.runtime.browser"
ROOT = Path(nmt_cli.__file__).parent
# Rooms that translating text never imports, and what is no part of the archive.
LEFT_OUT = ("training", "model", "corpus", "visuals", "server", "cli", "evaluation/metrics", "docs", "runtime/browser")
STAND_INS = ("onnxruntime", "sentencepiece")
LOADER, LOCK = "pyodide.js", "pyodide-lock.json"
# What the page is made of, by any of its names: Pyodide's change with its version.
ASSETS = (
    (LOADER,),
    (LOCK,),
    ("pyodide.asm.mjs", "pyodide.asm.js"),
    ("pyodide.asm.wasm",),
    ("python_stdlib.zip",),
    ("ort-wasm-simd-threaded.mjs",),
    ("ort-wasm-simd-threaded.wasm",),
)
WHOLE_GRAPH = 2**40  # bytes: constants up to this size stay in the graph


def find_assets(folder: Path) -> dict[str, Path]:
    """Returns the files of ASSETS and Pyodide's NumPy below a folder, by name. Raises NotFoundError, DamagedError."""
    files = {path.name: path for path in sorted(folder.rglob("*"), reverse=True)}  # of equal names the first
    assets = dict(pick_asset(folder, files, names) for names in ASSETS)
    try:
        wheel = json.loads(assets[LOCK].read_text(encoding="utf-8"))["packages"]["numpy"]["file_name"]
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedError(f"{assets[LOCK]} does not name the NumPy version for this Pyodide") from error
    return dict([*assets.items(), pick_asset(folder, files, (wheel,))])


def pick_asset(folder: Path, files: Mapping[str, Path], names: tuple[str, ...]) -> tuple[str, Path]:
    for name in names:
        if name in files:
            return name, files[name]
    into = quote(str(folder))
    line = f"mkdir -p {into} && tar -xf pyodide-*.tar.bz2 -C {into} && npm install --prefix {into} onnxruntime-web"
    raise NotFoundError(
        f"{folder}/ has no {' or '.join(names)}", hint=f"download the archive of a Pyodide release, then run: {line}"
    )


def write_page(model: ModelDirectory, directory: Path, assets: Mapping[str, Path]) -> None:
    """Writes the page of a model into an empty directory. Raises OptionError for a captioning model."""
    if model.card.has_pictures:
        raise OptionError(
            "the web page can only translate text, but this is a captioning model",
            hint="translate pictures with `nmt translate`",
        )
    sources = {name: path.read_bytes() for name, path in assets.items()}
    contents = dict(compile_python({**sources, "nmt.zip": pack(model)}))
    files = directory / "files"
    files.mkdir()
    (files / LOADER).write_bytes(contents.pop(LOADER))
    for name, content in contents.items():
        text = base64.b64encode(zlib.compress(content, 9)).decode()
        (files / f"{name}.js").write_text(f'store("{name}", "{text}");\n', encoding="ascii")
    for name in ("graphs.js", "page.js"):
        (files / name).write_text(read_asset(HERE, name), encoding="utf-8")
    scripts = (LOADER, "graphs.js", "page.js", *(f"{name}.js" for name in contents))
    (directory / "index.html").write_text(render_page(model, scripts), encoding="utf-8")


def compile_python(contents: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """Returns the files of a page, by name, with the Python in archives compiled: the page starts in half the time.

    Only the page's own Python can compile it, and Node.js runs that Python. If Node.js is missing or fails, nothing is
    compiled.
    """
    node = shutil.which("node")
    if node is None:
        return contents
    archives = [name for name in contents if name.endswith((".zip", ".whl"))]
    with TemporaryDirectory(prefix="nmt-") as folder:
        for name, content in contents.items():
            (Path(folder) / name).write_bytes(content)
        script = ("-e", read_asset(HERE, "compile.js"), *archives)
        if subprocess.run((node, *script), cwd=folder, capture_output=True).returncode != 0:
            return contents
        return {name: (Path(folder) / name).read_bytes() for name in contents}


def render_page(model: ModelDirectory, scripts: tuple[str, ...]) -> str:
    """Returns the HTML of the page, which runs these scripts in this order."""
    source, target = (escape(find_language(code).name) for code in model.card.languages)
    values = {
        "SOURCE": source,
        "TARGET": target,
        "CODE": escape(model.card.target_language),
        "THEME": read_asset("nmt_cli", "theme.css"),
        "SCRIPTS": "\n".join(f'<script src="files/{escape(name)}"></script>' for name in scripts),
    }
    page = read_asset(HERE, "page.html")
    for name, value in values.items():
        page = page.replace(f"{{{name}}}", value)
    return page


def pack(model: ModelDirectory) -> bytes:
    """Returns an archive of this package, the model, and the replacements for compiled packages."""
    content = io.BytesIO()
    with ZipFile(content, "w", ZIP_DEFLATED) as archive:
        for path in list_modules():
            archive.write(path, f"nmt_cli/{path.relative_to(ROOT).as_posix()}")
        for name in STAND_INS:
            archive.write(ROOT / "runtime" / "browser" / f"web_{name}.py", f"{name}.py")
        for name, data in read_model(model).items():
            archive.writestr(f"model/{name}", data)
    return content.getvalue()


def list_modules() -> Iterator[Path]:
    """Yields the files of this package that translating text needs."""
    for path in sorted(ROOT.rglob("*")):
        inside = path.relative_to(ROOT).as_posix()
        if path.is_file() and "__pycache__" not in inside and not inside.startswith(LEFT_OUT):
            yield path


def read_model(model: ModelDirectory) -> dict[str, bytes]:
    """Returns the files of a model by name: its graphs with their weights inside, and a description of each."""
    graphs = name_graphs(model.precision)
    weights = [name_weights(graph) for graph in graphs]
    files = {name: (model.directory / name).read_bytes() for name in model.files if name not in weights}
    with TemporaryDirectory(prefix="nmt-") as folder:
        for name in graphs:
            files[name] = join_weights(model.directory / name, Path(folder) / name)
    checksums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    files |= {name_facts(files[name]): json.dumps(describe_graph(model.directory / name)).encode() for name in graphs}
    return files | {CARD: json.dumps(model.card._replace(checksums=checksums)._asdict()).encode()}


def join_weights(graph: Path, joined: Path) -> bytes:
    """Returns a graph with its weights inside, since ONNX Runtime Web has no file system to find others in."""
    level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    # Without a file for the weights, they would stay where they were.
    write_graph(graph, joined, level, weights=name_weights(joined.name), inline_bytes=WHOLE_GRAPH)
    return joined.read_bytes()


def describe_graph(path: Path) -> dict[str, Any]:
    """Returns what ONNX Runtime Web does not know about a graph: its metadata, inputs and outputs."""
    session = KeptGraph(path).open_session()
    sides = {"inputs": session.get_inputs(), "outputs": session.get_outputs()}
    described = {side: [[node.name, node.type, node.shape] for node in nodes] for side, nodes in sides.items()}
    return {**described, "metadata": session.get_modelmeta().custom_metadata_map}
