/* SPDX-License-Identifier: MIT-0
   Copyright 2026 The desynctool authors */
#define DESYNCTOOL_IMPLEMENTATION
#include "desynctool.h"
#include "desynctool_flight.h"
#include "game.h"
#include "state.h"

static sim sims[2];
static desync_flight *flights[2];

static void network(uint64_t ms) { /* the game's own: here the packets of each peer go straight to the other */
    uint8_t packet[DESYNC_FLIGHT_PACKET];
    size_t to, n;
    for (int me = 0; me < 2; me++)
        while ((n = desync_flight_send(flights[me], ms, &to, packet)) > 0) desync_flight_receive(flights[to], (size_t)me, packet, n);
}

int main(int argc, char **argv) {
    static char text[4000];
    const char *err;
    for (int me = 0; me < 2; me++) {
        begin(&sims[me].g, 7), describe(&sims[me]);
        const desync_flight_options o = {.seed = 7, .build = "1.0", .world = &sims[me].world, .peers = names, .peer_count = 2, .self = (size_t)me,
                                         .kinds = kinds, .kind_count = 1};
        flights[me] = desync_flight_open(&o, &err), must(err);
        must(desync_flight_state(flights[me], 0));
    }
    for (uint64_t tick = 0; tick < TICKS; tick++) {
        desync_order order;
        size_t n = script(tick, &order);
        for (int me = 0; me < 2; me++) {
            must(desync_flight_tick(flights[me], tick, &order, n));
            obey(&sims[me].g, &order, n), must(desync_flight_system(flights[me], "Orders"));
            wind(&sims[me].g, me == 1 && tick >= MISTAKE), must(desync_flight_system(flights[me], "Wind"));
            roll(&sims[me].g), must(desync_flight_system(flights[me], "Roll"));
            must(desync_flight_state(flights[me], tick + 1));
        }
        network(tick * 33);
    }
    for (int me = 0; me < 2; me++) {
        if (desync_flight_status(flights[me]) == DESYNC_FLIGHT_FOUND) {
            desync_flight_text(flights[me], text, sizeof text);
            if (!me) fputs(text, stdout); /* the other peer has the same text */
            if (!me && argc > 1) must(desync_flight_files(flights[me], argv[1]));
        }
        desync_flight_close(flights[me]);
    }
    return 0;
}
