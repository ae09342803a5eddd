"""Encodes binary traces without the program's own writer.

A trace is a list of tuples, each a packet:

    ("PINF", pid, seconds, microseconds, depth, name)
    ("MINF", id, major, minor, name)
    ("RESR", id, flags, type, description)
    ("CTXR", id, name)
    ("MMAP", from, to, path)
    ("CALL", resource, context, milliseconds, kind, name, size, id)
    ("BTRC", frame...)
    ("ARGS", (name, value)...)
    ("HINF", bottom, top, figure...)
    ("FILE", name, path)
    ("THRD", tid, name)  ("NOTE", text)  ("BLID", from, hex)  ("USEC", microseconds)  ("NTIM",)  ("ATCH",)
    ("RAW", type, bytes)

Dialects: "1.4" (the protocol document), "2.0" (the sp-rtrace 2.0 tools), "1.3" (old sp-rtrace: the packet's size,
which counts the type, before the type; fields in the order of 2.0).
"""

import struct


class Encoder:
    def __init__(self, dialect, pointer_size, big_endian, arch="x86_64"):
        self.dialect = dialect
        self.pointer_size = pointer_size
        self.order = ">" if big_endian else "<"
        self.big_endian = big_endian
        self.arch = arch.encode()

    def handshake(self):
        major, minor = {"1.4": (1, 4), "2.0": (2, 0), "1.3": (1, 3)}[self.dialect]
        body = bytes([major, minor, len(self.arch)]) + self.arch
        body += bytes([self.big_endian, self.pointer_size])
        body += b"\0" * (-(2 + len(body)) % 4)
        return bytes([0xF0, len(body)]) + body

    def dword(self, value):
        return struct.pack(self.order + "I", value)

    def pointer(self, value):
        return struct.pack(self.order + ("Q" if self.pointer_size == 8 else "I"), value)

    def string(self, text):
        data = text.encode()
        padding = -(2 + len(data)) % 4
        length = len(data) if self.dialect == "1.4" or not data else len(data) + padding
        return struct.pack(self.order + "H", length) + data + b"\0" * padding

    def call(self, resource, context, time, kind, name, size, ident):
        if self.dialect == "1.4":
            return (self.dword(time) + self.dword(resource) + self.dword(context) + self.dword(kind)
                    + self.string(name) + self.pointer(ident) + self.dword(size))
        return (self.dword(resource) + self.dword(context) + self.dword(time) + self.dword(kind)
                + self.string(name) + self.dword(size) + self.pointer(ident))

    def data(self, packet):
        kind, fields = packet[0], packet[1:]
        d, p, s = self.dword, self.pointer, self.string
        if kind == "PINF":
            pid, sec, usec, depth, name = fields
            return d(pid) + d(sec) + d(usec) + d(depth) + s(name)
        if kind == "MINF":
            return d(fields[0]) + d(fields[1] << 16 | fields[2]) + s(fields[3])
        if kind == "RESR":
            return d(fields[0]) + d(fields[1]) + s(fields[2]) + s(fields[3])
        if kind == "CTXR":
            return d(fields[0]) + s(fields[1])
        if kind == "MMAP":
            return p(fields[0]) + p(fields[1]) + s(fields[2])
        if kind == "CALL":
            return self.call(*fields)
        if kind == "BTRC":
            return d(len(fields)) + b"".join(map(p, fields))
        if kind == "ARGS":
            return d(len(fields)) + b"".join(s(n) + s(v) for n, v in fields)
        if kind == "HINF":
            return p(fields[0]) + p(fields[1]) + b"".join(map(d, fields[2:]))
        if kind == "FILE":
            return s(fields[0]) + s(fields[1])
        if kind == "THRD":
            return d(fields[0]) + s(fields[1])
        if kind == "NOTE":
            return s(fields[0])
        if kind == "USEC":
            return d(fields[0])
        if kind in ("NTIM", "ATCH"):
            return b""
        if kind == "BLID":
            return p(fields[0]) + s(fields[1])
        raise ValueError(kind)

    def packet(self, packet):
        if packet[0] == "RAW":
            kind, data = packet[1], packet[2]
        else:
            kind, data = packet[0], self.data(packet)
        letters = kind.encode()
        if self.big_endian and self.dialect != "1.4":
            # sp-rtrace stores the type as a dword whose lowest byte is the first letter.
            letters = letters[::-1]
        if self.dialect == "1.3":
            return self.dword(4 + len(data)) + letters + data
        return letters + self.dword(len(data)) + data

    def trace(self, packets):
        return self.handshake() + b"".join(map(self.packet, packets))
