/** Teams: Showdown's own random ones, random movesets over all moves, and written ones. */

import {OracleError} from './errors.js';
import {derivedSeed} from './seeds.js';
import {dex, PRNG, Teams} from './showdown.js';

/** Every battle is played by the rules of this format, whatever its teams. */
export const FORMAT = 'gen1randombattle';

const SIZE = 6;
const SLOTS = 4;
const STATS = ['hp', 'atk', 'def', 'spa', 'spd', 'spe'];

const standard = list => list
	.filter(entry => entry.num > 0 && !entry.isNonstandard && (entry.gen ?? 1) <= 1)
	.sort((a, b) => a.num - b.num);

/** The 151 species and the 164 moves that can be known (Struggle is not one), by number. */
const species = standard([...dex.species.all()]).filter(entry => entry.name === entry.baseSpecies);
const moves = standard([...dex.moves.all()]).filter(entry => entry.id !== 'struggle');

/** A team as Showdown's generator for the format makes it. */
function randomBattleTeam(seed) {
	return Teams.getGenerator(FORMAT, seed).getTeam();
}

/**
 * Draw six different species at any level with any DVs and any four different moves.
 *
 * One Pokémon in eight has fewer moves, so that some run out of PP.
 */
function randomMovesetTeam(seed) {
	const prng = new PRNG(seed);
	const pool = [...species];
	prng.shuffle(pool);
	return pool.slice(0, SIZE).map(entry => {
		const known = [...moves];
		prng.shuffle(known);
		const count = prng.randomChance(1, 8) ? prng.random(1, SLOTS) : SLOTS;
		const level = prng.randomChance(1, 4) ? prng.random(1, 101) : prng.random(50, 101);
		const dvs = {atk: prng.random(16), def: prng.random(16), spa: prng.random(16), spe: prng.random(16)};
		const ev = prng.randomChance(1, 2) ? 252 : prng.random(256);
		return written({
			species: entry.id, level, dvs, ev, moves: known.slice(0, count).map(move => move.id),
		}, entry.id);
	});
}

/** Moves with rules of their own, and what shows them up: status, stages, second effects, priority. */
const PECULIAR = [
	'bide', 'bind', 'clamp', 'firespin', 'wrap', 'confuseray', 'conversion', 'counter', 'dig', 'fly', 'disable',
	'dreameater', 'explosion', 'selfdestruct', 'fissure', 'guillotine', 'horndrill', 'focusenergy', 'haze', 'mist',
	'highjumpkick', 'jumpkick', 'hyperbeam', 'leechseed', 'lightscreen', 'reflect', 'metronome', 'mimic', 'mirrormove',
	'petaldance', 'thrash', 'psywave', 'rage', 'razorwind', 'skullbash', 'skyattack', 'solarbeam', 'recover', 'rest',
	'substitute', 'superfang', 'swift', 'toxic', 'transform', 'twineedle', 'furyswipes', 'thunderwave', 'spore',
	'poisonpowder', 'icebeam', 'fireblast', 'bodyslam', 'psybeam', 'headbutt', 'agility', 'swordsdance', 'minimize',
	'screech', 'quickattack', 'megadrain', 'doubleedge', 'nightshade',
];

/** Species of the mirrors: types that are immune to something, slow and fast ones. */
const MIRRORED = ['mew', 'gengar', 'chansey', 'ditto', 'venusaur', 'zapdos', 'snorlax', 'jolteon', 'electrode', 'golem'];

/**
 * Draw a team of one species, level and DVs, the same for both players, with peculiar moves: all
 * speeds tie, and the rules meet each other.
 */
function mirrorTeam(seed, number) {
	const shared = new PRNG(derivedSeed(number, 'mirrors'));
	const name = shared.sample(MIRRORED);
	const level = shared.sample([20, 50, 80, 100]);
	const prng = new PRNG(seed);
	return Array.from({length: SIZE}, () => {
		const known = [...PECULIAR];
		prng.shuffle(known);
		return written({species: name, level, moves: known.slice(0, SLOTS)}, name);
	});
}

/**
 * Make a set for Showdown of a description.
 * @param {{species: string, moves: string[], level?: number, dvs?: object, ev?: number}} given
 *   Names as Showdown knows them; DVs of atk, def, spa and spe (15 where unsaid) decide that of HP.
 * @param {string} where What to call it in errors.
 * @returns {object} The set.
 * @throws {OracleError} A name is unknown in generation 1, or a number out of range.
 */
function written(given, where) {
	const fail = (what, got, expected) => {
		throw new OracleError(`${where}: ${what}: got ${JSON.stringify(got)}, expected ${expected}`);
	};
	const {level = 100, ev = 255, dvs = {}} = given;
	const entry = dex.species.get(given.species);
	if (!species.includes(entry)) fail('species', given.species, 'one of generation 1');
	if (!Number.isInteger(level) || level < 1 || level > 100) fail('level', level, 'a number from 1 to 100');
	if (!Array.isArray(given.moves) || !given.moves.length || given.moves.length > SLOTS) {
		fail('moves', given.moves, `a list of 1 to ${SLOTS}`);
	}
	const known = given.moves.map(name => {
		const move = dex.moves.get(name);
		if (!moves.includes(move)) fail('move', name, 'one of generation 1');
		return move.id;
	});
	if (new Set(known).size !== known.length) fail('moves', given.moves, 'different ones');
	const {atk = 15, def = 15, spa = 15, spe = 15} = dvs;
	const hp = (atk % 2) * 8 + (def % 2) * 4 + (spe % 2) * 2 + (spa % 2);
	const values = {hp, atk, def, spa, spd: spa, spe};
	for (const stat of STATS) {
		if (!Number.isInteger(values[stat]) || values[stat] < 0 || values[stat] > 15) {
			fail(`DV of ${stat}`, values[stat], 'a number from 0 to 15');
		}
	}
	if (!Number.isInteger(ev) || ev < 0 || ev > 255) fail('ev', ev, 'a number from 0 to 255');
	return {
		name: entry.name, species: entry.name, item: '', ability: 'No Ability', gender: 'N', nature: '', level,
		moves: known,
		ivs: Object.fromEntries(STATS.map(stat => [stat, values[stat] * 2])),
		evs: Object.fromEntries(STATS.map(stat => [stat, ev])),
	};
}

/**
 * Make both teams of a battle.
 * @param {string|object[][]} source `gen1randombattle`, `movesets`, `mirrors`, or two written teams.
 * @param {number|string} number Of the battle, where teams are drawn.
 * @returns {object[][]} Two lists of sets for Showdown.
 * @throws {OracleError} There is no such source, or a written team is malformed.
 */
export function makeTeams(source, number) {
	const makers = {gen1randombattle: randomBattleTeam, movesets: randomMovesetTeam, mirrors: mirrorTeam};
	if (typeof source === 'string') {
		const make = makers[source];
		if (!make) throw new OracleError(`teams: got "${source}", expected ${Object.keys(makers).join(', ')} or two teams`);
		return [1, 2].map(player => make(derivedSeed(number, `${source} p${player}`), number));
	}
	if (!Array.isArray(source) || source.length !== 2) {
		throw new OracleError(`teams: got ${JSON.stringify(source)}, expected two`);
	}
	return source.map((team, player) => {
		if (!Array.isArray(team) || !team.length || team.length > SIZE) {
			throw new OracleError(`team of p${player + 1}: got ${team?.length ?? team} Pokémon, expected 1 to ${SIZE}`);
		}
		return team.map((given, slot) => written(given, `p${player + 1}, Pokémon ${slot + 1}`));
	});
}
