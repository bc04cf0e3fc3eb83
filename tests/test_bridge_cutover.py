"""How a bridged stream ends: sluice.migrate copies and is done, sluice.cutover hands over."""
import pytest

from lib import make_bridged_stream
from lib.bridgerun import make_my_server
from lib.mycold import assert_same_tables

BOTH = pytest.mark.parametrize("my_server", ["mariadb10", "mysql9"], indirect=True)

TABLES = ["parent", "child"]


def fill(src):
    src.execute("GRANT LOCK TABLES, REFERENCES ON `%s`.* TO repl@'%%'" % src.name)
    src.execute("CREATE TABLE parent (id int AUTO_INCREMENT PRIMARY KEY, v varchar(20), KEY v (v));"
                "CREATE TABLE child (id bigint AUTO_INCREMENT PRIMARY KEY, parent int NOT NULL,"
                " FOREIGN KEY fk (parent) REFERENCES parent (id));"
                "INSERT INTO parent (v) VALUES ('a'), ('b'), ('c'); INSERT INTO child (parent) VALUES (1), (1), (3)")


def notices(db, sql, *params):
    """What a statement says beside its result."""
    conn = db.connect()
    try:
        with conn.cursor() as cur:
            cur.execute(sql, params)
        return "".join(conn.notices)
    finally:
        conn.close()


def streams(dst):
    return dst.query("SELECT stream_id, state, desired_state, pid FROM sluice.health")


# -- migrate -----------------------------------------------------------------

@pytest.mark.quick
@BOTH
def test_migrate(my_db, dst, make_bridge):
    fill(my_db)
    make_my_server(my_db, dst, "shop")
    bridge = make_bridge(dst)
    said = notices(dst, "CALL sluice.migrate('shop')")
    assert "has copied everything and does not follow" in said and '"file"' in said, said
    assert streams(dst) == [("migrate_shop", "stopped", "stopped", None)]
    assert_same_tables(my_db, dst, TABLES)
    # all of it is built, and identities go on where the source's do
    assert dst.value("SELECT count(*) FROM pg_constraint WHERE conrelid = 'child'::regclass"
                     " AND contype = 'f' AND convalidated") == 1
    assert dst.value("INSERT INTO parent DEFAULT VALUES RETURNING id") == 4
    dst.execute("DELETE FROM parent WHERE id = 4")
    assert "has copied everything already" in notices(dst, "CALL sluice.migrate('shop')")
    # nobody follows, until it is asked for: from where the copy ended
    my_db.execute("INSERT INTO parent (v) VALUES ('later')")
    assert bridge.is_running() and streams(dst) == [("migrate_shop", "stopped", "stopped", None)]
    dst.execute("SELECT FROM sluice.sync_start('migrate_shop', options => '{\"follow\": true}')")
    dst.execute("CALL sluice.sync_wait('migrate_shop', 'caught_up')")
    assert_same_tables(my_db, dst, TABLES)


@BOTH
def test_migrate_raises_what_the_stream_raised(my_db, dst, make_bridge):
    fill(my_db)
    make_my_server(my_db, dst, "shop")
    make_bridge(dst)
    dst.execute("CREATE TABLE parent (id int PRIMARY KEY, v varchar(20) CHECK (v <> 'b'))")
    error = dst.error("CALL sluice.migrate('shop')")
    assert "TARGET-CONSTRAINT-VIOLATED" in str(error), error
    dst.execute("ALTER TABLE parent DROP CONSTRAINT parent_v_check")
    dst.execute("CALL sluice.migrate('shop')")
    assert_same_tables(my_db, dst, TABLES)
