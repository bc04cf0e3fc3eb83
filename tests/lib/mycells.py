"""Schema changes of a MySQL or MariaDB source, each with a stream of its own or a table of
its own in a shared one, and what must become of it."""
import re

import psycopg2

from .mycases import copy_anew
from .mycold import differing_rows

COLUMNS = """
SELECT a.attname FROM pg_catalog.pg_attribute a WHERE a.attrelid = %s::pg_catalog.regclass
AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1"""


class Cell:
    """A change and its outcome.

    before   statements that make the table(s) and rows, before the stream
    change   statements while it runs, rows behind the change among them
    marker   how the stream is refused (one, or several that it may be); None: it is carried
    says     regular expressions that the refusal's reason, detail or hint must match
    ran      regular expressions of statements that the target must have run for it
    types    {column: type on the target}
    shown    (query of the target, its rows)
    tables   names of tables that must be the same on both sides in the end
    only     prefix of the kinds of servers that have such statements
    database run the change with another database as the default one
    late     what refuses is not the first of the change's statements: rows come before it

    In all of these {t} is the table, {db} its database, {other} another database, {s} the target's schema.
    """

    def __init__(self, before, change, marker=None, says=(), ran=(), types=None, shown=None, tables=("{t}",),
                 only="", database=None, late=False):
        self.before, self.change, self.ran, self.says = before, change, list(ran), list(says)
        self.markers = [marker] if isinstance(marker, str) else marker
        self.types, self.shown, self.tables = types or {}, shown, tables
        self.only, self.database, self.late = only, database, late


def of_kind(kind, cells):
    return {name: c for name, c in cells.items() if kind.startswith(c.only)}


class Placed:
    """A cell at work: its table in the database of a stream."""

    def __init__(self, cell, stream, table="t", other=None):
        self.cell, self.stream, self.table, self.other = cell, stream, table, other

    def text(self, sql):
        for name, value in (("{t}", self.table), ("{db}", self.stream.src.name), ("{s}", self.stream.schema),
                            ("{other}", self.other.name if self.other else "")):
            sql = sql.replace(name, value)
        return sql

    def run(self, sql):
        db = self.other if self.cell.database else self.stream.src
        db.execute(self.text(sql))

    def change(self):
        """Do it; what the target has, and where the source's log was, before."""
        self.place = self.stream.src.server.position()
        self.held = self.rows()
        self.run(self.cell.change)

    def here(self, table="{t}"):
        return '%s."%s"' % (self.stream.schema, self.text(table))

    def rows(self):
        """Rows of all tables in the target's schema, as texts."""
        dst = self.stream.dst
        names = [r[0] for r in dst.query(
            "SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = %s AND"
            " relkind IN ('r', 'p') ORDER BY 1", self.stream.schema)]
        return {n: dst.query('SELECT t::text FROM %s."%s" t ORDER BY 1' % (self.stream.schema, n)) for n in names}

    def events(self):
        """[(decision, statement)] that were recorded of the cell's tables."""
        names = [self.text(name) for name in ("{t}",) + tuple(self.cell.tables)]
        return self.stream.dst.query(
            "SELECT decision, ddl FROM sluice.schema_event WHERE stream_id = %s AND (table_name = ANY (%s) OR ddl ~ %s)"
            " ORDER BY id", self.stream.id, names, r"\m%s\M" % self.table)

    def statements(self):
        """What the target ran for them."""
        return [ddl for decision, ddl in self.events() if decision == "forwarded"]

    def assert_same(self):
        """The tables have the same columns and rows on both sides, of the types that were asked for."""
        src, dst = self.stream.src, self.stream.dst
        for name in self.cell.tables:
            name = self.text(name)
            there = sorted(r[0] for r in src.query(
                "SELECT column_name FROM information_schema.columns WHERE table_schema = %s AND table_name = %s",
                src.name, name))
            assert sorted(r[0] for r in dst.query(COLUMNS, self.here(name))) == there, name
            if not self.cell.shown:
                assert differing_rows(src, dst, name, self.stream.schema) == [], name
        for column, type_name in self.cell.types.items():
            assert dst.value(
                "SELECT format_type(atttypid, atttypmod) || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END"
                " FROM pg_attribute WHERE attrelid = %s::regclass AND attname = %s",
                self.here(self.cell.tables[0]), column) == type_name, column
        if self.cell.shown:
            query, rows = self.cell.shown
            assert dst.query(self.text(query)) == rows

    def assert_carried(self):
        self.assert_same()
        ran = self.statements()
        for pattern in self.cell.ran:
            assert any(re.search(self.text(pattern), s) for s in ran), (pattern, ran)

    def assert_refused(self, row, gone_on=False):
        """By its marker, with what it says, before anything behind the change was written; gone_on: it runs again."""
        assert row["state"] == "refused" and row["marker"] in self.cell.markers, row
        last = self.stream.refusals()[-1]
        said = "\n".join(str(t) for t in (row["reason"], row["hint"], last["detail"], self.remedies()))
        for pattern in self.cell.says:
            assert re.search(self.text(pattern), said), (pattern, said)
        assert row["hint"] and row["fingerprint"], row
        if not self.cell.late and not gone_on:
            assert self.rows() == self.held

    def remedies(self):
        return [r[0] for r in self.stream.dst.query("SELECT statement FROM sluice.remedies(%s)", self.stream.id)]

    def mend(self):
        """What the hint has as statements, on the target; then a start, which acknowledges what must be."""
        health = self.stream.health()
        for statement in self.stream.dst.query(
                "SELECT statement FROM sluice.remedies(%s) WHERE run_on = 'target' AND statement ~ '^(ALTER|CREATE)'", self.stream.id):
            self.stream.dst.execute(statement[0])
        if health["marker"] == "UNFORWARDED-SCHEMA-CHANGE":
            self.accept()
        else:
            self.stream.start(source=False)

    def accept(self):
        self.stream.start(source=False, accept_unforwarded_schema_change=self.stream.health()["fingerprint"])

    def copy_anew(self):
        copy_anew(self.stream)


def settled(stream):
    """Health, once the stream is caught up or has stopped."""
    try:
        stream.caught_up()
    except psycopg2.Error:
        pass
    return stream.health()


def restart(stream):
    """A start of what was refused; what must be acknowledged refuses at once."""
    try:
        stream.start(source=False)
    except psycopg2.DatabaseError as e:
        assert stream.health()["marker"] in str(e), e


def place_all(ground, kind, cells, options=None):
    """{name: Placed}: a stream for each cell, all copied at once and caught up."""
    placed = {}
    other = ground.server(kind).fresh_db("other")
    for name, cell in cells.items():
        stream = ground.prepare(kind, name, options=dict(options or {}, copy_workers=1))
        placed[name] = Placed(cell, stream, other=other)
        stream.src.execute(placed[name].text(cell.before))
    for p in placed.values():
        p.stream.start(**p.stream.args)
    for p in placed.values():
        p.stream.wait("streaming")
        p.stream.caught_up()
    return placed


def place_shared(ground, kind, cells, name="shared"):
    """{name: Placed}: one stream, a table t_NAME for each cell."""
    other = ground.server(kind).fresh_db("other")
    stream = ground.prepare(kind, name)
    placed = {n: Placed(c, stream, "t_" + n, other) for n, c in cells.items()}
    for p in placed.values():
        stream.src.execute(p.text(p.cell.before))
    stream.start(**stream.args)
    stream.wait("streaming")
    stream.caught_up()
    return placed
