/* SPDX-License-Identifier: MIT-0
   Copyright 2026 The desynctool authors */
/* desynctool.h: desync forensics for a deterministic game, in one C99 file without dependencies.

   In one source file, before any other include:

       #define DESYNCTOOL_IMPLEMENTATION
       #include "desynctool.h"

   and in all others only the include. It is also valid C++11. What a game gets from it:

       desync_world       a description of its state: tables of typed columns that point into its own memory
       desync_state_hash  the hash by which peers compare states
       desync_snapshot    the state as a .snap
       desync_snap_read   a .snap, checked; desync_fill puts it into the game's memory
       desync_log         order-log.bin: the orders that were applied, and the hashes
       desync_trace       checksums after each system of a tick
       desync_recorder    all of these for one peer, and its report when states differ
       desync_signatures  tick-signatures.bin: state hashes that the peer signed, written and checked
       desync_serve       replays for desynctool: `desynctool replay s/host --sim "exec:./mygame --headless"`

   skirmish.c next to this file is a whole small game in lockstep, arena.c a larger one that rolls back.
   docs/snapshot.md, docs/merkle.md, docs/orderlog.md, docs/trace.md, docs/peer-report.md and docs/extsim.md describe
   the formats.

   Functions that return `const char *` return NULL if all went well, else why not, in a text that lives for ever.

   What it does not do: it writes no compressed snapshots and reads none. Those that a target is asked to load are not
   compressed; everything of the protocol is there.

   Options, to be defined before the include:

       DESYNCTOOL_NO_SOCKETS  serve over stdin and stdout only. So it is on Windows anyway.
       DESYNCTOOL_NO_SIGNATURES  without tick-signatures.bin and Ed25519.
       DESYNCTOOL_WASM        serve to a host that calls exported functions. Defined by itself where __wasm__ is.
       DESYNCTOOL_INLINE      C++17 only: all functions are inline, so that every source file may have the implementation. This is
                              how ../cpp/desynctool.hpp includes it. */

#ifndef DESYNCTOOL_H
#define DESYNCTOOL_H

#if defined(__wasm__) && !defined(DESYNCTOOL_WASM)
#define DESYNCTOOL_WASM
#endif
#if defined(DESYNCTOOL_WASM) || defined(_WIN32)
#define DESYNCTOOL_NO_SOCKETS
#endif
#if defined(DESYNCTOOL_IMPLEMENTATION) && !defined(DESYNCTOOL_WASM) && !defined(_WIN32) && !defined(_POSIX_C_SOURCE) && !defined(__cplusplus)
#define _POSIX_C_SOURCE 200112L /* else -std=c99 hides sockets and descriptors */
#endif

#include <stddef.h>
#include <stdint.h>
#ifndef DESYNCTOOL_WASM
#include <stdio.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Bytes and checksums */

/* Bytes that grow. All zero is an empty one. `failed` is set, and stays so, where memory ran out. */
typedef struct {
    uint8_t *data;
    size_t len, cap;
    int failed;
} desync_buffer;

void desync_append(desync_buffer *b, const void *data, size_t n);
void desync_free(desync_buffer *b);

typedef struct {
    uint32_t h[8];
    uint64_t len;
    uint8_t block[64];
} desync_sha256;

void desync_sha256_begin(desync_sha256 *s);
void desync_sha256_add(desync_sha256 *s, const void *data, size_t n);
void desync_sha256_end(desync_sha256 *s, uint8_t out[32]);

/* CRC-32C of more bytes after the bytes that `crc` covers; 0 covers no bytes. */
uint32_t desync_crc32c(uint32_t crc, const void *data, size_t n);

/* The Merkle root over n leaves. */
void desync_merkle_root(const uint8_t (*leaves)[32], size_t n, uint8_t root[32]);

/* ---- The state */

enum { /* types of columns, and what a value is in the game's memory */
    DESYNC_BOOL = 1, /* one byte, 0 or other */
    DESYNC_I8, DESYNC_I16, DESYNC_I32, DESYNC_I64, DESYNC_U8, DESYNC_U16, DESYNC_U32, DESYNC_U64,
    DESYNC_F32, DESYNC_F64,       /* compared by their bits */
    DESYNC_FIXED,                 /* int64_t in units of 1/scale */
    DESYNC_STRING, DESYNC_BYTES,  /* a desync_bytes; or with `size` a char array of so many, a string up to its first NUL */
    DESYNC_REF                    /* uint64_t: the key of another entity */
};

typedef struct {
    const void *data;
    size_t len;
} desync_bytes;

typedef struct {
    const char *component, *field; /* 1 to 1024 bytes each, together unique in the table */
    int type;
    uint32_t scale;      /* of DESYNC_FIXED */
    const void *data;    /* the value of slot 0; only desync_fill writes there */
    size_t stride;       /* bytes from one slot to the next; 0: the table's, and if that is 0 as well, the value's own */
    size_t size;         /* of strings and bytes that lie in arrays: bytes of the array */
    const void *present; /* NULL: each row has a value; else a byte for each slot, with the same stride if the column's or
                            the table's is set, else packed: 0 is absent */
} desync_column;

enum { DESYNC_ARCHETYPE, DESYNC_CACHE, DESYNC_NOISE }; /* hashed; derived from what is hashed; known to differ in sync */

typedef struct {
    const char *label; /* 1 to 1024 bytes, unique in its class */
    int table_class;
    size_t slots;      /* how many the arrays have */
    size_t stride;     /* bytes from one slot to the next, where nothing sets another */
    const void *alive; /* NULL: each slot is a row; else a byte for each slot, 0 is no row */
    const void *key;   /* NULL: the number of the slot; else an unsigned integer for each slot, unique among rows */
    size_t key_size;   /* 1, 2, 4 or 8 bytes; 0 is 8 */
    const void *key2;  /* second part of the key, of the same size; NULL if there is none */
    const desync_column *columns;
    size_t column_count;
} desync_table;

/* Slots, columns and tables may be in any order: they are hashed and written in the order of keys and names. What
   decides the future of the game belongs into archetypes and the RNG. */
typedef struct {
    const void *rng; /* NULL if the game has none */
    size_t rng_size; /* at most 65536 */
    const desync_table *tables;
    size_t table_count;
} desync_world;

/* The state hash. Its first 8 bytes are the sync hash. */
const char *desync_state_hash(const desync_world *w, uint8_t root[32]);

/* The state hash, reporting each part on the way: the RNG (label "RNG", component and field NULL), each archetype (component
   and field NULL), and before it its columns. */
typedef void desync_visit(void *user, const char *label, const char *component, const char *field, const uint8_t hash[32]);
const char *desync_digests(const desync_world *w, uint8_t root[32], desync_visit *visit, void *user);

typedef struct { const char *key, *value; } desync_param;

typedef struct {
    uint64_t seed, tick;    /* the state before the orders of this tick */
    const char *phase;      /* NULL, or "after-orders" */
    const char *native;     /* the engine's own name of the point, NULL if it has none */
    const char *peer;       /* NULL if not known */
    uint32_t epoch;
    const uint8_t *history; /* 32 bytes, NULL if not known */
    const desync_param *properties; /* of the peer: "build", the session's parameters, os, compiler; each once. A replay
                                       refuses a state with another build or other parameters than the log */
    size_t property_count;          /* at most 4096 */
} desync_point;

/* Appends the state as a .snap. */
const char *desync_snapshot(const desync_world *w, const desync_point *at, desync_buffer *out);

/* A .snap that was read. Its rows are the slots of its tables, by ascending keys, and everything is packed: keys are
   uint64_t, values are as described at the enum above, strings and bytes are desync_bytes, `present` has a byte a row.
   Strings of the point are "" rather than NULL. */
typedef struct {
    desync_point at;
    desync_world world;
    uint8_t root[32]; /* the state hash */
    void *kept, *file;
} desync_snap;

/* Reads the bytes of a .snap without compressed cells, and checks all of it up to the state hash. It may come from any
   source. The bytes must stay as long as it is used: contents of strings lie in them. If it is refused there is nothing
   to free. */
const char *desync_snap_read(desync_snap *s, const void *data, size_t n);
void desync_snap_free(desync_snap *s);

/* A table and a column by their names, NULL if there is none. */
const desync_table *desync_find(const desync_world *w, int table_class, const char *label);
const desync_column *desync_find_column(const desync_table *t, const char *component, const char *field);

/* The slot for a row of a table that has `key`; SIZE_MAX if no such row can be. */
typedef size_t desync_place(void *user, const desync_table *t, uint64_t key, uint64_t key2);

/* Puts a state into the game's own memory, through the description that it writes it by: the RNG, and of each archetype keys,
   alive (1 or 0), present and values; zero where there is none. Caches, noise, and what is not described stay as they are.
   Rows of tables without `key` go to the slot with the key's number, others to where `place` says, or if that is NULL
   to slots 0, 1 and so on. A string or bytes without `size` then points into the bytes that were read: copy it. If the
   state does not fit the description, nothing is written. The game checks whether values make sense. */
const char *desync_fill(const desync_world *w, const desync_snap *from, desync_place *place, void *user);

/* ---- Sessions and orders */

typedef struct { const char *name; int local; } desync_kind; /* local: need not be the same on all peers, such as chat */

typedef struct {
    uint64_t seed;
    const char *peer, *build;    /* name of the peer that writes; of the game */
    uint32_t rate_num, rate_den; /* ticks a second, 0/0 if not known */
    uint8_t start[32];           /* state hash at the first point, all zero if not known */
    uint64_t first_point;        /* 0 for a session from its start */
    uint32_t epoch;
    const desync_kind *kinds;    /* of orders */
    size_t kind_count;
    const char *const *peers;    /* names by number; `peer` must be among them, if there are any */
    size_t peer_count;
    const desync_param *params;  /* what a simulator needs to start, each key once */
    size_t param_count;
} desync_header;

/* The value of a parameter, `otherwise` if there is none of that name. */
const char *desync_param_of(const desync_header *h, const char *key, const char *otherwise);

#define DESYNC_UNKNOWN_KIND UINT32_MAX

typedef struct {
    uint32_t sub_tick; /* µs from the start of the tick */
    uint32_t player, sequence;
    uint32_t kind;     /* into the header's kinds; in callbacks of a target with `kinds` into these, or DESYNC_UNKNOWN_KIND */
    const uint8_t *payload;
    size_t size;       /* of the payload, at most 4 MiB */
} desync_order;

/* The input hash of a tick's orders. */
const char *desync_input_hash(const desync_kind *kinds, size_t kind_count, uint64_t tick, const desync_order *orders, size_t n,
                              uint8_t out[8]);

/* ---- Files */

#ifndef DESYNCTOOL_WASM

/* Writes the state to DIR/desync_<seed>_<tick>.snap, which never holds half of it. */
const char *desync_snapshot_file(const desync_world *w, const desync_point *at, const char *dir);

/* desync_snap_read of a file. */
const char *desync_snap_open(desync_snap *s, const char *path);

typedef struct { /* of files that consist of frames */
    FILE *file;
    uint64_t count;
    desync_buffer out;
} desync_frames;

typedef struct {
    desync_frames frames;
    desync_header header; /* what it points at must stay as long as the log is open */
    uint32_t self;        /* number of the peer that writes */
    desync_buffer hashes, markers; /* for the next frame */
    size_t hash_count, marker_count;
    uint64_t next_tick, point;     /* lowest tick that may come; last point that was observed */
    int observed, whole;           /* there was one; its state hash is in the log */
    uint8_t root[32], history[32];
    int has_history, adopted;      /* adopted: the next state is the one that the history already includes */
    uint32_t epoch;
    int opened;                    /* the next tick has a marker that opens an epoch */
} desync_log;

enum { /* kinds of markers */
    DESYNC_JOIN = 1, DESYNC_LEAVE, DESYNC_REMOVAL, DESYNC_RECONNECT, DESYNC_SAVE, DESYNC_LOAD, DESYNC_RESYNC, DESYNC_FAILED_ORDER
};

typedef struct {
    int kind;
    uint32_t player, peer, sequence;
    uint64_t point;
    int new_epoch;          /* the state of the writing peer was replaced. Join, reconnect, load, resync only */
    const uint8_t *history; /* 32 bytes that a new epoch takes over, NULL if not known */
    const char *text;
} desync_marker;

/* In each tick: desync_log_state with the state before its orders, then desync_log_tick with its orders; after the last
   one desync_log_state again, and desync_log_close. Each frame is one write, so that a crash loses none. */
const char *desync_log_open(desync_log *l, const char *path, const desync_header *h);

/* Notes the state hash at a point: the sync hash goes into the log, and every 30 ticks the state and history hash. */
const char *desync_log_state(desync_log *l, uint64_t point, const uint8_t root[32]);

/* For a game with another checksum instead, of at most 8 bytes. */
const char *desync_log_checksum(desync_log *l, uint64_t point, const void *sum, size_t n);

/* Notes any hash of 1 to 64 bytes, of any peer. Coverage is "" for the whole state. */
const char *desync_log_hash(desync_log *l, uint64_t point, uint32_t peer, const char *kind, const char *coverage, const void *hash,
                            size_t n);

/* Adds an event to the next tick. An event that opens an epoch comes before the first state that is noted in it.
   Earlier states are written at once, as they belong to the epoch that ends. */
const char *desync_log_marker(desync_log *l, const desync_marker *m);
const char *desync_log_tick(desync_log *l, uint64_t tick, const desync_order *orders, size_t n);

/* Brings to the disk what was written: it then survives a loss of power. It takes milliseconds. What survives a crash of the
   game is all that the calls above have written when they return. */
const char *desync_log_sync(desync_log *l);

/* Writes what was noted since the last tick and the end marker, and closes the file. */
const char *desync_log_close(desync_log *l);

typedef struct {
    desync_frames frames;
    desync_buffer batch;  /* checkpoints of one tick */
    desync_buffer fresh;  /* names that are not in the file yet */
    desync_buffer names;  /* all names, each with a NUL */
    desync_buffer starts; /* size_t for each name: where it begins */
    size_t batched, fresh_count, name_count;
    uint64_t tick;
} desync_trace;

typedef struct {
    const char *name; /* "" is the main one */
    const void *bytes;
    size_t len;
} desync_sum;

typedef struct {
    uint64_t tick;
    const char *system, *scope; /* "" if there is none */
    int predicted;              /* some inputs of the tick were guessed */
    const desync_sum *sums;
    size_t sum_count;
    int has_count;
    uint64_t count;             /* of entities, or what else the game counts */
} desync_checkpoint;

enum { DESYNC_EVENT_SAVE = 1, DESYNC_EVENT_RESTORE, DESYNC_EVENT_RESIMULATE, DESYNC_EVENT_INPUT };

typedef struct {
    int kind;
    uint64_t tick, other; /* other: restore's `at`, resimulate's `to` */
    uint32_t player;      /* input's, as `predicted` */
    int predicted;
    const desync_sum *sums;
    size_t sum_count;
} desync_event;

/* A trace; of the header seed, peer, build, rate and parameters are used. */
const char *desync_trace_open(desync_trace *t, const char *path, const desync_header *h);

/* Appends a checkpoint, in the order of execution. Those with the same tick, system, scope and phase count up by themselves. */
const char *desync_trace_add(desync_trace *t, const desync_checkpoint *c);
const char *desync_trace_event(desync_trace *t, const desync_event *e);

enum { DESYNC_BY_SYSTEM, DESYNC_BY_ARCHETYPE, DESYNC_BY_COLUMN, DESYNC_NO_TRACE /* of a recorder only */ };

/* Appends checkpoints of the whole state after a system, and of its archetypes and columns as set by `detail`. A replay
   with --drill is compared with them. The root is the state hash. */
const char *desync_trace_world(desync_trace *t, uint64_t tick, const char *system, const desync_world *w, int detail, uint8_t root[32]);

/* Writes out what is held until more of its tick comes. A game calls it at the end of each tick. */
const char *desync_trace_flush(desync_trace *t);

/* desync_trace_flush, and what desync_log_sync does. */
const char *desync_trace_sync(desync_trace *t);
const char *desync_trace_close(desync_trace *t);

/* All of the above for one peer: DIR/<peer>/order-log.bin, checkpoints.trace, snapshots and reports. In each tick: state with
   the state before its orders, tick, system after each system if there are any; at the end state again, and close. */
typedef struct {
    desync_log log;
    desync_trace trace;
    int detail;
    uint64_t tick;
    int begun; /* the tick has begun, and the state after it was not noted */
    uint8_t root[32]; /* the state hash that was noted last, even after a system */
    char *dir;
    const desync_param *facts;
    size_t fact_count;
    desync_buffer recent[64];     /* orders of the last ticks as a report has them, by tick modulo 64 */
    uint64_t recent_from, played; /* the ticks from recent_from to played - 1 are among them */
} desync_recorder;

/* Makes the folders and begins the files. They replace the files of an earlier session: each session needs another DIR.
   The start hash of the header is filled in. Detail is what desync_trace_world takes, or DESYNC_NO_TRACE. */
const char *desync_recorder_open(desync_recorder *r, const char *dir, const desync_header *h, const desync_world *w, int detail);

/* What is known of this peer's machine and game, each key once: os, cpu, compiler, locale, mods, data_hash. Snapshots have them as
   properties from now on. They are no parameters of the header, which are the same on all peers. The list stays the game's. */
void desync_recorder_facts(desync_recorder *r, const desync_param *facts, size_t n);

const char *desync_recorder_state(desync_recorder *r, uint64_t point, const desync_world *w);

/* Adds an event to the next tick, as desync_log_marker. After one that opens an epoch comes desync_recorder_state with the state
   that was loaded: the peer that sent it has noted the same state before, and the history hash is the one it had there. */
const char *desync_recorder_marker(desync_recorder *r, const desync_marker *m);

const char *desync_recorder_tick(desync_recorder *r, uint64_t tick, const desync_order *orders, size_t n);

/* The state after a system of the tick that desync_recorder_tick began. Without such a tick, and after the state that follows it
   was noted, the call is refused. */
const char *desync_recorder_system(desync_recorder *r, const char *system, const desync_world *w);

/* desync_log_sync and desync_trace_sync. Snapshots and reports are on the disk when they are there. */
const char *desync_recorder_sync(desync_recorder *r);

/* Writes a snapshot of the state that was noted last, with its history hash, and facts, build and parameters as properties. */
const char *desync_recorder_snapshot(desync_recorder *r, const desync_world *w);

/* Writes the peer's report that the state noted last differs from the other peers' states:
   desync_report_<seed>_<tick>.json, with all hashes, the content of the archetypes that are named, and the orders of up
   to 64 ticks before. Player is the number of the peer's first player, -1 if it plays none. */
const char *desync_recorder_report(desync_recorder *r, const desync_world *w, int player, const char *const *archetypes, size_t n);
const char *desync_recorder_close(desync_recorder *r);

#endif

/* ---- Replaying for desynctool */

#ifndef DESYNC_FLOW
#define DESYNC_FLOW
/* The branches of a thread: their number, and a hash of their order. */
typedef struct { uint32_t thread; uint64_t count, hash; } desync_flow;
#endif

typedef struct desync_names desync_names;
void desync_stale(desync_names *names, const char *cache); /* the name must stay until the callback has returned */

/* A game as it replays. Callbacks that are NULL are what it cannot do. Needed are start, one of step and begin with next,
   and one of hash and world. */
typedef struct {
    void *user; /* handed to each callback */
    const char *name, *build;
    const desync_kind *kinds; /* of the game's orders, which come with numbers of this list: a session that has another kind
                                 is refused, unless that is local. NULL: the game looks at the header's kinds itself */
    size_t kind_count;
    size_t max_request;       /* bytes; 0 is 1 GiB, in WebAssembly 16 MiB. Saves come back in requests */

    /* Begins a session from its start, whatever was before it, or returns why not. The header stays until the next one.
       A session that does not begin at state point 0 is refused before. */
    const char *(*start)(void *user, const desync_header *h);

    /* Begins a session with a state in the place of start. If it cannot, it returns why, and keeps the current state.
       The snapshot stays until it returns; the header is NULL if none is known. A snapshot that is damaged, of another
       seed than the header or of the middle of a tick is refused before. Caches must be recomputed: the snapshot's
       caches may be wrong. */
    const char *(*load)(void *user, const desync_snap *from, const desync_header *h);

    /* Plays one tick. Orders that make no sense are ignored as the game ignores them. They stay until it is over. */
    const char *(*step)(void *user, uint64_t tick, const desync_order *orders, size_t n);

    /* The sync hash, for games that already have it. With `world` it must match the world. */
    void (*hash)(void *user, uint8_t out[8]);

    /* The current state; the world stays until the next callback. Also between the systems of a tick. */
    const desync_world *(*world)(void *user);

    /* The state in the game's own form. Or, if all that the simulation reads and writes is one block of memory without
       pointers, these two describe where it is. In WebAssembly the host keeps all memory instead. */
    const char *(*save)(void *user, desync_buffer *out);
    const char *(*restore)(void *user, const void *data, size_t n);
    void *memory;
    size_t memory_size;

    /* A tick in parts: next runs one system, returns its name and whether more are to come in this tick. */
    const char *(*begin)(void *user, uint64_t tick, const desync_order *orders, size_t n);
    const char *(*next)(void *user, int *more);

    /* Recomputes caches next to the current ones, and calls desync_stale for each that differs. */
    void (*caches)(void *user, desync_names *stale);

    /* Why an order would be ignored in any state, NULL if it would not. */
    const char *(*validate)(void *user, uint64_t tick, const desync_order *order);

    /* Whether an order is possible in the current state, as the game asks before its player gives it. */
    int (*test)(void *user, uint64_t tick, const desync_order *order);

    /* Plays the current tick ahead with the orders of one player, as that player's machine does, and takes it back. */
    void (*predict)(void *user, uint64_t tick, uint32_t player, const desync_order *orders, size_t n);

    /* 1 if the columns and the RNG of `world` are copies of what the simulation writes: then a debugger cannot watch them. */
    int copies;

    /* Records the branches that the simulation takes: desync_branches of desynctool_branches.h. */
    const char *(*branches)(uint32_t mode, const char *file, uint64_t stop, desync_flow *flows, size_t *n);
} desync_target;

#ifdef DESYNCTOOL_WASM

/* The game's own function: its callbacks. Called once. */
const desync_target *desync_game(void);

#else

/* Answers requests until the connection ends, on the socket that DESYNCTOOL_SIM names, else on stdin and stdout. While it
   runs, the game's output to stdout goes to stderr (not on Windows: print nothing there). Returns the exit status of
   the process: 0, or 2 after a line on stderr. */
int desync_serve(const desync_target *target);

#endif

/* ---- Signatures */

#ifndef DESYNCTOOL_NO_SIGNATURES

/* Ed25519 of RFC 8032. A secret key is its seed of 32 bytes; how long signing takes does not depend on it. */
void desync_public_key(const uint8_t secret[32], uint8_t key[32]);
void desync_sign(const uint8_t secret[32], const void *message, size_t n, uint8_t signature[64]);

/* Whether a signature is valid. Go's crypto/ed25519 takes the same ones, and keys and R of small order. */
int desync_verify(const uint8_t key[32], const void *message, size_t n, const uint8_t signature[64]);

typedef struct { uint32_t at[4][10]; } desync__curve;
typedef struct { desync__curve sum[16]; } desync__comb;
typedef struct {
    uint8_t scalar[32], prefix[32], key[32];
    desync__comb base;
} desync__signing;

#ifndef DESYNCTOOL_WASM

typedef struct {
    uint64_t seed;
    const char *peer;
    const uint8_t *start;  /* 32 bytes, the state hash at the first point; NULL if not known */
    const uint8_t *secret; /* 32 bytes; NULL: `sign` signs for `key`, such as a key store. What it gives is checked */
    const uint8_t *key;
    const char *(*sign)(void *user, const void *message, size_t n, uint8_t signature[64]);
    void *user;
} desync_signer;

/* tick-signatures.bin: the state hashes of ticks, each signed together with all that were before. */
typedef struct {
    desync_frames frames;
    desync_signer signer;
    desync__signing own;
    uint8_t key[32], link[32];
    uint64_t tick, count;
} desync_signatures;

/* Each entry is one write, so that a crash loses none. */
const char *desync_signatures_open(desync_signatures *s, const char *path, const desync_signer *signer);

/* Signs the state hash of a tick: the hash of the state before its orders. Ticks ascend; those that are left out are
   counted. */
const char *desync_signatures_append(desync_signatures *s, uint64_t tick, const uint8_t hash[32]);

/* Signs how many entries there are, and closes the file. Without it, it is not known whether entries were cut off. */
const char *desync_signatures_close(desync_signatures *s);

#endif

enum { /* what is found in a file of signatures */
    DESYNC_FOUND_OTHER_KEY = 1, DESYNC_FOUND_CORRUPT, DESYNC_FOUND_TAMPERED, DESYNC_FOUND_MISSING, DESYNC_FOUND_CONTRADICTION,
    DESYNC_FOUND_SKIPPED, DESYNC_FOUND_MISSING_AT_END, DESYNC_FOUND_OPEN
};

/* What a kind of finding means. */
const char *desync_finding_words(int kind);

typedef struct {
    int kind;
    int has_after, has_tick;
    uint64_t offset;      /* of the frame, in bytes */
    uint64_t entry;       /* number of the entry, from 0 */
    uint64_t after, tick; /* tick of the entry before, and of this one, if there is one and it is known */
} desync_finding;

typedef struct {
    uint64_t seed;
    desync_bytes peer;
    const uint8_t *key, *start; /* 32 bytes each */
    uint64_t entries;
    uint64_t bound;             /* how many from the start have no break before them or in them: `key` signed them for this session */
    int closed;                 /* there is a signed end, and it agrees */
    int whole;                  /* nothing is found but ticks that the signer itself left out, and a missing end */
    const desync_finding *findings; /* in the order of the file, at most 1000 */
    size_t finding_count;
    uint64_t found;             /* how many there are */
    const uint8_t *first;       /* frame of the first entry */
    desync_buffer list;
} desync_checked;

/* Checks the bytes of a tick-signatures.bin, which must stay as long as the result is used. `trusted` is the public key that
   is trusted, or NULL: then the file shows that it is whole, and by one signer, but not by which one. If its header
   cannot be read it is refused, and there is nothing to free. */
const char *desync_signatures_check(desync_checked *c, const void *data, size_t n, const uint8_t *trusted);
void desync_checked_free(desync_checked *c);

/* The state hash of a tick; 0 if the tick has no bound entry. */
int desync_checked_hash(const desync_checked *c, uint64_t tick, uint8_t hash[32]);

#endif

#ifdef __cplusplus
}
#endif
#endif

#if defined(DESYNCTOOL_IMPLEMENTATION) && !defined(DESYNCTOOL_IMPLEMENTED)
#define DESYNCTOOL_IMPLEMENTED

#ifdef DESYNCTOOL_INLINE
#define DESYNC__API inline
#define DESYNC__OWN inline
#else
#define DESYNC__API
#define DESYNC__OWN static
#endif

#include <stdlib.h>
#include <string.h>
#ifdef DESYNCTOOL_WASM
#elif defined(_WIN32)
#include <direct.h>
#include <fcntl.h>
#include <io.h>
#else
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#ifndef DESYNCTOOL_NO_SOCKETS
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#endif
#endif

DESYNC__OWN const char desync__no_memory[] = "out of memory";

/* ---- Bytes and checksums */

/* Makes room for n more bytes and reports whether there is. */
DESYNC__OWN int desync__reserve(desync_buffer *b, size_t n) {
    size_t cap;
    uint8_t *data;
    if (b->failed || n > SIZE_MAX / 2 - b->len) {
        b->failed = 1;
        return 0;
    }
    if (b->data && n <= b->cap - b->len) return 1;
    cap = b->cap < 256 ? 256 : b->cap;
    while (cap < b->len + n) cap = cap > SIZE_MAX / 4 ? b->len + n : cap * 2;
    data = (uint8_t *)realloc(b->data, cap);
    if (!data) {
        b->failed = 1;
        return 0;
    }
    b->data = data;
    b->cap = cap;
    return 1;
}

/* Appends n bytes, zero at first, NULL where memory ran out. */
DESYNC__OWN uint8_t *desync__extend(desync_buffer *b, size_t n) {
    uint8_t *at;
    if (!desync__reserve(b, n)) return NULL;
    at = b->data + b->len;
    memset(at, 0, n);
    b->len += n;
    return at;
}

DESYNC__API void desync_append(desync_buffer *b, const void *data, size_t n) {
    if (!desync__reserve(b, n)) return;
    if (n) memcpy(b->data + b->len, data, n);
    b->len += n;
}

DESYNC__API void desync_free(desync_buffer *b) {
    free(b->data);
    memset(b, 0, sizeof *b);
}

DESYNC__OWN void desync__byte(desync_buffer *b, unsigned v) {
    uint8_t c = (uint8_t)v;
    desync_append(b, &c, 1);
}

DESYNC__OWN void desync__little(uint8_t *at, uint64_t v, size_t n) {
    size_t i;
    for (i = 0; i < n; i++) at[i] = (uint8_t)(v >> (8 * i));
}

DESYNC__OWN void desync__put(desync_buffer *b, uint64_t v, size_t n) {
    uint8_t bytes[8];
    desync__little(bytes, v, n);
    desync_append(b, bytes, n);
}

DESYNC__OWN void desync__padded(desync_buffer *b, const void *data, size_t n) {
    desync_append(b, data, n);
    desync__extend(b, (8 - n % 8) % 8);
}

DESYNC__OWN uint32_t desync__get32(const uint8_t *p) {
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

DESYNC__OWN uint64_t desync__get64(const uint8_t *p) { return desync__get32(p) | (uint64_t)desync__get32(p + 4) << 32; }
DESYNC__OWN uint32_t desync__rotate(uint32_t v, int n) { return v >> n | v << (32 - n); }

DESYNC__OWN void desync__sha256_block(uint32_t h[8], const uint8_t *p) {
    static const uint32_t k[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
        0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
        0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
        0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
        0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
        0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
    uint32_t w[64], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], last = h[7];
    int i;
    for (i = 0; i < 16; i++, p += 4) w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
    for (; i < 64; i++) {
        uint32_t x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (desync__rotate(x, 7) ^ desync__rotate(x, 18) ^ x >> 3) +
               (desync__rotate(y, 17) ^ desync__rotate(y, 19) ^ y >> 10);
    }
    for (i = 0; i < 64; i++) {
        uint32_t t1 = last + (desync__rotate(e, 6) ^ desync__rotate(e, 11) ^ desync__rotate(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i];
        uint32_t t2 = (desync__rotate(a, 2) ^ desync__rotate(a, 13) ^ desync__rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        last = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e, h[5] += f, h[6] += g, h[7] += last;
}

DESYNC__API void desync_sha256_begin(desync_sha256 *s) {
    static const uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(s->h, h, sizeof h);
    s->len = 0;
}

DESYNC__API void desync_sha256_add(desync_sha256 *s, const void *data, size_t n) {
    const uint8_t *p = (const uint8_t *)data;
    size_t have = (size_t)(s->len % 64);
    s->len += n;
    if (have) {
        size_t take = n < 64 - have ? n : 64 - have;
        if (take) memcpy(s->block + have, p, take);
        if (have + take < 64) return;
        desync__sha256_block(s->h, s->block);
        p += take;
        n -= take;
    }
    for (; n >= 64; p += 64, n -= 64) desync__sha256_block(s->h, p);
    if (n) memcpy(s->block, p, n);
}

DESYNC__API void desync_sha256_end(desync_sha256 *s, uint8_t out[32]) {
    uint8_t tail[72] = {0x80};
    uint64_t bits = s->len * 8;
    size_t pad = 64 - (size_t)((s->len + 8) % 64), i;
    for (i = 0; i < 8; i++) tail[pad + i] = (uint8_t)(bits >> (56 - 8 * i));
    desync_sha256_add(s, tail, pad + 8);
    for (i = 0; i < 32; i++) out[i] = (uint8_t)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

DESYNC__OWN void desync__digest(const void *data, size_t n, uint8_t out[32]) {
    desync_sha256 s;
    desync_sha256_begin(&s);
    desync_sha256_add(&s, data, n);
    desync_sha256_end(&s, out);
}

DESYNC__API uint32_t desync_crc32c(uint32_t crc, const void *data, size_t n) {
    static const uint32_t half[16] = { /* of four bits */
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
        0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
    const uint8_t *p = (const uint8_t *)data;
    crc = ~crc;
    while (n--) {
        crc ^= *p++;
        crc = crc >> 4 ^ half[crc & 15];
        crc = crc >> 4 ^ half[crc & 15];
    }
    return ~crc;
}

DESYNC__API void desync_merkle_root(const uint8_t (*leaves)[32], size_t n, uint8_t root[32]) {
    uint8_t both[64];
    size_t half = 1;
    if (n == 0) {
        desync__digest("", 0, root);
        return;
    }
    if (n == 1) {
        memcpy(root, leaves[0], 32);
        return;
    }
    while (half * 2 < n) half *= 2; /* promoting the last odd node makes the left subtree the largest full one */
    desync_merkle_root(leaves, half, both);
    desync_merkle_root(leaves + half, n - half, both + 32);
    desync__digest(both, 64, root);
}

/* Sorts numbers by a heap: the C library's sort hands nothing on to its comparison. */
typedef int desync__less(const void *of, size_t a, size_t b);

DESYNC__OWN void desync__sink(size_t *list, size_t at, size_t n, desync__less *less, const void *of) {
    for (;;) {
        size_t child = at * 2 + 1, moved;
        if (child >= n) return;
        if (child + 1 < n && less(of, list[child], list[child + 1])) child++;
        if (!less(of, list[at], list[child])) return;
        moved = list[at];
        list[at] = list[child];
        list[child] = moved;
        at = child;
    }
}

DESYNC__OWN void desync__sort(size_t *list, size_t n, desync__less *less, const void *of) {
    size_t i, last;
    for (i = n / 2; i-- > 0;) desync__sink(list, i, n, less, of);
    for (i = n; i-- > 1;) {
        last = list[i];
        list[i] = list[0];
        list[0] = last;
        desync__sink(list, 0, i, less, of);
    }
}

/* The numbers below n, sorted; NULL where memory ran out. */
DESYNC__OWN size_t *desync__sorted(size_t n, desync__less *less, const void *of) {
    size_t *list, i;
    if (n >= SIZE_MAX / sizeof *list) return NULL;
    list = (size_t *)malloc((n + 1) * sizeof *list);
    if (!list) return NULL;
    for (i = 0; i < n; i++) list[i] = i;
    desync__sort(list, n, less, of);
    return list;
}

/* ---- MessagePack */

DESYNC__OWN void desync__big(desync_buffer *b, unsigned code, uint64_t v, int n) {
    desync__byte(b, code);
    while (n-- > 0) desync__byte(b, (unsigned)(v >> (8 * n)) & 0xff);
}

DESYNC__OWN void desync__uint(desync_buffer *b, uint64_t v) {
    if (v < 0x80) desync__byte(b, (unsigned)v);
    else if (v <= UINT8_MAX) desync__big(b, 0xcc, v, 1);
    else if (v <= UINT16_MAX) desync__big(b, 0xcd, v, 2);
    else if (v <= UINT32_MAX) desync__big(b, 0xce, v, 4);
    else desync__big(b, 0xcf, v, 8);
}

DESYNC__OWN void desync__array(desync_buffer *b, size_t n) {
    if (n < 16) desync__byte(b, 0x90 | (unsigned)n);
    else if (n <= UINT16_MAX) desync__big(b, 0xdc, n, 2);
    else desync__big(b, 0xdd, n, 4);
}

DESYNC__OWN void desync__map(desync_buffer *b, size_t n) {
    if (n < 16) desync__byte(b, 0x80 | (unsigned)n);
    else desync__big(b, 0xde, n, 2); /* of at most 4096 */
}

DESYNC__OWN void desync__str(desync_buffer *b, const char *s) {
    size_t n = s ? strlen(s) : 0;
    if (n < 32) desync__byte(b, 0xa0 | (unsigned)n);
    else if (n <= UINT8_MAX) desync__big(b, 0xd9, n, 1);
    else if (n <= UINT16_MAX) desync__big(b, 0xda, n, 2);
    else desync__big(b, 0xdb, n, 4);
    desync_append(b, s, n);
}

DESYNC__OWN void desync__bin(desync_buffer *b, const void *data, size_t n) {
    if (n <= UINT8_MAX) desync__big(b, 0xc4, n, 1);
    else if (n <= UINT16_MAX) desync__big(b, 0xc5, n, 2);
    else desync__big(b, 0xc6, n, 4);
    desync_append(b, data, n);
}

DESYNC__OWN void desync__bool(desync_buffer *b, int v) { desync__byte(b, v ? 0xc3 : 0xc2); }
DESYNC__OWN void desync__nil(desync_buffer *b) { desync__byte(b, 0xc0); }

/* ---- The state */

DESYNC__OWN const uint8_t desync__sizes[16] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 0, 0, 8};

enum { DESYNC__MAX_NAME = 1024, DESYNC__MAX_TABLES = 65536, DESYNC__MAX_BLOCK = 65536, DESYNC__MAX_CELL = 256 << 20,
       DESYNC__MAX_PROPERTIES = 4096, DESYNC__MAX_RNG = 65536 };

/* Where a slot's value begins. */
DESYNC__OWN const uint8_t *desync__slot(const void *data, size_t stride, size_t otherwise, size_t own, size_t slot) {
    if (!stride) stride = otherwise ? otherwise : own;
    return (const uint8_t *)data + stride * slot;
}

/* Copies a number in the order of little-endian machines. */
DESYNC__OWN void desync__number(uint8_t *to, const uint8_t *from, size_t n) {
    const uint16_t one = 1;
    size_t i;
    if (*(const uint8_t *)&one) memcpy(to, from, n);
    else
        for (i = 0; i < n; i++) to[i] = from[n - 1 - i];
}

DESYNC__OWN uint64_t desync__key_part(const desync_table *t, const void *part, size_t slot) {
    size_t size = t->key_size ? t->key_size : 8, i;
    uint8_t bytes[8] = {0};
    uint64_t v = 0;
    desync__number(bytes, desync__slot(part, 0, t->stride, size, slot), size);
    for (i = 8; i-- > 0;) v = v << 8 | bytes[i];
    return v;
}

DESYNC__OWN uint64_t desync__key(const desync_table *t, size_t slot) { return t->key ? desync__key_part(t, t->key, slot) : slot; }
DESYNC__OWN uint64_t desync__key2(const desync_table *t, size_t slot) { return t->key2 ? desync__key_part(t, t->key2, slot) : 0; }

DESYNC__OWN int desync__key_less(const void *of, size_t a, size_t b) {
    const desync_table *t = (const desync_table *)of;
    uint64_t x = desync__key(t, a), y = desync__key(t, b);
    return x != y ? x < y : desync__key2(t, a) < desync__key2(t, b);
}

DESYNC__OWN int desync__column_less(const void *of, size_t a, size_t b) {
    const desync_column *x = (const desync_column *)of + a, *y = (const desync_column *)of + b;
    int order = strcmp(x->component, y->component);
    return (order ? order : strcmp(x->field, y->field)) < 0;
}

DESYNC__OWN int desync__table_less(const void *of, size_t a, size_t b) {
    const desync_table *x = (const desync_table *)of + a, *y = (const desync_table *)of + b;
    return x->table_class != y->table_class ? x->table_class < y->table_class : strcmp(x->label, y->label) < 0;
}

typedef struct { /* the cells of a table that is being read */
    const uint8_t *at;                       /* the next one */
    size_t blocks;
    const uint8_t *first, *second, *rows, *digests, *lengths; /* of the index: parts of keys, and of each cell */
    const uint8_t **columns;                 /* the digest of the keys, and of each column */
} desync__cells;

/* A table that is being hashed, and its cells if they are wanted. */
typedef struct {
    const desync_table *table;
    size_t *slots, rows;     /* of rows, by key */
    size_t *columns;         /* numbers of columns, by name */
    size_t *blocks, count;   /* row at which each begins, and the number of rows after the last */
    desync_sha256 *sums;     /* of the keys digest and the column digests */
    uint8_t (*digests)[32];
    uint8_t leaf[32];
    desync_buffer cell;
    desync_buffer *cells;    /* NULL if they are not wanted; else the next three as well */
    desync_buffer hashes, lengths, crcs;
    desync__cells *read;     /* NULL, or what the cells have to be */
} desync__hashing;

DESYNC__OWN void desync__hashed(desync__hashing *h) {
    free(h->slots);
    free(h->columns);
    free(h->blocks);
    free(h->sums);
    free(h->digests);
    desync_free(&h->cell);
    desync_free(&h->hashes);
    desync_free(&h->lengths);
    desync_free(&h->crcs);
}

DESYNC__OWN int desync__bad_name(const char *s) { return !s || !*s || strlen(s) > DESYNC__MAX_NAME; }

/* Whether a column begins after the first byte of a key, and before its end. */
DESYNC__OWN int desync__in_key(const void *key, size_t size, const void *data) { return (uintptr_t)data - (uintptr_t)key - 1 < size - 1; }

DESYNC__OWN const char *desync__check_table(const desync_table *t) {
    size_t i, size = t->key_size ? t->key_size : 8;
    if (desync__bad_name(t->label)) return "the label of a table is empty or longer than 1024 bytes";
    if (t->table_class < DESYNC_ARCHETYPE || t->table_class > DESYNC_NOISE) return "a table is neither archetype nor cache nor noise";
    if (t->column_count > DESYNC__MAX_TABLES) return "a table has more than 65536 columns";
    if (t->key_size > 8 || (t->key_size & (t->key_size - 1))) return "keys have a size other than 1, 2, 4, 8 bytes";
    if (t->slots >= SIZE_MAX / sizeof(size_t) - 1) return desync__no_memory;
    for (i = 0; i < t->column_count; i++) {
        const desync_column *c = &t->columns[i];
        if (desync__bad_name(c->component) || desync__bad_name(c->field)) return "the name of a column is empty or longer than 1024 bytes";
        if (c->type < DESYNC_BOOL || c->type > DESYNC_REF) return "a column has no such type";
        if ((c->type == DESYNC_FIXED) != (c->scale != 0)) return "a column of type fixed needs a scale, and no other has one";
        if (!c->data && t->slots) return "a column has no data";
        if (desync__in_key(t->key, size, c->data) || desync__in_key(t->key2, size, c->data)) return "a column begins within a key: key_size is 8 if it is 0";
    }
    return NULL;
}

/* Whether a row begins a block. */
DESYNC__OWN int desync__cuts(const desync_table *t, size_t slot) {
    uint64_t h = desync__key(t, slot) * 0x9E3779B97F4A7C15u + desync__key2(t, slot) * 0xC2B2AE3D27D4EB4Fu;
    h ^= h >> 32;
    h *= 0xD6E8FEB86659FD93u;
    h ^= h >> 32;
    return h % 4096 == 0;
}

DESYNC__OWN const char *desync__rows(desync__hashing *h) {
    const desync_table *t = h->table;
    int sorted = 1;
    size_t i;
    h->slots = (size_t *)malloc((t->slots + 1) * sizeof *h->slots);
    h->blocks = (size_t *)malloc((t->slots + 1) * sizeof *h->blocks);
    if (!h->slots || !h->blocks) return desync__no_memory;
    for (i = 0; i < t->slots; i++) {
        if (t->alive && !*desync__slot(t->alive, 0, t->stride, 1, i)) continue;
        if (h->rows && !desync__key_less(t, h->slots[h->rows - 1], i)) sorted = 0;
        h->slots[h->rows++] = i;
    }
    if (!sorted) {
        desync__sort(h->slots, h->rows, desync__key_less, t);
        for (i = 1; i < h->rows; i++)
            if (!desync__key_less(t, h->slots[i - 1], h->slots[i])) return "two rows of a table have the same key";
    }
    for (i = 0; i < h->rows; i++)
        if (i == 0 || desync__cuts(t, h->slots[i]) || i - h->blocks[h->count - 1] == DESYNC__MAX_BLOCK) h->blocks[h->count++] = i;
    h->blocks[h->count] = h->rows;
    return NULL;
}

DESYNC__OWN void desync__head(desync_buffer *b, unsigned kind, unsigned flag, uint64_t n) {
    desync__byte(b, kind);
    desync__byte(b, flag);
    desync__put(b, 0, 2);
    desync__put(b, n, 4);
}

/* What a value of a string or bytes points to. */
DESYNC__OWN desync_bytes desync__bytes_of(const desync_column *c, const uint8_t *at) {
    desync_bytes v;
    if (c->size) {
        const void *nul = c->type == DESYNC_STRING ? memchr(at, 0, c->size) : NULL;
        v.data = at;
        v.len = nul ? (size_t)((const uint8_t *)nul - at) : c->size;
    } else {
        memcpy(&v, at, sizeof v);
    }
    return v;
}

DESYNC__OWN const uint8_t *desync__value(const desync_table *t, const desync_column *c, size_t slot) {
    size_t own = desync__sizes[c->type] ? desync__sizes[c->type] : c->size ? c->size : sizeof(desync_bytes);
    if (c->present && !*desync__slot(c->present, c->stride, t->stride, 1, slot)) return NULL;
    return desync__slot(c->data, c->stride, t->stride, own, slot);
}

/* The canonical bytes of a block of the keys (column NULL) or of a column. */
DESYNC__OWN const char *desync__canonical(desync__hashing *h, const desync_column *c, const size_t *slots, size_t n) {
    const desync_table *t = h->table;
    desync_buffer *b = &h->cell;
    size_t i, size;
    uint8_t *to, *bitmap = NULL;
    b->len = 0;
    if (!c) {
        desync__head(b, 3, t->key2 ? 2 : 1, n);
        for (i = 0; i < n; i++) desync__put(b, desync__key(t, slots[i]), 8);
        for (i = 0; i < n && t->key2; i++) desync__put(b, desync__key2(t, slots[i]), 8);
        return b->failed ? desync__no_memory : NULL;
    }
    for (i = 0; i < n && desync__value(t, c, slots[i]); i++) {
    }
    desync__head(b, 4, i < n, n);
    size = desync__sizes[c->type];
    if (!desync__reserve(b, (n + 7) / 8 + n * (size ? size : 4))) return desync__no_memory; /* bitmap stays where it is */
    if (i < n) {
        bitmap = desync__extend(b, (n + 7) / 8);
        for (i = 0; i < n; i++)
            if (desync__value(t, c, slots[i])) bitmap[i / 8] |= (uint8_t)(1u << i % 8);
    }
    to = desync__extend(b, n * (size ? size : 4));
    for (i = 0; i < n; i++) {
        const uint8_t *from = desync__value(t, c, slots[i]);
        if (!from) continue;
        if (!size) {
            size_t len = desync__bytes_of(c, from).len;
            if (len > DESYNC__MAX_CELL) return "a block of strings has more than 256 MiB";
            desync__little(to + 4 * i, len, 4);
        } else if (c->type == DESYNC_BOOL) {
            to[i] = *from != 0;
        } else {
            desync__number(to + size * i, from, size);
        }
    }
    for (i = 0; i < n && !size; i++) {
        const uint8_t *from = desync__value(t, c, slots[i]);
        desync_bytes v;
        if (!from) continue;
        v = desync__bytes_of(c, from);
        desync_append(b, v.data, v.len);
        if (b->len > DESYNC__MAX_CELL) return "a block of strings has more than 256 MiB";
    }
    return b->failed ? desync__no_memory : NULL;
}

DESYNC__OWN const char *desync__block(desync__hashing *h, size_t number, size_t block) {
    const desync_column *c = number ? &h->table->columns[h->columns[number - 1]] : NULL;
    uint8_t digest[32];
    const char *err = desync__canonical(h, c, h->slots + h->blocks[block], h->blocks[block + 1] - h->blocks[block]);
    if (err) return err;
    desync__digest(h->cell.data, h->cell.len, digest);
    desync_sha256_add(&h->sums[number], digest, 32);
    if (h->read) {
        size_t cell = block * (h->table->column_count + 1) + number;
        if (desync__get32(h->read->lengths + 4 * cell) != h->cell.len || memcmp(h->read->at, h->cell.data, h->cell.len) != 0)
            return "a cell is not in its canonical form";
        if (memcmp(h->read->digests + 32 * cell, digest, 32) != 0) return "a cell has another digest";
        h->read->at += h->cell.len;
    }
    if (!h->cells) return NULL;
    desync_append(h->cells, h->cell.data, h->cell.len);
    desync_append(&h->hashes, digest, 32);
    desync__put(&h->lengths, h->cell.len, 4);
    desync__put(&h->crcs, desync_crc32c(0, h->cell.data, h->cell.len), 4);
    return h->cells->failed || h->hashes.failed || h->lengths.failed || h->crcs.failed ? desync__no_memory : NULL;
}

/* Begins the digest of the keys (number 0) or of a column. */
DESYNC__OWN const char *desync__begin_digest(desync__hashing *h, size_t number) {
    const desync_table *t = h->table;
    desync_buffer *b = &h->cell;
    b->len = 0;
    if (!number) {
        desync__head(b, 5, t->key2 ? 2 : 1, h->count);
    } else {
        const desync_column *c = &t->columns[h->columns[number - 1]];
        desync__head(b, 6, (unsigned)c->type, c->scale);
        desync__put(b, strlen(c->component), 4);
        desync__put(b, strlen(c->field), 4);
        desync__put(b, h->count, 4);
        desync_append(b, c->component, strlen(c->component));
        desync_append(b, c->field, strlen(c->field));
    }
    if (b->failed) return desync__no_memory;
    desync_sha256_begin(&h->sums[number]);
    desync_sha256_add(&h->sums[number], b->data, b->len);
    return NULL;
}

/* Hashes a table. Whatever comes of it, desync__hashed frees h. */
DESYNC__OWN const char *desync__hash_table(desync__hashing *h) {
    const desync_table *t = h->table;
    size_t i, block, parts = t->column_count + 1;
    const char *err = desync__check_table(t);
    if (err) return err;
    if ((err = desync__rows(h)) != NULL) return err;
    if (h->read && h->read->blocks != h->count) return "blocks are cut elsewhere";
    for (i = 0; h->read && i < h->count; i++)
        if (desync__get32(h->read->rows + 4 * i) != h->blocks[i + 1] - h->blocks[i]) return "blocks are cut elsewhere";
    h->columns = desync__sorted(t->column_count, desync__column_less, t->columns);
    h->sums = (desync_sha256 *)malloc(parts * sizeof *h->sums);
    h->digests = (uint8_t(*)[32])malloc(parts * 32);
    if (!h->columns || !h->sums || !h->digests) return desync__no_memory;
    for (i = 1; i < t->column_count; i++)
        if (!desync__column_less(t->columns, h->columns[i - 1], h->columns[i])) return "two columns of a table have the same name";
    for (i = 0; i < parts; i++)
        if ((err = desync__begin_digest(h, i)) != NULL) return err;
    for (block = 0; block < h->count; block++)
        for (i = 0; i < parts; i++)
            if ((err = desync__block(h, i, block)) != NULL) return err;
    for (i = 0; i < parts; i++) desync_sha256_end(&h->sums[i], h->digests[i]);
    h->cell.len = 0;
    desync__byte(&h->cell, 2);
    desync__put(&h->cell, strlen(t->label), 4);
    desync__put(&h->cell, parts, 4);
    desync__put(&h->cell, h->rows, 8);
    desync__padded(&h->cell, t->label, strlen(t->label));
    desync_append(&h->cell, h->digests, parts * 32);
    if (h->cell.failed) return desync__no_memory;
    desync__digest(h->cell.data, h->cell.len, h->leaf);
    return NULL;
}

/* The numbers of tables by class and label. */
DESYNC__OWN const char *desync__tables(const desync_world *w, size_t **order) {
    size_t i;
    *order = NULL;
    if (w->rng && w->rng_size > DESYNC__MAX_RNG) return "the RNG has more than 65536 bytes";
    if (w->table_count > DESYNC__MAX_TABLES) return "there are more than 65536 tables";
    for (i = 0; i < w->table_count; i++)
        if (!w->tables[i].label) return "a table has no label";
    *order = desync__sorted(w->table_count, desync__table_less, w->tables);
    if (!*order) return desync__no_memory;
    for (i = 1; i < w->table_count; i++)
        if (!desync__table_less(w->tables, (*order)[i - 1], (*order)[i])) return "two tables of a class have the same label";
    return NULL;
}

/* The leaf of the RNG, appended if there is one. */
DESYNC__OWN void desync__rng_leaf(const desync_world *w, desync_buffer *leaves) {
    desync_buffer b = {NULL, 0, 0, 0};
    uint8_t leaf[32];
    if (!w->rng) return;
    desync__byte(&b, 1);
    desync__put(&b, w->rng_size, 4);
    desync__put(&b, 0, 4);
    desync__padded(&b, w->rng, w->rng_size);
    if (b.failed) {
        leaves->failed = 1;
    } else {
        desync__digest(b.data, b.len, leaf);
        desync_append(leaves, leaf, 32);
    }
    desync_free(&b);
}

DESYNC__OWN const char *desync__root(const desync_buffer *leaves, uint8_t root[32]) {
    if (leaves->failed) return desync__no_memory;
    desync_merkle_root((const uint8_t(*)[32])(const void *)leaves->data, leaves->len / 32, root);
    return NULL;
}

DESYNC__API const char *desync_digests(const desync_world *w, uint8_t root[32], desync_visit *visit, void *user) {
    desync_buffer leaves = {NULL, 0, 0, 0};
    size_t *order, i, k;
    const char *err = desync__tables(w, &order);
    if (!err) {
        desync__rng_leaf(w, &leaves);
        if (w->rng && visit && !leaves.failed) visit(user, "RNG", NULL, NULL, leaves.data);
    }
    for (i = 0; i < w->table_count && !err; i++) {
        desync__hashing h;
        memset(&h, 0, sizeof h);
        h.table = &w->tables[order[i]];
        if (h.table->table_class == DESYNC_ARCHETYPE) {
            err = desync__hash_table(&h);
            for (k = 0; k < h.table->column_count && visit && !err; k++) {
                const desync_column *c = &h.table->columns[h.columns[k]];
                visit(user, h.table->label, c->component, c->field, h.digests[k + 1]);
            }
            if (!err && visit) visit(user, h.table->label, NULL, NULL, h.leaf);
            desync_append(&leaves, h.leaf, 32);
        }
        desync__hashed(&h);
    }
    if (!err) err = desync__root(&leaves, root);
    desync_free(&leaves);
    free(order);
    return err;
}

DESYNC__API const char *desync_state_hash(const desync_world *w, uint8_t root[32]) { return desync_digests(w, root, NULL, NULL); }

/* ---- Snapshots */

DESYNC__OWN int desync__param_less(const void *of, size_t a, size_t b) {
    const desync_param *p = (const desync_param *)of;
    return strcmp(p[a].key, p[b].key) < 0;
}

DESYNC__OWN int desync__long_name(const char *s) { return s && strlen(s) > DESYNC__MAX_NAME; }

/* Checks the names of a point, and sorts its properties. */
DESYNC__OWN const char *desync__check_point(const desync_point *at, size_t **properties) {
    size_t i;
    *properties = NULL;
    if (desync__long_name(at->native) || desync__long_name(at->peer)) return "the name of a point or peer is longer than 1024 bytes";
    if (at->property_count > DESYNC__MAX_PROPERTIES) return "there are more than 4096 properties";
    for (i = 0; i < at->property_count; i++)
        if (!at->properties[i].key || desync__long_name(at->properties[i].key))
            return "a property has no name, or one longer than 1024 bytes";
    *properties = desync__sorted(at->property_count, desync__param_less, at->properties);
    if (!*properties) return desync__no_memory;
    for (i = 1; i < at->property_count; i++)
        if (!desync__param_less(at->properties, (*properties)[i - 1], (*properties)[i])) return "two properties have the same name";
    return NULL;
}

typedef struct { /* of a table that has been written */
    uint64_t rows, index, index_len;
    uint8_t leaf[32];
} desync__written;

/* The header. Its length depends on names and on the number of tables only. */
DESYNC__OWN void desync__snap_header(desync_buffer *b, const desync_world *w, const size_t *order, const desync_point *at,
                                     const size_t *properties, const desync__written *written, const uint8_t root[32]) {
    size_t i;
    desync__array(b, 11);
    desync__big(b, 0xcf, at->seed, 8);
    desync__big(b, 0xcf, at->tick, 8);
    desync__str(b, at->phase);
    desync__str(b, at->native);
    desync__str(b, at->peer);
    desync__big(b, 0xce, at->epoch, 4);
    if (w->rng) desync__bin(b, w->rng, w->rng_size);
    else desync__nil(b);
    if (at->history) desync__bin(b, at->history, 32);
    else desync__nil(b);
    desync__bin(b, root, 32);
    desync__map(b, at->property_count);
    for (i = 0; i < at->property_count; i++) {
        desync__str(b, at->properties[properties[i]].key);
        desync__str(b, at->properties[properties[i]].value);
    }
    desync__array(b, w->table_count);
    for (i = 0; i < w->table_count; i++) {
        const desync_table *t = &w->tables[order[i]];
        desync__array(b, 7);
        desync__big(b, 0xcc, (unsigned)t->table_class, 1);
        desync__str(b, t->label);
        desync__big(b, 0xcf, written[i].rows, 8);
        desync__big(b, 0xcc, t->key2 ? 2 : 1, 1);
        desync__bin(b, written[i].leaf, 32);
        desync__big(b, 0xcf, written[i].index, 8);
        desync__big(b, 0xce, written[i].index_len, 4);
    }
}

/* The index of a table with cells that begin at an offset in the file. */
DESYNC__OWN void desync__snap_index(desync_buffer *b, const desync__hashing *h, uint64_t cells) {
    const desync_table *t = h->table;
    desync_buffer list = {NULL, 0, 0, 0};
    size_t start = b->len, i;
    desync__array(b, 4);
    desync__big(b, 0xcf, cells, 8);
    desync__bin(b, h->digests[0], 32);
    desync__array(b, t->column_count);
    for (i = 0; i < t->column_count; i++) {
        const desync_column *c = &t->columns[h->columns[i]];
        desync__array(b, 5);
        desync__str(b, c->component);
        desync__str(b, c->field);
        desync__big(b, 0xcc, (unsigned)c->type, 1);
        desync__big(b, 0xce, c->scale, 4);
        desync__bin(b, h->digests[i + 1], 32);
    }
    desync__array(b, 8);
    for (i = 0; i < h->count; i++) desync__put(&list, desync__key(t, h->slots[h->blocks[i]]), 8);
    desync__bin(b, list.data, list.len);
    list.len = 0;
    for (i = 0; i < h->count && t->key2; i++) desync__put(&list, desync__key2(t, h->slots[h->blocks[i]]), 8);
    desync__bin(b, list.data, list.len);
    list.len = 0;
    for (i = 0; i < h->count; i++) desync__put(&list, h->blocks[i + 1] - h->blocks[i], 4);
    desync__bin(b, list.data, list.len);
    desync__bin(b, h->hashes.data, h->hashes.len);
    desync__bin(b, h->lengths.data, h->lengths.len);
    desync__bin(b, h->lengths.data, h->lengths.len); /* as stored: nothing is compressed */
    list.len = 0;
    desync__extend(&list, h->lengths.len / 4);
    desync__bin(b, list.data, list.len);
    desync__bin(b, h->crcs.data, h->crcs.len);
    if (list.failed) b->failed = 1;
    if (!b->failed) desync__put(b, desync_crc32c(0, b->data + start, b->len - start), 4);
    desync_free(&list);
}

/* Appends all tables. Their first cell will be at an offset in the file. */
DESYNC__OWN const char *desync__snap_tables(desync_buffer *body, const desync_world *w, const size_t *order, uint64_t base,
                                            desync__written *written, desync_buffer *leaves) {
    const char *err = NULL;
    size_t i;
    for (i = 0; i < w->table_count && !err; i++) {
        desync__hashing h;
        uint64_t cells = base + body->len;
        memset(&h, 0, sizeof h);
        h.table = &w->tables[order[i]];
        h.cells = body;
        err = desync__hash_table(&h);
        if (!err) {
            written[i].rows = h.rows;
            written[i].index = base + body->len;
            memcpy(written[i].leaf, h.leaf, 32);
            if (h.table->table_class == DESYNC_ARCHETYPE) desync_append(leaves, h.leaf, 32);
            desync__snap_index(body, &h, cells);
            written[i].index_len = base + body->len - written[i].index;
            if (written[i].index_len > UINT32_MAX) err = "the index of a table has more than 4 GiB";
            if (body->failed) err = desync__no_memory;
        }
        desync__hashed(&h);
    }
    return err;
}

DESYNC__API const char *desync_snapshot(const desync_world *w, const desync_point *at, desync_buffer *out) {
    desync_buffer header = {NULL, 0, 0, 0}, body = {NULL, 0, 0, 0}, leaves = {NULL, 0, 0, 0};
    uint8_t root[32] = {0}, preamble[32] = {0x89, 'S', 'N', 'A', 'P', '\r', '\n', 0x1a, 1};
    desync__written *written = (desync__written *)calloc(w->table_count + 1, sizeof *written);
    size_t *order, *properties;
    const char *err = desync__check_point(at, &properties), *bad = desync__tables(w, &order);
    if (!err) err = bad;
    if (!err && !written) err = desync__no_memory;
    if (!err) {
        desync__snap_header(&header, w, order, at, properties, written, root);
        if (header.len > 16 << 20) err = "the header of the snapshot has more than 16 MiB";
    }
    if (!err) {
        desync__rng_leaf(w, &leaves);
        err = desync__snap_tables(&body, w, order, 32 + (uint64_t)header.len, written, &leaves);
    }
    if (!err) err = desync__root(&leaves, root);
    if (!err) {
        header.len = 0;
        desync__snap_header(&header, w, order, at, properties, written, root);
        if (header.failed) err = desync__no_memory;
    }
    if (!err) {
        desync__little(preamble + 12, header.len, 4);
        desync__little(preamble + 16, desync_crc32c(0, header.data, header.len), 4);
        desync__little(preamble + 20, 32 + (uint64_t)header.len + body.len + 8, 8);
        desync__little(preamble + 28, desync_crc32c(0, preamble, 28), 4);
        desync_append(out, preamble, 32);
        desync_append(out, header.data, header.len);
        desync_append(out, body.data, body.len);
        desync_append(out, "SNAP.END", 8);
        if (out->failed) err = desync__no_memory;
    }
    desync_free(&header);
    desync_free(&body);
    desync_free(&leaves);
    free(written);
    free(order);
    free(properties);
    return err;
}

/* ---- Sessions and orders */

DESYNC__API const char *desync_param_of(const desync_header *h, const char *key, const char *otherwise) {
    size_t i;
    for (i = 0; i < h->param_count; i++)
        if (strcmp(h->params[i].key, key) == 0) return h->params[i].value;
    return otherwise;
}

DESYNC__API const char *desync_input_hash(const desync_kind *kinds, size_t kind_count, uint64_t tick, const desync_order *orders, size_t n,
                                          uint8_t out[8]) {
    desync_buffer b = {NULL, 0, 0, 0};
    uint8_t digest[32];
    uint32_t count = 0;
    size_t i;
    desync__put(&b, 0, 4);
    for (i = 0; i < n; i++) {
        const desync_order *o = &orders[i];
        if (o->kind >= kind_count || o->size > 4 << 20) {
            desync_free(&b);
            return "an order has no such kind, or more than 4 MiB";
        }
        if (kinds[o->kind].local) continue;
        count++;
        desync__put(&b, tick, 8);
        desync__put(&b, o->sub_tick, 4);
        desync__put(&b, o->player, 4);
        desync__put(&b, o->sequence, 4);
        desync__put(&b, strlen(kinds[o->kind].name), 4);
        desync_append(&b, kinds[o->kind].name, strlen(kinds[o->kind].name));
        desync__put(&b, o->size, 4);
        desync_append(&b, o->payload, o->size);
    }
    if (b.failed) {
        desync_free(&b);
        return desync__no_memory;
    }
    desync__little(b.data, count, 4);
    desync__digest(b.data, b.len, digest);
    memcpy(out, digest, 8);
    desync_free(&b);
    return NULL;
}

/* ---- Files */

#ifndef DESYNCTOOL_WASM

/* The path of a file in a folder, NULL where memory ran out. */
DESYNC__OWN char *desync__join(const char *dir, const char *name) {
    size_t n = strlen(dir) + strlen(name) + 2;
    char *path = (char *)malloc(n);
    if (path) snprintf(path, n, "%s/%s", dir, name);
    return path;
}

/* Brings a file to the disk, and reports whether it is there. */
DESYNC__OWN int desync__sync(FILE *f) {
#ifdef _WIN32
    return fflush(f) == 0 && _commit(_fileno(f)) == 0;
#else
    return fflush(f) == 0 && (fsync(fileno(f)) == 0 || errno == EINVAL || errno == ENOTSUP); /* or not a file of a disk */
#endif
}

/* Writes DIR/NAME whole or not at all: until it is on the disk its name begins with a full stop. */
DESYNC__OWN const char *desync__write_whole(const char *dir, const char *name, const void *data, size_t len) {
    char hidden[80], *path = desync__join(dir, name), *unfinished;
    const char *err = NULL;
    FILE *f;
    snprintf(hidden, sizeof hidden, ".%s", name);
    unfinished = desync__join(dir, hidden);
    if (!path || !unfinished) err = desync__no_memory;
    else {
        f = fopen(unfinished, "wb");
        if (!f || fwrite(data, 1, len, f) != len || !desync__sync(f)) err = "the file cannot be written";
        if (f && fclose(f)) err = "the file cannot be written";
#ifdef _WIN32
        if (!err) remove(path); /* there a name is not taken from another file */
#endif
        if (!err && rename(unfinished, path)) err = "the file cannot be written";
        if (err) remove(unfinished);
    }
    free(path);
    free(unfinished);
    return err;
}

/* Removes the file that a game was writing into a folder when it crashed. */
DESYNC__OWN void desync__tidy(const char *dir) {
#ifdef _WIN32
    struct _finddata_t found;
    char *path = desync__join(dir, ".desync_*");
    intptr_t list = path ? _findfirst(path, &found) : -1;
    free(path);
    if (list == -1) return;
    do {
        if ((path = desync__join(dir, found.name)) != NULL) remove(path);
        free(path);
    } while (_findnext(list, &found) == 0);
    _findclose(list);
#else
    DIR *list = opendir(dir);
    struct dirent *found;
    char *path;
    if (!list) return;
    while ((found = readdir(list)) != NULL) {
        if (strncmp(found->d_name, ".desync_", 8) != 0) continue;
        if ((path = desync__join(dir, found->d_name)) != NULL) remove(path);
        free(path);
    }
    closedir(list);
#endif
}

DESYNC__API const char *desync_snapshot_file(const desync_world *w, const desync_point *at, const char *dir) {
    desync_buffer b = {NULL, 0, 0, 0};
    char name[64];
    const char *err = desync_snapshot(w, at, &b);
    snprintf(name, sizeof name, "desync_%016llx_%010llu.snap", (unsigned long long)at->seed, (unsigned long long)at->tick);
    if (!err) err = desync__write_whole(dir, name, b.data, b.len);
    desync_free(&b);
    return err;
}

enum { DESYNC__MAX_PAYLOAD = 16 << 20, DESYNC__FRAME = 16 };

/* Begins a file of frames. */
DESYNC__OWN const char *desync__create(desync_frames *f, const char *path, const char *name) {
    uint8_t preamble[16] = {0x89, 0, 0, 0, 0, 0, 0, 0, 1};
    memcpy(preamble + 1, name, 7);
    desync__little(preamble + 12, desync_crc32c(0, preamble, 12), 4);
    f->file = fopen(path, "wb");
    if (!f->file) return "the file cannot be created";
    setvbuf(f->file, NULL, _IONBF, 0); /* each frame is one write */
    desync__extend(&f->out, DESYNC__FRAME);
    return fwrite(preamble, 1, 16, f->file) == 16 ? NULL : "the file cannot be written";
}

/* Writes the frame with the payload in f->out, and makes room for the next one. */
DESYNC__OWN const char *desync__frame(desync_frames *f, uint32_t kind) {
    desync_buffer *b = &f->out;
    size_t n = b->len - DESYNC__FRAME, len = b->len;
    if (b->failed) return desync__no_memory;
    b->len = DESYNC__FRAME;
    if (!f->file) return "the file is not open";
    if (n > DESYNC__MAX_PAYLOAD) return "a frame has more than 16 MiB";
    desync__little(b->data, n, 4);
    desync__little(b->data + 4, kind, 4);
    desync__little(b->data + 8, desync_crc32c(0, b->data + DESYNC__FRAME, n), 4);
    desync__little(b->data + 12, desync_crc32c(0, b->data, 12), 4);
    f->count++;
    return fwrite(b->data, 1, len, f->file) == len ? NULL : "the file cannot be written";
}

DESYNC__OWN const char *desync__close(desync_frames *f) {
    const char *err;
    uint64_t count = f->count;
    desync__put(&f->out, count, 8);
    err = desync__frame(f, UINT32_MAX);
    if (f->file && fclose(f->file) && !err) err = "the file cannot be written";
    f->file = NULL;
    desync_free(&f->out);
    return err;
}

/* Writes the header; a file that cannot begin is closed. */
DESYNC__OWN const char *desync__opened(desync_frames *f, const char *err) {
    if (!err) err = desync__frame(f, 1);
    if (!err) return NULL;
    fclose(f->file);
    f->file = NULL;
    desync_free(&f->out);
    return err;
}

DESYNC__OWN const char *desync__put_params(desync_buffer *b, const desync_header *h) {
    size_t i, *order = desync__sorted(h->param_count, desync__param_less, h->params);
    const char *err = order ? NULL : desync__no_memory;
    desync__array(b, h->param_count);
    for (i = 0; i < h->param_count && !err; i++) {
        if (i && !desync__param_less(h->params, order[i - 1], order[i])) err = "two parameters have the same key";
        desync__array(b, 2);
        desync__str(b, h->params[order[i]].key);
        desync__str(b, h->params[order[i]].value);
    }
    free(order);
    return err;
}

DESYNC__OWN const char *desync__check_header(const desync_header *h) {
    if (!h->rate_num != !h->rate_den) return "one half of the tick rate is 0";
    if (h->kind_count > 65536 || h->peer_count > 65536 || h->param_count > 65536) return "more than 65536 kinds, peers or parameters";
    return NULL;
}

DESYNC__API const char *desync_log_open(desync_log *l, const char *path, const desync_header *h) {
    desync_buffer *b = &l->frames.out;
    const char *err;
    size_t i;
    memset(l, 0, sizeof *l);
    l->header = *h;
    l->epoch = h->epoch;
    l->next_tick = h->first_point;
    if ((err = desync__check_header(h)) != NULL) return err;
    while (l->self < h->peer_count && strcmp(h->peers[l->self], h->peer ? h->peer : "") != 0) l->self++;
    if (h->peer_count && l->self == h->peer_count) return "the peer is not among the peers";
    if ((err = desync__create(&l->frames, path, "DOL\r\n\032\n")) != NULL) return err;
    desync__array(b, 10);
    desync__uint(b, h->seed);
    desync__str(b, h->peer);
    desync__str(b, h->build);
    desync__array(b, 2);
    desync__uint(b, h->rate_num);
    desync__uint(b, h->rate_den);
    desync__bin(b, h->start, 32);
    desync__uint(b, h->first_point);
    desync__uint(b, h->epoch);
    desync__array(b, h->kind_count);
    for (i = 0; i < h->kind_count; i++) {
        desync__array(b, 2);
        desync__str(b, h->kinds[i].name);
        desync__bool(b, h->kinds[i].local);
    }
    desync__array(b, h->peer_count);
    for (i = 0; i < h->peer_count; i++) desync__str(b, h->peers[i]);
    return desync__opened(&l->frames, desync__put_params(b, h));
}

DESYNC__API const char *desync_log_hash(desync_log *l, uint64_t point, uint32_t peer, const char *kind, const char *coverage, const void *hash,
                                        size_t n) {
    if (n < 1 || n > 64) return "a hash has 1 to 64 bytes";
    desync__array(&l->hashes, 5);
    desync__uint(&l->hashes, point);
    desync__uint(&l->hashes, peer);
    desync__str(&l->hashes, kind);
    desync__str(&l->hashes, coverage);
    desync__bin(&l->hashes, hash, n);
    l->hash_count++;
    return l->hashes.failed ? desync__no_memory : NULL;
}

/* Notes the current state hash, and the history hash if it is known. */
DESYNC__OWN const char *desync__whole(desync_log *l) {
    const char *err = desync_log_hash(l, l->point, l->self, "state", "", l->root, 32);
    if (!err && l->has_history) err = desync_log_hash(l, l->point, l->self, "history", "", l->history, 32);
    l->whole = 1;
    return err;
}

DESYNC__API const char *desync_log_state(desync_log *l, uint64_t point, const uint8_t root[32]) {
    const char *err = desync_log_hash(l, point, l->self, "sync", "", root, 8);
    desync_sha256 s;
    if (l->adopted) {
        l->adopted = 0;
    } else if (!l->observed && point == l->header.first_point) {
        desync__digest(root, 32, l->history);
        l->has_history = 1;
    } else if (l->has_history && point == l->point + 1) {
        desync_sha256_begin(&s);
        desync_sha256_add(&s, l->history, 32);
        desync_sha256_add(&s, root, 8);
        desync_sha256_end(&s, l->history);
    } else {
        l->has_history = 0; /* a point was left out */
    }
    memcpy(l->root, root, 32);
    l->point = point;
    l->observed = 1;
    l->whole = 0;
    if (!err && point % 30 == 0) err = desync__whole(l);
    return err;
}

DESYNC__API const char *desync_log_checksum(desync_log *l, uint64_t point, const void *sum, size_t n) {
    uint8_t hash[8] = {0};
    if (n < 1 || n > 8) return "a checksum has 1 to 8 bytes";
    memcpy(hash, sum, n);
    return desync_log_hash(l, point, l->self, "sync", "", hash, 8);
}

DESYNC__OWN const char *desync__observed(desync_log *l);

DESYNC__API const char *desync_log_marker(desync_log *l, const desync_marker *m) {
    desync_buffer *b = &l->markers;
    int begun = l->frames.count > 1; /* an epoch that the first tick opens is the header's */
    const char *err;
    if (m->kind < DESYNC_JOIN || m->kind > DESYNC_FAILED_ORDER) return "a marker has no such kind";
    if (m->history && !m->new_epoch) return "a marker has a history hash and opens no epoch";
    if (m->new_epoch && m->kind != DESYNC_JOIN && m->kind != DESYNC_RECONNECT && m->kind != DESYNC_LOAD && m->kind != DESYNC_RESYNC)
        return "such a marker opens no epoch";
    if (m->new_epoch && l->opened) return "a tick opens one epoch at most";
    if (m->new_epoch && (err = desync__observed(l)) != NULL) return err;
    desync__array(b, 8);
    desync__uint(b, (uint64_t)m->kind);
    desync__uint(b, m->player);
    desync__uint(b, m->peer);
    desync__uint(b, m->sequence);
    desync__uint(b, m->point);
    desync__bool(b, m->new_epoch);
    desync__bin(b, m->history, m->history ? 32 : 0);
    desync__str(b, m->text);
    l->marker_count++;
    if (m->new_epoch) {
        if (begun) l->epoch++;
        l->opened = 1;
        l->next_tick = 0;
        l->has_history = m->history != NULL;
        l->adopted = 1;
        if (m->history) memcpy(l->history, m->history, 32);
    }
    return b->failed ? desync__no_memory : NULL;
}

/* Appends what was noted, an array. */
DESYNC__OWN void desync__noted(desync_buffer *to, desync_buffer *noted, size_t *count) {
    desync__array(to, *count);
    desync_append(to, noted->data, noted->len);
    if (noted->failed) to->failed = 1;
    noted->len = 0;
    *count = 0;
}

DESYNC__API const char *desync_log_tick(desync_log *l, uint64_t tick, const desync_order *orders, size_t n) {
    desync_buffer *b = &l->frames.out;
    uint8_t inputs[8];
    size_t i;
    const char *err = desync_input_hash(l->header.kinds, l->header.kind_count, tick, orders, n, inputs);
    if (err) return err;
    if (tick < l->next_tick) return "ticks do not ascend";
    l->next_tick = tick + 1;
    l->opened = 0;
    desync__array(b, 5);
    desync__uint(b, tick);
    desync__bin(b, inputs, 8);
    desync__array(b, n);
    for (i = 0; i < n; i++) {
        desync__array(b, 5);
        desync__uint(b, orders[i].sub_tick);
        desync__uint(b, orders[i].player);
        desync__uint(b, orders[i].sequence);
        desync__uint(b, orders[i].kind);
        desync__bin(b, orders[i].payload, orders[i].size);
    }
    desync__noted(b, &l->hashes, &l->hash_count);
    desync__noted(b, &l->markers, &l->marker_count);
    return desync__frame(&l->frames, 2);
}

/* Writes what was noted and no tick follows. */
DESYNC__OWN const char *desync__observed(desync_log *l) {
    if (!l->hash_count) return NULL;
    desync__noted(&l->frames.out, &l->hashes, &l->hash_count);
    return desync__frame(&l->frames, 3);
}

DESYNC__API const char *desync_log_close(desync_log *l) {
    const char *err = NULL, *closed;
    if (l->observed && !l->whole) err = desync__whole(l);
    if (!err) err = desync__observed(l);
    closed = desync__close(&l->frames);
    desync_free(&l->hashes);
    desync_free(&l->markers);
    return err ? err : closed;
}

/* ---- Traces */

DESYNC__API const char *desync_trace_open(desync_trace *t, const char *path, const desync_header *h) {
    desync_buffer *b = &t->frames.out;
    const char *err;
    memset(t, 0, sizeof *t);
    if ((err = desync__check_header(h)) != NULL) return err;
    if ((err = desync__create(&t->frames, path, "DTR\r\n\032\n")) != NULL) return err;
    desync__array(b, 5);
    desync__array(b, 1);
    desync__uint(b, h->seed);
    desync__str(b, h->peer);
    desync__str(b, h->build);
    desync__array(b, 2);
    desync__uint(b, h->rate_num);
    desync__uint(b, h->rate_den);
    return desync__opened(&t->frames, desync__put_params(b, h));
}

/* The number of a name, which the file may not have yet. */
DESYNC__OWN size_t desync__name(desync_trace *t, const char *name) {
    size_t i, at;
    if (!name || !*name) return 0;
    for (i = 0; i < t->name_count; i++) {
        memcpy(&at, t->starts.data + i * sizeof at, sizeof at);
        if (strcmp((const char *)t->names.data + at, name) == 0) return i + 1;
    }
    at = t->names.len;
    desync_append(&t->starts, &at, sizeof at);
    desync_append(&t->names, name, strlen(name) + 1);
    desync__str(&t->fresh, name);
    if (t->starts.failed || t->names.failed) {
        t->fresh.failed = 1;
        return 0;
    }
    t->fresh_count++;
    return ++t->name_count;
}

DESYNC__OWN void desync__put_sums(desync_buffer *b, desync_trace *t, const desync_sum *sums, size_t n) {
    size_t i;
    desync__array(b, n);
    for (i = 0; i < n; i++) {
        desync__array(b, 2);
        desync__uint(b, desync__name(t, sums[i].name));
        desync__bin(b, sums[i].bytes, sums[i].len);
    }
}

/* Writes the names that the next frame needs for the first time. */
DESYNC__OWN const char *desync__put_names(desync_trace *t) {
    if (t->fresh.failed) return desync__no_memory;
    if (!t->fresh_count) return NULL;
    desync__noted(&t->frames.out, &t->fresh, &t->fresh_count);
    return desync__frame(&t->frames, 2);
}

DESYNC__API const char *desync_trace_flush(desync_trace *t) {
    const char *err;
    if (!t->batched) return NULL;
    if ((err = desync__put_names(t)) != NULL) return err;
    desync__array(&t->frames.out, 2);
    desync__uint(&t->frames.out, t->tick);
    desync__noted(&t->frames.out, &t->batch, &t->batched);
    return desync__frame(&t->frames, 3);
}

DESYNC__API const char *desync_trace_add(desync_trace *t, const desync_checkpoint *c) {
    const char *err;
    if (!c->sum_count && !c->has_count) return "a checkpoint has neither a checksum nor a count";
    if (c->sum_count > 256) return "a checkpoint has more than 256 checksums";
    if (t->batched && (c->tick != t->tick || t->batch.len >= 1 << 20))
        if ((err = desync_trace_flush(t)) != NULL) return err;
    t->tick = c->tick;
    t->batched++;
    desync__array(&t->batch, c->has_count ? 5 : 4);
    desync__uint(&t->batch, desync__name(t, c->system));
    desync__uint(&t->batch, desync__name(t, c->scope));
    desync__uint(&t->batch, c->predicted != 0);
    desync__put_sums(&t->batch, t, c->sums, c->sum_count);
    if (c->has_count) desync__uint(&t->batch, c->count);
    return t->batch.failed || t->fresh.failed ? desync__no_memory : NULL;
}

DESYNC__API const char *desync_trace_event(desync_trace *t, const desync_event *e) {
    desync_buffer *b = &t->frames.out;
    const char *err = desync_trace_flush(t);
    size_t i;
    if (err) return err;
    if (e->kind < DESYNC_EVENT_SAVE || e->kind > DESYNC_EVENT_INPUT) return "an event has no such kind";
    for (i = 0; i < e->sum_count; i++) desync__name(t, e->sums[i].name);
    if ((err = desync__put_names(t)) != NULL) return err;
    desync__array(b, 6);
    desync__uint(b, (uint64_t)e->kind);
    desync__uint(b, e->tick);
    desync__uint(b, e->other);
    desync__uint(b, e->player);
    desync__uint(b, e->predicted != 0);
    desync__put_sums(b, t, e->sums, e->sum_count);
    return desync__frame(&t->frames, 4);
}

typedef struct {
    desync_trace *trace;
    uint64_t tick;
    const char *system, *err;
    int detail;
    desync_buffer scope;
} desync__tracing;

DESYNC__OWN void desync__trace_part(void *user, const char *label, const char *component, const char *field, const uint8_t hash[32]) {
    desync__tracing *s = (desync__tracing *)user;
    desync_checkpoint c;
    desync_sum sum;
    if (s->err || s->detail < (field ? DESYNC_BY_COLUMN : DESYNC_BY_ARCHETYPE)) return;
    s->scope.len = 0;
    desync_append(&s->scope, label, strlen(label));
    if (field) {
        desync_append(&s->scope, "/", 1);
        desync_append(&s->scope, component, strlen(component));
        desync_append(&s->scope, ".", 1);
        desync_append(&s->scope, field, strlen(field));
    }
    desync__byte(&s->scope, 0);
    memset(&c, 0, sizeof c);
    sum.name = "";
    sum.bytes = hash;
    sum.len = 8;
    c.tick = s->tick;
    c.system = s->system;
    c.scope = (const char *)s->scope.data;
    c.sums = &sum;
    c.sum_count = 1;
    s->err = s->scope.failed ? desync__no_memory : desync_trace_add(s->trace, &c);
}

DESYNC__API const char *desync_trace_world(desync_trace *t, uint64_t tick, const char *system, const desync_world *w, int detail, uint8_t root[32]) {
    desync__tracing s;
    const char *err;
    memset(&s, 0, sizeof s);
    s.trace = t;
    s.tick = tick;
    s.system = system;
    s.detail = detail;
    err = desync_digests(w, root, desync__trace_part, &s);
    if (!err) err = s.err;
    s.detail = DESYNC_BY_ARCHETYPE; /* the whole comes last: the first that differs shows most */
    if (!err) desync__trace_part(&s, "", NULL, NULL, root);
    desync_free(&s.scope);
    return err ? err : s.err;
}

DESYNC__API const char *desync_trace_close(desync_trace *t) {
    const char *err = desync_trace_flush(t), *closed = desync__close(&t->frames);
    desync_free(&t->batch);
    desync_free(&t->fresh);
    desync_free(&t->names);
    desync_free(&t->starts);
    return err ? err : closed;
}

DESYNC__OWN const char *desync__sync_frames(desync_frames *f) {
    if (!f->file) return "the file is not open";
    return desync__sync(f->file) ? NULL : "the file cannot be brought to the disk";
}

DESYNC__API const char *desync_log_sync(desync_log *l) { return desync__sync_frames(&l->frames); }

DESYNC__API const char *desync_trace_sync(desync_trace *t) {
    const char *err = desync_trace_flush(t);
    return err ? err : desync__sync_frames(&t->frames);
}

/* ---- All files of a peer */

DESYNC__OWN void desync__mkdir(const char *dir) { /* a folder that is missing shows when a file is created */
#ifdef _WIN32
    _mkdir(dir);
#else
    mkdir(dir, 0777);
#endif
}

DESYNC__API const char *desync_recorder_open(desync_recorder *r, const char *dir, const desync_header *h, const desync_world *w, int detail) {
    desync_header header = *h;
    char *log, *trace;
    const char *err = desync_state_hash(w, header.start);
    memset(r, 0, sizeof *r);
    if (err) return err;
    r->detail = detail;
    r->dir = desync__join(dir, h->peer);
    if (!r->dir) return desync__no_memory;
    desync__mkdir(dir);
    desync__mkdir(r->dir);
    desync__tidy(r->dir);
    log = desync__join(r->dir, "order-log.bin");
    trace = desync__join(r->dir, "checkpoints.trace");
    err = log && trace ? desync_log_open(&r->log, log, &header) : desync__no_memory;
    if (!err && detail != DESYNC_NO_TRACE) err = desync_trace_open(&r->trace, trace, &header);
    free(log);
    free(trace);
    if (err) desync_recorder_close(r);
    return err;
}

DESYNC__API const char *desync_recorder_sync(desync_recorder *r) {
    const char *err = desync_log_sync(&r->log);
    return err || !r->trace.frames.file ? err : desync_trace_sync(&r->trace);
}

DESYNC__API const char *desync_recorder_state(desync_recorder *r, uint64_t point, const desync_world *w) {
    const char *err = desync_state_hash(w, r->root);
    if (point > r->tick) r->begun = 0;
    return err ? err : desync_log_state(&r->log, point, r->root);
}

DESYNC__API const char *desync_recorder_marker(desync_recorder *r, const desync_marker *m) {
    const char *err = desync_log_marker(&r->log, m);
    if (!err && m->new_epoch) r->recent_from = r->played = 0, r->begun = 0; /* an excerpt has no gap */
    return err;
}

DESYNC__OWN void desync__json(desync_buffer *b, const char *text) { desync_append(b, text, strlen(text)); }

DESYNC__OWN void desync__json_uint(desync_buffer *b, const char *key, uint64_t v) {
    char text[64];
    snprintf(text, sizeof text, ",\"%s\":%llu", key, (unsigned long long)v);
    desync__json(b, text);
}

DESYNC__OWN void desync__json_hex(desync_buffer *b, const uint8_t *p, size_t n) {
    static const char digits[] = "0123456789abcdef";
    for (; n--; p++) {
        desync__byte(b, (unsigned char)digits[*p >> 4]);
        desync__byte(b, (unsigned char)digits[*p & 15]);
    }
}

DESYNC__OWN void desync__json_str(desync_buffer *b, const char *text) {
    char escape[8];
    desync__byte(b, '"');
    for (; text && *text; text++) {
        if (*text == '"' || *text == '\\') desync__byte(b, '\\');
        if ((unsigned char)*text >= ' ') {
            desync__byte(b, (unsigned char)*text);
        } else {
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)*text);
            desync__json(b, escape);
        }
    }
    desync__byte(b, '"');
}

DESYNC__OWN void desync__json_base64(desync_buffer *b, const uint8_t *p, size_t n) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t i, k;
    for (i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) | (i + 2 < n ? (uint32_t)p[i + 2] : 0);
        for (k = 0; k < 4; k++) desync__byte(b, i + k > n ? '=' : (unsigned char)digits[v >> (18 - 6 * k) & 63]);
    }
}

/* Keeps a tick's orders for a report. */
DESYNC__OWN const char *desync__excerpt(desync_recorder *r, uint64_t tick, const desync_order *orders, size_t n) {
    desync_buffer *b = &r->recent[tick % 64];
    const desync_kind *kinds = r->log.header.kinds;
    size_t i;
    if (!r->played || tick != r->played) r->recent_from = tick;
    r->played = tick + 1;
    if (r->played - r->recent_from > 64) r->recent_from = r->played - 64;
    b->len = 0;
    for (i = 0; i < n; i++) {
        desync__json(b, ",\n{\"kind\":");
        desync__json_str(b, kinds[orders[i].kind].name);
        desync__json_uint(b, "tick", tick);
        desync__json_uint(b, "sub_tick_time", orders[i].sub_tick);
        desync__json_uint(b, "player", orders[i].player);
        desync__json_uint(b, "sequence", orders[i].sequence);
        desync__json(b, ",\"payload\":\"");
        desync__json_hex(b, orders[i].payload, orders[i].size);
        desync__json(b, kinds[orders[i].kind].local ? "\",\"local\":true}" : "\"}");
    }
    return b->failed ? desync__no_memory : NULL;
}

DESYNC__API const char *desync_recorder_tick(desync_recorder *r, uint64_t tick, const desync_order *orders, size_t n) {
    const char *err = r->detail == DESYNC_NO_TRACE ? NULL : desync_trace_flush(&r->trace);
    r->tick = tick;
    if (!err) err = desync_log_tick(&r->log, tick, orders, n);
    r->begun = !err;
    return err ? err : desync__excerpt(r, tick, orders, n);
}

DESYNC__API const char *desync_recorder_system(desync_recorder *r, const char *system, const desync_world *w) {
    if (!r->begun) return "desync_recorder_system: no tick has begun; desync_recorder_tick comes before the systems of a tick";
    if (r->detail == DESYNC_NO_TRACE) return NULL;
    return desync_trace_world(&r->trace, r->tick, system, w, r->detail, r->root);
}

DESYNC__API void desync_recorder_facts(desync_recorder *r, const desync_param *facts, size_t n) {
    r->facts = facts;
    r->fact_count = n;
}

/* The state that was noted last, without properties. */
DESYNC__OWN desync_point desync__noted_last(const desync_recorder *r) {
    desync_point at;
    memset(&at, 0, sizeof at);
    at.seed = r->log.header.seed;
    at.tick = r->log.point;
    at.peer = r->log.header.peer;
    at.epoch = r->log.epoch;
    if (r->log.has_history) at.history = r->log.history;
    return at;
}

/* Adds a property unless there is one of that name. */
DESYNC__OWN void desync__property(desync_param *list, size_t *count, const char *key, const char *value) {
    size_t i;
    for (i = 0; i < *count; i++)
        if (strcmp(list[i].key, key) == 0) return;
    list[*count].key = key;
    list[(*count)++].value = value;
}

DESYNC__API const char *desync_recorder_snapshot(desync_recorder *r, const desync_world *w) {
    const desync_header *h = &r->log.header;
    desync_param *properties = (desync_param *)malloc((h->param_count + r->fact_count + 1) * sizeof *properties);
    desync_point at = desync__noted_last(r);
    const char *err;
    size_t i;
    if (!properties) return desync__no_memory;
    at.properties = properties;
    if (h->build && *h->build) desync__property(properties, &at.property_count, "build", h->build);
    for (i = 0; i < h->param_count; i++) desync__property(properties, &at.property_count, h->params[i].key, h->params[i].value);
    for (i = 0; i < r->fact_count; i++) desync__property(properties, &at.property_count, r->facts[i].key, r->facts[i].value);
    err = desync_snapshot_file(w, &at, r->dir);
    free(properties);
    return err;
}

typedef struct {
    desync_buffer text;
    int rng; /* the next leaf belongs to the RNG */
} desync__nodes;

DESYNC__OWN void desync__node(void *user, const char *label, const char *component, const char *field, const uint8_t hash[32]) {
    desync__nodes *nodes = (desync__nodes *)user;
    desync_buffer *b = &nodes->text;
    (void)component;
    if (field) return;
    desync__json(b, b->len ? ",\n[" : "\n[");
    desync__json_str(b, nodes->rng ? "" : label);
    desync__json(b, ",\"");
    desync__json_hex(b, hash, 32);
    desync__json(b, "\"]");
    nodes->rng = 0;
}

/* Appends the archetypes that are named, each as a snapshot that has nothing but the RNG and this one. */
DESYNC__OWN const char *desync__contents(desync_buffer *b, const desync_world *w, const desync_point *at, const char *const *labels, size_t n) {
    desync_world part = *w;
    desync_buffer snap = {NULL, 0, 0, 0};
    const char *err = NULL;
    size_t i;
    part.table_count = 1;
    for (i = 0; i < n && !err; i++) {
        part.tables = desync_find(w, DESYNC_ARCHETYPE, labels[i]);
        if (!part.tables) return "a report names an archetype that is not there";
        desync__json(b, i ? ",\n{\"label\":" : "\n{\"label\":");
        desync__json_str(b, labels[i]);
        desync__json(b, ",\"world\":\"");
        err = desync_snapshot(&part, at, &snap);
        if (!err) desync__json_base64(b, snap.data, snap.len);
        desync__json(b, "\"}");
        desync_free(&snap);
    }
    return err;
}

DESYNC__OWN const char *desync__report(desync_recorder *r, const desync_world *w, int player, const char *const *archetypes, size_t n,
                                       desync_buffer *b) {
    desync_point at = desync__noted_last(r);
    uint8_t root[32];
    desync__nodes nodes = {{NULL, 0, 0, 0}, w->rng != NULL};
    char text[160];
    const char *err;
    uint64_t tick;
    size_t begin;
    err = desync_digests(w, root, desync__node, &nodes);
    at.history = NULL; /* of the whole state */
    at.epoch = 0;
    snprintf(text, sizeof text, "{\"schema\":\"desynctool.peer-report/1\",\"status\":\"diverged\",\n\"seed\":\"%016llx\",\"tick\":%llu,\"player\":%d,\"peer\":",
             (unsigned long long)at.seed, (unsigned long long)at.tick, player);
    desync__json(b, text);
    desync__json_str(b, at.peer);
    desync__json(b, ",\n\"state_hash\":\"");
    desync__json_hex(b, root, 32);
    desync__json(b, "\",\"rng_state\":\"");
    desync__json_hex(b, (const uint8_t *)w->rng, w->rng ? w->rng_size : 0);
    desync__json(b, "\",\n\"merkle_nodes\":[");
    desync_append(b, nodes.text.data, nodes.text.len);
    desync__json(b, "],\n\"diverged_archetypes\":[");
    if (!err) err = desync__contents(b, w, &at, archetypes, n);
    if (r->recent_from < r->played) {
        snprintf(text, sizeof text, "],\n\"order_log_window\":{\"from\":%llu,\"to\":%llu", (unsigned long long)r->recent_from,
                 (unsigned long long)(r->played - 1));
        desync__json(b, text);
        desync__json(b, "},\n\"order_log_excerpt\":[");
        begin = b->len;
        for (tick = r->recent_from; tick < r->played; tick++) desync_append(b, r->recent[tick % 64].data, r->recent[tick % 64].len);
        if (b->len > begin && !b->failed) b->data[begin] = ' '; /* in the place of a comma */
    }
    desync__json(b, "]}\n");
    if (!err && (nodes.text.failed || b->failed)) err = desync__no_memory;
    desync_free(&nodes.text);
    return err;
}

DESYNC__API const char *desync_recorder_report(desync_recorder *r, const desync_world *w, int player, const char *const *archetypes, size_t n) {
    desync_buffer b = {NULL, 0, 0, 0};
    char name[64];
    const char *err = desync__report(r, w, player, archetypes, n, &b);
    snprintf(name, sizeof name, "desync_report_%016llx_%010llu.json", (unsigned long long)r->log.header.seed,
             (unsigned long long)r->log.point);
    if (!err) err = desync__write_whole(r->dir, name, b.data, b.len);
    desync_free(&b);
    return err;
}

DESYNC__API const char *desync_recorder_close(desync_recorder *r) {
    const char *err = desync_log_close(&r->log), *closed = r->trace.frames.file ? desync_trace_close(&r->trace) : NULL;
    size_t i;
    for (i = 0; i < 64; i++) desync_free(&r->recent[i]);
    free(r->dir);
    r->dir = NULL;
    return err ? err : closed;
}

#endif

/* ---- Reading requests */

enum { DESYNC__ANY, DESYNC__UINT, DESYNC__BOOL, DESYNC__NIL, DESYNC__STR, DESYNC__BIN, DESYNC__ARRAY, DESYNC__MAP };

/* The first thing that is wrong stays in `err`; all values read after it are 0. */
typedef struct {
    const uint8_t *at, *end;
    const char *err;
} desync__reader;

DESYNC__OWN uint64_t desync__fail(desync__reader *r, const char *why) {
    if (!r->err) r->err = why;
    return 0;
}

DESYNC__OWN uint64_t desync__read_big(desync__reader *r, size_t n) {
    uint64_t v = 0;
    if ((size_t)(r->end - r->at) < n) return desync__fail(r, "it ends inside a value");
    while (n--) v = v << 8 | *r->at++;
    return v;
}

/* Reads the head of a value: its type, and its number or length. Floats and negative numbers are of type DESYNC__ANY, as
   nothing has one here; *n is then how many bytes are still to be skipped. */
DESYNC__OWN int desync__read_head(desync__reader *r, uint64_t *n) {
    unsigned c = (unsigned)desync__read_big(r, 1);
    *n = 0;
    if (r->err) return DESYNC__ANY;
    if (c < 0x80) return *n = c, DESYNC__UINT;
    if (c < 0x90) return *n = c & 15, DESYNC__MAP;
    if (c < 0xa0) return *n = c & 15, DESYNC__ARRAY;
    if (c < 0xc0) return *n = c & 31, DESYNC__STR;
    if (c >= 0xe0) return DESYNC__ANY;
    switch (c) {
    case 0xc0: return DESYNC__NIL;
    case 0xc2:
    case 0xc3: return *n = c & 1, DESYNC__BOOL;
    case 0xc4:
    case 0xc5:
    case 0xc6: return *n = desync__read_big(r, (size_t)1 << (c - 0xc4)), DESYNC__BIN;
    case 0xca:
    case 0xcb: return *n = c == 0xca ? 4 : 8, DESYNC__ANY;
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf: return *n = desync__read_big(r, (size_t)1 << (c - 0xcc)), DESYNC__UINT;
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3: {
        size_t size = (size_t)1 << (c - 0xd0);
        *n = desync__read_big(r, size);
        if (*n >> (8 * size - 1) == 0) return DESYNC__UINT; /* a signed form of what is not negative */
        *n = 0;
        return DESYNC__ANY;
    }
    case 0xd9:
    case 0xda:
    case 0xdb: return *n = desync__read_big(r, (size_t)1 << (c - 0xd9)), DESYNC__STR;
    case 0xdc:
    case 0xdd: return *n = desync__read_big(r, c == 0xdc ? 2 : 4), DESYNC__ARRAY;
    case 0xde:
    case 0xdf: return *n = desync__read_big(r, c == 0xde ? 2 : 4), DESYNC__MAP;
    }
    desync__fail(r, "it has an extension or a code that does not occur");
    return DESYNC__ANY;
}

/* Reads past n values and whatever is in them. */
DESYNC__OWN void desync__skip(desync__reader *r, uint64_t n) {
    while (n && !r->err) {
        uint64_t more;
        int type = desync__read_head(r, &more);
        size_t left = (size_t)(r->end - r->at);
        n--;
        if (r->err) return;
        if (type == DESYNC__MAP || type == DESYNC__ARRAY) {
            n += type == DESYNC__MAP ? more * 2 : more; /* both below 2^33 */
            if (n > left) desync__fail(r, "it has more elements than bytes");
        } else if (type == DESYNC__STR || type == DESYNC__BIN || type == DESYNC__ANY) {
            if (more > left) desync__fail(r, "it ends inside a value");
            else r->at += more;
        }
    }
}

DESYNC__OWN uint64_t desync__read(desync__reader *r, int type, const char *expected) {
    uint64_t n;
    if (r->err) return 0;
    if (desync__read_head(r, &n) != type) return desync__fail(r, expected);
    return r->err ? 0 : n;
}

DESYNC__OWN uint64_t desync__read_uint(desync__reader *r) { return desync__read(r, DESYNC__UINT, "expected an unsigned integer"); }

DESYNC__OWN uint32_t desync__read_u32(desync__reader *r) {
    uint64_t v = desync__read_uint(r);
    return (uint32_t)(v > UINT32_MAX ? desync__fail(r, "expected an integer of 32 bits") : v);
}

/* Reads the head of an array; each element takes a byte at least. */
DESYNC__OWN size_t desync__read_array(desync__reader *r) {
    uint64_t n = desync__read(r, DESYNC__ARRAY, "expected an array");
    return (size_t)(n > (uint64_t)(r->end - r->at) ? desync__fail(r, "it has more elements than bytes") : n);
}

DESYNC__OWN void desync__read_tuple(desync__reader *r, size_t n) {
    if (desync__read_array(r) != n) desync__fail(r, "an array has another length than expected");
}

DESYNC__OWN const uint8_t *desync__read_run(desync__reader *r, int type, const char *expected, size_t *len) {
    uint64_t n = desync__read(r, type, expected);
    const uint8_t *at = r->at;
    if (n > (uint64_t)(r->end - r->at)) n = desync__fail(r, "it ends inside a value");
    *len = (size_t)n;
    r->at += n;
    return at;
}

DESYNC__OWN const uint8_t *desync__read_bin(desync__reader *r, size_t *len) { return desync__read_run(r, DESYNC__BIN, "expected bin", len); }
DESYNC__OWN const uint8_t *desync__read_str(desync__reader *r, size_t *len) { return desync__read_run(r, DESYNC__STR, "expected a str", len); }

/* ---- Reading snapshots */

/* Room for n things, zero at first, that stays until the snapshot is freed. */
DESYNC__OWN void *desync__keep(desync_snap *s, size_t n, size_t size) {
    typedef union { void *next; uint64_t align; } piece;
    piece *p;
    if (n > (SIZE_MAX / 2 - sizeof *p) / size) return NULL;
    p = (piece *)calloc(1, sizeof *p + n * size);
    if (!p) return NULL;
    p->next = s->kept;
    s->kept = p;
    return p + 1;
}

DESYNC__API void desync_snap_free(desync_snap *s) {
    while (s->kept) {
        void *next = *(void **)s->kept;
        free(s->kept);
        s->kept = next;
    }
    free(s->file);
    memset(s, 0, sizeof *s);
}

/* Copies a str of so many bytes at least and at most, which has no NUL. */
DESYNC__OWN const char *desync__copied(desync_snap *s, desync__reader *r, size_t least, size_t most) {
    size_t n;
    const uint8_t *at = desync__read_str(r, &n);
    char *to;
    if (r->err) return "";
    if (n < least || n > most) return desync__fail(r, "a name is empty, or longer than 1024 bytes"), "";
    if (n && memchr(at, 0, n)) return desync__fail(r, "a name has a NUL"), "";
    to = (char *)desync__keep(s, n + 1, 1);
    if (!to) return desync__fail(r, desync__no_memory), "";
    if (n) memcpy(to, at, n);
    return to;
}

DESYNC__OWN const char *desync__label(desync_snap *s, desync__reader *r, size_t least) { return desync__copied(s, r, least, DESYNC__MAX_NAME); }

DESYNC__OWN const uint8_t *desync__read_hash(desync__reader *r) {
    size_t n;
    const uint8_t *at = desync__read_bin(r, &n);
    if (!r->err && n != 32) desync__fail(r, "a hash has other than 32 bytes");
    return at;
}

/* Reads past nil if that is next. */
DESYNC__OWN int desync__read_nil(desync__reader *r) {
    if (r->err || r->at == r->end || *r->at != 0xc0) return 0;
    r->at++;
    return 1;
}

DESYNC__OWN size_t desync__width(const desync_column *c) { return desync__sizes[c->type]; }

DESYNC__OWN const char *desync__read_columns(desync_snap *s, desync__reader *r, desync_table *t, desync__cells *c) {
    desync_column *columns;
    size_t i;
    t->column_count = desync__read_array(r);
    if (r->err) return r->err;
    if (t->column_count > DESYNC__MAX_TABLES) return "a table has more than 65536 columns";
    t->columns = columns = (desync_column *)desync__keep(s, t->column_count, sizeof *columns);
    if (!columns) return desync__no_memory;
    for (i = 0; i < t->column_count && !r->err; i++) {
        uint32_t type;
        desync__read_tuple(r, 5);
        columns[i].component = desync__label(s, r, 1);
        columns[i].field = desync__label(s, r, 1);
        type = desync__read_u32(r);
        columns[i].scale = desync__read_u32(r);
        c->columns[1 + i] = desync__read_hash(r);
        if (r->err) break;
        if (type < DESYNC_BOOL || type > DESYNC_REF) return "a column has no such type";
        columns[i].type = (int)type;
        if (i && !desync__column_less(columns, i - 1, i)) return "columns do not ascend";
    }
    return r->err;
}

/* Reads the index of a table. Its cells begin at `cells` and end where the index begins. All lengths in it are checked:
   each cell is in the file, and has room for its rows. */
DESYNC__OWN const char *desync__read_index(desync_snap *s, desync_table *t, desync__cells *c, const uint8_t *file, size_t cells, size_t index,
                                           size_t len, size_t parts) {
    static const char misfit[] = "the index of a table does not fit together";
    desync__reader r;
    const uint8_t *bins[8];
    size_t sizes[8], at = cells, cell = 0, b, k, i;
    uint64_t blocks, count, rows = 0;
    const char *err;
    if (len < 4 || desync_crc32c(0, file + index, len - 4) != desync__get32(file + index + len - 4)) return "an index fails its checksum";
    memset(&r, 0, sizeof r);
    r.at = file + index;
    r.end = r.at + len - 4;
    desync__read_tuple(&r, 4);
    if (desync__read_uint(&r) != cells) desync__fail(&r, "cells are not where they have to be");
    c->columns = (const uint8_t **)desync__keep(s, len, sizeof *c->columns); /* a column takes more than a byte */
    if (!c->columns) return desync__no_memory;
    c->columns[0] = desync__read_hash(&r);
    if (r.err) return r.err;
    if ((err = desync__read_columns(s, &r, t, c)) != NULL) return err;
    desync__read_tuple(&r, 8);
    for (i = 0; i < 8; i++) bins[i] = desync__read_bin(&r, &sizes[i]);
    if (!r.err && r.at != r.end) desync__fail(&r, misfit);
    if (r.err) return r.err;
    blocks = sizes[2] / 4;
    count = blocks * (t->column_count + 1);
    {
        const uint64_t want[8] = {blocks * 8, parts == 2 ? blocks * 8 : 0, blocks * 4, count * 32, count * 4, count * 4, count, count * 4};
        for (i = 0; i < 8; i++)
            if (sizes[i] != want[i]) return misfit;
    }
    for (b = 0; b < blocks; b++) {
        size_t n = desync__get32(bins[2] + 4 * b);
        if (n == 0 || n > DESYNC__MAX_BLOCK) return misfit;
        rows += n;
        for (k = 0; k <= t->column_count; k++, cell++) {
            size_t size = desync__get32(bins[4] + 4 * cell), width = k ? desync__width(&t->columns[k - 1]) : 8 * parts;
            if (bins[6][cell] == 1) return "a cell is compressed with zstd, which is not read here";
            if (bins[6][cell] || desync__get32(bins[5] + 4 * cell) != size || size > DESYNC__MAX_CELL || size > index - at) return misfit;
            if (size < 8 + n * (width ? width : 4)) return "a cell is too short for its rows";
            if (desync_crc32c(0, file + at, size) != desync__get32(bins[7] + 4 * cell)) return "a cell fails its checksum";
            at += size;
        }
    }
    if (at != index || rows != t->slots) return misfit;
    c->at = file + cells;
    c->blocks = (size_t)blocks;
    c->first = bins[0];
    c->second = bins[1];
    c->rows = bins[2];
    c->digests = bins[3];
    c->lengths = bins[4];
    return NULL;
}

/* Whether a cell begins as it has to: with its kind, a flag of at most so much, and its rows. */
DESYNC__OWN int desync__begins(const uint8_t *cell, unsigned kind, unsigned flag, size_t rows) {
    return cell[0] == kind && cell[1] <= flag && !cell[2] && !cell[3] && desync__get32(cell + 4) == rows;
}

DESYNC__OWN const char *desync__read_keys(const uint8_t *cell, size_t len, size_t parts, uint64_t *keys, uint64_t *keys2, size_t n) {
    size_t i;
    if (!desync__begins(cell, 3, 2, n) || cell[1] != parts || len != 8 + 8 * parts * n) return "a block of keys is malformed";
    for (i = 0; i < n; i++) keys[i] = desync__get64(cell + 8 + 8 * i);
    for (i = 0; i < n && parts == 2; i++) keys2[i] = desync__get64(cell + 8 + 8 * (n + i));
    return NULL;
}

/* Reads a block of values into rows from `row` on. */
DESYNC__OWN const char *desync__read_values(desync_snap *s, const desync_table *t, desync_column *c, const uint8_t *cell, size_t len, size_t row,
                                            size_t n) {
    static const char malformed[] = "a block of values is malformed";
    size_t width = desync__width(c), map, whole, i;
    const uint8_t *from, *end = cell + len;
    if (!desync__begins(cell, 4, 1, n)) return malformed;
    map = cell[1] ? (n + 7) / 8 : 0;
    whole = 8 + map + n * (width ? width : 4);
    if (len < whole || (width && len != whole)) return malformed;
    from = cell + 8 + map;
    if (map) {
        uint8_t *present = (uint8_t *)c->present;
        if (!present) {
            c->present = present = (uint8_t *)desync__keep(s, t->slots, 1);
            if (!present) return desync__no_memory;
            memset(present, 1, t->slots);
        }
        for (i = 0; i < n; i++) present[row + i] = cell[8 + i / 8] >> i % 8 & 1;
    }
    if (width) {
        uint8_t *to = (uint8_t *)c->data + row * width;
        for (i = 0; i < n; i++) desync__number(to + i * width, from + i * width, width);
    } else {
        desync_bytes *to = (desync_bytes *)c->data + row;
        const uint8_t *content = cell + whole;
        for (i = 0; i < n; i++) {
            to[i].len = desync__get32(from + 4 * i);
            if (to[i].len > (size_t)(end - content)) return malformed;
            to[i].data = content;
            content += to[i].len;
        }
        if (content != end) return malformed;
    }
    return NULL;
}

DESYNC__OWN const char *desync__read_cells(desync_snap *s, desync_table *t, const desync__cells *c, size_t parts) {
    desync_column *columns = (desync_column *)t->columns;
    uint64_t *keys = (uint64_t *)desync__keep(s, t->slots, sizeof *keys), *keys2 = NULL;
    const uint8_t *at = c->at;
    size_t row = 0, cell = 0, b, k;
    const char *err;
    t->key = keys;
    if (parts == 2) t->key2 = keys2 = (uint64_t *)desync__keep(s, t->slots, sizeof *keys);
    if (!keys || (parts == 2 && !keys2)) return desync__no_memory;
    for (k = 0; k < t->column_count; k++) {
        size_t width = desync__width(&columns[k]);
        columns[k].data = desync__keep(s, t->slots, width ? width : sizeof(desync_bytes));
        if (!columns[k].data) return desync__no_memory;
    }
    for (b = 0; b < c->blocks; b++) {
        size_t n = desync__get32(c->rows + 4 * b);
        for (k = 0; k <= t->column_count; k++, cell++) {
            size_t len = desync__get32(c->lengths + 4 * cell);
            if (k) err = desync__read_values(s, t, &columns[k - 1], at, len, row, n);
            else err = desync__read_keys(at, len, parts, keys + row, keys2 ? keys2 + row : NULL, n);
            if (err) return err;
            at += len;
        }
        if (keys[row] != desync__get64(c->first + 8 * b) || (keys2 && keys2[row] != desync__get64(c->second + 8 * b)))
            return "a block begins with another key than its index says";
        row += n;
    }
    for (row = 1; row < t->slots; row++)
        if (!desync__key_less(t, row - 1, row)) return "keys do not ascend";
    return NULL;
}

/* Reads a table and hashes its canonical bytes, which have to equal the bytes in the file. */
DESYNC__OWN const char *desync__read_table(desync_snap *s, desync_table *t, const uint8_t *file, size_t cells, size_t index, size_t len,
                                           size_t parts, const uint8_t *leaf, desync_buffer *leaves) {
    desync__cells c;
    desync__hashing h;
    const char *err;
    size_t i;
    memset(&c, 0, sizeof c);
    memset(&h, 0, sizeof h);
    if ((err = desync__read_index(s, t, &c, file, cells, index, len, parts)) != NULL) return err;
    if ((err = desync__read_cells(s, t, &c, parts)) != NULL) return err;
    h.table = t;
    h.read = &c;
    err = desync__hash_table(&h);
    for (i = 0; i <= t->column_count && !err; i++)
        if (memcmp(h.digests[i], c.columns[i], 32) != 0) err = "a column has another digest";
    if (!err && memcmp(h.leaf, leaf, 32) != 0) err = "a table has another leaf hash";
    if (!err && t->table_class == DESYNC_ARCHETYPE) desync_append(leaves, leaf, 32);
    desync__hashed(&h);
    return err;
}

DESYNC__OWN const char *desync__read_properties(desync_snap *s, desync__reader *r) {
    uint64_t n = desync__read(r, DESYNC__MAP, "expected a map"), i;
    desync_param *list;
    if (r->err) return r->err;
    if (n > DESYNC__MAX_PROPERTIES) return "there are more than 4096 properties";
    s->at.properties = list = (desync_param *)desync__keep(s, (size_t)n, sizeof *list);
    if (!list) return desync__no_memory;
    s->at.property_count = (size_t)n;
    for (i = 0; i < n && !r->err; i++) {
        list[i].key = desync__label(s, r, 0);
        list[i].value = desync__copied(s, r, 0, SIZE_MAX - 1);
        if (i && !r->err && !desync__param_less(list, (size_t)i - 1, (size_t)i)) return "properties do not ascend";
    }
    return r->err;
}

/* Reads the header up to its tables. */
DESYNC__OWN const char *desync__read_point(desync_snap *s, desync__reader *r) {
    const uint8_t *root;
    desync__read_tuple(r, 11);
    s->at.seed = desync__read_uint(r);
    s->at.tick = desync__read_uint(r);
    s->at.phase = desync__label(s, r, 0);
    s->at.native = desync__label(s, r, 0);
    s->at.peer = desync__label(s, r, 0);
    s->at.epoch = desync__read_u32(r);
    if (!desync__read_nil(r)) s->world.rng = desync__read_bin(r, &s->world.rng_size);
    if (!desync__read_nil(r)) s->at.history = desync__read_hash(r);
    root = desync__read_hash(r);
    if (r->err) return r->err;
    if (*s->at.phase && strcmp(s->at.phase, "after-orders") != 0) return "there is no such phase";
    memcpy(s->root, root, 32);
    return desync__read_properties(s, r);
}

/* Reads the tables that the header lists; the cells of the first one begin at `cells`, after the last one is `end`. */
DESYNC__OWN const char *desync__read_tables(desync_snap *s, desync__reader *r, const uint8_t *file, size_t cells, size_t end,
                                            desync_buffer *leaves) {
    size_t n = desync__read_array(r), i;
    desync_table *tables;
    if (r->err) return r->err;
    if (n > DESYNC__MAX_TABLES) return "there are more than 65536 tables";
    s->world.tables = tables = (desync_table *)desync__keep(s, n, sizeof *tables);
    if (!tables) return desync__no_memory;
    s->world.table_count = n;
    for (i = 0; i < n; i++) {
        uint32_t kind, parts, len;
        uint64_t rows, index;
        const uint8_t *leaf;
        const char *err;
        desync__read_tuple(r, 7);
        kind = desync__read_u32(r);
        tables[i].label = desync__label(s, r, 1);
        rows = desync__read_uint(r);
        parts = desync__read_u32(r);
        leaf = desync__read_hash(r);
        index = desync__read_uint(r);
        len = desync__read_u32(r);
        if (r->err) return r->err;
        if (kind > DESYNC_NOISE || parts < 1 || parts > 2 || rows > end / 8) return "a table is malformed";
        if (index < cells || index > end || len > end - index) return "a table is not in the file";
        tables[i].table_class = (int)kind;
        tables[i].slots = (size_t)rows;
        if (i && !desync__table_less(tables, i - 1, i)) return "tables do not ascend";
        err = desync__read_table(s, &tables[i], file, cells, (size_t)index, len, parts, leaf, leaves);
        if (err) return err;
        cells = (size_t)index + len;
    }
    if (r->at != r->end) return "the header has more than it should";
    return cells == end ? NULL : "there is something between the tables and the end";
}

DESYNC__OWN const char *desync__read_snap(desync_snap *s, const uint8_t *file, size_t n, desync_buffer *leaves) {
    static const uint8_t magic[8] = {0x89, 'S', 'N', 'A', 'P', '\r', '\n', 0x1a};
    desync__reader r;
    size_t header;
    uint8_t root[32];
    const char *err;
    if (n < 8 || memcmp(file, magic, 8) != 0) return "not a .snap";
    if (n < 40) return "the .snap is torn";
    if (desync_crc32c(0, file, 28) != desync__get32(file + 28)) return "the preamble of the .snap fails its checksum";
    if (desync__get32(file + 8) != 1) return "the .snap is of another version";
    if (desync__get64(file + 20) != n) return "the .snap is torn, or there is something behind it";
    header = desync__get32(file + 12);
    if (header > 16 << 20 || header > n - 40) return "the header of the .snap is not in the file";
    if (desync_crc32c(0, file + 32, header) != desync__get32(file + 16)) return "the header of the .snap fails its checksum";
    if (memcmp(file + n - 8, "SNAP.END", 8) != 0) return "the .snap has no end";
    memset(&r, 0, sizeof r);
    r.at = file + 32;
    r.end = r.at + header;
    if ((err = desync__read_point(s, &r)) != NULL) return err;
    if (s->world.rng && s->world.rng_size > DESYNC__MAX_RNG) return "the RNG has more than 65536 bytes";
    desync__rng_leaf(&s->world, leaves);
    if ((err = desync__read_tables(s, &r, file, 32 + header, n - 8, leaves)) != NULL) return err;
    if ((err = desync__root(leaves, root)) != NULL) return err;
    return memcmp(root, s->root, 32) == 0 ? NULL : "the .snap has another state hash than it says";
}

DESYNC__API const char *desync_snap_read(desync_snap *s, const void *data, size_t n) {
    desync_buffer leaves = {NULL, 0, 0, 0};
    const char *err;
    memset(s, 0, sizeof *s);
    err = desync__read_snap(s, (const uint8_t *)data, n, &leaves);
    if (err) desync_snap_free(s);
    desync_free(&leaves);
    return err;
}

#ifndef DESYNCTOOL_WASM

DESYNC__API const char *desync_snap_open(desync_snap *s, const char *path) {
    desync_buffer b = {NULL, 0, 0, 0};
    const char *err = NULL;
    FILE *f = fopen(path, "rb");
    size_t got = 1;
    memset(s, 0, sizeof *s);
    if (!f) return "the .snap cannot be opened";
    while (got && desync__reserve(&b, 65536)) {
        got = fread(b.data + b.len, 1, 65536, f);
        b.len += got;
    }
    if (b.failed) err = desync__no_memory;
    else if (ferror(f)) err = "the .snap cannot be read";
    fclose(f);
    if (!err) err = desync_snap_read(s, b.data, b.len);
    if (err) desync_free(&b);
    else s->file = b.data;
    return err;
}

#endif

DESYNC__API const desync_table *desync_find(const desync_world *w, int table_class, const char *label) {
    size_t i;
    for (i = 0; i < w->table_count; i++)
        if (w->tables[i].table_class == table_class && strcmp(w->tables[i].label, label) == 0) return &w->tables[i];
    return NULL;
}

DESYNC__API const desync_column *desync_find_column(const desync_table *t, const char *component, const char *field) {
    size_t i;
    for (i = 0; i < t->column_count; i++)
        if (strcmp(t->columns[i].component, component) == 0 && strcmp(t->columns[i].field, field) == 0) return &t->columns[i];
    return NULL;
}

/* Whether the values of a column that was read have a place in one of the game. */
DESYNC__OWN const char *desync__holds(const desync_column *c, const desync_table *from, const desync_column *values) {
    size_t i;
    if (!values || values->type != c->type || values->scale != c->scale)
        return "the state lacks a column that the game has, or it has another type";
    for (i = 0; i < from->slots; i++) {
        const uint8_t *at = desync__value(from, values, i);
        desync_bytes v;
        if (!at && !c->present) return "the state lacks a value that the game always has";
        if (!at || desync__width(c) || !c->size) continue;
        v = desync__bytes_of(values, at);
        if (c->type == DESYNC_BYTES ? v.len != c->size : v.len > c->size || (v.len && memchr(v.data, 0, v.len)))
            return "the state has a string or bytes that the game has no room for";
    }
    return NULL;
}

/* Finds the row for each slot of a table, SIZE_MAX where there is none. */
DESYNC__OWN const char *desync__fits(const desync_table *t, const desync_table *from, desync_place *place, void *user, size_t *rows) {
    size_t size = t->key_size ? t->key_size : 8, i;
    const char *err = desync__check_table(t);
    if (err) return err;
    if (!from) return "the state lacks a table that the game has";
    if (!t->key2 != !from->key2) return "the keys of a table have another number of parts than the game's";
    if (t->column_count != from->column_count) return "a table of the state has other columns than the game";
    if (t->alive ? from->slots > t->slots : from->slots != t->slots)
        return "a table of the state has more or less rows than the game has room for";
    for (i = 0; i < t->column_count; i++) {
        const desync_column *c = &t->columns[i];
        if ((err = desync__holds(c, from, desync_find_column(from, c->component, c->field))) != NULL) return err;
    }
    for (i = 0; i < t->slots; i++) rows[i] = SIZE_MAX;
    for (i = 0; i < from->slots; i++) {
        uint64_t key = desync__key(from, i), key2 = desync__key2(from, i);
        uint64_t slot = !t->key ? key : place ? place(user, t, key, key2) : i;
        if (size < 8 && (key >> 8 * size || key2 >> 8 * size)) return "the state has a key that is too large for the game";
        if (slot >= t->slots || rows[slot] != SIZE_MAX) return "the state has a row that the game has no slot for";
        rows[slot] = i;
    }
    return NULL;
}

DESYNC__OWN void desync__put_key(const desync_table *t, const void *part, size_t slot, uint64_t key) {
    uint8_t bytes[8];
    size_t size = t->key_size ? t->key_size : 8;
    if (!part || desync__key_part(t, part, slot) == key) return; /* keys that never change may lie where nobody can write */
    desync__little(bytes, key, 8);
    desync__number((uint8_t *)desync__slot(part, 0, t->stride, size, slot), bytes, size);
}

/* Puts the values of a column into the slots that have rows. */
DESYNC__OWN void desync__fill_column(const desync_table *t, const desync_column *c, const desync_table *from, const size_t *rows) {
    const desync_column *values = desync_find_column(from, c->component, c->field);
    size_t width = desync__width(c), own = width ? width : c->size ? c->size : sizeof(desync_bytes), i;
    for (i = 0; i < t->slots; i++) {
        uint8_t *to = (uint8_t *)desync__slot(c->data, c->stride, t->stride, own, i);
        const uint8_t *at = rows[i] != SIZE_MAX ? desync__value(from, values, rows[i]) : NULL;
        if (c->present) *(uint8_t *)desync__slot(c->present, c->stride, t->stride, 1, i) = at != NULL;
        if (at && (width || !c->size)) {
            memcpy(to, at, own);
            continue;
        }
        memset(to, 0, own);
        if (at) {
            desync_bytes v = desync__bytes_of(values, at);
            if (v.len) memcpy(to, v.data, v.len);
        }
    }
}

DESYNC__OWN void desync__fill_table(const desync_table *t, const desync_table *from, const size_t *rows) {
    size_t i;
    for (i = 0; i < t->slots; i++) {
        if (t->alive) *(uint8_t *)desync__slot(t->alive, 0, t->stride, 1, i) = rows[i] != SIZE_MAX;
        if (rows[i] == SIZE_MAX) continue;
        desync__put_key(t, t->key, i, desync__key(from, rows[i]));
        desync__put_key(t, t->key2, i, desync__key2(from, rows[i]));
    }
    for (i = 0; i < t->column_count; i++) desync__fill_column(t, &t->columns[i], from, rows);
}

DESYNC__API const char *desync_fill(const desync_world *w, const desync_snap *from, desync_place *place, void *user) {
    size_t *rows, slots = 0, at = 0, archetypes = 0, i;
    const char *err = NULL;
    if (!w->rng != !from->world.rng || (w->rng && w->rng_size != from->world.rng_size)) return "the state has another RNG than the game";
    for (i = 0; i < from->world.table_count; i++) archetypes += from->world.tables[i].table_class == DESYNC_ARCHETYPE;
    for (i = 0; i < w->table_count; i++) {
        if (w->tables[i].table_class != DESYNC_ARCHETYPE) continue;
        if (!w->tables[i].label || !archetypes--) return "the state lacks a table that the game has";
        if (w->tables[i].slots > SIZE_MAX / sizeof *rows - 1 - slots) return desync__no_memory;
        slots += w->tables[i].slots;
    }
    if (archetypes) return "the state has a table that the game does not have";
    rows = (size_t *)malloc((slots + 1) * sizeof *rows);
    if (!rows) return desync__no_memory;
    for (i = 0; i < w->table_count && !err; i++) {
        const desync_table *t = &w->tables[i];
        if (t->table_class != DESYNC_ARCHETYPE) continue;
        err = desync__fits(t, desync_find(&from->world, DESYNC_ARCHETYPE, t->label), place, user, rows + at);
        at += t->slots;
    }
    if (!err && w->rng && w->rng_size) memcpy((void *)(uintptr_t)w->rng, from->world.rng, w->rng_size);
    for (i = 0, at = 0; i < w->table_count && !err; i++) {
        const desync_table *t = &w->tables[i];
        if (t->table_class != DESYNC_ARCHETYPE) continue;
        desync__fill_table(t, desync_find(&from->world, DESYNC_ARCHETYPE, t->label), rows + at);
        at += t->slots;
    }
    free(rows);
    return err;
}

/* ---- Serving */

struct desync_names {
    desync_buffer list; /* const char * */
};

DESYNC__API void desync_stale(desync_names *names, const char *cache) { desync_append(&names->list, &cache, sizeof cache); }

typedef struct { /* a header that was read, and what it points at */
    desync_header h;
    char *text, *next;
    desync_kind *kinds;
    const char **peers;
    desync_param *params;
    uint32_t *numbers; /* of the target's kinds, by the header's */
} desync__session;

typedef struct {
    const desync_target *target;
    desync_buffer in, reply;
    desync__session session;
    int started, inside; /* inside: a tick is being played in parts */
    uint64_t point;
    desync_buffer orders, kept, counts; /* orders of a request; of the tick that is played in parts, and their payloads */
    char message[256];
} desync__server;

DESYNC__OWN void desync__session_free(desync__session *s) {
    free(s->text);
    free(s->kinds);
    free((void *)s->peers);
    free(s->params);
    free(s->numbers);
    memset(s, 0, sizeof *s);
}

/* Copies a string into the session's text, which has room: in the request its head took the byte that NUL takes here. */
DESYNC__OWN const char *desync__text(desync__session *s, desync__reader *r) {
    size_t n;
    char *to = s->next;
    const uint8_t *at = desync__read_str(r, &n);
    if (r->err) return "";
    if (n && memchr(at, 0, n)) return desync__fail(r, "a string has a NUL"), "";
    if (n) memcpy(to, at, n);
    to[n] = 0;
    s->next += n + 1;
    return to;
}

/* Room for an array of the header; it is not NULL for an empty array either. */
DESYNC__OWN void *desync__room(desync__reader *r, size_t n, size_t size) {
    void *p = calloc(n + 1, size);
    if (!p) desync__fail(r, desync__no_memory);
    return p;
}

DESYNC__OWN const char *desync__read_header(desync__session *s, desync__reader *r) {
    size_t i, n;
    const uint8_t *start;
    s->text = s->next = (char *)desync__room(r, (size_t)(r->end - r->at), 1);
    desync__read_tuple(r, 10);
    s->h.seed = desync__read_uint(r);
    s->h.peer = desync__text(s, r);
    s->h.build = desync__text(s, r);
    desync__read_tuple(r, 2);
    s->h.rate_num = desync__read_u32(r);
    s->h.rate_den = desync__read_u32(r);
    start = desync__read_bin(r, &n);
    if (!r->err && n != 32) desync__fail(r, "the start hash has other than 32 bytes");
    if (!r->err) memcpy(s->h.start, start, 32);
    s->h.first_point = desync__read_uint(r);
    s->h.epoch = desync__read_u32(r);
    n = desync__read_array(r);
    s->kinds = (desync_kind *)desync__room(r, n, sizeof *s->kinds);
    s->numbers = (uint32_t *)desync__room(r, n, sizeof *s->numbers);
    for (i = 0; i < n && !r->err; i++) {
        desync__read_tuple(r, 2);
        s->kinds[i].name = desync__text(s, r);
        s->kinds[i].local = desync__read(r, DESYNC__BOOL, "expected a bool") != 0;
    }
    s->h.kinds = s->kinds;
    s->h.kind_count = n;
    n = desync__read_array(r);
    s->peers = (const char **)desync__room(r, n, sizeof *s->peers);
    for (i = 0; i < n && !r->err; i++) s->peers[i] = desync__text(s, r);
    s->h.peers = s->peers;
    s->h.peer_count = n;
    n = desync__read_array(r);
    s->params = (desync_param *)desync__room(r, n, sizeof *s->params);
    for (i = 0; i < n && !r->err; i++) {
        desync__read_tuple(r, 2);
        s->params[i].key = desync__text(s, r);
        s->params[i].value = desync__text(s, r);
    }
    s->h.params = s->params;
    s->h.param_count = n;
    return r->err;
}

/* Numbers the header's kinds as the target does. */
DESYNC__OWN const char *desync__number_kinds(desync__session *s, const desync_target *t) {
    size_t i;
    uint32_t k;
    for (i = 0; i < s->h.kind_count; i++) {
        s->numbers[i] = (uint32_t)i;
        if (!t->kinds) continue;
        for (k = 0; k < t->kind_count && strcmp(t->kinds[k].name, s->kinds[i].name) != 0; k++) {
        }
        s->numbers[i] = k < t->kind_count ? k : DESYNC_UNKNOWN_KIND;
        if (k == t->kind_count && !s->kinds[i].local) return "the session has a kind of order that the game does not have";
    }
    return NULL;
}

DESYNC__OWN int desync__saves(const desync_target *t) {
#ifdef DESYNCTOOL_WASM
    (void)t;
    return 0;
#else
    return (t->save && t->restore) || (t->memory && t->memory_size);
#endif
}

/* Whether a debugger can watch the state. */
DESYNC__OWN int desync__locates(const desync_target *t) {
#ifdef DESYNCTOOL_WASM
    (void)t;
    return 0;
#else
    return t->world && !t->copies;
#endif
}

DESYNC__OWN const char *desync__put_hash(desync__server *s) {
    const desync_target *t = s->target;
    uint8_t root[32] = {0};
    const char *err = NULL;
    if (t->hash) t->hash(t->user, root);
    else err = desync_state_hash(t->world(t->user), root);
    desync__bin(&s->reply, root, 8);
    return err;
}

DESYNC__OWN const char *desync__put_arrival(desync__server *s) {
    desync__array(&s->reply, 2);
    desync__uint(&s->reply, s->point);
    return desync__put_hash(s);
}

DESYNC__OWN const char *desync__read_order(desync__server *s, desync__reader *r) {
    desync_order o;
    memset(&o, 0, sizeof o);
    desync__read_tuple(r, 5);
    o.sub_tick = desync__read_u32(r);
    o.player = desync__read_u32(r);
    o.sequence = desync__read_u32(r);
    o.kind = desync__read_u32(r);
    o.payload = desync__read_bin(r, &o.size);
    if (r->err) return r->err;
    if (o.kind < s->session.h.kind_count) o.kind = s->session.numbers[o.kind];
    else if (s->target->kinds) o.kind = DESYNC_UNKNOWN_KIND;
    desync_append(&s->orders, &o, sizeof o);
    return s->orders.failed ? desync__no_memory : NULL;
}

/* Appends the orders of a tick to s->orders and returns their number. */
DESYNC__OWN size_t desync__read_orders(desync__server *s, desync__reader *r) {
    size_t n = desync__read_array(r), i;
    for (i = 0; i < n && !r->err; i++) {
        const char *err = desync__read_order(s, r);
        if (err) desync__fail(r, err);
    }
    return n;
}

DESYNC__OWN const desync_order *desync__orders(const desync_buffer *b) { return (const desync_order *)(const void *)b->data; }

/* Reads the tick that a request is for. */
DESYNC__OWN uint64_t desync__read_tick(desync__server *s, desync__reader *r) {
    uint64_t tick = desync__read_uint(r);
    if (!r->err && tick != s->point) desync__fail(r, "the tick is not the one at hand");
    return tick;
}

DESYNC__OWN const char *desync__hello(desync__server *s, desync__reader *r) {
    const desync_target *t = s->target;
    desync_buffer *b = &s->reply;
    const char *can[10];
    size_t n = 0, i, max = t->max_request;
    desync__read_uint(r);
    desync__read_str(r, &i);
    if (r->err) return r->err;
    if (t->world) can[n++] = "state";
    if (desync__saves(t)) can[n++] = "save";
    if (t->load) can[n++] = "load";
    if (t->begin && t->next) can[n++] = "systems";
    if (t->caches) can[n++] = "caches";
    if (t->validate) can[n++] = "validate";
    if (t->test) can[n++] = "test";
    if (t->predict) can[n++] = "predict";
    if (desync__locates(t)) can[n++] = "where";
    if (t->branches) can[n++] = "branches";
    desync__byte(b, 0x85);
    desync__str(b, "protocol");
    desync__uint(b, 1);
    desync__str(b, "name");
    desync__str(b, t->name);
    desync__str(b, "build");
    desync__str(b, t->build);
    desync__str(b, "can");
    desync__array(b, n);
    for (i = 0; i < n; i++) desync__str(b, can[i]);
    desync__str(b, "max_request");
    desync__uint(b, max);
    return NULL;
}

/* Takes over a session that has begun, or frees one that has not. */
DESYNC__OWN const char *desync__begun(desync__server *s, desync__session *session, uint64_t point, const char *err) {
    if (err) {
        desync__session_free(session);
        return err;
    }
    desync__session_free(&s->session);
    s->session = *session;
    s->started = 1;
    s->inside = 0;
    s->point = point;
    return desync__put_arrival(s);
}

DESYNC__OWN const char *desync__start(desync__server *s, desync__reader *r) {
    desync__session session;
    const char *err;
    memset(&session, 0, sizeof session);
    err = desync__read_header(&session, r);
    if (!err && session.h.first_point) err = "the session does not begin at its start";
    if (!err) err = desync__number_kinds(&session, s->target);
    if (!err) err = s->target->start(s->target->user, &session.h);
    return desync__begun(s, &session, 0, err);
}

/* Without a header kinds are numbered as the target does. */
DESYNC__OWN const char *desync__no_header(desync__session *s, desync__reader *r, const desync_target *t) {
    size_t i, n = t->kinds ? t->kind_count : 0;
    s->numbers = (uint32_t *)desync__room(r, n, sizeof *s->numbers);
    for (i = 0; i < n && s->numbers; i++) s->numbers[i] = (uint32_t)i;
    s->h.kind_count = n;
    return r->err;
}

DESYNC__OWN const char *desync__load(desync__server *s, desync__reader *r) {
    desync__session session;
    desync_snap from;
    size_t n;
    const uint8_t *file = desync__read_bin(r, &n);
    int none = desync__read_nil(r);
    uint64_t point = 0;
    const char *err;
    memset(&session, 0, sizeof session);
    memset(&from, 0, sizeof from);
    if (r->err) return r->err;
    err = none ? desync__no_header(&session, r, s->target) : desync__read_header(&session, r);
    if (!err && !none) err = desync__number_kinds(&session, s->target);
    if (!err) err = desync_snap_read(&from, file, n);
    if (!err && none) session.h.seed = from.at.seed;
    if (!err && from.at.seed != session.h.seed) err = "the state is of another session: its seed is not that of the header";
    if (!err && *from.at.phase) err = "the state is of the middle of a tick";
    if (!err) err = s->target->load(s->target->user, &from, none ? NULL : &session.h);
    if (!err) point = from.at.tick;
    desync_snap_free(&from);
    return desync__begun(s, &session, point, err);
}

DESYNC__OWN const char *desync__play(const desync_target *t, uint64_t tick, const desync_order *orders, size_t n) {
    const char *err;
    int more = 1, systems;
    if (t->step) return t->step(t->user, tick, orders, n);
    if ((err = t->begin(t->user, tick, orders, n)) != NULL) return err;
    for (systems = 0; more && systems < 10000; systems++) t->next(t->user, &more);
    return more ? "a tick has more than 10000 systems" : NULL;
}

DESYNC__OWN const char *desync__step(desync__server *s, desync__reader *r) {
    uint64_t tick = desync__read_tick(s, r);
    size_t n = desync__read_array(r), i, count, at = 0, length;
    s->counts.len = 0;
    for (i = 0; i < n && !r->err; i++) {
        count = desync__read_orders(s, r);
        desync_append(&s->counts, &count, sizeof count);
    }
    if (r->err) return r->err;
    if (s->counts.failed) return desync__no_memory;
    if (n > 1 << 20) return "more than 1048576 ticks";
    desync__big(&s->reply, 0xc6, (uint64_t)n * 8, 4);
    length = s->reply.len;
    for (i = 0; i < n; i++) {
        const char *err;
        memcpy(&count, s->counts.data + i * sizeof count, sizeof count);
        err = desync__play(s->target, tick + i, count ? desync__orders(&s->orders) + at : NULL, count);
        at += count;
        if (!err) err = desync__put_hash(s);
        if (err) {
            s->started = 0; /* the session cannot be used any more */
            return err;
        }
        s->point = tick + i + 1;
        /* the hash has the head of a bin, which the array of hashes has not */
        if (!s->reply.failed) memmove(s->reply.data + length, s->reply.data + length + 2, 8);
        s->reply.len = length += 8;
    }
    return NULL;
}

DESYNC__OWN const char *desync__state(desync__server *s, desync__reader *r) {
    desync_buffer b = {NULL, 0, 0, 0};
    desync_point at;
    const char *err;
    (void)r;
    memset(&at, 0, sizeof at);
    at.seed = s->session.h.seed;
    at.tick = s->point;
    at.peer = s->session.h.peer;
    err = desync_snapshot(s->target->world(s->target->user), &at, &b);
    if (!err) desync__bin(&s->reply, b.data, b.len);
    desync_free(&b);
    return err;
}

/* A save: "DSV1", u32 CRC-32C of the rest, u64 seed, u64 point, and the game's own form. */
enum { DESYNC__SAVE_HEAD = 24 };

DESYNC__OWN const char *desync__save(desync__server *s, desync__reader *r) {
    const desync_target *t = s->target;
    desync_buffer b = {NULL, 0, 0, 0};
    const char *err = NULL;
    (void)r;
    desync_append(&b, "DSV1", 4);
    desync__put(&b, 0, 4);
    desync__put(&b, s->session.h.seed, 8);
    desync__put(&b, s->point, 8);
    if (t->save) err = t->save(t->user, &b);
    else desync_append(&b, t->memory, t->memory_size);
    if (!err && b.failed) err = desync__no_memory;
    if (!err) {
        desync__little(b.data + 4, desync_crc32c(0, b.data + 8, b.len - 8), 4);
        desync__bin(&s->reply, b.data, b.len);
    }
    desync_free(&b);
    return err;
}

DESYNC__OWN const char *desync__restore(desync__server *s, desync__reader *r) {
    const desync_target *t = s->target;
    size_t n;
    const uint8_t *b = desync__read_bin(r, &n);
    const char *err = NULL;
    if (r->err) return r->err;
    if (n < DESYNC__SAVE_HEAD || memcmp(b, "DSV1", 4) != 0 || desync__get32(b + 4) != desync_crc32c(0, b + 8, n - 8)) return "not a save";
    if (desync__get64(b + 8) != s->session.h.seed) return "a save of another session";
    if (t->restore) err = t->restore(t->user, b + DESYNC__SAVE_HEAD, n - DESYNC__SAVE_HEAD);
    else if (n - DESYNC__SAVE_HEAD != t->memory_size) err = "a save of another build";
    else memcpy(t->memory, b + DESYNC__SAVE_HEAD, t->memory_size);
    if (err) return err;
    s->point = desync__get64(b + 16);
    s->inside = 0;
    return desync__put_arrival(s);
}

DESYNC__OWN const char *desync__begin(desync__server *s, desync__reader *r) {
    uint64_t tick = desync__read_tick(s, r);
    size_t n = desync__read_orders(s, r), i;
    desync_buffer none = {NULL, 0, 0, 0}, old = s->kept;
    desync_order *orders = (desync_order *)(void *)s->orders.data;
    const char *err;
    if (r->err) return r->err;
    s->kept = none; /* payloads outlive the request; all of them are within it */
    if (n) desync__reserve(&s->kept, s->in.len + n * sizeof *orders);
    if (s->kept.failed) {
        s->kept = old;
        return desync__no_memory;
    }
    desync_free(&old);
    for (i = 0; i < n; i++) {
        const uint8_t *payload = orders[i].payload;
        orders[i].payload = s->kept.data + n * sizeof *orders + s->kept.len;
        if (orders[i].size) memcpy(s->kept.data + n * sizeof *orders + s->kept.len, payload, orders[i].size);
        s->kept.len += orders[i].size;
    }
    if (n) memcpy(s->kept.data, orders, n * sizeof *orders);
    err = s->target->begin(s->target->user, tick, n ? desync__orders(&s->kept) : NULL, n);
    if (err) return err;
    s->inside = 1;
    desync__nil(&s->reply);
    return NULL;
}

DESYNC__OWN const char *desync__next(desync__server *s, desync__reader *r) {
    const char *system;
    int more = 0;
    (void)r;
    if (!s->inside) return "no tick has begun";
    system = s->target->next(s->target->user, &more);
    desync__array(&s->reply, 3);
    desync__str(&s->reply, system);
    desync__bool(&s->reply, more);
    if (!more) {
        s->inside = 0;
        s->point++;
    }
    return desync__put_hash(s);
}

DESYNC__OWN int desync__name_less(const void *of, size_t a, size_t b) {
    return strcmp(((const char *const *)of)[a], ((const char *const *)of)[b]) < 0;
}

DESYNC__OWN const char *desync__caches(desync__server *s, desync__reader *r) {
    desync_names stale = {{NULL, 0, 0, 0}};
    const char *const *list;
    size_t n, i, *order = NULL;
    (void)r;
    s->target->caches(s->target->user, &stale);
    list = (const char *const *)(const void *)stale.list.data;
    n = stale.list.len / sizeof *list;
    if (!stale.list.failed) order = desync__sorted(n, desync__name_less, list);
    desync__array(&s->reply, n);
    for (i = 0; i < n && order; i++) desync__str(&s->reply, list[order[i]]);
    desync_free(&stale.list);
    if (!order) return desync__no_memory;
    free(order);
    return NULL;
}

DESYNC__OWN const char *desync__validate(desync__server *s, desync__reader *r) {
    uint64_t tick = desync__read_uint(r);
    size_t n = desync__read_orders(s, r), i;
    if (r->err) return r->err;
    desync__array(&s->reply, n);
    for (i = 0; i < n; i++) desync__str(&s->reply, s->target->validate(s->target->user, tick, desync__orders(&s->orders) + i));
    return NULL;
}

DESYNC__OWN const char *desync__test(desync__server *s, desync__reader *r) {
    uint64_t tick = desync__read_tick(s, r);
    const char *err = desync__read_order(s, r);
    if (r->err || err) return r->err ? r->err : err;
    desync__array(&s->reply, 2);
    desync__bool(&s->reply, s->target->test(s->target->user, tick, desync__orders(&s->orders)));
    return desync__put_hash(s);
}

DESYNC__OWN const char *desync__predict(desync__server *s, desync__reader *r) {
    uint64_t tick = desync__read_tick(s, r);
    uint32_t player = desync__read_u32(r);
    size_t n = desync__read_orders(s, r);
    if (r->err) return r->err;
    s->target->predict(s->target->user, tick, player, n ? desync__orders(&s->orders) : NULL, n);
    return desync__put_hash(s);
}

/* Whether a string is "COMPONENT.FIELD" of a column. */
DESYNC__OWN int desync__names_column(const desync_column *c, const uint8_t *name, size_t n) {
    size_t component = strlen(c->component), field = strlen(c->field);
    return n == component + 1 + field && memcmp(name, c->component, component) == 0 && name[component] == '.' &&
           memcmp(name + component + 1, c->field, field) == 0;
}

/* Finds the memory of a value of an archetype. */
DESYNC__OWN const char *desync__locate(const desync_table *t, const uint8_t *column, size_t n, uint64_t key, uint64_t key2, desync_bytes *at) {
    const desync_column *c = NULL;
    const uint8_t *value;
    size_t i, slot = SIZE_MAX;
    for (i = 0; i < t->column_count && !c; i++)
        if (desync__names_column(&t->columns[i], column, n)) c = &t->columns[i];
    if (!c) return "the archetype has no such column";
    for (i = 0; i < t->slots && slot == SIZE_MAX; i++)
        if ((!t->alive || *desync__slot(t->alive, 0, t->stride, 1, i)) && desync__key(t, i) == key && desync__key2(t, i) == key2) slot = i;
    if (slot == SIZE_MAX) return "the archetype has no row with this key";
    value = desync__value(t, c, slot);
    if (!value) return "the row has no value in this column";
    at->data = value;
    at->len = desync__sizes[c->type];
    if (!at->len) *at = desync__bytes_of(c, value);
    if (c->size && !desync__sizes[c->type]) at->len = c->size;
    return NULL;
}

DESYNC__OWN const char *desync__where(desync__server *s, desync__reader *r) {
    const desync_world *w = s->target->world(s->target->user);
    size_t label_size, column_size, i;
    const uint8_t *label = desync__read_str(r, &label_size), *column = desync__read_str(r, &column_size);
    uint64_t key = desync__read_uint(r), key2 = desync__read_uint(r);
    desync_bytes at;
    const char *err = "there is no such archetype";
    if (r->err) return r->err;
    at.data = w->rng;
    at.len = w->rng_size;
    if (!label_size) err = w->rng && w->rng_size ? NULL : "the game has no RNG";
    for (i = 0; i < w->table_count && label_size; i++)
        if (w->tables[i].table_class == DESYNC_ARCHETYPE && strlen(w->tables[i].label) == label_size &&
            memcmp(w->tables[i].label, label, label_size) == 0)
            err = desync__locate(&w->tables[i], column, column_size, key, key2, &at);
    if (err) return err;
    if (at.len > UINT32_MAX) return "the value has 4 GiB or more";
    desync__array(&s->reply, 2);
    desync__uint(&s->reply, (uint64_t)(uintptr_t)at.data);
    desync__uint(&s->reply, at.len);
    return NULL;
}

enum { DESYNC__THREADS = 64 }; /* DESYNC_BRANCHES_THREADS */

DESYNC__OWN const char *desync__branches(desync__server *s, desync__reader *r) {
    desync_flow flows[DESYNC__THREADS];
    uint32_t mode = desync__read_u32(r);
    size_t n, i;
    const uint8_t *file = desync__read_str(r, &n);
    uint64_t stop = desync__read_uint(r);
    const char *err = r->err;
    char *path = err ? NULL : (char *)calloc(n + 1, 1); /* a string does not end with NUL */
    if (err || !path) return err ? err : desync__no_memory;
    memcpy(path, file, n);
    err = s->target->branches(mode, path, stop, flows, &n);
    free(path);
    desync__array(&s->reply, n);
    for (i = 0; i < n; i++) {
        desync__array(&s->reply, 3);
        desync__uint(&s->reply, flows[i].thread);
        desync__uint(&s->reply, flows[i].count);
        desync__uint(&s->reply, flows[i].hash);
    }
    return err;
}

enum { DESYNC__RUNNING = 1, DESYNC__WHOLE = 2 }; /* a request needs a session; and that no tick is being played in parts */

typedef struct {
    const char *name;
    size_t params;
    int needs, can;
    const char *(*answer)(desync__server *, desync__reader *);
} desync__method;

/* Answers a request, the reply to which is the bytes of s->reply from `at` on. Returns what is wrong with a request that
   cannot be answered, since it makes no sense at all. */
DESYNC__OWN const char *desync__answer(desync__server *s, const uint8_t *data, size_t len, size_t at) {
    const desync_target *t = s->target;
    const desync__method methods[] = {
        {"hello", 2, 0, 1, desync__hello},
        {"start", 1, 0, 1, desync__start},
        {"load", 2, 0, t->load != NULL, desync__load},
        {"step", 2, DESYNC__RUNNING | DESYNC__WHOLE, 1, desync__step},
        {"state", 0, DESYNC__RUNNING, t->world != NULL, desync__state},
        {"save", 0, DESYNC__RUNNING | DESYNC__WHOLE, desync__saves(t), desync__save},
        {"restore", 1, DESYNC__RUNNING, desync__saves(t), desync__restore},
        {"begin", 2, DESYNC__RUNNING | DESYNC__WHOLE, t->begin && t->next, desync__begin},
        {"next", 0, DESYNC__RUNNING, t->begin && t->next, desync__next},
        {"caches", 0, DESYNC__RUNNING, t->caches != NULL, desync__caches},
        {"validate", 2, DESYNC__RUNNING, t->validate != NULL, desync__validate},
        {"test", 2, DESYNC__RUNNING | DESYNC__WHOLE, t->test != NULL, desync__test},
        {"predict", 3, DESYNC__RUNNING | DESYNC__WHOLE, t->predict != NULL, desync__predict},
        {"where", 4, DESYNC__RUNNING, desync__locates(t), desync__where},
        {"branches", 3, DESYNC__RUNNING, t->branches != NULL, desync__branches}};
    const desync__method *m = NULL;
    desync__reader r;
    const uint8_t *name;
    const char *err = NULL;
    size_t i, n, params, result;
    uint64_t id;
    memset(&r, 0, sizeof r);
    r.at = data;
    r.end = data + len;
    desync__skip(&r, 1);
    if (!r.err && r.at != r.end) desync__fail(&r, "there are bytes behind it");
    r.at = data;
    desync__read_tuple(&r, 3);
    id = desync__read_uint(&r);
    name = desync__read_str(&r, &n);
    params = desync__read_array(&r);
    if (r.err) return r.err;
    for (i = 0; i < sizeof methods / sizeof *methods && !m; i++)
        if (strlen(methods[i].name) == n && memcmp(methods[i].name, name, n) == 0) m = &methods[i];
    s->orders.len = 0;
    s->reply.len = 0;
    desync__extend(&s->reply, at);
    desync__array(&s->reply, 3);
    desync__uint(&s->reply, id);
    result = s->reply.len;
    desync__nil(&s->reply);
    if (!m || !m->can) err = "no such request";
    else if (params != m->params) err = "another number of parameters than expected";
    else if ((m->needs & DESYNC__RUNNING) && !s->started) err = "no session has been started";
    else if ((m->needs & DESYNC__WHOLE) && s->inside) err = "a tick is being played in parts";
    else err = m->answer(s, &r);
    if (!err && s->reply.len - at > (1u << 30)) err = "the answer has more than 1 GiB";
    if (err) {
        s->reply.len = result;
        desync__str(&s->reply, err);
        desync__nil(&s->reply);
    }
    return s->reply.failed ? desync__no_memory : NULL;
}

/* What is missing of the callbacks, NULL if a target can be served. */
DESYNC__OWN const char *desync__incomplete(const desync_target *t) {
    if (!t || !t->start || (!t->step && (!t->begin || !t->next)) || (!t->hash && !t->world))
        return "the game has no start, neither step nor begin and next, or neither hash nor world";
    return NULL;
}

#ifdef DESYNCTOOL_WASM

#if defined(__wasm__)
#define DESYNC__EXPORT(name) __attribute__((export_name(name)))
#else
#define DESYNC__EXPORT(name)
#endif

static desync__server desync__served;
static desync_target desync__told; /* the game's, with its limit filled in */

int32_t desynctool_alloc(int32_t len);
int64_t desynctool_request(int32_t at, int32_t len);

/* Returns where the host may put a request of so many bytes, 0 if there is no room. */
DESYNC__EXPORT("desynctool_alloc") int32_t desynctool_alloc(int32_t len) {
    desync__server *s = &desync__served;
    size_t n = (size_t)(uint32_t)len;
    if (!s->target) {
        const desync_target *t = desync_game();
        if (desync__incomplete(t)) __builtin_trap();
        desync__told = *t;
        if (!desync__told.max_request) desync__told.max_request = 16 << 20;
        s->target = &desync__told;
    }
    if (n > s->target->max_request) return 0;
    s->in.len = 0;
    s->in.failed = 0;
    if (!desync__extend(&s->in, n)) return 0;
    return (int32_t)(intptr_t)s->in.data;
}

/* Answers the request at the place that desynctool_alloc returned last. The result is where the reply is, in the upper 32
   bits, and its length; it stays until the next call. A request that makes no sense is a trap. */
DESYNC__EXPORT("desynctool_request") int64_t desynctool_request(int32_t at, int32_t len) {
    desync__server *s = &desync__served;
    if (!s->target || !s->in.data || at != (int32_t)(intptr_t)s->in.data || (uint32_t)len > s->in.len) __builtin_trap();
    s->in.len = (uint32_t)len;
    if (desync__answer(s, s->in.data, s->in.len, 0)) __builtin_trap();
    return (int64_t)((uint64_t)(uintptr_t)s->reply.data << 32 | (uint32_t)s->reply.len);
}

#else

#ifdef _WIN32
typedef struct { int unused; } desync__connection;

DESYNC__OWN const char *desync__connect(desync__connection *c) {
    c->unused = 0;
    if (getenv("DESYNCTOOL_SIM")) return "DESYNCTOOL_SIM is set, and only stdin and stdout are served here";
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
    return NULL;
}

/* Reads up to n bytes; 0 is the end. */
DESYNC__OWN size_t desync__receive(desync__connection *c, void *data, size_t n) {
    (void)c;
    return fread(data, 1, n, stdin);
}

DESYNC__OWN int desync__send(desync__connection *c, const void *data, size_t n) {
    (void)c;
    return fwrite(data, 1, n, stdout) == n && fflush(stdout) == 0;
}
#else
typedef struct { int in, out; } desync__connection;

DESYNC__OWN size_t desync__receive(desync__connection *c, void *data, size_t n) {
    for (;;) {
        ssize_t got = read(c->in, data, n);
        if (got >= 0) return (size_t)got;
        if (errno != EINTR) return 0;
    }
}

DESYNC__OWN int desync__send(desync__connection *c, const void *data, size_t n) {
    const uint8_t *p = (const uint8_t *)data;
    while (n) {
        ssize_t put = write(c->out, p, n);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return 0;
        p += put;
        n -= (size_t)put;
    }
    return 1;
}

#ifndef DESYNCTOOL_NO_SOCKETS
DESYNC__OWN int desync__dial_unix(const char *path) {
    struct sockaddr_un to;
    int fd;
    memset(&to, 0, sizeof to);
    to.sun_family = AF_UNIX;
    if (strlen(path) >= sizeof to.sun_path) return -1;
    memcpy(to.sun_path, path, strlen(path));
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)(const void *)&to, sizeof to) == 0) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

DESYNC__OWN int desync__dial_tcp(const char *where) {
    struct addrinfo hints, *list = NULL, *a;
    const char *port = strrchr(where, ':');
    char host[256];
    size_t n;
    int fd = -1, one = 1;
    if (!port) return -1;
    n = (size_t)(port++ - where);
    if (n >= 2 && *where == '[' && where[n - 1] == ']') {
        where++;
        n -= 2;
    }
    if (n >= sizeof host) return -1;
    memcpy(host, where, n);
    host[n] = 0;
    memset(&hints, 0, sizeof hints);
    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(host, port, &hints, &list) != 0) return -1;
    for (a = list; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
        if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(list);
    if (fd >= 0) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}
#endif

DESYNC__OWN const char *desync__connect(desync__connection *c) {
    const char *where = getenv("DESYNCTOOL_SIM");
    signal(SIGPIPE, SIG_IGN); /* a connection that ends must not end the process with a signal */
    if (where && *where) {
#ifdef DESYNCTOOL_NO_SOCKETS
        return "DESYNCTOOL_SIM is set, and only stdin and stdout are served here";
#else
        const char *token = getenv("DESYNCTOOL_SIM_TOKEN");
        desync_buffer b = {NULL, 0, 0, 0};
        int fd = -1, sent;
        if (strncmp(where, "unix:", 5) == 0) fd = desync__dial_unix(where + 5);
        else if (strncmp(where, "tcp:", 4) == 0) fd = desync__dial_tcp(where + 4);
        else return "DESYNCTOOL_SIM is neither unix:PATH nor tcp:HOST:PORT";
        if (fd < 0) return "no connection to DESYNCTOOL_SIM";
        c->in = c->out = fd;
        desync__put(&b, 0, 4);
        desync__str(&b, token);
        if (!b.failed) desync__little(b.data, b.len - 4, 4);
        sent = !b.failed && desync__send(c, b.data, b.len);
        desync_free(&b);
        return sent ? NULL : "the token cannot be sent";
#endif
    }
    fflush(stdout);
    c->in = 0;
    c->out = dup(1); /* the game's output must not get between replies */
    if (c->out < 0 || dup2(2, 1) < 0) return "stdout cannot be moved";
    return NULL;
}
#endif

/* Reads n bytes after those in b, trusting n only as far as bytes come. Returns how many came. */
DESYNC__OWN size_t desync__fill(desync__connection *c, desync_buffer *b, size_t n) {
    size_t got = 0;
    while (got < n) {
        size_t want = got < 65536 ? 65536 : got, more;
        if (want > n - got) want = n - got;
        if (!desync__reserve(b, want)) return got;
        more = desync__receive(c, b->data + b->len, want);
        if (!more) return got;
        b->len += more;
        got += more;
    }
    return got;
}

/* Answers one request after another. Returns NULL when the connection ends between two. */
DESYNC__OWN const char *desync__serve_all(desync__server *s, desync__connection *c) {
    const char *err;
    size_t n;
    for (;;) {
        s->in.len = 0;
        n = desync__fill(c, &s->in, 4);
        if (n == 0) return s->in.failed ? desync__no_memory : NULL;
        if (n < 4) return "the connection ends inside the length of a request";
        n = desync__get32(s->in.data);
        if (n > s->target->max_request) {
            snprintf(s->message, sizeof s->message, "a request of %lu bytes, at most %lu are taken", (unsigned long)n,
                     (unsigned long)s->target->max_request);
            return s->message;
        }
        s->in.len = 0;
        if (desync__fill(c, &s->in, n) != n) return s->in.failed ? desync__no_memory : "the connection ends inside a request";
        if ((err = desync__answer(s, s->in.data, n, 4)) != NULL) {
            snprintf(s->message, sizeof s->message, "a request makes no sense: %s", err);
            return s->message;
        }
        desync__little(s->reply.data, s->reply.len - 4, 4);
        if (!desync__send(c, s->reply.data, s->reply.len)) return "the connection ends inside a reply";
    }
}

DESYNC__API int desync_serve(const desync_target *target) {
    desync__server s;
    desync__connection c;
    desync_target t;
    const char *err = desync__incomplete(target);
    memset(&s, 0, sizeof s);
    memset(&c, 0, sizeof c);
    if (!err) err = desync__connect(&c);
    if (!err) {
        t = *target;
        if (!t.max_request || t.max_request > (1u << 30)) t.max_request = 1u << 30;
        s.target = &t;
        err = desync__serve_all(&s, &c);
    }
    if (err) fprintf(stderr, "%s\n", err);
    desync_free(&s.in);
    desync_free(&s.reply);
    desync_free(&s.orders);
    desync_free(&s.kept);
    desync_free(&s.counts);
    desync__session_free(&s.session);
    return err ? 2 : 0;
}

#endif

/* ---- Signatures */

#ifndef DESYNCTOOL_NO_SIGNATURES

typedef struct {
    uint64_t h[8], len;
    uint8_t block[128];
} desync__sha512;

DESYNC__OWN uint64_t desync__rotate64(uint64_t v, int n) { return v >> n | v << (64 - n); }

DESYNC__OWN void desync__sha512_block(uint64_t h[8], const uint8_t *p) {
    static const uint64_t k[80] = {
        0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc, 0x3956c25bf348b538,
        0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118, 0xd807aa98a3030242, 0x12835b0145706fbe,
        0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2, 0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235,
        0xc19bf174cf692694, 0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
        0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5, 0x983e5152ee66dfab,
        0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4, 0xc6e00bf33da88fc2, 0xd5a79147930aa725,
        0x06ca6351e003826f, 0x142929670a0e6e70, 0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed,
        0x53380d139d95b3df, 0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
        0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30, 0xd192e819d6ef5218,
        0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8, 0x19a4c116b8d2d0c8, 0x1e376c085141ab53,
        0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8, 0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373,
        0x682e6ff3d6b2b8a3, 0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
        0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b, 0xca273eceea26619c,
        0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178, 0x06f067aa72176fba, 0x0a637dc5a2c898a6,
        0x113f9804bef90dae, 0x1b710b35131c471b, 0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc,
        0x431d67c49c100d4c, 0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817};
    uint64_t w[80], v[8];
    int i, j;
    for (i = 0; i < 16; i++)
        for (w[i] = 0, j = 0; j < 8; j++) w[i] = w[i] << 8 | *p++;
    for (; i < 80; i++) {
        uint64_t x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (desync__rotate64(x, 1) ^ desync__rotate64(x, 8) ^ x >> 7) +
               (desync__rotate64(y, 19) ^ desync__rotate64(y, 61) ^ y >> 6);
    }
    memcpy(v, h, sizeof v);
    for (i = 0; i < 80; i++) {
        uint64_t a = v[0], e = v[4], t1, t2;
        t1 = v[7] + (desync__rotate64(e, 14) ^ desync__rotate64(e, 18) ^ desync__rotate64(e, 41)) + ((e & v[5]) ^ (~e & v[6])) + k[i] + w[i];
        t2 = (desync__rotate64(a, 28) ^ desync__rotate64(a, 34) ^ desync__rotate64(a, 39)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        for (j = 7; j > 0; j--) v[j] = v[j - 1];
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (i = 0; i < 8; i++) h[i] += v[i];
}

DESYNC__OWN void desync__sha512_begin(desync__sha512 *s) {
    static const uint64_t h[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
    memcpy(s->h, h, sizeof h);
    s->len = 0;
}

DESYNC__OWN void desync__sha512_add(desync__sha512 *s, const void *data, size_t n) {
    const uint8_t *p = (const uint8_t *)data;
    while (n) {
        size_t have = (size_t)(s->len % 128), take = n < 128 - have ? n : 128 - have;
        memcpy(s->block + have, p, take);
        s->len += take;
        p += take;
        n -= take;
        if (have + take == 128) desync__sha512_block(s->h, s->block);
    }
}

DESYNC__OWN void desync__sha512_end(desync__sha512 *s, uint8_t out[64]) {
    uint8_t tail[144] = {0x80};
    uint64_t bits = s->len * 8;
    size_t pad = 128 - (size_t)((s->len + 16) % 128), i;
    for (i = 0; i < 8; i++) tail[pad + 8 + i] = (uint8_t)(bits >> (56 - 8 * i));
    desync__sha512_add(s, tail, pad + 16);
    for (i = 0; i < 64; i++) out[i] = (uint8_t)(s->h[i / 8] >> (56 - 8 * (i % 8)));
}

/* Numbers modulo 2^255 - 19 have ten limbs of 26 bits: 2^260 is 608. A product has limbs just above 26 bits, a sum one bit more; only
   those may be subtracted, and what is multiplied has at most 29 bits. */
typedef uint32_t desync__field[10];

DESYNC__OWN void desync__field_add(const desync__field a, const desync__field b, desync__field out) {
    int i;
    for (i = 0; i < 10; i++) out[i] = a[i] + b[i];
}

DESYNC__OWN void desync__field_sub(const desync__field a, const desync__field b, desync__field out) {
    int i;
    out[0] = a[0] + 0xffff680 - b[0]; /* 128 times the modulus in all */
    for (i = 1; i < 10; i++) out[i] = a[i] + 0xffffffc - b[i];
}

/* Brings the 19 limbs of a product into ten. */
DESYNC__OWN void desync__field_fold(uint64_t c[20], desync__field out) {
    const uint64_t mask = 0x3ffffff;
    int i;
    c[19] = 0;
    for (i = 10; i < 19; i++) {
        c[i + 1] += c[i] >> 26;
        c[i] &= mask;
    }
    for (i = 0; i < 10; i++) c[i] += c[i + 10] * 608;
    for (i = 0; i < 9; i++) {
        c[i + 1] += c[i] >> 26;
        out[i] = (uint32_t)(c[i] & mask);
    }
    out[9] = (uint32_t)(c[9] & mask);
    c[0] = out[0] + (c[9] >> 26) * 608;
    out[0] = (uint32_t)(c[0] & mask);
    out[1] += (uint32_t)(c[0] >> 26);
}

DESYNC__OWN void desync__field_mul(const desync__field a, const desync__field b, desync__field out) {
    uint64_t c[20];
    int i;
    memset(c, 0, sizeof c);
    for (i = 0; i < 10; i++) {
        const uint64_t v = a[i];
        c[i] += v * b[0], c[i + 1] += v * b[1], c[i + 2] += v * b[2], c[i + 3] += v * b[3], c[i + 4] += v * b[4];
        c[i + 5] += v * b[5], c[i + 6] += v * b[6], c[i + 7] += v * b[7], c[i + 8] += v * b[8], c[i + 9] += v * b[9];
    }
    desync__field_fold(c, out);
}

DESYNC__OWN void desync__field_square(const desync__field a, desync__field out) {
    uint64_t c[20];
    int i, j;
    memset(c, 0, sizeof c);
    for (i = 0; i < 10; i++) {
        c[2 * i] += (uint64_t)a[i] * a[i];
        for (j = i + 1; j < 10; j++) c[i + j] += (uint64_t)a[i] * (2 * a[j]);
    }
    desync__field_fold(c, out);
}

/* out is a to the power of 2^n, times b. */
DESYNC__OWN void desync__field_raise(const desync__field a, int n, const desync__field b, desync__field out) {
    desync__field v;
    memcpy(v, a, sizeof v);
    while (n-- > 0) desync__field_square(v, v);
    desync__field_mul(v, b, out);
}

/* To the power of 2^250 - 1, and of 11. */
DESYNC__OWN void desync__field_power(const desync__field a, desync__field out, desync__field eleven) {
    desync__field a2, a9, a5bits, a10, a20, a50, a100;
    desync__field_square(a, a2);
    desync__field_raise(a2, 2, a, a9);
    desync__field_mul(a9, a2, eleven);
    desync__field_raise(eleven, 1, a9, a5bits);
    desync__field_raise(a5bits, 5, a5bits, a10);
    desync__field_raise(a10, 10, a10, a20);
    desync__field_raise(a20, 20, a20, a50); /* 40 */
    desync__field_raise(a50, 10, a10, a50);
    desync__field_raise(a50, 50, a50, a100);
    desync__field_raise(a100, 100, a100, out); /* 200 */
    desync__field_raise(out, 50, a50, out);
}

DESYNC__OWN void desync__field_invert(const desync__field a, desync__field out) {
    desync__field power, eleven;
    desync__field_power(a, power, eleven);
    desync__field_raise(power, 5, eleven, out);
}

DESYNC__OWN void desync__field_encode(const desync__field a, uint8_t out[32]) {
    uint32_t v[10], carry = 19, bits = 0;
    uint64_t held = 0;
    int i, turn, at = 0;
    memcpy(v, a, sizeof v);
    for (turn = 0; turn < 2; turn++) { /* below 2^255 + 19, then below 2^255 */
        uint32_t over = v[9] >> 21;
        v[9] &= 0x1fffff;
        v[0] += over * 19;
        for (i = 0; i < 9; i++) {
            v[i + 1] += v[i] >> 26;
            v[i] &= 0x3ffffff;
        }
    }
    for (i = 0; i < 9; i++) carry = (v[i] + carry) >> 26; /* is it 2^255 - 19 or more? */
    carry = ((v[9] + carry) >> 21) * 19;
    for (i = 0; i < 10; i++) {
        v[i] += carry;
        carry = v[i] >> 26;
        v[i] &= 0x3ffffff;
        held |= (uint64_t)v[i] << bits;
        for (bits += 26; bits >= 8 && at < 32; bits -= 8, held >>= 8) out[at++] = (uint8_t)held;
    }
    out[31] &= 0x7f;
}

DESYNC__OWN void desync__field_decode(const uint8_t b[32], desync__field out) {
    uint64_t held = 0;
    int i, at = 0, bits = 0;
    for (i = 0; i < 10; i++, bits -= 26, held >>= 26) {
        for (; bits < 26 && at < 32; bits += 8) held |= (uint64_t)b[at++] << bits;
        out[i] = (uint32_t)held & 0x3ffffff;
    }
    out[9] &= 0x1fffff;
}

DESYNC__OWN const desync__field desync__one = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0};
DESYNC__OWN const desync__field desync__d = {0x35978a3, 0x2d37284, 0x18ab75e, 0x1350507, 0x000700a, 0x1de7a26, 0x0740797, 0x3f9ce33, 0x0ee2b6f, 0x01480db};

/* Points are X, Y, Z and T: x is X/Z, y is Y/Z and xy is T/Z. The sum's second one has T times 2d. */
DESYNC__OWN void desync__curve_out(desync__field e, desync__field f, desync__field g, desync__field h, desync__curve *out) {
    desync__field_mul(e, f, out->at[0]);
    desync__field_mul(g, h, out->at[1]);
    desync__field_mul(f, g, out->at[2]);
    desync__field_mul(e, h, out->at[3]);
}

DESYNC__OWN void desync__curve_add(const desync__curve *p, const desync__curve *q, desync__curve *out) {
    desync__field a, b, c, d, e, f;
    desync__field_sub(p->at[1], p->at[0], e);
    desync__field_sub(q->at[1], q->at[0], f);
    desync__field_mul(e, f, a);
    desync__field_add(p->at[1], p->at[0], e);
    desync__field_add(q->at[1], q->at[0], f);
    desync__field_mul(e, f, b);
    desync__field_mul(p->at[3], q->at[3], c);
    desync__field_mul(p->at[2], q->at[2], d);
    desync__field_add(d, d, d);
    desync__field_sub(b, a, e);
    desync__field_sub(d, c, f);
    desync__field_add(d, c, d);
    desync__field_add(b, a, b);
    desync__curve_out(e, f, d, b, out);
}

DESYNC__OWN void desync__curve_double(const desync__curve *p, desync__curve *out) {
    desync__field a, b, c, e, g;
    desync__field_square(p->at[0], a);
    desync__field_square(p->at[1], b);
    desync__field_square(p->at[2], c);
    desync__field_add(c, c, c);
    desync__field_add(p->at[0], p->at[1], e);
    desync__field_square(e, e);
    desync__field_sub(a, b, g);
    desync__field_add(a, b, b);
    desync__field_sub(b, e, e);
    desync__field_add(c, g, c);
    desync__curve_out(e, c, g, b, out);
}

DESYNC__OWN void desync__curve_encode(const desync__curve *p, uint8_t out[32]) {
    desync__field z, v;
    uint8_t x[32];
    desync__field_invert(p->at[2], z);
    desync__field_mul(p->at[0], z, v);
    desync__field_encode(v, x);
    desync__field_mul(p->at[1], z, v);
    desync__field_encode(v, out);
    out[31] = (uint8_t)(out[31] | (x[0] & 1) << 7);
}

DESYNC__OWN int desync__field_equal(const desync__field a, const desync__field b) {
    uint8_t x[32], y[32];
    desync__field_encode(a, x);
    desync__field_encode(b, y);
    return memcmp(x, y, 32) == 0;
}

/* Whether the bytes are a point. As in Go, y may be 2^255 - 19 and more, and x -0. */
DESYNC__OWN int desync__curve_decode(const uint8_t b[32], desync__curve *p) {
    static const desync__field root = {0x20ea0b0, 0x386c9d2, 0x2478c4e, 0x01ab4bf, 0x32f4318, 0x37ef5e9, 0x0d00993, 0x37c2cad, 0x0804fc1, 0x00ae0c9};
    static const desync__field zero = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    desync__field u, v, v3, t, power, eleven;
    uint32_t *x = p->at[0], *y = p->at[1];
    uint8_t bytes[32];
    desync__field_decode(b, y);
    desync__field_square(y, u);
    desync__field_mul(u, desync__d, v);
    desync__field_sub(u, desync__one, t);
    desync__field_mul(t, desync__one, u); /* x² is u/v with u = y² - 1 */
    desync__field_add(v, desync__one, v); /* and v = dy² + 1; x is uv³ (uv⁷)^((p-5)/8), perhaps times the root of -1 */
    desync__field_square(v, t);
    desync__field_mul(t, v, v3);
    desync__field_square(v3, t);
    desync__field_mul(t, v, t);
    desync__field_mul(t, u, t);
    desync__field_power(t, power, eleven);
    desync__field_raise(power, 2, t, t);
    desync__field_mul(t, v3, t);
    desync__field_mul(t, u, x);
    desync__field_square(x, t);
    desync__field_mul(t, v, t);
    if (!desync__field_equal(t, u)) {
        desync__field_sub(zero, u, u);
        if (!desync__field_equal(t, u)) return 0;
        desync__field_mul(x, root, x);
    }
    desync__field_encode(x, bytes);
    if ((bytes[0] & 1) != b[31] >> 7) {
        desync__field_sub(zero, x, t);
        desync__field_mul(t, desync__one, x);
    }
    memcpy(p->at[2], desync__one, sizeof desync__one);
    desync__field_mul(x, y, p->at[3]);
    return 1;
}

/* T times 2d, as the second one of a sum has it. */
DESYNC__OWN void desync__curve_ready(desync__curve *p) {
    desync__field_mul(p->at[3], desync__d, p->at[3]);
    desync__field_add(p->at[3], p->at[3], p->at[3]);
}

/* The sums of a point's multiples by 1, 2^64, 2^128 and 2^192. */
DESYNC__OWN void desync__comb_of(const desync__curve *p, desync__comb *out) {
    desync__curve a = *p, ready;
    int i, j;
    memset(out, 0, sizeof *out);
    out->sum[0].at[1][0] = out->sum[0].at[2][0] = 1;
    for (i = 0; i < 4; i++) {
        ready = a;
        desync__curve_ready(&ready);
        for (j = 0; j < 1 << i; j++) desync__curve_add(&out->sum[j], &ready, &out->sum[j + (1 << i)]);
        for (j = 0; j < 64 && i < 3; j++) desync__curve_double(&a, &a);
    }
    for (i = 0; i < 16; i++) desync__curve_ready(&out->sum[i]);
}

DESYNC__OWN void desync__comb_of_base(desync__comb *out) {
    uint8_t b[32];
    desync__curve p;
    memset(b, 0x66, 32);
    b[0] = 0x58;
    desync__curve_decode(b, &p);
    desync__comb_of(&p, out);
}

/* Adds the sum of a comb that bit i of a number's four parts selects. It looks at all sums, so that the time shows
   nothing about the number. */
DESYNC__OWN void desync__comb_add(const desync__comb *c, const uint8_t n[32], int i, desync__curve *at) {
    desync__curve picked;
    const uint32_t *from;
    uint32_t *to = picked.at[0];
    uint32_t number = 0, j;
    int k;
    for (k = 3; k >= 0; k--) number = number << 1 | ((uint32_t)n[8 * k + i / 8] >> (i % 8) & 1);
    memset(&picked, 0, sizeof picked);
    for (j = 0; j < 16; j++) {
        uint32_t mask = (uint32_t)0 - (((j ^ number) - 1) >> 31);
        from = c->sum[j].at[0];
        for (k = 0; k < 40; k++) to[k] |= from[k] & mask;
    }
    desync__curve_add(at, &picked, at);
}

/* The points of one comb or two, each times a number, in the form of bytes. */
DESYNC__OWN void desync__comb_times(const desync__comb *a, const uint8_t n[32], const desync__comb *b, const uint8_t m[32], uint8_t out[32]) {
    desync__curve p;
    int i;
    memset(&p, 0, sizeof p);
    p.at[1][0] = p.at[2][0] = 1;
    for (i = 63; i >= 0; i--) {
        desync__curve_double(&p, &p);
        desync__comb_add(a, n, i, &p);
        if (b) desync__comb_add(b, m, i, &p);
    }
    desync__curve_encode(&p, out);
}

/* The order of the base point, 2^252 + 27742317777372353535851937790883648493. */
DESYNC__OWN const uint32_t desync__order[8] = {0x5cf5d3ed, 0x5812631a, 0xa2f79cd6, 0x14def9de, 0, 0, 0, 0x10000000};

/* A number of 64 bytes modulo the order, bit by bit. */
DESYNC__OWN void desync__order_reduce(const uint8_t in[64], uint8_t out[32]) {
    uint32_t v[8] = {0}, less[8];
    int i, j;
    for (i = 511; i >= 0; i--) {
        uint32_t carry = (uint32_t)in[i / 8] >> (i % 8) & 1, keep;
        uint64_t borrow = 0;
        for (j = 0; j < 8; j++) {
            uint32_t high = v[j] >> 31;
            v[j] = v[j] << 1 | carry;
            carry = high;
        }
        for (j = 0; j < 8; j++) {
            borrow = (uint64_t)v[j] - desync__order[j] - borrow;
            less[j] = (uint32_t)borrow;
            borrow = borrow >> 63;
        }
        keep = (uint32_t)0 - (uint32_t)borrow;
        for (j = 0; j < 8; j++) v[j] = (v[j] & keep) | (less[j] & ~keep);
    }
    for (i = 0; i < 32; i++) out[i] = (uint8_t)(v[i / 4] >> (8 * (i % 4)));
}

/* a·b + c modulo the order. */
DESYNC__OWN void desync__order_mul_add(const uint8_t a[32], const uint8_t b[32], const uint8_t c[32], uint8_t out[32]) {
    uint8_t wide[64];
    uint64_t carry = 0;
    int i, j;
    memset(wide, 0, sizeof wide);
    memcpy(wide, c, 32);
    for (i = 0; i < 32; i++) {
        for (j = 0; j < 32; j++) {
            carry += wide[i + j] + (uint64_t)a[i] * b[j];
            wide[i + j] = (uint8_t)carry;
            carry >>= 8;
        }
        wide[i + 32] = (uint8_t)carry; /* nothing is there yet */
        carry = 0;
    }
    desync__order_reduce(wide, out);
}

/* SHA-512 of up to three parts, modulo the order. */
DESYNC__OWN void desync__order_hash(const uint8_t *a, const uint8_t *b, const void *message, size_t n, uint8_t out[32]) {
    desync__sha512 s;
    uint8_t digest[64];
    desync__sha512_begin(&s);
    if (a) desync__sha512_add(&s, a, 32);
    desync__sha512_add(&s, b, 32);
    desync__sha512_add(&s, message, n);
    desync__sha512_end(&s, digest);
    desync__order_reduce(digest, out);
}

DESYNC__OWN void desync__signing_of(const uint8_t secret[32], desync__signing *s) {
    desync__sha512 h;
    uint8_t digest[64];
    desync__comb_of_base(&s->base);
    desync__sha512_begin(&h);
    desync__sha512_add(&h, secret, 32);
    desync__sha512_end(&h, digest);
    memcpy(s->scalar, digest, 32);
    memcpy(s->prefix, digest + 32, 32);
    s->scalar[0] = (uint8_t)(s->scalar[0] & 0xf8);
    s->scalar[31] = (uint8_t)((s->scalar[31] & 0x3f) | 0x40);
    desync__comb_times(&s->base, s->scalar, NULL, NULL, s->key);
}

DESYNC__OWN void desync__signed(const desync__signing *s, const void *message, size_t n, uint8_t signature[64]) {
    uint8_t r[32], k[32];
    desync__order_hash(NULL, s->prefix, message, n, r);
    desync__comb_times(&s->base, r, NULL, NULL, signature);
    desync__order_hash(signature, s->key, message, n, k);
    desync__order_mul_add(k, s->scalar, r, signature + 32);
}

DESYNC__API void desync_public_key(const uint8_t secret[32], uint8_t key[32]) {
    desync__signing s;
    desync__signing_of(secret, &s);
    memcpy(key, s.key, 32);
}

DESYNC__API void desync_sign(const uint8_t secret[32], const void *message, size_t n, uint8_t signature[64]) {
    desync__signing s;
    desync__signing_of(secret, &s);
    desync__signed(&s, message, n, signature);
}

typedef struct { /* what checks signatures of a key */
    uint8_t key[32];
    int usable;
    desync__comb base, minus; /* of the key's point with its x turned around */
} desync__verifier;

/* The y of two points of order 8. The y of the two others is 2^255 - 19 less it. */
DESYNC__OWN const uint8_t desync__eighth[32] = {
    0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
    0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05};

/* Whether a point, in any encoding, is one of the eight of small order: whoever has such a key needs no secret to sign. */
DESYNC__OWN int desync__small_order(const uint8_t b[32]) {
    int i, zeros = 0, ones = 0, is = 0, less = 0;
    for (i = 1; i < 32; i++) {
        int all = i == 31 ? 0x7f : 0xff, v = b[i] & all; /* the highest bit is the sign of x */
        zeros |= v;
        ones |= v ^ all;
        is |= v ^ desync__eighth[i];
        less |= v ^ (all - desync__eighth[i]);
    }
    return (!zeros && b[0] <= 1) || (!ones && b[0] >= 0xec && b[0] <= 0xee) || (!is && b[0] == desync__eighth[0]) ||
           (!less && b[0] == 0xed - desync__eighth[0]);
}

DESYNC__OWN void desync__verifier_of(const uint8_t key[32], desync__verifier *v) {
    static const desync__field zero = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    desync__field t;
    desync__curve p;
    int i;
    memcpy(v->key, key, 32);
    v->usable = !desync__small_order(key) && desync__curve_decode(key, &p);
    if (!v->usable) return;
    for (i = 0; i < 4; i += 3) { /* x and xy */
        desync__field_sub(zero, p.at[i], t);
        desync__field_mul(t, desync__one, p.at[i]);
    }
    desync__comb_of_base(&v->base);
    desync__comb_of(&p, &v->minus);
}

DESYNC__OWN int desync__verified(const desync__verifier *v, const void *message, size_t n, const uint8_t signature[64]) {
    uint8_t k[32], point[32];
    int i;
    if (!v->usable || desync__small_order(signature)) return 0;
    for (i = 7; i >= 0; i--) { /* below the order */
        uint32_t s = desync__get32(signature + 32 + 4 * i);
        if (s > desync__order[i]) return 0;
        if (s < desync__order[i]) break;
    }
    if (i < 0) return 0;
    desync__order_hash(signature, v->key, message, n, k);
    desync__comb_times(&v->base, signature + 32, &v->minus, k, point);
    return memcmp(point, signature, 32) == 0;
}

DESYNC__API int desync_verify(const uint8_t key[32], const void *message, size_t n, const uint8_t signature[64]) {
    desync__verifier v;
    desync__verifier_of(key, &v);
    return desync__verified(&v, message, n, signature);
}

enum { DESYNC__ENTRY = 144, DESYNC__LAST = 104 }; /* bytes of an entry, and of the end */

DESYNC__OWN const char desync__domain[] = "desynctool tick-signatures 1 ";

/* Puts the domain of a purpose, and what it is for, into a message; returns its length. */
DESYNC__OWN size_t desync__chain_message(uint8_t *out, const char *purpose, const uint8_t *body, size_t n) {
    size_t domain = sizeof desync__domain - 1, more = strlen(purpose);
    memcpy(out, desync__domain, domain);
    memcpy(out + domain, purpose, more);
    out[domain + more] = '\n';
    if (n) memcpy(out + domain + more + 1, body, n);
    return domain + more + 1 + n;
}

DESYNC__OWN void desync__genesis(uint64_t seed, const uint8_t key[32], const uint8_t start[32], const void *peer, size_t n, uint8_t out[32]) {
    uint8_t b[128], number[8];
    size_t len = desync__chain_message(b, "genesis", NULL, 0);
    desync_sha256 s;
    desync_sha256_begin(&s);
    desync_sha256_add(&s, b, len);
    desync__little(number, seed, 8);
    desync_sha256_add(&s, number, 8);
    desync_sha256_add(&s, key, 32);
    desync_sha256_add(&s, start, 32);
    desync__little(number, n, 4);
    desync_sha256_add(&s, number, 4);
    desync_sha256_add(&s, peer, n);
    desync_sha256_end(&s, out);
}

DESYNC__OWN void desync__link(const uint8_t entry[DESYNC__ENTRY], uint8_t out[32]) {
    uint8_t b[64 + DESYNC__ENTRY];
    desync__digest(b, desync__chain_message(b, "link", entry, DESYNC__ENTRY), out);
}

#ifndef DESYNCTOOL_WASM

DESYNC__API const char *desync_signatures_open(desync_signatures *s, const char *path, const desync_signer *signer) {
    static const uint8_t unknown[32] = {0};
    desync_buffer *b = &s->frames.out;
    const char *peer = signer->peer ? signer->peer : "", *err;
    const uint8_t *start = signer->start ? signer->start : unknown;
    memset(s, 0, sizeof *s);
    s->signer = *signer;
    if (!signer->secret && (!signer->key || !signer->sign)) return "expected a secret key, or a public one and what signs with it";
    if (strlen(peer) > 65536) return "a peer's name has more than 65536 bytes";
    if (signer->secret) desync__signing_of(signer->secret, &s->own);
    memcpy(s->key, signer->secret ? s->own.key : signer->key, 32);
    s->signer.secret = s->signer.key = s->signer.start = NULL; /* which need not stay */
    s->signer.peer = NULL;
    if (signer->secret) s->signer.sign = NULL;
    desync__genesis(signer->seed, s->key, start, peer, strlen(peer), s->link);
    if ((err = desync__create(&s->frames, path, "TSIGS\r\n")) != NULL) return err;
    desync__map(b, 4);
    desync__str(b, "seed");
    desync__uint(b, signer->seed);
    desync__str(b, "peer");
    desync__str(b, peer);
    desync__str(b, "key");
    desync__bin(b, s->key, 32);
    desync__str(b, "start");
    desync__bin(b, start, 32);
    return desync__opened(&s->frames, NULL);
}

/* Signs the content of a frame, appends the signature, and writes the frame. */
DESYNC__OWN const char *desync__chain_frame(desync_signatures *s, uint32_t kind, const char *purpose, uint8_t *body, size_t n) {
    uint8_t message[128 + DESYNC__ENTRY];
    size_t len = desync__chain_message(message, purpose, body, n);
    const char *err;
    if (!s->frames.file) return "the file is not open";
    if (!s->signer.sign) {
        desync__signed(&s->own, message, len, body + n);
    } else {
        if ((err = s->signer.sign(s->signer.user, message, len, body + n)) != NULL) return err;
        if (!desync_verify(s->key, message, len, body + n)) return "what signs did not sign with the key";
    }
    desync_append(&s->frames.out, body, n + 64);
    return desync__frame(&s->frames, kind);
}

DESYNC__API const char *desync_signatures_append(desync_signatures *s, uint64_t tick, const uint8_t hash[32]) {
    uint8_t entry[DESYNC__ENTRY];
    const char *err;
    if (s->count && tick <= s->tick) return "ticks do not ascend";
    memcpy(entry, s->link, 32);
    desync__little(entry + 32, s->count ? tick - s->tick - 1 : 0, 8);
    desync__little(entry + 40, tick, 8);
    memcpy(entry + 48, hash, 32);
    if ((err = desync__chain_frame(s, 2, "entry", entry, 80)) != NULL) return err;
    desync__link(entry, s->link);
    s->tick = tick;
    s->count++;
    return NULL;
}

DESYNC__API const char *desync_signatures_close(desync_signatures *s) {
    uint8_t end[DESYNC__LAST];
    const char *err, *closed;
    memcpy(end, s->link, 32);
    desync__little(end + 32, s->count, 8);
    err = desync__chain_frame(s, 3, "end", end, 40);
    closed = desync__close(&s->frames);
    memset(&s->own, 0, sizeof s->own);
    return err ? err : closed;
}

#endif

DESYNC__API const char *desync_finding_words(int kind) {
    static const char *const words[] = {
        "the key is not the one that is trusted",
        "the file is damaged here: nothing after it is read",
        "the signature is not valid and the checksum is right: somebody changed this, or made it without the key",
        "entries before this one are missing or were moved, or it is from another chain of the key",
        "the signer contradicts itself: the ticks do not ascend, or are not as many as it says",
        "the signer itself left out ticks before this one: nothing was tampered with",
        "entries at the end were removed or changed",
        "there is no signed end: entries at the end may have been cut off"};
    return kind >= DESYNC_FOUND_OTHER_KEY && kind <= DESYNC_FOUND_OPEN ? words[kind - 1] : "";
}

typedef struct { /* of frames that are read */
    const uint8_t *file, *payload;
    size_t n, at;
    uint64_t count;
    uint32_t kind, len;
} desync__framed;

enum { DESYNC__FRAMED, DESYNC__CLEAN, DESYNC__TORN, DESYNC__CORRUPT };

/* Whether from some byte of a part that fails its checksum on there is nothing but zero, as a crash leaves it. */
DESYNC__OWN int desync__torn(const desync__framed *f, size_t part, size_t end) {
    size_t begin = f->n;
    while (begin > part && f->file[begin - 1] == 0) begin--;
    return begin < end && f->n - begin >= 16 ? DESYNC__TORN : DESYNC__CORRUPT;
}

/* The next frame, or how the file ends: `at` stays at what ends it. */
DESYNC__OWN int desync__next_frame(desync__framed *f) {
    const uint8_t *head = f->file + f->at;
    if (f->n - f->at < 16) return DESYNC__TORN;
    if (desync_crc32c(0, head, 12) != desync__get32(head + 12)) return desync__torn(f, f->at, f->at + 16);
    f->len = desync__get32(head);
    f->kind = desync__get32(head + 4);
    f->payload = head + 16;
    if (f->len > 1 << 20) return DESYNC__CORRUPT;
    if (f->len > f->n - f->at - 16) return DESYNC__TORN;
    if (desync_crc32c(0, f->payload, f->len) != desync__get32(head + 8)) return desync__torn(f, f->at + 16, f->at + 16 + f->len);
    if (f->kind != UINT32_MAX) {
        f->at += 16 + f->len;
        f->count++;
        return DESYNC__FRAMED;
    }
    if (f->len != 8 || desync__get64(f->payload) != f->count) return DESYNC__CORRUPT;
    if (f->n == f->at + 24) return DESYNC__CLEAN;
    f->at += 24;
    return DESYNC__CORRUPT;
}

DESYNC__OWN const char *desync__chain_header(desync_checked *c, const uint8_t *payload, size_t n) {
    static const char *const names[] = {"seed", "peer", "key", "start"};
    desync__reader r;
    uint64_t pairs;
    unsigned have = 0;
    r.at = payload;
    r.end = payload + n;
    r.err = NULL;
    desync__skip(&r, 1);
    if (!r.err && r.at != r.end) return "the header has bytes after it";
    r.at = payload;
    for (pairs = desync__read(&r, DESYNC__MAP, "the header is not a map"); pairs && !r.err; pairs--) {
        size_t len, i;
        const uint8_t *key = desync__read_str(&r, &len);
        for (i = 0; i < 4 && (r.err || len != strlen(names[i]) || memcmp(key, names[i], len) != 0); i++) {}
        if (i < 4 && have & 1u << i) return "the header has a key twice";
        have |= 1u << i;
        if (i == 0) c->seed = desync__read_uint(&r);
        else if (i == 1) c->peer.data = desync__read_str(&r, &c->peer.len);
        else if (i == 2) c->key = desync__read_hash(&r);
        else if (i == 3) c->start = desync__read_hash(&r);
        else desync__skip(&r, 1);
    }
    if (r.err) return r.err;
    if ((have & 15) != 15) return "the header lacks seed, peer, key or start";
    return c->peer.len > 65536 ? "a peer's name has more than 65536 bytes" : NULL;
}

typedef struct { /* of a chain that is checked */
    desync_checked *to;
    desync__framed frames;
    desync__verifier verifier;
    uint8_t link[32];
    uint64_t after;
    int unbroken, trusted; /* the chain so far; the key */
    int tampered;          /* the entry before */
    int ended;             /* there was a signed end */
} desync__checking;

DESYNC__OWN void desync__found(desync__checking *k, int kind, size_t offset, int has_tick, uint64_t tick) {
    desync_finding f;
    if (kind != DESYNC_FOUND_SKIPPED && kind != DESYNC_FOUND_OPEN) k->to->whole = 0;
    if (k->to->found++ >= 1000) {
        k->to->whole = 0;
        return;
    }
    memset(&f, 0, sizeof f);
    f.kind = kind;
    f.offset = offset;
    f.entry = k->to->entries;
    f.has_after = k->to->entries > 0 && kind != DESYNC_FOUND_CORRUPT;
    f.after = f.has_after ? k->after : 0;
    f.has_tick = has_tick;
    f.tick = tick;
    desync_append(&k->to->list, &f, sizeof f);
}

DESYNC__OWN void desync__check_entry(desync__checking *k, size_t offset, int valid) {
    const uint8_t *entry = k->frames.payload;
    uint64_t skipped = desync__get64(entry + 32), tick = desync__get64(entry + 40);
    int kind = 0, first = !k->to->entries;
    if (!valid) kind = DESYNC_FOUND_TAMPERED;
    else if (k->tampered) kind = 0; /* what it followed is not known */
    else if (memcmp(entry, k->link, 32) != 0) kind = DESYNC_FOUND_MISSING;
    else if (first ? skipped != 0 : tick <= k->after || skipped != tick - k->after - 1) kind = DESYNC_FOUND_CONTRADICTION;
    else if (skipped) kind = DESYNC_FOUND_SKIPPED;
    if (kind) desync__found(k, kind, offset, 1, tick);
    if (kind && kind != DESYNC_FOUND_SKIPPED) k->unbroken = 0;
    if (k->unbroken && k->trusted) k->to->bound++;
    k->tampered = !valid;
    if (first) k->to->first = entry;
    k->to->entries++;
    k->after = tick;
    desync__link(entry, k->link);
}

DESYNC__OWN void desync__check_end(desync__checking *k, size_t offset, int valid) {
    const uint8_t *end = k->frames.payload;
    uint64_t count = desync__get64(end + 32);
    k->ended = 1;
    if (!valid) desync__found(k, DESYNC_FOUND_TAMPERED, offset, 0, 0);
    else if (memcmp(end, k->link, 32) != 0 && !(k->tampered && count == k->to->entries))
        desync__found(k, DESYNC_FOUND_MISSING_AT_END, offset, 0, 0);
    else if (count != k->to->entries && k->unbroken) /* else what is missing has been said */
        desync__found(k, DESYNC_FOUND_CONTRADICTION, offset, 0, 0);
    else k->to->closed = 1;
}

DESYNC__OWN void desync__check_frames(desync__checking *k) {
    uint8_t message[128 + DESYNC__ENTRY];
    for (;;) {
        size_t offset = k->frames.at, n;
        int state = desync__next_frame(&k->frames), entry = k->frames.kind == 2, valid;
        if (state == DESYNC__CORRUPT) offset = k->frames.at;
        else if (state == DESYNC__FRAMED &&
                 (k->ended || !(entry || k->frames.kind == 3) || k->frames.len != (entry ? (uint32_t)DESYNC__ENTRY : (uint32_t)DESYNC__LAST)))
            state = DESYNC__CORRUPT;
        if (state == DESYNC__CORRUPT) {
            desync__found(k, DESYNC_FOUND_CORRUPT, offset, 0, 0);
            return;
        }
        if (state != DESYNC__FRAMED) {
            if (!k->ended) desync__found(k, DESYNC_FOUND_OPEN, offset, 0, 0);
            return;
        }
        n = desync__chain_message(message, entry ? "entry" : "end", k->frames.payload, k->frames.len - 64);
        valid = desync__verified(&k->verifier, message, n, k->frames.payload + k->frames.len - 64);
        if (entry) desync__check_entry(k, offset, valid);
        else desync__check_end(k, offset, valid);
    }
}

DESYNC__API const char *desync_signatures_check(desync_checked *c, const void *data, size_t n, const uint8_t *trusted) {
    desync__checking k;
    const uint8_t *file = (const uint8_t *)data;
    const char *err;
    memset(c, 0, sizeof *c);
    memset(&k, 0, sizeof k);
    if (n < 8 || memcmp(file, "\x89TSIGS\r\n", 8) != 0) return "not a tick-signatures.bin";
    if (n < 16) return "torn in the preamble";
    if (desync_crc32c(0, file, 12) != desync__get32(file + 12)) return "the preamble fails its checksum";
    if (desync__get32(file + 8) != 1) return "expected version 1 without flags";
    k.to = c;
    k.frames.file = file;
    k.frames.n = n;
    k.frames.at = 16;
    if (desync__next_frame(&k.frames) != DESYNC__FRAMED || k.frames.kind != 1) return "the header is missing or damaged";
    if ((err = desync__chain_header(c, k.frames.payload, k.frames.len)) != NULL) return err;
    c->whole = k.unbroken = 1;
    k.trusted = !trusted || memcmp(trusted, c->key, 32) == 0;
    desync__verifier_of(c->key, &k.verifier);
    desync__genesis(c->seed, c->key, c->start, c->peer.data, c->peer.len, k.link);
    if (!k.trusted) desync__found(&k, DESYNC_FOUND_OTHER_KEY, 16, 0, 0);
    desync__check_frames(&k);
    if (c->list.failed) {
        desync_free(&c->list);
        return desync__no_memory;
    }
    c->findings = (const desync_finding *)(const void *)c->list.data;
    c->finding_count = c->list.len / sizeof *c->findings;
    return NULL;
}

DESYNC__API void desync_checked_free(desync_checked *c) { desync_free(&c->list); }

DESYNC__API int desync_checked_hash(const desync_checked *c, uint64_t tick, uint8_t hash[32]) {
    uint64_t low = 0, high = c->bound;
    while (low < high) { /* bound entries follow each other, and their ticks ascend */
        uint64_t middle = low + (high - low) / 2;
        const uint8_t *entry = c->first + (size_t)middle * (16 + DESYNC__ENTRY);
        uint64_t at = desync__get64(entry + 40);
        if (at == tick) {
            memcpy(hash, entry + 48, 32);
            return 1;
        }
        if (at < tick) low = middle + 1;
        else high = middle;
    }
    return 0;
}

#endif
#endif
