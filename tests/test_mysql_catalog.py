"""What the bridge reads of a MySQL or MariaDB database's catalog."""
import json

from lib.bridge import login_of, probe, probed

PARENT = r"""
CREATE TABLE p (
    id bigint unsigned AUTO_INCREMENT PRIMARY KEY,
    `a'b` varchar(10) DEFAULT 'x''y\\',
    e enum('a','b''c') DEFAULT 'a',
    d datetime(3) DEFAULT current_timestamp(3) ON UPDATE current_timestamp(3),
    n decimal(10,2) DEFAULT '1.50',
    b bit(4) DEFAULT b'101',
    vb varbinary(3) DEFAULT 'ab',
    u int DEFAULT NULL,
    nn int NOT NULL,
    g int GENERATED ALWAYS AS (u * 2) STORED,
    gv int GENERATED ALWAYS AS (nn + 1) VIRTUAL,
    t text COMMENT 'it''s',
    blank varchar(3) NOT NULL DEFAULT '',
    word varchar(9) DEFAULT 'NULL',
    ex varchar(50) DEFAULT (concat('a', 1 + 2)),
    UNIQUE KEY uq (`a'b`(4), nn),
    KEY ke (u, e),
    FULLTEXT KEY ft (t)
) COMMENT='tab "one"' AUTO_INCREMENT=100"""

CHILD = """
CREATE TABLE c (id int PRIMARY KEY, p bigint unsigned,
    CONSTRAINT fk1 FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE ON UPDATE SET NULL,
    CONSTRAINT ck CHECK (id > 0 and id <> 5))"""


def catalog(my_db):
    """{name: table}, {(kind, name)} of a database."""
    my_db.server.execute("GRANT REFERENCES ON `%s`.* TO repl" % my_db.name)
    lines = [json.loads(x) for x in probed(login_of(my_db.server), "--catalog", my_db.name)]
    return ({x["name"]: x for x in lines if "columns" in x},
            {(x["object"], x["name"]) for x in lines if "object" in x})


def column(table, name):
    return next(c for c in table["columns"] if c["name"] == name)


def default(table, name):
    c = column(table, name)
    return c.get("default"), c.get("default_expression", "").lower()


def test_tables_and_columns(my_db):
    my_db.execute(PARENT)
    tables, _ = catalog(my_db)
    assert list(tables) == ["p"]
    p = tables["p"]
    assert (p["kind"], p["engine"], p["comment"]) == ("BASE TABLE", "InnoDB", 'tab "one"')
    assert p["auto_increment"] == 100
    assert [c["name"] for c in p["columns"]] == [
        "id", "a'b", "e", "d", "n", "b", "vb", "u", "nn", "g", "gv", "t", "blank", "word", "ex"]
    assert [c["name"] for c in p["columns"] if c["not_null"]] == ["id", "nn", "blank"]
    assert [c["name"] for c in p["columns"] if c.get("auto_increment")] == ["id"]
    assert column(p, "t")["comment"] == "it's"
    assert column(p, "e")["source_type"] == "enum('a','b''c')"
    types = {c["name"]: c["type"] for c in p["columns"]}
    assert types["nn"] == "integer" and types["n"] == "numeric(10,2)"
    assert types["d"] == "timestamp(3) without time zone" and types["vb"] == "bytea"
    assert "unsupported" not in json.dumps(p)


def test_defaults(my_db):
    my_db.execute(PARENT)
    p = catalog(my_db)[0]["p"]
    assert default(p, "a'b") == ("x'y\\", "")
    assert default(p, "e") == ("a", "")
    assert default(p, "n") == ("1.50", "")
    assert default(p, "b") == ("101", "")
    assert default(p, "vb") == ("6162", "")     # binary types: hexadecimal
    assert default(p, "u") == default(p, "nn") == default(p, "g") == (None, "")
    assert default(p, "blank") == ("", "")
    assert default(p, "word") == ("NULL", "")
    assert default(p, "d") == (None, "current_timestamp(3)")
    assert column(p, "d")["on_update"].lower() == "current_timestamp(3)"
    assert default(p, "ex")[1].startswith("concat(")


def test_generated(my_db):
    my_db.execute(PARENT)
    p = catalog(my_db)[0]["p"]
    assert column(p, "g")["stored"].strip("()") == "`u` * 2"
    assert column(p, "gv")["virtual"].strip("()") == "`nn` + 1"


def test_keys(my_db):
    my_db.execute(PARENT)
    my_db.execute(CHILD)
    tables, _ = catalog(my_db)
    by_name = {x["name"]: x for x in tables["p"]["indexes"]}
    assert tables["p"]["indexes"][0]["name"] == "PRIMARY"
    assert by_name["PRIMARY"]["parts"] == [{"column": "id"}]
    assert by_name["uq"]["unique"] and not by_name["ke"]["unique"]
    assert by_name["uq"]["parts"] == [{"column": "a'b", "prefix": 4}, {"column": "nn"}]
    assert [x["column"] for x in by_name["ke"]["parts"]] == ["u", "e"]
    assert by_name["ft"]["kind"] == "fulltext"
    assert tables["c"]["foreign_keys"] == [{
        "name": "fk1", "columns": ["p"], "references_database": my_db.name,
        "references_table": "p", "references_columns": ["id"],
        "on_delete": "CASCADE", "on_update": "SET NULL"}]
    check, = tables["c"]["checks"]
    assert check["name"] == "ck" and check["enforced"]
    assert check["clause"].replace("(", "").replace(")", "") == "`id` > 0 and `id` <> 5"


def test_foreign_key_of_several_columns(my_db):
    my_db.execute("CREATE TABLE a (x int, y int, PRIMARY KEY (y, x))")
    my_db.execute("CREATE TABLE b (id int PRIMARY KEY, q int, r int,"
                  " CONSTRAINT two FOREIGN KEY (q, r) REFERENCES a (y, x),"
                  " CONSTRAINT one FOREIGN KEY (r) REFERENCES b (id))")
    fks = {k["name"]: k for k in catalog(my_db)[0]["b"]["foreign_keys"]}
    assert (fks["two"]["columns"], fks["two"]["references_columns"]) == (["q", "r"], ["y", "x"])
    assert (fks["one"]["columns"], fks["one"]["references_table"]) == (["r"], "b")


def test_what_is_not_a_table(my_db):
    my_db.execute("CREATE TABLE t (id int PRIMARY KEY)")
    my_db.execute("CREATE VIEW v AS SELECT id FROM t")
    my_db.execute("CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET NEW.id = NEW.id")
    my_db.execute("CREATE PROCEDURE pr() SELECT 1")
    my_db.server.execute("GRANT ALL ON `%s`.* TO repl" % my_db.name)
    tables, objects = catalog(my_db)
    assert list(tables) == ["t"]
    assert objects == {("view", "v"), ("trigger", "tr"), ("procedure", "pr")}


def test_hostile_names(my_db):
    """Names that break what splits or quotes carelessly."""
    names = ["a.b", "semi;colon", "quo\"te", "tick``et", "back\\slash", "ü😀"[:1], "UPPER", "upper2"]
    for name in names:
        my_db.execute("CREATE TABLE `%s` (`%s` int PRIMARY KEY)" % (name, name))
    tables, _ = catalog(my_db)
    assert sorted(tables) == sorted(n.replace("``", "`") for n in names)
    for name, t in tables.items():
        assert t["columns"][0]["name"] == name


def test_many_tables(my_db):
    """Ordered by bytes on both sides, whatever the collation says."""
    names = ["t%d_%s" % (i, "aAbB_é"[i % 6]) for i in range(200)]
    for name in names:
        my_db.execute("CREATE TABLE `%s` (id int PRIMARY KEY, v%s int, KEY k (v%s))" % (name, name, name))
    tables, _ = catalog(my_db)
    assert sorted(tables) == sorted(names)
    for name, t in tables.items():
        assert [c["name"] for c in t["columns"]] == ["id", "v" + name]
        assert t["indexes"][1]["parts"] == [{"column": "v" + name}]


def test_json_and_geometry(my_db):
    my_db.execute("CREATE TABLE t (id int PRIMARY KEY, j json, g point %s, h geometry)"
                  % ("REF_SYSTEM_ID=4326 NOT NULL" if my_db.server.is_mariadb else "NOT NULL SRID 4326"))
    t = catalog(my_db)[0]["t"]
    assert column(t, "j")["type"] == "jsonb"
    assert t["checks"] == []            # MariaDB's json_valid() belongs to the type
    assert "4326" in column(t, "g")["type"]


def test_constraints_that_may_not_be_seen(mariadb11):
    """Who may only read sees no constraint there: said, not taken for none."""
    db = mariadb11.fresh_db("hidden")
    db.execute("CREATE TABLE t (id int PRIMARY KEY, r int, FOREIGN KEY (r) REFERENCES t (id))")
    mariadb11.create_user("reads_only", "pA55word", grants=["SELECT ON `%s`.*" % db.name])
    login = login_of(mariadb11, user="reads_only", password="pA55word")
    done = probe(login, "--catalog", db.name)
    assert done.returncode == 1
    assert "may not see the foreign keys" in done.stderr and "GRANT REFERENCES" in done.stderr
    mariadb11.execute("GRANT REFERENCES ON `%s`.* TO reads_only" % db.name)
    assert len(json.loads(probed(login, "--catalog", db.name)[0])["foreign_keys"]) == 1


def test_attributes_of_invisible_columns(my_db):
    """MariaDB divides what EXTRA says by commas, too."""
    my_db.execute("CREATE TABLE t (id int AUTO_INCREMENT INVISIBLE, v int,"
                  " d datetime DEFAULT current_timestamp ON UPDATE current_timestamp INVISIBLE, PRIMARY KEY (id))")
    t = catalog(my_db)[0]["t"]
    assert column(t, "id")["auto_increment"] and column(t, "id")["invisible"]
    assert column(t, "d")["on_update"].lower().rstrip("()") == "current_timestamp" and column(t, "d")["invisible"]


def test_expressions_that_are_not_ascii(my_db):
    """MySQL shows their bytes as characters."""
    my_db.execute("CREATE TABLE t (`ß` int, g int AS (`ß` + 1) STORED, d varchar(9) DEFAULT (concat('é', '日')), CHECK (`ß` > 0))")
    t = catalog(my_db)[0]["t"]
    assert column(t, "g")["stored"].strip("()") == "`ß` + 1"
    assert "é" in default(t, "d")[1] and "日" in default(t, "d")[1]
    assert t["checks"][0]["clause"].strip("()") == "`ß` > 0"


def test_json_column_that_is_renamed(my_db):
    """In MariaDB its check keeps the old name."""
    my_db.execute("CREATE TABLE t (id int PRIMARY KEY, j json)")
    my_db.execute("ALTER TABLE t RENAME COLUMN j TO `k``l`")
    t = catalog(my_db)[0]["t"]
    assert column(t, "k`l")["type"] in ("json", "jsonb")
    assert t["checks"] == []
