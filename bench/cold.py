"""Cold starts: everybody copies the same source into a fresh, empty target."""
import os
import statistics
import time

import data
import peers
from report import cluster_cpu, spread

CASES = {
    "table": ("one table of %d rows", data.one, 3000000,
              [peers.Native, peers.Pgcopydb, peers.Sluice]),
    "tables": ("43 tables, %d rows together, three indexes each", data.many, 8000000,
               [peers.Native, peers.Pgcopydb, peers.PgcopydbSplit,
                peers.SluiceVacuum, peers.Sluice]),
}

def one_run(kind, src, target, names, args):
    """(seconds, CPU seconds) of one peer; the target is gone afterwards."""
    dst = target.fresh_db("cold")
    peer = kind(src, dst, args)
    peer.prepare()
    for server in (src.server, target):
        server.execute("CHECKPOINT")
    os.sync()
    before = cluster_cpu(src.server) + cluster_cpu(target)
    begun = time.monotonic()
    hook = args.hook and os.spawnlp(os.P_NOWAIT, args.hook, args.hook, kind.name, str(
        target.postmaster_pid()), str(src.server.postmaster_pid()))
    peer.run()
    took = time.monotonic() - begun
    # a moment's wait of our own would be counted: read it at once
    cpu = cluster_cpu(src.server) + cluster_cpu(target) - before + peer.client_cpu
    if hook:
        os.waitpid(hook, 0)
    check(src, dst, names)
    if args.keep:
        print("%s: kept in %s, database %s" % (kind.name, target.base, dst.name))
    else:
        peer.clean()
    return took, cpu


def check(src, dst, names):
    """A peer that left something out was not measured."""
    if data.fingerprint(src, names) != data.fingerprint(dst, names):
        raise AssertionError("rows differ after the run")
    if data.indexes(src) != data.indexes(dst):
        raise AssertionError("indexes differ after the run:\n%r\n%r" % (
            data.indexes(src), data.indexes(dst)))


def run(case, make_source, make_target, args):
    """All peers in turn, args.runs times; prints the closing tables."""
    title, fill, rows, kinds = CASES[case]
    rows = int(rows * args.scale)
    if args.only:
        kinds = [k for k in kinds if k.name in args.only]
    print("\n== %s: %s" % (case, title % rows), flush=True)
    source = make_source()
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
            print("run %d %s: %.2f s, CPU %.2f s" % ((number + 1, kind.name) + got),
                  flush=True)
    closing(results)
    source.destroy()


def closing(results):
    """Wall clock and CPU by peer, and how often ours that is."""
    print("\n%-15s %22s %22s  %s" % ("median (min-max)", "seconds",
                                     "CPU seconds", "peer / ours: seconds, CPU"))
    for name, got in results.items():
        ours = "sluice+vacuum" if name.startswith("pgcopydb") else "sluice"
        if ours not in results:
            ours = "sluice"
        line = "%-16s %22s %22s" % (name, spread([g[0] for g in got]),
                                    spread([g[1] for g in got]))
        if not name.startswith("sluice") and ours in results:
            line += "  %.2f %.2f (%s)" % tuple(
                [statistics.median(g[i] for g in got) /
                 statistics.median(g[i] for g in results[ours]) for i in (0, 1)] + [ours])
        print(line)
