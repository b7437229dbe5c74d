"""What is to be done and between whom: settings that were checked, both targets, progress."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from hybridenv.checks import choice, real, whole
from hybridenv.errors import ArgumentError, TargetError
from hybridenv.verify._actions import SEED_BITS, Source, episode_seeds
from hybridenv.verify._compare import Rules
from hybridenv.verify._record import Chooser, Play, Trajectory, drive
from hybridenv.verify._results import Chance
from hybridenv.verify._target import Target

Tick = Callable[[int], None]
"""Told how many units of work were done since it was last called."""


@dataclass(frozen=True)
class Settings:
    """Numbers and choices that all levels share.

    Attributes:
        chance: How the chance of both sides is coupled.
        rules: What counts as equal.
        seed: Seed of everything.
        episodes: Episodes of each source.
        seeds: Seeds of the episodes themselves; `None` derives as many as there are episodes.
        max_steps: Most steps of an episode.
        examples: Examples of each property and sequences of operations.
        shrink: Look for short examples, operations and actions where both sides differ.
        anchor: Judge numbers by the error of one step from the reference's state, not by that of
            a whole episode, which grows by itself where a system is chaotic.
        margin: Difference of mean returns that counts as none.
        alpha: Level of the tests.
        paired: Pair returns by policy and evaluation seed.

    Raises:
        ArgumentError: One of them makes no sense.
    """

    chance: Chance = "shared"
    rules: Rules = field(default_factory=Rules)
    seed: int = 0
    episodes: int = 100
    seeds: tuple[int, ...] | None = None
    max_steps: int = 10_000
    examples: int = 100
    shrink: bool = True
    anchor: bool = False
    margin: float | None = None
    alpha: float = 0.05
    paired: bool = True

    def __post_init__(self) -> None:
        choice("chance", self.chance, Chance)
        whole("seed", self.seed, 0, 2**63 - 1)
        whole("episodes", self.episodes, 1, 10**9)
        if self.seeds is not None and not self.seeds:
            raise ArgumentError("seeds: got none, expected at least one")
        for one in self.seeds or ():
            whole("seeds", one, 0, 2**SEED_BITS - 1)
        whole("max_steps", self.max_steps, 1, 10**9)
        whole("examples", self.examples, 1, 10**6)
        if not (isinstance(self.alpha, int | float) and 0 < self.alpha < 0.5):
            raise ArgumentError(f"alpha: got {self.alpha!r}, expected a number between 0 and 0.5")
        if self.margin is not None and not real("margin", self.margin) > 0:
            raise ArgumentError(f"margin: got {self.margin!r}, expected a number above 0")

    def episode_seeds(self, name: str) -> list[int]:
        """Return the seeds of the episodes of a source."""
        if self.seeds is not None:
            return list(self.seeds)
        return episode_seeds(self.seed, name, self.episodes)


@dataclass(frozen=True)
class Pair:
    """Both sides under one coupling of chance.

    Attributes:
        reference: The judge.
        candidate: Who is judged.
        settings: The settings.
        names: What the user called them, for generated tests.
        remake: Makes a new candidate, or `None` where it was handed over as an object.

    Raises:
        TargetError: The sides do not offer what the coupling needs.
    """

    reference: Target
    candidate: Target
    settings: Settings
    names: tuple[str, str]

    def __post_init__(self) -> None:
        needs = {"tape": ("tape", "chance"), "inject": ("state", "state")}
        for side, target, offer in zip(
            ("reference", "candidate"),
            (self.reference, self.candidate),
            needs.get(self.settings.chance, (None, None)),
            strict=True,
        ):
            if self.settings.anchor and "state" not in target.offers:
                raise TargetError(
                    f"anchor: the {side} {target.identity.name!r} has no get_state and set_state, "
                    "expected both"
                )
            if offer is not None and offer not in target.offers:
                method = {"tape": "take_chance", "chance": "set_chance"}.get(offer, "set_state")
                raise TargetError(
                    f"chance={self.settings.chance!r}: the {side} {target.identity.name!r} has no "
                    f"{method}, expected one; choose another coupling of "
                    f"{', '.join(get_args(Chance))}"
                )

    @property
    def anchorable(self) -> bool:
        """Whether both sides have states."""
        return all("state" in side.offers for side in (self.reference, self.candidate))

    def lead(
        self, seed: int, choose: Chooser, *, restarts: int = 0, anchors: bool = False
    ) -> tuple[Play, Trajectory]:
        """Let the reference play, and say what the candidate is to play.

        Args:
            seed: Seed of the episode.
            choose: Who chooses the actions.
            restarts: How many further episodes follow the first.
            anchors: Keep the states for re-anchoring.

        Returns:
            The play for the candidate, and what the reference showed.

        Raises:
            TargetError: The reference failed.
        """
        chance = self.settings.chance
        actions, seen = drive(
            self.reference,
            seed,
            choose,
            max_steps=self.settings.max_steps * (restarts + 1),
            restarts=restarts,
            keep_states=anchors or chance == "inject",
            keep_tape=chance == "tape",
        )
        if seen.error is not None:
            raise TargetError(
                f"reference {self.reference.identity.name!r}: fails in the episode with seed "
                f"{seed} after {seen.steps} steps: {seen.error}"
            )
        start = seen.states[0] if chance == "inject" and seen.states else None
        play = Play(
            seed,
            actions,
            restarts,
            start,
            seen.tape,
            seen.states if anchors else None,
        )
        return play, seen

    def follow(self, plays: Sequence[Play]) -> list[Trajectory]:
        """Let the candidate play the same."""
        return self.candidate.rollouts(plays)


@dataclass(frozen=True)
class Work:
    """What the levels look at beyond both environments.

    Attributes:
        sources: Who chooses the actions.
        properties: Properties of level 1, see `hybridenv.verify.Property`.
        policies: Policies of level 4 by name.
    """

    sources: tuple[Source, ...] = ()
    properties: tuple[Any, ...] = ()
    policies: dict[str, Any] = field(default_factory=dict)
