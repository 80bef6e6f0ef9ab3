"""What is missing, left over or in the wrong place."""

from __future__ import annotations

from .mistake import LINES, RESERVED, Mistake

UNCLOSED = (
    Mistake(
        "OPERAND ! VALUE|EQUALS|AUGMENT",
        "a parenthesis is not closed before this line",
        hint="close it",
        before=r"[\r\n]\s*",
        takes="CLOSE",
        needs="unclosed",
        also="opened here",
    ),
    Mistake(
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
    Mistake(
        "FIRST ! EQUALS (?!END|COMPARISON|UNREADABLE|EQUALS)ANY",
        "`=` gives a value to a name, at the beginning of a statement",
        examples=("y = x + 1",),
        hint="leave it out: {}",
        certain="no_spreadsheet_power",
        repair=((r"^=\s*", ""),),
    ),
    Mistake(
        "NOT ! EQUALS",
        "`{before}` is a word of the language, so it cannot be a name",
        examples=("not_1 = 3",),
        text="=(?!=)",
        caret="before",
        repair=RESERVED,
    ),
    Mistake(
        "! EQUALS UNREADABLE",
        "`=!` is not an operator here",
        examples=("1 if a != b else 0",),
        text="=!",
        caret="sign",
        repair=(("=!", "!="),),
    ),
    Mistake(
        "! EQUALS COMPARISON",
        "`{token}{next}` is not an operator here",
        examples=("1 if a <= b else 0", "1 if a >= b else 0"),
        text="=[<>]",
        caret="token..next",
        repair=(("=<", "<="), ("=>", ">=")),
    ),
    Mistake(
        "EQUALS ! COMPARISON",
        "`{before}{token}` is not an operator here",
        examples=("1 if a <= b else 0", "1 if a >= b else 0"),
        before="=",
        caret="before..token",
        repair=(("=<", "<="), ("=>", ">=")),
    ),
    Mistake(
        "! EQUALS",
        "`{before}=` is not an operator here",
        examples=("1 if a == b else 0", "1 if a != b else 0"),
        before=r"[=!]=",
        caret="before..token",
        repair=((r"([=!]=)=", r"\1"),),
    ),
    Mistake(
        "POWER ! EQUALS",
        "`{before}=` is not an operator here",
        examples=("y = x; y = y**2",),
        caret="before..token",
        repair=((r"^\s*(\w+)\s*(?:\*\*|\^)=\s*(.*)$", r"\1 = \1**(\2)"),),
    ),
    Mistake(
        "(OPEN|COMMA) NAME ! EQUALS",
        "the arguments of `{called}` have no names",
        examples=("max(x, 1)",),
        caret="before..token",
        certain="never",
        repair=((r"([(,]\s*)[^\W\d]\w*\s*=(?!=)\s*", r"\1"),),
    ),
    Mistake(
        "BEGIN NAME EQUALS NAME ! EQUALS",
        "a statement gives a value to one name",
        examples=("b = 3; a = b",),
        repair=((r"^\s*(\w+)\s*=\s*(\w+)\s*=(?!=)\s*(.*)$", r"\2 = \3; \1 = \2"),),
    ),
    Mistake(
        "BEGIN NAME (OPEN ANY* CLOSE)? EQUALS ANY* ! EQUALS",
        "a statement has one `=`",
        examples=("y = 3; x = y",),
        needs="level",
    ),
    Mistake(
        "OPERAND ! EQUALS",
        "`=` gives a value to a name, at the beginning of a statement",
        ("{difference}",),
        ("(a + b) - c",),
        hint="write an equation as the difference of its sides: {}; the command solve takes it as it stands",
        certain="never",
        takes="COMPARISON",
        needs="difference",
    ),
    Mistake(
        "! EQUALS",
        "`=` gives a value to a name, at the beginning of a statement",
        ("{compared}",),
        ("1 if a == b else 0",),
        hint="to compare, write {}",
        certain="in_condition",
        takes="COMPARISON",
    ),
    Mistake(
        "! EQUALS",
        "`=` gives a value to a name, at the beginning of a statement",
        examples=("y = x + 1",),
        hint="write {}",
    ),
    Mistake(
        "DIVIDE ! AUGMENT",
        "`//=` is not an operator here",
        examples=("y = x; y = floor(y/2)",),
        before="/",
        text="/=",
        caret="before..token",
        repair=((r"^\s*(\w+)\s*//=\s*(.*)$", r"\1 = floor(\1/(\2))"),),
    ),
    Mistake(
        "! AUGMENT",
        "`{token}` changes a name, at the beginning of a statement",
        examples=("y = 1; y += x",),
    ),
)

DOUBLED = (
    Mistake(
        "DIVIDE ! DIVIDE",
        "`//` is not an operator here",
        ("floor({quotient}/{rest})",),
        ("floor(a/b)",),
        text="/",
        before="/",
        caret="before..token",
        places=("quotient..rest",),
        certain="no_words closed",
    ),
    Mistake(
        "TIMES ! TIMES",
        "a power is written without a space between the stars",
        examples=("x**2",),
        before=r"\*\s+",
        caret="before..token",
        repair=((r"\*\s+\*", "**"),),
    ),
    Mistake(
        "COMPARISON ! COMPARISON",
        "`<>` is not an operator here",
        examples=("1 if a != b else 0",),
        before="<",
        text=">",
        caret="before..token",
        repair=(("<>", "!="),),
    ),
)

ENDS = (
    Mistake(
        "(FIRST|SEMICOLON|NEWLINE) ! END",
        "there is no expression",
        examples=("x**2 + 3*x",),
        hint="write a formula, for example {}",
    ),
    Mistake(
        "ANY ! END|SEMICOLON",
        "a value is missing after `{before}`",
        hint="write the value, or leave out what needs it",
        takes="NAME",
        also="opened here",
    ),
    Mistake(
        "OPERAND ! SEMICOLON",
        "a semicolon ends a statement, and this parenthesis is open",
        examples=("max(x, y)",),
        hint="close it before; or separate arguments by commas, as in {}",
        text=r";[^;()]*\)",
        takes="CLOSE",
        also="opened here",
    ),
    Mistake(
        "ANY ! END|SEMICOLON",
        "a parenthesis is not closed",
        ("{completed}",),
        hint="close it: {}",
        takes="CLOSE",
        also="opened here",
        certain="one_way",
    ),
    Mistake(
        "ANY ! END|SEMICOLON",
        "a bar is not closed",
        ("{completed}",),
        hint="close it: {}",
        takes="BAR",
        also="opened here",
        certain="never",
    ),
    Mistake(
        "ANY ! STOP",
        "an `if` has no `else`",
        ("{statement} else 0",),
        ("a if c > 0 else 0",),
        takes="ELSE",
        certain="never",
    ),
    Mistake("ANY ! NEWLINE", "a value is missing at the end of this line", hint=LINES, takes="NAME"),
    Mistake(
        "ANY ! NEWLINE",
        "a bar is not closed",
        ("{completed}",),
        hint="close it: {}",
        takes="BAR",
        also="opened here",
        certain="never",
    ),
    Mistake("NEWLINE ! INFIX", "this line begins with an operator", hint=LINES, takes="NAME"),
    Mistake(
        "OPEN ! CLOSE", "there is nothing in these parentheses", hint="write a value in them", caret="before..token"
    ),
    Mistake("COMMA ! CLOSE", "an argument is missing after the comma", hint="write it, or leave the comma out"),
    Mistake("ANY ! CLOSE", "a value is missing between `{before}` and `)`", hint="write the value", takes="NAME"),
    Mistake(
        "ANY ! CLOSE", "a bar is not closed in these parentheses", hint="close it", takes="BAR", also="opened here"
    ),
    Mistake("ANY ! CLOSE", "an `if` has no `else`", examples=("(a if c > 0 else 0)",), takes="ELSE"),
    Mistake(
        "! CLOSE",
        "this parenthesis closes nothing",
        hint="leave it out, or open it before",
        also="closed already",
        there="closed",
    ),
    Mistake(
        "(OPEN|COMMA|EQUALS) ! COMMA", "a value is missing before the comma", hint="write it, or leave the comma out"
    ),
    Mistake("BEGIN ! COMMA", "a value is missing before the comma", hint="write it, or leave the comma out"),
    Mistake(
        "BEGIN NAME EQUALS ANY* ! COMMA NAME EQUALS",
        "statements are separated by semicolons",
        ("{separated}",),
        ("a = 1; b = 2",),
    ),
    Mistake(
        "BEGIN NAME EQUALS ANY* ! COMMA",
        "a statement gives one value to one name",
        examples=("a = 1; b = 2",),
        hint="write a statement for each, as in {}",
    ),
    Mistake(
        "! COMMA",
        "a comma can stand only between arguments or between outputs",
        examples=("max(x, y)", "x + 1, y"),
        also="in these parentheses",
    ),
)

MISPLACED = (
    Mistake(
        "COMPARISON ! NOT",
        "`not` needs parentheses here",
        ("({signed})",),
        ("1 if a > 0 and not b > 0 else 0",),
        places=("signed",),
    ),
    Mistake(
        "OPERAND ! NOT",
        "`not` cannot follow a value",
        examples=("1 if a > 0 and not b > 0 else 0", "1 if a != b else 0"),
    ),
    Mistake(
        "(INFIX|SIGN|NOT|ROOT) ! INFIX",
        "a value is missing between `{before}` and `{token}`",
        hint="write the value, or leave out one of the two",
        takes="NAME",
        caret="before..token",
    ),
    Mistake("! INFIX", "a value is missing before `{token}`", hint="write the value", takes="NAME"),
    Mistake("! ELSE", "this `else` has no `if`", examples=("a if c > 0 else b",)),
    Mistake(
        "! IF",
        "an `if` within an `if` needs parentheses",
        examples=("a if c > 0 else (b if d > 0 else e)",),
    ),
    Mistake("BEGIN ! ANY", "a value is missing before `{token}`", hint="write the value"),
    Mistake("! ANY", "`{token}` cannot follow `{before}`", hint="leave it out, or write what belongs between the two"),
)
