// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

// The peer of peer.c, in C#: the same game, the same commands, the same answers.
using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using Desynctool;

static class Peer
{
    const int Infantry = 0, Tank = 1, Slots = 40, Units = 80, Side = 16, CellSize = 8, One = 65536, Edge = Side * CellSize * One, Rows = 8;
    static readonly string[] Kinds = { "move", "attack", "stop" }, Systems = { "Orders", "Movement", "Targeting", "Combat", "Reinforcement" };

    sealed class Unit
    {
        public ulong Id, Target;
        public long X, Y, GoalX, GoalY;
        public int Health;
        public ushort Cooldown;
        public byte Owner;
        public bool Alive, Targeted;
        public Unit Copy() { return (Unit)MemberwiseClone(); }
    }

    sealed class Sample
    {
        public ulong U64, Ref;
        public long I64, Fixed;
        public double F64;
        public float F32;
        public int I32;
        public uint U32;
        public short I16;
        public ushort U16;
        public sbyte I8;
        public byte U8;
        public bool Flag, Alive, Has;
        public string Text, Name;
        public byte[] Bytes;
    }

    static ulong rng, serial, seed, point, plantedTick, fault = ulong.MaxValue;
    static readonly uint[] kills = new uint[2];
    static Unit[] units = new Unit[Units];
    static ushort[] grid = new ushort[Side * Side];
    static Sample[] samples = new Sample[Rows];
    static readonly List<ulong> ids = new List<ulong>();
    static int plantedSystem, plantedKind, system;
    static bool rollback;
    static FlightRecorder recorder;
    static List<Order> orders = new List<Order>();
    static readonly World world = new World { Rng = new byte[16] };

    static uint Draw(ref ulong from, uint n)
    {
        unchecked { from = from * 6364136223846793005 + 1442695040888963407; }
        return (uint)((from >> 33) * n >> 31);
    }

    static int Cell(Unit u) { return (int)(u.Y / One / CellSize * Side + u.X / One / CellSize); }
    static long Distance(Unit a, Unit b) { return Math.Abs(a.X - b.X) + Math.Abs(a.Y - b.Y); }

    static Unit Find(ulong id)
    {
        Unit u = units[(int)(id % Units)];
        return u.Alive && u.Id == id ? u : null;
    }

    static void Spawn(int type, byte owner)
    {
        int i = type * Slots, end = i + Slots;
        while (i < end && units[i].Alive) i++;
        if (i == end) return;
        var u = new Unit { Id = ++serial * Units + (ulong)i, Alive = true, Owner = owner, Health = type == Tank ? 120 : 40 };
        u.X = u.GoalX = (owner > 0 ? 12L : 2) * CellSize * One + Draw(ref rng, 2 * CellSize * One);
        u.Y = u.GoalY = Draw(ref rng, Edge);
        units[i] = u;
        grid[Cell(u)]++;
    }

    static void Obey()
    {
        foreach (Order o in orders)
        {
            ulong id = BitConverter.ToUInt64(o.Payload, 0), target = BitConverter.ToUInt64(o.Payload, 8);
            uint x = BitConverter.ToUInt32(o.Payload, 16), y = BitConverter.ToUInt32(o.Payload, 20);
            Unit u = Find(id);
            if (u == null || u.Owner != o.Player || o.Kind == "attack" && Find(target) == null) continue;
            u.Targeted = o.Kind == "attack";
            u.Target = u.Targeted ? target : 0;
            u.GoalX = o.Kind == "move" ? (long)x * One % Edge : u.X;
            u.GoalY = o.Kind == "move" ? (long)y * One % Edge : u.Y;
        }
    }

    static long Toward(long at, long to, long pace) { return to > at + pace ? at + pace : to < at - pace ? at - pace : to; }

    static void Move()
    {
        for (int i = 0; i < Units; i++)
        {
            Unit u = units[i];
            if (!u.Alive) continue;
            long pace = (i < Slots ? One / 4 : One / 2) / (grid[Cell(u)] > 2 ? 2 : 1);
            grid[Cell(u)]--;
            u.X = Toward(u.X, u.GoalX, pace);
            u.Y = Toward(u.Y, u.GoalY, pace);
            grid[Cell(u)]++;
        }
    }

    static void Aim()
    {
        foreach (Unit u in units)
        {
            Unit at = u.Alive && u.Targeted ? Find(u.Target) : null;
            if (at != null && Distance(u, at) > 12 * One) { u.GoalX = at.X; u.GoalY = at.Y; }
            if (at != null || !u.Alive) continue;
            u.Targeted = false;
            u.Target = 0;
            foreach (Unit other in units)
                if (!u.Targeted && other.Alive && other.Owner != u.Owner && Distance(u, other) < 16 * One) { u.Targeted = true; u.Target = other.Id; }
        }
    }

    static void Fire(ulong tick)
    {
        for (int i = 0; i < Units; i++)
        {
            Unit u = units[i], at = u.Alive && u.Targeted ? Find(u.Target) : null;
            if (u.Alive && u.Cooldown > 0) u.Cooldown--;
            if (at == null || u.Cooldown > 0 || Distance(u, at) > 16 * One) continue;
            u.Cooldown = (ushort)(i < Slots ? 10 : 30);
            at.Health -= (int)(u.Cooldown / 2 + Draw(ref rng, u.Cooldown));
            if (at.Health > 0) continue;
            at.Alive = false;
            kills[u.Owner]++;
            if (tick < fault) grid[Cell(at)]--;
        }
    }

    static void Reinforce(ulong tick)
    {
        for (byte owner = 0; owner < 2 && tick % 20 == 0; owner++) Spawn(Draw(ref rng, 4) > 0 ? Infantry : Tank, owner);
    }

    static Sample Make(ulong v)
    {
        var w = new ulong[16];
        unchecked
        {
            for (int i = 0; i < 16; i++) { w[i] = v * (ulong)(2 * i + 3); w[i] ^= w[i] >> 29; }
            var s = new Sample { Alive = (v >> 50) % 8 != 0, Has = (v >> 40) % 4 != 0, Flag = (w[0] & 1) != 0, I8 = (sbyte)w[1], I16 = (short)w[2],
                I32 = (int)w[3], I64 = (long)w[4], U8 = (byte)w[5], U16 = (ushort)w[6], U32 = (uint)w[7], U64 = w[8], F32 = (float)(short)w[9] / 8,
                F64 = (double)(int)w[10] / 16, Fixed = (int)w[11], Ref = w[14] % 1000, Bytes = new byte[(w[13] >> 8) % 50] };
            var text = new StringBuilder();
            for (ulong i = 0; i < (w[12] >> 8) % 50; i++) text.Append((char)('a' + (i + w[12] % 1000) % 26));
            s.Text = text.ToString();
            for (int i = 0; i < s.Bytes.Length; i++) s.Bytes[i] = (byte)(w[13] + 7 * (ulong)i);
            text = new StringBuilder();
            for (ulong i = 0; i < (w[15] >> 8) % 90; i++) text.Append((char)('A' + (i + w[15] % 1000) % 26));
            s.Name = text.ToString();
            return s;
        }
    }

    static ulong NumberOf(ulong tick) { return unchecked((seed + tick) * 6364136223846793005 + 1442695040888963407); }

    // ---- what the recorder is given

    static World Describe()
    {
        world.Clear();
        BitConverter.GetBytes(rng).CopyTo(world.Rng, 0);
        BitConverter.GetBytes(serial).CopyTo(world.Rng, 8);
        for (int type = 0; type < 2; type++)
        {
            Table t = world.Archetype(type == Tank ? "Tank" : "Infantry");
            Column health = t.Column("Health", "points", ColumnType.I32), owner = t.Column("Owner", "player", ColumnType.U8);
            Column x = t.Column("Position", "x", ColumnType.Fixed, One), y = t.Column("Position", "y", ColumnType.Fixed, One);
            Column goalX = t.Column("Goal", "x", ColumnType.Fixed, One), goalY = t.Column("Goal", "y", ColumnType.Fixed, One);
            Column cooldown = t.Column("Weapon", "cooldown", ColumnType.U16), target = t.Column("Weapon", "target", ColumnType.Ref);
            var sorted = new List<Unit>();
            for (int i = type * Slots; i < (type + 1) * Slots; i++) if (units[i].Alive) sorted.Add(units[i]);
            sorted.Sort((a, b) => a.Id.CompareTo(b.Id));
            foreach (Unit u in sorted)
            {
                t.Row(u.Id);
                health.Set((long)u.Health); owner.Set((long)u.Owner); x.Set(u.X); y.Set(u.Y); goalX.Set(u.GoalX); goalY.Set(u.GoalY); cooldown.Set((long)u.Cooldown);
                if (u.Targeted) target.Set(u.Target);
            }
        }
        Table player = world.Archetype("Player"), cells = world.Cache("Grid"), all = world.Archetype("Sample", 2);
        Column score = player.Column("Score", "kills", ColumnType.U32), count = cells.Column("Cell", "units", ColumnType.U16);
        for (ulong i = 0; i < 2; i++) { player.Row(i); score.Set((long)kills[i]); }
        for (int i = 0; i < grid.Length; i++) { cells.Row((ulong)i); count.Set((long)grid[i]); }
        var types = new[] { ColumnType.Bool, ColumnType.I8, ColumnType.I16, ColumnType.I32, ColumnType.I64, ColumnType.U8, ColumnType.U16, ColumnType.U32, ColumnType.U64,
            ColumnType.F32, ColumnType.F64, ColumnType.Fixed, ColumnType.Ref };
        var c = new Column[13];
        for (int i = 0; i < 13; i++) c[i] = all.Column("All", types[i].ToString().ToLowerInvariant(), types[i], types[i] == ColumnType.Fixed ? 1000u : 0);
        Column text = all.Column("Text", "text", ColumnType.String), bytes = all.Column("Text", "bytes", ColumnType.Bytes), name = all.Column("Text", "name", ColumnType.String);
        for (int i = 0; i < Rows; i++)
        {
            Sample s = samples[i];
            if (!s.Alive) continue;
            all.Row((ulong)i / 2 + 1, (ulong)i % 2);
            if (s.Has) { c[0].Set(s.Flag); c[2].Set((long)s.I16); c[4].Set(s.I64); c[6].Set((long)s.U16); c[8].Set(s.U64); c[10].Set(s.F64); c[12].Set(s.Ref); }
            c[1].Set((long)s.I8); c[3].Set((long)s.I32); c[5].Set((long)s.U8); c[7].Set((long)s.U32); c[9].Set(s.F32); c[11].Set(s.Fixed);
            text.Set(s.Text); bytes.Set(s.Bytes); name.Set(s.Name);
        }
        return world;
    }

    static void Load(World from)
    {
        rng = BitConverter.ToUInt64(from.Rng, 0);
        serial = BitConverter.ToUInt64(from.Rng, 8);
        for (int i = 0; i < Units; i++) units[i] = new Unit();
        Array.Clear(grid, 0, grid.Length);
        for (int type = 0; type < 2; type++)
        {
            Table t = from.Archetype(type == Tank ? "Tank" : "Infantry");
            Func<string, string, Column> of = t.Find;
            for (int i = 0; i < t.Rows; i++)
            {
                var u = new Unit { Alive = true, Id = t.Key(i), Health = (int)of("Health", "points").Int(i), Owner = (byte)of("Owner", "player").UInt(i),
                    X = of("Position", "x").Int(i), Y = of("Position", "y").Int(i), GoalX = of("Goal", "x").Int(i), GoalY = of("Goal", "y").Int(i),
                    Cooldown = (ushort)of("Weapon", "cooldown").UInt(i), Target = of("Weapon", "target").UInt(i), Targeted = of("Weapon", "target").Has(i) };
                units[(int)(u.Id % Units)] = u;
                grid[Cell(u)]++;
            }
        }
        for (int i = 0; i < 2; i++) kills[i] = (uint)from.Archetype("Player").Find("Score", "kills").UInt(i);
        for (int i = 0; i < Rows; i++) samples[i] = new Sample();
        Table all = from.Archetype("Sample", 2);
        Func<string, Column> c = field => all.Find("All", field) ?? all.Find("Text", field);
        for (int i = 0; i < all.Rows; i++)
            samples[(int)((all.Key(i) - 1) * 2 + all.SecondKey(i))] = new Sample { Alive = true, Has = c("bool").Has(i), Flag = c("bool").Bool(i), I8 = (sbyte)c("i8").Int(i),
                I16 = (short)c("i16").Int(i), I32 = (int)c("i32").Int(i), I64 = c("i64").Int(i), U8 = (byte)c("u8").UInt(i), U16 = (ushort)c("u16").UInt(i),
                U32 = (uint)c("u32").UInt(i), U64 = c("u64").UInt(i), F32 = (float)c("f32").Float(i), F64 = c("f64").Float(i), Fixed = c("fixed").Int(i),
                Ref = c("ref").UInt(i), Text = c("text").Text(i), Name = c("name").Text(i), Bytes = c("bytes").Raw(i) };
    }

    // ---- the peer

    static List<Order> OrdersOf(ulong tick)
    {
        ulong script = unchecked(seed * 31 + tick * 7919);
        var list = new List<Order>();
        for (uint n = 0; n < 2; n++)
        {
            ulong id = ids[(int)Draw(ref script, 32)], at = ids[(int)Draw(ref script, 32)];
            uint dice = Draw(ref script, 8), x = Draw(ref script, Side * CellSize), y = Draw(ref script, Side * CellSize);
            var payload = new byte[24];
            BitConverter.GetBytes(id).CopyTo(payload, 0);
            BitConverter.GetBytes(at).CopyTo(payload, 8);
            BitConverter.GetBytes(x).CopyTo(payload, 16);
            BitConverter.GetBytes(y).CopyTo(payload, 20);
            list.Add(new Order { SubTick = n * 1000, Player = n, Sequence = (uint)tick, Kind = Kinds[dice < 4 ? 0 : dice < 7 ? 1 : 2], Payload = payload });
        }
        return list;
    }

    static void Mistake(ulong tick, int number)
    {
        Unit u = null;
        if (tick != plantedTick || number != plantedSystem || plantedKind < 2) return;
        for (int i = 0; i < Units && u == null; i++)
            if (units[(int)((seed + (ulong)i) % Units)].Alive) u = units[(int)((seed + (ulong)i) % Units)];
        switch (u == null ? 0 : plantedKind)
        {
            case 2: u.Health++; break;
            case 3: u.Alive = false; grid[Cell(u)]--; break;
            case 4: Draw(ref rng, 2); break;
            case 5: foreach (Unit other in units) other.Cooldown++; break;
            case 6: u.Targeted = !u.Targeted; u.Target = u.Targeted ? 1u : 0; break;
            case 7: Spawn(Infantry, 0); break;
            case 8: kills[1]++; break;
            case 9: samples[(int)(seed % Rows)] = Make(unchecked(NumberOf(tick) + 1)); break;
        }
        foreach (string label in new[] { "", "Infantry", "Tank", "Player", "Sample" }) recorder?.Touch(label);
    }

    static void Before(ulong tick, List<Order> given)
    {
        orders = given;
        recorder?.Tick(tick, orders);
        system = 0;
    }

    static bool PlaySystem(ulong tick)
    {
        int number = system++;
        switch (number)
        {
            case 0: Obey(); break;
            case 1: Move(); break;
            case 2: Aim(); break;
            case 3: Fire(tick); break;
            default: Reinforce(tick); samples[(int)(tick % Rows)] = Make(NumberOf(tick)); break;
        }
        Mistake(tick, number);
        if (recorder == null) return system < 5;
        recorder.Touch("Infantry");
        recorder.Touch("Tank");
        if (number == 3) { recorder.Touch("Player"); recorder.Touch(""); }
        if (number == 4) { recorder.Touch("Sample"); recorder.Touch(""); }
        recorder.System(Systems[number], Describe());
        return system < 5;
    }

    static void Play(ulong tick, List<Order> given)
    {
        Before(tick, given);
        while (PlaySystem(tick)) { }
        if (recorder != null) recorder.State(tick + 1, Describe());
    }

    static void Guess(ulong n)
    {
        ulong rngThen = rng, serialThen = serial;
        var killsThen = (uint[])kills.Clone();
        Unit[] unitsThen = Array.ConvertAll(units, u => u.Copy());
        var gridThen = (ushort[])grid.Clone();
        var samplesThen = (Sample[])samples.Clone(); // a sample never changes
        int kind = plantedKind;
        plantedKind = 0;
        for (ulong i = 0; i < n; i++) Play(point + i, new List<Order>());
        plantedKind = kind;
        recorder.Rollback(point);
        rng = rngThen;
        serial = serialThen;
        killsThen.CopyTo(kills, 0);
        units = unitsThen;
        grid = gridThen;
        samples = samplesThen;
    }

    static string Hex(byte[] b, int n)
    {
        const string digits = "0123456789abcdef";
        var s = new StringBuilder(2 * n);
        for (int i = 0; i < n; i++) s.Append(digits[b[i] >> 4]).Append(digits[b[i] & 15]);
        return s.ToString();
    }

    static string Snap()
    {
        World w = Describe();
        w.Seed = seed;
        w.Tick = point;
        byte[] b = w.Encode();
        return Hex(b, b.Length);
    }

    static string Sends(ulong now)
    {
        var packet = new byte[FlightRecorder.PacketSize];
        var s = new StringBuilder(((int)recorder.Status).ToString());
        int to, n;
        while ((n = recorder.Send(now, out to, packet)) > 0) s.Append(' ').Append(to).Append(':').Append(Hex(packet, n));
        return s.ToString();
    }

    static string Answer(string[] words)
    {
        ulong number = 0;
        if (words.Length > 1) ulong.TryParse(words[1], out number);
        switch (words[0])
        {
            case "receive":
                var packet = new byte[words[2].Length / 2];
                for (int i = 0; i < packet.Length; i++) packet[i] = Convert.ToByte(words[2].Substring(2 * i, 2), 16);
                recorder.Receive((int)number, packet, packet.Length);
                return null;
            case "play":
                Play(point, OrdersOf(point));
                point++;
                if (rollback) recorder.Confirm(point);
                return "";
            case "step":
                if (system == 0 || system == 5) Before(point, OrdersOf(point));
                string name = Systems[system];
                if (!PlaySystem(point)) point++;
                return name;
            case "guess": Guess(number); return "";
            case "send": return Sends(number);
            case "report": byte[] report = recorder.Report() ?? new byte[0]; return Hex(report, report.Length);
            case "text": byte[] text = Encoding.UTF8.GetBytes(recorder.Text()); return Hex(text, text.Length);
            case "snap": return Snap();
            case "load":
                byte[] state;
                try { state = recorder.Snapshot((int)number); }
                catch (InvalidOperationException e) { return e.Message; }
                World from = World.Decode(state);
                Load(from);
                point = from.Tick;
                recorder.Resume();
                recorder.State(point, Describe());
                return "- " + Snap();
            case "files":
                try { recorder.Files(words[1]); }
                catch (InvalidOperationException e) { return e.Message; }
                return "";
        }
        throw new ArgumentException("an unknown command");
    }

    static int Main(string[] args)
    {
        if (args.Length > 0 && args[0] == "cost") return Cost.Run(args.Length > 1 && args[1] == "changing");
        ulong[] a = Array.ConvertAll(args, ulong.Parse);
        seed = a[2]; plantedTick = a[3]; plantedSystem = (int)a[4]; plantedKind = (int)a[5]; rollback = a[7] > 0;
        if (plantedKind == 1) fault = plantedTick;
        rng = seed;
        for (int i = 0; i < Units; i++) units[i] = new Unit();
        for (int i = 0; i < 32; i++) Spawn(i % 8 < 6 ? Infantry : Tank, (byte)(i % 2));
        foreach (Unit u in units) if (u.Alive) ids.Add(u.Id);
        for (int i = 0; i < Rows; i++) samples[i] = Make(NumberOf((ulong)i + 1000));
        if (a[0] > 0)
        {
            var s = new Session { Seed = seed, Build = "1.0", Peer = "peer" + a[1] };
            foreach (string kind in Kinds) s.Kinds.Add(new OrderKind(kind));
            for (ulong i = 0; i < a[0]; i++) s.Peers.Add("peer" + i);
            var options = new FlightOptions { Marked = a[6] > 0, Rollback = rollback, Rows = { { "Infantry", Slots }, { "Tank", Slots } } };
            string budget = Environment.GetEnvironmentVariable("PEER_BUDGET");
            if (budget != null) options.Budget = int.Parse(budget);
            if (Environment.GetEnvironmentVariable("PEER_UNSIZED") == null) options.Sizes["Sample Text.name"] = 100;
            recorder = new FlightRecorder(s, Describe(), options);
            recorder.State(0, Describe());
        }
        Stream stdout = Console.OpenStandardOutput();
        var input = new StreamReader(Console.OpenStandardInput(), Encoding.ASCII, false, 1 << 16);
        for (string line; (line = input.ReadLine()) != null;)
        {
            string answer = Answer(line.Split(' '));
            if (answer == null) continue;
            byte[] b = Encoding.ASCII.GetBytes(answer + "\n");
            stdout.Write(b, 0, b.Length);
            stdout.Flush();
        }
        return 0;
    }
}

// What a tick costs: 5000 entities of 220 bytes in 10 tables, of which 1000 values change.
static class Cost
{
    public static int Run(bool changing)
    {
        const int tables = 10, rows = 500, columns = 55, ticks = 300;
        var values = new int[tables, columns, rows];
        var w = new World();
        var of = new Column[tables, columns];
        for (int t = 0; t < tables; t++)
            for (int c = 0; c < columns; c++) of[t, c] = w.Archetype("n" + t).Column("C", "n" + c.ToString("00"), ColumnType.I32);
        var random = new Random(1);
        var s = new Session { Peer = "a", Peers = { "a", "b" } };
        Action fill = () =>
        {
            w.Clear();
            for (int t = 0; t < tables; t++)
                for (int r = 0; r < rows; r++)
                {
                    w.Archetype("n" + t).Row((ulong)r);
                    for (int c = 0; c < columns; c++) of[t, c].Set((long)values[t, c, r]);
                }
        };
        fill();
        var options = new FlightOptions();
        for (int t = 0; t < tables; t++) options.Rows["n" + t] = rows;
        var f = new FlightRecorder(s, w, options);
        f.State(0, w);
        var spent = new List<double>();
        for (int tick = 0; tick < ticks; tick++)
        {
            for (int i = 0; i < 1000 && changing; i++) values[random.Next(tables), random.Next(columns), random.Next(rows)]++;
            if (changing) fill();
            var clock = System.Diagnostics.Stopwatch.StartNew();
            f.Tick((ulong)tick, null);
            f.State((ulong)tick + 1, w);
            spent.Add(clock.Elapsed.TotalSeconds);
        }
        spent.Sort();
        double seconds = spent[ticks / 2];
        Console.WriteLine("{0:f0} us a tick, {1:f2} GB/s of state; {2} ticks in {3} KiB", seconds * 1e6, tables * columns * rows * 4 / seconds / 1e9, f.Holds().To - f.Holds().From, f.Holds().Of >> 10);
        return 0;
    }
}
