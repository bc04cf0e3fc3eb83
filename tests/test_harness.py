"""The harness itself: an oracle that sees nothing proves nothing."""
import pytest

from lib import PgServer, find_secret, same_rows

PLANTED = {
    "numeric scale": "UPDATE t SET n = 1.00 WHERE id = 1",
    "minus zero": "UPDATE t SET f = '-0.0' WHERE id = 1",
    "empty for null": "UPDATE t SET s = '' WHERE id = 1",
    "one byte of a large value":
        "UPDATE t SET big = overlay(big PLACING 'X' FROM 90000) WHERE id = 1",
    "missing": "DELETE FROM t WHERE id = 2",
    "extra": "INSERT INTO t (id) VALUES (99)",
    "doubled": "INSERT INTO t SELECT * FROM t WHERE id = 3",
}

MAKE = """
CREATE TABLE t (id int, n numeric, f float8, s text, big text);
INSERT INTO t SELECT i, 1.0, 0.0, NULL, pg_catalog.repeat('ab', 60000)
FROM pg_catalog.generate_series(1, 5) AS i;
"""


@pytest.mark.quick
def test_oracle_sees_planted_faults(source):
    a, b = source.fresh_db("oracle_a"), source.fresh_db("oracle_b")
    a.execute(MAKE)
    b.execute(MAKE)
    assert same_rows(a, b, ["t"]) == []
    for what, sql in PLANTED.items():
        b.execute("CREATE TABLE keep AS TABLE t")
        b.execute(sql)
        assert same_rows(a, b, ["t"]), "not seen: %s" % what
        b.execute("TRUNCATE t; INSERT INTO t TABLE keep; DROP TABLE keep")
    assert same_rows(a, b, ["t"]) == []
    assert a.destroy() and b.destroy()


@pytest.mark.quick
def test_secret_scan_finds_a_planted_secret(target):
    db = target.fresh_db("secret", extension=True)
    assert find_secret("pLaNtEd-1", [target], [db]) == []
    db.execute("CREATE TABLE sluice.planted AS SELECT 'x pLaNtEd-1 y' AS v")
    target.execute("DO $$ BEGIN RAISE LOG 'pLaNtEd-1'; END $$")
    found = " ".join(find_secret("pLaNtEd-1", [target], [db]))
    assert "log of target" in found and "sluice.planted" in found
    assert "dump of" in found
    db.execute("DROP TABLE sluice.planted")
    db.destroy()


def test_server_life(make_pg):
    """kill -9, standby, promotion and clone do what their names say."""
    pg = make_pg("life", preload="")
    pg.execute("CREATE TABLE t AS SELECT 1 AS a")
    pg.kill9()
    assert not pg.is_running()
    pg.start()
    standby, clone = pg.standby(), pg.clone()
    try:
        assert standby.value("SELECT pg_catalog.pg_is_in_recovery()")
        standby.promote()
        assert not standby.value("SELECT pg_catalog.pg_is_in_recovery()")
        clone.execute("INSERT INTO t VALUES (2)")
        assert pg.value("SELECT count(*) FROM t") == 1
        assert clone.value("SELECT count(*) FROM t") == 2
    finally:
        standby.destroy()
        clone.destroy()


def test_missing_server_fails():
    with pytest.raises(AssertionError, match="none: initdb"):
        PgServer("none", bindir="/nonexistent")
