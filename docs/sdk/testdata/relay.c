/* SPDX-License-Identifier: MIT-0
   Copyright 2026 The desynctool authors */
/* A relay without a game, which a test tells what to do in lines on stdin: relay COUNT SEED

       receive FROM HEX
       send MS         answers with the next packet as TO:HEX, or nothing
       report, text    as hex
       resume

   Each command but `receive` is answered with one line. */
#define DESYNCTOOL_IMPLEMENTATION
#include "desynctool.h"
#include "desynctool_flight.h"

static void must(const char *err) {
    if (!err) return;
    fprintf(stderr, "%s\n", err);
    exit(1);
}

static void hex(const uint8_t *p, size_t n) {
    for (; n > 0; n--, p++) printf("%02x", *p);
}

static void receives(desync_flight *f, const char *given) {
    uint8_t packet[DESYNC_FLIGHT_PACKET + 8], *own;
    char *at;
    size_t from = (size_t)strtoull(given, &at, 10), n = 0;
    unsigned byte;
    for (at++; n < sizeof packet && sscanf(at, "%2x", &byte) == 1; at += 2) packet[n++] = (uint8_t)byte;
    own = (uint8_t *)malloc(n + 1); /* so that a sanitizer sees its end */
    if (!own) must("out of memory");
    memcpy(own, packet, n);
    desync_flight_receive(f, from, own, n);
    free(own);
}

int main(int argc, char **argv) {
    static const char *const names[] = {"peer0", "peer1", "peer2", "peer3"};
    static char line[1 << 12], text[300000];
    desync_flight_options o = {0};
    desync_flight *f;
    const char *err;
    uint8_t packet[DESYNC_FLIGHT_PACKET];
    size_t n, to;
    if (argc != 3) must("expected COUNT SEED");
    o.peer_count = (size_t)strtoull(argv[1], NULL, 10), o.seed = strtoull(argv[2], NULL, 10), o.peers = names;
    f = desync_flight_relay(&o, &err);
    must(err);
    if (!desync_flight_tick(f, 0, NULL, 0) || !desync_flight_state(f, 0) || !desync_flight_system(f, "Move")) must("a relay has recorded something");
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "receive ", 8) == 0) {
            receives(f, line + 8);
            continue;
        }
        if (strncmp(line, "send ", 5) == 0) {
            n = desync_flight_send(f, strtoull(line + 5, NULL, 10), &to, packet);
            if (n) printf("%u:", (unsigned)to), hex(packet, n);
        } else if (strcmp(line, "report") == 0) {
            const uint8_t *report = desync_flight_report(f, &n);
            hex(report, n);
        } else if (strcmp(line, "text") == 0) {
            n = desync_flight_text(f, text, sizeof text);
            hex((const uint8_t *)text, n);
        } else if (strcmp(line, "resume") == 0) {
            desync_flight_touch(f, 0);
            desync_flight_resume(f);
        } else {
            must("an unknown command");
        }
        printf("\n");
        fflush(stdout);
    }
    desync_flight_close(f);
    return 0;
}
