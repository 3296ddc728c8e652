"""Writes and reads files of named arrays: NumPy's .npz, written whole or not at all, without pickle.

Not Keras' HDF5, whose library ends the process on a full disk (h5py 3.14). Here a full disk is an OSError.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from nmt_cli.errors import DamagedError
from nmt_cli.files import stage_file

NamedArrays = dict[str, np.ndarray[Any, Any]]


def write_arrays(path: Path, arrays: Iterable[tuple[str, Any]]) -> None:
    """Writes one array after another, so that only one need be in memory. The data is on disk on return."""
    with stage_file(path) as temporary:
        with temporary.open("wb") as file:
            with zipfile.ZipFile(file, "w") as archive:
                for name, array in arrays:
                    with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                        np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())


def read_arrays(path: Path, names: Iterable[str] | None = None) -> NamedArrays:
    """Returns all arrays of the file, or those with these names. Raises DamagedError if the file cannot be read."""
    try:
        # An open file, since np.load does not close a file that it opens and cannot read.
        with path.open("rb") as stream, zipfile.ZipFile(stream) as archive:
            require_stored(archive, path.stat().st_size)
            stream.seek(0)
            file = np.load(stream, allow_pickle=False)
            arrays = {name: file[name] for name in (file.files if names is None else names)}
    except (OSError, EOFError, ValueError, KeyError, AttributeError, MemoryError, zipfile.BadZipFile) as error:
        raise DamagedError(f"{path} cannot be read: {error}") from error
    damaged = next((name for name, array in arrays.items() if not is_finite(array)), None)
    if damaged is not None:
        raise DamagedError(f"{path} cannot be read: {damaged} has values that are no numbers")
    return arrays


def require_stored(archive: zipfile.ZipFile, size: int) -> None:
    """Raises ValueError if the entries of an archive of `size` bytes unpack to more than it has."""
    if sum(entry.file_size for entry in archive.infolist()) > size:
        raise ValueError("it is packed, or claims to be larger than it is")


def is_finite(array: np.ndarray[Any, Any]) -> bool:
    """Whether an array has neither NaN nor infinity."""
    return array.dtype.kind != "f" or bool(np.isfinite(array).all())
