"""The extras of the distribution: their libraries, and how to install them."""

import os
import sys

from .operating_system import quoted

# The modules of each extra, with their distributions, as in pyproject.toml (tested).
EXTRAS = {
    "plot": {"matplotlib": "matplotlib", "numpy": "numpy", "flint": "python-flint", "uniplot": "uniplot"},
    "draw": {"resvg_py": "resvg-py"},
    "optimize": {"numpy": "numpy", "scipy": "scipy"},
    "certified": {"flint": "python-flint"},
    "integrals": {"flint": "python-flint", "sympy": "sympy"},
    "data": {"llvmlite": "llvmlite", "numpy": "numpy", "pyarrow": "pyarrow"},
    "excel": {"python_calamine": "python-calamine"},
    "cluster": {
        "llvmlite": "llvmlite", "numpy": "numpy", "pyarrow": "pyarrow", "distributed": "distributed",
        "fsspec": "fsspec",
    },
    "repl": {"prompt_toolkit": "prompt-toolkit"},
}  # fmt: skip


def install_command(extra: str) -> str:
    """Return the command that installs an extra: by pipx, uv, in a checkout, or pip."""
    prefix, checkout = sys.prefix, os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if os.path.isfile(os.path.join(prefix, "pipx_metadata.json")):
        return f"pipx inject autodiff-cli {' '.join(EXTRAS[extra].values())}"
    if os.path.isfile(os.path.join(prefix, "uv-receipt.toml")):
        return f"uv tool install {quoted(f'autodiff-cli[{extra}]')}"
    distribution = (
        "." if os.path.isfile(os.path.join(checkout, "pyproject.toml")) else "autodiff-cli"
    )
    return f"pip install {quoted(f'{distribution}[{extra}]')}"


def install_hint(extra: str) -> str:
    """Return the hint that installs an extra; in a browser, where it can be had instead."""
    hint = f"`{install_command(extra)}`"
    return (
        f"a browser has no library for it; on a computer: {hint}"
        if sys.platform == "emscripten"
        else hint
    )


def installed_extras() -> list[str]:
    """Return the names of the extras that are fully installed."""
    from importlib.util import find_spec

    return [extra for extra, modules in EXTRAS.items() if all(map(find_spec, modules))]
