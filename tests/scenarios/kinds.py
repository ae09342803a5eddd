"""The kinds of scenario: each runs a target untraced and traced and returns the problems found."""

import glob
import os
import shutil

import builds
import oracle
import reflog
import trace_text
from rounds import LONG
from processes import FUNCTRACE, POSTPROC, Failure, Gate, Room, Tracer, may_attach, modules, unexpected


def functrace(folder, *options, by=()):
    return list(by) + [FUNCTRACE, '-f', 'text', '-o', folder] + modules(options)


def told(problems):
    """Prints the problems that a long test has found; returns its exit status."""
    for problem in problems:
        print('DIFFERS: ' + problem)
    print('no difference' if not problems else '%d differences' % len(problems))
    return 1 if problems else 0


def read_traces(folder, expected=None):
    """Returns the traces in a folder, in the order in which they were created, and problems."""
    paths = sorted(glob.glob(os.path.join(folder, '*')), key=lambda p: (os.stat(p).st_mtime_ns, p))
    traces = [trace_text.read(path) for path in paths]
    problems = [p for t in traces for p in t.problems]
    if expected is not None and len(traces) != expected:
        problems.append('%d traces, expected %d: %s' % (
            len(traces), expected, ' '.join(os.path.basename(p) for p in paths)))
    for trace in traces:
        for old, new in trace.twice[:3]:
            problems.append('%s: a block is allocated twice without a release: record %d (%s) and %d (%s)' % (
                os.path.basename(trace.path), old.index, old, new.index, new))
    return traces, problems


def own_lines(stderr):
    """Returns the lines of stderr that the target wrote. functrace's lines begin with "functrace: ". The loader's
    messages about a preloaded library for another word size are not the target's either."""
    return [line for line in stderr.split(b'\n')
            if line and not line.startswith(b'functrace: ') and b'wrong ELF class' not in line]


def compare_runs(plain, traced):
    problems = []
    if b'not so: ' in plain.out:
        problems.append('the target itself fails: ' + plain.out.decode(errors='replace')[-300:])
    if plain.status != traced.status:
        problems.append('status %d, untraced %d; stderr: %s' % (
            traced.status, plain.status, traced.err.decode(errors='replace').strip()[-600:]))
    if plain.out != traced.out:
        problems.append('stdout differs:\n%s\nuntraced:\n%s' % (
            traced.out.decode(errors='replace')[-1500:], plain.out.decode(errors='replace')[-1500:]))
    if own_lines(plain.err) != own_lines(traced.err):
        problems.append('stderr differs: %r, untraced %r' % (own_lines(traced.err)[-5:], own_lines(plain.err)[-5:]))
    return problems


class Scenario:
    """One row of the table (table.py).

    target, args   the program; {library}, {library:NAME} and {bin:NAME} stand for paths
    variants       builds (builds.VARIANTS)
    modes          launch, attach, nofollow (launched with -F), and launched with a binary trace that
                   functrace-postproc converts to text: binary, compat (the sp-rtrace 2.0 tools' dialect), swap
    files          the expected number of traces, or None
    options        more options of functrace
    log            compare with the reference logger, too
    env            more environment variables; {lib:NAME} is replaced by the path of that shared library
    names          whether stacks are compared by name (-r)
    by             a target that changes the state of its process and then executes functrace
    steps          whether breakpoints may be stepped over by stopping all threads
    misuse         whether it makes wrong releases; functrace must not report any for other targets
    unsaid         texts that functrace must not print
    check          a function(scenario, traces) -> problems
    on             the processors for which the scenario exists; none: all
    """

    def __init__(self, target, args=(), variants=('O0', 'O2'), modes=('launch', 'attach'), files=1, options=(),
                 log=False, env=None, names=True, check=None, label=None, steps=False,
                 misuse=False, by=None, unsaid=(), on=()):
        self.target, self.args, self.variants, self.modes = target, [str(a) for a in args], variants, modes
        self.files, self.options, self.log, self.env = files, list(options), log, env or {}
        self.names, self.check, self.steps = names, check, steps
        self.by, self.misuse, self.unsaid, self.on = by, misuse, unsaid, on
        self.is_named = False  # table.py sets it
        self.label = label or ' '.join([target] + [a for a in self.args if a[0] != '{'])

    def command(self, variant):
        args = []
        for arg in self.args:
            if arg == '{library}':
                arg = builds.library(variant=variant)
            elif arg.startswith('{library:'):
                arg = builds.library(arg[9:-1], variant=variant)
            elif arg.startswith('{bin:'):
                arg = builds.target(*arg[5:-1].split('/'))
            args.append(arg)
        return [builds.target(self.target, variant)] + args

    def fits(self, variant):
        """Returns true if this processor has such a program."""
        where = [names for names in (self.on, builds.PROCESSORS.get(variant)) if names]
        return all(builds.processor() in names for names in where)

    def runner(self):
        return [builds.target(self.by, 'O2')] if self.by else []

    def build(self, variant):
        self.command(variant)
        self.runner()
        if self.log:
            builds.logger(variant)

    def environment(self, room, variant):
        env = with_libraries(self.env)
        if self.log:
            env['LD_PRELOAD'] = builds.logger(variant)
            env['REFLOG'] = room.path('log')
            os.makedirs(env['REFLOG'], exist_ok=True)
        return env

    def run(self, variant, mode):
        """Returns the problems, and a remark."""
        room = Room()
        try:
            problems, remark = getattr(self, mode)(room, variant)
        except Failure as failure:
            problems, remark = [str(failure)], ''
        finally:
            left = room.close()
        return problems + left, remark

    def run_untraced(self, room, command, env):
        """Runs the target untraced. A target that cannot do its work here prints `skip: ` and the reason."""
        plain = room.run(command, env)
        if plain.out.startswith(b'skip: '):
            raise builds.Skip(plain.out[6:].decode(errors='replace').strip())
        for name in glob.glob(room.path('log', '*')):
            os.unlink(name)
        return plain

    # ---- The modes ----

    def use_names(self, variant, attached=False):
        """Returns true if the stacks are compared by name. If libc has debug information, reading it takes a third of
        the CPU time of a scenario. So `make check` compares names only in one attached row of every second program, and
        in rows that have no attached mode."""
        is_elsewhere = 'attach' in self.modes and not (attached and self.is_named) and not self.check and not LONG
        return self.names and variant not in builds.WITHOUT_NAMES and not is_elsewhere

    def more_options(self, variant, attached=False):
        return self.options + (['-r'] if self.use_names(variant, attached) else [])

    def judge(self, room, variant, plain, traced, expected, follow=True, attached=False):
        problems = compare_runs(plain, traced)
        traces, more = read_traces(room.path('traces'), expected)
        problems += more
        problems += oracle.Oracle(plain.out).check(traces, follow, self.use_names(variant, attached))
        if self.check:
            problems += self.check(self, traces)
        accused = [note for t in traces for note in t.notes if oracle.ACCUSED.search(note)]
        if accused and not self.misuse:
            problems.append('functrace reports an error that the target does not make: ' + accused[0])
        problems += ['functrace said: ' + words for words in self.unsaid if words.encode() in traced.err]
        # AArch64 has more instructions that need a copy than instructions that can be emulated.
        steps = self.steps or (variant == 'no-slots' and builds.processor() == 'aarch64')
        if not steps and b'by stopping all threads' in traced.err:
            problems.append('breakpoints were stepped over by stopping all threads')
        remark = '%d events' % sum(len(t.events) for t in traces)
        if self.log:
            more, compared = self.compare_log(room, traces, attached)
            problems += more
            remark += ', %d compared with the log' % compared
        if problems and traced.err:
            problems.append('functrace said: ' + traced.err.decode(errors='replace').strip()[-1500:])
        return problems, remark

    def compare_log(self, room, traces, attached):
        logged = reflog.read_folder(room.path('log'))
        problems, compared = [], 0
        for trace in traces:
            compare = reflog.compare_attached if attached else reflog.compare_launched
            more, count = compare(trace, logged.get(trace.pid, {}))
            problems += more
            compared += count
        return problems, compared

    def launch(self, room, variant, follow=True):
        command = self.command(variant)
        env = self.environment(room, variant)
        plain = self.run_untraced(room, command, env)
        os.makedirs(room.path('traces'))
        options = self.more_options(variant) + ([] if follow else ['-F'])
        traced = room.run(functrace(room.path('traces'), *options, by=self.runner()) + command, env)
        files = self.files if follow or self.files is None else 1
        return self.judge(room, variant, plain, traced, files, follow)

    def through_postproc(self, room, variant, functrace_options, postproc_options):
        command = self.command(variant)
        env = self.environment(room, variant)
        plain = self.run_untraced(room, command, env)
        os.makedirs(room.path('binary'))
        os.makedirs(room.path('traces'))
        traced = room.run([FUNCTRACE, '-o', room.path('binary')] + modules(functrace_options + self.options) + command, env)
        names = ['-r'] if self.use_names(variant) else []
        problems = []
        for name in sorted(name for name in os.listdir(room.path('binary')) if not name.endswith('.map')):
            done = room.run([POSTPROC] + postproc_options + names + [room.path('binary', name)])
            if done.status or unexpected(done.err):
                problems.append('functrace-postproc %s: status %d, %r' % (name, done.status, done.err[-300:]))
            with open(room.path('traces', name + '.txt'), 'wb') as file:
                file.write(done.out)
        more, remark = self.judge(room, variant, plain, traced, self.files)
        return problems + more, remark

    def binary(self, room, variant):
        return self.through_postproc(room, variant, [], [])

    def compat(self, room, variant):
        return self.through_postproc(room, variant, ['--compat=sp-rtrace'], ['--compat=none'])

    def swap(self, room, variant):
        return self.through_postproc(room, variant, ['-f', 'swap'], [])

    def nofollow(self, room, variant):
        return self.launch(room, variant, follow=False)

    def attach(self, room, variant):
        reason = may_attach()
        if reason:
            raise builds.Skip(reason)
        command = self.command(variant)
        env = self.environment(room, variant)
        plain = self.run_untraced(room, command, env)
        gate = Gate()
        try:
            child = room.start(command, dict(env, **gate.env), pass_fds=gate.fds)
            gate.started()
            if not gate.arrived(child):
                raise Failure('the target ended before its gate')
            tracer = Tracer(room, child.pid, self.more_options(variant, attached=True), by=self.runner())
            tracer.planted()
            gate.open()
            problems = []
            if gate.arrived(child):
                problems += tracer.let_go()
                gate.open()
            else:
                tracer.err = room.finish(tracer.child).err  # the target has ended, so functrace ends by itself
            traced = room.finish(child)
            traced.err += tracer.err
            more, remark = self.judge(room, variant, plain, traced, self.files, attached=True)
            return problems + more, remark
        finally:
            gate.close()


def find_library(name):
    triplet = builds.processor() + ('-linux-gnueabihf' if builds.processor() == 'arm' else '-linux-gnu')
    for folder in ('/usr/lib/' + triplet, '/usr/lib64', '/usr/lib', '/lib/' + triplet):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path
    raise builds.Skip('%s is not installed' % name)


def with_libraries(env):
    """Returns the environment, with library names replaced by their paths."""
    return {key: find_library(value[5:-1]) if value.startswith('{lib:') else value for key, value in env.items()}


def need(program):
    path = shutil.which(program)
    if not path:
        raise builds.Skip('%s is not installed' % program)
    return path


def is_busybox(path):
    """Returns true if the program is busybox, which is stripped and exports nothing, so that no function can be
    found."""
    return os.path.basename(os.path.realpath(path)) == 'busybox'


def shell():
    """Returns a shell whose calls can be traced, and which executes a program for each command that is no builtin."""
    return need('bash') if is_busybox('/bin/sh') else '/bin/sh'
