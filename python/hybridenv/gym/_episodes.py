"""How episodes end and begin behind Gymnasium's vector interface: modes, masks, last things."""

from typing import Any, TypeAlias

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from hybridenv.errors import ArgumentError, NotResetError

Bools: TypeAlias = NDArray[np.bool_]
Info: TypeAlias = dict[str, Any]


def parse_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """Read an autoreset mode.

    Args:
        mode: A member, its name or its value.

    Returns:
        The member.

    Raises:
        ArgumentError: There is no such mode.
    """
    for member in AutoresetMode:
        if mode in (member, member.name, member.value):
            return member
    names = ", ".join(member.name for member in AutoresetMode)
    raise ArgumentError(f"autoreset_mode: got {mode!r}, expected one of {names}")


def parse_render_mode(mode: str | None) -> str | None:
    """Check a render mode.

    Args:
        mode: `None` or `"rgb_array"`.

    Returns:
        The same.

    Raises:
        ArgumentError: There is no such mode.
    """
    if mode is not None and mode != "rgb_array":
        raise ArgumentError(f'render_mode: got {mode!r}, expected None or "rgb_array"')
    return mode


def parse_reset_mask(options: dict[str, Any] | None, n: int) -> Bools | None:
    """Read the options of `reset`.

    Args:
        options: `None`, or a dict that is empty or holds `"reset_mask"` (bool[n]) alone.
        n: Number of environments.

    Returns:
        A copy of the mask, or `None` where all environments are meant.

    Raises:
        ArgumentError: `options` is something else, or the mask has no true value.
    """
    if options is None:
        return None
    if not isinstance(options, dict):
        raise ArgumentError(f"reset options: got {options!r}, expected a dict or None")
    if not options:
        return None
    unknown = sorted(options.keys() - {"reset_mask"}, key=str)
    if unknown:
        raise ArgumentError(f'reset options: got {unknown}, expected only "reset_mask"')
    mask = options["reset_mask"]
    wanted = (n,)
    if not isinstance(mask, np.ndarray) or mask.shape != wanted or mask.dtype != np.bool_:
        got = (
            f"{mask.dtype} array of shape {mask.shape}"
            if isinstance(mask, np.ndarray)
            else type(mask).__name__
        )
        raise ArgumentError(f'options["reset_mask"]: got {got}, expected bool array of {wanted}')
    if not mask.any():
        raise ArgumentError('options["reset_mask"]: got no true value, expected at least one')
    return mask.copy()


def refuse_ended(mode: AutoresetMode, ended: Bools, what: str) -> None:
    """Refuse a step after episodes that have ended and that nothing but `reset` starts over.

    Args:
        mode: The autoreset mode.
        ended: bool[n], the environments whose episodes have ended.
        what: What the environments are, for the message.

    Raises:
        NotResetError: The mode is `DISABLED` and an episode has ended.
    """
    if mode is AutoresetMode.DISABLED and ended.any():
        raise NotResetError(
            f"step: the episodes of {what} {np.flatnonzero(ended).tolist()} have ended, "
            'expected reset(options={"reset_mask": mask}) for them first'
        )


def masked(columns: dict[str, NDArray[Any]], present: Bools) -> Info:
    """Give every info column its mask.

    Args:
        columns: Arrays of n rows by name.
        present: bool[n], the environments that they hold for.

    Returns:
        The columns, zero where the mask is false, each with a copy of the mask as `_name`.
    """
    info: Info = {}
    for key, values in columns.items():
        info[key] = values if present.all() else _zeroed(values, present)
        info[f"_{key}"] = present.copy()
    return info


def final_infos(obs: NDArray[Any], columns: dict[str, NDArray[Any]], ended: Bools) -> Info:
    """Lay out what episodes ended with, the way Gymnasium does.

    Args:
        obs: Observations of all n environments.
        columns: Their infos by name.
        ended: bool[n], those that ended.

    Returns:
        `final_obs` (object[n], `None` where none ended) and `final_info`, with their masks.
    """
    last = np.full(len(ended), None, dtype=object)
    rows = obs[ended]
    last[ended] = np.fromiter(rows, dtype=object, count=len(rows))
    return {
        "final_obs": last,
        "_final_obs": ended.copy(),
        "final_info": masked(columns, ended),
        "_final_info": ended.copy(),
    }


def _zeroed(values: NDArray[Any], present: Bools) -> NDArray[Any]:
    kept = np.zeros_like(values)
    kept[present] = values[present]
    return kept
