"""Plays one peer into the folder that is its argument, and prints what it has acknowledged: tests kill it."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

from desynctool import Detail, Order, OrderKind, Recorder, Session, Type, World  # noqa: E402

hp, rng, w = [0] * 500, 0, World()
units = w.archetype("Unit")
units.column("Health", "hp", Type.I32)


def state():
    w.rng = rng.to_bytes(8, "little")
    units.fill(range(500), hp)
    return w


session = Session(11, "client", "1.0", kinds=[OrderKind("move")], peers=["host", "client"])
orders = [Order(1, "move", b"\1\2\3"), Order(1, "move", b"\1", 1, 2)]
with Recorder(os.path.join(sys.argv[1], "client"), session, state(), Detail.ARCHETYPE) as r:
    for tick in range(200):
        r.state(tick, state())
        if tick % 10 == 0:
            r.snapshot(w)
            print("snapshot", tick, flush=True)
        if tick % 25 == 0:
            r.report(w, 1, ["Unit"])
            print("report", tick, flush=True)
        if tick % 40 == 0:
            r.sync()
        r.tick(tick, orders[:tick % 3])
        rng, hp[tick * 7 % 500] = rng + 77, hp[tick * 7 % 500] + 1
        r.system("Move", state())
        print("tick", tick, flush=True)
