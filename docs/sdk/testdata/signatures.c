/* Does with desynctool.h what signatures.py describes. */
#define DESYNCTOOL_IMPLEMENTATION
#include "../c/desynctool.h"

#include <time.h>

static void must(const char *err) {
    if (!err) return;
    fprintf(stderr, "%s\n", err);
    exit(2);
}

static void print_hex(const void *data, size_t n, const char *after) {
    const uint8_t *b = (const uint8_t *)data;
    size_t i;
    for (i = 0; i < n; i++) printf("%02x", b[i]);
    fputs(after, stdout);
}

static size_t from_hex(const char *text, uint8_t *out) {
    size_t n;
    for (n = 0; text[2 * n] && text[2 * n] != '-'; n++) {
        unsigned v;
        if (sscanf(text + 2 * n, "%2x", &v) != 1) must("not hexadecimal");
        out[n] = (uint8_t)v;
    }
    return n;
}

static const char *store(void *user, const void *message, size_t n, uint8_t signature[64]) {
    desync_sign((const uint8_t *)user, message, n, signature);
    return NULL;
}

static void write_chain(const char *path) {
    static char line[300000], peer[150000], start[80], secret[80], how[8], hash[80];
    static uint8_t name[65537], started[32], key[32], private_key[32], state[32];
    unsigned long long seed = 0, tick;
    desync_signatures s;
    desync_signer signer;
    if (!fgets(line, sizeof line, stdin) || sscanf(line, "%llu %149999s %79s %79s %7s", &seed, peer, start, secret, how) != 5) must("no first line");
    name[from_hex(peer, name)] = 0;
    from_hex(start, started);
    from_hex(secret, private_key);
    memset(&signer, 0, sizeof signer);
    signer.seed = seed;
    signer.peer = (const char *)name;
    signer.start = started;
    if (strcmp(how, "own") == 0) {
        signer.secret = private_key;
    } else {
        desync_public_key(private_key, key);
        signer.key = key;
        signer.sign = store;
        signer.user = private_key;
    }
    must(desync_signatures_open(&s, path, &signer));
    while (fgets(line, sizeof line, stdin)) {
        if (strcmp(line, "close\n") == 0) {
            must(desync_signatures_close(&s));
            return;
        }
        if (sscanf(line, "%llu %79s", &tick, hash) != 2) must("not an entry");
        from_hex(hash, state);
        if (desync_signatures_append(&s, tick, state)) puts("refused");
        else printf("%llu\n", tick);
        fflush(stdout);
    }
    _Exit(0);
}

/* The next record in separate memory, so that a sanitizer sees what is read past it; NULL at the end. */
static uint8_t *record(size_t *n) {
    uint8_t head[4], *b;
    if (fread(head, 1, 4, stdin) != 4) return NULL;
    *n = desync__get32(head);
    b = (uint8_t *)malloc(*n ? *n : 1);
    if (!b || fread(b, 1, *n, stdin) != *n) must("half a record");
    return b;
}

static void number(int has, uint64_t v, const char *before) {
    fputs(before, stdout);
    if (has) printf("%llu", (unsigned long long)v);
    else putchar('-');
}

static void check(const uint8_t *r, size_t n) {
    uint8_t *file = (uint8_t *)malloc(n > 41 ? n - 41 : 1), hash[32];
    desync_checked c;
    size_t i;
    if (!file) must("out of memory");
    memcpy(file, r + 41, n - 41);
    if (desync_signatures_check(&c, file, n - 41, r[0] ? r + 1 : NULL)) {
        puts("refused");
        free(file);
        return;
    }
    printf("%llu ", (unsigned long long)c.seed);
    print_hex(c.peer.data, c.peer.len, c.peer.len ? " " : "- ");
    print_hex(c.key, 32, " ");
    print_hex(c.start, 32, " ");
    printf("%llu %llu %d %d %llu ", (unsigned long long)c.entries, (unsigned long long)c.bound, c.closed, c.whole, (unsigned long long)c.found);
    if (desync_checked_hash(&c, desync__get64(r + 33), hash)) print_hex(hash, 32, "");
    else putchar('-');
    for (i = 0; i < c.finding_count; i++) {
        const desync_finding *f = &c.findings[i];
        printf(" %d@%llu#%llu", f->kind, (unsigned long long)f->offset, (unsigned long long)f->entry);
        number(f->has_after, f->after, ":");
        number(f->has_tick, f->tick, ":");
    }
    putchar('\n');
    desync_checked_free(&c);
    free(file);
}

static void measure(int n) {
    static const uint8_t secret[32] = {0};
    static desync__signing own;
    static desync__verifier verifier;
    uint8_t signature[64];
    int i, valid = 0;
    clock_t begin, made;
    desync__signing_of(secret, &own);
    desync__verifier_of(own.key, &verifier);
    begin = clock();
    for (i = 0; i < n; i++) desync__signed(&own, &i, sizeof i, signature);
    made = clock();
    for (i = 0; i < n; i++) valid += desync__verified(&verifier, &i, sizeof i, signature);
    if (valid != 1) must("other signatures are valid than the last one");
    printf("%.0f %.0f\n", n * (double)CLOCKS_PER_SEC / (double)(made - begin), n * (double)CLOCKS_PER_SEC / (double)(clock() - made));
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    uint8_t *r, key[32], signature[64];
    size_t n;
    int kind;
    if (strcmp(mode, "write") == 0 && argc > 2) write_chain(argv[2]);
    else if (strcmp(mode, "time") == 0 && argc > 2) measure(atoi(argv[2]));
    else if (strcmp(mode, "words") == 0)
        for (kind = DESYNC_FOUND_OTHER_KEY; kind <= DESYNC_FOUND_OPEN; kind++) puts(desync_finding_words(kind));
    else
        for (; (r = record(&n)) != NULL; free(r)) {
            if (strcmp(mode, "check") == 0) {
                check(r, n);
            } else if (strcmp(mode, "verify") == 0) {
                puts(desync_verify(r, r + 96, n - 96, r + 32) ? "1" : "0");
            } else {
                desync_public_key(r, key);
                desync_sign(r, r + 32, n - 32, signature);
                print_hex(key, 32, " ");
                print_hex(signature, 64, "\n");
            }
        }
    return 0;
}
