"""Read the planar models of Gymnasium's MJCF files with MuJoCo: ``make planar-models``.

Writes the tables from which `hybridenv.envs.planar.model` loads. Development only: the package
needs neither MuJoCo nor the MJCF files. Everything that the planar formulas cannot say is refused.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np

ASSETS = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
FILES = {
    "half_cheetah": "half_cheetah.xml",
    "hopper": "hopper.xml",
    "walker2d": "walker2d_v5.xml",
}
TABLES = Path(__file__).parents[1] / "python" / "hybridenv" / "envs" / "planar" / "models"

#: MuJoCo keeps impedances within these.
LEAST, GREATEST = 1e-4, 0.9999


class UnsupportedError(Exception):
    """The file has something that the planar formulas do not."""


def require(condition: bool, what: str) -> None:
    """Refuse a file that needs more than there is."""
    if not condition:
        raise UnsupportedError(what)


def plane(vector: Any) -> list[float]:
    """Take x and z of a vector whose y is 0."""
    require(abs(vector[1]) < 1e-12, f"a place outside of the plane: {vector}")
    return [float(vector[0]), float(vector[2])]


def minus(a: list[float], b: list[float]) -> list[float]:
    """Return the difference of two places."""
    return [x - y for x, y in zip(a, b, strict=True)]


def impedance(model: Any, solref: Any, solimp: Any) -> dict[str, float]:
    """Work out stiffness, damping and impedance as MuJoCo does."""
    constant, ratio = solref
    require(constant > 0, f"a direct solref: {solref}")
    require(solimp[3] == 0.5 and solimp[4] == 2, f"a midpoint or power: {solimp}")
    constant = max(constant, 2 * model.opt.timestep)  # refsafe
    low, high = np.clip(solimp[:2], LEAST, GREATEST)
    return {
        "stiffness": float(1 / (high * constant * ratio) ** 2),
        "damping": float(2 / (high * constant)),
        "low": float(low),
        "high": float(high),
        "width": float(solimp[2]),
    }


def ends(model: Any, geom: int, anchor: list[float]) -> list[list[float]]:
    """Return the ends of a capsule's axis, relative to the anchor of its body."""
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
    axis = rotation.reshape(3, 3)[:, 2] * model.geom_size[geom, 1]
    # MuJoCo's order: first the end along the axis.
    return [minus(plane(model.geom_pos[geom] + sign * axis), anchor) for sign in (1, -1)]


def collide(model: Any, a: int, b: int) -> bool:
    """Whether MuJoCo looks for contacts of two geoms."""
    bodies = model.geom_bodyid[[a, b]]
    parents = model.body_parentid[bodies]
    if bodies[0] == bodies[1] or (
        bodies.all() and (parents[0] == bodies[1] or parents[1] == bodies[0])
    ):
        return False
    types, affinities = model.geom_contype, model.geom_conaffinity
    return bool(types[a] & affinities[b] or types[b] & affinities[a])


def read(name: str, *, solved: bool = False) -> Any:
    """Return Gymnasium's model, compiled by MuJoCo: an `mujoco.MjModel`.

    Args:
        name: Of the model.
        solved: Let its solver go on until nothing improves. By default it stops where the cost
            improves by less than 1e-8, which in rare states is 1e-5 away from the minimum.
    """
    model = mujoco.MjModel.from_xml_path(str(ASSETS / FILES[name]))
    if solved:
        model.opt.tolerance, model.opt.ls_tolerance, model.opt.ls_iterations = 1e-16, 1e-6, 200
    return model


def compile_model(name: str) -> dict[str, Any]:
    """Return the table of a model."""
    model = read(name)
    opt = model.opt
    require(opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL, "elliptic friction cones")
    require(not opt.disableflags and not opt.enableflags, "flags")
    require(opt.impratio == 1 and not opt.viscosity and not opt.density, "impratio or a fluid")
    integrators = {mujoco.mjtIntegrator.mjINT_EULER: "euler", mujoco.mjtIntegrator.mjINT_RK4: "rk4"}
    require(opt.integrator in integrators, f"integrator {opt.integrator}")
    require(bool((model.jnt_type == [2, 2] + [3] * (model.nv - 2)).all()), "other joints")
    require(model.nbody == model.nv - 1, "a body without a hinge")
    require(
        not model.dof_frictionloss.any() and not model.jnt_margin.any(), "dry friction, margins"
    )
    require(not model.jnt_stiffness[:3].any() and not model.dof_damping[:3].any(), "a held root")
    require(not model.dof_armature[:3].any() and not model.jnt_limited[:3].any(), "a held root")
    require(bool((model.body_quat == [1, 0, 0, 0]).all()), "a turned body")

    anchors = [[0.0, 0.0]] + [plane(model.jnt_pos[b + 1]) for b in range(1, model.nbody)]
    bodies, joints = [], []
    for b in range(1, model.nbody):
        position = plane(model.body_pos[b])
        parent = int(model.body_parentid[b])
        if parent == 0:
            require(b == 1, "a second root")
            require(anchors[b] == [0, 0], "a root that does not turn about its origin")
            place = [position[0] - model.qpos0[0], position[1] - model.qpos0[1]]
        else:
            place = minus(
                [p + a for p, a in zip(position, anchors[b], strict=True)], anchors[parent]
            )
        rotation = np.zeros(9)
        mujoco.mju_quat2Mat(rotation, model.body_iquat[b])
        axes = rotation.reshape(3, 3)
        inertia = axes @ np.diag(model.body_inertia[b]) @ axes.T
        bodies.append(
            {
                "name": model.body(b).name,
                "parent": parent - 1,
                "anchor": [float(x) for x in place],
                "mass": float(model.body_mass[b]),
                "inertia": float(inertia[1, 1]),
                "center": minus(plane(model.body_ipos[b]), anchors[b]),
            }
        )
    motors = {}
    for a in range(model.nu):
        require(
            bool((model.actuator_gainprm[a, 0], model.actuator_biasprm[a].any()) == (1, False)),
            "motors",
        )
        motors[int(model.actuator_trnid[a, 0])] = float(model.actuator_gear[a, 0])
    require(list(motors) == sorted(motors), "motors in another order than the joints")
    for j in range(3, model.nv):
        axis = model.jnt_axis[j]
        require(abs(axis[1]) == 1, f"an axis other than y: {axis}")
        require(model.qpos0[j] == 0, "a hinge that begins turned")
        joints.append(
            {
                "sign": int(axis[1]),
                "stiffness": float(model.jnt_stiffness[j]),
                "rest": float(model.qpos_spring[j]),
                "damping": float(model.dof_damping[j]),
                "armature": float(model.dof_armature[j]),
                "limits": model.jnt_range[j].tolist() if model.jnt_limited[j] else None,
                "impedance": impedance(model, model.jnt_solref[j], model.jnt_solimp[j]),
                "invweight": float(model.dof_invweight0[j]),
                "gear": motors.get(j, 0.0),
            }
        )
    ranges = {tuple(r) for r in model.actuator_ctrlrange.tolist()}
    require(len(ranges) == 1 and bool(model.actuator_ctrllimited.all()), "different controls")

    points, pairs, capsules = [], [], []
    floor = int(np.flatnonzero(model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE)[0])
    geoms = [g for g in range(model.ngeom) if g != floor]
    require(bool((model.geom_type[geoms] == mujoco.mjtGeom.mjGEOM_CAPSULE).all()), "no capsule")
    require(not model.geom_gap.any() and len(set(model.geom_priority)) == 1, "gaps, priorities")
    require(len(set(model.geom_solmix)) == 1, "weights of a mixture")

    def contact(a: int, b: int) -> dict[str, Any]:
        both = [a, b]
        owners = model.geom_bodyid[both]
        return {
            "margin": float(model.geom_margin[both].sum()),
            "impedance": impedance(
                model, model.geom_solref[both].mean(0), model.geom_solimp[both].mean(0)
            ),
            "invweight": float(model.body_invweight0[owners, 0].sum()),
        }

    for g in geoms:
        body = int(model.geom_bodyid[g])
        radius = float(model.geom_size[g, 0])
        axis = ends(model, g, anchors[body])
        capsules.append({"body": body - 1, "ends": axis, "radius": radius})
        if collide(model, floor, g):
            require(max(model.geom_condim[[floor, g]]) == 3, "a floor without friction")
            friction = float(max(model.geom_friction[[floor, g], 0]))
            points += [
                {"body": body - 1, "place": end, "radius": radius, "friction": friction}
                | contact(floor, g)
                for end in axis
            ]
        for other in geoms:
            if other <= g or not collide(model, g, other):
                continue
            require(max(model.geom_condim[[g, other]]) == 1, "friction between bodies")
            second = int(model.geom_bodyid[other])
            pairs.append(
                {
                    "bodies": [body - 1, second - 1],
                    "ends": [axis, ends(model, other, anchors[second])],
                    "radius": radius + float(model.geom_size[other, 0]),
                }
                | contact(g, other)
            )
    versions = f"Gymnasium {gymnasium.__version__}, MuJoCo {mujoco.__version__}"
    return {
        "name": name,
        "source": f"{FILES[name]} of {versions}",
        "timestep": opt.timestep,
        "integrator": integrators[opt.integrator],
        "gravity": float(-opt.gravity[2]),
        "control": list(ranges.pop()),
        "qpos0": model.qpos0.tolist(),
        "bodies": bodies,
        "joints": joints,
        "points": points,
        "pairs": pairs,
        "capsules": capsules,
    }


def main() -> int:
    """Write the tables; the exit status."""
    for name in FILES:
        path = TABLES / f"{name}.json"
        path.write_text(json.dumps(compile_model(name), indent=1) + "\n", encoding="utf-8")
        print(f"written to {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
