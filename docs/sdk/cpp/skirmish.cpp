// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

// skirmish.cpp: a whole small game with desynctool.hpp, the same as ../c/skirmish.c: it writes the same files.
//
//     c++ -std=c++17 -O2 -o skirmish skirmish.cpp
//     ./skirmish record DIR [--ticks N] [--seed N] [--fault TICK] [--sign N]   two peers play, and leave DIR/host and DIR/client
//     ./skirmish serve [--fault TICK]                                          replays for desynctool
//
// The fault hides: from TICK on the client (or what is served) forgets to take the dead out of the grid, a cache.
// Nothing differs until a unit walks where the grid wrongly shows a crowd. With --sign each peer signs its states, with
// a key made of N; the keys of a real game are secret.
#include "desynctool.hpp"

#include <algorithm>
#include <iostream>

using desynctool::Order, desynctool::Orders, desynctool::Session, desynctool::Status;

constexpr std::size_t slots = 40, side = 16; // units of a type; cells along the map
constexpr std::int64_t one = 65536, cell_size = 8, edge = side * cell_size * one;
constexpr std::uint64_t never = UINT64_MAX;
enum class Type { infantry, tank };
enum Command : std::uint32_t { move, attack, stop };

struct Unit {
    std::uint64_t id = 0, target = 0;                 // id modulo 2 * slots is the slot; target: 0 is no target
    std::int64_t x = 0, y = 0, goal_x = 0, goal_y = 0; // in 1/65536 of a pace; a cell is 8 x 8 paces
    std::int32_t health = 0;
    std::uint16_t cooldown = 0;                       // ticks until it fires again
    std::uint8_t owner = 0;
    bool alive = false, targeted = false;             // targeted: it has a target
};

/// The payload of orders, as it lies in memory: all machines are little-endian. Target: of attack; x, y: of move, in paces.
struct Payload {
    std::uint64_t id, target;
    std::uint32_t x, y;
};

struct Random {
    std::uint64_t rng, serial; // serial: of the last unit; hashed with the RNG
    std::uint32_t draw(std::uint32_t n) { // of 0 to n - 1
        rng = rng * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::uint32_t>(((rng >> 33) * n) >> 31);
    }
};

using Grid = std::array<std::uint16_t, side * side>;

/// All that the simulation reads and writes, and no pointers: a save is a copy.
struct State {
    Random random{};
    std::array<std::uint32_t, 2> kills{};
    std::array<Unit, 2 * slots> units{}; // infantry, then tanks
    Grid grid{};                         // how many units are in each cell: derived, and kept up to date by the systems

    static std::size_t cell(const Unit &u) { return static_cast<std::size_t>(u.y / one / cell_size * static_cast<std::int64_t>(side) + u.x / one / cell_size); }
    bool infantry(const Unit &u) const { return &u < &units[slots]; }
    Unit *find(std::uint64_t id) {
        Unit &u = units[id % units.size()];
        return u.alive && u.id == id ? &u : nullptr;
    }

    void spawn(Type type, std::uint8_t owner) {
        const std::size_t first = type == Type::tank ? slots : 0;
        for (std::size_t i = first; i < first + slots; i++) {
            Unit &u = units[i];
            if (u.alive) continue;
            u = Unit();
            u.id = ++random.serial * units.size() + i, u.alive = true, u.owner = owner;
            u.health = type == Type::tank ? 120 : 40;
            u.x = u.goal_x = (owner ? 12 : 2) * cell_size * one + random.draw(2 * cell_size * one);
            u.y = u.goal_y = random.draw(edge);
            grid[cell(u)]++;
            return;
        }
    }

    Grid counted() const {
        Grid g{};
        for (const Unit &u : units)
            if (u.alive) g[cell(u)]++;
        return g;
    }
};

std::int64_t distance(const Unit &a, const Unit &b) { return std::abs(a.x - b.x) + std::abs(a.y - b.y); }
std::int64_t toward(std::int64_t at, std::int64_t to, std::int64_t pace) { return to > at + pace ? at + pace : to < at - pace ? at - pace : to; }

class Skirmish : public desynctool::Game, public desynctool::Systems, public desynctool::HasWorld, public desynctool::Memory,
                 public desynctool::Loads, public desynctool::Caches, public desynctool::Validates, public desynctool::Tests,
                 public desynctool::Predicts {
public:
    State s;
    std::uint64_t fault = never; // first tick with it

    Skirmish() {
        using desynctool::fixed, desynctool::ref, desynctool::value;
        for (Type type : {Type::infantry, Type::tank}) {
            const std::size_t first = type == Type::tank ? slots : 0;
            world_.archetype(type == Type::tank ? "Tank" : "Infantry", desynctool::Span<Unit>(&s.units[first], slots))
                .key(&Unit::id).alive(&Unit::alive).place([=](std::uint64_t key) { return key % (2 * slots) - first; })
                .column("Health", "points", &Unit::health)
                .column("Owner", "player", &Unit::owner)
                .column("Position", "x", fixed(one), &Unit::x).column("Position", "y", fixed(one), &Unit::y)
                .column("Goal", "x", fixed(one), &Unit::goal_x).column("Goal", "y", fixed(one), &Unit::goal_y)
                .column("Weapon", "cooldown", &Unit::cooldown)
                .column("Weapon", "target", ref, &Unit::target).present(&Unit::targeted);
        }
        world_.archetype("Player", s.kills).column("Score", "kills", value);
        world_.cache("Grid", s.grid).column("Cell", "units", value);
        world_.rng(s.random);
    }

    std::string name() const override { return "skirmish"; }
    std::string build() const override { return "1.0"; }
    std::vector<desynctool::Kind> kinds() const override { return {{"move"}, {"attack"}, {"stop"}}; }

    Status start(const Session &session) override {
        if (!known(session)) return Status::refused("there is no such map");
        s = State();
        s.random.rng = session.seed;
        for (std::uint8_t i = 0; i < 32; i++) s.spawn(i % 8 < 6 ? Type::infantry : Type::tank, i % 2);
        return {};
    }

    Status begin(std::uint64_t tick, Orders orders) override { return tick_ = tick, orders_ = orders, system_ = 0, Status(); }
    desynctool::Next next() override {
        const auto &[name, run] = systems_[system_++];
        (this->*run)();
        return {name, system_ < systems_.size()};
    }

    desynctool::World &world() override { return world_; }
    desynctool::Span<std::uint8_t> memory() override {
        static_assert(std::is_trivially_copyable_v<State>);
        return {reinterpret_cast<std::uint8_t *>(&s), sizeof s};
    }

    Status load(const desynctool::Snapshot &from, const Session *session) override {
        const State before = s;
        if (session && !known(*session)) return Status::refused("there is no such map");
        if (Status filled = world_.fill(from); !filled) return filled;
        for (const Unit &u : s.units) {
            if (!u.alive || (static_cast<std::uint64_t>(u.x | u.y | u.goal_x | u.goal_y) < edge && u.owner < 2 && u.health > 0)) continue;
            return s = before, Status::refused("the state has a unit that cannot be");
        }
        s.grid = s.counted(); // a cache that is loaded may be what is wrong
        return {};
    }

    std::vector<std::string> stale_caches() override { return s.counted() == s.grid ? std::vector<std::string>() : std::vector<std::string>{"Grid"}; }

    /// Why an order would be ignored in any state.
    std::string validate(std::uint64_t, const Order &o) override {
        if (o.kind > stop) return "there is no such kind of order";
        if (o.player > 1) return "there is no such player";
        return o.payload.size() == sizeof(Payload) ? "" : "its payload has another size";
    }
    bool test(std::uint64_t, const Order &o) override { return ordered(o) != nullptr; }

    void predict(std::uint64_t tick, std::uint32_t, Orders orders) override {
        const State before = s;
        begin(tick, orders).check();
        while (next().more) {
        }
        s = before;
    }

private:
    static bool known(const Session &session) { return session.parameter("map", "plain") == "plain"; }

    /// The unit that an order is for, null if it is not possible now.
    Unit *ordered(const Order &o) {
        if (!validate(tick_, o).empty()) return nullptr;
        const Payload p = *desynctool::from_bytes<Payload>(o.payload);
        Unit *u = s.find(p.id);
        return u && u->owner == o.player && (o.kind != attack || s.find(p.target)) ? u : nullptr;
    }

    void obey() {
        for (const Order &o : orders_) {
            Unit *u = ordered(o);
            if (!u) continue;
            const Payload p = *desynctool::from_bytes<Payload>(o.payload);
            u->targeted = o.kind == attack, u->target = u->targeted ? p.target : 0;
            u->goal_x = o.kind == move ? p.x * one % edge : u->x;
            u->goal_y = o.kind == move ? p.y * one % edge : u->y;
        }
    }

    void walk() {
        for (Unit &u : s.units) {
            if (!u.alive) continue;
            const std::int64_t pace = (s.infantry(u) ? one / 4 : one / 2) / (s.grid[State::cell(u)] > 2 ? 2 : 1); // slow in a crowd
            s.grid[State::cell(u)]--;
            u.x = toward(u.x, u.goal_x, pace), u.y = toward(u.y, u.goal_y, pace);
            s.grid[State::cell(u)]++;
        }
    }

    void aim() {
        for (Unit &u : s.units) {
            const Unit *at = u.alive && u.targeted ? s.find(u.target) : nullptr;
            if (at && distance(u, *at) > 12 * one) u.goal_x = at->x, u.goal_y = at->y; // after it
            if (at || !u.alive) continue;
            const auto near = std::find_if(s.units.begin(), s.units.end(), [&](const Unit &v) { return v.alive && v.owner != u.owner && distance(u, v) < 16 * one; });
            u.targeted = near != s.units.end(), u.target = u.targeted ? near->id : 0;
        }
    }

    void fire() {
        for (Unit &u : s.units) {
            Unit *at = u.alive && u.targeted ? s.find(u.target) : nullptr;
            if (u.alive && u.cooldown) u.cooldown--;
            if (!at || u.cooldown || distance(u, *at) > 16 * one) continue;
            u.cooldown = s.infantry(u) ? 10 : 30;
            at->health -= static_cast<std::int32_t>(u.cooldown / 2u + s.random.draw(u.cooldown));
            if (at->health > 0) continue;
            at->alive = false, s.kills[u.owner]++;
            if (tick_ < fault) s.grid[State::cell(*at)]--;
        }
    }

    void reinforce() {
        for (std::uint8_t owner = 0; owner < 2 && tick_ % 20 == 0; owner++) s.spawn(s.random.draw(4) ? Type::infantry : Type::tank, owner);
    }

    static constexpr std::array<std::pair<const char *, void (Skirmish::*)()>, 5> systems_{{
        {"Orders", &Skirmish::obey}, {"Movement", &Skirmish::walk}, {"Targeting", &Skirmish::aim}, {"Combat", &Skirmish::fire}, {"Reinforcement", &Skirmish::reinforce}}};

    desynctool::World world_;
    std::uint64_t tick_ = 0; // the one that is being played
    Orders orders_;
    std::size_t system_ = 0; // the next one to run
};

// ---- Two peers that play

struct Peer {
    Skirmish game;
    desynctool::Recorder files;
    Random script{}; // of the player, which is not the game's
};

/// A scripted player looks at a unit. If that is its own it goes somewhere, attacks or stops, as its own machine has it.
bool script(Peer &p, std::uint32_t player, std::uint64_t tick, Payload &payload, Order &order) {
    auto any = [&]() -> const Unit & { return p.game.s.units[p.script.draw(2 * slots)]; };
    const Unit &u = any(), &at = any();
    const std::uint32_t dice = p.script.draw(8), x = p.script.draw(side * cell_size), y = p.script.draw(side * cell_size);
    const Command kind = dice < 4 ? move : dice < 7 ? attack : stop;
    payload = {u.id, at.id, x, y};
    order = {0, player, static_cast<std::uint32_t>(tick), kind, desynctool::bytes_of(payload)};
    return u.alive && u.owner == player && (kind != attack || (at.alive && at.owner != player));
}

desynctool::Hash secret_of(std::uint64_t key, std::size_t peer) {
    desynctool::Hash secret{};
    std::memcpy(secret.data(), &key, sizeof key);
    secret[8] = static_cast<std::uint8_t>(peer);
    return secret;
}

void record(const std::string &dir, std::uint64_t ticks, std::uint64_t seed, std::uint64_t fault, std::uint64_t key) {
    std::array<Peer, 2> peers;
    std::array<desynctool::TickSignatures, 2> chains;
    Session session;
    session.seed = seed, session.build = "1.0", session.rate_numerator = 20, session.rate_denominator = 1;
    session.kinds = peers[0].game.kinds(), session.peers = {"host", "client"}, session.parameters = {{"map", "plain"}};
    for (std::size_t i = 0; i < 2; i++) {
        Peer &p = peers[i];
        session.peer = session.peers[i];
        p.game.fault = i ? fault : never, p.script.rng = seed + i;
        p.game.start(session).check();
        p.files = desynctool::Recorder::create(dir, session, p.game.world(), desynctool::Detail::column).value();
        if (key) chains[i] = desynctool::TickSignatures::create(dir + "/" + session.peer + "/tick-signatures.bin", seed, session.peer,
                                                               p.game.world().hash().value(), secret_of(key, i)).value();
    }
    int parted = 0;
    for (std::uint64_t tick = 0;; tick++) {
        for (Peer &p : peers) {
            p.files.state(tick, p.game.world()).check();
            if (key) chains[static_cast<std::size_t>(&p - peers.data())].append(tick, p.files.root()).check();
            if (tick % 100 == 0 || tick == ticks || parted == 1) p.files.snapshot(p.game.world()).check();
        }
        parted += parted == 1;
        if (tick == ticks) break;
        std::array<Payload, 2> payloads;
        std::array<Order, 2> orders;
        std::size_t n = 0;
        for (std::uint32_t player = 0; player < 2; player++) n += script(peers[player], player, tick, payloads[n], orders[n]);
        for (Peer &p : peers) {
            p.files.tick(tick, Orders(orders.data(), n)).check();
            p.game.begin(tick, Orders(orders.data(), n)).check();
        }
        for (desynctool::Next next{"", true}; next.more;) {
            for (Peer &p : peers) next = p.game.next(), p.files.system(next.system, p.game.world()).check();
            if (parted || peers[0].files.root() == peers[1].files.root()) continue;
            std::cout << "the peers diverge in tick " << tick << ", in " << next.system << "\n";
            parted = 1;
        }
    }
    for (Peer &p : peers) p.files.close().check();
    for (auto &chain : chains)
        if (key) chain.close().check();
}

int main(int argc, char **argv) {
    const std::vector<std::string> args(argv + 1, argv + argc);
    std::map<std::string, std::uint64_t> numbers{{"--ticks", 600}, {"--seed", 1}, {"--fault", never}, {"--sign", 0}};
    const bool serve = !args.empty() && args[0] == "serve";
    bool usable = serve || (args.size() > 1 && args[0] == "record");
    for (std::size_t i = serve ? 1 : 2; usable && i < args.size(); i += 2) {
        usable = numbers.count(args[i]) && i + 1 < args.size();
        if (usable) numbers[args[i]] = std::strtoull(args[i + 1].c_str(), nullptr, 10);
    }
    if (!usable) {
        std::cerr << "skirmish: expected serve or record DIR, then --ticks N, --seed N, --fault TICK, --sign N\n";
        return 2;
    }
    if (serve) {
        Skirmish game;
        game.fault = numbers["--fault"];
        return desynctool::serve(game);
    }
    try {
        record(args[1], numbers["--ticks"], numbers["--seed"], numbers["--fault"], numbers["--sign"]);
    } catch (const desynctool::Error &e) {
        std::cerr << "skirmish: " << e.what() << "\n";
        return 2;
    }
    return 0;
}
