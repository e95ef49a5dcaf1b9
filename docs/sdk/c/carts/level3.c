/* SPDX-License-Identifier: MIT-0
   Copyright 2026 The desynctool authors */
#define DESYNCTOOL_IMPLEMENTATION
#include "desynctool.h"
#include "game.h"
#include "state.h"

static sim sims[2];
static desync_recorder files[2];

int main(int argc, char **argv) { /* both peers, so that they learn of a difference at once */
    static const desync_param facts[] = {{"os", "Debian 12"}, {"compiler", "gcc 12"}};
    int diverged = 0;
    for (int me = 0; me < 2 && argc > 1; me++) {
        desync_header h = session(me);
        begin(&sims[me].g, h.seed), describe(&sims[me]);
        must(desync_recorder_open(&files[me], argv[1], &h, &sims[me].world, DESYNC_BY_ARCHETYPE));
        desync_recorder_facts(&files[me], facts, 2);
    }
    for (uint64_t tick = 0; argc > 1; tick++) {
        desync_order order;
        size_t n = script(tick, &order);
        for (int me = 0; me < 2; me++) must(desync_recorder_state(&files[me], tick, &sims[me].world));
        if (!diverged && memcmp(files[0].root, files[1].root, 32) != 0) /* what peers send each other, or its first 8 bytes */
            for (int me = diverged = 1; me >= 0; me--) must(desync_recorder_snapshot(&files[me], &sims[me].world));
        if (tick == TICKS) break;
        for (int me = 0; me < 2; me++) {
            must(desync_recorder_tick(&files[me], tick, &order, n));
            obey(&sims[me].g, &order, n);
            must(desync_recorder_system(&files[me], "Orders", &sims[me].world));
            wind(&sims[me].g, me == 1 && tick >= MISTAKE);
            must(desync_recorder_system(&files[me], "Wind", &sims[me].world));
            roll(&sims[me].g);
            must(desync_recorder_system(&files[me], "Movement", &sims[me].world));
        }
    }
    for (int me = 0; me < 2 && argc > 1; me++) must(desync_recorder_close(&files[me]));
    return 0;
}
