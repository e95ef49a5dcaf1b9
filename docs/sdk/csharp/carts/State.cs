// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

// The state as tables of columns.
using System;
using Desynctool;

static class State
{
    public static World Of(Game g, World w)
    {
        w.Clear();
        w.Rng = BitConverter.GetBytes(g.Rng);
        Table carts = w.Archetype("Cart");
        Column x = carts.Column("Cart", "x", ColumnType.Fixed, 256), speed = carts.Column("Cart", "speed", ColumnType.Fixed, 256);
        for (int i = 0; i < Game.Carts; i++) { carts.Row((ulong)i + 1); x.Set(g.X[i]); speed.Set(g.Speed[i]); }
        return w;
    }
}
