"""Throw-away MariaDB and MySQL servers: tests/servers/mariadb.sh, mysql.sh."""
import atexit
import fcntl
import hashlib
import itertools
import os
import re
import secrets
import shutil
import signal
import subprocess

import pymysql
import pymysql.cursors
from pymysql.constants import CLIENT

from .util import free_port, scaled, wait_until

HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "servers")

# kind: the script that knows how to get it, with its arguments, and its program
KINDS = {
    "mariadb10.11": (["mariadb.sh", "10.11"], "mariadbd"),
    "mariadb11.8": (["mariadb.sh", "11.8"], "mariadbd"),
    "mysql": (["mysql.sh"], "mysqld"),
}

UID = 64100     # whom the scripts let servers run as
_count = itertools.count(1)


class Tree:
    """One kind's programs, unpacked once on this machine, and a data folder
    that servers begin with a copy of.

    Kept in $SLUICE_SERVERS (/var/tmp/sluice-servers).  Servers of several
    tests run in the one tree beside each other, each in a folder of its own.
    """

    def __init__(self, kind):
        script, self.program = KINDS[kind]
        base = os.environ.get("SLUICE_SERVERS", "/var/tmp/sluice-servers")
        os.makedirs(base, exist_ok=True)
        self.where = os.path.join(base, kind)
        self._script = [os.path.join(HERE, script[0])] + script[1:]
        with open(os.path.join(base, kind + ".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._prepare()
        self.chroot = os.path.isdir(os.path.join(self.where, "root"))
        # as we see it, and as the server does
        self.srv = os.path.join(self.where, "root/srv" if self.chroot else "srv")
        self.inside = "/srv" if self.chroot else self.srv
        self._sweep()

    def _run(self, command, *args, **env):
        done = subprocess.run(self._script + [command, self.where] + list(args),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=scaled(900),
                              env=dict(os.environ, **env))
        assert done.returncode == 0, done.stdout
        return done.stdout

    def _prepare(self):
        """Fetch, initialise and stop again, unless that was done already."""
        made_by = hashlib.sha256()
        for name in sorted(os.listdir(HERE)):
            with open(os.path.join(HERE, name), "rb") as f:
                made_by.update(f.read())
        stamp = os.path.join(self.where, "prepared")
        if os.path.exists(stamp):
            with open(stamp) as f:
                if f.read() == made_by.hexdigest():
                    return
            self._run("wipe")
        self._run("start", PORT=str(free_port()))
        self._run("stop")
        with open(stamp, "w") as f:
            f.write(made_by.hexdigest())

    def _sweep(self):
        """Remove what test runs that were killed left behind."""
        folder = os.path.join(self.srv, "i")
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            pid = name.partition("-")[0]
            if os.path.isdir("/proc/" + pid):
                continue
            try:
                with open(os.path.join(folder, name, "pid")) as f:
                    if os.path.isdir("/proc/" + f.read().strip()):
                        continue
            except FileNotFoundError:
                pass
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)

    def argv(self, *argv):
        """argv, prefixed so that it runs in the tree as the servers' user."""
        if self.chroot:
            return ["chroot", "--userspec=%d:%d" % (UID, UID),
                    os.path.join(self.where, "root")] + list(argv)
        return ["setpriv", "--reuid", str(UID), "--regid", str(UID),
                "--clear-groups"] + list(argv)


class MySqlServer:
    """A server in a folder of its own, gone at the end.

    kind   "mariadb10.11", "mariadb11.8" or "mysql" (9.7)
    name   for messages and the folder's name
    conf   settings over those of tests/servers (row log, full metadata, GTIDs,
           CRC32, TLS), as a dict; None for an option without a value

    `root` needs no password over the socket; `repl` with `repl_password` may
    replicate and read, from anywhere; create_user makes more.
    """

    def __init__(self, kind, name=None, conf=None):
        self.kind = kind
        self.is_mariadb = kind.startswith("mariadb")
        self.name = name or kind
        self.tree = Tree(kind)
        self.conf = dict(conf or {})
        folder = "i/%d-%d" % (os.getpid(), next(_count))
        self.base = os.path.join(self.tree.srv, folder)
        self._inside = os.path.join(self.tree.inside, folder)
        self.data = os.path.join(self.base, "data")
        self.socket = os.path.join(self.base, "s")
        self.logfile = os.path.join(self.base, "log")
        self.port = free_port()
        self.ca = os.path.join(self.tree.srv, "tls/ca.pem")
        self.repl_password = "rEpL" + secrets.token_hex(8)
        self._dbs = itertools.count(1)
        self._process = None
        atexit.register(self.destroy)
        self._make_data()

    def _make_data(self):
        os.makedirs(os.path.dirname(self.base), exist_ok=True)
        os.mkdir(self.base)
        # the kind's own log and identity stay behind
        shutil.copytree(os.path.join(self.tree.srv, "data"), self.data,
                        ignore=shutil.ignore_patterns("binlog.*", "auto.cnf", "*.pid"))
        os.mkdir(os.path.join(self.base, "tmp"))
        subprocess.run(["chown", "-R", "%d:%d" % (UID, UID), self.base], check=True)

    def inside(self, path):
        """A path of self.base as the server itself sees it (for settings)."""
        return os.path.join(self._inside, os.path.relpath(path, self.base))

    def _write_conf(self):
        own = {
            "datadir": self.inside(self.data), "socket": self.inside(self.socket),
            "tmpdir": self._inside + "/tmp", "pid-file": self._inside + "/pid",
            "log-error": self.inside(self.logfile), "port": self.port,
        }
        own.update(self.conf)
        with open(os.path.join(self.tree.srv, "my.cnf")) as f:
            base = f.read()
        with open(os.path.join(self.base, "my.cnf"), "w") as f:
            f.write(base + "".join(
                k + "\n" if v is None else "%s=%s\n" % (k, v) for k, v in own.items()))

    # -- life ---------------------------------------------------------------

    def start(self, check=True, **conf):
        """Start; conf are settings to change first.  Returns self."""
        self.conf.update(conf)
        self._write_conf()
        with open(os.path.join(self.base, "out"), "a") as out:
            self._process = subprocess.Popen(
                self.tree.argv(self.tree.program,
                               "--defaults-file=%s/my.cnf" % self._inside),
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd="/",
                start_new_session=True,
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"})
        wait_until(lambda: self._process.poll() is not None or self._ready(), 60,
                   lambda: "%s does not answer:\n%s" % (self.name, self.log_text()[-4000:]))
        if self._process.poll() is not None:
            if check:
                raise AssertionError("%s did not start:\n%s" % (
                    self.name, self.log_text()[-4000:]))
            return self
        if not self.value("SELECT @@read_only") and not os.path.exists(self.base + "/users"):
            self.execute("SET sql_log_bin = 0; ALTER USER repl@'%%' IDENTIFIED BY '%s'; "
                         "DROP USER test@'%%'" % self.repl_password)
            open(self.base + "/users", "w").close()
        return self

    def _ready(self):
        try:
            self.connect().close()
            return True
        except pymysql.err.OperationalError:
            return False

    def answers(self):
        """Whether it lets us in now."""
        return self.is_running() and self._ready()

    def is_running(self):
        return self._process is not None and self._process.poll() is None

    def pid(self):
        return self._process.pid

    def stop(self):
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(scaled(60))

    def restart(self, **conf):
        self.stop()
        return self.start(**conf)

    def kill9(self):
        self._process.kill()
        self._process.wait()

    def freeze(self):
        """Stop the process; thaw() lets it go on."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self._process.send_signal(signal.SIGCONT)

    def destroy(self):
        """Kill and remove everything; safe to call twice."""
        if not os.path.isdir(self.base):
            return
        if self.is_running():
            self.kill9()
        if not os.environ.get("SLUICE_TEST_KEEP"):
            shutil.rmtree(self.base, ignore_errors=True)

    # -- talking to it ------------------------------------------------------

    def connect(self, dbname=None, user="root", password="", **kw):
        """A PyMySQL connection over the socket (host="127.0.0.1" for TCP)."""
        args = dict(unix_socket=self.socket, port=self.port, database=dbname,
                    user=user, password=password, charset="utf8mb4", autocommit=True,
                    connect_timeout=int(scaled(20)),
                    client_flag=CLIENT.MULTI_STATEMENTS)
        args.update(kw)
        if args.get("host"):
            del args["unix_socket"]
        return pymysql.connect(**args)

    def execute(self, sql, *params, dbname=None, **kw):
        """Run statements in a connection of its own; rows of the last, or None."""
        conn = self.connect(dbname, **kw)
        try:
            with conn.cursor() as cur:
                cur.execute(sql, params or None)
                while cur.nextset():
                    pass
                return list(cur.fetchall()) if cur.description else None
        finally:
            conn.close()

    query = execute

    def value(self, sql, *params, **kw):
        rows = self.execute(sql, *params, **kw)
        return rows[0][0] if rows else None

    def error(self, sql, *params, **kw):
        """Run what must fail; returns the PyMySQL error (args: number, text)."""
        try:
            self.execute(sql, *params, **kw)
        except pymysql.err.MySQLError as e:
            return e
        raise AssertionError("did not fail: %s" % sql)

    def fresh_db(self, prefix="t"):
        """A new empty database in utf8mb4; a MyDb."""
        prefix = re.sub(r"[^a-z0-9_]", "_", prefix.lower())[:40]
        name = "%s_%d" % (prefix, next(self._dbs))
        self.execute("CREATE DATABASE `%s` CHARACTER SET utf8mb4" % name)
        return MyDb(self, name)

    def create_user(self, name, password, plugin=None, grants=("SELECT ON *.*",),
                    require=""):
        """An account that may log in from anywhere.

        plugin   authentication plugin; None: the server's default
        grants   "PRIVILEGES ON what" each
        require  "SSL" or so
        """
        how = "IDENTIFIED BY '%s'" % password
        if plugin and self.is_mariadb:
            how = "IDENTIFIED VIA %s USING PASSWORD('%s')" % (plugin, password)
        elif plugin:
            how = "IDENTIFIED WITH %s BY '%s'" % (plugin, password)
        self.execute("CREATE USER `%s`@`%%` %s%s" % (
            name, how, " REQUIRE " + require if require else ""))
        for grant in grants:
            self.execute("GRANT %s TO `%s`@`%%`" % (grant, name))

    # -- the binary log -----------------------------------------------------

    def position(self):
        """(file, position) of the end of the log."""
        return self.execute("SHOW MASTER STATUS" if self.is_mariadb
                            else "SHOW BINARY LOG STATUS")[0][:2]

    def gtid(self):
        """All that is logged: a MySQL GTID set, or a MariaDB position."""
        return self.value("SELECT @@global.gtid_binlog_pos" if self.is_mariadb
                          else "SELECT @@global.gtid_executed").replace("\n", "")

    def flush_logs(self):
        """Begin another file of the log; its name."""
        self.execute("FLUSH BINARY LOGS")
        return self.position()[0]

    def log_files(self):
        """Paths of the log's files, oldest first."""
        return [os.path.join(self.data, row[0]) for row in self.execute("SHOW BINARY LOGS")]

    def purge_logs(self):
        """Remove all files of the log but the last."""
        last = self.flush_logs()

        def purge():
            # MariaDB keeps a file until the engines' checkpoint is past it
            self.execute("PURGE BINARY LOGS TO '%s'" % last)
            return len(self.log_files()) == 1
        wait_until(purge, 30, "%s: logs stay" % self.name)

    def log_text(self):
        """The server's error log."""
        text = ""
        for path in (self.logfile, os.path.join(self.base, "out")):
            if os.path.exists(path):
                with open(path, errors="replace") as f:
                    text += f.read()
        return text


class MyDb:
    """One database of a MySqlServer: what a scenario works in."""

    def __init__(self, server, name):
        self.server = server
        self.name = name

    def connect(self, **kw):
        return self.server.connect(self.name, **kw)

    def execute(self, sql, *params, **kw):
        return self.server.execute(sql, *params, dbname=self.name, **kw)

    query = execute

    def value(self, sql, *params, **kw):
        return self.server.value(sql, *params, dbname=self.name, **kw)

    def error(self, sql, *params, **kw):
        return self.server.error(sql, *params, dbname=self.name, **kw)

    def rows(self, sql, *params, **kw):
        """Rows as dicts."""
        conn = self.connect(cursorclass=pymysql.cursors.DictCursor, **kw)
        try:
            with conn.cursor() as cur:
                cur.execute(sql, params or None)
                return list(cur.fetchall())
        finally:
            conn.close()

    def destroy(self):
        if self.server.is_running():
            self.server.execute("DROP DATABASE IF EXISTS `%s`" % self.name)
