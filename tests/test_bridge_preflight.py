"""Tables and values that cannot be copied or followed: each check fails, and passes once its cure is done."""
import collections
import copy
import json
import os
import re
import shutil

import pytest

from lib import MySqlServer, make_bridged_stream, wait_until
from lib.bridge import login_of, probe, run_bridge
from lib.bridgerun import begin_here

KINDS = ["mariadb10.11", "mariadb11.8", "mysql"]
ADVICE = {"time_zones", "sql_mode", "xa_prepared"}      # what a new server leaves to be advised

Finding = collections.namedtuple("Finding", "verdict check detail fix")


def findings(db, *argv):
    """What fails or advises in this database, beside ADVICE."""
    done = probe(login_of(db.server, dbname=db.name), "--check", *argv)
    assert done.returncode in (0, 1) and not done.stderr, done.stderr
    out = []
    for line in done.stdout.splitlines():
        verdict, *rest = line.split("\t")
        if verdict == "":
            out[-1] = out[-1]._replace(fix=rest[0])
        else:
            out.append(Finding(verdict, rest[0], rest[1], None))
    assert (done.returncode == 1) == any(f.verdict == "not ok" for f in out)
    assert all((f.fix is None) == (f.verdict == "ok") for f in out), done.stdout
    return [f for f in out if f.verdict != "ok" and f.check not in ADVICE]


def one(db, check, verdict="not ok", *argv):
    """The only finding, which is of that check."""
    found = findings(db, *argv)
    assert [(f.verdict, f.check) for f in found] == [(verdict, check)], found
    return found[0]


@pytest.fixture
def db(my_db):
    """A database on each kind of server, whose foreign keys the login may see."""
    my_db.server.execute("GRANT REFERENCES ON *.* TO repl@'%'")
    return my_db


def test_nothing_to_say(db):
    db.execute("CREATE TABLE t (id int PRIMARY KEY, b tinyint(1), d date, n varchar(20), k time, "
                  "e enum('a','b')); INSERT INTO t VALUES (1, 1, '2024-02-29', 'x', '838:59:59', 'b'), "
                  "(2, NULL, NULL, NULL, NULL, NULL), (3, 0, '1000-01-01', '', '-01:00:00', 'a')")
    assert findings(db) == [] and findings(db, "--values") == []


def test_no_tables(db):
    assert "no table is in scope" in one(db, "tables").detail
    db.execute("CREATE TABLE t (id int PRIMARY KEY)")
    assert findings(db) == []


@pytest.mark.parametrize("engine", ["MyISAM", "MEMORY", "Aria", "CSV", "ARCHIVE", "BLACKHOLE"])
def test_engine(db, engine):
    if engine not in [r[0] for r in db.query("SHOW ENGINES") if r[1] in ("YES", "DEFAULT")]:
        assert engine == "Aria" or db.server.is_mariadb      # MySQL has all the others
        return
    db.execute("CREATE TABLE good (id int PRIMARY KEY); CREATE TABLE t (id int NOT NULL) ENGINE = %s" % engine)
    found = [f for f in findings(db) if f.check == "engine"]
    assert len(found) == 1 and found[0].verdict == "not ok" and ".`t` has engine " in found[0].detail
    assert ("no transactions" in found[0].detail) == (engine != "BLACKHOLE")
    db.execute(found[0].fix)
    assert "engine" not in [f.check for f in findings(db)]


def test_key(db):
    """Without one equal rows cannot be told apart; a prefix or a column that may be NULL makes none."""
    db.execute("CREATE TABLE t (a int, b int NOT NULL, u int NOT NULL, c varchar(20) NOT NULL, UNIQUE (a, b), "
                  "UNIQUE (c(5)))")
    found = one(db, "table_key", "not ok")
    db.execute("ALTER TABLE t ADD UNIQUE (u)")
    assert findings(db) == []
    db.execute("ALTER TABLE t DROP INDEX u")
    db.execute(found.fix.partition(" -- ")[0])
    assert findings(db) == []


def test_names(db):
    """PostgreSQL keeps 63 bytes of a name, MySQL 64 characters; a character may have four bytes."""
    long, wide = "t" * 64, "表名" * 11      # 64 characters; 66 bytes
    one_, two = "c" * 63 + "1", "c" * 63 + "2"
    db.execute("CREATE TABLE `%s` (id int PRIMARY KEY, `%s` int, `%s` int, `%s` int, xmin int)"
                  % (long, one_, two, wide))
    found = [f for f in findings(db)]
    assert [f.check for f in found] == ["name"] * 5
    text = "\n".join(f.detail for f in found)
    assert "64 bytes, PostgreSQL keeps 63, the same as of column `%s`" % two in text
    assert "column `%s` has 66 bytes" % wide in text and "`xmin`: PostgreSQL has a system column" in text
    for i, f in enumerate(found[::-1]):
        assert f.fix.endswith(" TO ...")
        db.execute(f.fix.partition(": ")[2].replace("...", "n%d" % i if "COLUMN" in f.fix else db.name + ".short"))
    assert findings(db) == []
    db.execute("CREATE TABLE `%s` (id int PRIMARY KEY, `%s` int)" % ("t" * 63, "表" * 21))     # 63 bytes
    assert findings(db) == []


def test_types(db):
    db.execute("CREATE TABLE t (id int PRIMARY KEY, c char(0))")
    found = one(db, "column_type")
    assert "column `c` of type char(0)" in found.detail and "override" in found.detail


def test_versioning(db):
    """A row that was deleted is an update in the log."""
    if not db.server.is_mariadb:
        assert "syntax" in str(db.error("CREATE TABLE t (id int PRIMARY KEY) WITH SYSTEM VERSIONING"))
        return
    db.execute("CREATE TABLE t (id int PRIMARY KEY) WITH SYSTEM VERSIONING; CREATE SEQUENCE s")
    db.execute(one(db, "system_versioning").fix.partition(" -- ")[0])
    assert findings(db) == []


def test_invisible_columns(db):
    db.execute("CREATE TABLE t (id int PRIMARY KEY, c int INVISIBLE)")
    done = probe(login_of(db.server, dbname=db.name), "--check")
    assert re.search(r"(?m)^ok\tinvisible_column\t.*`c` is invisible", done.stdout)


def test_generated_columns(db):
    """Each is named, with what becomes of it.  MariaDB 11.8 leaves them out of the log's updates."""
    db.execute("CREATE TABLE t (id int PRIMARY KEY, a int, c bigint AS (a + 1) STORED, d varchar(40) AS (soundex(a)))")
    out = probe(login_of(db.server, dbname=db.name), "--check").stdout
    assert re.search(r"(?m)^ok\tgenerated_column\t.*`c` is generated there: the target computes it", out), out
    if db.server.kind == "mariadb11.8":
        assert "leaves it out of updates" in one(db, "generated_column", "not ok").detail
        db.execute(one(db, "generated_column").fix.partition(" -- ")[0])
        assert findings(db) == []
    else:
        assert re.search(r"(?m)^ok\tgenerated_column\t.*`d` is generated there: a plain column on the target", out), out


# what is wrong, the column's type, a value that is, one that is not, what the cure's statement must not find any more
VALUES = [
    ("zero_dates", "date", "'0000-00-00'", "'0001-01-01'"),
    ("zero_dates", "date", "'2021-00-10'", "'9999-12-31'"),
    ("zero_dates", "datetime", "'2021-05-00 10:00:00'", "'2021-05-01 00:00:00'"),
    ("zero_dates", "datetime(6)", "'0000-05-05 00:00:00'", "'1000-01-01 00:00:00.000001'"),
    ("zero_dates", "timestamp NULL", "'0000-00-00 00:00:00'", "'1970-01-02 00:00:01'"),
    ("invalid_dates", "date", "'2021-02-31'", "'2020-02-29'"),
    ("invalid_dates", "datetime", "'1900-02-29 00:00:00'", "'2000-02-29 23:59:59'"),
    ("boolean_range", "tinyint(1)", "-1", "1"),
    ("boolean_range", "tinyint(1)", "2", "0"),
    ("integer_range", "bigint unsigned NOT NULL AUTO_INCREMENT UNIQUE", "9223372036854775808", "9223372036854775807"),
    ("enum_label", "enum('a','b')", "'c'", "'b'"),
    ("zero_byte", "varchar(20)", "'a\\0b'", "'aOb'"),
    ("zero_byte", "char(20) CHARACTER SET latin1 COLLATE latin1_bin", "'\\0'", "' '"),
    ("zero_byte", "varchar(20) CHARACTER SET ucs2", "_ucs2 X'004100000042'", "_ucs2 X'01000100'"),
]


@pytest.mark.parametrize("check,kind,bad,good", VALUES)
def test_values(db, check, kind, bad, good):
    """A value that the target cannot hold is counted by its column; without it, and by default, nothing is said."""
    setup = "SET SESSION sql_mode = 'ALLOW_INVALID_DATES'; "
    db.execute(setup + "CREATE TABLE `t\"` (id int PRIMARY KEY, `c'` %s); "
                  "INSERT INTO `t\"` VALUES (1, %s)" % (kind, good))
    assert findings(db, "--values") == []
    db.execute(setup + "INSERT INTO `t\"` VALUES (2, %s)" % bad)
    assert findings(db) == []
    found = one(db, check, "not ok", "--values")
    assert found.detail.startswith("`%s`.`t\"`, column `c'`: " % db.name) and found.detail.endswith(" (rows: 1)")
    query = found.fix.partition(": ")[2]
    assert [row[0] for row in db.execute(setup + query)] == [2]
    db.execute(setup + query.replace("SELECT *", "DELETE"))
    assert findings(db, "--values") == []


def test_zero_dates_that_become_null(db):
    """By policy they are no fault, but where NULL may not be."""
    db.execute("SET SESSION sql_mode = ''; CREATE TABLE t (id int PRIMARY KEY, a date, b datetime NOT NULL); "
               "INSERT INTO t VALUES (1, 0, '2024-01-01'), (2, '2024-01-00', '2024-01-01')")
    assert one(db, "zero_dates", "not ok", "--values").detail.endswith("(rows: 2)")
    assert findings(db, "--values", "--zero-dates", "null") == []
    db.execute("SET SESSION sql_mode = ''; INSERT INTO t VALUES (3, NULL, 0)")
    assert "column `b`: " in one(db, "zero_dates", "not ok", "--values", "--zero-dates", "null").detail


OVERRIDES = [   # the column's type, what it is to become, values that do not fit and that do, the check
    ("tinyint(1)", "smallint", [], ["5", "-128", "127"], None),
    ("date", "text", [], ["'0000-00-00'", "'2024-01-00'"], None),
    ("time(3)", "time(3)", ["'-00:00:00.001'", "'24:00:00'"], ["'00:00:00'", "'23:59:59.999'"], "time_range"),
    ("int", "smallint", ["32768", "-32769"], ["32767", "-32768"], "integer_range"),
    ("int unsigned", "integer", ["2147483648"], ["2147483647"], "integer_range"),
    ("bigint unsigned", "bigint", ["9223372036854775808"], ["9223372036854775807"], "integer_range"),
    ("int", "boolean", ["2", "-1"], ["0", "1"], "boolean_range"),
    ("enum('a','b')", "text", [], ["'c'", "'a'"], None),
    ("varchar(9)", "bytea", [], ["'a\\0b'"], None),
]


@pytest.mark.parametrize("kind,target,bad,good,check", OVERRIDES)
def test_values_of_overrides(db, kind, target, bad, good, check):
    args = ("--values", "--override", "t.c=" + target)
    db.execute("SET SESSION sql_mode = ''; CREATE TABLE t (id int AUTO_INCREMENT PRIMARY KEY, c %s); "
               "INSERT INTO t (c) VALUES (%s)" % (kind, "), (".join(good)))
    assert findings(db, *args) == []
    if bad:
        db.execute("INSERT INTO t (c) VALUES (%s)" % "), (".join(bad))
        assert one(db, check, "not ok", *args).detail.endswith(" (rows: %d)" % len(bad))


def test_all_at_once(db):
    """Every table and column that fails is named in one run."""
    db.execute("SET SESSION sql_mode = ''; CREATE TABLE a (id int PRIMARY KEY, d date, e date, b tinyint(1)); "
                  "INSERT INTO a VALUES (1, 0, 0, 5); CREATE TABLE b (id int PRIMARY KEY, d date NOT NULL, c char(0)) "
                  "ENGINE = MyISAM; INSERT INTO b VALUES (1, 0, ''), (2, 0, '')")
    assert [(f.check, re.search(r"`(\w)`[^`]*$", f.detail.split(":")[0]).group(1)) for f in
            findings(db, "--values")] == [
        ("engine", "b"), ("column_type", "c"), ("zero_dates", "d"), ("zero_dates", "e"), ("boolean_range", "b"),
        ("zero_dates", "d")]


def test_a_table_that_takes_too_long(db):
    """It is left to the copy; others are read."""
    db.execute("CREATE TABLE t (id int PRIMARY KEY, d date); SET SESSION sql_mode = ''; "
                  "CREATE TABLE u (id int PRIMARY KEY, d date); INSERT INTO u VALUES (1, 0)")
    conn = db.connect()
    with conn.cursor() as cur:
        cur.execute("LOCK TABLES t WRITE")
        found = findings(db, "--values=1")
    conn.close()
    assert [(f.verdict, f.check) for f in found] == [("advice", "values"), ("not ok", "zero_dates")]
    assert "`t` was not read to its end in 1 s" in found[0].detail


def test_a_table_that_may_not_be_read(db):
    server = db.server
    db.execute("CREATE TABLE t (id int PRIMARY KEY, d date)")
    server.create_user("narrow", "pw", grants=["SELECT (id), REFERENCES ON `%s`.t" % db.name,
                                               "REPLICATION SLAVE, REPLICATION CLIENT ON *.*"])
    try:
        done = probe(login_of(server, user="narrow", password="pw", dbname=db.name), "--check", "--values")
        assert done.returncode == 1 and "not ok\tgrant_select" in done.stdout
    finally:
        server.execute("DROP USER narrow@'%'")


# -- foreign keys -----------------------------------------------------------

FAMILY = ("CREATE TABLE p (id int PRIMARY KEY, v int); "
          "CREATE TABLE c (id int PRIMARY KEY, a int, "
          "CONSTRAINT `a``k` FOREIGN KEY (a) REFERENCES p (id) ON DELETE CASCADE ON UPDATE CASCADE); "
          "CREATE TABLE g (id int PRIMARY KEY, c int, CONSTRAINT gk FOREIGN KEY (c) REFERENCES c (id) "
          "ON DELETE CASCADE); "
          "CREATE TABLE n (id int PRIMARY KEY, a int, CONSTRAINT nk FOREIGN KEY (a) REFERENCES p (id) "
          "ON UPDATE SET NULL ON DELETE SET NULL); "
          "INSERT INTO p VALUES (1, 1), (2, 2), (3, 3); INSERT INTO c VALUES (1, 1), (2, 2), (3, 3); "
          "INSERT INTO g VALUES (1, 1), (2, 2); INSERT INTO n VALUES (1, 1), (2, 2), (3, 3)")


def logged_rows(server, db):
    """Rows of the tables as the last file of the log has them changed, by table."""
    done = run_bridge("decode", server.log_files()[-1])
    assert done.returncode == 0, done.stderr
    return set(re.findall(r"(?:insert|update|delete) %s\.(\w+) " % db, done.stdout))


@pytest.fixture(scope="module", params=KINDS + ["mysql native"])
def family(request):
    """A server of each kind, and MySQL with foreign keys of old."""
    kind, _, native = request.param.partition(" ")
    server = MySqlServer(kind, conf={"innodb_native_foreign_keys": "ON"} if native else None).start()
    server.execute("GRANT REFERENCES ON *.* TO repl@'%'")
    server.logs_cascades = request.param == "mysql"
    yield server
    server.destroy()


def test_cascades_in_the_log(family):
    """The check says what the log has: rows that a foreign key changed, or none of them."""
    db = family.fresh_db("cascades")
    db.execute(FAMILY)
    family.flush_logs()
    db.execute("UPDATE p SET id = 10 WHERE id = 1; DELETE FROM p WHERE id = 2")
    assert db.query("SELECT id, a FROM c UNION ALL SELECT id + 10, c FROM g UNION ALL SELECT id + 20, a FROM n "
                    "ORDER BY 1") == [(1, 10), (3, 3), (11, 1), (21, None), (22, None), (23, 3)]
    assert logged_rows(family, db.name) == ({"p", "c", "g", "n"} if family.logs_cascades else {"p"})
    found = findings(db)
    if family.logs_cascades:
        assert found == []
        return
    assert [(f.verdict, f.check) for f in found] == [("not ok", "foreign_key_cascade")] * 3
    if family.is_mariadb:
        for f in found:
            db.execute(f.fix.partition(" -- ")[0])
        assert db.error("DELETE FROM p WHERE id = 10").args[0] == 1451
    else:
        assert {f.fix for f in found} == {"-- in the server's option file, then restart it: "
                                          "innodb_native_foreign_keys = OFF"}
        family.restart(innodb_native_foreign_keys="OFF")
    assert findings(db) == []


def test_foreign_keys_that_change_nothing(family):
    db = family.fresh_db("restricts")
    db.execute("CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE c (id int PRIMARY KEY, a int, b int, "
               "FOREIGN KEY (a) REFERENCES p (id), FOREIGN KEY (b) REFERENCES p (id) ON DELETE RESTRICT "
               "ON UPDATE NO ACTION)")
    assert findings(db) == []


def test_foreign_keys_may_not_be_seen(make_mysql):
    server = make_mysql("mariadb11.8")
    db = server.fresh_db("blind")
    db.execute(FAMILY)
    found = one(db, "catalog")
    assert "foreign keys" in found.detail
    server.execute(found.fix)
    assert {f.check for f in findings(db)} == {"foreign_key_cascade"}


# -- a stream ---------------------------------------------------------------

def test_a_stream_is_refused_with_all_of_it(db, dst, make_bridge):
    """One refusal names every object, nothing was copied, and what it says cures it."""
    db.execute("SET SESSION sql_mode = ''; CREATE TABLE a (id int PRIMARY KEY, d date, b tinyint(1)); "
               "INSERT INTO a VALUES (1, 0, 5); CREATE TABLE b (id int PRIMARY KEY) ENGINE = MyISAM")
    stream = make_bridged_stream(db, dst)
    make_bridge(dst)
    health = stream.wait_refused("PREFLIGHT-FAILED")
    assert "3 checks of the source failed" in health["reason"]
    refusal = stream.refusals()[-1]["detail"]
    for line in ("engine: `%s`.`b` has engine MyISAM" % db.name, "zero_dates: `%s`.`a`, column `d`" % db.name,
                 "boolean_range: `%s`.`a`, column `b`" % db.name):
        assert line in refusal, refusal
    assert dst.value("SELECT count(*) FROM pg_class WHERE relname IN ('a', 'b')") == 0
    statements = [row["statement"] for row in dst.rows("SELECT * FROM sluice.remedies('s1')")]
    assert any(s.startswith("ALTER TABLE `%s`.`b` ENGINE = InnoDB" % db.name) for s in statements), statements
    # one left: it is the only one that is named then
    db.execute("ALTER TABLE b ENGINE = InnoDB; UPDATE a SET b = 1")
    stream.start()
    wait_until(lambda: (stream.health()["reason"] or "").startswith("PREFLIGHT-FAILED: 1 check of"), 60, stream.health)
    assert "zero_dates: " in stream.refusals()[-1]["detail"]
    assert "engine: " not in stream.refusals()[-1]["detail"]


def test_two_tables_that_become_one(db, dst, make_bridge):
    """Of two databases, in one schema: both are named."""
    other = db.server.fresh_db("twin")
    for one_ in (db, other):
        one_.execute("CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE only_%s (id int PRIMARY KEY)" % one_.name)
    stream = make_bridged_stream(db, dst, options={"schema_map": {db.name: "both", other.name: "both"}})
    make_bridge(dst)
    stream.wait_refused("PREFLIGHT-FAILED")
    detail = stream.refusals()[-1]["detail"]
    assert re.search(r'name_collision: `\w+`\.`t` and `\w+`\.`t` are both to become table "t" of schema "both"', detail), detail
    assert "only_" not in detail
    other.execute("DROP TABLE t")
    stream.start()
    stream.wait("streaming")
    assert dst.value("SELECT count(*) FROM pg_class WHERE relnamespace = 'both'::regnamespace AND relkind = 'r'") == 3


@pytest.mark.long
def test_settings_that_change_while_a_stream_runs(make_mysql, dst, make_bridge):
    """The target tells what fails by now, whether it is going to stop the stream, and when that is over."""
    server = make_mysql("mysql")
    db = server.fresh_db("watched")
    db.execute("CREATE TABLE t (id int PRIMARY KEY)")
    stream = make_bridged_stream(db, dst)
    make_bridge(dst)
    stream.caught_up()
    told = lambda: dict(dst.query("SELECT name, urgent FROM sluice.source_warnings WHERE stream_id = 's1'"))   # noqa: E731
    # the first look, up to a minute after the start, only remembers
    wait_until(lambda: stream.health()["lag"] is not None, 30, stream.health)
    before = dst.value("SELECT clock_timestamp()")
    wait_until(lambda: dst.value("SELECT clock_timestamp() - %s > interval '65 s'", before), 120, "a look at the server")
    assert told() == {} and stream.health()["healthy"]
    server.execute("SET GLOBAL binlog_row_image = 'MINIMAL'; SET GLOBAL binlog_expire_logs_seconds = 3600")
    wait_until(lambda: len(told()) == 2, 120, told)
    assert told() == {"binlog_row_image": True, "retention": False}
    health = stream.health()
    assert not health["healthy"] and health["state"] == "streaming"
    assert 'check "binlog_row_image" of the source fails now' in health["reason"] and "retention" not in health["reason"]
    assert "SET PERSIST binlog_row_image = 'FULL'" in health["hint"]
    server.execute("SET GLOBAL binlog_row_image = 'FULL'; SET GLOBAL binlog_expire_logs_seconds = 604800")
    wait_until(lambda: told() == {}, 120, told)
    assert stream.health()["healthy"] and stream.health()["reason"] is None


@pytest.mark.long
def test_a_log_that_is_encrypted_on_disk(dst, make_bridge):
    """MySQL decrypts what it sends; its files say nothing to anybody else."""
    server = MySqlServer("mysql")
    try:
        encrypt(server)
        server.execute("GRANT REFERENCES ON *.* TO repl@'%'")
        db = server.fresh_db("secret")
        db.execute("CREATE TABLE t (id int PRIMARY KEY, v varchar(20))")
        out = probe(login_of(server, dbname=db.name), "--check").stdout
        assert "ok\tlog_encryption\tthe log's files are encrypted" in out
        stream = make_bridged_stream(db, dst)
        make_bridge(dst)
        stream.wait("streaming")
        db.execute("INSERT INTO t VALUES (1, 'in the open')")
        stream.caught_up()
        assert dst.query("SELECT * FROM t") == [(1, "in the open")]
        with open(server.log_files()[-1], "rb") as f:
            data = f.read()
        assert data.startswith(b"\xfdbin") and b"in the open" not in data
        done = run_bridge("decode", server.log_files()[-1])
        assert done.returncode == 1 and "the file is encrypted" in done.stderr
    finally:
        server.destroy()


def encrypt(server):
    """Start a MySQL whose log is encrypted, by a key in a file.  What the program needs for it stands beside it: so it has
    a copy of the program, and its plugins, of its own."""
    tree = os.path.join(server.tree.where, "root")
    shutil.copy(os.path.join(tree, "usr/sbin/mysqld"), server.base)
    plugins = os.path.join(server.base, "plugins")
    os.mkdir(plugins)
    shutil.copy(os.path.join(tree, "usr/lib/mysql/plugin/component_keyring_file.so"), plugins)
    for path, content in (("mysqld.my", {"components": "file://component_keyring_file"}),
                          ("plugins/component_keyring_file.cnf",
                           {"path": server.inside(os.path.join(server.data, "keys")), "read_only": False})):
        with open(os.path.join(server.base, path), "w") as f:
            json.dump(content, f)
    # the program's folder may not be anybody's to write
    os.chmod(os.path.join(server.base, "mysqld.my"), 0o644)
    server.tree = copy.copy(server.tree)
    server.tree.program = server.inside(os.path.join(server.base, "mysqld"))
    server.start(plugin_dir=server.inside(plugins), binlog_encryption="ON")


def test_values_may_be_left_to_the_copy(db, dst, make_bridge):
    """With check_values off no table is read before the copy."""
    db.execute("SET SESSION sql_mode = ''; CREATE TABLE a (id int PRIMARY KEY, d date); INSERT INTO a VALUES (1, 0); "
               "CREATE TABLE b (id int PRIMARY KEY) ENGINE = MyISAM")
    stream = make_bridged_stream(db, dst, options={"check_values": False})
    make_bridge(dst)
    stream.wait_refused("PREFLIGHT-FAILED")
    assert "zero_dates" not in stream.refusals()[-1]["detail"]


def followed(db, dst, tables, **args):
    """A stream of these tables, {name: columns on the target}, which have the same rows on both sides."""
    for name, columns in tables.items():
        dst.execute("CREATE TABLE %s (%s)" % (name, columns))
        for row in db.query("SELECT * FROM %s" % name):
            dst.execute("INSERT INTO %s VALUES (%s)" % (name, ", ".join(map(str, row))))
    stream = make_bridged_stream(db, dst, **args)
    begin_here(stream)
    return stream


FAMILY_HERE = {"p": "id int PRIMARY KEY, v int", "c": "id int PRIMARY KEY, a int", "g": "id int PRIMARY KEY, c int",
               "n": "id int PRIMARY KEY, a int"}
ROWS = "SELECT 'p', id, v FROM p UNION ALL SELECT 'c', id, a FROM c UNION ALL SELECT 'g', id, c FROM g " \
    "UNION ALL SELECT 'n', id, a FROM n ORDER BY 1, 2"


def test_advice_is_logged(db, dst, make_bridge):
    db.execute("CREATE TABLE a (v int); INSERT INTO a VALUES (1), (1)")
    stream = followed(db, dst, {"a": "v int"}, options={"accept_keyless": ["a"]})
    bridge = make_bridge(dst)
    db.execute("DELETE FROM a LIMIT 1; INSERT INTO a VALUES (2)")
    stream.caught_up()
    assert re.search(r'advice of check "table_key": `%s`\.`a` has no key' % db.name, bridge.log_text())
    assert sorted(dst.query("SELECT v FROM a")) == [(1,), (2,)]


def test_a_stream_with_cascades(family, dst, make_bridge):
    """Logged, they arrive; not logged, the stream refuses, or does without where that was accepted."""
    if not (family.logs_cascades or family.is_mariadb):
        family.restart(innodb_native_foreign_keys="ON")
    db = family.fresh_db("followed")
    db.execute(FAMILY)
    stream = followed(db, dst, FAMILY_HERE)
    bridge = make_bridge(dst)
    change = "UPDATE p SET id = 10 WHERE id = 1; DELETE FROM p WHERE id = 2"
    if family.logs_cascades:
        stream.caught_up()
        db.execute(change)
        stream.caught_up()
        assert dst.query(ROWS) == list(db.query(ROWS)) and len(dst.query(ROWS)) == 8
        return
    stream.wait_refused("PREFLIGHT-FAILED")
    assert stream.refusals()[-1]["detail"].count("foreign_key_cascade: ") == 3
    stream.start(options={"accept_cascades": ["c", "g", "%s.n" % db.name]})
    stream.caught_up()
    assert len(re.findall('advice of check "foreign_key_cascade"', bridge.log_text())) == 3
    db.execute(change + "; INSERT INTO c VALUES (9, 3)")
    stream.caught_up()
    assert dst.query(ROWS) == [("c", 1, 1), ("c", 2, 2), ("c", 3, 3), ("c", 9, 3), ("g", 1, 1), ("g", 2, 2),
                               ("n", 1, 1), ("n", 2, 2), ("n", 3, 3), ("p", 3, 3), ("p", 10, 1)]


def test_cascades_of_a_server_that_was_set_back(dst, make_mysql, make_bridge):
    """MySQL did them below its log while no bridge was there: the stream stops at the first."""
    server = make_mysql("mysql")
    db = server.fresh_db("set_back")
    db.execute(FAMILY)
    stream = followed(db, dst, FAMILY_HERE)
    server.restart(innodb_native_foreign_keys="ON")
    db.execute("INSERT INTO p VALUES (7, 7); UPDATE p SET v = 8 WHERE id = 7; SET foreign_key_checks = 0; "
               "DELETE FROM p WHERE id = 7")
    db.execute("DELETE FROM p WHERE id = 3; INSERT INTO p VALUES (4, 4)")
    server.restart(innodb_native_foreign_keys="OFF")
    make_bridge(dst)
    health = stream.wait_refused("PREFLIGHT-FAILED")
    assert 'may have been changed by foreign key "a`k"' in health["reason"]
    assert dst.query("SELECT id, v FROM p ORDER BY id") == [(1, 1), (2, 2), (3, 3)]
    stream.start(options={"accept_cascades": ["*"]})
    stream.caught_up()
    assert dst.query("SELECT id FROM p ORDER BY id") == [(1,), (2,), (4,)]
    assert dst.value("SELECT count(*) FROM c WHERE a = 3") == 1
