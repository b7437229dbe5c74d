"""From a text to a `Target`: `gym:ID`, `module:function`, `hybridenv:...`, `cmd:...`."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module, metadata
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import gymnasium

from hybridenv.errors import HybridEnvError, TargetError
from hybridenv.verify._target import Identity, Target

FORMS = (
    "gym:ID, gymvec:ID, module:function, hybridenv:NAME/KIND or cmd:COMMAND, each with options "
    "behind a '?' such as ?frame_skip=4"
)


def resolve(spec: str) -> Target:
    """Make the target that a text names.

    Args:
        spec: `gym:ID` or `gymvec:ID` (made with `gymnasium.make` or `make_vec`),
            `module:function` (what the function returns, see `adapt`), `hybridenv:NAME/KIND` (an
            environment of this package, see `OURS`) or `cmd:COMMAND` (a process that speaks JSON
            lines). Options stand behind a question mark, as JSON or as plain text.

    Returns:
        The target; the caller closes it.

    Raises:
        TargetError: There is no such thing, or it cannot be made.
    """
    kind, colon, rest = spec.partition(":")
    if not (colon and kind and rest):
        raise TargetError(f"target: got {spec!r}, expected {FORMS}")
    if kind == "cmd":
        from hybridenv.verify.adapters._process import ProcessTarget

        return ProcessTarget(rest, Identity(spec))
    place, _, query = rest.partition("?")
    options = {key: _value(text) for key, text in parse_qsl(query, keep_blank_values=True)}
    with making(spec):
        target = adapt(_maker(spec, kind, place)(**options), spec)
    if kind == "hybridenv":
        from hybridenv.verify.adapters._ours import identity_of

        target.identity = identity_of(place, spec, target.identity)
    return target


@contextmanager
def making(name: str) -> Iterator[None]:
    """Make a target in the `with` block; what a user's code raises there says which one it is.

    Args:
        name: What the user called it.

    Raises:
        TargetError: The block raised something.
    """
    try:
        yield
    except TargetError:
        raise
    except HybridEnvError as error:
        raise TargetError(f"target {name!r}: {error}") from error
    except Exception as error:  # whatever a user's function raises
        raise TargetError(f"target {name!r}: cannot be made: {_words(error)}") from error


def adapt(made: Any, name: str | None = None) -> Target:
    """Put the adapter that fits around an environment.

    Args:
        made: A `Target`; an environment or vector environment of Gymnasium, or what has the methods
            of `VerifiableEnv`; an environment of `hybridenv.envs`, alone or as a pair with its
            parameters.
        name: What to call it; `None` takes the name of its class.

    Returns:
        The target.

    Raises:
        TargetError: It is none of these.
    """
    if isinstance(made, Target):
        return made
    env, params = made if isinstance(made, tuple) and len(made) == 2 else (made, None)
    identity = identify(env, name or type(env).__name__)
    if isinstance(env, gymnasium.vector.VectorEnv):
        from hybridenv.verify.adapters._vector import VectorTarget

        return VectorTarget(env, identity)
    if callable(getattr(env, "observation_space", None)):
        return _functional(env, params, identity)
    lacks = [
        n for n in ("observation_space", "action_space", "reset", "step") if not hasattr(env, n)
    ]
    if lacks:
        raise TargetError(
            f"target {identity.name!r}: got {type(made).__name__} without {', '.join(lacks)}, "
            "expected an environment of Gymnasium or of hybridenv.envs, or one with these methods"
        )
    for what in ("observation_space", "action_space"):
        if not isinstance(space := getattr(env, what), gymnasium.Space):
            raise TargetError(
                f"target {identity.name!r}: got {type(space).__name__} for {what}, expected a "
                "gymnasium.Space"
            )
    inner = getattr(env, "unwrapped", env)
    if "gymnasium.envs.mujoco.mujoco_env" in {base.__module__ for base in type(inner).__mro__}:
        from hybridenv.verify.adapters._mujoco import MujocoTarget

        return MujocoTarget(env, identity)
    from hybridenv.verify.adapters._gymnasium import GymTarget

    return GymTarget(env, identity)


def _functional(env: Any, params: Any, identity: Identity) -> Target:
    if type(env).__module__.startswith("hybridenv.envs.locomotion."):
        from hybridenv.verify.adapters._planar import PlanarTarget

        return PlanarTarget(env, params, identity)
    from hybridenv.verify.adapters._functional import FunctionalTarget

    return FunctionalTarget(env, params, identity)


def identify(env: Any, name: str) -> Identity:
    """Find out who an environment is.

    Args:
        env: The environment, with or without wrappers.
        name: What the user called it.
    """
    module = type(getattr(env, "unwrapped", env)).__module__
    package = module.partition(".")[0]
    return Identity(name, (module,), _version(package), _commit(module))


def _maker(spec: str, kind: str, place: str) -> Callable[..., Any]:
    if kind in ("gym", "gymvec"):
        import hybridenv.gym  # noqa: F401  # registers the ids of this package

        make = gymnasium.make if kind == "gym" else gymnasium.make_vec
        extra: dict[str, Any] = {"disable_env_checker": True} if kind == "gym" else {}
        return lambda **options: make(place, **extra, **options)
    if kind == "hybridenv":
        from hybridenv.verify.adapters._ours import OURS

        if place not in OURS:
            known = ", ".join(f"hybridenv:{one}" for one in sorted(OURS))
            raise TargetError(f"target: got {spec!r}, expected one of {known}")
        return OURS[place]
    module, member = kind, place
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        raise TargetError(
            f"target {spec!r}: there is no module {error.name!r}; expected {FORMS}"
        ) from error
    for part in member.split("."):
        found = getattr(found, part, None)  # type: ignore[assignment]
        if found is None:
            raise TargetError(f"target {spec!r}: module {module!r} has no {member!r}")
    if not callable(found):
        raise TargetError(f"target {spec!r}: got {type(found).__name__}, expected a function")
    return found


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _commit(module: str) -> str | None:
    """The commit of the checkout that a module lies in, `+changes` where it was edited since."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None:
        return None
    folder = Path(file).resolve().parent
    try:
        commit = _git(folder, "rev-parse", "HEAD")
        if "site-packages" in folder.parts:
            return None
        return commit + ("+changes" if _git(folder, "status", "--porcelain", "--", ".") else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(folder: Path, *command: str) -> str:
    return subprocess.run(  # noqa: S603  # fixed words, no shell
        ["git", "-C", str(folder), *command],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
        timeout=10,
    ).stdout.strip()
