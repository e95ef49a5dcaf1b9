// The least that a target is: a game that has a checksum and cannot do anything else.
using System;
using System.Collections.Generic;
using Desynctool;

sealed class Minimal : IGame, IChecksum
{
    uint state;

    public string Name => "minimal";
    public string Build => "1";
    public void Start(Session session) { state = (uint)session.Seed; }

    public void Step(ulong tick, IReadOnlyList<Order> orders)
    {
        Console.WriteLine("what a game prints"); // not into the protocol
        state = unchecked(state * 1664525 + 1013904223);
    }

    public byte[] Checksum() => BitConverter.GetBytes(state);

    static int Main() => Target.Serve(new Minimal());
}
