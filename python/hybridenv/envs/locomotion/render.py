"""The picture of a body on its floor, drawn with NumPy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybridenv.envs.planar.model import Model
from hybridenv.envs.planar.physics import body_frames

Floats = NDArray[np.floating[Any]]

METRES_HIGH = 2.6
"""Height of what a picture shows."""
GROUND = 0.2
"""Share of the picture below the floor."""
SKY_TOP, SKY_BOTTOM, FLOOR, DARK_FLOOR, EDGE, MARK = (
    np.array(colour, np.float64)
    for colour in (
        (24, 34, 48), (62, 84, 104), (86, 94, 98), (74, 82, 86), (150, 160, 160), (226, 226, 214),
    )
)  # fmt: skip
TRUNK = np.array((226, 196, 130), np.float64)
LIMBS = tuple(
    np.array(colour, np.float64) for colour in ((72, 196, 180), (232, 120, 88), (150, 140, 220))
)
"""Colours of what hangs on the first body, one for each leg."""
TILE = 1.0
"""Metres of a tile of the floor."""
MARKS = 0.04
"""Metres that a mark is wide; there is one every `TILE` metres, and a longer one every five."""


def draw(model: Model, qpos: Floats, width: int, height: int) -> NDArray[np.uint8]:
    """Draw one body from the side; the camera goes along with x, and up when the body leaves it.

    Args:
        model: The body.
        qpos: float[nq], its coordinates.
        width: Pixels.
        height: Pixels.

    Returns:
        uint8[height, width, 3], red, green and blue; forwards is to the right, up is up. Where a
        coordinate is no finite number, only the floor at x = 0.
    """
    scale = height / METRES_HIGH  # pixels a metre
    finite = bool(np.isfinite(qpos).all())
    x, z, angle = body_frames(model, qpos).T
    middle, lift = (float(x[0]), max(0.0, float(z[0]) - 0.6 * METRES_HIGH)) if finite else (0.0, 0)
    across = middle + (np.arange(width) + 0.5 - width / 2) / scale
    up = lift + (height * (1 - GROUND) - np.arange(height) - 0.5) / scale
    picture = _scenery(across, up, scale)
    if finite:
        for capsule in model.capsules:
            b = capsule.body
            c, s = np.cos(angle[b]), np.sin(angle[b])
            ends = [(x[b] + c * p + s * q, z[b] - s * p + c * q) for p, q in capsule.ends]
            _capsule(picture, across, up, ends, capsule.radius, scale, colour(model, b))
    return picture.round().astype(np.uint8)


def colour(model: Model, body: int) -> Floats:
    """Return a body's colour, float64[3]: that of the leg it is part of."""
    if body == 0:
        return TRUNK
    while model.bodies[body].parent > 0:
        body = model.bodies[body].parent
    legs = [i for i, one in enumerate(model.bodies) if one.parent == 0]
    return LIMBS[legs.index(body) % len(LIMBS)]


def _scenery(across: Floats, up: Floats, scale: float) -> Floats:
    """Sky, floor, and marks by which one sees how far it went, float64[height, width, 3]."""
    share = np.linspace(0, 1, len(up))[:, None, None]
    picture = np.broadcast_to(
        SKY_TOP + share * (SKY_BOTTOM - SKY_TOP), (len(up), len(across), 3)
    ).copy()
    tiles = np.floor(across / TILE).astype(np.int64)
    floor = np.where(tiles[:, None] % 2 == 0, FLOOR, DARK_FLOOR)
    depth = -up[:, None]
    picture[up < 0] = floor
    picture[(up < 0) & (up > -2 / scale)] = EDGE
    nearest = np.round(across / TILE)
    is_mark = np.abs(across - nearest * TILE) < MARKS / 2
    length = np.where(nearest % 5 == 0, 0.2, 0.08)
    picture[is_mark & (depth > 0) & (depth < length)] = MARK
    return picture


def _capsule(
    picture: Floats,
    across: Floats,
    up: Floats,
    ends: list[tuple[float, float]],
    radius: float,
    scale: float,
    paint: Floats,
) -> None:
    """Paint all that is nearer to a line than a radius, with soft and darker edges."""
    (x0, z0), (x1, z1) = ends
    reach = radius + 1 / scale
    columns = np.flatnonzero((across > min(x0, x1) - reach) & (across < max(x0, x1) + reach))
    rows = np.flatnonzero((up > min(z0, z1) - reach) & (up < max(z0, z1) + reach))
    if not (columns.size and rows.size):
        return
    window = np.ix_(rows, columns)
    px, pz = across[columns][None, :] - x0, up[rows][:, None] - z0
    dx, dz = x1 - x0, z1 - z0
    along = np.clip((px * dx + pz * dz) / max(dx * dx + dz * dz, 1e-12), 0, 1)
    inside = (radius - np.hypot(px - along * dx, pz - along * dz)) * scale  # pixels to the edge
    cover = np.clip(inside + 0.5, 0, 1)[..., None]
    shade = np.where(inside < 1.5, 0.6, 1.0)[..., None]
    picture[window] += cover * (shade * paint - picture[window])
