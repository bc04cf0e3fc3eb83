"""The author of schema changes (ddl_model.py) in the dialect of MySQL and MariaDB, and what a table
holds on either side in one form."""
import datetime
import decimal
import json

from .ddl_model import Author, Change, Table

WIDER = {
    "smallint": ["int", "bigint"],
    "int": ["bigint"],
    "int unsigned": ["bigint unsigned", "bigint"],
    "varchar(20)": ["varchar(40)", "text"],
    "decimal(8,2)": ["decimal(12,2)", "decimal(14,4)"],
    "float": ["double"],
    "date": ["datetime(6)"],
    "datetime(3)": ["datetime(6)"],
    "varbinary(10)": ["varbinary(30)"],
    "enum('a','b','c')": ["enum('a','b','c','d')", "varchar(20)"],
}
TYPES = ["smallint", "int", "bigint", "int unsigned", "varchar(20)", "decimal(8,2)", "float", "double", "tinyint(1)",
         "date", "datetime(3)", "timestamp(6) NULL", "time", "varbinary(10)", "enum('a','b','c')", "set('a','b','c')",
         "text", "json"]
# of literals on MySQL; and those that its catalog does not tell whole
WITHOUT_DEFAULT = ("text", "json", "varbinary(10)", "varbinary(30)", "timestamp(6) NULL")


def value(rng, type_name):
    """A literal of the type."""
    n = rng.randrange(-999, 1000)
    base = type_name.split("(")[0].split(" ")[0]
    if "unsigned" in type_name:
        return str(n + 1000)
    if base in ("smallint", "int", "bigint", "decimal"):
        return str(n)
    if base in ("float", "double"):
        return str(n / 8)
    if base == "tinyint":
        return str(n % 2)
    if base == "text":
        return "'%s'" % (chr(97 + n % 26) * rng.choice([0, 1, 7, 2500]))
    if base == "varchar":
        return "'v%d é'" % n
    if base == "varbinary":
        return "x'%04x00'" % (n % 65536)
    if base == "date":
        return "'%s'" % (datetime.date(2024, 1, 1) + datetime.timedelta(n))
    if base in ("datetime", "timestamp"):
        return "'%s'" % (datetime.datetime(2024, 1, 1) + datetime.timedelta(minutes=n))
    if base == "time":
        return "'%s%d:%02d:01'" % ("-" if n < 0 else "", abs(n) // 2, abs(n) % 60)
    if base == "enum":
        return "'%s'" % "abc"[n % 3]
    if base == "set":
        return "'%s'" % ["", "a", "a,c", "b,c"][n % 4]
    if base == "json":
        return """'{"n": [%d, null]}'""" % n
    raise AssertionError(type_name)


class MyAuthor(Author):
    """mariadb: whether the statements may be of MariaDB alone."""

    TYPES, WIDER = TYPES, WIDER
    value = constant = staticmethod(value)

    def __init__(self, seed, mariadb):
        self.defaults = {}          # (table, column): literal
        super().__init__(seed)
        self.mariadb = mariadb

    def first_tables(self):
        return [
            Table("t0", [("id", "int")], {"a": "int", "b": "varchar(20)", "c": "decimal(8,2)", "d": "text"}),
            Table("t1", [("k1", "varchar(30)"), ("k2", "bigint")], {"a": "smallint", "b": "date", "c": "enum('a','b','c')"}),
        ]

    def key(self, table, n):
        vals = {"int": str(n), "bigint": str(n % 7), "varchar(30)": "'k%d'" % n}
        return [vals[t] for _, t in table.key]

    @staticmethod
    def q(name):
        return "`%s`" % name.replace("`", "``")

    def place(self, table):
        """Where a column is put, if anywhere."""
        return self.rng.choice(["", "", " FIRST", " AFTER %s" % self.rng.choice([c for c, _ in table.key])])

    def add(self, table):
        name, type_name = self.column()
        if type_name in WITHOUT_DEFAULT:
            table.columns[name] = type_name
            return self.alter(table, "ADD COLUMN %s %s%s" % (name, type_name, self.place(table)))
        how = self.rng.choice(["plain", "default", "required", "django", "several", "instant"])
        dflt = self.constant(self.rng, type_name)
        table.columns[name] = type_name
        if how == "plain":
            return self.alter(table, "ADD COLUMN %s %s%s" % (name, type_name, self.place(table)))
        self.defaults[table.name, name] = dflt
        if how == "default":
            return self.alter(table, "ADD COLUMN %s %s DEFAULT %s%s" % (name, type_name, dflt, self.place(table)))
        if how == "instant":
            return self.alter(table, "ADD COLUMN %s %s DEFAULT %s, ALGORITHM=INSTANT" % (name, type_name, dflt))
        if how == "several":
            other, other_type = self.column()
            table.columns[other] = other_type
            return self.alter(table, "ADD COLUMN (%s %s DEFAULT %s, %s %s)" % (name, type_name, dflt, other, other_type))
        table.required.add(name)
        type_name = type_name.replace(" NULL", "")
        out = self.alter(table, "ADD COLUMN %s %s NOT NULL DEFAULT %s%s" % (name, type_name, dflt, self.place(table)))
        if how == "django":
            del self.defaults[table.name, name]
            out += self.alter(table, "ALTER COLUMN %s DROP DEFAULT" % name)
        return out

    def rename(self, table):
        if not table.columns:
            return None
        statements = super().rename(table)
        new = list(table.columns)[-1]
        old = statements[0].partition("RENAME COLUMN ")[2].partition(" TO ")[0]
        self.move_default(table, old, new)
        if self.rng.random() < 0.5:
            return statements
        return self.alter(table, "CHANGE %s %s" % (old, self.whole(table, new)))

    def move_default(self, table, old, new=None):
        dflt = self.defaults.pop((table.name, old), None)
        if new and dflt:
            self.defaults[table.name, new] = dflt

    def whole(self, table, name):
        """A column as a MODIFY or CHANGE has it."""
        type_name = table.columns[name]
        text = "%s %s" % (name, type_name.replace(" NULL", "") + " NOT NULL" if name in table.required else type_name)
        if type_name in WITHOUT_DEFAULT:
            self.move_default(table, name)
        dflt = self.defaults.get((table.name, name))
        return text + " DEFAULT " + dflt if dflt else text

    def retype(self, table, name):
        return "MODIFY %s" % self.whole(table, name)

    def reorder(self, table):
        if not table.columns:
            return None
        name = self.rng.choice(sorted(table.columns))
        return self.alter(table, "MODIFY %s%s" % (self.whole(table, name), self.rng.choice(
            [" FIRST", " AFTER %s" % table.key[-1][0]])))

    def exchange(self, table):
        """Two columns take each other's names, one statement after the other; each is proven."""
        able = sorted(set(table.columns) - table.required)
        if len(able) < 2:
            return None
        a, b = self.rng.sample(able, 2)
        table.columns[a], table.columns[b] = table.columns[b], table.columns[a]
        self.move_default(table, a, "swap")
        self.move_default(table, b, a)
        self.move_default(table, "swap", b)
        return self.alter(table, "RENAME COLUMN %s TO swap" % a, "RENAME COLUMN %s TO %s" % (b, a), "RENAME COLUMN swap TO %s" % b)

    def again(self, table):
        """Dropped by one statement, and added under its name by the next."""
        able = sorted(set(table.columns) - table.required)
        if not able:
            return None
        a = self.rng.choice(able)
        self.move_default(table, a)
        return self.alter(table, "DROP COLUMN %s" % a, "ADD COLUMN %s %s" % (a, table.columns[a]))

    def default(self, table):
        """A default that goes, or comes, or is another one."""
        able = [c for c in sorted(set(table.columns) - table.required) if table.columns[c] not in WITHOUT_DEFAULT]
        if not able:
            return None
        a = self.rng.choice(able)
        if (table.name, a) in self.defaults and self.rng.random() < 0.4:
            del self.defaults[table.name, a]
            return self.alter(table, "ALTER COLUMN %s SET DEFAULT NULL" % a)
        self.defaults[table.name, a] = self.constant(self.rng, table.columns[a])
        return self.alter(table, "ALTER COLUMN %s SET DEFAULT %s" % (a, self.defaults[table.name, a]))

    def rebuild(self, table):
        return self.alter(table, "FORCE") + ["OPTIMIZE TABLE %s" % table.name]

    def makers(self):
        return [self.add] * 4 + [self.drop, self.rename, self.widen] * 2 + [
            self.reorder, self.exchange, self.again, self.rebuild, self.default]

    def refusable(self, table, cols, name, type_name):
        a = self.rng.choice(cols)
        refuse, door = "SCHEMA-CHANGE-REFUSED", "UNFORWARDED-SCHEMA-CHANGE"
        kept = ", ".join(["%s %s NOT NULL" % c for c in table.key] + [self.whole(table, c) for c in table.columns])
        texts = [c for c in cols if table.columns[c] == "varchar(40)"]
        choices = [
            ("clock default", [refuse], "ADD COLUMN %s TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP" % name),
            ("replaced", ["COLUMN-IDENTITY-CHANGED"], "DROP COLUMN %s, ADD COLUMN %s %s" % (a, a, table.columns[a])),
            ("add and rename", [refuse], "ADD COLUMN %s %s, RENAME COLUMN %s TO %s" % (name, type_name, a, self.q(self.name()))),
            ("drop and add", [refuse], "DROP COLUMN %s, ADD COLUMN %s %s" % (a, name, type_name)),
            ("check", [door], "ADD CONSTRAINT ck CHECK (%s IS NULL OR %s IS NOT NULL)" % (a, a)),
        ]
        if self.mariadb:        # MySQL takes none while it logs
            choices += [("uuid default", [refuse], "ADD COLUMN %s VARCHAR(36) DEFAULT (UUID())" % name),
                        ("random default", [refuse], "ADD COLUMN %s DOUBLE DEFAULT (RAND())" % name)]
        if texts:
            choices.append(("default", [door], "ALTER COLUMN %s SET DEFAULT (SOUNDEX('abc'))" % texts[0]))
        if len(cols) > 1:
            b = self.rng.choice([c for c in cols if c != a])
            choices.append(("swap", ["COLUMN-ORDER-CHANGED"], "RENAME COLUMN %s TO %s, RENAME COLUMN %s TO %s" % (a, b, b, a)))
        out = [(what, markers, self.alter(table, text)) for what, markers, text in choices]
        out.append(("made again", ["TABLE-IDENTITY-CHANGED"], [
            "DROP TABLE %s" % table.name, table.create() if not table.columns else "CREATE TABLE %s (%s, PRIMARY KEY (%s))" % (
                table.name, kept, ", ".join(c for c, _ in table.key))]))
        out.append(("exchanged", ["TABLE-IDENTITY-CHANGED"], [
            "CREATE TABLE x LIKE %s" % table.name, "RENAME TABLE %s TO y, x TO %s" % (table.name, table.name)]))
        return out

    def refused(self, table):
        if not set(table.columns) - table.required:
            return Change(table, ["RENAME TABLE %s TO y, %s TO %s, y TO %s" % (
                table.name, *[t.name for t in self.tables if t is not table] * 2, table.name)], "exchanged",
                ["TABLE-IDENTITY-CHANGED"])
        return super().refused(table)


def _plain(v, type_name):
    """A value of either driver, of a column that the author gave that type."""
    if v is None:
        return None
    base = type_name.split("(")[0].split(" ")[0]
    if isinstance(v, memoryview):
        return bytes(v)
    if isinstance(v, datetime.datetime) and v.tzinfo is not None:
        return v.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    if base == "json":
        return json.loads(v) if isinstance(v, str) else v
    if base == "tinyint":
        return int(v)
    if base == "set":
        return [x for x in v.split(",") if x] if isinstance(v, str) else list(v)
    if base == "decimal":
        return str(decimal.Decimal(v))
    if base in ("bigint", "int", "smallint"):
        return int(v)
    return v


def contents(db, table, schema=None):
    """{key: {column: value}} of a table; schema: of the target's."""
    if schema:
        rows = db.rows('SELECT * FROM %s."%s"' % (schema, table.name))
    else:
        rows = db.rows("SELECT * FROM `%s`" % table.name)
    types = {c.strip("`"): t for c, t in list(table.key) + list(table.columns.items())}
    return {tuple(str(row[c]) for c, _ in table.key):
            {name: _plain(v, types.get(name, "")) for name, v in row.items()} for row in rows}
