// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

// The peer of peer.c, in TypeScript: the same game, the same commands, the same answers.
//
//     node peer.ts COUNT SELF SEED TICK SYSTEM KIND MARKED ROLLBACK
//     node peer.ts cost        what a tick costs, of 5000 entities of 220 bytes in 10 tables, of which 1000 values change

import { Type, World, decodeSnapshot, encodeSnapshot, openFolder } from "../typescript/desynctool.ts";
import type { Order, Session, Value } from "../typescript/desynctool.ts";
import { FlightRecorder } from "../typescript/desynctool_flight.ts";
import type { FlightOptions } from "../typescript/desynctool_flight.ts";

declare const process: { argv: string[]; env: Record<string, string | undefined>; stdin: AsyncIterable<Uint8Array>; stdout: { write(text: string): boolean } };
declare const performance: { now(): number };

const INFANTRY = 0, TANK = 1, SLOTS = 40, UNITS = 80, SIDE = 16, CELL = 8, ONE = 65536, EDGE = SIDE * CELL * ONE, ROWS = 8;
const KINDS = ["move", "attack", "stop"], SYSTEMS = ["Orders", "Movement", "Targeting", "Combat", "Reinforcement"], LABELS = ["Infantry", "Tank"];
const MASK = (1n << 64n) - 1n, FACTOR = 6364136223846793005n, STEP = 1442695040888963407n;

interface Unit { id: number; target: number; x: number; y: number; goalX: number; goalY: number; health: number; cooldown: number; owner: number; alive: boolean; targeted: boolean }
interface Sample { alive: boolean; has: boolean; values: Value[] } // of ALL, then text, bytes, name

interface State { rng: { state: bigint }; serial: number; kills: number[]; units: Unit[]; grid: number[]; samples: Sample[] }

const nobody = (): Unit => ({ id: 0, target: 0, x: 0, y: 0, goalX: 0, goalY: 0, health: 0, cooldown: 0, owner: 0, alive: false, targeted: false });
const ALL: [string, Type, number][] = [["bool", Type.BOOL, 0], ["i8", Type.I8, 0], ["i16", Type.I16, 0], ["i32", Type.I32, 0], ["i64", Type.I64, 0], ["u8", Type.U8, 0],
    ["u16", Type.U16, 0], ["u32", Type.U32, 0], ["u64", Type.U64, 0], ["f32", Type.F32, 0], ["f64", Type.F64, 0], ["fixed", Type.FIXED, 1000], ["ref", Type.REF, 0]];

const [count, self, seed, plantedTick, plantedSystem, plantedKind, marked, rollback] = process.argv.slice(2).map((text) => text === "cost" ? 0n : BigInt(text)) as
    [bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint];
const fault = plantedKind === 1n ? Number(plantedTick) : Infinity;
let s: State = { rng: { state: seed }, serial: 0, kills: [0, 0], units: Array.from({ length: UNITS }, nobody), grid: new Array(SIDE * SIDE).fill(0), samples: [] };
let point = 0, system = 0, planting = true, orders: Order[] = [], recorder: FlightRecorder | null = null;
const ids: number[] = [];

function draw(from: { state: bigint }, n: number): number {
    from.state = from.state * FACTOR + STEP & MASK;
    return Number((from.state >> 33n) * BigInt(n) >> 31n);
}

const cell = (u: Unit): number => Math.floor(u.y / ONE / CELL) * SIDE + Math.floor(u.x / ONE / CELL);
const distance = (a: Unit, b: Unit): number => Math.abs(a.x - b.x) + Math.abs(a.y - b.y);
const toward = (at: number, to: number, pace: number): number => Math.min(Math.max(to, at - pace), at + pace);
function find(id: number): Unit | null {
    const u = s.units[id % UNITS]!;
    return u.alive && u.id === id ? u : null;
}

function spawn(type: number, owner: number): void {
    let i = type * SLOTS;
    while (i < (type + 1) * SLOTS && s.units[i]!.alive) i++;
    if (i === (type + 1) * SLOTS) return;
    const u = nobody();
    Object.assign(u, { id: ++s.serial * UNITS + i, alive: true, owner, health: type === TANK ? 120 : 40 });
    u.x = u.goalX = (owner ? 12 : 2) * CELL * ONE + draw(s.rng, 2 * CELL * ONE);
    u.y = u.goalY = draw(s.rng, EDGE);
    s.units[i] = u;
    s.grid[cell(u)]!++;
}

function obey(): void {
    for (const o of orders) {
        const v = new DataView(o.payload.buffer), u = find(Number(v.getBigUint64(0, true))), target = Number(v.getBigUint64(8, true));
        if (!u || u.owner !== o.player || o.kind === "attack" && !find(target)) continue;
        u.targeted = o.kind === "attack";
        u.target = u.targeted ? target : 0;
        u.goalX = o.kind === "move" ? v.getUint32(16, true) * ONE % EDGE : u.x;
        u.goalY = o.kind === "move" ? v.getUint32(20, true) * ONE % EDGE : u.y;
    }
}

function move(): void {
    s.units.forEach((u, i) => {
        if (!u.alive) return;
        const pace = (i < SLOTS ? ONE / 4 : ONE / 2) / (s.grid[cell(u)]! > 2 ? 2 : 1);
        s.grid[cell(u)]!--;
        u.x = toward(u.x, u.goalX, pace);
        u.y = toward(u.y, u.goalY, pace);
        s.grid[cell(u)]!++;
    });
}

function aim(): void {
    for (const u of s.units) {
        const at = u.alive && u.targeted ? find(u.target) : null;
        if (at && distance(u, at) > 12 * ONE) [u.goalX, u.goalY] = [at.x, at.y];
        if (at || !u.alive) continue;
        const other = s.units.find((of) => of.alive && of.owner !== u.owner && distance(u, of) < 16 * ONE);
        u.targeted = other !== undefined;
        u.target = other ? other.id : 0;
    }
}

function fight(tick: number): void {
    s.units.forEach((u, i) => {
        const at = u.alive && u.targeted ? find(u.target) : null;
        if (u.alive && u.cooldown) u.cooldown--;
        if (!at || u.cooldown || distance(u, at) > 16 * ONE) return;
        u.cooldown = i < SLOTS ? 10 : 30;
        at.health -= u.cooldown / 2 + draw(s.rng, u.cooldown);
        if (at.health > 0) return;
        at.alive = false;
        s.kills[u.owner]!++;
        if (tick < fault) s.grid[cell(at)]!--;
    });
}

function make(v: bigint): Sample {
    const w = Array.from({ length: 16 }, (_, i) => { const x = v * BigInt(2 * i + 3) & MASK; return x ^ x >> 29n; });
    const signed = (bits: number, x: bigint): bigint => BigInt.asIntN(bits, x), small = (bits: number, i: number): number => Number(BigInt.asUintN(bits, w[i]!));
    const text = (i: number, most: bigint, first: number): string =>
        Array.from({ length: Number((w[i]! >> 8n) % most) }, (_, k) => String.fromCharCode(first + (k + Number(w[i]! % 1000n)) % 26)).join("");
    const bytes = Uint8Array.from({ length: Number((w[13]! >> 8n) % 50n) }, (_, k) => Number(w[13]! + BigInt(7 * k) & 255n));
    return {
        alive: (v >> 50n) % 8n !== 0n, has: (v >> 40n) % 4n !== 0n, values: [(w[0]! & 1n) !== 0n, Number(signed(8, w[1]!)), Number(signed(16, w[2]!)), Number(signed(32, w[3]!)), signed(64, w[4]!),
            small(8, 5), small(16, 6), small(32, 7), w[8]!, Number(signed(16, w[9]!)) / 8, Number(signed(32, w[10]!)) / 16, Number(signed(32, w[11]!)), Number(w[14]! % 1000n), text(12, 50n, 97), bytes, text(15, 90n, 65)],
    };
}

const numberOf = (tick: number): bigint => (seed + BigInt(tick)) * FACTOR + STEP & MASK;

// What the recorder is given

const described = new World();
for (const label of LABELS) {
    const t = described.archetype(label);
    t.column("Health", "points", Type.I32);
    t.column("Owner", "player", Type.U8);
    for (const component of ["Position", "Goal"]) for (const field of ["x", "y"]) t.column(component, field, Type.FIXED, ONE);
    t.column("Weapon", "cooldown", Type.U16);
    t.column("Weapon", "target", Type.REF);
}
described.archetype("Player").column("Score", "kills", Type.U32);
described.cache("Grid").column("Cell", "units", Type.U16);
const sampleTable = described.archetype("Sample", 2);
for (const [name, type, scale] of ALL) sampleTable.column("All", name, type, scale);
sampleTable.column("Text", "text", Type.STRING);
sampleTable.column("Text", "bytes", Type.BYTES);
sampleTable.column("Text", "name", Type.STRING);

function describe(): World {
    const rng = new Uint8Array(16), v = new DataView(rng.buffer);
    v.setBigUint64(0, s.rng.state, true);
    v.setBigUint64(8, BigInt(s.serial), true);
    described.rng = rng;
    LABELS.forEach((label, type) => {
        const list = s.units.slice(type * SLOTS, (type + 1) * SLOTS).filter((u) => u.alive);
        described.archetype(label).fill(list.map((u) => u.id), list.map((u) => u.health), list.map((u) => u.owner), list.map((u) => u.x), list.map((u) => u.y),
            list.map((u) => u.goalX), list.map((u) => u.goalY), list.map((u) => u.cooldown), list.map((u) => u.targeted ? u.target : null));
    });
    described.archetype("Player").fill([0, 1], s.kills);
    described.cache("Grid").fill(s.grid.map((_, i) => i), s.grid);
    const rows = s.samples.map((_, i) => i).filter((i) => s.samples[i]!.alive);
    const columns = Array.from({ length: 16 }, (_, c) => rows.map((i) => c < 13 && c % 2 === 0 && !s.samples[i]!.has ? null : s.samples[i]!.values[c]!));
    sampleTable.fill(rows.map((i) => [Math.floor(i / 2) + 1, i % 2] as const), ...columns);
    return described;
}

function load(from: World): void {
    const v = new DataView(from.rng!.buffer, from.rng!.byteOffset);
    s = { rng: { state: v.getBigUint64(0, true) }, serial: Number(v.getBigUint64(8, true)), kills: [], units: Array.from({ length: UNITS }, nobody), grid: new Array(SIDE * SIDE).fill(0),
        samples: Array.from({ length: ROWS }, () => ({ alive: false, has: false, values: [] })) };
    for (const label of LABELS) {
        const t = from.archetype(label), [goalX, goalY, health, owner, x, y, cooldown, target] = t.columns.map((c) => c.values as (number | null)[]) as (number | null)[][];
        t.keys.forEach((id, i) => {
            const u: Unit = { id: Number(id), alive: true, health: health![i]!, owner: owner![i]!, x: x![i]!, y: y![i]!, goalX: goalX![i]!, goalY: goalY![i]!, cooldown: cooldown![i]!,
                target: target![i] ?? 0, targeted: target![i] !== null };
            s.units[u.id % UNITS] = u;
            s.grid[cell(u)]!++;
        });
    }
    s.kills = from.archetype("Player").columns[0]!.values as number[];
    const t = from.archetype("Sample", 2), of = (component: string, field: string): Value[] => t.columns.find((c) => c.component === component && c.field === field)!.values;
    const values = [...ALL.map(([name]) => of("All", name)), of("Text", "text"), of("Text", "bytes"), of("Text", "name")];
    t.keys.forEach((key, i) => {
        const [a, b] = key as readonly [number, number];
        s.samples[(Number(a) - 1) * 2 + Number(b)] = { alive: true, has: values[0]![i] !== null, values: values.map((list) => list[i]) };
    });
}

// The peer

function ordersOf(tick: number): Order[] {
    const script = { state: seed * 31n + BigInt(tick) * 7919n & MASK };
    return [0, 1].map((player) => {
        const id = ids[draw(script, 32)]!, at = ids[draw(script, 32)]!, dice = draw(script, 8), x = draw(script, SIDE * CELL), y = draw(script, SIDE * CELL);
        const payload = new Uint8Array(24), v = new DataView(payload.buffer);
        v.setBigUint64(0, BigInt(id), true);
        v.setBigUint64(8, BigInt(at), true);
        v.setUint32(16, x, true);
        v.setUint32(20, y, true);
        return { subTick: player * 1000, player, sequence: tick, kind: dice < 4 ? "move" : dice < 7 ? "attack" : "stop", payload };
    });
}

function mistake(tick: number, number: number): void {
    const from = Number(seed % BigInt(UNITS));
    if (!planting || BigInt(tick) !== plantedTick || BigInt(number) !== plantedSystem || plantedKind < 2n) return;
    const u = Array.from({ length: UNITS }, (_, i) => s.units[(from + i) % UNITS]!).find((of) => of.alive);
    switch (u ? Number(plantedKind) : 0) {
        case 2: u!.health++; break;
        case 3: u!.alive = false; s.grid[cell(u!)]!--; break;
        case 4: draw(s.rng, 2); break;
        case 5: for (const of of s.units) of.cooldown++; break;
        case 6: u!.targeted = !u!.targeted; u!.target = u!.targeted ? 1 : 0; break;
        case 7: spawn(INFANTRY, 0); break;
        case 8: s.kills[1]!++; break;
        case 9: s.samples[Number(seed % BigInt(ROWS))] = make(numberOf(tick) + 1n & MASK); break;
    }
    for (const label of ["", "Infantry", "Tank", "Player", "Sample"]) recorder?.touch(label);
}

function before(tick: number, given: Order[]): void {
    orders = given;
    recorder?.tick(tick, orders);
    system = 0;
}

function playSystem(tick: number): boolean {
    const number = system++;
    if (number === 0) obey();
    else if (number === 1) move();
    else if (number === 2) aim();
    else if (number === 3) fight(tick);
    else {
        for (let owner = 0; owner < 2 && tick % 20 === 0; owner++) spawn(draw(s.rng, 4) ? INFANTRY : TANK, owner);
        s.samples[tick % ROWS] = make(numberOf(tick));
    }
    mistake(tick, number);
    if (!recorder) return system < 5;
    for (const label of [...LABELS, ...number === 3 ? ["Player", ""] : number === 4 ? ["Sample", ""] : []]) recorder.touch(label);
    recorder.system(SYSTEMS[number]!, describe());
    return system < 5;
}

function play(tick: number, given: Order[]): void {
    before(tick, given);
    while (playSystem(tick));
    recorder?.state(tick + 1, describe());
}

const hex = (b: Uint8Array): string => Array.from(b, (v) => v.toString(16).padStart(2, "0")).join("");
const snap = (): string => hex(encodeSnapshot(describe(), { seed, tick: point }));

async function answer(line: string): Promise<string | null> {
    const [command, given, more] = line.split(" ");
    switch (command) {
        case "receive":
            recorder!.receive(Number(given), Uint8Array.from((more ?? "").match(/../g) ?? [], (two) => parseInt(two, 16)));
            return null;
        case "play":
            play(point, ordersOf(point));
            point++;
            if (rollback) recorder!.confirm(point);
            return "";
        case "step": {
            if (system === 0 || system === 5) before(point, ordersOf(point));
            const name = SYSTEMS[system]!;
            if (!playSystem(point)) point++;
            return name;
        }
        case "guess": {
            const kept = structuredClone(s);
            planting = false;
            for (let i = 0; i < Number(given); i++) play(point + i, []);
            planting = true;
            recorder!.rollback(point);
            s = kept;
            return "";
        }
        case "send": {
            let out = String(recorder!.status);
            for (let p; (p = recorder!.send(Number(given)));) out += ` ${p.to}:${hex(p.packet)}`;
            return out;
        }
        case "report": return hex(recorder!.report() ?? new Uint8Array(0));
        case "text": return hex(new TextEncoder().encode(recorder!.text()));
        case "snap": return snap();
        case "load": {
            let state: Uint8Array;
            try {
                state = recorder!.snapshot(Number(given));
            } catch (e) {
                return (e as Error).message;
            }
            const { at, world } = decodeSnapshot(state);
            load(world);
            point = Number(at.tick);
            recorder!.resume();
            recorder!.state(point, describe());
            return "- " + snap();
        }
        case "files":
            try {
                await recorder!.files((peer) => openFolder(`${given}/${peer}`));
                return "";
            } catch (e) {
                return (e as Error).message;
            }
    }
    throw new Error("an unknown command");
}

async function main(): Promise<void> {
    for (let i = 0; i < 32; i++) spawn(i % 8 < 6 ? INFANTRY : TANK, i % 2);
    for (const u of s.units) if (u.alive) ids.push(u.id);
    s.samples = Array.from({ length: ROWS }, (_, i) => make(numberOf(i + 1000)));
    if (count) {
        const session: Session = { seed, build: "1.0", peer: `peer${self}`, kinds: KINDS.map((name) => ({ name })), peers: Array.from({ length: Number(count) }, (_, i) => `peer${i}`) };
        const options: FlightOptions = { marked: marked > 0n, rollback: rollback > 0n, rows: { Infantry: SLOTS, Tank: SLOTS } };
        if (process.env["PEER_BUDGET"]) options.budget = Number(process.env["PEER_BUDGET"]);
        if (!process.env["PEER_UNSIZED"]) options.sizes = { "Sample Text.name": 100 };
        recorder = new FlightRecorder(session, describe(), options);
        recorder.state(0, describe());
    }
    let rest = "";
    const decoder = new TextDecoder();
    for await (const chunk of process.stdin) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
        rest = lines.pop()!;
        for (const line of lines) {
            const out = await answer(line);
            if (out !== null) process.stdout.write(out + "\n");
        }
    }
}

function cost(): void {
    const tables = 10, rows = 500, columns = 55, w = new World(), keys = Array.from({ length: rows }, (_, i) => i), random = { state: 1n };
    const values = Array.from({ length: tables }, () => Array.from({ length: columns }, () => new Int32Array(rows)));
    for (let t = 0; t < tables; t++) for (let c = 0; c < columns; c++) w.archetype(`n${t}`).column("C", `n${String(c).padStart(2, "0")}`, Type.I32);
    const fill = (): void => values.forEach((list, t) => w.archetype(`n${t}`).fill(keys, ...list));
    fill();
    for (const changes of [0, 1000]) {
        const f = new FlightRecorder({ seed: 0, peer: "a", peers: ["a", "b"] }, w, { rows: Object.fromEntries(values.map((_, t) => [`n${t}`, rows])) }), ticks = 300;
        const spent: number[] = [];
        f.state(0, w);
        for (let tick = 0; tick < ticks; tick++) {
            for (let i = 0; i < changes; i++) values[draw(random, tables)]![draw(random, columns)]![draw(random, rows)]!++;
            if (changes) fill();
            const from = performance.now();
            f.tick(tick, []);
            f.state(tick + 1, w);
            spent.push(performance.now() - from);
        }
        const each = spent.sort((a, b) => a - b)[ticks / 2]! / 1000, k = f.holds();
        console.log(`${changes} changes: ${(each * 1e6).toFixed(0)} us a tick, ${(tables * columns * rows * 4 / each / 1e9).toFixed(2)} GB/s of state; ${k.to - k.from} ticks in ${k.of >> 10} KiB`);
    }
}

if (process.argv[2] === "cost") cost(); else await main();
