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

use super::desynctool::{crc32c, Checkpoint, Class, Error, Kind, Order, OrderLog, Point, Recorder, Result, Session, Sum, Trace, Type, Value, World};
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
const NAMING: u8 = 8;

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

// ---- Memory

// The state is kept twice: `live` is the state at the last point, `past` is one that was rebuilt. A state has an array of
// cells for each column; the first column of each table is its identity, whether a slot is alive and its key. The ring has
// what cells contained before they changed: copying that back, the latest first, leads to earlier states.

/// What a recorder is opened with.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Bytes in all; 0 is 8 MiB. Twice the state must leave an eighth for what changes.
    pub budget: usize,
    /// Of the session, the same on all peers.
    pub seed: u64,
    /// Of the game.
    pub build: String,
    /// The peers' names by number, the same list on all peers; at most 64.
    pub peers: Vec<String>,
    /// The number of this peer.
    pub me: usize,
    /// Of orders.
    pub kinds: Vec<Kind>,
    /// Only tables that [`Flight::touch`] names since the last call are compared.
    pub marked: bool,
    /// States are predicted until [`Flight::confirm`].
    pub rollback: bool,
    /// Bytes of differing values in a report, at most; 0 is 65536.
    pub values: usize,
    /// A peer that joins later: [`Flight::history`] of the peer that sent it the state; else 0.
    pub history: u64,
}

/// What a recorder does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// It records, and compares hashes.
    #[default]
    Watching,
    /// It records no more: the peers look for what differs.
    Asking,
    /// There is a report.
    Found,
    /// The others did not answer.
    Silent,
}

/// What is in memory: state points `from` to `to` are kept, and the ticks need `bytes` of `of` bytes. Twice the ticks need
/// about `more` bytes of budget more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holds {
    pub from: u64,
    pub to: u64,
    pub bytes: usize,
    pub of: usize,
    pub more: usize,
}

/// A packet that is to be sent to a peer.
#[derive(Clone, Debug)]
pub struct Packet {
    pub to: usize,
    bytes: [u8; PACKET],
    len: usize,
}

impl std::ops::Deref for Packet {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

struct Table {
    label: String,
    parts: u8,
    first: usize, // of its columns in `columns`, the identity
    columns: usize,
    slots: usize,
    seen: usize, // rows at the last look
    touched: bool,
}

struct Column {
    component: String,
    field: String,
    of: u8, // 0: the identity
    scale: u32,
    width: usize, // of its value
    size: usize,  // of a cell: a column of optional values has a byte after the value
    at: usize,    // of the first cell in a state
    text: bool,
}

impl Column {
    /// Writes what the column is.
    fn describe(&self, label: &str, w: &mut Writer<'_>) {
        w.text(label.as_bytes());
        w.text(self.component.as_bytes());
        w.text(self.field.as_bytes());
        w.number(u64::from(self.of), 1);
        w.number(u64::from(self.scale), 4);
    }

    fn cell(&self, slot: usize) -> std::ops::Range<usize> {
        self.at + slot * self.size..self.at + (slot + 1) * self.size
    }

    fn sized(&self) -> bool {
        !self.text && (self.of == Type::String as u8 || self.of == Type::Bytes as u8)
    }

    /// How many bytes of a fixed array count.
    fn length(&self, cell: &[u8]) -> usize {
        if self.of != Type::String as u8 {
            return self.width;
        }
        cell[..self.width].iter().position(|b| *b == 0).unwrap_or(self.width)
    }

    fn has(&self, cell: &[u8]) -> bool {
        self.size == self.width || cell[self.width] != 0
    }

    /// What a cell adds to the sum of its column: sums do not depend on the order of rows.
    fn sum(&self, row: u64, cell: &[u8]) -> u64 {
        if self.of == 0 {
            return mix(row.wrapping_add(1));
        }
        if !self.has(cell) {
            return 0;
        }
        let v = if self.text {
            little(&cell[..8])
        } else if self.sized() {
            hash(&cell[..self.length(cell)])
        } else {
            little(&cell[..self.width])
        };
        mix(row.wrapping_add(mix(v.wrapping_add(0x8ebc6af09c88c6e3))))
    }

    /// Bytes of a value in an answer.
    fn answered(&self) -> usize {
        if self.of == 0 {
            0
        } else {
            self.width
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Entry {
    point: u64,
    root: u64,
    history: u64,
    inputs: u64,
    begin: u64,
    end: u64,
}

#[derive(Clone, Copy, Default)]
struct Part {
    index: u8,
    what: u8,
    depth: u8,
    step: u16,
    count: u16,
    table: u32,
    column: u32,
    point: u64,
    from: u64,
}

#[derive(Clone, Copy)]
struct Question {
    from: usize,
    id: u32,
    count: usize,
    next: usize,
    parts: [Part; PARTS],
}

struct Answer {
    n: usize,
    state: u8,
    data: [u8; BODY],
}

impl Answer {
    fn read(&self) -> Reader<'_> {
        Reader::new(&self.data[..if self.state == OK { self.n } else { 0 }])
    }
}

struct Work {
    listed: usize,
    depth: u8,
    from: u64,
    rows: u64,
}

#[derive(Clone, Copy, Default)]
struct Listed {
    table: usize,
    column: usize,
    rows: u64,
    pending: u64, // ranges that were not looked through
    broken: bool, // an answer was not understood, or did not fit
    all: u64,     // with rows of one side only
    first: bool,  // it differs after the step
}

impl Listed {
    fn cut(&self) -> bool {
        self.pending > 0 || self.broken
    }
}

#[derive(Clone, Copy, Default)]
struct Peer {
    point: u64,
    history: u64,
    heard: u64,
    asked: u64,
    since: u64,
    answered: u32, // parts of the question, as bits
    beat: bool,
    gone: bool,
    asks: bool,
    foreign: bool,
    shares: bool,
    late: u32,
    group: usize,
    chunk: usize,
    sent: usize,
    got: [u8; CHUNKS / 8],
}

#[derive(Clone, Copy, Default)]
struct Group {
    peer: usize,
    root: u64,
    step_root: u64,
    inputs: u64,
    members: u64,
    history: u64,
}

/// A short name, in place.
#[derive(Clone, Copy)]
struct Name {
    len: usize,
    bytes: [u8; NAME],
}

impl Default for Name {
    fn default() -> Self {
        Name { len: 0, bytes: [0; NAME] }
    }
}

impl Name {
    fn of(text: &[u8]) -> Name {
        let mut name = Name { len: text.len(), ..Name::default() };
        name.bytes[..text.len()].copy_from_slice(text);
        name
    }

    fn get(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

#[derive(Clone, Copy, Default, PartialEq, PartialOrd)]
enum Stage {
    #[default]
    Idle,
    AskStatus,
    AskHistory,
    AskSteps,
    AskTables,
    AskColumns,
    AskRows,
    Share,
}

/// The last bytes of all that was ever put into it.
#[derive(Default)]
struct Ring {
    data: Vec<u8>,
    head: u64,
}

impl Ring {
    fn place(&self, at: u64, n: usize) -> (usize, usize) {
        let begin = (at % self.data.len() as u64) as usize;
        (begin, n.min(self.data.len() - begin))
    }

    fn put(&mut self, from: &[u8]) {
        let (at, part) = self.place(self.head, from.len());
        self.head += from.len() as u64;
        if from.len() > self.data.len() {
            return; // nothing of this tick will be kept
        }
        self.data[at..at + part].copy_from_slice(&from[..part]);
        self.data[..from.len() - part].copy_from_slice(&from[part..]);
    }

    fn number(&mut self, v: u64, n: usize) {
        self.put(&v.to_le_bytes()[..n]);
    }

    fn get(&self, from: u64, to: &mut [u8]) {
        let (at, part) = self.place(from, to.len());
        let rest = to.len() - part;
        to[..part].copy_from_slice(&self.data[at..at + part]);
        to[part..].copy_from_slice(&self.data[..rest]);
    }

    fn get_number(&self, from: u64, n: usize) -> u64 {
        let mut bytes = [0; 8];
        self.get(from, &mut bytes[..n]);
        u64::from_le_bytes(bytes)
    }

    /// Ends an item with its kind and length, to be read backward.
    fn item(&mut self, kind: u8, begin: u64) {
        self.number(u64::from(kind), 1);
        let length = self.head - begin;
        self.number(length, 4);
    }

    fn kind(&self, end: u64) -> u8 {
        self.get_number(end - 5, 1) as u8
    }

    fn begin(&self, end: u64) -> u64 {
        end - 4 - self.get_number(end - 4, 4)
    }

    fn keeps(&self, at: u64) -> bool {
        self.head - at <= self.data.len() as u64
    }
}

const CELLS: u8 = 1; // kinds of items
const STEP: u8 = 2;
const ORDERS: u8 = 3;

/// What is read of a packet or report: reading past its end sets `bad`, and gives zero.
#[derive(Clone, Copy)]
struct Reader<'a> {
    rest: &'a [u8],
    bad: bool,
}

impl<'a> Reader<'a> {
    fn new(rest: &'a [u8]) -> Self {
        Reader { rest, bad: false }
    }

    fn bytes(&mut self, n: usize) -> &'a [u8] {
        if n > self.rest.len() {
            self.bad = true;
            self.rest = &[];
            return &[];
        }
        let (run, rest) = self.rest.split_at(n);
        self.rest = rest;
        run
    }

    fn number(&mut self, n: usize) -> u64 {
        little(self.bytes(n))
    }

    fn short(&mut self) -> usize {
        self.number(1) as usize
    }
}

/// What is written: what does not fit sets `full`, and is left out.
struct Writer<'a> {
    to: &'a mut [u8],
    at: usize,
    full: bool,
}

impl Writer<'_> {
    fn bytes(&mut self, data: &[u8]) {
        match self.to.get_mut(self.at..self.at + data.len()) {
            Some(to) => {
                to.copy_from_slice(data);
                self.at += data.len();
            }
            None => self.full = true,
        }
    }

    fn number(&mut self, v: u64, n: usize) {
        self.bytes(&v.to_le_bytes()[..n]);
    }

    /// A text of at most 255 bytes.
    fn text(&mut self, text: &[u8]) {
        let text = &text[..text.len().min(255)];
        self.number(text.len() as u64, 1);
        self.bytes(text);
    }

    fn room(&self) -> usize {
        self.to.len() - self.at
    }
}

/// A value of an answer or a report: 0 no value, 1 a value, 2 the beginning of one, 3 no row.
#[derive(Clone, Copy)]
struct ValueOf<'a> {
    state: u8,
    bytes: &'a [u8],
    raw: &'a [u8],
}

impl<'a> ValueOf<'a> {
    fn read(r: &mut Reader<'a>) -> Self {
        let begin = r.rest;
        let state = r.number(1) as u8;
        let mut bytes = &[][..];
        match state {
            1 | 2 => {
                let n = r.short();
                bytes = r.bytes(n);
            }
            0 | 3 => {}
            _ => r.bad = true,
        }
        if state == 2 {
            r.bytes(12);
        }
        ValueOf { state, bytes, raw: &begin[..begin.len() - r.rest.len()] }
    }

    /// Whether two values are the same: of a text, peers may keep beginnings of other lengths.
    fn same(&self, other: &ValueOf<'_>) -> bool {
        let (whole, cut) = if self.state == 1 { (self, other) } else { (other, self) };
        if self.raw == other.raw || whole.state != 1 || cut.state != 2 {
            return self.raw == other.raw;
        }
        let end = &cut.raw[cut.raw.len() - 12..];
        little(&end[..4]) == whole.bytes.len() as u64 && little(&end[4..]) == hash(whole.bytes)
    }
}

/// A row of an answer.
#[derive(Clone, Copy)]
struct Row<'a> {
    hash: u64,
    key: u64,
    key2: u64,
    value: ValueOf<'a>,
}

impl<'a> Row<'a> {
    fn next(r: &mut Reader<'a>) -> Option<Self> {
        if r.rest.is_empty() || r.bad {
            return None;
        }
        let (key, key2) = (r.number(8), r.number(8));
        let row = Row { hash: row_hash(key, key2), key, key2, value: ValueOf::read(r) };
        Some(row).filter(|_| !r.bad)
    }
}

/// A recorder; S is the game's state, as [`Layout`] describes it.
pub struct Flight<S> {
    sources: Vec<Source<S>>, // by label, with columns by name
    core: Core,
}

#[derive(Default)]
struct Core {
    o: Options,
    schema: u64,
    tables: Vec<Table>,
    columns: Vec<Column>,
    live: Vec<u8>,
    past: Vec<u8>,
    scratch: Vec<u8>,    // the cells of a column
    identities: Vec<u8>, // of a table
    known: bool,         // identities are those of the table that is compared
    sums: Vec<u64>,
    past_sums: Vec<u64>,
    ring: Ring,
    entries: VecDeque<Entry>,
    entry_cap: usize,
    names: Vec<Name>,
    begun: bool,
    open: bool,
    skips: bool,
    past_of: Option<(u64, u32)>, // the point and step of `past`
    status: Status,
    open_begin: u64,
    open_inputs: u64,
    open_tick: u64,
    confirmed: u64,
    history: u64,

    now: u64,
    started: u64,
    halt: u64,
    alert_point: u64,
    alert_history: u64,
    alerted: u64,
    alert_to: usize,
    beat_point: u64,
    beat_history: u64,
    beat_to: usize,
    peers: Vec<Peer>,
    queue: Vec<Question>,

    stage: Stage,
    rounds: u32,
    restarts: usize,
    spent: u32, // answers with rows and buckets
    counter: u32,
    id: u32,
    rto: u64,
    measured: bool, // the estimate of answers is no guess
    parts: [Part; PARTS],
    part_count: usize,
    answers: Vec<Answer>,
    oldest: u64, // first and last point that all keep
    common: u64,
    top: u64, // of two peers
    low: u64,
    high: u64,
    stride: u64,
    point: u64,
    silent: u64,
    step: u32,
    flags: u8,
    full: bool,
    older: bool, // what differs is before the points that were compared one by one
    step_number: u64,
    step_name: Name,
    groups: [Group; GROUPS],
    group_count: usize,
    tables_differ: u32,
    columns_differ: u32,
    listed: [Listed; LISTED],
    listed_count: usize,
    work: VecDeque<Work>,
    found: Vec<u8>,
    found_size: usize,
    order: Vec<(u64, u64, usize, usize)>, // the rows in `found` of a column, by key
    report: Vec<u8>,
    report_size: usize,
    incoming: Vec<u8>,
    incoming_size: usize,
    incoming_from: usize,
    incoming_id: u32,
    incoming_got: [u8; CHUNKS / 8],
    reporter: usize,
    report_id: u32,
    ack: bool,
}

fn named(h: u64, name: &str) -> u64 {
    mix(h ^ hash(name.as_bytes()))
}

fn bad_name(name: &str) -> bool {
    name.is_empty() || name.len() > 1024 || name.contains('\0')
}

fn refuse<T>(why: &str) -> Result<T> {
    Err(Error::from(why))
}

fn bit(bits: &[u8], i: usize) -> bool {
    bits[i / 8] >> (i % 8) & 1 != 0
}

impl<S> Layout<S> {
    /// Describes the tables in the order of their names, the RNG first.
    fn lay_out(sources: &mut Vec<Source<S>>, tables: &mut Vec<Table>, columns: &mut Vec<Column>) -> Result<u64> {
        let (mut schema, mut at) = (0u64, 0usize);
        sources.sort_by(|a, b| a.label.as_bytes().cmp(b.label.as_bytes()));
        for source in sources.iter_mut() {
            source.columns.sort_by(|a, b| (a.component.as_bytes(), a.field.as_bytes()).cmp(&(b.component.as_bytes(), b.field.as_bytes())));
            let rng = source.label.is_empty() && source.columns.iter().all(|c| c.component == "RNG");
            if !rng && bad_name(&source.label) {
                return refuse("the label of a table is empty, longer than 1024 bytes, or has a NUL");
            }
            if tables.last().map_or(false, |t: &Table| t.label == source.label) {
                return refuse("two tables have the same label");
            }
            if source.slots > u32::MAX as usize {
                return refuse("a table has more than 4294967295 slots");
            }
            if source.parts > 2 {
                return refuse("keys have one part or two");
            }
            schema = named(schema.wrapping_add(1), &source.label);
            let first = columns.len();
            let mut add = |mut c: Column| {
                c.at = at;
                at = source.slots.checked_mul(c.size).and_then(|n| n.checked_add(at)).filter(|n| *n <= usize::MAX / 4)?;
                columns.push(c);
                Some(())
            };
            let identity =
                Column { component: String::new(), field: String::new(), of: 0, scale: 0, width: IDENTITY, size: IDENTITY, at: 0, text: false };
            let mut fits = add(identity);
            for (i, c) in source.columns.iter().enumerate() {
                if bad_name(&c.component) || bad_name(&c.field) {
                    return refuse("the name of a column is empty, longer than 1024 bytes, or has a NUL");
                }
                if i > 0 && (&source.columns[i - 1].component, &source.columns[i - 1].field) == (&c.component, &c.field) {
                    return refuse("two columns of a table have the same name");
                }
                if c.width == 0 {
                    return refuse("a column of strings or bytes has no size: Rows::string and Rows::bytes have one");
                }
                if (c.of == Type::Fixed) != (c.scale != 0) {
                    return refuse("a fixed-point number has no scale");
                }
                if c.width + c.optional as usize > 65536 {
                    return refuse("a column has arrays of more than 65536 bytes");
                }
                schema = named(named(schema, &c.component), &c.field);
                schema = mix(schema.wrapping_add(c.of as u64 + (u64::from(c.scale) << 8)));
                fits = fits.and(add(Column {
                    component: c.component.to_string(),
                    field: c.field.to_string(),
                    of: c.of as u8,
                    scale: c.scale,
                    width: c.width,
                    size: c.width + c.optional as usize,
                    at: 0,
                    text: c.text,
                }));
            }
            if fits.is_none() {
                return refuse("the state is too large");
            }
            tables.push(Table {
                label: source.label.to_string(),
                parts: source.parts,
                first,
                columns: columns.len() - first,
                slots: source.slots,
                seen: 0,
                touched: false,
            });
        }
        Ok(schema)
    }
}

impl<S: 'static> Flight<S> {
    /// Allocates a recorder.
    pub fn open(o: Options, layout: Layout<S>) -> Result<Self> {
        let mut sources = layout.tables;
        let (mut tables, mut columns) = (Vec::new(), Vec::new());
        let schema = Layout::lay_out(&mut sources, &mut tables, &mut columns)?;
        columns.shrink_to_fit();
        sources.iter_mut().for_each(|s| s.columns.shrink_to_fit());
        let described = sources.len() * (std::mem::size_of::<Source<S>>() + 128) + columns.len() * (std::mem::size_of::<SourceColumn<S>>() + 64);
        Ok(Flight { core: Core::open(o, schema, tables, columns, described)?, sources })
    }

    /// The orders that a tick is about to apply.
    pub fn tick(&mut self, tick: u64, orders: &[Order]) -> Result<()> {
        self.core.tick(tick, orders)
    }

    /// The state after a system of the tick.
    pub fn system(&mut self, name: &str, state: &S) -> Result<()> {
        let f = &mut self.core;
        if f.skips {
            return Ok(());
        }
        if !f.open {
            return refuse("Flight::system: no tick is begun: Flight::tick comes first");
        }
        if name.is_empty() || name.len() >= NAME || name.contains('\0') {
            return refuse("Flight::system: the name is empty, longer than 63 bytes, or has a NUL");
        }
        let known = f.names.iter().position(|n| n.get() == name.as_bytes());
        if known.is_none() && f.names.len() == NAMES {
            return refuse("Flight::system: there are more than 256 systems");
        }
        let index = known.unwrap_or(f.names.len());
        if known.is_none() {
            f.names.push(Name::of(name.as_bytes()));
        }
        self.capture(state)?;
        self.core.stepped(index);
        Ok(())
    }

    /// The state at a point: the one before the orders of the tick of that number.
    pub fn state(&mut self, point: u64, state: &S) -> Result<()> {
        let f = &self.core;
        if f.begun && f.skips {
            return Ok(());
        }
        if f.begun && (!f.open || point != f.open_tick.wrapping_add(1)) {
            return refuse("Flight::state: the tick before this state is not begun: Flight::tick comes first");
        }
        self.capture(state)?;
        self.core.arrived(point);
        Ok(())
    }

    /// Notes what changed since the last call.
    fn capture(&mut self, state: &S) -> Result<()> {
        let f = &mut self.core;
        f.past_of = None;
        for (k, source) in self.sources.iter().enumerate() {
            let rows = (source.count)(state);
            let t = &f.tables[k];
            if rows > t.slots {
                return Err(format!("{} has more rows than the {} slots of its layout", t.label, t.slots).into());
            }
            if f.o.marked && f.begun && !t.touched {
                continue;
            }
            let mut dirty = 0;
            f.known = source.alive.is_some() || source.key.is_some() || rows != t.seen;
            if f.known {
                f.identify(k, rows);
                if let Some(alive) = &source.alive {
                    alive(state, &mut f.identities);
                }
                if let Some(key) = &source.key {
                    key(state, &mut f.identities);
                }
                dirty = f.dirty(k);
            }
            for (i, column) in source.columns.iter().enumerate() {
                let c = &f.columns[f.tables[k].first + 1 + i];
                let before = &f.live[c.at..c.at + c.size * f.tables[k].slots];
                f.scratch.clear();
                if !(column.fill)(state, if f.known { Some(&f.identities) } else { None }, before, &mut f.scratch) {
                    return Err(format!("{} {}.{} has a value of another size than its layout", source.label, column.component, column.field).into());
                }
                f.compare(k, i + 1, rows, dirty);
            }
            if dirty > 0 {
                f.identified(k, dirty);
            }
            f.tables[k].touched = false;
            f.tables[k].seen = rows;
        }
        Ok(())
    }

    /// With `marked`: the table, or the RNG if the label is empty, may have changed since it was compared last. A change in a
    /// table that is not marked is found late, at the next mark of that table.
    pub fn touch(&mut self, label: &str) {
        self.core.tables.iter_mut().filter(|t| t.label == label).for_each(|t| t.touched = true);
    }

    /// A game that rolls back calls this before it goes back to a state point: what was kept after it is taken back. The state
    /// of the next call must be one that follows from that point. A point that is no longer kept is an error.
    pub fn rollback(&mut self, point: u64) -> Result<()> {
        self.core.rollback(point)
    }

    /// With `rollback`: states up to `point` are final, all their inputs are known. Only these are compared with other peers.
    pub fn confirm(&mut self, point: u64) -> Result<()> {
        self.core.confirm(point)
    }

    pub fn holds(&self) -> Holds {
        self.core.holds()
    }

    /// The 64-bit hash of the state at a point, if it is kept. Games that compare hashes by themselves may use it.
    pub fn hash(&self, point: u64) -> Option<u64> {
        self.core.entry(point).map(|e| e.root)
    }

    /// The hash of all states up to a point, if it is kept.
    pub fn history(&self, point: u64) -> Option<u64> {
        self.core.entry(point).map(|e| e.history)
    }
}

impl Core {
    fn open(o: Options, schema: u64, tables: Vec<Table>, columns: Vec<Column>, described: usize) -> Result<Core> {
        const SMALL: &str = "the budget is too small: it has to hold the state twice and, in an eighth of it, what changes";
        let budget = if o.budget == 0 { 8 << 20 } else { o.budget };
        if budget < 1 << 20 {
            return refuse("the budget is smaller than 1 MiB");
        }
        if o.peers.is_empty() || o.peers.len() > PEERS {
            return refuse("there are no peers, or more than 64");
        }
        if o.me >= o.peers.len() {
            return refuse("this peer is not among the peers");
        }
        if o.peers.iter().any(|name| bad_name(name)) {
            return refuse("the name of a peer is empty, longer than 1024 bytes, or has a NUL");
        }
        let state: usize = tables.iter().map(|t| t.slots * columns[t.first..t.first + t.columns].iter().map(|c| c.size).sum::<usize>()).sum();
        let cells = tables.iter().flat_map(|t| columns[t.first..t.first + t.columns].iter().map(move |c| t.slots * c.size)).max().unwrap_or(0);
        let slots = tables.iter().map(|t| t.slots).max().unwrap_or(0);
        let report_cap = CHUNK * CHUNKS;
        let mut found_cap = if o.values == 0 { 65536 } else { o.values };
        if o.peers.len() > 2 {
            found_cap = found_cap.min(50000 / (o.peers.len() - 1) - 400);
        }
        found_cap = found_cap.min(report_cap - 32768);
        let entry_cap = budget / 1024;
        let size = std::mem::size_of::<Core>()
            + described
            + QUEUE * std::mem::size_of::<Question>()
            + tables.len() * std::mem::size_of::<Table>()
            + columns.iter().map(|c| std::mem::size_of::<Column>() + c.component.len() + c.field.len() + 16).sum::<usize>()
            + entry_cap * std::mem::size_of::<Entry>()
            + GROUPS * PARTS * std::mem::size_of::<Answer>()
            + WORK * std::mem::size_of::<Work>()
            + NAMES * std::mem::size_of::<Name>()
            + found_cap / 19 * 32
            + found_cap
            + 2 * report_cap
            + cells
            + slots * IDENTITY;
        let left = state.checked_mul(2).and_then(|n| budget.checked_sub(n)).and_then(|n| n.checked_sub(size)).unwrap_or(0);
        if left < budget / 8 {
            return refuse(SMALL);
        }
        Ok(Core {
            schema,
            live: vec![0; state],
            past: vec![0; state],
            scratch: Vec::with_capacity(cells),
            identities: Vec::with_capacity(slots * IDENTITY),
            sums: vec![0; columns.len()],
            past_sums: vec![0; columns.len()],
            ring: Ring { data: vec![0; left], head: 0 },
            entries: VecDeque::with_capacity(entry_cap),
            entry_cap,
            names: Vec::with_capacity(NAMES),
            now: 1,
            halt: u64::MAX,
            peers: vec![Peer::default(); o.peers.len()],
            queue: Vec::with_capacity(QUEUE),
            rto: 400,
            measured: false,
            answers: (0..GROUPS * PARTS).map(|_| Answer { n: 0, state: NONE, data: [0; BODY] }).collect(),
            work: VecDeque::with_capacity(WORK),
            found: vec![0; found_cap],
            order: Vec::with_capacity(found_cap / 19 + 1),
            report: vec![0; report_cap],
            incoming: vec![0; report_cap],
            o,
            tables,
            columns,
            ..Core::default()
        })
    }

    fn report(&self) -> &[u8] {
        &self.report[..self.report_size]
    }

    fn entry(&self, point: u64) -> Option<&Entry> {
        let first = self.entries.front()?.point;
        self.entries.get(usize::try_from(point.checked_sub(first)?).ok()?)
    }

    // ---- What changed

    /// Begins the identities of a table: the rows that there are, with the slot as key.
    fn identify(&mut self, table: usize, rows: usize) {
        self.identities.clear();
        self.identities.resize(self.tables[table].slots * IDENTITY, 0);
        let keyed = self.tables[table].parts > 0;
        for (slot, id) in self.identities.chunks_exact_mut(IDENTITY).take(rows).enumerate() {
            id[0] = 1;
            if !keyed {
                id[1..9].copy_from_slice(&(slot as u64).to_le_bytes());
            }
        }
    }

    /// Completes the identities. Returns how many are others than before.
    fn dirty(&mut self, table: usize) -> usize {
        let before = &self.live[self.columns[self.tables[table].first].at..];
        let mut dirty = 0;
        for (id, old) in self.identities.chunks_exact_mut(IDENTITY).zip(before.chunks_exact(IDENTITY)) {
            if id[0] == 0 {
                id.fill(0);
            }
            dirty += (id != old) as usize;
        }
        dirty
    }

    /// Notes what changed in a column, except the identity. Its cells are in `scratch`.
    fn compare(&mut self, table: usize, number: usize, rows: usize, dirty: usize) {
        let t = &self.tables[table];
        let (c, at) = (&self.columns[t.first + number], self.columns[t.first].at);
        let (begin, before) = (self.ring.head, self.sums[t.first + number]);
        let (mut sum, mut count) = (before, 0u64);
        if dirty == 0 {
            const RUN: usize = 32; // cells
            let (run, end) = (RUN * c.size, rows * c.size);
            if self.live[c.at..c.at + end] == self.scratch[..] {
                return;
            }
            for from in (0..end).step_by(run) {
                let to = (from + run).min(end);
                if self.live[c.at + from..c.at + to] == self.scratch[from..to] {
                    continue;
                }
                for cell in (from..to).step_by(c.size) {
                    let now = &self.scratch[cell..cell + c.size];
                    let slot = cell / c.size;
                    let row = row_of(&self.live[at + slot * IDENTITY..at + (slot + 1) * IDENTITY]);
                    let old = &mut self.live[c.at + cell..c.at + cell + c.size];
                    if old == now {
                        continue;
                    }
                    sum = sum.wrapping_sub(c.sum(row, old)).wrapping_add(c.sum(row, now));
                    self.ring.number(slot as u64, 4);
                    self.ring.put(old);
                    old.copy_from_slice(now);
                    count += 1;
                }
            }
        } else {
            for slot in 0..t.slots {
                let id = at + slot * IDENTITY;
                let new = &self.identities[slot * IDENTITY..(slot + 1) * IDENTITY];
                let moved = self.live[id..id + IDENTITY] != *new;
                let (alive, lives) = (self.live[id] != 0, new[0] != 0);
                if !moved && !alive {
                    continue;
                }
                let cell = c.cell(slot);
                let now = if lives { &self.scratch[slot * c.size..(slot + 1) * c.size] } else { &[] };
                let changed = lives && self.live[cell.clone()] != *now;
                if !moved && !changed {
                    continue;
                }
                if alive {
                    sum = sum.wrapping_sub(c.sum(row_of(&self.live[id..id + IDENTITY]), &self.live[cell.clone()]));
                }
                if changed {
                    self.ring.number(slot as u64, 4);
                    self.ring.put(&self.live[cell.clone()]);
                    self.live[cell.clone()].copy_from_slice(now);
                    count += 1;
                }
                if lives {
                    sum = sum.wrapping_add(c.sum(row_of(new), &self.live[cell]));
                }
            }
        }
        let column = t.first + number;
        self.sums[column] = sum;
        if count > 0 || sum != before {
            self.changes(column, before, count, begin);
        }
    }

    /// Ends the item with the changes of a column.
    fn changes(&mut self, column: usize, before: u64, count: u64, begin: u64) {
        self.ring.number(before, 8);
        self.ring.number(column as u64, 4);
        self.ring.number(count, 4);
        self.ring.item(CELLS, begin);
    }

    /// Notes the identities that changed.
    fn identified(&mut self, table: usize, dirty: usize) {
        let column = self.tables[table].first;
        let c = &self.columns[column];
        let (begin, before) = (self.ring.head, self.sums[column]);
        let mut sum = before;
        for slot in 0..self.tables[table].slots {
            let now = &self.identities[slot * IDENTITY..(slot + 1) * IDENTITY];
            let old = &mut self.live[c.cell(slot)];
            if old == now {
                continue;
            }
            if old[0] != 0 {
                sum = sum.wrapping_sub(c.sum(row_of(old), &[]));
            }
            if now[0] != 0 {
                sum = sum.wrapping_add(c.sum(row_of(now), &[]));
            }
            self.ring.number(slot as u64, 4);
            self.ring.put(old);
            old.copy_from_slice(now);
        }
        self.sums[column] = sum;
        self.changes(column, before, dirty as u64, begin);
    }

    fn leaf(&self, sums: &[u64], table: usize) -> u64 {
        let t = &self.tables[table];
        sums[t.first..t.first + t.columns].iter().fold(0, |h: u64, sum| mix(h.wrapping_add(*sum)).wrapping_add(1))
    }

    fn root(&self, sums: &[u64]) -> u64 {
        (0..self.tables.len()).fold(self.schema, |h, k| mix(h.wrapping_add(self.leaf(sums, k))).wrapping_add(1))
    }

    /// Takes an item back that ends at `end`, in a state. Returns where it begins.
    fn back(ring: &Ring, columns: &[Column], end: u64, state: &mut [u8], sums: &mut [u64]) -> u64 {
        let begin = ring.begin(end);
        if ring.kind(end) != CELLS {
            return begin;
        }
        let number = ring.get_number(end - 13, 4) as usize;
        let count = ring.get_number(end - 9, 4);
        let c = &columns[number];
        sums[number] = ring.get_number(end - 21, 8);
        let size = 4 + c.size as u64;
        for i in (0..count).rev() {
            let at = begin + i * size;
            let slot = ring.get_number(at, 4) as usize;
            ring.get(at + 4, &mut state[c.cell(slot)]);
        }
        begin
    }

    /// Rebuilds a state into `past`: at a point, or after a step of the tick before it. False if it is not kept.
    fn rebuild(&mut self, point: u64, step: u32) -> bool {
        let e = match self.entry(point) {
            Some(e) => *e,
            None => return false,
        };
        if self.past_of == Some((point, step)) {
            return true;
        }
        self.past.copy_from_slice(&self.live);
        self.past_sums.copy_from_slice(&self.sums);
        self.past_of = None;
        let ring = &self.ring;
        let mut at = ring.head;
        while at > e.end {
            at = Self::back(ring, &self.columns, at, &mut self.past, &mut self.past_sums);
        }
        if step != END {
            if !ring.keeps(e.begin) {
                return false;
            }
            let (mut back, mut steps) = (e.end, 0);
            while back > e.begin {
                steps += (ring.kind(back) == STEP) as u32;
                back = ring.begin(back);
            }
            if step >= steps {
                return false;
            }
            while at > e.begin {
                if ring.kind(at) == STEP {
                    steps -= 1;
                    if steps == step {
                        break;
                    }
                }
                at = Self::back(ring, &self.columns, at, &mut self.past, &mut self.past_sums);
            }
        }
        self.past_of = Some((point, step));
        true
    }

    // ---- Recording

    /// Forgets ticks that no longer fit.
    fn trim(&mut self) {
        while self.entries.front().map_or(false, |e| !self.ring.keeps(e.end)) {
            self.entries.pop_front();
        }
    }

    /// Whether ticks are still recorded: a recorder that looks for a difference keeps what it has.
    fn records(&self, point: u64) -> bool {
        self.status == Status::Watching || point <= self.halt
    }

    fn last_point(&self) -> Option<u64> {
        self.entries.back().map(|e| e.point)
    }

    fn tick(&mut self, tick: u64, orders: &[Order]) -> Result<()> {
        let begin = self.ring.head;
        let mut h = mix(tick);
        if !self.begun {
            return refuse("Flight::tick: there is no state before the tick: Flight::state comes first");
        }
        if self.open {
            return refuse("Flight::tick: the tick before has no state yet: Flight::state is missing");
        }
        self.skips = !self.records(tick.saturating_add(1));
        if self.skips {
            return Ok(());
        }
        if self.last_point().map_or(false, |last| tick != last) {
            return refuse("Flight::tick: another tick is next");
        }
        for o in orders {
            if o.kind as usize >= self.o.kinds.len() {
                return refuse("Flight::tick: an order has an unknown kind");
            }
            if o.payload.len() > 4 << 20 {
                return refuse("Flight::tick: the payload of an order has more than 4 MiB");
            }
        }
        for o in orders {
            let head = [o.sub_tick, o.player, o.sequence, o.kind, o.payload.len() as u32];
            for n in head {
                self.ring.number(u64::from(n), 4);
            }
            self.ring.put(&o.payload);
            if self.o.kinds[o.kind as usize].local {
                continue;
            }
            for n in &head[..4] {
                h = mix(h.wrapping_add(u64::from(*n))).wrapping_add(1);
            }
            h = mix(h ^ hash(&o.payload));
        }
        if !orders.is_empty() {
            self.ring.item(ORDERS, begin);
        }
        self.open = true;
        self.open_tick = tick;
        self.open_begin = begin;
        self.open_inputs = h;
        self.trim();
        Ok(())
    }

    fn stepped(&mut self, name: usize) {
        let begin = self.ring.head;
        let root = self.root(&self.sums);
        self.ring.number(name as u64, 2);
        self.ring.number(root, 8);
        self.ring.item(STEP, begin);
        self.trim();
    }

    fn arrived(&mut self, point: u64) {
        let root = self.root(&self.sums);
        let mut e = Entry { point, root, history: 0, inputs: self.open_inputs, begin: self.open_begin, end: self.ring.head };
        let before = if self.begun { self.history } else { mix(point) };
        e.history = mix(before.wrapping_add(root)).wrapping_add(1);
        if !self.begun {
            e.begin = e.end;
            self.confirmed = point;
            if self.o.history != 0 {
                e.history = self.o.history;
            }
        }
        self.o.history = 0;
        self.history = e.history;
        self.begun = true;
        self.open = false;
        self.past_of = None;
        self.trim();
        if self.entries.len() == self.entry_cap {
            self.entries.pop_front();
        }
        self.entries.push_back(e);
        if !self.o.rollback {
            self.confirmed = point;
        }
        self.check();
    }

    fn rollback(&mut self, point: u64) -> Result<()> {
        if !self.o.rollback {
            return refuse("Flight::rollback: the recorder was opened without rollback");
        }
        if self.skips && self.last_point().map_or(false, |last| point > last) {
            return Ok(());
        }
        if point < self.confirmed {
            return refuse("Flight::rollback: the state is confirmed");
        }
        let e = match self.entry(point) {
            Some(e) => *e,
            None => return refuse("Flight::rollback: the state is no longer kept"),
        };
        if !self.ring.keeps(e.end) {
            return refuse("Flight::rollback: the tick is larger than what is kept");
        }
        while self.ring.head > e.end {
            self.ring.head = Self::back(&self.ring, &self.columns, self.ring.head, &mut self.live, &mut self.sums);
        }
        let first = self.entries[0].point;
        self.entries.truncate((point - first) as usize + 1);
        self.open = false;
        self.skips = false;
        self.past_of = None;
        self.history = e.history;
        self.seen_again();
        Ok(())
    }

    /// The number of rows of each table at the last look, after the state went back.
    fn seen_again(&mut self) {
        for t in &mut self.tables {
            t.seen = usize::MAX;
        }
    }

    fn confirm(&mut self, point: u64) -> Result<()> {
        if !self.o.rollback {
            return refuse("Flight::confirm: the recorder was opened without rollback");
        }
        if point < self.confirmed {
            return refuse("Flight::confirm: confirmed points ascend");
        }
        if !self.records(point) {
            return Ok(());
        }
        if self.last_point().map_or(true, |last| point > last) {
            return refuse("Flight::confirm: there is no state of this point yet");
        }
        self.confirmed = point;
        self.check();
        Ok(())
    }

    /// Another peer has, or says that it has, another state: what is kept now is kept.
    fn noticed(&mut self, point: u64, history: u64) {
        if self.status != Status::Watching {
            return;
        }
        self.status = Status::Asking;
        self.halt = point.min(self.last_point().unwrap_or(0).saturating_add(64));
        self.started = self.now;
        self.alert_point = point;
        self.alert_history = history;
        self.alert_to = 0;
        self.alerted = 0;
        self.peers.iter_mut().for_each(|p| p.gone = false);
    }

    /// Compares what peers have sent with the states that are known now, and sends own ones.
    fn check(&mut self) {
        let n = self.o.peers.len() as u64;
        let every = if n > 16 { n * 3 / 2 } else { 16 };
        if self.status != Status::Watching {
            return;
        }
        if self.confirmed / every != self.beat_point / every || self.beat_history == 0 {
            if let Some(e) = self.entry(self.confirmed / every * every).copied() {
                self.beat_point = e.point;
                self.beat_history = e.history;
                self.beat_to = 0;
            }
        }
        for i in 0..self.o.peers.len() {
            let p = &mut self.peers[i];
            if !p.beat || p.point > self.confirmed {
                continue;
            }
            p.beat = false;
            let p = *p;
            match self.entry(p.point) {
                Some(e) if e.history != p.history => {
                    let history = e.history;
                    self.noticed(p.point, history);
                }
                _ => {}
            }
        }
    }

    fn holds(&self) -> Holds {
        let mut k = Holds { of: self.ring.data.len(), ..Holds::default() };
        if let (Some(first), Some(last)) = (self.entries.front(), self.entries.back()) {
            k.from = first.point;
            k.to = last.point;
            k.bytes = (self.ring.head - first.end) as usize;
            k.more = k.bytes + self.entries.len() * std::mem::size_of::<Entry>();
        }
        k
    }
}


// ---- Answers: they depend on the question and on what is kept, on nothing else

fn in_range(row: u64, of: u64, depth: u8) -> bool {
    depth == 0 || row >> (64 - 6 * depth) == of >> (64 - 6 * depth)
}

impl Core {
    fn writer<'p>(&self, packet: &'p mut Packet, kind: u8, id: u32) -> Writer<'p> {
        let mut w = Writer { to: &mut packet.bytes[..PACKET - 4], at: 0, full: false };
        w.bytes(b"DF\x01");
        w.number(u64::from(kind), 1);
        w.number(self.o.seed, 8);
        w.number(self.schema, 4);
        w.number(u64::from(id), 4);
        w
    }

    /// Writes the value of a cell in `past`: 0 no value, 1 a value, 2 one of which only the beginning is there.
    fn write_value(&self, w: &mut Writer<'_>, c: &Column, slot: usize) {
        let cell = &self.past[c.cell(slot)];
        if !c.has(cell) {
            return w.number(0, 1);
        }
        let (whole, value) = if c.text {
            let whole = little(&cell[8..12]) as usize;
            (whole, &cell[12..12 + whole.min(TEXT)])
        } else if c.sized() {
            let whole = c.length(cell);
            (whole, &cell[..whole.min(VALUE)])
        } else {
            (c.answered(), &cell[..c.answered()])
        };
        w.number(if value.len() == whole { 1 } else { 2 }, 1);
        w.number(value.len() as u64, 1);
        w.bytes(value);
        if value.len() < whole {
            w.number(whole as u64, 4);
            w.number(if c.text { little(&cell[..8]) } else { hash(&cell[..whole]) }, 8);
        }
    }

    fn identities_of(&self, table: usize) -> std::slice::ChunksExact<'_, u8> {
        let t = &self.tables[table];
        let at = self.columns[t.first].at;
        self.past[at..at + t.slots * IDENTITY].chunks_exact(IDENTITY)
    }

    /// The rows of a range, by ascending hash of their keys, beginning at p.from.
    fn answer_rows(&self, p: &Part, w: &mut Writer<'_>) {
        let c = &self.columns[self.tables[p.table as usize].first + p.column as usize];
        let (more, mut from) = (w.at, p.from);
        w.number(0, 1);
        loop {
            let mut best: Option<(u64, usize)> = None;
            for (slot, id) in self.identities_of(p.table as usize).enumerate() {
                if id[0] == 0 {
                    continue;
                }
                let row = row_of(id);
                if row >= from && in_range(row, p.from, p.depth) && best.map_or(true, |(least, _)| row < least) {
                    best = Some((row, slot));
                }
            }
            let (row, slot) = match best {
                Some(best) => best,
                None => return,
            };
            let before = w.at;
            let id = self.columns[self.tables[p.table as usize].first].cell(slot);
            w.bytes(&self.past[id.start + 1..id.end]);
            self.write_value(w, c, slot);
            if w.full {
                w.at = before;
                w.full = false;
                w.to[more] = 1;
                return;
            }
            if row == u64::MAX {
                return;
            }
            from = row + 1;
        }
    }

    fn answer_tables(&mut self, p: &Part, w: &mut Writer<'_>) -> u8 {
        if p.point > self.confirmed {
            return NOT_YET;
        }
        if !self.rebuild(p.point, u32::from(p.step)) {
            return FELL_OUT;
        }
        let from = usize::try_from(p.from).unwrap_or(usize::MAX);
        if p.what == TABLES {
            w.number(self.tables.len() as u64, 4);
            for k in from..self.tables.len() {
                if w.room() < 8 {
                    break;
                }
                w.number(self.leaf(&self.past_sums, k), 8);
            }
            return OK;
        }
        let t = match self.tables.get(p.table as usize) {
            Some(t) => t,
            None => return NONE,
        };
        if p.what == COLUMNS {
            w.number(self.identities_of(p.table as usize).map(|id| u64::from(id[0])).sum(), 4);
            w.number(t.columns as u64, 4);
            for i in from..t.columns {
                if w.room() < 8 {
                    break;
                }
                w.number(self.past_sums[t.first + i], 8);
            }
            return OK;
        }
        if p.column as usize >= t.columns || p.depth > 10 {
            return NONE;
        }
        if p.what == BUCKETS && p.depth < 10 {
            let c = &self.columns[t.first + p.column as usize];
            let mut sums = [0u64; 64];
            for (slot, id) in self.identities_of(p.table as usize).enumerate() {
                if id[0] == 0 {
                    continue;
                }
                let row = row_of(id);
                if in_range(row, p.from, p.depth) {
                    let sum = &mut sums[(row >> (58 - 6 * p.depth) & 63) as usize];
                    *sum = sum.wrapping_add(c.sum(row, &self.past[c.cell(slot)]));
                }
            }
            sums.iter().for_each(|sum| w.number(*sum, 8));
            return OK;
        }
        if p.what == NAMING {
            self.columns[t.first + p.column as usize].describe(&t.label, w);
            return OK;
        }
        if p.what != ROWS {
            return NONE;
        }
        self.answer_rows(p, w);
        OK
    }

    /// Where the steps of the tick before a point end in the ring, the last one first, and how many there are.
    fn steps(&self, e: &Entry, at: &mut [u64; NAMES]) -> usize {
        let (mut back, mut n) = (e.end, 0);
        while self.ring.keeps(e.begin) && back > e.begin {
            if self.ring.kind(back) == STEP && n < NAMES {
                at[n] = back;
                n += 1;
            }
            back = self.ring.begin(back);
        }
        n
    }

    /// The name of the system and the hash of a step that ends at a place in the ring.
    fn step_at(&self, end: u64) -> (&[u8], u64) {
        let index = self.ring.get_number(end - 15, 2) as usize;
        (self.names[index].get(), self.ring.get_number(end - 13, 8))
    }

    fn answer_steps(&self, p: &Part, w: &mut Writer<'_>) -> u8 {
        if p.point > self.confirmed {
            return NOT_YET;
        }
        let e = match self.entry(p.point) {
            Some(e) => e,
            None => return FELL_OUT,
        };
        let mut at = [0; NAMES];
        let n = self.steps(e, &mut at);
        w.number(e.inputs, 8);
        w.number(n as u64, 2);
        for i in usize::try_from(p.from).unwrap_or(usize::MAX)..n {
            let (name, root) = self.step_at(at[n - 1 - i]);
            if w.room() < 9 + name.len() {
                break;
            }
            w.text(name);
            w.number(root, 8);
        }
        OK
    }

    /// Answers a part of a question. Returns the state, and writes what belongs to it.
    fn answer_part(&mut self, p: &Part, w: &mut Writer<'_>) -> u8 {
        match p.what {
            STATUS => {
                let first = self.entries.front().map(|e| e.point);
                w.number(first.unwrap_or(0), 8);
                w.number(first.map_or(0, |_| self.confirmed), 8);
                w.number((self.report_size > 0) as u64, 1);
                if first.is_some() {
                    OK
                } else {
                    FELL_OUT
                }
            }
            HISTORY => {
                let mut point = p.point;
                if point > self.confirmed {
                    return NOT_YET;
                }
                if self.entry(point).is_none() {
                    return FELL_OUT;
                }
                for _ in 0..p.count {
                    let e = match self.entry(point) {
                        Some(e) if point <= self.confirmed && w.room() >= 16 => e,
                        _ => break,
                    };
                    w.number(e.history, 8);
                    if p.from == 1 {
                        w.number(e.root, 8);
                    }
                    point = point.wrapping_add(p.from);
                }
                OK
            }
            STEPS => self.answer_steps(p, w),
            _ => self.answer_tables(p, w),
        }
    }

    // ---- Asking

    /// Where the answer of a peer to a part is.
    fn place(&self, peer: usize, part: usize) -> usize {
        if self.stage <= Stage::AskHistory {
            peer
        } else {
            self.peers[peer].group * PARTS + part
        }
    }

    fn answered(&self, peer: usize, part: usize) -> Reader<'_> {
        self.answers[self.place(peer, part)].read()
    }

    fn add(&mut self, what: u8) -> &mut Part {
        let n = self.part_count;
        self.part_count += 1;
        self.parts[n] = Part { index: n as u8, what, point: self.point, step: self.step as u16, ..Part::default() };
        &mut self.parts[n]
    }

    /// Asks all peers, or from the steps on one peer of each group, and answers for this peer itself.
    fn ask(&mut self) {
        self.counter = self.counter.wrapping_add(1);
        self.id = (self.o.me as u32) << 24 | (self.counter & 0xffffff);
        self.rounds += 1;
        for i in 0..self.o.peers.len() {
            let all = self.stage <= Stage::AskHistory;
            let group = self.groups[..self.group_count].iter().position(|g| g.peer == i);
            let p = &mut self.peers[i];
            p.asks = if all { !p.gone && !p.foreign } else { group.is_some() };
            if !all {
                p.group = group.unwrap_or(p.group);
            }
            p.answered = 0;
            p.asked = 0;
            p.late = 0;
            p.since = self.now;
            if !p.asks {
                continue;
            }
            for k in 0..self.part_count {
                let at = self.place(i, k);
                self.answers[at].state = NONE;
                if i != self.o.me {
                    continue;
                }
                let mut data = [0; BODY];
                let mut w = Writer { to: &mut data[..BODY - 2], at: 0, full: false };
                let part = self.parts[k];
                let state = self.answer_part(&part, &mut w);
                let n = w.at;
                self.answers[at] = Answer { n, state, data };
                self.peers[i].answered |= 1 << k;
            }
        }
    }

    fn ask_history(&mut self) {
        let span = self.high.wrapping_sub(self.low);
        self.stage = Stage::AskHistory;
        self.part_count = 0;
        self.stride = match span {
            0..=60 => 1,
            61..=120 => 2,
            _ => span / 120 + (span % 120 != 0) as u64,
        };
        let (low, stride) = (self.low, self.stride);
        let p = self.add(HISTORY);
        p.point = low;
        p.from = stride;
        p.count = (span / stride + (span % stride != 0) as u64) as u16;
        self.ask();
    }

    /// Asks for the next points that some do not have.
    fn ask_latest(&mut self) {
        self.high = if self.top.wrapping_sub(self.low) > 60 { self.low.wrapping_add(60) } else { self.top };
        self.ask_history();
    }

    /// The peers that are asked now, and are still there.
    fn asked(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.o.peers.len()).filter(move |i| self.peers[*i].asks && !self.peers[*i].gone)
    }

    /// The peers' first and last points. The points that some of them do not have yet are compared first, one by one; at all
    /// points before these the peers can be compared by halves.
    fn after_status(&mut self) {
        let (mut most, mut n) = (0u64, 0);
        let (mut oldest, mut top, mut common) = (0u64, 0u64, u64::MAX);
        for i in self.asked() {
            let mut r = self.answered(i, 0);
            let (first, last) = (r.number(8), r.number(8));
            if r.bad || last < first || last == u64::MAX {
                continue;
            }
            n += 1;
            oldest = oldest.max(first);
            if last + 1 > most {
                top = most;
                most = last + 1;
            } else {
                top = top.max(last + 1);
            }
            common = common.min(last);
        }
        if n < 2 {
            if self.peers.iter().any(|p| p.foreign) {
                self.flags |= OTHER_STATE;
                self.share();
            } else {
                self.stage = Stage::Idle;
                self.status = Status::Silent;
            }
            return;
        }
        self.oldest = oldest;
        self.common = common.max(oldest);
        self.top = top.max(self.common.saturating_add(1));
        self.low = self.common;
        self.ask_latest();
    }

    /// Makes groups of the peers by their histories at the point, which is number k of the answers.
    fn grouped(&mut self, k: usize) {
        let (mut groups, mut count) = ([Group::default(); GROUPS], 0);
        for i in self.asked() {
            let mut r = self.answered(i, 0);
            r.bytes(16 * k);
            let (history, root) = (r.number(8), r.number(8));
            if r.bad {
                continue;
            }
            let g = groups[..count].iter().position(|g| g.history == history).unwrap_or(count);
            if g == GROUPS {
                continue;
            }
            if g == count {
                groups[g] = Group { peer: i, history, root, ..Group::default() };
                count += 1;
            }
            groups[g].members |= 1 << i;
        }
        self.groups = groups;
        self.group_count = count;
        self.silent = u64::MAX >> (64 - self.o.peers.len());
        for g in &groups[..count] {
            self.silent &= !g.members;
        }
    }

    fn ask_tables(&mut self) {
        self.stage = Stage::AskTables;
        self.part_count = 0;
        for from in (0..self.tables.len()).step_by((BODY - 6) / 8) {
            if self.part_count + 1 >= PARTS {
                break;
            }
            let step = self.step;
            let p = self.add(TABLES); // at the end, and after the step
            p.from = from as u64;
            p.step = END as u16;
            if step != END {
                self.add(TABLES).from = from as u64;
            }
        }
        self.ask();
    }

    fn ask_steps(&mut self, from: u64) {
        self.stage = Stage::AskSteps;
        self.part_count = 0;
        self.step_number = from;
        self.add(STEPS).from = from;
        self.ask();
    }

    fn after_history(&mut self) {
        let each = if self.stride == 1 { 16 } else { 8 };
        let count = usize::from(self.parts[0].count);
        for k in 0..count {
            let (mut seen, mut differs) = (None, false);
            for i in self.asked() {
                let mut r = self.answered(i, 0);
                r.bytes(each * k);
                let history = r.number(8);
                if r.bad {
                    continue;
                }
                differs |= seen.map_or(false, |seen| seen != history);
                seen = Some(history);
            }
            if !differs {
                continue;
            }
            let at = (k as u64).wrapping_mul(self.stride);
            if k == 0 && self.low == self.common && self.low > self.oldest && !self.older {
                self.older = true; // among the points before
                self.high = self.low.wrapping_add(1);
                self.low = self.oldest;
                return self.ask_history();
            }
            if self.stride > 1 {
                self.high = self.low.wrapping_add(at).wrapping_add(1);
                if k > 0 {
                    self.low = self.low.wrapping_add(at - self.stride).wrapping_add(1);
                }
                return self.ask_history();
            }
            self.point = self.low.wrapping_add(k as u64);
            if self.point == self.oldest {
                self.flags |= LOST;
            }
            self.step = END;
            self.grouped(k);
            if self.flags & LOST != 0 {
                self.ask_tables();
            } else {
                self.ask_steps(0);
            }
            return;
        }
        let next = self.low.wrapping_add((count as u64).wrapping_sub(1).wrapping_mul(self.stride)).wrapping_add(1);
        if self.stride > 1 && next < self.high {
            self.low = next;
            return self.ask_history();
        }
        if !self.older && self.high < self.top && self.rounds < ROUNDS / 2 {
            self.low = self.high;
            return self.ask_latest();
        }
        self.grouped(0); // nothing differs: who answered is all that is known
        self.group_count = 0;
        self.share();
    }

    fn after_steps(&mut self) {
        let mut readers = [Reader::new(&[]); GROUPS];
        let (count, mut total) = (self.group_count, u64::MAX);
        for g in 0..count {
            let at = self.place(self.groups[g].peer, 0);
            let mut r = self.answers[at].read();
            self.groups[g].inputs = r.number(8);
            total = total.min(r.number(2));
            if r.bad {
                total = 0;
            }
            readers[g] = r;
        }
        for k in self.step_number..total {
            let (mut name, mut differs, mut bad) = (&[][..], false, false);
            for g in 0..count {
                let n = readers[g].short();
                let text = readers[g].bytes(n);
                self.groups[g].step_root = readers[g].number(8);
                bad = readers[g].bad || n >= NAME || g > 0 && name != text;
                if bad {
                    break;
                }
                name = text;
                differs |= self.groups[g].step_root != self.groups[0].step_root;
            }
            if bad && k > self.step_number {
                return self.ask_steps(k); // the rest of them
            }
            if bad {
                break;
            }
            if differs {
                self.step = k as u32;
                self.step_name = Name::of(name);
                break;
            }
        }
        if self.step == END {
            for g in &mut self.groups[..count] {
                g.step_root = g.root;
            }
        }
        self.ask_tables();
    }

    /// Number `i` of the numbers that the groups answered to a part, after some bytes: whether they differ, and whether one lacks.
    fn differ(&self, part: usize, skip: usize, i: usize) -> (bool, bool) {
        let (mut first, mut differs, mut bad) = (0, false, false);
        for g in 0..self.group_count {
            let mut r = self.answered(self.groups[g].peer, part);
            r.bytes(skip + 8 * i);
            let v = r.number(8);
            bad |= r.bad;
            if g == 0 {
                first = v;
            }
            differs |= v != first;
        }
        (differs, bad)
    }

    fn after_tables(&mut self) {
        let most = if self.step == END { PARTS } else { PARTS / 2 };
        let (mut counts, mut parts, mut n) = ([0; 2], [(0u16, 0u32); PARTS], 0);
        self.tables_differ = 0;
        for part in 0..self.part_count {
            let p = self.parts[part];
            let at_end = u32::from(p.step) == END;
            for i in 0..(BODY - 6) / 8 {
                let table = p.from as usize + i;
                if table >= self.tables.len() {
                    break;
                }
                let (differs, bad) = self.differ(part, 4, i);
                if bad {
                    self.flags |= CUT;
                }
                if !differs {
                    continue;
                }
                self.tables_differ += at_end as u32;
                if counts[at_end as usize] == most {
                    self.flags |= CUT;
                    continue;
                }
                counts[at_end as usize] += 1;
                parts[n] = (p.step, table as u32);
                n += 1;
            }
        }
        if n == 0 {
            return self.share();
        }
        self.stage = Stage::AskColumns;
        self.part_count = 0;
        for (step, table) in &parts[..n] {
            let p = self.add(COLUMNS);
            p.table = *table;
            p.step = *step;
        }
        self.ask();
    }

    fn push(&mut self, listed: usize, depth: u8, from: u64, rows: u64) {
        if self.work.len() == WORK {
            self.flags |= CUT;
            self.listed[listed].broken = true;
            return;
        }
        self.work.push_back(Work { listed, depth, from, rows });
        self.listed[listed].pending += 1;
    }

    /// Asks for the next ranges: a small one for its rows, a large one for the sums of its parts.
    fn ask_rows(&mut self) {
        if self.work.is_empty() || self.rounds >= ROUNDS - 1 || self.full || self.spent == SPENT {
            return self.share();
        }
        self.stage = Stage::AskRows;
        self.part_count = 0;
        while self.part_count < PARTS && self.spent < SPENT {
            let w = match self.work.pop_front() {
                Some(w) => w,
                None => break,
            };
            let l = self.listed[w.listed];
            let size = self.columns[self.tables[l.table].first + l.column].answered().min(VALUE) as u64;
            let few = w.rows.saturating_mul(18 + size) < BODY as u64 || w.depth >= 10;
            let p = self.add(if few { ROWS } else { BUCKETS });
            p.table = l.table as u32;
            p.column = l.column as u32;
            p.depth = w.depth;
            p.from = w.from;
            p.step = END as u16;
            p.count = w.listed as u16; // answers do not depend on it
            self.spent += 1;
            self.listed[w.listed].pending -= 1;
        }
        self.ask();
    }

    fn after_columns(&mut self) {
        self.columns_differ = 0;
        self.listed_count = 0;
        self.work.clear();
        self.found_size = 0;
        for part in 0..self.part_count {
            let p = self.parts[part];
            let table = p.table as usize;
            let rows = (0..self.group_count).map(|g| self.answered(self.groups[g].peer, part).number(4)).max().unwrap_or(0);
            for i in 0..self.tables[table].columns {
                let (differs, bad) = self.differ(part, 8, i);
                if bad {
                    self.flags |= CUT;
                }
                if bad || !differs {
                    continue;
                }
                let known = self.listed[..self.listed_count].iter().position(|l| l.table == table && l.column == i);
                let at = known.unwrap_or(self.listed_count);
                if known.is_none() {
                    self.columns_differ += 1;
                    if at == LISTED {
                        self.flags |= CUT;
                        continue;
                    }
                    self.listed[at] = Listed { table, column: i, ..Listed::default() };
                    self.listed_count += 1;
                }
                if u32::from(p.step) != END {
                    self.listed[at].first = true;
                } else {
                    self.push(at, 0, 0, rows);
                }
            }
        }
        self.ask_rows();
    }

    fn rows(&mut self, part: usize) {
        let p = self.parts[part];
        let listed = usize::from(p.count);
        let count = self.group_count;
        let mut readers = [Reader::new(&[]); GROUPS];
        let (mut bound, mut more) = (u64::MAX, false);
        for g in 0..count {
            let at = self.place(self.groups[g].peer, part); // up to where all of them have answered
            let mut r = self.answers[at].read();
            let cut = r.number(1) != 0;
            readers[g] = r;
            let (mut last, mut any) = (0, false);
            while let Some(row) = Row::next(&mut r) {
                // rows of another range, or twice: nobody answers like that
                r.bad |= row.hash < p.from || !in_range(row.hash, p.from, p.depth) || any && row.hash <= last;
                last = row.hash;
                any = true;
            }
            if r.bad {
                self.flags |= CUT;
                self.listed[listed].broken = true;
                return;
            }
            if cut {
                bound = bound.min(last);
                more = true;
            }
        }
        let mut row = [None; GROUPS];
        for g in 0..count {
            row[g] = Row::next(&mut readers[g]);
        }
        loop {
            let first = row.iter().flatten().filter(|r: &&Row<'_>| r.hash <= bound).min_by_key(|r| r.hash).copied();
            let it = match first {
                Some(it) => it,
                None => break,
            };
            let (mut with, mut differs) = (0, false);
            let mut w = Writer { to: &mut self.found[self.found_size..], at: 0, full: false };
            w.number(listed as u64, 1);
            w.number(it.key, 8);
            w.number(it.key2, 8);
            for g in 0..count {
                match row[g] {
                    Some(r) if r.hash == it.hash && r.key == it.key && r.key2 == it.key2 => {
                        with += 1;
                        differs |= !r.value.same(&it.value);
                        w.bytes(r.value.raw);
                        row[g] = Row::next(&mut readers[g]);
                    }
                    _ => w.number(3, 1),
                }
            }
            let (size, full) = (w.at, w.full);
            let l = &mut self.listed[listed];
            if with == count && (l.column == 0 || !differs) {
                continue;
            }
            if full {
                self.full = true;
                self.flags |= CUT;
                l.broken = true;
                return;
            }
            l.all += 1;
            if l.column == 0 || with == count {
                l.rows += 1; // that a row is on one side only is the identity's
            }
            self.found_size += size;
        }
        if more && bound < u64::MAX && in_range(bound + 1, p.from, p.depth) && bound >= p.from {
            self.push(listed, p.depth, bound + 1, 1);
        }
    }

    fn after_rows(&mut self) {
        for part in 0..self.part_count {
            let p = self.parts[part];
            if p.what == ROWS {
                self.rows(part);
                continue;
            }
            for i in 0..64usize {
                let (differs, bad) = self.differ(part, 0, i);
                if bad {
                    self.flags |= CUT;
                }
                if !differs {
                    continue;
                }
                let shift = 6 * (u32::from(p.depth) + 1);
                let rows = (self.tables[p.table as usize].slots as u64).checked_shr(shift).unwrap_or(0);
                let parent = if p.depth > 0 { p.from >> (64 - 6 * p.depth) << (64 - 6 * p.depth) } else { 0 };
                self.push(usize::from(p.count), p.depth + 1, parent | (i as u64) << (58 - 6 * p.depth), rows + rows / 2 + 1);
            }
        }
        self.ask_rows();
    }

    // ---- The report

    /// Begins to send the report to a peer.
    fn share_with(&mut self, peer: usize) {
        self.stage = Stage::Share;
        let p = &mut self.peers[peer];
        p.got = [0; CHUNKS / 8];
        p.chunk = 0;
        p.late = 0;
        p.since = self.now;
        p.asked = 0;
        p.shares = true;
    }

    /// Writes the rows of a listed column by ascending keys.
    fn write_rows(&mut self, w: &mut Writer<'_>, listed: usize) {
        let found = &self.found[..self.found_size];
        let mut r = Reader::new(found);
        self.order.clear();
        while !r.rest.is_empty() {
            let of = r.short();
            let begin = found.len() - r.rest.len();
            let (key, key2) = (r.number(8), r.number(8));
            for _ in 0..self.group_count {
                ValueOf::read(&mut r);
            }
            if of == listed {
                self.order.push((key, key2, begin, found.len() - r.rest.len()));
            }
        }
        self.order.sort_unstable();
        for (_, _, begin, end) in &self.order {
            w.bytes(&found[*begin..*end]);
        }
    }

    /// Makes the report of what was found, and begins to hand it out.
    fn share(&mut self) {
        let mut n = 0;
        for i in 0..self.listed_count {
            let l = self.listed[i];
            let identity = self.listed[..self.listed_count].iter().find(|g| g.table == l.table && g.column == 0);
            if identity.map_or(false, |g| l.column != 0 && (g.first || l.rows == 0 && !l.cut())) {
                self.listed[i].first = false; // it may be that only rows of one side differ
            }
            let l = self.listed[i];
            if l.cut() {
                self.flags |= CUT;
            }
            n += (l.all > 0 || l.cut() || l.first) as u64;
            if l.rows == 0 && !l.cut() && !l.first {
                self.columns_differ = self.columns_differ.wrapping_sub(1);
            }
        }
        let mut report = std::mem::take(&mut self.report);
        let mut w = Writer { to: &mut report, at: 0, full: false };
        w.bytes(b"DFR\x01");
        w.number(u64::from(self.flags), 1);
        w.number(self.o.seed, 8);
        w.number(if self.group_count > 0 { self.point } else { 0 }, 8);
        w.number(u64::from(self.step), 2);
        w.text(self.step_name.get());
        w.number(self.silent, 8);
        w.number(self.group_count as u64, 1);
        for g in &self.groups[..self.group_count] {
            for v in [g.members, g.root, g.step_root, g.inputs] {
                w.number(v, 8);
            }
        }
        w.number(u64::from(self.tables_differ), 4);
        w.number(u64::from(self.columns_differ), 4);
        w.number(n, 1);
        for i in 0..self.listed_count {
            let l = self.listed[i];
            if l.all == 0 && !l.cut() && !l.first {
                continue;
            }
            let t = &self.tables[l.table];
            let c = &self.columns[t.first + l.column];
            c.describe(&t.label, &mut w);
            w.number(l.cut() as u64 | (l.first as u64) << 1, 1);
            w.number(l.rows + l.pending, 4);
            w.number(l.all, 4);
            self.write_rows(&mut w, i);
        }
        self.report_size = w.at;
        self.report = report;
        self.report_id = self.id;
        self.reporter = self.o.me;
        self.status = Status::Found;
        for i in 0..self.o.peers.len() {
            self.share_with(i);
        }
    }

    // ---- The exchange

    fn ask_status(&mut self) {
        self.stage = Stage::AskStatus;
        self.rounds = 0;
        self.spent = 0;
        self.flags = 0;
        self.full = false;
        self.older = false;
        self.group_count = 0;
        self.step = END;
        self.step_name = Name::default();
        self.tables_differ = 0;
        self.columns_differ = 0;
        self.listed_count = 0;
        self.work.clear();
        self.found_size = 0;
        self.point = 0;
        self.part_count = 0;
        self.add(STATUS);
        self.ask();
    }

    /// Whether all that ask before this peer are silent: the first peer asks.
    fn turn(&self) -> bool {
        self.peers[..self.o.me].iter().all(|p| self.now - p.heard.max(self.started) >= WAIT)
    }

    fn advance(&mut self) {
        match self.stage {
            Stage::AskStatus => self.after_status(),
            Stage::AskHistory => self.after_history(),
            Stage::AskSteps => self.after_steps(),
            Stage::AskTables => self.after_tables(),
            Stage::AskColumns => self.after_columns(),
            _ => self.after_rows(),
        }
    }

    /// Goes on where answers are there, or will not come. Even if a third of all packets are lost both ways, one peer in 10,000
    /// is given up.
    fn poll(&mut self) {
        if self.status == Status::Asking && self.stage == Stage::Idle && self.turn() {
            self.ask_status();
        }
        while self.stage != Stage::Idle && self.stage != Stage::Share {
            for i in 0..self.o.peers.len() {
                let all = ((1u64 << self.part_count) - 1) as u32;
                let p = &mut self.peers[i];
                if !p.asks || p.gone || p.answered == all {
                    continue;
                }
                if self.now - p.since < WAIT.max(self.rto * 16) {
                    return;
                }
                p.gone = true;
                if self.stage > Stage::AskHistory && self.groups[..self.group_count].iter().any(|g| g.peer == i) {
                    self.restarts += 1;
                    if self.restarts <= 2 * PEERS {
                        self.ask_status(); // another peer of its group will do
                    }
                }
                if self.stage == Stage::AskStatus {
                    return;
                }
            }
            self.advance();
        }
    }

    fn got_question(&mut self, from: usize, id: u32, r: &mut Reader<'_>) {
        if self.peers[from].sent > MOST {
            return;
        }
        let known = self.queue.iter().position(|q| q.from == from);
        if known.map_or(self.queue.len() == QUEUE, |at| self.queue[at].id == id) {
            return;
        }
        let mut q = Question { from, id, count: r.short(), next: 0, parts: [Part::default(); PARTS] };
        if q.count == 0 || q.count > PARTS {
            return;
        }
        for p in &mut q.parts[..q.count] {
            *p = Part {
                index: r.number(1) as u8,
                what: r.number(1) as u8,
                depth: r.number(1) as u8,
                step: r.number(2) as u16,
                count: r.number(2) as u16,
                table: r.number(4) as u32,
                column: r.number(4) as u32,
                point: r.number(8),
                from: r.number(8),
            };
        }
        if r.bad {
            return;
        }
        if self.report_size > 0 {
            return self.share_with(from); // which is the answer to all questions
        }
        match known {
            Some(at) => self.queue[at] = q, // in the place of an earlier question of that peer
            None => self.queue.push(q),
        }
        self.noticed(self.confirmed, 0);
        if self.status == Status::Silent {
            self.status = Status::Asking;
            self.started = self.now;
        }
        self.alerted = self.now; // somebody asks: no need to call
        if self.stage != Stage::Idle && self.stage != Stage::Share && from < self.o.me {
            self.stage = Stage::Idle;
        }
    }

    fn got_answer(&mut self, from: usize, id: u32, r: &mut Reader<'_>) {
        let (part, state) = (r.short(), r.number(1) as u8);
        let p = self.peers[from];
        if r.bad || self.stage == Stage::Idle || self.stage == Stage::Share || id != self.id || !p.asks || p.gone {
            return;
        }
        if part >= self.part_count || p.answered >> part & 1 != 0 {
            return;
        }
        let at = self.place(from, part);
        let a = &mut self.answers[at];
        a.state = state;
        a.n = r.rest.len();
        a.data[..a.n].copy_from_slice(r.rest);
        if p.answered == 0 && p.late == 0 {
            let mut took = self.now - p.asked; // asked once: this is how long it takes
            took = (took + took / 4 + 50).min(1000);
            self.rto = if took > self.rto { took } else { self.rto - (self.rto - took) / 8 };
            self.measured = true;
        }
        self.peers[from].answered |= 1 << part;
        self.peers[from].since = self.now;
    }

    fn got_report(&mut self, from: usize, id: u32, r: &mut Reader<'_>) {
        let (chunk, size, n) = (r.number(2) as usize, r.number(4) as usize, r.rest.len());
        let chunks = size / CHUNK + (size % CHUNK != 0) as usize;
        if r.bad || size == 0 || size > self.report.len() || chunk >= chunks || n != (size - chunk * CHUNK).min(CHUNK) {
            return;
        }
        if id != self.incoming_id || from != self.incoming_from || size != self.incoming_size {
            let heard = self.peers[self.incoming_from].heard;
            if self.incoming_size > 0 && self.now - heard < WAIT && from > self.incoming_from {
                return;
            }
            self.incoming_got = [0; CHUNKS / 8];
            self.incoming_id = id;
            self.incoming_from = from;
            self.incoming_size = size;
        }
        self.incoming[chunk * CHUNK..chunk * CHUNK + n].copy_from_slice(r.rest);
        self.incoming_got[chunk / 8] |= 1 << (chunk % 8);
        self.ack = true;
        if !(0..chunks).all(|i| bit(&self.incoming_got, i)) || self.status == Status::Found {
            return;
        }
        if !self.readable(&self.incoming[..size]) {
            return;
        }
        self.noticed(self.confirmed, 0);
        self.report[..size].copy_from_slice(&self.incoming[..size]);
        self.report_size = size;
        self.report_id = id;
        self.reporter = from;
        self.status = Status::Found;
        if self.stage != Stage::Idle {
            for i in 0..self.o.peers.len() {
                self.share_with(i); // it was asking the others
            }
        }
    }

    fn receive(&mut self, from: usize, packet: &[u8]) {
        let n = packet.len();
        if n < HEAD + 4 || n > PACKET || from == self.o.me || from >= self.o.peers.len() {
            return;
        }
        let (content, crc) = packet.split_at(n - 4);
        let mut r = Reader::new(content);
        if r.bytes(3) != b"DF\x01" || u64::from(crc32c(content)) != little(crc) {
            return;
        }
        let kind = r.number(1) as u8;
        if r.number(8) != self.o.seed || !self.begun {
            return;
        }
        let (schema, id) = (r.number(4), r.number(4) as u32);
        self.peers[from].heard = self.now;
        if schema != self.schema & 0xffff_ffff {
            self.peers[from].foreign = true;
            self.noticed(self.confirmed, 0);
            if kind != REPORT && kind != GOT {
                return;
            }
        }
        match kind {
            BEAT => {
                let (point, history) = (r.number(8), r.number(8));
                let confirmed = self.confirmed;
                let p = &mut self.peers[from];
                if r.bad || p.beat && p.point > confirmed && p.point <= point {
                    return; // the earliest that is to come
                }
                p.beat = true;
                p.point = point;
                p.history = history;
                self.check();
            }
            ALERT => {
                let point = r.number(8);
                if !r.bad {
                    self.noticed(point, 0);
                }
            }
            QUESTION => self.got_question(from, id, &mut r),
            ANSWER => self.got_answer(from, id, &mut r),
            REPORT => self.got_report(from, id, &mut r),
            GOT => {
                let got = r.bytes(CHUNKS / 8);
                if self.stage != Stage::Share || id != self.report_id || r.bad {
                    return;
                }
                let p = &mut self.peers[from];
                p.got.copy_from_slice(got);
                p.since = self.now;
            }
            _ => {}
        }
    }

    /// Begins a packet, fills it in, and adds the checksum. None if there is nothing to send.
    fn packet(&mut self, to: usize, kind: u8, id: u32, fill: impl FnOnce(&mut Self, &mut Writer<'_>) -> bool) -> Option<Packet> {
        let mut packet = Packet { to, bytes: [0; PACKET], len: 0 };
        let mut w = self.writer(&mut packet, kind, id);
        let wanted = fill(self, &mut w);
        let n = w.at;
        let crc = crc32c(&packet.bytes[..n]);
        packet.bytes[n..n + 4].copy_from_slice(&crc.to_le_bytes());
        packet.len = n + 4;
        Some(packet).filter(|_| wanted)
    }

    fn send_answer(&mut self) -> Option<Packet> {
        let q = &mut self.queue[0];
        let (to, id, p) = (q.from, q.id, q.parts[q.next]);
        q.next += 1;
        if q.next == q.count {
            self.queue.remove(0);
        }
        self.packet(to, ANSWER, id, |f, w| {
            w.number(u64::from(p.index), 1);
            w.number(0, 1);
            let state = f.answer_part(&p, w);
            w.to[HEAD + 1] = state;
            let comes = state == NOT_YET && f.confirmed < f.halt && f.halt != u64::MAX; // it may come: let them ask again
            if !comes {
                f.peers[to].sent += w.at;
            }
            !comes
        })
    }

    fn send_question(&mut self) -> Option<Packet> {
        for i in 0..self.o.peers.len() {
            let p = &mut self.peers[i];
            let all = ((1u64 << self.part_count) - 1) as u32;
            let open = all & !p.answered;
            if i == self.o.me || !p.asks || p.gone || open == 0 || p.asked > 0 && self.now - p.asked < self.rto {
                continue;
            }
            p.late += (p.asked > 0) as u32;
            p.asked = self.now;
            return self.packet(i, QUESTION, self.id, |f, w| {
                w.number(u64::from(open.count_ones()), 1);
                for p in f.parts[..f.part_count].iter().filter(|p| open >> p.index & 1 != 0) {
                    for v in [p.index, p.what, p.depth] {
                        w.number(u64::from(v), 1);
                    }
                    w.number(u64::from(p.step), 2);
                    w.number(u64::from(p.count), 2);
                    w.number(u64::from(p.table), 4);
                    w.number(u64::from(p.column), 4);
                    w.number(p.point, 8);
                    w.number(p.from, 8);
                }
                true
            });
        }
        None
    }

    fn send_report(&mut self) -> Option<Packet> {
        let chunks = (self.report_size + CHUNK - 1) / CHUNK;
        for i in 0..self.o.peers.len() {
            let (now, wait) = (self.now, if self.measured { 2 * self.rto } else { 2000 });
            let p = &mut self.peers[i];
            if i == self.o.me || !p.shares || now - p.since > 3 * WAIT {
                continue;
            }
            let lacks = |p: &Peer, from: usize| (from..chunks).find(|n| !bit(&p.got, *n));
            let chunk = match lacks(p, p.chunk) {
                Some(chunk) => chunk,
                None => {
                    p.chunk = chunks;
                    match lacks(p, 0) {
                        Some(first) if now - p.asked >= wait << (p.late / 8).min(20) => {
                            p.late += 1;
                            first // once more, with what it lacks
                        }
                        _ => continue,
                    }
                }
            };
            p.asked = now;
            let known = p.late == 0 || p.got.iter().any(|b| *b != 0);
            p.chunk = if known { chunk + 1 } else { chunks }; // nothing is known to have arrived: the first chunk asks for more
            return self.packet(i, REPORT, self.report_id, |f, w| {
                w.number(chunk as u64, 2);
                w.number(f.report_size as u64, 4);
                w.bytes(&f.report[chunk * CHUNK..f.report_size.min((chunk + 1) * CHUNK)]);
                f.peers[i].sent += w.at;
                true
            });
        }
        None
    }

    /// The next peer that `next` counts, after the last one.
    fn next_peer(&self, next: usize) -> Option<usize> {
        Some(if next == self.o.me { next + 1 } else { next }).filter(|to| *to < self.o.peers.len())
    }

    fn send_point(&mut self, to: usize, kind: u8, point: u64, history: u64) -> Option<Packet> {
        self.packet(to, kind, 0, |_, w| {
            w.number(point, 8);
            w.number(history, 8);
            true
        })
    }

    fn send(&mut self, milliseconds: u64) -> Option<Packet> {
        if !self.begun {
            return None;
        }
        let now = milliseconds.saturating_add(1); // 0 is no time
        if now > self.now {
            if self.started == self.now && self.status == Status::Asking {
                self.started = now;
            }
            self.now = now;
        }
        self.poll();
        if self.ack {
            self.ack = false;
            return self.packet(self.incoming_from, GOT, self.incoming_id, |f, w| {
                w.bytes(&f.incoming_got);
                true
            });
        }
        while !self.queue.is_empty() {
            if let Some(packet) = self.send_answer() {
                return Some(packet);
            }
        }
        if self.status == Status::Asking {
            if self.stage == Stage::Idle && self.alerted > 0 && self.now - self.alerted > 1000 {
                self.alert_to = 0;
            }
            if let Some(to) = self.next_peer(self.alert_to) {
                self.alert_to = to + 1;
                self.alerted = self.now;
                return self.send_point(to, ALERT, self.alert_point, self.alert_history);
            }
            if self.stage != Stage::Idle {
                return self.send_question();
            }
        }
        if self.stage == Stage::Share {
            return self.send_report();
        }
        if self.status == Status::Watching && self.beat_history != 0 {
            if let Some(to) = self.next_peer(self.beat_to) {
                self.beat_to = to + 1;
                return self.send_point(to, BEAT, self.beat_point, self.beat_history);
            }
        }
        None
    }

    fn resume(&mut self) {
        self.status = Status::Watching;
        self.stage = Stage::Idle;
        self.begun = false;
        self.open = false;
        self.skips = false;
        self.entries.clear();
        self.report_size = 0;
        self.incoming_size = 0;
        self.queue.clear();
        self.ack = false;
        self.restarts = 0;
        self.halt = u64::MAX;
        self.beat_history = 0;
        self.beat_point = 0;
        self.past_of = None;
        self.tables.iter_mut().for_each(|t| t.seen = 0);
        self.live.fill(0);
        self.sums.fill(0);
        for p in &mut self.peers {
            p.beat = false;
            p.gone = false;
            p.foreign = false;
            p.shares = false;
            p.sent = 0;
        }
    }
}

impl<S: 'static> Flight<S> {
    /// The game itself found that the state at a point differs from the state of other peers. A peer's packet does the same.
    pub fn differs(&mut self, point: u64) -> Result<()> {
        if !self.core.begun {
            return refuse("Flight::differs: there is no state yet: Flight::state comes first");
        }
        let history = self.core.entry(point).map_or(0, |e| e.history);
        self.core.noticed(point, history);
        Ok(())
    }

    /// Takes a packet that a peer sent, whatever its content.
    pub fn receive(&mut self, from: usize, packet: &[u8]) {
        self.core.receive(from, packet)
    }

    /// The next packet that is to be sent, None if there is none now. The clock is any that counts milliseconds; it must not go
    /// back.
    pub fn send(&mut self, milliseconds: u64) -> Option<Packet> {
        self.core.send(milliseconds)
    }

    pub fn status(&self) -> Status {
        self.core.status
    }

    /// The report as bytes, the same on all peers; docs/exchange.md has their form.
    pub fn report(&self) -> Option<&[u8]> {
        Some(self.core.report()).filter(|r| !r.is_empty())
    }

    /// Goes on recording after a report: the next call is [`Flight::state`]. All peers do so at the same point, with the same
    /// state, such as after a load.
    pub fn resume(&mut self) {
        self.core.resume()
    }
}

// ---- The report as text and as files

#[derive(Default)]
struct Head<'a> {
    flags: u8,
    point: u64,
    step: u32,
    step_name: &'a [u8],
    silent: u64,
    groups: usize,
    members: [u64; GROUPS],
    roots: [u64; GROUPS],
    step_roots: [u64; GROUPS],
    inputs: [u64; GROUPS],
    listed: usize,
}

impl<'a> Head<'a> {
    fn read(r: &mut Reader<'a>) -> Self {
        r.bad |= r.bytes(4) != b"DFR\x01";
        let mut h = Head { flags: r.number(1) as u8, ..Head::default() };
        r.number(8);
        h.point = r.number(8);
        h.step = r.number(2) as u32;
        let n = r.short();
        h.step_name = r.bytes(n);
        h.silent = r.number(8);
        h.groups = r.short();
        if h.groups > GROUPS {
            r.bad = true;
            h.groups = 0;
        }
        for g in 0..h.groups {
            h.members[g] = r.number(8);
            h.roots[g] = r.number(8);
            h.step_roots[g] = r.number(8);
            h.inputs[g] = r.number(8);
            r.bad |= h.members[g] == 0;
        }
        r.number(8); // how many tables and columns differ
        h.listed = r.short();
        h
    }

    /// The group of a peer.
    fn group(&self, peer: usize) -> Option<usize> {
        (0..self.groups).find(|g| peer < PEERS && self.members[*g] >> peer & 1 != 0)
    }
}

/// A listed column; its rows follow.
struct List<'a> {
    label: &'a [u8],
    component: &'a [u8],
    field: &'a [u8],
    of: u8,
    scale: u32,
    flags: u8,
    at_least: u64,
    rows: u64,
}

impl<'a> List<'a> {
    fn read(r: &mut Reader<'a>) -> Self {
        let text = |r: &mut Reader<'a>| {
            let n = r.short();
            r.bytes(n)
        };
        List {
            label: text(r),
            component: text(r),
            field: text(r),
            of: r.number(1) as u8,
            scale: r.number(4) as u32,
            flags: r.number(1) as u8,
            at_least: r.number(4),
            rows: r.number(4),
        }
    }

    fn skip(&self, r: &mut Reader<'a>, groups: usize) {
        for _ in 0..self.rows {
            r.bytes(16);
            for _ in 0..groups {
                ValueOf::read(r);
            }
            if r.bad {
                return;
            }
        }
    }

    fn name(&self, out: &mut String) {
        if self.label.is_empty() {
            return out.push_str("RNG");
        }
        escape(out, self.label);
        if self.of == 0 {
            return out.push_str(" entities");
        }
        out.push(' ');
        escape(out, self.component);
        out.push('.');
        escape(out, self.field);
    }

    fn value(&self, out: &mut String, v: &ValueOf<'_>) {
        if v.state == 0 || v.state == 3 {
            return out.push_str(if v.state == 0 { "no value" } else { "no row" });
        }
        let of = if self.of == 0 { return out.push_str("a row") } else { self.of };
        let mut bytes = [0; 8];
        let n = v.bytes.len().min(8);
        bytes[..n].copy_from_slice(&v.bytes[..n]);
        let x = u64::from_le_bytes(bytes);
        let is = |t: Type| of == t as u8;
        if is(Type::String) {
            out.push('"');
            escape(out, v.bytes);
            out.push_str(if v.state == 2 { "\"..." } else { "\"" });
        } else if is(Type::Bytes) {
            v.bytes.iter().for_each(|b| say!(out, "{b:02x}"));
            out.push_str(if v.state == 2 { "..." } else { "" });
        } else if is(Type::Bool) {
            out.push_str(if x != 0 { "true" } else { "false" });
        } else {
            out.push_str(&if is(Type::I8) {
                (x as i8).to_string()
            } else if is(Type::I16) {
                (x as i16).to_string()
            } else if is(Type::I32) {
                (x as i32).to_string()
            } else if is(Type::I64) {
                (x as i64).to_string()
            } else if is(Type::F32) {
                float(f64::from(f32::from_bits(x as u32)), 9)
            } else if is(Type::F64) {
                float(f64::from_bits(x), 17)
            } else if is(Type::Fixed) {
                format!("{}/{}", x as i64, self.scale)
            } else if is(Type::Ref) {
                format!("#{x}")
            } else {
                x.to_string()
            });
        }
    }
}

/// A text of another peer: control characters and what is not ASCII are escaped.
fn escape(out: &mut String, text: &[u8]) {
    for b in text {
        match b {
            b' '..=b'~' if *b != b'\\' => out.push(*b as char),
            _ => say!(out, "\\x{b:02x}"),
        }
    }
}

/// A number with so many digits, as %g of C has it.
fn float(x: f64, digits: usize) -> String {
    if !x.is_finite() {
        let sign = if x.is_sign_negative() { "-" } else { "" };
        return format!("{sign}{}", if x.is_nan() { "nan" } else { "inf" });
    }
    let text = format!("{:.*e}", digits - 1, x);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let short = |text: &str| if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text.to_string() };
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", short(mantissa), exponent.abs());
    }
    short(&format!("{:.*}", (digits as i32 - 1 - exponent) as usize, x))
}

fn count(out: &mut String, n: u64, noun: &str) {
    say!(out, "{n} {noun}{}", if n == 1 { "" } else { "s" });
}

/// Whether a name can be the name of a folder on every system: players choose names.
fn folder(name: &str) -> bool {
    !name.bytes().any(|c| c <= b' ' || b"/\\:*?\"<>|".contains(&c)) && !name.starts_with('.') && !name.ends_with('.') && (1..=100).contains(&name.len())
}

impl Core {
    /// Whether all of a report can be read: it may come from any source.
    fn readable(&self, data: &[u8]) -> bool {
        let mut r = Reader::new(data);
        let h = Head::read(&mut r);
        for g in 0..h.groups {
            r.bad |= self.o.peers.len() < 64 && h.members[g] >> self.o.peers.len() != 0;
        }
        for _ in 0..h.listed {
            if !r.bad {
                List::read(&mut r).skip(&mut r, h.groups);
            }
        }
        data.len() >= 8 && !r.bad && r.rest.is_empty()
    }

    fn say_peers(&self, out: &mut String, members: u64) {
        let (all, mut n, mut said) = (members.count_ones(), 0, 0);
        for (i, name) in self.o.peers.iter().enumerate() {
            if members >> i & 1 == 0 {
                continue;
            }
            n += 1;
            if said == 4 && all > 5 {
                return say!(out, " and {} more", all - said);
            }
            if said > 0 {
                out.push_str(if n == all { " and " } else { ", " });
            }
            said += 1;
            escape(out, name.as_bytes());
        }
    }

    /// The first sentence: where, and what differs most directly.
    fn say_first(&self, out: &mut String, h: &Head<'_>) {
        if h.groups == 0 {
            return out.push_str(if h.flags & OTHER_STATE != 0 {
                "The peers describe their states otherwise: they run different builds.\n"
            } else {
                "The states that the peers still have do not differ.\n"
            });
        }
        let several = h.members[..h.groups].iter().any(|m| m.count_ones() > 1); // peers are of one group
        for g in 0..h.groups {
            if g > 0 {
                out.push_str(if several { " against " } else if g + 1 == h.groups { " and " } else { ", " });
            }
            self.say_peers(out, h.members[g]);
        }
        let lost = h.flags & LOST != 0;
        let tick = if lost { h.point } else { h.point.saturating_sub(1) };
        say!(out, " have different states {} tick {tick}", if lost { "at" } else { "since" });
        if !h.step_name.is_empty() {
            out.push_str(", system ");
            escape(out, h.step_name);
        }
        if lost {
            out.push_str(", the first that all of them still have");
        }
        let (mut best, mut others) = (None::<List<'_>>, 0);
        let mut r = Reader::new(self.report());
        Head::read(&mut r);
        for _ in 0..h.listed {
            let l = List::read(&mut r);
            l.skip(&mut r, h.groups);
            if l.at_least == 0 && l.flags == 0 {
                continue;
            }
            others += (l.flags & 2 != 0 || h.step == END) as u64;
            let better = best.as_ref().map_or(true, |b| l.flags & 2 > b.flags & 2 || l.flags & 2 == b.flags & 2 && b.label.is_empty());
            if better {
                best = Some(l);
            }
        }
        if let Some(best) = best {
            out.push_str(": ");
            best.name(out);
            out.push_str(if best.of != 0 { " differs" } else { " differ" });
            if !best.label.is_empty() && best.at_least > 0 {
                out.push_str(if best.flags & 1 != 0 { " in at least " } else { " in " });
                count(out, best.at_least, "row");
            }
            if others > 1 {
                out.push_str(", and ");
                count(out, others - 1, "more column");
            }
        }
        out.push_str(".\n");
        if h.inputs[..h.groups].iter().any(|inputs| *inputs != h.inputs[0]) {
            out.push_str("The orders of that tick differ.\n");
        }
    }

    /// A row, except what a column has of rows of one side.
    fn say_row(&self, out: &mut String, h: &Head<'_>, l: &List<'_>, r: &mut Reader<'_>) {
        let (key, key2) = (r.number(8), r.number(8));
        let mut values = [ValueOf { state: 3, bytes: &[], raw: &[] }; GROUPS];
        for v in &mut values[..h.groups] {
            *v = ValueOf::read(r);
        }
        if l.of != 0 && values[..h.groups].iter().any(|v| v.state == 3) {
            return;
        }
        say!(out, "  #{key}");
        if key2 != 0 {
            say!(out, "/{key2}");
        }
        for g in 0..h.groups {
            out.push_str(if g > 0 { ", " } else { " " });
            l.value(out, &values[g]);
            out.push_str(" on ");
            self.say_peers(out, h.members[g]);
        }
        out.push('\n');
    }

    fn text(&self) -> String {
        let mut out = String::new();
        if self.report_size == 0 {
            return out;
        }
        let mut r = Reader::new(self.report());
        let h = Head::read(&mut r);
        self.say_first(&mut out, &h);
        for _ in 0..h.listed {
            let l = List::read(&mut r);
            if l.at_least > 0 || l.flags != 0 {
                l.name(&mut out);
                out.push_str(if l.flags & 1 != 0 { ": at least " } else { ": " });
                count(&mut out, l.at_least, "row");
                out.push_str(if l.flags & 2 != 0 && !h.step_name.is_empty() { ", differs first\n" } else { "\n" });
            }
            for _ in 0..l.rows {
                self.say_row(&mut out, &h, &l, &mut r);
            }
        }
        if h.flags & CUT != 0 {
            out.push_str("More differs than is listed.\n");
        }
        if h.silent != 0 {
            out.push_str("Not known of ");
            self.say_peers(&mut out, h.silent);
            out.push_str(".\n");
        }
        out.push_str("Found by ");
        self.say_peers(&mut out, 1 << self.reporter);
        out.push_str("; each peer's values are its own word.\n");
        out
    }

    /// The world whose values are those of `past`.
    fn past_world(&self) -> Result<World> {
        let mut world = World::new();
        for (k, t) in self.tables.iter().enumerate() {
            if t.label.is_empty() {
                world.set_rng(&self.past[self.columns[t.first + 1].cell(0)]);
                continue;
            }
            let slots: Vec<usize> = self.identities_of(k).enumerate().filter(|(_, id)| id[0] != 0).map(|(slot, _)| slot).collect();
            let identity = |slot: usize| &self.past[self.columns[t.first].cell(slot)];
            let key = |slot: usize| little(&identity(slot)[1..9]);
            let label = t.label.clone();
            let mut rows = if t.parts == 2 {
                world.table(Class::Archetype, label, slots.clone(), |slot| (key(slot), little(&identity(slot)[9..17])))
            } else {
                world.table(Class::Archetype, label, slots.clone(), key)
            };
            for c in &self.columns[t.first + 1..t.first + t.columns] {
                let cell = |slot: usize| &self.past[c.cell(slot)];
                if c.text && slots.iter().any(|slot| c.has(cell(*slot)) && little(&cell(*slot)[8..12]) > TEXT as u64) {
                    return refuse("the state has strings of more than 52 bytes, of which only the beginning is kept");
                }
                let of = Type::ALL[c.of as usize - 1];
                rows = rows.column_of(c.component.clone(), c.field.clone(), of, c.scale, |slot, to| {
                    let cell = cell(slot);
                    let has = c.has(cell);
                    if c.text && has {
                        to.extend_from_slice(&cell[12..12 + little(&cell[8..12]) as usize]);
                    } else if has || width(of) > 0 {
                        to.extend_from_slice(&cell[..c.length(cell)]);
                    }
                    has
                });
            }
        }
        Ok(world)
    }

    /// The orders of the tick that leads to a point.
    fn orders(&self, point: u64) -> Result<Vec<Order>> {
        let mut list = Vec::new();
        let e = match self.entry(point) {
            Some(e) if self.ring.keeps(e.begin) => e,
            _ => return refuse("the orders are no longer kept"),
        };
        let mut back = e.end;
        while back > e.begin && self.ring.kind(back) != ORDERS {
            back = self.ring.begin(back);
        }
        if back <= e.begin {
            return Ok(list);
        }
        let (mut at, end) = (self.ring.begin(back), back - 5);
        while at + 20 <= end {
            let n = |i: u64| self.ring.get_number(at + 4 * i, 4) as u32;
            let mut payload = vec![0; n(4) as usize];
            self.ring.get(at + 20, &mut payload);
            list.push(Order { sub_tick: n(0), player: n(1), sequence: n(2), kind: n(3), payload });
            at += 20 + u64::from(n(4));
        }
        Ok(list)
    }

    /// Sets a cell of `past` to a value of the report. False if that is not all of the value, or there is no room.
    fn set(&mut self, table: usize, column: usize, key: u64, key2: u64, value: &ValueOf<'_>) -> bool {
        let t = &self.tables[table];
        let (first, keyed) = (t.first, t.parts > 0);
        let is = |id: &[u8]| id[0] != 0 && little(&id[1..9]) == key && little(&id[9..17]) == key2;
        let there = self.identities_of(table).position(is);
        if column == 0 {
            let free = || self.identities_of(table).enumerate().position(|(i, id)| id[0] == 0 && (keyed || i as u64 == key));
            let slot = match there.or_else(free) {
                Some(slot) => slot,
                None => return value.state == 3,
            };
            if there.is_none() {
                for c in &self.columns[first + 1..first + t.columns] {
                    self.past[c.cell(slot)].fill(0); // what it lacks here has no value
                }
            }
            let id = &mut self.past[self.columns[first].cell(slot)];
            id.fill(0);
            if value.state != 3 {
                id[0] = 1;
                id[1..9].copy_from_slice(&key.to_le_bytes());
                id[9..17].copy_from_slice(&key2.to_le_bytes());
            }
            return true;
        }
        if value.state == 3 {
            return true; // the row itself is gone
        }
        let c = &self.columns[first + column];
        let (n, room) = (value.bytes.len(), if c.text { TEXT } else { c.width });
        let slot = match there {
            Some(slot) if value.state != 2 && n <= room => slot,
            _ => return false,
        };
        let cell = &mut self.past[c.cell(slot)];
        cell.fill(0);
        if value.state == 0 {
            return c.size > c.width;
        }
        if c.text {
            cell[..8].copy_from_slice(&hash(value.bytes).to_le_bytes());
            cell[8..12].copy_from_slice(&(n as u32).to_le_bytes());
        }
        let begin = if c.text { 12 } else { 0 };
        cell[begin..begin + n].copy_from_slice(value.bytes);
        if c.size > c.width {
            cell[c.width] = 1;
        }
        true
    }

    /// The table and column that a list names.
    fn listed_column(&self, l: &List<'_>) -> Option<(usize, usize)> {
        let table = self.tables.iter().position(|t| t.label.as_bytes() == l.label)?;
        let t = &self.tables[table];
        let columns = &self.columns[t.first..t.first + t.columns];
        let column = if l.of == 0 { Some(0) } else { columns.iter().position(|c| c.of != 0 && c.component.as_bytes() == l.component && c.field.as_bytes() == l.field) };
        Some((table, column?))
    }

    /// Makes `past` the state of a group at the end of the divergent tick. False if it is not known as a whole.
    fn patch(&mut self, group: usize) -> bool {
        let report = std::mem::take(&mut self.report);
        let data = &report[..self.report_size];
        let h = Head::read(&mut Reader::new(data));
        let whole = self.rebuild(h.point, END) && {
            self.past_of = None;
            (0..2).all(|pass| self.patch_pass(data, &h, group, pass == 0)) // rows first, then their values
        };
        let root = h.roots[group];
        self.report = report;
        if !whole {
            return false;
        }
        for t in &self.tables {
            for (i, c) in self.columns[t.first..t.first + t.columns].iter().enumerate() {
                let mut sum = 0u64;
                for slot in 0..t.slots {
                    let id = &self.past[self.columns[t.first].cell(slot)];
                    if id[0] != 0 {
                        sum = sum.wrapping_add(c.sum(row_of(id), &self.past[c.cell(slot)]));
                    }
                }
                self.past_sums[t.first + i] = sum;
            }
        }
        self.root(&self.past_sums) == root
    }

    fn patch_pass(&mut self, data: &[u8], h: &Head<'_>, group: usize, rows: bool) -> bool {
        let mut r = Reader::new(data);
        Head::read(&mut r);
        for _ in 0..h.listed {
            let l = List::read(&mut r);
            let place = self.listed_column(&l);
            for _ in 0..l.rows {
                let (key, key2) = (r.number(8), r.number(8));
                let mut value = None;
                for g in 0..h.groups {
                    let v = ValueOf::read(&mut r);
                    if g == group {
                        value = Some(v);
                    }
                }
                if let (Some((table, column)), Some(value)) = (place, value) {
                    if rows == (l.of == 0) && !self.set(table, column, key, key2, &value) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// The trace of the divergent tick up to the system that differs first: no more is known of others.
    fn trace(&self, path: &Path, session: &Session, h: &Head<'_>, group: usize, own: bool) -> Result<()> {
        let mut trace = Trace::create(path, session)?;
        let mut at = [0; NAMES];
        let n = self.entry(h.point).map_or(0, |e| self.steps(e, &mut at));
        for i in 0..n.min(h.step as usize + 1) {
            let (name, root) = self.step_at(at[n - 1 - i]);
            let root = if own || i < h.step as usize { root } else { h.step_roots[group] };
            trace.add(&Checkpoint {
                tick: h.point.wrapping_sub(1),
                system: String::from_utf8_lossy(name).into_owned(),
                sums: vec![Sum { name: "flight".to_string(), bytes: root.to_le_bytes().to_vec() }],
                ..Checkpoint::default()
            })?;
        }
        trace.close()?;
        Ok(())
    }

    /// Writes what this peer has from a point to the end of the divergent tick.
    fn own_files(&mut self, dir: &Path, session: &Session, h: &Head<'_>, data: &[u8]) -> Result<()> {
        let mut recorder = None;
        for point in session.first_point..=h.point {
            if !self.rebuild(point, END) {
                break;
            }
            let world = self.past_world()?;
            if recorder.is_none() {
                recorder = Some(Recorder::create(dir, session, &world, None)?);
            }
            let r = match &mut recorder {
                Some(r) => r,
                None => break,
            };
            r.state(point, &world)?;
            if point + 1 >= h.point {
                r.snapshot(&world)?;
            }
            if point < h.point {
                r.tick(point, &self.orders(point + 1)?)?;
                continue;
            }
            let (mut labels, mut reader) = (Vec::new(), Reader::new(data));
            Head::read(&mut reader);
            for _ in 0..h.listed {
                let l = List::read(&mut reader);
                l.skip(&mut reader, h.groups);
                if let Some(t) = self.tables.iter().find(|t| t.label.as_bytes() == l.label && !t.label.is_empty()) {
                    if labels.last() != Some(&t.label.as_str()) && labels.len() < 64 {
                        labels.push(&t.label);
                    }
                }
            }
            r.report(&world, None, &labels)?;
        }
        recorder.map_or(Ok(()), Recorder::close)
    }

    /// Writes what another peer had before and after the divergent tick: an order log with the hashes, where its orders were this
    /// peer's, and for one peer of a group the states. The state before the tick is this peer's too.
    fn other_files(&mut self, dir: &Path, session: &Session, h: &Head<'_>, group: usize, peer: usize, states: bool) -> Result<()> {
        let before = h.flags & LOST == 0 && h.point > 0;
        let own = h.members[group] >> self.o.me & 1 != 0;
        let same = self.entry(h.point).map_or(false, |e| e.inputs == h.inputs[group] && self.ring.keeps(e.begin));
        let mut log = match before && same && session.peer == self.o.peers[peer] {
            true => Some(OrderLog::create(dir.join("order-log.bin"), session)?),
            false => None,
        };
        for tick in h.point - u64::from(before)..=h.point {
            if log.is_none() && !states {
                break;
            }
            let whole = if tick == h.point && !own { self.patch(group) } else { self.rebuild(tick, END) };
            if !whole {
                break;
            }
            let world = self.past_world()?;
            if let Some(log) = &mut log {
                let hash = world.hash()?;
                log.hash(tick, peer as u32, "sync", "", &hash[..8])?;
                log.hash(tick, peer as u32, "state", "", &hash)?;
                if tick < h.point {
                    log.tick(tick, &self.orders(h.point)?)?;
                }
            }
            if states {
                let at = Point { seed: self.o.seed, tick, peer: session.peer.clone(), ..Point::default() };
                world.write_snapshot(&at, dir)?;
            }
        }
        log.map_or(Ok(()), |log| log.close().map(|_| ()))
    }

    fn snapshot(&mut self, peer: usize) -> Result<Vec<u8>> {
        if self.report_size == 0 {
            return refuse("Flight::snapshot: there is no report");
        }
        let h = Head::read(&mut Reader::new(self.report()));
        let (point, groups) = (h.point, (h.group(self.o.me), h.group(peer)));
        let whole = match groups {
            (Some(own), Some(group)) if own == group => self.rebuild(point, END),
            (Some(_), Some(group)) => self.patch(group),
            _ => return refuse("Flight::snapshot: the report does not cover both peers"),
        };
        if !whole {
            return refuse("Flight::snapshot: the report does not have all values of that peer");
        }
        let at = Point { seed: self.o.seed, tick: point, peer: self.o.peers[peer].clone(), ..Point::default() };
        self.past_world()?.snapshot(&at)
    }

    fn files(&mut self, dir: &Path) -> Result<()> {
        if self.report_size == 0 {
            return refuse("Flight::files: there is no report");
        }
        let data = self.report().to_vec();
        let h = Head::read(&mut Reader::new(&data));
        let own = match h.group(self.o.me) {
            Some(own) => own,
            None => return refuse("Flight::files: the report does not cover this peer"),
        };
        let oldest = self.entries.front().map_or(0, |e| e.point);
        for peer in 0..self.o.peers.len() {
            let g = match h.group(peer) {
                Some(g) => g,
                None => continue, // it did not answer
            };
            let me = peer == self.o.me;
            let mut name = self.o.peers[peer].clone();
            if !folder(&name) {
                if me {
                    return refuse("Flight::files: the name of this peer cannot be the name of a folder");
                }
                name = format!("peer-{peer}");
            }
            let path = dir.join(&name);
            fs::create_dir_all(&path)?;
            let mut from = h.point;
            while me && from > oldest && h.point - from < 32 && self.entry(from).map_or(false, |e| self.ring.keeps(e.begin)) {
                from -= 1;
            }
            let session = Session {
                seed: self.o.seed,
                peer: name,
                build: self.o.build.clone(),
                first_point: if me { from } else { from.saturating_sub(1) },
                kinds: self.o.kinds.clone(),
                peers: self.o.peers.clone(),
                ..Session::default()
            };
            if me {
                self.own_files(dir, &session, &h, &data)?;
            } else {
                let states = g != own && h.members[g].trailing_zeros() as usize == peer;
                self.other_files(&path, &session, &h, g, peer, states)?;
            }
            if h.step != END {
                self.trace(&path.join("checkpoints.trace"), &session, &h, g, g == own)?;
            }
        }
        Ok(())
    }
}

impl<S: 'static> Flight<S> {
    /// The report as text, for the game's log and its screen: a sentence, then what differs. It is empty without a report.
    /// Control characters of names and values are escaped.
    pub fn text(&self) -> String {
        self.core.text()
    }

    /// The state that a peer had at the end of the divergent tick, as a .snap: of this peer as it is kept, of a peer of
    /// another group made of it and the values in the report. If these are not all that differs, that is an error: the
    /// hash of the state shows it. To heal, all peers load the state of the same peer as they load a save, and go on
    /// from there with [`Flight::resume`].
    pub fn snapshot(&mut self, peer: usize) -> Result<Vec<u8>> {
        self.core.snapshot(peer)
    }

    /// Writes what is known to DIR, a folder for each peer: this peer's order log of the ticks that are kept, its trace, its states
    /// before and after the divergent tick, and its report; an order log and the trace of each other peer that answered, if
    /// the orders of that tick were the same, and the states of one peer of each group, if the values in the report are all
    /// that differs: then the hash shows that they are whole. A peer whose name cannot be a folder's is peer-N. `desynctool
    /// triage DIR` reads it.
    pub fn files(&mut self, dir: impl AsRef<Path>) -> Result<()> {
        self.core.files(dir.as_ref())
    }
}
