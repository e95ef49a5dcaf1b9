# SPDX-License-Identifier: MIT-0
# Copyright 2026 The desynctool authors
"""desynctool_flight.py: a flight recorder for a game that is shipped, in one file of Python 3.9 beside desynctool.py.

It keeps the last ticks in a fixed amount of memory: orders, hashes, and all that the state changed, so that the state of any of these
ticks can be rebuilt. When the peers find that their states differ, it finds the first tick, the system, the columns, the rows
and their values, by packets of at most 1000 bytes that the game carries between its peers. Then every peer has the same
report. docs/exchange.md specifies the packets: peers may be in other languages.

A World describes the state, as for desynctool.py. In each tick, and once before the first one without tick, the game fills its tables and
calls

    flight.tick(tick, orders)      the orders that the tick is about to apply
    flight.system("Movement")      after each system, if the game can
    flight.state(tick + 1)         the state after the tick: the one before the orders of tick + 1

and as often as it reads its network

    flight.receive(sender, packet)
    for to, packet in iter(lambda: flight.send(milliseconds), None): ...

A table that is not filled again costs almost nothing. Calls in the wrong order are Refused. No packet raises anything.
"""

from __future__ import annotations

import enum
import marshal
import os
import struct
import zlib
from collections import deque
from dataclasses import dataclass
from typing import Any, Deque, Dict, List, NamedTuple, Optional, Sequence, Tuple

from desynctool import (Checkpoint, Order, OrderKind, Point, Recorder, Refused, Session, Sum, TableClass, Trace, Type, World, crc32c,
                        encode_snapshot, write_snapshot)

__all__ = ["Flight", "Holds", "PACKET", "PEERS", "Status"]

PACKET, PEERS = 1000, 64
_U64 = 0xFFFFFFFFFFFFFFFF
_VALUE = 200  # bytes of a value in an answer
_BODY, _HEAD = 976, 20
_PARTS, _GROUPS, _QUEUE, _WORK, _LISTED = 31, 4, 8, 1024, 32
_CHUNK, _CHUNKS = 960, 128
_MOST = 1 << 19  # bytes of answers to a peer in an exchange
_SPENT, _ROUNDS, _WAIT, _END = 64, 12, 3000, 0xFFFF
_ENTRY = 400  # bytes of a tick without changes, about

_BEAT, _ALERT, _QUESTION, _ANSWER, _REPORT, _GOT = range(1, 7)
_STATUS, _HISTORY, _STEPS, _TABLES, _COLUMNS, _BUCKETS, _ROWS = range(1, 8)
_OK, _FELL_OUT, _NOT_YET, _NONE = range(4)
_LOST, _OTHER_STATE, _CUT = 1, 2, 4
_PART = struct.Struct("<BBBHHIIQQ")
_WIDTHS = {Type.BOOL: 1, Type.I8: 1, Type.I16: 2, Type.I32: 4, Type.I64: 8, Type.U8: 1, Type.U16: 2, Type.U32: 4, Type.U64: 8,
           Type.F32: 4, Type.F64: 8, Type.FIXED: 8, Type.STRING: 0, Type.BYTES: 0, Type.REF: 8}
_RAW = {1: "B", 2: "H", 4: "I", 8: "Q"}
_TYPED = {Type.BOOL: "?", Type.I8: "b", Type.I16: "h", Type.I32: "i", Type.I64: "q", Type.U8: "B", Type.U16: "H", Type.U32: "I",
          Type.U64: "Q", Type.F32: "f", Type.F64: "d", Type.FIXED: "q", Type.REF: "Q"}


class Status(enum.IntEnum):
    WATCHING = 0  # records, and compares hashes
    ASKING = 1  # records no more: the peers look for what differs
    FOUND = 2  # there is a report
    SILENT = 3  # the others did not answer


class Holds(NamedTuple):
    """State points first to last are kept, and the ticks need bytes of so many bytes. Twice the ticks need about more bytes
    of budget more."""
    first: int
    last: int
    bytes: int
    of: int
    more: int


def _mix(x: int) -> int:
    x = (x ^ x >> 32) * 0xD6E8FEB86659FD93 & _U64
    x = (x ^ x >> 29) * 0x9E3779B97F4A7C15 & _U64
    return x ^ x >> 32


def _hash(b: bytes) -> int:
    h = _mix(len(b) + 0x5BD1E995)
    whole = len(b) & ~7
    for (word,) in struct.iter_unpack("<Q", b[:whole]):
        h = _mix(h ^ word) + 0x2545F4914F6CDD1D & _U64
    return _mix(h ^ int.from_bytes(b[whole:], "little"))


def _row(key: int, key2: int) -> int:
    return _mix(_mix(key + 0x632BE59BD9B4E019 & _U64) ^ key2)


def _fold(h: int, n: int) -> int:
    return _mix(h + n & _U64) + 1 & _U64


class _Col:
    """A column and what it contained last: the blocks of the World, or the values after a rollback."""

    def __init__(self, component: str, field: str, type: int, scale: int, of: Any) -> None:
        self.component, self.field, self.type, self.scale, self.of = component.encode(), field.encode(), type, scale, of
        self.width = _WIDTHS[Type(type)] if type else 0
        self.text = type in (Type.STRING, Type.BYTES)
        self.size = 64 if self.text else self.width  # of a value, about
        self.blocks: Optional[List[bytes]] = []
        self.values: List[Any] = []

    def cell(self, row: int, v: Any) -> int:
        """What a value adds to the sum of the column."""
        if v is None:
            return 0
        if not self.type:
            return _mix(row + 1 & _U64)
        n = _hash(v) if self.text else v
        return _mix(row + _mix(n + 0x8EBC6AF09C88C6E3 & _U64) & _U64)

    def decoded(self, blocks: Sequence[bytes]) -> List[Any]:
        """Numbers as their bits, strings as bytes, None of an absent value."""
        out: List[Any] = []
        for block in blocks:
            n = int.from_bytes(block[4:8], "little")
            at = 8 + ((n + 7) // 8 if block[1] else 0)
            if self.text:
                values: List[Any] = []
                lengths = struct.unpack_from("<%dI" % n, block, at)
                at += 4 * n
                for length in lengths:
                    values.append(block[at:at + length])
                    at += length
            else:
                values = list(struct.unpack_from("<%d%s" % (n, _RAW[self.width]), block, at))
            if block[1]:
                values = [v if block[8 + i // 8] >> i % 8 & 1 else None for i, v in enumerate(values)]
            out += values
        return out

    def before(self) -> List[Any]:
        return self.values if self.blocks is None else self.decoded(self.blocks)


class _Tab:
    def __init__(self, label: str, parts: int, of: Any, first: int) -> None:
        self.label, self.parts, self.of, self.first, self.count = label.encode(), parts, of, first, 1
        self.keys: Sequence[Any] = []
        self.rows: Dict[Any, int] = {}  # the hashes of the keys
        self.touched = False

    def row(self, key: Any) -> int:
        h = self.rows.get(key)
        if h is None:
            h = _row(*key) if self.parts == 2 else _row(key, 0)
            self.rows[key] = h
        return h

    def pair(self, key: Any) -> Tuple[int, int]:
        return key if self.parts == 2 else (key, 0)


# What changed: of a column its number, its sum before, and the values before by key; of the identity, the first column of
# a table, also the keys of new rows.
_Item = Tuple[int, int, List[Any], List[Any], List[Any]]


def _packed(items: List[_Item]) -> bytes:
    return zlib.compress(marshal.dumps(items), 1) if items else b""


def _items(blob: bytes) -> List[_Item]:
    return marshal.loads(zlib.decompress(blob)) if blob else []


class _Entry:
    """A state point, and the tick that leads to it: what changed up to each step, and after the last one."""

    def __init__(self, point: int) -> None:
        self.point, self.root, self.history, self.inputs = point, 0, 0, 0
        self.orders: List[Order] = []
        self.steps: List[Tuple[bytes, int, bytes]] = []
        self.last = b""
        self.size, self.whole = _ENTRY, True

    def forget(self) -> None:
        self.orders, self.steps, self.last, self.size, self.whole = [], [], b"", _ENTRY, False


class _Past:
    """A state that is rebuilt: columns by key, from what there is now and what changed since."""

    def __init__(self, f: Flight) -> None:
        self.f = f
        self.undone: Dict[int, List[_Item]] = {}
        self.sums = list(f._sums)
        self.built: Dict[int, Dict[Any, Any]] = {}

    def undo(self, blob: bytes) -> None:
        for item in _items(blob):
            self.undone.setdefault(item[0], []).append(item)
            self.sums[item[0]] = item[1]

    def column(self, t: _Tab, i: int) -> Dict[Any, Any]:
        number = t.first + i
        d = self.built.get(number)
        if d is not None:
            return d
        c = self.f._columns[number]
        d = dict(zip(t.keys, c.before() if i else [True] * len(t.keys)))
        for _, _, keys, values, new in self.undone.get(number, []):
            for key in new:
                d.pop(key, None)
            d.update(zip(keys, values))
        if i:
            d = {key: d.get(key) for key in self.column(t, 0)}
        self.built[number] = d
        return d

    def leaf(self, t: _Tab) -> int:
        return self.f._leaf(self.sums, t)


@dataclass
class _Peer:
    point: int = 0
    history: int = 0
    heard: int = 0
    asked: int = 0
    since: int = 0
    answered: int = 0  # parts of the question, as bits
    beat: bool = False
    gone: bool = False
    asks: bool = False
    foreign: bool = False
    shares: bool = False
    late: int = 0
    group: int = 0
    chunk: int = 0
    sent: int = 0
    got: int = 0


@dataclass
class _Part:
    index: int = 0
    what: int = 0
    depth: int = 0
    step: int = 0
    count: int = 0
    table: int = 0
    column: int = 0
    point: int = 0
    start: int = 0

    def pack(self) -> bytes:
        return _PART.pack(self.index, self.what, self.depth, self.step, self.count, self.table, self.column, self.point & _U64,
                          self.start & _U64)


@dataclass
class _Group:
    peer: int
    history: int
    root: int
    members: int = 0
    step_root: int = 0
    inputs: int = 0


@dataclass
class _Listed:
    table: int
    column: int
    rows: int = 0
    pending: int = 0  # ranges that were not looked through
    broken: bool = False  # an answer was not understood, or did not fit
    all: int = 0  # with rows of one side only
    first: bool = False  # it differs after the step

    @property
    def cut(self) -> bool:
        return self.pending > 0 or self.broken


class _Reader:
    """Reading past the end sets bad, and gives zero."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data, self.at, self.bad = data, at, False

    def bytes(self, n: int) -> bytes:
        if n > len(self.data) - self.at:
            self.bad, self.at = True, len(self.data)
            return b""
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self, n: int) -> int:
        return int.from_bytes(self.bytes(n), "little")

    def text(self) -> bytes:
        return self.bytes(self.number(1))

    @property
    def ends(self) -> bool:
        return self.at == len(self.data)

    def value(self) -> Tuple[int, bytes, bytes]:
        """The state of a value, its bytes, and all of it: 0 no value, 1 a value, 2 the beginning of one, 3 no row."""
        begin, state, content = self.at, self.number(1), b""
        if state in (1, 2):
            content = self.text()
        elif state not in (0, 3):
            self.bad = True
        if state == 2:
            self.bytes(12)
        return state, content, self.data[begin:self.at]

    def row(self) -> Optional[Tuple[int, int, int, Tuple[int, bytes, bytes]]]:
        """The hash of the keys of a row, the keys, and the value; None at the end."""
        if self.ends or self.bad:
            return None
        key, key2, value = self.number(8), self.number(8), self.value()
        return None if self.bad else (_row(key, key2), key, key2, value)


def _same(a: Tuple[int, bytes, bytes], b: Tuple[int, bytes, bytes]) -> bool:
    """Whether two values are the same: of a text, peers may keep beginnings of other lengths."""
    whole, cut = (a, b) if a[0] == 1 else (b, a)
    if a[2] == b[2] or whole[0] != 1 or cut[0] != 2:
        return a[2] == b[2]
    return struct.unpack("<IQ", cut[2][-12:]) == (len(whole[1]), _hash(whole[1]))


def _in(row: int, of: int, depth: int) -> bool:
    return row >> 64 - 6 * depth == of >> 64 - 6 * depth


class _Head:
    """The beginning of a report."""

    def __init__(self, r: _Reader) -> None:
        if r.bytes(4) != b"DFR\x01":
            r.bad = True
        self.flags = r.number(1)
        r.number(8)
        self.point, self.step, self.name = r.number(8), r.number(2), r.text()
        self.silent, n = r.number(8), r.number(1)
        if n > _GROUPS:
            r.bad, n = True, 0
        self.groups = [(r.number(8), r.number(8), r.number(8), r.number(8)) for _ in range(n)]  # members, hash, after the step, inputs
        if not all(g[0] for g in self.groups):
            r.bad = True
        r.number(8)
        self.listed = r.number(1)

    def group(self, peer: int) -> Optional[int]:
        return next((g for g, of in enumerate(self.groups) if 0 <= peer < PEERS and of[0] >> peer & 1), None)


class _List:
    """A listed column; its rows follow."""

    def __init__(self, r: _Reader) -> None:
        self.label, self.component, self.field = r.text(), r.text(), r.text()
        self.type, self.scale, self.flags, self.at_least, self.rows = r.number(1), r.number(4), r.number(1), r.number(4), r.number(4)

    def skip(self, r: _Reader, groups: int) -> None:
        for _ in range(self.rows):
            r.bytes(16)
            for _ in range(groups):
                r.value()
            if r.bad:
                return

    @property
    def name(self) -> str:
        if not self.label:
            return "RNG"
        return _escaped(self.label) + (" %s.%s" % (_escaped(self.component), _escaped(self.field)) if self.type else " entities")

    def shown(self, value: Tuple[int, bytes, bytes]) -> str:
        state, content, _ = value
        if state in (0, 3):
            return "no row" if state else "no value"
        if not self.type:
            return "a row"
        more = "..." if state == 2 else ""
        if self.type == Type.STRING:
            return '"%s"%s' % (_escaped(content), more)
        if self.type == Type.BYTES:
            return content.hex() + more
        raw = content[:8].ljust(8, b"\0")
        v = int.from_bytes(raw, "little")
        if self.type == Type.BOOL:
            return "true" if v else "false"
        if self.type in (Type.F32, Type.F64):
            x = struct.unpack_from("<f" if self.type == Type.F32 else "<d", raw)[0]
            negative = raw[3 if self.type == Type.F32 else 7] >> 7
            return ("-nan" if negative else "nan") if x != x else ("%.9g" if self.type == Type.F32 else "%.17g") % x
        if self.type in (Type.I8, Type.I16, Type.I32, Type.I64, Type.FIXED):
            v = struct.unpack_from("<" + _TYPED[Type(self.type)], raw)[0]
            return "%d/%d" % (v, self.scale) if self.type == Type.FIXED else str(v)
        return "#%d" % v if self.type == Type.REF else str(v)


def _escaped(text: bytes) -> str:
    return "".join(chr(b) if 32 <= b < 127 and b != 92 else "\\x%02x" % b for b in text)


def _count(n: int, noun: str) -> str:
    return "%d %s%s" % (n, noun, "" if n == 1 else "s")


def _folder(name: str) -> bool:
    """Whether a name can be the name of a folder on every system: players choose names."""
    return 0 < len(name.encode()) <= 100 and name[0] != "." and name[-1] != "." and not any(c <= " " or c in '/\\:*?"<>|' for c in name)


class Flight:
    """A recorder of one peer. peers are the names of all by number, the same list on all; me is the number of this one.

    budget is for the ticks that are kept, in bytes. kinds are those of orders. With marked only tables are compared that touch names since
    the last call. With rollback states are predicted until confirm. values are bytes of differing values in a report, at most. history is
    for a peer that joins later: history of the peer that sent it the state. The World's tables and columns are declared before.
    """

    def __init__(self, world: World, peers: Sequence[str], me: int, *, seed: int = 0, build: str = "", kinds: Sequence[OrderKind] = (),
                 budget: int = 8 << 20, marked: bool = False, rollback: bool = False, values: int = 65536, history: int = 0) -> None:
        if not 1 <= len(peers) <= PEERS or not 0 <= me < len(peers):
            raise ValueError("there are no peers, or more than 64, or this peer is not among them")
        if budget < 1 << 20:
            raise ValueError("the budget is smaller than 1 MiB")
        if any(not name or len(name.encode()) > 1024 or "\0" in name for name in peers):
            raise ValueError("the name of a peer is empty, longer than 1024 bytes, or has a NUL")
        self._world, self._names, self._me, self._seed, self._build = world, list(peers), me, seed & _U64, build
        self._kinds, self._budget, self._marked, self._rolls = list(kinds), budget, marked, rollback
        self._kind_numbers = {kind.name: i for i, kind in enumerate(kinds)}
        self._joined = history
        self._found_cap = min(values, _CHUNK * _CHUNKS - 32768)
        if len(peers) > 2:
            self._found_cap = min(self._found_cap, 50000 // (len(peers) - 1) - 400)
        self._lay_out()
        self._entries: Deque[_Entry] = deque()
        self._now, self._rto, self._counter, self._id = 1, 400, 0, 0
        self._peers = [_Peer() for _ in peers]
        self._started = self._alert_point = self._alert_history = self._alerted = self._alert_to = self._beat_to = 0
        self._report_id = self._incoming_id = self._incoming_from = self._reporter = self._confirmed = self._history_now = 0
        self._report = b""
        self._clear_search()
        self.resume()

    # ---- What changed

    def _lay_out(self) -> None:
        self._tables: List[_Tab] = []
        self._columns: List[_Col] = []
        if self._world.rng:
            self._tables.append(_Tab("", 1, None, 0))
            self._columns += [_Col("", "", 0, 0, None), _Col("RNG", "state", Type.BYTES, 0, None)]
        for of in self._world.tables:
            if of.cls != TableClass.ARCHETYPE:
                continue
            self._tables.append(_Tab(of.label, of.key_parts, of, len(self._columns)))
            self._columns.append(_Col("", "", 0, 0, None))
            self._columns += [_Col(c.component, c.field, c.type, c.scale, c) for c in of.columns]
        self._schema = 0
        for k, t in enumerate(self._tables):
            end = self._tables[k + 1].first if k + 1 < len(self._tables) else len(self._columns)
            t.count = end - t.first
            self._schema = _mix(self._schema + 1 & _U64 ^ _hash(t.label))
            for c in self._columns[t.first + 1:end]:
                self._schema = _mix(_mix(self._schema ^ _hash(c.component)) ^ _hash(c.field))
                self._schema = _mix(self._schema + c.type + (c.scale << 8) & _U64)
        self._sums = [0] * len(self._columns)

    def _capture(self) -> bytes:
        """Notes what changed since the last call."""
        items: List[_Item] = []
        self._past: Optional[Tuple[int, int, _Past]] = None
        for t in self._tables:  # before anything is noted
            if t.of is not None and len(t.of.columns) + 1 != t.count:
                raise ValueError('"%s" has other columns than when the recorder was opened' % t.of.label)
            if t.of is None and not self._world.rng:
                raise ValueError("the RNG is no longer there")
        for t in self._tables:
            if self._marked and self._begun and not t.touched:
                continue
            t.touched = False
            keys = t.of.keys if t.of is not None else (0,)
            same = keys is t.keys or len(keys) == len(t.keys) and keys == t.keys
            for i in range(1, t.count):
                self._compare(t, t.first + i, keys, same, items)
            if same:
                t.keys = keys
                continue
            there, now = set(t.keys), set(keys)
            gone, new = [key for key in t.keys if key not in now], [key for key in keys if key not in there]
            before = self._sums[t.first]
            c = self._columns[t.first]
            self._sums[t.first] = before + sum(c.cell(t.row(key), True) for key in new) - sum(c.cell(t.row(key), True) for key in gone) & _U64
            items.append((t.first, before, gone, [True] * len(gone), new))
            t.keys = keys
            if len(t.rows) > 2 * len(keys) + 64:
                t.rows = {}
        return _packed(items)

    def _compare(self, t: _Tab, number: int, keys: Sequence[Any], same: bool, items: List[_Item]) -> None:
        c = self._columns[number]
        if c.of is None:
            rng = self._world.rng or b""
            blocks = [struct.pack("<BBHII", 4, 0, 0, 1, len(rng)) + rng]
        else:
            blocks = c.of._cells.blocks
        if same and (blocks is c.blocks or blocks == c.blocks):
            return
        old, now = c.before(), c.decoded(blocks)
        before = total = self._sums[number]
        changed: List[Any] = []
        values: List[Any] = []
        if same:
            for key, a, b in zip(keys, old, now):
                if a != b:
                    row = t.row(key)
                    total += c.cell(row, b) - c.cell(row, a)
                    changed.append(key)
                    values.append(a)
        else:
            was, missing = dict(zip(t.keys, old)), object()
            for key, b in zip(keys, now):
                a = was.pop(key, missing)
                if a is missing:
                    total += c.cell(t.row(key), b)
                elif a != b:
                    total += c.cell(t.row(key), b) - c.cell(t.row(key), a)
                    changed.append(key)
                    values.append(a)
            for key, a in was.items():
                total -= c.cell(t.row(key), a)
                changed.append(key)
                values.append(a)
        c.blocks, c.values = blocks, []
        self._sums[number] = total & _U64
        if changed or self._sums[number] != before:
            items.append((number, before, changed, values, []))

    def _leaf(self, sums: Sequence[int], t: _Tab) -> int:
        h = 0
        for s in sums[t.first:t.first + t.count]:
            h = _fold(h, s)
        return h

    def _root(self, sums: Sequence[int]) -> int:
        h = self._schema
        for t in self._tables:
            h = _fold(h, self._leaf(sums, t))
        return h

    def _entry(self, point: int) -> Optional[_Entry]:
        if not self._entries or not 0 <= point - self._entries[0].point < len(self._entries):
            return None
        return self._entries[point - self._entries[0].point]

    def _rebuild(self, point: int, step: int) -> Optional[_Past]:
        """The state at a point, or after a step of the tick before it, None if it is not kept."""
        e = self._entry(point)
        if e is None:
            return None
        if self._past is not None and self._past[:2] == (point, step):
            return self._past[2]
        past = _Past(self)
        for blob in reversed(self._open_blobs()):
            past.undo(blob)
        for later in reversed(self._entries):
            if later is e:
                break
            past.undo(later.last)
            for _, _, blob in reversed(later.steps):
                past.undo(blob)
        if step != _END:
            if not e.whole or step >= len(e.steps):
                return None
            past.undo(e.last)
            for _, _, blob in reversed(e.steps[step + 1:]):
                past.undo(blob)
        self._past = point, step, past
        return past

    def _open_blobs(self) -> List[bytes]:
        return [blob for _, _, blob in self._next.steps] if self._next is not None else []

    # ---- Recording

    def _trim(self) -> None:
        """Forgets ticks that no longer fit."""
        size = self._size + (self._next.size if self._next is not None else 0)
        while self._entries and size > self._budget:
            e = self._entries[0]
            size -= e.size
            self._size -= e.size
            if e.whole and e.size > _ENTRY:
                e.forget()
                size += e.size
                self._size += e.size
            else:
                self._entries.popleft()

    def _records(self, point: int) -> bool:
        return self._status == Status.WATCHING or point <= self._halt

    def tick(self, tick: int, orders: Sequence[Order] = ()) -> None:
        """The orders that a tick is about to apply."""
        if not self._begun:
            raise Refused("tick: there is no state before the tick: state comes first")
        if self._next is not None:
            raise Refused("tick: the tick before has no state yet: state is missing")
        self._skips = not self._records(tick + 1)
        if self._skips:
            return
        if self._entries and tick != self._entries[-1].point:
            raise Refused("tick: another tick is next")
        h = _mix(tick)
        e = _Entry(tick + 1)
        for o in orders:
            kind = self._kind_numbers.get(o.kind)
            if kind is None:
                raise Refused("tick: an order has an unknown kind")
            if len(o.payload) > 4 << 20:
                raise Refused("tick: the payload of an order has more than 4 MiB")
            e.size += 200 + len(o.payload)
            if self._kinds[kind].local:
                continue
            for n in (o.sub_tick, o.player, o.sequence, kind):
                h = _fold(h, n)
            h = _mix(h ^ _hash(o.payload))
        e.orders, e.inputs = list(orders), h
        self._next = e
        self._trim()

    def system(self, name: str) -> None:
        """After a system of the tick, with the state that the World has now."""
        if self._skips:
            return
        if self._next is None:
            raise Refused("system: no tick is begun: tick comes first")
        text = name.encode()
        if not 1 <= len(text) <= 63 or b"\0" in text:
            raise ValueError("system: the name is empty, longer than 63 bytes, or has a NUL")
        if len(self._next.steps) == 256:
            raise Refused("system: a tick has more than 256 systems")
        blob = self._capture()
        self._next.steps.append((text, self._root(self._sums), blob))
        self._next.size += 150 + len(blob)
        self._trim()

    def state(self, point: int) -> None:
        """The state at a point: the one before the orders of the tick of that number."""
        if self._begun and self._skips:
            return
        if self._begun and (self._next is None or self._next.point != point):
            raise Refused("state: the tick before this state is not begun: tick comes first")
        blob = self._capture()
        e = self._next
        if e is None:
            e, blob, self._confirmed = _Entry(point), b"", point
        e.last = blob
        e.size += len(blob)
        e.root = self._root(self._sums)
        e.history = _fold(self._history_now if self._begun else _mix(point), e.root)
        if not self._begun and self._joined:
            e.history = self._joined
        self._joined, self._history_now = 0, e.history
        self._begun, self._next, self._past = True, None, None
        self._entries.append(e)
        self._size += e.size
        self._trim()
        if not self._entries:  # it is larger than what is kept: its state is
            e.forget()
            self._entries.append(e)
            self._size = e.size
        if not self._rolls:
            self._confirmed = point
        self._check()

    def touch(self, label: str) -> None:
        """With marked: the table, or the RNG if the label is empty, may have changed since it was compared last."""
        for t in self._tables:
            if t.label == label.encode():
                t.touched = True

    def rollback(self, point: int) -> None:
        """A game that rolls back calls this before it goes back to a state point: what was kept after it is taken back. At the next call
        the World has a state that follows from that point."""
        e = self._entry(point)
        if not self._rolls:
            raise Refused("rollback: the recorder was opened without rollback")
        if self._skips and self._entries and point > self._entries[-1].point:
            return
        if point < self._confirmed:
            raise Refused("rollback: the state is confirmed")
        past = self._rebuild(point, _END)
        if e is None or past is None:
            raise Refused("rollback: the state is no longer kept")
        for t in self._tables:
            moved = t.first in past.undone
            for i in range(1, t.count):
                c = self._columns[t.first + i]
                if moved or t.first + i in past.undone:
                    d = past.column(t, i)
                    keys = sorted(past.column(t, 0)) if moved else t.keys
                    c.values, c.blocks = [d[key] for key in keys], None
            if moved:
                t.keys = sorted(past.column(t, 0))
        self._sums = past.sums
        while self._entries[-1] is not e:
            self._size -= self._entries.pop().size
        self._next, self._skips, self._past, self._history_now = None, False, None, e.history

    def confirm(self, point: int) -> None:
        """With rollback: states up to a point are final, all their inputs are known. Only these are compared with other peers."""
        if not self._rolls:
            raise Refused("confirm: the recorder was opened without rollback")
        if point < self._confirmed:
            raise Refused("confirm: confirmed points ascend")
        if not self._records(point):
            return
        if not self._entries or point > self._entries[-1].point:
            raise Refused("confirm: there is no state of this point yet")
        self._confirmed = point
        self._check()

    def holds(self) -> Holds:
        first, last = (self._entries[0].point, self._entries[-1].point) if self._entries else (0, 0)
        return Holds(first, last, self._size, self._budget, self._size)

    def hash(self, point: int) -> Optional[int]:
        """The hash of the state at a point, None if it is not kept."""
        e = self._entry(point)
        return e.root if e is not None else None

    def history(self, point: int) -> Optional[int]:
        """The hash of all states up to a point, None if it is not kept."""
        e = self._entry(point)
        return e.history if e is not None else None

    def resume(self) -> None:
        """Goes on recording after a report: the next call is state. All peers do so at the same point, with the same state, such as
        after a load."""
        self._status, self._stage, self._begun, self._skips, self._next = Status.WATCHING, 0, False, False, None
        self._entries.clear()
        self._size, self._report, self._incoming_size, self._queue, self._ack, self._restarts = 0, b"", 0, [], False, 0
        self._incoming: Dict[int, bytes] = {}
        self._halt, self._beat_history, self._beat_point, self._past = 1 << 64, 0, 0, None
        self._sums = [0] * len(self._columns)
        for t in self._tables:
            t.keys = []
        for c in self._columns:
            c.blocks, c.values = [], []
        for p in self._peers:
            p.beat = p.gone = p.foreign = p.shares = False
            p.sent = 0
