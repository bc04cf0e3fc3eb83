"""tests/programs/mysql/crosscheck.c: a table by both protocols, through the codec."""
import io
import struct
import subprocess

from .programs import program
from .util import scaled

TEXT = 2        # SL_CELL_TEXT


class Crosscheck:
    """Runs it.  columns: (name, form, type); protocol, log: rows of cells, each None,
    bytes, "~" (NULL by policy) or "!reason"."""

    def __init__(self, my_db, table, file, pos, overrides=None, zero_dates="refuse"):
        parameters = {"host": my_db.server.socket, "user": "root", "dbname": my_db.name,
                      "zero_dates": zero_dates}
        done = subprocess.run(
            [program("crosscheck", "bridge"), file, str(pos), table] + ["%s=%s" % o for o in (overrides or {}).items()],
            input="".join("%s %s\n" % p for p in parameters.items()), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, timeout=scaled(120))
        assert done.returncode == 0, done.stderr
        self.columns, self.protocol, self.log = [], [], []
        for line in done.stdout.splitlines():
            kind, *rest = line.split("\t")
            if kind == "C":
                self.columns.append((rest[0], int(rest[1]), rest[2]))
            else:
                (self.protocol if kind == "P" else self.log).append([_cell(c) for c in rest])

    def differences(self):
        """Cells that the protocols disagree about."""
        return ["%s row %d: protocol %r, log %r" % (c[2], i, a, b)
                for i, (p, l) in enumerate(zip(self.protocol, self.log))
                for c, a, b in zip(self.columns, p, l) if a != b]


def _cell(text):
    if text == "-":
        return None
    return bytes.fromhex(text[1:]) if text[0] == "=" else text


def copy_in(db, table, check):
    """COPY the log's rows into a new table of the columns' types, by their receive
    functions."""
    db.execute("CREATE TABLE %s (%s)" % (table, ", ".join("%s %s" % (n, t) for n, _, t in check.columns)))
    out = io.BytesIO(b"")
    out.write(b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0))
    for row in check.log:
        out.write(struct.pack(">h", len(row)))
        for (_, form, typ), cell in zip(check.columns, row):
            if cell is not None and form == TEXT and typ.startswith("geometry"):
                cell = bytes.fromhex(cell.decode())
            out.write(struct.pack(">i", -1) if cell is None else struct.pack(">i", len(cell)) + cell)
    out.write(struct.pack(">h", -1))
    out.seek(0)
    conn = db.connect()
    with conn, conn.cursor() as cur:
        cur.copy_expert("COPY %s FROM STDIN (FORMAT binary)" % table, out)
    conn.close()


def pg_text(server, check, show="%s::text"):
    """The rows as PostgreSQL prints them; show: how a column is selected."""
    db = server.fresh_db("values")
    if any(typ.startswith("geometry") for _, _, typ in check.columns):
        db.execute("CREATE EXTENSION postgis")
    copy_in(db, "t", check)
    return db.query("SET extra_float_digits = 3; SET timezone = 'UTC'; SET intervalstyle = 'postgres'; "
                    "SET bytea_output = 'hex'; SELECT %s FROM t ORDER BY 1" % ", ".join(
                        show.replace("%s", n) if i else n for i, (n, _, _) in enumerate(check.columns)))
