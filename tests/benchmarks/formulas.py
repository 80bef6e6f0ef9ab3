"""How the derivative of a growing formula grows, as text with named common parts, and how long it
takes.
"""

from __future__ import annotations

import gc
import time
from itertools import pairwise

from autodiff_cli.capabilities.formulas.diff import diff


def product(size: int) -> str:
    """A product of so many different factors."""
    return "*".join(f"sin(x + {k})" for k in range(size))


def squarings(size: int) -> str:
    """So many squares in each other, with something added to each."""
    names = ["x", *(f"s{k}" for k in range(1, size + 1))]
    return "; ".join(f"{name} = {inner}**2 + 1" for inner, name in pairwise(names))


def network(size: int) -> str:
    """A chain of so many neurons."""
    names = ["x", *(f"h{k}" for k in range(1, size + 1))]
    return "; ".join(f"{name} = tanh(w*{inner} + b)" for inner, name in pairwise(names))


SHAPES = {"product": product, "squarings": squarings, "network": network}


def measure(sizes: list[int]) -> list[dict[str, object]]:
    """A row a shape and size: characters of the program, and characters and seconds of its shared
    derivative.
    """
    rows: list[dict[str, object]] = []
    for name, shape in SHAPES.items():
        for size in sizes:
            text = shape(size)
            # As the command runs: the collector would walk the growing graph again and again.
            gc.collect()
            gc.disable()
            begin = time.process_time()
            found = diff(text, share=True)
            taken = time.process_time() - begin
            gc.enable()
            rows.append(
                {
                    "formula": name,
                    "size": size,
                    "characters": len(text),
                    "derivative": len(found.program),
                    "per character": round(len(found.program) / len(text), 2),
                    "seconds": round(taken, 4),
                }
            )
    return rows
