"""Filling an added column of a table that comes from MySQL or MariaDB by sluice-bridge."""
import statistics
import time

import mysource
from lib import make_bridged_stream
from lib.bridgerun import Bridge
from lib.util import wait_until
from report import cluster_cpu, spread

CASES = ["fill"]
CHANGE = "ALTER TABLE t ADD extra DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6)"
SAME = "SELECT count(*), count(extra), min(extra), max(extra) FROM t"


def one_run(src, target, args):
    """(seconds, CPU seconds of the target) from the statement's end until nothing is owed."""
    dst = target.fresh_db("fill", extension=True)
    with Bridge(dst) as bridge:
        stream = make_bridged_stream(src, dst, "bench", options={"volatile_defaults": "copy"},
                                     server_options={"sslmode": mysource.sslmode(src.server)})
        stream.wait("streaming", "%d s" % args.timeout)
        stream.caught_up("%d s" % args.timeout)
        dst.execute("VACUUM ANALYZE t")
        target.execute("CHECKPOINT")
        src.execute(CHANGE)
        before, begun = cluster_cpu(target), time.monotonic()
        wait_until(lambda: dst.value("SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 't'::regclass AND attname = 'extra')"
                                     " AND NOT EXISTS (SELECT FROM sluice.debt)"), args.timeout, stream.health)
        took, cpu = time.monotonic() - begun, cluster_cpu(target) - before
        if [tuple(r) for r in src.query(SAME)] != [tuple(r) for r in dst.query(SAME)]:
            raise AssertionError("the columns differ after the run")
        stream.stop()
        stream.drop()
        bridge.stop()
    src.execute("ALTER TABLE t DROP COLUMN extra")
    return took, cpu


def run(case, source_kind, make_source, make_target, args):
    """args.runs times; prints each and what they had in common."""
    source = make_source(source_kind)
    src = source.fresh_db(case)
    src.execute("CREATE TABLE t (id bigint PRIMARY KEY, v varchar(30) NOT NULL)")
    src.execute("INSERT INTO t SELECT n, concat('value ', n) FROM (SELECT x.i * 1000000 + y.i * 1000 + z.i AS n"
                " FROM bench.digits x, bench.digits y, bench.digits z WHERE x.i <= %d DIV 1000000) s WHERE n < %d"
                % (args.part, args.part))
    print("\n== filling an added column from %s: %d rows" % (source_kind, args.part), flush=True)
    took = []
    for number in range(args.runs):
        target = make_target()
        took.append(one_run(src, target, args))
        if not args.keep:
            target.destroy()
        print("run %d: %.2f s, %.0f rows/s, CPU of the target %.2f s" % (
            number + 1, took[-1][0], args.part / took[-1][0], took[-1][1]), flush=True)
    print("seconds %s, rows/s %.0f" % (spread([t[0] for t in took]),
                                       args.part / statistics.median(t[0] for t in took)))
    source.destroy()
