"""What an answer says and in which forms: its fields, declared once at its class, as
`declaration`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from operator import attrgetter
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    NamedTuple,
    TypeAlias,
    TypeVar,
    dataclass_transform,
)

from ..capability import resolve
from ..errors import Diagnostic, ExpressionError
from ..language.elements import has_elements, nested_record
from .numerals import attach_units, doubles, figure_texts, format_number, words

if TYPE_CHECKING:
    from ..questions.figures import Shown
    from .characters import Theme
    from .document import Block
    from .picture_look import Legend

Answer = TypeVar("Answer")
# One row of a long table, by column; missing cells are empty.
OutputRow = Mapping[str, object]

# The formats that plots are drawn in.
PICTURES = ("svg", "png", "pdf")
# The formats, and the method of a view that each needs.
FORMS: Mapping[str, str] = {
    "table": "document",
    "json": "record",
    "jsonl": "record",
    "csv": "rows",
    "tsv": "rows",
    "markdown": "document",
    "plain": "one_line",
    "latex": "latex_document",
}


class Field(NamedTuple):
    """A key of an answer's JSON record, with what the declaration says of it."""

    name: str
    meaning: str
    value: Callable[[Any], object] | None = None
    """Its value in an answer; None for the attribute of its name."""
    figures: bool = False
    optional: bool = False
    choice: str = ""
    column: str = ""
    wide: str = ""
    fields: tuple[Field, ...] = ()

    def value_in(self, answer: Any) -> Any:
        """Return its value in an answer."""
        return getattr(answer, self.name) if self.value is None else self.value(answer)


def diagnostic_record(diagnostic: Diagnostic, elsewhere: bool = False) -> dict[str, object]:
    """Return an error or warning as a record, perhaps without its place."""
    span = None if elsewhere else diagnostic.span
    return {
        "kind": diagnostic.kind,
        "message": diagnostic.message,
        "start": span.start if span else None,
        "end": span.end if span else None,
        "hint": diagnostic.hint,
    }


# The `declaration` of a class of answers: what its JSON record holds, and the columns of csv and
# tsv.
#
# csv COLUMN ...        the columns of csv and tsv; `at[]` is one with units in `at_unit`, if there are any
# plain KEY ...         the keys whose numbers are the plain line
# KEY WORD ...: TEXT    a key, with what it holds; further in, the keys of what it holds, where that is a record, a list
#                       of records, or records by name
# KEY                   a key of `SHARED`
#
# figures               it holds numbers in the answer's arithmetic: doubles in the record, texts of all digits beside
# optional              the record leaves it out where it is null
# nonempty              it is null where it would be empty
# choice, choice=NAME   the choice of the view that shows it, where that is not called like the key
# column, column=NAME   the column of csv and tsv that it fills
# wide, wide=NAME       the column of wide rows that it fills, or what stands there before the names or places in it
# from=PATH             the attribute of the answer that it is, where that has another name
# keys=NAME             the keys of what it holds are those of this class, whose declaration was read before

# The keys that answers share.
SHARED = """
    constants: the constants that were used, by name
    warnings: a list, each of the same shape as an error
    data optional from=over: with `--data`: the rows that the value is the sum or mean of
      reduce: `sum` or `mean`
      rows: how many rows took part
      left_out: how many rows were left out, by reason
      backend: what computed them: `llvm`, `numpy` or `python`
    value figures column wide: the value of the program
    gradient figures column=partial wide=d_: the partial derivatives, by name
    units optional: with units: those of the numbers, under the keys of these; `1` for none
    point figures column=at: the value of every variable, by name
"""


class AnswerSchema(NamedTuple):
    """What a class of answers declares."""

    fields: tuple[Field, ...]
    csv_columns: tuple[str, ...] = ()
    line_fields: tuple[str, ...] = ()
    unit_columns: frozenset[str] = frozenset()
    """The columns that may have units, `at_unit` behind `at`."""


# The values of keys that are no attributes, by path: `results.dof`.
Values: TypeAlias = Mapping[str, Callable[[Any], object]]
_declarations: dict[str, AnswerSchema] = {}
# What is before a line of a declaration, in the body of its class.
INDENT = "    "


def read_declaration(
    kind: Any, values: Values = MappingProxyType({}), text: str | None = None
) -> AnswerSchema:
    """Return what a class of answers declares, or a `text` does for it; both count the first time
    only.
    """
    if kind.__name__ not in _declarations:
        _declarations[kind.__name__] = _declared(kind.declaration if text is None else text, values)
    return _declarations[kind.__name__]


def _declared(text: str, values: Values) -> AnswerSchema:
    lists: dict[str, tuple[str, ...]] = {"csv": (), "plain": ()}
    lines = [line.removeprefix(INDENT) for line in text.split("\n") if line.strip()]
    while lines[0].partition(" ")[0] in lists and ":" not in lines[0]:
        (word, *names), *lines = lines[0].split(), *lines[1:]
        lists[word] += tuple(names)
    columns = tuple([name.removesuffix("[]") for name in lists["csv"]])
    units = frozenset(name.removesuffix("[]") for name in lists["csv"] if name.endswith("[]"))
    return AnswerSchema(tuple(_fields(lines, values)), columns, lists["plain"], units)


def _value_of(name: str, said: Mapping[str, str]) -> Callable[[Any], object] | None:
    """Return what a field takes from an answer if its declaration says so; None for the attribute
    of its name.
    """
    if "from" not in said and "nonempty" not in said:
        return None
    of = attrgetter(said.get("from", name))
    return (lambda answer: of(answer) or None) if "nonempty" in said else of


def _fields(lines: Sequence[str], values: Values, parent: str = "") -> Iterator[Field]:
    starts = [k for k, line in enumerate(lines) if not line.startswith(" ")]
    for start, end in pairwise([*starts, len(lines)]):
        head, colon, meaning = lines[start].partition(": ")
        name, *words = head.split()
        said = dict(word.partition("=")[::2] for word in words)
        named = {word: said[word] or name for word in ("choice", "column", "wide") if word in said}
        if not colon:
            yield next(field for field in _SHARED.fields if field.name == name)
            continue
        value = values.get(parent + name) or _value_of(name, said)
        inner = tuple(
            _fields([line[2:] for line in lines[start + 1 : end]], values, f"{parent}{name}.")
        )
        inner = _declarations[said["keys"]].fields if "keys" in said else inner
        meaning = " ".join(meaning.split())  # a line may go on in the next
        yield Field(
            name, meaning, value, "figures" in said, "optional" in said, **named, fields=inner
        )


_SHARED = _declared(
    SHARED,
    {
        "warnings": lambda answer: [*map(diagnostic_record, answer.warnings)],
        "units": lambda answer: answer.units and answer.units.texts(),
    },
)


def record_of(
    fields: Iterable[Field], answer: Any, arithmetic: str = "double"
) -> dict[str, object]:
    """Return the record of an answer, or of one of the items in it."""
    record: dict[str, object] = {}
    figures: dict[str, object] = {}
    for name, _, value_of, has_figures, optional, _, _, _, inner in fields:
        value = getattr(answer, name) if value_of is None else value_of(answer)
        if value is None and optional:
            continue
        if has_figures and arithmetic != "double":
            figures[name] = value
            value = doubles(value)
        elif figures:
            record |= figure_texts(arithmetic, figures)
            figures = {}
        value = [*value] if type(value) is tuple else value
        record[name] = (
            records_of(inner, value, arithmetic) if inner and value is not None else value
        )
    return record | figure_texts(arithmetic, figures) if figures else record


def cells_of(fields: Iterable[Field], answer: Any) -> dict[str, Any]:
    """Return the cells of csv and tsv that an answer, or an item in it, fills."""
    return {field.column: field.value_in(answer) for field in fields if field.column}


def records_of(fields: Sequence[Field], value: Any, arithmetic: str = "double") -> Any:
    """Return the record of an item, or of several; a tuple is a record's values."""
    if isinstance(value, dict):
        return {name: records_of(fields, item, arithmetic) for name, item in value.items()}
    if type(value) is list:
        return [
            item if isinstance(item, dict) else records_of(fields, item, arithmetic)
            for item in value
        ]
    if type(value) is tuple:
        return {field.name: x for field, x in zip(fields, value, strict=True)}
    return record_of(fields, value, arithmetic)


@dataclass_transform(kw_only_default=True)
class View(Generic[Answer]):
    """How answers of one kind look in each format."""

    computed: ClassVar[Values] = MappingProxyType({})
    fields: ClassVar[tuple[Field, ...]] = ()
    other_records: ClassVar[tuple[tuple[str, Any, tuple[Field, ...]], ...]] = ()
    """The keys of answers of other types, after what these are about."""
    csv_columns: tuple[str, ...] = ()
    row_key: ClassVar[tuple[str, str]] = ("variable", "gradient")
    """The column with the key of a row, and the field with one for each."""
    line_fields: ClassVar[tuple[str, ...]] = ()
    unit_columns: frozenset[str] = frozenset()
    usual: ClassVar[str] = "table"
    extra_formats: ClassVar[tuple[str, ...]] = ()
    endings: ClassVar[Sequence[str]] = ()
    writers: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    prefers_table: ClassVar[bool] = False
    """Whether a notebook shows its tables and not its formula."""
    latex_writer: ClassVar[str] = ""
    """The function here that writes LaTeX, as tables by booktabs and siunitx."""
    latex_is_formula: ClassVar[bool] = False

    remembers_units: ClassVar[bool] = True
    """Whether numbers are given their units before they are shown."""

    digits: int | None = None
    leading: tuple[str, ...] = ()
    """The carried columns of wide rows that come first."""
    unicode: bool = True
    """Whether the output may have characters outside ASCII."""

    def __init_subclass__(cls, of: Any = None) -> None:
        if of is not None:
            cls.fields, cls.csv_columns, cls.line_fields, cls.unit_columns = read_declaration(
                of, cls.computed
            )

    def __init__(self, **choices: Any) -> None:
        """Set the choices that this view has; others are those of other views."""
        vars(self).update(
            {name: choice for name, choice in choices.items() if hasattr(type(self), name)}
        )

    @cached_property
    def formats(self) -> tuple[str, ...]:
        if self.writers:
            return tuple(self.writers)
        declared: dict[str, object] = {"record": self.fields, "rows": self.csv_columns}
        declared |= {"one_line": self.line_fields, "latex_document": self.latex_writer}
        own = {
            method
            for method in FORMS.values()
            if getattr(type(self), method) is not getattr(View, method)
        }
        names = [name for name, method in FORMS.items() if method in own or declared.get(method)]
        return tuple(dict.fromkeys((*names, *self.extra_formats)))

    @property
    def columns(self) -> tuple[str, ...]:
        hidden = {field.column for field in self.fields if field not in self.shown_fields} - {""}
        return tuple(name for name in self.csv_columns if name not in hidden)

    @cached_property
    def shown_fields(self) -> list[Field]:
        return [field for field in self.fields if not field.choice or getattr(self, field.choice)]

    def select(self, answer: Answer) -> Answer:
        """Return of an answer what the choices show, in their order."""
        return answer

    def select_with_units(self, answer: Answer) -> Answer:
        """Return the selected answer with its units."""
        return self.with_units(self.select(answer))

    def with_units(self, answer: Answer) -> Answer:
        """Return the answer, its numbers with their units."""
        units: Any = getattr(answer, "units", None) if self.remembers_units else None
        return answer if units is None else self.attach_units(answer, units)

    def attach_units(self, answer: Answer, units: Mapping[str, Any]) -> Answer:
        """Return the answer, its numbers with these units."""
        measured: Answer = attach_units(answer, units)
        return measured

    def error_text(self, subject: Any, error: ExpressionError) -> str:
        """Return an error as a cell or a plain line says it."""
        return f"{error.kind}: {error}"

    def number(self, x: Shown | bool | None) -> str:
        """Return a number as people see it."""
        return format_number(x, self.digits)

    def record(self, answer: Answer) -> dict[str, object]:
        """Return the JSON record."""
        arithmetic = getattr(answer, "arithmetic", None)
        name = "double" if arithmetic is None else arithmetic.name
        own_fields = [fields for _, kind, fields in self.other_records if isinstance(answer, kind)]
        record = record_of(
            own_fields[0] if own_fields else self.shown_fields, self.select(answer), name
        )
        return nested_record(record) if has_elements(record) else record

    def named_numbers(self, answer: Answer) -> tuple[Mapping[str, float], ...] | None:
        """Return all doubles of the record by name; None if more differs."""
        return None

    def rows(self, answer: Answer) -> Iterator[OutputRow]:
        """Yield the rows of csv and tsv, one for each key of `row_key`."""
        column, by = self.row_key
        cells = cells_of(self.shown_fields, answer)
        if getattr(answer, "units", None) is not None:
            # also the units of numbers that are missing
            texts = answer.units.texts()  # type: ignore[attr-defined]
            measured = [field for field in self.shown_fields if field.name in texts]
            cells |= {f"{field.column}_unit": texts[field.name] for field in measured}
        nested = next((field for field in self.fields if field.name == by and field.fields), None)
        if nested is None:
            items = [{column: name} for name in getattr(answer, by) or ("",)]
        else:
            items = [cells_of(nested.fields, item) for item in nested.value_in(answer)]
        for item in items:
            name = item[column]
            yield {c: x.get(name) if isinstance(x, dict) else x for c, x in cells.items()} | item

    def cells(self, answer: Answer) -> Iterable[Mapping[str, Any]]:
        """Return the cells of wide rows; `error` says why a row has none."""
        cells: dict[str, Any] = {}
        for before, numbers in [
            (field.wide, field.value_in(answer)) for field in self.fields if field.wide
        ]:
            named = numbers if isinstance(numbers, dict) else {"": numbers}
            if type(numbers) in (list, tuple):
                named = dict(enumerate(numbers))
            cells |= {f"{before}{name}": x for name, x in named.items() if numbers is not None}
        yield cells

    def one_line(self, answer: Answer) -> str:
        """Return the numbers of the answer on one line."""
        fields = {field.name: field for field in self.fields}
        return " ".join(
            [word for name in self.line_fields for word in words(fields[name].value_in(answer))]
        )

    def document(self, answer: Answer) -> Iterable[Block]:
        """Return the answer for people."""
        raise AttributeError(f"{type(self).__name__} has no document")

    def latex_document(self, answer: Answer) -> str:
        """Return the answer as a piece of LaTeX that needs amsmath."""
        text: str = resolve(self.latex_writer)(answer, self.digits)
        return text

    def formula_sides(self, answer: Answer) -> Sequence[tuple[str, str]]:
        """Return the sides of the equations of the program, in LaTeX; none without a program, or
        for a long one.
        """
        text, point = getattr(answer, "text", None), getattr(answer, "point", None)
        if not isinstance(text, str) or not isinstance(point, dict):
            return ()
        from .tex_tables import short_formula_sides

        return short_formula_sides(text, point)

    def notebook_document(self, answer: Answer) -> Iterable[Block]:
        """Return the parts of an answer in a notebook, which may have fewer rows."""
        return self.document(answer)

    def drawing(self, answer: Answer) -> str | None:
        """Return a small picture as SVG for a page with `notebook_css`; None for a large one, or
        without one.
        """
        return None

    def latex_formula(self, answer: Answer) -> str | None:
        """Return the answer as a formula in LaTeX, if it is one."""
        return self.latex_document(answer) if self.latex_is_formula else None

    def draw(self, answer: Answer, format: str) -> str | bytes:
        """Return one of the `extra_formats`."""
        raise AttributeError(f"{type(self).__name__} has no drawing")


class PlotPage(NamedTuple):
    """Draws on a page of matplotlib, with its texts."""

    draw: Callable[[Any, Any], None]
    title: str
    caption: str = ""
    levels: Sequence[float] = ()


class PicturedView(View[Answer]):
    """How answers with a picture are shown."""

    extra_formats: ClassVar[tuple[str, ...]] = PICTURES
    theme: Theme = "auto"
    title: str = ""
    """The title of a picture, instead of the formula."""
    size: str = ""
    """The size of a picture, as `16x10cm`."""
    legend: Legend = "best"

    figure: ClassVar[str] = ""
    """The function here that draws the picture."""

    def picture(self, answer: Answer) -> PlotPage:
        """Return the picture of an answer."""
        picture: PlotPage = resolve(self.figure)(answer)
        return picture

    def draw(self, answer: Answer, format: str) -> bytes:
        picture = self.picture(answer)
        if self.title:
            picture = picture._replace(title=self.title)
        from .picture_look import PictureLook, read_size  # few answers are pictures

        look = PictureLook(self.theme, read_size(self.size), self.legend)
        drawing: bytes = resolve("plot.figure.draw_file")(picture, format, look)
        return drawing


def view_in(module: Any) -> type[View[Any]]:
    """Return the view that a module defines, or else imports."""
    views = [
        kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, View)
    ]
    own = [kind for kind in views if kind.__module__ == module.__name__]
    return (own or [kind for kind in views if kind is not View])[0]
