// Reads one .snap after another from stdin, each after its length in 4 bytes, and prints for each "ok" or why it is
// refused. With an argument it prints instead of "ok" the hash of the state that was read, and whether it is written as
// the same bytes.
#include "../cpp/desynctool.hpp"

int main(int argc, char **) {
    std::uint8_t head[4];
    while (std::fread(head, 1, 4, stdin) == 4) {
        const std::size_t n = head[0] | head[1] << 8 | head[2] << 16 | static_cast<std::size_t>(head[3]) << 24;
        desynctool::Bytes file(n);
        if (std::fread(file.data(), 1, n, stdin) != n) return 2;
        auto snapshot = desynctool::Snapshot::read(file);
        if (!snapshot) {
            std::puts(snapshot.why().c_str());
            continue;
        }
        auto again = snapshot.value().encode();
        if (!again) return 3;
        if (again.value() != file) { // integers may have been of another form; the state is the same
            auto second = desynctool::Snapshot::read(again.value());
            if (!second || second.value().hash() != snapshot.value().hash()) return 3;
        }
        if (argc > 1) {
            for (std::uint8_t b : snapshot.value().hash()) std::printf("%02x", b);
            std::puts(again.value() == file ? " same" : " other bytes");
        } else {
            std::puts("ok");
        }
    }
    return 0;
}
