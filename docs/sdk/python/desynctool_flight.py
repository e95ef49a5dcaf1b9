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

import array
import enum
import marshal
import os
import struct
import sys
import zlib
from collections import deque
from dataclasses import dataclass
from typing import Any, Deque, Dict, List, NamedTuple, Optional, Sequence, Tuple

from desynctool import (Checkpoint, Order, OrderKind, OrderLog, Point, Recorder, Refused, Session, Sum, TableClass, Trace, Type, World, crc32c,
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
_STATUS, _HISTORY, _STEPS, _TABLES, _COLUMNS, _BUCKETS, _ROWS, _NAMING = range(1, 9)
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


_LANES = 1024
_LOW = int.from_bytes((b"\xff" * 8 + bytes(8)) * _LANES, "little")
_ONES = _LOW // _U64


def _lanes(numbers: Sequence[int]) -> int:
    """Numbers of 64 bits as one large number: each has 128 bits of it."""
    a = array.array("Q", bytes(16 * len(numbers)))
    a[::2] = array.array("Q", numbers)
    if sys.byteorder == "big":
        a.byteswap()
    return int.from_bytes(a.tobytes(), "little")


def _mix_lanes(x: int, low: int) -> int:
    x = ((x ^ x >> 32) & low) * 0xD6E8FEB86659FD93 & low
    x = ((x ^ x >> 29) & low) * 0x9E3779B97F4A7C15 & low
    return (x ^ x >> 32) & low


def _cells(rows: Sequence[int], numbers: Sequence[int]) -> int:
    """The sum of the cells: what `_Col.cell` adds for each row and number. Python calculates with all of them at once."""
    total = 0
    if len(rows) < 16:
        for row, n in zip(rows, numbers):
            total += _mix(row + _mix(n + 0x8EBC6AF09C88C6E3 & _U64) & _U64)
        return total
    for at in range(0, len(rows), _LANES):
        part = _lanes(rows[at:at + _LANES])
        spare = 128 * max(0, _LANES - (len(rows) - at))
        low = _LOW >> spare
        x = _mix_lanes(_lanes(numbers[at:at + _LANES]) + (_ONES >> spare) * 0x8EBC6AF09C88C6E3 & low, low)
        x = _mix_lanes(part + x & low, low)
        half = 64 * _LANES
        while half >= 128:  # the upper half of the lanes is added to the lower one
            x = (x >> half) + (x & (1 << half) - 1)
            half //= 2
        total += x
    return total


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

    def cells(self, t: _Tab, keys: Sequence[Any], values: Sequence[Any]) -> int:
        """What the values add to the sum of a column that is not the identity."""
        if None in values:
            keys = [key for key, v in zip(keys, values) if v is not None]
            values = [v for v in values if v is not None]
        rows: List[Any] = list(map(t.rows.get, keys))
        if None in rows:
            rows = list(map(t.row, keys))
        return _cells(rows, list(map(_hash, values)) if self.text else values)

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


def _short(text: bytes) -> bytes:
    return bytes((min(len(text), 255),)) + text[:255]


def _described(t: "_Tab", c: "_Col") -> bytes:
    """What a column is, as in a report."""
    return _short(t.label) + _short(c.component) + _short(c.field) + struct.pack("<BI", c.type, c.scale)


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
        self._measured = False  # the estimate of answers is no guess
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
            at = [i for i, (a, b) in enumerate(zip(old, now)) if a != b]
            changed, values = [keys[i] for i in at], [old[i] for i in at]
            total += c.cells(t, changed, [now[i] for i in at]) - c.cells(t, changed, values)
        else:
            was, missing = dict(zip(t.keys, old)), object()
            came: List[Any] = []
            found: List[Any] = []
            for key, b in zip(keys, now):
                a = was.pop(key, missing)
                if a is missing or a != b:
                    came.append(key)
                    found.append(b)
                if a is not missing and a != b:
                    changed.append(key)
                    values.append(a)
            changed += was
            values += was.values()
            total += c.cells(t, came, found) - c.cells(t, changed, values)
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

    # ---- Answers: they depend on the question and on what is kept, on nothing else

    def _value(self, c: _Col, v: Any) -> bytes:
        if v is None:
            return b"\0"
        if not c.type:
            return b"\1\0"
        if not c.text:
            return bytes((1, c.width)) + v.to_bytes(c.width, "little")
        if len(v) <= _VALUE:
            return bytes((1, len(v))) + v
        return bytes((2, _VALUE)) + v[:_VALUE] + struct.pack("<IQ", min(len(v), 0xFFFFFFFF), _hash(v))

    def _answer_rows(self, p: _Part, t: _Tab, past: _Past, room: int) -> bytes:
        c = self._columns[t.first + p.column]
        rows = sorted((t.row(key), key) for key in past.column(t, 0))
        column = past.column(t, p.column)
        out = bytearray(1)
        for row, key in rows:
            if row < p.start or not _in(row, p.start, p.depth):
                continue
            one = struct.pack("<QQ", *t.pair(key)) + self._value(c, column[key])
            if len(out) + len(one) > room:
                out[0] = 1
                break
            out += one
        return bytes(out)

    def _answer_tables(self, p: _Part, room: int) -> Tuple[int, bytes]:
        if p.point > self._confirmed:
            return _NOT_YET, b""
        past = self._rebuild(p.point, p.step)
        if past is None:
            return _FELL_OUT, b""
        if p.what == _TABLES:
            leaves = [past.leaf(t) for t in self._tables[p.start:p.start + (room - 4) // 8]]
            return _OK, struct.pack("<I%dQ" % len(leaves), len(self._tables), *leaves)
        if p.table >= len(self._tables):
            return _NONE, b""
        t = self._tables[p.table]
        if p.what == _COLUMNS:
            sums = past.sums[t.first:t.first + t.count][p.start:p.start + (room - 8) // 8]
            return _OK, struct.pack("<II%dQ" % len(sums), len(past.column(t, 0)), t.count, *sums)
        if p.column >= t.count or p.depth > 10:
            return _NONE, b""
        if p.what == _BUCKETS and p.depth < 10:
            c, buckets = self._columns[t.first + p.column], [0] * 64
            for key, v in past.column(t, p.column).items():
                row = t.row(key)
                if _in(row, p.start, p.depth):
                    buckets[row >> 58 - 6 * p.depth & 63] += c.cell(row, v)
            return _OK, struct.pack("<64Q", *(b & _U64 for b in buckets))
        if p.what == _NAMING:
            return _OK, _described(t, self._columns[t.first + p.column])
        if p.what != _ROWS:
            return _NONE, b""
        return _OK, self._answer_rows(p, t, past, room)

    def _answer_part(self, p: _Part, room: int = _BODY - 2) -> Tuple[int, bytes]:
        """The state of an answer to a part of a question, and what belongs to it."""
        if p.what == _STATUS:
            there = bool(self._entries)
            first = self._entries[0].point if there else 0
            return (_OK if there else _FELL_OUT), struct.pack("<QQB", first, self._confirmed if there else 0, bool(self._report))
        if p.what not in (_HISTORY, _STEPS):
            return self._answer_tables(p, room)
        if p.point > self._confirmed:
            return _NOT_YET, b""
        e = self._entry(p.point)
        if e is None:
            return _FELL_OUT, b""
        out = bytearray()
        if p.what == _HISTORY:
            point = p.point
            for _ in range(p.count):
                e = self._entry(point)
                if e is None or point > self._confirmed or room - len(out) < 16:
                    break
                out += struct.pack("<QQ", e.history, e.root) if p.start == 1 else struct.pack("<Q", e.history)
                point += p.start
            return _OK, bytes(out)
        out += struct.pack("<QH", e.inputs, len(e.steps))
        for name, root, _ in e.steps[p.start:]:
            if len(out) + 9 + len(name) > room:
                break
            out += bytes((len(name),)) + name + struct.pack("<Q", root)
        return _OK, bytes(out)

    # ---- Asking. Stages are numbered like what is asked; 0 is idle, 8 hands the report out.

    _IDLE, _SHARE = 0, 8

    def _clear_search(self) -> None:
        self._rounds = self._spent = self._flags = self._point = self._step_number = self._silent = 0
        self._full = self._older = False
        self._groups: List[_Group] = []
        self._step, self._step_name = _END, b""
        self._tables_differ = self._columns_differ = 0
        self._listed: List[_Listed] = []
        self._work: Deque[Tuple[int, int, int, int]] = deque()
        self._found: List[Tuple[int, int, int, bytes]] = []
        self._found_size = 0
        self._parts: List[_Part] = []
        self._answers: Dict[Tuple[int, int], Tuple[int, bytes]] = {}
        self._oldest = self._common = self._top = self._low = self._high = self._stride = 0

    def _read(self, peer: int, part: int) -> _Reader:
        state, data = self._answers.get((peer, part), (_NONE, b""))
        return _Reader(data if state == _OK else b"")

    def _add(self, what: int, **of: int) -> None:
        p = _Part(len(self._parts), what, point=self._point, step=self._step)
        for name, value in of.items():
            setattr(p, name, value)
        self._parts.append(p)

    def _ask(self, stage: int) -> None:
        """Asks all peers, or from the steps on one peer of each group, and answers for this peer itself."""
        self._stage = stage
        self._counter += 1
        self._id = self._me << 24 | self._counter & 0xFFFFFF
        self._rounds += 1
        self._answers = {}
        ones = [g.peer for g in self._groups]
        for i, p in enumerate(self._peers):
            p.asks = not p.gone and not p.foreign if stage <= _HISTORY else i in ones
            p.answered, p.asked, p.late, p.since = 0, 0, 0, self._now
            if p.asks and i == self._me:
                for k, part in enumerate(self._parts):
                    self._answers[i, k] = self._answer_part(part)
                p.answered = (1 << len(self._parts)) - 1

    def _ask_history(self) -> None:
        span = self._high - self._low
        self._parts = []
        self._stride = 1 if span <= 60 else 2 if span <= 120 else -(-span // 120)
        self._add(_HISTORY, point=self._low, start=self._stride, count=-(-span // self._stride))
        self._ask(_HISTORY)

    def _ask_latest(self) -> None:
        """Asks for the next points that some do not have."""
        self._high = min(self._low + 60, self._top)
        self._ask_history()

    def _asked(self) -> List[int]:
        return [i for i, p in enumerate(self._peers) if p.asks and not p.gone]

    def _after_status(self) -> None:
        """The points that some peers do not have yet are compared first, one by one; at all points before these the peers can be compared
        by halves."""
        firsts, ends = [], []
        for i in self._asked():
            r = self._read(i, 0)
            first, last = r.number(8), r.number(8)
            if not r.bad and first <= last < _U64:
                firsts.append(first)
                ends.append(last + 1)
        if len(ends) < 2:
            if any(p.foreign for p in self._peers):
                self._flags |= _OTHER_STATE
                self._share()
            else:
                self._stage, self._status = self._IDLE, Status.SILENT
            return
        self._oldest = max(firsts)
        self._common = max(min(ends) - 1, self._oldest)
        self._top = max(sorted(ends)[-2], self._common + 1)
        self._low = self._common
        self._ask_latest()

    def _grouped(self, k: int) -> None:
        """Makes groups of the peers by their histories at the point, which is number k of the answers."""
        groups: List[_Group] = []
        for i in self._asked():
            r = self._read(i, 0)
            r.bytes(16 * k)
            history, root = r.number(8), r.number(8)
            if r.bad:
                continue
            of = next((g for g in groups if g.history == history), None)
            if of is None:
                if len(groups) == _GROUPS:
                    continue
                of = _Group(i, history, root)
                groups.append(of)
            of.members |= 1 << i
        self._groups = groups
        self._silent = (1 << len(self._peers)) - 1
        for g in groups:
            self._silent &= ~g.members

    def _after_history(self) -> None:
        each, count = 16 if self._stride == 1 else 8, self._parts[0].count
        asked = self._asked()
        for k in range(count):
            seen = set()
            for i in asked:
                r = self._read(i, 0)
                r.bytes(each * k)
                history = r.number(8)
                if not r.bad:
                    seen.add(history)
            if len(seen) < 2:
                continue
            if k == 0 and self._low == self._common and self._low > self._oldest and not self._older:
                self._older, self._high, self._low = True, self._low + 1, self._oldest  # among the points before
                return self._ask_history()
            if self._stride > 1:
                self._high = self._low + k * self._stride + 1
                self._low = self._low + (k - 1) * self._stride + 1 if k else self._low
                return self._ask_history()
            self._point, self._step = self._low + k, _END
            if self._point == self._oldest:
                self._flags |= _LOST
            self._grouped(k)
            return self._ask_tables() if self._flags & _LOST else self._ask_steps(0)
        after = self._low + (count - 1) * self._stride + 1
        if self._stride > 1 and after < self._high:
            self._low = after
            return self._ask_history()
        if not self._older and self._high < self._top and self._rounds < _ROUNDS // 2:
            self._low = self._high
            return self._ask_latest()
        self._grouped(0)  # nothing differs: who answered is all that is known
        self._groups = []
        self._share()

    def _ask_steps(self, start: int) -> None:
        self._parts, self._step_number = [], start
        self._add(_STEPS, start=start)
        self._ask(_STEPS)

    def _after_steps(self) -> None:
        readers = [self._read(g.peer, 0) for g in self._groups]
        total = 1 << 16
        for g, r in zip(self._groups, readers):
            g.inputs = r.number(8)
            total = min(total, r.number(2))
            if r.bad:
                total = 0
        for k in range(self._step_number, total):
            names = []
            for g, r in zip(self._groups, readers):
                names.append(r.text())
                g.step_root = r.number(8)
                if r.bad or len(names[-1]) >= 64 or names[-1] != names[0]:
                    if k > self._step_number:
                        return self._ask_steps(k)  # the rest of them
                    names = []
                    break
            if not names:
                break
            if len({g.step_root for g in self._groups}) > 1:
                self._step, self._step_name = k, names[0]
                break
        if self._step == _END:
            for g in self._groups:
                g.step_root = g.root
        self._ask_tables()

    def _ask_tables(self) -> None:
        self._parts = []
        for start in range(0, len(self._tables), (_BODY - 6) // 8):
            if len(self._parts) + 1 >= _PARTS:
                break
            self._add(_TABLES, start=start, step=_END)
            if self._step != _END:
                self._add(_TABLES, start=start)
        self._ask(_TABLES)

    def _differ(self, part: int, skip: int) -> Tuple[bool, bool]:
        """Whether a number of the groups' answers to a part differs, after some bytes, and whether one lacks."""
        seen, bad = set(), False
        for g in self._groups:
            r = self._read(g.peer, part)
            r.bytes(skip)
            seen.add(r.number(8))
            bad = bad or r.bad
        return len(seen) > 1, bad

    def _after_tables(self) -> None:
        most = _PARTS if self._step == _END else _PARTS // 2
        found: List[Tuple[int, int]] = []
        self._tables_differ = 0
        for part, p in enumerate(self._parts):
            for i in range(min((_BODY - 6) // 8, len(self._tables) - p.start)):
                differs, bad = self._differ(part, 4 + 8 * i)
                if bad:
                    self._flags |= _CUT
                if not differs:
                    continue
                self._tables_differ += p.step == _END
                if sum((step == _END) == (p.step == _END) for step, _ in found) == most:
                    self._flags |= _CUT
                else:
                    found.append((p.step, p.start + i))
        if not found:
            return self._share()
        self._parts = []
        for step, table in found:
            self._add(_COLUMNS, step=step, table=table)
        self._ask(_COLUMNS)

    def _push(self, listed: int, depth: int, start: int, rows: int) -> None:
        if len(self._work) == _WORK:
            self._flags |= _CUT
            self._listed[listed].broken = True
            return
        self._work.append((listed, depth, start, rows))
        self._listed[listed].pending += 1

    def _ask_rows(self) -> None:
        """Asks for the next ranges: a small one for its rows, a large one for the sums of its parts."""
        if not self._work or self._rounds >= _ROUNDS - 1 or self._full or self._spent == _SPENT:
            return self._share()
        self._parts = []
        while self._work and len(self._parts) < _PARTS and self._spent < _SPENT:
            listed, depth, start, rows = self._work.popleft()
            of = self._listed[listed]
            size = self._columns[self._tables[of.table].first + of.column].size
            what = _ROWS if rows * (18 + size) < _BODY or depth >= 10 else _BUCKETS
            self._add(what, table=of.table, column=of.column, depth=depth, start=start, step=_END, count=listed)
            self._spent += 1
            of.pending -= 1
        self._ask(_ROWS)

    def _after_columns(self) -> None:
        self._columns_differ, self._found_size = 0, 0
        self._listed, self._found = [], []
        self._work.clear()
        for part, p in enumerate(self._parts):
            rows = max((self._read(g.peer, part).number(4) for g in self._groups), default=0)
            for i in range(self._tables[p.table].count):
                differs, bad = self._differ(part, 8 + 8 * i)
                if bad:
                    self._flags |= _CUT
                if bad or not differs:
                    continue
                at = next((n for n, of in enumerate(self._listed) if (of.table, of.column) == (p.table, i)), len(self._listed))
                if at == len(self._listed):
                    self._columns_differ += 1
                    if at == _LISTED:
                        self._flags |= _CUT
                        continue
                    self._listed.append(_Listed(p.table, i))
                if p.step != _END:
                    self._listed[at].first = True
                else:
                    self._push(at, 0, 0, rows)
        self._ask_rows()

    def _rows(self, part: int, p: _Part) -> None:
        of = self._listed[p.count]
        bound, more = _U64, False
        answers: List[Dict[int, Tuple[int, int, Tuple[int, bytes, bytes]]]] = []
        for g in self._groups:  # up to where all of them have answered
            r = self._read(g.peer, part)
            cut = r.number(1)
            rows: Dict[int, Tuple[int, int, Tuple[int, bytes, bytes]]] = {}
            last = -1
            for row in iter(r.row, None):
                if row[0] < p.start or not _in(row[0], p.start, p.depth) or row[0] <= last:
                    r.bad = True  # of another range, or twice: nobody answers like that
                last = row[0]
                rows[last] = row[1:]
            if r.bad:
                self._flags |= _CUT
                of.broken = True
                return
            if cut:
                bound, more = min(bound, max(last, 0)), True
            answers.append(rows)
        for h in sorted(set().union(*answers)):  # type: ignore[arg-type]
            if h > bound:
                break
            for key in dict.fromkeys(rows[h][:2] for rows in answers if h in rows):
                values = [rows[h][2] if h in rows and rows[h][:2] == key else (3, b"", b"\3") for rows in answers]
                there = [v for v in values if v[0] != 3]
                both = len(there) == len(values)
                if both and (not of.column or all(_same(v, there[0]) for v in there)):
                    continue
                content = struct.pack("<QQ", *key) + b"".join(v[2] for v in values)
                if self._found_size + 1 + len(content) > self._found_cap:
                    self._full = of.broken = True
                    self._flags |= _CUT
                    return
                of.all += 1
                if not of.column or both:
                    of.rows += 1  # that a row is on one side only is the identity's
                self._found.append((p.count, key[0], key[1], content))
                self._found_size += 1 + len(content)
        if more and bound < _U64 and _in(bound + 1, p.start, p.depth) and bound >= p.start:
            self._push(p.count, p.depth, bound + 1, 1)

    def _after_rows(self) -> None:
        for part, p in enumerate(self._parts):
            if p.what == _ROWS:
                self._rows(part, p)
                continue
            rows = len(self._tables[p.table].keys) >> 6 * (p.depth + 1)
            parent = p.start >> 64 - 6 * p.depth << 64 - 6 * p.depth
            for i in range(64):
                differs, bad = self._differ(part, 8 * i)
                if bad:
                    self._flags |= _CUT
                if differs:
                    self._push(p.count, p.depth + 1, parent | i << 58 - 6 * p.depth, rows + rows // 2 + 1)
        self._ask_rows()

    # ---- The report

    def _share_with(self, peer: int) -> None:
        """Begins to send the report to a peer."""
        self._stage = self._SHARE
        p = self._peers[peer]
        p.got, p.chunk, p.late, p.since, p.asked, p.shares = 0, 0, 0, self._now, 0, True

    def _share(self) -> None:
        """Makes the report of what was found, and begins to hand it out."""
        shown: List[Tuple[int, _Listed]] = []
        for n, of in enumerate(self._listed):
            identity = next((i for i in self._listed if i.table == of.table and not i.column), None)
            if identity is not None and of.column and (identity.first or not of.rows and not of.cut):
                of.first = False  # it may be that only rows of one side differ
            if of.cut:
                self._flags |= _CUT
            if of.all or of.cut or of.first:
                shown.append((n, of))
            if not of.rows and not of.cut and not of.first:
                self._columns_differ -= 1
        out = bytearray(b"DFR\x01" + struct.pack("<BQQH", self._flags, self._seed, self._point if self._groups else 0, self._step))
        out += _short(self._step_name) + struct.pack("<QB", self._silent, len(self._groups))
        for g in self._groups:
            out += struct.pack("<QQQQ", g.members, g.root, g.step_root, g.inputs)
        out += struct.pack("<IIB", self._tables_differ, self._columns_differ & 0xFFFFFFFF, len(shown))
        for n, of in shown:
            t = self._tables[of.table]
            c = self._columns[t.first + of.column]
            out += _described(t, c) + struct.pack("<BII", of.cut | of.first << 1, of.rows + of.pending, of.all)
            for found in sorted(found for found in self._found if found[0] == n):
                out += found[3]
        self._report, self._report_id, self._reporter, self._status = bytes(out), self._id, self._me, Status.FOUND
        for i in range(len(self._peers)):
            self._share_with(i)

    # ---- The exchange

    def _begin(self) -> None:
        self._clear_search()
        self._add(_STATUS)
        self._ask(_STATUS)

    def _noticed(self, point: int, history: int) -> None:
        """Another peer has, or says that it has, another state: what is kept now is kept."""
        if self._status != Status.WATCHING:
            return
        self._status = Status.ASKING
        self._halt = min(point, (self._entries[-1].point if self._entries else 0) + 64)
        self._started, self._alert_point, self._alert_history, self._alert_to, self._alerted = self._now, point, history, 0, 0
        for p in self._peers:
            p.gone = False

    def _check(self) -> None:
        """Compares what peers have sent with the states that are known now, and sends own ones."""
        every = len(self._peers) * 3 // 2 if len(self._peers) > 16 else 16
        if self._status != Status.WATCHING:
            return
        if self._confirmed // every != self._beat_point // every or not self._beat_history:
            e = self._entry(self._confirmed // every * every)
            if e is not None:
                self._beat_point, self._beat_history, self._beat_to = e.point, e.history, 0
        for p in self._peers:
            if not p.beat or p.point > self._confirmed:
                continue
            p.beat = False
            e = self._entry(p.point)
            if e is not None and e.history != p.history:
                self._noticed(p.point, e.history)

    def differs(self, point: int) -> None:
        """The game itself found that the state at a point differs from the state of other peers. A peer's packet does the same."""
        if not self._begun:
            raise Refused("differs: there is no state yet: state comes first")
        self._noticed(point, self.history(point) or 0)

    def _poll(self) -> None:
        """Goes on where answers are there, or will not come."""
        if self._status == Status.ASKING and self._stage == self._IDLE:
            if all(self._now - max(p.heard, self._started) >= _WAIT for p in self._peers[:self._me]):
                self._begin()  # all that ask before this peer are silent
        after = {_STATUS: self._after_status, _HISTORY: self._after_history, _STEPS: self._after_steps, _TABLES: self._after_tables,
                 _COLUMNS: self._after_columns, _ROWS: self._after_rows}
        while self._stage not in (self._IDLE, self._SHARE):
            for i, p in enumerate(self._peers):
                if not p.asks or p.gone or p.answered == (1 << len(self._parts)) - 1:
                    continue
                if self._now - p.since < max(_WAIT, self._rto * 16):
                    return
                p.gone = True
                if self._stage > _HISTORY and any(g.peer == i for g in self._groups):
                    self._restarts += 1
                    if self._restarts <= 2 * PEERS:
                        self._begin()  # another peer of its group will do
                if self._stage == _STATUS:
                    return
            after[self._stage]()

    def _got_question(self, sender: int, id: int, r: _Reader) -> None:
        if self._peers[sender].sent > _MOST:
            return
        at = next((i for i, q in enumerate(self._queue) if q[0] == sender), len(self._queue))
        if at == _QUEUE or at < len(self._queue) and self._queue[at][1] == id:
            return
        count = r.number(1)
        if not 1 <= count <= _PARTS:
            return
        data = r.bytes(count * _PART.size)
        if r.bad:
            return
        if self._report:
            return self._share_with(sender)  # which is the answer to all questions
        self._queue[at:at + 1] = [(sender, id, deque(_Part(*part) for part in _PART.iter_unpack(data)))]
        self._noticed(self._confirmed, 0)
        if self._status == Status.SILENT:
            self._status, self._started = Status.ASKING, self._now
        self._alerted = self._now  # somebody asks: no need to call
        if self._stage not in (self._IDLE, self._SHARE) and sender < self._me:
            self._stage = self._IDLE

    def _got_answer(self, sender: int, id: int, r: _Reader) -> None:
        p = self._peers[sender]
        part, state = r.number(1), r.number(1)
        if r.bad or self._stage in (self._IDLE, self._SHARE) or id != self._id or not p.asks or p.gone:
            return
        if part >= len(self._parts) or p.answered >> part & 1:
            return
        self._answers[sender, part] = state, r.data[r.at:]
        if not p.answered and not p.late:  # asked once: this is how long it takes
            took = self._now - p.asked
            took = min(took + took // 4 + 50, 1000)
            self._rto = took if took > self._rto else self._rto - (self._rto - took) // 8
            self._measured = True
        p.answered |= 1 << part
        p.since = self._now

    def _got_report(self, sender: int, id: int, r: _Reader) -> None:
        chunk, size = r.number(2), r.number(4)
        data, chunks = r.data[r.at:], -(-size // _CHUNK)
        if r.bad or not 0 < size <= _CHUNK * _CHUNKS or chunk >= chunks or len(data) != min(size - chunk * _CHUNK, _CHUNK):
            return
        if (id, sender, size) != (self._incoming_id, self._incoming_from, self._incoming_size):
            heard = self._peers[self._incoming_from].heard
            if self._incoming_size and self._now - heard < _WAIT and sender > self._incoming_from:
                return
            self._incoming = {}
            self._incoming_id, self._incoming_from, self._incoming_size = id, sender, size
        self._incoming[chunk] = data
        self._ack = True
        if len(self._incoming) < chunks or self._status == Status.FOUND:
            return
        report = b"".join(self._incoming[i] for i in range(chunks))
        if not self._readable(report):
            return
        self._noticed(self._confirmed, 0)
        self._report, self._report_id, self._reporter, self._status = report, id, sender, Status.FOUND
        if self._stage != self._IDLE:
            for i in range(len(self._peers)):
                self._share_with(i)  # it was asking the others

    def receive(self, sender: int, packet: bytes) -> None:
        """Takes a packet that a peer sent, whatever its content."""
        if not _HEAD + 4 <= len(packet) <= PACKET or not 0 <= sender < len(self._peers) or sender == self._me or not self._begun:
            return
        packet = bytes(packet)
        if packet[:3] != b"DF\1" or struct.unpack_from("<Q", packet, 4)[0] != self._seed or \
                crc32c(packet[:-4]) != int.from_bytes(packet[-4:], "little"):
            return
        kind, (schema, id) = packet[3], struct.unpack_from("<II", packet, 12)
        r, p = _Reader(packet[:-4], _HEAD), self._peers[sender]
        p.heard = self._now
        if schema != self._schema & 0xFFFFFFFF:
            p.foreign = True
            self._noticed(self._confirmed, 0)
            if kind not in (_REPORT, _GOT):
                return
        if kind == _BEAT:
            point, history = r.number(8), r.number(8)
            if r.bad or p.beat and self._confirmed < p.point <= point:
                return  # the earliest that is to come
            p.beat, p.point, p.history = True, point, history
            self._check()
        elif kind == _ALERT:
            point = r.number(8)
            if not r.bad:
                self._noticed(point, 0)
        elif kind == _QUESTION:
            self._got_question(sender, id, r)
        elif kind == _ANSWER:
            self._got_answer(sender, id, r)
        elif kind == _REPORT:
            self._got_report(sender, id, r)
        elif kind == _GOT and self._stage == self._SHARE and id == self._report_id:
            got = r.number(_CHUNKS // 8)
            if not r.bad:
                p.got, p.since = got, self._now

    def _packet(self, to: int, kind: int, id: int, content: bytes) -> Tuple[int, bytes]:
        b = b"DF\1" + struct.pack("<BQII", kind, self._seed, self._schema & 0xFFFFFFFF, id) + content
        return to, b + struct.pack("<I", crc32c(b))

    def _send_answer(self) -> Optional[Tuple[int, bytes]]:
        to, id, parts = self._queue[0]
        p = parts.popleft()
        if not parts:
            self._queue.pop(0)
        state, content = self._answer_part(p)
        if state == _NOT_YET and self._confirmed < self._halt < 1 << 64:
            return None  # it may come: let them ask again
        self._peers[to].sent += _HEAD + 2 + len(content)
        return self._packet(to, _ANSWER, id, bytes((p.index, state)) + content)

    def _send_question(self) -> Optional[Tuple[int, bytes]]:
        for i, p in enumerate(self._peers):
            lacks = [part.pack() for k, part in enumerate(self._parts) if not p.answered >> k & 1]
            if i == self._me or not p.asks or p.gone or not lacks or p.asked and self._now - p.asked < self._rto:
                continue
            p.late += p.asked > 0
            p.asked = self._now
            return self._packet(i, _QUESTION, self._id, bytes((len(lacks),)) + b"".join(lacks))
        return None

    def _send_report(self) -> Optional[Tuple[int, bytes]]:
        chunks = -(-len(self._report) // _CHUNK)
        for i, p in enumerate(self._peers):
            if i == self._me or not p.shares or self._now - p.since > 3 * _WAIT:
                continue
            lacks = [n for n in range(chunks) if not p.got >> n & 1]
            chunk = next((n for n in lacks if n >= p.chunk), None)
            if chunk is None:
                p.chunk = chunks
                if not lacks or self._now - p.asked < (2 * self._rto if self._measured else 2000) << min(p.late // 8, 20):
                    continue
                p.late += 1
                chunk = lacks[0]  # once more, with what it lacks
            p.asked = self._now
            p.chunk = chunk + 1 if p.got or not p.late else chunks  # nothing is known to have arrived: the first chunk asks for more
            data = struct.pack("<HI", chunk, len(self._report)) + self._report[chunk * _CHUNK:(chunk + 1) * _CHUNK]
            p.sent += _HEAD + len(data)
            return self._packet(i, _REPORT, self._report_id, data)
        return None

    def _next_peer(self, after: int) -> Optional[int]:
        to = after + (after == self._me)
        return to if to < len(self._peers) else None

    def send(self, milliseconds: int) -> Optional[Tuple[int, bytes]]:
        """The number of a peer and the next packet that is to be sent to it, None if there is none now. The clock is any that counts
        milliseconds; it must not go back."""
        if not self._begun:
            return None
        if milliseconds + 1 > self._now:  # 0 is no time
            if self._started == self._now and self._status == Status.ASKING:
                self._started = milliseconds + 1
            self._now = milliseconds + 1
        self._poll()
        if self._ack:
            self._ack = False
            got = sum(1 << chunk for chunk in self._incoming)
            return self._packet(self._incoming_from, _GOT, self._incoming_id, got.to_bytes(_CHUNKS // 8, "little"))
        while self._queue:
            packet = self._send_answer()
            if packet is not None:
                return packet
        if self._status == Status.ASKING:
            if self._stage == self._IDLE and self._alerted and self._now - self._alerted > 1000:
                self._alert_to = 0
            to = self._next_peer(self._alert_to)
            if to is not None:
                self._alert_to, self._alerted = to + 1, self._now
                return self._packet(to, _ALERT, 0, struct.pack("<QQ", self._alert_point, self._alert_history))
            if self._stage != self._IDLE:
                return self._send_question()
        if self._stage == self._SHARE:
            return self._send_report()
        if self._status == Status.WATCHING and self._beat_history:
            to = self._next_peer(self._beat_to)
            if to is not None:
                self._beat_to = to + 1
                return self._packet(to, _BEAT, 0, struct.pack("<QQ", self._beat_point, self._beat_history))
        return None

    @property
    def status(self) -> Status:
        return self._status

    @property
    def report(self) -> Optional[bytes]:
        """The report, the same on all peers; docs/exchange.md has its form. None if there is none."""
        return self._report or None

    # ---- The report as text and as files

    def _readable(self, data: bytes) -> bool:
        """Whether all of a report can be read: it may come from any source."""
        r = _Reader(data)
        h = _Head(r)
        if any(g[0] >> len(self._peers) for g in h.groups):
            r.bad = True
        for _ in range(h.listed):
            if not r.bad:
                _List(r).skip(r, len(h.groups))
        return len(data) >= 8 and not r.bad and r.ends

    def _said(self, members: int) -> str:
        names = [_escaped(name.encode()) for i, name in enumerate(self._names) if members >> i & 1]
        n = bin(members).count("1")
        if n > 5 and len(names) > 4:
            return "%s and %d more" % (", ".join(names[:4]), n - 4)
        return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else "".join(names)

    def _first_sentence(self, h: _Head) -> str:
        if not h.groups:
            return "The peers describe their states otherwise: they run different builds.\n" if h.flags & _OTHER_STATE else \
                "The states that the peers still have do not differ.\n"
        out = ""
        several = any(g[0] & g[0] - 1 for g in h.groups)  # peers are of one group
        for n, g in enumerate(h.groups):
            out += ("" if not n else " against " if several else " and " if n + 1 == len(h.groups) else ", ") + self._said(g[0])
        lost = h.flags & _LOST
        out += " have different states %s tick %d" % ("at" if lost else "since", h.point if lost else max(h.point - 1, 0))
        if h.name:
            out += ", system " + _escaped(h.name)
        if lost:
            out += ", the first that all of them still have"
        best: Optional[_List] = None
        others = 0
        r = _Reader(self._report)
        _Head(r)
        for _ in range(h.listed):
            of = _List(r)
            of.skip(r, len(h.groups))
            if not of.at_least and not of.flags:
                continue
            others += of.flags & 2 != 0 or h.step == _END
            if best is None or of.flags & 2 > best.flags & 2 or of.flags & 2 == best.flags & 2 and not best.label:
                best = of
        if best is not None:
            out += ": %s %s" % (best.name, "differs" if best.type else "differ")
            if best.label and best.at_least:
                out += (" in at least " if best.flags & 1 else " in ") + _count(best.at_least, "row")
            if others > 1:
                out += ", and " + _count(others - 1, "more column")
        out += ".\n"
        return out + ("The orders of that tick differ.\n" if len({g[3] for g in h.groups}) > 1 else "")

    def text(self) -> str:
        """The report as text, for the game's log and its screen: a sentence, then what differs. Empty without a report. Control characters
        of names and values are escaped."""
        if not self._report:
            return ""
        r = _Reader(self._report)
        h = _Head(r)
        out = [self._first_sentence(h)]
        for _ in range(h.listed):
            of = _List(r)
            if of.at_least or of.flags:
                out.append("%s: %s%s%s\n" % (of.name, "at least " if of.flags & 1 else "", _count(of.at_least, "row"),
                                             ", differs first" if of.flags & 2 and h.name else ""))
            for _ in range(of.rows):
                key, key2, values = r.number(8), r.number(8), [r.value() for _ in h.groups]
                if of.type and any(v[0] == 3 for v in values):
                    continue
                said = ", ".join("%s on %s" % (of.shown(v), self._said(g[0])) for v, g in zip(values, h.groups))
                out.append("  #%d%s%s\n" % (key, "/%d" % key2 if key2 else "", " " + said if said else ""))
        if h.flags & _CUT:
            out.append("More differs than is listed.\n")
        if h.silent:
            out.append("Not known of %s.\n" % self._said(h.silent))
        out.append("Found by %s; each peer's values are its own word.\n" % self._said(1 << self._reporter))
        return "".join(out)

    def _world_of(self, past: _Past) -> World:
        """The world whose values are those of a state that was rebuilt."""
        w = World()
        for t in self._tables:
            if t.of is None:
                w.rng = past.column(t, 1).get(0, b"")
                continue
            made = w.archetype(t.of.label, t.parts)
            keys = sorted(past.column(t, 0))
            lists: List[List[Any]] = []
            for i in range(1, t.count):
                c = self._columns[t.first + i]
                made.column(c.of.component, c.of.field, c.of.type, c.of.scale)
                d = past.column(t, i)
                values = [d[key] for key in keys]
                if c.text and c.type == Type.STRING:
                    values = [None if v is None else _decoded(v) for v in values]
                elif not c.text:
                    raw = struct.pack("<%d%s" % (len(values), _RAW[c.width]), *(v or 0 for v in values))
                    typed = struct.unpack("<%d%s" % (len(values), _TYPED[Type(c.type)]), raw)
                    values = [None if v is None else x for v, x in zip(values, typed)]
                lists.append(values)
            made.fill(keys, *lists)
        return w

    def _patched(self, h: _Head, group: int) -> Optional[_Past]:
        """The state of a group at the end of the divergent tick, None if it is not known as a whole."""
        if self._rebuild(h.point, _END) is None:
            return None
        past = self._rebuild(h.point, _END)
        self._past = None
        assert past is not None
        for rows in (True, False):  # rows first, then their values
            r = _Reader(self._report)
            _Head(r)
            for _ in range(h.listed):
                of = _List(r)
                t = next((t for t in self._tables if t.label == of.label), None)
                number = None
                for i in range(t.count if t is not None else 0):
                    c = self._columns[t.first + i]  # type: ignore[union-attr]
                    if (c.type, c.component, c.field) == (of.type, of.component, of.field):
                        number = i
                for _ in range(of.rows):
                    key, key2, values = r.number(8), r.number(8), [r.value() for _ in h.groups]
                    if t is not None and number is not None and rows == (not of.type) and \
                            not self._set(past, t, number, (key, key2) if t.parts == 2 else key, values[group]):
                        return None
        for t in self._tables:
            for i in range(t.count):
                c = self._columns[t.first + i]
                past.sums[t.first + i] = sum(c.cell(t.row(key), v) for key, v in past.column(t, i).items()) & _U64
        return past if self._root(past.sums) == h.groups[group][1] else None

    def _set(self, past: _Past, t: _Tab, number: int, key: Any, value: Tuple[int, bytes, bytes]) -> bool:
        """Sets a value to one of the report. False if that is not all of it."""
        state, content, _ = value
        c, d = self._columns[t.first + number], past.column(t, number)
        if number == 0:
            there = key in d
            if state == 3:
                for i in reversed(range(t.count)):
                    past.column(t, i).pop(key, None)
            elif not there:
                others = [past.column(t, i) for i in range(1, t.count)]
                d[key] = True
                for other in others:
                    other[key] = None
            return True
        if state == 3:
            return True  # the row itself is gone
        if state == 2 or key not in past.column(t, 0) or not c.text and len(content) > c.width:
            return False
        d[key] = None if not state else content if c.text else int.from_bytes(content, "little")
        return True

    def _state_of(self, h: _Head, group: int) -> Optional[_Past]:
        return self._rebuild(h.point, _END) if group == h.group(self._me) else self._patched(h, group)

    def snapshot(self, peer: int) -> bytes:
        """The state that a peer had at the end of the divergent tick, as a .snap: of this peer as it is kept, of a peer of another group made
        of it and the values in the report. If these are not all that differs, it is Refused: the hash of the state shows it. To
        heal, all peers load the state of the same peer as they load a save, and go on from there with resume."""
        if not self._report:
            raise Refused("snapshot: there is no report")
        h = _Head(_Reader(self._report))
        group = h.group(peer)
        if group is None or h.group(self._me) is None:
            raise Refused("snapshot: the report does not cover both peers")
        past = self._state_of(h, group)
        if past is None:
            raise Refused("snapshot: the report does not have all values of that peer")
        return encode_snapshot(self._world_of(past), Point(self._seed, h.point, peer=self._names[peer]))

    def files(self, folder: str) -> None:
        """Writes what is known into a folder, with a folder for each peer: this peer's order log of the ticks that are kept, its
        trace, its states before and after the divergent tick, and its report; an order log and the trace of each other peer that
        answered, if the orders of that tick were the same, and the states of one peer of each group, if the values in the report are
        all that differs: then the hash shows that they are whole. A peer whose name cannot be a folder's is peer-N. `desynctool
        triage FOLDER` reads it."""
        if not self._report:
            raise Refused("files: there is no report")
        h = _Head(_Reader(self._report))
        own = h.group(self._me)
        if own is None:
            raise Refused("files: the report does not cover this peer")
        if not _folder(self._names[self._me]):
            raise Refused("files: the name of this peer cannot be the name of a folder")
        for peer in range(len(self._names)):
            g, me = h.group(peer), peer == self._me
            if g is None:
                continue  # it did not answer
            name = self._names[peer] if _folder(self._names[peer]) else "peer-%d" % peer
            path = os.path.join(folder, name)
            os.makedirs(path, exist_ok=True)
            start = h.point
            while me and self._entries and start > self._entries[0].point and h.point - start < 32:
                e = self._entry(start)
                if e is None or not e.whole:
                    break
                start -= 1
            session = Session(self._seed, name, self._build, first_point=start if me or not start else start - 1, kinds=list(self._kinds), peers=list(self._names))
            if me:
                self._own_files(path, session, h)
            else:  # of the lowest peer of a group the states
                self._other_files(path, session, h, g, peer, g != own and not h.groups[g][0] & (1 << peer) - 1)
            if h.step != _END:
                self._trace(os.path.join(path, "checkpoints.trace"), session, h, g, g == own)

    def _trace(self, path: str, session: Session, h: _Head, group: int, own: bool) -> None:
        """The trace of the divergent tick up to the system that differs first: no more is known of others."""
        e = self._entry(h.point)
        with Trace(path, session) as trace:
            for i, (name, root, _) in enumerate(e.steps[:h.step + 1] if e is not None else []):
                root = root if own or i < h.step else h.groups[group][2]
                trace.add(Checkpoint(h.point - 1, name.decode(), sums=[Sum(struct.pack("<Q", root), "flight")]))

    def _own_files(self, path: str, session: Session, h: _Head) -> None:
        recorder: Optional[Recorder] = None
        try:
            for point in range(session.first_point, h.point + 1):
                past = self._rebuild(point, _END)
                if past is None:
                    break
                w = self._world_of(past)
                recorder = recorder or Recorder(path, session, w, None)
                recorder.state(point, w)
                if point + 1 >= h.point:
                    recorder.snapshot(w)
                if point < h.point:
                    e = self._entry(point + 1)
                    recorder.tick(point, e.orders if e is not None else [])
                    continue
                labels: List[str] = []
                r = _Reader(self._report)
                _Head(r)
                for _ in range(h.listed):
                    of = _List(r)
                    of.skip(r, len(h.groups))
                    labels += [t.of.label for t in self._tables if t.of is not None and t.label == of.label and t.of.label not in labels]
                recorder.report(w, -1, labels[:64])
        finally:
            if recorder is not None:
                recorder.close()

    def _other_files(self, path: str, session: Session, h: _Head, group: int, peer: int, states: bool) -> None:
        """Writes what another peer had before and after the divergent tick: an order log with the hashes, where its orders were this peer's,
        and for one peer of a group the states. The state before the tick is this peer's too."""
        e, before = self._entry(h.point), not h.flags & _LOST and h.point > 0
        log: Optional[OrderLog] = None
        if before and session.peer == self._names[peer] and e is not None and e.whole and e.inputs == h.groups[group][3]:
            log = OrderLog(os.path.join(path, "order-log.bin"), session)
        try:
            for tick in range(h.point - before, h.point + 1 if log is not None or states else 0):
                past = self._rebuild(tick, _END) if tick < h.point else self._state_of(h, group)
                if past is None:
                    break
                w = self._world_of(past)
                if log is not None:
                    log.hash(tick, peer, "sync", "", w.state_hash()[:8])
                    log.hash(tick, peer, "state", "", w.state_hash())
                if log is not None and e is not None and tick < h.point:
                    log.tick(tick, e.orders)
                if states:
                    write_snapshot(path, w, Point(self._seed, tick, peer=session.peer))
        finally:
            if log is not None:
                log.close()


def _decoded(b: bytes) -> Any:
    try:
        return b.decode()
    except UnicodeDecodeError:
        return b
