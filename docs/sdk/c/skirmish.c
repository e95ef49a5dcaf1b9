/* SPDX-License-Identifier: MIT-0
   Copyright 2026 The desynctool authors */
/* skirmish.c: a whole small game with desynctool.h. Two players, infantry and tanks, five systems, in lockstep.

       cc -std=c99 -O2 -o skirmish skirmish.c
       ./skirmish record DIR [--ticks N] [--seed N] [--fault TICK] [--sign N]   two peers play, and leave DIR/host and DIR/client
       ./skirmish serve [--fault TICK]                                          replays for desynctool
   The fault hides: from TICK on the client (or what is served) forgets to take the dead out of the grid, a cache.
   Nothing differs until a unit walks where the grid wrongly shows a crowd. With --sign each peer signs its states, with
   a key made of N; the keys of a real game are secret. */
#define DESYNCTOOL_IMPLEMENTATION
#include "desynctool.h"
#ifdef SKIRMISH_BRANCHES /* a build that records its branches: docs/code.md */
#include "desynctool_branches.h"
#define RECORDER desync_branches
#else
#define RECORDER NULL
#endif

enum { INFANTRY, TANK, TYPES, SLOTS = 40, UNITS = TYPES * SLOTS, SIDE = 16, CELL = 8, ONE = 65536, EDGE = SIDE * CELL * ONE };
enum { MOVE, ATTACK, STOP };
static const desync_kind kinds[] = {{"move", 0}, {"attack", 0}, {"stop", 0}};

typedef struct {
    uint64_t id, target;            /* id modulo UNITS is the slot; target: 0 is no target */
    int64_t x, y, goal_x, goal_y;   /* in 1/65536 of a pace; a cell is 8 x 8 paces */
    int32_t health;
    uint16_t cooldown;              /* ticks until it fires again */
    uint8_t owner, alive, targeted; /* targeted: it has a target */
} unit;

/* The payload of orders, as it lies in memory: all machines are little-endian. Target: of attack; x, y: of move, in paces. */
typedef struct { uint64_t id, target; uint32_t x, y; } command;

typedef struct { /* all that the simulation reads and writes, and no pointers: a save is a copy */
    uint64_t rng, serial;       /* serial: of the last unit; hashed with the RNG */
    uint32_t kills[2];
    unit units[UNITS];          /* infantry, then tanks */
    uint16_t grid[SIDE * SIDE]; /* how many units are in each cell: derived, and kept up to date by the systems */
} state;

typedef struct {
    state s;
    uint64_t fault, tick;       /* fault: first tick with it, UINT64_MAX without; tick: the one that is being played */
    const desync_order *orders; /* its orders */
    size_t order_count;
    int system;                 /* the next one to run */
    desync_column columns[TYPES + 1][8];
    desync_table tables[TYPES + 2];
    desync_world world;
} game;

static uint32_t draw(uint64_t *rng, uint32_t n) { /* of 0 to n - 1 */
    *rng = *rng * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(((*rng >> 33) * n) >> 31);
}

static size_t cell(const unit *u) { return (size_t)(u->y / ONE / CELL * SIDE + u->x / ONE / CELL); }
static int64_t distance(const unit *a, const unit *b) { return llabs(a->x - b->x) + llabs(a->y - b->y); }

static unit *find(state *s, uint64_t id) {
    unit *u = &s->units[id % UNITS];
    return u->alive && u->id == id ? u : NULL;
}

static void spawn(state *s, int type, uint8_t owner) {
    size_t i = (size_t)type * SLOTS, end = i + SLOTS;
    while (i < end && s->units[i].alive) i++;
    if (i == end) return;
    unit *u = &s->units[i];
    memset(u, 0, sizeof *u);
    u->id = ++s->serial * UNITS + i, u->alive = 1, u->owner = owner;
    u->health = type == TANK ? 120 : 40;
    u->x = u->goal_x = (int64_t)(owner ? 12 : 2) * CELL * ONE + draw(&s->rng, 2 * CELL * ONE);
    u->y = u->goal_y = draw(&s->rng, EDGE);
    s->grid[cell(u)]++;
}

/* Why an order would be ignored in any state. */
static const char *useless(const desync_order *o) {
    if (o->kind > STOP) return "there is no such kind of order";
    if (o->player > 1) return "there is no such player";
    return o->size == sizeof(command) ? NULL : "its payload has another size";
}

/* The unit that an order is for, NULL if it is not possible now. */
static unit *ordered(state *s, const desync_order *o) {
    command c = {0};
    if (!useless(o)) memcpy(&c, o->payload, sizeof c);
    unit *u = find(s, c.id);
    return u && u->owner == o->player && (o->kind != ATTACK || find(s, c.target)) ? u : NULL;
}

static void obey(game *g) {
    for (size_t i = 0; i < g->order_count; i++) {
        uint32_t kind = g->orders[i].kind;
        unit *u = ordered(&g->s, &g->orders[i]);
        command c;
        if (!u) continue;
        memcpy(&c, g->orders[i].payload, sizeof c);
        u->targeted = kind == ATTACK, u->target = kind == ATTACK ? c.target : 0;
        u->goal_x = kind == MOVE ? (int64_t)c.x * ONE % EDGE : u->x;
        u->goal_y = kind == MOVE ? (int64_t)c.y * ONE % EDGE : u->y;
    }
}

static int64_t toward(int64_t at, int64_t to, int64_t pace) { return to > at + pace ? at + pace : to < at - pace ? at - pace : to; }
static void move(game *g) {
    for (unit *u = g->s.units; u < g->s.units + UNITS; u++) {
        if (!u->alive) continue;
        int64_t pace = (u < g->s.units + SLOTS ? ONE / 4 : ONE / 2) / (g->s.grid[cell(u)] > 2 ? 2 : 1); /* slow in a crowd */
        g->s.grid[cell(u)]--;
        u->x = toward(u->x, u->goal_x, pace), u->y = toward(u->y, u->goal_y, pace);
        g->s.grid[cell(u)]++;
    }
}

static void aim(game *g) {
    for (unit *u = g->s.units; u < g->s.units + UNITS; u++) {
        unit *at = u->alive && u->targeted ? find(&g->s, u->target) : NULL;
        if (at && distance(u, at) > 12 * ONE) u->goal_x = at->x, u->goal_y = at->y; /* after it */
        if (at || !u->alive) continue;
        u->targeted = 0, u->target = 0;
        for (at = g->s.units; at < g->s.units + UNITS && !u->targeted; at++)
            if (at->alive && at->owner != u->owner && distance(u, at) < 16 * ONE) u->targeted = 1, u->target = at->id;
    }
}

static void fire(game *g) {
    for (unit *u = g->s.units; u < g->s.units + UNITS; u++) {
        unit *at = u->alive && u->targeted ? find(&g->s, u->target) : NULL;
        if (u->alive && u->cooldown) u->cooldown--;
        if (!at || u->cooldown || distance(u, at) > 16 * ONE) continue;
        u->cooldown = u < g->s.units + SLOTS ? 10 : 30;
        at->health -= (int32_t)(u->cooldown / 2 + draw(&g->s.rng, u->cooldown));
        if (at->health > 0) continue;
        at->alive = 0, g->s.kills[u->owner]++;
        if (g->tick < g->fault) g->s.grid[cell(at)]--;
    }
}

static void reinforce(game *g) {
    for (uint8_t owner = 0; owner < 2 && g->tick % 20 == 0; owner++) spawn(&g->s, draw(&g->s.rng, 4) ? INFANTRY : TANK, owner);
}

static const struct { const char *name; void (*run)(game *); } systems[] = {
    {"Orders", obey}, {"Movement", move}, {"Targeting", aim}, {"Combat", fire}, {"Reinforcement", reinforce}};

/* ---- What desynctool asks */

#define COLUMN(c, f, t, d) {.component = c, .field = f, .type = t, .scale = t == DESYNC_FIXED ? ONE : 0, .data = d}

static void describe(game *g) {
    for (int t = 0; t < TYPES; t++) {
        const unit *u = g->s.units + t * SLOTS;
        const desync_column columns[8] = {
            COLUMN("Health", "points", DESYNC_I32, &u->health), COLUMN("Owner", "player", DESYNC_U8, &u->owner),
            COLUMN("Position", "x", DESYNC_FIXED, &u->x), COLUMN("Position", "y", DESYNC_FIXED, &u->y),
            COLUMN("Goal", "x", DESYNC_FIXED, &u->goal_x), COLUMN("Goal", "y", DESYNC_FIXED, &u->goal_y),
            COLUMN("Weapon", "cooldown", DESYNC_U16, &u->cooldown), COLUMN("Weapon", "target", DESYNC_REF, &u->target)};
        memcpy(g->columns[t], columns, sizeof columns);
        g->columns[t][7].present = &u->targeted;
        g->tables[t] = (desync_table){.label = t == TANK ? "Tank" : "Infantry", .slots = SLOTS, .stride = sizeof *u,
                                      .alive = &u->alive, .key = &u->id, .columns = g->columns[t], .column_count = 8};
    }
    const desync_column rest[] = {COLUMN("Score", "kills", DESYNC_U32, g->s.kills), COLUMN("Cell", "units", DESYNC_U16, g->s.grid)};
    memcpy(g->columns[TYPES], rest, sizeof rest);
    g->tables[TYPES] = (desync_table){.label = "Player", .slots = 2, .columns = &g->columns[TYPES][0], .column_count = 1};
    g->tables[TYPES + 1] = (desync_table){.label = "Grid", .table_class = DESYNC_CACHE, .slots = SIDE * SIDE,
                                          .columns = &g->columns[TYPES][1], .column_count = 1};
    g->world = (desync_world){.rng = &g->s.rng, .rng_size = 2 * sizeof g->s.rng, .tables = g->tables, .table_count = TYPES + 2};
}

static const desync_world *world(void *user) { return &((game *)user)->world; }
static int known(const desync_header *h) { return strcmp(desync_param_of(h, "map", "plain"), "plain") == 0; }

static const char *start(void *user, const desync_header *h) {
    game *g = user;
    if (!known(h)) return "there is no such map";
    memset(&g->s, 0, sizeof g->s);
    g->s.rng = h->seed;
    for (uint8_t i = 0; i < 32; i++) spawn(&g->s, i % 8 < 6 ? INFANTRY : TANK, i % 2);
    describe(g);
    return NULL;
}

static const char *begin(void *user, uint64_t tick, const desync_order *orders, size_t n) {
    game *g = user;
    return g->tick = tick, g->orders = orders, g->order_count = n, g->system = 0, NULL;
}

static const char *next(void *user, int *more) {
    game *g = user;
    systems[g->system].run(g);
    *more = g->system + 1 < (int)(sizeof systems / sizeof *systems);
    return systems[g->system++].name;
}

static void count(const state *s, uint16_t *grid) {
    memset(grid, 0, sizeof s->grid);
    for (const unit *u = s->units; u < s->units + UNITS; u++)
        if (u->alive) grid[cell(u)]++;
}

static void caches(void *user, desync_names *stale) {
    game *g = user;
    uint16_t grid[SIDE * SIDE];
    count(&g->s, grid);
    if (memcmp(grid, g->s.grid, sizeof grid) != 0) desync_stale(stale, "Grid");
}

static size_t place(void *user, const desync_table *t, uint64_t key, uint64_t key2) {
    return (void)key2, (size_t)(key % UNITS) - SLOTS * (size_t)(t - ((game *)user)->tables);
}

static const char *load(void *user, const desync_snap *from, const desync_header *h) {
    game *g = user;
    state before = g->s;
    describe(g);
    const char *err = h && !known(h) ? "there is no such map" : desync_fill(&g->world, from, place, g);
    for (const unit *u = g->s.units; u < g->s.units + UNITS && !err; u++)
        if (u->alive && ((uint64_t)(u->x | u->y | u->goal_x | u->goal_y) >= EDGE || u->owner > 1 || u->health < 1))
            err = "the state has a unit that cannot be";
    if (err) return g->s = before, err;
    count(&g->s, g->s.grid); /* a cache that is loaded may be what is wrong */
    return NULL;
}

static const char *validate(void *user, uint64_t tick, const desync_order *o) { return (void)user, (void)tick, useless(o); }
static int test(void *user, uint64_t tick, const desync_order *o) { return (void)tick, ordered(&((game *)user)->s, o) != NULL; }

static void predict(void *user, uint64_t tick, uint32_t player, const desync_order *orders, size_t n) {
    state before = ((game *)user)->s;
    begin(user, tick, orders, n);
    for (int more = 1; more;) next(user, &more);
    ((game *)user)->s = before, (void)player;
}

static game served;
static const desync_target target = {
    .user = &served, .name = "skirmish", .build = "1.0", .kinds = kinds, .kind_count = 3, .start = start, .load = load, .world = world,
    .memory = &served.s, .memory_size = sizeof served.s, .begin = begin, .next = next, .caches = caches, .validate = validate,
    .test = test, .predict = predict, .branches = RECORDER};

#ifdef DESYNCTOOL_WASM
const desync_target *desync_game(void) { return served.fault = UINT64_MAX, &target; }
#else
typedef struct { game g; desync_recorder files; desync_signatures chain; uint64_t script; } peer; /* script: RNG of the player, which is not the game's */

static void must(const char *err) { if (err) fprintf(stderr, "skirmish: %s\n", err), exit(2); }

/* A scripted player looks at a unit. If that is its own it goes somewhere, attacks or stops, as its own machine has it. */
static size_t script(peer *p, uint32_t player, uint64_t tick, command *c, desync_order *o) {
    const unit *u = p->g.s.units + draw(&p->script, UNITS), *at = p->g.s.units + draw(&p->script, UNITS);
    uint32_t dice = draw(&p->script, 8), x = draw(&p->script, SIDE * CELL), y = draw(&p->script, SIDE * CELL);
    uint32_t kind = dice < 4 ? MOVE : dice < 7 ? ATTACK : STOP;
    *c = (command){u->id, at->id, x, y};
    *o = (desync_order){0, player, (uint32_t)tick, kind, (const uint8_t *)c, sizeof *c};
    return u->alive && u->owner == player && (kind != ATTACK || (at->alive && at->owner != player));
}

static void sign(peer *p, const char *dir, uint64_t seed, const char *name, uint8_t number, uint64_t key) {
    uint8_t start[32], secret[32] = {0};
    char path[4096];
    memcpy(secret, &key, sizeof key), secret[8] = number;
    must(desync_state_hash(&p->g.world, start));
    if (snprintf(path, sizeof path, "%s/%s/tick-signatures.bin", dir, name) >= (int)sizeof path) must("the path is too long");
    must(desync_signatures_open(&p->chain, path, &(desync_signer){.seed = seed, .peer = name, .start = start, .secret = secret}));
}

static void record(const char *dir, uint64_t ticks, uint64_t seed, uint64_t fault, uint64_t key) {
    static const char *const names[] = {"host", "client"};
    static const desync_param params[] = {{"map", "plain"}};
    static peer peers[2];
    peer *p, *end = peers + 2;
    int parted = 0;
    for (p = peers; p < end; p++) {
        const desync_header h = {seed, names[p - peers], "1.0", 20, 1, {0}, 0, 0, kinds, 3, names, 2, params, 1};
        p->g.fault = p == peers ? UINT64_MAX : fault, p->script = seed + (uint64_t)(p - peers);
        must(start(&p->g, &h)), must(desync_recorder_open(&p->files, dir, &h, &p->g.world, DESYNC_BY_COLUMN));
        if (key) sign(p, dir, seed, names[p - peers], (uint8_t)(p - peers), key);
    }
    for (uint64_t tick = 0;; tick++) {
        desync_order orders[2]; command commands[2]; size_t n = 0;
        for (p = peers; p < end; p++) {
            must(desync_recorder_state(&p->files, tick, &p->g.world));
            if (key) must(desync_signatures_append(&p->chain, tick, p->files.root));
            if (tick % 100 == 0 || tick == ticks || parted == 1) must(desync_recorder_snapshot(&p->files, &p->g.world));
        }
        parted += parted == 1;
        if (tick == ticks) break;
        for (p = peers; p < end; p++) n += script(p, (uint32_t)(p - peers), tick, &commands[n], &orders[n]);
        for (p = peers; p < end; p++) must(desync_recorder_tick(&p->files, tick, orders, n)), begin(&p->g, tick, orders, n);
        for (int more = 1; more;) {
            for (p = peers; p < end; p++) must(desync_recorder_system(&p->files, next(&p->g, &more), &p->g.world));
            if (parted || memcmp(peers[0].files.root, peers[1].files.root, 32) == 0) continue;
            printf("the peers diverge in tick %llu, in %s\n", (unsigned long long)tick, systems[peers[0].g.system - 1].name);
            parted = 1;
        }
    }
    for (p = peers; p < end; p++) must(desync_recorder_close(&p->files)), must(key ? desync_signatures_close(&p->chain) : NULL);
}

int main(int argc, char **argv) {
    static const char *const flags[] = {"--ticks", "--seed", "--fault", "--sign"};
    uint64_t numbers[] = {600, 1, UINT64_MAX, 0};
    int serve = argc > 1 && strcmp(argv[1], "serve") == 0, i = serve ? 2 : 3, k;
    if (!serve && (argc < 3 || strcmp(argv[1], "record") != 0)) must("expected serve or record DIR");
    for (; i < argc; i += 2) {
        for (k = 0; k < 4 && strcmp(argv[i], flags[k]) != 0;) k++;
        if (k == 4 || i + 1 == argc) must("expected --ticks N, --seed N, --fault TICK, --sign N");
        numbers[k] = strtoull(argv[i + 1], NULL, 10);
    }
    served.fault = numbers[2];
    if (serve) return desync_serve(&target);
    record(argv[2], numbers[0], numbers[1], numbers[2], numbers[3]);
    return 0;
}
#endif
