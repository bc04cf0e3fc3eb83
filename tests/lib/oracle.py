"""The outside oracle: do both sides hold the same rows?

It uses nothing of sluice: every row as text under pinned settings, ordered
bytewise by the server, hashed here; where the hashes differ, the rows
themselves are compared and named.
"""
import hashlib
import io

PINNED = """
SET search_path = '';
SET timezone = 'UTC';
SET datestyle = 'ISO, MDY';
SET intervalstyle = 'postgres';
SET extra_float_digits = 3;
SET bytea_output = 'hex';
SET client_encoding = 'UTF8';
SET row_security = off;
"""


def _quote(name):
    return '"%s"' % name.replace('"', '""')


def qualified(table):
    """Quoted name from "schema.table", "table" (public) or a pair."""
    if isinstance(table, str):
        table = table.split(".", 1) if "." in table else ("public", table)
    return "%s.%s" % (_quote(table[0]), _quote(table[1]))


class _Hash(io.RawIOBase):
    def __init__(self):
        super().__init__()
        self.digest = hashlib.sha256()
        self.count = 0

    def writable(self):
        return True

    def write(self, data):
        self.digest.update(data)
        self.count += data.count(b"\n")
        return len(data)


def _columns(conn, table):
    with conn.cursor() as cur:
        cur.execute("SELECT attname FROM pg_catalog.pg_attribute WHERE attrelid"
                    " = %s::pg_catalog.regclass AND attnum > 0 AND NOT"
                    " attisdropped ORDER BY attnum", (table,))
        return [r[0] for r in cur.fetchall()]


def _copy(conn, table, columns, out):
    row = "ROW(%s)::pg_catalog.text" % ", ".join(
        "t." + _quote(c) for c in columns)
    with conn.cursor() as cur:
        cur.copy_expert(
            'COPY (SELECT r FROM (SELECT %s AS r FROM %s AS t) AS s'
            ' ORDER BY r COLLATE pg_catalog."C") TO STDOUT' % (row, table), out)


def _open(db):
    conn = db.connect(user="postgres")
    with conn.cursor() as cur:
        cur.execute(PINNED)
    return conn


def same_rows(src, dst, tables, columns=None, target_of=None, show=10):
    """Differences between two Dbs, as lines of text; [] when there are none.

    tables     names on the source: "t", "schema.t" or (schema, table)
    columns    names to compare (default: all that the source has)
    target_of  maps a name to the one on the target (default: the same)

    Both sides must be at rest: wait for the stream first.
    """
    out = []
    a, b = _open(src), _open(dst)
    try:
        for name in tables:
            here = qualified(name)
            there = qualified(target_of(name) if target_of else name)
            cols = columns or _columns(a, here)
            ha, hb = _Hash(), _Hash()
            _copy(a, here, cols, ha)
            _copy(b, there, cols, hb)
            if ha.digest.digest() != hb.digest.digest():
                out.extend(_explain(a, b, here, there, cols, show,
                                    ha.count, hb.count))
    finally:
        a.close()
        b.close()
    return out


def _explain(a, b, here, there, cols, show, na, nb):
    rows = []
    for conn, table in ((a, here), (b, there)):
        buf = io.BytesIO()
        _copy(conn, table, cols, buf)
        rows.append(buf.getvalue().split(b"\n")[:-1])
    left, right = [], []
    i = j = 0
    while i < len(rows[0]) or j < len(rows[1]):
        if j >= len(rows[1]) or (i < len(rows[0]) and rows[0][i] < rows[1][j]):
            left.append(rows[0][i])
            i += 1
        elif i >= len(rows[0]) or rows[1][j] < rows[0][i]:
            right.append(rows[1][j])
            j += 1
        else:
            i += 1
            j += 1
    said = ["%s: %d rows on the source, %d on the target; %d only there, %d only here"
            % (here, na, nb, len(left), len(right))]
    for what, some in (("source", left), ("target", right)):
        said += ["  only on the %s: %s" % (what, r.decode(errors="replace"))
                 for r in some[:show]]
    return said


def assert_same_rows(src, dst, tables, **kw):
    diffs = same_rows(src, dst, tables, **kw)
    assert not diffs, "\n".join(diffs)
