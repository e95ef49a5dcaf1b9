//! tugs.rs: a small game with rollback, to measure the verdicts with. Four players with two tugs each tow barges to a dock, in a tide;
//! two to four peers play them. An order takes effect two ticks after it was given. A peer that lacks the orders of others assumes that
//! they steer on as before, at most eight ticks ahead. If an order that arrives is not what was assumed, it goes back to the state
//! before that tick and plays again; else the state stays. It was written from the pages in docs alone.
//!
//!     rustc --edition 2021 -O tugs.rs
//!     ./tugs record DIR [--seed N] [--ticks N] [--snapshot-every N] [--trace none|system|archetype|column]
//!                       [--fault NAME[/PLACE][@TICK][:host|:client]]      peers play, and leave DIR/<peer> and DIR/truth.json
//!     ./tugs serve [--fault NAME[/PLACE][@TICK]]                          replays for desynctool
//!     ./tugs faults                                                       lists the mistakes that it can make
//!
//! Peers have people's names, and any of them may be the host. Every second session has a parameter that names the host.
#[path = "../../../../docs/sdk/rust/desynctool.rs"]
mod desynctool;

use desynctool::*;
use std::cell::RefCell;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::time::Instant;

const PLAYERS: usize = 4;
const EDGE: f32 = 96.0;
const SIDE: usize = 12; // cells along an edge, of 8 paces
const DELAY: u64 = 2;
const AHEAD: u64 = 8; // ticks that a peer plays ahead at most
const HELM: u32 = 0;
const WINCH: u32 = 1;
const SURGE: u32 = 2;
const HORN: u32 = 3;
const NAMES: [&str; 6] = ["Marit", "jonas", "Ines", "piet", "Aino", "ove"];

// ---- Mistakes

/// Name, places, description. Those from `order-dropped` on are not made by a build that replays.
const FAULTS: [(&str, &[&str], &str); 30] = [
    ("rng-leak", &["Engines", "Bumps", "Cargo"], "smoke, sparks or glitter draw from the game's random numbers"),
    ("map-order", &["Winches", "Cargo"], "a list is worked off in the order of a hash map with a random key"),
    ("unsorted-merge", &["Bumps"], "what threads found is worked off in the order of their completion"),
    ("unstable-sort", &["Bumps", "Cargo"], "a list is sorted by rounded distances alone, and ties fall as the heap has it"),
    ("float-fma", &["Engines", "Motion", "Standings"], "a product is not rounded before something is added"),
    ("float-reassoc", &["Winches", "Standings"], "a sum is added up in two halves, as a compiler may that vectorizes"),
    ("uninitialized", &["Winches", "Bumps"], "a buffer is used again without clearing it"),
    ("stale-cache", &["Motion", "Cargo"], "something that moves or goes stays in the grid where it was"),
    ("impure-validation", &["Tug", "Barge"], "the test whether an order is possible burns fuel, or rights a barge"),
    ("rollback-keeps", &["Tug", "Barge", "Player"], "a rollback restores all but one field, which keeps its value"),
    ("rng-kept", &["RNG"], "a rollback does not take the random numbers back"),
    ("save-omits-field", &["Tug", "Crate"], "the state that a rollback goes back to lacks a field, which is 0 then"),
    ("initial-state", &["Tug", "Harbour"], "an option of the lobby is set on one machine only"),
    ("locale-sort", &["Docks", "Standings"], "names are sorted as the machine's locale has it"),
    ("wall-clock", &["Tide", "Engines"], "the machine's clock moves the tide, or cools the engines"),
    ("data-mismatch", &["Engines", "Cargo", "Docks"], "one machine plays by other rules: power, prizes or fees"),
    ("reconverge", &["Tide", "Standings"], "a light or a rank that nothing reads is wrong until it is computed anew"),
    ("checksum-only", &["Tug", "Barge"], "the checksum covers an address in memory"),
    ("guess-stays", &["Helm", "Winch"], "a guess counts as right although the rudder, or a further order, was another"),
    ("rollback-short", &["Restore", "Window"], "a rollback begins one tick late, or goes back by four ticks at most"),
    ("smooth-leak", &["Tug", "Barge"], "what smooths the picture after a rollback changes the game's own position"),
    ("host-only", &["Cargo", "Tide", "Docks"], "a script that only the host runs changes the state"),
    ("order-dropped", &["Surge", "Winch"], "the network loses one order"),
    ("order-duplicated", &["Surge", "Winch"], "the network delivers an order again in the next tick"),
    ("order-altered", &["Surge", "Winch"], "bits of an order change on its way"),
    ("order-late", &["Surge", "Winch"], "an order takes effect a tick later"),
    ("bit-flip", &["Tug", "Barge", "Player"], "one bit in memory flips once"),
    ("foreign-write", &["Tug", "Player"], "the interface writes fuel or points into the game's memory"),
    ("menu-write", &["Barge"], "a menu on one machine empties a barge without an order"),
    ("blind-checksum", &["Tug", "Barge"], "all checksums leave out a column that nothing reads, and one machine computes it otherwise"),
];

#[derive(Clone)]
struct Mistake {
    name: &'static str,
    place: &'static str,
    from: u64,
    host: bool, // the host makes it
    done: bool,
}

// ---- The state

/// A value of a column: how it is packed, shown and loaded.
trait Packed: Sized {
    fn bytes(&self, to: &mut Vec<u8>);
    fn parse(from: &mut &[u8]) -> Self;
}

macro_rules! cells { ($($t:ty)*) => {$(
    impl Packed for $t {
        fn bytes(&self, to: &mut Vec<u8>) { to.extend_from_slice(&self.to_le_bytes()) }
        fn parse(from: &mut &[u8]) -> Self {
            let (a, b) = from.split_at(std::mem::size_of::<$t>());
            *from = b;
            <$t>::from_le_bytes(a.try_into().unwrap())
        }
    }
)*}; }
cells! {f32 f64 i8 i32 u8 u16 u32 u64}

impl Packed for Option<u64> {
    fn bytes(&self, to: &mut Vec<u8>) { self.unwrap_or(u64::MAX).bytes(to) }
    fn parse(from: &mut &[u8]) -> Self { Some(u64::parse(from)).filter(|v| *v != u64::MAX) }
}

/// An archetype: all that is done with each of its columns.
trait Row: Copy + Default {
    const LABEL: &'static str;
    fn id(&self) -> u64;
    fn add(w: &mut World, rows: &[Self], blind: &str);
    fn load(w: &World) -> Result<Vec<Self>>;
    fn pack(&self, to: &mut Vec<u8>);
    fn unpack(from: &mut &[u8]) -> Self;
    /// The values by component, in ascending order.
    fn cells(&self) -> BTreeMap<&'static str, Vec<u8>>;
}

macro_rules! row {
    ($t:ident, $label:literal: $($m:ident: $mt:ty, $component:literal, $field:literal, |$v:ident| $show:expr, $shown:ty, |$l:ident, $i:ident| $loaded:expr;)*) => {
        #[derive(Clone, Copy, Default)]
        struct $t { id: u64, $($m: $mt),* }
        impl Row for $t {
            const LABEL: &'static str = $label;
            fn id(&self) -> u64 { self.id }
            fn add(w: &mut World, rows: &[Self], blind: &str) {
                let mut t = w.archetype($label, rows, |r| r.id);
                $(if blind != concat!($label, ".", $field) { t = t.column($component, $field, |r: &$t| { let $v = r.$m; $show }); })*
                let _ = t;
            }
            fn load(w: &World) -> Result<Vec<Self>> {
                let t = w.find(Class::Archetype, $label)?;
                let mut rows: Vec<Self> = (0..t.rows()).map(|i| $t { id: t.key(i).0, ..$t::default() }).collect();
                $({ let $l = t.column::<$shown>($component, $field)?; for ($i, r) in rows.iter_mut().enumerate() { r.$m = $loaded; } })*
                Ok(rows)
            }
            fn pack(&self, to: &mut Vec<u8>) { self.id.bytes(to); $(self.$m.bytes(to);)* }
            fn unpack(from: &mut &[u8]) -> Self { $t { id: Packed::parse(from), $($m: Packed::parse(from)),* } }
            fn cells(&self) -> BTreeMap<&'static str, Vec<u8>> {
                let mut all: BTreeMap<&'static str, Vec<u8>> = BTreeMap::new();
                $(self.$m.bytes(all.entry($component).or_default());)*
                all
            }
        }
    };
    ($t:ident, $label:literal, $($m:ident: $mt:ty, $component:literal, $field:literal;)* + $($rest:tt)*) => {
        row! {$t, $label: $($m: $mt, $component, $field, |v| v, $mt, |l, i| l.at(i)?;)* $($rest)*}
    };
}

row! {Tug, "Tug", x: f32, "Position", "x"; y: f32, "Position", "y"; vx: f32, "Velocity", "x"; vy: f32, "Velocity", "y";
    ahead: i8, "Helm", "ahead"; side: i8, "Helm", "side"; heat: f64, "Engine", "heat"; fuel: i32, "Engine", "fuel";
    rope: f32, "Winch", "rope"; way: f64, "Journal", "way"; player: u8, "Owner", "player"; +
    tow: Option<u64>, "Winch", "tow", |v| v.map(Ref), Ref, |l, i| l.get(i).map(|r| r.0);
}
row! {Barge, "Barge", x: f32, "Position", "x"; y: f32, "Position", "y"; vx: f32, "Velocity", "x"; vy: f32, "Velocity", "y";
    list: f32, "Hull", "list"; strain: f32, "Hull", "strain"; wear: f64, "Journal", "wear"; load: i32, "Hold", "load"; +
}
row! {Crate, "Crate", x: f32, "Position", "x"; y: f32, "Position", "y"; kind: u8, "Content", "kind"; life: u16, "Content", "life"; +}
row! {Buoy, "Buoy", x: f32, "Position", "x"; y: f32, "Position", "y"; phase: f64, "Lamp", "phase"; light: u8, "Lamp", "light"; +}
row! {Player, "Player", points: f64, "Score", "points"; docked: u32, "Score", "docked"; streak: u16, "Score", "streak"; rank: u8, "Standing", "rank"; +}
row! {Harbour, "Harbour", tide: f64, "Water", "tide"; gust_x: f32, "Wind", "x"; gust_y: f32, "Wind", "y"; total: f64, "Ledger", "total"; fee: u32, "Ledger", "fee"; +}

#[derive(Clone, Default)]
struct State {
    rng: u64,
    serial: u64, // of the last entity
    tugs: Vec<Tug>,
    barges: Vec<Barge>,
    crates: Vec<Crate>,
    buoys: Vec<Buoy>,
    players: Vec<Player>,
    harbour: Vec<Harbour>, // one
    grid: Vec<u16>,        // barges and crates in each cell: derived, and kept up to date by the systems
}

fn pack_rows<R: Row>(rows: &[R], to: &mut Vec<u8>) { (rows.len() as u64).bytes(to); rows.iter().for_each(|r| r.pack(to)); }

fn unpack_rows<R: Row>(from: &mut &[u8]) -> Vec<R> { (0..u64::parse(from)).map(|_| R::unpack(from)).collect() }

/// Component, key and value of each row, by label: for the truth.
type Values = BTreeMap<(&'static str, &'static str), BTreeMap<u64, Vec<u8>>>;

fn values_of<R: Row>(rows: &[R], to: &mut Values) {
    for r in rows {
        r.cells().into_iter().for_each(|(component, cell)| drop(to.entry((R::LABEL, component)).or_default().insert(r.id(), cell)));
    }
}

fn cell(x: f32, y: f32) -> usize { let lane = |v: f32| ((v / 8.0) as usize).min(SIDE - 1); lane(y) * SIDE + lane(x) }

fn far(ax: f32, ay: f32, bx: f32, by: f32) -> f32 {
    let (x, y) = ((ax - bx).abs(), (ay - by).abs());
    if x > y { x + y * 0.375 } else { y + x * 0.375 }
}

fn draw(rng: &mut u64, n: u32) -> u32 {
    *rng = rng.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (((*rng >> 33) * u64::from(n)) >> 31) as u32
}

impl State {
    fn world(&self, blind: &str) -> World {
        let mut w = World::new();
        w.set_rng([self.rng.to_le_bytes(), self.serial.to_le_bytes()].concat());
        Tug::add(&mut w, &self.tugs, blind);
        Barge::add(&mut w, &self.barges, blind);
        Crate::add(&mut w, &self.crates, blind);
        Buoy::add(&mut w, &self.buoys, blind);
        Player::add(&mut w, &self.players, blind);
        Harbour::add(&mut w, &self.harbour, blind);
        w.cache("Grid", 0..self.grid.len(), |i| i).column("Cell", "things", |i: usize| self.grid[i]);
        w
    }

    fn values(&self) -> Values {
        let mut v = Values::new();
        v.insert(("", "RNG"), [(0, [self.rng.to_le_bytes(), self.serial.to_le_bytes()].concat())].into());
        values_of(&self.tugs, &mut v);
        values_of(&self.barges, &mut v);
        values_of(&self.crates, &mut v);
        values_of(&self.buoys, &mut v);
        values_of(&self.players, &mut v);
        values_of(&self.harbour, &mut v);
        v
    }

    fn counted(&self) -> Vec<u16> {
        let mut grid = vec![0; SIDE * SIDE];
        self.barges.iter().for_each(|b| grid[cell(b.x, b.y)] += 1);
        self.crates.iter().for_each(|c| grid[cell(c.x, c.y)] += 1);
        grid
    }

    fn anywhere(&mut self) -> (f32, f32) {
        let x = draw(&mut self.rng, EDGE as u32 * 16) as f32 / 16.0;
        (x, draw(&mut self.rng, EDGE as u32 * 16) as f32 / 16.0)
    }

    fn next_id(&mut self) -> u64 { self.serial += 1; self.serial }

    fn new_crate(&mut self, x: f32, y: f32) {
        let c = Crate { id: self.next_id(), x, y, kind: (self.serial % 3) as u8, life: 90 };
        self.grid[cell(x, y)] += 1;
        self.crates.push(c);
    }

    fn new_barge(&mut self, x: f32, y: f32) {
        let b = Barge { id: self.next_id(), x, y, load: 100, ..Barge::default() };
        self.grid[cell(x, y)] += 1;
        self.barges.push(b);
    }

    fn begin(seed: u64) -> State {
        let mut s = State { rng: seed, grid: vec![0; SIDE * SIDE], ..State::default() };
        for i in 0..2 * PLAYERS as u64 {
            let id = s.next_id();
            let (x, y) = s.anywhere();
            s.tugs.push(Tug { id, x, y, fuel: 900, player: (i / 2) as u8, ..Tug::default() });
        }
        for _ in 0..22 { let (x, y) = s.anywhere(); s.new_barge(x, y); }
        for _ in 0..12 { let (x, y) = s.anywhere(); s.new_crate(x, y); }
        for _ in 0..8 {
            let id = s.next_id();
            let (x, y) = s.anywhere();
            s.buoys.push(Buoy { id, x, y, phase: id as f64 / 7.0, light: 0 });
        }
        s.players = (0..PLAYERS as u64).map(|id| Player { id, ..Player::default() }).collect();
        s.harbour = vec![Harbour { fee: 3, ..Harbour::default() }];
        s
    }
}

// ---- The simulation

#[derive(Clone)]
struct Tugs {
    s: State,
    tick: u64,
    orders: Vec<Order>,
    system: usize,
    sure: bool,         // all orders up to this tick are known
    live: bool,         // it is played, not replayed
    pulls: Vec<f32>,    // scratch of Winches and Bumps, by barge
    knocks: Vec<f32>,
    fx: u64,            // random numbers of what is only seen
    effects: u64,
    clock: Instant,
    mistakes: Vec<Mistake>,
    address: Box<u64>,
}

const SYSTEMS: [(&str, fn(&mut Tugs)); 9] = [
    ("Helm", Tugs::helm),
    ("Tide", Tugs::tide),
    ("Engines", Tugs::engines),
    ("Winches", Tugs::winches),
    ("Motion", Tugs::motion),
    ("Bumps", Tugs::bumps),
    ("Cargo", Tugs::cargo),
    ("Docks", Tugs::docks),
    ("Standings", Tugs::standings),
];

/// The payload of orders.
struct Command {
    tug: u64,
    barge: u64,
    ahead: i8,
    side: i8,
}

impl Command {
    fn payload(&self) -> Vec<u8> { [&self.tug.to_le_bytes()[..], &self.barge.to_le_bytes(), &[self.ahead as u8, self.side as u8]].concat() }
    fn read(b: &[u8]) -> Option<Command> {
        let mut from = b;
        Some(()).filter(|_| b.len() == 18).map(|_| Command { tug: Packed::parse(&mut from), barge: Packed::parse(&mut from), ahead: Packed::parse(&mut from), side: Packed::parse(&mut from) })
    }
}

fn sort_key(far: f32) -> u32 { (far * 0.5) as u32 }

impl Tugs {
    fn new(mistakes: Vec<Mistake>) -> Tugs {
        let (none, fx) = (State::default(), 1);
        Tugs { s: none, tick: 0, orders: vec![], system: 0, sure: true, live: false, pulls: vec![], knocks: vec![], fx, effects: 0, clock: Instant::now(), mistakes, address: Box::new(0) }
    }

    fn begin_match(&mut self, seed: u64) {
        self.s = State::begin(seed);
        self.tick = 0;
        self.pulls.clear();
        self.knocks.clear();
        self.mistakes.iter_mut().for_each(|m| m.done = false);
        if self.on("initial-state", "Tug") { self.s.tugs[3].fuel = 1000; }
        if self.on("initial-state", "Harbour") { self.s.harbour[0].fee = 4; }
    }

    fn find(&self, name: &str, place: &str) -> Option<usize> {
        self.mistakes.iter().position(|m| m.name == name && m.place == place && (self.tick >= m.from || name == "initial-state"))
    }

    fn on(&self, name: &str, place: &str) -> bool { self.find(name, place).is_some() }

    /// For what happens once, and not in ticks that may be played again.
    fn once(&mut self, name: &str, place: &str) -> bool {
        match self.find(name, place) {
            Some(i) if self.sure && !self.mistakes[i].done => { self.mistakes[i].done = true; true }
            _ => false,
        }
    }

    fn effect(&mut self, place: &str) {
        let leaks = self.on("rng-leak", place);
        self.effects += u64::from(draw(if leaks { &mut self.s.rng } else { &mut self.fx }, 16));
    }

    fn mul_add(&self, place: &str, a: f32, b: f32, c: f32) -> f32 { if self.on("float-fma", place) { a.mul_add(b, c) } else { a * b + c } }

    fn add_up(&self, place: &str, list: impl Iterator<Item = f64>) -> f64 {
        let (mut sum, mut halves) = (0.0, [0.0, 0.0]);
        list.enumerate().for_each(|(i, v)| { sum += v; halves[i % 2] += v; });
        if self.on("float-reassoc", place) { halves[0] + halves[1] } else { sum }
    }

    fn clock(&self) -> u32 { self.clock.elapsed().subsec_nanos() / 64 }

    /// A list in the order in which it is worked off: by key, then by ids.
    fn ordered(&self, place: &str, mut list: Vec<(u32, u64, u64)>) -> Vec<(u32, u64, u64)> {
        if self.on("map-order", place) {
            let map: HashMap<(u64, u64), u32> = list.into_iter().map(|(key, a, b)| ((a, b), key)).collect();
            return map.into_iter().map(|((a, b), key)| (key, a, b)).collect();
        }
        if self.on("unstable-sort", place) {
            struct Only(u32, u64, u64);
            impl PartialEq for Only { fn eq(&self, o: &Only) -> bool { self.0 == o.0 } }
            impl Eq for Only {}
            impl PartialOrd for Only { fn partial_cmp(&self, o: &Only) -> Option<std::cmp::Ordering> { Some(self.cmp(o)) } }
            impl Ord for Only { fn cmp(&self, o: &Only) -> std::cmp::Ordering { o.0.cmp(&self.0) } }
            let mut heap: BinaryHeap<Only> = list.into_iter().map(|(key, a, b)| Only(key, a, b)).collect();
            return std::iter::from_fn(|| heap.pop()).map(|o| (o.0, o.1, o.2)).collect();
        }
        list.sort();
        list
    }

    fn tug(&self, id: u64) -> Option<usize> { self.s.tugs.iter().position(|t| t.id == id) }
    fn barge(&self, id: u64) -> Option<usize> { self.s.barges.binary_search_by_key(&id, |b| b.id).ok() }

    /// Whether an order is possible, as the machine of its player asks.
    fn possible(&mut self, o: &Order) -> Option<(usize, Command)> {
        let c = Command::read(&o.payload).filter(|_| o.kind <= SURGE)?;
        let i = self.tug(c.tug).filter(|i| u32::from(self.s.tugs[*i].player) == o.player)?;
        if o.kind == WINCH {
            let b = self.barge(c.barge)?;
            if !self.inside() && self.on("impure-validation", "Barge") { self.s.barges[b].list = 0.0625; }
        }
        if o.kind == SURGE && !self.inside() && self.on("impure-validation", "Tug") { self.s.tugs[i].fuel -= 1; }
        Some((i, c)).filter(|_| o.kind != SURGE || self.s.tugs[i].fuel >= 5)
    }

    fn inside(&self) -> bool { self.system > 0 }

    fn helm(&mut self) {
        self.system = 1; // inside of the tick a test changes nothing
        for o in std::mem::take(&mut self.orders) {
            let Some((i, c)) = self.possible(&o) else { continue };
            let barge = self.barge(c.barge);
            let t = &mut self.s.tugs[i];
            match o.kind {
                HELM => (t.ahead, t.side) = (c.ahead, c.side),
                SURGE => {
                    t.vx += f32::from(c.ahead) / 96.0;
                    t.vy += f32::from(c.side) / 96.0;
                    t.fuel -= 5;
                    t.heat += 1.25;
                }
                _ if t.tow == Some(c.barge) => t.tow = None,
                _ => {
                    let b = self.s.barges[barge.unwrap()];
                    let rope = far(t.x, t.y, b.x, b.y);
                    if rope < 20.0 { (t.tow, t.rope) = (Some(b.id), rope); }
                }
            }
        }
        self.system = 0;
    }

    fn tide(&mut self) {
        let late = if self.on("wall-clock", "Tide") { f64::from(self.clock() % 1000) / 65536.0 } else { 0.0 };
        let dark = self.on("reconverge", "Tide") && self.tick % 16 < 3;
        let s = &mut self.s;
        let h = &mut s.harbour[0];
        h.tide = h.tide * 0.984375 + f64::from(draw(&mut s.rng, 64)) / 2048.0 - 0.0153 + late;
        if self.tick % 8 == 0 {
            h.gust_x = (draw(&mut s.rng, 65) as f32 - 32.0) / 512.0;
            h.gust_y = (draw(&mut s.rng, 65) as f32 - 32.0) / 512.0;
        }
        for b in &mut s.buoys { b.phase += 0.0625 + h.tide / 64.0; b.light = if dark { 9 } else { (b.phase as u64 % 2) as u8 }; }
        if self.live && self.on("host-only", "Tide") && self.tick % 24 == 0 { self.s.harbour[0].gust_x = 0.25; }
    }

    fn engines(&mut self) {
        let power = if self.on("data-mismatch", "Engines") { 0.375 } else { 0.34 };
        let cooling = if self.on("wall-clock", "Engines") { 0.96 + f64::from(self.clock() % 1024) / 1e6 } else { 0.96 };
        for i in 0..self.s.tugs.len() {
            let mut t = self.s.tugs[i];
            let crowd = if self.s.grid[cell(t.x, t.y)] > 2 { 0.5 } else { 1.0 };
            let force = if t.fuel <= 0 { 0.05 } else if t.heat > 7.0 { power / 2.0 } else { power } * crowd;
            t.vx = self.mul_add("Engines", f32::from(t.ahead) / 127.0, force, t.vx * 0.84);
            t.vy = self.mul_add("Engines", f32::from(t.side) / 127.0, force, t.vy * 0.84);
            let work = (i32::from(t.ahead).abs() + i32::from(t.side).abs()) / 32;
            t.fuel = (t.fuel - work / 4).max(0);
            t.heat = t.heat * cooling + f64::from(work) / 24.0;
            self.s.tugs[i] = t;
            if t.heat > 3.0 { self.effect("Engines"); }
        }
    }

    fn winches(&mut self) {
        let n = self.s.barges.len();
        if !self.on("uninitialized", "Winches") { self.pulls.clear(); }
        self.pulls.resize(n, 0.0);
        let mut list = vec![];
        for t in &mut self.s.tugs {
            match t.tow.and_then(|id| self.s.barges.binary_search_by_key(&id, |b| b.id).ok()) {
                Some(b) => list.push((sort_key(far(t.x, t.y, self.s.barges[b].x, self.s.barges[b].y)), t.id, b as u64)),
                None => t.tow = None,
            }
        }
        for (_, id, at) in self.ordered("Winches", list) {
            let (i, at) = (self.tug(id).unwrap(), at as usize);
            let (mut t, mut b) = (self.s.tugs[i], self.s.barges[at]);
            let away = far(t.x, t.y, b.x, b.y);
            let pull = (away - t.rope).max(0.0) * (0.04 + draw(&mut self.s.rng, 8) as f32 / 512.0) / away.max(1.0);
            b.vx += (t.x - b.x) * pull;
            b.vy += (t.y - b.y) * pull;
            t.vx -= (t.x - b.x) * pull * 0.3;
            t.vy -= (t.y - b.y) * pull * 0.3;
            self.pulls[at] += pull;
            if pull > 0.5 { t.tow = None; }
            (self.s.tugs[i], self.s.barges[at]) = (t, b);
        }
        for (at, b) in self.s.barges.iter_mut().enumerate() { b.strain = b.strain * 0.875 + self.pulls[at]; }
        let sum = self.add_up("Winches", self.s.barges.iter().map(|b| f64::from(b.strain) * 1.1 + f64::from(b.x) / 977.0));
        self.s.harbour[0].total = self.s.harbour[0].total * 0.5 + sum;
    }

    fn motion(&mut self) {
        let (flow, stale) = (self.s.harbour[0].tide as f32, self.on("stale-cache", "Motion"));
        let (gx, gy) = (self.s.harbour[0].gust_x, self.s.harbour[0].gust_y);
        let within = |v: f32| v.clamp(0.0, EDGE - 0.125);
        for i in 0..self.s.tugs.len() {
            let mut t = self.s.tugs[i];
            t.x = within(self.mul_add("Motion", flow, 0.125, t.x + t.vx));
            t.y = within(t.y + t.vy);
            t.way += f64::from(t.vx.abs() + t.vy.abs()) * if self.on("blind-checksum", "Tug") { 1.5 } else { 1.0 };
            self.s.tugs[i] = t;
        }
        for i in 0..self.s.barges.len() {
            let mut b = self.s.barges[i];
            let old = cell(b.x, b.y);
            b.vx = (b.vx + gx * 0.25) * 0.9;
            b.vy = (b.vy + gy * 0.25) * 0.9;
            b.x = within(self.mul_add("Motion", flow, 0.25, b.x + b.vx));
            b.y = within(b.y + b.vy);
            b.list = b.list * 0.96875 + gy * (1.0 + b.load as f32 / 100.0);
            b.wear += f64::from(b.vx.abs()) * if self.on("blind-checksum", "Barge") { 1.25 } else { 1.0 };
            let new = cell(b.x, b.y);
            if new != old { self.s.grid[new] += 1; if !stale { self.s.grid[old] = self.s.grid[old].saturating_sub(1); } }
            self.s.barges[i] = b;
        }
    }

    fn bumps(&mut self) {
        let near = |barges: &[Barge], from: usize, to: usize| -> Vec<(u32, u64, u64)> {
            let mut found = vec![];
            for i in from..to {
                for k in i + 1..barges.len() {
                    let away = far(barges[i].x, barges[i].y, barges[k].x, barges[k].y);
                    if away < 6.0 { found.push((sort_key(away), i as u64, k as u64)); }
                }
            }
            found
        };
        let n = self.s.barges.len();
        let list = if self.on("unsorted-merge", "Bumps") {
            let (barges, (sender, gathered)) = (&self.s.barges, std::sync::mpsc::channel());
            std::thread::scope(|threads| {
                for part in 0..4 {
                    let sender = sender.clone();
                    threads.spawn(move || near(barges, part * n / 4, (part + 1) * n / 4).into_iter().for_each(|pair| sender.send(pair).unwrap()));
                }
            });
            drop(sender);
            gathered.into_iter().collect()
        } else { self.ordered("Bumps", near(&self.s.barges, 0, n)) };
        if !self.on("uninitialized", "Bumps") { self.knocks.clear(); }
        self.knocks.resize(n, 0.0);
        for (_, i, k) in list {
            let (i, k) = (i as usize, k as usize);
            let (mut a, mut b) = (self.s.barges[i], self.s.barges[k]);
            let push = 0.02 + draw(&mut self.s.rng, 32) as f32 / 1024.0;
            let (dx, dy) = ((a.x - b.x) * push, (a.y - b.y) * push);
            (a.vx, a.vy, b.vx, b.vy) = (a.vx * 0.9 + dx, a.vy * 0.9 + dy, b.vx * 0.9 - dx, b.vy * 0.9 - dy);
            self.knocks[i] += push;
            self.knocks[k] += push;
            (self.s.barges[i], self.s.barges[k]) = (a, b);
            self.effect("Bumps");
        }
        for (b, knock) in self.s.barges.iter_mut().zip(&self.knocks) { b.list += knock; b.load -= i32::from(*knock > 0.11 && b.load > 10); }
    }

    fn cargo(&mut self) {
        let stale = self.on("stale-cache", "Cargo");
        if self.tick % 5 == 0 && self.s.crates.len() < 32 { let (x, y) = self.s.anywhere(); self.s.new_crate(x, y); }
        if self.on("host-only", "Cargo") && self.tick % 30 == 0 { self.s.new_crate(48.0, 48.0); }
        let mut list = vec![];
        for (i, c) in self.s.crates.iter().enumerate() {
            for t in &self.s.tugs { let away = far(c.x, c.y, t.x, t.y); if away < 16.0 { list.push((sort_key(away), i as u64, t.id)); } }
        }
        for (_, at, id) in self.ordered("Cargo", list) {
            let (at, t) = (at as usize, self.s.tugs[self.tug(id).unwrap()]);
            let mut c = self.s.crates[at];
            if c.life == 0 { continue; }
            let (old, pull) = (cell(c.x, c.y), 0.02 + draw(&mut self.s.rng, 16) as f32 / 512.0);
            c.x += (t.x - c.x) * pull; // it drifts into the wake
            c.y += (t.y - c.y) * pull;
            self.s.grid[old] = self.s.grid[old].saturating_sub(1);
            self.s.grid[cell(c.x, c.y)] += 1;
            if far(c.x, c.y, t.x, t.y) < 4.0 {
                c.life = 0;
                let prize = if self.on("data-mismatch", "Cargo") { 7.5 } else { 6.5 };
                let p = &mut self.s.players[t.player as usize];
                p.streak += 1;
                p.points += prize * f64::from(c.kind + 1) + f64::from(p.streak) * 0.375 + f64::from(draw(&mut self.s.rng, 4));
                let i = self.tug(id).unwrap();
                self.s.tugs[i].fuel += 60;
            }
            self.s.crates[at] = c;
            self.effect("Cargo");
        }
        for i in (0..self.s.crates.len()).rev() {
            let c = &mut self.s.crates[i];
            c.life = c.life.saturating_sub(1);
            if c.life == 0 {
                let at = cell(c.x, c.y);
                self.s.crates.remove(i);
                if !stale { self.s.grid[at] = self.s.grid[at].saturating_sub(1); }
            }
        }
        if self.tick % 32 == 0 { self.s.players.iter_mut().for_each(|p| p.streak /= 2); }
    }

    /// What a ship's name is sorted by: as bytes, or as a locale has it.
    fn by_name(&self, place: &str, name: &str) -> String {
        if self.on("locale-sort", place) { name.to_lowercase() } else { name.to_string() }
    }

    fn docks(&mut self) {
        const FIRMS: [&str; 5] = ["Vega", "arild", "Brage", "njord", "Tor"];
        let mut arrived: Vec<(String, u64)> = vec![];
        for b in self.s.barges.iter().filter(|b| b.x < 9.0) {
            arrived.push((self.by_name("Docks", FIRMS[b.id as usize % FIRMS.len()]), b.id));
        }
        arrived.sort();
        let most = if arrived.len() > 1 { 2 } else { 1 }; // berths
        for (_, id) in arrived.into_iter().take(most) {
            let at = self.barge(id).unwrap();
            let b = self.s.barges.remove(at);
            let here = cell(b.x, b.y);
            self.s.grid[here] = self.s.grid[here].saturating_sub(1);
            for i in 0..self.s.tugs.len() {
                if self.s.tugs[i].tow != Some(id) { continue; }
                self.s.tugs[i].tow = None;
                let p = &mut self.s.players[self.s.tugs[i].player as usize];
                p.docked += 1;
                p.points += f64::from(b.load) - f64::from(b.strain) - f64::from(b.list.abs());
            }
            let y = draw(&mut self.s.rng, EDGE as u32 * 16) as f32 / 16.0;
            self.s.new_barge(EDGE - 8.0, y);
        }
        let fee = f64::from(self.s.harbour[0].fee) * if self.on("data-mismatch", "Docks") { 1.5 } else { 1.0 };
        if self.tick % 12 == 0 { self.s.players.iter_mut().for_each(|p| p.points -= fee); }
        if self.live && self.on("host-only", "Docks") && self.tick % 20 == 0 { self.s.players[0].points += 25.0; }
    }

    fn standings(&mut self) {
        let tide = self.s.harbour[0].tide;
        for i in 0..PLAYERS {
            let p = self.s.players[i];
            let fma = self.on("float-fma", "Standings");
            self.s.players[i].points = if fma { p.points.mul_add(0.9921, tide) } else { p.points * 0.9921 + tide };
        }
        let sum = self.add_up("Standings", self.s.players.iter().map(|p| p.points * 1.01).chain(self.s.tugs.iter().map(|t| t.heat)));
        self.s.harbour[0].total += sum / 16.0;
        let mut order: Vec<(i64, String, usize)> = vec![];
        for (i, p) in self.s.players.iter().enumerate() {
            order.push((-(p.points / 40.0) as i64, self.by_name("Standings", ["Zoe", "ann", "Bea", "carl"][i]), i));
        }
        order.sort();
        for (rank, (_, _, i)) in order.into_iter().enumerate() {
            self.s.players[i].rank = rank as u8 + 1;
            self.s.players[i].points += [0.5, 0.25, 0.125, 0.0][rank]; // a purse
        }
        if self.on("reconverge", "Standings") && self.tick % 20 < 4 { self.s.buoys[0].light = 7; }
    }

    fn begin_tick(&mut self, tick: u64, orders: &[Order]) {
        (self.tick, self.orders, self.system) = (tick, orders.to_vec(), 0);
        if self.sure && self.live { self.tamper(); }
    }

    /// What others write into the game's memory between two ticks.
    fn tamper(&mut self) {
        let pick = self.s.serial as usize;
        if self.once("bit-flip", "Tug") { let t = &mut self.s.tugs[pick % 8]; t.y = f32::from_bits(t.y.to_bits() ^ 1 << 19); }
        if self.once("bit-flip", "Barge") { let n = self.s.barges.len(); self.s.barges[pick % n].load ^= 1 << 6; }
        if self.once("bit-flip", "Player") {
            let p = &mut self.s.players[pick % PLAYERS];
            p.points = f64::from_bits(p.points.to_bits() ^ 1 << 44);
        }
        if self.once("foreign-write", "Tug") { self.s.tugs[pick % 8].fuel = 9999; }
        if self.once("foreign-write", "Player") { self.s.players[pick % PLAYERS].points = 1_000_000.0; }
        if self.once("menu-write", "Barge") { let n = self.s.barges.len(); self.s.barges[pick % n].load = 1; }
    }

    fn run_next(&mut self) -> &'static str {
        let (name, run) = SYSTEMS[self.system];
        let at = self.system;
        run(self);
        self.system = (at + 1) % SYSTEMS.len();
        self.tick += u64::from(self.system == 0); // then it is between ticks
        name
    }

    fn pack(&self) -> Vec<u8> {
        let mut s = self.s.clone();
        if self.on("save-omits-field", "Tug") { s.tugs.iter_mut().for_each(|t| t.heat = 0.0); }
        if self.on("save-omits-field", "Crate") { s.crates.iter_mut().for_each(|c| c.life = 90); }
        let mut to = vec![];
        s.rng.bytes(&mut to);
        s.serial.bytes(&mut to);
        pack_rows(&s.tugs, &mut to);
        pack_rows(&s.barges, &mut to);
        pack_rows(&s.crates, &mut to);
        pack_rows(&s.buoys, &mut to);
        pack_rows(&s.players, &mut to);
        pack_rows(&s.harbour, &mut to);
        s.grid.iter().for_each(|n| n.bytes(&mut to));
        to
    }

    fn roll_back(&mut self, saved: &[u8]) {
        let (mut from, old) = (saved, self.s.clone());
        self.s = State {
            rng: Packed::parse(&mut from),
            serial: Packed::parse(&mut from),
            tugs: unpack_rows(&mut from),
            barges: unpack_rows(&mut from),
            crates: unpack_rows(&mut from),
            buoys: unpack_rows(&mut from),
            players: unpack_rows(&mut from),
            harbour: unpack_rows(&mut from),
            grid: (0..SIDE * SIDE).map(|_| Packed::parse(&mut from)).collect(),
        };
        if self.on("rollback-keeps", "Tug") { self.s.tugs.iter_mut().zip(&old.tugs).for_each(|(t, o)| t.heat = o.heat); }
        if self.on("rollback-keeps", "Barge") {
            self.s.barges.iter_mut().filter_map(|b| old.barges.iter().find(|o| o.id == b.id).map(|o| (b, o))).for_each(|(b, o)| b.strain = o.strain);
        }
        if self.on("rollback-keeps", "Player") { self.s.players.iter_mut().zip(&old.players).for_each(|(p, o)| p.streak = o.streak); }
        if self.on("rng-kept", "RNG") { self.s.rng = old.rng; }
    }

    /// What the checksum sees.
    fn seen(&self, s: &State, blind: &str) -> World {
        let mut s = s.clone();
        let address = &*self.address as *const u64 as u64 >> 4;
        if self.on("checksum-only", "Tug") { s.tugs[0].tow = Some(address); }
        if self.on("checksum-only", "Barge") { s.barges[0].load ^= address as i32; }
        s.world(blind)
    }
}

// ---- What desynctool asks

fn known(session: &Session) -> Result<()> {
    if session.parameter("map", "sound") == "sound" { Ok(()) } else { Err("there is no such map".into()) }
}

fn kinds() -> Vec<Kind> { vec![Kind::new("helm"), Kind::new("winch"), Kind::new("surge"), Kind::local("horn")] }

/// The game as it is served: a test of an order may change it.
struct Served(RefCell<Tugs>);

impl Game for Served {
    fn name(&self) -> &str { "tugs" }
    fn build(&self) -> &str { "0.9" }
    fn kinds(&self) -> Vec<Kind> { kinds() }
    fn start(&mut self, session: &Session) -> Result<()> { known(session)?; self.0.borrow_mut().begin_match(session.seed); Ok(()) }
    fn hash(&mut self) -> Result<SyncHash> { let g = self.0.borrow(); Ok(sync_hash(&g.seen(&g.s, "").hash()?)) }
    fn state(&mut self) -> Option<&mut dyn desynctool::State> { Some(self) }
    fn saves(&mut self) -> Option<&mut dyn Saves> { Some(self) }
    fn loads(&mut self) -> Option<&mut dyn Loads> { Some(self) }
    fn systems(&mut self) -> Option<&mut dyn Systems> { Some(self) }
    fn caches(&mut self) -> Option<&mut dyn Caches> { Some(self) }
    fn validates(&mut self) -> Option<&mut dyn Validates> { Some(self) }
    fn tests(&mut self) -> Option<&mut dyn Tests> { Some(self) }
    fn predicts(&mut self) -> Option<&mut dyn Predicts> { Some(self) }
}

impl desynctool::State for Served {
    fn world(&self) -> World { self.0.borrow().s.world("") }
}

impl Saves for Served {
    fn save(&self) -> Vec<u8> { self.0.borrow().pack() }
    fn restore(&mut self, saved: &[u8]) -> Result<()> { self.0.borrow_mut().roll_back(saved); Ok(()) }
}

impl Loads for Served {
    fn load(&mut self, from: &Snapshot, session: Option<&Session>) -> Result<()> {
        session.map_or(Ok(()), known)?;
        let w = &from.world;
        w.same_shape(&State::begin(1).world(""))?;
        let rng = w.rng().filter(|rng| rng.len() == 16).ok_or("an RNG of another size")?;
        let mut s = State { rng: Packed::parse(&mut &rng[..8]), serial: Packed::parse(&mut &rng[8..]), ..State::default() };
        s.tugs = Tug::load(w)?;
        s.barges = Barge::load(w)?;
        s.crates = Crate::load(w)?;
        s.buoys = Buoy::load(w)?;
        s.players = Player::load(w)?;
        s.harbour = Harbour::load(w)?;
        if s.tugs.len() != 8 || s.tugs.iter().any(|t| t.player > 3) || s.buoys.is_empty() || s.players.len() != PLAYERS || s.harbour.len() != 1 {
            return Err("the state cannot be".into());
        }
        s.grid = s.counted();
        let mut g = self.0.borrow_mut();
        (g.s, g.pulls, g.knocks, g.tick) = (s, vec![], vec![], from.at.tick);
        Ok(())
    }
}

impl Systems for Served {
    fn begin(&mut self, tick: u64, orders: &[Order]) -> Result<()> { self.0.borrow_mut().begin_tick(tick, orders); Ok(()) }
    fn next(&mut self) -> Next<'_> { let mut g = self.0.borrow_mut(); let system = g.run_next(); Next { system, more: g.system > 0 } }
}

impl Caches for Served {
    fn stale(&self) -> Vec<String> {
        let g = self.0.borrow();
        Vec::from_iter(Some("Grid".to_string()).filter(|_| g.s.grid != g.s.counted()))
    }
}

impl Validates for Served {
    fn validate(&self, _: u64, o: &Order) -> Option<String> {
        let why = match o {
            _ if o.kind > HORN => "there is no such kind of order",
            _ if o.player > 3 => "there is no such player",
            _ if o.kind != HORN && o.payload.len() != 18 => "its payload has another size",
            _ => return None,
        };
        Some(why.to_string())
    }
}

impl Tests for Served {
    fn test(&self, tick: u64, o: &Order) -> bool { let mut g = self.0.borrow_mut(); g.tick = tick; g.possible(o).is_some() }
}

impl Predicts for Served {
    fn predict(&mut self, tick: u64, _: u32, orders: &[Order]) {
        let mut g = self.0.borrow_mut();
        let saved = g.pack();
        g.begin_tick(tick, orders);
        g.sure = false;
        while { g.run_next(); g.system > 0 } {}
        g.tick = tick;
        g.roll_back(&saved);
        g.sure = true;
    }
}

// ---- Peers

/// A tick as it was played last, until all peers have played it with all orders.
#[derive(Default)]
struct Reel {
    saved: Vec<u8>, // the state before it
    root: Hash,     // of that state
    restored: bool, // it is not the one that was saved
    used: [Vec<Order>; PLAYERS],
    after: Vec<State>,
    traced: bool, // as confirmed
}

struct Peer {
    g: Tugs,
    name: &'static str,
    number: usize,
    peers: usize,
    head: u64, // the tick that is played next
    sure: u64, // the first tick of which not all orders are known
    boxes: BTreeMap<(u64, usize), Vec<Order>>, // known orders by tick and player
    mail: Vec<(u64, u64, usize, Vec<Order>)>,  // on their way: frame of arrival, tick, player
    again: Vec<(u64, Order)>,                  // that the network delivers in another tick
    reels: BTreeMap<u64, Reel>,
    script: [u64; PLAYERS],
    sticks: [(i8, i8); PLAYERS],
    sequence: [u32; PLAYERS],
    now: State, // at the point that is recorded
    log: OrderLog<std::fs::File>,
    trace: Option<(Trace<std::fs::File>, Detail)>,
    root: Hash,
    facts: BTreeMap<String, String>,
    blind: &'static str,
}

struct Options {
    dir: String,
    seed: u64,
    ticks: u64,
    every: u64,
    detail: Option<Detail>,
    mistakes: Vec<Mistake>,
    blind: &'static str, // the column that all checksums leave out
}

fn sum(bytes: &[u8]) -> Vec<Sum> { vec![Sum { name: String::new(), bytes: bytes.to_vec() }] }

/// What an input is, without the numbers of its orders.
fn hash_of(orders: &[Order]) -> Vec<Sum> {
    let what: Vec<Order> = orders.iter().map(|o| Order { sequence: 0, ..o.clone() }).collect();
    sum(&input_hash(&kinds(), 0, &what).unwrap())
}

impl Peer {
    /// What the network does once to the orders of another peer's player.
    fn mistreat(&mut self, tick: u64, list: &mut Vec<Order>) {
        self.g.tick = tick;
        self.g.sure = true;
        for (place, kind) in [("Surge", SURGE), ("Winch", WINCH)] {
            let Some(at) = list.iter().position(|o| o.kind == kind) else { continue };
            if self.g.once("order-duplicated", place) { self.again.push((tick + 1, list[at].clone())); }
            if self.g.once("order-altered", place) { list[at].payload[if kind == SURGE { 16 } else { 8 }] ^= 0x14; }
            if self.g.once("order-late", place) {
                self.again.push((tick + 1, list.remove(at)));
            } else if self.g.once("order-dropped", place) { list.remove(at); }
        }
    }

    fn event(&mut self, e: Event) -> Result<()> { self.trace.as_mut().map_or(Ok(()), |(t, _)| t.event(&e)) }

    /// Takes what has arrived, and returns the first tick that was played with other orders.
    fn receive(&mut self, frame: u64) -> Result<Option<u64>> {
        let mut wrong: Option<u64> = None;
        let (arrived, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.mail).into_iter().partition(|m| m.0 <= frame);
        self.mail = rest;
        for (_, tick, who, mut list) in arrived {
            self.mistreat(tick, &mut list);
            let (now, later) = std::mem::take(&mut self.again).into_iter().partition(|(at, o)| *at == tick && o.player as usize == who);
            self.again = later;
            list.extend(now.into_iter().map(|(_, o): (u64, Order)| o));
            self.event(Event::Input { tick, player: who as u32, predicted: false, sums: hash_of(&list) })?;
            let played = self.reels.get(&tick).filter(|_| tick < self.head);
            if let Some(r) = played {
                let what = |list: &[Order], kind: u32, rudder: bool| -> Vec<(u32, Vec<u8>)> {
                    let keep = |o: &&Order| o.kind < HORN && (kind > SURGE || o.kind == kind);
                    list.iter().filter(keep).map(|o| (o.kind, o.payload[..if rudder { 18 } else { 17 }].to_vec())).collect()
                };
                self.g.tick = tick;
                let (kind, rudder) = (if self.g.on("guess-stays", "Winch") { HELM } else { HORN }, !self.g.on("guess-stays", "Helm"));
                if what(&list, kind, rudder) != what(&r.used[who], kind, rudder) { wrong = Some(wrong.map_or(tick, |w| w.min(tick))); }
            }
            self.boxes.insert((tick, who), list);
        }
        Ok(wrong)
    }

    fn known(&self, tick: u64) -> bool { (0..PLAYERS).all(|who| self.boxes.contains_key(&(tick, who))) }

    /// The orders of a player for a tick: those that are known, or the last ones of the helm again.
    fn orders_of(&self, tick: u64, who: usize) -> Vec<Order> {
        match self.boxes.range((0, 0)..=(tick, PLAYERS)).rev().find(|((_, of), _)| *of == who) {
            Some(((at, _), list)) if *at == tick => list.clone(),
            Some((_, list)) => list.iter().filter(|o| o.kind == HELM).cloned().collect(),
            None => vec![],
        }
    }

    fn play(&mut self, tick: u64, restored: bool) -> Result<()> {
        let root = self.g.seen(&self.g.s, self.blind).hash()?;
        let mut r = Reel { saved: self.g.pack(), root, restored, ..Reel::default() };
        self.event(Event::Save { tick, sums: sum(&root[..8]) })?;
        for who in 0..PLAYERS {
            r.used[who] = self.orders_of(tick, who);
            if !self.boxes.contains_key(&(tick, who)) {
                self.event(Event::Input { tick, player: who as u32, predicted: true, sums: hash_of(&r.used[who]) })?;
            }
        }
        self.g.sure = (self.sure..=tick).all(|t| self.known(t));
        self.g.begin_tick(tick, &r.used.concat());
        for _ in SYSTEMS { self.g.run_next(); r.after.push(self.g.s.clone()); }
        if !self.g.sure {
            let hash = self.g.seen(&self.g.s, self.blind).hash()?;
            if let Some((trace, _)) = &mut self.trace {
                trace.add(&Checkpoint { tick, system: SYSTEMS[8].0.to_string(), predicted: true, sums: sum(&hash[..8]), ..Checkpoint::default() })?;
            }
        }
        self.reels.insert(tick, r);
        if self.g.sure { self.trace_tick(tick) } else { Ok(()) }
    }

    /// Traces a tick of which all orders are known.
    fn trace_tick(&mut self, tick: u64) -> Result<()> {
        let r = self.reels.get_mut(&tick).unwrap();
        self.g.tick = tick;
        if let Some((trace, detail)) = self.trace.as_mut().filter(|_| !r.traced) {
            for ((system, _), s) in SYSTEMS.iter().zip(&r.after) { trace.world(tick, system, &self.g.seen(s, self.blind), *detail)?; }
            trace.flush()?;
        }
        r.traced = true;
        Ok(())
    }

    fn go_back(&mut self, wrong: u64) -> Result<()> {
        self.g.tick = wrong;
        let mut to = wrong + u64::from(self.g.on("rollback-short", "Restore"));
        if self.g.on("rollback-short", "Window") { to = to.max(self.head.saturating_sub(4)); }
        if to >= self.head { return Ok(()); }
        let (shown, saved) = (self.g.s.clone(), self.reels[&to].saved.clone());
        self.g.tick = to;
        self.g.roll_back(&saved);
        let root = self.g.seen(&self.g.s, self.blind).hash()?;
        self.event(Event::Restore { tick: to, at: self.head, sums: sum(&root[..8]) })?;
        self.event(Event::Resimulate { tick: to, to: self.head - 1 })?;
        let other = root != self.reels[&to].root;
        (to..self.head).try_for_each(|tick| self.play(tick, tick == to && other))?;
        if self.g.on("smooth-leak", "Tug") { self.g.s.tugs.iter_mut().zip(&shown.tugs).for_each(|(t, o)| t.x = (t.x + o.x) * 0.5); }
        if self.g.on("smooth-leak", "Barge") {
            self.g.s.barges.iter_mut().zip(&shown.barges).filter(|(b, o)| b.id == o.id).for_each(|(b, o)| b.list = (b.list + o.list) * 0.5);
        }
        Ok(())
    }

    /// A scripted player, who sees the state that the peer shows.
    fn give(&mut self, who: usize, tick: u64) -> Vec<Order> {
        let rng = &mut self.script[who];
        if draw(rng, 5) == 0 { self.sticks[who] = (draw(rng, 255) as i8, draw(rng, 255) as i8); }
        let t = self.g.s.tugs[who * 2 + (tick / 40 % 2) as usize];
        let (ahead, side) = self.sticks[who];
        let (ahead, side) = if t.tow.is_some() { (-100, side / 4) } else { (ahead, side) };
        let near = self.g.s.barges.iter().min_by(|a, b| far(a.x, a.y, t.x, t.y).total_cmp(&far(b.x, b.y, t.x, t.y))).unwrap().id;
        let mut wanted = vec![(HELM, near)];
        match draw(rng, 24) {
            0..=2 => wanted.push((WINCH, t.tow.filter(|_| draw(rng, 4) == 0).unwrap_or(near))),
            3..=5 => wanted.push((SURGE, 0)),
            6 => wanted.push((HORN, 0)),
            _ => {}
        }
        let mut list = vec![];
        for (kind, barge) in wanted {
            let payload = if kind == HORN { b"tuut".to_vec() } else { Command { tug: t.id, barge: if kind == WINCH { barge } else { 0 }, ahead, side }.payload() };
            let o = Order { sub_tick: 0, player: who as u32, sequence: self.sequence[who], kind, payload };
            self.sequence[who] += 1;
            if kind == HORN || self.g.possible(&o).is_some() { list.push(o); }
        }
        list
    }

    fn record_point(&mut self, point: u64, o: &Options) -> Result<()> {
        self.g.tick = point;
        self.root = self.g.seen(&self.now, o.blind).hash()?;
        self.log.state(point, &self.root)
    }

    fn snapshot(&mut self, point: u64, o: &Options) -> Result<()> {
        let mut properties = self.facts.clone();
        properties.extend([("map".to_string(), "sound".to_string()), ("build".to_string(), "0.9".to_string())]);
        let at = Point { seed: o.seed, tick: point, peer: self.name.to_string(), history: self.log.history(), properties, ..Point::default() };
        self.now.world("").write_snapshot(&at, format!("{}/{}", o.dir, self.name))
    }

    fn record_tick(&mut self, tick: u64) -> Result<()> {
        let r = &self.reels[&tick];
        let mine = |o: &&Order| o.kind != HORN || o.player as usize % self.peers == self.number;
        let orders: Vec<Order> = (0..PLAYERS).flat_map(|who| self.boxes[&(tick, who)].iter()).filter(mine).cloned().collect();
        self.log.tick(tick, &orders)?;
        self.now = r.after[SYSTEMS.len() - 1].clone();
        Ok(())
    }
}

// ---- The truth: states compared value by value, without hashes

type Difference = ((&'static str, &'static str), Vec<u64>);

fn differences(a: &State, b: &State) -> Vec<Difference> {
    let (a, b) = (a.values(), b.values());
    let mut names: Vec<_> = a.keys().chain(b.keys()).copied().collect();
    names.sort();
    names.dedup();
    let none = BTreeMap::new();
    let mut list = vec![];
    for name in names {
        let (x, y) = (a.get(&name).unwrap_or(&none), b.get(&name).unwrap_or(&none));
        let mut keys: Vec<u64> = x.keys().chain(y.keys()).copied().filter(|k| x.get(k) != y.get(k)).collect();
        keys.sort();
        keys.dedup();
        if !keys.is_empty() { list.push((name, keys)); }
    }
    list
}

#[derive(Default)]
struct Truth {
    first: Option<(u64, Option<&'static str>, Difference)>, // point, system
    healed: Option<u64>,
    recorded: Option<u64>, // the first point at which hashes differ
    checksum: Option<&'static str>,
}

impl Truth {
    fn judge(&mut self, tick: u64, peers: &[Peer]) {
        let last: Vec<_> = peers[1..].iter().map(|p| differences(&peers[0].now, &p.now)).collect();
        if self.first.is_some() { if self.healed.is_none() && last.iter().all(Vec::is_empty) { self.healed = Some(tick + 1); } return; }
        if last.iter().all(Vec::is_empty) { return; }
        let restored = peers.iter().any(|p| p.reels[&tick].restored); // then no system made the difference
        for (system, (name, _)) in SYSTEMS.iter().enumerate() {
            for (p, last) in peers[1..].iter().zip(&last) {
                for (of, keys) in differences(&peers[0].reels[&tick].after[system], &p.reels[&tick].after[system]) {
                    let lasts = last.iter().find(|(other, _)| *other == of).map(|(_, list)| keys.into_iter().filter(|k| list.contains(k)).collect());
                    if let Some(keys) = lasts.filter(|keys: &Vec<u64>| !keys.is_empty()) {
                        self.first = Some((tick + 1, Some(*name).filter(|_| !restored), (of, keys)));
                        return;
                    }
                }
            }
        }
    }

    fn write(&self, o: &Options, guilty: &str) -> Result<()> {
        let or_null = |v: Option<u64>| v.map_or("null".to_string(), |v| v.to_string());
        let (name, place, from) = o.mistakes.first().map_or(("", "", 0), |m| (m.name, m.place, m.from));
        let mut text = format!("{{\n\"fault\": {name:?}, \"place\": {place:?}, \"peer\": {guilty:?}, \"from_tick\": {from},\n");
        match &self.first {
            None => text += "\"bracket\": null",
            Some((bad, system, ((table, component), keys))) => {
                let keys: Vec<String> = keys.iter().filter(|_| !table.is_empty()).map(u64::to_string).collect();
                let good = or_null(bad.checked_sub(1));
                text += &format!("\"bracket\": {{\"good\": {good}, \"bad\": {bad}}}, \"initial_state\": {}", *bad == 0);
                text += &format!(", \"system\": {}", system.map_or("null".to_string(), |s| format!("{s:?}")));
                text += &format!(",\n\"archetype\": {table:?}, \"component\": {component:?}, \"entities\": {keys:?}");
            }
        }
        text += &format!(",\n\"healed_at\": {}", or_null(self.healed));
        if let Some(kind) = self.checksum {
            text += &format!(",\n\"checksum\": {{\"kind\": {kind:?}, \"differs_at\": {}}}", or_null(self.recorded));
        }
        Ok(std::fs::write(format!("{}/truth.json", o.dir), text + "\n}\n")?)
    }
}

// ---- Recording

fn facts(number: usize, guilty: bool, o: &Options) -> BTreeMap<String, String> {
    let (other, made) = (number % 2 == 1, |name: &str| o.mistakes.iter().any(|m| m.name.starts_with(name)));
    if o.seed % 3 == 1 { return BTreeMap::new(); }
    let differ = other && o.seed % 4 > 1;
    let list = [
        ("os", if differ { "windows" } else { "linux" }),
        ("compiler", if differ || other && (made("float") || made("unstable")) { "rustc 1.70" } else { "rustc 1.80" }),
        ("locale", if guilty && made("locale") { "nb_NO.UTF-8" } else if differ { "de_DE.UTF-8" } else { "en_GB.UTF-8" }),
    ];
    list.map(|(k, v)| (k.to_string(), v.to_string())).into()
}

fn open(o: &Options, names: &[&'static str], number: usize, host: usize, guilty: Option<usize>) -> Result<Peer> {
    let mut g = Tugs::new(if guilty == Some(number) { o.mistakes.clone() } else { vec![] });
    g.live = true;
    g.begin_match(o.seed);
    let mut parameters = BTreeMap::from([("map".to_string(), "sound".to_string())]);
    if o.seed % 2 == 0 { parameters.insert("host peer".to_string(), names[host].to_string()); }
    let session = Session {
        seed: o.seed,
        peer: names[number].to_string(),
        build: "0.9".to_string(),
        rate: (30, 1),
        start: g.seen(&g.s, o.blind).hash()?,
        kinds: kinds(),
        peers: names.iter().map(|n| n.to_string()).collect(),
        parameters,
        ..Session::default()
    };
    let dir = format!("{}/{}", o.dir, names[number]);
    std::fs::create_dir_all(&dir)?;
    let log = OrderLog::create(format!("{dir}/order-log.bin"), &session)?;
    let trace = match o.detail {
        Some(detail) => Some((Trace::create(format!("{dir}/checkpoints.trace"), &session)?, detail)),
        None => None,
    };
    let boxes = (0..DELAY).flat_map(|tick| (0..PLAYERS).map(move |who| ((tick, who), vec![]))).collect();
    let script = std::array::from_fn(|who| o.seed.wrapping_mul(91).wrapping_add(who as u64));
    let (now, facts, root) = (g.s.clone(), facts(number, guilty == Some(number), o), Hash::default());
    Ok(Peer { g, name: names[number], number, peers: names.len(), head: 0, sure: 0, boxes, mail: vec![], again: vec![], reels: BTreeMap::new(),
        script, sticks: [(0, 0); PLAYERS], sequence: [0; PLAYERS], now, log, trace, root, facts, blind: o.blind })
}

/// One frame of a peer: it takes what came, plays again what was wrong, gives orders, and plays on. Returns orders for the others.
fn frame(p: &mut Peer, o: &Options, frame: u64) -> Result<Vec<(u64, usize, Vec<Order>)>> {
    if let Some(wrong) = p.receive(frame)? { p.go_back(wrong)?; }
    while p.sure < p.head && p.known(p.sure) { p.trace_tick(p.sure)?; p.sure += 1; }
    let mut sent = vec![];
    if p.head - p.sure < AHEAD && p.head < o.ticks + DELAY {
        for who in (p.number..PLAYERS).step_by(p.peers) {
            p.g.tick = p.head;
            let list = p.give(who, p.head);
            p.boxes.insert((p.head + DELAY, who), list.clone());
            sent.push((p.head + DELAY, who, list));
        }
        p.play(p.head, false)?;
        p.head += 1;
    }
    Ok(sent)
}

fn record(o: &mut Options) -> Result<()> {
    let n = 2 + (o.seed / 2 % 3) as usize;
    let names: Vec<&'static str> = (0..n).map(|i| NAMES[(o.seed as usize + i) % NAMES.len()]).collect();
    let host = (o.seed / 5) as usize % n;
    let guilty = o.mistakes.first().map(|m| if m.host { host } else { (host + 1) % n });
    let mut peers = (0..n).map(|i| open(o, &names, i, host, guilty)).collect::<Result<Vec<_>>>()?;
    let (mut truth, mut network, mut recorded, mut last) = (Truth::default(), o.seed ^ 0x5ea, 0, vec![0; n * n]);
    for p in &peers[1..] {
        if let Some(d) = differences(&peers[0].now, &p.now).into_iter().next().filter(|_| truth.first.is_none()) {
            truth.first = Some((0, None, d));
        }
    }
    for f in 0.. {
        for i in 0..n {
            for (tick, who, list) in frame(&mut peers[i], o, f)? {
                for k in (0..n).filter(|k| *k != i) {
                    let at = (f + 1 + u64::from(draw(&mut network, 4) + draw(&mut network, 5))).max(last[i * n + k]);
                    last[i * n + k] = at; // they arrive in order
                    peers[k].mail.push((at, tick, who, list.clone()));
                }
            }
        }
        while recorded <= o.ticks && peers.iter().all(|p| p.sure > recorded) {
            peers.iter_mut().try_for_each(|p| p.record_point(recorded, o))?;
            let apart = peers.iter().any(|p| p.root != peers[0].root) && truth.recorded.is_none();
            if apart {
                truth.recorded = Some(recorded);
                truth.checksum = Some("checksum-only").filter(|_| peers.iter().all(|p| differences(&peers[0].now, &p.now).is_empty()));
            }
            if apart || recorded % o.every == 0 || recorded == o.ticks { peers.iter_mut().try_for_each(|p| p.snapshot(recorded, o))?; }
            if recorded < o.ticks { peers.iter_mut().try_for_each(|p| p.record_tick(recorded))?; truth.judge(recorded, &peers); }
            recorded += 1;
            for p in &mut peers {
                p.reels.retain(|tick, _| tick + 2 > recorded || *tick + 2 > p.sure);
                p.boxes.retain(|(tick, _), _| tick + 64 > recorded);
            }
        }
        if recorded > o.ticks { break; }
    }
    if truth.first.is_some() && truth.recorded.is_none() { truth.checksum = Some("blind-checksum"); }
    truth.write(o, guilty.map_or("", |i| names[i]))?;
    for p in peers { p.log.close()?; p.trace.map_or(Ok(()), |(t, _)| t.close().map(drop))?; }
    Ok(())
}

/// NAME[/PLACE][@TICK][:host|:client]
fn mistake(text: &str, seed: u64) -> Option<Mistake> {
    let (text, host) = match text.split_once(':') {
        Some((text, peer)) => (text, peer == "host"),
        None => (text, text.starts_with("host-only")),
    };
    let (text, from) = text.split_once('@').map_or((text, Some(60)), |(text, from)| (text, from.parse().ok()));
    let (name, place) = text.split_once('/').map_or((text, None), |(name, place)| (name, Some(place)));
    let (name, places, _) = FAULTS.iter().find(|f| f.0 == name)?;
    let place = place.map_or(Some(&places[seed as usize % places.len()]), |place| places.iter().find(|p| **p == place))?;
    Some(Mistake { name, place, from: from?, host, done: false })
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args == ["faults"] { return FAULTS.iter().for_each(|(name, places, what)| println!("{name}\t{}\t{what}", places.join(","))); }
    let serves = args.first().map_or(false, |a| a == "serve");
    let mut usable = serves || args.len() > 1 && args[0] == "record";
    let mut o = Options { dir: args.get(1).cloned().unwrap_or_default(), seed: 1, ticks: 360, every: 20, detail: None, mistakes: vec![], blind: "" };
    let mut wanted = None;
    for pair in args.get(if serves { 1 } else { 2 }..).unwrap_or(&[]).chunks(2) {
        let value = pair.get(1).map_or("", |v| v);
        let number = value.parse();
        match (&pair[0][..], number) {
            ("--seed", Ok(n)) => o.seed = n,
            ("--ticks", Ok(n)) => o.ticks = n,
            ("--snapshot-every", Ok(n)) => o.every = n.max(1),
            ("--trace", _) => o.detail = [None, Some(Detail::System), Some(Detail::Archetype), Some(Detail::Column)][["none", "system", "archetype", "column"].iter().position(|d| *d == value).unwrap_or(0)],
            ("--fault", _) => wanted = Some(value.to_string()),
            _ => usable = false,
        }
    }
    if let Some(text) = wanted { o.mistakes = mistake(&text, o.seed).into_iter().collect(); usable = usable && !o.mistakes.is_empty(); }
    if !usable {
        eprintln!("tugs: expected faults, serve or record DIR, with --seed N, --ticks N, --snapshot-every N, --trace LEVEL, --fault NAME[/PLACE][@TICK]");
        std::process::exit(2);
    }
    if serves {
        let outside = FAULTS.iter().position(|f| f.0 == "order-dropped").unwrap();
        o.mistakes.retain(|m| FAULTS[..outside].iter().any(|f| f.0 == m.name));
        std::process::exit(serve(&mut Served(RefCell::new(Tugs::new(o.mistakes)))));
    }
    if let Some(m) = o.mistakes.first().filter(|m| m.name == "blind-checksum") {
        o.blind = if m.place == "Tug" { "Tug.way" } else { "Barge.wear" };
    }
    if let Err(why) = record(&mut o) { eprintln!("tugs: {why}"); std::process::exit(2); }
}
