/* SPDX-License-Identifier: MIT-0
   Copyright 2026 The desynctool authors */
/* desynctool_flight.h: a flight recorder for a game that is shipped, in one C99 file beside desynctool.h.

   It keeps the last ticks in a fixed amount of memory: orders, hashes, and all that the state changed, so that the state of
   any of these ticks can be rebuilt. When the peers find that their states differ, it finds the first tick, the system,
   the columns, the rows and their values, by packets of at most 1000 bytes that the game carries between its peers. Then
   every peer has the same report. docs/exchange.md specifies the packets.

   In one source file, after desynctool.h and with DESYNCTOOL_IMPLEMENTATION defined as for that file:

       #include "desynctool_flight.h"

   It is also valid C++11. In each tick, and once before the first one without desync_flight_tick:

       desync_flight_tick(f, tick, orders, n);    the orders that the tick is about to apply
       desync_flight_system(f, "Movement");       after each system, if the game can
       desync_flight_state(f, tick + 1);          the state after the tick: the one before the orders of tick + 1

   and as often as the game reads its network:

       desync_flight_receive(f, from, bytes, n);  a packet that peer number `from` sent
       while ((n = desync_flight_send(f, milliseconds, &to, packet)) > 0) ...  what is to be sent to peer number `to`

   After desync_flight_open no call allocates memory but desync_flight_files and desync_flight_snapshot, no call waits, and none
   but desync_flight_files touches a file.
   Calls are not safe from several threads at a time. */

#ifndef DESYNCTOOL_FLIGHT_H
#define DESYNCTOOL_FLIGHT_H

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DESYNC_FLIGHT_PACKET = 1000,  /* bytes of a packet, at most */
    DESYNC_FLIGHT_PEERS = 64
};

typedef struct {
    size_t budget;             /* bytes in all; 0 is 8 MiB. Twice the state must leave an eighth for what changes */
    uint64_t seed;             /* of the session, the same on all peers */
    const char *build;         /* of the game; may be NULL */
    const desync_world *world; /* the game's description of its state. Tables may move and may shrink, but never have more slots
                                  than now. It, its names and its lists stay as long as the recorder */
    const char *const *peers;  /* the peers' names by number, the same list on all peers; at most 64 */
    size_t peer_count, self;   /* self: the number of this peer */
    const desync_kind *kinds;  /* of orders */
    size_t kind_count;
    int marked;                /* 1: only tables that desync_flight_touch names since the last call are compared */
    int rollback;              /* 1: states are predicted until desync_flight_confirm */
    size_t values;             /* bytes of differing values in a report, at most; 0 is 65536 */
    uint64_t history;          /* a peer that joins later: desync_flight_history of the peer that sent it the state; else 0 */
} desync_flight_options;

typedef struct desync_flight desync_flight;

/* Allocates a recorder. What the options point at must stay. NULL if that is not possible; *error is why then. */
desync_flight *desync_flight_open(const desync_flight_options *o, const char **error);

/* The same for a server without a simulation: it is peer 0, compares the peers' hashes, asks them, and hands all the same
   report. Of the options only seed, peers, peer_count and values count. Of the calls below those with packets, status,
   report and text are for it, and desync_flight_differs, resume and close. */
desync_flight *desync_flight_relay(const desync_flight_options *o, const char **error);
void desync_flight_close(desync_flight *f);

const char *desync_flight_tick(desync_flight *f, uint64_t tick, const desync_order *orders, size_t n);
const char *desync_flight_system(desync_flight *f, const char *name);
const char *desync_flight_state(desync_flight *f, uint64_t point);

/* With `marked`: table number `table` of the world, or the RNG if it is SIZE_MAX, may have changed since it was compared
   last. A change in a table that is not marked is found late, at the next mark of that table. */
void desync_flight_touch(desync_flight *f, size_t table);

/* A game that rolls back calls this before it goes back to a state point: what was kept after it is taken back. The state
   in the game's memory must be that of the point before the next call. A point that is no longer kept is an error. */
const char *desync_flight_rollback(desync_flight *f, uint64_t point);

/* With `rollback`: states up to `point` are final, all their inputs are known. Only these are compared with other peers. */
const char *desync_flight_confirm(desync_flight *f, uint64_t point);

/* What is in memory: state points `from` to `to` are kept, and the ticks need `bytes` of `of` bytes. Twice the ticks need
   about `more` bytes of budget more. */
typedef struct { uint64_t from, to; size_t bytes, of, more; } desync_flight_kept;
desync_flight_kept desync_flight_holds(const desync_flight *f);

/* The 64-bit hash of the state at a point, 0 if the point is not kept. Games that compare hashes by themselves may use it. */
uint64_t desync_flight_hash(const desync_flight *f, uint64_t point);

/* The hash of all states up to a point, 0 if the point is not kept. */
uint64_t desync_flight_history(const desync_flight *f, uint64_t point);

/* The game itself found that the state at a point differs from the state of other peers. A peer's packet does the same. */
const char *desync_flight_differs(desync_flight *f, uint64_t point);

void desync_flight_receive(desync_flight *f, size_t from, const void *packet, size_t n);

/* Writes the next packet that is to be sent, and to whom. Returns its size, 0 if there is none now. The clock is any that
   counts milliseconds; it must not go back. */
size_t desync_flight_send(desync_flight *f, uint64_t milliseconds, size_t *to, uint8_t packet[DESYNC_FLIGHT_PACKET]);

enum {
    DESYNC_FLIGHT_WATCHING, /* records, and compares hashes */
    DESYNC_FLIGHT_ASKING,   /* records no more: the peers look for what differs */
    DESYNC_FLIGHT_FOUND,    /* there is a report */
    DESYNC_FLIGHT_SILENT    /* the others did not answer */
};
int desync_flight_status(const desync_flight *f);

/* The report as bytes, the same on all peers; docs/exchange.md has their form. They stay until desync_flight_resume. NULL if
   there is none. */
const uint8_t *desync_flight_report(const desync_flight *f, size_t *n);

/* The report as text, for the game's log and its screen: a sentence, then what differs. Returns the number of bytes that
   the whole text has without the NUL, like snprintf. Control characters of names and values are escaped. */
size_t desync_flight_text(const desync_flight *f, char *to, size_t size);

#ifndef DESYNCTOOL_WASM
/* Appends the state that a peer had at the end of the divergent tick, as a .snap: of this peer as it is kept, of a peer of
   another group made of it and the values in the report. If these are not all that differs, that is an error: the
   hash of the state shows it. To heal, all peers load the state of the same peer as they load a save, and go on
   from there with desync_flight_resume. */
const char *desync_flight_snapshot(desync_flight *f, size_t peer, desync_buffer *out);
#endif

/* Goes on recording after a report: the next call is desync_flight_state. All peers do so at the same point, with the same
   state, such as after a load. */
void desync_flight_resume(desync_flight *f);

#ifndef DESYNCTOOL_WASM
/* Writes what is known to DIR, a folder for each peer: this peer's order log of the ticks that are kept, its trace, its states
   before and after the divergent tick, and its report; an order log and the trace of each other peer that answered, if the
   orders of that tick were the same, and the states of one peer of each group, if the values in the report are all that
   differs: then the hash shows that they are whole. A peer whose name cannot be a folder's is peer-N. `desynctool triage DIR`
   reads it. */
const char *desync_flight_files(desync_flight *f, const char *dir);
#endif

#ifdef __cplusplus
}
#endif
#endif

#if defined(DESYNCTOOL_IMPLEMENTATION) && !defined(DESYNCTOOL_FLIGHT_IMPLEMENTED)
#define DESYNCTOOL_FLIGHT_IMPLEMENTED

/* ---- Memory

   The state is kept twice: `live` is the state at the last point, `past` is one that was rebuilt. A state has an array of
   cells for each column; the first column of each table is its identity, whether a slot is alive and its key. The ring has
   what cells contained before they changed: copying that back, the latest first, leads to earlier states. */

enum {
    DESYNC__F_TEXT = 52,       /* bytes that are kept of a string without a fixed size */
    DESYNC__F_CELL = 64,       /* such a string: hash, length, bytes */
    DESYNC__F_IDENTITY = 17,   /* alive, key, key2 */
    DESYNC__F_VALUE = 200,     /* bytes of a value in an answer */
    DESYNC__F_NAMES = 256,     /* systems, and bytes of a name */
    DESYNC__F_NAME = 64,
    DESYNC__F_HEAD = 20,       /* of a packet, and its checksum */
    DESYNC__F_BODY = DESYNC_FLIGHT_PACKET - DESYNC__F_HEAD - 4,
    DESYNC__F_PARTS = 31,      /* of a question */
    DESYNC__F_PART = 31,       /* bytes */
    DESYNC__F_GROUPS = 4,      /* whose values are asked for */
    DESYNC__F_QUEUE = 8,       /* questions that wait to be answered */
    DESYNC__F_WORK = 1024,     /* ranges of rows that wait to be asked for */
    DESYNC__F_LISTED = 32,     /* columns whose rows are asked for */
    DESYNC__F_CHUNK = 960,     /* bytes of a report in a packet */
    DESYNC__F_CHUNKS = 128,
    DESYNC__F_MOST = 1 << 19,  /* bytes of answers to a peer in an exchange */
    DESYNC__F_SPENT = 64,      /* answers with rows and buckets of a peer: so many kilobytes */
    DESYNC__F_ROUNDS = 12,     /* questions in all */
    DESYNC__F_BEATS = 16,      /* of each peer that a relay keeps */
    DESYNC__F_NAMES_MOST = 3 * 256 + 5, /* bytes of an answer with what a column is */
    DESYNC__F_WAIT = 3000,     /* ms after which a peer is gone that sends nothing */
    DESYNC__F_END = 0xffff     /* step: the end of the tick */
};

enum { DESYNC__F_BEAT = 1, DESYNC__F_ALERT, DESYNC__F_QUESTION, DESYNC__F_ANSWER, DESYNC__F_REPORT, DESYNC__F_GOT };
enum { DESYNC__F_STATUS = 1, DESYNC__F_HISTORY, DESYNC__F_STEPS, DESYNC__F_TABLES, DESYNC__F_COLUMNS, DESYNC__F_BUCKETS, DESYNC__F_ROWS, DESYNC__F_NAMING };
enum { DESYNC__F_OK, DESYNC__F_FELL_OUT, DESYNC__F_NOT_YET, DESYNC__F_NONE }; /* how a part is answered */
enum { DESYNC__F_LOST = 1, DESYNC__F_OTHER_STATE = 2, DESYNC__F_CUT = 4 };    /* flags of a report */

typedef struct {
    const desync_table *table;
    size_t number;         /* in the world, SIZE_MAX for the RNG */
    size_t first, columns; /* of its columns in `columns`; the first is the identity */
    size_t slots, seen;    /* when it was opened, and last */
    int touched;
} desync__ftable;

typedef struct {
    size_t column;  /* in the table; SIZE_MAX for the identity */
    size_t size;    /* of a cell */
    size_t width;   /* of its value; a column with `present` has a byte for that after it */
    size_t at;      /* of the first cell in a state */
    int type;
    int plain, text; /* a number that is compared by its bytes; a string without a fixed size */
} desync__fcolumn;

typedef struct { uint64_t point, root, history, inputs, begin, end; } desync__fentry;
typedef struct { uint8_t index, what, depth; uint16_t step, count; uint32_t table, column; uint64_t point, from; } desync__fpart;
typedef struct { size_t from, count, next; uint32_t id; desync__fpart parts[DESYNC__F_PARTS]; } desync__fquestion;
typedef struct { size_t n; int state; uint8_t data[DESYNC__F_BODY]; } desync__fanswer;
typedef struct { uint8_t listed, depth; uint64_t from, rows; } desync__fwork;
typedef struct {
    size_t table, column, slots, width; /* of the table; of a value, about */
    uint64_t rows, pending, all;        /* all: with rows of one side only */
    int first;                          /* it differs after the step */
} desync__flisted;


typedef struct {
    uint64_t point, history, heard, first, last, asked, since;
    uint32_t answered; /* parts of the question, as bits */
    int beat, gone, asks, late, foreign, group, chunk, shares;
    size_t sent;
    uint8_t got[DESYNC__F_CHUNKS / 8];
    uint32_t schema; /* of its last packet */
    int known;       /* there was one */
    size_t beats;    /* that a relay has had */
} desync__fpeer;

typedef struct { uint64_t point, history; } desync__fbeat;
typedef struct { size_t n; uint8_t data[DESYNC__F_NAMES_MOST]; } desync__fnaming;
typedef struct { size_t peer; uint64_t root, step_root, inputs, members, history; } desync__fgroup;

struct desync_flight {
    desync_flight_options o;
    uint64_t schema;
    desync__ftable *tables;
    desync__fcolumn *columns;
    size_t table_count, column_count, state_size;
    uint8_t *live, *past, *temp, *ring, *dirty;
    uint64_t *sums, *past_sums;
    size_t ring_size;
    uint64_t head; /* bytes that were ever put into the ring */
    desync__fentry *entries;
    size_t entry_cap, entry_first, entry_count;
    char names[DESYNC__F_NAMES][DESYNC__F_NAME];
    size_t name_count;
    int begun, open, skips, past_known, status;
    uint64_t open_begin, open_inputs, open_tick, confirmed, past_point, history;
    uint32_t past_step;

    uint64_t now, started, halt, alert_point, alert_history, alerted, beat_point, beat_history;
    size_t alert_to, beat_to;
    desync__fpeer peers[DESYNC_FLIGHT_PEERS];
    desync__fquestion queue[DESYNC__F_QUEUE];
    size_t queued;

    int stage, rounds, restarts, spent; /* spent: answers with rows and buckets */
    uint32_t counter, id;
    uint64_t rto; /* estimate of how long an answer takes, in ms */
    int measured; /* it is no guess */
    desync__fpart parts[DESYNC__F_PARTS];
    size_t part_count;
    desync__fanswer *answers;
    uint64_t oldest, common, top, low, high, stride, point, silent; /* oldest, common: first and last point that all keep; top: of two peers */
    uint32_t step;
    int flags, full, older; /* older: what differs is before the points that were compared one by one */
    size_t group_count, step_number;
    char step_name[DESYNC__F_NAME];
    desync__fgroup groups[DESYNC__F_GROUPS];
    uint32_t tables_differ, columns_differ;
    desync__flisted listed[DESYNC__F_LISTED];
    size_t listed_count;
    desync__fwork work[DESYNC__F_WORK];
    size_t work_first, work_count;
    uint8_t *found;
    size_t found_size, found_cap;

    uint8_t *report, *incoming;
    size_t report_size, report_cap, incoming_size, incoming_from, reporter;
    uint32_t report_id, incoming_id;
    uint8_t incoming_got[DESYNC__F_CHUNKS / 8];
    int ack;
    int relay; /* peer 0, without a state */
    desync__fbeat *beats;
    desync__fnaming *namings; /* of listed columns */
    size_t named;
    void *memory[16];
    size_t memory_count;
};

DESYNC__OWN size_t desync__fleast(size_t a, size_t b) { return a < b ? a : b; }

DESYNC__OWN uint64_t desync__fmix(uint64_t x) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 29;
    x *= 0x9e3779b97f4a7c15u;
    return x ^ x >> 32;
}

DESYNC__OWN uint64_t desync__fhash(const uint8_t *p, size_t n) {
    uint64_t h = desync__fmix(n + 0x5bd1e995u), last = 0;
    for (; n >= 8; p += 8, n -= 8) h = desync__fmix(h ^ desync__get64(p)) + 0x2545f4914f6cdd1du;
    while (n-- > 0) last = last << 8 | p[n];
    return desync__fmix(h ^ last);
}

DESYNC__OWN uint64_t desync__frow(uint64_t key, uint64_t key2) { return desync__fmix(desync__fmix(key + 0x632be59bd9b4e019u) ^ key2); }
DESYNC__OWN uint64_t desync__fvalue(uint64_t row, uint64_t v) { return desync__fmix(row + desync__fmix(v + 0x8ebc6af09c88c6e3u)); }

/* How many bytes of a fixed array count. */
DESYNC__OWN size_t desync__flength(const desync__fcolumn *c, const uint8_t *cell) {
    const void *nul = c->type == DESYNC_STRING ? memchr(cell, 0, c->width) : NULL;
    return nul ? (size_t)((const uint8_t *)nul - cell) : c->width;
}

/* Whether a cell has a value. */
DESYNC__OWN int desync__fhas(const desync__fcolumn *c, const uint8_t *cell) { return c->size == c->width || cell[c->width]; }

/* What a cell adds to the sum of its column: sums do not depend on the order of rows. */
DESYNC__OWN uint64_t desync__fcell(const desync__fcolumn *c, const uint8_t *identity, const uint8_t *cell) {
    uint64_t v, row = desync__frow(desync__get64(identity + 1), desync__get64(identity + 9));
    if (c->column == SIZE_MAX) return desync__fmix(row + 1);
    if (c->text) {
        v = desync__get64(cell);
    } else if (c->type == DESYNC_STRING || c->type == DESYNC_BYTES) {
        v = desync__fhash(cell, desync__flength(c, cell));
    } else {
        uint8_t bytes[8] = {0};
        memcpy(bytes, cell, c->width);
        v = desync__get64(bytes);
    }
    return desync__fvalue(row, v);
}

DESYNC__OWN void desync__fput(desync_flight *f, const void *from, size_t n) {
    size_t at = (size_t)(f->head % f->ring_size), part = n < f->ring_size - at ? n : f->ring_size - at;
    f->head += n;
    if (n > f->ring_size) return; /* nothing of this tick will be kept */
    memcpy(f->ring + at, from, part);
    if (part < n) memcpy(f->ring, (const uint8_t *)from + part, n - part);
}

DESYNC__OWN void desync__fput64(desync_flight *f, uint64_t v, size_t n) {
    uint8_t bytes[8];
    desync__little(bytes, v, 8);
    desync__fput(f, bytes, n);
}

DESYNC__OWN void desync__fget(const desync_flight *f, uint64_t from, void *to, size_t n) {
    size_t at = (size_t)(from % f->ring_size), part = n < f->ring_size - at ? n : f->ring_size - at;
    memcpy(to, f->ring + at, part);
    memcpy((uint8_t *)to + part, f->ring, n - part);
}

DESYNC__OWN uint64_t desync__fget64(const desync_flight *f, uint64_t from, size_t n) {
    uint8_t bytes[8] = {0};
    desync__fget(f, from, bytes, n);
    return desync__get64(bytes);
}

DESYNC__OWN desync__fentry *desync__fentry_at(const desync_flight *f, size_t i) { return &f->entries[(f->entry_first + i) % f->entry_cap]; }

/* The entry of a point, NULL if it is not kept. */
DESYNC__OWN desync__fentry *desync__fpoint(const desync_flight *f, uint64_t point) {
    uint64_t first;
    if (!f->entry_count) return NULL;
    first = desync__fentry_at(f, 0)->point;
    return point >= first && point - first < f->entry_count ? desync__fentry_at(f, (size_t)(point - first)) : NULL;
}

/* ---- What changed */

enum { DESYNC__F_CELLS = 1, DESYNC__F_STEP, DESYNC__F_ORDERS }; /* kinds of items; each ends with kind and length, to be read backward */

DESYNC__OWN void desync__fitem(desync_flight *f, unsigned kind, uint64_t begin) {
    desync__fput64(f, kind, 1);
    desync__fput64(f, f->head - begin, 4);
}

/* Reads the cell of a slot in the game's memory; it is all zero without a value. */
DESYNC__OWN void desync__fread(const desync__ftable *t, const desync__fcolumn *c, size_t slot, uint8_t *to) {
    const desync_column *from = &t->table->columns[c->column];
    const uint8_t *at = desync__value(t->table, from, slot);
    memset(to, 0, c->size);
    if (!at) return;
    if (c->size > c->width) to[c->width] = 1;
    if (c->type == DESYNC_BOOL) {
        *to = *at != 0;
    } else if (c->type != DESYNC_STRING && c->type != DESYNC_BYTES) {
        desync__number(to, at, c->width);
    } else {
        desync_bytes v = desync__bytes_of(from, at);
        if (c->text) {
            desync__little(to, desync__fhash((const uint8_t *)v.data, v.len), 8);
            desync__little(to + 8, v.len > UINT32_MAX ? UINT32_MAX : v.len, 4);
            to += 12;
            if (v.len > DESYNC__F_TEXT) v.len = DESYNC__F_TEXT;
        }
        if (v.len) memcpy(to, v.data, v.len);
    }
}

DESYNC__OWN void desync__fidentity(const desync_table *t, size_t slot, uint8_t *to) {
    memset(to, 0, DESYNC__F_IDENTITY);
    if (slot >= t->slots || (t->alive && !*desync__slot(t->alive, 0, t->stride, 1, slot))) return;
    to[0] = 1;
    desync__little(to + 1, desync__key(t, slot), 8);
    desync__little(to + 9, desync__key2(t, slot), 8);
}

DESYNC__OWN int desync__fdirty(const desync_flight *f, size_t slot) { return f->dirty[slot / 8] >> slot % 8 & 1; }

/* Notes that the cell of a slot has another value now. */
DESYNC__OWN void desync__fchanged(desync_flight *f, const desync__fcolumn *c, size_t slot, const uint8_t *value) {
    uint8_t *cell = f->live + c->at + slot * c->size;
    desync__fput64(f, slot, 4);
    desync__fput(f, cell, c->size);
    memcpy(cell, value, c->size);
}

DESYNC__OWN uint64_t desync__fplain(const uint8_t *at, size_t n) {
    uint64_t v = 0;
    memcpy(&v, at, n); /* only on machines that are little-endian */
    return v;
}

/* Notes that the cell of a number has another value now. Returns how the sum of the column changes. */
DESYNC__OWN uint64_t desync__fnoted(desync_flight *f, const uint8_t *identity, size_t slot, uint8_t *cell, const uint8_t *value, size_t n) {
    const uint64_t row = desync__frow(desync__get64(identity + 1), desync__get64(identity + 9));
    const uint64_t was = desync__fplain(cell, n), is = desync__fplain(value, n);
    uint8_t noted[12];
    desync__little(noted, slot, 4);
    memcpy(noted + 4, cell, n);
    desync__fput(f, noted, 4 + n);
    memcpy(cell, value, n);
    return desync__fvalue(row, is) - desync__fvalue(row, was);
}

/* Four cells at a time are compared, or 64 bytes of them. */
#define DESYNC__F_DIFFERS(k, n) (desync__fplain(cells + (i + k) * n, n) ^ desync__fplain(from + (i + k) * stride, n))
#define DESYNC__F_SCAN(n) \
    for (i = 0; i < slots; i++) { \
        if (stride == n && i + 64 / n <= slots && memcmp(cells + i * n, from + i * n, 64) == 0) i += 64 / n - 1; \
        else if (i + 4 <= slots && !(DESYNC__F_DIFFERS(0, n) | DESYNC__F_DIFFERS(1, n) | DESYNC__F_DIFFERS(2, n) | DESYNC__F_DIFFERS(3, n))) i += 3; \
        else if (DESYNC__F_DIFFERS(0, n) && (all || identities[i * DESYNC__F_IDENTITY])) \
            *sum += desync__fnoted(f, identities + i * DESYNC__F_IDENTITY, i, cells + i * n, from + i * stride, n), count++; \
    }

/* Notes what changed in a column, except the identity. */
DESYNC__OWN void desync__fcompare(desync_flight *f, const desync__ftable *t, const desync__fcolumn *c, size_t dirty) {
    const uint8_t *identities = f->live + f->columns[t->first].at;
    uint8_t *cells = f->live + c->at, now[DESYNC__F_IDENTITY];
    uint64_t *sum = &f->sums[c - f->columns], before = *sum, begin = f->head;
    uint32_t count = 0;
    size_t i;
    if (c->plain && !dirty) {
        const desync_column *column = &t->table->columns[c->column];
        const uint8_t *from = (const uint8_t *)column->data;
        size_t stride = column->stride ? column->stride : t->table->stride ? t->table->stride : c->size;
        const size_t slots = t->table->slots;
        int all = !t->table->alive && slots == t->slots;
        if (stride == c->size && all && memcmp(cells, from, c->size * t->slots) == 0) return;
        switch (c->size) {
        case 1: DESYNC__F_SCAN(1) break;
        case 2: DESYNC__F_SCAN(2) break;
        case 4: DESYNC__F_SCAN(4) break;
        default: DESYNC__F_SCAN(8)
        }
    } else {
        for (i = 0; i < t->slots; i++) {
            const uint8_t *old = identities + i * DESYNC__F_IDENTITY;
            uint8_t *cell = cells + i * c->size;
            int moved = dirty && desync__fdirty(f, i), changed = 0;
            if (!moved && !*old) continue;
            memcpy(now, old, sizeof now);
            if (moved) desync__fidentity(t->table, i, now);
            if (*now) {
                desync__fread(t, c, i, f->temp);
                changed = memcmp(f->temp, cell, c->size) != 0;
            }
            if (!moved && !changed) continue;
            if (*old && desync__fhas(c, cell)) *sum -= desync__fcell(c, old, cell);
            if (changed) desync__fchanged(f, c, i, f->temp), count++;
            if (*now && desync__fhas(c, cell)) *sum += desync__fcell(c, now, cell);
        }
    }
    if (!count && *sum == before) return;
    desync__fput64(f, before, 8);
    desync__fput64(f, (uint64_t)(c - f->columns), 4);
    desync__fput64(f, count, 4);
    desync__fitem(f, DESYNC__F_CELLS, begin);
}

/* Notes what changed since the last call. */
DESYNC__OWN const char *desync__fcapture(desync_flight *f) {
    size_t k, i;
    f->past_known = 0;
    for (k = 0; k < f->table_count; k++) {
        desync__ftable *t = &f->tables[k];
        const desync__fcolumn *c = &f->columns[t->first];
        uint8_t now[DESYNC__F_IDENTITY], *cells = f->live + c->at;
        uint64_t begin, before = f->sums[t->first];
        size_t dirty = 0;
        if (t->table->slots > t->slots) return "a table has more slots than when the recorder was opened";
        if (f->o.marked && f->begun && !t->touched) continue;
        t->touched = 0;
        if (t->table->alive || t->table->key || t->table->slots != t->seen) {
            memset(f->dirty, 0, (t->slots + 7) / 8);
            for (i = 0; i < t->slots; i++) {
                desync__fidentity(t->table, i, now);
                if (memcmp(now, cells + i * DESYNC__F_IDENTITY, sizeof now) != 0) f->dirty[i / 8] |= (uint8_t)(1u << i % 8), dirty++;
            }
        }
        t->seen = t->table->slots;
        for (i = 1; i < t->columns; i++) desync__fcompare(f, t, c + i, dirty);
        if (!dirty) continue;
        begin = f->head;
        for (i = 0; i < t->slots; i++) {
            uint8_t *cell = cells + i * DESYNC__F_IDENTITY;
            if (!desync__fdirty(f, i)) continue;
            desync__fidentity(t->table, i, now);
            if (*cell) f->sums[t->first] -= desync__fcell(c, cell, NULL);
            if (*now) f->sums[t->first] += desync__fcell(c, now, NULL);
            desync__fchanged(f, c, i, now);
        }
        desync__fput64(f, before, 8);
        desync__fput64(f, t->first, 4);
        desync__fput64(f, dirty, 4);
        desync__fitem(f, DESYNC__F_CELLS, begin);
    }
    return NULL;
}

DESYNC__OWN uint64_t desync__fleaf(const desync_flight *f, const uint64_t *sums, size_t table) {
    const desync__ftable *t = &f->tables[table];
    uint64_t h = 0;
    size_t i;
    for (i = 0; i < t->columns; i++) h = desync__fmix(h + sums[t->first + i]) + 1;
    return h;
}

DESYNC__OWN uint64_t desync__froot(const desync_flight *f, const uint64_t *sums) {
    uint64_t h = f->schema;
    size_t i;
    for (i = 0; i < f->table_count; i++) h = desync__fmix(h + desync__fleaf(f, sums, i)) + 1;
    return h;
}

/* Takes an item back that ends at `end`, in a state. Returns where it begins. */
DESYNC__OWN uint64_t desync__fback(const desync_flight *f, uint64_t end, uint8_t *state, uint64_t *sums, unsigned *kind) {
    uint64_t begin;
    const desync__fcolumn *c;
    uint64_t count, number, at, size;
    *kind = (unsigned)desync__fget64(f, end - 5, 1);
    begin = end - 4 - desync__fget64(f, end - 4, 4);
    if (*kind != DESYNC__F_CELLS) return begin;
    number = desync__fget64(f, end - 13, 4), count = desync__fget64(f, end - 9, 4);
    c = &f->columns[number];
    sums[number] = desync__fget64(f, end - 21, 8);
    size = 4 + c->size;
    for (at = begin + count * size; at > begin;) {
        uint64_t slot;
        at -= size;
        slot = desync__fget64(f, at, 4);
        desync__fget(f, at + 4, state + c->at + slot * c->size, c->size);
    }
    return begin;
}

/* Rebuilds a state into `past`: at a point, or after a step of the tick before it. Returns 0 if it is not kept. */
DESYNC__OWN int desync__frebuild(desync_flight *f, uint64_t point, uint32_t step) {
    const desync__fentry *e = desync__fpoint(f, point);
    uint64_t at = f->head;
    unsigned kind;
    uint32_t steps = 0;
    if (!e) return 0;
    if (f->past_known && f->past_point == point && f->past_step == step) return 1;
    memcpy(f->past, f->live, f->state_size);
    memcpy(f->past_sums, f->sums, f->column_count * sizeof *f->sums);
    f->past_known = 0;
    while (at > e->end) at = desync__fback(f, at, f->past, f->past_sums, &kind);
    if (step != DESYNC__F_END) {
        uint64_t back = e->end;
        if (f->head - e->begin > f->ring_size) return 0;
        while (back > e->begin) {
            if (desync__fget64(f, back - 5, 1) == DESYNC__F_STEP) steps++;
            back -= 4 + desync__fget64(f, back - 4, 4);
        }
        if (step >= steps) return 0;
        while (at > e->begin) {
            kind = (unsigned)desync__fget64(f, at - 5, 1);
            if (kind == DESYNC__F_STEP && --steps == step) break;
            at = desync__fback(f, at, f->past, f->past_sums, &kind);
        }
    }
    f->past_known = 1, f->past_point = point, f->past_step = step;
    return 1;
}

/* ---- Recording */

/* Forgets ticks that no longer fit. */
DESYNC__OWN void desync__ftrim(desync_flight *f) {
    while (f->entry_count && f->head - desync__fentry_at(f, 0)->end > f->ring_size) {
        f->entry_first = (f->entry_first + 1) % f->entry_cap;
        f->entry_count--;
    }
}

DESYNC__OWN void *desync__falloc(desync_flight *f, size_t n, size_t each, size_t *left) {
    void *p;
    if (n && each > *left / n) return NULL;
    p = calloc(n ? n : 1, each);
    if (!p) return NULL;
    *left -= n * each;
    return f->memory[f->memory_count++] = p;
}

DESYNC__OWN uint64_t desync__fname_hash(uint64_t h, const char *name) { return desync__fmix(h ^ desync__fhash((const uint8_t *)name, strlen(name))); }

/* Describes the tables in the order of their names, the RNG first. */
DESYNC__OWN const char *desync__flayout(desync_flight *f, const size_t *order, desync_table *rng) {
    const desync_world *w = f->o.world;
    const uint16_t one = 1;
    size_t k, i, column = 0;
    for (k = 0; k <= w->table_count; k++) {
        const desync_table *t = k ? &w->tables[order[k - 1]] : rng;
        desync__ftable *to = &f->tables[f->table_count];
        size_t *sorted;
        const char *err;
        if (!t || t->table_class != DESYNC_ARCHETYPE) continue;
        if (k && (err = desync__check_table(t)) != NULL) return err;
        to->table = t, to->number = k ? order[k - 1] : SIZE_MAX;
        to->first = column, to->columns = t->column_count + 1, to->slots = t->slots;
        if (t->slots > UINT32_MAX) return "a table has more than 4294967295 slots";
        f->schema = desync__fname_hash(f->schema + 1, t->label);
        sorted = desync__sorted(t->column_count, desync__column_less, t->columns);
        if (!sorted) return desync__no_memory;
        for (i = 0; i <= t->column_count; i++) {
            desync__fcolumn *c = &f->columns[column++];
            const desync_column *of = i ? &t->columns[sorted[i - 1]] : NULL;
            memset(c, 0, sizeof *c);
            c->column = i ? sorted[i - 1] : SIZE_MAX;
            c->type = of ? of->type : 0;
            c->text = of && !desync__sizes[of->type] && !of->size;
            if (!of) c->width = DESYNC__F_IDENTITY;
            else if (c->text) c->width = DESYNC__F_CELL;
            else c->width = desync__sizes[of->type] ? desync__sizes[of->type] : of->size;
            c->size = c->width + (of && of->present ? 1 : 0);
            c->plain = of && desync__sizes[of->type] && of->type != DESYNC_BOOL && !of->present && *(const uint8_t *)&one;
            if (c->size > 65536) {
                free(sorted);
                return "a column has arrays of more than 65536 bytes";
            }
            c->at = f->state_size;
            if (t->slots > (SIZE_MAX / 4 - f->state_size) / (c->size + 1)) {
                free(sorted);
                return desync__no_memory;
            }
            f->state_size += c->size * t->slots;
            if (of) {
                f->schema = desync__fname_hash(desync__fname_hash(f->schema, of->component), of->field);
                f->schema = desync__fmix(f->schema + (uint64_t)of->type + ((uint64_t)of->scale << 8));
            }
        }
        free(sorted);
        f->table_count++;
    }
    return NULL;
}

/* How many bytes of values and of a report there can be. */
DESYNC__OWN void desync__fcaps(desync_flight *f) {
    size_t peers = f->o.peer_count;
    f->found_cap = f->o.values ? f->o.values : 65536;
    if (peers > 2 && f->found_cap > 50000 / (peers - 1) - 400) f->found_cap = 50000 / (peers - 1) - 400;
    f->report_cap = DESYNC__F_CHUNK * DESYNC__F_CHUNKS;
    if (f->found_cap > f->report_cap - 32768) f->found_cap = f->report_cap - 32768;
}

DESYNC__OWN const char *desync__fopen(desync_flight *f, const desync_flight_options *o) {
    size_t *order, columns = 2, largest = DESYNC__F_CELL, slots = 1, left, i;
    const desync_world *w = o->world;
    const char *err;
    desync_table *rng = NULL;
    desync_column *rng_column;
    f->o = *o;
    left = o->budget ? o->budget : (size_t)8 << 20;
    if (left < 1 << 20) return "the budget is smaller than 1 MiB";
    left -= sizeof *f;
    if (!w) return "there is no world";
    if (!o->peer_count || o->peer_count > DESYNC_FLIGHT_PEERS) return "there are no peers, or more than 64";
    if (o->self >= o->peer_count) return "this peer is not among the peers";
    for (i = 0; i < o->peer_count; i++)
        if (desync__bad_name(o->peers[i])) return "the name of a peer is empty or longer than 1024 bytes";
    if ((err = desync__tables(w, &order)) != NULL) return free(order), err;
    for (i = 0; i < w->table_count; i++) columns += w->tables[i].column_count + 1;
    f->tables = (desync__ftable *)desync__falloc(f, w->table_count + 1, sizeof *f->tables, &left);
    f->columns = (desync__fcolumn *)desync__falloc(f, columns, sizeof *f->columns, &left);
    if (w->rng && w->rng_size) {
        rng = (desync_table *)desync__falloc(f, 1, sizeof *rng + sizeof *rng_column, &left);
        if (rng) {
            rng_column = (desync_column *)(void *)(rng + 1);
            rng->label = "", rng->slots = 1, rng->columns = rng_column, rng->column_count = 1;
            rng_column->component = "RNG", rng_column->field = "state", rng_column->type = DESYNC_BYTES;
            rng_column->data = w->rng, rng_column->size = w->rng_size;
        }
    }
    if (!f->tables || !f->columns || (w->rng && w->rng_size && !rng)) return free(order), "the budget is too small";
    err = desync__flayout(f, order, rng);
    free(order);
    if (err) return err;
    for (i = 0; i < f->table_count; i++)
        if (f->tables[i].slots > slots) slots = f->tables[i].slots;
    for (i = 0; i < columns && f->columns[i].size; i++)
        if (f->columns[i].size > largest) largest = f->columns[i].size;
    f->column_count = 0;
    for (i = 0; i < f->table_count; i++) f->column_count += f->tables[i].columns;
    f->entry_cap = (o->budget ? o->budget : (size_t)8 << 20) / 1024;
    desync__fcaps(f);
    f->sums = (uint64_t *)desync__falloc(f, f->column_count * 2, sizeof *f->sums, &left);
    f->entries = (desync__fentry *)desync__falloc(f, f->entry_cap, sizeof *f->entries, &left);
    f->answers = (desync__fanswer *)desync__falloc(f, DESYNC__F_GROUPS * DESYNC__F_PARTS, sizeof *f->answers, &left);
    f->live = (uint8_t *)desync__falloc(f, 2, f->state_size + 1, &left);
    f->temp = (uint8_t *)desync__falloc(f, 1, largest + (slots + 7) / 8 + f->found_cap + 2 * f->report_cap, &left);
    if (!f->sums || !f->entries || !f->answers || !f->live || !f->temp || left < (o->budget ? o->budget : (size_t)8 << 20) / 8)
        return "the budget is too small: it has to hold the state twice and, in an eighth of it, what changes";
    f->past_sums = f->sums + f->column_count;
    f->past = f->live + f->state_size + 1;
    f->dirty = f->temp + largest;
    f->found = f->dirty + (slots + 7) / 8;
    f->report = f->found + f->found_cap;
    f->incoming = f->report + f->report_cap;
    f->ring_size = left;
    f->ring = (uint8_t *)desync__falloc(f, 1, f->ring_size, &left);
    if (!f->ring) return desync__no_memory;
    f->rto = 400, f->now = 1;
    f->halt = UINT64_MAX;
    return NULL;
}

DESYNC__OWN const char *desync__fopen_relay(desync_flight *f, const desync_flight_options *o) {
    size_t left = SIZE_MAX, i;
    f->o = *o;
    f->o.self = 0, f->o.world = NULL, f->relay = f->begun = 1;
    if (o->peer_count < 3 || o->peer_count > DESYNC_FLIGHT_PEERS) return "a relay needs 3 to 64 peers, itself included";
    for (i = 0; i < o->peer_count; i++)
        if (desync__bad_name(o->peers[i])) return "the name of a peer is empty or longer than 1024 bytes";
    desync__fcaps(f);
    f->answers = (desync__fanswer *)desync__falloc(f, DESYNC__F_GROUPS * DESYNC__F_PARTS, sizeof *f->answers, &left);
    f->beats = (desync__fbeat *)desync__falloc(f, o->peer_count * DESYNC__F_BEATS, sizeof *f->beats, &left);
    f->namings = (desync__fnaming *)desync__falloc(f, DESYNC__F_LISTED, sizeof *f->namings, &left);
    f->found = (uint8_t *)desync__falloc(f, 1, f->found_cap + 2 * f->report_cap, &left);
    if (!f->answers || !f->beats || !f->namings || !f->found) return desync__no_memory;
    f->report = f->found + f->found_cap;
    f->incoming = f->report + f->report_cap;
    f->rto = 400, f->now = 1;
    f->halt = UINT64_MAX;
    return NULL;
}

DESYNC__API desync_flight *desync_flight_relay(const desync_flight_options *o, const char **error) {
    desync_flight *f = (desync_flight *)calloc(1, sizeof *f);
    const char *err = f ? desync__fopen_relay(f, o) : desync__no_memory;
    if (error) *error = err;
    if (!err) return f;
    desync_flight_close(f);
    return NULL;
}

DESYNC__API desync_flight *desync_flight_open(const desync_flight_options *o, const char **error) {
    desync_flight *f = (desync_flight *)calloc(1, sizeof *f);
    const char *err = f ? desync__fopen(f, o) : desync__no_memory;
    if (error) *error = err;
    if (!err) return f;
    desync_flight_close(f);
    return NULL;
}

DESYNC__API void desync_flight_close(desync_flight *f) {
    size_t i;
    if (!f) return;
    for (i = 0; i < f->memory_count; i++) free(f->memory[i]);
    free(f);
}

/* Whether ticks are still recorded: a recorder that looks for a difference keeps what it has. */
DESYNC__OWN int desync__frecords(const desync_flight *f, uint64_t point) { return f->status == DESYNC_FLIGHT_WATCHING || point <= f->halt; }

DESYNC__API const char *desync_flight_tick(desync_flight *f, uint64_t tick, const desync_order *orders, size_t n) {
    uint64_t begin = f->head, h = desync__fmix(tick);
    size_t i;
    if (f->relay) return "desync_flight_tick: a relay has no state";
    if (!f->begun) return "desync_flight_tick: there is no state before the tick: desync_flight_state comes first";
    if (f->open) return "desync_flight_tick: the tick before has no state yet: desync_flight_state is missing";
    f->skips = !desync__frecords(f, tick + 1);
    if (f->skips) return NULL;
    if (f->entry_count && tick != desync__fentry_at(f, f->entry_count - 1)->point) return "desync_flight_tick: another tick is next";
    for (i = 0; i < n; i++) { /* before anything is in the ring */
        if (orders[i].kind >= f->o.kind_count) return "desync_flight_tick: an order has an unknown kind";
        if (orders[i].size > 4 << 20) return "desync_flight_tick: the payload of an order has more than 4 MiB";
    }
    for (i = 0; i < n; i++) {
        const desync_order *o = &orders[i];
        const uint32_t head[5] = {o->sub_tick, o->player, o->sequence, o->kind, (uint32_t)o->size};
        size_t k;
        for (k = 0; k < 5; k++) desync__fput64(f, head[k], 4);
        if (o->size) desync__fput(f, o->payload, o->size);
        if (f->o.kinds[o->kind].local) continue;
        for (k = 0; k < 4; k++) h = desync__fmix(h + head[k]) + 1;
        h = desync__fmix(h ^ desync__fhash(o->payload, o->size));
    }
    if (n) desync__fitem(f, DESYNC__F_ORDERS, begin);
    f->open = 1, f->open_tick = tick, f->open_begin = begin, f->open_inputs = h;
    desync__ftrim(f);
    return NULL;
}

DESYNC__API const char *desync_flight_system(desync_flight *f, const char *name) {
    const char *err;
    uint64_t begin;
    size_t i = 0;
    if (f->skips) return NULL;
    if (!f->open) return "desync_flight_system: no tick is begun: desync_flight_tick comes first";
    if (!name || !*name || strlen(name) >= DESYNC__F_NAME) return "desync_flight_system: the name is empty or longer than 63 bytes";
    while (i < f->name_count && strcmp(f->names[i], name) != 0) i++;
    if (i == DESYNC__F_NAMES) return "desync_flight_system: there are more than 256 systems";
    if (i == f->name_count) memcpy(f->names[f->name_count++], name, strlen(name) + 1);
    if ((err = desync__fcapture(f)) != NULL) return err;
    begin = f->head;
    desync__fput64(f, i, 2);
    desync__fput64(f, desync__froot(f, f->sums), 8);
    desync__fitem(f, DESYNC__F_STEP, begin);
    desync__ftrim(f);
    return NULL;
}

DESYNC__OWN void desync__fnoticed(desync_flight *f, uint64_t point, uint64_t history);
DESYNC__OWN void desync__fcheck(desync_flight *f);

DESYNC__API const char *desync_flight_state(desync_flight *f, uint64_t point) {
    desync__fentry e;
    const char *err;
    if (f->begun && f->skips) return NULL;
    if (f->begun && (!f->open || point != f->open_tick + 1))
        return "desync_flight_state: the tick before this state is not begun: desync_flight_tick comes first";
    if ((err = desync__fcapture(f)) != NULL) return err;
    memset(&e, 0, sizeof e);
    e.point = point, e.begin = f->begun ? f->open_begin : f->head, e.end = f->head;
    e.inputs = f->open_inputs;
    e.root = desync__froot(f, f->sums);
    e.history = desync__fmix((f->begun ? f->history : desync__fmix(point)) + e.root) + 1;
    if (!f->begun) f->confirmed = point;
    if (!f->begun && f->o.history) e.history = f->o.history;
    f->o.history = 0, f->history = e.history;
    f->begun = 1, f->open = 0, f->past_known = 0;
    desync__ftrim(f);
    if (f->head - e.end <= f->ring_size) {
        if (f->entry_count == f->entry_cap) f->entry_first = (f->entry_first + 1) % f->entry_cap, f->entry_count--;
        *desync__fentry_at(f, f->entry_count++) = e;
    }
    if (!f->o.rollback) f->confirmed = point;
    desync__fcheck(f);
    return NULL;
}

DESYNC__API void desync_flight_touch(desync_flight *f, size_t table) {
    size_t i;
    for (i = 0; i < f->table_count && !f->relay; i++)
        if (f->tables[i].number == table) f->tables[i].touched = 1;
}

DESYNC__API const char *desync_flight_rollback(desync_flight *f, uint64_t point) {
    const desync__fentry *e = desync__fpoint(f, point);
    unsigned kind;
    size_t i;
    if (!f->o.rollback) return "desync_flight_rollback: the recorder was opened without rollback";
    if (f->skips && f->entry_count && point > desync__fentry_at(f, f->entry_count - 1)->point) return NULL;
    if (point < f->confirmed) return "desync_flight_rollback: the state is confirmed";
    if (!e) return "desync_flight_rollback: the state is no longer kept";
    if (f->head - e->end > f->ring_size) return "desync_flight_rollback: the tick is larger than what is kept";
    while (f->head > e->end) f->head = desync__fback(f, f->head, f->live, f->sums, &kind);
    for (i = 0; i < f->table_count; i++) f->tables[i].seen = SIZE_MAX; /* look at the rows again */
    f->entry_count = (size_t)(point - desync__fentry_at(f, 0)->point) + 1;
    f->open = 0, f->skips = 0, f->past_known = 0, f->history = e->history;
    return NULL;
}

DESYNC__API const char *desync_flight_confirm(desync_flight *f, uint64_t point) {
    if (!f->o.rollback) return "desync_flight_confirm: the recorder was opened without rollback";
    if (point < f->confirmed) return "desync_flight_confirm: confirmed points ascend";
    if (!desync__frecords(f, point)) return NULL;
    if (!f->entry_count || point > desync__fentry_at(f, f->entry_count - 1)->point) return "desync_flight_confirm: there is no state of this point yet";
    f->confirmed = point;
    desync__fcheck(f);
    return NULL;
}

DESYNC__API desync_flight_kept desync_flight_holds(const desync_flight *f) {
    desync_flight_kept k = {0, 0, 0, 0, 0};
    k.of = f->ring_size;
    if (!f->entry_count) return k;
    k.from = desync__fentry_at(f, 0)->point, k.to = desync__fentry_at(f, f->entry_count - 1)->point;
    k.bytes = (size_t)(f->head - desync__fentry_at(f, 0)->end);
    k.more = k.bytes + f->entry_count * sizeof(desync__fentry);
    return k;
}

DESYNC__API uint64_t desync_flight_hash(const desync_flight *f, uint64_t point) {
    const desync__fentry *e = desync__fpoint(f, point);
    return e ? e->root : 0;
}

DESYNC__API uint64_t desync_flight_history(const desync_flight *f, uint64_t point) {
    const desync__fentry *e = desync__fpoint(f, point);
    return e ? e->history : 0;
}

/* ---- Packets */

/* What is read of a packet or report: reading past its end sets `bad`, and gives zero. */
typedef struct { const uint8_t *at, *end; int bad; } desync__freader;

DESYNC__OWN uint64_t desync__fnumber(desync__freader *r, size_t n) {
    uint8_t bytes[8] = {0};
    if (n > (size_t)(r->end - r->at)) return r->bad = 1, r->at = r->end, 0;
    memcpy(bytes, r->at, n);
    r->at += n;
    return desync__get64(bytes);
}

DESYNC__OWN const uint8_t *desync__fbytes(desync__freader *r, size_t n) {
    const uint8_t *at = r->at;
    if (n > (size_t)(r->end - r->at)) return r->bad = 1, r->at = r->end, at;
    r->at += n;
    return at;
}

/* What is written: what does not fit sets `full`, and is left out. */
typedef struct { uint8_t *at, *end; int full; } desync__fwriter;

DESYNC__OWN void desync__fwrite(desync__fwriter *w, const void *data, size_t n) {
    if (n > (size_t)(w->end - w->at)) {
        w->full = 1;
        return;
    }
    if (n) memcpy(w->at, data, n);
    w->at += n;
}

DESYNC__OWN void desync__fwrite64(desync__fwriter *w, uint64_t v, size_t n) {
    uint8_t bytes[8];
    desync__little(bytes, v, 8);
    desync__fwrite(w, bytes, n);
}

/* A text of at most 255 bytes. */
DESYNC__OWN void desync__fwrite_text(desync__fwriter *w, const char *text) {
    size_t n = strlen(text);
    if (n > 255) n = 255;
    desync__fwrite64(w, n, 1);
    desync__fwrite(w, text, n);
}

DESYNC__OWN desync__fwriter desync__fpacket(const desync_flight *f, uint8_t *packet, unsigned kind, uint32_t id) {
    desync__fwriter w;
    w.at = packet, w.end = packet + DESYNC_FLIGHT_PACKET - 4, w.full = 0;
    desync__fwrite(&w, "DF\001", 3);
    desync__fwrite64(&w, kind, 1);
    desync__fwrite64(&w, f->o.seed, 8);
    desync__fwrite64(&w, f->schema, 4);
    desync__fwrite64(&w, id, 4);
    return w;
}

DESYNC__OWN size_t desync__fsealed(desync__fwriter *w, const uint8_t *packet) {
    size_t n = (size_t)(w->at - packet);
    desync__little(w->at, desync_crc32c(0, packet, n), 4);
    return n + 4;
}

DESYNC__OWN void desync__fwrite_part(desync__fwriter *w, const desync__fpart *p) {
    desync__fwrite64(w, p->index, 1);
    desync__fwrite64(w, p->what, 1);
    desync__fwrite64(w, p->depth, 1);
    desync__fwrite64(w, p->step, 2);
    desync__fwrite64(w, p->count, 2);
    desync__fwrite64(w, p->table, 4);
    desync__fwrite64(w, p->column, 4);
    desync__fwrite64(w, p->point, 8);
    desync__fwrite64(w, p->from, 8);
}

/* ---- Answers: they depend on the question and on what is kept, on nothing else */

DESYNC__OWN size_t desync__fwidth(const desync__fcolumn *c) { return c->column == SIZE_MAX ? 0 : c->width; }

/* Writes the value of a cell in `past`: 0 no value, 1 a value, 2 one of which only the beginning is there. */
DESYNC__OWN void desync__fwrite_value(const desync_flight *f, desync__fwriter *w, const desync__fcolumn *c, size_t slot) {
    const uint8_t *cell = f->past + c->at + slot * c->size;
    size_t n = desync__fwidth(c), whole;
    if (!desync__fhas(c, cell)) {
        desync__fwrite64(w, 0, 1);
        return;
    }
    if (c->text) whole = desync__get32(cell + 8), cell += 12, n = desync__fleast(whole, DESYNC__F_TEXT);
    else if (c->type == DESYNC_STRING || c->type == DESYNC_BYTES) whole = desync__flength(c, cell), n = desync__fleast(whole, DESYNC__F_VALUE);
    else whole = n;
    desync__fwrite64(w, n == whole ? 1 : 2, 1);
    desync__fwrite64(w, n, 1);
    desync__fwrite(w, cell, n);
    if (n < whole) desync__fwrite64(w, whole, 4), desync__fwrite64(w, c->text ? desync__get64(cell - 12) : desync__fhash(cell, whole), 8);
}

DESYNC__OWN uint64_t desync__fslot_row(const desync__ftable *t, const desync_flight *f, size_t slot) {
    const uint8_t *identity = f->past + f->columns[t->first].at + slot * DESYNC__F_IDENTITY;
    return desync__frow(desync__get64(identity + 1), desync__get64(identity + 9));
}

DESYNC__OWN int desync__fin(uint64_t row, uint64_t of, unsigned depth) { return !depth || row >> (64 - 6 * depth) == of >> (64 - 6 * depth); }

/* The rows of a range, by ascending hash of their keys, beginning at p->from. */
DESYNC__OWN void desync__fanswer_rows(const desync_flight *f, const desync__fpart *p, const desync__ftable *t, desync__fwriter *w) {
    const desync__fcolumn *c = &f->columns[t->first + p->column];
    const uint8_t *identities = f->past + f->columns[t->first].at;
    uint8_t *more = w->at;
    uint64_t from = p->from;
    desync__fwrite64(w, 0, 1);
    for (;;) {
        uint64_t best = UINT64_MAX, row;
        size_t slot = SIZE_MAX, i;
        desync__fwriter try_ = *w;
        for (i = 0; i < t->slots; i++) {
            if (!identities[i * DESYNC__F_IDENTITY]) continue;
            row = desync__fslot_row(t, f, i);
            if (row >= from && desync__fin(row, p->from, p->depth) && (slot == SIZE_MAX || row < best)) best = row, slot = i;
        }
        if (slot == SIZE_MAX) return;
        desync__fwrite(&try_, identities + slot * DESYNC__F_IDENTITY + 1, 16);
        desync__fwrite_value(f, &try_, c, slot);
        if (try_.full) {
            *more = 1;
            return;
        }
        *w = try_;
        if (best == UINT64_MAX) return;
        from = best + 1;
    }
}

/* Writes what a column is; NULL is the identity. */
DESYNC__OWN void desync__fwrite_column(desync__fwriter *w, const char *label, const desync_column *c) {
    desync__fwrite_text(w, label);
    desync__fwrite_text(w, c ? c->component : "");
    desync__fwrite_text(w, c ? c->field : "");
    desync__fwrite64(w, c ? (uint64_t)c->type : 0, 1);
    desync__fwrite64(w, c ? c->scale : 0, 4);
}

DESYNC__OWN int desync__fanswer_tables(desync_flight *f, const desync__fpart *p, desync__fwriter *w) {
    const desync__ftable *t;
    size_t i;
    if (p->point > f->confirmed) return DESYNC__F_NOT_YET;
    if (!desync__frebuild(f, p->point, p->step)) return DESYNC__F_FELL_OUT;
    if (p->what == DESYNC__F_TABLES) {
        desync__fwrite64(w, f->table_count, 4);
        for (i = (size_t)p->from; i < f->table_count && w->end - w->at >= 8; i++) desync__fwrite64(w, desync__fleaf(f, f->past_sums, i), 8);
        return DESYNC__F_OK;
    }
    if (p->table >= f->table_count) return DESYNC__F_NONE;
    t = &f->tables[p->table];
    if (p->what == DESYNC__F_COLUMNS) {
        uint32_t rows = 0;
        for (i = 0; i < t->slots; i++) rows += f->past[f->columns[t->first].at + i * DESYNC__F_IDENTITY];
        desync__fwrite64(w, rows, 4);
        desync__fwrite64(w, t->columns, 4);
        for (i = (size_t)p->from; i < t->columns && w->end - w->at >= 8; i++) desync__fwrite64(w, f->past_sums[t->first + i], 8);
        return DESYNC__F_OK;
    }
    if (p->column >= t->columns || p->depth > 10) return DESYNC__F_NONE;
    if (p->what == DESYNC__F_BUCKETS && p->depth < 10) {
        const desync__fcolumn *c = &f->columns[t->first + p->column];
        uint64_t sums[64];
        memset(sums, 0, sizeof sums);
        for (i = 0; i < t->slots; i++) {
            const uint8_t *identity = f->past + f->columns[t->first].at + i * DESYNC__F_IDENTITY;
            uint64_t row;
            if (!*identity || !desync__fhas(c, f->past + c->at + i * c->size)) continue;
            row = desync__fslot_row(t, f, i);
            if (desync__fin(row, p->from, p->depth)) sums[row >> (58 - 6 * p->depth) & 63] += desync__fcell(c, identity, f->past + c->at + i * c->size);
        }
        for (i = 0; i < 64; i++) desync__fwrite64(w, sums[i], 8);
        return DESYNC__F_OK;
    }
    if (p->what == DESYNC__F_NAMING) {
        const desync__fcolumn *c = &f->columns[t->first + p->column];
        desync__fwrite_column(w, t->table->label, p->column ? &t->table->columns[c->column] : NULL);
        return DESYNC__F_OK;
    }
    if (p->what != DESYNC__F_ROWS) return DESYNC__F_NONE;
    desync__fanswer_rows(f, p, t, w);
    return DESYNC__F_OK;
}

DESYNC__OWN int desync__fanswer_steps(desync_flight *f, const desync__fpart *p, desync__fwriter *w) {
    const desync__fentry *e = desync__fpoint(f, p->point);
    uint64_t at[DESYNC__F_NAMES], back;
    size_t n = 0;
    if (p->point > f->confirmed) return DESYNC__F_NOT_YET;
    if (!e) return DESYNC__F_FELL_OUT;
    desync__fwrite64(w, e->inputs, 8);
    if (f->head - e->begin > f->ring_size) return desync__fwrite64(w, 0, 2), DESYNC__F_OK;
    for (back = e->end; back > e->begin; back -= 4 + desync__fget64(f, back - 4, 4))
        if (desync__fget64(f, back - 5, 1) == DESYNC__F_STEP && n < DESYNC__F_NAMES) at[n++] = back;
    desync__fwrite64(w, n, 2);
    for (n = p->from < n ? n - (size_t)p->from : 0; n > 0; n--) {
        desync__fwriter one = *w;
        size_t index = (size_t)desync__fget64(f, at[n - 1] - 15, 2);
        desync__fwrite_text(&one, f->names[index % DESYNC__F_NAMES]);
        desync__fwrite64(&one, desync__fget64(f, at[n - 1] - 13, 8), 8);
        if (one.full) break;
        *w = one;
    }
    return DESYNC__F_OK;
}

/* Answers a part of a question. Returns the state, and writes what belongs to it. */
DESYNC__OWN int desync__fanswer_part(desync_flight *f, const desync__fpart *p, desync__fwriter *w) {
    uint64_t point = p->point, i;
    if (f->relay) return DESYNC__F_FELL_OUT;
    switch (p->what) {
    case DESYNC__F_STATUS:
        desync__fwrite64(w, f->entry_count ? desync__fentry_at(f, 0)->point : 0, 8);
        desync__fwrite64(w, f->entry_count ? f->confirmed : 0, 8);
        desync__fwrite64(w, f->report_size ? 1 : 0, 1);
        return f->entry_count ? DESYNC__F_OK : DESYNC__F_FELL_OUT;
    case DESYNC__F_HISTORY:
        if (point > f->confirmed) return DESYNC__F_NOT_YET;
        if (!desync__fpoint(f, point)) return DESYNC__F_FELL_OUT;
        for (i = 0; i < p->count && point <= f->confirmed && w->end - w->at >= 16; i++, point += p->from) {
            const desync__fentry *e = desync__fpoint(f, point);
            if (!e) break;
            desync__fwrite64(w, e->history, 8);
            if (p->from == 1) desync__fwrite64(w, e->root, 8);
        }
        return DESYNC__F_OK;
    case DESYNC__F_STEPS: return desync__fanswer_steps(f, p, w);
    default: return desync__fanswer_tables(f, p, w);
    }
}

/* ---- Asking */

enum { DESYNC__F_IDLE, DESYNC__F_ASK_STATUS, DESYNC__F_ASK_HISTORY, DESYNC__F_ASK_STEPS, DESYNC__F_ASK_TABLES, DESYNC__F_ASK_COLUMNS, DESYNC__F_ASK_NAMES, DESYNC__F_ASK_ROWS,
       DESYNC__F_SHARE };

DESYNC__OWN desync__fanswer *desync__fanswer_of(const desync_flight *f, size_t peer, size_t part) {
    return &f->answers[f->stage <= DESYNC__F_ASK_HISTORY ? peer : (size_t)f->peers[peer].group * DESYNC__F_PARTS + part];
}

DESYNC__OWN desync__fpart *desync__fadd(desync_flight *f, unsigned what) {
    desync__fpart *p = &f->parts[f->part_count];
    memset(p, 0, sizeof *p);
    p->index = (uint8_t)f->part_count++, p->what = (uint8_t)what;
    p->point = f->point, p->step = (uint16_t)f->step;
    return p;
}

/* Asks all peers, or from the steps on one peer of each group, and answers for this peer itself. */
DESYNC__OWN void desync__fask(desync_flight *f) {
    size_t i, k;
    f->id = (uint32_t)f->o.self << 24 | (++f->counter & 0xffffff);
    f->rounds++;
    for (i = 0; i < f->o.peer_count; i++) {
        desync__fpeer *p = &f->peers[i];
        p->asks = f->stage <= DESYNC__F_ASK_HISTORY ? !p->gone && !p->foreign : 0;
        for (k = 0; k < f->group_count && f->stage > DESYNC__F_ASK_HISTORY; k++)
            if (f->groups[k].peer == i) p->asks = 1, p->group = (int)k;
        p->answered = 0, p->asked = 0, p->late = 0, p->since = f->now;
        if (f->relay && i == f->o.self) p->asks = 0;
        if (!p->asks) continue;
        for (k = 0; k < f->part_count; k++) desync__fanswer_of(f, i, k)->state = -1;
        for (k = 0; k < f->part_count && i == f->o.self; k++) {
            desync__fanswer *a = desync__fanswer_of(f, i, k);
            desync__fwriter w;
            w.at = a->data, w.end = a->data + DESYNC__F_BODY - 2, w.full = 0;
            a->state = desync__fanswer_part(f, &f->parts[k], &w);
            a->n = (size_t)(w.at - a->data);
            p->answered |= (uint32_t)1 << k;
        }
    }
}

DESYNC__OWN void desync__fask_history(desync_flight *f) {
    uint64_t span = f->high - f->low;
    desync__fpart *p;
    f->stage = DESYNC__F_ASK_HISTORY, f->part_count = 0;
    p = desync__fadd(f, DESYNC__F_HISTORY);
    f->stride = span <= 60 ? 1 : span <= 120 ? 2 : (span + 119) / 120;
    p->point = f->low, p->from = f->stride, p->count = (uint16_t)((span + f->stride - 1) / f->stride);
    desync__fask(f);
}

DESYNC__OWN desync__freader desync__fanswered(const desync_flight *f, size_t peer, size_t part) {
    const desync__fanswer *a = desync__fanswer_of(f, peer, part);
    desync__freader r;
    r.at = a->data, r.end = a->data + (a->state == DESYNC__F_OK ? a->n : 0), r.bad = 0;
    return r;
}

DESYNC__OWN void desync__fshare(desync_flight *f);

/* Asks for the next points that some do not have. */
DESYNC__OWN void desync__fask_latest(desync_flight *f) {
    f->high = f->top - f->low > 60 ? f->low + 60 : f->top;
    desync__fask_history(f);
}

/* The peers' first and last points. The points that some of them do not have yet are compared first, one by one; at all
   points before these the peers can be compared by halves. */
DESYNC__OWN void desync__fafter_status(desync_flight *f) {
    uint64_t most = 0;
    size_t i, n = 0;
    f->oldest = 0, f->top = 0, f->common = UINT64_MAX;
    for (i = 0; i < f->o.peer_count; i++) {
        desync__freader r;
        uint64_t first, last;
        if (!f->peers[i].asks || f->peers[i].gone) continue;
        r = desync__fanswered(f, i, 0);
        first = desync__fnumber(&r, 8), last = desync__fnumber(&r, 8);
        if (r.bad || last < first || last == UINT64_MAX) continue;
        n++;
        if (first > f->oldest) f->oldest = first;
        if (last + 1 > most) f->top = most, most = last + 1;
        else if (last + 1 > f->top) f->top = last + 1;
        if (last < f->common) f->common = last;
    }
    if (n < 2) {
        for (i = 0; i < f->o.peer_count; i++)
            if (f->peers[i].foreign) n = 2;
        if (n < 2) f->stage = DESYNC__F_IDLE, f->status = DESYNC_FLIGHT_SILENT;
        else f->flags |= DESYNC__F_OTHER_STATE, desync__fshare(f);
        return;
    }
    if (f->common < f->oldest) f->common = f->oldest;
    if (f->top <= f->common) f->top = f->common + 1;
    f->low = f->common;
    desync__fask_latest(f);
}

/* Makes groups of the peers by their histories at the point, which is number k of the answers. */
DESYNC__OWN void desync__fgrouped(desync_flight *f, size_t k) {
    size_t i, g;
    f->group_count = 0;
    for (i = 0; i < f->o.peer_count; i++) {
        desync__freader r;
        uint64_t history, root;
        if (!f->peers[i].asks || f->peers[i].gone) continue;
        r = desync__fanswered(f, i, 0);
        desync__fbytes(&r, 16 * k);
        history = desync__fnumber(&r, 8), root = desync__fnumber(&r, 8);
        if (r.bad) continue;
        for (g = 0; g < f->group_count && f->groups[g].history != history; g++) {
        }
        if (g == DESYNC__F_GROUPS) continue;
        if (g == f->group_count) {
            memset(&f->groups[g], 0, sizeof f->groups[g]);
            f->groups[g].peer = i, f->groups[g].history = history, f->groups[g].root = root;
            f->group_count++;
        }
        f->groups[g].members |= (uint64_t)1 << i;
    }
    f->silent = f->o.peer_count == 64 ? UINT64_MAX : ((uint64_t)1 << f->o.peer_count) - 1;
    if (f->relay) f->silent &= ~(uint64_t)1;
    for (g = 0; g < f->group_count; g++) f->silent &= ~f->groups[g].members;
}

DESYNC__OWN void desync__fask_tables(desync_flight *f) {
    size_t i, each = (DESYNC__F_BODY - 6) / 8;
    f->stage = DESYNC__F_ASK_TABLES, f->part_count = 0;
    for (i = 0; (i < f->table_count || (f->relay && !i)) && f->part_count + 1 < DESYNC__F_PARTS; i += each) { /* at the end, and after the step */
        desync__fpart *p = desync__fadd(f, DESYNC__F_TABLES);
        p->from = i, p->step = DESYNC__F_END;
        if (f->step != DESYNC__F_END) desync__fadd(f, DESYNC__F_TABLES)->from = i;
    }
    desync__fask(f);
}

DESYNC__OWN void desync__fask_steps(desync_flight *f, size_t from) {
    f->stage = DESYNC__F_ASK_STEPS, f->part_count = 0;
    desync__fadd(f, DESYNC__F_STEPS)->from = f->step_number = from;
    desync__fask(f);
}

DESYNC__OWN void desync__fafter_history(desync_flight *f) {
    size_t each = f->stride == 1 ? 16 : 8, count = f->parts[0].count, k, i;
    for (k = 0; k < count; k++) {
        uint64_t seen = 0;
        int any = 0, differs = 0;
        for (i = 0; i < f->o.peer_count; i++) {
            desync__freader r;
            uint64_t history;
            if (!f->peers[i].asks || f->peers[i].gone) continue;
            r = desync__fanswered(f, i, 0);
            desync__fbytes(&r, each * k);
            history = desync__fnumber(&r, 8);
            if (r.bad) continue;
            if (any && history != seen) differs = 1;
            any = 1, seen = history;
        }
        if (!differs) continue;
        if (k == 0 && f->low == f->common && f->low > f->oldest && !f->older) { /* among the points before */
            f->older = 1;
            f->high = f->low + 1, f->low = f->oldest;
            desync__fask_history(f);
            return;
        }
        if (f->stride > 1) {
            f->high = f->low + k * f->stride + 1;
            f->low = k ? f->low + (k - 1) * f->stride + 1 : f->low;
            desync__fask_history(f);
            return;
        }
        if (f->low + k == f->oldest) f->flags |= DESYNC__F_LOST;
        f->point = f->low + k;
        f->step = DESYNC__F_END;
        desync__fgrouped(f, k);
        if (f->flags & DESYNC__F_LOST) desync__fask_tables(f);
        else desync__fask_steps(f, 0);
        return;
    }
    if (f->stride > 1 && f->low + (count - 1) * f->stride + 1 < f->high) {
        f->low += (count - 1) * f->stride + 1;
        desync__fask_history(f);
        return;
    }
    if (!f->older && f->high < f->top && f->rounds < DESYNC__F_ROUNDS / 2) {
        f->low = f->high;
        desync__fask_latest(f);
        return;
    }
    desync__fgrouped(f, 0); /* nothing differs: who answered is all that is known */
    f->group_count = 0;
    desync__fshare(f);
}

DESYNC__OWN void desync__fafter_steps(desync_flight *f) {
    desync__freader r[DESYNC__F_GROUPS];
    size_t g, k, total = SIZE_MAX;
    for (g = 0; g < f->group_count; g++) {
        r[g] = desync__fanswered(f, f->groups[g].peer, 0);
        f->groups[g].inputs = desync__fnumber(&r[g], 8);
        k = (size_t)desync__fnumber(&r[g], 2);
        if (k < total) total = k;
        if (r[g].bad) total = 0;
    }
    for (k = f->step_number; k < total; k++) {
        char name[DESYNC__F_NAME];
        int differs = 0, bad = 0;
        for (g = 0; g < f->group_count; g++) {
            size_t n = (size_t)desync__fnumber(&r[g], 1);
            const uint8_t *text = desync__fbytes(&r[g], n);
            f->groups[g].step_root = desync__fnumber(&r[g], 8);
            if (r[g].bad || n >= DESYNC__F_NAME) bad = 1;
            if (bad) break;
            if (!g) memcpy(name, text, n), name[n] = 0;
            else if (strlen(name) != n || memcmp(name, text, n) != 0) bad = 1;
            if (g && f->groups[g].step_root != f->groups[0].step_root) differs = 1;
        }
        if (bad && k > f->step_number) {
            desync__fask_steps(f, k); /* the rest of them */
            return;
        }
        if (bad) break;
        if (!differs) continue;
        f->step = (uint32_t)k;
        memcpy(f->step_name, name, sizeof name);
        break;
    }
    if (f->step == DESYNC__F_END)
        for (g = 0; g < f->group_count; g++) f->groups[g].step_root = f->groups[g].root;
    desync__fask_tables(f);
}

DESYNC__OWN void desync__fafter_tables(desync_flight *f) {
    size_t part, i, g, asked = f->part_count, n = 0, most = f->step == DESYNC__F_END ? DESYNC__F_PARTS : DESYNC__F_PARTS / 2;
    size_t counts[2] = {0, 0};
    desync__fpart parts[DESYNC__F_PARTS];
    if (f->relay && !f->table_count) {
        for (g = 0; g < f->group_count; g++) {
            desync__freader r = desync__fanswered(f, f->groups[g].peer, 0);
            size_t count = (size_t)desync__fnumber(&r, 4);
            if (count > f->table_count) f->table_count = count;
        }
        if (!f->table_count) f->flags |= DESYNC__F_CUT;
        if (f->table_count > (DESYNC__F_BODY - 6) / 8) {
            desync__fask_tables(f);
            return;
        }
    }
    f->tables_differ = 0;
    for (part = 0; part < asked; part++) {
        const desync__fpart *p = &f->parts[part];
        size_t *count = &counts[p->step != DESYNC__F_END];
        for (i = 0; p->from + i < f->table_count && i < (DESYNC__F_BODY - 6) / 8; i++) {
            uint64_t first = 0;
            int differs = 0;
            for (g = 0; g < f->group_count; g++) {
                desync__freader r = desync__fanswered(f, f->groups[g].peer, part);
                uint64_t leaf;
                desync__fbytes(&r, 4 + 8 * i);
                leaf = desync__fnumber(&r, 8);
                if (r.bad) f->flags |= DESYNC__F_CUT;
                if (g && leaf != first) differs = 1;
                if (!g) first = leaf;
            }
            if (!differs) continue;
            if (p->step == DESYNC__F_END) f->tables_differ++;
            if (*count == most) {
                f->flags |= DESYNC__F_CUT;
                continue;
            }
            ++*count;
            memset(&parts[n], 0, sizeof parts[n]);
            parts[n].step = p->step, parts[n++].table = (uint32_t)(p->from + i);
        }
    }
    if (!n) {
        desync__fshare(f);
        return;
    }
    f->stage = DESYNC__F_ASK_COLUMNS, f->part_count = 0;
    for (i = 0; i < n; i++) {
        desync__fpart *p = desync__fadd(f, DESYNC__F_COLUMNS);
        p->table = parts[i].table, p->step = parts[i].step;
    }
    desync__fask(f);
}

DESYNC__OWN void desync__fpush(desync_flight *f, size_t listed, unsigned depth, uint64_t from, uint64_t rows) {
    desync__fwork *w;
    if (f->work_count == DESYNC__F_WORK) {
        f->flags |= DESYNC__F_CUT;
        f->listed[listed].pending |= (uint64_t)1 << 63;
        return;
    }
    w = &f->work[(f->work_first + f->work_count++) % DESYNC__F_WORK];
    w->listed = (uint8_t)listed, w->depth = (uint8_t)depth, w->from = from, w->rows = rows;
    f->listed[listed].pending++;
}

/* Asks for the next ranges: a small one for its rows, a large one for the sums of its parts. */
DESYNC__OWN void desync__fask_rows(desync_flight *f) {
    if (!f->work_count || f->rounds >= DESYNC__F_ROUNDS - 1 || f->full || f->spent == DESYNC__F_SPENT) {
        desync__fshare(f);
        return;
    }
    f->stage = DESYNC__F_ASK_ROWS, f->part_count = 0;
    while (f->work_count && f->part_count < DESYNC__F_PARTS && f->spent < DESYNC__F_SPENT) {
        desync__fwork *w = &f->work[f->work_first];
        const desync__flisted *l = &f->listed[w->listed];
        desync__fpart *p = desync__fadd(f, w->rows * (18 + l->width) < DESYNC__F_BODY || w->depth >= 10 ? DESYNC__F_ROWS : DESYNC__F_BUCKETS);
        p->table = (uint32_t)l->table, p->column = (uint32_t)l->column, p->depth = w->depth, p->from = w->from, p->step = DESYNC__F_END;
        p->count = w->listed; /* answers do not depend on it */
        f->work_first = (f->work_first + 1) % DESYNC__F_WORK, f->work_count--, f->spent++;
        f->listed[w->listed].pending--;
    }
    desync__fask(f);
}

/* How many columns a table has: a relay only knows what the peers have answered. */
DESYNC__OWN size_t desync__fcolumns_of(const desync_flight *f, size_t part, uint64_t *rows) {
    size_t g, most = 0;
    *rows = 0;
    if (!f->relay) return *rows = f->tables[f->parts[part].table].slots, f->tables[f->parts[part].table].columns;
    for (g = 0; g < f->group_count; g++) {
        desync__freader r = desync__fanswered(f, f->groups[g].peer, part);
        uint64_t of = desync__fnumber(&r, 4), count = desync__fnumber(&r, 4);
        if (of > *rows) *rows = of;
        if (count > most) most = (size_t)count;
    }
    return desync__fleast(most, (DESYNC__F_BODY - 10) / 8 + 1); /* one that no answer has room for: more may differ */
}

/* Asks what the listed columns are; only a relay does not know. */
DESYNC__OWN void desync__fask_names(desync_flight *f) {
    size_t k;
    f->part_count = 0;
    for (k = f->named; f->relay && k < f->listed_count && f->part_count < DESYNC__F_PARTS; k++) {
        desync__fpart *p = desync__fadd(f, DESYNC__F_NAMING);
        p->table = (uint32_t)f->listed[k].table, p->column = (uint32_t)f->listed[k].column, p->step = DESYNC__F_END;
    }
    if (!f->part_count) {
        desync__fask_rows(f);
        return;
    }
    f->stage = DESYNC__F_ASK_NAMES;
    desync__fask(f);
    f->rounds--;
}

/* Reads what a column is. Returns its type, -1 if that cannot be. */
DESYNC__OWN int desync__fread_naming(desync__freader *r, const desync__flisted *l) {
    size_t i, n, names = 0;
    int type;
    for (i = 0; i < 3; i++) {
        n = (size_t)desync__fnumber(r, 1);
        desync__fbytes(r, n);
        if (i) names += n;
    }
    type = (int)desync__fnumber(r, 1);
    desync__fnumber(r, 4);
    return r->bad || r->at != r->end || type > DESYNC_REF || !type != !l->column || (!type && names) ? -1 : type;
}

DESYNC__OWN void desync__fafter_names(desync_flight *f) {
    size_t part, g;
    for (part = 0; part < f->part_count; part++, f->named++) {
        desync__flisted *l = &f->listed[f->named];
        desync__fnaming *to = &f->namings[f->named];
        int type = -1;
        for (g = 0; g < f->group_count && type < 0; g++) {
            desync__freader r = desync__fanswered(f, f->groups[g].peer, part);
            const uint8_t *data = r.at;
            type = desync__fread_naming(&r, l);
            if (type >= 0) to->n = (size_t)(r.at - data), memcpy(to->data, data, to->n);
        }
        if (type < 0) { /* an older peer */
            char table[32], column[32];
            desync__fwriter w;
            desync_column c;
            memset(&c, 0, sizeof c);
            snprintf(table, sizeof table, "table %lu", (unsigned long)l->table);
            snprintf(column, sizeof column, "%lu", (unsigned long)l->column);
            c.component = "column", c.field = column, c.type = DESYNC_BYTES;
            w.at = to->data, w.end = to->data + sizeof to->data, w.full = 0;
            desync__fwrite_column(&w, table, l->column ? &c : NULL);
            to->n = (size_t)(w.at - to->data);
            type = l->column ? DESYNC_BYTES : 0;
        }
        l->width = desync__sizes[type];
        if (type && !l->width) l->width = DESYNC__F_TEXT;
    }
    desync__fask_names(f);
}

DESYNC__OWN void desync__fafter_columns(desync_flight *f) {
    size_t part, i, g, asked = f->part_count;
    f->columns_differ = 0, f->listed_count = 0, f->work_count = 0, f->found_size = 0;
    for (part = 0; part < asked; part++) {
        uint64_t slots;
        size_t column_count = desync__fcolumns_of(f, part, &slots);
        for (i = 0; i < column_count; i++) {
            uint64_t first = 0, rows = 0;
            int differs = 0, bad = 0;
            for (g = 0; g < f->group_count; g++) {
                desync__freader r = desync__fanswered(f, f->groups[g].peer, part);
                uint64_t sum, count = desync__fnumber(&r, 4);
                desync__fbytes(&r, 4 + 8 * i);
                sum = desync__fnumber(&r, 8);
                if (r.bad) bad = 1;
                if (count > rows) rows = count;
                if (g && sum != first) differs = 1;
                if (!g) first = sum;
            }
            if (bad) f->flags |= DESYNC__F_CUT;
            if (bad || !differs) continue;
            for (g = 0; g < f->listed_count && (f->listed[g].table != f->parts[part].table || f->listed[g].column != i); g++) {
            }
            if (g == f->listed_count) {
                f->columns_differ++;
                if (f->listed_count == DESYNC__F_LISTED) {
                    f->flags |= DESYNC__F_CUT;
                    continue;
                }
                memset(&f->listed[g], 0, sizeof f->listed[g]);
                f->listed[g].table = f->parts[part].table, f->listed[g].column = i;
                if (!f->relay) f->listed[g].width = desync__fleast(desync__fwidth(&f->columns[f->tables[f->parts[part].table].first + i]), DESYNC__F_VALUE);
                f->listed_count++;
            }
            if (slots > f->listed[g].slots) f->listed[g].slots = (size_t)slots;
            if (f->parts[part].step != DESYNC__F_END) f->listed[g].first = 1;
            else desync__fpush(f, g, 0, 0, rows);
        }
    }
    f->named = 0;
    desync__fask_names(f);
}

/* A row of an answer. */
typedef struct { uint64_t hash, key, key2; const uint8_t *value; size_t size; int ends; } desync__frow_of;

/* Reads a value; returns its bytes, with the state before it. */
DESYNC__OWN const uint8_t *desync__fread_value(desync__freader *r, size_t *size) {
    const uint8_t *at = r->at;
    unsigned state = (unsigned)desync__fnumber(r, 1);
    if (state == 1 || state == 2) desync__fbytes(r, (size_t)desync__fnumber(r, 1));
    else if (state != 0 && state != 3) r->bad = 1;
    if (state == 2) desync__fbytes(r, 12);
    *size = (size_t)(r->at - at);
    return at;
}

DESYNC__OWN desync__frow_of desync__fnext_row(desync__freader *r) {
    desync__frow_of row;
    memset(&row, 0, sizeof row);
    if (r->at == r->end) return row.ends = 1, row;
    row.key = desync__fnumber(r, 8), row.key2 = desync__fnumber(r, 8);
    row.hash = desync__frow(row.key, row.key2);
    row.value = desync__fread_value(r, &row.size);
    row.ends = r->bad;
    return row;
}

/* Whether two values are the same: of a text, peers may keep beginnings of other lengths. */
DESYNC__OWN int desync__fsame_value(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size) {
    const uint8_t *whole = *a == 1 ? a : b, *cut = *a == 1 ? b : a;
    if (a_size == b_size && memcmp(a, b, a_size) == 0) return 1;
    if (*whole != 1 || *cut != 2) return 0;
    return desync__get32(cut + 2 + cut[1]) == whole[1] && desync__get64(cut + 6 + cut[1]) == desync__fhash(whole + 2, whole[1]);
}

DESYNC__OWN void desync__frows(desync_flight *f, const desync__fpart *p, size_t part) {
    desync__freader r[DESYNC__F_GROUPS];
    desync__frow_of row[DESYNC__F_GROUPS];
    uint64_t bound = UINT64_MAX;
    int more = 0;
    size_t g;
    desync__flisted *l = &f->listed[p->count];
    for (g = 0; g < f->group_count; g++) { /* up to where all of them have answered */
        uint64_t last = 0;
        int cut, any = 0, bad;
        r[g] = desync__fanswered(f, f->groups[g].peer, part);
        cut = (int)desync__fnumber(&r[g], 1);
        bad = r[g].bad;
        for (row[g] = desync__fnext_row(&r[g]); !row[g].ends; row[g] = desync__fnext_row(&r[g])) {
            const uint64_t h = row[g].hash;
            if (h < p->from || !desync__fin(h, p->from, p->depth) || (any && h <= last)) bad = 1; /* of another range, or twice: nobody answers like that */
            last = h, any = 1;
        }
        if (bad || r[g].bad) {
            f->flags |= DESYNC__F_CUT, l->pending |= (uint64_t)1 << 63;
            return;
        }
        if (cut) more = 1, bound = last < bound ? last : bound;
        r[g] = desync__fanswered(f, f->groups[g].peer, part);
        desync__fnumber(&r[g], 1);
    }
    for (g = 0; g < f->group_count; g++) row[g] = desync__fnext_row(&r[g]);
    for (;;) {
        size_t first = SIZE_MAX, with = 0;
        desync__fwriter w;
        int differs = 0;
        for (g = 0; g < f->group_count; g++)
            if (!row[g].ends && row[g].hash <= bound && (first == SIZE_MAX || row[g].hash < row[first].hash)) first = g;
        if (first == SIZE_MAX) break;
        w.at = f->found + f->found_size, w.end = f->found + f->found_cap, w.full = 0;
        desync__fwrite64(&w, p->count, 1);
        desync__fwrite64(&w, row[first].key, 8);
        desync__fwrite64(&w, row[first].key2, 8);
        {
            desync__frow_of it = row[first];
            for (g = 0; g < f->group_count; g++) {
                int has = !row[g].ends && row[g].hash == it.hash && row[g].key == it.key && row[g].key2 == it.key2;
                if (!has) {
                    desync__fwrite64(&w, 3, 1);
                    continue;
                }
                with++;
                if (!desync__fsame_value(row[g].value, row[g].size, it.value, it.size)) differs = 1;
                desync__fwrite(&w, row[g].value, row[g].size);
                row[g] = desync__fnext_row(&r[g]);
            }
        }
        if (l->column ? !differs && with == f->group_count : with == f->group_count) continue;
        if (w.full) {
            f->full = 1, f->flags |= DESYNC__F_CUT, l->pending |= (uint64_t)1 << 63;
            return;
        }
        l->all++;
        if (!l->column || with == f->group_count) l->rows++; /* that a row is on one side only is the identity's */
        f->found_size = (size_t)(w.at - f->found);
    }
    if (more && bound < UINT64_MAX && desync__fin(bound + 1, p->from, p->depth) && bound >= p->from) desync__fpush(f, p->count, p->depth, bound + 1, 1);
}

DESYNC__OWN void desync__fafter_rows(desync_flight *f) {
    size_t part, i, g;
    for (part = 0; part < f->part_count; part++) {
        const desync__fpart *p = &f->parts[part];
        if (p->what == DESYNC__F_ROWS) {
            desync__frows(f, p, part);
            continue;
        }
        for (i = 0; i < 64; i++) {
            uint64_t first = 0, rows, parent;
            int differs = 0;
            for (g = 0; g < f->group_count; g++) {
                desync__freader r = desync__fanswered(f, f->groups[g].peer, part);
                uint64_t sum;
                desync__fbytes(&r, 8 * i);
                sum = desync__fnumber(&r, 8);
                if (r.bad) f->flags |= DESYNC__F_CUT;
                if (g && sum != first) differs = 1;
                if (!g) first = sum;
            }
            if (!differs) continue;
            rows = f->listed[p->count].slots >> 6 * (p->depth + 1);
            parent = p->depth ? p->from >> (64 - 6 * p->depth) << (64 - 6 * p->depth) : 0;
            desync__fpush(f, p->count, p->depth + 1u, parent | (uint64_t)i << (58 - 6 * p->depth), rows + rows / 2 + 1);
        }
    }
    desync__fask_rows(f);
}

/* ---- The report */

DESYNC__OWN const desync_column *desync__fcolumn_of(const desync_flight *f, const desync__flisted *l) {
    const desync__fcolumn *c = &f->columns[f->tables[l->table].first + l->column];
    return c->column == SIZE_MAX ? NULL : &f->tables[l->table].table->columns[c->column];
}

/* Writes the rows of a listed column by ascending keys. */
DESYNC__OWN void desync__fwrite_rows(const desync_flight *f, desync__fwriter *w, size_t listed) {
    uint64_t key = 0, key2 = 0;
    int begun = 0;
    for (;;) {
        desync__freader r;
        const uint8_t *best = NULL;
        size_t size = 0, n, g;
        uint64_t best_key = 0, best_key2 = 0;
        r.at = f->found, r.end = f->found + f->found_size, r.bad = 0;
        while (r.at < r.end) {
            const uint8_t *at;
            size_t of = (size_t)desync__fnumber(&r, 1);
            uint64_t k, k2;
            at = r.at;
            k = desync__fnumber(&r, 8), k2 = desync__fnumber(&r, 8);
            for (g = 0; g < f->group_count; g++) desync__fread_value(&r, &n);
            if (of != listed || (begun && (k < key || (k == key && k2 <= key2)))) continue;
            if (best && (k > best_key || (k == best_key && k2 >= best_key2))) continue;
            best = at, size = (size_t)(r.at - at), best_key = k, best_key2 = k2;
        }
        if (!best) return;
        desync__fwrite(w, best, size);
        key = best_key, key2 = best_key2, begun = 1;
    }
}

/* Begins to send the report to a peer. */
DESYNC__OWN void desync__fshare_with(desync_flight *f, size_t peer) {
    desync__fpeer *p = &f->peers[peer];
    f->stage = DESYNC__F_SHARE;
    memset(p->got, 0, sizeof p->got);
    p->chunk = 0, p->late = 0, p->since = f->now, p->asked = 0, p->shares = 1;
}

/* Makes the report of what was found, and begins to hand it out. */
DESYNC__OWN void desync__fshare(desync_flight *f) {
    desync__fwriter w;
    size_t i, g, n = 0;
    w.at = f->report, w.end = f->report + f->report_cap, w.full = 0;
    for (i = 0; i < f->listed_count; i++) {
        desync__flisted *l = &f->listed[i];
        for (g = 0; g < f->listed_count && (f->listed[g].table != l->table || f->listed[g].column); g++) {
        }
        if (g < f->listed_count && l->column && (f->listed[g].first || (!l->rows && !l->pending))) l->first = 0; /* it may be that only rows of one side differ */
        if (l->pending) f->flags |= DESYNC__F_CUT;
        if (l->all || l->pending || l->first) n++;
        if (!l->rows && !l->pending && !l->first) f->columns_differ--;
    }
    desync__fwrite(&w, "DFR\001", 4);
    desync__fwrite64(&w, (uint64_t)f->flags, 1);
    desync__fwrite64(&w, f->o.seed, 8);
    desync__fwrite64(&w, f->group_count ? f->point : 0, 8);
    desync__fwrite64(&w, f->step, 2);
    desync__fwrite_text(&w, f->step_name);
    desync__fwrite64(&w, f->silent, 8);
    desync__fwrite64(&w, f->group_count, 1);
    for (g = 0; g < f->group_count; g++) {
        desync__fwrite64(&w, f->groups[g].members, 8);
        desync__fwrite64(&w, f->groups[g].root, 8);
        desync__fwrite64(&w, f->groups[g].step_root, 8);
        desync__fwrite64(&w, f->groups[g].inputs, 8);
    }
    desync__fwrite64(&w, f->tables_differ, 4);
    desync__fwrite64(&w, f->columns_differ, 4);
    desync__fwrite64(&w, n, 1);
    for (i = 0; i < f->listed_count; i++) {
        const desync__flisted *l = &f->listed[i];
        if (!l->all && !l->pending && !l->first) continue;
        if (f->relay) desync__fwrite(&w, f->namings[i].data, f->namings[i].n);
        else desync__fwrite_column(&w, f->tables[l->table].table->label, desync__fcolumn_of(f, l));
        desync__fwrite64(&w, (l->pending ? 1 : 0) | (l->first ? 2 : 0), 1);
        desync__fwrite64(&w, l->rows + (l->pending & UINT32_MAX), 4);
        desync__fwrite64(&w, l->all, 4);
        desync__fwrite_rows(f, &w, i);
    }
    f->report_size = (size_t)(w.at - f->report);
    f->report_id = f->id, f->reporter = f->o.self;
    f->status = DESYNC_FLIGHT_FOUND;
    for (i = 0; i < f->o.peer_count; i++) desync__fshare_with(f, i);
}

/* ---- The exchange */

DESYNC__OWN void desync__fbegin(desync_flight *f) {
    f->stage = DESYNC__F_ASK_STATUS, f->rounds = f->spent = 0, f->flags = f->full = f->older = 0, f->group_count = 0, f->step = DESYNC__F_END, f->step_name[0] = 0;
    f->tables_differ = f->columns_differ = 0, f->listed_count = f->work_count = f->found_size = 0, f->point = 0;
    f->part_count = 0;
    if (f->relay) f->table_count = 0;
    desync__fadd(f, DESYNC__F_STATUS);
    desync__fask(f);
}

/* Another peer has, or says that it has, another state: what is kept now is kept. */
DESYNC__OWN void desync__fnoticed(desync_flight *f, uint64_t point, uint64_t history) {
    uint64_t last = f->entry_count ? desync__fentry_at(f, f->entry_count - 1)->point : 0;
    size_t i;
    if (f->status != DESYNC_FLIGHT_WATCHING) return;
    f->status = DESYNC_FLIGHT_ASKING;
    f->halt = point > last + 64 ? last + 64 : point;
    f->started = f->now, f->alert_point = point, f->alert_history = history, f->alert_to = 0, f->alerted = 0;
    for (i = 0; i < DESYNC_FLIGHT_PEERS; i++) f->peers[i].gone = 0;
}

/* Compares what peers have sent with the states that are known now, and sends own ones. */
DESYNC__OWN void desync__fcheck(desync_flight *f) {
    uint64_t every = f->o.peer_count > 16 ? f->o.peer_count * 3 / 2 : 16;
    const desync__fentry *e;
    size_t i;
    if (f->status != DESYNC_FLIGHT_WATCHING) return;
    if (f->confirmed / every != f->beat_point / every || !f->beat_history) {
        e = desync__fpoint(f, f->confirmed / every * every);
        if (e) f->beat_point = e->point, f->beat_history = e->history, f->beat_to = 0;
    }
    for (i = 0; i < f->o.peer_count; i++) {
        desync__fpeer *p = &f->peers[i];
        if (!p->beat || p->point > f->confirmed) continue;
        p->beat = 0;
        e = desync__fpoint(f, p->point);
        if (e && e->history != p->history) desync__fnoticed(f, p->point, e->history);
    }
}

DESYNC__API const char *desync_flight_differs(desync_flight *f, uint64_t point) {
    const desync__fentry *e = desync__fpoint(f, point);
    if (!f->begun) return "desync_flight_differs: there is no state yet: desync_flight_state comes first";
    desync__fnoticed(f, point, e ? e->history : 0);
    return NULL;
}

/* Whether all that ask before this peer are silent: the first peer asks. */
DESYNC__OWN int desync__fturn(const desync_flight *f) {
    size_t i;
    for (i = 0; i < f->o.self; i++) {
        uint64_t since = f->peers[i].heard > f->started ? f->peers[i].heard : f->started;
        if (f->now - since < DESYNC__F_WAIT) return 0;
    }
    return 1;
}

DESYNC__OWN void desync__fadvance(desync_flight *f) {
    switch (f->stage) {
    case DESYNC__F_ASK_STATUS: desync__fafter_status(f); break;
    case DESYNC__F_ASK_HISTORY: desync__fafter_history(f); break;
    case DESYNC__F_ASK_STEPS: desync__fafter_steps(f); break;
    case DESYNC__F_ASK_TABLES: desync__fafter_tables(f); break;
    case DESYNC__F_ASK_COLUMNS: desync__fafter_columns(f); break;
    case DESYNC__F_ASK_NAMES: desync__fafter_names(f); break;
    default: desync__fafter_rows(f);
    }
}

/* How long a peer is asked before it is gone: even if a third of all packets are lost both ways, one in 10,000 is given up. */
DESYNC__OWN uint64_t desync__fpatience(const desync_flight *f) {
    const uint64_t least = DESYNC__F_WAIT, wait = f->rto * 16;
    return wait > least ? wait : least;
}

/* Goes on where answers are there, or will not come. */
DESYNC__OWN void desync__fpoll(desync_flight *f) {
    uint32_t all;
    size_t i, k;
    if (f->status == DESYNC_FLIGHT_ASKING && f->stage == DESYNC__F_IDLE && desync__fturn(f)) desync__fbegin(f);
    while (f->stage != DESYNC__F_IDLE && f->stage != DESYNC__F_SHARE) {
        all = ((uint32_t)1 << f->part_count) - 1;
        for (i = 0; i < f->o.peer_count; i++) {
            desync__fpeer *p = &f->peers[i];
            if (!p->asks || p->gone || p->answered == all) continue;
            if (f->now - p->since < desync__fpatience(f)) return;
            p->gone = 1;
            for (k = 0; k < f->group_count && f->stage > DESYNC__F_ASK_HISTORY; k++)
                if (f->groups[k].peer == i && f->restarts++ < 2 * DESYNC_FLIGHT_PEERS) {
                    desync__fbegin(f); /* another peer of its group will do */
                    break;
                }
            if (f->stage == DESYNC__F_ASK_STATUS) return;
        }
        desync__fadvance(f);
    }
}

DESYNC__OWN void desync__fgot_question(desync_flight *f, size_t from, uint32_t id, desync__freader *r) {
    desync__fquestion q;
    size_t i, at;
    if (f->peers[from].sent > DESYNC__F_MOST) return;
    for (at = 0; at < f->queued && f->queue[at].from != from; at++) {
    }
    if (at == DESYNC__F_QUEUE || (at < f->queued && f->queue[at].id == id)) return;
    q.from = from, q.id = id, q.next = 0;
    q.count = (size_t)desync__fnumber(r, 1);
    if (!q.count || q.count > DESYNC__F_PARTS) return;
    for (i = 0; i < q.count; i++) {
        desync__fpart *p = &q.parts[i];
        p->index = (uint8_t)desync__fnumber(r, 1), p->what = (uint8_t)desync__fnumber(r, 1), p->depth = (uint8_t)desync__fnumber(r, 1);
        p->step = (uint16_t)desync__fnumber(r, 2), p->count = (uint16_t)desync__fnumber(r, 2);
        p->table = (uint32_t)desync__fnumber(r, 4), p->column = (uint32_t)desync__fnumber(r, 4);
        p->point = desync__fnumber(r, 8), p->from = desync__fnumber(r, 8);
    }
    if (r->bad) return;
    if (f->report_size) { /* which is the answer to all questions */
        desync__fshare_with(f, from);
        return;
    }
    f->queue[at] = q; /* in the place of an earlier question of that peer */
    if (at == f->queued) f->queued++;
    if (f->status == DESYNC_FLIGHT_WATCHING) desync__fnoticed(f, f->confirmed, 0);
    if (f->status == DESYNC_FLIGHT_SILENT) f->status = DESYNC_FLIGHT_ASKING, f->started = f->now;
    f->alerted = f->now; /* somebody asks: no need to call */
    if (f->stage != DESYNC__F_IDLE && f->stage != DESYNC__F_SHARE && from < f->o.self) f->stage = DESYNC__F_IDLE;
}

DESYNC__OWN void desync__fgot_answer(desync_flight *f, size_t from, uint32_t id, desync__freader *r) {
    desync__fpeer *p = &f->peers[from];
    size_t part = (size_t)desync__fnumber(r, 1);
    unsigned state = (unsigned)desync__fnumber(r, 1);
    desync__fanswer *a;
    if (r->bad || f->stage == DESYNC__F_IDLE || f->stage == DESYNC__F_SHARE || id != f->id || !p->asks || p->gone) return;
    if (part >= f->part_count || p->answered >> part & 1) return;
    a = desync__fanswer_of(f, from, part);
    a->state = (int)state, a->n = (size_t)(r->end - r->at);
    memcpy(a->data, r->at, a->n);
    if (!p->answered && !p->late) { /* asked once: this is how long it takes */
        uint64_t took = f->now - p->asked;
        took += took / 4 + 50;
        if (took > 1000) took = 1000;
        f->rto = took > f->rto ? took : f->rto - (f->rto - took) / 8, f->measured = 1;
    }
    p->answered |= (uint32_t)1 << part;
    p->since = f->now;
}

DESYNC__OWN int desync__fread_report(const desync_flight *f, const uint8_t *data, size_t n);

DESYNC__OWN void desync__fgot_report(desync_flight *f, size_t from, uint32_t id, desync__freader *r) {
    size_t chunk = (size_t)desync__fnumber(r, 2), size = (size_t)desync__fnumber(r, 4), n = (size_t)(r->end - r->at), i;
    size_t chunks = (size + DESYNC__F_CHUNK - 1) / DESYNC__F_CHUNK;
    if (r->bad || !size || size > f->report_cap || chunk >= chunks) return;
    if (n != desync__fleast(size - chunk * DESYNC__F_CHUNK, DESYNC__F_CHUNK)) return;
    if (id != f->incoming_id || from != f->incoming_from || size != f->incoming_size) {
        if (f->incoming_size && f->now - f->peers[f->incoming_from].heard < DESYNC__F_WAIT && from > f->incoming_from) return;
        memset(f->incoming_got, 0, sizeof f->incoming_got);
        f->incoming_id = id, f->incoming_from = from, f->incoming_size = size;
    }
    memcpy(f->incoming + chunk * DESYNC__F_CHUNK, r->at, n);
    f->incoming_got[chunk / 8] |= (uint8_t)(1u << chunk % 8);
    f->ack = 1;
    for (i = 0; i < chunks; i++)
        if (!(f->incoming_got[i / 8] >> i % 8 & 1)) return;
    if (f->status == DESYNC_FLIGHT_FOUND || !desync__fread_report(f, f->incoming, size)) return;
    if (f->status == DESYNC_FLIGHT_WATCHING) desync__fnoticed(f, f->confirmed, 0);
    memcpy(f->report, f->incoming, size);
    f->report_size = size, f->report_id = id, f->reporter = from;
    f->status = DESYNC_FLIGHT_FOUND;
    for (i = 0; i < f->o.peer_count && f->stage != DESYNC__F_IDLE; i++) desync__fshare_with(f, i); /* it was asking the others */
}

/* A relay has the schema of most peers, until the first question is answered. */
DESYNC__OWN void desync__fchoose(desync_flight *f) {
    size_t i, k, count, most = 0;
    uint64_t was = f->schema;
    if (f->status != DESYNC_FLIGHT_WATCHING && f->stage > DESYNC__F_ASK_STATUS) return;
    for (i = 0; i < f->o.peer_count; i++) {
        for (k = 0, count = 0; k < f->o.peer_count; k++) count += f->peers[k].known && f->peers[k].schema == f->peers[i].schema;
        if (f->peers[i].known && count > most) most = count, f->schema = f->peers[i].schema;
    }
    for (i = 0; i < f->o.peer_count; i++) f->peers[i].foreign = f->peers[i].known && f->peers[i].schema != (uint32_t)f->schema;
    if (f->schema != was && f->stage == DESYNC__F_ASK_STATUS) desync__fbegin(f);
}

/* A relay compares a beat with those of all other peers. */
DESYNC__OWN void desync__frelay_beat(desync_flight *f, size_t from, uint64_t point, uint64_t history) {
    desync__fbeat *to = &f->beats[from * DESYNC__F_BEATS + f->peers[from].beats % DESYNC__F_BEATS];
    size_t i, k;
    for (i = 0; i < f->o.peer_count; i++)
        for (k = 0; k < desync__fleast(f->peers[i].beats, DESYNC__F_BEATS) && !f->peers[i].foreign; k++) {
            const desync__fbeat *b = &f->beats[i * DESYNC__F_BEATS + k];
            if (b->point == point && b->history != history) {
                desync__fnoticed(f, point, 0);
                return;
            }
        }
    to->point = point, to->history = history;
    f->peers[from].beats++;
}

DESYNC__API void desync_flight_receive(desync_flight *f, size_t from, const void *packet, size_t n) {
    const uint8_t *at = (const uint8_t *)packet;
    desync__freader r;
    uint32_t id, schema;
    uint64_t point, history;
    desync__fpeer *p;
    if (n < DESYNC__F_HEAD + 4 || n > DESYNC_FLIGHT_PACKET || from == f->o.self) return;
    if (from >= f->o.peer_count) return;
    if (memcmp(at, "DF\001", 3) != 0 || desync_crc32c(0, at, n - 4) != desync__get32(at + n - 4)) return;
    r.at = at + 4, r.end = at + n - 4, r.bad = 0;
    if (desync__fnumber(&r, 8) != f->o.seed || !f->begun) return;
    schema = (uint32_t)desync__fnumber(&r, 4), id = (uint32_t)desync__fnumber(&r, 4);
    p = &f->peers[from];
    p->heard = f->now;
    p->schema = schema, p->known = 1;
    if (f->relay) desync__fchoose(f);
    if (schema != (uint32_t)f->schema) {
        p->foreign = 1;
        desync__fnoticed(f, f->confirmed, 0);
        if (at[3] != DESYNC__F_REPORT && at[3] != DESYNC__F_GOT) return;
    }
    switch (at[3]) {
    case DESYNC__F_BEAT:
        point = desync__fnumber(&r, 8), history = desync__fnumber(&r, 8);
        if (f->relay && !r.bad) desync__frelay_beat(f, from, point, history);
        if (f->relay || r.bad || (p->beat && p->point > f->confirmed && p->point <= point)) return; /* the earliest that is to come */
        p->beat = 1, p->point = point, p->history = history;
        desync__fcheck(f);
        break;
    case DESYNC__F_ALERT:
        point = desync__fnumber(&r, 8);
        if (!r.bad) desync__fnoticed(f, point, 0);
        break;
    case DESYNC__F_QUESTION: desync__fgot_question(f, from, id, &r); break;
    case DESYNC__F_ANSWER: desync__fgot_answer(f, from, id, &r); break;
    case DESYNC__F_REPORT: desync__fgot_report(f, from, id, &r); break;
    case DESYNC__F_GOT:
        if (f->stage != DESYNC__F_SHARE || id != f->report_id || r.end - r.at < (ptrdiff_t)sizeof p->got) return;
        memcpy(p->got, r.at, sizeof p->got);
        p->since = f->now;
    }
}

DESYNC__OWN size_t desync__fsend_answer(desync_flight *f, size_t *to, uint8_t *packet) {
    desync__fquestion *q = &f->queue[0];
    desync__fwriter w = desync__fpacket(f, packet, DESYNC__F_ANSWER, q->id);
    const desync__fpart *p = &q->parts[q->next++];
    uint8_t *state;
    *to = q->from;
    desync__fwrite64(&w, p->index, 1);
    state = w.at;
    desync__fwrite64(&w, 0, 1);
    *state = (uint8_t)desync__fanswer_part(f, p, &w);
    if (*state == DESYNC__F_NOT_YET && f->confirmed < f->halt && f->halt != UINT64_MAX) w.at = NULL; /* it may come: let them ask again */
    if (q->next == q->count) memmove(f->queue, f->queue + 1, --f->queued * sizeof *q);
    if (!w.at) return 0;
    f->peers[*to].sent += (size_t)(w.at - packet);
    return desync__fsealed(&w, packet);
}

DESYNC__OWN size_t desync__fsend_question(desync_flight *f, size_t *to, uint8_t *packet) {
    size_t i, k, n = 0;
    for (i = 0; i < f->o.peer_count; i++) {
        desync__fpeer *p = &f->peers[i];
        desync__fwriter w;
        if (i == f->o.self || !p->asks || p->gone) continue;
        for (k = 0; k < f->part_count; k++) n += !(p->answered >> k & 1);
        if (!n || (p->asked && f->now - p->asked < f->rto)) {
            n = 0;
            continue;
        }
        if (p->asked) p->late++;
        p->asked = f->now;
        w = desync__fpacket(f, packet, DESYNC__F_QUESTION, f->id);
        desync__fwrite64(&w, n, 1);
        for (k = 0; k < f->part_count; k++)
            if (!(p->answered >> k & 1)) desync__fwrite_part(&w, &f->parts[k]);
        *to = i;
        return desync__fsealed(&w, packet);
    }
    return 0;
}

DESYNC__OWN size_t desync__fsend_report(desync_flight *f, size_t *to, uint8_t *packet) {
    size_t i, chunks = (f->report_size + DESYNC__F_CHUNK - 1) / DESYNC__F_CHUNK, n;
    for (i = 0; i < f->o.peer_count; i++) {
        desync__fpeer *p = &f->peers[i];
        desync__fwriter w;
        int any = 0;
        if (i == f->o.self || !p->shares || f->now - p->since > 3 * DESYNC__F_WAIT) continue;
        while ((size_t)p->chunk < chunks && p->got[p->chunk / 8] >> p->chunk % 8 & 1) p->chunk++;
        if ((size_t)p->chunk >= chunks) {
            for (n = 0; n < chunks && p->got[n / 8] >> n % 8 & 1; n++) {
            }
            if (n == chunks || f->now - p->asked < (f->measured ? 2 * f->rto : 2000) << p->late / 8) continue;
            p->chunk = 0, p->late++;
            i--; /* once more, with what it lacks */
            continue;
        }
        p->asked = f->now;
        w = desync__fpacket(f, packet, DESYNC__F_REPORT, f->report_id);
        n = f->report_size - (size_t)p->chunk * DESYNC__F_CHUNK;
        desync__fwrite64(&w, (uint64_t)p->chunk, 2);
        desync__fwrite64(&w, f->report_size, 4);
        desync__fwrite(&w, f->report + (size_t)p->chunk * DESYNC__F_CHUNK, desync__fleast(n, DESYNC__F_CHUNK));
        for (n = 0; n < sizeof p->got; n++) any |= p->got[n];
        p->chunk = any || !p->late ? p->chunk + 1 : (int)chunks; /* nothing is known to have arrived: the first chunk asks for more */
        p->sent += (size_t)(w.at - packet);
        *to = i;
        return desync__fsealed(&w, packet);
    }
    return 0;
}

/* The next peer that `*next` counts, after the last one. */
DESYNC__OWN int desync__fnext_peer(const desync_flight *f, size_t *next, size_t *to) {
    if (*next == f->o.self) ++*next;
    if (*next >= f->o.peer_count) return 0;
    *to = (*next)++;
    return 1;
}

DESYNC__OWN size_t desync__fsend_point(const desync_flight *f, uint8_t *packet, unsigned kind, uint64_t point, uint64_t history) {
    desync__fwriter w = desync__fpacket(f, packet, kind, 0);
    desync__fwrite64(&w, point, 8);
    desync__fwrite64(&w, history, 8);
    return desync__fsealed(&w, packet);
}

DESYNC__API size_t desync_flight_send(desync_flight *f, uint64_t milliseconds, size_t *to, uint8_t packet[DESYNC_FLIGHT_PACKET]) {
    size_t n;
    if (!f->begun) return 0;
    if (++milliseconds > f->now) { /* 0 is no time */
        if (f->started == f->now && f->status == DESYNC_FLIGHT_ASKING) f->started = milliseconds;
        f->now = milliseconds;
    }
    desync__fpoll(f);
    if (f->ack) {
        desync__fwriter w = desync__fpacket(f, packet, DESYNC__F_GOT, f->incoming_id);
        desync__fwrite(&w, f->incoming_got, sizeof f->incoming_got);
        f->ack = 0, *to = f->incoming_from;
        return desync__fsealed(&w, packet);
    }
    while (f->queued)
        if ((n = desync__fsend_answer(f, to, packet)) != 0) return n;
    if (f->status == DESYNC_FLIGHT_ASKING) {
        if (f->stage == DESYNC__F_IDLE && f->alerted && f->now - f->alerted > 1000) f->alert_to = 0;
        if (desync__fnext_peer(f, &f->alert_to, to)) {
            f->alerted = f->now;
            return desync__fsend_point(f, packet, DESYNC__F_ALERT, f->alert_point, f->alert_history);
        }
        if (f->stage != DESYNC__F_IDLE) return desync__fsend_question(f, to, packet);
    }
    if (f->stage == DESYNC__F_SHARE) return desync__fsend_report(f, to, packet);
    if (f->status == DESYNC_FLIGHT_WATCHING && f->beat_history && desync__fnext_peer(f, &f->beat_to, to))
        return desync__fsend_point(f, packet, DESYNC__F_BEAT, f->beat_point, f->beat_history);
    return 0;
}

DESYNC__API int desync_flight_status(const desync_flight *f) { return f->status; }

DESYNC__API const uint8_t *desync_flight_report(const desync_flight *f, size_t *n) {
    *n = f->report_size;
    return f->report_size ? f->report : NULL;
}

DESYNC__API void desync_flight_resume(desync_flight *f) {
    size_t i;
    f->status = DESYNC_FLIGHT_WATCHING, f->stage = DESYNC__F_IDLE;
    f->begun = f->relay, f->open = f->skips = 0, f->entry_count = 0, f->report_size = f->incoming_size = 0, f->queued = 0, f->ack = 0, f->restarts = 0;
    f->halt = UINT64_MAX, f->beat_history = 0, f->beat_point = 0, f->past_known = 0;
    for (i = 0; i < f->table_count && !f->relay; i++) f->tables[i].seen = 0;
    if (!f->relay) memset(f->live, 0, f->state_size), memset(f->sums, 0, f->column_count * sizeof *f->sums);
    for (i = 0; i < DESYNC_FLIGHT_PEERS; i++) f->peers[i].beats = 0, f->peers[i].known = 0;
    for (i = 0; i < DESYNC_FLIGHT_PEERS; i++) f->peers[i].beat = f->peers[i].gone = f->peers[i].foreign = f->peers[i].shares = 0, f->peers[i].sent = 0;
}

/* ---- The report as text and as files */

typedef struct {
    int flags;
    uint64_t point, silent, members[DESYNC__F_GROUPS], roots[DESYNC__F_GROUPS], step_roots[DESYNC__F_GROUPS], inputs[DESYNC__F_GROUPS];
    uint32_t step, tables, columns;
    size_t groups, listed;
    const uint8_t *step_name;
    size_t step_size;
} desync__fhead;

typedef struct { /* a listed column; its rows follow */
    const uint8_t *names[3];
    size_t sizes[3];
    int type, flags;
    uint32_t scale, at_least, rows;
} desync__flist;

DESYNC__OWN desync__fhead desync__fread_head(desync__freader *r) {
    desync__fhead h;
    size_t g;
    memset(&h, 0, sizeof h);
    if (memcmp(desync__fbytes(r, r->end - r->at < 4 ? 0 : 4), "DFR\001", r->end - r->at < 0 ? 0 : 4) != 0) r->bad = 1;
    h.flags = (int)desync__fnumber(r, 1);
    desync__fnumber(r, 8);
    h.point = desync__fnumber(r, 8), h.step = (uint32_t)desync__fnumber(r, 2);
    h.step_size = (size_t)desync__fnumber(r, 1), h.step_name = desync__fbytes(r, h.step_size);
    h.silent = desync__fnumber(r, 8), h.groups = (size_t)desync__fnumber(r, 1);
    if (h.groups > DESYNC__F_GROUPS) r->bad = 1, h.groups = 0;
    for (g = 0; g < h.groups; g++) {
        h.members[g] = desync__fnumber(r, 8), h.roots[g] = desync__fnumber(r, 8);
        h.step_roots[g] = desync__fnumber(r, 8), h.inputs[g] = desync__fnumber(r, 8);
        if (!h.members[g]) r->bad = 1;
    }
    h.tables = (uint32_t)desync__fnumber(r, 4), h.columns = (uint32_t)desync__fnumber(r, 4), h.listed = (size_t)desync__fnumber(r, 1);
    return h;
}

DESYNC__OWN desync__flist desync__fread_list(desync__freader *r) {
    desync__flist l;
    int i;
    memset(&l, 0, sizeof l);
    for (i = 0; i < 3; i++) l.sizes[i] = (size_t)desync__fnumber(r, 1), l.names[i] = desync__fbytes(r, l.sizes[i]);
    l.type = (int)desync__fnumber(r, 1), l.scale = (uint32_t)desync__fnumber(r, 4), l.flags = (int)desync__fnumber(r, 1);
    l.at_least = (uint32_t)desync__fnumber(r, 4), l.rows = (uint32_t)desync__fnumber(r, 4);
    return l;
}

/* Whether all of a report can be read: it may come from any source. */
DESYNC__OWN int desync__fread_report(const desync_flight *f, const uint8_t *data, size_t n) {
    desync__freader r;
    desync__fhead h;
    size_t i, g, size;
    r.at = data, r.end = data + n, r.bad = 0;
    if (n < 8) return 0;
    h = desync__fread_head(&r);
    for (g = 0; g < h.groups; g++)
        if (f->o.peer_count < 64 && h.members[g] >> f->o.peer_count) r.bad = 1;
    for (i = 0; i < h.listed && !r.bad; i++) {
        desync__flist l = desync__fread_list(&r);
        for (; l.rows && !r.bad; l.rows--) {
            desync__fbytes(&r, 16);
            for (g = 0; g < h.groups; g++) desync__fread_value(&r, &size);
        }
    }
    return !r.bad && r.at == r.end;
}

DESYNC__OWN int desync__fsame(const char *name, const uint8_t *text, size_t n) { return strlen(name) == n && memcmp(name, text, n) == 0; }

typedef struct { char *to; size_t size, n; } desync__fsink;

DESYNC__OWN void desync__fsay(desync__fsink *s, const char *text) {
    for (; *text; text++, s->n++)
        if (s->n + 1 < s->size) s->to[s->n] = *text;
}

/* A text of another peer: control characters and what is not ASCII are escaped. */
DESYNC__OWN void desync__fsay_text(desync__fsink *s, const uint8_t *text, size_t n) {
    char c[8];
    for (; n--; text++) {
        if (*text >= ' ' && *text < 127 && *text != '\\') c[0] = (char)*text, c[1] = 0;
        else snprintf(c, sizeof c, "\\x%02x", *text);
        desync__fsay(s, c);
    }
}

DESYNC__OWN void desync__fsay_number(desync__fsink *s, uint64_t v) {
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)v);
    desync__fsay(s, text);
}

DESYNC__OWN void desync__fsay_count(desync__fsink *s, uint64_t n, const char *noun) {
    desync__fsay_number(s, n);
    desync__fsay(s, " ");
    desync__fsay(s, noun);
    if (n != 1) desync__fsay(s, "s");
}

DESYNC__OWN void desync__fsay_peers(const desync_flight *f, desync__fsink *s, uint64_t members) {
    size_t i, n = 0, all = 0, said = 0;
    for (i = 0; i < 64; i++) all += members >> i & 1;
    for (i = 0; i < 64 && i < f->o.peer_count; i++) {
        if (!(members >> i & 1)) continue;
        n++;
        if (said == 4 && all > 5) {
            desync__fsay(s, " and ");
            desync__fsay_number(s, all - said);
            desync__fsay(s, " more");
            return;
        }
        if (said++) desync__fsay(s, n == all ? " and " : ", ");
        desync__fsay_text(s, (const uint8_t *)f->o.peers[i], strlen(f->o.peers[i]));
    }
}

DESYNC__OWN void desync__fsay_value(desync__fsink *s, const desync__flist *l, const uint8_t *at) {
    static const char hex[] = "0123456789abcdef";
    char text[64];
    size_t n = at[0] == 1 || at[0] == 2 ? at[1] : 0, i;
    uint8_t bytes[8] = {0};
    uint64_t v;
    if (at[0] == 0 || at[0] == 3) {
        desync__fsay(s, at[0] ? "no row" : "no value");
        return;
    }
    if (!l->type) {
        desync__fsay(s, "a row");
        return;
    }
    if (l->type == DESYNC_STRING) {
        desync__fsay(s, "\"");
        desync__fsay_text(s, at + 2, n);
        desync__fsay(s, at[0] == 2 ? "\"..." : "\"");
        return;
    }
    if (l->type == DESYNC_BYTES) {
        for (i = 0; i < n; i++) {
            text[0] = hex[at[2 + i] >> 4], text[1] = hex[at[2 + i] & 15], text[2] = 0;
            desync__fsay(s, text);
        }
        if (at[0] == 2) desync__fsay(s, "...");
        return;
    }
    memcpy(bytes, at + 2, n < 8 ? n : 8);
    v = desync__get64(bytes);
    switch (l->type) {
    case DESYNC_BOOL: snprintf(text, sizeof text, "%s", v ? "true" : "false"); break;
    case DESYNC_I8: snprintf(text, sizeof text, "%d", (int)(int8_t)v); break;
    case DESYNC_I16: snprintf(text, sizeof text, "%d", (int)(int16_t)v); break;
    case DESYNC_I32: snprintf(text, sizeof text, "%ld", (long)(int32_t)v); break;
    case DESYNC_I64: snprintf(text, sizeof text, "%lld", (long long)v); break;
    case DESYNC_F32: {
        float x;
        uint32_t half = (uint32_t)v;
        memcpy(&x, &half, 4);
        snprintf(text, sizeof text, "%.9g", (double)x);
        break;
    }
    case DESYNC_F64: {
        double x;
        memcpy(&x, &v, 8);
        snprintf(text, sizeof text, "%.17g", x);
        break;
    }
    case DESYNC_FIXED: snprintf(text, sizeof text, "%lld/%lu", (long long)v, (unsigned long)l->scale); break;
    case DESYNC_REF: snprintf(text, sizeof text, "#%llu", (unsigned long long)v); break;
    default: snprintf(text, sizeof text, "%llu", (unsigned long long)v);
    }
    desync__fsay(s, text);
}

DESYNC__OWN void desync__fsay_column(desync__fsink *s, const desync__flist *l) {
    desync__fsay_text(s, l->sizes[0] ? l->names[0] : (const uint8_t *)"RNG", l->sizes[0] ? l->sizes[0] : 3);
    if (!l->sizes[0]) return;
    if (!l->type) {
        desync__fsay(s, " entities");
        return;
    }
    desync__fsay(s, " ");
    desync__fsay_text(s, l->names[1], l->sizes[1]);
    desync__fsay(s, ".");
    desync__fsay_text(s, l->names[2], l->sizes[2]);
}

/* The first sentence: where, and what differs most directly. */
DESYNC__OWN void desync__fsay_first(const desync_flight *f, desync__fsink *s, const desync__fhead *h) {
    desync__freader r;
    desync__flist best;
    size_t i, g, others = 0, size;
    int have = 0, several = 0; /* peers are of one group */
    if (!h->groups) {
        desync__fsay(s, h->flags & DESYNC__F_OTHER_STATE ? "The peers describe their states otherwise: they run different builds.\n"
                                                         : "The states that the peers still have do not differ.\n");
        return;
    }
    for (g = 0; g < h->groups; g++) several |= (h->members[g] & (h->members[g] - 1)) != 0;
    for (g = 0; g < h->groups; g++) {
        if (g) desync__fsay(s, several ? " against " : g + 1 == h->groups ? " and " : ", ");
        desync__fsay_peers(f, s, h->members[g]);
    }
    desync__fsay(s, h->flags & DESYNC__F_LOST ? " have different states at tick " : " have different states since tick ");
    desync__fsay_number(s, h->flags & DESYNC__F_LOST || !h->point ? h->point : h->point - 1);
    if (h->step_size) {
        desync__fsay(s, ", system ");
        desync__fsay_text(s, h->step_name, h->step_size);
    }
    if (h->flags & DESYNC__F_LOST) desync__fsay(s, ", the first that all of them still have");
    r.at = f->report, r.end = f->report + f->report_size, r.bad = 0;
    desync__fread_head(&r);
    for (i = 0; i < h->listed; i++) {
        desync__flist l = desync__fread_list(&r);
        int shown = l.at_least || l.flags;
        int better = !have || ((l.flags & 2) && !(best.flags & 2)) || ((l.flags & 2) == (best.flags & 2) && !best.sizes[0]);
        others += shown && (l.flags & 2 || h->step == DESYNC__F_END);
        if (better && shown) best = l, have = 1;
        for (; l.rows && !r.bad; l.rows--) {
            desync__fbytes(&r, 16);
            for (g = 0; g < h->groups; g++) desync__fread_value(&r, &size);
        }
    }
    if (have) {
        desync__fsay(s, ": ");
        desync__fsay_column(s, &best);
        desync__fsay(s, best.type ? " differs" : " differ");
        if (best.sizes[0] && best.at_least) {
            desync__fsay(s, best.flags & 1 ? " in at least " : " in ");
            desync__fsay_count(s, best.at_least, "row");
        }
        if (others > 1) {
            desync__fsay(s, ", and ");
            desync__fsay_count(s, others - 1, "more column");
        }
    }
    desync__fsay(s, ".\n");
    for (g = 1; g < h->groups; g++)
        if (h->inputs[g] != h->inputs[0]) {
            desync__fsay(s, "The orders of that tick differ.\n");
            break;
        }
}

/* A row, except what a column has of rows of one side. */
DESYNC__OWN void desync__fsay_row(const desync_flight *f, desync__fsink *s, const desync__fhead *h, const desync__flist *l, desync__freader *r) {
    uint64_t key = desync__fnumber(r, 8), key2 = desync__fnumber(r, 8);
    const uint8_t *values[DESYNC__F_GROUPS];
    size_t g, size;
    int shown = 1;
    for (g = 0; g < h->groups; g++) {
        values[g] = desync__fread_value(r, &size);
        if (l->type && *values[g] == 3) shown = 0;
    }
    if (!shown) return;
    desync__fsay(s, "  #");
    desync__fsay_number(s, key);
    if (key2) desync__fsay(s, "/"), desync__fsay_number(s, key2);
    for (g = 0; g < h->groups; g++) {
        desync__fsay(s, g ? ", " : " ");
        desync__fsay_value(s, l, values[g]);
        desync__fsay(s, " on ");
        desync__fsay_peers(f, s, h->members[g]);
    }
    desync__fsay(s, "\n");
}

DESYNC__API size_t desync_flight_text(const desync_flight *f, char *to, size_t size) {
    desync__fsink s;
    desync__freader r;
    desync__fhead h;
    size_t i, n;
    s.to = to, s.size = size, s.n = 0;
    if (size) *to = 0;
    if (!f->report_size) return 0;
    r.at = f->report, r.end = f->report + f->report_size, r.bad = 0;
    h = desync__fread_head(&r);
    desync__fsay_first(f, &s, &h);
    for (i = 0; i < h.listed; i++) {
        desync__flist l = desync__fread_list(&r);
        if (l.at_least || l.flags) {
            desync__fsay_column(&s, &l);
            desync__fsay(&s, l.flags & 1 ? ": at least " : ": ");
            desync__fsay_count(&s, l.at_least, "row");
            if (l.flags & 2 && h.step_size) desync__fsay(&s, ", differs first");
            desync__fsay(&s, "\n");
        }
        for (n = 0; n < l.rows && !r.bad; n++) desync__fsay_row(f, &s, &h, &l, &r);
    }
    if (h.flags & DESYNC__F_CUT) desync__fsay(&s, "More differs than is listed.\n");
    if (h.silent) {
        desync__fsay(&s, "Not known of ");
        desync__fsay_peers(f, &s, h.silent);
        desync__fsay(&s, ".\n");
    }
    desync__fsay(&s, "Found by ");
    desync__fsay_peers(f, &s, (uint64_t)1 << f->reporter);
    desync__fsay(&s, "; each peer's values are its own word.\n");
    if (size) to[s.n < size ? s.n : size - 1] = 0;
    return s.n;
}

#ifndef DESYNCTOOL_WASM

/* The world whose values are those of `past`. */
typedef struct {
    desync_world world;
    desync_table *tables;
    desync_column *columns;
    desync_bytes *texts; /* of strings without a fixed size */
    int cut;             /* some of them are not whole */
} desync__fworld;

DESYNC__OWN void desync__ffree(desync__fworld *w) {
    free(w->tables);
    free(w->columns);
    free(w->texts);
}

DESYNC__OWN const char *desync__fpast_world(const desync_flight *f, desync__fworld *w) {
    size_t k, i, n, texts = 0;
    desync_column *to;
    desync_bytes *text;
    memset(w, 0, sizeof *w);
    for (k = 0; k < f->table_count; k++)
        for (i = 1; i < f->tables[k].columns; i++)
            if (f->columns[f->tables[k].first + i].text) texts += f->tables[k].slots;
    w->tables = (desync_table *)calloc(f->table_count + 1, sizeof *w->tables);
    w->columns = to = (desync_column *)calloc(f->column_count + 1, sizeof *w->columns);
    w->texts = text = (desync_bytes *)calloc(texts + 1, sizeof *w->texts);
    if (!w->tables || !w->columns || !w->texts) return desync__no_memory;
    for (k = 0; k < f->table_count; k++) {
        const desync__ftable *from = &f->tables[k];
        const uint8_t *identity = f->past + f->columns[from->first].at;
        desync_table *t = &w->tables[w->world.table_count];
        if (from->number == SIZE_MAX) {
            w->world.rng = f->past + f->columns[from->first + 1].at, w->world.rng_size = f->columns[from->first + 1].width;
            continue;
        }
        w->world.table_count++;
        t->label = from->table->label, t->slots = from->slots, t->stride = DESYNC__F_IDENTITY, t->alive = identity;
        if (from->table->key) t->key = identity + 1;
        if (from->table->key2) t->key2 = identity + 9;
        t->columns = to, t->column_count = from->columns - 1;
        for (i = 1; i < from->columns; i++, to++) {
            const desync__fcolumn *c = &f->columns[from->first + i];
            *to = from->table->columns[c->column];
            to->data = f->past + c->at, to->stride = c->size;
            if (to->present) to->present = f->past + c->at + c->width;
            if (!c->text) continue;
            to->data = text, to->stride = sizeof *text, to->present = NULL;
            for (n = 0; n < from->slots; n++, text++) {
                const uint8_t *cell = f->past + c->at + n * c->size;
                text->data = cell + 12, text->len = desync__get32(cell + 8);
                if (!identity[n * DESYNC__F_IDENTITY] || text->len <= DESYNC__F_TEXT) continue;
                w->cut = 1, text->len = DESYNC__F_TEXT;
            }
            if (c->size > c->width) w->cut = 1; /* its presence has another stride */
        }
    }
    w->world.tables = w->tables;
    return w->cut ? "the state has strings of more than 52 bytes, of which only the beginning is kept" : NULL;
}

/* The orders of the tick that leads to a point. The list and its payloads lie in one block, to be freed. */
DESYNC__OWN const char *desync__forders(const desync_flight *f, uint64_t point, desync_order **list, size_t *count) {
    const desync__fentry *e = desync__fpoint(f, point);
    uint64_t back, begin = 0, length = 0;
    size_t n = 0, pass;
    uint8_t *data;
    *list = NULL, *count = 0;
    if (!e || f->head - e->begin > f->ring_size) return "the orders are no longer kept";
    for (back = e->end; back > e->begin; back = begin) {
        length = desync__fget64(f, back - 4, 4);
        begin = back - 4 - length;
        if (desync__fget64(f, back - 5, 1) == DESYNC__F_ORDERS) break;
    }
    if (back <= e->begin) return NULL;
    length--;
    data = (uint8_t *)malloc((size_t)length + 1);
    if (!data) return desync__no_memory;
    desync__fget(f, begin, data, (size_t)length);
    for (pass = 0; pass < 2; pass++) {
        size_t at = 0;
        for (n = 0; at + 20 <= length; n++) {
            uint32_t size = desync__get32(data + at + 16);
            if (pass) {
                desync_order *o = *list + n;
                o->sub_tick = desync__get32(data + at), o->player = desync__get32(data + at + 4), o->sequence = desync__get32(data + at + 8);
                o->kind = desync__get32(data + at + 12), o->size = size, o->payload = (uint8_t *)(*list + *count) + at + 20;
            }
            at += 20 + size;
        }
        if (pass) break;
        *count = n;
        *list = (desync_order *)malloc(n * sizeof **list + (size_t)length + 1);
        if (!*list) {
            free(data);
            return desync__no_memory;
        }
        memcpy(*list + n, data, (size_t)length);
    }
    free(data);
    return NULL;
}

/* Sets a cell of `past` to a value of the report. Returns 0 if that is not all of the value, or there is no room. */
DESYNC__OWN int desync__fset(desync_flight *f, const desync__ftable *t, const desync__fcolumn *c, uint64_t key, uint64_t key2, const uint8_t *value) {
    uint8_t *identities = f->past + f->columns[t->first].at, *cell;
    size_t i, k, slot = SIZE_MAX;
    for (i = 0; i < t->slots; i++) {
        const uint8_t *id = identities + i * DESYNC__F_IDENTITY;
        if (*id && desync__get64(id + 1) == key && desync__get64(id + 9) == key2) break;
        if (!*id && slot == SIZE_MAX && (t->table->key || i == key)) slot = i;
    }
    if (i < t->slots) slot = i;
    if (c->column == SIZE_MAX) {
        if (slot == SIZE_MAX) return 0;
        cell = identities + slot * DESYNC__F_IDENTITY;
        memset(cell, 0, DESYNC__F_IDENTITY);
        if (*value == 3) return 1;
        *cell = 1;
        desync__little(cell + 1, key, 8);
        desync__little(cell + 9, key2, 8);
        for (k = 1; k < t->columns && i == t->slots; k++) { /* what an earlier row had */
            const desync__fcolumn *of = &f->columns[t->first + k];
            if (of->size > of->width) f->past[of->at + slot * of->size + of->width] = 0;
        }
        return 1;
    }
    if (*value == 3) return 1; /* the row itself is gone */
    if (i == t->slots || *value == 2) return 0;
    cell = f->past + c->at + slot * c->size;
    memset(cell, 0, c->size);
    if (!*value) return c->size > c->width;
    if (value[1] > (c->text ? (size_t)DESYNC__F_TEXT : c->width)) return 0;
    if (c->text) desync__little(cell, desync__fhash(value + 2, value[1]), 8), desync__little(cell + 8, value[1], 4);
    memcpy(cell + (c->text ? 12 : 0), value + 2, value[1]);
    if (c->size > c->width) cell[c->width] = 1;
    return 1;
}

/* Makes `past` the state of a group at the end of the divergent tick. Returns 0 if it is not known as a whole. */
DESYNC__OWN int desync__fpatch(desync_flight *f, const desync__fhead *h, size_t group) {
    int pass;
    size_t i, k, n, g, size;
    if (!desync__frebuild(f, h->point, DESYNC__F_END)) return 0;
    f->past_known = 0;
    for (pass = 0; pass < 2; pass++) { /* rows first, then their values */
        desync__freader r;
        r.at = f->report, r.end = f->report + f->report_size, r.bad = 0;
        desync__fread_head(&r);
        for (i = 0; i < h->listed; i++) {
            desync__flist l = desync__fread_list(&r);
            const desync__ftable *t = NULL;
            const desync__fcolumn *c = NULL;
            for (k = 0; k < f->table_count; k++)
                if (desync__fsame(f->tables[k].table->label, l.names[0], l.sizes[0])) t = &f->tables[k];
            for (k = 0; t && k < t->columns; k++) {
                const desync__fcolumn *is = &f->columns[t->first + k];
                const desync_column *of = k ? &t->table->columns[is->column] : NULL;
                if (of ? desync__fsame(of->component, l.names[1], l.sizes[1]) && desync__fsame(of->field, l.names[2], l.sizes[2]) : !l.type && !l.sizes[2]) c = is;
            }
            for (n = 0; n < l.rows; n++) {
                uint64_t key = desync__fnumber(&r, 8), key2 = desync__fnumber(&r, 8);
                const uint8_t *value = NULL;
                for (g = 0; g < h->groups; g++) {
                    const uint8_t *at = desync__fread_value(&r, &size);
                    if (g == group) value = at;
                }
                if (!c || (pass == 0 && l.type) || (pass == 1 && !l.type)) continue;
                if (!desync__fset(f, t, c, key, key2, value)) return 0;
            }
        }
    }
    memset(f->past_sums, 0, f->column_count * sizeof *f->past_sums);
    for (k = 0; k < f->table_count; k++)
        for (i = 0; i < f->tables[k].columns; i++) {
            const desync__fcolumn *c = &f->columns[f->tables[k].first + i];
            for (n = 0; n < f->tables[k].slots; n++) {
                const uint8_t *id = f->past + f->columns[f->tables[k].first].at + n * DESYNC__F_IDENTITY, *cell = f->past + c->at + n * c->size;
                if (*id && (!i || desync__fhas(c, cell))) f->past_sums[f->tables[k].first + i] += desync__fcell(c, id, cell);
            }
        }
    return desync__froot(f, f->past_sums) == h->roots[group];
}

/* The trace of the divergent tick up to the system that differs first: no more is known of others. */
DESYNC__OWN const char *desync__ftrace(const desync_flight *f, const char *path, const desync_header *header, const desync__fhead *h, size_t group, int own) {
    const desync__fentry *e = desync__fpoint(f, h->point);
    desync_trace trace;
    desync_checkpoint c;
    desync_sum sum;
    uint8_t bytes[8];
    uint64_t back, at[DESYNC__F_NAMES];
    size_t n = 0, i;
    const char *err = desync_trace_open(&trace, path, header);
    if (err) return err;
    if (e && f->head - e->begin <= f->ring_size)
        for (back = e->end; back > e->begin; back -= 4 + desync__fget64(f, back - 4, 4))
            if (desync__fget64(f, back - 5, 1) == DESYNC__F_STEP && n < DESYNC__F_NAMES) at[n++] = back;
    for (i = 0; i < n && i <= h->step && !err; i++) {
        memset(&c, 0, sizeof c);
        memset(&sum, 0, sizeof sum);
        desync__little(bytes, own || i < h->step ? desync__fget64(f, at[n - 1 - i] - 13, 8) : h->step_roots[group], 8);
        sum.name = "flight", sum.bytes = bytes, sum.len = 8;
        c.tick = h->point - 1, c.system = f->names[desync__fget64(f, at[n - 1 - i] - 15, 2) % DESYNC__F_NAMES], c.sums = &sum, c.sum_count = 1;
        err = desync_trace_add(&trace, &c);
    }
    {
        const char *closing = desync_trace_close(&trace);
        return err ? err : closing;
    }
}

/* Writes what this peer has from a point to the end of the divergent tick. */
DESYNC__OWN const char *desync__fown_files(desync_flight *f, const char *dir, const desync_header *header, const desync__fhead *h) {
    desync_recorder r;
    const char *labels[64], *err = NULL, *closing;
    size_t label_count = 0, i, k, g, size;
    uint64_t point;
    int open = 0;
    for (point = header->first_point; point <= h->point && !err; point++) {
        desync__fworld w;
        desync_order *orders = NULL;
        size_t n = 0;
        if (!desync__frebuild(f, point, DESYNC__F_END)) break;
        err = desync__fpast_world(f, &w);
        if (!err && !open) err = desync_recorder_open(&r, dir, header, &w.world, DESYNC_NO_TRACE), open = !err;
        if (!err) err = desync_recorder_state(&r, point, &w.world);
        if (!err && point + 1 >= h->point) err = desync_recorder_snapshot(&r, &w.world);
        if (!err && point < h->point) err = desync__forders(f, point + 1, &orders, &n);
        if (!err && point < h->point) err = desync_recorder_tick(&r, point, orders, n);
        if (!err && point == h->point) {
            desync__freader reader;
            reader.at = f->report, reader.end = f->report + f->report_size, reader.bad = 0;
            desync__fread_head(&reader);
            for (i = 0; i < h->listed && label_count < 64; i++) {
                desync__flist l = desync__fread_list(&reader);
                for (k = 0; k < w.world.table_count; k++)
                    if (desync__fsame(w.tables[k].label, l.names[0], l.sizes[0]) && (!label_count || labels[label_count - 1] != w.tables[k].label))
                        labels[label_count++] = w.tables[k].label;
                for (; l.rows; l.rows--) {
                    desync__fbytes(&reader, 16);
                    for (g = 0; g < h->groups; g++) desync__fread_value(&reader, &size);
                }
            }
            err = desync_recorder_report(&r, &w.world, -1, labels, label_count);
        }
        free(orders);
        desync__ffree(&w);
    }
    closing = open ? desync_recorder_close(&r) : NULL;
    return err ? err : closing;
}

/* Writes what another peer had before and after the divergent tick: an order log with the hashes, where its orders were this
   peer's, and for one peer of a group the states. The state before the tick is this peer's too. */
DESYNC__OWN const char *desync__fother_files(desync_flight *f, const char *dir, const char *path, const desync_header *header, const desync__fhead *h, size_t group, size_t peer, int states) {
    const desync__fentry *e = desync__fpoint(f, h->point);
    const int log = e && header->peer == f->o.peers[peer] && h->inputs[group] == e->inputs && f->head - e->begin <= f->ring_size && !(h->flags & DESYNC__F_LOST) && h->point;
    desync_recorder r;
    desync_order *orders = NULL;
    size_t n = 0;
    const char *err = NULL, *closing;
    int after, open = 0;
    for (after = h->flags & DESYNC__F_LOST || !h->point; after < 2 && !err && (log || states); after++) {
        desync__fworld w;
        desync_point at;
        memset(&at, 0, sizeof at);
        at.seed = f->o.seed, at.tick = h->point - !after, at.peer = header->peer;
        if (after && !(h->members[group] >> f->o.self & 1) ? !desync__fpatch(f, h, group) : !desync__frebuild(f, at.tick, DESYNC__F_END)) break;
        err = desync__fpast_world(f, &w);
        if (!err && log && !open) err = desync_recorder_open(&r, dir, header, &w.world, DESYNC_NO_TRACE), open = !err, r.log.observed = 1; /* without a history: it begins earlier */
        if (!err && log) err = desync_recorder_state(&r, at.tick, &w.world);
        if (!err && states) err = desync_snapshot_file(&w.world, &at, path);
        if (!err && log && !after) err = desync__forders(f, h->point, &orders, &n);
        if (!err && log && !after) err = desync_recorder_tick(&r, at.tick, orders, n);
        free(orders);
        orders = NULL;
        desync__ffree(&w);
    }
    closing = open ? desync_recorder_close(&r) : NULL;
    return err ? err : closing;
}

DESYNC__API const char *desync_flight_snapshot(desync_flight *f, size_t peer, desync_buffer *out) {
    desync__freader r;
    desync__fhead h;
    desync__fworld w;
    desync_point at;
    size_t g, group = DESYNC__F_GROUPS, own = DESYNC__F_GROUPS;
    const uint16_t one = 1;
    const char *err;
    if (!f->report_size) return "desync_flight_snapshot: there is no report";
    if (!*(const uint8_t *)&one) return "desync_flight_snapshot: this machine is not little-endian";
    r.at = f->report, r.end = f->report + f->report_size, r.bad = 0;
    h = desync__fread_head(&r);
    for (g = 0; g < h.groups; g++) {
        if (h.members[g] >> f->o.self & 1) own = g;
        if (peer < DESYNC_FLIGHT_PEERS && h.members[g] >> peer & 1) group = g;
    }
    if (own == DESYNC__F_GROUPS || group == DESYNC__F_GROUPS) return "desync_flight_snapshot: the report does not cover both peers";
    if (group == own ? !desync__frebuild(f, h.point, DESYNC__F_END) : !desync__fpatch(f, &h, group))
        return "desync_flight_snapshot: the report does not have all values of that peer";
    memset(&at, 0, sizeof at);
    at.seed = f->o.seed, at.tick = h.point, at.peer = f->o.peers[peer];
    err = desync__fpast_world(f, &w);
    if (!err) err = desync_snapshot(&w.world, &at, out);
    desync__ffree(&w);
    return err;
}

/* Whether a name can be the name of a folder on every system: players choose names. */
DESYNC__OWN int desync__ffolder(const char *name) {
    const char *c;
    for (c = name; *c; c++)
        if ((unsigned char)*c <= ' ' || strchr("/\\:*?\"<>|", *c)) return 0;
    return *name && *name != '.' && c - name <= 100 && c[-1] != '.';
}

DESYNC__API const char *desync_flight_files(desync_flight *f, const char *dir) {
    desync__freader r;
    desync__fhead h;
    desync_header header;
    size_t g, own = SIZE_MAX, i;
    const char *err = NULL;
    const uint16_t one = 1;
    if (!f->report_size) return "desync_flight_files: there is no report";
    if (!*(const uint8_t *)&one) return "desync_flight_files: this machine is not little-endian";
    r.at = f->report, r.end = f->report + f->report_size, r.bad = 0;
    h = desync__fread_head(&r);
    for (g = 0; g < h.groups; g++)
        if (h.members[g] >> f->o.self & 1) own = g;
    if (own == SIZE_MAX) return "desync_flight_files: the report does not cover this peer";
    memset(&header, 0, sizeof header);
    header.seed = f->o.seed, header.build = f->o.build, header.kinds = f->o.kinds, header.kind_count = f->o.kind_count;
    header.peers = f->o.peers, header.peer_count = f->o.peer_count;
    for (i = 0; i < f->o.peer_count && !err; i++) {
        uint64_t from = h.point, oldest = desync__fentry_at(f, 0)->point;
        const int self = i == f->o.self;
        char *path, number[16];
        for (g = 0; g < h.groups && !(h.members[g] >> i & 1); g++) {
        }
        if (g == h.groups) continue; /* it did not answer */
        header.peer = f->o.peers[i];
        if (!desync__ffolder(header.peer)) {
            if (self) return "desync_flight_files: the name of this peer cannot be the name of a folder";
            snprintf(number, sizeof number, "peer-%u", (unsigned)i);
            header.peer = number;
        }
        path = (char *)malloc(strlen(dir) + strlen(header.peer) + 32);
        if (!path) return desync__no_memory;
        sprintf(path, "%s/%s", dir, header.peer);
        desync__mkdir(dir);
        desync__mkdir(path);
        while (self && from > oldest && h.point - from < 32 && f->head - desync__fpoint(f, from)->begin <= f->ring_size) from--;
        header.first_point = self || !h.point ? from : h.point - 1;
        /* of each group the states of the lowest peer, of the own one those of this peer */
        err = self ? desync__fown_files(f, dir, &header, &h) : desync__fother_files(f, dir, path, &header, &h, g, i, g != own && !(h.members[g] & (((uint64_t)1 << i) - 1)));
        strcat(path, "/checkpoints.trace");
        if (!err && h.step != DESYNC__F_END) err = desync__ftrace(f, path, &header, &h, g, g == own);
        free(path);
    }
    return err;
}

#endif

#endif
