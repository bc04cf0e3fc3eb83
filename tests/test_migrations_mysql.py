"""Django's migrations of a MariaDB and a MySQL source while writers write, and the drained runbook there."""
import threading

import pymysql
import pytest

from lib.django_app import CHECK, CROSSING, INITIAL, DjangoApp
from lib.mycases import Ground
from lib.mycold import differing_rows, plain_json
from lib.mycells import COLUMNS

KINDS = [pytest.param("mariadb10.11", marks=pytest.mark.long), "mariadb11.8", "mysql"]
ON_ALL = pytest.mark.parametrize("world", KINDS)

# JSON has no default there
CROSSING = [(name, body.replace("JSONField(default=dict)", "JSONField(null=True)")) for name, body in CROSSING] + [
    ("0013_required", """migrations.AlterField("Book", "stock", models.SmallIntegerField(default=0)),"""),
]
CONSTRAINT = ("0014_check", CHECK)
TABLES = ["shop_author", "shop_book"]


@pytest.fixture(scope="module")
def ground():
    one = Ground("migrations")
    yield one
    one.destroy()


class Writer:
    """One connection that changes rows of both tables until it is stopped."""

    def __init__(self, db):
        self.db, self.halt, self.failed, self.count = db, threading.Event(), None, 0
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _write(self, conn, cur, i):
        cur.execute("UPDATE shop_author SET name = 'renamed %s' WHERE id = 1 + %s %% 5", (i, i))
        conn.commit()       # who waits for one table holds no row of the other that a copying ALTER looks up
        cur.execute("UPDATE shop_book SET title = 't%s', pages = pages + 1, price = %s WHERE id = 1 + %s %% 40",
                    (i, i % 90, i * 7))
        if i % 5 == 0:
            cur.execute("DELETE FROM shop_book WHERE id = %s", (41 + i,))

    def _run(self):
        conn = self.db.connect(autocommit=False)
        try:
            with conn.cursor() as cur:
                while not self.halt.wait(0.01):
                    self.count += 1
                    try:
                        self._write(conn, cur, self.count)
                        conn.commit()
                    except pymysql.err.OperationalError as e:
                        if e.args[0] not in (1205, 1213, 1412):     # the table was changed meanwhile
                            raise
                        conn.rollback()
        except Exception as e:      # shown by stop()
            self.failed = e
        finally:
            conn.close()

    def stop(self):
        self.halt.set()
        self.thread.join(60)
        assert self.failed is None, self.failed
        assert self.count > 0


def same(stream, tables):
    stream.caught_up()
    for table in tables:
        assert differing_rows(stream.src, stream.dst, table, stream.schema, plain_json) == [], table
        assert [r[0] for r in stream.dst.query(COLUMNS, "%s.%s" % (stream.schema, table))] == sorted(r[0] for r in stream.src.query(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = %s AND table_name = %s",
            stream.src.name, table)), table


FILL = ["CREATE TABLE d (i INT PRIMARY KEY)", "INSERT INTO d VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)",
        "INSERT INTO shop_author (name, born) SELECT concat('a', i), date_add('2000-01-01', INTERVAL i DAY) FROM d WHERE i < 5",
        "INSERT INTO shop_book (title, pages, price, note, author_id) SELECT concat('book ', z.i), y.i, x.i, repeat('n', x.i),"
        " (SELECT min(id) FROM shop_author) + x.i % 5 FROM d x, d y, d z WHERE z.i < 4"]


@ON_ALL
def test_django(ground, world, tmp_path):
    stream = ground.prepare(world, "django", include_tables=["shop_*"], schema_changes="forward")
    src, dst = stream.src, stream.dst
    app = DjangoApp(tmp_path, src, [("0001_initial", INITIAL)] + CROSSING + [CONSTRAINT])
    app.migrate("0001_initial")
    for statement in FILL:
        src.execute(statement)
    stream.start(**stream.args)
    stream.wait("streaming")
    writer = Writer(src)
    try:
        for name, _ in CROSSING[:6]:
            app.migrate(name)
            stream.caught_up()
        ground.bridge.stop()        # the others are found by the next bridge
        for name, _ in CROSSING[6:]:
            app.migrate(name)
    finally:
        writer.stop()
    ground.bridge.start()
    same(stream, TABLES)
    # what no stream carries and does no harm is told
    index = dst.rows("SELECT * FROM sluice.schema_events WHERE stream_id = %s AND decision = 'warned'", stream.id)
    assert any("book_title" in (r["ddl"] or "") for r in index), index

    app.migrate(CONSTRAINT[0])
    src.execute("UPDATE shop_book SET pages = 7777 WHERE id = (SELECT * FROM (SELECT min(id) FROM shop_book) x)")
    row = stream.wait_refused("UNFORWARDED-SCHEMA-CHANGE")
    assert "book_pages_positive" in row["reason"]
    assert dst.value("SELECT count(*) FROM %s.shop_book WHERE pages = 7777" % stream.schema) == 0
    dst.execute("ALTER TABLE %s.shop_book ADD CONSTRAINT book_pages_positive CHECK (pages >= 0)" % stream.schema)
    stream.start(source=False, accept_unforwarded_schema_change=row["fingerprint"])
    same(stream, TABLES)


# -- the drained runbook ----------------------------------------------------------

# table: (columns, the change there and here, a row of the shape before, one of that after)
CHANGES = {
    "adds": ("id int PRIMARY KEY, a varchar(20)", ["ALTER TABLE adds ADD COLUMN b int"] * 2,
             "INSERT INTO adds (id, a) VALUES (%d, 'before')", "INSERT INTO adds VALUES (%d, 'after', 7)"),
    "drops": ("id int PRIMARY KEY, a varchar(20), b int", ["ALTER TABLE drops DROP COLUMN a"] * 2,
              "INSERT INTO drops VALUES (%d, 'before', 1)", "INSERT INTO drops (id, b) VALUES (%d, 2)"),
    "renames": ("id int PRIMARY KEY, label varchar(20)", ["ALTER TABLE renames RENAME COLUMN label TO name"] * 2,
                "INSERT INTO renames VALUES (%d, 'before')", "INSERT INTO renames (id, name) VALUES (%d, 'after')"),
    "types": ("id int PRIMARY KEY, n numeric(10,2)",
              ["ALTER TABLE types MODIFY n numeric(12,2)", "ALTER TABLE types ALTER COLUMN n TYPE numeric(12,2)"],
              "INSERT INTO types VALUES (%d, 1.25)", "INSERT INTO types VALUES (%d, 1234567890.25)"),
    "swaps": ("id int PRIMARY KEY, a varchar(20), b varchar(20)",
              ["ALTER TABLE swaps CHANGE a b varchar(20), CHANGE b a varchar(20)",
               "ALTER TABLE swaps RENAME COLUMN a TO x; ALTER TABLE swaps RENAME COLUMN b TO a;"
               " ALTER TABLE swaps RENAME COLUMN x TO b"],
              "INSERT INTO swaps (id, a, b) VALUES (%d, 'a', 'b')", "INSERT INTO swaps (id, a, b) VALUES (%d, 'was b', 'was a')"),
    "checks": ("id int PRIMARY KEY, v int",
               ["ALTER TABLE checks ADD CONSTRAINT positive CHECK (v > 0), MODIFY v int NOT NULL",
                "ALTER TABLE checks ADD CONSTRAINT positive CHECK (v > 0), ALTER v SET NOT NULL"],
               "INSERT INTO checks VALUES (%d, 1)", "INSERT INTO checks VALUES (%d, 2)"),
    "things": ("id int PRIMARY KEY", ["RENAME TABLE things TO things2", "ALTER TABLE things RENAME TO things2"],
               "INSERT INTO things VALUES (%d)", "INSERT INTO things2 VALUES (%d)"),
}
AFTER = sorted(set(CHANGES) - {"things"}) + ["things2"]


@pytest.mark.parametrize("mode", ["forward", "refuse"])
@ON_ALL
def test_drained_runbook(ground, world, mode):
    """Stop, the same change on both sides, start: it resumes, with nothing refused."""
    stream = ground.begin(world, "runbook", *["CREATE TABLE %s (%s)" % (n, c[0])
                                               for n, c in CHANGES.items()], schema_changes=mode)
    src, dst = stream.src, stream.dst
    for _, _, before, _ in CHANGES.values():
        src.execute(before % 1)
        src.execute(before % 2)
    stream.caught_up()
    stream.stop()
    for n, (_, (there, here), _, after) in enumerate(CHANGES.values()):
        here = "SET search_path = %s; %s" % (stream.schema, here)
        for db, text in ((src, there), (dst, here)) if n % 2 else ((dst, here), (src, there)):
            db.execute(text)
        src.execute(after % 3)
    stream.start(source=False)
    stream.caught_up()
    assert stream.refusals() == []
    same(stream, AFTER)
    for _, _, _, after in CHANGES.values():
        src.execute(after % 4)
    src.execute("UPDATE renames SET name = 'changed' WHERE id = 1; DELETE FROM drops WHERE id = 1")
    same(stream, AFTER)
