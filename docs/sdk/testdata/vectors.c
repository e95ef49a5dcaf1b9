/* Writes the examples of docs/snapshot.md, docs/orderlog.md and docs/trace.md, and a state with everything in it, into the
   folder that is its argument. */
#define DESYNCTOOL_IMPLEMENTATION
#include "../c/desynctool.h"

static char path[4096];

static const char *in(const char *dir, const char *name) {
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void must(const char *err) {
    if (!err) return;
    fprintf(stderr, "%s\n", err);
    exit(2);
}

static void unhex(const char *hex, uint8_t *to) {
    for (; *hex; hex += 2) {
        unsigned v;
        sscanf(hex, "%2x", &v);
        *to++ = (uint8_t)v;
    }
}

static void sums(void) {
    uint8_t got[32], want[32];
    desync_sha256 s;
    size_t i;
    unhex("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", want); /* FIPS 180-2: a million times a */
    desync_sha256_begin(&s);
    for (i = 0; i < 1000000; i += 125) {
        uint8_t as[125];
        memset(as, 'a', sizeof as);
        desync_sha256_add(&s, as, 67); /* over the ends of blocks */
        desync_sha256_add(&s, as, 58);
    }
    desync_sha256_end(&s, got);
    if (memcmp(got, want, 32) != 0) must("SHA-256 is wrong");
    if (desync_crc32c(desync_crc32c(0, "1234", 4), "56789", 5) != 0xE3069283) must("CRC-32C is wrong");
}

static void snapshot(const char *dir) {
    static const uint8_t rng[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
    static const uint64_t ids[] = {8, 3}; /* in any order */
    static const int64_t x[] = {-16384, 98304};
    static const int32_t hp[] = {0, 75};
    static const uint8_t has_hp[] = {0, 1};
    const desync_column columns[] = {
        {.component = "Position", .field = "x", .type = DESYNC_FIXED, .scale = 65536, .data = x},
        {.component = "Health", .field = "hp", .type = DESYNC_I32, .data = hp, .present = has_hp}};
    const desync_table table = {.label = "Infantry", .slots = 2, .key = ids, .columns = columns, .column_count = 2};
    const desync_world w = {.rng = rng, .rng_size = sizeof rng, .tables = &table, .table_count = 1};
    const desync_point at = {.seed = 7, .tick = 1242, .peer = "host"};
    must(desync_snapshot_file(&w, &at, dir));
}

static desync_buffer bytes_of(const desync_world *w, const desync_point *at) {
    desync_buffer b = {NULL, 0, 0, 0};
    must(desync_snapshot(w, at, &b));
    return b;
}

/* What was written is read as the same, and fills the memory that it was written from. */
static void read_back(const desync_world *w, const char *file, void *memory, size_t size) {
    desync_snap s;
    desync_buffer first, again;
    uint8_t root[32];
    must(desync_snap_open(&s, file));
    if (s.at.seed != 99 || s.at.tick != 5 || strcmp(s.at.phase, "after-orders") != 0 || strcmp(s.at.native, "frame 9") != 0 ||
        strcmp(s.at.peer, "host") != 0 || s.at.epoch != 2 || s.at.history[2] != 3 || s.at.property_count != 2 ||
        strcmp(s.at.properties[0].value, "1.0") != 0)
        must("a point is read as another one");
    first = bytes_of(w, &s.at);
    again = bytes_of(&s.world, &s.at);
    if (first.len != again.len || memcmp(first.data, again.data, first.len) != 0) must("a state is read as another one");
    memset(memory, 0x55, size);
    must(desync_fill(w, &s, NULL, NULL));
    must(desync_state_hash(w, root));
    if (memcmp(root, s.root, 32) != 0) must("a state that was filled in is another one");
    desync_free(&first);
    desync_free(&again);
    desync_snap_free(&s);
    if (!desync_snap_open(&s, "/dev/null/none") || s.kept || s.file) must("a file that is not there is read");
}

typedef struct { /* the memory of a game with one table */
    uint64_t rng;
    uint16_t key[4];
    uint8_t alive[4], has[4];
    int32_t hp[4];
    char name[4][6];
    uint8_t blob[4][3];
} memory;

static size_t backwards(void *user, const desync_table *t, uint64_t key, uint64_t key2) {
    (void)user, (void)t, (void)key2;
    return key % 7 == 0 ? SIZE_MAX : key % 7 == 6 ? 0 : 4 - (size_t)(key % 7);
}

/* A state that does not fit the description is refused, and nothing is written. */
static void misfits(void) {
    static memory from = {7, {1, 2, 3}, {1, 1, 1}, {1, 0, 1}, {10, 0, 30}, {"one", "two", "three!"}, {{1, 2, 3}}};
    static memory to, before;
    const desync_column columns[] = {{.component = "A", .field = "hp", .type = DESYNC_I32, .data = from.hp, .present = from.has},
                                     {.component = "A", .field = "name", .type = DESYNC_STRING, .data = from.name, .size = 6},
                                     {.component = "A", .field = "blob", .type = DESYNC_BYTES, .data = from.blob, .size = 3}};
    const desync_table table = {.label = "T", .slots = 4, .alive = from.alive, .key = from.key, .key_size = 2, .columns = columns, .column_count = 3};
    const desync_world w = {.rng = &from.rng, .rng_size = 8, .tables = &table, .table_count = 1};
    const desync_point at = {.seed = 1};
    int bad;
    for (bad = 0; bad <= 18; bad++) {
        desync_column c[3] = {columns[0], columns[1], columns[2]};
        desync_table t[2] = {table, table};
        desync_world v = {.rng = &to.rng, .rng_size = 8, .tables = t, .table_count = 1};
        desync_buffer b;
        desync_snap s;
        const char *err;
        c[0].data = to.hp, c[0].present = to.has, c[1].data = to.name, c[2].data = to.blob;
        t[0].columns = c, t[0].key = to.key, t[0].alive = to.alive;
        t[1].label = "U";
        switch (bad) {
        case 1: c[0].type = DESYNC_U32; break;
        case 2: c[0].type = DESYNC_FIXED, c[0].scale = 1; break;
        case 3: c[0].field = "mp"; break;
        case 4: c[0].present = NULL; break;
        case 5: c[1].size = 5; break;
        case 6: c[2].size = 2; break;
        case 7: c[2].size = 4; break;
        case 8: t[0].column_count = 2; break;
        case 9: t[0].slots = 2; break;
        case 10: t[0].alive = NULL; break;
        case 11: t[0].key2 = to.key; break;
        case 12: t[0].label = "U"; break;
        case 13: v.rng = NULL; break;
        case 14: v.rng_size = 4; break;
        case 15: v.table_count = 2; break;
        case 16: v.table_count = 0; break;
        case 17: from.key[2] = 300, t[0].key_size = 1; break; /* too large */
        case 18: from.key[2] = 9, from.key[3] = 7; break;     /* 2 and 9 take one slot */
        }
        b = bytes_of(&w, &at);
        must(desync_snap_read(&s, b.data, b.len));
        memset(&to, 0x55, sizeof to);
        before = to;
        err = desync_fill(&v, &s, bad == 0 || bad == 18 ? backwards : NULL, NULL);
        if (!err != !bad) must(err ? err : "a state that does not fit is taken");
        if (bad && memcmp(&to, &before, sizeof to) != 0) must("a state that does not fit is written");
        if (!bad && (to.rng != 7 || to.key[3] != 1 || to.hp[3] != 10 || to.alive[0] || !to.alive[2] || to.has[2] || to.hp[2] || !to.has[1] ||
                     strcmp(to.name[3], "one") != 0 || to.blob[3][1] != 2 || memcmp(to.name[1], "three!", 6) != 0 || to.name[0][0]))
            must("values are filled in where they do not belong");
        from.key[2] = 3, from.key[3] = 0;
        desync_snap_free(&s);
        desync_free(&b);
    }
}

/* Names that a snapshot cannot have. */
static void bad_points(void) {
    static char name[1026];
    const desync_world w = {.tables = NULL};
    const desync_param twice[] = {{"a", "1"}, {"b", "2"}, {"a", "3"}}, longer[] = {{name, ""}};
    const desync_point points[] = {{.native = name}, {.peer = name}, {.properties = twice, .property_count = 3},
                                   {.properties = longer, .property_count = 1}, {.properties = longer, .property_count = 4097}};
    desync_buffer b = {NULL, 0, 0, 0};
    size_t i;
    memset(name, 'x', 1025);
    for (i = 0; i < 5; i++)
        if (!desync_snapshot(&w, &points[i], &b)) must("a point that cannot be is written");
    desync_free(&b);
}

/* All types, keys of two parts, several blocks, tables of all classes, a table without rows and one without columns. */
static void everything(const char *dir) {
    enum { N = 20000 };
    typedef struct {
        uint32_t a, b;
        uint8_t flag, alive, has[16];
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64, fixed;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64, ref;
        float f32;
        double f64;
        char name[12];
        desync_bytes blob, text;
    } row;
    row *rows = calloc(N, sizeof *rows);
    static const uint8_t history[32] = {1, 2, 3};
    static const char *const texts[] = {"", "gr\xc3\xbcn", "\xff\"\\\n", "a longer text than most"};
    const desync_column columns[] = {
        {.component = "A", .field = "bool", .type = DESYNC_BOOL, .data = &rows->flag, .present = &rows->has[0]},
        {.component = "A", .field = "i8", .type = DESYNC_I8, .data = &rows->i8, .present = &rows->has[1]},
        {.component = "A", .field = "i16", .type = DESYNC_I16, .data = &rows->i16, .present = &rows->has[2]},
        {.component = "A", .field = "i32", .type = DESYNC_I32, .data = &rows->i32, .present = &rows->has[3]},
        {.component = "A", .field = "i64", .type = DESYNC_I64, .data = &rows->i64, .present = &rows->has[4]},
        {.component = "A", .field = "u8", .type = DESYNC_U8, .data = &rows->u8, .present = &rows->has[5]},
        {.component = "A", .field = "u16", .type = DESYNC_U16, .data = &rows->u16},
        {.component = "A", .field = "u32", .type = DESYNC_U32, .data = &rows->u32, .present = &rows->has[7]},
        {.component = "A", .field = "u64", .type = DESYNC_U64, .data = &rows->u64, .present = &rows->has[8]},
        {.component = "A", .field = "f32", .type = DESYNC_F32, .data = &rows->f32, .present = &rows->has[9]},
        {.component = "A", .field = "f64", .type = DESYNC_F64, .data = &rows->f64, .present = &rows->has[10]},
        {.component = "A", .field = "fixed", .type = DESYNC_FIXED, .scale = 1000, .data = &rows->fixed, .present = &rows->has[11]},
        {.component = "A", .field = "string", .type = DESYNC_STRING, .data = &rows->text, .present = &rows->has[12]},
        {.component = "A", .field = "name", .type = DESYNC_STRING, .data = rows->name, .size = sizeof rows->name, .present = &rows->has[13]},
        {.component = "A", .field = "bytes", .type = DESYNC_BYTES, .data = &rows->blob, .present = &rows->has[14]},
        {.component = "A", .field = "ref", .type = DESYNC_REF, .data = &rows->ref, .present = &rows->has[15]}};
    const desync_column one[] = {{.component = "Cell", .field = "units", .type = DESYNC_U32, .data = &rows->u32}};
    const desync_table tables[] = {
        {.label = "Noise", .table_class = DESYNC_NOISE, .slots = 3, .stride = sizeof *rows, .columns = one, .column_count = 1},
        {.label = "Zero", .slots = 0, .columns = one, .column_count = 1},
        {.label = "Pairs", .slots = N, .stride = sizeof *rows, .alive = &rows->alive, .key = &rows->a, .key_size = 4, .key2 = &rows->b,
         .columns = columns, .column_count = 16},
        {.label = "Grid", .table_class = DESYNC_CACHE, .slots = N, .stride = sizeof *rows, .columns = one, .column_count = 1},
        {.label = "Keys", .slots = 3}};
    const desync_world w = {.tables = tables, .table_count = 5};
    static const desync_param properties[] = {{"os", "linux"}, {"build", "1.0"}};
    const desync_point at = {.seed = 99, .tick = 5, .phase = "after-orders", .native = "frame 9", .peer = "host", .epoch = 2,
                             .history = history, .properties = properties, .property_count = 2};
    uint64_t v = 1;
    int i, k;
    if (!rows) must("out of memory");
    for (i = 0; i < N; i++) {
        row *r = &rows[i];
        for (k = 0; k < 16; k++) r->has[k] = (v = v * 6364136223846793005u + 1442695040888963407u) >> 61 != 0;
        r->a = (uint32_t)((unsigned)i * 2654435761u) / 7; /* in no order */
        r->b = (uint32_t)i;
        r->alive = (uint8_t)(i % 9);
        r->flag = (uint8_t)(i % 3);
        r->i8 = (int8_t)(v >> 1), r->i16 = (int16_t)(v >> 2), r->i32 = (int32_t)(v >> 3), r->i64 = (int64_t)v, r->fixed = (int64_t)(v >> 40) - 9999;
        r->u8 = (uint8_t)(v >> 5), r->u16 = (uint16_t)(v >> 6), r->u32 = (uint32_t)(v >> 7), r->u64 = v, r->ref = v >> 50;
        r->f32 = (float)r->i32 / 3, r->f64 = (double)r->i64 / 7;
        snprintf(r->name, sizeof r->name, "unit %u", (unsigned)i % N);
        r->text.data = texts[i % 4], r->text.len = strlen(texts[i % 4]);
        r->blob.data = &r->u64, r->blob.len = (size_t)i % 8;
    }
    must(desync_snapshot_file(&w, &at, dir));
    read_back(&w, in(dir, "desync_0000000000000063_0000000005.snap"), rows, N * sizeof *rows);
    free(rows);
}

static void order_log(const char *dir) {
    static const desync_kind kinds[] = {{"move", 0}, {"chat", 1}};
    static const char *const peers[] = {"host", "client"};
    static const desync_param params[] = {{"map", "green valley"}};
    static const uint8_t chat[] = {0x67, 0x67}, move[] = {0x93, 1, 0xcd, 4, 0};
    const desync_order orders[] = {{16667, 1, 4, 1, chat, sizeof chat}, {16667, 2, 17, 0, move, sizeof move}};
    const desync_marker marker = {.kind = DESYNC_SAVE, .point = 1, .text = "autosave"};
    uint8_t sync[3][8], quick[2] = {0xbe, 0xef};
    desync_header h = {.seed = 7, .peer = "host", .build = "1.0", .rate_num = 30, .rate_den = 1, .kinds = kinds, .kind_count = 2,
                       .peers = peers, .peer_count = 2, .params = params, .param_count = 1};
    desync_log l;
    unhex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", h.start);
    unhex("b5c8bea2d1f6a904", sync[0]);
    unhex("0f1e2d3c4b5a6978", sync[2]);
    must(desync_log_open(&l, in(dir, "order-log.bin"), &h));
    must(desync_log_checksum(&l, 0, sync[0], 8));
    must(desync_log_tick(&l, 0, NULL, 0));
    must(desync_log_marker(&l, &marker));
    must(desync_log_tick(&l, 1, orders, 2));
    must(desync_log_hash(&l, 2, 0, "sync", "", sync[2], 8));
    must(desync_log_hash(&l, 2, 1, "sync", "quick", quick, 2));
    must(desync_log_close(&l));
}

/* A peer goes on to point 2, and back to the state of point 1. It knows the history hash of point 1. */
static void epochs(const char *dir) {
    const desync_header h = {.seed = 7, .peer = "host"};
    uint8_t root[32] = {1}, history[32];
    desync_marker load = {.kind = DESYNC_LOAD, .point = 1, .new_epoch = 1, .text = "quicksave"};
    desync_log l;
    must(desync_log_open(&l, in(dir, "epochs.bin"), &h));
    must(desync_log_state(&l, 0, root));
    must(desync_log_tick(&l, 0, NULL, 0));
    must(desync_log_state(&l, 1, root));
    memcpy(history, l.history, 32);
    must(desync_log_tick(&l, 1, NULL, 0));
    load.history = history;
    must(desync_log_marker(&l, &load));
    if (!desync_log_marker(&l, &load)) must("a second epoch in one tick is taken");
    must(desync_log_state(&l, 1, root));
    must(desync_log_tick(&l, 1, NULL, 0));
    if (!desync_log_tick(&l, 1, NULL, 0)) must("a tick that does not ascend is taken");
    must(desync_log_state(&l, 2, root));
    must(desync_log_close(&l));
}

static void trace(const char *dir) {
    static const desync_param params[] = {{"map", "green valley"}};
    static const uint8_t a[] = {0x6a, 0x09, 0xe6, 0x67, 0xbb, 0x67, 0xae, 0x85}, rng[] = {0x51, 0x0e}, beef[] = {0xbe, 0xef};
    static const uint8_t c[] = {0x9b, 0x05, 0x68, 0x8c, 0x2b, 0x3e, 0x6c, 0x1f}, state[] = {0x1f, 0x83, 0xd9, 0xab}, zero[] = {0};
    const desync_sum move[] = {{"", a, 8}}, combat[] = {{"rng", rng, 2}}, guess[] = {{"", c, 8}}, input[] = {{"", beef, 2}}, kept[] = {{"", state, 4}},
                     last[] = {{"", zero, 1}};
    const desync_header h = {.seed = 7, .peer = "host", .build = "1.0", .rate_num = 30, .rate_den = 1, .params = params, .param_count = 1};
    const desync_checkpoint list[] = {
        {.tick = 0, .system = "Movement", .scope = "Infantry", .sums = move, .sum_count = 1, .has_count = 1, .count = 250},
        {.tick = 0, .system = "Combat", .sums = combat, .sum_count = 1},
        {.tick = 1, .system = "Movement", .scope = "Infantry", .predicted = 1, .sums = guess, .sum_count = 1, .has_count = 1, .count = 250},
        {.tick = 1, .system = "two words", .sums = last, .sum_count = 1}};
    const desync_event events[] = {
        {.kind = DESYNC_EVENT_INPUT, .tick = 1, .player = 2, .predicted = 1, .sums = input, .sum_count = 1},
        {.kind = DESYNC_EVENT_SAVE, .tick = 1, .sums = kept, .sum_count = 1},
        {.kind = DESYNC_EVENT_RESTORE, .tick = 1, .other = 3, .sums = kept, .sum_count = 1},
        {.kind = DESYNC_EVENT_RESIMULATE, .tick = 1, .other = 2}};
    desync_trace t;
    size_t i;
    must(desync_trace_open(&t, in(dir, "host.trace"), &h));
    for (i = 0; i < 3; i++) must(desync_trace_add(&t, &list[i]));
    for (i = 0; i < 4; i++) must(desync_trace_event(&t, &events[i]));
    must(desync_trace_add(&t, &list[3]));
    must(desync_trace_close(&t));
}

/* A peer that plays two ticks, is away, and goes on with the host's state of point 9; at point 80 it reports on its state. */
static void recorder(const char *dir) {
    static const desync_kind kinds[] = {{"move", 0}, {"chat\n\"", 1}};
    static const char *const peers[] = {"host", "client"}, *const labels[] = {"Unit", "Cell"}, *const none[] = {"Nobody"};
    static const desync_param params[] = {{"map", "green valley"}}, facts[] = {{"os", "linux"}, {"map", "another"}, {"locale", "de_DE.UTF-8"}};
    static const uint8_t history[32] = {9}, payload[] = {0x0a, 0xff, 0x00};
    static int32_t hp[] = {7, 8, 9};
    static uint64_t rng = 5;
    const desync_column columns[] = {{.component = "Health", .field = "hp", .type = DESYNC_I32, .data = hp}};
    const desync_table tables[] = {{.label = "Unit", .slots = 3, .columns = columns, .column_count = 1},
                                   {.label = "Cell", .slots = 1, .columns = columns, .column_count = 1}};
    const desync_world w = {.rng = &rng, .rng_size = 8, .tables = tables, .table_count = 2};
    const desync_header h = {.seed = 11, .peer = "client", .build = "1.0", .kinds = kinds, .kind_count = 2, .peers = peers, .peer_count = 2,
                             .params = params, .param_count = 1};
    const desync_order orders[] = {{0, 1, 0, 0, payload, 3}, {2, 1, 1, 1, NULL, 0}};
    const desync_marker back = {.kind = DESYNC_RECONNECT, .peer = 1, .point = 9, .new_epoch = 1, .history = history, .text = "from the host"};
    uint64_t tick;
    desync_recorder r;
    must(desync_recorder_open(&r, dir, &h, &w, DESYNC_NO_TRACE));
    desync_recorder_facts(&r, facts, 3);
    if (!desync_recorder_system(&r, "Move", &w)) must("a system before the first tick is not refused");
    for (tick = 0; tick < 2; tick++, rng++) must(desync_recorder_state(&r, tick, &w)), must(desync_recorder_tick(&r, tick, orders, tick));
    must(desync_recorder_state(&r, 2, &w));
    if (!desync_recorder_system(&r, "Move", &w)) must("a system between two ticks is not refused");
    must(desync_recorder_report(&r, &w, 1, labels, 0));
    for (rng = 9, tick = 9; tick < 80; tick++, rng++) {
        if (tick == 9) must(desync_recorder_marker(&r, &back));
        must(desync_recorder_state(&r, tick, &w));
        if (tick == 9) must(desync_recorder_snapshot(&r, &w));
        must(desync_recorder_tick(&r, tick, orders, tick % 3));
        must(desync_recorder_system(&r, "Move", &w)); /* which writes nothing */
    }
    must(desync_recorder_state(&r, 80, &w));
    must(desync_recorder_report(&r, &w, -1, labels, 2));
    if (!desync_recorder_report(&r, &w, -1, none, 1)) must("an archetype that is not there is reported");
    must(desync_recorder_close(&r));
}

int main(int argc, char **argv) {
    if (argc != 2) must("expected a folder");
    sums();
    snapshot(argv[1]);
    everything(argv[1]);
    misfits();
    bad_points();
    order_log(argv[1]);
    epochs(argv[1]);
    trace(argv[1]);
    recorder(argv[1]);
    return 0;
}
