"""The fields of answers are declared once, at the class of the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

import autodiff_cli
from autodiff_cli.record import Record
from autodiff_cli.show import view_of
from autodiff_cli.show.schema import Field, View, read_declaration

ASKED: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "gradient": {"text": "x*y", "at": "x=2,y=3"},
        "check": {"text": "x*y", "at": "x=2,y=3"},
        "trace": {"text": "x*y", "at": "x=2,y=3"},
        "graph": {"text": "x*y", "at": "x=2,y=3"},
        "page": {"text": "x*y", "at": "x=2,y=3"},
        "hessian": {"text": "x*y", "at": "x=2,y=3"},
        "jacobian": {"text": "x*y", "at": "x=2,y=3"},
        "taylor": {"text": "x**2", "at": "x=2"},
        "limit": {"text": "sin(x)/x", "at": "x=0"},
        "tangent": {"text": "x**2", "at": "x=2"},
        "diff": {"text": "x**2"},
        "solve": {"text": "x**2 = 4"},
        "propagate": {"text": "2*x", "at": "x=2±0.1"},
        "export": {"text": "x**2"},
        "units": {"name": "inch"},
    }
)


def _answer_class(name: str) -> type[Any]:
    answer = getattr(autodiff_cli, name)(**ASKED[name])
    view_of(answer)  # it says what is computed, before the declaration is read
    return next(kind for kind in type(answer).__mro__ if "declaration" in vars(kind))


@pytest.mark.parametrize("name", ASKED)
def test_each_key_is_an_attribute_or_is_computed(name: str) -> None:
    kind = _answer_class(name)
    assert issubclass(kind, Record)
    for field in read_declaration(kind).fields:
        assert field.meaning
        assert field.value is not None or field.name in kind._fields or hasattr(kind, field.name), (
            field.name
        )


@pytest.mark.parametrize("name", ASKED)
def test_the_record_has_the_declared_keys_in_their_order(name: str) -> None:
    answer = getattr(autodiff_cli, name)(**ASKED[name])
    declared = [field.name for field in read_declaration(_answer_class(name)).fields]
    record = [key for key in answer.to_dict() if key != "expr"]
    assert [key for key in declared if key in record] == record


class Piece(NamedTuple):
    """A part."""

    size: int


class Parts:
    declaration = """
    csv line part[] error
    plain whole
    whole figures column wide=w_: all of it, of which the meaning \
    goes on in the next line
    parts nonempty from=inner.pieces: the parts
      size: how large one is
    warnings
    """

    def __init__(self, *sizes: int) -> None:
        self.whole, self.inner, self.warnings = sum(sizes), self, ()
        self.pieces = [*map(Piece, sizes)]


def _named(fields: tuple[Field, ...]) -> Iterator[str]:
    for field in fields:
        yield field.name
        yield from (f"{field.name}.{name}" for name in _named(field.fields))


def test_a_declaration() -> None:
    declared = read_declaration(Parts)
    assert [*_named(declared.fields)] == ["whole", "parts", "parts.size", "warnings"]
    assert (declared.csv_columns, declared.unit_columns) == (("line", "part", "error"), {"part"})
    whole, parts, _ = declared.fields
    assert whole == Field("whole", "all of it, of which the meaning goes on in the next line", None, True,
                          column="whole", wide="w_")  # fmt: skip
    assert parts.value_in(Parts(1, 2)) == [Piece(1), Piece(2)] and parts.value_in(Parts()) is None
    assert read_declaration(Parts) is declared

    class PartsView(View[Parts], of=Parts):
        """How parts are shown."""

    record = PartsView().record(Parts(1, 2))
    assert record == {"whole": 3, "parts": [{"size": 1}, {"size": 2}], "warnings": []}
    assert PartsView.line_fields == ("whole",)
