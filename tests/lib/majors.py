"""Servers of other PostgreSQL majors, as sources: tests/servers/postgres.sh."""
import os
import subprocess

import psycopg2

from .pgserver import Db, PgServer
from .util import scaled

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class MajorServer(PgServer):
    """PostgreSQL `major`, unpacked beside the host's in a tree of its own.

    Only what a source needs: databases, connections, settings.  It answers on
    127.0.0.1 and trusts, as the script sets it up.
    """

    def __init__(self, major):   # noqa: a tree, not a data folder of ours
        self.name = "pg%d" % major
        self.major = major
        base = os.environ.get("SLUICE_SERVERS", "/var/tmp/sluice-servers")
        os.makedirs(base, exist_ok=True)
        self.where = os.path.join(base, self.name)
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

    def start(self, **conf):
        """conf: settings over the script's, for this start."""
        lines = "\n".join("%s = '%s'" % item for item in conf.items())
        self.script("start", PG_CONF=lines)
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
        return Db(self, name)
