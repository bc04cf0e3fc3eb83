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


def streams(dst):
    return dst.query("SELECT stream_id, state, desired_state, pid FROM sluice.health")


# -- migrate -----------------------------------------------------------------

@pytest.mark.quick
@BOTH
def test_migrate(my_db, dst, make_bridge):
    fill(my_db)
    make_my_server(my_db, dst, "shop")
    bridge = make_bridge(dst)
    said = dst.notices("CALL sluice.migrate('shop')")
    assert "has copied everything and does not follow" in said and '"file"' in said, said
    assert streams(dst) == [("migrate_shop", "stopped", "stopped", None)]
    assert_same_tables(my_db, dst, TABLES)
    # all of it is built, and identities go on where the source's do
    assert dst.value("SELECT count(*) FROM pg_constraint WHERE conrelid = 'child'::regclass"
                     " AND contype = 'f' AND convalidated") == 1
    assert dst.value("INSERT INTO parent DEFAULT VALUES RETURNING id") == 4
    dst.execute("DELETE FROM parent WHERE id = 4")
    assert "has copied everything already" in dst.notices("CALL sluice.migrate('shop')")
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


# -- cutover -----------------------------------------------------------------

def cutover(dst, margin=1000, dry_run=False):
    """sequence → (source_value, target_before, target_after, action)"""
    return {r[0]: r[1:] for r in dst.query("SELECT * FROM sluice.cutover('s1', %s, %s)", margin, dry_run)}


@BOTH
def test_cutover(my_db, dst, make_bridge):
    fill(my_db)
    my_db.execute("CREATE TABLE plain (id int PRIMARY KEY); CREATE TABLE fresh (id int AUTO_INCREMENT PRIMARY KEY);"
                  "CREATE TABLE wide (id bigint unsigned AUTO_INCREMENT PRIMARY KEY);"
                  "CREATE TABLE clock (id int PRIMARY KEY, m timestamp(3) NULL ON UPDATE CURRENT_TIMESTAMP(3))")
    stream = make_bridged_stream(my_db, dst, exclude_tables=["wide"])
    assert "is starting and cannot be cut over" in str(dst.error("SELECT * FROM sluice.cutover('s1')"))
    bridge = make_bridge(dst)
    stream.caught_up("120 s")
    # the cold start has primed them; what the source gives from then on is in no change of its own
    assert dst.value("SELECT last_value FROM parent_id_seq") == 4
    my_db.execute("INSERT INTO parent (v) VALUES ('d'); INSERT INTO parent (id, v) VALUES (50, 'e'); DELETE FROM parent WHERE id = 50;"
                  "INSERT INTO child (parent) VALUES (4)")
    stream.caught_up("120 s")
    expected = {"public.parent_id_seq": (50, 4, 1050, "set"), "public.child_id_seq": (4, 4, 1004, "set"),
                "public.fresh_id_seq": (1, 1, 1001, "set")}
    assert cutover(dst, dry_run=True) == expected
    assert stream.state == "streaming" and dst.value("SELECT last_value FROM parent_id_seq") == 4

    # one that was in use on its own refuses, and the stream goes on
    dst.execute("SELECT setval('child_id_seq', 5000)")
    error = dst.error("SELECT * FROM sluice.cutover('s1')")
    assert "CUTOVER-REFUSED" in str(error) and "has been in use" in str(error), error
    dst.execute("SELECT setval('child_id_seq', 4)")
    writer = my_db.connect()
    writer.autocommit(False)
    with writer.cursor() as cur:
        cur.execute("INSERT INTO plain VALUES (1)")
    my_db.server.execute("GRANT PROCESS ON *.* TO repl@'%'")
    error = dst.error("SELECT * FROM sluice.cutover('s1')")
    assert "CUTOVER-REFUSED" in str(error) and "wrote and is not over" in str(error), error
    writer.rollback()
    writer.close()
    my_db.server.execute("REVOKE PROCESS ON *.* FROM repl@'%'")
    said = dst.notices("SELECT * FROM sluice.cutover('s1')")
    assert "stream \"s1\" is cut over" in said and "GRANT PROCESS" in said, said
    # what the source did by itself, and nobody does from here on
    assert "1 not carried" in said and "column settings m of table clock: ON UPDATE" in said, said
    assert dst.value("INSERT INTO parent (v) VALUES ('here') RETURNING id") == 1051
    assert dst.value("INSERT INTO fresh DEFAULT VALUES RETURNING id") == 1001
    assert [(s[0], s[1], s[3]) for s in streams(dst)] == [("s1", "cut_over", None)]

    # it stays so until it is opened again, and then goes on where it ended
    assert dst.error("SELECT sluice.sync_start('s1')").pgcode == "55000"
    my_db.execute("INSERT INTO plain VALUES (2)")
    assert bridge.is_running() and dst.value("SELECT count(*) FROM plain") == 0
    stream.start(source=False, options={"reopen": True})
    stream.caught_up("120 s")
    assert dst.value("SELECT count(*) FROM plain") == 1
