"""Records: the fields by place and by name, frozen; classes that would misplace defaults are
refused.
"""

from __future__ import annotations

import pytest

from autodiff_cli.record import Record


class Place(Record):
    """A record with a default."""

    line: int
    column: int = 1


class Named(Place):
    """A record that inherits fields."""

    name: str = ""


def test_fields_by_place_and_by_name() -> None:
    assert Place(3) == Place(line=3, column=1) != Place(3, 2)
    assert Named(3, 2, "x")._asdict() == {"line": 3, "column": 2, "name": "x"}
    assert repr(Named(3)) == "Named(line=3, column=1, name='')" and hash(Place(3)) == hash(
        Place(3, 1)
    )
    with pytest.raises(TypeError):
        Place()  # type: ignore[call-arg]


def test_records_are_frozen() -> None:
    place = Place(3)
    with pytest.raises(AttributeError, match="frozen"):
        place.line = 4  # type: ignore[misc]
    with pytest.raises(AttributeError, match="frozen"):
        del place.line


def test_replace() -> None:
    place = Place(3, 2)
    assert (place._replace(line=4), place) == (Place(4, 2), Place(3, 2))
    with pytest.raises(TypeError, match="no fields"):
        place._replace(row=4)


@pytest.mark.parametrize("annotations", [{"last": 1, "first": 0}, {"a b": 0}, {"x=print()": 0}])
def test_classes_with_misplaced_defaults_or_odd_names_are_refused(
    annotations: dict[str, int],
) -> None:
    body = {
        "__annotations__": dict.fromkeys(annotations, "int"),
        **{name: 0 for name, has in annotations.items() if has},
    }
    with pytest.raises(TypeError, match="defaults come last"):
        type("Bad", (Record,), body)
