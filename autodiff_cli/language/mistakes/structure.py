"""What is missing, left over or in the wrong place."""

from __future__ import annotations

from .row import LINES, Row

UNCLOSED = (
    Row(
        "OPERAND ! VALUE|EQUALS|AUGMENT",
        "a parenthesis is not closed before this line",
        hint="close it",
        before=r"[\r\n]\s*",
        takes="CLOSE",
        needs="unclosed",
        also="opened here",
    ),
    Row(
        "! EQUALS",
        "a parenthesis is not closed before this line",
        hint="close it",
        before=r"[\r\n].*",
        takes="CLOSE",
        needs="unclosed",
        also="opened here",
    ),
)

EQUALS = (
    Row(
        "! EQUALS UNREADABLE",
        "`=!` is not an operator here",
        ("{repaired}",),
        ("a != b",),
        text="=!",
        caret="sign",
        repair=(("=!", "!="),),
    ),
    Row(
        "! EQUALS COMPARISON",
        "`{token}{next}` is not an operator here",
        ("{repaired}",),
        ("a <= b", "a >= b"),
        text="=[<>]",
        caret="token..next",
        repair=(("=<", "<="), ("=>", ">=")),
    ),
    Row(
        "EQUALS ! COMPARISON",
        "`{before}{token}` is not an operator here",
        ("{repaired}",),
        ("a <= b", "a >= b"),
        before="=",
        caret="before..token",
        repair=(("=<", "<="), ("=>", ">=")),
    ),
    Row(
        "! EQUALS",
        "`{before}=` is not an operator here",
        ("{repaired}",),
        ("a == b", "a != b"),
        before=r"[=!]=",
        caret="before..token",
        repair=((r"([=!]=)=", r"\1"),),
    ),
    Row(
        "POWER ! EQUALS",
        "`{before}=` is not an operator here",
        ("{repaired}",),
        ("y = y**2",),
        caret="before..token",
        repair=((r"^\s*(\w+)\s*(?:\*\*|\^)=\s*(.*)$", r"\1 = \1**(\2)"),),
    ),
    Row(
        "(OPEN|COMMA) NAME ! EQUALS",
        "the arguments of `{called}` have no names",
        ("{repaired}",),
        ("f(x, 1)",),
        caret="before..token",
        repair=((r"([(,]\s*)[^\W\d]\w*\s*=(?!=)\s*", r"\1"),),
    ),
    Row(
        "BEGIN NAME EQUALS NAME ! EQUALS",
        "a statement gives a value to one name",
        ("{repaired}",),
        ("b = 3; a = b",),
        repair=((r"^\s*(\w+)\s*=\s*(\w+)\s*=(?!=)\s*(.*)$", r"\2 = \3; \1 = \2"),),
    ),
    Row(
        "! EQUALS",
        "`=` gives a value to a name, at the beginning of a statement",
        ("{compared}",),
        ("a == b",),
        hint="to compare, write {}",
        takes="COMPARISON",
    ),
    Row(
        "! EQUALS",
        "`=` gives a value to a name, at the beginning of a statement",
        examples=("y = x + 1",),
        hint="write {}",
    ),
    Row(
        "! AUGMENT",
        "`{token}` changes a name, at the beginning of a statement",
        examples=("y = 1; y += x",),
    ),
)

DOUBLED = (
    Row(
        "DIVIDE ! DIVIDE",
        "`//` is not an operator here",
        ("floor({quotient}/{rest})",),
        ("floor(a/b)",),
        text="/",
        before="/",
        caret="before..token",
    ),
    Row(
        "TIMES ! TIMES",
        "a power is written without a space between the stars",
        ("{repaired}",),
        ("x**2",),
        before=r"\*\s+",
        caret="before..token",
        repair=((r"\*\s+\*", "**"),),
    ),
    Row(
        "COMPARISON ! COMPARISON",
        "`<>` is not an operator here",
        ("{repaired}",),
        ("a != b",),
        before="<",
        text=">",
        caret="before..token",
        repair=(("<>", "!="),),
    ),
)

ENDS = (
    Row(
        "(FIRST|SEMICOLON|NEWLINE) ! END",
        "there is no expression",
        examples=("x**2 + 3*x",),
        hint="write a formula, for example {}",
    ),
    Row(
        "ANY ! END|SEMICOLON",
        "a value is missing after `{before}`",
        hint="write the value, or leave out what needs it",
        takes="NAME",
        also="opened here",
    ),
    Row(
        "ANY ! END|SEMICOLON",
        "a parenthesis is not closed",
        ("{completed}",),
        hint="close it: {}",
        takes="CLOSE",
        also="opened here",
    ),
    Row(
        "ANY ! END|SEMICOLON",
        "a bar is not closed",
        ("{completed}",),
        hint="close it: {}",
        takes="BAR",
        also="opened here",
    ),
    Row(
        "ANY ! STOP",
        "an `if` has no `else`",
        ("{statement} else 0",),
        ("a if c else 0",),
        takes="ELSE",
    ),
    Row("ANY ! NEWLINE", "a value is missing at the end of this line", hint=LINES, takes="NAME"),
    Row("ANY ! NEWLINE", "a bar is not closed", ("{completed}",), hint="close it: {}", takes="BAR", also="opened here"),
    Row("NEWLINE ! INFIX", "this line begins with an operator", hint=LINES, takes="NAME"),
    Row("OPEN ! CLOSE", "there is nothing in these parentheses", hint="write a value in them", caret="before..token"),
    Row("COMMA ! CLOSE", "an argument is missing after the comma", hint="write it, or leave the comma out"),
    Row("ANY ! CLOSE", "a value is missing between `{before}` and `)`", hint="write the value", takes="NAME"),
    Row("ANY ! CLOSE", "a bar is not closed in these parentheses", hint="close it", takes="BAR", also="opened here"),
    Row("ANY ! CLOSE", "an `if` has no `else`", examples=("(a if c else 0)",), takes="ELSE"),
    Row(
        "! CLOSE",
        "this parenthesis closes nothing",
        hint="leave it out, or open it before",
        also="closed already",
        there="closed",
    ),
    Row("(OPEN|COMMA|EQUALS) ! COMMA", "a value is missing before the comma", hint="write it, or leave the comma out"),
    Row("BEGIN ! COMMA", "a value is missing before the comma", hint="write it, or leave the comma out"),
    Row(
        "BEGIN NAME EQUALS ANY* ! COMMA NAME EQUALS",
        "statements are separated by semicolons",
        ("{separated}",),
        ("a = 1; b = 2",),
    ),
    Row(
        "BEGIN NAME EQUALS ANY* ! COMMA",
        "a statement gives one value to one name",
        examples=("a = 1; b = 2",),
        hint="write a statement for each, as in {}",
    ),
    Row(
        "! COMMA",
        "a comma can stand only between arguments or between outputs",
        examples=("f(x, y)", "x + 1, y"),
        also="in these parentheses",
    ),
)

MISPLACED = (
    Row(
        "COMPARISON ! NOT",
        "`not` needs parentheses here",
        ("({signed})",),
        ("a == (not b)",),
    ),
    Row("OPERAND ! NOT", "`not` cannot follow a value", examples=("a and not b", "a != b")),
    Row(
        "(INFIX|SIGN|NOT|ROOT) ! INFIX",
        "a value is missing between `{before}` and `{token}`",
        hint="write the value, or leave out one of the two",
        takes="NAME",
        caret="before..token",
    ),
    Row("! INFIX", "a value is missing before `{token}`", hint="write the value", takes="NAME"),
    Row("! ELSE", "this `else` has no `if`", examples=("a if c else b",)),
    Row(
        "! IF",
        "an `if` within an `if` needs parentheses",
        examples=("a if (b if c else d) else e",),
    ),
    Row("BEGIN ! ANY", "a value is missing before `{token}`", hint="write the value"),
    Row("! ANY", "`{token}` cannot follow `{before}`", hint="leave it out, or write what belongs between the two"),
)
