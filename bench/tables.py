"""Tables in Markdown, made from the JSON files of `bench.report` and `bench.accuracy`."""

from __future__ import annotations

from bench.accuracy import JUDGES
from bench.cases import Group
from bench.report import Record, geometric_mean, medians

_NAMES = {"pyboy-silent": "PyBoy, sound off", "pyboy": "PyBoy, default"}
_SILENT, _GAMBATTE = "hybridenv/pyboy-silent", "hybridenv/gambaterm"
_MEANS: dict[Group, str] = {
    "dmg": "geometric mean, monochrome games",
    "cgb": "geometric mean, games for the Color",
}


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a table, numbers to the right."""
    lines = [head, ["---"] + ["--:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _rate(case: Record, side: str) -> str:
    rates = case["frames_per_second"].get(side)
    return f"{rates['median'] / 1000:.1f}k" if rates else "–"


def _ratio(case: Record, name: str) -> str:
    ratio = case["ratios"].get(name)
    if not ratio:
        return "–"
    return f"{ratio['median']:.1f}× ({ratio['min']:.1f}–{ratio['max']:.1f})"


def _mean(result: Record, kind: str, ratio: str, group: Group) -> str:
    found = medians(result["cases"], kind, ratio, group)
    return f"**{geometric_mean(found):.1f}×**" if found else ""


def provenance(result: Record, name: str) -> str:
    """Return how and where the record ``bench/results/NAME.json`` was measured, in words."""
    machine = result["machine"]
    versions = {v for case in result["cases"].values() for v in case["versions"].values()}
    return (
        f"Medians of {result['settings']['repeats']} interleaved repeats on {machine['cpu']} "
        f"({machine['cores']} cores), load {result['load_average']:.1f}; "
        f"{'; '.join(sorted(versions))}; {result['created'][:10]}, commit "
        f"`{result['commit'][:10]}`. Raw figures: "
        f"[`bench/results/{name}.json`](bench/results/{name}.json); measure yourself with "
        f"`make bench-{name}`."
    )


def source(result: Record, name: str, target: str) -> str:
    """Return where ``bench/results/NAME.json`` was measured and what makes it, in words."""
    machine = result["machine"]
    return (
        f"{machine['cpu']} ({machine['cores']} cores), {result['created'][:10]}, commit "
        f"`{result['commit'][:10]}`; all figures are in `bench/results/{name}.json`, which "
        f"`make {target}` writes anew."
    )


def speed_table(result: Record, kind: str) -> str:
    """Return the table of one rate case, a row a game."""
    sides = {
        "r1": ["hybridenv", "pyboy-silent", "pyboy", "gambaterm", "stable-retro"],
        "r24": ["hybridenv", "pyboy-silent", "pyboy"],
    }[kind]
    rivals = [side for side in sides if side not in ("hybridenv", "stable-retro")]
    ratios = [f"hybridenv/{side}" for side in rivals]
    head = ["Game", *(_NAMES.get(side, side) for side in sides)]
    head += [f"times {_NAMES.get(side, side)}" for side in rivals]
    rows = [
        [case["game"], *(_rate(case, side) for side in sides)]
        + [_ratio(case, ratio) for ratio in ratios]
        for case in result["cases"]
        if case["kind"] == kind
    ]
    for group, title in _MEANS.items():
        means = [_mean(result, kind, ratio, group) for ratio in ratios]
        if any(means):
            rows.append([title, *[""] * len(sides), *means])
    return table(head, rows)


def goal_table(result: Record) -> str:
    """Return the table of the promised figures; where there are any, with what is hoped for."""
    hopes = any("stretch" in goal for goal in result["goals"])
    rows = []
    for goal in result["goals"]:
        found = "–" if goal["found"] is None else _number(goal["found"])
        mark = {True: "yes", False: "**no**", None: "not measured"}[goal["reached"]]
        stretch = goal.get("stretch")
        hope = ["–" if stretch is None else _number(stretch)] if hopes else []
        rows.append([goal["goal"], _number(goal["bound"]), *hope, found, mark])
    head = ["Figure", "Goal", *(["Stretch"] if hopes else []), "Found", "Reached"]
    return table(head, rows)


def instruction_table(result: Record) -> str:
    """Return the table of host instructions for each emulated one."""
    rows = []
    for case in result["cases"]:
        if case["kind"] != "instructions":
            continue
        counted = case["values"].get("hybridenv")
        if counted is None:
            reason = case["absent"].get("callgrind", "")
            rows.append([case["game"], f"not counted: {reason}", "", "", ""])
            continue
        keys = ("host_per_frame_r24", "host_per_emulated_r24", "host_per_emulated_r1")
        per_frame, *per_emulated = (counted[key] for key in keys)
        rows.append(
            [case["game"], f"{counted['emulated_per_frame']:,.0f}", f"{per_frame:,.0f}"]
            + [f"{value:.1f}" for value in per_emulated]
        )
    if not rows:
        return "Not counted in this run."
    head = ["Game", "emulated a frame", "host a frame, r24", "host per emulated, r24", "r1"]
    return table(head, rows)


def side_by_side(accuracy: Record, result: Record) -> str:
    """Return accuracy and speed in one table: a row a judge, then a row a game."""
    rows = []
    for judge in JUDGES:
        count = accuracy["suite"][judge.key]
        ours = f"{count['passed']:,} of {count['of']:,}"
        rows.append([judge.title, ours, judge.pyboy, "", "", ""])
    cases = {(case["kind"], case["game"]): case for case in result["cases"]}
    for name, count in accuracy["lockstep"]["games"].items():
        measured = "embedded game" if name.endswith("(embedded)") else name
        row = [f"{name}: frames equal to PyBoy's", f"{count['equal']:,} of {count['of']:,}"]
        row.append("is the judge")
        for kind, ratio in (("r24", _SILENT), ("r1", _SILENT), ("r1", _GAMBATTE)):
            case = cases.get((kind, measured))
            found = case["ratios"].get(ratio) if case else None
            row.append(f"{found['median']:.1f}×" if found else "")
        rows.append(row)
    for group, title in _MEANS.items():
        means = [
            _mean(result, kind, ratio, group)
            for kind, ratio in (("r24", _SILENT), ("r1", _SILENT), ("r1", _GAMBATTE))
        ]
        if any(means):
            rows.append([title, "", "", *means])
    head = ["Judge", "hybridenv", "PyBoy¹", "r24², PyBoy = 1", "r1², PyBoy = 1"]
    return table([*head, "r1, libgambatte = 1"], rows)


def summary(result: Record) -> str:
    """Return what a person wants to see at the end of a run."""
    parts = [
        f"\nFrames a second and core, {kind}:\n{speed_table(result, kind)}"
        for kind in ("r1", "r24")
    ]
    parts.append(f"\nHost instructions:\n{instruction_table(result)}")
    parts.append(f"\n{goal_table(result)}")
    absent = {
        f"{side}: {reason}"
        for case in result["cases"]
        for side, reason in case.get("absent", {}).items()
    }
    if absent:
        parts.append("\nNot measured:\n" + "\n".join(sorted(f"- {line}" for line in absent)))
    return "\n".join(parts)
