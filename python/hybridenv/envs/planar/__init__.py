"""Physics of planar mechanisms, with the formulas and the tables of MuJoCo's models."""

from hybridenv.envs.planar.model import Model, load
from hybridenv.envs.planar.physics import PhysicsState, advance, body_frames

__all__ = ["Model", "PhysicsState", "advance", "body_frames", "load"]
