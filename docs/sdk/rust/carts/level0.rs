// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

//! The carts of ../../c/carts with a flight recorder: two peers of the game in one process.
#[path = "../desynctool.rs"]
mod desynctool;
#[path = "../desynctool_flight.rs"]
mod desynctool_flight;

use desynctool::{Fixed, Kind, Order, Result};
use desynctool_flight::{Flight, Layout, Options, Status};

const CARTS: usize = 8;
const TICKS: u64 = 120;
const MISTAKE: u64 = 60; // the first tick in which the client makes its mistake

#[derive(Default)]
struct Cart {
    id: u64,
    x: i64, // in 1/256 of a pace
    speed: i64,
}

struct Game {
    rng: u64,
    carts: Vec<Cart>,
}

impl Game {
    fn new(seed: u64) -> Self {
        Game { rng: seed, carts: (1..=CARTS as u64).map(|id| Cart { id, ..Cart::default() }).collect() }
    }

    fn draw(&mut self, n: u64) -> i64 {
        self.rng = self.rng.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.rng >> 33) % n) as i64
    }

    fn obey(&mut self, orders: &[Order]) {
        for o in orders.iter().filter(|o| o.payload.len() == 1) {
            self.carts[o.payload[0] as usize % CARTS].speed += 64;
        }
    }

    fn wind(&mut self, sparks: bool) {
        let cart = self.draw(CARTS as u64) as usize;
        self.carts[cart].speed += self.draw(16);
        if sparks {
            self.draw(360); // the mistake: which way sparks fly, from the game's own random numbers
        }
    }

    fn roll(&mut self) {
        for c in &mut self.carts {
            c.x += c.speed;
            c.speed -= c.speed / 8;
        }
    }
}

/// The players: one pushes a cart in every fifth tick.
fn script(tick: u64) -> Vec<Order> {
    let push = Order { player: (tick / 5 % 2) as u32, sequence: tick as u32, payload: vec![(tick * 7 % CARTS as u64) as u8], ..Order::default() };
    Some(push).into_iter().filter(|_| tick % 5 == 0).collect()
}

fn open(me: usize) -> Result<Flight<Game>> {
    let mut layout = Layout::new();
    layout.rng(|g: &Game| g.rng.to_le_bytes());
    layout.archetype("Cart", CARTS, |g: &Game| &g.carts).key(|c| c.id)
        .column("Cart", "x", |c| Fixed::<256>(c.x))
        .column("Cart", "speed", |c| Fixed::<256>(c.speed));
    let (peers, kinds) = (vec!["host".to_string(), "client".to_string()], vec![Kind::new("push")]);
    Flight::open(Options { seed: 7, build: "1.0".to_string(), peers, me, kinds, ..Options::default() }, layout)
}

/// The game's own: here the packets of each peer go straight to the other.
fn network(flights: &mut [Flight<Game>; 2], ms: u64) {
    for me in 0..2 {
        while let Some(packet) = flights[me].send(ms) {
            flights[packet.to].receive(me, &packet);
        }
    }
}

fn play() -> Result<()> {
    let mut games = [Game::new(7), Game::new(7)];
    let mut flights = [open(0)?, open(1)?];
    for me in 0..2 {
        flights[me].state(0, &games[me])?;
    }
    for tick in 0..TICKS {
        let orders = script(tick);
        for me in 0..2 {
            let (g, f) = (&mut games[me], &mut flights[me]);
            f.tick(tick, &orders)?;
            g.obey(&orders);
            f.system("Orders", g)?;
            g.wind(me == 1 && tick >= MISTAKE);
            f.system("Wind", g)?;
            g.roll();
            f.system("Roll", g)?;
            f.state(tick + 1, g)?;
        }
        network(&mut flights, tick * 33);
    }
    if flights[0].status() == Status::Found {
        print!("{}", flights[0].text()); // the other peer has the same text
        if let Some(dir) = std::env::args().nth(1) {
            flights[0].files(dir)?;
        }
    }
    Ok(())
}

fn main() {
    if let Err(why) = play() {
        eprintln!("{why}");
        std::process::exit(2);
    }
}
