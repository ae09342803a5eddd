#!/usr/bin/env python3
"""Builds Debian packages from the files that `make dist` packs, compares their files with an installation, installs
them into a folder, and uses them there.

Prints TAP. The build of the packages does not run the project's tests again. It is not optimised, and makes no packages
of debug symbols, because the compared files are the same, and a second optimised build of functrace would take as long
as the rest of this test. PACKAGE_OPTIONS=nocheck (tests/long/packages.sh) builds the packages that users get.
"""

import glob
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../post"))

from run import TOP, Skip, main

BUILD = os.environ["TOP_BUILDDIR"]
PACKAGES = ("functrace", "functrace-dev", "libfunctrace-context1")
# The settings of the build under test and of its make must not reach the build of the packages.
ENV = {name: value for name, value in os.environ.items() if not name.startswith((
    "MAKE", "MFLAGS", "TOP_", "FUNCTRACE", "CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "DEB_", "PKG_CONFIG"))}
OPTIONS = os.environ.get("PACKAGE_OPTIONS", "nocheck noopt noautodbgsym")
ENV.update(DEB_BUILD_OPTIONS="%s parallel=%d" % (OPTIONS, os.cpu_count() or 1), DEB_BUILD_PROFILES="nocheck", LC_ALL="C.UTF-8")


def run(*command, **options):
    """Returns the output of a command, which must end with 0."""
    env = dict(ENV, **options.pop("env", {}))
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=options.pop("timeout", 600), check=False, **options)
    assert done.returncode == 0, "%s ends with %d:\n%s" % (
        " ".join(command), done.returncode, (done.stdout + done.stderr).decode(errors="replace")[-3000:])
    return done.stdout.decode(errors="replace")


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skip("%s is not installed" % program)


class Built:
    """The packages, built once for all tests."""

    folder = made = None
    reason = "the packages could not be built"

    @classmethod
    def get(cls):
        if not os.path.exists(os.path.join(BUILD, "Makefile")):
            raise Skip("there is no Makefile")
        need("make", "dpkg-buildpackage", "dh")
        cls.made = cls.made or cls()
        return cls.made

    def __init__(self):
        if Built.folder:
            raise Skip(Built.reason)
        Built.folder = tempfile.mkdtemp(prefix="functrace-debian-")
        tree = os.path.join(self.folder, "functrace")
        run("make", "-s", "-C", BUILD, "distdir", "distdir=" + tree)
        # The sources may be another user's, or read-only.
        run("chmod", "-R", "u+w", tree)
        lacking = subprocess.run(["dpkg-checkbuilddeps"], cwd=tree, env=ENV, stderr=subprocess.PIPE, timeout=60,
                                 check=False)
        if lacking.returncode:
            Built.reason = lacking.stderr.decode().strip().split("\n")[-1]
            raise Skip(Built.reason)
        run("nice", "dpkg-buildpackage", "-us", "-uc", "-b", cwd=tree, timeout=2000)
        self.files = {name: glob.glob(os.path.join(self.folder, name + "_*.deb")) for name in PACKAGES}
        assert all(len(found) == 1 for found in self.files.values()), self.files
        self.triplet = run("dpkg-architecture", "-qDEB_HOST_MULTIARCH").strip()
        self.root = os.path.join(self.folder, "root")
        for name in PACKAGES:
            run("dpkg", "-x", self.files[name][0], self.root)

    def path(self, *parts):
        return os.path.join(self.root, *parts)


def the_version_of_the_packages_is_that_of_configure(_folder):
    with open(os.path.join(TOP, "debian/changelog"), encoding="utf-8") as file:
        debian = re.match(r"functrace \((.+?)\)", file.readline())[1]
    with open(os.path.join(TOP, "configure.ac"), encoding="utf-8") as file:
        assert debian == re.search(r"AC_INIT\(\[functrace\], \[(.+?)\]", file.read())[1], debian


def the_packages_have_exactly_the_expected_files(_folder):
    built = Built.get()
    pages = {section: sorted("usr/share/man/man%s/%s.gz" % (section, os.path.basename(path))
                             for path in glob.glob(os.path.join(TOP, "man", "*." + section))) for section in "13578"}
    examples = sorted("usr/share/doc/functrace/examples/" + name for name in os.listdir(os.path.join(TOP, "examples"))
                      if name.endswith((".c", ".cpp", ".conf")))
    examples += sorted("usr/share/doc/functrace/examples/fleet/" + name
                       for name in os.listdir(os.path.join(TOP, "examples/fleet")))
    assert len(pages["1"]) > 1 and pages["3"] and len(examples) > 5, (pages, examples)
    library = "usr/lib/%s/" % built.triplet
    helper = ["usr/libexec/functrace/functrace-probes"] if built.triplet == "x86_64-linux-gnu" else []
    expected = {
        "functrace": pages["1"] + pages["5"] + pages["7"] + pages["8"] + examples + helper + [
            "usr/bin/functrace", "usr/bin/functrace-postproc", "usr/share/doc/functrace/README.md.gz",
            "usr/share/bash-completion/completions/functrace.bash",
            "usr/share/bash-completion/completions/functrace-postproc.bash -> functrace.bash",
            "usr/share/fish/vendor_completions.d/functrace.fish",
            "usr/share/fish/vendor_completions.d/functrace-postproc.fish -> functrace.fish",
            "usr/share/zsh/vendor-completions/_functrace"],
        "functrace-dev": pages["3"] + [
            "usr/include/functrace/context.h", "usr/include/functrace/module.h",
            library + "libfunctrace-context.a", library + "libfunctrace-context.so -> libfunctrace-context.so.1",
            library + "pkgconfig/functrace-context.pc"],
        "libfunctrace-context1": [library + "libfunctrace-context.so.1"],
    }
    for name in PACKAGES:
        lines = [line for line in run("dpkg", "-c", built.files[name][0]).splitlines() if line[0] != "d"]
        found = sorted(line.split(" ./", 1)[1] for line in lines)
        documents = ["usr/share/doc/%s/%s" % (name, file) for file in ("changelog.Debian.gz", "changelog.gz", "copyright")]
        assert found == sorted(expected[name] + documents), (name, set(found) ^ set(expected[name] + documents))
        for line in lines:
            rights, owner = line.split()[:2]
            assert owner == "root/root" and rights in ("-rw-r--r--", "lrwxrwxrwx") or \
                ("/usr/bin/" in line or "/usr/libexec/" in line) and rights == "-rwxr-xr-x", line
    with gzip.open(built.path("usr/share/doc/functrace/changelog.gz"), "rt", encoding="utf-8") as packed, \
            open(os.path.join(TOP, "NEWS.md"), encoding="utf-8") as news:
        assert packed.read() == news.read()


def the_packages_declare_their_dependencies(_folder):
    built = Built.get()
    fields = {name: run("dpkg", "-I", built.files[name][0]) for name in PACKAGES}
    needs = {name: re.search(r"^ Depends: (.*)$", text, re.M)[1] for name, text in fields.items()}
    version = re.search(r"^ Version: (.*)$", fields["functrace"], re.M)[1]
    for library in ("libc6 ", "libdw1 ", "libelf1 ", "libprotobuf-c1 ", "libunwind8", "libzstd1 ", "zlib1g "):
        assert library in needs["functrace"] + " ", (library, needs)
    assert needs["functrace-dev"] == "libfunctrace-context1 (= %s)" % version, needs
    assert re.fullmatch(r"libc6 \(>= [0-9.]+\)", needs["libfunctrace-context1"]), needs


def lintian_finds_no_error(folder):
    built = Built.get()
    need("lintian")
    # man leaves files in the folder of temporary files.
    run("lintian", "--fail-on", "error", "--allow-root", *glob.glob(os.path.join(built.folder, "*.changes")),
        env={"TMPDIR": str(folder)})


def the_packaged_programs_run(folder):
    built = Built.get()
    assert run(built.path("usr/bin/functrace"), "-V").startswith("functrace ")
    need("gcc")
    program, trace = os.path.join(folder, "leak"), os.path.join(folder, "leak.rtrace")
    run("gcc", "-g", "-O0", "-o", program, built.path("usr/share/doc/functrace/examples/leak.c"))
    run(built.path("usr/bin/functrace"), "-e", "memory", "-o", trace, program)
    leaks = run(built.path("usr/bin/functrace-postproc"), "-l", "-c", "-r", trace)
    assert re.search(r"12 block\(s\) with total size 768\n\t0x\S+ in answer_new\(\) at \S*leak\.c:\d+\n", leaks), leaks


def man_shows_the_packaged_manual_pages(_folder):
    built = Built.get()
    need("man")
    for page in ("1/functrace", "1/functrace-postproc", "3/functrace-context", "5/functrace-formats", "7/functrace-modules"):
        section, name = page.split("/")
        text = run("man", "--manpath", built.path("usr/share/man"), section, name, env={"MANPAGER": "cat", "MANWIDTH": "100"})
        if "minimized" in text:
            raise Skip("man is a stub here, that of a minimized system")
        assert text.startswith("%s(%s)" % (name.upper(), section)) and "\nNAME\n" in text, text[:300]


def programs_are_built_with_the_packaged_library_and_headers(folder):
    """Programs are built with the flags of pkg-config, shared and static, and so is a module that a user writes."""
    built = Built.get()
    need("gcc", "pkg-config")
    library = built.path("usr/lib", built.triplet)
    flags = {what: run("pkg-config", "--" + what, "functrace-context", env={
        "PKG_CONFIG_SYSROOT_DIR": built.root, "PKG_CONFIG_LIBDIR": library + "/pkgconfig",
        # Otherwise pkg-config omits the folders that the compiler searches by default.
        "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1", "PKG_CONFIG_ALLOW_SYSTEM_LIBS": "1"}).split() for what in ("cflags", "libs")}
    examples = built.path("usr/share/doc/functrace/examples/")
    tracer = built.path("usr/bin/functrace")
    program = os.path.join(folder, "phases")
    for libraries in flags["libs"], [library + "/libfunctrace-context.a"]:
        run("gcc", "-g", "-Wall", "-Werror", *flags["cflags"], "-o", program, examples + "phases.c", *libraries)
        text = run(tracer, "-q", "-f", "text", "-o", "-", program, env={"LD_LIBRARY_PATH": library})
        assert "requests" in text and re.search(r"^\d+\. @\d+ .*malloc\(100\)", text, re.M), text[:1000]
    needed = run("ldd", program)
    assert "libfunctrace-context" not in needed, needed
    run("gcc", "-g", "-O0", "-o", os.path.join(folder, "pool"), examples + "pool.c")
    module = os.path.join(folder, "module.so")
    run("gcc", "-shared", "-fPIC", *flags["cflags"], "-o", module, examples + "module-template.c")
    text = run(tracer, "-q", "-e", module, "-f", "text", "-o", "-", os.path.join(folder, "pool"))
    assert "parcel" in text, text[:1000]


def dpkg_installs_and_removes_the_packages(folder):
    built = Built.get()
    if os.getuid():
        raise Skip("dpkg installs packages for root only")
    need("dpkg")
    state = os.path.join(folder, "var/lib/dpkg")
    os.makedirs(os.path.join(state, "updates"))
    for name in ("status", "available"):
        with open(os.path.join(state, name), "w", encoding="ascii"):
            pass
    dpkg = ["dpkg", "--root=" + folder, "--force-depends"]
    run(*dpkg, "-i", *[built.files[name][0] for name in PACKAGES])
    assert run(os.path.join(folder, "usr/bin/functrace-postproc"), "-V").startswith("functrace-postproc ")
    assert run(*dpkg, "--verify", *PACKAGES) == ""
    run(*dpkg, "-P", *PACKAGES)
    left = [path for path in glob.glob(os.path.join(folder, "**"), recursive=True)
            if not os.path.isdir(path) and "/var/lib/dpkg/" not in path]
    assert not left, left


TESTS = [the_version_of_the_packages_is_that_of_configure, the_packages_have_exactly_the_expected_files,
         the_packages_declare_their_dependencies, lintian_finds_no_error, the_packaged_programs_run,
         man_shows_the_packaged_manual_pages, programs_are_built_with_the_packaged_library_and_headers,
         dpkg_installs_and_removes_the_packages]

if __name__ == "__main__":
    try:
        status = main(TESTS)
    finally:
        if Built.folder:
            shutil.rmtree(Built.folder)
    sys.exit(status)
