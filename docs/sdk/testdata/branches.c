/* SPDX-License-Identifier: MIT-0
   Copyright 2026 The desynctool authors */
/* A small game whose builds differ by one mistake, -DFAULT=N: a test looks for the line of "FAULT N".
   The build without a mistake has FAULT 0. Mistakes from 20 on are flags of the compiler, for the same source. The files of the
   SDK are compiled apart, without instrumentation. */
#include "../c/desynctool.h"
#include "../c/desynctool_branches.h"
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#ifndef FAULT
#define FAULT 0
#endif
#define FROM 40 /* the tick from which the mistake shows */

enum { UNITS = 64 };
typedef struct { uint32_t id, alive; int32_t x, y, hp, target, rank; } unit;
typedef struct { uint32_t tick, rng; unit units[UNITS]; } state;
static state s;
static desync_world world;

static uint32_t draw(uint32_t n) {
    s.rng = s.rng * 1664525u + 1013904223u;
    return (s.rng >> 8) % n;
}

static inline int late(void) { return s.tick >= FROM; }

static inline unsigned entropy(void) {
    static unsigned n;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return n = n * 31 + (unsigned)now.tv_nsec / 7;
}

/* With fused multiplication the second product is not rounded. */
__attribute__((noinline)) static float product(float a, float b) { return a * b; }
static float fma_or_not(float a, float b) { return a * b - product(a, b); }

static int distance(const unit *a, const unit *b) {
    int dx = a->x - b->x, dy = a->y - b->y;
    return (dx < 0 ? -dx : dx) + (dy < 0 ? -dy : dy);
}

static int reach(void) {
#if FAULT == 1
    return late() ? 41 : 40; /* FAULT 1: a constant */
#else
    return 40;
#endif
}

static void apply_damage(unit *u, unit *t) {
    int d = distance(u, t), most = reach();
#if FAULT == 2
    if (late() ? d <= 30 : d < 30) { /* FAULT 2: an off-by-one */
#else
    if (d < 30) { /* SOUND 2: */
#endif
        t->hp -= 3; /* SOUND 2: */
    } else if (d < most) { /* SOUND 2: SOUND 1: */
        t->hp -= 1; /* SOUND 2: SOUND 1: */
    }
    if (t->hp <= 0) {
        t->hp += 100;
        t->x = (int)draw(100);
    }
}

/* Values from a file: as text, with a point. */
static double parsed(const char *text) {
    char *end;
    double v = strtod(text, &end);
    if (*end) return v - 1; /* FAULT 7: the locale's decimal point */
    return v;
}

/* Whom a unit hears first depends on the number of buckets. */
static int nearest(int i) {
#if FAULT == 8
    int buckets = late() ? 13 : 16; /* FAULT 8: the order of a hash table */
#else
    int buckets = 16;
#endif
    int b, k, best = -1;
    for (b = 0; b < buckets; b++)
        for (k = b; k < UNITS; k += buckets)
            if (k != i && s.units[k].hp > 60 && best < 0) best = k; /* FAULT 8: SOUND 8: */
    return best;
}

#if FAULT == 9
static volatile int shared, started;
static void *hurry(void *unused) {
    int i, had;
    (void)unused;
    __atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&started, __ATOMIC_SEQ_CST) < 2) sched_yield();
    for (i = 0; i < 100; i++) had = shared, sched_yield(), shared = had + 1;
    return NULL;
}
static int raced(void) {
    pthread_t one, two;
    shared = started = 0;
    pthread_create(&one, NULL, hurry, NULL), pthread_create(&two, NULL, hurry, NULL);
    pthread_join(one, NULL), pthread_join(two, NULL);
    return shared;
}
#endif

__attribute__((noinline)) static void used_stack(void) {
    volatile int old[64];
    int i;
    for (i = 0; i < 64; i++) old[i] = 7;
}

__attribute__((noinline)) static int bonus_of(const unit *u) {
#if FAULT == 10
    volatile int bonus[32]; /* FAULT 10: it has no value for some */
    if (!late() || u->rank % 3) bonus[20] = 0; /* FAULT 10: */
#else
    volatile int bonus[32];
    (void)u;
    bonus[20] = 0;
#endif
    return bonus[20];
}

#ifdef THREADS /* two threads, each with the units of one half */
static void *heal(void *which) {
    int part = (int)(intptr_t)which, i;
    desync_branches_thread((uint32_t)part + 1);
    for (i = part * (UNITS / 2); i < (part + 1) * (UNITS / 2); i++) {
        unit *u = &s.units[i];
#if FAULT == 12
        if (u->hp < (part && late() ? 95 : 40)) u->hp++; /* FAULT 12: a constant, in one thread */
#else
        if (u->hp < 40) u->hp++; /* SOUND 12: */
#endif
        if (i % 8 == 0) sched_yield();
    }
    desync_branches_thread(DESYNC_BRANCHES_NONE);
    return NULL;
}
static void step_heal(void) {
    pthread_t threads[2];
    intptr_t i;
    for (i = 0; i < 2; i++) pthread_create(&threads[i], NULL, heal, (void *)i);
    for (i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}
#else
static void step_heal(void) {}
#endif

/* What the sound build does from some tick on too. */
static void step_weather(void) {
    int i;
    for (i = 0; i < UNITS; i++) {
        unit *u = &s.units[i];
        char mood = (char)(u->rank * 5);
        if (late() && mood * u->hp < -90) u->y = 0; /* FAULT 20: is a char signed? */
        if (late() && i % 8 == 0 && fma_or_not((float)u->x * 1.1f, (float)u->y * 0.7f) > 0) u->y++; /* FAULT 21: */
        if (late() && i == 5 && parsed("2.5") < 2) u->y++; /* FAULT 7: SOUND 7: */
    }
}

static void step_morale(void) {
    int i;
    for (i = 0; i < UNITS; i++) {
        unit *u = &s.units[i];
        used_stack();
        int bonus = bonus_of(u);
        if (bonus != 0) u->y++; /* FAULT 10: SOUND 10: */
        if (i == 7) u->target = nearest(i) < 0 ? u->target : nearest(i);
#if FAULT == 9
        if (late() && i % 8 == 3 && raced() < 200) u->y = (int)draw(100); /* FAULT 9: a race of two threads */
#endif
#if FAULT == 11
        if (late() && i > 4 && (int16_t)(u->x * 700) < 0) u->y++; /* FAULT 11: a number that is too small for its values */
#endif
    }
    step_weather();
    step_heal();
}

static void step_move(void) {
    int i;
    for (i = 0; i < UNITS; i++) {
        unit *u = &s.units[i];
        const unit *t = &s.units[u->target];
#if FAULT == 3
        if (late() && time(NULL) > 1000) u->y++; /* FAULT 3: a clock */
#endif
#if FAULT == 6
        if (late() && entropy() % 2) u->y++; /* FAULT 6: another number in each run */
#endif
        if (u->x < t->x) u->x++;
        else if (u->x > t->x) u->x--;
        if (draw(4) == 0) u->y = (u->y + 1) % 100;
    }
}

static void step_combat(void) {
    int i;
    for (i = 0; i < UNITS; i++) {
        unit *u = &s.units[i];
        if (u->alive) apply_damage(u, &s.units[u->target]);
    }
}

static void step_orders(void) {
    int i;
    for (i = 0; i < UNITS; i++) {
        unit *u = &s.units[i];
#if FAULT == 4
        if (late() && i == 17) continue; /* FAULT 4: an order that is skipped */
#endif
        if (draw(20) == 0) u->target = (int32_t)draw(UNITS);
    }
}

static int by_rank(const void *a, const void *b) {
    const unit *x = &s.units[*(const int *)a], *y = &s.units[*(const int *)b];
    if (x->hp != y->hp) return x->hp < y->hp ? -1 : 1;
#if FAULT == 5
    if (late()) return x->id > y->id ? -1 : 1; /* FAULT 5: ties the other way */
#endif
    return x->id < y->id ? -1 : 1; /* SOUND 5: */
}

static void step_rank(void) {
    int order[UNITS], i;
    for (i = 0; i < UNITS; i++) order[i] = i;
    qsort(order, UNITS, sizeof *order, by_rank);
    for (i = 0; i < UNITS; i++) s.units[order[i]].rank = i;
}

static void (*const systems[])(void) = {step_orders, step_morale, step_move, step_combat, step_rank};
static const char *const names[] = {"Orders", "Morale", "Move", "Combat", "Rank"};
static size_t at;

static const char *start(void *user, const desync_header *h) {
    int i;
    (void)user;
    memset(&s, 0, sizeof s);
#if FAULT == 7
    if (!setlocale(LC_NUMERIC, "de_DE")) return "the locale de_DE is not there";
#endif
    s.rng = (uint32_t)h->seed;
    for (i = 0; i < UNITS; i++) {
        unit *u = &s.units[i];
        u->id = (uint32_t)i + 1, u->alive = 1, u->hp = 20 + (int)draw(80), u->x = (int)draw(100), u->y = (int)draw(100);
        u->target = (int)draw(UNITS);
    }
    return NULL;
}

static const char *begin(void *user, uint64_t tick, const desync_order *orders, size_t n) {
    (void)user, (void)tick, (void)orders, (void)n;
    at = 0;
    return NULL;
}

static const char *next(void *user, int *more) {
    (void)user;
    systems[at]();
    *more = at + 1 < sizeof systems / sizeof *systems;
    if (!*more) s.tick++;
    return names[at++];
}

static const desync_world *the_world(void *user) { return (void)user, &world; }

#define COLUMN(name, kind, at) {.component = "Unit", .field = name, .type = kind, .data = at}

int main(int argc, char **argv) {
    static desync_column columns[] = {COLUMN("x", DESYNC_I32, &s.units[0].x), COLUMN("y", DESYNC_I32, &s.units[0].y),
                                      COLUMN("hp", DESYNC_I32, &s.units[0].hp), COLUMN("target", DESYNC_I32, &s.units[0].target),
                                      COLUMN("rank", DESYNC_I32, &s.units[0].rank)};
    static desync_table tables[] = {{.label = "Unit", .slots = UNITS, .stride = sizeof(unit), .key = &s.units[0].id, .columns = columns, .column_count = 5}};
    static const desync_target target = {.name = "branches", .build = "1", .start = start, .begin = begin, .next = next, .world = the_world,
                                         .memory = &s, .memory_size = sizeof s, .branches = desync_branches};
    (void)argc, (void)argv;
    world = (desync_world){.rng = &s.rng, .rng_size = sizeof s.rng, .tables = tables, .table_count = 1};
    return desync_serve(&target);
}
