"""Pong: float32 rules, the environment around them, and a reference in NumPy to read."""

from hybridenv.envs.pong.env import PongEnv, PongParams
from hybridenv.envs.pong.rules import State

__all__ = ["PongEnv", "PongParams", "State"]
