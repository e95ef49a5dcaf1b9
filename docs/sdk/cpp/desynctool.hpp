// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

// desynctool.hpp: desync forensics for a deterministic game in C++17. Header only: copy this file and desynctool.h (in ../c)
// into one folder, and include this one wherever it is needed. There is nothing to define and nothing to link. The formats are
// written and read by desynctool.h; a game sees none of it.
//
// In the order in which a game takes it in:
//
//     World           a description of the state: tables over the game's own containers, columns by member pointers
//     World::hash     the hash by which peers compare states
//     Recorder        the files of one peer: order log, trace, snapshots, and its report when states differ
//     serve           replays for desynctool: `desynctool replay s/host --sim "exec:./mygame --headless"`
//     World::fill     puts a state that was read (Snapshot) into the game's containers, or refuses it
//     OrderLog, Trace the files by themselves
//     TickSignatures  state hashes that the peer signed; CheckedSignatures reads them
//
// skirmish.cpp next to this file is a whole small game. docs/snapshot.md, docs/merkle.md, docs/orderlog.md,
// docs/trace.md, docs/peer-report.md and docs/extsim.md describe the formats.
//
// Nothing here throws. What can go wrong returns a Status or a Result, which must be looked at; check() and value() throw an Error
// for who likes that better. With -fno-exceptions these two end the process with the text on stderr. RTTI is not needed.
//
// What it does not do is what desynctool.h does not do (compressed snapshots), and WebAssembly, which takes desynctool.h itself.
#ifndef DESYNCTOOL_HPP
#define DESYNCTOOL_HPP

#if defined(__wasm__)
#error "in WebAssembly a game uses desynctool.h itself"
#endif

#ifndef DESYNCTOOL_IMPLEMENTATION
#define DESYNCTOOL_IMPLEMENTATION
#define DESYNCTOOL_INLINE
#if __has_include("desynctool.h")
#include "desynctool.h"
#else
#include "../c/desynctool.h"
#endif
#undef DESYNCTOOL_IMPLEMENTATION
#undef DESYNCTOOL_INLINE
#else
#error "desynctool.hpp includes the implementation by itself: do not define DESYNCTOOL_IMPLEMENTATION"
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace desynctool {

// ---- What comes back

/// What check() and value() throw.
class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Whether something worked, and else why it did not.
class [[nodiscard]] Status {
public:
    Status() = default;
    static Status refused(std::string why) {
        Status s;
        s.why_ = why.empty() ? "refused" : std::move(why);
        return s;
    }

    bool ok() const { return why_.empty(); }
    explicit operator bool() const { return ok(); }

    /// Why not; empty if it worked.
    const std::string &why() const { return why_; }

    /// Throws an Error if it did not work.
    void check() const {
        if (ok()) return;
#if defined(__cpp_exceptions)
        throw Error(why_);
#else
        std::fprintf(stderr, "%s\n", why_.c_str());
        std::exit(2);
#endif
    }

private:
    std::string why_;
};

/// A value, or why there is none.
template <class T> class [[nodiscard]] Result {
public:
    Result(T value) : value_(std::move(value)) {}
    Result(Status why) : status_(std::move(why)) {}

    bool ok() const { return value_.has_value(); }
    explicit operator bool() const { return ok(); }
    const Status &status() const { return status_; }
    const std::string &why() const { return status_.why(); }

    /// The value; throws an Error if there is none.
    T &value() & { return status_.check(), *value_; }
    T value() && { return status_.check(), std::move(*value_); }

private:
    Status status_;
    std::optional<T> value_;
};

using Hash = std::array<std::uint8_t, 32>;
using SyncHash = std::array<std::uint8_t, 8>; // the first bytes of a Hash
using Bytes = std::vector<std::uint8_t>;
using Texts = std::map<std::string, std::string>; // by ascending key

/// Elements that lie one after the other and belong to another container.
template <class T> class Span {
public:
    constexpr Span() = default;
    constexpr Span(T *data, std::size_t size) : data_(data), size_(size) {}
    template <class C, class = std::enable_if_t<std::is_convertible_v<decltype(std::data(std::declval<C &>())), T *>>>
    constexpr Span(C &&c) : data_(std::data(c)), size_(std::size(c)) {}

    constexpr T *data() const { return data_; }
    constexpr std::size_t size() const { return size_; }
    constexpr bool empty() const { return size_ == 0; }
    constexpr T *begin() const { return data_; }
    constexpr T *end() const { return data_ + size_; }
    constexpr T &operator[](std::size_t i) const { return data_[i]; }

private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

using ByteView = Span<const std::uint8_t>;

/// The bytes of a struct, such as the payload of an order. It must have no padding, since padding may have any bytes.
template <class T> ByteView bytes_of(const T &value) {
    static_assert(std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>, "a struct without padding and pointers");
    return {reinterpret_cast<const std::uint8_t *>(&value), sizeof value};
}

/// A struct from its bytes, if they are as many.
template <class T> std::optional<T> from_bytes(ByteView bytes) {
    static_assert(std::is_trivially_copyable_v<T>, "a struct without pointers");
    T value;
    if (bytes.size() != sizeof value) return std::nullopt;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

namespace detail {

inline Status status(const char *err) { return err ? Status::refused(err) : Status(); }

inline bool has_nul(const std::string &s) { return s.find('\0') != std::string::npos; }
inline bool has_nul(const Texts &texts) {
    for (const auto &[key, value] : texts)
        if (has_nul(key) || has_nul(value)) return true;
    return false;
}

inline std::vector<desync_param> params(const Texts &texts) {
    std::vector<desync_param> list;
    list.reserve(texts.size());
    for (const auto &[key, value] : texts) list.push_back({key.c_str(), value.c_str()});
    return list;
}

struct Buffer : desync_buffer {
    Buffer() : desync_buffer{nullptr, 0, 0, 0} {}
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    ~Buffer() { desync_free(this); }
    Bytes bytes() const { return len ? Bytes(data, data + len) : Bytes(); }
};

} // namespace detail

// ---- The state

enum class TableClass { archetype = DESYNC_ARCHETYPE, cache = DESYNC_CACHE, noise = DESYNC_NOISE };

/// What a column is, where its C++ type does not show it: ref, the key of another entity; fixed(scale), an integer in
/// units of 1/scale.
struct As {
    int type;
    std::uint32_t scale;
};
inline constexpr As ref{DESYNC_REF, 0};
constexpr As fixed(std::uint32_t scale) { return {DESYNC_FIXED, scale}; }

/// The column of a container of plain numbers: `world.cache("Grid", grid).column("Cell", "units", value)`.
struct Value {
    template <class T> T &operator()(T &v) const { return v; }
};
inline constexpr Value value{};

/// The point of a snapshot, and the rest of its header.
struct Point {
    std::uint64_t seed = 0, tick = 0; // state T is the one before the orders of tick T
    std::string phase;                // empty, or "after-orders" inside of the tick
    std::string native, peer;
    std::uint32_t epoch = 0;
    std::optional<Hash> history;
    Texts properties;
};

namespace detail {

template <class T> struct IsOptional : std::false_type {};
template <class T> struct IsOptional<std::optional<T>> : std::true_type { using Inner = T; };
template <class T> struct IsByteArray : std::false_type {};
template <std::size_t N> struct IsByteArray<std::array<std::uint8_t, N>> : std::true_type {};
template <class T> inline constexpr bool is_char_array = std::is_array_v<T> && std::is_same_v<std::remove_extent_t<T>, char>;
template <class T> inline constexpr bool is_scalar = std::is_arithmetic_v<T> || std::is_enum_v<T>;

template <class T, bool = std::is_enum_v<T>> struct Plain { using type = T; };
template <class T> struct Plain<T, true> { using type = std::underlying_type_t<T>; };

/// The type of the column that a C++ type is.
template <class T> constexpr int type_of() {
    if constexpr (IsOptional<T>::value) {
        return type_of<typename IsOptional<T>::Inner>();
    } else if constexpr (std::is_same_v<T, std::string> || is_char_array<T>) {
        return DESYNC_STRING;
    } else if constexpr (std::is_same_v<T, Bytes> || IsByteArray<T>::value) {
        return DESYNC_BYTES;
    } else {
        static_assert(is_scalar<T>, "a column is a bool, number, enum, string, bytes, or a std::optional of these");
        using P = typename Plain<T>::type;
        static_assert(!std::is_same_v<P, char> && !std::is_same_v<P, long double>, "a type that is not the same on all machines");
        if constexpr (std::is_same_v<P, bool>) return DESYNC_BOOL;
        else if constexpr (std::is_same_v<P, float>) return DESYNC_F32;
        else if constexpr (std::is_same_v<P, double>) return DESYNC_F64;
        else {
            constexpr int log = sizeof(P) == 1 ? 0 : sizeof(P) == 2 ? 1 : sizeof(P) == 4 ? 2 : 3;
            return (std::is_signed_v<P> ? DESYNC_I8 : DESYNC_U8) + log;
        }
    }
}

inline constexpr std::size_t widths[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 0, 0, 8};

/// Where the rows of a table lie.
struct Rows {
    virtual ~Rows() = default;
    virtual void *data() = 0;
    virtual std::size_t size() = 0;
    virtual bool grows() const = 0;
    virtual void renew(std::size_t) {} // n fresh elements, until undo
    virtual void undo() {}
    virtual void forget() {}
};

template <class T> struct RowsOfSpan final : Rows {
    Span<T> span;
    explicit RowsOfSpan(Span<T> s) : span(s) {}
    void *data() override { return const_cast<std::remove_const_t<T> *>(span.data()); }
    std::size_t size() override { return span.size(); }
    bool grows() const override { return false; }
};

template <class T> struct RowsOfVector final : Rows {
    std::vector<T> *of;
    std::vector<T> before;
    explicit RowsOfVector(std::vector<T> &v) : of(&v) {}
    void *data() override { return of->data(); }
    std::size_t size() override { return of->size(); }
    bool grows() const override { return true; }
    void renew(std::size_t n) override { before = std::exchange(*of, std::vector<T>(n)); }
    void undo() override { *of = std::move(before), before = {}; }
    void forget() override { before = {}; }
};

/// A value that is not in the game's memory as a file has it.
struct Cell {
    alignas(8) unsigned char bytes[sizeof(desync_bytes)];
    unsigned char present;
};

using At = std::function<void *(void *row)>;

struct Column {
    std::string component, field;
    As as{0, 0};
    std::size_t size = 0;      // of an array
    At at, present;            // where the value is in a row; the byte that is set if there is one
    std::unique_ptr<Rows> own; // values in a separate container
    std::function<void(void *row, Cell &)> get;
    std::function<void(void *row, const Cell &)> set;
    std::function<bool(const void *)> fits; // whether a value of a file has room
    std::vector<Cell> cells;
    bool optional = false; // the cells show which rows have no value
};

struct TableOf {
    std::string label;
    TableClass kind = TableClass::archetype;
    std::unique_ptr<Rows> rows;
    std::size_t stride = 0, key_size = 0;
    At alive, key, key2;
    std::function<std::size_t(std::uint64_t, std::uint64_t)> place;
    std::vector<Column> columns;
    std::vector<desync_column> described;
    std::string wrong; // what is wrong with the description
};

/// Puts a number into a cell in the type of its column, and takes it out again.
template <class T> void put_number(Cell &cell, int type, T v) {
    auto whole = [&](auto as) { std::memcpy(cell.bytes, &as, sizeof as); };
    using P = typename Plain<T>::type;
    if (type == DESYNC_FIXED) whole(static_cast<std::int64_t>(static_cast<P>(v)));
    else if (type == DESYNC_REF) whole(static_cast<std::uint64_t>(static_cast<P>(v)));
    else whole(static_cast<P>(v));
}

template <class T> T take_number(const Cell &cell, int type) {
    using P = typename Plain<T>::type;
    auto whole = [&](auto as) { return std::memcpy(&as, cell.bytes, sizeof as), static_cast<T>(as); };
    if (type == DESYNC_FIXED) return whole(std::int64_t());
    if (type == DESYNC_REF) return whole(std::uint64_t());
    if constexpr (std::is_same_v<P, bool>) return cell.bytes[0] != 0;
    else return whole(P());
}

template <class T> bool fits_number(const void *value, int type) {
    using P = typename Plain<T>::type;
    if constexpr (std::is_integral_v<P> && !std::is_same_v<P, bool>) {
        std::int64_t i;
        std::uint64_t u;
        if (type == DESYNC_FIXED) {
            std::memcpy(&i, value, 8);
            return static_cast<std::int64_t>(static_cast<P>(i)) == i && (std::is_signed_v<P> || i >= 0);
        }
        if (type == DESYNC_REF) {
            std::memcpy(&u, value, 8);
            return static_cast<std::uint64_t>(static_cast<P>(u)) == u;
        }
    }
    return true;
}

inline void put_run(Cell &cell, const void *data, std::size_t n) {
    const desync_bytes run = {data, n};
    std::memcpy(cell.bytes, &run, sizeof run);
}

inline std::string_view take_run(const Cell &cell) {
    desync_bytes run;
    std::memcpy(&run, cell.bytes, sizeof run);
    return run.len ? std::string_view(static_cast<const char *>(run.data), run.len) : std::string_view();
}

/// Any value that a cell can have.
template <class T> void put(Cell &cell, int type, const T &v) {
    cell.present = 1;
    if constexpr (IsOptional<T>::value) {
        if (v) put(cell, type, *v);
        else cell.present = 0;
    } else if constexpr (is_scalar<T>) {
        put_number(cell, type, v);
    } else {
        put_run(cell, v.data(), v.size());
    }
}

template <class T> T take(const Cell &cell, int type) {
    if constexpr (IsOptional<T>::value) {
        if (!cell.present) return std::nullopt;
        return take<typename IsOptional<T>::Inner>(cell, type);
    } else if constexpr (is_scalar<T>) {
        return take_number<T>(cell, type);
    } else {
        const std::string_view run = take_run(cell);
        return T(run.begin(), run.end());
    }
}

} // namespace detail

/// The description of a table with rows of type Row. Columns are given by member pointers, or by lambdas that return a
/// reference to a field of the row: `[](Unit &u) -> auto & { return u.at.x; }`.
template <class Row> class Table {
public:
    explicit Table(detail::TableOf &t) : t_(&t) {}

    /// The key of a row, an unsigned integer that no other row has. Without one it is the number of the row.
    template <class K> Table &key(K key) { return t_->key = part(key), *this; }

    /// A key of two parts of the same type.
    template <class K, class L> Table &key(K first, L second) {
        static_assert(sizeof(std::invoke(first, std::declval<Row &>())) == sizeof(std::invoke(second, std::declval<Row &>())),
                      "both parts of a key have the same size");
        return t_->key = part(first), t_->key2 = part(second), *this;
    }

    /// The byte or bool that is set if a slot is a row.
    template <class A> Table &alive(A alive) { return t_->alive = flag(alive), *this; }

    /// Where World::fill puts a row by its key: the number of a slot, SIZE_MAX if there can be no such row. Without it rows go to
    /// slots 0, 1 and so on, by ascending keys.
    template <class P> Table &place(P place) {
        if constexpr (std::is_invocable_v<P, std::uint64_t, std::uint64_t>) t_->place = place;
        else t_->place = [place](std::uint64_t key, std::uint64_t) { return static_cast<std::size_t>(place(key)); };
        return *this;
    }

    /// A column; it has the type of the field.
    template <class F> Table &column(std::string component, std::string field, F f) {
        return add<F>(std::move(component), std::move(field), {detail::type_of<FieldOf<F>>(), 0}, std::move(f));
    }
    template <class F> Table &column(std::string component, std::string field, As as, F f) {
        return add<F>(std::move(component), std::move(field), as, std::move(f));
    }

    /// The byte or bool that is set if a row has a value in the column before. A std::optional does not need it.
    template <class P> Table &present(P present) {
        if (t_->columns.empty() || t_->columns.back().get || t_->columns.back().own) t_->wrong = "`present` comes after a column that is a field of the row";
        else t_->columns.back().present = flag(present);
        return *this;
    }

    /// A column with values in a separate container, one for each row.
    template <class C> Table &array(std::string component, std::string field, C &values) {
        return array(std::move(component), std::move(field), {detail::type_of<std::decay_t<decltype(*std::data(values))>>(), 0}, values);
    }
    template <class C> Table &array(std::string component, std::string field, As as, C &values);

    /// A column that is computed: `get(row)` returns a number or enum, `set(row, number)` takes one that was loaded. Where there is no
    /// row it is 0.
    template <class G, class S> Table &computed(std::string component, std::string field, G get, S set) {
        return computed(std::move(component), std::move(field), {detail::type_of<std::decay_t<std::invoke_result_t<G, Row &>>>(), 0}, get, set);
    }
    template <class G, class S> Table &computed(std::string component, std::string field, As as, G get, S set) {
        using T = std::decay_t<std::invoke_result_t<G, Row &>>;
        static_assert(detail::is_scalar<T>, "what is computed is a number");
        detail::Column &c = named(std::move(component), std::move(field), as);
        sized<T>(c);
        c.get = [get, as](void *row, detail::Cell &cell) { detail::put<T>(cell, as.type, std::invoke(get, *static_cast<Row *>(row))); };
        c.set = [set, as](void *row, const detail::Cell &cell) { std::invoke(set, *static_cast<Row *>(row), detail::take<T>(cell, as.type)); };
        return *this;
    }

private:
    template <class F> using FieldOf = std::remove_cv_t<std::remove_reference_t<std::invoke_result_t<F, Row &>>>;

    template <class F> static detail::At at(F f) {
        static_assert(std::is_lvalue_reference_v<std::invoke_result_t<F, Row &>>, "it returns a reference to a field; what is not in memory is `computed`");
        return [f](void *row) {
            auto &field = std::invoke(f, *static_cast<Row *>(row));
            return const_cast<void *>(static_cast<const volatile void *>(std::addressof(field)));
        };
    }

    template <class K> detail::At part(K key) {
        using T = FieldOf<K>;
        static_assert(std::is_integral_v<T> && std::is_unsigned_v<T>, "keys are unsigned integers");
        t_->key_size = sizeof(T);
        return at(key);
    }

    template <class A> static detail::At flag(A f) {
        static_assert(sizeof(FieldOf<A>) == 1 && std::is_integral_v<FieldOf<A>>, "one byte, 0 or other");
        return at(f);
    }

    detail::Column &named(std::string component, std::string field, As as) {
        if (detail::has_nul(component) || detail::has_nul(field)) t_->wrong = "the name of a column has a NUL";
        detail::Column &c = t_->columns.emplace_back();
        c.component = std::move(component), c.field = std::move(field), c.as = as;
        return c;
    }

    /// Notes what a number of a file needs if the game's type is narrower.
    template <class T> static void sized(detail::Column &c) {
        if (detail::widths[c.as.type] > sizeof(T)) c.fits = [type = c.as.type](const void *v) { return detail::fits_number<T>(v, type); };
    }

    template <class F> Table &add(std::string component, std::string field, As as, F f) {
        using T = FieldOf<F>;
        detail::Column &c = named(std::move(component), std::move(field), as);
        constexpr bool whole = detail::is_char_array<T> || detail::IsByteArray<T>::value;
        if constexpr (whole) {
            c.size = sizeof(T);
            c.at = at(f);
        } else {
            if constexpr (detail::is_scalar<T>) {
                if (detail::widths[as.type] == sizeof(T)) return c.at = at(f), *this;
                sized<T>(c);
            } else if constexpr (detail::IsOptional<T>::value) {
                if constexpr (detail::is_scalar<typename detail::IsOptional<T>::Inner>) sized<typename detail::IsOptional<T>::Inner>(c);
            }
            const detail::At where = at(f);
            c.optional = detail::IsOptional<T>::value;
            c.get = [where, as](void *row, detail::Cell &cell) { detail::put<T>(cell, as.type, *static_cast<const T *>(where(row))); };
            c.set = [where, as](void *row, const detail::Cell &cell) { *static_cast<T *>(where(row)) = detail::take<T>(cell, as.type); };
        }
        return *this;
    }

    detail::TableOf *t_;
};

namespace detail {

template <class T> std::unique_ptr<Rows> rows_of(std::vector<T> &v) {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no addresses");
    return std::make_unique<RowsOfVector<T>>(v);
}
template <class C> std::unique_ptr<Rows> rows_of(C &c) {
    using T = std::remove_pointer_t<decltype(std::data(c))>;
    return std::make_unique<RowsOfSpan<T>>(Span<T>(c));
}
template <class C> using RowOf = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<C &>()))>>;

} // namespace detail

template <class Row> template <class C> Table<Row> &Table<Row>::array(std::string component, std::string field, As as, C &values) {
    using T = detail::RowOf<C>;
    static_assert(detail::is_scalar<T>, "an array of numbers or enums");
    detail::Column &c = named(std::move(component), std::move(field), as);
    if (detail::widths[as.type] != sizeof(T)) t_->wrong = "the numbers of an array have another size than the column";
    c.own = detail::rows_of(values);
    return *this;
}

class Snapshot;

/// A description of the game's state: tables over its containers, which must stay where they are. It is made once; each hash and
/// snapshot reads what the containers hold at that time. What decides the future of the game belongs into archetypes and the RNG.
class World {
public:
    World() = default;
    World(const World &) = delete;
    World &operator=(const World &) = delete;

    /// The state of the random numbers: a struct or integer without padding and pointers, of at most 65536 bytes.
    template <class T> World &rng(T &state) {
        static_assert(!std::is_const_v<T>);
        const ByteView bytes = bytes_of(state);
        world_.rng = bytes.data(), world_.rng_size = bytes.size();
        return *this;
    }

    /// A table over a std::vector, std::array, array or Span. A std::vector without `alive` has a row for each element; when a state is
    /// loaded it gets as many elements as that has rows.
    template <class C> Table<detail::RowOf<C>> table(TableClass kind, std::string label, C &&rows) {
        static_assert(std::is_lvalue_reference_v<C> || std::is_same_v<C, Span<detail::RowOf<C>>>, "the container must stay");
        auto t = std::make_unique<detail::TableOf>();
        if (detail::has_nul(label)) t->wrong = "the label of a table has a NUL";
        t->label = std::move(label), t->kind = kind, t->rows = detail::rows_of(rows), t->stride = sizeof(detail::RowOf<C>);
        tables_.push_back(std::move(t));
        return Table<detail::RowOf<C>>(*tables_.back());
    }

    /// A table that is hashed.
    template <class C> auto archetype(std::string label, C &&rows) { return table(TableClass::archetype, std::move(label), std::forward<C>(rows)); }
    /// Derived from what is hashed.
    template <class C> auto cache(std::string label, C &&rows) { return table(TableClass::cache, std::move(label), std::forward<C>(rows)); }
    /// Known to differ in sync.
    template <class C> auto noise(std::string label, C &&rows) { return table(TableClass::noise, std::move(label), std::forward<C>(rows)); }

    /// The state hash.
    Result<Hash> hash() { return digests(nullptr); }

    /// The state hash, and all digests below it: visit(label, component, field, hash) for each column of each archetype, then for the
    /// archetype with empty component and field. "RNG" comes first.
    using Visit = std::function<void(std::string_view label, std::string_view component, std::string_view field, const Hash &hash)>;
    Result<Hash> digests(const Visit &visit) {
        Hash root;
        auto forward = [](void *user, const char *label, const char *component, const char *field, const std::uint8_t *hash) {
            Hash h;
            std::memcpy(h.data(), hash, h.size());
            (*static_cast<const Visit *>(user))(label, component ? component : "", field ? field : "", h);
        };
        if (Status s = look(); !s) return s;
        const char *err = desync_digests(&world_, root.data(), visit ? +forward : nullptr, const_cast<Visit *>(&visit));
        if (err) return detail::status(err);
        return root;
    }

    /// The state as the bytes of a .snap.
    Result<Bytes> snapshot(const Point &at) {
        detail::Buffer b;
        const auto list = detail::params(at.properties);
        if (Status s = look(); !s) return s;
        if (detail::has_nul(at.native) || detail::has_nul(at.peer) || detail::has_nul(at.properties)) return Status::refused("a text of the point has a NUL");
        const desync_point point = {at.seed, at.tick, at.phase.c_str(), at.native.c_str(), at.peer.c_str(), at.epoch,
                                    at.history ? at.history->data() : nullptr, list.data(), list.size()};
        if (const char *err = desync_snapshot(&world_, &point, &b)) return detail::status(err);
        return b.bytes();
    }

    /// Writes DIR/desync_<seed>_<tick>.snap, which never holds half of it.
    Status write_snapshot(const Point &at, const std::string &dir) {
        auto bytes = snapshot(at);
        if (!bytes) return bytes.status();
        char name[64];
        std::snprintf(name, sizeof name, "desync_%016llx_%010llu.snap", static_cast<unsigned long long>(at.seed), static_cast<unsigned long long>(at.tick));
        return detail::status(desync__write_whole(dir.c_str(), name, bytes.value().data(), bytes.value().size()));
    }

    /// Puts a state into the game's containers: the RNG, and keys, `alive`, presence and values of each archetype; zero where there is none.
    /// Caches, noise and what is not described stay as they are (in a std::vector with new elements, as a new element
    /// has them). A state that does not fit the description is refused, and nothing is written. Whether values make
    /// sense is the game's to check.
    Status fill(const Snapshot &from);

    /// For the parts below: the description as desynctool.h has it, of what the containers hold now.
    Status look();
    const desync_world *description() const { return &world_; }

private:
    static std::size_t place(void *user, const desync_table *t, std::uint64_t key, std::uint64_t key2) {
        auto *w = static_cast<World *>(user);
        const auto &table = *w->tables_[static_cast<std::size_t>(t - w->described_.data())];
        return table.place ? table.place(key, key2) : w->next_++;
    }

    std::vector<std::unique_ptr<detail::TableOf>> tables_;
    std::vector<desync_table> described_;
    desync_world world_ = {nullptr, 0, nullptr, 0};
    std::size_t next_ = 0; // slot of the next row of a table without `place`
};

inline Status World::look() {
    described_.clear();
    for (const auto &t : tables_) {
        char *const first = static_cast<char *>(t->rows->data());
        const std::size_t n = t->rows->size();
        // Where a part of row 0 begins; columns may be asked for only while there is a row.
        auto part = [&](const detail::At &at, std::size_t size) -> char * {
            if (!at || !n) return nullptr;
            char *p = static_cast<char *>(at(first));
            if (p < first || p + size > first + t->stride) t->wrong = "a column or key lies outside of its row";
            return p;
        };
        t->described.clear();
        for (detail::Column &c : t->columns) {
            desync_column d;
            std::memset(&d, 0, sizeof d);
            d.component = c.component.c_str(), d.field = c.field.c_str(), d.type = c.as.type, d.scale = c.as.scale, d.size = c.size;
            if (c.get) {
                c.cells.resize(n);
                for (std::size_t i = 0; i < n; i++) c.get(first + i * t->stride, c.cells[i]);
                if (n) d.data = c.cells[0].bytes;
                if (n && c.optional) d.present = &c.cells[0].present;
                d.stride = sizeof(detail::Cell);
            } else if (c.own) {
                if (c.own->size() != n) return Status::refused(t->label + "/" + c.component + "." + c.field + ": the array has another length than the table");
                d.data = c.own->data(), d.stride = detail::widths[c.as.type];
            } else {
                d.data = part(c.at, c.size ? c.size : detail::widths[c.as.type]);
                d.present = part(c.present, 1);
            }
            t->described.push_back(d);
        }
        desync_table d;
        std::memset(&d, 0, sizeof d);
        d.label = t->label.c_str(), d.table_class = static_cast<int>(t->kind), d.slots = n, d.stride = t->stride;
        d.alive = part(t->alive, 1), d.key = part(t->key, t->key_size), d.key2 = part(t->key2, t->key_size), d.key_size = t->key_size;
        static const char none = 0; // a table without rows has keys of two parts as well
        if (t->key2 && !n) d.key = d.key2 = &none;
        d.columns = t->described.data(), d.column_count = t->described.size();
        if (!t->wrong.empty()) return Status::refused(t->label + ": " + t->wrong);
        described_.push_back(d);
    }
    world_.tables = described_.data(), world_.table_count = described_.size();
    return {};
}

// ---- Reading snapshots

/// The values of a column of a snapshot, by row.
template <class T> class ColumnView {
public:
    ColumnView(const desync_column &c) : c_(&c) {}

    bool has(std::size_t row) const { return !c_->present || static_cast<const unsigned char *>(c_->present)[row]; }

    /// The value of a row that has one, else 0 or empty.
    T operator[](std::size_t row) const {
        if (!has(row)) return T();
        if constexpr (detail::is_scalar<T>) {
            detail::Cell cell;
            const std::size_t n = detail::widths[c_->type];
            std::memcpy(cell.bytes, static_cast<const char *>(c_->data) + row * n, n);
            return detail::take_number<T>(cell, c_->type);
        } else {
            const desync_bytes &run = static_cast<const desync_bytes *>(c_->data)[row];
            return T(static_cast<decltype(std::declval<T>().data())>(run.data), run.len);
        }
    }

private:
    const desync_column *c_;
};

/// A table of a snapshot: its rows, by ascending keys.
class TableView {
public:
    explicit TableView(const desync_table &t) : t_(&t) {}

    std::string_view label() const { return t_->label; }
    TableClass table_class() const { return static_cast<TableClass>(t_->table_class); }
    std::size_t rows() const { return t_->slots; }
    std::uint64_t key(std::size_t row) const { return static_cast<const std::uint64_t *>(t_->key)[row]; }
    std::uint64_t key2(std::size_t row) const { return t_->key2 ? static_cast<const std::uint64_t *>(t_->key2)[row] : 0; }

    /// A column if there is one of that name and type. T is bool, a number, std::string_view or ByteView; std::int64_t with `fixed`,
    /// std::uint64_t with `ref`.
    template <class T> std::optional<ColumnView<T>> column(const std::string &component, const std::string &field) const {
        if constexpr (std::is_same_v<T, std::string_view>) return find<T>(component, field, {DESYNC_STRING, 0});
        else if constexpr (std::is_same_v<T, ByteView>) return find<T>(component, field, {DESYNC_BYTES, 0});
        else return find<T>(component, field, {detail::type_of<T>(), 0});
    }
    template <class T> std::optional<ColumnView<T>> column(const std::string &component, const std::string &field, As as) const {
        static_assert(sizeof(T) == 8 && std::is_integral_v<T>, "std::int64_t with `fixed`, std::uint64_t with `ref`");
        return find<T>(component, field, as);
    }

private:
    template <class T> std::optional<ColumnView<T>> find(const std::string &component, const std::string &field, As as) const {
        const desync_column *c = desync_find_column(t_, component.c_str(), field.c_str());
        if (!c || c->type != as.type || c->scale != as.scale) return std::nullopt;
        return ColumnView<T>(*c);
    }

    const desync_table *t_;
};

/// A .snap that was read and checked whole, up to the state hash.
class Snapshot {
public:
    /// Reads the bytes of a .snap without compressed cells. They may come from any source.
    static Result<Snapshot> read(Bytes file) {
        Snapshot s;
        s.own_ = std::make_unique<Own>();
        s.own_->file = std::move(file);
        if (const char *err = desync_snap_read(&s.own_->snap, s.own_->file.data(), s.own_->file.size())) return detail::status(err);
        s.snap_ = &s.own_->snap;
        return s;
    }

    static Result<Snapshot> open(const std::string &path) {
        Snapshot s;
        s.own_ = std::make_unique<Own>();
        if (const char *err = desync_snap_open(&s.own_->snap, path.c_str())) return detail::status(err);
        s.snap_ = &s.own_->snap;
        return s;
    }

    Point point() const {
        const desync_point &p = snap_->at;
        Point at;
        at.seed = p.seed, at.tick = p.tick, at.phase = p.phase, at.native = p.native, at.peer = p.peer, at.epoch = p.epoch;
        if (p.history) std::memcpy(at.history.emplace().data(), p.history, 32);
        for (std::size_t i = 0; i < p.property_count; i++) at.properties.emplace(p.properties[i].key, p.properties[i].value);
        return at;
    }

    Hash hash() const {
        Hash h;
        std::memcpy(h.data(), snap_->root, h.size());
        return h;
    }

    /// The state of the random numbers, if the game has any.
    std::optional<ByteView> rng() const {
        if (!snap_->world.rng) return std::nullopt;
        return ByteView(static_cast<const std::uint8_t *>(snap_->world.rng), snap_->world.rng_size);
    }

    std::vector<TableView> tables() const {
        std::vector<TableView> list;
        for (std::size_t i = 0; i < snap_->world.table_count; i++) list.emplace_back(snap_->world.tables[i]);
        return list;
    }

    std::optional<TableView> table(const std::string &label, TableClass kind = TableClass::archetype) const {
        const desync_table *t = desync_find(&snap_->world, static_cast<int>(kind), label.c_str());
        if (!t) return std::nullopt;
        return TableView(*t);
    }

    /// The state that was read as the bytes of a .snap again.
    Result<Bytes> encode() const {
        detail::Buffer b;
        if (const char *err = desync_snapshot(&snap_->world, &snap_->at, &b)) return detail::status(err);
        return b.bytes();
    }

    explicit Snapshot(const desync_snap &borrowed) : snap_(&borrowed) {}
    const desync_snap *description() const { return snap_; }

private:
    struct Own {
        desync_snap snap = {};
        Bytes file;
        Own() = default;
        Own(const Own &) = delete;
        Own &operator=(const Own &) = delete;
        ~Own() { desync_snap_free(&snap); }
    };

    Snapshot() = default;
    std::unique_ptr<Own> own_;
    const desync_snap *snap_ = nullptr;
};

inline Status World::fill(const Snapshot &from) {
    const desync_snap *snap = from.description();
    std::vector<detail::Rows *> renewed;
    auto renew = [&](detail::Rows &rows, std::size_t n) {
        if (!rows.grows()) return;
        rows.renew(n);
        renewed.push_back(&rows);
    };
    for (const auto &t : tables_) {
        const desync_table *table = desync_find(&snap->world, DESYNC_ARCHETYPE, t->label.c_str());
        if (t->kind != TableClass::archetype || !table) continue; // one that lacks is refused below
        for (detail::Column &c : t->columns) {
            const desync_column *values = c.fits ? desync_find_column(table, c.component.c_str(), c.field.c_str()) : nullptr;
            if (!values || values->type != c.as.type) continue;
            const auto *at = static_cast<const char *>(values->data);
            for (std::size_t i = 0; i < table->slots; i++)
                if (!c.fits(at + i * detail::widths[c.as.type])) return Status::refused("the state has a number that is too large for the game");
        }
    }
    for (const auto &t : tables_) {
        const desync_table *table = desync_find(&snap->world, DESYNC_ARCHETYPE, t->label.c_str());
        if (t->kind != TableClass::archetype || !table || t->alive) continue;
        renew(*t->rows, table->slots);
        for (detail::Column &c : t->columns)
            if (c.own) renew(*c.own, table->slots);
    }
    Status s = look();
    const desync_table *last = nullptr;
    struct Placing {
        World *world;
        const desync_table **last;
    } placing = {this, &last};
    auto forward = [](void *user, const desync_table *t, std::uint64_t key, std::uint64_t key2) {
        auto *p = static_cast<Placing *>(user);
        if (*p->last != t) *p->last = t, p->world->next_ = 0;
        return World::place(p->world, t, key, key2);
    };
    if (s) s = detail::status(desync_fill(&world_, snap, +forward, &placing));
    for (detail::Rows *rows : renewed) s ? rows->forget() : rows->undo();
    if (!s) return s;
    for (const auto &t : tables_) {
        if (t->kind != TableClass::archetype) continue;
        char *const first = static_cast<char *>(t->rows->data());
        for (detail::Column &c : t->columns)
            for (std::size_t i = 0; c.set && i < c.cells.size(); i++) c.set(first + i * t->stride, c.cells[i]);
    }
    return {};
}

// ---- Sessions and orders

struct Kind {
    std::string name;
    bool local = false; // need not be the same on all peers, such as chat
};

inline constexpr std::uint32_t unknown_kind = DESYNC_UNKNOWN_KIND;

struct Session {
    std::uint64_t seed = 0;
    std::string peer, build;                                   // name of the peer that writes; of the game
    std::uint32_t rate_numerator = 0, rate_denominator = 0;    // ticks a second, 0/0 if not known
    std::optional<Hash> start;                                 // state hash at the first point
    std::uint64_t first_point = 0;                             // 0 for a session from its start
    std::uint32_t epoch = 0;
    std::vector<Kind> kinds;                                   // of orders
    std::vector<std::string> peers;                            // names by number; `peer` must be among them, if there are any
    Texts parameters;                                          // what a simulator needs to start

    std::string parameter(const std::string &key, std::string otherwise) const {
        const auto at = parameters.find(key);
        return at == parameters.end() ? std::move(otherwise) : at->second;
    }
};

struct Order {
    std::uint32_t sub_tick = 0; // µs from the start of the tick
    std::uint32_t player = 0, sequence = 0;
    std::uint32_t kind = 0;     // into the session's kinds; in a Game with `kinds` into these, or unknown_kind
    ByteView payload;           // at most 4 MiB
};

using Orders = Span<const Order>;

namespace detail {

/// A session as desynctool.h has it, and what that points at.
struct Header {
    Session session;
    std::vector<desync_kind> kinds;
    std::vector<const char *> peers;
    std::vector<desync_param> parameters;
    desync_header h = {};

    explicit Header(const Session &s) : session(s) {
        for (const Kind &k : session.kinds) kinds.push_back({k.name.c_str(), k.local});
        for (const std::string &p : session.peers) peers.push_back(p.c_str());
        parameters = params(session.parameters);
        h.seed = session.seed, h.peer = session.peer.c_str(), h.build = session.build.c_str();
        h.rate_num = session.rate_numerator, h.rate_den = session.rate_denominator;
        if (session.start) std::memcpy(h.start, session.start->data(), sizeof h.start);
        h.first_point = session.first_point, h.epoch = session.epoch;
        h.kinds = kinds.data(), h.kind_count = kinds.size(), h.peers = peers.data(), h.peer_count = peers.size();
        h.params = parameters.data(), h.param_count = parameters.size();
    }
    Header(const Header &) = delete;
    Header &operator=(const Header &) = delete;

    Status check() const {
        bool nul = has_nul(session.peer) || has_nul(session.build) || has_nul(session.parameters);
        for (const Kind &k : session.kinds) nul = nul || has_nul(k.name);
        for (const std::string &p : session.peers) nul = nul || has_nul(p);
        return nul ? Status::refused("a text of the session has a NUL") : Status();
    }
};

inline Session session_of(const desync_header &h) {
    Session s;
    s.seed = h.seed, s.peer = h.peer ? h.peer : "", s.build = h.build ? h.build : "";
    s.rate_numerator = h.rate_num, s.rate_denominator = h.rate_den, s.first_point = h.first_point, s.epoch = h.epoch;
    Hash start;
    std::memcpy(start.data(), h.start, start.size());
    if (start != Hash{}) s.start = start;
    for (std::size_t i = 0; i < h.kind_count; i++) s.kinds.push_back({h.kinds[i].name, h.kinds[i].local != 0});
    for (std::size_t i = 0; i < h.peer_count; i++) s.peers.emplace_back(h.peers[i]);
    for (std::size_t i = 0; i < h.param_count; i++) s.parameters.emplace(h.params[i].key, h.params[i].value);
    return s;
}

inline std::vector<desync_order> orders_of(Orders orders) {
    std::vector<desync_order> list;
    list.reserve(orders.size());
    for (const Order &o : orders) list.push_back({o.sub_tick, o.player, o.sequence, o.kind, o.payload.data(), o.payload.size()});
    return list;
}

inline Order order_of(const desync_order &o) { return {o.sub_tick, o.player, o.sequence, o.kind, ByteView(o.payload, o.size)}; }

inline std::vector<Order> orders_of(const desync_order *orders, std::size_t n) {
    std::vector<Order> list;
    list.reserve(n);
    for (std::size_t i = 0; i < n; i++) list.push_back(order_of(orders[i]));
    return list;
}

} // namespace detail

/// The input hash of a tick's orders.
inline Result<SyncHash> input_hash(Span<const Kind> kinds, std::uint64_t tick, Orders orders) {
    std::vector<desync_kind> list;
    for (const Kind &k : kinds) list.push_back({k.name.c_str(), k.local});
    const auto all = detail::orders_of(orders);
    SyncHash out;
    if (const char *err = desync_input_hash(list.data(), list.size(), tick, all.data(), all.size(), out.data())) return detail::status(err);
    return out;
}

// ---- Files

enum class MarkerKind {
    join = DESYNC_JOIN, leave = DESYNC_LEAVE, removal = DESYNC_REMOVAL, reconnect = DESYNC_RECONNECT, save = DESYNC_SAVE,
    load = DESYNC_LOAD, resync = DESYNC_RESYNC, failed_order = DESYNC_FAILED_ORDER
};

struct Marker {
    MarkerKind kind = MarkerKind::join;
    std::uint32_t player = 0, peer = 0, sequence = 0;
    std::uint64_t point = 0;
    bool new_epoch = false;      // the state of the writing peer was replaced. Join, reconnect, load, resync only
    std::optional<Hash> history; // that a new epoch takes over
    std::string text;
};

namespace detail {

inline Status mark(const Marker &m, desync_marker &out) {
    out = {static_cast<int>(m.kind), m.player, m.peer, m.sequence, m.point, m.new_epoch, m.history ? m.history->data() : nullptr, m.text.c_str()};
    return has_nul(m.text) ? Status::refused("the text of a marker has a NUL") : Status();
}

} // namespace detail

/// order-log.bin: the orders that were applied, and hashes. In each tick: state with the state before its orders, then
/// tick; at the end state again, and close. Each frame is one write, so that a crash loses none.
class OrderLog {
public:
    OrderLog() = default;
    OrderLog(OrderLog &&) = default;
    OrderLog &operator=(OrderLog &&) = default;

    static Result<OrderLog> create(const std::string &path, const Session &session) {
        OrderLog l;
        l.own_ = std::make_unique<Own>(session);
        if (Status s = l.own_->header.check(); !s) return s;
        if (const char *err = desync_log_open(&l.own_->log, path.c_str(), &l.own_->header.h)) return detail::status(err);
        return l;
    }

    /// Notes the state hash at a point: the sync hash goes into the log, and every 30 ticks the state and history hash.
    Status state(std::uint64_t point, const Hash &hash) { return detail::status(desync_log_state(&own_->log, point, hash.data())); }

    /// For a game with another checksum instead, of at most 8 bytes.
    Status checksum(std::uint64_t point, ByteView sum) { return detail::status(desync_log_checksum(&own_->log, point, sum.data(), sum.size())); }

    /// Notes any hash of 1 to 64 bytes, of any peer. Coverage is empty for the whole state.
    Status hash(std::uint64_t point, std::uint32_t peer, const std::string &kind, const std::string &coverage, ByteView bytes) {
        return detail::status(desync_log_hash(&own_->log, point, peer, kind.c_str(), coverage.c_str(), bytes.data(), bytes.size()));
    }

    /// Adds an event to the next tick. One that opens an epoch comes before the first state that is noted in it.
    Status marker(const Marker &m) {
        desync_marker c;
        if (Status s = detail::mark(m, c); !s) return s;
        return detail::status(desync_log_marker(&own_->log, &c));
    }

    Status tick(std::uint64_t tick, Orders orders) {
        const auto list = detail::orders_of(orders);
        return detail::status(desync_log_tick(&own_->log, tick, list.data(), list.size()));
    }

    /// The history hash at the point that was noted last, which a peer that sends its state sends along.
    std::optional<Hash> history() const {
        if (!own_->log.has_history) return std::nullopt;
        Hash h;
        std::memcpy(h.data(), own_->log.history, h.size());
        return h;
    }

    /// Brings to the disk what was written, which then survives a loss of power. What survives a crash of the game is all that the calls
    /// above have written when they return.
    Status sync() { return detail::status(desync_log_sync(&own_->log)); }

    /// Writes what was noted since the last tick and the end marker.
    Status close() { return own_->close(); }

private:
    struct Own {
        detail::Header header;
        desync_log log = {};
        explicit Own(const Session &s) : header(s) {}
        Own(const Own &) = delete;
        Own &operator=(const Own &) = delete;
        ~Own() { (void)close(); }
        Status close() { return log.frames.file ? detail::status(desync_log_close(&log)) : Status(); }
    };
    std::unique_ptr<Own> own_;
};

/// How much a trace has: after each system the state, its archetypes as well, its columns as well. A recorder may have none.
enum class Detail { system = DESYNC_BY_SYSTEM, archetype = DESYNC_BY_ARCHETYPE, column = DESYNC_BY_COLUMN, no_trace = DESYNC_NO_TRACE };

struct Sum {
    std::string name; // empty is the main one
    Bytes bytes;
};

struct Checkpoint {
    std::uint64_t tick = 0;
    std::string system, scope;
    bool predicted = false; // some inputs of the tick were guessed
    std::vector<Sum> sums;
    std::optional<std::uint64_t> count; // of entities, or what else the game counts
};

enum class EventKind { save = DESYNC_EVENT_SAVE, restore = DESYNC_EVENT_RESTORE, resimulate = DESYNC_EVENT_RESIMULATE, input = DESYNC_EVENT_INPUT };

struct Event {
    EventKind kind = EventKind::save;
    std::uint64_t tick = 0, other = 0; // other: the tick at which it is restored, the last one that is simulated again
    std::uint32_t player = 0;          // of an input, as `predicted`
    bool predicted = false;
    std::vector<Sum> sums;
};

/// Checksums after each system of a tick, and what a rollback did.
class Trace {
public:
    Trace() = default;
    Trace(Trace &&) = default;
    Trace &operator=(Trace &&) = default;

    static Result<Trace> create(const std::string &path, const Session &session) {
        Trace t;
        t.own_ = std::make_unique<Own>();
        const detail::Header header(session);
        if (Status s = header.check(); !s) return s;
        if (const char *err = desync_trace_open(&t.own_->trace, path.c_str(), &header.h)) return detail::status(err);
        return t;
    }

    /// Appends a checkpoint, in the order of execution.
    Status add(const Checkpoint &c) {
        const auto list = sums(c.sums);
        const desync_checkpoint point = {c.tick, c.system.c_str(), c.scope.c_str(), c.predicted, list.data(), list.size(), c.count.has_value(), c.count.value_or(0)};
        return detail::status(desync_trace_add(&own_->trace, &point));
    }

    Status event(const Event &e) {
        const auto list = sums(e.sums);
        const desync_event event = {static_cast<int>(e.kind), e.tick, e.other, e.player, e.predicted, list.data(), list.size()};
        return detail::status(desync_trace_event(&own_->trace, &event));
    }

    /// Appends checkpoints of the state after a system, and returns its hash.
    Result<Hash> world(std::uint64_t tick, const std::string &system, World &w, Detail detail) {
        Hash root;
        if (Status s = w.look(); !s) return s;
        const char *err = desync_trace_world(&own_->trace, tick, system.c_str(), w.description(), static_cast<int>(detail), root.data());
        if (err) return detail::status(err);
        return root;
    }

    /// Writes out what is held until more of its tick comes. A game calls it at the end of each tick.
    Status flush() { return detail::status(desync_trace_flush(&own_->trace)); }

    /// flush, and brings it to the disk.
    Status sync() { return detail::status(desync_trace_sync(&own_->trace)); }
    Status close() { return own_->close(); }

private:
    struct Own {
        desync_trace trace = {};
        Own() = default;
        Own(const Own &) = delete;
        Own &operator=(const Own &) = delete;
        ~Own() { (void)close(); }
        Status close() { return trace.frames.file ? detail::status(desync_trace_close(&trace)) : Status(); }
    };

    static std::vector<desync_sum> sums(const std::vector<Sum> &list) {
        std::vector<desync_sum> out;
        for (const Sum &s : list) out.push_back({s.name.c_str(), s.bytes.data(), s.bytes.size()});
        return out;
    }

    std::unique_ptr<Own> own_;
};

/// All of the above for one peer: DIR/<peer>/order-log.bin, checkpoints.trace, snapshots and reports. In each tick: state with the state
/// before its orders, tick, and system after each system if there are any; at the end state again, and close.
class Recorder {
public:
    Recorder() = default;
    Recorder(Recorder &&) = default;
    Recorder &operator=(Recorder &&) = default;

    /// Makes the folders and begins the files. The start hash of the session is the hash of the world.
    static Result<Recorder> create(const std::string &dir, const Session &session, World &w, Detail detail) {
        Recorder r;
        r.own_ = std::make_unique<Own>(session);
        if (Status s = r.own_->header.check(); !s) return s;
        if (Status s = w.look(); !s) return s;
        const char *err = desync_recorder_open(&r.own_->files, dir.c_str(), &r.own_->header.h, w.description(), static_cast<int>(detail));
        if (err) return detail::status(err);
        return r;
    }

    /// What is known of this peer's machine and game: os, cpu, compiler, locale, mods, data_hash. Snapshots have them as properties
    /// from now on. They are no parameters of the session, which are the same on all peers.
    Status facts(Texts facts) {
        if (detail::has_nul(facts)) return Status::refused("a fact has a NUL");
        own_->facts = std::move(facts);
        own_->list = detail::params(own_->facts);
        desync_recorder_facts(&own_->files, own_->list.data(), own_->list.size());
        return {};
    }

    Status state(std::uint64_t point, World &w) { return with(w, [&](const desync_world *d) { return desync_recorder_state(&own_->files, point, d); }); }

    /// Adds an event to the next tick. After one that opens an epoch comes `state` with the state that was loaded: the peer that sent
    /// it has noted the same state before, and the history hash is the one it had there.
    Status marker(const Marker &m) {
        desync_marker c;
        if (Status s = detail::mark(m, c); !s) return s;
        return detail::status(desync_recorder_marker(&own_->files, &c));
    }

    Status tick(std::uint64_t tick, Orders orders) {
        const auto list = detail::orders_of(orders);
        return detail::status(desync_recorder_tick(&own_->files, tick, list.data(), list.size()));
    }

    /// The state after a system of the tick that `tick` began; refused without such a tick.
    Status system(const std::string &system, World &w) { return with(w, [&](const desync_world *d) { return desync_recorder_system(&own_->files, system.c_str(), d); }); }

    /// Writes a snapshot of the state that was noted last, with its history hash, and facts, build and parameters as properties.
    Status snapshot(World &w) { return with(w, [&](const desync_world *d) { return desync_recorder_snapshot(&own_->files, d); }); }

    /// Writes the peer's report that the state noted last differs from the other peers' states:
    /// desync_report_<seed>_<tick>.json, with all hashes, the content of the archetypes that are named, and the orders
    /// of up to 64 ticks before. Player is the number of the peer's first player, -1 if it plays none.
    Status report(World &w, int player, const std::vector<std::string> &archetypes) {
        std::vector<const char *> labels;
        for (const std::string &label : archetypes) labels.push_back(label.c_str());
        return with(w, [&](const desync_world *d) { return desync_recorder_report(&own_->files, d, player, labels.data(), labels.size()); });
    }

    /// The state hash that was noted last, even after a system.
    Hash root() const {
        Hash h;
        std::memcpy(h.data(), own_->files.root, h.size());
        return h;
    }

    /// The history hash at the point that was noted last, which a peer that sends its state sends along.
    std::optional<Hash> history() const {
        if (!own_->files.log.has_history) return std::nullopt;
        Hash h;
        std::memcpy(h.data(), own_->files.log.history, h.size());
        return h;
    }

    /// Brings log and trace to the disk. Snapshots and reports are there when they have their names.
    Status sync() { return detail::status(desync_recorder_sync(&own_->files)); }

    /// Ends the files. One that is not closed is closed when it is destroyed, and then nobody learns whether that worked.
    Status close() { return own_->close(); }

private:
    struct Own {
        detail::Header header;
        Texts facts;
        std::vector<desync_param> list;
        desync_recorder files = {};
        explicit Own(const Session &s) : header(s) {}
        Own(const Own &) = delete;
        Own &operator=(const Own &) = delete;
        ~Own() { (void)close(); }
        Status close() { return files.log.frames.file ? detail::status(desync_recorder_close(&files)) : Status(); }
    };

    template <class F> Status with(World &w, F f) {
        if (Status s = w.look(); !s) return s;
        return detail::status(f(w.description()));
    }

    std::unique_ptr<Own> own_;
};

// ---- Replaying for desynctool

/// A game as it replays. It derives from this class, from Steps or Systems, from HasWorld or HasHash, and from any of those below that it
/// can do. `serve` announces what it derives from, and nothing else.
class Game {
public:
    virtual ~Game() = default;
    virtual std::string name() const = 0;
    virtual std::string build() const = 0;

    /// Of the game's orders, which come with numbers of this list: a session that has another kind is refused, unless that is local.
    /// Empty: the game looks at the session's kinds itself.
    virtual std::vector<Kind> kinds() const { return {}; }

    /// Begins a session from its start, whatever was before it, or returns why not.
    virtual Status start(const Session &session) = 0;
};

/// Plays one tick. Orders that make no sense are ignored as the game ignores them.
class Steps {
public:
    virtual ~Steps() = default;
    virtual Status step(std::uint64_t tick, Orders orders) = 0;
};

struct Next {
    std::string system; // that was run
    bool more = false;  // are to come in this tick
};

/// A tick in parts: next runs one system. The orders stay until the tick is over.
class Systems {
public:
    virtual ~Systems() = default;
    virtual Status begin(std::uint64_t tick, Orders orders) = 0;
    virtual Next next() = 0;
};

/// The current state, also between the systems of a tick.
class HasWorld {
public:
    virtual ~HasWorld() = default;
    virtual World &world() = 0;
    /// Whether its columns are copies of what the simulation writes: then a debugger cannot watch them.
    virtual bool copies() { return false; }
};

/// The sync hash, for games that already have it. With HasWorld it must match the world.
class HasHash {
public:
    virtual ~HasHash() = default;
    virtual SyncHash hash() = 0;
};

/// Begins a session with a state in the place of start. If it cannot, it returns why, and keeps the current state. A
/// snapshot that is damaged, of another seed than the session or of the middle of a tick is refused before. The session
/// is null if none is known. Caches must be recomputed: the snapshot's caches may be wrong.
class Loads {
public:
    virtual ~Loads() = default;
    virtual Status load(const Snapshot &from, const Session *session) = 0;
};

/// The state in the game's own form.
class Saves {
public:
    virtual ~Saves() = default;
    virtual Status save(Bytes &out) = 0;
    virtual Status restore(ByteView saved) = 0;
};

/// The same, where all that the simulation reads and writes is one struct without pointers: returns where it is.
class Memory {
public:
    virtual ~Memory() = default;
    virtual Span<std::uint8_t> memory() = 0;
};

/// Recomputes caches next to the current ones, and returns the names of those that differ.
class Caches {
public:
    virtual ~Caches() = default;
    virtual std::vector<std::string> stale_caches() = 0;
};

/// Why an order would be ignored in any state, empty if it would not.
class Validates {
public:
    virtual ~Validates() = default;
    virtual std::string validate(std::uint64_t tick, const Order &order) = 0;
};

/// Whether an order is possible in the current state, as the game asks before its player gives it.
class Tests {
public:
    virtual ~Tests() = default;
    virtual bool test(std::uint64_t tick, const Order &order) = 0;
};

/// Plays the current tick ahead with the orders of one player, as that player's machine does, and takes it back.
class Predicts {
public:
    virtual ~Predicts() = default;
    virtual void predict(std::uint64_t tick, std::uint32_t player, Orders orders) = 0;
};

/// The branches that the simulation takes: returns desync_branches of ../c/desynctool_branches.h.
class Branches {
public:
    virtual ~Branches() = default;
    virtual decltype(desync_target::branches) branches() = 0;
};

namespace detail {

/// The callbacks of desynctool.h for a game.
template <class G> struct Served {
    template <class I> static constexpr bool is = std::is_convertible_v<G *, I *>;
    static_assert(is<Game>, "a game derives from desynctool::Game");
    static_assert(is<Steps> || is<Systems>, "a game derives from desynctool::Steps or desynctool::Systems");
    static_assert(is<HasWorld> || is<HasHash>, "a game derives from desynctool::HasWorld or desynctool::HasHash");
    static_assert(!(is<Saves> && is<Memory>), "a game derives from desynctool::Saves or desynctool::Memory");

    G &game;
    std::string name, build, text; // text: what a callback returned last
    std::vector<Kind> kinds;
    std::vector<desync_kind> list;
    std::vector<Order> orders; // of the tick that is played in parts
    std::vector<std::string> stale;

    explicit Served(G &g) : game(g), name(g.name()), build(g.build()), kinds(g.kinds()) {
        for (const Kind &k : kinds) list.push_back({k.name.c_str(), k.local});
    }

    static Served &of(void *user) { return *static_cast<Served *>(user); }
    const char *say(const Status &s) { return s ? nullptr : (text = s.why()).c_str(); }

    static const char *start(void *user, const desync_header *h) { return of(user).say(of(user).game.start(session_of(*h))); }
    static const char *load(void *user, const desync_snap *from, const desync_header *h) {
        if (!h) return of(user).say(of(user).game.load(Snapshot(*from), nullptr));
        const Session session = session_of(*h);
        return of(user).say(of(user).game.load(Snapshot(*from), &session));
    }
    static const char *step(void *user, std::uint64_t tick, const desync_order *o, std::size_t n) { return of(user).say(of(user).game.step(tick, orders_of(o, n))); }
    static const char *begin(void *user, std::uint64_t tick, const desync_order *o, std::size_t n) {
        Served &s = of(user);
        s.orders = orders_of(o, n);
        return s.say(s.game.begin(tick, s.orders));
    }
    static const char *next(void *user, int *more) {
        Next next = of(user).game.next();
        *more = next.more;
        return (of(user).text = std::move(next.system)).c_str();
    }
    static const desync_world *world(void *user) {
        World &w = of(user).game.world();
        if (Status s = w.look(); !s) { // a mistake in the description, which every request would have
            std::fprintf(stderr, "%s\n", s.why().c_str());
            std::exit(2);
        }
        return w.description();
    }
    static void hash(void *user, std::uint8_t *out) {
        const SyncHash h = of(user).game.hash();
        std::memcpy(out, h.data(), h.size());
    }
    static const char *save(void *user, desync_buffer *out) {
        Bytes bytes;
        Status s = of(user).game.save(bytes);
        if (s) desync_append(out, bytes.data(), bytes.size());
        return of(user).say(s);
    }
    static const char *restore(void *user, const void *data, std::size_t n) { return of(user).say(of(user).game.restore(ByteView(static_cast<const std::uint8_t *>(data), n))); }
    static void caches(void *user, desync_names *names) {
        of(user).stale = of(user).game.stale_caches();
        for (const std::string &cache : of(user).stale) desync_stale(names, cache.c_str());
    }
    static const char *validate(void *user, std::uint64_t tick, const desync_order *o) {
        Served &s = of(user);
        s.text = s.game.validate(tick, order_of(*o));
        return s.text.empty() ? nullptr : s.text.c_str();
    }
    static int test(void *user, std::uint64_t tick, const desync_order *o) { return of(user).game.test(tick, order_of(*o)); }
    static void predict(void *user, std::uint64_t tick, std::uint32_t player, const desync_order *o, std::size_t n) {
        of(user).game.predict(tick, player, orders_of(o, n));
    }

    desync_target target() {
        desync_target t = {};
        t.user = this, t.name = name.c_str(), t.build = build.c_str();
        t.kinds = list.empty() ? nullptr : list.data(), t.kind_count = list.size();
        t.start = start;
        if constexpr (is<Loads>) t.load = load;
        if constexpr (is<Steps>) t.step = step;
        if constexpr (is<HasHash>) t.hash = hash;
        if constexpr (is<HasWorld>) t.world = world, t.copies = game.copies();
        if constexpr (is<Saves>) t.save = save, t.restore = restore;
        if constexpr (is<Memory>) t.memory = game.memory().data(), t.memory_size = game.memory().size();
        if constexpr (is<Systems>) t.begin = begin, t.next = next;
        if constexpr (is<Caches>) t.caches = caches;
        if constexpr (is<Validates>) t.validate = validate;
        if constexpr (is<Tests>) t.test = test;
        if constexpr (is<Predicts>) t.predict = predict;
        if constexpr (is<Branches>) t.branches = game.branches();
        return t;
    }
};

} // namespace detail

/// Answers requests until the connection ends, on the socket that DESYNCTOOL_SIM names, else on stdin and stdout. While
/// it runs, the game's output to stdout goes to stderr (not on Windows: print nothing there). Returns the exit status
/// of the process: 0, or 2 after a line on stderr. An exception of the game ends it as a crash does, with its text.
template <class G> int serve(G &game) {
    detail::Served<G> served(game);
    const desync_target target = served.target();
#if defined(__cpp_exceptions)
    try {
        return desync_serve(&target);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 2;
    }
#else
    return desync_serve(&target);
#endif
}

#ifndef DESYNCTOOL_NO_SIGNATURES

// ---- Signatures

using Signature = std::array<std::uint8_t, 64>;

/// Ed25519 of RFC 8032. A secret key is its seed of 32 bytes; how long signing takes does not depend on it.
inline Hash public_key(const Hash &secret) {
    Hash key;
    desync_public_key(secret.data(), key.data());
    return key;
}

inline Signature sign(const Hash &secret, ByteView message) {
    Signature s;
    desync_sign(secret.data(), message.data(), message.size(), s.data());
    return s;
}

/// Whether a signature is valid. Go's crypto/ed25519 takes the same ones, and keys and R of small order.
inline bool verify(const Hash &key, ByteView message, const Signature &signature) {
    return desync_verify(key.data(), message.data(), message.size(), signature.data()) != 0;
}

/// tick-signatures.bin: the state hashes of ticks, each signed together with all that were before. Each entry is one write, so that a
/// crash loses none.
class TickSignatures {
public:
    /// What signs with a key that is elsewhere. What it gives is checked.
    using Signer = std::function<Result<Signature>(ByteView message)>;

    TickSignatures() = default;
    TickSignatures(TickSignatures &&) = default;
    TickSignatures &operator=(TickSignatures &&) = default;

    /// Start is the state hash at the first point, zeros if it is not known.
    static Result<TickSignatures> create(const std::string &path, std::uint64_t seed, const std::string &peer, const Hash &start,
                                         const Hash &secret) {
        desync_signer signer = {};
        signer.secret = secret.data();
        return open(path, seed, peer, start, signer, {});
    }

    static Result<TickSignatures> create(const std::string &path, std::uint64_t seed, const std::string &peer, const Hash &start,
                                         const Hash &key, Signer sign) {
        desync_signer signer = {};
        signer.key = key.data();
        return open(path, seed, peer, start, signer, std::move(sign));
    }

    /// Signs the state hash of a tick: the hash of the state before its orders. Ticks ascend; those that are left out
    /// are counted.
    Status append(std::uint64_t tick, const Hash &hash) {
        const char *err = desync_signatures_append(&own_->file, tick, hash.data());
        return own_->said(err);
    }

    /// Signs how many entries there are, and closes the file. Without it, it is not known whether entries were cut off.
    Status close() { return own_->close(); }

private:
    struct Own {
        desync_signatures file = {};
        Signer sign;
        Status refused;
        Own() = default;
        Own(const Own &) = delete;
        Own &operator=(const Own &) = delete;
        ~Own() { // as a game that crashed
            if (file.frames.file) std::fclose(file.frames.file);
            desync_free(&file.frames.out);
        }
        Status said(const char *err) { return err && !refused ? std::exchange(refused, Status()) : detail::status(err); }
        Status close() { return file.frames.file ? said(desync_signatures_close(&file)) : Status(); }
    };

    static const char *call(void *user, const void *message, std::size_t n, std::uint8_t *signature) {
        Own &own = *static_cast<Own *>(user);
        Result<Signature> made = own.sign(ByteView(static_cast<const std::uint8_t *>(message), n));
        if (!made) {
            own.refused = made.status();
            return "what signs refused to";
        }
        std::memcpy(signature, made.value().data(), made.value().size());
        return nullptr;
    }

    static Result<TickSignatures> open(const std::string &path, std::uint64_t seed, const std::string &peer, const Hash &start,
                                       desync_signer &signer, Signer sign) {
        if (detail::has_nul(peer)) return Status::refused("the name of a peer has a NUL");
        TickSignatures t;
        t.own_ = std::make_unique<Own>();
        t.own_->sign = std::move(sign);
        signer.seed = seed;
        signer.peer = peer.c_str();
        signer.start = start.data();
        signer.sign = t.own_->sign ? call : nullptr;
        signer.user = t.own_.get();
        if (const char *err = desync_signatures_open(&t.own_->file, path.c_str(), &signer)) return detail::status(err);
        return t;
    }

    std::unique_ptr<Own> own_;
};

/// What is found in a file of signatures.
enum class FindingKind {
    other_key = DESYNC_FOUND_OTHER_KEY, corrupt = DESYNC_FOUND_CORRUPT, tampered = DESYNC_FOUND_TAMPERED, missing = DESYNC_FOUND_MISSING,
    contradiction = DESYNC_FOUND_CONTRADICTION, skipped = DESYNC_FOUND_SKIPPED, missing_at_end = DESYNC_FOUND_MISSING_AT_END,
    open = DESYNC_FOUND_OPEN
};

/// What a kind of finding means.
inline const char *words(FindingKind kind) { return desync_finding_words(static_cast<int>(kind)); }

struct Finding {
    FindingKind kind = FindingKind::corrupt;
    std::uint64_t offset = 0, entry = 0;      // of the frame in bytes; number of the entry, from 0
    std::optional<std::uint64_t> after, tick; // tick of the entry before, and of this one, if there is one and it is known
};

/// The content of a file of signatures, and what is found in it.
class CheckedSignatures {
public:
    /// Checks the bytes of a tick-signatures.bin. Trusted is the public key that is trusted: without it the file shows
    /// that it is whole, and by one signer, but not by which one. A file is refused if its header cannot be read.
    static Result<CheckedSignatures> read(ByteView file, const std::optional<Hash> &trusted = std::nullopt) {
        CheckedSignatures c;
        c.own_ = std::make_unique<Own>();
        c.own_->file.assign(file.begin(), file.end());
        const char *err = desync_signatures_check(&c.own_->c, c.own_->file.data(), c.own_->file.size(), trusted ? trusted->data() : nullptr);
        if (err) return detail::status(err);
        for (std::size_t i = 0; i < c.own_->c.finding_count; i++) {
            const desync_finding &f = c.own_->c.findings[i];
            Finding found{static_cast<FindingKind>(f.kind), f.offset, f.entry, std::nullopt, std::nullopt};
            if (f.has_after) found.after = f.after;
            if (f.has_tick) found.tick = f.tick;
            c.findings_.push_back(found);
        }
        return c;
    }

    std::uint64_t seed() const { return own_->c.seed; }
    std::string peer() const { return {static_cast<const char *>(own_->c.peer.data), own_->c.peer.len}; }
    Hash key() const { return hash_at(own_->c.key); }
    Hash start() const { return hash_at(own_->c.start); }
    std::uint64_t entries() const { return own_->c.entries; }

    /// How many entries from the start have no break before them or in them: the key signed them for this session.
    std::uint64_t bound() const { return own_->c.bound; }

    /// There is a signed end, and it agrees.
    bool closed() const { return own_->c.closed != 0; }

    /// Nothing is found but ticks that the signer itself left out, and a missing end.
    bool whole() const { return own_->c.whole != 0; }

    /// In the order of the file, at most 1000; found is how many there are.
    const std::vector<Finding> &findings() const { return findings_; }
    std::uint64_t found() const { return own_->c.found; }

    /// The state hash of a tick; none if the tick has no bound entry.
    std::optional<Hash> state_hash(std::uint64_t tick) const {
        Hash h;
        return desync_checked_hash(&own_->c, tick, h.data()) ? std::optional<Hash>(h) : std::nullopt;
    }

private:
    struct Own {
        Bytes file;
        desync_checked c = {};
        Own() = default;
        Own(const Own &) = delete;
        Own &operator=(const Own &) = delete;
        ~Own() { desync_checked_free(&c); }
    };
    static Hash hash_at(const std::uint8_t *b) {
        Hash h;
        std::memcpy(h.data(), b, h.size());
        return h;
    }
    std::unique_ptr<Own> own_;
    std::vector<Finding> findings_;
};

#endif

} // namespace desynctool

#endif
