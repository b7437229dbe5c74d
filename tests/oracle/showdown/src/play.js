/** Plays a battle and writes down everything about it. */

import {actionOf, choiceOf, legalActions} from './choices.js';
import {DrawLog} from './draws.js';
import {OracleError, UnknownError} from './errors.js';
import {checkedSeed, derivedSeed, seedBits} from './seeds.js';
import {Battle, PRNG} from './showdown.js';
import {Reader} from './state.js';
import {FORMAT, makeTeams} from './teams.js';

/** Showdown ends every battle at turn 1,000; no turn has more than a few decisions. */
const MOST_STEPS = 5000;

/** Both players choose uniformly among what is legal, player 1 first. */
export function uniform(seed) {
	const prng = new PRNG(seed);
	return side => prng.sample(legalActions(side));
}

/**
 * Both players choose what is written, step by step, until it ends.
 * @param {(number|string|null)[][]} choices For each step what each player chooses, null for a player who waits.
 */
export function scripted(choices) {
	return (side, step) => (step < choices.length ? actionOf(side, choices[step][side.n]) : null);
}

const base64 = array => Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString('base64');

/** Prepare a battle: nobody has joined it, and every draw is written down. */
function prepare(seed, teams) {
	const battle = new Battle({formatid: FORMAT, seed});
	const log = new DrawLog(battle);
	for (const [player, team] of teams.entries()) {
		battle.setPlayer(`p${player + 1}`, {name: `player ${player + 1}`, team});
	}
	return {battle, log};
}

/**
 * Hand what both players chose to a battle, which then plays on.
 * @param {object} battle A Showdown battle.
 * @param {number[]} chosen An action for each player, -1 for who waits.
 * @param {number} step For messages.
 * @returns {?Error} The error of Showdown's own by which the battle cannot go on, if any.
 * @throws {OracleError} A choice is not legal.
 */
function advance(battle, chosen, step) {
	for (const [player, action] of chosen.entries()) {
		if (action < 0) continue;
		let accepted;
		try {
			accepted = battle.choose(`p${player + 1}`, choiceOf(action));
		} catch (error) {
			if (error instanceof UnknownError) throw error;
			return error;
		}
		if (!accepted) {
			throw new OracleError(`p${player + 1}, step ${step}: ${choiceOf(action)}: ${battle.sides[player].choice.error}`);
		}
	}
	return null;
}

/**
 * Play a battle.
 * @param {string} seed Of the battle's generator.
 * @param {object[][]} teams Sets for Showdown.
 * @param {(side: object, step: number) => ?number} choose Chooses an action for a side; null ends the trace.
 * @param {boolean} partial Whether to return the battle so far where Showdown fails.
 * @returns {object} Numbers as arrays in base64: `teams`, `rows`, `actions`, `states` (of the generator
 *   at each row), `counts` (draws in the step that led to each row), `draws`; `seed` as a number, null for a seed of
 *   Showdown's newer generator; `inputLog` and `log`, Showdown's own records; `failed`, what Showdown said where it could
 *   not play the step after the last row, otherwise null.
 * @throws {Error} Showdown failed, and `partial` was not asked for.
 */
export function play(seed, teams, choose, partial = false) {
	const {battle, log} = prepare(seed, teams.map(team => team.map(set => ({...set}))));
	const reader = new Reader(battle);
	const header = reader.header();
	const rows = [], actions = [], states = [], counts = [];
	let before = 0, failed = null;
	const note = () => {
		rows.push(reader.row());
		states.push(seedBits(battle.prng.getSeed()));
		counts.push(log.length - before);
		before = log.length;
	};
	note();
	while (!battle.ended) {
		const step = actions.length;
		if (step >= MOST_STEPS) throw new Error(`no end after ${MOST_STEPS} steps`);
		const waits = battle.sides.map(side => !side.requestState);
		const chosen = battle.sides.map((side, player) => (waits[player] ? -1 : choose(side, step)));
		if (chosen.includes(null)) break;
		failed = advance(battle, chosen, step);
		if (failed !== null) {
			if (!partial) throw failed;
			log.cut(before);
			break;
		}
		actions.push(chosen);
		note();
	}
	const width = rows[0].length;
	const flat = new Int32Array(rows.length * width);
	rows.forEach((row, at) => flat.set(row, at * width));
	return {
		seed: seed.startsWith('sodium,') ? null : seedBits(seed).toString(),
		inputLog: battle.inputLog.join('\n'),
		teams: base64(Int32Array.from(header.flat(2))),
		rows: base64(flat),
		actions: base64(Int32Array.from(actions.flat())),
		states: base64(BigUint64Array.from(states)),
		counts: base64(Int32Array.from(counts)),
		draws: base64(Int32Array.from(log.numbers)),
		log: battle.log,
		failed: failed && String(failed),
	};
}

/**
 * Play the battle that a request describes.
 * @param {object} request `teams` (see `makeTeams`), `number` of the battle or `seed`, and `choices`;
 *   without choices both players choose uniformly. `partial` is that of `play`.
 */
export function playRequest({teams, number = 0, seed, choices, partial = false}) {
	const start = seed === undefined ? derivedSeed(number, 'battle') : checkedSeed(seed);
	const choose = choices ? scripted(choices) : uniform(derivedSeed(number, 'choices'));
	const source = typeof teams === 'string' ? teams : 'written';
	return {source, ...play(start, makeTeams(teams, number), choose, partial)};
}
