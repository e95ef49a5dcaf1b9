# SPDX-License-Identifier: MIT-0
# Copyright 2026 The desynctool authors
"""desynctool.py: desync forensics for a deterministic game, in one file of Python 3.9 that needs nothing but the standard library.

In the order in which a game takes it in:

1. Describe the state: a World with a Table for each kind of entity. Before each hash a game fills the tables with what it has now.
   World.state_hash is then the hash that peers compare.

       world = World()
       units = world.archetype("Infantry")
       units.column("Health", "points", Type.I32)
       units.column("Position", "x", Type.FIXED, scale=65536)
       ...
       units.fill([u.id for u in alive], [u.health for u in alive], [u.x for u in alive])
       world.rng = rng_state.to_bytes(8, "little")

2. Write: a Recorder leaves all that a peer leaves, in one folder. In each tick state and tick, and after each system system; when
   peers differ, snapshot and report. Session.facts describes the machine; marker notes joins, leaves, saves, and loads.
3. Serve: derive from Game and call serve. start, one of step and systems with run_system, and one of world and checksum are needed.
   Only what a class has is announced.
4. Load: Game.load gets a World that was read and checked. It asks for tables and columns as for writing, checks values that it
   takes for granted, and recomputes its caches.
5. `desynctool sim check --log s/host -- python3 mygame.py serve` lists what is not right yet.

skirmish.py next to this file is a whole small game. docs/snapshot.md, docs/merkle.md, docs/orderlog.md, docs/trace.md,
docs/peer-report.md and docs/extsim.md describe the formats.

Errors: Damaged is for bytes that are not what was expected, Refused for what a game does not do; both are ValueErrors. A value that
does not fit its column, or a name that is too long, is a ValueError as well. Files raise OSError.

What it does not do: compressed snapshots, to write or to read. What a target is asked to load is not compressed.
"""

from __future__ import annotations

import base64
import contextlib
import enum
import functools
import hashlib
import operator
import os
import socket
import struct
import sys
import traceback
import zlib
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

__all__ = [
    "CheckedSignatures", "Checkpoint", "Column", "Damaged", "Detail", "Event", "EventKind", "Finding", "FindingKind", "Game", "Marker",
    "MarkerKind", "Order", "OrderKind", "OrderLog", "Point", "Recorder", "Refused", "Session", "Sum", "Table", "TableClass",
    "TickSignatures", "Trace", "Type", "World", "check_signatures", "crc32c", "decode_snapshot", "encode_snapshot", "history_hash",
    "input_hash", "peer_report", "public_key", "read_snapshot", "serve", "sign", "verify", "write_snapshot",
]

_U32, _U64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
_MAX_NAME, _MAX_TEXT, _MAX_NAMES = 1024, 65536, 65536
_MAX_PAYLOAD = 4 << 20


class Damaged(ValueError):
    """Bytes that are not what was expected."""


class Refused(ValueError):
    """What a game does not do. The state is as it was."""


# ---- Bytes and checksums

def _crc_table() -> List[int]:
    table = []
    for c in range(256):
        for _ in range(8):
            c = c >> 1 ^ (0x82F63B78 if c & 1 else 0)
        table.append(c)
    return table


_CRC = _crc_table()
_LANE = 256  # bytes
_CRC_PLANES = [bytes(v >> 8 * k & 255 for v in _CRC) for k in range(4)]


@functools.lru_cache(None)
def _crc_over_lane() -> List[List[int]]:
    """What each byte of a CRC becomes over a lane of zero bytes."""
    def over(c: int) -> int:
        for _ in range(_LANE):
            c = _CRC[c & 255] ^ c >> 8
        return c
    bits = [over(1 << i) for i in range(32)]
    return [[functools.reduce(operator.xor, (bits[8 * k + i] for i in range(8) if v >> i & 1), 0) for v in range(256)] for k in range(4)]


def crc32c(data: bytes) -> int:
    """The CRC-32C of bytes.

    Long ones are cut into lanes of 256 bytes. All lanes advance together by a byte, through bytes.translate; their CRCs are then put
    together. It is some ten times as fast as going byte by byte.
    """
    crc, lanes = _U32, len(data) // _LANE
    if lanes >= 16:
        a = b = c = d = 0  # the lowest bytes of the lanes' CRCs, as one number, up to the highest
        for i in range(_LANE):
            x = (a ^ int.from_bytes(data[i:lanes * _LANE:_LANE], "little")).to_bytes(lanes, "little")
            a, b, c, d = (follow ^ int.from_bytes(x.translate(plane), "little") for follow, plane in zip((b, c, d, 0), _CRC_PLANES))
        k0, k1, k2, k3 = _crc_over_lane()
        for w, x0, x1, x2 in zip(*(v.to_bytes(lanes, "little") for v in (a, b, c, d))):
            crc = k0[crc & 255] ^ k1[crc >> 8 & 255] ^ k2[crc >> 16 & 255] ^ k3[crc >> 24] ^ (w | x0 << 8 | x1 << 16 | x2 << 24)
        data = data[lanes * _LANE:]
    for v in data:
        crc = _CRC[(crc ^ v) & 255] ^ crc >> 8
    return crc ^ _U32


def _sha(data: Union[bytes, bytearray]) -> bytes:
    return hashlib.sha256(data).digest()


def history_hash(history: Optional[bytes], root: bytes) -> bytes:
    """The history hash at a point, of that at the point before, or None at the first one, and the state hash at the point."""
    return _sha(root if history is None else history + root[:8])


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


def _little(code: str, numbers: Sequence[int]) -> bytes:
    return struct.pack("<%d%s" % (len(numbers), code), *numbers)


def _name(text: str, what: str) -> bytes:
    b = text.encode()
    if not 1 <= len(b) <= _MAX_NAME:
        raise ValueError("a %s of %d bytes, expected 1 to %d" % (what, len(b), _MAX_NAME))
    return b


def _needs_hash(b: bytes, what: str) -> bytes:
    if len(b) != 32:
        raise ValueError("%s of %d bytes, expected 32" % (what, len(b)))
    return b


# ---- MessagePack

class _Pack(bytearray):
    """MessagePack that is written, in the shortest forms unless a width is said."""

    def _head(self, code: int, v: int, width: int) -> None:
        self.append(code)
        self += v.to_bytes(width, "big")

    def uint(self, v: int) -> None:
        if not 0 <= v <= _U64:
            raise ValueError("%d is not an unsigned integer of 64 bits" % v)
        if v < 0x80:
            self.append(v)
        else:
            n = 0 if v <= 0xFF else 1 if v <= 0xFFFF else 2 if v <= _U32 else 3
            self._head(0xCC + n, v, 1 << n)

    def wide(self, v: int, width: int) -> None:
        """A form of one length whatever the value is, for headers that are written before all is known."""
        if not 0 <= v < 1 << 8 * width:
            raise ValueError("%d is not an unsigned integer of %d bits" % (v, 8 * width))
        self._head({1: 0xCC, 4: 0xCE, 8: 0xCF}[width], v, width)

    def u32(self, v: int) -> None:
        if not 0 <= v <= _U32:
            raise ValueError("%d is not an unsigned integer of 32 bits" % v)
        self.uint(v)

    def nil(self) -> None:
        self.append(0xC0)

    def flag(self, v: bool) -> None:
        self.append(0xC3 if v else 0xC2)

    def _list(self, small: int, code: int, n: int) -> None:
        if n < 16:
            self.append(small | n)
        else:
            self._head(code + (n > 0xFFFF), n, 2 if n <= 0xFFFF else 4)

    def array(self, n: int) -> None:
        self._list(0x90, 0xDC, n)

    def pairs(self, n: int) -> None:
        self._list(0x80, 0xDE, n)

    def _sized(self, code: int, b: bytes) -> None:
        n = 0 if len(b) <= 0xFF else 1 if len(b) <= 0xFFFF else 2
        self._head(code + n, len(b), 1 << n)
        self += b

    def bin(self, b: bytes) -> None:
        self._sized(0xC4, b)

    def text(self, text: Union[str, bytes]) -> None:
        b = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
        if len(b) < 32:
            self.append(0xA0 | len(b))
            self += b
        else:
            self._sized(0xD9, b)

    def plain(self, value: Any) -> None:
        """A value of dicts, lists, texts, whole numbers and bools."""
        if isinstance(value, bool):
            self.flag(value)
        elif isinstance(value, int) and value >= 0:
            self.uint(value)
        elif isinstance(value, int):
            self.append(0xD3)
            self += struct.pack(">q", value)
        elif isinstance(value, str):
            self.text(value)
        elif isinstance(value, dict):
            self.pairs(len(value))
            for key, held in value.items():
                self.text(key)
                self.plain(held)
        else:
            self.array(len(value))
            for held in value:
                self.plain(held)

    def noted(self, values: _Pack, n: int) -> None:
        """An array of n values that were packed before."""
        self.array(n)
        self += values


class _Reader:
    """Reads MessagePack from bytes that need not be well-formed. scan comes first: after it every length is within the bytes."""

    def __init__(self, data: bytes, at: int = 0, end: Optional[int] = None) -> None:
        self.data, self.at, self.end = data, at, len(data) if end is None else end

    def byte(self) -> int:
        if self.at >= self.end:
            raise Damaged("it ends inside a value")
        self.at += 1
        return self.data[self.at - 1]

    def take(self, n: int) -> bytes:
        if n > self.end - self.at:
            raise Damaged("it ends inside a value")
        self.at += n
        return self.data[self.at - n:self.at]

    def big(self, n: int) -> int:
        return int.from_bytes(self.take(n), "big")

    def scan(self) -> None:
        """Checks that one value fills the bytes, and goes back to its start."""
        start = self.at
        self.skip()
        if self.at != self.end:
            raise Damaged("there are bytes after it")
        self.at = start

    def skip(self) -> None:
        """Goes over one value, without recursion."""
        values = 1
        while values:
            values -= 1
            c = self.byte()
            skip = inside = 0
            if c < 0x80 or c >= 0xE0 or c in (0xC0, 0xC2, 0xC3):
                continue
            if c < 0xA0:
                inside = (c & 15) << (c < 0x90)
            elif c < 0xC0:
                skip = c & 31
            elif 0xC4 <= c <= 0xC6:
                skip = self.big(1 << c - 0xC4)
            elif 0xCA <= c <= 0xD3:
                skip = 1 << (c & 3) if c >= 0xCC else 4 << c - 0xCA
            elif 0xD9 <= c <= 0xDB:
                skip = self.big(1 << c - 0xD9)
            elif c >= 0xDC:
                inside = self.big(2 << (c & 1)) << (c >= 0xDE)
            else:
                raise Damaged("it has an extension or a code that does not occur")
            values += inside  # each takes a byte at least
            if skip + values > self.end - self.at:
                raise Damaged("it ends inside a value")
            self.at += skip

    def uint(self, what: str, most: int = _U64) -> int:
        c = self.byte()
        if c < 0x80:
            v = c
        elif 0xCC <= c <= 0xD3:
            v = self.big(1 << (c & 3))
        else:
            raise Damaged(what + " is not an unsigned integer")
        if c >= 0xD0 and v >> (8 << (c & 3)) - 1:
            raise Damaged(what + " is negative")
        if v > most:
            raise Damaged("%s is %d, at most %d" % (what, v, most))
        return v

    def u32(self, what: str) -> int:
        return self.uint(what, _U32)

    def flag(self, what: str) -> bool:
        c = self.byte()
        if c not in (0xC2, 0xC3):
            raise Damaged(what + " is not a bool")
        return c == 0xC3

    def nil(self) -> bool:
        """Takes a nil if there is one."""
        found = self.at < self.end and self.data[self.at] == 0xC0
        self.at += found
        return found

    def _count(self, what: str, small: int, code: int, most: int) -> int:
        c = self.byte()
        if c & 0xF0 != small and c not in (code, code + 1):
            raise Damaged(what + (" is not an array" if small == 0x90 else " is not a map"))
        n = c & 15 if c & 0xF0 == small else self.big(2 << c - code)
        if n > most:
            raise Damaged("%s: %d of them, at most %d" % (what, n, most))
        return n

    def array(self, what: str, most: int = _U32) -> int:
        return self._count(what, 0x90, 0xDC, most)

    def pairs(self, what: str, most: int) -> int:
        return self._count(what, 0x80, 0xDE, most)

    def exactly(self, n: int, what: str) -> None:
        have = self.array(what)
        if have != n:
            raise Damaged("%s has %d elements, expected %d" % (what, have, n))

    def _sized(self, what: str, n: int, most: int) -> bytes:
        if n > most:
            raise Damaged("%s of %d bytes, at most %d" % (what, n, most))
        return self.take(n)

    def text(self, what: str, most: int = _MAX_TEXT) -> str:
        """Bytes that are not UTF-8 are kept as lone surrogates, so that they are written as the same bytes."""
        c = self.byte()
        if c & 0xE0 != 0xA0 and not 0xD9 <= c <= 0xDB:
            raise Damaged(what + " is not a string")
        b = self._sized(what, c & 31 if c & 0xE0 == 0xA0 else self.big(1 << c - 0xD9), most)
        return b.decode("utf-8", "surrogateescape")

    def bin(self, what: str, most: int = _U32) -> bytes:
        c = self.byte()
        if not 0xC4 <= c <= 0xC6:
            raise Damaged(what + " is not bytes")
        return self._sized(what, self.big(1 << c - 0xC4), most)

    def hash(self, what: str) -> bytes:
        b = self.bin(what, 32)
        if len(b) != 32:
            raise Damaged("%s of %d bytes, expected 32" % (what, len(b)))
        return b


def _key_bytes(item: Tuple[str, Any]) -> bytes:
    return item[0].encode("utf-8", "surrogateescape")


# ---- The state

class Type(enum.IntEnum):
    """Types of columns. The numbers belong to the file format."""
    BOOL = 1
    I8 = 2
    I16 = 3
    I32 = 4
    I64 = 5
    U8 = 6
    U16 = 7
    U32 = 8
    U64 = 9
    F32 = 10  # compared by its bits
    F64 = 11
    FIXED = 12  # an integer in units of 1/scale
    STRING = 13
    BYTES = 14
    REF = 15  # the key of another entity


class TableClass(enum.IntEnum):
    """Archetypes are hashed; caches (derived data) and noise (known to differ in sync) are not."""
    ARCHETYPE = 0
    CACHE = 1
    NOISE = 2


_CODES = {
    Type.BOOL: "B", Type.I8: "b", Type.I16: "h", Type.I32: "i", Type.I64: "q", Type.U8: "B", Type.U16: "H", Type.U32: "I",
    Type.U64: "Q", Type.F32: "f", Type.F64: "d", Type.FIXED: "q", Type.REF: "Q",
}
_MAX_BLOCK, _MAX_CELL = 65536, 256 << 20

Key = Union[int, Tuple[int, int]]


class _Cells:
    """The canonical bytes and the digests of the blocks of one column, or of the keys."""

    def __init__(self) -> None:
        self.blocks: List[bytes] = []
        self.digests: List[bytes] = []
        self.digest = b""
        self.stale = True

    def take(self, blocks: List[bytes]) -> None:
        if self.digest and blocks == self.blocks:
            return  # what did not change is not hashed again
        for block in blocks:
            if len(block) > _MAX_CELL:
                raise ValueError("a block of %d bytes, at most %d" % (len(block), _MAX_CELL))
        self.blocks, self.stale = blocks, True

    def seal(self, head: bytes, names: bytes) -> bytes:
        if self.stale:
            self.digests = [_sha(block) for block in self.blocks]
            self.digest = _sha(head + struct.pack("<I", len(self.blocks)) + names + b"".join(self.digests))
            self.stale = False
        return self.digest


class Column:
    """One field of a component. Table.fill gives it values, values returns them."""

    def __init__(self, component: str, field: str, type: Type, scale: int = 0) -> None:
        self.component, self.field, self.type, self.scale = component, field, Type(type), scale
        if (type == Type.FIXED) != (scale != 0) or not 0 <= scale <= _U32:
            raise ValueError("fixed columns have a scale, others have none")
        self._names = _name(component, "component"), _name(field, "field")
        self._code = _CODES.get(self.type)  # None for strings and bytes
        self._width = struct.calcsize("<" + self._code) if self._code else 0
        self._cells = _Cells()

    def __repr__(self) -> str:
        return "%s.%s %s" % (self.component, self.field, self.type.name.lower())

    def _take(self, values: Sequence[Any], starts: Sequence[int]) -> None:
        try:
            if len(starts) == 2:
                self._cells.take([self._block(values)])
            else:
                self._cells.take([self._block(values[a:b]) for a, b in zip(starts, starts[1:])])
        except (struct.error, TypeError, AttributeError, OverflowError, ValueError) as e:
            raise ValueError("%r: %s" % (self, e)) from None

    def _block(self, values: Sequence[Any]) -> bytes:
        n, absent = len(values), None in values
        bitmap = b""
        if absent:
            bits = "".join(["0" if v is None else "1" for v in reversed(values)])
            bitmap = int(bits, 2).to_bytes((n + 7) // 8, "little")
            nothing: Any = 0 if self._width else "" if self.type == Type.STRING else b""
            values = [nothing if v is None else v for v in values]
        if self.type == Type.BOOL:
            content = bytes(map(bool, values))
        elif self._code:
            content = struct.pack("<%d%s" % (n, self._code), *values)
        else:
            texts = [self._bytes(v) for v in values]
            content = _little("I", [len(v) for v in texts]) + b"".join(texts)
        return struct.pack("<BBHI", 4, absent, 0, n) + bitmap + content

    def _bytes(self, v: Any) -> bytes:
        if isinstance(v, str):
            if self.type != Type.STRING:
                raise TypeError("it is text")
            return v.encode()
        return bytes(memoryview(v))  # which takes no number for a length

    @property
    def values(self) -> List[Any]:
        """The values row by row, in the order of keys. An absent one is None, one of STRING is text or, if it is not UTF-8, bytes."""
        out: List[Any] = []
        for block in self._cells.blocks:
            n = int.from_bytes(block[4:8], "little")
            at = 8 + ((n + 7) // 8 if block[1] else 0)
            values: List[Any] = []
            if self._code:
                values = list(struct.unpack_from("<%d%s" % (n, self._code), block, at))
                if self.type == Type.BOOL:
                    values = list(map(bool, values))
            else:
                lengths = struct.unpack_from("<%dI" % n, block, at)
                at += 4 * n
                for length in lengths:
                    values.append(_text(block[at:at + length]) if self.type == Type.STRING else block[at:at + length])
                    at += length
            if block[1]:
                values = [v if block[8 + i // 8] >> i % 8 & 1 else None for i, v in enumerate(values)]
            out += values
        return out

    def _seal(self) -> bytes:
        component, name = self._names
        return self._cells.seal(struct.pack("<BBHIII", 6, self.type, 0, self.scale, len(component), len(name)), component + name)

    def _check(self, block: bytes, rows: int) -> None:
        """Raises Damaged if a block that was read is not the canonical bytes of so many rows."""
        bad = Damaged("a block of %r is malformed" % self)
        if len(block) < 8 or block[0] != 4 or block[1] > 1 or block[2:4] != b"\0\0" or int.from_bytes(block[4:8], "little") != rows:
            raise bad
        at = 8 + ((rows + 7) // 8 if block[1] else 0)
        if len(block) < at + (self._width or 4) * rows or self._width and len(block) != at + self._width * rows:
            raise bad
        lengths: Sequence[int] = ()
        if not self._width:
            lengths = struct.unpack_from("<%dI" % rows, block, at)
            if at + 4 * rows + sum(lengths) != len(block):
                raise bad
        if self.type == Type.BOOL and block[at:].translate(None, b"\0\1"):
            raise bad
        if not block[1]:
            return
        present = int.from_bytes(block[8:at], "little")
        if present >> rows or present == (1 << rows) - 1:
            raise bad
        zero = bytes(self._width)
        for i in range(rows):
            if not block[8 + i // 8] >> i % 8 & 1:
                if lengths and lengths[i] or self._width and block[at + i * self._width:at + (i + 1) * self._width] != zero:
                    raise bad


def _text(b: bytes) -> Union[str, bytes]:
    try:
        return b.decode()
    except UnicodeDecodeError:
        return b


def _begins_block(a: int, b: int) -> bool:
    h = (a * 0x9E3779B97F4A7C15 + b * 0xC2B2AE3D27D4EB4F) & _U64
    h = (h ^ h >> 32) * 0xD6E8FEB86659FD93 & _U64
    return (h ^ h >> 32) & 4095 == 0


class Table:
    """Rows with unique keys, and columns.

    Declare the columns once. fill then replaces all rows. A table that is not filled again keeps its rows, and is not hashed again.
    """

    def __init__(self, label: str, cls: TableClass, key_parts: int = 1) -> None:
        if key_parts not in (1, 2):
            raise ValueError("keys have one part or two")
        self.label, self.cls, self.key_parts = label, TableClass(cls), key_parts
        self._label = _name(label, "label")
        self._declared: List[Column] = []
        self._by_names: Optional[List[Column]] = None  # None until they are asked for
        self._by_name: Dict[Tuple[str, str], Column] = {}
        self._keys: List[Key] = []
        self._starts = [0]  # of blocks, and after the last one
        self._cells = _Cells()
        self._cells.take([])
        self._leaf = b""
        self._sealed = False
        self._whole = False  # it was read: no columns are made

    def __repr__(self) -> str:
        return '%s "%s"' % (self.cls.name.lower(), self.label)

    @property
    def keys(self) -> Sequence[Key]:
        """Integers, or pairs of them where keys have two parts, ascending."""
        return self._keys

    @property
    def columns(self) -> Sequence[Column]:
        """The columns by component, then field."""
        return self._sorted

    @property
    def _sorted(self) -> List[Column]:
        if self._by_names is None:
            self._by_names = sorted(self._declared, key=operator.attrgetter("_names"))
        return self._by_names

    def column(self, component: str, field: str, type: Type, scale: int = 0) -> Column:
        """The column of that name, made if there is none. In a table that was read nothing is made: a missing column is
        Refused."""
        c = self._by_name.get((component, field))
        if c is not None and (c.type, c.scale) == (type, scale):
            return c
        if self._whole:
            raise Refused("the state has no %s %s.%s.%s" % (Type(type).name.lower(), self.label, component, field))
        if c is not None:
            raise ValueError("%r %r has another type" % (self, c))
        if self._keys:
            raise ValueError("%r: columns are declared before the rows" % self)
        if len(self._declared) == _MAX_NAMES:
            raise ValueError("%r: too many columns" % self)
        return self._add(Column(component, field, type, scale))

    def _add(self, c: Column) -> Column:
        self._declared.append(c)
        self._by_name[c.component, c.field] = c
        self._by_names = None
        c._cells.take([])
        self._sealed = False
        return c

    def fill(self, keys: Sequence[Key], *values: Sequence[Any]) -> None:
        """Replaces all rows: their keys, unique and in any order, and the values of each column, in the order of declaration.

        An absent value is None. Keys are unsigned integers of 64 bits, or pairs of them.
        """
        if self._whole:
            raise ValueError("%r was read, and is not filled" % self)
        if len(values) != len(self._declared) or any(len(v) != len(keys) for v in values):
            raise ValueError("%r: expected %d lists of %d values" % (self, len(self._declared), len(keys)))
        keys = list(keys)
        if not all(map(operator.lt, keys, keys[1:])):
            order = sorted(range(len(keys)), key=keys.__getitem__)
            keys = [keys[i] for i in order]
            values = tuple([v[i] for i in order] for v in values)
            if not all(map(operator.lt, keys, keys[1:])):
                raise ValueError("%r: a key occurs twice" % self)
        if keys != self._keys:
            self._rekey(keys)
        for column, list_of in zip(self._declared, values):
            column._take(list_of, self._starts)
        self._sealed = False

    def _rekey(self, keys: List[Key]) -> None:
        parts: List[Sequence[int]] = [keys] if self.key_parts == 1 else list(zip(*keys)) or [(), ()]  # type: ignore[list-item]
        starts = _cut(parts)
        head = struct.pack("<BBH", 3, self.key_parts, 0)
        try:
            blocks = [head + struct.pack("<I", b - a) + b"".join(_little("Q", part[a:b]) for part in parts) for a, b in zip(starts, starts[1:])]
        except struct.error as e:
            raise ValueError("%r: a key: %s" % (self, e)) from None
        self._cells.take(blocks)
        self._keys, self._starts = keys, starts

    def _seal(self) -> bytes:
        """The leaf hash."""
        if not self._sealed:
            digests = [self._cells.seal(struct.pack("<BBH", 5, self.key_parts, 0), b"")] + [c._seal() for c in self._sorted]
            head = struct.pack("<BIIQ", 2, len(self._label), len(digests), len(self._keys))
            self._leaf = _sha(head + _padded(self._label) + b"".join(digests))
            self._sealed = True
        return self._leaf

    def _encode(self, file: bytearray) -> Tuple[int, int]:
        """Appends the cells and the index of a sealed table. Returns offset and length of the index."""
        first_cell = len(file)
        cells = [self._cells] + [c._cells for c in self._sorted]
        stored = [(c.blocks[i], c.digests[i]) for i in range(len(self._starts) - 1) for c in cells]
        for block, _ in stored:
            file += block
        firsts = [self._keys[i] for i in self._starts[:-1]]
        pairs = [(k, 0) if isinstance(k, int) else k for k in firsts]
        lengths = _little("I", [len(block) for block, _ in stored])
        o = _Pack()
        o.array(4)
        o.wide(first_cell, 8)
        o.bin(self._cells.digest)
        o.array(len(self._sorted))
        for c in self._sorted:
            o.array(5)
            o.text(c._names[0])
            o.text(c._names[1])
            o.wide(c.type, 1)
            o.wide(c.scale, 4)
            o.bin(c._cells.digest)
        o.array(8)
        o.bin(_little("Q", [k[0] for k in pairs]))
        o.bin(_little("Q", [k[1] for k in pairs]) if self.key_parts == 2 else b"")
        o.bin(_little("I", [b - a for a, b in zip(self._starts, self._starts[1:])]))
        o.bin(b"".join(digest for _, digest in stored))
        o.bin(lengths)
        o.bin(lengths)  # as stored: nothing is compressed
        o.bin(bytes(len(stored)))
        o.bin(_little("I", [crc32c(block) for block, _ in stored]))
        index = len(file)
        file += o + struct.pack("<I", crc32c(bytes(o)))
        return index, len(file) - index


def _cut(parts: Sequence[Sequence[int]]) -> List[int]:
    """Where the blocks of rows with these parts of keys begin, and where the last one ends."""
    rows, at = len(parts[0]), 0
    starts = [0] if rows else []
    seconds = parts[1] if len(parts) == 2 else [0] * rows
    for i, (a, b) in enumerate(zip(parts[0], seconds)):
        if i and (i - at == _MAX_BLOCK or _begins_block(a, b)):
            starts.append(i)
            at = i
    return starts + [rows]


class World:
    """One peer's state: typed tables, kept from tick to tick and filled again for each hash.

    rng is the state of the game's random numbers, at most 65536 bytes; None if it has none. What decides the future of the game
    belongs into it and into archetypes.
    """

    def __init__(self) -> None:
        self.rng: Optional[bytes] = None
        self._tables: Dict[Tuple[TableClass, str], Table] = {}
        self._whole = False

    @property
    def tables(self) -> List[Table]:
        """The tables by class, then label."""
        return sorted(self._tables.values(), key=lambda t: (t.cls, t._label))

    def table(self, cls: TableClass, label: str, key_parts: int = 1) -> Table:
        """The table of that class and label, made if there is none. In a world that was read nothing is made: a missing
        table is Refused."""
        t = self._tables.get((cls, label))
        if t is None and not self._whole:
            if len(self._tables) == _MAX_NAMES:
                raise ValueError("too many tables")
            t = self._tables[cls, label] = Table(label, cls, key_parts)
        if t is None or t.key_parts != key_parts:
            error = Refused if self._whole else ValueError
            raise error('there is no %s "%s" with keys of %d parts' % (TableClass(cls).name.lower(), label, key_parts))
        return t

    def archetype(self, label: str, key_parts: int = 1) -> Table:
        return self.table(TableClass.ARCHETYPE, label, key_parts)

    def cache(self, label: str, key_parts: int = 1) -> Table:
        return self.table(TableClass.CACHE, label, key_parts)

    def noise(self, label: str, key_parts: int = 1) -> Table:
        return self.table(TableClass.NOISE, label, key_parts)

    def leaves(self) -> List[Tuple[str, bytes]]:
        """The leaves of the tree with their hashes: the RNG under the empty label, if there is one, then each archetype."""
        out = []
        if self.rng is not None:
            if len(self.rng) > 65536:
                raise ValueError("an RNG state of %d bytes, at most 65536" % len(self.rng))
            out.append(("", _sha(struct.pack("<BII", 1, len(self.rng), 0) + _padded(self.rng))))
        return out + [(t.label, t._seal()) for t in self.tables if t.cls == TableClass.ARCHETYPE]

    def state_hash(self) -> bytes:
        """The Merkle root, 32 bytes. The first 8 are the sync hash."""
        return _merkle_root([leaf for _, leaf in self.leaves()])


def _merkle_root(level: List[bytes]) -> bytes:
    if not level:
        return _sha(b"")
    while len(level) > 1:
        odd = level[len(level) & ~1:]
        level = [_sha(left + right) for left, right in zip(level[::2], level[1::2])] + odd
    return level[0]


# ---- Snapshots

@dataclass
class Point:
    """Which state a snapshot holds: state point tick is the state before the orders of that tick."""
    seed: int = 0
    tick: int = 0
    phase: str = ""  # or "after-orders", inside the tick
    native: str = ""  # the engine's name of the point, if it has one
    peer: str = ""
    epoch: int = 0
    history: Optional[bytes] = None  # history hash of 32 bytes, None if it is not known
    properties: Dict[str, str] = field(default_factory=dict)


_SNAP_MAGIC, _SNAP_END = b"\x89SNAP\r\n\x1a", b"SNAP.END"
_MAX_HEADER, _MAX_PROPERTIES, _MAX_RNG = 16 << 20, 4096, 65536


def _snap_header(world: World, tables: Sequence[Table], at: Point, root: bytes, places: Sequence[Tuple[int, int]]) -> _Pack:
    if at.phase not in ("", "after-orders"):
        raise ValueError("there is no phase %r" % at.phase)
    if len(at.properties) > _MAX_PROPERTIES:
        raise ValueError("%d properties, at most %d" % (len(at.properties), _MAX_PROPERTIES))
    for name in (at.native, at.peer, *at.properties):
        if len(name.encode("utf-8", "surrogateescape")) > _MAX_NAME:
            raise ValueError("a name of more than %d bytes" % _MAX_NAME)
    o = _Pack()
    o.array(11)
    o.wide(at.seed, 8)
    o.wide(at.tick, 8)
    o.text(at.phase)
    o.text(at.native)
    o.text(at.peer)
    o.wide(at.epoch, 4)
    if world.rng is None:
        o.nil()
    else:
        o.bin(world.rng)
    if at.history is None:
        o.nil()
    else:
        o.bin(_needs_hash(at.history, "a history hash"))
    o.bin(root)
    o.pairs(len(at.properties))
    for key, value in sorted(at.properties.items(), key=_key_bytes):
        o.text(key)
        o.text(value)
    o.array(len(tables))
    for t, (offset, length) in zip(tables, places):
        o.array(7)
        o.wide(t.cls, 1)
        o.text(t._label)
        o.wide(len(t.keys), 8)
        o.wide(t.key_parts, 1)
        o.bin(t._leaf)
        o.wide(offset, 8)
        o.wide(length, 4)
    if len(o) > _MAX_HEADER:
        raise ValueError("a header of %d bytes, at most %d" % (len(o), _MAX_HEADER))
    return o


def encode_snapshot(world: World, at: Point) -> bytes:
    """The bytes of a .snap, not compressed."""
    return _encode_tables(world, world.tables, at, world.state_hash())


def _encode_tables(world: World, tables: Sequence[Table], at: Point, root: bytes) -> bytes:
    for t in tables:
        t._seal()
    header = _snap_header(world, tables, at, root, [(0, 0)] * len(tables))  # its length does not depend on the numbers
    file = bytearray(32 + len(header))
    places = [t._encode(file) for t in tables]
    file += _SNAP_END
    header = _snap_header(world, tables, at, root, places)
    preamble = _SNAP_MAGIC + struct.pack("<HHIIQ", 1, 0, len(header), crc32c(bytes(header)), len(file))
    file[:32 + len(header)] = preamble + struct.pack("<I", crc32c(preamble)) + header
    return bytes(file)


def write_snapshot(folder: str, world: World, at: Point) -> str:
    """Writes desync_SEED_TICK.snap into a folder and returns its path, which never holds half a snapshot."""
    return _write_whole(folder, "desync_%016x_%010d.snap" % (at.seed, at.tick), encode_snapshot(world, at))


def _write_whole(folder: str, name: str, data: bytes) -> str:
    """Writes a file whole or not at all: until it is on the disk its name begins with a full stop. Returns its path."""
    path, unfinished = os.path.join(folder, name), os.path.join(folder, "." + name)
    try:
        with open(unfinished, "wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(unfinished)
        raise
    return path


def read_snapshot(path: str) -> Tuple[Point, World]:
    """Reads a .snap file. Raises Damaged, with the path."""
    with open(path, "rb") as f:
        data = f.read()
    try:
        return decode_snapshot(data)
    except Damaged as e:
        raise Damaged("%s: %s" % (path, e)) from None


def decode_snapshot(data: bytes) -> Tuple[Point, World]:
    """Reads a .snap without compressed cells and checks it whole, up to the state hash.

    Raises Damaged if it is damaged, compressed, or of another version. Values are unpacked when they are asked for.
    """
    if data[:8] != _SNAP_MAGIC:
        raise Damaged("not a .snap")
    if len(data) < 32:
        raise Damaged("torn in the preamble")
    version, flags, header_length, header_crc, length, crc = struct.unpack_from("<HHIIQI", data, 8)
    if crc != crc32c(data[:28]):
        raise Damaged("the preamble fails its checksum")
    if version != 1 or flags:
        raise Damaged("not version 1, or flags that are not known")
    if length != len(data):
        raise Damaged("%d bytes of a file of %d" % (len(data), length))
    at, end = 32 + header_length, len(data) - len(_SNAP_END)  # where cells begin; after the last index
    if header_length > _MAX_HEADER or at > end:
        raise Damaged("a header of %d bytes" % header_length)
    if header_crc != crc32c(data[32:at]):
        raise Damaged("the header fails its checksum")
    if data[end:] != _SNAP_END:
        raise Damaged("it has no end")

    r = _Reader(data, 32, at)
    r.scan()
    r.exactly(11, "header")
    point = Point(r.uint("seed"), r.uint("tick"), r.text("phase"), r.text("native name", _MAX_NAME), r.text("peer", _MAX_NAME), r.u32("epoch"))
    if point.phase not in ("", "after-orders"):
        raise Damaged("there is no phase %r" % point.phase)
    world = World()
    world.rng = None if r.nil() else r.bin("RNG state", _MAX_RNG)
    point.history = None if r.nil() else r.hash("history hash")
    root = r.hash("root")
    names: List[str] = []
    for _ in range(r.pairs("properties", _MAX_PROPERTIES)):
        names.append(r.text("name of a property", _MAX_NAME))
        point.properties[names[-1]] = r.text("property", _U32)
    _ascend([_key_bytes((name, None)) for name in names], "properties")
    order = []
    for _ in range(r.array("tables", _MAX_NAMES)):
        r.exactly(7, "table")
        cls, label, rows = r.uint("class", 2), r.text("label", _MAX_NAME), r.uint("rows")
        parts, leaf = r.uint("parts of keys", 2), r.hash("leaf")
        index, size = r.uint("offset of the index"), r.u32("length of the index")
        if not parts or not label:
            raise Damaged('table "%s" is malformed' % label)
        if size < 4 or index < at or index + size > end:
            raise Damaged('table "%s": an index outside the file' % label)
        t = _decode_table(data, at, index, index + size, TableClass(cls), label, rows, parts)
        if t._seal() != leaf:
            raise Damaged("%r does not give the leaf hash that the header has" % t)
        world._tables[t.cls, t.label] = t
        order.append((t.cls, t._label))
        at = index + size
    _ascend(order, "tables")
    if at != end:
        raise Damaged("something stands between the tables and the end")
    if world.state_hash() != root:
        raise Damaged("the content does not give the state hash that the header has")
    world._whole = True
    return point, world


def _ascend(items: Sequence[Any], what: str) -> None:
    if not all(map(operator.lt, items, items[1:])):
        raise Damaged(what + " do not ascend")


def _decode_table(data: bytes, first_cell: int, index: int, end: int, cls: TableClass, label: str, rows: int, parts: int) -> Table:
    """Reads a table with cells that begin at first_cell and an index from index to end, with all its digests but the
    leaf."""
    try:
        t = Table(label, cls, parts)
        _fill_table(t, data, first_cell, index, end, rows)
    except Damaged as e:
        raise Damaged('%s "%s": %s' % (cls.name.lower(), label, e)) from None
    except ValueError as e:  # a name
        raise Damaged(str(e)) from None
    return t


def _fill_table(t: Table, data: bytes, first_cell: int, index: int, end: int, rows: int) -> None:
    if crc32c(data[index:end - 4]) != int.from_bytes(data[end - 4:end], "little"):
        raise Damaged("the index fails its checksum")
    r = _Reader(data, index, end - 4)
    r.scan()
    r.exactly(4, "index")
    if r.uint("offset of the first cell") != first_cell:
        raise Damaged("its cells are not where they have to be")
    wanted = [r.hash("keys digest")]
    columns = []
    for _ in range(r.array("columns", _MAX_NAMES)):
        r.exactly(5, "column")
        component, name = r.text("component", _MAX_NAME), r.text("field", _MAX_NAME)
        columns.append(Column(component, name, Type(r.uint("type", max(Type))), r.u32("scale")))
        wanted.append(r.hash("column digest"))
    _ascend([c._names for c in columns], "columns")
    r.exactly(8, "blocks")
    bins = [r.bin("blocks") for _ in range(8)]
    blocks = len(bins[2]) // 4
    cells = blocks * (1 + len(columns))
    if [len(b) for b in bins] != [8 * blocks, 8 * blocks * (t.key_parts - 1), 4 * blocks, 32 * cells, 4 * cells, 4 * cells, cells, 4 * cells]:
        raise Damaged("the index does not fit together")
    counts, lengths, stored, crcs = (struct.unpack("<%dI" % (len(bins[i]) // 4), bins[i]) for i in (2, 4, 5, 7))
    if sum(counts) != rows:
        raise Damaged("%d rows, expected %d" % (sum(counts), rows))
    if any(bins[6]):
        raise Damaged("a cell is compressed with zstd, which is not read here")
    if lengths != stored or first_cell + sum(stored) != index:
        raise Damaged("its cells do not end where the index begins")

    lists: List[List[bytes]] = [[] for _ in wanted]
    at = first_cell
    for i in range(cells):
        cell = data[at:at + stored[i]]
        at += stored[i]
        if crc32c(cell) != crcs[i]:
            raise Damaged("a cell fails its checksum")
        lists[i % len(wanted)].append(cell)
    _read_keys(t, lists[0], counts)
    if [int(n) for n in counts] != [b - a for a, b in zip(t._starts, t._starts[1:])]:
        raise Damaged("blocks are cut elsewhere than the rule says")
    for c, list_of in zip(columns, lists[1:]):
        for block, n in zip(list_of, counts):
            c._check(block, n)
        t._add(c)
        c._cells.take(list_of)
    t._whole = True
    t._seal()
    for k, part in enumerate([t._cells] + [c._cells for c in columns]):
        if part.digest != wanted[k] or b"".join(part.digests) != b"".join(bins[3][32 * i:32 * i + 32] for i in range(k, cells, len(wanted))):
            raise Damaged("its content does not give the digests that the index has")
    firsts = [t._keys[i] for i in t._starts[:-1]]
    if b"".join(_little("Q", [k] if isinstance(k, int) else k) for k in firsts) != b"".join(
            bins[0][8 * i:8 * i + 8] + bins[1][8 * i:8 * i + 8] for i in range(blocks)):
        raise Damaged("a block has another first key than the index has")


def _read_keys(t: Table, blocks: List[bytes], counts: Sequence[int]) -> None:
    keys: List[Key] = []
    for block, n in zip(blocks, counts):
        if len(block) != 8 + 8 * t.key_parts * n or block[:8] != struct.pack("<BBHI", 3, t.key_parts, 0, n):
            raise Damaged("a block of keys is malformed")
        numbers = struct.unpack_from("<%dQ" % (n * t.key_parts), block, 8)
        keys += numbers if t.key_parts == 1 else zip(numbers[:n], numbers[n:])
    _ascend(keys, "keys")
    t._rekey(keys)
    if t._cells.blocks != blocks:
        raise Damaged("blocks are cut elsewhere than the rule says")


# ---- Sessions and orders

@dataclass(frozen=True)
class OrderKind:
    """A kind of order. Orders of a local kind, such as chat, need not be the same on all peers."""
    name: str
    local: bool = False


@dataclass(frozen=True)
class Order:
    """An order as it was applied. Kinds go by their names: another build may number them differently."""
    player: int
    kind: str  # "" if the session has no such kind
    payload: bytes = b""
    sequence: int = 0  # among the player's orders
    sub_tick: int = 0  # microseconds from the start of the tick


@dataclass
class Session:
    """What a session begins with: the header of an order log."""
    seed: int = 0
    peer: str = ""
    build: str = ""
    rate: Tuple[int, int] = (0, 0)  # ticks per second as numerator and denominator; both 0 if not known
    start: bytes = bytes(32)  # state hash at the first point, all zero if not known
    first_point: int = 0  # 0, or the state point at which a peer joined
    epoch: int = 0
    kinds: List[OrderKind] = field(default_factory=list)
    peers: List[str] = field(default_factory=list)
    params: Dict[str, str] = field(default_factory=dict)  # what a simulator needs next to the seed, such as the map
    # What is known of this peer's machine and game: os, cpu, compiler, locale, mods, data_hash. A Recorder writes them into
    # snapshots. They are not in the header: its parameters are the same on all peers.
    facts: Dict[str, str] = field(default_factory=dict)

    def _self(self) -> int:
        """The number of the session's own peer."""
        if self.peers and self.peer not in self.peers:
            raise ValueError("the peer %r is not among the peers" % self.peer)
        return self.peers.index(self.peer) if self.peers else 0

    def _kind(self, name: str) -> int:
        for i, kind in enumerate(self.kinds):
            if kind.name == name:
                return i
        raise ValueError("the session has no orders of the kind %r" % name)

    def _write(self, o: _Pack) -> None:
        o.array(10)
        o.uint(self.seed)
        o.text(self.peer)
        o.text(self.build)
        self._write_rate(o)
        o.bin(_needs_hash(self.start, "a start hash"))
        o.uint(self.first_point)
        o.u32(self.epoch)
        o.array(len(self.kinds))
        for kind in self.kinds:
            o.array(2)
            o.text(kind.name)
            o.flag(kind.local)
        o.array(len(self.peers))
        for peer in self.peers:
            o.text(peer)
        self._write_params(o)

    def _write_rate(self, o: _Pack) -> None:
        if not self.rate[0] != (not self.rate[1]):
            raise ValueError("one half of the tick rate is 0")
        o.array(2)
        o.u32(self.rate[0])
        o.u32(self.rate[1])

    def _write_params(self, o: _Pack) -> None:
        o.array(len(self.params))
        for key, value in sorted(self.params.items(), key=_key_bytes):
            o.array(2)
            o.text(key)
            o.text(value)

    @staticmethod
    def _read(r: _Reader) -> Session:
        s = Session()
        r.exactly(10, "header")
        s.seed, s.peer, s.build = r.uint("seed"), r.text("peer"), r.text("build")
        r.exactly(2, "tick rate")
        s.rate = r.u32("tick rate"), r.u32("tick rate")
        s.start, s.first_point, s.epoch = r.hash("start"), r.uint("first point"), r.u32("epoch")
        for _ in range(r.array("order kinds", _MAX_NAMES)):
            r.exactly(2, "order kind")
            s.kinds.append(OrderKind(r.text("order kind"), r.flag("local")))
        s.peers = [r.text("peer") for _ in range(r.array("peers", _MAX_NAMES))]
        for _ in range(r.array("parameters", _MAX_NAMES)):
            r.exactly(2, "parameter")
            key = r.text("parameter")
            s.params[key] = r.text("parameter")
        return s

    def _read_order(self, r: _Reader) -> Order:
        r.exactly(5, "order")
        sub_tick, player, sequence, kind = r.u32("sub tick"), r.u32("player"), r.u32("sequence"), r.u32("kind")
        return Order(player, self.kinds[kind].name if kind < len(self.kinds) else "", r.bin("payload", _MAX_PAYLOAD), sequence, sub_tick)


def input_hash(kinds: Iterable[OrderKind], tick: int, orders: Sequence[Order]) -> bytes:
    """The input hash: 8 bytes over the orders of a tick that are not local."""
    local = {kind.name for kind in kinds if kind.local}
    o, n = bytearray(4), 0
    for order in orders:
        if order.kind not in local:
            kind = order.kind.encode()
            o += struct.pack("<QIIII", tick, order.sub_tick, order.player, order.sequence, len(kind)) + kind
            o += struct.pack("<I", len(order.payload)) + order.payload
            n += 1
    o[:4] = struct.pack("<I", n)
    return _sha(o)[:8]


# ---- Order logs

class MarkerKind(enum.IntEnum):
    JOIN = 1
    LEAVE = 2
    REMOVAL = 3
    RECONNECT = 4
    SAVE = 5
    LOAD = 6
    RESYNC = 7
    FAILED_ORDER = 8


_OPENING = (MarkerKind.JOIN, MarkerKind.RECONNECT, MarkerKind.LOAD, MarkerKind.RESYNC)


@dataclass
class Marker:
    """An event before the orders of a tick."""
    kind: MarkerKind
    point: int  # state point of the event, or of the state that was loaded
    player: int = 0
    peer: int = 0
    sequence: int = 0  # of an order that failed
    new_epoch: bool = False  # the state of this log's own peer was replaced
    history: Optional[bytes] = None  # with new_epoch: the history hash of the state that was loaded, None if it is not known
    text: str = ""


class _Frames:
    """A file of checksummed frames. Each frame is one write, so that a crash loses none that was written."""

    def __init__(self, path: str, magic: bytes) -> None:
        preamble = magic + struct.pack("<HH", 1, 0)
        self.count = 0
        self._file = open(path, "wb", buffering=0)
        self._write(preamble + struct.pack("<I", crc32c(preamble)))

    def _write(self, data: bytes) -> None:
        while data:
            data = data[self._file.write(data) or 0:]

    def frame(self, kind: int, payload: bytes) -> None:
        if len(payload) > 16 << 20:
            raise ValueError("a frame of %d bytes, at most %d" % (len(payload), 16 << 20))
        head = struct.pack("<III", len(payload), kind, crc32c(payload))
        self._write(head + struct.pack("<I", crc32c(head)) + payload)
        self.count += 1

    def sync(self) -> None:
        os.fsync(self._file.fileno())

    def close(self) -> None:
        if not self._file.closed:
            try:
                self.frame(0xFFFFFFFF, struct.pack("<Q", self.count))
            finally:
                self._file.close()


class OrderLog(contextlib.AbstractContextManager):
    """Writes an order log. For each tick: note the state before it, then write tick with its orders before they are played, so that
    orders that crash the game are in the log. close, or the end of a with block, ends it.

    history is the history hash at the last point, None if points were left out. epoch is the number of the current one.
    """

    def __init__(self, path: str, session: Session) -> None:
        o = _Pack()
        session._write(o)
        self.session, self.peer = session, session._self()
        self.epoch, self.point = session.epoch, session.first_point
        self.history: Optional[bytes] = None
        self._next_tick = session.first_point
        self._root: Optional[bytes] = None  # of the last point, if its state hash is not in the log
        self._observed = self._adopted = self._opened = False
        self._hashes, self._markers, self._hash_count, self._marker_count = _Pack(), _Pack(), 0, 0
        self._frames = _Frames(path, b"\x89DOL\r\n\x1a\n")
        self._frames.frame(1, bytes(o))

    def hash(self, point: int, peer: int, kind: str, coverage: str, value: bytes) -> None:
        """Adds any hash to the next frame: another peer's, one of a kind of the engine's own, or one of a part of the state."""
        if not 1 <= len(value) <= 64:
            raise ValueError("a hash has 1 to 64 bytes")
        o = self._hashes
        o.array(5)
        o.uint(point)
        o.u32(peer)
        o.text(kind)
        o.text(coverage)
        o.bin(value)
        self._hash_count += 1

    def state(self, point: int, root: bytes) -> None:
        """Adds this peer's state hash at a point: as sync hash at each, as state and history hash at each 30th and at the last one.

        For the history hash each point has to be noted, one after the other.
        """
        _needs_hash(root, "a state hash")
        self.hash(point, self.peer, "sync", "", root[:8])
        if self._adopted:
            self._adopted = False
        elif not self._observed and point == self.session.first_point:
            self.history = history_hash(None, root)
        elif self.history is not None and point == self.point + 1:
            self.history = history_hash(self.history, root)
        else:
            self.history = None  # a point was left out
        self.point, self._root, self._observed = point, root, True
        if point % 30 == 0:
            self._note_whole()

    def _note_whole(self) -> None:
        if self._root is None:
            return
        self.hash(self.point, self.peer, "state", "", self._root)
        if self.history is not None:
            self.hash(self.point, self.peer, "history", "", self.history)
        self._root = None

    def checksum(self, point: int, value: bytes) -> None:
        """Adds a checksum of 1 to 8 bytes of the game's own as sync hash, in place of state."""
        if not 1 <= len(value) <= 8:
            raise ValueError("a checksum has 1 to 8 bytes")
        self.hash(point, self.peer, "sync", "", value.ljust(8, b"\0"))

    def marker(self, m: Marker) -> None:
        """Adds an event to the next tick. An event that opens an epoch comes before the first state that is noted in
        it. Earlier states are written at once, as they belong to the epoch that ends."""
        if m.history is not None and not m.new_epoch:
            raise ValueError("a marker has a history hash and opens no epoch")
        if m.new_epoch and m.kind not in _OPENING:
            raise ValueError("such a marker opens no epoch")
        if m.new_epoch and self._opened:
            raise ValueError("a tick opens one epoch at most")
        begun = self._frames.count > 1  # an epoch that the first tick opens is the header's
        history = b"" if m.history is None else _needs_hash(m.history, "a history hash")
        if m.new_epoch:
            self._write_noted()
        o = self._markers
        o.array(8)
        o.uint(MarkerKind(m.kind))
        o.u32(m.player)
        o.u32(m.peer)
        o.u32(m.sequence)
        o.uint(m.point)
        o.flag(m.new_epoch)
        o.bin(history)
        o.text(m.text)
        self._marker_count += 1
        if m.new_epoch:
            self.epoch += begun
            self._opened = self._adopted = True
            self._next_tick = 0
            self.history = m.history

    def tick(self, tick: int, orders: Sequence[Order]) -> None:
        """Writes the frame of a tick, with what was noted since the last one."""
        if tick < self._next_tick:
            raise ValueError("tick %d after tick %d" % (tick, self._next_tick - 1))
        o = _Pack()
        o.array(5)
        o.uint(tick)
        o.bin(input_hash(self.session.kinds, tick, orders))
        o.array(len(orders))
        for order in orders:
            if len(order.payload) > _MAX_PAYLOAD:
                raise ValueError("a payload of %d bytes, at most %d" % (len(order.payload), _MAX_PAYLOAD))
            o.array(5)
            o.u32(order.sub_tick)
            o.u32(order.player)
            o.u32(order.sequence)
            o.uint(self.session._kind(order.kind))
            o.bin(order.payload)
        o.noted(self._hashes, self._hash_count)
        o.noted(self._markers, self._marker_count)
        self._frames.frame(2, bytes(o))
        self._hashes, self._markers, self._hash_count, self._marker_count = _Pack(), _Pack(), 0, 0
        self._next_tick, self._opened = tick + 1, False

    def _write_noted(self) -> None:
        """Writes what was noted and no tick follows."""
        if self._hash_count:
            o = _Pack()
            o.noted(self._hashes, self._hash_count)
            self._frames.frame(3, bytes(o))
            self._hashes, self._hash_count = _Pack(), 0

    def sync(self) -> None:
        """Brings to the disk what was written, which then survives a loss of power. What survives a crash of the game is all that calls
        have written when they return."""
        self._frames.sync()

    def close(self) -> None:
        """Writes what was noted after the last tick, and the end marker."""
        self._note_whole()
        self._write_noted()
        self._frames.close()

    def __exit__(self, *_: object) -> None:
        self.close()


# ---- Traces

@dataclass
class Sum:
    """A named checksum; the main one's name is empty. It is bytes, or else text as the game prints it."""
    value: Union[bytes, str]
    name: str = ""


@dataclass
class Checkpoint:
    """Checksums after a system of a tick. Scope is what they cover, empty for all; predicted is set if inputs of the
    tick were guessed; count is the number of entities, None if it is not counted."""
    tick: int
    system: str
    scope: str = ""
    sums: Sequence[Sum] = ()
    predicted: bool = False
    count: Optional[int] = None


class EventKind(enum.IntEnum):
    SAVE = 1
    RESTORE = 2
    RESIMULATE = 3
    INPUT = 4


@dataclass
class Event:
    """What a rollback did. Other is the tick at which a state was restored, or the last tick that is simulated again; player and
    predicted are for inputs."""
    kind: EventKind
    tick: int
    other: int = 0
    player: int = 0
    predicted: bool = False
    sums: Sequence[Sum] = ()


class Detail(enum.IntEnum):
    """What a trace of whole states has: the sync hash; the leaves before it; and before each leaf the digests of its columns."""
    SYSTEM = 0
    ARCHETYPE = 1
    COLUMN = 2


class Trace(contextlib.AbstractContextManager):
    """Writes a binary trace: checksums at checkpoints, in the order of execution. close, or the end of a with block, ends it."""

    def __init__(self, path: str, session: Session) -> None:
        o = _Pack()
        o.array(5)
        o.array(1)
        o.uint(session.seed)
        o.text(session.peer)
        o.text(session.build)
        session._write_rate(o)
        session._write_params(o)
        self._names: Dict[str, int] = {"": 0}
        self._fresh, self._fresh_count, self._batch, self._batched, self._tick = _Pack(), 0, _Pack(), 0, 0
        self._frames = _Frames(path, b"\x89DTR\r\n\x1a\n")
        self._frames.frame(1, bytes(o))

    def _name(self, name: str) -> int:
        n = self._names.get(name)
        if n is None:
            n = self._names[name] = len(self._names)
            self._fresh.text(name)
            self._fresh_count += 1
        return n

    def _sums(self, o: _Pack, sums: Sequence[Sum]) -> None:
        if len(sums) > 256:
            raise ValueError("%d checksums, at most 256" % len(sums))
        o.array(len(sums))
        for s in sums:
            o.array(2)
            o.uint(self._name(s.name))
            if isinstance(s.value, str):
                o.text(s.value)
            else:
                o.bin(s.value)

    def add(self, c: Checkpoint) -> None:
        """Adds a checkpoint. The checkpoints of one tick are written together, by the next tick, an event, flush or
        close."""
        if not c.sums and c.count is None:
            raise ValueError("a checkpoint has neither a checksum nor a count")
        self._begin(c.tick)
        o = self._batch
        o.array(4 if c.count is None else 5)
        o.uint(self._name(c.system))
        o.uint(self._name(c.scope))
        o.uint(int(c.predicted))
        self._sums(o, c.sums)
        if c.count is not None:
            o.uint(c.count)

    def _begin(self, tick: int) -> None:
        if self._batched and (tick != self._tick or len(self._batch) >= 1 << 20):
            self.flush()
        self._tick = tick
        self._batched += 1

    def world(self, tick: int, system: str, w: World, detail: Detail) -> bytes:
        """Adds the state after a system, in as much detail as is wanted, and returns its hash."""
        def add(scope: str, digest: bytes) -> None:
            self._begin(tick)
            o = self._batch
            o.array(4)
            o.uint(self._name(system))
            o.uint(self._name(scope))
            o += b"\x00\x91\x92\x00\xc4\x08" + digest[:8]  # confirmed; one sum, the main one, of 8 bytes

        leaves = w.leaves()
        if detail >= Detail.ARCHETYPE:
            for label, leaf in leaves:
                if label and detail == Detail.COLUMN:
                    for c in w.archetype(label, w._tables[TableClass.ARCHETYPE, label].key_parts).columns:
                        add("%s/%s.%s" % (label, c.component, c.field), c._cells.digest)
                add(label or "RNG", leaf)
        root = _merkle_root([leaf for _, leaf in leaves])
        add("", root)
        return root

    def event(self, e: Event) -> None:
        self.flush()
        o = _Pack()
        o.array(6)
        o.uint(EventKind(e.kind))
        o.uint(e.tick)
        o.uint(e.other)
        o.u32(e.player)
        o.uint(int(e.predicted))
        self._sums(o, e.sums)
        self._write_names()
        self._frames.frame(4, bytes(o))

    def _write_names(self) -> None:
        if self._fresh_count:
            o = _Pack()
            o.noted(self._fresh, self._fresh_count)
            self._frames.frame(2, bytes(o))
            self._fresh, self._fresh_count = _Pack(), 0

    def flush(self) -> None:
        """Writes the checkpoints that are not written yet."""
        if self._batched:
            self._write_names()
            o = _Pack()
            o.array(2)
            o.uint(self._tick)
            o.noted(self._batch, self._batched)
            self._frames.frame(3, bytes(o))
            self._batch, self._batched = _Pack(), 0

    def sync(self) -> None:
        """flush, and brings it to the disk."""
        self.flush()
        self._frames.sync()

    def close(self) -> None:
        self.flush()
        self._frames.close()

    def __exit__(self, *_: object) -> None:
        self.close()


# ---- All files of a peer

def _json_text(text: str) -> str:
    out = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"%s"' % "".join("\\u%04x" % ord(c) if c < " " else c for c in out)


def peer_report(world: World, at: Point, player: int = -1, archetypes: Sequence[str] = (), status: str = "diverged",
                window: Optional[Tuple[int, int]] = None, orders: Sequence[Tuple[int, Order, bool]] = ()) -> str:
    """What a peer writes down when it learns that its state differs from the other peers' states: docs/peer-report.md,
    as JSON.

    player is -1 if the peer plays none. archetypes are those included with their content: the ones that differ from
    others, if that is known. window is the first and the last tick with all orders there; orders are triples of tick,
    order, and whether its kind is local.
    """
    part = Point(at.seed, at.tick, at.phase, at.native, at.peer)
    nodes = ["\n[%s,\"%s\"]" % (_json_text(label), leaf.hex()) for label, leaf in world.leaves()]
    contents = []
    for label in archetypes:
        t = world._tables.get((TableClass.ARCHETYPE, label))
        if t is None:
            raise ValueError("a report names an archetype that is not there: %r" % label)
        leaves = [leaf for name, leaf in world.leaves() if name in ("", label)]
        snap = _encode_tables(world, [t], part, _merkle_root(leaves))
        contents.append('\n{"label":%s,"world":"%s"}' % (_json_text(label), base64.b64encode(snap).decode()))
    excerpt = [
        '\n{"kind":%s,"tick":%d,"sub_tick_time":%d,"player":%d,"sequence":%d,"payload":"%s"%s}' % (
            _json_text(o.kind), tick, o.sub_tick, o.player, o.sequence, o.payload.hex(), ',"local":true' if local else "")
        for tick, o, local in orders]
    text = '{"schema":"desynctool.peer-report/1","status":%s,\n"seed":"%016x","tick":%d,"player":%d,"peer":%s' % (
        _json_text(status), at.seed, at.tick, player, _json_text(at.peer))
    if at.phase:
        text += ',"phase":' + _json_text(at.phase)
    text += ',\n"state_hash":"%s","rng_state":"%s"' % (world.state_hash().hex(), (world.rng or b"").hex())
    text += ',\n"merkle_nodes":[%s],\n"diverged_archetypes":[%s]' % (",".join(nodes), ",".join(contents))
    if window is not None:
        text += ',\n"order_log_window":{"from":%d,"to":%d},\n"order_log_excerpt":[%s]' % (*window, ",".join(excerpt))
    return text + "}\n"


class Recorder(contextlib.AbstractContextManager):
    """All that one peer leaves, in one folder: order log, trace, snapshots, reports.

    For each tick: state with the state before it, tick, and if there is a trace system after each system. At the end
    state again, and close, or the end of a with block. The folder is made, and files of an earlier session in it are
    replaced: each session needs another folder. The session's start becomes the hash of the world.
    """

    EXCERPT = 64  # ticks with orders in a report

    def __init__(self, folder: str, session: Session, world: World, detail: Optional[Detail] = Detail.SYSTEM) -> None:
        """detail None writes no trace."""
        os.makedirs(folder, exist_ok=True)
        for name in os.listdir(folder):
            if name.startswith(".desync_"):  # a game was writing it when it crashed
                os.remove(os.path.join(folder, name))
        session.start = world.state_hash()
        self.folder, self.session, self.detail = folder, session, detail
        self.root = session.start  # of the state that was noted or traced last
        self._recent: Dict[int, Sequence[Order]] = {}
        self._tick = -1  # the tick that has begun, below 0 for none
        self.log = OrderLog(os.path.join(folder, "order-log.bin"), session)
        self.trace = None if detail is None else Trace(os.path.join(folder, "checkpoints.trace"), session)

    def state(self, point: int, world: World) -> bytes:
        """Notes the state at a point, and returns its hash."""
        self.root = world.state_hash()
        self.log.state(point, self.root)
        if point > self._tick:
            self._tick = -1
        return self.root

    def marker(self, m: Marker) -> None:
        """Notes an event. If its state is replaced, a peer gives an event with new_epoch, and the state point and the
        history hash of the peer that sent the state; then it notes that state, and goes on with that point's tick."""
        self.log.marker(m)
        if m.new_epoch:
            self._recent.clear()  # an excerpt has no gap
            self._tick = -1

    def tick(self, tick: int, orders: Sequence[Order]) -> None:
        """Writes the orders of a tick, before they are played."""
        if self.trace is not None:
            self.trace.flush()
        self.log.tick(tick, orders)
        self._tick = tick
        if tick - 1 not in self._recent:
            self._recent.clear()
        self._recent[tick] = list(orders)
        self._recent.pop(tick - self.EXCERPT, None)

    def system(self, system: str, world: World) -> None:
        """Traces the state after a system of the tick that tick began. Refused without such a tick."""
        if self._tick < 0:
            raise Refused("system(%r): no tick has begun; tick comes before the systems of a tick" % system)
        if self.trace is not None and self.detail is not None:
            self.root = self.trace.world(self._tick, system, world, self.detail)

    def _point(self) -> Point:
        """The state that was noted last."""
        return Point(self.session.seed, self.log.point, peer=self.session.peer, epoch=self.log.epoch, history=self.log.history)

    def snapshot(self, world: World) -> str:
        """Writes a snapshot of the state that was noted last, with build, parameters and facts as properties. Returns its path."""
        at = self._point()
        at.properties = {**self.session.facts, **self.session.params}
        if self.session.build:
            at.properties["build"] = self.session.build
        return write_snapshot(self.folder, world, at)

    def report(self, world: World, player: int = -1, archetypes: Sequence[str] = ()) -> str:
        """Writes a report on the state that was noted last, with the content of the archetypes that are named and the orders of the
        ticks before, and returns its path."""
        at = self._point()
        local = {kind.name: kind.local for kind in self.session.kinds}
        orders = [(tick, o, local[o.kind]) for tick, list_of in self._recent.items() for o in list_of]
        window = (min(self._recent), max(self._recent)) if self._recent else None
        text = peer_report(world, at, player, archetypes, window=window, orders=orders)
        return _write_whole(self.folder, "desync_report_%016x_%010d.json" % (at.seed, at.tick), text.encode())

    def sync(self) -> None:
        """Brings log and trace to the disk. Snapshots and reports are there when they have their names."""
        self.log.sync()
        if self.trace is not None:
            self.trace.sync()

    def close(self) -> None:
        try:
            self.log.close()
        finally:
            if self.trace is not None:
                self.trace.close()

    def __exit__(self, *_: object) -> None:
        self.close()


# ---- Serving a game

class Game:
    """A game that can be replayed. Derive from it; the methods that a class overrides are announced.

    Needed are start, one of step and systems with run_system, and one of world and checksum. Raise Refused for what cannot be done and
    has changed nothing. Any other exception is reported to desynctool, its traceback goes to stderr, and the session ends.
    """

    name = ""
    build = ""
    systems: Sequence[str] = ()  # names, in the order in which they run in every tick. Capability systems, with run_system

    def start(self, session: Session) -> None:
        """Begins a session from its start; nothing may be left of an earlier one."""
        raise NotImplementedError

    def step(self, tick: int, orders: Sequence[Order]) -> None:
        """Plays one tick. Orders that make no sense are ignored as the game ignores them."""
        for number in range(len(self.systems)):
            self.run_system(number, tick, orders)

    def run_system(self, number: int, tick: int, orders: Sequence[Order]) -> None:
        """Runs one of the systems of a tick."""
        raise NotImplementedError

    def world(self) -> World:
        """The current state. Capability state; hashes then come from it."""
        raise NotImplementedError

    def checksum(self) -> bytes:
        """For games that do not return their state: a checksum of 1 to 8 bytes that they log as sync hash."""
        raise NotImplementedError

    def save(self) -> bytes:
        """Everything that the simulation reads and writes, in any form. Capability save, with restore."""
        raise NotImplementedError

    def restore(self, save: bytes) -> None:
        """A save of this process, or of another one that began the same session."""
        raise NotImplementedError

    def load(self, state: World, at: Point, session: Optional[Session]) -> None:
        """Begins a session with a state, in the place of start. Capability load.

        session is None if it is not known; else it has the seed of the state. Caches must be recomputed: the state's
        caches may be wrong. What makes no sense to the game should be Refused, with the current state as it was.
        """
        raise NotImplementedError

    def caches(self) -> Iterable[str]:
        """Computes derived data again, aside, and names what is not the same. Capability caches."""
        raise NotImplementedError

    def validate(self, tick: int, order: Order) -> str:
        """Why an order would be ignored in any state, "" if it would not. Capability validate."""
        raise NotImplementedError

    def test(self, tick: int, order: Order) -> bool:
        """Whether an order would be possible now, as the machine of the player asks who is about to give it. Capability test."""
        raise NotImplementedError

    def predict(self, tick: int, player: int, orders: Sequence[Order]) -> None:
        """Plays the current tick ahead with one player's orders, as that player's machine does, and takes it back. Capability predict."""
        raise NotImplementedError

    def orders(self) -> Dict[str, Any]:
        """What orders the session takes, for `desynctool hunt`: the map of docs/extsim.md, of dicts, lists, texts, whole numbers and bools.
        Capability orders."""
        raise NotImplementedError


_MAX_REQUEST, _MAX_REPLY, _MAX_STATE, _MAX_TICKS = 64 << 20, 16 << 20, 1 << 30, 1 << 16
_LEAST_ORDER = 7  # bytes


class _Server:
    """Answers requests for one game. What is no request at all is Damaged and ends it; all else that goes wrong is said in the reply."""

    def __init__(self, game: Game) -> None:
        def has(*names: str) -> bool:
            return all(getattr(type(game), name, None) is not getattr(Game, name) or name in vars(game) for name in names)

        self.game = game
        self.session: Optional[Session] = None  # None: none is running
        self.point = 0
        self.system: Optional[int] = None  # the next one of a tick that is played in parts
        self.orders: List[Order] = []  # of that tick
        self.systems = has("run_system") and len(game.systems) > 0
        capabilities = {
            "state": has("world"), "save": has("save", "restore"), "load": has("load"), "systems": self.systems, "caches": has("caches"),
            "validate": has("validate"), "test": has("test"), "predict": has("predict"), "orders": has("orders"),
        }
        self.can = [name for name, it_has in capabilities.items() if it_has]
        if not has("start") or not (has("step") or self.systems) or not (has("world") or has("checksum")):
            raise ValueError("the game has no start, neither step nor systems and run_system, or neither world nor checksum")
        # Capability, parameters, whether a session has to run, and whether no tick may be in parts.
        self.methods: Dict[str, Tuple[str, int, bool, bool, Callable[[_Reader, _Pack], None]]] = {
            "hello": ("", 2, False, False, self.hello),
            "start": ("", 1, False, False, self.start),
            "load": ("load", 2, False, False, self.load),
            "step": ("", 2, True, True, self.step),
            "state": ("state", 0, True, False, self.state),
            "save": ("save", 0, True, True, self.save),
            "restore": ("save", 1, True, False, self.restore),
            "begin": ("systems", 2, True, True, self.begin),
            "next": ("systems", 0, True, False, self.next),
            "caches": ("caches", 0, True, False, self.caches),
            "validate": ("validate", 2, True, False, self.validate),
            "test": ("test", 2, True, True, self.test),
            "predict": ("predict", 3, True, True, self.predict),
            "orders": ("orders", 0, True, False, lambda r, o: o.plain(self.game.orders())),
        }

    def answer(self, request: bytes) -> bytes:
        r = _Reader(request)
        r.scan()
        r.exactly(3, "a request")
        id, method, count = r.uint("its number"), r.text("its method"), r.array("its parameters")
        head = _Pack()
        head.array(3)
        head.uint(id)
        result = _Pack()
        why = ""
        try:
            self.call(method, count, r, result)
            most = _MAX_STATE if method in ("state", "save") else _MAX_REPLY
            if len(result) > most:
                why = "a reply of %d bytes, at most %d" % (len(result), most)
        except (Damaged, Refused) as e:
            why = str(e) or "it is refused"
        except Exception as e:
            traceback.print_exc(file=sys.stderr)
            why = "%s: %s" % (type(e).__name__, e)
            self.session = None  # whatever it was doing, it is half done
        if not why:
            return bytes(head) + b"\xc0" + result
        head.text(method + ": " + why.replace("\n", " "))
        head.nil()
        return bytes(head)

    def call(self, method: str, count: int, r: _Reader, o: _Pack) -> None:
        if method not in self.methods or self.methods[method][0] not in ["", *self.can]:
            raise Refused("no such request")
        _, parameters, running, whole, do = self.methods[method]
        if count != parameters:
            raise Refused("%d parameters, expected %d" % (count, parameters))
        if running and self.session is None:
            raise Refused("no session is running")
        if whole and self.system is not None:
            raise Refused("tick %d is being played in parts" % self.point)
        do(r, o)

    def running(self) -> Session:
        assert self.session is not None
        return self.session

    def read_tick(self, r: _Reader) -> int:
        tick = r.uint("tick")
        if tick != self.point:
            raise Refused("tick %d, the state is at point %d" % (tick, self.point))
        return tick

    def read_orders(self, r: _Reader) -> List[Order]:
        return [self.running()._read_order(r) for _ in range(r.array("orders", (r.end - r.at) // _LEAST_ORDER))]

    def sync(self) -> bytes:
        if "state" in self.can:
            return self.game.world().state_hash()[:8]
        checksum = self.game.checksum()
        if not 1 <= len(checksum) <= 8:
            raise ValueError("a checksum has 1 to 8 bytes")
        return checksum.ljust(8, b"\0")

    def arrived(self, session: Session, point: int, o: _Pack) -> None:
        self.session, self.point, self.system = session, point, None
        o.array(2)
        o.uint(point)
        o.bin(self.sync())

    def hello(self, r: _Reader, o: _Pack) -> None:
        r.uint("protocol")
        r.text("client")
        o.pairs(5)
        o.text("protocol")
        o.uint(1)
        o.text("name")
        o.text(self.game.name)
        o.text("build")
        o.text(self.game.build)
        o.text("can")
        self.strings(self.can, o)
        o.text("max_request")
        o.uint(_MAX_REQUEST)

    def strings(self, texts: Sequence[str], o: _Pack) -> None:
        o.array(len(texts))
        for text in texts:
            o.text(text)

    def start(self, r: _Reader, o: _Pack) -> None:
        session = Session._read(r)
        if session.first_point:
            raise Refused("the session does not begin at its start")
        self.game.start(session)
        self.arrived(session, 0, o)

    def load(self, r: _Reader, o: _Pack) -> None:
        file = r.bin("state")
        session = None if r.nil() else Session._read(r)
        at, world = decode_snapshot(file)
        if session is not None and session.seed != at.seed:
            raise Refused("the state is of another session: its seed is %016x, the header's %016x" % (at.seed, session.seed))
        if at.phase:
            raise Refused("the state is of the middle of a tick")
        self.game.load(world, at, session)
        self.arrived(session or Session(seed=at.seed), at.tick, o)

    def step(self, r: _Reader, o: _Pack) -> None:
        tick = self.read_tick(r)
        ticks = [self.read_orders(r) for _ in range(r.array("ticks", _MAX_TICKS))]
        hashes = bytearray()
        try:
            for i, orders in enumerate(ticks):
                self.game.step(tick + i, orders)
                self.point = tick + i + 1
                hashes += self.sync()
        except Refused:
            self.session = None  # it has begun to play
            raise
        o.bin(bytes(hashes))

    def state(self, r: _Reader, o: _Pack) -> None:
        session = self.running()
        o.bin(encode_snapshot(self.game.world(), Point(session.seed, self.point, peer=session.peer)))

    def save(self, r: _Reader, o: _Pack) -> None:
        # Our head distinguishes a save from other bytes, so that the game need not.
        body = struct.pack("<QQ", self.running().seed, self.point) + self.game.save()
        o.bin(b"DSV1" + struct.pack("<I", zlib.crc32(body)) + body)

    def restore(self, r: _Reader, o: _Pack) -> None:
        save = r.bin("save")
        if len(save) < 24 or save[:4] != b"DSV1" or zlib.crc32(save[8:]) != int.from_bytes(save[4:8], "little"):
            raise Refused("not a save")
        seed, point = struct.unpack_from("<QQ", save, 8)
        if seed != self.running().seed:
            raise Refused("a save of another session")
        self.game.restore(save[24:])
        self.arrived(self.running(), point, o)

    def begin(self, r: _Reader, o: _Pack) -> None:
        self.read_tick(r)
        self.orders = self.read_orders(r)
        self.system = 0
        o.nil()

    def next(self, r: _Reader, o: _Pack) -> None:
        number, names = self.system, self.game.systems
        if number is None:
            raise Refused("no tick has begun")
        self.game.run_system(number, self.point, self.orders)
        more = number + 1 < len(names)
        self.system = number + 1 if more else None
        o.array(3)
        o.text(names[number])
        o.flag(more)
        o.bin(self.sync())
        self.point += not more

    def caches(self, r: _Reader, o: _Pack) -> None:
        self.strings(sorted(self.game.caches(), key=str.encode), o)

    def validate(self, r: _Reader, o: _Pack) -> None:
        tick = r.uint("tick")
        self.strings([self.game.validate(tick, order) for order in self.read_orders(r)], o)

    def test(self, r: _Reader, o: _Pack) -> None:
        tick = self.read_tick(r)
        possible = self.game.test(tick, self.running()._read_order(r))
        o.array(2)
        o.flag(possible)
        o.bin(self.sync())

    def predict(self, r: _Reader, o: _Pack) -> None:
        tick, player = self.read_tick(r), r.u32("player")
        self.game.predict(tick, player, self.read_orders(r))
        o.bin(self.sync())


def _read_fully(stream: BinaryIO, n: int) -> bytes:
    """Reads n bytes, or as many as come. The number is trusted only as far as bytes come."""
    out = bytearray()
    while len(out) < n:
        more = stream.read(min(n - len(out), max(65536, len(out))))
        if not more:
            break
        out += more
    return bytes(out)


def _serve_all(server: _Server, requests: BinaryIO, replies: BinaryIO) -> None:
    while True:
        head = _read_fully(requests, 4)
        if not head:
            return
        if len(head) < 4:
            raise Damaged("the connection ends inside the length of a request")
        n = int.from_bytes(head, "little")
        if n > _MAX_REQUEST:
            raise Damaged("a request of %d bytes, at most %d are taken" % (n, _MAX_REQUEST))
        request = _read_fully(requests, n)
        if len(request) < n:
            raise Damaged("the connection ends inside a request")
        try:
            reply = server.answer(request)
        except Damaged as e:
            raise Damaged("a request makes no sense: %s" % e) from None
        replies.write(struct.pack("<I", len(reply)) + reply)
        replies.flush()


def _connect(address: str) -> socket.socket:
    kind, _, rest = address.partition(":")
    if kind == "unix":
        s = socket.socket(socket.AF_UNIX)
        s.connect(rest)
    elif kind == "tcp" and ":" in rest:
        host, _, port = rest.rpartition(":")
        s = socket.create_connection((host.strip("[]"), int(port)))
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    else:
        raise ValueError("DESYNCTOOL_SIM is %r, expected unix:PATH or tcp:HOST:PORT" % address)
    return s


@contextlib.contextmanager
def _connection() -> Iterator[Tuple[BinaryIO, BinaryIO]]:
    """The streams of requests and of replies: of the socket that DESYNCTOOL_SIM names, else stdin and stdout. What the game prints
    goes to stderr then."""
    address = os.environ.get("DESYNCTOOL_SIM")
    if not address:
        with os.fdopen(os.dup(1), "wb") as replies:
            os.dup2(2, 1)
            yield sys.stdin.buffer, replies
        return
    with _connect(address) as s, s.makefile("rb") as requests, s.makefile("wb") as replies:
        token = _Pack()
        token.text(os.environ.get("DESYNCTOOL_SIM_TOKEN", ""))
        replies.write(struct.pack("<I", len(token)) + token)
        replies.flush()
        yield requests, replies


def serve(game: Game) -> int:
    """Answers requests until the connection ends and returns the exit status of the process: 0, or 2 with a line on stderr."""
    server = _Server(game)
    try:
        with _connection() as (requests, replies):
            _serve_all(server, requests, replies)
    except (OSError, ValueError) as e:
        print(str(e).replace("\n", " "), file=sys.stderr)
        return 2
    return 0


# ---- Signatures

_P, _ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493  # of the field, and of the base point
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)  # of -1
_Curve = Tuple[int, int, int, int]  # X, Y, Z, T: x is X/Z, y is Y/Z, xy is T/Z


def _plus(a: _Curve, b: _Curve) -> _Curve:
    """The sum of two points. T of the second one is multiplied by 2d, as _comb leaves it."""
    (x, y, z, t), (bx, by, bz, bt) = a, b
    p, q, r, s = (y - x) * (by - bx), (y + x) * (by + bx), t * bt, 2 * z * bz
    e, f, g, h = q - p, (s - r) % _P, (s + r) % _P, q + p
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _twice(a: _Curve) -> _Curve:
    x, y, z, _ = a
    p, q = x * x, y * y
    h = p + q
    e, g = h - (x + y) ** 2, p - q
    f = (2 * z * z + g) % _P
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _doubled(a: _Curve) -> _Curve:
    return a[0], a[1], a[2], a[3] * 2 * _D % _P


def _comb(a: _Curve) -> List[_Curve]:
    """The sixteen sums of a point's multiples by 1, 2**64, 2**128 and 2**192, ready to be added."""
    table: List[_Curve] = [(0, 1, 1, 0)]
    for i in range(4):
        table += [_plus(a, _doubled(b)) for b in table]
        for _ in range(64 if i < 3 else 0):
            a = _twice(a)
    return [_doubled(b) for b in table]


def _times(*parts: Tuple[List[_Curve], int]) -> _Curve:
    """The sum of points, as _comb leaves them, each times a number below 2**256."""
    at: _Curve = (0, 1, 1, 0)
    for i in range(63, -1, -1):
        at = _twice(at)
        for table, n in parts:
            n >>= i
            at = _plus(at, table[n & 1 | n >> 63 & 2 | n >> 126 & 4 | n >> 189 & 8])
    return at


def _encode_point(a: _Curve) -> bytes:
    inverse = pow(a[2], -1, _P)
    return (a[1] * inverse % _P | (a[0] * inverse % _P & 1) << 255).to_bytes(32, "little")


def _decode_point(b: bytes) -> Optional[_Curve]:
    """A point, None if there is none. As Go's crypto/ed25519 does, it takes a y of 2**255 - 19 and more, and -0 for x."""
    n = int.from_bytes(b, "little")
    y = (n & (1 << 255) - 1) % _P
    u, v = (y * y - 1) % _P, (_D * y * y + 1) % _P
    x = u * pow(v, 3, _P) * pow(u * pow(v, 7, _P), (_P - 5) // 8, _P) % _P
    if v * x * x % _P == -u % _P:
        x = x * _ROOT % _P
    if v * x * x % _P != u:
        return None
    if x & 1 != n >> 255:
        x = -x % _P
    return x, y, 1, x * y % _P


@functools.lru_cache(None)
def _base() -> List[_Curve]:
    point = _decode_point((4 * pow(5, -1, _P) % _P).to_bytes(32, "little"))
    assert point
    return _comb(point)


_EIGHTH = 0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826  # y of two points of order 8


def _small(b: bytes) -> bool:
    """Whether a point, in any encoding, is one of the eight of small order: whoever has such a key needs no secret to sign."""
    return int.from_bytes(b, "little") & (1 << 255) - 1 in (0, 1, _EIGHTH, _P - _EIGHTH, _P - 1, _P, _P + 1)


@functools.lru_cache(64)
def _key_comb(key: bytes) -> Optional[List[_Curve]]:
    point = _decode_point(key)
    return _comb((-point[0] % _P, point[1], 1, -point[3] % _P)) if point else None


def _sha512(*parts: bytes) -> int:
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


@functools.lru_cache(64)
def _expanded(secret: bytes) -> Tuple[int, bytes, bytes]:
    """What signs: the scalar of a secret key, what makes each signature's own number, and the public key."""
    h = hashlib.sha512(_needs_hash(secret, "a secret key")).digest()
    scalar = int.from_bytes(h[:32], "little") & (1 << 254) - 8 | 1 << 254
    return scalar, h[32:], _encode_point(_times((_base(), scalar)))


def public_key(secret: bytes) -> bytes:
    """The 32 bytes of the Ed25519 public key of a secret one, which is its seed of 32 bytes (RFC 8032)."""
    return _expanded(bytes(secret))[2]


def sign(secret: bytes, message: bytes) -> bytes:
    """The Ed25519 signature, 64 bytes. How long it takes depends on the secret key: where an enemy can measure that, sign elsewhere."""
    scalar, prefix, key = _expanded(bytes(secret))
    r = _sha512(prefix, message) % _ORDER
    point = _encode_point(_times((_base(), r)))
    return point + ((r + _sha512(point, key, message) * scalar) % _ORDER).to_bytes(32, "little")


def verify(key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether an Ed25519 signature is valid. Go's crypto/ed25519 takes the same ones, and keys and R of small order."""
    if len(key) != 32 or len(signature) != 64:
        return False
    point, s, comb = signature[:32], int.from_bytes(signature[32:], "little"), _key_comb(bytes(key))
    if comb is None or s >= _ORDER or _small(key) or _small(point):
        return False
    return _encode_point(_times((_base(), s), (comb, _sha512(point, key, message) % _ORDER))) == point


_CHAIN = b"desynctool tick-signatures 1 "
_CHAIN_MAGIC = b"\x89TSIGS\r\n"


def _genesis(seed: int, key: bytes, start: bytes, peer: bytes) -> bytes:
    return _sha(_CHAIN + b"genesis\n" + struct.pack("<Q", seed) + key + start + struct.pack("<I", len(peer)) + peer)


class TickSignatures(contextlib.AbstractContextManager):
    """Writes tick-signatures.bin: the state hashes of ticks, each signed together with all that were before.

    The secret key is the 32 bytes of its seed. Instead of it there can be a public key, and a function that signs with
    it, such as the function of a key store; its results are checked. start is the state hash at the first point, zeros
    if it is not known. Each entry is one write, so that a crash loses none. close, or the end of a with block, signs
    how many there are: without it, it is not known whether entries were cut off.
    """

    def __init__(self, path: str, seed: int, peer: str, secret: Optional[bytes] = None, start: bytes = bytes(32), *,
                 key: Optional[bytes] = None, sign: Optional[Callable[[bytes], bytes]] = None) -> None:
        if (secret is None) == (key is None) or (key is None) != (sign is None):
            raise ValueError("expected either a secret key, or a public key and what signs with it")
        self.key = public_key(secret) if secret is not None else _needs_hash(bytes(key or b""), "a key")
        self._secret, self._sign = secret, sign
        name = peer.encode("utf-8", "surrogateescape")
        if len(name) > _MAX_TEXT:
            raise ValueError("a peer's name of %d bytes, at most %d" % (len(name), _MAX_TEXT))
        o = _Pack()
        o.pairs(4)
        o.text("seed")
        o.uint(seed)
        o.text("peer")
        o.text(name)
        o.text("key")
        o.bin(self.key)
        o.text("start")
        o.bin(_needs_hash(start, "a start hash"))
        self.count, self.tick, self._link, self._ended = 0, -1, _genesis(seed, self.key, start, name), False
        self._frames = _Frames(path, _CHAIN_MAGIC)
        self._frames.frame(1, bytes(o))

    def _signed(self, what: bytes, body: bytes) -> bytes:
        if self._sign is None:
            return body + sign(self._secret or b"", _CHAIN + what + body)
        signature = self._sign(_CHAIN + what + body)
        if not verify(self.key, _CHAIN + what + body, signature):
            raise ValueError("what signs did not sign with the key")
        return body + signature

    def append(self, tick: int, state_hash: bytes) -> None:
        """Signs the state hash of a tick: the hash of the state before its orders. Ticks ascend; those that are left
        out are counted."""
        if not self.tick < tick <= _U64:
            raise ValueError("tick %d after tick %d" % (tick, self.tick))
        skipped = tick - self.tick - 1 if self.count else 0
        entry = self._signed(b"entry\n", self._link + struct.pack("<QQ", skipped, tick) + _needs_hash(state_hash, "a state hash"))
        self._frames.frame(2, entry)
        self.count, self.tick, self._link = self.count + 1, tick, _sha(_CHAIN + b"link\n" + entry)

    def close(self) -> None:
        """Signs the end, and writes it and the end marker."""
        if not self._ended:
            self._ended = True
            try:
                self._frames.frame(3, self._signed(b"end\n", self._link + struct.pack("<Q", self.count)))
            finally:
                self._frames.close()

    def __exit__(self, *_: object) -> None:
        self.close()


class FindingKind(enum.IntEnum):
    """What is said of a file of signatures."""
    OTHER_KEY = 1
    CORRUPT = 2
    TAMPERED = 3
    MISSING = 4
    CONTRADICTION = 5
    SKIPPED = 6
    MISSING_AT_END = 7
    OPEN = 8

    @property
    def words(self) -> str:
        return _FINDINGS[self - 1]


_FINDINGS = (
    "the key is not the one that is trusted",
    "the file is damaged here: nothing after it is read",
    "the signature is not valid and the checksum is right: somebody changed this, or made it without the key",
    "entries before this one are missing or were moved, or it is from another chain of the key",
    "the signer contradicts itself: the ticks do not ascend, or are not as many as it says",
    "the signer itself left out ticks before this one: nothing was tampered with",
    "entries at the end were removed or changed",
    "there is no signed end: entries at the end may have been cut off",
)
_MAX_FINDINGS = 1000


@dataclass(frozen=True)
class Finding:
    """Where something is found: the frame's offset in bytes, the number of the entry, its tick and the tick of the
    entry before, None where there is none or it is not known."""
    kind: FindingKind
    offset: int
    entry: int
    after: Optional[int] = None
    tick: Optional[int] = None


@dataclass
class CheckedSignatures:
    """The content of a file of signatures, and what is found in it, in the order of the file.

    bound is how many entries from the start have no break before them or in them: key signed them for this session. The
    file cannot show who has the key. found is how many findings there are; the list has the first 1000.
    """
    seed: int
    peer: str
    key: bytes
    start: bytes
    entries: int = 0
    bound: int = 0
    closed: bool = False
    found: int = 0
    findings: List[Finding] = field(default_factory=list)
    _hashes: Dict[int, bytes] = field(default_factory=dict, repr=False)

    @property
    def whole(self) -> bool:
        """Nothing is found but ticks that the signer itself left out, and a missing end."""
        return all(f.kind in (FindingKind.SKIPPED, FindingKind.OPEN) for f in self.findings) and self.found <= _MAX_FINDINGS

    def state_hash(self, tick: int) -> Optional[bytes]:
        """The state hash of a tick, None if the tick has no bound entry."""
        return self._hashes.get(tick)


def check_signatures(data: bytes, key: Optional[bytes] = None) -> CheckedSignatures:
    """Checks the bytes of a tick-signatures.bin. Key is the public key that is trusted: without it the file shows that
    it is whole, and by one signer, but not by which one. A file is Damaged if its header cannot be read."""
    return _ChainReader(data).check(key)


class _ChainReader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at, self.frames = data, 16, 0
        if data[:8] != _CHAIN_MAGIC:
            raise Damaged("not a tick-signatures.bin")
        if len(data) < 16:
            raise Damaged("torn in the preamble")
        version, flags, crc = struct.unpack_from("<HHI", data, 8)
        if crc != crc32c(data[:12]):
            raise Damaged("the preamble fails its checksum")
        if version != 1:
            raise Damaged("version %d, expected 1" % version)
        if flags:
            raise Damaged("the preamble has flags")

    def torn(self, part: int, end: int) -> bool:
        """Whether from some byte of a part that fails its checksum on there is nothing but zero bytes, as a crash leaves them."""
        begin = max(part, len(self.data.rstrip(b"\0")))
        return begin < end and len(self.data) - begin >= 16

    def next(self) -> Tuple[str, int, bytes]:
        """The next frame: "", its kind and payload. Or how the file ends: "clean", "torn" or "corrupt". at stays at what ends it."""
        data, at = self.data, self.at
        if len(data) - at < 16:
            return "torn", 0, b""
        length, kind, crc, head = struct.unpack_from("<IIII", data, at)
        if head != crc32c(data[at:at + 12]):
            return "torn" if self.torn(at, at + 16) else "corrupt", 0, b""
        if length > 1 << 20:
            return "corrupt", 0, b""
        if length > len(data) - at - 16:
            return "torn", 0, b""
        payload = data[at + 16:at + 16 + length]
        if crc != crc32c(payload):
            return "torn" if self.torn(at + 16, at + 16 + length) else "corrupt", 0, b""
        if kind == 0xFFFFFFFF:
            if length != 8 or struct.unpack("<Q", payload)[0] != self.frames:
                return "corrupt", 0, b""
            if len(data) > at + 24:
                self.at += 24
                return "corrupt", 0, b""
            return "clean", 0, b""
        self.at += 16 + length
        self.frames += 1
        return "", kind, payload

    def header(self) -> CheckedSignatures:
        ended, kind, payload = self.next()
        if ended or kind != 1:
            raise Damaged("the header is missing or damaged")
        r, values = _Reader(payload), {}
        r.scan()
        for _ in range(r.pairs("the header", _U32)):
            name = r.text("a key", len(payload))
            if name in values:
                raise Damaged("the header has %s twice" % name)
            if name == "seed":
                values[name] = r.uint(name)
            elif name == "peer":
                values[name] = r.text(name)
            elif name in ("key", "start"):
                values[name] = r.hash(name)
            else:
                r.skip()
        if len(values) != 4:
            raise Damaged("the header lacks seed, peer, key or start")
        return CheckedSignatures(**values)

    def check(self, trusted: Optional[bytes]) -> CheckedSignatures:
        c = self.header()
        link, tick = _genesis(c.seed, c.key, c.start, c.peer.encode("utf-8", "surrogateescape")), None
        unbroken, tampered = True, False  # the chain so far; the entry before

        def found(kind: FindingKind, offset: int, after: Optional[int] = None, now: Optional[int] = None) -> None:
            c.found += 1
            if c.found <= _MAX_FINDINGS:
                c.findings.append(Finding(kind, offset, c.entries, after, now))

        if trusted is not None and trusted != c.key:
            found(FindingKind.OTHER_KEY, 16)
        signed = False  # the end
        while True:
            offset = self.at
            ended, kind, payload = self.next()
            if ended == "corrupt" or not ended and (signed or (kind, len(payload)) not in ((2, 144), (3, 104))):
                found(FindingKind.CORRUPT, self.at if ended else offset)
                return c
            if ended:
                break
            valid = verify(c.key, _CHAIN + (b"entry\n" if kind == 2 else b"end\n") + payload[:-64], payload[-64:])
            previous, number = payload[:32], struct.unpack_from("<Q", payload, 32)[0]
            if kind == 3:
                signed = True
                if not valid:
                    found(FindingKind.TAMPERED, offset, tick)
                elif previous != link and not (tampered and number == c.entries):
                    found(FindingKind.MISSING_AT_END, offset, tick)
                elif number != c.entries and unbroken:  # else what is missing has been said
                    found(FindingKind.CONTRADICTION, offset, tick)
                else:
                    c.closed = True
                continue
            now = struct.unpack_from("<Q", payload, 40)[0]
            whole = False
            if not valid:
                found(FindingKind.TAMPERED, offset, tick, now)
            elif tampered:
                pass  # what it followed is not known
            elif previous != link:
                found(FindingKind.MISSING, offset, tick, now)
            elif tick is None and number or tick is not None and (now <= tick or number != now - tick - 1):
                found(FindingKind.CONTRADICTION, offset, tick, now)
            else:
                whole = True
                if number:
                    found(FindingKind.SKIPPED, offset, tick, now)
            unbroken, tampered = unbroken and whole, not valid
            if unbroken and trusted in (None, c.key):
                c.bound += 1
                c._hashes[now] = payload[48:80]
            c.entries, link, tick = c.entries + 1, _sha(_CHAIN + b"link\n" + payload), now
        if not signed:
            found(FindingKind.OPEN, self.at, tick)
        return c
