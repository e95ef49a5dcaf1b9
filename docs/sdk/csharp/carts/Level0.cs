// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

using System;
using Desynctool;

static class Level0
{
    static void Main(string[] args) // both peers, with a network between them that loses nothing
    {
        var games = new[] { new Game(), new Game() };
        var worlds = new[] { new World(), new World() };
        var flights = new FlightRecorder[2];
        for (int me = 0; me < 2; me++)
        {
            Session session = Game.Session(me);
            games[me].Begin(session.Seed);
            flights[me] = new FlightRecorder(session, State.Of(games[me], worlds[me]));
            flights[me].State(0, worlds[me]);
        }
        for (ulong tick = 0; tick < Game.Ticks; tick++)
        {
            Order[] orders = Game.Script(tick);
            for (int me = 0; me < 2; me++)
            {
                Game g = games[me];
                FlightRecorder f = flights[me];
                f.Tick(tick, orders);
                g.Obey(orders);
                f.System("Orders", State.Of(g, worlds[me]));
                g.Wind(me == 1 && tick >= Game.Mistake);
                f.System("Wind", State.Of(g, worlds[me]));
                g.Roll();
                f.System("Roll", State.Of(g, worlds[me]));
                f.State(tick + 1, worlds[me]);
            }
            Network(flights, tick * 33);
        }
        if (flights[0].Status != FlightStatus.Found) return;
        Console.Write(flights[0].Text()); // the other peer has the same text
        if (args.Length > 0) flights[0].Files(args[0]);
    }

    static void Network(FlightRecorder[] flights, ulong milliseconds)
    {
        var packet = new byte[FlightRecorder.PacketSize];
        for (int me = 0, to, n; me < 2; me++)
            while ((n = flights[me].Send(milliseconds, out to, packet)) > 0) flights[to].Receive(me, packet, n);
    }
}
