"""Each change of a table that a MySQL or MariaDB source can make, live: what is carried, what passes, what is
refused, before a wrong row and again after a restart."""
import pytest

from lib.mycases import Ground
from lib.mycells import Cell, of_kind, place_all, place_shared, restart, settled

KINDS = ["mariadb10.11", "mariadb11.8", "mysql"]
MARIADB, MYSQL = "mariadb", "mysql"

ANEW = "anew|restart_from_scratch"     # how the remedy that copies again is put

T = "CREATE TABLE {t} (id INT PRIMARY KEY, a INT, b VARCHAR(20)); INSERT INTO {t} VALUES (1,1,'x'),(2,NULL,'y');"
ROW = "; INSERT INTO {t} (id) VALUES (7)"
ALTER = "ALTER TABLE {t} "
P = ("CREATE TABLE {t} (id INT PRIMARY KEY, v INT) PARTITION BY RANGE(id) (PARTITION p0 VALUES LESS THAN (10),"
     " PARTITION p1 VALUES LESS THAN (20)); INSERT INTO {t} VALUES (1,1), (11,1);")
N = "CREATE TABLE {t} (id INT PRIMARY KEY, n %s); INSERT INTO {t} VALUES (1, %s), (2, NULL);"


def add(what, **kw):
    """Added behind rows that are there and before one that leaves it to the default."""
    return Cell(T, ALTER + "ADD COLUMN " + what + ROW, ran=["ADD COLUMN"], **kw)


def modify(of, value, to, row, type_name, **kw):
    """A column of one type becomes another's."""
    return Cell(N % (of, value), ALTER + "MODIFY n %s; INSERT INTO {t} VALUES (3, %s)" % (to, row),
                types={"n": type_name} if type_name else None, **kw)


CARRIED = {
    # -- ADD
    "add_plain": add("c INT", types={"c": "integer"}),
    "add_first": add("c INT NOT NULL DEFAULT 7 FIRST", types={"c": "integer NOT NULL"}),
    "add_after": add("c VARCHAR(10) CHARACTER SET latin1 NOT NULL DEFAULT 'é' AFTER id"),
    "add_instant": add("c BIGINT UNSIGNED DEFAULT 18446744073709551615, ALGORITHM=INSTANT", types={"c": "numeric(20,0)"}),
    "add_copy": add("c DECIMAL(12,3) NOT NULL DEFAULT -12.5, ALGORITHM=COPY", types={"c": "numeric(12,3) NOT NULL"}),
    "add_several": Cell(T, ALTER + "ADD COLUMN (c INT DEFAULT 1, d VARCHAR(5) DEFAULT ''), ADD e DATE AFTER a" + ROW,
                        types={"c": "integer", "d": "character varying(5)", "e": "date"}),
    "add_text": add("c VARCHAR(40) DEFAULT 'it''s \\\\ \"q\" 💡'"),
    "add_bytes": add("c VARBINARY(9) DEFAULT x'00ff27'", only=MARIADB),
    "add_moment": add("c DATETIME(3) NOT NULL DEFAULT '2024-02-29 12:00:00.125', ADD COLUMN d DATE DEFAULT '2024-02-29',"
                      " ADD COLUMN e TIME DEFAULT '-100:00:01'"),
    "add_timestamp": add("c TIMESTAMP NOT NULL DEFAULT '2024-02-29 12:00:00'", only=MARIADB),
    "add_double": add("c DOUBLE NOT NULL DEFAULT 0.1, ADD COLUMN d FLOAT DEFAULT 0.5"),
    "add_timestamp_zone": Cell(T, "SET time_zone = '+05:30'; " + ALTER + "ADD COLUMN c TIMESTAMP NOT NULL DEFAULT '2024-02-29 12:00:00'" + ROW,
                               only=MARIADB),
    "add_year": add("c YEAR DEFAULT 2024"),
    "add_bool": add("c TINYINT(1) NOT NULL DEFAULT 1", shown=(
        "SELECT id, c FROM {s}.{t} ORDER BY 1", [(1, True), (2, True), (7, True)])),
    "add_bit": add("c BIT(5) NOT NULL DEFAULT b'101'", shown=(
        "SELECT id, c::text FROM {s}.{t} ORDER BY 1", [(1, "00101"), (2, "00101"), (7, "00101")])),
    "add_enum": add("c ENUM('p','q') NOT NULL DEFAULT 'q'"),
    "add_set": add("c SET('p','q','r') NOT NULL DEFAULT 'r,p'", shown=(
        "SELECT id, c::text[] FROM {s}.{t} ORDER BY 1", [(1, ["p", "r"]), (2, ["p", "r"]), (7, ["p", "r"])])),
    "add_implicit": Cell(T, "SET sql_mode = ''; " + ALTER + "ADD COLUMN c INT NOT NULL, ADD COLUMN d VARCHAR(5) NOT NULL" + ROW,
                         types={"c": "integer NOT NULL", "d": "character varying(5) NOT NULL"}),
    "add_zero_text": add("c CHAR(3) NOT NULL DEFAULT ''", shown=(
        "SELECT id, c::text FROM {s}.{t} ORDER BY 1", [(1, ""), (2, ""), (7, "")])),
    "add_keyword": add("`order` INT DEFAULT 3, ADD COLUMN `q\"q` INT DEFAULT 4, ADD COLUMN `ä b` INT"),
    "add_expression": add("c INT NOT NULL DEFAULT (3 + 4)"),
    "add_json": add("c JSON", shown=("SELECT id, c FROM {s}.{t} ORDER BY 1", [(1, None), (2, None), (7, None)])),
    "add_keyless": Cell("CREATE TABLE {t} (id INT NOT NULL UNIQUE, a INT); INSERT INTO {t} VALUES (1,1)",
                        ALTER + "ADD COLUMN c INT NOT NULL DEFAULT 5" + ROW, types={"c": "integer NOT NULL"}),
    "add_if": Cell(T, ALTER + "ADD COLUMN IF NOT EXISTS c INT DEFAULT 4; " + ALTER + "ADD COLUMN IF NOT EXISTS c BIGINT" + ROW,
                   only=MARIADB, types={"c": "integer"}),
    "add_uuid": add("c UUID DEFAULT '123e4567-e89b-12d3-a456-426655440000'", only=MARIADB, types={"c": "uuid"}),
    # -- how a statement is spelled
    "comment": Cell(T, "/* a */ ALTER /*!40000 TABLE */ {t} -- b\n ADD /* c */ c INT DEFAULT 5 # d\n" + ROW, types={"c": "integer"}),
    "versioned": Cell(T, "/*!50000 ALTER TABLE {t} ADD COLUMN c INT DEFAULT 5 */" + ROW, types={"c": "integer"}),
    "versioned_maria": Cell(T, "/*M!100000 ALTER TABLE {t} ADD COLUMN c INT DEFAULT 5 */" + ROW, only=MARIADB, types={"c": "integer"}),
    "newer_only": Cell(T, ALTER + "ADD COLUMN c INT /*!999999 FIRST, DROP COLUMN a */" + ROW, types={"a": "integer", "c": "integer"}),
    "statement_set": Cell(T, "SET STATEMENT max_statement_time=1000 FOR " + ALTER + "ADD COLUMN c INT DEFAULT 5" + ROW,
                          only=MARIADB, types={"c": "integer"}),
    "ansi_quotes": Cell(T, "SET sql_mode = 'ANSI_QUOTES'; ALTER TABLE \"{t}\" ADD COLUMN \"q`\"\"c\" VARCHAR(9) DEFAULT 'd'" + ROW),
    "elsewhere": Cell(T, "ALTER TABLE `{db}`.`{t}` ADD COLUMN c INT DEFAULT 5; INSERT INTO {db}.{t} (id) VALUES (7);"
                      "CREATE TABLE {t} (id INT PRIMARY KEY, a INT, b INT); ALTER TABLE {t} DROP COLUMN a; DROP TABLE {t}",
                      database="other", types={"a": "integer", "c": "integer"}),
    "no_backslash": Cell(T, "SET sql_mode = 'NO_BACKSLASH_ESCAPES'; " + ALTER + "ADD COLUMN c VARCHAR(9) DEFAULT 'a\\', ADD COLUMN d INT" + ROW),
    # the statement's bytes are those of another character set
    "latin1": Cell(T, "SET NAMES latin1; " + ALTER + "ADD COLUMN `cé` VARCHAR(9) DEFAULT 'é', ADD COLUMN d VARCHAR(9) DEFAULT _utf8mb4 x'c3a9'" + ROW),
    # -- DROP, RENAME
    "drop": Cell(T, ALTER + "DROP COLUMN a" + ROW, ran=["DROP COLUMN a"]),
    "drop_several": Cell(T, ALTER + "DROP a, DROP COLUMN b" + ROW, ran=["DROP COLUMN a", "DROP COLUMN b"]),
    "drop_indexed": Cell(T + ALTER + "ADD INDEX (b)", ALTER + "DROP COLUMN b" + ROW, ran=["DROP COLUMN b"]),
    "drop_if": Cell(T, ALTER + "DROP COLUMN IF EXISTS a; " + ALTER + "DROP COLUMN IF EXISTS a" + ROW, only=MARIADB, ran=["DROP COLUMN a"]),
    "rename": Cell(T, ALTER + "RENAME COLUMN a TO `A b`; UPDATE {t} SET `A b` = 5" + ROW, ran=["RENAME COLUMN a TO \"A b\""]),
    "rename_change": Cell(T, ALTER + "CHANGE COLUMN a c INT; UPDATE {t} SET c = 5" + ROW, ran=["RENAME COLUMN a TO c"]),
    "rename_case": Cell(T, ALTER + "CHANGE a A INT; UPDATE {t} SET A = 5" + ROW, ran=["RENAME COLUMN a TO \"A\""]),
    "rename_key": Cell(T, ALTER + "RENAME COLUMN id TO k; UPDATE {t} SET a = 8 WHERE k = 1; INSERT INTO {t} (k) VALUES (3);"
                       "DELETE FROM {t} WHERE k = 2", ran=["RENAME COLUMN id TO k"]),
    "chain": Cell(T, ALTER + "CHANGE a tmp INT; " + ALTER + "RENAME COLUMN b TO a; UPDATE {t} SET a = 'new' WHERE id = 1; " +
                  ALTER + "RENAME COLUMN tmp TO b; UPDATE {t} SET b = 9 WHERE id = 2" + ROW),
    "dropped_and_added": Cell(T, ALTER + "DROP COLUMN a; INSERT INTO {t} VALUES (3, 'z'); " + ALTER +
                              "ADD COLUMN a INT DEFAULT 3" + ROW, ran=["DROP COLUMN a", "ADD COLUMN a"]),
    "dropped_and_taken": Cell(T, ALTER + "DROP COLUMN b; " + ALTER + "RENAME COLUMN a TO b; UPDATE {t} SET b = 9 WHERE id = 2" + ROW,
                              ran=["DROP COLUMN b", "RENAME COLUMN a TO b"]),
    # -- MODIFY
    "widen_int": modify("INT", "5", "BIGINT", "5000000000", "bigint"),
    "widen_smallint": modify("SMALLINT UNSIGNED", "65535", "INT UNSIGNED", "4294967295", "bigint"),
    "widen_varchar": modify("VARCHAR(10)", "'x'", "VARCHAR(40)", "'twelve chars'", "character varying(40)"),
    "widen_decimal": modify("DECIMAL(8,2)", "1.25", "DECIMAL(12,4)", "12345678.1234", "numeric(12,4)"),
    "widen_text": modify("TEXT", "'x'", "LONGTEXT", "'y'", "text"),
    "widen_varbinary": modify("VARBINARY(4)", "x'00'", "VARBINARY(8)", "x'0011223344'", "bytea"),
    "widen_precision": modify("DATETIME", "'2024-01-01 00:00:01'", "DATETIME(6)", "'2024-01-01 00:00:01.123456'",
                              "timestamp(6) without time zone"),
    "widen_float": modify("FLOAT", "0.5", "DOUBLE", "0.1", "double precision"),
    "widen_date": modify("DATE", "'2024-01-01'", "DATETIME", "'2024-01-01 00:00:01'", "timestamp(0) without time zone"),
    "widen_key": Cell(T, ALTER + "MODIFY id BIGINT; INSERT INTO {t} (id) VALUES (5000000000)", types={"id": "bigint NOT NULL"}),
    "signed": modify("INT UNSIGNED", "5", "BIGINT UNSIGNED", "18446744073709551615", "numeric(20,0)"),
    "narrow_int": modify("BIGINT", "5", "INT", "6", "integer"),
    "narrow_scale": modify("DECIMAL(10,4)", "1.2350", "DECIMAL(10,2)", "2.25", "numeric(10,2)"),
    "narrow_precision": modify("DATETIME(6)", "'2024-01-01 00:00:01.600000'", "DATETIME", "'2024-01-01 00:00:01'",
                               "timestamp(0) without time zone"),
    "int_to_text": modify("INT", "5", "VARCHAR(10)", "'6x'", "character varying(10)"),
    "text_to_int": modify("VARCHAR(10)", "'5'", "INT", "6", "integer"),
    "enum_to_text": modify("ENUM('x','y')", "'y'", "VARCHAR(10)", "'z'", "character varying(10)"),
    "enum_append": modify("ENUM('x','y')", "'y'", "ENUM('x','y','z')", "'z'", None),
    "set_append": modify("SET('x','y')", "'y,x'", "SET('x','y','z')", "'z,x'", None, shown=(
        "SELECT id, n::text[] FROM {s}.{t} ORDER BY 1", [(1, ["x", "y"]), (2, None), (3, ["x", "z"])])),
    "to_nullable": Cell("CREATE TABLE {t} (id INT PRIMARY KEY, n INT NOT NULL); INSERT INTO {t} VALUES (1, 1)",
                        ALTER + "MODIFY n INT NULL; INSERT INTO {t} VALUES (2, NULL)", types={"n": "integer"}),
    "to_not_null": Cell("CREATE TABLE {t} (id INT PRIMARY KEY, n INT); INSERT INTO {t} VALUES (1, 1)",
                        ALTER + "MODIFY n INT NOT NULL; INSERT INTO {t} VALUES (2, 2)", types={"n": "integer NOT NULL"}),
    "default_set": Cell(T, ALTER + "ALTER COLUMN a SET DEFAULT 7" + ROW, ran=["ALTER COLUMN a SET DEFAULT 7"]),
    "default_volatile": Cell(T, ALTER + "ALTER COLUMN b SET DEFAULT (LEFT(UUID(), 8))" + ROW, ran=["ALTER COLUMN b SET DEFAULT"]),
    "default_changed": Cell(T + ALTER + "ALTER COLUMN b SET DEFAULT 'was'", ALTER + "MODIFY b VARCHAR(20) DEFAULT 'is'" + ROW,
                            ran=["ALTER COLUMN b SET DEFAULT 'is'"]),
    "default_dropped": Cell(T + ALTER + "ALTER COLUMN a SET DEFAULT 3", ALTER + "MODIFY a INT" + ROW, ran=["ALTER COLUMN a DROP DEFAULT"]),
    "django": Cell(T, ALTER + "ADD COLUMN `c` varchar(10) DEFAULT 'new' NOT NULL; " + ALTER + "ALTER COLUMN `c` DROP DEFAULT;"
                   "INSERT INTO {t} (id, c) VALUES (7, 'own')", types={"c": "character varying(10) NOT NULL"},
                   ran=["ADD COLUMN c ", "ALTER COLUMN c DROP DEFAULT"]),
    "collation": Cell(T, ALTER + "MODIFY b VARCHAR(20) CHARACTER SET latin1; INSERT INTO {t} VALUES (7, 7, 'é')"),
    "convert": Cell("CREATE TABLE {t} (id INT PRIMARY KEY, s VARCHAR(20), x TEXT) CHARACTER SET latin1;"
                    "INSERT INTO {t} VALUES (1, 'é', 'ü')",
                    "INSERT INTO {t} VALUES (2, 'à', 'ö'); ALTER TABLE {t} CONVERT TO CHARACTER SET utf8mb4;"
                    "INSERT INTO {t} VALUES (3, 'é🙂', '€')"),
    # -- order
    "reorder_after": Cell(T, ALTER + "MODIFY a INT AFTER b; INSERT INTO {t} VALUES (7, 'z', 5); UPDATE {t} SET a = 4 WHERE id = 2"),
    "reorder_first": Cell(T, ALTER + "MODIFY b VARCHAR(20) FIRST; INSERT INTO {t} VALUES ('z', 7, 5); DELETE FROM {t} WHERE id = 2"),
    # -- the table
    "rename_table": Cell(T, "RENAME TABLE {t} TO {t}_2; INSERT INTO {t}_2 (id) VALUES (7)", tables=["{t}_2"], ran=["RENAME TO {t}_2"]),
    "alter_rename": Cell(T, ALTER + "RENAME TO `{t} 2`, ADD COLUMN c INT; INSERT INTO `{t} 2` (id) VALUES (7)", tables=["{t} 2"]),
    "rename_back": Cell(T, "RENAME TABLE {t} TO {t}_x; INSERT INTO {t}_x (id) VALUES (7); RENAME TABLE {t}_x TO {t};"
                        "INSERT INTO {t} (id) VALUES (8)"),
    "truncate": Cell(T, "TRUNCATE TABLE {t}" + ROW),
    "truncate_comment": Cell(T, "/* x */ TRUNCATE /*!50000 TABLE */ `{t}` /* y */" + ROW),
    "truncate_versioned": Cell(T, "/*!50000 TRUNCATE TABLE {t} */" + ROW),
    "truncate_statement": Cell(T, "SET STATEMENT max_statement_time=1000 FOR TRUNCATE {t}" + ROW, only=MARIADB),
    "truncate_elsewhere": Cell(T, "TRUNCATE TABLE {db}.{t}; INSERT INTO {db}.{t} (id) VALUES (7)", database="other"),
    "truncate_changed": Cell(T, ALTER + "ADD COLUMN c INT DEFAULT 3; TRUNCATE TABLE {t}" + ROW),
    "rebuild": Cell(T, "OPTIMIZE TABLE {t}; ANALYZE TABLE {t}; " + ALTER + "ENGINE=InnoDB; " + ALTER + "FORCE; " + ALTER +
                    "COMMENT='DROP COLUMN a', ROW_FORMAT=DYNAMIC" + ROW),
    "index": Cell(T, "CREATE INDEX i ON {t} (a); " + ALTER + "ADD INDEX j (b), RENAME INDEX i TO k; DROP INDEX j ON {t}" + ROW),
    "partitions": Cell(P, ALTER + "ADD PARTITION (PARTITION p2 VALUES LESS THAN (30)); " + ALTER + "REORGANIZE PARTITION p1 INTO"
                       " (PARTITION p1a VALUES LESS THAN (15), PARTITION p1b VALUES LESS THAN (20)); INSERT INTO {t} VALUES (21, 1), (12, 2)"),
    "partitioned": Cell(T, ALTER + "PARTITION BY HASH(id) PARTITIONS 3; " + ALTER + "REMOVE PARTITIONING" + ROW),
    "others": Cell(T, "CREATE TABLE {t}_l LIKE {t}; INSERT INTO {t}_l SELECT * FROM {t}; CREATE TABLE {t}_s AS SELECT * FROM {t};"
                   "ALTER TABLE {t}_l DROP COLUMN a; RENAME TABLE {t}_l TO {t}_m; DROP TABLE {t}_m, {t}_s" + ROW),
    "temporary": Cell(T, "CREATE TEMPORARY TABLE {t} (id INT PRIMARY KEY, z INT); INSERT INTO {t} VALUES (1, 1); " + ALTER +
                      "ADD COLUMN c INT; DROP TEMPORARY TABLE {t}" + ROW),
    "if_not_exists": Cell(T, "CREATE TABLE IF NOT EXISTS {t} (z INT); DROP TABLE IF EXISTS {t}_none" + ROW),
    "nothing": Cell(T, ALTER + "MODIFY a INT, MODIFY b VARCHAR(20)" + ROW, types={"a": "integer", "b": "character varying(20)"}),
}


def refused(marker, change, says=(), before=T, row=ROW, **kw):
    return Cell(before, change + row, marker, says, **kw)


# the first change behind a start goes by the name of the restart
REFUSE = ["SCHEMA-CHANGE-REFUSED", "RESUME-SCHEMA-DIVERGENCE"]
IDENTITY, ORDER, DOOR = "COLUMN-IDENTITY-CHANGED", "COLUMN-ORDER-CHANGED", "UNFORWARDED-SCHEMA-CHANGE"
ROWS = "SCHEMA-CHANGE-REFUSED"
TABLE = "TABLE-IDENTITY-CHANGED"
AB = "CREATE TABLE {t} (id INT PRIMARY KEY, a INT, b INT, c INT); INSERT INTO {t} VALUES (1,10,20,30);"
TWO = "CREATE TABLE u (id INT PRIMARY KEY, a INT, b VARCHAR(20)); INSERT INTO u VALUES (1,1,'u');"

REFUSED = {
    # -- columns
    "swap": refused(ORDER, ALTER + "CHANGE a b INT, CHANGE b a INT", before=AB),
    "rotation": refused(ORDER, ALTER + "RENAME COLUMN a TO b, RENAME COLUMN b TO c, RENAME COLUMN c TO a", before=AB),
    "replaced": refused(IDENTITY, ALTER + "DROP COLUMN a, ADD COLUMN a INT", [r"DROP COLUMN a;"]),
    "replaced_in_place": refused(IDENTITY, ALTER + "DROP COLUMN a, ADD COLUMN a INT AFTER id", [r"\ba\b"]),
    "renamed_and_added": refused([IDENTITY] + REFUSE, ALTER + "RENAME COLUMN a TO z, ADD COLUMN a INT"),
    "taken_over": refused([IDENTITY, ORDER] + REFUSE, ALTER + "DROP COLUMN b, RENAME COLUMN c TO b", before=AB),
    "replaced_maybe": refused(IDENTITY, ALTER + "DROP COLUMN IF EXISTS a, ADD COLUMN a INT", only=MARIADB),
    "two_types": refused(REFUSE, ALTER + "MODIFY a BIGINT, MODIFY b VARCHAR(40)", [r"\ba\b", r"\bb\b"]),
    "add_and_rename": refused(REFUSE, ALTER + "ADD COLUMN z INT, RENAME COLUMN a TO y", [r"\bz\b", r"\by\b"]),
    "to_timestamp": refused(REFUSE, ALTER + "MODIFY d TIMESTAMP NULL", [r"\bd\b"], row="; INSERT INTO {t} VALUES (7, NULL)",
                            before="CREATE TABLE {t} (id INT PRIMARY KEY, d DATETIME); INSERT INTO {t} VALUES (1, '2024-01-01 12:00')"),
    "from_timestamp": refused(REFUSE, ALTER + "MODIFY d DATETIME NULL", [r"\bd\b"], row="; INSERT INTO {t} VALUES (7, NULL)",
                              before="CREATE TABLE {t} (id INT PRIMARY KEY, d TIMESTAMP NULL); INSERT INTO {t} VALUES (1, '2024-01-01 12:00')"),
    "timestamp_to_text": refused(REFUSE, ALTER + "MODIFY d VARCHAR(30)", [r"\bd\b"], row="; INSERT INTO {t} VALUES (7, NULL)",
                                 before="CREATE TABLE {t} (id INT PRIMARY KEY, d TIMESTAMP NULL); INSERT INTO {t} VALUES (1, '2024-01-01 12:00')"),
    "enum_reordered": refused(REFUSE, ALTER + "MODIFY n ENUM('y','x')", [r"\bn\b"], N % ("ENUM('x','y')", "'y'")),
    "enum_label_gone": refused(REFUSE, ALTER + "MODIFY n ENUM('y')", [r"\bn\b"], N % ("ENUM('x','y')", "'y'")),
    "enum_between": refused(REFUSE, ALTER + "MODIFY n ENUM('x','z','y')", [r"\bn\b"], N % ("ENUM('x','y')", "'y'")),
    "set_reordered": refused(REFUSE, ALTER + "MODIFY n SET('y','x')", [r"\bn\b"], N % ("SET('x','y')", "'y'")),
    "key_retyped": refused(REFUSE, ALTER + "MODIFY id VARCHAR(20)", [r"\bid\b"], row="; INSERT INTO {t} (id) VALUES ('z')"),
    "no_key_to_copy_by": refused(REFUSE, ALTER + "MODIFY a DECIMAL(10,2)", [r"primary key"], row="; INSERT INTO {t} VALUES (7, 7)",
                                 before="CREATE TABLE {t} (id INT NOT NULL UNIQUE, a DECIMAL(10,4)); INSERT INTO {t} VALUES (1, 1.2345)"),
    "default_now": refused(REFUSE, ALTER + "ADD COLUMN c TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP", [r"\bc\b", "volatile_defaults"]),
    "default_on_update": refused(REFUSE, ALTER + "ADD COLUMN c DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3)",
                                 [r"\bc\b"]),
    # MySQL does not add such columns while it logs
    "default_uuid": refused(REFUSE, ALTER + "ADD COLUMN c VARCHAR(36) DEFAULT (UUID())", [r"\bc\b"], only=MARIADB),
    "default_rand": refused(REFUSE, ALTER + "ADD COLUMN c DOUBLE DEFAULT (RAND() + 1)", [r"\bc\b"], only=MARIADB),
    # MySQL's catalog does not tell all of these
    "default_bytes": refused(REFUSE, ALTER + "ADD COLUMN c VARBINARY(9) DEFAULT x'00ff27'", [r"\bc\b"], only=MYSQL),
    "default_instant": refused(REFUSE, ALTER + "ADD COLUMN c TIMESTAMP NOT NULL DEFAULT '2024-02-29 12:00:00'", [r"\bc\b"], only=MYSQL),
    "auto_increment": refused(REFUSE, ALTER + "ADD COLUMN c INT NOT NULL AUTO_INCREMENT UNIQUE", [r"\bc\b"]),
    # -- the table
    "dropped": refused(TABLE, "DROP TABLE {t}", row="", says=[ANEW], before=T + TWO),
    "made_again": refused(TABLE, "DROP TABLE {t}; CREATE TABLE {t} (id INT PRIMARY KEY, a INT, b VARCHAR(20))"),
    "replaced_table": refused(TABLE, "CREATE OR REPLACE TABLE {t} (id INT PRIMARY KEY, a INT, b VARCHAR(20))", only=MARIADB),
    "swapped": refused(TABLE, "RENAME TABLE {t} TO x, u TO {t}, x TO u", before=T + TWO),
    "taken_by_other": refused(TABLE, "CREATE TABLE n LIKE {t}; RENAME TABLE {t} TO gone, n TO {t}"),
    "database_dropped": refused(TABLE, "DROP DATABASE {db}; CREATE DATABASE {db}", row=""),
    "partition_truncated": refused(ROWS, ALTER + "TRUNCATE PARTITION p0", [ANEW], P),
    "partition_dropped": refused(ROWS, ALTER + "DROP PARTITION p1", [ANEW], P),
    "partition_exchanged": refused(ROWS, ALTER + "EXCHANGE PARTITION p0 WITH TABLE e", [ANEW],
                                   P + "CREATE TABLE e (id INT PRIMARY KEY, v INT); INSERT INTO e VALUES (3, 3)"),
    "partition_made_table": refused(ROWS, ALTER + "CONVERT PARTITION p0 TO TABLE pt", [ANEW], P, only=MARIADB,
                                    row="; INSERT INTO {t} (id) VALUES (17)"),
    "ignore": refused(ROWS, "ALTER IGNORE TABLE {t} ADD UNIQUE (a)", [ANEW], only=MARIADB),
    # -- the door
    "unique": refused(DOOR, ALTER + "ADD UNIQUE KEY u (a)", ["UNIQUE"]),
    "unique_gone": refused(DOOR, "DROP INDEX u ON {t}", before=T + ALTER + "ADD UNIQUE KEY u (a)"),
    "foreign_key": refused(DOOR, ALTER + "ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES p (id)", ["FOREIGN KEY"],
                           "CREATE TABLE p (id INT PRIMARY KEY); INSERT INTO p VALUES (1);" + T),
    "check": refused(DOOR, ALTER + "ADD CONSTRAINT ck CHECK (a > -5)", ["ck"]),
    "default_unknown": refused(DOOR, ALTER + "ALTER COLUMN b SET DEFAULT (SOUNDEX('abc'))", [r"\bb\b"]),
    "generated": refused(DOOR, ALTER + "ADD COLUMN g INT AS (a * 2) STORED", [r"\bg\b"]),
    "primary_key": refused(DOOR, ALTER + "DROP PRIMARY KEY, ADD PRIMARY KEY (id, c)", before="CREATE TABLE {t} (id INT PRIMARY KEY,"
                           " c INT NOT NULL); INSERT INTO {t} VALUES (1, 1)", row="; INSERT INTO {t} VALUES (7, 7)"),
}
# what is made on the target as the refusal says, and goes on then; or is accepted, or copied again
MENDED = ["swap", "replaced", "rotation", "unique", "unique_gone", "foreign_key", "primary_key"]
ACCEPTED = ["check"]
# said once: a start is taken for the answer that the column was compared
ONCE = ["enum_reordered", "enum_label_gone", "set_reordered"]
COPIED = ["partition_truncated", "made_again"]


class Worlds:
    """All cells of each kind of server: carried(kind), refused(kind)."""

    def __init__(self):
        self.ground = Ground("ddl")
        self.made = {}

    def of(self, kind, make):
        if (kind, make) not in self.made:
            self.made[kind, make] = None        # what could not be made is not tried for each test
            self.made[kind, make] = make(kind)
        assert self.made[kind, make], "the first test of this server has failed to make it"
        return self.made[kind, make]

    def carried(self, kind):
        return self.of(kind, self.carry)

    def carry(self, kind):
        """All that is carried, in one stream: what stops it stops those behind it."""
        cells = place_shared(self.ground, kind, of_kind(kind, CARRIED))
        for placed in cells.values():
            placed.run(placed.cell.change)
        for placed in cells.values():
            placed.health = settled(placed.stream)
        return cells

    def refused(self, kind):
        return self.of(kind, self.refuse)

    def refuse(self, kind):
        cells = place_all(self.ground, kind, of_kind(kind, REFUSED))
        for placed in cells.values():
            placed.change()
        for placed in cells.values():
            placed.health = settled(placed.stream)
            placed.then = placed.rows()
        # a start of everything finds the same
        self.ground.bridge.stop()
        self.ground.bridge.start()
        for placed in cells.values():
            restart(placed.stream)
        return cells


@pytest.fixture(scope="module")
def worlds():
    all_of_them = Worlds()
    yield all_of_them
    all_of_them.ground.destroy()


def on_each(cells):
    return pytest.mark.parametrize("world, name", [
        pytest.param(kind, name, id="%s-%s" % (kind, name), marks=[pytest.mark.long] if kind == KINDS[0] else [])
        for kind in KINDS for name in of_kind(kind, cells)])


@on_each(CARRIED)
def test_carried(worlds, world, name):
    placed = worlds.carried(world)[name]
    assert placed.health["state"] == "streaming", placed.health
    placed.assert_carried()


@on_each(REFUSED)
def test_refused(worlds, world, name):
    placed = worlds.refused(world)[name]
    assert placed.then == placed.held
    placed.assert_refused(placed.health, name in ONCE)
    if name in ONCE:
        placed.stream.caught_up()
        return
    again = placed.stream.wait_state("refused", "failed")
    if name == "database_dropped":          # nothing is left to be followed
        assert again["marker"] == "PREFLIGHT-FAILED" and placed.rows() == placed.held, again
        return
    placed.assert_refused(again)
    assert again["fingerprint"] == placed.health["fingerprint"]
    if name in MENDED:
        placed.mend()
    elif name in ACCEPTED:
        placed.accept()
    elif name in COPIED:
        placed.copy_anew()
    else:
        return
    placed.stream.caught_up()
    placed.assert_same()


def decided(placed, decision):
    return [ddl for what, ddl in placed.events() if what == decision]


@pytest.mark.parametrize("world", [pytest.param(k, marks=[pytest.mark.long] if k == KINDS[0] else []) for k in KINDS])
def test_what_passes_is_on_record(worlds, world):
    """An index with its statement; an order that is another one now."""
    carried = worlds.carried(world)
    assert any("CREATE INDEX" in (ddl or "") for ddl in decided(carried["index"], "warned"))
    for name in ("reorder_after", "reorder_first"):
        assert carried[name].stream.dst.value(
            "SELECT count(*) FROM sluice.schema_events WHERE table_name = %s AND decision = 'passed'", "t_" + name) > 0
