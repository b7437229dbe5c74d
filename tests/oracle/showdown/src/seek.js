/** Finds a seed with which a written battle shows what it is meant to show. */

import {OracleError} from './errors.js';
import {play, scripted} from './play.js';
import {derivedSeed} from './seeds.js';
import {makeTeams} from './teams.js';

/**
 * Say how many of the patterns a battle's messages match, one after the other.
 * @param {string[]} log Messages.
 * @param {RegExp[]} patterns Each has to match a message after that of the one before.
 */
function shown(log, patterns) {
	let next = 0;
	for (const line of log) {
		if (next < patterns.length && patterns[next].test(line)) next++;
	}
	return next;
}

/** The messages of the turns, for a person. */
function spoken(log) {
	return log.slice(log.indexOf('|start') + 1).filter(line => !/^\|(t:|split|upkeep|$)/.test(line)).join('\n');
}

/**
 * Try seed after seed until a written battle shows all that it should.
 * @param {object} request `name` of the battle, its `teams` and `choices`, `says` (patterns of messages,
 *   in order), `never` (patterns of which none may match), and how many seeds to try.
 * @returns {object} What `play` returns, and `tried`, the number of seeds.
 * @throws {OracleError} No seed does; it says how far the best one came.
 */
export function seek({name, teams, choices, says, never = [], tries = 2000}) {
	const [wanted, unwanted] = [says, never].map(list => list.map(pattern => new RegExp(pattern)));
	let best = -1, reason = '';
	for (let number = 0; number < tries; number++) {
		const seed = derivedSeed(`${name} ${number}`, 'battle');
		let trace;
		try {
			trace = play(seed, makeTeams(teams), scripted(choices));
		} catch (error) {
			if (!(error instanceof OracleError)) throw error;
			if (best < 0) reason = error.message;
			continue;
		}
		const found = shown(trace.log, wanted);
		const bad = unwanted.find(pattern => trace.log.some(line => pattern.test(line)));
		if (found === wanted.length && !bad) return {source: 'written', tried: number + 1, ...trace};
		if (found > best) {
			best = found;
			reason = bad ? `${bad} was said` : `nothing said ${wanted[found]}; it said\n${spoken(trace.log)}`;
		}
	}
	throw new OracleError(`${name}: none of ${tries} seeds shows it: ${reason}`);
}
