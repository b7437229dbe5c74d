/** Where everything stands in a row, and the numbers of the draw sites: `schema.json`. */

import {readFileSync} from 'node:fs';

const schema = JSON.parse(readFileSync(new URL('../schema.json', import.meta.url), 'utf8'));

export const HEADER = schema.header;
export const SITES = new Map(schema.sites.map((name, number) => [name, number]));
export const VOLATILES = schema.volatiles;

/** Columns by name: where a column begins in a row, and how many numbers it has. */
export const COLUMNS = new Map();
let end = 0;
for (const {name, shape} of schema.columns) {
	const size = shape.reduce((product, length) => product * length, 1);
	COLUMNS.set(name, {begin: end, size});
	end += size;
}

/** Numbers in a row. */
export const WIDTH = end;
