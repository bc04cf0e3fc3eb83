"""Drains of a MySQL or MariaDB source's log by sluice-bridge, beside the server's
own client that only reads it."""
import os
import subprocess
import time

import mypeers
import mysource
from report import cluster_cpu, closing_table, process_cpu, spread

SINGLE = ("CREATE TABLE single (id bigint NOT NULL PRIMARY KEY, a int, b varchar(40),"
          " d decimal(12,2))")
# so many transactions of a hundred single-row statements each
INSERT = """CREATE PROCEDURE bench.fill_single(transactions int)
BEGIN
    DECLARE t, n int DEFAULT 0;
    WHILE t < transactions DO
        START TRANSACTION;
        SET n = 0;
        WHILE n < 100 DO
            INSERT INTO %s.single VALUES (t * 100 + n, n, concat('row ', t, ' ', n), n / 100);
            SET n = n + 1;
        END WHILE;
        COMMIT;
        SET t = t + 1;
    END WHILE;
END"""
OLTP_TABLES, OLTP_SIZE, OLTP_EVENTS, TRANSACTIONS = 10, 30000, 100000, 10000


def oltp_before(src, args):
    return mysource.fill_sbtest(src, OLTP_TABLES, max(100, int(OLTP_SIZE * args.scale)))


def oltp_backlog(src, args):
    """oltp_read_write; its reads leave nothing in the log and are left out."""
    events = max(1, int(OLTP_EVENTS * args.scale))
    mysource.sysbench(src, "run", OLTP_TABLES, max(100, int(OLTP_SIZE * args.scale)),
                      "--events=%d" % events, "--time=0", "--threads=2", "--point-selects=0",
                      "--range-selects=off", "--mysql-ignore-errors=all")
    return 4 * events


def single_before(src, args):
    src.execute(SINGLE)
    return ["single"]


def single_backlog(src, args):
    transactions = max(1, int(TRANSACTIONS * args.scale))
    src.execute("DROP PROCEDURE IF EXISTS bench.fill_single")
    src.execute(INSERT % src.name)
    src.execute("CALL bench.fill_single(%d)" % transactions)
    return 100 * transactions


CASES = {
    "oltp": ("a run of sysbench oltp_read_write", oltp_before, oltp_backlog),
    "inserts": ("single-row inserts, 100 in a transaction", single_before, single_backlog),
}


def read_log(src, position):
    """(seconds, CPU seconds) of the client that reads the log to its end."""
    before, begun = mypeers.children_cpu(), time.monotonic()
    done = subprocess.run(mysource.log_reader(src.server, position), stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, MYSQL_PWD=src.server.repl_password))
    took = time.monotonic() - begun
    if done.returncode != 0:
        raise AssertionError("the log's reader failed:\n%s" % done.stderr[-4000:])
    return took, mypeers.children_cpu() - before


def drain(peer, number):
    """From sync_start until the row that was written last is visible:
    (seconds, CPU seconds of the target, of the bridge, its MiB)."""
    peer.start_bridge()
    target = peer.dst.server
    before, begun = cluster_cpu(target), time.monotonic()
    peer.stream.start(source=False)
    peer.see("SELECT 1 FROM mark WHERE id = %d" % number, peer.bad)
    took, used = time.monotonic() - begun, cluster_cpu(target) - before
    peer.clean()
    return took, used, peer.client_cpu, peer.peak


def one_run(case, source, target, number, args):
    """(rows, what read_log says, what drain says)."""
    before, backlog = CASES[case][1:]
    src, dst = source.fresh_db(case), target.fresh_db(case)
    names = before(src, args)
    src.execute("CREATE TABLE mark (id int NOT NULL PRIMARY KEY)")
    peer = mypeers.Bridged(src, dst, args)
    peer.prepare()
    peer.run()
    peer.stream.stop()
    peer.clean()
    position = source.position()
    rows = backlog(src, args)
    src.execute("INSERT INTO mark VALUES (%d)" % number)
    target.execute("CHECKPOINT")
    os.sync()
    got = [None, None]
    for side in (0, 1)[::-1 if number % 2 else 1]:
        got[side] = read_log(src, position) if side == 0 else drain(peer, number)
    a, b = mysource.in_source(src, names), mysource.in_target(dst, names)
    if a != b:
        raise AssertionError("rows differ after the run: %r %r" % (a, b))
    if not args.keep:
        src.destroy()
    return rows, got[0], got[1]


def run(case, source_kind, make_source, make_target, args):
    """The client and sluice in turn, args.runs times; prints the closing table."""
    print("\n== %s from %s: %s" % (case, source_kind, CASES[case][0]), flush=True)
    source = make_source(source_kind)
    limit, ours = [], []
    for number in range(args.runs):
        target = make_target()
        rows, read, got = one_run(case, source, target, number, args)
        if not args.keep:
            target.destroy()
        limit.append(read)
        ours.append(got)
        print("run %d: %d rows, read alone %.2f s (CPU %.2f), sluice %.2f s = %.0f rows/s" % (
            number + 1, rows, read[0], read[1], got[0], rows / got[0]), flush=True)
    reader = "mariadb-binlog" if source.is_mariadb else "mysqlbinlog"
    name = "%d rows" % rows
    closing_table("seconds: median (min-max)", {
        reader: {name: [x[0] for x in limit]}, "sluice": {name: [x[0] for x in ours]}},
        [reader, "sluice"])
    for title, values in (
            ("rows per second", [rows / x[0] for x in ours]),
            ("CPU of the bridge, us per row", [x[2] / rows * 1e6 for x in ours]),
            ("CPU of the target, us per row", [x[1] / rows * 1e6 for x in ours]),
            ("largest process of the bridge, MiB", [x[3] for x in ours])):
        print("%-36s %s" % (title, spread(values)))
    source.destroy()
