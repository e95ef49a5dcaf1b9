"""Writes with desynctool.py what vectors.c writes with desynctool.h, and the example of docs/trace.md whole, into the folder that is its
argument, and checks what can be checked in Python.

With --read it reads one .snap after another from stdin, each after its length in 4 bytes, and prints for each "ok" or
why it is refused. With --hash it prints instead of "ok" the hash of the state that was read, and whether it is written
as the same bytes.
"""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

from desynctool import (  # noqa: E402
    Checkpoint, Damaged, Event, EventKind, Game, Marker, MarkerKind, Order, OrderKind, OrderLog, Point, Recorder, Refused, Session, Sum,
    Trace, Type, World, crc32c, decode_snapshot, encode_snapshot, read_snapshot, serve, write_snapshot)

MASK = (1 << 64) - 1


def expect(holds, what):
    if not holds:
        raise SystemExit("does not hold: " + what)


def refuses(do, what, error=ValueError):
    try:
        do()
    except error:
        return
    raise SystemExit("is taken: " + what)


def sums():
    expect(crc32c(b"123456789") == 0xE3069283, "CRC-32C")
    state, data = 1, bytearray()
    for _ in range(20000):
        state = state * 6364136223846793005 + 1442695040888963407 & MASK
        data.append(state >> 56)
    for n in (0, 1, 4095, 4096, 4097, 20000):  # where lanes begin to be used, and where some bytes are left
        crc = 0xFFFFFFFF
        for v in data[:n]:
            crc ^= v
            for _ in range(8):
                crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        expect(crc32c(bytes(data[:n])) == crc ^ 0xFFFFFFFF, "CRC-32C of %d bytes" % n)


def snapshot(folder):
    w = World()
    w.rng = bytes.fromhex("0123456789abcdef")
    t = w.archetype("Infantry")
    t.column("Position", "x", Type.FIXED, 65536)
    t.column("Health", "hp", Type.I32)
    t.fill([8, 3], [-16384, 98304], [None, 75])  # in any order
    write_snapshot(folder, w, Point(7, 1242, peer="host"))


TYPES = [
    ("bool", Type.BOOL), ("i8", Type.I8), ("i16", Type.I16), ("i32", Type.I32), ("i64", Type.I64), ("u8", Type.U8), ("u16", Type.U16),
    ("u32", Type.U32), ("u64", Type.U64), ("f32", Type.F32), ("f64", Type.F64), ("fixed", Type.FIXED), ("string", Type.STRING),
    ("name", Type.STRING), ("bytes", Type.BYTES), ("ref", Type.REF)]


def signed(v, bits):
    v &= (1 << bits) - 1
    return v - (1 << bits) if v >> bits - 1 else v


def f32(v):
    return struct.unpack("<f", struct.pack("<f", v))[0]


def everything(folder):
    n, v, rows, u32s = 20000, 1, [], []
    texts = ["", "grün", b"\xff\"\\\n", "a longer text than most"]
    for i in range(n):
        has = []
        for _ in range(16):
            v = v * 6364136223846793005 + 1442695040888963407 & MASK
            has.append(v >> 61 != 0)
        has[6] = True  # it has no column for whether it is there
        i32, i64 = signed(v >> 3, 32), signed(v, 64)
        values = [
            i % 3 != 0, signed(v >> 1, 8), signed(v >> 2, 16), i32, i64, v >> 5 & 0xFF, v >> 6 & 0xFFFF, v >> 7 & 0xFFFFFFFF, v,
            f32(f32(i32) / 3), float(i64) / 7, (v >> 40) - 9999, texts[i % 4], "unit %d" % i, struct.pack("<Q", v)[:i % 8], v >> 50]
        u32s.append(values[7])
        if i % 9:
            rows.append(((i * 2654435761 % (1 << 32) // 7, i), [value if there else None for value, there in zip(values, has)]))
    w = World()
    w.noise("Noise").column("Cell", "units", Type.U32)
    w.noise("Noise").fill(range(3), u32s[:3])
    w.archetype("Zero").column("Cell", "units", Type.U32)
    w.archetype("Zero").fill([], [])
    pairs = w.archetype("Pairs", 2)
    columns = [pairs.column("A", name, type, 1000 if type == Type.FIXED else 0) for name, type in TYPES]
    pairs.fill([key for key, _ in rows], *zip(*(values for _, values in rows)))
    w.cache("Grid").column("Cell", "units", Type.U32)
    w.cache("Grid").fill(range(n), u32s)
    w.archetype("Keys").fill(range(3))
    at = Point(99, 5, "after-orders", "frame 9", "host", 2, bytes([1, 2, 3] + [0] * 29), {"os": "linux", "build": "1.0"})
    path = write_snapshot(folder, w, at)

    again, state = read_snapshot(path)
    expect(again == at, "a point is read as it was written")
    expect(encode_snapshot(state, again) == encode_snapshot(w, at), "a state is written as it was read")
    rows.sort(key=lambda row: row[0])
    read = state.archetype("Pairs", 2)
    expect(list(read.keys) == [key for key, _ in rows], "keys are read")
    for i, c in enumerate(columns):
        values = read.column(c.component, c.field, c.type, c.scale).values
        expect(values == [row[i] for _, row in rows], "%r is read" % c)
    refuses(lambda: state.archetype("Pairs"), "keys of another number of parts", Refused)
    refuses(lambda: state.archetype("Grid"), "a table of another class", Refused)
    refuses(lambda: read.column("A", "fixed", Type.FIXED, 10), "another scale", Refused)
    refuses(lambda: read.column("A", "none", Type.U8), "a column that is not there", Refused)
    refuses(lambda: read.fill([]), "rows of a state that was read")
    again.phase = "before"
    refuses(lambda: encode_snapshot(state, again), "a phase that is none")
    refuses(lambda: encode_snapshot(w, Point(peer="x" * 1025)), "a long name")
    refuses(lambda: encode_snapshot(w, Point(tick=-1)), "a tick below 0")
    refuses(lambda: encode_snapshot(w, Point(properties={str(i): "" for i in range(4097)})), "4097 properties")


def misfits():
    def one(type, *values, scale=0):
        t = World().archetype("T")
        t.column("C", "f", type, scale)
        return lambda: t.fill(range(len(values)), values)
    for type, value in [
            (Type.I8, 128), (Type.I8, -129), (Type.U8, -1), (Type.U8, 256), (Type.U64, MASK + 1), (Type.REF, -1), (Type.I32, 1.5), (Type.I32, "1"),
            (Type.F32, "1"), (Type.F32, 1e300), (Type.STRING, 7), (Type.BYTES, "text"), (Type.STRING, "\ud800")]:
        refuses(one(type, value), "%r in a column of %s" % (value, type.name))
    for type, value in [(Type.I8, -128), (Type.U8, 255), (Type.U64, MASK), (Type.REF, None), (Type.BYTES, b""), (Type.BYTES, bytearray(3))]:
        one(type, value)()
    one(Type.FIXED, -1, scale=10)()
    refuses(one(Type.FIXED, 1 << 63, scale=10), "a fixed value of more than 64 bits")
    t = World().archetype("T")
    t.column("C", "f", Type.U8)
    refuses(lambda: t.fill([1, 1], [0, 0]), "a key twice")
    refuses(lambda: t.fill([1, 2], [0]), "fewer values than rows")
    refuses(lambda: t.fill([1, 2]), "fewer lists than columns")
    refuses(lambda: t.fill([-1], [0]), "a key below 0")
    refuses(lambda: t.fill([1 << 64], [0]), "a key of 65 bits")
    refuses(lambda: t.column("C", "f", Type.I8), "a column of another type")
    refuses(lambda: t.column("C", "g", Type.FIXED), "fixed without a scale")
    refuses(lambda: t.column("", "g", Type.U8), "an empty name")
    refuses(lambda: World().archetype("T", 3), "keys of three parts")
    refuses(lambda: serve(Game()), "a game that does nothing")
    t.fill([2], [0])
    refuses(lambda: t.column("C", "h", Type.U8), "a column after rows")


def filled_again():
    """A world that is filled again has the hash of a new one, whatever it held before."""
    def fill(w, version, rows):
        t = w.archetype("Many")
        t.column("A", "n", Type.U32)
        t.column("A", "s", Type.STRING)
        t.fill([3 * i for i in range(rows)], [None if i % 5 == 0 else version if i == 777 else i for i in range(rows)],
               ["row %d" % i if i % 7 == 0 else None for i in range(rows)])
        return w
    kept = World()
    for rows in (10, 5000, 5000, 20000, 5000, 0, 1, 777, 778):
        for version in (1, 2, 1):
            root = fill(kept, version, rows).state_hash()
            expect(root == kept.state_hash() == fill(World(), version, rows).state_hash(), "hashing %d rows again" % rows)


def header(**more):
    return Session(7, "host", "1.0", (30, 1), kinds=[OrderKind("move"), OrderKind("chat", True)], peers=["host", "client"],
                   params={"map": "green valley"}, **more)


def order_log(folder):
    s = header(start=bytes.fromhex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
    with OrderLog(os.path.join(folder, "order-log.bin"), s) as log:
        log.checksum(0, bytes.fromhex("b5c8bea2d1f6a904"))
        log.tick(0, [])
        log.marker(Marker(MarkerKind.SAVE, 1, text="autosave"))
        log.tick(1, [Order(1, "chat", b"gg", 4, 16667), Order(2, "move", bytes.fromhex("9301cd0400"), 17, 16667)])
        log.hash(2, 0, "sync", "", bytes.fromhex("0f1e2d3c4b5a6978"))
        log.hash(2, 1, "sync", "quick", b"\xbe\xef")


def epochs(folder):
    """A peer goes on to point 2, and back to the state of point 1. It knows the history hash of point 1."""
    root = bytes([1] + [0] * 31)
    with OrderLog(os.path.join(folder, "epochs.bin"), Session(7, "host")) as log:
        log.state(0, root)
        log.tick(0, [])
        log.state(1, root)
        loaded = Marker(MarkerKind.LOAD, 1, new_epoch=True, history=log.history, text="quicksave")
        log.tick(1, [])
        log.marker(loaded)
        refuses(lambda: log.marker(loaded), "a second epoch in one tick")
        refuses(lambda: log.marker(Marker(MarkerKind.SAVE, 1, new_epoch=True)), "a save that opens an epoch")
        refuses(lambda: log.marker(Marker(MarkerKind.LOAD, 1, history=root)), "a history hash without an epoch")
        log.state(1, root)
        log.tick(1, [])
        refuses(lambda: log.tick(1, []), "a tick that does not ascend")
        refuses(lambda: log.tick(2, [Order(0, "none")]), "a kind that the session does not have")
        refuses(lambda: log.hash(2, 0, "sync", "", b""), "a hash without bytes")
        log.state(2, root)


def trace(folder, name, text):
    """The example of docs/trace.md, with the checksum that is text or without."""
    saved, state = bytes.fromhex("1f83d9ab"), bytes.fromhex("9b05688c2b3e6c1f")
    rng = Sum(b"\x51\x0e", "rng")
    with Trace(os.path.join(folder, name), header()) as t:
        t.add(Checkpoint(0, "Movement", "Infantry", [Sum(bytes.fromhex("6a09e667bb67ae85"))], count=250))
        t.add(Checkpoint(0, "Combat", sums=[Sum("3C6EF372"), rng] if text else [rng]))
        t.add(Checkpoint(1, "Movement", "Infantry", [Sum(state)], predicted=True, count=250))
        t.event(Event(EventKind.INPUT, 1, player=2, predicted=True, sums=[Sum(b"\xbe\xef")]))
        t.event(Event(EventKind.SAVE, 1, sums=[Sum(saved)]))
        t.event(Event(EventKind.RESTORE, 1, 3, sums=[Sum(saved)]))
        t.event(Event(EventKind.RESIMULATE, 1, 2))
        t.add(Checkpoint(1, "two words", sums=[Sum(b"\0")]))
        refuses(lambda: t.add(Checkpoint(1, "nothing")), "a checkpoint without sum and count")


def recorder(folder):
    """A peer that plays two ticks, is away, and goes on with the host's state of point 9; at point 80 it reports on its state."""
    w = World()
    for label, health in (("Unit", [7, 8, 9]), ("Cell", [7])):
        w.archetype(label).column("Health", "hp", Type.I32)
        w.archetype(label).fill(range(len(health)), health)
    s = Session(11, "client", "1.0", kinds=[OrderKind("move"), OrderKind("chat\n\"", True)], peers=["host", "client"],
                params={"map": "green valley"}, facts={"os": "linux", "map": "another", "locale": "de_DE.UTF-8"})
    orders = [Order(1, "move", b"\x0a\xff\x00"), Order(1, "chat\n\"", b"", 1, 2)]
    w.rng = (5).to_bytes(8, "little")
    with Recorder(os.path.join(folder, "client"), s, w, None) as r:
        refuses(lambda: r.system("Move", w), "a system without a tick", Refused)
        for tick in range(2):
            w.rng = (5 + tick).to_bytes(8, "little")
            r.state(tick, w)
            r.tick(tick, orders[:tick])
        w.rng = (7).to_bytes(8, "little")
        r.state(2, w)
        refuses(lambda: r.system("Move", w), "a system without a tick", Refused)
        r.report(w, 1)
        for tick in range(9, 80):
            w.rng = tick.to_bytes(8, "little")
            if tick == 9:
                r.marker(Marker(MarkerKind.RECONNECT, 9, peer=1, new_epoch=True, history=bytes([9] + [0] * 31), text="from the host"))
            r.state(tick, w)
            if tick == 9:
                r.snapshot(w)
            r.tick(tick, orders[:tick % 3])
            r.system("Move", w)  # which writes nothing
        w.rng = (80).to_bytes(8, "little")
        r.state(80, w)
        r.report(w, archetypes=["Unit", "Cell"])
        refuses(lambda: r.report(w, archetypes=["Nobody"]), "an archetype that is not there")


def reads(hash):
    while True:
        length = sys.stdin.buffer.read(4)
        if not length:
            return
        file = sys.stdin.buffer.read(int.from_bytes(length, "little"))
        said = "ok"
        try:
            at, state = decode_snapshot(file)
            if hash:
                said = state.state_hash().hex() + (" same" if encode_snapshot(state, at) == file else " other bytes")
            for t in state.tables:
                for c in t.columns:
                    expect(len(c.values) == len(t.keys), "values of what was read")
        except Damaged as e:
            said = str(e).replace("\n", " ").encode("ascii", "backslashreplace").decode()
        print(said)


if sys.argv[1] in ("--read", "--hash"):
    reads(sys.argv[1] == "--hash")
else:
    into = sys.argv[1]
    sums()
    snapshot(into)
    everything(into)
    misfits()
    filled_again()
    order_log(into)
    epochs(into)
    trace(into, "host.trace", False)
    trace(into, "whole.trace", True)
    recorder(into)
