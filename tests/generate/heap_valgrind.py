"""Reads valgrind's classes of the blocks of tests/targets/heaps.c, and explains where they differ from functrace's by
valgrind's definitions."""

import collections
import re

import heap_model
import heap_plans

# --max-stackframe keeps its default: if two stacks are nearer to each other than this number, valgrind takes a switch
# between them for a stack frame, and all memory between them for unused.
OPTIONS = ('-q', '--vgdb=yes', '--leak-check=no', '--fair-sched=try')
CLASSES = {'definitely lost': heap_model.DEFINITELY, 'indirectly lost': heap_model.INDIRECTLY, 'possibly lost': heap_model.POSSIBLY,
           'still reachable': heap_model.REACHABLE}
# Kinds of pointers that valgrind does not count, or not always: the reason, and a pattern for the plan's description.
REASONS = (
    ('valgrind does not look into vector registers', r'^vector register'),
    ("valgrind does not know that a block contains a thread's stack",
     r'^(the stack of a thread|a stack that was left)'),
    ('valgrind judges memory below a stack pointer by how far the pointer has moved', r'red zone'),
    ("valgrind takes the vector of a thread's TLS blocks, which points to a library's, for a block that may be lost",
     r'(?<!the C )library'),
    ('valgrind keeps the stack memory of a thread that has ended unchanged', r'that has (returned|ended)'),
)
OPEN = 'what keeps it may count or not, for functrace as for valgrind'
SEVERAL = 'several of these'
SECOND = 'valgrind does not know the malloc of a second C library, whose blocks are memory like any other'
SIZE = 'valgrind knows the size that was asked for: a pointer to its end leads nowhere, and numbers before arrays are exact'


def classes(text):
    """Returns {address: class} from the output of vgdb(1)'s `block_list` and `leak_check`."""
    found, name = {}, None
    for line in text.split('\n'):
        line = re.sub(r'^==\d+== ?', '', line)
        match = re.search(r' (?:is|are) (\w+ \w+) in loss record ', line)
        if match:
            name = CLASSES[match[1]]
        match = re.match(r'0x([0-9A-Fa-f]+)\[\d+\]', line)
        if match:
            found[int(match[1], 16)] = name
    return found


def _matches(words, pattern):
    return lambda keeper: re.search(pattern, words[keeper] if isinstance(keeper, int) else keeper)


def differences(log, plan, theirs, ours):
    """Returns (problems, {reason: number of blocks}). `log` is the log of the run with valgrind, `theirs` has
    valgrind's classes, `ours` is {number: class} of another run of the plan. A class of valgrind must follow from its
    own definitions, whatever functrace reports."""
    words, second = plan.words, {log.addresses[block.number] for block in plan.blocks if block.how == heap_plans.SECOND}
    second &= set(log.blocks)
    known, plain = log.without(second), heap_model.allowed(log)
    rules = [(SECOND, heap_model.allowed(known))] + [
        (reason, heap_model.allowed(known.doubting(_matches(words, pattern)))) for reason, pattern in REASONS]
    by_all = heap_model.allowed(known.doubting(_matches(words, '|'.join(pattern for _, pattern in REASONS))))
    problems, reasons = [], collections.Counter()
    for block in log.starts:
        said, number = theirs.get(block), log.numbers[block]
        if block in second:
            reasons[SECOND] += 1
        elif said not in by_all[block]:
            problems.append('valgrind reports %s, expected %s: %s' % (said, ' or '.join(sorted(by_all[block])),
                                                             heap_model.describe(log, block, words)))
        elif number in ours and said != ours[number]:
            if said in plain[block]:
                reasons[SIZE if len(plain[block]) == 1 else OPEN] += 1
            else:
                reasons[next((reason for reason, right in rules if said in right[block]), SEVERAL)] += 1
    return problems, reasons
