/* SPDX-License-Identifier: MIT-0
   Copyright 2026 The desynctool authors */
/* The state as tables of columns, which point into the game's own memory. */
typedef struct { game g; desync_column columns[2]; desync_table table; desync_world world; } sim;
static void describe(sim *s) {
    s->columns[0] = (desync_column){.component = "Cart", .field = "x", .type = DESYNC_FIXED, .scale = 256, .data = &s->g.carts[0].x};
    s->columns[1] = (desync_column){.component = "Cart", .field = "speed", .type = DESYNC_FIXED, .scale = 256, .data = &s->g.carts[0].speed};
    s->table = (desync_table){.label = "Cart", .slots = CARTS, .stride = sizeof(cart), .key = &s->g.carts[0].id, .columns = s->columns, .column_count = 2};
    s->world = (desync_world){.rng = &s->g.rng, .rng_size = sizeof s->g.rng, .tables = &s->table, .table_count = 1};
}
