"""Frozen objects for answers: like frozen dataclasses, whose import takes 9 ms."""

from typing import Any, ClassVar, Self, dataclass_transform


@dataclass_transform(frozen_default=True)
class Record:
    """A frozen object with annotated fields, compared by value."""

    _fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        own = [name for name, kind in cls.__annotations__.items() if "ClassVar" not in str(kind)]
        cls._fields = tuple(dict.fromkeys([*cls._fields, *own]))
        required = [name for name in cls._fields if not hasattr(cls, name)]
        if not all(map(str.isidentifier, cls._fields)) or required != [
            *cls._fields[: len(required)]
        ]:
            raise TypeError(
                f"{cls.__name__}: fields are identifiers, and those with defaults come last"
            )
        # one statement a field, as in named tuples: a stream has an answer a line
        lines = ["def __init__(self, ", ", ".join(cls._fields), "):\n state = self.__dict__"]
        lines += [f"\n state[{name!r}] = {name}" for name in cls._fields]
        namespace: dict[str, Any] = {"__name__": cls.__module__}
        exec("".join(lines), namespace)  # noqa: S102
        init = namespace["__init__"]
        init.__defaults__ = tuple(
            [getattr(cls, name) for name in cls._fields if hasattr(cls, name)]
        )
        init.__qualname__ = f"{cls.__qualname__}.__init__"
        cls.__init__ = init  # type: ignore[method-assign]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: `{name}` cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: `{name}` cannot be deleted")

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Record)
            and self._fields == other._fields
            and self._asdict() == other._asdict()
        )

    def __hash__(self) -> int:
        return hash(tuple(self._asdict().values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"

    def _asdict(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {name: getattr(self, name) for name in self._fields}

    def _replace(self, **changes: Any) -> Self:
        """Return a copy with changed fields. Raises TypeError for others."""
        if unknown := changes.keys() - set(self._fields):
            raise TypeError(f"{type(self).__name__} has no fields {sorted(unknown)}")
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__ | changes)
        return other
