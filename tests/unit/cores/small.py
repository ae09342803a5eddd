#!/usr/bin/env python3
"""Makes a small core of a 64-bit, little-endian one: what tests/unit/unwind_core.c reads of it.

usage: small.py CORE OUT

Kept are the registers and auxiliary vector, of the memory the [vdso] and the stack from its pointer's page on.
"""

import struct
import sys

NT_PRSTATUS, NT_AUXV, AT_SYSINFO_EHDR, PT_LOAD, PT_NOTE = 1, 6, 33, 1, 4
PAGE = 4096
SP = {183: 112 + 31 * 8}  # by ELF machine: where NT_PRSTATUS has the stack pointer


def notes_of(data):
    at = 0
    while at < len(data):
        name_size, size, kind = struct.unpack_from('<III', data, at)
        begin = at + 12 + (name_size + 3 & ~3)
        end = begin + (size + 3 & ~3)
        yield kind, data[at + 12:at + 12 + name_size], data[begin:begin + size], data[at:end]
        at = end


def main():
    with open(sys.argv[1], 'rb') as file:
        core = file.read()
    header = list(struct.unpack_from('<16sHHIQQQIHHHHHH', core))
    phdrs = [struct.unpack_from('<IIQQQQQQ', core, header[5] + 56 * i) for i in range(header[10])]
    notes = b''.join(core[p[2]:p[2] + p[5]] for p in phdrs if p[0] == PT_NOTE)
    kept, vdso, sp = b'', 0, 0
    for kind, name, desc, whole in notes_of(notes):
        if name != b'CORE\0' or kind not in (NT_PRSTATUS, NT_AUXV):
            continue
        kept += whole
        if kind == NT_PRSTATUS:
            sp, = struct.unpack_from('<Q', desc, SP[header[2]])
        else:
            vdso = dict(struct.iter_unpack('<QQ', desc)).get(AT_SYSINFO_EHDR, 0)
    memory = []
    for p in phdrs:
        data = core[p[2]:p[2] + p[5]]
        if p[0] == PT_LOAD and p[3] == vdso:
            memory.append((p[3], data))
        elif p[0] == PT_LOAD and p[3] <= sp < p[3] + p[5]:
            skip = (sp - p[3]) // PAGE * PAGE
            memory.append((p[3] + skip, data[skip:]))
    header[5], header[6], header[10], header[12], header[13] = 64, 0, 1 + len(memory), 0, 0
    offset = 64 + 56 * header[10]
    table, body = struct.pack('<IIQQQQQQ', PT_NOTE, 0, offset, 0, 0, len(kept), 0, 4), kept
    for address, data in memory:
        table += struct.pack('<IIQQQQQQ', PT_LOAD, 4, offset + len(body), address, 0, len(data), len(data), 1)
        body += data
    with open(sys.argv[2], 'wb') as file:
        file.write(struct.pack('<16sHHIQQQIHHHHHH', *header) + table + body)


if __name__ == '__main__':
    main()
