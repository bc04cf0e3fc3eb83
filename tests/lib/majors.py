"""Servers of other PostgreSQL majors: tests/servers/postgres.sh."""
import fcntl
import os
import shutil
import subprocess
import tempfile

import psycopg2

from .pgserver import Db, PgServer
from .util import free_port, scaled

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class MajorServer(PgServer):
    """PostgreSQL `major`, unpacked beside the host's in a tree of its own.

    Databases, connections, settings.  It answers on 127.0.0.1 and trusts, as
    the script sets it up.

    name       a server of that name in a tree of its own, which shares the
               first one's files: for a test that runs beside those of others
    extension  builds and installs this tree's sluice there, and preloads it
    """

    def __init__(self, major, name=None, extension=False):   # noqa: a tree, not a data folder of ours
        self.name = name or "pg%d" % major
        self.major = major
        self.extension = extension
        base = os.environ.get("SLUICE_SERVERS", "/var/tmp/sluice-servers")
        os.makedirs(base, exist_ok=True)
        self.where = os.path.join(base, self.name)
        if name:
            self._share(os.path.join(base, "pg%d" % major))
        self.logfile = os.path.join(self.where, "root/srv/run/postgres.log")
        self.secret = "unused"
        self._made = 0

    def script(self, command, *args, **env):
        done = subprocess.run(
            [os.path.join(TOP, "tests/servers/postgres.sh"), str(self.major),
             command, self.where] + list(args),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=scaled(600),
            env=dict(os.environ, **env))
        assert done.returncode == 0, done.stdout
        return done.stdout

    def _share(self, first):
        """Make the tree of hard links to the first one's files."""
        with open(os.path.join(os.path.dirname(first), self.name + ".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.exists(os.path.join(self.where, "mode")):
                return
            subprocess.run([os.path.join(TOP, "tests/servers/postgres.sh"), str(self.major),
                            "install", first], check=True, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, timeout=scaled(600))
            root = os.path.join(self.where, "root")
            shutil.rmtree(root, ignore_errors=True)
            os.makedirs(root)
            for entry in sorted(set(os.listdir(os.path.join(first, "root"))) - {"srv"}):
                subprocess.run(["cp", "-al", os.path.join(first, "root", entry), root], check=True)
            os.makedirs(os.path.join(root, "srv"))
            for entry in ("suite", "mode"):
                shutil.copy(os.path.join(first, entry), self.where)

    def _install(self):
        """This tree's sources into the server's, as tools/run-tests does."""
        with tempfile.TemporaryDirectory() as tmp:
            copy = os.path.join(tmp, "sluice")
            os.makedirs(copy)
            for part in ("Makefile", "sluice.control", "sql", "src"):
                here = os.path.join(TOP, part)
                if os.path.isdir(here):
                    shutil.copytree(here, os.path.join(copy, part), ignore=shutil.ignore_patterns(
                        "*.o", "*.d", "*.so", "sluice--*.sql"))
                else:
                    shutil.copy(here, copy)
            self.script("make", copy, "-j%d" % os.cpu_count(), "all", "install", CLEAN="1")

    def start(self, **conf):
        """conf: settings over the script's, for this start."""
        if self.extension:
            self._install()
            conf.setdefault("shared_preload_libraries", "sluice")
        lines = "\n".join("%s = '%s'" % item for item in conf.items())
        # a port of our own: two servers that start at once must not pick one
        self.script("start", PG_CONF=lines, PORT=str(free_port()))
        with open(os.path.join(self.where, "port")) as f:
            self.port = int(f.read())
        assert self.version() == self.major
        return self

    def stop(self, mode="fast"):
        self.script("stop")

    destroy = stop

    def is_running(self):
        return True

    def connect(self, dbname="postgres", user="postgres", autocommit=True, **kw):
        conn = psycopg2.connect(host="127.0.0.1", port=self.port, dbname=dbname,
                                user=user, connect_timeout=int(scaled(20)), **kw)
        conn.autocommit = autocommit
        return conn

    def fresh_db(self, prefix="t", extension=False):
        self._made += 1
        name = "%s_%d_%d" % (prefix, os.getpid(), self._made)
        self.execute('CREATE DATABASE "%s" TEMPLATE template0' % name)
        db = Db(self, name)
        if extension:
            db.execute("CREATE EXTENSION sluice")
        return db
