/** Seeds for whatever is drawn, from a number and a purpose. */

import {createHash} from 'node:crypto';

import {OracleError} from './errors.js';

/**
 * Derive a seed that has nothing to do with that of any other number or purpose.
 * @param {number|string} number Of the battle.
 * @param {string} purpose What it is for, such as `battle` or `p1 team`.
 * @returns {string} Four 16-bit words, `a,b,c,d`: a seed of generation 5's generator.
 */
export function derivedSeed(number, purpose) {
	const digest = createHash('sha256').update(`${number} ${purpose}`).digest();
	return [0, 2, 4, 6].map(at => digest.readUInt16BE(at)).join();
}

/**
 * Check that a seed is one of generation 5's generator.
 * @param {unknown} seed What somebody gave.
 * @returns {string} The seed, as `a,b,c,d`.
 * @throws {OracleError} It is something else.
 */
export function checkedSeed(seed) {
	const words = typeof seed === 'string' ? seed.split(',').map(Number) : [];
	if (words.length !== 4 || words.some(word => !Number.isInteger(word) || word < 0 || word > 0xffff)) {
		throw new OracleError(`seed: got ${JSON.stringify(seed)}, expected four words of 16 bits, "a,b,c,d"`);
	}
	return words.join();
}

/**
 * Read a generator's state as one number.
 * @param {string} seed `a,b,c,d`, the highest word first, or a seed of Showdown's newer generator.
 * @returns {bigint} 64 bits; 0 for the newer generator, whose state is longer.
 */
export function seedBits(seed) {
	if (seed.startsWith('sodium,')) return 0n;
	return seed.split(',').reduce((bits, word) => (bits << 16n) | BigInt(word), 0n);
}
