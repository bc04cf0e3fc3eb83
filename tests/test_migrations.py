"""Migrations as real tools make them, run on the source while writers write.

Django's (its own schema editor, atomic migrations), and statement sequences as
Rails and its safety guides write them.
"""
import threading

import psycopg2
import pytest

from lib import assert_same_rows, make_stream, wait_until
from lib.django_app import CHECK, CROSSING, INITIAL, DjangoApp

COLUMNS = """
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull
FROM pg_catalog.pg_attribute a WHERE a.attrelid = %s::pg_catalog.regclass
AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attname"""

CONSTRAINT = ("0013_check", CHECK)
TABLES = ["shop_author", "shop_book"]


class Writer:
    """One connection that changes rows of both tables until it is stopped.

    It asks the catalog which columns there are, as an application of any
    version would know.
    """

    def __init__(self, db):
        self.db = db
        self.halt = threading.Event()
        self.failed = None
        self.count = 0
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _write(self, cur, i):
        cur.execute("INSERT INTO shop_author (name) SELECT 'author %s' WHERE NOT EXISTS (SELECT FROM"
                    " information_schema.columns WHERE table_name = 'shop_author' AND"
                    " column_name = 'extra') RETURNING id", (i,))
        cur.execute("UPDATE shop_author SET name = 'renamed %s' WHERE id = 1 + %s %% 5", (i, i))
        cur.execute("UPDATE shop_book SET title = 't%s', pages = pages + 1, price = %s"
                    " WHERE id = 1 + %s %% 40", (i, i % 90, i * 7))
        if i % 5 == 0:
            cur.execute("DELETE FROM shop_book WHERE id = %s", (41 + i,))

    def _run(self):
        try:
            conn = self.db.connect()
            with conn.cursor() as cur:
                while not self.halt.wait(0.01):
                    self.count += 1
                    try:
                        cur.execute("BEGIN")
                        self._write(cur, self.count)
                        cur.execute("COMMIT")
                    except (psycopg2.errors.DeadlockDetected, psycopg2.errors.UndefinedColumn):
                        cur.execute("ROLLBACK")
            conn.close()
        except Exception as e:      # shown by stop()
            self.failed = e

    def stop(self):
        self.halt.set()
        self.thread.join(60)
        assert self.failed is None, self.failed
        assert self.count > 0


def fill(src):
    src.execute("INSERT INTO shop_author (name, born) SELECT 'a' || i, date '2000-01-01' + i"
                " FROM generate_series(1, 5) i")
    src.execute("INSERT INTO shop_book (title, pages, price, note, author_id)"
                " SELECT 'book ' || i, i, i % 100, repeat('n', i), 1 + i % 5 FROM generate_series(1, 400) i")


def same(stream, tables):
    stream.caught_up()
    assert_same_rows(stream.src, stream.dst, tables)
    for t in tables:
        assert stream.src.query(COLUMNS, t) == stream.dst.query(COLUMNS, t)


def test_django(pair, tmp_path):
    src, dst = pair
    app = DjangoApp(tmp_path, src, [("0001_initial", INITIAL)] + CROSSING + [CONSTRAINT])
    app.migrate("0001_initial")
    fill(src)
    stream = make_stream(src, dst, include_tables=["shop_*"], schema_changes="forward")
    writer = Writer(src)
    try:
        for name, _ in CROSSING:
            app.migrate(name)
            stream.caught_up()
    finally:
        writer.stop()
    src.execute("UPDATE shop_book SET pages = pages; UPDATE shop_author SET name = name")
    same(stream, TABLES)
    # what no stream carries and does no harm is told
    index = dst.rows("SELECT * FROM sluice.schema_events WHERE decision = 'warned'")
    assert any("book_title" in (r["ddl"] or "") for r in index), index

    app.migrate(CONSTRAINT[0])
    src.execute("UPDATE shop_book SET pages = 7 WHERE id = 1")
    row = stream.wait_refused("UNFORWARDED-SCHEMA-CHANGE")
    assert "book_pages_positive" in row["reason"]
    assert dst.value("SELECT pages FROM shop_book WHERE id = 1") != 7
    dst.execute("ALTER TABLE shop_book ADD CONSTRAINT book_pages_positive CHECK (pages >= 0)")
    stream.start(accept_unforwarded_schema_change=row["fingerprint"])
    same(stream, TABLES)


def test_django_while_stopped(pair, tmp_path):
    """The whole row of migrations, one after the other, found by the next start."""
    src, dst = pair
    app = DjangoApp(tmp_path, src, [("0001_initial", INITIAL)] + CROSSING[:3])
    app.migrate("0001_initial")
    fill(src)
    stream = make_stream(src, dst, include_tables=["shop_*"], schema_changes="forward")
    stream.stop()
    for name, _ in CROSSING[:3]:
        app.migrate(name)
        src.execute("UPDATE shop_book SET pages = pages + 1 WHERE id < 20;"
                    " UPDATE shop_author SET name = name || '.'")
    stream.start()
    same(stream, TABLES)


RAILS = [
    # add_column with a default, then the application writes it
    ["ALTER TABLE users ADD COLUMN locale character varying DEFAULT 'en' NOT NULL",
     "INSERT INTO users (email, locale) VALUES ('l@x', 'fr')"],
    # the safe way to a NOT NULL: nullable, filled in batches, made by the application
    ["ALTER TABLE users ADD COLUMN admin boolean",
     "UPDATE users SET admin = false WHERE id <= 50", "UPDATE users SET admin = false WHERE id > 50"],
    ["ALTER TABLE users RENAME COLUMN name TO full_name",
     "UPDATE users SET full_name = full_name || '!' WHERE id % 3 = 0"],
    # change_column
    ["ALTER TABLE users ALTER COLUMN age TYPE bigint",
     "UPDATE users SET age = 5000000000 WHERE id = 3"],
    ["ALTER TABLE users ALTER COLUMN balance TYPE numeric(12,4) USING balance * 1.5",
     "UPDATE users SET age = 1 WHERE id = 4"],
    ["ALTER TABLE users DROP COLUMN legacy", "DELETE FROM users WHERE id = 5"],
    ["CREATE INDEX CONCURRENTLY index_users_on_email ON users (email)",
     "UPDATE users SET age = 2 WHERE id = 6"],
    # add_timestamps as Rails writes it
    ["ALTER TABLE users ADD COLUMN created_at timestamp(6) without time zone",
     "UPDATE users SET created_at = '2024-01-01 00:00:00.123456'"],
]


def test_rails(pair):
    src, dst = pair
    src.execute("CREATE TABLE users (id bigserial PRIMARY KEY, email character varying,"
                " name character varying, age integer, balance numeric(10,2), legacy text)")
    src.execute("INSERT INTO users (email, name, age, balance, legacy)"
                " SELECT i || '@x', 'n' || i, i, i / 3.0, 'old' FROM generate_series(1, 200) i")
    stream = make_stream(src, dst, schema_changes="forward")
    for steps in RAILS:
        for statement in steps:
            src.execute(statement)
        same(stream, ["users"])

    # change_column_null and add_foreign_key are not carried, and not forgotten
    src.execute("ALTER TABLE users ALTER COLUMN admin SET NOT NULL" if not src.value(
        "SELECT count(*) FROM users WHERE admin IS NULL") else "ALTER TABLE users ALTER COLUMN email SET NOT NULL")
    src.execute("UPDATE users SET age = 9 WHERE id = 7")
    row = stream.wait_refused("UNFORWARDED-SCHEMA-CHANGE")
    assert "not-null" in row["reason"], row
    for statement in dst.query("SELECT statement FROM sluice.remedies(%s) WHERE run_on = 'target'"
                               " AND NOT destructive AND statement LIKE 'ALTER TABLE%%'", stream.id):
        dst.execute(statement[0])
    dst.execute("SELECT sluice.acknowledge(%s, %s, 'made by hand')", stream.id, row["fingerprint"])
    stream.start()
    same(stream, ["users"])
    assert wait_until(lambda: stream.health()["healthy"], 30, "the stream is not healthy")
