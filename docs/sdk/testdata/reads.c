/* Reads one .snap after another from stdin, each after its length in 4 bytes, and prints for each "ok" or why it is
   refused. With an argument it prints instead of "ok" the hash of the state that was read, and whether it is written as
   the same bytes. */
#define DESYNCTOOL_IMPLEMENTATION
#include "../c/desynctool.h"

static void hash_of(const desync_snap *s, int same) {
    uint8_t root[32];
    int i;
    if (desync_state_hash(&s->world, root)) return;
    for (i = 0; i < 32; i++) printf("%02x", root[i]);
    puts(same ? " same" : " other bytes");
}

int main(int argc, char **argv) {
    uint8_t head[4];
    (void)argv;
    while (fread(head, 1, 4, stdin) == 4) {
        size_t n = desync__get32(head);
        uint8_t *file = (uint8_t *)malloc(n ? n : 1); /* not a byte more, so that a sanitizer sees what is read past it */
        desync_snap s;
        const char *err;
        if (!file || fread(file, 1, n, stdin) != n) return 2;
        err = desync_snap_read(&s, file, n);
        if (err || argc == 1) puts(err ? err : "ok");
        if (!err) {
            desync_buffer again = {NULL, 0, 0, 0};
            err = desync_snapshot(&s.world, &s.at, &again);
            if (err || again.len != n || memcmp(again.data, file, n) != 0) {
                /* integers may have been of another form; the state is the same */
                uint8_t root[32];
                if (err || desync_state_hash(&s.world, root) || memcmp(root, s.root, 32) != 0) return 3;
            }
            if (argc > 1) hash_of(&s, again.len == n && memcmp(again.data, file, n) == 0);
            desync_free(&again);
            desync_snap_free(&s);
        }
        free(file);
    }
    return 0;
}
