"""What the golden files hold.

A scenario: servers it runs on, settings made globally before it (and undone
after it), statements; tables whose rows are wholly in the log, to be compared
with what the server stores.  Each runs in a database of its own, `g`."""

MARIADB = ("mariadb10.11", "mariadb11.8")
MYSQL = ("mysql",)
ALL = MARIADB + MYSQL
BOTH = ("mariadb10.11", "mysql")          # where releases of MariaDB do not differ

NUMBERS = """
CREATE TABLE numbers (id int PRIMARY KEY, t1 tinyint, t1u tinyint unsigned, s2 smallint,
  s2u smallint unsigned, m3 mediumint, m3u mediumint unsigned, i4 int, i4u int unsigned,
  b8 bigint, b8u bigint unsigned, d1 decimal(5,2), d2 decimal(30,10), d3 decimal(65,30),
  d4 decimal(9,0), d5 decimal(4,4), f float, d double, b1 bit(1), b10 bit(10), b64 bit(64),
  y year);
INSERT INTO numbers VALUES
 (1,-128,0,-32768,0,-8388608,0,-2147483648,0,-9223372036854775808,0,-999.99,
  -12345678901234567890.0123456789,-0.000000000000000000000000000001,-999999999,-0.9999,
  -3.40282e38,-1.7976931348623157e308,0,0,0,1901),
 (2,127,255,32767,65535,8388607,16777215,2147483647,4294967295,9223372036854775807,
  18446744073709551615,999.99,12345678901234567890.0123456789,
  99999999999999999999999999999999999.999999999999999999999999999999,999999999,0.9999,
  16777216,0.1,1,b'1000000011',18446744073709551615,2155),
 (3,0,1,-1,256,-1,65536,-1,65536,-1,4294967296,0,0,0,0,0,1.17549435e-38,5e-324,1,1,1,0),
 (4,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,
  NULL,NULL,NULL);
UPDATE numbers SET t1 = t1 - 1, d2 = d2 / 2, b10 = NULL WHERE id = 2;
DELETE FROM numbers WHERE id = 3;
"""

STRINGS = """
CREATE TABLE strings (id int PRIMARY KEY, c1 char(1), c10 char(10), c255 char(255),
  v10 varchar(10), v300 varchar(300), l1 varchar(20) CHARACTER SET latin1,
  u2 varchar(20) CHARACTER SET ucs2, g varchar(20) CHARACTER SET gbk, bi binary(6),
  vb varbinary(300), tt tinytext, tx text, mt mediumtext, lt longtext, tb tinyblob, bl blob,
  mb mediumblob, lb longblob, e enum('a','b''c','\u00fc') CHARACTER SET latin1,
  s set('x','y','z'), s64 set(%s)) CHARACTER SET utf8mb4;
INSERT INTO strings VALUES
 (1,'a','0123456789',repeat('x',255),'\u00e9\u20ac','v','\u00e9\u20ac\u00fc','\u00e9\u20ac',
  '\u4e2d\u6587',x'610000',x'00ff',
  'tiny','te\\nxt','medium','it''s \\\\ long',x'00',x'0102',x'ff',x'',1,'x,z','m0,m63'),
 (2,'','   ','','','','','','',x'000000000000','','','','','','','','','','\u00fc','',''),
 (3,'\U0001f600','a  b','\u4e2d','\U0001f600',repeat('\u00e9',300),'','','',x'010203040506',
  repeat(x'00',300),repeat('t',255),repeat('u',300),'m','l',repeat(x'01',255),repeat(x'02',300),
  x'03',x'04',3,'y','m31'),
 (4,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,
  NULL,NULL,NULL);
UPDATE strings SET v10 = 'changed', lb = repeat(x'05', 600) WHERE id = 2;
UPDATE strings SET lb = NULL WHERE id = 2;
DELETE FROM strings WHERE id = 1;
""" % ",".join("'m%d'" % i for i in range(64))

TIMES = """
CREATE TABLE times (id int PRIMARY KEY, d date, t0 time, t1 time(1), t2 time(2), t3 time(3),
  t6 time(6), dt0 datetime, dt1 datetime(1), dt4 datetime(4), dt6 datetime(6), ts0 timestamp NULL,
  ts2 timestamp(2) NULL, ts3 timestamp(3) NULL, ts6 timestamp(6) NULL);
INSERT INTO times VALUES
 (1,'1000-01-01','-838:59:59','-00:00:00.1','-00:00:00.01','-00:00:00.001','-00:00:00.000001',
  '1000-01-01 00:00:00','1000-01-01 00:00:00.1','1000-01-01 00:00:00.0001',
  '1000-01-01 00:00:00.000001','1970-01-01 00:00:01','1970-01-01 00:00:01.01',
  '1970-01-01 00:00:01.001','1970-01-01 00:00:01.000001'),
 (2,'9999-12-31','838:59:59','-01:00:00.5','-01:00:00.99','838:59:58.999','-838:59:58.999999',
  '9999-12-31 23:59:59','9999-12-31 23:59:59.9','9999-12-31 23:59:59.9999',
  '9999-12-31 23:59:59.999999','2038-01-19 03:14:07','2025-03-30 02:30:00.25',
  '2025-03-30 02:30:00.125','2038-01-19 03:14:06.999999'),
 (3,'0000-00-00','00:00:00','00:00:00','00:00:00','00:00:00','00:00:00','0000-00-00 00:00:00',
  '0000-00-00','2025-00-15','2025-01-00','0000-00-00','0000-00-00','0000-00-00','0000-00-00'),
 (4,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
UPDATE times SET t6 = '12:34:56.789012' WHERE id = 4;
"""

GEOMETRY = """
CREATE TABLE shapes (id int PRIMARY KEY, g geometry, p point, l linestring, po polygon);
INSERT INTO shapes VALUES (1, ST_GeomFromText('POINT(1 2)'), ST_GeomFromText('POINT(10 20)', 4326),
  ST_GeomFromText('LINESTRING(0 0,1 1)'), ST_GeomFromText('POLYGON((0 0,1 0,1 1,0 0))')),
  (2, ST_GeomFromText('GEOMETRYCOLLECTION(POINT(1 1))'), NULL, NULL, NULL);
"""

DOCUMENTS = """
CREATE TABLE documents (id int PRIMARY KEY, j json, k json);
INSERT INTO documents VALUES (1, '{"a": 1, "b": [true, null, 1.5, "x"], "c": {"d": -1}}', '[]'),
  (2, '"text"', '12345678901234567890'), (3, NULL, 'null');
UPDATE documents SET j = '{}' WHERE id = 2;
"""

SIMPLE = """
CREATE TABLE t (id int PRIMARY KEY, a int, b varchar(50), c text, j json);
INSERT INTO t VALUES (1, 10, 'one', 'text', '{"a": 1, "pad": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}'),
  (2, NULL, NULL, NULL, NULL);
UPDATE t SET a = 11 WHERE id = 1;
UPDATE t SET c = 'other' WHERE id = 1;
DELETE FROM t WHERE id = 2;
"""

MINIMAL = """
CREATE TABLE m (id bigint unsigned PRIMARY KEY, t tinyint unsigned, d decimal(10,3), e enum('a','b'),
  s set('x','y'), l varchar(10) CHARACTER SET latin1, b varbinary(10), y year);
INSERT INTO m VALUES (18446744073709551615, 255, -1.5, 'b', 'x,y', '\u00e9', x'00ff', 2026);
"""

DDL = """
CREATE TABLE d1 (id int PRIMARY KEY, v varchar(10) DEFAULT 'x');
ALTER TABLE d1 ADD COLUMN w int NOT NULL DEFAULT 5, ADD INDEX (v);
CREATE INDEX i1 ON d1 (w);
INSERT INTO d1 (id) VALUES (1);
ALTER TABLE d1 RENAME COLUMN w TO w2;
RENAME TABLE d1 TO d2;
TRUNCATE TABLE d2;
CREATE TABLE d3 AS SELECT 1 AS one, 'a' AS two;
CREATE VIEW dv AS SELECT * FROM d3;
DROP VIEW dv;
CREATE TEMPORARY TABLE dt (a int);
DROP TEMPORARY TABLE dt;
CREATE PROCEDURE dp() SELECT 1;
DROP PROCEDURE dp;
CREATE TRIGGER tr BEFORE INSERT ON d2 FOR EACH ROW SET NEW.v = 'trigger';
INSERT INTO d2 (id) VALUES (2);
/* said before */ DROP TABLE d3;
ANALYZE TABLE d2;
"""

TRANSACTIONS = """
CREATE TABLE x (id int PRIMARY KEY, v int);
CREATE TABLE y (id int PRIMARY KEY) ENGINE = MyISAM;
BEGIN; INSERT INTO x VALUES (1, 1); INSERT INTO x VALUES (2, 2); COMMIT;
BEGIN; INSERT INTO x VALUES (3, 3); SAVEPOINT s; INSERT INTO x VALUES (4, 4);
ROLLBACK TO SAVEPOINT s; INSERT INTO x VALUES (5, 5); COMMIT;
BEGIN; INSERT INTO x VALUES (6, 6); ROLLBACK;
INSERT INTO y VALUES (1);
CREATE TABLE z (id int PRIMARY KEY); INSERT INTO z VALUES (1);
UPDATE x, z SET x.v = 9, z.id = 9 WHERE x.id = 1;
SET SESSION foreign_key_checks = 0, unique_checks = 0;
INSERT INTO x VALUES (7, 7);
"""

XA = """
CREATE TABLE xa (id int PRIMARY KEY);
XA START 'one'; INSERT INTO xa VALUES (1); XA END 'one'; XA PREPARE 'one'; XA COMMIT 'one';
XA START 'two','b',7; INSERT INTO xa VALUES (2); XA END 'two','b',7; XA COMMIT 'two','b',7 ONE PHASE;
XA START 'three'; INSERT INTO xa VALUES (3); XA END 'three'; XA PREPARE 'three'; XA ROLLBACK 'three';
"""

STATEMENTS = """
CREATE TABLE st (id int PRIMARY KEY AUTO_INCREMENT, v varchar(100), r double);
SET SESSION binlog_format = 'STATEMENT', SESSION time_zone = '+02:00';
SET @text = 'it''s', @n = 42, @r = 1.5e0, @d = 1.25, @none = NULL;
INSERT INTO st (v, r) VALUES (@text, rand());
INSERT INTO st (v, r) VALUES (concat(@n, @r, @d), 1);
INSERT INTO st (v) VALUES (@none);
INSERT INTO st (v) VALUES (now());
UPDATE st SET v = last_insert_id() WHERE id = 1;
"""


class Scenario:
    """name; on; sql; tables to compare; settings {global: value}; load: LOAD DATA
    as a statement besides; fails: the last statement does"""

    def __init__(self, name, on, sql, tables=(), settings=None, load=False, fails=False):
        self.name, self.on, self.sql, self.tables = name, on, sql, tables
        self.settings, self.load, self.fails = settings or {}, load, fails


SCENARIOS = [
    Scenario("numbers", ALL, NUMBERS, ["numbers"]),
    Scenario("strings", ("mariadb11.8", "mysql"), STRINGS, ["strings"]),
    Scenario("times", BOTH, "SET sql_mode = '';" + TIMES, ["times"]),
    Scenario("geometry", BOTH, GEOMETRY, ["shapes"]),
    Scenario("documents", MYSQL, DOCUMENTS, ["documents"]),
    Scenario("minimal_metadata", BOTH, SIMPLE + MINIMAL, (), {"binlog_row_metadata": "MINIMAL"}),
    Scenario("no_checksum", BOTH, SIMPLE, ["t"], {"binlog_checksum": "NONE"}),
    Scenario("image_minimal", BOTH, "SET SESSION binlog_row_image = 'MINIMAL';" + SIMPLE),
    Scenario("image_noblob", BOTH, "SET SESSION binlog_row_image = 'NOBLOB';" + SIMPLE),
    Scenario("ddl", BOTH, DDL),
    Scenario("transactions", BOTH, TRANSACTIONS, ["x", "y", "z"]),
    Scenario("xa", BOTH, XA),
    Scenario("statements", ALL, STATEMENTS, load=True),
    Scenario("nothing", BOTH, ""),
    Scenario("incident", BOTH,
             "CREATE TABLE lost (a longblob) ENGINE = MyISAM;"
             "INSERT INTO lost VALUES (repeat('a', 100000));", (),
             {"max_binlog_stmt_cache_size": 4096}, fails=True),
    Scenario("compressed", MARIADB,
             SIMPLE + "INSERT INTO t VALUES (3, 1, repeat('b', 50), repeat('c', 5000), NULL);"
             "UPDATE t SET b = repeat('d', 50); DELETE FROM t WHERE id = 3;"
             "CREATE TABLE wide (%s);" % ", ".join("column_%d int" % i for i in range(60)),
             ["t"], {"log_bin_compress": "ON", "log_bin_compress_min_len": 10}),
    Scenario("compressed_columns", MARIADB,
             "CREATE TABLE cc (id int PRIMARY KEY, b blob COMPRESSED, v varchar(500) COMPRESSED);"
             "INSERT INTO cc VALUES (1, repeat('a', 300), repeat('b', 300)), (2, '', 'x');"),
    Scenario("domains", MARIADB,
             "CREATE TABLE dm (id int PRIMARY KEY);"
             "SET SESSION gtid_domain_id = 7; INSERT INTO dm VALUES (1);"
             "SET SESSION gtid_domain_id = 3, SESSION server_id = 99, SESSION gtid_seq_no = 1000;"
             "INSERT INTO dm VALUES (2);"
             "SET SESSION skip_replication = 1; INSERT INTO dm VALUES (3);", ["dm"]),
    Scenario("alter_two_phase", MARIADB,
             "CREATE TABLE al (id int PRIMARY KEY); INSERT INTO al VALUES (1);"
             "SET SESSION binlog_alter_two_phase = 1; ALTER TABLE al ADD COLUMN v int;"
             "INSERT INTO al VALUES (2, 2);"),
    Scenario("mariadb_types", MARIADB,
             "CREATE TABLE mt (id int PRIMARY KEY, u uuid, i6 inet6, i4 inet4);"
             "INSERT INTO mt VALUES (1, '123e4567-e89b-12d3-a456-426655440000', '::1', '10.0.0.1'),"
             "(2, NULL, '2001:db8::ff00:42:8329', '0.0.0.0');", ["mt"]),
    Scenario("mariadb_old_times", MARIADB,
             "SET GLOBAL mysql56_temporal_format = OFF;"
             "CREATE TABLE old (id int PRIMARY KEY, t time, d datetime, s timestamp NULL);"
             "SET GLOBAL mysql56_temporal_format = ON;"
             "INSERT INTO old VALUES (1, '-01:02:03', '2025-01-02 03:04:05', '2025-01-02 03:04:05');"),
    Scenario("vector", ("mariadb11.8",),
             "CREATE TABLE ve (id int PRIMARY KEY, v vector(3));"
             "INSERT INTO ve VALUES (1, VEC_FromText('[1,2.5,-3]')), (2, NULL);", ["ve"]),
    Scenario("vector", MYSQL,
             "CREATE TABLE ve (id int PRIMARY KEY, v vector(3));"
             "INSERT INTO ve VALUES (1, TO_VECTOR('[1,2.5,-3]')), (2, NULL);", ["ve"]),
    Scenario("payload", MYSQL,
             "SET SESSION binlog_transaction_compression = ON;" + SIMPLE +
             "BEGIN; INSERT INTO t VALUES (3, 1, 'x', repeat('c', 5000), NULL);"
             "INSERT INTO t VALUES (4, 1, 'y', repeat('d', 5000), NULL); DELETE FROM t WHERE id = 3;"
             "COMMIT;" + TIMES.replace("'0000-00-00'", "NULL").replace("'2025-00-15'", "NULL")
             .replace("'2025-01-00'", "NULL").replace("'0000-00-00 00:00:00'", "NULL"),
             ["t", "times"]),
    Scenario("partial_json", MYSQL,
             "SET SESSION binlog_row_value_options = 'PARTIAL_JSON';" + SIMPLE +
             "UPDATE t SET j = JSON_SET(j, '$.a', 2) WHERE id = 1;"
             "UPDATE t SET j = JSON_REMOVE(j, '$.pad') WHERE id = 1;"
             "UPDATE t SET j = JSON_SET(j, '$.b', JSON_ARRAY(1, 'two', 3.5)), a = 7 WHERE id = 1;"
             "UPDATE t SET j = JSON_ARRAY_INSERT(j, '$.b[1]', 'new') WHERE id = 1;"),
    Scenario("tagged", MYSQL,
             "CREATE TABLE tg (id int PRIMARY KEY); SET gtid_next = 'AUTOMATIC:a_tag';"
             "INSERT INTO tg VALUES (1); INSERT INTO tg VALUES (2); SET gtid_next = 'AUTOMATIC:other';"
             "INSERT INTO tg VALUES (3); SET gtid_next = 'AUTOMATIC';"
             "SET gtid_next = '00000000-1111-2222-3333-ffffffffffff:77';"
             "INSERT INTO tg VALUES (4); SET gtid_next = 'AUTOMATIC'; FLUSH BINARY LOGS;"
             "INSERT INTO tg VALUES (5);", ["tg"]),
    Scenario("mysql_columns", MYSQL,
             "CREATE TABLE mc (a int, b varchar(20), c int INVISIBLE, d int AS (a + 1) STORED,"
             " e int AS (a + 2), PRIMARY KEY (b(3), a)); INSERT INTO mc (a, b, c) VALUES (1, 'bbbbb', 3);",
             ["mc"]),
    Scenario("anonymous", MYSQL,
             "CREATE TABLE an (id int PRIMARY KEY); INSERT INTO an VALUES (1);", ["an"]),
]
