// Writes with desynctool.ts what vectors.c writes with desynctool.h, and the example of docs/trace.md whole, into the folder that is its
// argument, and checks what can be checked in TypeScript.
//
// With --read it reads one .snap after another from stdin, each after its length in 4 bytes, and prints for each "ok"
// or why it is refused. With --hash it prints instead of "ok" the hash of the state that was read, and whether it is
// written as the same bytes.

import {
    Damaged, EventKind, MarkerKind, MemoryFiles, OrderLog, Recorder, Refused, Trace, Type, World, crc32c, decodeSnapshot, encodeSnapshot, openFolder,
    sha256, snapshotName,
} from "../typescript/desynctool.ts";
import type { Files, Order, Session, Value } from "../typescript/desynctool.ts";

declare const process: { argv: string[]; stdin: AsyncIterable<Uint8Array>; exitCode: number };

const MASK = (1n << 64n) - 1n;
const bytes = (digits: string): Uint8Array => Uint8Array.from(digits.match(/../g) ?? [], (two) => parseInt(two, 16));
const hex = (b: Uint8Array): string => Array.from(b, (v) => v.toString(16).padStart(2, "0")).join("");
const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const ascii = (text: string): Uint8Array => new TextEncoder().encode(text);

function expect(holds: boolean, what: string): void {
    if (!holds) throw new Error(`does not hold: ${what}`);
}

function refuses(act: () => unknown, what: string, error: new (...args: never[]) => Error = RangeError): void {
    try {
        act();
    } catch (e) {
        expect(e instanceof error, `the error for ${what}: ${e}`);
        return;
    }
    throw new Error(`is taken: ${what}`);
}

async function sums(): Promise<void> {
    const { createHash } = await import("node:crypto" as string);
    expect(crc32c(ascii("123456789")) === 0xe3069283, "CRC-32C");
    expect(hex(sha256(new Uint8Array(1000000).fill(97))) === "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", "SHA-256 of a million times a");
    for (const n of range(200)) {
        const b = Uint8Array.from(range(n), (i) => i * 7 + n);
        expect(hex(sha256(b)) === createHash("sha256").update(b).digest("hex"), `SHA-256 of ${n} bytes`);
        let crc = -1;
        for (const v of b) {
            crc ^= v;
            for (let k = 0; k < 8; k++) crc = crc & 1 ? crc >>> 1 ^ 0x82f63b78 : crc >>> 1;
        }
        expect(crc32c(b) === ~crc >>> 0, `CRC-32C of ${n} bytes`);
    }
}

function snapshot(files: Files): void {
    const w = new World(), t = w.archetype("Infantry"), at = { seed: 7, tick: 1242n, peer: "host" };
    w.rng = bytes("0123456789abcdef");
    t.column("Position", "x", Type.FIXED, 65536);
    t.column("Health", "hp", Type.I32);
    t.fill([8, 3n], [-16384, 98304], [null, 75]); // in any order
    files.write(snapshotName(at), encodeSnapshot(w, at));
}

const TYPES: [string, Type][] = [
    ["bool", Type.BOOL], ["i8", Type.I8], ["i16", Type.I16], ["i32", Type.I32], ["i64", Type.I64], ["u8", Type.U8], ["u16", Type.U16], ["u32", Type.U32],
    ["u64", Type.U64], ["f32", Type.F32], ["f64", Type.F64], ["fixed", Type.FIXED], ["string", Type.STRING], ["name", Type.STRING], ["bytes", Type.BYTES], ["ref", Type.REF]];

const normal = (v: Value): string => v == null ? "absent" : v instanceof Uint8Array ? hex(v) : Object.is(v, -0) ? "-0" : String(v);

function everything(files: Files): void {
    const n = 20000, texts: Value[] = ["", "grün", bytes("ff225c0a"), "a longer text than most"], u32s: number[] = [];
    const rows: { key: [number, number]; values: Value[] }[] = [];
    let v = 1n;
    for (const i of range(n)) {
        const has = range(16).map(() => {
            v = v * 6364136223846793005n + 1442695040888963407n & MASK;
            return v >> 61n !== 0n;
        });
        has[6] = true; // it has no column for whether it is there
        const i32 = Number(BigInt.asIntN(32, v >> 3n)), i64 = BigInt.asIntN(64, v), eight = new Uint8Array(8);
        new DataView(eight.buffer).setBigUint64(0, v, true);
        const values: Value[] = [
            i % 3 !== 0, Number(BigInt.asIntN(8, v >> 1n)), Number(BigInt.asIntN(16, v >> 2n)), i32, i64, Number(v >> 5n & 0xffn), Number(v >> 6n & 0xffffn),
            Number(v >> 7n & 0xffffffffn), v, Math.fround(Math.fround(i32) / 3), Number(i64) / 7, Number(v >> 40n) - 9999, texts[i % 4], `unit ${i}`,
            eight.slice(0, i % 8), v >> 50n];
        u32s.push(values[7] as number);
        if (i % 9) rows.push({ key: [Math.floor(Number(BigInt(i) * 2654435761n & 0xffffffffn) / 7), i], values: values.map((value, k) => has[k] ? value : null) });
    }
    const w = new World();
    w.noise("Noise").column("Cell", "units", Type.U32);
    w.noise("Noise").fill(range(3), u32s.slice(0, 3));
    w.archetype("Zero").column("Cell", "units", Type.U32);
    w.archetype("Zero").fill([], []);
    const pairs = w.archetype("Pairs", 2), columns = TYPES.map(([name, type]) => pairs.column("A", name, type, type === Type.FIXED ? 1000 : 0));
    pairs.fill(rows.map((row) => row.key), ...columns.map((_, k) => rows.map((row) => row.values[k])));
    w.cache("Grid").column("Cell", "units", Type.U32);
    w.cache("Grid").fill(range(n), Uint32Array.from(u32s));
    w.archetype("Keys").fill(range(3));
    const at = {
        seed: 99, tick: 5, phase: "after-orders", native: "frame 9", peer: "host", epoch: 2, history: Uint8Array.from({ length: 32 }, (_, i) => i < 3 ? i + 1 : 0),
        properties: { os: "linux", build: "1.0" },
    };
    const file = encodeSnapshot(w, at);
    files.write(snapshotName(at), file);

    const { at: again, world } = decodeSnapshot(file);
    expect(again.seed === 99 && again.tick === 5 && again.native === "frame 9" && again.epoch === 2 && again.properties["os"] === "linux", "a point is read as it was written");
    expect(hex(encodeSnapshot(world, again)) === hex(file), "a state is written as it was read");
    rows.sort((a, b) => a.key[0] - b.key[0] || a.key[1] - b.key[1]);
    const read = world.archetype("Pairs", 2);
    expect(read.keys.join() === rows.map((row) => row.key).join(), "keys are read");
    columns.forEach((c, k) => {
        const values = read.column(c.component, c.field, c.type, c.scale).values;
        expect(values.map(normal).join("\0") === rows.map((row) => normal(row.values[k])).join("\0"), `${c} is read`);
    });
    refuses(() => world.archetype("Pairs"), "keys of another number of parts", Refused);
    refuses(() => world.archetype("Grid"), "a table of another class", Refused);
    refuses(() => read.column("A", "fixed", Type.FIXED, 10), "another scale", Refused);
    refuses(() => read.column("A", "none", Type.U8), "a column that is not there", Refused);
    refuses(() => read.fill([]), "rows of a state that was read");
    refuses(() => encodeSnapshot(w, { ...at, phase: "before" }), "a phase that is none");
    refuses(() => encodeSnapshot(w, { ...at, peer: "x".repeat(1025) }), "a long name");
    refuses(() => encodeSnapshot(w, { ...at, tick: -1 }), "a tick below 0");
    refuses(() => encodeSnapshot(w, { ...at, properties: Object.fromEntries(range(4097).map((i) => [String(i), ""])) }), "4097 properties");
}

function misfits(): void {
    const one = (type: Type, values: Value[], scale = 0) => (): void => {
        const t = new World().archetype("T");
        t.column("C", "f", type, scale);
        t.fill(range(values.length), values);
    };
    const bad: [Type, Value][] = [
        [Type.I8, 128], [Type.I8, -129], [Type.U8, -1], [Type.U8, 256], [Type.U64, 1n << 64n], [Type.U64, -1n], [Type.REF, -1], [Type.I32, 1.5], [Type.I32, "1"],
        [Type.I64, 2 ** 53], [Type.I64, NaN], [Type.F32, "1"], [Type.F64, 1n], [Type.STRING, 7], [Type.BYTES, "text"], [Type.STRING, "\ud800"], [Type.BOOL, 2]];
    for (const [type, value] of bad) refuses(one(type, [value]), `${normal(value)} in a column of type ${type}`);
    refuses(one(Type.FIXED, [1n << 63n], 10), "a fixed value of more than 64 bits");
    const good: [Type, Value][] = [[Type.I8, -128], [Type.U8, 255], [Type.U64, MASK], [Type.REF, undefined], [Type.I64, -(1n << 63n)], [Type.BOOL, 1]];
    for (const [type, value] of good) one(type, [value])();
    const t = new World().archetype("T");
    t.column("C", "f", Type.U8);
    refuses(() => t.fill([1, 1], [0, 0]), "a key twice");
    refuses(() => t.fill([1, 2], [0]), "fewer values than rows");
    refuses(() => t.fill([1, 2]), "fewer lists than columns");
    refuses(() => t.fill([-1], [0]), "a key below 0");
    refuses(() => t.fill([2 ** 53], [0]), "a key that is not exact");
    refuses(() => t.fill([1n << 64n], [0]), "a key of 65 bits");
    refuses(() => t.fill([[1, 2]], [0]), "a key of two parts");
    refuses(() => t.column("C", "f", Type.I8), "a column of another type");
    refuses(() => t.column("C", "g", Type.FIXED), "fixed without a scale");
    refuses(() => t.column("", "g", Type.U8), "an empty name");
    refuses(() => new World().archetype("T", 3), "keys of three parts");
    t.fill([2], [0]);
    refuses(() => t.column("C", "h", Type.U8), "a column after rows");
}

/** A world that is filled again has the hash of a new one, whatever it held before. */
function filledAgain(): void {
    const fill = (w: World, version: number, rows: number): World => {
        const t = w.archetype("Many");
        t.column("A", "n", Type.U32);
        t.column("A", "s", Type.STRING);
        t.fill(range(rows).map((i) => 3 * i), range(rows).map((i) => i % 5 === 0 ? null : i === 777 ? version : i), range(rows).map((i) => i % 7 ? null : `row ${i}`));
        return w;
    };
    const kept = new World();
    for (const rows of [10, 5000, 5000, 20000, 5000, 0, 1, 777, 778])
        for (const version of [1, 2, 1]) {
            const root = hex(fill(kept, version, rows).stateHash());
            expect(root === hex(kept.stateHash()) && root === hex(fill(new World(), version, rows).stateHash()), `hashing ${rows} rows again`);
        }
}

const HEADER: Session = {
    seed: 7n, peer: "host", build: "1.0", rate: [30, 1], kinds: [{ name: "move" }, { name: "chat", local: true }], peers: ["host", "client"], params: { map: "green valley" },
};

function orderLog(files: Files): void {
    const log = new OrderLog((b) => files.append("order-log.bin", b), { ...HEADER, start: bytes("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855") });
    log.checksum(0, bytes("b5c8bea2d1f6a904"));
    log.tick(0, []);
    log.marker({ kind: MarkerKind.SAVE, point: 1, text: "autosave" });
    log.tick(1n, [
        { player: 1, kind: "chat", payload: ascii("gg"), sequence: 4, subTick: 16667 }, { player: 2, kind: "move", payload: bytes("9301cd0400"), sequence: 17, subTick: 16667 }]);
    log.hash(2, 0, "sync", "", bytes("0f1e2d3c4b5a6978"));
    log.hash(2, 1, "sync", "quick", bytes("beef"));
    log.close();
    refuses(() => log.tick(2, []), "a tick after the end");
}

/** A peer goes on to point 2, and back to the state of point 1. It knows the history hash of point 1. */
function epochs(files: Files): void {
    const root = Uint8Array.from({ length: 32 }, (_, i) => i ? 0 : 1), log = new OrderLog((b) => files.append("epochs.bin", b), { seed: 7, peer: "host" });
    log.state(0, root);
    log.tick(0, []);
    log.state(1, root);
    const loaded = { kind: MarkerKind.LOAD, point: 1, newEpoch: true, history: log.history, text: "quicksave" };
    log.tick(1, []);
    log.marker(loaded);
    refuses(() => log.marker(loaded), "a second epoch in one tick");
    refuses(() => log.marker({ kind: MarkerKind.SAVE, point: 1, newEpoch: true }), "a save that opens an epoch");
    refuses(() => log.marker({ kind: MarkerKind.LOAD, point: 1, history: root }), "a history hash without an epoch");
    log.state(1, root);
    log.tick(1, []);
    refuses(() => log.tick(1, []), "a tick that does not ascend");
    refuses(() => log.tick(2, [{ player: 0, kind: "none", payload: root }]), "a kind that the session does not have");
    refuses(() => log.hash(2, 0, "sync", "", new Uint8Array(0)), "a hash without bytes");
    log.state(2, root);
    log.close();
}

/** The example of docs/trace.md, with the checksum that is text or without. */
function trace(files: Files, name: string, text: boolean): void {
    const saved = { value: bytes("1f83d9ab") }, rng = { name: "rng", value: bytes("510e") }, t = new Trace((b) => files.append(name, b), HEADER);
    t.add({ tick: 0, system: "Movement", scope: "Infantry", sums: [{ value: bytes("6a09e667bb67ae85") }], count: 250 });
    t.add({ tick: 0, system: "Combat", sums: text ? [{ value: "3C6EF372" }, rng] : [rng] });
    t.add({ tick: 1, system: "Movement", scope: "Infantry", sums: [{ value: bytes("9b05688c2b3e6c1f") }], predicted: true, count: 250n });
    t.event({ kind: EventKind.INPUT, tick: 1, player: 2, predicted: true, sums: [{ value: bytes("beef") }] });
    t.event({ kind: EventKind.SAVE, tick: 1, sums: [saved] });
    t.event({ kind: EventKind.RESTORE, tick: 1, other: 3, sums: [saved] });
    t.event({ kind: EventKind.RESIMULATE, tick: 1, other: 2 });
    t.add({ tick: 1, system: "two words", sums: [{ value: new Uint8Array(1) }] });
    refuses(() => t.add({ tick: 1, system: "nothing" }), "a checkpoint without sum and count");
    t.close();
}

/** A peer that plays two ticks, is away, and goes on with the host's state of point 9; at point 80 it reports on its state. */
function recorder(files: Files): void {
    const w = new World(), rng = (v: number): void => { w.rng = Uint8Array.from({ length: 8 }, (_, i) => i ? 0 : v); };
    for (const [label, health] of [["Unit", [7, 8, 9]], ["Cell", [7]]] as [string, number[]][]) {
        w.archetype(label).column("Health", "hp", Type.I32);
        w.archetype(label).fill(range(health.length), Int32Array.from(health));
    }
    const s: Session = {
        seed: 11, peer: "client", build: "1.0", kinds: [{ name: "move" }, { name: "chat\n\"", local: true }], peers: ["host", "client"], params: { map: "green valley" },
        facts: { os: "linux", map: "another", locale: "de_DE.UTF-8" },
    };
    const orders: Order[] = [{ player: 1, kind: "move", payload: bytes("0aff00") }, { player: 1, kind: "chat\n\"", payload: new Uint8Array(0), sequence: 1, subTick: 2 }];
    rng(5);
    const r = new Recorder(files, s, w, null);
    refuses(() => r.system("Move", w), "a system without a tick", Refused);
    for (const tick of range(2)) {
        rng(5 + tick);
        r.state(tick, w);
        r.tick(tick, orders.slice(0, tick));
    }
    rng(7);
    r.state(2, w);
    refuses(() => r.system("Move", w), "a system without a tick", Refused);
    r.report(w, 1);
    for (let tick = 9; tick < 80; tick++) {
        rng(tick);
        if (tick === 9) r.marker({ kind: MarkerKind.RECONNECT, point: 9, peer: 1, newEpoch: true, history: Uint8Array.from({ length: 32 }, (_, i) => i ? 0 : 9), text: "from the host" });
        r.state(tick, w);
        if (tick === 9) r.snapshot(w);
        r.tick(tick, orders.slice(0, tick % 3));
        r.system("Move", w); // which writes nothing
    }
    rng(80);
    r.state(80, w);
    r.report(w, -1, ["Unit", "Cell"]);
    refuses(() => r.report(w, -1, ["Nobody"]), "an archetype that is not there");
    r.close();
}

async function reads(hash: boolean): Promise<void> {
    const pieces: Uint8Array[] = [];
    for await (const piece of process.stdin) pieces.push(piece);
    const all = new Uint8Array(pieces.reduce((n, piece) => n + piece.length, 0)), said: string[] = [];
    pieces.reduce((at, piece) => { all.set(piece, at); return at + piece.length; }, 0);
    for (let at = 0; at < all.length;) {
        const n = new DataView(all.buffer).getUint32(at, true), file = all.subarray(at + 4, at + 4 + n);
        at += 4 + n;
        try {
            const { at: point, world } = decodeSnapshot(file);
            for (const t of world.tables) for (const c of t.columns) expect(c.values.length === t.keys.length, "values of what was read");
            said.push(hash ? hex(world.stateHash()) + (hex(encodeSnapshot(world, point)) === hex(file) ? " same" : " other bytes") : "ok");
        } catch (e) {
            if (!(e instanceof Damaged)) throw e;
            said.push(e.message.replace(/\n/g, " "));
        }
    }
    console.log(said.join("\n"));
}

const mode = process.argv[2]!;
if (mode === "--read" || mode === "--hash") {
    await reads(mode === "--hash");
} else {
    const files = await openFolder(mode), client = await openFolder(`${mode}/client`), memory = new MemoryFiles();
    await sums();
    snapshot(files);
    everything(files);
    misfits();
    filledAgain();
    orderLog(files);
    epochs(files);
    trace(files, "host.trace", false);
    trace(files, "whole.trace", true);
    recorder(client);
    files.close();
    recorder(memory);
    expect(memory.names().length === 4 && memory.content("order-log.bin").length > 1000, "files in memory");
}
