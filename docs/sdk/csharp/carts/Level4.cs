// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

using System;
using System.Collections.Generic;
using Desynctool;

sealed class Level4 : IGame, IState, ISaver
{
    readonly Game g = new Game();
    readonly World world = new World();

    public string Name => "carts";
    public string Build => "1.0";
    public void Start(Session session) { g.Begin(session.Seed); }
    public void Step(ulong tick, IReadOnlyList<Order> orders) { g.Obey(orders); g.Wind(false); g.Roll(); }
    public World World() => State.Of(g, world);

    public byte[] Save()
    {
        var b = new byte[8 + 16 * Game.Carts];
        BitConverter.GetBytes(g.Rng).CopyTo(b, 0);
        Buffer.BlockCopy(g.X, 0, b, 8, 8 * Game.Carts);
        Buffer.BlockCopy(g.Speed, 0, b, 8 + 8 * Game.Carts, 8 * Game.Carts);
        return b;
    }

    public void Restore(byte[] b)
    {
        g.Rng = BitConverter.ToUInt64(b, 0);
        Buffer.BlockCopy(b, 8, g.X, 0, 8 * Game.Carts);
        Buffer.BlockCopy(b, 8 + 8 * Game.Carts, g.Speed, 0, 8 * Game.Carts);
    }

    static int Main() => Target.Serve(new Level4());
}
