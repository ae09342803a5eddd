#!/usr/bin/env python3
"""Prints the rows that watches of many hosts write in a day, to try tables and queries before the hosts are watched.

    generate.py [hosts=10000] [stacks=20] [interval=3600] [seconds=86400] [seed=1]

Each host runs one process of the service shop, search or mail; an interval has `interval` seconds, and `stacks` stacks.
The day is 2026-02-28. Queries have something to find in shop: on all hosts Session::remember() grows. From 12:00 on
half of the hosts run the next release, in which Basket::price() keeps three times as much. From 18:00 on there is a
new stack, Coupon::apply().
"""

import datetime
import json
import random
import sys

DAY = datetime.datetime(2026, 2, 28)
NOON, EVENING = 12 * 3600, 18 * 3600
SERVICES = ["shop", "shop", "search", "mail"]  # half of the hosts run shop
OLD, NEW = "0a" * 20, "0b" * 20  # build-ids of the releases of shop
PLANTED = ["Session::remember(Request const&)", "Basket::price()", "Coupon::apply(Basket&)"]
DEPTH = 12


def fnv(data):
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 % (1 << 64)
    return value


def stamp(second):
    return (DAY + datetime.timedelta(seconds=second)).isoformat() + ".000000000Z"


def build_of(service, is_new):
    return NEW if is_new else OLD if service == "shop" else f"{sum(service.encode()):040x}"


def stack_text(service, build, number):
    """The columns of a stack that are the same in all its rows, as JSON."""
    planted = service == "shop" and number < len(PLANTED)
    first = PLANTED[number] if planted else f"{service}::Handler{number}::handle(Request&)"
    names = ["malloc", "operator new(unsigned long)", first] + [
        f"{service}::Layer{(number * 7 + i) % 40}::call(Context&)" for i in range(DEPTH - 6)] + [
            "main", "__libc_start_call_main", "_start"]
    libc = [name.startswith(("malloc", "__libc")) for name in names]
    offsets = [0x1000 * (i + 1) + number * 16 + (build == NEW) * 64 for i in range(DEPTH)]
    builds = ["c1" * 20 if of else build for of in libc]
    identity = fnv(b"".join(of.encode() + b"\0" + at.to_bytes(8, "little") for of, at in zip(builds, offsets)))
    columns = {"function": first, "id": f"{identity:016x}", "functions": names,
               "files": [None if of else f"src/{service}/file{(number + i) % 30}.cc" for i, of in enumerate(libc)],
               "lines": [None if of else 10 + number * 3 + i for i, of in enumerate(libc)],
               "objects": ["/usr/lib/x86_64-linux-gnu/libc.so.6" if of else f"/usr/bin/{service}" for of in libc],
               "build_ids": builds, "offsets": offsets}
    return json.dumps(columns, separators=(",", ":"))[1:-1]


UNKNOWN = ('"heap_bytes":null,"heap_blocks":null,"before":null,"unattributed":null,"stacks":null,"calls_seen":null,'
           '"calls_unseen":null,')
STACKLESS = ('"function":null,"id":null,"functions":[],"files":[],"lines":[],"objects":[],"build_ids":[],"offsets":[],'
             '"allocated_rate":null,"call_rate":null,"live":null,"live_low":null,"live_high":null,"blocks":null,'
             '"growth":null,"growth_low":null,"growth_high":null')


class Host:
    def __init__(self, number, numbers):
        self.number, self.service = number, SERVICES[number % len(SERVICES)]
        self.upgrades = self.service == "shop" and number % 8 < 4
        self.began, self.pid = 0, numbers.randrange(300, 1 << 22)

    def rows(self, second, interval, texts, numbers):
        if self.upgrades and second > NOON > self.began:
            self.began, self.pid = NOON, self.pid + 1
        build = build_of(self.service, self.upgrades and second > NOON)
        age = second - self.began
        windows = int(age / 60) + 1
        begin = stamp(max(self.began, second - interval))
        process = (f'"host":"host-{self.number:06}","service":"{self.service}","program":"/usr/bin/{self.service}",'
                   f'"build_id":"{build}","pid":{self.pid},"process_start":"{stamp(self.began)}",'
                   f'"watch_begin":"{stamp(self.began)}","interval_begin":"{begin}","interval_end":"{stamp(second)}",'
                   '"kind":"memory","way":"kernel",')
        target, pause = 0.01 + 0.008 * numbers.random(), 0.001 + 0.003 * numbers.random()
        cost = (f'"cost_budget":0.02,"cost_target":{target:.6},"cost_own":0.0021,"cost_pause":{pause:.6},'
                f'"looked":"{stamp(second)}","scanned":"{stamp(second)}"}}\n')
        certainty = f'"windows":{windows},"looks":{windows},"share":0.0125,'
        lines, lost = [], 0
        for number, text in enumerate(texts[self.service, build]):
            planted = self.service == "shop"
            if planted and number == 2 and second <= EVENING:
                continue
            level, growth, verdict, own_lost = 1e6 / (number + 1), 0.0, "sound", 0
            if planted and number == 0:
                growth, verdict = 40 + 20 * numbers.random(), "growing"
                own_lost = int(growth * age / 136) * 136
                lost += own_lost
            elif planted and number == 1 and build == NEW:
                level *= 3
            live = level * (0.8 + 0.4 * numbers.random()) + growth * age
            noise = live / (age + 1) * (numbers.random() - 0.5)
            lines.append(
                f'{{"scope":"stack",{process}{text},"allocated_rate":{live / 7:.6},"call_rate":{live / 700:.6},'
                f'"live":{live:.0f},"live_low":{live * 0.8:.0f},"live_high":{live * 1.25:.0f},"blocks":{live / 136:.0f},'
                f'"growth":{growth + noise:.6},"growth_low":{growth * 0.8 - abs(noise):.6},'
                f'"growth_high":{growth * 1.2 + abs(noise):.6},"lost":{own_lost},"verdict":"{verdict}",'
                f'"samples":{windows * 3},{certainty}{UNKNOWN}{cost}')
        lines.append(
            f'{{"scope":"interval",{process}{STACKLESS},"lost":{lost},"verdict":null,"samples":null,{certainty}'
            f'"heap_bytes":{2e7 + 60 * age:.0f},"heap_blocks":150000,"before":8000000,"unattributed":900000,'
            f'"stacks":{len(lines)},"calls_seen":{windows * 90000},"calls_unseen":0,{cost}')
        return lines


def main(arguments):
    values = {"hosts": 10000, "stacks": 20, "interval": 3600, "seconds": 86400, "seed": 1}
    for argument in arguments:
        name, _, value = argument.partition("=")
        if name not in values or not value.isdigit() or not 0 < int(value) < 1 << 32:
            sys.exit(f"generate.py: '{argument}' is none of hosts=N, stacks=N, interval=SECONDS, seconds=SECONDS, "
                     "seed=N")
        values[name] = int(value)
    numbers = random.Random(values["seed"])
    builds = [(service, build_of(service, is_new)) for service in set(SERVICES)
              for is_new in (False, service == "shop")]
    texts = {key: [stack_text(*key, number) for number in range(values["stacks"])] for key in builds}
    hosts = [Host(number, numbers) for number in range(values["hosts"])]
    for second in range(values["interval"], values["seconds"] + 1, values["interval"]):
        for host in hosts:
            sys.stdout.write("".join(host.rows(second, values["interval"], texts, numbers)))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        sys.exit(1)
