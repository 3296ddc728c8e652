"""What the page of a model runs in, from the registries of pip and npm: `python tests/support/page_assets.py [FOLDER]`.

    $ python tests/support/page_assets.py
    /home/me/.cache/nmt-tests/page-assets

The folder has Pyodide with NumPy, which the wheel of Open WebUI contains, and ONNX Runtime Web: 30 MB, of the 140 that
are downloaded. It is complete or missing; a second call does nothing. Tests of the page open it where it is.
"""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

PYODIDE = "open-webui==0.12.4"  # of which only this folder is kept
INSIDE = "open_webui/frontend/pyodide/"
KEPT = ("pyodide", "python_stdlib", "numpy-")  # beginnings of names
RUNTIME = "onnxruntime-web@1.30.0"
GRAPHS = ("package/dist/ort-wasm-simd-threaded.mjs", "package/dist/ort-wasm-simd-threaded.wasm")


def find_page_assets() -> Path | None:
    """Returns the folder that NMT_PAGE_ASSETS names, or that of the cache; None if neither is there."""
    named = os.environ.get("NMT_PAGE_ASSETS")
    folder = Path(named) if named else locate_cache()
    return folder if named or folder.is_dir() else None


def locate_cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nmt-tests" / "page-assets"


def make_page_assets(folder: Path) -> None:
    """Downloads the assets into a new folder. Raises CalledProcessError or OSError if pip or npm cannot."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="nmt-", dir=folder.parent) as scratch:
        downloaded, written = Path(scratch), Path(scratch) / "written"
        # No Python has to run what is in this wheel, so it need not be for the one that runs here.
        pip = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--ignore-requires-python", PYODIDE)
        subprocess.run((*pip, "--dest", scratch), check=True, stdout=sys.stderr)
        subprocess.run(("npm", "pack", "--silent", RUNTIME), check=True, cwd=scratch, stdout=sys.stderr)
        with zipfile.ZipFile(next(downloaded.glob("*.whl"))) as wheel:
            for name in wheel.namelist():
                if name.removeprefix(INSIDE).startswith(KEPT) and name.startswith(INSIDE):
                    wheel.extract(name, written)
        with tarfile.open(next(downloaded.glob("*.tgz"))) as package:
            for name in GRAPHS:
                package.extract(name, written, filter="data")
        written.rename(folder)


if __name__ == "__main__":
    made = Path(sys.argv[1]) if len(sys.argv) > 1 else locate_cache()
    if not made.is_dir():
        make_page_assets(made)
    print(made)
