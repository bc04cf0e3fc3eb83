"""What sluice-bridge decode prints of a binary log, as Python sees it."""
import re

from .bridge import run_bridge


class _Absent:
    def __repr__(self):
        return "ABSENT"


ABSENT = _Absent()      # a column that is not in the image


class Change:
    """One row of an event.

    table        (database, table)
    before, after   the images: a list of cells, each bytes, None for NULL or
                 ABSENT; None when the kind of change has no such image
    collations   {column's name: collation's number}, where it is known
    """

    def __init__(self, table, before, after, collations):
        self.table = table
        self.before = before
        self.after = after
        self.collations = collations


def _cell(text):
    if text is None:
        return ABSENT
    if text == "NULL":
        return None
    assert text.startswith("0x"), text
    return bytes.fromhex(text[2:])


def _image(line, names):
    cells = dict(part.split("=", 1) for part in line[4:].split())
    assert cells.keys() <= set(names), line[:200]
    return [_cell(cells.get(name)) for name in names]


def decoded_rows(path):
    """All rows of a log file whose tables' column names hold no blanks; Changes in the log's order."""
    done = run_bridge("decode", "--verify", "--full", "--raw", path)
    assert done.returncode == 0, done.stderr
    out = []
    names, collations, table = {}, {}, None
    before = None
    for line in done.stdout.splitlines():
        head = line.split()
        if line[:1].isdigit():
            before, update = None, False
            if "TABLE_MAP" in head[1]:
                table = tuple(head[4].split("."))
                names[table], collations[table] = [], {}
            elif "_ROWS" in head[1] and head[4] in ("insert", "update", "delete"):
                table = tuple(head[5].split("."))
                update = head[4] == "update"
        elif line.startswith("    ") and table in names:
            names[table].append(head[0])
            m = re.search(r" collation (\d+)", line)
            if m:
                collations[table][head[0]] = int(m[1])
        elif line.startswith("  -"):
            before = _image(line, names[table])
            if not update:
                out.append(Change(table, before, None, collations[table]))
        elif line.startswith("  +"):
            out.append(Change(table, before if update else None, _image(line, names[table]),
                              collations[table]))
    return out
