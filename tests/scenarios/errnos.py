"""Tests the errno that -a shows. functrace reads it from outside, for each thread, with all supported C libraries."""

import collections
import re

import builds
from outputs import equal
from processes import FUNCTRACE

CALLS = 50
WANTED = {('/nonexistent', 'ENOENT'): CALLS, ('/', 'EISDIR'): CALLS, ('/dev/null/x', 'ENOTDIR'): CALLS, ('/dev/null', 'EEXIST'): CALLS}
VARIANTS = ('O2', 'no-pie', 'static', 'static-pie', 'lld', 'clang', 'musl', 'musl-static', 'm32', 'm32-static', 'm32-static-pie', 'thumb',
            'arm32', 'arm32-static')


def of_threads(variant):
    def run(room):
        done = room.run([FUNCTRACE, '-a', '-f', 'text', '-b', '0', '-o', room.path('trace'), '-x', 'open', builds.target('errnos', variant)])
        if done.status:
            return ['status %d: %s' % (done.status, done.err[-500:])], ''
        with open(room.path('trace')) as file:
            calls = re.split(r'^\d+\. ', file.read(), flags=re.M)[1:]
        found = collections.Counter()
        for call in calls:
            path, error = (re.search(form, call) for form in (r'pathname="(.*)"', r'errno=(\w+)'))
            found[path.group(1) if path else '?', error.group(1) if error else 'unknown'] += 1
        return equal('errors by paths', dict(found), WANTED), '%d calls' % len(calls)
    return run


def has(variant):
    return builds.processor() in builds.PROCESSORS.get(variant, (builds.processor(),))


CASES = [('-a: errno in threads [%s]' % variant, of_threads(variant)) for variant in VARIANTS if has(variant)]
BUILDS = tuple(('errnos', variant) for variant in VARIANTS)
