"""Rules on names and on the content of files, and the list of their exceptions (exceptions.txt)."""

import collections
import os
import re

FILE_LINES = 500
HEADER_LINES = 150
# interfaces that people who write a port, a module or a format have to read
CONTRACTS = ('src/trace/event.h', 'modules/module.h')
NAMED = ('src/', 'arch/', 'modules/')  # where names are unique
# The guardian traces the tracer's thread, and repairs the target's tasks when the engine is dead.
PTRACE_PLACES = ('src/ptrace/', 'src/engine/guardian.c', 'src/engine/rescue_tasks.c')
# Only the pump dispatches stops, so that no two stops are dispatched at once.
DISPATCH = re.compile(r'\bdispatch_stop\((?!struct)')
PUMP = 'src/tracer/stop_pump.c'
PROCESSOR = re.compile(r'#\s*(?:if|ifdef|ifndef|elif)\b.*\b__(?:x86_64|i386|aarch64|arm)__')
# ELF machines, names that contain a processor's name, registers, constants of thread descriptors and stacks.
MACHINE_PLACES = ('arch/', 'src/symbols/elf')
MACHINE = re.compile(r'(?!EM_NONE$)(?:EM_\w+|'
                     r'(?:\w*_)?(?:x86|i386|amd64|aarch64|arm64|arm|thumb|riscv(?:32|64)?)(?:_\w*)?|'
                     r'(?:orig_)?[re](?:ip|sp|bp|ax|bx|cx|dx|si|di)|eflags|user_\w*regs\w*)$', re.I)
LAYOUT = re.compile(r'(?:RED_ZONE|DTV|TCB|TLS)(?:_[A-Z0-9_]*)?$')
WRITE_PLACES = ('src/ptrace/', 'src/breakpoints/')
WRITE = re.compile(r'(?:process_vm_writev|pwrite(?:64)?|pwritev2?|PTRACE_POKE\w+|memory_write\w*|memory_poke)$')
BARE = 4  # a search for a name with so few letters finds too much


def lengths(tree):
    for path, source in tree.sources.items():
        if source.lines > FILE_LINES:
            yield '%s has %d lines; no file has more than %d' % (path, source.lines, FILE_LINES)
        elif source.is_header and source.lines > HEADER_LINES and path not in CONTRACTS:
            yield '%s has %d lines; no header but the contracts has more than %d' % (path, source.lines, HEADER_LINES)


def private_calls(tree):
    for path, source in tree.sources.items():
        if re.search(r'\bptrace\(', source.code) and not path.startswith(PTRACE_PLACES):
            yield '%s calls ptrace(); that is for %s' % (path, ', '.join(PTRACE_PLACES))
        if bool(DISPATCH.search(source.code)) != (path == PUMP):
            yield '%s %s dispatch_stop(); only the pump of stops calls it' % (path, 'does not call' if path == PUMP else 'calls')
        if PROCESSOR.search(source.raw) and not path.startswith('arch/'):
            yield '%s asks for a processor; that is for arch/' % path


# Each rule yields (thing, the places that break the rule).

def file_names(tree):
    """No two files have the same name, except a .c file and its own header."""
    folders = collections.defaultdict(set)
    for path in tree.sources:
        if path.startswith(NAMED):
            folders[os.path.splitext(os.path.basename(path))[0]].add(os.path.dirname(path))
    return ((name, found) for name, found in folders.items() if len(found) > 1)


def tags(tree):
    """No two structs, unions or enums have the same tag."""
    files = collections.defaultdict(set)
    for path, source in tree.sources.items():
        for tag in source.tags if path.startswith(NAMED) else ():
            files[tag].add(path)
    return ((tag, found) for tag, found in files.items() if len(found) > 1)


def local_names(tree):
    """No two static functions have the same name, and no static function's name is a plain word that other files
    use."""
    files, used = collections.defaultdict(set), collections.Counter()
    for path, source in tree.sources.items():
        if path.startswith(NAMED):
            used.update(source.identifiers.keys())
            for name in source.statics:
                files[name].add(path)
    for name, found in files.items():
        found |= {tree.defined[name]} if name in tree.defined else set()
        is_bare = '_' not in name and (len(name) <= BARE or used[name] > 1)
        if len(found) > 1 or (is_bare and not any(path.endswith('.h') for path in found)):
            yield name, found


def identifiers(tree, patterns, places):
    found = collections.defaultdict(list)
    for path, source in tree.sources.items():
        if path.startswith(NAMED) and not path.startswith(places):
            for name, count in source.identifiers.items():
                if any(pattern.match(name) for pattern in patterns):
                    found['%s:%s' % (os.path.basename(path), name)] += [path] * count
    return found.items()


def machine_constants(tree):
    """Only arch/ and the ELF reader name processors, registers and constants of thread and stack."""
    return identifiers(tree, (MACHINE, LAYOUT), MACHINE_PLACES)


def target_writes(tree):
    """Only the folders ptrace/ and breakpoints write a target's memory."""
    return identifiers(tree, (WRITE,), WRITE_PLACES)


RULES = {'file-name': file_names, 'tag': tags, 'local-name': local_names, 'machine': machine_constants,
         'target-write': target_writes}


class Exceptions:
    """The lines of exceptions.txt: rule, thing, number of places that break the rule; after a # the reason for the
    exception."""

    def __init__(self, lines):
        self.lines = list(lines)
        self.allowed = {}
        for line in self.lines:
            words = line.split('#')[0].split()
            if words:
                self.allowed[words[0], words[1]] = int(words[2])

    def unknown(self, rules):
        listed = {of for of, _ in self.allowed}
        return ['exceptions.txt: there is no rule ' + rule for rule in sorted(listed - set(rules))] + \
            ['exceptions.txt: the reason is missing: ' + line for line in self.lines
             if line.split('#')[0].strip() and not line.partition('#')[2].strip()]

    def problems(self, rule, broken):
        """Yields a problem for each thing that breaks the rule at more or fewer places than listed."""
        broken = {thing: sorted(places) for thing, places in broken}
        for thing, places in sorted(broken.items()):
            allowed = self.allowed.get((rule, thing), 0)
            if len(places) > allowed:
                yield '%s %s: in %d places, %d allowed: %s' % (rule, thing, len(places), allowed, ' '.join(places))
        for (of, thing), allowed in sorted(self.allowed.items()):
            count = len(broken.get(thing, ()))
            if of == rule and count < allowed:
                yield '%s %s: %s' % (rule, thing, 'in %d places only, put that into exceptions.txt' % count if count
                                     else 'is mended, take it out of exceptions.txt')

    def shrunk(self, broken):
        """Returns the lines with the present numbers, and without exceptions that are no longer needed. broken: rule ->
        {thing: places}."""
        for line in self.lines:
            words = line.split('#')[0].split()
            count = len(broken.get(words[0], {}).get(words[1], ())) if words else 0
            if not words or count >= int(words[2]):
                yield line
            elif count:
                yield re.sub(r'\b\d+(?=\s*(?:#|$))', str(count), line, count=1)


WRAP = re.compile(r'--wrap[=,](\w+)')
LINKED = re.compile(r'\s*(?:tests_unit_)?(\w+?)(?:_LDFLAGS)?\b')  # whose line of a makefile it is


def wrapped(tree, makefiles):
    """Returns {program.function: {makefile}} for the functions of the tree that a program replaces with the linker's
    --wrap. Functions of the C library are left out, because only --wrap can replace those. makefiles: {path: text}."""
    found = collections.defaultdict(set)
    for path, text in makefiles.items():
        for line in text.replace('\\\n', ' ').splitlines():
            program = LINKED.match(line)
            for name in WRAP.findall(line):
                if name in tree.defined:
                    found['%s.%s' % (program[1] if program else path, name)].add(path)
    return found


class Listed:
    """A list of places, several in a line, with their reason after a #: callbacks.txt or wrapped.txt."""

    def __init__(self, lines):
        self.reasons = {place: reason.strip() for text, _, reason in (line.partition('#') for line in lines)
                        for place in text.split()}

    def problems(self, found, unlisted, unneeded):
        """found: place -> names. unlisted and unneeded: the messages for a place without a reason, with a %s for the
        names, and for one that is no longer found."""
        for place, names in sorted(found.items()):
            if not self.reasons.get(place):
                yield '%s %s' % (place, unlisted % ', '.join(sorted(names)))
        for place in sorted(set(self.reasons) - set(found)):
            yield '%s %s' % (place, unneeded)


CALLBACKS = ('calls upward (%s); list it in callbacks.txt with the reason, or call nothing above',
             'does not call upward, take it out of callbacks.txt')
WRAPPED = ('is wrapped (%s); use the real function in the test, or list it in wrapped.txt with the reason',
           'is not wrapped, take it out of wrapped.txt')
