/* SPDX-License-Identifier: MIT-0
   Copyright 2026 The desynctool authors */
/* Eight carts on a line. All that the simulation reads and writes is in `game`, and nothing else. */
#include <stdlib.h>
#include <string.h>
enum { CARTS = 8, TICKS = 120, MISTAKE = 60 }; /* MISTAKE: the first tick in which the client makes its mistake */
typedef struct { uint64_t id; int64_t x, speed; } cart; /* in 1/256 of a pace */
typedef struct { uint64_t rng; cart carts[CARTS]; } game;
static const char *const names[] = {"host", "client"};
static const desync_kind kinds[] = {{"push", 0}};

static void must(const char *err) { if (err) fprintf(stderr, "%s\n", err), exit(2); }
static int64_t draw(game *g, uint32_t n) {
    g->rng = g->rng * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((g->rng >> 33) % n);
}
static void begin(game *g, uint64_t seed) {
    memset(g, 0, sizeof *g);
    g->rng = seed;
    for (uint64_t i = 0; i < CARTS; i++) g->carts[i].id = i + 1;
}
static void obey(game *g, const desync_order *orders, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (orders[i].size == 1) g->carts[orders[i].payload[0] % CARTS].speed += 64;
}
static void wind(game *g, int sparks) {
    cart *c = &g->carts[draw(g, CARTS)]; /* one draw an expression: C leaves open which of two comes first */
    c->speed += draw(g, 16);
    if (sparks) draw(g, 360); /* the mistake: which way sparks fly, from the game's own random numbers */
}
static void roll(game *g) {
    for (cart *c = g->carts; c < g->carts + CARTS; c++) c->x += c->speed, c->speed -= c->speed / 8;
}
static size_t script(uint64_t tick, desync_order *o) { /* the players: one pushes a cart in every fifth tick */
    static uint8_t which;
    which = (uint8_t)(tick * 7 % CARTS);
    *o = (desync_order){0, (uint32_t)(tick / 5 % 2), (uint32_t)tick, 0, &which, 1};
    return tick % 5 == 0;
}
static desync_header session(int me) {
    desync_header h = {.seed = 7, .peer = names[me], .build = "1.0", .rate_num = 30, .rate_den = 1,
                       .kinds = kinds, .kind_count = 1, .peers = names, .peer_count = 2};
    return h;
}
