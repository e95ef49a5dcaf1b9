# SPDX-License-Identifier: MIT-0
# Copyright 2026 The desynctool authors
"""A peer of the game of python/skirmish.py with a flight recorder, which does what peer.c does, without step.

    peer.py cost TICKS    what a tick costs
    peer.py ring SEED     states that are rebuilt, against the states that there were
    peer.py example       the example of docs/exchange.md
"""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

import skirmish  # noqa: E402
from desynctool import Order, OrderKind, Point, Session, Type, World, decode_snapshot, encode_snapshot  # noqa: E402
from desynctool_flight import Flight  # noqa: E402

ROWS, U64 = 8, (1 << 64) - 1
COLUMNS = [("bool", Type.BOOL), ("i8", Type.I8), ("i16", Type.I16), ("i32", Type.I32), ("i64", Type.I64), ("u8", Type.U8), ("u16", Type.U16),
           ("u32", Type.U32), ("u64", Type.U64), ("f32", Type.F32), ("f64", Type.F64), ("fixed", Type.FIXED), ("ref", Type.REF)]
TEXTS = [("text", Type.STRING), ("bytes", Type.BYTES), ("name", Type.STRING)]


def signed(v, bits):
    v &= (1 << bits) - 1
    return v - (1 << bits) if v >> bits - 1 else v


class Sample:
    """A row with a value of each type, by a number."""

    def __init__(self, i, v):
        w = [v * (2 * k + 3) & U64 for k in range(16)]
        w = [x ^ x >> 29 for x in w]
        letters = lambda x, n, first: bytes(first + (k + x % 1000) % 26 for k in range((x >> 8) % n)).decode()  # noqa: E731
        self.key, self.alive = (i // 2 + 1, i % 2), (v >> 50) % 8 != 0
        values = [bool(w[0] & 1), signed(w[1], 8), signed(w[2], 16), signed(w[3], 32), signed(w[4], 64), w[5] & 0xFF, w[6] & 0xFFFF,
                  w[7] & 0xFFFFFFFF, w[8], signed(w[9], 16) / 8, signed(w[10], 32) / 16, signed(w[11], 32), w[14] % 1000]
        if (v >> 40) % 4 == 0:
            values[::2] = [None] * 7
        self.values = values + [letters(w[12], 50, 97), bytes((w[13] + 7 * k) & 0xFF for k in range((w[13] >> 8) % 50)), letters(w[15], 90, 65)]


class Peer:
    def __init__(self, count, me, seed, tick, system, kind, marked, rollback):
        self.seed, self.planted, self.rolls, self.point = seed, [tick, system, kind], rollback, 0
        self.game = skirmish.Skirmish(tick if kind == 1 else skirmish.NEVER)
        self.game.start(Session(seed))
        self.ids = [u.id for u in self.game.units if u.alive]
        self.samples = [Sample(i, self.number(i + 1000)) for i in range(ROWS)]
        t = self.game.described.archetype("Sample", 2)
        for name, of in COLUMNS:
            t.column("All", name, of, 1000 if of == Type.FIXED else 0)
        for name, of in TEXTS:
            t.column("Text", name, of)
        kinds = [OrderKind(name) for name in skirmish.KINDS]
        self.f = Flight(self.world(), ["peer%d" % i for i in range(count)], me, seed=seed, build="1.0", kinds=kinds, marked=bool(marked),
                        rollback=bool(rollback), budget=int(os.environ.get("PEER_BUDGET", 8 << 20)))
        self.f.state(0)

    def number(self, tick):
        return (self.seed + tick) * 6364136223846793005 + 1442695040888963407 & U64

    def world(self):
        w = self.game.world()
        alive = [s for s in self.samples if s.alive]
        w.archetype("Sample", 2).fill([s.key for s in alive], *([s.values[i] for s in alive] for i in range(16)))
        return w

    def ordered_in(self, tick):
        """The orders of a tick are the same on all peers: they depend on the seed and the tick."""
        rng, orders = skirmish.Random((self.seed * 31 + tick * 7919) & U64), []
        for n in range(2):
            id, at, dice = self.ids[rng.draw(32)], self.ids[rng.draw(32)], rng.draw(8)
            x, y = rng.draw(skirmish.SIDE * skirmish.CELL), rng.draw(skirmish.SIDE * skirmish.CELL)
            kind = "move" if dice < 4 else "attack" if dice < 7 else "stop"
            orders.append(Order(n, kind, skirmish.COMMAND.pack(id, at, x, y), tick, n * 1000))
        return orders

    def mistake(self, tick, system):
        g, kind = self.game, self.planted[2]
        if [tick, system] != self.planted[:2] or kind < 2:
            return  # 1: skirmish's own, from the tick on
        living = [i % skirmish.UNITS for i in range(self.seed % skirmish.UNITS, self.seed % skirmish.UNITS + skirmish.UNITS)
                  if g.units[i % skirmish.UNITS].alive]
        u = g.units[living[0]] if living else None
        if u is None:
            return
        if kind == 2:
            u.health += 1
        elif kind == 3:
            u.alive = False
            g.count_in(u, -1)
        elif kind == 4:
            g.rng.draw(2)
        elif kind == 5:
            for unit in g.units:
                unit.cooldown += 1
        elif kind == 6:
            u.targeted = not u.targeted
            u.target = int(u.targeted)
        elif kind == 7:
            g.spawn(skirmish.INFANTRY, 0)
        elif kind == 8:
            g.kills[1] += 1
        else:
            self.samples[self.seed % ROWS] = Sample(self.seed % ROWS, self.number(tick) + 1)
        for label in ("", "Infantry", "Tank", "Player", "Sample"):
            self.f.touch(label)

    def play(self, tick, orders):
        self.f.tick(tick, orders)
        for number, name in enumerate(self.game.systems):
            self.game.run_system(number, tick, orders)
            if number == 4:
                self.samples[tick % ROWS] = Sample(tick % ROWS, self.number(tick))
            self.mistake(tick, number)
            for label in ("Infantry", "Tank") + (("Player", "") if number == 3 else ("Sample", "") if number == 4 else ()):
                self.f.touch(label)
            self.world()
            self.f.system(name)
        self.f.state(tick + 1)

    def plays(self):
        self.play(self.point, self.ordered_in(self.point))
        self.point += 1
        if self.rolls:
            self.f.confirm(self.point)

    def guess(self, n):
        saved, samples, kind = self.game.save(), list(self.samples), self.planted[2]
        self.planted[2] = 0
        for i in range(n):
            self.play(self.point + i, [])
        self.planted[2] = kind
        self.f.rollback(self.point)
        self.game.restore(saved)
        self.samples = samples

    def loads(self, peer):
        try:
            data = self.f.snapshot(peer)
        except ValueError as e:
            return str(e)
        at, state = decode_snapshot(data)
        self.game.load(state, at, None)
        t = state.archetype("Sample", 2)
        lists = [t.column("All", name, of, 1000 if of == Type.FIXED else 0).values for name, of in COLUMNS]
        lists += [t.column("Text", name, of).values for name, of in TEXTS]
        self.samples = [Sample(i, 0) for i in range(ROWS)]
        for s in self.samples:
            s.alive = s.key in t.keys
            if s.alive:
                s.values = [values[list(t.keys).index(s.key)] for values in lists]
        self.point = at.tick
        self.f.resume()
        self.world()
        self.f.state(self.point)
        return "- " + self.snap()

    def snap(self):
        return encode_snapshot(self.world(), Point(self.seed, self.point)).hex()

    def answer(self, command, given):
        if command == "play":
            return self.plays() or ""
        if command == "guess":
            return self.guess(int(given)) or ""
        if command == "send":
            status = int(self.f.status)
            return " ".join([str(status)] + ["%d:%s" % (to, b.hex()) for to, b in iter(lambda: self.f.send(int(given)), None)])
        if command == "report":
            return (self.f.report or b"").hex()
        if command == "text":
            return self.f.text().encode().hex()
        if command == "snap":
            return self.snap()
        if command == "load":
            return self.loads(int(given))
        try:
            return self.f.files(given) or ""
        except (OSError, ValueError) as e:
            return str(e)


def cost(ticks):
    """What a tick costs: 5000 entities of 220 bytes in 10 tables, of which some values change."""
    w, rng, spent = World(), skirmish.Random(1), 0.0
    tables, values = [], []
    for n in range(10):
        tables.append(w.archetype("n%02d" % n))
        values.append([[0] * 500 for _ in range(55)])
        for c in range(55):
            tables[n].column("C", "n%02d" % c, Type.I32)
        tables[n].fill(range(500), *values[n])
    begin = time.process_time()
    f = Flight(w, ["a", "b"], 0)
    f.state(0)
    print("the first state: %.0f ms" % ((time.process_time() - begin) * 1e3))
    for refill in (10, 3):
        spent = filled = 0.0
        for tick in range(ticks):
            for _ in range(1000):
                values[rng.draw(3)][rng.draw(55)][rng.draw(500)] += 1
            at = time.process_time()
            for n in range(refill):
                tables[n].fill(range(500), *values[n])
            begin = time.process_time()
            f.tick(f.holds().last, [])
            f.state(f.holds().last + 1)
            spent += time.process_time() - begin
            filled += begin - at
        k = f.holds()
        print("%d tables filled: %.1f ms a tick, and %.1f ms to fill them; %d ticks in %d KiB" % (
            refill, spent / ticks * 1e3, filled / ticks * 1e3, k.last - k.first, k.bytes >> 10))


def ring(seed):
    """Rows come and go, values too; ticks are taken back; the oldest fall out. Every state that is kept is rebuilt as it was."""
    rng, w = skirmish.Random(seed), World()
    t = w.archetype("T")
    t.column("C", "n", Type.I16)
    t.column("C", "maybe", Type.F32)
    t.column("C", "text", Type.STRING)
    rows, seen, checked = {}, {}, 0

    def change():
        for _ in range(rng.draw(20)):
            key = rng.draw(60)
            if rng.draw(3) == 0:
                rows.pop(key, None)
            else:
                rows[key] = (rng.draw(9) - 4, rng.draw(5) / 4 if rng.draw(2) else None, "x" * rng.draw(400) + str(rng.draw(1 << 30)))
        if rng.draw(2):
            t.fill(list(rows), *([row[i] for row in rows.values()] for i in range(3)))
        w.rng = bytes((rng.draw(3), 7))
        return encode_snapshot(w, Point())

    now = change()
    f = Flight(w, ["a", "b"], 0, budget=1 << 20, rollback=True)
    f._budget = 20000  # so that much falls out
    f.state(0)
    seen[0, 0xFFFF] = now
    tick = 0
    for _ in range(400):
        if tick and rng.draw(4) == 0:
            tick -= rng.draw(min(tick - max(f.holds().first, f._confirmed), 5) + 1)
            f.rollback(tick)
            saved = decode_snapshot(seen[tick, 0xFFFF])[1]
            of = saved.archetype("T")
            rows = dict(zip(of.keys, zip(*(c.values for c in (of.column("C", "n", Type.I16), of.column("C", "maybe", Type.F32),
                                                              of.column("C", "text", Type.STRING))))))
            w.rng = saved.rng
            t.fill(list(rows), *([row[i] for row in rows.values()] for i in range(3)))
        f.tick(tick)
        for step in range(rng.draw(4)):
            seen[tick + 1, step] = change()
            f.system("s%d" % step)
        tick += 1
        seen[tick, 0xFFFF] = change()
        f.state(tick)
        if rng.draw(8) == 0:
            f.confirm(tick)
        for _ in range(3):
            point = f.holds().first + rng.draw(tick - f.holds().first + 1)
            steps = len(f._entry(point).steps)
            step = rng.draw(steps) if steps and rng.draw(2) else 0xFFFF
            past = f._rebuild(point, step)
            assert encode_snapshot(f._world_of(past), Point()) == seen[point, step], (point, step)
            assert step != 0xFFFF or f._root(past.sums) == f.hash(point)
            checked += 1
    assert f.holds().first > 0 and f.holds().bytes <= 20000
    print("%d states are rebuilt, %d points are kept" % (checked, tick - f.holds().first))


def example():
    w = World()
    t = w.archetype("Soldier")
    t.column("Weapon", "target", Type.REF)
    t.column("Health", "points", Type.I32)
    t.column("Name", "text", Type.STRING)
    w.rng = bytes((1, 2, 3, 4))
    t.fill([9, 7], [7, None], [-1, 50], ["bob", "ann"])
    f = Flight(w, ["host", "client"], 0, seed=7, kinds=[OrderKind("bonus")])
    f.state(0)
    print("root %016x\nhistory %016x\nbeat %s" % (f.hash(0), f.history(0), f.send(0)[1].hex()))
    f.tick(0, [Order(1, "bonus", b"\xab\xcd", 3, 250)])
    t.fill([9, 7], [7, None], [-1, 49], ["bob", "ann"])
    f.state(1)
    print("root %016x\nhistory %016x" % (f.hash(1), f.history(1)))


def main():
    if sys.argv[1:2] == ["cost"]:
        return cost(int(sys.argv[2]))
    if sys.argv[1:2] == ["ring"]:
        return ring(int(sys.argv[2]))
    if sys.argv[1:] == ["example"]:
        return example()
    peer = Peer(*map(int, sys.argv[1:9]))
    for line in sys.stdin:
        command, _, given = line.rstrip("\n").partition(" ")
        if command == "receive":
            sender, _, packet = given.partition(" ")
            peer.f.receive(int(sender), bytes.fromhex(packet))
            continue
        print(peer.answer(command, given), flush=True)


main()
