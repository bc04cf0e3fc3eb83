"""Does a secret of the run stand where somebody could read it?"""
import os
import re


def _relations(db):
    return [r[0] for r in db.execute(
        "SELECT c.oid::pg_catalog.regclass::pg_catalog.text FROM"
        " pg_catalog.pg_class c WHERE c.relkind IN ('r', 'v') AND"
        " c.relnamespace = 'sluice'::pg_catalog.regnamespace ORDER BY 1")]


def _server_processes(server):
    """(pid, argv and environment) of the postmaster and its children."""
    top = str(server.postmaster_pid())
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % entry) as f:
                parent = f.read().rpartition(")")[2].split()[1]
            if entry == top or parent == top:
                text = b""
                for part in ("cmdline", "environ"):
                    with open("/proc/%s/%s" % (entry, part), "rb") as f:
                        text += f.read()
                yield entry, text.decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue


def _stands_in(secret, db, sql):
    # looked for here: a query that names it would be found by the next one
    return any(secret in (row[0] or "") for row in db.execute(sql))


def find_secret(secret, servers, dbs):
    """Every place where secret stands, as lines of text; [] is good.

    Looked at: the servers' logs, argument vectors and environments; of each
    Db (with the extension) all tables and views of schema sluice, the running
    queries, and its dump.  The dump's CREATE USER MAPPING statements are left
    out: that is where PostgreSQL itself writes the owner's own mapping.
    """
    found = []
    for server in servers:
        for n, line in enumerate(server.log_text().splitlines(), 1):
            if secret in line:
                found.append("log of %s, line %d: %s" % (
                    server.name, n, line.replace(secret, "<secret>")))
        for pid, text in _server_processes(server):
            if secret in text:
                found.append("process %s of %s" % (pid, server.name))
    for db in dbs:
        for rel in _relations(db):
            if _stands_in(secret, db, "SELECT t::pg_catalog.text FROM %s AS t" % rel):
                found.append("%s in %s" % (rel, db.name))
        if _stands_in(secret, db, "SELECT query FROM pg_catalog.pg_stat_activity"):
            found.append("pg_stat_activity of %s" % db.server.name)
        dump = db.server.run("pg_dump", "-h", db.server.sockdir, "-p",
                             db.server.port, "-U", "postgres", db.name).stdout
        dump = re.sub(r"(?s)CREATE USER MAPPING .*?;\n", "", dump)
        if secret in dump:
            found.append("dump of %s" % db.name)
    return found
