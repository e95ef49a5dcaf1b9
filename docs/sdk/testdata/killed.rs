// Plays one peer into the folder that is its argument, and prints what it has acknowledged: tests kill it.
#[allow(dead_code)]
#[path = "../rust/desynctool.rs"]
mod desynctool;

use desynctool::*;
use std::io::Write;

fn say(what: &str, tick: u64) {
    println!("{what} {tick}");
    std::io::stdout().flush().unwrap();
}

fn main() -> Result<()> {
    let dir = std::env::args().nth(1).expect("a folder");
    let world = |rng: u64, hp: &[i32]| {
        let mut w = World::new();
        w.set_rng(rng.to_le_bytes());
        w.archetype("Unit", 0..500u64, |i| i).column("Health", "hp", |i| hp[i as usize]);
        w
    };
    let session = Session {
        seed: 11,
        peer: "client".into(),
        build: "1.0".into(),
        kinds: vec![Kind::new("move")],
        peers: vec!["host".into(), "client".into()],
        ..Session::default()
    };
    let orders = [
        Order { player: 1, payload: vec![1, 2, 3], ..Order::default() },
        Order { sub_tick: 2, player: 1, sequence: 1, payload: vec![1], ..Order::default() },
    ];
    let (mut rng, mut hp) = (0, vec![0; 500]);
    let mut r = Recorder::create(&dir, &session, &world(rng, &hp), Some(Detail::Archetype))?;
    for tick in 0..200 {
        let w = world(rng, &hp);
        r.state(tick, &w)?;
        if tick % 10 == 0 {
            r.snapshot(&w)?;
            say("snapshot", tick);
        }
        if tick % 25 == 0 {
            r.report(&w, Some(1), &["Unit"])?;
            say("report", tick);
        }
        if tick % 40 == 0 {
            r.sync()?;
        }
        r.tick(tick, &orders[..tick as usize % 3])?;
        rng += 77;
        hp[tick as usize * 7 % 500] += 1;
        r.system("Move", &world(rng, &hp))?;
        say("tick", tick);
    }
    r.close()
}
