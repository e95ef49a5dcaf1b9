// Does with desynctool.ts what signatures.py describes.
import {
    CheckedSignatures, Damaged, FindingKind, TickSignatures, findingWords, publicKey, sign, verify,
} from "../typescript/desynctool.ts";
import type { U64 } from "../typescript/desynctool.ts";

const fs = await import("node:fs" as string);
const argv: string[] = (globalThis as unknown as { process: { argv: string[] } }).process.argv;

const hex = (b: Uint8Array): string => Array.from(b, (v) => v.toString(16).padStart(2, "0")).join("") || "-";
const unhex = (s: string): Uint8Array => Uint8Array.from(s === "-" ? [] : s.match(/../g) ?? [], (v) => parseInt(v, 16));
const say = (line: string): void => { fs.writeSync(1, line + "\n"); };

/** The lines of stdin, each as soon as it is there. */
function* lines(): Generator<string> {
    const piece = new Uint8Array(65536);
    let text = "";
    for (;;) {
        let n = 0;
        try {
            n = fs.readSync(0, piece);
        } catch (e) {
            if ((e as { code?: string }).code === "EAGAIN") continue;
            if ((e as { code?: string }).code !== "EOF") throw e;
        }
        if (n === 0) return;
        text += new TextDecoder().decode(piece.subarray(0, n));
        for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n")) {
            yield text.slice(0, at);
            text = text.slice(at + 1);
        }
    }
}

function write(path: string): void {
    const all = lines(), [seed, peer, start, key, how] = (all.next().value as string).split(" ") as [string, string, string, string, string];
    const secret = unhex(key), file = fs.openSync(path, "w");
    const signer = how === "own" ? { secret } : { key: publicKey(secret), sign: (message: Uint8Array) => sign(secret, message) };
    const chain = new TickSignatures((bytes) => fs.writeSync(file, bytes), BigInt(seed), new TextDecoder().decode(unhex(peer)), signer, unhex(start));
    for (const line of all) {
        if (line === "close") return chain.close();
        const [tick, hash] = line.split(" ") as [string, string];
        try {
            chain.append(BigInt(tick), unhex(hash));
            say(tick);
        } catch (e) {
            if (!(e instanceof RangeError)) throw e;
            say("refused");
        }
    }
}

const number = (v: U64 | null): string => v === null ? "-" : v.toString();

function check(r: Uint8Array): string {
    let c: CheckedSignatures;
    try {
        c = new CheckedSignatures(r.subarray(41), r[0] ? r.subarray(1, 33) : null);
    } catch (e) {
        if (e instanceof Damaged) return "refused";
        throw e;
    }
    const state = c.stateHash(new DataView(r.buffer, r.byteOffset).getBigUint64(33, true));
    return [c.seed, hex(c.peerBytes), hex(c.key), hex(c.start), c.entries, c.bound, Number(c.closed), Number(c.whole), c.found, state ? hex(state) : "-",
        ...c.findings.map((f) => `${f.kind}@${f.offset}#${f.entry}:${number(f.after)}:${number(f.tick)}`)].join(" ");
}

function measure(n: number): void {
    const secret = new Uint8Array(32), pieces: Uint8Array[] = [], begin = performance.now();
    const chain = new TickSignatures((bytes) => pieces.push(bytes), 0, "", { secret });
    for (let tick = 0; tick < n; tick++) chain.append(tick, secret);
    const made = performance.now();
    chain.close();
    const c = new CheckedSignatures(Uint8Array.from(pieces.flatMap((p) => [...p])));
    if (c.bound !== n) throw new Error("not all are bound");
    say(`${Math.round(n * 1000 / (made - begin))} ${Math.round(n * 1000 / (performance.now() - made))}`);
}

const mode = argv[2];
if (mode === "write") {
    write(argv[3]!);
} else if (mode === "time") {
    measure(Number(argv[3]));
} else if (mode === "words") {
    for (const kind of Object.values(FindingKind)) say(findingWords(kind));
} else {
    const stdin = new Uint8Array(fs.readFileSync(0)), view = new DataView(stdin.buffer);
    for (let at = 0; at < stdin.length;) {
        const n = view.getUint32(at, true), r = stdin.subarray(at + 4, at + 4 + n);
        at += 4 + n;
        if (mode === "check") say(check(r));
        else if (mode === "verify") say(verify(r.subarray(0, 32), r.subarray(96), r.subarray(32, 96)) ? "1" : "0");
        else say(`${hex(publicKey(r.subarray(0, 32)))} ${hex(sign(r.subarray(0, 32), r.subarray(32)))}`);
    }
}
