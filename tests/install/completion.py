#!/usr/bin/env python3
"""Completion in bash, zsh and fish: the offered words are compared with --help and with the lists that the programs
print. The programs are $FUNCTRACE and $FUNCTRACE_POSTPROC. Prints TAP."""

import atexit
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../post"))

from run import LONG, Skip, main
from shells import Shell

PROGRAMS = {"functrace": os.environ["FUNCTRACE"], "functrace-postproc": os.environ["FUNCTRACE_POSTPROC"]}
ROOMS = tempfile.TemporaryDirectory(prefix="functrace-completion-")
BASH_COMPLETION = "/usr/share/bash-completion/bash_completion"
FILES = {"pool.conf", "list", "trace.rtrace", "sub"}
TRACER_FORMATS = {"rtrace", "text", "mpatrol", "stacktrack", "swap"}
# Replaces a program: it prints the lists of the real one, and logs its arguments.
STUB = """#!/bin/sh
case $1 in
--list-*) exec '%s' "$@" ;;
esac
printf '%%s\\n' "$@" >'%s.new'
mv '%s.new' '%s'
"""


def output(program, *arguments):
    return subprocess.run([PROGRAMS[program], *arguments], stdout=subprocess.PIPE, timeout=60, check=True,
                          env=dict(os.environ, ARGP_HELP_FMT="rmargin=200")).stdout.decode()


def help_options(program):
    """The long and short options of --help."""
    columns = [line for line in output(program, "--help").splitlines() if re.match(r" {2,6}-", line)]
    names = [re.match(r"(?:\s*(?:-\S|--\S+?),)*\s*(?:--\S+|-\S)", line)[0] for line in columns]
    return ({name for text in names for name in re.findall(r"--[a-z][a-z-]*", text)},
            {name for text in names for name in re.findall(r"(?<!\S)-[A-Za-z?](?=,|$)", text)})


def modules():
    return {line.split()[0] for line in output("functrace", "-e", "help").splitlines()
            if re.match(r"[a-z]+ +\S", line) and not line.startswith("-e")} - {"but", "and"}


class Room:
    """A folder with some files, stubs of the programs, and a shell."""

    def __init__(self, folder, name, library=""):
        self.folder, self.arguments = folder, os.path.join(folder, "arguments")
        self.programs = os.path.join(folder, "programs")
        os.makedirs(self.programs)
        os.makedirs(os.path.join(folder, "work", "sub"))
        for file in ("pool.conf", "list", "trace.rtrace"):
            with open(os.path.join(folder, "work", file), "w", encoding="ascii"):
                pass
        for program, path in PROGRAMS.items():
            self.script(program, STUB % ((path,) + (self.arguments,) * 3))
        self.script("zz-program", "#!/bin/sh\n")
        self.shell = Shell(name, os.path.join(folder, "work"), self.programs, library)

    def script(self, name, text):
        path = os.path.join(self.programs, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(path, 0o755)

    def offers(self, line):
        """Returns {word: meaning} of the offered words. A word is returned from the last = , or @ on, and without the /
        of a folder."""
        return {re.sub(r".*[=,@]", "", word).rstrip("/") if len(word) > 1 else word: meaning
                for word, meaning in self.shell.offers(line).items()}


def expect(room, line, words, at_least=False):
    found = set(room.offers(line))
    assert found == words or at_least and found >= words, "%s: '%s' offers %s, not %s" % (
        room.shell.name, line, sorted(found), sorted(words))


def the_offered_options_are_those_of_the_help(room):
    for program in PROGRAMS:
        long, short = help_options(program)
        assert len(long) > 20 and len(short) > 10, (long, short)
        found = {re.sub(r"=-?$", "", word) for word in room.shell.offers(program + " --")}
        assert found == long, (program, found ^ long)
        found = {word for word in room.shell.offers(program + " -") if re.fullmatch("-[^-]", word)}
        assert found == short, (program, found ^ short)


def the_values_of_options_are_offered(room):
    kinds = modules()
    assert {"memory", "file", "all"} <= kinds, kinds
    expect(room, "functrace -e ", kinds | FILES | {"help"})
    expect(room, "functrace --module=memory,thread,fi", {"file"})
    expect(room, "functrace -e memory,po", {"pool.conf"})
    expect(room, "functrace -f ", TRACER_FORMATS, at_least=True)
    expect(room, "functrace --unwinder=", {"rows", "libunwind"})
    expect(room, "functrace -aA --cpu=f", {"free"})
    expect(room, "functrace -S US", {"USR1", "USR2"})
    expect(room, "functrace -o su", {"sub"})
    expect(room, "functrace -x @po", {"pool.conf"})
    expect(room, "functrace -b ", set())
    expect(room, "functrace-postproc -R memory,f", {"fd", "fp", "fshmmap"})
    # The value of --debug must be in the same word.
    expect(room, "functrace --debug=un", {"unwind"})


def the_values_of_more_options_are_offered(room):
    """Tests other options, whose values are of the same kinds."""
    expect(room, "functrace -e memory,fi", {"file"})
    expect(room, "functrace --format=s", {word for word in room.offers("functrace -f ") if word[0] == "s"})
    expect(room, "functrace --unwinder li", {"libunwind"})
    expect(room, "functrace --cpu ", {"auto", "pin", "free"})
    expect(room, "functrace --compat=", {"sp-rtrace"})
    expect(room, "functrace-postproc -f ", TRACER_FORMATS, at_least=True)
    expect(room, "functrace-postproc -l --input-format=te", {"text"})
    expect(room, "functrace-postproc -lc -s si", {"size", "size-asc"})
    expect(room, "functrace-postproc --compat=s", {"sp-rtrace", "stacktrack-2005"})
    expect(room, "functrace-postproc --sysroot=s", {"sub"})
    expect(room, "functrace-postproc --include ", FILES, at_least=True)
    expect(room, "functrace-postproc --pid ", set())


def the_running_processes_are_offered(room):
    process = subprocess.Popen([shutil.which("sleep"), "3600"])
    try:
        found = room.offers("functrace -t ")
        assert str(process.pid) in found, found
        if room.shell.name != "zsh":  # its offers are read without their descriptions
            assert "sleep" in found[str(process.pid)], found
        found = room.offers("functrace --children --pid=%d" % process.pid)
        assert str(process.pid) in found, found
    finally:
        process.kill()
        process.wait()


def the_program_is_offered_and_ends_the_options(room):
    expect(room, "functrace -e memory zz-pro", {"zz-program"})
    expect(room, "functrace -q -- zz-pro", {"zz-program"})
    # The options end at the program; the words after it are the program's.
    for line in ("functrace zz-program --cp", "functrace -b 3 zz-program --back", "functrace -qb 3 zz-program --back",
                 "functrace -e memory -- zz-program --cp"):
        assert not [word for word in room.shell.offers(line) if word.startswith(("--cpu", "--back"))], line


def a_completed_line_runs_with_the_right_arguments(room):
    lines = (("functrace --child", ["--children"]), ("functrace --unwinder=li", ["--unwinder=libunwind"]),
             ("functrace -f rt", ["-f", "rtrace"]),
             ("functrace -e memory,th", ["-e", "memory,thread"]), ("functrace -fmp", ["-fmpatrol"]),
             ("functrace -aq -o po", ["-aq", "-o", "pool.conf"]), ("functrace zz-p", ["zz-program"]),
             ("functrace -o ./po", ["-o", "./pool.conf"]), ("functrace -x @po", ["-x", "@pool.conf"]),
             ("functrace-postproc -l tr", ["-l", "trace.rtrace"]),
             ("functrace-postproc --include=po", ["--include=pool.conf"]),
             ("%s/functrace --child" % room.programs, ["--children"]),
             ("%s/functrace-postproc -R memory,gob" % room.programs, ["-R", "memory,gobject"]))
    for line, arguments in lines if LONG else lines[::2]:
        found = room.shell.runs(line, room.arguments)
        assert found == arguments, "%s: '%s' runs with %s" % (room.shell.name, line, found)


@functools.lru_cache(maxsize=None)
def room_of(name, library):
    """Returns a room with a shell. All tests use the same shell, because a shell takes long to start."""
    if not shutil.which(name):
        raise Skip("%s is not installed" % name)
    room = Room(os.path.join(ROOMS.name, name + str(len(library))), name, library)
    atexit.register(room.shell.close)
    return room


def in_shell(check, name, library=""):
    def test(_folder):
        check(room_of(name, library))
    test.__name__ = "%s:_%s%s" % (name, check.__name__, "_(bash-completion)" if library else "")
    return test


def the_traced_program_completes_its_own_arguments(room):
    """bash-completion passes the rest of the line to the completion of the traced program."""
    with open(os.path.join(room.folder, "own"), "w", encoding="ascii") as file:
        file.write("_zz() { COMPREPLY=(own-word); }; complete -F _zz zz-program\n")
    room.shell.type("source ../own; touch %s\r" % room.shell.offered_path)
    room.shell.wait_for(room.shell.offered_path)
    expect(room, "functrace --cpu=auto -e memory zz-program ow", {"own-word"})


def completion_works_with_the_package_bash_completion(folder):
    if not os.path.exists(BASH_COMPLETION):
        raise Skip("bash-completion is not installed")
    library = "source %s" % BASH_COMPLETION
    for check in (the_values_of_options_are_offered, the_values_of_more_options_are_offered,
                  a_completed_line_runs_with_the_right_arguments,
                  the_traced_program_completes_its_own_arguments)[0 if LONG else 2:]:
        in_shell(check, "bash", library)(os.path.join(folder, check.__name__))


def make_install_puts_the_files_where_shells_find_them(folder):
    """make install with a prefix, as another user: bash-completion and fish find the files by XDG_DATA_DIRS."""
    build = os.environ["TOP_BUILDDIR"]
    if not os.path.exists(os.path.join(build, "Makefile")):
        raise Skip("there is no Makefile")
    share = os.path.join(folder, "share")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    make = ["make", "-s", "-C", build, "bashcompletiondir=/share/bash-completion/completions", "DESTDIR=" + folder,
            "fishcompletiondir=/share/fish/vendor_completions.d", "zshcompletiondir=/share/zsh/site-functions"]
    targets = ["dist_%scompletionDATA" % shell for shell in ("bash", "zsh", "fish")]
    subprocess.run(make + ["install-" + target for target in targets] + ["install-completion-links"],
                   env=env, check=True, timeout=120, stdout=subprocess.DEVNULL)
    files = sorted(os.path.relpath(os.path.join(where, name), share) for where, _, names in os.walk(share) for name in names)
    assert files == ["bash-completion/completions/functrace-postproc.bash", "bash-completion/completions/functrace.bash",
                     "fish/vendor_completions.d/functrace-postproc.fish", "fish/vendor_completions.d/functrace.fish",
                     "zsh/site-functions/_functrace"], files
    env.update(XDG_DATA_DIRS=share + ":/usr/share", HOME=folder, PATH=build + ":" + env["PATH"])
    if os.path.exists(BASH_COMPLETION):
        for program in PROGRAMS:
            found = subprocess.run(["bash", "-c", "source %s; _completion_loader %s; complete -p %s" % (
                BASH_COMPLETION, program, program)], env=env, timeout=60, stdout=subprocess.PIPE, check=False).stdout
            assert found == b"complete -F _functrace %s\n" % program.encode(), found
    if shutil.which("fish"):
        # If this folder does not exist, fish fills it by a background process while the test removes its own folder.
        os.makedirs(os.path.join(folder, ".local", "share", "fish", "generated_completions"))
        found = subprocess.run(["fish", "--private", "-c", "complete -C 'functrace-postproc --lea'; complete -C 'functrace --unwinder=r'"],
                               env=env, timeout=60, stdout=subprocess.PIPE, check=True).stdout.decode()
        assert [line.split("\t")[0] for line in found.splitlines()] == ["--leaks", "--unwinder=rows"], found
    subprocess.run(make + ["uninstall-" + target for target in targets] + ["uninstall-completion-links"],
                   env=env, check=True, timeout=120, stdout=subprocess.DEVNULL)
    left = [names for _, _, names in os.walk(share) if names]
    assert not left, left


CHECKS = [the_offered_options_are_those_of_the_help, the_values_of_options_are_offered,
          the_values_of_more_options_are_offered, the_running_processes_are_offered,
          the_program_is_offered_and_ends_the_options, a_completed_line_runs_with_the_right_arguments]

if __name__ == "__main__":
    sys.exit(main([in_shell(check, name) for name in ("bash", "zsh", "fish") for check in CHECKS
                   if check is not the_values_of_more_options_are_offered or LONG] + [
        completion_works_with_the_package_bash_completion, make_install_puts_the_files_where_shells_find_them]))
