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

import { OrderLog, Recorder, TableClass, Trace, Type, World, crc32c, encodeSnapshot, mulHigh, nameBytes, snapshotName } from "./desynctool.ts";
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
const FOR_STATUS = 1, FOR_HISTORY = 2, FOR_STEPS = 3, FOR_TABLES = 4, FOR_COLUMNS = 5, FOR_BUCKETS = 6, FOR_ROWS = 7, FOR_NAMING = 8;
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
    run: Uint8Array;    // by row: how many from it on have slots one after the other and do not move, at most 255
    rowHashes: Int32Array; // by slot: high, low
}

interface FColumn {
    number: number; width: number; at: number; present: number; // in the table, -1 for the identity; of a cell; where values and whether there are values begin
    kept: number; shown: number; type: number; scale: number; text: boolean;
    componentName: string; fieldName: string; component: Uint8Array; field: Uint8Array;
    seen: (Uint8Array | undefined)[]; // blocks of the game's column that were compared last
    gaps: boolean; // there may be rows without a value
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

/** Writes what a column is. */
function describe(w: Out, t: FTable, c: FColumn): void {
    for (const text of [t.bytes, c.component, c.field]) w.text(text);
    w.number(c.type, 1);
    w.number(c.scale, 4);
}

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
    private readonly liveWords: Int32Array;
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
    private measured = false; // the estimate of answers is no guess
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
                dirty: new Int32Array(slots), dirtyCount: 0, isDirty: new Uint8Array(slots), words: new Uint32Array(4 * slots), rowHashes: new Int32Array(2 * slots), run: new Uint8Array(slots),
            });
            column(-1, "", "", 0, 0, IDENTITY, 0, 0, false);
        };
        const column = (number: number, component: string, field: string, type: number, scale: number, width: number, kept: number, shown: number, text: boolean): void => {
            const bytes = (name: string): Uint8Array => number < 0 ? new Uint8Array(0) : nameBytes(name, "name");
            this.columns.push({ number, width, at: 0, present: 0, kept, shown, type, scale, text, componentName: component, fieldName: field, component: bytes(component), field: bytes(field), seen: [], gaps: true });
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
            t.identity = size = size + 3 & ~3;
            slots = Math.max(slots, t.slots);
            extra += 54 * t.slots;
            for (let i = 0; i < t.columns; i++) {
                const c = this.columns[t.first + i]!;
                largest = Math.max(largest, c.width + 1);
                c.at = size = size + 3 & ~3;
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
        this.live = new Uint8Array(size + 3 & ~3);
        this.liveWords = new Int32Array(this.live.buffer);
        this.past = new Uint8Array(this.live.length);
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
        const n = w ? 2 * w.keyParts : 0, words = t.words, keys = w ? w.words : words;
        const half = (row: number, k: number): number => w && k < n ? w.words[n * row + k]! : 0;
        let as = !t.stale && count === t.count && !t.dirtyCount;
        for (let i = 0; as && i < n * count; i++) as = keys[i] === words[n === 2 ? i + (i & ~1) : i];
        if (as) return true;
        if (t.stale) {
            this.sort(t);
            for (let i = 0; i < t.columns; i++) this.columns[t.first + i]!.gaps = true;
        }
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
        for (let row = count - 1; row >= 0; row--) {
            const slot = t.order[row]!, next = row + 1 < count && t.order[row + 1] === slot + 1 ? t.run[row + 1]! : 0;
            t.run[row] = t.isDirty[slot] ? 0 : Math.min(255, next + 1);
        }
        return false;
    }

    private changed(c: FColumn, slot: number): void {
        const at = c.at + slot * c.width, live = this.live, ring = this.ring;
        let to = this.head % ring.length;
        if (to + 5 + c.width <= ring.length) {
            this.head += 5 + c.width;
            putWord(ring, to, slot);
            to += 4;
            for (let i = 0; i < c.width; i++) ring[to++] = live[at + i]!;
            ring[to] = live[c.present + slot]!;
        } else {
            this.putNumber(slot, 4);
            this.put(live, at, c.width);
            this.putNumber(live[c.present + slot]!, 1);
        }
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
        const blocks = from ? from.cells.blocks : [], gaps = c.gaps, liveWords = this.liveWords;
        if (!as) c.gaps = false;
        for (let b = 0; b < blocks.length; b++) {
            const block = blocks[b]!, start = w!.starts[b]!, rows = w!.starts[b + 1]! - start, map = block[1] ? rows + 7 >> 3 : 0;
            if (as && c.seen[b] === block) continue;
            c.seen[b] = block;
            if (map) c.gaps = true;
            const words = c.text || map || gaps || block.byteOffset & 3 ? null : new Int32Array(block.buffer, block.byteOffset, block.length >> 2);
            let at = 8 + map, content = at + 4 * rows;
            for (let i = 0; i < rows; i++) {
                if (words) { // whole words of rows that lie one after the other in both
                    const n = Math.min(t.run[start + i]!, rows - i) * width >> 2, cell = c.at + t.order[start + i]! * width;
                    if (n && !(at & 3) && !(cell & 3)) {
                        let k = 0;
                        for (let a = at >> 2, l = cell >> 2; k < n && words[a] === liveWords[l]; k++, a++, l++);
                        const equal = Math.floor(4 * k / width);
                        i += equal;
                        at += equal * width;
                        if (i >= rows) break;
                    }
                }
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

    // ---- Packets

    private write(kind: number, id: number): Out {
        const w = new Out(this.packet, 0, PACKET - 4);
        w.number(0x014644, 3); // DF, 1
        w.number(kind, 1);
        w.big(this.seed);
        w.number(Number(this.schema & 0xffffffffn), 4);
        w.number(id, 4);
        return w;
    }

    private sealed(w: Out, to: number): { to: number; packet: Uint8Array } {
        putWord(this.packet, w.at, crc32c(this.packet.subarray(0, w.at)));
        return { to, packet: this.packet.subarray(0, w.at + 4) };
    }

    // ---- Answers: they depend on the question and on what is kept, on nothing else

    /** Writes the value of a cell in `past`: 0 no value, 1 a value, 2 one of which only the beginning is there. */
    private writeValue(w: Out, c: FColumn, slot: number): void {
        if (!hasCell(c, this.past, slot)) { w.number(0, 1); return; }
        const at = c.at + slot * c.width, whole = c.text ? word(this.past, at + 8) >>> 0 : c.number < 0 ? 0 : c.width;
        const n = c.text ? Math.min(whole, c.kept, c.shown) : whole;
        w.number(n === whole ? 1 : 2, 1);
        w.number(n, 1);
        w.raw(this.past, c.text ? at + 12 : at, n);
        if (n === whole) return;
        w.number(whole, 4);
        w.big(littleBig(this.past, at));
    }

    /** The hashes of the rows of a table in `past`, by slot. */
    private rowsOfPast(t: FTable): Int32Array {
        if (this.pastRowsOf === t) return this.pastRows;
        for (let i = 0; i < t.slots; i++) {
            if (!this.past[t.identity + i * IDENTITY]) continue;
            rowOf(t, this.past, i);
            this.pastRows[2 * i] = HI;
            this.pastRows[2 * i + 1] = LO;
        }
        this.pastRowsOf = t;
        return this.pastRows;
    }

    /** The rows of a range, by ascending hash of their keys, beginning at p.from. */
    private answerRows(p: Part, t: FTable, w: Out): void {
        const c = this.columns[t.first + p.column]!, more = w.at, hashes = this.rowsOfPast(t), shift = BigInt(64 - 6 * p.depth);
        const [fromHigh, fromLow] = halves(p.from), last = p.depth ? (p.from >> shift << shift) + (1n << shift) - 1n : MASK, [lastHigh, lastLow] = halves(last);
        let high = fromHigh >>> 0, low = fromLow >>> 0;
        w.number(0, 1);
        for (;;) {
            let best = -1, bestHigh = lastHigh >>> 0, bestLow = lastLow >>> 0;
            for (let i = 0; i < t.slots; i++) {
                if (!this.past[t.identity + i * IDENTITY]) continue;
                const h = hashes[2 * i]! >>> 0, l = hashes[2 * i + 1]! >>> 0;
                if (h < high || h === high && l < low || h > bestHigh || h === bestHigh && (l > bestLow || l === bestLow && best >= 0)) continue;
                best = i;
                bestHigh = h;
                bestLow = l;
            }
            if (best < 0) return;
            const at = w.at;
            w.raw(this.past, t.identity + best * IDENTITY + 1, 16);
            this.writeValue(w, c, best);
            if (w.full) {
                w.full = false;
                w.at = at;
                w.b[more] = 1;
                return;
            }
            if (bestHigh === 0xffffffff && bestLow === 0xffffffff) return;
            low = bestLow + 1;
            high = low > 0xffffffff ? bestHigh + 1 : bestHigh;
            low %= 0x100000000;
        }
    }

    private answerTables(p: Part, w: Out): number {
        if (p.point > this.confirmed) return NOT_YET;
        if (!this.rebuild(p.point, p.step)) return FELL_OUT;
        if (p.what === FOR_TABLES) {
            w.number(this.tables.length, 4);
            for (let i = p.from; i < this.tables.length && w.room >= 8; i++) w.big(this.leaf(this.pastSums, Number(i)));
            return OK;
        }
        const t = this.tables[p.table];
        if (!t) return NONE;
        if (p.what === FOR_COLUMNS) {
            let rows = 0;
            for (let i = 0; i < t.slots; i++) rows += this.past[t.identity + i * IDENTITY]!;
            w.number(rows, 4);
            w.number(t.columns, 4);
            for (let i = p.from; i < t.columns && w.room >= 8; i++) {
                const at = 2 * (t.first + Number(i));
                w.number(this.pastSums[at]! >>> 0, 4);
                w.number(this.pastSums[at + 1]! >>> 0, 4);
            }
            return OK;
        }
        if (p.column >= t.columns || p.depth > 10) return NONE;
        if (p.what === FOR_BUCKETS && p.depth < 10) {
            const c = this.columns[t.first + p.column]!, sums = new Int32Array(128), hashes = this.rowsOfPast(t), shift = BigInt(58 - 6 * p.depth);
            for (let i = 0; i < t.slots; i++) {
                if (!this.past[t.identity + i * IDENTITY] || !hasCell(c, this.past, i)) continue;
                const high = hashes[2 * i]!, low = hashes[2 * i + 1]!, row = BigInt(high >>> 0) << 32n | BigInt(low >>> 0);
                if (!within(row, p.from, p.depth)) continue;
                cellOf(c, high, low, this.past, i);
                addTo(sums, Number(row >> shift & 63n), 1);
            }
            for (const half of sums) w.number(half >>> 0, 4);
            return OK;
        }
        if (p.what === FOR_NAMING) {
            describe(w, t, this.columns[t.first + p.column]!);
            return OK;
        }
        if (p.what !== FOR_ROWS) return NONE;
        this.answerRows(p, t, w);
        return OK;
    }

    /** Where the items of the steps end of the tick that leads to a point. */
    private stepsOf(e: Entry | undefined): number[] {
        const at: number[] = [];
        if (!e || this.head - e.begin > this.ring.length) return at;
        for (let back = e.end; back > e.begin; back -= 4 + this.getNumber(back - 4, 4)) if (this.getNumber(back - 5, 1) === STEP_ITEM && at.length < MAX_NAMES) at.push(back);
        return at.reverse();
    }

    private answerSteps(p: Part, w: Out): number {
        const e = this.entryOf(p.point);
        if (p.point > this.confirmed) return NOT_YET;
        if (!e) return FELL_OUT;
        w.big(e.inputs);
        const steps = this.stepsOf(e);
        w.number(steps.length, 2);
        for (let i = p.from; i < steps.length; i++) {
            const at = w.at, item = steps[Number(i)]!;
            w.text(this.systems[this.getNumber(item - 15, 2)]!.bytes);
            w.big(this.getBig(item - 13));
            if (!w.full) continue;
            w.full = false;
            w.at = at;
            break;
        }
        return OK;
    }

    /** Answers a part of a question. Returns the state, and writes what belongs to it. */
    private answerPart(p: Part, w: Out): number {
        switch (p.what) {
            case FOR_STATUS:
                w.big(BigInt(this.entryCount ? this.firstEntry.point : 0));
                w.big(BigInt(this.entryCount ? this.confirmed : 0));
                w.number(this.reportSize ? 1 : 0, 1);
                return this.entryCount ? OK : FELL_OUT;
            case FOR_HISTORY: {
                if (p.point > this.confirmed) return NOT_YET;
                if (!this.entryOf(p.point)) return FELL_OUT;
                for (let i = 0, at = p.point; i < p.count && at <= this.confirmed && w.room >= 16; i++, at += Number(p.from)) {
                    const e = this.entryOf(at);
                    if (!e) break;
                    w.big(e.history);
                    if (p.from === 1n) w.big(e.root);
                }
                return OK;
            }
            case FOR_STEPS: return this.answerSteps(p, w);
            default: return this.answerTables(p, w);
        }
    }

    // ---- Asking

    private answerOf(peer: number, part: number): number { return this.stage <= ASK_HISTORY ? peer : this.peers[peer]!.group * PARTS + part; }

    private add(what: number, step: number, from = 0n, table = 0): Part {
        const p: Part = { index: this.parts.length, what, depth: 0, step, count: 0, table, column: 0, point: this.point, from };
        this.parts.push(p);
        return p;
    }

    /** Asks all peers, or from the steps on one peer of each group, and answers for this peer itself. */
    private ask(): void {
        this.counter = this.counter + 1 & 0xffffff;
        this.id = this.self * 0x1000000 + this.counter;
        this.rounds++;
        for (let i = 0; i < this.names.length; i++) {
            const p = this.peers[i]!;
            p.asks = this.stage <= ASK_HISTORY && !p.gone && !p.foreign;
            if (this.stage > ASK_HISTORY) this.groups.forEach((group, g) => { if (group.peer === i) { p.asks = true; p.group = g; } });
            p.answered = p.askedAt = p.late = 0;
            p.since = this.now;
            if (!p.asks) continue;
            for (let k = 0; k < this.parts.length; k++) this.answerState[this.answerOf(i, k)] = -1;
            for (let k = 0; k < this.parts.length && i === this.self; k++) {
                const a = this.answerOf(i, k), w = new Out(this.answers, a * BODY, a * BODY + BODY - 2);
                this.answerState[a] = this.answerPart(this.parts[k]!, w);
                this.answerSize[a] = w.at - a * BODY;
                p.answered |= 1 << k;
            }
        }
    }

    private askHistory(): void {
        const span = this.high - this.low;
        this.stage = ASK_HISTORY;
        this.parts = [];
        this.stride = span <= 60 ? 1 : span <= 120 ? 2 : Math.floor((span + 119) / 120);
        const p = this.add(FOR_HISTORY, this.step, BigInt(this.stride));
        p.point = this.low;
        p.count = Math.floor((span + this.stride - 1) / this.stride);
        this.ask();
    }

    private answered(peer: number, part: number): In {
        const a = this.answerOf(peer, part);
        return new In(this.answers, a * BODY, a * BODY + (this.answerState[a] === OK ? this.answerSize[a]! : 0));
    }

    /** Asks for the next points that some do not have. */
    private askLatest(): void {
        this.high = this.top - this.low > 60 ? this.low + 60 : this.top;
        this.askHistory();
    }

    /** The peers' first and last points. The points that some of them do not have yet are compared first, one by one; at all points before
        these the peers can be compared by halves. */
    private afterStatus(): void {
        let most = 0, n = 0;
        this.oldest = this.top = 0;
        this.common = Infinity;
        for (let i = 0; i < this.names.length; i++) {
            const p = this.peers[i]!;
            if (!p.asks || p.gone) continue;
            const r = this.answered(i, 0), first = Number(r.big()), whole = r.big(), last = Number(whole);
            if (r.bad || last < first || whole === MASK) continue;
            n++;
            this.oldest = Math.max(this.oldest, first);
            if (last + 1 > most) {
                this.top = most;
                most = last + 1;
            } else if (last + 1 > this.top) this.top = last + 1;
            this.common = Math.min(this.common, last);
        }
        if (n < 2) {
            if (this.peers.some((p) => p.foreign)) {
                this.flags |= OTHER_STATE;
                this.makeReport();
            } else {
                this.stage = IDLE;
                this.state_ = FlightStatus.SILENT;
            }
            return;
        }
        this.common = Math.max(this.common, this.oldest);
        if (this.top <= this.common) this.top = this.common + 1;
        this.low = this.common;
        this.askLatest();
    }

    /** Makes groups of the peers by their histories at the point, which is number k of the answers. */
    private makeGroups(k: number): void {
        this.groups = [];
        for (let i = 0; i < this.names.length; i++) {
            const p = this.peers[i]!;
            if (!p.asks || p.gone) continue;
            const r = this.answered(i, 0);
            r.skip(16 * k);
            const history = r.big(), root = r.big();
            if (r.bad) continue;
            let group = this.groups.find((g) => g.history === history);
            if (!group && this.groups.length === GROUPS) continue;
            if (!group) this.groups.push(group = { peer: i, root, stepRoot: 0n, inputs: 0n, members: 0n, history });
            group.members |= 1n << BigInt(i);
        }
        this.silent = (1n << BigInt(this.names.length)) - 1n;
        for (const g of this.groups) this.silent &= ~g.members;
    }

    private askLeaves(): void {
        this.stage = ASK_TABLES;
        this.parts = [];
        for (let i = 0; i < this.tables.length && this.parts.length + 1 < PARTS; i += LEAVES_IN_ANSWER) { // at the end, and after the step
            this.add(FOR_TABLES, END_OF_TICK, BigInt(i));
            if (this.step !== END_OF_TICK) this.add(FOR_TABLES, this.step, BigInt(i));
        }
        this.ask();
    }

    private askSteps(from: number): void {
        this.stage = ASK_STEPS;
        this.parts = [];
        this.stepNumber = from;
        this.add(FOR_STEPS, this.step, BigInt(from));
        this.ask();
    }

    private afterHistory(): void {
        const each = this.stride === 1 ? 16 : 8, count = this.parts[0]!.count;
        for (let k = 0; k < count; k++) {
            const seen = new Set<bigint>();
            for (let i = 0; i < this.names.length; i++) {
                const p = this.peers[i]!;
                if (!p.asks || p.gone) continue;
                const r = this.answered(i, 0);
                r.skip(each * k);
                const history = r.big();
                if (!r.bad) seen.add(history);
            }
            if (seen.size < 2) continue;
            if (k === 0 && this.low === this.common && this.low > this.oldest && !this.older) { // among the points before
                this.older = true;
                this.high = this.low + 1;
                this.low = this.oldest;
                this.askHistory();
                return;
            }
            if (this.stride > 1) {
                this.high = this.low + k * this.stride + 1;
                if (k) this.low += (k - 1) * this.stride + 1;
                this.askHistory();
                return;
            }
            if (this.low + k === this.oldest) this.flags |= LOST;
            this.point = this.low + k;
            this.step = END_OF_TICK;
            this.makeGroups(k);
            if (this.flags & LOST) this.askLeaves();
            else this.askSteps(0);
            return;
        }
        if (this.stride > 1 && this.low + (count - 1) * this.stride + 1 < this.high) {
            this.low += (count - 1) * this.stride + 1;
            this.askHistory();
            return;
        }
        if (!this.older && this.high < this.top && this.rounds < ROUNDS / 2) {
            this.low = this.high;
            this.askLatest();
            return;
        }
        this.makeGroups(0); // nothing differs: who answered is all that is known
        this.groups = [];
        this.makeReport();
    }

    private afterSteps(): void {
        let total = Infinity;
        const r = this.groups.map((group) => {
            const of = this.answered(group.peer, 0);
            group.inputs = of.big();
            total = Math.min(total, of.number(2));
            if (of.bad) total = 0;
            return of;
        });
        for (let k = this.stepNumber; k < total; k++) {
            let name = 0, size = 0, differs = false, bad = false;
            for (let g = 0; g < this.groups.length && !bad; g++) {
                const of = r[g]!, n = of.number(1), at = of.skip(n);
                this.groups[g]!.stepRoot = of.big();
                bad = of.bad || n > NAME_MOST;
                if (bad) break;
                if (!g) {
                    name = at;
                    size = n;
                } else bad = n !== size || !same(this.answers, name, this.answers, at, n);
                if (this.groups[g]!.stepRoot !== this.groups[0]!.stepRoot) differs = true;
            }
            if (bad && k > this.stepNumber) {
                this.askSteps(k); // the rest of them
                return;
            }
            if (bad) break;
            if (!differs) continue;
            this.step = k;
            this.stepName = this.answers.slice(name, name + size);
            break;
        }
        if (this.step === END_OF_TICK) for (const g of this.groups) g.stepRoot = g.root;
        this.askLeaves();
    }

    /** Whether the groups have other numbers at a place of their answers; undefined if one does not have it. */
    private differ(part: number, at: number): boolean | undefined {
        let first = 0n, differs = false, bad = false;
        this.groups.forEach((group, g) => {
            const r = this.answered(group.peer, part);
            r.skip(at);
            const v = r.big();
            if (r.bad) bad = true;
            if (!g) first = v;
            else if (v !== first) differs = true;
        });
        if (bad) this.flags |= CUT;
        return bad ? undefined : differs;
    }

    /** As differ, but what one does not have counts as 0. */
    private differOr0(part: number, at: number): boolean {
        const values = new Set(this.groups.map((group) => {
            const r = this.answered(group.peer, part);
            r.skip(at);
            const v = r.big();
            if (r.bad) this.flags |= CUT;
            return v;
        }));
        return values.size > 1;
    }

    private afterTables(): void {
        const most = this.step === END_OF_TICK ? PARTS : Math.floor(PARTS / 2), counts = [0, 0], next: { step: number; table: number }[] = [];
        this.tablesDiffer = 0;
        this.parts.forEach((p, part) => {
            const which = p.step === END_OF_TICK ? 0 : 1;
            for (let i = 0; Number(p.from) + i < this.tables.length && i < LEAVES_IN_ANSWER; i++) {
                if (!this.differOr0(part, 4 + 8 * i)) continue;
                if (!which) this.tablesDiffer++;
                if (counts[which] === most) {
                    this.flags |= CUT;
                    continue;
                }
                counts[which]!++;
                next.push({ step: p.step, table: Number(p.from) + i });
            }
        });
        if (!next.length) {
            this.makeReport();
            return;
        }
        this.stage = ASK_COLUMNS;
        this.parts = [];
        for (const p of next) this.add(FOR_COLUMNS, p.step, 0n, p.table);
        this.ask();
    }

    private push(listed: number, depth: number, from: bigint, rows: number): void {
        const l = this.listed[listed]!;
        if (this.work.length === WORK_MOST) {
            this.flags |= CUT;
            l.more = true;
            return;
        }
        this.work.push({ listed, depth, from, rows });
        l.pending++;
    }

    private columnOf(l: Listed): FColumn { return this.columns[this.tables[l.table]!.first + l.column]!; }

    /** Asks for the next ranges: a small one for its rows, a large one for the sums of its parts. */
    private askRows(): void {
        if (!this.work.length || this.rounds >= ROUNDS - 1 || this.full || this.spent === MOST_SPENT) {
            this.makeReport();
            return;
        }
        this.stage = ASK_ROWS;
        this.parts = [];
        while (this.work.length && this.parts.length < PARTS && this.spent < MOST_SPENT) {
            const w = this.work.shift()!, l = this.listed[w.listed]!, c = this.columnOf(l), size = c.number < 0 ? 0 : Math.min(c.width, VALUE_MOST);
            const p = this.add(w.rows * (18 + size) < BODY || w.depth >= 10 ? FOR_ROWS : FOR_BUCKETS, END_OF_TICK, w.from, l.table);
            p.column = l.column;
            p.depth = w.depth;
            p.count = w.listed; // answers do not depend on it
            this.spent++;
            l.pending--;
        }
        this.ask();
    }

    private afterColumns(): void {
        this.columnsDiffer = this.foundSize = 0;
        this.listed = [];
        this.work = [];
        this.parts.forEach((p, part) => {
            const rows = Math.max(0, ...this.groups.map((group) => this.answered(group.peer, part).number(4)));
            for (let i = 0; i < this.tables[p.table]!.columns; i++) {
                if (!this.differ(part, 8 + 8 * i)) continue;
                let of = this.listed.findIndex((l) => l.table === p.table && l.column === i);
                if (of < 0) {
                    this.columnsDiffer++;
                    if (this.listed.length === LISTED_MOST) {
                        this.flags |= CUT;
                        continue;
                    }
                    of = this.listed.push({ table: p.table, column: i, rows: 0, all: 0, pending: 0, more: false, first: false }) - 1;
                }
                if (p.step !== END_OF_TICK) this.listed[of]!.first = true;
                else this.push(of, 0, 0n, rows);
            }
        });
        this.askRows();
    }

    /** Reads a value; returns where its bytes begin, with the state before them. */
    private static readValue(r: In): number {
        const at = r.at, state = r.number(1);
        if (state === 1 || state === 2) r.skip(r.number(1));
        else if (state > 3) r.bad = true;
        if (state === 2) r.skip(12);
        return at;
    }

    private static nextRow(r: In): Row {
        if (r.at === r.end) return { key: 0n, key2: 0n, hash: 0n, value: 0, size: 0, ends: true };
        const key = r.big(), key2 = r.big();
        rowHash(...halves(key), ...halves(key2));
        const hash = big(), value = FlightRecorder.readValue(r);
        return { key, key2, hash, value, size: r.at - value, ends: r.bad };
    }

    /** Whether two values of answers are the same: of a text, peers may keep beginnings of other lengths. */
    private sameValue(x: number, xSize: number, y: number, ySize: number): boolean {
        const b = this.answers, cut = b[x] === 2 ? x : y, whole = b[x] === 2 ? y : x, n = b[whole + 1]!, at = cut + 2 + b[cut + 1]!;
        if (xSize === ySize && same(b, x, b, y, xSize)) return true;
        return b[whole] === 1 && b[cut] === 2 && word(b, at) >>> 0 === n && littleBig(b, at + 4) === hashBig(b, whole + 2, n);
    }

    private compareRows(p: Part, part: number): void {
        const l = this.listed[p.count]!, r: In[] = [];
        let bound = MASK, more = false;
        for (const group of this.groups) { // up to where all of them have answered
            const of = this.answered(group.peer, part), cut = of.number(1);
            r.push(of);
            const ahead = new In(of.b, of.at, of.end);
            let last = -1n, bad = of.bad;
            for (let row = FlightRecorder.nextRow(ahead); !row.ends; row = FlightRecorder.nextRow(ahead)) {
                // rows of another range, or twice: nobody answers like that
                bad ||= row.hash < p.from || !within(row.hash, p.from, p.depth) || row.hash <= last;
                last = row.hash;
            }
            if (bad || ahead.bad) {
                this.flags |= CUT;
                l.more = true;
                return;
            }
            if (!cut) continue;
            if (last < 0n) last = 0n;
            if (last < bound) bound = last;
            more = true;
        }
        const rows = r.map((of) => FlightRecorder.nextRow(of));
        for (;;) {
            let it: Row | null = null, together = 0, differs = false;
            for (const row of rows) if (!row.ends && row.hash <= bound && (!it || row.hash < it.hash)) it = row;
            if (!it) break;
            const w = new Out(this.found, this.foundSize, this.found.length), first: Row = it;
            w.number(p.count, 1);
            w.big(first.key);
            w.big(first.key2);
            rows.forEach((row, g) => {
                if (row.ends || row.key !== first.key || row.key2 !== first.key2) {
                    w.number(3, 1);
                    return;
                }
                together++;
                if (!this.sameValue(row.value, row.size, first.value, first.size)) differs = true;
                w.raw(this.answers, row.value, row.size);
                rows[g] = FlightRecorder.nextRow(r[g]!);
            });
            if (together === this.groups.length && !(l.column && differs)) continue;
            if (w.full) {
                this.full = true;
                this.flags |= CUT;
                l.more = true;
                return;
            }
            l.all++;
            if (!l.column || together === this.groups.length) l.rows++; // that a row is on one side only is the identity's
            this.foundSize = w.at;
        }
        if (more && bound < MASK && within(bound + 1n, p.from, p.depth) && bound >= p.from) this.push(p.count, p.depth, bound + 1n, 1);
    }

    private afterRows(): void {
        this.parts.forEach((p, part) => {
            if (p.what === FOR_ROWS) {
                this.compareRows(p, part);
                return;
            }
            for (let i = 0; i < 64; i++) {
                if (!this.differOr0(part, 8 * i)) continue;
                const rows = Math.floor(this.tables[p.table]!.slots / 2 ** (6 * (p.depth + 1))), shift = BigInt(64 - 6 * p.depth);
                this.push(p.count, p.depth + 1, (p.depth ? p.from >> shift << shift : 0n) | BigInt(i) << shift - 6n, rows + Math.floor(rows / 2) + 1);
            }
        });
        this.askRows();
    }

    // ---- The report

    /** Writes the rows of a listed column by ascending keys. */
    private writeRows(w: Out, listed: number): void {
        const r = new In(this.found, 0, this.foundSize), rows: { key: bigint; key2: bigint; at: number; size: number }[] = [];
        while (r.at < r.end) {
            const of = r.number(1), at = r.at, key = r.big(), key2 = r.big();
            for (let g = 0; g < this.groups.length; g++) FlightRecorder.readValue(r);
            if (of === listed) rows.push({ key, key2, at, size: r.at - at });
        }
        rows.sort((a, b) => a.key < b.key ? -1 : a.key > b.key ? 1 : a.key2 < b.key2 ? -1 : 1);
        rows.forEach((row, i) => {
            const before = rows[i - 1];
            if (!before || before.key !== row.key || before.key2 !== row.key2) w.raw(this.found, row.at, row.size);
        });
    }

    /** Begins to send the report to a peer. */
    private shareWith(peer: number): void {
        const p = this.peers[peer]!;
        this.stage = SHARE;
        p.got.fill(0);
        p.chunk = p.late = p.askedAt = 0;
        p.since = this.now;
        p.shares = true;
    }

    /** Makes the report of what was found, and begins to hand it out. */
    private makeReport(): void {
        const w = new Out(this.reportBytes, 0, this.reportBytes.length), pending = (l: Listed): boolean => l.more || l.pending > 0;
        for (const l of this.listed) {
            const identity = this.listed.find((of) => of.table === l.table && !of.column);
            if (identity && l.column && (identity.first || !l.rows && !pending(l))) l.first = false; // it may be that only rows of one side differ
            if (pending(l)) this.flags |= CUT;
            if (!l.rows && !pending(l) && !l.first) this.columnsDiffer--;
        }
        const shown = this.listed.filter((l) => l.all || pending(l) || l.first);
        w.number(0x01524644, 4); // DFR, 1
        w.number(this.flags, 1);
        w.big(this.seed);
        w.big(BigInt(this.groups.length ? this.point : 0));
        w.number(this.step, 2);
        w.text(this.stepName);
        w.big(this.silent);
        w.number(this.groups.length, 1);
        for (const g of this.groups) for (const v of [g.members, g.root, g.stepRoot, g.inputs]) w.big(v);
        w.number(this.tablesDiffer, 4);
        w.number(this.columnsDiffer >>> 0, 4);
        w.number(shown.length, 1);
        for (const l of shown) {
            const c = this.columnOf(l);
            describe(w, this.tables[l.table]!, c);
            w.number((pending(l) ? 1 : 0) | (l.first ? 2 : 0), 1);
            w.number(l.rows + l.pending, 4);
            w.number(l.all, 4);
            this.writeRows(w, this.listed.indexOf(l));
        }
        this.reportSize = w.at;
        this.reportId = this.id;
        this.reporter = this.self;
        this.state_ = FlightStatus.FOUND;
        for (let i = 0; i < this.names.length; i++) this.shareWith(i);
    }

    // ---- The exchange

    private begin(): void {
        this.stage = ASK_STATUS;
        this.rounds = this.spent = this.flags = this.foundSize = this.tablesDiffer = this.columnsDiffer = this.point = 0;
        this.full = this.older = false;
        this.groups = [];
        this.listed = [];
        this.work = [];
        this.parts = [];
        this.step = END_OF_TICK;
        this.stepName = new Uint8Array(0);
        this.add(FOR_STATUS, this.step);
        this.ask();
    }

    /** Goes on where answers are there, or will not come. */
    private poll(): void {
        if (this.state_ === FlightStatus.ASKING && this.stage === IDLE) { // the first peer that is not silent asks
            const turn = this.peers.slice(0, this.self).every((p) => this.now - Math.max(p.heard, this.started) >= WAIT);
            if (turn) this.begin();
        }
        while (this.stage !== IDLE && this.stage !== SHARE) {
            for (let i = 0; i < this.names.length; i++) {
                const p = this.peers[i]!;
                if (!p.asks || p.gone || p.answered === 2 ** this.parts.length - 1) continue;
                // Even if a third of all packets are lost both ways, one peer in 10,000 is given up.
                if (this.now - p.since < Math.max(WAIT, this.rto * 16)) return;
                p.gone = true;
                // Another peer of its group will do.
                if (this.stage > ASK_HISTORY && this.groups.some((g) => g.peer === i) && this.restarts++ < 2 * MAX_PEERS) this.begin();
                if (this.stage === ASK_STATUS) return;
            }
            switch (this.stage) {
                case ASK_STATUS: this.afterStatus(); break;
                case ASK_HISTORY: this.afterHistory(); break;
                case ASK_STEPS: this.afterSteps(); break;
                case ASK_TABLES: this.afterTables(); break;
                case ASK_COLUMNS: this.afterColumns(); break;
                default: this.afterRows();
            }
        }
    }

    private gotQuestion(from: number, id: number, r: In): void {
        const at = this.queue.findIndex((q) => q.from === from), count = r.number(1), parts: Part[] = [];
        if (this.peers[from]!.sent > MOST_SENT || at < 0 && this.queue.length === QUEUE_MOST || at >= 0 && this.queue[at]!.id === id || !count || count > PARTS) return;
        for (let i = 0; i < count; i++) {
            const [index, what, depth, step, n, table, column] = [1, 1, 1, 2, 2, 4, 4].map((size) => r.number(size)) as [number, number, number, number, number, number, number];
            parts.push({ index, what, depth, step, count: n, table, column, point: Number(r.big()), from: r.big() });
        }
        if (r.bad) return;
        if (this.reportSize) { // which is the answer to all questions
            this.shareWith(from);
            return;
        }
        const q: Asked = { from, id, next: 0, parts };
        if (at < 0) this.queue.push(q); else this.queue[at] = q; // in the place of an earlier question of that peer
        if (this.state_ === FlightStatus.WATCHING) this.noticed(this.confirmed, 0n);
        if (this.state_ === FlightStatus.SILENT) {
            this.state_ = FlightStatus.ASKING;
            this.started = this.now;
        }
        this.alerted = this.now; // somebody asks: no need to call
        if (this.stage !== IDLE && this.stage !== SHARE && from < this.self) this.stage = IDLE;
    }

    private gotAnswer(from: number, id: number, r: In): void {
        const p = this.peers[from]!, part = r.number(1), state = r.number(1);
        if (r.bad || this.stage === IDLE || this.stage === SHARE || id !== this.id || !p.asks || p.gone) return;
        if (part >= this.parts.length || p.answered >> part & 1) return;
        const a = this.answerOf(from, part);
        this.answerState[a] = state;
        this.answerSize[a] = r.end - r.at;
        for (let i = r.at; i < r.end; i++) this.answers[a * BODY + i - r.at] = r.b[i]!;
        if (!p.answered && !p.late) { // asked once: this is how long it takes
            let took = this.now - p.askedAt;
            took = Math.min(1000, took + Math.floor(took / 4) + 50);
            this.rto = took > this.rto ? took : this.rto - Math.floor((this.rto - took) / 8);
            this.measured = true;
        }
        p.answered |= 1 << part;
        p.since = this.now;
    }

    private gotReport(from: number, id: number, r: In): void {
        const chunk = r.number(2), size = r.number(4), n = r.end - r.at, chunks = Math.ceil(size / CHUNK), got = this.incomingGot;
        if (r.bad || !size || size > this.reportBytes.length || chunk >= chunks || n !== Math.min(size - chunk * CHUNK, CHUNK)) return;
        if (id !== this.incomingId || from !== this.incomingFrom || size !== this.incomingSize) {
            if (this.incomingSize && this.now - this.peers[this.incomingFrom]!.heard < WAIT && from > this.incomingFrom) return;
            got.fill(0);
            this.incomingId = id;
            this.incomingFrom = from;
            this.incomingSize = size;
        }
        for (let i = 0; i < n; i++) this.incoming[chunk * CHUNK + i] = r.b[r.at + i]!;
        got[chunk >> 3]! |= 1 << (chunk & 7);
        this.ack = true;
        for (let i = 0; i < chunks; i++) if (!(got[i >> 3]! >> (i & 7) & 1)) return;
        if (this.state_ === FlightStatus.FOUND || !this.canRead(this.incoming, size)) return;
        if (this.state_ === FlightStatus.WATCHING) this.noticed(this.confirmed, 0n);
        this.reportBytes.set(this.incoming.subarray(0, size));
        this.reportSize = size;
        this.reportId = id;
        this.reporter = from;
        this.state_ = FlightStatus.FOUND;
        for (let i = 0; i < this.names.length && this.stage !== IDLE; i++) this.shareWith(i); // it was asking the others
    }

    /** Takes a packet that peer number `from` sent. */
    receive(from: number, packet: Uint8Array): void {
        const n = packet.length;
        if (n < HEAD + 4 || n > PACKET || from === this.self || !(from >= 0 && from < this.names.length)) return;
        if (packet[0] !== 0x44 || packet[1] !== 0x46 || packet[2] !== 1 || crc32c(packet.subarray(0, n - 4)) !== word(packet, n - 4) >>> 0) return;
        const r = new In(packet, 4, n - 4);
        if (r.big() !== this.seed || !this.begun) return;
        const schema = r.number(4), id = r.number(4), kind = packet[3], p = this.peers[from]!;
        p.heard = this.now;
        if (schema !== Number(this.schema & 0xffffffffn)) {
            p.foreign = true;
            this.noticed(this.confirmed, 0n);
            if (kind !== REPORT && kind !== GOT) return;
        }
        if (kind === BEAT) {
            const point = Number(r.big()), history = r.big();
            if (r.bad || p.beat && p.point > this.confirmed && p.point <= point) return; // the earliest that is to come
            p.beat = true;
            p.point = point;
            p.history = history;
            this.check();
        } else if (kind === ALERT) {
            const point = Number(r.big());
            if (!r.bad) this.noticed(point, 0n);
        } else if (kind === QUESTION) this.gotQuestion(from, id, r);
        else if (kind === ANSWER) this.gotAnswer(from, id, r);
        else if (kind === REPORT) this.gotReport(from, id, r);
        else if (kind === GOT && this.stage === SHARE && id === this.reportId && r.end - r.at >= p.got.length) {
            p.got.set(packet.subarray(r.at, r.at + p.got.length));
            p.since = this.now;
        }
    }

    private sendAnswer(): { to: number; packet: Uint8Array } | null {
        const q = this.queue[0]!, w = this.write(ANSWER, q.id), p = q.parts[q.next++]!;
        w.number(p.index, 1);
        const at = w.at;
        w.number(0, 1);
        const state = this.answerPart(p, w);
        w.b[at] = state;
        if (q.next === q.parts.length) this.queue.shift();
        if (state === NOT_YET && this.confirmed < this.halt && this.halt !== Infinity) return null; // it may come: let them ask again
        this.peers[q.from]!.sent += w.at;
        return this.sealed(w, q.from);
    }

    private sendQuestion(): { to: number; packet: Uint8Array } | null {
        for (let i = 0; i < this.names.length; i++) {
            const p = this.peers[i]!;
            if (i === this.self || !p.asks || p.gone) continue;
            const missing = this.parts.filter((_, k) => !(p.answered >> k & 1));
            if (!missing.length || p.askedAt && this.now - p.askedAt < this.rto) continue;
            if (p.askedAt) p.late++;
            p.askedAt = this.now;
            const w = this.write(QUESTION, this.id);
            w.number(missing.length, 1);
            for (const part of missing) {
                w.number(part.index, 1);
                w.number(part.what, 1);
                w.number(part.depth, 1);
                w.number(part.step, 2);
                w.number(part.count, 2);
                w.number(part.table, 4);
                w.number(part.column, 4);
                w.big(BigInt(part.point));
                w.big(part.from);
            }
            return this.sealed(w, i);
        }
        return null;
    }

    private sendReport(): { to: number; packet: Uint8Array } | null {
        const chunks = Math.ceil(this.reportSize / CHUNK), has = (p: Peer, i: number): number => p.got[i >> 3]! >> (i & 7) & 1;
        for (let i = 0; i < this.names.length; i++) {
            const p = this.peers[i]!;
            if (i === this.self || !p.shares || this.now - p.since > 3 * WAIT) continue;
            while (p.chunk < chunks && has(p, p.chunk)) p.chunk++;
            if (p.chunk >= chunks) {
                let n = 0;
                while (n < chunks && has(p, n)) n++;
                if (n === chunks || this.now - p.askedAt < (this.measured ? 2 * this.rto : 2000) * 2 ** Math.floor(p.late / 8)) continue;
                p.chunk = 0;
                p.late++;
                i--; // once more, with what it lacks
                continue;
            }
            p.askedAt = this.now;
            const w = this.write(REPORT, this.reportId);
            w.number(p.chunk, 2);
            w.number(this.reportSize, 4);
            w.raw(this.reportBytes, p.chunk * CHUNK, Math.min(this.reportSize - p.chunk * CHUNK, CHUNK));
            p.chunk = p.late && !p.got.some((b) => b) ? chunks : p.chunk + 1; // nothing is known to have arrived: the first chunk asks for more
            p.sent += w.at;
            return this.sealed(w, i);
        }
        return null;
    }

    private sendPoint(to: number, kind: number, point: number, history: bigint): { to: number; packet: Uint8Array } {
        const w = this.write(kind, 0);
        w.big(BigInt(point));
        w.big(history);
        return this.sealed(w, to);
    }

    /** The next packet that is to be sent, and to whom; null if there is none now. Its bytes stay until the next call. The clock is any that
        counts milliseconds; it must not go back. */
    send(milliseconds: number): { to: number; packet: Uint8Array } | null {
        if (!this.begun) return null;
        const now = Math.floor(milliseconds) + 1; // 0 is no time
        if (now > this.now) {
            if (this.started === this.now && this.state_ === FlightStatus.ASKING) this.started = now;
            this.now = now;
        }
        this.poll();
        if (this.ack) {
            const w = this.write(GOT, this.incomingId);
            w.raw(this.incomingGot);
            this.ack = false;
            return this.sealed(w, this.incomingFrom);
        }
        while (this.queue.length) {
            const answer = this.sendAnswer();
            if (answer) return answer;
        }
        if (this.state_ === FlightStatus.ASKING) {
            if (this.stage === IDLE && this.alerted && this.now - this.alerted > 1000) this.alertTo = 0;
            if (this.alertTo === this.self) this.alertTo++;
            if (this.alertTo < this.names.length) {
                this.alerted = this.now;
                return this.sendPoint(this.alertTo++, ALERT, this.alertPoint, this.alertHistory);
            }
            if (this.stage !== IDLE) return this.sendQuestion();
        }
        if (this.stage === SHARE) return this.sendReport();
        if (this.state_ !== FlightStatus.WATCHING || !this.beatHistory) return null;
        if (this.beatTo === this.self) this.beatTo++;
        return this.beatTo < this.names.length ? this.sendPoint(this.beatTo++, BEAT, this.beatPoint, this.beatHistory) : null;
    }

    /** The report as bytes, the same on all peers; docs/exchange.md has their form. Null if there is none. */
    report(): Uint8Array | null { return this.reportSize ? this.reportBytes.slice(0, this.reportSize) : null; }

    /** Goes on recording after a report: the next call is state. All peers do so at the same point, with the same state, such as after a load. */
    resume(): void {
        this.state_ = FlightStatus.WATCHING;
        this.stage = IDLE;
        this.begun = this.open = this.skips = this.ack = this.pastKnown = false;
        this.entries = [];
        this.entryFirst = this.reportSize = this.incomingSize = this.restarts = this.beatPoint = 0;
        this.queue = [];
        this.halt = Infinity;
        this.beatHistory = 0n;
        this.live.fill(0);
        this.sums.fill(0);
        for (const t of this.tables) t.stale = true;
        for (const p of this.peers) {
            p.beat = p.gone = p.foreign = p.shares = false;
            p.sent = 0;
        }
    }

    // ---- The report as text and as files

    private static readHead(r: In): Head {
        const h: Head = { flags: 0, point: 0, step: 0, stepName: 0, stepSize: 0, silent: 0n, groups: 0, members: [], roots: [], stepRoots: [], inputs: [], listed: 0 };
        if (r.number(4) !== 0x01524644) r.bad = true;
        h.flags = r.number(1);
        r.big();
        h.point = Number(r.big());
        h.step = r.number(2);
        h.stepSize = r.number(1);
        h.stepName = r.skip(h.stepSize);
        h.silent = r.big();
        h.groups = r.number(1);
        if (h.groups > GROUPS) {
            r.bad = true;
            h.groups = 0;
        }
        for (let g = 0; g < h.groups; g++) {
            for (const list of [h.members, h.roots, h.stepRoots, h.inputs]) list.push(r.big());
            if (!h.members[g]) r.bad = true;
        }
        r.big();
        h.listed = r.number(1);
        return h;
    }

    private static readColumn(r: In): ReportColumn {
        const labelSize = r.number(1), label = r.skip(labelSize), componentSize = r.number(1), component = r.skip(componentSize), fieldSize = r.number(1), field = r.skip(fieldSize);
        return { label, labelSize, component, componentSize, field, fieldSize, type: r.number(1), scale: r.number(4), flags: r.number(1), atLeast: r.number(4), rows: r.number(4) };
    }

    private static skipRows(r: In, l: ReportColumn, groups: number): void {
        for (let n = 0; n < l.rows && !r.bad; n++) {
            r.skip(16);
            for (let g = 0; g < groups; g++) FlightRecorder.readValue(r);
        }
    }

    /** Whether all of a report can be read: it may come from any source. */
    private canRead(data: Uint8Array, n: number): boolean {
        const r = new In(data, 0, n), h = FlightRecorder.readHead(r);
        for (const members of h.members) if (members >> BigInt(this.names.length)) r.bad = true;
        for (let i = 0; i < h.listed && !r.bad; i++) FlightRecorder.skipRows(r, FlightRecorder.readColumn(r), h.groups);
        return !r.bad && r.at === r.end;
    }

    private reading(): [In, Head] {
        const r = new In(this.reportBytes, 0, this.reportSize);
        return [r, FlightRecorder.readHead(r)];
    }

    /** A text of another peer: control characters and what is not ASCII are escaped. */
    private said(at: number, n: number, b: Uint8Array = this.reportBytes): string {
        let s = "";
        for (const v of b.subarray(at, at + n)) s += v >= 32 && v < 127 && v !== 92 ? String.fromCharCode(v) : "\\x" + v.toString(16).padStart(2, "0");
        return s;
    }

    private peersOf(members: bigint): string {
        const all = this.names.map((_, i) => i).filter((i) => members >> BigInt(i) & 1n).map((i) => this.said(0, this.peers[i]!.name.length, this.peers[i]!.name));
        let count = 0;
        for (let rest = members; rest; rest >>= 1n) count += Number(rest & 1n);
        let s = "";
        for (let i = 0; i < all.length; i++) {
            if (i === 4 && count > 5) return `${s} and ${count - 4} more`;
            s += (!i ? "" : i + 1 === count ? " and " : ", ") + all[i];
        }
        return s;
    }

    /** A number as %.9g and %.17g have it in C. */
    private static float(v: number, digits: number): string {
        if (Number.isNaN(v)) return "nan";
        const sign = v < 0 || Object.is(v, -0) ? "-" : "";
        if (!Number.isFinite(v)) return sign + "inf";
        const [mantissa, e] = Math.abs(v).toExponential(digits - 1).split("e") as [string, string], all = mantissa.replace(".", ""), kept = all.replace(/0+$/, ""), exponent = Number(e);
        if (!kept) return sign + "0";
        if (exponent < -4 || exponent >= digits)
            return `${sign}${kept[0]}${kept.length > 1 ? "." + kept.slice(1) : ""}e${exponent < 0 ? "-" : "+"}${Math.abs(exponent).toString().padStart(2, "0")}`;
        if (exponent < 0) return sign + "0." + "0".repeat(-exponent - 1) + kept;
        return sign + all.slice(0, exponent + 1) + (kept.length > exponent + 1 ? "." + kept.slice(exponent + 1) : "");
    }

    private valueSaid(l: ReportColumn, at: number): string {
        const b = this.reportBytes, state = b[at]!, n = state === 1 || state === 2 ? b[at + 1]! : 0;
        if (state === 0 || state === 3) return state ? "no row" : "no value";
        if (!l.type) return "a row";
        if (l.type === Type.STRING) return `"${this.said(at + 2, n)}"${state === 2 ? "..." : ""}`;
        if (l.type === Type.BYTES) return Array.from(b.subarray(at + 2, at + 2 + n), (v) => v.toString(16).padStart(2, "0")).join("") + (state === 2 ? "..." : "");
        const bytes = new Uint8Array(8), view = new DataView(bytes.buffer);
        bytes.set(b.subarray(at + 2, at + 2 + Math.min(n, 8)));
        switch (l.type) {
            case Type.BOOL: return view.getBigUint64(0) ? "true" : "false";
            case Type.I8: return String(view.getInt8(0));
            case Type.I16: return String(view.getInt16(0, true));
            case Type.I32: return String(view.getInt32(0, true));
            case Type.I64: return String(view.getBigInt64(0, true));
            case Type.F32: return this.nanSign(view.getUint32(0, true) >>> 31, FlightRecorder.float(view.getFloat32(0, true), 9));
            case Type.F64: return this.nanSign(view.getUint32(4, true) >>> 31, FlightRecorder.float(view.getFloat64(0, true), 17));
            case Type.FIXED: return `${view.getBigInt64(0, true)}/${l.scale}`;
            case Type.REF: return `#${view.getBigUint64(0, true)}`;
            default: return String(view.getBigUint64(0, true));
        }
    }

    private nanSign(sign: number, text: string): string { return text === "nan" && sign ? "-nan" : text; }

    private columnSaid(l: ReportColumn): string {
        if (!l.labelSize) return "RNG";
        const label = this.said(l.label, l.labelSize);
        return l.type ? `${label} ${this.said(l.component, l.componentSize)}.${this.said(l.field, l.fieldSize)}` : `${label} entities`;
    }

    /** The first sentence: where, and what differs most directly. */
    private firstSaid(h: Head): string {
        const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`, lost = (h.flags & LOST) !== 0;
        if (!h.groups)
            return h.flags & OTHER_STATE ? "The peers describe their states otherwise: they run different builds.\n" : "The states that the peers still have do not differ.\n";
        let s = "", best: ReportColumn | null = null, others = 0;
        const several = h.members.some((members) => members & members - 1n); // peers are of one group
        h.members.forEach((members, g) => { s += (!g ? "" : several ? " against " : g + 1 === h.groups ? " and " : ", ") + this.peersOf(members); });
        s += `${lost ? " have different states at tick " : " have different states since tick "}${lost || !h.point ? h.point : h.point - 1}`;
        if (h.stepSize) s += `, system ${this.said(h.stepName, h.stepSize)}`;
        if (lost) s += ", the first that all of them still have";
        const [r] = this.reading();
        for (let i = 0; i < h.listed; i++) {
            const l = FlightRecorder.readColumn(r), shown = l.atLeast || l.flags, first = l.flags & 2;
            const better = !best || first && !(best.flags & 2) || first === (best.flags & 2) && !best.labelSize;
            if (shown && (first || h.step === END_OF_TICK)) others++;
            if (better && shown) best = l;
            FlightRecorder.skipRows(r, l, h.groups);
        }
        if (best) {
            s += `: ${this.columnSaid(best)}${best.type ? " differs" : " differ"}`;
            if (best.labelSize && best.atLeast) s += (best.flags & 1 ? " in at least " : " in ") + count(best.atLeast, "row");
            if (others > 1) s += `, and ${count(others - 1, "more column")}`;
        }
        return `${s}.\n${h.inputs.some((v) => v !== h.inputs[0]) ? "The orders of that tick differ.\n" : ""}`;
    }

    /** The report as text, for the game's log and its screen: a sentence, then what differs. Control characters of names and values are
        escaped. Empty if there is no report. */
    text(): string {
        if (!this.reportSize) return "";
        const [r, h] = this.reading();
        let s = this.firstSaid(h);
        for (let i = 0; i < h.listed; i++) {
            const l = FlightRecorder.readColumn(r);
            if (l.atLeast || l.flags)
                s += `${this.columnSaid(l)}${l.flags & 1 ? ": at least " : ": "}${l.atLeast} ${l.atLeast === 1 ? "row" : "rows"}${l.flags & 2 && h.stepSize ? ", differs first" : ""}\n`;
            for (let n = 0; n < l.rows && !r.bad; n++) { // but not what a column has of rows of one side
                const key = r.big(), key2 = r.big(), values = h.members.map(() => FlightRecorder.readValue(r));
                if (l.type && values.some((at) => this.reportBytes[at] === 3)) continue;
                s += `  #${key}${key2 ? `/${key2}` : ""}${values.map((at, g) => `${g ? "," : ""} ${this.valueSaid(l, at)} on ${this.peersOf(h.members[g]!)}`).join("")}\n`;
            }
        }
        if (h.flags & CUT) s += "More differs than is listed.\n";
        if (h.silent) s += `Not known of ${this.peersOf(h.silent)}.\n`;
        return `${s}Found by ${this.peersOf(1n << BigInt(this.reporter))}; each peer's values are its own word.\n`;
    }

    /** The world whose values are those of `past`; null if some of them are not whole. */
    private pastWorld(): World | null {
        const w = new World(), past = this.past;
        for (const t of this.tables) {
            if (t.rng) {
                const c = this.columns[t.first + 1]!, n = word(past, c.at + 8) >>> 0;
                if (n > c.kept) return null;
                w.rng = past.slice(c.at + 12, c.at + 12 + n);
                continue;
            }
            const to = w.archetype(t.label, t.twoParts ? 2 : 1), columns = this.columns.slice(t.first + 1, t.first + t.columns), slots: number[] = [];
            for (const c of columns) to.column(c.componentName, c.fieldName, c.type as Type, c.scale);
            for (let i = 0; i < t.slots; i++) if (past[t.identity + i * IDENTITY]) slots.push(i);
            const values: Value[][] = [];
            for (const c of columns) values.push(slots.map((slot) => this.pastValue(c, slot)));
            if (values.some((list) => list.includes(undefined))) return null;
            const key = (slot: number, part: number): U64 => littleBig(past, t.identity + slot * IDENTITY + part);
            to.fill(slots.map((slot) => t.twoParts ? [key(slot, 1), key(slot, 9)] as const : key(slot, 1)), ...values);
        }
        return w;
    }

    /** A value of `past`; null if there is none, undefined if it is not whole. */
    private pastValue(c: FColumn, slot: number): Value {
        const at = c.at + slot * c.width, view = new DataView(this.past.buffer);
        if (!this.past[c.present + slot]) return null;
        if (c.text) {
            const n = word(this.past, at + 8) >>> 0;
            if (n > c.kept) return undefined;
            const b = this.past.slice(at + 12, at + 12 + n);
            return b;
        }
        switch (c.type) {
            case Type.BOOL: return this.past[at] !== 0;
            case Type.I8: return view.getInt8(at);
            case Type.I16: return view.getInt16(at, true);
            case Type.I32: return view.getInt32(at, true);
            case Type.U8: return view.getUint8(at);
            case Type.U16: return view.getUint16(at, true);
            case Type.U32: return view.getUint32(at, true);
            case Type.F32: return view.getFloat32(at, true);
            case Type.F64: return view.getFloat64(at, true);
            case Type.I64: case Type.FIXED: return view.getBigInt64(at, true);
            default: return view.getBigUint64(at, true);
        }
    }

    /** The orders of the tick that leads to a point. */
    private ordersOf(point: number): Order[] {
        const list: Order[] = [], e = this.entryOf(point);
        if (!e || this.head - e.begin > this.ring.length) return list;
        for (let back = e.end; back > e.begin;) {
            const begin = back - 4 - this.getNumber(back - 4, 4);
            if (this.getNumber(back - 5, 1) !== ORDERS_ITEM) {
                back = begin;
                continue;
            }
            for (let at = begin; at + 20 < back - 4;) {
                const [subTick, player, sequence, kind, size] = [0, 4, 8, 12, 16].map((k) => this.getNumber(at + k, 4)) as [number, number, number, number, number];
                const payload = new Uint8Array(size);
                this.get(at + 20, payload, 0, size);
                list.push({ subTick, player, sequence, kind: this.session.kinds![kind]!.name, payload });
                at += 20 + size;
            }
            break;
        }
        return list;
    }

    /** Sets a cell of `past` to a value of the report. Returns false if that is not all of the value, or there is no room. */
    private patch(t: FTable, c: FColumn, key: bigint, key2: bigint, value: number): boolean {
        const b = this.reportBytes, past = this.past, state = b[value]!, n = state === 1 || state === 2 ? b[value + 1]! : 0;
        let slot = -1, free = -1;
        for (let i = 0; i < t.slots && slot < 0; i++) {
            const at = t.identity + i * IDENTITY;
            if (!past[at]) {
                if (free < 0) free = i;
            } else if (littleBig(past, at + 1) === key && littleBig(past, at + 9) === key2) slot = i;
        }
        if (c.number < 0) {
            if (slot < 0 && (free < 0 || state === 3)) return state === 3;
            const at = t.identity + (slot < 0 ? free : slot) * IDENTITY;
            past.fill(0, at, at + IDENTITY);
            if (slot < 0) for (let i = 1; i < t.columns; i++) past[this.columns[t.first + i]!.present + free] = 0; // what an earlier row had
            if (state === 3) return true;
            past[at] = 1;
            putBig(past, at + 1, key);
            putBig(past, at + 9, key2);
            return true;
        }
        if (state === 3) return true; // the row itself is gone
        if (slot < 0 || state === 2) return false;
        const cell = c.at + slot * c.width, at = c.text ? cell + 12 : cell;
        past.fill(0, cell, cell + c.width);
        past[c.present + slot] = state ? 1 : 0;
        if (!state) return true;
        if (n > (c.text ? c.kept : c.width)) return false;
        if (c.text) {
            putBig(past, cell, hashBig(b, value + 2, n));
            putWord(past, cell + 8, n);
        }
        past.set(b.subarray(value + 2, value + 2 + n), at);
        return true;
    }

    private named(name: Uint8Array, at: number, n: number): boolean { return name.length === n && same(name, 0, this.reportBytes, at, n); }

    /** Makes `past` the state of a group at the end of the divergent tick. Returns false if it is not known as a whole. */
    private patchAll(h: Head, group: number): boolean {
        if (!this.rebuild(h.point, END_OF_TICK)) return false;
        this.pastKnown = false;
        for (let pass = 0; pass < 2; pass++) { // rows first, then their values
            const [r] = this.reading();
            for (let i = 0; i < h.listed; i++) {
                const l = FlightRecorder.readColumn(r), t = this.tables.find((of) => this.named(of.bytes, l.label, l.labelSize));
                const c = t && this.columns.slice(t.first, t.first + t.columns).find((of) => of.number < 0 ? !l.type && !l.fieldSize
                    : this.named(of.component, l.component, l.componentSize) && this.named(of.field, l.field, l.fieldSize));
                for (let n = 0; n < l.rows; n++) {
                    const key = r.big(), key2 = r.big(), values = h.members.map(() => FlightRecorder.readValue(r));
                    if (t && c && (pass === 0) === !l.type && !this.patch(t, c, key, key2, values[group]!)) return false;
                }
            }
        }
        this.pastSums.fill(0);
        this.pastRowsOf = null;
        for (const t of this.tables)
            for (let n = 0; n < t.slots; n++) {
                if (!this.past[t.identity + n * IDENTITY]) continue;
                rowOf(t, this.past, n);
                const high = HI, low = LO;
                for (let i = 0; i < t.columns; i++) {
                    const c = this.columns[t.first + i]!;
                    if (!hasCell(c, this.past, n)) continue;
                    cellOf(c, high, low, this.past, n);
                    addTo(this.pastSums, t.first + i, 1);
                }
            }
        return this.root(this.pastSums) === h.roots[group];
    }

    private static groupOf(h: Head, peer: number): number { return h.members.findIndex((members) => peer >= 0 && peer < MAX_PEERS && members >> BigInt(peer) & 1n); }

    /** The state that a peer had at the end of the divergent tick, as a .snap: of this peer as it is kept, of a peer of another group made of it
        and the values in the report. If these are not all that differs, that is an Error: the hash of the state shows it. To heal, all peers
        load the state of the same peer as they load a save, and go on from there with resume. */
    snapshot(peer: number): Uint8Array {
        if (!this.reportSize) throw new Error("FlightRecorder.snapshot: there is no report");
        const [, h] = this.reading(), own = FlightRecorder.groupOf(h, this.self), group = FlightRecorder.groupOf(h, peer);
        if (own < 0 || group < 0) throw new Error("FlightRecorder.snapshot: the report does not cover both peers");
        if (!(group === own ? this.rebuild(h.point, END_OF_TICK) : this.patchAll(h, group))) throw new Error("FlightRecorder.snapshot: the report does not have all values of that peer");
        const w = this.pastWorld();
        if (!w) throw new Error("FlightRecorder.snapshot: " + TOO_LONG);
        return encodeSnapshot(w, { seed: this.seed, tick: h.point, peer: this.names[peer]! });
    }

    /** Writes what is known, a folder for each peer, which open makes, as openFolder and MemoryFiles do: this peer's order log of
        the ticks that are kept, its trace, its states before and after the divergent tick, and its report; an order log and the trace of each
        other peer that answered, if the orders of that tick were the same, and the states of one peer of each group, if the values in the
        report are all that differs: then the hash shows that they are whole. A peer whose name cannot be a folder's is peer-N. `desynctool
        triage` reads the folder that has all these folders. */
    async files(open: (peer: string) => Files | Promise<Files>): Promise<void> {
        if (!this.reportSize) throw new Error("FlightRecorder.files: there is no report");
        const [, h] = this.reading(), own = FlightRecorder.groupOf(h, this.self);
        if (own < 0) throw new Error("FlightRecorder.files: the report does not cover this peer");
        for (let peer = 0; peer < this.names.length; peer++) {
            const g = FlightRecorder.groupOf(h, peer), me = peer === this.self;
            if (g < 0) continue; // it did not answer
            let from = h.point, name = this.names[peer]!;
            if (!/^(?!\.)[^\0- /\\:*?"<>|]+(?<!\.)$/.test(name) || this.peers[peer]!.name.length > 100) { // players choose names
                if (me) throw new Error("FlightRecorder.files: the name of this peer cannot be the name of a folder");
                name = `peer-${peer}`;
            }
            while (me && from > this.firstEntry.point && h.point - from < 32 && this.head - (this.entryOf(from)?.begin ?? -Infinity) <= this.ring.length) from--;
            const { seed, build, kinds, peers } = this.session, session: Session = { seed, peer: name, firstPoint: me || !from ? from : from - 1 };
            if (build !== undefined) session.build = build;
            if (kinds) session.kinds = kinds;
            if (peers && peers.includes(name)) session.peers = peers;
            const files = await open(name);
            try {
                if (me) this.ownFiles(files, session, h, from);
                else this.otherFiles(files, session, h, g, peer, g !== own && !(h.members[g]! & (1n << BigInt(peer)) - 1n)); // of the lowest peer of a group the states
                if (h.step !== END_OF_TICK) this.traceFile(files, session, h, g, g === own);
            } finally {
                files.close();
            }
        }
    }

    /** The trace of the divergent tick up to the system that differs first: no more is known of others. */
    private traceFile(files: Files, session: Session, h: Head, group: number, own: boolean): void {
        const trace = new Trace((bytes) => files.append("checkpoints.trace", bytes), session), steps = this.stepsOf(this.entryOf(h.point));
        for (let i = 0; i < steps.length && i <= h.step; i++) {
            const value = new Uint8Array(8), at = steps[i]!;
            putBig(value, 0, own || i < h.step ? this.getBig(at - 13) : h.stepRoots[group]!);
            trace.add({ tick: h.point - 1, system: this.systems[this.getNumber(at - 15, 2)]!.name, sums: [{ name: "flight", value }] });
        }
        trace.close();
    }

    /** What this peer has from a point to the end of the divergent tick. */
    private ownFiles(files: Files, session: Session, h: Head, from: number): void {
        let recorder: Recorder | null = null;
        const kept: Files = { append: (name, bytes) => files.append(name, bytes), write: (name, bytes) => files.write(name, bytes), close: () => undefined }; // the trace follows
        for (let at = from; at <= h.point && this.rebuild(at, END_OF_TICK); at++) {
            const w = this.pastWorld();
            if (!w) throw new Error("FlightRecorder.files: " + TOO_LONG);
            recorder ??= new Recorder(kept, session, w, null);
            recorder.state(at, w);
            if (at + 1 >= h.point) recorder.snapshot(w);
            if (at < h.point) {
                recorder.tick(at, this.ordersOf(at + 1));
                continue;
            }
            const [r] = this.reading(), labels = new Set<string>();
            for (let i = 0; i < h.listed; i++) {
                const l = FlightRecorder.readColumn(r), t = this.tables.find((of) => !of.rng && this.named(of.bytes, l.label, l.labelSize));
                if (t) labels.add(t.label);
                FlightRecorder.skipRows(r, l, h.groups);
            }
            recorder.report(w, -1, [...labels]);
        }
        recorder?.close();
    }

    /** What another peer had before and after the divergent tick: an order log with the hashes, where its orders were this peer's, and for
        one peer of a group the states. The state before the tick is this peer's too. */
    private otherFiles(files: Files, session: Session, h: Head, group: number, peer: number, states: boolean): void {
        const e = this.entryOf(h.point), before = !(h.flags & LOST) && h.point > 0, own = h.members[group]! >> BigInt(this.self) & 1n;
        const logs = before && session.peer === this.names[peer] && e && e.inputs === h.inputs[group] && this.head - e.begin <= this.ring.length;
        const log = logs ? new OrderLog((bytes) => files.append("order-log.bin", bytes), session) : null;
        for (let tick = before ? h.point - 1 : h.point; tick <= h.point && (log || states); tick++) {
            if (!(tick === h.point && !own ? this.patchAll(h, group) : this.rebuild(tick, END_OF_TICK))) break;
            const w = this.pastWorld(), at = { seed: this.seed, tick, peer: session.peer! };
            if (!w) break;
            const hash = w.stateHash();
            log?.hash(tick, peer, "sync", "", hash.subarray(0, 8));
            log?.hash(tick, peer, "state", "", hash);
            if (tick < h.point) log?.tick(tick, this.ordersOf(h.point));
            if (states) files.write(snapshotName(at), encodeSnapshot(w, at));
        }
        log?.close();
    }
}
