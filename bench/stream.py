"""The stream: native logical replication and sluice drain the same work."""
import os
import time

from data import FILL_ONE, ONE
from lib import make_stream, wait_until
from lib.pgserver import SOURCE_ROLE
from report import closing_table, process_cpu

TABLE = ONE + "; CREATE TABLE mark (id int PRIMARY KEY)"

STEP = ("DO $$ BEGIN FOR k IN 0 .. {steps} - 1 LOOP {what};"
        " COMMIT; END LOOP; END $$")


def workloads(rows, part):
    """(name, statement); rows are in t already, part scales 1 million."""
    step = max(1, part // 1000)
    half = part // 2
    return [
        ("%d inserts, 1 transaction" % part, FILL_ONE.format(rows + 1, rows + part)),
        ("%d one-row transactions" % (part // 10), STEP.format(
            steps=part // 10, what="INSERT INTO t VALUES (%d + k, 1,"
            " md5(k::text), '2024-01-01', 12.34)" % (rows + part + 1))),
        ("%d updates, 500 transactions" % half, STEP.format(
            steps=500, what="UPDATE t SET a = a + 1 WHERE id BETWEEN"
            " k * {0} + 1 AND k * {0} + {0}".format(step))),
        ("%d deletes, 500 transactions" % half, STEP.format(
            steps=500, what="DELETE FROM t WHERE id BETWEEN"
            " {1} + k * {0} + 1 AND {1} + k * {0} + {0}".format(step, half))),
    ]


class Native:
    """CREATE SUBSCRIPTION with everything at its default."""

    name = "native"
    worker = ("SELECT pg_catalog.date_part('epoch', backend_start), pid FROM"
              " pg_catalog.pg_stat_activity WHERE datname = current_database()"
              " AND backend_type LIKE 'logical replication %%worker' AND pid IN"
              " (SELECT pid FROM pg_catalog.pg_stat_subscription WHERE relid IS NULL)")

    def __init__(self, src, dst):
        self.src, self.dst = src, dst
        src.execute("CREATE PUBLICATION p FOR TABLE t, mark")

    def create(self):
        s = self.src.server
        self.dst.execute(
            "CREATE SUBSCRIPTION %s CONNECTION 'host=127.0.0.1 port=%d dbname=%s"
            " user=%s password=%s sslmode=disable' PUBLICATION p" % (
                self.dst.name, s.port, self.src.name, SOURCE_ROLE, s.secret))

    def wait_ready(self):
        wait_until(lambda: not self.dst.value(
            "SELECT count(*) FROM pg_catalog.pg_subscription_rel"
            " WHERE srsubstate <> 'r'"), 600, "tables are not in sync")

    def stop(self):
        self.dst.execute("ALTER SUBSCRIPTION %s DISABLE" % self.dst.name)
        wait_until(lambda: not self.dst.query(self.worker), 60,
                   "the worker does not end")
        wait_until(lambda: not self.src.value(
            "SELECT count(*) FROM pg_catalog.pg_replication_slots"
            " WHERE active AND database = current_database()"), 60, "slot in use")

    def start(self):
        self.dst.execute("ALTER SUBSCRIPTION %s ENABLE" % self.dst.name)

    def say(self):
        return self.dst.rows("SELECT * FROM pg_catalog.pg_stat_subscription")

    def drop(self):
        self.dst.execute("DROP SUBSCRIPTION %s" % self.dst.name)


class Sluice:
    """sync_start with everything at its default."""

    name = "sluice"
    worker = ("SELECT pg_catalog.date_part('epoch', a.backend_start), a.pid FROM"
              " pg_catalog.pg_stat_activity a JOIN sluice.health h ON h.pid = a.pid")

    def __init__(self, src, dst):
        self.src, self.dst = src, dst
        dst.execute("CREATE EXTENSION sluice")
        self.stream = None

    def create(self):
        self.stream = make_stream(self.src, self.dst, "bench", wait=None)

    def wait_ready(self):
        self.stream.wait("streaming", "600 s")

    def stop(self):
        self.stream.stop()

    def start(self):
        self.stream.start(source=False)

    def drop(self):
        self.stream.stop()
        self.stream.drop()

    def say(self):
        return self.stream.health()


def settle(*dbs):
    """Nothing left of the last step when the next one is timed."""
    for db in dbs:
        db.execute("CHECKPOINT")
        db.execute("SELECT count(*) FROM t")


class Watch:
    """One connection on the target that polls for a row."""

    def __init__(self, dst, timeout):
        self.conn = dst.connect()
        self.cur = self.conn.cursor()
        self.timeout = timeout

    def see(self, sql, side):
        """Seconds since the epoch at which sql first returned a row."""
        deadline = time.time() + self.timeout
        while True:
            self.cur.execute(sql)
            if self.cur.fetchone():
                return time.time()
            if time.time() > deadline:
                raise AssertionError("not within %d s: %s\n%r" % (
                    self.timeout, sql, side.say()))
            time.sleep(0.02)


def check_equal(src, dst):
    sql = ("SELECT count(*), sum(pg_catalog.hashtext(t::text)::bigint),"
           " sum(id) FROM t")
    a, b = src.query(sql), dst.query(sql)
    if a != b:
        raise AssertionError("rows differ after the run: %r %r" % (a, b))


def worker_of(side):
    """(start, CPU seconds) of the process that applies."""
    rows = side.dst.query(side.worker)
    if not rows:
        return 0.0, float("nan")
    return float(rows[0][0]), process_cpu(rows[0][1])


def one_run(kind, source, target, args):
    """All workloads once; {name: (since the worker's start, total, its CPU)}."""
    src, dst = source.fresh_db("bench"), target.fresh_db("bench")
    out = {}
    try:
        src.execute(TABLE)
        dst.execute(TABLE)
        src.execute(FILL_ONE.format(1, args.rows))
        side = kind(src, dst)
        watch = Watch(dst, args.timeout)
        side.create()
        side.wait_ready()
        for i, (name, sql) in enumerate(workloads(args.rows, args.part)):
            side.stop()
            src.execute(sql)
            src.execute("SET synchronous_commit = on; INSERT INTO mark VALUES (%d)" % i)
            settle(src, dst)
            begun = time.time()
            side.start()
            if args.hook:
                os.system("%s %s %d" % (args.hook, kind.name, i))
            done = watch.see("SELECT 1 FROM mark WHERE id = %d" % i, side)
            start, cpu = worker_of(side)
            out[name] = (done - max(start, begun), done - begun, cpu)
        check_equal(src, dst)
        side.drop()
        watch.conn.close()
    finally:
        if not args.keep:
            dst.destroy()
            src.destroy()
    return out


TITLES = ("From the start of the worker", "From the call that starts it",
          "CPU of the worker")


def run(make_source, make_target, args):
    """Both in turn, args.runs times; prints the closing tables."""
    source, target = make_source(), make_target()
    kinds = [k for k in (Native, Sluice) if not args.only or k.name in args.only]
    names = [k.name for k in kinds]
    measures = [{n: {} for n in names} for _ in TITLES]
    for number in range(args.runs):
        for kind in kinds[::-1] if number % 2 else kinds:
            got = one_run(kind, source, target, args)
            for name, values in got.items():
                for measure, value in zip(measures, values):
                    measure[kind.name].setdefault(name, []).append(value)
            print("run %d %s: %s" % (number + 1, kind.name, ", ".join(
                "%.2f" % v[0] for v in got.values())), flush=True)
    for title, measure in zip(TITLES, measures):
        print("\n%s:" % title)
        closing_table("seconds: median (min-max)", measure, names)
    target.destroy()
    source.destroy()
