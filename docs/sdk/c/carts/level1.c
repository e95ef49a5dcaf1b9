/* SPDX-License-Identifier: MIT-0
   Copyright 2026 The desynctool authors */
#define DESYNCTOOL_IMPLEMENTATION
#include "desynctool.h"
#include "game.h"

static uint64_t checksum(const game *g) { /* field by field: what pads a struct is not the game's */
    uint64_t h = g->rng;
    for (const cart *c = g->carts; c < g->carts + CARTS; c++)
        h = (h ^ (uint64_t)c->x) * 1099511628211u, h = (h ^ (uint64_t)c->speed) * 1099511628211u;
    return h;
}

int main(int argc, char **argv) { /* DIR/host and DIR/client are there */
    for (int me = 0; me < 2 && argc > 1; me++) {
        char path[4096];
        game g;
        desync_log log;
        desync_header h = session(me);
        snprintf(path, sizeof path, "%s/%s/order-log.bin", argv[1], names[me]);
        must(desync_log_open(&log, path, &h));
        begin(&g, h.seed);
        for (uint64_t tick = 0;; tick++) {
            desync_order order;
            size_t n = script(tick, &order);
            uint64_t sum = checksum(&g);
            must(desync_log_checksum(&log, tick, &sum, sizeof sum)); /* of the state before the tick */
            if (tick == TICKS) break;
            must(desync_log_tick(&log, tick, &order, n)); /* before it is played: a crash is in the log */
            obey(&g, &order, n), wind(&g, me == 1 && tick >= MISTAKE), roll(&g);
        }
        must(desync_log_close(&log));
    }
    return 0;
}
