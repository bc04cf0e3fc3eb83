"""What every demonstration does: servers to throw away, statements shown with
what they answer, and waiting."""
import os
import shutil
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, "tests"))

from lib import wait_until  # noqa: E402
from lib.util import chown_to_server  # noqa: E402

COPIED = ("SELECT table_name, state, rows_copied FROM sluice.tables "
          "ORDER BY rows_copied DESC, table_name")
STARTED = time.monotonic()


def say(text):
    print("\n[%5.1f s] %s" % (time.monotonic() - STARTED, text), flush=True)


def build(tmp, pg_config):
    """Install sluice into a private copy of PostgreSQL; the tests' library uses it."""
    say("building sluice and installing it into a private copy of PostgreSQL")
    config = subprocess.check_output(
        [os.path.join(TOP, "tools/private-pg"), os.path.join(tmp, "pg"), pg_config],
        text=True).split()[-1]
    subprocess.run(["make", "-s", "-C", TOP, "-j%d" % os.cpu_count(), "install",
                    "PG_CONFIG=" + config], check=True)
    os.environ["PG_BIN"] = os.path.dirname(config)


def folder():
    """A folder for all of it, the servers' user's too."""
    tmp = tempfile.mkdtemp(prefix="sluice-demo-", dir="/tmp")
    os.chmod(tmp, 0o755)
    chown_to_server(tmp)
    os.environ["SLUICE_TEST_TMP"] = tmp
    return tmp


class Scene:
    """opt: what the command line says; tmp: the folder.  A scene has a target
    with database shop, a stream shop, and a load."""

    HEALTH = "SELECT state, healthy, lag, pending_tables, restarts, pid FROM sluice.health"

    def __init__(self, opt, tmp):
        self.opt = opt
        self.tmp = tmp
        self.load = None
        self.target = None

    def sql(self, statement, show=None):
        """Run on the target as a user would, and show both."""
        print("shop=# " + (show or statement), flush=True)
        out = self.target.run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-P",
                              "pager=off", "-h", self.target.sockdir, "-p",
                              self.target.port, "-U", "postgres", "-d", "shop",
                              "-f", "-", stdin=statement + ";\n").stdout
        print(out.rstrip(), flush=True)
        return out

    def health(self):
        self.sql(self.HEALTH)

    def value(self, statement):
        return self.target.value(statement, dbname="shop")

    def wait_value(self, statement, what):
        """Wait for a value that is not NULL, also while the server recovers."""
        def look():
            try:
                return self.value(statement)
            except Exception:           # the server is still recovering
                return None
        return wait_until(look, 120, what)

    def copying(self, gone=0):
        """Wait until rows arrive by another process than gone; returns its pid."""
        pid = self.wait_value(
            "SELECT h.pid FROM sluice.health h WHERE state = 'copying' AND "
            "pid <> %d AND EXISTS (SELECT FROM sluice.progress p WHERE "
            "p.rows_done > 0)" % gone, "rows arriving")
        self.sql("SELECT relid::regclass, phase, rows_done, rows_total, "
                 "pg_size_pretty(bytes_done) AS bytes, eta FROM sluice.progress")
        return pid

    def show_copied(self, objects="state = 'not_carried'"):
        """What the copy brought, and of the source's objects those that need a word."""
        self.sql("CALL sluice.sync_wait('shop', 'caught_up', '10 min')")
        self.health()
        self.sql(COPIED)
        self.sql("\\d orders")
        self.sql("SELECT kind, schema_name, object_name, note FROM sluice.schema_objects "
                 "WHERE " + objects)

    def stop_and_resume(self, write=lambda: None):
        """The source goes on meanwhile; write: what it gets besides the load."""
        say("stop; the source goes on")
        self.sql("SELECT sluice.sync_stop('shop', true)")
        self.health()
        before = self.transactions()
        write()
        wait_until(lambda: self.transactions() > before + 500, 60, "the load stands still")
        say("resume: nothing is copied again")
        self.sql("SELECT state FROM sluice.sync_start('shop')")
        self.sql("CALL sluice.sync_wait('shop', 'caught_up', '5 min')")
        self.health()

    def end_and_verify(self):
        """End the load and let sluice compare; the number of unequal tables."""
        say("end of the load; comparing")
        self.end_load()
        self.sql("CALL sluice.sync_wait('shop', 'caught_up', '5 min')")
        self.health()
        self.sql("SELECT table_name, status, source_rows, target_rows, different_rows "
                 "FROM sluice.verify('shop')")
        return self.value("SELECT count(*) FROM sluice.verify('shop') "
                          "WHERE status <> 'equal'")

    def kill_target(self):
        self.target.kill9()
        self.target.start()

    def end_load(self):
        self.load.terminate()
        self.load.wait()

    def close(self):
        if self.load and self.load.poll() is None:
            self.end_load()
        for name in ("target", "source"):
            server = getattr(self, name, None)
            if server is not None and self.opt.keep:
                print("%s: kept in %s" % (name, server.base))
            elif server is not None:
                server.destroy()
        if not self.opt.keep:
            shutil.rmtree(os.path.join(self.tmp, "load"), ignore_errors=True)
