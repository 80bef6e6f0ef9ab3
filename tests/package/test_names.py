"""Tests of the modules' names and of the imports between them: no circle anywhere, and no name for
two things.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import autodiff_cli

TOP = Path(autodiff_cli.__file__).parent
SEVERAL = {"Program": "the API's program is a function, which has the builder's graph"}
"""The names of other classes that stand for two, with the reasons."""


def modules() -> dict[str, Path]:
    """The package's modules by their dotted names inside it; a package is its `__init__`."""
    found = {}
    for path in sorted(TOP.rglob("*.py")):
        parts = path.relative_to(TOP).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(name: str, path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    """The modules of the package that a module imports, those that functions import, or types need,
    as well.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    here = [part for part in name.split(".") if part]
    if path.name != "__init__.py":
        here.pop()
    nodes: list[ast.AST] = [tree]
    while nodes:
        node = nodes.pop()
        nodes += ast.iter_child_nodes(node)
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        target = here[: len(here) - node.level + 1] + (
            node.module.split(".") if node.module else []
        )
        for alias in node.names:
            inner = ".".join([*target, alias.name])
            yield inner if inner in known else ".".join(target)


def circles(edges: Mapping[str, set[str]]) -> list[list[str]]:
    """The sets of modules in which each reaches each other one, by Tarjan's algorithm."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in edges.get(name, ()):
            if other not in index:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == index[name]:
            members = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(members) > 1 or name in edges.get(name, ()):
                found.append(sorted(members))

    for name in edges:
        if name not in index:
            visit(name)
    return found


def doubles(names: Mapping[str, Path]) -> dict[str, list[str]]:
    """The last parts of names that two modules have."""
    by_last = defaultdict(list)
    for name, path in names.items():
        if path.name not in ("__init__.py", "__main__.py"):
            by_last[name.split(".")[-1]].append(name)
    return {last: found for last, found in by_last.items() if len(found) > 1}


def test_no_imports_form_a_circle() -> None:
    known = modules()
    edges = {name: set(imports(name, path, known)) for name, path in known.items()}
    assert len(edges) > 100
    assert sum(map(len, edges.values())) > 300
    assert circles(edges) == []


def test_a_circle_would_be_noticed() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"d"}}) == [["b", "c"], ["d"]]
    known = modules()
    assert "language.diagnostics.diagnosis" in set(
        imports("questions.problem", known["questions.problem"], known)
    )
    inside_function = set(imports("engine.run.evaluation", known["engine.run.evaluation"], known))
    assert "engine.run.smooth_branches" in inside_function


def test_no_two_modules_have_one_name() -> None:
    assert doubles(modules()) == {}


def test_a_second_name_would_be_noticed() -> None:
    assert list(doubles({"show.value": Path("x.py"), "engine.graphs.value": Path("x.py")})) == [
        "value"
    ]


def classes(module: str, source: str) -> Iterator[tuple[str, str]]:
    """The classes of a module, inner and private ones too, by their names without underscores."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef):
            bases = {
                base.attr
                for part in node.bases
                for base in ast.walk(part)
                if isinstance(base, ast.Attribute)
            }
            if not (module.endswith("_function") and node.name in bases):
                yield node.name.lstrip("_"), module


def shared_class_names(sources: Mapping[str, str]) -> dict[str, list[str]]:
    """The names of several classes, but for the exceptions, with their modules."""
    by_name = defaultdict(list)
    for module, source in sources.items():
        for name, home in classes(module, source):
            by_name[name].append(home)
    return {
        name: homes for name, homes in by_name.items() if len(homes) > 1 and name not in SEVERAL
    }


def test_no_two_classes_have_one_name() -> None:
    sources = {name: path.read_text(encoding="utf-8") for name, path in modules().items()}
    assert sum(len([*classes(module, source)]) for module, source in sources.items()) > 300
    assert shared_class_names(sources) == {}
    unused = [
        name
        for name in SEVERAL
        if sum(f"class {name}" in source for source in sources.values()) < 2
    ]
    assert unused == []


def test_a_second_class_would_be_noticed() -> None:
    face = "class Line(Answer, _lines.Line): ..."
    assert (
        shared_class_names(
            {"show.document": "class Line: ...", "capabilities.lines.lines_function": face}
        )
        == {}
    )
    assert shared_class_names({"show.document": "class Line: ...", "cli.runner": face}) == {
        "Line": ["show.document", "cli.runner"]
    }
    assert [
        *shared_class_names({"a": "class Line:\n    class _Part: ...", "b": "class Part: ..."})
    ] == ["Part"]


def undocumented(name: str) -> list[str]:
    """What a module offers that says nothing of itself, by getdoc: what overrides a method may
    leave that to it.
    """
    module = importlib.import_module(f"autodiff_cli.{name}" if name else "autodiff_cli")
    found = [] if (module.__doc__ or "").strip() else [name]
    for label, each in vars(module).items():
        if (
            label.startswith("_")
            or getattr(each, "__module__", "") != module.__name__
            or not callable(each)
        ):
            continue
        if inspect.isclass(each) or inspect.isfunction(each):
            found += [] if inspect.getdoc(each) else [f"{name}.{label}"]
        for own, method in vars(each).items() if inspect.isclass(each) else ():
            plain = (
                inspect.isfunction(method)
                and not own.startswith("_")
                and method.__module__ == module.__name__
            )
            if plain and not inspect.getdoc(getattr(each, own)):
                found.append(f"{name}.{label}.{own}")
    return found


def test_every_module_and_what_it_offers_says_what_it_is_for() -> None:
    known = [name for name in modules() if not name.endswith("__main__")]
    assert len(known) > 200
    assert [each for name in known for each in undocumented(name)] == []
