#!/usr/bin/env python3
"""hostile.py PORT SECONDS SEED TARGET... - writes to the agents' streams what no agent would: noise, broken copies of what is there,
and well-formed batches with impossible numbers, strangers and lies about TARGETs (IP:PORT, @instance). Prints how many of each."""
import collections
import random
import socket
import struct
import sys
import time

LIVE, KEPT = b"infer:1:{default}:live", b"infer:1:{default}:kept"
STRANGERS = ["10.9.8.7:22", "127.0.0.1:1", "[::1]:8000", "@infer-agents", "@", "", "r0", "a" * 300, "\x00\xff", "127.0.0.1:99999"]
LADDERS = ["4x1k,12x4k,8x8k,8x32k", "1x1", "x" * 200, ""]


def pack(value):
    """msgpack of what batches are made of, and of what they are not."""
    if value is None:
        return b"\xc0"
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return b"\xcf" + struct.pack(">Q", value) if value >= 0 else b"\xd3" + struct.pack(">q", value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogatepass")
        return b"\xda" + struct.pack(">H", len(value)) + value
    if isinstance(value, bytes):
        return b"\xc5" + struct.pack(">H", len(value)) + value
    if isinstance(value, dict):
        return b"\xde" + struct.pack(">H", len(value)) + b"".join(pack(k) + pack(v) for k, v in value.items())
    return b"\xdc" + struct.pack(">H", len(value)) + b"".join(map(pack, value))


class Store:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.file = self.socket.makefile("rb")

    def ask(self, *words):
        words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
        return self.reply()

    def reply(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"$":
            return None if rest == b"-1" else self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return None if rest == b"-1" else [self.reply() for _ in range(int(rest))]
        return rest


def number(rng):
    return rng.choice([0, 1, -1, rng.randrange(100), 2**31, 2**32, 2**53, 2**63 - 1, 2**64 - 1, -(2**63), 1e308, float("nan"), float("inf"), None, "7", [1]])


def entry(rng, names):
    """Of a kind that there is, or is not, with values that fit or do not."""
    name = rng.randrange(names) if rng.random() < 0.9 else number(rng)
    hashes = rng.randbytes(8 * rng.choice([0, 1, 4, 32, 33, 1000])) + rng.randbytes(rng.choice([0, 0, 3]))
    kind = rng.choice([*range(1, 12), 0, 12, 255, 2**40, None, "load"])
    values = {
        1: [name] + [number(rng) for _ in range(5)],
        2: [name, number(rng), number(rng)],
        3: [name, rng.choice([1000, 2**62, number(rng)])],
        4: [name],
        5: [],
        6: [name, rng.randrange(names), hashes],
        7: [name, rng.randrange(names), hashes],
        8: [name],
        9: [name, number(rng), number(rng), rng.choice([None, name, rng.randrange(names)])],
        10: [number(rng), number(rng), "tenant", "model", number(rng), number(rng), number(rng), number(rng)],
        11: [number(rng), "t" * rng.choice([1, 500]), number(rng)],
    }.get(kind, [number(rng) for _ in range(rng.randrange(6))])
    return [kind] + values[: rng.choice([len(values), len(values), len(values), rng.randrange(len(values) + 1)])]


def batch(rng, targets):
    names = targets + rng.sample(STRANGERS, 4) + rng.sample(LADDERS, 2)
    rng.shuffle(names)
    agent = rng.choice([0, 1, 2**64 - 1, rng.getrandbits(64)])
    sequence = rng.choice([0, 1, rng.getrandbits(20), 2**64 - 1])
    return pack([rng.choice([1, 1, 1, 1, 0, 2, -1]), agent, sequence, names, [entry(rng, len(names)) for _ in range(rng.randrange(60))]])


def broken(rng, store, key):
    """What an agent wrote, with some of its bytes changed, cut or doubled."""
    there = store.ask("XREVRANGE", key, "+", "-", "COUNT", 20)
    if not there or not isinstance(there, list):
        return b"\xdd\x00\xff\xff\xff"
    data = bytearray(rng.choice(there)[1][1])
    for _ in range(rng.randrange(1, 8)):
        if data:
            data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data[: rng.choice([len(data), rng.randrange(len(data) + 1)])]) * rng.choice([1, 1, 2])


def main():
    port, seconds, rng, targets = int(sys.argv[1]), float(sys.argv[2]), random.Random(int(sys.argv[3])), sys.argv[4:]
    store, until, written = Store(port), time.monotonic() + seconds, collections.Counter()
    while time.monotonic() < until:
        key = rng.choice([LIVE, KEPT])
        plan = rng.choice(["noise", "broken", "broken", "lies", "lies", "lies", "nested", "large", "fields", "counts"])
        fields = {
            "noise": lambda: [b"b", rng.randbytes(rng.randrange(2000))],
            "broken": lambda: [b"b", broken(rng, store, key)],
            "lies": lambda: [b"b", batch(rng, targets)],
            "nested": lambda: [b"b", b"\x91" * rng.choice([33, 5000]) + b"\xc0"],
            "large": lambda: [b"b", rng.randbytes(rng.choice([40000, 2000000]))],
            "fields": lambda: [rng.randbytes(3), b"", b"b", b"", b"b", batch(rng, targets)] * rng.choice([1, 50]),
            "counts": lambda: [b"b", rng.choice([b"\xdd\x00\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xdc\xff\xff" * 31, b"\xc6\xff\xff\xff\xff", b"\xc1", b""])],
        }[plan]()
        if plan == "large" and rng.random() < 0.8:
            continue
        store.ask("XADD", key, "MAXLEN", "~", 2000, "*", *fields)
        written[plan] += 1
        time.sleep(0.003)
    print(" ".join(f"{plan}={count}" for plan, count in sorted(written.items())))


main()
