/* Reads one .snap after another from stdin, each after its length in 4 bytes, and says of each "ok" or why it is refused. */
#define DESYNCTOOL_IMPLEMENTATION
#include "../c/desynctool.h"

int main(void) {
    uint8_t head[4];
    while (fread(head, 1, 4, stdin) == 4) {
        size_t n = desync__get32(head);
        uint8_t *file = (uint8_t *)malloc(n ? n : 1); /* not a byte more, so that a sanitizer sees what is read past it */
        desync_snap s;
        const char *err;
        if (!file || fread(file, 1, n, stdin) != n) return 2;
        err = desync_snap_read(&s, file, n);
        puts(err ? err : "ok");
        if (!err) {
            desync_buffer again = {NULL, 0, 0, 0};
            err = desync_snapshot(&s.world, &s.at, &again);
            if (err || again.len != n || memcmp(again.data, file, n) != 0) {
                /* integers may have been of another form; the state is the same */
                uint8_t root[32];
                if (err || desync_state_hash(&s.world, root) || memcmp(root, s.root, 32) != 0) return 3;
            }
            desync_free(&again);
            desync_snap_free(&s);
        }
        free(file);
    }
    return 0;
}
