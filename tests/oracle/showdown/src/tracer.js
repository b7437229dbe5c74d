/** Answers requests, one JSON object a line: `{"do": "play", ...}` on standard input. */

import {createInterface} from 'node:readline';

import {OracleError} from './errors.js';

const methods = {
	/** Say which Showdown plays. */
	async version() {
		return {version: (await import('./showdown.js')).PINNED};
	},
	/** Play a battle, see `playRequest`; `log` asks for Showdown's messages too. */
	async play({log = false, ...request}) {
		const answer = (await import('./play.js')).playRequest(request);
		if (!log) delete answer.log;
		return answer;
	},
	/** Find a seed with which a written battle shows what it is meant to show, see `seek`. */
	async seek({log = false, ...request}) {
		const answer = (await import('./seek.js')).seek(request);
		if (!log) delete answer.log;
		return answer;
	},
	/** Play Showdown's input log, see `replay`; `log` asks for Showdown's messages too. */
	async replay({text, log = false}) {
		const answer = {source: 'input log', ...(await import('./inputlog.js')).replay(text)};
		if (!log) delete answer.log;
		return answer;
	},
};

/** Answer one line; whatever goes wrong becomes the answer. */
async function answer(line) {
	try {
		const {do: name, ...request} = JSON.parse(line);
		if (!Object.hasOwn(methods, name)) {
			throw new OracleError(`do: got ${JSON.stringify(name)}, expected one of ${Object.keys(methods).join(', ')}`);
		}
		return await methods[name](request);
	} catch (error) {
		return {error: error instanceof OracleError ? error.message : error.stack};
	}
}

for await (const line of createInterface({input: process.stdin})) {
	process.stdout.write(`${JSON.stringify(await answer(line))}\n`);
}
