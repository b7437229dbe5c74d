"""A policy that balances the pole of CartPole for all 500 steps."""

from typing import Any


class Balancing:
    """Push towards where the pole falls, and a little back to the middle."""

    def act(self, obs: Any, key: int) -> int:
        x, speed, angle, spin = obs
        return int(angle + 0.35 * spin + 0.04 * x + 0.08 * speed > 0)


def balancing() -> Balancing:
    """Make the policy, as `policy:experts:balancing` asks for it."""
    return Balancing()
