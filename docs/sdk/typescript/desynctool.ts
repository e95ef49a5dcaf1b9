// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

// desynctool.ts: desync forensics for a deterministic game, in one file of TypeScript without packages. The formats are written and read
// in browsers and in Node 18; a game is served to desynctool in Node. Types can be erased: Node 22.18 runs the file as it is, for others
// any compiler takes them out.
//
// In the order in which a game takes it in:
//
// 1. Describe the state: a World with a Table for each kind of entity. Before each hash a game fills the tables with what it has now.
//    World.stateHash is then the hash that peers compare.
//
//        const world = new World(), units = world.archetype("Infantry");
//        units.column("Health", "points", Type.I32);
//        units.column("Position", "x", Type.FIXED, 65536);
//        ...
//        units.fill(alive.map(u => u.id), alive.map(u => u.health), alive.map(u => u.x));
//
// 2. Write: a Recorder leaves all that a peer leaves: in a folder (openFolder) or, in a browser, in memory (MemoryFiles). In each tick
//    state and tick, and after each system system; when peers differ, snapshot and report. Session.facts describes the
//    machine; marker notes joins, leaves, saves, and loads.
// 3. Serve: give an object that is a Game to serve. Only what it has is announced.
// 4. Load: Game.load gets a World that was read and checked. It asks for tables and columns as for writing, checks values that it takes
//    for granted, and recomputes its caches.
// 5. `desynctool sim check --log s/host -- node mygame.js serve` lists what is not right yet.
//
// skirmish.ts next to this file is a whole small game. docs/snapshot.md, docs/merkle.md, docs/orderlog.md,
// docs/trace.md, docs/peer-report.md and docs/extsim.md describe the formats.
//
// Errors: Damaged is for bytes that are not what was expected, Refused for what a game does not do. A value that does not fit its column,
// or a name that is too long, is a RangeError.
//
// What it does not do: compressed snapshots, to write or to read. What a target is asked to load is not compressed.

/** An unsigned integer of 64 bits: a number where that is exact, else a bigint. Values that are read have this form,
    values that are given may have either. */
export type U64 = number | bigint;

/** Bytes that are not what was expected. */
export class Damaged extends Error {}

/** What a game does not do. The state is as it was. */
export class Refused extends Error {}

const MAX_U32 = 0xffffffff, TWO_32 = 0x100000000;
const MAX_NAME = 1024, MAX_TEXT = 65536, MAX_NAMES = 65536, MAX_PAYLOAD = 4 << 20;

// ---- Bytes and checksums

const utf8 = new TextEncoder(), strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

function encoded(text: string): Uint8Array {
    if (/[\ud800-\udfff]/u.test(text)) throw new RangeError("half of a surrogate pair in a text");
    return utf8.encode(text);
}

function u64(v: U64, what = "a number"): U64 {
    const fits = typeof v === "bigint" ? v >= 0n && v >> 64n === 0n : Number.isSafeInteger(v) && v >= 0;
    if (!fits) throw new RangeError(`${what} is ${v}, which is not an unsigned integer of 64 bits`);
    return typeof v === "bigint" && v <= Number.MAX_SAFE_INTEGER ? Number(v) : v;
}

function joined(low: number, high: number): U64 {
    return high < 1 << 21 ? high * TWO_32 + low : BigInt(high) << 32n | BigInt(low);
}

const hex = (b: Uint8Array): string => Array.from(b, (v) => v.toString(16).padStart(2, "0")).join("");
const hex64 = (v: U64): string => v.toString(16).padStart(16, "0");
const text10 = (v: U64): string => v.toString().padStart(10, "0");

function equal(a: Uint8Array, b: Uint8Array): boolean {
    if (a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
    return true;
}

/** Compares bytes as the formats order names. */
function compare(a: Uint8Array, b: Uint8Array): number {
    const n = Math.min(a.length, b.length);
    for (let i = 0; i < n; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
    return a.length - b.length;
}

function base64(b: Uint8Array): string {
    let binary = "";
    for (let i = 0; i < b.length; i += 8192) binary += String.fromCharCode(...b.subarray(i, i + 8192));
    return btoa(binary);
}

/** Bytes that grow, with little-endian integers and MessagePack. */
class Bytes {
    private array: Uint8Array = new Uint8Array(256);
    private view = new DataView(this.array.buffer);
    length = 0;

    /** Appends zero bytes and returns where they begin. */
    grow(n: number): number {
        const at = this.room(n);
        this.array.fill(0, at, at + n);
        return at;
    }

    /** Room for n bytes, and where it begins. It comes before `view` and `array` are used, which it may replace. */
    private room(n: number): number {
        const at = this.length;
        if (at + n > this.array.length) {
            const larger = new Uint8Array(Math.max(at + n, 2 * this.array.length));
            larger.set(this.array.subarray(0, at));
            this.array = larger;
            this.view = new DataView(larger.buffer);
        }
        this.length += n;
        return at;
    }

    clear(): this {
        this.length = 0;
        return this;
    }

    /** What is there now, without a copy. */
    bytes(from = 0, to = this.length): Uint8Array { return this.array.subarray(from, to); }

    u8(v: number): void { const at = this.room(1); this.view.setUint8(at, v); }
    u16(v: number): void { const at = this.room(2); this.view.setUint16(at, v, true); }
    u32(v: number): void { const at = this.room(4); this.view.setUint32(at, v, true); }
    f32(v: number): void { const at = this.room(4); this.view.setFloat32(at, v, true); }
    f64(v: number): void { const at = this.room(8); this.view.setFloat64(at, v, true); }
    putU32(at: number, v: number): void { this.view.setUint32(at, v, true); }
    orU8(at: number, v: number): void { this.array[at]! |= v; }

    /** A value of 64 bits, signed or not. */
    w64(v: U64): void {
        const at = this.room(8);
        if (typeof v === "bigint") {
            this.view.setBigInt64(at, v, true);
        } else {
            this.view.setUint32(at, v, true); // modulo 2^32
            this.view.setUint32(at + 4, Math.floor(v / TWO_32), true);
        }
    }

    raw(b: Uint8Array): void { const at = this.room(b.length); this.array.set(b, at); }

    /** Zero bytes up to the next multiple of 8 after n bytes. */
    pad(n: number): void { this.grow(-n & 7); }

    private head(code: number, v: number, width: number): void {
        this.u8(code);
        const at = this.room(width);
        if (width === 1) this.view.setUint8(at, v);
        else if (width === 2) this.view.setUint16(at, v);
        else this.view.setUint32(at, v);
    }

    private big64(v: U64): void {
        this.u8(0xcf);
        const at = this.room(8);
        this.view.setBigUint64(at, BigInt(v));
    }

    /** The shortest form. */
    uint(value: U64): void {
        const v = u64(value);
        if (typeof v === "bigint" || v > MAX_U32) this.big64(v);
        else if (v < 0x80) this.u8(v);
        else if (v <= 0xff) this.head(0xcc, v, 1);
        else if (v <= 0xffff) this.head(0xcd, v, 2);
        else this.head(0xce, v, 4);
    }

    uint32(v: number): void {
        if (u64(v) > MAX_U32) throw new RangeError(`${v} is not an unsigned integer of 32 bits`);
        this.uint(v);
    }

    // Forms of one length whatever the value is, for headers that are written before all is known.
    wide8(v: number): void { this.head(0xcc, v, 1); }
    wide32(v: number): void {
        if (u64(v) > MAX_U32) throw new RangeError(`${v} is not an unsigned integer of 32 bits`);
        this.head(0xce, v, 4);
    }
    wide64(v: U64): void { this.big64(u64(v)); }

    nil(): void { this.u8(0xc0); }
    bool(v: boolean): void { this.u8(v ? 0xc3 : 0xc2); }

    arrayHead(n: number): void {
        if (n < 16) this.u8(0x90 | n);
        else this.head(n <= 0xffff ? 0xdc : 0xdd, n, n <= 0xffff ? 2 : 4);
    }

    mapHead(n: number): void {
        if (n < 16) this.u8(0x80 | n);
        else this.head(n <= 0xffff ? 0xde : 0xdf, n, n <= 0xffff ? 2 : 4);
    }

    private sized(code: number, b: Uint8Array): void {
        const n = b.length <= 0xff ? 0 : b.length <= 0xffff ? 1 : 2;
        this.head(code + n, b.length, 1 << n);
        this.raw(b);
    }

    bin(b: Uint8Array): void { this.sized(0xc4, b); }

    str(text: string | Uint8Array): void {
        const b = typeof text === "string" ? encoded(text) : text;
        if (b.length >= 32) return this.sized(0xd9, b);
        this.u8(0xa0 | b.length);
        this.raw(b);
    }
}

const CRC_TABLES = ((): Int32Array[] => {
    const tables = Array.from({ length: 8 }, () => new Int32Array(256));
    for (let i = 0; i < 256; i++) {
        let c = i;
        for (let k = 0; k < 8; k++) c = c & 1 ? c >>> 1 ^ 0x82f63b78 : c >>> 1;
        tables[0]![i] = c;
    }
    for (let i = 0; i < 256; i++)
        for (let k = 1; k < 8; k++) tables[k]![i] = tables[k - 1]![i]! >>> 8 ^ tables[0]![tables[k - 1]![i]! & 255]!;
    return tables;
})();

/** The CRC-32C of bytes. */
export function crc32c(b: Uint8Array): number {
    const [t0, t1, t2, t3, t4, t5, t6, t7] = CRC_TABLES as [Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array];
    let c = -1, i = 0;
    for (; i + 8 <= b.length; i += 8) { // eight bytes at once
        c ^= b[i]! | b[i + 1]! << 8 | b[i + 2]! << 16 | b[i + 3]! << 24;
        c = t7[c & 255]! ^ t6[c >>> 8 & 255]! ^ t5[c >>> 16 & 255]! ^ t4[c >>> 24]! ^ t3[b[i + 4]!]! ^ t2[b[i + 5]!]! ^ t1[b[i + 6]!]! ^ t0[b[i + 7]!]!;
    }
    for (; i < b.length; i++) c = t0[(c ^ b[i]!) & 255]! ^ c >>> 8;
    return ~c >>> 0;
}

const SHA_K = new Int32Array([
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]);
const shaWords = new Int32Array(64), shaState = new Int32Array(8), shaTail = new Uint8Array(128);

function shaCompress(b: Uint8Array, at: number): void {
    const w = shaWords, h = shaState;
    for (let i = 0; i < 16; i++, at += 4) w[i] = b[at]! << 24 | b[at + 1]! << 16 | b[at + 2]! << 8 | b[at + 3]!;
    for (let i = 16; i < 64; i++) {
        const x = w[i - 15]!, y = w[i - 2]!;
        w[i] = w[i - 16]! + w[i - 7]! + ((x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3) + ((y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10);
    }
    let s0 = h[0]!, s1 = h[1]!, s2 = h[2]!, s3 = h[3]!, s4 = h[4]!, s5 = h[5]!, s6 = h[6]!, s7 = h[7]!;
    for (let i = 0; i < 64; i++) {
        const t = s7 + ((s4 >>> 6 | s4 << 26) ^ (s4 >>> 11 | s4 << 21) ^ (s4 >>> 25 | s4 << 7)) + (s4 & s5 ^ ~s4 & s6) + SHA_K[i]! + w[i]! | 0;
        const u = ((s0 >>> 2 | s0 << 30) ^ (s0 >>> 13 | s0 << 19) ^ (s0 >>> 22 | s0 << 10)) + (s0 & s1 ^ s0 & s2 ^ s1 & s2) | 0;
        s7 = s6; s6 = s5; s5 = s4; s4 = s3 + t | 0; s3 = s2; s2 = s1; s1 = s0; s0 = t + u | 0;
    }
    h[0]! += s0; h[1]! += s1; h[2]! += s2; h[3]! += s3; h[4]! += s4; h[5]! += s5; h[6]! += s6; h[7]! += s7;
}

/** SHA-256, at once: the SHA-256 of browsers answers later. */
export function sha256(b: Uint8Array): Uint8Array {
    shaState.set([0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19]);
    const rest = b.length & 63, whole = b.length - rest, last = rest < 56 ? 64 : 128;
    for (let at = 0; at < whole; at += 64) shaCompress(b, at);
    shaTail.fill(0);
    shaTail.set(b.subarray(whole));
    shaTail[rest] = 0x80;
    const view = new DataView(shaTail.buffer);
    view.setUint32(last - 8, Math.floor(b.length / (1 << 29)));
    view.setUint32(last - 4, b.length << 3);
    for (let at = 0; at < last; at += 64) shaCompress(shaTail, at);
    const out = new Uint8Array(32), words = new DataView(out.buffer);
    for (let i = 0; i < 8; i++) words.setInt32(4 * i, shaState[i]!);
    return out;
}

const scratch = new Bytes(); // of preimages: its content is used at once

/** The history hash at a point, of that at the point before, or null at the first one, and the state hash at the point. */
export function historyHash(history: Uint8Array | null, root: Uint8Array): Uint8Array {
    if (!history) return sha256(root);
    const p = scratch.clear();
    p.raw(history);
    p.raw(root.subarray(0, 8));
    return sha256(p.bytes());
}

/** @internal */
export function nameBytes(text: string, what: string): Uint8Array {
    const b = encoded(text);
    if (b.length < 1 || b.length > MAX_NAME) throw new RangeError(`a ${what} of ${b.length} bytes, expected 1 to ${MAX_NAME}`);
    return b;
}

function needsHash(b: Uint8Array, what: string): Uint8Array {
    if (b.length !== 32) throw new RangeError(`${what} of ${b.length} bytes, expected 32`);
    return b;
}

/** Reads MessagePack from bytes that need not be well-formed. scan comes first: after it every length is within the bytes. */
class Reader {
    readonly data: Uint8Array;
    readonly view: DataView;
    at: number;
    readonly end: number;

    constructor(data: Uint8Array, at = 0, end = data.length) {
        this.data = data;
        this.view = new DataView(data.buffer, data.byteOffset, data.byteLength);
        this.at = at;
        this.end = end;
    }

    byte(): number {
        if (this.at >= this.end) throw new Damaged("it ends inside a value");
        return this.data[this.at++]!;
    }

    take(n: number): Uint8Array {
        if (n > this.end - this.at) throw new Damaged("it ends inside a value");
        this.at += n;
        return this.data.subarray(this.at - n, this.at);
    }

    private big(width: number): number {
        let v = 0;
        for (const b of this.take(width)) v = v * 256 + b;
        return v;
    }

    /** Checks that one value fills the bytes, and goes back to its start. */
    scan(): void {
        const start = this.at;
        this.skip();
        if (this.at !== this.end) throw new Damaged("there are bytes after it");
        this.at = start;
    }

    /** Goes over one value, without recursion. */
    skip(): void {
        for (let values = 1; values > 0; values--) {
            const c = this.byte();
            let skip = 0, inside = 0;
            if (c < 0x80 || c >= 0xe0 || c === 0xc0 || c === 0xc2 || c === 0xc3) continue;
            if (c < 0xa0) inside = (c & 15) * (c < 0x90 ? 2 : 1);
            else if (c < 0xc0) skip = c & 31;
            else if (c >= 0xc4 && c <= 0xc6) skip = this.big(1 << c - 0xc4);
            else if (c >= 0xca && c <= 0xd3) skip = c < 0xcc ? 4 << c - 0xca : 1 << (c & 3);
            else if (c >= 0xd9 && c <= 0xdb) skip = this.big(1 << c - 0xd9);
            else if (c >= 0xdc) inside = this.big(2 << (c & 1)) * (c >= 0xde ? 2 : 1);
            else throw new Damaged("it has an extension or a code that does not occur");
            values += inside; // each takes a byte at least
            if (skip + values - 1 > this.end - this.at) throw new Damaged("it ends inside a value");
            this.at += skip;
        }
    }

    uint(what: string): U64 {
        const c = this.byte();
        if (c < 0x80) return c;
        if (c < 0xcc || c > 0xd3) throw new Damaged(`${what} is not an unsigned integer`);
        const width = 1 << (c & 3), b = this.take(width);
        if (c >= 0xd0 && b[0]! >= 0x80) throw new Damaged(`${what} is negative, not an unsigned integer`);
        let high = 0, low = 0;
        for (let i = 0; i < width; i++) {
            high = (high << 8 | low >>> 24) >>> 0;
            low = (low << 8 | b[i]!) >>> 0;
        }
        return joined(low, high);
    }

    /** An unsigned integer that a number holds. */
    number(what: string, most: number): number {
        const v = this.uint(what);
        if (typeof v === "bigint" || v > most) throw new Damaged(`${what} is ${v}, at most ${most}`);
        return v;
    }

    u32(what: string): number { return this.number(what, MAX_U32); }

    bool(what: string): boolean {
        const c = this.byte();
        if (c !== 0xc2 && c !== 0xc3) throw new Damaged(`${what} is not a bool`);
        return c === 0xc3;
    }

    /** Takes a nil if there is one. */
    nil(): boolean {
        const found = this.at < this.end && this.data[this.at] === 0xc0;
        if (found) this.at++;
        return found;
    }

    private count(what: string, small: number, code: number, most: number): number {
        const c = this.byte();
        if ((c & 0xf0) !== small && c !== code && c !== code + 1) throw new Damaged(`${what} is not ${small === 0x90 ? "an array" : "a map"}`);
        const n = (c & 0xf0) === small ? c & 15 : this.big(2 << c - code);
        if (n > most) throw new Damaged(`${what}: ${n} of them, at most ${most}`);
        return n;
    }

    array(what: string, most = MAX_U32): number { return this.count(what, 0x90, 0xdc, most); }
    map(what: string, most: number): number { return this.count(what, 0x80, 0xde, most); }

    tuple(n: number, what: string): void {
        const have = this.array(what);
        if (have !== n) throw new Damaged(`${what} has ${have} elements, expected ${n}`);
    }

    private sized(what: string, n: number, most: number): Uint8Array {
        if (n > most) throw new Damaged(`${what} of ${n} bytes, at most ${most}`);
        return this.take(n);
    }

    strBytes(what: string, most = MAX_TEXT): Uint8Array {
        const c = this.byte();
        if ((c & 0xe0) !== 0xa0 && (c < 0xd9 || c > 0xdb)) throw new Damaged(`${what} is not a string`);
        return this.sized(what, (c & 0xe0) === 0xa0 ? c & 31 : this.big(1 << c - 0xd9), most);
    }

    /** What is not UTF-8 is replaced. */
    str(what: string, most = MAX_TEXT): string { return lenient.decode(this.strBytes(what, most)); }

    /** A name, which has to be UTF-8. */
    name(what: string): string {
        try {
            return strict.decode(this.strBytes(what, MAX_NAME));
        } catch (e) {
            if (e instanceof Damaged) throw e;
            throw new Damaged(`${what} is not UTF-8`);
        }
    }

    bin(what: string, most = MAX_U32): Uint8Array {
        const c = this.byte();
        if (c < 0xc4 || c > 0xc6) throw new Damaged(`${what} is not bytes`);
        return this.sized(what, this.big(1 << c - 0xc4), most);
    }

    hash(what: string): Uint8Array {
        const b = this.bin(what, 32);
        if (b.length !== 32) throw new Damaged(`${what} of ${b.length} bytes, expected 32`);
        return b;
    }
}

// ---- The state

/** Types of columns. The numbers belong to the file format. FIXED is an integer in units of 1/scale, REF the key of
    another entity. */
export const Type = {
    BOOL: 1, I8: 2, I16: 3, I32: 4, I64: 5, U8: 6, U16: 7, U32: 8, U64: 9, F32: 10, F64: 11, FIXED: 12, STRING: 13, BYTES: 14, REF: 15,
} as const;
export type Type = typeof Type[keyof typeof Type];

/** Archetypes are hashed; caches (derived data) and noise (known to differ in sync) are not. */
export const TableClass = { ARCHETYPE: 0, CACHE: 1, NOISE: 2 } as const;
export type TableClass = typeof TableClass[keyof typeof TableClass];

const WIDTHS = [0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 0, 0, 8]; // 0 for strings and bytes
const TYPE_NAMES = Object.keys(Type).map((name) => name.toLowerCase()), CLASS_NAMES = ["archetype", "cache", "noise"];
const LEAST: readonly number[] = [0, 0, -128, -32768, -0x80000000, 0, 0, 0, 0], MOST: readonly number[] = [0, 1, 127, 32767, 0x7fffffff, 0, 255, 65535, MAX_U32];
const MAX_BLOCK = 65536, MAX_CELL = 256 << 20;

/** A value of a column, null or undefined where it is absent. Columns of 64 bits take numbers that are exact, and bigints. */
export type Value = boolean | number | bigint | string | Uint8Array | null | undefined;
export type Key = U64 | readonly [U64, U64];

/** The canonical bytes and the digests of the blocks of one column, or of the keys. */
class Cells {
    blocks: Uint8Array[] = []; // one that did not change stays the same object
    digests: (Uint8Array | null)[] = []; // null until it is sealed
    digest: Uint8Array = new Uint8Array(0);
    private stale = true;

    /** Takes over the block of a number; what did not change is not hashed again. */
    put(number: number, block: Uint8Array): void {
        if (block.length > MAX_CELL) throw new RangeError(`a block of ${block.length} bytes, at most ${MAX_CELL}`);
        const old = this.blocks[number];
        if (old && equal(old, block)) return;
        this.blocks[number] = block.slice();
        this.digests[number] = null;
        this.stale = true;
    }

    /** How many there are now. */
    cut(blocks: number): void {
        if (blocks === this.blocks.length) return;
        this.blocks.length = this.digests.length = blocks;
        this.stale = true;
    }

    seal(head: (p: Bytes) => void, names: Uint8Array[]): Uint8Array {
        if (!this.stale) return this.digest;
        for (let i = 0; i < this.blocks.length; i++) this.digests[i] ??= sha256(this.blocks[i]!);
        const p = scratch.clear();
        head(p);
        p.u32(this.blocks.length);
        for (const name of names) p.raw(name);
        for (const digest of this.digests) p.raw(digest!);
        this.digest = sha256(p.bytes());
        this.stale = false;
        return this.digest;
    }
}

/** One field of a component. Table.fill gives it values, values returns them. */
export class Column {
    readonly component: string;
    readonly field: string;
    readonly type: Type;
    readonly scale: number;
    /** @internal */ readonly names: [Uint8Array, Uint8Array];
    /** @internal */ readonly cells = new Cells();
    /** @internal */ readonly width: number;

    constructor(component: string, field: string, type: Type, scale = 0) {
        if (!(type >= Type.BOOL && type <= Type.REF)) throw new RangeError("there is no such type");
        if ((type === Type.FIXED) !== (scale !== 0) || u64(scale) > MAX_U32) throw new RangeError("fixed columns have a scale, others have none");
        this.component = component;
        this.field = field;
        this.type = type;
        this.scale = scale;
        this.names = [nameBytes(component, "component"), nameBytes(field, "field")];
        this.width = WIDTHS[type]!;
    }

    toString(): string { return `${this.component}.${this.field} ${TYPE_NAMES[this.type - 1]}`; }

    /** @internal Takes the values of the rows of a block: those from `from` to `to`, in an order if there is one. */
    take(number: number, values: ArrayLike<Value>, order: Uint32Array | null, from: number, to: number): void {
        const b = fillScratch.clear(), n = to - from;
        const value = (i: number): Value => values[order ? order[i]! : i];
        let absent = false;
        for (let i = from; i < to && !absent; i++) absent = value(i) == null;
        b.u8(4); b.u8(absent ? 1 : 0); b.u16(0); b.u32(n);
        if (absent) {
            const map = b.grow(n + 7 >> 3);
            for (let i = 0; i < n; i++) if (value(from + i) != null) b.orU8(map + (i >> 3), 1 << (i & 7));
        }
        if (this.width) {
            for (let i = from; i < to; i++) this.put(b, value(i) ?? 0);
        } else {
            const contents: Uint8Array[] = [];
            for (let i = from; i < to; i++) contents.push(this.content(value(i)));
            for (const content of contents) b.u32(content.length);
            for (const content of contents) b.raw(content);
        }
        this.cells.put(number, b.bytes());
    }

    private unfit(v: Value): RangeError { return new RangeError(`${this} does not hold ${typeof v === "string" ? JSON.stringify(v) : v}`); }

    private content(v: Value): Uint8Array {
        if (v == null) return new Uint8Array(0);
        if (typeof v === "string" && this.type === Type.STRING) return encoded(v);
        if (!(v instanceof Uint8Array)) throw this.unfit(v);
        return v;
    }

    private put(b: Bytes, v: Value): void {
        const type = this.type;
        if (type === Type.F32 || type === Type.F64) {
            if (typeof v !== "number") throw this.unfit(v);
            if (type === Type.F32) b.f32(v); else b.f64(v);
        } else if (this.width === 8) {
            const signed = type === Type.I64 || type === Type.FIXED;
            const fits = typeof v === "number" ? Number.isSafeInteger(v) && (signed || v >= 0)
                : typeof v === "bigint" && (signed ? BigInt.asIntN(64, v) : BigInt.asUintN(64, v)) === v;
            if (!fits) throw this.unfit(v);
            b.w64(v as U64);
        } else {
            if (type === Type.BOOL && typeof v === "boolean") v = v ? 1 : 0;
            if (typeof v !== "number" || !Number.isInteger(v) || v < LEAST[type]! || v > MOST[type]!) throw this.unfit(v);
            if (this.width === 1) b.u8(v); else if (this.width === 2) b.u16(v); else b.u32(v);
        }
    }

    /** The values row by row, in the order of keys. An absent one is null, one of STRING is text or, if it is not UTF-8, bytes; one of 64 bits
        is a number where that is exact, else a bigint. */
    get values(): (boolean | number | bigint | string | Uint8Array | null)[] {
        const out = [];
        for (const block of this.cells.blocks) {
            const view = new DataView(block.buffer, block.byteOffset, block.byteLength), n = view.getUint32(4, true);
            let at = 8 + (block[1] ? n + 7 >> 3 : 0), content = at + 4 * n;
            for (let i = 0; i < n; i++) {
                const there = !block[1] || block[8 + (i >> 3)]! >> (i & 7) & 1;
                if (this.width) {
                    out.push(there ? this.get(view, at) : null);
                    at += this.width;
                } else {
                    const length = view.getUint32(at, true), b = block.slice(content, content + length);
                    out.push(there ? this.type === Type.STRING ? textOrBytes(b) : b : null);
                    at += 4;
                    content += length;
                }
            }
        }
        return out;
    }

    private get(view: DataView, at: number): boolean | number | bigint {
        switch (this.type) {
            case Type.BOOL: return view.getUint8(at) !== 0;
            case Type.I8: return view.getInt8(at);
            case Type.I16: return view.getInt16(at, true);
            case Type.I32: return view.getInt32(at, true);
            case Type.U8: return view.getUint8(at);
            case Type.U16: return view.getUint16(at, true);
            case Type.U32: return view.getUint32(at, true);
            case Type.F32: return view.getFloat32(at, true);
            case Type.F64: return view.getFloat64(at, true);
        }
        const signed = this.type === Type.I64 || this.type === Type.FIXED;
        const exact = (signed ? view.getInt32(at + 4, true) : view.getUint32(at + 4, true)) * TWO_32 + view.getUint32(at, true);
        return Number.isSafeInteger(exact) ? exact : signed ? view.getBigInt64(at, true) : view.getBigUint64(at, true);
    }

    /** @internal */
    seal(): Uint8Array {
        return this.cells.seal((p) => {
            p.u8(6); p.u8(this.type); p.u16(0); p.u32(this.scale); p.u32(this.names[0].length); p.u32(this.names[1].length);
        }, this.names);
    }

    /** @internal Throws Damaged if a block that was read is not the canonical bytes of so many rows. */
    check(block: Uint8Array, rows: number): void {
        const bad = new Damaged(`a block of ${this} is malformed`);
        const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
        if (block.length < 8 || block[0] !== 4 || block[1]! > 1 || view.getUint16(2) || view.getUint32(4, true) !== rows) throw bad;
        const at = 8 + (block[1] ? rows + 7 >> 3 : 0), contents = at + (this.width || 4) * rows;
        if (block.length < contents || this.width && block.length !== contents) throw bad;
        let total = 0;
        if (!this.width) for (let i = 0; i < rows; i++) total += view.getUint32(at + 4 * i, true);
        if (contents + total !== block.length) throw bad;
        if (this.type === Type.BOOL) for (let i = at; i < contents; i++) if (block[i]! > 1) throw bad;
        if (!block[1]) return;
        let absent = 0;
        for (let i = 0; i < rows; i++) {
            if (block[8 + (i >> 3)]! >> (i & 7) & 1) continue;
            absent++;
            const width = this.width || 4;
            for (let k = at + i * width; k < at + (i + 1) * width; k++) if (block[k]) throw bad;
        }
        if (!absent || rows & 7 && block[at - 1]! >> (rows & 7)) throw bad;
    }
}

const fillScratch = new Bytes(); // of a block; its digest is taken later

function textOrBytes(b: Uint8Array): string | Uint8Array {
    try {
        return strict.decode(b);
    } catch {
        return b;
    }
}

/** @internal The upper 32 bits of a product. */
export function mulHigh(a: number, b: number): number {
    const a0 = a & 0xffff, a1 = a >>> 16, b0 = b & 0xffff, b1 = b >>> 16;
    const middle = a1 * b0 + (a0 * b0 >>> 16);
    return a1 * b1 + (middle >>> 16) + (a0 * b1 + (middle & 0xffff) >>> 16) | 0;
}

/** Whether a key begins a block: the low 32 bits of its parts, and the high ones. */
function beginsBlock(a: number, aHigh: number, b: number, bHigh: number): boolean {
    const first = Math.imul(a, 0x7f4a7c15) >>> 0, second = Math.imul(b, 0x27d4eb4f) >>> 0;
    let low = first + second, high = mulHigh(a, 0x7f4a7c15) + Math.imul(a, 0x9e3779b9) + Math.imul(aHigh, 0x7f4a7c15) | 0;
    high = high + mulHigh(b, 0x27d4eb4f) + Math.imul(b, 0xc2b2ae3d) + Math.imul(bHigh, 0x27d4eb4f) + (low > MAX_U32 ? 1 : 0) | 0;
    low = (low | 0) ^ high;
    high = mulHigh(low >>> 0, 0x6659fd93) + Math.imul(low, 0xd6e8feb8) + Math.imul(high, 0x6659fd93);
    return ((Math.imul(low, 0x6659fd93) ^ high) & 4095) === 0;
}

const nameKey = (component: string, field: string): string => `${component.length}:${component}${field}`;

/** Rows with unique keys, and columns. Declare the columns once. fill then replaces all rows. A table that is not filled again keeps its
    rows, and is not hashed again. */
export class Table {
    readonly label: string;
    readonly cls: TableClass;
    readonly keyParts: number;
    /** The number of rows. */
    rows = 0;
    /** @internal */ readonly labelBytes: Uint8Array;
    /** @internal */ whole = false; // it was read: no columns are made
    /** @internal */ leaf: Uint8Array = new Uint8Array(32);
    /** @internal */ starts: number[] = [0]; // of blocks, and after the last one
    /** @internal */ readonly cells = new Cells();
    /** @internal */ words: Uint32Array = new Uint32Array(0); // of keys: the low half of a part, then the high one
    private readonly declared: Column[] = [];
    private byNames: Column[] | null = null; // null until they are asked for
    private readonly byName = new Map<string, Column>();
    private sealed = false;

    constructor(label: string, cls: TableClass, keyParts = 1) {
        if (keyParts !== 1 && keyParts !== 2) throw new RangeError("keys have one part or two");
        this.label = label;
        this.cls = cls;
        this.keyParts = keyParts;
        this.labelBytes = nameBytes(label, "label");
    }

    toString(): string { return `${CLASS_NAMES[this.cls]} "${this.label}"`; }

    /** The columns by component, then field. */
    get columns(): readonly Column[] { return this.sorted; }

    private get sorted(): Column[] {
        return this.byNames ??= this.declared.slice().sort((a, b) => compare(a.names[0], b.names[0]) || compare(a.names[1], b.names[1]));
    }

    /** The keys, ascending: pairs where they have two parts. */
    get keys(): Key[] {
        const out: Key[] = [], w = this.words;
        for (let i = 0; i < this.rows; i++)
            out.push(this.keyParts === 1 ? joined(w[2 * i]!, w[2 * i + 1]!) : [joined(w[4 * i]!, w[4 * i + 1]!), joined(w[4 * i + 2]!, w[4 * i + 3]!)]);
        return out;
    }

    /** The column of that name, made if there is none. In a table that was read nothing is made: a missing column is
        Refused. */
    column(component: string, field: string, type: Type, scale = 0): Column {
        const c = this.byName.get(nameKey(component, field));
        if (c && c.type === type && c.scale === scale) return c;
        if (this.whole) throw new Refused(`the state has no ${TYPE_NAMES[type - 1]} ${this.label}.${component}.${field}`);
        if (c) throw new RangeError(`${this}: ${c} has another type`);
        if (this.rows) throw new RangeError(`${this}: columns are declared before the rows`);
        if (this.declared.length === MAX_NAMES) throw new RangeError(`${this}: too many columns`);
        return this.add(new Column(component, field, type, scale));
    }

    /** @internal */
    add(c: Column): Column {
        this.declared.push(c);
        this.byName.set(nameKey(c.component, c.field), c);
        this.byNames = null;
        this.sealed = false;
        return c;
    }

    /** Replaces all rows: their keys, unique and in any order, and the values of each column, in the order of declaration. Typed arrays will do. */
    fill(keys: ArrayLike<Key>, ...values: ArrayLike<Value>[]): void {
        if (this.whole) throw new RangeError(`${this} was read, and is not filled`);
        if (values.length !== this.declared.length || values.some((list) => list.length !== keys.length))
            throw new RangeError(`${this}: expected ${this.declared.length} lists of ${keys.length} values`);
        const words = this.split(keys), order = this.order(words, keys.length);
        this.rekey(order ? this.permuted(words, order) : words, keys.length);
        for (let c = 0; c < values.length; c++) {
            for (let b = 0; b + 1 < this.starts.length; b++) this.declared[c]!.take(b, values[c]!, order, this.starts[b]!, this.starts[b + 1]!);
            this.declared[c]!.cells.cut(this.starts.length - 1);
        }
        this.sealed = false;
    }

    private split(keys: ArrayLike<Key>): Uint32Array {
        const words = new Uint32Array(2 * this.keyParts * keys.length);
        let at = 0;
        const put = (part: U64): void => {
            const v = u64(part, "a key");
            words[at++] = typeof v === "number" ? v : Number(v & 0xffffffffn);
            words[at++] = typeof v === "number" ? Math.floor(v / TWO_32) : Number(v >> 32n);
        };
        for (let i = 0; i < keys.length; i++) {
            const key = keys[i]!;
            if ((typeof key === "object") !== (this.keyParts === 2)) throw new RangeError(`${this} has keys of ${this.keyParts} parts`);
            if (typeof key === "object") {
                put(key[0]);
                put(key[1]);
            } else put(key);
        }
        return words;
    }

    private compareRows(words: Uint32Array, i: number, k: number): number {
        const n = 2 * this.keyParts;
        for (let part = 0; part < n; part += 2) {
            const d = words[n * i + part + 1]! - words[n * k + part + 1]! || words[n * i + part]! - words[n * k + part]!;
            if (d) return d;
        }
        return 0;
    }

    /** The rows in the order of their keys, null if they are in it. */
    private order(words: Uint32Array, rows: number): Uint32Array | null {
        let ascends = true;
        for (let i = 1; i < rows && ascends; i++) ascends = this.compareRows(words, i - 1, i) < 0;
        if (ascends) return null;
        const order = Uint32Array.from({ length: rows }, (_, i) => i).sort((i, k) => this.compareRows(words, i, k));
        for (let i = 1; i < rows; i++) if (!this.compareRows(words, order[i - 1]!, order[i]!)) throw new RangeError(`${this}: a key occurs twice`);
        return order;
    }

    private permuted(words: Uint32Array, order: Uint32Array): Uint32Array {
        const n = 2 * this.keyParts, out = new Uint32Array(words.length);
        order.forEach((from, i) => out.set(words.subarray(n * from, n * from + n), n * i));
        return out;
    }

    private rekey(words: Uint32Array, rows: number): void {
        const n = 2 * this.keyParts;
        let same = rows === this.rows;
        for (let i = 0; i < words.length && same; i++) same = words[i] === this.words[i];
        if (same) return;
        this.words = words;
        this.rows = rows;
        this.starts = rows ? [0] : [];
        for (let i = 1, at = 0; i < rows; i++) {
            const w = n * i;
            if (i - at !== MAX_BLOCK && !beginsBlock(words[w]!, words[w + 1]!, n === 4 ? words[w + 2]! : 0, n === 4 ? words[w + 3]! : 0)) continue;
            this.starts.push(i);
            at = i;
        }
        this.starts.push(rows);
        for (let b = 0; b + 1 < this.starts.length; b++) this.cells.put(b, this.keyBlock(this.starts[b]!, this.starts[b + 1]!));
        this.cells.cut(this.starts.length - 1);
    }

    private keyBlock(from: number, to: number): Uint8Array {
        const b = fillScratch.clear(), n = 2 * this.keyParts;
        b.u8(3); b.u8(this.keyParts); b.u16(0); b.u32(to - from);
        for (let part = 0; part < n; part += 2)
            for (let i = from; i < to; i++) {
                b.u32(this.words[n * i + part]!);
                b.u32(this.words[n * i + part + 1]!);
            }
        return b.bytes();
    }

    /** @internal The leaf hash. */
    seal(): Uint8Array {
        if (this.sealed) return this.leaf;
        const keys = this.cells.seal((p) => { p.u8(5); p.u8(this.keyParts); p.u16(0); }, []);
        for (const c of this.sorted) c.seal();
        const p = scratch.clear();
        p.u8(2); p.u32(this.labelBytes.length); p.u32(1 + this.sorted.length); p.w64(this.rows);
        p.raw(this.labelBytes); p.pad(this.labelBytes.length);
        p.raw(keys);
        for (const c of this.sorted) p.raw(c.cells.digest);
        this.leaf = sha256(p.bytes());
        this.sealed = true;
        return this.leaf;
    }

    /** The parts of the keys of the first rows of blocks, as the index has them. */
    private firsts(part: number): Uint8Array {
        const b = new Bytes(), n = 2 * this.keyParts;
        for (const row of part < this.keyParts ? this.starts.slice(0, -1) : []) {
            b.u32(this.words[n * row + 2 * part]!);
            b.u32(this.words[n * row + 2 * part + 1]!);
        }
        return b.bytes();
    }

    /** @internal Appends the cells and the index of a sealed table. Returns offset and length of the index. */
    encode(file: Bytes): [number, number] {
        const first = file.length, all = [this.cells, ...this.sorted.map((c) => c.cells)], blocks = this.starts.length - 1;
        const rows = new Bytes(), digests = new Bytes(), lengths = new Bytes(), codecs = new Bytes(), crcs = new Bytes();
        for (let b = 0; b < blocks; b++) {
            rows.u32(this.starts[b + 1]! - this.starts[b]!);
            for (const cells of all) {
                file.raw(cells.blocks[b]!);
                digests.raw(cells.digests[b]!);
                lengths.u32(cells.blocks[b]!.length);
                codecs.u8(0);
                crcs.u32(crc32c(cells.blocks[b]!));
            }
        }
        const index = file.length;
        file.arrayHead(4);
        file.wide64(first);
        file.bin(this.cells.digest);
        file.arrayHead(this.sorted.length);
        for (const c of this.sorted) {
            file.arrayHead(5);
            file.str(c.names[0]);
            file.str(c.names[1]);
            file.wide8(c.type);
            file.wide32(c.scale);
            file.bin(c.cells.digest);
        }
        file.arrayHead(8); // canonical and stored lengths are the same
        for (const bin of [this.firsts(0), this.firsts(1), rows.bytes(), digests.bytes(), lengths.bytes(), lengths.bytes(), codecs.bytes(), crcs.bytes()]) file.bin(bin);
        file.u32(crc32c(file.bytes(index)));
        return [index, file.length - index];
    }

    /** @internal Reads a table with cells that begin at an offset and an index from index to end, with all its digests
        but the leaf. */
    decode(data: Uint8Array, at: number, index: number, end: number, rows: U64): void {
        const r = new Reader(data, index, end - 4);
        if (crc32c(data.subarray(index, end - 4)) !== r.view.getUint32(end - 4, true)) throw new Damaged("the index fails its checksum");
        r.scan();
        r.tuple(4, "index");
        if (r.uint("offset of the first cell") !== at) throw new Damaged("its cells are not where they have to be");
        const wanted = [r.hash("keys digest")], columns: Column[] = [];
        for (let n = r.array("columns", MAX_NAMES); n > 0; n--) {
            r.tuple(5, "column");
            columns.push(new Column(r.name("component"), r.name("field"), r.number("type", Type.REF) as Type, r.u32("scale")));
            wanted.push(r.hash("column digest"));
        }
        for (let i = 1; i < columns.length; i++) {
            const a = columns[i - 1]!.names, b = columns[i]!.names;
            if ((compare(a[0], b[0]) || compare(a[1], b[1])) >= 0) throw new Damaged("columns do not ascend");
        }
        r.tuple(8, "blocks");
        const bins = Array.from({ length: 8 }, () => r.bin("blocks")), parts = wanted.length, blocks = Math.floor(bins[2]!.length / 4), cells = blocks * parts;
        [8 * blocks, 8 * blocks * (this.keyParts - 1), 4 * blocks, 32 * cells, 4 * cells, 4 * cells, cells, 4 * cells].forEach((length, i) => {
            if (bins[i]!.length !== length) throw new Damaged("the index does not fit together");
        });
        const [counts, lengths, stored, crcs] = [2, 4, 5, 7].map((i) => new Reader(bins[i]!).view) as [DataView, DataView, DataView, DataView];
        let total = 0;
        for (let b = 0; b < blocks; b++) total += counts.getUint32(4 * b, true);
        if (total !== rows) throw new Damaged(`${total} rows, expected ${rows}`);
        const content: Uint8Array[] = [];
        for (let i = 0; i < cells; i++) {
            const n = stored.getUint32(4 * i, true);
            if (bins[6]![i]) throw new Damaged("a cell is compressed with zstd, which is not read here");
            if (n > index - at || n !== lengths.getUint32(4 * i, true)) throw new Damaged("a cell has another length, or is outside the file");
            content.push(data.subarray(at, at + n));
            if (crc32c(content[i]!) !== crcs.getUint32(4 * i, true)) throw new Damaged("a cell fails its checksum");
            at += n;
        }
        if (at !== index) throw new Damaged("something stands between its cells and its index");

        for (const c of columns) this.add(c);
        this.readKeys(content.filter((_, i) => i % parts === 0), counts, total);
        for (let b = 0; b < blocks; b++)
            columns.forEach((c, k) => {
                c.check(content[b * parts + k + 1]!, counts.getUint32(4 * b, true));
                c.cells.put(b, content[b * parts + k + 1]!);
            });
        this.whole = true;
        this.seal();
        [this.cells, ...columns.map((c) => c.cells)].forEach((c, k) => {
            const same = equal(c.digest, wanted[k]!) && c.digests.every((digest, b) => equal(digest!, bins[3]!.subarray(32 * (b * parts + k), 32 * (b * parts + k) + 32)));
            if (!same) throw new Damaged("its content does not give the digests that the index has");
        });
        if (!equal(this.firsts(0), bins[0]!) || !equal(this.firsts(1), bins[1]!)) throw new Damaged("a block has another first key than the index has");
    }

    private readKeys(blocks: Uint8Array[], counts: DataView, rows: number): void {
        const n = 2 * this.keyParts;
        blocks.forEach((block, b) => { // before anything is allocated
            if (block.length !== 8 + 8 * this.keyParts * counts.getUint32(4 * b, true)) throw new Damaged("a block of keys is malformed");
        });
        const words = new Uint32Array(n * rows);
        let row = 0;
        blocks.forEach((block, b) => {
            const count = counts.getUint32(4 * b, true), view = new DataView(block.buffer, block.byteOffset, block.byteLength);
            for (let i = 0; i < count; i++, row++)
                for (let part = 0; part < n; part++) words[n * row + part] = view.getUint32(8 + 8 * count * (part >> 1) + 8 * i + 4 * (part & 1), true);
        });
        for (let i = 1; i < rows; i++) if (this.compareRows(words, i - 1, i) >= 0) throw new Damaged("keys do not ascend");
        this.rekey(words, rows);
        const asRead = this.cells.blocks.length === blocks.length && this.cells.blocks.every((block, b) => equal(block, blocks[b]!));
        if (!asRead) throw new Damaged("a block of keys is malformed, or blocks are cut elsewhere than the rule says");
    }
}

/** One peer's state: typed tables, kept from tick to tick and filled again for each hash. What decides the future of
    the game belongs into rng, the state of its random numbers (at most 65536 bytes; null if it has none), and into
    archetypes. */
export class World {
    rng: Uint8Array | null = null;
    /** @internal */ whole = false;
    private readonly list: Table[] = []; // by class, then label

    /** The tables by class, then label. */
    get tables(): readonly Table[] { return this.list; }

    /** The table of that class and label, undefined if there is none. */
    find(cls: TableClass, label: string): Table | undefined { return this.list.find((t) => t.cls === cls && t.label === label); }

    /** The table of that class and label, made if there is none. In a world that was read nothing is made: a missing
        table is Refused. */
    table(cls: TableClass, label: string, keyParts = 1): Table {
        const found = this.find(cls, label);
        if (!found && !this.whole) {
            if (this.list.length === MAX_NAMES) throw new RangeError("too many tables");
            const t = new Table(label, cls, keyParts);
            this.list.push(t);
            this.list.sort((a, b) => a.cls - b.cls || compare(a.labelBytes, b.labelBytes));
            return t;
        }
        if (found && found.keyParts === keyParts) return found;
        const why = `there is no ${CLASS_NAMES[cls]} "${label}" with keys of ${keyParts} parts`;
        throw this.whole ? new Refused(why) : new RangeError(why);
    }

    archetype(label: string, keyParts = 1): Table { return this.table(TableClass.ARCHETYPE, label, keyParts); }
    cache(label: string, keyParts = 1): Table { return this.table(TableClass.CACHE, label, keyParts); }
    noise(label: string, keyParts = 1): Table { return this.table(TableClass.NOISE, label, keyParts); }

    /** @internal */
    append(t: Table): void { this.list.push(t); }

    /** The leaves of the tree with their hashes: the RNG under the empty label, if there is one, then each archetype. */
    leaves(): [label: string, hash: Uint8Array][] {
        const out: [string, Uint8Array][] = [];
        if (this.rng) {
            if (this.rng.length > 65536) throw new RangeError(`an RNG state of ${this.rng.length} bytes, at most 65536`);
            const p = scratch.clear();
            p.u8(1); p.u32(this.rng.length); p.u32(0); p.raw(this.rng); p.pad(this.rng.length);
            out.push(["", sha256(p.bytes())]);
        }
        for (const t of this.list) if (t.cls === TableClass.ARCHETYPE) out.push([t.label, t.seal()]);
        return out;
    }

    /** The Merkle root, 32 bytes. The first 8 are the sync hash. */
    stateHash(): Uint8Array { return merkleRoot(this.leaves().map(([, hash]) => hash)); }
}

function merkleRoot(level: Uint8Array[]): Uint8Array {
    if (!level.length) return sha256(new Uint8Array(0));
    while (level.length > 1) {
        const above: Uint8Array[] = [];
        for (let i = 0; i < level.length; i += 2) {
            const p = scratch.clear();
            p.raw(level[i]!);
            if (level[i + 1]) p.raw(level[i + 1]!);
            above.push(level[i + 1] ? sha256(p.bytes()) : level[i]!); // an odd one is promoted
        }
        level = above;
    }
    return level[0]!;
}

// ---- Snapshots

/** Which state a snapshot holds: state point `tick` is the state before the orders of that tick. */
export interface Point {
    seed: U64;
    tick: U64;
    phase?: string; // or "after-orders", inside the tick
    native?: string; // the engine's name of the point, if it has one
    peer?: string;
    epoch?: number;
    history?: Uint8Array | null; // history hash of 32 bytes, null if it is not known
    properties?: Record<string, string>;
}

const SNAP_MAGIC = new Uint8Array([0x89, 0x53, 0x4e, 0x41, 0x50, 0x0d, 0x0a, 0x1a]), SNAP_END = utf8.encode("SNAP.END");
const MAX_HEADER = 16 << 20, MAX_PROPERTIES = 4096, MAX_RNG = 65536;

/** The pairs of a record by their keys as bytes. */
function sortedPairs(record: Record<string, string>): [Uint8Array, string][] {
    return Object.entries(record).map(([key, value]): [Uint8Array, string] => [encoded(key), value]).sort((a, b) => compare(a[0], b[0]));
}

function snapHeader(o: Bytes, rng: Uint8Array | null, tables: readonly Table[], at: Point, root: Uint8Array, places: [number, number][]): void {
    const properties = sortedPairs(at.properties ?? {}), phase = at.phase ?? "";
    if (phase !== "" && phase !== "after-orders") throw new RangeError(`there is no phase ${JSON.stringify(phase)}`);
    if (properties.length > MAX_PROPERTIES) throw new RangeError(`${properties.length} properties, at most ${MAX_PROPERTIES}`);
    for (const name of [encoded(at.native ?? ""), encoded(at.peer ?? ""), ...properties.map(([key]) => key)])
        if (name.length > MAX_NAME) throw new RangeError(`a name of ${name.length} bytes, at most ${MAX_NAME}`);
    o.arrayHead(11);
    o.wide64(at.seed);
    o.wide64(at.tick);
    o.str(phase);
    o.str(at.native ?? "");
    o.str(at.peer ?? "");
    o.wide32(at.epoch ?? 0);
    if (rng) o.bin(rng); else o.nil();
    if (at.history) o.bin(needsHash(at.history, "a history hash")); else o.nil();
    o.bin(root);
    o.mapHead(properties.length);
    for (const [key, value] of properties) {
        o.str(key);
        o.str(value);
    }
    o.arrayHead(tables.length);
    tables.forEach((t, i) => {
        o.arrayHead(7);
        o.wide8(t.cls);
        o.str(t.labelBytes);
        o.wide64(t.rows);
        o.wide8(t.keyParts);
        o.bin(t.leaf);
        o.wide64(places[i]![0]);
        o.wide32(places[i]![1]);
    });
}

function encodeTables(rng: Uint8Array | null, tables: readonly Table[], at: Point, root: Uint8Array): Uint8Array {
    for (const t of tables) t.seal();
    const file = new Bytes(), header = new Bytes();
    snapHeader(header, rng, tables, at, root, tables.map(() => [0, 0])); // its length does not depend on the numbers
    if (header.length > MAX_HEADER) throw new RangeError(`a header of ${header.length} bytes, at most ${MAX_HEADER}`);
    file.grow(32 + header.length);
    const places = tables.map((t) => t.encode(file));
    file.raw(SNAP_END);
    snapHeader(header.clear(), rng, tables, at, root, places);
    const preamble = new Bytes();
    preamble.raw(SNAP_MAGIC); preamble.u16(1); preamble.u16(0); preamble.u32(header.length); preamble.u32(crc32c(header.bytes())); preamble.w64(file.length);
    preamble.u32(crc32c(preamble.bytes()));
    const out = file.bytes().slice();
    out.set(preamble.bytes());
    out.set(header.bytes(), 32);
    return out;
}

/** The bytes of a .snap, not compressed. */
export function encodeSnapshot(world: World, at: Point): Uint8Array { return encodeTables(world.rng, world.tables, at, world.stateHash()); }

/** The name of a snapshot's file: desync_SEED_TICK.snap. */
export function snapshotName(at: Point): string { return `desync_${hex64(at.seed)}_${text10(at.tick)}.snap`; }

/** Reads a .snap without compressed cells and checks it whole, up to the state hash. Throws Damaged if it is damaged,
    compressed, or of another version. Values are unpacked when they are asked for. */
export function decodeSnapshot(data: Uint8Array): { at: Required<Point>; world: World } {
    if (data.length < 8 || !equal(data.subarray(0, 8), SNAP_MAGIC)) throw new Damaged("not a .snap");
    if (data.length < 32) throw new Damaged("torn in the preamble");
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    if (view.getUint32(28, true) !== crc32c(data.subarray(0, 28))) throw new Damaged("the preamble fails its checksum");
    if (view.getUint32(8, true) !== 1) throw new Damaged("not version 1, or flags that are not known");
    if (view.getBigUint64(20, true) !== BigInt(data.length)) throw new Damaged(`${data.length} bytes of a file of ${view.getBigUint64(20, true)}`);
    const headerLength = view.getUint32(12, true), end = data.length - SNAP_END.length; // end: after the last index
    let at = 32 + headerLength; // where cells begin
    if (headerLength > MAX_HEADER || at > end) throw new Damaged(`a header of ${headerLength} bytes`);
    if (view.getUint32(16, true) !== crc32c(data.subarray(32, at))) throw new Damaged("the header fails its checksum");
    if (!equal(data.subarray(end), SNAP_END)) throw new Damaged("it has no end");

    const r = new Reader(data, 32, at);
    r.scan();
    r.tuple(11, "header");
    const properties: Record<string, string> = Object.create(null);
    const point: Required<Point> = {
        seed: r.uint("seed"), tick: r.uint("tick"), phase: r.str("phase"), native: r.name("native name"), peer: r.name("peer"), epoch: r.u32("epoch"), history: null, properties,
    };
    if (point.phase !== "" && point.phase !== "after-orders") throw new Damaged(`there is no phase ${JSON.stringify(point.phase)}`);
    const world = new World();
    world.rng = r.nil() ? null : r.bin("RNG state", MAX_RNG).slice();
    point.history = r.nil() ? null : r.hash("history hash").slice();
    const root = r.hash("root");
    let before: Uint8Array | null = null;
    for (let n = r.map("properties", MAX_PROPERTIES); n > 0; n--) {
        const name = r.strBytes("name of a property", MAX_NAME);
        if (before && compare(before, name) >= 0) throw new Damaged("properties do not ascend");
        before = name;
        properties[lenient.decode(name)] = r.str("property", MAX_U32);
    }
    for (let n = r.array("tables", MAX_NAMES); n > 0; n--) {
        r.tuple(7, "table");
        const cls = r.number("class", TableClass.NOISE) as TableClass, label = r.name("label"), rows = r.uint("rows"), parts = r.number("parts of keys", 2);
        const leaf = r.hash("leaf"), index = r.number("offset of the index", end), size = r.u32("length of the index");
        if (!parts || !label) throw new Damaged(`table "${label}" is malformed`);
        if (size < 4 || index < at || size > end - index) throw new Damaged(`table "${label}": an index outside the file`);
        const t = new Table(label, cls, parts), last = world.tables[world.tables.length - 1];
        if (last && (last.cls - cls || compare(last.labelBytes, t.labelBytes)) >= 0) throw new Damaged("tables do not ascend");
        try {
            t.decode(data, at, index, index + size, rows);
        } catch (e) {
            if (e instanceof Damaged || e instanceof RangeError) throw new Damaged(`${t}: ${e.message}`);
            throw e;
        }
        if (!equal(t.leaf, leaf)) throw new Damaged(`${t} does not give the leaf hash that the header has`);
        world.append(t);
        at = index + size;
    }
    if (at !== end) throw new Damaged("something stands between the tables and the end");
    if (!equal(world.stateHash(), root)) throw new Damaged("the content does not give the state hash that the header has");
    world.whole = true;
    return { at: point, world };
}

// ---- Sessions and orders

/** A kind of order. Orders of a local kind, such as chat, need not be the same on all peers. */
export interface OrderKind { name: string; local?: boolean }

/** An order as it was applied. Kinds go by their names: another build may number them differently. */
export interface Order {
    player: number;
    kind: string; // "" if the session has no such kind
    payload: Uint8Array;
    sequence?: number; // among the player's orders
    subTick?: number; // microseconds from the start of the tick
}

/** What a session begins with: the header of an order log. */
export interface Session {
    seed: U64;
    peer?: string;
    build?: string;
    rate?: readonly [number, number]; // ticks per second as numerator and denominator; both 0 if not known
    start?: Uint8Array; // state hash at the first point, all zero if not known
    firstPoint?: U64; // 0, or the state point at which a peer joined
    epoch?: number;
    kinds?: readonly OrderKind[];
    peers?: readonly string[];
    params?: Record<string, string>; // what a simulator needs next to the seed, such as the map
    /** What is known of this peer's machine and game: os, cpu, compiler, locale, mods, data_hash. A Recorder writes
        them into snapshots. They are not in the header: its parameters are the same on all peers. */
    facts?: Record<string, string>;
}

function selfOf(s: Session): number {
    const peers = s.peers ?? [], at = peers.indexOf(s.peer ?? "");
    if (peers.length && at < 0) throw new RangeError(`the peer ${JSON.stringify(s.peer ?? "")} is not among the peers`);
    return Math.max(0, at);
}

function kindOf(s: Session, name: string): number {
    const at = (s.kinds ?? []).findIndex((kind) => kind.name === name);
    if (at < 0) throw new RangeError(`the session has no orders of the kind ${JSON.stringify(name)}`);
    return at;
}

function putRate(o: Bytes, s: Session): void {
    const [numerator, denominator] = s.rate ?? [0, 0];
    if (!numerator !== !denominator) throw new RangeError("one half of the tick rate is 0");
    o.arrayHead(2);
    o.uint32(numerator);
    o.uint32(denominator);
}

function putParams(o: Bytes, s: Session): void {
    const params = sortedPairs(s.params ?? {});
    o.arrayHead(params.length);
    for (const [key, value] of params) {
        o.arrayHead(2);
        o.str(key);
        o.str(value);
    }
}

function putSession(o: Bytes, s: Session): void {
    o.arrayHead(10);
    o.uint(s.seed);
    o.str(s.peer ?? "");
    o.str(s.build ?? "");
    putRate(o, s);
    o.bin(needsHash(s.start ?? new Uint8Array(32), "a start hash"));
    o.uint(s.firstPoint ?? 0);
    o.uint32(s.epoch ?? 0);
    o.arrayHead(s.kinds?.length ?? 0);
    for (const kind of s.kinds ?? []) {
        o.arrayHead(2);
        o.str(kind.name);
        o.bool(kind.local ?? false);
    }
    o.arrayHead(s.peers?.length ?? 0);
    for (const peer of s.peers ?? []) o.str(peer);
    putParams(o, s);
}

function readSession(r: Reader): Required<Session> {
    r.tuple(10, "header");
    const seed = r.uint("seed"), peer = r.str("peer"), build = r.str("build");
    r.tuple(2, "tick rate");
    const rate = [r.u32("tick rate"), r.u32("tick rate")] as const, start = r.hash("start").slice(), firstPoint = r.uint("first point"), epoch = r.u32("epoch");
    const kinds: OrderKind[] = [], peers: string[] = [], params: Record<string, string> = Object.create(null);
    for (let n = r.array("order kinds", MAX_NAMES); n > 0; n--) {
        r.tuple(2, "order kind");
        kinds.push({ name: r.str("order kind"), local: r.bool("local") });
    }
    for (let n = r.array("peers", MAX_NAMES); n > 0; n--) peers.push(r.str("peer"));
    for (let n = r.array("parameters", MAX_NAMES); n > 0; n--) {
        r.tuple(2, "parameter");
        const key = r.str("parameter");
        params[key] = r.str("parameter");
    }
    return { seed, peer, build, rate, start, firstPoint, epoch, kinds, peers, params, facts: {} };
}

function readOrder(r: Reader, s: Session): Order {
    r.tuple(5, "order");
    const subTick = r.u32("sub tick"), player = r.u32("player"), sequence = r.u32("sequence"), kind = r.u32("kind");
    return { player, kind: s.kinds?.[kind]?.name ?? "", payload: r.bin("payload", MAX_PAYLOAD).slice(), sequence, subTick };
}

/** The input hash: 8 bytes over the orders of a tick that are not local. */
export function inputHash(kinds: readonly OrderKind[], tick: U64, orders: readonly Order[]): Uint8Array {
    const p = new Bytes();
    let n = 0;
    p.u32(0);
    for (const o of orders) {
        if (kinds.some((kind) => kind.local && kind.name === o.kind)) continue;
        const kind = encoded(o.kind);
        p.w64(tick); p.u32(o.subTick ?? 0); p.u32(o.player); p.u32(o.sequence ?? 0);
        p.u32(kind.length); p.raw(kind); p.u32(o.payload.length); p.raw(o.payload);
        n++;
    }
    p.putU32(0, n);
    return sha256(p.bytes()).slice(0, 8);
}

// ---- Order logs

export const MarkerKind = { JOIN: 1, LEAVE: 2, REMOVAL: 3, RECONNECT: 4, SAVE: 5, LOAD: 6, RESYNC: 7, FAILED_ORDER: 8 } as const;
export type MarkerKind = typeof MarkerKind[keyof typeof MarkerKind];
const OPENING: readonly MarkerKind[] = [MarkerKind.JOIN, MarkerKind.RECONNECT, MarkerKind.LOAD, MarkerKind.RESYNC];

/** An event before the orders of a tick. */
export interface Marker {
    kind: MarkerKind;
    point: U64; // state point of the event, or of the state that was loaded
    player?: number;
    peer?: number;
    sequence?: number; // of an order that failed
    newEpoch?: boolean; // the state of this log's own peer was replaced
    history?: Uint8Array | null; // with newEpoch: the history hash of the state that was loaded, null if it is not known
    text?: string;
}

/** Where a file goes: called with its bytes piece by piece. */
export type Sink = (bytes: Uint8Array) => void;

/** A file of checksummed frames. Each frame is one write, so that a crash loses none that was written. */
class Frames {
    count = 0;
    private ended = false;
    private readonly out = new Bytes();
    private readonly sink: Sink;

    constructor(sink: Sink, name: string) {
        this.sink = sink;
        const o = this.out;
        o.u8(0x89); o.raw(utf8.encode(name));
        o.u16(1); o.u16(0); o.u32(crc32c(o.bytes()));
        sink(o.bytes().slice());
    }

    frame(kind: number, payload: Bytes): void {
        if (this.ended) throw new RangeError("the file is closed");
        if (payload.length > 16 << 20) throw new RangeError(`a frame of ${payload.length} bytes, at most ${16 << 20}`);
        const o = this.out.clear();
        o.u32(payload.length); o.u32(kind); o.u32(crc32c(payload.bytes()));
        o.u32(crc32c(o.bytes()));
        o.raw(payload.bytes());
        this.sink(o.bytes().slice());
        this.count++;
    }

    close(): void {
        if (this.ended) return;
        const last = new Bytes();
        last.w64(this.count);
        this.frame(0xffffffff, last);
        this.ended = true;
    }
}

/** Values that were noted and wait for a frame. */
class Noted {
    readonly values = new Bytes();
    count = 0;

    /** Appends them as an array, and forgets them. */
    into(o: Bytes): void {
        o.arrayHead(this.count);
        o.raw(this.values.bytes());
        this.values.clear();
        this.count = 0;
    }
}

/** Writes an order log. For each tick: note the state before it, then write tick with its orders before they are played, so that orders
    that crash the game are in the log. close ends it. */
export class OrderLog {
    /** The history hash at the last point, null if points were left out. */
    history: Uint8Array | null = null;
    /** The number of the current epoch. */
    epoch: number;
    /** The last point that was noted. */
    point: U64;
    readonly peer: number;
    private readonly session: Session;
    private readonly file: Frames;
    private readonly hashes = new Noted();
    private readonly markers = new Noted();
    private nextTick: U64;
    private root: Uint8Array | null = null; // of the last point, if its state hash is not in the log
    private observed = false;
    private adopted = false;
    private opened = false;

    constructor(sink: Sink, session: Session) {
        const header = new Bytes();
        putSession(header, session);
        this.session = session;
        this.peer = selfOf(session);
        this.epoch = session.epoch ?? 0;
        this.point = this.nextTick = u64(session.firstPoint ?? 0);
        this.file = new Frames(sink, "DOL\r\n\x1a\n");
        this.file.frame(1, header);
    }

    /** Adds any hash to the next frame: another peer's, one of a kind of the engine's own, or one of a part of the state. */
    hash(point: U64, peer: number, kind: string, coverage: string, value: Uint8Array): void {
        if (value.length < 1 || value.length > 64) throw new RangeError("a hash has 1 to 64 bytes");
        const o = this.hashes.values;
        o.arrayHead(5);
        o.uint(point);
        o.uint32(peer);
        o.str(kind);
        o.str(coverage);
        o.bin(value);
        this.hashes.count++;
    }

    /** Adds this peer's state hash at a point: as sync hash at each, as state and history hash at each 30th and at the last one. For the
        history hash each point has to be noted, one after the other. */
    state(at: U64, root: Uint8Array): void {
        const point = u64(at);
        this.hash(point, this.peer, "sync", "", needsHash(root, "a state hash").subarray(0, 8));
        if (this.adopted) this.adopted = false;
        else if (!this.observed && point === u64(this.session.firstPoint ?? 0)) this.history = historyHash(null, root);
        else if (this.history && BigInt(point) === BigInt(this.point) + 1n) this.history = historyHash(this.history, root);
        else this.history = null; // a point was left out
        this.point = point;
        this.root = root;
        this.observed = true;
        if (BigInt(point) % 30n === 0n) this.noteWhole();
    }

    private noteWhole(): void {
        if (!this.root) return;
        this.hash(this.point, this.peer, "state", "", this.root);
        if (this.history) this.hash(this.point, this.peer, "history", "", this.history);
        this.root = null;
    }

    /** Adds a checksum of 1 to 8 bytes of the game's own as sync hash, in place of state. */
    checksum(point: U64, value: Uint8Array): void { this.hash(point, this.peer, "sync", "", eight(value)); }

    /** Adds an event to the next tick. An event that opens an epoch comes before the first state that is noted in it.
        Earlier states are written at once, as they belong to the epoch that ends. */
    marker(m: Marker): void {
        const history = m.history ?? null;
        if (history && !m.newEpoch) throw new RangeError("a marker has a history hash and opens no epoch");
        if (m.newEpoch && !OPENING.includes(m.kind)) throw new RangeError("such a marker opens no epoch");
        if (m.newEpoch && this.opened) throw new RangeError("a tick opens one epoch at most");
        const begun = this.file.count > 1; // an epoch that the first tick opens is the header's
        if (m.newEpoch) this.writeNoted();
        const o = this.markers.values;
        o.arrayHead(8);
        o.uint(m.kind);
        o.uint32(m.player ?? 0);
        o.uint32(m.peer ?? 0);
        o.uint32(m.sequence ?? 0);
        o.uint(m.point);
        o.bool(m.newEpoch ?? false);
        o.bin(history ? needsHash(history, "a history hash") : new Uint8Array(0));
        o.str(m.text ?? "");
        this.markers.count++;
        if (!m.newEpoch) return;
        if (begun) this.epoch++;
        this.opened = this.adopted = true;
        this.nextTick = 0;
        this.history = history;
    }

    /** Writes the frame of a tick, with what was noted since the last one. */
    tick(tick: U64, orders: readonly Order[]): void {
        if (tick < this.nextTick) throw new RangeError(`tick ${tick}, expected ${this.nextTick} or a later one`);
        const o = new Bytes();
        o.arrayHead(5);
        o.uint(tick);
        o.bin(inputHash(this.session.kinds ?? [], tick, orders));
        o.arrayHead(orders.length);
        for (const order of orders) {
            if (order.payload.length > MAX_PAYLOAD) throw new RangeError(`a payload of ${order.payload.length} bytes, at most ${MAX_PAYLOAD}`);
            o.arrayHead(5);
            o.uint32(order.subTick ?? 0);
            o.uint32(order.player);
            o.uint32(order.sequence ?? 0);
            o.uint(kindOf(this.session, order.kind));
            o.bin(order.payload);
        }
        this.hashes.into(o);
        this.markers.into(o);
        this.file.frame(2, o);
        this.nextTick = u64(BigInt(tick) + 1n);
        this.opened = false;
    }

    /** Writes what was noted and no tick follows. */
    private writeNoted(): void {
        if (!this.hashes.count) return;
        const o = new Bytes();
        this.hashes.into(o);
        this.file.frame(3, o);
    }

    /** Writes what was noted after the last tick, and the end marker. */
    close(): void {
        this.noteWhole();
        this.writeNoted();
        this.file.close();
    }
}

function eight(checksum: Uint8Array): Uint8Array {
    if (checksum.length < 1 || checksum.length > 8) throw new RangeError("a checksum has 1 to 8 bytes");
    const out = new Uint8Array(8);
    out.set(checksum);
    return out;
}

// ---- Traces

/** A named checksum; the main one has no name. It is bytes, or else text as the game prints it. */
export interface Sum { name?: string; value: Uint8Array | string }

/** Checksums after a system of a tick. Scope is what they cover, empty for all; predicted is set if inputs of the tick
    were guessed; count is the number of entities. */
export interface Checkpoint { tick: U64; system: string; scope?: string; sums?: readonly Sum[]; predicted?: boolean; count?: U64 }

export const EventKind = { SAVE: 1, RESTORE: 2, RESIMULATE: 3, INPUT: 4 } as const;
export type EventKind = typeof EventKind[keyof typeof EventKind];

/** What a rollback did. Other is the tick at which a state was restored, or the last tick that is simulated again; player and predicted are
    for inputs. */
export interface TraceEvent { kind: EventKind; tick: U64; other?: U64; player?: number; predicted?: boolean; sums?: readonly Sum[] }

/** What a trace of whole states has: the sync hash; the leaves before it; and before each leaf the digests of its columns. */
export const Detail = { SYSTEM: 0, ARCHETYPE: 1, COLUMN: 2 } as const;
export type Detail = typeof Detail[keyof typeof Detail];

/** Writes a binary trace: checksums at checkpoints, in the order of execution. close ends it. */
export class Trace {
    private readonly file: Frames;
    private readonly names = new Map<string, number>([["", 0]]);
    private readonly fresh = new Noted();
    private readonly batch = new Noted();
    private now: U64 = 0;

    constructor(sink: Sink, session: Session) {
        const o = new Bytes();
        o.arrayHead(5);
        o.arrayHead(1);
        o.uint(session.seed);
        o.str(session.peer ?? "");
        o.str(session.build ?? "");
        putRate(o, session);
        putParams(o, session);
        this.file = new Frames(sink, "DTR\r\n\x1a\n");
        this.file.frame(1, o);
    }

    private name(name: string): number {
        const known = this.names.get(name);
        if (known !== undefined) return known;
        this.fresh.values.str(name);
        this.fresh.count++;
        this.names.set(name, this.names.size);
        return this.names.size - 1;
    }

    private sums(o: Bytes, sums: readonly Sum[]): void {
        if (sums.length > 256) throw new RangeError(`${sums.length} checksums, at most 256`);
        o.arrayHead(sums.length);
        for (const s of sums) {
            o.arrayHead(2);
            o.uint(this.name(s.name ?? ""));
            if (typeof s.value === "string") o.str(s.value); else o.bin(s.value);
        }
    }

    /** Adds a checkpoint. The checkpoints of one tick are written together, by the next tick, an event, flush or close.
        */
    add(c: Checkpoint): void {
        if (!c.sums?.length && c.count === undefined) throw new RangeError("a checkpoint has neither a checksum nor a count");
        if (this.batch.count && (c.tick !== this.now || this.batch.values.length >= 1 << 20)) this.flush();
        this.now = c.tick;
        this.batch.count++;
        const o = this.batch.values;
        o.arrayHead(c.count === undefined ? 4 : 5);
        o.uint(this.name(c.system));
        o.uint(this.name(c.scope ?? ""));
        o.uint(c.predicted ? 1 : 0);
        this.sums(o, c.sums ?? []);
        if (c.count !== undefined) o.uint(c.count);
    }

    /** Adds the state after a system, in as much detail as is wanted, and returns its hash. */
    world(tick: U64, system: string, w: World, detail: Detail): Uint8Array {
        const add = (scope: string, digest: Uint8Array): void => this.add({ tick, system, scope, sums: [{ value: digest.subarray(0, 8) }] });
        const leaves = w.leaves(), root = merkleRoot(leaves.map(([, hash]) => hash));
        for (const [label, leaf] of detail >= Detail.ARCHETYPE ? leaves : []) {
            if (label && detail === Detail.COLUMN)
                for (const c of w.find(TableClass.ARCHETYPE, label)!.columns) add(`${label}/${c.component}.${c.field}`, c.cells.digest);
            add(label || "RNG", leaf);
        }
        add("", root);
        return root;
    }

    event(e: TraceEvent): void {
        this.flush();
        const o = new Bytes();
        o.arrayHead(6);
        o.uint(e.kind);
        o.uint(e.tick);
        o.uint(e.other ?? 0);
        o.uint32(e.player ?? 0);
        o.uint(e.predicted ? 1 : 0);
        this.sums(o, e.sums ?? []);
        this.writeNames();
        this.file.frame(4, o);
    }

    private writeNames(): void {
        if (!this.fresh.count) return;
        const o = new Bytes();
        this.fresh.into(o);
        this.file.frame(2, o);
    }

    /** Writes the checkpoints that are not written yet. */
    flush(): void {
        if (!this.batch.count) return;
        this.writeNames();
        const o = new Bytes();
        o.arrayHead(2);
        o.uint(this.now);
        this.batch.into(o);
        this.file.frame(3, o);
    }

    close(): void {
        this.flush();
        this.file.close();
    }
}

// ---- All files of a peer

/** What a report has in addition to the state: docs/peer-report.md. */
export interface ReportOptions {
    player?: number; // -1, the default, if the peer plays none
    archetypes?: readonly string[]; // included with their content: the ones that differ from others, if that is known
    status?: "diverged" | "in-sync" | "inconclusive";
    window?: readonly [U64, U64]; // the first and the last tick with all orders there
    orders?: readonly (readonly [tick: U64, order: Order, local: boolean])[];
}

/** What a peer writes down when it learns that its state differs from the other peers' states, as JSON. */
export function peerReport(world: World, at: Point, options: ReportOptions = {}): string {
    const quoted = (text: string): string => JSON.stringify(text), leaves = world.leaves();
    const contents = (options.archetypes ?? []).map((label) => {
        const t = world.find(TableClass.ARCHETYPE, label);
        if (!t) throw new RangeError(`a report names an archetype that is not there: ${quoted(label)}`);
        const root = merkleRoot(leaves.filter(([name]) => name === "" || name === label).map(([, hash]) => hash));
        const snap = encodeTables(world.rng, [t], { ...at, epoch: 0, history: null, properties: {} }, root);
        return `\n{"label":${quoted(label)},"world":"${base64(snap)}"}`;
    });
    const nodes = leaves.map(([label, hash]) => `\n[${quoted(label)},"${hex(hash)}"]`);
    const orders = (options.orders ?? []).map(([tick, o, local]) =>
        `\n{"kind":${quoted(o.kind)},"tick":${tick},"sub_tick_time":${o.subTick ?? 0},"player":${o.player},"sequence":${o.sequence ?? 0},` +
        `"payload":"${hex(o.payload)}"${local ? ',"local":true' : ""}}`);
    return `{"schema":"desynctool.peer-report/1","status":${quoted(options.status ?? "diverged")},\n"seed":"${hex64(at.seed)}","tick":${at.tick},` +
        `"player":${options.player ?? -1},"peer":${quoted(at.peer ?? "")}${at.phase ? `,"phase":${quoted(at.phase)}` : ""},\n` +
        `"state_hash":"${hex(world.stateHash())}","rng_state":"${hex(world.rng ?? new Uint8Array(0))}",\n` +
        `"merkle_nodes":[${nodes}],\n"diverged_archetypes":[${contents}]` +
        (options.window ? `,\n"order_log_window":{"from":${options.window[0]},"to":${options.window[1]}},\n"order_log_excerpt":[${orders}]` : "") + "}\n";
}

/** Where a Recorder puts its files. */
export interface Files {
    /** Appends to a file, which is made if there is none. */
    append(name: string, bytes: Uint8Array): void;
    /** Writes a file whole or not at all. */
    write(name: string, bytes: Uint8Array): void;
    /** Brings to the disk what was appended. */
    sync?(): void;
    close(): void;
}

/** Files in memory: for browsers, which offer or send what content has. */
export class MemoryFiles implements Files {
    private readonly pieces = new Map<string, Uint8Array[]>();

    append(name: string, bytes: Uint8Array): void {
        const list = this.pieces.get(name);
        if (list) list.push(bytes); else this.pieces.set(name, [bytes]);
    }

    write(name: string, bytes: Uint8Array): void { this.pieces.set(name, [bytes]); }
    close(): void {}
    names(): string[] { return [...this.pieces.keys()]; }

    content(name: string): Uint8Array {
        const o = new Bytes();
        for (const piece of this.pieces.get(name) ?? []) o.raw(piece);
        return o.bytes();
    }
}

/** A folder, which is made if there is none. Node only. */
export async function openFolder(path: string): Promise<Files> {
    const fs = await import("node:fs" as string), open = new Map<string, number>();
    fs.mkdirSync(path, { recursive: true });
    for (const name of fs.readdirSync(path) as string[]) if (name.startsWith(".desync_")) fs.rmSync(`${path}/${name}`); // a game was writing it when it crashed
    return {
        append(name: string, bytes: Uint8Array): void {
            if (!open.has(name)) open.set(name, fs.openSync(`${path}/${name}`, "w"));
            for (let done = 0; done < bytes.length;) done += fs.writeSync(open.get(name), bytes, done);
        },
        write(name: string, bytes: Uint8Array): void {
            const unfinished = `${path}/.${name}`;
            try {
                const file = fs.openSync(unfinished, "w");
                try {
                    for (let done = 0; done < bytes.length;) done += fs.writeSync(file, bytes, done);
                    fs.fsyncSync(file);
                } finally {
                    fs.closeSync(file);
                }
                fs.renameSync(unfinished, `${path}/${name}`);
            } catch (e) {
                fs.rmSync(unfinished, { force: true });
                throw e;
            }
        },
        sync(): void { for (const file of open.values()) fs.fsyncSync(file); },
        close(): void {
            for (const file of open.values()) fs.closeSync(file);
            open.clear();
        },
    };
}

const EXCERPT = 64; // ticks with orders in a report

/** All that one peer leaves: order log, trace, snapshots, reports. For each tick: state with the state before it, tick, and if there is a trace
    system after each system. At the end state again, and close. */
export class Recorder {
    /** The hash of the state that was noted or traced last. */
    root: Uint8Array;
    readonly log: OrderLog;
    /** Null if none is written. */
    readonly trace: Trace | null;
    private readonly files: Files;
    private readonly session: Session;
    private readonly detail: Detail;
    private recent: { tick: U64; orders: readonly Order[] }[] = [];
    private now: U64 | null = null; // the tick that has begun, and the state after it was not noted

    /** The header's start is the hash of the world. Detail null writes no trace. */
    constructor(files: Files, session: Session, world: World, detail: Detail | null = Detail.SYSTEM) {
        this.root = world.stateHash();
        this.files = files;
        this.session = { ...session, start: this.root };
        this.detail = detail ?? Detail.SYSTEM;
        this.log = new OrderLog((bytes) => files.append("order-log.bin", bytes), this.session);
        this.trace = detail === null ? null : new Trace((bytes) => files.append("checkpoints.trace", bytes), this.session);
    }

    /** Notes the state at a point, and returns its hash. */
    state(point: U64, world: World): Uint8Array {
        this.root = world.stateHash();
        this.log.state(point, this.root);
        if (this.now !== null && BigInt(point) > BigInt(this.now)) this.now = null;
        return this.root;
    }

    /** Notes an event. If its state is replaced, a peer gives an event with newEpoch, and the state point and the
        history hash of the peer that sent the state; then it notes that state, and goes on with that point's tick. */
    marker(m: Marker): void {
        this.log.marker(m);
        if (!m.newEpoch) return;
        this.recent = []; // an excerpt has no gap
        this.now = null;
    }

    /** Writes the orders of a tick, before they are played. */
    tick(tick: U64, orders: readonly Order[]): void {
        this.trace?.flush();
        this.log.tick(tick, orders);
        const last = this.recent[this.recent.length - 1];
        if (last && BigInt(last.tick) + 1n !== BigInt(tick)) this.recent = [];
        this.recent.push({ tick, orders: orders.slice() });
        if (this.recent.length > EXCERPT) this.recent.shift();
        this.now = tick;
    }

    /** Traces the state after a system of the tick that tick began. Refused without such a tick. */
    system(system: string, world: World): void {
        if (this.now === null) throw new Refused("system: no tick has begun; tick comes before the systems of a tick");
        if (this.trace) this.root = this.trace.world(this.now, system, world, this.detail);
    }

    /** The state that was noted last. */
    private noted(): Point {
        return { seed: u64(this.session.seed), tick: this.log.point, peer: this.session.peer ?? "", epoch: this.log.epoch, history: this.log.history };
    }

    /** Writes a snapshot of the state that was noted last, with build, parameters and facts as properties. Returns its name. */
    snapshot(world: World): string {
        const s = this.session, at = this.noted();
        at.properties = { ...s.facts, ...s.params, ...(s.build ? { build: s.build } : {}) };
        this.files.write(snapshotName(at), encodeSnapshot(world, at));
        return snapshotName(at);
    }

    /** Writes a report on the state that was noted last, with the content of the archetypes that are named and the orders of the ticks before.
        Returns its name. */
    report(world: World, player = -1, archetypes: readonly string[] = []): string {
        const at = this.noted(), name = `desync_report_${hex64(at.seed)}_${text10(at.tick)}.json`, options: ReportOptions = { player, archetypes };
        const first = this.recent[0], last = this.recent[this.recent.length - 1];
        if (first && last) options.window = [first.tick, last.tick];
        options.orders = this.recent.flatMap(({ tick, orders }) =>
            orders.map((o) => [tick, o, this.session.kinds?.some((kind) => kind.local && kind.name === o.kind) ?? false] as const));
        this.files.write(name, encoded(peerReport(world, at, options)));
        return name;
    }

    /** Brings log and trace to the disk, where the files are on one. Snapshots and reports are there when they have their names. */
    sync(): void {
        this.trace?.flush();
        this.files.sync?.();
    }

    close(): void {
        this.log.close();
        this.trace?.close();
        this.files.close();
    }
}

// ---- Serving a game

/** A game that can be replayed. Needed are start, one of step and systems with runSystem, and one of world and checksum. What else is there is
    announced. Throw Refused for what cannot be done and has changed nothing. Any other error is reported to desynctool, its stack goes to
    stderr, and the session ends. */
export interface Game {
    readonly name: string;
    readonly build: string;
    /** Begins a session from its start; nothing may be left of an earlier one. */
    start(session: Required<Session>): void;
    /** Plays one tick. Orders that make no sense are ignored as the game ignores them. Without it all systems are run. */
    step?(tick: number, orders: readonly Order[]): void;
    /** Names, in the order in which they run in every tick. Capability systems, with runSystem. */
    readonly systems?: readonly string[];
    /** Runs one of the systems of a tick. */
    runSystem?(number: number, tick: number, orders: readonly Order[]): void;
    /** The current state. Capability state; hashes then come from it. */
    world?(): World;
    /** For games that do not return their state: a checksum of 1 to 8 bytes that they log as sync hash. */
    checksum?(): Uint8Array;
    /** Everything that the simulation reads and writes, in any form. Capability save, with restore. */
    save?(): Uint8Array;
    /** A save of this process, or of another one that began the same session. */
    restore?(save: Uint8Array): void;
    /** Begins a session with a state, in the place of start. Capability load. The session is null if it is not known;
        else it has the seed of the state. Caches must be recomputed: the state's caches may be wrong. What makes no
        sense to the game should be Refused, with the current state as it was. */
    load?(state: World, at: Required<Point>, session: Required<Session> | null): void;
    /** Computes derived data again, aside, and names what is not the same. Capability caches. */
    caches?(): string[];
    /** Why an order would be ignored in any state, "" if it would not. Capability validate. */
    validate?(tick: U64, order: Order): string;
    /** Whether an order would be possible now, as the machine of the player asks who is about to give it. Capability test. */
    test?(tick: number, order: Order): boolean;
    /** Plays the current tick ahead with one player's orders, as that player's machine does, and takes it back. Capability predict. */
    predict?(tick: number, player: number, orders: readonly Order[]): void;
}

const MAX_REQUEST = 64 << 20, MAX_REPLY = 16 << 20, MAX_STATE = 1 << 30, MAX_TICKS = 1 << 16, LEAST_ORDER = 7; // in bytes, but for MAX_TICKS
const SAVE_MAGIC = utf8.encode("DSV1");

interface Method {
    needs: string; // a capability, or ""
    parameters: number;
    running?: boolean; // a session has to run
    whole?: boolean; // no tick may be in parts
    answer(r: Reader, o: Bytes): void;
}

/** Answers requests for one game. What is no request at all is Damaged and ends it; all else that goes wrong is said in the reply. */
class Server {
    private readonly game: Game;
    private readonly can: string[];
    private readonly methods: Map<string, Method>;
    private session: Required<Session> | null = null; // null: none is running
    private point = 0;
    private system = -1; // the next one of a tick that is played in parts, -1 between ticks
    private orders: Order[] = []; // of that tick

    constructor(game: Game) {
        const systems = !!game.runSystem && !!game.systems?.length;
        if (!(game.step || systems) || !(game.world || game.checksum)) throw new RangeError("the game has neither step nor systems and runSystem, or neither world nor checksum");
        this.game = game;
        const capabilities: [string, unknown][] = [
            ["state", game.world], ["save", game.save && game.restore], ["load", game.load], ["systems", systems], ["caches", game.caches],
            ["validate", game.validate], ["test", game.test], ["predict", game.predict]];
        this.can = capabilities.filter(([, has]) => has).map(([name]) => name);
        this.methods = new Map<string, Method>(Object.entries({
            hello: { needs: "", parameters: 2, answer: (r, o) => this.hello(r, o) },
            start: { needs: "", parameters: 1, answer: (r, o) => this.start(r, o) },
            load: { needs: "load", parameters: 2, answer: (r, o) => this.load(r, o) },
            step: { needs: "", parameters: 2, running: true, whole: true, answer: (r, o) => this.step(r, o) },
            state: { needs: "state", parameters: 0, running: true, answer: (_, o) => this.state(o) },
            save: { needs: "save", parameters: 0, running: true, whole: true, answer: (_, o) => this.save(o) },
            restore: { needs: "save", parameters: 1, running: true, answer: (r, o) => this.restore(r, o) },
            begin: { needs: "systems", parameters: 2, running: true, whole: true, answer: (r, o) => this.begin(r, o) },
            next: { needs: "systems", parameters: 0, running: true, answer: (_, o) => this.next(o) },
            caches: { needs: "caches", parameters: 0, running: true, answer: (_, o) => this.strings(o, this.game.caches!().sort((a, b) => compare(encoded(a), encoded(b)))) },
            validate: { needs: "validate", parameters: 2, running: true, answer: (r, o) => this.validate(r, o) },
            test: { needs: "test", parameters: 2, running: true, whole: true, answer: (r, o) => this.test(r, o) },
            predict: { needs: "predict", parameters: 3, running: true, whole: true, answer: (r, o) => this.predict(r, o) },
        } satisfies Record<string, Method>));
    }

    /** The frame of the reply to a request. */
    answer(request: Uint8Array): Uint8Array {
        const r = new Reader(request);
        r.scan();
        r.tuple(3, "a request");
        const id = r.uint("its number"), method = r.str("its method"), count = r.array("its parameters"), o = new Bytes();
        const head = (): number => {
            o.clear().u32(0);
            o.arrayHead(3);
            o.uint(id);
            return o.length;
        };
        head();
        o.nil();
        let why = "";
        try {
            this.call(method, count, r, o);
            const most = method === "state" || method === "save" ? MAX_STATE : MAX_REPLY;
            if (o.length > most) why = `a reply of ${o.length} bytes, at most ${most}`;
        } catch (e) {
            why = e instanceof Error ? e.message : String(e);
            if (!(e instanceof Damaged || e instanceof Refused)) {
                console.error(e);
                why = e instanceof Error ? `${e.name}: ${why}` : why;
                this.session = null; // whatever it was doing, it is half done
            }
            why ||= "it is refused";
        }
        if (why) {
            head();
            o.str(lenient.decode(utf8.encode(`${method}: ${why.replace(/\n/g, " ")}`)));
            o.nil();
        }
        o.putU32(0, o.length - 4);
        return o.bytes();
    }

    private call(method: string, count: number, r: Reader, o: Bytes): void {
        const m = this.methods.get(method);
        if (!m || m.needs && !this.can.includes(m.needs)) throw new Refused("no such request");
        if (count !== m.parameters) throw new Refused(`${count} parameters, expected ${m.parameters}`);
        if (m.running && !this.session) throw new Refused("no session is running");
        if (m.whole && this.system >= 0) throw new Refused(`tick ${this.point} is being played in parts`);
        m.answer(r, o);
    }

    private readTick(r: Reader): number {
        const tick = r.uint("tick");
        if (tick !== this.point) throw new Refused(`tick ${tick}, the state is at point ${this.point}`);
        return this.point;
    }

    private readOrders(r: Reader): Order[] {
        const orders: Order[] = [];
        for (let n = r.array("orders", Math.floor((r.end - r.at) / LEAST_ORDER)); n > 0; n--) orders.push(readOrder(r, this.session!));
        return orders;
    }

    private sync(): Uint8Array { return this.game.world ? this.game.world().stateHash().subarray(0, 8) : eight(this.game.checksum!()); }

    private arrived(o: Bytes, session: Required<Session>, point: number): void {
        this.session = session;
        this.point = point;
        this.system = -1;
        o.arrayHead(2);
        o.uint(point);
        o.bin(this.sync());
    }

    private strings(o: Bytes, list: readonly string[]): void {
        o.arrayHead(list.length);
        for (const text of list) o.str(text);
    }

    private hello(r: Reader, o: Bytes): void {
        r.uint("protocol");
        r.str("client");
        o.mapHead(5);
        o.str("protocol");
        o.uint(1);
        o.str("name");
        o.str(this.game.name);
        o.str("build");
        o.str(this.game.build);
        o.str("can");
        this.strings(o, this.can);
        o.str("max_request");
        o.uint(MAX_REQUEST);
    }

    private start(r: Reader, o: Bytes): void {
        const session = readSession(r);
        if (session.firstPoint) throw new Refused("the session does not begin at its start");
        this.game.start(session);
        this.arrived(o, session, 0);
    }

    private load(r: Reader, o: Bytes): void {
        const file = r.bin("state"), session = r.nil() ? null : readSession(r), { at, world } = decodeSnapshot(file);
        if (session && session.seed !== at.seed) throw new Refused(`the state is of another session: its seed is ${hex64(at.seed)}, the header's ${hex64(session.seed)}`);
        if (at.phase) throw new Refused("the state is of the middle of a tick");
        if (typeof at.tick === "bigint") throw new Refused(`the state is of point ${at.tick}, at most ${Number.MAX_SAFE_INTEGER}`);
        this.game.load!(world, at, session);
        const alone = { peer: "", build: "", rate: [0, 0], start: new Uint8Array(32), firstPoint: 0, epoch: 0, kinds: [], peers: [], params: {}, facts: {} } as const;
        this.arrived(o, session ?? { ...alone, seed: at.seed }, at.tick);
    }

    private play(tick: number, orders: readonly Order[]): void {
        if (this.game.step) this.game.step(tick, orders);
        else for (let i = 0; i < this.game.systems!.length; i++) this.game.runSystem!(i, tick, orders);
    }

    private step(r: Reader, o: Bytes): void {
        const first = this.readTick(r), ticks: Order[][] = [];
        for (let n = r.array("ticks", MAX_TICKS); n > 0; n--) ticks.push(this.readOrders(r));
        const hashes = new Uint8Array(8 * ticks.length);
        try {
            ticks.forEach((orders, i) => {
                this.play(first + i, orders);
                this.point = first + i + 1;
                hashes.set(this.sync(), 8 * i);
            });
        } catch (e) {
            this.session = null; // it has begun to play
            throw e;
        }
        o.bin(hashes);
    }

    private state(o: Bytes): void {
        o.bin(encodeSnapshot(this.game.world!(), { seed: this.session!.seed, tick: this.point, peer: this.session!.peer }));
    }

    /** Our head distinguishes a save from other bytes, so that the game need not. */
    private save(o: Bytes): void {
        const b = new Bytes();
        b.raw(SAVE_MAGIC); b.u32(0); b.w64(this.session!.seed); b.w64(this.point); b.raw(this.game.save!());
        b.putU32(4, crc32c(b.bytes(8)));
        o.bin(b.bytes());
    }

    private restore(r: Reader, o: Bytes): void {
        const b = r.bin("save"), view = new DataView(b.buffer, b.byteOffset, b.byteLength);
        if (b.length < 24 || !equal(b.subarray(0, 4), SAVE_MAGIC) || view.getUint32(4, true) !== crc32c(b.subarray(8))) throw new Refused("not a save");
        if (view.getBigUint64(8, true) !== BigInt(this.session!.seed)) throw new Refused("a save of another session");
        this.game.restore!(b.slice(24));
        this.arrived(o, this.session!, Number(view.getBigUint64(16, true)));
    }

    private begin(r: Reader, o: Bytes): void {
        this.readTick(r);
        this.orders = this.readOrders(r);
        this.system = 0;
        o.nil();
    }

    private next(o: Bytes): void {
        const number = this.system, names = this.game.systems!;
        if (number < 0) throw new Refused("no tick has begun");
        this.game.runSystem!(number, this.point, this.orders);
        const more = number + 1 < names.length;
        this.system = more ? number + 1 : -1;
        o.arrayHead(3);
        o.str(names[number]!);
        o.bool(more);
        o.bin(this.sync());
        if (!more) this.point++;
    }

    private validate(r: Reader, o: Bytes): void {
        const tick = r.uint("tick");
        this.strings(o, this.readOrders(r).map((order) => this.game.validate!(tick, order)));
    }

    private test(r: Reader, o: Bytes): void {
        const tick = this.readTick(r), possible = this.game.test!(tick, readOrder(r, this.session!));
        o.arrayHead(2);
        o.bool(possible);
        o.bin(this.sync());
    }

    private predict(r: Reader, o: Bytes): void {
        const tick = this.readTick(r), player = r.u32("player");
        this.game.predict!(tick, player, this.readOrders(r));
        o.bin(this.sync());
    }
}

/** What is used of Node, so that the file needs no types of it. */
interface Stream extends AsyncIterable<Uint8Array> {
    write(bytes: Uint8Array, done: (error?: Error | null) => void): boolean;
    once(event: string, act: (error: Error) => void): void;
    destroy(): void;
}
interface NodeProcess { env: Record<string, string | undefined>; stdin: Stream; stdout: Stream; stderr: Stream }

function send(to: Stream["write"], bytes: Uint8Array): Promise<void> {
    return new Promise((done, failed) => { to(bytes, (error) => error ? failed(error) : done()); });
}

/** The frames that come, each when it is whole. A length is trusted only as far as bytes come. */
async function* frames(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let pieces: Uint8Array[] = [], have = 0, want = 4;
    for await (const piece of input) {
        pieces.push(piece);
        have += piece.length;
        while (have >= want) {
            const all = new Bytes();
            for (const p of pieces) all.raw(p);
            const b = all.bytes(), n = new DataView(b.buffer, b.byteOffset).getUint32(0, true);
            if (n > MAX_REQUEST) throw new Damaged(`a request of ${n} bytes, at most ${MAX_REQUEST} are taken`);
            want = 4 + n;
            pieces = [b];
            if (have < want) break;
            yield b.subarray(4, want);
            pieces = [b.slice(want)];
            have -= want;
            want = 4;
        }
    }
    if (have) throw new Damaged(`the connection ends inside ${have < 4 ? "the length of a request" : "a request"}`);
}

async function connect(address: string, token: string): Promise<Stream> {
    const net = await import("node:net" as string), tcp = /^tcp:(.*):(\d+)$/.exec(address);
    if (!tcp && !address.startsWith("unix:")) throw new RangeError(`DESYNCTOOL_SIM is ${JSON.stringify(address)}, expected unix:PATH or tcp:HOST:PORT`);
    const socket = tcp ? net.connect({ host: tcp[1]!.replace(/^\[|\]$/g, ""), port: Number(tcp[2]), noDelay: true }) : net.connect(address.slice(5));
    await new Promise<void>((done, failed) => { socket.once("connect", done); socket.once("error", failed); });
    const b = new Bytes();
    b.u32(0);
    b.str(token);
    b.putU32(0, b.length - 4);
    await send(socket.write.bind(socket), b.bytes());
    return socket;
}

/** Answers requests until the connection ends and returns the exit status of the process: 0, or 2 with a line on stderr. The connection is the
    socket that DESYNCTOOL_SIM names, else stdin and stdout; the game's output goes to stderr then. Node only:
    `process.exitCode = await serve(game)`. */
export async function serve(game: Game): Promise<number> {
    const { process } = globalThis as unknown as { process: NodeProcess };
    let stream: Stream | null = null;
    try {
        const server = new Server(game), address = process.env["DESYNCTOOL_SIM"];
        let input: Stream = process.stdin, reply: Stream["write"] = process.stdout.write.bind(process.stdout);
        if (address) {
            input = stream = await connect(address, process.env["DESYNCTOOL_SIM_TOKEN"] ?? "");
            reply = stream.write.bind(stream);
        } else {
            process.stdout.write = process.stderr.write.bind(process.stderr);
        }
        for await (const request of frames(input)) {
            let answer;
            try {
                answer = server.answer(request);
            } catch (e) {
                throw e instanceof Damaged ? new Damaged(`a request makes no sense: ${e.message}`) : e;
            }
            await send(reply, answer);
        }
        return 0;
    } catch (e) {
        console.error(String(e instanceof Error ? e.message : e).replace(/\n/g, " "));
        return 2;
    } finally {
        stream?.destroy();
    }
}

// ---- Signatures

// SHA-512, at once: numbers of 64 bits are two of 32, the higher one first.
const SHA512_K = new Int32Array([
    0x428a2f98d728ae22n, 0x7137449123ef65cdn, 0xb5c0fbcfec4d3b2fn, 0xe9b5dba58189dbbcn, 0x3956c25bf348b538n,
    0x59f111f1b605d019n, 0x923f82a4af194f9bn, 0xab1c5ed5da6d8118n, 0xd807aa98a3030242n, 0x12835b0145706fben,
    0x243185be4ee4b28cn, 0x550c7dc3d5ffb4e2n, 0x72be5d74f27b896fn, 0x80deb1fe3b1696b1n, 0x9bdc06a725c71235n,
    0xc19bf174cf692694n, 0xe49b69c19ef14ad2n, 0xefbe4786384f25e3n, 0x0fc19dc68b8cd5b5n, 0x240ca1cc77ac9c65n,
    0x2de92c6f592b0275n, 0x4a7484aa6ea6e483n, 0x5cb0a9dcbd41fbd4n, 0x76f988da831153b5n, 0x983e5152ee66dfabn,
    0xa831c66d2db43210n, 0xb00327c898fb213fn, 0xbf597fc7beef0ee4n, 0xc6e00bf33da88fc2n, 0xd5a79147930aa725n,
    0x06ca6351e003826fn, 0x142929670a0e6e70n, 0x27b70a8546d22ffcn, 0x2e1b21385c26c926n, 0x4d2c6dfc5ac42aedn,
    0x53380d139d95b3dfn, 0x650a73548baf63den, 0x766a0abb3c77b2a8n, 0x81c2c92e47edaee6n, 0x92722c851482353bn,
    0xa2bfe8a14cf10364n, 0xa81a664bbc423001n, 0xc24b8b70d0f89791n, 0xc76c51a30654be30n, 0xd192e819d6ef5218n,
    0xd69906245565a910n, 0xf40e35855771202an, 0x106aa07032bbd1b8n, 0x19a4c116b8d2d0c8n, 0x1e376c085141ab53n,
    0x2748774cdf8eeb99n, 0x34b0bcb5e19b48a8n, 0x391c0cb3c5c95a63n, 0x4ed8aa4ae3418acbn, 0x5b9cca4f7763e373n,
    0x682e6ff3d6b2b8a3n, 0x748f82ee5defb2fcn, 0x78a5636f43172f60n, 0x84c87814a1f0ab72n, 0x8cc702081a6439ecn,
    0x90befffa23631e28n, 0xa4506cebde82bde9n, 0xbef9a3f7b2c67915n, 0xc67178f2e372532bn, 0xca273eceea26619cn,
    0xd186b8c721c0c207n, 0xeada7dd6cde0eb1en, 0xf57d4f7fee6ed178n, 0x06f067aa72176fban, 0x0a637dc5a2c898a6n,
    0x113f9804bef90daen, 0x1b710b35131c471bn, 0x28db77f523047d84n, 0x32caab7b40c72493n, 0x3c9ebe0a15c9bebcn,
    0x431d67c49c100d4cn, 0x4cc5d4becb3e42b6n, 0x597f299cfc657e2an, 0x5fcb6fab3ad6faecn, 0x6c44198c4a475817n,
].flatMap((v) => [Number(v >> 32n) | 0, Number(v & 0xffffffffn) | 0]));
const SHA512_START = [
    0x6a09e667f3bcc908n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n, 0x510e527fade682d1n,
    0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n,
].flatMap((v) => [Number(v >> 32n) | 0, Number(v & 0xffffffffn) | 0]);
const sha512Words = new Int32Array(160);

function sha512Compress(h: Int32Array, b: DataView, at: number): void {
    const w = sha512Words;
    for (let i = 0; i < 32; i++) w[i] = b.getInt32(at + 4 * i);
    for (let i = 32; i < 160; i += 2) {
        const xh = w[i - 30]!, xl = w[i - 29]!, yh = w[i - 4]!, yl = w[i - 3]!;
        const sh = (xh >>> 1 | xl << 31) ^ (xh >>> 8 | xl << 24) ^ xh >>> 7, sl = (xl >>> 1 | xh << 31) ^ (xl >>> 8 | xh << 24) ^ (xl >>> 7 | xh << 25);
        const th = (yh >>> 19 | yl << 13) ^ (yl >>> 29 | yh << 3) ^ yh >>> 6, tl = (yl >>> 19 | yh << 13) ^ (yh >>> 29 | yl << 3) ^ (yl >>> 6 | yh << 26);
        const low = (w[i - 31]! >>> 0) + (w[i - 13]! >>> 0) + (sl >>> 0) + (tl >>> 0);
        w[i + 1] = low | 0;
        w[i] = w[i - 32]! + w[i - 14]! + sh + th + Math.floor(low / TWO_32) | 0;
    }
    const v = h.slice();
    for (let i = 0; i < 160; i += 2) {
        const ah = v[0]!, al = v[1]!, eh = v[8]!, el = v[9]!;
        const sh = (eh >>> 14 | el << 18) ^ (eh >>> 18 | el << 14) ^ (el >>> 9 | eh << 23), sl = (el >>> 14 | eh << 18) ^ (el >>> 18 | eh << 14) ^ (eh >>> 9 | el << 23);
        const ch = eh & v[10]! ^ ~eh & v[12]!, cl = el & v[11]! ^ ~el & v[13]!;
        const low = (v[15]! >>> 0) + (sl >>> 0) + (cl >>> 0) + (SHA512_K[i + 1]! >>> 0) + (w[i + 1]! >>> 0);
        const high = v[14]! + sh + ch + SHA512_K[i]! + w[i]! + Math.floor(low / TWO_32) | 0;
        const th = (ah >>> 28 | al << 4) ^ (al >>> 2 | ah << 30) ^ (al >>> 7 | ah << 25), tl = (al >>> 28 | ah << 4) ^ (ah >>> 2 | al << 30) ^ (ah >>> 7 | al << 25);
        const mh = ah & v[2]! ^ ah & v[4]! ^ v[2]! & v[4]!, ml = al & v[3]! ^ al & v[5]! ^ v[3]! & v[5]!;
        v.copyWithin(2, 0, 14);
        const lowE = (v[9]! >>> 0) + low % TWO_32;
        v[9] = lowE | 0;
        v[8] = v[8]! + high + Math.floor(lowE / TWO_32) | 0;
        const lowA = low % TWO_32 + (tl >>> 0) + (ml >>> 0);
        v[1] = lowA | 0;
        v[0] = high + th + mh + Math.floor(lowA / TWO_32) | 0;
    }
    for (let i = 0; i < 16; i += 2) {
        const low = (h[i + 1]! >>> 0) + (v[i + 1]! >>> 0);
        h[i + 1] = low | 0;
        h[i] = h[i]! + v[i]! + Math.floor(low / TWO_32) | 0;
    }
}

function sha512(...parts: Uint8Array[]): Uint8Array {
    const n = parts.reduce((sum, p) => sum + p.length, 0), all = new Uint8Array(Math.ceil((n + 17) / 128) * 128), view = new DataView(all.buffer);
    let at = 0;
    for (const part of parts) {
        all.set(part, at);
        at += part.length;
    }
    all[n] = 0x80;
    view.setUint32(all.length - 8, Math.floor(n / (1 << 29)));
    view.setUint32(all.length - 4, n << 3);
    const h = Int32Array.from(SHA512_START), out = new Uint8Array(64), words = new DataView(out.buffer);
    for (at = 0; at < all.length; at += 128) sha512Compress(h, view, at);
    for (let i = 0; i < 16; i++) words.setInt32(4 * i, h[i]!);
    return out;
}

const PRIME = (1n << 255n) - 19n, ORDER = (1n << 252n) + 27742317777372353535851937790883648493n; // of the field, and of the base point
const CURVE_D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;
const ROOT = 19681161376707505956807079304988542015446066515923890162744021073123829784752n; // of -1

/** A point: x is X/Z, y is Y/Z and xy is T/Z. */
type Curve = readonly [bigint, bigint, bigint, bigint];

const modulo = (v: bigint): bigint => { const r = v % PRIME; return r < 0n ? r + PRIME : r; };

/** The sum of two points. T of the second one is multiplied by 2d, as combOf leaves it. */
function plus([x, y, z, t]: Curve, [bx, by, bz, bt]: Curve): Curve {
    const p = (y - x) * (by - bx), q = (y + x) * (by + bx), r = t * bt, s = 2n * z * bz;
    const e = (q - p) % PRIME, f = (s - r) % PRIME, g = (s + r) % PRIME, h = (q + p) % PRIME;
    return [e * f % PRIME, g * h % PRIME, f * g % PRIME, e * h % PRIME];
}

function twice([x, y, z]: Curve): Curve {
    const p = x * x, q = y * y, sum = x + y, h = (p + q) % PRIME, e = (h - sum * sum) % PRIME, g = (p - q) % PRIME, f = (2n * z * z + g) % PRIME;
    return [e * f % PRIME, g * h % PRIME, f * g % PRIME, e * h % PRIME];
}

const readied = ([x, y, z, t]: Curve): Curve => [x, y, z, 2n * CURVE_D * t % PRIME];

/** The sixteen sums of a point's multiples by 1, 2^64, 2^128 and 2^192, ready to be added. */
function combOf(point: Curve): Curve[] {
    let table: Curve[] = [[0n, 1n, 1n, 0n]];
    for (let i = 0, p = point; i < 4; i++) {
        const ready = readied(p);
        table = [...table, ...table.map((a) => plus(a, ready))];
        for (let k = 0; k < 64 && i < 3; k++) p = twice(p);
    }
    return table.map(readied);
}

/** The sum of points, as combOf leaves them, each times a number of 32 bytes. */
function times(...parts: [Curve[], Uint8Array][]): Uint8Array {
    let at: Curve = [0n, 1n, 1n, 0n];
    for (let i = 63; i >= 0; i--) {
        at = twice(at);
        for (const [comb, n] of parts) {
            let tooth = 0;
            for (let k = 3; k >= 0; k--) tooth = tooth << 1 | n[8 * k + (i >> 3)]! >> (i & 7) & 1;
            at = plus(at, comb[tooth]!);
        }
    }
    return encodePoint(at);
}

function littleEndian(b: Uint8Array): bigint {
    let v = 0n;
    for (let i = b.length - 1; i >= 0; i--) v = v << 8n | BigInt(b[i]!);
    return v;
}

function bytes32(v: bigint): Uint8Array {
    const out = new Uint8Array(32), view = new DataView(out.buffer);
    for (let i = 0; i < 4; i++) view.setBigUint64(8 * i, v >> BigInt(64 * i) & 0xffffffffffffffffn, true);
    return out;
}

/** To the power of 2^n, times b. */
function raised(v: bigint, n: number, b: bigint): bigint {
    while (n-- > 0) v = v * v % PRIME;
    return v * b % PRIME;
}

/** To the power of 2^250 - 1, and of 11. */
function powers(a: bigint): [bigint, bigint] {
    const a2 = a * a % PRIME, a9 = raised(a2, 2, a), a11 = a9 * a2 % PRIME;
    const a5 = raised(a11, 1, a9), a10 = raised(a5, 5, a5), a20 = raised(a10, 10, a10), a40 = raised(a20, 20, a20); // by the number of bits
    const a50 = raised(a40, 10, a10), a100 = raised(a50, 50, a50), a200 = raised(a100, 100, a100);
    return [raised(a200, 50, a50), a11];
}

function encodePoint([x, y, z]: Curve): Uint8Array {
    const [power, a11] = powers(z), inverse = raised(power, 5, a11);
    return bytes32(modulo(y * inverse) | (modulo(x * inverse) & 1n) << 255n);
}

/** A point, null if there is none. As in Go, y may be 2^255 - 19 and more, and x -0. */
function decodePoint(b: Uint8Array): Curve | null {
    const n = littleEndian(b), y = (n & (1n << 255n) - 1n) % PRIME, yy = y * y;
    const u = modulo(yy - 1n), v = modulo(CURVE_D * yy + 1n), v3 = v * v % PRIME * v % PRIME, uv7 = v3 * v3 % PRIME * v % PRIME * u % PRIME;
    let x = raised(powers(uv7)[0], 2, uv7) * v3 % PRIME * u % PRIME;
    const vxx = x * x % PRIME * v % PRIME;
    if (vxx !== u) {
        if (vxx !== modulo(-u)) return null;
        x = x * ROOT % PRIME;
    }
    if ((x & 1n) !== n >> 255n) x = modulo(-x);
    return [x, y, 1n, x * y % PRIME];
}

let baseComb: Curve[] | null = null;

function combOfBase(): Curve[] {
    baseComb ??= combOf(decodePoint(new Uint8Array(32).fill(0x66).fill(0x58, 0, 1))!);
    return baseComb;
}

const hashToOrder = (...parts: Uint8Array[]): bigint => littleEndian(sha512(...parts)) % ORDER;

/** A secret key that is ready to sign. */
class SecretKey {
    readonly key: Uint8Array;
    private readonly scalar: bigint;
    private readonly prefix: Uint8Array;

    constructor(secret: Uint8Array) {
        const digest = sha512(needsHash(secret, "a secret key"));
        digest[0]! &= 0xf8;
        digest[31] = digest[31]! & 0x3f | 0x40;
        this.scalar = littleEndian(digest.subarray(0, 32));
        this.prefix = digest.subarray(32);
        this.key = times([combOfBase(), digest]);
    }

    sign(message: Uint8Array): Uint8Array {
        const r = hashToOrder(this.prefix, message), out = new Uint8Array(64);
        out.set(times([combOfBase(), bytes32(r)]));
        out.set(bytes32((r + hashToOrder(out.subarray(0, 32), this.key, message) * this.scalar) % ORDER), 32);
        return out;
    }
}

const EIGHTH = 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n; // y of two points of order 8

/** Whether a point, in any encoding, is one of the eight of small order: whoever has such a key needs no secret to sign. */
function smallOrder(point: Uint8Array): boolean {
    return [0n, 1n, EIGHTH, PRIME - EIGHTH, PRIME - 1n, PRIME, PRIME + 1n].includes(BigInt.asUintN(255, littleEndian(point)));
}

/** A public key that is ready to check signatures. */
class PublicKey {
    private readonly key: Uint8Array;
    private readonly minus: Curve[] | null;

    constructor(key: Uint8Array) {
        const p = smallOrder(key) ? null : decodePoint(key);
        this.key = key;
        this.minus = p && combOf([modulo(-p[0]), p[1], 1n, modulo(-p[3])]);
    }

    verify(message: Uint8Array, signature: Uint8Array): boolean {
        const point = signature.subarray(0, 32), s = signature.subarray(32);
        if (!this.minus || littleEndian(s) >= ORDER || smallOrder(point)) return false;
        return equal(times([combOfBase(), s], [this.minus, bytes32(hashToOrder(point, this.key, message))]), point);
    }
}

/** The 32 bytes of the Ed25519 public key of a secret one, which is its seed of 32 bytes (RFC 8032). */
export function publicKey(secret: Uint8Array): Uint8Array { return new SecretKey(secret).key; }

/** The Ed25519 signature, 64 bytes. How long it takes depends on the secret key: where an enemy can measure that, sign elsewhere. */
export function sign(secret: Uint8Array, message: Uint8Array): Uint8Array { return new SecretKey(secret).sign(message); }

/** Whether an Ed25519 signature is valid. Go's crypto/ed25519 takes the same ones, and keys and R of small order. */
export function verify(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
    return key.length === 32 && signature.length === 64 && new PublicKey(key).verify(message, signature);
}

const CHAIN_MAGIC = new Uint8Array([0x89, 0x54, 0x53, 0x49, 0x47, 0x53, 0x0d, 0x0a]);
const ENTRY_SIZE = 144, END_SIZE = 104;

function chainMessage(purpose: string, body?: Uint8Array): Bytes {
    const o = new Bytes();
    o.raw(utf8.encode(`desynctool tick-signatures 1 ${purpose}\n`));
    if (body) o.raw(body);
    return o;
}

function chainGenesis(seed: U64, key: Uint8Array, start: Uint8Array, peer: Uint8Array): Uint8Array {
    const o = chainMessage("genesis");
    o.w64(seed); o.raw(key); o.raw(start); o.u32(peer.length); o.raw(peer);
    return sha256(o.bytes());
}

/** Who signs: a secret key, the 32 bytes of its seed; or a public key and what signs with it, such as a key store. What that gives is checked. */
export type Signer = { secret: Uint8Array } | { key: Uint8Array; sign: (message: Uint8Array) => Uint8Array };

/** Writes tick-signatures.bin: the state hashes of ticks, each signed together with all that were before. close signs
    how many there are, and ends the file: without that it is not known whether entries were cut off. Start is the state
    hash at the first point, zeros if it is not known. */
export class TickSignatures {
    readonly key: Uint8Array;
    private readonly file: Frames;
    private readonly sign: (message: Uint8Array) => Uint8Array;
    private link: Uint8Array;
    private last: bigint | null = null;
    private count = 0;
    private ended = false;

    constructor(sink: Sink, seed: U64, peer: string, signer: Signer, start: Uint8Array = new Uint8Array(32)) {
        const name = encoded(peer), header = new Bytes();
        if (name.length > MAX_TEXT) throw new RangeError(`a peer's name of ${name.length} bytes, at most ${MAX_TEXT}`);
        if ("secret" in signer) {
            const own = new SecretKey(signer.secret);
            this.key = own.key;
            this.sign = (message) => own.sign(message);
        } else {
            const check = new PublicKey(needsHash(signer.key, "a key").slice());
            this.key = signer.key.slice();
            this.sign = (message) => {
                const signature = signer.sign(message);
                if (signature.length !== 64 || !check.verify(message, signature)) throw new RangeError("what signs did not sign with the key");
                return signature;
            };
        }
        header.mapHead(4);
        header.str("seed"); header.uint(seed);
        header.str("peer"); header.str(name);
        header.str("key"); header.bin(this.key);
        header.str("start"); header.bin(needsHash(start, "a start hash"));
        this.link = chainGenesis(u64(seed), this.key, start, name);
        this.file = new Frames(sink, "TSIGS\r\n");
        this.file.frame(1, header);
    }

    /** Signs the state hash of a tick: the hash of the state before its orders. Ticks ascend; those that are left out
        are counted. */
    append(tick: U64, stateHash: Uint8Array): void {
        const now = BigInt(u64(tick, "a tick")), o = new Bytes();
        if (this.last !== null && now <= this.last) throw new RangeError(`tick ${now} after tick ${this.last}`);
        o.raw(this.link);
        o.w64(this.last === null ? 0n : now - this.last - 1n);
        o.w64(now);
        o.raw(needsHash(stateHash, "a state hash"));
        this.write(2, "entry", o);
        this.link = sha256(chainMessage("link", o.bytes()).bytes());
        this.last = now;
        this.count++;
    }

    /** Signs the content of a frame, and writes both. */
    private write(kind: number, purpose: string, o: Bytes): void {
        o.raw(this.sign(chainMessage(purpose, o.bytes()).bytes().slice()));
        this.file.frame(kind, o);
    }

    close(): void {
        if (this.ended) return;
        this.ended = true;
        const o = new Bytes();
        o.raw(this.link);
        o.w64(this.count);
        try {
            this.write(3, "end", o);
        } finally {
            this.file.close();
        }
    }
}

/** What is found in a file of signatures. */
export const FindingKind = { OTHER_KEY: 1, CORRUPT: 2, TAMPERED: 3, MISSING: 4, CONTRADICTION: 5, SKIPPED: 6, MISSING_AT_END: 7, OPEN: 8 } as const;
export type FindingKind = typeof FindingKind[keyof typeof FindingKind];

const FINDINGS = [
    "the key is not the one that is trusted",
    "the file is damaged here: nothing after it is read",
    "the signature is not valid and the checksum is right: somebody changed this, or made it without the key",
    "entries before this one are missing or were moved, or it is from another chain of the key",
    "the signer contradicts itself: the ticks do not ascend, or are not as many as it says",
    "the signer itself left out ticks before this one: nothing was tampered with",
    "entries at the end were removed or changed",
    "there is no signed end: entries at the end may have been cut off",
];
const MAX_FINDINGS = 1000;

/** What a kind of finding means. */
export function findingWords(kind: FindingKind): string { return FINDINGS[kind - 1]!; }

/** Where something is found: the frame's offset in bytes, the number of the entry, its tick and the tick of the entry
    before, null where there is none or it is not known. */
export interface Finding { kind: FindingKind; offset: number; entry: number; after: U64 | null; tick: U64 | null }

/** The content of a file of signatures, and what is found in it, in the order of the file. */
export class CheckedSignatures {
    seed: U64 = 0;
    peer = "";
    peerBytes: Uint8Array = new Uint8Array(0);
    key: Uint8Array = new Uint8Array(32);
    start: Uint8Array = new Uint8Array(32);
    entries = 0;
    /** How many entries from the start have no break before them or in them: key signed them for this session. */
    bound = 0;
    /** There is a signed end, and it agrees. */
    closed = false;
    /** How many findings there are; the list has the first 1000. */
    found = 0;
    readonly findings: Finding[] = [];
    private readonly hashes = new Map<U64, Uint8Array>();
    private readonly data: Uint8Array;
    private readonly view: DataView;
    private at = 16;
    private frames = 0;
    private kind = 0;
    private payload: Uint8Array = new Uint8Array(0);

    /** Checks the bytes of a tick-signatures.bin. Trusted is the public key that is trusted: without it the file shows
        that it is whole, and by one signer, but not by which one. A file is Damaged if its header cannot be read. */
    constructor(data: Uint8Array, trusted: Uint8Array | null = null) {
        this.data = data;
        this.view = new DataView(data.buffer, data.byteOffset, data.byteLength);
        if (!equal(data.subarray(0, 8), CHAIN_MAGIC)) throw new Damaged("not a tick-signatures.bin");
        if (data.length < 16) throw new Damaged("torn in the preamble");
        if (this.view.getUint32(12, true) !== crc32c(data.subarray(0, 12))) throw new Damaged("the preamble fails its checksum");
        if (this.view.getUint32(8, true) !== 1) throw new Damaged("expected version 1 without flags");
        if (this.next() !== "" || this.kind !== 1) throw new Damaged("the header is missing or damaged");
        this.header();
        const believed = !trusted || equal(trusted, this.key);
        if (!believed) this.find(FindingKind.OTHER_KEY, 16);
        this.check(believed);
    }

    /** Nothing is found but ticks that the signer itself left out, and a missing end. */
    get whole(): boolean {
        return this.found <= MAX_FINDINGS && this.findings.every((f) => f.kind === FindingKind.SKIPPED || f.kind === FindingKind.OPEN);
    }

    /** The state hash of a tick, null if the tick has no bound entry. */
    stateHash(tick: U64): Uint8Array | null { return this.hashes.get(u64(tick)) ?? null; }

    /** How the file ends where a part of it fails its checksum: torn if from some byte of it on there is nothing but zero, as a crash leaves it. */
    private fails(part: number, end: number): string {
        let begin = this.data.length;
        while (begin > part && this.data[begin - 1] === 0) begin--;
        return begin < end && this.data.length - begin >= 16 ? "torn" : "corrupt";
    }

    /** Goes to the next frame: "". Or how the file ends, and `at` stays at what ends it. */
    private next(): string {
        const { data, view, at } = this, left = data.length - at - 16;
        if (left < 0) return "torn";
        if (view.getUint32(at + 12, true) !== crc32c(data.subarray(at, at + 12))) return this.fails(at, at + 16);
        const n = view.getUint32(at, true), end = at + 16 + n;
        this.kind = view.getUint32(at + 4, true);
        if (n > 1 << 20) return "corrupt";
        if (n > left) return "torn";
        this.payload = data.subarray(at + 16, end);
        if (view.getUint32(at + 8, true) !== crc32c(this.payload)) return this.fails(at + 16, end);
        if (this.kind !== 0xffffffff) {
            this.at = end;
            this.frames++;
            return "";
        }
        if (n !== 8 || view.getBigUint64(at + 16, true) !== BigInt(this.frames)) return "corrupt";
        if (left === 8) return "clean";
        this.at = end;
        return "corrupt";
    }

    private header(): void {
        const r = new Reader(this.payload), seen = new Set<string>();
        r.scan();
        for (let n = r.map("the header", MAX_U32); n > 0; n--) {
            const name = r.str("a key", MAX_U32);
            if (!["seed", "peer", "key", "start"].includes(name)) {
                r.skip();
                continue;
            }
            if (seen.has(name)) throw new Damaged(`the header has ${name} twice`);
            seen.add(name);
            if (name === "seed") this.seed = r.uint(name);
            else if (name === "peer") this.peerBytes = r.strBytes(name);
            else if (name === "key") this.key = r.hash(name);
            else this.start = r.hash(name);
        }
        if (seen.size !== 4) throw new Damaged("the header lacks seed, peer, key or start");
        this.peer = lenient.decode(this.peerBytes);
    }

    private find(kind: FindingKind, offset: number, after: bigint | null = null, tick: bigint | null = null): void {
        if (++this.found > MAX_FINDINGS) return;
        this.findings.push({ kind, offset, entry: this.entries, after: after === null ? null : u64(after), tick: tick === null ? null : u64(tick) });
    }

    private check(believed: boolean): void {
        const check = new PublicKey(this.key);
        let link = chainGenesis(this.seed, this.key, this.start, this.peerBytes), before: bigint | null = null;
        let unbroken = true, tampered = false, ended = false;
        for (;;) {
            const offset = this.at, state = this.next(), entry = this.kind === 2, body = this.payload;
            if (state === "corrupt") return this.find(FindingKind.CORRUPT, this.at);
            if (state !== "") {
                if (!ended) this.find(FindingKind.OPEN, offset, before);
                return;
            }
            if (ended || !entry && this.kind !== 3 || body.length !== (entry ? ENTRY_SIZE : END_SIZE)) return this.find(FindingKind.CORRUPT, offset);
            const signature = body.subarray(body.length - 64), message = chainMessage(entry ? "entry" : "end", body.subarray(0, body.length - 64)).bytes();
            const valid = check.verify(message, signature), linked = equal(body.subarray(0, 32), link), view = new DataView(body.buffer, body.byteOffset);
            const number = view.getBigUint64(32, true);
            if (!entry) {
                ended = true;
                if (!valid) this.find(FindingKind.TAMPERED, offset, before);
                else if (!linked && !(tampered && number === BigInt(this.entries))) this.find(FindingKind.MISSING_AT_END, offset, before);
                else if (number !== BigInt(this.entries) && unbroken) this.find(FindingKind.CONTRADICTION, offset, before); // else what is missing has been said
                else this.closed = true;
                continue;
            }
            const tick = view.getBigUint64(40, true), follows = before === null ? number === 0n : tick > before && number === tick - before - 1n;
            if (!valid) this.find(FindingKind.TAMPERED, offset, before, tick);
            else if (!tampered && !linked) this.find(FindingKind.MISSING, offset, before, tick); // after a tampered one nobody knows
            else if (!tampered && !follows) this.find(FindingKind.CONTRADICTION, offset, before, tick);
            else if (!tampered && number > 0n) this.find(FindingKind.SKIPPED, offset, before, tick);
            tampered = !valid;
            unbroken &&= valid && linked && follows;
            if (unbroken && believed) {
                this.bound++;
                this.hashes.set(u64(tick), body.slice(48, 80));
            }
            this.entries++;
            link = sha256(chainMessage("link", body).bytes());
            before = tick;
        }
    }
}
