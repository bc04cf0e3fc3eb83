"""Cold starts from MySQL and MariaDB: pgloader and sluice-bridge copy the same
source into a fresh, empty target."""
import os
import statistics
import time

import mypeers
import mysource
from report import cluster_cpu, process_cpu, spread

CASES = {
    "sbtest": ("10 tables of sysbench, %d rows each", 300000, 10,
               lambda src, rows: mysource.fill_sbtest(src, 10, rows)),
    "mixed": ("one table of %d rows of mixed types", 3000000, 1, mysource.fill_mixed),
}
KINDS = [mypeers.Pgloader, mypeers.Bridged]


def one_run(kind, src, target, names, args):
    """(seconds, CPU seconds of both servers and the client, of the client alone,
    MiB of the client's largest process) of one peer."""
    dst = target.fresh_db("cold")
    peer = kind(src, dst, args)
    peer.prepare()
    target.execute("CHECKPOINT")
    os.sync()
    before = cluster_cpu(target) + process_cpu(src.server.pid())
    begun = time.monotonic()
    peer.run()
    took = time.monotonic() - begun
    cpu = cluster_cpu(target) + process_cpu(src.server.pid()) - before
    peer.clean()
    check(src, dst, names)
    return took, cpu + peer.client_cpu, peer.client_cpu, getattr(peer, "peak", None) or float("nan")


def check(src, dst, names):
    """A peer that left something out, or changed it, was not measured."""
    a, b = mysource.in_source(src, names), mysource.in_target(dst, names)
    if a != b:
        raise AssertionError("rows differ after the run: %r %r" % (a, b))
    if mysource.indexes_in_source(src, names) != mysource.indexes(dst, names):
        raise AssertionError("there are %d indexes, of %d" % (
            mysource.indexes(dst, names), mysource.indexes_in_source(src, names)))


def run(case, source_kind, make_source, make_target, args):
    """All peers in turn, args.runs times; prints the closing table."""
    title, rows, tables, fill = CASES[case]
    rows = max(1, int(rows * args.scale))
    source = make_source(source_kind)
    # pgloader's driver knows none of the ways to log in that MySQL 9 has
    kinds = [k for k in KINDS if source.is_mariadb or k is not mypeers.Pgloader]
    if args.only:
        kinds = [k for k in kinds if k.name in args.only]
    print("\n== %s from %s: %s" % (case, source_kind, title % rows), flush=True)
    src = source.fresh_db(case)
    names = fill(src, rows)
    results = {k.name: [] for k in kinds}
    for number in range(args.runs):
        for kind in kinds[::-1] if number % 2 else kinds:
            target = make_target()
            got = one_run(kind, src, target, names, args)
            if not args.keep:
                target.destroy()
            results[kind.name].append(got)
            print("run %d %s: %.2f s, CPU %.2f s, of the client %.2f s" % (
                (number + 1, kind.name) + got[:3]), flush=True)
    closing(results, rows * tables)
    source.destroy()


def closing(results, rows):
    """Wall clock and CPU by peer, how often ours that is, and what a row costs."""
    print("\n%-15s %22s %22s %22s  %s" % (
        "median (min-max)", "seconds", "CPU seconds", "client: us per row",
        "pgloader / sluice: seconds, CPU"))
    median = {name: [statistics.median(g[i] for g in got) for i in (0, 1)]
              for name, got in results.items() if got}
    for name, got in results.items():
        line = "%-16s %22s %22s %22s" % (
            name, spread([g[0] for g in got]), spread([g[1] for g in got]),
            spread([g[2] / rows * 1e6 for g in got]))
        if name != "sluice" and "sluice" in median:
            line += "  %.2f %.2f" % tuple(median[name][i] / median["sluice"][i] for i in (0, 1))
        print(line)
    if "sluice" in results:
        print("largest process of the bridge, MiB: %s" % spread(
            [g[3] for g in results["sluice"]]))
