//! The noise generator's shift register, and its state any number of steps ahead.

/// Register width in bits.
const BITS: usize = 15;

/// One step. A one enters at the top (and at bit 6 in the narrow mode) when the two lowest bits
/// are equal.
///
/// # Source
/// Pan Docs, "Audio details, Noise channel".
const fn step(lfsr: u16, narrow: bool) -> u16 {
    let bit = (lfsr ^ lfsr >> 1 ^ 1) & 1;
    let mask = if narrow { 0x4040 } else { 0x4000 };
    (lfsr >> 1) & !mask | mask * bit
}

/// Linear maps over the complemented register, as images of its 15 bits: entry `[mode][j]` is
/// 2^j steps.
const JUMPS: [[[u16; BITS]; BITS]; 2] = [jumps(false), jumps(true)];

const fn apply(map: &[u16; BITS], mut vector: u16) -> u16 {
    let mut image = 0;
    while vector != 0 {
        image ^= map[vector.trailing_zeros() as usize];
        vector &= vector - 1;
    }
    image
}

const fn jumps(narrow: bool) -> [[u16; BITS]; BITS] {
    let mut maps = [[0; BITS]; BITS];
    let mut power = 0;
    while power < BITS {
        let mut bit = 0;
        while bit < BITS {
            maps[power][bit] = if power == 0 {
                // The complement turns "equal" into "different", which is linear.
                !step(!(1 << bit) & 0x7FFF, narrow) & 0x7FFF
            } else {
                let half = &maps[power - 1];
                apply(half, half[bit])
            };
            bit += 1;
        }
        power += 1;
    }
    maps
}

/// The register after `steps` steps, in at most 15 table look-ups of 15 entries.
pub(super) fn advance(lfsr: u16, narrow: bool, steps: u64) -> u16 {
    if steps < 8 {
        return (0..steps).fold(lfsr, |lfsr, _| step(lfsr, narrow));
    }
    // The wide register has period 32,767. The narrow one has period 127 once the bits above the
    // seventh have been shifted out.
    let mut steps = match (narrow, steps.checked_sub(BITS as u64)) {
        (false, _) => steps % 0x7FFF,
        (true, Some(beyond)) => BITS as u64 + beyond % 127,
        (true, None) => steps,
    };
    let mut state = !lfsr & 0x7FFF;
    while steps != 0 {
        state = apply(&JUMPS[usize::from(narrow)][steps.trailing_zeros() as usize], state);
        steps &= steps - 1;
    }
    !state & 0x7FFF
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_those_of_the_documents() {
        for (narrow, period) in [(false, 32_767), (true, 127)] {
            // From the reset state, after the wide bits have been shifted out.
            let start = (0..16).fold(0, |lfsr, _| step(lfsr, narrow));
            let mut lfsr = step(start, narrow);
            let mut n = 1;
            while lfsr != start {
                lfsr = step(lfsr, narrow);
                n += 1;
            }
            assert_eq!(n, period, "narrow: {narrow}");
        }
    }

    #[test]
    fn jump_equals_single_steps() {
        for narrow in [false, true] {
            for start in [0, 1, 0x2A5B, 0x7FFF, 0x7F80] {
                let mut lfsr = start;
                for steps in 0..70_000 {
                    if steps < 400 || steps % 97 == 0 {
                        assert_eq!(advance(start, narrow, steps), lfsr, "{start:04X} {steps}");
                    }
                    lfsr = step(lfsr, narrow);
                }
            }
        }
    }
}
