"""How often a trained player wins Pokémon battles, with 95 % intervals.

hybridenv train pokemon --out run
python docs/examples/pokemon_wins.py run
"""

import math
import sys

from hybridenv.envs import make
from hybridenv.train import evaluate, load


def wilson(wins: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's interval of a share of n."""
    share, spread = wins / n, z * z / n
    middle = share + spread / 2
    half = z * math.sqrt(share * (1 - share) / n + spread / n / 4)
    return (middle - half) / (1 + spread), (middle + half) / (1 + spread)


def main(folder: str, episodes: int = 1_000) -> None:
    """Play whole battles against each opponent and print the shares that were won."""
    _, policy, params = load(folder)
    for opponent in ("random", "max_damage", "heuristic"):
        env, env_params = make("pokemon", opponent=opponent)
        result = evaluate(env, env_params, policy, params, episodes=episodes, greedy=False)
        wins = int((result.scores > 0).sum())
        low, high = wilson(wins, episodes)
        found = f"{wins / episodes:.1%} ({low:.1%} to {high:.1%})"
        sys.stdout.write(f"{opponent}: won {found} of {episodes}\n")


if __name__ == "__main__":
    main(*sys.argv[1:2])
