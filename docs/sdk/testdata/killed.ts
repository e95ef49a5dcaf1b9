// Plays one peer into the folder that is its argument, and prints what it has acknowledged: tests kill it.

import { Detail, Recorder, Type, World, openFolder } from "../typescript/desynctool.ts";
import type { Order, Session } from "../typescript/desynctool.ts";

declare const process: { argv: string[] };

const { writeSync } = await import("node:fs" as string);
const say = (what: string, tick: number): void => { writeSync(1, `${what} ${tick}\n`); };

const hp = new Int32Array(500), keys = Array.from(hp, (_, i) => i), w = new World(), units = w.archetype("Unit");
units.column("Health", "hp", Type.I32);
let rng = 0;

function state(): World {
    w.rng = Uint8Array.from({ length: 8 }, (_, i) => i < 4 ? rng >> 8 * i : 0);
    units.fill(keys, hp);
    return w;
}

const session: Session = { seed: 11, peer: "client", build: "1.0", kinds: [{ name: "move" }], peers: ["host", "client"] };
const orders: Order[] = [
    { player: 1, kind: "move", payload: Uint8Array.of(1, 2, 3) }, { player: 1, kind: "move", payload: Uint8Array.of(1), sequence: 1, subTick: 2 }];
const r = new Recorder(await openFolder(`${process.argv[2]}/client`), session, state(), Detail.ARCHETYPE);
for (let tick = 0; tick < 200; tick++) {
    r.state(tick, state());
    if (tick % 10 === 0) r.snapshot(w), say("snapshot", tick);
    if (tick % 25 === 0) r.report(w, 1, ["Unit"]), say("report", tick);
    if (tick % 40 === 0) r.sync();
    r.tick(tick, orders.slice(0, tick % 3));
    rng += 77;
    hp[tick * 7 % 500] = hp[tick * 7 % 500]! + 1;
    r.system("Move", state());
    say("tick", tick);
}
r.close();
