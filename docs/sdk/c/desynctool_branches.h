/* SPDX-License-Identifier: MIT-0
   Copyright 2026 The desynctool authors */
/* desynctool_branches.h: records the branches that a simulation takes, in one C99 file without dependencies.

   `desynctool replay LOG --sim SOUND --against OWN --branches` compares the branches of two builds in the tick in which
   they depart, and names the line at which they go different ways. A build that can do so

     1. compiles the simulation's files with -g and one of

            gcc    -fsanitize-coverage=trace-pc
            clang  -fsanitize-coverage=trace-pc-guard
            rustc  -C passes=sancov-module -C llvm-args=-sanitizer-coverage-level=3
                   -C llvm-args=-sanitizer-coverage-trace-pc-guard

     2. compiles one more file without that option:

            #define DESYNCTOOL_BRANCHES_IMPLEMENTATION
            #include "desynctool_branches.h"

     3. hands desync_branches to its target: `.branches = desync_branches` in the desync_target of desynctool.h.

   The thread that serves requests is thread 0 of the simulation. Each other thread that simulates calls
   desync_branches_thread with its number, from 1 to DESYNC_BRANCHES_THREADS - 1, when it begins a part of a tick, and with
   DESYNC_BRANCHES_NONE when it ends it. The number has to follow from the work, not from the thread: part 3 of the units is
   always number 3. Nothing is recorded of threads that have no number.

   docs/code.md specifies the file. It needs an ELF system with dl_iterate_phdr: Linux, the BSDs. */

#ifndef DESYNCTOOL_BRANCHES_H
#define DESYNCTOOL_BRANCHES_H

#if defined(DESYNCTOOL_BRANCHES_IMPLEMENTATION) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE 1 /* dl_iterate_phdr */
#endif

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DESYNC_BRANCHES_THREADS 64
#define DESYNC_BRANCHES_NONE 0xffffffffu

#ifndef DESYNC_FLOW
#define DESYNC_FLOW
/* The branches of a thread: their number, and a hash. With DESYNC_BRANCHES_HASH it has how often each was taken, else their
   order too. */
typedef struct { uint32_t thread; uint64_t count, hash; } desync_flow;
#endif

enum { DESYNC_BRANCHES_OFF = 0, DESYNC_BRANCHES_HASH = 1, DESYNC_BRANCHES_FILE = 2 };

/* Ends what is recorded, and puts the flow of each thread that took a branch into flows, which has room for
   DESYNC_BRANCHES_THREADS; *n is their number. Then, in another mode than off, begins to record: only hashes, or all
   branches into a file, with the stack of calls at branch number `stop` of thread 0 (from 0; UINT64_MAX: no stack).
   Returns NULL if all went well, else why not, in a text that lives for ever. */
const char *desync_branches(uint32_t mode, const char *file, uint64_t stop, desync_flow *flows, size_t *n);

/* What this thread does from now on is a numbered part of the simulation. */
void desync_branches_thread(uint32_t number);

#ifdef __cplusplus
}
#endif
#endif /* DESYNCTOOL_BRANCHES_H */

#ifdef DESYNCTOOL_BRANCHES_IMPLEMENTATION

#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#if defined(__clang__)
#define DESYNC__UNSEEN __attribute__((no_sanitize("coverage")))
#elif defined(__GNUC__) && __GNUC__ >= 12
#define DESYNC__UNSEEN __attribute__((no_sanitize_coverage))
#else
#define DESYNC__UNSEEN
#endif
#define DESYNC__HERE DESYNC__UNSEEN static __attribute__((unused))

#ifdef __cplusplus
extern "C" {
#endif

enum { DESYNC__MODULES = 256, DESYNC__FRAMES = 64, DESYNC__BUFFER = 1 << 16, DESYNC__CONTEXTS = 1 << 16, DESYNC__VISITS = 1 << 16 };

/* An address is 16 bits of the module's number and 48 bits of the offset in it. */
typedef struct { uintptr_t base, from, size; uint64_t tag; uint8_t id[32], id_size; char name[1024]; } desync__module;

/* The branches that followed the last few, the latest first. */
typedef struct { uint64_t first, second; } desync__guess;

typedef struct {
    uintptr_t low, span; /* a block at these addresses is only counted in visits */
    uint32_t *visits;
    uint32_t mode, number, context;
    uint64_t count, hash, stop, last, run;
    uintptr_t from, size, base; /* of the module of the last branch */
    uint64_t tag;
    desync__guess *guesses;
    uint8_t *buffer;
    size_t used;
} desync__stream;

static struct {
    desync__stream streams[DESYNC_BRANCHES_THREADS + 1]; /* the last one records nothing */
    desync__module modules[DESYNC__MODULES];
    size_t module_count;
    uint64_t frames[DESYNC__FRAMES];
    uint32_t frame_count;
    FILE *file;
    int failed;
} desync__flows;

static pthread_mutex_t desync__flow_lock = PTHREAD_MUTEX_INITIALIZER;
#define DESYNC__SILENT (&desync__flows.streams[DESYNC_BRANCHES_THREADS])
static __thread desync__stream *desync__mine __attribute__((tls_model("initial-exec"))) = DESYNC__SILENT;

DESYNC__HERE void desync__flow_put(uint8_t *to, uint64_t v, int bytes) {
    int i;
    for (i = 0; i < bytes; i++) to[i] = (uint8_t)(v >> 8 * i);
}

DESYNC__HERE void desync__flow_write(const void *data, size_t n) {
    if (fwrite(data, 1, n, desync__flows.file) != n) desync__flows.failed = 1;
}

DESYNC__HERE void desync__flow_number(uint64_t v, int bytes) {
    uint8_t b[8];
    desync__flow_put(b, v, bytes);
    desync__flow_write(b, (size_t)bytes);
}

/* Writes a stream's buffer as a chunk. */
DESYNC__HERE void desync__flow_flush(desync__stream *s) {
    if (!s->used) return;
    pthread_mutex_lock(&desync__flow_lock);
    desync__flow_number(s->number, 4);
    desync__flow_number(s->used, 4);
    desync__flow_write(s->buffer, s->used);
    pthread_mutex_unlock(&desync__flow_lock);
    s->used = 0;
}

DESYNC__HERE void desync__flow_varint(desync__stream *s, uint64_t v) {
    while (v >= 0x80) {
        s->buffer[s->used++] = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    s->buffer[s->used++] = (uint8_t)v;
}

/* Finds the module of an address, and makes it the stream's. An address in none has the module number 0xffff. */
DESYNC__HERE void desync__flow_module(desync__stream *s, uintptr_t pc) {
    size_t i;
    s->from = pc, s->size = 1, s->base = pc, s->tag = (uint64_t)0xffff << 48;
    for (i = 0; i < desync__flows.module_count; i++) {
        const desync__module *m = &desync__flows.modules[i];
        if (pc - m->from < m->size) {
            s->from = m->from, s->size = m->size, s->base = m->base, s->tag = m->tag;
            return;
        }
    }
}

DESYNC__HERE uint64_t desync__flow_address(desync__stream *s, uintptr_t pc) {
    if (pc - s->from >= s->size) desync__flow_module(s, pc);
    return s->tag | (pc - s->base);
}

typedef struct { desync__stream *stream; uintptr_t pc; int found; } desync__climb;

DESYNC__HERE _Unwind_Reason_Code desync__flow_frame(struct _Unwind_Context *context, void *to) {
    desync__climb *c = (desync__climb *)to;
    uintptr_t pc = (uintptr_t)_Unwind_GetIP(context);
    if (pc == c->pc) c->found = 1; /* below it are the recorder's own frames */
    if (pc && c->found) desync__flows.frames[desync__flows.frame_count++] = desync__flow_address(c->stream, pc);
    return desync__flows.frame_count == DESYNC__FRAMES ? _URC_END_OF_STACK : _URC_NO_REASON;
}

DESYNC__UNSEEN static __attribute__((noinline)) void desync__flow_stack(desync__stream *s, uintptr_t pc) {
    desync__climb c = {s, pc, 0};
    _Unwind_Backtrace(desync__flow_frame, &c);
}

DESYNC__UNSEEN static inline uint64_t desync__flow_mix(uint64_t hash, uint64_t v) {
    hash = (hash ^ v) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

/* A branch of a module that the last one was not in, or one that is written. */
DESYNC__UNSEEN static __attribute__((noinline)) void desync__flow_branch(desync__stream *s, uintptr_t pc) {
    uint64_t at = desync__flow_address(s, pc);
    desync__guess *g;
    if (s->mode == DESYNC_BRANCHES_HASH) { /* the next ones of this module are counted without a call */
        s->low = s->from, s->span = s->size;
        s->visits[(pc - s->low) % DESYNC__VISITS]++;
        return;
    }
    s->hash = desync__flow_mix(s->hash, at);
    g = &s->guesses[s->context];
    if (g->first == at) s->run++;
    else {
        uint64_t delta = at - s->last, second = g->second == at;
        desync__flow_varint(s, s->run << 1 | second);
        if (!second) desync__flow_varint(s, delta << 1 ^ (uint64_t)-(int64_t)(delta >> 63));
        g->second = g->first, g->first = at, s->run = 0;
        if (s->used > DESYNC__BUFFER - 32) desync__flow_flush(s);
    }
    s->last = at;
    s->context = (s->context << 5 ^ (uint32_t)at * 0x9e3779b1u >> 16) & (DESYNC__CONTEXTS - 1);
    if (s->count == s->stop) desync__flow_stack(s, pc);
    s->count++;
}

/* Hashes how often each branch was taken, and counts anew. */
DESYNC__HERE void desync__flow_counted(desync__stream *s) {
    uint32_t i;
    for (i = 0; i < DESYNC__VISITS; i++) {
        if (!s->visits[i]) continue;
        s->count += s->visits[i];
        s->hash = desync__flow_mix(s->hash, (uint64_t)i << 32 | s->visits[i]);
        s->visits[i] = 0;
    }
}

/* The compiler calls these in each block of instrumented code. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc_guard(uint32_t *guard);
void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop);

/* Inlined, they would have the address of another call. */
#define DESYNC__CALLED DESYNC__UNSEEN __attribute__((noinline, aligned(64), visibility("protected")))
#define DESYNC__BRANCH                                                         \
    desync__stream *s = desync__mine;                                          \
    uintptr_t pc = (uintptr_t)__builtin_return_address(0), at = pc - s->low;   \
    if (__builtin_expect(at < s->span, 1)) s->visits[at % DESYNC__VISITS]++;   \
    else if (s->mode) desync__flow_branch(s, pc)

DESYNC__CALLED void __sanitizer_cov_trace_pc(void) { DESYNC__BRANCH; }

DESYNC__CALLED void __sanitizer_cov_trace_pc_guard(uint32_t *guard) {
    DESYNC__BRANCH;
    (void)guard;
}

DESYNC__UNSEEN void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop) { (void)start, (void)stop; }

DESYNC__UNSEEN void desync_branches_thread(uint32_t number) {
    desync__stream *s = number < DESYNC_BRANCHES_THREADS ? &desync__flows.streams[number] : DESYNC__SILENT;
    if (s->mode == DESYNC_BRANCHES_FILE && !s->buffer) {
        s->guesses = (desync__guess *)calloc(DESYNC__CONTEXTS, sizeof *s->guesses);
        s->buffer = (uint8_t *)malloc(DESYNC__BUFFER);
        if (!s->guesses || !s->buffer) s->mode = DESYNC_BRANCHES_OFF, desync__flows.failed = 1;
    }
    if (s->mode == DESYNC_BRANCHES_HASH && !s->visits) {
        s->visits = (uint32_t *)calloc(DESYNC__VISITS, sizeof *s->visits);
        if (!s->visits) s->mode = DESYNC_BRANCHES_OFF, desync__flows.failed = 1;
    }
    desync__mine = s;
}

/* The build id is a note of type 3 of the owner GNU. */
DESYNC__HERE void desync__flow_id(desync__module *m, const uint8_t *at, const uint8_t *end) {
    while (end - at >= 12) {
        uint32_t name, size, type;
        memcpy(&name, at, 4), memcpy(&size, at + 4, 4), memcpy(&type, at + 8, 4);
        at += 12;
        if (name > (size_t)(end - at) || size > (size_t)(end - at) || ((size_t)name + 3) / 4 * 4 + ((size_t)size + 3) / 4 * 4 > (size_t)(end - at)) return;
        if (type == 3 && name == 4 && memcmp(at, "GNU", 4) == 0 && size <= sizeof m->id) {
            memcpy(m->id, at + 4, size);
            m->id_size = (uint8_t)size;
        }
        at += ((size_t)name + 3) / 4 * 4 + ((size_t)size + 3) / 4 * 4;
    }
}

DESYNC__HERE int desync__flow_loaded(struct dl_phdr_info *info, size_t size, void *unused) {
    desync__module *m = &desync__flows.modules[desync__flows.module_count];
    uintptr_t from = UINTPTR_MAX, to = 0;
    int i;
    (void)size, (void)unused;
    if (desync__flows.module_count == DESYNC__MODULES) return 1;
    memset(m, 0, sizeof *m);
    m->base = info->dlpi_addr;
    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && at < from) from = at;
        if (p->p_type == PT_LOAD && at + p->p_memsz > to) to = at + p->p_memsz;
        if (p->p_type == PT_NOTE) desync__flow_id(m, (const uint8_t *)at, (const uint8_t *)at + p->p_memsz);
    }
    if (from >= to) return 0;
    m->from = from, m->size = to - from, m->tag = (uint64_t)desync__flows.module_count << 48;
    if (info->dlpi_name && *info->dlpi_name) snprintf(m->name, sizeof m->name, "%s", info->dlpi_name);
    else if (readlink("/proc/self/exe", m->name, sizeof m->name - 1) < 0) m->name[0] = 0;
    desync__flows.module_count++;
    return 0;
}

/* Ends the file: the flow of each thread, and the stack. */
DESYNC__HERE void desync__flow_finish(const desync_flow *flows, size_t n) {
    size_t i;
    for (i = 0; i < DESYNC_BRANCHES_THREADS; i++)
        if (desync__flows.streams[i].buffer) desync__flow_flush(&desync__flows.streams[i]);
    desync__flow_number(DESYNC_BRANCHES_NONE, 4);
    desync__flow_number(n, 4);
    for (i = 0; i < n; i++) {
        desync__flow_number(flows[i].thread, 4);
        desync__flow_number(flows[i].count, 8);
        desync__flow_number(flows[i].hash, 8);
    }
    desync__flow_number(desync__flows.frame_count, 4);
    for (i = 0; i < desync__flows.frame_count; i++) desync__flow_number(desync__flows.frames[i], 8);
    if (fclose(desync__flows.file)) desync__flows.failed = 1;
    desync__flows.file = NULL;
}

/* Begins the file: the modules. */
DESYNC__HERE void desync__flow_open(void) {
    size_t i;
    desync__flow_write("DSBR\1\0\0\0", 8);
    desync__flow_number(desync__flows.module_count, 4);
    for (i = 0; i < desync__flows.module_count; i++) {
        const desync__module *m = &desync__flows.modules[i];
        desync__flow_number(strlen(m->name), 2);
        desync__flow_write(m->name, strlen(m->name));
        desync__flow_number(m->id_size, 1);
        desync__flow_write(m->id, m->id_size);
    }
}

DESYNC__UNSEEN const char *desync_branches(uint32_t mode, const char *file, uint64_t stop, desync_flow *flows, size_t *n) {
    const char *err = NULL;
    size_t i;
    *n = 0;
    desync__mine = DESYNC__SILENT;
    for (i = 0; i < DESYNC_BRANCHES_THREADS; i++) {
        desync__stream *s = &desync__flows.streams[i];
        if (s->visits) desync__flow_counted(s);
        if (!s->count) continue;
        flows[*n].thread = (uint32_t)i, flows[*n].count = s->count, flows[*n].hash = s->hash;
        (*n)++;
    }
    if (desync__flows.file) desync__flow_finish(flows, *n);
    if (desync__flows.failed) err = "the branches could not be recorded: the disk is full, or there is too little memory";
    for (i = 0; i < DESYNC_BRANCHES_THREADS; i++) {
        desync__stream *s = &desync__flows.streams[i];
        uint32_t *visits = s->visits;
        free(s->guesses);
        free(s->buffer);
        memset(s, 0, sizeof *s);
        s->visits = visits;
        s->number = (uint32_t)i;
        s->stop = i ? UINT64_MAX : stop;
    }
    desync__flows.failed = 0, desync__flows.frame_count = 0;
    if (err || mode == DESYNC_BRANCHES_OFF) return err;
    if (mode > DESYNC_BRANCHES_FILE) return "no such mode of recording branches";
    desync__flows.module_count = 0;
    dl_iterate_phdr(desync__flow_loaded, NULL);
    if (mode == DESYNC_BRANCHES_FILE) {
        desync__flows.file = fopen(file, "wb");
        if (!desync__flows.file) return "the file of branches cannot be created";
        desync__flow_open();
    }
    for (i = 0; i < DESYNC_BRANCHES_THREADS; i++) desync__flows.streams[i].mode = mode;
    desync_branches_thread(0);
    return NULL;
}

#ifdef __cplusplus
}
#endif
#endif /* DESYNCTOOL_BRANCHES_IMPLEMENTATION */
