#!/usr/bin/env python3
"""Makes a small core file from a little-endian one, with the parts that tests/unit/unwind_core.c reads.

usage: small.py CORE OUT

The small core file has the registers and the auxiliary vector, and of the memory the [vdso], the code at the pc if the
core has it, and the stack from the page of the stack pointer on.
"""

import collections
import struct
import sys

NT_PRSTATUS, NT_AUXV, AT_SYSINFO_EHDR, PT_LOAD, PT_NOTE = 1, 6, 33, 1, 4
PAGE = 4096
# By ELF class: the header, a program header and the offsets of its fields, an entry of the auxiliary vector.
Layout = collections.namedtuple('Layout', 'header phdr type offset address size flags auxv')
LAYOUTS = {1: Layout('<16sHHIIIIIHHHHHH', '<IIIIIIII', 0, 1, 2, 4, 6, '<II'),
           2: Layout('<16sHHIQQQIHHHHHH', '<IIQQQQQQ', 0, 2, 3, 5, 1, '<QQ')}
# By ELF machine: the offsets of the stack pointer and the pc in NT_PRSTATUS, and their format.
REGISTERS = {40: (72 + 13 * 4, 72 + 15 * 4, '<I'), 183: (112 + 31 * 8, 112 + 32 * 8, '<Q')}


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
    layout = LAYOUTS[core[4]]
    header = list(struct.unpack_from(layout.header, core))
    phdrs = [struct.unpack_from(layout.phdr, core, header[5] + header[9] * i) for i in range(header[10])]

    def data_of(phdr):
        return core[phdr[layout.offset]:phdr[layout.offset] + phdr[layout.size]]

    def made(kind, offset, address, size, align):
        fields = [0] * 8
        fields[layout.type], fields[layout.offset], fields[layout.address], fields[layout.size] = kind, offset, address, size
        fields[layout.size + 1], fields[layout.flags], fields[7] = size if kind == PT_LOAD else 0, 4 if kind == PT_LOAD else 0, align
        return struct.pack(layout.phdr, *fields)
    notes = b''.join(data_of(p) for p in phdrs if p[layout.type] == PT_NOTE)
    kept, vdso, sp, pc = b'', 0, 0, 0
    for kind, name, desc, whole in notes_of(notes):
        if name != b'CORE\0' or kind not in (NT_PRSTATUS, NT_AUXV):
            continue
        kept += whole
        if kind == NT_PRSTATUS:
            at_sp, at_pc, form = REGISTERS[header[2]]
            (sp,), (pc,) = struct.unpack_from(form, desc, at_sp), struct.unpack_from(form, desc, at_pc)
        else:
            vdso = dict(struct.iter_unpack(layout.auxv, desc)).get(AT_SYSINFO_EHDR, 0)
    memory = []
    for p in phdrs:
        address, data = p[layout.address], data_of(p)
        if p[layout.type] != PT_LOAD:
            continue
        if address == vdso or address <= pc < address + len(data):
            memory.append((address, data))
        elif address <= sp < address + len(data):
            skip = (sp - address) // PAGE * PAGE
            memory.append((address + skip, data[skip:]))
    size, count = struct.calcsize(layout.header), 1 + len(memory)
    header[5], header[6], header[10], header[12], header[13] = size, 0, count, 0, 0
    offset = size + struct.calcsize(layout.phdr) * count
    table, body = made(PT_NOTE, offset, 0, len(kept), 4), kept
    for address, data in memory:
        table += made(PT_LOAD, offset + len(body), address, len(data), 1)
        body += data
    with open(sys.argv[2], 'wb') as file:
        file.write(struct.pack(layout.header, *header) + table + body)


if __name__ == '__main__':
    main()
