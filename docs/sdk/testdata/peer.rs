// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

//! A peer of the game of rust/skirmish.rs with a flight recorder, which does what peer.c does, without `step`. It is a module
//! of that game: a test writes the root.
//!
//!     peer hostile SEED PACKETS    packets of any content: no panic, few bytes out
//!     peer cost TICKS              what a tick costs
//!     peer example                 the example of docs/exchange.md
use super::desynctool::*;
use super::desynctool_flight::{Flight, Layout, Options, Packet, Status, PACKET};
use super::*;
use std::alloc::{GlobalAlloc, Layout as Block, System};
use std::io::BufRead;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts allocations: a recorder makes none after it is opened.
struct Counted;
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0); // that are in use

unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, block: Block) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        BYTES.fetch_add(block.size() as u64, Ordering::Relaxed);
        System.alloc(block)
    }
    unsafe fn dealloc(&self, at: *mut u8, block: Block) {
        BYTES.fetch_sub(block.size() as u64, Ordering::Relaxed);
        System.dealloc(at, block)
    }
}

#[global_allocator]
static COUNTED: Counted = Counted;

fn allocations() -> u64 {
    ALLOCATIONS.load(Ordering::Relaxed)
}

const ROWS: usize = 8;

/// A row with a value of each type.
#[derive(Clone, Debug, Default)]
struct Sample {
    key: (u64, u64),
    alive: bool,
    has: bool,
    flag: bool,
    i8: i8,
    i16: i16,
    i32: i32,
    i64: i64,
    u8: u8,
    u16: u16,
    u32: u32,
    u64: u64,
    f32: f32,
    f64: f64,
    fixed: i64,
    to: u64,
    text: Vec<u8>,
    bytes: Vec<u8>,
    name: Vec<u8>,
}

impl Sample {
    /// The values of a row, by a number.
    fn of(i: usize, v: u64) -> Sample {
        let w: Vec<u64> = (0..16u64).map(|i| v.wrapping_mul(2 * i + 3)).map(|w| w ^ w >> 29).collect();
        let letters = |w: u64, n: u64, first: u8| (0..(w >> 8) % n).map(|i| first + ((i + w % 1000) % 26) as u8).collect();
        Sample {
            key: (i as u64 / 2 + 1, i as u64 % 2),
            alive: (v >> 50) % 8 != 0,
            has: (v >> 40) % 4 != 0,
            flag: w[0] & 1 != 0,
            i8: w[1] as i8,
            i16: w[2] as i16,
            i32: w[3] as i32,
            i64: w[4] as i64,
            u8: w[5] as u8,
            u16: w[6] as u16,
            u32: w[7] as u32,
            u64: w[8],
            f32: f32::from(w[9] as i16) / 8.0,
            f64: f64::from(w[10] as i32) / 16.0,
            fixed: i64::from(w[11] as i32),
            to: w[14] % 1000,
            text: letters(w[12], 50, b'a'),
            bytes: (0..(w[13] >> 8) % 50).map(|i| w[13].wrapping_add(7 * i) as u8).collect(),
            name: letters(w[15], 90, b'A'),
        }
    }

    fn optional<V>(&self, v: V) -> Option<V> {
        Some(v).filter(|_| self.has)
    }
}

/// All that the recorder sees.
#[derive(Clone)]
struct All {
    game: Skirmish,
    samples: Vec<Sample>,
}

impl All {
    fn new(seed: u64, fault: u64) -> Result<All> {
        let mut a = All { game: Skirmish::new(fault), samples: Vec::new() };
        a.game.start(&Session { seed, ..Session::default() })?;
        a.samples = (0..ROWS).map(|i| Sample::of(i, number_of(seed, i as u64 + 1000))).collect();
        Ok(a)
    }

    fn layout() -> Layout<All> {
        let mut l = Layout::new();
        l.rng(|a: &All| {
            let mut both = [0; 16];
            both[..8].copy_from_slice(&a.game.rng.to_le_bytes());
            both[8..].copy_from_slice(&a.game.serial.to_le_bytes());
            both
        });
        let rows: [for<'a> fn(&'a All) -> &'a [Unit]; 2] = [|a| &a.game.units[..SLOTS], |a| &a.game.units[SLOTS..]];
        for (label, rows) in TYPES.into_iter().zip(rows) {
            l.archetype(label, SLOTS, rows)
                .alive(|u| u.alive)
                .key(|u| u.id)
                .column("Health", "points", |u| u.health)
                .column("Owner", "player", |u| u.owner)
                .column("Position", "x", |u| Fixed::<65536>(u.x))
                .column("Position", "y", |u| Fixed::<65536>(u.y))
                .column("Goal", "x", |u| Fixed::<65536>(u.goal_x))
                .column("Goal", "y", |u| Fixed::<65536>(u.goal_y))
                .column("Weapon", "cooldown", |u| u.cooldown)
                .column("Weapon", "target", |u| u.target.map(Ref));
        }
        l.archetype("Player", 2, |a: &All| &a.game.kills).column("Score", "kills", |kills| *kills);
        l.archetype("Sample", ROWS, |a: &All| &a.samples)
            .alive(|s| s.alive)
            .key(|s| s.key)
            .column("All", "bool", |s| s.optional(s.flag))
            .column("All", "i8", |s| s.i8)
            .column("All", "i16", |s| s.optional(s.i16))
            .column("All", "i32", |s| s.i32)
            .column("All", "i64", |s| s.optional(s.i64))
            .column("All", "u8", |s| s.u8)
            .column("All", "u16", |s| s.optional(s.u16))
            .column("All", "u32", |s| s.u32)
            .column("All", "u64", |s| s.optional(s.u64))
            .column("All", "f32", |s| s.f32)
            .column("All", "f64", |s| s.optional(s.f64))
            .column("All", "fixed", |s| Fixed::<1000>(s.fixed))
            .column("All", "ref", |s| s.optional(Ref(s.to)))
            .string("Text", "text", 0, |s| &s.text)
            .bytes("Text", "bytes", 0, |s| &s.bytes)
            .string("Text", "name", if std::env::var_os("PEER_UNSIZED").is_some() { 0 } else { 100 }, |s| &s.name);
        l
    }

    fn world(&self) -> World {
        let mut w = self.game.world();
        w.archetype("Sample", self.samples.iter().filter(|s| s.alive), |s| s.key)
            .column("All", "bool", |s| s.optional(s.flag))
            .column("All", "i8", |s| s.i8)
            .column("All", "i16", |s| s.optional(s.i16))
            .column("All", "i32", |s| s.i32)
            .column("All", "i64", |s| s.optional(s.i64))
            .column("All", "u8", |s| s.u8)
            .column("All", "u16", |s| s.optional(s.u16))
            .column("All", "u32", |s| s.u32)
            .column("All", "u64", |s| s.optional(s.u64))
            .column("All", "f32", |s| s.f32)
            .column("All", "f64", |s| s.optional(s.f64))
            .column("All", "fixed", |s| Fixed::<1000>(s.fixed))
            .column("All", "ref", |s| s.optional(Ref(s.to)))
            .column("Text", "text", |s| Text(&s.text))
            .column("Text", "bytes", |s| &s.bytes[..])
            .column("Text", "name", |s| Text(&s.name));
        w
    }

    /// Takes a state; the cache comes from it.
    fn load(&mut self, from: &Snapshot) -> Result<()> {
        self.game.load(from, None)?;
        self.samples = vec![Sample::default(); ROWS];
        let t = from.world.find(Class::Archetype, "Sample")?;
        for row in 0..t.rows() {
            let (key, key2) = t.key(row);
            let has = t.column::<u64>("All", "u64")?.get(row).is_some();
            self.samples[(key as usize - 1) * 2 + key2 as usize] = Sample {
                key: (key, key2),
                alive: true,
                has,
                flag: t.column("All", "bool")?.get(row).unwrap_or_default(),
                i8: t.column("All", "i8")?.at(row)?,
                i16: t.column("All", "i16")?.get(row).unwrap_or_default(),
                i32: t.column("All", "i32")?.at(row)?,
                i64: t.column("All", "i64")?.get(row).unwrap_or_default(),
                u8: t.column("All", "u8")?.at(row)?,
                u16: t.column("All", "u16")?.get(row).unwrap_or_default(),
                u32: t.column("All", "u32")?.at(row)?,
                u64: t.column("All", "u64")?.get(row).unwrap_or_default(),
                f32: t.column("All", "f32")?.at(row)?,
                f64: t.column("All", "f64")?.get(row).unwrap_or_default(),
                fixed: t.column::<Fixed<1000>>("All", "fixed")?.at(row)?.0,
                to: t.column::<Ref>("All", "ref")?.get(row).map_or(0, |to| to.0),
                text: t.column::<Text>("Text", "text")?.at(row)?.0.to_vec(),
                bytes: t.column::<&[u8]>("Text", "bytes")?.at(row)?.to_vec(),
                name: t.column::<Text>("Text", "name")?.at(row)?.0.to_vec(),
            };
        }
        Ok(())
    }
}

fn number_of(seed: u64, tick: u64) -> u64 {
    seed.wrapping_add(tick).wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407)
}

struct Peer {
    a: All,
    f: Flight<All>,
    seed: u64,
    point: u64,
    ids: Vec<u64>,
    planted: (u64, usize, u64), // tick, system, kind
    rollback: bool,
}

impl Peer {
    fn open(count: usize, me: usize, seed: u64, planted: (u64, usize, u64), marked: bool, rollback: bool) -> Result<Peer> {
        let a = All::new(seed, if planted.2 == 1 { planted.0 } else { u64::MAX })?;
        let options = Options {
            budget: std::env::var("PEER_BUDGET").ok().and_then(|n| n.parse().ok()).unwrap_or(0),
            seed,
            build: "1.0".to_string(),
            peers: (0..count).map(|i| format!("peer{i}")).collect(),
            me,
            kinds: a.game.kinds(),
            marked,
            rollback,
            ..Options::default()
        };
        let ids = a.game.units.iter().filter(|u| u.alive).map(|u| u.id).collect();
        let mut p = Peer { f: Flight::open(options, All::layout())?, a, seed, point: 0, ids, planted, rollback };
        p.f.state(0, &p.a)?;
        Ok(p)
    }

    /// The orders of a tick are the same on all peers: they depend on the seed and the tick.
    fn ordered_in(&self, tick: u64) -> Vec<Order> {
        let mut rng = self.seed.wrapping_mul(31).wrapping_add(tick * 7919);
        let mut order = |n: u32| {
            let (id, target) = (self.ids[draw(&mut rng, 32) as usize], self.ids[draw(&mut rng, 32) as usize]);
            let dice = draw(&mut rng, 8);
            let side = (SIDE * CELL) as u32;
            let (x, y) = (draw(&mut rng, side), draw(&mut rng, side));
            let kind = [MOVE, ATTACK, STOP][(dice >= 4) as usize + (dice >= 7) as usize];
            Order { sub_tick: n * 1000, player: n, sequence: tick as u32, kind, payload: Command { id, target, x, y }.to_bytes() }
        };
        vec![order(0), order(1)]
    }

    fn mistake(&mut self, tick: u64, system: usize) {
        let g = &mut self.a.game;
        if (tick, system) != (self.planted.0, self.planted.1) || self.planted.2 < 2 {
            return; // 1: skirmish's own, from the tick on
        }
        let from = (self.seed % UNITS as u64) as usize;
        let i = match (0..UNITS).map(|i| (from + i) % UNITS).find(|i| g.units[*i].alive) {
            Some(i) => i,
            None => return,
        };
        let u = &mut g.units[i];
        match self.planted.2 {
            2 => u.health += 1,
            3 => {
                u.alive = false;
                g.grid[u.cell()] -= 1;
            }
            4 => drop(draw(&mut g.rng, 2)),
            5 => g.units.iter_mut().for_each(|u| u.cooldown += 1),
            6 => u.target = if u.target.is_some() { None } else { Some(1) },
            7 => g.spawn(0, 0),
            8 => g.kills[1] += 1,
            _ => {
                let i = (self.seed % ROWS as u64) as usize;
                self.a.samples[i] = Sample::of(i, number_of(self.seed, tick) + 1);
            }
        }
        ["", "Infantry", "Tank", "Player", "Sample"].iter().for_each(|label| self.f.touch(label));
    }

    fn play(&mut self, tick: u64, orders: &[Order]) -> Result<()> {
        self.f.tick(tick, orders)?;
        self.a.game.begin(tick, orders)?;
        for number in 0.. {
            let n = self.a.game.next();
            let (name, more) = (n.system.to_string(), n.more);
            if !more {
                let i = (tick % ROWS as u64) as usize;
                self.a.samples[i] = Sample::of(i, number_of(self.seed, tick));
            }
            self.mistake(tick, number);
            let touched: &[&str] = match number {
                3 => &["Infantry", "Tank", "Player", ""],
                4 => &["Infantry", "Tank", "Sample", ""],
                _ => &["Infantry", "Tank"],
            };
            touched.iter().for_each(|label| self.f.touch(label));
            self.f.system(&name, &self.a)?;
            if !more {
                break;
            }
        }
        self.f.state(tick + 1, &self.a)
    }

    fn plays(&mut self) -> Result<()> {
        self.play(self.point, &self.ordered_in(self.point))?;
        self.point += 1;
        if self.rollback {
            self.f.confirm(self.point)?;
        }
        Ok(())
    }

    fn guess(&mut self, n: u64) -> Result<()> {
        let (saved, kind) = (self.a.clone(), self.planted.2);
        self.planted.2 = 0;
        for i in 0..n {
            self.play(self.point + i, &[])?;
        }
        self.planted.2 = kind;
        self.f.rollback(self.point)?;
        self.a = saved;
        Ok(())
    }

    fn loads(&mut self, peer: usize) -> Result<()> {
        let from = Snapshot::read(&self.f.snapshot(peer)?)?;
        self.a.load(&from)?;
        self.point = from.at.tick;
        self.f.resume();
        self.f.state(self.point, &self.a)
    }

    fn snap(&self) -> Result<String> {
        Ok(hex(&self.a.world().snapshot(&Point { seed: self.seed, tick: self.point, ..Point::default() })?))
    }

    fn sends(&mut self, now: u64) -> String {
        let mut out = (self.f.status() as u8).to_string();
        while let Some(packet) = self.f.send(now) {
            out += &format!(" {}:{}", packet.to, hex(&packet));
        }
        out
    }

    fn answer(&mut self, line: &str) -> Result<String> {
        let (command, given) = line.split_once(' ').unwrap_or((line, ""));
        let number = given.parse().unwrap_or(0);
        match command {
            "play" => self.plays().map(|()| String::new()),
            "guess" => self.guess(number).map(|()| String::new()),
            "send" => Ok(self.sends(number)),
            "report" => Ok(hex(self.f.report().unwrap_or(&[]))),
            "text" => Ok(hex(self.f.text().as_bytes())),
            "snap" => self.snap(),
            "load" => match self.loads(number as usize) {
                Ok(()) => Ok(format!("- {}", self.snap()?)),
                Err(why) => Ok(why.to_string()),
            },
            "files" => Ok(self.f.files(given).err().map_or(String::new(), |why| why.to_string())),
            _ => Err("an unknown command".into()),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).filter_map(|i| u8::from_str_radix(text.get(2 * i..2 * i + 2)?, 16).ok()).collect()
}

fn serve_lines(args: &[u64]) -> Result<()> {
    let planted = (args[3], args[4] as usize, args[5]);
    let mut peer = Peer::open(args[0] as usize, args[1] as usize, args[2], planted, args[6] != 0, args[7] != 0)?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        if let Some(given) = line.strip_prefix("receive ") {
            let (from, packet) = given.split_once(' ').unwrap_or((given, ""));
            peer.f.receive(from.parse().unwrap_or(0), &unhex(packet));
            continue;
        }
        println!("{}", peer.answer(&line)?);
    }
    Ok(())
}

/// One of three peers sends packets of any content, with right checksums. The others may not panic, and answer only so much.
fn hostile(seed: u64, packets: u64) -> Result<()> {
    let (mut dice, mut sent, mut out, mut seen) = (seed, 0, 0, Vec::new());
    let mut peers = [Peer::open(3, 0, seed, (0, 0, 0), false, false)?, Peer::open(3, 1, seed, (0, 0, 0), false, false)?];
    for tick in 0.. {
        if sent >= packets {
            break;
        }
        for i in 0..2 {
            peers[i].plays()?;
            while let Some(packet) = peers[i].f.send(tick * 16) {
                if packet.to == 2 {
                    out += packet.len() as u64;
                } else {
                    peers[packet.to].f.receive(i, &packet);
                }
                if seen.len() == 64 {
                    seen.remove(draw(&mut dice, 64) as usize);
                }
                seen.push(packet.to_vec());
            }
            if peers[i].f.status() == Status::Found {
                peers[i].f.text();
                let _ = peers[i].f.snapshot(2);
                if draw(&mut dice, 10) == 0 {
                    let p = &mut peers[i];
                    p.f.resume();
                    p.f.state(p.point, &p.a)?;
                }
            }
        }
        for _ in 0..20 {
            let mut packet;
            if !seen.is_empty() && draw(&mut dice, 3) > 0 {
                packet = seen[draw(&mut dice, seen.len() as u32) as usize].clone();
                packet.truncate(packet.len() - 4);
                for _ in 0..draw(&mut dice, 5) {
                    let at = 3 + draw(&mut dice, packet.len() as u32 - 3) as usize;
                    packet[at] = if draw(&mut dice, 2) > 0 { draw(&mut dice, 256) } else { draw(&mut dice, 3) } as u8;
                }
                if draw(&mut dice, 8) == 0 {
                    packet.truncate(20 + draw(&mut dice, packet.len() as u32 - 19) as usize);
                }
            } else {
                packet = seen.first().map_or(vec![0; 20], |p: &Vec<u8>| p[..20].to_vec());
                packet[3] = 1 + draw(&mut dice, 7) as u8;
                packet[16..20].copy_from_slice(&draw(&mut dice, 3).to_le_bytes());
                for _ in 0..draw(&mut dice, 900) {
                    packet.push(if draw(&mut dice, 3) > 0 { draw(&mut dice, 4) } else { draw(&mut dice, 256) } as u8);
                }
            }
            packet[..3].copy_from_slice(b"DF\x01");
            packet[4..12].copy_from_slice(&seed.to_le_bytes());
            packet.extend(crc32c(&packet).to_le_bytes());
            let before = allocations();
            peers[draw(&mut dice, 2) as usize].f.receive(2, &packet);
            if allocations() != before {
                return Err("a packet makes a recorder allocate".into());
            }
            sent += 1;
        }
    }
    println!("{sent} packets in, {:.1} times as many bytes out", out as f64 / sent as f64 / 300.0);
    Ok(())
}

const COST_ROWS: usize = 500;
const COST_COLUMNS: usize = 55;
type CostRow = [i32; COST_COLUMNS];

/// What a tick costs: 5000 entities of 220 bytes in 10 tables, of which some values change.
fn cost(marked: bool, ticks: u64) -> Result<()> {
    let mut game: Vec<Vec<CostRow>> = vec![vec![[0; COST_COLUMNS]; COST_ROWS]; 10];
    let rows: [for<'a> fn(&'a Vec<Vec<CostRow>>) -> &'a [CostRow]; 10] =
        [|g| &g[0], |g| &g[1], |g| &g[2], |g| &g[3], |g| &g[4], |g| &g[5], |g| &g[6], |g| &g[7], |g| &g[8], |g| &g[9]];
    let empty = BYTES.load(Ordering::Relaxed);
    let mut layout = Layout::new();
    for (i, rows) in rows.into_iter().enumerate() {
        let mut t = layout.archetype(format!("n{i:02}"), COST_ROWS, rows);
        macro_rules! columns { ($($n:literal)*) => { $( t = t.column("C", concat!("n", $n), |row| row[$n]); )* } }
        columns!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54);
        drop(t);
    }
    let options = Options { peers: vec!["a".into(), "b".into()], marked, ..Options::default() };
    let mut f = Flight::open(options, layout)?;
    f.state(0, &game)?;
    let size = BYTES.load(Ordering::Relaxed) - empty;
    if size > 8 << 20 {
        return Err(format!("a recorder with a budget of 8 MiB and its layout have {size} bytes").into());
    }
    let (mut rng, mut spent) = (1, std::time::Duration::ZERO);
    let before = allocations();
    for tick in 0..ticks {
        for _ in 0..1000 {
            let table = draw(&mut rng, 3) as usize;
            let at = draw(&mut rng, (COST_ROWS * COST_COLUMNS) as u32) as usize;
            game[table][at / COST_COLUMNS][at % COST_COLUMNS] += 1;
        }
        let from = std::time::Instant::now();
        ["n00", "n01", "n02"].iter().for_each(|label| f.touch(label));
        f.tick(tick, &[])?;
        f.state(tick + 1, &game)?;
        while f.send(tick * 16).is_some() {}
        spent += from.elapsed();
    }
    if allocations() != before {
        return Err("a tick allocates".into());
    }
    let (k, seconds) = (f.holds(), spent.as_secs_f64() / ticks as f64);
    let state = (10 * COST_ROWS * COST_COLUMNS * 4) as f64 * if marked { 0.3 } else { 1.0 };
    println!(
        "{}: {:.0} us a tick, {:.2} % of a core at 60 ticks a second, {:.1} GB/s of state; {} ticks in {} KiB, {size} bytes in all",
        if marked { "marked" } else { "unmarked" },
        seconds * 1e6,
        seconds * 6000.0,
        state / seconds / 1e9,
        k.to - k.from,
        k.of >> 10
    );
    Ok(())
}

struct Soldier {
    key: u64,
    target: Option<Ref>,
    hp: i32,
    name: &'static str,
}

fn example() -> Result<()> {
    let mut soldiers = vec![Soldier { key: 9, target: Some(Ref(7)), hp: -1, name: "bob" }, Soldier { key: 7, target: None, hp: 50, name: "ann" }];
    let mut l = Layout::new();
    l.rng(|_: &Vec<Soldier>| [1, 2, 3, 4]);
    l.archetype("Soldier", 2, |s: &Vec<Soldier>| s)
        .key(|s| s.key)
        .column("Weapon", "target", |s| s.target)
        .column("Health", "points", |s| s.hp)
        .string("Name", "text", 8, |s| s.name.as_bytes());
    let options = Options { seed: 7, peers: vec!["host".into(), "client".into()], kinds: vec![Kind::new("bonus")], ..Options::default() };
    let mut f = Flight::open(options, l)?;
    f.state(0, &soldiers)?;
    let show = |f: &Flight<_>, point| println!("root {:016x}\nhistory {:016x}", f.hash(point).unwrap_or(0), f.history(point).unwrap_or(0));
    show(&f, 0);
    let beat: Option<Packet> = f.send(0);
    println!("beat {}", hex(&beat.ok_or("there is no beat")?));
    f.tick(0, &[Order { sub_tick: 250, player: 1, sequence: 3, kind: 0, payload: vec![0xab, 0xcd] }])?;
    soldiers[1].hp = 49;
    f.state(1, &soldiers)?;
    show(&f, 1);
    Ok(())
}

pub fn run() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let n: Vec<u64> = args.iter().map(|a| a.parse().unwrap_or(0)).collect();
    assert!(PACKET == 1000);
    let done = match args.first().map(String::as_str) {
        Some("hostile") if n.len() == 3 => hostile(n[1], n[2]),
        Some("cost") if n.len() == 2 => cost(false, n[1]).and_then(|()| cost(true, n[1])),
        Some("example") => example(),
        _ if n.len() == 8 => serve_lines(&n),
        _ => Err("expected COUNT SELF SEED TICK SYSTEM KIND MARKED ROLLBACK, hostile, cost or example".into()),
    };
    if let Err(why) = done {
        eprintln!("peer: {why}");
        std::process::exit(2);
    }
}
