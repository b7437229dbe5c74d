/**
 * Pokémon Showdown in this process, messages off, both players uniform over what is legal.
 *
 * Reads one line of JSON for each measurement, `{"seconds": 0.5}`, and answers with one. Battles begin
 * anew with teams of a pool that is made before anything is timed.
 */

import {createInterface} from 'node:readline';

import {choiceOf, legalActions} from '../tests/oracle/showdown/src/choices.js';
import {derivedSeed} from '../tests/oracle/showdown/src/seeds.js';
import {Battle, PINNED, PRNG} from '../tests/oracle/showdown/src/showdown.js';
import {FORMAT, makeTeams} from '../tests/oracle/showdown/src/teams.js';

const POOL = 200;

/** What writes messages and decides nothing. */
const MESSAGES = ['add', 'addSplit', 'addMove', 'attrLastMove', 'retargetLastMove', 'hint', 'debug', 'sendUpdates'];

const teams = Array.from({length: POOL}, (_, number) => makeTeams(FORMAT, number));
const choices = new PRNG(derivedSeed(0, 'bench'));
let begun = 0;

/**
 * Begin a battle of the pool.
 * @param {boolean} quiet Whether messages are left out.
 */
export function begin(number, quiet = true) {
	const battle = new Battle({formatid: FORMAT, seed: derivedSeed(number, 'battle')});
	if (quiet) for (const name of MESSAGES) battle[name] = () => {};
	for (const [player, team] of teams[number % POOL].entries()) {
		battle.setPlayer(`p${player + 1}`, {name: `player ${player + 1}`, team});
	}
	return battle;
}

/** Both players choose, and Showdown plays on. */
export function step(battle, prng) {
	const chosen = [];
	for (const side of battle.sides) {
		if (side.requestState) chosen.push([side.id, choiceOf(prng.sample(legalActions(side)))]);
	}
	for (const [side, choice] of chosen) {
		if (!battle.choose(side, choice)) throw new Error(`${side} may not ${choice}`);
	}
}

let battle = begin(begun);

/** Play for some time. */
function play(seconds) {
	const cpu = process.cpuUsage(), start = process.hrtime.bigint();
	const end = start + BigInt(Math.round(seconds * 1e9));
	let steps = 0, battles = 0;
	while (process.hrtime.bigint() < end) {
		if (battle.ended) {
			battle = begin(++begun);
			battles++;
		}
		step(battle, choices);
		steps++;
	}
	const wall = Number(process.hrtime.bigint() - start) / 1e9;
	const used = process.cpuUsage(cpu);
	return {steps, battles, wall, cpu: (used.user + used.system) / 1e6};
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
	process.stdout.write(`${JSON.stringify({version: PINNED})}\n`);
	for await (const line of createInterface({input: process.stdin})) {
		process.stdout.write(`${JSON.stringify(play(JSON.parse(line).seconds))}\n`);
	}
}
