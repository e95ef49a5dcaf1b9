// Does with Desynctool.cs what signatures.py describes.
using System;
using System.Diagnostics;
using System.IO;
using System.Text;
using Desynctool;

static class Signatures
{
    static string Hex(byte[] b)
    {
        var s = new StringBuilder();
        foreach (byte v in b) s.Append(v.ToString("x2"));
        return s.Length == 0 ? "-" : s.ToString();
    }

    static byte[] Unhex(string s)
    {
        var b = new byte[s.Length / 2];
        for (int i = 0; i < b.Length; i++) b[i] = Convert.ToByte(s.Substring(2 * i, 2), 16);
        return b;
    }

    static byte[] Part(byte[] b, int from, int n)
    {
        var part = new byte[n];
        Buffer.BlockCopy(b, from, part, 0, n);
        return part;
    }

    static void Write(string path)
    {
        var lines = new StreamReader(Console.OpenStandardInput(), Encoding.ASCII);
        string[] first = lines.ReadLine().Split(' ');
        ulong seed = ulong.Parse(first[0]);
        string peer = Encoding.UTF8.GetString(Unhex(first[1]));
        byte[] start = Unhex(first[2]), secret = Unhex(first[3]);
        TickSignatures chain = first[4] == "own" ? new TickSignatures(path, seed, peer, secret, start)
            : new TickSignatures(path, seed, peer, Ed25519.PublicKey(secret), message => Ed25519.Sign(secret, message), start);
        for (string line; (line = lines.ReadLine()) != null;)
        {
            if (line == "close")
            {
                chain.Dispose();
                return;
            }
            string[] entry = line.Split(' ');
            try
            {
                chain.Append(ulong.Parse(entry[0]), Unhex(entry[1]));
                Console.Out.WriteLine(entry[0]);
            }
            catch (ArgumentException) { Console.Out.WriteLine("refused"); }
            Console.Out.Flush();
        }
        Environment.Exit(0);
    }

    static string Number(ulong? v) { return v == null ? "-" : v.ToString(); }

    static string Check(byte[] r)
    {
        CheckedSignatures c;
        try { c = CheckedSignatures.Read(Part(r, 41, r.Length - 41), r[0] != 0 ? Part(r, 1, 32) : null); }
        catch (InvalidDataException) { return "refused"; }
        byte[] state = c.StateHash(BitConverter.ToUInt64(r, 33));
        var said = new StringBuilder();
        said.AppendFormat("{0} {1} {2} {3} {4} {5} {6} {7} {8} {9}", c.Seed, Hex(c.PeerBytes), Hex(c.Key), Hex(c.Start), c.Entries, c.Bound, c.Closed ? 1 : 0,
            c.Whole ? 1 : 0, c.Found, state == null ? "-" : Hex(state));
        foreach (Finding f in c.Findings) said.AppendFormat(" {0}@{1}#{2}:{3}:{4}", (int)f.Kind, f.Offset, f.Entry, Number(f.After), Number(f.Tick));
        return said.ToString();
    }

    static void Measure(int n)
    {
        byte[] secret = new byte[32];
        var file = new MemoryStream();
        var watch = Stopwatch.StartNew();
        using (var chain = new TickSignatures(file, 0, "", secret))
            for (int i = 0; i < n; i++) chain.Append((ulong)i, secret);
        double signing = watch.Elapsed.TotalSeconds;
        watch.Restart();
        if (CheckedSignatures.Read(file.ToArray()).Bound != (ulong)n) Environment.Exit(3);
        Console.WriteLine("{0:0} {1:0}", n / signing, n / watch.Elapsed.TotalSeconds);
    }

    static int Main(string[] args)
    {
        if (args[0] == "write") { Write(args[1]); return 0; }
        if (args[0] == "time") { Measure(int.Parse(args[1])); return 0; }
        if (args[0] == "words")
        {
            for (FindingKind kind = FindingKind.OtherKey; kind <= FindingKind.Open; kind++) Console.WriteLine(Finding.WordsOf(kind));
            return 0;
        }
        var stdin = new BinaryReader(Console.OpenStandardInput());
        while (true)
        {
            byte[] head = stdin.ReadBytes(4);
            if (head.Length < 4) return 0;
            byte[] r = stdin.ReadBytes(BitConverter.ToInt32(head, 0));
            if (args[0] == "check") Console.WriteLine(Check(r));
            else if (args[0] == "verify") Console.WriteLine(Ed25519.Verify(Part(r, 0, 32), Part(r, 96, r.Length - 96), Part(r, 32, 64)) ? "1" : "0");
            else Console.WriteLine(Hex(Ed25519.PublicKey(Part(r, 0, 32))) + " " + Hex(Ed25519.Sign(Part(r, 0, 32), Part(r, 32, r.Length - 32))));
        }
    }
}
