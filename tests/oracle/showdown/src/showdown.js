/** Pokémon Showdown in the version that everything here was recorded with, or a clear error. */

import {existsSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {fileURLToPath} from 'node:url';

import {OracleError} from './errors.js';

const ROOT = new URL('../', import.meta.url);

/** The version that `package.json` pins. */
export const PINNED = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'))
	.dependencies['pokemon-showdown'];

/**
 * Check an installed package's description.
 * @param {?string} path File of the description.
 * @returns {string} Its version, which is the pinned one.
 * @throws {OracleError} Nothing is installed, or another version.
 */
function checkedVersion(path) {
	if (!existsSync(path)) {
		throw new OracleError(`pokemon-showdown is not installed in ${fileURLToPath(ROOT)}: run \`make showdown\``);
	}
	const {version} = JSON.parse(readFileSync(path, 'utf8'));
	if (version !== PINNED) {
		throw new OracleError(
			`pokemon-showdown: got version ${version}, expected ${PINNED}, whose battles the traces are: run \`make showdown\``
		);
	}
	return version;
}

checkedVersion(new URL('node_modules/pokemon-showdown/package.json', ROOT));

export const {Battle, Dex, PRNG, Teams} = createRequire(import.meta.url)('pokemon-showdown');

/** Generation 1 of Showdown's data. */
export const dex = Dex.mod('gen1');
