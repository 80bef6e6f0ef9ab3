"""Names that other programs use for commands, options and choices, for the hints of usage errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def _by_synonym(table: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return for each synonym what it may stand for, the likeliest first."""
    names: dict[str, tuple[str, ...]] = {}
    for name, synonyms in table.items():
        for synonym in synonyms.split():
            names[synonym] = (*names.get(synonym, ()), name)
    return names


COMMANDS = _by_synonym({
    "grad": "gradient eval evaluate value calc calculate compute partial partials nabla del "
    "backward backprop backpropagation differential",
    "diff": "derivative derivatives derive differentiate differentiation symbolic simplify",
    "trace": "step steps explain worked unroll",
    "graph": "draw tree dot picture visualize visualise visualization svg mermaid graphviz",
    "page": "html web browser interactive quiz",
    "check": "verify gradcheck validate accuracy digits",
    "descend": "train learn gd sgd adam momentum descent gradient-descent",
    "minimize": "minimise minimum min optimize optimise optimizer bfgs",
    "maximize": "maximise maximum max",
    "plot": "plot2d plot3d contour contours curve chart tangent",
    "hessian": "hess curvature",
    "jacobian": "jac jvp vjp linearize linearise",
    "taylor": "series expand expansion maclaurin",
    "propagate": "uncertainty uncertainties error errors gum montecarlo monte-carlo budget",
    "solve": "root roots zero zeros nsolve fsolve fzero equation equations newton",
    "fit": "regression regress curve_fit curvefit curve-fit least_squares least-squares leastsq lsq lstsq linfit",
    "export": "code codegen generate compile convert latex jax pytorch torch numpy python sql javascript c "
    "matlab octave r julia excel to",
    "exercise": "exercises practice practise homework worksheet problems",
    "functions": "list function builtins",
    "units": "unit constants convert",
})  # fmt: skip
"""Commands by what they are called elsewhere."""

ADVICE = {
    "integrate": "there are no integrals; `autodiff --help` lists the commands",
    "int": "there are no integrals; `autodiff --help` lists the commands",
    "integral": "there are no integrals; `autodiff --help` lists the commands",
    "limit": "where a formula has a hole, `autodiff grad` and `autodiff taylor` name the limit",
    "lim": "where a formula has a hole, `autodiff grad` and `autodiff taylor` name the limit",
    "factor": "for the roots: `autodiff solve`",
    "factorize": "for the roots: `autodiff solve`",
    "man": "for the man page: `autodiff help --man`",
}
"""Hints for commands that there are not, and that no other command stands for."""

SESSION = {
    **dict.fromkeys(("clear", "unset", "del", "delete", "remove", "rm", "forget"), ":forget"),
    **dict.fromkeys(("who", "whos", "names", "vars", "variables", "ls"), ":names"),
    **dict.fromkeys(("save", "load", "steps", "tree"), ""),
}
"""Commands of a session by what they are called elsewhere."""
SESSION |= {name: f":{name}" for name, own in SESSION.items() if not own}

OPTIONS = _by_synonym({
    "--wrt": "variable variables var vars respect-to by",
    "--for": "unknown unknowns solve-for variable var",
    "--between": "interval bracket range limits domain from bounds",
    "--range": "xrange yrange xlim ylim domain interval limits from bounds",
    "--bounds": "limits constraints range between",
    "--steps": "iter iters iterations max-iter max-iterations maxiter max-steps n-steps nsteps n epochs",
    "--rate": "lr learning-rate alpha eta step-size step",
    "--gradient-tolerance": "tol tolerance eps epsilon gtol",
    "--value-tolerance": "ftol tol tolerance",
    "--quiet": "silent s",
    "--order": "degree terms n",
    "--precision": "prec dps bits mp",
    "--require": "accuracy",
    "--digits": "sig significant figures",
    "--decimals": "decimal places round",
    "--output": "save out o outfile write file-output",
    "--file": "in input infile i f program script",
    "--format": "f fmt style as output-format",
    "--to": "language lang target",
    "--data": "csv-file table dataset input",
    "--points": "rows data-file csv-file table",
    "--fix": "fixed hold const",
    "--sigma": "errors error yerr dy uncertainty uncertainties err",
    "--weights": "weight w",
    "--level": "confidence ci conf",
    "--samples": "n points resolution draws trials mc montecarlo monte-carlo",
    "--assume": "assuming assumptions given",
    "--seed": "random-seed",
    "--all": "intermediates every",
    "--input-format": "separator delimiter sep",
    "--scheduler": "cluster",
    "--workers": "jobs processes j threads cores",
    "--no-tree": "tree",
    "--dialect": "database db",
    "--at": "point values init initial start starts guess x0 p0 p where sweep grid linspace range between bounds",
})  # fmt: skip
"""Options by what they are called elsewhere, without dashes."""

OPTION_ADVICE = {
    **dict.fromkeys(("o", "q", "quiet", "output"), "write it after the command: `autodiff grad x --at x=1 -q`"),
    **dict.fromkeys(("v", "verbose"), "`autodiff trace` and `autodiff check` show more about an answer"),
    **dict.fromkeys(("V", "version"), "for the version: `autodiff --version`"),
    **dict.fromkeys(
        ("errors", "uncertainty", "uncertainties"), "uncertainties stand with the values: `--at x=5.0±0.1`"
    ),
    **dict.fromkeys(("color", "colour", "no-color", "no-colour"), "set `NO_COLOR=1` or `FORCE_COLOR=1` for colours"),
}
"""Hints for options that there are not, and that no other option stands for."""

CHOICES = _by_synonym({
    "torch": "pytorch", "javascript": "js node", "python": "py", "numpy": "np", "latex": "tex",
    "sql": "postgresql mysql", "matlab": "octave m", "julia": "jl", "mathml": "mml",
    "spreadsheet": "excel libreoffice calc xlsx ods sheets",
    "postgres": "postgresql pg", "markdown": "md", "jsonl": "ndjson", "plain": "text txt raw", "text": "txt plain raw",
    "parquet": "pq", "arrow": "feather ipc", "table": "pretty", "c": "c++ cpp",
    "clickhouse": "ch", "duckdb": "duck", "sqlite": "sqlite3", "spark": "databricks pyspark",
    "nesterov": "nag", "l-bfgs-b": "lbfgs l-bfgs lbfgsb", "newton-cg": "newton",
    "forward": "jvp", "reverse": "vjp backward",
})  # fmt: skip
"""Choices of options by what they are called elsewhere."""


def available(names: Iterable[str], choices: Iterable[str]) -> list[str]:
    """Return those of the names that are among the choices."""
    present = set(choices)
    return [name for name in names if name in present]
