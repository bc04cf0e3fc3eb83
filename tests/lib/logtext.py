"""Binary log files by `sluice-bridge decode`, and what their servers say of them.

Two oracles: SHOW BINLOG EVENTS says each event's place and kind, and the
tables say what all rows of a log must have made of them."""
import collections
import decimal
import json
import re
import struct

from .bridge import run_bridge

Item = collections.namedtuple("Item", "place name rest lines")


def decode(path, *options):
    """What decode prints of a file; (text, exit code, error text)."""
    done = run_bridge("decode", *options, path)
    return done.stdout, done.returncode, done.stderr


def items(text):
    """decode's output as items: the line, and those that belong to it."""
    found = []
    for line in text.splitlines():
        if line.startswith(" "):
            found[-1].lines.append(line)
        else:
            place, name, rest = (line.split(" ", 2) + [""])[:3]
            found.append(Item(place, name, rest, []))
    return found


# -- SHOW BINLOG EVENTS ---------------------------------------------------------

# the servers' names where they are not ours in lower case
EVENT_NAMES = {
    "format_desc": "format_description", "write_rows": "write_rows_v2",
    "update_rows": "update_rows_v2", "delete_rows": "delete_rows_v2",
    "update_rows_partial": "partial_update_rows", "gtid_tagged_log_event": "gtid_tagged",
    "user var": "user_var", "begin_load_query": "begin_load_query",
    "anonymous_gtid": "anonymous_gtid", "xa_prepare": "xa_prepare",
    "tagged_gtid": "gtid_tagged",
}


def shown_events(server, name):
    """[(position, kind)] as SHOW BINLOG EVENTS has them."""
    found = []
    for row in server.query("SHOW BINLOG EVENTS IN '%s'" % name):
        kind = row[2].lower()
        kind = EVENT_NAMES.get(kind, kind)
        if server.is_mariadb and kind == "gtid":
            kind = "mariadb_gtid"
        found.append((int(row[1]), kind))
    return found


def decoded_events(text):
    """The same of decode's output; a payload's events are shown at its end."""
    found, after = [], 0
    for item in reversed(items(text)):
        inner = "." in item.place
        found.append((after if inner else int(item.place), item.name.lower()))
        if not inner:
            after = int(item.place)
    return found[::-1]


# -- rows -----------------------------------------------------------------------

CELL = re.compile(r"(\S+?)=((?:\d+\()?'(?:[^'\\]|\\.)*'\)?|json\(.*?\)(?= \S+=|$)|\S+)")


def replay(text):
    """{table: Counter of rows} after all row events; a row is a tuple of
    (column, text), sorted.  Strict: what is removed must be there."""
    tables = collections.defaultdict(collections.Counter)
    for item in items(text):
        if "_ROWS" not in item.name or item.name in ("ROWS_QUERY", "ANNOTATE_ROWS"):
            continue
        table = re.search(r" (?:insert|update|delete) (\S+) ", item.rest)[1]
        for line in item.lines:
            row = tuple(sorted(CELL.findall(line[4:])))
            if line[2] == "+":
                tables[table][row] += 1
            else:
                assert tables[table][row] > 0, "%s: no such row: %r" % (table, row)
                tables[table][row] -= 1
    return {t: +rows for t, rows in tables.items()}


def _unquote(text):
    """The bytes of a quoted value."""
    def one(m):
        c = m[1]
        return {"n": b"\n", "t": b"\t"}.get(c) or (
            bytes([int(c[1:], 16)]) if c[0] == "x" else c.encode())
    out, at = b"", 0
    body = text[1:-1]
    for m in re.finditer(r"\\(x[0-9a-f]{2}|.)", body):
        out += body[at:m.start()].encode() + one(m)
        at = m.end()
    return out + body[at:].encode()


def _canonical(kind, text):
    """A value of decode, and one of SELECT's expression, in one form."""
    if text is None or text == "NULL":
        return None
    if kind == "decimal":
        return str(decimal.Decimal(text))
    if kind == "float":
        return struct.pack("f", float(text)).hex()
    if kind == "double":
        return struct.pack("d", float(text)).hex()
    if kind == "label":
        return re.match(r"\d+", text)[0]
    if kind == "set":
        return str(int.from_bytes(bytes.fromhex(text[2:]), "little")
                   if text.startswith("0x") else int(text))
    if kind == "bit":
        return text.strip("b'").lstrip("0")
    if kind == "json":
        return json.dumps(json.loads(re.sub(r"^json\((.*)\)$", r"\1", text)), sort_keys=True)
    if kind in ("bytes", "padded"):
        value = _unquote(text).hex() if text.startswith("'") else \
            text[2:] if text.startswith("0x") else text.lower()
        return re.sub(r"(00)*$", "", value) if kind == "padded" and len(value) % 2 == 0 else value
    return text


# DATA_TYPE: (form, expression)
FORMS = {
    "decimal": ("decimal", "CAST(%s AS CHAR)"), "float": ("float", "CAST(%s AS DOUBLE)"),
    "double": ("double", "%s"), "year": ("text", "CAST(%s + 0 AS CHAR)"),
    "timestamp": ("text", "UNIX_TIMESTAMP(%s)"), "bit": ("bit", "BIN(%s + 0)"),
    "enum": ("label", "%s + 0"), "set": ("set", "CAST(%s + 0 AS UNSIGNED)"),
    "json": ("json", "CAST(%s AS CHAR)"), "binary": ("padded", "HEX(%s)"),
    "uuid": ("padded", "HEX(CAST(%s AS BINARY(16)))"),
    "inet6": ("padded", "HEX(CAST(%s AS BINARY(16)))"),
    "inet4": ("padded", "HEX(CAST(%s AS BINARY(4)))"),
}
FORMS["datetime"] = ("text", "REPLACE(CAST(%s AS CHAR), ' ', 'T')")
for _t in ("tinyint", "smallint", "mediumint", "int", "bigint", "date", "time"):
    FORMS[_t] = ("text", "CAST(%s AS CHAR)")
for _t in ("char", "varchar", "tinytext", "text", "mediumtext", "longtext", "varbinary",
           "tinyblob", "blob", "mediumblob", "longblob", "geometry", "point", "linestring",
           "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection",
           "geomcollection", "vector"):
    FORMS[_t] = ("bytes", "HEX(%s)")


def columns(server, table):
    """[(name, form, expression)] of a table, in order."""
    db, name = table.split(".")
    found = server.query(
        "SELECT column_name, data_type FROM information_schema.columns"
        " WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position", db, name)
    return [(c, FORMS[t.lower()][0], FORMS[t.lower()][1] % ("`%s`" % c)) for c, t in found]


def selected(server, table):
    """Counter of a table's rows as they stand, in replay's canonical form."""
    cols = columns(server, table)
    rows = server.query("SET time_zone = '+00:00'; SET sql_mode = ''; SELECT %s FROM %s" % (
        ", ".join(e for _, _, e in cols), table))
    return collections.Counter(
        tuple((c[0], _canonical(c[1], None if v is None else
                                v.decode("utf-8") if isinstance(v, bytes) else str(v)))
              for c, v in zip(cols, row)) for row in rows)


def replayed(server, table, rows):
    """replay's rows of a table in the same form."""
    cols = columns(server, table)
    out = collections.Counter()
    for row, n in rows.items():
        cells = dict(row)
        out[tuple((c, _canonical(form, cells.get(c, "absent"))) for c, form, _ in cols)] += n
    return out


def differences(server, path, name, tables):
    """What decode's output of a file of the log says otherwise than its server."""
    text, code, error = decode(path, "--verify", "--full")
    bad = [] if code == 0 else ["decode: %s" % error]
    ours, theirs = decoded_events(text), shown_events(server, name)
    if ours != theirs:
        bad += ["only decode: %s:%s" % e for e in ours if e not in theirs] + \
               ["only the server: %s:%s" % e for e in theirs if e not in ours] or ["order"]
    if tables:
        found = replay(text)
    for table in tables:
        want, got = selected(server, table), replayed(server, table, found.get(table, {}))
        bad += ["%s: decode lacks %r" % (table, r) for r in want - got]
        bad += ["%s: only decode has %r" % (table, r) for r in got - want]
    return bad
