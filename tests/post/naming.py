#!/usr/bin/env python3
"""Names that functrace-postproc -r adds: only from the traced file, and never fewer than the trace already has.

The programs are $FUNCTRACE and $FUNCTRACE_POSTPROC. Prints TAP.
"""

import functools
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import golden
from encode import Encoder
from run import LONG, NM, Skip, main, names_of_calls, run, text_of

FIRST = """#include <stdlib.h>
__attribute__((noinline)) void *alloc_config(int n) { void *p = malloc(n); __asm__ volatile("" :: "r"(p)); return p; }
int main(void) { alloc_config(77); return 0; }
"""
# The other function has the address of alloc_config in the first program.
SECOND = """#include <stdlib.h>
__attribute__((noinline)) void *zzz_unrelated(int n) { void *p = malloc(n); __asm__ volatile("" :: "r"(p)); return p; }
__attribute__((noinline)) void *alloc_config(int n)
{
	void *p = malloc(n + 1);
	__asm__ volatile("" :: "r"(p));
	return p;
}
int main(void) { alloc_config(77); zzz_unrelated(3); return 0; }
"""


@functools.lru_cache(maxsize=None)
def compiled(source, *flags):
    """Returns the bytes of a compiled program."""
    compiler = os.environ.get("CC", "cc").split()
    with tempfile.TemporaryDirectory(prefix="functrace-naming-") as folder:
        path = os.path.join(folder, "p")
        subprocess.run(compiler + ["-g", "-O1", "-x", "c", "-", "-o", path, *flags], input=source.encode(), check=True)
        return read(path)


def compile_c(path, source, *flags):
    data = compiled(source, *flags)
    if os.path.exists(path):
        os.remove(path)
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, 0o755)


def traced(folder, *options):
    """Traces the program FIRST; returns its path and the trace's."""
    program, trace = os.path.join(folder, "p"), os.path.join(folder, "p.trace")
    compile_c(program, FIRST)
    subprocess.run([os.environ["FUNCTRACE"], "-q", *options, "-o", trace, program], check=True, timeout=120)
    return program, trace


def rebuild_program(program):
    """Builds another program at the same path, as make does, a moment later."""
    time.sleep(1.1)  # the header of a text has the time in seconds
    compile_c(program, SECOND)


def frame_of_77(text):
    """The first frame of the only call malloc(77)."""
    found = re.findall(r" malloc(?:<memory>)?\(77\) = .*\n(?:# .*\n)?\t(0x.*)\n", text)
    assert len(found) == 1, text
    return found[0]


def read(path):
    with open(path, "rb") as file:
        return file.read()


def a_rebuilt_program_gives_no_names(folder):
    """Build-ids show that the program was rebuilt. Every conversion through text keeps them, in both dialects."""
    for turn, options in enumerate((["-f", "text"], ["-f", "text", "--compat=sp-rtrace"], ["-f", "rtrace"])):
        program, trace = traced(folder, *options)
        live = read(trace)
        text = text_of(live)
        ways = [live, text, text_of(text), text_of(text, "-c"), text_of(text, "-l"),
                text_of(text_of(text, "--compat=none", "-f", "rtrace")), text_of(text, "--compat=sp-rtrace"),
                text_of(text_of(text, "--compat=sp-rtrace"), "--compat=none")]
        ways = list(dict.fromkeys(ways))  # some are the same
        ways = ways if LONG else ways[:1] + ways[1 + turn::3]
        for way in ways:
            done = run("-l", "-r", "-b", "2", "-", data=way, check=0)
            assert re.search(r"\balloc_config\(\) at .*:2$", frame_of_77(done.stdout.decode())), done.stdout
            assert program.encode() not in done.stderr, done.stderr
        rebuild_program(program)
        choices = ["-l", "-b", "2"], ["-c"], ["--stats"]
        for number, way in enumerate(ways):
            for choice in choices if LONG or not number else [choices[number % len(choices)]]:
                done = run(*choice, "-r", "-", data=way, check=0)
                assert b"zzz_unrelated" not in done.stdout and b"alloc_config" not in done.stdout, done.stdout
                said = [line for line in done.stderr.decode().splitlines() if f" {program} " in line]
                assert len(said) == 1, (options, choice, done.stderr)
                assert "is not the file that was traced" in said[0], said
                assert "--sysroot=DIR" in said[0] and "--debug-path=DIR" in said[0], said
        # With a copy of the traced program the names are shown, without a message.
        kept = os.path.join(folder, "kept")
        os.makedirs(kept + os.path.dirname(program), exist_ok=True)
        compile_c(kept + program, FIRST)
        for way in ways:
            done = run("-l", "-r", "-b", "2", f"--sysroot={kept}", "-", data=way, check=0)
            assert "alloc_config()" in frame_of_77(done.stdout.decode()), done.stdout
            assert program.encode() not in done.stderr, done.stderr


def without_build_ids_a_file_newer_than_the_trace_is_reported(folder):
    program, trace = traced(folder, "--compat=sp-rtrace")
    live = read(trace)
    bare = re.sub(rb"## build-id .*\n", b"", text_of(live, "--compat=none"))
    assert b"build-id" not in text_of(live)
    for way in (live, text_of(live), bare):
        done = run("-l", "-r", "-b", "2", "-", data=way, check=0)
        assert "alloc_config()" in frame_of_77(done.stdout.decode()), done.stdout
        assert program.encode() not in done.stderr, done.stderr
    rebuild_program(program)
    for way in (live, text_of(live), bare):
        for choice in (["-l"], ["--stats"]):
            done = run(*choice, "-r", "-", data=way, check=0)
            said = [line for line in done.stderr.decode().splitlines() if f" {program} " in line]
            assert len(said) == 1 and "is newer than the trace" in said[0] and "--sysroot=DIR" in said[0], done.stderr
            assert b"zzz_unrelated" in done.stdout, done.stdout
    # Under --sysroot the mtime of a file counts, because files that were unpacked there have a new ctime.
    kept = os.path.join(folder, "kept")
    os.makedirs(kept + os.path.dirname(program))
    compile_c(kept + program, FIRST)
    done = run("-l", "-r", f"--sysroot={kept}", "-", data=live, check=0)
    assert f" {kept}{program} is newer" in done.stderr.decode(), done.stderr
    os.utime(kept + program, (1000000000, 1000000000))
    done = run("-l", "-r", f"--sysroot={kept}", "-", data=live, check=0)
    assert program.encode() not in done.stderr, done.stderr
    # Elsewhere the ctime of a file counts, too, because files may be installed with an old mtime.
    os.utime(program, (1000000000, 1000000000))
    done = run("-l", "-r", "-", data=live, check=0)
    assert f" {program} is newer" in done.stderr.decode(), done.stderr


def build_ids_may_be_declared_after_the_calls(folder):
    """The sp-rtrace tools write a text in this order: comments after all objects, objects after their calls."""
    program, trace = traced(folder, "-f", "text", "--compat=sp-rtrace")
    lines = read(trace).decode().splitlines(True)
    objects = [line for line in lines if line.startswith(": ")]
    ids = [line for line in lines if line.startswith("## build-id ")]
    assert len(ids) >= 2 and len(objects) >= len(ids), lines
    rest = [line for line in lines if line not in objects and line not in ids]
    at = next(i for i, line in enumerate(rest) if re.match(r"\d+\. ", line))
    rebuild_program(program)
    path = os.path.join(folder, "late.txt")
    for text in (rest[:at] + objects + ids + rest[at:], rest + objects + ids):
        with open(path, "w", encoding="ascii") as file:
            file.writelines(text)
        done = run("-l", "-r", path, check=0)
        assert b"zzz_unrelated" not in done.stdout and b"libc" in done.stdout, done.stdout
        assert done.stderr.count(b"is not the file that was traced") == 1, done.stderr


def a_damaged_build_id_is_reported(_folder):
    """Build-ids of undeclared objects are no damage."""
    head = b"version=1.4,arch=x86_64,pid=1\n<1> : memory (m)\n: /no/such => 0x1000-0x2000\n"
    for line in (b"## build-id 0x1000 012\n", b"## build-id 0x1000 xyz\n", b"## build-id 0x1000\n",
                 b"## build-id 1000 0123\n", b"## build-id 0x1000 0123 \n", b"## build-id \n", b"## build-id 0x1000 \n"):
        for version in (b"1.4", b"2.0"):
            done = run("-", data=head.replace(b"1.4", version, 1) + line + b"1. malloc(1) = 0x10\n\t0x1234\n\n")
            assert done.returncode == 1 and b"line 4 looks like a damaged build-id" in done.stderr, (line, done)
    for line in (b"## build-id 0x9000 0123\n", b"## build-id 0x1000 01" + b"23" * 100000 + b"\n"):
        for version in (b"1.4", b"2.0"):
            text = text_of(head.replace(b"1.4", version, 1) + line + b"1. malloc(1) = 0x10\n\t0x1234\n\n")
            assert line in text, (line[:99], text[:999])
            run("-r", "-", data=text, check=0)


def named_frames(text):
    return re.findall(r"^\t0x\w+ .*\w\(", text.decode(), re.M)


def names_in_a_trace_are_kept_even_if_the_files_are_gone(folder):
    """A second run with -r keeps all names if all or some of the files are missing."""
    program, trace = traced(folder, "-f", "text")
    for dialect in ("none", "sp-rtrace"):
        named = text_of(read(trace), f"--compat={dialect}", "-r")
        assert len(named_frames(named)) >= 2, named
        gone = f"--sysroot={folder}/nothing"
        os.makedirs(f"{folder}/nothing", exist_ok=True)
        for way in (named, text_of(named), text_of(named, "-r")):
            assert way == named
        done = run("-r", gone, "-", data=named)  # which also reports that no object is there
        assert done.stdout == named and done.returncode == 1 and b"--sysroot matches nothing" in done.stderr, done
        groups, leaks = text_of(named, "-c"), text_of(named, "-l")
        assert text_of(groups, "-c", "-r") == groups and text_of(leaks, "-l", "-r") == leaks
        stats = text_of(named, "--stats")
        assert b" alloc_config() at " in stats
        assert b" alloc_config() at " in run("--stats", "-r", gone, "-", data=named).stdout
        os.rename(program, program + ".away")
        assert text_of(named, "-r") == named and text_of(named, "--stats", "-r") == stats
        # Names that were removed from the text are added again, and no others.
        lines = named.decode().splitlines(True)
        at = next(i for i, line in enumerate(lines) if "alloc_config" in line)
        lines[at] = re.sub(r"(\t0x\w+).*", r"\1", lines[at])
        lines[at + 1] = re.sub(r" at .*| from .*", f" from {program}", lines[at + 1])
        less = "".join(lines).encode()
        without = text_of(less, "-r").decode().splitlines(True)
        assert without[:at] + without[at + 1:] == lines[:at] + lines[at + 1:] and "from " + program in without[at]
        os.rename(program + ".away", program)
        assert text_of(less, "-r") == named


def a_name_is_replaced_only_by_a_more_complete_one(folder):
    if not shutil.which(NM):
        raise Skip("nm is not installed")
    program = os.path.join(folder, "p")
    compile_c(program, FIRST, "-no-pie", "-Wl,--build-id=none")
    symbols = subprocess.run([NM, program], capture_output=True, check=True).stdout.decode()
    frame = int(re.search(r"^(\w+) T alloc_config$", symbols, re.M)[1], 16) + 5
    low = frame & ~0xFFFF
    low = 0x400000 if low > 0x400000 else low

    def first_frame(text, *options, version="1.4"):
        head = f"version={version}\n<1> : memory (m)\n: {program} => 0x{low:x}-0x{low + 0x100000:x}\n"
        out = text_of(f"{head}1. malloc(1) = 0x10\n\t0x{frame:x}{text}\n\n".encode(), *options).decode()
        return re.search(r"\n\t0x\w+(.*(?:\n\t0x.*)*)\n\n", out)[1]

    full = re.compile(r" in alloc_config\(\) at \S+:2$")
    for text in ("", " in ??", " <undefined>", f" from {program}", " at old.c:7", " in name()", " name() from /bin/x",
                 " in name+0x12", " in n(int) [clone .x] from /a at b", " in operator()(int)::1",
                 f" in small() (inlined)\n\t0x{frame:x} in name() from /bin/x"):
        assert full.fullmatch(first_frame(text, "-r")), (text, first_frame(text, "-r"))
        assert first_frame(text) == text
    for text in (" in name() at old.c:7", " name() at old.c:7", " in f(char const*) at /a b/c.c:12",
                 f" in small() at a.h:1 (inlined)\n\t0x{frame:x} in name() at old.c:7"):
        assert first_frame(text, "-r") == text
    # Without debug information only the function's name is found, and without symbols only the object.
    subprocess.run(["strip", "--strip-debug", program], check=True)
    for text in ("", " in ??", f" from {program}", " at old.c:7"):
        assert first_frame(text, "-r") == f" in alloc_config() from {program}"
    for text in (" in name()", " in name() from /bin/x", " in name() at old.c:7"):
        assert first_frame(text, "-r") == text
    subprocess.run(["strip", program], check=True)
    for text in ("", " in ??", " <undefined>"):
        assert first_frame(text, "-r") == f" from {program}"
    for text in (" from /bin/x", " at old.c:7", " in name()"):
        assert first_frame(text, "-r") == text


WIDE = """int first(int x) { return x * 3 + 1; }
__asm__(".skip 0x3000");
int last(int x) { return x * 5 + first(x); }
int main(void) { return last(1); }
"""
PT_LOAD, PF_X, PHDR = 1, 1, "<IIQQQQQQ"


def segments(path):
    """Returns the PT_LOADs of a 64-bit ELF file: [(offset of its header, flags, address, size in memory)]."""
    data = read(path)
    at, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    found = [(at + i * size, struct.unpack_from(PHDR, data, at + i * size)) for i in range(count)]
    return [(place, p[1], p[3], p[6]) for place, p in found if p[0] == PT_LOAD]


def named_with_range(path, start, end, addresses, binary):
    """Runs -r on return addresses just after the beginnings of functions; returns (their names, stderr)."""
    if binary:
        calls = [("CALL", 1, 0, 0, 2, "malloc", 1, i + 16) for i in range(len(addresses))]
        stacks = [("BTRC", address + 5) for address in addresses]
        head = [("PINF", 4242, 4000000000, 0, 10, "/bin/prog")] + golden.DECLARATIONS[1:6]  # newer than the file
        data = Encoder("2.0", 8, False).trace(head + [("MMAP", start, end, path)]
                                              + [p for pair in zip(calls, stacks) for p in pair])
    else:
        calls = "".join(f"{i}. malloc(1) = 0x{i + 16:x}\n\t0x{address + 5:x}\n\n" for i, address in enumerate(addresses))
        data = f"version=2.0, \n<1> : memory (m)\n: {path} => 0x{start:x}-0x{end:x}\n{calls}".encode()
    done = run("-r", "-", data=data, check=0)
    return [name for _, name in names_of_calls(done.stdout.decode())], done.stderr.decode()


def names_are_found_if_only_the_executable_mapping_is_declared(folder):
    """sp-rtrace writes each executable mapping as it is, not from the file's offset 0."""
    if not shutil.which(NM):
        raise Skip("nm is not installed")
    path = os.path.join(folder, "wide")
    tried = 0
    some = [["-no-pie", "-Wl,-z,separate-code"], ["-shared", "-fPIC", "-Wl,-z,noseparate-code"],
            ["-shared", "-fPIC", "-Wl,-z,separate-code", "-Wl,-z,max-page-size=65536"], ["-shared", "-fPIC", "-fuse-ld=lld"]]
    more = [["-shared", "-fPIC", "-Wl,-z,separate-code"], ["-pie", "-fPIE", "-Wl,-z,separate-code"],
            ["-static", "-Wl,-z,separate-code"]]
    for flags in some + more if LONG else some:
        try:
            compile_c(path, WIDE, *flags)
        except subprocess.CalledProcessError:
            continue
        tried += 1
        symbols = subprocess.run([NM, path], capture_output=True, check=True).stdout.decode()
        values = [int(re.search(rf"^(\w+) T {name}$", symbols, re.M)[1], 16) for name in ("first", "last")]
        parts = segments(path)
        shift = 0 if parts[0][2] else 0x7F0000000000
        code = [part for part in parts if part[1] & PF_X]
        assert len(code) == 1, parts
        end = max(address + size for _, _, address, size in parts)
        whole = shift + (parts[0][2] & ~0xFFF), shift + (end + 0xFFF & ~0xFFF)
        for page in (4096, 65536) if "-Wl,-z,max-page-size=65536" in flags else (4096,):
            mapped = shift + (code[0][2] & -page), shift + (code[0][2] + code[0][3] + page - 1 & -page)
            assert mapped[0] > whole[0] or "-Wl,-z,noseparate-code" in flags, (mapped, whole)
            for start, stop in (whole, mapped):
                for binary in (False, True):
                    names, said = named_with_range(path, start, stop, [shift + v for v in values], binary)
                    assert names == ["first", "last"] and path not in said, (flags, hex(start), names, said)
        # A range that is smaller than the segment may be any part of it: the file is another one, or this part was not
        # mapped.
        names, said = named_with_range(path, mapped[0], mapped[0] + 0x2000, [mapped[0] + 0x100] * 3, True)
        assert not names and said.count(f"range of {path} (8192 bytes) has neither") == 1, (flags, names, said)
    assert tried >= 3


def a_mapping_that_fits_two_segments_gives_no_names(folder):
    if not shutil.which(NM):
        raise Skip("nm is not installed")
    path = os.path.join(folder, "twice")
    compile_c(path, "const char text[] = \"text\";\nint first(int x) { return x * 3 + 1; }\n", "-shared", "-fPIC",
              "-nostdlib", "-Wl,-z,separate-code")
    parts = segments(path)
    code = next(part for part in parts if part[1] & PF_X)
    other = next(part for part in parts if part[2] > code[2])
    start = 0x7F0000000000 + (code[2] & ~0xFFF)
    assert named_with_range(path, start, start + 0x1000, [start + code[2] % 0x1000], True) == (["first"], "")
    with open(path, "r+b") as file:  # two executable segments in one page
        file.seek(other[0] + 4)
        file.write(struct.pack("<I", other[1] | PF_X))
    for binary in (False, True):
        names, said = named_with_range(path, start, start + 0x1000, [start + code[2] % 0x1000], binary)
        assert not names and said.count(f"range of {path} (4096 bytes) fits several parts") == 1, (names, said)


def one_warning_says_how_to_find_names_that_are_missing(folder):
    def hint(trace, *options, status=0):
        env = {key: value for key, value in os.environ.items() if not key.startswith("DEBUGINFOD")}
        said = run("-b", "2", *options, trace, env=env, check=status).stderr.decode()
        assert said.count("\n") <= 1, said
        return said

    program, trace = traced(folder, "-b", "2")
    assert not hint(trace, "-l", "-r")
    head = f"functrace-postproc: warning: {trace}: 2 of 2 frames have no names, most of them in {program}, "
    kept = os.path.join(folder, "kept")
    os.makedirs(kept + folder)
    named = os.path.join(folder, "named.txt")
    with open(named, "wb") as file:
        file.write(run("-r", trace, check=0).stdout)
    os.rename(program, kept + program)
    gone = head + ("whose traced version is not here: if it is elsewhere, say where with --sysroot=DIR or "
                   "--debug-path=DIR\n")
    for options in (["-l", "-r"], ["-c", "-r"], ["--report"], ["-f", "collapsed"], ["-f", "heaptrack"], ["--stats", "-r"]):
        assert hint(trace, *options) == gone, options
        assert not hint(trace, "--sysroot=" + kept, *options), options
        assert not hint(trace, "-q", *options) and not hint(named, *options), options
    assert not hint(trace, "-l") and not hint(trace, "-f", "rtrace", "-o", os.devnull)
    assert gone in hint(trace, "-l", "--not-function=x")
    os.rename(kept + program, program)
    compile_c(program, FIRST, "-s")
    subprocess.run([os.environ["FUNCTRACE"], "-q", "-b", "2", "-o", trace, program], check=True, timeout=120)
    bare = ("which has no symbols for them: install its package with debug symbols (on Debian and Ubuntu its name ends in "
            "-dbgsym or -dbg){}, or name a folder that has its debug file with --debug-path=DIR\n")
    assert hint(trace, "-l", "-r") == head + bare.format(", set DEBUGINFOD_URLS and give --debuginfod")
    assert hint(trace, "-l", "-r", "--debuginfod") == head + bare.format("")
    # Half of the stacks have names: that is not most of them.
    compile_c(program, FIRST, "-s", "-Wl,--export-dynamic-symbol=alloc_config")
    subprocess.run([os.environ["FUNCTRACE"], "-q", "-b", "2", "-o", trace, program], check=True, timeout=120)
    assert not hint(trace, "-l", "-r")


TESTS = [one_warning_says_how_to_find_names_that_are_missing,
         names_are_found_if_only_the_executable_mapping_is_declared, a_mapping_that_fits_two_segments_gives_no_names,
         names_in_a_trace_are_kept_even_if_the_files_are_gone, a_name_is_replaced_only_by_a_more_complete_one,
         a_rebuilt_program_gives_no_names, without_build_ids_a_file_newer_than_the_trace_is_reported,
         build_ids_may_be_declared_after_the_calls, a_damaged_build_id_is_reported]


if __name__ == "__main__":
    sys.exit(main(TESTS))
