// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

// desynctool_flight.ts: a flight recorder for a game that is shipped, in one file of TypeScript beside desynctool.ts, for browsers and Node 18.
//
// It keeps the last ticks in a fixed amount of memory: orders, hashes, and all that the state changed, so that the state of any of these
// ticks can be rebuilt. When the peers find that their states differ, it finds the first tick, the system, the columns, the rows and their
// values, by packets of at most 1000 bytes that the game carries between its peers. Then every peer has the same report. docs/exchange.md
// specifies the packets; c/desynctool_flight.h is the same in C.
//
// In each tick, and once before the first one without tick:
//
//     flight.tick(tick, orders);          the orders that the tick is about to apply
//     flight.system("Movement", world);   after each system, if the game can
//     flight.state(tick + 1, world);      the state after the tick: the one before the orders of tick + 1
//
// and as often as the game reads its network:
//
//     flight.receive(from, packet);       a packet that peer number `from` sent
//     for (let p; (p = flight.send(milliseconds)); ) ...   p.packet is to be sent to peer number p.to, before the next send
//
// What it keeps is allocated by the constructor. No call waits, and none but files touches a file. A call in the wrong order is an Error that
// names it. Packets of any content throw nothing.

import { Recorder, TableClass, Trace, Type, World, crc32c, encodeSnapshot, mulHigh, nameBytes, snapshotName } from "./desynctool.ts";
import type { Column, Files, Order, Session, Table, U64, Value } from "./desynctool.ts";

export const FlightStatus = {
    WATCHING: 0, // it records, and compares hashes
    ASKING: 1, // it records no more: the peers look for what differs
    FOUND: 2, // there is a report
    SILENT: 3, // the others did not answer
} as const;
export type FlightStatus = typeof FlightStatus[keyof typeof FlightStatus];

export interface FlightOptions {
    budget?: number; // bytes in all, 8 MiB without it. Twice the state must leave an eighth for what changes
    marked?: boolean; // only tables that touch names since the last call are compared
    rollback?: boolean; // states are predicted until confirm
    values?: number; // bytes of differing values in a report, at most; 65536 without it
    history?: bigint; // a peer that joins later: historyAt of the peer that sent it the state
    rows?: Record<string, number>; // how many rows a table can have, by its label; without it twice as many as at the start, at least 64
    /** Strings and bytes of which more than 52 bytes are kept, by "Label Component.field": so many bytes, at most 4096. In C the column has an
        array of that size. */
    sizes?: Record<string, number>;
}

/** State points from to to are kept, and the ticks need bytes of `of` bytes. Twice the ticks need about `more` bytes of budget more. */
export interface FlightKept { from: number; to: number; bytes: number; of: number; more: number }

const PACKET = 1000, MAX_PEERS = 64, TEXT_KEPT = 52, VALUE_MOST = 200, MAX_NAMES = 256, NAME_MOST = 63, HEAD = 20, BODY = PACKET - HEAD - 4, PARTS = 31, GROUPS = 4;
const QUEUE_MOST = 8, WORK_MOST = 1024, LISTED_MOST = 32, CHUNK = 960, CHUNKS = 128, MOST_SENT = 1 << 19, MOST_SPENT = 64, ROUNDS = 12;
const WAIT = 3000; // ms after which a peer is gone that sends nothing
const END_OF_TICK = 0xffff, IDENTITY = 17; // alive, key, key2
const BEAT = 1, ALERT = 2, QUESTION = 3, ANSWER = 4, REPORT = 5, GOT = 6;
const FOR_STATUS = 1, FOR_HISTORY = 2, FOR_STEPS = 3, FOR_TABLES = 4, FOR_COLUMNS = 5, FOR_BUCKETS = 6, FOR_ROWS = 7;
const OK = 0, FELL_OUT = 1, NOT_YET = 2, NONE = 3; // how a part is answered
const LOST = 1, OTHER_STATE = 2, CUT = 4; // flags of a report
const CELLS_ITEM = 1, STEP_ITEM = 2, ORDERS_ITEM = 3; // kinds of items; each ends with kind and length, to be read backward
const IDLE = 0, ASK_STATUS = 1, ASK_HISTORY = 2, ASK_STEPS = 3, ASK_TABLES = 4, ASK_COLUMNS = 5, ASK_ROWS = 6, SHARE = 7;
const LEAVES_IN_ANSWER = Math.floor((BODY - 6) / 8), MASK = (1n << 64n) - 1n;
const TOO_SMALL = "the budget is too small: it has to hold the state twice and, in an eighth of it, what changes";
const TOO_LONG = "the state has strings or bytes of which only the beginning is kept: options.sizes";

// ---- Hashes, as two halves of 32 bits: a function leaves its result in HI and LO

let HI = 0, LO = 0;

function mix(high: number, low: number): void {
    low ^= high;
    high = mulHigh(low, 0x6659fd93) + Math.imul(low, 0xd6e8feb8) + Math.imul(high, 0x6659fd93) | 0;
    low = Math.imul(low, 0x6659fd93);
    low ^= low >>> 29 | high << 3;
    high ^= high >>> 29;
    HI = mulHigh(low, 0x7f4a7c15) + Math.imul(low, 0x9e3779b9) + Math.imul(high, 0x7f4a7c15) | 0;
    LO = Math.imul(low, 0x7f4a7c15) ^ HI;
}

/** mix(high:low + addHigh:addLow) */
function mixSum(high: number, low: number, addHigh: number, addLow: number): void {
    const sum = (low >>> 0) + (addLow >>> 0);
    mix(high + addHigh + (sum > 0xffffffff ? 1 : 0) | 0, sum | 0);
}

/** Adds to HI and LO. */
function plus(addHigh: number, addLow: number): void {
    const sum = (LO >>> 0) + (addLow >>> 0);
    HI = HI + addHigh + (sum > 0xffffffff ? 1 : 0) | 0;
    LO = sum | 0;
}

const word = (b: Uint8Array, at: number): number => b[at]! | b[at + 1]! << 8 | b[at + 2]! << 16 | b[at + 3]! << 24;

function hash(b: Uint8Array, at: number, n: number): void {
    mixSum(0, n, 0, 0x5bd1e995);
    for (; n >= 8; at += 8, n -= 8) {
        mix(HI ^ word(b, at + 4), LO ^ word(b, at));
        plus(0x2545f491, 0x4f6cdd1d);
    }
    let low = 0, high = 0;
    for (let i = 0; i < n; i++) if (i < 4) low |= b[at + i]! << 8 * i; else high |= b[at + i]! << 8 * (i - 4);
    mix(HI ^ high, LO ^ low);
}

function rowHash(keyHigh: number, key: number, key2High: number, key2: number): void {
    mixSum(keyHigh, key, 0x632be59b, 0xd9b4e019);
    mix(HI ^ key2High, LO ^ key2);
}

/** Of a cell with the value v in the row of a hash. */
function cellHash(rowHigh: number, row: number, high: number, low: number): void {
    mixSum(high, low, 0x8ebc6af0, 0x9c88c6e3);
    mixSum(rowHigh, row, HI, LO);
}

const big = (): bigint => BigInt(HI >>> 0) << 32n | BigInt(LO >>> 0);
const halves = (v: bigint): [number, number] => [Number(v >> 32n & 0xffffffffn) | 0, Number(v & 0xffffffffn) | 0];
function mixBig(v: bigint): bigint {
    const [high, low] = halves(v);
    mix(high, low);
    return big();
}
function hashBig(b: Uint8Array, at = 0, n = b.length): bigint {
    hash(b, at, n);
    return big();
}
const add64 = (a: bigint, b: bigint): bigint => a + b & MASK;

const littleBig = (b: Uint8Array, at: number): bigint => BigInt(word(b, at + 4) >>> 0) << 32n | BigInt(word(b, at) >>> 0);
function putBig(b: Uint8Array, at: number, v: bigint): void {
    const [high, low] = halves(v);
    putWord(b, at, low);
    putWord(b, at + 4, high);
}
function putWord(b: Uint8Array, at: number, v: number): void {
    b[at] = v;
    b[at + 1] = v >>> 8;
    b[at + 2] = v >>> 16;
    b[at + 3] = v >>> 24;
}

function same(a: Uint8Array, i: number, b: Uint8Array, k: number, n: number): boolean {
    for (const end = i + n; i < end; i++, k++) if (a[i] !== b[k]) return false;
    return true;
}

// ---- What packets and reports are read from and written to

/** Reading past its end sets bad, and gives zero. */
class In {
    bad = false;
    readonly b: Uint8Array; at: number; readonly end: number;
    constructor(b: Uint8Array, at: number, end: number) { this.b = b; this.at = at; this.end = end; }

    number(n: number): number {
        if (n > this.end - this.at) { this.bad = true; this.at = this.end; return 0; }
        let v = 0;
        for (let i = n - 1; i >= 0; i--) v = v * 256 + this.b[this.at + i]!;
        this.at += n;
        return v;
    }

    big(): bigint {
        if (8 > this.end - this.at) { this.bad = true; this.at = this.end; return 0n; }
        this.at += 8;
        return littleBig(this.b, this.at - 8);
    }

    skip(n: number): number {
        const at = this.at;
        if (n > this.end - at) { this.bad = true; this.at = this.end; } else this.at += n;
        return at;
    }
}

/** What does not fit sets full, and is left out. */
class Out {
    full = false;
    readonly b: Uint8Array; at: number; readonly end: number;
    constructor(b: Uint8Array, at: number, end: number) { this.b = b; this.at = at; this.end = end; }
    get room(): number { return this.end - this.at; }

    raw(from: Uint8Array, at = 0, n = from.length): void {
        if (n > this.end - this.at) { this.full = true; return; }
        for (let i = 0; i < n; i++) this.b[this.at + i] = from[at + i]!;
        this.at += n;
    }

    number(v: number, n: number): void {
        if (n > this.end - this.at) { this.full = true; return; }
        for (let i = 0; i < n; i++, v = Math.floor(v / 256)) this.b[this.at++] = v % 256;
    }

    big(v: bigint): void {
        if (8 > this.end - this.at) { this.full = true; return; }
        putBig(this.b, this.at, v);
        this.at += 8;
    }

    text(text: Uint8Array): void {
        const n = Math.min(text.length, 255);
        this.number(n, 1);
        this.raw(text, 0, n);
    }
}

// ---- What it keeps

interface FTable {
    label: string; bytes: Uint8Array; first: number; columns: number; slots: number; identity: number; rng: boolean; twoParts: boolean;
    touched: boolean; stale: boolean; // stale: what follows is not that of `live`
    count: number; order: Int32Array; rowOf: Int32Array; dirty: Int32Array; dirtyCount: number; isDirty: Uint8Array;
    words: Uint32Array; // keys in the order of rows: four halves each
    rowHashes: Int32Array; // by slot: high, low
}

interface FColumn {
    number: number; width: number; at: number; present: number; // in the table, -1 for the identity; of a cell; where values and whether there are values begin
    kept: number; shown: number; type: number; scale: number; text: boolean;
    componentName: string; fieldName: string; component: Uint8Array; field: Uint8Array;
    seen: (Uint8Array | undefined)[]; // blocks of the game's column that were compared last
}

interface Entry { point: number; root: bigint; history: bigint; inputs: bigint; begin: number; end: number }
interface Part { index: number; what: number; depth: number; step: number; count: number; table: number; column: number; point: number; from: bigint }
interface Asked { from: number; id: number; next: number; parts: Part[] }
interface Listed { table: number; column: number; rows: number; all: number; pending: number; more: boolean; first: boolean }
interface Group { peer: number; root: bigint; stepRoot: bigint; inputs: bigint; members: bigint; history: bigint }
interface Row { key: bigint; key2: bigint; hash: bigint; value: number; size: number; ends: boolean }

class Peer {
    name: Uint8Array;
    point = 0; history = 0n; heard = 0; askedAt = 0; since = 0; answered = 0; late = 0; group = 0; chunk = 0; sent = 0;
    beat = false; gone = false; asks = false; foreign = false; shares = false;
    readonly got = new Uint8Array(CHUNKS / 8);
    constructor(name: Uint8Array) { this.name = name; }
}

interface Head { flags: number; point: number; step: number; stepName: number; stepSize: number; silent: bigint; groups: number; members: bigint[]; roots: bigint[]; stepRoots: bigint[]; inputs: bigint[]; listed: number }
interface ReportColumn { label: number; labelSize: number; component: number; componentSize: number; field: number; fieldSize: number; type: number; scale: number; flags: number; atLeast: number; rows: number }

const within = (row: bigint, of: bigint, depth: number): boolean => !depth || row >> BigInt(64 - 6 * depth) === of >> BigInt(64 - 6 * depth);

function hasCell(c: FColumn, state: Uint8Array, slot: number): boolean { return c.number < 0 || state[c.present + slot] !== 0; }

/** The hash of a row of a state. */
function rowOf(t: FTable, state: Uint8Array, slot: number): void {
    const at = t.identity + slot * IDENTITY;
    rowHash(word(state, at + 5), word(state, at + 1), word(state, at + 13), word(state, at + 9));
}

/** What a cell of a state adds to the sum of its column. */
function cellOf(c: FColumn, rowHigh: number, row: number, state: Uint8Array, slot: number): void {
    if (c.number < 0) { mixSum(rowHigh, row, 0, 1); return; }
    const at = c.at + slot * c.width, n = c.text ? 8 : c.width;
    let low = state[at]!, high = 0;
    if (n === 8) { low = word(state, at); high = word(state, at + 4); }
    else if (n === 4) low = word(state, at);
    else if (n === 2) low |= state[at + 1]! << 8;
    cellHash(rowHigh, row, high, low);
}

/** Adds HI and LO to a sum, or takes them away. */
function addTo(sums: Int32Array, i: number, sign: number): void {
    if (sign < 0) { HI = ~HI; LO = ~LO; plus(0, 1); }
    plus(sums[2 * i + 1]!, sums[2 * i]!);
    sums[2 * i] = LO;
    sums[2 * i + 1] = HI;
}

export class FlightRecorder {
    private readonly o: FlightOptions;
    private readonly session: Session;
    private readonly seed: bigint;
    private readonly self: number;
    private readonly names: readonly string[];
    private readonly peers: Peer[];
    private readonly tables: FTable[] = [];
    private readonly columns: FColumn[] = [];
    private readonly schema: bigint;
    private readonly live: Uint8Array;
    private readonly past: Uint8Array;
    private readonly ring: Uint8Array;
    private readonly temp: Uint8Array;
    private readonly sums: Int32Array;
    private readonly pastSums: Int32Array;
    private head = 0; // bytes that were ever put into the ring
    private readonly entryMost: number;
    private entries: Entry[] = [];
    private entryFirst = 0; // those before are forgotten
    private readonly systems: { name: string; bytes: Uint8Array }[] = [];
    private begun = false; private open = false; private skips = false; private pastKnown = false;
    private openBegin = 0; private openInputs = 0n; private openTick = 0; private confirmed = 0; private pastPoint = 0; private pastStep = 0;
    private history = 0n; private joined: bigint;
    private readonly pastRows: Int32Array; // row hashes of a table of `past`
    private pastRowsOf: FTable | null = null;

    private now = 1; private started = 0; private halt = Infinity; private alertPoint = 0; private alertHistory = 0n; private alerted = 0;
    private beatPoint = 0; private beatHistory = 0n; private alertTo = 0; private beatTo = 0;
    private queue: Asked[] = [];
    private stage = IDLE; private rounds = 0; private restarts = 0; private spent = 0; private counter = 0; private id = 0; private rto = 400;
    private parts: Part[] = [];
    private readonly answers = new Uint8Array(GROUPS * PARTS * BODY);
    private readonly answerSize = new Int32Array(GROUPS * PARTS);
    private readonly answerState = new Int32Array(GROUPS * PARTS);
    private oldest = 0; private common = 0; private top = 0; private low = 0; private high = 0; private stride = 1; private point = 0; private silent = 0n;
    private step = END_OF_TICK; private flags = 0; private stepNumber = 0; private full = false; private older = false;
    private groups: Group[] = [];
    private stepName: Uint8Array = new Uint8Array(0);
    private tablesDiffer = 0; private columnsDiffer = 0;
    private listed: Listed[] = [];
    private work: { listed: number; depth: number; from: bigint; rows: number }[] = [];
    private readonly found: Uint8Array;
    private readonly reportBytes = new Uint8Array(CHUNK * CHUNKS);
    private readonly incoming = new Uint8Array(CHUNK * CHUNKS);
    private foundSize = 0; private reportSize = 0; private incomingSize = 0; private incomingFrom = 0; private reporter = 0; private reportId = 0; private incomingId = 0;
    private readonly incomingGot = new Uint8Array(CHUNKS / 8);
    private ack = false;
    private readonly packet = new Uint8Array(PACKET);
    private state_: FlightStatus = FlightStatus.WATCHING;

    /** The session has the seed, the build, the kinds of orders, and the peers, the same list on all of them, with this one as its peer. The
        world is the game's description of its state: later ones have the same tables and columns, and no table more rows than the options
        allow. */
    constructor(session: Session, world: World, options: FlightOptions = {}) {
        this.o = options;
        this.session = session;
        this.seed = BigInt(session.seed);
        this.names = session.peers ?? [];
        this.self = this.names.indexOf(session.peer ?? "");
        this.joined = options.history ?? 0n;
        const budget = options.budget ?? 8 << 20;
        if (budget < 1 << 20) throw new RangeError("the budget is smaller than 1 MiB");
        if (!this.names.length || this.names.length > MAX_PEERS) throw new RangeError("there are no peers, or more than 64");
        if (this.self < 0) throw new RangeError("this peer is not among the peers");
        this.peers = Array.from({ length: MAX_PEERS }, (_, i) => new Peer(i < this.names.length ? nameBytes(this.names[i]!, "peer") : new Uint8Array(0)));
        const table = (label: string, bytes: Uint8Array, columns: number, slots: number, rng: boolean, twoParts: boolean): void => {
            this.tables.push({
                label, bytes, first: this.columns.length, columns, slots, identity: 0, rng, twoParts, touched: false, stale: false, count: 0, order: new Int32Array(slots), rowOf: new Int32Array(slots),
                dirty: new Int32Array(slots), dirtyCount: 0, isDirty: new Uint8Array(slots), words: new Uint32Array(4 * slots), rowHashes: new Int32Array(2 * slots),
            });
            column(-1, "", "", 0, 0, IDENTITY, 0, 0, false);
        };
        const column = (number: number, component: string, field: string, type: number, scale: number, width: number, kept: number, shown: number, text: boolean): void => {
            const bytes = (name: string): Uint8Array => number < 0 ? new Uint8Array(0) : nameBytes(name, "name");
            this.columns.push({ number, width, at: 0, present: 0, kept, shown, type, scale, text, componentName: component, fieldName: field, component: bytes(component), field: bytes(field), seen: [] });
        };
        if (world.rng?.length) {
            table("", new Uint8Array(0), 2, 1, true, false);
            column(0, "RNG", "state", Type.BYTES, 0, 12 + world.rng.length, world.rng.length, VALUE_MOST, true);
        }
        for (const w of world.tables) {
            if (w.cls !== TableClass.ARCHETYPE) continue;
            const slots = options.rows?.[w.label] ?? Math.max(64, 2 * w.rows);
            if (slots < w.rows) throw new RangeError(`${w.label} has more than ${slots} rows`);
            table(w.label, w.labelBytes, w.columns.length + 1, slots, false, w.keyParts === 2);
            w.columns.forEach((c, i) => {
                const size = options.sizes?.[`${w.label} ${c.component}.${c.field}`], kept = size ?? TEXT_KEPT;
                if (!(kept >= 1 && kept <= 4096)) throw new RangeError("options.sizes: 1 to 4096 bytes");
                column(i, c.component, c.field, c.type, c.scale, c.width || 12 + kept, kept, size === undefined ? TEXT_KEPT : VALUE_MOST, !c.width);
            });
        }
        let size = 0, schema = 0n, slots = 1, extra = 0, largest = 64;
        for (const t of this.tables) {
            schema = mixBig(add64(schema, 1n) ^ hashBig(t.bytes));
            t.identity = size;
            slots = Math.max(slots, t.slots);
            extra += 53 * t.slots;
            for (let i = 0; i < t.columns; i++) {
                const c = this.columns[t.first + i]!;
                largest = Math.max(largest, c.width + 1);
                c.at = size;
                size += c.width * t.slots;
                if (!i) continue;
                c.present = size;
                size += t.slots;
                schema = mixBig(schema ^ hashBig(c.component));
                schema = mixBig(schema ^ hashBig(c.field));
                schema = mixBig(schema + BigInt(c.type) + (BigInt(c.scale) << 8n) & MASK);
            }
        }
        let found = Math.min(options.values ?? 65536, CHUNK * CHUNKS - 32768);
        if (this.names.length > 2) found = Math.min(found, Math.floor(50000 / (this.names.length - 1)) - 400);
        this.entryMost = budget >> 11;
        const left = budget - (160 << 10) - 2 * size - extra - 16 * this.columns.length - 160 * this.entryMost - GROUPS * PARTS * BODY - largest - found - 2 * CHUNK * CHUNKS - 8 * slots;
        if (left < budget / 8) throw new RangeError(TOO_SMALL);
        this.schema = schema;
        this.live = new Uint8Array(size);
        this.past = new Uint8Array(size);
        this.sums = new Int32Array(2 * this.columns.length);
        this.pastSums = new Int32Array(2 * this.columns.length);
        this.temp = new Uint8Array(largest);
        this.found = new Uint8Array(found);
        this.pastRows = new Int32Array(2 * slots);
        this.ring = new Uint8Array(left);
    }

    // ---- The ring: what cells contained before they changed. Copying that back, the latest first, leads to earlier states

    private put(from: Uint8Array, at: number, n: number): void {
        let to = this.head % this.ring.length;
        this.head += n;
        if (n > this.ring.length) return; // nothing of this tick will be kept
        for (let i = 0; i < n; i++) {
            this.ring[to] = from[at + i]!;
            if (++to === this.ring.length) to = 0;
        }
    }

    private putNumber(v: number, n: number): void {
        let to = this.head % this.ring.length;
        this.head += n;
        for (let i = 0; i < n; i++) {
            this.ring[to] = v >>> 8 * i;
            if (++to === this.ring.length) to = 0;
        }
    }

    private get(from: number, to: Uint8Array, at: number, n: number): void {
        let begin = from % this.ring.length;
        for (let i = 0; i < n; i++) {
            to[at + i] = this.ring[begin]!;
            if (++begin === this.ring.length) begin = 0;
        }
    }

    private getNumber(from: number, n: number): number {
        let at = from % this.ring.length, v = 0;
        for (let i = 0; i < n; i++) {
            v |= this.ring[at]! << 8 * i;
            if (++at === this.ring.length) at = 0;
        }
        return v >>> 0;
    }

    private getBig(from: number): bigint { return BigInt(this.getNumber(from + 4, 4)) << 32n | BigInt(this.getNumber(from, 4)); }

    private item(kind: number, begin: number): void {
        this.putNumber(kind, 1);
        this.putNumber(this.head - begin, 4);
    }

    private get entryCount(): number { return this.entries.length - this.entryFirst; }
    private get firstEntry(): Entry { return this.entries[this.entryFirst]!; }
    private get lastEntry(): Entry { return this.entries[this.entries.length - 1]!; }

    private forget(): void {
        if (++this.entryFirst < this.entryMost) return;
        this.entries = this.entries.slice(this.entryFirst);
        this.entryFirst = 0;
    }

    /** The entry of a point, undefined if it is not kept. */
    private entryOf(point: number): Entry | undefined {
        if (!this.entryCount) return undefined;
        const i = point - this.firstEntry.point;
        return i >= 0 && i < this.entryCount ? this.entries[this.entryFirst + i] : undefined;
    }

    // ---- What changed

    private compareSlots(t: FTable, a: number, b: number): number {
        const i = t.identity + a * IDENTITY, k = t.identity + b * IDENTITY;
        for (const part of [5, 1, 13, 9]) {
            const d = (word(this.live, i + part) >>> 0) - (word(this.live, k + part) >>> 0);
            if (d) return d;
        }
        return 0;
    }

    /** Puts the slots of a table in the order of their keys again, after `live` was taken back. */
    private sort(t: FTable): void {
        t.count = 0;
        for (let i = 0; i < t.slots; i++) if (this.live[t.identity + i * IDENTITY]) t.order[t.count++] = i;
        t.order.subarray(0, t.count).sort((a, b) => this.compareSlots(t, a, b));
        for (let i = 0; i < t.count; i++) {
            const at = t.identity + t.order[i]! * IDENTITY;
            for (let k = 0; k < 4; k++) t.words[4 * i + k] = word(this.live, at + 1 + 4 * k);
            rowOf(t, this.live, t.order[i]!);
            t.rowHashes[2 * t.order[i]!] = HI;
            t.rowHashes[2 * t.order[i]! + 1] = LO;
        }
    }

    private markDirty(t: FTable, slot: number): void {
        if (t.isDirty[slot]) return;
        t.isDirty[slot] = 1;
        t.dirty[t.dirtyCount++] = slot;
    }

    /** Finds the slot of each row; rows that are new get a slot that is free. Returns whether all is as it was. */
    private match(t: FTable, w: Table | null, count: number): boolean {
        const n = w ? 2 * w.keyParts : 0;
        const half = (row: number, k: number): number => w && k < n ? w.words[n * row + k]! : 0;
        let as = !t.stale && count === t.count && !t.dirtyCount;
        for (let i = 0; as && i < count; i++) for (let k = 0; k < 4; k++) as &&= half(i, k) === t.words[4 * i + k];
        if (as) return true;
        if (t.stale) this.sort(t);
        t.stale = false;
        t.dirtyCount = 0;
        t.isDirty.fill(0);
        t.rowOf.fill(-1);
        const fresh: number[] = [];
        let old = 0;
        const order = (row: number): number => {
            for (const k of [1, 0, 3, 2]) {
                const d = t.words[4 * old + k]! - half(row, k);
                if (d) return d;
            }
            return 0;
        };
        for (let row = 0; row < count; row++) {
            let d = 1;
            while (old < t.count && (d = order(row)) < 0) this.markDirty(t, t.order[old++]!);
            if (old < t.count && d === 0) t.rowOf[t.order[old++]!] = row;
            else fresh.push(row);
        }
        while (old < t.count) this.markDirty(t, t.order[old++]!);
        let slot = 0, pass = 0;
        for (const row of fresh) {
            while (t.rowOf[slot]! >= 0 || !pass && t.isDirty[slot]) if (++slot === t.slots) { slot = 0; pass++; } // a slot that just got free is taken last
            this.markDirty(t, slot);
            t.rowOf[slot] = row;
        }
        t.count = count;
        for (let i = 0; i < t.slots; i++) if (t.rowOf[i]! >= 0) t.order[t.rowOf[i]!] = i;
        for (let row = 0; row < count; row++) for (let k = 0; k < 4; k++) t.words[4 * row + k] = half(row, k);
        return false;
    }

    private changed(c: FColumn, slot: number): void {
        const at = c.at + slot * c.width, live = this.live;
        this.putNumber(slot, 4);
        this.put(live, at, c.width);
        this.putNumber(live[c.present + slot]!, 1);
        for (let i = 0; i < c.width; i++) live[at + i] = this.temp[i]!;
        live[c.present + slot] = this.temp[c.width]!;
    }

    /** A row has the cell in `temp` now: returns 1 if it had another one. */
    private take(t: FTable, c: FColumn, number: number, row: number): number {
        const slot = t.order[row]!, at = c.at + slot * c.width, live = this.live, moved = t.isDirty[slot]!;
        const differs = live[c.present + slot] !== this.temp[c.width] || !same(this.temp, 0, live, at, c.width);
        if (!differs && !moved) return 0;
        if (live[t.identity + slot * IDENTITY] && live[c.present + slot]) {
            cellOf(c, t.rowHashes[2 * slot]!, t.rowHashes[2 * slot + 1]!, live, slot);
            addTo(this.sums, number, -1);
        }
        if (differs) this.changed(c, slot);
        if (live[c.present + slot]) {
            if (moved) rowHash(t.words[4 * row + 1]!, t.words[4 * row]!, t.words[4 * row + 3]!, t.words[4 * row + 2]!);
            else { HI = t.rowHashes[2 * slot]!; LO = t.rowHashes[2 * slot + 1]!; }
            cellOf(c, HI, LO, live, slot);
            addTo(this.sums, number, 1);
        }
        return differs ? 1 : 0;
    }

    private readText(c: FColumn, b: Uint8Array, at: number, n: number): void {
        hash(b, at, n);
        putWord(this.temp, 0, LO);
        putWord(this.temp, 4, HI);
        putWord(this.temp, 8, n);
        for (let i = 0; i < n && i < c.kept; i++) this.temp[12 + i] = b[at + i]!;
    }

    private compareColumn(t: FTable, number: number, w: Table | null, from: Column | null, rng: Uint8Array | null, as: boolean): void {
        const c = this.columns[number]!, begin = this.head, low = this.sums[2 * number]!, high = this.sums[2 * number + 1]!, temp = this.temp, width = c.width;
        let count = 0;
        for (let i = 0; i < t.dirtyCount; i++) {
            const slot = t.dirty[i]!;
            if (t.rowOf[slot]! >= 0 || !this.live[c.present + slot]) continue;
            cellOf(c, t.rowHashes[2 * slot]!, t.rowHashes[2 * slot + 1]!, this.live, slot);
            addTo(this.sums, number, -1);
        }
        if (!w || !from) {
            temp.fill(0, 0, width);
            temp[width] = 1;
            this.readText(c, rng!, 0, rng!.length);
            count += this.take(t, c, number, 0);
        }
        const blocks = from ? from.cells.blocks : [];
        for (let b = 0; b < blocks.length; b++) {
            const block = blocks[b]!, start = w!.starts[b]!, rows = w!.starts[b + 1]! - start, map = block[1] ? rows + 7 >> 3 : 0;
            if (as && c.seen[b] === block) continue;
            c.seen[b] = block;
            let at = 8 + map, content = at + 4 * rows;
            for (let i = 0; i < rows; i++) {
                const has = map ? block[8 + (i >> 3)]! >> (i & 7) & 1 : 1, row = start + i, slot = t.order[row]!;
                if (!c.text) {
                    const cell = c.at + slot * width;
                    if (!t.isDirty[slot] && this.live[c.present + slot] === has && same(block, at, this.live, cell, width)) { at += width; continue; }
                    for (let k = 0; k < width; k++) temp[k] = block[at + k]!;
                    at += width;
                } else {
                    temp.fill(0, 0, width);
                    const n = word(block, at);
                    if (has) this.readText(c, block, content, n);
                    at += 4;
                    content += n;
                }
                temp[width] = has ? 1 : 0;
                count += this.take(t, c, number, row);
            }
        }
        c.seen.length = blocks.length;
        if (count || this.sums[2 * number] !== low || this.sums[2 * number + 1] !== high) this.endCells(low, high, number, count, begin);
    }

    private endCells(low: number, high: number, number: number, count: number, begin: number): void {
        this.putNumber(low, 4);
        this.putNumber(high, 4);
        this.putNumber(number, 4);
        this.putNumber(count, 4);
        this.item(CELLS_ITEM, begin);
    }

    /** Notes what changed since the last call. */
    private capture(call: string, world: World): void {
        const worlds = world.tables;
        let next = 0;
        this.pastKnown = false;
        for (const t of this.tables) {
            let w: Table | null = null;
            if (!t.rng) {
                while (next < worlds.length && worlds[next]!.cls !== TableClass.ARCHETYPE) next++;
                w = worlds[next++] ?? null;
                if (!w || w.label !== t.label || w.columns.length !== t.columns - 1) throw new Error(`${call}: the state has other tables or columns than when the recorder was made`);
                if (w.rows > t.slots) throw new RangeError(`${call}: ${t.label} has more than ${t.slots} rows: options.rows`);
            } else if (!world.rng) throw new Error(`${call}: the state has no RNG`);
            if (this.o.marked && this.begun && !t.touched) continue;
            t.touched = false;
            const as = this.match(t, w, w ? w.rows : 1);
            for (let i = 1; i < t.columns; i++) this.compareColumn(t, t.first + i, w, w ? w.columns[i - 1]! : null, world.rng, as);
            if (!t.dirtyCount) continue;
            const begin = this.head, low = this.sums[2 * t.first]!, high = this.sums[2 * t.first + 1]!;
            for (let i = 0; i < t.dirtyCount; i++) {
                const slot = t.dirty[i]!, cell = t.identity + slot * IDENTITY, row = t.rowOf[slot]!;
                if (this.live[cell]) {
                    mixSum(t.rowHashes[2 * slot]!, t.rowHashes[2 * slot + 1]!, 0, 1);
                    addTo(this.sums, t.first, -1);
                }
                this.putNumber(slot, 4);
                this.put(this.live, cell, IDENTITY);
                this.live.fill(0, cell, cell + IDENTITY);
                if (row < 0) continue;
                this.live[cell] = 1;
                for (let k = 0; k < 4; k++) putWord(this.live, cell + 1 + 4 * k, t.words[4 * row + k]!);
                rowOf(t, this.live, slot);
                t.rowHashes[2 * slot] = HI;
                t.rowHashes[2 * slot + 1] = LO;
                mixSum(HI, LO, 0, 1);
                addTo(this.sums, t.first, 1);
            }
            this.endCells(low, high, t.first, t.dirtyCount, begin);
        }
    }

    private leaf(of: Int32Array, table: number): bigint {
        const t = this.tables[table]!;
        HI = LO = 0;
        for (let i = t.first; i < t.first + t.columns; i++) {
            mixSum(HI, LO, of[2 * i + 1]!, of[2 * i]!);
            plus(0, 1);
        }
        return big();
    }

    private root(of: Int32Array): bigint {
        let h = this.schema;
        for (let i = 0; i < this.tables.length; i++) h = add64(mixBig(add64(h, this.leaf(of, i))), 1n);
        return h;
    }

    /** Takes an item back that ends at `end`, in a state. Returns where it begins. */
    private back(end: number, state: Uint8Array, of: Int32Array): number {
        const begin = end - 4 - this.getNumber(end - 4, 4);
        if (this.getNumber(end - 5, 1) !== CELLS_ITEM) return begin;
        const number = this.getNumber(end - 13, 4), count = this.getNumber(end - 9, 4), c = this.columns[number]!;
        of[2 * number] = this.getNumber(end - 21, 4);
        of[2 * number + 1] = this.getNumber(end - 17, 4);
        const size = 4 + (c.number < 0 ? IDENTITY : c.width + 1);
        for (let at = begin + count * size; at > begin;) {
            at -= size;
            const slot = this.getNumber(at, 4);
            this.get(at + 4, state, c.at + slot * c.width, c.width);
            if (c.number >= 0) state[c.present + slot] = this.getNumber(at + 4 + c.width, 1);
        }
        return begin;
    }

    /** Rebuilds a state into `past`: at a point, or after a step of the tick before it. Returns false if it is not kept. */
    private rebuild(point: number, after: number): boolean {
        const e = this.entryOf(point);
        let steps = 0;
        if (!e) return false;
        if (this.pastKnown && this.pastPoint === point && this.pastStep === after) return true;
        this.pastKnown = false;
        this.pastRowsOf = null;
        if (after !== END_OF_TICK) {
            if (this.head - e.begin > this.ring.length) return false;
            for (let back = e.end; back > e.begin; back -= 4 + this.getNumber(back - 4, 4)) if (this.getNumber(back - 5, 1) === STEP_ITEM) steps++;
            if (after >= steps) return false;
        }
        this.past.set(this.live);
        this.pastSums.set(this.sums);
        let at = this.head;
        while (at > e.end) at = this.back(at, this.past, this.pastSums);
        while (after !== END_OF_TICK && at > e.begin) {
            if (this.getNumber(at - 5, 1) === STEP_ITEM && --steps === after) break;
            at = this.back(at, this.past, this.pastSums);
        }
        this.pastKnown = true;
        this.pastPoint = point;
        this.pastStep = after;
        return true;
    }

    // ---- Recording

    /** Forgets ticks that no longer fit. */
    private trim(): void { while (this.entryCount && this.head - this.firstEntry.end > this.ring.length) this.forget(); }

    /** Whether ticks are still recorded: a recorder that looks for a difference keeps what it has. */
    private records(point: number): boolean { return this.state_ === FlightStatus.WATCHING || point <= this.halt; }

    tick(tick: number, orders: readonly Order[]): void {
        const begin = this.head, kinds = this.session.kinds ?? [];
        let h = mixBig(BigInt(tick));
        if (!this.begun) throw new Error("FlightRecorder.tick: there is no state before the tick: state comes first");
        if (this.open) throw new Error("FlightRecorder.tick: the tick before has no state yet: state is missing");
        this.skips = !this.records(tick + 1);
        if (this.skips) return;
        if (this.entryCount && tick !== this.lastEntry.point) throw new Error("FlightRecorder.tick: another tick is next");
        for (const order of orders) {
            if (!kinds.some((k) => k.name === order.kind)) throw new RangeError("FlightRecorder.tick: an order has an unknown kind");
            if (order.payload.length > 4 << 20) throw new RangeError("FlightRecorder.tick: the payload of an order has more than 4 MiB");
        }
        for (const order of orders) {
            const kind = kinds.findIndex((k) => k.name === order.kind), head = [order.subTick ?? 0, order.player, order.sequence ?? 0, kind];
            for (const v of head) this.putNumber(v, 4);
            this.putNumber(order.payload.length, 4);
            this.put(order.payload, 0, order.payload.length);
            if (kinds[kind]!.local) continue;
            for (const v of head) h = add64(mixBig(add64(h, BigInt(v))), 1n);
            h = mixBig(h ^ hashBig(order.payload));
        }
        if (orders.length) this.item(ORDERS_ITEM, begin);
        this.open = true;
        this.openTick = tick;
        this.openBegin = begin;
        this.openInputs = h;
        this.trim();
    }

    system(name: string, world: World): void {
        if (this.skips) return;
        if (!this.open) throw new Error("FlightRecorder.system: no tick is begun: tick comes first");
        let i = this.systems.findIndex((s) => s.name === name);
        if (i < 0) {
            if (this.systems.length === MAX_NAMES) throw new RangeError("FlightRecorder.system: there are more than 256 systems");
            const bytes = nameBytes(name, "name");
            if (bytes.length > NAME_MOST) throw new RangeError("FlightRecorder.system: the name is longer than 63 bytes");
            i = this.systems.push({ name, bytes }) - 1;
        }
        this.capture("FlightRecorder.system", world);
        const begin = this.head, [high, low] = halves(this.root(this.sums));
        this.putNumber(i, 2);
        this.putNumber(low, 4);
        this.putNumber(high, 4);
        this.item(STEP_ITEM, begin);
        this.trim();
    }

    state(point: number, world: World): void {
        if (this.begun && this.skips) return;
        if (this.begun && (!this.open || point !== this.openTick + 1)) throw new Error("FlightRecorder.state: the tick before this state is not begun: tick comes first");
        if (!this.begun) this.openBegin = this.head;
        this.capture("FlightRecorder.state", world);
        const root = this.root(this.sums), before = this.begun ? this.history : mixBig(BigInt(point));
        let history = add64(mixBig(add64(before, root)), 1n);
        if (!this.begun) this.confirmed = point;
        if (!this.begun && this.joined) history = this.joined;
        this.joined = 0n;
        this.history = history;
        const e: Entry = { point, root, history, inputs: this.openInputs, begin: this.begun ? this.openBegin : this.head, end: this.head };
        this.begun = true;
        this.open = this.pastKnown = false;
        this.trim();
        if (this.entryCount === this.entryMost) this.forget();
        this.entries.push(e);
        this.trim();
        if (!this.o.rollback) this.confirmed = point;
        this.check();
    }

    /** With marked: a table, or the RNG with the label "", may have changed since it was compared last. A change in a table that is not marked
        is found late, at the next mark of that table. */
    touch(label: string): void { for (const t of this.tables) if (t.label === label) t.touched = true; }

    /** A game that rolls back calls this before it goes back to a state point: what was kept after it is taken back. The next world that it
        gives must be that of the point, or of a tick after it. */
    rollback(point: number): void {
        const e = this.entryOf(point);
        if (!this.o.rollback) throw new Error("FlightRecorder.rollback: the recorder was made without rollback");
        if (this.skips && this.entryCount && point > this.lastEntry.point) return;
        if (point < this.confirmed) throw new Error("FlightRecorder.rollback: the state is confirmed");
        if (!e) throw new Error("FlightRecorder.rollback: the state is no longer kept");
        if (this.head - e.end > this.ring.length) throw new Error("FlightRecorder.rollback: the tick is larger than what is kept");
        while (this.head > e.end) this.head = this.back(this.head, this.live, this.sums);
        this.entries.length = this.entryFirst + (point - this.firstEntry.point) + 1;
        this.open = this.skips = this.pastKnown = false;
        this.history = e.history;
        for (const t of this.tables) t.stale = true;
    }

    /** With rollback: states up to a point are final, all their inputs are known. Only these are compared with other peers. */
    confirm(point: number): void {
        if (!this.o.rollback) throw new Error("FlightRecorder.confirm: the recorder was made without rollback");
        if (point < this.confirmed) throw new Error("FlightRecorder.confirm: confirmed points ascend");
        if (!this.records(point)) return;
        if (!this.entryCount || point > this.lastEntry.point) throw new Error("FlightRecorder.confirm: there is no state of this point yet");
        this.confirmed = point;
        this.check();
    }

    holds(): FlightKept {
        if (!this.entryCount) return { from: 0, to: 0, bytes: 0, of: this.ring.length, more: 0 };
        const bytes = this.head - this.firstEntry.end;
        return { from: this.firstEntry.point, to: this.lastEntry.point, bytes, of: this.ring.length, more: bytes + 160 * this.entryCount };
    }

    /** The 64-bit hash of the state at a point, 0 if it is not kept. Games that compare hashes by themselves may use it. */
    hashAt(point: number): bigint { return this.entryOf(point)?.root ?? 0n; }

    /** The hash of all states up to a point, 0 if it is not kept. */
    historyAt(point: number): bigint { return this.entryOf(point)?.history ?? 0n; }

    get status(): FlightStatus { return this.state_; }

    /** Another peer has, or claims, another state: what is kept now is kept. */
    private noticed(point: number, history: bigint): void {
        const last = this.entryCount ? this.lastEntry.point : 0;
        if (this.state_ !== FlightStatus.WATCHING) return;
        this.state_ = FlightStatus.ASKING;
        this.halt = point > last + 64 ? last + 64 : point;
        this.started = this.now;
        this.alertPoint = point;
        this.alertHistory = history;
        this.alertTo = this.alerted = 0;
        for (const p of this.peers) p.gone = false;
    }

    /** Compares what peers have sent with the states that are known now, and sends own ones. */
    private check(): void {
        const n = this.names.length, every = n > 16 ? Math.floor(n * 3 / 2) : 16, at = Math.floor(this.confirmed / every);
        if (this.state_ !== FlightStatus.WATCHING) return;
        if (at !== Math.floor(this.beatPoint / every) || !this.beatHistory) {
            const e = this.entryOf(at * every);
            if (e) { this.beatPoint = e.point; this.beatHistory = e.history; this.beatTo = 0; }
        }
        for (let i = 0; i < n; i++) {
            const p = this.peers[i]!;
            if (!p.beat || p.point > this.confirmed) continue;
            p.beat = false;
            const e = this.entryOf(p.point);
            if (e && e.history !== p.history) this.noticed(p.point, e.history);
        }
    }

    /** The game itself found that the state at a point differs from the state of other peers. A peer's packet does the same. */
    differs(point: number): void {
        if (!this.begun) throw new Error("FlightRecorder.differs: there is no state yet: state comes first");
        this.noticed(point, this.historyAt(point));
    }
}
