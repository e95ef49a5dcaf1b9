"""Made-up games: a random schema, a small deterministic simulation, and a planted desync.

A state is a dict: "tick", "globals" (name -> value), "rng" (an integer) and "tables" (name -> list of rows). The first
member of a row is its id, if the table has ids. Nothing here knows how a state is written: see notations.py.
"""
import copy, math

TABLES = [('units', 'unit'), ('creeps', 'creep'), ('towers', 'tower'), ('cities', 'city'), ('fleets', 'fleet'),
          ('wagons', 'wagon'), ('cards', 'card'), ('villagers', 'villager'), ('missiles', 'missile'), ('crops', 'crop'),
          ('players', 'player'), ('actors', 'actor'), ('bodies', 'body'), ('pawns', 'pawn'), ('stations', 'station'),
          ('blips', 'blip'), ('zorbels', 'zorbel'), ('karnes', 'karne'), ('spawners', 'spawner'), ('bullets', 'bullet')]
IDS = ['id', 'uid', 'entity_id', 'name', 'key', 'guid', 'Id', 'unitId', 'index']
INTS = ['hp', 'health', 'ammo', 'gold', 'level', 'cooldown', 'score', 'armor', 'owner', 'team', 'charge', 'xp', 'timer']
FLOATS = ['speed', 'heading', 'fuel', 'angle', 'mass', 'stamina', 'heat', 'growth', 'x', 'y', 'morale', 'elevation']
WIDES = ['experience_total', 'serial', 'birth_hash', 'dna', 'ledger', 'money_minor', 'packed_pos']
BOOLS = ['alive', 'visible', 'moving', 'is_elite', 'frozen', 'on_ground', 'locked']
ENUMS = [('state', ['idle', 'moving', 'attacking', 'dead']), ('stance', ['Hold', 'Guard', 'Aggressive']),
         ('phase', ['A', 'B', 'C']), ('mode', ['PATROL', 'HARVEST', 'RETURN']), ('weather', ['sun', 'rain', 'snow'])]
TEXTS = ['label', 'title', 'nickname', 'script', 'note']
WORDS = ['Aldo', 'Brakk', 'Cirrus', 'Dorn', 'Esme', 'Fjord', 'Grit', 'Hollow', 'Ibex', 'Juno', 'Krill', 'Lumen']
REFS = ['target', 'parent', 'leader', 'home', 'carrier']
VECS = ['vel', 'velocity', 'dir', 'rgb', 'size', 'bounds', 'anchor']
OBJS = [('pos', ['x', 'y']), ('position', ['x', 'y', 'z']), ('transform', ['tx', 'ty', 'rot']), ('stats', ['str', 'dex']),
        ('cell', ['col', 'row'])]
LISTS = ['inventory', 'buffs', 'orders', 'cargo', 'waypoints', 'slots']
GLOBALS = ['weather_timer', 'wave', 'day', 'food', 'next_id', 'treasury', 'wind', 'map_version', 'difficulty', 'credits']
RNGS = [['rng'], ['seed'], ['rng_state'], ['prng', 'state'], ['random', 'state'], ['randomSeed'], ['rand', 'seed']]
TICKS = ['tick', 'frame', 'turn', 'step', 'current_tick', 'simTick', 'game_tick', 'tickNumber']
NOISE = [('wall_clock', lambda r, p, t: 1700000000 + t // 30 + r.random() * 9), ('host_name', lambda r, p, t: 'box-' + p),
         ('save_path', lambda r, p, t: '/home/%s/game/saves/%d' % (p, t)), ('ping_ms', lambda r, p, t: r.randrange(5, 90)),
         ('written_at', lambda r, p, t: '2025-03-0%dT1%d:%02d:%02d.%03dZ' % (r.randrange(1, 9), r.randrange(9), r.randrange(60), r.randrange(60), r.randrange(1000))),
         ('local_player', lambda r, p, t: sum(p.encode())), ('fps', lambda r, p, t: round(40 + r.random() * 30, 2)),
         ('pid', lambda r, p, t: 1000 + sum(p.encode()) * 7)]
POINTERS = ['ptr', 'address', 'this', 'handle']


class Field:
    """Field makes and moves the values of one column."""

    def __init__(self, r, kind, used):
        def pick(pool):
            free = [n for n in pool if (n[0] if isinstance(n, tuple) else n) not in used]
            got = r.choice(free or [(pool[0][0] + '2', *pool[0][1:]) if isinstance(pool[0], tuple) else pool[0] + '2'])
            used.add(got[0] if isinstance(got, tuple) else got)
            return got
        self.kind, self.whole = kind, r.random() < .4
        pool = {'int': INTS, 'float': FLOATS, 'wide': WIDES, 'bool': BOOLS, 'enum': ENUMS, 'text': TEXTS, 'ref': REFS,
                'vec': VECS, 'obj': OBJS, 'list': LISTS, 'strs': ['flags', 'tags', 'traits']}[kind]
        self.name = pick(pool)
        if kind in ('enum', 'obj'):
            self.name, self.parts = self.name
        self.of, self.nulls = r.choice(['records', 'numbers']), False
        self.size = r.choice([2, 3, 3, 4])

    def number(self, r):
        return r.randrange(1000) if self.whole else round(r.uniform(-500, 500), r.choice([1, 3, 15]))

    def item(self, r):
        return {'item': r.choice(WORDS).lower(), 'count': r.randrange(1, 30)} if self.of == 'records' else r.randrange(100)

    def make(self, r, ids):
        k = self.kind
        if k == 'int': return r.randrange(1000)
        if k == 'float': return round(r.uniform(-500, 500), r.choice([1, 3, 15]))
        if k == 'wide': return r.randrange(2**53, 2**63 - 2**20)
        if k == 'bool': return r.random() < .5
        if k == 'enum': return r.choice(self.parts)
        if k == 'text': return r.choice(WORDS) + r.choice(['', ' ', '-', " o'"]) + r.choice(WORDS)
        if k == 'ref': return None if self.nulls and r.random() < .3 else r.choice(ids)
        if k == 'vec': return [self.number(r) for _ in range(self.size)]
        if k == 'obj': return {p: self.number(r) for p in self.parts}
        if k == 'list': return [self.item(r) for _ in range(r.randrange(0, 5))]
        return sorted(r.sample(['burning', 'stealth', 'flying', 'poisoned', 'shielded', 'rooted'], r.randrange(0, 4)))

    def move(self, r, v, ids):
        """The next value of v."""
        k = self.kind
        if k == 'int': return v + r.randrange(-3, 4)
        if k == 'wide': return v + r.randrange(1, 9)
        if k == 'float': return v + (r.randrange(-8, 9) / 4 if self.whole else r.uniform(-1, 1) * .37)
        if k in ('vec', 'obj'):
            v = copy.copy(v)
            at = r.randrange(len(v)) if k == 'vec' else r.choice(self.parts)
            v[at] += r.randrange(-2, 3) if self.whole else r.uniform(-1, 1)
            return v
        if k == 'list':
            if len(v) > 4 or v and r.random() < .3: return v[1:]
            return v + [self.item(r)]
        return self.make(r, ids)

    def spoil(self, r, v, ids):
        """A value that is not v, and the path in it to what differs."""
        k = self.kind
        if k in ('int', 'wide'): return v + r.choice([1, -1, 2, 64]), []
        if k == 'float': return self.nudge(r, v), []
        if k == 'bool': return not v, []
        if k == 'enum': return r.choice([p for p in self.parts if p != v]), []
        if k == 'ref': return r.choice([i for i in ids if i != v]), []
        if k == 'text': return v + 'x', []
        if k in ('vec', 'obj'):
            v = copy.copy(v)
            at = r.randrange(len(v)) if k == 'vec' else r.choice(self.parts)
            v[at] = v[at] + 1 if self.whole else self.nudge(r, v[at])
            return v, [at]
        if k == 'list':
            if not v or r.random() < .2: return v + [self.item(r)], [len(v)]
            v, at = copy.deepcopy(v), r.randrange(len(v))
            if self.of == 'numbers':
                v[at] += 1
                return v, [at]
            v[at]['count'] += 1
            return v, [at, 'count']
        return (v[:-1], [len(v) - 1]) if v else (['burning'], [0])

    @staticmethod
    def nudge(r, v):
        return r.choice([math.nextafter(v, math.inf), v + .5, v - 1, v * 1.0009765625 + .25])


class Table:
    def __init__(self, r, names, idname, ids, rows):
        self.name, self.one = names
        self.idname, self.ids, self.count = idname, ids, 0
        used = {idname}
        kinds = r.sample(['int', 'int', 'float', 'float', 'wide', 'bool', 'enum', 'text', 'ref', 'vec', 'obj', 'list', 'strs'],
                         r.randrange(2, 8))
        self.fields = [Field(r, k, used) for k in kinds]
        self.rows = rows

    def new(self, r):
        """A new row's id."""
        self.count += 1
        n = self.count
        if self.ids == 'dense': return n
        if self.ids == 'sparse': return n * 7 + 1000
        if self.ids == 'guid': return '%08x-%04x' % (n * 2654435761 % 2**32, n)
        if self.ids == 'big': return 2**40 + n * 3
        return '%s%s%d' % (WORDS[n % len(WORDS)], ['', '_', '-'][len(self.name) % 3], n)

    def row(self, r, ids):
        row = {self.idname: self.new(r)} if self.idname else {}
        for f in self.fields:
            row[f.name] = f.make(r, ids or [1, 2])
        return row


class Game:
    """Game is a schema and how it is played."""

    def __init__(self, r, must_have_ids=False, simple=False):
        self.r = r
        names = r.sample(TABLES, r.randrange(1, 5))
        shared = r.choice(IDS)
        self.tables = []
        for n in names:
            idname = shared if r.random() < .6 else r.choice(IDS)
            if not must_have_ids and r.random() < .15: idname = None
            ids = 'word' if idname in ('name', 'key') else r.choice(['dense', 'dense', 'sparse', 'guid', 'big']) if idname != 'index' else 'dense'
            if idname == 'guid': ids = 'guid'
            rows = r.choice([3, 4, 5, 8, 8, 12, 20, 20, 40]) if r.random() < .93 else r.randrange(60, 200)
            self.tables.append(Table(r, n, idname, ids, rows))
        if simple:  # flat rows: no lists of records
            for t in self.tables:
                t.fields = [f for f in t.fields if f.kind not in ('list', 'strs')] or [Field(r, 'int', {t.idname})]
        used = set()
        self.globals = [(n, Field(r, r.choice(['int', 'int', 'float']), used)) for n in r.sample(GLOBALS, r.randrange(0, 4))]
        if r.random() < .3:
            f = Field(r, r.choice(['enum', 'bool']), used | {'state'})
            self.globals.append((f.name, f))
        self.rng = r.choice(RNGS) if r.random() < .8 else None
        self.tick = r.choice(TICKS)
        self.births = r.random() < .4
        if r.random() < .2:
            for t in self.tables:
                for f in t.fields: f.nulls = True
        self.rngbits = r.choice([31, 32, 63])

    def begin(self):
        s = {'tick': 0, 'rng': self.r.getrandbits(self.rngbits), 'globals': {}, 'tables': {}}
        for n, f in self.globals: s['globals'][n] = f.make(self.r, [1])
        for t in self.tables:
            rows, ids = [], []
            for _ in range(t.rows):
                rows.append(t.row(self.r, ids))
                if t.idname: ids.append(rows[-1][t.idname])
            s['tables'][t.name] = rows
        return s

    def step(self, s, keep):
        """Plays one tick. All chance comes from the state. Keep is a (table, id) that does not die."""
        s['tick'] += 1
        s['rng'] = (s['rng'] * 6364136223846793005 + 1442695040888963407) % 2**self.rngbits
        r = Chance(s['rng'] ^ s['tick'])
        for n, f in self.globals:
            if r.random() < .2: s['globals'][n] = f.move(r, s['globals'][n], [1, 2])
        for _ in range(r.randrange(1, 5)):
            t = r.choice(self.tables)
            rows = s['tables'][t.name]
            if not rows: continue
            at = r.randrange(len(rows))
            f = r.choice(t.fields)
            rows[at][f.name] = f.move(r, rows[at][f.name], [1, 2])
        if self.births and r.random() < .05:
            t = r.choice(self.tables)
            rows = s['tables'][t.name]
            if t.idname and keep[0] != t.name and len(rows) > 3 and r.random() < .5:
                del rows[r.randrange(len(rows))]
            elif t.idname:
                t.count = max(t.count, s.setdefault('_born', {}).get(t.name, t.count))
                rows.append(t.row(r, [1, 2]))
                s['_born'] = {**s['_born'], t.name: t.count}


class Chance:
    """Chance is a small generator of random numbers that a state can hold."""

    def __init__(self, seed): self.s = (seed * 2862933555777941757 + 3037000493) % 2**64

    def bits(self):
        self.s ^= self.s << 13 & (2**64 - 1); self.s ^= self.s >> 7; self.s ^= self.s << 17 & (2**64 - 1)
        return self.s >> 11

    def random(self): return self.bits() / 2**53
    def randrange(self, a, b=None): return self.bits() % a if b is None else a + self.bits() % (b - a)
    def choice(self, seq): return seq[self.bits() % len(seq)]
    def uniform(self, a, b): return a + (b - a) * self.random()

    def sample(self, seq, n):
        seq = list(seq)
        return [seq.pop(self.bits() % len(seq)) for _ in range(n)]


def play(game, peers, every, dumps, plant, r):
    """Plays a game, and returns {peer: [state at each dump]} and the plant as it came out.

    Plant is None, or (kind, peer): 'field', 'missing' or 'rng' goes wrong on that peer.
    """
    start = game.begin()
    for t in game.tables: start.setdefault('_born', {})[t.name] = t.count
    keep, todo = (None, None), None
    if plant:
        kind, bad = plant
        withids = [t for t in game.tables if t.idname]
        if kind == 'missing' and not withids: kind = 'field'
        if kind == 'rng' and not game.rng: kind = 'field'
        t = r.choice(withids if kind == 'missing' else game.tables)
        at = r.randrange(len(start['tables'][t.name]))
        keep = (t.name, at)
        when = r.randrange(every + 1, every * (dumps - 1) + 1)
        f = r.choice(t.fields)
        todo = {'kind': kind, 'tick': when, 'peer': bad, 'table': t.name, 'one': t.one, 'field': f.name}
        if game.births and not t.idname: game.births = False
        todo['id'] = str(start['tables'][t.name][at][t.idname]) if t.idname else str(at)
        spread = r.random() < .4
    out, made = {}, {}
    for p in peers:
        if p in made and not (plant and p == plant[1]): out[p] = out[made[p]]; continue
        wrong = plant and p == plant[1]
        key = 'wrong' if wrong else 'right'
        if key in made: out[p] = copy.deepcopy(made[key]); continue
        for t in game.tables: t.count = start['_born'][t.name]
        s, states, path = copy.deepcopy(start), [], []
        for tick in range(0, every * dumps + 1):
            if tick: game.step(s, keep)
            if wrong and tick >= todo['tick']:
                spoil(game, s, todo, keep, r, first=tick == todo['tick'])
                if spread and tick > todo['tick'] and tick % 7 == 0: spill(game, s, todo, keep, r)
            if tick % every == 0: states.append(copy.deepcopy(s))
        out[p] = made[key] = states
    return out, todo


def row_of(game, s, todo):
    t = next(t for t in game.tables if t.name == todo['table'])
    rows = s['tables'][t.name]
    if not t.idname: return t, rows, int(todo['id'])
    return t, rows, next((i for i, row in enumerate(rows) if str(row[t.idname]) == todo['id']), None)


def spoil(game, s, todo, keep, r, first):
    """Makes the planted difference, and again where it has healed."""
    if todo['kind'] == 'rng':
        if first: s['rng'] = (s['rng'] + 1) % 2**game.rngbits
        return
    t, rows, at = row_of(game, s, todo)
    if todo['kind'] == 'missing':
        if at is not None: del rows[at]
        return
    if first:
        f = next(f for f in t.fields if f.name == todo['field'])
        ids = [row[t.idname] for row in rows] if t.idname else [1, 2, 3]
        rows[at][f.name], path = f.spoil(r, rows[at][f.name], ids)
        todo['path'] = [f.name] + path


def spill(game, s, todo, keep, r):
    """The difference reaches another field of the same row."""
    if todo['kind'] != 'field': return
    t, rows, at = row_of(game, s, todo)
    if at is None: return
    f = t.fields[s['tick'] % len(t.fields)]
    rows[at][f.name], _ = f.spoil(r, rows[at][f.name], [1, 2])


def leaves(value, path=()):
    """All scalars of a value with their paths."""
    if isinstance(value, dict):
        for k, v in value.items(): yield from leaves(v, path + (k,))
    elif isinstance(value, list):
        for i, v in enumerate(value): yield from leaves(v, path + (i,))
    else:
        yield path, value


def flat(game, s):
    """Everything of a state that is compared: {(table, id, path): value}."""
    out = {}
    if game.rng: out['', '', ('rng', *game.rng)] = s['rng']
    for n, v in s['globals'].items(): out['', '', (n,)] = v
    for t in game.tables:
        for i, row in enumerate(s['tables'][t.name]):
            key = str(row[t.idname]) if t.idname else str(i)
            out[t.name, key, ()] = True
            for path, v in leaves({k: v for k, v in row.items() if k != t.idname}): out[t.name, key, path] = v
    return out


def texts(game, states, peers, n, table, row):
    """The texts of a row of a table without ids: a reader may take one of them for its name."""
    if not table or next(t for t in game.tables if t.name == table).idname: return []
    rows = [states[p][n]['tables'][table][int(row)] for p in peers]
    return sorted({v for row in rows for v in row.values() if isinstance(v, str)})


def truth(game, states, have, planted):
    """What a perfect reader of all dumps would find. Have is {peer: set of indexes of dumps that it wrote}."""
    good = None
    for n in range(len(next(iter(states.values())))):
        peers = [p for p in states if n in have[p]]
        if len(peers) < 2: continue
        flats = {p: flat(game, states[p][n]) for p in peers}
        first = flats[peers[0]]
        tick = states[peers[0]][n]['tick']
        if all(f == first for f in flats.values()): good = tick; continue
        places = set()
        for f in flats.values():
            for k in first.keys() | f.keys():
                if first.get(k) != f.get(k) or (k in first) != (k in f): places.add(k)
        gone = {k[:2] for k in places if k[2] == ()}
        names = {t.name: [t.name, t.one] for t in game.tables}
        places = sorted(((k[0], k[1], k[2]) for k in places if k[2] == () or k[:2] not in gone), key=repr)
        return {'in_sync': False, 'good': good, 'bad': tick, 'kind': planted['kind'], 'peer': planted['peer'] if len(states) > 2 else None,
                'planted': {**planted, 'path': [str(x) for x in planted.get('path', [])]},
                'places': [{'tables': names.get(t, []), 'id': i, 'also': texts(game, states, peers, n, t, i), 'path': [str(x) for x in path]} for t, i, path in places]}
    return {'in_sync': True}
