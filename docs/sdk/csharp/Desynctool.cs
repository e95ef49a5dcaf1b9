// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

// The formats and the protocol of desynctool for C# games: snapshots, order logs, traces, and
// serving a game to `desynctool replay`. Copy this file into a project; it needs C# 7 and
// .NET Standard 2.0, no packages and no unsafe code. docs/extsim.md, snapshot.md, merkle.md,
// orderlog.md, trace.md and peer-report.md specify what is written here; Skirmish.cs is an example
// game, Trade.cs a larger one.
using System;
using System.Collections.Generic;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Text;

namespace Desynctool
{
    // ---- state ----

    /// <summary>The types of columns. The numbers belong to the file format.</summary>
    public enum ColumnType : byte
    {
        Bool = 1, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, Fixed, String, Bytes, Ref
    }

    /// <summary>Archetypes are hashed; caches (derived data) and noise (known to differ) are not.</summary>
    public enum TableClass : byte { Archetype, Cache, Noise }

    /// <summary>One peer's state at one state point: typed tables, kept from tick to tick and refilled
    /// for each hash. What did not change since the last hash is not hashed again, and a table that is not even refilled costs nothing.</summary>
    public sealed class World
    {
        const int MaxTables = 65536, MaxRng = 65536, MaxProperties = 4096, MaxHeader = 16 << 20;
        const int PreambleSize = 32;
        static readonly byte[] Magic = { 0x89, 0x53, 0x4e, 0x41, 0x50, 0x0d, 0x0a, 0x1a };
        static readonly byte[] EndMarker = Encoding.ASCII.GetBytes("SNAP.END");

        public ulong Seed;
        /// <summary>The state point: state T is the one before the orders of tick T.</summary>
        public ulong Tick;
        /// <summary>Empty, or "after-orders" inside the tick.</summary>
        public string Phase = "";
        /// <summary>The engine's name of the point, if it has one.</summary>
        public string Native = "";
        public string Peer = "";
        public uint Epoch;
        /// <summary>State of the game's random numbers, null if it has none.</summary>
        public byte[] Rng;
        /// <summary>History hash of 32 bytes, null if not known.</summary>
        public byte[] History;
        public readonly SortedDictionary<string, string> Properties = new SortedDictionary<string, string>(Utf8.Order);

        internal bool Whole; // it was read: no tables and columns are made
        readonly List<Table> tables = new List<Table>(); // by class, then label
        readonly Scratch scratch = new Scratch();

        public IReadOnlyList<Table> Tables { get { return tables; } }

        /// <summary>The table of that class and label, made if there is none. Keys have one part or two. In a world
        /// that was read nothing is made: a missing table is a RefusedException.</summary>
        public Table Table(TableClass kind, string label, int keyParts = 1)
        {
            Table found = Find(kind, label);
            if (Whole && (found == null || found.KeyParts != keyParts))
                throw new RefusedException("the state has no " + kind + " \"" + label + "\" with keys of " + keyParts + " parts");
            if (found != null)
            {
                if (found.KeyParts != keyParts) throw new ArgumentException(kind + " " + label + " has keys of " + found.KeyParts + " parts");
                return found;
            }
            if (keyParts != 1 && keyParts != 2) throw new ArgumentException("keys have one part or two");
            if (tables.Count == MaxTables) throw new InvalidOperationException("too many tables");
            var t = new Table(this, kind, label, keyParts);
            int at = tables.Count;
            while (at > 0 && Desynctool.Table.Order(t, tables[at - 1]) < 0) at--;
            tables.Insert(at, t);
            return t;
        }

        public Table Archetype(string label, int keyParts = 1) { return Table(TableClass.Archetype, label, keyParts); }
        public Table Cache(string label, int keyParts = 1) { return Table(TableClass.Cache, label, keyParts); }

        /// <summary>The table of that class and label, null if there is none.</summary>
        public Table Find(TableClass kind, string label)
        {
            foreach (Table t in tables) if (t.Class == kind && t.Label == label) return t;
            return null;
        }

        /// <summary>Takes the rows out of all tables and keeps the columns and the memory.</summary>
        public void Clear() { foreach (Table t in tables) t.Clear(); }

        /// <summary>The state hash: the Merkle root, 32 bytes.</summary>
        public byte[] StateHash()
        {
            if (Rng != null && Rng.Length > MaxRng) throw new InvalidOperationException("RNG state of " + Rng.Length + " bytes, at most " + MaxRng);
            Bytes level = scratch.Nodes;
            level.Clear();
            if (Rng != null)
            {
                Bytes leaf = scratch.Preimage;
                leaf.Clear();
                leaf.U8(1); leaf.U32((uint)Rng.Length); leaf.U32(0); leaf.Raw(Rng); leaf.Pad(Rng.Length);
                scratch.Hash(leaf, level.Grow(Sha256.Size));
            }
            foreach (Table t in tables)
            {
                t.Seal(scratch);
                if (t.Class == TableClass.Archetype) level.Raw(t.Leaf);
            }
            if (level.Length == 0) scratch.Sha.Hash(level.Array, 0, 0, level.Array, level.Grow(Sha256.Size));
            for (int n = level.Length / Sha256.Size; n > 1; n = (n + 1) / 2) // the level below becomes the one above
            {
                for (int i = 0; i + 1 < n; i += 2)
                    scratch.Sha.Hash(level.Array, i * Sha256.Size, 2 * Sha256.Size, level.Array, i / 2 * Sha256.Size);
                if (n % 2 == 1) Buffer.BlockCopy(level.Array, (n - 1) * Sha256.Size, level.Array, n / 2 * Sha256.Size, Sha256.Size);
            }
            return level.Copy(0, Sha256.Size);
        }

        /// <summary>The sync hash: the first 8 bytes of the state hash.</summary>
        public byte[] SyncHash() { return Short(StateHash()); }

        internal static byte[] Short(byte[] hash)
        {
            var b = new byte[8];
            Buffer.BlockCopy(hash, 0, b, 0, b.Length);
            return b;
        }

        /// <summary>The leaves of the tree with their hashes: the RNG under the empty label, if there is one, then each archetype.</summary>
        public List<KeyValuePair<string, byte[]>> Leaves()
        {
            StateHash();
            var leaves = new List<KeyValuePair<string, byte[]>>();
            if (Rng != null) leaves.Add(new KeyValuePair<string, byte[]>("", new World { Rng = Rng }.StateHash())); // the root of one leaf is the leaf
            foreach (Table t in tables)
                if (t.Class == TableClass.Archetype) leaves.Add(new KeyValuePair<string, byte[]>(t.Label, (byte[])t.Leaf.Clone()));
            return leaves;
        }

        /// <summary>The bytes of a .snap that holds of this state only the RNG and one archetype.</summary>
        public byte[] EncodeArchetype(string label)
        {
            Table t = Find(TableClass.Archetype, label);
            if (t == null) throw new ArgumentException("there is no archetype " + label);
            var part = new World { Seed = Seed, Tick = Tick, Phase = Phase, Native = Native, Peer = Peer, Rng = Rng };
            part.tables.Add(t);
            return part.Encode();
        }

        public string FileName { get { return "desync_" + Seed.ToString("x16") + "_" + Tick.ToString("d10") + ".snap"; } }

        /// <summary>Writes desync_SEED_TICK.snap into a folder and returns its path, which never holds half a snapshot.</summary>
        public string WriteFile(string folder)
        {
            return WholeFile.Write(folder, FileName, Encode());
        }

        /// <summary>The bytes of a .snap, not compressed.</summary>
        public byte[] Encode()
        {
            var file = new Bytes();
            EncodeTo(file);
            return file.Copy(0, file.Length);
        }

        internal void EncodeTo(Bytes file)
        {
            byte[] root = StateHash();
            int from = file.Length;
            var places = new uint[tables.Count * 2]; // offset and length of each index
            var header = new Bytes();
            EncodeHeader(header, root, places); // its length does not depend on the numbers in it
            if (header.Length > MaxHeader) throw new InvalidOperationException("the header is too large");
            file.Grow(PreambleSize + header.Length);
            for (int i = 0; i < tables.Count; i++) tables[i].Encode(file, from, out places[2 * i], out places[2 * i + 1]);
            file.Raw(EndMarker);

            int length = file.Length - from;
            header.Clear();
            EncodeHeader(header, root, places);
            var pre = new Bytes();
            pre.Raw(Magic);
            pre.U16(1); pre.U16(0); pre.U32((uint)header.Length); pre.U32(Crc32C.Of(header.Array, 0, header.Length)); pre.U64((ulong)length);
            pre.U32(Crc32C.Of(pre.Array, 0, pre.Length));
            Buffer.BlockCopy(pre.Array, 0, file.Array, from, pre.Length);
            Buffer.BlockCopy(header.Array, 0, file.Array, from + PreambleSize, header.Length);
        }

        void EncodeHeader(Bytes o, byte[] root, uint[] places)
        {
            if (Phase != "" && Phase != "after-orders") throw new InvalidOperationException("phase \"" + Phase + "\"");
            if (History != null && History.Length != Sha256.Size) throw new InvalidOperationException("a history hash has 32 bytes");
            if (Properties.Count > MaxProperties) throw new InvalidOperationException("too many properties");
            o.ArrayHead(11);
            o.WideU64(Seed);
            o.WideU64(Tick);
            o.Str(Phase);
            o.Str(Native);
            o.Str(Peer);
            o.WideU32(Epoch);
            if (Rng == null) o.Nil(); else o.Bin(Rng);
            if (History == null) o.Nil(); else o.Bin(History);
            o.Bin(root);
            o.MapHead(Properties.Count);
            foreach (KeyValuePair<string, string> p in Properties) { o.Str(p.Key); o.Str(p.Value); }
            o.ArrayHead(tables.Count);
            for (int i = 0; i < tables.Count; i++)
            {
                Table t = tables[i];
                o.ArrayHead(7);
                o.WideU8((byte)t.Class);
                o.Str(t.Label);
                o.WideU64((ulong)t.Rows);
                o.WideU8((byte)t.KeyParts);
                o.Bin(t.Leaf);
                o.WideU64(places[2 * i]);
                o.WideU32(places[2 * i + 1]);
            }
        }

        /// <summary>Reads a .snap without compressed cells and checks it whole, up to the state hash.
        /// InvalidDataException: damaged, compressed, or of another version.</summary>
        public static World Decode(byte[] file)
        {
            try { return DecodeAll(file); }
            catch (ArgumentException e) { throw new InvalidDataException(e.Message, e); } // a name that is too long
            catch (InvalidOperationException e) { throw new InvalidDataException(e.Message, e); } // too much of something
        }

        static World DecodeAll(byte[] file)
        {
            var r = new Reader(file, 0, file.Length);
            for (int i = 0; i < Magic.Length; i++) if (i >= file.Length || file[i] != Magic[i]) throw new InvalidDataException("not a .snap");
            if (file.Length < PreambleSize) throw new InvalidDataException("torn in the preamble");
            if (r.U32At(28) != Crc32C.Of(file, 0, 28)) throw new InvalidDataException("the preamble fails its checksum");
            if (r.U32At(8) != 1) throw new InvalidDataException("not version 1, or flags that are not known");
            ulong length = r.U64At(20);
            if (length != (ulong)file.Length) throw new InvalidDataException(file.Length + " bytes of a file of " + length);
            uint headerLength = r.U32At(12);
            if (headerLength > MaxHeader || headerLength > file.Length - PreambleSize) throw new InvalidDataException("a header of " + headerLength + " bytes");
            if (r.U32At(16) != Crc32C.Of(file, PreambleSize, (int)headerLength)) throw new InvalidDataException("the header fails its checksum");
            int at = PreambleSize + (int)headerLength, end = file.Length - EndMarker.Length; // where cells begin; after the last index
            if (end < at || !Bytes.Equal(file, end, EndMarker, 0, EndMarker.Length)) throw new InvalidDataException("it has no end");

            r = new Reader(file, PreambleSize, PreambleSize + (int)headerLength);
            r.Scan();
            var w = new World();
            r.Tuple(11, "header");
            w.Seed = r.UInt("seed");
            w.Tick = r.UInt("tick");
            w.Phase = r.Str("phase");
            w.Native = r.Str("native name", Utf8.MaxName);
            w.Peer = r.Str("peer", Utf8.MaxName);
            w.Epoch = r.U32("epoch");
            w.Rng = r.TakeNil() ? null : r.Bin("RNG state", MaxRng);
            w.History = r.TakeNil() ? null : r.Hash("history hash");
            byte[] root = r.Hash("root");
            string last = null;
            for (int n = r.MapHead("properties", MaxProperties); n > 0; n--)
            {
                string key = r.Str("property", Utf8.MaxName);
                if (last != null && Utf8.Order.Compare(last, key) >= 0) throw new InvalidDataException("properties do not ascend");
                w.Properties[last = key] = r.Str("property");
            }
            if (w.Phase != "" && w.Phase != "after-orders") throw new InvalidDataException("there is no phase \"" + w.Phase + "\"");
            var same = new List<Func<bool>>(); // whether what was read has the hashes that the file names
            for (int n = r.ArrayHead("tables"); n > 0; n--)
            {
                r.Tuple(7, "table");
                ulong kind = r.UInt("class"), parts, offset;
                string label = r.Str("label");
                ulong rows = r.UInt("rows");
                parts = r.UInt("parts of keys");
                byte[] leaf = r.Hash("leaf");
                offset = r.UInt("offset of the index");
                uint size = r.U32("length of the index");
                if (kind > 2 || parts < 1 || parts > 2 || w.tables.Count == MaxTables) throw new InvalidDataException("table \"" + label + "\" is malformed");
                if (size < 4 || offset < (ulong)at || offset > (ulong)end || size > (ulong)end - offset) throw new InvalidDataException("an index outside the file");
                var t = new Table(w, (TableClass)kind, label, (int)parts);
                if (w.tables.Count > 0 && Desynctool.Table.Order(t, w.tables[w.tables.Count - 1]) <= 0) throw new InvalidDataException("tables do not ascend");
                w.tables.Add(t);
                same.Add(() => Same(t.Leaf, leaf));
                same.Add(t.Decode(file, at, (int)offset, (int)size, rows));
                at = (int)offset + (int)size;
            }
            if (at != end) throw new InvalidDataException("something stands between the tables and the end");
            if (!Same(w.StateHash(), root) || !same.TrueForAll(holds => holds())) throw new InvalidDataException("the content does not give the hashes that the file names");
            w.Whole = true;
            return w;
        }

        internal static bool Same(byte[] a, byte[] b) { return a.Length == b.Length && Bytes.Equal(a, 0, b, 0, a.Length); }
    }

    /// <summary>What all tables of a world hash with.</summary>
    sealed class Scratch
    {
        public readonly Sha256 Sha = new Sha256();
        public readonly Bytes Nodes = new Bytes(), Preimage = new Bytes();
        public Bytes Cells = new Bytes(); // changes places with the cells of a column
        public List<int> Ends = new List<int>();

        public void Hash(Bytes preimage, int intoNodes) { Sha.Hash(preimage.Array, 0, preimage.Length, Nodes.Array, intoNodes); }
    }

    /// <summary>Rows with ascending keys, and columns. Begin a row with Row, then Set each column that has a
    /// value in it; the others are absent.</summary>
    public sealed class Table
    {
        const int MaxColumns = 65536, MaxBlock = 65536, MaxRows = 1 << 28;
        static readonly Comparison<Column> ByName = (a, b) =>
        {
            int c = Utf8.Compare(a.ComponentBytes, b.ComponentBytes);
            return c != 0 ? c : Utf8.Compare(a.FieldBytes, b.FieldBytes);
        };

        public readonly TableClass Class;
        public readonly string Label;
        public readonly int KeyParts;
        public int Rows { get; private set; }
        public IReadOnlyList<Column> Columns { get { return columns; } }
        internal readonly byte[] Leaf = new byte[Sha256.Size];

        readonly World world;
        readonly byte[] label;
        readonly List<Column> columns = new List<Column>(); // by component, then field
        int sealedColumns = -1; // how many the leaf is of
        internal bool Touched = true; // since it was sealed
        ulong[] first = new ulong[16], second = new ulong[0];
        readonly List<int> starts = new List<int>(); // of blocks, and after the last one
        readonly Cells keys = new Cells();

        internal Table(World world, TableClass kind, string label, int keyParts)
        {
            this.world = world;
            Class = kind; Label = label; KeyParts = keyParts;
            this.label = Utf8.Name(label, "label");
            if (keyParts == 2) second = new ulong[16];
        }

        internal static int Order(Table a, Table b) { return a.Class != b.Class ? a.Class.CompareTo(b.Class) : Utf8.Compare(a.label, b.label); }

        /// <summary>The column of that name, made if there is none. Scale is for Fixed: the value is units / scale.</summary>
        public Column Column(string component, string field, ColumnType type, uint scale = 0)
        {
            Column have = Find(component, field);
            if (world.Whole && (have == null || have.Type != type || have.Scale != scale))
                throw new RefusedException("the state has no " + type + " " + Label + "." + component + "." + field);
            if (have != null)
            {
                if (have.Type != type || have.Scale != scale) throw new ArgumentException(Label + "." + component + "." + field + " has another type");
                return have;
            }
            if (type < ColumnType.Bool || type > ColumnType.Ref) throw new ArgumentException("no such type");
            if ((type == ColumnType.Fixed) != (scale != 0)) throw new ArgumentException("fixed columns have a scale, others have none");
            if (columns.Count == MaxColumns) throw new InvalidOperationException("too many columns");
            var c = new Column(this, component, field, type, scale);
            int at = columns.Count;
            while (at > 0 && ByName(c, columns[at - 1]) < 0) at--;
            columns.Insert(at, c);
            Touched = true;
            return c;
        }

        /// <summary>The column of that name, null if there is none.</summary>
        public Column Find(string component, string field)
        {
            foreach (Column c in columns) if (c.Component == component && c.Field == field) return c;
            return null;
        }

        /// <summary>Takes the rows out and keeps the columns and the memory: a game that knows which tables changed refills only them.</summary>
        public void Clear()
        {
            Rows = 0;
            Touched = true;
            foreach (Column c in columns) c.Clear();
        }

        /// <summary>Begins a row. Keys strictly ascend.</summary>
        public void Row(ulong key)
        {
            if (KeyParts != 1) throw new InvalidOperationException(Label + " has keys of two parts");
            if (Rows > 0 && key <= first[Rows - 1]) throw new InvalidOperationException(Label + ": key " + key + " does not follow " + first[Rows - 1]);
            Append(key, 0);
        }

        /// <summary>Begins a row with a key of two parts; the first counts more.</summary>
        public void Row(ulong key, ulong second)
        {
            if (KeyParts != 2) throw new InvalidOperationException(Label + " has keys of one part");
            if (Rows > 0 && (key < first[Rows - 1] || key == first[Rows - 1] && second <= this.second[Rows - 1]))
                throw new InvalidOperationException(Label + ": key " + key + ":" + second + " does not follow " + first[Rows - 1] + ":" + this.second[Rows - 1]);
            Append(key, second);
        }

        void Append(ulong a, ulong b)
        {
            if (Rows == MaxRows) throw new InvalidOperationException("too many rows");
            if (Rows == first.Length)
            {
                Array.Resize(ref first, 2 * Rows);
                if (KeyParts == 2) Array.Resize(ref second, 2 * Rows);
            }
            first[Rows] = a;
            if (KeyParts == 2) second[Rows] = b;
            Rows++;
            Touched = true;
        }

        public ulong Key(int row) { return first[row]; }
        public ulong SecondKey(int row) { return second[row]; }

        static ulong Cut(ulong a, ulong b)
        {
            unchecked
            {
                ulong h = a * 0x9E3779B97F4A7C15 + b * 0xC2B2AE3D27D4EB4F;
                h ^= h >> 32;
                h *= 0xD6E8FEB86659FD93;
                return h ^ h >> 32;
            }
        }

        /// <summary>Cuts blocks and computes the digests and the leaf.</summary>
        internal void Seal(Scratch s)
        {
            if (!Touched) return;
            Touched = false;
            starts.Clear();
            for (int i = 0, at = 0; i < Rows; i++)
            {
                if (i != 0 && i - at != MaxBlock && Cut(first[i], KeyParts == 2 ? second[i] : 0) % 4096 != 0) continue;
                starts.Add(i);
                at = i;
            }
            int blocks = starts.Count;
            starts.Add(Rows);
            bool changed = false;
            s.Cells.Clear();
            s.Ends.Clear();
            for (int b = 0; b < blocks; b++)
            {
                int from = starts[b], to = starts[b + 1];
                s.Cells.U8(3); s.Cells.U8((byte)KeyParts); s.Cells.U16(0); s.Cells.U32((uint)(to - from));
                for (int i = from; i < to; i++) s.Cells.U64(first[i]);
                if (KeyParts == 2) for (int i = from; i < to; i++) s.Cells.U64(second[i]);
                s.Ends.Add(s.Cells.Length);
            }
            if (keys.Take(s))
            {
                changed = true;
                s.Preimage.Clear();
                s.Preimage.U8(5); s.Preimage.U8((byte)KeyParts); s.Preimage.U16(0);
                keys.DigestOf(s);
            }
            foreach (Column c in columns) changed |= c.Seal(s, starts);
            if (!changed && sealedColumns == columns.Count) return;
            sealedColumns = columns.Count;
            Bytes p = s.Preimage;
            p.Clear();
            p.U8(2); p.U32((uint)label.Length); p.U32((uint)(1 + columns.Count)); p.U64((ulong)Rows);
            p.Raw(label); p.Pad(label.Length);
            p.Raw(keys.Digest);
            foreach (Column c in columns) p.Raw(c.Cells.Digest);
            s.Sha.Hash(p.Array, 0, p.Length, Leaf, 0);
        }

        /// <summary>Appends the cells and the index of a sealed table to a file that begins at start.</summary>
        internal void Encode(Bytes file, int start, out uint offset, out uint length)
        {
            int firstCell = file.Length - start, blocks = starts.Count - 1;
            Bytes a = new Bytes(), b = new Bytes(), rows = new Bytes(), digests = new Bytes(), sizes = new Bytes(), codecs = new Bytes(), crcs = new Bytes();
            for (int i = 0; i < blocks; i++)
            {
                a.U64(first[starts[i]]);
                if (KeyParts == 2) b.U64(second[starts[i]]);
                rows.U32((uint)(starts[i + 1] - starts[i]));
                for (int k = -1; k < columns.Count; k++)
                {
                    Cells c = k < 0 ? keys : columns[k].Cells;
                    int from = c.Start(i), n = c.End(i) - from;
                    digests.Raw(c.Digests.Array, i * Sha256.Size, Sha256.Size);
                    sizes.U32((uint)n);
                    codecs.U8(0);
                    crcs.U32(Crc32C.Of(c.Content.Array, from, n));
                    file.Raw(c.Content.Array, from, n);
                }
            }
            offset = (uint)(file.Length - start);
            int index = file.Length;
            file.ArrayHead(4);
            file.WideU64((ulong)firstCell);
            file.Bin(keys.Digest);
            file.ArrayHead(columns.Count);
            foreach (Column c in columns)
            {
                file.ArrayHead(5);
                file.Str(c.ComponentBytes);
                file.Str(c.FieldBytes);
                file.WideU8((byte)c.Type);
                file.WideU32(c.Scale);
                file.Bin(c.Cells.Digest);
            }
            file.ArrayHead(8);
            foreach (Bytes bin in new[] { a, b, rows, digests, sizes, sizes, codecs, crcs }) file.Bin(bin); // canonical and stored sizes are the same
            file.U32(Crc32C.Of(file.Array, index, file.Length - index));
            length = (uint)(file.Length - index);
        }

        /// <summary>Reads a table. The result returns, once it is sealed, whether its digests match its
        /// index.</summary>
        internal Func<bool> Decode(byte[] file, int firstCell, int offset, int size, ulong rowCount)
        {
            string where = Class + " \"" + Label + "\": ";
            var r = new Reader(file, offset, offset + size - 4);
            if (r.U32At(offset + size - 4) != Crc32C.Of(file, offset, size - 4)) throw new InvalidDataException(where + "the index fails its checksum");
            r.Scan();
            r.Tuple(4, "index");
            if (r.UInt("offset of the first cell") != (ulong)firstCell) throw new InvalidDataException(where + "its cells are not where they have to be");
            ulong at = (ulong)firstCell;
            var wanted = new List<byte[]> { r.Hash("keys digest") };
            int n = r.ArrayHead("columns", MaxColumns);
            for (int i = 0; i < n; i++)
            {
                r.Tuple(5, "column");
                string component = r.Str("component"), field = r.Str("field");
                ulong type = r.UInt("type");
                uint scale = r.U32("scale");
                wanted.Add(r.Hash("column digest"));
                if (type < 1 || type > 15 || (type == (int)ColumnType.Fixed) != (scale != 0)) throw new InvalidDataException(where + "a column is malformed");
                columns.Add(new Column(this, component, field, (ColumnType)type, scale));
                if (i > 0 && ByName(columns[i - 1], columns[i]) >= 0) throw new InvalidDataException(where + "columns do not ascend");
            }
            r.Tuple(8, "blocks");
            var bins = new byte[8][];
            for (int i = 0; i < 8; i++) bins[i] = r.Bin("blocks", int.MaxValue);
            long blocks = bins[2].Length / 4, cells = blocks * (1 + n);
            long[] lengths = { blocks * 8, KeyParts == 2 ? blocks * 8 : 0, blocks * 4, cells * Sha256.Size, cells * 4, cells * 4, cells, cells * 4 };
            for (int i = 0; i < 8; i++) if (bins[i].Length != lengths[i]) throw new InvalidDataException(where + "the index does not fit together");
            for (int block = 0, cell = 0; block < blocks; block++)
            {
                int from = Rows;
                for (int k = -1; k < n; k++, cell++)
                {
                    uint stored = Reader.U32At(bins[5], cell * 4);
                    if (at > (ulong)offset || stored > (ulong)offset - at) throw new InvalidDataException(where + "a cell outside the file");
                    if (bins[6][cell] != 0) throw new InvalidDataException(where + "a cell is compressed, which this reader has no zstd for");
                    if (Crc32C.Of(file, (int)at, (int)stored) != Reader.U32At(bins[7], cell * 4)) throw new InvalidDataException(where + "a cell fails its checksum");
                    var c = new Reader(file, (int)at, (int)at + (int)stored);
                    if (k < 0) DecodeKeys(c, (int)Math.Min(Reader.U32At(bins[2], block * 4), int.MaxValue), where);
                    else columns[k].Decode(c, Rows - from, where);
                    at += stored;
                }
            }
            if (at != (ulong)offset) throw new InvalidDataException(where + "something stands between its cells and its index");
            if ((ulong)Rows != rowCount) throw new InvalidDataException(where + Rows + " rows, expected " + rowCount);
            return () => HasDigests(wanted, bins);
        }

        bool HasDigests(List<byte[]> wanted, byte[][] bins)
        {
            if (bins[2].Length != 4 * (starts.Count - 1)) return false; // blocks are cut elsewhere
            for (int b = 0; b + 1 < starts.Count; b++)
                if (Reader.U32At(bins[2], 4 * b) != (uint)(starts[b + 1] - starts[b])) return false;
            int parts = 1 + columns.Count;
            for (int k = 0; k < parts; k++)
            {
                Cells c = k == 0 ? keys : columns[k - 1].Cells;
                if (!World.Same(c.Digest, wanted[k])) return false;
                for (int b = 0; b + 1 < starts.Count; b++)
                    if (!Bytes.Equal(c.Digests.Array, b * Sha256.Size, bins[3], (b * parts + k) * Sha256.Size, Sha256.Size)) return false;
            }
            for (int b = 0; b + 1 < starts.Count; b++)
                if (Reader.U64Of(bins[0], 8 * b) != first[starts[b]] || KeyParts == 2 && Reader.U64Of(bins[1], 8 * b) != second[starts[b]]) return false;
            return true;
        }

        void DecodeKeys(Reader r, int n, string where)
        {
            if (r.Left != 8 + 8L * KeyParts * n || r.Byte() != 3 || r.Byte() != KeyParts || r.Little(2) != 0 || r.Little(4) != (ulong)n)
                throw new InvalidDataException(where + "a block of keys is malformed");
            int second = r.At + 8 * n;
            for (int i = 0; i < n; i++)
            {
                ulong a = r.Little(8), b = KeyParts == 2 ? r.U64At(second + 8 * i) : 0;
                if (Rows > 0 && (a < first[Rows - 1] || a == first[Rows - 1] && (KeyParts == 1 || b <= this.second[Rows - 1])))
                    throw new InvalidDataException(where + "keys do not ascend");
                Append(a, b);
            }
        }
    }

    /// <summary>The canonical bytes and digests of one column's blocks, as of the last hash.</summary>
    sealed class Cells
    {
        const int MaxCell = 256 << 20;

        public Bytes Content = new Bytes();
        public readonly Bytes Digests = new Bytes();
        public readonly byte[] Digest = new byte[Sha256.Size];
        List<int> ends; // null before the first hash

        public int Start(int block) { return block == 0 ? 0 : ends[block - 1]; }
        public int End(int block) { return ends[block]; }

        /// <summary>Takes over the cells in s and hashes those that changed; false if none did.</summary>
        public bool Take(Scratch s)
        {
            bool changed = ends == null || ends.Count != s.Ends.Count;
            if (Digests.Length < s.Ends.Count * Sha256.Size) Digests.Grow(s.Ends.Count * Sha256.Size - Digests.Length);
            for (int b = 0, from = 0; b < s.Ends.Count; b++)
            {
                int n = s.Ends[b] - from;
                if (n > MaxCell) throw new InvalidOperationException("a block of " + n + " bytes, at most " + MaxCell);
                bool same = ends != null && b < ends.Count && ends[b] - Start(b) == n && Bytes.Equal(Content.Array, Start(b), s.Cells.Array, from, n);
                if (!same)
                {
                    s.Sha.Hash(s.Cells.Array, from, n, Digests.Array, b * Sha256.Size);
                    changed = true;
                }
                from = s.Ends[b];
            }
            Bytes old = Content;
            List<int> oldEnds = ends ?? new List<int>();
            Content = s.Cells; ends = s.Ends;
            s.Cells = old; s.Ends = oldEnds;
            return changed;
        }

        /// <summary>Hashes the beginning of s.Preimage, the number of blocks, the rest, and the digests.</summary>
        public void DigestOf(Scratch s, byte[] component = null, byte[] field = null)
        {
            Bytes p = s.Preimage;
            p.U32((uint)ends.Count);
            if (component != null) { p.Raw(component); p.Raw(field); }
            p.Raw(Digests.Array, 0, ends.Count * Sha256.Size);
            s.Sha.Hash(p.Array, 0, p.Length, Digest, 0);
        }
    }

    /// <summary>One field of a component. Set gives the row that was begun last a value.</summary>
    public sealed class Column
    {
        public readonly string Component, Field;
        public readonly ColumnType Type;
        public readonly uint Scale;
        internal readonly byte[] ComponentBytes, FieldBytes;
        internal readonly Cells Cells = new Cells();

        readonly Table table;
        internal readonly int width; // 0 for strings and bytes
        internal readonly Bytes data = new Bytes(), present = new Bytes();
        internal readonly List<int> ends = new List<int>(); // of contents, where there is no width
        internal bool gaps; // there may be rows without a value

        static readonly int[] Widths = { 0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 0, 0, 8 };

        internal Column(Table table, string component, string field, ColumnType type, uint scale)
        {
            this.table = table;
            Component = component; Field = field; Type = type; Scale = scale;
            ComponentBytes = Utf8.Name(component, "component");
            FieldBytes = Utf8.Name(field, "field");
            width = Widths[(int)type];
        }

        internal void Clear() { data.Clear(); present.Clear(); ends.Clear(); gaps = false; }

        internal void Fill(int rows) // up to there with absent values
        {
            int n = rows - present.Length;
            if (n <= 0) return;
            gaps = true;
            present.Grow(n);
            if (width > 0) data.Grow(n * width); else for (; n > 0; n--) ends.Add(data.Length);
        }

        void Next(bool fits)
        {
            if (!fits) throw new ArgumentException(Component + "." + Field + " is " + Type + ", which does not hold such a value");
            if (table.Rows == 0) throw new InvalidOperationException("a value before the first row");
            if (present.Length == table.Rows) throw new InvalidOperationException(Component + "." + Field + " is set twice in a row");
            Fill(table.Rows - 1);
            present.U8(1);
            table.Touched = true;
        }

        void Put(ulong bits) { for (int i = 0; i < width; i++) data.U8((byte)(bits >> 8 * i)); }

        internal void SetBits(ulong bits) { Next(width > 0); Put(bits); }

        public void Set(bool v) { Next(Type == ColumnType.Bool); Put(v ? 1u : 0u); }

        /// <summary>For integers, references, and fixed in units of 1/scale.</summary>
        public void Set(long v)
        {
            bool signed = Type >= ColumnType.I8 && Type <= ColumnType.I64 || Type == ColumnType.Fixed;
            bool unsigned = Type >= ColumnType.U8 && Type <= ColumnType.U64 || Type == ColumnType.Ref;
            int spare = 64 - 8 * width;
            Next(signed && v << spare >> spare == v || unsigned && v >= 0 && (long)((ulong)v << spare >> spare) == v);
            Put((ulong)v);
        }

        public void Set(ulong v)
        {
            if (v <= long.MaxValue) { Set((long)v); return; }
            Next(Type == ColumnType.U64 || Type == ColumnType.Ref);
            Put(v);
        }

        public void Set(float v) { Next(Type == ColumnType.F32); Put(new FloatBits { Value = v }.Bits); }
        public void Set(double v) { Next(Type == ColumnType.F64); Put((ulong)BitConverter.DoubleToInt64Bits(v)); }
        public void Set(string v) { Set(Utf8.Strict.GetBytes(v)); }

        /// <summary>For bytes, and for strings that are not known to be UTF-8.</summary>
        public void Set(byte[] v)
        {
            Next(width == 0);
            data.Raw(v);
            ends.Add(data.Length);
        }

        public bool Has(int row) { return row < present.Length && present.Array[row] != 0; }

        /// <summary>The bits of a value of fixed width, 0 where it is absent.</summary>
        public ulong UInt(int row) { return row < present.Length && width > 0 ? new Reader(data.Array, row * width, row * width + width).Little(width) : 0; }

        /// <summary>An integer, or fixed in units of 1/scale; 0 where it is absent.</summary>
        public long Int(int row)
        {
            int spare = Type >= ColumnType.I8 && Type <= ColumnType.I64 ? 64 - 8 * width : 0;
            return (long)UInt(row) << spare >> spare;
        }

        public bool Bool(int row) { return UInt(row) != 0; }

        public double Float(int row)
        {
            ulong bits = UInt(row);
            return Type == ColumnType.F32 ? new FloatBits { Bits = (uint)bits }.Value : BitConverter.Int64BitsToDouble((long)bits);
        }

        /// <summary>The content of a string or bytes, empty where it is absent.</summary>
        public byte[] Raw(int row)
        {
            if (row >= ends.Count) return new byte[0];
            int from = row == 0 ? 0 : ends[row - 1];
            return data.Copy(from, ends[row] - from);
        }

        public string Text(int row) { return Utf8.Lenient.GetString(Raw(row)); }

        internal bool Seal(Scratch s, List<int> starts)
        {
            Fill(table.Rows);
            Bytes o = s.Cells;
            o.Clear();
            s.Ends.Clear();
            for (int b = 0; b + 1 < starts.Count; b++)
            {
                int from = starts[b], to = starts[b + 1], i = from;
                while (i < to && present.Array[i] != 0) i++;
                bool absent = i < to;
                o.U8(4); o.U8(absent ? (byte)1 : (byte)0); o.U16(0); o.U32((uint)(to - from));
                if (absent)
                {
                    int map = o.Grow((to - from + 7) / 8);
                    for (i = from; i < to; i++) if (present.Array[i] != 0) o.Array[map + (i - from) / 8] |= (byte)(1 << (i - from) % 8);
                }
                if (width > 0) o.Raw(data.Array, from * width, (to - from) * width);
                else
                {
                    int begin = from == 0 ? 0 : ends[from - 1];
                    for (int at = begin, row = from; row < to; at = ends[row++]) o.U32((uint)(ends[row] - at));
                    o.Raw(data.Array, begin, ends[to - 1] - begin);
                }
                s.Ends.Add(o.Length);
            }
            if (!Cells.Take(s)) return false;
            Bytes p = s.Preimage;
            p.Clear();
            p.U8(6); p.U8((byte)Type); p.U16(0); p.U32(Scale); p.U32((uint)ComponentBytes.Length); p.U32((uint)FieldBytes.Length);
            Cells.DigestOf(s, ComponentBytes, FieldBytes);
            return true;
        }

        internal void Decode(Reader r, int rows, string where)
        {
            Exception bad = new InvalidDataException(where + "a block of " + Component + "." + Field + " is malformed");
            if (r.Left < 8 || r.Byte() != 4) throw bad;
            int bitmap = r.Byte();
            if (bitmap > 1 || r.Little(2) != 0 || r.Little(4) != (ulong)rows) throw bad;
            int map = r.At, mapped = bitmap == 1 ? (rows + 7) / 8 : 0;
            long fixedLength = mapped + (width > 0 ? width : 4) * (long)rows;
            if (r.Left < fixedLength || width > 0 && r.Left != fixedLength) throw bad;
            gaps |= bitmap != 0;
            for (int i = 0; i < rows; i++) present.U8(bitmap == 0 ? (byte)1 : (byte)(r.ByteAt(map + i / 8) >> i % 8 & 1));
            if (mapped > 0 && rows % 8 != 0 && r.ByteAt(map + mapped - 1) >> rows % 8 != 0) throw bad;
            r.At += mapped;
            int from = present.Length - rows;
            if (width > 0)
            {
                for (int i = 0; i < rows; i++)
                {
                    ulong most = present.Array[from + i] == 0 ? 0 : Type == ColumnType.Bool ? 1 : ulong.MaxValue;
                    if (r.Little(width) > most) throw bad;
                }
                data.Raw(r.Array, r.At - rows * width, rows * width);
                return;
            }
            long total = 0;
            for (int i = 0; i < rows; i++)
            {
                uint n = (uint)r.Little(4);
                total += n;
                if (total > r.Left || n > 0 && present.Array[from + i] == 0) throw bad;
                ends.Add(data.Length + (int)total);
            }
            if (total != r.Left) throw bad;
            data.Raw(r.Array, r.At, (int)total);
        }
    }

    // ---- sessions, order logs, traces ----

    public struct OrderKind
    {
        public string Name;
        /// <summary>Local orders, such as chat, need not be the same on all peers.</summary>
        public bool Local;
        public OrderKind(string name, bool local = false) { Name = name; Local = local; }
    }

    /// <summary>An order as it was applied. Kinds go by their names: another build may number them differently.</summary>
    public struct Order
    {
        /// <summary>Microseconds from the start of the tick.</summary>
        public uint SubTick;
        public uint Player, Sequence;
        /// <summary>Empty if the session has no such kind.</summary>
        public string Kind;
        public byte[] Payload;
    }

    /// <summary>What a session begins with: the header of an order log.</summary>
    public sealed class Session
    {
        internal const int MaxNames = 65536, MaxText = 65536, MaxPayload = 4 << 20;

        public ulong Seed;
        public string Peer = "", Build = "";
        /// <summary>Ticks per second, as numerator and denominator; both 0 if not known.</summary>
        public uint RateNumerator, RateDenominator;
        /// <summary>State hash at the first point, all zero if not known.</summary>
        public byte[] Start = new byte[Sha256.Size];
        /// <summary>0, or the state point at which a peer joined.</summary>
        public ulong FirstPoint;
        public uint Epoch;
        public readonly List<OrderKind> Kinds = new List<OrderKind>();
        public readonly List<string> Peers = new List<string>();
        /// <summary>What a simulator needs next to the seed, such as the map.</summary>
        public readonly SortedDictionary<string, string> Parameters = new SortedDictionary<string, string>(Utf8.Order);
        /// <summary>What is known of this peer's machine and game: os, cpu, compiler, locale, mods, data_hash. A Recorder writes
        /// them into snapshots. They are not in the header: its parameters are the same on all peers.</summary>
        public readonly SortedDictionary<string, string> Facts = new SortedDictionary<string, string>(Utf8.Order);

        internal int KindOf(string name)
        {
            for (int i = 0; i < Kinds.Count; i++) if (Kinds[i].Name == name) return i;
            throw new ArgumentException("the session has no orders of the kind \"" + name + "\"");
        }

        internal void Write(Bytes o)
        {
            if (Start.Length != Sha256.Size) throw new ArgumentException("a state hash has 32 bytes");
            if ((RateNumerator == 0) != (RateDenominator == 0)) throw new ArgumentException("half a tick rate");
            o.ArrayHead(10);
            o.UInt(Seed);
            o.Str(Peer);
            o.Str(Build);
            o.ArrayHead(2); o.UInt(RateNumerator); o.UInt(RateDenominator);
            o.Bin(Start);
            o.UInt(FirstPoint);
            o.UInt(Epoch);
            o.ArrayHead(Kinds.Count);
            foreach (OrderKind k in Kinds) { o.ArrayHead(2); o.Str(k.Name); o.Bool(k.Local); }
            o.ArrayHead(Peers.Count);
            foreach (string p in Peers) o.Str(p);
            WriteParameters(o);
        }

        internal void WriteParameters(Bytes o)
        {
            o.ArrayHead(Parameters.Count);
            foreach (KeyValuePair<string, string> p in Parameters) { o.ArrayHead(2); o.Str(p.Key); o.Str(p.Value); }
        }

        internal static Session Read(Reader r)
        {
            var s = new Session();
            r.Tuple(10, "header");
            s.Seed = r.UInt("seed");
            s.Peer = r.Str("peer");
            s.Build = r.Str("build");
            r.Tuple(2, "tick rate");
            s.RateNumerator = r.U32("tick rate");
            s.RateDenominator = r.U32("tick rate");
            s.Start = r.Hash("start");
            s.FirstPoint = r.UInt("first point");
            s.Epoch = r.U32("epoch");
            for (int n = r.ArrayHead("order kinds", MaxNames); n > 0; n--)
            {
                r.Tuple(2, "order kind");
                string name = r.Str("order kind");
                s.Kinds.Add(new OrderKind(name, r.Bool("local")));
            }
            for (int n = r.ArrayHead("peers", MaxNames); n > 0; n--) s.Peers.Add(r.Str("peer"));
            for (int n = r.ArrayHead("parameters", MaxNames); n > 0; n--)
            {
                r.Tuple(2, "parameter");
                string key = r.Str("parameter");
                s.Parameters[key] = r.Str("parameter");
            }
            return s;
        }

        internal Order ReadOrder(Reader r)
        {
            r.Tuple(5, "order");
            var o = new Order { SubTick = r.U32("sub tick"), Player = r.U32("player"), Sequence = r.U32("sequence") };
            uint kind = r.U32("kind");
            o.Kind = kind < Kinds.Count ? Kinds[(int)kind].Name : "";
            o.Payload = r.Bin("payload", MaxPayload);
            return o;
        }

        internal Order[] ReadOrders(Reader r)
        {
            const int least = 7; // bytes of an order
            var list = new Order[r.ArrayHead("orders", r.Left / least)];
            for (int i = 0; i < list.Length; i++) list[i] = ReadOrder(r);
            return list;
        }
    }

    public enum MarkerKind : byte { Join = 1, Leave, Removal, Reconnect, Save, Load, Resync, FailedOrder }

    /// <summary>An event before the orders of a tick.</summary>
    public sealed class Marker
    {
        public MarkerKind Kind;
        public uint Player, Peer, Sequence;
        /// <summary>State point of the event, or of the state that was loaded.</summary>
        public ulong Point;
        /// <summary>The state of this log's own peer was replaced.</summary>
        public bool NewEpoch;
        /// <summary>With NewEpoch: the history hash of the state that was loaded, null if not known.</summary>
        public byte[] History;
        public string Text = "";
    }

    /// <summary>A file of checksummed frames. Each frame is one write, so that a crash loses none that was written.</summary>
    sealed class Frames : IDisposable
    {
        const int Head = 16, MaxPayload = 16 << 20;

        readonly Stream file;
        readonly Bytes frame = new Bytes();
        ulong written;
        bool ended;

        public Frames(Stream file, byte[] magic)
        {
            this.file = file;
            frame.Raw(magic);
            frame.U16(1); frame.U16(0);
            frame.U32(Crc32C.Of(frame.Array, 0, frame.Length));
            Flush();
        }

        public static Stream Create(string path) { return new FileStream(path, FileMode.Create, FileAccess.Write, FileShare.Read, 1); }

        public Bytes Begin()
        {
            if (ended) throw new ObjectDisposedException("the file is closed");
            frame.Clear();
            frame.Grow(Head);
            return frame;
        }

        public void End(uint kind)
        {
            int n = frame.Length - Head;
            if (n > MaxPayload) throw new ArgumentException("a frame of " + n + " bytes, at most " + MaxPayload);
            frame.PutU32(0, (uint)n);
            frame.PutU32(4, kind);
            frame.PutU32(8, Crc32C.Of(frame.Array, Head, n));
            frame.PutU32(12, Crc32C.Of(frame.Array, 0, 12));
            Flush();
            written++;
        }

        void Flush()
        {
            file.Write(frame.Array, 0, frame.Length);
            file.Flush();
        }

        public void Sync()
        {
            var onDisk = file as FileStream;
            if (onDisk != null) onDisk.Flush(true);
        }

        public void Dispose()
        {
            if (ended) return;
            Begin().U64(written);
            End(0xffffffff);
            ended = true;
            file.Dispose();
        }
    }

    /// <summary>Writes an order log. For each tick: Observe the state before it, then write the Tick with its
    /// orders before they are played, so that orders that crash the game are in the log. Dispose ends it.</summary>
    public sealed class OrderLog : IDisposable
    {
        const uint HeaderFrame = 1, TickFrame = 2, ObservedFrame = 3;
        static readonly byte[] Magic = { 0x89, 0x44, 0x4f, 0x4c, 0x0d, 0x0a, 0x1a, 0x0a };

        /// <summary>State and history hashes are written for each point that this divides.</summary>
        public uint StateEvery = 30;

        readonly Session session;
        readonly Frames file;
        readonly uint peer;
        readonly Bytes hashes = new Bytes(), markers = new Bytes(), preimage = new Bytes();
        readonly Sha256 sha = new Sha256();
        int hashCount, markerCount;
        byte[] history;
        ulong? historyAt;
        bool historyLost;

        public OrderLog(string path, Session session) : this(Frames.Create(path), session) { }

        public OrderLog(Stream file, Session session)
        {
            this.session = session;
            peer = (uint)Math.Max(0, session.Peers.IndexOf(session.Peer));
            this.file = new Frames(file, Magic);
            session.Write(this.file.Begin());
            this.file.End(HeaderFrame);
        }

        /// <summary>History hash at the point observed last, null if points were left out.</summary>
        public byte[] History { get { return history == null ? null : (byte[])history.Clone(); } }

        /// <summary>Adds this peer's state hash at a point to the next frame, as sync, state and history hash. For the
        /// history hash each point has to be observed, one after the other.</summary>
        public void Observe(ulong point, byte[] stateHash)
        {
            if (stateHash.Length != Sha256.Size) throw new ArgumentException("a state hash has 32 bytes");
            byte[] sync = World.Short(stateHash);
            if (historyLost) history = null;
            else if (historyAt == null) history = Hash(null, stateHash);
            else if (point == historyAt + 1) history = Hash(history, sync);
            else if (point != historyAt) { history = null; historyLost = true; }
            historyAt = point;
            Observe(point, peer, "sync", "", sync);
            if (point % StateEvery != 0) return;
            Observe(point, peer, "state", "", stateHash);
            if (history != null) Observe(point, peer, "history", "", history);
        }

        byte[] Hash(byte[] before, byte[] hash)
        {
            preimage.Clear();
            if (before != null) preimage.Raw(before);
            preimage.Raw(hash);
            var into = new byte[Sha256.Size];
            sha.Hash(preimage.Array, 0, preimage.Length, into, 0);
            return into;
        }

        /// <summary>Adds any hash to the next frame: another peer's, of a kind of the engine's own, or of a part of the state.</summary>
        public void Observe(ulong point, uint peer, string kind, string coverage, byte[] hash)
        {
            if (hash.Length < 1 || hash.Length > 64) throw new ArgumentException("a hash has 1 to 64 bytes");
            hashes.ArrayHead(5);
            hashes.UInt(point);
            hashes.UInt(peer);
            hashes.Str(kind);
            hashes.Str(coverage);
            hashes.Bin(hash);
            hashCount++;
        }

        /// <summary>Adds an event to the next tick. An event that opens an epoch comes before the first state that is
        /// observed in it. Earlier states are written at once, as they belong to the epoch that ends.</summary>
        public void Mark(Marker m)
        {
            if (m.NewEpoch) Observed();
            markers.ArrayHead(8);
            markers.UInt((byte)m.Kind);
            markers.UInt(m.Player);
            markers.UInt(m.Peer);
            markers.UInt(m.Sequence);
            markers.UInt(m.Point);
            markers.Bool(m.NewEpoch);
            markers.Bin(m.NewEpoch && m.History != null ? m.History : new byte[0]);
            markers.Str(m.Text);
            markerCount++;
            if (!m.NewEpoch) return;
            history = m.History == null ? null : (byte[])m.History.Clone();
            historyAt = m.Point;
            historyLost = history == null;
        }

        /// <summary>Writes the frame of a tick, with what was observed and marked since the last one.</summary>
        public void Tick(ulong tick, IReadOnlyList<Order> orders)
        {
            byte[] input = InputHash(tick, orders);
            Bytes o = file.Begin();
            o.ArrayHead(5);
            o.UInt(tick);
            o.Bin(input);
            o.ArrayHead(orders.Count);
            for (int i = 0; i < orders.Count; i++)
            {
                Order order = orders[i];
                if (order.Payload.Length > Session.MaxPayload) throw new ArgumentException("a payload of " + order.Payload.Length + " bytes");
                o.ArrayHead(5);
                o.UInt(order.SubTick);
                o.UInt(order.Player);
                o.UInt(order.Sequence);
                o.UInt((uint)session.KindOf(order.Kind));
                o.Bin(order.Payload);
            }
            o.ArrayHead(hashCount);
            o.Raw(hashes);
            o.ArrayHead(markerCount);
            o.Raw(markers);
            file.End(TickFrame);
            hashes.Clear(); hashCount = 0;
            markers.Clear(); markerCount = 0;
        }

        /// <summary>The input hash: 8 bytes over the orders of a tick that are not local.</summary>
        public byte[] InputHash(ulong tick, IReadOnlyList<Order> orders)
        {
            preimage.Clear();
            uint n = 0;
            preimage.U32(0);
            for (int i = 0; i < orders.Count; i++)
            {
                Order o = orders[i];
                if (session.Kinds[session.KindOf(o.Kind)].Local) continue;
                n++;
                byte[] kind = Utf8.Strict.GetBytes(o.Kind);
                preimage.U64(tick); preimage.U32(o.SubTick); preimage.U32(o.Player); preimage.U32(o.Sequence);
                preimage.U32((uint)kind.Length); preimage.Raw(kind);
                preimage.U32((uint)o.Payload.Length); preimage.Raw(o.Payload);
            }
            preimage.PutU32(0, n);
            var into = new byte[Sha256.Size];
            sha.Hash(preimage.Array, 0, preimage.Length, into, 0);
            return World.Short(into);
        }

        /// <summary>Writes what was observed, without a tick that follows.</summary>
        void Observed()
        {
            if (hashCount == 0) return;
            Bytes o = file.Begin();
            o.ArrayHead(hashCount);
            o.Raw(hashes);
            file.End(ObservedFrame);
            hashes.Clear(); hashCount = 0;
        }

        /// <summary>Brings to the disk what was written, which then survives a loss of power. What survives a crash of the game is all
        /// that calls have written when they return. A Stream other than a file is left alone.</summary>
        public void Sync() { file.Sync(); }

        /// <summary>Writes what was observed after the last tick, and the end marker.</summary>
        public void Dispose()
        {
            Observed();
            file.Dispose();
        }
    }

    /// <summary>A named checksum; the main one's name is empty. It is bytes, or else text as the game prints it.</summary>
    public struct Sum
    {
        public string Name;
        public byte[] Value;
        public string Text;
        public Sum(string name, byte[] value) { Name = name; Value = value; Text = null; }
        public Sum(string name, string text) { Name = name; Value = null; Text = text; }

        /// <summary>A number as it is printed in hex.</summary>
        public Sum(string name, ulong value) : this(name, new byte[8])
        {
            for (int i = 0; i < 8; i++) Value[i] = (byte)(value >> 56 - 8 * i);
        }
    }

    public enum TraceEvent : byte { Save = 1, Restore, Resimulate, Input }

    /// <summary>What a trace of whole states has: the sync hash; the leaves before it; and before each leaf the digests of its columns.</summary>
    public enum TraceDetail { System, Archetype, Column }

    /// <summary>Writes a binary trace: checksums at checkpoints, in the order of execution. Dispose ends it.</summary>
    public sealed class Trace : IDisposable
    {
        const uint HeaderFrame = 1, NamesFrame = 2, CheckpointsFrame = 3, EventFrame = 4;
        const int FullFrame = 1 << 20;
        static readonly byte[] Magic = { 0x89, 0x44, 0x54, 0x52, 0x0d, 0x0a, 0x1a, 0x0a };

        readonly Frames file;
        readonly Dictionary<string, uint> names = new Dictionary<string, uint> { { "", 0 } };
        readonly Bytes fresh = new Bytes(), checkpoints = new Bytes();
        int freshCount, count;
        ulong tick;

        public Trace(string path, Session session) : this(Frames.Create(path), session) { }

        public Trace(Stream file, Session session)
        {
            this.file = new Frames(file, Magic);
            Bytes o = this.file.Begin();
            o.ArrayHead(5);
            o.ArrayHead(1); o.UInt(session.Seed);
            o.Str(session.Peer);
            o.Str(session.Build);
            o.ArrayHead(2); o.UInt(session.RateNumerator); o.UInt(session.RateDenominator);
            session.WriteParameters(o);
            this.file.End(HeaderFrame);
        }

        uint Name(string name)
        {
            uint n;
            if (names.TryGetValue(name, out n)) return n;
            n = (uint)names.Count;
            names.Add(name, n);
            fresh.Str(name);
            freshCount++;
            return n;
        }

        void Sums(Bytes o, Sum[] sums)
        {
            o.ArrayHead(sums.Length);
            foreach (Sum s in sums) { o.ArrayHead(2); o.UInt(Name(s.Name ?? "")); if (s.Text == null) o.Bin(s.Value); else o.Str(s.Text); }
        }

        public void Checkpoint(ulong tick, string system, string scope, byte[] sum) { Checkpoint(tick, system, scope, false, null, new Sum("", sum)); }

        /// <summary>The state's checksums after a system. Scope is what the sums cover, empty for all; predicted is set
        /// if inputs of the tick were guessed; count is the number of entities, if it is known.</summary>
        public void Checkpoint(ulong tick, string system, string scope, bool predicted, ulong? count, params Sum[] sums)
        {
            if (this.count > 0 && (tick != this.tick || checkpoints.Length >= FullFrame)) Flush();
            this.tick = tick;
            checkpoints.ArrayHead(count == null ? 4 : 5);
            checkpoints.UInt(Name(system));
            checkpoints.UInt(Name(scope));
            checkpoints.UInt(predicted ? 1u : 0u);
            Sums(checkpoints, sums);
            if (count != null) checkpoints.UInt(count.Value);
            this.count++;
        }

        /// <summary>The state after a system, in as much detail as is wanted.</summary>
        public void Checkpoint(ulong tick, string system, World w, TraceDetail detail)
        {
            byte[] sync = w.SyncHash();
            if (detail >= TraceDetail.Archetype)
                foreach (KeyValuePair<string, byte[]> leaf in w.Leaves())
                {
                    if (detail == TraceDetail.Column && leaf.Key != "")
                        foreach (Column c in w.Find(TableClass.Archetype, leaf.Key).Columns)
                            Checkpoint(tick, system, leaf.Key + "/" + c.Component + "." + c.Field, World.Short(c.Cells.Digest));
                    Checkpoint(tick, system, leaf.Key == "" ? "RNG" : leaf.Key, World.Short(leaf.Value));
                }
            Checkpoint(tick, system, "", sync);
        }

        /// <summary>What a rollback did. Other is the tick at which a state was restored, or the last tick that is
        /// simulated again; player and predicted are for inputs.</summary>
        public void Event(TraceEvent kind, ulong tick, ulong other, uint player, bool predicted, params Sum[] sums)
        {
            Flush();
            var body = new Bytes();
            Sums(body, sums);
            Names();
            Bytes o = file.Begin();
            o.ArrayHead(6);
            o.UInt((byte)kind);
            o.UInt(tick);
            o.UInt(other);
            o.UInt(player);
            o.UInt(predicted ? 1u : 0u);
            o.Raw(body);
            file.End(EventFrame);
        }

        void Names()
        {
            if (freshCount == 0) return;
            Bytes o = file.Begin();
            o.ArrayHead(freshCount);
            o.Raw(fresh);
            file.End(NamesFrame);
            fresh.Clear();
            freshCount = 0;
        }

        /// <summary>Writes the checkpoints that are not written yet, which otherwise wait for the end of their tick.</summary>
        public void Flush()
        {
            if (count == 0) return;
            Names();
            Bytes o = file.Begin();
            o.ArrayHead(2);
            o.UInt(tick);
            o.ArrayHead(count);
            o.Raw(checkpoints);
            file.End(CheckpointsFrame);
            checkpoints.Clear();
            count = 0;
        }

        /// <summary>Flush, and brings it to the disk.</summary>
        public void Sync() { Flush(); file.Sync(); }

        public void Dispose()
        {
            Flush();
            file.Dispose();
        }
    }

    // ---- all that a peer leaves ----

    /// <summary>Files that are written whole or not at all: until one is on the disk its name begins with a full stop.</summary>
    static class WholeFile
    {
        public static string Write(string folder, string name, byte[] data)
        {
            string path = Path.Combine(folder, name), unfinished = Path.Combine(folder, "." + name);
            try
            {
                using (var f = new FileStream(unfinished, FileMode.Create, FileAccess.Write))
                {
                    f.Write(data, 0, data.Length);
                    f.Flush(true);
                }
                if (File.Exists(path)) File.Replace(unfinished, path, null);
                else File.Move(unfinished, path);
            }
            catch
            {
                File.Delete(unfinished);
                throw;
            }
            return path;
        }

        /// <summary>Removes the file that a game was writing into a folder when it crashed.</summary>
        public static void Tidy(string folder)
        {
            foreach (string path in Directory.GetFiles(folder))
                if (Path.GetFileName(path).StartsWith(".desync_", StringComparison.Ordinal)) File.Delete(path);
        }
    }

    /// <summary>What a peer writes down when it learns that its state differs from the other peers' states:
    /// docs/peer-report.md.</summary>
    public sealed class PeerReport
    {
        /// <summary>The state, with its seed, point and peer.</summary>
        public World State;
        /// <summary>Number of the player, -1 if the peer plays none.</summary>
        public int Player = -1;
        /// <summary>diverged, in-sync or inconclusive.</summary>
        public string Status = "diverged";
        public readonly List<string> Warnings = new List<string>();
        /// <summary>The archetypes that are included with their content: the archetypes that differ from others, if
        /// that is known.</summary>
        public readonly List<string> Archetypes = new List<string>();
        /// <summary>The first and the last tick with all orders in the excerpt; without one null.</summary>
        public ulong? From, To;
        readonly StringBuilder orders = new StringBuilder();

        public string FileName { get { return "desync_report_" + State.Seed.ToString("x16") + "_" + State.Tick.ToString("d10") + ".json"; } }

        /// <summary>Adds an order to the excerpt.</summary>
        public void Add(ulong tick, Order o, bool local)
        {
            orders.Append(orders.Length == 0 ? "" : ",").Append("\n  {\"tick\":").Append(tick).Append(",\"sub_tick_time\":").Append(o.SubTick);
            orders.Append(",\"player\":").Append(o.Player).Append(",\"sequence\":").Append(o.Sequence).Append(",\"kind\":").Append(Quoted(o.Kind));
            orders.Append(",\"payload\":\"").Append(Hex(o.Payload)).Append(local ? "\",\"local\":true}" : "\"}");
        }

        public string Json()
        {
            var nodes = new List<string>();
            var worlds = new List<string>();
            foreach (KeyValuePair<string, byte[]> leaf in State.Leaves()) nodes.Add("\n  [" + Quoted(leaf.Key) + ",\"" + Hex(leaf.Value) + "\"]");
            foreach (string label in Archetypes)
                worlds.Add("\n  {\"label\":" + Quoted(label) + ",\"world\":\"" + Convert.ToBase64String(State.EncodeArchetype(label)) + "\"}");
            var o = new StringBuilder("{\"schema\":\"desynctool.peer-report/1\",\n\"status\":");
            o.Append(Quoted(Status)).Append(",\n\"warnings\":[").Append(string.Join(",", Warnings.ConvertAll(Quoted).ToArray()));
            o.Append("],\n\"seed\":\"").Append(State.Seed.ToString("x16")).Append("\",\n\"player\":").Append(Player);
            o.Append(",\n\"peer\":").Append(Quoted(State.Peer)).Append(",\n\"tick\":").Append(State.Tick).Append(",\n\"phase\":").Append(Quoted(State.Phase));
            o.Append(",\n\"state_hash\":\"").Append(Hex(State.StateHash())).Append("\",\n\"rng_state\":\"").Append(Hex(State.Rng ?? new byte[0]));
            o.Append("\",\n\"merkle_nodes\":[").Append(string.Join(",", nodes.ToArray()));
            o.Append("],\n\"diverged_archetypes\":[").Append(string.Join(",", worlds.ToArray())).Append("],\n");
            if (From != null && To != null) o.Append("\"order_log_window\":{\"from\":").Append(From).Append(",\"to\":").Append(To).Append("},\n");
            return o.Append("\"order_log_excerpt\":[").Append(orders).Append("]}\n").ToString();
        }

        /// <summary>Writes desync_report_SEED_TICK.json into a folder and returns its path.</summary>
        public string WriteFile(string folder)
        {
            return WholeFile.Write(folder, FileName, Utf8.Strict.GetBytes(Json()));
        }

        static string Hex(byte[] b)
        {
            var o = new StringBuilder(2 * b.Length);
            foreach (byte v in b) o.Append(v.ToString("x2"));
            return o.ToString();
        }

        static string Quoted(string s)
        {
            var o = new StringBuilder("\"");
            foreach (char c in s)
                if (c == '"' || c == '\\') o.Append('\\').Append(c);
                else if (c < ' ') o.Append("\\u").Append(((int)c).ToString("x4"));
                else o.Append(c);
            return o.Append('"').ToString();
        }
    }

    /// <summary>All that one peer leaves, in one folder: order log, trace, snapshots, reports. For each tick: State with the state
    /// before it, Tick, and if there is a trace System after each system. At the end State again, and
    /// Dispose.</summary>
    public sealed class Recorder : IDisposable
    {
        const int Excerpt = 64; // ticks with orders in a report

        public readonly OrderLog Log;
        /// <summary>Null if none is written.</summary>
        public readonly Trace Trace;
        /// <summary>Loads, resyncs and joins of this peer so far.</summary>
        public uint Epoch { get; private set; }

        readonly Session session;
        readonly string folder;
        readonly TraceDetail detail;
        readonly Queue<KeyValuePair<ulong, Order[]>> recent = new Queue<KeyValuePair<ulong, Order[]>>();
        bool begun;
        ulong? playing; // the tick that has begun, and the state after it was not noted

        /// <summary>Makes the folder and begins the files. They replace the files of an earlier session: each session
        /// needs another folder. The session's Start is the state hash at its first point. Detail: null writes no
        /// trace.</summary>
        public Recorder(string folder, Session session, TraceDetail? detail = null)
        {
            this.folder = Directory.CreateDirectory(folder).FullName;
            WholeFile.Tidy(this.folder);
            this.session = session;
            this.detail = detail ?? TraceDetail.System;
            Epoch = session.Epoch;
            Log = new OrderLog(Path.Combine(folder, "order-log.bin"), session);
            if (detail != null) Trace = new Trace(Path.Combine(folder, "checkpoints.trace"), session);
        }

        /// <summary>Notes the state at a point, and returns its hash.</summary>
        public byte[] State(ulong point, World w)
        {
            byte[] hash = w.StateHash();
            Log.Observe(point, hash);
            begun = true;
            if (point > playing) playing = null;
            return hash;
        }

        /// <summary>Brings log and trace to the disk. Snapshots and reports are there when they have their names.</summary>
        public void Sync()
        {
            Log.Sync();
            if (Trace != null) Trace.Sync();
        }

        public void Tick(ulong tick, IReadOnlyList<Order> orders)
        {
            if (Trace != null) Trace.Flush();
            Log.Tick(tick, orders);
            playing = tick;
            var copy = new Order[orders.Count];
            for (int i = 0; i < copy.Length; i++) copy[i] = orders[i];
            recent.Enqueue(new KeyValuePair<ulong, Order[]>(tick, copy));
            if (recent.Count > Excerpt) recent.Dequeue();
        }

        /// <summary>Traces the state after a system of the tick that Tick began. Refused for any other tick, and after the state that
        /// follows it was noted.</summary>
        public void System(ulong tick, string system, World w)
        {
            if (playing != tick) throw new RefusedException("System: tick " + tick + " has not begun; Tick comes before the systems of a tick");
            if (Trace != null) Trace.Checkpoint(tick, system, w, detail);
        }

        /// <summary>This peer's state was replaced by one of another peer, or by a saved one: history is the history hash there, at that
        /// point, null if it is not known. Kind is Load, Resync, Join or Reconnect. It comes before State at the point.</summary>
        public void Loaded(MarkerKind kind, ulong point, byte[] history, string text)
        {
            if (begun) Epoch++; // in a log that begins with it, it is the header's
            recent.Clear(); // an excerpt has no gap
            playing = null;
            Log.Mark(new Marker { Kind = kind, Peer = (uint)Math.Max(0, session.Peers.IndexOf(session.Peer)), Point = point, NewEpoch = true, History = history, Text = text });
        }

        /// <summary>Writes a snapshot of the state that was noted last, with the peer's facts, build and parameters as properties.</summary>
        public string Snapshot(ulong point, World w)
        {
            Describe(point, w);
            return w.WriteFile(folder);
        }

        /// <summary>Writes a report on the state that was noted last, with the content of the archetypes that are named and the orders of
        /// the ticks before, and returns its path.</summary>
        public string Report(ulong point, World w, int player, IEnumerable<string> archetypes)
        {
            Describe(point, w);
            var report = new PeerReport { State = w, Player = player };
            report.Archetypes.AddRange(archetypes);
            foreach (KeyValuePair<ulong, Order[]> tick in recent)
            {
                report.From = report.From ?? tick.Key;
                report.To = tick.Key;
                foreach (Order o in tick.Value) report.Add(tick.Key, o, session.Kinds[session.KindOf(o.Kind)].Local);
            }
            return report.WriteFile(folder);
        }

        void Describe(ulong point, World w)
        {
            w.Seed = session.Seed; w.Tick = point; w.Peer = session.Peer; w.Epoch = Epoch; w.History = Log.History;
            foreach (KeyValuePair<string, string> p in session.Facts) w.Properties[p.Key] = p.Value;
            foreach (KeyValuePair<string, string> p in session.Parameters) w.Properties[p.Key] = p.Value;
            if (session.Build != "") w.Properties["build"] = session.Build;
        }

        public void Dispose()
        {
            Log.Dispose();
            if (Trace != null) Trace.Dispose();
        }
    }

    // ---- serving a game ----

    /// <summary>A game that can be replayed. It is also an IState, or an IChecksum if it cannot return its state.
    /// RefusedException: it does not do what it is asked, and nothing changed.</summary>
    public interface IGame
    {
        string Name { get; }
        string Build { get; }
        /// <summary>Begins a session from its start; nothing may be left of an earlier one.</summary>
        void Start(Session session);
        /// <summary>Plays one tick. Orders that make no sense are ignored as the game ignores them.</summary>
        void Step(ulong tick, IReadOnlyList<Order> orders);
    }

    /// <summary>Capability state, and where hashes come from.</summary>
    public interface IState
    {
        /// <summary>The current state. Seed and Tick are filled in by the caller.</summary>
        World World();
    }

    /// <summary>For games that do not return their state: a checksum of 1 to 8 bytes that they log as sync hash.</summary>
    public interface IChecksum
    {
        byte[] Checksum();
    }

    /// <summary>Capability save: everything that the simulation reads and writes, in any form.</summary>
    public interface ISaver
    {
        byte[] Save();
        /// <summary>A save of this process, or of another one that began the same session.</summary>
        void Restore(byte[] save);
    }

    /// <summary>Capability load.</summary>
    public interface ILoader
    {
        /// <summary>Begins a session with a state, in the place of Start. The session is null if it is not known; else
        /// it has the seed of the state. Tables and columns are asked for as when they are written; a missing one is a
        /// RefusedException. A state that makes no sense to the game should be one too, and leave the current state as
        /// it was. Caches must be recomputed: the state's caches may be wrong.</summary>
        void Load(World state, Session session);
    }

    /// <summary>Capability systems. Step runs all of them in order.</summary>
    public interface ISystems
    {
        IReadOnlyList<string> Systems { get; }
        void RunSystem(int number, ulong tick, IReadOnlyList<Order> orders);
    }

    /// <summary>Capability caches.</summary>
    public interface ICaches
    {
        /// <summary>Computes derived data again, aside, and names what is not the same.</summary>
        IEnumerable<string> StaleCaches();
    }

    /// <summary>Capability validate.</summary>
    public interface IValidator
    {
        /// <summary>Why an order would be ignored in any state; null or empty if it would not.</summary>
        string Validate(Order order);
    }

    /// <summary>Capability test.</summary>
    public interface ITester
    {
        /// <summary>Whether an order would be possible now, as the machine of the player asks who is about to give it.</summary>
        bool Test(Order order);
    }

    /// <summary>Capability predict.</summary>
    public interface IPredictor
    {
        /// <summary>Plays the current tick ahead with one player's orders, as that player's machine does, and takes it back.</summary>
        void Predict(ulong tick, uint player, IReadOnlyList<Order> orders);
    }

    /// <summary>Why a request is refused, the state being as it was.</summary>
    public sealed class RefusedException : Exception
    {
        public RefusedException(string why) : base(why) { }
    }

    /// <summary>Serves a game to desynctool.</summary>
    public static class Target
    {
        const string AddressVariable = "DESYNCTOOL_SIM", TokenVariable = "DESYNCTOOL_SIM_TOKEN";

        /// <summary>Answers requests until the connection ends and returns the exit code of the process: 0, or 2 with a
        /// line on stderr. The connection is the socket that DESYNCTOOL_SIM names, else stdin and stdout; the game's
        /// output goes to stderr then.</summary>
        public static int Serve(IGame game)
        {
            string address = Environment.GetEnvironmentVariable(AddressVariable);
            if (string.IsNullOrEmpty(address))
            {
                Stream stdout = Console.OpenStandardOutput();
                Console.SetOut(Console.Error);
                return Serve(game, Console.OpenStandardInput(), stdout);
            }
            Stream socket;
            try
            {
                socket = Connect(address);
                var token = new Bytes();
                token.Grow(4);
                token.Str(Environment.GetEnvironmentVariable(TokenVariable) ?? "");
                token.PutU32(0, (uint)token.Length - 4);
                socket.Write(token.Array, 0, token.Length);
            }
            catch (Exception e) { return Server.Fail(AddressVariable + ": " + (e.InnerException ?? e).Message); }
            using (socket) return Serve(game, socket, socket);
        }

        public static int Serve(IGame game, Stream input, Stream output) { return new Server(game).Run(input, output); }

        static Stream Connect(string address)
        {
            int colon = address.LastIndexOf(':');
            int port;
            if (address.StartsWith("tcp:") && colon > 4 && int.TryParse(address.Substring(colon + 1), out port))
            {
                var tcp = new TcpClient();
                tcp.Connect(address.Substring(4, colon - 4).Trim('[', ']'), port);
                tcp.NoDelay = true;
                return tcp.GetStream();
            }
            if (!address.StartsWith("unix:")) throw new FormatException("\"" + address + "\", expected unix:PATH or tcp:HOST:PORT");
            var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
            socket.Connect(new UnixEndPoint(address.Substring(5)));
            return new NetworkStream(socket, true);
        }
    }

    /// <summary>The address of a Unix socket, which .NET Standard 2.0 has none for.</summary>
    sealed class UnixEndPoint : EndPoint
    {
        const int MaxPath = 103; // the limit of the system that takes least
        readonly byte[] path;

        public UnixEndPoint(string path)
        {
            this.path = Utf8.Strict.GetBytes(path);
            if (this.path.Length > MaxPath) throw new FormatException("a path of " + this.path.Length + " bytes, at most " + MaxPath);
        }

        public override AddressFamily AddressFamily { get { return AddressFamily.Unix; } }

        public override SocketAddress Serialize()
        {
            const int family = 2;
            var a = new SocketAddress(AddressFamily.Unix, family + path.Length + 1);
            for (int i = 0; i < path.Length; i++) a[family + i] = path[i];
            return a;
        }

        public override EndPoint Create(SocketAddress address) { return this; }
    }

    /// <summary>Answers requests for one game. A request that makes no sense is an InvalidDataException and ends it; all
    /// else that goes wrong is said in the reply.</summary>
    sealed class Server
    {
        const int Protocol = 1, MaxRequest = 256 << 20, MaxReply = 16 << 20, MaxState = 1 << 30, MaxTicks = 1 << 16;
        static readonly byte[] SaveMagic = Encoding.ASCII.GetBytes("SAVE");

        readonly IGame game;
        readonly Bytes request = new Bytes(), reply = new Bytes();
        Reader r;
        bool parsing; // nothing has been done yet
        int limit;

        Session session; // null: none is running
        ulong point;
        int system = -1;       // the next one of a tick that is played in parts, -1 between ticks
        Order[] partly;        // the orders of that tick

        public Server(IGame game)
        {
            if (!(game is IState) && !(game is IChecksum)) throw new ArgumentException("the game has no hash: it is neither an IState nor an IChecksum");
            this.game = game;
        }

        public static int Fail(string message)
        {
            Console.Error.WriteLine("desynctool: " + message.Replace('\n', ' ').Replace('\r', ' '));
            return 2;
        }

        public int Run(Stream input, Stream output)
        {
            try
            {
                while (ReadFrame(input))
                {
                    Answer();
                    output.Write(reply.Array, 0, reply.Length);
                    output.Flush();
                }
                return 0;
            }
            catch (InvalidDataException e) { return Fail("malformed request: " + e.Message); }
            catch (IOException e) { return Fail("connection: " + e.Message); }
        }

        /// <summary>Reads a frame; false at the end of the input. A length is trusted only as far as bytes come.</summary>
        bool ReadFrame(Stream input)
        {
            request.Clear();
            if (!ReadFully(input, 4)) return false;
            uint n = Reader.U32At(request.Array, 0);
            if (n > MaxRequest) throw new InvalidDataException("a frame of " + n + " bytes, at most " + MaxRequest);
            request.Clear();
            for (int chunk = 64 << 10; request.Length < n; chunk = Math.Max(chunk, request.Length))
                if (!ReadFully(input, (int)Math.Min(chunk, n - request.Length))) throw new InvalidDataException("a frame breaks off");
            return true;
        }

        bool ReadFully(Stream input, int n)
        {
            int at = request.Grow(n);
            for (int done = 0; done < n;)
            {
                int got = input.Read(request.Array, at + done, n - done);
                if (got == 0 && done == 0) return false;
                if (got == 0) throw new InvalidDataException("a frame breaks off");
                done += got;
            }
            return true;
        }

        void Answer()
        {
            r = new Reader(request.Array, 0, request.Length);
            r.Scan();
            r.Tuple(3, "request");
            ulong id = r.UInt("id");
            string method = r.Str("method");
            int parameters = r.ArrayHead("parameters");
            Head(id);
            reply.Nil();
            parsing = true;
            limit = MaxReply;
            string error = null;
            try
            {
                Do(method, parameters);
                if (reply.Length - 4 > limit) error = "a reply of " + (reply.Length - 4) + " bytes, at most " + limit;
            }
            catch (RefusedException e) { error = e.Message; }
            catch (Exception e) when (!parsing)
            {
                Console.Error.WriteLine(e);
                error = e.GetType().Name + ": " + e.Message;
                session = null; // whatever it was doing, it is half done
            }
            if (error != null)
            {
                Head(id);
                reply.Str(Utf8.Lenient.GetBytes(method + ": " + error));
                reply.Nil();
            }
            reply.PutU32(0, (uint)reply.Length - 4);
        }

        void Head(ulong id)
        {
            reply.Clear();
            reply.Grow(4);
            reply.ArrayHead(3);
            reply.UInt(id);
        }

        void Do(string method, int parameters)
        {
            switch (method)
            {
                case "hello": Needs(parameters, 2); Hello(); break;
                case "start": Needs(parameters, 1); Start(); break;
                case "step": Needs(parameters, 2); Step(); break;
                case "state": Needs(parameters, 0); State(); break;
                case "save": Needs(parameters, 0); Save(); break;
                case "restore": Needs(parameters, 1); Restore(); break;
                case "load": Needs(parameters, 2); Load(); break;
                case "begin": Needs(parameters, 2); Begin(); break;
                case "next": Needs(parameters, 0); Next(); break;
                case "caches": Needs(parameters, 0); Caches(); break;
                case "validate": Needs(parameters, 2); Validate(); break;
                case "test": Needs(parameters, 2); Test(); break;
                case "predict": Needs(parameters, 3); Predict(); break;
                default: throw new RefusedException("no such request");
            }
        }

        static void Needs(int have, int want)
        {
            if (have != want) throw new InvalidDataException(have + " parameters, expected " + want);
        }

        /// <summary>The game as what a request needs, in a session that runs.</summary>
        T Game<T>() where T : class
        {
            if (session == null) throw new RefusedException("no session is running");
            return Can<T>();
        }

        T Can<T>() where T : class
        {
            T can = game as T;
            if (can == null) throw new RefusedException("the game cannot do that");
            return can;
        }

        ulong ReadTick()
        {
            ulong tick = r.UInt("tick");
            if (tick != point) throw new RefusedException("tick " + tick + ", the state is at point " + point);
            return tick;
        }

        /// <summary>What a request is of has been read. Some are not for the middle of a tick.</summary>
        void Parsed(bool betweenTicks)
        {
            parsing = false;
            if (betweenTicks && system >= 0) throw new RefusedException("in the middle of tick " + point);
        }

        void Hello()
        {
            r.UInt("protocol");
            r.Str("client");
            Parsed(false);
            var can = new List<string>();
            if (game is IState) can.Add("state");
            if (game is ISaver) can.Add("save");
            if (game is ILoader) can.Add("load");
            if (game is ISystems) can.Add("systems");
            if (game is ICaches) can.Add("caches");
            if (game is IValidator) can.Add("validate");
            if (game is ITester) can.Add("test");
            if (game is IPredictor) can.Add("predict");
            reply.MapHead(5);
            reply.Str("protocol"); reply.UInt(Protocol);
            reply.Str("name"); reply.Str(game.Name);
            reply.Str("build"); reply.Str(game.Build);
            reply.Str("can"); Strings(can);
            reply.Str("max_request"); reply.UInt(MaxRequest);
        }

        void Strings(List<string> list)
        {
            reply.ArrayHead(list.Count);
            foreach (string s in list) reply.Str(s);
        }

        World World()
        {
            World w = ((IState)game).World();
            w.Seed = session.Seed;
            w.Tick = point;
            return w;
        }

        void Hash()
        {
            byte[] hash = game is IState ? World().SyncHash() : ((IChecksum)game).Checksum();
            if (hash.Length < 1 || hash.Length > 8) throw new InvalidOperationException("a checksum of " + hash.Length + " bytes, expected 1 to 8");
            Array.Resize(ref hash, 8);
            reply.Raw(hash);
        }

        void HashBin() { reply.BinHead(8); Hash(); }

        void Arrived()
        {
            system = -1;
            reply.ArrayHead(2);
            reply.UInt(point);
            HashBin();
        }

        void Start()
        {
            Session s = Session.Read(r);
            Parsed(false);
            game.Start(s);
            session = s;
            point = s.FirstPoint;
            Arrived();
        }

        void Load()
        {
            var loader = Can<ILoader>();
            byte[] file = r.Bin("state", int.MaxValue);
            Session s = r.TakeNil() ? null : Session.Read(r);
            Parsed(false);
            World state;
            try { state = Desynctool.World.Decode(file); }
            catch (InvalidDataException e) { throw new RefusedException("the state is unusable: " + e.Message); }
            if (s != null && s.Seed != state.Seed)
                throw new RefusedException("the state is of another session: its seed is " + state.Seed.ToString("x16") + ", the header's " + s.Seed.ToString("x16"));
            if (state.Phase != "") throw new RefusedException("the state is of the middle of a tick");
            loader.Load(state, s);
            session = s ?? new Session { Seed = state.Seed };
            point = state.Tick;
            Arrived();
        }

        void Step()
        {
            Game<IGame>();
            ulong tick = ReadTick();
            var ticks = new Order[r.ArrayHead("ticks", MaxTicks)][];
            for (int i = 0; i < ticks.Length; i++) ticks[i] = session.ReadOrders(r);
            Parsed(true);
            reply.BinHead(8 * ticks.Length);
            try
            {
                for (int i = 0; i < ticks.Length; i++)
                {
                    game.Step(tick + (ulong)i, ticks[i]);
                    point++;
                    Hash();
                }
            }
            catch (RefusedException)
            {
                session = null; // earlier ticks of the request have been played
                throw;
            }
        }

        void State()
        {
            Game<IState>();
            Parsed(false);
            limit = MaxState;
            byte[] file = World().Encode();
            reply.Bin(file);
        }

        void Save()
        {
            var saver = Game<ISaver>();
            Parsed(true);
            limit = MaxState;
            byte[] save = saver.Save();
            // Our own head distinguishes a save from other bytes, so that the game need not.
            reply.BinHead(16 + save.Length);
            reply.Raw(SaveMagic);
            reply.U64(point);
            reply.U32(Crc32C.Of(save, 0, save.Length));
            reply.Raw(save);
        }

        void Restore()
        {
            var saver = Game<ISaver>();
            byte[] b = r.Bin("save", int.MaxValue);
            Parsed(false);
            if (b.Length < 16 || !Bytes.Equal(b, 0, SaveMagic, 0, 4) || Reader.U32At(b, 12) != Crc32C.Of(b, 16, b.Length - 16))
                throw new RefusedException("not a save");
            var save = new byte[b.Length - 16];
            Buffer.BlockCopy(b, 16, save, 0, save.Length);
            saver.Restore(save);
            point = new Reader(b, 4, 12).Little(8);
            Arrived();
        }

        void Begin()
        {
            Game<ISystems>();
            ReadTick();
            Order[] orders = session.ReadOrders(r);
            Parsed(true);
            partly = orders;
            system = 0;
            reply.Nil();
        }

        void Next()
        {
            var systems = Game<ISystems>();
            Parsed(false);
            if (system < 0) throw new RefusedException("no tick has been begun");
            int n = system;
            systems.RunSystem(n, point, partly);
            bool more = n + 1 < systems.Systems.Count;
            system = more ? n + 1 : -1;
            reply.ArrayHead(3);
            reply.Str(systems.Systems[n]);
            reply.Bool(more);
            HashBin();
            if (!more) point++;
        }

        void Caches()
        {
            var caches = Game<ICaches>();
            Parsed(false);
            var stale = new List<string>(caches.StaleCaches());
            stale.Sort(Utf8.Order);
            Strings(stale);
        }

        void Validate()
        {
            var validator = Game<IValidator>();
            r.UInt("tick");
            Order[] orders = session.ReadOrders(r);
            Parsed(false);
            reply.ArrayHead(orders.Length);
            foreach (Order o in orders) reply.Str(validator.Validate(o) ?? "");
        }

        void Test()
        {
            var tester = Game<ITester>();
            ReadTick();
            Order order = session.ReadOrder(r);
            Parsed(true);
            bool possible = tester.Test(order);
            reply.ArrayHead(2);
            reply.Bool(possible);
            HashBin();
        }

        void Predict()
        {
            var predictor = Game<IPredictor>();
            ReadTick();
            uint player = r.U32("player");
            Order[] orders = session.ReadOrders(r);
            Parsed(true);
            predictor.Predict(point, player, orders);
            HashBin();
        }
    }

    // ---- bytes ----

    /// <summary>Bytes that grow, with little-endian integers and MessagePack.</summary>
    sealed class Bytes
    {
        const int MaxLength = 0x7fffffc7; // of an array

        public byte[] Array = new byte[64];
        public int Length;

        public void Clear() { Length = 0; }

        /// <summary>Appends zero bytes and returns where they begin.</summary>
        public int Grow(int n)
        {
            int at = Length;
            Room(n);
            System.Array.Clear(Array, at, n);
            Length += n;
            return at;
        }

        void Room(int n)
        {
            if (n <= Array.Length - Length) return;
            long want = (long)Length + n;
            if (want > MaxLength) throw new InvalidOperationException("more than 2 GiB");
            System.Array.Resize(ref Array, (int)Math.Min(MaxLength, Math.Max(want, 2L * Array.Length)));
        }

        public byte[] Copy(int at, int n)
        {
            var b = new byte[n];
            Buffer.BlockCopy(Array, at, b, 0, n);
            return b;
        }

        public static bool Equal(byte[] a, int i, byte[] b, int k, int n)
        {
            for (int end = i + n; i < end; i++, k++) if (a[i] != b[k]) return false;
            return true;
        }

        public void U8(byte v)
        {
            if (Length == Array.Length) Room(1);
            Array[Length++] = v;
        }

        public void U16(ushort v) { U8((byte)v); U8((byte)(v >> 8)); }
        public void U32(uint v) { U16((ushort)v); U16((ushort)(v >> 16)); }
        public void U64(ulong v) { U32((uint)v); U32((uint)(v >> 32)); }

        public void PutU32(int at, uint v)
        {
            for (int i = 0; i < 4; i++) Array[at + i] = (byte)(v >> 8 * i);
        }

        public void Raw(byte[] b) { Raw(b, 0, b.Length); }
        public void Raw(Bytes b) { Raw(b.Array, 0, b.Length); }

        public void Raw(byte[] b, int at, int n)
        {
            Room(n);
            Buffer.BlockCopy(b, at, Array, Length, n);
            Length += n;
        }

        /// <summary>Zero bytes up to the next multiple of 8 after n bytes.</summary>
        public void Pad(int n) { Grow(-n & 7); }

        void Big(byte code, ulong v, int width)
        {
            U8(code);
            while (width-- > 0) U8((byte)(v >> 8 * width));
        }

        /// <summary>The shortest form.</summary>
        public void UInt(ulong v)
        {
            if (v < 0x80) U8((byte)v);
            else if (v <= 0xff) Big(0xcc, v, 1);
            else if (v <= 0xffff) Big(0xcd, v, 2);
            else if (v <= 0xffffffff) Big(0xce, v, 4);
            else Big(0xcf, v, 8);
        }

        // Forms of one length whatever the value is, for headers that are written before all is known.
        public void WideU8(byte v) { Big(0xcc, v, 1); }
        public void WideU32(uint v) { Big(0xce, v, 4); }
        public void WideU64(ulong v) { Big(0xcf, v, 8); }

        public void Nil() { U8(0xc0); }
        public void Bool(bool v) { U8(v ? (byte)0xc3 : (byte)0xc2); }

        public void ArrayHead(int n)
        {
            if (n < 16) U8((byte)(0x90 | n)); else if (n <= 0xffff) Big(0xdc, (ulong)n, 2); else Big(0xdd, (ulong)n, 4);
        }

        public void MapHead(int n)
        {
            if (n < 16) U8((byte)(0x80 | n)); else if (n <= 0xffff) Big(0xde, (ulong)n, 2); else Big(0xdf, (ulong)n, 4);
        }

        public void BinHead(int n)
        {
            if (n <= 0xff) Big(0xc4, (ulong)n, 1); else if (n <= 0xffff) Big(0xc5, (ulong)n, 2); else Big(0xc6, (ulong)n, 4);
        }

        public void Bin(byte[] b) { BinHead(b.Length); Raw(b); }
        public void Bin(Bytes b) { BinHead(b.Length); Raw(b); }
        public void Str(string s) { Str(Utf8.Strict.GetBytes(s)); }

        public void Str(byte[] b)
        {
            int n = b.Length;
            if (n < 32) U8((byte)(0xa0 | n));
            else if (n <= 0xff) Big(0xd9, (ulong)n, 1);
            else if (n <= 0xffff) Big(0xda, (ulong)n, 2);
            else Big(0xdb, (ulong)n, 4);
            Raw(b);
        }
    }

    /// <summary>Reads MessagePack from bytes that need not be well-formed. Scan comes first: after it every length is
    /// within the bytes. InvalidDataException: not what was expected.</summary>
    sealed class Reader
    {
        public readonly byte[] Array;
        public int At;
        readonly int end;

        public Reader(byte[] b, int from, int end) { Array = b; At = from; this.end = end; }

        public int Left { get { return end - At; } }

        public byte ByteAt(int at) { return Array[at]; }
        public uint U32At(int at) { return U32At(Array, at); }
        public static uint U32At(byte[] b, int at) { return (uint)(b[at] | b[at + 1] << 8 | b[at + 2] << 16 | b[at + 3] << 24); }
        public ulong U64At(int at) { return U64Of(Array, at); }
        public static ulong U64Of(byte[] b, int at) { return U32At(b, at) | (ulong)U32At(b, at + 4) << 32; }

        public byte Byte()
        {
            if (At >= end) throw new InvalidDataException("it breaks off");
            return Array[At++];
        }

        public ulong Little(int width)
        {
            ulong v = 0;
            for (int i = 0; i < width; i++) v |= (ulong)Byte() << 8 * i;
            return v;
        }

        ulong Big(int width)
        {
            ulong v = 0;
            while (width-- > 0) v = v << 8 | Byte();
            return v;
        }

        /// <summary>Checks that one value fills the bytes, and goes back to its start.</summary>
        public void Scan()
        {
            int start = At;
            Skip();
            if (Left != 0) throw new InvalidDataException(Left + " bytes behind the value");
            At = start;
        }

        /// <summary>Goes over one value, without recursion.</summary>
        public void Skip()
        {
            for (ulong values = 1; values > 0; values--)
            {
                byte c = Byte();
                ulong skip = 0, inside = 0;
                if (c < 0x80 || c >= 0xe0 || c == 0xc0 || c == 0xc2 || c == 0xc3) { }
                else if (c < 0x90) inside = 2u * (c & 15u);
                else if (c < 0xa0) inside = c & 15u;
                else if (c < 0xc0) skip = c & 31u;
                else if (c >= 0xc4 && c <= 0xc6) skip = Big(1 << c - 0xc4);
                else if (c == 0xca || c == 0xcb) skip = c == 0xca ? 4u : 8u;
                else if (c >= 0xcc && c <= 0xd3) skip = 1u << (c - 0xcc) % 4;
                else if (c >= 0xd9 && c <= 0xdb) skip = Big(1 << c - 0xd9);
                else if (c == 0xdc || c == 0xdd) inside = Big(c == 0xdc ? 2 : 4);
                else if (c == 0xde || c == 0xdf) inside = 2 * Big(c == 0xde ? 2 : 4);
                else throw new InvalidDataException("code 0x" + c.ToString("x2") + " does not occur");
                if (skip > (ulong)Left || inside > (ulong)Left) throw new InvalidDataException("a length beyond the end");
                At += (int)skip;
                values += inside; // each takes a byte at least, so that this ends
            }
        }

        static InvalidDataException Not(string what, string expected) { return new InvalidDataException(what + " is not " + expected); }

        public ulong UInt(string what)
        {
            byte c = Byte();
            if (c < 0x80) return c;
            if (c < 0xcc || c > 0xd3) throw Not(what, "an unsigned integer");
            int width = 1 << (c - 0xcc) % 4;
            ulong v = Big(width);
            if (c >= 0xd0 && v >> 8 * width - 1 != 0) throw Not(what, "an unsigned integer"); // a signed form that is negative
            return v;
        }

        public uint U32(string what)
        {
            ulong v = UInt(what);
            if (v > uint.MaxValue) throw Not(what, "below 2^32");
            return (uint)v;
        }

        public bool Bool(string what)
        {
            byte c = Byte();
            if (c != 0xc2 && c != 0xc3) throw Not(what, "a bool");
            return c == 0xc3;
        }

        public bool TakeNil()
        {
            bool nil = Left > 0 && Array[At] == 0xc0;
            if (nil) At++;
            return nil;
        }

        public int ArrayHead(string what, int max = int.MaxValue)
        {
            byte c = Byte();
            if (c >> 4 != 9 && c != 0xdc && c != 0xdd) throw Not(what, "an array");
            int n = c >> 4 == 9 ? c & 15 : (int)Big(c == 0xdc ? 2 : 4);
            if (n > max) throw new InvalidDataException(what + ": " + n + " of them, at most " + max);
            return n;
        }

        public void Tuple(int n, string what)
        {
            int have = ArrayHead(what);
            if (have != n) throw new InvalidDataException(what + " has " + have + " elements, expected " + n);
        }

        public int MapHead(string what, int max)
        {
            byte c = Byte();
            if (c >> 4 != 8 && c != 0xde && c != 0xdf) throw Not(what, "a map");
            int n = c >> 4 == 8 ? c & 15 : (int)Big(c == 0xde ? 2 : 4);
            if (n > max) throw new InvalidDataException(what + ": " + n + " of them, at most " + max);
            return n;
        }

        int StrHead(string what, int max)
        {
            byte c = Byte();
            if (c >> 5 != 5 && (c < 0xd9 || c > 0xdb)) throw Not(what, "a string");
            int n = c >> 5 == 5 ? c & 31 : (int)Big(1 << c - 0xd9);
            if (n > max) throw new InvalidDataException(what + " of " + n + " bytes, at most " + max);
            return n;
        }

        public string Str(string what, int max = Session.MaxText)
        {
            int n = StrHead(what, max);
            string s = Utf8.Lenient.GetString(Array, At, n);
            At += n;
            return s;
        }

        /// <summary>A string that may not be UTF-8.</summary>
        public byte[] StrBytes(string what, int max = Session.MaxText)
        {
            var b = new byte[StrHead(what, max)];
            Buffer.BlockCopy(Array, At, b, 0, b.Length);
            At += b.Length;
            return b;
        }

        public byte[] Bin(string what, int max)
        {
            byte c = Byte();
            if (c < 0xc4 || c > 0xc6) throw Not(what, "bin");
            int n = (int)Big(1 << c - 0xc4);
            if (n > max) throw new InvalidDataException(what + " of " + n + " bytes, at most " + max);
            var b = new byte[n];
            Buffer.BlockCopy(Array, At, b, 0, n);
            At += n;
            return b;
        }

        public byte[] Hash(string what)
        {
            byte[] b = Bin(what, Sha256.Size);
            if (b.Length != Sha256.Size) throw new InvalidDataException(what + " of " + b.Length + " bytes, expected " + Sha256.Size);
            return b;
        }
    }

    static class Utf8
    {
        public const int MaxName = 1024; // bytes of names in a snapshot
        public static readonly Encoding Strict = new UTF8Encoding(false, true), Lenient = new UTF8Encoding(false, false);

        /// <summary>Strings by their UTF-8 bytes, which is not the order of their UTF-16 units.</summary>
        public static readonly IComparer<string> Order = new ByBytes();

        sealed class ByBytes : IComparer<string>
        {
            public int Compare(string a, string b) { return Utf8.Compare(Lenient.GetBytes(a), Lenient.GetBytes(b)); }
        }

        public static int Compare(byte[] a, byte[] b)
        {
            for (int i = 0; i < a.Length && i < b.Length; i++) if (a[i] != b[i]) return a[i].CompareTo(b[i]);
            return a.Length.CompareTo(b.Length);
        }

        /// <summary>A name in a snapshot: 1 to 1024 bytes.</summary>
        public static byte[] Name(string s, string what)
        {
            byte[] b = Strict.GetBytes(s);
            if (b.Length < 1 || b.Length > MaxName) throw new ArgumentException("a " + what + " of " + b.Length + " bytes, expected 1 to " + MaxName);
            return b;
        }
    }

    [StructLayout(LayoutKind.Explicit)]
    struct FloatBits
    {
        [FieldOffset(0)] public float Value;
        [FieldOffset(0)] public uint Bits;
    }

    static class Crc32C
    {
        static readonly uint[] Table = Make();

        static uint[] Make()
        {
            var t = new uint[256];
            for (uint i = 0; i < 256; i++)
            {
                uint c = i;
                for (int k = 0; k < 8; k++) c = (c & 1) != 0 ? c >> 1 ^ 0x82F63B78 : c >> 1;
                t[i] = c;
            }
            return t;
        }

        public static uint Of(byte[] b, int at, int n)
        {
            uint c = 0xffffffff;
            for (int end = at + n; at < end; at++) c = Table[(byte)c ^ b[at]] ^ c >> 8;
            return ~c;
        }
    }

    /// <summary>SHA-256 that allocates nothing: the class library's SHA-256 makes garbage in every tick.</summary>
    sealed class Sha256
    {
        public const int Size = 32;
#if NET5_0_OR_GREATER
        public void Hash(byte[] b, int at, int n, byte[] into, int to)
        {
            System.Security.Cryptography.SHA256.HashData(new ReadOnlySpan<byte>(b, at, n), new Span<byte>(into, to, Size));
        }
#else
        const int Block = 64;
        static readonly uint[] K = {
            0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
            0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
            0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
            0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
            0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
            0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2 };

        readonly uint[] w = new uint[64], h = new uint[8];
        readonly byte[] tail = new byte[2 * Block];

        /// <summary>Hashes n bytes of b; into may be the same array.</summary>
        public void Hash(byte[] b, int at, int n, byte[] into, int to)
        {
            h[0] = 0x6a09e667; h[1] = 0xbb67ae85; h[2] = 0x3c6ef372; h[3] = 0xa54ff53a;
            h[4] = 0x510e527f; h[5] = 0x9b05688c; h[6] = 0x1f83d9ab; h[7] = 0x5be0cd19;
            int rest = n % Block;
            for (int end = at + n - rest; at < end; at += Block) Compress(b, at);
            System.Array.Clear(tail, 0, tail.Length);
            Buffer.BlockCopy(b, at, tail, 0, rest);
            tail[rest] = 0x80;
            int last = rest + 9 <= Block ? Block : 2 * Block;
            for (int i = 0; i < 8; i++) tail[last - 1 - i] = (byte)((ulong)n * 8 >> 8 * i);
            for (int i = 0; i < last; i += Block) Compress(tail, i);
            for (int i = 0; i < Size; i++) into[to + i] = (byte)(h[i / 4] >> 24 - 8 * (i % 4));
        }

        void Compress(byte[] b, int at)
        {
            uint[] w = this.w, k = K;
            unchecked
            {
                for (int i = 0; i < 16; i++, at += 4) w[i] = (uint)(b[at] << 24 | b[at + 1] << 16 | b[at + 2] << 8 | b[at + 3]);
                for (int i = 16; i < 64; i++)
                {
                    uint x = w[i - 15], y = w[i - 2];
                    w[i] = w[i - 16] + w[i - 7] + ((x >> 7 | x << 25) ^ (x >> 18 | x << 14) ^ x >> 3) + ((y >> 17 | y << 15) ^ (y >> 19 | y << 13) ^ y >> 10);
                }
                uint a = h[0], bb = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], hh = h[7];
                for (int i = 0; i < 64; i++)
                {
                    uint t = hh + ((e >> 6 | e << 26) ^ (e >> 11 | e << 21) ^ (e >> 25 | e << 7)) + (e & f ^ ~e & g) + k[i] + w[i];
                    uint u = ((a >> 2 | a << 30) ^ (a >> 13 | a << 19) ^ (a >> 22 | a << 10)) + (a & bb ^ a & c ^ bb & c);
                    hh = g; g = f; f = e; e = d + t; d = c; c = bb; bb = a; a = t + u;
                }
                h[0] += a; h[1] += bb; h[2] += c; h[3] += d; h[4] += e; h[5] += f; h[6] += g; h[7] += hh;
            }
        }
#endif
    }

    // ---- signatures ----

    /// <summary>Ed25519 of RFC 8032. A secret key is its seed of 32 bytes. How long signing takes may depend on it: where
    /// an enemy can measure that, sign elsewhere.</summary>
    public static class Ed25519
    {
        public static byte[] PublicKey(byte[] secret) { return (byte[])new SecretKey(secret).Key.Clone(); }

        public static byte[] Sign(byte[] secret, byte[] message) { return new SecretKey(secret).Sign(message); }

        /// <summary>Whether a signature is valid. Go's crypto/ed25519 takes the same ones, and keys and R of small order.</summary>
        public static bool Verify(byte[] key, byte[] message, byte[] signature)
        {
            return key.Length == 32 && signature.Length == 64 && new PublicKeyCheck(key).Verify(message, signature);
        }
    }

    /// <summary>A point of the curve of Ed25519: x is X/Z, y is Y/Z and xy is T/Z.</summary>
    sealed class CurvePoint
    {
        public readonly uint[] X = new uint[10], Y = new uint[10], Z = new uint[10], T = new uint[10];

        public void Set(CurvePoint p)
        {
            Array.Copy(p.X, X, 10); Array.Copy(p.Y, Y, 10); Array.Copy(p.Z, Z, 10); Array.Copy(p.T, T, 10);
        }

        public void SetNeutral()
        {
            Array.Clear(X, 0, 10); Array.Clear(Y, 0, 10); Array.Clear(Z, 0, 10); Array.Clear(T, 0, 10);
            Y[0] = Z[0] = 1;
        }
    }

    /// <summary>Arithmetic of Ed25519, and memory for it. Numbers modulo 2^255 - 19 have ten limbs of 26 bits: 2^260 is 608.
    /// A product has limbs just above 26 bits, a sum one bit more; only those may be subtracted, and what is multiplied
    /// has at most 29 bits.</summary>
    sealed class CurveMath
    {
        const ulong Limb = 0x3ffffff;
        static readonly uint[] Zero = new uint[10], One = { 1, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
        static readonly uint[] D = { 0x35978a3, 0x2d37284, 0x18ab75e, 0x1350507, 0x000700a, 0x1de7a26, 0x0740797, 0x3f9ce33, 0x0ee2b6f, 0x01480db };
        static readonly uint[] RootOfMinusOne = { 0x20ea0b0, 0x386c9d2, 0x2478c4e, 0x01ab4bf, 0x32f4318, 0x37ef5e9, 0x0d00993, 0x37c2cad, 0x0804fc1, 0x00ae0c9 };
        // The order of the base point, 2^252 + 27742317777372353535851937790883648493.
        static readonly uint[] Order = { 0x5cf5d3ed, 0x5812631a, 0xa2f79cd6, 0x14def9de, 0, 0, 0, 0x10000000 };

        readonly ulong[] c = new ulong[20];
        readonly uint[] a = new uint[10], b = new uint[10], d = new uint[10], e = new uint[10], f = new uint[10], g = new uint[10];
        readonly uint[] raised = new uint[10], a11 = new uint[10];

        static void Add(uint[] a, uint[] b, uint[] to) { for (int i = 0; i < 10; i++) to[i] = a[i] + b[i]; }

        static void Sub(uint[] a, uint[] b, uint[] to)
        {
            to[0] = a[0] + 0xffff680 - b[0]; // 128 times the modulus in all
            for (int i = 1; i < 10; i++) to[i] = a[i] + 0xffffffc - b[i];
        }

        void Mul(uint[] a, uint[] b, uint[] to)
        {
            ulong[] c = this.c;
            Array.Clear(c, 0, 20);
            for (int i = 0; i < 10; i++)
            {
                ulong v = a[i];
                for (int k = 0; k < 10; k++) c[i + k] += v * b[k];
            }
            Fold(to);
        }

        void Square(uint[] a, uint[] to)
        {
            ulong[] c = this.c;
            Array.Clear(c, 0, 20);
            for (int i = 0; i < 10; i++)
            {
                ulong v = a[i];
                c[2 * i] += v * v;
                for (int k = i + 1; k < 10; k++) c[i + k] += 2 * v * a[k];
            }
            Fold(to);
        }

        /// <summary>Brings the 19 limbs of a product into ten.</summary>
        void Fold(uint[] to)
        {
            ulong[] c = this.c;
            for (int i = 10; i < 19; i++) { c[i + 1] += c[i] >> 26; c[i] &= Limb; }
            for (int i = 0; i < 10; i++) c[i] += c[i + 10] * 608;
            for (int i = 0; i < 9; i++) { c[i + 1] += c[i] >> 26; to[i] = (uint)(c[i] & Limb); }
            to[9] = (uint)(c[9] & Limb);
            ulong first = to[0] + (c[9] >> 26) * 608;
            to[0] = (uint)(first & Limb);
            to[1] += (uint)(first >> 26);
        }

        /// <summary>To the power of 2^n, times b.</summary>
        void Raise(uint[] a, int n, uint[] b, uint[] to)
        {
            Array.Copy(a, raised, 10);
            while (n-- > 0) Square(raised, raised);
            Mul(raised, b, to);
        }

        /// <summary>To the power of 2^250 - 1. a11 is then the power of 11.</summary>
        void Power(uint[] a, uint[] to)
        {
            uint[] a2 = new uint[10], a9 = new uint[10], a5 = new uint[10], a10 = new uint[10], a50 = new uint[10], a100 = new uint[10];
            Square(a, a2);
            Raise(a2, 2, a, a9);
            Mul(a9, a2, a11);
            Raise(a11, 1, a9, a5); // from here on by the number of bits
            Raise(a5, 5, a5, a10);
            Raise(a10, 10, a10, a50);
            Raise(a50, 20, a50, a50); // 40
            Raise(a50, 10, a10, a50);
            Raise(a50, 50, a50, a100);
            Raise(a100, 100, a100, a100); // 200
            Raise(a100, 50, a50, to);
        }

        static byte[] Encode(uint[] a)
        {
            var v = (uint[])a.Clone();
            for (int turn = 0; turn < 2; turn++) // below 2^255 + 19, then below 2^255
            {
                uint over = v[9] >> 21;
                v[9] &= 0x1fffff;
                v[0] += over * 19;
                for (int i = 0; i < 9; i++) { v[i + 1] += v[i] >> 26; v[i] &= (uint)Limb; }
            }
            uint carry = 19;
            for (int i = 0; i < 9; i++) carry = (v[i] + carry) >> 26; // is it 2^255 - 19 or more?
            carry = (v[9] + carry >> 21) * 19;
            var to = new byte[32];
            ulong held = 0;
            for (int i = 0, bits = 0, at = 0; i < 10; i++)
            {
                v[i] += carry;
                carry = v[i] >> 26;
                held |= (v[i] & Limb) << bits;
                for (bits += 26; bits >= 8 && at < 32; bits -= 8, held >>= 8) to[at++] = (byte)(held & 0xff);
            }
            to[31] &= 0x7f;
            return to;
        }

        static void Decode(byte[] b, uint[] to)
        {
            ulong held = 0;
            for (int i = 0, bits = 0, at = 0; i < 10; i++, bits -= 26, held >>= 26)
            {
                for (; bits < 26 && at < 32; bits += 8) held |= (ulong)b[at++] << bits;
                to[i] = (uint)(held & Limb);
            }
            to[9] &= 0x1fffff;
        }

        static bool Same(uint[] a, uint[] b) { return Bytes.Equal(Encode(a), 0, Encode(b), 0, 32); }

        void Out(uint[] e, uint[] f, uint[] g, uint[] h, CurvePoint to)
        {
            Mul(e, f, to.X); Mul(g, h, to.Y); Mul(f, g, to.Z); Mul(e, h, to.T);
        }

        /// <summary>Adds a point with its T multiplied by 2d.</summary>
        void Add(CurvePoint p, CurvePoint q, CurvePoint to)
        {
            Sub(p.Y, p.X, e); Sub(q.Y, q.X, f); Mul(e, f, a);
            Add(p.Y, p.X, e); Add(q.Y, q.X, f); Mul(e, f, b);
            Mul(p.T, q.T, g);
            Mul(p.Z, q.Z, d);
            Add(d, d, d);
            Sub(b, a, e); Sub(d, g, f); Add(d, g, g); Add(b, a, b);
            Out(e, f, g, b, to);
        }

        void Double(CurvePoint p, CurvePoint to)
        {
            Square(p.X, a); Square(p.Y, b); Square(p.Z, d);
            Add(d, d, d);
            Add(p.X, p.Y, e);
            Square(e, e);
            Sub(a, b, g); Add(a, b, b); Sub(b, e, e); Add(d, g, f);
            Out(e, f, g, b, to);
        }

        void Ready(CurvePoint p)
        {
            Mul(p.T, D, p.T);
            Add(p.T, p.T, p.T);
        }

        byte[] Encode(CurvePoint p)
        {
            Power(p.Z, d);
            Raise(d, 5, a11, d); // 1/Z
            Mul(p.X, d, e); Mul(p.Y, d, f);
            byte[] to = Encode(f);
            to[31] |= (byte)((Encode(e)[0] & 1) << 7);
            return to;
        }

        /// <summary>A point, null if there is none. As in Go, y may be 2^255 - 19 and more, and x -0.</summary>
        public CurvePoint Point(byte[] bytes)
        {
            var p = new CurvePoint();
            uint[] u = new uint[10], v = new uint[10], v3 = new uint[10], t = new uint[10], power = new uint[10];
            Decode(bytes, p.Y);
            Square(p.Y, u);
            Mul(u, D, v);
            Sub(u, One, t);
            Mul(t, One, u); // x² is u/v with u = y² - 1
            Add(v, One, v); // and v = dy² + 1; x is uv³ (uv⁷)^((p-5)/8), perhaps times the root of -1
            Square(v, t); Mul(t, v, v3);
            Square(v3, t); Mul(t, v, t); Mul(t, u, t);
            Power(t, power);
            Raise(power, 2, t, t);
            Mul(t, v3, t); Mul(t, u, p.X);
            Square(p.X, t); Mul(t, v, t);
            if (!Same(t, u))
            {
                Sub(Zero, u, u);
                if (!Same(t, u)) return null;
                Mul(p.X, RootOfMinusOne, p.X);
            }
            if ((Encode(p.X)[0] & 1) != bytes[31] >> 7) Negate(p.X);
            p.Z[0] = 1;
            Mul(p.X, p.Y, p.T);
            return p;
        }

        void Negate(uint[] v)
        {
            Sub(Zero, v, a);
            Mul(a, One, v);
        }

        public void Negate(CurvePoint p) { Negate(p.X); Negate(p.T); }

        /// <summary>The sums of a point's multiples by 1, 2^64, 2^128 and 2^192, ready to be added.</summary>
        public CurvePoint[] Comb(CurvePoint of)
        {
            var sums = new CurvePoint[16];
            for (int i = 0; i < 16; i++) sums[i] = new CurvePoint();
            sums[0].SetNeutral();
            CurvePoint p = new CurvePoint(), ready = new CurvePoint();
            p.Set(of);
            for (int i = 0; i < 4; i++)
            {
                ready.Set(p);
                Ready(ready);
                for (int k = 0; k < 1 << i; k++) Add(sums[k], ready, sums[k + (1 << i)]);
                for (int k = 0; k < 64 && i < 3; k++) Double(p, p);
            }
            foreach (CurvePoint sum in sums) Ready(sum);
            return sums;
        }

        public CurvePoint[] CombOfBase()
        {
            var b = new byte[32];
            for (int i = 0; i < 32; i++) b[i] = 0x66;
            b[0] = 0x58;
            return Comb(Point(b));
        }

        /// <summary>The points of one comb or two, each times a number, added up.</summary>
        public byte[] Times(CurvePoint[] comb, byte[] n, CurvePoint[] other = null, byte[] m = null)
        {
            var p = new CurvePoint();
            p.SetNeutral();
            for (int i = 63; i >= 0; i--)
            {
                Double(p, p);
                Add(p, comb[Tooth(n, i)], p);
                if (other != null) Add(p, other[Tooth(m, i)], p);
            }
            return Encode(p);
        }

        static int Tooth(byte[] n, int i)
        {
            int v = 0;
            for (int k = 3; k >= 0; k--) v = v << 1 | n[8 * k + i / 8] >> i % 8 & 1;
            return v;
        }

        /// <summary>A number of 64 bytes modulo the order, bit by bit.</summary>
        static byte[] Reduce(byte[] wide)
        {
            uint[] v = new uint[8], less = new uint[8];
            for (int i = 511; i >= 0; i--)
            {
                uint carry = (uint)(wide[i / 8] >> i % 8 & 1);
                for (int k = 0; k < 8; k++)
                {
                    uint high = v[k] >> 31;
                    v[k] = v[k] << 1 | carry;
                    carry = high;
                }
                long borrow = 0;
                for (int k = 0; k < 8; k++)
                {
                    borrow += (long)v[k] - Order[k];
                    less[k] = (uint)(borrow & 0xffffffff);
                    borrow >>= 32;
                }
                if (borrow == 0) Array.Copy(less, v, 8);
            }
            var to = new byte[32];
            for (int i = 0; i < 32; i++) to[i] = (byte)(v[i / 4] >> 8 * (i % 4) & 0xff);
            return to;
        }

        /// <summary>a·b + c modulo the order.</summary>
        public static byte[] MulAdd(byte[] a, byte[] b, byte[] c)
        {
            var wide = new byte[64];
            Buffer.BlockCopy(c, 0, wide, 0, 32);
            for (int i = 0; i < 32; i++)
            {
                int carry = 0;
                for (int k = 0; k < 32; k++)
                {
                    carry += wide[i + k] + a[i] * b[k];
                    wide[i + k] = (byte)(carry & 0xff);
                    carry >>= 8;
                }
                wide[i + 32] = (byte)carry; // nothing is there yet
            }
            return Reduce(wide);
        }

        /// <summary>The y of two points of order 8. The y of the two others is 2^255 - 19 less it.</summary>
        static readonly byte[] Eighth =
        {
            0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
            0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05
        };

        /// <summary>Whether a point, in any encoding, is one of the eight of small order: whoever has such a key needs no
        /// secret to sign.</summary>
        public static bool SmallOrder(byte[] b)
        {
            int zeros = 0, ones = 0, same = 0, less = 0;
            for (int i = 1; i < 32; i++)
            {
                int all = i == 31 ? 0x7f : 0xff, v = b[i] & all; // the highest bit is the sign of x
                zeros |= v;
                ones |= v ^ all;
                same |= v ^ Eighth[i];
                less |= v ^ (all - Eighth[i]);
            }
            return zeros == 0 && b[0] <= 1 || ones == 0 && b[0] >= 0xec && b[0] <= 0xee ||
                same == 0 && b[0] == Eighth[0] || less == 0 && b[0] == 0xed - Eighth[0];
        }

        public static bool BelowOrder(byte[] b, int at)
        {
            for (int i = 7; i >= 0; i--)
            {
                uint v = Reader.U32At(b, at + 4 * i);
                if (v != Order[i]) return v < Order[i];
            }
            return false;
        }

        public static byte[] Sha512(params byte[][] parts)
        {
            int n = 0;
            foreach (byte[] part in parts) n += part.Length;
            var all = new byte[n];
            n = 0;
            foreach (byte[] part in parts)
            {
                Buffer.BlockCopy(part, 0, all, n, part.Length);
                n += part.Length;
            }
            using (var sha = System.Security.Cryptography.SHA512.Create()) return sha.ComputeHash(all);
        }

        public static byte[] HashToOrder(params byte[][] parts) { return Reduce(Sha512(parts)); }
    }

    /// <summary>A secret key that is ready to sign.</summary>
    sealed class SecretKey
    {
        public readonly byte[] Key;
        readonly byte[] scalar = new byte[32], prefix = new byte[32];
        readonly CurveMath math = new CurveMath();
        readonly CurvePoint[] comb;

        public SecretKey(byte[] secret)
        {
            if (secret.Length != 32) throw new ArgumentException("a secret key has 32 bytes");
            byte[] digest = CurveMath.Sha512(secret);
            Buffer.BlockCopy(digest, 0, scalar, 0, 32);
            Buffer.BlockCopy(digest, 32, prefix, 0, 32);
            scalar[0] &= 0xf8;
            scalar[31] = (byte)(scalar[31] & 0x3f | 0x40);
            comb = math.CombOfBase();
            Key = math.Times(comb, scalar);
        }

        public byte[] Sign(byte[] message)
        {
            byte[] r = CurveMath.HashToOrder(prefix, message), point = math.Times(comb, r);
            byte[] s = CurveMath.MulAdd(CurveMath.HashToOrder(point, Key, message), scalar, r), to = new byte[64];
            Buffer.BlockCopy(point, 0, to, 0, 32);
            Buffer.BlockCopy(s, 0, to, 32, 32);
            return to;
        }
    }

    /// <summary>A public key that is ready to check signatures.</summary>
    sealed class PublicKeyCheck
    {
        readonly byte[] key;
        readonly CurveMath math = new CurveMath();
        readonly CurvePoint[] comb, minus;

        public PublicKeyCheck(byte[] key)
        {
            this.key = (byte[])key.Clone();
            CurvePoint p = CurveMath.SmallOrder(key) ? null : math.Point(key);
            if (p == null) return;
            math.Negate(p);
            comb = math.CombOfBase();
            minus = math.Comb(p);
        }

        public bool Verify(byte[] message, byte[] signature)
        {
            if (comb == null || !CurveMath.BelowOrder(signature, 32) || CurveMath.SmallOrder(signature)) return false;
            byte[] point = new byte[32], s = new byte[32];
            Buffer.BlockCopy(signature, 0, point, 0, 32);
            Buffer.BlockCopy(signature, 32, s, 0, 32);
            return Bytes.Equal(math.Times(comb, s, minus, CurveMath.HashToOrder(point, key, message)), 0, point, 0, 32);
        }
    }

    /// <summary>What a file of signatures is made of.</summary>
    static class Chain
    {
        public const uint HeaderFrame = 1, EntryFrame = 2, EndFrame = 3;
        public const int Entry = 144, End = 104, Signature = 64;
        public static readonly byte[] Magic = { 0x89, 0x54, 0x53, 0x49, 0x47, 0x53, 0x0d, 0x0a };

        public static Bytes Message(string purpose)
        {
            var b = new Bytes();
            b.Raw(Encoding.ASCII.GetBytes("desynctool tick-signatures 1 " + purpose + "\n"));
            return b;
        }

        public static byte[] Message(string purpose, byte[] body, int n)
        {
            Bytes b = Message(purpose);
            for (int i = 0; i < n; i++) b.U8(body[i]);
            return b.Copy(0, b.Length);
        }

        public static byte[] Hash(Bytes b)
        {
            var to = new byte[Sha256.Size];
            new Sha256().Hash(b.Array, 0, b.Length, to, 0);
            return to;
        }

        public static byte[] Genesis(ulong seed, byte[] key, byte[] start, byte[] peer)
        {
            Bytes b = Message("genesis");
            b.U64(seed); b.Raw(key); b.Raw(start); b.U32((uint)peer.Length); b.Raw(peer);
            return Hash(b);
        }

        public static byte[] Link(byte[] entry)
        {
            Bytes b = Message("link");
            b.Raw(entry);
            return Hash(b);
        }
    }

    /// <summary>Writes tick-signatures.bin: the state hashes of ticks, each signed together with all that were before.
    /// Dispose signs how many there are, and ends it: without that it is not known whether entries were cut
    /// off.</summary>
    public sealed class TickSignatures : IDisposable
    {
        readonly Frames file;
        readonly Func<byte[], byte[]> sign;
        readonly PublicKeyCheck check; // of what signs
        readonly byte[] key;
        byte[] link;
        ulong tick, count;
        bool ended;

        /// <summary>Signs with a secret key, the 32 bytes of its seed. Start is the state hash at the first point, null if it is not known.</summary>
        public TickSignatures(string path, ulong seed, string peer, byte[] secret, byte[] start = null) : this(Frames.Create(path), seed, peer, secret, start) { }

        public TickSignatures(Stream file, ulong seed, string peer, byte[] secret, byte[] start = null)
        {
            var own = new SecretKey(secret);
            key = own.Key;
            sign = own.Sign;
            this.file = Begin(file, seed, peer, start);
        }

        /// <summary>With a public key and what signs with it, such as a key store. What that gives is checked.</summary>
        public TickSignatures(string path, ulong seed, string peer, byte[] key, Func<byte[], byte[]> sign, byte[] start = null) : this(Frames.Create(path), seed, peer, key, sign, start) { }

        public TickSignatures(Stream file, ulong seed, string peer, byte[] key, Func<byte[], byte[]> sign, byte[] start = null)
        {
            if (key.Length != 32) throw new ArgumentException("a key has 32 bytes");
            this.key = (byte[])key.Clone();
            this.sign = sign;
            check = new PublicKeyCheck(key);
            this.file = Begin(file, seed, peer, start);
        }

        Frames Begin(Stream stream, ulong seed, string peer, byte[] start)
        {
            start = start ?? new byte[Sha256.Size];
            if (start.Length != Sha256.Size) throw new ArgumentException("a start hash has 32 bytes");
            byte[] name = Utf8.Strict.GetBytes(peer);
            if (name.Length > Session.MaxText) throw new ArgumentException("a peer's name of " + name.Length + " bytes, at most " + Session.MaxText);
            var frames = new Frames(stream, Chain.Magic);
            Bytes o = frames.Begin();
            o.MapHead(4);
            o.Str("seed"); o.UInt(seed);
            o.Str("peer"); o.Str(peer);
            o.Str("key"); o.Bin(key);
            o.Str("start"); o.Bin(start);
            frames.End(Chain.HeaderFrame);
            link = Chain.Genesis(seed, key, start, name);
            return frames;
        }

        /// <summary>The public key.</summary>
        public byte[] Key { get { return (byte[])key.Clone(); } }

        /// <summary>Signs the state hash of a tick: the hash of the state before its orders. Ticks ascend; those that
        /// are left out are counted.</summary>
        public void Append(ulong tick, byte[] stateHash)
        {
            if (stateHash.Length != Sha256.Size) throw new ArgumentException("a state hash has 32 bytes");
            if (count > 0 && tick <= this.tick) throw new ArgumentException("tick " + tick + " after tick " + this.tick);
            var b = new Bytes();
            b.Raw(link); b.U64(count > 0 ? tick - this.tick - 1 : 0); b.U64(tick); b.Raw(stateHash);
            link = Chain.Link(Write(Chain.EntryFrame, "entry", b));
            this.tick = tick;
            count++;
        }

        byte[] Write(uint kind, string purpose, Bytes body)
        {
            byte[] message = Chain.Message(purpose, body.Array, body.Length), signature = sign(message);
            if (signature.Length != Chain.Signature || check != null && !check.Verify(message, signature)) throw new ArgumentException("what signs did not sign with the key");
            body.Raw(signature);
            byte[] all = body.Copy(0, body.Length);
            file.Begin().Raw(all);
            file.End(kind);
            return all;
        }

        public void Dispose()
        {
            if (ended) return;
            ended = true;
            var b = new Bytes();
            b.Raw(link); b.U64(count);
            try { Write(Chain.EndFrame, "end", b); }
            finally { file.Dispose(); }
        }
    }

    /// <summary>What is found in a file of signatures.</summary>
    public enum FindingKind : byte { OtherKey = 1, Corrupt, Tampered, Missing, Contradiction, Skipped, MissingAtEnd, Open }

    /// <summary>Where something is found.</summary>
    public sealed class Finding
    {
        public FindingKind Kind;
        /// <summary>Of the frame, in bytes.</summary>
        public int Offset;
        /// <summary>Number of the entry, from 0.</summary>
        public ulong Entry;
        /// <summary>Tick of the entry before, and of this one; null where there is none or nobody knows.</summary>
        public ulong? After, Tick;

        /// <summary>What the kind means.</summary>
        public string Words { get { return WordsOf(Kind); } }

        public static string WordsOf(FindingKind kind)
        {
            switch (kind)
            {
                case FindingKind.OtherKey: return "the key is not the one that is trusted";
                case FindingKind.Corrupt: return "the file is damaged here: nothing after it is read";
                case FindingKind.Tampered: return "the signature is not valid and the checksum is right: somebody changed this, or made it without the key";
                case FindingKind.Missing: return "entries before this one are missing or were moved, or it is from another chain of the key";
                case FindingKind.Contradiction: return "the signer contradicts itself: the ticks do not ascend, or are not as many as it says";
                case FindingKind.Skipped: return "the signer itself left out ticks before this one: nothing was tampered with";
                case FindingKind.MissingAtEnd: return "entries at the end were removed or changed";
                case FindingKind.Open: return "there is no signed end: entries at the end may have been cut off";
            }
            return "";
        }
    }

    /// <summary>The content of a file of signatures, and what is found in it, in the order of the file.</summary>
    public sealed class CheckedSignatures
    {
        const int MaxFindings = 1000, MaxPayload = 1 << 20, Head = 16;

        public ulong Seed { get; private set; }
        public string Peer { get { return Utf8.Lenient.GetString(PeerBytes); } }
        public byte[] PeerBytes { get; private set; }
        public byte[] Key { get; private set; }
        public byte[] Start { get; private set; }
        public ulong Entries { get; private set; }
        /// <summary>How many entries from the start have no break before them or in them: Key signed them for this session.</summary>
        public ulong Bound { get; private set; }
        /// <summary>There is a signed end, and it agrees.</summary>
        public bool Closed { get; private set; }
        /// <summary>Nothing is found but ticks that the signer itself left out, and a missing end.</summary>
        public bool Whole { get; private set; }
        /// <summary>At most 1000; Found is how many there are.</summary>
        public readonly List<Finding> Findings = new List<Finding>();
        public ulong Found { get; private set; }

        readonly byte[] file;
        readonly Dictionary<ulong, int> bound = new Dictionary<ulong, int>(); // where the state hash of a tick is
        int at = 16, payload, length;
        uint kind;
        ulong frames;

        /// <summary>Checks the bytes of a tick-signatures.bin. Trusted is the public key that is trusted: without it
        /// the file shows that it is whole, and by one signer, but not by which one. InvalidDataException: its header
        /// cannot be read.</summary>
        public static CheckedSignatures Read(byte[] file, byte[] trusted = null) { return new CheckedSignatures(file, trusted); }

        /// <summary>The state hash of a tick, null if the tick has no bound entry.</summary>
        public byte[] StateHash(ulong tick)
        {
            int place;
            return bound.TryGetValue(tick, out place) ? Piece(place, Sha256.Size) : null;
        }

        CheckedSignatures(byte[] file, byte[] trusted)
        {
            this.file = file;
            if (file.Length < 8 || !Bytes.Equal(file, 0, Chain.Magic, 0, 8)) throw new InvalidDataException("not a tick-signatures.bin");
            if (file.Length < 16) throw new InvalidDataException("torn in the preamble");
            if (Reader.U32At(file, 12) != Crc32C.Of(file, 0, 12)) throw new InvalidDataException("the preamble fails its checksum");
            if (Reader.U32At(file, 8) != 1) throw new InvalidDataException("expected version 1 without flags");
            if (Next() != State.Whole || kind != Chain.HeaderFrame) throw new InvalidDataException("the header is missing or damaged");
            ReadHeader();
            Whole = true;
            bool believed = trusted == null || trusted.Length == 32 && Bytes.Equal(trusted, 0, Key, 0, 32);
            if (!believed) Find(FindingKind.OtherKey, 16, null, null);
            Check(believed);
        }

        byte[] Piece(int from, int n)
        {
            var b = new byte[n];
            Buffer.BlockCopy(file, from, b, 0, n);
            return b;
        }

        enum State { Whole, Clean, Torn, Corrupt }

        /// <summary>Torn if from some byte of a part that fails its checksum on there is nothing but zero, as a crash leaves it.</summary>
        State Fails(int part, int end)
        {
            int begin = file.Length;
            while (begin > part && file[begin - 1] == 0) begin--;
            return begin < end && file.Length - begin >= 16 ? State.Torn : State.Corrupt;
        }

        /// <summary>Goes to the next frame. at stays at what ends the file.</summary>
        State Next()
        {
            int left = file.Length - at - Head;
            if (left < 0) return State.Torn;
            if (Reader.U32At(file, at + 12) != Crc32C.Of(file, at, 12)) return Fails(at, at + Head);
            uint n = Reader.U32At(file, at);
            kind = Reader.U32At(file, at + 4);
            if (n > MaxPayload) return State.Corrupt;
            if (n > left) return State.Torn;
            payload = at + Head;
            length = (int)n;
            if (Reader.U32At(file, at + 8) != Crc32C.Of(file, payload, length)) return Fails(payload, payload + length);
            if (kind != 0xffffffff)
            {
                at = payload + length;
                frames++;
                return State.Whole;
            }
            if (length != 8 || Reader.U64Of(file, payload) != frames) return State.Corrupt;
            if (left == 8) return State.Clean;
            at += Head + 8;
            return State.Corrupt;
        }

        void ReadHeader()
        {
            var r = new Reader(file, payload, payload + length);
            r.Scan();
            var seen = new HashSet<string>();
            for (int n = r.MapHead("the header", int.MaxValue); n > 0; n--)
            {
                string name = r.Str("a key", int.MaxValue);
                if (name != "seed" && name != "peer" && name != "key" && name != "start") { r.Skip(); continue; }
                if (!seen.Add(name)) throw new InvalidDataException("the header has " + name + " twice");
                if (name == "seed") Seed = r.UInt(name);
                else if (name == "peer") PeerBytes = r.StrBytes(name);
                else if (name == "key") Key = r.Hash(name);
                else Start = r.Hash(name);
            }
            if (seen.Count != 4) throw new InvalidDataException("the header lacks seed, peer, key or start");
        }

        void Find(FindingKind kind, int offset, ulong? after, ulong? tick)
        {
            Found++;
            if (Found > MaxFindings || kind != FindingKind.Skipped && kind != FindingKind.Open) Whole = false;
            if (Found <= MaxFindings) Findings.Add(new Finding { Kind = kind, Offset = offset, Entry = Entries, After = after, Tick = tick });
        }

        void Check(bool believed)
        {
            var check = new PublicKeyCheck(Key);
            byte[] link = Chain.Genesis(Seed, Key, Start, PeerBytes);
            ulong? before = null;
            bool unbroken = true, tampered = false, ended = false;
            while (true)
            {
                int offset = at;
                State state = Next();
                if (state == State.Whole && (ended || !(kind == Chain.EntryFrame && length == Chain.Entry || kind == Chain.EndFrame && length == Chain.End)))
                {
                    Find(FindingKind.Corrupt, offset, null, null);
                    return;
                }
                if (state == State.Corrupt) Find(FindingKind.Corrupt, at, null, null);
                else if (state != State.Whole && !ended) Find(FindingKind.Open, offset, before, null);
                if (state != State.Whole) return;
                byte[] all = Piece(payload, length);
                bool entry = kind == Chain.EntryFrame, linked = Bytes.Equal(all, 0, link, 0, Sha256.Size);
                bool valid = check.Verify(Chain.Message(entry ? "entry" : "end", all, length - Chain.Signature), Piece(at - Chain.Signature, Chain.Signature));
                ulong number = Reader.U64Of(all, 32);
                if (!entry)
                {
                    ended = true;
                    if (!valid) Find(FindingKind.Tampered, offset, before, null);
                    else if (!linked && !(tampered && number == Entries)) Find(FindingKind.MissingAtEnd, offset, before, null);
                    else if (number != Entries && unbroken) Find(FindingKind.Contradiction, offset, before, null); // else what is missing has been said
                    else Closed = true;
                    continue;
                }
                ulong tick = Reader.U64Of(all, 40);
                bool follows = before == null ? number == 0 : tick > before && number == tick - before.Value - 1;
                if (!valid) Find(FindingKind.Tampered, offset, before, tick);
                else if (tampered) { } // what it followed is not known
                else if (!linked) Find(FindingKind.Missing, offset, before, tick);
                else if (!follows) Find(FindingKind.Contradiction, offset, before, tick);
                else if (number > 0) Find(FindingKind.Skipped, offset, before, tick);
                tampered = !valid;
                unbroken = unbroken && valid && linked && follows;
                if (unbroken && believed)
                {
                    bound[tick] = payload + 48;
                    Bound++;
                }
                Entries++;
                link = Chain.Link(all);
                before = tick;
            }
        }
    }
}
