// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

using System.IO;
using System.Linq;
using Desynctool;

static class Level2
{
    static void Main(string[] args) // both peers, so that they learn of a difference at once
    {
        var games = new[] { new Game(), new Game() };
        var worlds = new[] { new World(), new World() };
        var files = new Recorder[2];
        for (int me = 0; me < 2; me++)
        {
            Session session = Game.Session(me);
            session.Facts["os"] = "Debian 12";
            games[me].Begin(session.Seed);
            session.Start = State.Of(games[me], worlds[me]).StateHash();
            files[me] = new Recorder(Path.Combine(args[0], session.Peer), session);
        }
        bool diverged = false;
        for (ulong tick = 0; ; tick++)
        {
            Order[] orders = Game.Script(tick);
            byte[][] hashes = new[] { 0, 1 }.Select(me => files[me].State(tick, State.Of(games[me], worlds[me]))).ToArray();
            if (!diverged && !hashes[0].SequenceEqual(hashes[1])) // what peers send each other, or its first 8 bytes
            {
                diverged = true;
                for (int me = 0; me < 2; me++) files[me].Snapshot(tick, worlds[me]);
            }
            if (tick == Game.Ticks) break;
            for (int me = 0; me < 2; me++)
            {
                files[me].Tick(tick, orders);
                games[me].Obey(orders); games[me].Wind(me == 1 && tick >= Game.Mistake); games[me].Roll();
            }
        }
        foreach (Recorder r in files) r.Dispose();
    }
}
