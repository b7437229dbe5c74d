"""Walker2d-v5: two legs that must not fall."""

from dataclasses import dataclass
from typing import ClassVar

from hybridenv.envs.locomotion.balance import BalanceEnv, Range


@dataclass(frozen=True, kw_only=True)
class Walker2dEnv(BalanceEnv):
    """Gymnasium's Walker2d-v5.

    Args:
        **options: Those of `BalanceEnv`.

    Raises:
        ArgumentError: An option is not one of these.
    """

    body: ClassVar[str] = "walker2d"

    frame_skip: int = 4
    healthy_z_range: Range = (0.8, 2.0)
    healthy_angle_range: Range = (-1.0, 1.0)
