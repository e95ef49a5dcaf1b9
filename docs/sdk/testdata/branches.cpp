/* SPDX-License-Identifier: MIT-0
   Copyright 2026 The desynctool authors */
/* A small game in C++ whose builds differ by one mistake, -DFAULT=N: a test looks for the lines of "FAULT N" and "SOUND N".
   The build without a mistake has FAULT 0. Mistakes from 20 on are flags of the compiler, for the same source. With -DSERVED
   this file is what serves requests, which is not instrumented, else the simulation. */
#include <array>
#include <cstddef>
#include <cstdint>

#ifndef FAULT
#define FAULT 0
#endif

constexpr std::uint32_t from = 40; // the tick from which the mistake shows

struct Unit { std::uint32_t id = 0; std::int32_t x = 0, y = 0, hp = 0, target = 0, rank = 0; };
struct State {
    std::uint32_t tick = 0, rng = 0;
    std::array<Unit, 64> units{};
};

struct Simulation {
    State s;
    void start(std::uint64_t seed), orders(), morale(), move(), combat(), rank();
    bool late() const { return s.tick >= from; }
    std::uint32_t draw(std::uint32_t n) { return s.rng = s.rng * 1664525u + 1013904223u, (s.rng >> 8) % n; }
    void damage(const Unit &u, Unit &t), weather();
    int hearing() const;
};

#ifdef SERVED
#include "../c/desynctool_branches.h"
#include "../cpp/desynctool.hpp"

class Game : public desynctool::Game, public desynctool::Systems, public desynctool::HasWorld, public desynctool::Memory,
             public desynctool::Branches {
public:
    Game() {
        world_.archetype("Unit", sim_.s.units).key(&Unit::id)
            .column("Unit", "x", &Unit::x).column("Unit", "y", &Unit::y).column("Unit", "hp", &Unit::hp)
            .column("Unit", "target", &Unit::target).column("Unit", "rank", &Unit::rank);
        world_.rng(sim_.s.rng);
    }
    std::string name() const override { return "branches"; }
    std::string build() const override { return "1"; }
    std::vector<desynctool::Kind> kinds() const override { return {}; }
    desynctool::Status start(const desynctool::Session &session) override { return sim_.start(session.seed), desynctool::Status(); }
    desynctool::Status begin(std::uint64_t, desynctool::Orders) override { return system_ = 0, desynctool::Status(); }
    desynctool::Next next() override {
        static constexpr std::pair<const char *, void (Simulation::*)()> systems[] = {
            {"Orders", &Simulation::orders}, {"Morale", &Simulation::morale}, {"Move", &Simulation::move},
            {"Combat", &Simulation::combat}, {"Rank", &Simulation::rank}};
        const auto &[name, run] = systems[system_++];
        (sim_.*run)();
        if (system_ == std::size(systems)) sim_.s.tick++;
        return {name, system_ < std::size(systems)};
    }
    desynctool::World &world() override { return world_; }
    desynctool::Span<std::uint8_t> memory() override { return {reinterpret_cast<std::uint8_t *>(&sim_.s), sizeof sim_.s}; }
    decltype(desync_target::branches) branches() override { return desync_branches; }

private:
    Simulation sim_;
    desynctool::World world_;
    std::size_t system_ = 0;
};

int main() {
    Game game;
    return desynctool::serve(game);
}

#else
#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <clocale>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string>
#include <thread>
#include <unordered_map>

void Simulation::start(std::uint64_t seed) {
#if FAULT == 7
    if (!std::setlocale(LC_NUMERIC, "de_DE")) std::abort();
#endif
    s = State();
    s.rng = static_cast<std::uint32_t>(seed);
    for (Unit &u : s.units) {
        u.id = static_cast<std::uint32_t>(&u - s.units.data()) + 1;
        u.hp = 20 + static_cast<int>(draw(80)), u.x = static_cast<int>(draw(100)), u.y = static_cast<int>(draw(100));
        u.target = static_cast<int>(draw(64));
    }
}

void Simulation::orders() {
    for (Unit &u : s.units) {
#if FAULT == 4
        if (late() && u.id == 18) continue; // FAULT 4: an order that is skipped
#endif
        if (draw(20) == 0) u.target = static_cast<int>(draw(64)); // SOUND 4:
    }
}

template <class T> static T far(T a, T b) { return a < b ? b - a : a - b; }
static int distance(const Unit &a, const Unit &b) { return far(a.x, b.x) + far(a.y, b.y); }

void Simulation::damage(const Unit &u, Unit &t) {
#if FAULT == 1
    const int most = late() ? 43 : 40; // FAULT 1: a constant
#else
    const int most = 40;
#endif
    const int d = distance(u, t);
#if FAULT == 2
    if (late() ? d <= 30 : d < 30) { // FAULT 2: an off-by-one
#else
    if (d < 30) { // SOUND 2:
#endif
        t.hp -= 3; // SOUND 2:
    } else if (d < most) { // SOUND 2: SOUND 1:
        t.hp -= 1; // SOUND 2: SOUND 1:
    }
    if (t.hp <= 0) {
        t.hp += 100;
        t.x = static_cast<int>(draw(100));
    }
}

void Simulation::combat() {
    for (Unit &u : s.units) damage(u, s.units[static_cast<std::size_t>(u.target)]);
}

/* Values from a file: as text, with a point. */
static double parsed(const std::string &text) {
    std::size_t used = 0;
    double v = std::stod(text, &used);
    if (used < text.size()) return v - 1; // FAULT 7: the locale's decimal point
    return v;
}

/* With fused multiplication the second product is not rounded. */
__attribute__((noinline)) static float product(float a, float b) { return a * b; }
static float fused(float a, float b) { return a * b - product(a, b); }

/* The first one that a unit hears. */
int Simulation::hearing() const {
#if FAULT == 8
    if (late()) {
        std::unordered_map<std::uint32_t, int> near; // FAULT 8: the order of a hash table
        for (const Unit &u : s.units) near[u.id * 7919] = u.hp; // FAULT 8:
        for (const auto &[id, hp] : near) // FAULT 8:
            if (hp > 60) return static_cast<int>(id / 7919); // FAULT 8:
    }
#endif
    std::map<std::uint32_t, int> near; // SOUND 8:
    for (const Unit &u : s.units) near[u.id * 7919] = u.hp; // SOUND 8:
    for (const auto &[id, hp] : near)
        if (hp > 60) return static_cast<int>(id / 7919);
    return 0;
}

#if FAULT == 9
static int raced() {
    static volatile int shared;
    std::atomic<int> started{0};
    auto hurry = [&] {
        for (started++; started < 2;) std::this_thread::yield();
        for (int i = 0; i < 100; i++) {
            const int had = shared;
            std::this_thread::yield();
            shared = had + 1;
        }
    };
    shared = 0;
    std::thread one(hurry), two(hurry);
    one.join(), two.join();
    return shared;
}
#endif

__attribute__((noinline)) static void used_stack() {
    volatile int old[64];
    for (volatile int &v : old) v = 7;
}

__attribute__((noinline)) static int bonus_of(const Unit &u, bool late) {
    volatile int bonus[32];
#if FAULT == 6
    if (!late || u.rank % 3) bonus[20] = 0; // FAULT 6: it has no value for some
#else
    (void)u, (void)late;
    bonus[20] = 0;
#endif
    return bonus[20];
}

// What the sound build does from some tick on too.
void Simulation::weather() {
    for (Unit &u : s.units) {
        if (late() && u.id % 8 == 0 && fused(static_cast<float>(u.x) * 1.1f, static_cast<float>(u.y) * 0.7f) > 0) u.y++; // FAULT 21:
        if (late() && u.id == 5 && parsed("2.5") < 2) u.y++; // FAULT 7: SOUND 7:
    }
}

void Simulation::morale() {
    for (Unit &u : s.units) {
        used_stack();
        const int bonus = bonus_of(u, late());
        if (bonus != 0) u.y++; // FAULT 6: SOUND 6:
        bool counted = false;
        assert((counted = true)); // FAULT 20:
        if (late() && u.id == 9 && !counted) u.y++; // FAULT 20: without assertions
        if (u.id == 7) u.target = hearing() % 64;
#if FAULT == 9
        if (late() && u.id % 8 == 3 && raced() < 200) u.y = static_cast<int>(draw(100)); // FAULT 9: a race of two threads
#endif
#if FAULT == 10
        if (late() && u.id > 4 && static_cast<std::int16_t>(u.x * 700) < 0) u.y++; // FAULT 10: a number that is too small for its values
#endif
    }
    weather();
}

void Simulation::move() {
    for (Unit &u : s.units) {
        const Unit &t = s.units[static_cast<std::size_t>(u.target)];
#if FAULT == 3
        if (late() && std::chrono::system_clock::now().time_since_epoch().count() > 1000) u.y++; // FAULT 3: a clock
#endif
        if (u.x < t.x) u.x++;
        else if (u.x > t.x) u.x--;
        if (draw(4) == 0) u.y = (u.y + 1) % 100;
    }
}

void Simulation::rank() {
    std::array<int, 64> order{};
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [this](int a, int b) { // SOUND 5:
        const Unit &x = s.units[static_cast<std::size_t>(a)], &y = s.units[static_cast<std::size_t>(b)];
#if FAULT == 5
        if (late()) return x.hp < y.hp; // FAULT 5: ties
#endif
        return x.hp != y.hp ? x.hp < y.hp : x.id < y.id; // SOUND 5:
    });
    for (int i = 0; i < 64; i++) s.units[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])].rank = i;
}
#endif
