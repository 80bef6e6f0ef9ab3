"""The formats: a writer for each, for one answer or many.

A record is `{"id", "line", "expr", …}` with what the command's view adds, or that of an error:
`{"id", "line", "expr", "error": {"kind", "message", "start", "end", "hint"}}`. `start` and `end`
are 0-based, half-open code-point offsets into `expr`, or null; `note` says how a program was read
if not as typed. Keys are only ever added.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from os.path import splitext
from typing import TYPE_CHECKING, Any, Generic, Literal, TextIO

from ..errors import ExpressionError, either, needs_error, quote, usage_error
from .characters import escaped, is_shown, shorten_middle, terminal_of
from .numerals import repr_number, unit_of, unit_text
from .schema import Answer, OutputRow, View, diagnostic_record
from .subject import Subject

if TYPE_CHECKING:
    from .document import Block
    from .rendering import ScreenText


# The most templates of records in the cache.
MAX_TEMPLATES = 1024
_NUMBER = re.compile('"[^"]*": -?[0-9][^,}]*')
# Formats of rows of data only, which are wide.
COLUMNAR = ("parquet", "arrow")
# The formats that only answers to many points are written in.
OF_ROWS = (*COLUMNAR, "xlsx")
_BREAKS = re.compile("([\t\n])")
_QUOTED = re.compile('["\t\n]')
# Characters of a program that people are shown.
MAX_PROGRAM_LENGTH = 2_000
FOREIGN_PICTURES = (".gif", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff", ".eps", ".ps")
FOREIGN_TEXTS = (
    ".xlsx",
    ".xls",
    ".ods",
    ".docx",
    ".doc",
    ".odt",
    ".rtf",
    ".pptx",
    ".odp",
    ".epub",
    ".zip",
)
FOREIGN_BINARIES = (
    ".pages",
    ".numbers",
    ".mat",
    ".h5",
    ".hdf5",
    ".npy",
    ".npz",
    ".pkl",
    ".pickle",
    ".bin",
    ".7z",
    ".rar",
)
# Endings of formats that are not supported.
FOREIGN_ENDINGS = frozenset((*FOREIGN_PICTURES, *FOREIGN_TEXTS, *FOREIGN_BINARIES))


class Writer(Generic[Answer]):
    """Puts answers and errors on a stream, in one format."""

    carries_errors = False
    carries_warnings = False
    document = False
    _begun = False

    def __init__(self, format: str, out: TextIO, view: View[Answer], many: bool) -> None:
        self.format, self.out, self.view, self.many = format, out, view, many

    def answer(self, subject: Subject, answer: Answer) -> None:
        """Write one answer."""

    def error(self, subject: Subject, error: ExpressionError) -> None:
        """Write one error, if the format has a place for it."""

    def close(self) -> None:
        """Write what comes after the last answer."""


class JsonLines(Writer[Answer]):
    """One record a line, or in `json` one array of them."""

    carries_errors = carries_warnings = True

    def __init__(self, format: str, out: TextIO, view: View[Answer], many: bool) -> None:
        super().__init__(format, out, view, many)
        escape = (getattr(out, "encoding", None) or "utf-8").lower() not in ("utf-8", "utf8")
        self._string = (
            json.encoder.encode_basestring_ascii if escape else json.encoder.encode_basestring
        )
        encoder = json.JSONEncoder(ensure_ascii=escape, allow_nan=False)
        # `encode` makes one for each record, which takes longer than to use it
        make: Any = json.encoder.c_make_encoder  # type: ignore[attr-defined]
        self._pieces = make(
            None, encoder.default, self._string, None, ": ", ", ", False, False, False
        )
        self._templates: dict[tuple[int, ...], str] = {}
        self._is_array = many and format == "json"

    def answer(self, subject: Subject, answer: Answer) -> None:
        text = self._fill(subject, answer)
        if text is None:
            fields = self.view.record(answer)
            if subject.reading is not None:
                fields = subject.reading.relocate_record(fields)
            self._record(fields if subject.text is None else subject.fields() | fields)
        else:
            self._write(text)

    def _fill(self, subject: Subject, answer: Answer) -> str | None:
        program, line, ident, kept, reading, values, _ = subject
        groups = self.view.named_numbers(answer)
        if groups is None or program is None or kept is not None or reading is not None or values:
            return None
        together = "".join([*chain.from_iterable(groups)])
        total = sum(chain.from_iterable([group.values() for group in groups]))
        if not together.isascii() or "]" in together or total - total != 0.0:
            # names with escapes, several numbers after the name of a list, or no number
            return None
        counts = tuple(map(len, groups))
        template = self._templates.get(counts)
        if template is None:
            if len(self._templates) >= MAX_TEMPLATES:
                self._templates.clear()
            record = "".join(self._pieces(self.view.record(answer), 0)).replace("%", "%%")
            template = self._templates[counts] = _NUMBER.sub('"%s": %r', self._escape(record)[1:])
        name = (
            "null"
            if ident is None
            else str(ident)
            if type(ident) is int
            else "".join(self._pieces(ident, 0))
        )
        head = f'{{"id": {name}, "line": {line}, "expr": {self._string(program)}, '
        items = chain.from_iterable([group.items() for group in groups])
        return self._escape(head) + template % (*chain.from_iterable(items),)

    def error(self, subject: Subject, error: ExpressionError) -> None:
        record = diagnostic_record(error.diagnostic, elsewhere=error.text is not None)
        point = {} if subject.point is None else {"point": subject.point}
        self._record({**subject.fields(), **point, "error": record})

    def _record(self, fields: dict[str, object]) -> None:
        self._write(self._escape("".join(self._pieces(fields, 0))))

    def _write(self, record: str) -> None:
        if self._is_array:
            # in one go, so that an interruption leaves whole records
            self.out.write((",\n" if self._begun else "[\n") + record)
            self._begun = True
        else:
            self.out.write(record + "\n")

    def close(self) -> None:
        if self._is_array:
            self.out.write("\n]\n" if self._begun else "[]\n")

    def _escape(self, text: str) -> str:
        # the encoder leaves one control of ASCII as it is
        is_plain = (text.isascii() and "\x7f" not in text) or text.isprintable()
        if is_plain:
            return text
        hidden = {
            char: char.encode("utf-16-be", "surrogatepass").hex()
            for char in text
            if not is_shown(char)
        }
        return "".join(
            [re.sub("(....)", r"\\u\1", hidden[char]) if char in hidden else char for char in text]
        )


class Separated(Writer[Answer]):
    """Long tables with a heading row: one row a variable."""

    carries_errors = True
    spreadsheet = False
    """Whether cells that were given must not be formulas of a spreadsheet."""

    def __init__(self, format: str, out: TextIO, view: View[Answer], many: bool) -> None:
        super().__init__(format, out, view, many)
        self.columns = view.columns
        self._separator = "," if format == "csv" else "\t"
        self._measured: frozenset[str] = frozenset()

    def answer(self, subject: Subject, answer: Answer) -> None:
        if getattr(answer, "units", None) is not None:
            if not self._begun:
                self._measured = self.view.unit_columns
                pairs = (
                    (name, f"{name}_unit") if name in self._measured else (name,)
                    for name in self.columns
                )
                self.columns = tuple(chain.from_iterable(pairs))
            elif not self._measured:
                message = "point: units, and none in the first answer; `--format jsonl` has them"
                self._rows(subject, [{"error": message}])
                return
        rows = iter(self.view.rows(self.view.select_with_units(answer)))
        if (first := next(rows, {} if self.many else None)) is not None:
            self._rows(subject, chain((first,), rows))

    def error(self, subject: Subject, error: ExpressionError) -> None:
        self._rows(subject, [{"error": self.view.error_text(subject, error)}])

    def close(self) -> None:
        self._head()

    def _head(self) -> None:
        if not self._begun:
            self._begun = True
            heads = [in_quotes(escape_cell(column), self._separator) for column in self.columns]
            self.out.write(self._separator.join(heads) + "\n")

    def _of_request(self, subject: Subject) -> dict[str, str]:
        """Return the cells that all rows of an answer share: the name of the request, and what is
        kept of it.
        """
        name = (
            subject.id
            if isinstance(subject.id, str)
            else ""
            if subject.id is None
            else json.dumps(subject.id)
        )
        shared = {"id": name}
        for column, kept in (subject.kept or {}).items():
            text = (
                kept
                if kept is None or isinstance(kept, str)
                else json.dumps(kept, ensure_ascii=False)
            )
            shared[column] = text or ""
        return (
            {column: disarm(cell) for column, cell in shared.items()}
            if self.spreadsheet
            else shared
        )

    def _rows(self, subject: Subject, rows: Iterable[OutputRow]) -> None:
        shared = self._of_request(subject)
        line, columns, separator = {"line": str(subject.line)}, self.columns, self._separator
        for row in rows:
            self._head()
            cells = {**line, **row, **shared}
            for column in self._measured:
                if (unit := unit_of(row.get(column))) is not None:
                    cells[f"{column}_unit"] = unit_text(unit)
            listed = [
                cell if type(cell) is str else cell_text(cell) for cell in map(cells.get, columns)
            ]
            together = "".join(listed)
            if (
                not (together.isascii() and together.isprintable())
                or '"' in together
                or separator in together
            ):
                listed = [
                    in_quotes(
                        escape_cell(cell) if column in (subject.kept or ()) else escaped(cell),
                        separator,
                    )
                    for column, cell in zip(columns, listed, strict=True)
                ]
            self.out.write(separator.join(listed) + "\n")


def cell_text(cell: Any) -> str:
    """Return the text of a cell; numbers have all their digits."""
    if type(cell) in (list, tuple):
        return " ".join(cell)
    return cell if isinstance(cell, str) else repr_number(cell)


def in_quotes(text: str, separator: str) -> str:
    """Return a cell, in quotes if needed."""
    return (
        '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) or separator in text else text
    )


def escape_cell(cell: str) -> str:
    """Escape a carried cell, but not its tabs and line ends."""
    return "".join(
        [piece if piece in ("\t", "\n") else escaped(piece) for piece in _BREAKS.split(cell)]
    )


def disarm(cell: str) -> str:
    """Put an apostrophe before a formula of a spreadsheet."""
    if not cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return cell
    try:
        float(cell)
    except ValueError:
        return "'" + cell
    return cell


class Plain(Writer[Answer]):
    """One line an answer; of many, also one an error."""

    def answer(self, subject: Subject, answer: Answer) -> None:
        kept = {**(subject.kept or {})}
        leading = [kept.pop(name, None) for name in self.view.leading]
        line = self.view.one_line(self.view.select_with_units(answer))
        cells = [
            *map(cell_text, leading),
            line,
            *[escaped(cell_text(cell)) for cell in kept.values()],
        ]
        self.out.write(" ".join(cells) + "\n")

    def error(self, subject: Subject, error: ExpressionError) -> None:
        if self.many:
            self.out.write(escaped(f"error: {self.view.error_text(subject, error)}") + "\n")


class Documents(Writer[Answer]):
    """Answers for people, in colour on a terminal."""

    def __init__(self, format: str, out: TextIO, view: View[Answer], many: bool) -> None:
        super().__init__(format, out, view, many)
        self.terminal = terminal_of(out)

    def answer(self, subject: Subject, answer: Answer) -> None:
        self._document(subject, self.view.document(self.view.select_with_units(answer)))

    def error(self, subject: Subject, error: ExpressionError) -> None:
        from .document import Paragraph, sentence

        if self.many:
            self._document(
                subject, [Paragraph((("error:", "error"), (" ", ""), *sentence(str(error))))]
            )

    def _document(self, subject: Subject, blocks: Iterable[Block]) -> None:
        from .document import ProgramHeading

        if self._begun:
            self.out.write("\n")
        self._begun = True
        if self.many:
            dots = "…" if self.terminal.unicode else "..."
            text = shorten_middle(subject.text or "", MAX_PROGRAM_LENGTH, dots)
            blocks = chain([ProgramHeading(subject.line, text)], blocks)
        self.out.write(self.medium.render(blocks))

    @cached_property
    def medium(self) -> ScreenText:
        from .rendering import Markdown, ScreenText

        # who shows Markdown breaks its lines
        markdown = self.format == "markdown"
        return (
            Markdown(self.terminal._replace(width=None)) if markdown else ScreenText(self.terminal)
        )


def document_ends(
    packages: Iterable[str] = (),
    *,
    kind: Literal["document", "picture"] = "document",
    may_have_units: bool = False,
) -> list[str]:
    """Return the beginning and the end of a document."""
    from importlib.resources import files  # only documents need it

    loaded = "".join(rf"\usepackage{{{name}}}" + "\n" for name in packages)
    if may_have_units:
        loaded += "\\IfFileExists{siunitx.sty}{\\usepackage{siunitx}}{}\n"
    text = (files(__package__) / "latex" / f"{kind}.tex").read_text(encoding="utf-8")
    return text.replace("%PACKAGES%\n", loaded).split("%CONTENT%\n")


class Latex(Writer[Answer]):
    """Answers as pieces of LaTeX that need amsmath, or as one document."""

    def answer(self, subject: Subject, answer: Answer) -> None:
        self._part(subject, self.view.latex_document(self.view.select_with_units(answer)))

    def error(self, subject: Subject, error: ExpressionError) -> None:
        from ..language.typesetting import text_latex

        if self.many:
            typeset = rf"\noindent Error: {text_latex(str(error))}."
            self._part(subject, typeset if self.document else escaped(f"% error: {error}"))

    def close(self) -> None:
        if self.document and self.many:
            self._begin("")
        if self.document and self._begun:
            self.out.write(document_ends()[1])

    def _begin(self, text: str) -> None:
        if self._begun:
            return
        self._begun = True
        packages = ["booktabs"] * bool(self.view.latex_writer)
        packages += ["siunitx"] * bool(packages or r"\unit{" in text)
        if self.document:
            may_have_units = self.many and "siunitx" not in packages
            self.out.write(document_ends(packages, may_have_units=may_have_units)[0])
        elif packages:
            self.out.write(f"% needs \\usepackage{{amsmath,{','.join(packages)}}}\n")

    def _part(self, subject: Subject, text: str) -> None:
        from ..language.typesetting import text_latex

        if self._begun and not self.document:
            self.out.write("\n")
        self._begin(text)
        # TeX itself reads no line of any length
        lines = [
            shorten_middle(line, MAX_PROGRAM_LENGTH, "...")
            for line in (subject.text or "").splitlines()
            if line.strip()
        ]
        head = rf"\section*{{Line {subject.line}}}" if self.document else f"% line {subject.line}:"
        if self.document:
            lines = [rf"\noindent\texttt{{{text_latex(line)}}}\\" for line in lines]
        else:
            lines = [f"% {escaped(line)}" for line in lines]
        if self.many and subject.text is not None:
            lines.insert(0, head)
        self.out.write("\n".join([*lines, text]) + "\n")


class Other(Writer[Answer]):
    """A format of a command's own."""

    def answer(self, subject: Subject, answer: Answer) -> None:
        content = self.view.draw(answer, self.format)
        if self.document and isinstance(content, str):
            self.out.write(content.join(document_ends(("tikz",), kind="picture")))
        elif self.format == "tikz":
            self.out.write(f"% needs \\usepackage{{tikz,amsmath}}\n{content!s}\n")
        elif isinstance(content, str):
            self.out.write(content + "\n")
        else:
            # the same bytes whatever encoding the stream has
            self.out.flush()
            self.out.buffer.write(content)


FORMATS: dict[str, type[Writer[Any]]] = {
    "table": Documents,
    "json": JsonLines,
    "jsonl": JsonLines,
    "csv": Separated,
    "tsv": Separated,
    "markdown": Documents,
    "plain": Plain,
    "latex": Latex,
}

# How the names of files in a format end.
ENDINGS: Mapping[str, tuple[str, ...]] = {
    "json": (".json",),
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "markdown": (".md", ".markdown"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "xlsx": (".xlsx",),
    "latex": (".tex",),
    "tikz": (".tikz", ".tex"),
    "svg": (".svg",),
    "png": (".png",),
    "pdf": (".pdf",),
    "dot": (".dot", ".gv"),
    "mermaid": (".mmd", ".mermaid"),
    "html": (".html", ".htm"),
}


# Endings by which a language is surely meant.
CODE_ENDINGS = frozenset(
    (
        ".c", ".h", ".cpp", ".cc", ".cxx", ".hpp", ".cs", ".cu", ".f", ".f90", ".go", ".java", ".jl", ".js", ".mjs",
        ".kt", ".lua", ".m", ".php", ".py", ".r", ".rb", ".rs", ".sql", ".swift", ".ts", ".zig",
    )
)  # fmt: skip


def _choose(
    kind: Literal["format", "language"],
    name: str | None,
    path: str | None,
    endings: Mapping[str, Sequence[str]],
    otherwise: str,
    foreign: Container[str],
) -> str:
    option = "--format" if kind == "format" else "--to"
    ending = splitext(path)[1].lower() if path else ""
    meant = [name for name, ends in endings.items() if ending in ends]
    if name is None and ending in foreign and not meant:
        hint = f"it has {quote(endings)}; `{option}` chooses one whatever the file's name"
        raise usage_error(f"`{ending}` is not one of this command's {kind}s", hint)
    if name in endings and meant and name not in meant:
        hint = f"leave `{option}` out for `{meant[0]}`, or give the file another name"
        raise usage_error(f"`{option} {name}` and the name `{path}` ask for two things", hint)
    return name or (meant[0] if meant else otherwise)


def language_of(
    to: str | None,
    format: str | None,
    path: str | None,
    languages: Mapping[str, Sequence[str]],
    otherwise: str,
) -> str:
    """Return the language by `--to`, the format or a file's name."""
    if format == "latex" and to not in (None, "latex"):
        raise usage_error(
            f"`--format latex` and `--to {to}` ask for two things", "leave one of them out"
        )
    named = "latex" if format == "latex" else to
    return _choose(
        "language", named, path, languages, otherwise, CODE_ENDINGS if format is None else ()
    )


def format_of(
    name: str | None,
    path: str | None,
    formats: Iterable[str],
    otherwise: str,
    text: Sequence[str] = (),
) -> str:
    """Return the format by its name or that of a file, or else `otherwise`.

    Files of text may also end in one of `text`. Raises a usage error where the names ask for
    two things, for a format that is not among `formats`, and for files of other formats.
    """
    shown = (otherwise, "table", "plain")
    endings = {
        format: ENDINGS.get(format, tuple(text) if format in shown else ()) for format in formats
    }
    if name is not None and name not in endings:
        raise unknown_format(name, endings)
    return _choose(
        "format", name, path, endings, otherwise, FOREIGN_ENDINGS.union(*ENDINGS.values())
    )


def unknown_format(name: str, formats: Iterable[str]) -> ExpressionError:
    """Return the error for a format that is none of these."""
    problem = (
        "is not one of this command's formats"
        if name in ENDINGS or name in FORMATS
        else "is not a format"
    )
    return usage_error(f"`{name}` {problem}", f"it has {quote(formats)}")


def no_document(formats: Iterable[str]) -> ExpressionError:
    """Return the error for a document in a format other than LaTeX."""
    needs = either(f"--format {name}" for name in ("latex", "tikz") if name in formats)
    return needs_error("--document", needs or "LaTeX")


def writer(
    name: str,
    out: TextIO,
    view: View[Answer],
    many: bool,
    *,
    spreadsheet: bool = False,
    document: bool = False,
    kept: Sequence[str] = (),
) -> Writer[Answer]:
    """Return the writer of a format."""
    if name not in view.formats:
        raise unknown_format(name, view.formats)
    if document and name not in ("latex", "tikz"):
        raise no_document(view.formats)
    kind: type[Writer[Answer]] = (
        Other if name in view.extra_formats else (view.writers or FORMATS)[name]
    )
    format_writer = kind(name, out, view, many)
    format_writer.document = document
    if isinstance(format_writer, Separated):
        format_writer.columns += tuple([name for name in kept if name not in format_writer.columns])
        format_writer.spreadsheet = spreadsheet
    elif spreadsheet:
        raise needs_error("--spreadsheet", "`--format csv` or `--format tsv`")
    return format_writer
