//! The random stream that varies the starts of one environment.

/// `SplitMix64`: a 64-bit counter through a mixing function; every seed is a good seed.
///
/// # Source
/// Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The stream of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// The next number in `0..=max`: the high half of a 64 by 64 bit product, so the bias is below
    /// `max` / 2^64.
    pub fn next_up_to(&mut self, max: u32) -> u32 {
        let range = u128::from(max) + 1;
        ((u128::from(self.next_u64()) * range) >> 64) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::SplitMix64;

    #[test]
    fn matches_the_published_sequence() {
        // First outputs for seed 1234567, from the reference implementation's published test.
        let mut stream = SplitMix64::new(1_234_567);
        let got = [stream.next_u64(), stream.next_u64(), stream.next_u64()];
        assert_eq!(got, [6457827717110365317, 3203168211198807973, 9817491932198370423]);
    }

    #[test]
    fn bounded_draws_reach_both_ends_and_nothing_else() {
        let mut stream = SplitMix64::new(3);
        let mut seen = [0; 4];
        for _ in 0..400 {
            seen[stream.next_up_to(3) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| count > 60), "{seen:?}");
        assert_eq!(stream.next_up_to(0), 0);
    }
}
