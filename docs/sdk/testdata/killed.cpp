// Plays one peer into the folder that is its argument, and prints what it has acknowledged: tests kill it.
#include "../cpp/desynctool.hpp"

#include <cstdio>
#include <cstdlib>

using namespace desynctool;

static void must(const Status &s) {
    if (s.ok()) return;
    std::fprintf(stderr, "killed: %s\n", s.why().c_str());
    std::exit(1);
}

static void say(const char *what, unsigned long long tick) {
    std::printf("%s %llu\n", what, tick);
    std::fflush(stdout);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    std::vector<std::int32_t> hp(500);
    std::uint64_t rng = 0;
    World w;
    w.rng(rng).archetype("Unit", hp).column("Health", "hp", value);
    Session s;
    s.seed = 11, s.peer = "client", s.build = "1.0", s.kinds = {{"move"}}, s.peers = {"host", "client"};
    const Bytes payload = {1, 2, 3}, one = {1};
    const Order orders[] = {{0, 1, 0, 0, payload}, {2, 1, 1, 0, one}};
    auto r = Recorder::create(argv[1], s, w, Detail::archetype);
    must(r.status());
    Recorder &peer = r.value();
    for (std::uint64_t tick = 0; tick < 200; tick++) {
        must(peer.state(tick, w));
        if (tick % 10 == 0) must(peer.snapshot(w)), say("snapshot", tick);
        if (tick % 25 == 0) must(peer.report(w, 1, {"Unit"})), say("report", tick);
        if (tick % 40 == 0) must(peer.sync());
        must(peer.tick(tick, Orders(orders, static_cast<std::size_t>(tick % 3))));
        rng += 77, hp[tick * 7 % 500]++;
        must(peer.system("Move", w));
        say("tick", tick);
    }
    must(peer.close());
    return 0;
}
