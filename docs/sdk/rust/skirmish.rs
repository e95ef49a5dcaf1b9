// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

//! skirmish.rs: a whole small game with desynctool.rs, the same as ../c/skirmish.c: it writes the same files.
//!
//!     rustc --edition 2021 -O skirmish.rs
//!     ./skirmish record DIR [--ticks N] [--seed N] [--fault TICK] [--sign N]   two peers play, and leave DIR/host and DIR/client
//!     ./skirmish serve [--fault TICK]                                          replays for desynctool
//!
//! The fault hides: from TICK on the client (or what is served) forgets to take the dead out of the grid, a cache.
//! Nothing differs until a unit walks where the grid wrongly shows a crowd. With --sign each peer signs its states,
//! with a key made of N; the keys of a real game are secret.
mod desynctool;
#[cfg(desynctool_branches)] // a build that records its branches: docs/code.md
mod desynctool_branches;

use desynctool::*;

const SLOTS: usize = 40; // units of a type
const UNITS: usize = 2 * SLOTS;
const SIDE: i64 = 16; // cells along the map
const CELL: i64 = 8; // paces along a cell
const ONE: i64 = 65536;
const EDGE: i64 = SIDE * CELL * ONE;
const TYPES: [&str; 2] = ["Infantry", "Tank"];
const MOVE: u32 = 0;
const ATTACK: u32 = 1;
const STOP: u32 = 2;

type Pace = Fixed<65536>;

#[derive(Clone, Copy, Default)]
struct Unit {
    id: u64, // modulo UNITS it is the slot
    alive: bool,
    owner: u8,
    health: i32,
    x: i64, // in 1/65536 of a pace
    y: i64,
    goal_x: i64,
    goal_y: i64,
    cooldown: u16, // ticks until it fires again
    target: Option<u64>,
}

impl Unit {
    fn cell(&self) -> usize {
        (self.y / ONE / CELL * SIDE + self.x / ONE / CELL) as usize
    }

    fn distance(&self, other: &Unit) -> i64 {
        (self.x - other.x).abs() + (self.y - other.y).abs()
    }
}

/// The payload of orders. Target: of attack; x, y: of move, in paces.
struct Command {
    id: u64,
    target: u64,
    x: u32,
    y: u32,
}

impl Command {
    fn to_bytes(&self) -> Vec<u8> {
        let words = [self.id.to_le_bytes(), self.target.to_le_bytes(), (u64::from(self.y) << 32 | u64::from(self.x)).to_le_bytes()];
        words.concat()
    }

    fn from_bytes(b: &[u8]) -> Option<Command> {
        let mut words = b.chunks_exact(8).map(|w| w.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b)));
        let (id, target, at) = (words.next()?, words.next()?, words.next()?);
        Some(Command { id, target, x: at as u32, y: (at >> 32) as u32 }).filter(|_| b.len() == 24)
    }
}

fn draw(rng: &mut u64, n: u32) -> u32 {
    *rng = rng.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (((*rng >> 33) * u64::from(n)) >> 31) as u32
}

fn toward(at: i64, to: i64, pace: i64) -> i64 {
    at + (to - at).clamp(-pace, pace)
}

#[derive(Clone)]
struct Skirmish {
    rng: u64,
    serial: u64, // of the last unit; hashed with the RNG
    kills: [u32; 2],
    units: [Unit; UNITS],                // infantry, then tanks
    grid: [u16; (SIDE * SIDE) as usize], // how many units are in each cell: derived, and kept up to date by the systems
    fault: u64,                          // first tick with it
    tick: u64,                           // the one that is being played
    orders: Vec<Order>,                  // its orders
    system: usize,                       // the next one to run
}

const SYSTEMS: [(&str, fn(&mut Skirmish)); 5] = [
    ("Orders", Skirmish::obey),
    ("Movement", Skirmish::walk),
    ("Targeting", Skirmish::aim),
    ("Combat", Skirmish::fire),
    ("Reinforcement", Skirmish::reinforce),
];

impl Skirmish {
    fn new(fault: u64) -> Self {
        let grid = [0; (SIDE * SIDE) as usize];
        Skirmish { rng: 0, serial: 0, kills: [0; 2], units: [Unit::default(); UNITS], grid, fault, tick: 0, orders: Vec::new(), system: 0 }
    }

    fn find(&self, id: u64) -> Option<usize> {
        let at = (id % UNITS as u64) as usize;
        Some(at).filter(|_| self.units[at].alive && self.units[at].id == id)
    }

    fn spawn(&mut self, kind: usize, owner: u8) {
        let i = match (kind * SLOTS..(kind + 1) * SLOTS).find(|i| !self.units[*i].alive) {
            Some(i) => i,
            None => return,
        };
        self.serial = self.serial.wrapping_add(1);
        let x = if owner > 0 { 12 } else { 2 } * CELL * ONE + i64::from(draw(&mut self.rng, (2 * CELL * ONE) as u32));
        let y = i64::from(draw(&mut self.rng, EDGE as u32));
        let id = self.serial.wrapping_mul(UNITS as u64).wrapping_add(i as u64);
        let u = Unit { id, alive: true, owner, health: [40, 120][kind], x, y, goal_x: x, goal_y: y, ..Unit::default() };
        self.grid[u.cell()] += 1;
        self.units[i] = u;
    }

    /// The unit that an order is for and its command, None if it is not possible now.
    fn ordered(&self, o: &Order) -> Option<(usize, Command)> {
        let command = Command::from_bytes(&o.payload).filter(|_| self.validate(0, o).is_none())?;
        let i = self.find(command.id).filter(|i| u32::from(self.units[*i].owner) == o.player)?;
        Some((i, command)).filter(|(_, command)| o.kind != ATTACK || self.find(command.target).is_some())
    }

    fn obey(&mut self) {
        for o in std::mem::take(&mut self.orders) {
            if let Some((i, command)) = self.ordered(&o) {
                let u = &mut self.units[i];
                u.target = Some(command.target).filter(|_| o.kind == ATTACK);
                u.goal_x = if o.kind == MOVE { i64::from(command.x) * ONE % EDGE } else { u.x };
                u.goal_y = if o.kind == MOVE { i64::from(command.y) * ONE % EDGE } else { u.y };
            }
        }
    }

    fn walk(&mut self) {
        for (i, u) in self.units.iter_mut().enumerate().filter(|(_, u)| u.alive) {
            let crowd = if self.grid[u.cell()] > 2 { 2 } else { 1 }; // slow in a crowd
            let pace = if i < SLOTS { ONE / 4 } else { ONE / 2 } / crowd;
            self.grid[u.cell()] = self.grid[u.cell()].wrapping_sub(1);
            u.x = toward(u.x, u.goal_x, pace);
            u.y = toward(u.y, u.goal_y, pace);
            self.grid[u.cell()] = self.grid[u.cell()].wrapping_add(1);
        }
    }

    fn target(&self, u: &Unit) -> Option<usize> {
        u.target.filter(|_| u.alive).and_then(|id| self.find(id))
    }

    fn aim(&mut self) {
        for i in 0..UNITS {
            let mut u = self.units[i];
            if let Some(at) = self.target(&u).map(|at| &self.units[at]) {
                if u.distance(at) > 12 * ONE {
                    u.goal_x = at.x; // after it
                    u.goal_y = at.y;
                }
            } else if u.alive {
                let near = self.units.iter().find(|v| v.alive && v.owner != u.owner && u.distance(v) < 16 * ONE);
                u.target = near.map(|v| v.id);
            }
            self.units[i] = u;
        }
    }

    fn fire(&mut self) {
        for i in 0..UNITS {
            let target = self.target(&self.units[i]);
            let u = &mut self.units[i];
            if u.alive && u.cooldown > 0 {
                u.cooldown -= 1;
            }
            let u = *u;
            let at = match target {
                Some(at) if u.cooldown == 0 && u.distance(&self.units[at]) <= 16 * ONE => at,
                _ => continue,
            };
            let cooldown = if i < SLOTS { 10 } else { 30 };
            self.units[i].cooldown = cooldown;
            let v = &mut self.units[at];
            v.health -= i32::from(cooldown / 2) + draw(&mut self.rng, u32::from(cooldown)) as i32;
            if v.health > 0 {
                continue;
            }
            v.alive = false;
            self.kills[u.owner as usize] = self.kills[u.owner as usize].wrapping_add(1);
            if self.tick < self.fault {
                self.grid[v.cell()] = self.grid[v.cell()].wrapping_sub(1);
            }
        }
    }

    fn reinforce(&mut self) {
        for owner in (0..2).filter(|_| self.tick % 20 == 0).collect::<Vec<_>>() {
            let kind = usize::from(draw(&mut self.rng, 4) == 0);
            self.spawn(kind, owner);
        }
    }

    fn counted(&self) -> [u16; (SIDE * SIDE) as usize] {
        let mut grid = [0; (SIDE * SIDE) as usize];
        self.units.iter().filter(|u| u.alive).for_each(|u| grid[u.cell()] += 1);
        grid
    }

    fn known(session: &Session) -> Result<()> {
        if session.parameter("map", "plain") == "plain" {
            Ok(())
        } else {
            Err("there is no such map".into())
        }
    }
}

// ---- What desynctool asks

impl Game for Skirmish {
    fn name(&self) -> &str {
        "skirmish"
    }
    fn build(&self) -> &str {
        "1.0"
    }
    fn kinds(&self) -> Vec<Kind> {
        ["move", "attack", "stop"].map(Kind::new).to_vec()
    }

    fn start(&mut self, session: &Session) -> Result<()> {
        Skirmish::known(session)?;
        *self = Skirmish { rng: session.seed, ..Skirmish::new(self.fault) };
        (0..32).for_each(|i| self.spawn(usize::from(i % 8 >= 6), i % 2));
        Ok(())
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
    fn saves(&mut self) -> Option<&mut dyn Saves> {
        Some(self)
    }
    fn loads(&mut self) -> Option<&mut dyn Loads> {
        Some(self)
    }
    fn systems(&mut self) -> Option<&mut dyn Systems> {
        Some(self)
    }
    fn caches(&mut self) -> Option<&mut dyn Caches> {
        Some(self)
    }
    fn validates(&mut self) -> Option<&mut dyn Validates> {
        Some(self)
    }
    fn tests(&mut self) -> Option<&mut dyn Tests> {
        Some(self)
    }
    fn predicts(&mut self) -> Option<&mut dyn Predicts> {
        Some(self)
    }
    #[cfg(desynctool_branches)]
    fn branches(&mut self) -> Option<&mut dyn Branches> {
        Some(Box::leak(Box::new(desynctool_branches::BranchRecorder)))
    }
}

impl State for Skirmish {
    fn world(&self) -> World {
        let mut w = World::new();
        w.set_rng([self.rng.to_le_bytes(), self.serial.to_le_bytes()].concat());
        for (kind, label) in TYPES.into_iter().enumerate() {
            w.archetype(label, self.units[kind * SLOTS..(kind + 1) * SLOTS].iter().filter(|u| u.alive), |u| u.id)
                .column("Health", "points", |u| u.health)
                .column("Owner", "player", |u| u.owner)
                .column("Position", "x", |u| Fixed::<65536>(u.x))
                .column("Position", "y", |u| Fixed::<65536>(u.y))
                .column("Goal", "x", |u| Fixed::<65536>(u.goal_x))
                .column("Goal", "y", |u| Fixed::<65536>(u.goal_y))
                .column("Weapon", "cooldown", |u| u.cooldown)
                .column("Weapon", "target", |u| u.target.map(Ref));
        }
        w.archetype("Player", 0..2, |i| i).column("Score", "kills", |i: usize| self.kills[i]);
        w.cache("Grid", 0..self.grid.len(), |i| i).column("Cell", "units", |i| self.grid[i]);
        w
    }
}

impl Loads for Skirmish {
    fn load(&mut self, from: &Snapshot, session: Option<&Session>) -> Result<()> {
        session.map_or(Ok(()), Skirmish::known)?;
        from.world.same_shape(&self.world())?;
        let mut s = Skirmish::new(self.fault);
        let rng = from.world.rng().unwrap_or(&[]);
        s.rng = u64::from_le_bytes(rng[..8].try_into().map_err(|_| "an RNG of another size")?);
        s.serial = u64::from_le_bytes(rng[8..].try_into().map_err(|_| "an RNG of another size")?);
        for (kind, label) in TYPES.iter().enumerate() {
            let t = from.world.find(Class::Archetype, label)?;
            let (health, owner) = (t.column::<i32>("Health", "points")?, t.column::<u8>("Owner", "player")?);
            let (x, y) = (t.column::<Pace>("Position", "x")?, t.column::<Pace>("Position", "y")?);
            let (goal_x, goal_y) = (t.column::<Pace>("Goal", "x")?, t.column::<Pace>("Goal", "y")?);
            let (cooldown, target) = (t.column::<u16>("Weapon", "cooldown")?, t.column::<Ref>("Weapon", "target")?);
            for row in 0..t.rows() {
                let id = t.key(row).0;
                let u = Unit {
                    id,
                    alive: true,
                    owner: owner.at(row)?,
                    health: health.at(row)?,
                    x: x.at(row)?.0,
                    y: y.at(row)?.0,
                    goal_x: goal_x.at(row)?.0,
                    goal_y: goal_y.at(row)?.0,
                    cooldown: cooldown.at(row)?,
                    target: target.get(row).map(|target| target.0),
                };
                let slot = (id % UNITS as u64) as usize;
                if slot / SLOTS != kind || s.units[slot].alive {
                    return Err("the state has a unit that the game has no slot for".into());
                }
                if [u.x, u.y, u.goal_x, u.goal_y].iter().any(|v| !(0..EDGE).contains(v)) || u.owner > 1 || u.health < 1 {
                    return Err("the state has a unit that cannot be".into());
                }
                s.units[slot] = u;
            }
        }
        let players = from.world.find(Class::Archetype, "Player")?;
        let kills = players.column::<u32>("Score", "kills")?;
        for row in 0..players.rows() {
            let player = s.kills.get_mut(players.key(row).0 as usize).ok_or("the state has more players than the game")?;
            *player = kills.at(row)?;
        }
        if players.rows() != s.kills.len() {
            return Err("the state has less players than the game".into());
        }
        s.grid = s.counted(); // a cache that is loaded may be what is wrong
        *self = s;
        Ok(())
    }
}

impl Saves for Skirmish {
    /// All that the simulation reads and writes, as numbers of 8 bytes.
    fn save(&self) -> Vec<u8> {
        let mut words = vec![self.rng, self.serial, self.kills[0].into(), self.kills[1].into()];
        for u in &self.units {
            words.extend([u.id, u.alive.into(), u.owner.into(), u.health as u64, u.x as u64, u.y as u64, u.goal_x as u64, u.goal_y as u64]);
            words.extend([u.cooldown.into(), u.target.is_some().into(), u.target.unwrap_or(0)]);
        }
        words.extend(self.grid.map(u64::from));
        words.into_iter().flat_map(u64::to_le_bytes).collect()
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        if saved.len() != 8 * (4 + 11 * UNITS + self.grid.len()) {
            return Err("a save of another build".into());
        }
        let mut words = saved.chunks_exact(8).map(|w| w.iter().rev().fold(0, |v, b| v << 8 | u64::from(*b)));
        let mut next = || words.next().unwrap_or(0);
        self.rng = next();
        self.serial = next();
        self.kills = [next() as u32, next() as u32];
        for u in &mut self.units {
            *u = Unit {
                id: next(),
                alive: next() != 0,
                owner: next() as u8,
                health: next() as i32,
                x: next() as i64,
                y: next() as i64,
                goal_x: next() as i64,
                goal_y: next() as i64,
                cooldown: next() as u16,
                target: Some((next(), next())).filter(|(some, _)| *some != 0).map(|(_, id)| id),
            };
        }
        self.grid.iter_mut().for_each(|cell| *cell = next() as u16);
        Ok(())
    }
}

impl Systems for Skirmish {
    fn begin(&mut self, tick: u64, orders: &[Order]) -> Result<()> {
        self.tick = tick;
        self.orders = orders.to_vec();
        self.system = 0;
        Ok(())
    }

    fn next(&mut self) -> Next<'_> {
        let (system, run) = SYSTEMS[self.system];
        run(self);
        self.system += 1;
        Next { system, more: self.system < SYSTEMS.len() }
    }
}

impl Caches for Skirmish {
    fn stale(&self) -> Vec<String> {
        Vec::from_iter(Some("Grid".to_string()).filter(|_| self.grid != self.counted()))
    }
}

impl Validates for Skirmish {
    fn validate(&self, _: u64, o: &Order) -> Option<String> {
        let why = match o {
            _ if o.kind > STOP => "there is no such kind of order",
            _ if o.player > 1 => "there is no such player",
            _ if o.payload.len() != 24 => "its payload has another size",
            _ => return None,
        };
        Some(why.to_string())
    }
}

impl Tests for Skirmish {
    fn test(&self, _: u64, o: &Order) -> bool {
        self.ordered(o).is_some()
    }
}

impl Predicts for Skirmish {
    fn predict(&mut self, tick: u64, _: u32, orders: &[Order]) {
        let mut ahead = self.clone();
        let _ = ahead.step(tick, orders); // it is never refused, and never stays
    }
}

// ---- Two peers that play

struct Peer {
    game: Skirmish,
    files: Recorder,
    chain: Option<TickSignatures<std::fs::File>>,
    script: u64, // RNG of the player, which is not the game's
}

impl Peer {
    /// A scripted player looks at a unit. If that is its own it goes somewhere, attacks or stops, as its own machine has it.
    fn script(&mut self, player: u32, tick: u64) -> Option<Order> {
        let u = self.game.units[draw(&mut self.script, UNITS as u32) as usize];
        let at = self.game.units[draw(&mut self.script, UNITS as u32) as usize];
        let dice = draw(&mut self.script, 8);
        let (x, y) = (draw(&mut self.script, (SIDE * CELL) as u32), draw(&mut self.script, (SIDE * CELL) as u32));
        let kind = [MOVE, MOVE, MOVE, MOVE, ATTACK, ATTACK, ATTACK, STOP][dice as usize];
        let payload = Command { id: u.id, target: at.id, x, y }.to_bytes();
        let order = Order { sub_tick: 0, player, sequence: tick as u32, kind, payload };
        let own = |u: &Unit| u32::from(u.owner) == player;
        Some(order).filter(|_| u.alive && own(&u) && (kind != ATTACK || at.alive && !own(&at)))
    }
}

fn record(dir: &str, ticks: u64, seed: u64, fault: u64, key: u64) -> Result<()> {
    let names = ["host", "client"];
    let mut peers = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let mut game = Skirmish::new(if i == 0 { u64::MAX } else { fault });
        let session = Session {
            seed,
            peer: name.to_string(),
            build: game.build().to_string(),
            rate: (20, 1),
            kinds: game.kinds(),
            peers: names.map(String::from).to_vec(),
            parameters: [("map".to_string(), "plain".to_string())].into(),
            ..Session::default()
        };
        game.start(&session)?;
        let files = Recorder::create(dir, &session, &game.world(), Some(Detail::Column))?;
        let chain = if key == 0 {
            None
        } else {
            let mut secret = [0; 32];
            secret[..8].copy_from_slice(&key.to_le_bytes());
            secret[8] = i as u8;
            let path = format!("{dir}/{name}/tick-signatures.bin");
            Some(TickSignatures::create(path, seed, name, &game.world().hash()?, Signer::Secret(secret))?)
        };
        peers.push(Peer { game, files, chain, script: seed.wrapping_add(i as u64) });
    }
    let mut parted = None;
    for tick in 0..=ticks {
        for p in &mut peers {
            let world = p.game.world();
            p.files.state(tick, &world)?;
            if let Some(chain) = &mut p.chain {
                chain.append(tick, &p.files.root())?;
            }
            if tick % 100 == 0 || tick == ticks || parted.map_or(false, |at| at + 1 == tick) {
                p.files.snapshot(&world)?;
            }
        }
        if tick == ticks {
            break;
        }
        let orders: Vec<Order> = peers.iter_mut().zip(0..).filter_map(|(p, player)| p.script(player, tick)).collect();
        for p in &mut peers {
            p.files.tick(tick, &orders)?;
            p.game.begin(tick, &orders)?;
        }
        for (system, _) in SYSTEMS {
            for p in &mut peers {
                p.game.next();
                p.files.system(system, &p.game.world())?;
            }
            if parted.is_none() && peers[0].files.root() != peers[1].files.root() {
                println!("the peers diverge in tick {tick}, in {system}");
                parted = Some(tick);
            }
        }
    }
    peers.into_iter().try_for_each(|p| {
        p.chain.map_or(Ok(()), |chain| chain.close().map(drop))?;
        p.files.close()
    })
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let serves = args.first().map_or(false, |a| a == "serve");
    let (mut numbers, flags) = ([600, 1, u64::MAX, 0], ["--ticks", "--seed", "--fault", "--sign"]);
    let mut usable = serves || args.len() > 1 && args[0] == "record";
    for pair in args.get(if serves { 1 } else { 2 }..).unwrap_or(&[]).chunks(2) {
        let number = pair.get(1).and_then(|number| number.parse().ok());
        match (flags.iter().position(|flag| *flag == pair[0]), number) {
            (Some(at), Some(number)) => numbers[at] = number,
            _ => usable = false,
        }
    }
    if !usable {
        eprintln!("skirmish: expected serve or record DIR, then --ticks N, --seed N, --fault TICK, --sign N");
        std::process::exit(2);
    }
    if serves {
        std::process::exit(serve(&mut Skirmish::new(numbers[2])));
    }
    if let Err(why) = record(&args[1], numbers[0], numbers[1], numbers[2], numbers[3]) {
        eprintln!("skirmish: {why}");
        std::process::exit(2);
    }
}
