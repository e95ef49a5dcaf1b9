"""What signatures_test.go asks of each language, with desynctool.py:

write FILE   from stdin a line "seed peer start secret own|store", the peer in hexadecimal or "-", then "tick hash" for each entry, which is answered
             with the tick or "refused", and "close". Without that it ends as a game that crashes
check        of each record on stdin, which is 0 or 1, a key, a tick and a file: what is found
sign         of each record, a secret key and a message: the public key and the signature
verify       of each record, a key, a signature and a message: 1 or 0
words        what is said of each kind of finding
time N       how many signatures a second are made, and checked

A record is its length in 4 bytes and so many bytes.
"""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))

from desynctool import Damaged, FindingKind, TickSignatures, check_signatures, public_key, sign, verify  # noqa: E402


def records():
    while True:
        length = sys.stdin.buffer.read(4)
        if not length:
            return
        yield sys.stdin.buffer.read(int.from_bytes(length, "little"))


def write(path):
    seed, peer, start, secret, how = sys.stdin.readline().rstrip("\n").split(" ")
    peer, start, secret = (bytes.fromhex(v) for v in (peer.replace("-", ""), start, secret))
    peer = peer.decode("utf-8", "surrogateescape")
    if how == "own":
        chain = TickSignatures(path, int(seed), peer, secret, start)
    else:
        chain = TickSignatures(path, int(seed), peer, start=start, key=public_key(secret), sign=lambda message: sign(secret, message))
    for line in iter(sys.stdin.readline, ""):
        if line == "close\n":
            chain.close()
            return
        tick, state = line.split()
        try:
            chain.append(int(tick), bytes.fromhex(state))
            print(tick, flush=True)
        except ValueError:
            print("refused", flush=True)
    os._exit(0)


def number(v):
    return "-" if v is None else str(v)


def check():
    for r in records():
        tick, file = int.from_bytes(r[33:41], "little"), r[41:]
        try:
            c = check_signatures(file, r[1:33] if r[0] else None)
        except Damaged:
            print("refused")
            continue
        state = c.state_hash(tick)
        print(c.seed, c.peer.encode("utf-8", "surrogateescape").hex() or "-", c.key.hex(), c.start.hex(), c.entries, c.bound, int(c.closed),
              int(c.whole), c.found, state.hex() if state else "-",
              *("%d@%d#%d:%s:%s" % (f.kind, f.offset, f.entry, number(f.after), number(f.tick)) for f in c.findings))


def measure(n):
    secret, signature = bytes(32), b""
    key = public_key(secret)
    begin = time.perf_counter()
    for i in range(n):
        signature = sign(secret, i.to_bytes(8, "little"))
    made = time.perf_counter()
    for i in range(n):
        verify(key, i.to_bytes(8, "little"), signature)
    print("%.0f %.0f" % (n / (made - begin), n / (time.perf_counter() - made)))


mode = sys.argv[1]
if mode == "write":
    write(sys.argv[2])
elif mode == "check":
    check()
elif mode == "sign":
    for r in records():
        print(public_key(r[:32]).hex(), sign(r[:32], r[32:]).hex())
elif mode == "verify":
    for r in records():
        print(int(verify(r[:32], r[96:], r[32:96])))
elif mode == "words":
    for kind in FindingKind:
        print(kind.words)
else:
    measure(int(sys.argv[2]))
