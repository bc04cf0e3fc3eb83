"""A seeded author of schema changes and rows, who knows what should become of them.

Author makes statements for the source.  Each schema change says whether it is
one that crosses (every value stays provable) or one that must be refused, and by
which markers.
"""
import random

# what a changed type may become with every value kept
WIDER = {
    "smallint": ["integer", "bigint"],
    "integer": ["bigint", "numeric"],
    "varchar(20)": ["varchar(40)"],
    "numeric(8,2)": ["numeric(12,2)", "numeric(14,4)"],
    "real": ["double precision"],
    "date": ["timestamp"],
    "integer[]": ["bigint[]"],
}
TYPES = ["smallint", "integer", "bigint", "text", "varchar(20)", "numeric(8,2)", "real",
         "boolean", "date", "timestamp", "timestamptz", "jsonb", "uuid", "bytea", "integer[]"]


def value(rng, type_name):
    """A literal of the type."""
    n = rng.randrange(-999, 1000)
    base = type_name.split("(")[0]
    if base in ("smallint", "integer", "bigint", "numeric"):
        return str(n)
    if base in ("real", "double precision"):
        return "'%s'" % (n / 8)
    if base == "text":
        return "'%s'" % (chr(97 + n % 26) * rng.choice([0, 1, 7, 2500]))
    if base == "varchar":
        return "'v%d'" % n
    if base == "boolean":
        return rng.choice(["true", "false"])
    if base == "date":
        return "date '2024-01-01' + %d" % n
    if base == "timestamp":
        return "timestamp '2024-01-01' + interval '%d min'" % n
    if base == "timestamptz":
        return "timestamptz '2024-01-01 00:00Z' + interval '%d min'" % n
    if base == "jsonb":
        return """'{"n": [%d, null]}'""" % n
    if base == "uuid":
        return "md5('%d')::uuid" % n
    if base == "bytea":
        return r"'\x%04x'" % (n % 65536)
    if base.endswith("[]"):
        return "'{%d,NULL,%d}'" % (n, n + 1)
    raise AssertionError(type_name)


def constant(rng, type_name):
    """A literal that is one token and a cast, as people write defaults."""
    base = type_name.split("(")[0]
    if base == "date":
        return "'2024-02-29'"
    if base == "timestamp":
        return "'2024-02-29 12:00'"
    if base == "timestamptz":
        return "'2024-02-29 12:00+00'"
    if base == "uuid":
        return "'00000000-0000-0000-0000-%012d'" % rng.randrange(10 ** 9)
    return value(rng, type_name)


class Change:
    """Statements of one transaction, and what must become of it."""

    def __init__(self, table, statements, what, markers=()):
        self.table = table
        self.statements = statements
        self.what = what
        self.markers = tuple(markers)      # () = it crosses

    @property
    def crosses(self):
        return not self.markers


class Table:
    def __init__(self, name, key, columns):
        self.name = name
        self.key = key                      # [(column, type)]
        self.columns = dict(columns)        # others: name to type
        self.required = set()               # … that are NOT NULL
        self.touched = True                 # written since its last change
        self.serial = 0

    def create(self):
        cols = ["%s %s NOT NULL" % c for c in self.key] + ["%s %s" % c for c in self.columns.items()]
        return "CREATE TABLE %s (%s, PRIMARY KEY (%s))" % (
            self.name, ", ".join(cols), ", ".join(c for c, _ in self.key))


class Author:
    """Of statements for PostgreSQL; another dialect overrides what differs."""

    TYPES, WIDER = TYPES, WIDER
    value, constant = staticmethod(value), staticmethod(constant)

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.fresh = 0
        self.tables = self.first_tables()

    def first_tables(self):
        return [
            Table("t0", [("id", "integer")],
                  {"a": "integer", "b": "varchar(20)", "c": "numeric(8,2)", "d": "text"}),
            Table("t1", [("k1", "text"), ("k2", "bigint")],
                  {"a": "smallint", "b": "date", "c": "text"}),
        ]

    # ---------- rows

    def key(self, table, n):
        vals = {"integer": str(n), "bigint": str(n % 7), "text": "'k%d'" % n}
        return [vals[t] for _, t in table.key]

    def insert(self, table, n):
        names = [c for c, _ in table.key]
        vals = self.key(table, n)
        for name, type_name in table.columns.items():
            # leave some to their defaults, some NULL
            choice = self.rng.random()
            if name in table.required or choice < 0.8:
                names.append(name)
                vals.append(self.value(self.rng, type_name))
        return "INSERT INTO %s (%s) VALUES (%s)" % (table.name, ", ".join(names), ", ".join(vals))

    def where(self, table):
        column, type_name = table.key[0]
        n = self.rng.randrange(table.serial + 1)
        return "%s = %s" % (column, self.key(table, n)[0])

    def update(self, table):
        if not table.columns:
            return self.insert_next(table)
        names = self.rng.sample(sorted(table.columns), self.rng.randrange(1, min(3, len(table.columns)) + 1))
        return "UPDATE %s SET %s WHERE %s" % (
            table.name,
            ", ".join("%s = %s" % (c, self.value(self.rng, table.columns[c])) for c in names),
            self.where(table))

    def insert_next(self, table):
        table.serial += 1
        table.touched = True
        return self.insert(table, table.serial)

    def rows(self, table):
        """One transaction of changes that writes the table for certain."""
        out = [self.insert_next(table)]
        for _ in range(self.rng.randrange(4)):
            kind = self.rng.random()
            if kind < 0.4:
                out.append(self.insert_next(table))
            elif kind < 0.7:
                out.append(self.update(table))
            elif kind < 0.85:
                out.append("DELETE FROM %s WHERE %s" % (table.name, self.where(table)))
            elif kind < 0.95 and table.key[0][0] == "id":
                table.serial += 1
                out.append("UPDATE %s SET id = %d WHERE %s" % (table.name, table.serial, self.where(table)))
            else:
                out[1:] = ["SAVEPOINT s", self.update(table), "ROLLBACK TO SAVEPOINT s"] + out[1:]
        return out

    # ---------- schema

    def name(self):
        self.fresh += 1
        return self.rng.choice(["c%d", "Col %d", "select_%d"]) % self.fresh

    @staticmethod
    def q(name):
        return '"%s"' % name.replace('"', '""')

    def alter(self, table, *what):
        return ["ALTER TABLE %s %s" % (table.name, w) for w in what]

    def column(self):
        return self.q(self.name()), self.rng.choice(self.TYPES)

    def add(self, table):
        name, type_name = self.column()
        how = self.rng.choice(["plain", "default", "required", "django", "several"])
        if how == "plain":
            table.columns[name] = type_name
            return self.alter(table, "ADD COLUMN %s %s" % (name, type_name))
        dflt = self.constant(self.rng, type_name)
        table.columns[name] = type_name
        if how == "default":
            return self.alter(table, "ADD COLUMN %s %s DEFAULT %s" % (name, type_name, dflt))
        if how == "several":
            other, other_type = self.column()
            table.columns[other] = other_type
            return self.alter(table, "ADD COLUMN %s %s DEFAULT %s, ADD COLUMN %s %s" % (
                name, type_name, dflt, other, other_type))
        table.required.add(name)
        out = self.alter(table, "ADD COLUMN %s %s NOT NULL DEFAULT %s" % (name, type_name, dflt))
        if how == "django":
            out += self.alter(table, "ALTER COLUMN %s DROP DEFAULT" % name)
        return out

    def drop(self, table):
        if len(table.columns) < 2:
            return None
        name = self.rng.choice(sorted(table.columns))
        del table.columns[name]
        table.required.discard(name)
        return self.alter(table, "DROP COLUMN %s" % name)

    def rename(self, table):
        if not table.columns:
            return None
        old = self.rng.choice(sorted(table.columns))
        new = self.q(self.name())
        table.columns[new] = table.columns.pop(old)
        if old in table.required:
            table.required.discard(old)
            table.required.add(new)
        return self.alter(table, "RENAME COLUMN %s TO %s" % (old, new))

    def widen(self, table):
        able = [c for c in sorted(table.columns) if table.columns[c] in self.WIDER]
        if not able:
            return None
        name = self.rng.choice(able)
        table.columns[name] = self.rng.choice(self.WIDER[table.columns[name]])
        return self.alter(table, self.retype(table, name))

    def retype(self, table, name):
        return "ALTER COLUMN %s TYPE %s" % (name, table.columns[name])

    def makers(self):
        """What makes a change that crosses, as often as it is to be chosen."""
        return [self.add, self.add, self.drop, self.rename, self.widen]

    def crossing(self, table):
        """A change that must cross."""
        while True:
            make = self.rng.choice(self.makers())
            statements = make(table)
            if statements:
                table.touched = False
                return Change(table, statements, make.__name__)

    def refused(self, table):
        """A change that must be refused; the author does not go on after it."""
        name, type_name = self.column()
        # those that a row need not give, so that rows can follow the change
        cols = sorted(set(table.columns) - table.required)
        if not cols:
            return Change(table, self.alter(table, "ENABLE ROW LEVEL SECURITY"), "row security",
                          ["UNFORWARDED-SCHEMA-CHANGE"])
        what, markers, statements = self.rng.choice(self.refusable(table, cols, name, type_name))
        table.columns = {c: t for c, t in table.columns.items() if c in table.required}
        return Change(table, statements, what, markers)

    def refusable(self, table, cols, name, type_name):
        """[(what, markers, statements)], of columns that rows need not give and of a new one."""
        a = self.rng.choice(cols)
        refuse = "SCHEMA-CHANGE-REFUSED"
        door = "UNFORWARDED-SCHEMA-CHANGE"
        choices = [
            ("volatile default", [refuse], ["ADD COLUMN %s double precision DEFAULT random()" % name]),
            ("uuid default", [refuse], ["ADD COLUMN %s uuid DEFAULT gen_random_uuid()" % name]),
            ("clock default", [refuse], ["ADD COLUMN %s timestamptz DEFAULT now()" % name]),
            ("replaced", ["COLUMN-IDENTITY-CHANGED", refuse],
             ["DROP COLUMN %s" % a, "ADD COLUMN %s %s" % (a, table.columns[a])]),
            ("add and rename", [refuse], ["ADD COLUMN %s %s" % (name, type_name),
                                          "RENAME COLUMN %s TO %s" % (a, self.q(self.name()))]),
            ("check", [door], ["ADD CHECK (%s)" % ("%s IS NULL OR %s IS NOT NULL" % (a, a))]),
            ("default", [door], ["ALTER COLUMN %s SET DEFAULT NULL" % a,
                                 "ALTER COLUMN %s SET DEFAULT %s" % (a, self.constant(self.rng, table.columns[a]))]),
            ("row security", [door], ["ENABLE ROW LEVEL SECURITY"]),
            ("zone", [refuse], ["ADD COLUMN %s timestamp" % name,
                                "ALTER COLUMN %s TYPE timestamptz" % name, "DROP COLUMN %s" % a]),
        ]
        if len(cols) > 1:
            b = self.rng.choice([c for c in cols if c != a])
            choices += [
                ("swap", ["COLUMN-ORDER-CHANGED", refuse, "COLUMN-IDENTITY-CHANGED"],
                 ["RENAME COLUMN %s TO swap" % a, "RENAME COLUMN %s TO %s" % (b, a),
                  "RENAME COLUMN swap TO %s" % b]),
                ("drop and add", [refuse], ["DROP COLUMN %s" % a, "ADD COLUMN %s %s" % (name, table.columns[a])]),
            ]
        return [(what, markers, self.alter(table, *alters)) for what, markers, alters in choices]
