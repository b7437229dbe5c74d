//! The two ways to draw a line against each other.

mod alike;

use super::*;
use crate::split_mix::split_mix;

/// A PPU about to draw line 50, with the given sprites (X positions) on it.
fn about_to_draw(xs: &[u8], scx: u8, wx: Option<u8>) -> Ppu {
    let mut ppu = Ppu::new(false);
    ppu.regs = Registers { lcdc: 0x93, scx, bgp: 0xE4, obp: [0xE4, 0x1B], ..Registers::default() };
    for (i, &x) in xs.iter().enumerate() {
        for (j, v) in [60, x, i as u8, 0].into_iter().enumerate() {
            ppu.write_oam(4 * i as u8 + j as u8, v, 0);
        }
    }
    if let Some(wx) = wx {
        ppu.regs.lcdc |= lcdc::WINDOW_ON;
        ppu.regs.wx = wx;
        ppu.window_armed = true;
    }
    ppu.line = 50;
    ppu.mode = 3;
    ppu.phase = Phase::HBlank;
    ppu
}

/// As [`about_to_draw`], with a window that was switched off after it was met.
fn with_slip(mut ppu: Ppu, wx: u8) -> Ppu {
    ppu.regs.lcdc &= !lcdc::WINDOW_ON;
    ppu.regs.wx = wx;
    ppu.window_armed = true;
    ppu
}

/// Dots from the start of drawing to the interrupt: by formula, by pipeline.
fn lengths(xs: &[u8], scx: u8, wx: Option<u8>) -> (u64, u64) {
    lengths_of(about_to_draw(xs, scx, wx))
}

fn lengths_of(mut ppu: Ppu) -> (u64, u64) {
    let formula = ppu.draw_dots();
    ppu.start_fifo();
    ppu.predict_hblank();
    (formula, ppu.phase_at - 1 - ppu.line_start - DRAW_DOT)
}

/// Numbers that look random, each below its bound.
fn choices(mut state: u64) -> impl FnMut(u64) -> u64 {
    move |bound| split_mix(&mut state) % bound
}

#[test]
fn formula_and_pipeline_take_equally_long() {
    let mut failures = vec![];
    for scx in 0..8 {
        for x in 0..=168 {
            let (formula, pipeline) = lengths(&[x], scx, None);
            if formula != pipeline {
                failures.push((scx, vec![x], None, formula, pipeline));
            }
        }
    }
    let mut below = choices(1);
    for _ in 0..20_000 {
        let xs: Vec<u8> = (0..below(11)).map(|_| below(176) as u8).collect();
        let scx = below(8) as u8;
        let wx = (below(2) == 0).then(|| below(180) as u8);
        if wx == Some(0) && scx != 0 {
            continue; // goes through the pipeline always
        }
        let (formula, pipeline) = lengths(&xs, scx, wx);
        if formula != pipeline {
            failures.push((scx, xs, wx, formula, pipeline));
        }
    }
    let mut slips = 0;
    for _ in 0..40_000 {
        let xs: Vec<u8> = (0..below(11)).map(|_| below(176) as u8).collect();
        let (scx, wx) = (below(8) as u8, below(180) as u8);
        let ppu = with_slip(about_to_draw(&xs, scx, None), wx);
        slips += u32::from(ppu.slip_at().is_some());
        let (formula, pipeline) = lengths_of(ppu);
        if formula != pipeline {
            failures.push((scx, xs, Some(wx), formula, pipeline));
        }
    }
    assert!(slips > 4_000, "{slips}");
    failures.sort_by_key(|f| f.1.len());
    failures.truncate(12);
    assert_eq!(failures, [], "scx, x, wx, formula, pipeline");
}

/// The line that the tests draw.
fn line(ppu: &Ppu) -> &[u8; 40] {
    &ppu.planes.as_ref().unwrap()[50]
}

#[test]
fn line_renderer_and_pipeline_draw_the_same() {
    let mut below = choices(2);
    let mut covered = [0; 4];
    for round in 0..4_000 {
        let xs: Vec<u8> = (0..below(13)).map(|_| below(176) as u8).collect();
        let wx = (below(2) == 0).then(|| below(180) as u8);
        let mut ppu = about_to_draw(&xs, below(256) as u8, wx);
        ppu.regs.lcdc ^= (below(256) as u8) & !(lcdc::ON | lcdc::WINDOW_ON);
        if ppu.intricate() {
            continue; // goes through the pipeline always
        }
        if wx.is_none() && round % 4 == 0 {
            let wx = (7 - (ppu.regs.scx & 7)).wrapping_add(8 * (1 + below(20) as u8));
            ppu = with_slip(ppu, wx);
            covered[3] += u32::from(ppu.slip_at().is_some());
        }
        ppu.regs.scy = below(256) as u8;
        ppu.window_line = below(144) as u8;
        ppu.rendering = true;
        for byte in &mut ppu.vram {
            *byte = below(256) as u8;
        }
        for i in 0..xs.len() as u8 {
            ppu.oam[usize::from(4 * i)] = 50 + below(17) as u8;
            ppu.oam[usize::from(4 * i + 2)] = below(256) as u8;
            ppu.oam[usize::from(4 * i + 3)] = below(256) as u8;
        }
        let mut piped = ppu.clone();
        ppu.draw_line();
        piped.start_fifo();
        piped.finish_fifo();
        let at = (0..40).find(|&i| line(&ppu)[i] != line(&piped)[i]);
        assert_eq!(at, None, "round {round}: xs {xs:?}, wx {wx:?}, {:?}", ppu.regs);
        assert_eq!(ppu.window_line, piped.window_line, "round {round}: wx {wx:?}");
        covered[0] += u32::from(wx.is_some());
        covered[1] += u32::from(!xs.is_empty());
        covered[2] += u32::from(line(&ppu).iter().any(|&b| b != 0));
    }
    assert!(covered[..3].iter().all(|&n| n > 1_000) && covered[3] > 300, "{covered:?}");
}
