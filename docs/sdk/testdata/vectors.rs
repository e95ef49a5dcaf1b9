//! Writes what vectors.c writes, byte for byte, into the folder that is its argument, and checks what a description can get wrong.
#[path = "../rust/desynctool.rs"]
mod desynctool;

use desynctool::*;
use std::collections::BTreeMap;

fn unhex(digits: &str) -> Vec<u8> {
    (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap()).collect()
}

fn texts<const N: usize>(list: [(&str, &str); N]) -> BTreeMap<String, String> {
    list.into_iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

fn sums() {
    let mut s = Sha256::default();
    for _ in 0..8000 {
        s.add(&[b'a'; 67]); // over the ends of blocks
        s.add(&[b'a'; 58]);
    }
    // FIPS 180-2: a million times a
    assert_eq!(s.end().to_vec(), unhex("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
    assert_eq!(crc32c(b"123456789"), 0xE3069283);
    assert_eq!(input_hash(&[], 0, &[]).unwrap().to_vec(), unhex("df3f619804a92fdb"));
}

fn snapshot(dir: &str) -> Result<()> {
    let units = [(8u64, -16384, None), (3, 98304, Some(75i32))]; // in any order
    let mut w = World::new();
    w.set_rng(unhex("0123456789abcdef"));
    w.archetype("Infantry", &units, |u| u.0).column("Position", "x", |u| Fixed::<65536>(u.1)).column("Health", "hp", |u| u.2);
    w.write_snapshot(&Point { seed: 7, tick: 1242, peer: "host".into(), ..Point::default() }, dir)
}

/// All types, keys of two parts, several blocks, tables of all classes, a table without rows and one without columns.
fn everything(dir: &str) -> Result<()> {
    struct Row {
        has: [bool; 16],
        v: u64,
        number: usize,
    }
    let texts_of: [&[u8]; 4] = [b"", "grün".as_bytes(), b"\xff\"\\\n", b"a longer text than most"];
    let mut v = 1u64;
    let rows: Vec<Row> = (0..20000)
        .map(|number| {
            let has = [0; 16].map(|_| {
                v = v.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                v >> 61 != 0
            });
            Row { has, v, number }
        })
        .collect();
    let mut w = World::new();
    w.table(Class::Noise, "Noise", &rows[..3], |r| r.number).column("Cell", "units", |r| (r.v >> 7) as u32);
    w.archetype("Zero", &rows[..0], |r| r.number).column("Cell", "units", |r| (r.v >> 7) as u32);
    let key = |r: &Row| ((r.number as u32).wrapping_mul(2654435761) / 7, r.number as u32);
    w.archetype("Pairs", rows.iter().filter(|r| r.number % 9 != 0), key)
        .column("A", "bool", |r| Some(r.number % 3 != 0).filter(|_| r.has[0]))
        .column("A", "i8", |r| Some((r.v >> 1) as i8).filter(|_| r.has[1]))
        .column("A", "i16", |r| Some((r.v >> 2) as i16).filter(|_| r.has[2]))
        .column("A", "i32", |r| Some((r.v >> 3) as i32).filter(|_| r.has[3]))
        .column("A", "i64", |r| Some(r.v as i64).filter(|_| r.has[4]))
        .column("A", "u8", |r| Some((r.v >> 5) as u8).filter(|_| r.has[5]))
        .column("A", "u16", |r| (r.v >> 6) as u16)
        .column("A", "u32", |r| Some((r.v >> 7) as u32).filter(|_| r.has[7]))
        .column("A", "u64", |r| Some(r.v).filter(|_| r.has[8]))
        .column("A", "f32", |r| Some((r.v >> 3) as i32 as f32 / 3.0).filter(|_| r.has[9]))
        .column("A", "f64", |r| Some(r.v as i64 as f64 / 7.0).filter(|_| r.has[10]))
        .column("A", "fixed", |r| Some(Fixed::<1000>((r.v >> 40) as i64 - 9999)).filter(|_| r.has[11]))
        .column("A", "string", |r| Some(Text(texts_of[r.number % 4])).filter(|_| r.has[12]))
        .column("A", "name", |r| Some(format!("unit {}", r.number)).filter(|_| r.has[13]))
        .column("A", "bytes", |r| Some(r.v.to_le_bytes()[..r.number % 8].to_vec()).filter(|_| r.has[14]))
        .column("A", "ref", |r| Some(Ref(r.v >> 50)).filter(|_| r.has[15]));
    w.cache("Grid", &rows, |r| r.number).column("Cell", "units", |r| (r.v >> 7) as u32);
    w.archetype("Keys", 0..3, |i: u8| i);
    let mut history = [0; 32];
    history[..3].copy_from_slice(&[1, 2, 3]);
    let at = Point {
        seed: 99,
        tick: 5,
        phase: "after-orders".into(),
        native: "frame 9".into(),
        peer: "host".into(),
        epoch: 2,
        history: Some(history),
        properties: texts([("os", "linux"), ("build", "1.0")]),
    };
    w.write_snapshot(&at, dir)?;
    let s = Snapshot::open(format!("{dir}/desync_0000000000000063_0000000005.snap"))?;
    assert!(s.at == at && s.hash == w.hash()? && s.world.hash()? == s.hash && s.world.snapshot(&s.at)? == w.snapshot(&at)?);
    s.world.same_shape(&w)?;
    let t = s.world.find(Class::Archetype, "Pairs")?;
    let (names, small) = (t.column::<String>("A", "name")?, t.column::<i8>("A", "i8")?);
    let (refs, floats) = (t.column::<Ref>("A", "ref")?, t.column::<f64>("A", "f64")?);
    let (flags, fixed) = (t.column::<bool>("A", "bool")?, t.column::<Fixed<1000>>("A", "fixed")?);
    let (text, bytes) = (t.column::<Text>("A", "string")?, t.column::<&[u8]>("A", "bytes")?);
    assert_eq!(t.rows(), rows.iter().filter(|r| r.number % 9 != 0).count());
    for row in 0..t.rows() {
        let (first, second) = t.key(row);
        let r = &rows[second as usize];
        assert_eq!(first as u32, key(r).0);
        assert_eq!(names.get(row), Some(format!("unit {second}")).filter(|_| r.has[13]));
        assert_eq!(small.at(row).is_ok(), r.has[1]);
        assert_eq!(refs.get(row), Some(Ref(r.v >> 50)).filter(|_| r.has[15]));
        assert_eq!(floats.get(row), Some(r.v as i64 as f64 / 7.0).filter(|_| r.has[10]));
        assert_eq!(flags.get(row), Some(second % 3 != 0).filter(|_| r.has[0]));
        assert_eq!(fixed.get(row).map(|v| v.0), Some((r.v >> 40) as i64 - 9999).filter(|_| r.has[11]));
        assert_eq!(text.get(row), Some(Text(texts_of[r.number % 4])).filter(|_| r.has[12]));
        assert_eq!(bytes.get(row), Some(&r.v.to_le_bytes()[..r.number % 8]).filter(|_| r.has[14]));
    }
    assert!(t.column::<u8>("A", "i8").is_err() && t.column::<Fixed<999>>("A", "fixed").is_err() && t.column::<i8>("A", "none").is_err());
    assert!(s.world.find(Class::Cache, "Pairs").is_err() && Snapshot::open(format!("{dir}/none")).is_err());
    Ok(())
}

/// Mistakes in a description are reported when it is used, and states of another shape are recognised.
fn mistakes() {
    let wrong = |describe: &dyn Fn(&mut World)| {
        let mut w = World::new();
        describe(&mut w);
        assert!(w.hash().is_err() && w.snapshot(&Point::default()).is_err());
    };
    let long = "x".repeat(1025);
    wrong(&|w| drop(w.archetype("T", [1u64, 2, 1], |k| k)));
    wrong(&|w| drop(w.archetype("", [1u64], |k| k)));
    wrong(&|w| drop(w.archetype(long.clone(), [1u64], |k| k)));
    wrong(&|w| drop(w.archetype("a\0b", [1u64], |k| k)));
    wrong(&|w| drop(w.archetype("T", [1u64], |k| (k, (k, k)))));
    wrong(&|w| drop(w.archetype("T", [1u64], |k| k).column("A", "", |k| k)));
    wrong(&|w| drop(w.archetype("T", [1u64], |k| k).column("A", "b", |k| k).column("A", "b", |k| k)));
    wrong(&|w| drop(w.archetype("T", [1u64], |k| k).column("A", "b", |_| Fixed::<0>(1))));
    wrong(&|w| [1u64, 2].into_iter().for_each(|k| drop(w.archetype("T", [k], |k| k))));
    wrong(&|w| w.set_rng(vec![0; 65537]));
    let world = |describe: &dyn Fn(&mut World)| {
        let mut w = World::new();
        w.set_rng([1, 2]);
        describe(&mut w);
        w.hash().unwrap();
        w
    };
    let own = world(&|w| drop(w.archetype("T", [1u64], |k| k).column("A", "b", |k| k)));
    for other in [
        world(&|_| {}),
        world(&|w| drop(w.archetype("T", [1u64], |k| k))),
        world(&|w| drop(w.archetype("T", [1u64], |k| k).column("A", "b", Ref))),
        world(&|w| drop(w.archetype("T", [1u64], |k| (k, k)).column("A", "b", |k| k))),
        world(&|w| drop(w.archetype("U", [1u64], |k| k).column("A", "b", |k| k))),
        world(&|w| {
            w.set_rng([1]);
            w.archetype("T", [1u64], |k| k).column("A", "b", |k| k);
        }),
    ] {
        assert!(own.same_shape(&other).is_err() && other.same_shape(&own).is_err());
    }
    own.same_shape(&world(&|w| drop(w.archetype("T", [4u64, 2], |k| k).column("A", "b", |k| k)))).unwrap();
    let properties = (0..4097).map(|i| (i.to_string(), String::new())).collect();
    for at in [
        Point { native: long.clone(), ..Point::default() },
        Point { peer: long.clone(), ..Point::default() },
        Point { phase: "later".into(), ..Point::default() },
        Point { properties: texts([(&long, "")]), ..Point::default() },
        Point { properties, ..Point::default() },
    ] {
        assert!(own.snapshot(&at).is_err());
    }
}

fn order_log(dir: &str) -> Result<()> {
    let order = |player, sequence, kind, payload: &[u8]| Order { sub_tick: 16667, player, sequence, kind, payload: payload.to_vec() };
    let mut session = Session {
        seed: 7,
        peer: "host".into(),
        build: "1.0".into(),
        rate: (30, 1),
        kinds: vec![Kind::new("move"), Kind::local("chat")],
        peers: vec!["host".into(), "client".into()],
        parameters: texts([("map", "green valley")]),
        ..Session::default()
    };
    session.start.copy_from_slice(&unhex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
    let mut l = OrderLog::create(format!("{dir}/order-log.bin"), &session)?;
    l.checksum(0, &unhex("b5c8bea2d1f6a904"))?;
    l.tick(0, &[])?;
    l.marker(&Marker { kind: MarkerKind::Save, point: 1, text: "autosave".into(), ..Marker::default() })?;
    l.tick(1, &[order(1, 4, 1, &[0x67, 0x67]), order(2, 17, 0, &[0x93, 1, 0xcd, 4, 0])])?;
    l.hash(2, 0, "sync", "", &unhex("0f1e2d3c4b5a6978"))?;
    l.hash(2, 1, "sync", "quick", &[0xbe, 0xef])?;
    assert!(l.hash(2, 1, "sync", "quick", &[]).is_err() && l.checksum(2, &[0; 9]).is_err());
    assert!(l.tick(2, &[order(1, 4, 2, &[])]).is_err() && l.tick(1, &[]).is_err());
    l.close()?;
    session.peer = "nobody".into();
    assert!(OrderLog::new(Vec::new(), &session).is_err());
    Ok(())
}

/// A peer goes on to point 2, and back to the state of point 1. It knows the history hash of point 1.
fn epochs(dir: &str) -> Result<()> {
    let session = Session { seed: 7, peer: "host".into(), ..Session::default() };
    let mut root = [0; 32];
    root[0] = 1;
    let mut l = OrderLog::create(format!("{dir}/epochs.bin"), &session)?;
    l.state(0, &root)?;
    l.tick(0, &[])?;
    l.state(1, &root)?;
    let load =
        Marker { kind: MarkerKind::Load, point: 1, new_epoch: true, text: "quicksave".into(), history: l.history(), ..Marker::default() };
    l.tick(1, &[])?;
    l.marker(&load)?;
    assert!(l.marker(&load).is_err()); // a second epoch in one tick
    assert!(l.marker(&Marker { kind: MarkerKind::Leave, new_epoch: true, ..Marker::default() }).is_err());
    assert!(l.marker(&Marker { history: Some(root), ..Marker::default() }).is_err());
    l.state(1, &root)?;
    l.tick(1, &[])?;
    assert!(l.tick(1, &[]).is_err());
    l.state(2, &root)?;
    l.close()?;
    Ok(())
}

fn trace(dir: &str) -> Result<()> {
    let session = Session {
        seed: 7,
        peer: "host".into(),
        build: "1.0".into(),
        rate: (30, 1),
        parameters: texts([("map", "green valley")]),
        ..Session::default()
    };
    let sum = |name: &str, digits| vec![Sum { name: name.into(), bytes: unhex(digits) }];
    let infantry = |tick, predicted, digits| Checkpoint {
        tick,
        system: "Movement".into(),
        scope: "Infantry".into(),
        predicted,
        sums: sum("", digits),
        count: Some(250),
    };
    let mut t = Trace::create(format!("{dir}/host.trace"), &session)?;
    t.add(&infantry(0, false, "6a09e667bb67ae85"))?;
    t.add(&Checkpoint { system: "Combat".into(), sums: sum("rng", "510e"), ..Checkpoint::default() })?;
    t.add(&infantry(1, true, "9b05688c2b3e6c1f"))?;
    t.event(&Event::Input { tick: 1, player: 2, predicted: true, sums: sum("", "beef") })?;
    t.event(&Event::Save { tick: 1, sums: sum("", "1f83d9ab") })?;
    t.event(&Event::Restore { tick: 1, at: 3, sums: sum("", "1f83d9ab") })?;
    t.event(&Event::Resimulate { tick: 1, to: 2 })?;
    t.add(&Checkpoint { tick: 1, system: "two words".into(), sums: sum("", "00"), ..Checkpoint::default() })?;
    assert!(t.add(&Checkpoint::default()).is_err());
    t.close()?;
    Ok(())
}

/// A peer that plays two ticks, is away, and goes on with the host's state of point 9; at point 80 it reports on its state.
fn recorder(dir: &str) -> Result<()> {
    let world = |rng: u64| {
        let mut w = World::new();
        w.set_rng(rng.to_le_bytes());
        w.archetype("Unit", 0..3u64, |i| i).column("Health", "hp", |i| 7 + i as i32);
        w.archetype("Cell", 0..1u64, |i| i).column("Health", "hp", |i| 7 + i as i32);
        w
    };
    let session = Session {
        seed: 11,
        peer: "client".into(),
        build: "1.0".into(),
        kinds: vec![Kind::new("move"), Kind::local("chat\n\"")],
        peers: vec!["host".into(), "client".into()],
        parameters: texts([("map", "green valley")]),
        ..Session::default()
    };
    let orders = [
        Order { player: 1, payload: vec![0x0a, 0xff, 0x00], ..Order::default() },
        Order { sub_tick: 2, player: 1, sequence: 1, kind: 1, payload: Vec::new() },
    ];
    let mut history = [0; 32];
    history[0] = 9;
    let mut r = Recorder::create(dir, &session, &world(5), None)?;
    r.facts(texts([("os", "linux"), ("map", "another"), ("locale", "de_DE.UTF-8")]));
    for tick in 0..2 {
        r.state(tick, &world(5 + tick))?;
        r.tick(tick, &orders[..tick as usize])?;
    }
    r.state(2, &world(7))?;
    assert!(r.system("Move", &world(7)).is_err(), "a system between two ticks is not refused");
    r.report(&world(7), Some(1), &[])?;
    for tick in 9..80 {
        let w = world(tick);
        if tick == 9 {
            let text = "from the host".to_string();
            r.marker(&Marker {
                kind: MarkerKind::Reconnect,
                peer: 1,
                point: 9,
                new_epoch: true,
                history: Some(history),
                text,
                ..Marker::default()
            })?;
        }
        r.state(tick, &w)?;
        if tick == 9 {
            r.snapshot(&w)?;
            assert_eq!(r.history(), Some(history));
        }
        r.tick(tick, &orders[..tick as usize % 3])?;
        r.system("Move", &w)?; // which writes nothing
    }
    r.state(80, &world(80))?;
    r.report(&world(80), None, &["Unit", "Cell"])?;
    assert!(r.report(&world(80), None, &["Nobody"]).is_err() && r.root() == world(80).hash()?);
    r.close()
}

fn main() -> Result<()> {
    let dir = std::env::args().nth(1).expect("a folder");
    sums();
    mistakes();
    snapshot(&dir)?;
    everything(&dir)?;
    order_log(&dir)?;
    epochs(&dir)?;
    trace(&dir)?;
    recorder(&dir)
}
