"""A stream under test: foreign server, user mapping, and the calls on it."""
import json
import os
import signal

from .oracle import assert_same_rows
from .pgserver import SOURCE_ROLE
from .util import SCALE, wait_until

ARGS = {
    "driver": "text", "include_tables": "text[]", "exclude_tables": "text[]",
    "target_schema": "text", "schema_changes": "text", "row_filters": "jsonb",
    "type_overrides": "jsonb", "restart_from_scratch": "boolean",
    "reset_target_data": "boolean", "confirm": "text",
    "accept_unforwarded_schema_change": "text",
    "accept_target_only_unique_key": "text[]", "accept_table_rename": "jsonb",
    "options": "jsonb",
}


def _literal(name):
    return "'%s'" % str(name).replace("'", "''")


class Stream:
    """Handle on one stream; dst is the Db it lives in."""

    def __init__(self, src, dst, stream_id, server):
        self.src = src
        self.dst = dst
        self.id = stream_id
        self.server = server

    def start(self, user="postgres", source=True, **args):
        """sync_start; keyword arguments as in SQL.  Returns its row."""
        parts, params = ["%s"], [self.id]
        if source:
            parts.append("source => %s")
            params.append(self.server)
        for key, value in args.items():
            parts.append("%s => %%s::%s" % (key, ARGS[key]))
            params.append(json.dumps(value) if ARGS[key] == "jsonb" and
                          value is not None else value)
        sql = "SELECT * FROM sluice.sync_start(%s)" % ", ".join(parts)
        conn = self.dst.connect(user)
        try:
            with conn.cursor() as cur:
                cur.execute(sql, params)
                row = cur.fetchone()
                return dict(zip([d.name for d in cur.description], row))
        finally:
            conn.close()

    def stop(self, wait=True, timeout="60 s", user="postgres"):
        self.dst.execute("SELECT sluice.sync_stop(%s, %s, %s::interval)",
                         self.id, wait, timeout, user=user)

    def wait(self, state="streaming", timeout="60 s", user="postgres"):
        """CALL sync_wait; raises what the stream raised."""
        self.dst.execute("CALL sluice.sync_wait(%s, %s, %s::interval * %s)",
                         self.id, state, timeout, SCALE, user=user)

    def caught_up(self, timeout="60 s"):
        self.wait("caught_up", timeout)

    def drop(self, clean_source=True, user="postgres"):
        self.dst.execute("SELECT sluice.sync_drop(%s, %s)", self.id,
                         clean_source, user=user)

    def health(self, user="postgres"):
        rows = self.dst.rows("SELECT * FROM sluice.health WHERE stream_id = %s",
                             self.id, user=user)
        return rows[0] if rows else None

    @property
    def state(self):
        row = self.health()
        return row["state"] if row else None

    def wait_state(self, *states, timeout=60):
        """Poll health, from outside sluice; returns the row."""
        def look():
            row = self.health()
            return row if row and row["state"] in states else None
        return wait_until(look, timeout, lambda: "stream in %s; health is %r"
                          % (" or ".join(states), self.health()))

    def wait_refused(self, marker, timeout=60):
        """Wait for state refused and require its marker; returns health."""
        row = self.wait_state("refused", "failed", timeout=timeout)
        assert (row["state"], row["marker"]) == ("refused", marker), row
        return row

    def pid(self, timeout=30):
        """The worker's pid, once there is one."""
        return wait_until(lambda: (self.health() or {}).get("pid"), timeout,
                          lambda: "no worker; health is %r" % self.health())

    def kill_worker(self, sig=signal.SIGKILL):
        """Signal the worker (kill -9 makes the whole cluster restart)."""
        pid = self.pid()
        os.kill(pid, sig)
        return pid

    def crash_worker(self):
        """kill -9 of the worker; returns once the cluster has started again."""
        server = self.dst.server
        mark = server.log_mark()
        self.kill_worker()
        # it goes on answering for a moment before it notices
        server.wait_log("all server processes terminated; reinitializing", mark, 60)
        wait_until(server.answers, 60, "%s does not answer" % server.name)

    def verify(self, tables=None, mode="checksum"):
        return self.dst.rows("SELECT * FROM sluice.verify(%s, %s::text[], %s)",
                             self.id, tables, mode)

    def refusals(self):
        return self.dst.rows("SELECT * FROM sluice.refusals WHERE stream_id = %s"
                             " ORDER BY id", self.id)

    def conflicts(self):
        return self.dst.rows("SELECT * FROM sluice.conflicts WHERE stream_id ="
                             " %s ORDER BY table_name, kind", self.id)

    def stat(self):
        rows = self.dst.rows("SELECT * FROM sluice.stat_stream WHERE stream_id"
                             " = %s", self.id)
        return rows[0] if rows else None

    def slot(self):
        """The slot's row on the source."""
        rows = self.src.rows(
            "SELECT s.* FROM pg_catalog.pg_replication_slots s WHERE slot_name = %s",
            (self.health() or {}).get("slot_name"))
        return rows[0] if rows else None


def make_server(src, dst, server=None, user=SOURCE_ROLE, password=None,
                mapping_for="CURRENT_USER", **options):
    """CREATE SERVER and USER MAPPING on dst for src; returns the name.

    TLS is off by default here (throw-away servers have no certificate): that
    must be asked for, so it is.
    """
    server = server or "src_%s" % src.name
    opts = dict(driver="postgres", host="127.0.0.1", port=str(src.server.port),
                dbname=src.name, sslmode="disable")
    opts.update(options)
    text = ", ".join("%s %s" % (k, _literal(v)) for k, v in opts.items()
                     if v is not None)
    dst.execute("SET log_min_error_statement = 'panic'; "
                'CREATE SERVER "%s" FOREIGN DATA WRAPPER sluice OPTIONS (%s); '
                'CREATE USER MAPPING FOR %s SERVER "%s" OPTIONS (user %s, password %s)'
                % (server, text, mapping_for, server, _literal(user),
                   _literal(password if password is not None
                            else src.server.secret)))
    return server


def make_stream(src, dst, stream_id="s1", start=True, wait="streaming",
                server=None, server_options=None, user=SOURCE_ROLE,
                password=None, timeout="60 s", **args):
    """Foreign server, user mapping, sync_start and sync_wait; a Stream.

    args go to sync_start.  wait=None returns after sync_start; start=False
    before it.
    """
    name = make_server(src, dst, server or "src_%s" % stream_id, user, password,
                       **(server_options or {}))
    stream = Stream(src, dst, stream_id, name)
    if start:
        stream.start(**args)
        if wait:
            stream.wait(wait, timeout)
    return stream


def both(src, dst, *sql):
    """The same statements on both sides."""
    for statement in sql:
        src.execute(statement)
        dst.execute(statement)


def follow(src, dst, *ddl, **args):
    """The same tables on both sides, and a stream of all of them."""
    both(src, dst, *ddl)
    return make_stream(src, dst, **args)


def cold_stream(src, dst, **args):
    """A stream into a database that has only the extension: it builds all.

    Returns it when it streams (see make_stream for wait and args).
    """
    made = dst.value(
        "SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n"
        " ON n.oid = c.relnamespace WHERE c.oid >= 16384 AND n.nspname <> 'sluice'"
        " AND n.nspname !~ '^pg_'")
    assert made == 0, "the target is not empty: %d relations" % made
    return make_stream(src, dst, **args)


def caught_up_same(stream, *tables, timeout="60 s", **kw):
    """Caught up, then equal by the oracle (kw as same_rows)."""
    stream.caught_up(timeout)
    assert_same_rows(stream.src, stream.dst, tables, **kw)


def conflicts(stream):
    """{(table, kind): count} of what is recorded."""
    return {(r["table_name"], r["kind"]): r["count"] for r in stream.conflicts()}


def point_at(stream, server):
    """Let the stream's foreign server name another cluster."""
    stream.dst.execute("SET log_min_error_statement = 'panic'; "
                       'ALTER SERVER "%s" OPTIONS (SET port \'%d\')'
                       % (stream.server, server.port))
    if server.secret != stream.src.server.secret:
        server.execute("SET log_min_error_statement = 'panic'; ALTER ROLE %s PASSWORD"
                       " '%s'" % (SOURCE_ROLE, stream.src.server.secret))
