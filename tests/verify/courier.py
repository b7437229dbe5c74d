"""A small game with all that a comparison can trip over: masks, dicts, infos, two ends, chance."""

from typing import Any

import numpy as np
from gymnasium import spaces

SIZE = 5
TANK = 120
LIMIT = 300
MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))
TAKE = 4


class Courier:
    """Walk over a grid, take parcels, and never run out of fuel.

    Each parcel pays 1 and refuels 8; every step costs 1 of fuel. The episode terminates without
    fuel and is truncated after 300 steps. Where the next parcel lies is the only chance.
    """

    def __init__(self) -> None:
        self.observation_space = spaces.Dict(
            {
                "place": spaces.Box(0, SIZE - 1, (2,), np.int64),
                "parcel": spaces.Box(0, SIZE - 1, (2,), np.int64),
                "fuel": spaces.Box(0, TANK, (), np.int64),
                "score": spaces.Box(0, 10_000, (), np.int64),
            }
        )
        self.action_space = spaces.Discrete(5)
        self.rng = np.random.default_rng(0)
        self.tape: list[int] | None = None
        self.drawn: list[int] = []
        self.begin()

    # -- what mutants change -------------------------------------------------------------------

    def begin(self) -> None:
        self.place = np.zeros(2, np.int64)
        self.fuel, self.steps, self.parcels, self.score = TANK, 0, 0, 0
        self.parcel = np.zeros(2, np.int64)

    def seed(self, seed: int | None) -> None:
        if seed is not None:
            self.rng = np.random.default_rng(seed)

    def draw(self) -> int:
        value = int(self.rng.integers(SIZE * SIZE))
        if self.tape is not None:
            value = self.tape.pop(0) if self.tape else value
        self.drawn.append(value)
        return value

    def new_parcel(self) -> None:
        self.parcel = np.array(divmod(self.draw(), SIZE), np.int64)

    def move(self, action: int) -> None:
        self.place = np.clip(self.place + MOVES[action], 0, SIZE - 1)

    def pay(self) -> float:
        self.parcels += 1
        self.score += 10
        self.fuel = min(TANK, self.fuel + 8)
        return 1.0

    def ends(self) -> tuple[bool, bool]:
        empty = self.fuel <= 0
        return empty, self.steps >= LIMIT and not empty

    def info(self) -> dict[str, Any]:
        return {"parcels": self.parcels}

    def action_mask(self) -> Any:
        inside = [
            bool(((p := self.place + move) >= 0).all() and (p < SIZE).all()) for move in MOVES
        ]
        return np.array([*inside, bool((self.place == self.parcel).all())])

    # -- the interface -------------------------------------------------------------------------

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.seed(seed)
        self.begin()
        self.new_parcel()
        return self.look(), self.info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        reward = 0.0
        self.steps += 1
        self.fuel -= 1
        if int(action) == TAKE:
            reward = self.pay()
            self.new_parcel()
        else:
            self.move(int(action))
        terminated, truncated = self.ends()
        return self.look(), reward, terminated, truncated, self.info()

    def look(self) -> dict[str, Any]:
        return {
            "place": self.place.copy(),
            "parcel": self.parcel.copy(),
            "fuel": np.array(self.fuel, np.int64),
            "score": np.array(self.score, np.int64),
        }

    def take_chance(self) -> list[int]:
        drawn, self.drawn = self.drawn, []
        return drawn

    def set_chance(self, draws: Any) -> None:
        self.tape = None if draws is None else list(draws)


class Diligent:
    """A policy that fetches parcels, and strolls now and then."""

    def act(self, obs: Any, key: int) -> int:
        place, parcel = obs["place"], obs["parcel"]
        if (place == parcel).all():
            return TAKE
        for axis, (less, more) in enumerate(((3, 1), (0, 2))):
            if place[axis] != parcel[axis]:
                return more if place[axis] < parcel[axis] else less
        raise AssertionError
