/* Plays one peer into the folder that is its argument, and prints what it has acknowledged: tests kill it. */
#define DESYNCTOOL_IMPLEMENTATION
#include "../c/desynctool.h"

static void must(const char *err) {
    if (!err) return;
    fprintf(stderr, "killed: %s\n", err);
    exit(1);
}

static void say(const char *what, uint64_t tick) {
    printf("%s %llu\n", what, (unsigned long long)tick);
    fflush(stdout);
}

int main(int argc, char **argv) {
    static const desync_kind kinds[] = {{"move", 0}};
    static const char *const peers[] = {"host", "client"}, *const labels[] = {"Unit"};
    static const uint8_t payload[] = {1, 2, 3};
    static int32_t hp[500];
    static uint64_t rng;
    const desync_column columns[] = {{.component = "Health", .field = "hp", .type = DESYNC_I32, .data = hp}};
    const desync_table tables[] = {{.label = "Unit", .slots = 500, .columns = columns, .column_count = 1}};
    const desync_world w = {.rng = &rng, .rng_size = 8, .tables = tables, .table_count = 1};
    const desync_header h = {.seed = 11, .peer = "client", .build = "1.0", .kinds = kinds, .kind_count = 1, .peers = peers, .peer_count = 2};
    const desync_order orders[] = {{0, 1, 0, 0, payload, 3}, {2, 1, 1, 0, payload, 1}};
    desync_recorder r;
    uint64_t tick;
    if (argc != 2) must("expected a folder");
    must(desync_recorder_open(&r, argv[1], &h, &w, DESYNC_BY_ARCHETYPE));
    for (tick = 0; tick < 200; tick++) {
        must(desync_recorder_state(&r, tick, &w));
        if (tick % 10 == 0) must(desync_recorder_snapshot(&r, &w)), say("snapshot", tick);
        if (tick % 25 == 0) must(desync_recorder_report(&r, &w, 1, labels, 1)), say("report", tick);
        if (tick % 40 == 0) must(desync_recorder_sync(&r));
        must(desync_recorder_tick(&r, tick, orders, tick % 3));
        rng += 77, hp[tick * 7 % 500]++;
        must(desync_recorder_system(&r, "Move", &w));
        say("tick", tick);
    }
    must(desync_recorder_close(&r));
    return 0;
}
