/** Actions as numbers, requests, and the text of Showdown's choices. */

import {OracleError} from './errors.js';

/** Actions below are moves, from here on switches. */
export const FIRST_SWITCH = 4;

export const REQUESTS = {'': 3, move: 1, switch: 2};

/**
 * List the actions that a side's request allows.
 * @param {object} side A side of a Showdown battle.
 * @returns {number[]} Ascending; empty where the side waits or the battle has ended.
 */
export function legalActions(side) {
	const request = side.activeRequest;
	if (!side.requestState) return [];
	const active = request.active?.[0];
	const legal = (active?.moves ?? []).flatMap((move, slot) => (move.disabled ? [] : [slot]));
	if (!active?.trapped) {
		request.side.pokemon.forEach((pokemon, position) => {
			if (position > 0 && !pokemon.condition.endsWith(' fnt')) legal.push(FIRST_SWITCH + position);
		});
	}
	return legal;
}

/** Showdown's text for an action. */
export function choiceOf(action) {
	return action < FIRST_SWITCH ? `move ${action + 1}` : `switch ${action - FIRST_SWITCH + 1}`;
}

/**
 * Read what somebody chose for a side.
 * @param {object} side A side that has to choose.
 * @param {number|string} given An action, or `move NAME`, `move N`, `switch N`, `switch NAME`, `first`
 *   (whatever is legal first).
 * @returns {number} The action, which is legal.
 * @throws {OracleError} It is not legal, or no choice at all.
 */
export function actionOf(side, given) {
	const legal = legalActions(side);
	const fail = expected => {
		throw new OracleError(`${side.id}, turn ${side.battle.turn}: choice: got ${JSON.stringify(given)}, expected ${expected}`);
	};
	let action = given;
	if (given === 'first') return legal[0];
	if (typeof given === 'string') {
		const [kind, ...words] = given.trim().toLowerCase().split(/\s+/);
		const name = words.join('').replace(/[^a-z0-9]/g, '');
		const index = /^\d+$/.test(name) ? Number(name) - 1 : null;
		const {active, side: {pokemon} = {}} = side.activeRequest;
		if (kind === 'move' && name) {
			action = index ?? (active?.[0].moves ?? []).findIndex(move => move.id === name);
			if (action >= FIRST_SWITCH) action = -1;
		} else if (kind === 'switch' && name) {
			const position = index ?? pokemon.findIndex(({details}) => details.split(',')[0].toLowerCase().replace(/[^a-z0-9]/g, '') === name);
			action = position < 0 ? -1 : FIRST_SWITCH + position;
		}
	}
	// What may be locked shows all moves, and any of them stands for the move that Showdown then names.
	if (!legal.includes(action) && /^move /.test(given) && side.activeRequest.active?.[0].maybeLocked) return legal[0];
	if (!legal.includes(action)) fail(`one of the legal actions ${legal.join(', ')} (${legal.map(choiceOf).join(', ')})`);
	return action;
}
