/* SPDX-License-Identifier: MIT-0
   Copyright 2026 The desynctool authors */
#define DESYNCTOOL_IMPLEMENTATION
#include "desynctool.h"
#include "game.h"
#include "state.h"

static sim played;

static const char *start(void *user, const desync_header *h) {
    sim *s = user;
    return begin(&s->g, h->seed), describe(s), NULL;
}
static const char *step(void *user, uint64_t tick, const desync_order *orders, size_t n) {
    game *g = &((sim *)user)->g;
    (void)tick; /* nothing here goes by it */
    return obey(g, orders, n), wind(g, 0), roll(g), NULL;
}
static const desync_world *world(void *user) { return &((sim *)user)->world; }

int main(void) {
    static const desync_target target = {.user = &played, .name = "carts", .build = "1.0", .kinds = kinds, .kind_count = 1, .start = start, .step = step,
                                         .world = world, .memory = &played.g, .memory_size = sizeof played.g};
    return desync_serve(&target);
}
