// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

// Eight carts on a line. All that the simulation reads and writes is in Game, and nothing else.
using System;
using System.Collections.Generic;
using Desynctool;

sealed class Game
{
    public const int Carts = 8, Ticks = 120, Mistake = 60; // Mistake: the first tick in which the client makes its mistake
    public static readonly string[] Names = { "host", "client" };
    public ulong Rng;
    public readonly long[] X = new long[Carts], Speed = new long[Carts]; // in 1/256 of a pace

    public void Begin(ulong seed) { Rng = seed; Array.Clear(X, 0, Carts); Array.Clear(Speed, 0, Carts); }

    long Draw(ulong n) { Rng = unchecked(Rng * 6364136223846793005 + 1442695040888963407); return (long)((Rng >> 33) % n); }

    public void Obey(IReadOnlyList<Order> orders)
    {
        foreach (Order o in orders) if (o.Payload.Length == 1) Speed[o.Payload[0] % Carts] += 64;
    }

    public void Wind(bool sparks)
    {
        long at = Draw(Carts);
        Speed[at] += Draw(16);
        if (sparks) Draw(360); // the mistake: which way sparks fly, from the game's own random numbers
    }

    public void Roll() { for (int i = 0; i < Carts; i++) { X[i] += Speed[i]; Speed[i] -= Speed[i] / 8; } }

    // The players: one pushes a cart in every fifth tick.
    public static Order[] Script(ulong tick) => tick % 5 != 0 ? new Order[0] : new[] {
        new Order { Player = (uint)(tick / 5 % 2), Sequence = (uint)tick, Kind = "push", Payload = new[] { (byte)(tick * 7 % Carts) } } };

    public static Session Session(int me)
    {
        var s = new Session { Seed = 7, Peer = Names[me], Build = "1.0", RateNumerator = 30, RateDenominator = 1 };
        s.Kinds.Add(new OrderKind("push"));
        s.Peers.AddRange(Names);
        return s;
    }
}
