#!/usr/bin/env python3
"""Tests which packages ./quickstart would install. apt-get is a stub that logs its arguments, and nothing is built.
Prints TAP."""

import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../post"))

from run import TOP, Skip, main

ON_X86_64 = os.uname().machine == "x86_64"
HEAVY = {"chromium", "debhelper", "golang-go", "lintian", "prometheus", "rustc", "valgrind"}
STUBS = {
    # No package is installed, and each one is available; then autoreconf ends the script.
    "dpkg-query": "exit 1", "sudo": 'exec "$@"', "autoreconf": "exit 1",
    "apt-get": 'for word; do case $word in -*) ;; *) echo "$word" >>"$NOTES" ;; esac; done',
}


def quickstart(folder, *words):
    """Returns its status, its output, and the arguments of apt-get."""
    programs, notes = os.path.join(folder, "programs"), os.path.join(folder, "notes")
    os.makedirs(programs, exist_ok=True)
    for name, text in STUBS.items():
        path = os.path.join(programs, name)
        with open(path, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\n%s\n" % text)
        os.chmod(path, 0o755)
    script = os.path.join(folder, "quickstart")
    shutil.copy(os.path.join(TOP, "quickstart"), script)
    with open(notes, "w", encoding="ascii"):
        pass
    done = subprocess.run(["sh", script, *words], capture_output=True, timeout=60, check=False,
                          env=dict(os.environ, PATH=programs + ":" + os.environ["PATH"], NOTES=notes))
    with open(notes, encoding="ascii") as file:
        return done.returncode, (done.stdout + done.stderr).decode(), file.read().split()


def check_installs_more_packages_and_check_all_the_most(folder):
    build, check, whole = (quickstart(folder, *words) for words in ([], ["check"], ["check", "all"]))
    for status, said, words in (build, check, whole):
        assert status == 1 and "autoreconf failed" in said and words[0] == "install", (status, said)
        assert len(set(words)) == len(words), sorted(words)
    build, check, whole = set(build[2]), set(check[2]), set(whole[2])
    assert {"gcc", "libdw-dev"} <= build and not {"libcmocka-dev", "zsh"} & build, build
    assert ("libbpf-dev" in build) == ON_X86_64 and "libmicrohttpd-dev" in build, build
    assert build < check and {"libcmocka-dev", "python3", "zsh", "fish"} <= check and not HEAVY & check, check
    assert check < whole and HEAVY <= whole, whole


def is_built_without_libbpf(folder):
    if not ON_X86_64:
        raise Skip("functrace uses libbpf on x86-64 only")
    whole = STUBS["apt-get"]
    # This apt-get knows no libbpf-dev, and installs nothing if it is asked for it.
    STUBS["apt-get"] = 'case " $* " in *" libbpf-dev "*) exit 100 ;; esac; ' + whole
    try:
        status, said, installed = quickstart(folder)
    finally:
        STUBS["apt-get"] = whole
    assert "libdw-dev" in installed and "libbpf-dev" not in installed, installed
    assert status == 1 and "functrace will have no --probes=kernel" in said and "autoreconf failed" in said, said


def other_arguments_are_usage_errors(folder):
    for words in (["all"], ["check", "everything"], ["check", "all", "all"], ["--check"]):
        status, said, installed = quickstart(folder, *words)
        assert status == 2 and "usage: ./quickstart [check [all]]" in said and not installed, (words, status, said)
    status, said, installed = quickstart(folder, "--help")
    assert status == 0 and "usage: ./quickstart [check [all]]" in said and not installed, said


if __name__ == "__main__":
    sys.exit(main([check_installs_more_packages_and_check_all_the_most, is_built_without_libbpf,
                   other_arguments_are_usage_errors]))
