"""Who is measured at a cold start.

A peer is made for a database of the source and one of a fresh target.
prepare() is not timed; run() is, and returns when every row is visible and
every index is there.
"""
import os
import shutil
import subprocess
import tempfile
import time

from lib import make_stream
from lib.pgserver import SOURCE_ROLE
from lib.util import as_server_user, chown_to_server


class Peer:
    """client_cpu: CPU seconds of programs outside of both clusters."""

    def __init__(self, src, dst, args):
        self.src, self.dst, self.args = src, dst, args
        self.client_cpu = 0.0

    def prepare(self):
        pass

    def see(self, sql, bad=None):
        """Poll on one connection until sql returns a row."""
        conn = self.dst.connect()
        deadline = time.monotonic() + self.args.timeout
        with conn.cursor() as cur:
            while True:
                cur.execute(sql)
                if cur.fetchone():
                    break
                if time.monotonic() > deadline:
                    raise AssertionError("%s: not within %d s" % (
                        self.name, self.args.timeout))
                if bad:
                    cur.execute(bad)
                    if cur.rowcount:
                        raise AssertionError("%s: %r" % (self.name, cur.fetchall()))
                time.sleep(0.02)
        conn.close()

    def program(self, *argv, env=None):
        """Run a client and count its CPU and that of its children."""
        before = os.times()
        done = subprocess.run(
            as_server_user(list(argv)), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/",
            timeout=self.args.timeout, env=dict(os.environ, LC_ALL="C.UTF-8", **(env or {})))
        after = os.times()
        self.client_cpu += (after.children_user + after.children_system
                            - before.children_user - before.children_system)
        if done.returncode != 0:
            raise AssertionError("%s: %s failed:\n%s" % (
                self.name, argv[0], done.stdout[-4000:]))
        return done.stdout

    def source_uri(self):
        s = self.src.server
        return "postgres://%s:%s@127.0.0.1:%d/%s?sslmode=disable" % (
            SOURCE_ROLE, s.secret, s.port, self.src.name)


class Native(Peer):
    """Logical replication; needs the tables, which come with their indexes."""

    name = "native"

    def prepare(self):
        s = self.src.server
        schema = s.run("pg_dump", "-h", s.sockdir, "-p", s.port, "-U", "postgres",
                       "-s", "-O", self.src.name).stdout
        self.dst.psql(schema)
        self.src.execute("CREATE PUBLICATION p FOR ALL TABLES")

    def run(self):
        s = self.src.server
        self.dst.execute(
            "CREATE SUBSCRIPTION cold CONNECTION 'host=127.0.0.1 port=%d dbname=%s"
            " user=%s password=%s sslmode=disable' PUBLICATION p" % (
                s.port, self.src.name, SOURCE_ROLE, s.secret))
        # f, s and r: the rows are committed
        self.see("SELECT 1 WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_subscription_rel"
                 " WHERE srsubstate NOT IN ('f', 's', 'r'))")

    def clean(self):
        # a table's own slot goes when it is in sync
        self.see("SELECT 1 WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_subscription_rel"
                 " WHERE srsubstate <> 'r')")
        self.dst.execute("DROP SUBSCRIPTION cold")
        self.src.execute("DROP PUBLICATION p")


class Pgcopydb(Peer):
    """pgcopydb clone with everything at its default."""

    name = "pgcopydb"
    jobs = ()

    def prepare(self):
        self.dir = tempfile.mkdtemp(prefix="sluice-pgcopydb-", dir="/tmp")
        chown_to_server(self.dir)

    def run(self):
        s, t = self.src.server, self.dst.server
        target = "postgres://postgres@/%s?host=%s&port=%d" % (
            self.dst.name, t.sockdir, t.port)
        self.program(
            shutil.which("pgcopydb"), "clone", "--dir", self.dir + "/work",
            "--no-owner", "--no-acl", "--skip-large-objects", "--skip-extensions",
            *self.jobs, env={"PGCOPYDB_SOURCE_PGURI": self.source_uri(),
                             "PGCOPYDB_TARGET_PGURI": target, "TMPDIR": self.dir,
                             "PATH": "%s:%s" % (s.bindir, os.environ["PATH"])})

    def clean(self):
        shutil.rmtree(self.dir, ignore_errors=True)


class PgcopydbSplit(Pgcopydb):
    """With as many jobs as sluice has workers, and large tables split too."""

    name = "pgcopydb-split"

    def __init__(self, src, dst, args):
        super().__init__(src, dst, args)
        jobs = str(args.workers or 4)
        self.jobs = ("--table-jobs", jobs, "--index-jobs", jobs,
                     "--split-tables-larger-than", "64MB")


class Sluice(Peer):
    """sync_start into the empty database, everything at its default."""

    name = "sluice"

    def prepare(self):
        self.dst.execute("CREATE EXTENSION sluice")

    def run(self):
        options = {"copy_workers": self.args.workers} if self.args.workers else None
        self.stream = make_stream(self.src, self.dst, "cold", wait=None,
                                  **({"options": options} if options else {}))
        self.see("SELECT 1 FROM sluice.health WHERE state = 'streaming'",
                 "SELECT state, marker, reason FROM sluice.health WHERE state IN"
                 " ('refused', 'failed', 'retrying')")

    def clean(self):
        self.stream.stop()
        self.stream.drop()


class SluiceVacuum(Sluice):
    """And then what pgcopydb does besides: VACUUM ANALYZE of every table."""

    name = "sluice+vacuum"

    def prepare(self):
        super().prepare()
        names = self.src.query("SELECT tablename FROM pg_catalog.pg_tables"
                               " WHERE schemaname = 'public'")
        self.tables = [arg for (name,) in names for arg in ("-t", "public." + name)]

    def run(self):
        super().run()
        t = self.dst.server
        self.program(t.program("vacuumdb"), "-q", "-z", *self.tables, "-j",
                     str(self.args.workers or 4), "-h", t.sockdir, "-p", str(t.port),
                     "-U", "postgres", "-d", self.dst.name)
