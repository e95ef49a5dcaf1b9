/* SPDX-License-Identifier: MIT-0
   Copyright 2026 The desynctool authors */
/* A target of libFuzzer: of three peers of the game of flight.c two have different states since tick 4, and the third sends
   what the input says. Each step has four bytes: what to do, a kind, a number, and how many bytes follow. Checksums are right. */
#define FLIGHT_UNITS 30
#define main flight_main
#include "flight.c"
#undef main

static uint8_t last[2][DESYNC_FLIGHT_PACKET]; /* to the third peer */
static size_t sizes[2];
static uint64_t played;

static void passes(uint64_t now) {
    static const plant planted = {4, 1, 2, 3, 1, 0};
    uint8_t packet[DESYNC_FLIGHT_PACKET];
    size_t to, n;
    for (size_t i = 0; i < 2; i++) {
        if (played < 60) play(&peers[i], played, &planted, i == 1, 1);
        for (int most = 0; most < 200 && (n = desync_flight_send(peers[i].f, now, &to, packet)) > 0; most++) {
            if (to < 2) desync_flight_receive(peers[to].f, i, packet, n);
            else memcpy(last[i], packet, n), sizes[i] = n;
        }
    }
    if (played < 60) played++;
}

static void starts(void) {
    if (!peers[0].f) begin(3, 1, 0, (size_t)1 << 20);
    for (size_t i = 0; i < 2; i++) { /* as after a load: opening takes longer than all else */
        desync_flight_resume(peers[i].f);
        peers[i].f->now = 1, peers[i].s = peers[2].s, sizes[i] = 0;
        must(desync_flight_state(peers[i].f, 0));
    }
    for (played = 0; played < 24;) passes(played * 16); /* the search has begun */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint64_t now = 24 * 16;
    starts();
    while (size >= 4) {
        uint8_t packet[DESYNC_FLIGHT_PACKET + 4], what = data[0], kind = data[1] % 8, id = data[2];
        size_t of = what >> 1 & 1, n = data[3], k;
        desync_flight *f = peers[of].f;
        desync__fwriter w;
        data += 4, size -= 4;
        if (n > size) n = size;
        if (what & 1) now += what * 8u, passes(now);
        w = desync__fpacket(f, packet, kind, (what & 32) && sizes[of] ? desync__get32(last[of] + 16) : id);
        if ((what & 4) && sizes[of]) desync__fwrite(&w, last[of] + 20, sizes[of] - 24); /* what it was sent, as any kind */
        for (k = 0; k < 1u + (what >> 6); k++) desync__fwrite(&w, data, n);
        data += n, size -= n;
        desync_flight_receive(f, 2, packet, desync__fsealed(&w, packet));
        if (desync_flight_status(f) == DESYNC_FLIGHT_FOUND) {
            char text[3000];
            desync_buffer b = {NULL, 0, 0, 0};
            desync_flight_text(f, text, sizeof text);
            if (desync_flight_snapshot(f, 2, &b)) b.len = 0;
            desync_free(&b);
        }
    }
    return 0;
}
