"""Plans of sluice-bridge (probe --plan), and building them on a PostgreSQL."""
import json

from .bridge import login_of, probed

# what gate_check calls the statements of a kind of object
GATE_KINDS = {"table": "table", "index": "index", "key constraint": "alter table",
              "foreign key": "alter table", "validation": "alter table"}


def plan_of(my_db, *argv):
    """The objects that a stream of a MyDb would make in public, as dicts."""
    my_db.server.execute("GRANT REFERENCES, TRIGGER, EXECUTE, SHOW VIEW, EVENT ON `%s`.* TO repl" % my_db.name)
    return [json.loads(x) for x in probed(login_of(my_db.server), "--plan", my_db.name, *argv)]


def _quoted(name):
    return '"%s"' % name.replace('"', '""')


def build(dst, objects):
    """Run every planned statement, each of which must pass the extension's gate."""
    allowed = ["%s %s.%s" % ("r" if o["kind"] == "table" else "t", _quoted(o["schema"]), _quoted(o["name"]))
               for o in objects if o["kind"] in ("table", "enum") and o["state"] == "planned"]
    with dst.connect() as conn:
        with conn.cursor() as cur:
            for o in objects:
                if o["state"] != "planned":
                    continue
                if o["kind"] in GATE_KINDS:
                    cur.execute("SELECT result, fault FROM sluice.gate_check(%s, %s, %s)",
                                (GATE_KINDS[o["kind"]], o["ddl"], allowed))
                    result, fault = cur.fetchone()
                    assert fault is None, (o["ddl"], fault)
                    assert result == o["ddl"]
                cur.execute("SET search_path = pg_catalog, pg_temp")
                cur.execute(o["ddl"])
                cur.execute("RESET search_path")
        conn.commit()


def named(objects, kind, name, table=None):
    """The one object of that kind and name."""
    found = [o for o in objects if o["kind"] == kind and o["name"] == name and
             (table is None or o.get("table") == table)]
    assert len(found) == 1, (kind, name, [(o["kind"], o["name"]) for o in objects])
    return found[0]
