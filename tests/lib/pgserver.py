"""A throw-away PostgreSQL server."""
import atexit
import fcntl
import hashlib
import itertools
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile

import psycopg2
import psycopg2.extras

from .util import (as_server_user, chown_to_server, free_port, pg_bin, scaled,
                   wait_until)

CONF = {
    "listen_addresses": "127.0.0.1",
    "wal_level": "logical",
    "max_wal_senders": "40",
    "max_replication_slots": "40",
    "max_worker_processes": "48",
    "max_connections": "120",
    "shared_buffers": "64MB",
    "fsync": "off",
    "full_page_writes": "off",
    "max_wal_size": "4GB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] %b %d ",
    "logging_collector": "off",
    "autovacuum_naptime": "10s",
}

# A loopback login always needs its password; the socket trusts, for the tests
# themselves.
HBA = """\
local all all trust
local replication all trust
host all all 127.0.0.1/32 scram-sha-256
host replication all 127.0.0.1/32 scram-sha-256
"""

# What a stream logs in with on its source, unless a test makes a role.
SOURCE_ROLE = "sluice_src"


class PgServer:
    """One cluster in a folder of its own under /tmp, gone at the end.

    name      for messages and the folder's name
    conf      settings over the defaults above, as a dict
    preload   shared_preload_libraries, "" for none
    bindir    folder of the programs (default: PG_BIN or pg_config's)
    """

    def __init__(self, name="pg", conf=None, preload="sluice", bindir=None,
                 init=True):
        self.name = name
        self.bindir = bindir or pg_bin()
        self.base = tempfile.mkdtemp(prefix="sluice-%s-" % name,
                                     dir=os.environ.get("SLUICE_TEST_TMP", "/tmp"))
        os.chmod(self.base, 0o755)
        chown_to_server(self.base)
        self.data = os.path.join(self.base, "data")
        self.logfile = os.path.join(self.base, "log")
        self.sockdir = self.base
        self.port = free_port()
        self.secret = "sEcReT" + secrets.token_hex(8)
        self.conf = dict(CONF)
        if preload:
            self.conf["shared_preload_libraries"] = preload
        self.conf.update(conf or {})
        self._dbs = itertools.count(1)
        self._extended, self._template = 0, None    # see fresh_db
        self._postmaster = None
        atexit.register(self.destroy)
        if init:
            self._initdb()

    # -- programs -----------------------------------------------------------

    def program(self, name):
        return os.path.join(self.bindir, name)

    def run(self, *argv, check=True, timeout=300, stdin=None, env=None):
        """Run one of PostgreSQL's programs as the servers' user."""
        full = dict(os.environ, LC_ALL="C.UTF-8", PGTZ="UTC", **(env or {}))
        full.pop("PGSERVICE", None)
        done = subprocess.run(
            as_server_user([self.program(argv[0])] + [str(a) for a in argv[1:]]),
            input=stdin, stdin=None if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            cwd="/", env=full, timeout=scaled(timeout))
        if check and done.returncode != 0:
            raise AssertionError("%s: %s failed with %d:\n%s" % (
                self.name, " ".join(map(str, argv)), done.returncode,
                done.stdout))
        return done

    def _initdb(self):
        """A copy of one cluster per set of programs, with an identity of its own:
        initdb takes longer than many a test."""
        base = os.environ.get("SLUICE_TEST_TMP", tempfile.gettempdir())
        made_by = "%s %d" % (os.path.realpath(self.program("initdb")), os.geteuid())
        first = os.path.join(base, "sluice-initdb-" +
                             hashlib.sha256(made_by.encode()).hexdigest()[:16])
        if "SLUICE_TEST_TMP" not in os.environ:
            self._initdb_into(self.data)        # nobody would remove the first one
        else:
            with open(first + ".lock", "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not os.path.exists(first):
                    shutil.rmtree(first + ".new", ignore_errors=True)
                    os.mkdir(first + ".new")
                    chown_to_server(first + ".new")
                    self._initdb_into(first + ".new")
                    os.rename(first + ".new", first)
            subprocess.run(["cp", "-a", first, self.data], check=True)
            self._new_identity()
        self._write("pg_hba.conf", HBA)
        with open(os.path.join(self.data, "postgresql.conf"), "a") as f:
            f.write("include 'sluice-test.conf'\n")

    def _initdb_into(self, folder):
        self.run("initdb", "-D", folder, "-U", "postgres", "-A", "trust",
                 "--no-sync", "--locale=C.UTF-8", "-E", "UTF8")

    def _new_identity(self):
        """Another system identifier, the first field of pg_control; pg_resetwal
        makes the checksum and the WAL fit it."""
        with open(os.path.join(self.data, "global/pg_control"), "r+b") as f:
            f.write(secrets.randbits(63).to_bytes(8, sys.byteorder))
        self.run("pg_resetwal", "-f", "-D", self.data)

    def _write(self, name, text):
        path = os.path.join(self.data, name)
        with open(path, "w") as f:
            f.write(text)
        chown_to_server(path)

    def _write_conf(self):
        lines = ["%s = '%s'" % (k, str(v).replace("'", "''"))
                 for k, v in sorted(self.conf.items())]
        lines.append("port = %d" % self.port)
        lines.append("unix_socket_directories = '%s'" % self.sockdir)
        self._write("sluice-test.conf", "\n".join(lines) + "\n")

    # -- life ---------------------------------------------------------------

    def start(self, check=True, **conf):
        """Start; conf are settings to change first.  Returns self."""
        self.conf.update(conf)
        self._write_conf()
        with open(self.logfile, "a") as log:
            # our own child, so that a killed one does not stay a zombie whose
            # pid still holds the lock files
            self._postmaster = subprocess.Popen(
                as_server_user([self.program("postgres"), "-D", self.data]),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                start_new_session=True, env=dict(os.environ, LC_ALL="C.UTF-8"))
        wait_until(lambda: self._postmaster.poll() is not None or self._ready(),
                   60, lambda: "%s does not answer:\n%s" % (
                       self.name, self.log_text()[-4000:]))
        if self._postmaster.poll() is not None:
            if check:
                raise AssertionError("%s did not start:\n%s" % (
                    self.name, self.log_text()[-4000:]))
            return self
        if not self._is_standby() and not self.value(
                "SELECT count(*) FROM pg_catalog.pg_roles WHERE rolname = %s",
                SOURCE_ROLE):
            self.execute("SET log_min_error_statement = 'panic'; "
                         "CREATE ROLE %s LOGIN SUPERUSER REPLICATION PASSWORD '%s'"
                         % (SOURCE_ROLE, self.secret))
        return self

    def _ready(self):
        try:
            self.connect().close()
            return True
        except psycopg2.OperationalError:
            return False

    def answers(self):
        """Whether it lets us in now."""
        return self.is_running() and self._ready()

    def _is_standby(self):
        return os.path.exists(os.path.join(self.data, "standby.signal"))

    def stop(self, mode="fast"):
        """pg_ctl stop; mode: smart, fast, immediate."""
        self.run("pg_ctl", "-D", self.data, "-m", mode, "-w", "-t",
                 int(scaled(60)), "-s", "stop")
        self._postmaster.wait()

    def restart(self, mode="fast", **conf):
        self.stop(mode)
        return self.start(**conf)

    def reload(self, **conf):
        """Change settings that a reload takes."""
        self.conf.update(conf)
        self._write_conf()
        self.run("pg_ctl", "-D", self.data, "-s", "reload")

    def postmaster_pid(self):
        with open(os.path.join(self.data, "postmaster.pid")) as f:
            return int(f.readline())

    def is_running(self):
        return self._postmaster is not None and self._postmaster.poll() is None

    def kill9(self):
        """kill -9 the postmaster and wait until all its processes are gone."""
        children = _children(self._postmaster.pid)
        self._postmaster.kill()
        self._postmaster.wait()
        wait_until(lambda: not any(_alive(p) for p in children), 60,
                   "%s: processes left after kill -9" % self.name)

    def destroy(self):
        """Stop hard and remove everything; safe to call twice."""
        if not os.path.isdir(self.base):
            return
        if self.is_running():
            self.run("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "-s",
                     "stop", check=False)
            self._postmaster.kill()
            self._postmaster.wait()
        if not os.environ.get("SLUICE_TEST_KEEP"):
            shutil.rmtree(self.base, ignore_errors=True)

    def standby(self, name=None, conf=None, slot=None):
        """A started hot standby of this server (pg_basebackup)."""
        other = self._backup(name or self.name + "-standby", conf)
        self_conninfo = "host=%s port=%d user=postgres" % (self.sockdir, self.port)
        other.conf["primary_conninfo"] = self_conninfo
        if slot:
            other.conf["primary_slot_name"] = slot
        other._write("standby.signal", "")
        return other.start()

    def clone(self, name=None, conf=None):
        """A started, independent copy (as from a disk snapshot)."""
        return self._backup(name or self.name + "-clone", conf).start()

    def _backup(self, name, conf):
        other = PgServer(name, bindir=self.bindir, init=False, preload="")
        other.conf = dict(self.conf, **(conf or {}))
        other.secret, other._template = self.secret, self._template
        self.run("pg_basebackup", "-h", self.sockdir, "-p", self.port, "-U",
                 "postgres", "-D", other.data, "-c", "fast", "-X", "stream",
                 "--no-sync")
        return other

    def promote(self):
        self.run("pg_ctl", "-D", self.data, "-w", "-t", int(scaled(60)), "-s",
                 "promote")

    def replayed(self, standby):
        """Wait until the standby has replayed all that is written here."""
        at = self.value("SELECT pg_catalog.pg_current_wal_lsn()")
        wait_until(lambda: standby.value(
            "SELECT pg_catalog.pg_last_wal_replay_lsn() >= %s", at), 30,
            "%s does not follow" % standby.name)

    # -- talking to it ------------------------------------------------------

    def connect(self, dbname="postgres", user="postgres", autocommit=True, **kw):
        """A psycopg2 connection over the socket (host=, password= for TCP)."""
        args = dict(host=self.sockdir, port=self.port, dbname=dbname, user=user,
                    connect_timeout=int(scaled(20)), application_name="test")
        args.update(kw)
        conn = psycopg2.connect(**args)
        conn.autocommit = autocommit
        return conn

    def execute(self, sql, *params, dbname="postgres", user="postgres"):
        """Run statements in a connection of its own; rows or None."""
        conn = self.connect(dbname, user)
        try:
            with conn.cursor() as cur:
                cur.execute(sql, params or None)
                return cur.fetchall() if cur.description else None
        finally:
            conn.close()

    def query(self, sql, *params, **kw):
        return self.execute(sql, *params, **kw)

    def value(self, sql, *params, **kw):
        rows = self.execute(sql, *params, **kw)
        return rows[0][0] if rows else None

    def psql(self, text, dbname="postgres", user="postgres", check=True, args=()):
        """psql -f - with ON_ERROR_STOP; returns what it printed."""
        return self.run("psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1",
                        "-h", self.sockdir, "-p", self.port, "-U", user, "-d",
                        dbname, *args, stdin=text, check=check).stdout

    def fresh_db(self, prefix="t", extension=False, encoding=None):
        """A new empty database; a Db.  encoding: another one, with locale C."""
        prefix = re.sub(r"[^a-z0-9_]", "_", prefix.lower())[:40]
        name = "%s_%d" % (prefix, next(self._dbs))
        template = "template0"
        if extension and not encoding:
            template = self._template or template
        self.execute('CREATE DATABASE "%s" TEMPLATE %s%s' % (
            name, template, " ENCODING '%s' LOCALE 'C'" % encoding if encoding else ""))
        db = Db(self, name)
        if extension and template == "template0":
            db.execute("CREATE EXTENSION sluice")
            if not encoding:
                self._keep_as_template()
        return db

    def _keep_as_template(self):
        """From the third on databases with the extension are copies of one:
        the script takes longer than the rest of a small test."""
        self._extended += 1
        if self._extended == 2 and not self._template:
            self.execute("CREATE DATABASE sluice_template TEMPLATE template0")
            self.execute("CREATE EXTENSION sluice", dbname="sluice_template")
            self.execute("ALTER DATABASE sluice_template ALLOW_CONNECTIONS false")
            self._template = "sluice_template"

    def version(self):
        """Major version, as 15."""
        return int(self.value("SHOW server_version_num")) // 10000

    def log_text(self, since=0):
        """The server log from byte since on (see log_mark)."""
        try:
            with open(self.logfile, errors="replace") as f:
                f.seek(since)
                return f.read()
        except FileNotFoundError:
            return ""

    def log_mark(self):
        """Where the log ends now."""
        try:
            return os.path.getsize(self.logfile)
        except FileNotFoundError:
            return 0

    def wait_log(self, pattern, since=0, timeout=30):
        """Wait for a regular expression in the log; returns the match."""
        return wait_until(lambda: re.search(pattern, self.log_text(since)),
                          timeout, "%s: no %r in the log" % (self.name, pattern))


class Db:
    """One database of a PgServer: what a scenario works in."""

    def __init__(self, server, name):
        self.server = server
        self.name = name

    def connect(self, user="postgres", **kw):
        return self.server.connect(self.name, user, **kw)

    def execute(self, sql, *params, user="postgres"):
        return self.server.execute(sql, *params, dbname=self.name, user=user)

    query = execute

    def value(self, sql, *params, user="postgres"):
        return self.server.value(sql, *params, dbname=self.name, user=user)

    def rows(self, sql, *params, user="postgres"):
        """Rows as dicts."""
        conn = self.connect(user)
        try:
            with conn.cursor(cursor_factory=psycopg2.extras.RealDictCursor) as cur:
                cur.execute(sql, params or None)
                return [dict(r) for r in cur.fetchall()]
        finally:
            conn.close()

    def psql(self, text, **kw):
        return self.server.psql(text, dbname=self.name, **kw)

    def error(self, sql, *params, user="postgres"):
        """Run what must fail; returns the psycopg2 error (pgcode, diag)."""
        try:
            self.execute(sql, *params, user=user)
        except psycopg2.Error as e:
            return e
        raise AssertionError("did not fail: %s" % sql)

    def notices(self, sql, *params, user="postgres"):
        """What a statement says beside its result; a text."""
        conn = self.connect(user)
        try:
            with conn.cursor() as cur:
                cur.execute(sql, params or None)
            return "".join(conn.notices)
        finally:
            conn.close()

    def lsn(self):
        return self.value("SELECT pg_catalog.pg_current_wal_flush_lsn()")

    def destroy(self):
        """Remove the streams in it, then the database; True when all is gone."""
        clean = True
        if not self.server.is_running():
            return False
        try:
            for (stream,) in self.execute(
                    "SELECT stream_id FROM sluice.stream"
                    ) if self.value("SELECT pg_catalog.to_regclass('sluice.stream')") else ():
                clean = self._drop_stream(stream) and clean
            for (slot,) in self.execute(
                    "SELECT slot_name FROM pg_catalog.pg_replication_slots "
                    "WHERE database = pg_catalog.current_database()"):
                clean = False
                self.execute(
                    "SELECT pg_catalog.pg_terminate_backend(active_pid) FROM "
                    "pg_catalog.pg_replication_slots WHERE slot_name = %s "
                    "AND active_pid IS NOT NULL", slot)
                wait_until(lambda: not self.value(
                    "SELECT active FROM pg_catalog.pg_replication_slots "
                    "WHERE slot_name = %s", slot), 10, "slot stays active")
                self.execute("SELECT pg_catalog.pg_drop_replication_slot(%s)", slot)
            self.server.execute('DROP DATABASE "%s" WITH (FORCE)' % self.name)
        except (psycopg2.Error, AssertionError):
            clean = False
        return clean

    def _drop_stream(self, stream):
        for sql in ("SELECT sluice.sync_stop(%s, true, '20 s')",
                    "SELECT sluice.sync_drop(%s)",
                    "SELECT sluice.sync_drop(%s, false)"):
            try:
                self.execute(sql, stream)
                if "drop" in sql:
                    return True
            except psycopg2.Error:
                pass
        return False


def _alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _children(pid):
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open("/proc/%s/stat" % entry) as f:
                    if int(f.read().rpartition(")")[2].split()[1]) == pid:
                        found.append(int(entry))
            except (FileNotFoundError, ProcessLookupError):
                pass
    return found
