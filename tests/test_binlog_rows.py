"""What sluice-bridge decodes of the raw log is what a SELECT says is stored."""
import random

import pytest

from lib import rowimages
from lib.binlog import ABSENT, decoded_rows

SEED = 4711


class Table:
    """A table of some columns beside its key, and what its log must hold."""

    def __init__(self, db, name, columns, rnd):
        self.db = db
        self.name = name
        self.columns = columns
        self.rnd = rnd
        self.expected = []      # a list a statement: {id: (before, after)}
        self.names = ["c%d" % i for i in range(len(columns))]
        self.conn = db.connect()
        self.run("SET time_zone = '+00:00', sql_mode = ''")
        self.run("CREATE TABLE %s (id INT PRIMARY KEY, %s)" % (name, ", ".join(
            "%s %s" % (n, c.sql) for n, c in zip(self.names, columns))))

    def run(self, sql):
        with self.conn.cursor() as cur:
            cur.execute(sql)
            return cur.fetchall()

    def stored(self):
        """{id: values as the columns' exact expressions give them}"""
        exprs = [c.exact % n for n, c in zip(self.names, self.columns)]
        out = {}
        # a long list of expressions is asked for in parts
        for i in range(0, len(exprs), 100):
            for row in self.run("SELECT id, %s FROM %s" % (", ".join(exprs[i:i + 100]), self.name)):
                out.setdefault(row[0], [str(row[0])]).extend(row[1:])
        return out

    def change(self, sql):
        """Run one statement and note which rows it must have logged."""
        before = self.stored()
        self.run(sql)
        after = self.stored()
        self.expected.append({i: (before.get(i), after.get(i)) for i in before.keys() | after.keys()
                              if before.get(i) != after.get(i)})

    def literals(self):
        return [("NULL" if self.rnd.random() < 0.2 else c.values(self.rnd)) for c in self.columns]

    def insert(self, ids):
        self.change("INSERT INTO %s VALUES %s" % (self.name, ", ".join(
            "(%s)" % ", ".join([str(i)] + self.literals()) for i in ids)))

    def update(self, ids):
        some = self.rnd.sample(range(len(self.columns)), max(1, len(self.columns) // 3))
        values = self.literals()
        self.change("UPDATE %s SET %s WHERE id IN (%s)" % (
            self.name, ", ".join("%s = %s" % (self.names[i], values[i]) for i in some),
            ", ".join(map(str, ids))))

    def delete(self, ids):
        self.change("DELETE FROM %s WHERE id IN (%s)" % (self.name, ", ".join(map(str, ids))))

    def work(self, image):
        self.run("SET SESSION binlog_row_image = '%s'" % image)
        self.insert(range(1, 7))
        self.update([1, 2, 3])
        self.insert([7])
        self.update([4])
        self.delete([2, 5])

    def text(self, cells):
        """An image's cells as SELECT says them; ABSENT and None as they are."""
        out = []
        for name, column, cell in zip(self.names, self.columns, cells[1:]):
            try:
                out.append(cell if cell in (ABSENT, None) else column.read(cell))
            except Exception as e:
                raise AssertionError("%s %s: %r" % (name, column.sql, e)) from e
        key = cells[0]
        return [key if key in (ABSENT, None) else str(int.from_bytes(key, "little"))] + out

    def key_of(self, change):
        cells = next(c for c in (change.before, change.after)
                     if c is not None and c[0] is not ABSENT)
        return int.from_bytes(cells[0], "little")

    def check(self, changes, image):
        """The changes of the log, in its order, are those that were expected."""
        changes = list(changes)
        for statement in self.expected:
            mine, changes = changes[:len(statement)], changes[len(statement):]
            got = {self.key_of(c): c for c in mine}
            assert sorted(got) == sorted(statement)
            for key, (before, after) in statement.items():
                self.check_image(got[key].before, before, after, image)
                self.check_image(got[key].after, after, before, image)
        assert not changes, "%d changes too many" % len(changes)

    def check_image(self, cells, stored, other, image):
        if stored is None:
            assert cells is None
            return
        assert cells is not None and len(cells) == len(stored)
        text = self.text(cells)
        for i, (is_, was) in enumerate(zip(text, stored)):
            column = self.columns[i - 1] if i else None
            what = "%s.%s %s" % (self.name, self.names[i - 1] if i else "id",
                                 column.sql if column else "")
            if is_ is not ABSENT:
                assert is_ == was, what
            else:
                assert image != "FULL", what
                # what is left out is neither the whole key nor a change's new value
                assert image == "MINIMAL" or column.is_blob, what


@pytest.fixture
def log(my_server):
    """The file of the log that the test writes to."""
    my_server.flush_logs()
    return my_server.log_files()[-1]


def _columns(server):
    version = tuple(int(n) for n in server.value("SELECT version()").split("-")[0].split("."))
    return rowimages.columns(version if server.is_mariadb else None)


def _check(my_db, log, tables, image):
    changes = decoded_rows(log)
    for table in tables:
        mine = [c for c in changes if c.table == (my_db.name, table.name)]
        assert len(mine) == sum(len(s) for s in table.expected) > 0
        table.check(mine, image)
        table.conn.close()


@pytest.mark.parametrize("image", ["FULL", "MINIMAL", "NOBLOB"])
def test_every_type(my_server, my_db, log, image):
    """Every type of the server, among random neighbours, with extremes and NULLs."""
    rnd = random.Random("%d %s" % (SEED, image))
    columns = _columns(my_server)
    rnd.shuffle(columns)
    tables = []
    for i in range(0, len(columns), 17):
        tables.append(Table(my_db, "t%d" % i, columns[i:i + 17], rnd))
        tables[-1].work(image)
    _check(my_db, log, tables, image)


@pytest.mark.parametrize("ncols", [63, 64, 65, 256, 300])
def test_many_columns(my_server, my_db, log, ncols):
    """Bitmaps of more than one word, and numbers of columns of three bytes."""
    rnd = random.Random("%d %d" % (SEED, ncols))
    narrow = [c for c in _columns(my_server) if c.sql.startswith((
        "TINYINT", "INT", "BIT", "YEAR", "TIME(", "VARBINARY(1)", "CHAR(1) CHARACTER SET latin1"))]
    table = Table(my_db, "wide", [rnd.choice(narrow) for _ in range(ncols - 1)], rnd)
    table.work("FULL")
    _check(my_db, log, [table], "FULL")


def test_long_value(my_server, my_db, log):
    """A value of more than 16 MB, whose event a client gets in two packets."""
    size = 17 * 1000 * 1000 + 1
    blob = rowimages.Column("LONGBLOB", lambda rnd: "REPEAT('0123456789abcdef\u00e9', %d)" % (size // 18),
                            "HEX(%s)", lambda b: b.hex().upper(), is_blob=True)
    table = Table(my_db, "huge", [blob], random.Random(SEED))
    table.change("INSERT INTO huge VALUES (1, %s)" % blob.values(None))
    assert len(table.expected[0][1][1][1]) > 2 << 24
    _check(my_db, log, [table], "FULL")


def test_columns_with_a_charset(my_server, my_db, log):
    """Each column has the collation of its own, whatever stands between."""
    between = ["POINT", "JSON", "INT", "ENUM('a') CHARACTER SET koi8r"]
    between += (["UUID", "TEXT COMPRESSED CHARACTER SET hebrew"] if my_server.is_mariadb
                else ["VECTOR(3)"])
    charsets = ["latin1", "latin2", "greek", "big5", "utf8mb4", "ucs2", "gbk"]
    sql = []
    for i, charset in enumerate(charsets):
        sql.append("a%d CHAR(2) CHARACTER SET %s COLLATE %s_bin" % (i, charset, charset))
        if i < len(between):
            sql.append("b%d %s" % (i, between[i]))
    my_db.execute("CREATE TABLE t (%s, x INT)" % ", ".join(sql))
    my_db.execute("INSERT INTO t (x) VALUES (1)")
    change, = [c for c in decoded_rows(log) if c.table == (my_db.name, "t")]
    want = dict(my_db.query(
        "SELECT column_name, c.id FROM information_schema.columns "
        "JOIN information_schema.collations c USING (collation_name) "
        "WHERE table_schema = DATABASE() AND table_name = 't' AND column_name LIKE 'a%%'"))
    assert {n: c for n, c in change.collations.items() if n[0] == "a"} == want
