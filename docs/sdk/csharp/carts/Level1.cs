// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

using System;
using System.IO;
using Desynctool;

static class Level1
{
    static byte[] Checksum(Game g) // of values, which are the same on every machine
    {
        ulong h = g.Rng;
        for (int i = 0; i < Game.Carts; i++) h = unchecked((((h ^ (ulong)g.X[i]) * 1099511628211) ^ (ulong)g.Speed[i]) * 1099511628211);
        return BitConverter.GetBytes(h);
    }

    static void Main(string[] args)
    {
        for (int me = 0; me < 2; me++)
        {
            var g = new Game();
            Session session = Game.Session(me);
            g.Begin(session.Seed);
            using (var log = new OrderLog(Path.Combine(args[0], session.Peer, "order-log.bin"), session))
                for (ulong tick = 0; ; tick++)
                {
                    Order[] orders = Game.Script(tick);
                    log.Observe(tick, (uint)me, "sync", "", Checksum(g)); // of the state before the tick
                    if (tick == Game.Ticks) break;
                    log.Tick(tick, orders); // before it is played: a crash is in the log
                    g.Obey(orders); g.Wind(me == 1 && tick >= Game.Mistake); g.Roll();
                }
        }
    }
}
