#!/usr/bin/env python3
"""The progress line on a terminal: how much of the input is read, and how many stacks have names.

The program is $FUNCTRACE_POSTPROC. Prints TAP.
"""

import gzip
import os
import pty
import re
import select
import subprocess
import sys
import time

from run import PROGRAM, main

PATIENCE = 60  # seconds to wait for an event that must come; no measurement uses it
HEAD = (b"version=1.4,arch=x86_64,timestamp=2023-11-14 22:13:20 +0000,process=/bin/prog,pid=5,backtrace depth=10,"
        b"origin=functrace 0.1\n<1> : memory (memory allocation in bytes)\n")
LEFT = r"(, \d+ (s|min|h) left)"


def call(i, stack=0):
    return b"%d. [01:00:00.000001] malloc(8) = 0x%x\n\t0x%x\n\n" % (i, 16 * i, 0x400000 + stack)


class Terminal:
    """functrace-postproc in the foreground of a terminal of its own."""

    def __init__(self, *arguments, stderr=None):
        self.text = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            if stderr is not None:
                os.dup2(stderr, 2)
            os.environ["TERM"] = "dumb"
            os.execv(PROGRAM, [PROGRAM, *arguments])

    def _more(self, wait=0.2):
        if not select.select([self.fd], [], [], wait)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b""
        self.text += data.decode()
        return bool(data)

    def shows(self, pattern):
        self._more(0)
        return re.search(pattern, self.text)

    def expect(self, pattern):
        end = time.monotonic() + PATIENCE
        while not self.shows(pattern):
            assert time.monotonic() < end and self._more(), (pattern, self.text)

    def end(self):
        """Waits for the end and returns the status; then all output is in self.text."""
        while self._more():
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def screen(text):
    """The text that is visible on the terminal at the end. A carriage return goes to the beginning of the line."""
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        cells = []
        for part in line.split("\r"):
            cells[:len(part)] = part
        lines.append("".join(cells).rstrip())
    return "\n".join(lines)


def feed(path, programs, until):
    """Writes a call every tenth of a second into a pipe, until until() is true."""
    with open(path, "wb", buffering=0) as out:
        out.write(HEAD)
        end, i = time.monotonic() + PATIENCE, 1
        while not until() and time.monotonic() < end:
            out.write(call(i))
            i += 1
            for program in programs:
                program.shows("$")
            time.sleep(0.1)


def make_fifo(folder):
    path = os.path.join(folder, "fifo")
    os.mkfifo(path)
    return path


def the_progress_of_a_slow_pipe_is_shown_in_bytes(folder):
    path, out = make_fifo(folder), os.path.join(folder, "out")
    terminal = Terminal("-o", out, path)
    line = r"functrace-postproc: reading \S*fifo: [\d,]+ bytes"
    # The line is erased and written again.
    feed(path, [terminal], lambda: terminal.shows(line + r"\r +\r" + line))
    terminal.expect(line + r"\r +\r" + line)
    assert terminal.end() == 0, terminal.text
    assert terminal.text.endswith(" \r") and not screen(terminal.text), terminal.text
    assert os.path.getsize(out) > len(HEAD), out


def a_message_replaces_the_progress_line(folder):
    path, out = make_fifo(folder), os.path.join(folder, "out")
    terminal = Terminal("-o", out, path)
    with open(path, "wb", buffering=0) as pipe:
        pipe.write(HEAD)
        end, i = time.monotonic() + PATIENCE, 1
        while not terminal.shows("reading") and time.monotonic() < end:
            pipe.write(call(i))
            i += 1
            time.sleep(0.1)
        pipe.write(b"\t0x40z\n\n")
    terminal.end()
    lines = [line for line in screen(terminal.text).split("\n") if line]
    assert lines and all(line.startswith("functrace-postproc: ") for line in lines), lines
    assert "reading" in terminal.text and "reading" not in screen(terminal.text), terminal.text


def no_progress_is_shown_if_quiet_redirected_or_beside_the_output(folder):
    """No line is shown with -q, if stderr is no terminal, or if the trace itself goes to the terminal."""
    for number, (arguments, piped) in enumerate(((["-q", "-o", "q"], False), (["-o", "p"], True), ([], False))):
        place = os.path.join(folder, str(number))
        os.mkdir(place)
        path = make_fifo(place)
        arguments = [os.path.join(place, word) if word in ("q", "p") else word for word in arguments]
        log = os.open(os.path.join(place, "stderr"), os.O_RDWR | os.O_CREAT)
        terminal = Terminal(*arguments, path, stderr=log if piped else None)
        until = time.monotonic() + 3.5
        feed(path, [terminal], lambda until=until: time.monotonic() > until)
        assert terminal.end() == 0, terminal.text
        assert "reading" not in terminal.text and not os.pread(log, 100, 0), (arguments, terminal.text)
        assert bool(terminal.text) == (not arguments), (arguments, terminal.text)
        os.close(log)


def run_after_a_wait(path, *arguments):
    """Runs the program, which has run for more than two seconds when it begins to read the file: before that it waits
    for its suppressions, which come through a pipe."""
    pipe = path + ".supp"
    os.mkfifo(pipe)
    terminal = Terminal("--suppressions=" + pipe, *arguments, path)
    # Waits until the program opens the pipe. Its clock runs from before that.
    with open(pipe, "wb") as out:
        time.sleep(2.5)
        out.write(b"# none\n")
    assert terminal.end() == 0, terminal.text
    return terminal


def the_progress_of_reading_and_naming_a_slow_file_is_shown(folder):
    data = HEAD + b"".join(call(i, i // 4) for i in range(4, 200004))
    for name, content in (("plain", data), ("packed.gz", gzip.compress(data, 1))):
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(content)
        terminal = run_after_a_wait(path, "--report", "-o", os.path.join(folder, "out"))
        found = re.search(r"reading \S*%s: (\d+) %%%s" % (name, LEFT), terminal.text)
        # The line is shown at once, when only the first piece of the file (128 KiB) has been read.
        assert found and 0 < int(found.group(1)) < 50, terminal.text
        names = re.search(r"names: ([\d,]+) of 50,000 stacks", terminal.text)
        assert names and int(names.group(1).replace(",", "")) < 50000, terminal.text
        # At the end only the warning about these addresses is visible, because they are in no mapping.
        assert re.fullmatch(r"functrace-postproc: warning: \S+: 50000 of 50000 frames have no names; .*\s*",
                            screen(terminal.text)), terminal.text


def a_short_run_shows_no_progress(folder):
    path = os.path.join(folder, "short")
    with open(path, "wb") as file:
        file.write(HEAD + call(1))
    end = time.monotonic() + PATIENCE
    while True:
        began = time.monotonic()
        terminal = Terminal("-o", os.path.join(folder, "out"), path)
        assert terminal.end() == 0, terminal.text
        # A run that got no processor for two seconds was not short, and may have shown its progress: run it again.
        if not terminal.text or time.monotonic() - began < 2 or time.monotonic() > end:
            break
    assert not terminal.text, terminal.text
    done = subprocess.run([PROGRAM, path], capture_output=True, timeout=120, check=True)
    assert not done.stderr, done


if __name__ == "__main__":
    sys.exit(main([the_progress_of_a_slow_pipe_is_shown_in_bytes, a_message_replaces_the_progress_line,
                   no_progress_is_shown_if_quiet_redirected_or_beside_the_output,
                   the_progress_of_reading_and_naming_a_slow_file_is_shown, a_short_run_shows_no_progress]))
