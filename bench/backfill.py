"""Filling an added column: sluice beside the same by COPY and UPDATE."""
import time

from data import FILL_ONE, ONE
from lib import make_stream
from report import closing_table

CHANGE = "ALTER TABLE t ADD extra uuid DEFAULT gen_random_uuid()"
SAME = "SELECT sum(pg_catalog.hashtext(extra::text)::bigint), count(extra) FROM t"


def by_hand(src, dst, args):
    """The rows' keys and values into a table, and an UPDATE that joins it."""
    dst.execute(ONE)
    source = src.connect()
    target = dst.connect()
    dst.execute(FILL_ONE.format(1, args.part))
    src.execute(CHANGE)
    dst.execute("ALTER TABLE t ADD extra uuid")
    src.execute("CHECKPOINT")
    dst.execute("CHECKPOINT")
    begun = time.time()
    path = "/tmp/sluice-bench-%d.copy" % src.server.port
    with open(path, "w+b") as f, source.cursor() as a, target.cursor() as b:
        a.copy_expert("COPY t (id, extra) TO STDOUT", f)
        f.seek(0)
        b.execute("CREATE TEMP TABLE fill (id bigint, extra uuid)")
        b.copy_expert("COPY fill FROM STDIN", f)
        b.execute("ANALYZE fill")
        b.execute("UPDATE t SET extra = f.extra FROM fill f WHERE t.id = f.id")
    took = time.time() - begun
    source.close()
    target.close()
    return took


def by_sluice(src, dst, args):
    """From the change on the source until the debt is gone.

    The source's own decoding of the rewritten table comes first; how long the
    rows alone took is printed too.
    """
    dst.execute("CREATE EXTENSION sluice")
    stream = make_stream(src, dst, "bench", timeout="%d s" % args.timeout,
                         schema_changes="forward", options={"volatile_defaults": "copy"})
    src.execute(CHANGE)
    src.execute("CHECKPOINT")
    dst.execute("CHECKPOINT")
    watch = dst.connect()
    deadline = time.time() + args.timeout
    begun = time.time()
    owed = None
    src.execute("INSERT INTO t (id) VALUES (0)")
    with watch.cursor() as cur:
        while True:
            cur.execute("SELECT EXISTS (SELECT FROM t WHERE id = 0),"
                        " EXISTS (SELECT FROM sluice.debt)")
            arrived, debt = cur.fetchone()
            if debt and owed is None:
                owed = time.time()
            if arrived and not debt:
                break
            if time.time() > deadline:
                raise AssertionError("not filled: %r" % stream.health())
            time.sleep(0.02)
    took = time.time() - begun
    if owed is not None:
        alone = time.time() - owed
        print("  of it the rows: %.2f s, %.0f rows/s" % (alone, args.part / alone), flush=True)
    watch.close()
    stream.stop()
    stream.drop()
    return took


KINDS = [("by hand", by_hand), ("sluice", by_sluice)]


def one_run(run, source, target, args):
    src, dst = source.fresh_db("bench"), target.fresh_db("bench")
    try:
        src.execute(ONE)
        src.execute(FILL_ONE.format(1, args.part))
        src.execute("VACUUM ANALYZE t")
        took = run(src, dst, args)
        if src.query(SAME) != dst.query(SAME):
            raise AssertionError("the columns differ after the run")
        return took
    finally:
        dst.destroy()
        src.destroy()


def run(make_source, make_target, args):
    """Both in turn, args.runs times; prints the closing table."""
    source, target = make_source(), make_target()
    name = "%d rows, one column of uuid" % args.part
    results = {k: {name: []} for k, _ in KINDS}
    for number in range(args.runs):
        for kind, fill in KINDS[::-1] if number % 2 else KINDS:
            took = one_run(fill, source, target, args)
            results[kind][name].append(took)
            print("run %d %s: %.2f s, %.0f rows/s" % (
                number + 1, kind, took, args.part / took), flush=True)
    closing_table("Filling an added column", results, [k for k, _ in KINDS])
    source.destroy()
    target.destroy()
