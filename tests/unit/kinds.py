#!/usr/bin/env python3
"""Tests how the tracer handles kinds of resource other than memory, by a functrace that has made-up kinds
(kinds_modules.c). The expected traces are exact."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "scenarios"))
FOLDER = os.path.join(os.path.abspath(os.environ.get("TOP_BUILDDIR", ".")), "tests/unit")
os.environ["FUNCTRACE"] = os.path.join(FOLDER, "functrace-kinds")
from terminal import FUNCTRACE, PATIENCE, Skipped, equal, run_tests, setup

POSTPROC = os.environ.get("FUNCTRACE_POSTPROC", os.path.join(FOLDER, "../../functrace-postproc"))


def run(modules, what, *options):
    """Returns the calls of the trace, its notes, and functrace's messages."""
    result = subprocess.run([FUNCTRACE, "-e", modules, "-f", "text", "-T", "-o", "trace", *options,
                             os.path.join(FOLDER, "kinds-target"), what], stdin=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
    equal(result.returncode, 0)
    return calls("trace"), result.stderr


def calls(path):
    """Returns the calls of the trace without their numbers. If the trace has several kinds, each call contains its
    kind."""
    with open(path) as f:
        return [re.sub(r"^\d+\. ", "", line) for line in f.read().split("\n") if re.match(r"\d+\. ", line)]


def numbered(lines):
    """Returns the lines with each address replaced by a number, in the order in which the addresses appear."""
    seen = {}
    return [re.sub(r"0x[0-9a-f]+", lambda m: "#%d" % seen.setdefault(m[0], len(seen) + 1), line) for line in lines]


def said(errors, *wanted):
    for words in wanted:
        if not re.search(words, errors):
            raise AssertionError("%r is not in: %s" % (words, errors))


def leaks(path="trace"):
    result = subprocess.run([POSTPROC, "-l", path], stdout=subprocess.PIPE, text=True, timeout=PATIENCE, check=True)
    return re.findall(r"^# (\d+) \w+\(s\) leaked$", result.stdout, re.M)


def always(modules, what, expected):
    for options in (("-b", "0"), ("-b", "16"), ("-A",)):
        equal(run(modules, what, *options)[0], expected)


def test_zero():
    """descriptor 0 is recorded as a descriptor"""
    always("file", "zero", [
        "open(0) = 0x3",
        "close(0x0)",
        "dup2(0) = 0x0",
        "dup2(0x0)", "dup2(0) = 0x0",
        "close(0x0)",
        "open(0) = 0x0",
        "forget_fd(0x0)"])


def test_widths():
    """the upper half of a register is not part of an int"""
    always("file", "widths", [
        "wide_open(0) = 0x28", "wide_open(0) = 0x29", "wide_close(0x28)",
        "second_of_pair(0) = 0x33", "wide_close(0x33)"])


def machine():
    """Returns the ELF machine (EM_... of <elf.h>) of functrace, which is also that of the programs that it traces
    here."""
    with open(FUNCTRACE, "rb") as f:
        return f.read(20)[18]


X86_64 = 62


def test_both():
    """a function of two modules, and one that jumps to a function of another kind"""
    expected = {
        "fd": ["open<fd>(0) = 0x3", "close<fd>(0x3)"] * 3,
        "again": ["open<again>(0) = 0x3", "close<again>(0x3)",
                  "jump_to_open<again>(0) = 0x3", "jump_to_close<again>(0x3)",
                  "jump_to_open<again>(0) = 0x3", "jump_to_close<again>(0x3)"]}
    for modules in ("file,again", "again,file"):
        for options in (("-b", "0"), ("-b", "16"), ("-A",)):
            lines, errors = run(modules, "both", *options)
            for kind in expected:
                equal([line for line in lines if "<%s>" % kind in line], expected[kind])
            equal(len(lines), 12)
            equal("without a return" in errors, False)


def test_nested():
    """nested calls of two kinds"""
    expected = ["outer_make(10) = #1", "inner_make(20) = #2", "outer_end(#1)", "inner_end(#2)", "outer_make(30) = #3"]
    for modules in ("made", "made,again", "again,made"):
        for options in (("-b", "0"), ("-b", "16"), ("-A",)):
            lines = run(modules, "nested", *options)[0]
            for kind in modules.split(","):
                own = [line for line in lines if "<%s>" % kind in line] if "," in modules else lines
                equal(numbered(re.sub("<.*>", "", line) for line in own), expected)
            equal(len(lines), len(expected) * len(modules.split(",")))


def test_deep():
    """a nested call is folded into the outer call if the kind knows all calls between them"""
    for modules in ("made,again", "again,made"):
        lines = run(modules, "deep")[0]
        equal(sorted(re.sub("0x.*", "", line) for line in lines), ["deep_make<made>(60) = ", "inner_make<again>(60) = "])


def test_loop():
    """a call that is dropped leaves the neighbouring call"""
    if machine() != X86_64:
        raise Skipped("its target is made of x86-64 instructions")
    for modules in ("made,again", "again,made"):
        lines, errors = run(modules, "loop")
        equal(sorted(re.sub("0x.*", "", line) for line in lines), ["jump_to_loop<again>(2) = ", "loop_make<made>(1) = "])
        said(errors, "1 call ended without a return")


def test_resolved():
    """an ifunc, whose function is chosen at run time, and which two modules trace"""
    for modules in ("made,again", "again,made"):
        lines = run(modules, "resolved")[0]
        for kind in ("made", "again"):
            equal(numbered(line for line in lines if "<%s>" % kind in line),
                  ["resolved_make<%s>(40) = #1" % kind, "inner_end<%s>(#1)" % kind])
        equal(len(lines), 4)


def test_counted():
    """references are counted: live until the last is released"""
    lines, errors = run("counted", "counted")
    equal(numbered(lines), [
        "object_ref(0) = #1", "object_ref(0) = #1", "object_ref(0) = #2",
        "object_unref(#1)", "object_ref(0) = #1", "object_unref(#1)", "object_unref(#2)"])
    said(errors, "7 events; 1 object is live; trace: ")
    equal(leaks(), ["1"])


def test_forked():
    """references that a fork's child adds and releases"""
    lines, errors = run("counted", "forked")
    equal(numbered(lines), ["object_ref(0) = #1", "object_ref(0) = #1", "object_ref(0) = #2"])
    said(errors, "3 events; 2 objects are live; trace: ",
         "2 events; 1 object is live, and from before the fork 1 object; trace: ")
    equal(leaks(), ["2"])
    child = [name for name in os.listdir(".") if name.startswith("trace.")]
    equal(len(child), 1)
    equal(numbered(calls(child[0])), ["object_ref(0) = #1", "object_unref(#2)"])
    equal(leaks(child[0]), ["1"])
    with open(child[0]) as f:
        said(f.read(), "1 object from before the fork is live, and not in this trace\n")
    os.remove(child[0])


def test_patterns():
    """rows with a pattern, and rows with a symbol"""
    for options in (("-b", "0"), ("-b", "16"), ("-A",)):
        lines, errors = run("pattern", "hidden", *options)
        equal(numbered(lines), ["shown_make(50) = #1", "inner_end(#1)", "outer_make(10) = #2", "outer_end(#2)"])
        said(errors, r"functrace: warning: nothing matched 'nowhere_\*' of -e pattern: 'nm -C FILE' lists ",
             r"functrace: warning: nothing matched 'i\?n\*_make@libc.so' of -e pattern: ",
             r"not traced: 2 patterns that matched nothing")
        equal("hidden_make" in errors, False)


def test_every():
    """each call of a kind without folding is an event, inside calls of its own and other kinds, and after jumps"""
    deep = ["inner_make", "low_make", "middle_make", "deep_make"]
    for modules in ("every", "every,made", "made,every"):
        for options in (("-b", "0"), ("-b", "16"), ("-A",)):
            lines = run(modules, "deep", *options)[0]
            equal(numbered(re.sub("<.*>", "", line) for line in lines if "<made>" not in line),
                  ["%s(0) = #1" % name for name in deep])
            equal([re.sub("0x.*", "", line) for line in lines if "<made>" in line],
                  ["deep_make<made>(60) = "] if "made" in modules else [])
    lines = run("every", "nested")[0]
    equal(numbered(lines), ["inner_make(0) = #1", "outer_make(0) = #1", "inner_make(0) = #2",
                            "inner_make(0) = #3", "outer_make(0) = #3"])
    equal(numbered(run("every", "resolved")[0]), ["resolved_make(0) = #1"])
    for modules in ("every", "every,file", "file,every"):
        lines = [re.sub("<.*>", "", line) for line in run(modules, "both")[0] if "<fd>" not in line]
        equal(lines, ["jump_to_open(0) = 0x3", "jump_to_close(0) = 0x0"] +
              ["jump_to_open(0) = 0x3", "jump_to_close(0) = 0x0"])


def test_words():
    """the summary of live resources, by kind and with the kind's own nouns"""
    lines, errors = run("memory,file,called", "mixed")
    equal([re.sub(r"\(.*", "", line) for line in lines],
          ["malloc<memory>", "free<memory>", "malloc<memory>", "open<fd>", "open<fd>"])
    said(errors, r"5 events; 1 block with 7 bytes is live; 2 descriptors are live; trace: ")
    lines, errors = run("file,called", "zero")
    equal(lines[-1], "visit<visit>(0) = 0x0")
    said(errors, r"9 events; 1 descriptor is live; trace: ", r"1 release of a descriptor that was not seen allocated")


setup()
run_tests([test_zero, test_widths, test_both, test_nested, test_deep, test_loop, test_resolved, test_counted, test_forked, test_patterns, test_every,
           test_words])
