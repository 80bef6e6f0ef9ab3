"""The playground: static files that run the program in a browser, by Pyodide.

Nothing that is typed leaves the page: the files have no server, and the page's policy forbids
connections. Pyodide (CPython as WebAssembly) is not part of it; its files lie in a folder beside
the page, or at another place.
"""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from html import escape
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from ...errors import ExpressionError, usage_error
from ...streams.filesystems import exists_error, unwritable
from .examples import examples

PACKAGE = Path(__file__).parents[2]
WEB = Path(__file__).with_name("web")
SCRIPTS = ("playground.js", "worker.js", "playground.css", "frame.html")
ARCHIVE, PYODIDE = "autodiff.zip", "pyodide"
LOADER = "pyodide.mjs"
# The files of Pyodide's core; which of the two scripts there is depends on its version.
PYODIDE_FILES = (
    LOADER,
    "pyodide.asm.mjs",
    "pyodide.asm.js",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
# The time of every file in the archive, so that the same program gives the same bytes; zip knows
# none before.
EPOCH = (1980, 1, 1, 0, 0, 0)
_NAME = re.compile(r"[\w.-]+")


class Playground(NamedTuple):
    """What was written: the folder, and whether Pyodide's files are still to be put into it."""

    folder: Path
    lacks_pyodide: bool


def make(
    folder: Path, place: str | None = None, lines: Sequence[str] = (), *, force: bool = False
) -> Playground:
    """Write the files of a playground that begins with these lines.

    `place` is a folder with Pyodide's files, which are copied, or the address where a browser finds
    them. Without it they are looked for in `FOLDER/pyodide`. Raises `ExpressionError`: `io` for
    what cannot be written, `usage` for a place without Pyodide.
    """
    is_address = place is not None and bool(urlsplit(place).scheme in ("http", "https"))
    source = None if place is None or is_address else _pyodide_in(Path(place))
    if (folder / "index.html").exists() and not force:
        raise exists_error(str(folder / "index.html"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in SCRIPTS:
            shutil.copyfile(WEB / name, folder / name)
        _write_archive(folder / ARCHIVE)
        address = f"{str(place).rstrip('/')}/" if is_address else f"./{PYODIDE}/"
        (folder / "index.html").write_text(_index(address, lines), encoding="utf-8", newline="\n")
        if source is not None:
            _copy_pyodide(source, folder / PYODIDE)
    except OSError as fault:
        raise unwritable(str(folder), fault) from None
    return Playground(folder, not is_address and not (folder / PYODIDE / LOADER).exists())


def _index(address: str, lines: Sequence[str]) -> str:
    told = {"pyodide": address, "archive": ARCHIVE, "lines": list(lines), "examples": examples()}
    settings = json.dumps(told, ensure_ascii=True).replace("<", "\\u003c")
    text = (WEB / "index.html").read_text(encoding="utf-8")
    return text.replace("$settings", settings).replace("$pyodide", escape(address))


def _pyodide_in(place: Path) -> Path:
    if not (place / LOADER).is_file():
        message = f"there is no `{LOADER}` in `{place}`"
        raise usage_error(
            message, "name the folder of a release of Pyodide, or its address, `https://…`"
        )
    return place


def _copy_pyodide(source: Path, to: Path) -> None:
    if source.resolve() == to.resolve():
        return
    to.mkdir(exist_ok=True)
    for name in PYODIDE_FILES:
        if (source / name).is_file():
            shutil.copyfile(source / name, to / name)


# ---- the program and what it needs
def _write_archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in sorted({**dict(_own_files()), **dict(_files_of_libraries())}.items()):
            archive.writestr(zipfile.ZipInfo(name, EPOCH), file.read_bytes(), zipfile.ZIP_DEFLATED)


def _own_files() -> Iterator[tuple[str, Path]]:
    """Yield the files of the package, laid out as in a wheel wherever they are."""
    folders = {
        "": PACKAGE,
        "grammars": PACKAGE.parent / "grammars",
        "manual": PACKAGE.parent / "tests" / "tutorials",
    }
    for name, folder in folders.items():
        for file in folder.rglob("*") if folder.is_dir() else ():
            inside = file.relative_to(folder)
            if file.is_file() and not {"__pycache__", "share"} & {*inside.parts}:
                yield Path(PACKAGE.name, name, inside).as_posix(), file


def _files_of_libraries() -> Iterator[tuple[str, Path]]:
    """Yield the files of the libraries that the program cannot do without; all are pure Python."""
    for name in sorted(_libraries("autodiff-cli")):
        for file in distribution(name).files or ():
            is_code = ".." not in file.parts and not file.parts[0].endswith(".dist-info")
            if is_code and file.suffix not in (".pyc", ".so", ".pyd"):
                yield file.as_posix(), Path(str(file.locate()))


def _libraries(name: str) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for requirement in distribution(waiting.pop()).requires or ():
            match = _NAME.match(requirement)
            if (
                match is None
                or "extra ==" in requirement
                or match[0] in found
                or not _is_installed(match[0])
            ):
                continue
            found.add(match[0])
            waiting.append(match[0])
    return found


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False  # for another system, as its marker says
    return True


def needs_folder(output: str | None) -> Path:
    """Return the folder to write. Raises `ExpressionError` if none is named, or a file has its
    name.
    """
    if output is None:
        raise usage_error(
            "a playground is a folder of files", "name it: `--playground --output FOLDER`"
        )
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise ExpressionError(
            "io", f"`{output}` is a file, and a playground is a folder", hint="give another name"
        )
    return folder
