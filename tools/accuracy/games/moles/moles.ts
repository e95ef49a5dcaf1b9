// moles.ts: a small colony in lockstep, to measure the verdicts with. Three clans of moles dig, fill chests, trade and eat; two peers play
// them, and in every second session a third one joins late. In every third session all peers load a saved game in the middle. Orders take
// effect three ticks after they were given. The machine of a player tests each order, and shows ahead what it will do. It was written
// from the pages in docs alone.
//
//     node moles.mjs record DIR [--seed N] [--ticks N] [--snapshot-every N] [--trace none|system|archetype|column]
//         [--fault NAME[/PLACE][@TICK][:PEER]]                         peers play, and leave DIR/<peer> and DIR/truth.json
//     node moles.mjs serve [--fault NAME[/PLACE][@TICK]]                  replays for desynctool
//     node moles.mjs faults                                               lists the mistakes that it can make

import { mkdirSync, writeFileSync } from "node:fs";
import { deserialize, serialize } from "node:v8";
import { Detail, MarkerKind, Recorder, Refused, Type, World, decodeSnapshot, encodeSnapshot, openFolder, serve } from "../../../../docs/sdk/typescript/desynctool.ts";
import type { Game, Order, Session, Table } from "../../../../docs/sdk/typescript/desynctool.ts";

const WIDE = 8, HIGH = 6, CELLS = WIDE * HIGH, ONE = 4096; // cells, and units of a cell's edge
const CLANS = 3, ITEMS = 6, LATENCY = 3, MOLES = 24, JOBS = 14;
const NAMES = ["Ædda", "zora", "Åse", "bo", "Čap", "ida", "Öder", "abe", "Zlata", "éva"];
const GOODS = ["roots", "Äpfel", "grubs", "zinc", "Öl", "amber"];
const f32 = Math.fround, LOCAL = new Intl.Collator("de");

// ---- Mistakes
type Kind = { name: string; places: string[]; what: string; outside?: boolean };

/** Those from `host-only` on are made by a peer that plays, and by no replay. The causes that the pages list do not cover the last four. */
const FAULTS: Kind[] = ([
    ["rng-leak", "Season Dig Market", "rain, dust or haggling that is only shown draws from the game's random numbers"],
    ["map-order", "Assign Market", "a list is worked off in the order of objects in memory"],
    ["unsorted-merge", "Walk Supper", "what workers found is worked off in the order in which they finish"],
    ["unstable-sort", "Assign Census", "a list is sorted by rounded keys alone, and ties fall as the library has it"],
    ["float-fma", "Seep Supper", "a product is not rounded before something is added"],
    ["float-reassoc", "Seep Census", "a sum is added up in another order"],
    ["float-flush", "Seep Supper", "the smallest numbers are flushed to zero"],
    ["uninitialized", "Seep Dig", "a buffer is used again without clearing it"],
    ["stale-cache", "Crowd Stores", "the dead stay in the crowd, or what is sold stays in the count of goods"],
    ["impure-validation", "Dig Sell", "the test whether an order is possible tires a mole, or takes a fee"],
    ["prediction-leak", "Job Stack", "what was shown ahead is not taken back in one field"],
    ["save-omits-field", "Mole Stack", "the state that is taken back lacks a field, which is 0 then"],
    ["load-loses", "Mole Clan", "a loaded game lacks a field, which is 0 then"],
    ["initial-state", "Cell Clan", "an option of the lobby is set on one machine only"],
    ["locale-sort", "Assign Market", "names are sorted as the machine's locale has it"],
    ["locale-number", "Market Supper", "a number in a text is read with a comma"],
    ["wall-clock", "Season Dig", "the machine's clock moves the season, or the work"],
    ["data-mismatch", "Dig Market Supper", "one machine plays by other rules: yields, fees or rations"],
    ["reconverge", "Season Census", "a light or a rank that nothing reads is wrong until it is computed anew"],
    ["host-only", "Season Market", "a script that only the host runs changes the state"],
    ["checksum-only", "Mole Stack", "the checksum covers what is only drawn"],
    ["blind-checksum", "Cell Clan", "all checksums leave out a column that nothing reads, and one machine computes it otherwise"],
    ["order-dropped", "Dig Sell", "the network loses one order"],
    ["order-duplicated", "Dig Sell", "the network delivers an order again in the next tick"],
    ["order-altered", "Dig Sell", "bits of an order change on its way"],
    ["order-late", "Dig Sell", "an order takes effect a tick later"],
    ["order-reordered", "Dig Sell", "two orders of a player change places"],
    ["bit-flip", "Mole Stack Clan", "one bit in memory flips once"],
    ["foreign-write", "Mole Clan", "a panel writes rest or coins into the game's memory"],
    ["other-than-logged", "Dig Sell", "one order is logged as it came, and played otherwise"],
    ["system-skipped", "Walk Market", "a machine that lags leaves out a system once"],
    ["system-twice", "Seep Supper", "a machine that catches up runs a system twice in one tick"],
    ["half-system", "Dig Supper", "an error of the machine ends a system in the middle, and is ignored"],
] as const).map(([name, places, what], i, all) => ({ name, places: places.split(" "), what, outside: i >= all.findIndex((f) => f[0] === "host-only") }));

type Mistake = { kind: Kind; place: string; from: number; peer: string; done: boolean };

/** NAME[/PLACE][@TICK][:PEER] */
function mistake(text: string, seed: number): Mistake | undefined {
    const m = /^([a-z-]+)(?:\/(\w+))?(?:@(\d+))?(?::(\w+))?$/.exec(text), kind = FAULTS.find((f) => f.name === m?.[1]);
    const place = m?.[2] ?? kind?.places[seed % kind.places.length];
    if (!kind || !place || !kind.places.includes(place)) return undefined;
    return { kind, place, from: Number(m![3] ?? 60), peer: m![4] ?? (kind.name === "host-only" ? "host" : "client"), done: false };
}

// ---- The state
type Cell = { id: number; kind: number; damp: number; trail: number; moss: number; age: number };
type Mole = { id: number; name: string; x: number; y: number; hunger: number; rest: number; job: number | null; owner: number; steps: number };
type Job = { id: number; cell: number; kind: number; left: number; rank: number };
type Chest = { id: number; cell: number; owner: number; open: boolean };
type Stack = { id: number; item: number; count: number; fresh: number; label: string | null };
type Clan = { id: number; coins: number; worth: number; joy: number; rank: number; fame: number };
type Burrow = { id: number; phase: number; warmth: number; light: number; price: number };
type Tables = { Cell: Cell[]; Mole: Mole[]; Job: Job[]; Chest: Chest[]; Stack: Stack[]; Clan: Clan[]; Burrow: Burrow[] };
type State = Tables & { a: number; b: number; serial: number };

/** The columns of each table: component, field, type, scale, property. */
const COLUMNS: { [label in keyof Tables]: [string, string, number, number, string][] } = {
    Cell: [["Soil", "kind", Type.U8, 0, "kind"], ["Soil", "damp", Type.F32, 0, "damp"], ["Scent", "trail", Type.F32, 0, "trail"], ["Moss", "height", Type.FIXED, ONE, "moss"],
        ["Survey", "age", Type.F64, 0, "age"]],
    Mole: [["Name", "text", Type.STRING, 0, "name"], ["Position", "x", Type.FIXED, ONE, "x"], ["Position", "y", Type.FIXED, ONE, "y"], ["Body", "hunger", Type.F32, 0, "hunger"],
        ["Body", "rest", Type.F64, 0, "rest"], ["Task", "job", Type.REF, 0, "job"], ["Owner", "player", Type.U8, 0, "owner"], ["Journal", "steps", Type.U32, 0, "steps"]],
    Job: [["Target", "cell", Type.REF, 0, "cell"], ["Work", "kind", Type.U8, 0, "kind"], ["Work", "left", Type.F32, 0, "left"], ["Queue", "rank", Type.U16, 0, "rank"]],
    Chest: [["Place", "cell", Type.REF, 0, "cell"], ["Owner", "player", Type.U8, 0, "owner"], ["Lock", "open", Type.BOOL, 0, "open"]],
    Stack: [["Content", "count", Type.I32, 0, "count"], ["Content", "fresh", Type.F32, 0, "fresh"], ["Tag", "label", Type.STRING, 0, "label"]],
    Clan: [["Purse", "coins", Type.I64, 0, "coins"], ["Purse", "worth", Type.F64, 0, "worth"], ["Mood", "joy", Type.F32, 0, "joy"], ["Standing", "rank", Type.U8, 0, "rank"],
        ["Annals", "fame", Type.F64, 0, "fame"]],
    Burrow: [["Season", "phase", Type.F64, 0, "phase"], ["Season", "warmth", Type.F32, 0, "warmth"], ["Lamp", "light", Type.U8, 0, "light"], ["Prices", "grain", Type.F64, 0, "price"]],
};
const LABELS = Object.keys(COLUMNS) as (keyof Tables)[];
const rowsOf = (s: State, label: keyof Tables): any[] => s[label];
const keyOf = (label: string, row: any): any => label === "Stack" ? [row.id, row.item] : row.id;

/** A world with the tables of the game; without the column that a checksum leaves out. */
function described(blind = ""): World {
    const w = new World();
    for (const label of LABELS) {
        const t = w.archetype(label, label === "Stack" ? 2 : 1);
        for (const [component, field, type, scale] of COLUMNS[label]) if (blind !== `${label}.${field}`) t.column(component, field, type as any, scale);
    }
    w.cache("Crowd").column("Cell", "moles", Type.U16);
    w.cache("Stores").column("Item", "count", Type.U32);
    return w;
}

const cellOf = (m: { x: number; y: number }): number => Math.floor(m.y / ONE) * WIDE + Math.floor(m.x / ONE);
const toward = (at: number, to: number, pace: number): number => Math.min(Math.max(to, at - pace), at + pace);
const COMMAND = 12; // bytes of a payload: subject, target, price

function command(subject: number, target: number, price: number): Uint8Array {
    const v = new DataView(new ArrayBuffer(COMMAND));
    v.setUint32(0, subject, true); v.setUint32(4, target, true); v.setFloat32(8, price, true);
    return new Uint8Array(v.buffer);
}

function read(o: Order): { subject: number; target: number; price: number } {
    const v = new DataView(o.payload.buffer, o.payload.byteOffset, COMMAND);
    return { subject: v.getUint32(0, true), target: v.getUint32(4, true), price: v.getFloat32(8, true) };
}

/** Numbers of what is only seen, and of players. */
class Dice {
    constructor(private state: number) {}
    draw(n: number): number { return Math.floor(((this.state = Math.imul(this.state, 1664525) + 1013904223 >>> 0) >>> 8) / 2 ** 24 * n); }
}

class Moles implements Game {
    readonly name = "moles";
    readonly build = "2.4";
    readonly systems = ["Orders", "Season", "Seep", "Assign", "Walk", "Dig", "Market", "Supper", "Census"];
    s!: State;
    live = false; // it is played, not replayed
    private ahead = false; private tick = 0; // whether it is shown ahead
    private crowd = new Uint16Array(CELLS); private stores = new Uint32Array(ITEMS);
    private inflow = new Float32Array(CELLS); private helpers = new Float32Array(64); // scratch of Seep and Dig
    private effects = new Dice(7);
    private readonly salt = Math.floor(Math.random() * 2 ** 32);
    private readonly worlds = new Map<string, World>();
    constructor(private readonly mistakes: Mistake[]) {}
    private on(name: string, place: string): boolean { return this.mistakes.some((m) => m.kind.name === name && m.place === place && this.tick >= m.from); }

    /** A mistake that is made once, by a peer that plays. */
    private once(name: string, place: string): boolean {
        const m = this.live && !this.ahead && this.on(name, place) ? this.mistakes.find((m) => m.kind.name === name && !m.done) : undefined;
        if (m) m.done = true;
        return m !== undefined;
    }
    private often(name: string, place: string): boolean { return this.live && !this.ahead && this.on(name, place); }

    /** Of 0 to n - 1. */
    private draw(n: number): number {
        const s = this.s;
        s.a = Math.imul(s.a, 1664525) + 1013904223 >>> 0; s.b = s.b + 0x9e3779b9 >>> 0;
        return Math.floor(((s.a ^ s.b) >>> 8) / 2 ** 24 * n);
    }

    /** The order of objects in memory. */
    private place(n: number): number { return Math.imul(n + 1, this.salt | 1) >>> 0; }

    // The rules
    private begin(seed: number): void {
        const s: State = { a: seed >>> 0, b: seed * 2654435761 >>> 0, serial: 0, Cell: [], Mole: [], Job: [], Chest: [], Stack: [], Clan: [], Burrow: [{ id: 1, phase: 0, warmth: 0.5, light: 0, price: 4 }] };
        this.s = s; this.tick = 0; this.crowd.fill(0); this.stores.fill(0); this.inflow.fill(0); this.helpers.fill(0);
        for (let id = 0; id < CELLS; id++) s.Cell.push({ id, kind: this.draw(4), damp: f32(this.draw(64) / 16), trail: 0, moss: this.draw(ONE), age: 0 });
        for (let id = 0; id < CLANS; id++) s.Clan.push({ id, coins: 40 + id, worth: 30 + id, joy: 0, rank: id, fame: 0 });
        for (let i = 0; i < 2 * CLANS; i++) this.newChest(this.draw(CELLS), i % CLANS);
        for (const c of s.Chest) for (let item = c.id % 2; item < ITEMS; item += 2) this.store(c.id, item, 12 + this.draw(16));
        for (let i = 0; i < 16; i++) this.newMole(i % CLANS);
        for (let i = 0; i < 6; i++) this.newJob(this.draw(CELLS), i % 3);
        const odd = this.mistakes.find((m) => m.kind.name === "initial-state");
        if (odd?.place === "Cell") for (const c of s.Cell) c.moss += 512;
        if (odd?.place === "Clan") for (const c of s.Clan) c.coins += 10;
    }
    private newMole(owner: number): void {
        const m: Mole = { id: ++this.s.serial, name: "", x: this.draw(WIDE * ONE), y: this.draw(HIGH * ONE), hunger: f32(this.draw(40) / 100), rest: 1, job: null, owner, steps: 0 };
        m.name = NAMES[this.draw(NAMES.length)]! + (m.id % 7); this.s.Mole.push(m); this.crowd[cellOf(m)]!++;
    }
    private newChest(cell: number, owner: number): void { this.s.Chest.push({ id: ++this.s.serial, cell, owner, open: this.s.serial % 2 === 0 }); }
    private newJob(cell: number, kind: number): void {
        this.s.Job.push({ id: ++this.s.serial, cell, kind, left: f32(6 + this.draw(50) / 8), rank: (cell * 7 + kind) % 16 });
    }
    private stack(chest: number, item: number): Stack | undefined { return this.s.Stack.find((k) => k.id === chest && k.item === item); }

    /** Puts goods into a chest, or takes them. */
    private store(chest: number, item: number, n: number): void {
        const list = this.s.Stack;
        let k = this.stack(chest, item);
        if (!k) {
            k = { id: chest, item, count: 0, fresh: 1, label: (chest + item) % 3 ? GOODS[item]! : null };
            const at = list.findIndex((o) => o.id > chest || o.id === chest && o.item > item);
            list.splice(at < 0 ? list.length : at, 0, k);
        }
        k.count += n; this.stores[item] = this.stores[item]! + n;
    }

    /** Why an order is not possible now. */
    private possible(o: Order): boolean {
        if (o.kind === "chat" || this.validate(0, o)) return false;
        const { subject, target } = read(o), s = this.s;
        if (o.kind === "dig") return subject < CELLS && (s.Job.length < JOBS || s.Job.some((j) => j.cell === subject));
        return o.kind === "sell" && s.Chest.some((c) => c.id === subject && c.owner === o.player) && (this.stack(subject, target % ITEMS)?.count ?? 0) > 0;
    }
    private obey(orders: readonly Order[]): void {
        for (const o of orders) {
            if (!this.possible(o)) continue;
            const other = this.once("other-than-logged", o.kind === "dig" ? "Dig" : "Sell") ? 1 : 0, { subject, target, price } = read(o);
            if (o.kind === "dig") { this.wish(subject, (target + other) % 3); continue; }
            const k = this.stack(subject, target % ITEMS)!, n = Math.min(k.count, 1 + Math.floor(target / ITEMS) % 5);
            k.count -= n;
            if (!this.on("stale-cache", "Stores")) this.stores[k.item] = this.stores[k.item]! - n;
            this.s.Clan[o.player]!.coins += Math.floor(n * Math.min(Math.max(price + other, 0), 9) || 0);
        }
    }

    /** A job in a cell, or more haste for the one that is there. */
    private wish(cell: number, kind: number): void {
        const j = this.s.Job.find((j) => j.cell === cell);
        if (!j) return this.newJob(cell, kind);
        j.left = f32(j.left - 1.25); j.rank = j.rank * 3 + kind & 63;
    }
    private season(): void {
        const s = this.s, b = s.Burrow[0]!;
        b.phase += this.on("wall-clock", "Season") ? 0.0125 + performance.now() % 1 / 1e6 : 0.0125;
        const turn = b.phase - Math.floor(b.phase);
        b.warmth = f32(4 * turn * (1 - turn));
        if (this.tick % 16 === 0) b.light = Math.floor(b.warmth * 200);
        if (this.on("reconverge", "Season") && this.tick % 16 === 3) b.light = Math.min(b.light + 9, 255);
        if (this.tick % 3 === 0) { const c = s.Cell[this.draw(CELLS)]!; c.damp = f32(c.damp + 2); }
        if (this.on("rng-leak", "Season") ? this.draw(8) === 0 : this.effects.draw(8) === 0) this.effects.draw(CELLS);
        if (this.often("host-only", "Season") && this.tick % 24 === 0) b.phase += 0.25;
    }
    private seep(): void {
        const s = this.s, inflow = this.inflow, fused = this.on("float-fma", "Seep"), other = this.on("float-reassoc", "Seep"), flush = this.on("float-flush", "Seep");
        if (!this.on("uninitialized", "Seep")) inflow.fill(0);
        for (const c of s.Cell) {
            const near = [c.id - WIDE, c.id - 1, c.id + 1, c.id + WIDE].map((n) => s.Cell[n]?.damp ?? 0), [n, w, e, so] = near as [number, number, number, number];
            inflow[c.id] = f32(inflow[c.id]! + (other ? f32(f32(n + w) + f32(e + so)) : f32(f32(f32(n + w) + e) + so)));
        }
        for (const c of s.Cell) {
            const add = f32(inflow[c.id]! * f32(0.12));
            c.damp = fused ? f32(c.damp * f32(0.49) + add) : f32(f32(c.damp * f32(0.49)) + add); c.trail = f32(c.trail * f32(0.0625));
            if (flush && c.trail < 2 ** -126) c.trail = 0;
            c.moss = Math.min(c.moss + Math.floor(s.Burrow[0]!.warmth * 24 + Math.min(c.damp, 4)), 8 * ONE);
            c.age += this.on("blind-checksum", "Cell") ? 1 / (1.01 + c.damp) : 1 / (1 + c.damp);
        }
    }
    private assign(): void {
        const s = this.s, roster = s.Mole.filter((m) => m.job === null && m.rest > 0.25), local = LOCAL.compare;
        if (this.on("map-order", "Assign")) roster.sort((a, b) => this.place(a.id) - this.place(b.id));
        else if (this.on("locale-sort", "Assign")) roster.sort((a, b) => local(a.name, b.name) || a.id - b.id);
        else roster.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0) || a.id - b.id);
        const taken = new Map<number, number>(), unstable = this.on("unstable-sort", "Assign");
        for (const m of s.Mole) if (m.job !== null) taken.set(m.job, (taken.get(m.job) ?? 0) + 1);
        for (const m of roster) {
            const far = (j: Job): number => Math.floor((Math.abs(j.cell % WIDE - m.x / ONE) + Math.abs(Math.floor(j.cell / WIDE) - m.y / ONE)) / 3);
            const free = s.Job.filter((j) => (taken.get(j.id) ?? 0) < 2).sort((a, b) => far(a) - far(b) || (unstable ? b.id - a.id : a.rank - b.rank || a.id - b.id));
            if (!free.length) break;
            m.job = free[0]!.id; taken.set(m.job, (taken.get(m.job) ?? 0) + 1);
        }
    }
    private walk(): void {
        const s = this.s, met: [Mole, Mole][] = [], first = new Map<number, Mole>();
        for (const m of s.Mole) {
            const job = s.Job.find((j) => j.id === m.job), from = cellOf(m), pace = this.crowd[from]! > 2 ? 380 : 760;
            if (!job) m.job = null;
            const goal = job ? { x: job.cell % WIDE * ONE + ONE / 2, y: Math.floor(job.cell / WIDE) * ONE + ONE / 2 } : { x: m.x + this.draw(601) - 300, y: m.y + this.draw(601) - 300 };
            this.crowd[from] = this.crowd[from]! - 1; m.x = Math.min(Math.max(toward(m.x, goal.x, pace), 0), WIDE * ONE - 1);
            m.y = Math.min(Math.max(toward(m.y, goal.y, pace), 0), HIGH * ONE - 1);
            const at = cellOf(m);
            this.crowd[at]!++; s.Cell[at]!.trail = 1; m.steps++;
            if (first.has(at)) met.push([first.get(at)!, m]);
            first.set(at, m);
        }
        if (this.on("unsorted-merge", "Walk")) met.sort(() => Math.random() - 0.5);
        for (const [a, b] of met) { // they jostle
            a.rest = Math.max(a.rest * 0.75 + b.rest * 0.2, 0.05); b.rest = Math.max(b.rest - a.rest / 16, 0.05);
        }
    }
    private dig(): void {
        const s = this.s, helpers = this.helpers, at = new Map(s.Job.map((j) => [j.id, j]));
        if (!this.on("uninitialized", "Dig")) helpers.fill(0);
        for (const m of s.Mole) {
            const j = m.job === null ? undefined : at.get(m.job);
            if (!j || cellOf(m) !== j.cell) { m.rest = Math.min(m.rest + 0.01, 1); continue; }
            helpers[j.id % 64] = f32(helpers[j.id % 64]! + 0.2 + m.rest / 2); m.rest = Math.max(m.rest - 0.015, 0.05);
        }
        const broken = s.Job.length > 3 && this.once("half-system", "Dig") ? 2 : s.Job.length, late = this.on("wall-clock", "Dig") ? f32(performance.now() % 1 / 64) : 0;
        for (const j of s.Job.slice(0, broken)) {
            j.left = f32(j.left - helpers[j.id % 64]! - late);
            if (j.left > 0) continue;
            s.Job = s.Job.filter((o) => o !== j);
            const digger = s.Mole.find((m) => m.job === j.id);
            for (const m of s.Mole) if (m.job === j.id) m.job = null;
            const owner = digger?.owner ?? 0, chests = s.Chest.filter((c) => c.owner === owner);
            if (j.kind === 1) s.Cell[j.cell]!.kind = (s.Cell[j.cell]!.kind + 1) % 4;
            else if (j.kind === 2 && s.Chest.length < 10) this.newChest(j.cell, owner);
            else this.store(chests[this.draw(chests.length)]!.id, this.draw(ITEMS), (this.on("data-mismatch", "Dig") ? 9 : 7) + this.draw(4));
        }
        if (this.tick % 4 === 0 && s.Job.length < JOBS / 2) this.newJob(this.draw(CELLS), this.draw(3));
        if (this.on("rng-leak", "Dig") ? this.draw(4) === 0 : this.effects.draw(4) === 0) this.effects.draw(9);
    }
    private market(): void {
        const s = this.s, b = s.Burrow[0]!;
        b.price = b.price * 0.9 + 8 / (1 + this.stores[0]!);
        if (this.tick % 4 === 1) {
            const offers = s.Stack.filter((k) => k.count > 2 && k.label !== null), name = (k: Stack): string => k.label!;
            if (this.on("map-order", "Market")) offers.sort((x, y) => this.place(x.id * 8 + x.item) - this.place(y.id * 8 + y.item));
            else if (this.on("locale-sort", "Market")) offers.sort((x, y) => LOCAL.compare(name(x), name(y)) || x.id - y.id);
            else offers.sort((x, y) => (name(x) < name(y) ? -1 : name(x) > name(y) ? 1 : 0) || x.id - y.id);
            let asked = b.price;
            for (const k of offers.slice(0, 5)) {
                const text = asked.toFixed(2), paid = parseFloat(this.on("locale-number", "Market") ? text.replace(".", ",") : text);
                const seller = s.Clan[s.Chest.find((c) => c.id === k.id)!.owner]!, buyer = s.Clan[this.draw(CLANS)]!;
                this.store(k.id, k.item, -2);
                seller.worth += paid * 2 - (this.on("data-mismatch", "Market") ? 0.5 : 0.25); buyer.coins += k.item;
                asked = asked * 0.875 + k.item / 4;
            }
        }
        for (const c of s.Clan) c.worth = c.worth * 0.995 + c.coins / 64;
        if (this.on("rng-leak", "Market") ? this.draw(5) === 0 : this.effects.draw(5) === 0) this.effects.draw(9);
        if (this.often("host-only", "Market") && this.tick % 20 === 0) s.Clan[0]!.coins += 25;
    }
    private supper(): void {
        const s = this.s, fused = this.on("float-fma", "Supper"), flush = this.on("float-flush", "Supper");
        let eaters = s.Mole.slice();
        if (this.on("unsorted-merge", "Supper")) eaters.sort(() => Math.random() - 0.5);
        if (this.once("half-system", "Supper")) eaters = eaters.slice(0, 5);
        const comma = this.on("locale-number", "Supper"), ration = parseFloat(comma ? "0,5" : "0.5"), dead = new Set<Mole>();
        for (const m of eaters) {
            m.hunger = fused ? f32(m.hunger * f32(1.0078) + f32(0.0113)) : f32(f32(m.hunger * f32(1.0078)) + f32(0.0113));
            if (m.hunger < 0.5) continue;
            const k = s.Stack.find((k) => k.count > 0 && s.Chest.some((c) => c.id === k.id && c.owner === m.owner));
            if (k) { this.store(k.id, k.item, -1); m.hunger = f32(m.hunger - ration * (this.on("data-mismatch", "Supper") ? 0.75 : 0.875)); m.rest = Math.min(m.rest + (k.fresh + k.count) / 64, 1); }
            else if (m.hunger > 1.2) dead.add(m);
        }
        s.Mole = s.Mole.filter((m) => !dead.has(m));
        for (const m of dead) if (!this.on("stale-cache", "Crowd")) this.crowd[cellOf(m)] = this.crowd[cellOf(m)]! - 1;
        for (const k of s.Stack) { k.fresh = f32(k.fresh * f32(k.item > 3 ? 0.125 : 0.96875)); if (flush && k.fresh < 2 ** -126) k.fresh = 0; }
        s.Stack = s.Stack.filter((k) => k.count > 0);
        if (this.tick % 7 === 0 && s.Mole.length < MOLES) this.newMole(this.draw(CLANS));
        if (this.tick % 13 === 0 && s.Mole.length > 9) this.leave();
    }

    /** The most tired one leaves. */
    private leave(): void {
        const m = this.s.Mole.reduce((a, b) => b.rest < a.rest ? b : a);
        this.s.Mole = this.s.Mole.filter((o) => o !== m);
        if (!this.on("stale-cache", "Crowd")) this.crowd[cellOf(m)] = this.crowd[cellOf(m)]! - 1;
    }
    private census(): void {
        const s = this.s, unstable = this.on("unstable-sort", "Census"), halves = this.on("float-reassoc", "Census");
        for (const c of s.Clan) {
            const list = s.Mole.filter((m) => m.owner === c.id).map((m) => m.hunger), sum = (l: number[]): number => l.reduce((a, b) => f32(a + b), 0), half = list.length >> 1;
            c.joy = f32((halves ? f32(sum(list.slice(0, half)) + sum(list.slice(half))) : sum(list)) / Math.max(list.length, 1));
            c.fame += this.on("blind-checksum", "Clan") ? c.joy * 1.5 : c.joy;
        }
        if (this.tick % 4 === 0) {
            const order = s.Clan.slice().sort((a, b) => Math.floor(b.worth / 32) - Math.floor(a.worth / 32) || (unstable ? b.id - a.id : a.id - b.id));
            order.forEach((c, i) => { c.rank = i; });
        }
        if (this.on("reconverge", "Census") && this.tick % 8 === 1) s.Clan[1]!.rank += 3;
        const m = s.Mole[3], k = s.Stack[2], bits = new DataView(new ArrayBuffer(4));
        if (m && this.once("bit-flip", "Mole")) { bits.setFloat32(0, m.hunger); bits.setUint32(0, bits.getUint32(0) ^ 1 << 21); m.hunger = bits.getFloat32(0); }
        if (k && this.once("bit-flip", "Stack")) k.count ^= 8;
        if (this.once("bit-flip", "Clan")) s.Clan[1]!.coins ^= 16;
        if (m && this.once("foreign-write", "Mole")) m.rest = 0.97;
        if (this.once("foreign-write", "Clan")) s.Clan[0]!.coins += 137;
    }

    // What desynctool asks
    start(session: Session): void { this.refuse(session); this.begin(Number(BigInt.asUintN(32, BigInt(session.seed)))); }
    private refuse(session: Session | null): void { if ((session?.params?.["map"] ?? "meadow") !== "meadow") throw new Refused("there is no such map"); }
    runSystem(number: number, tick: number, orders: readonly Order[]): void {
        this.tick = tick;
        const name = this.systems[number]!, run = [() => this.obey(orders), () => this.season(), () => this.seep(), () => this.assign(), () => this.walk(), () => this.dig(),
            () => this.market(), () => this.supper(), () => this.census()][number]!;
        if (this.once("system-skipped", name)) return;
        run();
        if (this.once("system-twice", name)) run();
    }
    step(tick: number, orders: readonly Order[]): void { this.systems.forEach((_, i) => this.runSystem(i, tick, orders)); }
    world(): World { return this.filled("", false); }

    /** The state as the checksum has it. */
    seen(blind: string): World { return this.filled(blind, this.mistakes.some((m) => m.kind.name === "checksum-only")); }
    private filled(blind: string, drawn: boolean): World {
        if (!this.worlds.has(blind)) this.worlds.set(blind, described(blind));
        const w = this.worlds.get(blind)!, s = this.s;
        w.rng = new Uint8Array(Uint32Array.of(s.a, s.b, s.serial).buffer);
        for (const label of LABELS) {
            const rows = rowsOf(s, label), columns = COLUMNS[label].filter(([, field]) => blind !== `${label}.${field}`);
            w.archetype(label, label === "Stack" ? 2 : 1).fill(rows.map((r) => keyOf(label, r)), ...columns.map(([, , , , property]) => rows.map((r, i) =>
                drawn && !i && (property === "steps" && this.on("checksum-only", "Mole") || property === "count" && this.on("checksum-only", "Stack")) ? r[property] ^ this.salt >>> 4 : r[property])));
        }
        w.cache("Crowd").fill(Array.from(this.crowd.keys()), this.crowd);
        w.cache("Stores").fill(Array.from(this.stores.keys()), this.stores);
        return w;
    }
    load(state: World, at: { tick: any }, session: Session | null): void {
        this.refuse(session);
        const s = { Burrow: [] } as unknown as State, rng = state.rng;
        if (rng?.length !== 12) throw new Refused("the state has another RNG");
        const v = new DataView(rng.buffer, rng.byteOffset, 12);
        [s.a, s.b, s.serial] = [0, 4, 8].map((i) => v.getUint32(i, true)) as [number, number, number];
        for (const label of LABELS) (s as any)[label] = this.rows(state.archetype(label, label === "Stack" ? 2 : 1), label);
        const out = (cell: number): boolean => !(cell < CELLS);
        if (s.Cell.length !== CELLS || s.Clan.length !== CLANS || s.Burrow.length !== 1 || s.Mole.some((m) => out(cellOf(m)) || m.owner >= CLANS) || s.Job.some((j) => out(j.cell)) ||
            s.Chest.some((c) => c.owner >= CLANS) || s.Stack.some((k) => k.item >= ITEMS || !s.Chest.some((c) => c.id === k.id)) || s.Cell.some((c, i) => c.id !== i) || s.Clan.some((c, i) => c.id !== i))
            throw new Refused("the state has things that cannot be");
        this.s = s; this.tick = Number(at.tick); this.inflow.fill(0); this.helpers.fill(0);
        if (this.on("load-loses", "Mole")) for (const m of s.Mole) m.rest = 0;
        if (this.on("load-loses", "Clan")) for (const c of s.Clan) c.joy = c.worth = 0;
        [this.crowd, this.stores] = this.counted();
    }
    private rows(t: Table, label: keyof Tables): any[] {
        const rows: any[] = t.keys.map((key) => Array.isArray(key) ? { id: Number(key[0]), item: Number(key[1]) } : { id: Number(key) });
        for (const [component, field, type, scale, property] of COLUMNS[label]) {
            const values = t.column(component, field, type as any, scale).values, optional = property === "job" || property === "label";
            rows.forEach((r, i) => {
                const v = values[i], kind = type === Type.STRING ? "string" : type === Type.BOOL ? "boolean" : "number";
                if (typeof v !== kind && !(optional && v === null)) throw new Refused(`the state has a ${label} without ${component}.${field}`);
                r[property] = v;
            });
        }
        return rows;
    }
    save(): Uint8Array {
        return Uint8Array.from(serialize({ s: this.s, tick: this.tick, crowd: this.crowd, stores: this.stores }));
    }
    restore(save: Uint8Array): void {
        const all = deserialize(save);
        this.s = all.s; this.tick = all.tick; this.crowd = Uint16Array.from(all.crowd); this.stores = Uint32Array.from(all.stores);
        if (this.on("save-omits-field", "Mole")) for (const m of this.s.Mole) m.rest = 0;
        if (this.on("save-omits-field", "Stack")) for (const k of this.s.Stack) k.fresh = 0;
    }
    private counted(): [Uint16Array, Uint32Array] {
        const crowd = new Uint16Array(CELLS), stores = new Uint32Array(ITEMS);
        for (const m of this.s.Mole) crowd[cellOf(m)]!++;
        for (const k of this.s.Stack) stores[k.item] = stores[k.item]! + k.count;
        return [crowd, stores];
    }
    caches(): string[] {
        const [crowd, stores] = this.counted();
        return [...crowd.join() === this.crowd.join() ? [] : ["Crowd"], ...stores.join() === this.stores.join() ? [] : ["Stores"]];
    }
    validate(_: unknown, o: Order): string {
        if (!["dig", "sell", "chat"].includes(o.kind)) return "there is no such kind of order";
        return o.player >= CLANS ? "there is no such player" : o.kind === "chat" || o.payload.length === COMMAND ? "" : "its payload has another size";
    }
    test(tick: number, o: Order): boolean {
        this.tick = tick;
        const possible = this.possible(o);
        if (o.kind === "dig" && this.on("impure-validation", "Dig") && this.s.Mole[0]) this.s.Mole[0].rest *= 0.9375;
        if (o.kind === "sell" && this.on("impure-validation", "Sell")) this.s.Clan[o.player % CLANS]!.coins--;
        return possible;
    }
    predict(tick: number, _: number, orders: readonly Order[]): void {
        const before = this.save();
        this.ahead = true; this.step(tick, orders); this.ahead = false;
        const shown = this.s;
        this.restore(before);
        if (this.on("prediction-leak", "Job")) for (const j of this.s.Job) j.left = shown.Job.find((o) => o.id === j.id)?.left ?? j.left;
        if (this.on("prediction-leak", "Stack")) for (const k of this.s.Stack) k.fresh = shown.Stack.find((o) => o.id === k.id && o.item === k.item)?.fresh ?? k.fresh;
    }
}

// ---- The truth: states compared value by value, without hashes
type Difference = { table: string; component: string; keys: string[] };

const SORTED = LABELS.slice().sort(), PROPERTIES = Object.fromEntries(LABELS.map((label) => [label, ["id", ...label === "Stack" ? ["item"] : [], ...COLUMNS[label].map((c) => c[4])]]));
const same = (x: any[], y: any[], properties: string[]): boolean => x.length === y.length && x.every((r, i) => properties.every((p) => Object.is(r[p], y[i][p])));

function differences(x: State, y: State): Difference[] {
    const list: Difference[] = x.a !== y.a || x.b !== y.b || x.serial !== y.serial ? [{ table: "", component: "RNG", keys: [] }] : [];
    for (const table of SORTED) {
        if (same(rowsOf(x, table), rowsOf(y, table), PROPERTIES[table])) continue;
        const by = (s: State): Map<string, any> => new Map(rowsOf(s, table).map((r) => [String(keyOf(table, r)), r])), a = by(x), b = by(y);
        const keys = [...new Set([...a.keys(), ...b.keys()])], found = new Map<string, string[]>();
        for (const key of keys) for (const [component, , , , property] of COLUMNS[table]) {
            if (Object.is(a.get(key)?.[property], b.get(key)?.[property]) && a.has(key) === b.has(key)) continue;
            found.set(component, [...(found.get(component) ?? []).filter((k) => k !== key), key]);
        }
        for (const component of [...found.keys()].sort()) list.push({ table, component, keys: found.get(component)! });
    }
    return list;
}

const WITH_KEYS = (d: Difference): string[] => d.table === "" ? [""] : d.keys;

class Truth {
    first: { bad: number; system: string | null; d: Difference; load: boolean } | null = null;
    healed: number | null = null;
    recorded: number | null = null; // the first point at which hashes differ
    checksum = "";
    private found: [string, Difference][] = [];

    /** The states at a point before a tick: those of the start, or of a load. */
    between(point: number, peers: Peer[], load: boolean): void {
        for (const p of peers.slice(1)) {
            const d = this.first ? undefined : differences(peers[0]!.game.s, p.game.s)[0];
            if (d) this.first = { bad: point, system: null, d, load };
        }
    }
    after(system: string, peers: Peer[]): void {
        for (const p of this.first ? [] : peers.slice(1)) for (const d of differences(peers[0]!.game.s, p.game.s)) this.found.push([system, d]);
    }

    /** What differs first is the first that differs at the end of the tick too. */
    end(point: number, peers: Peer[]): void {
        if (this.first && this.healed !== null) return;
        const last = peers.slice(1).flatMap((p) => differences(peers[0]!.game.s, p.game.s));
        if (this.first && !last.length) this.healed = point;
        for (const [system, d] of this.first ? [] : this.found) {
            const keys = WITH_KEYS(d).filter((k) => last.some((l) => l.table === d.table && l.component === d.component && WITH_KEYS(l).includes(k)));
            if (!keys.length) continue;
            this.first = { bad: point, system, d: { ...d, keys: d.table ? keys : [] }, load: false }; break;
        }
        this.found = [];
    }
    json(m: Mistake | undefined): string {
        const f = this.first;
        return JSON.stringify({
            fault: m?.kind.name ?? "", place: m?.place ?? "", peer: m?.peer ?? "", from_tick: m?.from ?? 0, bracket: f && { good: f.bad ? f.bad - 1 : null, bad: f.bad },
            ...f && { initial_state: f.bad === 0, system: f.system, archetype: f.d.table, component: f.d.component, entities: f.d.keys, load: f.load && f.bad > 0 },
            healed_at: this.healed, ...this.checksum && { checksum: { kind: this.checksum, differs_at: this.recorded } },
        }, null, 1) + "\n";
    }
}

// ---- Recording
type Options = { dir: string; seed: number; ticks: number; every: number; trace: string; fault?: string };
type Peer = { name: string; number: number; game: Moles; recorder: Recorder | null; held: Order[] };

class Match {
    private readonly truth = new Truth();
    private readonly due = new Map<number, Order[]>();
    private readonly sequence = [0, 0, 0];
    private readonly dice: Dice[];
    private readonly m: Mistake | undefined;
    private readonly peers: Peer[];
    private readonly blind: string;
    private readonly joins: number; // the point at which the third one joins, if it does
    private readonly loads: number; // the point at which all load, if they do
    constructor(private readonly o: Options) {
        this.m = o.fault ? mistake(o.fault, o.seed) : undefined;
        const lost = this.m?.kind.name === "load-loses", third = o.seed % 2 === 1, names = ["host", "client", ...third ? ["guest"] : []];
        this.dice = [0, 1, 2].map((i) => new Dice(o.seed * 31 + i)); this.joins = third ? Math.floor(o.ticks / 3) + o.seed % 20 : -1;
        this.loads = lost || o.seed % 3 === 0 ? Math.min(Math.max(Math.floor(o.ticks * 0.55) + o.seed % 15, lost ? this.m!.from : 0), o.ticks - 3) : -1;
        this.blind = this.m?.kind.name === "blind-checksum" ? this.m.place === "Cell" ? "Cell.age" : "Clan.fame" : "";
        this.peers = names.map((name, number) => {
            const game = new Moles(this.m && this.m.peer === name ? [this.m] : []);
            game.live = true; game.start({ seed: o.seed });
            return { name, number, game, recorder: null, held: [] };
        });
    }
    private get online(): Peer[] { return this.peers.filter((p) => p.recorder); }
    private async open(p: Peer, point: number): Promise<void> {
        const { seed, trace, dir } = this.o, facts: Record<string, string> = {}, other = p.number % 2 === 1, name = this.m?.kind.name ?? "", made = (kind: string): boolean => other && name.startsWith(kind);
        if (seed % 4 !== 1) {
            const differ = other && seed % 5 > 2;
            facts["os"] = differ ? "windows" : "linux";
            facts["compiler"] = differ || made("float") || made("unstable") ? "node 18.2" : "node 20.20";
            facts["locale"] = differ || made("locale") ? "de_DE.UTF-8" : "en_GB.UTF-8";
        }
        const session: Session = {
            seed, peer: p.name, build: "2.4", rate: [10, 1], firstPoint: point, epoch: point ? 1 : 0, kinds: [{ name: "dig" }, { name: "sell" }, { name: "chat", local: true }],
            peers: this.peers.map((o) => o.name), params: { map: "meadow", ...seed % 5 === 0 && { "host peer": "host" } }, facts,
        };
        mkdirSync(`${dir}/${p.name}`, { recursive: true });
        const detail = trace === "none" ? null : trace === "system" ? Detail.SYSTEM : trace === "archetype" ? Detail.ARCHETYPE : Detail.COLUMN;
        p.recorder = new Recorder(await openFolder(`${dir}/${p.name}`), session, p.game.seen(this.blind), detail);
    }
    private copy(from: Peer, to: Peer, point: number): void {
        const { at, world } = decodeSnapshot(encodeSnapshot(from.game.world(), { seed: this.o.seed, tick: point }));
        to.game.load(world, at, null);
    }

    /** Who joins, and what is loaded, before a tick. States at the point were noted. Returns whether somebody has another state now. */
    private async events(point: number): Promise<void> {
        const [host] = this.peers as [Peer], guest = this.peers[2];
        if (guest && point === this.joins) {
            this.copy(host, guest, point); host.recorder!.marker({ kind: MarkerKind.SAVE, point, peer: 0, text: "for guest" });
            for (const p of this.online) p.recorder!.marker({ kind: MarkerKind.JOIN, point, peer: 2, player: 2 });
            await this.open(guest, point);
            guest.recorder!.marker({ kind: MarkerKind.JOIN, point, peer: 2, player: 2, newEpoch: true, history: host.recorder!.log.history });
            guest.recorder!.state(point, guest.game.seen(this.blind)); guest.recorder!.snapshot(guest.game.world());
            this.truth.between(point, this.online, true);
        }
        if (point !== this.loads) return;
        for (const p of this.online) {
            this.copy(p, p, point);
            p.recorder!.marker({ kind: MarkerKind.LOAD, point, peer: p.number, newEpoch: true, history: p.recorder!.log.history, text: "evening" });
            p.recorder!.state(point, p.game.seen(this.blind));
        }
        this.truth.between(point, this.online, true);
    }
    async play(): Promise<void> {
        const { ticks, every, dir } = this.o;
        for (const p of this.peers.slice(0, 2)) await this.open(p, 0);
        this.truth.between(0, this.online, false);
        for (let point = 0; ; point++) {
            for (const p of this.online) p.recorder!.state(point, p.game.seen(this.blind));
            await this.events(point);
            const roots = this.online.map((p) => p.recorder!.root.join()), apart = this.truth.recorded === null && roots.some((r) => r !== roots[0]);
            if (apart) {
                this.truth.recorded = point;
                if (this.online.every((p) => !differences(this.peers[0]!.game.s, p.game.s).length)) this.truth.checksum = "checksum-only";
            }
            if (apart || point % every === 0 || point === ticks) for (const p of this.online) p.recorder!.snapshot(p.game.world());
            if (point === ticks) break;
            this.playTick(point);
        }
        if (this.truth.first && this.truth.recorded === null) this.truth.checksum = "blind-checksum";
        for (const p of this.online) p.recorder!.close();
        writeFileSync(`${dir}/truth.json`, this.truth.json(this.m));
    }
    private playTick(tick: number): void {
        for (let player = 0; player < CLANS; player++) this.give(this.peers[player]?.recorder ? this.peers[player]! : this.peers[0]!, player, tick);
        const orders = this.due.get(tick) ?? [];
        this.due.delete(tick);
        const heard = this.online.map((p) => this.delivered(p, tick, orders.filter((o) => o.kind !== "chat" || (this.online[o.player] ?? this.peers[0]) === p)));
        this.online.forEach((p, i) => p.recorder!.tick(tick, heard[i]!));
        this.peers[0]!.game.systems.forEach((system, n) => {
            this.online.forEach((p, i) => {
                p.game.runSystem(n, tick, heard[i]!);
                if (p.recorder!.trace) p.recorder!.system(system, p.game.seen(this.blind));
            });
            this.truth.after(system, this.online);
        });
        this.truth.end(tick + 1, this.online);
    }

    /** A scripted player, who sees the state of a peer. That machine tests the order, and shows what it would do. */
    private give(p: Peer, player: number, tick: number): void {
        const dice = this.dice[player]!, s = p.game.s, roll = dice.draw(10), which = dice.draw(1 << 16), n = dice.draw(60), wanted: [string, Uint8Array][] = [];
        if (roll < 2) {
            wanted.push(["dig", command(which % CELLS, n % 3, 0)]);
            if (n % 4 === 0) wanted.push(["dig", command(which % CELLS, (n + 1) % 3, 0)]); // a change of mind
        } else if (roll < 4) {
            const chests = s.Chest.filter((c) => c.owner === player), c = chests[which % chests.length], k = s.Stack.find((k) => k.id === c?.id && k.count > 1);
            if (k) wanted.push(["sell", command(k.id, k.item + ITEMS * (n % 5), 1.5 + n % 7)]);
            if (k && n % 3 === 0) wanted.push(["sell", command(k.id, k.item + ITEMS * 4, 2.75 + n % 5)]);
        } else if (roll === 9 && n < 20) wanted.push(["chat", new TextEncoder().encode(`tick ${tick}`)]);
        for (const [kind, payload] of wanted) {
            const o: Order = { player, kind, payload, sequence: this.sequence[player]! };
            if (kind !== "chat" && !p.game.test(tick, o)) continue;
            if (kind !== "chat") p.game.predict(tick, player, [o]);
            this.sequence[player]!++; this.due.set(tick + LATENCY, [...this.due.get(tick + LATENCY) ?? [], o]);
        }
    }

    /** What the network makes of the orders of a tick on their way to a peer. */
    private delivered(p: Peer, tick: number, orders: Order[]): Order[] {
        const list = [...orders, ...p.held], m = this.m;
        p.held = [];
        if (!m || m.peer !== p.name || m.done || tick < m.from || !m.kind.name.startsWith("order-")) return list;
        const kind = m.place.toLowerCase(), same = (i: number): number => list.findIndex((o, k) => k > i && o.kind === kind && o.player === list[i]!.player && read(o).subject === read(list[i]!).subject);
        const at = list.findIndex((o, i) => o.kind === kind && (m.kind.name !== "order-reordered" || same(i) > i));
        if (at < 0) return list;
        m.done = true;
        const o = list[at]!, other = same(at);
        if (m.kind.name === "order-dropped") list.splice(at, 1);
        else if (m.kind.name === "order-duplicated") p.held.push(o);
        else if (m.kind.name === "order-late") p.held.push(...list.splice(at, 1));
        else if (m.kind.name === "order-reordered") [list[at], list[other]] = [list[other]!, o];
        else { list[at] = { ...o, payload: o.payload.slice() }; list[at]!.payload[kind === "dig" ? 0 : 11] ^= 1; }
        return list;
    }
}

declare const process: { argv: string[]; exitCode: number };
async function main(args: string[]): Promise<number> {
    const [verb] = args, options: Options = { dir: args[1] ?? "", seed: 1, ticks: 80, every: 100, trace: "none" };
    if (verb === "faults") { for (const f of FAULTS) console.log(`${f.name}\t${f.places.join(",")}\t${f.what}`); return 0; }
    const rest = args.slice(verb === "serve" ? 1 : 2);
    let usable = verb === "serve" || verb === "record" && args.length > 1;
    for (let i = 0; i < rest.length; i += 2) {
        const value = rest[i + 1] ?? "", number = /^\d{1,9}$/.test(value) ? Number(value) : NaN;
        if (rest[i] === "--fault" && mistake(value, 1)) options.fault = value;
        else if (rest[i] === "--trace" && ["none", "system", "archetype", "column"].includes(value)) options.trace = value;
        else if (rest[i] === "--seed" && number >= 0) options.seed = number;
        else if (rest[i] === "--ticks" && number >= 0) options.ticks = number;
        else if (rest[i] === "--snapshot-every" && number > 0) options.every = number;
        else usable = false;
    }
    if (!usable) console.error("moles: expected faults, serve or record DIR, with --seed N, --ticks N, --snapshot-every N, --trace LEVEL, --fault NAME[/PLACE][@TICK][:PEER]");
    if (!usable) return 2;
    const m = options.fault ? mistake(options.fault, options.seed) : undefined;
    if (verb === "serve") return serve(new Moles(m && !m.kind.outside ? [m] : []));
    await new Match(options).play();
    return 0;
}

process.exitCode = await main(process.argv.slice(2));
