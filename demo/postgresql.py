"""A PostgreSQL database under load: copied into an empty one and followed,
through stops, kills -9 of the worker and of the whole target during the copy and
after it; then cut over, and not one row differs."""
import os
import signal
import subprocess

from scene import COPIED, Scene, say

from lib import PgServer, same_rows, wait_until
from lib.pgserver import SOURCE_ROLE
from lib.util import as_server_user

TABLES = ["pgbench_accounts", "pgbench_branches", "pgbench_history",
          "pgbench_tellers", "orders", "parcels"]
# What pgbench's own tables lack: types, identity, partitions, foreign keys
SCHEMA = """
CREATE TYPE order_state AS ENUM ('new', 'paid', 'sent');
CREATE DOMAIN euro AS numeric(12,2) CHECK (VALUE >= 0);
CREATE TABLE orders (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    aid int NOT NULL REFERENCES pgbench_accounts,
    state order_state NOT NULL DEFAULT 'new',
    total euro NOT NULL,
    gross numeric GENERATED ALWAYS AS (total * 1.19) STORED,
    placed timestamptz NOT NULL DEFAULT now());
CREATE INDEX orders_open ON orders (placed) WHERE state <> 'sent';
CREATE TABLE parcels (
    order_id bigint NOT NULL REFERENCES orders,
    number int NOT NULL CHECK (number > 0),
    weight real,
    PRIMARY KEY (order_id, number)) PARTITION BY HASH (order_id);
CREATE TABLE parcels_0 PARTITION OF parcels FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parcels_1 PARTITION OF parcels FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE VIEW open_orders AS SELECT * FROM orders WHERE state <> 'sent';
COMMENT ON TABLE orders IS 'what was ordered';
INSERT INTO orders (aid, total) SELECT 1 + i %% (100000 * %(scale)d), i %% 1000
    FROM generate_series(1, 20000 * %(scale)d) AS i;
INSERT INTO parcels SELECT id, 1, id %% 30 FROM orders;
"""
LOAD = """
\\set aid random(1, 100000 * :scale)
BEGIN;
INSERT INTO orders (aid, total) VALUES (:aid, random() * 100) RETURNING id \\gset
INSERT INTO parcels VALUES (:id, 1, 2.5);
UPDATE orders SET state = 'sent' WHERE id = :id - 100;
END;
"""


class FromPostgresql(Scene):
    HEALTH = ("SELECT state, healthy, lag, lag_bytes, retained_bytes, pending_tables, "
              "restarts, pid FROM sluice.health")

    def servers(self):
        say("starting two servers")
        self.source = PgServer("source", preload="").start()
        self.target = PgServer("target").start()
        self.source.execute("CREATE DATABASE shop")
        self.target.execute("CREATE DATABASE shop")
        say("filling the source: pgbench, scale %d, and orders of its own; "
            "history has no key, so REPLICA IDENTITY FULL" % self.opt.scale)
        self.pgbench("-i", "-q", "-s", self.opt.scale)
        self.source.execute("ALTER TABLE pgbench_history REPLICA IDENTITY FULL",
                            dbname="shop")
        self.source.psql(SCHEMA % {"scale": self.opt.scale}, dbname="shop")
        self.source.psql("VACUUM ANALYZE", dbname="shop")

    def pgbench(self, *args):
        src = self.source
        return src.run("pgbench", "-h", src.sockdir, "-p", src.port, "-U",
                       "postgres", *args, "shop")

    def start_load(self):
        say("load: TPC-B like and orders, %d transactions per second, until the end"
            % self.opt.rate)
        src = self.source
        script = os.path.join(self.tmp, "orders.sql")
        with open(script, "w") as f:
            f.write(LOAD)
        os.chmod(script, 0o644)
        self.load = subprocess.Popen(
            as_server_user([src.program("pgbench"), "-h", src.sockdir, "-p",
                            str(src.port), "-U", "postgres", "-n", "-c", "4",
                            "-R", str(self.opt.rate), "-T", "3600", "-b", "tpcb-like@4",
                            "-f", script + "@1", "shop"]),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, cwd="/")

    def transactions(self):
        return self.source.value("SELECT count(*) FROM pgbench_history", dbname="shop")

    def connect(self):
        self.sql("CREATE EXTENSION sluice")
        self.sql("CREATE SERVER shop FOREIGN DATA WRAPPER sluice OPTIONS "
                 "(driver 'postgres', host '127.0.0.1', port '%d', dbname 'shop', "
                 "sslmode 'disable')" % self.source.port)
        mapping = ("CREATE USER MAPPING FOR CURRENT_USER SERVER shop OPTIONS "
                   "(user '%s', password '%s')")
        self.sql(mapping % (SOURCE_ROLE, self.source.secret),
                 show=mapping % (SOURCE_ROLE, "..."))
        self.sql("SELECT side, check_name, detail FROM sluice.preflight('shop') WHERE NOT ok")
        self.sql("SELECT kind, count(*), left(min(ddl), 90) AS example FROM "
                 "sluice.schema_preview('shop') GROUP BY kind ORDER BY kind")

    def copy(self):
        say("start into an empty database: schema, copy, then follow; slowed down "
            "to be watched and killed")
        self.sql("SELECT state FROM sluice.sync_start('shop', source => 'shop', "
                 "options => '{\"copy_bytes_per_second\": \"%s\"}')" % self.opt.copy_rate)
        self.copying()
        say("stop in the middle of the copy, and start again")
        self.sql("SELECT sluice.sync_stop('shop', true)")
        self.sql(COPIED)
        self.sql("SELECT state FROM sluice.sync_start('shop')")
        pid = self.copying()
        say("kill -9 %d, the worker, in the middle of the copy" % pid)
        os.kill(pid, signal.SIGKILL)
        pid = self.copying(gone=pid)
        say("kill -9 %d, the target's postmaster, in the middle of the copy"
            % self.target.postmaster_pid())
        self.kill_target()
        self.copying(gone=pid)
        say("tables that were finished are kept; on at full speed")
        self.sql("SELECT sluice.sync_stop('shop', true)")
        self.sql(COPIED)
        self.sql("SELECT state FROM sluice.sync_start('shop', options => "
                 "'{\"copy_bytes_per_second\": null}')")

    def follow(self):
        self.show_copied()
        self.stop_and_resume()

    def kills(self):
        pid = wait_until(lambda: self.value("SELECT pid FROM sluice.health"), 30,
                         "a worker")
        say("kill -9 %d, the worker (the target's other processes restart with it)" % pid)
        os.kill(pid, signal.SIGKILL)
        self.back(pid)
        say("kill -9 %d, the target's postmaster" % self.target.postmaster_pid())
        pid = self.value("SELECT pid FROM sluice.health")
        self.kill_target()
        self.back(pid)

    def back(self, gone):
        """Wait until another worker than the one that is gone is streaming."""
        self.wait_value("SELECT pid FROM sluice.health WHERE state = 'streaming' AND "
                        "lag_bytes IS NOT NULL AND pid <> %d" % gone, "streaming again")
        self.health()

    def compare(self):
        unequal = self.end_and_verify()
        # and once more without trusting sluice with it
        class Side:
            def __init__(self, server):
                self.connect = lambda user: server.connect("shop", user)
        diffs = same_rows(Side(self.source), Side(self.target), TABLES)
        print("\n".join(diffs))
        say("%d transactions ran on the source; differences: sluice.verify %d, "
            "comparison of all rows as text %d" % (
                self.transactions(), unequal, len(diffs)))
        return 0 if unequal == 0 and not diffs else 1

    def cut_over(self):
        say("cutover: sequences and identities, then the target is the database")
        self.sql("SELECT * FROM sluice.cutover('shop')")
        self.sql("SELECT state, healthy FROM sluice.health")
        highest = self.value("SELECT max(id) FROM orders")
        self.sql("INSERT INTO orders (aid, total) VALUES (1, 9.99) RETURNING id, state, gross")
        new = self.value("SELECT max(id) FROM orders")
        print("highest id of the source %d, the target's first own %d" % (highest, new))
        return 0 if new > highest else 1

    def leave(self):
        say("leave: nothing stays on the source")
        self.sql("SELECT sluice.sync_drop('shop')")
        left = self.source.query(
            "SELECT slot_name FROM pg_replication_slots UNION ALL "
            "SELECT pubname FROM pg_publication", dbname="shop")
        print("slots and publications left on the source: %d" % len(left))
        return 1 if left else 0

    def play(self):
        self.servers()
        self.connect()
        self.start_load()
        self.copy()
        self.follow()
        self.kills()
        return self.compare() or self.cut_over() or self.leave()
