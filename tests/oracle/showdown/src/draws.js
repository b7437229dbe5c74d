/** Everything a battle draws from its generator, each draw with the name of the site that made it. */

import {UnknownError} from './errors.js';
import {SITES} from './schema.js';

/** What an event handler draws, by the effect, the event and, where it draws twice, the kind of draw. */
const HANDLERS = {
	'par BeforeMove': 'full paralysis',
	'confusion BeforeMove': 'confusion self-hit',
	'slp Start': 'sleep turns',
	'confusion Start': 'confusion turns',
	'substitute TryHit chance': 'substitute confusion',
	'lockedmove Start': 'thrash turns',
	'bide Start': 'bide turns',
	'disable Start sample': 'disable slot',
	'disable Start random': 'disable turns',
	'metronome Hit': 'metronome',
	'mimic Hit': 'mimic',
};

/** What the steps of a move draw, by the step and the kind of draw. */
const STEPS = {
	'tryMoveHit chance': 'accuracy',
	'tryMoveHit sample': 'hits',
	'getDamage chance': 'critical',
	'getDamage random': 'damage',
	'moveHit chance': 'secondary',
	'moveHit sample': 'trap turns',
};

/** The smallest value of the damage roll; Psywave draws from 1 in the same step. */
const DAMAGE_FROM = 217;

/**
 * Writes down every draw of a battle. It hands all calls on and changes no result.
 *
 * A draw is five numbers: its site; the smallest value, or the threshold of a chance; how many values
 * are possible; 1 where there is a threshold; the value.
 */
export class DrawLog {
	/** @param {object} battle A Showdown battle that no side has joined yet. */
	constructor(battle) {
		this.battle = battle;
		/** Five numbers a draw. */
		this.numbers = [];
		this.frames = [];
		this.kind = 'random';
		this.threshold = null;
		this.follow(battle.queue, 'sort', () => 'tie: actions');
		this.follow(battle.queue, 'insertChoice', () => 'tie: insert');
		for (const method of ['eachEvent', 'runEvent', 'fieldEvent']) {
			this.follow(battle, method, event => `tie: ${event}`);
		}
		this.follow(battle, 'singleEvent', event => `tie: ${event}`);
		for (const method of ['tryMoveHit', 'getDamage', 'moveHit']) {
			this.follow(battle.actions, method, () => method);
		}
		this.followKinds(battle.prng);
	}

	/** How many draws there were. */
	get length() {
		return this.numbers.length / 5;
	}

	/** Forget all draws but the first. */
	cut(length) {
		this.numbers.length = 5 * length;
	}

	/** Remember while a method runs that it does. */
	follow(object, method, name) {
		const original = object[method];
		const {frames} = this;
		object[method] = function (...args) {
			frames.push(name(...args));
			try {
				return original.apply(this, args);
			} finally {
				frames.pop();
			}
		};
	}

	followKinds(prng) {
		const log = this;
		const {random} = prng;
		for (const kind of ['chance', 'sample', 'shuffle']) {
			const method = kind === 'chance' ? 'randomChance' : kind;
			const original = prng[method];
			prng[method] = function (...args) {
				log.kind = kind;
				if (kind === 'chance') log.threshold = args[0];
				try {
					return original.apply(this, args);
				} finally {
					log.kind = 'random';
					log.threshold = null;
				}
			};
		}
		prng.random = function (from, to) {
			const value = random.call(this, from, to);
			log.record(from, to, value);
			return value;
		};
	}

	record(from, to, value) {
		const [first, range] = to ? [from, to - from] : [0, from];
		const site = this.site(first);
		const number = SITES.get(site);
		if (number === undefined) {
			throw new UnknownError(`draw site "${site}" (${this.frames.join(' > ')}) is not in schema.json`);
		}
		const chance = this.threshold !== null;
		// A shuffle draws from the whole list; what matters is the place among those that tie.
		const begin = this.kind === 'shuffle' ? 0 : first;
		const shown = this.kind === 'shuffle' ? value - first : value;
		this.numbers.push(number, chance ? this.threshold : begin, range, chance ? 1 : 0, shown);
	}

	site(from) {
		const frame = this.frames.at(-1) ?? 'nothing';
		if (this.kind === 'shuffle' || frame === 'tie: insert') return frame;
		if (frame.startsWith('tie: ')) {
			const handler = `${this.battle.effect.id} ${this.battle.event.id}`;
			return HANDLERS[handler] ?? HANDLERS[`${handler} ${this.kind}`] ?? handler;
		}
		if (frame === 'getDamage' && this.kind === 'random' && from !== DAMAGE_FROM) return 'psywave';
		return STEPS[`${frame} ${this.kind}`] ?? `${frame} ${this.kind}`;
	}
}
