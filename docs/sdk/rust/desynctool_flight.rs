// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

//! desynctool_flight.rs: a flight recorder for a game that is shipped, in one file of safe Rust beside desynctool.rs. Write
//! `mod desynctool;` and `mod desynctool_flight;` in the same module.
//!
//! It keeps the last ticks in a fixed amount of memory: orders, hashes, and all that the state changed, so that the state of any
//! of these ticks can be rebuilt. When the peers find that their states differ, it finds the first tick, the system, the
//! columns, the rows and their values, by packets of at most 1000 bytes that the game carries between its peers. Then
//! every peer has the same report. docs/exchange.md specifies the packets: peers may be in other languages.
//!
//! A [`Layout`] describes the state once. In each tick, and once before the first one without [`Flight::tick`]:
//!
//! ```text
//! flight.tick(tick, &orders)?;          // the orders that the tick is about to apply
//! flight.system("Movement", &game)?;    // after each system, if the game can
//! flight.state(tick + 1, &game)?;       // the state after the tick: the one before the orders of tick + 1
//! ```
//!
//! and as often as the game reads its network:
//!
//! ```text
//! flight.receive(from, &bytes);         // a packet that peer number `from` sent
//! while let Some(packet) = flight.send(milliseconds) { socket.send(packet.to, &packet) }
//! ```
//!
//! After [`Flight::open`] only [`Flight::text`], [`Flight::files`], [`Flight::snapshot`] and errors allocate memory. No call
//! waits, and only [`Flight::files`] touches a file. No packet makes it panic.
#![forbid(unsafe_code)]
#![allow(dead_code, clippy::all)] // a game needs only some of it, and it keeps to what Rust 1.63 has

use super::desynctool::{crc32c, Checkpoint, Class, Error, Kind, Order, Point, Recorder, Result, Session, Sum, Trace, Type, Value, World};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Bytes of a packet, at most.
pub const PACKET: usize = 1000;
/// Peers, at most.
pub const PEERS: usize = 64;

const TEXT: usize = 52; // bytes that are kept of a string without a fixed size
const CELL: usize = 64; // such a string: hash, length, bytes
const IDENTITY: usize = 17; // alive, key, key2
const VALUE: usize = 200; // bytes of a value in an answer
const NAMES: usize = 256; // systems
const NAME: usize = 64;
const HEAD: usize = 20; // of a packet, and its checksum
const BODY: usize = PACKET - HEAD - 4;
const PARTS: usize = 31; // of a question
const GROUPS: usize = 4; // whose values are asked for
const QUEUE: usize = 8; // questions that wait to be answered
const WORK: usize = 1024; // ranges of rows that wait to be asked for
const LISTED: usize = 32; // columns whose rows are asked for
const CHUNK: usize = 960; // bytes of a report in a packet
const CHUNKS: usize = 128;
const MOST: usize = 1 << 19; // bytes of answers to a peer in an exchange
const SPENT: u32 = 64; // answers with rows and buckets of a peer: so many kilobytes
const ROUNDS: u32 = 12; // questions in all
const WAIT: u64 = 3000; // ms after which a peer is gone that sends nothing
const END: u32 = 0xffff; // step: the end of the tick

const BEAT: u8 = 1;
const ALERT: u8 = 2;
const QUESTION: u8 = 3;
const ANSWER: u8 = 4;
const REPORT: u8 = 5;
const GOT: u8 = 6;

const STATUS: u8 = 1;
const HISTORY: u8 = 2;
const STEPS: u8 = 3;
const TABLES: u8 = 4;
const COLUMNS: u8 = 5;
const BUCKETS: u8 = 6;
const ROWS: u8 = 7;

const OK: u8 = 0; // how a part is answered
const FELL_OUT: u8 = 1;
const NOT_YET: u8 = 2;
const NONE: u8 = 3;

const LOST: u8 = 1; // flags of a report
const OTHER_STATE: u8 = 2;
const CUT: u8 = 4;

fn mix(mut x: u64) -> u64 {
    x ^= x >> 32;
    x = x.wrapping_mul(0xd6e8feb86659fd93);
    x ^= x >> 29;
    x = x.wrapping_mul(0x9e3779b97f4a7c15);
    x ^ x >> 32
}

fn little(b: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..b.len()].copy_from_slice(b);
    u64::from_le_bytes(bytes)
}

fn hash(b: &[u8]) -> u64 {
    let mut h = mix((b.len() as u64).wrapping_add(0x5bd1e995));
    let mut words = b.chunks_exact(8);
    for word in &mut words {
        h = mix(h ^ little(word)).wrapping_add(0x2545f4914f6cdd1d);
    }
    mix(h ^ little(words.remainder()))
}

fn row_hash(key: u64, key2: u64) -> u64 {
    mix(mix(key.wrapping_add(0x632be59bd9b4e019)) ^ key2)
}

fn row_of(identity: &[u8]) -> u64 {
    row_hash(little(&identity[1..9]), little(&identity[9..17]))
}

macro_rules! say {
    ($to:expr, $($what:tt)*) => {{
        let _ = write!($to, $($what)*); // a String takes all
    }};
}

fn width(of: Type) -> usize {
    [1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 0, 0, 8][of as usize - 1]
}

// ---- The description of the state

type Fill<S> = Box<dyn Fn(&S, Option<&[u8]>, &[u8], &mut Vec<u8>) -> bool + Send + Sync>;
type Identify<S> = Box<dyn Fn(&S, &mut [u8]) + Send + Sync>;

struct SourceColumn<S> {
    component: Cow<'static, str>,
    field: Cow<'static, str>,
    of: Type,
    scale: u32,
    text: bool,   // a string without a fixed size
    width: usize, // of a value in its cell
    optional: bool,
    /// Appends the cells of all rows; identities tell which are alive, and the cells of the others are the ones before. False
    /// if a value does not fit.
    fill: Fill<S>,
}

struct Source<S> {
    label: Cow<'static, str>,
    slots: usize,
    parts: u8, // of keys, 0 without
    count: Box<dyn Fn(&S) -> usize + Send + Sync>,
    alive: Option<Identify<S>>,
    key: Option<Identify<S>>,
    columns: Vec<SourceColumn<S>>,
}

/// Describes the state of a game, once: tables of typed columns over slices of the game's own rows. What decides the future
/// of the game belongs into it. A game that keeps its entities otherwise copies them into a slice in each tick. S is what the
/// game passes to [`Flight::state`].
///
/// ```text
/// let mut layout = Layout::new();
/// layout.rng(|g: &Game| g.random.to_le_bytes());
/// layout.archetype("Unit", 4096, |g: &Game| &g.units).alive(|u| u.alive).key(|u| u.id)
///     .column("Position", "x", |u| u.x).column("Weapon", "target", |u| u.target.map(Ref)).string("Name", "text", 0, |u| u.name.as_bytes());
/// ```
pub struct Layout<S> {
    tables: Vec<Source<S>>,
}

/// The columns of a table that is being described.
pub struct Rows<'l, S, R> {
    table: &'l mut Source<S>,
    rows: for<'a> fn(&'a S) -> &'a [R],
}

impl<S: 'static> Layout<S> {
    pub fn new() -> Self {
        Layout { tables: Vec::new() }
    }

    /// The state of the random numbers.
    pub fn rng<const N: usize>(&mut self, state: impl Fn(&S) -> [u8; N] + Send + Sync + 'static) {
        let fill = move |s: &S, _: Option<&[u8]>, _: &[u8], to: &mut Vec<u8>| {
            to.extend_from_slice(&state(s));
            true
        };
        self.tables.push(Source {
            label: "".into(),
            slots: 1,
            parts: 0,
            count: Box::new(|_| 1),
            alive: None,
            key: None,
            columns: vec![SourceColumn {
                component: "RNG".into(),
                field: "state".into(),
                of: Type::Bytes,
                scale: 0,
                text: false,
                width: N,
                optional: false,
                fill: Box::new(fill),
            }],
        });
    }

    /// Adds a table with at most `slots` rows. Without [`Rows::key`] the number of the slot is a row's key.
    pub fn archetype<R: 'static>(&mut self, label: impl Into<Cow<'static, str>>, slots: usize, rows: for<'a> fn(&'a S) -> &'a [R]) -> Rows<'_, S, R> {
        self.tables.push(Source {
            label: label.into(),
            slots,
            parts: 0,
            count: Box::new(move |s| rows(s).len()),
            alive: None,
            key: None,
            columns: Vec::new(),
        });
        let last = self.tables.len() - 1;
        Rows { table: &mut self.tables[last], rows }
    }
}

/// A key of a row: an unsigned integer, or two.
pub use super::desynctool::Key;

impl<S: 'static, R: 'static> Rows<'_, S, R> {
    /// Which slots contain a row; all without this call. Nothing else is asked of the others.
    pub fn alive(self, alive: impl Fn(&R) -> bool + Send + Sync + 'static) -> Self {
        let rows = self.rows;
        self.table.alive = Some(Box::new(move |s, ids| {
            for (row, id) in rows(s).iter().zip(ids.chunks_exact_mut(IDENTITY)) {
                id[0] = alive(row) as u8;
            }
        }));
        self
    }

    /// The key of a row, unique in its table.
    pub fn key<K: Key>(self, key: impl Fn(&R) -> K + Send + Sync + 'static) -> Self {
        let rows = self.rows;
        self.table.parts = K::PARTS;
        self.table.key = Some(Box::new(move |s, ids| {
            for (row, id) in rows(s).iter().zip(ids.chunks_exact_mut(IDENTITY)) {
                if id[0] != 0 {
                    let (key, key2) = key(row).parts();
                    id[1..9].copy_from_slice(&key.to_le_bytes());
                    id[9..17].copy_from_slice(&key2.to_le_bytes());
                }
            }
        }));
        self
    }

    /// Adds a column of numbers, [`Fixed`](super::desynctool::Fixed) or [`Ref`](super::desynctool::Ref), or an Option of these.
    pub fn column<V: Value>(
        self,
        component: impl Into<Cow<'static, str>>,
        field: impl Into<Cow<'static, str>>,
        value: impl Fn(&R) -> V + Send + Sync + 'static,
    ) -> Self {
        let (rows, width) = (self.rows, width(V::TYPE));
        let size = width + V::OPTIONAL as usize;
        let put = move |row: &R, to: &mut Vec<u8>| {
            let v = value(row);
            v.put(to);
            if V::OPTIONAL {
                to.push(!v.is_absent() as u8);
            }
        };
        let fill = move |s: &S, ids: Option<&[u8]>, before: &[u8], to: &mut Vec<u8>| {
            match ids {
                None => rows(s).iter().for_each(|row| put(row, to)),
                Some(ids) => {
                    for ((row, id), old) in rows(s).iter().zip(ids.chunks_exact(IDENTITY)).zip(before.chunks_exact(size)) {
                        if id[0] != 0 {
                            put(row, to);
                        } else {
                            to.extend_from_slice(old);
                        }
                    }
                }
            }
            true
        };
        self.add(component.into(), field.into(), V::TYPE, V::SCALE, width, V::OPTIONAL, Box::new(fill))
    }

    /// Adds a column of strings. A size is the most bytes that they have; it is kept for each slot. With 0 they have any length,
    /// and 52 bytes and a hash are kept. A string ends at a NUL.
    pub fn string(
        self,
        component: impl Into<Cow<'static, str>>,
        field: impl Into<Cow<'static, str>>,
        size: usize,
        value: impl for<'a> Fn(&'a R) -> &'a [u8] + Send + Sync + 'static,
    ) -> Self {
        self.text(component.into(), field.into(), Type::String, size, false, move |row| Some(value(row)))
    }

    /// The same for rows that may be without one.
    pub fn optional_string(
        self,
        component: impl Into<Cow<'static, str>>,
        field: impl Into<Cow<'static, str>>,
        size: usize,
        value: impl for<'a> Fn(&'a R) -> Option<&'a [u8]> + Send + Sync + 'static,
    ) -> Self {
        self.text(component.into(), field.into(), Type::String, size, true, value)
    }

    /// Adds a column of bytes: with a size all of it, with 0 any number, of which 52 and a hash are kept.
    pub fn bytes(
        self,
        component: impl Into<Cow<'static, str>>,
        field: impl Into<Cow<'static, str>>,
        size: usize,
        value: impl for<'a> Fn(&'a R) -> &'a [u8] + Send + Sync + 'static,
    ) -> Self {
        self.text(component.into(), field.into(), Type::Bytes, size, false, move |row| Some(value(row)))
    }

    /// The same for rows that may be without any.
    pub fn optional_bytes(
        self,
        component: impl Into<Cow<'static, str>>,
        field: impl Into<Cow<'static, str>>,
        size: usize,
        value: impl for<'a> Fn(&'a R) -> Option<&'a [u8]> + Send + Sync + 'static,
    ) -> Self {
        self.text(component.into(), field.into(), Type::Bytes, size, true, value)
    }

    fn text(
        self,
        component: Cow<'static, str>,
        field: Cow<'static, str>,
        of: Type,
        size: usize,
        optional: bool,
        value: impl for<'a> Fn(&'a R) -> Option<&'a [u8]> + Send + Sync + 'static,
    ) -> Self {
        let (rows, width) = (self.rows, if size == 0 { CELL } else { size });
        let whole = width + optional as usize;
        let fill = move |s: &S, ids: Option<&[u8]>, before: &[u8], to: &mut Vec<u8>| {
            let mut fits = true;
            for (i, row) in rows(s).iter().enumerate() {
                let begin = to.len();
                if ids.map_or(false, |ids| ids[i * IDENTITY] == 0) {
                    to.extend_from_slice(&before[i * whole..(i + 1) * whole]);
                    continue;
                }
                let v = value(row);
                if let Some(mut v) = v {
                    if size == 0 {
                        to.extend_from_slice(&hash(v).to_le_bytes());
                        to.extend_from_slice(&u32::try_from(v.len()).unwrap_or(u32::MAX).to_le_bytes());
                        v = &v[..v.len().min(TEXT)];
                    } else if of == Type::String {
                        v = v.split(|b| *b == 0).next().unwrap_or(v);
                        fits &= v.len() <= size;
                    } else {
                        fits &= v.len() == size;
                    }
                    to.extend_from_slice(&v[..v.len().min(size.max(TEXT))]);
                }
                to.resize(begin + width, 0);
                if optional {
                    to.push(v.is_some() as u8);
                }
            }
            fits
        };
        self.add(component, field, of, 0, width, optional, Box::new(fill))
    }

    fn add(self, component: Cow<'static, str>, field: Cow<'static, str>, of: Type, scale: u32, width: usize, optional: bool, fill: Fill<S>) -> Self {
        let text = width == CELL && matches!(of, Type::String | Type::Bytes);
        self.table.columns.push(SourceColumn { component, field, of, scale, text, width, optional, fill });
        self
    }
}
