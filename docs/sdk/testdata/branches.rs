// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

//! A small game in Rust whose builds differ by one mistake, --cfg fault="N": a test looks for the lines of "FAULT N" and
//! "SOUND N". Mistakes from 20 on are flags of the compiler, for the same source. The SDK is a crate of its own, which is
//! not instrumented.
#![allow(unexpected_cfgs, unused_variables)]
extern crate desynctool;
#[path = "../rust/desynctool_branches.rs"]
mod desynctool_branches;

use desynctool::*;
#[cfg(fault = "8")]
use std::collections::HashMap;
use std::ffi::{c_char, c_int, CString};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

const FROM: u32 = 40; // the tick from which the mistake shows

#[derive(Clone, Copy, Default)]
struct Unit {
    id: u32,
    x: i32,
    y: i32,
    hp: i32,
    target: usize,
    rank: usize,
}

struct Simulation {
    tick: u32,
    rng: u32,
    units: [Unit; 64],
    system: usize,
}

extern "C" {
    fn setlocale(category: c_int, name: *const c_char) -> *const c_char;
    fn strtod(text: *const c_char, end: *mut *const c_char) -> f64;
}

/// Values from a file: as text, with a point.
fn parsed(text: &str) -> f64 {
    let text = CString::new(text).unwrap_or_default();
    let mut end = std::ptr::null();
    // SAFETY: the text ends with NUL, and end is set to a place in it.
    let (v, left) = unsafe { (strtod(text.as_ptr(), &mut end), *end) };
    if left != 0 {
        return v - 1.0; // FAULT 7: the locale's decimal point
    }
    v
}

#[inline(never)]
fn fused(a: f32, b: f32) -> f32 {
    if cfg!(fault = "21") {
        return a.mul_add(b, -(a * b)); // the second product is not rounded
    }
    a * b - a * b
}

#[inline(never)]
fn bonus_of(u: &Unit, late: bool) -> i32 {
    let mut bonus = MaybeUninit::<[i32; 32]>::uninit();
    let at = bonus.as_mut_ptr() as *mut i32;
    // SAFETY: there is none, for the mistake.
    unsafe {
        if cfg!(fault = "6") && late && u.rank % 3 == 0 { // FAULT 6:
            return std::ptr::read_volatile(at.add(20)); // FAULT 6: it has no value for some
        }
        std::ptr::write_volatile(at.add(20), 0); // SOUND 6:
        std::ptr::read_volatile(at.add(20))
    }
}

#[inline(never)]
fn used_stack() {
    let mut old = [0i32; 256];
    for v in &mut old {
        // SAFETY: it is a reference.
        unsafe { std::ptr::write_volatile(v, 7) };
    }
}

fn raced() -> u32 {
    let (shared, started) = (AtomicU32::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| { // FAULT 9:
        for _ in 0..2 {
            scope.spawn(|| {
                started.fetch_add(1, Relaxed);
                while started.load(Relaxed) < 2 {
                    std::thread::yield_now();
                }
                for _ in 0..100 {
                    let had = shared.load(Relaxed);
                    std::thread::yield_now();
                    shared.store(had + 1, Relaxed);
                }
            });
        }
    });
    shared.load(Relaxed)
}

impl Simulation {
    fn late(&self) -> bool {
        self.tick >= FROM
    }

    fn draw(&mut self, n: u32) -> u32 {
        self.rng = self.rng.wrapping_mul(1664525).wrapping_add(1013904223);
        (self.rng >> 8) % n
    }

    fn orders(&mut self) {
        for i in 0..64 {
            #[cfg(fault = "4")]
            if self.late() && i == 17 { // FAULT 4:
                continue; // FAULT 4: an order that is skipped
            }
            if self.draw(20) == 0 { // FAULT 4: SOUND 4:
                self.units[i].target = self.draw(64) as usize;
            }
        }
    }

    fn damage(&mut self, by: usize, to: usize) {
        let most = if cfg!(fault = "1") && self.late() { 43 } else { 40 }; // FAULT 1: a constant
        let (u, t) = (self.units[by], self.units[to]);
        let d = (u.x - t.x).abs() + (u.y - t.y).abs();
        let near = if cfg!(fault = "2") && self.late() { d <= 30 } else { d < 30 }; // FAULT 2: an off-by-one
        if near { // SOUND 2:
            self.units[to].hp -= 3; // SOUND 2:
        } else if d < most { // SOUND 2: SOUND 1:
            self.units[to].hp -= 1; // SOUND 2: SOUND 1:
        }
        if self.units[to].hp <= 0 {
            self.units[to].hp += 100;
            self.units[to].x = self.draw(100) as i32;
        }
    }

    fn combat(&mut self) {
        for i in 0..64 {
            self.damage(i, self.units[i].target);
        }
    }

    /// How many a unit asks until one of them is strong.
    fn hearing(&self) -> usize {
        let mut n = 0;
        #[cfg(fault = "8")]
        if self.late() {
            let near: HashMap<u32, i32> = self.units.iter().map(|u| (u.id, u.hp)).collect(); // FAULT 8:
            for hp in near.values() { // FAULT 8: the order of a hash table
                n += 1; // FAULT 8:
                if *hp > 60 { // FAULT 8:
                    break;
                }
            }
            return n;
        }
        for u in &self.units { // SOUND 8:
            n += 1;
            if u.hp > 60 { // SOUND 8:
                break;
            }
        }
        n
    }

    /// What the sound build does from some tick on too.
    fn weather(&mut self) {
        let late = self.late();
        for i in 0..64 {
            let mut u = self.units[i];
            if late && u.id % 8 == 0 && fused(u.x as f32 * 1.1, u.y as f32 * 0.7) > 0.0 { // FAULT 21: SOUND 21: fma
                u.y += 1; // FAULT 21: SOUND 21:
            }
            if late && u.id == 5 && parsed("2.5") < 2.0 { // FAULT 7: SOUND 7:
                u.y += 1; // FAULT 7: SOUND 7:
            }
            self.units[i] = u;
        }
    }

    fn morale(&mut self) {
        let late = self.late();
        for i in 0..64 {
            let mut u = self.units[i];
            used_stack();
            let bonus = bonus_of(&u, late);
            if bonus != 0 { // FAULT 6: SOUND 6:
                u.y += 1; // FAULT 6: SOUND 6:
            }
            let mut counted = false;
            debug_assert!({
                counted = true; // FAULT 20:
                counted
            });
            if late && u.id == 9 && !counted { // FAULT 20: without assertions
                u.y += 1; // FAULT 20:
            }
            if u.id == 7 {
                u.target = self.hearing() % 64;
            }
            if cfg!(fault = "9") && late && u.id % 8 == 3 && raced() < 200 { // FAULT 9: a race of two threads
                u.y = self.draw(100) as i32; // FAULT 9:
            }
            if cfg!(fault = "10") && late && u.id > 4 && ((u.x * 700) as i16) < 0 { // FAULT 10: a number that is too small for its values
                u.y += 1; // FAULT 10:
            }
            self.units[i] = u;
        }
        self.weather();
    }

    fn walk(&mut self) {
        for i in 0..64 {
            let (mut u, t) = (self.units[i], self.units[self.units[i].target]);
            if cfg!(fault = "3") && self.late() && std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(true, |t| t.as_secs() > 1000) { // FAULT 3: a clock
                u.y += 1; // FAULT 3:
            }
            if u.x < t.x {
                u.x += 1;
            } else if u.x > t.x {
                u.x -= 1;
            }
            if self.draw(4) == 0 {
                u.y = (u.y + 1) % 100;
            }
            self.units[i] = u;
        }
    }

    fn rank(&mut self) {
        let mut order: Vec<usize> = (0..64).collect();
        order.sort_unstable_by(|a, b| { // SOUND 5:
            let (x, y) = (&self.units[*a], &self.units[*b]);
            if cfg!(fault = "5") && self.late() {
                return x.hp.cmp(&y.hp); // FAULT 5: ties
            }
            x.hp.cmp(&y.hp).then(x.id.cmp(&y.id)) // SOUND 5:
        });
        for (rank, i) in order.into_iter().enumerate() {
            self.units[i].rank = rank;
        }
    }
}

impl Game for Simulation {
    fn name(&self) -> &str {
        "branches"
    }
    fn build(&self) -> &str {
        "1"
    }
    fn start(&mut self, session: &Session) -> Result<()> {
        if cfg!(fault = "7") {
            // SAFETY: 1 is LC_NUMERIC on Linux, and the name ends with NUL.
            if unsafe { setlocale(1, c"de_DE".as_ptr()) }.is_null() {
                return Err("the locale de_DE is not there".into());
            }
        }
        *self = Simulation { tick: 0, rng: session.seed as u32, units: [Unit::default(); 64], system: 0 };
        for i in 0..64 {
            let hp = 20 + self.draw(80) as i32;
            let (x, y) = (self.draw(100) as i32, self.draw(100) as i32);
            self.units[i] = Unit { id: i as u32 + 1, x, y, hp, target: self.draw(64) as usize, rank: 0 };
        }
        Ok(())
    }
    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }
    fn systems(&mut self) -> Option<&mut dyn Systems> {
        Some(self)
    }
    fn branches(&mut self) -> Option<&mut dyn Branches> {
        Some(Box::leak(Box::new(desynctool_branches::BranchRecorder)))
    }
}

impl State for Simulation {
    fn world(&self) -> World {
        let mut w = World::new();
        w.set_rng(self.rng.to_le_bytes().to_vec());
        w.archetype("Unit", self.units.iter(), |u| u64::from(u.id))
            .column("Unit", "x", |u| u.x)
            .column("Unit", "y", |u| u.y)
            .column("Unit", "hp", |u| u.hp)
            .column("Unit", "target", |u| u.target as u64)
            .column("Unit", "rank", |u| u.rank as u64);
        w
    }
}

impl Systems for Simulation {
    fn begin(&mut self, _: u64, _: &[Order]) -> Result<()> {
        self.system = 0;
        Ok(())
    }
    fn next(&mut self) -> Next<'_> {
        let systems: [(&str, fn(&mut Simulation)); 5] = [
            ("Orders", Simulation::orders),
            ("Morale", Simulation::morale),
            ("Move", Simulation::walk),
            ("Combat", Simulation::combat),
            ("Rank", Simulation::rank),
        ];
        let (system, run) = systems[self.system];
        run(self);
        self.system += 1;
        self.tick += u32::from(self.system == 5);
        Next { system, more: self.system < 5 }
    }
}

fn main() {
    let mut s = Simulation { tick: 0, rng: 0, units: [Unit::default(); 64], system: 0 };
    std::process::exit(serve(&mut s));
}
