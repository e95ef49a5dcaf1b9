/* SPDX-License-Identifier: MIT-0
   Copyright 2026 The desynctool authors */
/* A peer of the game of c/skirmish.c with a flight recorder. A test is its network: it gives commands on stdin, one a line.

       peer COUNT SELF SEED TICK SYSTEM KIND MARKED ROLLBACK

   COUNT peers, of which this is number SELF; with COUNT 0 the game plays without a recorder. In tick TICK, after system
   number SYSTEM, a mistake is made: see `mistake`. A table next to the game's own has a column of each type.

       play            plays a tick
       step            plays a system of a tick
       guess N         with ROLLBACK: plays N ticks without orders, and goes back
       receive FROM HEX
       send MS         answers with the recorder's status and all packets, each as TO:HEX
       report, text    as hex
       snap            the state as a .snap, as hex
       load PEER       loads the state of a peer by the report, and goes on; "-" and the state, or why not
       files DIR       writes what is left

   Each command but `receive` is answered with one line. PEER_BUDGET in the environment is the recorder's budget; with
   PEER_UNSIZED a peer in another language keeps no more of a name than of other texts. */
#define main skirmish_main
#include "../c/skirmish.c"
#undef main
#include "desynctool_flight.h"

enum { ROWS = 8, COLUMNS = 16, TICK_SYSTEMS = 5 };

typedef struct { /* a row with a value of each type */
    uint64_t key, key2, u64, ref;
    int64_t i64, fixed;
    double f64;
    float f32;
    int32_t i32;
    uint32_t u32;
    int16_t i16;
    uint16_t u16;
    int8_t i8;
    uint8_t u8, flag, alive, has;
    char name[100], text_of[52];
    uint8_t bytes_of[52];
    desync_bytes text, bytes;
} sample;

typedef struct { state game; sample samples[ROWS]; } all;

static game g;
static sample samples[ROWS];
static desync_column sample_columns[COLUMNS];
static desync_table tables[TYPES + 3];
static desync_world everything;
static desync_flight *recorder;
static uint64_t seed, point, ids[UNITS];
static struct { uint64_t tick; int system, kind; } planted;
static int rollback, marked;
static desync_order orders[2];
static command commands[2];
static desync_buffer out;

/* The values of a row, by a number. */
static void make(sample *s, uint64_t v) {
    uint64_t w[COLUMNS];
    size_t i, n;
    for (i = 0; i < COLUMNS; i++) w[i] = v * (2 * i + 3), w[i] ^= w[i] >> 29;
    memset(s, 0, sizeof *s);
    s->key = (uint64_t)(s - samples) / 2 + 1, s->key2 = (uint64_t)(s - samples) % 2;
    s->alive = (v >> 50) % 8 != 0, s->has = (v >> 40) % 4 != 0;
    s->flag = w[0] & 1, s->i8 = (int8_t)w[1], s->i16 = (int16_t)w[2], s->i32 = (int32_t)w[3], s->i64 = (int64_t)w[4];
    s->u8 = (uint8_t)w[5], s->u16 = (uint16_t)w[6], s->u32 = (uint32_t)w[7], s->u64 = w[8];
    s->f32 = (float)(int16_t)w[9] / 8, s->f64 = (double)(int32_t)w[10] / 16, s->fixed = (int32_t)w[11];
    s->ref = w[14] % 1000;
    s->text.data = s->text_of, s->text.len = (size_t)((w[12] >> 8) % 50);
    for (i = 0; i < s->text.len; i++) s->text_of[i] = (char)('a' + (i + w[12] % 1000) % 26);
    s->bytes.data = s->bytes_of, s->bytes.len = (size_t)((w[13] >> 8) % 50);
    for (i = 0; i < s->bytes.len; i++) s->bytes_of[i] = (uint8_t)(w[13] + 7 * i);
    n = (size_t)((w[15] >> 8) % 90);
    for (i = 0; i < n; i++) s->name[i] = (char)('A' + (i + w[15] % 1000) % 26);
}

static uint64_t number_of(uint64_t tick) { return (seed + tick) * 6364136223846793005u + 1442695040888963407u; }

static void describe_all(void) {
    sample *s = samples;
    const desync_column of[COLUMNS] = {
        COLUMN("All", "bool", DESYNC_BOOL, &s->flag), COLUMN("All", "i8", DESYNC_I8, &s->i8), COLUMN("All", "i16", DESYNC_I16, &s->i16),
        COLUMN("All", "i32", DESYNC_I32, &s->i32), COLUMN("All", "i64", DESYNC_I64, &s->i64), COLUMN("All", "u8", DESYNC_U8, &s->u8),
        COLUMN("All", "u16", DESYNC_U16, &s->u16), COLUMN("All", "u32", DESYNC_U32, &s->u32), COLUMN("All", "u64", DESYNC_U64, &s->u64),
        COLUMN("All", "f32", DESYNC_F32, &s->f32), COLUMN("All", "f64", DESYNC_F64, &s->f64),
        {.component = "All", .field = "fixed", .type = DESYNC_FIXED, .scale = 1000, .data = &s->fixed},
        COLUMN("All", "ref", DESYNC_REF, &s->ref), COLUMN("Text", "text", DESYNC_STRING, &s->text), COLUMN("Text", "bytes", DESYNC_BYTES, &s->bytes),
        {.component = "Text", .field = "name", .type = DESYNC_STRING, .data = s->name, .size = sizeof s->name}};
    size_t i;
    memcpy(sample_columns, of, sizeof of);
    for (i = 0; i < 13; i += 2) sample_columns[i].present = &s->has; /* the others have a value in each row */
    memcpy(tables, g.tables, sizeof g.tables);
    tables[TYPES + 2] = (desync_table){.label = "Sample", .slots = ROWS, .stride = sizeof *s, .alive = &s->alive, .key = &s->key, .key2 = &s->key2,
                                       .columns = sample_columns, .column_count = COLUMNS};
    everything = (desync_world){.rng = g.world.rng, .rng_size = g.world.rng_size, .tables = tables, .table_count = TYPES + 3};
}

/* The orders of a tick are the same on all peers: they depend on the seed and the tick. */
static size_t ordered_in(uint64_t tick) {
    uint64_t rng = seed * 31 + tick * 7919;
    size_t n;
    for (n = 0; n < 2; n++) {
        uint64_t id = ids[draw(&rng, 32)], at = ids[draw(&rng, 32)];
        uint32_t dice = draw(&rng, 8), x = draw(&rng, SIDE * CELL), y = draw(&rng, SIDE * CELL);
        commands[n] = (command){id, at, x, y};
        orders[n] = (desync_order){(uint32_t)n * 1000, (uint32_t)n, (uint32_t)tick, dice < 4 ? MOVE : dice < 7 ? ATTACK : STOP, (const uint8_t *)&commands[n], sizeof *commands};
    }
    return n;
}

static void mistake(uint64_t tick, int system) {
    size_t from = (size_t)(seed % UNITS), i;
    unit *u = NULL;
    if (tick != planted.tick || system != planted.system || planted.kind < 2) return; /* 1: skirmish's own, from the tick on */
    for (i = 0; i < UNITS && !u; i++)
        if (g.s.units[(from + i) % UNITS].alive) u = &g.s.units[(from + i) % UNITS];
    switch (u ? planted.kind : 0) {
    case 2: u->health++; break;
    case 3: u->alive = 0, g.s.grid[cell(u)]--; break;
    case 4: draw(&g.s.rng, 2); break;
    case 5: for (i = 0; i < UNITS; i++) g.s.units[i].cooldown++; break;
    case 6: u->targeted = !u->targeted, u->target = u->targeted ? 1 : 0; break;
    case 7: spawn(&g.s, INFANTRY, 0); break;
    case 8: g.s.kills[1]++; break;
    case 9: make(&samples[seed % ROWS], number_of(tick) + 1); break;
    }
    for (i = 0; i < TYPES + 3 && recorder; i++) desync_flight_touch(recorder, i);
    if (recorder) desync_flight_touch(recorder, SIZE_MAX);
}

static void before(uint64_t tick, size_t n) {
    if (recorder) must(desync_flight_tick(recorder, tick, orders, n));
    begin(&g, tick, orders, n);
}

/* Plays the next system of a tick. Returns whether there are more. */
static int system_of(uint64_t tick) {
    int number = g.system, more;
    const char *name = next(&g, &more);
    if (!more) make(&samples[tick % ROWS], number_of(tick));
    mistake(tick, number);
    if (!recorder) return more;
    desync_flight_touch(recorder, INFANTRY), desync_flight_touch(recorder, TANK);
    if (number == 3) desync_flight_touch(recorder, TYPES), desync_flight_touch(recorder, SIZE_MAX);
    if (number == 4) desync_flight_touch(recorder, TYPES + 2), desync_flight_touch(recorder, SIZE_MAX);
    must(desync_flight_system(recorder, name));
    return more;
}

static void play(uint64_t tick, size_t n) {
    before(tick, n);
    while (system_of(tick)) {
    }
    if (recorder) must(desync_flight_state(recorder, tick + 1));
}

static void guess(uint64_t n) {
    all saved;
    uint64_t i, kind = (uint64_t)planted.kind;
    saved.game = g.s, memcpy(saved.samples, samples, sizeof samples);
    planted.kind = 0;
    for (i = 0; i < n; i++) play(point + i, 0);
    planted.kind = (int)kind;
    must(desync_flight_rollback(recorder, point));
    g.s = saved.game, memcpy(samples, saved.samples, sizeof samples);
}

static size_t place_of(void *user, const desync_table *t, uint64_t key, uint64_t key2) {
    (void)user;
    return t == &tables[TYPES + 2] ? (size_t)((key - 1) * 2 + key2) : (size_t)(key % UNITS) - SLOTS * (size_t)(t - tables);
}

static const char *loads(size_t peer) {
    desync_buffer b = {NULL, 0, 0, 0};
    desync_snap from;
    size_t i;
    const char *err = desync_flight_snapshot(recorder, peer, &b);
    if (err) return desync_free(&b), err;
    must(desync_snap_read(&from, b.data, b.len));
    must(desync_fill(&everything, &from, place_of, NULL));
    for (i = 0; i < ROWS; i++) {
        sample *s = &samples[i];
        if (!s->alive) continue;
        memcpy(s->text_of, s->text.data, s->text.len), s->text.data = s->text_of;
        memcpy(s->bytes_of, s->bytes.data, s->bytes.len), s->bytes.data = s->bytes_of;
    }
    count(&g.s, g.s.grid);
    point = from.at.tick;
    desync_snap_free(&from), desync_free(&b);
    desync_flight_resume(recorder);
    must(desync_flight_state(recorder, point));
    return NULL;
}

static void hex(const void *data, size_t n) {
    const uint8_t *p = data;
    char two[3];
    for (; n > 0; n--, p++) snprintf(two, sizeof two, "%02x", *p), desync_append(&out, two, 2);
}

static void snap(void) {
    desync_buffer b = {NULL, 0, 0, 0};
    const desync_point at = {.seed = seed, .tick = point};
    must(desync_snapshot(&everything, &at, &b));
    hex(b.data, b.len);
    desync_free(&b);
}

static void sends(uint64_t now) {
    uint8_t packet[DESYNC_FLIGHT_PACKET];
    char text[32];
    size_t n, to;
    desync_append(&out, text, (size_t)snprintf(text, sizeof text, "%d", desync_flight_status(recorder)));
    while ((n = desync_flight_send(recorder, now, &to, packet)) > 0) {
        desync_append(&out, text, (size_t)snprintf(text, sizeof text, " %u:", (unsigned)to));
        hex(packet, n);
    }
}

static void receives(const char *given) {
    uint8_t packet[DESYNC_FLIGHT_PACKET + 8];
    char *at;
    size_t from = (size_t)strtoull(given, &at, 10), n = 0;
    unsigned byte;
    for (at++; n < sizeof packet && sscanf(at, "%2x", &byte) == 1; at += 2) packet[n++] = (uint8_t)byte;
    desync_flight_receive(recorder, from, packet, n);
}

static void answer(const char *line) {
    const char *space = strchr(line, ' '), *given = space ? space + 1 : "", *err = NULL;
    size_t name = space ? (size_t)(space - line) : strlen(line), n = 0;
    const uint8_t *report = recorder ? desync_flight_report(recorder, &n) : NULL;
    char text[300000];
#define IS(word) (name == strlen(word) && memcmp(line, word, name) == 0)
    if (IS("receive")) {
        receives(given);
        return;
    }
    if (IS("play")) {
        play(point, ordered_in(point)), point++;
        if (rollback) must(desync_flight_confirm(recorder, point));
    } else if (IS("step")) {
        if (g.system == 0 || g.system == TICK_SYSTEMS) before(point, ordered_in(point));
        desync_append(&out, systems[g.system].name, strlen(systems[g.system].name));
        if (!system_of(point)) point++;
    } else if (IS("guess")) {
        guess(strtoull(given, NULL, 10));
    } else if (IS("send")) {
        sends(strtoull(given, NULL, 10));
    } else if (IS("report")) {
        hex(report, n);
    } else if (IS("text")) {
        hex(text, desync_flight_text(recorder, text, sizeof text));
    } else if (IS("snap")) {
        snap();
    } else if (IS("load")) {
        err = loads((size_t)strtoull(given, NULL, 10));
        if (!err) desync_append(&out, "- ", 2), snap();
    } else if (IS("files")) {
        err = desync_flight_files(recorder, given);
    } else {
        must("an unknown command");
    }
    if (err) desync_append(&out, err, strlen(err));
    desync_append(&out, "\n", 1);
    fwrite(out.data, 1, out.len, stdout);
    fflush(stdout);
    out.len = 0;
}

int main(int argc, char **argv) {
    static const char *const names[] = {"peer0", "peer1", "peer2", "peer3"};
    static char line[1 << 16];
    const char *err;
    size_t i, n = 0;
    desync_header h = {0};
    uint64_t a[8];
    if (argc != 9) must("expected COUNT SELF SEED TICK SYSTEM KIND MARKED ROLLBACK");
    for (i = 0; i < 8; i++) a[i] = strtoull(argv[i + 1], NULL, 10);
    seed = h.seed = a[2], planted.tick = a[3], planted.system = (int)a[4], planted.kind = (int)a[5], marked = (int)a[6], rollback = (int)a[7];
    g.fault = planted.kind == 1 ? planted.tick : UINT64_MAX;
    must(start(&g, &h));
    for (i = 0; i < UNITS; i++)
        if (g.s.units[i].alive) ids[n++] = g.s.units[i].id;
    for (i = 0; i < ROWS; i++) make(&samples[i], number_of(i + 1000));
    describe_all();
    if (a[0]) {
        const char *budget = getenv("PEER_BUDGET");
        const desync_flight_options o = {.budget = budget ? (size_t)strtoull(budget, NULL, 10) : 0, .seed = seed, .build = "1.0", .world = &everything, .peers = names, .peer_count = (size_t)a[0], .self = (size_t)a[1],
                                         .kinds = kinds, .kind_count = 3, .marked = marked, .rollback = rollback};
        recorder = desync_flight_open(&o, &err);
        must(err);
        must(desync_flight_state(recorder, 0));
    }
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        answer(line);
    }
    desync_flight_close(recorder);
    desync_free(&out);
    return 0;
}
