#!/usr/bin/env python3
"""Writes sessions of games that do not exist, as programs that are not ours would leave them.

    sessions.py SEED OUTDIR                 about forty sessions
    sessions.py SEED OUTDIR --clean N       N sessions without a desync
    sessions.py SEED OUTDIR --only NAME     one session again

Each session is a folder OUTDIR/NAME to give to triage. OUTDIR/NAME.truth.json contains what was planted.
"""
import argparse, gzip, hashlib, io, json, os, random, sys, zipfile
import notations as n
from games import Game, NOISE, POINTERS, TABLES, play, truth

SINGULAR = {**dict(TABLES), 'entities': 'entity', 'states': 'state', 'objects': 'object'}
PEERS = [['host', 'client'], ['p1', 'p2'], ['player1', 'player2'], ['server', 'client'], ['alice', 'bob'], ['peer_a', 'peer_b'],
         ['host', 'client1', 'client2'], ['p1', 'p2', 'p3'], ['host', 'guest'], ['machineA', 'machineB']]


def singular(name): return SINGULAR.get(name) or (name[:-1] if name.endswith('s') else 'entry')


def repeated(name): return dict(TABLES).get(name, name)


# The notations: name -> (extensions, arrangements, features that the game must not use, writer of a list of documents).
# A writer gets one document, or several where all states are in one file.
def writers():
    def one(f): return lambda docs, st: f(docs[0], st)
    def text(f): return lambda docs, st: f(docs[0], st) + '\n'
    each = ['folders', 'folders', 'flat', 'content']
    return {
        'json-indent': (['.json'], each, text(lambda d, st: n.json_text(d, st['json']))),
        'json-tight': (['.json', '.dump'], each, one(lambda d, st: n.json_text(d, 'tight'))),
        'json-keyed': (['.json'], each, text(lambda d, st: n.json_text(d, st['json']))),
        'json-array': (['.json'], ['single'], lambda docs, st: n.json_text(docs, st['json'])),
        'jsonl-states': (['.jsonl', '.ndjson', '.json'], ['single', 'together'], lambda docs, st: ''.join(n.json_text(d, 'tight') + '\n' for d in docs)),
        'xml-attributes': (['.xml'], each, text(lambda d, st: n.xml_text(d, {**st['xml'], 'attr': True}, singular, st['root']))),
        'xml-elements': (['.xml'], each, text(lambda d, st: n.xml_text(d, {**st['xml'], 'attr': False}, singular, st['root']))),
        'yaml': (['.yaml', '.yml'], each + ['single'], lambda docs, st: ''.join('---\n' * (len(docs) > 1 or st['head']) + n.yaml_text(d, st['yaml']) + '\n' for d in docs)),
        'toml': (['.toml'], each, text(lambda d, st: n.toml_text(d))),
        'msgpack': (['.msgpack', '.mp', '.bin'], each + ['single'], lambda docs, st: b''.join(n.msgpack(d, st['mp']) for d in docs)),
        'cbor': (['.cbor', '.dat'], each + ['single'], lambda docs, st: b''.join(n.cbor(d, st['cb']) for d in docs)),
        'lua': (['.lua', '.txt'], each + ['list'], lambda docs, st: st['lead'] + n.lua_text(docs if len(docs) > 1 else docs[0], st['lua']) + '\n'),
        'python': (['.txt', '.py', '.repr'], each + ['list', 'single'], lambda docs, st: ''.join(n.python_text(d, st['py']) + '\n' for d in ([docs] if st['list'] else docs))),
        'ruby': (['.txt', '.rb', '.dump'], each, text(lambda d, st: n.ruby_text(d, st['ruby']))),
        'clojure': (['.edn', '.txt'], each, text(lambda d, st: n.clojure_text(d, st['comma']))),
        'erlang': (['.terms', '.txt'], each + ['single'], lambda docs, st: ''.join(n.erlang_text(d) + '.\n' for d in docs)),
        'sexp': (['.sexp', '.txt'], each + ['single'], lambda docs, st: ''.join(n.sexp_text(d, '\n ' if st['comma'] != ' ' else ' ') + '\n' for d in docs)),
        'php': (['.txt', '.log'], each, text(lambda d, st: n.php_text(d))),
        'proto': (['.textproto', '.pbtxt', '.txt'], each, text(lambda d, st: n.proto_text(d, repeated))),
        'paths': (['.txt', '.state'], each, text(lambda d, st: '\n'.join(n.path_lines(d, st['path'])))),
        'indented': (['.txt', '.log'], each, text(lambda d, st: n.indented_text(d, st['ind']))),
    }


TABULAR = ['jsonl-entities', 'ini', 'csv-wide', 'csv-long', 'variables']  # what is written from the tables themselves
LOGS = ['log-line', 'log-line', 'log-line', 'log-systems', 'log-systems', 'log-jsonl']
INPUTS = ['inputs-jsonl', 'inputs-csv', 'inputs-log']


def number_style(r): return r.choice(['plain', 'plain', 'js', 'mixed'])


def restyle(v, style, late):
    """The same numbers as another writer has them: 3.0 as 3 (js), or 3 as 3.0 in later dumps (mixed)."""
    if isinstance(v, dict): return {k: restyle(x, style, late) for k, x in v.items()}
    if isinstance(v, list): return [restyle(x, style, late) for x in v]
    if style == 'js' and isinstance(v, float) and v.is_integer(): return int(v)
    if style == 'mixed' and late and isinstance(v, int) and not isinstance(v, bool) and abs(v) < 2**40: return float(v)
    return v


def numeric(game):
    """Which columns mixed may write as floats: whole numbers that the game moves."""
    return {f.name for t in game.tables for f in t.fields if f.kind in ('vec', 'obj')}


def nest(doc, path, v):
    for k in path[:-1]: doc = doc.setdefault(k, {})
    doc[path[-1]] = v


class Session:
    def __init__(self, r, name, kind, clean):
        self.r, self.name, self.kind, self.clean = r, name, kind, clean
        self.peers = r.choice(PEERS)
        self.files, self.noise, self.rumours = {}, [], []
        self.every = r.choice([1, 10, 10, 30, 100])
        self.dumps = r.randrange(3, 9)

    # -- states --------------------------------------------------------------------------------------------------------

    def states(self):
        r, keyed = self.r, self.kind == 'json-keyed' or self.kind in ('lua', 'paths', 'toml', 'yaml', 'indented', 'cbor') and self.r.random() < .35
        self.keyed = keyed
        tabular = self.kind in TABULAR
        self.mixed = not keyed and not tabular and r.random() < .15
        self.columnar = self.mixed and self.kind not in ('xml-attributes', 'xml-elements', 'proto') and r.random() < .4
        while True:
            game = self.game = Game(r, must_have_ids=keyed or tabular or self.kind == 'proto', simple=self.kind in ('ini', 'csv-wide', 'csv-long', 'variables', 'xml-attributes', 'proto'))
            if self.mixed:
                for i, t in enumerate(game.tables): t.idname, t.ids, t.count = game.tables[0].idname or 'id', 'dense', i * 1000
                game.births = False
            if any(f.name == game.tick or f.name == t.idname for t in game.tables for f in t.fields): continue
            if self.kind == 'toml': game.rngbits = 32 if game.rngbits > 63 else game.rngbits
            game.base = r.choice([0, 0, 600, 86400])
            begin = game.begin
            game.begin = lambda: {**begin(), 'tick': game.base}
            plant = None if self.clean else (r.choice(['field'] * 7 + ['missing', 'rng', 'rng']), r.choice(self.peers[1:]))
            states, planted = play(game, self.peers, self.every, self.dumps, plant, r)
            have = {p: set(range(self.dumps + 1)) for p in self.peers}
            if len(self.peers) == 2 and r.random() < .3:
                for i in r.sample(range(1, self.dumps), r.randrange(1, 3) if self.dumps > 3 else 1): have[r.choice(self.peers)].discard(i)
            self.truth = truth(game, states, have, planted)
            if self.truth['in_sync'] == self.clean and (self.clean or self.truth['good'] is not None): break
        if planted: planted['tick'] += game.base
        if self.mixed:
            for p in self.truth.get('places', []): p['tables'] = p['tables'] and p['tables'] + ['entities', 'objects', 'entity', 'object', 'components'] + p['path'][:1]
        self.truth.update(kind='state', every=self.every, peers=self.peers, plant=(planted or {}).get('kind'))
        self.numbers = number_style(r)
        self.columns = numeric(game)
        self.odd = r.choice(self.peers) if len(self.peers) == 2 else None  # which peer writes 3.0 for 3
        self.reorders = r.choice(self.peers[1:]) if r.random() < .3 else None
        if r.random() < .35: self.noise = r.sample(NOISE, r.randrange(1, 4))
        self.pointer = r.choice(POINTERS) if self.noise and r.random() < .4 else None
        self.truth.update(noise=[k for k, _ in self.noise] + [self.pointer] * bool(self.pointer), reordered=self.reorders,
                          missing={p: sorted(set(range(self.dumps + 1)) - h) for p, h in have.items() if len(h) <= self.dumps}, numbers=self.numbers, shape='columns' if self.columnar else 'mixed' if self.mixed else 'keyed' if keyed else 'lists')
        self.shapes = {'tick': r.choice([[game.tick], [game.tick], ['header', game.tick], ['meta', game.tick]]),
                       'tables': r.choice([[], [], ['world'], ['state'], ['game', 'state'], ['entities']]),
                       'globals': r.choice([[], [], ['globals'], ['world']]), 'one': r.choice(['entities', 'objects']), 'type': r.choice(['type', 'kind', 'class'])}
        if self.mixed: self.shapes['tables'] = []
        return states, have

    def rows(self, t, s, peer, i):
        """The rows of a table as a peer writes them into its i-th dump."""
        rows = [dict(row) for row in s['tables'][t.name]]
        if peer == self.reorders and t.idname and t.idname != 'index': self.r.shuffle(rows)
        style = self.numbers if self.numbers != 'mixed' or self.odd in (None, peer) else 'plain'
        for row in rows:
            for k in row:
                if k in self.columns or style == 'js': row[k] = restyle(row[k], style, i > self.dumps // 2)
            if self.pointer: row[self.pointer] = '0x%012x' % (0x7f0000000000 + self.r.getrandbits(32) * 16)
        return rows

    def loose(self, s, peer):
        """What is in no table: globals, random numbers and noise."""
        out = dict(s['globals'])
        for k, f in self.noise: out[k] = f(self.r, peer, s['tick'])
        return out

    def doc(self, s, peer, i, tick, named):
        doc, sh, g = {}, self.shapes, self.game
        if named: doc['peer'] = peer
        if tick: nest(doc, sh['tick'], s['tick'])
        for k, v in self.loose(s, peer).items(): nest(doc, sh['globals'] + [k], v)
        if g.rng: nest(doc, g.rng, s['rng'])
        if self.columnar:  # one map a component: {"hp": {"7": 30}}
            doc['components'] = columns = {}
            for t in g.tables:
                for row in self.rows(t, s, peer, i):
                    key = row.pop(t.idname)
                    for k, v in row.items(): columns.setdefault(k, {})[str(key)] = v
            return doc
        if self.mixed:
            all_ = []
            for t in g.tables: all_ += [{**({t.idname: row.pop(t.idname)}), sh['type']: t.one, **row} for row in self.rows(t, s, peer, i)]
            doc[sh['one']] = all_
            return doc
        for t in g.tables:
            rows = self.rows(t, s, peer, i)
            nest(doc, sh['tables'] + [t.name], {(str if self.kind != 'lua' and self.kind != 'cbor' and self.kind != 'yaml' else lambda x: x)(row.pop(t.idname)): row for row in rows} if self.keyed else rows)
        return doc

    def write_states(self):
        r = self.r
        states, have = self.states()
        if self.kind in TABULAR: return self.tabular(states, have)
        exts, arrangements, write = writers()[self.kind]
        ext, arr = r.choice(exts), r.choice(arrangements)
        st = {'json': r.choice(['indent', 'tabs', 'line', 'tight']), 'root': r.choice(['state', 'GameState', 'dump', 'savegame']), 'head': r.random() < .3,
              'xml': {'indent': r.choice(['  ', '\t', '']), 'head': r.random() < .7, 'bare': r.random() < .3, 'vec': r.choice(['', ' ', ','])},
              'yaml': {'flow': r.random() < .5, 'flush': r.random() < .5}, 'mp': {'f32': r.random() < .5}, 'cb': {'f16': r.random() < .5, 'indefinite': r.random() < .3},
              'lead': r.choice(['return ', 'return ', 'state = ', '']), 'lua': {'indent': r.random() < .7, 'numbered': r.random() < .3},
              'py': {'pretty': r.random() < .6}, 'ruby': r.choice(['symbols', 'short', 'struct']), 'comma': r.choice([', ', ' ', '\n ']), 'path': {'brackets': r.random() < .6, 'quoted': r.random() < .6, 'sep': r.choice([' = ', '=', ': '])},
              'ind': {'indent': r.choice(['  ', '    ', '\t'])}}
        self.truth['arrangement'] = arr
        if self.kind == 'lua' and st['lua']['numbered']:  # the file itself counts from 1
            for p in self.truth.get('places', []):
                if p['id'].isdigit() and not self.ided(p): p['also'].append(str(int(p['id']) + 1))
        st['list'] = arr == 'list'
        put = lambda path, docs: self.put(path, write(docs, st))
        if arr in ('single', 'list'):
            where = r.choice(['%s%s', '%s/states%s', 'states_%s%s', 'logs/%s/dumps%s'])
            for p in self.peers: put(where % (p, ext), [self.doc(states[p][i], p, i, True, False) for i in sorted(have[p])])
        elif arr == 'together':
            docs = [self.doc(states[p][i], p, i, True, True) for i in range(self.dumps + 1) for p in self.peers if i in have[p]]
            put('session' + ext, docs)
        else:
            self.tick_where(arr)
            count = 0
            for i in range(self.dumps + 1):
                for p in self.peers:
                    if i not in have[p]: continue
                    count += 1
                    put(self.path(arr, p, states[p][i]['tick'], i, count) + ext, [self.doc(states[p][i], p, i, self.where != 'name', arr == 'content')])

    def ided(self, p): return any(t.name in p['tables'] and t.idname for t in self.game.tables)

    def tick_where(self, arr, where=None):
        r = self.r
        self.where = where or ('content' if arr == 'content' else r.choice(['name', 'content', 'both', 'both']))
        self.truth['tick_in'] = self.where
        named = self.where != 'content'
        self.patterns = {
            'folders': r.choice(['%(p)s/', '%(p)s/', 'logs/%(p)s/', '%(p)s/dumps/', 'report-4411/%(p)s/states/']) + (r.choice(['%(t)d', 'state_%(t)d', 'dump_%(t)06d', 'tick%(t)d', 'frame-%(t)d', '%(t)08d', 'state_tick_%(t)d', 'save.%(t)d', '2025-03-04_18-22-07_tick%(t)d', 'desync_f%(t)d_state']) if named
                       else r.choice(['dump_%(i)d', 'save%(i)03d', 'autosave-%(i)d'])),
            'flat': r.choice(['%(p)s_%(t)d', 'state_%(p)s_%(t)d', '%(t)d_%(p)s', '%(p)s-tick%(t)05d', '%(p)s.%(t)d', 'state-%(t)d.%(p)s', 'match7_%(p)s_frame%(t)d']) if named else r.choice(['%(p)s_save%(i)d', 'dump%(i)d-%(p)s']),
            'content': r.choice(['dump_%(c)d', 'state%(c)04d', 'report-%(c)d']),
        }

    def path(self, arr, p, t, i, c): return self.patterns[arr] % {'p': p, 't': t, 'i': i + 1, 'c': c}

    def tabular(self, states, have):
        """What is written from the tables: one line an entity, or one line a field."""
        r, g = self.r, self.game
        one = r.random() < .5  # all states of a peer in one file
        if self.kind == 'jsonl-entities': one = r.random() < .8
        self.truth['arrangement'] = 'single' if one else 'folders'
        tick, kind, sep = g.tick, r.choice(['type', 'kind', 'table', 'entity_type']), r.choice([',', ',', ',', ';', '\t'])
        style = r.choice([0, 1, 2])
        arr = r.choice(['folders', 'folders', 'flat'])
        if not one: self.tick_where(arr, 'name' if self.kind == 'csv-wide' else None)
        loose_name = r.choice(['globals', 'game', 'world'])
        for p in self.peers:
            tables, lines, sums = {}, [], {}
            for i in sorted(have[p]):
                s = states[p][i]
                t, entities = s['tick'], []
                loose = self.loose(s, p)
                if g.rng: loose = {**loose, '.'.join(g.rng): s['rng']}
                for tb in g.tables: entities += [(tb, row) for row in self.rows(tb, s, p, i)]
                if self.kind == 'jsonl-entities':
                    body = [json.dumps({tick: t, kind: loose_name, **loose})] * bool(loose) + [json.dumps({tick: t, kind: tb.one, **row}) for tb, row in entities]
                elif self.kind == 'ini':
                    head = [[loose_name, {tick: t, **loose}]] if one or self.where != 'name' else [[loose_name, loose]] * bool(loose)
                    title = ['%s.%s', '%s %s', '%s:%s'][style]
                    self.put(self.name_of(p, t, i, 'x', arr if not one else 'folders') + r.choice(['.ini']), n.ini_text(head + [(title % (tb.one, row[tb.idname]), n.cells({k: v for k, v in row.items() if k != tb.idname or style == 0})) for tb, row in entities]))
                    continue
                elif self.kind == 'csv-wide':
                    per = {}
                    if loose: per[loose_name] = [loose]
                    for tb, row in entities: per.setdefault(tb.name, []).append(n.cells(row))
                    for name, rows in per.items():
                        if one: tables.setdefault(name, []).extend({tick: t, **row} for row in rows)
                        else: self.put(self.path(arr, p, t, i, 0) + '_' + name + '.csv' if style else self.with_table(arr, p, t, i, name) + '.csv', n.csv_text(rows, sep))
                    continue
                elif self.kind == 'csv-long':
                    head = {tick: t} if one or self.where != 'name' else {}
                    body = [{**head, kind: loose_name, 'id': '', 'field': k, 'value': v} for k, v in loose.items()]
                    body += [{**head, kind: tb.one, 'id': row[tb.idname], 'field': k, 'value': v} for tb, row in entities for k, v in n.cells(row).items() if k != tb.idname]
                else:  # variables
                    head = '%d ' % t if one else ''
                    body = ['# %s %d' % (tick, t)] * (not one and self.where != 'name')
                    body += ['%s%s %s %s %s' % (head, loose_name, '-', k, v) for k, v in loose.items()]
                    body += ['%s%s %s %s %s' % (head, tb.one, row[tb.idname], k, v) for tb, row in entities for k, v in n.cells(row).items() if k != tb.idname]
                if one: lines += body
                else: self.put(self.name_of(p, t, i, 'x', arr) + self.ending(), self.lines(body, sep))
            for name, rows in tables.items(): self.put('%s/%s.csv' % (p, name), n.csv_text(rows, sep))
            if one and lines: self.put(['%s/states', '%s', 'state_%s'][style] % p + self.ending(), self.lines(lines, sep))

    def with_table(self, arr, p, t, i, name):
        path = self.path(arr, p, t, i, 0)
        folder, _, file = path.rpartition('/')
        return (folder + '/' if folder else '') + name + '_' + file

    def name_of(self, p, t, i, c, arr):
        if not hasattr(self, 'patterns'): self.tick_where(arr)
        return self.path(arr, p, t, i, 0)

    def ending(self): return {'jsonl-entities': '.jsonl', 'csv-long': '.csv', 'variables': '.txt'}[self.kind]

    def lines(self, body, sep): return n.csv_text(body, sep) if self.kind == 'csv-long' else '\n'.join(body) + '\n'

    # -- logs ----------------------------------------------------------------------------------------------------------

    def write_logs(self):
        r = self.r
        first, every, count = r.choice([0, 1, 60, 600]), r.choice([1, 1, 5, 10, 60]), r.randrange(12, 80)
        ticks = [first + every * i for i in range(count)]
        systems = r.sample(['movement', 'combat', 'economy', 'ai', 'physics', 'rng', 'pathing', 'units', 'projectiles'], r.randrange(2, 6))
        if self.kind == 'log-line': systems = ['']
        at = None if self.clean else r.randrange(2, count - 2)
        bad_peer, seed, bad_system = r.choice(self.peers[1:]), r.getrandbits(40), r.choice(systems)
        later = {x: (at or 0) + (0 if x == bad_system else r.randrange(1, 9)) for x in systems}
        bits = r.choice([32, 32, 64, 128])
        def sum_(p, i, x):
            wrong = at is not None and p == bad_peer and i >= later[x]
            return int.from_bytes(hashlib.blake2b(('%d %d %s %d' % (seed, i, x, bool(wrong))).encode(), digest_size=16).digest(), 'big')
        def show(v, form): v %= 1 << bits; return {'dec': str(v), 'hex': '%0*x' % (bits // 4, v), '0x': '0x%0*X' % (bits // 4, v)}[form]
        form = r.choice(['dec', 'hex', '0x']) if bits < 128 else 'hex'
        shape, wall = r.randrange(13), r.random() < .5
        skip = {p: set(r.sample(range(count), r.choice([0, 0, 3]))) for p in self.peers}
        for i in () if at is None else (at, at - 1): [s.discard(i) for s in skip.values()]
        ext = r.choice(['.log', '.txt', '.log'])
        where = r.choice(['%s', '%s/game', 'logs/%s', '%s/output_log', 'sync_%s'])
        for p in self.peers:
            q, out = random.Random(seed + len(p) + hash_(p)), []
            for i, t in enumerate(ticks):
                if q.random() < .3: out.append(chatter(q, p, t, wall))
                if self.rumours and self.kind != 'log-jsonl': out += [stamp(q, wall, i) + rumour(q, x, t) for x in self.rumours]
                if i in skip[p]: continue
                v = {x: show(sum_(p, i, x), form) for x in systems}
                if self.kind == 'log-line': out.append(stamp(q, wall, i) + line_shape(shape, t, v['']))
                elif self.kind == 'log-systems':
                    if shape % 3 == 0: out.append(stamp(q, wall, i) + 'tick %d: %s' % (t, ' '.join('%s=%s' % kv for kv in v.items())))
                    elif shape % 3 == 1: out += [stamp(q, wall, i) + '[frame %d] %s checksum %s' % (t, *kv) for kv in v.items()]
                    else: out += [stamp(q, wall, i) + 'Sync frame=%d system=%s hash=%s' % (t, *kv) for kv in v.items()]
                else:
                    num = (lambda x: int(x)) if form == 'dec' and bits < 64 else (lambda x: x)
                    base = {'ts': 1700000000.5 + i / 3 + q.random(), 'level': 'debug', 'msg': 'sync'}
                    if shape % 3 == 0: out.append(json.dumps({**base, 'tick': t, 'checksum': num(v[systems[0]])}))
                    elif shape % 3 == 1: out.append(json.dumps({**base, 'frame': t, 'sums': {x: num(y) for x, y in v.items()}}))
                    else: out += [json.dumps({**base, 'turn': t, 'system': x, 'hash': num(y)}) for x, y in v.items()]
            if self.kind == 'log-jsonl': out = [l if l[0] == '{' else json.dumps({'ts': 1.5, 'level': 'info', 'msg': l}) for l in out]
            self.put(where % p + ('.jsonl' if self.kind == 'log-jsonl' else ext), '\n'.join(out) + '\n')
        only = self.kind == 'log-jsonl' and shape % 3 == 0
        self.truth = {'in_sync': True} if at is None else {'in_sync': False, 'good': ticks[at - 1], 'bad': ticks[at], 'peer': bad_peer if len(self.peers) > 2 else None,
                      'systems': [x for x in systems if x and later[x] == at]}
        if at is not None and only and bad_system != systems[0]:
            at = later[systems[0]]
            self.truth = {'in_sync': True} if at >= count else {**self.truth, 'good': max(t for i, t in enumerate(ticks) if i < at and all(i not in s for s in skip.values())),
                          'bad': min([t for i, t in enumerate(ticks) if i >= at and all(i not in s for s in skip.values())], default=None), 'systems': []}
        if only: self.truth['systems'] = []
        self.truth.update(kind='sums', peers=self.peers, shape=shape)

    # -- inputs --------------------------------------------------------------------------------------------------------

    def write_inputs(self, where='', clean=None):
        r = self.r
        clean = self.clean if clean is None else clean
        players, t, inputs = r.sample(['1', '2', '3', '4'], r.choice([2, 2, 3])), r.randrange(1, 20), []
        while len(inputs) < r.choice([20, 40, 80]):
            t += r.randrange(1, 9)
            for p in r.sample(players, r.choice([1, 1, 2])): inputs.append((t, int(p), r.choice(['move', 'attack', 'build', 'train', 'stop']), r.randrange(200), r.randrange(-90, 90), r.randrange(99)))
        at, how, bad = r.randrange(3, len(inputs) - 3), r.choice(['altered', 'missing', 'late']), r.choice(self.peers[1:])
        tick, player, cmd = r.choice(['tick', 'frame', 'turn']), r.choice(['player', 'player_id', 'from']), r.choice(['command', 'action', 'cmd', 'order'])
        shape = r.randrange(3)
        for p in self.peers:
            mine = list(inputs)
            if not clean and p == bad:
                x = mine[at]
                if how == 'missing': del mine[at]
                elif how == 'altered': mine[at] = (*x[:4], x[4] + 1, x[5])
                else: mine = sorted(mine[:at] + [(x[0] + 2, *x[1:])] + mine[at + 1:], key=lambda y: y[0])
            rows = [{tick: t, player: pl, cmd: c, 'unit': u, 'x': x, 'y': y} for t, pl, c, u, x, y in mine]
            if self.kind == 'inputs-jsonl': name, text = 'inputs.jsonl', ''.join(json.dumps(row) + '\n' for row in rows)
            elif self.kind == 'inputs-csv': name, text = 'inputs.csv', n.csv_text(rows)
            else:
                name, q = r.choice(['inputs.log', 'commands.txt']) if p == self.peers[0] else name, random.Random(hash_(p))
                text = ''.join([chatter(q, p, m[0], False) + '\n' if q.random() < .1 else '', ['[tick %d] player %d: %s %d %d %d\n', 'Turn %d: player %d issued %s unit=%d x=%d y=%d\n', '%d P%d %s %d %d %d\n'][shape] % m][k] for m in mine for k in (0, 1))
                if self.rumours and self.kind == 'inputs-log': text = ''.join(line + rumour(q, i + self.rumours[0], 40 + i) + '\n' for i, line in enumerate(text.splitlines(True)))
            self.put(p + '/' + name, text)
        found = {'in_sync': True} if clean else {'in_sync': False, 'kind': 'inputs', 'how': how, 'ticks': [inputs[at][0]] + [inputs[at][0] + 2] * (how == 'late'), 'player': inputs[at][1], 'peer': bad if len(self.peers) > 2 else None}
        if not where: self.truth = {**found, 'kind': 'inputs', 'peers': self.peers}
        else: self.truth['inputs'] = found

    def write_both(self):
        kind, self.kind = self.kind, self.r.choice(['json-indent', 'yaml', 'csv-long'])
        self.write_states()
        self.kind = self.r.choice(INPUTS)
        self.write_inputs('beside', clean=True)
        self.kind = kind

    # -- files ---------------------------------------------------------------------------------------------------------

    def put(self, path, content):
        self.files[path] = content if isinstance(content, bytes) else content.encode()

    def spread(self):
        """A log of each peer, in which nothing differs."""
        for p in self.peers:
            q = random.Random(hash_(p))
            self.put(p + '/console.log', ''.join(stamp(q, True, i) + (chatter(q, p, i, False) if i % 2 else rumour(q, i // 2 + self.rumours[0], 100 + i)) + '\n' for i in range(300)))

    def save(self, folder):
        r = self.r
        pack = r.choice([''] * 8 + ['gz', 'zip', 'zips']) if self.files else ''
        if pack == 'zips' and not all(f.split('/')[0] in self.peers for f in self.files): pack = 'zip'
        self.truth['pack'] = pack
        files = self.files
        if pack == 'gz': files = {k + '.gz': gzip.compress(v, mtime=0) for k, v in files.items()}
        elif pack:
            archives = {}
            for k, v in files.items():
                top, _, rest = k.partition('/')
                archives.setdefault(top + '.zip' if pack == 'zips' and rest else 'bundle.zip', []).append((rest if pack == 'zips' and rest else k, v))
            files = {}
            for k, members in archives.items():
                b = io.BytesIO()
                with zipfile.ZipFile(b, 'w', zipfile.ZIP_DEFLATED) as z:
                    for path, v in members: z.writestr(zipfile.ZipInfo(path, (2024, 1, 2, 3, 4, 6)), v)
                files[k] = b.getvalue()
        for k, v in files.items():
            path = os.path.join(folder, self.name, k)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'wb') as f: f.write(v)
        with open(os.path.join(folder, self.name + '.truth.json'), 'w') as f:
            json.dump({'notation': self.kind, **self.truth}, f, indent=1)


def hash_(text): return sum(b * 131**i for i, b in enumerate(text.encode())) % 2**31


def stamp(q, wall, i): return '[%02d:%02d:%02d.%03d] ' % (12 + i // 3600, i // 60 % 60, i % 60, q.randrange(1000)) if wall else ''


def chatter(q, p, t, wall):
    """A line of a log that is not about sums, often with numbers."""
    return stamp(q, wall, t % 3600) + q.choice(['Player %s connected from 10.0.0.%d' % (p, q.randrange(255)), 'frame time 16.%d ms' % q.randrange(99), 'Loaded %d assets in %d ms' % (q.randrange(900), q.randrange(900)),
        'fps: %d' % q.randrange(30, 144), 'ping %d ms' % q.randrange(300), 'GC freed %d objects' % q.randrange(99999), 'chat <%s> gg' % p, 'render thread stalled for %d frames' % q.randrange(9), 'WARN audio buffer underrun', 'autosave written'])


def rumour(q, i, t):
    """A line with words for desyncs or with sums, of a session without a desync. The sums of tick t are the same on all machines."""
    sum_ = lambda x: '%08x' % (x * 2654435761 % 2**32)
    h, late, other = sum_(t + 7), sum_(t + 4), '%08x' % q.getrandbits(32)
    return [
        'lockstep: frame %d local crc %s remote crc %s' % (t, h, h), 'tick %d ok, server=%s client=%s' % (t, h, h.upper()), 'ack %d: local %s, last remote %s' % (t, h, late),
        'sync: sent hash of turn %d, received hash of turn %d' % (t, t - 3), 'desync detection enabled, every %d frames' % q.randrange(9, 99), 'no desync until tick %d' % t, 'resync clock: offset %d ms at tick %d' % (q.randrange(99), t),
        'vsync off, frame %d took 16.%d ms' % (t, q.randrange(99)), 'audio out of sync by %d ms, resampling' % q.randrange(99), 'download of islands.zip: expected sha1 %s got %s, trying another mirror' % (other * 5, sum_(q.randrange(9**9)) * 5),
        'asset cache: checksum mismatch for texture_%d.png (expected %s, got %s), rebuilding' % (q.randrange(99), other, late), 'rollback to frame %d: input of player 2 mispredicted (%s != %s)' % (t, other[:2], other[2:4]),
        'frame %d predicted %s confirmed %s' % (t, other, h), 'checksum OK (%s)' % h, 'stats: desyncs=0 mismatches=0 frames=%d' % t, 'packet %d dropped: bad crc %s should be %s' % (q.randrange(9999), other[:4], other[4:]),
        'session host=%s guest=%s turn=0' % (other, late), 'fsync of replay took %d ms' % q.randrange(99), 'savegame slot %d: stored hash %s differs from computed hash %s, using the backup' % (q.randrange(9), other, h),
        'mod list in sync with server', 'player 2 state ready, player 1 state ready', 'seed %d, players in sync: 4 of 4' % q.randrange(9**9), 'waiting for checksum of player 2 for frame %d' % t, 'async load finished at step %d: %s' % (t, other),
        'sync stats: frame %d rtt %d jitter %d sent %d received %d' % (t, q.randrange(99), q.randrange(9), t * 1021, t * 1019), 'voice: decoder lost sync at packet %d' % q.randrange(999), 'db: schema hash %s != expected %s, migrating' % (other, late),
    ][i % 27]


def line_shape(i, t, v):
    return ['Frame %d checksum: %s', 'tick=%d crc=%s', 'INFO sim: turn %d hash %s', 'checksum(%d) = %s', 'Sync check @%d -> %s', 'step %d state_hash=%s', 'CRC for frame #%d is %s', 'DEBUG lockstep [frame:%d] [checksum:%s]',
            'Turn %d, sync hash %s', 'SIM T=%d H=%s', 'game tick %d world checksum is %s', '[net] local checksum for frame %d: %s', '<sync frame="%d" crc="%s"/>'][i] % (t, v)


def plan(args):
    """The names of all sessions with what they are: (name, kind, clean)."""
    kinds = list(writers()) + TABULAR
    every = kinds + LOGS + INPUTS
    if args.clean: return [('clean%03d-%s' % (i, every[i % len(every)]), every[i % len(every)], True) for i in range(args.clean)]
    out = [('%02d-%s' % (i, k), k, False) for i, k in enumerate(every + ['both', 'json-indent', 'json-tight'])]
    turn = [every[(args.seed * 7 + 4 * i) % len(every)] for i in range(7)]
    return out + [('%02d-clean-%s' % (len(out) + i, k), k, True) for i, k in enumerate(turn)]


def main():
    a = argparse.ArgumentParser()
    a.add_argument('seed', type=int)
    a.add_argument('outdir')
    a.add_argument('--clean', type=int, default=0)
    a.add_argument('--only', default='')
    a.add_argument('--rumours', action='store_true', help='lines about sums and desyncs in sessions without one')
    args = a.parse_args()
    for name, kind, clean in plan(args):
        if args.only and name != args.only: continue
        s = Session(random.Random('%d %s' % (args.seed, name)), name, kind, clean)
        if args.rumours: s.rumours = random.Random(name).sample(range(27), 3)
        if kind in LOGS: s.write_logs()
        elif kind in INPUTS: s.write_inputs()
        elif kind == 'both': s.write_both()
        else: s.write_states()
        if args.rumours and kind not in LOGS + INPUTS and all(f.split('/')[0] in s.peers for f in s.files): s.spread()
        s.save(args.outdir)


if __name__ == '__main__':
    main()
