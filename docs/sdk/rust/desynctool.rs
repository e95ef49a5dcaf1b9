// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

//! desynctool.rs: desync forensics for a deterministic game, in one file of safe Rust without crates. Copy it next to
//! the game's own files and write `mod desynctool;`. It needs Rust 1.63 or later.
//!
//! In the order in which a game takes it in:
//!
//! - [`World`]: the state as tables of typed columns, made again from the game's own memory when it is hashed or
//!   written
//! - [`World::hash`]: the hash by which peers compare states
//! - [`Recorder`]: the files of one peer: order log, trace, snapshots, and its report when states differ
//! - [`serve`]: replays for desynctool: `desynctool replay s/host --sim "exec:./mygame --headless"`
//! - [`Snapshot`]: a state that was read and checked, which a game takes its own memory from
//! - [`OrderLog`], [`Trace`]: the files by themselves, into whatever implements [`Write`]
//! - [`TickSignatures`]: state hashes that the peer signed; [`CheckedSignatures`] reads them
//!
//! skirmish.rs next to this file is a whole small game. docs/snapshot.md, docs/merkle.md, docs/orderlog.md,
//! docs/trace.md, docs/peer-report.md and docs/extsim.md describe the formats.
//!
//! It writes no compressed snapshots and reads none; those that a target is asked to load are not compressed. No
//! content of a file or a request makes it panic.
#![forbid(unsafe_code)]
#![allow(dead_code, clippy::all)] // a game needs only some of it, and it keeps to what Rust 1.63 has

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

// ---- What goes wrong

/// Why something was refused or did not work, as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(pub String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(e: io::Error) -> Self {
        Error(e.to_string())
    }
}

impl From<&str> for Error {
    fn from(why: &str) -> Self {
        Error(why.to_string())
    }
}

impl From<String> for Error {
    fn from(why: String) -> Self {
        Error(why)
    }
}

pub type Result<T> = std::result::Result<T, Error>;

fn refuse<T>(why: &str) -> Result<T> {
    Err(Error::from(why))
}

fn require(holds: bool, why: &str) -> Result<()> {
    if holds {
        Ok(())
    } else {
        refuse(why)
    }
}

// ---- Checksums

pub type Hash = [u8; 32];
/// The first bytes of a [`Hash`].
pub type SyncHash = [u8; 8];

/// SHA-256.
#[derive(Clone)]
pub struct Sha256 {
    h: [u32; 8],
    len: u64,
    block: [u8; 64],
}

impl Default for Sha256 {
    fn default() -> Self {
        let h = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
        Sha256 { h, len: 0, block: [0; 64] }
    }
}

impl Sha256 {
    const K: [u32; 64] = [
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
        0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
        0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
        0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
        0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
        0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
    ];

    fn compress(h: &mut [u32; 8], block: &[u8]) {
        let mut w = [0u32; 64];
        for (word, bytes) in w.iter_mut().zip(block.chunks_exact(4)) {
            *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        for i in 16..64 {
            let (x, y) = (w[i - 15], w[i - 2]);
            let low = x.rotate_right(7) ^ x.rotate_right(18) ^ (x >> 3);
            let high = y.rotate_right(17) ^ y.rotate_right(19) ^ (y >> 10);
            w[i] = w[i - 16].wrapping_add(w[i - 7]).wrapping_add(low).wrapping_add(high);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut last] = *h;
        for i in 0..64 {
            let t1 = last
                .wrapping_add(e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25))
                .wrapping_add((e & f) ^ (!e & g))
                .wrapping_add(Self::K[i])
                .wrapping_add(w[i]);
            let t2 = (a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22)).wrapping_add((a & b) ^ (a & c) ^ (b & c));
            last = g;
            g = f;
            f = e;
            e = d.wrapping_add(t1);
            d = c;
            c = b;
            b = a;
            a = t1.wrapping_add(t2);
        }
        for (to, v) in h.iter_mut().zip([a, b, c, d, e, f, g, last]) {
            *to = to.wrapping_add(v);
        }
    }

    pub fn add(&mut self, mut data: &[u8]) {
        let have = (self.len % 64) as usize;
        self.len = self.len.wrapping_add(data.len() as u64);
        if have > 0 {
            let take = data.len().min(64 - have);
            self.block[have..have + take].copy_from_slice(&data[..take]);
            if have + take < 64 {
                return;
            }
            Self::compress(&mut self.h, &self.block);
            data = &data[take..];
        }
        let mut blocks = data.chunks_exact(64);
        for block in &mut blocks {
            Self::compress(&mut self.h, block);
        }
        let rest = blocks.remainder();
        self.block[..rest.len()].copy_from_slice(rest);
    }

    pub fn end(mut self) -> Hash {
        let bits = self.len.wrapping_mul(8);
        let mut tail = [0u8; 72];
        tail[0] = 0x80;
        let pad = 64 - ((self.len + 8) % 64) as usize;
        tail[pad..pad + 8].copy_from_slice(&bits.to_be_bytes());
        self.add(&tail[..pad + 8]);
        let mut out = [0; 32];
        for (bytes, word) in out.chunks_exact_mut(4).zip(self.h) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        out
    }

    pub fn of(data: &[u8]) -> Hash {
        let mut s = Sha256::default();
        s.add(data);
        s.end()
    }
}

const fn crc_table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let (mut c, mut bit) = (i as u32, 0);
        while bit < 8 {
            c = if c & 1 != 0 { c >> 1 ^ 0x82f63b78 } else { c >> 1 };
            bit += 1;
        }
        table[i] = c;
        i += 1;
    }
    table
}

static CRC: [u32; 256] = crc_table();

/// CRC-32C.
pub fn crc32c(data: &[u8]) -> u32 {
    !data.iter().fold(!0, |c, b| c >> 8 ^ CRC[(c as u8 ^ b) as usize])
}

/// The Merkle root over leaves.
pub fn merkle_root(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => Sha256::of(&[]),
        [one] => *one,
        _ => {
            // Promoting the last odd node makes the left subtree the largest full one.
            let half = leaves.len().next_power_of_two() / 2;
            let mut s = Sha256::default();
            s.add(&merkle_root(&leaves[..half]));
            s.add(&merkle_root(&leaves[half..]));
            s.end()
        }
    }
}

/// The sync hash of a state hash.
pub fn sync_hash(hash: &Hash) -> SyncHash {
    let mut short = [0; 8];
    short.copy_from_slice(&hash[..8]);
    short
}

// ---- MessagePack

trait Pack {
    fn big(&mut self, code: u8, v: u64, n: usize);
    fn little32(&mut self, v: usize);
    fn uint(&mut self, v: u64);
    fn array(&mut self, n: usize);
    fn map(&mut self, n: usize);
    fn str(&mut self, s: &str);
    fn bin(&mut self, b: &[u8]);
    fn bool(&mut self, v: bool);
    fn nil(&mut self);
    fn pad(&mut self, n: usize);
}

impl Pack for Vec<u8> {
    fn big(&mut self, code: u8, v: u64, n: usize) {
        self.push(code);
        self.extend_from_slice(&v.to_be_bytes()[8 - n..]);
    }

    fn little32(&mut self, v: usize) {
        self.extend_from_slice(&(v as u32).to_le_bytes());
    }

    /// The shortest form.
    fn uint(&mut self, v: u64) {
        match v {
            0..=0x7f => self.push(v as u8),
            0x80..=0xff => self.big(0xcc, v, 1),
            0x100..=0xffff => self.big(0xcd, v, 2),
            0x1_0000..=0xffff_ffff => self.big(0xce, v, 4),
            _ => self.big(0xcf, v, 8),
        }
    }

    fn array(&mut self, n: usize) {
        match n {
            0..=15 => self.push(0x90 | n as u8),
            16..=0xffff => self.big(0xdc, n as u64, 2),
            _ => self.big(0xdd, n as u64, 4),
        }
    }

    fn map(&mut self, n: usize) {
        match n {
            0..=15 => self.push(0x80 | n as u8),
            16..=0xffff => self.big(0xde, n as u64, 2),
            _ => self.big(0xdf, n as u64, 4),
        }
    }

    fn str(&mut self, s: &str) {
        match s.len() {
            n @ 0..=31 => self.push(0xa0 | n as u8),
            n @ 32..=0xff => self.big(0xd9, n as u64, 1),
            n @ 0x100..=0xffff => self.big(0xda, n as u64, 2),
            n => self.big(0xdb, n as u64, 4),
        }
        self.extend_from_slice(s.as_bytes());
    }

    fn bin(&mut self, b: &[u8]) {
        match b.len() {
            n @ 0..=0xff => self.big(0xc4, n as u64, 1),
            n @ 0x100..=0xffff => self.big(0xc5, n as u64, 2),
            n => self.big(0xc6, n as u64, 4),
        }
        self.extend_from_slice(b);
    }

    fn bool(&mut self, v: bool) {
        self.push(if v { 0xc3 } else { 0xc2 });
    }

    fn nil(&mut self) {
        self.push(0xc0);
    }

    /// Zero bytes up to the next multiple of 8 after n bytes.
    fn pad(&mut self, n: usize) {
        self.extend_from_slice(&[0; 8][..(8 - n % 8) % 8]);
    }
}

/// The head of a value: its kind, and its number or length.
#[derive(Clone, Copy, PartialEq)]
enum Head {
    Uint(u64),
    Bool(bool),
    Nil,
    Str(u64),
    Bin(u64),
    Array(u64),
    Map(u64),
    Other(u64), // a float or negative number, of so many bytes more
}

/// Reads MessagePack from bytes that may be anything.
#[derive(Clone)]
struct Reader<'a> {
    rest: &'a [u8],
}

const ENDS: &str = "it ends inside a value";
const MORE: &str = "it has more elements than bytes";

impl<'a> Reader<'a> {
    fn new(rest: &'a [u8]) -> Self {
        Reader { rest }
    }

    fn take(&mut self, n: u64) -> Result<&'a [u8]> {
        require(n <= self.rest.len() as u64, ENDS)?;
        let (run, rest) = self.rest.split_at(n as usize);
        self.rest = rest;
        Ok(run)
    }

    fn big(&mut self, n: u64) -> Result<u64> {
        Ok(self.take(n)?.iter().fold(0, |v, b| v << 8 | u64::from(*b)))
    }

    fn head(&mut self) -> Result<Head> {
        let c = self.take(1)?[0];
        let low = u64::from(c);
        Ok(match c {
            0..=0x7f => Head::Uint(low),
            0x80..=0x8f => Head::Map(low & 15),
            0x90..=0x9f => Head::Array(low & 15),
            0xa0..=0xbf => Head::Str(low & 31),
            0xc0 => Head::Nil,
            0xc2 | 0xc3 => Head::Bool(c == 0xc3),
            0xc4..=0xc6 => Head::Bin(self.big(1 << (c - 0xc4))?),
            0xca => Head::Other(4),
            0xcb => Head::Other(8),
            0xcc..=0xcf => Head::Uint(self.big(1 << (c - 0xcc))?),
            0xd0..=0xd3 => {
                let size = 1 << (c - 0xd0);
                let v = self.big(size)?;
                if v >> (8 * size - 1) == 0 {
                    Head::Uint(v) // a signed form of what is not negative
                } else {
                    Head::Other(0)
                }
            }
            0xd9..=0xdb => Head::Str(self.big(1 << (c - 0xd9))?),
            0xdc | 0xdd => Head::Array(self.big(if c == 0xdc { 2 } else { 4 })?),
            0xde | 0xdf => Head::Map(self.big(if c == 0xde { 2 } else { 4 })?),
            0xe0..=0xff => Head::Other(0),
            _ => return refuse("it has an extension or a code that does not occur"),
        })
    }

    /// Reads past one value and whatever is in it, without recursion.
    fn skip(&mut self) -> Result<()> {
        let mut values = 1u64;
        while values > 0 {
            values -= 1;
            match self.head()? {
                Head::Array(n) => values += n,
                Head::Map(n) => values += 2 * n,
                Head::Str(n) | Head::Bin(n) | Head::Other(n) => {
                    self.take(n)?;
                }
                _ => {}
            }
            require(values <= self.rest.len() as u64, MORE)?;
        }
        Ok(())
    }

    fn uint(&mut self) -> Result<u64> {
        match self.head()? {
            Head::Uint(v) => Ok(v),
            _ => refuse("expected an unsigned integer"),
        }
    }

    fn u32(&mut self) -> Result<u32> {
        u32::try_from(self.uint()?).map_err(|_| Error::from("expected an integer of 32 bits"))
    }

    fn bool(&mut self) -> Result<bool> {
        match self.head()? {
            Head::Bool(v) => Ok(v),
            _ => refuse("expected a bool"),
        }
    }

    /// Each element takes a byte at least.
    fn array(&mut self) -> Result<usize> {
        match self.head()? {
            Head::Array(n) if n <= self.rest.len() as u64 => Ok(n as usize),
            Head::Array(_) => refuse(MORE),
            _ => refuse("expected an array"),
        }
    }

    fn tuple(&mut self, n: usize) -> Result<()> {
        require(self.array()? == n, "an array has another length than expected")
    }

    fn map(&mut self) -> Result<usize> {
        match self.head()? {
            Head::Map(n) if n <= self.rest.len() as u64 / 2 => Ok(n as usize),
            Head::Map(_) => refuse(MORE),
            _ => refuse("expected a map"),
        }
    }

    fn bin(&mut self) -> Result<&'a [u8]> {
        match self.head()? {
            Head::Bin(n) => self.take(n),
            _ => refuse("expected bin"),
        }
    }

    fn str(&mut self) -> Result<&'a str> {
        match self.head()? {
            Head::Str(n) => std::str::from_utf8(self.take(n)?).map_err(|_| Error::from("a string is not UTF-8")),
            _ => refuse("expected a str"),
        }
    }

    /// A string that may not be UTF-8.
    fn str_bytes(&mut self) -> Result<&'a [u8]> {
        match self.head()? {
            Head::Str(n) => self.take(n),
            _ => refuse("expected a str"),
        }
    }

    /// A string in which what is not UTF-8 is replaced.
    fn text(&mut self) -> Result<Cow<'a, str>> {
        Ok(String::from_utf8_lossy(self.str_bytes()?))
    }

    /// A name: without NUL, and of so many bytes.
    fn name(&mut self, least: usize, most: usize) -> Result<String> {
        let s = self.str()?;
        require(s.len() >= least && s.len() <= most, "a name is empty, or longer than 1024 bytes")?;
        require(!s.contains('\0'), "a name has a NUL")?;
        Ok(s.to_string())
    }

    fn hash(&mut self) -> Result<Hash> {
        self.bin()?.try_into().map_err(|_| Error::from("a hash has other than 32 bytes"))
    }

    /// Reads past nil if that is next.
    fn nil(&mut self) -> bool {
        let nil = self.rest.first() == Some(&0xc0);
        if nil {
            self.rest = &self.rest[1..];
        }
        nil
    }
}

fn le32(b: &[u8]) -> u32 {
    b[..4].iter().rev().fold(0, |v, x| v << 8 | u32::from(*x))
}

fn le64(b: &[u8]) -> u64 {
    b[..8].iter().rev().fold(0, |v, x| v << 8 | u64::from(*x))
}

// ---- The state

/// The types of columns. The numbers belong to the file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Bool = 1,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
    Fixed,
    String,
    Bytes,
    Ref,
}

impl Type {
    /// By number, from 1 on.
    pub const ALL: [Type; 15] = [
        Type::Bool,
        Type::I8,
        Type::I16,
        Type::I32,
        Type::I64,
        Type::U8,
        Type::U16,
        Type::U32,
        Type::U64,
        Type::F32,
        Type::F64,
        Type::Fixed,
        Type::String,
        Type::Bytes,
        Type::Ref,
    ];

    /// Bytes of a value; 0 for those that have any length.
    fn width(self) -> usize {
        [1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 0, 0, 8][self as usize - 1]
    }
}

/// Archetypes are hashed; caches (derived from what is hashed) and noise (known to differ in sync) are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    Archetype,
    Cache,
    Noise,
}

/// A value in units of 1/SCALE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixed<const SCALE: u32>(pub i64);

/// The key of another entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ref(pub u64);

/// A string of bytes that need not be UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'a>(pub &'a [u8]);

/// What a column is made of: bool, numbers, [`Fixed`], [`Ref`], strings, bytes, and an Option of each.
pub trait Value {
    const TYPE: Type;
    const SCALE: u32 = 0;
    /// Whether a row may be without a value.
    const OPTIONAL: bool = false;
    /// Appends the value's bytes, in little-endian order.
    fn put(&self, to: &mut Vec<u8>);
    fn is_absent(&self) -> bool {
        false
    }
}

/// A [`Value`] that can be taken from a column of a state that was read.
pub trait FromColumn<'a>: Sized {
    const TYPE: Type;
    const SCALE: u32 = 0;
    fn take(bytes: &'a [u8]) -> Self;
}

macro_rules! numbers {
    ($($number:ty, $type:ident);*) => {$(
        impl Value for $number {
            const TYPE: Type = Type::$type;
            fn put(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }
        }
        impl<'a> FromColumn<'a> for $number {
            const TYPE: Type = Type::$type;
            fn take(bytes: &'a [u8]) -> Self {
                let mut b = [0; std::mem::size_of::<$number>()];
                b.copy_from_slice(bytes);
                <$number>::from_le_bytes(b)
            }
        }
    )*};
}

numbers! {i8, I8; i16, I16; i32, I32; i64, I64; u8, U8; u16, U16; u32, U32; u64, U64; f32, F32; f64, F64}

impl Value for bool {
    const TYPE: Type = Type::Bool;
    fn put(&self, to: &mut Vec<u8>) {
        to.push(*self as u8);
    }
}

impl<'a> FromColumn<'a> for bool {
    const TYPE: Type = Type::Bool;
    fn take(bytes: &'a [u8]) -> Self {
        bytes[0] != 0
    }
}

impl<const S: u32> Value for Fixed<S> {
    const TYPE: Type = Type::Fixed;
    const SCALE: u32 = S;
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
    }
}

impl<'a, const S: u32> FromColumn<'a> for Fixed<S> {
    const TYPE: Type = Type::Fixed;
    const SCALE: u32 = S;
    fn take(bytes: &'a [u8]) -> Self {
        Fixed(i64::take(bytes))
    }
}

impl Value for Ref {
    const TYPE: Type = Type::Ref;
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
    }
}

impl<'a> FromColumn<'a> for Ref {
    const TYPE: Type = Type::Ref;
    fn take(bytes: &'a [u8]) -> Self {
        Ref(u64::take(bytes))
    }
}

impl Value for Text<'_> {
    const TYPE: Type = Type::String;
    fn put(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(self.0);
    }
}

impl<'a> FromColumn<'a> for Text<'a> {
    const TYPE: Type = Type::String;
    fn take(bytes: &'a [u8]) -> Self {
        Text(bytes)
    }
}

impl Value for &str {
    const TYPE: Type = Type::String;
    fn put(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(self.as_bytes());
    }
}

impl Value for String {
    const TYPE: Type = Type::String;
    fn put(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(self.as_bytes());
    }
}

/// What is not UTF-8 is replaced.
impl<'a> FromColumn<'a> for String {
    const TYPE: Type = Type::String;
    fn take(bytes: &'a [u8]) -> Self {
        String::from_utf8_lossy(bytes).into_owned()
    }
}

impl Value for &[u8] {
    const TYPE: Type = Type::Bytes;
    fn put(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(self);
    }
}

impl Value for Vec<u8> {
    const TYPE: Type = Type::Bytes;
    fn put(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(self);
    }
}

impl<'a> FromColumn<'a> for &'a [u8] {
    const TYPE: Type = Type::Bytes;
    fn take(bytes: &'a [u8]) -> Self {
        bytes
    }
}

impl<V: Value> Value for Option<V> {
    const TYPE: Type = V::TYPE;
    const SCALE: u32 = V::SCALE;
    const OPTIONAL: bool = true;
    fn put(&self, to: &mut Vec<u8>) {
        match self {
            Some(v) => v.put(to),
            None => to.resize(to.len() + V::TYPE.width(), 0),
        }
    }
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

/// A key of a row: an unsigned integer, or two.
pub trait Key {
    const PARTS: u8;
    fn parts(self) -> (u64, u64);
}

macro_rules! keys {
    ($($number:ty)*) => {$(
        impl Key for $number {
            const PARTS: u8 = 1;
            fn parts(self) -> (u64, u64) {
                (self as u64, 0)
            }
        }
    )*};
}

keys! {u8 u16 u32 u64 usize}

impl<A: Key, B: Key> Key for (A, B) {
    const PARTS: u8 = A::PARTS + B::PARTS;
    fn parts(self) -> (u64, u64) {
        (self.0.parts().0, self.1.parts().0)
    }
}

const MAX_NAME: usize = 1024;
const MAX_TABLES: usize = 65536;
const MAX_BLOCK: usize = 65536;
const MAX_CELL: usize = 256 << 20;
const MAX_PROPERTIES: usize = 4096;
const MAX_RNG: usize = 65536;
const MAX_HEADER: usize = 16 << 20;

#[derive(Clone, Debug)]
struct Column {
    component: Cow<'static, str>,
    field: Cow<'static, str>,
    of: Type,
    scale: u32,
    absent: Vec<bool>, // empty if each row has a value
    data: Vec<u8>,     // the values, one after the other, zero where there is none
    ends: Vec<usize>,  // of strings and bytes: where each value ends in data
}

impl Column {
    /// Where the values of rows from..to are in the data.
    fn span(&self, from: usize, to: usize) -> std::ops::Range<usize> {
        match self.of.width() {
            0 => {
                let at = |row: usize| if row == 0 { 0 } else { self.ends[row - 1] };
                at(from)..at(to)
            }
            n => from * n..to * n,
        }
    }

    fn is_absent(&self, row: usize) -> bool {
        self.absent.get(row).copied().unwrap_or(false)
    }

    /// Appends the canonical bytes of a block.
    fn cell(&self, from: usize, to: usize, out: &mut Vec<u8>) -> Result<()> {
        let sparse = (from..to).any(|row| self.is_absent(row));
        out.extend_from_slice(&[4, sparse as u8, 0, 0]);
        out.little32(to - from);
        if sparse {
            let start = out.len();
            out.resize(start + (to - from + 7) / 8, 0);
            for row in from..to {
                out[start + (row - from) / 8] |= (!self.is_absent(row) as u8) << ((row - from) % 8);
            }
        }
        if self.of.width() == 0 {
            for row in from..to {
                out.little32(self.span(row, row + 1).len());
            }
        }
        let span = self.span(from, to);
        require(span.len() + 4 * (to - from) <= MAX_CELL, "a block of strings has more than 256 MiB")?;
        out.extend_from_slice(&self.data[span]);
        Ok(())
    }

    fn name(&self) -> (&str, &str) {
        (&self.component, &self.field)
    }
}

/// The values of a column, by row.
pub struct Values<'a, V> {
    column: &'a Column,
    of: PhantomData<V>,
}

impl<'a, V: FromColumn<'a>> Values<'a, V> {
    /// The value of a row, None if it has none.
    pub fn get(&self, row: usize) -> Option<V> {
        if self.column.is_absent(row) {
            return None;
        }
        Some(V::take(&self.column.data[self.column.span(row, row + 1)]))
    }

    /// The value of a row that must have one.
    pub fn at(&self, row: usize) -> Result<V> {
        self.get(row).ok_or_else(|| Error::from("the state lacks a value that the game always has"))
    }
}

/// A table of a state: rows by ascending keys, and columns.
#[derive(Clone, Debug)]
pub struct Table {
    class: Class,
    label: Cow<'static, str>,
    parts: u8,
    keys: Vec<(u64, u64)>,
    columns: Vec<Column>, // by name
}

impl Table {
    pub fn class(&self) -> Class {
        self.class
    }

    pub fn label(&self) -> &str {
        &self.label
    }

    pub fn rows(&self) -> usize {
        self.keys.len()
    }

    /// The key of a row; the second part is 0 if keys have only one.
    pub fn key(&self, row: usize) -> (u64, u64) {
        self.keys[row]
    }

    /// A column, if there is one of that name and type.
    pub fn column<'a, V: FromColumn<'a>>(&'a self, component: &str, field: &str) -> Result<Values<'a, V>> {
        match self.columns.iter().find(|c| c.name() == (component, field)) {
            Some(column) if column.of == V::TYPE && column.scale == V::SCALE => Ok(Values { column, of: PhantomData }),
            _ => Err(format!("the state lacks the column {}/{component}.{field}, or it has another type", self.label).into()),
        }
    }

    /// Whether a row begins a block.
    fn cuts((key, second): (u64, u64)) -> bool {
        let mut h = key.wrapping_mul(0x9E3779B97F4A7C15).wrapping_add(second.wrapping_mul(0xC2B2AE3D27D4EB4F));
        h ^= h >> 32;
        h = h.wrapping_mul(0xD6E8FEB86659FD93);
        h ^= h >> 32;
        h % 4096 == 0
    }

    /// The rows at which blocks begin, and their number.
    fn blocks(&self) -> Vec<usize> {
        let mut starts = Vec::new();
        for (row, key) in self.keys.iter().enumerate() {
            if starts.last().map_or(true, |last| row - last == MAX_BLOCK || Self::cuts(*key)) {
                starts.push(row);
            }
        }
        starts.push(self.keys.len());
        starts
    }

    fn key_cell(&self, from: usize, to: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(&[3, self.parts, 0, 0]);
        out.little32(to - from);
        for (key, _) in &self.keys[from..to] {
            out.extend_from_slice(&key.to_le_bytes());
        }
        if self.parts == 2 {
            for (_, second) in &self.keys[from..to] {
                out.extend_from_slice(&second.to_le_bytes());
            }
        }
    }

    /// Hashes the table, and appends its cells if they are wanted.
    fn seal(&self, mut body: Option<&mut Vec<u8>>) -> Result<Sealed> {
        require(self.columns.len() <= MAX_TABLES, "a table has more than 65536 columns")?;
        let blocks = self.blocks();
        let count = blocks.len() - 1;
        let mut sums = vec![Sha256::default(); 1 + self.columns.len()];
        let mut cell = vec![5, self.parts, 0, 0];
        cell.little32(count);
        sums[0].add(&cell);
        for (sum, c) in sums[1..].iter_mut().zip(&self.columns) {
            cell.clear();
            cell.extend_from_slice(&[6, c.of as u8, 0, 0]);
            for n in [c.scale as usize, c.component.len(), c.field.len(), count] {
                cell.little32(n);
            }
            cell.extend_from_slice(c.component.as_bytes());
            cell.extend_from_slice(c.field.as_bytes());
            sum.add(&cell);
        }
        let mut sealed = Sealed::default();
        for range in blocks.windows(2) {
            for (i, sum) in sums.iter_mut().enumerate() {
                cell.clear();
                if i == 0 {
                    self.key_cell(range[0], range[1], &mut cell);
                } else {
                    self.columns[i - 1].cell(range[0], range[1], &mut cell)?;
                }
                let digest = Sha256::of(&cell);
                sum.add(&digest);
                if let Some(body) = &mut body {
                    body.extend_from_slice(&cell);
                    sealed.hashes.extend_from_slice(&digest);
                    sealed.lengths.little32(cell.len());
                    sealed.crcs.little32(crc32c(&cell) as usize);
                }
            }
        }
        sealed.blocks = blocks;
        sealed.digests = sums.into_iter().map(Sha256::end).collect();
        cell.clear();
        cell.push(2);
        cell.little32(self.label.len());
        cell.little32(sealed.digests.len());
        cell.extend_from_slice(&(self.keys.len() as u64).to_le_bytes());
        cell.extend_from_slice(self.label.as_bytes());
        cell.pad(self.label.len());
        sealed.digests.iter().for_each(|digest| cell.extend_from_slice(digest));
        sealed.leaf = Sha256::of(&cell);
        Ok(sealed)
    }

    /// The index of the table. Its cells begin at an offset in the file.
    fn index(&self, sealed: &Sealed, cells: u64, out: &mut Vec<u8>) {
        let start = out.len();
        out.array(4);
        out.big(0xcf, cells, 8);
        out.bin(&sealed.digests[0]);
        out.array(self.columns.len());
        for (c, digest) in self.columns.iter().zip(&sealed.digests[1..]) {
            out.array(5);
            out.str(&c.component);
            out.str(&c.field);
            out.big(0xcc, c.of as u64, 1);
            out.big(0xce, u64::from(c.scale), 4);
            out.bin(digest);
        }
        let (mut first, mut second, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for range in sealed.blocks.windows(2) {
            let key = self.keys[range[0]];
            first.extend_from_slice(&key.0.to_le_bytes());
            if self.parts == 2 {
                second.extend_from_slice(&key.1.to_le_bytes());
            }
            rows.little32(range[1] - range[0]);
        }
        let codecs = vec![0; sealed.lengths.len() / 4];
        // The lengths as stored are the lengths: nothing is compressed.
        let bins = [&first, &second, &rows, &sealed.hashes, &sealed.lengths, &sealed.lengths, &codecs, &sealed.crcs];
        out.array(bins.len());
        bins.iter().for_each(|bin| out.bin(bin));
        let crc = crc32c(&out[start..]);
        out.little32(crc as usize);
    }
}

#[derive(Default)]
struct Sealed {
    blocks: Vec<usize>,
    digests: Vec<Hash>, // of the keys, then of the columns
    leaf: Hash,
    hashes: Vec<u8>,
    lengths: Vec<u8>,
    crcs: Vec<u8>,
}

/// The state of a game at one point: the RNG, and tables of typed columns. What decides the future of the game belongs into archetypes
/// and the RNG. Tables, rows and columns may be added in any order.
#[derive(Clone, Debug, Default)]
pub struct World {
    rng: Option<Vec<u8>>,
    tables: Vec<Table>, // by class, then label
    wrong: Option<String>,
}

/// The columns of a table that is being added.
pub struct Rows<'w, R> {
    world: &'w mut World,
    at: usize,
    rows: Vec<R>,
}

impl World {
    pub fn new() -> Self {
        World::default()
    }

    /// The state of the random numbers, at most 65536 bytes.
    pub fn set_rng(&mut self, state: impl Into<Vec<u8>>) {
        self.rng = Some(state.into());
    }

    pub fn rng(&self) -> Option<&[u8]> {
        self.rng.as_deref()
    }

    /// Adds a table that is hashed, with a row for each of `rows`. The keys must be unique. Columns follow:
    /// `world.archetype("Unit", &units, |u| u.id).column("Health", "points", |u| u.health);`
    pub fn archetype<R: Copy, K: Key>(
        &mut self,
        label: impl Into<Cow<'static, str>>,
        rows: impl IntoIterator<Item = R>,
        key: impl Fn(R) -> K,
    ) -> Rows<'_, R> {
        self.table(Class::Archetype, label, rows, key)
    }

    /// Adds a table of derived data, which is not hashed.
    pub fn cache<R: Copy, K: Key>(
        &mut self,
        label: impl Into<Cow<'static, str>>,
        rows: impl IntoIterator<Item = R>,
        key: impl Fn(R) -> K,
    ) -> Rows<'_, R> {
        self.table(Class::Cache, label, rows, key)
    }

    /// Adds a table of any class.
    pub fn table<R: Copy, K: Key>(
        &mut self,
        class: Class,
        label: impl Into<Cow<'static, str>>,
        rows: impl IntoIterator<Item = R>,
        key: impl Fn(R) -> K,
    ) -> Rows<'_, R> {
        let mut keyed: Vec<((u64, u64), R)> = rows.into_iter().map(|r| (key(r).parts(), r)).collect();
        if keyed.windows(2).any(|two| two[0].0 >= two[1].0) {
            keyed.sort_by_key(|(key, _)| *key);
            if keyed.windows(2).any(|two| two[0].0 == two[1].0) {
                self.wrong("two rows of a table have the same key");
            }
        }
        let (keys, rows) = keyed.into_iter().unzip();
        let table = Table { class, label: label.into(), parts: K::PARTS, keys, columns: Vec::new() };
        if bad_name(&table.label) {
            self.wrong("the label of a table is empty, longer than 1024 bytes, or has a NUL");
        }
        if K::PARTS > 2 {
            self.wrong("keys have one part or two");
        }
        let at = self.tables.binary_search_by(|t| (t.class, t.label()).cmp(&(class, table.label()))).unwrap_or_else(|at| at);
        if self.tables.get(at).map_or(false, |t| t.class == class && t.label == table.label) {
            self.wrong("two tables of a class have the same label");
        }
        self.tables.insert(at, table);
        Rows { world: self, at, rows }
    }

    fn wrong(&mut self, why: &str) {
        self.wrong.get_or_insert_with(|| why.to_string());
    }

    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// A table by its label, an error if there is none.
    pub fn find(&self, class: Class, label: &str) -> Result<&Table> {
        self.tables.iter().find(|t| t.class == class && t.label == label).ok_or_else(|| format!("the state lacks the table {label}").into())
    }

    /// An error if another state has not the same archetypes as this one, with the same columns: a game that loads
    /// would miss, or lose, the difference.
    pub fn same_shape(&self, other: &World) -> Result<()> {
        let shape = |w: &World| -> Vec<(String, u8, Vec<(String, Type, u32)>)> {
            let columns = |t: &Table| t.columns.iter().map(|c| (format!("{}.{}", c.component, c.field), c.of, c.scale)).collect();
            w.tables.iter().filter(|t| t.class == Class::Archetype).map(|t| (t.label.to_string(), t.parts, columns(t))).collect()
        };
        require(self.rng.as_ref().map(Vec::len) == other.rng.as_ref().map(Vec::len), "the state has another RNG than the game")?;
        require(shape(self) == shape(other), "the state has other tables or columns than the game")
    }

    /// The state hash.
    pub fn hash(&self) -> Result<Hash> {
        self.digests(|_, _, _| {})
    }

    /// The state hash, and all digests below it: `visit(label, column, hash)` for each column of each archetype, then for the archetype
    /// without one. "RNG" comes first. A column is named by component and field.
    pub fn digests(&self, mut visit: impl FnMut(&str, Option<(&str, &str)>, &Hash)) -> Result<Hash> {
        self.check()?;
        let mut leaves = self.rng_leaf();
        if let Some(leaf) = leaves.first() {
            visit("RNG", None, leaf);
        }
        for t in self.tables.iter().filter(|t| t.class == Class::Archetype) {
            let sealed = t.seal(None)?;
            for (c, digest) in t.columns.iter().zip(&sealed.digests[1..]) {
                visit(&t.label, Some(c.name()), digest);
            }
            visit(&t.label, None, &sealed.leaf);
            leaves.push(sealed.leaf);
        }
        Ok(merkle_root(&leaves))
    }

    fn check(&self) -> Result<()> {
        if let Some(why) = &self.wrong {
            return refuse(why);
        }
        require(self.rng.as_ref().map_or(true, |rng| rng.len() <= MAX_RNG), "the RNG has more than 65536 bytes")?;
        require(self.tables.len() <= MAX_TABLES, "there are more than 65536 tables")
    }

    /// The leaf of the RNG, if there is one.
    fn rng_leaf(&self) -> Vec<Hash> {
        self.rng
            .iter()
            .map(|rng| {
                let mut b = vec![1];
                b.little32(rng.len());
                b.little32(0);
                b.extend_from_slice(rng);
                b.pad(rng.len());
                Sha256::of(&b)
            })
            .collect()
    }

    /// The state as the bytes of a .snap.
    pub fn snapshot(&self, at: &Point) -> Result<Vec<u8>> {
        self.check()?;
        at.check()?;
        let tables: Vec<&Table> = self.tables.iter().collect();
        self.encode(at, &tables)
    }

    fn encode(&self, at: &Point, tables: &[&Table]) -> Result<Vec<u8>> {
        let mut places = vec![Place::default(); tables.len()];
        let mut header = Vec::new();
        self.header(at, tables, &places, &Hash::default(), &mut header); // its length does not depend on the numbers in it
        require(header.len() <= MAX_HEADER, "the header of the snapshot has more than 16 MiB")?;
        let mut file = vec![0; 32 + header.len()];
        let mut leaves = self.rng_leaf();
        for (t, place) in tables.iter().zip(&mut places) {
            let cells = file.len() as u64;
            let sealed = t.seal(Some(&mut file))?;
            place.index = file.len() as u64;
            t.index(&sealed, cells, &mut file);
            place.len = file.len() as u64 - place.index;
            place.leaf = sealed.leaf;
            require(place.len <= u64::from(u32::MAX), "the index of a table has more than 4 GiB")?;
            if t.class == Class::Archetype {
                leaves.push(sealed.leaf);
            }
        }
        file.extend_from_slice(b"SNAP.END");
        header.clear();
        self.header(at, tables, &places, &merkle_root(&leaves), &mut header);
        let mut preamble = SNAP.to_vec();
        preamble.little32(1);
        preamble.little32(header.len());
        preamble.little32(crc32c(&header) as usize);
        preamble.extend_from_slice(&(file.len() as u64).to_le_bytes());
        let crc = crc32c(&preamble);
        preamble.little32(crc as usize);
        file[..32].copy_from_slice(&preamble);
        file[32..32 + header.len()].copy_from_slice(&header);
        Ok(file)
    }

    fn header(&self, at: &Point, tables: &[&Table], places: &[Place], root: &Hash, b: &mut Vec<u8>) {
        b.array(11);
        b.big(0xcf, at.seed, 8);
        b.big(0xcf, at.tick, 8);
        b.str(&at.phase);
        b.str(&at.native);
        b.str(&at.peer);
        b.big(0xce, u64::from(at.epoch), 4);
        match &self.rng {
            Some(rng) => b.bin(rng),
            None => b.nil(),
        }
        match &at.history {
            Some(history) => b.bin(history),
            None => b.nil(),
        }
        b.bin(root);
        b.map(at.properties.len());
        for (key, value) in &at.properties {
            b.str(key);
            b.str(value);
        }
        b.array(tables.len());
        for (t, place) in tables.iter().zip(places) {
            b.array(7);
            b.big(0xcc, t.class as u64, 1);
            b.str(&t.label);
            b.big(0xcf, t.keys.len() as u64, 8);
            b.big(0xcc, u64::from(t.parts), 1);
            b.bin(&place.leaf);
            b.big(0xcf, place.index, 8);
            b.big(0xce, place.len, 4);
        }
    }

    /// Writes DIR/desync_<seed>_<tick>.snap, which never holds half of it.
    pub fn write_snapshot(&self, at: &Point, dir: impl AsRef<Path>) -> Result<()> {
        let name = format!("desync_{:016x}_{:010}.snap", at.seed, at.tick);
        write_whole(dir.as_ref(), &name, &self.snapshot(at)?)
    }
}

/// Writes a file whole or not at all: until it is on the disk its name begins with a full stop.
fn write_whole(dir: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let unfinished = dir.join(format!(".{name}"));
    let written = File::create(&unfinished)
        .and_then(|mut f| f.write_all(bytes).and_then(|()| f.sync_all()))
        .and_then(|()| fs::rename(&unfinished, dir.join(name)));
    if written.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    Ok(written?)
}

/// Removes the file that a game was writing into a folder when it crashed.
fn tidy(dir: &Path) -> Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(".desync_") {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

const SNAP: &[u8] = b"\x89SNAP\r\n\x1a";

/// Where a table was written.
#[derive(Clone, Default)]
struct Place {
    index: u64,
    len: u64,
    leaf: Hash,
}

fn bad_name(name: &str) -> bool {
    name.is_empty() || name.len() > MAX_NAME || name.contains('\0')
}

impl<R: Copy> Rows<'_, R> {
    /// Adds a column, with the value of each row.
    pub fn column<V: Value>(
        self,
        component: impl Into<Cow<'static, str>>,
        field: impl Into<Cow<'static, str>>,
        value: impl Fn(R) -> V,
    ) -> Self {
        self.column_of(component, field, V::TYPE, V::SCALE, |row, to| {
            let v = value(row);
            v.put(to);
            !v.is_absent()
        })
    }

    /// Adds a column of a type that is known only when the program runs. `put` appends the bytes of a row's value, in little-endian
    /// order; a row without a value gets zeros if values of the type have a fixed width, and false is returned.
    pub fn column_of(
        self,
        component: impl Into<Cow<'static, str>>,
        field: impl Into<Cow<'static, str>>,
        of: Type,
        scale: u32,
        put: impl Fn(R, &mut Vec<u8>) -> bool,
    ) -> Self {
        let mut c = Column {
            component: component.into(),
            field: field.into(),
            of,
            scale,
            absent: Vec::new(),
            data: Vec::with_capacity(self.rows.len() * of.width()),
            ends: Vec::new(),
        };
        for (i, row) in self.rows.iter().enumerate() {
            if !put(*row, &mut c.data) {
                c.absent.resize(self.rows.len(), false);
                c.absent[i] = true;
            }
            if of.width() == 0 {
                c.ends.push(c.data.len());
            }
        }
        if of.width() != 0 && c.data.len() != self.rows.len() * of.width() {
            self.world.wrong("a value has another number of bytes than its type");
        }
        if bad_name(&c.component) || bad_name(&c.field) {
            self.world.wrong("the name of a column is empty, longer than 1024 bytes, or has a NUL");
        }
        if (of == Type::Fixed) != (scale != 0) {
            self.world.wrong("a fixed-point number has no scale");
        }
        let columns = &mut self.world.tables[self.at].columns;
        match columns.binary_search_by(|other| other.name().cmp(&c.name())) {
            Ok(_) => self.world.wrong("two columns of a table have the same name"),
            Err(at) => columns.insert(at, c),
        }
        self
    }
}

/// The point of a snapshot, and the rest of its header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Point {
    pub seed: u64,
    /// State T is the one before the orders of tick T.
    pub tick: u64,
    /// Empty, or "after-orders" inside of the tick.
    pub phase: String,
    /// The engine's own name of the point.
    pub native: String,
    pub peer: String,
    pub epoch: u32,
    pub history: Option<Hash>,
    /// Of the peer: "build", the session's parameters, os, compiler.
    pub properties: BTreeMap<String, String>,
}

impl Point {
    fn check(&self) -> Result<()> {
        let long = |s: &str| s.len() > MAX_NAME || s.contains('\0');
        require(!long(&self.native) && !long(&self.peer), "the name of a point or peer is longer than 1024 bytes, or has a NUL")?;
        require(self.phase.is_empty() || self.phase == "after-orders", "there is no such phase")?;
        require(self.properties.len() <= MAX_PROPERTIES, "there are more than 4096 properties")?;
        require(
            !self.properties.iter().any(|(key, value)| long(key) || value.contains('\0')),
            "the name of a property is longer than 1024 bytes, or has a NUL",
        )
    }
}

// ---- Reading snapshots

/// A .snap that was read and checked whole, up to the state hash.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub at: Point,
    pub world: World,
    pub hash: Hash,
}

impl Snapshot {
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::read(&fs::read(path)?)
    }

    /// Reads the bytes of a .snap without compressed cells. They may come from any source.
    pub fn read(file: &[u8]) -> Result<Self> {
        require(file.starts_with(SNAP), "not a .snap")?;
        require(file.len() >= 40, "the .snap is torn")?;
        require(crc32c(&file[..28]) == le32(&file[28..]), "the preamble of the .snap fails its checksum")?;
        require(le32(&file[8..]) == 1, "the .snap is of another version")?;
        require(le64(&file[20..]) == file.len() as u64, "the .snap is torn, or there is something behind it")?;
        let len = le32(&file[12..]) as usize;
        require(len <= MAX_HEADER && len <= file.len() - 40, "the header of the .snap is not in the file")?;
        let header = &file[32..32 + len];
        require(crc32c(header) == le32(&file[16..]), "the header of the .snap fails its checksum")?;
        require(file.ends_with(b"SNAP.END"), "the .snap has no end")?;
        let mut r = Reader::new(header);
        let (at, rng, hash) = Self::read_point(&mut r)?;
        require(rng.as_ref().map_or(true, |rng| rng.len() <= MAX_RNG), "the RNG has more than 65536 bytes")?;
        let mut world = World { rng, ..World::default() };
        let mut leaves = world.rng_leaf();
        let (mut cells, end) = (32 + len, file.len() - 8);
        for _ in 0..r.array()? {
            require(world.tables.len() < MAX_TABLES, "there are more than 65536 tables")?;
            let (t, leaf, after) = Self::read_table(&mut r, file, cells, end)?;
            let last = world.tables.last();
            require(last.map_or(true, |last| (last.class, last.label()) < (t.class, t.label())), "tables do not ascend")?;
            if t.class == Class::Archetype {
                leaves.push(leaf);
            }
            world.tables.push(t);
            cells = after;
        }
        require(r.rest.is_empty(), "the header has more than it should")?;
        require(cells == end, "there is something between the tables and the end")?;
        require(merkle_root(&leaves) == hash, "the .snap has another state hash than it says")?;
        Ok(Snapshot { at, world, hash })
    }

    fn read_point(r: &mut Reader<'_>) -> Result<(Point, Option<Vec<u8>>, Hash)> {
        r.tuple(11)?;
        let mut at = Point { seed: r.uint()?, tick: r.uint()?, phase: r.name(0, MAX_NAME)?, ..Point::default() };
        at.native = r.name(0, MAX_NAME)?;
        at.peer = r.name(0, MAX_NAME)?;
        at.epoch = r.u32()?;
        let rng = if r.nil() { None } else { Some(r.bin()?.to_vec()) };
        at.history = if r.nil() { None } else { Some(r.hash()?) };
        let hash = r.hash()?;
        require(at.phase.is_empty() || at.phase == "after-orders", "there is no such phase")?;
        let n = r.map()?;
        require(n <= MAX_PROPERTIES, "there are more than 4096 properties")?;
        for _ in 0..n {
            let (key, value) = (r.name(0, MAX_NAME)?, r.name(0, usize::MAX)?);
            require(at.properties.keys().next_back().map_or(true, |last| *last < key), "properties do not ascend")?;
            at.properties.insert(key, value);
        }
        Ok((at, rng, hash))
    }

    /// Reads a table with cells that begin at an offset, its leaf hash, and where it ends. What it has must be its own
    /// canonical form.
    fn read_table(r: &mut Reader<'_>, file: &[u8], cells: usize, end: usize) -> Result<(Table, Hash, usize)> {
        const MISFIT: &str = "the index of a table does not fit together";
        r.tuple(7)?;
        let class = r.u32()?;
        let label = r.name(1, MAX_NAME)?;
        let (rows, parts, leaf) = (r.uint()?, r.u32()?, r.hash()?);
        let (index, len) = (r.uint()?, r.u32()? as usize);
        require(class <= 2 && (1..=2).contains(&parts) && rows <= end as u64 / 8, "a table is malformed")?;
        require(index >= cells as u64 && index <= end as u64 && len <= end - index as usize, "a table is not in the file")?;
        let (rows, parts, index) = (rows as usize, parts as usize, index as usize);
        require(len >= 4 && crc32c(&file[index..index + len - 4]) == le32(&file[index + len - 4..]), "an index fails its checksum")?;

        let class = [Class::Archetype, Class::Cache, Class::Noise][class as usize];
        let mut t = Table { class, label: label.into(), parts: parts as u8, keys: Vec::with_capacity(rows), columns: Vec::new() };
        let mut r = Reader::new(&file[index..index + len - 4]);
        r.tuple(4)?;
        require(r.uint()? == cells as u64, "cells are not where they have to be")?;
        let mut digests = vec![r.hash()?];
        let columns = r.array()?;
        require(columns <= MAX_TABLES, "a table has more than 65536 columns")?;
        for _ in 0..columns {
            r.tuple(5)?;
            let (component, field, of, scale) = (r.name(1, MAX_NAME)?, r.name(1, MAX_NAME)?, r.u32()?, r.u32()?);
            digests.push(r.hash()?);
            require((1..=15).contains(&of), "a column has no such type")?;
            let of = Type::ALL[of as usize - 1];
            require((of == Type::Fixed) == (scale != 0), "a column of type fixed needs a scale, and no other has one")?;
            let c = Column {
                component: component.into(),
                field: field.into(),
                of,
                scale,
                absent: Vec::new(),
                data: Vec::new(),
                ends: Vec::new(),
            };
            require(t.columns.last().map_or(true, |last| last.name() < c.name()), "columns do not ascend")?;
            t.columns.push(c);
        }
        r.tuple(8)?;
        let mut bins = [&[][..]; 8];
        for bin in &mut bins {
            *bin = r.bin()?;
        }
        let [first, second, block_rows, hashes, lengths, stored, codecs, crcs] = bins;
        let blocks = block_rows.len() / 4;
        let count = blocks * (1 + columns);
        let want = [8 * blocks, if parts == 2 { 8 * blocks } else { 0 }, 4 * blocks, 32 * count, 4 * count, 4 * count, count, 4 * count];
        require(r.rest.is_empty() && bins.iter().zip(want).all(|(bin, n)| bin.len() == n), MISFIT)?;
        let (mut at, mut cell) = (cells, 0);
        for n in block_rows.chunks_exact(4).map(|n| le32(n) as usize) {
            require(n > 0 && n <= MAX_BLOCK && t.keys.len() + n <= rows, MISFIT)?;
            for k in 0..=columns {
                let size = le32(&lengths[4 * cell..]) as usize;
                require(codecs[cell] != 1, "a cell is compressed with zstd, which is not read here")?;
                require(codecs[cell] == 0 && le32(&stored[4 * cell..]) as usize == size && size <= MAX_CELL && size <= index - at, MISFIT)?;
                let bytes = &file[at..at + size];
                require(crc32c(bytes) == le32(&crcs[4 * cell..]), "a cell fails its checksum")?;
                if k == 0 {
                    Self::read_keys(&mut t, bytes, n)?;
                } else {
                    Self::read_values(&mut t.columns[k - 1], t.keys.len() - n, bytes, n)?;
                }
                at += size;
                cell += 1;
            }
        }
        require(at == index && t.keys.len() == rows, MISFIT)?;
        require(t.keys.windows(2).all(|two| two[0] < two[1]), "keys do not ascend")?;

        let mut again = Vec::with_capacity(index - cells);
        let sealed = t.seal(Some(&mut again))?;
        let starts = || sealed.blocks.windows(2);
        require(starts().map(|b| (b[1] - b[0]) as u32).eq(block_rows.chunks_exact(4).map(le32)), "blocks are cut elsewhere")?;
        require(again == file[cells..index] && sealed.lengths == lengths, "a cell is not in its canonical form")?;
        require(sealed.hashes == hashes, "a cell has another digest")?;
        let begins =
            |bin: &[u8], part: fn((u64, u64)) -> u64| starts().zip(bin.chunks_exact(8)).all(|(b, key)| part(t.keys[b[0]]) == le64(key));
        require(begins(first, |key| key.0) && begins(second, |key| key.1), "a block begins with another key than its index says")?;
        require(sealed.digests == digests, "a column has another digest")?;
        require(sealed.leaf == leaf, "a table has another leaf hash")?;
        Ok((t, leaf, index + len))
    }

    fn read_keys(t: &mut Table, cell: &[u8], n: usize) -> Result<()> {
        let parts = t.parts as usize;
        require(
            cell.len() == 8 + 8 * parts * n && cell[..4] == [3, t.parts, 0, 0] && le32(&cell[4..]) as usize == n,
            "a block of keys is malformed",
        )?;
        let part = |i: usize| le64(&cell[8 + 8 * i..]);
        t.keys.extend((0..n).map(|i| (part(i), if parts == 2 { part(n + i) } else { 0 })));
        Ok(())
    }

    /// Reads a block of values after the values of so many rows. Whether it is in its canonical form shows when it is
    /// written again.
    fn read_values(c: &mut Column, before: usize, cell: &[u8], n: usize) -> Result<()> {
        const MALFORMED: &str = "a block of values is malformed";
        require(cell.len() >= 8 && cell[0] == 4 && cell[1] <= 1 && cell[2..4] == [0, 0] && le32(&cell[4..]) as usize == n, MALFORMED)?;
        let map = if cell[1] == 1 { (n + 7) / 8 } else { 0 };
        let width = c.of.width();
        let whole = 8 + map + n * if width > 0 { width } else { 4 };
        require(cell.len() >= whole && (width == 0 || cell.len() == whole), MALFORMED)?;
        if map > 0 {
            c.absent.resize(before + n, false);
            for i in 0..n {
                c.absent[before + i] = cell[8 + i / 8] >> (i % 8) & 1 == 0;
            }
        }
        let start = c.data.len();
        if width > 0 {
            c.data.extend_from_slice(&cell[8 + map..]);
            for i in (0..n).filter(|i| c.absent.get(before + i) == Some(&true)) {
                c.data[start + i * width..start + (i + 1) * width].fill(0);
            }
            if c.of == Type::Bool {
                c.data[start..].iter_mut().for_each(|b| *b = (*b != 0) as u8);
            }
        } else {
            let mut end = start;
            for i in 0..n {
                let len = le32(&cell[8 + map + 4 * i..]) as usize;
                require(len <= cell.len() - whole - (end - start), MALFORMED)?;
                require(len == 0 || !c.is_absent(before + i), "a cell is not in its canonical form")?;
                end += len;
                c.ends.push(end);
            }
            require(end - start == cell.len() - whole, MALFORMED)?;
            c.data.extend_from_slice(&cell[whole..]);
        }
        Ok(())
    }
}

// ---- Sessions and orders

/// A kind of order. Local: need not be the same on all peers, such as chat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kind {
    pub name: String,
    pub local: bool,
}

impl Kind {
    pub fn new(name: &str) -> Self {
        Kind { name: name.to_string(), local: false }
    }

    pub fn local(name: &str) -> Self {
        Kind { name: name.to_string(), local: true }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Session {
    pub seed: u64,
    /// Name of the peer that writes.
    pub peer: String,
    /// Of the game.
    pub build: String,
    /// Ticks a second, as numerator and denominator; (0, 0) if not known.
    pub rate: (u32, u32),
    /// State hash at the first point, all zero if not known.
    pub start: Hash,
    /// 0 for a session from its start.
    pub first_point: u64,
    pub epoch: u32,
    /// Of orders.
    pub kinds: Vec<Kind>,
    /// Names by number; `peer` must be among them, if there are any.
    pub peers: Vec<String>,
    /// What a simulator needs to start, such as the map.
    pub parameters: BTreeMap<String, String>,
}

impl Session {
    /// The value of a parameter, `otherwise` if there is none of that name.
    pub fn parameter<'a>(&'a self, key: &str, otherwise: &'a str) -> &'a str {
        self.parameters.get(key).map_or(otherwise, String::as_str)
    }

    fn check(&self) -> Result<()> {
        require((self.rate.0 == 0) == (self.rate.1 == 0), "one half of the tick rate is 0")?;
        let most = self.kinds.len().max(self.peers.len()).max(self.parameters.len());
        require(most <= 65536, "more than 65536 kinds, peers or parameters")
    }

    fn put_parameters(&self, b: &mut Vec<u8>) {
        b.array(self.parameters.len());
        for (key, value) in &self.parameters {
            b.array(2);
            b.str(key);
            b.str(value);
        }
    }

    fn read(r: &mut Reader<'_>) -> Result<Session> {
        r.tuple(10)?;
        let text = |r: &mut Reader<'_>| r.text().map(String::from);
        let mut s = Session { seed: r.uint()?, peer: text(r)?, build: text(r)?, ..Session::default() };
        r.tuple(2)?;
        s.rate = (r.u32()?, r.u32()?);
        s.start = r.hash()?;
        s.first_point = r.uint()?;
        s.epoch = r.u32()?;
        for _ in 0..r.array()? {
            r.tuple(2)?;
            s.kinds.push(Kind { name: text(r)?, local: r.bool()? });
        }
        for _ in 0..r.array()? {
            s.peers.push(text(r)?);
        }
        for _ in 0..r.array()? {
            r.tuple(2)?;
            s.parameters.insert(text(r)?, text(r)?);
        }
        Ok(s)
    }
}

/// The number of a kind that the game does not have.
pub const UNKNOWN_KIND: u32 = u32::MAX;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// µs from the start of the tick.
    pub sub_tick: u32,
    pub player: u32,
    pub sequence: u32,
    /// Into the session's kinds; in a [`Game`] with `kinds` into these, or [`UNKNOWN_KIND`].
    pub kind: u32,
    /// At most 4 MiB.
    pub payload: Vec<u8>,
}

/// The input hash of a tick's orders.
pub fn input_hash(kinds: &[Kind], tick: u64, orders: &[Order]) -> Result<SyncHash> {
    let (mut b, mut count) = (vec![0; 4], 0u32);
    for o in orders {
        let kind = kinds.get(o.kind as usize).filter(|_| o.payload.len() <= 4 << 20);
        let kind = kind.ok_or_else(|| Error::from("an order has no such kind, or more than 4 MiB"))?;
        if kind.local {
            continue;
        }
        count += 1;
        b.extend_from_slice(&tick.to_le_bytes());
        for n in [o.sub_tick as usize, o.player as usize, o.sequence as usize, kind.name.len()] {
            b.little32(n);
        }
        b.extend_from_slice(kind.name.as_bytes());
        b.little32(o.payload.len());
        b.extend_from_slice(&o.payload);
    }
    b[..4].copy_from_slice(&count.to_le_bytes());
    Ok(sync_hash(&Sha256::of(&b)))
}

// ---- Files

const FRAME: usize = 16;

/// A file that consists of frames. Each is one write, so that a crash loses none.
struct Frames<W: Write> {
    to: W,
    count: u64,
}

/// Begins the payload of a frame.
fn frame() -> Vec<u8> {
    vec![0; FRAME]
}

impl<W: Write> Frames<W> {
    fn begin(mut to: W, name: &[u8; 7]) -> Result<Self> {
        let mut preamble = [&[0x89], &name[..], &[1, 0, 0, 0]].concat();
        let crc = crc32c(&preamble);
        preamble.little32(crc as usize);
        to.write_all(&preamble)?;
        Ok(Frames { to, count: 0 })
    }

    /// Writes a frame that `frame` began.
    fn write(&mut self, kind: u32, mut b: Vec<u8>) -> Result<()> {
        let payload = b.len() - FRAME;
        require(payload <= 16 << 20, "a frame has more than 16 MiB")?;
        let mut head = Vec::new();
        head.little32(payload);
        head.little32(kind as usize);
        head.little32(crc32c(&b[FRAME..]) as usize);
        let crc = crc32c(&head);
        head.little32(crc as usize);
        b[..FRAME].copy_from_slice(&head);
        self.count += 1;
        Ok(self.to.write_all(&b)?)
    }

    fn close(mut self) -> Result<W> {
        let mut b = frame();
        b.extend_from_slice(&self.count.to_le_bytes());
        self.write(u32::MAX, b)?;
        self.to.flush()?;
        Ok(self.to)
    }
}

/// Elements that are noted for the next frame.
#[derive(Default)]
struct Noted {
    bytes: Vec<u8>,
    count: usize,
}

impl Noted {
    /// Appends them as an array.
    fn drain(&mut self, to: &mut Vec<u8>) {
        to.array(std::mem::take(&mut self.count));
        to.append(&mut self.bytes);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerKind {
    Join = 1,
    Leave,
    Removal,
    Reconnect,
    Save,
    Load,
    Resync,
    FailedOrder,
}

impl Default for MarkerKind {
    fn default() -> Self {
        MarkerKind::Join
    }
}

/// An event before the orders of a tick.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marker {
    pub kind: MarkerKind,
    pub player: u32,
    pub peer: u32,
    pub sequence: u32,
    pub point: u64,
    /// The state of the writing peer was replaced. Join, reconnect, load, resync only.
    pub new_epoch: bool,
    /// That a new epoch takes over.
    pub history: Option<Hash>,
    pub text: String,
}

/// order-log.bin: the orders that were applied, and hashes. In each tick: `state` with the state before its orders,
/// then `tick`; at the end `state` again, and `close`. A log that is not closed comes from a game that crashed.
pub struct OrderLog<W: Write> {
    frames: Frames<W>,
    session: Session,
    own: u32, // number of the peer that writes
    hashes: Noted,
    markers: Noted,
    next_tick: u64,
    point: Option<u64>, // the last one that was observed
    whole: bool,        // its state hash is in the log
    root: Hash,
    history: Option<Hash>,
    adopted: bool, // the next state is the one that the history already includes
    epoch: u32,
    opened: bool, // the next tick has a marker that opens an epoch
}

impl OrderLog<File> {
    pub fn create(path: impl AsRef<Path>, session: &Session) -> Result<Self> {
        Self::new(File::create(path)?, session)
    }

    /// Brings to the disk what was written, which then survives a loss of power. What survives a crash of the game is all that calls have
    /// written when they return.
    pub fn sync(&mut self) -> Result<()> {
        Ok(self.frames.to.sync_all()?)
    }
}

impl<W: Write> OrderLog<W> {
    pub fn new(to: W, session: &Session) -> Result<Self> {
        session.check()?;
        let own = session.peers.iter().position(|p| *p == session.peer);
        require(own.is_some() || session.peers.is_empty(), "the peer is not among the peers")?;
        let mut b = frame();
        b.array(10);
        b.uint(session.seed);
        b.str(&session.peer);
        b.str(&session.build);
        b.array(2);
        b.uint(u64::from(session.rate.0));
        b.uint(u64::from(session.rate.1));
        b.bin(&session.start);
        b.uint(session.first_point);
        b.uint(u64::from(session.epoch));
        b.array(session.kinds.len());
        for k in &session.kinds {
            b.array(2);
            b.str(&k.name);
            b.bool(k.local);
        }
        b.array(session.peers.len());
        session.peers.iter().for_each(|p| b.str(p));
        session.put_parameters(&mut b);
        let mut frames = Frames::begin(to, b"DOL\r\n\x1a\n")?;
        frames.write(1, b)?;
        Ok(OrderLog {
            frames,
            session: session.clone(),
            own: own.unwrap_or(0) as u32,
            hashes: Noted::default(),
            markers: Noted::default(),
            next_tick: session.first_point,
            point: None,
            whole: false,
            root: Hash::default(),
            history: None,
            adopted: false,
            epoch: session.epoch,
            opened: false,
        })
    }

    /// The history hash at the point that was noted last, which a peer that sends its state sends along.
    pub fn history(&self) -> Option<Hash> {
        self.history
    }

    /// Notes any hash of 1 to 64 bytes, of any peer. Coverage is empty for the whole state.
    pub fn hash(&mut self, point: u64, peer: u32, kind: &str, coverage: &str, hash: &[u8]) -> Result<()> {
        require((1..=64).contains(&hash.len()), "a hash has 1 to 64 bytes")?;
        let b = &mut self.hashes.bytes;
        b.array(5);
        b.uint(point);
        b.uint(u64::from(peer));
        b.str(kind);
        b.str(coverage);
        b.bin(hash);
        self.hashes.count += 1;
        Ok(())
    }

    /// For a game with another checksum instead of the state hash, of at most 8 bytes.
    pub fn checksum(&mut self, point: u64, sum: &[u8]) -> Result<()> {
        require((1..=8).contains(&sum.len()), "a checksum has 1 to 8 bytes")?;
        let mut hash = [0; 8];
        hash[..sum.len()].copy_from_slice(sum);
        self.hash(point, self.own, "sync", "", &hash)
    }

    /// Notes the state hash at a point: the sync hash goes into the log, and every 30 ticks the state and history hash.
    pub fn state(&mut self, point: u64, root: &Hash) -> Result<()> {
        self.hash(point, self.own, "sync", "", &root[..8])?;
        if self.adopted {
            self.adopted = false;
        } else if self.point.is_none() && point == self.session.first_point {
            self.history = Some(Sha256::of(root));
        } else if self.point.map_or(false, |last| last.checked_add(1) == Some(point)) {
            self.history = self.history.map(|history| {
                let mut s = Sha256::default();
                s.add(&history);
                s.add(&root[..8]);
                s.end()
            });
        } else {
            self.history = None; // a point was left out
        }
        self.root = *root;
        self.point = Some(point);
        self.whole = false;
        if point % 30 == 0 {
            self.note_whole(point)?;
        }
        Ok(())
    }

    /// Notes the current state hash, and the history hash if it is known.
    fn note_whole(&mut self, point: u64) -> Result<()> {
        let root = self.root;
        self.hash(point, self.own, "state", "", &root)?;
        if let Some(history) = self.history {
            self.hash(point, self.own, "history", "", &history)?;
        }
        self.whole = true;
        Ok(())
    }

    /// Adds an event to the next tick. An event that opens an epoch comes before the first state that is noted in it.
    /// Earlier states are written at once, as they belong to the epoch that ends.
    pub fn marker(&mut self, m: &Marker) -> Result<()> {
        use MarkerKind::*;
        require(m.history.is_none() || m.new_epoch, "a marker has a history hash and opens no epoch")?;
        require(!m.new_epoch || matches!(m.kind, Join | Reconnect | Load | Resync), "such a marker opens no epoch")?;
        require(!m.new_epoch || !self.opened, "a tick opens one epoch at most")?;
        let begun = self.frames.count > 1; // an epoch that the first tick opens is the header's
        if m.new_epoch {
            self.observed()?;
        }
        let b = &mut self.markers.bytes;
        b.array(8);
        for n in [m.kind as u64, u64::from(m.player), u64::from(m.peer), u64::from(m.sequence), m.point] {
            b.uint(n);
        }
        b.bool(m.new_epoch);
        b.bin(m.history.as_ref().map_or(&[], |history| &history[..]));
        b.str(&m.text);
        self.markers.count += 1;
        if m.new_epoch {
            self.epoch += begun as u32;
            self.opened = true;
            self.next_tick = 0;
            self.history = m.history;
            self.adopted = true;
        }
        Ok(())
    }

    pub fn tick(&mut self, tick: u64, orders: &[Order]) -> Result<()> {
        let inputs = input_hash(&self.session.kinds, tick, orders)?;
        require(tick >= self.next_tick, "ticks do not ascend")?;
        self.next_tick = tick + 1;
        self.opened = false;
        let mut b = frame();
        b.array(5);
        b.uint(tick);
        b.bin(&inputs);
        b.array(orders.len());
        for o in orders {
            b.array(5);
            for n in [o.sub_tick, o.player, o.sequence, o.kind] {
                b.uint(u64::from(n));
            }
            b.bin(&o.payload);
        }
        self.hashes.drain(&mut b);
        self.markers.drain(&mut b);
        self.frames.write(2, b)
    }

    /// Writes what was noted and no tick follows.
    fn observed(&mut self) -> Result<()> {
        if self.hashes.count == 0 {
            return Ok(());
        }
        let mut b = frame();
        self.hashes.drain(&mut b);
        self.frames.write(3, b)
    }

    /// Writes what was noted since the last tick and the end marker.
    pub fn close(mut self) -> Result<W> {
        if let Some(point) = self.point.filter(|_| !self.whole) {
            self.note_whole(point)?;
        }
        self.observed()?;
        self.frames.close()
    }
}

/// How much a trace has: after each system the state, its archetypes as well, its columns as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    System,
    Archetype,
    Column,
}

/// A checksum; the empty name is the main one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub name: String,
    pub bytes: Vec<u8>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    pub tick: u64,
    pub system: String,
    pub scope: String,
    /// Some inputs of the tick were guessed.
    pub predicted: bool,
    pub sums: Vec<Sum>,
    /// Of entities, or what else the game counts.
    pub count: Option<u64>,
}

/// What a rollback does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Save {
        tick: u64,
        sums: Vec<Sum>,
    },
    /// At: the tick at which it is restored.
    Restore {
        tick: u64,
        at: u64,
        sums: Vec<Sum>,
    },
    /// To: the last tick that is simulated again.
    Resimulate {
        tick: u64,
        to: u64,
    },
    Input {
        tick: u64,
        player: u32,
        predicted: bool,
        sums: Vec<Sum>,
    },
}

/// Checksums after each system of a tick.
pub struct Trace<W: Write> {
    frames: Frames<W>,
    names: HashMap<String, u64>,
    fresh: Noted, // names that are not in the file yet
    batch: Noted, // checkpoints of one tick
    tick: u64,
}

impl Trace<File> {
    pub fn create(path: impl AsRef<Path>, session: &Session) -> Result<Self> {
        Self::new(File::create(path)?, session)
    }

    /// `flush`, and brings it to the disk.
    pub fn sync(&mut self) -> Result<()> {
        self.flush()?;
        Ok(self.frames.to.sync_all()?)
    }
}

impl<W: Write> Trace<W> {
    /// Of the session seed, peer, build, rate and parameters are used.
    pub fn new(to: W, session: &Session) -> Result<Self> {
        session.check()?;
        let mut b = frame();
        b.array(5);
        b.array(1);
        b.uint(session.seed);
        b.str(&session.peer);
        b.str(&session.build);
        b.array(2);
        b.uint(u64::from(session.rate.0));
        b.uint(u64::from(session.rate.1));
        session.put_parameters(&mut b);
        let mut frames = Frames::begin(to, b"DTR\r\n\x1a\n")?;
        frames.write(1, b)?;
        Ok(Trace { frames, names: HashMap::new(), fresh: Noted::default(), batch: Noted::default(), tick: 0 })
    }

    /// The number of a name, which the file may not have yet.
    fn name(&mut self, name: &str) -> u64 {
        if name.is_empty() {
            return 0;
        }
        if let Some(number) = self.names.get(name) {
            return *number;
        }
        let number = self.names.len() as u64 + 1;
        self.names.insert(name.to_string(), number);
        self.fresh.bytes.str(name);
        self.fresh.count += 1;
        number
    }

    /// Writes the names that the next frame needs for the first time.
    fn put_names(&mut self) -> Result<()> {
        if self.fresh.count == 0 {
            return Ok(());
        }
        let mut b = frame();
        self.fresh.drain(&mut b);
        self.frames.write(2, b)
    }

    fn checkpoint<'s>(
        &mut self,
        tick: u64,
        (system, scope): (&str, &str),
        predicted: bool,
        sums: impl ExactSizeIterator<Item = (&'s str, &'s [u8])>,
        count: Option<u64>,
    ) -> Result<()> {
        require(sums.len() > 0 || count.is_some(), "a checkpoint has neither a checksum nor a count")?;
        require(sums.len() <= 256, "a checkpoint has more than 256 checksums")?;
        if self.batch.count > 0 && (tick != self.tick || self.batch.bytes.len() >= 1 << 20) {
            self.flush()?;
        }
        self.tick = tick;
        self.batch.count += 1;
        let (system, scope) = (self.name(system), self.name(scope));
        let mut b = std::mem::take(&mut self.batch.bytes);
        b.array(if count.is_some() { 5 } else { 4 });
        b.uint(system);
        b.uint(scope);
        b.uint(predicted as u64);
        self.put_sums(&mut b, sums);
        if let Some(n) = count {
            b.uint(n);
        }
        self.batch.bytes = b;
        Ok(())
    }

    fn put_sums<'s>(&mut self, b: &mut Vec<u8>, sums: impl ExactSizeIterator<Item = (&'s str, &'s [u8])>) {
        b.array(sums.len());
        for (name, bytes) in sums {
            b.array(2);
            b.uint(self.name(name));
            b.bin(bytes);
        }
    }

    /// Appends a checkpoint, in the order of execution. Those with the same tick, system, scope and phase count up by themselves.
    pub fn add(&mut self, c: &Checkpoint) -> Result<()> {
        self.checkpoint(c.tick, (&c.system, &c.scope), c.predicted, c.sums.iter().map(|s| (&s.name[..], &s.bytes[..])), c.count)
    }

    pub fn event(&mut self, e: &Event) -> Result<()> {
        self.flush()?;
        let (kind, tick, other, player, predicted, sums) = match e {
            Event::Save { tick, sums } => (1, *tick, 0, 0, false, &sums[..]),
            Event::Restore { tick, at, sums } => (2, *tick, *at, 0, false, &sums[..]),
            Event::Resimulate { tick, to } => (3, *tick, *to, 0, false, &[][..]),
            Event::Input { tick, player, predicted, sums } => (4, *tick, 0, *player, *predicted, &sums[..]),
        };
        let mut b = frame();
        b.array(6);
        for n in [kind, tick, other, u64::from(player), predicted as u64] {
            b.uint(n);
        }
        self.put_sums(&mut b, sums.iter().map(|s| (&s.name[..], &s.bytes[..])));
        self.put_names()?;
        self.frames.write(4, b)
    }

    /// Appends checkpoints of the state after a system, and of its archetypes and columns as set by `detail`. Returns
    /// the state hash.
    pub fn world(&mut self, tick: u64, system: &str, world: &World, detail: Detail) -> Result<Hash> {
        let mut result = Ok(());
        let root = world.digests(|label, column, hash| {
            let least = if column.is_some() { Detail::Column } else { Detail::Archetype };
            if detail >= least && result.is_ok() {
                let scope = column.map_or(label.to_string(), |(component, field)| format!("{label}/{component}.{field}"));
                result = self.checkpoint(tick, (system, &scope), false, std::iter::once(("", &hash[..8])), None);
            }
        })?;
        result?;
        // The whole comes last: the first that differs shows most.
        self.checkpoint(tick, (system, ""), false, std::iter::once(("", &root[..8])), None)?;
        Ok(root)
    }

    /// Writes out what is held until more of its tick comes. A game calls it at the end of each tick.
    pub fn flush(&mut self) -> Result<()> {
        if self.batch.count == 0 {
            return Ok(());
        }
        self.put_names()?;
        let mut b = frame();
        b.array(2);
        b.uint(self.tick);
        self.batch.drain(&mut b);
        self.frames.write(3, b)
    }

    pub fn close(mut self) -> Result<W> {
        self.flush()?;
        self.frames.close()
    }
}

// ---- All files of a peer

/// All of the above for one peer: DIR/<peer>/order-log.bin, checkpoints.trace, snapshots and reports. In each tick: `state` with the state
/// before its orders, `tick`, and `system` after each system if there are any; at the end `state` again, and `close`.
pub struct Recorder {
    log: OrderLog<File>,
    trace: Option<(Trace<File>, Detail)>,
    tick: Option<u64>, // that has begun, and the state after it was not noted
    root: Hash,
    dir: PathBuf,
    facts: BTreeMap<String, String>,
    recent: BTreeMap<u64, Vec<Order>>, // orders of the last ticks, at most 64 without a gap
}

impl Recorder {
    /// Makes the folders and begins the files. They replace the files of an earlier session: each session needs another
    /// DIR. The start hash of the session is the hash of the world. Without a detail there is no trace.
    pub fn create(dir: impl AsRef<Path>, session: &Session, world: &World, detail: Option<Detail>) -> Result<Self> {
        let session = Session { start: world.hash()?, ..session.clone() };
        let dir = dir.as_ref().join(&session.peer);
        fs::create_dir_all(&dir)?;
        tidy(&dir)?;
        let log = OrderLog::create(dir.join("order-log.bin"), &session)?;
        let trace = match detail {
            Some(detail) => Some((Trace::create(dir.join("checkpoints.trace"), &session)?, detail)),
            None => None,
        };
        Ok(Recorder { log, trace, tick: None, root: Hash::default(), dir, facts: BTreeMap::new(), recent: BTreeMap::new() })
    }

    /// What is known of this peer's machine and game: os, cpu, compiler, locale, mods, data_hash. Snapshots have them as properties from
    /// now on. They are no parameters of the session, which are the same on all peers.
    pub fn facts(&mut self, facts: BTreeMap<String, String>) {
        self.facts = facts;
    }

    /// The state hash that was noted last, even after a system.
    pub fn root(&self) -> Hash {
        self.root
    }

    /// The history hash at the point that was noted last, which a peer that sends its state sends along.
    pub fn history(&self) -> Option<Hash> {
        self.log.history()
    }

    pub fn state(&mut self, point: u64, world: &World) -> Result<()> {
        self.root = world.hash()?;
        self.tick = self.tick.filter(|&tick| point <= tick);
        self.log.state(point, &self.root)
    }

    /// Adds an event to the next tick. After one that opens an epoch comes `state` with the state that was loaded: the peer that sent it
    /// has noted the same state before, and the history hash is the one it had there.
    pub fn marker(&mut self, m: &Marker) -> Result<()> {
        self.log.marker(m)?;
        if m.new_epoch {
            self.recent.clear(); // an excerpt has no gap
            self.tick = None;
        }
        Ok(())
    }

    pub fn tick(&mut self, tick: u64, orders: &[Order]) -> Result<()> {
        if let Some((trace, _)) = &mut self.trace {
            trace.flush()?;
        }
        self.log.tick(tick, orders)?;
        self.tick = Some(tick);
        if self.recent.keys().next_back().map_or(false, |last| last + 1 != tick) {
            self.recent.clear();
        }
        self.recent.insert(tick, orders.to_vec());
        if self.recent.len() > 64 {
            self.recent.remove(&(tick - 64));
        }
        Ok(())
    }

    /// The state after a system of the tick that `tick` began; refused without such a tick.
    pub fn system(&mut self, system: &str, world: &World) -> Result<()> {
        let Some(tick) = self.tick else {
            return refuse("system: no tick has begun; tick comes before the systems of a tick");
        };
        if let Some((trace, detail)) = &mut self.trace {
            self.root = trace.world(tick, system, world, *detail)?;
        }
        Ok(())
    }

    /// The state that was noted last, without properties.
    fn noted(&self) -> Point {
        let session = &self.log.session;
        Point {
            seed: session.seed,
            tick: self.log.point.unwrap_or(0),
            peer: session.peer.clone(),
            epoch: self.log.epoch,
            history: self.log.history,
            ..Point::default()
        }
    }

    /// Writes a snapshot of the state that was noted last, with its history hash, and facts, build and parameters as properties.
    pub fn snapshot(&self, world: &World) -> Result<()> {
        let session = &self.log.session;
        let mut at = self.noted();
        at.properties = self.facts.clone();
        at.properties.extend(session.parameters.clone());
        if !session.build.is_empty() {
            at.properties.insert("build".to_string(), session.build.clone());
        }
        world.write_snapshot(&at, &self.dir)
    }

    /// Writes the peer's report that the state noted last differs from the other peers' states:
    /// desync_report_<seed>_<tick>.json, with all hashes, the content of the archetypes that are named, and the orders
    /// of up to 64 ticks before. Player is the number of the peer's first player, None if it plays none.
    pub fn report(&self, world: &World, player: Option<u32>, archetypes: &[&str]) -> Result<()> {
        let at = Point { history: None, epoch: 0, ..self.noted() };
        let mut nodes = Vec::new();
        let mut rng = world.rng.is_some(); // the next leaf belongs to the RNG
        let root = world.digests(|label, column, hash| {
            if column.is_none() {
                nodes.push(format!("\n[{},\"{}\"]", json(if rng { "" } else { label }), hex(hash)));
                rng = false;
            }
        })?;
        let mut contents = Vec::new();
        for label in archetypes {
            let t = world.find(Class::Archetype, label).map_err(|_| Error::from("a report names an archetype that is not there"))?;
            contents.push(format!("\n{{\"label\":{},\"world\":\"{}\"}}", json(label), base64(&world.encode(&at, &[t])?)));
        }
        let mut text = format!(
            "{{\"schema\":\"desynctool.peer-report/1\",\"status\":\"diverged\",\n\"seed\":\"{:016x}\",\"tick\":{},\"player\":{},\"peer\":{},\n\
             \"state_hash\":\"{}\",\"rng_state\":\"{}\",\n\"merkle_nodes\":[{}],\n\"diverged_archetypes\":[{}",
            at.seed, at.tick, player.map_or(-1, i64::from), json(&at.peer), hex(&root), hex(world.rng.as_deref().unwrap_or(&[])), nodes.join(","), contents.join(",")
        );
        if let (Some(from), Some(to)) = (self.recent.keys().next(), self.recent.keys().next_back()) {
            let orders: Vec<String> =
                self.recent.iter().flat_map(|(tick, orders)| orders.iter().map(move |o| self.excerpt(*tick, o))).collect();
            text += &format!("],\n\"order_log_window\":{{\"from\":{from},\"to\":{to}}},\n\"order_log_excerpt\":[");
            text += if orders.is_empty() { "" } else { " \n" };
            text += &orders.join(",\n");
        }
        text += "]}\n";
        write_whole(&self.dir, &format!("desync_report_{:016x}_{:010}.json", at.seed, at.tick), text.as_bytes())
    }

    fn excerpt(&self, tick: u64, o: &Order) -> String {
        let kind = &self.log.session.kinds[o.kind as usize]; // the log has taken it
        let local = if kind.local { ",\"local\":true" } else { "" };
        format!(
            "{{\"kind\":{},\"tick\":{tick},\"sub_tick_time\":{},\"player\":{},\"sequence\":{},\"payload\":\"{}\"{local}}}",
            json(&kind.name),
            o.sub_tick,
            o.player,
            o.sequence,
            hex(&o.payload)
        )
    }

    /// Brings log and trace to the disk. Snapshots and reports are there when they have their names.
    pub fn sync(&mut self) -> Result<()> {
        self.log.sync()?;
        self.trace.as_mut().map_or(Ok(()), |(trace, _)| trace.sync())
    }

    pub fn close(self) -> Result<()> {
        self.log.close()?;
        if let Some((trace, _)) = self.trace {
            trace.close()?;
        }
        Ok(())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn json(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\0'..='\x1f' => out += &format!("\\u{:04x}", c as u32),
            _ => out.push(c),
        }
    }
    out + "\""
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let v = (0..3).fold(0u32, |v, i| v << 8 | u32::from(*three.get(i).unwrap_or(&0)));
        for k in 0..4 {
            out.push(if k > three.len() { '=' } else { DIGITS[(v >> (18 - 6 * k) & 63) as usize] as char });
        }
    }
    out
}

// ---- Replaying for desynctool

/// A game as it replays. The methods below `hash` return the game itself for what it can do beyond this trait: these
/// capabilities are announced, and nothing else. `fn saves(&mut self) -> Option<&mut dyn Saves> { Some(self) }`.
pub trait Game {
    fn name(&self) -> &str;
    fn build(&self) -> &str;

    /// Of the game's orders, which come with numbers of this list: a session that has another kind is refused, unless that is local.
    /// Empty: the game looks at the session's kinds itself.
    fn kinds(&self) -> Vec<Kind> {
        Vec::new()
    }

    /// Begins a session from its start, whatever was before it, or returns why not.
    fn start(&mut self, session: &Session) -> Result<()>;

    /// Plays one tick. Orders that make no sense are ignored as the game ignores them. A game with systems need not have it.
    fn step(&mut self, tick: u64, orders: &[Order]) -> Result<()> {
        let systems = self.systems().ok_or_else(|| Error::from("the game has neither step nor systems"))?;
        systems.begin(tick, orders)?;
        for _ in 0..10000 {
            if !systems.next().more {
                return Ok(());
            }
        }
        refuse("a tick has more than 10000 systems")
    }

    /// The sync hash. A game with a state need not have it; if it does, it must match the state.
    fn hash(&mut self) -> Result<SyncHash> {
        let state = self.state().ok_or_else(|| Error::from("the game has neither hash nor state"))?;
        Ok(sync_hash(&state.world().hash()?))
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        None
    }
    fn saves(&mut self) -> Option<&mut dyn Saves> {
        None
    }
    fn loads(&mut self) -> Option<&mut dyn Loads> {
        None
    }
    fn systems(&mut self) -> Option<&mut dyn Systems> {
        None
    }
    fn caches(&mut self) -> Option<&mut dyn Caches> {
        None
    }
    fn validates(&mut self) -> Option<&mut dyn Validates> {
        None
    }
    fn tests(&mut self) -> Option<&mut dyn Tests> {
        None
    }
    fn predicts(&mut self) -> Option<&mut dyn Predicts> {
        None
    }
    fn branches(&mut self) -> Option<&mut dyn Branches> {
        None
    }
}

/// The current state, also between the systems of a tick.
pub trait State {
    fn world(&self) -> World;
}

/// The state in the game's own form.
pub trait Saves {
    fn save(&self) -> Vec<u8>;
    fn restore(&mut self, saved: &[u8]) -> Result<()>;
}

/// Begins a session with a state in the place of `start`. If it cannot, it returns why, and keeps the current state. A
/// snapshot that is damaged, of another seed than the session or of the middle of a tick is refused before. The session
/// is None if none is known. Caches must be recomputed: the snapshot's caches may be wrong.
pub trait Loads {
    fn load(&mut self, from: &Snapshot, session: Option<&Session>) -> Result<()>;
}

/// The system that was run, and whether more are to come in this tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next<'a> {
    pub system: &'a str,
    pub more: bool,
}

/// A tick in parts: `next` runs one system.
pub trait Systems {
    fn begin(&mut self, tick: u64, orders: &[Order]) -> Result<()>;
    fn next(&mut self) -> Next<'_>;
}

/// Recomputes caches next to the current ones, and returns the names of those that differ.
pub trait Caches {
    fn stale(&self) -> Vec<String>;
}

/// Why an order would be ignored in any state, None if it would not.
pub trait Validates {
    fn validate(&self, tick: u64, order: &Order) -> Option<String>;
}

/// Whether an order is possible in the current state, as the game asks before its player gives it.
pub trait Tests {
    fn test(&self, tick: u64, order: &Order) -> bool;
}

/// Plays the current tick ahead with the orders of one player, as that player's machine does, and takes it back.
pub trait Predicts {
    fn predict(&mut self, tick: u64, player: u32, orders: &[Order]);
}

/// The branches of a thread of the simulation: their number, and a hash of their order. It is laid out as in C.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    pub thread: u32,
    pub count: u64,
    pub hash: u64,
}

/// Records the branches that the simulation takes: desynctool_branches.rs does so.
pub trait Branches {
    fn record(&mut self, mode: u32, file: &str, stop: u64) -> Result<Vec<Flow>>;
}

const MAX_REQUEST: u64 = 1 << 30;

/// What is running.
struct Running {
    session: Session,
    numbers: Vec<u32>, // of the game's kinds, by the session's
    point: u64,
    inside: bool, // a tick is being played in parts
}

struct Server<'g> {
    game: &'g mut dyn Game,
    kinds: Vec<Kind>,
    running: Option<Running>,
}

fn lacks<T>(capability: Option<T>) -> Result<T> {
    capability.ok_or_else(|| Error::from("no such request"))
}

impl Server<'_> {
    /// Numbers a session's kinds as the game does.
    fn numbers(&self, session: &Session) -> Result<Vec<u32>> {
        let number = |(i, kind): (usize, &Kind)| match self.kinds.iter().position(|k| k.name == kind.name) {
            _ if self.kinds.is_empty() => Ok(i as u32),
            Some(at) => Ok(at as u32),
            None if kind.local => Ok(UNKNOWN_KIND),
            None => refuse("the session has a kind of order that the game does not have"),
        };
        session.kinds.iter().enumerate().map(number).collect()
    }

    /// The running session; outside of a tick if it must be.
    fn running(&mut self, whole: bool) -> Result<&mut Running> {
        let running = self.running.as_mut().ok_or_else(|| Error::from("no session has been started"))?;
        require(!whole || !running.inside, "a tick is being played in parts")?;
        Ok(running)
    }

    fn order(&self, r: &mut Reader<'_>) -> Result<Order> {
        r.tuple(5)?;
        let mut o = Order { sub_tick: r.u32()?, player: r.u32()?, sequence: r.u32()?, kind: r.u32()?, payload: r.bin()?.to_vec() };
        match self.running.as_ref().and_then(|running| running.numbers.get(o.kind as usize)) {
            Some(number) => o.kind = *number,
            None if self.kinds.is_empty() => {}
            None => o.kind = UNKNOWN_KIND,
        }
        Ok(o)
    }

    fn orders(&self, r: &mut Reader<'_>) -> Result<Vec<Order>> {
        (0..r.array()?).map(|_| self.order(r)).collect()
    }

    /// The tick that a request is for.
    fn tick(&mut self, r: &mut Reader<'_>) -> Result<u64> {
        let point = self.running(true)?.point;
        require(r.uint()? == point, "the tick is not the one at hand")?;
        Ok(point)
    }

    fn put_arrival(&mut self, out: &mut Vec<u8>) -> Result<()> {
        out.array(2);
        out.uint(self.running(false)?.point);
        out.bin(&self.game.hash()?);
        Ok(())
    }

    fn hello(&mut self, r: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<()> {
        r.uint()?;
        r.text()?;
        let g = &mut self.game;
        let can = [
            ("state", g.state().is_some()),
            ("save", g.saves().is_some()),
            ("load", g.loads().is_some()),
            ("systems", g.systems().is_some()),
            ("caches", g.caches().is_some()),
            ("validate", g.validates().is_some()),
            ("test", g.tests().is_some()),
            ("predict", g.predicts().is_some()),
            ("branches", g.branches().is_some()),
        ];
        out.map(5);
        out.str("protocol");
        out.uint(1);
        out.str("name");
        out.str(g.name());
        out.str("build");
        out.str(g.build());
        out.str("can");
        out.array(can.iter().filter(|(_, can)| *can).count());
        can.iter().filter(|(_, can)| *can).for_each(|(name, _)| out.str(name));
        out.str("max_request");
        out.uint(MAX_REQUEST);
        Ok(())
    }

    fn start(&mut self, r: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<()> {
        let session = Session::read(r)?;
        require(session.first_point == 0, "the session does not begin at its start")?;
        let numbers = self.numbers(&session)?;
        self.game.start(&session)?;
        self.running = Some(Running { session, numbers, point: 0, inside: false });
        self.put_arrival(out)
    }

    fn load(&mut self, r: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<()> {
        lacks(self.game.loads())?;
        let file = r.bin()?;
        let known = if r.nil() { None } else { Some(Session::read(r)?) };
        // Without a session kinds are numbered as the game does.
        let session = known.clone().unwrap_or_else(|| Session { kinds: self.kinds.clone(), ..Session::default() });
        let numbers = self.numbers(&session)?;
        let from = Snapshot::read(file)?;
        require(known.is_none() || session.seed == from.at.seed, "the state is of another session: its seed is not that of the header")?;
        require(from.at.phase.is_empty(), "the state is of the middle of a tick")?;
        lacks(self.game.loads())?.load(&from, known.as_ref())?;
        self.running = Some(Running { session: Session { seed: from.at.seed, ..session }, numbers, point: from.at.tick, inside: false });
        self.put_arrival(out)
    }

    fn step(&mut self, r: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<()> {
        let first = self.tick(r)?;
        let ticks = (0..r.array()?).map(|_| self.orders(r)).collect::<Result<Vec<_>>>()?;
        require(ticks.len() <= 1 << 20, "more than 1048576 ticks")?;
        out.big(0xc6, 8 * ticks.len() as u64, 4);
        for (tick, orders) in (first..).zip(&ticks) {
            match self.game.step(tick, orders).and_then(|()| self.game.hash()) {
                Ok(hash) => out.extend_from_slice(&hash),
                Err(e) => {
                    self.running = None; // the session cannot be used any more
                    return Err(e);
                }
            }
            self.running(true)?.point = tick + 1;
        }
        Ok(())
    }

    fn state(&mut self, out: &mut Vec<u8>) -> Result<()> {
        lacks(self.game.state())?;
        let running = self.running(false)?;
        let at = Point { seed: running.session.seed, tick: running.point, peer: running.session.peer.clone(), ..Point::default() };
        out.bin(&lacks(self.game.state())?.world().snapshot(&at)?);
        Ok(())
    }

    /// A save: "DSV1", u32 CRC-32C of the rest, u64 seed, u64 point, and the game's own form.
    fn save(&mut self, out: &mut Vec<u8>) -> Result<()> {
        lacks(self.game.saves())?;
        let running = self.running(true)?;
        let mut rest = running.session.seed.to_le_bytes().to_vec();
        rest.extend_from_slice(&running.point.to_le_bytes());
        rest.append(&mut lacks(self.game.saves())?.save());
        let mut b = b"DSV1".to_vec();
        b.little32(crc32c(&rest) as usize);
        b.append(&mut rest);
        out.bin(&b);
        Ok(())
    }

    fn restore(&mut self, r: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<()> {
        lacks(self.game.saves())?;
        let seed = self.running(false)?.session.seed;
        let b = r.bin()?;
        require(b.len() >= 24 && b.starts_with(b"DSV1") && le32(&b[4..]) == crc32c(&b[8..]), "not a save")?;
        require(le64(&b[8..]) == seed, "a save of another session")?;
        lacks(self.game.saves())?.restore(&b[24..])?;
        let running = self.running(false)?;
        running.point = le64(&b[16..]);
        running.inside = false;
        self.put_arrival(out)
    }

    fn begin(&mut self, r: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<()> {
        lacks(self.game.systems())?;
        let tick = self.tick(r)?;
        let orders = self.orders(r)?;
        lacks(self.game.systems())?.begin(tick, &orders)?;
        self.running(true)?.inside = true;
        out.nil();
        Ok(())
    }

    fn next(&mut self, out: &mut Vec<u8>) -> Result<()> {
        lacks(self.game.systems())?;
        require(self.running(false)?.inside, "no tick has begun")?;
        let next = lacks(self.game.systems())?.next();
        let more = next.more;
        out.array(3);
        out.str(next.system);
        out.bool(more);
        out.bin(&self.game.hash()?);
        if !more {
            let running = self.running(false)?;
            running.inside = false;
            running.point = running.point.wrapping_add(1);
        }
        Ok(())
    }

    fn caches(&mut self, out: &mut Vec<u8>) -> Result<()> {
        lacks(self.game.caches())?;
        self.running(false)?;
        let mut stale = lacks(self.game.caches())?.stale();
        stale.sort();
        out.array(stale.len());
        stale.iter().for_each(|name| out.str(name));
        Ok(())
    }

    fn validate(&mut self, r: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<()> {
        lacks(self.game.validates())?;
        self.running(false)?;
        let (tick, orders) = (r.uint()?, self.orders(r)?);
        let game = lacks(self.game.validates())?;
        out.array(orders.len());
        orders.iter().for_each(|o| out.str(&game.validate(tick, o).unwrap_or_default()));
        Ok(())
    }

    fn test(&mut self, r: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<()> {
        lacks(self.game.tests())?;
        let (tick, order) = (self.tick(r)?, self.order(r)?);
        out.array(2);
        out.bool(lacks(self.game.tests())?.test(tick, &order));
        out.bin(&self.game.hash()?);
        Ok(())
    }

    fn predict(&mut self, r: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<()> {
        lacks(self.game.predicts())?;
        let (tick, player, orders) = (self.tick(r)?, r.u32()?, self.orders(r)?);
        lacks(self.game.predicts())?.predict(tick, player, &orders);
        out.bin(&self.game.hash()?);
        Ok(())
    }

    fn branches(&mut self, r: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<()> {
        self.running(false)?;
        let (mode, file, stop) = (r.u32()?, r.text()?, r.uint()?);
        let flows = lacks(self.game.branches())?.record(mode, &file, stop)?;
        out.array(flows.len());
        for f in flows {
            out.array(3);
            out.uint(u64::from(f.thread));
            out.uint(f.count);
            out.uint(f.hash);
        }
        Ok(())
    }

    /// The reply to a request. An error is one of a request that makes no sense at all, and cannot be answered.
    fn answer(&mut self, request: &[u8]) -> Result<Vec<u8>> {
        let mut r = Reader::new(request);
        let mut whole = r.clone();
        whole.skip()?;
        require(whole.rest.is_empty(), "there are bytes behind it")?;
        r.tuple(3)?;
        let (id, method, params) = (r.uint()?, r.text()?, r.array()?);
        let method: &str = &method;
        let mut head = Vec::new();
        head.array(3);
        head.uint(id);
        let mut reply = head.clone();
        reply.nil();
        let want = match method {
            "state" | "save" | "next" | "caches" => 0,
            "start" | "restore" => 1,
            "hello" | "load" | "step" | "begin" | "validate" | "test" => 2,
            "predict" | "branches" => 3,
            _ => params,
        };
        let result =
            if params != want { refuse("another number of parameters than expected") } else { self.call(method, &mut r, &mut reply) };
        let result = result.and_then(|()| require(reply.len() <= 1 << 30, "the answer has more than 1 GiB"));
        if let Err(why) = result {
            reply = head;
            reply.str(&why.0);
            reply.nil();
        }
        Ok(reply)
    }

    fn call(&mut self, method: &str, r: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<()> {
        match method {
            "hello" => self.hello(r, out),
            "start" => self.start(r, out),
            "load" => self.load(r, out),
            "step" => self.step(r, out),
            "state" => self.state(out),
            "save" => self.save(out),
            "restore" => self.restore(r, out),
            "begin" => self.begin(r, out),
            "next" => self.next(out),
            "caches" => self.caches(out),
            "validate" => self.validate(r, out),
            "test" => self.test(r, out),
            "predict" => self.predict(r, out),
            "branches" => self.branches(r, out),
            _ => refuse("no such request"),
        }
    }
}

/// Reads n bytes, trusting n only as far as bytes come. Returns fewer where they end.
fn read_up_to(from: &mut dyn Read, n: u64) -> Result<Vec<u8>> {
    let mut b = Vec::new();
    from.take(n).read_to_end(&mut b)?;
    Ok(b)
}

/// Answers one request after another, until the connection ends between two.
pub fn serve_on(game: &mut dyn Game, from: &mut dyn Read, to: &mut dyn Write) -> Result<()> {
    let kinds = game.kinds();
    let mut server = Server { game, kinds, running: None };
    loop {
        let length = read_up_to(from, 4)?;
        if length.is_empty() {
            return Ok(());
        }
        require(length.len() == 4, "the connection ends inside the length of a request")?;
        let n = u64::from(le32(&length));
        if n > MAX_REQUEST {
            return Err(format!("a request of {n} bytes, at most {MAX_REQUEST} are taken").into());
        }
        let request = read_up_to(from, n)?;
        require(request.len() as u64 == n, "the connection ends inside a request")?;
        let mut reply = server.answer(&request).map_err(|why| Error(format!("a request makes no sense: {why}")))?;
        let mut out = Vec::with_capacity(4 + reply.len());
        out.little32(reply.len());
        out.append(&mut reply);
        to.write_all(&out)?;
        to.flush()?;
    }
}

fn serve_stream<S: Read + Write>(game: &mut dyn Game, stream: std::io::Result<S>, clone: impl Fn(&S) -> io::Result<S>) -> Result<()> {
    let mut to = stream.map_err(|e| Error(format!("no connection to DESYNCTOOL_SIM: {e}")))?;
    let mut from = io::BufReader::new(clone(&to)?);
    let token = std::env::var("DESYNCTOOL_SIM_TOKEN").unwrap_or_default();
    let mut value = Vec::new();
    value.str(&token);
    let mut hello = Vec::new();
    hello.little32(value.len());
    hello.append(&mut value);
    to.write_all(&hello)?;
    serve_on(game, &mut from, &mut to)
}

/// Answers requests until the connection ends, on the socket that DESYNCTOOL_SIM names, else on stdin and stdout; there the game prints
/// nothing to stdout. Returns the exit status of the process: 0, or 2 after a line on stderr. A game that panics does so with one line.
pub fn serve(game: &mut dyn Game) -> i32 {
    std::panic::set_hook(Box::new(|info| {
        let why = info.to_string();
        eprintln!("{}", why.split_whitespace().collect::<Vec<_>>().join(" "));
    }));
    let place = std::env::var("DESYNCTOOL_SIM").unwrap_or_default();
    let result = if place.is_empty() {
        serve_on(game, &mut io::BufReader::new(io::stdin().lock()), &mut io::stdout().lock())
    } else if let Some(at) = place.strip_prefix("tcp:") {
        let stream = std::net::TcpStream::connect(at);
        if let Ok(stream) = &stream {
            let _ = stream.set_nodelay(true); // slower without
        }
        serve_stream(game, stream, std::net::TcpStream::try_clone)
    } else {
        serve_unix(game, &place)
    };
    if let Err(why) = &result {
        eprintln!("{why}");
    }
    if result.is_ok() {
        0
    } else {
        2
    }
}

#[cfg(unix)]
fn serve_unix(game: &mut dyn Game, place: &str) -> Result<()> {
    use std::os::unix::net::UnixStream;
    match place.strip_prefix("unix:") {
        Some(path) => serve_stream(game, UnixStream::connect(path), UnixStream::try_clone),
        None => refuse("DESYNCTOOL_SIM is neither unix:PATH nor tcp:HOST:PORT"),
    }
}

#[cfg(not(unix))]
fn serve_unix(_: &mut dyn Game, _: &str) -> Result<()> {
    refuse("DESYNCTOOL_SIM is not tcp:HOST:PORT")
}

// ---- Signatures

struct Sha512 {
    h: [u64; 8],
    len: u64,
    block: [u8; 128],
}

static SHA512: [u64; 80] = [
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc, 0x3956c25bf348b538,
    0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118, 0xd807aa98a3030242, 0x12835b0145706fbe,
    0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2, 0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235,
    0xc19bf174cf692694, 0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5, 0x983e5152ee66dfab,
    0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4, 0xc6e00bf33da88fc2, 0xd5a79147930aa725,
    0x06ca6351e003826f, 0x142929670a0e6e70, 0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed,
    0x53380d139d95b3df, 0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30, 0xd192e819d6ef5218,
    0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8, 0x19a4c116b8d2d0c8, 0x1e376c085141ab53,
    0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8, 0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373,
    0x682e6ff3d6b2b8a3, 0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b, 0xca273eceea26619c,
    0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178, 0x06f067aa72176fba, 0x0a637dc5a2c898a6,
    0x113f9804bef90dae, 0x1b710b35131c471b, 0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc,
    0x431d67c49c100d4c, 0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
];

impl Sha512 {
    fn new() -> Self {
        let h = [
            0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
            0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
        ];
        Sha512 { h, len: 0, block: [0; 128] }
    }

    fn compress(&mut self) {
        let mut w = [0u64; 80];
        for (w, b) in w.iter_mut().zip(self.block.chunks(8)) {
            *w = b.iter().fold(0, |v, b| v << 8 | u64::from(*b));
        }
        for i in 16..80 {
            let (x, y) = (w[i - 15], w[i - 2]);
            let (x, y) = (x.rotate_right(1) ^ x.rotate_right(8) ^ x >> 7, y.rotate_right(19) ^ y.rotate_right(61) ^ y >> 6);
            w[i] = w[i - 16].wrapping_add(w[i - 7]).wrapping_add(x).wrapping_add(y);
        }
        let mut v = self.h;
        for (k, w) in SHA512.iter().zip(&w) {
            let (a, e) = (v[0], v[4]);
            let t1 = (e.rotate_right(14) ^ e.rotate_right(18) ^ e.rotate_right(41)).wrapping_add((e & v[5]) ^ (!e & v[6]));
            let t1 = t1.wrapping_add(v[7]).wrapping_add(*k).wrapping_add(*w);
            let t2 = (a.rotate_right(28) ^ a.rotate_right(34) ^ a.rotate_right(39)).wrapping_add((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
            v.rotate_right(1);
            v[4] = v[4].wrapping_add(t1);
            v[0] = t1.wrapping_add(t2);
        }
        for (h, v) in self.h.iter_mut().zip(&v) {
            *h = h.wrapping_add(*v);
        }
    }

    fn add(&mut self, data: &[u8]) {
        let mut rest = data;
        while !rest.is_empty() {
            let have = (self.len % 128) as usize;
            let n = rest.len().min(128 - have);
            self.block[have..have + n].copy_from_slice(&rest[..n]);
            self.len += n as u64;
            rest = &rest[n..];
            if have + n == 128 {
                self.compress();
            }
        }
    }

    fn end(mut self) -> [u8; 64] {
        let bits = u128::from(self.len) * 8;
        let pad = 128 - (self.len + 16) as usize % 128;
        self.add(&[&[0x80][..], &[0; 127][..pad - 1]].concat());
        self.add(&bits.to_be_bytes());
        let mut out = [0; 64];
        for (to, h) in out.chunks_mut(8).zip(&self.h) {
            to.copy_from_slice(&h.to_be_bytes());
        }
        out
    }
}

/// A number modulo 2^255 - 19, in five limbs of 51 bits. A product has limbs just above that, a sum one bit more; only those may be
/// subtracted, and what is multiplied has at most 54 bits.
#[derive(Clone, Copy)]
struct Field([u64; 5]);

const LIMB: u64 = (1 << 51) - 1;
const ZERO: Field = Field([0; 5]);
const ONE: Field = Field([1, 0, 0, 0, 0]);
const CURVE_D: Field = Field([0x34dca135978a3, 0x1a8283b156ebd, 0x5e7a26001c029, 0x739c663a03cbb, 0x52036cee2b6ff]);
const ROOT: Field = Field([0x61b274a0ea0b0, 0x0d5a5fc8f189d, 0x7ef5e9cbd0c60, 0x78595a6804c9e, 0x2b8324804fc1d]); // of -1

impl Field {
    fn add(&self, b: &Field) -> Field {
        let mut out = *self;
        out.0.iter_mut().zip(&b.0).for_each(|(a, b)| *a += b);
        out
    }

    fn sub(&self, b: &Field) -> Field {
        let mut out = *self;
        out.0.iter_mut().zip(&b.0).for_each(|(a, b)| *a = *a + 4 * LIMB - b);
        out.0[0] -= 4 * 18; // four times the modulus in all
        out
    }

    fn mul(&self, b: &Field) -> Field {
        let (a, b) = (&self.0, &b.0);
        let m = |i: usize, k: usize| u128::from(a[i]) * u128::from(b[k]);
        let w = |i: usize, k: usize| u128::from(a[i]) * u128::from(19 * b[k]);
        Field::fold([
            m(0, 0) + w(1, 4) + w(2, 3) + w(3, 2) + w(4, 1),
            m(0, 1) + m(1, 0) + w(2, 4) + w(3, 3) + w(4, 2),
            m(0, 2) + m(1, 1) + m(2, 0) + w(3, 4) + w(4, 3),
            m(0, 3) + m(1, 2) + m(2, 1) + m(3, 0) + w(4, 4),
            m(0, 4) + m(1, 3) + m(2, 2) + m(3, 1) + m(4, 0),
        ])
    }

    fn square(&self) -> Field {
        let a = &self.0;
        let m = |i: usize, k: usize| u128::from(a[i]) * u128::from(a[k]);
        let two = |i: usize, k: usize| u128::from(2 * a[i]) * u128::from(a[k]);
        let w = |i: usize, k: usize| u128::from(2 * a[i]) * u128::from(19 * a[k]);
        Field::fold([
            m(0, 0) + w(1, 4) + w(2, 3),
            two(0, 1) + w(2, 4) + u128::from(a[3]) * u128::from(19 * a[3]),
            two(0, 2) + m(1, 1) + w(3, 4),
            two(0, 3) + two(1, 2) + u128::from(a[4]) * u128::from(19 * a[4]),
            two(0, 4) + two(1, 3) + m(2, 2),
        ])
    }

    fn fold(mut c: [u128; 5]) -> Field {
        let mut out = [0; 5];
        for i in 0..4 {
            c[i + 1] += c[i] >> 51;
            out[i] = c[i] as u64 & LIMB;
        }
        out[4] = c[4] as u64 & LIMB;
        let first = u128::from(out[0]) + 19 * (c[4] >> 51);
        out[0] = first as u64 & LIMB;
        out[1] += (first >> 51) as u64;
        Field(out)
    }

    /// To the power of 2^n, times b.
    fn raise(&self, n: usize, b: &Field) -> Field {
        (0..n).fold(*self, |v, _| v.square()).mul(b)
    }

    /// To the power of 2^250 - 1, and of 11.
    fn power(&self) -> (Field, Field) {
        let a2 = self.square();
        let a9 = a2.raise(2, self);
        let a11 = a9.mul(&a2);
        let a5 = a11.raise(1, &a9); // from here on by the number of bits
        let a10 = a5.raise(5, &a5);
        let a20 = a10.raise(10, &a10);
        let a40 = a20.raise(20, &a20);
        let a50 = a40.raise(10, &a10);
        let a100 = a50.raise(50, &a50);
        let a200 = a100.raise(100, &a100);
        (a200.raise(50, &a50), a11)
    }

    fn invert(&self) -> Field {
        let (power, a11) = self.power();
        power.raise(5, &a11)
    }

    fn encode(&self) -> [u8; 32] {
        let mut v = self.0;
        let carry = |v: &mut [u64; 5], first: u64| {
            v[0] += first;
            for i in 0..4 {
                v[i + 1] += v[i] >> 51;
                v[i] &= LIMB;
            }
        };
        for _ in 0..2 {
            // below 2^255 + 19, then below 2^255
            let over = v[4] >> 51;
            v[4] &= LIMB;
            carry(&mut v, 19 * over);
        }
        let mut more = v;
        carry(&mut more, 19); // is it 2^255 - 19 or more?
        carry(&mut v, 19 * (more[4] >> 51));
        v[4] &= LIMB;
        let mut out = [0; 32];
        for i in 0..256 {
            if i < 255 {
                out[i / 8] |= ((v[i / 51] >> (i % 51) & 1) as u8) << (i % 8);
            }
        }
        out
    }

    fn decode(b: &[u8; 32]) -> Field {
        let mut v = [0; 5];
        for i in 0..255 {
            v[i / 51] |= u64::from(b[i / 8] >> (i % 8) & 1) << (i % 51);
        }
        Field(v)
    }

    fn same(&self, b: &Field) -> bool {
        self.encode() == b.encode()
    }
}

/// A point: x is X/Z, y is Y/Z and xy is T/Z.
#[derive(Clone, Copy)]
struct Curve {
    x: Field,
    y: Field,
    z: Field,
    t: Field,
}

const NEUTRAL: Curve = Curve { x: ZERO, y: ONE, z: ONE, t: ZERO };

impl Curve {
    fn of(e: Field, f: Field, g: Field, h: Field) -> Curve {
        Curve { x: e.mul(&f), y: g.mul(&h), z: f.mul(&g), t: e.mul(&h) }
    }

    /// The sum with a point that is ready for it.
    fn add(&self, q: &Curve) -> Curve {
        let a = self.y.sub(&self.x).mul(&q.y.sub(&q.x));
        let b = self.y.add(&self.x).mul(&q.y.add(&q.x));
        let c = self.t.mul(&q.t);
        let d = self.z.mul(&q.z);
        let d = d.add(&d);
        Curve::of(b.sub(&a), d.sub(&c), d.add(&c), b.add(&a))
    }

    fn double(&self) -> Curve {
        let (a, b, c) = (self.x.square(), self.y.square(), self.z.square());
        let (g, h) = (a.sub(&b), a.add(&b));
        let e = h.sub(&self.x.add(&self.y).square());
        Curve::of(e, c.add(&c).add(&g), g, h)
    }

    /// T times 2d, as the second point of a sum has it.
    fn ready(mut self) -> Curve {
        self.t = self.t.mul(&CURVE_D);
        self.t = self.t.add(&self.t);
        self
    }

    fn encode(&self) -> [u8; 32] {
        let z = self.z.invert();
        let mut out = self.y.mul(&z).encode();
        out[31] |= (self.x.mul(&z).encode()[0] & 1) << 7;
        out
    }

    /// As in Go, y may be 2^255 - 19 and more, and x -0.
    fn decode(b: &[u8; 32]) -> Option<Curve> {
        let y = Field::decode(b);
        let yy = y.square();
        let u = yy.sub(&ONE).mul(&ONE); // x² is u/v with u = y² - 1
        let v = yy.mul(&CURVE_D).add(&ONE); // and v = dy² + 1; x is uv³ (uv⁷)^((p-5)/8), perhaps times the root of -1
        let v3 = v.square().mul(&v);
        let (power, _) = v3.square().mul(&v).mul(&u).power();
        let mut x = power.raise(2, &v3.square().mul(&v).mul(&u)).mul(&v3).mul(&u);
        let vxx = x.square().mul(&v);
        if !vxx.same(&u) {
            if !vxx.same(&ZERO.sub(&u)) {
                return None;
            }
            x = x.mul(&ROOT);
        }
        if x.encode()[0] & 1 != b[31] >> 7 {
            x = ZERO.sub(&x).mul(&ONE);
        }
        Some(Curve { x, y, z: ONE, t: x.mul(&y) })
    }

    fn negate(&self) -> Curve {
        Curve { x: ZERO.sub(&self.x).mul(&ONE), t: ZERO.sub(&self.t).mul(&ONE), ..*self }
    }
}

/// The sums of a point's multiples by 1, 2^64, 2^128 and 2^192, ready to be added.
#[derive(Clone)]
struct Comb([Curve; 16]);

impl Comb {
    fn of(p: &Curve) -> Comb {
        let (mut p, mut sums) = (*p, [NEUTRAL; 16]);
        for i in 0..4 {
            let ready = p.ready();
            for k in 0..1 << i {
                sums[k + (1 << i)] = sums[k].add(&ready);
            }
            for _ in 0..if i < 3 { 64 } else { 0 } {
                p = p.double();
            }
        }
        sums.iter_mut().for_each(|p| *p = p.ready());
        Comb(sums)
    }

    fn of_base() -> Comb {
        let mut b = [0x66; 32];
        b[0] = 0x58;
        Comb::of(&Curve::decode(&b).unwrap_or(NEUTRAL))
    }

    /// The sum that bit i of a number's four parts selects. It looks at all sums, so that the time shows nothing about
    /// the number.
    fn pick(&self, n: &[u8; 32], i: usize) -> Curve {
        let number = (0..4).fold(0, |v, k| v | u64::from(n[8 * k + i / 8] >> (i % 8) & 1) << k);
        let mut out = Curve { x: ZERO, y: ZERO, z: ZERO, t: ZERO };
        for (k, p) in (0..).zip(&self.0) {
            let mask = 0u64.wrapping_sub((number ^ k).wrapping_sub(1) >> 63);
            for (to, from) in [(&mut out.x, &p.x), (&mut out.y, &p.y), (&mut out.z, &p.z), (&mut out.t, &p.t)] {
                to.0.iter_mut().zip(&from.0).for_each(|(to, from)| *to |= from & mask);
            }
        }
        out
    }
}

/// The points of combs, each times a number, added up.
fn times(parts: &[(&Comb, &[u8; 32])]) -> [u8; 32] {
    let mut at = NEUTRAL;
    for i in (0..64).rev() {
        at = at.double();
        for (comb, n) in parts {
            at = at.add(&comb.pick(n, i));
        }
    }
    at.encode()
}

/// The order of the base point, 2^252 + 27742317777372353535851937790883648493.
const ORDER: [u64; 4] = [0x5812631a5cf5d3ed, 0x14def9dea2f79cd6, 0, 0x1000000000000000];

/// A number modulo the order, bit by bit.
fn order_reduce(wide: &[u8; 64]) -> [u8; 32] {
    let mut v = [0u64; 4];
    for i in (0..512).rev() {
        let mut carry = u64::from(wide[i / 8] >> (i % 8) & 1);
        for v in &mut v {
            let high = *v >> 63;
            *v = *v << 1 | carry;
            carry = high;
        }
        let (mut less, mut borrow) = ([0; 4], 0);
        for k in 0..4 {
            let (d, b) = v[k].overflowing_sub(ORDER[k]);
            let (d, c) = d.overflowing_sub(borrow);
            less[k] = d;
            borrow = u64::from(b | c);
        }
        let keep = 0u64.wrapping_sub(borrow);
        for k in 0..4 {
            v[k] = v[k] & keep | less[k] & !keep;
        }
    }
    let mut out = [0; 32];
    for (to, v) in out.chunks_mut(8).zip(&v) {
        to.copy_from_slice(&v.to_le_bytes());
    }
    out
}

/// a·b + c modulo the order.
fn order_mul_add(a: &[u8; 32], b: &[u8; 32], c: &[u8; 32]) -> [u8; 32] {
    let mut wide = [0; 64];
    wide[..32].copy_from_slice(c);
    for i in 0..32 {
        let mut carry = 0u32;
        for k in 0..32 {
            carry += u32::from(wide[i + k]) + u32::from(a[i]) * u32::from(b[k]);
            wide[i + k] = carry as u8;
            carry >>= 8;
        }
        wide[i + 32] = carry as u8; // nothing is there yet
    }
    order_reduce(&wide)
}

fn order_hash(parts: &[&[u8]]) -> [u8; 32] {
    let mut s = Sha512::new();
    parts.iter().for_each(|p| s.add(p));
    order_reduce(&s.end())
}

/// A secret key that is ready to sign. How long that takes does not depend on it.
struct Signing {
    scalar: [u8; 32],
    prefix: [u8; 32],
    key: [u8; 32],
    base: Comb,
}

impl Signing {
    fn new(secret: &[u8; 32]) -> Self {
        let mut s = Sha512::new();
        s.add(secret);
        let digest = s.end();
        let (mut scalar, mut prefix) = ([0; 32], [0; 32]);
        scalar.copy_from_slice(&digest[..32]);
        prefix.copy_from_slice(&digest[32..]);
        scalar[0] &= 0xf8;
        scalar[31] = scalar[31] & 0x3f | 0x40;
        let base = Comb::of_base();
        Signing { scalar, prefix, key: times(&[(&base, &scalar)]), base }
    }

    fn sign(&self, message: &[u8]) -> [u8; 64] {
        let r = order_hash(&[&self.prefix, message]);
        let point = times(&[(&self.base, &r)]);
        let s = order_mul_add(&order_hash(&[&point, &self.key, message]), &self.scalar, &r);
        let mut out = [0; 64];
        out[..32].copy_from_slice(&point);
        out[32..].copy_from_slice(&s);
        out
    }
}

/// The y of two points of order 8. The y of the two others is 2^255 - 19 less it.
const EIGHTH: [u8; 32] = [
    0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
    0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
];

/// Whether a point, in any encoding, is one of the eight of small order: whoever has such a key needs no secret to sign.
fn small_order(point: &[u8]) -> bool {
    let (mut zeros, mut ones, mut is, mut less) = (0, 0, 0, 0);
    for i in 1..32 {
        let all = if i == 31 { 0x7f } else { 0xff }; // the highest bit is the sign of x
        let b = point[i] & all;
        zeros |= b;
        ones |= b ^ all;
        is |= b ^ EIGHTH[i];
        less |= b ^ (all - EIGHTH[i]);
    }
    let first = point[0];
    zeros == 0 && first <= 1
        || ones == 0 && (0xec..=0xee).contains(&first)
        || is == 0 && first == EIGHTH[0]
        || less == 0 && first == 0xed - EIGHTH[0]
}

/// A public key that is ready to check signatures.
struct Verifier {
    key: [u8; 32],
    combs: Option<(Comb, Comb)>, // of the base point, and of the key's point turned around; none where the key is no point
}

impl Verifier {
    fn new(key: &[u8; 32]) -> Self {
        let point = if small_order(key) { None } else { Curve::decode(key) };
        Verifier { key: *key, combs: point.map(|p| (Comb::of_base(), Comb::of(&p.negate()))) }
    }

    fn verify(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        let (point, s) = (&signature[..32], &signature[32..]);
        let mut number = [0; 32];
        number.copy_from_slice(s);
        let below = (0..4).rev().map(|i| le64(&s[8 * i..])).lt(ORDER.iter().rev().copied());
        match &self.combs {
            Some((base, minus)) if below && !small_order(point) => {
                let k = order_hash(&[point, &self.key, message]);
                times(&[(base, &number), (minus, &k)])[..] == *point
            }
            _ => false,
        }
    }
}

/// The public key of a secret one, which is its seed of 32 bytes (Ed25519, RFC 8032).
pub fn public_key(secret: &[u8; 32]) -> [u8; 32] {
    Signing::new(secret).key
}

/// The Ed25519 signature of a message. How long it takes does not depend on the secret key.
pub fn sign(secret: &[u8; 32], message: &[u8]) -> [u8; 64] {
    Signing::new(secret).sign(message)
}

/// Whether a signature is valid. Go's crypto/ed25519 takes the same ones, and keys and R of small order.
pub fn verify(key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
    Verifier::new(key).verify(message, signature)
}

const CHAIN: &[u8] = b"desynctool tick-signatures 1 ";
const ENTRY: usize = 144;
const LAST: usize = 104;

fn chain_message(purpose: &str, body: &[u8]) -> Vec<u8> {
    [CHAIN, purpose.as_bytes(), b"\n", body].concat()
}

fn chain_genesis(seed: u64, key: &[u8; 32], start: &Hash, peer: &[u8]) -> Hash {
    let body = [&seed.to_le_bytes()[..], key, start, &(peer.len() as u32).to_le_bytes(), peer].concat();
    Sha256::of(&chain_message("genesis", &body))
}

/// Who signs: a secret key, or a public one and what signs with it, such as a key store. What that gives is checked.
pub enum Signer {
    Secret([u8; 32]),
    Store { key: [u8; 32], sign: Box<dyn FnMut(&[u8]) -> Result<[u8; 64]>> },
}

enum Signs {
    Own(Box<Signing>),
    Store(Box<Verifier>, Box<dyn FnMut(&[u8]) -> Result<[u8; 64]>>),
}

/// tick-signatures.bin: the state hashes of ticks, each signed together with all that were before. A file that is not
/// closed comes from a game that crashed: it is not known whether entries were cut off.
pub struct TickSignatures<W: Write> {
    frames: Frames<W>,
    signs: Signs,
    key: [u8; 32],
    link: Hash,
    tick: Option<u64>,
    count: u64,
}

impl TickSignatures<File> {
    pub fn create(path: impl AsRef<Path>, seed: u64, peer: &str, start: &Hash, signer: Signer) -> Result<Self> {
        Self::new(File::create(path)?, seed, peer, start, signer)
    }
}

impl<W: Write> TickSignatures<W> {
    /// Start is the state hash at the first point, zeros if it is not known.
    pub fn new(to: W, seed: u64, peer: &str, start: &Hash, signer: Signer) -> Result<Self> {
        require(peer.len() <= 65536, "a peer's name has more than 65536 bytes")?;
        let (key, signs) = match signer {
            Signer::Secret(secret) => {
                let own = Box::new(Signing::new(&secret));
                (own.key, Signs::Own(own))
            }
            Signer::Store { key, sign } => (key, Signs::Store(Box::new(Verifier::new(&key)), sign)),
        };
        let mut b = frame();
        b.map(4);
        b.str("seed");
        b.uint(seed);
        b.str("peer");
        b.str(peer);
        b.str("key");
        b.bin(&key);
        b.str("start");
        b.bin(start);
        let mut frames = Frames::begin(to, b"TSIGS\r\n")?;
        frames.write(1, b)?;
        Ok(TickSignatures { frames, signs, key, link: chain_genesis(seed, &key, start, peer.as_bytes()), tick: None, count: 0 })
    }

    /// The public key.
    pub fn key(&self) -> [u8; 32] {
        self.key
    }

    /// The content of a frame, and its signature.
    fn signed(&mut self, purpose: &str, mut body: Vec<u8>) -> Result<Vec<u8>> {
        let message = chain_message(purpose, &body);
        let signature = match &mut self.signs {
            Signs::Own(own) => own.sign(&message),
            Signs::Store(verifier, sign) => {
                let signature = sign(&message)?;
                require(verifier.verify(&message, &signature), "what signs did not sign with the key")?;
                signature
            }
        };
        body.extend_from_slice(&signature);
        Ok(body)
    }

    fn write(&mut self, kind: u32, payload: &[u8]) -> Result<()> {
        let mut b = frame();
        b.extend_from_slice(payload);
        self.frames.write(kind, b)
    }

    /// Signs the state hash of a tick: the hash of the state before its orders. Ticks ascend; those that are left out
    /// are counted.
    pub fn append(&mut self, tick: u64, hash: &Hash) -> Result<()> {
        let skipped = match self.tick {
            Some(last) if tick <= last => return refuse("ticks do not ascend"),
            Some(last) => tick - last - 1,
            None => 0,
        };
        let body = [&self.link[..], &skipped.to_le_bytes(), &tick.to_le_bytes(), hash].concat();
        let entry = self.signed("entry", body)?;
        self.write(2, &entry)?;
        self.link = Sha256::of(&chain_message("link", &entry));
        self.tick = Some(tick);
        self.count += 1;
        Ok(())
    }

    /// Signs how many entries there are, and ends the file.
    pub fn close(mut self) -> Result<W> {
        let body = [&self.link[..], &self.count.to_le_bytes()].concat();
        let end = self.signed("end", body)?;
        self.write(3, &end)?;
        self.frames.close()
    }
}

/// What is found in a file of signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingKind {
    OtherKey = 1,
    Corrupt,
    Tampered,
    Missing,
    Contradiction,
    Skipped,
    MissingAtEnd,
    Open,
}

impl FindingKind {
    /// What it means.
    pub fn words(self) -> &'static str {
        match self {
            FindingKind::OtherKey => "the key is not the one that is trusted",
            FindingKind::Corrupt => "the file is damaged here: nothing after it is read",
            FindingKind::Tampered => "the signature is not valid and the checksum is right: somebody changed this, or made it without the key",
            FindingKind::Missing => "entries before this one are missing or were moved, or it is from another chain of the key",
            FindingKind::Contradiction => "the signer contradicts itself: the ticks do not ascend, or are not as many as it says",
            FindingKind::Skipped => "the signer itself left out ticks before this one: nothing was tampered with",
            FindingKind::MissingAtEnd => "entries at the end were removed or changed",
            FindingKind::Open => "there is no signed end: entries at the end may have been cut off",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub kind: FindingKind,
    /// Of the frame, in bytes.
    pub offset: usize,
    /// Number of the entry, from 0.
    pub entry: u64,
    /// Tick of the entry before, and of this one, if there is one and it is known.
    pub after: Option<u64>,
    pub tick: Option<u64>,
}

/// The content of a file of signatures, and what is found in it, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedSignatures {
    pub seed: u64,
    pub peer: Vec<u8>,
    pub key: [u8; 32],
    pub start: Hash,
    pub entries: u64,
    /// Ticks and state hashes of the entries from the start that have no break before them or in them: the key signed them for this session.
    pub bound: Vec<(u64, Hash)>,
    /// There is a signed end, and it agrees.
    pub closed: bool,
    /// At most 1000; `found` is how many there are.
    pub findings: Vec<Finding>,
    pub found: u64,
}

enum NextFrame<'a> {
    Whole(u32, &'a [u8]),
    Clean,
    Torn,
    Corrupt(usize),
}

/// Reads frames. `at` stays at what ends the file.
struct Framed<'a> {
    file: &'a [u8],
    at: usize,
    count: u64,
}

impl<'a> Framed<'a> {
    /// How the file ends where a part of it fails its checksum: torn if from some byte of it on there is nothing but zero, as a crash leaves it.
    fn fails(&self, part: usize, end: usize) -> NextFrame<'a> {
        let zeros = self.file[part..].iter().rev().take_while(|b| **b == 0).count();
        if zeros >= 16 && self.file.len() - zeros < end {
            NextFrame::Torn
        } else {
            NextFrame::Corrupt(self.at)
        }
    }

    fn next(&mut self) -> NextFrame<'a> {
        let at = self.at;
        let rest = &self.file[at..];
        if rest.len() < FRAME {
            return NextFrame::Torn;
        }
        if crc32c(&rest[..12]) != le32(&rest[12..]) {
            return self.fails(at, at + FRAME);
        }
        let (n, kind) = (le32(rest) as usize, le32(&rest[4..]));
        if n > 1 << 20 {
            return NextFrame::Corrupt(at);
        }
        if n > rest.len() - FRAME {
            return NextFrame::Torn;
        }
        let payload = &rest[FRAME..FRAME + n];
        if crc32c(payload) != le32(&rest[8..]) {
            return self.fails(at + FRAME, at + FRAME + n);
        }
        if kind == u32::MAX {
            return match n {
                8 if le64(payload) != self.count => NextFrame::Corrupt(at),
                8 if rest.len() > FRAME + 8 => NextFrame::Corrupt(at + FRAME + 8),
                8 => NextFrame::Clean,
                _ => NextFrame::Corrupt(at),
            };
        }
        self.at += FRAME + n;
        self.count += 1;
        NextFrame::Whole(kind, payload)
    }
}

impl CheckedSignatures {
    /// Checks the bytes of a tick-signatures.bin. Trusted is the public key that is trusted: without it the file shows
    /// that it is whole, and by one signer, but not by which one. A file is refused if its header cannot be read.
    pub fn read(file: &[u8], trusted: Option<&[u8; 32]>) -> Result<Self> {
        require(file.starts_with(b"\x89TSIGS\r\n"), "not a tick-signatures.bin")?;
        require(file.len() >= 16, "torn in the preamble")?;
        require(crc32c(&file[..12]) == le32(&file[12..]), "the preamble fails its checksum")?;
        require(le32(&file[8..]) == 1, "expected version 1 without flags")?;
        let mut frames = Framed { file, at: 16, count: 0 };
        let mut c = match frames.next() {
            NextFrame::Whole(1, header) => Self::header(header)?,
            _ => return refuse("the header is missing or damaged"),
        };
        let believed = trusted.map_or(true, |t| *t == c.key);
        if !believed {
            c.find(FindingKind::OtherKey, 16, None, None);
        }
        c.check(frames, believed);
        Ok(c)
    }

    fn header(payload: &[u8]) -> Result<Self> {
        let mut r = Reader::new(payload);
        r.skip()?;
        require(r.rest.is_empty(), "the header has bytes after it")?;
        let (mut c, mut seen) = (CheckedSignatures::default(), [false; 4]);
        r = Reader::new(payload);
        for _ in 0..r.map()? {
            let key = r.str_bytes()?;
            let known = [&b"seed"[..], b"peer", b"key", b"start"].iter().position(|k| *k == key);
            if let Some(i) = known {
                require(!seen[i], "the header has a key twice")?;
                seen[i] = true;
            }
            match known {
                Some(0) => c.seed = r.uint()?,
                Some(1) => c.peer = r.str_bytes()?.to_vec(),
                Some(2) => c.key = r.hash()?,
                Some(3) => c.start = r.hash()?,
                _ => r.skip()?,
            }
        }
        require(seen == [true; 4], "the header lacks seed, peer, key or start")?;
        require(c.peer.len() <= 65536, "a peer's name has more than 65536 bytes")?;
        Ok(c)
    }

    fn find(&mut self, kind: FindingKind, offset: usize, after: Option<u64>, tick: Option<u64>) {
        self.found += 1;
        if self.found <= 1000 {
            self.findings.push(Finding { kind, offset, entry: self.entries, after, tick });
        }
    }

    fn check(&mut self, mut frames: Framed, believed: bool) {
        let verifier = Verifier::new(&self.key);
        let mut link = chain_genesis(self.seed, &self.key, &self.start, &self.peer);
        let (mut before, mut unbroken, mut tampered, mut ended) = (None, true, false, false);
        loop {
            let offset = frames.at;
            let (entry, payload) = match frames.next() {
                NextFrame::Whole(2, payload) if !ended && payload.len() == ENTRY => (true, payload),
                NextFrame::Whole(3, payload) if !ended && payload.len() == LAST => (false, payload),
                NextFrame::Whole(..) => return self.find(FindingKind::Corrupt, offset, None, None),
                NextFrame::Corrupt(at) => return self.find(FindingKind::Corrupt, at, None, None),
                NextFrame::Clean | NextFrame::Torn => {
                    if !ended {
                        self.find(FindingKind::Open, offset, before, None);
                    }
                    return;
                }
            };
            let (body, signed) = payload.split_at(payload.len() - 64);
            let mut signature = [0; 64];
            signature.copy_from_slice(signed);
            let valid = verifier.verify(&chain_message(if entry { "entry" } else { "end" }, body), &signature);
            let (linked, number) = (payload[..32] == link, le64(&payload[32..]));
            if !entry {
                ended = true;
                match () {
                    _ if !valid => self.find(FindingKind::Tampered, offset, before, None),
                    _ if !linked && !(tampered && number == self.entries) => self.find(FindingKind::MissingAtEnd, offset, before, None),
                    // Else what is missing has been said.
                    _ if number != self.entries && unbroken => self.find(FindingKind::Contradiction, offset, before, None),
                    _ => self.closed = true,
                }
                continue;
            }
            let tick = le64(&payload[40..]);
            let follows = before.map_or(number == 0, |last| tick > last && number == tick - last - 1);
            let kind = match () {
                _ if !valid => Some(FindingKind::Tampered),
                _ if tampered => None, // what it followed is not known
                _ if !linked => Some(FindingKind::Missing),
                _ if !follows => Some(FindingKind::Contradiction),
                _ if number > 0 => Some(FindingKind::Skipped),
                _ => None,
            };
            if let Some(kind) = kind {
                self.find(kind, offset, before, Some(tick));
                unbroken &= kind == FindingKind::Skipped;
            }
            if unbroken && believed {
                let mut hash = [0; 32];
                hash.copy_from_slice(&payload[48..80]);
                self.bound.push((tick, hash));
            }
            tampered = !valid;
            self.entries += 1;
            link = Sha256::of(&chain_message("link", payload));
            before = Some(tick);
        }
    }

    /// Nothing is found but ticks that the signer itself left out, and a missing end.
    pub fn whole(&self) -> bool {
        self.found <= 1000 && self.findings.iter().all(|f| matches!(f.kind, FindingKind::Skipped | FindingKind::Open))
    }

    /// The state hash of a tick, if the tick has a bound entry.
    pub fn state_hash(&self, tick: u64) -> Option<Hash> {
        let at = self.bound.binary_search_by_key(&tick, |p| p.0).ok()?;
        Some(self.bound[at].1)
    }
}
