/* SPDX-License-Identifier: MIT-0
   Copyright 2026 The desynctool authors */
/* arena.c: a larger game with desynctool.h, one that rolls back. Four players with four fighters each, drones, shots, pickups and
   hazards; nine systems. What a player orders takes effect two ticks later, at once on each machine: a machine that does not
   know the others' orders yet assumes that they repeat their last ones, plays ahead, and plays again when it knows. A
   tick is hashed, logged and saved only when all its orders are known.

       cc -std=c99 -O2 -pthread -o arena arena.c
       ./arena record DIR [--seed N] [--ticks N] [--peers N] [--snapshot-every N] [--trace none|system|archetype|column]
                          [--fault NAME[/PLACE][@TICK][:PEER]]...    peers play, and leave DIR/<peer> and DIR/truth.json
       ./arena serve [--fault NAME[/PLACE][@TICK]]...                replays for desynctool
       ./arena faults                                                lists the mistakes that it can make */
#define DESYNCTOOL_IMPLEMENTATION
#include "desynctool.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* else a product and a sum may become one rounding on some machines */
#endif

#include <time.h>
#ifndef _WIN32
#include <pthread.h>
#include <sched.h>
#endif

enum { PLAYERS = 4, SQUAD = 4, FIGHTERS = 16, SLOTS = 4, DRONES = 144, SHOTS = 160, PICKUPS = 48, HAZARDS = 24 };
enum { FIGHTER = 0, DRONE = FIGHTERS, SHOT = DRONE + DRONES, PICKUP = SHOT + SHOTS, HAZARD = PICKUP + PICKUPS, PLACES = 1024 };
enum { SIDE = 16, CELL = 8, EDGE = SIDE * CELL, NOBODY = 255 };
enum { DELAY = 2, RING = 32, MAX_PEERS = 4, MAX_ORDERS = 40 };
enum { STEER, FIRE, CEASE, CHAT, KINDS };
static const desync_kind kinds[KINDS] = {{"steer", 0}, {"fire", 0}, {"cease", 0}, {"chat", 1}};

/* The payload of orders, as it lies in memory: all machines are little-endian. */
typedef struct {
    uint32_t given; /* tick in which the player gave it */
    float x, y;     /* of steer: where to, -1 to 1 */
    uint32_t slot;  /* of fire */
    uint64_t unit, target;
} command;

typedef struct { uint64_t id; float x, y, vx, vy; uint8_t alive; } body; /* id modulo PLACES is its place; in paces, and paces a tick */
typedef struct {
    body b;
    float stick_x, stick_y, aim_x, aim_y;
    double heat;
    int32_t health;
    uint16_t combo;
    uint8_t player, slot, trigger, stun; /* stun: ticks until it is back */
    char name[8];
} fighter;
typedef struct {
    body b;
    float goal_x, goal_y;
    double patience;
    uint64_t target;
    int16_t health;
    uint8_t hunting, mood, reload;
} drone;
typedef struct { body b; float damage; uint64_t owner; uint8_t player, life; } shot;
typedef struct { body b; int32_t value; uint8_t kind; } pickup;
typedef struct { body b; double phase; float radius; uint8_t on; } hazard;
typedef struct { uint64_t owner, number; float charge; int16_t ammo; uint8_t cooldown; } slot; /* a weapon of a fighter */
typedef struct { double score, pressure; uint32_t kills; uint8_t rank; char name[8]; } player;

typedef struct { /* all that the simulation reads and writes, no pointers; rows without an entity are zero */
    uint64_t rng, serial; /* serial: of the last entity */
    double clock, swarm_x, swarm_y; /* swarm: the middle of all drones */
    uint32_t round;
    player players[PLAYERS];
    slot slots[FIGHTERS * SLOTS];
    fighter fighters[FIGHTERS];
    drone drones[DRONES];
    shot shots[SHOTS];
    pickup pickups[PICKUPS];
    hazard hazards[HAZARDS];
    uint16_t grid[SIDE * SIDE], threat[SIDE * SIDE]; /* drones, and hazards, in each cell: derived, kept up to date by the systems */
} state;

/* ---- Mistakes */

enum {
    RNG_LEAK, MAP_ORDER, UNSORTED_MERGE, UNSTABLE_SORT, FLOAT_FMA, FLOAT_REASSOC, UNINITIALIZED, STALE_CACHE, IMPURE_VALIDATION,
    PREDICTION_LEAK, SAVE_OMITS_FIELD, INITIAL_STATE, LOCALE_SORT, LOCALE_NUMBER, WALL_CLOCK, DATA_MISMATCH, RECONVERGE, HOST_ONLY,
    ORDER_DROPPED, ORDER_DUPLICATED, ORDER_REORDERED, ORDER_ALTERED, ORDER_LATE, BIT_FLIP, FOREIGN_WRITE, CHECKSUM_ONLY,
    BLIND_CHECKSUM, FAULTS
};
static const struct { const char *name, *places[4], *what; } faults[FAULTS] = {
    {"rng-leak", {"Weapons", "Shots", "Pickups"}, "a flash, sparks or glitter draw from the game's random numbers"},
    {"map-order", {"Think", "Shots", "Pickups"}, "a list is worked off in the order of a hash table whose keys are addresses"},
    {"unsorted-merge", {"Think"}, "what threads gathered is worked off in the order of their completion"},
    {"unstable-sort", {"Think", "Shots"}, "a list is sorted by rounded distances alone, and ties fall as the heap has it"},
    {"float-fma", {"Hazards", "Move", "Score"}, "a product is not rounded before something is added"},
    {"float-reassoc", {"Think", "Score"}, "a sum is added up in two halves, as a compiler may that vectorizes"},
    {"uninitialized", {"Shots", "Score"}, "a buffer is used again without clearing it"},
    {"stale-cache", {"Hazards", "Move", "Shots"}, "an entity that moves or dies stays where it was in the spatial hash"},
    {"impure-validation", {"Fighter", "Slot"}, "the test whether an order is possible already aims, or resets the weapon"},
    {"prediction-leak", {"Fighter", "Drone", "Slot"}, "a field is carried over a rollback so that nothing flickers: a combo, patience, a cooldown"},
    {"save-omits-field", {"Fighter", "Drone", "Slot"}, "the state that a rollback goes back to lacks a field: heat, patience, a charge"},
    {"initial-state", {"Fighter", "Pickup", "Hazard"}, "an option of the lobby is set on one machine only"},
    {"locale-sort", {"Shots", "Score"}, "names are sorted as the machine's locale has it, upper and lower case alike"},
    {"locale-number", {"Move", "Weapons"}, "the rules are read under a locale with a decimal comma: 2.55 is 2, or 255"},
    {"wall-clock", {"Move", "Weapons", "Score"}, "the machine's clock says how hot, how long or how late"},
    {"data-mismatch", {"Move", "Weapons", "Pickups"}, "one machine plays by other rules: speed, damage or prizes"},
    {"reconverge", {"Think", "Score"}, "a mood or a rank that nothing reads is wrong until it is computed anew"},
    {"host-only", {"Think", "Weapons", "Spawn"}, "a script runs on the host alone and changes the state there; the host makes it"},
    {"order-dropped", {"Move", "Weapons"}, "the network loses one order"},
    {"order-duplicated", {"Move", "Weapons"}, "the network delivers an order again in the next tick, after the one that replaced it"},
    {"order-reordered", {"Move", "Weapons"}, "two orders of one tick for one fighter overtake each other"},
    {"order-altered", {"Move", "Weapons"}, "a bit of an order flips on its way"},
    {"order-late", {"Move", "Weapons"}, "an order takes effect a tick later"},
    {"bit-flip", {"Move", "Shots", "Score"}, "one bit in memory flips once"},
    {"foreign-write", {"Fighter", "Slot", "Player"}, "a cheat writes health, ammunition or a score into the game's memory"},
    {"checksum-only", {"Fighter", "Drone"}, "a column is written without marking it, and its old digest stays in the checksum"},
    {"blind-checksum", {"Think", "Score"}, "all checksums leave out a column that nothing reads, and one machine computes it otherwise"}};

typedef struct { int fault, done; const char *place; uint64_t from; int peer; } mistake; /* place NULL: the seed chooses */

typedef struct { float drone_speed, shot_speed, damage, spin; int32_t prize; } rules;
static const char *const data[] = {"1.25", "2.55", "6.5", "0.75", "25"}, *const other_data[] = {"1.35", "2.55", "7.5", "0.75", "30"};

typedef struct {
    state s;
    uint64_t tick;              /* the one that is being played */
    const desync_order *orders; /* its orders */
    size_t order_count;
    int system;                 /* the next one to run */
    int sure;                   /* all orders of the tick are known */
    rules rules, foreign, misread;
    uint64_t fx, effects;       /* random numbers of what is only seen, and how much of it there was */
    float hurt[PLACES];         /* scratch of Shots and Score */
    double sums[PLAYERS];
    mistake mistakes[8];
    int mistake_count;
} game;

/* The mistake if this machine makes it now in this place. */
static mistake *on(game *g, int fault, const char *place) {
    for (mistake *m = g->mistakes; m < g->mistakes + g->mistake_count; m++)
        if (m->fault == fault && g->tick >= m->from && strcmp(m->place, place) == 0) return m;
    return NULL;
}

/* The same for what happens once, and not in ticks that are played again. */
static int once(game *g, int fault, const char *place) {
    mistake *m = g->sure ? on(g, fault, place) : NULL;
    if (!m || m->done) return 0;
    return m->done = 1;
}

static void choose_places(game *g, uint64_t seed) {
    for (mistake *m = g->mistakes; m < g->mistakes + g->mistake_count; m++) {
        uint64_t n = 0;
        while (n < 4 && faults[m->fault].places[n]) n++;
        if (!m->place) m->place = faults[m->fault].places[seed % n];
        m->done = 0;
    }
}

/* ---- The simulation */

static uint32_t draw(uint64_t *rng, uint32_t n) { /* of 0 to n - 1 */
    *rng = *rng * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(((*rng >> 33) * n) >> 31);
}

static void effect(game *g, const char *place) { /* something to see */
    g->effects += draw(on(g, RNG_LEAK, place) ? &g->s.rng : &g->fx, 16);
}

static uint64_t machine_clock(void) { /* in ns */
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* a * b + c, rounded twice. */
static float mul_add(game *g, const char *place, float a, float b, float c) {
    volatile float product = a * b;
    return on(g, FLOAT_FMA, place) ? (float)((double)a * b + c) : product + c;
}

static double add_up(game *g, const char *place, const double *v, size_t n) {
    double sum = 0, halves[2] = {0, 0};
    for (size_t i = 0; i < n; i++) sum += v[i], halves[i % 2] += v[i];
    return on(g, FLOAT_REASSOC, place) ? halves[0] + halves[1] : sum;
}

static float magnitude(float v) { return v < 0 ? -v : v; }
static float length(float x, float y) { /* about: no square root, since libraries differ in it */
    x = magnitude(x), y = magnitude(y);
    return x > y ? x + y * 0.375f : y + x * 0.375f;
}
static float distance(const body *a, const body *b) { return length(a->x - b->x, a->y - b->y); }
static float within(float v) { return v < 0 ? 0 : v > EDGE - 0.125f ? EDGE - 0.125f : v; }
static size_t lane(float v) { return v >= 0 && v < SIDE * CELL ? (size_t)v / CELL : v > 0 ? SIDE - 1 : 0; } /* a state that was loaded may hold anything */
static size_t cell_at(float x, float y) { return lane(y) * SIDE + lane(x); }
static size_t cell(const body *b) { return cell_at(b->x, b->y); }

static fighter *fighter_of(state *s, uint64_t id) {
    uint64_t place = id % PLACES;
    return place < DRONE && s->fighters[place].b.id == id ? &s->fighters[place] : NULL;
}

static body *body_of(state *s, uint64_t id) { /* of what can be aimed at */
    uint64_t place = id % PLACES;
    body *b = place < DRONE ? &s->fighters[place].b : place < SHOT ? &s->drones[place - DRONE].b : NULL;
    return b && b->alive && b->id == id ? b : NULL;
}

static void be(state *s, body *b, size_t place, float x, float y) {
    b->id = ++s->serial * PLACES + place, b->alive = 1, b->x = within(x), b->y = within(y);
}

static float anywhere(state *s) { return (float)draw(&s->rng, EDGE * 16) / 16; }

static void be_anywhere(state *s, body *b, size_t place) { /* one draw after the other: arguments have no order */
    float x = anywhere(s), y = anywhere(s);
    be(s, b, place, x, y);
}

static void spawn_drone(state *s) {
    for (size_t i = 0; i < DRONES; i++) {
        drone *d = &s->drones[i];
        if (d->b.alive) continue;
        be_anywhere(s, &d->b, DRONE + i);
        d->goal_x = d->b.x, d->goal_y = d->b.y, d->health = 20, d->patience = 1;
        s->grid[cell(&d->b)]++;
        return;
    }
}

static void spawn_pickup(state *s, int32_t value) {
    for (size_t i = 0; i < PICKUPS; i++) {
        pickup *p = &s->pickups[i];
        if (p->b.alive) continue;
        be_anywhere(s, &p->b, PICKUP + i);
        p->kind = (uint8_t)draw(&s->rng, 3), p->value = value;
        return;
    }
}

static void spawn_shot(game *g, const body *from, float x, float y, float damage, uint8_t owner) {
    float n = length(x, y), speed = (on(g, LOCALE_NUMBER, "Weapons") ? g->misread : g->rules).shot_speed;
    for (size_t i = 0; i < SHOTS && n > 0; i++) {
        shot *t = &g->s.shots[i];
        if (t->b.alive) continue;
        be(&g->s, &t->b, SHOT + i, from->x, from->y);
        t->b.vx = x / n * speed, t->b.vy = y / n * speed;
        t->damage = damage, t->owner = from->id, t->player = owner, t->life = 16;
        return;
    }
}

static void begin_match(state *s, uint64_t seed) {
    static const char *const names[FIGHTERS] = {"Zed", "ada", "Bo", "cy", "dot", "Eve", "Fay", "gus", "Hal", "ida", "Jo", "kit", "lou", "Max", "ned", "Oz"};
    memset(s, 0, sizeof *s);
    s->rng = seed;
    for (size_t i = 0; i < FIGHTERS; i++) {
        fighter *f = &s->fighters[i];
        float x = 32.0f + 64.0f * (float)(i / SQUAD % 2) + anywhere(s) / 16, y = 32.0f + 64.0f * (float)(i / SQUAD / 2) + anywhere(s) / 16;
        be(s, &f->b, FIGHTER + i, x, y);
        f->health = 100, f->player = (uint8_t)(i / SQUAD), f->aim_x = 1;
        strcpy(f->name, names[i]);
        for (size_t k = 0; k < SLOTS; k++) s->slots[i * SLOTS + k] = (slot){f->b.id, k, 0, (int16_t)(18 + 8 * k), 0};
    }
    for (size_t i = 0; i < PLAYERS; i++) snprintf(s->players[i].name, 8, "P%d", (int)i + 1);
    for (size_t i = 0; i < HAZARDS; i++) {
        hazard *h = &s->hazards[i];
        be_anywhere(s, &h->b, HAZARD + i);
        h->b.vx = 0.5f, h->radius = 3 + (float)draw(&s->rng, 4) / 2;
        s->threat[cell(&h->b)]++;
    }
    for (int i = 0; i < 100; i++) spawn_drone(s);
    for (int i = 0; i < 30; i++) spawn_pickup(s, 25);
}

/* ---- Lists that are worked off in order */

typedef struct { uint32_t key, at; uint64_t id; const void *who; char name[12]; } entry; /* who: where the entity lies */
enum { BY_KEY, BY_NAME }; /* by keys, by keys and names; then by id */

static const char *tag(uint64_t id, char *to) { /* what the drone is called: its serial number in base 62 */
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    char back[12];
    size_t n = 0, i = 0;
    for (id /= PLACES; id; id /= 62) back[n++] = digits[id % 62];
    while (n) to[i++] = back[--n];
    return to[i] = 0, to;
}

static int folded(char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }
static int collate(const char *a, const char *b) { /* as the machine's locale does */
    while (*a && folded(*a) == folded(*b)) a++, b++;
    return folded(*a) - folded(*b);
}

static int before(const entry *a, const entry *b, int how, int local) {
    int c = (a->key > b->key) - (a->key < b->key);
    if (!c && how == BY_NAME) c = local ? collate(a->name, b->name) : strcmp(a->name, b->name);
    return c ? c < 0 : a->id < b->id;
}

static uint64_t scattered(const void *address) { /* a hash table's idea of a key */
    uint64_t v = (uint64_t)(uintptr_t)address * 0x9e3779b97f4a7c15u;
    return v ^ v >> 29;
}

/* Lists entities like a hash table with pointers as keys. */
static void by_address(entry *list, size_t n) {
    for (size_t i = 1, at; i < n; i++) {
        entry e = list[i];
        for (at = i; at > 0 && scattered(e.who) < scattered(list[at - 1].who); at--) list[at] = list[at - 1];
        list[at] = e;
    }
}

static void sift(entry *list, size_t i, size_t n) {
    for (size_t k; (k = 2 * i + 1) < n; i = k) {
        entry e = list[i];
        if (k + 1 < n && list[k + 1].key > list[k].key) k++;
        if (list[k].key <= e.key) return;
        list[i] = list[k], list[k] = e;
    }
}

static void heap_sort(entry *list, size_t n) { /* by keys alone */
    for (size_t i = n / 2; i-- > 0;) sift(list, i, n);
    for (size_t i = n; i-- > 1;) {
        entry e = list[0];
        list[0] = list[i], list[i] = e;
        sift(list, 0, i);
    }
}

static void arrange(game *g, const char *place, int how, entry *list, size_t n) {
    int local = on(g, LOCALE_SORT, place) != NULL;
    if (on(g, MAP_ORDER, place)) { by_address(list, n); return; }
    if (on(g, UNSTABLE_SORT, place)) { heap_sort(list, n); return; }
    for (size_t i = 1, at; i < n; i++) {
        entry e = list[i];
        for (at = i; at > 0 && before(&e, &list[at - 1], how, local); at--) list[at] = list[at - 1];
        list[at] = e;
    }
}

/* ---- Systems */

/* Why an order would be ignored in any state. */
static const char *useless(const desync_order *o) {
    command c;
    if (o->kind >= KINDS) return "there is no such kind of order";
    if (o->kind == CHAT) return NULL;
    if (o->player >= PLAYERS) return "there is no such player";
    if (o->size != sizeof c) return "its payload has another size";
    memcpy(&c, o->payload, sizeof c);
    if (!(c.x >= -1 && c.x <= 1 && c.y >= -1 && c.y <= 1)) return "it steers out of range";
    return c.slot < SLOTS ? NULL : "there is no such weapon";
}

/* The fighter that an order is for, NULL if it is not possible now. */
static fighter *ordered(state *s, const desync_order *o, command *c) {
    if (useless(o) || o->kind == CHAT) return NULL;
    memcpy(c, o->payload, sizeof *c);
    fighter *f = fighter_of(s, c->unit);
    return f && f->player == o->player ? f : NULL;
}

static void obey(game *g) {
    command c;
    for (size_t i = 0; i < g->order_count; i++) {
        fighter *f = ordered(&g->s, &g->orders[i], &c);
        if (!f) continue;
        if (g->orders[i].kind == STEER) f->stick_x = c.x, f->stick_y = c.y;
        if (g->orders[i].kind == CEASE) f->trigger = 0;
        if (g->orders[i].kind != FIRE) continue;
        const body *at = body_of(&g->s, c.target); /* it may be gone by now */
        f->trigger = 1, f->slot = (uint8_t)c.slot;
        if (at) f->aim_x = at->x - f->b.x, f->aim_y = at->y - f->b.y;
    }
}

static void burn(game *g) {
    for (hazard *h = g->s.hazards; h < g->s.hazards + HAZARDS; h++) {
        float vx = mul_add(g, "Hazards", h->b.vx, 0.998f, h->b.vy * -0.0625f);
        float vy = mul_add(g, "Hazards", h->b.vy, 0.998f, h->b.vx * 0.0625f), n = length(vx, vy);
        size_t old = cell(&h->b);
        h->b.vx = vx / n * g->rules.spin, h->b.vy = vy / n * g->rules.spin;
        h->b.x = within(h->b.x + h->b.vx), h->b.y = within(h->b.y + h->b.vy);
        h->phase += 0.03125 + h->radius * 0.001, h->on = (uint8_t)((uint32_t)h->phase % 2);
        if (old != cell(&h->b) && !on(g, STALE_CACHE, "Hazards")) g->s.threat[old]--, g->s.threat[cell(&h->b)]++;
        for (fighter *f = g->s.fighters; h->on && g->tick % 4 == 0 && f < g->s.fighters + FIGHTERS; f++)
            if (!f->stun && distance(&f->b, &h->b) < h->radius) f->health -= 2, f->heat += 0.1;
    }
}

static int idle(const game *g, size_t i) {
    const drone *d = &g->s.drones[i];
    return d->b.alive && !d->hunting && (g->tick + i) % 4 == 0;
}

static void gather_idle(const game *g, size_t from, size_t to, entry *list, size_t *n) {
    for (size_t i = from; i < to; i++)
        if (idle(g, i)) list[(*n)++] = (entry){.at = (uint32_t)i, .id = g->s.drones[i].b.id, .who = &g->s.drones[i]};
}

#ifndef _WIN32
typedef struct { const game *g; pthread_mutex_t mutex; size_t chunk, n; entry *list; } work;

static void *worker(void *user) {
    work *w = user;
    entry found[8];
    for (;;) {
        size_t n = 0, chunk;
        pthread_mutex_lock(&w->mutex);
        chunk = w->chunk++;
        pthread_mutex_unlock(&w->mutex);
        if (chunk >= DRONES / 8) return NULL;
        gather_idle(w->g, chunk * 8, chunk * 8 + 8, found, &n);
        sched_yield();
        pthread_mutex_lock(&w->mutex);
        memcpy(w->list + w->n, found, n * sizeof *found);
        w->n += n;
        pthread_mutex_unlock(&w->mutex);
    }
}

static size_t gather_by_threads(const game *g, entry *list) {
    work w = {.g = g, .list = list};
    pthread_t threads[3];
    int n = 0;
    pthread_mutex_init(&w.mutex, NULL);
    while (n < 3 && pthread_create(&threads[n], NULL, worker, &w) == 0) n++;
    if (!n) worker(&w);
    while (n) pthread_join(threads[--n], NULL);
    pthread_mutex_destroy(&w.mutex);
    return w.n;
}
#endif

static size_t gather(game *g, entry *list) {
    size_t n = 0;
#ifndef _WIN32
    if (on(g, UNSORTED_MERGE, "Think")) return gather_by_threads(g, list);
#endif
    gather_idle(g, 0, DRONES, list, &n);
    return n;
}

/* The middle of all drones, by a coordinate. */
static double middle(game *g, size_t offset) {
    double v[DRONES];
    float at;
    size_t n = 0;
    for (drone *d = g->s.drones; d < g->s.drones + DRONES; d++)
        if (d->b.alive) memcpy(&at, (const char *)&d->b + offset, sizeof at), v[n++] = (double)at / 3;
    return n ? add_up(g, "Think", v, n) / (double)n * 3 : EDGE / 2;
}

static void hunt(game *g, drone *d) {
    entry near[FIGHTERS];
    uint32_t n = 0, dice = draw(&g->s.rng, 8);
    for (uint32_t i = 0; i < FIGHTERS; i++) {
        const fighter *f = &g->s.fighters[i];
        float far = distance(&f->b, &d->b);
        if (!f->stun && far < 40) near[n++] = (entry){.key = (uint32_t)far / 8, .at = i, .id = f->b.id, .who = f};
    }
    arrange(g, "Think", BY_KEY, near, n);
    if (n && dice < 6) d->hunting = 1, d->target = near[dice % (n < 2 ? n : 2)].id;
    else if (dice == 6) d->goal_x = (float)g->s.swarm_x, d->goal_y = (float)g->s.swarm_y;
    else d->goal_x = within(anywhere(&g->s)), d->goal_y = within(anywhere(&g->s));
}

static void reckon_mood(game *g) {
    int add = once(g, RECONVERGE, "Think") ? 3 : on(g, BLIND_CHECKSUM, "Think") ? 1 : 0;
    for (drone *d = g->s.drones; d < g->s.drones + DRONES; d++)
        if (d->b.alive) d->mood = (uint8_t)((d->patience < 0 ? 0 : d->patience > 60 ? 60 : (int)d->patience) + add);
}

static void think(game *g) {
    entry list[DRONES];
    if (g->tick % 8 == 0) g->s.swarm_x = middle(g, offsetof(body, x)), g->s.swarm_y = middle(g, offsetof(body, y));
    for (drone *d = g->s.drones; d < g->s.drones + DRONES; d++) {
        fighter *f = d->hunting ? fighter_of(&g->s, d->target) : NULL;
        if (!d->b.alive) continue;
        d->patience += d->hunting ? -0.3 : 0.1 + 0.01 * g->s.threat[cell(&d->b)];
        if (f && !f->stun && d->patience > 0) d->goal_x = f->b.x, d->goal_y = f->b.y;
        else d->hunting = 0, d->target = 0;
        if (g->s.threat[cell(&d->b)] && !d->hunting) d->goal_x = within(d->b.x + 8), d->patience += 0.5;
    }
    size_t n = gather(g, list);
    if (!on(g, UNSORTED_MERGE, "Think")) arrange(g, "Think", BY_KEY, list, n);
    for (size_t i = 0; i < n; i++) hunt(g, &g->s.drones[list[i].at]);
    if (g->tick % 16 == 0) reckon_mood(g);
    if (on(g, HOST_ONLY, "Think") && g->tick % 8 == 0) /* the host's bot calls a drone to its own fighter */
        for (drone *d = g->s.drones; d < g->s.drones + DRONES; d++)
            if (d->b.alive) { d->goal_x = g->s.fighters[0].b.x, d->goal_y = g->s.fighters[0].b.y; break; }
}

static void walk(game *g, body *b, float vx, float vy) {
    b->vx = vx, b->vy = vy;
    b->x = within(mul_add(g, "Move", vx, 0.7f, b->x));
    b->y = within(mul_add(g, "Move", vy, 0.7f, b->y));
}

static void move(game *g) {
    const rules *r = on(g, DATA_MISMATCH, "Move") ? &g->foreign : on(g, LOCALE_NUMBER, "Move") ? &g->misread : &g->rules;
    mistake *late = on(g, WALL_CLOCK, "Move"), *stale = on(g, STALE_CACHE, "Move");
    for (fighter *f = g->s.fighters; f < g->s.fighters + FIGHTERS; f++) {
        float pace = f->stun ? 0 : 1.1f / (1 + (float)f->heat / 8);
        walk(g, &f->b, f->stick_x * pace, f->stick_y * pace);
        f->heat += length(f->b.vx, f->b.vy) * (late ? (double)(machine_clock() % 1000000) * 1e-6 : 0.06);
    }
    for (drone *d = g->s.drones; d < g->s.drones + DRONES; d++) {
        float x = d->goal_x - d->b.x, y = d->goal_y - d->b.y, n = length(x, y);
        size_t old = cell(&d->b);
        float pace = r->drone_speed / (g->s.grid[old] > 2 ? 2.0f : 1.0f); /* slow in a crowd */
        if (!d->b.alive) continue;
        if (n < pace) pace = n;
        walk(g, &d->b, n > 0 ? x / n * pace : 0, n > 0 ? y / n * pace : 0);
        if (old != cell(&d->b) && !stale) g->s.grid[old]--, g->s.grid[cell(&d->b)]++;
    }
}

static void fire(game *g) {
    const rules *r = on(g, DATA_MISMATCH, "Weapons") ? &g->foreign : &g->rules;
    for (fighter *f = g->s.fighters; f < g->s.fighters + FIGHTERS; f++) {
        slot *w = &g->s.slots[(f - g->s.fighters) * SLOTS + f->slot];
        if (on(g, HOST_ONLY, "Weapons") && f->player == 0 && w->ammo < 16) w->ammo = 30; /* the host's script reloads */
        if (!f->trigger || f->stun || w->cooldown || !w->ammo) continue;
        float spread = ((float)draw(&g->s.rng, 17) - 8) / 64;
        spawn_shot(g, &f->b, f->aim_x - spread * f->aim_y, f->aim_y + spread * f->aim_x, r->damage + w->charge, f->player);
        w->ammo--, w->charge = 0, w->cooldown = (uint8_t)(4 + 2 * f->slot);
        if (on(g, WALL_CLOCK, "Weapons")) w->cooldown = (uint8_t)(4 + machine_clock() / 1000 % 8);
        effect(g, "Weapons");
    }
    for (drone *d = g->s.drones; d < g->s.drones + DRONES; d++) {
        const body *at = d->hunting ? body_of(&g->s, d->target) : NULL;
        if (d->reload) d->reload--;
        if (!at || d->reload || distance(at, &d->b) > 14) continue;
        spawn_shot(g, &d->b, at->x - d->b.x, at->y - d->b.y, r->damage / 2, NOBODY);
        d->reload = (uint8_t)(16 + draw(&g->s.rng, 8));
    }
}

/* Whether the spatial hash has drones around. */
static int crowded(const state *s, const body *b) {
    int x = (int)b->x / CELL, y = (int)b->y / CELL;
    for (int i = y - 1; i <= y + 1; i++)
        for (int k = x - 1; k <= x + 1; k++)
            if (i >= 0 && i < SIDE && k >= 0 && k < SIDE && s->grid[i * SIDE + k]) return 1;
    return 0;
}

static body *struck(state *s, const shot *t) {
    for (fighter *f = s->fighters; f < s->fighters + FIGHTERS; f++)
        if (!f->stun && f->player != t->player && distance(&f->b, &t->b) < 1.5f) return &f->b;
    for (drone *d = s->drones; t->player != NOBODY && crowded(s, &t->b) && d < s->drones + DRONES; d++)
        if (d->b.alive && distance(&d->b, &t->b) < 2) return &d->b;
    return NULL;
}

static void fall(game *g, body *b, uint8_t by) { /* who has no health left */
    if (by != NOBODY) g->s.players[by].kills++;
    if (b->id % PLACES < DRONE) {
        fighter *f = fighter_of(&g->s, b->id);
        f->health = 100, f->stun = 20, f->combo = 0, f->heat = 0, f->trigger = 0;
        b->x = 32.0f + 64.0f * (float)(f->player % 2), b->y = 32.0f + 64.0f * (float)(f->player / 2);
        return;
    }
    if (!on(g, STALE_CACHE, "Shots")) g->s.grid[cell(b)]--;
    memset(&g->s.drones[b->id % PLACES - DRONE], 0, sizeof(drone));
}

static void strike(game *g, const entry *e) {
    shot t = g->s.shots[e->at];
    body *b = body_of(&g->s, e->id);
    if (!b) return;
    memset(&g->s.shots[e->at], 0, sizeof t);
    g->hurt[b->id % PLACES] += t.damage * (0.75f + (float)draw(&g->s.rng, 9) / 16);
    effect(g, "Shots");
    if (t.player != NOBODY) g->s.fighters[t.owner % PLACES].combo++;
    if (b->id % PLACES < DRONE) {
        fighter *f = fighter_of(&g->s, b->id);
        f->health -= (int32_t)g->hurt[b->id % PLACES];
        if (f->health <= 0) fall(g, b, t.player);
    } else {
        drone *d = &g->s.drones[b->id % PLACES - DRONE];
        d->health = (int16_t)(d->health - (int16_t)g->hurt[b->id % PLACES]), d->patience += 2;
        if (d->health <= 0) fall(g, b, t.player);
    }
}

static void fly(game *g) {
    entry hits[SHOTS];
    size_t n = 0;
    for (shot *t = g->s.shots; t < g->s.shots + SHOTS; t++) {
        if (!t->b.alive) continue;
        t->b.x += t->b.vx, t->b.y += t->b.vy, t->life--;
        if (!t->life || t->b.x < 0 || t->b.y < 0 || t->b.x >= EDGE || t->b.y >= EDGE) { memset(t, 0, sizeof *t); continue; }
        const body *b = struck(&g->s, t);
        if (!b) continue;
        hits[n] = (entry){.key = (uint32_t)distance(b, &t->b), .at = (uint32_t)(t - g->s.shots), .id = b->id, .who = t};
        tag(b->id, hits[n++].name);
    }
    arrange(g, "Shots", BY_NAME, hits, n);
    if (!on(g, UNINITIALIZED, "Shots")) memset(g->hurt, 0, sizeof g->hurt);
    for (size_t i = 0; i < n; i++) strike(g, &hits[i]);
}

static void collect(game *g) {
    entry claims[64];
    const rules *r = on(g, DATA_MISMATCH, "Pickups") ? &g->foreign : &g->rules;
    size_t n = 0;
    for (uint32_t i = 0; i < PICKUPS; i++)
        for (fighter *f = g->s.fighters; g->s.pickups[i].b.alive && n < 64 && f < g->s.fighters + FIGHTERS; f++)
            if (!f->stun && distance(&f->b, &g->s.pickups[i].b) < 5)
                claims[n++] = (entry){.key = (uint32_t)f->combo, .at = i, .id = f->b.id, .who = f};
    arrange(g, "Pickups", BY_KEY, claims, n);
    for (size_t i = 0; i < n; i++) {
        pickup *p = &g->s.pickups[claims[i].at];
        fighter *f = fighter_of(&g->s, claims[i].id);
        uint32_t bonus = draw(&g->s.rng, 16);
        slot *w = &g->s.slots[(f - g->s.fighters) * SLOTS + bonus % SLOTS];
        g->s.players[f->player].score += (p->value + (int32_t)bonus) * r->prize / 25.0;
        f->combo = (uint16_t)(f->combo + bonus % 4);
        if (!p->b.alive) continue; /* who comes second has the bonus alone */
        if (p->kind == 0 && f->health < 100) f->health += (int32_t)bonus;
        if (p->kind == 1 && w->ammo < 200) w->ammo = (int16_t)(w->ammo + 20);
        memset(p, 0, sizeof *p);
        effect(g, "Pickups");
    }
}

static void reckon_pressure(game *g) {
    double v[DRONES];
    if (!on(g, UNINITIALIZED, "Score")) memset(g->sums, 0, sizeof g->sums);
    for (size_t i = 0; i < PLAYERS; i++) {
        size_t n = 0;
        for (drone *d = g->s.drones; d < g->s.drones + DRONES; d++) {
            double x = d->b.x - g->s.fighters[i * SQUAD].b.x, y = d->b.y - g->s.fighters[i * SQUAD].b.y;
            if (d->b.alive) v[n++] = 1 / (1 + x * x + y * y);
        }
        g->sums[i] += add_up(g, "Score", v, n);
        g->s.players[i].pressure = g->sums[i], g->s.players[i].score += g->sums[i];
    }
}

static void reckon_ranks(game *g) {
    int add = once(g, RECONVERGE, "Score") ? 2 : on(g, BLIND_CHECKSUM, "Score") ? 1 : 0;
    for (player *p = g->s.players; p < g->s.players + PLAYERS; p++) {
        int rank = 1;
        for (player *q = g->s.players; q < g->s.players + PLAYERS; q++) rank += q->score > p->score;
        p->rank = (uint8_t)(rank + add);
    }
}

static void reckon(game *g) {
    entry roster[FIGHTERS];
    for (uint32_t i = 0; i < FIGHTERS; i++) {
        fighter *f = &g->s.fighters[i];
        f->heat *= 0.97, f->stun = (uint8_t)(f->stun ? f->stun - 1 : 0);
        if (f->combo && g->tick % 16 == 0) f->combo--;
        for (slot *w = &g->s.slots[i * SLOTS]; w < &g->s.slots[(i + 1) * SLOTS]; w++) {
            w->charge = mul_add(g, "Score", w->charge, 0.9f, (float)f->heat * 0.1f);
            if (w->cooldown) w->cooldown--;
        }
        roster[i] = (entry){.at = i, .id = f->b.id};
        strcpy(roster[i].name, f->name);
    }
    if (g->tick % 8 == 0) { /* the audience cheers for one after another */
        arrange(g, "Score", BY_NAME, roster, FIGHTERS);
        for (size_t i = 0; i < FIGHTERS; i++) g->s.players[g->s.fighters[roster[i].at].player].score += draw(&g->s.rng, 10) * 0.1;
    }
    if (g->tick % 2 == 0) reckon_pressure(g);
    if (g->tick % 32 == 0) reckon_ranks(g);
    g->s.clock = on(g, WALL_CLOCK, "Score") ? (double)machine_clock() * 1e-9 : g->s.clock + 1.0 / 60;
    g->s.round = (uint32_t)(g->tick / 120);
}

static void reinforce(game *g) {
    spawn_drone(&g->s);
    if (g->tick % 2 == 0) spawn_pickup(&g->s, 20 + (int32_t)g->s.round);
    if (on(g, HOST_ONLY, "Spawn") && g->tick % 16 == 0) g->s.players[0].score += 5; /* the host's script pays a bonus */
}

static const struct { const char *name; void (*run)(game *); } systems[] = {
    {"Input", obey}, {"Hazards", burn}, {"Think", think}, {"Move", move}, {"Weapons", fire}, {"Shots", fly}, {"Pickups", collect},
    {"Score", reckon}, {"Spawn", reinforce}};
enum { SYSTEMS = sizeof systems / sizeof *systems };

/* One bit of one value flips. */
static void flip(game *g, const char *system) {
    state *s = &g->s;
    size_t i = (size_t)(s->serial % DRONES);
    uint8_t *p = (uint8_t *)&s->fighters[s->serial % FIGHTERS].b.x + 1; /* of the mantissa */
    if (!on(g, BIT_FLIP, system)) return;
    while (!s->drones[i].b.alive) i = (i + 1) % DRONES;
    if (strcmp(system, "Shots") == 0) p = (uint8_t *)&s->drones[i].health;
    if (strcmp(system, "Score") == 0) p = (uint8_t *)&s->players[s->serial % PLAYERS].score + 4;
    if (once(g, BIT_FLIP, system)) *p ^= 4;
}

static void begin_tick(game *g, uint64_t tick, const desync_order *orders, size_t n) {
    g->tick = tick, g->orders = orders, g->order_count = n, g->system = 0;
}

static const char *run_next(game *g) {
    const char *name = systems[g->system].name;
    systems[g->system++].run(g);
    flip(g, name);
    return name;
}

/* ---- Rules, which are read from texts */

/* A number as the C library reads it under a locale with this decimal sign, or as others do that skip signs between digits. */
static double number(const char *text, char decimal, int grouped) {
    double v = 0, unit = 0;
    for (; *text; text++) {
        if (*text == decimal) unit = 1;
        else if (*text >= '0' && *text <= '9') v = v * 10 + (*text - '0'), unit *= 10;
        else if (!grouped) break;
    }
    return unit > 1 ? v / unit : v;
}

static rules read_rules(const char *const *texts, char decimal, int grouped) {
    double v[5];
    for (size_t i = 0; i < 5; i++) v[i] = number(texts[i], decimal, grouped);
    return (rules){(float)v[0], (float)v[1], (float)v[2], (float)v[3], (int32_t)v[4]};
}

static void start_match(game *g, uint64_t seed) {
    choose_places(g, seed);
    begin_match(&g->s, seed);
    g->rules = read_rules(data, '.', 0), g->foreign = read_rules(other_data, '.', 0), g->misread = read_rules(data, ',', seed % 2 != 0);
    g->fx = seed ^ 0xeffec7, g->sure = 1;
    memset(g->hurt, 0, sizeof g->hurt), memset(g->sums, 0, sizeof g->sums);
    g->tick = UINT64_MAX; /* an option of the lobby counts from the start */
    if (on(g, INITIAL_STATE, "Fighter")) g->s.fighters[seed % FIGHTERS].health = 150;
    if (on(g, INITIAL_STATE, "Pickup"))
        for (pickup *p = g->s.pickups; p < g->s.pickups + PICKUPS; p++) p->value *= 2;
    if (on(g, INITIAL_STATE, "Hazard"))
        for (hazard *h = g->s.hazards; h < g->s.hazards + HAZARDS; h++) h->radius += 1;
    g->tick = 0;
}

/* ---- Going back */

#define ROWS(list) {offsetof(state, list), sizeof((state *)0)->list[0], sizeof((state *)0)->list / sizeof((state *)0)->list[0]}
static const struct { size_t at, size, n; } rows[] = {ROWS(fighters), ROWS(drones), ROWS(shots), ROWS(pickups), ROWS(hazards)};
enum { KINDS_OF_ROWS = sizeof rows / sizeof *rows };

/* Fields that a rollback gets wrong. */
static void forget(state *s, const char *place, const state *carried) {
    int keep = carried != NULL;
    for (size_t i = 0; i < FIGHTERS && strcmp(place, "Fighter") == 0; i++)
        if (keep) s->fighters[i].combo = carried->fighters[i].combo;
        else s->fighters[i].heat = 0;
    for (size_t i = 0; i < DRONES && strcmp(place, "Drone") == 0; i++)
        if (s->drones[i].b.alive && (!keep || s->drones[i].b.id == carried->drones[i].b.id)) s->drones[i].patience = keep ? carried->drones[i].patience : 0;
    for (size_t i = 0; i < FIGHTERS * SLOTS && strcmp(place, "Slot") == 0; i++)
        if (keep) s->slots[i].cooldown = carried->slots[i].cooldown;
        else s->slots[i].charge = 0;
}

static mistake *anywhere_on(game *g, int fault) {
    for (size_t i = 0; i < 4 && faults[fault].places[i]; i++)
        if (on(g, fault, faults[fault].places[i])) return on(g, fault, faults[fault].places[i]);
    return NULL;
}

/* What a rollback goes back to: rows that are there, with their places, and all that has no rows. */
static void pack(game *g, desync_buffer *to) {
    state s = g->s;
    mistake *m = anywhere_on(g, SAVE_OMITS_FIELD);
    if (m) forget(&s, m->place, NULL);
    desync_append(to, &s, offsetof(state, fighters));
    desync_append(to, s.grid, sizeof s.grid + sizeof s.threat);
    for (size_t k = 0; k < KINDS_OF_ROWS; k++)
        for (size_t i = 0; i < rows[k].n; i++) {
            const body *b = (const body *)(const void *)((const char *)&s + rows[k].at + i * rows[k].size);
            if (b->alive) desync_append(to, b, rows[k].size);
        }
}

static const char *unpack(state *to, const uint8_t *p, size_t n) {
    static const size_t bases[] = {FIGHTER, DRONE, SHOT, PICKUP, HAZARD, PLACES};
    size_t head = offsetof(state, fighters), caches = sizeof to->grid + sizeof to->threat;
    state s;
    memset(&s, 0, sizeof s);
    if (n < head + caches) return "this is not a save of arena";
    memcpy(&s, p, head), memcpy(s.grid, p + head, caches);
    p += head + caches, n -= head + caches;
    while (n >= sizeof(uint64_t)) {
        uint64_t id;
        size_t k = 0;
        memcpy(&id, p, sizeof id);
        while (id % PLACES >= bases[k + 1]) k++;
        if (n < rows[k].size || id % PLACES - bases[k] >= rows[k].n) break;
        memcpy((char *)&s + rows[k].at + (id % PLACES - bases[k]) * rows[k].size, p, rows[k].size);
        p += rows[k].size, n -= rows[k].size;
    }
    if (n) return "this is not a save of arena";
    return *to = s, NULL;
}

/* Takes back what was predicted. */
static const char *roll_back(game *g, const desync_buffer *saved) {
    state carried = g->s;
    mistake *m = anywhere_on(g, PREDICTION_LEAK);
    const char *err = saved->failed ? "out of memory" : unpack(&g->s, saved->data, saved->len);
    if (m && !err) forget(&g->s, m->place, &carried);
    return err;
}

/* ---- What desynctool asks */

enum { TABLES = 10, COLUMNS = 64 };
typedef struct { desync_column columns[COLUMNS]; desync_table tables[TABLES]; desync_world world; size_t used; } view;

static void add_columns(view *v, desync_table *t, const desync_column *columns, size_t n) {
    t->columns = &v->columns[v->used], t->column_count = n;
    memcpy(&v->columns[v->used], columns, n * sizeof *columns);
    v->used += n;
}

#define COLUMN(c, f, t, d) {.component = c, .field = f, .type = t, .data = d}
#define TEXT(c, f, d) {.component = c, .field = f, .type = DESYNC_STRING, .data = d, .size = sizeof d}
#define PLACE(r) COLUMN("Position", "x", DESYNC_F32, &(r)->b.x), COLUMN("Position", "y", DESYNC_F32, &(r)->b.y)
#define MOTION(r) COLUMN("Velocity", "x", DESYNC_F32, &(r)->b.vx), COLUMN("Velocity", "y", DESYNC_F32, &(r)->b.vy)
#define ADD(t, l, r, c) (v->tables[t] = (desync_table){.label = l, .slots = sizeof r / sizeof r[0], .stride = sizeof r[0]}, add_columns(v, &v->tables[t], c, sizeof c / sizeof c[0]))

/* Describes a state. The mood of drones and the rank of players may be left out: their columns are the last ones. */
static void describe(view *v, const state *s, const char *blind) {
    const fighter *f = s->fighters;
    const drone *d = s->drones;
    const shot *t = s->shots;
    const pickup *p = s->pickups;
    const hazard *h = s->hazards;
    const slot *w = s->slots;
    const player *q = s->players;
    const desync_column fighters[] = {
        PLACE(f), MOTION(f), COLUMN("Stick", "x", DESYNC_F32, &f->stick_x), COLUMN("Stick", "y", DESYNC_F32, &f->stick_y),
        COLUMN("Aim", "x", DESYNC_F32, &f->aim_x), COLUMN("Aim", "y", DESYNC_F32, &f->aim_y), COLUMN("Aim", "slot", DESYNC_U8, &f->slot),
        COLUMN("Aim", "trigger", DESYNC_BOOL, &f->trigger), COLUMN("Heat", "level", DESYNC_F64, &f->heat),
        COLUMN("Health", "points", DESYNC_I32, &f->health), COLUMN("Health", "stun", DESYNC_U8, &f->stun),
        COLUMN("Combo", "hits", DESYNC_U16, &f->combo), COLUMN("Owner", "player", DESYNC_U8, &f->player), TEXT("Name", "text", f->name)};
    const desync_column drones[] = {
        PLACE(d), MOTION(d), COLUMN("Goal", "x", DESYNC_F32, &d->goal_x), COLUMN("Goal", "y", DESYNC_F32, &d->goal_y),
        {.component = "Brain", .field = "target", .type = DESYNC_REF, .data = &d->target, .present = &d->hunting},
        COLUMN("Brain", "patience", DESYNC_F64, &d->patience), COLUMN("Health", "points", DESYNC_I16, &d->health),
        COLUMN("Weapon", "reload", DESYNC_U8, &d->reload), COLUMN("Mood", "level", DESYNC_U8, &d->mood)};
    const desync_column shots[] = {
        PLACE(t), MOTION(t), COLUMN("Flight", "damage", DESYNC_F32, &t->damage), COLUMN("Flight", "life", DESYNC_U8, &t->life),
        COLUMN("Owner", "fighter", DESYNC_REF, &t->owner), COLUMN("Owner", "player", DESYNC_U8, &t->player)};
    const desync_column pickups[] = {PLACE(p), COLUMN("Prize", "value", DESYNC_I32, &p->value), COLUMN("Prize", "kind", DESYNC_U8, &p->kind)};
    const desync_column hazards[] = {PLACE(h), MOTION(h), COLUMN("Fire", "phase", DESYNC_F64, &h->phase),
                                     COLUMN("Fire", "radius", DESYNC_F32, &h->radius), COLUMN("Fire", "on", DESYNC_BOOL, &h->on)};
    const desync_column slots[] = {COLUMN("Ammo", "rounds", DESYNC_I16, &w->ammo), COLUMN("Barrel", "charge", DESYNC_F32, &w->charge),
                                   COLUMN("Barrel", "cooldown", DESYNC_U8, &w->cooldown)};
    const desync_column players[] = {COLUMN("Score", "points", DESYNC_F64, &q->score), COLUMN("Score", "pressure", DESYNC_F64, &q->pressure),
                                     COLUMN("Score", "kills", DESYNC_U32, &q->kills), TEXT("Name", "text", q->name),
                                     COLUMN("Rank", "place", DESYNC_U8, &q->rank)};
    const desync_column match[] = {COLUMN("Serial", "last", DESYNC_U64, &s->serial), COLUMN("Swarm", "x", DESYNC_F64, &s->swarm_x),
                                   COLUMN("Swarm", "y", DESYNC_F64, &s->swarm_y), COLUMN("Time", "clock", DESYNC_F64, &s->clock),
                                   COLUMN("Time", "round", DESYNC_U32, &s->round)};
    const desync_column grid[] = {COLUMN("Cell", "drones", DESYNC_U16, s->grid)}, threat[] = {COLUMN("Cell", "hazards", DESYNC_U16, s->threat)};
    v->used = 0;
    ADD(0, "Fighter", s->fighters, fighters), ADD(1, "Drone", s->drones, drones), ADD(2, "Shot", s->shots, shots);
    ADD(3, "Pickup", s->pickups, pickups), ADD(4, "Hazard", s->hazards, hazards), ADD(5, "Slot", s->slots, slots);
    ADD(6, "Player", s->players, players), ADD(8, "Grid", s->grid, grid), ADD(9, "Threat", s->threat, threat);
    v->tables[7] = (desync_table){.label = "Match", .slots = 1};
    add_columns(v, &v->tables[7], match, sizeof match / sizeof *match);
    for (size_t i = 0; i < KINDS_OF_ROWS; i++) {
        const body *b = (const body *)(const void *)((const char *)s + rows[i].at);
        v->tables[i].alive = &b->alive, v->tables[i].key = &b->id;
    }
    v->tables[5].key = &w->owner, v->tables[5].key2 = &w->number;
    v->tables[8].table_class = v->tables[9].table_class = DESYNC_CACHE;
    if (blind) v->tables[strcmp(blind, "Think") == 0 ? 1 : 6].column_count--;
    v->world = (desync_world){.rng = &s->rng, .rng_size = sizeof s->rng, .tables = v->tables, .table_count = TABLES};
}

typedef struct { game g; view v; } target_game;

static const desync_world *world(void *user) { return &((target_game *)user)->v.world; }
static int known(const desync_header *h) { return strcmp(desync_param_of(h, "map", "pit"), "pit") == 0; }

static const char *start(void *user, const desync_header *h) {
    target_game *t = user;
    if (!known(h)) return "there is no such map";
    start_match(&t->g, h->seed);
    return describe(&t->v, &t->g.s, NULL), NULL;
}

static const char *begin(void *user, uint64_t tick, const desync_order *orders, size_t n) {
    return begin_tick(&((target_game *)user)->g, tick, orders, n), NULL;
}

static const char *next(void *user, int *more) {
    game *g = &((target_game *)user)->g;
    const char *name = run_next(g);
    return *more = g->system < SYSTEMS, name;
}

static const char *save(void *user, desync_buffer *out) { return pack(&((target_game *)user)->g, out), out->failed ? "out of memory" : NULL; }
static const char *restore(void *user, const void *saved, size_t n) { return unpack(&((target_game *)user)->g.s, saved, n); }

static void count(const state *s, uint16_t *grid, uint16_t *threat) {
    memset(grid, 0, sizeof s->grid), memset(threat, 0, sizeof s->threat);
    for (const drone *d = s->drones; d < s->drones + DRONES; d++)
        if (d->b.alive) grid[cell(&d->b)]++;
    for (const hazard *h = s->hazards; h < s->hazards + HAZARDS; h++)
        if (h->b.alive) threat[cell(&h->b)]++;
}

static void caches(void *user, desync_names *stale) {
    const state *s = &((target_game *)user)->g.s;
    uint16_t grid[SIDE * SIDE], threat[SIDE * SIDE];
    count(s, grid, threat);
    if (memcmp(grid, s->grid, sizeof grid) != 0) desync_stale(stale, "Grid");
    if (memcmp(threat, s->threat, sizeof threat) != 0) desync_stale(stale, "Threat");
}

static size_t place(void *user, const desync_table *t, uint64_t key, uint64_t key2) {
    static const size_t bases[] = {FIGHTER, DRONE, SHOT, PICKUP, HAZARD};
    size_t k = (size_t)(t - ((target_game *)user)->v.tables);
    if (k == 5) return key2 < SLOTS ? (size_t)(key % PLACES) * SLOTS + (size_t)key2 : SIZE_MAX;
    return (size_t)(key % PLACES) - bases[k];
}

/* Why there can be no such state. */
static const char *impossible(const state *s) {
    for (size_t k = 0; k < KINDS_OF_ROWS; k++)
        for (size_t i = 0; i < rows[k].n; i++) {
            const body *b = (const body *)(const void *)((const char *)s + rows[k].at + i * rows[k].size);
            if (b->alive && !(b->x >= 0 && b->y >= 0 && b->x < EDGE && b->y < EDGE)) return "something is outside of the arena";
        }
    for (size_t i = 0; i < FIGHTERS; i++) {
        const fighter *f = &s->fighters[i];
        if (!f->b.alive || f->player != i / SQUAD || f->slot >= SLOTS || s->slots[i * SLOTS].owner != f->b.id) return "a fighter cannot be";
    }
    for (size_t i = 0; i < SHOTS; i++)
        if (s->shots[i].b.alive && s->shots[i].player != NOBODY && (s->shots[i].player >= PLAYERS || s->shots[i].owner % PLACES >= FIGHTERS)) return "a shot is nobody's";
    return NULL;
}

static const char *load(void *user, const desync_snap *from, const desync_header *h) {
    target_game *t = user;
    state old = t->g.s;
    choose_places(&t->g, from->at.seed);
    t->g.rules = read_rules(data, '.', 0), t->g.foreign = read_rules(other_data, '.', 0), t->g.misread = read_rules(data, ',', from->at.seed % 2 != 0);
    memset(t->g.hurt, 0, sizeof t->g.hurt), memset(t->g.sums, 0, sizeof t->g.sums);
    memset(&t->g.s, 0, sizeof t->g.s);
    describe(&t->v, &t->g.s, NULL);
    const char *err = h && !known(h) ? "there is no such map" : desync_fill(&t->v.world, from, place, t);
    if (!err) err = impossible(&t->g.s);
    if (err) return t->g.s = old, err;
    count(&t->g.s, t->g.s.grid, t->g.s.threat); /* a cache that is loaded may be what is wrong */
    return t->g.sure = 1, NULL;
}

static const char *validate(void *user, uint64_t tick, const desync_order *o) { return (void)user, (void)tick, useless(o); }

/* Whether an order is possible, as the machine of its player asks. */
static int possible(game *g, const desync_order *o) {
    command c;
    fighter *f = ordered(&g->s, o, &c);
    if (!f || (o->kind == FIRE && !body_of(&g->s, c.target))) return 0;
    if (on(g, IMPURE_VALIDATION, "Fighter") && body_of(&g->s, c.target)) f->aim_x = body_of(&g->s, c.target)->x - f->b.x;
    if (on(g, IMPURE_VALIDATION, "Slot")) g->s.slots[(f - g->s.fighters) * SLOTS + c.slot].cooldown = 0;
    return 1;
}

static int test(void *user, uint64_t tick, const desync_order *o) {
    game *g = &((target_game *)user)->g;
    return g->tick = tick, possible(g, o);
}

static void predict(void *user, uint64_t tick, uint32_t who, const desync_order *orders, size_t n) {
    game *g = &((target_game *)user)->g;
    desync_buffer saved = {NULL, 0, 0, 0};
    (void)who;
    pack(g, &saved);
    begin_tick(g, tick, orders, n);
    for (g->sure = 0; g->system < SYSTEMS;) run_next(g);
    roll_back(g, &saved), g->sure = 1;
    desync_free(&saved);
}

static const desync_target target = {
    .name = "arena", .build = "1.0", .kinds = kinds, .kind_count = KINDS, .start = start, .load = load, .world = world,
    .save = save, .restore = restore, .begin = begin, .next = next, .caches = caches, .validate = validate, .test = test, .predict = predict};

/* ---- Peers */

typedef struct { desync_order o; command c; } given;
typedef struct { given list[8]; size_t n; int known; } box; /* the orders of a player for a tick */
typedef struct { state after[SYSTEMS]; given orders[MAX_ORDERS]; size_t n; } reel; /* a sure tick, until all peers have played it */

typedef struct {
    game g;
    const char *name;
    int number, peers;
    uint64_t sure;           /* the first tick with orders that are not known */
    box boxes[RING][PLAYERS];
    desync_buffer saved;     /* the state at point `sure` */
    uint64_t script[PLAYERS]; /* random numbers of the players, which are not the game's */
    uint32_t sequence[PLAYERS];
    reel reels[RING];
    state start, now, stale; /* now: at the point that is being recorded; stale: the value of an unmarked column */
    int is_stale;
    view v;
    desync_recorder files;
    uint8_t root[32];        /* that the peer noted of the point */
    desync_param facts[5];
} peer;

typedef struct {
    const char *dir;
    uint64_t seed, ticks, snapshot_every;
    int peers, detail;
    mistake mistakes[8];
    int mistake_count;
} options;

static void must(const char *err) { if (err) fprintf(stderr, "arena: %s\n", err), exit(2); }

static box *box_of(peer *p, uint64_t tick, uint32_t who) { return &p->boxes[tick % RING][who]; }

static void put(peer *p, uint64_t tick, uint32_t who, const given *o) {
    box *b = box_of(p, tick, who);
    if (b->n < 8) b->list[b->n++] = *o;
}

/* Whether a later order of the box replaces this one. */
static int replaced(const box *b, size_t i) {
    for (size_t k = i + 1; k < b->n; k++)
        if (b->list[k].o.kind == b->list[i].o.kind && b->list[k].c.unit == b->list[i].c.unit) return 1;
    return 0;
}

/* What the network does to the orders of another machine's player once: the box is what was sent. */
static void mistreat(peer *p, uint64_t tick, uint32_t who, box *b) {
    static const struct { const char *place; uint32_t kind; } which[] = {{"Move", STEER}, {"Weapons", FIRE}};
    p->g.tick = tick;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < b->n; i++) {
            const char *place = which[k].place;
            given o = b->list[i];
            if (o.o.kind != which[k].kind) continue;
            if (replaced(b, i)) {
                if (once(&p->g, ORDER_DUPLICATED, place)) put(p, tick + 1, who, &o);
                if (i + 1 < b->n && replaced(b, i) && once(&p->g, ORDER_REORDERED, place)) b->list[i] = b->list[i + 1], b->list[i + 1] = o;
                continue;
            }
            if (once(&p->g, ORDER_ALTERED, place)) {
                if (o.o.kind == STEER) b->list[i].c.x = -o.c.x;
                else b->list[i].c.slot ^= 1;
            }
            int late = once(&p->g, ORDER_LATE, place);
            if (late) put(p, tick + 1, who, &o);
            if (!late && !once(&p->g, ORDER_DROPPED, place)) continue;
            memmove(&b->list[i], &b->list[i + 1], (b->n - i - 1) * sizeof o);
            b->n--, i--;
        }
}

static void receive(peer *p, uint64_t tick, uint32_t who, const box *sent) {
    box b = *sent;
    if ((int)who % p->peers != p->number) mistreat(p, tick, who, &b);
    for (size_t i = 0; i < b.n; i++) put(p, tick, who, &b.list[i]);
    box_of(p, tick, who)->known = 1;
}

/* Orders of a tick for the game: the known ones, and guesses for the other players. */
static size_t orders_of(peer *p, uint64_t tick, given *to, desync_order *orders) {
    size_t n = 0;
    for (uint32_t who = 0; who < PLAYERS; who++) {
        uint64_t from = tick;
        while (!box_of(p, from, who)->known && from + RING / 2 > tick && from > 0) from--; /* they repeat what they did */
        const box *b = box_of(p, from, who);
        for (size_t i = 0; i < b->n && b->known && n < MAX_ORDERS; i++) to[n++] = b->list[i];
    }
    for (size_t i = 0; i < n; i++) orders[i] = to[i].o, orders[i].payload = (const uint8_t *)&to[i].c;
    return n;
}

static int all_known(peer *p, uint64_t tick) {
    for (uint32_t who = 0; who < PLAYERS; who++)
        if (!box_of(p, tick, who)->known) return 0;
    return 1;
}

/* What others write into the game's memory between two ticks. */
static void tamper(game *g) {
    if (once(g, FOREIGN_WRITE, "Fighter")) g->s.fighters[g->s.serial % FIGHTERS].health = 9999;
    if (once(g, FOREIGN_WRITE, "Slot")) g->s.slots[g->s.serial % (FIGHTERS * SLOTS)].ammo = 999;
    if (once(g, FOREIGN_WRITE, "Player")) g->s.players[g->s.serial % PLAYERS].score = 1000000;
}

static void play_sure(peer *p) {
    reel *r = &p->reels[p->sure % RING];
    desync_order orders[MAX_ORDERS];
    r->n = orders_of(p, p->sure, r->orders, orders);
    p->g.tick = p->sure;
    tamper(&p->g);
    begin_tick(&p->g, p->sure, orders, r->n);
    for (int i = 0; i < SYSTEMS; i++) run_next(&p->g), r->after[i] = p->g.s;
    for (uint32_t who = 0; who < PLAYERS; who++) { /* the last orders stay, to be repeated, until the ring comes round */
        box *old = box_of(p, p->sure + RING / 2, who);
        old->n = 0, old->known = 0;
    }
    p->sure++;
}

static void play_ahead(peer *p, uint64_t until) {
    given list[MAX_ORDERS];
    desync_order orders[MAX_ORDERS];
    p->g.sure = 0;
    for (uint64_t tick = p->sure; tick < until; tick++) {
        begin_tick(&p->g, tick, orders, orders_of(p, tick, list, orders));
        while (p->g.system < SYSTEMS) run_next(&p->g);
    }
    p->g.sure = 1;
}

static const body *nearest(state *s, const fighter *f, uint64_t *rng) {
    const body *best = NULL;
    for (size_t i = 0; i < DRONES; i++)
        if (s->drones[i].b.alive && (!best || distance(&s->drones[i].b, &f->b) < distance(best, &f->b))) best = &s->drones[i].b;
    return draw(rng, 4) || !best ? best : &s->fighters[draw(rng, FIGHTERS)].b;
}

/* A scripted player gives one order, sometimes two as it changes its mind, by what is sure on its machine. */
static void script(peer *p, uint32_t who, uint64_t tick, box *to) {
    uint64_t *rng = &p->script[who];
    state *s = &p->g.s;
    uint32_t orders = draw(rng, 8);
    fighter *f = &s->fighters[who * SQUAD + draw(rng, SQUAD)];
    uint32_t dice = draw(rng, 16), kind = dice < 8 ? STEER : dice < 14 ? FIRE : dice < 15 ? CEASE : CHAT;
    to->n = 0, to->known = 1;
    for (uint32_t i = 0; i < (orders < 3 ? 1u : orders < 7 ? 2u : 0u); i++) {
        const body *at = nearest(s, f, rng);
        given o = {{0, who, p->sequence[who], kind, NULL, sizeof(command)}, {(uint32_t)tick, 0, 0, 0, f->b.id, 0}};
        if (kind == STEER) o.c.x = (float)((int)draw(rng, 257) - 128) / 128, o.c.y = (float)((int)draw(rng, 257) - 128) / 128;
        if (kind == FIRE && at) o.c.target = at->id, o.c.slot = (p->sequence[who] + i) % SLOTS;
        if (kind == CHAT) o.o.size = 4;
        o.o.payload = (const uint8_t *)&o.c, p->g.tick = p->sure;
        if (kind != CHAT && !possible(&p->g, &o.o)) continue;
        to->list[to->n++] = o, p->sequence[who]++;
    }
}

/* ---- The truth: states compared value by value, without hashes */

enum { MAX_KEYS = 2 * SHOTS, MAX_DIFFERENCES = 64 };
typedef struct { const char *table, *component; uint64_t keys[MAX_KEYS][2]; size_t n; int two; } difference; /* table "": the RNG */
typedef struct { difference list[MAX_DIFFERENCES]; size_t n; } differences;

static size_t width(const desync_column *c) {
    static const uint8_t widths[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 0, 0, 8};
    return c->size ? c->size : widths[c->type];
}

static const void *slot_of(const void *base, const desync_table *t, size_t width, size_t i) {
    return (const char *)base + i * (t->stride ? t->stride : width);
}

static int is_row(const desync_table *t, size_t i) { return !t->alive || *(const uint8_t *)slot_of(t->alive, t, 1, i); }

static void key_of(const desync_table *t, size_t i, uint64_t key[2]) {
    key[0] = i, key[1] = 0;
    if (t->key) memcpy(&key[0], slot_of(t->key, t, 8, i), 8);
    if (t->key2) memcpy(&key[1], slot_of(t->key2, t, 8, i), 8);
}

static int same_value(const desync_table *t, const desync_column *a, const desync_column *b, size_t i) {
    int has[2] = {1, 1};
    if (a->present) has[0] = *(const uint8_t *)slot_of(a->present, t, 1, i), has[1] = *(const uint8_t *)slot_of(b->present, t, 1, i);
    return has[0] == has[1] && (!has[0] || memcmp(slot_of(a->data, t, width(a), i), slot_of(b->data, t, width(b), i), width(a)) == 0);
}

static void add_key(difference *d, const uint64_t key[2]) {
    size_t i = d->n++;
    for (; i > 0 && (d->keys[i - 1][0] > key[0] || (d->keys[i - 1][0] == key[0] && d->keys[i - 1][1] > key[1])); i--) memcpy(d->keys[i], d->keys[i - 1], sizeof d->keys[i]);
    memcpy(d->keys[i], key, sizeof d->keys[i]);
}

/* An entity has the same slot on all peers, the number of its key. */
static void compare_rows(const desync_table *a, const desync_table *b, const char *component, difference *d) {
    *d = (difference){.table = a->label, .component = component, .two = a->key2 != NULL};
    for (size_t i = 0; i < a->slots; i++) {
        uint64_t x[2], y[2];
        int in_a = is_row(a, i), in_b = is_row(b, i), same = 1;
        key_of(a, i, x), key_of(b, i, y);
        if (!in_a && !in_b) continue;
        if (in_a && in_b && x[0] == y[0]) {
            for (size_t k = 0; k < a->column_count; k++)
                if (strcmp(a->columns[k].component, component) == 0) same = same && same_value(a, &a->columns[k], &b->columns[k], i);
            if (!same) add_key(d, x);
            continue;
        }
        if (in_a) add_key(d, x);
        if (in_b) add_key(d, y);
    }
}

static int by_label(const void *a, const void *b) {
    const desync_table *const *x = a, *const *y = b;
    return strcmp((*x)->label, (*y)->label);
}

/* Adds what two tables differ in, by component. */
static void compare_tables(const desync_table *a, const desync_table *b, differences *out) {
    const char *last = "";
    for (;;) {
        const char *component = NULL;
        for (size_t k = 0; k < a->column_count; k++) {
            const char *c = a->columns[k].component;
            if (strcmp(c, last) > 0 && (!component || strcmp(c, component) < 0)) component = c;
        }
        if (!component) return;
        last = component;
        compare_rows(a, b, component, &out->list[out->n]);
        if (out->list[out->n].n) out->n++;
    }
}

/* What two states differ in: the RNG, then by archetype and component. */
static void compare(const state *a, const state *b, differences *out) {
    static view x, y;
    const desync_table *tables[TABLES];
    out->n = 0;
    if (memcmp(a, b, sizeof *a) == 0) return;
    describe(&x, a, NULL), describe(&y, b, NULL);
    if (a->rng != b->rng) out->list[out->n++] = (difference){.table = "", .component = "RNG"};
    for (size_t i = 0; i < TABLES; i++) tables[i] = &x.tables[i];
    qsort(tables, TABLES, sizeof *tables, by_label);
    for (size_t i = 0; i < TABLES; i++)
        if (tables[i]->table_class == DESYNC_ARCHETYPE) compare_tables(tables[i], &y.tables[tables[i] - x.tables], out);
}

/* Reduces a difference to what is also in others, and reports whether anything is. */
static int lasts(difference *d, const differences *others) {
    for (size_t i = 0; i < others->n; i++) {
        const difference *o = &others->list[i];
        size_t n = 0;
        if (strcmp(d->table, o->table) != 0 || strcmp(d->component, o->component) != 0) continue;
        if (!*d->table) return 1;
        for (size_t k = 0; k < d->n; k++)
            for (size_t j = 0; j < o->n; j++)
                if (memcmp(d->keys[k], o->keys[j], sizeof o->keys[j]) == 0) { memmove(d->keys[n++], d->keys[k], sizeof d->keys[k]); break; }
        return d->n = n, n > 0;
    }
    return 0;
}

typedef struct {
    const mistake *blamed;
    int parted, initial, healed, system, recorded;
    uint64_t bad, healed_at, recorded_at;
    const char *checksum;
    difference first;
} truth;

static int all_same(peer *peers, int n) {
    static differences d;
    for (int i = 1; i < n; i++) {
        compare(&peers[0].now, &peers[i].now, &d);
        if (d.n) return 0;
    }
    return 1;
}

static void blame(truth *t, const options *o, int number) {
    for (int wanted = number, k = 0; k < 2; k++, wanted = 0)
        for (int i = 0; i < o->mistake_count; i++)
            if (o->mistakes[i].peer == wanted) { t->blamed = &o->mistakes[i]; return; }
}

/* Looks at a tick that all peers have played: their states are those after it. */
static void judge_tick(truth *t, peer *peers, const options *o, uint64_t tick) {
    static differences last[MAX_PEERS], now;
    if (t->parted) {
        if (!t->healed && all_same(peers, o->peers)) t->healed = 1, t->healed_at = tick + 1;
        return;
    }
    if (all_same(peers, o->peers)) return;
    for (int i = 1; i < o->peers; i++) compare(&peers[0].now, &peers[i].now, &last[i]);
    for (int system = 0; system < SYSTEMS; system++)
        for (int i = 1; i < o->peers; i++) {
            compare(&peers[0].reels[tick % RING].after[system], &peers[i].reels[tick % RING].after[system], &now);
            for (size_t k = 0; k < now.n; k++) {
                if (!lasts(&now.list[k], &last[i])) continue;
                t->parted = 1, t->bad = tick + 1, t->system = system, t->first = now.list[k];
                blame(t, o, i);
                return;
            }
        }
}

static void judge_start(truth *t, peer *peers, const options *o) {
    static differences d;
    for (int i = 1; i < o->peers && !t->parted; i++) {
        compare(&peers[0].now, &peers[i].now, &d);
        if (!d.n) continue;
        t->parted = t->initial = 1, t->first = d.list[0];
        blame(t, o, i);
    }
}

static void write_truth(const truth *t, const options *o) {
    static const char *const names[] = {"host", "client", "client2", "client3"};
    const mistake *m = t->blamed ? t->blamed : o->mistake_count ? &o->mistakes[0] : NULL;
    char path[4096];
    FILE *f;
    snprintf(path, sizeof path, "%s/truth.json", o->dir);
    if (!(f = fopen(path, "wb"))) must("truth.json cannot be created");
    fprintf(f, "{\n  \"fault\": \"%s\",\n  \"place\": \"%s\",\n  \"peer\": \"%s\",\n  \"from_tick\": %llu,\n", m ? faults[m->fault].name : "",
            m ? m->place : "", m ? names[m->peer] : "", (unsigned long long)(m ? m->from : 0));
    if (!t->parted) fprintf(f, "  \"bracket\": null,\n  \"initial_state\": null,\n  \"system\": null,\n  \"archetype\": null,\n  \"component\": null,\n  \"entities\": null,\n");
    if (t->parted && t->initial) fprintf(f, "  \"bracket\": {\"good\": null, \"bad\": 0},\n  \"initial_state\": true,\n  \"system\": null,\n");
    if (t->parted && !t->initial)
        fprintf(f, "  \"bracket\": {\"good\": %llu, \"bad\": %llu},\n  \"initial_state\": false,\n  \"system\": \"%s\",\n", (unsigned long long)t->bad - 1,
                (unsigned long long)t->bad, systems[t->system].name);
    if (t->parted) fprintf(f, "  \"archetype\": \"%s\",\n  \"component\": \"%s\",\n  \"entities\": [", t->first.table, t->first.component);
    for (size_t i = 0; t->parted && i < t->first.n; i++) {
        fprintf(f, "%s\"%llu", i ? ", " : "", (unsigned long long)t->first.keys[i][0]);
        if (t->first.two) fprintf(f, ":%llu", (unsigned long long)t->first.keys[i][1]);
        fprintf(f, "\"");
    }
    if (t->parted) fprintf(f, "],\n");
    if (t->healed) fprintf(f, "  \"healed_at\": %llu", (unsigned long long)t->healed_at);
    else fprintf(f, "  \"healed_at\": null");
    if (t->checksum) {
        fprintf(f, ",\n  \"checksum\": {\"kind\": \"%s\", \"differs_at\": ", t->checksum);
        if (t->recorded) fprintf(f, "%llu}", (unsigned long long)t->recorded_at);
        else fprintf(f, "null}");
    }
    fprintf(f, "\n}\n");
    if (fclose(f)) must("truth.json cannot be written");
}

/* ---- Recording */

static int has_mistake(const options *o, int fault) {
    for (int i = 0; i < o->mistake_count; i++)
        if (o->mistakes[i].fault == fault) return 1;
    return 0;
}

/* What is known of the machines. They differ where a mistake comes from that, and in every other session anyway. */
static void describe_machine(peer *p, const options *o) {
    int other = p->number % 2, differ = other && o->seed % 2 == 1;
    int floats = has_mistake(o, FLOAT_FMA) || has_mistake(o, FLOAT_REASSOC) || has_mistake(o, UNSTABLE_SORT);
    int locale = has_mistake(o, LOCALE_NUMBER) || has_mistake(o, LOCALE_SORT), files = has_mistake(o, DATA_MISMATCH);
    size_t n = 0;
    if (o->seed % 3 == 0) return; /* many games write nothing of the kind */
    p->facts[n++] = (desync_param){"os", differ ? "windows" : "linux"};
    p->facts[n++] = (desync_param){"cpu", "x86-64"};
    p->facts[n++] = (desync_param){"compiler", differ || (other && floats) ? "clang 19" : "gcc 14"};
    p->facts[n++] = (desync_param){"locale", differ || (other && locale) ? "de_DE.UTF-8" : "en_US.UTF-8"};
    p->facts[n++] = (desync_param){"data_hash", other && files ? "5d1e83c2" : "8a40f719"};
    desync_recorder_facts(&p->files, p->facts, n);
}

/* The column that the game's checksum leaves out on all peers, by its system, NULL if none. */
static const char *blind_spot(const options *o) {
    for (int i = 0; i < o->mistake_count; i++)
        if (o->mistakes[i].fault == BLIND_CHECKSUM) return o->mistakes[i].place;
    return NULL;
}

static const desync_world *whole(peer *p, const state *s) { return describe(&p->v, s, NULL), &p->v.world; }

/* What the peer hashes: the state, but for what its checksum does not see. */
static const desync_world *hashed(peer *p, const options *o, const state *s) {
    static state seen;
    mistake *m = anywhere_on(&p->g, CHECKSUM_ONLY);
    int fighters = m && strcmp(m->place, "Fighter") == 0;
    if (m && !m->done) p->stale = p->now, p->is_stale = m->done = 1;
    if (p->is_stale && s->serial > p->stale.serial + 32) p->is_stale = 0; /* rows came, and all was hashed again */
    seen = *s;
    for (size_t i = 0; i < FIGHTERS && p->is_stale && fighters; i++) seen.fighters[i].heat = p->stale.fighters[i].heat;
    for (size_t i = 0; i < DRONES && p->is_stale && !fighters; i++)
        if (seen.drones[i].b.id == p->stale.drones[i].b.id) seen.drones[i].patience = p->stale.drones[i].patience;
    return describe(&p->v, &seen, blind_spot(o)), &p->v.world;
}

static void record_point(peer *peers, const options *o, uint64_t point, truth *t) {
    static differences d;
    const char *labels[TABLES];
    int apart = 0;
    for (peer *p = peers; p < peers + o->peers; p++) {
        if (point > 0) p->now = p->reels[(point - 1) % RING].after[SYSTEMS - 1];
        p->g.tick = point;
        must(desync_recorder_state(&p->files, point, hashed(p, o, &p->now)));
        memcpy(p->root, p->files.root, 32);
        apart = apart || memcmp(p->root, peers->root, 32) != 0;
    }
    if (apart && !t->recorded) t->recorded = 1, t->recorded_at = point;
    else apart = 0;
    if (apart && all_same(peers, o->peers)) t->checksum = "checksum-only";
    for (peer *p = peers; p < peers + o->peers; p++) {
        size_t n = 0;
        if (!apart && point % o->snapshot_every && point != o->ticks) continue;
        must(desync_recorder_snapshot(&p->files, whole(p, &p->now)));
        if (point < o->ticks) must(desync_recorder_marker(&p->files, &(desync_marker){.kind = DESYNC_SAVE, .peer = (uint32_t)p->number, .point = point, .text = "autosave"}));
        if (!apart) continue;
        for (peer *q = peers; q < peers + o->peers && !n; q++) {
            compare(&p->now, &q->now, &d);
            for (size_t i = 0; i < d.n; i++)
                if (*d.list[i].table && (!n || strcmp(labels[n - 1], d.list[i].table) != 0)) labels[n++] = d.list[i].table;
        }
        must(desync_recorder_report(&p->files, whole(p, &p->now), p->number, labels, n));
    }
}

static void record_tick(peer *peers, const options *o, uint64_t tick, truth *t) {
    desync_order orders[MAX_ORDERS];
    for (peer *p = peers; p < peers + o->peers; p++) {
        reel *r = &p->reels[tick % RING];
        size_t n = 0;
        for (size_t i = 0; i < r->n; i++) {
            if (r->orders[i].o.kind == CHAT && (int)r->orders[i].o.player % o->peers != p->number) continue; /* whispered */
            orders[n] = r->orders[i].o, orders[n++].payload = (const uint8_t *)&r->orders[i].c;
        }
        must(desync_recorder_tick(&p->files, tick, orders, n));
        for (int i = 0; i < SYSTEMS && o->detail != DESYNC_NO_TRACE; i++) must(desync_recorder_system(&p->files, systems[i].name, hashed(p, o, &r->after[i])));
        p->now = r->after[SYSTEMS - 1];
    }
    judge_tick(t, peers, o, tick);
}

static void open_peer(peer *p, const options *o, int number) {
    static const char *const names[] = {"host", "client", "client2", "client3"};
    static const desync_param params[] = {{"map", "pit"}};
    const desync_header h = {o->seed, names[number], "1.0", 60, 1, {0}, 0, 0, kinds, KINDS, names, (size_t)o->peers, params, 1};
    p->name = names[number], p->number = number, p->peers = o->peers;
    for (int i = 0; i < o->mistake_count; i++) {
        mistake m = o->mistakes[i];
        if (m.peer == number) p->g.mistakes[p->g.mistake_count++] = m;
    }
    start_match(&p->g, o->seed);
    p->start = p->now = p->g.s;
    for (uint32_t who = 0; who < PLAYERS; who++) {
        p->script[who] = o->seed * 77 + who;
        for (uint64_t tick = 0; tick < DELAY; tick++) box_of(p, tick, who)->known = 1;
    }
    pack(&p->g, &p->saved);
    must(desync_recorder_open(&p->files, o->dir, &h, hashed(p, o, &p->now), o->detail));
    describe_machine(p, o);
}

/* Orders on their way: each machine gets another machine's orders in order, none to seven frames late. */
typedef struct { box sent[RING][PLAYERS]; uint64_t arrives[RING][PLAYERS][MAX_PEERS], last[PLAYERS][MAX_PEERS], rng; } network;

static void post(network *n, const options *o, uint32_t who, uint64_t tick, uint64_t frame) {
    for (int to = 0; to < o->peers; to++) {
        uint32_t travel = draw(&n->rng, 4), jitter = draw(&n->rng, 5);
        uint64_t at = frame + ((int)who % o->peers == to ? 0 : travel + jitter);
        if (at < n->last[who][to]) at = n->last[who][to];
        n->arrives[tick % RING][who][to] = n->last[who][to] = at;
    }
}

/* One frame of a machine: it learns what came, plays again what is sure now, asks its players, and plays ahead. */
static void play_frame(peer *p, network *n, const options *o, uint64_t frame) {
    uint64_t newest = frame + DELAY;
    p->g.tick = p->sure;
    must(roll_back(&p->g, &p->saved));
    for (uint32_t who = 0; who < PLAYERS; who++) {
        if ((int)who % o->peers == p->number) {
            script(p, who, frame, &n->sent[newest % RING][who]);
            post(n, o, who, newest, frame);
        }
    }
    for (uint64_t tick = p->sure < DELAY ? DELAY : p->sure; tick < newest; tick++)
        for (uint32_t who = 0; who < PLAYERS; who++)
            if (!box_of(p, tick, who)->known && n->arrives[tick % RING][who][p->number] <= frame) receive(p, tick, who, &n->sent[tick % RING][who]);
    while (p->sure < o->ticks && p->sure < newest && all_known(p, p->sure)) play_sure(p);
    p->saved.len = 0, p->g.tick = p->sure;
    pack(&p->g, &p->saved);
    play_ahead(p, newest);
}

static void record(options *o) {
    peer *peers = calloc((size_t)o->peers, sizeof *peers);
    static network n;
    static truth t;
    uint64_t recorded = 0;
    for (int i = 0; i < o->mistake_count; i++) { /* the seed's places, for all to know */
        game g = {.mistake_count = 1};
        g.mistakes[0] = o->mistakes[i];
        choose_places(&g, o->seed);
        o->mistakes[i] = g.mistakes[0];
    }
    if (!peers) must("out of memory");
    n.rng = o->seed ^ 0x6e6574;
    for (int i = 0; i < o->peers; i++) open_peer(&peers[i], o, i);
    judge_start(&t, peers, o);
    record_point(peers, o, 0, &t);
    for (uint64_t frame = 0; recorded < o->ticks; frame++) {
        uint64_t all = UINT64_MAX;
        for (peer *p = peers; p < peers + o->peers; p++) play_frame(p, &n, o, frame);
        for (peer *p = peers; p < peers + o->peers; p++) all = p->sure < all ? p->sure : all;
        for (; recorded < all; recorded++) record_tick(peers, o, recorded, &t), record_point(peers, o, recorded + 1, &t);
    }
    for (peer *p = peers; p < peers + o->peers; p++) must(desync_recorder_close(&p->files)), desync_free(&p->saved);
    if (t.parted && !t.recorded) t.checksum = "blind-checksum";
    write_truth(&t, o);
    free(peers);
}

/* ---- Command line */

/* NAME[/PLACE][@TICK][:PEER] */
static mistake parse(const char *text) {
    static const char *const names[] = {"host", "client", "client2", "client3"};
    size_t n = strcspn(text, "/@:");
    mistake m = {0, 0, NULL, 100, -1};
    while (m.fault < FAULTS && (strlen(faults[m.fault].name) != n || strncmp(text, faults[m.fault].name, n) != 0)) m.fault++;
    if (m.fault == FAULTS) must("there is no such fault; arena faults lists them");
    text += n;
    if (*text == '/') {
        n = strcspn(++text, "@:");
        for (size_t i = 0; i < 4 && faults[m.fault].places[i]; i++)
            if (strlen(faults[m.fault].places[i]) == n && strncmp(text, faults[m.fault].places[i], n) == 0) m.place = faults[m.fault].places[i];
        if (!m.place) must("the fault has no such place; arena faults lists them");
        text += n;
    }
    if (*text == '@') {
        char *end;
        m.from = strtoull(text + 1, &end, 10);
        text = end;
    }
    if (*text == ':')
        for (int i = 0; i < MAX_PEERS; i++)
            if (strcmp(text + 1, names[i]) == 0) m.peer = i, text = "";
    if (*text) must("expected --fault NAME[/PLACE][@TICK][:PEER]");
    if (m.peer < 0) m.peer = m.fault == HOST_ONLY ? 0 : 1;
    return m;
}

static uint64_t parse_number(const char *text) {
    char *end;
    uint64_t v = strtoull(text, &end, 10);
    if (!*text || *end) must("expected a number");
    return v;
}

static int detail_of(const char *text) {
    static const char *const names[] = {"system", "archetype", "column", "none"};
    for (int i = 0; i < 4; i++)
        if (strcmp(text, names[i]) == 0) return i;
    return must("expected --trace none, system, archetype or column"), 0;
}

static void list_faults(void) {
    for (int i = 0; i < FAULTS; i++) {
        printf("%s\t", faults[i].name);
        for (size_t k = 0; k < 4 && faults[i].places[k]; k++) printf("%s%s", k ? "," : "", faults[i].places[k]);
        printf("\t%s\n", faults[i].what);
    }
}

int main(int argc, char **argv) {
    options o = {.seed = 1, .ticks = 360, .snapshot_every = 100, .peers = 2, .detail = DESYNC_BY_ARCHETYPE};
    int serve = argc > 1 && strcmp(argv[1], "serve") == 0;
    if (argc == 2 && strcmp(argv[1], "faults") == 0) return list_faults(), 0;
    if (!serve && (argc < 3 || strcmp(argv[1], "record") != 0)) must("expected record DIR, serve or faults");
    o.dir = serve ? NULL : argv[2];
    for (int i = serve ? 2 : 3; i < argc; i += 2) {
        const char *flag = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(flag, "--fault") == 0 && o.mistake_count < 8) o.mistakes[o.mistake_count++] = parse(value);
        else if (serve) must("expected --fault NAME[/PLACE][@TICK]");
        else if (strcmp(flag, "--seed") == 0) o.seed = parse_number(value);
        else if (strcmp(flag, "--ticks") == 0) o.ticks = parse_number(value);
        else if (strcmp(flag, "--snapshot-every") == 0) o.snapshot_every = parse_number(value);
        else if (strcmp(flag, "--peers") == 0) o.peers = (int)parse_number(value);
        else if (strcmp(flag, "--trace") == 0) o.detail = detail_of(value);
        else must("expected --seed N, --ticks N, --peers N, --snapshot-every N, --trace LEVEL, --fault NAME");
    }
    if (o.peers < 2 || o.peers > MAX_PEERS || !o.snapshot_every || !o.ticks) must("expected 2 to 4 peers, ticks, and snapshots at some");
    if (!serve) return record(&o), 0;
    target_game *served = calloc(1, sizeof *served);
    desync_target t = target;
    if (!served) must("out of memory");
    for (int i = 0; i < o.mistake_count; i++) /* what is not of the code is not made again */
        if (o.mistakes[i].fault < ORDER_DROPPED) served->g.mistakes[served->g.mistake_count++] = o.mistakes[i];
    t.user = served;
    int status = desync_serve(&t);
    return free(served), status;
}
