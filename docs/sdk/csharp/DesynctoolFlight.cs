// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

// A flight recorder for a game that is shipped. Copy this file and Desynctool.cs into a project; it needs C# 7 and .NET
// Standard 2.0, no packages and no unsafe code.
//
// It keeps the last ticks in a fixed amount of memory: orders, hashes, and all that the state changed, so that the state of
// any of these ticks can be rebuilt. When the peers find that their states differ, it finds the first tick, the system,
// the columns, the rows and their values, by packets of at most 1000 bytes that the game carries between its peers. Then
// every peer has the same report. docs/exchange.md specifies the packets; c/desynctool_flight.h is the same in C.
//
// In each tick, and once before the first one without Tick:
//
//     flight.Tick(tick, orders);          the orders that the tick is about to apply
//     flight.System("Movement", world);   after each system, if the game can
//     flight.State(tick + 1, world);      the state after the tick: the one before the orders of tick + 1
//
// and as often as the game reads its network:
//
//     flight.Receive(from, bytes, n);     a packet that peer number `from` sent
//     while ((n = flight.Send(milliseconds, out to, packet)) > 0) ...   what is to be sent to peer number `to`
//
// After the constructor, no call allocates memory that grows with the ticks but Text, Snapshot and Files, no call waits, and
// none but Files touches a file. A call in the wrong order is an InvalidOperationException that names it. Packets of any
// content throw nothing. Calls are not safe from several threads at a time.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Text;

namespace Desynctool
{
    public enum FlightStatus
    {
        /// <summary>It records, and compares hashes.</summary>
        Watching,
        /// <summary>It records no more: the peers look for what differs.</summary>
        Asking,
        /// <summary>There is a report.</summary>
        Found,
        /// <summary>The others did not answer.</summary>
        Silent
    }

    /// <summary>State points From to To are kept, and the ticks need Bytes of Of bytes. Twice the ticks need about More bytes of
    /// budget more.</summary>
    public struct FlightKept
    {
        public ulong From, To;
        public long Bytes, Of, More;
    }

    public sealed class FlightOptions
    {
        /// <summary>Bytes in all. Twice the state must leave an eighth for what changes.</summary>
        public int Budget = 8 << 20;
        /// <summary>Only tables that Touch names since the last call are compared.</summary>
        public bool Marked;
        /// <summary>States are predicted until Confirm.</summary>
        public bool Rollback;
        /// <summary>Bytes of differing values in a report, at most.</summary>
        public int Values = 65536;
        /// <summary>A peer that joins later: History of the peer that sent it the state; else 0.</summary>
        public ulong History;
        /// <summary>How many rows a table can have, by its label. Without it twice as many as at the start, at least 64.</summary>
        public readonly Dictionary<string, int> Rows = new Dictionary<string, int>();
        /// <summary>Strings and bytes of which more than 52 bytes are kept, by "Label Component.field": so many bytes, at most
        /// 4096. In C the column has an array of that size.</summary>
        public readonly Dictionary<string, int> Sizes = new Dictionary<string, int>();
    }

    public sealed class FlightRecorder
    {
        public const int PacketSize = 1000, MaxPeers = 64;

        // What it keeps. The state is kept twice: `live` is the state at the last point, `past` is one that was rebuilt. A
        // row stays in its slot while it exists. The ring has what cells contained before they changed: copying that back,
        // the latest first, leads to earlier states.
        const int TextKept = 52, ValueMost = 200, MaxNames = 256, NameMost = 63, Head = 20, Body = PacketSize - Head - 4, Parts = 31, Groups = 4;
        const int QueueMost = 8, WorkMost = 1024, ListedMost = 32, Chunk = 960, Chunks = 128, MostSent = 1 << 19, MostSpent = 64, Rounds = 12;
        const ulong Wait = 3000; // ms after which a peer is gone that sends nothing
        const int EndOfTick = 0xffff, IdentitySize = 17; // alive, key, key2
        const int Beat = 1, Alert = 2, Question = 3, Answer = 4, ReportKind = 5, Got = 6;
        const int AskForStatus = 1, AskForHistory = 2, AskForSteps = 3, AskForTables = 4, AskForColumns = 5, AskForBuckets = 6, AskForRows = 7, AskForNaming = 8;
        const int Ok = 0, FellOut = 1, NotYet = 2, None = 3; // how a part is answered
        const int Lost = 1, OtherState = 2, Cut = 4; // flags of a report
        const int CellsItem = 1, StepItem = 2, OrdersItem = 3; // kinds of items; each ends with kind and length, to be read backward
        const int Idle = 0, AskStatus = 1, AskHistory = 2, AskSteps = 3, AskTables = 4, AskColumns = 5, AskRows = 6, Share = 7;

        sealed class FTable
        {
            public string Label;
            public byte[] Bytes; // of the label
            public int First, Columns, Slots, Identity; // of its columns, the first being the identity; where identities begin
            public bool Touched, Rng, TwoParts, Stale;  // Stale: what follows is not that of `live`
            public int Count;                           // rows of `live`
            public int[] Order, RowOf, Dirty, Runs;     // slots by ascending keys; row of a slot; slots whose identity changes; of three: row, slot, length
            public int DirtyCount, RunCount;
            public byte[] IsDirty;
            public ulong[] Keys, Keys2;                 // in the order of rows
        }

        sealed class FColumn
        {
            public int Number, Width, At, Present; // in the table, -1 for the identity; of a cell; where values and whether there are values begin
            public int Kept, Shown;                // of a text
            public int Type;
            public uint Scale;
            public bool Text, Gaps = true; // Gaps: there may be rows of `live` without a value
            public string ComponentName = "", FieldName = "";
            public byte[] Component = new byte[0], Field = new byte[0];
            public int Size { get { return Width + 1; } }
        }

        struct Entry { public ulong Point, Root, History, Inputs; public long Begin, End; }
        struct Part { public byte Index, What, Depth; public int Step, Count; public uint Table, Column; public ulong Point, From; }
        sealed class Asked { public int From, Count, Next; public uint Id; public readonly Part[] Parts = new Part[FlightRecorder.Parts]; }
        struct Work { public int Listed, Depth; public ulong From; public long Rows; }
        struct ListedColumn { public int Table, Column; public long Rows, All, Pending; public bool More, First; }
        struct Group { public int Peer; public ulong Root, StepRoot, Inputs, Members, History; }

        sealed class Peer
        {
            public byte[] Name;
            public ulong Point, History, Heard, AskedAt, Since;
            public uint Answered;
            public bool Beat, Gone, Asks, Foreign, Shares;
            public int Late, Group, Chunk;
            public long Sent;
            public readonly byte[] Got = new byte[Chunks / 8];
        }

        // What is read of a packet or report: reading past its end sets Bad, and gives zero.
        struct In
        {
            public byte[] B; public int At, End; public bool Bad;
            public In(byte[] b, int at, int end) { B = b; At = at; End = end; Bad = false; }
            public int Left { get { return End - At; } }

            public ulong Number(int n)
            {
                ulong v = 0;
                if (n > End - At) { Bad = true; At = End; return 0; }
                for (int i = 0; i < n; i++) v |= (ulong)B[At + i] << 8 * i;
                At += n;
                return v;
            }

            public int Skip(int n)
            {
                int at = At;
                if (n > End - At) { Bad = true; At = End; return at; }
                At += n;
                return at;
            }
        }

        // What is written: what does not fit sets Full, and is left out.
        struct Out
        {
            public byte[] B; public int At, End; public bool Full;
            public Out(byte[] b, int at, int end) { B = b; At = at; End = end; Full = false; }

            public void Raw(byte[] from, int at, int n)
            {
                if (n > End - At) { Full = true; return; }
                Buffer.BlockCopy(from, at, B, At, n);
                At += n;
            }

            public void Number(ulong v, int n)
            {
                if (n > End - At) { Full = true; return; }
                for (int i = 0; i < n; i++) B[At + i] = unchecked((byte)(v >> 8 * i));
                At += n;
            }

            public void Text(byte[] text)
            {
                int n = Math.Min(text.Length, 255);
                Number((ulong)n, 1);
                Raw(text, 0, n);
            }
        }

        readonly FlightOptions o;
        readonly Session session;
        readonly int self, peerCount;
        readonly Peer[] peers = new Peer[MaxPeers];
        readonly List<FTable> tables = new List<FTable>();
        readonly List<FColumn> columns = new List<FColumn>();
        readonly ulong schema;
        readonly byte[] live, past, ring, temp;
        readonly ulong[] sums, pastSums, wordsA = new ulong[512], wordsB = new ulong[512];
        long head; // bytes that were ever put into the ring
        readonly Entry[] entries;
        int entryFirst, entryCount;
        readonly string[] names = new string[MaxNames];
        readonly byte[][] nameBytes = new byte[MaxNames][];
        int nameCount;
        bool begun, open, skips, pastKnown;
        long openBegin;
        ulong openInputs, openTick, confirmed, pastPoint, history, joined;
        int pastStep;

        ulong now = 1, started, halt = ulong.MaxValue, alertPoint, alertHistory, alerted, beatPoint, beatHistory;
        int alertTo, beatTo;
        readonly Asked[] queue = new Asked[QueueMost];
        readonly Asked reading = new Asked();
        int queued;

        int stage, rounds, restarts, spent;
        uint counter, id;
        ulong rto = 400;
        bool measured; // rto is no guess
        readonly Part[] parts = new Part[Parts];
        readonly Part[] partsNext = new Part[Parts];
        int partCount;
        readonly byte[] answers;
        readonly int[] answerSize = new int[Groups * Parts], answerState = new int[Groups * Parts];
        ulong oldest, common, top, low, high, stride, point, silent; // oldest, common: first and last point that all keep; top: of two peers
        int step, flags, stepNumber;
        bool full, older; // older: what differs is before the points that were compared one by one
        int groupCount;
        byte[] stepName = new byte[0];
        readonly Group[] groups = new Group[Groups];
        uint tablesDiffer, columnsDiffer;
        readonly ListedColumn[] listed = new ListedColumn[ListedMost];
        int listedCount;
        readonly Work[] work = new Work[WorkMost];
        int workFirst, workCount;
        readonly byte[] found, report, incoming;
        int foundSize, reportSize, incomingSize, incomingFrom, reporter;
        uint reportId, incomingId;
        readonly byte[] incomingGot = new byte[Chunks / 8];
        bool ack;
        readonly In[] inputs = new In[Groups];
        readonly Row[] rows = new Row[Groups];
        readonly ulong[] buckets = new ulong[64];
        readonly long[] stepsAt = new long[MaxNames];

        // ---- hashes

        static ulong Mix(ulong x)
        {
            unchecked
            {
                x ^= x >> 32;
                x *= 0xd6e8feb86659fd93;
                x ^= x >> 29;
                x *= 0x9e3779b97f4a7c15;
                return x ^ x >> 32;
            }
        }

        static uint Little4(byte[] b, int at) { return b[at] | (uint)b[at + 1] << 8 | (uint)b[at + 2] << 16 | (uint)b[at + 3] << 24; }

        static ulong Little(byte[] b, int at, int n)
        {
            if (n == 8) return Little4(b, at) | (ulong)Little4(b, at + 4) << 32; // with mono four times as fast as BitConverter
            if (n == 4) return Little4(b, at);
            ulong v = 0;
            for (int i = 0; i < n; i++) v |= (ulong)b[at + i] << 8 * i;
            return v;
        }

        static void PutLittle(byte[] b, int at, ulong v, int n)
        {
            for (int i = 0; i < n; i++) b[at + i] = unchecked((byte)(v >> 8 * i));
        }

        static ulong Hash(byte[] b, int at, int n)
        {
            unchecked
            {
                ulong h = Mix((ulong)n + 0x5bd1e995);
                for (; n >= 8; at += 8, n -= 8) h = Mix(h ^ Little(b, at, 8)) + 0x2545f4914f6cdd1d;
                return Mix(h ^ Little(b, at, n));
            }
        }

        static ulong RowHash(ulong key, ulong key2) { return unchecked(Mix(Mix(key + 0x632be59bd9b4e019) ^ key2)); }
        static ulong CellHash(ulong row, ulong v) { return unchecked(Mix(row + Mix(v + 0x8ebc6af09c88c6e3))); }

        // What a cell of a state adds to the sum of its column: sums do not depend on the order of rows.
        static ulong Cell(FColumn c, ulong row, byte[] state, int slot)
        {
            if (c.Number < 0) return unchecked(Mix(row + 1));
            return CellHash(row, Little(state, c.At + slot * c.Width, c.Text ? 8 : c.Width));
        }

        static ulong RowOf(FTable t, byte[] state, int slot)
        {
            int at = t.Identity + slot * IdentitySize;
            return RowHash(Little(state, at + 1, 8), Little(state, at + 9, 8));
        }

        static bool Has(FColumn c, byte[] state, int slot) { return c.Number < 0 || state[c.Present + slot] != 0; }

        // ---- the ring

        void Put(byte[] from, int at, int n)
        {
            int to = (int)(head % ring.Length), part = Math.Min(n, ring.Length - to);
            head += n;
            if (n > ring.Length) return; // nothing of this tick will be kept
            Buffer.BlockCopy(from, at, ring, to, part);
            Buffer.BlockCopy(from, at + part, ring, 0, n - part);
        }

        void Put64(ulong v, int n)
        {
            int to = (int)(head % ring.Length);
            head += n;
            if (to + n <= ring.Length) { PutLittle(ring, to, v, n); return; }
            for (int i = 0; i < n; i++)
            {
                ring[to] = unchecked((byte)(v >> 8 * i));
                if (++to == ring.Length) to = 0;
            }
        }

        void Get(long from, byte[] to, int at, int n)
        {
            int begin = (int)(from % ring.Length), part = Math.Min(n, ring.Length - begin);
            Buffer.BlockCopy(ring, begin, to, at, part);
            Buffer.BlockCopy(ring, 0, to, at + part, n - part);
        }

        ulong Get64(long from, int n)
        {
            int at = (int)(from % ring.Length);
            ulong v = 0;
            for (int i = 0; i < n; i++)
            {
                v |= (ulong)ring[at] << 8 * i;
                if (++at == ring.Length) at = 0;
            }
            return v;
        }

        void Item(int kind, long begin)
        {
            Put64((ulong)kind, 1);
            Put64((ulong)(head - begin), 4);
        }

        int EntryAt(int i) { return (entryFirst + i) % entries.Length; }

        // The number of the entry of a point, -1 if it is not kept.
        int EntryOf(ulong at)
        {
            if (entryCount == 0) return -1;
            ulong first = entries[EntryAt(0)].Point;
            return at >= first && at - first < (ulong)entryCount ? EntryAt((int)(at - first)) : -1;
        }

        // ---- what changed

        static int CompareKeys(ulong a, ulong a2, ulong b, ulong b2)
        {
            return a != b ? a.CompareTo(b) : a2.CompareTo(b2);
        }

        // Puts the slots of a table in the order of their keys again, after `live` was taken back: a heap sort.
        void Sort(FTable t)
        {
            t.Count = 0;
            for (int i = 0; i < t.Slots; i++) if (live[t.Identity + i * IdentitySize] != 0) t.Order[t.Count++] = i;
            for (int i = t.Count / 2 - 1; i >= 0; i--) Sift(t, i, t.Count);
            for (int end = t.Count - 1; end > 0; end--)
            {
                int first = t.Order[0];
                t.Order[0] = t.Order[end];
                t.Order[end] = first;
                Sift(t, 0, end);
            }
            for (int i = 0; i < t.Count; i++)
            {
                int at = t.Identity + t.Order[i] * IdentitySize;
                t.Keys[i] = Little(live, at + 1, 8);
                t.Keys2[i] = Little(live, at + 9, 8);
            }
        }

        void Sift(FTable t, int i, int end)
        {
            for (int child; (child = 2 * i + 1) < end; i = child)
            {
                if (child + 1 < end && Less(t, t.Order[child], t.Order[child + 1])) child++;
                if (!Less(t, t.Order[i], t.Order[child])) return;
                int moved = t.Order[i];
                t.Order[i] = t.Order[child];
                t.Order[child] = moved;
            }
        }

        bool Less(FTable t, int a, int b)
        {
            a = t.Identity + a * IdentitySize;
            b = t.Identity + b * IdentitySize;
            return CompareKeys(Little(live, a + 1, 8), Little(live, a + 9, 8), Little(live, b + 1, 8), Little(live, b + 9, 8)) < 0;
        }

        static ulong KeyOf(Table w, int row) { return w == null ? 0 : w.Key(row); }
        static ulong SecondKeyOf(Table w, int row) { return w != null && w.KeyParts == 2 ? w.SecondKey(row) : 0; }

        // Finds the slot of each row; rows that are new get a slot that is free. A null table is the RNG.
        void Match(FTable t, Table w, int count)
        {
            bool same = !t.Stale && count == t.Count && t.DirtyCount == 0;
            for (int i = 0; same && i < count; i++) same = KeyOf(w, i) == t.Keys[i] && SecondKeyOf(w, i) == t.Keys2[i];
            if (same) return;
            for (int i = 0; i < t.Columns && t.Stale; i++) columns[t.First + i].Gaps = true;
            if (t.Stale) Sort(t);
            t.Stale = false;
            t.DirtyCount = 0;
            Array.Clear(t.IsDirty, 0, t.Slots);
            for (int i = 0; i < t.Slots; i++) t.RowOf[i] = -1;
            int old = 0, fresh = 0; // fresh: rows without a slot, kept at the end of Runs for now
            int[] freshRows = t.Runs;
            for (int row = 0; row < count; row++)
            {
                ulong key = KeyOf(w, row), key2 = SecondKeyOf(w, row);
                int order = 1;
                while (old < t.Count && (order = CompareKeys(t.Keys[old], t.Keys2[old], key, key2)) < 0) MarkDirty(t, t.Order[old++]);
                if (old < t.Count && order == 0) t.RowOf[t.Order[old++]] = row;
                else freshRows[fresh++] = row;
            }
            while (old < t.Count) MarkDirty(t, t.Order[old++]);
            for (int i = 0, slot = 0, pass = 0; i < fresh; i++)
            {
                while (t.RowOf[slot] >= 0 || pass == 0 && t.IsDirty[slot] != 0)
                    if (++slot == t.Slots) { slot = 0; pass++; } // a slot that just got free is taken last
                MarkDirty(t, slot);
                t.RowOf[slot] = freshRows[i];
            }
            t.Count = count;
            for (int slot = 0; slot < t.Slots; slot++) if (t.RowOf[slot] >= 0) t.Order[t.RowOf[slot]] = slot;
            t.RunCount = 0;
            for (int row = 0; row < count; row++)
            {
                t.Keys[row] = KeyOf(w, row);
                t.Keys2[row] = SecondKeyOf(w, row);
                int slot = t.Order[row], last = 3 * (t.RunCount - 1);
                if (t.IsDirty[slot] != 0) continue;
                if (t.RunCount > 0 && t.Runs[last] + t.Runs[last + 2] == row && t.Runs[last + 1] + t.Runs[last + 2] == slot) t.Runs[last + 2]++;
                else { t.Runs[3 * t.RunCount] = row; t.Runs[3 * t.RunCount + 1] = slot; t.Runs[3 * t.RunCount + 2] = 1; t.RunCount++; }
            }
        }

        static void MarkDirty(FTable t, int slot)
        {
            if (t.IsDirty[slot] != 0) return;
            t.IsDirty[slot] = 1;
            t.Dirty[t.DirtyCount++] = slot;
        }

        // Puts the cell of a row of the game's table, or of the RNG, into `temp`, zero without a value; at its end whether it has one.
        void ReadCell(FColumn c, Column from, byte[] rng, int row)
        {
            Array.Clear(temp, 0, c.Size);
            if (from != null && !from.Has(row)) return;
            temp[c.Width] = 1;
            if (!c.Text) { Buffer.BlockCopy(from.data.Array, row * c.Width, temp, 0, c.Width); return; }
            byte[] b = rng;
            int begin = 0, n = rng == null ? 0 : rng.Length;
            if (from != null)
            {
                b = from.data.Array;
                begin = row == 0 ? 0 : from.ends[row - 1];
                n = from.ends[row] - begin;
            }
            PutLittle(temp, 0, Hash(b, begin, n), 8);
            PutLittle(temp, 8, (ulong)n, 4);
            Buffer.BlockCopy(b, begin, temp, 12, Math.Min(n, c.Kept));
        }

        bool SameText(FColumn c, Column from, byte[] rng, int row, int slot)
        {
            bool has = from == null || from.Has(row);
            if (has != (live[c.Present + slot] != 0)) return false;
            if (!has) return true;
            byte[] b = rng;
            int begin = 0, n = rng == null ? 0 : rng.Length, at = c.At + slot * c.Width;
            if (from != null)
            {
                b = from.data.Array;
                begin = row == 0 ? 0 : from.ends[row - 1];
                n = from.ends[row] - begin;
            }
            if ((ulong)n != Little(live, at + 8, 4)) return false;
            if (n > c.Kept) return Hash(b, begin, n) == Little(live, at, 8);
            return Bytes.Equal(b, begin, live, at + 12, n);
        }

        // Notes that the cell of a slot has the value in `temp` now.
        void Changed(FColumn c, int slot)
        {
            int at = c.At + slot * c.Width;
            Put64((ulong)slot, 4);
            Put(live, at, c.Width);
            Put64(live[c.Present + slot], 1);
            Buffer.BlockCopy(temp, 0, live, at, c.Width);
            live[c.Present + slot] = temp[c.Width];
        }

        // A cell whose row stays.
        void ChangedCell(FTable t, FColumn c, int number, Column from, byte[] rng, int row, int slot)
        {
            ulong hash = RowOf(t, live, slot);
            ReadCell(c, from, rng, row);
            unchecked
            {
                if (live[c.Present + slot] != 0) sums[number] -= Cell(c, hash, live, slot);
                Changed(c, slot);
                if (live[c.Present + slot] != 0) sums[number] += Cell(c, hash, live, slot);
            }
        }

        // The same for a column of numbers.
        void ChangedNumber(FTable t, FColumn c, int number, Column from, int row, int slot)
        {
            int at = c.At + slot * c.Width, to = (int)(head % ring.Length), n = 4 + c.Width + 1;
            byte has = from.present.Array[row], had = live[c.Present + slot];
            ulong now = has == 0 ? 0 : Little(from.data.Array, row * c.Width, c.Width), was = Little(live, at, c.Width);
            ulong hash = RowHash(t.Keys[row], t.Keys2[row]);
            if (to + n <= ring.Length)
            {
                head += n;
                PutLittle(ring, to, (uint)slot, 4);
                PutLittle(ring, to + 4, was, c.Width);
                ring[to + n - 1] = had;
            }
            else { Put64((uint)slot, 4); Put64(was, c.Width); Put64(had, 1); }
            PutLittle(live, at, now, c.Width);
            live[c.Present + slot] = has;
            unchecked
            {
                if (had != 0) sums[number] -= CellHash(hash, was);
                if (has != 0) sums[number] += CellHash(hash, now);
            }
        }

        // Compares values of fixed width, 32 bytes at a time, of rows that lie one after the other in slots that do.
        int CompareRun(FTable t, FColumn c, int number, Column from, byte[] data, int width, int start, int row, int slot, int length)
        {
            int changed = 0, bytes = length * width, each = 8 / width;
            ulong mask = width == 8 ? ulong.MaxValue : (1UL << 8 * width) - 1;
            ulong[] a = wordsA, b = wordsB;
            for (int done = 0; done < bytes; done += 4096)
            {
                int n = Math.Min(4096, bytes - done), words = (n + 31) / 32 * 4;
                for (int i = n / 32 * 4; i < words; i++) a[i] = b[i] = 0;
                Buffer.BlockCopy(data, row * width + done, a, 0, n);
                Buffer.BlockCopy(live, start + slot * width + done, b, 0, n);
                for (int i = 0; i < words; i += 4)
                {
                    if ((a[i] ^ b[i] | a[i + 1] ^ b[i + 1] | a[i + 2] ^ b[i + 2] | a[i + 3] ^ b[i + 3]) == 0) continue;
                    for (int k = 4 * each * (i / 4), end = k + 4 * each; k < end; k++)
                    {
                        int shift = 8 * width * (BitConverter.IsLittleEndian ? k % each : each - 1 - k % each);
                        if (((a[k / each] ^ b[k / each]) >> shift & mask) == 0) continue;
                        ChangedNumber(t, c, number, from, row + done / width + k, slot + done / width + k);
                        changed++;
                    }
                }
            }
            return changed;
        }

        void CompareColumn(FTable t, int number, Column from, byte[] rng)
        {
            FColumn c = columns[number];
            ulong before = sums[number];
            long begin = head;
            int count = 0;
            for (int i = 0; i < t.DirtyCount; i++)
            {
                int slot = t.Dirty[i], row = t.RowOf[slot], at = c.At + slot * c.Width;
                bool old = live[t.Identity + slot * IdentitySize] != 0;
                unchecked { if (old && live[c.Present + slot] != 0) sums[number] -= Cell(c, RowOf(t, live, slot), live, slot); }
                if (row < 0) continue;
                ReadCell(c, from, rng, row);
                if (temp[c.Width] != live[c.Present + slot] || !Bytes.Equal(temp, 0, live, at, c.Width)) { Changed(c, slot); count++; }
                unchecked { if (live[c.Present + slot] != 0) sums[number] += Cell(c, RowHash(t.Keys[row], t.Keys2[row]), live, slot); }
            }
            for (int i = 0; i < t.RunCount; i++)
            {
                int row = t.Runs[3 * i], slot = t.Runs[3 * i + 1], length = t.Runs[3 * i + 2];
                if (!c.Text)
                {
                    count += CompareRun(t, c, number, from, from.data.Array, c.Width, c.At, row, slot, length);
                    if (c.Gaps || from.gaps) count += CompareRun(t, c, number, from, from.present.Array, 1, c.Present, row, slot, length);
                    continue;
                }
                for (int k = 0; k < length; k++)
                {
                    if (SameText(c, from, rng, row + k, slot + k)) continue;
                    ChangedCell(t, c, number, from, rng, row + k, slot + k);
                    count++;
                }
            }
            if (from != null) c.Gaps = from.gaps;
            if (count != 0 || sums[number] != before) EndCells(before, number, count, begin);
        }

        void EndCells(ulong before, int number, int count, long begin)
        {
            Put64(before, 8);
            Put64((ulong)number, 4);
            Put64((ulong)count, 4);
            Item(CellsItem, begin);
        }

        // Notes what changed since the last call.
        void Capture(string call, World world)
        {
            pastKnown = false;
            int at = 0;
            for (int k = 0; k < tables.Count; k++)
            {
                FTable t = tables[k];
                Table w = null;
                if (!t.Rng)
                {
                    while (at < world.Tables.Count && world.Tables[at].Class != TableClass.Archetype) at++;
                    w = at < world.Tables.Count ? world.Tables[at++] : null;
                    if (w == null || w.Columns.Count != t.Columns - 1 || !ReferenceEquals(w.Label, t.Label) && w.Label != t.Label)
                        throw new InvalidOperationException(call + ": the state has other tables or columns than when the recorder was made");
                    if (w.Rows > t.Slots) throw new InvalidOperationException(call + ": " + t.Label + " has more than " + t.Slots + " rows: FlightOptions.Rows");
                }
                else if (world.Rng == null) throw new InvalidOperationException(call + ": the state has no RNG");
                if (o.Marked && begun && !t.Touched) continue;
                t.Touched = false;
                Match(t, w, w == null ? 1 : w.Rows);
                for (int i = 1; i < t.Columns; i++)
                {
                    Column from = w == null ? null : w.Columns[i - 1];
                    if (from != null) from.Fill(w.Rows);
                    CompareColumn(t, t.First + i, from, w == null ? world.Rng : null);
                }
                if (t.DirtyCount == 0) continue;
                long begin = head;
                ulong before = sums[t.First];
                for (int i = 0; i < t.DirtyCount; i++)
                {
                    int slot = t.Dirty[i], cell = t.Identity + slot * IdentitySize, row = t.RowOf[slot];
                    unchecked { if (live[cell] != 0) sums[t.First] -= Mix(RowOf(t, live, slot) + 1); }
                    Put64((ulong)slot, 4);
                    Put(live, cell, IdentitySize);
                    Array.Clear(live, cell, IdentitySize);
                    if (row < 0) continue;
                    live[cell] = 1;
                    PutLittle(live, cell + 1, t.Keys[row], 8);
                    PutLittle(live, cell + 9, t.Keys2[row], 8);
                    unchecked { sums[t.First] += Mix(RowOf(t, live, slot) + 1); }
                }
                EndCells(before, t.First, t.DirtyCount, begin);
            }
        }

        ulong Leaf(ulong[] of, int table)
        {
            FTable t = tables[table];
            ulong h = 0;
            for (int i = 0; i < t.Columns; i++) h = unchecked(Mix(h + of[t.First + i]) + 1);
            return h;
        }

        ulong Root(ulong[] of)
        {
            ulong h = schema;
            for (int i = 0; i < tables.Count; i++) h = unchecked(Mix(h + Leaf(of, i)) + 1);
            return h;
        }

        // Takes an item back that ends at `end`, in a state. Returns where it begins.
        long Back(long end, byte[] state, ulong[] of)
        {
            long begin = end - 4 - (long)Get64(end - 4, 4);
            if (Get64(end - 5, 1) != CellsItem) return begin;
            int number = (int)Get64(end - 13, 4), count = (int)Get64(end - 9, 4);
            FColumn c = columns[number];
            of[number] = Get64(end - 21, 8);
            int size = 4 + (c.Number < 0 ? IdentitySize : c.Size);
            for (long at = begin + (long)count * size; at > begin;)
            {
                at -= size;
                int slot = (int)Get64(at, 4);
                if (c.Number < 0) { Get(at + 4, state, c.At + slot * IdentitySize, IdentitySize); continue; }
                Get(at + 4, state, c.At + slot * c.Width, c.Width);
                state[c.Present + slot] = (byte)Get64(at + 4 + c.Width, 1);
            }
            return begin;
        }

        // Rebuilds a state into `past`: at a point, or after a step of the tick before it. Returns false if it is not kept.
        bool Rebuild(ulong of, int after)
        {
            int e = EntryOf(of), steps = 0;
            if (e < 0) return false;
            if (pastKnown && pastPoint == of && pastStep == after) return true;
            long at = head, end = entries[e].End, begin = entries[e].Begin;
            pastKnown = false;
            if (after != EndOfTick)
            {
                if (head - begin > ring.Length) return false;
                for (long back = end; back > begin; back -= 4 + (long)Get64(back - 4, 4))
                    if (Get64(back - 5, 1) == StepItem) steps++;
                if (after >= steps) return false;
            }
            Buffer.BlockCopy(live, 0, past, 0, live.Length);
            Array.Copy(sums, pastSums, sums.Length);
            while (at > end) at = Back(at, past, pastSums);
            while (after != EndOfTick && at > begin)
            {
                if (Get64(at - 5, 1) == StepItem && --steps == after) break;
                at = Back(at, past, pastSums);
            }
            pastKnown = true;
            pastPoint = of;
            pastStep = after;
            return true;
        }

        // ---- recording

        // Forgets ticks that no longer fit.
        void Trim()
        {
            while (entryCount > 0 && head - entries[EntryAt(0)].End > ring.Length) { entryFirst = EntryAt(1); entryCount--; }
        }

        /// <summary>The session names the seed, the build, the kinds of orders, and the peers, the same list on all of them, with this
        /// one as its Peer. The world is the game's description of its state: later ones have the same tables and columns, and
        /// no table more rows than the options allow.</summary>
        public FlightRecorder(Session session, World world, FlightOptions options = null)
        {
            this.session = session;
            o = options ?? new FlightOptions();
            peerCount = session.Peers.Count;
            self = session.Peers.IndexOf(session.Peer);
            joined = o.History;
            if (o.Budget < 1 << 20) throw new ArgumentException("the budget is smaller than 1 MiB");
            if (peerCount == 0 || peerCount > MaxPeers) throw new ArgumentException("there are no peers, or more than 64");
            if (self < 0) throw new ArgumentException("this peer is not among the peers");
            for (int i = 0; i < MaxPeers; i++) peers[i] = new Peer { Name = i < peerCount ? Utf8.Name(session.Peers[i], "peer") : new byte[0] };
            for (int i = 0; i < QueueMost; i++) queue[i] = new Asked();
            long left = o.Budget - (112 << 10), size = 0, extra = 0;
            if (world.Rng != null && world.Rng.Length > 0)
            {
                var t = new FTable { Label = "", Bytes = new byte[0], Rng = true, Slots = 1, Columns = 2 };
                tables.Add(t);
                columns.Add(new FColumn { Number = -1, Width = IdentitySize });
                columns.Add(new FColumn { Number = 0, Type = (int)ColumnType.Bytes, Text = true, ComponentName = "RNG", FieldName = "state",
                    Kept = world.Rng.Length, Shown = ValueMost, Width = 12 + world.Rng.Length });
            }
            foreach (Table w in world.Tables)
            {
                if (w.Class != TableClass.Archetype) continue;
                int slots;
                if (!o.Rows.TryGetValue(w.Label, out slots)) slots = Math.Max(64, 2 * w.Rows);
                if (slots < w.Rows) throw new ArgumentException(w.Label + " has more than " + slots + " rows");
                tables.Add(new FTable { Label = w.Label, Bytes = Utf8.Name(w.Label, "label"), Slots = slots, First = columns.Count,
                    Columns = w.Columns.Count + 1, TwoParts = w.KeyParts == 2 });
                columns.Add(new FColumn { Number = -1, Width = IdentitySize });
                for (int i = 0; i < w.Columns.Count; i++)
                {
                    Column c = w.Columns[i];
                    int kept;
                    bool sized = o.Sizes.TryGetValue(w.Label + " " + c.Component + "." + c.Field, out kept);
                    if (sized && (kept < 1 || kept > 4096)) throw new ArgumentException("FlightOptions.Sizes: 1 to 4096 bytes");
                    bool text = c.Type == ColumnType.String || c.Type == ColumnType.Bytes;
                    if (!sized) kept = TextKept;
                    columns.Add(new FColumn { Number = i, Type = (int)c.Type, Scale = c.Scale, Text = text, ComponentName = c.Component, FieldName = c.Field,
                        Kept = kept, Shown = sized ? ValueMost : TextKept, Width = text ? 12 + kept : c.width });
                }
            }
            int largest = 64;
            foreach (FTable t in tables)
            {
                schema = unchecked(Mix(schema + 1 ^ Hash(t.Bytes, 0, t.Bytes.Length)));
                t.Identity = (int)size;
                for (int i = 0; i < t.Columns; i++)
                {
                    FColumn c = columns[t.First + i];
                    largest = Math.Max(largest, c.Size);
                    c.At = (int)size;
                    size += (long)c.Width * t.Slots;
                    if (i > 0) { c.Present = (int)size; size += t.Slots; }
                    if (size > left) throw new ArgumentException(TooSmall);
                    if (i == 0) continue;
                    c.Component = Utf8.Name(c.ComponentName, "component");
                    c.Field = Utf8.Name(c.FieldName, "field");
                    schema = Mix(schema ^ Hash(c.Component, 0, c.Component.Length));
                    schema = Mix(schema ^ Hash(c.Field, 0, c.Field.Length));
                    schema = unchecked(Mix(schema + (ulong)c.Type + ((ulong)c.Scale << 8)));
                }
                extra += 41L * t.Slots;
            }
            int foundMost = Math.Min(o.Values > 0 ? o.Values : 65536, Chunk * Chunks - 32768);
            if (peerCount > 2) foundMost = Math.Min(foundMost, 50000 / (peerCount - 1) - 400);
            int entryMost = o.Budget / 1024;
            left -= 2 * size + extra + 256L * columns.Count + 48L * entryMost + Groups * Parts * Body + largest + foundMost + 2 * Chunk * Chunks;
            if (left < o.Budget / 8) throw new ArgumentException(TooSmall);
            foreach (FTable t in tables)
            {
                t.Order = new int[t.Slots];
                t.RowOf = new int[t.Slots];
                t.Dirty = new int[t.Slots];
                t.Runs = new int[3 * t.Slots];
                t.IsDirty = new byte[t.Slots];
                t.Keys = new ulong[t.Slots];
                t.Keys2 = new ulong[t.Slots];
            }
            live = new byte[size];
            past = new byte[size];
            sums = new ulong[columns.Count];
            pastSums = new ulong[columns.Count];
            entries = new Entry[entryMost];
            answers = new byte[Groups * Parts * Body];
            temp = new byte[largest];
            found = new byte[foundMost];
            report = new byte[Chunk * Chunks];
            incoming = new byte[Chunk * Chunks];
            ring = new byte[left];
        }

        const string TooSmall = "the budget is too small: it has to hold the state twice and, in an eighth of it, what changes";

        // Whether ticks are still recorded: a recorder that looks for a difference keeps what it has.
        bool Records(ulong at) { return Status == FlightStatus.Watching || at <= halt; }

        public void Tick(ulong tick, IReadOnlyList<Order> orders)
        {
            const string call = "FlightRecorder.Tick: ";
            long begin = head;
            ulong h = Mix(tick);
            int n = orders == null ? 0 : orders.Count;
            if (!begun) throw new InvalidOperationException(call + "there is no state before the tick: State comes first");
            if (open) throw new InvalidOperationException(call + "the tick before has no state yet: State is missing");
            skips = !Records(tick + 1);
            if (skips) return;
            if (entryCount > 0 && tick != entries[EntryAt(entryCount - 1)].Point) throw new InvalidOperationException(call + "another tick is next");
            for (int i = 0; i < n; i++)
            {
                session.KindOf(orders[i].Kind); // or an exception
                if (orders[i].Payload != null && orders[i].Payload.Length > Session.MaxPayload)
                    throw new ArgumentException(call + "the payload of an order has more than 4 MiB");
            }
            for (int i = 0; i < n; i++)
            {
                Order order = orders[i];
                int kind = session.KindOf(order.Kind), size = order.Payload == null ? 0 : order.Payload.Length;
                Put64(order.SubTick, 4);
                Put64(order.Player, 4);
                Put64(order.Sequence, 4);
                Put64((ulong)kind, 4);
                Put64((ulong)size, 4);
                if (size > 0) Put(order.Payload, 0, size);
                if (session.Kinds[kind].Local) continue;
                unchecked
                {
                    h = Mix(h + order.SubTick) + 1;
                    h = Mix(h + order.Player) + 1;
                    h = Mix(h + order.Sequence) + 1;
                    h = Mix(h + (ulong)kind) + 1;
                    h = Mix(h ^ Hash(size == 0 ? temp : order.Payload, 0, size));
                }
            }
            if (n > 0) Item(OrdersItem, begin);
            open = true;
            openTick = tick;
            openBegin = begin;
            openInputs = h;
            Trim();
        }

        public void System(string name, World world)
        {
            const string call = "FlightRecorder.System";
            int i = 0;
            if (skips) return;
            if (!open) throw new InvalidOperationException(call + ": no tick is begun: Tick comes first");
            while (i < nameCount && names[i] != name) i++;
            if (i == MaxNames) throw new InvalidOperationException(call + ": there are more than 256 systems");
            if (i == nameCount)
            {
                byte[] b = Utf8.Strict.GetBytes(name ?? "");
                if (b.Length == 0 || b.Length > NameMost) throw new ArgumentException(call + ": the name is empty or longer than 63 bytes");
                names[i] = name;
                nameBytes[nameCount++] = b;
            }
            Capture(call, world);
            long begin = head;
            Put64((ulong)i, 2);
            Put64(Root(sums), 8);
            Item(StepItem, begin);
            Trim();
        }

        public void State(ulong at, World world)
        {
            const string call = "FlightRecorder.State";
            if (begun && skips) return;
            if (begun && (!open || at != openTick + 1)) throw new InvalidOperationException(call + ": the tick before this state is not begun: Tick comes first");
            if (!begun) openBegin = head;
            Capture(call, world);
            var e = new Entry { Point = at, Begin = begun ? openBegin : head, End = head, Inputs = openInputs, Root = Root(sums) };
            e.History = unchecked(Mix((begun ? history : Mix(at)) + e.Root) + 1);
            if (!begun) confirmed = at;
            if (!begun && joined != 0) e.History = joined;
            joined = 0;
            history = e.History;
            begun = true;
            open = false;
            pastKnown = false;
            Trim();
            if (head - e.End <= ring.Length)
            {
                if (entryCount == entries.Length) { entryFirst = EntryAt(1); entryCount--; }
                entries[EntryAt(entryCount++)] = e;
            }
            if (!o.Rollback) confirmed = at;
            Check();
        }

        /// <summary>With Marked: a table, or the RNG with the label "", may have changed since it was compared last. A change in a
        /// table that is not marked is found late, at the next mark of that table.</summary>
        public void Touch(string label)
        {
            for (int i = 0; i < tables.Count; i++)
                if (tables[i].Label == label) tables[i].Touched = true;
        }

        /// <summary>A game that rolls back calls this before it goes back to a state point: what was kept after it is taken back. The
        /// next world that it gives must be that of the point, or of a tick after it.</summary>
        public void Rollback(ulong to)
        {
            const string call = "FlightRecorder.Rollback: ";
            if (!o.Rollback) throw new InvalidOperationException(call + "the recorder was made without Rollback");
            if (skips && entryCount > 0 && to > entries[EntryAt(entryCount - 1)].Point) return;
            if (to < confirmed) throw new InvalidOperationException(call + "the state is confirmed");
            int e = EntryOf(to);
            if (e < 0) throw new InvalidOperationException(call + "the state is no longer kept");
            if (head - entries[e].End > ring.Length) throw new InvalidOperationException(call + "the tick is larger than what is kept");
            while (head > entries[e].End) head = Back(head, live, sums);
            entryCount = (int)(to - entries[EntryAt(0)].Point) + 1;
            open = skips = pastKnown = false;
            history = entries[e].History;
            foreach (FTable t in tables) t.Stale = true;
        }

        /// <summary>With Rollback: states up to a point are final, all their inputs are known. Only these are compared with other
        /// peers.</summary>
        public void Confirm(ulong at)
        {
            const string call = "FlightRecorder.Confirm: ";
            if (!o.Rollback) throw new InvalidOperationException(call + "the recorder was made without Rollback");
            if (at < confirmed) throw new InvalidOperationException(call + "confirmed points ascend");
            if (!Records(at)) return;
            if (entryCount == 0 || at > entries[EntryAt(entryCount - 1)].Point) throw new InvalidOperationException(call + "there is no state of this point yet");
            confirmed = at;
            Check();
        }

        public FlightKept Holds()
        {
            var k = new FlightKept { Of = ring.Length };
            if (entryCount == 0) return k;
            k.From = entries[EntryAt(0)].Point;
            k.To = entries[EntryAt(entryCount - 1)].Point;
            k.Bytes = head - entries[EntryAt(0)].End;
            k.More = k.Bytes + entryCount * 48L;
            return k;
        }

        /// <summary>The 64-bit hash of the state at a point, 0 if it is not kept. Games that compare hashes by themselves may use
        /// it.</summary>
        public ulong HashAt(ulong at) { int e = EntryOf(at); return e < 0 ? 0 : entries[e].Root; }

        /// <summary>The hash of all states up to a point, 0 if it is not kept.</summary>
        public ulong HistoryAt(ulong at) { int e = EntryOf(at); return e < 0 ? 0 : entries[e].History; }

        public FlightStatus Status { get; private set; }

        // Another peer has, or claims, another state: what is kept now is kept.
        void Noticed(ulong at, ulong of)
        {
            ulong last = entryCount > 0 ? entries[EntryAt(entryCount - 1)].Point : 0;
            if (Status != FlightStatus.Watching) return;
            Status = FlightStatus.Asking;
            halt = at > last && at - last > 64 ? last + 64 : at;
            started = now;
            alertPoint = at;
            alertHistory = of;
            alertTo = 0;
            alerted = 0;
            for (int i = 0; i < MaxPeers; i++) peers[i].Gone = false;
        }

        // Compares what peers have sent with the states that are known now, and sends own ones.
        void Check()
        {
            ulong every = peerCount > 16 ? (ulong)(peerCount * 3 / 2) : 16;
            if (Status != FlightStatus.Watching) return;
            if (confirmed / every != beatPoint / every || beatHistory == 0)
            {
                int e = EntryOf(confirmed / every * every);
                if (e >= 0) { beatPoint = entries[e].Point; beatHistory = entries[e].History; beatTo = 0; }
            }
            for (int i = 0; i < peerCount; i++)
            {
                Peer p = peers[i];
                if (!p.Beat || p.Point > confirmed) continue;
                p.Beat = false;
                int e = EntryOf(p.Point);
                if (e >= 0 && entries[e].History != p.History) Noticed(p.Point, entries[e].History);
            }
        }

        // ---- packets

        Out Packet(byte[] packet, int kind, uint number)
        {
            var w = new Out(packet, 0, PacketSize - 4);
            w.Number(0x014644, 3); // DF, 1
            w.Number((ulong)kind, 1);
            w.Number(session.Seed, 8);
            w.Number(schema & 0xffffffff, 4);
            w.Number(number, 4);
            return w;
        }

        static int Sealed(Out w, byte[] packet)
        {
            PutLittle(packet, w.At, Crc32C.Of(packet, 0, w.At), 4);
            return w.At + 4;
        }

        static void WritePart(ref Out w, Part p)
        {
            w.Number(p.Index, 1);
            w.Number(p.What, 1);
            w.Number(p.Depth, 1);
            w.Number((ulong)p.Step, 2);
            w.Number((ulong)p.Count, 2);
            w.Number(p.Table, 4);
            w.Number(p.Column, 4);
            w.Number(p.Point, 8);
            w.Number(p.From, 8);
        }

        // ---- answers: they depend on the question and on what is kept, on nothing else

        // Writes the value of a cell in `past`: 0 no value, 1 a value, 2 one of which only the beginning is there.
        void WriteValue(ref Out w, FColumn c, int slot)
        {
            if (!Has(c, past, slot)) { w.Number(0, 1); return; }
            int at = c.At + slot * c.Width, n = c.Number < 0 ? 0 : c.Width;
            long whole = n;
            if (c.Text) { whole = (long)Little(past, at + 8, 4); n = (int)Math.Min(whole, Math.Min(c.Kept, c.Shown)); }
            w.Number(n == whole ? 1u : 2u, 1);
            w.Number((ulong)n, 1);
            w.Raw(past, c.Text ? at + 12 : at, n);
            if (n < whole) { w.Number((ulong)whole, 4); w.Number(Little(past, at, 8), 8); }
        }

        static bool Within(ulong row, ulong of, int depth) { return depth == 0 || row >> 64 - 6 * depth == of >> 64 - 6 * depth; }

        // The rows of a range, by ascending hash of their keys, beginning at p.From.
        void AnswerRows(Part p, FTable t, ref Out w)
        {
            FColumn c = columns[t.First + (int)p.Column];
            int more = w.At;
            ulong from = p.From;
            w.Number(0, 1);
            for (;;)
            {
                ulong best = ulong.MaxValue;
                int slot = -1;
                for (int i = 0; i < t.Slots; i++)
                {
                    if (past[t.Identity + i * IdentitySize] == 0) continue;
                    ulong row = RowOf(t, past, i);
                    if (row >= from && Within(row, p.From, p.Depth) && (slot < 0 || row < best)) { best = row; slot = i; }
                }
                if (slot < 0) return;
                Out one = w;
                one.Raw(past, t.Identity + slot * IdentitySize + 1, 16);
                WriteValue(ref one, c, slot);
                if (one.Full) { w.B[more] = 1; return; }
                w = one;
                if (best == ulong.MaxValue) return;
                from = best + 1;
            }
        }

        static void Describe(ref Out w, FTable t, FColumn c)
        {
            w.Text(t.Bytes);
            w.Text(c.Component);
            w.Text(c.Field);
            w.Number((ulong)c.Type, 1);
            w.Number(c.Scale, 4);
        }

        int AnswerTables(Part p, ref Out w)
        {
            if (p.Point > confirmed) return NotYet;
            if (!Rebuild(p.Point, p.Step)) return FellOut;
            if (p.What == AskForTables)
            {
                w.Number((ulong)tables.Count, 4);
                for (ulong i = p.From; i < (ulong)tables.Count && w.End - w.At >= 8; i++) w.Number(Leaf(pastSums, (int)i), 8);
                return Ok;
            }
            if (p.Table >= tables.Count) return None;
            FTable t = tables[(int)p.Table];
            if (p.What == AskForColumns)
            {
                uint n = 0;
                for (int i = 0; i < t.Slots; i++) n += past[t.Identity + i * IdentitySize];
                w.Number(n, 4);
                w.Number((ulong)t.Columns, 4);
                for (ulong i = p.From; i < (ulong)t.Columns && w.End - w.At >= 8; i++) w.Number(pastSums[t.First + (int)i], 8);
                return Ok;
            }
            if (p.Column >= t.Columns || p.Depth > 10) return None;
            if (p.What == AskForBuckets && p.Depth < 10)
            {
                FColumn c = columns[t.First + (int)p.Column];
                Array.Clear(buckets, 0, 64);
                for (int i = 0; i < t.Slots; i++)
                {
                    if (past[t.Identity + i * IdentitySize] == 0 || !Has(c, past, i)) continue;
                    ulong row = RowOf(t, past, i);
                    if (Within(row, p.From, p.Depth)) unchecked { buckets[(int)(row >> 58 - 6 * p.Depth & 63)] += Cell(c, row, past, i); }
                }
                for (int i = 0; i < 64; i++) w.Number(buckets[i], 8);
                return Ok;
            }
            if (p.What == AskForNaming)
            {
                Describe(ref w, t, columns[t.First + (int)p.Column]);
                return Ok;
            }
            if (p.What != AskForRows) return None;
            AnswerRows(p, t, ref w);
            return Ok;
        }

        // The steps of the tick that leads to a point, the last one first: where their items end. Returns how many.
        int StepsOf(int e)
        {
            int n = 0;
            if (e < 0 || head - entries[e].Begin > ring.Length) return 0;
            for (long back = entries[e].End; back > entries[e].Begin; back -= 4 + (long)Get64(back - 4, 4))
                if (Get64(back - 5, 1) == StepItem && n < MaxNames) stepsAt[n++] = back;
            return n;
        }

        int AnswerSteps(Part p, ref Out w)
        {
            int e = EntryOf(p.Point);
            if (p.Point > confirmed) return NotYet;
            if (e < 0) return FellOut;
            w.Number(entries[e].Inputs, 8);
            int n = StepsOf(e);
            w.Number((ulong)n, 2);
            for (ulong i = p.From; i < (ulong)n; i++) // from step `from` on
            {
                Out one = w;
                long at = stepsAt[n - 1 - (int)i];
                one.Text(nameBytes[(int)Get64(at - 15, 2) % MaxNames]);
                one.Number(Get64(at - 13, 8), 8);
                if (one.Full) break;
                w = one;
            }
            return Ok;
        }

        // Answers a part of a question. Returns the state, and writes what belongs to it.
        int AnswerPart(Part p, ref Out w)
        {
            ulong at = p.Point;
            switch (p.What)
            {
                case AskForStatus:
                    w.Number(entryCount > 0 ? entries[EntryAt(0)].Point : 0, 8);
                    w.Number(entryCount > 0 ? confirmed : 0, 8);
                    w.Number(reportSize > 0 ? 1u : 0, 1);
                    return entryCount > 0 ? Ok : FellOut;
                case AskForHistory:
                    if (at > confirmed) return NotYet;
                    if (EntryOf(at) < 0) return FellOut;
                    for (int i = 0; i < p.Count && at <= confirmed && w.End - w.At >= 16; i++)
                    {
                        int e = EntryOf(at);
                        if (e < 0) break;
                        w.Number(entries[e].History, 8);
                        if (p.From == 1) w.Number(entries[e].Root, 8);
                        at = unchecked(at + p.From);
                    }
                    return Ok;
                case AskForSteps: return AnswerSteps(p, ref w);
                default: return AnswerTables(p, ref w);
            }
        }

        // ---- asking

        int AnswerOf(int peer, int part) { return stage <= AskHistory ? peer : peers[peer].Group * Parts + part; }

        // Adds a part to the question, and returns its number.
        int Add(int what, int after, ulong from = 0, uint table = 0)
        {
            parts[partCount] = new Part { Index = (byte)partCount, What = (byte)what, Point = point, Step = after, From = from, Table = table };
            return partCount++;
        }

        // Asks all peers, or from the steps on one peer of each group, and answers for this peer itself.
        void Ask()
        {
            counter = counter + 1 & 0xffffff;
            id = (uint)self << 24 | counter;
            rounds++;
            for (int i = 0; i < peerCount; i++)
            {
                Peer p = peers[i];
                p.Asks = stage <= AskHistory && !p.Gone && !p.Foreign;
                for (int g = 0; g < groupCount && stage > AskHistory; g++)
                    if (groups[g].Peer == i) { p.Asks = true; p.Group = g; }
                p.Answered = 0;
                p.AskedAt = 0;
                p.Late = 0;
                p.Since = now;
                if (!p.Asks) continue;
                for (int k = 0; k < partCount; k++) answerState[AnswerOf(i, k)] = -1;
                for (int k = 0; k < partCount && i == self; k++)
                {
                    int a = AnswerOf(i, k);
                    var w = new Out(answers, a * Body, a * Body + Body - 2);
                    answerState[a] = AnswerPart(parts[k], ref w);
                    answerSize[a] = w.At - a * Body;
                    p.Answered |= 1u << k;
                }
            }
        }

        void AskForHistories()
        {
            ulong span = high - low;
            stage = AskHistory;
            partCount = 0;
            stride = span <= 60 ? 1 : span <= 120 ? 2 : (span + 119) / 120;
            int k = Add(AskForHistory, step, stride);
            parts[k].Point = low;
            parts[k].Count = (int)((span + stride - 1) / stride);
            Ask();
        }

        In Answered(int peer, int part)
        {
            int a = AnswerOf(peer, part);
            return new In(answers, a * Body, a * Body + (answerState[a] == Ok ? answerSize[a] : 0));
        }

        // Asks for the next points that some do not have.
        void AskForLatest()
        {
            high = top - low > 60 ? low + 60 : top;
            AskForHistories();
        }

        // The peers' first and last points. The points that some of them do not have yet are compared first, one by one; at all
        // points before these the peers can be compared by halves.
        void AfterStatus()
        {
            ulong most = 0;
            int n = 0;
            oldest = 0;
            top = 0;
            common = ulong.MaxValue;
            for (int i = 0; i < peerCount; i++)
            {
                if (!peers[i].Asks || peers[i].Gone) continue;
                In r = Answered(i, 0);
                ulong first = r.Number(8), last = r.Number(8);
                if (r.Bad || last < first || last == ulong.MaxValue) continue;
                n++;
                if (first > oldest) oldest = first;
                if (last + 1 > most) { top = most; most = last + 1; }
                else if (last + 1 > top) top = last + 1;
                if (last < common) common = last;
            }
            if (n < 2)
            {
                for (int i = 0; i < peerCount; i++) if (peers[i].Foreign) n = 2;
                if (n < 2) { stage = Idle; Status = FlightStatus.Silent; }
                else { flags |= OtherState; MakeReport(); }
                return;
            }
            if (common < oldest) common = oldest;
            if (top <= common) top = common + 1;
            low = common;
            AskForLatest();
        }

        // Makes groups of the peers by their histories at the point, which is number k of the answers.
        void MakeGroups(int k)
        {
            groupCount = 0;
            for (int i = 0; i < peerCount; i++)
            {
                int g = 0;
                if (!peers[i].Asks || peers[i].Gone) continue;
                In r = Answered(i, 0);
                r.Skip(16 * k);
                ulong of = r.Number(8), root = r.Number(8);
                if (r.Bad) continue;
                while (g < groupCount && groups[g].History != of) g++;
                if (g == Groups) continue;
                if (g == groupCount) groups[groupCount++] = new Group { Peer = i, History = of, Root = root };
                groups[g].Members |= 1UL << i;
            }
            silent = peerCount == 64 ? ulong.MaxValue : (1UL << peerCount) - 1;
            for (int g = 0; g < groupCount; g++) silent &= ~groups[g].Members;
        }

        const int LeavesInAnswer = (Body - 6) / 8;

        void AskForLeaves()
        {
            stage = AskTables;
            partCount = 0;
            for (int i = 0; i < tables.Count && partCount + 1 < Parts; i += LeavesInAnswer) // at the end, and after the step
            {
                Add(AskForTables, EndOfTick, (ulong)i);
                if (step != EndOfTick) Add(AskForTables, step, (ulong)i);
            }
            Ask();
        }

        void AskForTheSteps(int from)
        {
            stage = AskSteps;
            partCount = 0;
            stepNumber = from;
            Add(AskForSteps, step, (ulong)from);
            Ask();
        }

        void AfterHistory()
        {
            int each = stride == 1 ? 16 : 8, count = parts[0].Count;
            for (int k = 0; k < count; k++)
            {
                ulong seen = 0;
                bool any = false, differs = false;
                for (int i = 0; i < peerCount; i++)
                {
                    if (!peers[i].Asks || peers[i].Gone) continue;
                    In r = Answered(i, 0);
                    r.Skip(each * k);
                    ulong of = r.Number(8);
                    if (r.Bad) continue;
                    if (any && of != seen) differs = true;
                    any = true;
                    seen = of;
                }
                if (!differs) continue;
                if (k == 0 && low == common && low > oldest && !older) // among the points before
                {
                    older = true;
                    high = low + 1;
                    low = oldest;
                    AskForHistories();
                    return;
                }
                if (stride > 1)
                {
                    high = low + (ulong)k * stride + 1;
                    low = k > 0 ? low + (ulong)(k - 1) * stride + 1 : low;
                    AskForHistories();
                    return;
                }
                if (low + (ulong)k == oldest) flags |= Lost;
                point = low + (ulong)k;
                step = EndOfTick;
                MakeGroups(k);
                if ((flags & Lost) != 0) AskForLeaves();
                else AskForTheSteps(0);
                return;
            }
            if (stride > 1 && low + (ulong)(count - 1) * stride + 1 < high)
            {
                low += (ulong)(count - 1) * stride + 1;
                AskForHistories();
                return;
            }
            if (!older && high < top && rounds < Rounds / 2)
            {
                low = high;
                AskForLatest();
                return;
            }
            MakeGroups(0); // nothing differs: who answered is all that is known
            groupCount = 0;
            MakeReport();
        }

        void AfterSteps()
        {
            int total = int.MaxValue;
            for (int g = 0; g < groupCount; g++)
            {
                inputs[g] = Answered(groups[g].Peer, 0);
                groups[g].Inputs = inputs[g].Number(8);
                total = Math.Min(total, (int)inputs[g].Number(2));
                if (inputs[g].Bad) total = 0;
            }
            for (int k = stepNumber; k < total; k++)
            {
                int name = 0, size = 0;
                bool differs = false, bad = false;
                for (int g = 0; g < groupCount && !bad; g++)
                {
                    int n = (int)inputs[g].Number(1), at = inputs[g].Skip(n);
                    groups[g].StepRoot = inputs[g].Number(8);
                    bad = inputs[g].Bad || n > NameMost;
                    if (bad) break;
                    if (g == 0) { name = at; size = n; }
                    else bad = n != size || !Bytes.Equal(answers, name, answers, at, n);
                    if (g > 0 && groups[g].StepRoot != groups[0].StepRoot) differs = true;
                }
                if (bad && k > stepNumber)
                {
                    AskForTheSteps(k); // the rest of them
                    return;
                }
                if (bad) break;
                if (!differs) continue;
                step = k;
                stepName = new byte[size];
                Buffer.BlockCopy(answers, name, stepName, 0, size);
                break;
            }
            if (step == EndOfTick)
                for (int g = 0; g < groupCount; g++) groups[g].StepRoot = groups[g].Root;
            AskForLeaves();
        }

        void AfterTables()
        {
            int asked = partCount, n = 0, most = step == EndOfTick ? Parts : Parts / 2, atEnd = 0, atStep = 0;
            tablesDiffer = 0;
            for (int part = 0; part < asked; part++)
            {
                Part p = parts[part];
                bool end = p.Step == EndOfTick;
                for (int i = 0; (int)p.From + i < tables.Count && i < LeavesInAnswer; i++)
                {
                    ulong first = 0;
                    bool differs = false;
                    for (int g = 0; g < groupCount; g++)
                    {
                        In r = Answered(groups[g].Peer, part);
                        r.Skip(4 + 8 * i);
                        ulong leaf = r.Number(8);
                        if (r.Bad) flags |= Cut;
                        if (g > 0 && leaf != first) differs = true;
                        if (g == 0) first = leaf;
                    }
                    if (!differs) continue;
                    if (end) tablesDiffer++;
                    if ((end ? atEnd : atStep) == most) { flags |= Cut; continue; }
                    if (end) atEnd++; else atStep++;
                    partsNext[n++] = new Part { Step = p.Step, Table = (uint)((int)p.From + i) };
                }
            }
            if (n == 0) { MakeReport(); return; }
            stage = AskColumns;
            partCount = 0;
            for (int i = 0; i < n; i++) Add(AskForColumns, partsNext[i].Step, 0, partsNext[i].Table);
            Ask();
        }

        void Push(int of, int depth, ulong from, long count)
        {
            if (workCount == WorkMost)
            {
                flags |= Cut;
                listed[of].More = true;
                return;
            }
            work[(workFirst + workCount++) % WorkMost] = new Work { Listed = of, Depth = depth, From = from, Rows = count };
            listed[of].Pending++;
        }

        FColumn ColumnOf(int of) { return columns[tables[listed[of].Table].First + listed[of].Column]; }

        // Asks for the next ranges: a small one for its rows, a large one for the sums of its parts.
        void AskForTheRows()
        {
            if (workCount == 0 || rounds >= Rounds - 1 || full || spent == MostSpent) { MakeReport(); return; }
            stage = AskRows;
            partCount = 0;
            while (workCount > 0 && partCount < Parts && spent < MostSpent)
            {
                Work w = work[workFirst];
                FColumn c = ColumnOf(w.Listed);
                int size = c.Number < 0 ? 0 : Math.Min(c.Width, ValueMost);
                int k = Add(w.Rows * (18 + size) < Body || w.Depth >= 10 ? AskForRows : AskForBuckets, EndOfTick, w.From, (uint)listed[w.Listed].Table);
                parts[k].Column = (uint)listed[w.Listed].Column;
                parts[k].Depth = (byte)w.Depth;
                parts[k].Count = w.Listed; // answers do not depend on it
                workFirst = (workFirst + 1) % WorkMost;
                workCount--;
                spent++;
                listed[w.Listed].Pending--;
            }
            Ask();
        }

        void AfterColumns()
        {
            int asked = partCount;
            columnsDiffer = 0;
            listedCount = workCount = foundSize = 0;
            for (int part = 0; part < asked; part++)
            {
                int number = (int)parts[part].Table;
                FTable t = tables[number];
                for (int i = 0; i < t.Columns; i++)
                {
                    ulong first = 0;
                    long most = 0;
                    int of = 0;
                    bool differs = false, bad = false;
                    for (int g = 0; g < groupCount; g++)
                    {
                        In r = Answered(groups[g].Peer, part);
                        long count = (long)r.Number(4);
                        r.Skip(4 + 8 * i);
                        ulong sum = r.Number(8);
                        if (r.Bad) bad = true;
                        if (count > most) most = count;
                        if (g > 0 && sum != first) differs = true;
                        if (g == 0) first = sum;
                    }
                    if (bad) flags |= Cut;
                    if (bad || !differs) continue;
                    while (of < listedCount && (listed[of].Table != number || listed[of].Column != i)) of++;
                    if (of == listedCount)
                    {
                        columnsDiffer++;
                        if (listedCount == ListedMost) { flags |= Cut; continue; }
                        listed[listedCount++] = new ListedColumn { Table = number, Column = i };
                    }
                    if (parts[part].Step != EndOfTick) listed[of].First = true;
                    else Push(of, 0, 0, most);
                }
            }
            AskForTheRows();
        }

        // A row of an answer, its value with the state before it.
        struct Row { public ulong Hash, Key, Key2; public int Value, Size; public bool Ends; }

        // Reads a value; returns where its bytes begin, with the state before them.
        static int ReadValue(ref In r)
        {
            int at = r.At;
            ulong state = r.Number(1);
            if (state == 1 || state == 2) r.Skip((int)r.Number(1));
            else if (state > 3) r.Bad = true;
            if (state == 2) r.Skip(12);
            return at;
        }

        static Row NextRow(ref In r)
        {
            var row = new Row();
            if (r.At == r.End) { row.Ends = true; return row; }
            row.Key = r.Number(8);
            row.Key2 = r.Number(8);
            row.Hash = RowHash(row.Key, row.Key2);
            row.Value = ReadValue(ref r);
            row.Size = r.At - row.Value;
            row.Ends = r.Bad;
            return row;
        }

        // Whether two values of answers are the same: of a text, peers may keep beginnings of other lengths.
        static bool SameValue(byte[] b, int x, int xSize, int y, int ySize)
        {
            if (xSize == ySize && Bytes.Equal(b, x, b, y, xSize)) return true;
            if (b[x] < 1 || b[x] > 2 || b[y] < 1 || b[y] > 2 || b[x] == b[y]) return false;
            int cut = b[x] == 2 ? x : y, whole = b[x] == 2 ? y : x, n = b[whole + 1], kept = b[cut + 1];
            return Little(b, cut + 2 + kept, 4) == (ulong)n && Little(b, cut + 6 + kept, 8) == Hash(b, whole + 2, n);
        }

        void CompareRows(Part p, int part)
        {
            ulong bound = ulong.MaxValue;
            bool more = false;
            for (int g = 0; g < groupCount; g++) // up to where all of them have answered
            {
                ulong last = 0;
                bool any = false;
                inputs[g] = Answered(groups[g].Peer, part);
                bool cut = inputs[g].Number(1) != 0;
                In r = inputs[g];
                for (Row row = NextRow(ref r); !row.Ends; row = NextRow(ref r))
                {
                    // rows of another range, or twice: nobody answers like that
                    r.Bad |= row.Hash < p.From || !Within(row.Hash, p.From, p.Depth) || any && row.Hash <= last;
                    last = row.Hash;
                    any = true;
                }
                if (r.Bad)
                {
                    flags |= Cut;
                    listed[p.Count].More = true;
                    return;
                }
                if (!cut) continue;
                if (last < bound) bound = last;
                more = true;
            }
            for (int g = 0; g < groupCount; g++) rows[g] = NextRow(ref inputs[g]);
            for (;;)
            {
                int first = -1, with = 0;
                bool differs = false;
                for (int g = 0; g < groupCount; g++)
                    if (!rows[g].Ends && rows[g].Hash <= bound && (first < 0 || rows[g].Hash < rows[first].Hash)) first = g;
                if (first < 0) break;
                Row it = rows[first];
                var w = new Out(found, foundSize, found.Length);
                w.Number((ulong)p.Count, 1);
                w.Number(it.Key, 8);
                w.Number(it.Key2, 8);
                for (int g = 0; g < groupCount; g++)
                {
                    if (rows[g].Ends || rows[g].Key != it.Key || rows[g].Key2 != it.Key2) { w.Number(3, 1); continue; }
                    with++;
                    if (!SameValue(answers, rows[g].Value, rows[g].Size, it.Value, it.Size)) differs = true;
                    w.Raw(answers, rows[g].Value, rows[g].Size);
                    rows[g] = NextRow(ref inputs[g]);
                }
                if (listed[p.Count].Column > 0 ? !differs && with == groupCount : with == groupCount) continue;
                if (w.Full)
                {
                    full = true;
                    flags |= Cut;
                    listed[p.Count].More = true;
                    return;
                }
                listed[p.Count].All++;
                if (listed[p.Count].Column == 0 || with == groupCount) listed[p.Count].Rows++; // that a row is on one side only is the identity's
                foundSize = w.At;
            }
            if (more && bound < ulong.MaxValue && Within(bound + 1, p.From, p.Depth) && bound >= p.From) Push(p.Count, p.Depth, bound + 1, 1);
        }

        void AfterRows()
        {
            for (int part = 0; part < partCount; part++)
            {
                Part p = parts[part];
                if (p.What == AskForRows) { CompareRows(p, part); continue; }
                for (int i = 0; i < 64; i++)
                {
                    ulong first = 0;
                    bool differs = false;
                    for (int g = 0; g < groupCount; g++)
                    {
                        In r = Answered(groups[g].Peer, part);
                        r.Skip(8 * i);
                        ulong sum = r.Number(8);
                        if (r.Bad) flags |= Cut;
                        if (g > 0 && sum != first) differs = true;
                        if (g == 0) first = sum;
                    }
                    if (!differs) continue;
                    int bits = 6 * (p.Depth + 1);
                    long count = bits > 31 ? 0 : tables[(int)p.Table].Slots >> bits;
                    ulong parent = p.Depth > 0 ? p.From >> 64 - 6 * p.Depth << 64 - 6 * p.Depth : 0;
                    Push(p.Count, p.Depth + 1, parent | (ulong)i << 58 - 6 * p.Depth, count + count / 2 + 1);
                }
            }
            AskForTheRows();
        }

        // ---- the report

        // Writes the rows of a listed column by ascending keys.
        void WriteRows(ref Out w, int of)
        {
            ulong key = 0, key2 = 0;
            for (bool any = false; ; any = true)
            {
                var r = new In(found, 0, foundSize);
                int best = -1, size = 0;
                ulong bestKey = 0, bestKey2 = 0;
                while (r.At < r.End)
                {
                    int number = (int)r.Number(1), at = r.At;
                    ulong k = r.Number(8), k2 = r.Number(8);
                    for (int g = 0; g < groupCount; g++) ReadValue(ref r);
                    if (number != of || any && CompareKeys(k, k2, key, key2) <= 0) continue;
                    if (best >= 0 && CompareKeys(k, k2, bestKey, bestKey2) >= 0) continue;
                    best = at;
                    size = r.At - at;
                    bestKey = k;
                    bestKey2 = k2;
                }
                if (best < 0) return;
                w.Raw(found, best, size);
                key = bestKey;
                key2 = bestKey2;
            }
        }

        // Begins to send the report to a peer.
        void ShareWith(int peer)
        {
            Peer p = peers[peer];
            stage = Share;
            Array.Clear(p.Got, 0, p.Got.Length);
            p.Chunk = 0;
            p.Late = 0;
            p.Since = now;
            p.AskedAt = 0;
            p.Shares = true;
        }

        // Makes the report of what was found, and begins to hand it out.
        void MakeReport()
        {
            var w = new Out(report, 0, report.Length);
            int n = 0;
            for (int i = 0; i < listedCount; i++)
            {
                int g = 0;
                while (g < listedCount && (listed[g].Table != listed[i].Table || listed[g].Column != 0)) g++;
                bool pending = listed[i].More || listed[i].Pending > 0;
                if (g < listedCount && listed[i].Column > 0 && (listed[g].First || listed[i].Rows == 0 && !pending))
                    listed[i].First = false; // it may be that only rows of one side differ
                if (pending) flags |= Cut;
                if (listed[i].All > 0 || pending || listed[i].First) n++;
                if (listed[i].Rows == 0 && !pending && !listed[i].First) columnsDiffer--;
            }
            w.Number(0x01524644, 4); // DFR, 1
            w.Number((ulong)flags, 1);
            w.Number(session.Seed, 8);
            w.Number(groupCount > 0 ? point : 0, 8);
            w.Number((ulong)step, 2);
            w.Text(stepName);
            w.Number(silent, 8);
            w.Number((ulong)groupCount, 1);
            for (int g = 0; g < groupCount; g++)
            {
                w.Number(groups[g].Members, 8);
                w.Number(groups[g].Root, 8);
                w.Number(groups[g].StepRoot, 8);
                w.Number(groups[g].Inputs, 8);
            }
            w.Number(tablesDiffer, 4);
            w.Number(columnsDiffer, 4);
            w.Number((ulong)n, 1);
            for (int i = 0; i < listedCount; i++)
            {
                ListedColumn l = listed[i];
                FColumn c = ColumnOf(i);
                bool pending = l.More || l.Pending > 0;
                if (l.All == 0 && !pending && !l.First) continue;
                Describe(ref w, tables[l.Table], c);
                w.Number((pending ? 1u : 0) | (l.First ? 2u : 0), 1);
                w.Number((ulong)(l.Rows + l.Pending), 4);
                w.Number((ulong)l.All, 4);
                WriteRows(ref w, i);
            }
            reportSize = w.At;
            reportId = id;
            reporter = self;
            Status = FlightStatus.Found;
            for (int i = 0; i < peerCount; i++) ShareWith(i);
        }

        // ---- the exchange

        void Begin()
        {
            stage = AskStatus;
            rounds = spent = flags = groupCount = listedCount = workCount = foundSize = partCount = 0;
            full = older = false;
            step = EndOfTick;
            stepName = new byte[0];
            tablesDiffer = columnsDiffer = 0;
            point = 0;
            Add(AskForStatus, step);
            Ask();
        }

        /// <summary>The game itself found that the state at a point differs from the state of other peers. A peer's packet does the
        /// same.</summary>
        public void Differs(ulong at)
        {
            if (!begun) throw new InvalidOperationException("FlightRecorder.Differs: there is no state yet: State comes first");
            Noticed(at, HistoryAt(at));
        }

        // Whether all that ask before this peer are silent: the first peer asks.
        bool Turn()
        {
            for (int i = 0; i < self; i++)
                if (now - Math.Max(peers[i].Heard, started) < Wait) return false;
            return true;
        }

        // How long a peer is asked before it is gone: even if a third of all packets are lost both ways, one in 10,000 is given up.
        ulong Patience() { return Math.Max(Wait, rto * 16); }

        // Goes on where answers are there, or will not come.
        void Poll()
        {
            if (Status == FlightStatus.Asking && stage == Idle && Turn()) Begin();
            while (stage != Idle && stage != Share)
            {
                uint all = (1u << partCount) - 1;
                for (int i = 0; i < peerCount; i++)
                {
                    Peer p = peers[i];
                    if (!p.Asks || p.Gone || p.Answered == all) continue;
                    if (now - p.Since < Patience()) return;
                    p.Gone = true;
                    for (int g = 0; g < groupCount && stage > AskHistory; g++)
                        if (groups[g].Peer == i && restarts++ < 2 * MaxPeers)
                        {
                            Begin(); // another peer of its group will do
                            break;
                        }
                    if (stage == AskStatus) return;
                }
                switch (stage)
                {
                    case AskStatus: AfterStatus(); break;
                    case AskHistory: AfterHistory(); break;
                    case AskSteps: AfterSteps(); break;
                    case AskTables: AfterTables(); break;
                    case AskColumns: AfterColumns(); break;
                    default: AfterRows(); break;
                }
            }
        }

        void GotQuestion(int from, uint number, In r)
        {
            int at = 0;
            Asked q = reading;
            if (peers[from].Sent > MostSent) return;
            while (at < queued && queue[at].From != from) at++;
            if (at == QueueMost || at < queued && queue[at].Id == number) return;
            q.From = from;
            q.Id = number;
            q.Next = 0;
            q.Count = (int)r.Number(1);
            if (q.Count == 0 || q.Count > Parts) return;
            for (int i = 0; i < q.Count; i++)
                q.Parts[i] = new Part { Index = (byte)r.Number(1), What = (byte)r.Number(1), Depth = (byte)r.Number(1), Step = (int)r.Number(2), Count = (int)r.Number(2),
                    Table = (uint)r.Number(4), Column = (uint)r.Number(4), Point = r.Number(8), From = r.Number(8) };
            if (r.Bad) return;
            if (reportSize > 0) { ShareWith(from); return; } // which is the answer to all questions
            Asked into = queue[at]; // in the place of an earlier question of that peer
            into.From = q.From;
            into.Id = q.Id;
            into.Next = 0;
            into.Count = q.Count;
            Array.Copy(q.Parts, into.Parts, q.Count);
            if (at == queued) queued++;
            if (Status == FlightStatus.Watching) Noticed(confirmed, 0);
            if (Status == FlightStatus.Silent) { Status = FlightStatus.Asking; started = now; }
            alerted = now; // somebody asks: no need to call
            if (stage != Idle && stage != Share && from < self) stage = Idle;
        }

        void GotAnswer(int from, uint number, In r)
        {
            Peer p = peers[from];
            int part = (int)r.Number(1), state = (int)r.Number(1);
            if (r.Bad || stage == Idle || stage == Share || number != id || !p.Asks || p.Gone) return;
            if (part >= partCount || (p.Answered >> part & 1) != 0) return;
            int a = AnswerOf(from, part);
            answerState[a] = state;
            answerSize[a] = r.Left;
            Buffer.BlockCopy(r.B, r.At, answers, a * Body, r.Left);
            if (p.Answered == 0 && p.Late == 0) // asked once: this is how long it takes
            {
                ulong took = now - p.AskedAt;
                took = Math.Min(1000, took + took / 4 + 50);
                rto = took > rto ? took : rto - (rto - took) / 8;
                measured = true;
            }
            p.Answered |= 1u << part;
            p.Since = now;
        }

        void GotReport(int from, uint number, In r)
        {
            int chunk = (int)r.Number(2);
            long whole = (long)r.Number(4);
            int n = r.Left;
            if (r.Bad || whole == 0 || whole > report.Length) return;
            int size = (int)whole, chunks = (size + Chunk - 1) / Chunk;
            if (chunk >= chunks || n != Math.Min(size - chunk * Chunk, Chunk)) return;
            if (number != incomingId || from != incomingFrom || size != incomingSize)
            {
                if (incomingSize > 0 && now - peers[incomingFrom].Heard < Wait && from > incomingFrom) return;
                Array.Clear(incomingGot, 0, incomingGot.Length);
                incomingId = number;
                incomingFrom = from;
                incomingSize = size;
            }
            Buffer.BlockCopy(r.B, r.At, incoming, chunk * Chunk, n);
            incomingGot[chunk / 8] |= (byte)(1 << chunk % 8);
            ack = true;
            for (int i = 0; i < chunks; i++) if ((incomingGot[i / 8] >> i % 8 & 1) == 0) return;
            if (Status == FlightStatus.Found || !CanRead(incoming, size)) return;
            if (Status == FlightStatus.Watching) Noticed(confirmed, 0);
            Buffer.BlockCopy(incoming, 0, report, 0, size);
            reportSize = size;
            reportId = number;
            reporter = from;
            Status = FlightStatus.Found;
            for (int i = 0; i < peerCount && stage != Idle; i++) ShareWith(i); // it was asking the others
        }

        /// <summary>Takes a packet of n bytes that peer number `from` sent.</summary>
        public void Receive(int from, byte[] packet, int n)
        {
            if (packet == null || n > packet.Length || n < Head + 4 || n > PacketSize || from == self || from < 0 || from >= peerCount) return;
            if (packet[0] != 'D' || packet[1] != 'F' || packet[2] != 1 || Crc32C.Of(packet, 0, n - 4) != Little(packet, n - 4, 4)) return;
            var r = new In(packet, 4, n - 4);
            if (r.Number(8) != session.Seed || !begun) return;
            ulong of = r.Number(4);
            uint number = (uint)r.Number(4);
            int kind = packet[3];
            Peer p = peers[from];
            p.Heard = now;
            if (of != (schema & 0xffffffff))
            {
                p.Foreign = true;
                Noticed(confirmed, 0);
                if (kind != ReportKind && kind != Got) return;
            }
            if (kind == Beat)
            {
                ulong at = r.Number(8), hash = r.Number(8);
                if (r.Bad || p.Beat && p.Point > confirmed && p.Point <= at) return; // the earliest that is to come
                p.Beat = true;
                p.Point = at;
                p.History = hash;
                Check();
            }
            else if (kind == Alert)
            {
                ulong at = r.Number(8);
                if (!r.Bad) Noticed(at, 0);
            }
            else if (kind == Question) GotQuestion(from, number, r);
            else if (kind == Answer) GotAnswer(from, number, r);
            else if (kind == ReportKind) GotReport(from, number, r);
            else if (kind == Got && stage == Share && number == reportId && r.Left >= p.Got.Length)
            {
                Buffer.BlockCopy(packet, r.At, p.Got, 0, p.Got.Length);
                p.Since = now;
            }
        }

        int SendAnswer(out int to, byte[] packet)
        {
            Asked q = queue[0];
            Out w = Packet(packet, Answer, q.Id);
            Part p = q.Parts[q.Next++];
            to = q.From;
            w.Number(p.Index, 1);
            int at = w.At;
            w.Number(0, 1);
            int state = AnswerPart(p, ref w);
            packet[at] = (byte)state;
            if (q.Next == q.Count)
            {
                queued--;
                for (int i = 0; i < queued; i++) queue[i] = queue[i + 1];
                queue[queued] = q;
            }
            if (state == NotYet && confirmed < halt && halt != ulong.MaxValue) return 0; // it may come: let them ask again
            peers[to].Sent += w.At;
            return Sealed(w, packet);
        }

        int SendQuestion(out int to, byte[] packet)
        {
            to = 0;
            for (int i = 0; i < peerCount; i++)
            {
                Peer p = peers[i];
                int n = 0;
                if (i == self || !p.Asks || p.Gone) continue;
                for (int k = 0; k < partCount; k++) if ((p.Answered >> k & 1) == 0) n++;
                if (n == 0 || p.AskedAt != 0 && now - p.AskedAt < rto) continue;
                if (p.AskedAt != 0) p.Late++;
                p.AskedAt = now;
                Out w = Packet(packet, Question, id);
                w.Number((ulong)n, 1);
                for (int k = 0; k < partCount; k++) if ((p.Answered >> k & 1) == 0) WritePart(ref w, parts[k]);
                to = i;
                return Sealed(w, packet);
            }
            return 0;
        }

        static bool HasChunk(Peer p, int chunk) { return (p.Got[chunk / 8] >> chunk % 8 & 1) != 0; }

        int SendReport(out int to, byte[] packet)
        {
            int chunks = (reportSize + Chunk - 1) / Chunk;
            to = 0;
            for (int i = 0; i < peerCount; i++)
            {
                Peer p = peers[i];
                if (i == self || !p.Shares || now - p.Since > 3 * Wait) continue;
                while (p.Chunk < chunks && HasChunk(p, p.Chunk)) p.Chunk++;
                if (p.Chunk >= chunks)
                {
                    int n = 0;
                    while (n < chunks && HasChunk(p, n)) n++;
                    if (n == chunks || now - p.AskedAt < (measured ? 2 * rto : 2000) << Math.Min(p.Late / 8, 32)) continue;
                    p.Chunk = 0;
                    p.Late++;
                    i--; // once more, with what it lacks
                    continue;
                }
                p.AskedAt = now;
                Out w = Packet(packet, ReportKind, reportId);
                w.Number((ulong)p.Chunk, 2);
                w.Number((ulong)reportSize, 4);
                w.Raw(report, p.Chunk * Chunk, Math.Min(reportSize - p.Chunk * Chunk, Chunk));
                bool known = p.Late == 0;
                for (int k = 0; k < p.Got.Length; k++) known |= p.Got[k] != 0;
                p.Chunk = known ? p.Chunk + 1 : chunks; // nothing is known to have arrived: the first chunk asks for more
                p.Sent += w.At;
                to = i;
                return Sealed(w, packet);
            }
            return 0;
        }

        // The next peer that `next` counts, after the last one; -1 if there is none.
        int NextPeer(ref int next)
        {
            if (next == self) next++;
            return next >= peerCount ? -1 : next++;
        }

        int SendPoint(byte[] packet, int kind, ulong at, ulong of)
        {
            Out w = Packet(packet, kind, 0);
            w.Number(at, 8);
            w.Number(of, 8);
            return Sealed(w, packet);
        }

        /// <summary>Writes the next packet that is to be sent, of at most PacketSize bytes, and to whom. Returns its size, 0 if there is
        /// none now. The clock is any that counts milliseconds; it must not go back.</summary>
        public int Send(ulong milliseconds, out int to, byte[] packet)
        {
            int n;
            to = 0;
            if (packet == null || packet.Length < PacketSize) throw new ArgumentException("FlightRecorder.Send: the array has less than 1000 bytes");
            if (!begun) return 0;
            if (++milliseconds > now) // 0 is no time
            {
                if (started == now && Status == FlightStatus.Asking) started = milliseconds;
                now = milliseconds;
            }
            Poll();
            if (ack)
            {
                Out w = Packet(packet, Got, incomingId);
                w.Raw(incomingGot, 0, incomingGot.Length);
                ack = false;
                to = incomingFrom;
                return Sealed(w, packet);
            }
            while (queued > 0)
                if ((n = SendAnswer(out to, packet)) != 0) return n;
            if (Status == FlightStatus.Asking)
            {
                if (stage == Idle && alerted != 0 && now - alerted > 1000) alertTo = 0;
                if ((n = NextPeer(ref alertTo)) >= 0)
                {
                    to = n;
                    alerted = now;
                    return SendPoint(packet, Alert, alertPoint, alertHistory);
                }
                if (stage != Idle) return SendQuestion(out to, packet);
            }
            if (stage == Share) return SendReport(out to, packet);
            if (Status == FlightStatus.Watching && beatHistory != 0 && (n = NextPeer(ref beatTo)) >= 0)
            {
                to = n;
                return SendPoint(packet, Beat, beatPoint, beatHistory);
            }
            return 0;
        }

        /// <summary>The report as bytes, the same on all peers; docs/exchange.md has their form. Null if there is none.</summary>
        public byte[] Report()
        {
            if (reportSize == 0) return null;
            var copy = new byte[reportSize];
            Buffer.BlockCopy(report, 0, copy, 0, reportSize);
            return copy;
        }

        /// <summary>Goes on recording after a report: the next call is State. All peers do so at the same point, with the same state,
        /// such as after a load.</summary>
        public void Resume()
        {
            Status = FlightStatus.Watching;
            stage = Idle;
            begun = open = skips = ack = pastKnown = false;
            entryCount = reportSize = incomingSize = queued = restarts = 0;
            halt = ulong.MaxValue;
            beatHistory = beatPoint = 0;
            Array.Clear(live, 0, live.Length);
            Array.Clear(sums, 0, sums.Length);
            foreach (FTable t in tables) t.Stale = true;
            for (int i = 0; i < MaxPeers; i++)
            {
                Peer p = peers[i];
                p.Beat = p.Gone = p.Foreign = p.Shares = false;
                p.Sent = 0;
            }
        }

        // ---- the report as text and as files

        sealed class ReportHead
        {
            public int Flags, Step, Groups, Listed;
            public ulong Point, Silent;
            public readonly ulong[] Members = new ulong[FlightRecorder.Groups], Roots = new ulong[FlightRecorder.Groups];
            public readonly ulong[] StepRoots = new ulong[FlightRecorder.Groups], Inputs = new ulong[FlightRecorder.Groups];
            public int StepName, StepSize;
        }

        // A listed column; its rows follow. Texts are where they begin in the report, and their sizes.
        struct ReportColumn
        {
            public int Label, LabelSize, Component, ComponentSize, Field, FieldSize, Type, Flags;
            public uint Scale, AtLeast, Rows;
        }

        static ReportHead ReadHead(ref In r)
        {
            var h = new ReportHead();
            if (r.Number(4) != 0x01524644) r.Bad = true;
            h.Flags = (int)r.Number(1);
            r.Number(8);
            h.Point = r.Number(8);
            h.Step = (int)r.Number(2);
            h.StepSize = (int)r.Number(1);
            h.StepName = r.Skip(h.StepSize);
            h.Silent = r.Number(8);
            h.Groups = (int)r.Number(1);
            if (h.Groups > Groups) { r.Bad = true; h.Groups = 0; }
            for (int g = 0; g < h.Groups; g++)
            {
                h.Members[g] = r.Number(8);
                h.Roots[g] = r.Number(8);
                h.StepRoots[g] = r.Number(8);
                h.Inputs[g] = r.Number(8);
                if (h.Members[g] == 0) r.Bad = true;
            }
            r.Number(8);
            h.Listed = (int)r.Number(1);
            return h;
        }

        static ReportColumn ReadColumn(ref In r)
        {
            var l = new ReportColumn();
            l.LabelSize = (int)r.Number(1);
            l.Label = r.Skip(l.LabelSize);
            l.ComponentSize = (int)r.Number(1);
            l.Component = r.Skip(l.ComponentSize);
            l.FieldSize = (int)r.Number(1);
            l.Field = r.Skip(l.FieldSize);
            l.Type = (int)r.Number(1);
            l.Scale = (uint)r.Number(4);
            l.Flags = (int)r.Number(1);
            l.AtLeast = (uint)r.Number(4);
            l.Rows = (uint)r.Number(4);
            return l;
        }

        static void SkipRows(ref In r, ReportColumn l, int groups)
        {
            for (uint n = 0; n < l.Rows && !r.Bad; n++)
            {
                r.Skip(16);
                for (int g = 0; g < groups; g++) ReadValue(ref r);
            }
        }

        // Whether all of a report can be read: it may come from any source.
        bool CanRead(byte[] data, int n)
        {
            var r = new In(data, 0, n);
            ReportHead h = ReadHead(ref r);
            for (int g = 0; g < h.Groups; g++) if (peerCount < 64 && h.Members[g] >> peerCount != 0) r.Bad = true;
            for (int i = 0; i < h.Listed && !r.Bad; i++) SkipRows(ref r, ReadColumn(ref r), h.Groups);
            return !r.Bad && r.At == r.End;
        }

        // A text of another peer: control characters and what is not ASCII are escaped.
        static void Say(StringBuilder s, byte[] b, int at, int n)
        {
            for (int end = at + n; at < end; at++)
                if (b[at] >= ' ' && b[at] < 127 && b[at] != '\\') s.Append((char)b[at]);
                else s.Append("\\x").Append(b[at].ToString("x2"));
        }

        static void SayCount(StringBuilder s, ulong n, string noun)
        {
            s.Append(n).Append(' ').Append(noun);
            if (n != 1) s.Append('s');
        }

        void SayPeers(StringBuilder s, ulong members)
        {
            int n = 0, all = 0, said = 0;
            for (int i = 0; i < 64; i++) all += (int)(members >> i & 1);
            for (int i = 0; i < peerCount; i++)
            {
                if ((members >> i & 1) == 0) continue;
                n++;
                if (said == 4 && all > 5) { s.Append(" and ").Append(all - said).Append(" more"); return; }
                if (said++ > 0) s.Append(n == all ? " and " : ", ");
                Say(s, peers[i].Name, 0, peers[i].Name.Length);
            }
        }

        // A number as %.9g and %.17g have it in C.
        static string Float(double v, int digits)
        {
            if (double.IsNaN(v)) return BitConverter.DoubleToInt64Bits(v) < 0 ? "-nan" : "nan";
            if (double.IsInfinity(v)) return v < 0 ? "-inf" : "inf";
            string sign = BitConverter.DoubleToInt64Bits(v) < 0 ? "-" : "", text = Math.Abs(v).ToString("E" + (digits - 1), CultureInfo.InvariantCulture);
            int e = text.IndexOf('E'), exponent = int.Parse(text.Substring(e + 1), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture);
            string all = text.Substring(0, 1) + text.Substring(2, e - 2);
            string kept = all.TrimEnd('0');
            if (kept == "") return sign + "0";
            if (exponent < -4 || exponent >= digits)
                return sign + kept.Substring(0, 1) + (kept.Length > 1 ? "." + kept.Substring(1) : "") + (exponent < 0 ? "e-" : "e+") + Math.Abs(exponent).ToString("00", CultureInfo.InvariantCulture);
            if (exponent < 0) return sign + "0." + new string('0', -exponent - 1) + kept;
            string whole = all.Substring(0, exponent + 1);
            return sign + whole + (kept.Length > whole.Length ? "." + kept.Substring(whole.Length) : "");
        }

        void SayValue(StringBuilder s, ReportColumn l, int at)
        {
            int state = report[at], n = state == 1 || state == 2 ? report[at + 1] : 0;
            var type = (ColumnType)l.Type;
            if (state == 0 || state == 3) { s.Append(state == 0 ? "no value" : "no row"); return; }
            if (l.Type == 0) { s.Append("a row"); return; }
            if (type == ColumnType.String)
            {
                s.Append('"');
                Say(s, report, at + 2, n);
                s.Append(state == 2 ? "\"..." : "\"");
                return;
            }
            if (type == ColumnType.Bytes)
            {
                for (int i = 0; i < n; i++) s.Append(report[at + 2 + i].ToString("x2"));
                if (state == 2) s.Append("...");
                return;
            }
            ulong v = Little(report, at + 2, Math.Min(n, 8));
            unchecked
            {
                switch (type)
                {
                    case ColumnType.Bool: s.Append(v != 0 ? "true" : "false"); break;
                    case ColumnType.I8: s.Append((sbyte)v); break;
                    case ColumnType.I16: s.Append((short)v); break;
                    case ColumnType.I32: s.Append((int)v); break;
                    case ColumnType.I64: s.Append((long)v); break;
                    case ColumnType.F32: s.Append(Float(new FloatBits { Bits = (uint)v }.Value, 9)); break;
                    case ColumnType.F64: s.Append(Float(BitConverter.Int64BitsToDouble((long)v), 17)); break;
                    case ColumnType.Fixed: s.Append((long)v).Append('/').Append(l.Scale); break;
                    case ColumnType.Ref: s.Append('#').Append(v); break;
                    default: s.Append(v); break;
                }
            }
        }

        void SayColumn(StringBuilder s, ReportColumn l)
        {
            if (l.LabelSize == 0) { s.Append("RNG"); return; }
            Say(s, report, l.Label, l.LabelSize);
            if (l.Type == 0) { s.Append(" entities"); return; }
            s.Append(' ');
            Say(s, report, l.Component, l.ComponentSize);
            s.Append('.');
            Say(s, report, l.Field, l.FieldSize);
        }

        // The first sentence: where, and what differs most directly.
        void SayFirst(StringBuilder s, ReportHead h)
        {
            if (h.Groups == 0)
            {
                s.Append((h.Flags & OtherState) != 0 ? "The peers describe their states otherwise: they run different builds.\n"
                    : "The states that the peers still have do not differ.\n");
                return;
            }
            bool lost = (h.Flags & Lost) != 0, have = false, several = false; // several peers are of one group
            for (int g = 0; g < h.Groups; g++) several |= (h.Members[g] & unchecked(h.Members[g] - 1)) != 0;
            for (int g = 0; g < h.Groups; g++)
            {
                if (g > 0) s.Append(several ? " against " : g + 1 == h.Groups ? " and " : ", ");
                SayPeers(s, h.Members[g]);
            }
            s.Append(lost ? " have different states at tick " : " have different states since tick ").Append(lost || h.Point == 0 ? h.Point : h.Point - 1);
            if (h.StepSize > 0)
            {
                s.Append(", system ");
                Say(s, report, h.StepName, h.StepSize);
            }
            if (lost) s.Append(", the first that all of them still have");
            var r = new In(report, 0, reportSize);
            ReadHead(ref r);
            var best = new ReportColumn();
            ulong others = 0;
            for (int i = 0; i < h.Listed; i++)
            {
                ReportColumn l = ReadColumn(ref r);
                bool shown = l.AtLeast > 0 || l.Flags != 0, first = (l.Flags & 2) != 0, bestFirst = (best.Flags & 2) != 0;
                bool better = !have || first && !bestFirst || first == bestFirst && best.LabelSize == 0;
                if (shown && (first || h.Step == EndOfTick)) others++;
                if (better && shown) { best = l; have = true; }
                SkipRows(ref r, l, h.Groups);
            }
            if (have)
            {
                s.Append(": ");
                SayColumn(s, best);
                s.Append(best.Type != 0 ? " differs" : " differ");
                if (best.LabelSize > 0 && best.AtLeast > 0)
                {
                    s.Append((best.Flags & 1) != 0 ? " in at least " : " in ");
                    SayCount(s, best.AtLeast, "row");
                }
                if (others > 1)
                {
                    s.Append(", and ");
                    SayCount(s, others - 1, "more column");
                }
            }
            s.Append(".\n");
            for (int g = 1; g < h.Groups; g++)
                if (h.Inputs[g] != h.Inputs[0]) { s.Append("The orders of that tick differ.\n"); break; }
        }

        // A row, except what a column has of rows of one side.
        void SayRow(StringBuilder s, ReportHead h, ReportColumn l, ref In r)
        {
            ulong key = r.Number(8), key2 = r.Number(8);
            var values = new int[Groups];
            bool shown = true;
            for (int g = 0; g < h.Groups; g++)
            {
                values[g] = ReadValue(ref r);
                if (l.Type != 0 && report[values[g]] == 3) shown = false;
            }
            if (!shown) return;
            s.Append("  #").Append(key);
            if (key2 != 0) s.Append('/').Append(key2);
            for (int g = 0; g < h.Groups; g++)
            {
                s.Append(g > 0 ? ", " : " ");
                SayValue(s, l, values[g]);
                s.Append(" on ");
                SayPeers(s, h.Members[g]);
            }
            s.Append('\n');
        }

        /// <summary>The report as text, for the game's log and its screen: a sentence, then what differs. Control characters of names
        /// and values are escaped. Empty if there is no report.</summary>
        public string Text()
        {
            var s = new StringBuilder();
            if (reportSize == 0) return "";
            var r = new In(report, 0, reportSize);
            ReportHead h = ReadHead(ref r);
            SayFirst(s, h);
            for (int i = 0; i < h.Listed; i++)
            {
                ReportColumn l = ReadColumn(ref r);
                if (l.AtLeast > 0 || l.Flags != 0)
                {
                    SayColumn(s, l);
                    s.Append((l.Flags & 1) != 0 ? ": at least " : ": ");
                    SayCount(s, l.AtLeast, "row");
                    if ((l.Flags & 2) != 0 && h.StepSize > 0) s.Append(", differs first");
                    s.Append('\n');
                }
                for (uint n = 0; n < l.Rows && !r.Bad; n++) SayRow(s, h, l, ref r);
            }
            if ((h.Flags & Cut) != 0) s.Append("More differs than is listed.\n");
            if (h.Silent != 0)
            {
                s.Append("Not known of ");
                SayPeers(s, h.Silent);
                s.Append(".\n");
            }
            s.Append("Found by ");
            SayPeers(s, 1UL << reporter);
            return s.Append("; each peer's values are its own word.\n").ToString();
        }

        const string TooLong = "the state has strings or bytes of which only the beginning is kept: FlightOptions.Sizes";

        // The world whose values are those of `past`; null if some of them are not whole.
        World PastWorld()
        {
            var w = new World();
            foreach (FTable t in tables)
            {
                FColumn only = columns[t.First + 1 < columns.Count ? t.First + 1 : t.First];
                if (t.Rng)
                {
                    w.Rng = new byte[Little(past, only.At + 8, 4)];
                    if (w.Rng.Length > only.Kept) return null;
                    Buffer.BlockCopy(past, only.At + 12, w.Rng, 0, w.Rng.Length);
                    continue;
                }
                var slots = new List<int>();
                bool two = t.TwoParts;
                for (int i = 0; i < t.Slots; i++) if (past[t.Identity + i * IdentitySize] != 0) slots.Add(i);
                slots.Sort((a, b) => CompareKeys(Little(past, t.Identity + a * IdentitySize + 1, 8), Little(past, t.Identity + a * IdentitySize + 9, 8),
                    Little(past, t.Identity + b * IdentitySize + 1, 8), Little(past, t.Identity + b * IdentitySize + 9, 8)));
                Table to = w.Archetype(t.Label, two ? 2 : 1);
                for (int i = 1; i < t.Columns; i++)
                {
                    FColumn c = columns[t.First + i];
                    to.Column(c.ComponentName, c.FieldName, (ColumnType)c.Type, c.Scale);
                }
                foreach (int slot in slots)
                {
                    int at = t.Identity + slot * IdentitySize;
                    if (two) to.Row(Little(past, at + 1, 8), Little(past, at + 9, 8)); else to.Row(Little(past, at + 1, 8));
                    for (int i = 1; i < t.Columns; i++)
                    {
                        FColumn c = columns[t.First + i];
                        int cell = c.At + slot * c.Width;
                        if (past[c.Present + slot] == 0) continue;
                        if (!c.Text) { to.Columns[i - 1].SetBits(Little(past, cell, c.Width)); continue; }
                        long n = (long)Little(past, cell + 8, 4);
                        if (n > c.Kept) return null;
                        var b = new byte[n];
                        Buffer.BlockCopy(past, cell + 12, b, 0, b.Length);
                        to.Columns[i - 1].Set(b);
                    }
                }
            }
            return w;
        }

        // The orders of the tick that leads to a point; null if they are no longer kept.
        List<Order> OrdersOf(ulong at)
        {
            var list = new List<Order>();
            int e = EntryOf(at);
            if (e < 0 || head - entries[e].Begin > ring.Length) return null;
            for (long back = entries[e].End; back > entries[e].Begin;)
            {
                long length = (long)Get64(back - 4, 4), begin = back - 4 - length;
                if (Get64(back - 5, 1) != OrdersItem) { back = begin; continue; }
                for (long from = begin; from + 20 < back - 4;)
                {
                    int size = (int)Get64(from + 16, 4), kind = (int)Get64(from + 12, 4);
                    var order = new Order { SubTick = (uint)Get64(from, 4), Player = (uint)Get64(from + 4, 4), Sequence = (uint)Get64(from + 8, 4),
                        Kind = session.Kinds[kind].Name, Payload = new byte[size] };
                    Get(from + 20, order.Payload, 0, size);
                    list.Add(order);
                    from += 20 + size;
                }
                break;
            }
            return list;
        }

        // Sets a cell of `past` to a value of the report. Returns false if that is not all of the value, or there is no room.
        bool Patch(FTable t, FColumn c, ulong key, ulong key2, int value)
        {
            int slot = -1, free = -1, state = report[value], n = state == 1 || state == 2 ? report[value + 1] : 0;
            for (int i = 0; i < t.Slots && slot < 0; i++)
            {
                int at = t.Identity + i * IdentitySize;
                if (past[at] == 0) { if (free < 0) free = i; }
                else if (Little(past, at + 1, 8) == key && Little(past, at + 9, 8) == key2) slot = i;
            }
            if (c.Number < 0)
            {
                int at = t.Identity + (slot < 0 ? free : slot) * IdentitySize;
                if (slot < 0 && (free < 0 || state == 3)) return state == 3;
                Array.Clear(past, at, IdentitySize);
                if (slot < 0)
                    for (int i = 1; i < t.Columns; i++) past[columns[t.First + i].Present + free] = 0; // what an earlier row had
                if (state == 3) return true;
                past[at] = 1;
                PutLittle(past, at + 1, key, 8);
                PutLittle(past, at + 9, key2, 8);
                return true;
            }
            if (state == 3) return true; // the row itself is gone
            if (slot < 0 || state == 2) return false;
            int cell = c.At + slot * c.Width;
            Array.Clear(past, cell, c.Width);
            past[c.Present + slot] = state == 0 ? (byte)0 : (byte)1;
            if (state == 0) return true;
            if (n > (c.Text ? c.Kept : c.Width)) return false;
            if (c.Text) { PutLittle(past, cell, Hash(report, value + 2, n), 8); PutLittle(past, cell + 8, (ulong)n, 4); }
            Buffer.BlockCopy(report, value + 2, past, c.Text ? cell + 12 : cell, n);
            return true;
        }

        bool Named(byte[] name, int at, int n) { return name.Length == n && Bytes.Equal(name, 0, report, at, n); }

        // Makes `past` the state of a group at the end of the divergent tick. Returns false if it is not known as a whole.
        bool PatchAll(ReportHead h, int group)
        {
            if (!Rebuild(h.Point, EndOfTick)) return false;
            pastKnown = false;
            for (int pass = 0; pass < 2; pass++) // rows first, then their values
            {
                var r = new In(report, 0, reportSize);
                ReadHead(ref r);
                for (int i = 0; i < h.Listed; i++)
                {
                    ReportColumn l = ReadColumn(ref r);
                    FTable t = tables.Find(of => Named(of.Bytes, l.Label, l.LabelSize));
                    FColumn c = null;
                    for (int k = 0; t != null && k < t.Columns; k++)
                    {
                        FColumn of = columns[t.First + k];
                        if (k == 0 ? l.Type == 0 && l.FieldSize == 0 : Named(of.Component, l.Component, l.ComponentSize) && Named(of.Field, l.Field, l.FieldSize)) c = of;
                    }
                    for (uint n = 0; n < l.Rows; n++)
                    {
                        ulong key = r.Number(8), key2 = r.Number(8);
                        int value = 0;
                        for (int g = 0; g < h.Groups; g++)
                        {
                            int at = ReadValue(ref r);
                            if (g == group) value = at;
                        }
                        if (c == null || pass == 0 != (l.Type == 0)) continue;
                        if (!Patch(t, c, key, key2, value)) return false;
                    }
                }
            }
            Array.Clear(pastSums, 0, pastSums.Length);
            foreach (FTable t in tables)
                for (int i = 0; i < t.Columns; i++)
                {
                    FColumn c = columns[t.First + i];
                    for (int n = 0; n < t.Slots; n++)
                        if (past[t.Identity + n * IdentitySize] != 0 && Has(c, past, n))
                            unchecked { pastSums[t.First + i] += Cell(c, RowOf(t, past, n), past, n); }
                }
            return Root(pastSums) == h.Roots[group];
        }

        int GroupOf(ReportHead h, int peer)
        {
            for (int g = 0; g < h.Groups; g++) if (peer >= 0 && peer < MaxPeers && (h.Members[g] >> peer & 1) != 0) return g;
            return -1;
        }

        /// <summary>The state that a peer had at the end of the divergent tick, as a .snap: of this peer as it is kept, of a peer of
        /// another group made of it and the values in the report. If these are not all that differs, that is an
        /// InvalidOperationException: the hash of the state shows it. To heal, all peers load the state of the same peer as they
        /// load a save, and go on from there with Resume.</summary>
        public byte[] Snapshot(int peer)
        {
            const string call = "FlightRecorder.Snapshot: ";
            if (reportSize == 0) throw new InvalidOperationException(call + "there is no report");
            var r = new In(report, 0, reportSize);
            ReportHead h = ReadHead(ref r);
            int own = GroupOf(h, self), group = GroupOf(h, peer);
            if (own < 0 || group < 0) throw new InvalidOperationException(call + "the report does not cover both peers");
            if (group == own ? !Rebuild(h.Point, EndOfTick) : !PatchAll(h, group))
                throw new InvalidOperationException(call + "the report does not have all values of that peer");
            World w = PastWorld();
            if (w == null) throw new InvalidOperationException(call + TooLong);
            w.Seed = session.Seed;
            w.Tick = h.Point;
            w.Peer = session.Peers[peer];
            return w.Encode();
        }

        // Whether a name can be the name of a folder on every system: players choose names.
        static bool IsFolder(string name)
        {
            foreach (char c in name) if (c <= ' ' || "/\\:*?\"<>|".IndexOf(c) >= 0) return false;
            return name != "" && name[0] != '.' && Encoding.UTF8.GetByteCount(name) <= 100 && name[name.Length - 1] != '.';
        }

        Session SessionOf(string peer, ulong from)
        {
            var s = new Session { Seed = session.Seed, Peer = peer, Build = session.Build, FirstPoint = from };
            s.Kinds.AddRange(session.Kinds);
            s.Peers.AddRange(session.Peers);
            return s;
        }

        // The trace of the divergent tick up to the system that differs first: no more is known of others.
        void WriteTrace(string path, Session of, ReportHead h, int group, bool own)
        {
            int n = StepsOf(EntryOf(h.Point));
            using (var trace = new Trace(path, of))
                for (int i = 0; i < n && i <= h.Step; i++)
                {
                    var bytes = new byte[8];
                    PutLittle(bytes, 0, own || i < h.Step ? Get64(stepsAt[n - 1 - i] - 13, 8) : h.StepRoots[group], 8);
                    trace.Checkpoint(h.Point - 1, names[(int)Get64(stepsAt[n - 1 - i] - 15, 2) % MaxNames], "", false, null, new Sum("flight", bytes));
                }
        }

        // What this peer has from a point to the end of the divergent tick.
        void WriteOwn(string path, Session of, ReportHead h)
        {
            World first = Rebuild(of.FirstPoint, EndOfTick) ? PastWorld() : null;
            if (first == null) throw new InvalidOperationException("FlightRecorder.Files: " + TooLong);
            of.Start = first.StateHash();
            using (var recorder = new Recorder(path, of))
                for (ulong at = of.FirstPoint; at <= h.Point && Rebuild(at, EndOfTick); at++)
                {
                    World w = PastWorld();
                    if (w == null) throw new InvalidOperationException("FlightRecorder.Files: " + TooLong);
                    recorder.State(at, w);
                    if (at + 1 >= h.Point) recorder.Snapshot(at, w);
                    if (at < h.Point) { recorder.Tick(at, OrdersOf(at + 1) ?? new List<Order>()); continue; }
                    var labels = new List<string>();
                    var r = new In(report, 0, reportSize);
                    ReadHead(ref r);
                    for (int i = 0; i < h.Listed; i++)
                    {
                        ReportColumn l = ReadColumn(ref r);
                        FTable t = tables.Find(x => !x.Rng && Named(x.Bytes, l.Label, l.LabelSize));
                        if (t != null && !labels.Contains(t.Label)) labels.Add(t.Label);
                        SkipRows(ref r, l, h.Groups);
                    }
                    recorder.Report(at, w, -1, labels);
                }
        }

        // What another peer had before and after the divergent tick: an order log with the hashes, where its orders were this peer's,
        // and for one peer of a group the states. The state before the tick is this peer's too.
        void WriteOther(string path, Session of, ReportHead h, int group, int peer, bool states)
        {
            int e = EntryOf(h.Point);
            bool before = (h.Flags & Lost) == 0 && h.Point != 0, own = (h.Members[group] >> self & 1) != 0;
            bool logs = before && of.Peer == session.Peers[peer] && e >= 0 && entries[e].Inputs == h.Inputs[group] && head - entries[e].Begin <= ring.Length;
            using (OrderLog log = logs ? new OrderLog(Path.Combine(path, "order-log.bin"), of) : null)
                for (ulong at = before ? h.Point - 1 : h.Point; at <= h.Point && (logs || states); at++)
                {
                    World w = at == h.Point && !own ? PatchAll(h, group) ? PastWorld() : null : Rebuild(at, EndOfTick) ? PastWorld() : null;
                    if (w == null) return;
                    if (logs)
                    {
                        byte[] hash = w.StateHash();
                        log.Observe(at, (uint)peer, "sync", "", World.Short(hash));
                        log.Observe(at, (uint)peer, "state", "", hash);
                        if (at < h.Point) log.Tick(at, OrdersOf(h.Point) ?? new List<Order>());
                    }
                    if (!states) continue;
                    w.Seed = session.Seed;
                    w.Tick = at;
                    w.Peer = of.Peer;
                    w.WriteFile(path);
                }
        }

        /// <summary>Writes what is known to a folder, with a folder for each peer: this peer's order log of the ticks that are kept, its
        /// trace, its states before and after the divergent tick, and its report; an order log and the trace of each other peer
        /// that answered, if the orders of that tick were the same, and the states of one peer of each group, if the values in
        /// the report are all that differs: then the hash shows that they are whole. A peer whose name cannot be a folder's is
        /// peer-N. `desynctool triage FOLDER` reads it.</summary>
        public void Files(string folder)
        {
            const string call = "FlightRecorder.Files: ";
            if (reportSize == 0) throw new InvalidOperationException(call + "there is no report");
            var r = new In(report, 0, reportSize);
            ReportHead h = ReadHead(ref r);
            int own = GroupOf(h, self);
            if (own < 0) throw new InvalidOperationException(call + "the report does not cover this peer");
            for (int peer = 0; peer < peerCount; peer++)
            {
                int g = GroupOf(h, peer);
                if (g < 0) continue; // it did not answer
                string name = session.Peers[peer];
                if (!IsFolder(name))
                {
                    if (peer == self) throw new InvalidOperationException(call + "the name of this peer cannot be the name of a folder");
                    name = "peer-" + peer;
                }
                string path = Directory.CreateDirectory(Path.Combine(folder, name)).FullName;
                ulong from = h.Point, first = entries[EntryAt(0)].Point;
                while (peer == self && from > first && h.Point - from < 32 && EntryOf(from) >= 0 && head - entries[EntryOf(from)].Begin <= ring.Length) from--;
                Session of = SessionOf(name, peer == self || from == 0 ? from : from - 1);
                if (peer == self) WriteOwn(path, of, h);
                else WriteOther(path, of, h, g, peer, g != own && (h.Members[g] & (1UL << peer) - 1) == 0); // of the lowest peer of a group the states
                if (h.Step != EndOfTick) WriteTrace(Path.Combine(path, "checkpoints.trace"), of, h, g, g == own);
            }
        }
    }
}
