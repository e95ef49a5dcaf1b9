// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

// A small deterministic skirmish as an example of Desynctool.cs.
//     mcs Skirmish.cs Desynctool.cs && mono Skirmish.exe record session --fault 150
//     desynctool bisect session --sim "exec:mono Skirmish.exe serve" --drill
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Desynctool;

sealed class Unit
{
    public ulong Id, Target; // no target: 0
    public byte Kind, Owner; public bool Moving;
    public long X, Y, GoalX, GoalY; // in units of 1/65536
    public int Hp; public ushort Wait; // ticks until it may strike
}

sealed class Skirmish : IGame, IState, ISaver, ILoader, ISystems, ICaches, IValidator, ITester, IPredictor
{
    public const int Players = 2;
    const int Side = 8, Tower = 2, Quota = 16; // Side: cells along the arena
    const long One = 1 << 16, Cell = 8 * One, Width = Side * Cell, Sight = 16 * One;
    static readonly string[] Labels = { "Archer", "Soldier", "Tower" };
    static readonly long[] Speed = { One / 6, One / 4, 0 }, Range = { 6 * One, 2 * One, 8 * One };
    static readonly int[] Health = { 60, 100, 400 };
    static readonly Dictionary<string, int> PayloadSize = new Dictionary<string, int> { { "move", 24 }, { "attack", 16 }, { "stop", 8 } };

    readonly List<Unit> units = new List<Unit>(); // by ascending id
    ulong next, rng;
    readonly ushort[] crowd = new ushort[Side * Side]; // derived: units in each cell
    readonly World world = new World { Rng = new byte[8] };

    // The fault: from this tick on the renderer's sparks draw from the simulation's random numbers.
    public ulong SparksFrom = ulong.MaxValue; public ulong? FirstSpark;

    public string Name => "skirmish"; public string Build => "1.0";
    static string ArenaOf(Session s) => s != null && s.Parameters.TryGetValue("arena", out string arena) ? arena : "plain";

    public void Start(Session s)
    {
        if (ArenaOf(s) != "plain") throw new RefusedException("there is no arena " + ArenaOf(s));
        rng = s.Seed * 2 + 1; next = 1; // rng is never 0
        units.Clear(); Array.Clear(crowd, 0, crowd.Length);
        for (int i = 0; i < Players * Quota; i++) Spawn((byte)(i % Players), (byte)(i < 2 * Players ? Tower : i / Players % 2));
    }

    ulong Random(ulong below)
    {
        rng ^= rng >> 12; rng ^= rng << 25; rng ^= rng >> 27;
        return unchecked(rng * 2685821657736338717) % below;
    }

    void Spawn(byte owner, byte kind)
    {
        long x = (long)Random(Width / 4), y = (long)Random(Width);
        units.Add(new Unit { Id = next++, Kind = kind, Owner = owner, X = owner == 0 ? x : Width - 1 - x, Y = y, Hp = Health[kind] });
        crowd[CellOf(units[units.Count - 1])]++;
    }

    Unit Find(ulong id) => units.Find(u => u.Id == id);
    public List<Unit> Of(uint player) => units.FindAll(u => u.Owner == player);
    static int CellOf(Unit u) => (int)(u.Y / Cell) * Side + (int)(u.X / Cell);
    static long Distance(Unit a, Unit b) => Math.Max(Math.Abs(a.X - b.X), Math.Abs(a.Y - b.Y));
    static ulong Word(Order o, int n) => BitConverter.ToUInt64(o.Payload, 8 * n);
    static long Clamp(long v, long low, long high) => Math.Max(low, Math.Min(v, high));

    public IReadOnlyList<string> Systems { get; } = new[] { "Orders", "Targeting", "Movement", "Combat", "Reinforcements" };
    public void Step(ulong tick, IReadOnlyList<Order> orders) { for (int i = 0; i < Systems.Count; i++) RunSystem(i, tick, orders); }

    public void RunSystem(int number, ulong tick, IReadOnlyList<Order> orders)
    {
        if (number == 0) foreach (Order o in orders) { if (Test(o)) Apply(o); }
        else if (number == 1) Targeting(); else if (number == 2) Movement();
        else if (number == 3) Combat(tick); else Reinforcements(tick);
    }

    public string Validate(Order o)
    {
        if (!PayloadSize.TryGetValue(o.Kind, out int size)) return "no such kind of order";
        if (o.Payload.Length != size) return "a payload of " + o.Payload.Length + " bytes, expected " + size;
        return o.Player >= Players ? "no such player" : "";
    }

    public bool Test(Order o)
    {
        if (Validate(o) != "") return false;
        Unit u = Find(Word(o, 0)), target = o.Kind == "attack" ? Find(Word(o, 1)) : null;
        return u != null && u.Owner == o.Player && (o.Kind != "attack" || target != null && target.Owner != u.Owner);
    }

    void Apply(Order o)
    {
        Unit u = Find(Word(o, 0));
        u.Moving = o.Kind == "move";
        u.Target = o.Kind == "attack" ? Word(o, 1) : 0;
        u.GoalX = u.Moving ? Clamp((long)Word(o, 1), 0, Width - 1) : 0; u.GoalY = u.Moving ? Clamp((long)Word(o, 2), 0, Width - 1) : 0;
    }

    void Targeting()
    {
        foreach (Unit u in units)
        {
            if (Find(u.Target) == null) u.Target = 0;
            if (u.Target != 0 || u.Moving) continue;
            IEnumerable<Unit> seen = units.Where(other => other.Owner != u.Owner && Distance(u, other) < Sight);
            u.Target = seen.OrderBy(other => Distance(u, other)).Select(other => other.Id).FirstOrDefault(); // of equally near ones the first
        }
    }

    void Movement()
    {
        foreach (Unit u in units)
        {
            Unit target = Find(u.Target);
            if (target != null && Distance(u, target) <= Range[u.Kind]) continue;
            long x = target != null ? target.X : u.Moving ? u.GoalX : Width / 2; // the idle drift to the middle
            long y = target != null ? target.Y : u.Moving ? u.GoalY : u.Y;
            long speed = crowd[CellOf(u)] > 4 ? Speed[u.Kind] / 2 : Speed[u.Kind];
            crowd[CellOf(u)]--;
            u.X += Clamp(x - u.X, -speed, speed); u.Y += Clamp(y - u.Y, -speed, speed);
            crowd[CellOf(u)]++;
            if (u.X == x && u.Y == y) u.Moving = false;
        }
    }

    void Combat(ulong tick)
    {
        foreach (Unit u in units)
        {
            Unit target = Find(u.Target);
            if (u.Wait > 0) u.Wait--;
            if (u.Wait > 0 || u.Hp <= 0 || target == null || Distance(u, target) > Range[u.Kind]) continue;
            u.Wait = (ushort)(12 + Random(8));
            if (Random(100) < 40) continue; // a miss
            target.Hp -= 5 + (int)Random(10);
            if (tick >= SparksFrom) { Random(360); FirstSpark = FirstSpark ?? tick; } // which way the sparks fly
        }
        foreach (Unit u in units) if (u.Hp <= 0) crowd[CellOf(u)]--;
        units.RemoveAll(u => u.Hp <= 0);
    }

    void Reinforcements(ulong tick)
    {
        for (byte player = 0; player < Players && tick % 32 == 31; player++)
            if (Of(player).Count < Quota) Spawn(player, (byte)Random(2));
    }

    static (Column x, Column y) Place(Table t, string component) =>
        (t.Column(component, "x", ColumnType.Fixed, 65536), t.Column(component, "y", ColumnType.Fixed, 65536));
    static (Column owner, Column hp, (Column x, Column y) at, (Column x, Column y) goal, Column target, Column wait) Columns(Table t) =>
        (t.Column("Owner", "player", ColumnType.U8), t.Column("Health", "hp", ColumnType.I32), Place(t, "Position"), Place(t, "Goal"),
        t.Column("Weapon", "target", ColumnType.Ref), t.Column("Weapon", "wait", ColumnType.U16));

    public World World()
    {
        world.Clear();
        BitConverter.GetBytes(rng).CopyTo(world.Rng, 0);
        Table match = world.Archetype("Match"), cells = world.Cache("Crowd");
        match.Row(0); match.Column("Serial", "next", ColumnType.U64).Set(next);
        Column count = cells.Column("Cell", "units", ColumnType.U16);
        for (int i = 0; i < crowd.Length; i++) { cells.Row((ulong)i); count.Set(crowd[i]); }
        for (int kind = 0; kind < Labels.Length; kind++)
        {
            Table t = world.Archetype(Labels[kind]); var c = Columns(t);
            foreach (Unit u in units.Where(u => u.Kind == kind))
            {
                t.Row(u.Id);
                c.owner.Set(u.Owner); c.hp.Set(u.Hp); c.at.x.Set(u.X); c.at.y.Set(u.Y); c.wait.Set(u.Wait);
                if (u.Moving) { c.goal.x.Set(u.GoalX); c.goal.y.Set(u.GoalY); }
                if (u.Target != 0) c.target.Set(u.Target);
            }
        }
        return world;
    }

    public void Load(World state, Session s)
    {
        if (ArenaOf(s) != "plain") throw new RefusedException("there is no arena " + ArenaOf(s));
        var loaded = new List<Unit>();
        ulong serial = state.Archetype("Match").Column("Serial", "next", ColumnType.U64).UInt(0);
        for (byte kind = 0; kind < Labels.Length; kind++)
        {
            Table t = state.Archetype(Labels[kind]); var c = Columns(t);
            for (int i = 0; i < t.Rows; i++)
                loaded.Add(new Unit {
                    Id = t.Key(i), Kind = kind, Owner = (byte)c.owner.UInt(i), Hp = (int)c.hp.Int(i), Wait = (ushort)c.wait.UInt(i), Target = c.target.UInt(i),
                    X = c.at.x.Int(i), Y = c.at.y.Int(i), Moving = c.goal.x.Has(i), GoalX = c.goal.x.Int(i), GoalY = c.goal.y.Int(i) });
        }
        bool sane = loaded.All(u => u.Id < serial && u.Owner < Players && u.Hp > 0 && new[] { u.X, u.Y, u.GoalX, u.GoalY }.All(v => v >= 0 && v < Width));
        if (!sane || serial > long.MaxValue || state.Rng == null || state.Rng.Length != 8) throw new RefusedException("the state has what cannot be");
        rng = BitConverter.ToUInt64(state.Rng, 0); next = serial;
        units.Clear(); units.AddRange(loaded.OrderBy(u => u.Id));
        Count().ToArray().CopyTo(crowd, 0); // a cache that is loaded may be what is wrong
    }

    public byte[] Save()
    {
        var memory = new MemoryStream(); var w = new BinaryWriter(memory);
        w.Write(rng); w.Write(next); w.Write(units.Count);
        foreach (Unit u in units)
        {
            w.Write(u.Id); w.Write(u.Kind); w.Write(u.Owner); w.Write(u.X); w.Write(u.Y); w.Write(u.Hp);
            w.Write(u.Target); w.Write(u.Wait); w.Write(u.Moving); w.Write(u.GoalX); w.Write(u.GoalY);
        }
        return memory.ToArray();
    }

    public void Restore(byte[] save)
    {
        var r = new BinaryReader(new MemoryStream(save));
        rng = r.ReadUInt64(); next = r.ReadUInt64();
        units.Clear();
        for (int n = r.ReadInt32(); n > 0; n--)
            units.Add(new Unit {
                Id = r.ReadUInt64(), Kind = r.ReadByte(), Owner = r.ReadByte(), X = r.ReadInt64(), Y = r.ReadInt64(), Hp = r.ReadInt32(),
                Target = r.ReadUInt64(), Wait = r.ReadUInt16(), Moving = r.ReadBoolean(), GoalX = r.ReadInt64(), GoalY = r.ReadInt64() });
        Count().ToArray().CopyTo(crowd, 0);
    }

    IEnumerable<ushort> Count() => Enumerable.Range(0, crowd.Length).Select(cell => (ushort)units.Count(u => CellOf(u) == cell));
    public IEnumerable<string> StaleCaches() => Count().SequenceEqual(crowd) ? new string[0] : new[] { "Crowd" };
    public void Predict(ulong tick, uint player, IReadOnlyList<Order> orders) { byte[] before = Save(); Step(tick, orders); Restore(before); }
}

/// <summary>A session of two peers with a scripted player each, recorded.</summary>
static class Program
{
    static readonly string[] Peers = { "host", "client" };
    static int Main(string[] args)
    {
        if (args.Length == 1 && args[0] == "serve") return Target.Serve(new Skirmish());
        var options = new Dictionary<string, ulong> { { "--ticks", 400 }, { "--seed", 7 }, { "--fault", ulong.MaxValue }, { "--sign", 0 } };
        bool usable = args.Length > 1 && args.Length % 2 == 0 && args[0] == "record";
        for (int i = 2; usable && i < args.Length; i += 2)
            if (usable = options.ContainsKey(args[i]) && ulong.TryParse(args[i + 1], out ulong value)) options[args[i]] = value;
        if (usable) Record(args[1], options["--ticks"], options["--seed"], options["--fault"], options["--sign"]);
        else Console.Error.WriteLine("usage: skirmish serve | skirmish record DIR [--ticks N] [--seed N] [--fault TICK] [--sign N]");
        return usable ? 0 : 2;
    }

    static void Record(string folder, ulong ticks, ulong seed, ulong fault, ulong key)
    {
        var games = new[] { new Skirmish(), new Skirmish { SparksFrom = fault } };
        var logs = new OrderLog[2]; var traces = new Trace[2]; var chains = new TickSignatures[2];
        for (int i = 0; i < 2; i++)
        {
            var s = new Session { Seed = seed, Peer = Peers[i], Build = games[i].Build, RateNumerator = 30, RateDenominator = 1, Parameters = { { "arena", "plain" } },
                Kinds = { new OrderKind("move"), new OrderKind("attack"), new OrderKind("stop") }, Peers = { Peers[0], Peers[1] } };
            games[i].Start(s);
            s.Start = games[i].World().StateHash();
            string own = Directory.CreateDirectory(Path.Combine(folder, Peers[i])).FullName;
            logs[i] = new OrderLog(Path.Combine(own, "order-log.bin"), s);
            traces[i] = new Trace(Path.Combine(own, "checkpoints.trace"), s);
            byte[] secret = BitConverter.GetBytes(key).Concat(new[] { (byte)i }).Concat(new byte[23]).ToArray(); // in a real game it is one
            if (key > 0) chains[i] = new TickSignatures(Path.Combine(own, "tick-signatures.bin"), seed, Peers[i], secret, s.Start);
        }
        var script = new Random((int)(seed & 0x7fffffff)); // not the simulation's, which no player may draw from
        var sequence = new uint[Skirmish.Players]; bool differ = false; // differ: the peers' states do
        for (ulong tick = 0; tick <= ticks; tick++)
        {
            byte[][] hashes = { games[0].World().StateHash(), games[1].World().StateHash() };
            bool first = !differ && (differ = !hashes[0].SequenceEqual(hashes[1]));
            List<Order> orders = Orders(games[0], script, sequence);
            for (int i = 0; i < 2; i++)
            {
                logs[i].Observe(tick, hashes[i]); chains[i]?.Append(tick, hashes[i]);
                World w = games[i].World();
                w.Seed = seed; w.Tick = tick; w.Peer = Peers[i]; w.History = logs[i].History;
                w.Properties["build"] = games[i].Build; w.Properties["arena"] = "plain";
                if (first || tick % 100 == 0 || tick == ticks) w.WriteFile(Path.Combine(folder, Peers[i]));
                if (tick == ticks) continue;
                logs[i].Tick(tick, orders); // before it is played, so that orders that crash the game are known
                for (int n = 0; n < games[i].Systems.Count; n++)
                {
                    games[i].RunSystem(n, tick, orders);
                    traces[i].Checkpoint(tick, games[i].Systems[n], "", games[i].World().SyncHash());
                }
            }
        }
        for (int i = 0; i < 2; i++) { logs[i].Dispose(); traces[i].Dispose(); chains[i]?.Dispose(); }
        if (games[1].FirstSpark != null) Console.WriteLine("the first spark flew in tick {0}, system Combat", games[1].FirstSpark);
    }

    static List<Order> Orders(Skirmish game, Random script, uint[] sequence)
    {
        var orders = new List<Order>();
        for (uint player = 0; player < Skirmish.Players; player++)
        {
            List<Unit> own = game.Of(player), enemies = game.Of(1 - player);
            if (script.Next(4) > 0 || own.Count == 0 || enemies.Count == 0) continue;
            string kind = new[] { "move", "attack", "attack", "stop" }[script.Next(4)];
            ulong unit = own[script.Next(own.Count)].Id, enemy = enemies[script.Next(enemies.Count)].Id;
            ulong[] words = kind == "move" ? new[] { unit, (ulong)script.Next(64 << 16), (ulong)script.Next(64 << 16) } : new[] { unit, enemy };
            byte[] payload = words.Take(kind == "stop" ? 1 : 3).SelectMany(BitConverter.GetBytes).ToArray();
            orders.Add(new Order { SubTick = 1000 * player, Player = player, Sequence = sequence[player]++, Kind = kind, Payload = payload });
        }
        return orders;
    }
}
