"""Options of the commands that compare two environments; the work is in `hybridenv.cli.verify`."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hybridenv.cli.console import fail
from hybridenv.errors import HybridEnvError

Reference = Annotated[
    str,
    typer.Argument(
        metavar="REF",
        help="The judge: gym:ID, gymvec:ID, module:function, hybridenv:NAME/KIND or cmd:COMMAND.",
    ),
]
Candidate = Annotated[str, typer.Argument(metavar="CAND", help="Who is judged, likewise.")]
ActionSources = Annotated[
    list[str],
    typer.Option(
        help="Who chooses actions: uniform, mask, policy:PLACE; separated by commas.",
        show_default=True,
    ),
]
Tolerance = Annotated[
    list[str] | None,
    typer.Option(help="Largest difference allowed, such as obs=0.001,reward=0. [default: none]"),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(help="What is not compared, such as info, \"info['x']\" or reset_info."),
]
ChanceOption = Annotated[
    Literal["shared", "tape", "inject", "independent"],
    typer.Option(help="How the randomness of both sides is coupled, see docs/verify.md."),
]
MaxSteps = Annotated[int, typer.Option(min=1, help="Cut episodes off after so many steps.")]
Timeout = Annotated[float, typer.Option(min=0.1, help="Seconds for one answer of the candidate.")]
Folder = Annotated[Path | None, typer.Option(help="Folder for the report.")]
Junit = Annotated[Path | None, typer.Option(help="File for JUnit XML.")]
Anchor = Annotated[
    bool, typer.Option("--anchor", help="Judge single steps from the reference's states.")
]
Isolate = Annotated[
    bool,
    typer.Option(
        "--isolate/--no-isolate",
        help="Run the candidate where the reference's package cannot be imported.",
    ),
]


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command()(verify)
    app.command()(diverge)
    app.command()(transfer)


def verify(
    reference: Reference,
    candidate: Candidate,
    level: Annotated[int, typer.Option(min=0, max=4, help="Run the levels up to this one.")] = 3,
    episodes: Annotated[int, typer.Option(min=1, help="Episodes of each source.")] = 100,
    actions: ActionSources = ["uniform"],  # noqa: B006  # typer wants a list, and copies it
    tol: Tolerance = None,
    ignore: Ignore = None,
    chance: ChanceOption = "shared",
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything.")] = 0,
    max_steps: MaxSteps = 10_000,
    examples: Annotated[int, typer.Option(min=1, help="Examples at the levels 1 and 2.")] = 100,
    anchor: Anchor = False,
    isolate: Isolate = True,
    policies: Annotated[
        list[str] | None, typer.Option(help="For level 4: as for transfer; may be repeated.")
    ] = None,
    margin: Annotated[
        float | None, typer.Option(help="For level 4: difference of returns that counts as none.")
    ] = None,
    properties: Annotated[
        str | None, typer.Option(help="For level 1: module:NAME of a list of Property.")
    ] = None,
    timeout: Timeout = 60.0,
    report: Folder = None,
    junit: Junit = None,
) -> None:
    """Show that one environment equals another, or where it does not.

    Exit codes: 0 equal, 1 different, 2 an error, 3 not shown.
    """
    from hybridenv.cli.verify import gathered, named_properties

    _finish(
        lambda: {
            "level": level,
            "policies": gathered(policies or ()),
            "margin": margin,
            "properties": named_properties(properties),
            "episodes": episodes,
            "seed": seed,
            "examples": examples,
            "anchor": anchor,
            **_compared(actions, tol, ignore),
            **_played(chance, max_steps, isolate, timeout),
        },
        reference=reference,
        candidate=candidate,
        report=report,
        junit=junit,
    )


def diverge(
    reference: Reference,
    candidate: Candidate,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the one episode.")] = 0,
    shrink: Annotated[
        bool, typer.Option("--shrink", help="Look for the shortest way to a difference.")
    ] = False,
    write_test: Annotated[
        Path | None, typer.Option(help="Write a pytest module that shows the difference.")
    ] = None,
    actions: ActionSources = ["uniform"],  # noqa: B006  # as above
    tol: Tolerance = None,
    ignore: Ignore = None,
    chance: ChanceOption = "shared",
    max_steps: MaxSteps = 10_000,
    anchor: Anchor = False,
    isolate: Isolate = True,
    timeout: Timeout = 60.0,
    report: Folder = None,
) -> None:
    """Play one episode on both sides and show the first difference.

    Exit codes: 0 equal, 1 different, 2 an error.
    """
    _finish(
        lambda: {
            "levels": [3],
            "seeds": [seed],
            "shrink": shrink or write_test is not None,
            "anchor": anchor,
            **_compared(actions, tol, ignore),
            **_played(chance, max_steps, isolate, timeout),
        },
        reference=reference,
        candidate=candidate,
        report=report,
        write_test=write_test,
    )


def transfer(
    reference: Reference,
    candidate: Candidate,
    policies: Annotated[
        list[str],
        typer.Option(
            help="A folder with training runs, or module:function; may be repeated.",
            show_default=False,
        ),
    ],
    margin: Annotated[
        float | None,
        typer.Option(help="Difference of mean returns that counts as none; fix it beforehand."),
    ] = None,
    episodes: Annotated[int, typer.Option(min=2, help="Evaluation seeds of each policy.")] = 100,
    paired: Annotated[
        bool, typer.Option("--paired/--unpaired", help="Pair by policy and evaluation seed.")
    ] = True,
    draws: Annotated[
        bool,
        typer.Option("--draws", help="Policies of training runs draw actions, as they learned."),
    ] = False,
    alpha: Annotated[float, typer.Option(help="Level of each one-sided test.")] = 0.05,
    chance: ChanceOption = "shared",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the evaluation seeds.")] = 0,
    max_steps: MaxSteps = 10_000,
    isolate: Isolate = True,
    timeout: Timeout = 60.0,
    report: Folder = None,
    junit: Junit = None,
) -> None:
    """Test whether policies earn the same on both sides (TOST).

    Exit codes: 0 identical or equivalent, 1 different, 2 an error, 3 not shown.
    """
    from hybridenv.cli.verify import gathered

    _finish(
        lambda: {
            "levels": [4],
            "policies": gathered(policies, draws),
            "margin": margin,
            "episodes": episodes,
            "paired": paired,
            "alpha": alpha,
            "seed": seed,
            **_played(chance, max_steps, isolate, timeout),
        },
        reference=reference,
        candidate=candidate,
        report=report,
        junit=junit,
    )


def bench_pair(reference: str, candidate: str, batch: str, seconds: float, as_json: bool) -> None:
    """Measure both sides in turn; `hybridenv bench` with two targets."""
    from hybridenv.cli.verify import measure

    _see_this_folder()
    try:
        measure(reference, candidate, batch, seconds, as_json)
    except (HybridEnvError, OSError) as error:
        fail(error, code=2)


def _compared(
    actions: list[str], tol: list[str] | None, ignore: list[str] | None
) -> dict[str, Any]:
    """Options of `verify` that say what is compared, and along which actions."""
    from hybridenv.cli.verify import listed, tolerances

    return {
        "actions": listed(actions),
        "tol": tolerances(tol or ()),
        "ignore": listed(ignore or ()),
    }


def _played(chance: str, max_steps: int, isolate: bool, timeout: float) -> dict[str, Any]:
    """Options of `verify` that say how both sides are played."""
    return {
        "chance": chance,
        "max_steps": max_steps,
        "isolate": None if isolate else False,
        "timeout": timeout,
    }


def _finish(options: Callable[[], dict[str, Any]], **wanted: Any) -> None:
    """Run, and leave with the exit code; an error is a message and 2."""
    from hybridenv.cli.verify import Wanted, run

    _see_this_folder()
    try:
        code = run(Wanted(options=options(), **wanted))
    except (HybridEnvError, OSError) as error:
        fail(error, code=2)
    sys.exit(code)


def _see_this_folder() -> None:
    """Let targets be modules of the current folder, as `python -m` does."""
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
