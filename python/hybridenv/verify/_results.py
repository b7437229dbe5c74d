"""What each level found: frozen values that the report is written from."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Literal, TypeAlias

Chance: TypeAlias = Literal["shared", "tape", "inject", "independent"]
"""How the randomness of both sides is coupled, see `docs/verify.md`."""


class Status(StrEnum):
    """How a level or a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_SHOWN = "not shown"
    SKIPPED = "skipped"
    ERROR = "error"
    INTERRUPTED = "interrupted"


class Verdict(StrEnum):
    """The answer to the whole question."""

    EQUAL = "EQUAL"
    DIFFERENT = "DIFFERENT"
    NOT_SHOWN = "NOT SHOWN"
    ERROR = "ERROR"

    @property
    def exit_code(self) -> int:
        """What the command line ends with."""
        return {"EQUAL": 0, "DIFFERENT": 1, "ERROR": 2, "NOT SHOWN": 3}[self.value]


@dataclass(frozen=True)
class Check:
    """One thing that a level looked at.

    Attributes:
        name: What.
        status: How it ended.
        detail: What was seen, in words.
    """

    name: str
    status: Status
    detail: str = ""


@dataclass(frozen=True)
class Divergence:
    """The first place at which two sides differ, and how to get there.

    Attributes:
        source: Who chose the actions.
        seed: Seed of the episode.
        step: Actions that lead there; 0 is the reset.
        column: What differs, such as `obs['x']` or `reward`.
        index: Place within the value.
        reference: The reference's value.
        candidate: The candidate's.
        error: Absolute difference, `None` where there is none.
        actions: All actions up to there, as plain data.
        shrunk: The shortest sequence of actions that was found to lead to a difference, or `None`
            where nobody looked for one.
        shrunk_difference: What differs after that one, in words.
        test: A pytest module that fails as long as both sides differ there.
    """

    source: str
    seed: int
    step: int
    column: str
    index: tuple[int, ...]
    reference: Any
    candidate: Any
    error: float | None
    actions: tuple[Any, ...]
    shrunk: tuple[Any, ...] | None = None
    shrunk_difference: str | None = None
    test: str | None = None

    def __str__(self) -> str:
        place = f"{self.column}{list(self.index)}" if self.index else self.column
        where = f"step {self.step}" if self.step else "the reset"
        off = f" (off by {self.error:.3g})" if self.error else ""
        return (
            f"{where} of the episode with seed {self.seed} ({self.source}), {place}: "
            f"reference {self.reference}, candidate {self.candidate}{off}"
        )


@dataclass(frozen=True)
class LevelResult:
    """What a level found.

    Attributes:
        status: How it ended.
        summary: The result in one sentence.
        checks: What was looked at.
        seconds: How long it took.
        counts: How much was looked at, by name.
    """

    level: ClassVar[int]
    title: ClassVar[str]

    status: Status
    summary: str
    checks: tuple[Check, ...] = ()
    seconds: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def first_divergence(self) -> Divergence | None:
        """Where both sides differ first, where this level found that."""
        return None


@dataclass(frozen=True)
class L0Result(LevelResult):
    """Interfaces and spaces are those of the contract, and seeds repeat."""

    level: ClassVar[int] = 0
    title: ClassVar[str] = "interface"


@dataclass(frozen=True)
class L1Result(LevelResult):
    """Functions agree on examples that hypothesis makes up, and invariants hold.

    Attributes:
        counterexamples: Smallest arguments found for each property that fails, in words.
    """

    level: ClassVar[int] = 1
    title: ClassVar[str] = "properties"

    counterexamples: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class L2Result(LevelResult):
    """Sequences of operations in lockstep, and single steps from injected states.

    Attributes:
        operations: The shortest sequence of operations that was found to tell both sides apart.
        difference: What differs after it, in words.
    """

    level: ClassVar[int] = 2
    title: ClassVar[str] = "operations"

    operations: tuple[str, ...] = ()
    difference: str | None = None


@dataclass(frozen=True)
class Anchored:
    """One-step errors, measured from the reference's state before each step.

    Attributes:
        episodes: Episodes measured.
        steps: Steps measured.
        one_step: Largest error of a single step, by column.
        free: Largest error of the same episodes without re-anchoring, by column.
        curve: Largest error over all columns at each step, `[step, one step, free]`, thinned.
    """

    episodes: int
    steps: int
    one_step: dict[str, float]
    free: dict[str, float]
    curve: tuple[tuple[int, float, float], ...] = ()


@dataclass(frozen=True)
class SourceResult:
    """What was played with one source of actions.

    Attributes:
        name: The source.
        episodes: Episodes played.
        steps: Steps compared.
        terminated: Episodes that terminated.
        truncated: Episodes that were truncated.
        cut: Episodes cut off by `max_steps`.
        different: Episodes that differ.
        largest: Largest difference of numbers, by column; of single steps where each begins at the
            reference's state.
    """

    name: str
    episodes: int
    steps: int
    terminated: int
    truncated: int
    cut: int
    different: int
    largest: dict[str, float]


@dataclass(frozen=True)
class L3Result(LevelResult):
    """Whole episodes, every step.

    Attributes:
        sources: What was played.
        divergence: The first difference.
        anchored: One-step errors, where both sides have states.
        seeds: Seeds of the episodes, by source.
        p_values: With independent chance: p-value of each two-sample test after Holm's correction.
        throughput: Steps a second of each side, by side.
    """

    level: ClassVar[int] = 3
    title: ClassVar[str] = "episodes"

    sources: tuple[SourceResult, ...] = ()
    divergence: Divergence | None = None
    anchored: Anchored | None = None
    seeds: dict[str, list[int]] = field(default_factory=dict)
    p_values: dict[str, float] = field(default_factory=dict)
    throughput: dict[str, float] = field(default_factory=dict)

    @property
    def first_divergence(self) -> Divergence | None:
        """Where both sides differ first."""
        return self.divergence


@dataclass(frozen=True)
class Equivalence:
    """Two one-sided tests (TOST) of returns against a margin.

    Attributes:
        outcome: `"IDENTICAL"`, `"EQUIVALENT"`, `"DIFFERENT"` or `"NOT SHOWN"`.
        paired: Whether returns were paired by policy and evaluation seed.
        margin: Difference of means that counts as none, fixed beforehand.
        alpha: Level of each test.
        n: Pairs, or episodes of each side.
        mean_reference: Mean return of the reference.
        mean_candidate: Mean return of the candidate.
        difference: Candidate less reference.
        deviation: Standard deviation of the differences of pairs; unpaired, of one episode.
        low: Lower end of the interval of level 1 - 2 alpha.
        high: Its upper end.
        p_tost: The larger of the two one-sided p-values.
        p_difference: p-value of the test for a difference.
        power: Chance that this test shows equivalence if the true difference is 0.
        n_for_power: Pairs (or episodes of each side) that a power of 90 % needs; `None` beyond a
            million.
        method: What computed the test.
    """

    outcome: str
    paired: bool
    margin: float
    alpha: float
    n: int
    mean_reference: float
    mean_candidate: float
    difference: float
    deviation: float
    low: float
    high: float
    p_tost: float
    p_difference: float
    power: float
    n_for_power: int | None
    method: str


@dataclass(frozen=True)
class L4Result(LevelResult):
    """Policies are worth the same on both sides.

    Attributes:
        test: The test over all policies; `None` where it did not come to one.
        by_policy: The same test for each policy alone, which is a look, not part of the verdict.
        returns: Returns of each policy: name, reference's, candidate's.
        seeds: The evaluation seeds, which all policies share.
    """

    level: ClassVar[int] = 4
    title: ClassVar[str] = "policies"

    test: Equivalence | None = None
    by_policy: dict[str, Equivalence] = field(default_factory=dict)
    returns: dict[str, tuple[list[float], list[float]]] = field(default_factory=dict)
    seeds: dict[str, list[int]] = field(default_factory=dict)
