"""A whole move: the phases in `before_move`, `called`, `aim`, `damage` and `land`, one by one."""

from typing import Any

from hybridenv.envs.pokemon import tables
from hybridenv.envs.pokemon.aim import aim
from hybridenv.envs.pokemon.before_move import before_move
from hybridenv.envs.pokemon.called import call, calls
from hybridenv.envs.pokemon.damage import damage_of
from hybridenv.envs.pokemon.land import after_move, come_to_end, land
from hybridenv.envs.pokemon.lanes import Lanes, Mask, most
from hybridenv.envs.pokemon.phases import phase, while_any
from hybridenv.envs.pokemon.play import Play, Tree, boost
from hybridenv.envs.pokemon.state import ACTIVE, MON, Words, pack, unpack
from hybridenv.envs.pokemon.tables import STATUS_MOVE


def play_move(line: Tree) -> Tree:
    """Play the move of one Pokémon and change sides.

    Args:
        line: A `Play` as a pytree without notes, who moves first. For both, in the same order:
            `moves`, where there is a move to play; `sleeper` and `frozen`, whether the clauses
            protect the team.

    Returns:
        The same, the other one first; nobody moves any more where somebody fainted.
    """
    row = tables.look_up(tables.moves(), unpack(ACTIVE, line["active"][0]).selected)
    moves, later = line["moves"]
    names = ("seed", "active", "mon", "last_damage")
    tree = {**{name: line[name] for name in names}, "notes": {"moves": moves}}
    tree = phase(_begin, tree, row)
    tree = _call(tree)
    row = tables.look_up(tables.moves(), tree["notes"]["move"])
    foe = unpack(ACTIVE, tree["active"][1])
    speed = _base_speed(unpack(MON[2:3], tree["mon"][0][2:3]).species)
    used = tables.look_up(tables.moves()[1:2], foe.used)
    tree = phase(_attack, tree, row, speed, used)
    clauses = {"foe_sleeper": line["sleeper"][1], "foe_frozen": line["frozen"][1]}
    tree = phase(_land, tree, row, _base_speed(foe.species), clauses, (moves, later))
    notes = tree.pop("notes")
    user, foe_words = tree["active"]
    return {
        **tree,
        "active": (_rage(foe_words, notes["rages"]), user),
        "mon": tree["mon"][::-1],
        "moves": (notes["later"], moves),
        "sleeper": line["sleeper"][::-1],
        "frozen": line["frozen"][::-1],
    }


def _rage(active: Words, left: Lanes) -> Words:
    """Let rage build more than once, of several hits."""

    def once(active: Words, left: Lanes) -> tuple[Words, Lanes]:
        fields = unpack(ACTIVE, active)
        boost(fields, left > 0, "atk", 1)
        return pack(fields), most(left - 1, 0)

    return while_any(lambda carry: carry[1] > 0, lambda carry: phase(once, *carry), (active, left))[
        0
    ]


def _base_speed(species: Lanes) -> Lanes:
    return unpack(tables.SPECIES, tables.look_up(tables.species(), species)).speed


def _begin(tree: Tree, row: Words) -> Tree:
    play = Play(tree, row)
    used, aborted = before_move(play)
    return play.tree(used=used, aborted=aborted, move=play.user.selected)


def _call(tree: Tree) -> Tree:
    """Let Metronome and Mirror Move use other moves, as often as they call each other."""

    def wanted(tree: Tree) -> Any:
        play = Play(tree)
        return calls(play, play.notes["used"], play.notes["move"])

    def once(tree: Tree) -> Tree:
        play = Play(tree)
        move = call(play, play.notes["used"], play.notes["move"])
        return play.tree(**{**play.notes, "move": move})

    return while_any(wanted, lambda tree: phase(once, tree), tree)


def _attack(tree: Tree, row: Words, speed: Lanes, used: Words) -> Tree:
    play = Play(tree, row)
    tried, hits, out, count = aim(play, play.notes["used"], play.notes["move"])
    attacks = hits & (play.row.category != STATUS_MOVE) & ~play.row.self
    counterable = unpack(tables.MOVE[1:2], used).counterable
    damage, failed = damage_of(play, attacks, speed, counterable)
    return play.tree(
        **play.notes, tried=tried, hits=hits, out=out, count=count, damage=damage, failed=failed
    )


def _land(
    tree: Tree, row: Words, foe_speed: Lanes, clauses: Tree, moves: tuple[Mask, Mask]
) -> Tree:
    play = Play(tree, row)
    notes = play.notes
    play.notes = clauses
    hits, damage, count = notes["hits"], notes["damage"], notes["count"]
    fails, rages = land(play, hits, count, damage, notes["failed"], notes["move"], foe_speed)
    come_to_end(play, notes["tried"], hits, notes["out"], fails)
    after_move(play, notes["used"], notes["aborted"])
    moved, later = moves
    fallen = moved & ((play.mon.hp == 0) | (play.foe_mon.hp == 0))
    tied = play.user.speed == play.foe.speed
    play.chance.draw(moved & ~fallen & tied, 2, "tie: Update")
    return play.tree(rages=rages, later=later & ~fallen)
