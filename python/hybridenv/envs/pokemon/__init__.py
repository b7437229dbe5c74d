"""Pokémon battles of generation 1, as Pokémon Showdown 0.11.11 plays them, many at once.

`engine.start` and `engine.step` play battles whose state is `state.State`; `teams` makes them.
`PokemonEnv` is the environment around them, of one player against an opponent.
"""

from hybridenv.envs.pokemon.env import PokemonEnv, PokemonParams
from hybridenv.envs.pokemon.state import State

__all__ = ["PokemonEnv", "PokemonParams", "State"]
