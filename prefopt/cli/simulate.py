"""``prefopt simulate`` and ``prefopt list``: a contract that scripts rely on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from prefopt.errors import SettingError, did_you_mean

#: Endings of the pictures that ``--plot`` writes.
PICTURES = ("png", "pdf", "svg", "jpg", "eps", "webp")


def parse_setting(text: str) -> tuple[str, Any]:
    """``name=value`` with the value read as JSON where it is, else as text.

    >>> parse_setting("noise=0.05"), parse_setting("preset=paper"), parse_setting("distinct=false")
    (('noise', 0.05), ('preset', 'paper'), ('distinct', False))
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise SettingError(f"--set expects name=value, got {text!r}")
    try:
        parsed = json.loads(value.lower() if value in ("True", "False", "None") else value)
    except json.JSONDecodeError:
        parsed = None if value == "None" else value
    return name.strip().replace("-", "_"), parsed


def simulate(
    policy: Annotated[str, typer.Option(help="A policy; see `prefopt list policies`.")],
    environment: Annotated[str, typer.Option(help="A simulated person, or a CSV preference matrix.")],
    rounds: Annotated[int, typer.Option(help="Questions per repetition, T.")],
    regret: Annotated[
        str | None, typer.Option(help="Kind of regret; see `prefopt list regrets`. A script (--json) must name it.")
    ] = None,
    slate: Annotated[int, typer.Option(help="Options per question, m.")] = 2,
    feedback: Annotated[str, typer.Option(help="What is observed: pairs, winner or ranking.")] = "pairs",
    repetitions: Annotated[int, typer.Option(help="Independent repetitions.")] = 1,
    seed: Annotated[int, typer.Option(help="Seed of every random stream.")] = 0,
    jobs: Annotated[int, typer.Option(help="Parallel workers.")] = 1,
    setting: Annotated[list[str] | None, typer.Option("--set", help="name=value of the policy; repeatable.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Write the regret curve to this picture.")] = None,
    output: Annotated[Path | None, typer.Option(help="Write the tidy table (CSV) and its manifest here.")] = None,
) -> None:
    """Play a policy against a simulated person and report its regret."""
    from prefopt.policies import get_entry
    from prefopt.simulation import simulate as run

    if regret is None:
        if as_json:
            raise SettingError("--json needs --regret KIND: there is no default; see `prefopt list regrets`")
        regret = get_entry(policy).regret or "strong-sum"
        typer.echo(f"--regret not given: {regret}, which {policy} is judged by", err=True)
    if output is not None:
        check_target(output, ("csv",), "--output")
    if plot is not None:
        from prefopt.plotting import plot_regret, pyplot, save_figure

        check_target(plot, PICTURES, "--plot")
        pyplot()  # a missing matplotlib is said here, too
    result = run(
        policy,
        environment,
        rounds=rounds,
        repetitions=repetitions,
        seed=seed,
        jobs=jobs,
        regret=regret,
        slate_size=slate,
        feedback=feedback,
        settings=dict(parse_setting(s) for s in setting or []),
        progress=not as_json,
    )
    if output is not None:
        result.save(output)
    if plot is not None:
        save_figure(plot_regret([result]), plot)
    if as_json:
        typer.echo(json.dumps(result.summary()))
    else:
        print_table(result.summary())


def check_target(path: Path, endings: Sequence[str], option: str) -> None:
    """Raise SettingError now, before a long run, if its results could not be written to ``path``."""
    known = ", ".join(f".{ending}" for ending in endings)
    if path.is_dir():
        raise SettingError(f"{option} {path} is a folder; give a file in it that ends in {known}")
    if path.suffix.lower().removeprefix(".") not in endings:
        raise SettingError(f"{option} {path}: expected a file that ends in {known}, got {path.suffix or 'no ending'}")
    there = path.exists()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("a").close()
        if not there:
            path.unlink()
    except OSError as error:
        raise SettingError(f"{option} {path} cannot be written: {error.strerror or error}") from error


def print_table(summary: dict[str, Any]) -> None:
    """The summary for a reader: a table of the regret's growth and of what was recommended."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    typer.echo(f"{summary['policy']} on {summary['environment']}: cumulative regret ({summary['regret']})")
    table = Table()
    for heading in ("questions", "mean", "sd"):
        table.add_column(heading, justify="right")
    rows = summary["checkpoints"]
    step = max(1, len(rows) // 10)
    for t, mean, sd in rows[step - 1 :: step]:
        table.add_row(f"{t}", f"{mean:.2f}", f"{sd:.2f}")
    console.print(table)
    quantiles = "  ".join(f"{float(q):.0%}: {v:.2f}" for q, v in summary["quantiles"].items())
    console.print(f"mean {summary['mean']:.2f} ± {summary['se']:.2f} (s.e. of {summary['repetitions']} repetitions)")
    console.print(f"quantiles  {quantiles}")
    console.print(f"regret of the recommended option  {summary['inference_regret']:.4f}")
    console.print(f"{summary['microseconds_per_round']:.3g} µs a round, {summary['seconds']:.2f} s in all")


def list_names(what: Annotated[str, typer.Argument(help="policies, environments or regrets")]) -> None:
    """Print the names that `prefopt simulate` takes, one a line, with what they are."""
    for name, text in names_of(what).items():
        typer.echo(f"{name}\t{text}")


def describe(entry: Any) -> list[str]:
    """What is known of a policy before it is imported, a phrase each."""
    return [
        f"aims at {entry.regret or 'nothing'}",
        f"assumes {entry.assumes}",
        f"slates {entry.slates}",
        "needs the horizon" if entry.needs_horizon else "no horizon",
        f"presets {', '.join(entry.presets)}" if entry.presets else "no presets",
        entry.source,
    ]


def names_of(what: str) -> dict[str, str]:
    """Names and descriptions of one kind of thing; raises SettingError for another word."""
    if what == "policies":
        from prefopt.policies import POLICIES

        return {name: "\t".join(describe(entry)) for name, entry in POLICIES.items()}
    if what == "environments":
        from prefopt.environments import list_environments

        return dict(list_environments())
    if what == "regrets":
        from prefopt.regret import REGRETS

        return {n: r.text for n, r in REGRETS.items()}
    hint = did_you_mean(what, ("policies", "environments", "regrets"))
    raise SettingError(f"prefopt list {what}: expected policies, environments or regrets{hint}")
