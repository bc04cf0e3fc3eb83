"""A MariaDB (or MySQL) database under sysbench: copied into an empty PostgreSQL
and followed by sluice-bridge, through stops and kills -9 of the bridge, of the
source and of the target; then compared, and not one value differs."""
import datetime
import json
import os
import signal
import subprocess
from collections import namedtuple

from scene import COPIED, Scene, say

from lib import Bridge, MySqlServer, PgServer

SBTEST = 4
# What sysbench's own tables lack: types, generated columns, foreign keys
SCHEMA = """
CREATE TABLE customers (
    id int unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name varchar(60) CHARACTER SET latin1 NOT NULL,
    vip tinyint(1) NOT NULL DEFAULT 0,
    born date, UNIQUE KEY by_name (name));
CREATE TABLE orders (
    id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    customer int unsigned NOT NULL,
    state enum('new', 'paid', 'sent') NOT NULL DEFAULT 'new',
    total decimal(12,2) NOT NULL CHECK (total >= 0),
    gross decimal(14,4) AS (total * 2) STORED,
    tags set('gift', 'express', 'abroad'),
    extra json,
    placed timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
    KEY open_first (state, placed),
    FOREIGN KEY (customer) REFERENCES customers (id)) COMMENT 'what was ordered';
"""
FILL = """
INSERT INTO customers (name, vip, born) SELECT concat('caf\u00e9 ', id), id %% 2, '1980-02-29'
    FROM sbtest1 WHERE id <= %(customers)d;
INSERT INTO orders (customer, total, tags, extra)
    SELECT 1 + id %% %(customers)d, k / 100, 'gift,abroad', concat('{"n": ', k, '}')
    FROM sbtest1;
"""
WRITE = ("INSERT INTO orders (customer, total, tags) SELECT 1 + id %% 100, k / 100, 'express' "
         "FROM sbtest1 WHERE id = 1 + %(n)d %% 1000; "
         "UPDATE orders SET state = 'sent' WHERE id = %(n)d; "
         "DELETE FROM orders WHERE id = %(n)d - 500")

TargetDb = namedtuple("TargetDb", "server name")


def plain(value):
    """A value of either driver as one text: what it is, not how it is written."""
    if value is None or isinstance(value, bool):
        return value if value is None else str(int(value))
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None).isoformat()
    if isinstance(value, list):                 # text[] of a SET
        return ",".join(value)
    if isinstance(value, dict):                 # jsonb
        return json.dumps(value, sort_keys=True)
    text = str(value)
    return json.dumps(json.loads(text), sort_keys=True) if text.startswith("{") else text


class FromMysql(Scene):
    def servers(self):
        mariadb = self.opt.kind == "mariadb"
        self.driver = self.opt.kind
        say("starting %s and PostgreSQL" % ("MariaDB" if mariadb else "MySQL"))
        self.source = MySqlServer("mariadb10.11" if mariadb else "mysql").start()
        self.target = PgServer("shop").start()
        self.target.execute("CREATE DATABASE shop")
        self.source.execute("CREATE DATABASE shop CHARACTER SET utf8mb4; "
                            "GRANT REFERENCES, LOCK TABLES ON shop.* TO repl@'%'")
        rows = 10000 * self.opt.scale
        say("filling the source: sysbench, %d tables of %d rows, and orders of its own"
            % (SBTEST, rows))
        self.sysbench("prepare", "--table-size=%d" % rows).check_returncode()
        names = {"customers": 100 * self.opt.scale}
        self.source.execute(SCHEMA, dbname="shop")
        self.source.execute(FILL % names, dbname="shop")
        self.tables = ["customers", "orders"] + ["sbtest%d" % (i + 1) for i in range(SBTEST)]

    def sysbench_argv(self, command, *args):
        return ["sysbench", "oltp_read_write", "--db-driver=mysql", "--mysql-user=root",
                "--mysql-socket=" + self.source.socket, "--mysql-db=shop",
                "--tables=%d" % SBTEST] + list(args) + [command]

    def sysbench(self, command, *args):
        return subprocess.run(self.sysbench_argv(command, *args), stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL)

    def start_load(self):
        say("load: sysbench oltp_read_write, %d transactions per second, until the end"
            % (self.opt.rate // 3))
        self.load = subprocess.Popen(
            self.sysbench_argv("run", "--table-size=%d" % (10000 * self.opt.scale),
                               "--threads=2", "--rate=%d" % (self.opt.rate // 3),
                               "--time=3600", "--mysql-ignore-errors=all"),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def transactions(self):
        return int(self.source.execute("SHOW GLOBAL STATUS LIKE 'Com_commit'")[0][1])

    def write(self, first, n):
        """Orders of its own come, change and go."""
        conn = self.source.connect("shop")
        with conn.cursor() as cur:
            for i in range(first, first + n):
                cur.execute(WRITE % {"n": i})
                while cur.nextset():
                    pass
        conn.close()

    def connect(self):
        self.sql("CREATE EXTENSION sluice")
        self.sql("CREATE SERVER shop FOREIGN DATA WRAPPER sluice OPTIONS "
                 "(driver '%s', host '127.0.0.1', port '%d', dbname 'shop', "
                 "sslrootcert '%s')" % (self.driver, self.source.port, self.source.ca))
        mapping = ("CREATE USER MAPPING FOR CURRENT_USER SERVER shop OPTIONS "
                   "(user 'repl', password '%s')")
        self.sql(mapping % self.source.repl_password, show=mapping % "...")
        self.bridge = Bridge(TargetDb(self.target, "shop"))
        say("sluice-bridge run --target ...")
        self.bridge.start()

    def copy(self):
        say("start into an empty database: schema, copy, then follow; slowed down to be "
            "watched and killed")
        self.sql("SELECT state FROM sluice.sync_start('shop', source => 'shop', options => "
                 "'{\"copy_bytes_per_second\": \"%s\"}')" % self.opt.copy_rate)
        pid = self.copying()
        say("kill -9 of the bridge, in the middle of the copy; a new one goes on")
        self.restart_bridge()
        pid = self.copying(gone=pid)
        say("kill -9 %d, the target's postmaster, in the middle of the copy"
            % self.target.postmaster_pid())
        self.kill_target()
        self.copying(gone=pid)
        say("stop and start, on at full speed: what is here is kept")
        self.sql("SELECT sluice.sync_stop('shop', true)")
        self.sql(COPIED)
        self.sql("SELECT state FROM sluice.sync_start('shop', options => "
                 "'{\"copy_bytes_per_second\": null}')")

    def restart_bridge(self):
        for pid in self.bridge.tree():
            os.kill(pid, signal.SIGKILL)
        self.bridge.wait()
        self.bridge.start()

    def follow(self):
        self.show_copied("state = 'not_carried' OR note IS NOT NULL")
        self.write(1, 500)
        self.stop_and_resume(lambda: self.write(501, 500))

    def kills(self):
        pid = self.value("SELECT pid FROM sluice.health")
        say("kill -9 of the bridge")
        self.restart_bridge()
        pid = self.back(pid)
        say("kill -9 %d, the target's postmaster" % self.target.postmaster_pid())
        self.kill_target()
        pid = self.back(pid)
        say("kill -9 of the source")
        self.source.kill9()
        self.source.start()
        self.back(pid)
        if self.load.poll() is not None:
            self.start_load()
        self.write(1001, 500)

    def back(self, gone):
        """Wait until another session than the one that is gone feeds the stream."""
        pid = self.wait_value("SELECT pid FROM sluice.health WHERE state = 'streaming' AND "
                              "pid <> %d" % gone, "streaming again")
        self.health()
        return pid

    def rows_of(self, conn, pin, column):
        """All rows of every table by key, each value as text made here."""
        found = {}
        with conn.cursor() as cur:
            cur.execute(pin)
            for table in self.tables:
                cur.execute("SELECT column_name, data_type FROM information_schema.columns "
                            "WHERE table_name = %s AND table_schema IN ('shop', 'public') "
                            "ORDER BY ordinal_position", (table,))
                columns = ", ".join(column(name, kind) for name, kind in cur.fetchall())
                cur.execute("SELECT %s FROM %s ORDER BY id" % (columns, table))
                found[table] = [tuple(plain(v) for v in row) for row in cur.fetchall()]
        conn.close()
        return found

    def both_sides(self):
        theirs = self.rows_of(self.source.connect("shop"), "SET time_zone = '+00:00'",
                              lambda name, kind: "`%s`" % name)
        # the blanks that fill a CHAR belong to the type, here as there
        ours = self.rows_of(self.target.connect("shop"), "SET timezone = 'UTC'",
                            lambda name, kind: '"%s"%s' % (name, "::text" * (kind == "character")))
        return theirs, ours

    def compare(self):
        unequal = self.end_and_verify()
        # and once more without trusting sluice with it
        theirs, ours = self.both_sides()
        diffs = [t for t in self.tables if theirs[t] != ours[t]]
        for table in diffs:
            pairs = [p for p in zip(theirs[table], ours[table]) if p[0] != p[1]]
            print("%s: %d and %d rows, the first different ones %r" % (
                table, len(theirs[table]), len(ours[table]), pairs[:1]))
        say("differences: sluice.verify %d, comparison of all rows as text %d"
            % (unequal, len(diffs)))
        return 0 if unequal == 0 and not diffs else 1

    def leave(self):
        say("leave: nothing stays on the source")
        self.sql("SELECT sluice.sync_stop('shop', true)")
        self.sql("SELECT sluice.sync_drop('shop')")
        return 0

    def play(self):
        self.servers()
        self.connect()
        self.start_load()
        self.copy()
        self.follow()
        self.kills()
        return self.compare() or self.leave()

    def close(self):
        if hasattr(self, "bridge"):
            self.bridge.destroy()
        super().close()
