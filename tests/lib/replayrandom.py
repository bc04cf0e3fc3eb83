"""Random statements on the tables of a database, for what replays them."""
import random

TYPES = ["int", "int unsigned", "tinyint(1)", "smallint", "bigint", "mediumint unsigned zerofill", "decimal(10,2)", "float", "double",
         "bit(5)", "year", "date", "datetime", "datetime(3)", "time(2)", "timestamp NULL", "char(5)", "varchar(20)",
         "varchar(30)", "varchar(40) CHARACTER SET latin1", "varchar(10) COLLATE utf8mb4_bin", "char(4) BINARY", "nchar(3)",
         "tinytext", "text", "text(70)", "text(20000)", "mediumtext", "longtext CHARACTER SET utf8mb3", "binary(3)",
         "varbinary(9)", "blob", "blob(300)", "enum('a','b','c')", "set('x','y')", "json", "point"]
NUMBERS = ("int", "tiny", "small", "big", "medium", "decimal", "float", "double")
CHARSETS = ["latin1", "utf8mb4", "utf8mb3", "utf8mb4 COLLATE utf8mb4_bin", "utf8mb4 COLLATE utf8mb4_unicode_ci", "latin2", "ascii"]
NAMES = ["a", "b", "c", "d", "e", "F", "g h", "key", "i`j", "ß", "k", "l"]


def quoted(name):
    return "`%s`" % name.replace("`", "``")


class RandomDdl:
    """Statements for table t of a connection's database; seed is a number."""

    def __init__(self, seed, connection, mariadb):
        self.r = random.Random(seed)
        # MySQL's catalog shows names in expressions in UTF-8 of UTF-8
        self.names = [n for n in NAMES if mariadb or n.isascii()]
        self.connection = connection
        self.mariadb = mariadb

    def _column(self, sql):
        with self.connection.cursor() as cur:
            cur.execute(sql)
            return [row[0] for row in cur.fetchall()]

    def _look(self):
        """What is there: names of columns, indexes, checks and foreign keys."""
        where = " WHERE table_schema = database() AND table_name = 't'"
        self.columns = self._column("SELECT column_name FROM information_schema.columns" + where + " ORDER BY ordinal_position")
        self.indexes = self._column("SELECT DISTINCT index_name FROM information_schema.statistics" + where)
        self.checks = self._column("SELECT constraint_name FROM information_schema.table_constraints" + where +
                                   " AND constraint_type = 'CHECK'")
        self.fks = self._column("SELECT constraint_name FROM information_schema.table_constraints" + where +
                                " AND constraint_type = 'FOREIGN KEY'")

    def start(self):
        """Statements that make the tables."""
        columns = ["id int NOT NULL"] + ["%s %s" % (quoted(n), self.r.choice(TYPES)) for n in self.r.sample(self.names, 4)]
        return ["CREATE TABLE p (id int PRIMARY KEY, u int UNIQUE)",
                "CREATE TABLE t (%s, PRIMARY KEY (id)) CHARACTER SET %s" % (", ".join(columns), self.r.choice(CHARSETS)),
                "CREATE TABLE s (id int PRIMARY KEY, r int, FOREIGN KEY (r) REFERENCES t (id))"]

    # -- parts of statements --------------------------------------------------

    def default(self, of):
        r = self.r
        if of.startswith(NUMBERS):
            return r.choice(["0", "5", "'7'", "1.5", "-3", "NULL"])
        if of.startswith(("datetime", "timestamp")):
            digits = "(3)" if "(3)" in of else ""
            return r.choice(["CURRENT_TIMESTAMP" + digits, "NULL", "'2020-01-02 03:04:05'",
                             "CURRENT_TIMESTAMP%s ON UPDATE CURRENT_TIMESTAMP%s" % (digits, digits)])
        if of.startswith("date"):
            return "'2021-12-31'"
        if of.startswith(("char", "varchar", "nchar")):
            return r.choice(["'x'", "''", "'it''s'", "NULL"])
        if of.startswith("enum"):
            return r.choice(["'a'", "'C'"])
        if of.startswith("set"):
            return r.choice(["'y,x'", "''"])
        return r.choice(["NULL", "NULL", "b'101'"] if of.startswith("bit") else ["NULL"])

    def definition(self, keys=False):
        r = self.r
        of = r.choice(TYPES)
        parts = [of]
        if r.random() < 0.12 and self.__dict__.get("columns"):
            expression = r.choice(["1 + 1", "char_length(%s)" % quoted(r.choice(self.columns))])
            return "int AS (%s) %s" % (expression, r.choice(["VIRTUAL", "STORED"]))
        if r.random() < 0.3 and "NULL" not in of:
            parts.append(r.choice(["NOT NULL", "NOT NULL", "NULL"]))
        if r.random() < 0.4:
            default = self.default(of)
            if not (default == "NULL" and "NOT NULL" in parts):
                parts.append("DEFAULT " + default)
        if r.random() < 0.1:
            parts.append("COMMENT 'some'")
        if r.random() < 0.05:
            parts.append("INVISIBLE")
        if keys and r.random() < 0.1 and of.startswith(NUMBERS):
            parts.append(r.choice(["UNIQUE", "CHECK (%s > 0)" % quoted(keys)]))
        return " ".join(parts)

    def place(self):
        if self.r.random() < 0.6:
            return ""
        return self.r.choice([" FIRST", " AFTER " + quoted(self.r.choice(self.columns + self.names[:2]))])

    def key_columns(self):
        r = self.r
        return ", ".join(quoted(c) + r.choice(["", "", "", "(3)", " DESC"]) for c in r.sample(self.columns, min(len(self.columns), r.choice([1, 1, 2, 3]))))

    def clause(self):
        r = self.r
        old = quoted(r.choice(self.columns))
        new = r.choice(self.names)
        if r.random() < 0.15:
            new = r.choice(self.columns)
        kind = r.choices(["add", "drop", "modify", "change", "rename", "set", "unset", "key", "dropkey", "renamekey", "check", "dropcheck",
                          "fk", "dropfk", "option", "convert", "swap", "if"],
                         [14, 9, 12, 10, 8, 4, 3, 7, 4, 2, 3, 3, 2, 2, 3, 2, 3, 4 if self.mariadb else 0])[0]
        if kind == "add":
            return "ADD COLUMN %s %s%s" % (quoted(new), self.definition(new), self.place())
        if kind == "drop":
            return "DROP COLUMN " + old
        if kind == "modify":
            return "MODIFY %s %s%s" % (old, self.definition(), self.place())
        if kind == "change":
            return "CHANGE %s %s %s%s" % (old, quoted(new), self.definition(new), self.place())
        if kind == "rename":
            return "RENAME COLUMN %s TO %s" % (old, quoted(new))
        if kind == "swap":
            other = quoted(r.choice(self.columns))
            return "RENAME COLUMN %s TO %s, RENAME COLUMN %s TO %s" % (old, other, other, old)
        if kind == "set":
            return "ALTER %s SET DEFAULT %s" % (old, r.choice(["5", "'x'", "NULL", "'2020-01-01'"]))
        if kind == "unset":
            return "ALTER %s DROP DEFAULT" % old
        if kind == "key":
            return "ADD %s %s(%s)" % (r.choice(["KEY", "UNIQUE", "INDEX", "CONSTRAINT u%d UNIQUE" % r.randrange(99)]),
                                      r.choice(["", "", "k%d " % r.randrange(99)]), self.key_columns())
        if kind == "dropkey":
            one = r.choice(self.indexes) if self.indexes else "none"
            return "DROP PRIMARY KEY, ADD PRIMARY KEY (%s)" % old if one == "PRIMARY" else "DROP KEY " + quoted(one)
        if kind == "renamekey":
            return "RENAME KEY %s TO %s" % (quoted(r.choice(self.indexes) if self.indexes else "none"), "kr%d" % r.randrange(99))
        if kind == "check":
            return "ADD %sCHECK (%s IS NOT NULL OR %s IS NULL)" % (r.choice(["", "CONSTRAINT n%d " % r.randrange(99)]), old, old)
        if kind == "dropcheck":
            return "DROP CONSTRAINT " + quoted(r.choice(self.checks) if self.checks else "none")
        if kind == "fk":
            return "ADD %sFOREIGN KEY %s(%s) REFERENCES p (%s) ON DELETE %s" % (
                r.choice(["", "CONSTRAINT fk%d " % r.randrange(99)]), r.choice(["", "fi "]), old, r.choice(["id", "u"]),
                r.choice(["RESTRICT", "CASCADE", "NO ACTION", "SET NULL"]))
        if kind == "dropfk":
            return "DROP FOREIGN KEY " + quoted(r.choice(self.fks) if self.fks else "none")
        if kind == "option":
            return r.choice(["COMMENT 'x'", "ENGINE=InnoDB", "AUTO_INCREMENT=7", "DEFAULT CHARACTER SET " + r.choice(CHARSETS), "FORCE"])
        if kind == "convert":
            return "CONVERT TO CHARACTER SET " + r.choice(CHARSETS)
        return r.choice(["ADD COLUMN IF NOT EXISTS %s %s" % (quoted(new), self.definition()), "DROP COLUMN IF EXISTS " + quoted(new),
                         "MODIFY COLUMN IF EXISTS %s %s" % (quoted(new), self.definition()),
                         "CHANGE COLUMN IF EXISTS %s %s int" % (quoted(new), old), "RENAME COLUMN IF EXISTS %s TO %s" % (quoted(new), quoted("z")),
                         "ADD KEY IF NOT EXISTS (%s)" % old, "DROP KEY IF EXISTS " + quoted(new), "DROP CONSTRAINT IF EXISTS " + quoted(new)])

    def statement(self):
        """The next one, for the tables as they are now; t keeps its name."""
        self._look()
        r = self.r
        if r.random() < 0.04:
            return r.choice(["RENAME TABLE p TO p_, s TO p, p_ TO s", "TRUNCATE s", "RENAME TABLE t TO t_, t_ TO t"])
        return "ALTER TABLE t " + ", ".join(self.clause() for _ in range(r.choice([1, 1, 1, 2, 2, 3, 4])))
