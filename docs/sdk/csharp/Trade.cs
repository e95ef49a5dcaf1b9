// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

// A lockstep economy as a larger example of Desynctool.cs: orders take effect after a latency, peers lose the connection
// and come back with the host's save, a late one joins in the middle. Skirmish.cs is the small example; begin there.
//     mcs Trade.cs Desynctool.cs && mono Trade.exe record session --fault rng-leak
//     desynctool bisect session --sim "exec:mono Trade.exe serve" --drill
// `mono Trade.exe faults` lists the mistakes that a peer can be told to make; docs/refsim.md describes such mistakes.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Threading;
using Desynctool;

// ---- the state ----

abstract class Item { public ulong Id, Sub; } // Sub: the second part of a key

sealed class House : Item { public string Name = ""; public double Balance, Worth; public int Debt; public byte Rank; }
sealed class Town : Item { public string Name = "", Tariff = "1"; public long X, Y; public ushort People, Wear; public float Mood; public ulong Fair; }
sealed class Market : Item { public int Stock; public float Price, Average; public ushort Demand; public bool Short; }
sealed class Realm : Item { public ulong Serial, Events; public uint Drawn; }

sealed class Works : Item
{
    public string Recipe = "1"; public byte House, Good, Level; public ulong Town, Ready; // Ready: the tick from which it works
    public ushort Hands; public long Done; public bool Idle; // Done: thousandths of a unit
}

sealed class Caravan : Item
{
    public string Name = ""; public byte House, Good; public int Cargo; public double Paid;
    public ulong At, To, Rest; public long Left; public bool Haste; public ushort Waited; // Left: 1/256 of a mile; To: 0 in a town
}

sealed class Contract : Item
{
    public string Title = "", Agent = "", Rate = "1"; public ulong Town, Deadline; public byte House, Good; // House: 0 until one bids
    public int Amount, Delivered; public double Reward;
}

/// <summary>Where two states differ. An item that only one of them has differs in every component.</summary>
sealed class Difference { public string Archetype, Component; public List<(ulong, ulong)> Keys = new List<(ulong, ulong)>(); }

interface IRoster
{
    bool Changed { get; set; } // since it was last hashed
    void Fill(World w, string without);
    void Load(World w);
    void Write(BinaryWriter w, string without);
    void Read(BinaryReader r, string without);
    void Lose(string column);
    bool Same(IRoster other);
    IEnumerable<Difference> Differences(IRoster other);
}

/// <summary>A table of the state. Snapshots, saves and comparisons all go by its one list of columns.</summary>
sealed class Roster<T> : IRoster where T : Item, new()
{
    sealed class Field
    {
        public string Component, Name; public ColumnType Type; public uint Scale;
        public Func<T, long> Get; public Action<T, long> Put; // floats by their bits as f64
        public Func<T, string> Text; public Action<T, string> PutText;
        public string Path => Component + "." + Name;
    }

    readonly string label; readonly int parts;
    readonly List<Field> fields = new List<Field>();
    public List<T> Items = new List<T>(); // by ascending key

    public bool Changed { get; set; } = true;
    public Roster(string label, int parts = 1) { this.label = label; this.parts = parts; }

    public Roster<T> Has(string component, string name, ColumnType type, Func<T, long> get, Action<T, long> put, uint scale = 0)
    {
        fields.Add(new Field { Component = component, Name = name, Type = type, Get = get, Put = put, Scale = scale });
        return this;
    }

    public Roster<T> Has(string component, string name, ColumnType type, Func<T, double> get, Action<T, double> put) =>
        Has(component, name, type, i => BitConverter.DoubleToInt64Bits(get(i)), (i, bits) => put(i, BitConverter.Int64BitsToDouble(bits)));

    public Roster<T> Has(string component, string name, Func<T, string> get, Action<T, string> put)
    {
        fields.Add(new Field { Component = component, Name = name, Type = ColumnType.String, Text = get, PutText = put });
        return this;
    }

    static int Order(T a, ulong id, ulong sub) => a.Id != id ? a.Id.CompareTo(id) : a.Sub.CompareTo(sub);

    public T Find(ulong id, ulong sub = 0)
    {
        int low = 0, high = Items.Count;
        while (low < high) { int middle = (low + high) / 2; if (Order(Items[middle], id, sub) < 0) low = middle + 1; else high = middle; }
        return low < Items.Count && Order(Items[low], id, sub) == 0 ? Items[low] : null;
    }

    public T Add(T item) { Items.Add(item); Changed = true; return item; } // with a key above all others

    Column ColumnOf(Table t, Field f) => t.Column(f.Component, f.Name, f.Type, f.Scale);

    public void Fill(World w, string without)
    {
        Table t = w.Table(TableClass.Archetype, label, parts);
        t.Clear();
        List<Field> shown = fields.FindAll(f => label + "." + f.Path != without);
        Column[] columns = shown.Select(f => ColumnOf(t, f)).ToArray();
        foreach (T item in Items)
        {
            if (parts == 1) t.Row(item.Id); else t.Row(item.Id, item.Sub);
            for (int i = 0; i < columns.Length; i++) Set(columns[i], shown[i], item);
        }
    }

    static void Set(Column c, Field f, T item)
    {
        if (f.Type == ColumnType.String) { c.Set(f.Text(item)); return; }
        long bits = f.Get(item);
        if (f.Type == ColumnType.Bool) c.Set(bits != 0);
        else if (f.Type == ColumnType.F32) c.Set((float)BitConverter.Int64BitsToDouble(bits));
        else if (f.Type == ColumnType.F64) c.Set(BitConverter.Int64BitsToDouble(bits));
        else if (f.Type == ColumnType.U64) c.Set((ulong)bits);
        else if (f.Type != ColumnType.Ref) c.Set(bits);
        else if (bits != 0) c.Set((ulong)bits); // a reference to nothing is absent
    }

    public void Load(World w)
    {
        Table t = w.Table(TableClass.Archetype, label, parts);
        for (int row = 0; row < t.Rows; row++) Items.Add(new T { Id = t.Key(row), Sub = parts == 2 ? t.SecondKey(row) : 0 });
        foreach (Field f in fields)
        {
            Column c = ColumnOf(t, f);
            for (int row = 0; row < t.Rows; row++)
                if (f.Type == ColumnType.String) f.PutText(Items[row], c.Text(row));
                else if (f.Type == ColumnType.F32 || f.Type == ColumnType.F64) f.Put(Items[row], BitConverter.DoubleToInt64Bits(c.Float(row)));
                else f.Put(Items[row], c.Int(row));
        }
    }

    public void Write(BinaryWriter w, string without)
    {
        w.Write(Items.Count);
        foreach (T item in Items)
        {
            w.Write(item.Id); w.Write(item.Sub);
            foreach (Field f in fields)
                if (label + "." + f.Path == without) continue;
                else if (f.Text != null) w.Write(f.Text(item));
                else w.Write(f.Get(item));
        }
    }

    /// <summary>Items that are there already are kept and take what the save has; so they also keep what it lacks.</summary>
    public void Read(BinaryReader r, string without)
    {
        var read = new List<T>();
        for (int n = r.ReadInt32(); n > 0; n--)
        {
            ulong id = r.ReadUInt64(), sub = r.ReadUInt64();
            T item = Find(id, sub) ?? new T { Id = id, Sub = sub };
            foreach (Field f in fields)
                if (label + "." + f.Path == without) continue;
                else if (f.Text != null) f.PutText(item, r.ReadString());
                else f.Put(item, r.ReadInt64());
            read.Add(item);
        }
        Items = read; Changed = true;
    }

    /// <summary>What a load forgets: a column, or with the label alone the whole table.</summary>
    public void Lose(string column)
    {
        if (column == label) Items.Clear();
        foreach (Field f in fields) if (label + "." + f.Path == column) foreach (T item in Items) f.Put(item, 0);
    }

    static bool Equal(Field f, T a, T b) => f.Text != null ? f.Text(a) == f.Text(b) : f.Get(a) == f.Get(b);

    public bool Same(IRoster other)
    {
        List<T> theirs = ((Roster<T>)other).Items;
        if (theirs.Count != Items.Count) return false;
        for (int i = 0; i < theirs.Count; i++)
            if (Order(Items[i], theirs[i].Id, theirs[i].Sub) != 0) return false;
        foreach (Field f in fields)
            for (int i = 0; i < theirs.Count; i++)
                if (!Equal(f, Items[i], theirs[i])) return false;
        return true;
    }

    public IEnumerable<Difference> Differences(IRoster other)
    {
        var theirs = (Roster<T>)other;
        foreach (string component in fields.Select(f => f.Component).Distinct().OrderBy(c => c, StringComparer.Ordinal))
        {
            List<Field> own = fields.FindAll(f => f.Component == component);
            var d = new Difference { Archetype = label, Component = component };
            foreach (var key in Items.Concat(theirs.Items).Select(i => (i.Id, i.Sub)).Distinct().OrderBy(k => k))
            {
                T a = Find(key.Item1, key.Item2), b = theirs.Find(key.Item1, key.Item2);
                if (a == null || b == null || !own.TrueForAll(f => Equal(f, a, b))) d.Keys.Add(key);
            }
            if (d.Keys.Count > 0) yield return d;
        }
    }
}

sealed class State
{
    public ulong Production = 1; // one generator is in the RNG leaf, the generator of events in the table Realm

    public readonly Roster<Caravan> Caravans = new Roster<Caravan>("Caravan")
        .Has("Cargo", "amount", ColumnType.I32, c => c.Cargo, (c, v) => c.Cargo = (int)v).Has("Cargo", "good", ColumnType.U8, c => c.Good, (c, v) => c.Good = (byte)v)
        .Has("Cargo", "paid", ColumnType.F64, c => c.Paid, (c, v) => c.Paid = v).Has("Owner", "house", ColumnType.U8, c => c.House, (c, v) => c.House = (byte)v)
        .Has("Rest", "until", ColumnType.U64, c => (long)c.Rest, (c, v) => c.Rest = (ulong)v).Has("Rest", "waited", ColumnType.U16, c => c.Waited, (c, v) => c.Waited = (ushort)v)
        .Has("Route", "at", ColumnType.Ref, c => (long)c.At, (c, v) => c.At = (ulong)v).Has("Route", "haste", ColumnType.Bool, c => c.Haste ? 1 : 0, (c, v) => c.Haste = v != 0)
        .Has("Route", "left", ColumnType.Fixed, c => c.Left, (c, v) => c.Left = v, 256).Has("Route", "name", c => c.Name, (c, v) => c.Name = v)
        .Has("Route", "to", ColumnType.Ref, c => (long)c.To, (c, v) => c.To = (ulong)v);
    public readonly Roster<Contract> Contracts = new Roster<Contract>("Contract")
        .Has("Deal", "agent", k => k.Agent, (k, v) => k.Agent = v).Has("Deal", "amount", ColumnType.I32, k => k.Amount, (k, v) => k.Amount = (int)v)
        .Has("Deal", "deadline", ColumnType.U64, k => (long)k.Deadline, (k, v) => k.Deadline = (ulong)v)
        .Has("Deal", "delivered", ColumnType.I32, k => k.Delivered, (k, v) => k.Delivered = (int)v).Has("Deal", "good", ColumnType.U8, k => k.Good, (k, v) => k.Good = (byte)v)
        .Has("Deal", "house", ColumnType.U8, k => k.House, (k, v) => k.House = (byte)v).Has("Deal", "title", k => k.Title, (k, v) => k.Title = v)
        .Has("Deal", "town", ColumnType.Ref, k => (long)k.Town, (k, v) => k.Town = (ulong)v).Has("Pay", "rate", k => k.Rate, (k, v) => k.Rate = v)
        .Has("Pay", "reward", ColumnType.F64, k => k.Reward, (k, v) => k.Reward = v);
    public readonly Roster<House> Houses = new Roster<House>("House")
        .Has("Ledger", "balance", ColumnType.F64, h => h.Balance, (h, v) => h.Balance = v).Has("Ledger", "debt", ColumnType.I32, h => h.Debt, (h, v) => h.Debt = (int)v)
        .Has("Name", "text", h => h.Name, (h, v) => h.Name = v).Has("Standing", "rank", ColumnType.U8, h => h.Rank, (h, v) => h.Rank = (byte)v)
        .Has("Standing", "worth", ColumnType.F64, h => h.Worth, (h, v) => h.Worth = v);
    public readonly Roster<Market> Markets = new Roster<Market>("Market", 2) // by town and good
        .Has("Demand", "rate", ColumnType.U16, m => m.Demand, (m, v) => m.Demand = (ushort)v).Has("Demand", "short", ColumnType.Bool, m => m.Short ? 1 : 0, (m, v) => m.Short = v != 0)
        .Has("Price", "average", ColumnType.F32, m => (double)m.Average, (m, v) => m.Average = (float)v).Has("Price", "now", ColumnType.F32, m => (double)m.Price, (m, v) => m.Price = (float)v)
        .Has("Stock", "amount", ColumnType.I32, m => m.Stock, (m, v) => m.Stock = (int)v);
    public readonly Roster<Realm> Realm = new Roster<Realm>("Realm")
        .Has("Fortune", "drawn", ColumnType.U32, r => r.Drawn, (r, v) => r.Drawn = (uint)v).Has("Fortune", "state", ColumnType.U64, r => (long)r.Events, (r, v) => r.Events = (ulong)v)
        .Has("Serial", "next", ColumnType.U64, r => (long)r.Serial, (r, v) => r.Serial = (ulong)v);
    public readonly Roster<Town> Towns = new Roster<Town>("Town")
        .Has("Name", "text", t => t.Name, (t, v) => t.Name = v).Has("People", "count", ColumnType.U16, t => t.People, (t, v) => t.People = (ushort)v)
        .Has("People", "mood", ColumnType.F32, t => (double)t.Mood, (t, v) => t.Mood = (float)v).Has("Place", "wear", ColumnType.U16, t => t.Wear, (t, v) => t.Wear = (ushort)v)
        .Has("Place", "x", ColumnType.Fixed, t => t.X, (t, v) => t.X = v, 256).Has("Place", "y", ColumnType.Fixed, t => t.Y, (t, v) => t.Y = v, 256)
        .Has("Rules", "fair", ColumnType.U64, t => (long)t.Fair, (t, v) => t.Fair = (ulong)v).Has("Rules", "tariff", t => t.Tariff, (t, v) => t.Tariff = v);
    public readonly Roster<Works> Works = new Roster<Works>("Works")
        .Has("Crew", "hands", ColumnType.U16, w => w.Hands, (w, v) => w.Hands = (ushort)v).Has("Crew", "idle", ColumnType.Bool, w => w.Idle ? 1 : 0, (w, v) => w.Idle = v != 0)
        .Has("Make", "done", ColumnType.Fixed, w => w.Done, (w, v) => w.Done = v, 1000).Has("Make", "good", ColumnType.U8, w => w.Good, (w, v) => w.Good = (byte)v)
        .Has("Make", "level", ColumnType.U8, w => w.Level, (w, v) => w.Level = (byte)v).Has("Make", "ready", ColumnType.U64, w => (long)w.Ready, (w, v) => w.Ready = (ulong)v)
        .Has("Make", "recipe", w => w.Recipe, (w, v) => w.Recipe = v).Has("Owner", "house", ColumnType.U8, w => w.House, (w, v) => w.House = (byte)v)
        .Has("Owner", "town", ColumnType.Ref, w => (long)w.Town, (w, v) => w.Town = (ulong)v);

    public readonly IRoster[] All; // by label

    public State() { All = new IRoster[] { Caravans, Contracts, Houses, Markets, Realm, Towns, Works }; }

    public bool Same(State other) => Production == other.Production && All.Zip(other.All, (a, b) => a.Same(b)).All(same => same);

    public List<Difference> Differences(State other)
    {
        var list = new List<Difference>();
        if (Production != other.Production) list.Add(new Difference { Archetype = "", Component = "RNG" });
        for (int i = 0; i < All.Length; i++) if (!All[i].Same(other.All[i])) list.AddRange(All[i].Differences(other.All[i]));
        return list;
    }
}

// ---- mistakes ----

/// <summary>A mistake that a peer can be told to make. Code: it is a mistake of the program, so that `serve` makes
/// it.</summary>
sealed class FaultKind
{
    public readonly string Name, Does; public readonly string[] Places; public readonly bool Code;

    FaultKind(string name, string places, string does, bool code = true) { Name = name; Places = places.Split(','); Does = does; Code = code; }

    /// <summary>It shows only when a peer comes back.</summary>
    public bool NeedsLoad => Name == "load-loses" || Name == "save-omits-field" || Name == "timer-off";

    public static readonly FaultKind[] All = {
        new FaultKind("rng-leak", "Works,Caravans,Fortune", "smoke, dust or a flight of crows is drawn from a generator of the simulation"),
        new FaultKind("map-order", "Markets,Caravans,Contracts", "a hash table is walked in an order that depends on the addresses of its keys"),
        new FaultKind("unsorted-merge", "Works,Caravans", "what two threads gather is used in the order in which they finish"),
        new FaultKind("unstable-sort", "Works,Markets,Caravans", "a list is sorted by a number that many share, without a second key"),
        new FaultKind("locale-sort", "Caravans,Contracts,Fortune", "names are sorted as the machine's locale has it instead of by code units"),
        new FaultKind("locale-number", "Works,Markets,Contracts", "a number with a point is read by a locale that has a comma"),
        new FaultKind("wall-clock", "Works,Markets,Caravans", "the simulation reads the machine's clock"),
        new FaultKind("float-fma", "Markets,Ledgers", "a product of two f32 is added before it is rounded"),
        new FaultKind("float-reassoc", "Markets,Ledgers", "a sum of floats is added from its other end"),
        new FaultKind("uninitialized", "Works,Markets", "a buffer is used again without clearing it"),
        new FaultKind("stale-cache", "RouteCost,PriceIndex", "a cache is not computed again when a storm or a rumour changes what it is of"),
        new FaultKind("impure-validation", "Works,Caravans,Contracts", "the test whether an order is possible already changes what it names, on its player's machine"),
        new FaultKind("prediction-leak", "Works,Caravans", "taking back the preview of an order forgets a column"),
        new FaultKind("save-omits-field", "Works,Caravans,Contracts", "the save that the peer gets when it comes back lacks a column"),
        new FaultKind("load-loses", "Markets,Caravans,Contracts", "a peer that loads loses a column or a table"),
        new FaultKind("timer-off", "Works,Caravans,Contracts", "a peer that comes back counts times from its own clock, which stood still"),
        new FaultKind("initial-state", "House,Market,Town", "a setting of the lobby is on on one peer only"),
        new FaultKind("data-mismatch", "Works,Caravans,Ledgers", "the peer has another table of labour, speed or interest"),
        new FaultKind("reconverge", "Works,Markets,Ledgers", "a value that nothing reads is wrong once, until it is computed again"),
        new FaultKind("host-only", "Markets,Caravans,Ledgers", "a script or bot runs on one machine only and gives no orders"),
        new FaultKind("checksum-only", "Town,Contract", "a table is written without marking it for the checksum"),
        new FaultKind("blind-checksum", "House,Market,Town", "the checksum of all peers leaves out a column that one peer computes otherwise"),
        new FaultKind("foreign-write", "House,Market,Caravan", "another program writes a larger value into the memory", false),
        new FaultKind("bit-flip", "House,Market,Caravan", "one bit of the memory flips once", false),
        new FaultKind("order-dropped", "Caravan,Works,Contract", "the network loses an order", false),
        new FaultKind("order-duplicated", "Caravan,Works", "the network delivers an order again in the next tick", false),
        new FaultKind("order-reordered", "Caravan,Market", "the network delivers two orders of a tick the other way round", false),
        new FaultKind("order-altered", "Caravan,Works,Contract", "one bit of an order flips on its way", false),
        new FaultKind("order-late", "Caravan,Works,Contract", "the network delivers an order a tick late", false) };
}

sealed class Fault
{
    public FaultKind Kind; public string Place, Peer; public ulong? From;
    public bool Made; // of those that are made once

    /// <summary>Reads NAME[/PLACE][@TICK][:PEER]. The seed decides the parts that are missing.</summary>
    public static Fault Parse(string text)
    {
        string rest = text, peer = After(ref rest, ':'), tick = After(ref rest, '@'), place = After(ref rest, '/');
        FaultKind kind = Array.Find(FaultKind.All, k => k.Name == rest);
        if (kind == null || place != null && !kind.Places.Contains(place)) throw new FormatException("there is no fault " + text);
        ulong? from = tick == null ? (ulong?)null : ulong.Parse(tick, CultureInfo.InvariantCulture);
        return new Fault { Kind = kind, Place = place, From = from, Peer = peer ?? (kind.Name == "host-only" ? "host" : "client") };
    }

    static string After(ref string text, char mark)
    {
        int at = text.IndexOf(mark);
        string after = at < 0 ? null : text.Substring(at + 1);
        if (at >= 0) text = text.Substring(0, at);
        return after;
    }

    public Fault For(ulong seed) => new Fault {
        Kind = Kind, Peer = Peer, Place = Place ?? Kind.Places[seed % (ulong)Kind.Places.Length], From = Kind.Name == "initial-state" ? 0 : From ?? 40 + seed * 29 % 100 };
}

// ---- the game ----

/// <summary>The command of an order. The entity that it names is not the first of its fields.</summary>
sealed class Command
{
    public bool Haste; public int Number; public byte Good; public double Price; public string Agent = ""; public ulong To, Subject;

    /// <summary>Null if the payload makes no sense.</summary>
    public static Command Read(Order o)
    {
        var r = new BinaryReader(new MemoryStream(o.Payload));
        var c = new Command();
        try
        {
            switch (o.Kind)
            {
                case "route": c.Haste = r.ReadByte() != 0; c.To = r.ReadUInt64(); break;
                case "trade": c.Good = r.ReadByte(); c.Number = r.ReadInt32(); break;
                case "hire": c.Number = r.ReadInt16(); r.ReadByte(); break;
                case "bid": c.Price = r.ReadDouble(); c.Agent = r.ReadString(); break;
                case "repair": c.Price = r.ReadSingle(); break;
                default: return null;
            }
            c.Subject = r.ReadUInt64();
        }
        catch (Exception e) when (e is IOException || e is ArgumentException || e is FormatException) { return null; }
        return r.BaseStream.Position == o.Payload.Length ? c : null;
    }

    public byte[] Payload(string kind)
    {
        var memory = new MemoryStream(); var w = new BinaryWriter(memory);
        if (kind == "route") { w.Write((byte)(Haste ? 1 : 0)); w.Write(To); }
        else if (kind == "trade") { w.Write(Good); w.Write(Number); }
        else if (kind == "hire") { w.Write((short)Number); w.Write((byte)0); }
        else if (kind == "bid") { w.Write(Price); w.Write(Agent); }
        else w.Write((float)Price);
        w.Write(Subject);
        return memory.ToArray();
    }
}

sealed class Trade : IGame, IState, ISaver, ILoader, ISystems, ICaches, IValidator, ITester, IPredictor
{
    public const int Houses = 4, Goods = 6, Council = 0; // players 1 to 4 are houses, player 0 is the council, which the host plays
    const int MaxTowns = 24;
    const long Mile = 256, Width = 40 * Mile;
    public static readonly string[] Kinds = { "route", "trade", "hire", "bid", "repair", "chat" }; // chat is local
    static readonly string[] GoodNames = { "salt", "grain", "cloth", "iron", "wine", "amber" }, Decimals = { "1.25", "0.85", "1.05", "2.55" };
    static readonly string[] TownNames = { "Zell", "ebern", "Ulm", "Ähringen", "aalen", "Öhr", "Esslingen", "ötz", "Überlingen", "Altdorf", "zürs", "Oberau" };
    static readonly string[] CaravanNames = { "Zeisig", "ähre", "Amsel", "bär", "Öl", "otter", "Uhu", "über", "Elster", "écu" };
    static readonly float[] Base = { 2, 1, 5, 8, 6, 20 };
    static readonly CultureInfo German = new CultureInfo("de-DE");

    public State S = new State();
    uint[] cost = new uint[0];                // derived: of the way between two towns, in 1/256 miles
    double[] index = new double[Goods];       // derived: mean price of a good
    int[] pool = new int[MaxTowns], glut = new int[Goods]; // scratch: hands of a town that are free, the largest stock of a good
    ulong now, frames;                        // frames: ticks that this process has played, its clock
    bool costChanged, indexChanged, predicting;
    World hashed = new World();

    readonly List<Fault> given; List<Fault> faults = new List<Fault>();
    public bool Outside;                      // whether what is not of the code befalls this peer: memory, network
    public uint Own = 2;                      // the house that is played here
    bool scripted;                            // what runs on one machine only runs here
    public string Blind = "";                 // the column that the checksum leaves out

    public Trade(List<Fault> faults) { given = faults; }

    public string Name => "trade"; public string Build => "2.1";
    public IReadOnlyList<string> Systems { get; } = new[] { "Orders", "Works", "Markets", "Caravans", "Contracts", "Fortune", "Ledgers" };

    bool On(string fault, string place) => faults.Count > 0 && faults.Exists(f => f.Kind.Name == fault && f.Place == place && now >= f.From);

    bool Once(string fault, string place)
    {
        Fault due = predicting ? null : faults.Find(f => f.Kind.Name == fault && f.Place == place && now >= f.From && !f.Made);
        return due != null && (due.Made = true);
    }

    static int TownsOf(Session s)
    {
        int towns = TownNames.Length;
        if (s != null && s.Parameters.TryGetValue("towns", out string text) && (!int.TryParse(text, out towns) || towns < 4 || towns > MaxTowns))
            throw new RefusedException("a realm of " + text + " towns, expected 4 to " + MaxTowns);
        return towns;
    }

    void Begin(ulong seed, string peer, State state, ulong point)
    {
        faults = given.ConvertAll(f => f.For(seed));
        scripted = faults.Exists(f => f.Kind.Name == "host-only" && f.Peer == peer);
        S = state; now = point; hashed = new World();
        Array.Clear(pool, 0, pool.Length); Array.Clear(glut, 0, glut.Length);
    }

    public void Start(Session s)
    {
        int towns = TownsOf(s);
        Begin(s.Seed, s.Peer, new State { Production = unchecked(s.Seed * 0x9E3779B97F4A7C15) | 1 }, 0);
        frames = 0;
        S.Realm.Add(new Realm { Serial = 1, Events = unchecked(s.Seed * 0xC2B2AE3D27D4EB4F) | 1 });
        for (ulong h = 1; h <= Houses; h++) S.Houses.Add(new House { Id = h, Name = "House " + "RGBY"[(int)h - 1], Balance = 1000, Rank = 1 });
        for (int t = 0; t < towns; t++)
        {
            string name = TownNames[t % TownNames.Length] + (t < TownNames.Length ? "" : " am Rain");
            Town town = S.Towns.Add(new Town { Id = Next(), Name = name, Tariff = Decimals[t % 3], X = Dice(Width), Y = Dice(Width), People = (ushort)(200 + Dice(300)), Mood = 1 });
            for (byte g = 0; g < Goods; g++) S.Markets.Add(new Market { Id = town.Id, Sub = g, Stock = (int)(30 + Dice(60)), Price = Base[g] });
        }
        for (int i = 0; i < 3 * towns; i++)
            S.Works.Add(new Works { Id = Next(), House = (byte)(1 + i % Houses), Good = (byte)(i % Goods), Level = (byte)(1 + Dice(3)), Town = (ulong)(1 + Dice(towns)),
                Recipe = Decimals[Dice(4)], Hands = (ushort)(2 + Dice(5)), Ready = (ulong)Dice(8) });
        for (int i = 0; i < 4 * towns; i++)
            S.Caravans.Add(new Caravan { Id = Next(), Name = CaravanNames[i % 10] + " " + (1 + i / 10), House = (byte)(1 + i % Houses), At = (ulong)(1 + Dice(towns)), Rest = (ulong)Dice(12) });
        if (On("initial-state", "House")) S.Houses.Items[1].Debt = 250;
        if (On("initial-state", "Market")) S.Markets.Items[7].Stock *= 2;
        if (On("initial-state", "Town")) S.Towns.Items[2].People += 50;
        RefreshCosts(); RefreshIndex();
    }

    ulong Next() { return S.Realm.Items[0].Serial++; }

    static ulong Shift(ulong v) { v ^= v >> 12; v ^= v << 25; return v ^ v >> 27; }
    static long Below(ulong v, long n) => n <= 0 ? 0 : (long)((unchecked(v * 2685821657736338717) >> 11) % (ulong)n);

    long Dice(long below) => Below(S.Production = Shift(S.Production), below);

    long Chance(long below)
    {
        Realm r = S.Realm.Items[0];
        r.Drawn++; r.Events = Shift(r.Events); S.Realm.Changed = true;
        return Below(r.Events, below);
    }

    public Town TownOf(ulong id) => S.Towns.Items[(int)id - 1];
    public Market MarketOf(ulong town, int good) => S.Markets.Items[((int)town - 1) * Goods + good];
    House HouseOf(byte house) => S.Houses.Items[house - 1];
    uint CostOf(ulong a, ulong b) => cost[((int)a - 1) * S.Towns.Items.Count + (int)b - 1];
    double Number(string text, string place) =>
        double.TryParse(text, NumberStyles.Float | NumberStyles.AllowThousands, On("locale-number", place) ? German : CultureInfo.InvariantCulture, out double v) ? v : 1;
    int ByName(string a, string b, string place) => On("locale-sort", place) ? string.Compare(a, b, false, German) : string.CompareOrdinal(a, b);
    ulong Clock(string place) => On("wall-clock", place) ? (ulong)(Stopwatch.GetTimestamp() / 64 % 3) : 0;

    /// <summary>A hash table without hash functions for its keys goes by their addresses.</summary>
    static List<T> Hashed<T>(List<T> list) where T : class
    {
        var table = new Hashtable();
        foreach (T item in list) table[item] = true;
        return table.Keys.Cast<T>().ToList();
    }

    /// <summary>Two threads look at half of the list each.</summary>
    static List<T> Gathered<T>(List<T> list)
    {
        var found = new List<T>();
        Action<int> half = n => { for (int i = n; i < list.Count; i += 2) { lock (found) found.Add(list[i]); Thread.Yield(); } };
        var other = new Thread(() => half(1));
        other.Start(); half(0); other.Join();
        return found;
    }

    uint[] Costs()
    {
        List<Town> towns = S.Towns.Items;
        var fresh = new uint[towns.Count * towns.Count];
        for (int i = 0; i < fresh.Length; i++)
        {
            Town a = towns[i / towns.Count], b = towns[i % towns.Count];
            fresh[i] = (uint)(Math.Max(Math.Abs(a.X - b.X), Math.Abs(a.Y - b.Y)) * (16 + a.Wear + b.Wear) / 16);
        }
        return fresh;
    }

    double MeanOf(int good)
    {
        double sum = 0;
        for (int m = good; m < S.Markets.Items.Count; m += Goods) sum += S.Markets.Items[m].Price;
        return sum / S.Towns.Items.Count;
    }

    double[] Indexes() => Enumerable.Range(0, Goods).Select(MeanOf).ToArray();

    void RefreshCosts() { cost = Costs(); costChanged = true; }
    void RefreshIndex() { index = Indexes(); indexChanged = true; }
    void RefreshIndex(int good) { index[good] = MeanOf(good); indexChanged = true; }

    public IEnumerable<string> StaleCaches()
    {
        if (!index.SequenceEqual(Indexes())) yield return "PriceIndex";
        if (!cost.SequenceEqual(Costs())) yield return "RouteCost";
    }

    public void Step(ulong tick, IReadOnlyList<Order> orders) { for (int i = 0; i < Systems.Count; i++) RunSystem(i, tick, orders); }

    public void RunSystem(int number, ulong tick, IReadOnlyList<Order> orders)
    {
        now = tick;
        switch (number)
        {
            case 0: foreach (Order o in orders) if (Possible(o)) Apply(o); break;
            case 1: RunWorks(tick); break;
            case 2: RunMarkets(tick); break;
            case 3: RunCaravans(tick); break;
            case 4: RunContracts(tick); break;
            case 5: RunFortune(tick); break;
            default: RunLedgers(tick); break;
        }
        if (Outside) Befall(number);
        if (number + 1 < Systems.Count) return;
        now = tick + 1; frames++;
    }

    // ---- orders ----

    public string Validate(Order o)
    {
        if (!Kinds.Contains(o.Kind)) return "no such kind of order";
        if (o.Player > Houses) return "no such player";
        if (o.Kind != "chat" && o.Player == Council != (o.Kind == "repair")) return "not an order of this player";
        return o.Kind == "chat" || Command.Read(o) != null ? "" : "a payload that makes no sense";
    }

    public bool Possible(Order o)
    {
        if (Validate(o) != "") return false;
        if (o.Kind == "chat") return true;
        Command c = Command.Read(o);
        Caravan v = S.Caravans.Find(c.Subject); Works w = S.Works.Find(c.Subject); Contract k = S.Contracts.Find(c.Subject);
        switch (o.Kind)
        {
            case "route": return v != null && v.House == o.Player && c.To > 0 && c.To <= (ulong)S.Towns.Items.Count && c.To != v.At;
            case "trade": return v != null && v.House == o.Player && v.To == 0 && v.Cargo == 0 && c.Good < Goods && c.Number > 0 && MarketOf(v.At, c.Good).Stock > 0;
            case "hire": return w != null && w.House == o.Player && w.Hands + c.Number >= 0 && w.Hands + c.Number <= 60;
            case "bid": return k != null && k.Delivered == 0 && c.Price > 0 && c.Price < k.Reward && c.Agent.Length < 40;
            default: return S.Towns.Find(c.Subject) != null;
        }
    }

    /// <summary>What the machine of a player asks when he is about to give an order. Latency later it is applied.</summary>
    public bool Test(Order o)
    {
        if (!Possible(o)) return false;
        Command c = Command.Read(o); // null for chat, which touches nothing
        if (o.Kind == "hire" && On("impure-validation", "Works")) Touch(S.Works).Find(c.Subject).Ready = now; // the dialog wakes them
        if (o.Kind == "route" && On("impure-validation", "Caravans")) Touch(S.Caravans).Find(c.Subject).Waited += 5;
        if (o.Kind == "bid" && On("impure-validation", "Contracts")) Touch(S.Contracts).Find(c.Subject).Agent = c.Agent;
        return true;
    }

    static Roster<T> Touch<T>(Roster<T> r) where T : Item, new() { r.Changed = true; return r; }

    void Apply(Order o)
    {
        if (o.Kind == "chat") return;
        Command c = Command.Read(o);
        if (o.Kind == "route")
        {
            Caravan v = Touch(S.Caravans).Find(c.Subject);
            v.To = c.To; v.Haste = c.Haste; v.Left = CostOf(v.At, c.To);
        }
        else if (o.Kind == "trade") Load(Touch(S.Caravans).Find(c.Subject), c.Good, c.Number);
        else if (o.Kind == "hire") { Works w = Touch(S.Works).Find(c.Subject); w.Hands = (ushort)(w.Hands + c.Number); }
        else if (o.Kind == "bid") { Contract k = Touch(S.Contracts).Find(c.Subject); k.House = (byte)o.Player; k.Reward = c.Price; k.Agent = c.Agent; }
        else { Town t = Touch(S.Towns).Find(c.Subject); t.Wear -= (ushort)Math.Min(t.Wear, Math.Max(0, c.Price)); RefreshCosts(); }
    }

    void Load(Caravan v, byte good, int most)
    {
        Market m = MarketOf(v.At, good);
        int n = Math.Max(0, Math.Min(most, m.Stock));
        double paid = (double)m.Price * n;
        m.Stock -= n; v.Good = good; v.Cargo = n; v.Paid = paid;
        HouseOf(v.House).Balance -= paid; S.Houses.Changed = S.Markets.Changed = true;
    }

    // ---- systems ----

    void RunWorks(ulong tick)
    {
        S.Works.Changed = S.Markets.Changed = S.Houses.Changed = true;
        List<Works> due = S.Works.Items.FindAll(w => (tick + w.Id) % 4 == 0);
        if (On("unsorted-merge", "Works")) due = Gathered(due);
        foreach (Works w in due)
        {
            bool idle = tick < w.Ready || w.Hands == 0;
            w.Idle = idle != Once("reconverge", "Works");
            if (idle) continue;
            double labour = On("data-mismatch", "Works") && w.Good == 2 ? 1.9 : 2;
            w.Done += (long)(w.Hands * Number(w.Recipe, "Works") * 1000 / labour) + Dice(100);
            if (w.Done < 6000) continue;
            int made = (int)Math.Min(40, w.Done / 1000);
            w.Done %= 1000;
            MarketOf(w.Town, w.Good).Stock += made;
            w.Ready = tick + 6 + (ulong)Dice(6) + Clock("Works");
            w.Hands -= (ushort)Math.Min(w.Hands, Dice(3));
            HouseOf(w.House).Balance -= made * 0.4;
            if (On("rng-leak", "Works")) Dice(360); // which way the smoke goes
        }
        if (tick % 8 == 0) Hire();
    }

    void Hire()
    {
        if (!On("uninitialized", "Works")) Array.Clear(pool, 0, pool.Length);
        for (int t = 0; t < S.Towns.Items.Count; t++) pool[t] += S.Towns.Items[t].People / 25;
        foreach (Works w in S.Works.Items) pool[w.Town - 1] -= w.Hands;
        List<Works> list = S.Works.Items.ToList();
        if (On("unstable-sort", "Works")) list.Sort((a, b) => b.Level.CompareTo(a.Level));
        else list = list.OrderByDescending(w => w.Level).ThenBy(w => w.Id).ToList();
        foreach (Works w in list)
        {
            int n = Math.Max(0, Math.Min(pool[w.Town - 1], 3 * w.Level - w.Hands));
            w.Hands += (ushort)n; pool[w.Town - 1] -= n;
        }
    }

    void RunMarkets(ulong tick)
    {
        S.Markets.Changed = true;
        if (!On("uninitialized", "Markets")) Array.Clear(glut, 0, glut.Length);
        foreach (Market m in S.Markets.Items) glut[m.Sub] = Math.Max(glut[m.Sub], m.Stock);
        foreach (Market m in S.Markets.Items)
        {
            if ((tick + m.Sub) % 8 != 0) continue; // the day of this good
            Town t = TownOf(m.Id);
            m.Demand = (ushort)(t.People / 40 + (tick < t.Fair ? 3 : 0));
            m.Stock -= Math.Max(0, Math.Min(m.Stock, m.Demand));
            m.Short = m.Stock < 2 * m.Demand;
            float scarce = (float)(60f / (float)(Math.Max(0, m.Stock) + 10 + glut[m.Sub] / 8));
            float target = (float)((float)(Base[m.Sub] * scarce) * (float)Number(t.Tariff, "Markets"));
            float price = Drift(m.Price, target, On("float-fma", "Markets"));
            m.Price = Math.Max(0.05f, Math.Min(500, (float)(price + 0.01f * Clock("Markets"))));
        }
        if (tick % 8 == 4) Relieve();
        if (tick % 16 == 8) Average();
        if (Once("reconverge", "Markets")) S.Markets.Items[3].Average += 1;
        if (On("host-only", "Markets") && scripted && tick % 16 == 0) MarketOf(1, 1).Stock += 20; // a script fills the host's granary
        for (int g = 0; g < Goods; g++) if ((tick + (ulong)g) % 8 == 0) RefreshIndex(g);
    }

    /// <summary>Nine tenths of one and a tenth of the other, each product rounded to f32.</summary>
    static float Drift(float a, float b, bool fused)
    {
        if (fused) return (float)((double)a * 0.9f + (double)(float)(b * 0.1f));
        float x = (float)(a * 0.9f), y = (float)(b * 0.1f);
        return (float)(x + y);
    }

    void Relieve()
    {
        List<Market> list = S.Markets.Items.FindAll(m => m.Short);
        if (On("unstable-sort", "Markets")) list.Sort((a, b) => a.Stock.CompareTo(b.Stock));
        else list = list.OrderBy(m => m.Stock).ThenBy(m => m.Id).ThenBy(m => m.Sub).ToList();
        if (On("map-order", "Markets")) list = Hashed(list);
        int left = 60;
        foreach (Market m in list)
        {
            int n = Math.Min(left, 3 + (int)Dice(4));
            m.Stock += n; left -= n;
        }
    }

    void Average() // of a town's prices, for its notice board
    {
        for (int t = 0; t < S.Towns.Items.Count; t++)
        {
            float sum = 0;
            for (int g = 0; g < Goods; g++) sum = (float)(sum + S.Markets.Items[t * Goods + (On("float-reassoc", "Markets") ? Goods - 1 - g : g)].Price);
            if (On("blind-checksum", "Market")) sum *= 1.5f;
            for (int g = 0; g < Goods; g++) S.Markets.Items[t * Goods + g].Average = (float)(sum / Goods);
        }
    }

    void RunCaravans(ulong tick)
    {
        S.Caravans.Changed = S.Markets.Changed = S.Houses.Changed = true;
        var arrivals = new List<Caravan>();
        foreach (Caravan v in S.Caravans.Items)
        {
            if (v.To == 0) continue;
            v.Left -= (v.Haste ? 3 : 2) * Mile / 2 + (On("data-mismatch", "Caravans") && v.Haste ? 16 : 0);
            if (v.Left <= 0) arrivals.Add(v);
        }
        arrivals = arrivals.OrderBy(v => v.Name, Comparer<string>.Create((a, b) => ByName(a, b, "Caravans"))).ThenBy(v => v.Id).ToList();
        if (On("map-order", "Caravans")) arrivals = Hashed(arrivals);
        if (On("unsorted-merge", "Caravans")) arrivals = Gathered(arrivals);
        foreach (Caravan v in arrivals)
        {
            Market m = MarketOf(v.To, v.Good);
            HouseOf(v.House).Balance += (double)m.Price * v.Cargo;
            m.Stock += v.Cargo; v.Cargo = 0; v.Paid = 0;
            v.At = v.To; v.To = 0; v.Left = 0; v.Waited = 0;
            v.Rest = tick + 2 + (ulong)Dice(5) + Clock("Caravans");
            if (On("rng-leak", "Caravans")) Dice(360); // which way the dust goes
        }
        if (tick % 4 == 2) SetOut(tick);
        if (On("host-only", "Caravans") && scripted && tick % 8 == 0) // a bot of the host sends one off
        {
            Caravan v = S.Caravans.Items.Find(c => c.House == Houses && c.To == 0);
            if (v != null) { v.To = v.At % 4 + 1; v.Left = CostOf(v.At, v.To); }
        }
    }

    void SetOut(ulong tick)
    {
        List<Caravan> list = S.Caravans.Items.FindAll(v => v.To == 0 && tick >= v.Rest);
        if (On("unstable-sort", "Caravans")) list.Sort((a, b) => b.Waited.CompareTo(a.Waited));
        else list = list.OrderByDescending(v => v.Waited).ThenBy(v => v.Id).ToList();
        int gates = 5; // so many are let out
        foreach (Caravan v in list)
        {
            v.Waited++;
            if (gates == 0) continue;
            gates--;
            byte good = 0; // what is cheap here
            for (byte g = 1; g < Goods; g++) if (MarketOf(v.At, g).Price / index[g] < MarketOf(v.At, good).Price / index[good]) good = g;
            if (v.Cargo == 0) Load(v, good, 8);
            ulong to = (ulong)(1 + Dice(S.Towns.Items.Count)), or = (ulong)(1 + Dice(S.Towns.Items.Count)); // where more is paid for the way
            Func<ulong, double> gain = town => town == v.At ? -1e9 : MarketOf(town, v.Good).Price * 8 - CostOf(v.At, town) / (double)Mile;
            v.To = gain(or) > gain(to) ? or : to;
            v.Left = v.To == v.At ? Mile : CostOf(v.At, v.To);
            v.Haste = false;
        }
    }

    void RunContracts(ulong tick)
    {
        if (tick % 4 == 1 && S.Contracts.Items.Count < 16) Offer(tick);
        if (tick % 2 == 1) return;
        if (!On("checksum-only", "Contract")) S.Contracts.Changed = true;
        S.Markets.Changed = S.Houses.Changed = true;
        List<Contract> list = S.Contracts.Items.FindAll(k => k.House != 0);
        list = list.OrderBy(k => k.Title, Comparer<string>.Create((a, b) => ByName(a, b, "Contracts"))).ThenBy(k => k.Id).ToList();
        if (On("map-order", "Contracts")) list = Hashed(list);
        foreach (Contract k in list)
        {
            Market m = MarketOf(k.Town, k.Good);
            int n = Math.Max(0, Math.Min(Math.Min(1 + (int)Chance(3), k.Amount - k.Delivered), m.Stock));
            k.Delivered += n; m.Stock -= n;
            HouseOf(k.House).Balance -= (double)m.Price * n;
            if (k.Delivered >= k.Amount) HouseOf(k.House).Balance += k.Reward * Number(k.Rate, "Contracts");
        }
        foreach (Contract k in S.Contracts.Items) if (tick >= k.Deadline && k.House != 0 && k.Delivered < k.Amount) HouseOf(k.House).Debt += 5;
        S.Contracts.Items.RemoveAll(k => k.Delivered >= k.Amount || tick >= k.Deadline);
    }

    void Offer(ulong tick)
    {
        Town t = S.Towns.Items[(int)Chance(S.Towns.Items.Count)];
        byte good = (byte)Chance(Goods);
        int amount = 10 + (int)Chance(20);
        S.Contracts.Add(new Contract { Id = Next(), Town = t.Id, Good = good, Amount = amount, Title = GoodNames[good] + " for " + t.Name,
            Rate = Decimals[Chance(4)], Reward = index[good] * amount * 1.5, Deadline = tick + 40 + (ulong)Chance(60) });
        S.Realm.Changed = true;
    }

    void RunFortune(ulong tick)
    {
        if (tick % 3 != 0) return;
        List<Town> towns = S.Towns.Items.OrderBy(x => x.Name, Comparer<string>.Create((a, b) => ByName(a, b, "Fortune"))).ThenBy(x => x.Id).ToList();
        Town t = towns[(int)Chance(towns.Count)];
        S.Markets.Changed = true;
        if (!On("checksum-only", "Town")) S.Towns.Changed = true;
        long what = Chance(4);
        if (what == 0) { t.Wear = (ushort)Math.Min(40, t.Wear + 2 + Chance(4)); if (!On("stale-cache", "RouteCost")) RefreshCosts(); } // a storm
        else if (what == 1) t.Fair = tick + 8 + (ulong)Chance(24);
        int good = what < 2 ? 0 : (int)Chance(Goods);
        if (what == 2) { MarketOf(t.Id, good).Price *= 2; if (!On("stale-cache", "PriceIndex")) RefreshIndex(good); } // a rumour
        if (what == 3) MarketOf(t.Id, good).Stock += 10;
        if (On("rng-leak", "Fortune")) Chance(8); // where the crows fly
    }

    void RunLedgers(ulong tick)
    {
        double interest = On("data-mismatch", "Ledgers") ? 0.0026 : 0.0025;
        if (Once("reconverge", "Ledgers")) Touch(S.Houses).Items[2].Worth += 100;
        if (On("host-only", "Ledgers") && scripted && tick % 32 == 0) { HouseOf(Houses).Debt += 200; Touch(S.Houses).Items[Houses - 1].Balance += 200; } // a bot borrows
        if (tick % 8 != 0) return;
        S.Houses.Changed = true;
        foreach (House h in S.Houses.Items)
        {
            h.Balance += h.Balance * interest - h.Debt * 0.01;
            if (h.Debt > 0 && h.Balance > 10 * h.Debt) { h.Balance -= h.Debt; h.Debt = 0; }
        }
        S.Towns.Changed = true;
        foreach (Town t in S.Towns.Items) t.Mood = Drift(t.Mood, (float)(MarketOf(t.Id, 1).Stock * (On("blind-checksum", "Town") ? 0.017f : 0.013f)), On("float-fma", "Ledgers"));
        if (tick % 16 == 0) Rank();
    }

    void Rank() // for the chronicle
    {
        foreach (House h in S.Houses.Items)
        {
            IEnumerable<Caravan> own = S.Caravans.Items.Where(v => v.House == h.Id);
            if (On("float-reassoc", "Ledgers")) own = own.Reverse();
            h.Worth = own.Aggregate(h.Balance - h.Debt, (sum, v) => sum + v.Paid / 3);
            if (On("blind-checksum", "House")) h.Worth *= 1.25;
        }
        foreach (House h in S.Houses.Items) h.Rank = (byte)(1 + S.Houses.Items.Count(other => other.Balance > h.Balance));
    }

    /// <summary>What happens to the memory of a machine from outside.</summary>
    void Befall(int system)
    {
        House house = S.Houses.Items[(int)Own - 1]; Market market = MarketOf(2, 0); Caravan caravan = S.Caravans.Items.Find(v => v.House == Own && v.To != 0);
        if (system == 1 && Once("foreign-write", "House")) house.Balance = 1000000;
        if (system == 1 && Once("bit-flip", "House")) house.Balance = BitConverter.Int64BitsToDouble(BitConverter.DoubleToInt64Bits(house.Balance) ^ 1L << 44);
        if (system == 5 && Once("foreign-write", "Market")) market.Stock = 9999;
        if (system == 5 && Once("bit-flip", "Market")) market.Stock ^= 1 << 6;
        if (system == 4 && caravan != null && Once("foreign-write", "Caravan")) caravan.Cargo = 500;
        if (system == 4 && caravan != null && Once("bit-flip", "Caravan")) caravan.Left ^= 1 << 10;
        S.Houses.Changed = S.Markets.Changed = S.Caravans.Changed = true;
    }

    // ---- the state as a World ----

    /// <summary>The state for hashing: only tables that were marked are filled again.</summary>
    public World World() { Fill(hashed, false); return hashed; }

    /// <summary>The whole state, as the memory has it.</summary>
    public World Whole() { var w = new World(); Fill(w, true); return w; }

    void Fill(World w, bool all)
    {
        w.Rng = BitConverter.GetBytes(S.Production);
        foreach (IRoster r in S.All)
        {
            if (!all && !r.Changed) continue;
            r.Fill(w, all ? "" : Blind);
            if (!all) r.Changed = false;
        }
        if (all || costChanged)
        {
            Table t = w.Table(TableClass.Cache, "RouteCost", 2); t.Clear();
            Column miles = t.Column("Way", "miles", ColumnType.Fixed, (uint)Mile);
            int n = S.Towns.Items.Count;
            for (int i = 0; i < cost.Length; i++) { t.Row((ulong)(i / n + 1), (ulong)(i % n + 1)); miles.Set(cost[i]); }
        }
        if (all || indexChanged)
        {
            Table t = w.Cache("PriceIndex"); t.Clear();
            Column mean = t.Column("Good", "mean", ColumnType.F64);
            for (int g = 0; g < Goods; g++) { t.Row((ulong)g); mean.Set(index[g]); }
        }
        if (!all) costChanged = indexChanged = false;
    }

    public void Load(World w, Session session)
    {
        var loaded = new State();
        foreach (IRoster r in loaded.All) r.Load(w);
        if (w.Rng == null || w.Rng.Length != 8) throw new RefusedException("a generator of 8 bytes is expected");
        loaded.Production = BitConverter.ToUInt64(w.Rng, 0);
        string wrong = Wrong(loaded);
        if (wrong != "") throw new RefusedException("the state has " + wrong + " that cannot be");
        if (session != null && session.Parameters.ContainsKey("towns") && TownsOf(session) != loaded.Towns.Items.Count) throw new RefusedException("the state has another number of towns");
        Begin(w.Seed, session == null ? "" : session.Peer, loaded, w.Tick);
        Arrive();
    }

    static string Wrong(State s)
    {
        int n = s.Towns.Items.Count;
        Func<ulong, ulong, bool> place = (town, least) => town >= least && town <= (ulong)n;
        Func<byte, int, bool> owned = (house, least) => house >= least && house <= Houses;
        if (n < 4 || n > MaxTowns || s.Towns.Items.Where((t, i) => t.Id != (ulong)i + 1 || t.X < 0 || t.Y < 0 || t.X > Width || t.Y > Width || t.Wear > 40).Any()) return "towns";
        if (s.Houses.Items.Count != Houses || s.Houses.Items.Where((h, i) => h.Id != (ulong)i + 1).Any()) return "houses";
        if (s.Markets.Items.Count != n * Goods || s.Markets.Items.Where((m, i) => m.Id != (ulong)(i / Goods) + 1 || m.Sub != (ulong)(i % Goods)).Any()) return "markets";
        if (s.Realm.Items.Count != 1 || s.Realm.Items[0].Serial > long.MaxValue) return "a realm";
        if (!s.Works.Items.TrueForAll(w => owned(w.House, 1) && w.Good < Goods && place(w.Town, 1))) return "works";
        if (!s.Caravans.Items.TrueForAll(v => owned(v.House, 1) && v.Good < Goods && place(v.At, 1) && place(v.To, 0))) return "caravans";
        if (!s.Contracts.Items.TrueForAll(k => owned(k.House, 0) && k.Good < Goods && place(k.Town, 1) && k.Id < s.Realm.Items[0].Serial)) return "contracts";
        return "";
    }

    // ---- saves ----

    string ColumnOf(string fault, params string[] columns)
    {
        string[] places = { "Works", "Markets", "Caravans", "Contracts" };
        for (int i = 0; i < columns.Length; i++) if (columns[i] != "" && On(fault, places[i])) return columns[i];
        return "";
    }

    /// <summary>The column that the saves of this build do not have.</summary>
    string Omitted => ColumnOf("save-omits-field", "Works.Make.ready", "", "Caravan.Rest.until", "Contract.Deal.delivered");

    public byte[] Save() => Save(Omitted);

    /// <summary>What this peer asks the host for, at a point.</summary>
    public string OmittedAt(ulong point) { now = point; return Omitted; }

    /// <summary>A save for a build that leaves a column out of its saves.</summary>
    public byte[] Save(string without)
    {
        var memory = new MemoryStream(); var w = new BinaryWriter(memory);
        w.Write(without); w.Write(now); w.Write(S.Production);
        foreach (IRoster r in S.All) r.Write(w, without);
        return memory.ToArray();
    }

    public void Restore(byte[] save) { Read(save); Arrive(); }

    void Read(byte[] save)
    {
        var r = new BinaryReader(new MemoryStream(save));
        string without = r.ReadString();
        now = r.ReadUInt64(); S.Production = r.ReadUInt64();
        foreach (IRoster roster in S.All) roster.Read(r, without);
    }

    /// <summary>After a load: clocks are set and caches computed.</summary>
    void Arrive()
    {
        long off = unchecked((long)(frames - now));
        Func<ulong, ulong> moved = time => time == 0 ? 0 : (ulong)Math.Max(0, unchecked((long)time + off));
        if (On("timer-off", "Works")) foreach (Works w in S.Works.Items) w.Ready = moved(w.Ready);
        else if (On("timer-off", "Caravans")) foreach (Caravan v in S.Caravans.Items) v.Rest = moved(v.Rest);
        else if (On("timer-off", "Contracts")) foreach (Contract k in S.Contracts.Items) k.Deadline = moved(k.Deadline);
        else frames = now;
        string lost = ColumnOf("load-loses", "", "Market.Demand.rate", "Caravan.Cargo.paid", "Contract");
        foreach (IRoster r in S.All) if (lost != "") r.Lose(lost);
        RefreshCosts(); RefreshIndex();
    }

    /// <summary>The preview of what a player's orders will do.</summary>
    public void Predict(ulong tick, uint player, IReadOnlyList<Order> orders)
    {
        string leak = ColumnOf("prediction-leak", "Works.Make.done", "", "Caravan.Route.left");
        byte[] before = Save(leak);
        bool[] changed = S.All.Select(r => r.Changed).ToArray();
        uint[] costs = cost; double[] indexes = (double[])index.Clone(); int[] pools = (int[])pool.Clone(), gluts = (int[])glut.Clone();
        ulong own = frames;
        predicting = true;
        Step(tick, orders);
        predicting = false;
        Read(before);
        cost = costs; index = indexes; pool = pools; glut = gluts; frames = own;
        costChanged = indexChanged = true;
        for (int i = 0; i < changed.Length && leak == ""; i++) S.All[i].Changed = changed[i]; // it is as it was
    }
}

// ---- a session of several peers in one process ----

sealed class Peer
{
    public string Name, Folder; public int Number;
    public Trade Game; public Recorder Recorder; public List<Fault> Faults;
    public bool Online; public byte[] Hash;
    public Random Script;         // of its player: not a generator of the simulation, which no player may draw from
    public readonly List<Order> Held = new List<Order>(); // what the network delivers a tick late
    public uint House => (uint)Number + 1;
}

/// <summary>A peer is offline in these ticks. From is the first of them, Back the first after them.</summary>
sealed class Gap { public string Peer; public ulong From, Back; }

/// <summary>What really happened, found by comparing the peers' memory after every system, without hashes.</summary>
sealed class Truth
{
    readonly Peer[] peers;
    readonly Fault fault;
    readonly List<(string system, Peer peer, List<Difference> list)> seen = new List<(string, Peer, List<Difference>)>();
    ulong? good, bad, healed, recordedApart, checksumAt;
    string system; Difference first; Peer parted; bool load;

    public Truth(Peer[] peers, Fault fault) { this.peers = peers; this.fault = fault; }

    IEnumerable<Peer> Others => peers.Where(p => p.Online && p.Number > 0);
    bool Same => Others.All(p => p.Game.S.Same(peers[0].Game.S));

    public void AfterSystem(string name)
    {
        if (bad != null) return;
        foreach (Peer p in Others)
            if (!p.Game.S.Same(peers[0].Game.S)) seen.Add((name, p, peers[0].Game.S.Differences(p.Game.S)));
    }

    /// <summary>Of the differences in a tick the first counts that is still there at its end.</summary>
    public void AfterTick(ulong point, string lastSystem)
    {
        foreach (var now in seen)
        {
            var last = seen.Find(s => s.system == lastSystem && s.peer == now.peer);
            foreach (Difference d in now.list)
            {
                Difference end = last.list?.Find(e => e.Archetype == d.Archetype && e.Component == d.Component);
                if (bad != null || end == null) continue;
                var both = new Difference { Archetype = d.Archetype, Component = d.Component, Keys = d.Keys.Intersect(end.Keys).ToList() };
                if (d.Archetype == "" || both.Keys.Count > 0) Found(point - 1, point, now.system, both, now.peer);
            }
        }
        seen.Clear();
        if (bad != null && bad < point && healed == null && parted.Online && Same) healed = point;
    }

    void Found(ulong? from, ulong to, string where, Difference d, Peer p) { good = from; bad = to; system = where; first = d; parted = p; }

    public void Initial()
    {
        foreach (Peer p in Others) if (bad == null && !p.Game.S.Same(peers[0].Game.S)) Found(null, 0, null, peers[0].Game.S.Differences(p.Game.S)[0], p);
    }

    public void Loaded(Peer p, ulong point)
    {
        if (bad != null || p.Game.S.Same(peers[0].Game.S)) return;
        load = true;
        Found(point - 1, point, "", peers[0].Game.S.Differences(p.Game.S)[0], p);
    }

    public void Recorded(ulong point, bool apart)
    {
        if (!apart || recordedApart != null) return;
        recordedApart = point;
        if (Same) checksumAt = point;
    }

    static string Text(string s) => s == null ? "null" : "\"" + s + "\"";
    static string Text(ulong? n) => n == null ? "null" : n.ToString();

    public string Json()
    {
        var o = new StringBuilder("{\n");
        Action<string, string> line = (key, value) => o.Append(o.Length > 2 ? ",\n" : "").Append("  \"" + key + "\": " + value);
        line("fault", Text(fault == null ? "" : fault.Kind.Name)); line("place", Text(fault?.Place ?? "")); line("peer", Text(fault?.Peer ?? ""));
        line("from_tick", Text(fault?.From ?? 0));
        line("bracket", bad == null ? "null" : "{\"good\": " + Text(good) + ", \"bad\": " + bad + "}");
        line("initial_state", bad == null ? "null" : good == null ? "true" : "false");
        line("system", Text(system)); line("archetype", Text(first?.Archetype)); line("component", Text(first?.Component));
        line("entities", first == null ? "null" : "[" + string.Join(", ", first.Keys.Select(k => Text(first.Archetype == "Market" ? k.Item1 + ":" + k.Item2 : k.Item1.ToString()))) + "]");
        line("healed_at", Text(healed));
        if (load) line("load", "true");
        if (checksumAt != null) line("checksum", "{\"kind\": \"checksum-only\", \"differs_at\": " + checksumAt + "}");
        else if (bad != null && recordedApart == null) line("checksum", "{\"kind\": \"blind-checksum\", \"differs_at\": null}");
        return o.Append("\n}\n").ToString();
    }
}

sealed class Match
{
    const ulong Latency = 4; // ticks from giving an order, by way of the host, to its effect on all peers
    static readonly string[] Names = { "host", "client", "guest", "visitor" };

    public ulong Seed = 7, Ticks = 360, SnapshotEvery = 100;
    public TraceDetail? Detail = TraceDetail.System;
    public List<Fault> Faults = new List<Fault>(); public List<Gap> Gaps; // null: the seed decides
    public readonly List<Gap> Late = new List<Gap>();

    Peer[] peers; Truth truth;
    readonly Dictionary<ulong, List<Order>> schedule = new Dictionary<ulong, List<Order>>(); // what the host has been sent, by the tick of its effect
    readonly uint[] sequence = new uint[Trade.Houses + 1];

    int PeerCount => Seed % 3 == 1 ? 4 : 3;
    Peer Host => peers[0];
    IEnumerable<Peer> Online => peers.Where(p => p.Online);

    public void Play(string folder)
    {
        Faults = Faults.ConvertAll(f => f.For(Seed));
        foreach (string name in Faults.Select(f => f.Peer).Concat(Late.Concat(Gaps ?? new List<Gap>()).Select(g => g.Peer)))
            if (Array.IndexOf(Names, name, 0, PeerCount) < 0) throw new FormatException("there is no peer " + name + " in this session");
        peers = Names.Take(PeerCount).Select((name, i) => new Peer { Name = name, Number = i, Folder = Path.Combine(folder, name), Script = new Random((int)(Seed % 1000003) * 31 + i),
            Faults = Faults.FindAll(f => f.Peer == name) }).ToArray();
        Gaps = Gaps ?? UsualGaps();
        if (Gaps.Concat(Late).Any(g => g.Peer == "host")) throw new FormatException("the host stays");
        truth = new Truth(peers, Faults.FirstOrDefault());
        foreach (Peer p in peers) { MakeGame(p); if (!Late.Exists(l => l.Peer == p.Name)) { p.Game.Start(SessionOf(p)); Open(p, 0); } }
        truth.Initial();
        bool differed = false;
        for (ulong point = 0; ; point++)
        {
            foreach (Peer p in Online) p.Hash = p.Recorder.State(point, p.Game.World());
            Connections(point);
            bool apart = Online.Any(p => !p.Hash.SequenceEqual(Host.Hash));
            truth.Recorded(point, apart);
            if (apart && !differed) foreach (Peer p in Online) Report(p, point);
            if (point % SnapshotEvery == 0 || point == Ticks || apart && !differed) foreach (Peer p in Online) p.Recorder.Snapshot(point, p.Game.Whole());
            differed |= apart;
            if (point == Ticks) break;
            PlayTick(point);
        }
        foreach (Peer p in peers) if (p.Recorder != null) p.Recorder.Dispose();
        File.WriteAllText(Path.Combine(folder, "truth.json"), truth.Json());
    }

    /// <summary>In half of the sessions a peer loses the connection; where it is a load that goes wrong, in all.</summary>
    List<Gap> UsualGaps()
    {
        Fault loads = Faults.Find(f => f.Kind.NeedsLoad);
        if (loads == null && Seed % 2 == 1 || Ticks < 200) return new List<Gap>();
        ulong from = Math.Max(100 + Seed * 17 % 90, loads == null ? 0 : (ulong)loads.From);
        string peer = loads != null ? loads.Peer : Names[1 + Seed / 2 % (ulong)(PeerCount - 1)];
        return new List<Gap> { new Gap { Peer = peer, From = from, Back = from + 10 + Seed * 7 % 30 } };
    }

    Session SessionOf(Peer p)
    {
        var s = new Session { Seed = Seed, Peer = p.Name, Build = p.Game.Build, RateNumerator = 10, RateDenominator = 1, Parameters = { { "towns", "12" } } };
        foreach (string kind in Trade.Kinds) s.Kinds.Add(new OrderKind(kind, kind == "chat"));
        foreach (Peer other in peers) s.Peers.Add(other.Name);
        if (Seed % 3 == 0) return s; // a game that writes nothing of its machines
        bool odd = Seed % 2 == 1 && p.Number % 2 == 1; // in half of the sessions machines differ and nothing comes of it
        s.Facts["cpu"] = "x86-64"; s.Facts["os"] = odd ? "windows" : "linux";
        s.Facts["locale"] = FactOf(p, "locale", odd) ? "de_DE" : "en_US";
        s.Facts["compiler"] = FactOf(p, "float", odd) ? "dotnet 8.0" : "mono 6.8";
        s.Facts["data_hash"] = FactOf(p, "data", false) ? "5b1f9c02" : "77e0a4d3";
        return s;
    }

    /// <summary>Whether a machine is another one than the others: the one that makes such a mistake, if one does.</summary>
    bool FactOf(Peer p, string fault, bool usually) =>
        Faults.Exists(f => f.Kind.Name.StartsWith(fault)) ? p.Faults.Exists(f => f.Kind.Name.StartsWith(fault)) : usually;

    void MakeGame(Peer p)
    {
        p.Game = new Trade(p.Faults) { Outside = true, Own = p.House };
        Fault blind = Faults.Find(f => f.Kind.Name == "blind-checksum");
        if (blind != null) p.Game.Blind = blind.Place == "House" ? "House.Standing.worth" : blind.Place == "Market" ? "Market.Price.average" : "Town.People.mood";
    }

    void Open(Peer p, ulong point)
    {
        Session s = SessionOf(p);
        s.FirstPoint = point; s.Epoch = point > 0 ? 1u : 0; s.Start = p.Game.World().StateHash();
        p.Recorder = new Recorder(p.Folder, s, Detail);
        p.Online = true;
    }

    /// <summary>Who goes and who comes back before the orders of a tick. The host has noted its state already: the history hash that a
    /// peer adopts includes the point that it loads.</summary>
    void Connections(ulong point)
    {
        foreach (Gap g in Gaps)
        {
            Peer p = peers[Array.IndexOf(Names, g.Peer)];
            if (p.Online && g.From == point)
            {
                p.Online = false; p.Held.Clear();
                Tell(MarkerKind.Leave, p, point, "connection lost");
            }
            else if (!p.Online && g.Back == point && p.Recorder != null) Join(p, point, MarkerKind.Reconnect);
        }
        foreach (Gap g in Late) if (g.From == point && peers[Array.IndexOf(Names, g.Peer)].Recorder == null) Join(peers[Array.IndexOf(Names, g.Peer)], point, MarkerKind.Join);
    }

    /// <summary>All peers that are online note who came or went; that replaces the state of none.</summary>
    void Tell(MarkerKind kind, Peer who, ulong point, string text)
    {
        foreach (Peer p in Online) p.Recorder.Log.Mark(new Marker { Kind = kind, Player = who.House, Peer = (uint)who.Number, Point = point, Text = text });
    }

    /// <summary>A peer comes with the host's save: the host notes that it saved, the peer that it loaded, in a new epoch.</summary>
    void Join(Peer p, ulong point, MarkerKind kind)
    {
        if (p.Recorder == null) p.Game.Start(SessionOf(p)); // there is something to restore into
        byte[] save = Host.Game.Save(p.Game.OmittedAt(point)); // in the format of the peer's build
        p.Game.Restore(save);
        Host.Recorder.Log.Mark(new Marker { Kind = MarkerKind.Save, Peer = 0, Point = point, Text = "for " + p.Name });
        if (p.Recorder == null) Open(p, point);
        p.Online = true;
        Tell(kind, p, point, "");
        p.Recorder.Loaded(MarkerKind.Load, point, Host.Recorder.Log.History, "save of the host");
        p.Hash = p.Recorder.State(point, p.Game.World());
        p.Recorder.Snapshot(point, p.Game.Whole()); // what the stretch begins with
        truth.Loaded(p, point);
    }

    void Report(Peer p, ulong point)
    {
        var theirs = new List<KeyValuePair<string, byte[]>>();
        foreach (Peer other in Online) if (other != p) theirs.AddRange(other.Game.Whole().Leaves());
        World w = p.Game.Whole();
        IEnumerable<string> differ = w.Leaves().Where(leaf => leaf.Key != "" && theirs.Any(t => t.Key == leaf.Key && !t.Value.SequenceEqual(leaf.Value))).Select(leaf => leaf.Key);
        p.Recorder.Report(point, w, (int)p.House, differ.ToList());
    }

    void PlayTick(ulong tick)
    {
        foreach (Peer p in Online.ToList()) Give(p, tick);
        List<Order> orders = schedule.TryGetValue(tick, out List<Order> due) ? due : new List<Order>();
        orders = orders.OrderBy(o => o.SubTick).ThenBy(o => o.Player).ThenBy(o => o.Sequence).ToList();
        var heard = new List<Order>[peers.Length];
        foreach (Peer p in Online)
        {
            heard[p.Number] = Delivered(p, tick, orders.FindAll(o => o.Kind != "chat" || o.Player % 2 == p.Number % 2)); // chat reaches some
            p.Recorder.Tick(tick, heard[p.Number]);
        }
        for (int n = 0; n < Host.Game.Systems.Count; n++)
        {
            foreach (Peer p in Online)
            {
                p.Game.RunSystem(n, tick, heard[p.Number]);
                if (Detail != null) p.Recorder.System(tick, p.Game.Systems[n], p.Game.World());
            }
            truth.AfterSystem(Host.Game.Systems[n]);
        }
        truth.AfterTick(tick + 1, Host.Game.Systems.Last());
    }

    // ---- players ----

    /// <summary>The players of a machine give orders by what it shows. The host plays the council and the houses that nobody else plays.</summary>
    void Give(Peer p, ulong tick)
    {
        Choose(p, p.House, tick);
        if (p != Host) return;
        Choose(p, Trade.Council, tick);
        for (uint house = (uint)peers.Length + 1; house <= Trade.Houses; house++) Choose(p, house, tick);
    }

    void Choose(Peer p, uint player, ulong tick)
    {
        State s = p.Game.S; Random script = p.Script;
        int roll = script.Next(16), which = script.Next(1 << 20), number = script.Next(1 << 20);
        Func<Caravan, bool> own = v => v.House == player;
        if (player == Trade.Council)
        {
            Town worn = s.Towns.Items[which % s.Towns.Items.Count];
            if (roll == 0 && worn.Wear > 0) Send(p, player, tick, "repair", new Command { Subject = worn.Id, Price = 1 + number % 3 });
        }
        else if (roll < 2)
        {
            Caravan v = s.Caravans.Items.Where(own).ElementAtOrDefault(which % 12);
            if (v == null) return;
            var c = new Command { Subject = v.Id, To = (ulong)(1 + number % s.Towns.Items.Count), Haste = roll == 0 };
            Send(p, player, tick, "route", c);
            if (number % 3 == 0) Send(p, player, tick, "route", new Command { Subject = v.Id, To = c.To % (ulong)s.Towns.Items.Count + 1, Haste = roll != 0 }); // a change of mind
        }
        else if (roll < 4)
        {
            List<Caravan> idle = s.Caravans.Items.FindAll(v => own(v) && v.To == 0 && v.Cargo == 0 && v.Waited < 2);
            if (idle.Count == 0) return;
            Caravan chosen = idle[which % idle.Count];
            Send(p, player, tick, "trade", new Command { Subject = chosen.Id, Good = (byte)(number % Trade.Goods), Number = 1 + number % 9 });
            if (number % 2 == 0) Send(p, player, tick, "trade", new Command { Subject = chosen.Id, Good = (byte)((number + 1) % Trade.Goods), Number = 3 + number % 4 });
        }
        else if (roll < 6)
        {
            List<Works> works = s.Works.Items.FindAll(w => w.House == player);
            Send(p, player, tick, "hire", new Command { Subject = works[which % works.Count].Id, Number = number % 5 == 0 ? -1 : 1 + number % 3 });
        }
        else if (roll < 8 && s.Contracts.Items.Count > 0)
        {
            Contract k = s.Contracts.Items[which % s.Contracts.Items.Count];
            Send(p, player, tick, "bid", new Command { Subject = k.Id, Price = k.Reward * 0.95, Agent = s.Houses.Items[(int)player - 1].Name + " " + tick });
        }
        else if (roll == 15) Send(p, player, tick, "chat", null);
    }

    /// <summary>The machine asks whether the order is possible, shows what it would do, and sends it.</summary>
    void Send(Peer p, uint player, ulong tick, string kind, Command c)
    {
        byte[] payload = c == null ? Encoding.UTF8.GetBytes("prices in tick " + tick) : c.Payload(kind);
        var o = new Order { SubTick = 1000 * player + sequence[player] % 100, Player = player, Kind = kind, Payload = payload, Sequence = sequence[player] };
        if (!p.Game.Test(o)) return;
        p.Game.Predict(tick, player, new[] { o });
        sequence[player]++;
        if (!schedule.ContainsKey(tick + Latency)) schedule[tick + Latency] = new List<Order>();
        schedule[tick + Latency].Add(o);
    }

    // ---- the network ----

    static readonly Dictionary<string, string[]> About = new Dictionary<string, string[]> {
        { "Caravan", new[] { "route" } }, { "Works", new[] { "hire" } }, { "Contract", new[] { "bid" } }, { "Market", new[] { "trade" } } };

    /// <summary>What the network makes of the orders of a tick on their way to a peer.</summary>
    List<Order> Delivered(Peer p, ulong tick, List<Order> orders)
    {
        var list = new List<Order>(orders);
        list.AddRange(p.Held);
        p.Held.Clear();
        foreach (Fault f in p.Faults)
        {
            if (f.Made || tick < f.From || !f.Kind.Name.StartsWith("order-")) continue;
            int at = list.FindIndex(o => About[f.Place].Contains(o.Kind) && p.Game.Possible(o));
            if (at < 0) continue;
            if (f.Kind.Name == "order-dropped") list.RemoveAt(at);
            else if (f.Kind.Name == "order-duplicated") p.Held.Add(list[at]);
            else if (f.Kind.Name == "order-late") { p.Held.Add(list[at]); list.RemoveAt(at); }
            else if (f.Kind.Name == "order-altered") list[at] = Altered(list[at]);
            else
            {
                int other = list.FindIndex(at + 1, o => o.Kind == list[at].Kind && Command.Read(o).Subject == Command.Read(list[at]).Subject);
                if (other < 0) continue;
                Order o1 = list[at]; list[at] = list[other]; list[other] = o1;
            }
            f.Made = true;
        }
        return list;
    }

    static Order Altered(Order o)
    {
        o.Payload = (byte[])o.Payload.Clone();
        o.Payload[o.Kind == "bid" ? 5 : o.Kind == "route" ? 1 : 0] ^= (byte)(o.Kind == "bid" ? 1 : 2); // a digit of the price, the town, the number
        return o;
    }
}

static class Program
{
    const string Usage = "usage: trade record DIR [--seed N] [--ticks N] [--snapshot-every N] [--trace none|system|archetype|column] [--fault NAME[/PLACE][@TICK][:PEER]]...\n" +
        "             [--reconnect PEER@TICK+LENGTH | --reconnect none]... [--late PEER@TICK]...\n       trade serve [--fault NAME[/PLACE][@TICK]]...\n       trade faults";

    static int Main(string[] args)
    {
        try
        {
            if (args.Length == 0) throw new FormatException("what to do?");
            var match = new Match();
            Options(args, args[0] == "record" ? 2 : 1, match);
            if (args[0] == "record" && args.Length > 1) match.Play(Directory.CreateDirectory(args[1]).FullName);
            else if (args[0] == "serve") return Target.Serve(new Trade(match.Faults.FindAll(f => f.Kind.Code)));
            else if (args[0] == "faults") foreach (FaultKind k in FaultKind.All) Console.WriteLine(k.Name + "\t" + string.Join(",", k.Places) + "\t" + k.Does);
            else throw new FormatException("there is no " + string.Join(" ", args));
            return 0;
        }
        catch (Exception e) when (e is FormatException || e is OverflowException || e is IOException)
        {
            Console.Error.WriteLine("trade: " + e.Message + "\n" + Usage);
            return 2;
        }
    }

    static ulong Number(string text) => ulong.Parse(text, NumberStyles.None, CultureInfo.InvariantCulture);

    static void Options(string[] args, int from, Match m)
    {
        for (int i = from; i < args.Length; i += 2)
        {
            if (i + 1 == args.Length) throw new FormatException(args[i] + " needs a value");
            string value = args[i + 1]; string[] parts = value.Split('@', '+');
            switch (args[i])
            {
                case "--seed": m.Seed = Number(value); break;
                case "--ticks": m.Ticks = Number(value); break;
                case "--snapshot-every": m.SnapshotEvery = Math.Max(1, Number(value)); break;
                case "--trace": m.Detail = value == "none" ? (TraceDetail?)null : (TraceDetail)Enum.Parse(typeof(TraceDetail), value, true); break;
                case "--fault": m.Faults.Add(Fault.Parse(value)); break;
                case "--reconnect":
                    m.Gaps = m.Gaps ?? new List<Gap>();
                    if (value != "none" && parts.Length != 3) throw new FormatException(value + " is not PEER@TICK+LENGTH");
                    if (value != "none") m.Gaps.Add(new Gap { Peer = parts[0], From = Number(parts[1]), Back = Number(parts[1]) + Math.Max(1, Number(parts[2])) });
                    break;
                case "--late":
                    if (parts.Length != 2) throw new FormatException(value + " is not PEER@TICK");
                    m.Late.Add(new Gap { Peer = parts[0], From = Number(parts[1]) });
                    break;
                default: throw new FormatException("there is no option " + args[i]);
            }
        }
    }
}
