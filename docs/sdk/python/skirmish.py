# SPDX-License-Identifier: MIT-0
# Copyright 2026 The desynctool authors
"""skirmish.py: a whole small game with desynctool.py. Two players, infantry and tanks, five systems, in lockstep.

    python3 skirmish.py record DIR [--ticks N] [--seed N] [--fault TICK] [--sign N]   two peers play, and leave DIR/host and DIR/client
    python3 skirmish.py serve [--fault TICK]                                          replays for desynctool

The rules are those of c/skirmish.c: the same session leaves the same bytes. The fault hides: from TICK on the client (or what is served)
forgets to take the dead out of the grid, a cache. Nothing differs until a unit walks where the grid wrongly shows a
crowd. With --sign each peer signs its states, with a key made of N; the keys of a real game are secret.
"""

from __future__ import annotations

import os
import struct
import sys
from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

from desynctool import Detail, Game, Order, OrderKind, Point, Recorder, Refused, Session, TickSignatures, Type, World, serve

INFANTRY, TANK = 0, 1
LABELS = ("Infantry", "Tank")
SLOTS = 40  # of each type
UNITS = len(LABELS) * SLOTS
SIDE, CELL, ONE = 16, 8, 65536  # cells along the map; paces along a cell; units of 1/65536 in a pace
EDGE = SIDE * CELL * ONE
KINDS = ["move", "attack", "stop"]
NEVER = (1 << 64) - 1
COMMAND = struct.Struct("<QQII")  # payload of orders: unit, target of attack, x and y of move in paces
UNIT = struct.Struct("<QQqqqqiHBBB")


@dataclass
class Unit:
    id: int = 0  # modulo UNITS it is the slot
    target: int = 0  # 0 is no target
    x: int = 0
    y: int = 0
    goal_x: int = 0
    goal_y: int = 0
    health: int = 0
    cooldown: int = 0  # ticks until it fires again
    owner: int = 0
    alive: bool = False
    targeted: bool = False  # it has a target


class Random:
    """64 bits that are drawn from, as they wrap around in C."""

    def __init__(self, state: int) -> None:
        self.state = state

    def draw(self, n: int) -> int:
        """Of 0 to n - 1."""
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self.state >> 33) * n >> 31


def cell(u: Unit) -> int:
    return u.y // ONE // CELL * SIDE + u.x // ONE // CELL


def distance(a: Unit, b: Unit) -> int:
    return abs(a.x - b.x) + abs(a.y - b.y)


def toward(at: int, to: int, pace: int) -> int:
    return min(max(to, at - pace), at + pace)


class Skirmish(Game):
    name, build = "skirmish", "1.0"
    systems = ("Orders", "Movement", "Targeting", "Combat", "Reinforcement")

    def __init__(self, fault: int = NEVER) -> None:
        self.fault = fault  # first tick with it
        self.rng = Random(0)
        self.serial = 0  # of the last unit; hashed with the RNG
        self.kills = [0, 0]
        self.units = [Unit() for _ in range(UNITS)]  # infantry, then tanks
        self.grid = [0] * (SIDE * SIDE)  # how many units are in each cell: derived, and kept up to date by the systems
        self.described = World()
        for label in LABELS:
            t = self.described.archetype(label)
            t.column("Health", "points", Type.I32)
            t.column("Owner", "player", Type.U8)
            for component in ("Position", "Goal"):
                t.column(component, "x", Type.FIXED, ONE)
                t.column(component, "y", Type.FIXED, ONE)
            t.column("Weapon", "cooldown", Type.U16)
            t.column("Weapon", "target", Type.REF)
        self.described.archetype("Player").column("Score", "kills", Type.U32)
        self.described.cache("Grid").column("Cell", "units", Type.U16)

    # The rules

    def find(self, id: int) -> Optional[Unit]:
        u = self.units[id % UNITS]
        return u if u.alive and u.id == id else None

    def spawn(self, type: int, owner: int) -> None:
        for slot in range(type * SLOTS, (type + 1) * SLOTS):
            if not self.units[slot].alive:
                break
        else:
            return
        self.serial = (self.serial + 1) % (1 << 64)
        u = Unit(id=(self.serial * UNITS + slot) % (1 << 64), alive=True, owner=owner, health=120 if type == TANK else 40)
        u.x = u.goal_x = (12 if owner else 2) * CELL * ONE + self.rng.draw(2 * CELL * ONE)
        u.y = u.goal_y = self.rng.draw(EDGE)
        self.units[slot] = u
        self.count_in(u, 1)

    def count_in(self, u: Unit, by: int) -> None:
        self.grid[cell(u)] = (self.grid[cell(u)] + by) % (1 << 16)

    def ordered(self, o: Order) -> Optional[Unit]:
        """The unit that an order is for, None if it is not possible now."""
        if self.validate(0, o):
            return None
        id, target, _, _ = COMMAND.unpack(o.payload)
        u = self.find(id)
        return u if u and u.owner == o.player and (o.kind != "attack" or self.find(target)) else None

    def obey(self, orders: Sequence[Order]) -> None:
        for o in orders:
            u = self.ordered(o)
            if not u:
                continue
            _, target, x, y = COMMAND.unpack(o.payload)
            u.targeted = o.kind == "attack"
            u.target = target if u.targeted else 0
            u.goal_x = x * ONE % EDGE if o.kind == "move" else u.x
            u.goal_y = y * ONE % EDGE if o.kind == "move" else u.y

    def move(self) -> None:
        for slot, u in enumerate(self.units):
            if not u.alive:
                continue
            pace = (ONE // 4 if slot < SLOTS else ONE // 2) // (2 if self.grid[cell(u)] > 2 else 1)  # slow in a crowd
            self.count_in(u, -1)
            u.x, u.y = toward(u.x, u.goal_x, pace), toward(u.y, u.goal_y, pace)
            self.count_in(u, 1)

    def aim(self) -> None:
        living = [[u for u in self.units if u.alive and u.owner == owner] for owner in range(2)]
        for u in self.units:
            if not u.alive:
                continue
            at = self.find(u.target) if u.targeted else None
            if at:
                if distance(u, at) > 12 * ONE:
                    u.goal_x, u.goal_y = at.x, at.y  # after it
                continue
            u.targeted, u.target = False, 0
            for at in living[1 - u.owner]:
                if distance(u, at) < 16 * ONE:
                    u.targeted, u.target = True, at.id
                    break

    def fight(self, tick: int) -> None:
        for slot, u in enumerate(self.units):
            if not u.alive:
                continue
            at = self.find(u.target) if u.targeted else None
            if u.cooldown:
                u.cooldown -= 1
            if not at or u.cooldown or distance(u, at) > 16 * ONE:
                continue
            u.cooldown = 10 if slot < SLOTS else 30
            at.health -= u.cooldown // 2 + self.rng.draw(u.cooldown)
            if at.health > 0:
                continue
            at.alive = False
            self.kills[u.owner] = (self.kills[u.owner] + 1) % (1 << 32)
            if tick < self.fault:
                self.count_in(at, -1)

    def reinforce(self, tick: int) -> None:
        for owner in range(2 if tick % 20 == 0 else 0):
            self.spawn(INFANTRY if self.rng.draw(4) else TANK, owner)

    # What desynctool asks

    def start(self, session: Session) -> None:
        self.refuse_unknown(session)
        self.rng, self.serial, self.kills = Random(session.seed), 0, [0, 0]
        self.units, self.grid = [Unit() for _ in range(UNITS)], [0] * (SIDE * SIDE)
        for i in range(32):
            self.spawn(INFANTRY if i % 8 < 6 else TANK, i % 2)

    def refuse_unknown(self, session: Optional[Session]) -> None:
        if session and session.params.get("map", "plain") != "plain":
            raise Refused("there is no such map")

    def run_system(self, number: int, tick: int, orders: Sequence[Order]) -> None:
        if number == 0:
            self.obey(orders)
        elif number == 1:
            self.move()
        elif number == 2:
            self.aim()
        elif number == 3:
            self.fight(tick)
        else:
            self.reinforce(tick)

    def world(self) -> World:
        w = self.described
        w.rng = struct.pack("<QQ", self.rng.state, self.serial)
        for type, label in enumerate(LABELS):
            units = [u for u in self.units[type * SLOTS:(type + 1) * SLOTS] if u.alive]
            w.archetype(label).fill(
                [u.id for u in units], [u.health for u in units], [u.owner for u in units], [u.x for u in units], [u.y for u in units],
                [u.goal_x for u in units], [u.goal_y for u in units], [u.cooldown for u in units],
                [u.target if u.targeted else None for u in units])
        w.archetype("Player").fill(range(2), self.kills)
        w.cache("Grid").fill(range(SIDE * SIDE), self.grid)
        return w

    def load(self, state: World, at: Point, session: Optional[Session]) -> None:
        self.refuse_unknown(session)
        units = [Unit() for _ in range(UNITS)]
        for type, label in enumerate(LABELS):
            t = state.archetype(label)
            declared = [t.column(c.component, c.field, c.type, c.scale).values for c in self.described.archetype(label).columns]
            for id, goal_x, goal_y, health, owner, x, y, cooldown, target in zip(t.keys, *declared):
                slot = id % UNITS
                if None in (goal_x, goal_y, health, owner, x, y, cooldown) or slot // SLOTS != type or units[slot].alive:
                    raise Refused("the state has a unit that the game has no slot for, or one that lacks a value")
                if not all(0 <= v < EDGE for v in (x, y, goal_x, goal_y)) or owner > 1 or health < 1:
                    raise Refused("the state has a unit that cannot be")
                units[slot] = Unit(id, target or 0, x, y, goal_x, goal_y, health, cooldown, owner, True, target is not None)
        players = state.archetype("Player")
        kills = players.column("Score", "kills", Type.U32).values
        if list(players.keys) != [0, 1] or None in kills or state.rng is None or len(state.rng) != 16:
            raise Refused("the state has other players, or another RNG")
        rng, self.serial = struct.unpack("<QQ", state.rng)
        self.rng, self.kills, self.units = Random(rng), kills, units
        self.grid = self.count()  # a cache that is loaded may be what is wrong

    def save(self) -> bytes:
        units = b"".join(UNIT.pack(*vars(u).values()) for u in self.units)
        return struct.pack("<QQII256H", self.rng.state, self.serial, *self.kills, *self.grid) + units

    def restore(self, save: bytes) -> None:
        head = struct.calcsize("<QQII256H")
        if len(save) != head + UNITS * UNIT.size:
            raise Refused("a save of another build")
        rng, self.serial, *rest = struct.unpack_from("<QQII256H", save)
        self.rng, self.kills, self.grid = Random(rng), rest[:2], rest[2:]
        self.units = [Unit(*fields) for fields in UNIT.iter_unpack(save[head:])]

    def count(self) -> List[int]:
        grid = [0] * (SIDE * SIDE)
        for u in self.units:
            grid[cell(u)] += u.alive
        return grid

    def caches(self) -> Iterable[str]:
        return [] if self.count() == self.grid else ["Grid"]

    def validate(self, tick: int, order: Order) -> str:
        if order.kind not in KINDS:
            return "there is no such kind of order"
        if order.player > 1:
            return "there is no such player"
        return "" if len(order.payload) == COMMAND.size else "its payload has another size"

    def test(self, tick: int, order: Order) -> bool:
        return self.ordered(order) is not None

    def predict(self, tick: int, player: int, orders: Sequence[Order]) -> None:
        before = self.save()
        self.step(tick, orders)
        self.restore(before)

    def orders(self) -> Dict[str, Any]:
        unit = {"name": "unit", "type": "u64", "entity": LABELS, "of": "own"}
        at = {"name": "target", "type": "u64", "entity": LABELS, "of": "other"}
        nobody = {"name": "target", "type": "u64", "values": [0]}
        place = [{"name": name, "type": "u32", "max": SIDE * CELL - 1} for name in "xy"]
        forms = [{"kind": kind, "packed": True, "fields": [unit, at if kind == "attack" else nobody, *place]} for kind in KINDS]
        return {"players": [0, 1], "every": 4, "owner": "Owner.player", "kinds": forms, "params": [["map", ["plain"]]]}


def script(game: Skirmish, rng: Random, player: int, tick: int) -> Optional[Order]:
    """A scripted player looks at a unit. If that is its own it goes somewhere, attacks or stops, as its own machine has it."""
    u, at = game.units[rng.draw(UNITS)], game.units[rng.draw(UNITS)]
    dice, x, y = rng.draw(8), rng.draw(SIDE * CELL), rng.draw(SIDE * CELL)
    kind = "move" if dice < 4 else "attack" if dice < 7 else "stop"
    if u.alive and u.owner == player and (kind != "attack" or at.alive and at.owner != player):
        return Order(player, kind, COMMAND.pack(u.id, at.id, x, y), sequence=tick)
    return None


def record(folder: str, ticks: int, seed: int, fault: int, key: int) -> None:
    peers: List[Tuple[Skirmish, Random, Recorder]] = []
    chains: List[TickSignatures] = []
    for i, name in enumerate(("host", "client")):
        session = Session(seed, name, "1.0", (20, 1), kinds=[OrderKind(kind) for kind in KINDS], peers=["host", "client"], params={"map": "plain"})
        game = Skirmish(fault if i else NEVER)
        game.start(session)
        peers.append((game, Random(seed + i), Recorder(os.path.join(folder, name), session, game.world(), Detail.COLUMN)))
        if key:
            secret = key.to_bytes(8, "little") + bytes([i]) + bytes(23)
            chains.append(TickSignatures(os.path.join(folder, name, "tick-signatures.bin"), seed, name, secret, game.world().state_hash()))
    parted = None  # tick in which the peers' states come to differ
    for tick in range(ticks + 1):
        for game, _, recorder in peers:
            recorder.state(tick, game.world())
            if tick % 100 == 0 or tick == ticks or parted == tick - 1:
                recorder.snapshot(game.world())
        for chain, (_, _, recorder) in zip(chains, peers):
            chain.append(tick, recorder.root)
        if tick == ticks:
            break
        found = [script(game, rng, player, tick) for player, (game, rng, _) in enumerate(peers)]
        orders = [o for o in found if o]
        for _, _, recorder in peers:
            recorder.tick(tick, orders)
        for number, system in enumerate(Skirmish.systems):
            for game, _, recorder in peers:
                game.run_system(number, tick, orders)
                recorder.system(system, game.world())
            if parted is None and peers[0][2].root != peers[1][2].root:
                print("the peers diverge in tick %d, in %s" % (tick, system))
                parted = tick
    for _, _, recorder in peers:
        recorder.close()
    for chain in chains:
        chain.close()


def main(args: List[str]) -> int:
    numbers = {"--ticks": 600, "--seed": 1, "--fault": NEVER, "--sign": 0}
    options = args[1:] if args[:1] == ["serve"] else args[2:]
    if args[:1] not in (["serve"], ["record"]) or args[0] == "record" and len(args) < 2 or len(options) % 2:
        print("usage: skirmish.py record DIR [--ticks N] [--seed N] [--fault TICK] [--sign N] | serve [--fault TICK]", file=sys.stderr)
        return 2
    for option, number in zip(options[::2], options[1::2]):
        if option not in numbers or not number.isdecimal() or int(number) > NEVER:
            print("expected --ticks N, --seed N, --fault TICK, --sign N, not %s %s" % (option, number), file=sys.stderr)
            return 2
        numbers[option] = int(number)
    if args[0] == "serve":
        return serve(Skirmish(numbers["--fault"]))
    record(args[1], numbers["--ticks"], numbers["--seed"], numbers["--fault"], numbers["--sign"])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
