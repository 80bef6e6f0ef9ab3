"""Tests of what is built and installed: the wheel, the sdist, and the grammar found from each kind
of install.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import autodiff_cli
from autodiff_cli.cli.shell_scripts import SCRIPTS
from autodiff_cli.extras import EXTRAS, install_command, install_hint, installed_extras
from places import TOP

GRAMMAR = "autodiff_cli/grammars/expression.lark"
FOR_DEVELOPERS = {"autodiff_cli/api/manual.py", "autodiff_cli/language/generate.py"}
"""What writes tables and documents in a checkout."""
DATA = (".css", ".html", ".js", ".tex", ".toml", ".txt")


def build(source: Path, kind: str, into: Path) -> Path:
    """The path of the wheel or the sdist, built by the project's build back end, without the
    network.
    """
    code = f"import sys, hatchling.build as b; print(b.build_{kind}(sys.argv[1]))"
    result = subprocess.run(
        [sys.executable, "-c", code, str(into)],
        cwd=source,
        check=True,
        capture_output=True,
        text=True,
    )
    return into / result.stdout.split("\n")[-2]


def install(wheel: Path, folder: Path) -> Path:
    """The folder that a wheel was installed into, without its dependencies."""
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--no-compile",
    ]
    subprocess.run([*pip, "--target", str(folder), str(wheel)], check=True, capture_output=True)
    return folder


def autodiff(*arguments: str, found_in: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A run of `python -m autodiff_cli` with the package taken from a folder."""
    return python("-m", "autodiff_cli", *arguments, found_in=found_in, cwd=cwd)


def python(*arguments: str, found_in: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A run of Python with the package taken from a folder."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(found_in), "PYTHONUTF8": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(TOP, "sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def unpacked(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    subprocess.run(["tar", "-xzf", str(sdist), "-C", str(folder)], check=True)
    return folder / f"autodiff_cli-{autodiff_cli.__version__}"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(TOP, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def wheel_of_sdist(unpacked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(unpacked, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(wheel, tmp_path_factory.mktemp("site"))


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.posix
def test_the_wheel_holds_the_package_and_the_grammar_and_nothing_else(wheel: Path) -> None:
    held = contents(wheel)
    info = f"autodiff_cli-{autodiff_cli.__version__}.dist-info"
    data = f"autodiff_cli-{autodiff_cli.__version__}.data"
    assert {name.split("/")[0] for name in held} == {"autodiff_cli", info, data}
    assert held[f"{data}/data/share/man/man1/autodiff.1"].startswith(b".TH AUTODIFF 1")
    package = TOP / "autodiff_cli"
    assert (
        held[f"{info}/entry_points.txt"]
        == b"[console_scripts]\nautodiff = autodiff_cli.__main__:main\n"
    )
    assert (
        held[f"{data}/data/share/bash-completion/completions/autodiff"] == SCRIPTS["bash"].encode()
    )
    assert held[f"{data}/data/share/zsh/site-functions/_autodiff"].startswith(
        b"#compdef autodiff\n"
    )
    assert (
        held[f"{data}/data/share/fish/vendor_completions.d/autodiff.fish"]
        == SCRIPTS["fish"].encode()
    )
    shared = {
        path.relative_to(package).as_posix()
        for path in (package / "share").rglob("*")
        if path.is_file()
    }
    assert {name for name in held if name.startswith(data)} == {
        f"{data}/data/{name}" for name in shared
    }
    assert held[GRAMMAR] == (TOP / "grammars" / "expression.lark").read_bytes()
    manual = TOP / "tests" / "tutorials"
    modules = {path.relative_to(TOP).as_posix() for path in package.rglob("*.py")}
    expected = {
        GRAMMAR,
        *modules - FOR_DEVELOPERS,
        *(
            f"autodiff_cli/{name}"
            for name in ("__init__.pyi", "engine/graphs/library.pyi", "py.typed")
        ),
        *(
            f"autodiff_cli/manual/{path.relative_to(manual).as_posix()}"
            for path in manual.rglob("*.*")
        ),
        *(
            f"autodiff_cli/capabilities/graph/pictures/fonts/{name}"
            for name in ("DejaVuSansMono.ttf", "LICENSE")
        ),
        *(path.relative_to(TOP).as_posix() for path in package.rglob("*") if path.suffix in DATA),
    }
    assert {
        name for name in held if name.startswith("autodiff_cli/")
    } == expected and modules >= FOR_DEVELOPERS
    assert held[f"{info}/licenses/LICENSE"].startswith(b"MIT License")


def test_the_metadata_is_as_promised(wheel: Path) -> None:
    metadata = (
        contents(wheel)[f"autodiff_cli-{autodiff_cli.__version__}.dist-info/METADATA"]
        .decode()
        .split("\n\n")[0]
    )
    assert f"Name: autodiff-cli\nVersion: {autodiff_cli.__version__}\n" in metadata
    assert "License-Expression: MIT" in metadata
    assert "Requires-Python: >=3.11" in metadata
    rows = [
        row
        for row in metadata.split("\n")
        if row.startswith("Requires-Dist: ") and "extra ==" not in row
    ]
    assert rows == [
        "Requires-Dist: lark<2,>=1.2",
        "Requires-Dist: mpmath<2,>=1.3",
        "Requires-Dist: rich>=13",
        "Requires-Dist: shellingham>=1.3",
        "Requires-Dist: typer<0.29,>=0.17",
    ]
    extras = {
        row.split(": ")[1] for row in metadata.split("\n") if row.startswith("Provides-Extra: ")
    }
    assert extras == {
        "all",
        "certified",
        "cluster",
        "data",
        "draw",
        "excel",
        "integrals",
        "optimize",
        "plot",
        "repl",
        "test",
    }


def test_the_sdist_is_the_repository(sdist: Path, unpacked: Path) -> None:
    for name in [
        "grammars/expression.lark",
        "tests/package/test_package.py",
        ".ci/run",
        "README.md",
        "LICENSE",
    ]:
        assert (unpacked / name).read_bytes() == (TOP / name).read_bytes()


def test_the_wheel_is_the_same_from_the_sdist(wheel: Path, wheel_of_sdist: Path) -> None:
    assert contents(wheel) == contents(wheel_of_sdist)


@pytest.mark.parametrize("kind", ["wheel", "editable"])
def test_the_command_runs_from_an_install(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    # An editable install only puts the checkout itself on the path.
    folder = request.getfixturevalue("installed") if kind == "wheel" else TOP
    where = python(
        "-c", "import autodiff_cli; print(autodiff_cli.__file__)", found_in=folder, cwd=tmp_path
    )
    assert where.stdout.strip() == str(folder / "autodiff_cli" / "__init__.py")
    result = autodiff(
        "grad",
        "((w1-1)**2 + (w2-5)**2)*0.5",
        "--at",
        "w1=2,w2=3",
        "--json",
        found_in=folder,
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["value"] == 2.5
    assert answer["gradient"] == {"w1": 1.0, "w2": -2.0}


def test_every_module_of_the_wheel_imports(installed: Path, tmp_path: Path) -> None:
    # one that is left out of the wheel is missed by who imports it, in a function too
    names = [
        path.relative_to(installed).with_suffix("").as_posix().replace("/", ".")
        for path in (installed / "autodiff_cli").rglob("*.py")
        if path.name not in ("__init__.py", "__main__.py")
    ]
    done = python(
        "-c",
        "import importlib; [*map(importlib.import_module, " + repr(names) + ")]",
        found_in=installed,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "") and len(names) > 150
    for path in (installed / "autodiff_cli").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level and node.module:
                target = path.parents[node.level - 1].joinpath(*node.module.split("."))
                assert target.with_suffix(".py").is_file() or target.is_dir(), (
                    f"{path.name} imports {node.module}"
                )


@pytest.mark.parametrize(
    "asked", [["help", "--man"], ["help", "grad"], ["grad", "--help-all"], ["functions"], ["units"]]
)
def test_what_the_wheel_is_asked_about_itself_is_there(
    asked: list[str], installed: Path, tmp_path: Path
) -> None:
    done = autodiff(*asked, found_in=installed, cwd=tmp_path)
    here = autodiff(*asked, found_in=TOP, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout == here.stdout


def test_the_description_leads_nowhere_into_the_repository(wheel: Path) -> None:
    metadata = contents(wheel)[
        f"autodiff_cli-{autodiff_cli.__version__}.dist-info/METADATA"
    ].decode()
    description = metadata.partition("\n\n")[2]
    assert "Description-Content-Type: text/markdown" in metadata and description.startswith(
        "# autodiff\n"
    )
    assert len(description) > 2000 and not re.findall(r"\]\((?!https?:)", description)
    for version in range(11, 15):
        assert f"Classifier: Programming Language :: Python :: 3.{version}\n" in metadata


def test_where_it_runs_is_claimed_of_what_was_tried_only(wheel: Path) -> None:
    metadata = contents(wheel)[
        f"autodiff_cli-{autodiff_cli.__version__}.dist-info/METADATA"
    ].decode()
    systems = re.findall("Classifier: Operating System :: (.*)\n", metadata)
    assert systems == ["POSIX :: Linux"]


def test_the_citation_and_the_changes_are_of_this_version() -> None:
    citation = (TOP / ".github" / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {autodiff_cli.__version__}\n" in citation
    pointer = (TOP / ".github" / "CHANGELOG.md").read_text(encoding="utf-8")
    link = re.findall(r"\]\((.*?)\)", pointer)
    changes = (TOP / ".github" / link[0]).read_text(encoding="utf-8")
    assert re.findall("^## ([0-9.]+)", changes, re.MULTILINE)[0] == autodiff_cli.__version__


def test_the_sdist_installs_and_does_the_main_job(sdist: Path, tmp_path: Path) -> None:
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--no-build-isolation",
    ]
    subprocess.run(
        [*pip, "--no-compile", "--target", str(tmp_path), str(sdist)],
        check=True,
        capture_output=True,
    )
    result = autodiff(
        "grad", "x*y", "--at", "x=2,y=3", "--format", "plain", found_in=tmp_path, cwd=tmp_path
    )
    assert (result.stdout, result.stderr) == ("6.0 x=3.0 y=2.0\n", "")


# ---- extras ---------------------------------------------------------------------------------------------------------
def test_the_extras_are_those_of_the_project() -> None:
    declared = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    names = {
        extra: {re.split(r"[<>=\[]", each)[0] for each in needs}
        for extra, needs in declared.items()
    }
    names["cluster"] = names["cluster"] - {"autodiff-cli"} | names["data"]
    assert {extra: set(modules.values()) for extra, modules in EXTRAS.items()} == {
        e: names[e] for e in EXTRAS
    }
    assert set(installed_extras()) <= set(EXTRAS)
    rows = re.findall(
        r"^\| `(\w+)` \|", (TOP / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(rows) == sorted({*declared} - {"test"}), "README has a row for each extra"


def test_the_command_that_installs_an_extra_knows_where_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert install_command("data") == "pip install '.[data]'"
    monkeypatch.setattr(
        "autodiff_cli.extras.__file__", str(tmp_path / "site" / "autodiff_cli" / "extras.py")
    )
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert install_command("data") == "pip install 'autodiff-cli[data]'"
    (tmp_path / "uv-receipt.toml").touch()
    assert install_command("draw") == "uv tool install 'autodiff-cli[draw]'"
    monkeypatch.setattr(sys, "platform", "win32")
    assert install_command("draw") == 'uv tool install "autodiff-cli[draw]"'
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert install_hint("draw").startswith("a browser has no library for it; on a computer: `")
    monkeypatch.setattr(sys, "platform", "linux")
    (tmp_path / "pipx_metadata.json").touch()
    assert install_hint("optimize") == "`pipx inject autodiff-cli numpy scipy`"
    assert install_command("optimize") == "pipx inject autodiff-cli numpy scipy"


def test_there_is_one_version(installed: Path, tmp_path: Path) -> None:
    result = autodiff("--version", found_in=installed, cwd=tmp_path)
    assert result.stdout.startswith(f"autodiff {autodiff_cli.__version__}\nPython 3.")
    assert result.stdout.splitlines()[2].startswith("extras: ")
    assert (TOP / "pyproject.toml").read_text(encoding="utf-8").count(autodiff_cli.__version__) == 0


def test_the_command_is_on_the_path() -> None:
    result = subprocess.run(
        [Path(sys.executable).parent / "autodiff", "--version"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert (result.returncode, result.stdout.split()[1]) == (0, autodiff_cli.__version__)
