/** Reads Showdown's input log: the seed, the teams and every choice of a battle. */

import {actionOf} from './choices.js';
import {OracleError} from './errors.js';
import {play} from './play.js';
import {checkedSeed} from './seeds.js';
import {Dex, Teams} from './showdown.js';

/** Formats of other rules than `FORMAT` would be other battles. */
const FORMATS = ['gen1randombattle', 'gen1ou'];

/** Seeds of Showdown's newer generator, and the two spellings of the older one. */
function seedOf(seed) {
	const text = Array.isArray(seed) ? seed.join() : seed;
	if (typeof text !== 'string') throw new OracleError('input log: >start has no seed');
	if (/^sodium,[0-9a-f]{1,64}$/.test(text)) return text;
	const hex = /^gen5,([0-9a-f]{16})$/.exec(text)?.[1];
	return checkedSeed(hex ? hex.match(/.{4}/g).map(word => parseInt(word, 16)).join() : text);
}

function parsed(text, where) {
	try {
		return JSON.parse(text);
	} catch {
		throw new OracleError(`input log, ${where}: got ${JSON.stringify(text.slice(0, 40))}, expected JSON`);
	}
}

/**
 * Read an input log.
 * @param {string} text Lines such as `>start {...}`, `>player p1 {...}`, `>p1 move tackle`.
 * @returns {{seed: string, teams: object[][], choices: string[][]}} What was played; the choices of each
 *   player in order.
 * @throws {OracleError} A line is missing, malformed, or none of these.
 */
export function read(text) {
	let seed = null;
	const teams = [null, null], choices = [[], []];
	for (const [number, line] of text.split('\n').entries()) {
		const where = `line ${number + 1}`;
		if (!line.trim() || /^>version(-origin)? /.test(line)) continue;
		const [, command, rest] = /^>(\S+) ?(.*)$/.exec(line) ?? [];
		if (command === 'start') {
			const options = parsed(rest, where);
			const {id} = Dex.formats.get(options.formatid);
			if (!FORMATS.includes(id)) {
				throw new OracleError(`input log, ${where}: format: got "${options.formatid}", expected one of ${FORMATS.join(', ')}`);
			}
			seed = seedOf(options.seed);
		} else if (command === 'player') {
			const [, player, json] = /^p([12]) (.*)$/.exec(rest) ?? [];
			if (!player) throw new OracleError(`input log, ${where}: got "${line.slice(0, 40)}", expected >player p1 or p2`);
			const {team} = parsed(json, where);
			teams[player - 1] = typeof team === 'string' ? Teams.unpack(team) : team;
			if (!teams[player - 1]?.length) throw new OracleError(`input log, ${where}: p${player} has no team`);
		} else if (/^p[12]$/.test(command ?? '') && /^(move|switch) /.test(rest)) {
			choices[command[1] - 1].push(rest);
		} else {
			throw new OracleError(`input log, ${where}: got "${line.slice(0, 40)}", expected >start, >player, >p1 or >p2 with move or switch`);
		}
	}
	if (seed === null) throw new OracleError('input log: it has no line >start');
	const without = teams.findIndex(team => !team);
	if (without >= 0) throw new OracleError(`input log: it has no line >player p${without + 1}`);
	return {seed, teams, choices};
}

/**
 * Play an input log to its end.
 * @param {string} text The log.
 * @returns {object} What `play` returns.
 * @throws {OracleError} It cannot be read, a choice is not legal, or choices are left over.
 */
export function replay(text) {
	const {seed, teams, choices} = read(text);
	const next = [0, 0];
	const trace = play(seed, teams, side => {
		const given = choices[side.n][next[side.n]++];
		return given === undefined ? null : actionOf(side, given);
	});
	choices.forEach((list, player) => {
		if (next[player] < list.length) {
			throw new OracleError(`input log: p${player + 1}: the battle ended before choice ${next[player] + 1} of ${list.length}`);
		}
	});
	return trace;
}
