use gb_core::*;
use std::sync::Arc;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let dir = "/work/shared/data/gameboy/mealybug-tearoom-tests";
    let mut v: Vec<_> = std::fs::read_dir(format!("{dir}/expected/DMG-blob"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    v.sort();
    let mut ok = 0;
    for p in &v {
        let name = p.file_stem().unwrap().to_str().unwrap().to_string();
        if a.len() > 1 && !name.contains(&a[1]) {
            continue;
        }
        let rom =
            Arc::new(Rom::parse(&std::fs::read(format!("{dir}/{name}.gb")).unwrap()).unwrap());
        let mut gb = GameBoy::new(rom, Profile::Hardware);
        for _ in 0..30 {
            gb.run_frame(true);
        }
        let mut buf = vec![0u8; 23040];
        screen::shades_into(gb.screen_planes(), &mut buf);
        let mut d = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(p).unwrap()));
        d.set_transformations(png::Transformations::normalize_to_color8());
        let mut r = d.read_info().unwrap();
        let mut img = vec![0; r.output_buffer_size().unwrap()];
        let info = r.next_frame(&mut img).unwrap();
        let ch = info.buffer_size() / 23040;
        let want: Vec<u8> =
            (0..23040).map(|i| 3 - (img[i * ch] as u16 + 42).div_euclid(85).min(3) as u8).collect();
        let diff: Vec<usize> = (0..23040).filter(|&i| want[i] != buf[i]).collect();
        if diff.is_empty() {
            ok += 1;
        } else {
            let lines: std::collections::BTreeSet<_> = diff.iter().map(|i| i / 160).collect();
            println!(
                "{name}: {} px differ, {} lines, first ({},{}) got {} want {}",
                diff.len(),
                lines.len(),
                diff[0] % 160,
                diff[0] / 160,
                buf[diff[0]],
                want[diff[0]]
            );
            if a.len() > 2 {
                for l in lines.iter().take(a[2].parse().unwrap()) {
                    let row = |b: &[u8]| {
                        b[l * 160..l * 160 + 160]
                            .iter()
                            .map(|x| char::from(b'0' + x))
                            .collect::<String>()
                    };
                    println!("{l:3} got  {}\n    want {}", row(&buf), row(&want));
                }
            }
        }
    }
    println!("{ok}/{}", v.len());
}
