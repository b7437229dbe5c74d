/** One row of numbers from a battle: everything that decides how it goes on. */

import {legalActions, REQUESTS} from './choices.js';
import {COLUMNS, HEADER, VOLATILES, WIDTH} from './schema.js';
import {dex} from './showdown.js';

const STATUSES = ['', 'brn', 'par', 'slp', 'frz', 'psn', 'tox'];
const TYPES = [
	'Normal', 'Fighting', 'Flying', 'Poison', 'Ground', 'Rock', 'Bug', 'Ghost', 'Fire', 'Water', 'Grass',
	'Electric', 'Psychic', 'Ice', 'Dragon',
];
const STATS = ['atk', 'def', 'spe', 'spa'];
const BOOSTS = [...STATS, 'accuracy', 'evasion'];
const SPECIAL_MOVES = {'': 0, nomove: 166, cannotmove: 167};
const WINNERS = {p1: 1, p2: 2};
const SIZE = 6;
const SLOTS = 4;

/** What each volatile holds beside what all of them do; anything else is refused. */
const HELD = {
	confusion: ['time'], flinch: ['duration'], mustrecharge: [], substitute: ['hp'],
	partialtrappinglock: ['duration', 'totalDuration', 'move', 'damage', 'locked'],
	partiallytrapped: ['duration', 'maybeLocked'], fakepartiallytrapped: ['duration', 'counterpart'],
	lockedmove: ['time', 'move', 'accuracy'], rage: ['move', 'accuracy'], twoturnmove: ['move'],
	invulnerability: [], bide: ['time', 'damage'], disable: ['time', 'slotIndex', 'move'], leechseed: [],
	residualdmg: ['counter'], mist: [], focusenergy: [], lightscreen: [], reflect: [], minimize: [], defensecurl: [],
};
const SHARED = new Set(['id', 'name', 'target', 'effectOrder', 'source', 'sourceSlot', 'sourceEffect']);

/** Number of a move by its id, with those of Showdown's own that are no moves. */
function moveNumber(id) {
	if (id in SPECIAL_MOVES) return SPECIAL_MOVES[id];
	const {num} = dex.moves.get(id);
	if (!(num >= 1 && num <= 165)) throw new Error(`move "${id}" has no number in generation 1`);
	return num;
}

/** The part of a stat block that a row has; both halves of Special are one. */
function four(stats, what) {
	if (stats.spa !== stats.spd) throw new Error(`${what}: spa ${stats.spa} is not spd ${stats.spd}`);
	return STATS.map(stat => stats[stat]);
}

/** Reads rows off one battle; team slots are those of the teams it began with. */
export class Reader {
	/** @param {object} battle A Showdown battle that has begun. */
	constructor(battle) {
		this.battle = battle;
		this.teams = battle.sides.map(side => [...side.pokemon]);
	}

	/** The teams before the battle: `HEADER` for each of six Pokémon, zeros where there is none. */
	header() {
		return this.teams.map(team => Array.from({length: SIZE}, (_, slot) => {
			const pokemon = team[slot];
			if (!pokemon) return HEADER.map(() => 0);
			const {ivs, evs} = pokemon.set;
			const stats = pokemon.baseStoredStats;
			const slots = pokemon.baseMoveSlots;
			const values = {
				species: pokemon.baseSpecies.num, level: pokemon.level, hp: pokemon.maxhp,
				atk: stats.atk, def: stats.def, spe: stats.spe, spc: four(stats, 'stats')[3],
			};
			for (const stat of ['hp', 'atk', 'def', 'spe']) {
				values[`dv_${stat}`] = ivs[stat] / 2;
				values[`ev_${stat}`] = evs[stat];
			}
			values.dv_spc = four(ivs, 'DVs')[3] / 2;
			values.ev_spc = four(evs, 'EVs')[3];
			for (let at = 0; at < SLOTS; at++) {
				values[`move${at}`] = slots[at] ? moveNumber(slots[at].id) : 0;
				values[`pp${at}`] = slots[at]?.pp ?? 0;
			}
			return HEADER.map(name => values[name]);
		}));
	}

	/** Everything as it is now, `WIDTH` numbers. */
	row() {
		const {battle} = this;
		const sides = battle.sides.map((side, player) => this.side(side, player));
		const values = {turn: battle.turn, winner: this.winner(), last_damage: battle.lastDamage};
		for (const name of Object.keys(sides[0])) values[name] = sides.map(side => side[name]);
		const row = new Int32Array(WIDTH);
		for (const [name, {begin, size}] of COLUMNS) {
			const flat = [values[name]].flat(Infinity);
			if (flat.length !== size || flat.some(value => !Number.isInteger(value))) {
				throw new Error(`column ${name}: got ${JSON.stringify(values[name])}, expected ${size} whole numbers`);
			}
			row.set(flat, begin);
		}
		return row;
	}

	winner() {
		const {battle} = this;
		if (!battle.ended) return 0;
		const side = battle.sides.find(({name}) => name === battle.winner);
		return side ? WINNERS[side.id] : 3;
	}

	side(side, player) {
		const team = this.teams[player];
		const slots = Array.from({length: SIZE}, (_, slot) => team[slot]);
		const each = read => slots.map(pokemon => (pokemon ? read(pokemon) : 0));
		const perSlot = read => slots.map(pokemon => Array.from({length: SLOTS}, (_, at) => {
			const slot = pokemon?.moveSlots[at];
			return slot ? read(slot) : 0;
		}));
		const active = side.active[0];
		const asleep = pokemon => pokemon.hp > 0 && pokemon.status === 'slp';
		return {
			request: this.battle.ended ? 0 : REQUESTS[side.requestState],
			mask: this.battle.ended ? 0 : legalActions(side).reduce((bits, action) => bits | 1 << action, 0),
			order: slots.map((_, position) => (position < team.length ? team.indexOf(side.pokemon[position]) : -1)),
			hp: each(pokemon => pokemon.hp),
			status: each(pokemon => (pokemon.hp ? STATUSES.indexOf(pokemon.status) : 0)),
			sleep: each(pokemon => (asleep(pokemon) ? pokemon.statusState.time : 0)),
			rested: each(pokemon => (asleep(pokemon) && pokemon.statusState.source?.isAlly(pokemon) ? 1 : 0)),
			moves: perSlot(slot => moveNumber(slot.id)),
			pp: perSlot(slot => slot.pp),
			base_pp: Array.from({length: SLOTS}, (_, at) => active.baseMoveSlots[at]?.pp ?? 0),
			selected_move: moveNumber(side.lastSelectedMove),
			selected_slot: side.lastSelectedMoveSlot,
			enemy_selected_move: moveNumber(side.lastEnemySelectedMove),
			enemy_last_move: moveNumber(side.lastEnemyMove?.id ?? ''),
			...this.active(active, player),
		};
	}

	/** What only the active Pokémon has; zeros where it has fainted. */
	active(pokemon, player) {
		const alive = pokemon.hp > 0;
		const known = alive ? pokemon.volatiles : {};
		for (const [id, held] of Object.entries(known)) {
			const strange = Object.keys(held).filter(key => !SHARED.has(key) && !HELD[id]?.includes(key));
			if (!HELD[id] || strange.length) throw new Error(`volatile ${id} holds ${strange.join(', ')}, which no column has`);
		}
		const foes = this.teams[1 - player];
		const held = (id, ...reads) => reads.map(read => (known[id] ? read(known[id]) : 0));
		const types = pokemon.types.map(type => TYPES.indexOf(type));
		const stat = (values, what) => (alive ? four(values, what) : STATS.map(() => 0));
		four({...pokemon.boosts}, 'stages');
		return {
			species: alive ? pokemon.species.num : 0,
			types: alive ? [types[0], types[1] ?? types[0]] : [0, 0],
			base_stats: stat(pokemon.baseStoredStats, 'base stats'),
			stored_stats: stat(pokemon.storedStats, 'stored stats'),
			stats: stat(pokemon.modifiedStats, 'modified stats'),
			boosts: BOOSTS.map(name => (alive ? pokemon.boosts[name] : 0)),
			speed: alive ? pokemon.speed : 0,
			last_move: alive ? moveNumber(pokemon.lastMove?.id ?? '') : 0,
			volatiles: VOLATILES.map(id => (known[id] || (id === 'transformed' && alive && pokemon.transformed) ? 1 : 0)),
			substitute: held('substitute', s => s.hp),
			confusion: held('confusion', s => s.time),
			toxic: held('residualdmg', s => s.counter),
			bide: held('bide', s => s.time, s => s.damage),
			trapping: held('partialtrappinglock', s => s.duration, s => s.totalDuration, s => moveNumber(s.move),
				s => s.damage, s => foes.indexOf(s.locked)),
			trapped: held('partiallytrapped', s => s.duration, s => (s.maybeLocked ? 1 : 0), s => foes.indexOf(s.source) + 1),
			fake_trapped: held('fakepartiallytrapped', s => s.duration),
			thrash: held('lockedmove', s => s.time, s => moveNumber(s.move), s => s.accuracy),
			rage: held('rage', s => s.accuracy),
			charging: held('twoturnmove', s => moveNumber(s.move)),
			disable: held('disable', s => s.time, s => s.slotIndex, s => moveNumber(s.move)),
		};
	}
}

