"""Interactive shells on a terminal, which complete command lines: the words that they offer, and the commands that they
run."""

import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import termios
import time

TOP = os.environ.get("TOP_SRCDIR", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
COMPLETION = os.path.join(os.path.abspath(TOP), "completion")
TAB, KILL_LINE = "\t", "\x15"
PATIENCE = 60 * float(os.environ.get("SCENARIO_PATIENCE", "1"))

# The offered words are written to the file $OFFERED, one a line; the file appears when it is complete.
BASH = r"""
PS1= PS2=
bind 'set enable-bracketed-paste off'
bind 'set completion-query-items 0'
bind 'set page-completions off'
%(library)s
source "$COMPLETION/functrace.bash"
_offered()
{
	_functrace "$@"
	printf '%%s\n' "${COMPREPLY[@]}" >"$OFFERED.new"
	mv "$OFFERED.new" "$OFFERED"
}
complete -F _offered functrace functrace-postproc
"""
ZSH = r"""
PS1= PS2= RPS1= LISTMAX=-1
unsetopt zle_bracketed_paste prompt_sp 2>/dev/null; unset zle_bracketed_paste
fpath=("$COMPLETION" $fpath)
autoload -Uz compinit && compinit -u -D
compadd() {
	local -a matches
	if (( ${@[(I)-[a-zA-Z]#[OAD]]} )); then builtin compadd "$@"; return; fi
	builtin compadd -O matches "$@"
	print -rl -- $matches >>"$OFFERED.new"
	builtin compadd "$@"
}
offered() {
	: >"$OFFERED.new"
	_main_complete
	local status_of=$?
	mv "$OFFERED.new" "$OFFERED"
	return status_of
}
setopt extended_glob
zle -C offered complete-word offered
bindkey '^I' offered
bindkey '^U' kill-whole-line
"""
FISH = r"""
function fish_prompt; end
function fish_right_prompt; end
function fish_greeting; end
set -g fish_complete_path $COMPLETION_FISH $fish_complete_path
function offered
    complete -C (commandline -c) >$OFFERED.new
    mv $OFFERED.new $OFFERED
    commandline -f complete
end
bind \t offered
bind \cu kill-whole-line
"""


class Shell:
    """One of bash, zsh and fish, whose PATH begins with `programs`, in `folder`."""

    def __init__(self, name, folder, programs, library=""):
        home = folder + "-home"
        fish = os.path.join(home, "completions")
        os.makedirs(fish)
        for program in ("functrace", "functrace-postproc"):
            os.symlink(os.path.join(COMPLETION, "functrace.fish"), os.path.join(fish, program + ".fish"))
        self.name, self.offered_path, self.seen = name, os.path.join(home, "offered"), b""
        start = os.path.join(home, "start")
        with open(start, "w", encoding="utf-8") as file:
            file.write({"bash": BASH % {"library": library}, "zsh": ZSH, "fish": FISH}[name])
        # If this folder does not exist, fish fills it by a background process while the test removes `home`.
        os.makedirs(os.path.join(home, ".local", "share", "fish", "generated_completions"), exist_ok=True)
        env = {"PATH": programs + ":" + os.environ["PATH"], "HOME": home, "TERM": "xterm", "LC_ALL": "C.UTF-8",
               "OFFERED": self.offered_path, "COMPLETION": COMPLETION, "COMPLETION_FISH": fish,
               "HISTFILE": "/dev/null", "COLUMNS": "200"}
        command = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"],
                   "fish": ["fish", "--private", "-i"]}[name]
        path = shutil.which(command[0])
        self.pid, self.terminal = pty.fork()
        if not self.pid:
            os.chdir(folder)
            os.execve(path, command, env)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        self.type("source %s; touch %s\r" % (start, self.offered_path))
        self.wait_for(self.offered_path)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait_for(self, path):
        """Reads the shell's output until the file exists, and removes the file."""
        end = time.monotonic() + PATIENCE
        while not os.path.exists(path):
            if select.select([self.terminal], [], [], 0.02)[0]:
                try:
                    self.seen += os.read(self.terminal, 65536)
                except OSError:
                    break
            if time.monotonic() > end:
                break
        assert os.path.exists(path), "%s did not go on; it showed: %s" % (self.name, self.seen[-2000:].decode(errors="replace"))
        with open(path, encoding="utf-8") as file:
            text = file.read()
        os.unlink(path)
        return text

    def offers(self, line):
        """The words that TAB offers after the line, with their descriptions ("" if there is none)."""
        self.type(line + TAB)
        found = {}
        for word in self.wait_for(self.offered_path).splitlines():
            word, _, meaning = word.partition(" (" if self.name == "bash" else "\t")
            if word:
                found[word.rstrip()] = meaning.rstrip(")")
        self.type(KILL_LINE)
        return found

    def runs(self, line, arguments):
        """Presses TAB and Return; returns the arguments of the command that runs, which the stub writes to that
        file."""
        self.type(line + TAB)
        self.wait_for(self.offered_path)
        self.type("\r")
        return self.wait_for(arguments).splitlines()

    def close(self):
        os.close(self.terminal)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
