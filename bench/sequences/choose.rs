//! Which sequences save most.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::opcode::controls;
use crate::record::{Executed, Runs, Symbol};

/// What is executed as one: at most [`BYTES`] of program and [`INSTRUCTIONS`] in number, nothing
/// after one that may jump; the byte after `CB` may be open at the end.
pub type Sequence = Vec<Symbol>;

const BYTES: usize = 8;
const INSTRUCTIONS: usize = 6;

/// Whether a handler can execute that.
fn may_be(sequence: &[Symbol]) -> bool {
    let Some((_, others)) = sequence.split_last() else { return false };
    let instructions = sequence.iter().filter(|s| !s.is_second()).count();
    !sequence[0].is_second()
        && instructions <= INSTRUCTIONS
        && sequence.iter().map(|s| s.bytes()).sum::<usize>() <= BYTES
        && !others.iter().any(|s| !s.is_second() && controls(s.byte()))
}

/// A set of sequences, as the plan of a program uses them.
struct Known {
    sequences: HashSet<Sequence>,
    longest: usize,
}

impl Known {
    fn new(sequences: &[Sequence]) -> Self {
        Self {
            sequences: sequences.iter().cloned().collect(),
            longest: sequences.iter().map(Vec::len).max().unwrap_or(1),
        }
    }

    /// Dispatches of a run: at each place the longest sequence is begun, and executed up to its first
    /// miss.
    fn dispatches(&self, run: &[Executed]) -> u64 {
        let symbols: Vec<Symbol> = run.iter().map(|e| e.symbol).collect();
        let (mut at, mut count) = (0, 0);
        while at < run.len() {
            let longest = (2..=self.longest.min(run.len() - at))
                .rev()
                .find(|n| self.sequences.contains(&symbols[at..at + n]));
            let planned = longest.unwrap_or(1);
            let missed = run[at..at + planned].iter().position(|e| e.missed);
            at += missed.map_or(planned, |i| i + 1);
            count += 1;
        }
        count
    }
}

/// Dispatches that runs take.
pub fn dispatches(runs: &Runs, sequences: &[Sequence]) -> u64 {
    let known = Known::new(sequences);
    runs.iter().map(|(run, times)| known.dispatches(run) * times).sum()
}

/// Chooses at most `n` sequences: joins the heaviest pair of neighbours in the runs, again and again.
///
/// What was joined on the way to a longer sequence stays, although it is used less then: other games
/// need it.
pub fn choose(runs: &Runs, n: usize) -> Vec<Sequence> {
    let mut merging = Merging::new(runs);
    let mut seen = BTreeSet::new();
    let mut chosen = Vec::new();
    while chosen.len() < n {
        let Some(sequence) = merging.join() else { break };
        if seen.insert(sequence.clone()) {
            chosen.push(sequence);
        }
    }
    chosen
}

/// A number that stands for a sequence or a single symbol.
type Token = u32;

/// Runs as they are put together from ever longer tokens.
struct Merging {
    /// What each token is.
    spelled: Vec<Sequence>,
    /// Each run's tokens, with whether the token's end was missed, and its weight.
    runs: Vec<(Vec<(Token, bool)>, u64)>,
    pairs: HashMap<(Token, Token), Pair>,
}

/// Two neighbours.
struct Pair {
    /// What they would make, if that may be.
    sequence: Option<Sequence>,
    weight: u64,
    /// The runs that they are in or were in.
    runs: BTreeSet<usize>,
}

impl Merging {
    fn new(runs: &Runs) -> Self {
        let mut tokens = BTreeMap::new();
        let mut spelled = Vec::new();
        let mut split = Vec::new();
        for (run, times) in runs.iter() {
            let mut token = |e: &Executed| {
                let new = spelled.len() as Token;
                let token = *tokens.entry(e.symbol).or_insert(new);
                if token == new {
                    spelled.push(vec![e.symbol]);
                }
                (token, e.missed)
            };
            split.push((run.iter().map(&mut token).collect(), times));
        }
        let mut merging = Self { spelled, runs: split, pairs: HashMap::new() };
        for run in 0..merging.runs.len() {
            merging.count(run, u64::wrapping_add);
        }
        merging
    }

    /// Adds the pairs of a run, or takes them off.
    fn count(&mut self, run: usize, change: fn(u64, u64) -> u64) {
        let Self { spelled, runs, pairs } = self;
        let (tokens, weight) = &runs[run];
        for neighbours in tokens.windows(2) {
            let [(a, false), (b, _)] = *neighbours else { continue };
            let pair = pairs.entry((a, b)).or_insert_with(|| {
                let sequence = [&spelled[a as usize][..], &spelled[b as usize][..]].concat();
                let sequence = Some(sequence).filter(|sequence| may_be(sequence));
                Pair { sequence, weight: 0, runs: BTreeSet::new() }
            });
            pair.weight = change(pair.weight, *weight);
            pair.runs.insert(run);
        }
    }

    /// Joins the pair that weighs most wherever it is, and returns what it spells.
    fn join(&mut self) -> Option<Sequence> {
        let possible = self.pairs.iter_mut().filter(|(_, p)| p.weight > 0 && p.sequence.is_some());
        let (&pair, heaviest) = possible.max_by(|(_, a), (_, b)| {
            a.weight.cmp(&b.weight).then_with(|| b.sequence.cmp(&a.sequence))
        })?;
        let runs = std::mem::take(&mut heaviest.runs);
        let sequence = heaviest.sequence.take()?;
        let joined = self.spelled.len() as Token;
        self.spelled.push(sequence.clone());
        for run in runs {
            self.count(run, u64::wrapping_sub);
            let tokens = std::mem::take(&mut self.runs[run].0);
            let mut merged = Vec::with_capacity(tokens.len());
            for token in tokens {
                match merged.last_mut() {
                    Some(last @ &mut (a, false)) if (a, token.0) == pair => {
                        *last = (joined, token.1);
                    }
                    _ => merged.push(token),
                }
            }
            self.runs[run].0 = merged;
            self.count(run, u64::wrapping_add);
        }
        Some(sequence)
    }
}
