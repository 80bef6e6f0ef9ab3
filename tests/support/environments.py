"""Environments made from the wheel, with the extras that a page names and no other library."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import zipfile
from functools import cache
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

from autodiff_cli.extras import EXTRAS
from places import TOP

NAMED = re.compile(r"(?:autodiff-cli|\.)\[([\w,]+)\]|\bextra\s+`(\w+)`")
OTHERS = re.compile(r"pip install ([a-z][\w-]*)\b(?!\[)")


def extras_named(text: str) -> frozenset[str]:
    """The extras that a page tells its reader to install."""
    names = {name for match in NAMED.finditer(text) for name in (match[1] or match[2]).split(",")}
    return frozenset(EXTRAS if "all" in names else names & EXTRAS.keys())


def packages_named(text: str) -> frozenset[str]:
    """The other packages that a page tells its reader to install."""
    return frozenset(OTHERS.findall(text)) - {"autodiff-cli"}


def build_wheel(folder: Path) -> Path:
    """The wheel of the checkout, built in a folder."""
    code = "import sys, hatchling.build as b; print(b.build_wheel(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        cwd=TOP,
        capture_output=True,
        text=True,
        check=True,
    )
    return folder / done.stdout.split("\n")[-2]


def environment(
    wheel: Path, folder: Path, extras: frozenset[str], packages: frozenset[str] = frozenset()
) -> Path:
    """The folder of the commands of a new environment with the wheel, what it requires, these
    extras and packages.

    The libraries are those of this environment, each linked; nothing is fetched.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
        metadata = next(name for name in archive.namelist() if name.endswith("/METADATA"))
        text = archive.read(metadata).decode()
    needs = [
        Requirement(row.split(": ", 1)[1])
        for row in text.split("\n")
        if row.startswith("Requires-Dist: ")
    ]
    wanted = {need.name for need in needs if _applies(need, frozenset())}
    for extra in extras:
        wanted |= {need.name for need in needs if _applies(need, frozenset({extra}))}
    linked: set[str] = set()
    for name in wanted | packages:
        if name != "autodiff-cli":
            _link(name, site, linked)
    command = folder / "bin" / "autodiff"
    lines = (
        f"#!{folder}/bin/python",
        "import sys",
        "from autodiff_cli.__main__ import main",
        "sys.exit(main())",
        "",
    )
    command.write_text("\n".join(lines), encoding="utf-8")
    command.chmod(0o755)
    return folder / "bin"


def _applies(need: Requirement, extras: frozenset[str]) -> bool:
    return need.marker is None or any(
        need.marker.evaluate({"extra": extra}) for extra in extras or {""}
    )


@cache
def _of(name: str) -> Distribution:
    return distribution(name)


def _link(name: str, site: Path, linked: set[str]) -> None:
    """Link a distribution and all that it requires into an environment."""
    if name.lower() in linked:
        return
    linked.add(name.lower())
    found = _of(name)
    for top in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
        source, target = Path(str(found.locate_file(top))), site / top
        if source.exists() and not target.exists():
            target.symlink_to(source)
    for need in map(Requirement, found.requires or ()):
        if _applies(need, frozenset()):
            _link(need.name, site, linked)
