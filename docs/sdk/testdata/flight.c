/* SPDX-License-Identifier: MIT-0
   Copyright 2026 The desynctool authors */
/* Peers of a small game with flight recorders, on a network that loses, doubles, delays and reorders packets. Each session has
   one planted difference, or none. What the peers report is compared with both states, value by value.

       flight sessions FIRST COUNT [PEERS]    a line for each mistake of the recorder; exit status 1 if there is one
       flight sync TICKS PEERS                no difference is planted: none may be reported
       flight text SEED PEERS                 prints the report
       flight files SEED PEERS DIR            and writes what one peer leaves
       flight hostile SEED PACKETS            packets of any content
       flight cost TICKS                      what a tick costs
       flight cases DIR                       texts, orders, groups, what fell out, calls in the wrong order
       flight example                         the example of docs/exchange.md */
#define DESYNCTOOL_IMPLEMENTATION
#include "desynctool.h"
#include "desynctool_flight.h"
#include <time.h>

#ifndef FLIGHT_UNITS
#define FLIGHT_UNITS 300 /* the fuzz target has fewer */
#endif
enum { UNITS = FLIGHT_UNITS, LOOT = 64, MOST = 64, ORDERS = 4 };

typedef struct { uint32_t id; int32_t x, y; int16_t hp; uint8_t alive, armed; uint64_t target; char name[12]; double speed; } unit;
typedef struct { uint64_t rng[2]; uint32_t serial, score[2]; unit units[UNITS]; uint8_t loot[LOOT]; } state;

typedef struct {
    state s, end[2]; /* end: at the end of the planted tick */
    desync_column unit_columns[8], score_column, loot_column;
    desync_table tables[3];
    desync_world world;
    desync_flight *f;
    uint64_t point;
    int gone;
    size_t sent, packets;
} peer;

typedef struct { size_t from, to, n; uint64_t at; uint8_t bytes[DESYNC_FLIGHT_PACKET]; } flying;

typedef struct { uint64_t tick; int system, kind, value; size_t peer, row; } plant; /* kind 0: none */

static peer peers[MOST];
static flying air[20000];
static size_t in_air;
static uint64_t dice;

static uint32_t draw(uint64_t *rng, uint32_t n) {
    *rng = *rng * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(((*rng >> 33) * n) >> 31);
}

static void must(const char *err) { if (err) fprintf(stderr, "flight: %s\n", err), exit(2); }

#define COLUMN(c, f, t, d) {.component = c, .field = f, .type = t, .data = d}

static void describe(peer *p) {
    state *s = &p->s;
    const desync_column units[8] = {
        COLUMN("Position", "x", DESYNC_I32, &s->units[0].x), COLUMN("Position", "y", DESYNC_I32, &s->units[0].y),
        COLUMN("Health", "points", DESYNC_I16, &s->units[0].hp), COLUMN("Weapon", "target", DESYNC_REF, &s->units[0].target),
        COLUMN("Name", "text", DESYNC_STRING, s->units[0].name), COLUMN("Body", "speed", DESYNC_F64, &s->units[0].speed),
        COLUMN("Body", "armed", DESYNC_BOOL, &s->units[0].armed), COLUMN("Body", "id", DESYNC_U32, &s->units[0].id)};
    memcpy(p->unit_columns, units, sizeof units);
    p->unit_columns[3].present = &s->units[0].armed, p->unit_columns[4].size = sizeof s->units[0].name;
    p->score_column = (desync_column)COLUMN("Score", "points", DESYNC_U32, s->score);
    p->loot_column = (desync_column)COLUMN("Loot", "kind", DESYNC_U8, s->loot);
    p->tables[0] = (desync_table){.label = "Unit", .slots = UNITS, .stride = sizeof(unit), .alive = &s->units[0].alive, .key = &s->units[0].id,
                                  .key_size = 4, .columns = p->unit_columns, .column_count = 8};
    p->tables[1] = (desync_table){.label = "Player", .slots = 2, .columns = &p->score_column, .column_count = 1};
    p->tables[2] = (desync_table){.label = "Loot", .slots = LOOT, .columns = &p->loot_column, .column_count = 1};
    p->world = (desync_world){.rng = s->rng, .rng_size = sizeof s->rng, .tables = p->tables, .table_count = 3};
}

static void spawn(state *s) {
    size_t i = 0;
    while (i < UNITS && s->units[i].alive) i++;
    if (i == UNITS) return;
    unit *u = &s->units[i];
    memset(u, 0, sizeof *u);
    u->id = ++s->serial, u->alive = 1, u->hp = 50, u->x = (int32_t)draw(s->rng, 1000), u->y = (int32_t)draw(s->rng, 1000);
    u->speed = 1 + draw(s->rng, 4) / 8.0;
    snprintf(u->name, sizeof u->name, "unit%u", (unsigned)u->id);
}

static void step_move(state *s) {
    for (unit *u = s->units; u < s->units + UNITS; u++)
        if (u->alive && (u->id + s->rng[0]) % 3 == 0) u->x = (int32_t)((uint32_t)u->x + 3) % 1000, u->y += u->x > 500 ? 1 : -1, u->speed *= 1.0001;
}

static void step_fight(state *s) {
    for (int n = 0; n < 6; n++) {
        unit *u = &s->units[draw(s->rng, UNITS)], *t = &s->units[draw(s->rng, UNITS)];
        if (!u->alive || !t->alive) continue;
        u->armed = (uint8_t)(u->armed ? 0 : 2), u->target = u->armed ? t->id : 0;
        t->hp = (int16_t)(t->hp - (int)draw(s->rng, 20));
        if (t->hp <= 0) t->alive = 0, s->score[u->id % 2]++;
    }
}

static void step_spawn(state *s) {
    s->loot[draw(s->rng, LOOT)]++;
    while (draw(s->rng, 3)) spawn(s);
}

static void (*const systems[])(state *) = {step_move, step_fight, step_spawn};
static const char *const system_names[] = {"Move", "Fight", "Spawn"};
static const desync_kind kinds[] = {{"bonus", 0}};
enum { SYSTEMS = 3, KINDS = 8 };

static void mistake(state *s, const plant *w) {
    unit *u = &s->units[w->row];
    switch (w->kind) {
    case 1: u->hp = (int16_t)(u->hp + w->value); break;
    case 2: u->x += w->value; break;
    case 3: u->alive = !u->alive; break; /* what was dead has an id that no living unit has */
    case 4: s->rng[1] ^= 1; break;
    case 5: u->name[2] = (char)(u->name[2] ^ w->value); break;
    case 6: u->armed = !u->armed; break;
    case 7: s->score[w->row % 2] += (uint32_t)w->value; break;
    case 8: for (size_t i = 0; i < UNITS; i++) s->units[i].y += w->value; break;
    }
}

static state mid[2]; /* after the planted system, of a peer without the mistake and with it */
static int keeps = -1;

/* Plays a tick; the planted mistake is in it if it is this peer's and this tick. */
static void play(peer *p, uint64_t tick, const plant *w, int mine, int recorded) {
    desync_order orders[ORDERS] = {{0}};
    uint64_t script = tick * 7919 + 5;
    uint32_t who[ORDERS];
    size_t n = draw(&script, ORDERS);
    for (size_t i = 0; i < n; i++) {
        who[i] = draw(&script, UNITS);
        orders[i] = (desync_order){0, (uint32_t)i, (uint32_t)tick, 0, (const uint8_t *)&who[i], sizeof who[i]};
    }
    if (recorded) must(desync_flight_tick(p->f, tick, orders, n));
    for (size_t i = 0; i < n; i++) p->s.units[who[i]].hp++;
    for (int k = 0; k < SYSTEMS; k++) {
        systems[k](&p->s);
        if (mine && w->kind && tick == w->tick && k == w->system) mistake(&p->s, w);
        if (keeps >= 0 && tick == w->tick && k == w->system) mid[keeps] = p->s;
        if (recorded) must(desync_flight_system(p->f, system_names[k]));
    }
    if (recorded) must(desync_flight_state(p->f, tick + 1));
}

static void begin(size_t count, uint64_t seed, int rollback, size_t budget) {
    static char names[MOST][16];
    static const char *list[MOST];
    for (size_t i = 0; i < count; i++) snprintf(names[i], sizeof names[i], "peer%u", (unsigned)i), list[i] = names[i];
    for (size_t i = 0; i < count; i++) {
        const char *err;
        peer *p = &peers[i];
        memset(p, 0, sizeof *p);
        p->s.rng[0] = seed, p->s.rng[1] = seed + 1;
        for (int k = 0; k < UNITS * 2 / 5; k++) spawn(&p->s);
        describe(p);
        desync_flight_options o = {.budget = budget, .seed = seed, .build = "1", .world = &p->world, .peers = list, .peer_count = count, .self = i,
                                   .kinds = kinds, .kind_count = 1, .rollback = rollback};
        p->f = desync_flight_open(&o, &err);
        must(err);
        must(desync_flight_state(p->f, 0));
    }
    in_air = 0;
}

typedef struct { unsigned loss, delay; uint64_t apart, until, side; } weather; /* in 1000, ms; in that time nothing passes between the peers of a side and others */

static void partition(weather *w, uint64_t *rng, uint64_t from, uint32_t longest, size_t count) {
    w->apart = from, w->until = from + draw(rng, longest), w->side = 1 + draw(rng, count < 20 ? (1u << count) - 2 : 1u << 20);
}

static void network(size_t count, uint64_t now, const weather *w, int deliver) {
    size_t to, n;
    uint8_t packet[DESYNC_FLIGHT_PACKET];
    for (size_t i = 0; i < count; i++) {
        if (peers[i].gone) continue;
        for (int most = 0; most < 400 && (n = desync_flight_send(peers[i].f, now, &to, packet)) > 0; most++) {
            peers[i].sent += n, peers[i].packets++;
            for (int copies = draw(&dice, 50) == 0 ? 2 : 1; copies > 0; copies--) {
                if (now >= w->apart && now < w->until && (w->side >> i ^ w->side >> to) & 1) continue;
                if (draw(&dice, 1000) < w->loss || in_air == sizeof air / sizeof *air) continue;
                flying *a = &air[in_air++];
                a->from = i, a->to = to, a->n = n, a->at = now + w->delay / 2 + (w->delay ? draw(&dice, w->delay) : 0);
                memcpy(a->bytes, packet, n);
            }
        }
    }
    for (size_t i = 0; i < in_air && deliver;) {
        if (air[i].at > now) {
            i++;
            continue;
        }
        if (!peers[air[i].to].gone) desync_flight_receive(peers[air[i].to].f, air[i].from, air[i].bytes, air[i].n);
        air[i] = air[--in_air];
    }
}

static int bad;
static void wrong(uint64_t seed, const char *what, uint64_t is, uint64_t want) {
    printf("session %llu: %s is %llu, expected %llu\n", (unsigned long long)seed, what, (unsigned long long)is, (unsigned long long)want);
    bad = 1;
}

/* How many values differ between the ends of the planted tick, by brute force; with a report, that it has each of them. */
static size_t differing(const state *a, const state *b, int listed(const char *label, const char *field, uint64_t key)) {
    size_t n = 0;
#define CHECK(differs, label, field, key) if (differs) n++, (void)(listed && !listed(label, field, key) ? bad = 2 : 0)
    CHECK(memcmp(a->rng, b->rng, sizeof a->rng) != 0, "", "state", 0);
    for (size_t i = 0; i < 2; i++) CHECK(a->score[i] != b->score[i], "Player", "points", i);
    for (size_t i = 0; i < LOOT; i++) CHECK(a->loot[i] != b->loot[i], "Loot", "kind", i);
    for (size_t i = 0; i < UNITS; i++) {
        const unit *u = &a->units[i], *v = NULL;
        if (!u->alive) continue;
        for (size_t k = 0; k < UNITS; k++)
            if (b->units[k].alive && b->units[k].id == u->id) v = &b->units[k];
        CHECK(!v, "Unit", "", u->id);
        if (!v) continue;
        CHECK(u->x != v->x, "Unit", "x", u->id);
        CHECK(u->y != v->y, "Unit", "y", u->id);
        CHECK(u->hp != v->hp, "Unit", "points", u->id);
        CHECK(!u->armed != !v->armed, "Unit", "armed", u->id);
        CHECK(!u->armed != !v->armed || (u->armed && u->target != v->target), "Unit", "target", u->id);
        CHECK(strcmp(u->name, v->name) != 0, "Unit", "text", u->id);
        CHECK(memcmp(&u->speed, &v->speed, sizeof u->speed) != 0, "Unit", "speed", u->id);
    }
    for (size_t i = 0; i < UNITS; i++) {
        int there = 0;
        for (size_t k = 0; k < UNITS && b->units[i].alive; k++) there |= a->units[k].alive && a->units[k].id == b->units[i].id;
        CHECK(b->units[i].alive && !there, "Unit", "", b->units[i].id);
    }
    return n;
}

static const desync_flight *reading;
static int in_report(const char *label, const char *field, uint64_t key) {
    desync__freader r = {reading->report, reading->report + reading->report_size, 0};
    desync__fhead h = desync__fread_head(&r);
    for (size_t i = 0; i < h.listed; i++) {
        desync__flist l = desync__fread_list(&r);
        int here = l.sizes[0] == strlen(label) && memcmp(l.names[0], label, l.sizes[0]) == 0 && l.sizes[2] == strlen(field) && memcmp(l.names[2], field, l.sizes[2]) == 0;
        if (!*label && !l.sizes[0]) here = 1;
        for (; l.rows; l.rows--) {
            uint64_t k = desync__fnumber(&r, 8);
            size_t size;
            desync__fnumber(&r, 8);
            for (size_t g = 0; g < h.groups; g++) desync__fread_value(&r, &size);
            if (here && k == key) return 1;
        }
    }
    return 0;
}

/* Whether a column is listed as one that differs first. */
static int is_first(const char *label, const char *field, uint64_t key) {
    desync__freader r = {reading->report, reading->report + reading->report_size, 0};
    desync__fhead h = desync__fread_head(&r);
    (void)key;
    for (size_t i = 0; i < h.listed; i++) {
        desync__flist l = desync__fread_list(&r);
        size_t size;
        if (l.flags & 2 && l.sizes[0] == strlen(label) && memcmp(l.names[0], label, l.sizes[0]) == 0 && (!*label || desync__fsame(field, l.names[2], l.sizes[2]))) return 1;
        for (; l.rows; l.rows--) {
            desync__fbytes(&r, 16);
            for (size_t g = 0; g < h.groups; g++) desync__fread_value(&r, &size);
        }
    }
    return 0;
}

/* How many columns are listed as first that do not differ after the planted system. */
static const char *looked[2];
static int looking(const char *label, const char *field, uint64_t key) {
    (void)key;
    if (strcmp(label, looked[0]) == 0 && (!*label || strcmp(field, looked[1]) == 0)) looked[0] = "found";
    return 1;
}

static size_t false_firsts(const desync__fhead *head, desync__freader r) {
    size_t n = 0, size;
    for (size_t i = 0; i < head->listed; i++) {
        desync__flist l = desync__fread_list(&r);
        char label[32] = {0}, field[32] = {0};
        memcpy(label, l.names[0], l.sizes[0] < 31 ? l.sizes[0] : 31), memcpy(field, l.names[2], l.sizes[2] < 31 ? l.sizes[2] : 31);
        looked[0] = label, looked[1] = field;
        if (l.flags & 2) {
            differing(&mid[0], &mid[1], looking);
            n += strcmp(looked[0], "found") != 0;
        }
        for (; l.rows; l.rows--) {
            desync__fbytes(&r, 16);
            for (size_t g = 0; g < head->groups; g++) desync__fread_value(&r, &size);
        }
    }
    return n;
}

static size_t most_sent, lost;
static uint64_t most_took;

/* Compares what the peers report with what was planted. */
static void judge(uint64_t seed, const plant *planted, size_t count, size_t other, uint64_t took, int fair, int text, const char *dir) {
    size_t diffs = differing(&peers[0].end[0], &peers[0].end[1], NULL);
    const desync_flight *f = peers[other].f;
    if (!diffs) { /* the planted change was none, or was gone at the end of the tick */
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const desync_flight *g = peers[i].f;
        if (peers[i].gone) continue;
        if (g->status != DESYNC_FLIGHT_FOUND) {
            wrong(seed, "the status", (uint64_t)g->status, DESYNC_FLIGHT_FOUND);
            return;
        }
        if (g->report_size != f->report_size || memcmp(g->report, f->report, f->report_size) != 0) wrong(seed, "the report of a peer", i, 0);
        if (peers[i].sent > most_sent) most_sent = peers[i].sent;
    }
    if (fair && took > most_took) most_took = took;
    desync__freader r = {f->report, f->report + f->report_size, 0};
    desync__fhead h = desync__fread_head(&r);
    if (h.silent >> planted->peer & 1) { /* it was asked 16 times and more */
        lost++;
        return;
    }
    if (h.point != planted->tick + 1) wrong(seed, "the point", h.point, planted->tick + 1);
    else if (h.flags & DESYNC__F_LOST) wrong(seed, "the flag", (uint64_t)h.flags, 0);
    if (h.groups != 2 || (h.members[0] != (uint64_t)1 << planted->peer && h.members[1] != (uint64_t)1 << planted->peer)) wrong(seed, "the number of groups", h.groups, 2);
    if (h.step != (uint32_t)planted->system || h.step_size != strlen(system_names[planted->system])) wrong(seed, "the step", h.step, (uint64_t)planted->system);
    if (!(h.flags & DESYNC__F_CUT)) {
        size_t rows = 0, size;
        reading = f;
        differing(&peers[0].end[0], &peers[0].end[1], in_report);
        if (bad == 2) wrong(seed, "a value that differs and is not listed, of all", diffs, 0);
        differing(&mid[0], &mid[1], is_first);
        if (bad == 2) wrong(seed, "a column that differs first and is not listed as such, of all", diffs, 0);
        if (false_firsts(&h, r)) wrong(seed, "the number of columns that are listed as first and do not differ then", false_firsts(&h, r), 0);
        for (size_t i = 0; i < h.listed; i++) {
            desync__flist l = desync__fread_list(&r);
            for (; l.rows; l.rows--) {
                int whole = 1;
                desync__fbytes(&r, 16);
                for (size_t g = 0; g < h.groups; g++) whole &= *desync__fread_value(&r, &size) != 3;
                rows += (size_t)(whole || !l.type);
            }
        }
        if (rows != diffs) wrong(seed, "the number of values", rows, diffs);
    } else if (diffs < 200 && count < 5) {
        wrong(seed, "cut, of all values", diffs, 0);
    }
    if (text) {
        char to[20000];
        desync_flight_text(f, to, sizeof to);
        fputs(to, stdout);
        if (text > 1) must(desync_flight_files(peers[other].f, dir));
    }
}

static size_t healed;

static size_t place_of(void *user, const desync_table *t, uint64_t key, uint64_t key2) { /* into the first free slot */
    size_t *next = (size_t *)user;
    (void)key, (void)key2;
    return *next < t->slots ? (*next)++ : SIZE_MAX;
}

/* All peers load the state of a peer without the mistake, and play on in sync. */
static void heal(uint64_t seed, size_t count, size_t sound) {
    uint64_t now = 1000000, point = 0;
    weather w = {0, 20, 0, 0, 0};
    plant none = {0, 0, 0, 0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        desync_buffer b = {NULL, 0, 0, 0};
        desync_snap snap;
        size_t next = 0;
        const char *err = desync_flight_snapshot(peers[i].f, sound, &b);
        if (err) { /* more differs than is listed */
            desync_free(&b);
            return;
        }
        must(desync_snap_read(&snap, b.data, b.len));
        point = snap.at.tick;
        must(desync_fill(&peers[i].world, &snap, place_of, &next));
        peers[i].s.serial = 1000000;
        desync_snap_free(&snap), desync_free(&b);
        desync_flight_resume(peers[i].f);
        must(desync_flight_state(peers[i].f, point));
    }
    in_air = 0;
    for (uint64_t tick = point; tick < point + 100; tick++, now += 16) {
        for (size_t i = 0; i < count; i++) {
            play(&peers[i], tick, &none, 0, 1);
            if (peers[i].f->o.rollback) must(desync_flight_confirm(peers[i].f, tick + 1));
            if (desync_flight_hash(peers[i].f, tick + 1) != desync_flight_hash(peers[0].f, tick + 1)) wrong(seed, "a tick after healing", tick, 0);
        }
        network(count, now, &w, 1);
    }
    for (size_t i = 0; i < count; i++)
        if (desync_flight_status(peers[i].f) != DESYNC_FLIGHT_WATCHING) wrong(seed, "the status after healing", (uint64_t)desync_flight_status(peers[i].f), 0);
    healed++;
}

static void session(uint64_t seed, size_t fixed_peers, int text, const char *dir) {
    dice = seed * 2654435761u + 1;
    size_t count = fixed_peers ? fixed_peers : draw(&dice, 4) ? 2 + draw(&dice, 3) : 2 + draw(&dice, 15);
    weather w = {draw(&dice, 3) ? draw(&dice, 50) : draw(&dice, 301), draw(&dice, 3) ? draw(&dice, 80) : draw(&dice, 500), 0, 0, 0};
    plant planted = {30 + draw(&dice, 400), (int)draw(&dice, SYSTEMS), 1 + (int)draw(&dice, KINDS), 1 + (int)draw(&dice, 30), draw(&dice, (uint32_t)count), draw(&dice, UNITS)};
    int rollback = draw(&dice, 3) == 0, leaves = count > 2 && draw(&dice, 6) == 0;
    uint64_t now = 1000, tick = 0, found_at = 0, other_dice = seed;
    size_t culprit = planted.peer, other = culprit ? 0 : 1, left = SIZE_MAX;
    if (draw(&other_dice, 3) == 0) partition(&w, &other_dice, now + 16 * (planted.tick + draw(&other_dice, 100)), 2500, count);
    begin(count, seed, rollback, (size_t)2 << 20);
    for (; tick < 8000; tick++, now += 16) {
        int all = 1;
        for (size_t i = 0; i < count; i++) {
            peer *p = &peers[i];
            if (p->gone) continue;
            if (rollback && tick > 8 && draw(&dice, 5) == 0) { /* some ticks that were predicted otherwise */
                state saved = p->s;
                plant guess = {tick, (int)draw(&dice, SYSTEMS), 1 + (int)draw(&dice, KINDS), 3, i, draw(&dice, UNITS)};
                uint64_t ahead = 1 + draw(&dice, 4), t;
                for (t = tick; t < tick + ahead; t++) play(p, t, &guess, 1, 1);
                must(desync_flight_rollback(p->f, tick));
                p->s = saved;
            }
            keeps = i == culprit ? 1 : i == other ? 0 : -1;
            play(p, tick, &planted, i == culprit, 1);
            keeps = -1;
            if (rollback) must(desync_flight_confirm(p->f, tick + 1));
            if (tick == planted.tick && (i == culprit || i == other)) peers[0].end[i == culprit] = p->s;
        }
        network(count, now, &w, 1);
        if (leaves && left == SIZE_MAX && tick > planted.tick && desync_flight_status(peers[other].f) == DESYNC_FLIGHT_ASKING && draw(&dice, 20) == 0 && count > 2) {
            do left = draw(&dice, (uint32_t)count); while (left == culprit || left == other);
            peers[left].gone = 1;
        }
        for (size_t i = 0; i < count; i++)
            if (!peers[i].gone && desync_flight_status(peers[i].f) != DESYNC_FLIGHT_FOUND) all = 0;
        if (all) break;
        if (!found_at && desync_flight_status(peers[other].f) != DESYNC_FLIGHT_WATCHING) found_at = now;
        if (tick > planted.tick + 3000 && found_at == 0) break;
    }
    judge(seed, &planted, count, other, now - found_at, w.loss < 10 && w.delay < 60 && !w.until && left == SIZE_MAX, text, dir);
    if (!bad && !text && left == SIZE_MAX && desync_flight_status(peers[other].f) == DESYNC_FLIGHT_FOUND) heal(seed, count, other);
    for (size_t i = 0; i < count; i++) desync_flight_close(peers[i].f);
}

/* Peers without a difference: none may be noticed. Every so often one of them plays ticks ahead and takes them back. */
static int in_sync(uint64_t ticks, size_t count) {
    weather w = {100, 200, 0, 0, 0};
    uint64_t tick, now = 0;
    dice = 1;
    begin(count, 7, 1, (size_t)1 << 20);
    for (tick = 0; tick < ticks; tick++, now += 16) {
        if (tick % 1000 == 999) w.loss = draw(&dice, 301), w.delay = draw(&dice, 501), partition(&w, &dice, now, 10000, count);
        for (size_t i = 0; i < count; i++) {
            static state saved;
            plant guess = {tick, (int)draw(&dice, SYSTEMS), 1 + (int)draw(&dice, KINDS), 3, i, draw(&dice, UNITS)}, none = {0, 0, 0, 0, 0, 0};
            if (draw(&dice, 100) == 0) {
                saved = peers[i].s;
                play(&peers[i], tick, &guess, 1, 1);
                must(desync_flight_rollback(peers[i].f, tick));
                peers[i].s = saved;
            }
            play(&peers[i], tick, &none, 0, 1);
            must(desync_flight_confirm(peers[i].f, tick + 1));
        }
        network(count, now, &w, 1);
        for (size_t i = 0; i < count; i++)
            if (desync_flight_status(peers[i].f) != DESYNC_FLIGHT_WATCHING) return printf("a difference is noticed in tick %llu\n", (unsigned long long)tick), 1;
    }
    printf("%llu ticks, %.1f bytes a tick and peer\n", (unsigned long long)ticks, (double)peers[0].sent / (double)ticks);
    for (size_t i = 0; i < count; i++) desync_flight_close(peers[i].f);
    return 0;
}

/* One of three peers sends packets of any content, with right checksums. The others may not crash, and answer only so much. */
static int hostile(uint64_t seed, uint64_t packets) {
    static uint8_t seen[64][DESYNC_FLIGHT_PACKET];
    static size_t sizes[64];
    size_t kept = 0, to, n, out = 0;
    uint64_t tick = 0, now = 0, sent = 0;
    uint8_t packet[DESYNC_FLIGHT_PACKET];
    plant none = {0, 0, 0, 0, 0, 0};
    dice = seed;
    begin(3, seed, 0, (size_t)1 << 20);
    for (; sent < packets; tick++, now += 16) {
        for (size_t i = 0; i < 2; i++) {
            play(&peers[i], tick, &none, 0, 1);
            while ((n = desync_flight_send(peers[i].f, now, &to, packet)) > 0) {
                if (to == 2) out += n;
                memcpy(seen[kept % 64], packet, n), sizes[kept++ % 64] = n;
                if (to < 2) desync_flight_receive(peers[to].f, i, packet, n);
            }
            if (desync_flight_status(peers[i].f) == DESYNC_FLIGHT_FOUND) {
                char text[4000];
                desync_flight_text(peers[i].f, text, sizeof text);
                if (draw(&dice, 10) == 0) desync_flight_resume(peers[i].f), must(desync_flight_state(peers[i].f, tick + 1));
            }
        }
        for (int k = 0; k < 20; k++, sent++) {
            if (kept && draw(&dice, 3)) {
                size_t of = draw(&dice, kept < 64 ? (uint32_t)kept : 64);
                n = sizes[of] - 4;
                memcpy(packet, seen[of], n);
                for (uint32_t m = draw(&dice, 5); m > 0; m--) packet[3 + draw(&dice, (uint32_t)n - 3)] = (uint8_t)(draw(&dice, 2) ? draw(&dice, 256) : draw(&dice, 3));
                if (draw(&dice, 8) == 0) n = 20 + draw(&dice, (uint32_t)n - 19);
            } else {
                desync__fwriter w = desync__fpacket(peers[0].f, packet, 1 + draw(&dice, 7), draw(&dice, 3));
                for (n = draw(&dice, 900); n > 0; n--) desync__fwrite64(&w, draw(&dice, 3) ? draw(&dice, 4) : draw(&dice, 256), 1);
                n = (size_t)(w.at - packet);
            }
            for (int i = 0; i < 8; i++) packet[4 + i] = (uint8_t)(seed >> 8 * i);
            memcpy(packet, "DF\001", 3);
            desync__little(packet + n, desync_crc32c(0, packet, n), 4);
            desync_flight_receive(peers[draw(&dice, 2)].f, 2, packet, n + 4);
        }
    }
    printf("%llu packets in, %.1f times as many bytes out\n", (unsigned long long)sent, (double)out / (double)sent / 300);
    for (size_t i = 0; i < 3; i++) desync_flight_close(peers[i].f);
    return 0;
}

/* What a tick costs: 5000 entities of 220 bytes in 10 tables, of which some values change. */
static int cost(int marked, int packed, uint64_t ticks) {
    enum { TABLES = 10, ROWS = 500, COLUMNS = 55 };
    static int32_t values[TABLES][ROWS * COLUMNS];
    static desync_column columns[TABLES][COLUMNS];
    static desync_table tables[TABLES];
    static char names[TABLES + COLUMNS][16];
    static const char *const peers_of[] = {"a", "b"};
    const desync_world world = {.tables = tables, .table_count = TABLES};
    desync_flight_options o = {.world = &world, .peers = peers_of, .peer_count = 2, .marked = marked};
    const char *err;
    uint64_t rng = 1, tick;
    clock_t spent = 0;
    for (size_t i = 0; i < TABLES + COLUMNS; i++) snprintf(names[i], sizeof names[i], "n%02u", (unsigned)i);
    for (size_t t = 0; t < TABLES; t++) {
        for (size_t c = 0; c < COLUMNS; c++) {
            columns[t][c] = (desync_column)COLUMN("C", names[TABLES + c], DESYNC_I32, packed ? &values[t][c * ROWS] : &values[t][c]);
            columns[t][c].stride = packed ? 4 : 4 * COLUMNS;
        }
        tables[t] = (desync_table){.label = names[t], .slots = ROWS, .columns = columns[t], .column_count = COLUMNS};
    }
    desync_flight *f = desync_flight_open(&o, &err);
    must(err);
    must(desync_flight_state(f, 0));
    for (tick = 0; tick < ticks; tick++) {
        for (int i = 0; i < 1000; i++) values[draw(&rng, 3)][draw(&rng, ROWS * COLUMNS)]++;
        clock_t from = clock();
        for (size_t t = 0; t < 3; t++) desync_flight_touch(f, t);
        must(desync_flight_tick(f, tick, NULL, 0));
        must(desync_flight_state(f, tick + 1));
        spent += clock() - from;
    }
    double seconds = (double)spent / CLOCKS_PER_SEC / (double)ticks;
    desync_flight_kept k = desync_flight_holds(f);
    printf("%s, %s: %.0f us a tick, %.2f %% of a core at 60 ticks a second, %.1f GB/s of state; %llu ticks in %u KiB\n", marked ? "marked" : "unmarked", packed ? "columns" : "structures",
           seconds * 1e6, seconds * 6000, (marked ? .3 : 1) * sizeof values / seconds / 1e9, (unsigned long long)(k.to - k.from), (unsigned)(k.of >> 10));
    desync_flight_close(f);
    return 0;
}

/* Two to six peers of a state of one table, without loss: what the sessions above do not have. */
typedef struct { desync_bytes text; int64_t n; uint8_t many[300]; char text_of[100]; } row;
typedef struct { row rows[40]; desync_column columns[3]; desync_table table; desync_world world; desync_flight *f; } small;
static small smalls[6];
static const char *second = "b";

static void small_begin(size_t count, size_t budget, const char *last_field) {
    static const char *names[] = {"a", "b", "c", "d", "e", "f\033[31m"};
    names[1] = second;
    memset(smalls, 0, sizeof smalls);
    for (size_t i = 0; i < count; i++) {
        small *p = &smalls[i];
        const char *err;
        p->columns[0] = (desync_column)COLUMN("C", "text", DESYNC_STRING, &p->rows[0].text);
        p->columns[1] = (desync_column)COLUMN("C", i + 1 == count ? last_field : "n", DESYNC_I64, &p->rows[0].n);
        p->columns[2] = (desync_column)COLUMN("C", "many", DESYNC_BYTES, p->rows[0].many);
        p->columns[2].size = sizeof p->rows[0].many;
        for (size_t k = 0; k < 40; k++) {
            snprintf(p->rows[k].text_of, sizeof p->rows[k].text_of, "%090u", (unsigned)k);
            p->rows[k].text.data = p->rows[k].text_of, p->rows[k].text.len = k % 2 ? 90 : 8;
        }
        p->table = (desync_table){.label = "T", .slots = 40, .stride = sizeof(row), .columns = p->columns, .column_count = 3};
        p->world = (desync_world){.tables = &p->table, .table_count = 1};
        desync_flight_options o = {.budget = budget, .seed = 1, .world = &p->world, .peers = names, .peer_count = count, .self = i, .kinds = kinds, .kind_count = 1};
        p->f = desync_flight_open(&o, &err), must(err);
        must(desync_flight_state(p->f, 0));
    }
}

/* A peer that answers with its first row twice. */
static int twice;
static size_t doubled(uint8_t *packet, size_t n) {
    const size_t begin = 23, each = 26; /* of a column of 8 bytes */
    if (packet[3] != DESYNC__F_ANSWER || n < begin + each + 4 || (n - begin - 4) % each || n + each > DESYNC_FLIGHT_PACKET) return n;
    memmove(packet + n - 4, packet + begin, each);
    n += each;
    desync__little(packet + n - 4, desync_crc32c(0, packet, n - 4), 4);
    return n;
}

static void small_carry(size_t count, uint64_t tick) {
    uint8_t packet[DESYNC_FLIGHT_PACKET];
    size_t to, n;
    for (size_t i = 0; i < count; i++)
        while ((n = desync_flight_send(smalls[i].f, tick * 100, &to, packet)) > 0) desync_flight_receive(smalls[to].f, i, packet, twice && i ? doubled(packet, n) : n);
}

static void small_tick(size_t count, uint64_t tick, const desync_order *odd) {
    for (size_t i = 0; i < count; i++) {
        must(desync_flight_tick(smalls[i].f, tick, odd, odd && i == 0));
        must(desync_flight_state(smalls[i].f, tick + 1));
    }
    small_carry(count, tick);
}

/* Plays on until there is a report, and compares the beginning of its text, and whether it contains another one. */
static void small_end(const char *name, size_t count, uint64_t tick, const char *first, const char *contains) {
    static char text[2][200000];
    for (uint64_t end = tick + 100; tick < end && desync_flight_status(smalls[count - 1].f) != DESYNC_FLIGHT_FOUND; tick++) small_tick(count, tick, NULL);
    desync_flight_text(smalls[0].f, text[0], sizeof text[0]);
    desync_flight_text(smalls[count - 1].f, text[1], sizeof text[1]);
    if (strcmp(text[0], text[1]) != 0 || strncmp(text[0], first, strlen(first)) != 0 || !strstr(text[0], contains) || strchr(text[0], 033))
        bad = 1, printf("%s: expected %s, %s\n%s", name, first, contains, text[0]);
    for (size_t i = 0; i < count; i++) desync_flight_close(smalls[i].f);
}

static void refused(const char *err, const char *call) {
    if (!err || strncmp(err, call, strlen(call)) != 0) bad = 1, printf("expected an error of %s: %s\n", call, err ? err : "none");
}

static int cases(const char *dir) {
    desync_order order = {0, 1, 2, 0, (const uint8_t *)"x", 1};
    desync_buffer b = {NULL, 0, 0, 0};
    uint64_t tick;
    size_t n;

    small_begin(2, 0, "n");
    for (tick = 0; tick < 20; tick++) {
        if (tick == 5) smalls[1].rows[3].text_of[89] = 'x', smalls[1].rows[4].text_of[2] = '\033';
        small_tick(2, tick, NULL);
    }
    refused(desync_flight_snapshot(smalls[0].f, 1, &b), "desync_flight_snapshot");
    small_end("texts", 2, tick, "a and b have different states since tick 5: T C.text differs in 2 rows.\n",
              "  #3 \"0000000000000000000000000000000000000000000000000000\"... on a, \"0000000000000000000000000000000000000000000000000000\"... on b\n  #4 \"00000000\" on a, \"00\\x1b00000\" on b\n");

    small_begin(2, 0, "n");
    for (tick = 0; tick < 20; tick++) {
        if (tick == 5) smalls[1].rows[7].n = -1;
        small_tick(2, tick, tick == 5 ? &order : NULL);
    }
    small_end("orders", 2, tick, "a and b have different states since tick 5: T C.n differs in 1 row.\nThe orders of that tick differ.\n", "  #7 0 on a, -1 on b\n");

    second = "../b"; /* a player's name is no path */
    small_begin(2, 0, "n");
    for (tick = 0; tick < 60; tick++) {
        if (tick == 40) smalls[1].rows[7].n = -1;
        for (int i = 0; i < 40; i++) smalls[0].rows[i].text.len = smalls[1].rows[i].text.len = 8;
        small_tick(2, tick, NULL);
    }
    must(desync_flight_files(smalls[0].f, dir));
    refused(desync_flight_files(smalls[1].f, dir), "desync_flight_files");
    small_end("names", 2, tick, "a and ../b have different states since tick 40: T C.n differs in 1 row.\n", "");
    second = "b";

    small_begin(2, 0, "other");
    for (tick = 0; tick < 20; tick++) small_tick(2, tick, NULL);
    small_end("schema", 2, tick, "The peers describe their states otherwise: they run different builds.\n", "");

    small_begin(2, 0, "n");
    for (twice = 1, tick = 0; tick < 20; tick++) {
        if (tick == 5) smalls[1].rows[7].n = -1;
        small_tick(2, tick, NULL);
    }
    small_end("twice", 2, tick, "a and b have different states since tick 5: T C.n differs.\n", "T C.n: at least 0 rows\nMore differs than is listed.\n");
    twice = 0;

    small_begin(2, 0, "n"); /* what a call refuses leaves nothing in the ring */
    for (tick = 0; tick < 20; tick++) {
        const desync_order refuses[2] = {{0, 1, 2, 0, (const uint8_t *)"what is refused", 15}, {0, 1, 2, 9, NULL, 0}};
        if (tick > 3 && tick < 16) refused(desync_flight_tick(smalls[0].f, tick, refuses, 2), "desync_flight_tick: an order has an unknown kind");
        if (tick == 9) smalls[1].rows[7].n = -1;
        small_tick(2, tick, NULL);
    }
    small_end("refused", 2, tick, "a and b have different states since tick 9: T C.n differs in 1 row.\n", "  #7 0 on a, -1 on b\n");

    small_begin(2, 0, "n"); /* rows that a predicted tick takes away, and the tick that follows too */
    for (size_t i = 0; i < 2; i++) smalls[i].f->o.rollback = 1;
    must(desync_flight_tick(smalls[0].f, 0, NULL, 0));
    smalls[0].table.slots = 30;
    must(desync_flight_state(smalls[0].f, 1));
    must(desync_flight_rollback(smalls[0].f, 0));
    for (size_t i = 0; i < 2; i++) {
        smalls[i].table.slots = 30;
        must(desync_flight_tick(smalls[i].f, 0, NULL, 0));
        must(desync_flight_state(smalls[i].f, 1));
    }
    if (desync_flight_hash(smalls[0].f, 1) != desync_flight_hash(smalls[1].f, 1)) bad = 1, printf("rows that are taken away twice are still there\n");
    for (size_t i = 0; i < 2; i++) desync_flight_close(smalls[i].f);

    small_begin(6, 0, "n");
    for (tick = 0; tick < 20; tick++) {
        for (int64_t i = 0; i < 6 && tick == 9; i++) smalls[i].rows[1].n = i / 1;
        small_tick(6, tick, NULL);
    }
    small_end("groups", 6, tick, "a, b, c and d have different states since tick 9: T C.n differs in 1 row.\n", "Not known of e and f\\x1b[31m.\n");

    small_begin(2, 0, "n"); /* rows of which few fit into a packet */
    for (tick = 0; tick < 20; tick++) {
        for (int i = 0; i < 40 && tick == 9; i++) smalls[1].rows[i].many[i * 5] = 1;
        small_tick(2, tick, NULL);
    }
    small_end("long values", 2, tick, "a and b have different states since tick 9: T C.many differs in 40 rows.\n", "... on b\n");

    small_begin(2, (size_t)1 << 20, "n"); /* a ring that holds a few ticks only, and a peer that is told late */
    for (tick = 0; tick < 200; tick++) {
        uint8_t packet[DESYNC_FLIGHT_PACKET];
        size_t to;
        for (size_t i = 0; i < 2; i++) {
            for (int k = 0; k < 40; k++) memset(smalls[i].rows[k].many, (int)tick, sizeof smalls[i].rows[k].many);
            if (tick == 20 && i) smalls[i].rows[0].n = 5;
            must(desync_flight_tick(smalls[i].f, tick, NULL, 0));
            must(desync_flight_state(smalls[i].f, tick + 1));
        }
        for (size_t i = 0; i < 2; i++)
            while ((n = desync_flight_send(smalls[i].f, tick * 100, &to, packet)) > 0) {
            }
    }
    must(desync_flight_differs(smalls[0].f, tick));
    small_end("lost", 2, tick, "a and b have different states at tick 1", ", the first that all of them still have: T C.n differs in 1 row.\n");

    small_begin(2, 0, "n"); /* systems of which not all fit into a packet */
    for (tick = 0; tick < 20; tick++) {
        for (size_t i = 0; i < 2; i++) {
            must(desync_flight_tick(smalls[i].f, tick, NULL, 0));
            for (int k = 0; k < 60; k++) {
                char name[64];
                snprintf(name, sizeof name, "a system with a long name %d", k);
                if (tick == 5 && k == 53 && i) smalls[i].rows[7].n = 5;
                must(desync_flight_system(smalls[i].f, name));
            }
            must(desync_flight_state(smalls[i].f, tick + 1));
        }
        small_carry(2, tick);
    }
    small_end("many systems", 2, tick, "a and b have different states since tick 5, system a system with a long name 53: T C.n differs in 1 row.\n", "");

    small_begin(2, 0, "n");
    refused(desync_flight_system(smalls[0].f, "S"), "desync_flight_system");
    refused(desync_flight_state(smalls[0].f, 1), "desync_flight_state");
    refused(desync_flight_tick(smalls[0].f, 7, NULL, 0), "desync_flight_tick");
    must(desync_flight_tick(smalls[0].f, 0, NULL, 0));
    refused(desync_flight_tick(smalls[0].f, 1, NULL, 0), "desync_flight_tick");
    refused(desync_flight_rollback(smalls[0].f, 0), "desync_flight_rollback");
    refused(desync_flight_confirm(smalls[0].f, 0), "desync_flight_confirm");
    refused(desync_flight_files(smalls[0].f, "."), "desync_flight_files");
    {
        struct { uint32_t id; float x; } odd = {1, 2};
        const desync_column column = COLUMN("C", "x", DESYNC_F32, &odd.x);
        const desync_table table = {.label = "T", .slots = 1, .key = &odd.id, .columns = &column, .column_count = 1};
        const desync_world world = {.tables = &table, .table_count = 1};
        const desync_flight_options o = {.world = &world, .peers = system_names, .peer_count = 2};
        const char *err;
        if (desync_flight_open(&o, &err)) err = NULL;
        refused(err, "a column begins within a key");
    }
    smalls[0].table.slots = 41;
    refused(desync_flight_state(smalls[0].f, 1), "a table has more slots");
    for (size_t i = 0; i < 2; i++) desync_flight_close(smalls[i].f);
    desync_free(&b);
    return bad;
}

/* The example of docs/exchange.md. */
static int example(void) {
    static const char *const names[] = {"host", "client"};
    static const uint8_t rng[4] = {1, 2, 3, 4}, order[2] = {0xab, 0xcd};
    struct { uint64_t key, target; int32_t hp; char name[8]; uint8_t has; } rows[2] = {{9, 7, -1, "bob", 1}, {7, 0, 50, "ann", 0}};
    desync_column columns[3] = {COLUMN("Weapon", "target", DESYNC_REF, &rows[0].target), COLUMN("Health", "points", DESYNC_I32, &rows[0].hp),
                                COLUMN("Name", "text", DESYNC_STRING, rows[0].name)};
    const desync_table table = {.label = "Soldier", .slots = 2, .stride = sizeof *rows, .key = &rows[0].key, .columns = columns, .column_count = 3};
    const desync_world world = {.rng = rng, .rng_size = 4, .tables = &table, .table_count = 1};
    const desync_flight_options o = {.seed = 7, .world = &world, .peers = names, .peer_count = 2, .kinds = kinds, .kind_count = 1};
    const desync_order given = {250, 1, 3, 0, order, 2};
    uint8_t packet[DESYNC_FLIGHT_PACKET];
    const char *err;
    size_t to, n;
    columns[0].present = &rows[0].has, columns[2].size = 8;
    desync_flight *f = desync_flight_open(&o, &err);
    must(err);
    must(desync_flight_state(f, 0));
    printf("schema %016llx\nroot %016llx\nhistory %016llx\nbeat ", (unsigned long long)f->schema, (unsigned long long)desync_flight_hash(f, 0),
           (unsigned long long)desync_flight_history(f, 0));
    n = desync_flight_send(f, 0, &to, packet);
    for (size_t i = 0; i < n; i++) printf("%02x", packet[i]);
    must(desync_flight_tick(f, 0, &given, 1));
    rows[1].hp = 49;
    must(desync_flight_state(f, 1));
    printf("\ninputs %016llx\nroot %016llx\nhistory %016llx\n", (unsigned long long)desync__fpoint(f, 1)->inputs, (unsigned long long)desync_flight_hash(f, 1),
           (unsigned long long)desync_flight_history(f, 1));
    desync_flight_close(f);
    return 0;
}

int main(int argc, char **argv) {
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0, n = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    if (argc > 1 && strcmp(argv[1], "sessions") == 0) {
        for (uint64_t i = 0; i < n; i++) session(first + i, argc > 4 ? (size_t)strtoull(argv[4], NULL, 10) : 0, 0, NULL);
        printf("%llu sessions, %u without the wrong peer, at most %u bytes sent by a peer, %llu ms to the report, %u healed\n", (unsigned long long)n,
               (unsigned)lost, (unsigned)most_sent, (unsigned long long)most_took, (unsigned)healed);
        return bad != 0;
    }
    if (argc > 1 && strcmp(argv[1], "text") == 0) return session(first, n, 1, NULL), bad;
    if (argc > 4 && strcmp(argv[1], "files") == 0) return session(first, n, 2, argv[4]), bad;
    if (argc > 3 && strcmp(argv[1], "sync") == 0) return in_sync(first, (size_t)n);
    if (argc > 3 && strcmp(argv[1], "hostile") == 0) return hostile(first, n);
    if (argc > 1 && strcmp(argv[1], "example") == 0) return example();
    if (argc > 2 && strcmp(argv[1], "cases") == 0) return cases(argv[2]);
    if (argc > 2 && strcmp(argv[1], "cost") == 0) return cost(0, 0, first), cost(1, 0, first), cost(0, 1, first), cost(1, 1, first);
    must("expected sessions FIRST COUNT [PEERS], text SEED PEERS, files SEED PEERS DIR, sync TICKS PEERS, hostile SEED PACKETS, cost TICKS, cases DIR, or example");
    return 2;
}
