'use strict';
// Prints what Pokémon Showdown knows of generation 1 as JSON, for bench/pokemon_tables.py: moves,
// species, type chart and teams of its random-battle generator. Data only; run by `make pokemon-tables`.
//
//   node bench/pokemon_tables.js DIRECTORY_OF_THE_PACKAGE NUMBER_OF_TEAMS

const crypto = require('crypto');
const fs = require('fs');
const path = require('path');

const [root, teamCount] = [process.argv[2], Number(process.argv[3])];
if (!root || !teamCount) {
  console.error('pokemon_tables: expected the directory of pokemon-showdown and a number of teams');
  process.exit(2);
}
const { Battle, Dex, Teams } = require(path.resolve(root));
const dex = Dex.forFormat('gen1randombattle');

/** One hash of the compiled files that say how generation 1 is played. */
function hashOfSources() {
  const files = [];
  for (const folder of ['dist/sim', 'dist/data', 'dist/data/mods/gen1', 'dist/data/mods/gen2', 'dist/data/mods/gen3',
    'dist/data/random-battles/gen1']) {
    const at = path.join(root, folder);
    if (!fs.existsSync(at)) continue;
    for (const name of fs.readdirSync(at)) if (/\.(js|json)$/.test(name)) files.push(path.join(folder, name));
  }
  const hash = crypto.createHash('sha256');
  for (const file of files.sort()) hash.update(file).update(fs.readFileSync(path.join(root, file)));
  return { sha256: hash.digest('hex'), files: files.length };
}

/** Names of the functions in a move or its condition, so that new ones do not go unnoticed. */
function callbacks(data, prefix = '') {
  return Object.keys(data || {}).filter((key) => typeof data[key] === 'function').map((key) => prefix + key);
}

const chartNames = ['Normal', 'Fighting', 'Flying', 'Poison', 'Ground', 'Rock', 'Bug', 'Ghost', 'Fire', 'Water', 'Grass',
  'Electric', 'Psychic', 'Ice', 'Dragon'];
/** 0 immune, 5 resisted, 10, 20: tenths by which a type's attacks hurt another. */
function effectiveness(attack, defence) {
  if (!dex.getImmunity(attack, defence)) return 0;
  const power = dex.getEffectiveness(attack, defence);
  return power > 0 ? 20 : power < 0 ? 5 : 10;
}

const moves = [];
for (const entry of dex.moves.all()) {
  if (entry.gen !== 1 || entry.num < 1 || entry.num > 165 || entry.isNonstandard) continue;
  const data = dex.data.Moves[entry.id];
  moves.push({
    num: entry.num, id: entry.id, name: entry.name, type: entry.type, category: entry.category,
    power: entry.basePower, accuracy: entry.accuracy, pp: entry.pp, priority: entry.priority, target: entry.target,
    crit: entry.critRatio, multihit: entry.multihit || null, damage: entry.damage || null, ohko: entry.ohko || null,
    recoil: entry.recoil || null, drain: entry.drain || null, heal: entry.heal || null,
    selfdestruct: entry.selfdestruct || null, status: entry.status || null,
    volatile: entry.volatileStatus || null, boosts: entry.boosts || null, self: entry.self || null,
    secondaries: entry.secondaries || [], ignoreImmunity: entry.ignoreImmunity,
    ignoreEvasion: !!entry.ignoreEvasion, ignoreAccuracy: !!entry.ignoreAccuracy,
    flags: Object.keys(entry.flags), callbacks: [...callbacks(data), ...callbacks(data.condition, 'condition.')],
  });
}
moves.sort((a, b) => a.num - b.num);

const species = [];
for (const entry of dex.species.all()) {
  if (entry.num < 1 || entry.num > 151 || entry.gen !== 1 || entry.forme) continue;
  species.push({ num: entry.num, id: entry.id, name: entry.name, types: entry.types, base: entry.baseStats });
}
species.sort((a, b) => a.num - b.num);

/** Teams of the generator and the numbers a battle makes of them. */
function teams(count) {
  const all = [];
  while (all.length < count) {
    const pair = [0, 1].map((side) => Teams.generate('gen1randombattle', { seed: [1, 7, all.length >> 8, (all.length & 255) + side] }));
    const battle = new Battle({ formatid: 'gen1randombattle', seed: [1, 2, 3, 4], p1: { name: 'a', team: pair[0] }, p2: { name: 'b', team: pair[1] } });
    for (const side of battle.sides) {
      all.push(side.pokemon.map((p) => ({
        species: p.baseSpecies.num, level: p.level, moves: p.baseMoveSlots.map((slot) => dex.moves.get(slot.id).num),
        stats: [p.maxhp, p.baseStoredStats.atk, p.baseStoredStats.def, p.baseStoredStats.spa, p.baseStoredStats.spe],
        special: p.baseStoredStats.spd, haste: p.set.ivs.spe + Math.floor(p.set.evs.spe / 4), pp: p.baseMoveSlots.map((slot) => slot.maxpp),
      })));
    }
    battle.destroy();
  }
  return all.slice(0, count);
}

const chart = chartNames.map((attack) => chartNames.map((defence) => effectiveness(attack, defence)));
const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
process.stdout.write(JSON.stringify({
  source: { package: 'pokemon-showdown', version, ...hashOfSources() },
  types: chartNames, chart, moves, species, teams: teams(teamCount),
}));
