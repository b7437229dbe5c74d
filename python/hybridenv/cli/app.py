"""The commands and their options; the work is in the modules beside this one."""

import io
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

import hybridenv
from hybridenv.cli.bench import Bench
from hybridenv.cli.bench import bench as run_bench
from hybridenv.cli.console import fail, out
from hybridenv.cli.demo import demo as run_demo
from hybridenv.cli.diverge import Diverge
from hybridenv.cli.diverge import diverge as run_diverge
from hybridenv.cli.info import info as show_info
from hybridenv.cli.play import Play
from hybridenv.cli.play import play as run_play
from hybridenv.cli.train import ProfileTraining, Train
from hybridenv.cli.train import profile as run_profile
from hybridenv.cli.train import train as run_train
from hybridenv.cli.verify_app import add_commands, bench_pair
from hybridenv.errors import HybridEnvError
from hybridenv.oracle.lockstep import Kind

app = typer.Typer(
    name="hybridenv",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Rom = Annotated[
    Path | None,
    typer.Argument(help="A Game Boy ROM; the embedded game without it.", show_default=False),
]
Threads = Annotated[
    int | None,
    typer.Option("--threads", min=1, help="Worker threads; one a core without it."),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of machines and random buttons.")]
Profile = Annotated[
    Literal["hardware", "pyboy"], typer.Option(help="Whose behaviour in detail to follow.")
]
Model = Annotated[
    Literal["auto", "dmg", "cgb"],
    typer.Option(help="Which console; the one that the ROM asks for without it."),
]


def _print_version(wanted: bool) -> None:
    if wanted:
        build = hybridenv.build_info()
        out.print(f"hybridenv {hybridenv.__version__} ({build['profile']}, {build['target']})")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Fast environments: Game Boys, training with PPO, and comparing any two environments."""


@app.command()
def play(
    rom: Rom = None,
    n: Annotated[int, typer.Option("--n", min=1, help="Number of machines.")] = 1,
    frames: Annotated[int, typer.Option(min=1, help="Frames to run.")] = 600,
    buttons: Annotated[
        str,
        typer.Option(
            help='"random", "none", or a script: FRAMES waits, BUTTONS*FRAMES holds, such as '
            '"60 start*5 30 right+a*120".'
        ),
    ] = "random",
    png: Annotated[
        Path | None, typer.Option(help="Write the last screens here; the folder must exist.")
    ] = None,
    gif: Annotated[
        Path | None, typer.Option(help="Write an animation here; the folder must exist.")
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Draw the last screen here.")] = False,
    profile: Profile = "hardware",
    model: Model = "auto",
    threads: Threads = None,
    seed: Seed = 0,
) -> None:
    """Run a ROM and show or keep what it shows."""
    run_play(
        Play(
            rom=rom,
            n=n,
            frames=frames,
            buttons=buttons,
            profile=profile,
            model=model,
            threads=threads,
            seed=seed,
            png=png,
            gif=gif,
            show=show,
        )
    )


@app.command()
def bench(
    rom: Annotated[
        str | None,
        typer.Argument(
            metavar="[ROM | REF CAND]",
            help="A Game Boy ROM, the embedded game without it; or two targets as for verify.",
            show_default=False,
        ),
    ] = None,
    candidate: Annotated[str | None, typer.Argument(hidden=True)] = None,
    n: Annotated[
        list[int] | None,
        typer.Option("--n", min=1, help="Number of machines; may be repeated. [default: 128]"),
    ] = None,
    threads: Annotated[
        list[int] | None,
        typer.Option(
            "--threads", min=1, help="Worker threads; may be repeated. [default: 1, one a core]"
        ),
    ] = None,
    frame_skip: Annotated[int, typer.Option(min=1, help="Frames a step.")] = 24,
    obs: Annotated[
        Literal["shades", "rgb", "packed"], typer.Option(help="Kind of observation.")
    ] = "shades",
    batch: Annotated[
        str, typer.Option(help="With two targets: episodes handed over in one call.")
    ] = "1,32,128",
    seconds: Annotated[float, typer.Option(min=0.01, help="Time for each measurement.")] = 2.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    profile: Profile = "hardware",
    model: Model = "auto",
    seed: Seed = 0,
) -> None:
    """Measure env-steps and frames a second, with random buttons; or compare two targets.

    The options of Game Boys (--n, --threads and so on) have no meaning for two targets.
    """
    if rom is not None and candidate is not None:
        bench_pair(rom, candidate, batch, seconds, as_json)
        return
    run_bench(
        Bench(
            rom=None if rom is None else Path(rom),
            sizes=n or [128],
            threads=threads or [1, None],
            frame_skip=frame_skip,
            obs=obs,
            profile=profile,
            model=model,
            seconds=seconds,
            seed=seed,
        ),
        as_json,
    )


@app.command()
def info(
    rom: Rom = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    model: Model = "auto",
) -> None:
    """Explain the header of a ROM in words, and say which console runs it."""
    show_info(rom, model, as_json)


@app.command()
def diverge_gameboy(
    rom: Rom = None,
    frames: Annotated[int, typer.Option(min=1, help="Most frames to compare.")] = 1200,
    buttons: Annotated[str, typer.Option(help='"random", "none", or a script as for play.')] = (
        "random"
    ),
    kind: Annotated[
        list[Kind] | None,
        typer.Option(help="Stop only where this differs; may be repeated. [default: all]"),
    ] = None,
    around: Annotated[
        int, typer.Option(min=0, help="Instructions shown before and after the first that differs.")
    ] = 8,
    profile: Profile = "pyboy",
    model: Model = "auto",
    seed: Seed = 1,
) -> None:
    """Compare with PyBoy frame by frame; show the first frame and instruction that differ.

    Exit codes: 0 equal in all frames, 1 different, 2 an error.
    """
    try:
        equal = run_diverge(
            Diverge(
                rom=rom,
                frames=frames,
                buttons=buttons,
                seed=seed,
                kinds=kind or [],
                around=around,
                profile=profile,
                model=model,
            )
        )
    except (HybridEnvError, OSError) as error:
        fail(error, code=2)
    if not equal:
        raise typer.Exit(1)


@app.command()
def demo(
    n: Annotated[int, typer.Option("--n", min=1, help="Number of machines.")] = 128,
    seconds: Annotated[float, typer.Option(min=0.1, help="Time that each side plays.")] = 6.0,
    folder: Annotated[Path, typer.Option("--out", help="Folder for the pictures.")] = Path("demo"),
    threads: Threads = None,
    seed: Seed = 0,
) -> None:
    """Play the embedded game on many machines, next to PyBoy where it is installed."""
    run_demo(n, threads, seconds, folder, seed)


@app.command()
def train(
    env: Annotated[
        str,
        typer.Argument(
            help='"pong", "half_cheetah", "hopper", "walker2d", "pokemon", "gameboy", or the id of '
            "any Gymnasium environment."
        ),
    ],
    config: Annotated[
        Path | None, typer.Option(help="TOML or JSON file with settings, see docs/training.md.")
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting, such as lr=0.001; may be repeated."),
    ] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Environment steps to train.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of everything.")] = None,
    n_seeds: Annotated[
        int | None, typer.Option("--n-seeds", min=1, help="Runs in one program.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--out", help="Folder for metrics and checkpoints.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the folder's last one.")] = (
        False
    ),
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Also write for TensorBoard.")
    ] = False,
) -> None:
    """Train a policy with PPO."""
    given = {"steps": steps, "seed": seed, "n_seeds": n_seeds}
    run_train(
        Train(
            env=env,
            config=config,
            changes=tuple(change or ()),
            given={key: value for key, value in given.items() if value is not None},
            folder=folder,
            resume=resume,
            tensorboard=tensorboard,
        )
    )


@app.command()
def profile_training(
    env: Annotated[
        str,
        typer.Argument(
            help='As for "train", or a reference: "pong-python", "half_cheetah-mujoco", '
            '"hopper-mujoco", "walker2d-mujoco" or "gameboy-pyboy".'
        ),
    ],
    params: Annotated[
        str, typer.Option(help="Sizes of policies, such as 100k,2M; separated by commas.")
    ] = "2M,20M,200M",
    n_envs: Annotated[
        int | None, typer.Option("--n-envs", min=1, help="Environments; 64 without it.")
    ] = None,
    samples: Annotated[int, typer.Option(min=1, help="Steps that an update learns from.")] = 512,
    repeats: Annotated[int, typer.Option(min=1, help="Measurements of everything.")] = 5,
    folder: Annotated[
        Path | None, typer.Option("--out", help="Folder for breakdown.json and breakdown.png.")
    ] = None,
    seed: Seed = 0,
) -> None:
    """Measure how an iteration divides into environment, policy, learning and transfer."""
    run_profile(ProfileTraining(env, params, n_envs, samples, repeats, folder, seed))


add_commands(app)


def run() -> None:
    """Run the command line and leave the process; `hybridenv.cli.main` lists the exit codes."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names that the terminal cannot show
    try:
        app()
    except (HybridEnvError, OSError) as error:
        fail(error)
