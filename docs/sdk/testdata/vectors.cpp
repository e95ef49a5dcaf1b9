// Writes what vectors.c writes, byte for byte, into the folder that is its argument, and checks what the layer over it does by itself:
// containers that grow, values that are not in memory as files have them, and states that are refused.
#include "../cpp/desynctool.hpp"

using namespace desynctool;

static void must(bool ok, const char *what) {
    if (ok) return;
    std::fprintf(stderr, "%s\n", what);
    std::exit(2);
}

static void must(const Status &s) { must(s.ok(), s.why().c_str()); }

template <class T> static T must(Result<T> r) {
    must(r.status());
    return std::move(r).value();
}

static Bytes unhex(const std::string &digits) {
    Bytes b;
    for (std::size_t i = 0; i < digits.size(); i += 2) b.push_back(static_cast<std::uint8_t>(std::stoul(digits.substr(i, 2), nullptr, 16)));
    return b;
}

static void snapshot(const std::string &dir) {
    struct Unit {
        std::uint64_t id;
        std::int64_t x;
        std::optional<std::int32_t> hp;
    };
    std::array<std::uint8_t, 8> rng = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
    std::vector<Unit> units = {{8, -16384, {}}, {3, 98304, 75}}; // in any order
    World w;
    w.rng(rng).archetype("Infantry", units).key(&Unit::id).column("Position", "x", fixed(65536), &Unit::x).column("Health", "hp", &Unit::hp);
    Point at;
    at.seed = 7, at.tick = 1242, at.peer = "host";
    must(w.write_snapshot(at, dir));
}

// All types, keys of two parts, several blocks, tables of all classes, a table without rows and one without columns.
static void everything(const std::string &dir) {
    enum class Mode : std::uint8_t {};
    struct Place {
        std::int64_t raw;
    };
    struct Row {
        std::uint32_t a, b;
        bool alive;
        bool has[16];
        bool flag;
        std::optional<std::int8_t> i8;
        std::int16_t i16;
        std::int32_t i32;
        std::int64_t i64;
        Place fixed;
        Mode u8;
        std::uint16_t u16;
        std::uint32_t u32;
        std::uint64_t u64;
        std::optional<std::uint32_t> ref; // narrower than keys in files
        float f32;
        double f64;
        char name[12];
        std::optional<Bytes> blob;
        std::optional<std::string> text;
    };
    constexpr std::size_t n = 20000;
    const std::string texts[] = {"", "gr\xc3\xbcn", "\xff\"\\\n", "a longer text than most"};
    std::vector<Row> rows(n);
    std::vector<std::uint32_t> numbers(n), few(3), none;
    std::uint64_t v = 1;
    for (std::size_t i = 0; i < n; i++) {
        Row &r = rows[i];
        for (bool &has : r.has) has = (v = v * 6364136223846793005u + 1442695040888963407u) >> 61 != 0;
        r.a = static_cast<std::uint32_t>(static_cast<std::uint32_t>(i) * 2654435761u) / 7; // in no order
        r.b = static_cast<std::uint32_t>(i);
        r.alive = i % 9 != 0, r.flag = i % 3 != 0;
        if (r.has[1]) r.i8 = static_cast<std::int8_t>(v >> 1);
        r.i16 = static_cast<std::int16_t>(v >> 2), r.i32 = static_cast<std::int32_t>(v >> 3), r.i64 = static_cast<std::int64_t>(v);
        r.fixed.raw = static_cast<std::int64_t>(v >> 40) - 9999;
        r.u8 = static_cast<Mode>(v >> 5), r.u16 = static_cast<std::uint16_t>(v >> 6), r.u32 = static_cast<std::uint32_t>(v >> 7), r.u64 = v;
        if (r.has[15]) r.ref = static_cast<std::uint32_t>(v >> 50);
        r.f32 = static_cast<float>(r.i32) / 3, r.f64 = static_cast<double>(r.i64) / 7;
        std::snprintf(r.name, sizeof r.name, "unit %u", static_cast<unsigned>(i));
        if (r.has[12]) r.text = texts[i % 4];
        if (r.has[14]) {
            r.blob.emplace();
            for (std::size_t k = 0; k < i % 8; k++) r.blob->push_back(static_cast<std::uint8_t>(v >> 8 * k));
        }
        numbers[i] = r.u32;
        if (i < 3) few[i] = r.u32;
    }
    World w;
    auto has = [](std::size_t i) { return [i](Row &r) -> auto & { return r.has[i]; }; };
    w.noise("Noise", few).column("Cell", "units", value);
    w.archetype("Zero", none).column("Cell", "units", value);
    auto pairs = w.archetype("Pairs", rows).alive(&Row::alive).key(&Row::a, &Row::b);
    std::size_t slot = 0;
    pairs.place([&](std::uint64_t, std::uint64_t second) { return slot++, static_cast<std::size_t>(second); });
    pairs.column("A", "bool", &Row::flag).present(has(0));
    pairs.column("A", "i8", &Row::i8).column("A", "i16", &Row::i16).present(has(2)).column("A", "i32", &Row::i32).present(has(3));
    pairs.column("A", "i64", &Row::i64).present(has(4)).column("A", "u8", &Row::u8).present(has(5)).column("A", "u16", &Row::u16);
    pairs.column("A", "u32", &Row::u32).present(has(7)).column("A", "u64", &Row::u64).present(has(8));
    pairs.column("A", "f32", &Row::f32).present(has(9)).column("A", "f64", &Row::f64).present(has(10));
    pairs.column("A", "fixed", fixed(1000), [](Row &r) -> auto & { return r.fixed.raw; }).present(has(11));
    pairs.column("A", "string", &Row::text).column("A", "name", &Row::name).present(has(13)).column("A", "bytes", &Row::blob);
    pairs.column("A", "ref", ref, &Row::ref);
    w.cache("Grid", numbers).column("Cell", "units", value);
    w.archetype("Keys", few);
    Point at;
    at.seed = 99, at.tick = 5, at.phase = "after-orders", at.native = "frame 9", at.peer = "host", at.epoch = 2;
    at.history = Hash{1, 2, 3}, at.properties = {{"os", "linux"}, {"build", "1.0"}};
    const Bytes first = must(w.snapshot(at));
    must(w.write_snapshot(at, dir));
    const Hash before = must(w.hash());
    const Snapshot s = must(Snapshot::open(dir + "/desync_0000000000000063_0000000005.snap"));
    const Point read = s.point();
    must(read.seed == 99 && read.tick == 5 && read.phase == "after-orders" && read.native == "frame 9" && read.peer == "host" && read.epoch == 2 &&
             read.history == at.history && read.properties == at.properties,
         "a point is read as another one");
    must(s.hash() == before && must(s.encode()) == first, "a state is read as another one");
    const auto table = s.table("Pairs");
    must(table && table->rows() == n - (n + 8) / 9 && s.tables().size() == 5 && !s.table("Noise") && s.table("Noise", TableClass::noise), "tables are not found");
    const auto names = table->column<std::string_view>("A", "name");
    const auto refs = table->column<std::uint64_t>("A", "ref", ref);
    must(names && refs && !table->column<std::uint64_t>("A", "ref") && !table->column<std::int32_t>("A", "i16"), "columns are not found by their types");
    for (std::size_t i = 0; i < table->rows(); i++) {
        const Row &r = rows[table->key2(i)];
        must(table->key(i) == r.a && names->has(i) == r.has[13] && (!r.has[13] || (*names)[i] == r.name), "a row is read as another one");
        must(refs->has(i) == r.ref.has_value() && (*refs)[i] == r.ref.value_or(0), "a reference is read as another one");
    }
    for (Row &r : rows) {
        const std::uint32_t b = r.b;
        r = Row();
        r.b = b, r.text = "old", r.fixed.raw = 7;
    }
    for (auto &number : numbers) number = 0;
    for (auto &number : few) number = 0;
    must(w.fill(s));
    must(must(w.hash()) == before && slot == table->rows() && !rows[0].alive && !rows[0].text && rows[0].fixed.raw == 0, "a state that was filled in is another one");
}

// A std::vector gets as many elements as a state has rows; what does not fit is refused, and nothing is written.
static void fills() {
    struct Unit {
        std::uint16_t id = 0;
        std::string name;
        std::int16_t x = 0;
        std::uint16_t target = 0;
        std::int32_t other = 5; // not described
        struct {
            double hp = 0;
        } inner;
        bool operator==(const Unit &u) const { return id == u.id && name == u.name && x == u.x && target == u.target && other == u.other && inner.hp == u.inner.hp; }
    };
    auto describe = [](World &w, std::vector<Unit> &units, std::vector<std::uint8_t> &levels, std::uint32_t &rng) {
        w.rng(rng).archetype("Unit", units).key(&Unit::id).column("A", "name", &Unit::name).array("A", "level", levels)
            .column("A", "x", fixed(256), &Unit::x).column("A", "target", ref, &Unit::target)
            .computed("A", "hp", [](const Unit &u) { return u.inner.hp * 2; }, [](Unit &u, double hp) { u.inner.hp = hp / 2; });
    };
    std::vector<Unit> units(3);
    std::vector<std::uint8_t> levels = {1, 2, 3};
    std::uint32_t rng = 9;
    World from;
    describe(from, units, levels, rng);
    for (std::size_t i = 0; i < 3; i++) units[i].id = static_cast<std::uint16_t>(30 - 10 * i), units[i].name = std::string(i, 'x'), units[i].x = -7, units[i].target = 9, units[i].inner.hp = 1.5, units[i].other = 6;
    const Snapshot s = must(Snapshot::read(must(from.snapshot({}))));

    std::vector<Unit> loaded(1);
    std::vector<std::uint8_t> other(1);
    std::uint32_t seed = 0;
    World to;
    describe(to, loaded, other, seed);
    must(to.fill(s));
    must(must(to.hash()) == must(from.hash()) && loaded.size() == 3 && loaded[0].id == 10 && loaded[0].name == "xx" && loaded[2].name.empty() && loaded[1].x == -7 &&
             loaded[0].inner.hp == 1.5 && loaded[0].other == 5 && other == std::vector<std::uint8_t>({3, 2, 1}) && seed == 9,
         "a vector is filled in wrongly");

    // Refused, and as before.
    auto refuses = [&](World &w, std::vector<Unit> &u) {
        const auto before = u;
        must(!w.fill(s).ok() && u == before, "a state that does not fit is taken or written");
    };
    World lacks;
    lacks.rng(seed).archetype("Unit", loaded).key(&Unit::id);
    refuses(lacks, loaded);
    World more;
    describe(more, loaded, other, seed);
    more.archetype("Tank", loaded).key(&Unit::id);
    refuses(more, loaded);
    World no_rng;
    std::uint64_t longer = 0;
    describe(no_rng, loaded, other, seed);
    no_rng.rng(longer);
    refuses(no_rng, loaded);

    // A number that the game's type has no room for.
    struct Wide {
        std::uint64_t id = 1, target = 0;
        std::int64_t x = 0;
    };
    struct Narrow {
        std::uint64_t id = 1;
        std::uint8_t target = 0;
        std::uint16_t x = 0;
    };
    std::vector<Wide> wide(2);
    std::vector<Narrow> narrow(7);
    wide[1].id = 2;
    World big, small;
    big.archetype("T", wide).key(&Wide::id).column("A", "target", ref, &Wide::target).column("A", "x", fixed(2), &Wide::x);
    small.archetype("T", narrow).key(&Narrow::id).column("A", "target", ref, &Narrow::target).column("A", "x", fixed(2), &Narrow::x);
    for (const auto &[target, x, fits] : {std::tuple(255ull, 65535ll, true), std::tuple(256ull, 0ll, false), std::tuple(0ull, -1ll, false), std::tuple(0ull, 65536ll, false)}) {
        wide[1].target = target, wide[1].x = x, narrow.resize(7);
        const Snapshot state = must(Snapshot::read(must(big.snapshot({}))));
        must(small.fill(state).ok() == fits && narrow.size() == (fits ? 2u : 7u), "a number that is too large is taken, or one that is not is refused");
    }

    // Mistakes in a description are said when it is used.
    World outside, uneven, odd;
    static int elsewhere[2];
    outside.archetype("Unit", loaded).key(&Unit::id).column("A", "x", [](Unit &) -> int & { return elsewhere[0]; });
    std::vector<std::uint8_t> two(2);
    uneven.archetype("Unit", loaded).key(&Unit::id).array("A", "level", two);
    odd.archetype("Unit", loaded).present([](Unit &u) -> auto & { return reinterpret_cast<std::uint8_t &>(u.id); });
    must(!outside.hash() && !uneven.hash() && !odd.hash(), "a description that is wrong is used");
    must(!Snapshot::read({1, 2, 3}) && !Snapshot::open("/dev/null/none"), "what is not a snapshot is read");
    Session nul;
    nul.peer = std::string("a\0b", 3);
    must(!OrderLog::create("/dev/null/none", nul), "a name with a NUL is taken");
}

static void order_log(const std::string &dir) {
    const Bytes chat = {0x67, 0x67}, move = {0x93, 1, 0xcd, 4, 0}, quick = {0xbe, 0xef}, start = unhex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    Session s;
    s.seed = 7, s.peer = "host", s.build = "1.0", s.rate_numerator = 30, s.rate_denominator = 1;
    s.kinds = {{"move"}, {"chat", true}}, s.peers = {"host", "client"}, s.parameters = {{"map", "green valley"}};
    std::copy(start.begin(), start.end(), s.start.emplace().begin());
    const Order orders[] = {{16667, 1, 4, 1, chat}, {16667, 2, 17, 0, move}};
    Marker marker;
    marker.kind = MarkerKind::save, marker.point = 1, marker.text = "autosave";
    OrderLog l = must(OrderLog::create(dir + "/order-log.bin", s));
    must(l.checksum(0, unhex("b5c8bea2d1f6a904")));
    must(l.tick(0, {}));
    must(l.marker(marker));
    must(l.tick(1, orders));
    must(l.hash(2, 0, "sync", "", unhex("0f1e2d3c4b5a6978")));
    must(l.hash(2, 1, "sync", "quick", quick));
    must(l.close());
    must(l.close()); // a second close does nothing
    const SyncHash empty = must(input_hash(s.kinds, 0, {}));
    must(Bytes(empty.begin(), empty.end()) == unhex("df3f619804a92fdb"), "the input hash of nothing is another one");
}

static void epochs(const std::string &dir) {
    Session s;
    s.seed = 7, s.peer = "host";
    const Hash root = {1};
    Marker load;
    OrderLog l = must(OrderLog::create(dir + "/epochs.bin", s));
    must(l.state(0, root));
    must(l.tick(0, {}));
    must(l.state(1, root));
    load.kind = MarkerKind::load, load.point = 1, load.new_epoch = true, load.text = "quicksave", load.history = l.history();
    must(l.tick(1, {}));
    must(l.marker(load));
    must(!l.marker(load).ok(), "a second epoch in one tick is taken");
    must(l.state(1, root));
    must(l.tick(1, {}));
    must(!l.tick(1, {}).ok(), "a tick that does not ascend is taken");
    must(l.state(2, root));
    must(l.close());
}

static void trace(const std::string &dir) {
    Session s;
    s.seed = 7, s.peer = "host", s.build = "1.0", s.rate_numerator = 30, s.rate_denominator = 1, s.parameters = {{"map", "green valley"}};
    Trace t = must(Trace::create(dir + "/host.trace", s));
    must(t.add({0, "Movement", "Infantry", false, {{"", unhex("6a09e667bb67ae85")}}, 250}));
    must(t.add({0, "Combat", "", false, {{"rng", unhex("510e")}}, {}}));
    must(t.add({1, "Movement", "Infantry", true, {{"", unhex("9b05688c2b3e6c1f")}}, 250}));
    must(t.event({EventKind::input, 1, 0, 2, true, {{"", unhex("beef")}}}));
    must(t.event({EventKind::save, 1, 0, 0, false, {{"", unhex("1f83d9ab")}}}));
    must(t.event({EventKind::restore, 1, 3, 0, false, {{"", unhex("1f83d9ab")}}}));
    must(t.event({EventKind::resimulate, 1, 2, 0, false, {}}));
    must(t.add({1, "two words", "", false, {{"", {0}}}, {}}));
    must(t.close());
}

// A peer that plays two ticks, is away, and goes on with the host's state of point 9; at point 80 it reports on its state.
static void recorder(const std::string &dir) {
    std::array<std::int32_t, 3> hp = {7, 8, 9};
    std::uint64_t rng = 5;
    const Bytes payload = {0x0a, 0xff, 0x00};
    World w;
    w.rng(rng).archetype("Unit", hp).column("Health", "hp", value);
    w.archetype("Cell", Span<std::int32_t>(hp.data(), 1)).column("Health", "hp", value);
    Session s;
    s.seed = 11, s.peer = "client", s.build = "1.0", s.kinds = {{"move"}, {"chat\n\"", true}}, s.peers = {"host", "client"}, s.parameters = {{"map", "green valley"}};
    const Order orders[] = {{0, 1, 0, 0, payload}, {2, 1, 1, 1, {}}};
    auto first = [&](std::uint64_t n) { return Orders(orders, static_cast<std::size_t>(n)); };
    Marker back;
    back.kind = MarkerKind::reconnect, back.peer = 1, back.point = 9, back.new_epoch = true, back.history = Hash{9}, back.text = "from the host";
    Recorder r = must(Recorder::create(dir, s, w, Detail::no_trace));
    must(r.facts({{"os", "linux"}, {"map", "another"}, {"locale", "de_DE.UTF-8"}}));
    must(!r.system("Move", w), "a system before the first tick is not refused");
    std::uint64_t tick;
    for (tick = 0; tick < 2; tick++, rng++) must(r.state(tick, w)), must(r.tick(tick, first(tick)));
    must(r.state(2, w));
    must(!r.system("Move", w), "a system between two ticks is not refused");
    must(r.report(w, 1, {}));
    for (rng = 9, tick = 9; tick < 80; tick++, rng++) {
        if (tick == 9) must(r.marker(back));
        must(r.state(tick, w));
        if (tick == 9) must(r.snapshot(w)), must(r.history() == back.history, "the history goes on from another hash");
        must(r.tick(tick, first(tick % 3)));
        must(r.system("Move", w)); // which writes nothing
    }
    must(r.state(80, w));
    must(r.report(w, -1, {"Unit", "Cell"}));
    must(!r.report(w, -1, {"Nobody"}).ok(), "an archetype that is not there is reported");
    must(r.root() == must(w.hash()), "the root is another one");
    must(r.close());
}

int main(int argc, char **argv) {
    must(argc == 2, "expected a folder");
    snapshot(argv[1]);
    everything(argv[1]);
    fills();
    order_log(argv[1]);
    epochs(argv[1]);
    trace(argv[1]);
    recorder(argv[1]);
    return 0;
}
