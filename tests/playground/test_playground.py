"""The playground: its files are whole, its prompt answers as a session does, and it runs in a real
browser.
"""

from __future__ import annotations

import functools
import http.server
import json
import os
import re
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autodiff_cli.capabilities.playground.examples import examples
from autodiff_cli.capabilities.playground.playground import ARCHIVE, LOADER, SCRIPTS, make
from autodiff_cli.capabilities.playground.prompt import Prompt
from autodiff_cli.errors import ExpressionError
from browser import MISSING, browser
from running import autodiff

PYODIDE = os.environ.get("PYODIDE", "")
"""A folder with a release of Pyodide, such as `node_modules/pyodide`."""


@pytest.fixture
def prompt(tmp_path: Path) -> Iterator[Prompt]:
    before = Path.cwd()
    yield Prompt(str(tmp_path / "work"))
    os.chdir(before)


def texts(answer: dict[str, Any]) -> str:
    return "".join(re.sub(r"\x1b\[[\d;]*m", "", part["text"]) for part in answer["parts"])


# ---- the files
def test_the_folder_has_all_that_the_page_names(tmp_path: Path) -> None:
    made = make(tmp_path / "site", lines=["diff x^2"])
    assert made.lacks_pyodide
    assert {path.name for path in made.folder.iterdir()} == {"index.html", ARCHIVE, *SCRIPTS}
    index = (made.folder / "index.html").read_text("utf-8")
    settings = re.search(r'<script type="application/json" id="settings">(.*)</script>', index)
    assert settings is not None
    told = json.loads(settings[1])
    assert told == {
        "pyodide": "./pyodide/",
        "archive": ARCHIVE,
        "lines": ["diff x^2"],
        "examples": examples(),
    }
    # the page itself may connect to nothing
    assert "connect-src" not in index and "default-src 'none'" in index
    for path in made.folder.glob("*.[jhc]*"):
        assert not re.findall(
            r"https?://(?!www\.w3\.org/2000/svg|localhost)", path.read_text("utf-8")
        ), path


def test_the_same_program_gives_the_same_bytes(tmp_path: Path) -> None:
    archives = [(make(tmp_path / name).folder / ARCHIVE).read_bytes() for name in "ab"]
    assert archives[0] == archives[1]


def test_the_archive_is_whole(tmp_path: Path) -> None:
    """Python without any other library answers from it: tables, trees, help, tutorials, the
    grammar.
    """
    make(tmp_path / "site")
    with zipfile.ZipFile(tmp_path / "site" / ARCHIVE) as archive:
        archive.extractall(tmp_path / "lib")
        assert not [name for name in archive.namelist() if name.endswith((".pyc", ".so"))]
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path / "lib")!r})
from autodiff_cli.capabilities.playground.prompt import Prompt
prompt = Prompt({str(tmp_path / "work")!r})
for line in ("f(x) = x² sin x", "f(2)", "grad 'x*y' --at x=2,y=3", "diff 'x²·sin(3x)' --steps", "help diff",
             "tutorial 1", "grad x --at x=0.1 --precision 30", "functions softplus"):
    answer = prompt.answer(line, 80)
    assert answer["code"] == 0 and answer["parts"], (line, answer)
"""
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True, timeout=60)


def test_pyodide_is_copied_or_named(tmp_path: Path) -> None:
    release = tmp_path / "release"
    release.mkdir()
    (release / LOADER).write_text("export {}")
    (release / "README.md").write_text("not needed")
    made = make(tmp_path / "copied", str(release))
    assert not made.lacks_pyodide
    assert [path.name for path in (made.folder / "pyodide").iterdir()] == [LOADER]
    made = make(tmp_path / "named", "https://example.org/pyodide")
    assert not made.lacks_pyodide and not (made.folder / "pyodide").exists()
    assert '"pyodide": "https://example.org/pyodide/"' in (made.folder / "index.html").read_text(
        "utf-8"
    )
    with pytest.raises(ExpressionError, match=f"there is no `{LOADER}`"):
        make(tmp_path / "none", str(tmp_path))


def test_what_is_typed_stays_text(tmp_path: Path) -> None:
    make(tmp_path / "site", lines=["</script><script>alert(1)</script>"])
    assert "<script>alert" not in (tmp_path / "site" / "index.html").read_text("utf-8")


def test_the_command(tmp_path: Path) -> None:
    got = autodiff(
        "page",
        "x^2*y",
        "--at",
        "x=1",
        "--at",
        "y=2 m",
        "--playground",
        "-o",
        "site",
        folder=tmp_path,
    )
    assert (got.out, got.code) == ("site/index.html\n", 0)
    assert "put the files of a release of Pyodide" in got.err and "http.server" in got.err
    index = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert json.dumps(["grad 'x^2*y' --at 'x=1' --at 'y=2 m'"])[1:-1] in index
    again = autodiff("page", "--playground", "-o", "site", folder=tmp_path)
    assert again.code == 5 and "--force" in again.err
    assert autodiff("page", "--playground", "-o", "site", "--force", folder=tmp_path).code == 0
    (tmp_path / "file").write_text("")
    for arguments, said in (
        (("--playground",), "--output"),
        (("--playground", "-o", "file"), "is a file"),
        (("x", "--at", "x=1", "--pyodide", "p"), "--playground"),
        (("--playground", "-o", "b", "--pyodide", "nowhere"), "there is no `pyodide.mjs`"),
    ):
        got = autodiff("page", *arguments, folder=tmp_path)
        assert got.code in (2, 5) and said in got.err and "Traceback" not in got.err, arguments
    assert not (tmp_path / "b").exists()


# ---- the prompt
def test_the_prompt_answers_as_a_session(prompt: Prompt) -> None:
    answer = prompt.answer("f(x) = x² sin x", 60)
    assert (answer["code"], answer["names"]) == (0, True)
    answer = prompt.answer("f(2)", 60)
    assert texts(answer).startswith("ans = 3.63719")
    assert prompt.complete("pl") == {"start": "pl", "endings": ["plot "]}
    answer = prompt.answer("2 +", 60)
    assert answer["code"] == 3 and [part["kind"] for part in answer["parts"]] == ["err"]
    assert "\x1b[1;31merror:" in answer["parts"][0]["text"]
    assert "close it" in texts(prompt.answer(":quit", 60))
    wide = max(map(len, texts(prompt.answer("diff 'x²·sin(3x)' --steps", 40)).splitlines()))
    assert wide <= 40


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("graph 'tanh(w*x + b)' --at w=1,x=2,b=-1", "svg"),
        ("plot x^2 --range x=0:1", "plot"),
        ("plot x^2+y^2 --range x=0:1,y=0:1", "plot"),
        ("page 'tanh(w*x)' --at w=1,x=2", "html"),
        ("grad x^2 --at x=2 --format json", "out"),
        ("plot x^2 --range x=0:1 --format csv", "out"),
    ],
)
def test_pictures_are_for_the_page(prompt: Prompt, line: str, kind: str) -> None:
    answer = prompt.answer(line, 80)
    assert (answer["code"], [part["kind"] for part in answer["parts"]]) == (0, [kind])


def test_a_file_that_is_written_can_be_saved(prompt: Prompt) -> None:
    assert prompt.answer("graph x**2 --at x=2 -o a.svg", 80)["files"] == ["a.svg"]
    assert prompt.answer("graph x**2 --at x=2", 80)["files"] == []


def test_every_example_is_answered(prompt: Prompt) -> None:
    groups = examples()
    lines = [line for group in groups for line in group["lines"]]
    assert len(lines) > 40
    for line in lines:
        answer = prompt.answer(line, 80)
        assert answer["code"] == 0 and answer["parts"], line
        assert "needs the libraries" not in texts(answer)


# ---- in the browser
@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if MISSING or not PYODIDE:
        pytest.skip(MISSING or "the variable PYODIDE names no folder with a release of Pyodide")
    folder = make(tmp_path_factory.mktemp("playground"), PYODIDE, force=True).folder

    class Quiet(http.server.SimpleHTTPRequestHandler):
        """Serves the folder without a log."""

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


HOSTILE = "2 + <img src=x onerror=alert(1)>"


@pytest.mark.timeout(240)
def test_the_page_in_a_browser(site: str) -> None:
    """A link runs its line; tables, graphs, plots, pages and errors are shown; a stop keeps the
    names.
    """
    said: list[str] = []
    with browser() as chromium:
        tab = chromium.new_page(viewport={"width": 390, "height": 800})
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.on(
            "request", lambda sent: sent.url.startswith((site, "blob:")) or said.append(sent.url)
        )
        tab.goto(f"{site}#f(x)%3Dx%5E2%20sin%20x")
        tab.wait_for_selector("body[data-ready]", timeout=120_000)

        def answered(line: str) -> Any:
            count = tab.locator("article").count()
            tab.fill("#line", line)
            tab.press("#line", "Enter")
            tab.wait_for_selector("#stop", state="hidden", timeout=60_000)
            assert tab.locator("article").count() == count + 1
            shown = tab.locator("article").last
            # the answer is in sight: whole above the prompt, or from its beginning
            box, edge = shown.bounding_box(), tab.locator("#prompt").bounding_box()["y"]
            assert box["y"] > -1 and (box["y"] < 1 or box["y"] + box["height"] < edge + 1), (
                line,
                box,
                edge,
            )
            return shown

        tab.wait_for_selector("#stop", state="hidden", timeout=60_000)
        assert "f(x) = x^2*sin(x)" in tab.locator("article").last.inner_text()
        assert "ans = 3.63719" in answered("f(2)").inner_text()
        assert answered("grad x*y --at x=2,y=3").locator(".s36").count() >= 2  # names are coloured
        assert (
            answered("graph x*y --at x=2,y=3")
            .locator("img")
            .evaluate("image => image.naturalWidth")
            > 100
        )
        assert answered("plot f --range x=0:3 --at x=1").locator("svg path").count() >= 4
        assert answered("plot 'x^2-y^2' --range x=0:1,y=0:1").locator("canvas").count() == 1
        frame = answered("page 'tanh(w*x)' --at w=1,x=2").locator("iframe").content_frame
        frame.locator("#next").click(timeout=30_000)
        assert frame.locator("#count").inner_text().startswith("2 of")
        wrong = answered(HOSTILE)
        assert wrong.locator("img").count() == 0 and HOSTILE in wrong.inner_text()
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        axe = pytest.importorskip("axe_playwright_python.sync_playwright")
        assert axe.Axe().run(tab).response["violations"] == []
        tab.locator("#stop").evaluate("button => button.click()")
        tab.wait_for_selector("#status:has-text('defined again')", timeout=120_000)
        assert "ans = 3.63719" in answered("f(2)").inner_text()
        tab.close()
    assert said == []
