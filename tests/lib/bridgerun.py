"""`sluice-bridge run` under test: the process, its children, its log; and
streams of MySQL and MariaDB sources for it to feed."""
import atexit
import json
import os
import re
import signal
import subprocess
import tempfile

from .bridge import bridge_program
from .streams import Stream, _literal
from .util import scaled, wait_until


class Bridge:
    """sluice-bridge run for one target database, gone at the end.

    db    the Db that it feeds
    user  the role it logs in as, over the unix socket
    once  end when no stream is left that should run

    start() it, or use it as a context manager; fixture make_bridge does both ends.
    """

    def __init__(self, db, user="postgres", once=False, env=None):
        self.db = db
        self.argv = ["run", "--target", "host=%s port=%d dbname=%s user=%s" % (
            db.server.sockdir, db.server.port, db.name, user)]
        if once:
            self.argv.append("--once")
        self.env = dict(os.environ, **(env or {}))
        fd, self.logfile = tempfile.mkstemp(prefix="sluice-bridge-", suffix=".log",
                                            dir=os.environ.get("SLUICE_TEST_TMP", "/tmp"))
        os.close(fd)
        self._fault = []
        self._process = None
        atexit.register(self.destroy)

    def start(self):
        """Start the process.  Returns self."""
        assert not self.is_running()
        with open(self.logfile, "a") as log:
            self._process = subprocess.Popen(
                [bridge_program()] + self.argv + self._fault, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, env=self.env, start_new_session=True)
        return self

    def is_running(self):
        return self._process is not None and self._process.poll() is None

    def pid(self):
        return self._process.pid

    def children(self):
        """Pids of the processes that feed streams (not of their helpers)."""
        return children_of(self.pid())

    def tree(self):
        """Pids of the process and of all that descends from it."""
        found, new = [], [self.pid()]
        while new:
            found += new
            new = [pid for parent in new for pid in children_of(parent)]
        return found

    def wait(self, timeout=60):
        """Wait for its end; the exit code."""
        return self._process.wait(scaled(timeout))

    def stop(self, sig=signal.SIGTERM, timeout=30):
        """Ask it to stop, and wait; the exit code."""
        self._process.send_signal(sig)
        return self.wait(timeout)

    def kill9(self):
        """kill -9 of the process itself; its children notice."""
        self._process.kill()
        self._process.wait()

    def kill_tree(self):
        """kill -9 of the process and of all that descends from it."""
        for pid in reversed(self.tree()):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self._process.wait()

    def arm(self, point=""):
        """Before start(): its processes end at this point (src/bridge/fault.h); "" = none."""
        self._fault = ["--fault-point", point] if point else []

    def log_text(self):
        with open(self.logfile, errors="replace") as f:
            return f.read()

    def wait_log(self, pattern, timeout=60):
        """Wait for a regular expression in the log; returns the match."""
        return wait_until(lambda: re.search(pattern, self.log_text()), timeout,
                          lambda: "no %r in the log:\n%s" % (pattern, self.log_text()[-4000:]))

    def destroy(self):
        """Kill all of it and remove the log; safe to call twice."""
        if self.is_running():
            self.kill_tree()
        if os.path.exists(self.logfile) and not os.environ.get("SLUICE_TEST_KEEP"):
            os.unlink(self.logfile)

    def __enter__(self):
        return self.start()

    def __exit__(self, *exc):
        self.destroy()


def children_of(pid):
    """Pids of a process's own children."""
    try:
        with open("/proc/%s/task/%s/children" % (pid, pid)) as f:
            return [int(child) for child in f.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def make_my_server(src, dst, server, user="repl", password=None, mapping_for="CURRENT_USER",
                   role="postgres", **options):
    """CREATE SERVER and USER MAPPING on dst for the MyDb src (or the MySqlServer:
    without dbname), by role; returns the name.  TCP, TLS verified, unless options say."""
    my = getattr(src, "server", src)
    opts = {"driver": "mariadb" if my.is_mariadb else "mysql", "host": "127.0.0.1",
            "port": my.port, "dbname": src.name if src is not my else None,
            "sslrootcert": my.ca}
    opts.update(options)
    text = ", ".join("%s %s" % (k, _literal(v)) for k, v in opts.items() if v is not None)
    quiet = "SET log_min_error_statement = 'panic'; " if role == "postgres" else ""
    dst.execute(quiet + 'CREATE SERVER "%s" FOREIGN DATA WRAPPER sluice OPTIONS (%s); '
                'CREATE USER MAPPING FOR %s SERVER "%s" OPTIONS (user %s, password %s)'
                % (server, text, mapping_for, server, _literal(user),
                   _literal(my.repl_password if password is None else password)), user=role)
    return server


def make_bridged_stream(src, dst, stream_id="s1", start=True, wait=None, server_options=None,
                        user="repl", password=None, timeout="60 s", role="postgres", **args):
    """Foreign server, user mapping and sync_start for a MyDb, by role; a Stream.

    A Bridge has to run for it to be fed; wait: a state to wait for by sync_wait.
    args go to sync_start.
    """
    name = make_my_server(src, dst, "src_%s" % stream_id, user, password, role=role,
                          **(server_options or {}))
    stream = Stream(src, dst, stream_id, name)
    if start:
        stream.start(user=role, **args)
        if wait:
            stream.wait(wait, timeout)
    return stream


def begin_here(stream, gtid=True):
    """Put on record that the target has all that the source has now, so that a
    bridge follows from here without a copy, the tables that both have, as a stream from
    before there were layouts.  Before a Bridge runs.  gtid False: by file and offset."""
    my = stream.src.server
    file, pos = my.position()
    position = {"file": file, "pos": pos}
    if gtid and my.gtid():
        position["gtid"] = my.gtid()
    header = {"kind": "header", "server": "mariadb" if my.is_mariadb else "mysql"}
    if not my.is_mariadb:
        header["system_identity"] = my.value("SELECT @@server_uuid")
    lsn = "%X/%X" % (int(file.rpartition(".")[2]), pos)
    records = [header, {"kind": "heartbeat", "lsn": lsn, "position": json.dumps(position)}]
    conn = stream.dst.connect()
    try:
        with conn.cursor() as cur:
            cur.execute("SELECT token FROM sluice.feed_open(%s, 3)", (stream.id,))
            token = cur.fetchone()[0]
            cur.execute("SELECT sluice.feed(%s, sluice.feed_encode(%s))", (token, json.dumps(records)))
            cur.execute("SELECT sluice.feed_close(%s)", (token,))
            cur.execute("INSERT INTO sluice.stream_table (stream_id, schema_name, table_name, target_relid, state)"
                        " SELECT %s, %s, t, to_regclass(quote_ident(t)), 'established' FROM unnest(%s::text[]) t"
                        " WHERE to_regclass(quote_ident(t)) IS NOT NULL",
                        (stream.id, stream.src.name, [row[0] for row in stream.src.query("SHOW TABLES")]))
    finally:
        conn.close()
