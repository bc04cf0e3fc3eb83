"""MySQL's binary log as far as a table (id INT PRIMARY KEY, d JSON) goes: an
outside reader of row images, which knows nothing of the bridge."""
import os

TABLE_MAP = 19
WRITE_ROWS, UPDATE_ROWS, PARTIAL_UPDATE_ROWS = 30, 31, 39


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        assert self.at + n <= len(self.data)
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self, n):
        return int.from_bytes(self.take(n), "little")

    def packed(self):
        first = self.number(1)
        return first if first < 0xfb else self.number({0xfc: 2, 0xfd: 3, 0xfe: 8}[first])


def _image(b, may_be_partial=False):
    """(id, the JSON value's bytes, is it a difference) of one row image."""
    partial = False
    if may_be_partial and b.packed() & 1:
        partial = bool(b.number(1) & 1)
    nulls = b.number(1)
    assert nulls & 1 == 0
    key = b.number(4)
    return key, None if nulls & 2 else b.take(b.number(4)), partial


def _rows(kind, body):
    b = Bytes(body)
    b.take(8)
    b.take(b.number(2) - 2)
    assert b.packed() == 2
    b.take(1 if kind == WRITE_ROWS else 2)
    while b.at < len(body):
        before = None if kind == WRITE_ROWS else _image(b)[1]
        key, value, partial = _image(b, kind == PARTIAL_UPDATE_ROWS)
        yield key, before, value, partial


def _mapped(body):
    """(table id, table's name) of a table map."""
    b = Bytes(body)
    number = b.number(6)
    b.take(2)
    b.take(b.number(1) + 1)
    return number, b.take(b.number(1)).decode()


def json_rows(server, since, table="docs"):
    """Every row image of a table since a position of the log: (id, before, after
    or the differences, are they that), in order."""
    name, at = since
    with open(os.path.join(server.data, name), "rb") as f:
        data = f.read()
    out, tables = [], {}
    while at < len(data):
        kind = data[at + 4]
        size = int.from_bytes(data[at + 9:at + 13], "little")
        assert size >= 19
        body = data[at + 19:at + size - 4]
        if kind == TABLE_MAP:
            tables.update([_mapped(body)])
        if kind in (WRITE_ROWS, UPDATE_ROWS, PARTIAL_UPDATE_ROWS) and (
                tables[int.from_bytes(body[:6], "little")] == table):
            out += _rows(kind, body)
        at += size
    assert server.position()[0] == name
    return out
