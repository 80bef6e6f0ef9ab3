"""Words of other languages."""

from __future__ import annotations

from .mistake import RESERVED, Mistake

WORDS = (
    Mistake(
        "BEGIN ! (IF|ELSE|AND|OR) EQUALS",
        "`{token}` is a word of the language, so it cannot be a name",
        examples=("if_1 = 3",),
        repair=RESERVED,
    ),
    Mistake(
        "(BEGIN|OPEN|COMMA|EQUALS|INFIX|SIGN) ! (IF|ELSE|AND|OR) (STOP|CLOSE|COMMA|SIGN|TIMES|DIVIDE|POWER|COMPARISON)",
        "`{token}` is a word of the language, so it cannot be a name",
        hint="give the variable another name",
        takes="NAME",
    ),
    Mistake(
        "NAME ! NAME",
        "there is nothing to import: the functions are there already",
        examples=("sin(x)",),
        before=r"\b(?:import|from|using|include|require)\s+",
        caret="before",
    ),
    Mistake(
        "OPERAND ! NAME VALUE",
        "`{token}` is not a word of the language",
        examples=("a if c > 0 else b",),
        text=r"(?:unless|when|whenever|where|provided|given|otherwise|with|such|to)\b",
    ),
    Mistake(
        "NAME ! NAME",
        "`{before}` does not define a function here",
        examples=("f(x) = x**2",),
        before=r"\b(?:lambda|def|function|fn)\s+",
        caret="before",
        repair=(
            (r"^(.*?)\blambda\s+([^:]*):\s*(.*)$", r"f(\2) = \3"),
            (r"^(?:def|function|fn)\s+(\w+\([^()]*\))\s*[:={]*\s*(?:return\b)?\s*([^{}]*)\}?$", r"\1 = \2"),
        ),
    ),
    Mistake(
        "NAME ! VALUE",
        "`{before}` is not needed here",
        examples=("y = x**2",),
        before=r"\b(?:let|var|const|return|print|set|def)\s+",
        caret="before",
        repair=((r"\b(?:let|var|const|return|print|set|def)\s+", ""),),
    ),
    Mistake(
        "OPERAND ! NAME",
        "the point is no part of the formula",
        hint="leave it out here, and give it with --at",
        text=r"at\s+[^\W\d]\w*\s*=",
    ),
    Mistake(
        "OPERAND ! NAME",
        "`{token}` is not a word of the language",
        examples=("a if c > 0 else b",),
        text=r"(?i:then|elif|endif)\b",
        repair=(
            (r"^(?i:if)\s+(.*?)\s*\b(?i:then)\b\s*(.*?)\s*\b(?i:else)\b\s*(.*)$", r"\2 if \1 else \3"),
            (r"\belif\b", "else"),
        ),
    ),
    Mistake(
        "OPERAND ! NAME",
        "`{token}` is written in small letters",
        examples=("1 if a > 0 and b > 0 else 0", "1 if a > 0 or b > 0 else 0"),
        text=r"(?:AND|OR|NOT|IF|ELSE)\b",
        repair=((r"\b(?:AND|OR|NOT|IF|ELSE)\b", lambda word: word[0].lower()),),
    ),
    Mistake(
        "NAME ! VALUE",
        "`{before}` is written in small letters",
        ("{repaired}",),
        ("1 if not a > 0 else 0",),
        before=r"\b(?:NOT|IF)\s*",
        caret="before",
    ),
    Mistake(
        "OPERAND ! NAME",
        "`{token}` is not an operator here",
        examples=("1 if a == b else 0", "1 if a != b else 0"),
        text=r"(?:is|in|eq|ne)\b",
        repair=((r"\bis\s+not\b|\bne\b", "!="), (r"\b(?:is|eq)\b", "==")),
    ),
    Mistake(
        "OPERAND ! NAME",
        "there is no `{token}` operator",
        examples=("1 if (a > 0 and b <= 0) or (a <= 0 and b > 0) else 0",),
        hint="write the two cases out, as in {}",
        text=r"(?:xor|XOR)\b",
    ),
    Mistake(
        "NAME ! VALUE",
        "there are no loops in the language",
        examples=("x1 + x2 + x3",),
        hint="write the terms out, as in {}",
        before=r"\b(?:for|while)\s*",
        caret="before",
    ),
    Mistake(
        "OPERAND ! NAME",
        "there are no loops in the language",
        examples=("x1 + x2 + x3",),
        hint="write the terms out, as in {}",
        text=r"for\b",
    ),
    Mistake(
        "OPERAND ! NAME EQUALS",
        "a statement is not separated from the one before it",
        ("{split}",),
        ("a = 1; b = 2",),
    ),
    Mistake(
        "OPERAND ! NAME",
        "there is no `{token}` operator",
        ("({term} - {rest}*floor({term}/{rest}))",),
        ("(x - y*floor(x/y))",),
        text=r"(?:mod|MOD|rem)\b",
        places=("term..rest",),
        certain="closed",
    ),
    Mistake(
        "OPERAND ! NAME",
        "there is no `{token}` operator",
        ("floor({term}/{rest})",),
        ("floor(x/y)",),
        text=r"(?:div|DIV)\b",
        places=("term..rest",),
        certain="closed",
    ),
    Mistake(
        "! IF",
        "the value of an `if` stands before it",
        examples=("a if c > 0 else b",),
        takes="NAME",
        repair=(
            (r"\bif\s*\(([^(),]+),([^(),]+),([^(),]+)\)", r"where(\1,\2,\3)"),
            (r"^if\s*(.*?)\s*(?:\bthen\b|:)\s*(.*?)\s*\b(?:else\b\s*:?)\s*(.*)$", r"\2 if \1 else \3"),
            (r"^if\s*(\([^()]*\))\s*(.*?)\s*\belse\b\s*(.*)$", r"\2 if \1 else \3"),
        ),
    ),
)
