#!/usr/bin/env python3
"""StackTrack's write cycles, which this test decodes itself, and entries of another layout, read by its description.

The program is $FUNCTRACE_POSTPROC. Prints TAP.
"""

import os
import re
import struct
import subprocess
import sys
import time
from xml.etree import ElementTree

import golden
from encode import Encoder
from run import LONG, PROGRAM, main, run, text_of

HIT, FLOC, FPROPERTY, SLOC, PROLOGUE, PROCINFO, TIMEINFO, TIMETYPE, INFO = 0, 1, 2, 3, 4, 5, 6, 7, 0xff
MEMBERS = {HIT: "qHH", FLOC: "hHh", FPROPERTY: "hHh", SLOC: "HhhHh", PROLOGUE: "IIBBB", PROCINFO: "HH", TIMEINFO: "qq",
           TIMETYPE: "qH"}
# The index of the member that is the number of the write cycle, by kind of entry.
CYCLE = {FLOC: 1, FPROPERTY: 1, SLOC: 3, PROCINFO: 1}


class Entry:
    """An entry with its text."""

    def __init__(self, kind, sequence, members):
        self.kind, self.sequence, self.members, self.text, self.size = kind, sequence, members, "", 1


def decode(data):
    order = "<" if data[8:12] == b"\x78\x56\x34\x12" else ">"
    entries = []
    assert len(data) % 24 == 0, len(data)
    for at in range(0, len(data), 24):
        flags, _pid, sequence = struct.unpack_from(order + "HHI", data, at)
        if flags & 0xff == INFO:
            assert entries[-1].sequence == sequence
            entries[-1].text += data[at + 8:at + 24].rstrip(b"\0").decode()
            entries[-1].size += 1
        else:
            entries.append(Entry(flags & 0xff, sequence, struct.unpack_from(order + MEMBERS[flags & 0xff], data, at + 8)))
    return entries


def cycles_of(data):
    """Lists of entries, each from a prologue on, and the offset of each list in the data."""
    cycles, starts, at = [], [], 0
    for entry in decode(data):
        if entry.kind == PROLOGUE:
            cycles.append([])
            starts.append(at)
        cycles[-1].append(entry)
        at += 24 * entry.size
    assert at == len(data), (at, len(data))
    return cycles, starts


def made_trace(big_endian):
    """A trace with libraries that are loaded and unloaded, threads, functions, stacks, arguments and notes."""
    packets = golden.DECLARATIONS + [("BLID", 0xF7000000, "0123abcd")]
    for i in range(40):
        if i % 8 == 1:
            packets.append(("MMAP", 0x500000, 0x501000, f"/lib/plugin{i}.so"))
            packets.append(("BLID", 0x500000, f"{i:040x}"))
        if i % 5 == 2:
            packets.append(("THRD", 4242 + i, f"worker {i}"))
        packets.append(("CALL", 0, i & 3, 3661000 + i, 2, ("malloc", "calloc", "operator new(unsigned long)")[i % 3],
                        100 + i, 0x602000 + 256 * i))
        packets.append(("BTRC",) + tuple(0x400100 + 16 * j for j in range(i % 4 + 1)))
        if i % 7 == 3:
            packets.append(("ARGS", ("size", str(100 + i))))
            packets.append(("NOTE", f"received signal {i}"))
    return Encoder("1.4", 8, big_endian, golden.ARCH[8, big_endian]).trace(packets)


def check_cycle(number, cycle, size, is_last):
    kinds = [entry.kind for entry in cycle[:4]]
    assert kinds == [PROLOGUE, PROCINFO, TIMETYPE, TIMEINFO], kinds
    wrong = [entry.kind for entry in cycle if entry.kind in CYCLE and entry.members[CYCLE[entry.kind]] != number]
    assert not wrong, (number, wrong)
    scopes = {}
    for entry in cycle:
        if entry.kind == SLOC:
            assert entry.members[0] not in scopes, (number, entry.text)
            scopes[entry.members[0]] = entry.text
        assert entry.kind != HIT or entry.members[1] in scopes, (number, entry.text)
    # The head of a cycle has sequence number 0, and the records follow. In the first cycle the record of the process
    # is a part of the head.
    begin = [entry for entry in cycle if entry.sequence == 0 or (number == 0 and entry.sequence == 1)]
    assert begin == cycle[:len(begin)]
    records = cycle[len(begin):]
    last = [entry.size for entry in records if entry.sequence == records[-1].sequence]
    total = sum(entry.size for entry in records)
    assert total - sum(last) < size and (is_last or total >= size), (number, total, last)
    return begin, scopes


def words(entry, scopes):
    return f"{scopes[entry.members[1]]} {entry.text}" if entry.kind == HIT else entry.text


STACK = re.compile(r" ?\bstack=([0-9]+)")


def records_of(entries):
    """Returns sequence numbers and texts. A stack is written once in a cycle, and later calls have its number: the
    number is replaced by the stack."""
    stacks, records = {}, []
    for e in entries:
        stacks = {} if e.kind == PROLOGUE else stacks
        if not e.sequence or e.kind not in (HIT, FLOC, FPROPERTY):
            continue
        number, text = STACK.search(e.text), STACK.sub("", e.text)
        records.append((e.sequence, text))
        if number and text.startswith("frames="):
            stacks[number[1]] = text
        elif number:
            records.append((e.sequence, stacks[number[1]]))
    return sorted(records)


def a_stack_is_written_once_in_a_cycle(_folder):
    for big in (False, True):
        trace = made_trace(big)
        data = run("-q", "-f", "stacktrack", "-", data=trace, check=0).stdout
        texts = [e.text for e in decode(data)]
        defined = [text for text in texts if text.startswith("frames=")]
        numbers = [STACK.search(text)[1] for text in defined]
        # Four stacks of forty calls.
        assert [text.split()[0] for text in defined] == ["frames=%d" % i for i in (1, 2, 3, 4)], defined
        assert len(set(numbers)) == 4 and all(int(number) < 4096 for number in numbers), numbers
        told = [STACK.search(text)[1] for text in texts if text.startswith("alloc=") and STACK.search(text)]
        assert told == numbers * 9, told
        # If a call has the number of a stack that was not written, the call is shown without its stack.
        last = data.rindex(b"=" + numbers[3].encode())
        changed = data[:last] + b"=" + b"7" * len(numbers[3]) + data[last + 1 + len(numbers[3]):]
        done = run("-", data=changed)
        assert b"has stack " + b"7" * len(numbers[3]) + b", which no earlier call has defined" in done.stderr, done.stderr
        whole, text = text_of(data).decode().splitlines(), done.stdout.decode().splitlines()
        frames = ["\t0x%x" % (0x400100 + 16 * j) for j in range(4)]
        at = max(i for i in range(len(whole)) if whole[i:i + 4] == frames)
        assert text[:at] == whole[:at] and text[at:] == ["\t0x0 (lost)"] + whole[at + 4:], text[at - 2:]


def each_write_cycle_repeats_the_declarations(_folder):
    for big in (False, True):
        trace = made_trace(big)
        plain = run("-q", "-f", "stacktrack", "-", data=trace, check=0).stdout
        assert len(cycles_of(plain)[0]) == 1
        for size in (1, 20, 64, 1000):
            data = run("-q", "-f", "stacktrack", f"--cycle-size={size}", "-", data=trace, check=0).stdout
            cycles = cycles_of(data)[0]
            # In cycles of one entry each of the 72 records after that of the process begins a cycle, except the first.
            assert size > 1 or len(cycles) == 72, len(cycles)
            for number, cycle in enumerate(cycles):
                begin, scopes = check_cycle(number, cycle, size, number == len(cycles) - 1)
                if cycle[len(begin)].sequence < 10:
                    continue  # some declarations are still missing
                said = [words(e, scopes) for e in begin if e.kind in (HIT, FLOC, FPROPERTY)]
                declared = [w for w in said if w.split()[0] in ("process", "module", "context", "resource")]
                assert [w.split()[0] for w in declared] == ["process"] + ["module"] * 2 + ["context"] * 2 + ["resource"]
                # Of the libraries that were mapped at one address, only the last one is declared.
                assert sum("plugin" in w for w in said) <= 1, said
                assert said.index("/lib/libc.so.6") + 2 == said.index("build-id from=0xf7000000 hex=0123abcd"), said
            # The cycles together have the same records, each once.
            assert records_of(sum(cycles, [])) == records_of(decode(plain))
            assert text_of(data) == text_of(trace), size


def each_write_cycle_declares_the_newest_library_and_thread(_folder):
    data = run("-q", "-f", "stacktrack", "--cycle-size=64", "-", data=made_trace(False), check=0).stdout
    cycles = cycles_of(data)[0]
    plugins = [[e.text for e in cycle if e.kind == FLOC and e.sequence == 0 and "plugin" in e.text] for cycle in cycles]
    assert plugins == [[], ["/lib/plugin1.so"], ["/lib/plugin1.so"], ["/lib/plugin9.so"], ["/lib/plugin17.so"], ["/lib/plugin17.so"],
                       ["/lib/plugin25.so"], ["/lib/plugin33.so"]], plugins
    ids = [[e.text for e in cycle if e.sequence == 0 and e.text.startswith("from=0x500000 hex=")] for cycle in cycles]
    assert ids[1:] == [[f"from=0x500000 hex={int(p[0][11:-3]):040x}"] for p in plugins[1:]], ids
    thread = ""
    for cycle in cycles:
        assert [e.text for e in cycle if e.sequence == 0 and e.text.startswith("tid=")] == [thread] * bool(thread)
        thread = ([thread] + [e.text for e in cycle if e.text.startswith("tid=")])[-1]
    assert thread == "tid=4279 name=worker\\04037", thread


def calls_of(text):
    """The calls of a text with their stacks, without numbers."""
    lines = [line for line in text.decode().splitlines() if line and line[0] not in "<@#:v"]
    return [line.split(". ", 1)[1] if line[0] != "\t" else line for line in lines]


def a_trace_can_be_read_from_any_write_cycle_on(_folder):
    for big in (False, True):
        trace = made_trace(big)
        data = run("-q", "-f", "stacktrack", "--cycle-size=64", "-", data=trace, check=0).stdout
        cycles, starts = cycles_of(data)
        whole = calls_of(text_of(trace))
        for number, start in enumerate(starts[1:], 1):
            tail = text_of(data[start:])
            assert tail.splitlines()[0] == text_of(trace).splitlines()[0], tail.splitlines()[0]
            calls = calls_of(tail)
            wanted = sum(1 for cycle in cycles[number:] for e in cycle if e.text.startswith("alloc="))
            assert sum(line[0] != "\t" for line in calls) == wanted
            assert calls == whole[len(whole) - len(calls):], number
            # If the data begins elsewhere, the first prologue is searched for, but only if the format is given.
            cut = data[starts[number - 1] + 1:]
            done = run("--input-format=stacktrack", "-", data=cut, check=0)
            assert done.stdout == tail, number
            said = "warning: standard input: it is read from its first prologue, at byte %d\n" % (len(cut) - len(data) + start)
            assert said in done.stderr.decode(), (said, done.stderr)
            assert run("-", data=cut).returncode == 1
    done = run("--input-format=stacktrack", "-", data=trace, check=1)
    assert b"no prologue of StackTrack was found in the trace" in done.stderr, done.stderr


def a_shortened_text_is_read_alike_at_once_and_in_parts(_folder):
    """One text of a long chain after the other is shortened. The other texts must be complete in each case."""
    frames = "".join("\t0x7f%010x\n" % (k * 0x1111111) for k in range(9))
    data = bytearray(run("-f", "stacktrack", "-", data=(
        "version=1.4,arch=x86_64,process=p,pid=7,origin=t\n<1> : memory (bytes)\n1. malloc(8) = 0x10\n" + frames + "\n").encode(),
        check=0).stdout)
    first = data.index(b"frames=") // 24 * 24
    payload, count = data.index(b"frames=") - first, 1
    while data[first + 24 * count:first + 24 * count + payload] == data[first:first + payload]:
        count += 1
    assert count >= 5, count
    for k in range(count):
        changed_data = bytearray(data)
        at = first + 24 * k
        changed_data[at + payload + 3:at + 24] = bytes(24 - payload - 3)
        whole = run("-q", "-", data=bytes(changed_data)).stdout
        with subprocess.Popen([PROGRAM, "-q", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            # The reader has read the first part when the rest comes.
            for begin, end in ((0, at + 48), (at + 48, len(changed_data))):
                child.stdin.write(changed_data[begin:end])
                child.stdin.flush()
                time.sleep(0.05)
            assert child.communicate()[0] == whole, k
        # The entries after the shortened one are still read: the last frame is there.
        assert k in (0, count - 1) or b"0x7f%010x" % (8 * 0x1111111) in whole, (k, whole)


def cycle_size_applies_only_to_the_stacktrack_format(_folder):
    for arguments in (["--cycle-size=10"], ["-f", "swap", "--cycle-size=10"], ["-f", "stacktrack", "--cycle-size=0"],
                      ["-f", "stacktrack", "--cycle-size=x"]):
        done = run(*arguments, "-", data=made_trace(False))
        assert done.returncode == 2 and b"--cycle-size" in done.stderr and not done.stdout, done


class Layout:
    """The layout of another program's entries: a pid of 4 bytes, 40 bytes of payload at byte 16, and members in another
    order and with gaps."""

    def __init__(self):
        self.tree = ElementTree.fromstring(run("--show-format", check=0).stdout)
        self.head, self.payload, self.text, self.size = 16, 40, 24, 56
        self.tree.attrib.update(size="56", payload_size="40", payload_offset="16", version="100")
        self.types = {}
        for number, kind in enumerate(self.tree.findall("TYPE")):
            kind.set("size", "40")
            at = 1
            members = kind.findall("MEMBER")
            for member in reversed(members):
                wider = {"st_pid_t": "4", "st_tid_t": "4", "scopex_t": "4", "wcount_t": "4", "char": "2"}
                member.set("size", wider.get(member.get("type"), member.get("size")))
                at = -(-at // 2) * 2 + 1
                member.set("offset", str(at))
                at += int(member.get("size"))
            kind.set("typeindex", str(3 * number + 1))
            self.types[number] = [(int(m.get("offset")), int(m.get("size"))) for m in members]
        for flag in self.tree.findall("FLAG"):
            kinds = [kind.get("typeindex") for kind in self.tree.findall("TYPE") if "IS_" + kind.get("uname") == flag.get("name")]
            values = {"TYPE_MASK": "0x3f", "IS_INFO": "0x3e", "HAS_INFO": "0x8000", "INFO_END": "0x40"}
            flag.set("value", (kinds + [values.get(flag.get("name"))])[0])

    def element(self, name, uname=None):
        """The TYPE with that uname, or its MEMBER."""
        kind = [k for k in self.tree.findall("TYPE") if k.get("uname") == (uname or name)][0]
        return [m for m in kind if m.get("name") == name][0] if uname else kind

    def described(self):
        return ElementTree.tostring(self.tree)

    def entry(self, order, flags, pid, sequence, payload):
        return struct.pack(order + "HxxII4x", flags, pid, sequence) + payload.ljust(self.payload, b"\xee")

    def convert(self, data):
        """Converts functrace's entries to this layout; texts are split again."""
        order = "<" if data[8:12] == b"\x78\x56\x34\x12" else ">"
        pid = struct.unpack_from(order + "H", data, 2)[0]
        out = b""
        for e in decode(data):
            values = list(e.members)
            if e.kind == PROLOGUE:
                values[2:] = [self.text, self.size, self.head]
            payload = bytearray(b"\xee" * self.payload)
            for value, (at, size) in zip(values, self.types[e.kind]):
                payload[at:at + size] = value.to_bytes(size, "little" if order == "<" else "big", signed=value < 0)
            text = e.text.encode()
            out += self.entry(order, 3 * e.kind + 1 | (0x8000 if text else 0), pid, e.sequence, bytes(payload))
            for at in range(0, len(text), self.text):
                end = 0x40 if at + self.text >= len(text) else 0
                out += self.entry(order, 0x3e | end, pid, e.sequence, text[at:at + self.text].ljust(self.text, b"\0"))
        return out


def entries_of_another_layout_are_read_by_its_description(folder):
    path = os.path.join(folder, "format.xml")
    layout = Layout()
    with open(path, "wb") as file:
        file.write(b"<?xml version='1.0'?>\n<!-- of another > program -->\n" + layout.described())
    for big in (False, True):
        trace = made_trace(big)
        own = run("-q", "-f", "stacktrack", "--cycle-size=64", "-", data=trace, check=0).stdout
        other = layout.convert(own)
        assert text_of(other, "--raw-format=" + path) == text_of(trace)
        assert run("-", data=other).returncode == 1
        done = run("--raw-format=" + path, "-", data=own, check=1)
        assert b"no prologue of StackTrack was found in the trace" in done.stderr, done.stderr
        shown = run("--expand-events", "--raw-format=" + path, "-", data=other, check=0).stdout.decode()
        hits = [line for line in shown.splitlines() if line.startswith("<HIT ")]
        assert len(hits) == sum(e.kind == HIT for e in decode(own))
        assert 'scopeIndex="1" tid="0x0000"/>' in hits[0] and 'flags="0x8001"' in hits[0], hits[0]
        # The trace declares another layout than the description.
        done = run("--raw-format=" + path, "-", data=other.replace(struct.pack("<>"[big] + "H", 56), struct.pack("<>"[big] + "H", 57), 1), check=1)
        assert b"entries have 57 bytes, their payload at byte 16; by the description they have 56 bytes, and their payload is at byte 16" in done.stderr, done
    own_format = os.path.join(folder, "own.xml")
    with open(own_format, "wb") as file:
        file.write(run("--show-format", check=0).stdout)
    assert text_of(own, "--raw-format=" + own_format) == text_of(trace)


def changed(kind, member, /, **attributes):
    def change(layout):
        element = layout.element(member, kind) if member else layout.element(kind) if kind else layout.tree
        for key, value in attributes.items():
            element.set(key, value)
            if value is None:
                del element.attrib[key]
    return change


def without(uname, name=None):
    def change(layout):
        (layout.element(uname) if name else layout.tree).remove(layout.element(name or uname, uname if name else None))
    return change


def flag(name, value):
    def change(layout):
        [f for f in layout.tree.findall("FLAG") if f.get("name") == name][0].set("value", value)
    return change


def repeat_hit(layout):
    layout.tree.append(layout.element("HIT"))


HOSTILE = [
    (changed(None, None, size="0"), "size of RAW_FORMAT is no number from 1 to 4096"),
    (changed(None, None, size="99999999999999999999999"), "size of RAW_FORMAT is no number from 1 to 4096"),
    (changed(None, None, size="55"), "an entry has 55 bytes, and its payload of 40 at byte 16 does not fit in it"),
    (changed(None, None, payload_size="4096"), "does not fit in it"),
    (changed(None, None, payload_offset="0x100000000"), "payload_offset of RAW_FORMAT is no number from 1 to 4096"),
    (changed(None, None, payload_offset="-8"), "payload_offset of RAW_FORMAT is no number"),
    (changed(None, None, payload_offset="10"), "a pid of 4 bytes and a sequence number of 4 bytes need 12 bytes before it"),
    (changed(None, None, magic="0x12345679"), "the magic number is 0x12345679; that of StackTrack is 0x12345678"),
    (changed(None, None, magic=None), "RAW_FORMAT has no attribute magic"),
    (changed(None, None, version="1g"), "version of RAW_FORMAT is no hexadecimal number of 32 bits"),
    (changed("HIT", None, size="0"), "size of TYPE is no number from 1 to 40"),
    (changed("HIT", None, size="41"), "size of TYPE is no number from 1 to 40"),
    (changed("HIT", None, size="8"), "MEMBER when has bytes"),
    (changed("HIT", None, typeindex="256"), "typeindex of TYPE is no number from 0 to 255"),
    (changed("HIT", None, typeindex="4"), "TYPE FLOC has the typeindex 4 of HIT"),
    (changed("HIT", None, typeindex="63"), "FLAG IS_HIT is 1, but the typeindex of HIT is 63"),
    (changed("HIT", None, uname=None), "TYPE has no attribute uname"),
    (changed("HIT", "when", size="0"), "size of MEMBER is no number from 1 to 4096"),
    (changed("HIT", "when", size="3"), "MEMBER when has 3 bytes; 1, 2, 4 or 8 can be read"),
    (changed("HIT", "when", size="4096"), "its TYPE has only 40 bytes"),
    (changed("HIT", "when", offset="33"), "MEMBER when has bytes 33 to 40, but its TYPE has only 40 bytes"),
    (changed("HIT", "when", offset="4096"), "its TYPE has only 40 bytes"),
    (changed("HIT", "tid", offset="6"), "which another MEMBER has, too"),
    (changed("HIT", "tid", name="when"), "MEMBER when is there twice"),
    (changed("HIT", "tid", name="x" * 64), "the value of name is no name or number"),
    (changed("PROCINFO", "pid", size="8", offset="20"), "the pid has more than 4 bytes"),
    (changed("PROLOGUE", "_12345678", size="2"), "_12345678 of PROLOGUE does not have 4 bytes"),
    (without("HIT", "tid"), "TYPE HIT has no MEMBER tid"),
    (without("SLOC"), "there is no TYPE with the uname SLOC"),
    (repeat_hit, "TYPE HIT is there twice"),
    (flag("IS_INFO", "0x40"), "the FLAGs IS_INFO, HAS_INFO and INFO_END share bits"),
    (flag("IS_INFO", "1"), "the typeindex of HIT is IS_INFO, or has bits that are not in TYPE_MASK"),
    (flag("HAS_INFO", "0x40"), "share bits"),
    (flag("HAS_INFO", "0x10000"), "value of FLAG is no number from 0 to 65535"),
    (flag("TYPE_MASK", "0x1ff"), "TYPE_MASK has more than the lower 8 bits"),
    (flag("HAS_INFO", "many"), "value of FLAG is no number"),
]

BROKEN = [
    (b"", "line 1: this is empty"),
    (b"\n\nsize=24\n", "line 3: this is no element: it should begin with <"),
    (b"\x7fELF\0\0\0", "line 1: this is no element"),
    (b"<", "line 1: an element has no name"),
    (b"<HTML>", "line 1: a description begins with <RAW_FORMAT ...>"),
    (b"<RAW_FORMAT/>", "line 1: a description begins with <RAW_FORMAT ...>"),
    (b"<!DOCTYPE a [<!ENTITY b 'cc'>]>", "line 1: "),
    (b"<!-- <RAW_FORMAT", "a comment has no end"),
    (b"<?xml", "the XML declaration has no end"),
    (b"<RAW_FORMAT size", "an attribute should be NAME=\"VALUE\""),
    (b"<RAW_FORMAT size=24>", "an attribute should be NAME=\"VALUE\""),
    (b"<RAW_FORMAT size=\"24", "the value of size has no end"),
    (b"<RAW_FORMAT size=\"24\" size='24'>", "the attribute size is there twice"),
    (b"<RAW_FORMAT " + b"".join(b'a%d="" ' % i for i in range(17)), "an element has more than 16 attributes"),
]


def a_wrong_description_of_a_layout_is_an_error(folder):
    own = run("-q", "-f", "stacktrack", "-", data=made_trace(False), check=0).stdout
    path = os.path.join(folder, "format.xml")

    def refused(text, message):
        with open(path, "wb") as file:
            file.write(text)
        for arguments in ([], ["--expand-events"]):
            done = run(*arguments, "--raw-format=" + path, "-", data=own, check=1)
            said = done.stderr.decode()
            assert message in said and said.count("\n") == 1 and not done.stdout, (message, done)
            assert said.startswith(f"functrace-postproc: {path}, line "), said

    for change, message in HOSTILE:
        layout = Layout()
        change(layout)
        refused(layout.described(), message)
    for text, message in BROKEN:
        refused(text, message)
    whole = Layout().described()
    for size in range(0, len(whole) - 1, 7 if LONG else 97):
        refused(whole[:size], "line ")
    refused(whole + b"<TYPE/>", "text follows </RAW_FORMAT>")
    for name in (folder, os.path.join(folder, "missing"), "/dev/zero"):
        done = run("--raw-format=" + name, "-", data=own, check=1)
        assert f"cannot read the description of StackTrack's entries in {name}: ".encode() in done.stderr, done


def no_entry_has_a_time_before_the_beginning_of_the_trace(folder):
    """A declaration has the time of the newest call, or of the beginning."""
    text = Encoder("1.4", 8, False).trace(golden.SEVERAL)
    path = os.path.join(folder, "t.tlg")
    with open(path, "wb") as file:
        file.write(run("-q", "-f", "stacktrack", "-", data=text, check=0).stdout)
    times = [float(when) for when in re.findall(r' when="(\S+)"', run("--expand-events", path, check=0).stdout.decode())]
    assert len(times) > 10 and times[0] == 0 and min(times) == 0, times


TESTS = [no_entry_has_a_time_before_the_beginning_of_the_trace, entries_of_another_layout_are_read_by_its_description,
         a_wrong_description_of_a_layout_is_an_error, a_stack_is_written_once_in_a_cycle,
         each_write_cycle_repeats_the_declarations, each_write_cycle_declares_the_newest_library_and_thread,
         a_trace_can_be_read_from_any_write_cycle_on, a_shortened_text_is_read_alike_at_once_and_in_parts,
         cycle_size_applies_only_to_the_stacktrack_format]

if __name__ == "__main__":
    sys.exit(main(TESTS))
