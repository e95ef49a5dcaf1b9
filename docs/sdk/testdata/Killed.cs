// Plays one peer into the folder that is its argument, and prints what it has acknowledged: tests kill it.
using System;
using System.IO;
using Desynctool;

static class Killed
{
    static void Say(string what, ulong tick)
    {
        Console.Out.Write(what + " " + tick + "\n");
        Console.Out.Flush();
    }

    static World State(ulong tick, uint rng, int[] hp)
    {
        var w = new World { Seed = 11, Tick = tick, Peer = "client", Rng = BitConverter.GetBytes((ulong)rng) };
        Table units = w.Archetype("Unit");
        Column health = units.Column("Health", "hp", ColumnType.I32);
        for (int i = 0; i < hp.Length; i++) { units.Row((ulong)i); health.Set(hp[i]); }
        return w;
    }

    static void Main(string[] args)
    {
        var hp = new int[500];
        uint rng = 0;
        var s = new Session { Seed = 11, Peer = "client", Build = "1.0", Peers = { "host", "client" }, Kinds = { new OrderKind("move") } };
        s.Start = State(0, rng, hp).StateHash();
        var orders = new[] {
            new Order { Player = 1, Kind = "move", Payload = new byte[] { 1, 2, 3 } },
            new Order { SubTick = 2, Player = 1, Sequence = 1, Kind = "move", Payload = new byte[] { 1 } } };
        using (var r = new Recorder(Path.Combine(args[0], "client"), s, TraceDetail.Archetype))
        {
            for (ulong tick = 0; tick < 200; tick++)
            {
                World w = State(tick, rng, hp);
                r.State(tick, w);
                if (tick % 10 == 0) { r.Snapshot(tick, w); Say("snapshot", tick); }
                if (tick % 25 == 0) { r.Report(tick, w, 1, new[] { "Unit" }); Say("report", tick); }
                if (tick % 40 == 0) r.Sync();
                r.Tick(tick, new ArraySegment<Order>(orders, 0, (int)(tick % 3)));
                rng += 77;
                hp[tick * 7 % 500]++;
                r.System(tick, "Move", State(tick + 1, rng, hp));
                Say("tick", tick);
            }
        }
    }
}
