// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

// skirmish.ts: a whole small game with desynctool.ts. Two players, infantry and tanks, five systems, in lockstep.
//
//     node skirmish.ts record DIR [--ticks N] [--seed N] [--fault TICK] [--sign N]   two peers play, and leave DIR/host and DIR/client
//     node skirmish.ts serve [--fault TICK]                                          replays for desynctool
//
// The rules are those of c/skirmish.c: the same session leaves the same bytes. The fault hides: from TICK on the client (or what is served)
// forgets to take the dead out of the grid, a cache. Nothing differs until a unit walks where the grid wrongly shows a
// crowd. With --sign each peer signs its states, with a key made of N; the keys of a real game are secret.
//
// Ids are numbers here: in C they are of 64 bits, and none that a session comes to is above 2^53. One that is loaded is refused.

import { Detail, Refused, Recorder, TickSignatures, Type, World, openFolder, serve } from "./desynctool.ts";
import type { Game, Order, Session, U64 } from "./desynctool.ts";

const INFANTRY = 0, TANK = 1, LABELS = ["Infantry", "Tank"];
const SLOTS = 40, UNITS = LABELS.length * SLOTS; // slots of each type
const SIDE = 16, CELL = 8, ONE = 65536; // cells along the map; paces along a cell; units of 1/65536 in a pace
const EDGE = SIDE * CELL * ONE, NEVER = Number.POSITIVE_INFINITY;
const KINDS = ["move", "attack", "stop"], PEERS = ["host", "client"], COMMAND = 24; // bytes of an order's payload
const UNIT = 60; // bytes of a unit in a save

interface Unit {
    id: number; // modulo UNITS it is the slot
    target: U64; // 0 is no target
    x: number; y: number; goalX: number; goalY: number;
    health: number;
    cooldown: number; // ticks until it fires again
    owner: number;
    alive: boolean;
    targeted: boolean; // it has a target
}

const nobody = (): Unit => ({ id: 0, target: 0, x: 0, y: 0, goalX: 0, goalY: 0, health: 0, cooldown: 0, owner: 0, alive: false, targeted: false });
const viewOf = (b: Uint8Array): DataView => new DataView(b.buffer, b.byteOffset, b.byteLength);
const cell = (u: Unit): number => Math.floor(u.y / ONE / CELL) * SIDE + Math.floor(u.x / ONE / CELL);
const distance = (a: Unit, b: Unit): number => Math.abs(a.x - b.x) + Math.abs(a.y - b.y);
const toward = (at: number, to: number, pace: number): number => Math.min(Math.max(to, at - pace), at + pace);

/** 64 bits that are drawn from, as they wrap around in C. */
class Random {
    state: bigint;
    constructor(state: bigint) { this.state = state; }

    /** Of 0 to n - 1. */
    draw(n: number): number {
        this.state = BigInt.asUintN(64, this.state * 6364136223846793005n + 1442695040888963407n);
        return Number((this.state >> 33n) * BigInt(n) >> 31n);
    }
}

class Skirmish implements Game {
    readonly name = "skirmish";
    readonly build = "1.0";
    readonly systems = ["Orders", "Movement", "Targeting", "Combat", "Reinforcement"];
    readonly fault: number; // first tick with it
    units: Unit[] = []; // infantry, then tanks
    private rng = new Random(0n);
    private serial = 0; // of the last unit; hashed with the RNG
    private kills = new Uint32Array(2);
    private grid: Uint16Array = new Uint16Array(SIDE * SIDE); // how many units are in each cell: derived, and kept up to date by the systems
    private readonly described = new World();

    constructor(fault: number) {
        this.fault = fault;
        for (const label of LABELS) {
            const t = this.described.archetype(label);
            t.column("Health", "points", Type.I32);
            t.column("Owner", "player", Type.U8);
            for (const component of ["Position", "Goal"]) {
                t.column(component, "x", Type.FIXED, ONE);
                t.column(component, "y", Type.FIXED, ONE);
            }
            t.column("Weapon", "cooldown", Type.U16);
            t.column("Weapon", "target", Type.REF);
        }
        this.described.archetype("Player").column("Score", "kills", Type.U32);
        this.described.cache("Grid").column("Cell", "units", Type.U16);
    }

    // The rules

    private find(id: U64): Unit | undefined {
        const u = typeof id === "number" ? this.units[id % UNITS] : undefined;
        return u && u.alive && u.id === id ? u : undefined;
    }

    private spawn(type: number, owner: number): void {
        let slot = type * SLOTS;
        while (slot < (type + 1) * SLOTS && this.units[slot]!.alive) slot++;
        if (slot === (type + 1) * SLOTS) return;
        const u = nobody();
        u.id = ++this.serial * UNITS + slot;
        u.alive = true;
        u.owner = owner;
        u.health = type === TANK ? 120 : 40;
        u.x = u.goalX = (owner ? 12 : 2) * CELL * ONE + this.rng.draw(2 * CELL * ONE);
        u.y = u.goalY = this.rng.draw(EDGE);
        this.units[slot] = u;
        this.grid[cell(u)]!++;
    }

    /** The unit that an order is for, undefined if it is not possible now. */
    private ordered(o: Order): Unit | undefined {
        if (this.validate(0, o)) return undefined;
        const command = viewOf(o.payload), u = this.find(Number(command.getBigUint64(0, true)));
        const possible = u && u.owner === o.player && (o.kind !== "attack" || this.find(Number(command.getBigUint64(8, true))));
        return possible ? u : undefined;
    }

    private obey(orders: readonly Order[]): void {
        for (const o of orders) {
            const u = this.ordered(o), command = viewOf(o.payload);
            if (!u) continue;
            u.targeted = o.kind === "attack";
            u.target = u.targeted ? Number(command.getBigUint64(8, true)) : 0;
            u.goalX = o.kind === "move" ? command.getUint32(16, true) * ONE % EDGE : u.x;
            u.goalY = o.kind === "move" ? command.getUint32(20, true) * ONE % EDGE : u.y;
        }
    }

    private move(): void {
        this.units.forEach((u, slot) => {
            if (!u.alive) return;
            const pace = (slot < SLOTS ? ONE / 4 : ONE / 2) / (this.grid[cell(u)]! > 2 ? 2 : 1); // slow in a crowd
            this.grid[cell(u)]!--;
            u.x = toward(u.x, u.goalX, pace);
            u.y = toward(u.y, u.goalY, pace);
            this.grid[cell(u)]!++;
        });
    }

    private aim(): void {
        for (const u of this.units) {
            let at = u.alive && u.targeted ? this.find(u.target) : undefined;
            if (at && distance(u, at) > 12 * ONE) [u.goalX, u.goalY] = [at.x, at.y]; // after it
            if (at || !u.alive) continue;
            at = this.units.find((other) => other.alive && other.owner !== u.owner && distance(u, other) < 16 * ONE);
            u.targeted = at !== undefined;
            u.target = at ? at.id : 0;
        }
    }

    private fight(tick: number): void {
        this.units.forEach((u, slot) => {
            const at = u.alive && u.targeted ? this.find(u.target) : undefined;
            if (u.alive && u.cooldown) u.cooldown--;
            if (!at || u.cooldown || distance(u, at) > 16 * ONE) return;
            u.cooldown = slot < SLOTS ? 10 : 30;
            at.health -= u.cooldown / 2 + this.rng.draw(u.cooldown);
            if (at.health > 0) return;
            at.alive = false;
            this.kills[u.owner]!++;
            if (tick < this.fault) this.grid[cell(at)]!--;
        });
    }

    private reinforce(tick: number): void {
        for (let owner = 0; owner < 2 && tick % 20 === 0; owner++) this.spawn(this.rng.draw(4) ? INFANTRY : TANK, owner);
    }

    // What desynctool asks

    start(session: { seed: U64; params?: Record<string, string> }): void {
        this.refuseUnknown(session);
        this.rng = new Random(BigInt(session.seed));
        this.serial = 0;
        this.kills.fill(0);
        this.grid.fill(0);
        this.units = Array.from({ length: UNITS }, nobody);
        for (let i = 0; i < 32; i++) this.spawn(i % 8 < 6 ? INFANTRY : TANK, i % 2);
    }

    private refuseUnknown(session: { params?: Record<string, string> } | null): void {
        if ((session?.params?.["map"] ?? "plain") !== "plain") throw new Refused("there is no such map");
    }

    runSystem(number: number, tick: number, orders: readonly Order[]): void {
        if (number === 0) this.obey(orders);
        else if (number === 1) this.move();
        else if (number === 2) this.aim();
        else if (number === 3) this.fight(tick);
        else this.reinforce(tick);
    }

    step(tick: number, orders: readonly Order[]): void {
        for (let i = 0; i < this.systems.length; i++) this.runSystem(i, tick, orders);
    }

    world(): World {
        const w = this.described, rng = new Uint8Array(16);
        viewOf(rng).setBigUint64(0, this.rng.state, true);
        viewOf(rng).setBigUint64(8, BigInt(this.serial), true);
        w.rng = rng;
        LABELS.forEach((label, type) => {
            const units = this.units.slice(type * SLOTS, (type + 1) * SLOTS).filter((u) => u.alive);
            w.archetype(label).fill(
                units.map((u) => u.id), units.map((u) => u.health), units.map((u) => u.owner), units.map((u) => u.x), units.map((u) => u.y),
                units.map((u) => u.goalX), units.map((u) => u.goalY), units.map((u) => u.cooldown), units.map((u) => u.targeted ? u.target : null));
        });
        w.archetype("Player").fill([0, 1], this.kills);
        w.cache("Grid").fill(Array.from(this.grid.keys()), this.grid);
        return w;
    }

    load(state: World, _: unknown, session: Session | null): void {
        this.refuseUnknown(session);
        const units = Array.from({ length: UNITS }, nobody);
        LABELS.forEach((label, type) => {
            const t = state.archetype(label);
            const [goalX, goalY, health, owner, x, y, cooldown, target] = this.described.archetype(label).columns.map((c) => t.column(c.component, c.field, c.type, c.scale).values as (U64 | null)[]);
            t.keys.forEach((id, i) => {
                const fields = [goalX, goalY, health, owner, x, y, cooldown].map((list) => list![i]);
                if (typeof id !== "number" || Math.floor(id % UNITS / SLOTS) !== type || units[id % UNITS]!.alive || fields.some((v) => typeof v !== "number"))
                    throw new Refused("the state has a unit that the game has no slot for, or one that lacks a value");
                const u: Unit = {
                    id, target: target![i] ?? 0, x: fields[4] as number, y: fields[5] as number, goalX: fields[0] as number, goalY: fields[1] as number,
                    health: fields[2] as number, cooldown: fields[6] as number, owner: fields[3] as number, alive: true, targeted: target![i] !== null,
                };
                if ([u.x, u.y, u.goalX, u.goalY].some((v) => v < 0 || v >= EDGE) || u.owner > 1 || u.health < 1) throw new Refused("the state has a unit that cannot be");
                units[id % UNITS] = u;
            });
        });
        const players = state.archetype("Player"), kills = players.column("Score", "kills", Type.U32).values;
        const serial = state.rng?.length === 16 ? viewOf(state.rng).getBigUint64(8, true) : null;
        if (players.keys.join() !== "0,1" || kills.includes(null) || serial === null || serial > 1n << 40n) throw new Refused("the state has other players, or another RNG");
        this.rng = new Random(viewOf(state.rng!).getBigUint64(0, true));
        this.serial = Number(serial);
        this.kills = Uint32Array.from(kills as number[]);
        this.units = units;
        this.grid = this.count(); // a cache that is loaded may be what is wrong
    }

    save(): Uint8Array {
        const grid = 24, units = grid + 2 * this.grid.length, out = new Uint8Array(units + UNITS * UNIT), v = viewOf(out);
        v.setBigUint64(0, this.rng.state, true);
        v.setFloat64(8, this.serial);
        this.kills.forEach((kills, i) => v.setUint32(16 + 4 * i, kills));
        this.grid.forEach((n, i) => v.setUint16(grid + 2 * i, n));
        this.units.forEach((u, i) => {
            const at = units + i * UNIT;
            v.setFloat64(at, u.id);
            v.setBigUint64(at + 8, BigInt(u.target));
            [u.x, u.y, u.goalX, u.goalY, u.health].forEach((n, k) => v.setFloat64(at + 16 + 8 * k, n));
            v.setUint16(at + 56, u.cooldown);
            v.setUint8(at + 58, u.owner);
            v.setUint8(at + 59, (u.alive ? 1 : 0) | (u.targeted ? 2 : 0));
        });
        return out;
    }

    restore(save: Uint8Array): void {
        const grid = 24, units = grid + 2 * this.grid.length, v = viewOf(save);
        if (save.length !== units + UNITS * UNIT) throw new Refused("a save of another build");
        this.rng = new Random(v.getBigUint64(0, true));
        this.serial = v.getFloat64(8);
        this.kills.forEach((_, i) => { this.kills[i] = v.getUint32(16 + 4 * i); });
        this.grid.forEach((_, i) => { this.grid[i] = v.getUint16(grid + 2 * i); });
        this.units = Array.from({ length: UNITS }, (_, i) => {
            const at = units + i * UNIT, [x, y, goalX, goalY, health] = [0, 1, 2, 3, 4].map((k) => v.getFloat64(at + 16 + 8 * k)) as [number, number, number, number, number];
            const target = v.getBigUint64(at + 8), flags = v.getUint8(at + 59);
            return {
                id: v.getFloat64(at), target: target <= Number.MAX_SAFE_INTEGER ? Number(target) : target, x, y, goalX, goalY, health,
                cooldown: v.getUint16(at + 56), owner: v.getUint8(at + 58), alive: (flags & 1) !== 0, targeted: (flags & 2) !== 0,
            };
        });
    }

    private count(): Uint16Array {
        const grid = new Uint16Array(SIDE * SIDE);
        for (const u of this.units) if (u.alive) grid[cell(u)]!++;
        return grid;
    }

    caches(): string[] { return this.count().join() === this.grid.join() ? [] : ["Grid"]; }

    validate(_: U64, order: Order): string {
        if (!KINDS.includes(order.kind)) return "there is no such kind of order";
        if (order.player > 1) return "there is no such player";
        return order.payload.length === COMMAND ? "" : "its payload has another size";
    }

    test(_: number, order: Order): boolean { return this.ordered(order) !== undefined; }

    predict(tick: number, _: number, orders: readonly Order[]): void {
        const before = this.save();
        this.step(tick, orders);
        this.restore(before);
    }
}

/** A scripted player looks at a unit. If that is its own it goes somewhere, attacks or stops, as its own machine has it. */
function script(game: Skirmish, rng: Random, player: number, tick: number): Order[] {
    const u = game.units[rng.draw(UNITS)]!, at = game.units[rng.draw(UNITS)]!, dice = rng.draw(8), x = rng.draw(SIDE * CELL), y = rng.draw(SIDE * CELL);
    const kind = dice < 4 ? "move" : dice < 7 ? "attack" : "stop", payload = new Uint8Array(COMMAND), v = viewOf(payload);
    if (!u.alive || u.owner !== player || kind === "attack" && (!at.alive || at.owner === player)) return [];
    v.setBigUint64(0, BigInt(u.id), true);
    v.setBigUint64(8, BigInt(at.id), true);
    v.setUint32(16, x, true);
    v.setUint32(20, y, true);
    return [{ player, kind, payload, sequence: tick }];
}

function secretOf(key: bigint, peer: number): Uint8Array {
    const secret = new Uint8Array(32);
    viewOf(secret).setBigUint64(0, key, true);
    secret[8] = peer;
    return secret;
}

async function record(folder: string, ticks: number, seed: bigint, fault: number, key: bigint): Promise<void> {
    const peers = await Promise.all(PEERS.map(async (peer, i) => {
        const game = new Skirmish(i ? fault : NEVER);
        const session: Session = { seed, peer, build: "1.0", rate: [20, 1], kinds: KINDS.map((name) => ({ name })), peers: PEERS, params: { map: "plain" } };
        game.start(session);
        const rng = new Random(BigInt.asUintN(64, seed + BigInt(i)));
        const files = await openFolder(`${folder}/${peer}`), sink = (bytes: Uint8Array): void => files.append("tick-signatures.bin", bytes);
        const chain = key ? new TickSignatures(sink, seed, peer, { secret: secretOf(key, i) }, game.world().stateHash()) : null;
        return { game, rng, chain, recorder: new Recorder(files, session, game.world(), Detail.COLUMN) };
    }));
    const [host, client] = peers as [typeof peers[0], typeof peers[0]];
    let parted = -1; // tick in which the peers' states come to differ
    for (let tick = 0; tick <= ticks; tick++) {
        for (const p of peers) {
            p.recorder.state(tick, p.game.world());
            p.chain?.append(tick, p.recorder.root);
            if (tick % 100 === 0 || tick === ticks || parted >= 0 && parted === tick - 1) p.recorder.snapshot(p.game.world());
        }
        if (tick === ticks) break;
        const orders = peers.flatMap((p, player) => script(p.game, p.rng, player, tick));
        for (const p of peers) p.recorder.tick(tick, orders);
        host.game.systems.forEach((system, number) => {
            for (const p of peers) {
                p.game.runSystem(number, tick, orders);
                p.recorder.system(system, p.game.world());
            }
            if (parted >= 0 || host.recorder.root.join() === client.recorder.root.join()) return;
            console.log(`the peers diverge in tick ${tick}, in ${system}`);
            parted = tick;
        });
    }
    for (const p of peers) {
        p.chain?.close();
        p.recorder.close(); // and its folder
    }
}

declare const process: { argv: string[]; exitCode: number };

async function main(args: string[]): Promise<number> {
    const numbers: Record<string, string> = { "--ticks": "600", "--seed": "1" }, serves = args[0] === "serve", options = args.slice(serves ? 1 : 2);
    let usable = (serves || args[0] === "record" && args.length > 1) && options.length % 2 === 0;
    for (let i = 0; i + 1 < options.length; i += 2) {
        usable &&= ["--ticks", "--seed", "--fault", "--sign"].includes(options[i]!) && /^\d{1,19}$/.test(options[i + 1]!);
        numbers[options[i]!] = options[i + 1]!;
    }
    if (!usable) {
        console.error("usage: skirmish record DIR [--ticks N] [--seed N] [--fault TICK] [--sign N] | skirmish serve [--fault TICK]");
        return 2;
    }
    const fault = Number(numbers["--fault"] ?? NEVER);
    if (serves) return serve(new Skirmish(fault));
    await record(args[1]!, Number(numbers["--ticks"]), BigInt(numbers["--seed"]!), fault, BigInt(numbers["--sign"] ?? 0));
    return 0;
}

process.exitCode = await main(process.argv.slice(2));
