// Does with desynctool.hpp what signatures.py describes.
#include "../cpp/desynctool.hpp"

#include <chrono>
#include <iostream>
#include <sstream>

using namespace desynctool;

static std::string hex(ByteView b) {
    std::string s;
    for (std::uint8_t v : b) s += "0123456789abcdef"[v >> 4], s += "0123456789abcdef"[v & 15];
    return s.empty() ? "-" : s;
}

static Bytes unhex(const std::string &s) {
    Bytes b;
    for (std::size_t i = 0; i + 1 < s.size(); i += 2) b.push_back(static_cast<std::uint8_t>(std::stoul(s.substr(i, 2), nullptr, 16)));
    return b;
}

static Hash hash_of(ByteView b) {
    Hash h;
    std::memcpy(h.data(), b.data(), h.size());
    return h;
}

static void write(const std::string &path) {
    std::uint64_t seed = 0, tick = 0;
    std::string peer, start, secret, how, line;
    std::getline(std::cin, line);
    std::istringstream(line) >> seed >> peer >> start >> secret >> how;
    const Bytes name = unhex(peer);
    const std::string named(name.begin(), name.end());
    const Hash key = hash_of(unhex(secret));
    auto made = how == "own" ? TickSignatures::create(path, seed, named, hash_of(unhex(start)), key)
                             : TickSignatures::create(path, seed, named, hash_of(unhex(start)), public_key(key),
                                                      [key](ByteView message) { return Result<Signature>(sign(key, message)); });
    TickSignatures chain = std::move(made).value();
    while (std::getline(std::cin, line)) {
        if (line == "close") return chain.close().check();
        std::string state;
        std::istringstream(line) >> tick >> state;
        if (chain.append(tick, hash_of(unhex(state)))) std::cout << tick << std::endl;
        else std::cout << "refused" << std::endl;
    }
}

static std::string number(const std::optional<std::uint64_t> &v) { return v ? std::to_string(*v) : "-"; }

static void check(ByteView r) {
    std::uint64_t tick = 0;
    for (std::size_t i = 0; i < 8; i++) tick |= static_cast<std::uint64_t>(r[33 + i]) << (8 * i);
    const ByteView file(r.data() + 41, r.size() - 41);
    auto read = CheckedSignatures::read(file, r[0] ? std::optional<Hash>(hash_of({r.data() + 1, 32})) : std::nullopt);
    if (!read) {
        std::cout << "refused\n";
        return;
    }
    const CheckedSignatures &c = read.value();
    const std::string peer = c.peer();
    const auto state = c.state_hash(tick);
    std::cout << c.seed() << ' ' << hex({reinterpret_cast<const std::uint8_t *>(peer.data()), peer.size()}) << ' ' << hex(c.key()) << ' '
              << hex(c.start()) << ' ' << c.entries() << ' ' << c.bound() << ' ' << c.closed() << ' ' << c.whole() << ' ' << c.found() << ' '
              << (state ? hex(*state) : "-");
    for (const Finding &f : c.findings())
        std::cout << ' ' << static_cast<int>(f.kind) << '@' << f.offset << '#' << f.entry << ':' << number(f.after) << ':' << number(f.tick);
    std::cout << '\n';
}

static void measure(int n) {
    const Hash secret = {}, key = public_key(secret);
    Signature s = {};
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < n; i++) s = sign(secret, bytes_of(i));
    const auto made = std::chrono::steady_clock::now();
    for (int i = 0; i < n; i++)
        if (verify(key, bytes_of(i), s) != (i == n - 1)) std::exit(3);
    const std::chrono::duration<double> signing = made - begin, verifying = std::chrono::steady_clock::now() - made;
    std::cout << n / signing.count() << ' ' << n / verifying.count() << '\n';
}

int main(int argc, char **argv) {
    const std::string mode = argc > 1 ? argv[1] : "";
    if (mode == "write" && argc > 2) {
        write(argv[2]);
        return 0;
    }
    if (mode == "time" && argc > 2) {
        measure(std::atoi(argv[2]));
        return 0;
    }
    if (mode == "words") {
        for (int kind = static_cast<int>(FindingKind::other_key); kind <= static_cast<int>(FindingKind::open); kind++)
            std::cout << words(static_cast<FindingKind>(kind)) << '\n';
        return 0;
    }
    std::uint8_t head[4];
    while (std::fread(head, 1, 4, stdin) == 4) {
        Bytes r(static_cast<std::size_t>(head[0] | head[1] << 8 | head[2] << 16) | static_cast<std::size_t>(head[3]) << 24);
        if (std::fread(r.data(), 1, r.size(), stdin) != r.size()) return 2;
        if (mode == "check") {
            check(r);
        } else if (mode == "verify") {
            Signature s;
            std::memcpy(s.data(), r.data() + 32, s.size());
            std::cout << verify(hash_of(r), {r.data() + 96, r.size() - 96}, s) << '\n';
        } else {
            std::cout << hex(public_key(hash_of(r))) << ' ' << hex(sign(hash_of(r), {r.data() + 32, r.size() - 32})) << '\n';
        }
    }
    return 0;
}
