// Writes the worked examples of the docs and other files with Desynctool.cs, and checks what can be checked in C#.
using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using Desynctool;

static class Vectors
{
    static int Main(string[] args)
    {
        if (args[0] == "--read") { Reads(Console.OpenStandardInput(), false); return 0; }
        if (args[0] == "--hash") { Reads(Console.OpenStandardInput(), true); return 0; }
        string folder = args[0];
        Expect(Crc32C.Of(Encoding.ASCII.GetBytes("123456789"), 0, 9) == 0xE3069283, "CRC-32C");
        Hashes();
        World example = Example();
        File.WriteAllBytes(Path.Combine(folder, "example.snap"), example.Encode());
        File.WriteAllBytes(Path.Combine(folder, "types.snap"), Types().Encode());
        World large = Large(1, 140000);
        byte[] largeFile = large.Encode();
        File.WriteAllBytes(Path.Combine(folder, "large.snap"), largeFile);
        foreach (World w in new[] { example, Types(), new World() })
        {
            byte[] file = w.Encode();
            Expect(Same(World.Decode(file).Encode(), file), "a snapshot that is read and written is the same");
            Damage(file);
        }
        Expect(Same(World.Decode(largeFile).Encode(), largeFile), "a large snapshot that is read and written is the same");
        Values(World.Decode(Types().Encode()));
        Again();
        Refusals();
        Log(Path.Combine(folder, "order-log.bin"));
        Checkpoints(Path.Combine(folder, "checkpoints.trace"));
        Gap(Path.Combine(folder, "gap"));
        if (args.Length > 1) Compressed(args[1]);
        Console.WriteLine("ok");
        return 0;
    }

    // Reads one .snap after another, each after its length, and prints for each "ok" or why it is refused; or, instead
    // of "ok", the hash of the state, and whether it is written as the same bytes.
    static void Reads(Stream input, bool hash)
    {
        var r = new BinaryReader(new BufferedStream(input, 1 << 20));
        byte[] length;
        while ((length = r.ReadBytes(4)).Length == 4)
        {
            byte[] file = r.ReadBytes(BitConverter.ToInt32(length, 0));
            string said = "ok";
            try
            {
                World w = World.Decode(file);
                if (hash) said = BitConverter.ToString(w.StateHash()).Replace("-", "").ToLowerInvariant() + (Same(w.Encode(), file) ? " same" : " other bytes");
            }
            catch (InvalidDataException e) { said = e.Message.Replace('\n', ' '); }
            Console.WriteLine(said);
        }
    }

    static void Expect(bool holds, string what)
    {
        if (!holds) throw new Exception("does not hold: " + what);
    }

    static bool Same(byte[] a, byte[] b) { return Convert.ToBase64String(a) == Convert.ToBase64String(b); }

    static byte[] Hex(string s)
    {
        var b = new byte[s.Length / 2];
        for (int i = 0; i < b.Length; i++) b[i] = Convert.ToByte(s.Substring(2 * i, 2), 16);
        return b;
    }

    static void Throws<T>(Action act, string what) where T : Exception
    {
        try { act(); }
        catch (T) { return; }
        Expect(false, what);
    }

    static void Hashes()
    {
        var ours = new Sha256();
        var theirs = System.Security.Cryptography.SHA256.Create();
        var b = new byte[300];
        for (int n = 0; n <= 200; n++)
        {
            b[n] = (byte)(n * 7 + 3);
            var into = new byte[Sha256.Size];
            ours.Hash(b, n / 2, n, into, 0);
            Expect(Same(into, theirs.ComputeHash(b, n / 2, n)), "SHA-256 of " + n + " bytes");
        }
    }

    static World Example()
    {
        var w = new World { Seed = 7, Tick = 1242, Peer = "host", Rng = Hex("0123456789abcdef") };
        Table t = w.Archetype("Infantry");
        Column x = t.Column("Position", "x", ColumnType.Fixed, 65536), hp = t.Column("Health", "hp", ColumnType.I32); // not in their order
        t.Row(3); hp.Set(75); x.Set(98304);
        t.Row(8); x.Set(-16384);
        return w;
    }

    static World Types()
    {
        var w = new World { Seed = ulong.MaxValue, Tick = 1UL << 40, Phase = "after-orders", Native = "frame 9", Peer = "clïent", Epoch = 3, Rng = new byte[0], History = new byte[32] };
        w.History[31] = 1;
        w.Properties["os"] = "linux"; w.Properties["\uFFFD"] = "second by bytes"; w.Properties["\U0001F600"] = "third"; // the last two are the other way round in UTF-16
        Table pair = w.Archetype("Pair", 2), noise = w.Table(TableClass.Noise, "Clock"), cache = w.Cache("Grid");
        w.Archetype("Empty").Column("A", "b", ColumnType.U8);
        w.Archetype("\U0001F600"); w.Archetype("\uFFFD");
        noise.Row(1);
        cache.Row(5); cache.Column("C", "d", ColumnType.U8).Set(9);
        Column flag = pair.Column("T", "bool", ColumnType.Bool);
        var columns = new Dictionary<ColumnType, Column>();
        for (ColumnType type = ColumnType.I8; type <= ColumnType.Ref; type++)
            columns[type] = pair.Column("T", type.ToString(), type, type == ColumnType.Fixed ? 10u : 0);
        pair.Row(0, 7); // all absent
        pair.Row(1, 0);
        flag.Set(true);
        long[] low = { sbyte.MinValue, short.MinValue, int.MinValue, long.MinValue };
        ulong[] high = { byte.MaxValue, ushort.MaxValue, uint.MaxValue, ulong.MaxValue };
        for (int i = 0; i < 4; i++) { columns[(ColumnType)(2 + i)].Set(low[i]); columns[(ColumnType)(6 + i)].Set(high[i]); }
        columns[ColumnType.F32].Set(0.1f); columns[ColumnType.F64].Set(-0.0);
        columns[ColumnType.Fixed].Set(-15); columns[ColumnType.Ref].Set(ulong.MaxValue);
        columns[ColumnType.String].Set("größe"); columns[ColumnType.Bytes].Set(new byte[] { 0, 255 });
        pair.Row(1, ulong.MaxValue);
        flag.Set(false);
        columns[ColumnType.F64].Set(1e300);
        columns[ColumnType.String].Set("");
        pair.Row(ulong.MaxValue, 0);
        columns[ColumnType.Bytes].Set(Hex("00010203"));
        return w;
    }

    static void Values(World w)
    {
        Table t = w.Find(TableClass.Archetype, "Pair");
        Expect(t.Rows == 4 && t.Key(2) == 1 && t.SecondKey(2) == ulong.MaxValue, "keys are read");
        Expect(!t.Find("T", "bool").Has(0) && t.Find("T", "bool").Bool(1) && t.Find("T", "bool").Has(2) && !t.Find("T", "bool").Bool(2), "bools are read");
        Expect(t.Find("T", "I8").Int(1) == sbyte.MinValue && t.Find("T", "I64").Int(1) == long.MinValue && t.Find("T", "Fixed").Int(1) == -15, "integers are read");
        Expect(t.Find("T", "U64").UInt(1) == ulong.MaxValue && t.Find("T", "U16").Int(1) == 65535, "unsigned integers are read");
        Expect(t.Find("T", "F32").Float(1) == 0.1f && t.Find("T", "F64").Float(2) == 1e300, "floats are read");
        Expect(t.Find("T", "String").Text(1) == "größe" && t.Find("T", "String").Has(2) && !t.Find("T", "String").Has(3), "strings are read");
        Expect(Same(t.Find("T", "Bytes").Raw(3), Hex("00010203")), "bytes are read");
    }

    static World Large(uint version, int rows)
    {
        var w = new World { Seed = 1 };
        Fill(w, version, rows);
        return w;
    }

    static void Fill(World w, uint version, int rows)
    {
        w.Clear();
        Table t = w.Archetype("Many");
        Column a = t.Column("A", "n", ColumnType.U32), s = t.Column("A", "s", ColumnType.String);
        for (uint i = 0; i < rows; i++)
        {
            t.Row(i * 3);
            if (i % 5 != 0) a.Set(i == 777 ? version : i);
            if (i % 7 == 0) s.Set("row " + i);
        }
    }

    // A world that is filled again has the hash of a new one, whatever it held before.
    static void Again()
    {
        var kept = new World { Seed = 1 };
        foreach (int rows in new[] { 10, 5000, 5000, 20000, 5000, 0, 1, 777, 778 })
            foreach (uint version in new uint[] { 1, 2, 1 })
            {
                Fill(kept, version, rows);
                byte[] hash = kept.StateHash();
                Expect(Same(hash, Large(version, rows).StateHash()) && Same(hash, kept.StateHash()), "hashing again, " + rows + " rows");
            }
    }

    static void Refusals()
    {
        var w = new World();
        Table t = w.Archetype("T"), two = w.Archetype("Two", 2);
        Column i8 = t.Column("C", "i8", ColumnType.I8), u8 = t.Column("C", "u8", ColumnType.U8), f = t.Column("C", "f", ColumnType.F32);
        Throws<InvalidOperationException>(() => i8.Set(1), "a value needs a row");
        t.Row(5);
        Throws<InvalidOperationException>(() => t.Row(5), "keys ascend");
        Throws<InvalidOperationException>(() => t.Row(6, 1), "keys have their parts");
        Throws<ArgumentException>(() => i8.Set(128), "i8 ends at 127");
        Throws<ArgumentException>(() => u8.Set(-1), "u8 begins at 0");
        Throws<ArgumentException>(() => u8.Set(256), "u8 ends at 255");
        Throws<ArgumentException>(() => f.Set(1), "f32 takes floats");
        Throws<ArgumentException>(() => f.Set("1"), "f32 takes floats");
        i8.Set(-128);
        Throws<InvalidOperationException>(() => i8.Set(1), "a value is set once in a row");
        two.Row(1, 1);
        Throws<InvalidOperationException>(() => two.Row(1, 1), "keys of two parts ascend");
        Throws<ArgumentException>(() => t.Column("C", "i8", ColumnType.U8), "a column keeps its type");
        Throws<ArgumentException>(() => t.Column("C", "x", ColumnType.Fixed), "fixed has a scale");
        Throws<ArgumentException>(() => w.Archetype(""), "labels are not empty");
        World read = World.Decode(Types().Encode());
        Expect(read.Archetype("Pair", 2).Column("T", "Fixed", ColumnType.Fixed, 10).Int(1) == -15, "what was read is found as it was written");
        Throws<RefusedException>(() => read.Archetype("Pair"), "keys of another number of parts");
        Throws<RefusedException>(() => read.Archetype("Grid"), "a table of another class");
        Throws<RefusedException>(() => read.Archetype("Pair", 2).Column("T", "Fixed", ColumnType.Fixed, 11), "another scale");
        Throws<RefusedException>(() => read.Archetype("Pair", 2).Column("T", "none", ColumnType.Bool), "a column that is not there");
        Throws<ArgumentException>(() => Target.Serve(null, Stream.Null, Stream.Null), "a game has a hash");
    }

    // Whatever a byte is changed to and wherever the file ends: one kind of exception, or the same content.
    static void Damage(byte[] file)
    {
        for (int i = 0; i < file.Length; i++)
        {
            var cut = new byte[i];
            Array.Copy(file, cut, i);
            Throws<InvalidDataException>(() => World.Decode(cut), "a file cut at " + i);
            foreach (int flip in new[] { 1, 0x80, 0xff })
            {
                var bad = (byte[])file.Clone();
                bad[i] ^= (byte)flip;
                Mend(bad);
                try { World.Decode(bad).StateHash(); }
                catch (InvalidDataException) { }
            }
        }
    }

    // Makes checksums right again, so that what follows them is tried: of the preamble and the header, and in the
    // example, which has 3 cells at known places, of these and of the index.
    static void Mend(byte[] file)
    {
        if (file.Length == 572)
        {
            int[] cells = { 0xb5, 0xcd, 0xde, 0xf6 };
            for (int i = 0; i < 3; i++) Put(file, 0x225 + 4 * i, Crc32C.Of(file, cells[i], cells[i + 1] - cells[i]));
            Put(file, 0x230 + 1, Crc32C.Of(file, 0xf6, 0x231 - 0xf6));
        }
        uint length = Reader.U32At(file, 12);
        if (length > file.Length - 32) return;
        Put(file, 16, Crc32C.Of(file, 32, (int)length));
        Put(file, 28, Crc32C.Of(file, 0, 28));
    }

    static void Put(byte[] b, int at, uint v) { for (int i = 0; i < 4; i++) b[at + i] = (byte)(v >> 8 * i); }

    static void Compressed(string path)
    {
        try { World.Decode(File.ReadAllBytes(path)); }
        catch (InvalidDataException e)
        {
            Expect(e.Message.Contains("zstd"), "a compressed snapshot is named: " + e.Message);
            return;
        }
        Expect(false, "a compressed snapshot is refused");
    }

    static Session Header()
    {
        return new Session {
            Seed = 7, Peer = "host", Build = "1.0", RateNumerator = 30, RateDenominator = 1, Peers = { "host", "client" },
            Kinds = { new OrderKind("move"), new OrderKind("chat", true) }, Parameters = { { "map", "green valley" } } };
    }

    static void Log(string path)
    {
        Session s = Header();
        s.Start = Hex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        using (var log = new OrderLog(path, s))
        {
            log.Observe(0, 0, "sync", "", Hex("b5c8bea2d1f6a904"));
            log.Tick(0, new Order[0]);
            log.Mark(new Marker { Kind = MarkerKind.Save, Point = 1, Text = "autosave" });
            log.Tick(1, new[] {
                new Order { SubTick = 16667, Player = 1, Sequence = 4, Kind = "chat", Payload = Hex("6767") },
                new Order { SubTick = 16667, Player = 2, Sequence = 17, Kind = "move", Payload = Hex("9301cd0400") } });
            log.Observe(2, 0, "sync", "", Hex("0f1e2d3c4b5a6978"));
            log.Observe(2, 1, "sync", "quick", Hex("beef"));
        }
    }

    static bool Refuses(Action call)
    {
        try { call(); }
        catch (RefusedException) { return true; }
        return false;
    }

    // All that a peer leaves that plays a tick, is away, and comes back at point 5 with a state of another peer.
    static void Gap(string folder)
    {
        Session s = Header();
        World w = Types();
        w.Phase = "";
        s.Facts["locale"] = "de_DE";
        s.Start = w.StateHash();
        var orders = new[] { new Order { SubTick = 5, Player = 1, Sequence = 4, Kind = "chat", Payload = Hex("67") },
            new Order { Player = 2, Sequence = 17, Kind = "move", Payload = Hex("9301") } };
        using (var r = new Recorder(folder, s, TraceDetail.Column))
        {
            r.State(0, w);
            r.Tick(0, orders);
            r.System(0, "Movement", w);
            r.State(1, w);
            Expect(Refuses(() => r.System(1, "Movement", w)), "a system between two ticks is not refused");
            Expect(r.Epoch == 0, "an epoch begins with a load");
            r.Log.Mark(new Marker { Kind = MarkerKind.Reconnect, Player = 1, Point = 5 });
            r.Loaded(MarkerKind.Load, 5, Hex("0100000000000000000000000000000000000000000000000000000000000000"), "save of the host");
            Expect(r.Epoch == 1, "a load begins an epoch");
            r.State(5, w);
            r.Tick(5, orders);
            r.System(5, "Movement", w);
            r.State(6, w);
            r.Snapshot(6, w);
            r.Report(6, w, 2, new[] { "Pair" });
        }
    }

    static void Checkpoints(string path)
    {
        byte[] saved = Hex("1f83d9ab");
        using (var trace = new Trace(path, Header()))
        {
            trace.Checkpoint(0, "Movement", "Infantry", false, 250, new Sum("", 0x6a09e667bb67ae85));
            trace.Checkpoint(0, "Combat", "", false, null, new Sum("", "3C6EF372"), new Sum("rng", Hex("510e")));
            trace.Checkpoint(1, "Movement", "Infantry", true, 250, new Sum("", Hex("9b05688c2b3e6c1f")));
            trace.Event(TraceEvent.Input, 1, 0, 2, true, new Sum("", Hex("beef")));
            trace.Event(TraceEvent.Save, 1, 0, 0, false, new Sum("", saved));
            trace.Event(TraceEvent.Restore, 1, 3, 0, false, new Sum("", saved));
            trace.Event(TraceEvent.Resimulate, 1, 2, 0, false);
            trace.Checkpoint(1, "two words", "", new byte[1]);
        }
    }
}
