#!/usr/bin/env python3
"""Names that functrace-postproc -r gives: of the file that was traced and of no other, and never fewer than before.

The programs are $FUNCTRACE and $FUNCTRACE_POSTPROC. Prints TAP.
"""

import os
import re
import shutil
import subprocess
import sys
import time

import golden
from encode import Encoder
from run import Skip, names_of_calls, run, run_all, text_of

FIRST = """#include <stdlib.h>
__attribute__((noinline)) void *alloc_config(int n) { void *p = malloc(n); __asm__ volatile("" :: "r"(p)); return p; }
int main(void) { alloc_config(77); return 0; }
"""
# The other function is where alloc_config was.
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


def compile_c(path, source, *flags):
    compiler = os.environ.get("CC", "cc").split()
    subprocess.run(compiler + ["-g", "-O1", "-x", "c", "-", "-o", path, *flags], input=source.encode(), check=True)


def traced(folder, *options):
    """The program FIRST, traced -> (its path, the trace's)."""
    program, trace = os.path.join(folder, "p"), os.path.join(folder, "p.trace")
    compile_c(program, FIRST)
    subprocess.run([os.environ["FUNCTRACE"], "-q", *options, "-o", trace, program], check=True, timeout=120)
    return program, trace


def rebuilt(program):
    """As make does it: the same path has another program, a moment later."""
    time.sleep(1.1)  # a text's header tells the second
    compile_c(program, SECOND)


def frame_of_77(text):
    """The first frame of the one call malloc(77)."""
    found = re.findall(r" malloc(?:<memory>)?\(77\) = .*\n(?:# .*\n)?\t(0x.*)\n", text)
    assert len(found) == 1, text
    return found[0]


def read(path):
    with open(path, "rb") as file:
        return file.read()


def a_rebuilt_program_gives_no_names(folder):
    """By the build-ids, which every way through text keeps, in both dialects."""
    for options in (["-f", "text"], ["-f", "text", "--compat=sp-rtrace"], ["-f", "rtrace"]):
        program, trace = traced(folder, *options)
        live = read(trace)
        text = text_of(live)
        ways = [live, text, text_of(text), text_of(text, "-c"), text_of(text, "-l"),
                text_of(text_of(text, "--compat=none", "-f", "rtrace")), text_of(text, "--compat=sp-rtrace"),
                text_of(text_of(text, "--compat=sp-rtrace"), "--compat=none")]
        for way in ways:
            done = run("-l", "-r", "-b", "2", "-", data=way, check=0)
            assert re.search(r"\balloc_config\(\) at .*:2$", frame_of_77(done.stdout.decode())), done.stdout
            assert program.encode() not in done.stderr, done.stderr
        rebuilt(program)
        for way in ways:
            for choice in (["-l", "-b", "2"], ["-c"], ["--stats"]):
                done = run(*choice, "-r", "-", data=way, check=0)
                assert b"zzz_unrelated" not in done.stdout and b"alloc_config" not in done.stdout, done.stdout
                said = [line for line in done.stderr.decode().splitlines() if f" {program} " in line]
                assert len(said) == 1, (options, choice, done.stderr)
                assert "is not the file that was traced" in said[0], said
                assert "--sysroot=DIR" in said[0] and "--debug-path=DIR" in said[0], said
        # With what was kept there are names again, and no word.
        kept = os.path.join(folder, "kept")
        os.makedirs(kept + os.path.dirname(program), exist_ok=True)
        compile_c(kept + program, FIRST)
        for way in ways:
            done = run("-l", "-r", "-b", "2", f"--sysroot={kept}", "-", data=way, check=0)
            assert "alloc_config()" in frame_of_77(done.stdout.decode()), done.stdout
            assert program.encode() not in done.stderr, done.stderr


def without_build_ids_a_newer_file_is_said(folder):
    program, trace = traced(folder, "--compat=sp-rtrace")
    live = read(trace)
    bare = re.sub(rb"## build-id .*\n", b"", text_of(live, "--compat=none"))
    assert b"build-id" not in text_of(live)
    for way in (live, text_of(live), bare):
        done = run("-l", "-r", "-b", "2", "-", data=way, check=0)
        assert "alloc_config()" in frame_of_77(done.stdout.decode()), done.stdout
        assert program.encode() not in done.stderr, done.stderr
    rebuilt(program)
    for way in (live, text_of(live), bare):
        for choice in (["-l"], ["--stats"]):
            done = run(*choice, "-r", "-", data=way, check=0)
            said = [line for line in done.stderr.decode().splitlines() if f" {program} " in line]
            assert len(said) == 1 and "is newer than the trace" in said[0] and "--sysroot=DIR" in said[0], done.stderr
            assert b"zzz_unrelated" in done.stdout, done.stdout
    # What was unpacked under a system root is new on this machine; the time of its content tells.
    kept = os.path.join(folder, "kept")
    os.makedirs(kept + os.path.dirname(program))
    compile_c(kept + program, FIRST)
    done = run("-l", "-r", f"--sysroot={kept}", "-", data=live, check=0)
    assert f" {kept}{program} is newer" in done.stderr.decode(), done.stderr
    os.utime(kept + program, (1000000000, 1000000000))
    done = run("-l", "-r", f"--sysroot={kept}", "-", data=live, check=0)
    assert program.encode() not in done.stderr, done.stderr
    # Installed with an old time: here the change is what is new.
    os.utime(program, (1000000000, 1000000000))
    done = run("-l", "-r", "-", data=live, check=0)
    assert f" {program} is newer" in done.stderr.decode(), done.stderr


def build_ids_may_come_late(folder):
    """As the sp-rtrace tools arrange a text: comments behind all objects, objects behind their calls."""
    program, trace = traced(folder, "-f", "text", "--compat=sp-rtrace")
    lines = read(trace).decode().splitlines(True)
    objects = [line for line in lines if line.startswith(": ")]
    ids = [line for line in lines if line.startswith("## build-id ")]
    assert len(ids) >= 2 and len(objects) >= len(ids), lines
    rest = [line for line in lines if line not in objects and line not in ids]
    at = next(i for i, line in enumerate(rest) if re.match(r"\d+\. ", line))
    rebuilt(program)
    path = os.path.join(folder, "late.txt")
    for text in (rest[:at] + objects + ids + rest[at:], rest + objects + ids):
        with open(path, "w", encoding="ascii") as file:
            file.writelines(text)
        done = run("-l", "-r", path, check=0)
        assert b"zzz_unrelated" not in done.stdout and b"libc" in done.stdout, done.stdout
        assert done.stderr.count(b"is not the file that was traced") == 1, done.stderr


def odd_build_ids_pass_through(_folder):
    head = b"version=1.4,arch=x86_64,pid=1\n<1> : memory (m)\n: /no/such => 0x1000-0x2000\n"
    for line in (b"## build-id 0x1000 012\n", b"## build-id 0x1000 xyz\n", b"## build-id 0x1000\n",
                 b"## build-id 1000 0123\n", b"## build-id 0x1000 0123 \n", b"## build-id \n", b"## build-id 0x1000 \n",
                 b"## build-id 0x9000 0123\n", b"## build-id 0x1000 01" + b"23" * 100000 + b"\n"):
        for version in (b"1.4", b"2.0"):
            text = text_of(head.replace(b"1.4", version, 1) + line + b"1. malloc(1) = 0x10\n\t0x1234\n\n")
            assert line in text, (line[:99], text[:999])
            run("-r", "-", data=text, check=0)


def main():
    return run_all([a_rebuilt_program_gives_no_names, without_build_ids_a_newer_file_is_said,
                    build_ids_may_come_late, odd_build_ids_pass_through])


if __name__ == "__main__":
    sys.exit(main())
