/*
 * ddl_test.c
 *	  Statements of MySQL and MariaDB: a row for every form, and what it does as
 *	  ddl_text.h has it.
 */
#include "ddl_text.h"
#include "unit.h"

typedef struct Row
{
	const char *mode;			/* m: MySQL 9.7, 5: MySQL 5.7, M: MariaDB
								 * 11.8; a: ANSI_QUOTES, n:
								 * NO_BACKSLASH_ESCAPES, r: REAL_AS_FLOAT, f:
								 * names are folded */
	const char *sql;
	const char *expected;
} Row;

static SlMySession
session_of(const char *mode)
{
	SlMySession s = {.database = "test", .server = mode[0] == 'M' ? SL_MY_MARIADB : SL_MY_MYSQL};

	s.version = mode[0] == 'M' ? 110809 : mode[0] == '5' ? 50744 : 90704;
	sl_my_session_mode(&s, (strchr(mode, 'a') ? 4 : 0) | (strchr(mode, 'n') ? 1 << 20 : 0) | (strchr(mode, 'r') ? 1 : 0));
	s.lower_case_table_names = strchr(mode, 'f') != NULL;
	return s;
}

/* In memory of its own size, so that a sanitizer sees every step past it. */
static void
check(const Row * rows, int n)
{
	for (int i = 0; i < n; i++)
	{
		SlMySession s = session_of(rows[i].mode);
		size_t		len = strlen(rows[i].sql);
		char	   *sql = palloc(len + 1);
		char	   *got;

		memcpy(sql, rows[i].sql, len);
		sql = repalloc(sql, Max(len, 1));
		got = ddl_text(sl_ddl_parse(sql, len, &s));
		CHECK_AT(strcmp(got, rows[i].expected) == 0, "%s\n#   %s", rows[i].sql, got);
	}
}

static void
created(void)
{
	static const Row rows[] = {
		{"m", "CREATE TABLE t (a INT)",
		"CREATE TABLE: test.t | ADD COLUMN a int"},
		{"m", "create table if not exists `d`.`t` (`a``b` int unsigned not null auto_increment primary key, key (`a``b`))",
		"CREATE TABLE maybe: d.t | ADD COLUMN a`b int unsigned not-null auto primary; ADD KEY plain -(a`b)"},
		{"M", "CREATE OR REPLACE TABLE t (a INT(5) ZEROFILL, b BIGINT UNSIGNED)",
		"CREATE TABLE replace: test.t | ADD COLUMN a int(5) unsigned zerofill; ADD COLUMN b bigint(20) unsigned"},
		{"m", "CREATE TEMPORARY TABLE t (a INT)",
		"CREATE TEMPORARY TABLE temporary: test.t | ADD COLUMN a int"},
		{"m", "CREATE TABLE t LIKE d.s",
		"CREATE TABLE: test.t like d.s"},
		{"m", "CREATE TABLE IF NOT EXISTS t (LIKE s)",
		"CREATE TABLE maybe: test.t like test.s"},
		{"m", "CREATE TABLE t AS SELECT 1 AS a",
		"CREATE TABLE select: test.t"},
		{"m", "CREATE TABLE t (b INT) ENGINE=InnoDB IGNORE SELECT * FROM s",
		"CREATE TABLE select: test.t | ADD COLUMN b int; option engine -> InnoDB"},
		{"m", "CREATE TABLE t (SELECT 1)",
		"CREATE TABLE select: test.t"},
		{"m", "CREATE TABLE t TABLE s",
		"CREATE TABLE select: test.t"},
		{"m", "CREATE TABLE t (a INT) START TRANSACTION",
		"CREATE TABLE transaction: test.t | ADD COLUMN a int"},
		{"M", "CREATE TABLE t (a INT, s TIMESTAMP(6) GENERATED ALWAYS AS ROW START INVISIBLE, e TIMESTAMP(6) AS ROW END, PERIOD FOR SYSTEM_TIME (s, e)) WITH SYSTEM VERSIONING",
		"CREATE TABLE: test.t | ADD COLUMN a int(11); ADD COLUMN s timestamp(6) not-null row-start invisible; ADD COLUMN e timestamp(6) not-null row-end; ADD PERIOD SYSTEM_TIME(s,e); ADD SYSTEM VERSIONING"},
		{"M", "CREATE TABLE t (a INT WITHOUT SYSTEM VERSIONING, p DATE, q DATE, PERIOD FOR app (p, q), UNIQUE (a, app WITHOUT OVERLAPS))",
		"CREATE TABLE: test.t | ADD COLUMN a int(11) unversioned; ADD COLUMN p date; ADD COLUMN q date; ADD PERIOD app(p,q); ADD KEY unique -(a,app period)"},
		{"m", "CREATE TABLE t (a INT) ENGINE=InnoDB AUTO_INCREMENT=5 DEFAULT CHARACTER SET = utf8mb4, COLLATE utf8mb4_bin COMMENT 'it''s' ROW_FORMAT=DYNAMIC DATA DIRECTORY='/x' UNION=(a,b)",
		"CREATE TABLE: test.t | ADD COLUMN a int; option engine -> InnoDB; option auto_increment -> 5; option charset -> utf8mb4; option collate -> utf8mb4_bin; option comment -> it's; option row_format -> DYNAMIC; option data directory -> /x; option union -> a,b"},
		{"M", "CREATE TABLE t (a INT, b BLOB COMPRESSED) ENGINE=Aria TRANSACTIONAL=1 `PAGE_COMPRESSED`=1",
		"CREATE TABLE: test.t | ADD COLUMN a int(11); ADD COLUMN b blob /*M!100301 COMPRESSED*/; option engine -> Aria; option transactional -> 1; option page_compressed -> 1"},
		{"m", "CREATE TABLE t (a INT) /*!50100 PARTITION BY RANGE (a) (PARTITION p0 VALUES LESS THAN (10) ENGINE = InnoDB, PARTITION p1 VALUES IN (MAXVALUE)) */",
		"CREATE TABLE: test.t | ADD COLUMN a int; PARTITION BY -> RANGE (a) (PARTITION p0 VALUES LESS THAN (10) ENGINE = InnoDB, PARTITION p1 VALUES IN (MAXVALUE))"},
		{"m", "CREATE TABLE t (a INT) PARTITION BY HASH (a) PARTITIONS 4 AS SELECT 1 AS a",
		"CREATE TABLE select: test.t | ADD COLUMN a int; PARTITION BY -> HASH (a) PARTITIONS 4"},
		{"m", "CREATE TABLE t (PRIMARY KEY (a), a INT, UNIQUE KEY u USING BTREE (a DESC), FULLTEXT INDEX (b) WITH PARSER ngram, SPATIAL KEY s (g), INDEX x ((a + 1), b(10)) INVISIBLE COMMENT 'c', b TEXT, g GEOMETRY NOT NULL SRID 4326)",
		"CREATE TABLE: test.t | ADD KEY primary -(a); ADD COLUMN a int; ADD KEY unique u(a desc); ADD KEY fulltext -(b); ADD KEY spatial s(g); ADD KEY plain x({a + 1},b:10) invisible; ADD COLUMN b text; ADD COLUMN g geometry srid:4326 not-null"},
		{"m", "CREATE TABLE t (a INT REFERENCES p (x) ON DELETE CASCADE, CONSTRAINT c FOREIGN KEY i (a, b) REFERENCES d.p (x, y) MATCH FULL ON DELETE SET NULL ON UPDATE NO ACTION, FOREIGN KEY (a) REFERENCES p)",
		"CREATE TABLE: test.t | ADD COLUMN a int -> test.p(x) delete:cascade; ADD FOREIGN KEY c (a,b) -> d.p(x,y) delete:set null update:no action; ADD FOREIGN KEY (a) -> test.p()"},
		{"m", "CREATE TABLE t (a INT CHECK (a > 0), b INT CONSTRAINT k CHECK (b > ')') NOT ENFORCED, CONSTRAINT CHECK ((a) > (b)), CONSTRAINT n CHECK (a <> 1) NOT ENFORCED)",
		"CREATE TABLE: test.t | ADD COLUMN a int check - {a > 0}; ADD COLUMN b int check k {b > ')'} off; ADD CHECK check - {(a) > (b)}; ADD CHECK n check n {a <> 1} off"},
		{"M", "CREATE TABLE t (v VECTOR(3) NOT NULL, VECTOR INDEX (v) M=6 DISTANCE=cosine)",
		"CREATE TABLE: test.t | ADD COLUMN v vector(3) not-null; ADD KEY vector -(v)"},
		{"m", "CREATE TABLE t (vector INT, `key` INT, period INT, system INT, type INT, KEY type (type), KEY USING BTREE (`key`))",
		"CREATE TABLE: test.t | ADD COLUMN vector int; ADD COLUMN key int; ADD COLUMN period int; ADD COLUMN system int; ADD COLUMN type int; ADD KEY plain type(type); ADD KEY plain -(key)"},
		{"M", "CREATE TABLE t (period INT, a INT CONSTRAINT f REFERENCES s (b))",
		"CREATE TABLE: test.t | ADD COLUMN period int(11); ADD COLUMN a int(11) -> test.s(b)"},
	};

	check(rows, lengthof(rows));
}

static void
types(void)
{
	static const Row rows[] = {
		{"m", "CREATE TABLE t (a BIT, b BIT(7), c BOOL, d TINYINT(1), e TINYINT, f SMALLINT UNSIGNED, g MEDIUMINT(3), h INT ZEROFILL, i BIGINT SIGNED, j SERIAL, k INT2, l MIDDLEINT, m INT8)",
		"CREATE TABLE: test.t | ADD COLUMN a bit(1); ADD COLUMN b bit(7); ADD COLUMN c tinyint(1); ADD COLUMN d tinyint(1); ADD COLUMN e tinyint; ADD COLUMN f smallint unsigned; ADD COLUMN g mediumint; ADD COLUMN h int(10) unsigned zerofill; ADD COLUMN i bigint; ADD COLUMN j bigint unsigned not-null auto unique; ADD COLUMN k smallint; ADD COLUMN l mediumint; ADD COLUMN m bigint"},
		{"M", "CREATE TABLE t (a BIT, b BOOL, c TINYINT, d TINYINT UNSIGNED, e SMALLINT, f MEDIUMINT UNSIGNED, g INT, h INT(3) UNSIGNED ZEROFILL, i BIGINT, j INTEGER(0))",
		"CREATE TABLE: test.t | ADD COLUMN a bit(1); ADD COLUMN b tinyint(1); ADD COLUMN c tinyint(4); ADD COLUMN d tinyint(3) unsigned; ADD COLUMN e smallint(6); ADD COLUMN f mediumint(8) unsigned; ADD COLUMN g int(11); ADD COLUMN h int(3) unsigned zerofill; ADD COLUMN i bigint(20); ADD COLUMN j int(11)"},
		{"5", "CREATE TABLE t (a INT, b YEAR, c GEOMETRYCOLLECTION, d NCHAR(3))",
		"CREATE TABLE: test.t | ADD COLUMN a int(11); ADD COLUMN b year(4); ADD COLUMN c geometrycollection; ADD COLUMN d char(3) charset:utf8"},
		{"m", "CREATE TABLE t (a DECIMAL, b DECIMAL(5), c NUMERIC(5,2) UNSIGNED, d DEC(0,0), e FIXED(3,1) ZEROFILL, f FLOAT, g FLOAT(24), h FLOAT(25), i FLOAT(7,3), j DOUBLE PRECISION, k REAL, l DOUBLE(9,2) UNSIGNED, m FLOAT8)",
		"CREATE TABLE: test.t | ADD COLUMN a decimal(10,0); ADD COLUMN b decimal(5,0); ADD COLUMN c decimal(5,2) unsigned; ADD COLUMN d decimal(10,0); ADD COLUMN e decimal(3,1) unsigned zerofill; ADD COLUMN f float; ADD COLUMN g float; ADD COLUMN h double; ADD COLUMN i float(7,3); ADD COLUMN j double; ADD COLUMN k double; ADD COLUMN l double(9,2) unsigned; ADD COLUMN m double"},
		{"mr", "CREATE TABLE t (a REAL)",
		"CREATE TABLE: test.t | ADD COLUMN a float"},
		{"m", "CREATE TABLE t (a CHAR, b CHARACTER(3), c VARCHAR(5), d CHAR VARYING(6), e NATIONAL CHARACTER VARYING(7), f NVARCHAR(8), g NCHAR, h NATIONAL VARCHAR(9), i NCHAR VARCHAR(4), j LONG, k LONG VARCHAR, l LONG VARBINARY, m BINARY, n VARBINARY(3))",
		"CREATE TABLE: test.t | ADD COLUMN a char(1); ADD COLUMN b char(3); ADD COLUMN c varchar(5); ADD COLUMN d varchar(6); ADD COLUMN e varchar(7) charset:utf8mb3; ADD COLUMN f varchar(8) charset:utf8mb3; ADD COLUMN g char(1) charset:utf8mb3; ADD COLUMN h varchar(9) charset:utf8mb3; ADD COLUMN i varchar(4) charset:utf8mb3; ADD COLUMN j mediumtext; ADD COLUMN k mediumtext; ADD COLUMN l mediumblob; ADD COLUMN m binary(1); ADD COLUMN n varbinary(3)"},
		{"m", "CREATE TABLE t (a CHAR(3) CHARACTER SET binary, b VARCHAR(3) BYTE, c TEXT CHARSET binary, d VARCHAR(5) ASCII, e CHAR(2) UNICODE BINARY, f VARCHAR(3) BINARY CHARACTER SET latin1, g VARCHAR(9) COLLATE utf8mb4_bin)",
		"CREATE TABLE: test.t | ADD COLUMN a binary(3) charset:binary; ADD COLUMN b varbinary(3) charset:binary; ADD COLUMN c blob charset:binary; ADD COLUMN d varchar(5) charset:latin1; ADD COLUMN e char(2) charset:ucs2 binary; ADD COLUMN f varchar(3) charset:latin1 binary; ADD COLUMN g varchar(9) collate:utf8mb4_bin"},
		{"m", "CREATE TABLE t (a TEXT, b TEXT(300), c BLOB(300), d TINYTEXT, e MEDIUMBLOB, f LONGTEXT, g BLOB(70000), h TEXT(10) CHARACTER SET binary, i BLOB(0))",
		"CREATE TABLE: test.t | ADD COLUMN a text; ADD COLUMN b ?text; ADD COLUMN c blob; ADD COLUMN d tinytext; ADD COLUMN e mediumblob; ADD COLUMN f longtext; ADD COLUMN g mediumblob; ADD COLUMN h tinyblob charset:binary; ADD COLUMN i tinyblob"},
		{"m", "CREATE TABLE t (a ENUM('x','y ''z''  ', 'c\\\\d', x'41', b'01000010') CHARACTER SET utf8mb4, b SET(\"q\", 'r'), c ENUM(_latin1 x'E9'), d ENUM('a' 'b'))",
		"CREATE TABLE: test.t | ADD COLUMN a enum('x','y ''z''','c\\\\d','A','B') charset:utf8mb4; ADD COLUMN b set('q','r'); ADD COLUMN c ?enum; ADD COLUMN d enum('ab')"},
		{"m", "CREATE TABLE t (a DATE, b TIME(3), c DATETIME(0), d TIMESTAMP(6), e YEAR, f YEAR(4), g JSON, h POINT, i GEOMCOLLECTION SRID 0, j VECTOR, k VECTOR(4))",
		"CREATE TABLE: test.t | ADD COLUMN a date; ADD COLUMN b time(3); ADD COLUMN c datetime; ADD COLUMN d timestamp(6); ADD COLUMN e year; ADD COLUMN f year; ADD COLUMN g json; ADD COLUMN h point; ADD COLUMN i geomcollection srid:0; ADD COLUMN j vector(2048); ADD COLUMN k vector(4)"},
		{"M", "CREATE TABLE t (a YEAR, b JSON, c UUID, d INET4, e INET6 DEFAULT '::1', f GEOMETRY REF_SYSTEM_ID=101, g VARCHAR(10) COMPRESSED=zlib DEFAULT 'a', h mariadb_schema.DATE, i oracle_schema.DATE, j some_type(3), k YEAR(2))",
		"CREATE TABLE: test.t | ADD COLUMN a year(4); ADD COLUMN b longtext; ADD COLUMN c uuid; ADD COLUMN d inet4; ADD COLUMN e inet6 default '::1'; ADD COLUMN f geometry srid:101; ADD COLUMN g varchar(10) /*M!100301 COMPRESSED*/ default 'a'; ADD COLUMN h date; ADD COLUMN i ?oracle_schema.date; ADD COLUMN j ?some_type; ADD COLUMN k year(2)"},
	};

	check(rows, lengthof(rows));
}

static void
columns(void)
{
	static const Row rows[] = {
		{"m", "CREATE TABLE t (a INT DEFAULT 5, b INT DEFAULT -1.5, c VARCHAR(3) DEFAULT 'a' 'b', d INT DEFAULT NULL, e BIT(4) DEFAULT b'0101', f BINARY DEFAULT x'4a', g INT DEFAULT 0x1F, h DOUBLE DEFAULT 1e3, i BOOL DEFAULT TRUE, j CHAR DEFAULT _utf8mb4'x' COLLATE utf8mb4_bin)",
		"CREATE TABLE: test.t | ADD COLUMN a int default 5; ADD COLUMN b int default -1.5; ADD COLUMN c varchar(3) default 'ab'; ADD COLUMN d int default NULL; ADD COLUMN e bit(4) default b0101; ADD COLUMN f binary(1) default x4a; ADD COLUMN g int default x1F; ADD COLUMN h double default 1e3; ADD COLUMN i tinyint(1) default 1; ADD COLUMN j char(1) collate:utf8mb4_bin default 'x'"},
		{"m", "CREATE TABLE t (a TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3), b DATETIME DEFAULT NOW() ON UPDATE NOW(), c INT DEFAULT (1 + (2)), d JSON DEFAULT (json_array()), e DATE DEFAULT DATE'2020-01-02')",
		"CREATE TABLE: test.t | ADD COLUMN a timestamp(3) not-null default {CURRENT_TIMESTAMP(3)} update {CURRENT_TIMESTAMP(3)}; ADD COLUMN b datetime default {NOW()} update {NOW()}; ADD COLUMN c int default {1 + (2)}; ADD COLUMN d json default {json_array()}; ADD COLUMN e date default {DATE'2020-01-02'}"},
		{"M", "CREATE TABLE t (a INT DEFAULT NEXT VALUE FOR d.s, b CHAR(36) DEFAULT uuid() NOT NULL, c INT DEFAULT nextval(`s`), d INT DEFAULT (a) , e INT DEFAULT CASE WHEN a THEN 1 ELSE 2 END, f VARCHAR(9) DEFAULT @@sql_mode, g INT DEFAULT - 1)",
		"CREATE TABLE: test.t | ADD COLUMN a int(11) default {NEXT VALUE FOR d.s}; ADD COLUMN b char(36) not-null default {uuid()}; ADD COLUMN c int(11) default {nextval(`s`)}; ADD COLUMN d int(11) default {a}; ADD COLUMN e int(11) default {CASE WHEN a THEN 1 ELSE 2 END}; ADD COLUMN f varchar(9) default {@@sql_mode}; ADD COLUMN g int(11) default -1"},
		{"m", "CREATE TABLE t (a INT, b INT AS (a + 1), c INT GENERATED ALWAYS AS (a /* x */ * 2) STORED NOT NULL COMMENT 'c', d INT AS (a) VIRTUAL UNIQUE KEY INVISIBLE)",
		"CREATE TABLE: test.t | ADD COLUMN a int; ADD COLUMN b int virtual as {a + 1}; ADD COLUMN c int not-null stored as {a * 2} comment 'c'; ADD COLUMN d int virtual unique invisible as {a}"},
		{"M", "CREATE TABLE t (a INT, b INT AS (a) PERSISTENT, c INT INVISIBLE DEFAULT 1, d INT fulltext_option='x')",
		"CREATE TABLE: test.t | ADD COLUMN a int(11); ADD COLUMN b int(11) stored as {a}; ADD COLUMN c int(11) invisible default 1; ADD COLUMN d int(11)"},
		{"m", "CREATE TABLE t (a INT NULL UNIQUE COMMENT 'x' COLUMN_FORMAT FIXED STORAGE DISK ENGINE_ATTRIBUTE='{}' KEY, b INT SERIAL DEFAULT VALUE, c INT VISIBLE NOT SECONDARY, d INT MASKING POLICY p)",
		"CREATE TABLE: test.t | ADD COLUMN a int not-null null primary unique comment 'x'; ADD COLUMN b int not-null auto unique; ADD COLUMN c int; ADD COLUMN d int"},
	};

	check(rows, lengthof(rows));
}

static void
altered(void)
{
	static const Row rows[] = {
		{"m", "ALTER TABLE t",
		"ALTER TABLE: test.t"},
		{"M", "ALTER ONLINE IGNORE TABLE IF EXISTS d.t WAIT 10 ADD a INT",
		"ALTER TABLE maybe ignore: d.t | ADD COLUMN a int(11)"},
		{"m", "ALTER TABLE t ADD COLUMN a INT FIRST, ADD b INT NOT NULL AFTER `a`, ADD COLUMN (c INT, KEY (c), d INT)",
		"ALTER TABLE: test.t | ADD COLUMN a int first; ADD COLUMN b int not-null after:a; ADD COLUMN c int; ADD KEY plain -(c); ADD COLUMN d int"},
		{"M", "ALTER TABLE t ADD COLUMN IF NOT EXISTS a INT, ADD COLUMN IF NOT EXISTS (b INT), DROP COLUMN IF EXISTS c, DROP d CASCADE, DROP COLUMN e RESTRICT",
		"ALTER TABLE: test.t | ADD COLUMN maybe a int(11); ADD COLUMN maybe b int(11); DROP COLUMN maybe c; DROP COLUMN d; DROP COLUMN e"},
		{"m", "ALTER TABLE t CHANGE a b BIGINT UNSIGNED NOT NULL AFTER c, CHANGE COLUMN x x INT FIRST, MODIFY y VARCHAR(20), MODIFY COLUMN t.z TEXT",
		"ALTER TABLE: test.t | CHANGE COLUMN a b bigint unsigned not-null after:c; CHANGE COLUMN x x int first; MODIFY COLUMN y varchar(20); MODIFY COLUMN z text"},
		{"M", "ALTER TABLE t CHANGE COLUMN IF EXISTS a b INT, MODIFY IF EXISTS c INT, RENAME COLUMN IF EXISTS d TO e, ALTER COLUMN IF EXISTS f SET DEFAULT uuid()",
		"ALTER TABLE: test.t | CHANGE COLUMN maybe a b int(11); MODIFY COLUMN maybe c int(11); RENAME COLUMN maybe d -> e; ALTER COLUMN SET DEFAULT maybe f = {uuid()}"},
		{"m", "ALTER TABLE t RENAME COLUMN a TO b, RENAME COLUMN b TO a, RENAME INDEX i TO j, RENAME KEY k TO l",
		"ALTER TABLE: test.t | RENAME COLUMN a -> b; RENAME COLUMN b -> a; RENAME KEY i -> j; RENAME KEY k -> l"},
		{"m", "ALTER TABLE t ALTER a SET DEFAULT 5, ALTER COLUMN b SET DEFAULT (now()), ALTER c DROP DEFAULT, ALTER d SET INVISIBLE, ALTER e SET VISIBLE, ALTER f SET DEFAULT 'x', ALTER g SET DEFAULT NULL, ALTER h SET MASKING POLICY p, ALTER h DROP MASKING POLICY",
		"ALTER TABLE: test.t | ALTER COLUMN SET DEFAULT a = 5; ALTER COLUMN SET DEFAULT b = {now()}; ALTER COLUMN DROP DEFAULT c; ALTER COLUMN SET VISIBLE d off; ALTER COLUMN SET VISIBLE e; ALTER COLUMN SET DEFAULT f = 'x'; ALTER COLUMN SET DEFAULT g = NULL; ALTER COLUMN SET MASKING POLICY h -> p; ALTER COLUMN SET MASKING POLICY h"},
		{"m", "ALTER TABLE t ADD INDEX (a), ADD KEY k (a(5)), ADD UNIQUE (b), ADD UNIQUE INDEX u (b DESC), ADD PRIMARY KEY (c), ADD FULLTEXT f (d), ADD SPATIAL INDEX s (e), ADD CONSTRAINT pk PRIMARY KEY (a), ADD CONSTRAINT UNIQUE v (a)",
		"ALTER TABLE: test.t | ADD KEY plain -(a); ADD KEY plain k(a:5); ADD KEY unique -(b); ADD KEY unique u(b desc); ADD KEY primary -(c); ADD KEY fulltext f(d); ADD KEY spatial s(e); ADD KEY primary -(a) constraint:pk; ADD KEY unique v(a)"},
		{"m", "ALTER TABLE t DROP INDEX i, DROP KEY k, DROP PRIMARY KEY, DROP FOREIGN KEY f, DROP CHECK c, DROP CONSTRAINT x, ALTER INDEX i INVISIBLE, ALTER INDEX j VISIBLE, ALTER CHECK c NOT ENFORCED, ALTER CONSTRAINT d ENFORCED",
		"ALTER TABLE: test.t | DROP KEY i; DROP KEY k; DROP PRIMARY KEY; DROP FOREIGN KEY f; DROP CHECK c; DROP CONSTRAINT x; ALTER KEY i off; ALTER KEY j; ALTER CHECK c off; ALTER CONSTRAINT d"},
		{"M", "ALTER TABLE t DROP INDEX IF EXISTS i, DROP FOREIGN KEY IF EXISTS f, DROP CONSTRAINT IF EXISTS x, ALTER INDEX IF EXISTS i NOT IGNORED, ALTER KEY j IGNORED, ADD INDEX IF NOT EXISTS i (a), ADD CONSTRAINT IF NOT EXISTS c CHECK (a > 1), ADD FOREIGN KEY IF NOT EXISTS f (a) REFERENCES p (b)",
		"ALTER TABLE: test.t | DROP KEY maybe i; DROP FOREIGN KEY maybe f; DROP CONSTRAINT maybe x; ALTER KEY maybe i; ALTER KEY j off; ADD KEY maybe plain i(a); ADD CHECK maybe c check c {a > 1}; ADD FOREIGN KEY maybe f (a) -> test.p(b)"},
		{"M", "ALTER TABLE t DROP CONSTRAINT PRIMARY KEY, DROP CONSTRAINT IF EXISTS PRIMARY KEY",
		"ALTER TABLE: test.t | DROP PRIMARY KEY; DROP PRIMARY KEY maybe"},
		{"m", "ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (a) REFERENCES p (b) ON UPDATE SET DEFAULT ON DELETE RESTRICT, ADD CHECK (a > 0) NOT ENFORCED, ADD CONSTRAINT c CHECK (b)",
		"ALTER TABLE: test.t | ADD FOREIGN KEY f (a) -> test.p(b) delete:restrict update:set default; ADD CHECK check - {a > 0} off; ADD CHECK c check c {b}"},
		{"m", "ALTER TABLE t RENAME TO d.u",
		"ALTER TABLE: test.t | RENAME TO d.u"},
		{"m", "ALTER TABLE t RENAME u, ADD a INT",
		"ALTER TABLE: test.t | RENAME TO test.u; ADD COLUMN a int"},
		{"m", "ALTER TABLE t RENAME AS u",
		"ALTER TABLE: test.t | RENAME TO test.u"},
		{"M", "ALTER TABLE t RENAME = u",
		"ALTER TABLE: test.t | RENAME TO test.u"},
		{"m", "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, CONVERT TO CHARSET DEFAULT",
		"ALTER TABLE: test.t | CONVERT TO CHARACTER SET utf8mb4 collate:utf8mb4_bin; CONVERT TO CHARACTER SET default"},
		{"m", "ALTER TABLE t DEFAULT CHARACTER SET latin1 COLLATE latin1_bin, ENGINE=InnoDB ROW_FORMAT=COMPACT, COMMENT 'x', AUTO_INCREMENT 7, FORCE, ALGORITHM=INSTANT, LOCK NONE",
		"ALTER TABLE: test.t | option charset -> latin1; option collate -> latin1_bin; option engine -> InnoDB; option row_format -> COMPACT; option comment -> x; option auto_increment -> 7; FORCE; ALGORITHM -> instant; LOCK -> none"},
		{"m", "ALTER TABLE t ENABLE KEYS, DISABLE KEYS, WITH VALIDATION, WITHOUT VALIDATION, SECONDARY_LOAD, SECONDARY_UNLOAD, SECONDARY_ENGINE = NULL",
		"ALTER TABLE: test.t | ENABLE KEYS; DISABLE KEYS; WITH VALIDATION; WITH VALIDATION off; SECONDARY_LOAD; SECONDARY_LOAD off; option secondary_engine -> NULL"},
		{"m", "ALTER TABLE t DISCARD TABLESPACE",
		"ALTER TABLE: test.t | DISCARD TABLESPACE"},
		{"m", "ALTER TABLE t IMPORT TABLESPACE;",
		"ALTER TABLE: test.t | IMPORT TABLESPACE"},
		{"m", "ALTER TABLE t ORDER BY a, b DESC",
		"ALTER TABLE: test.t | ORDER BY"},
		{"M", "ALTER TABLE t ADD SYSTEM VERSIONING, ADD PERIOD FOR SYSTEM_TIME (s, e), DROP SYSTEM VERSIONING, DROP PERIOD IF EXISTS FOR app, DROP PERIOD FOR SYSTEM_TIME, WITH SYSTEM VERSIONING",
		"ALTER TABLE: test.t | ADD SYSTEM VERSIONING; ADD PERIOD SYSTEM_TIME(s,e); DROP SYSTEM VERSIONING; DROP PERIOD maybe app; DROP PERIOD SYSTEM_TIME; ADD SYSTEM VERSIONING"},
		{"m", "ALTER TABLE t ADD COLUMN a INT PARTITION BY KEY (a) PARTITIONS 2",
		"ALTER TABLE: test.t | ADD COLUMN a int; PARTITION BY -> KEY (a) PARTITIONS 2"},
		{"m", "ALTER TABLE t REMOVE PARTITIONING",
		"ALTER TABLE: test.t | REMOVE PARTITIONING"},
		{"m", "ALTER TABLE t ADD PARTITION (PARTITION p2 VALUES LESS THAN (30))",
		"ALTER TABLE: test.t | ADD PARTITION"},
		{"m", "ALTER TABLE t ADD PARTITION PARTITIONS 4",
		"ALTER TABLE: test.t | ADD PARTITION"},
		{"M", "ALTER TABLE t DROP PARTITION IF EXISTS p0, p1",
		"ALTER TABLE: test.t | DROP PARTITION maybe(p0,p1)"},
		{"m", "ALTER TABLE t TRUNCATE PARTITION ALL",
		"ALTER TABLE: test.t | TRUNCATE PARTITION(ALL)"},
		{"m", "ALTER TABLE t EXCHANGE PARTITION p0 WITH TABLE d.x WITHOUT VALIDATION",
		"ALTER TABLE: test.t | EXCHANGE PARTITION d.x(p0)"},
		{"m", "ALTER TABLE t REORGANIZE PARTITION p0, p1 INTO (PARTITION p VALUES LESS THAN (10))",
		"ALTER TABLE: test.t | REORGANIZE PARTITION(p0,p1)"},
		{"m", "ALTER TABLE t COALESCE PARTITION 2",
		"ALTER TABLE: test.t | COALESCE PARTITION"},
		{"m", "ALTER TABLE t REBUILD PARTITION p0",
		"ALTER TABLE: test.t | OPTIMIZE PARTITION(p0)"},
		{"m", "ALTER TABLE t OPTIMIZE PARTITION p0 NO_WRITE_TO_BINLOG",
		"ALTER TABLE: test.t | OPTIMIZE PARTITION(p0)"},
		{"m", "ALTER TABLE t DISCARD PARTITION p0 TABLESPACE",
		"ALTER TABLE: test.t | DISCARD PARTITION(p0)"},
		{"m", "ALTER TABLE t IMPORT PARTITION ALL TABLESPACE",
		"ALTER TABLE: test.t | IMPORT PARTITION(ALL)"},
		{"M", "ALTER TABLE t CONVERT PARTITION p0 TO TABLE d.x",
		"ALTER TABLE: test.t | CONVERT PARTITION d.x(p0)"},
		{"M", "ALTER TABLE t CONVERT TABLE x TO PARTITION p0 VALUES LESS THAN (10)",
		"ALTER TABLE: test.t | CONVERT TABLE test.x"},
		{"m", "CREATE UNIQUE INDEX i USING BTREE ON d.t (a(3), (b + 1) DESC) KEY_BLOCK_SIZE=8 ALGORITHM=INPLACE LOCK=NONE",
		"CREATE INDEX: d.t | ADD KEY unique i(a:3,{b + 1} desc); ALGORITHM -> inplace; LOCK -> none"},
		{"M", "CREATE OR REPLACE FULLTEXT INDEX IF NOT EXISTS i ON t WAIT 3 (a)",
		"CREATE INDEX replace: test.t | ADD KEY maybe fulltext i(a)"},
		{"M", "CREATE INDEX i ON t (a) WAIT 1",
		"CREATE INDEX: test.t | ADD KEY plain i(a)"},
		{"m", "DROP INDEX `PRIMARY` ON t LOCK=DEFAULT",
		"DROP INDEX: test.t | DROP KEY PRIMARY; LOCK -> default"},
		{"M", "DROP INDEX IF EXISTS i ON t NOWAIT",
		"DROP INDEX: test.t | DROP KEY maybe i"},
	};

	check(rows, lengthof(rows));
}

static void
tables(void)
{
	static const Row rows[] = {
		{"m", "DROP TABLE t",
		"DROP TABLE: test.t"},
		{"m", "DROP TABLE IF EXISTS a, d.b, `c` CASCADE",
		"DROP TABLE maybe: test.a, d.b, test.c"},
		{"m", "DROP TEMPORARY TABLE IF EXISTS `a` /* generated by server */",
		"DROP TEMPORARY TABLE temporary maybe: test.a"},
		{"M", "DROP TABLES a WAIT 5 RESTRICT",
		"DROP TABLE: test.a"},
		{"m", "RENAME TABLE a TO b, b TO c, d.x TO e.x",
		"RENAME TABLE: test.a -> test.b, test.b -> test.c, d.x -> e.x"},
		{"M", "RENAME TABLES IF EXISTS a WAIT 3 TO b, c NOWAIT TO d",
		"RENAME TABLE maybe: test.a -> test.b, test.c -> test.d"},
		{"m", "TRUNCATE t",
		"TRUNCATE TABLE: test.t"},
		{"M", "TRUNCATE TABLE d.t NOWAIT",
		"TRUNCATE TABLE: d.t"},
		{"M", "CREATE SEQUENCE IF NOT EXISTS s START WITH 1",
		"CREATE SEQUENCE maybe: test.s"},
		{"M", "DROP SEQUENCE s, d.r",
		"DROP SEQUENCE: test.s, d.r"},
		{"M", "ALTER SEQUENCE s RESTART",
		"OTHER ALTER SEQUENCE"},
		{"m", "CREATE DATABASE IF NOT EXISTS d DEFAULT CHARACTER SET utf8mb4",
		"CREATE DATABASE d maybe"},
		{"m", "ALTER SCHEMA d COLLATE utf8mb4_bin",
		"ALTER DATABASE d"},
		{"m", "ALTER DATABASE DEFAULT CHARACTER SET = latin1",
		"ALTER DATABASE test"},
		{"m", "ALTER DATABASE ENCRYPTION = 'Y'",
		"ALTER DATABASE test"},
		{"m", "ALTER DATABASE comment READ ONLY = 1",
		"ALTER DATABASE comment"},
		{"m", "DROP DATABASE IF EXISTS `d`",
		"DROP DATABASE d maybe"},
		{"mf", "ALTER TABLE Shop.`\xC3\x84\xC3\x96` RENAME TO T2, CHANGE Aa Bb INT",
		"ALTER TABLE: shop.\xC3\xA4\xC3\xB6 | RENAME TO test.t2; CHANGE COLUMN Aa Bb int"},
		{"mf", "CREATE TABLE T LIKE D.S",
		"CREATE TABLE: test.t like d.s"},
		{"mf", "DROP DATABASE D",
		"DROP DATABASE d"},
	};

	check(rows, lengthof(rows));
}

static void
others(void)
{
	static const Row rows[] = {
		{"m", "",
		"OTHER nothing"},
		{"m", "  -- nothing\n /* at all */ ;",
		"OTHER nothing"},
		{"m", "CREATE ALGORITHM=UNDEFINED DEFINER=`root`@`localhost` SQL SECURITY DEFINER VIEW v AS SELECT a FROM t",
		"OTHER CREATE VIEW"},
		{"M", "CREATE OR REPLACE DEFINER=root@localhost VIEW v AS SELECT 1",
		"OTHER CREATE VIEW"},
		{"m", "CREATE DEFINER=`a`@'%' PROCEDURE p () BEGIN ALTER TABLE t DROP a; DROP TABLE t; END",
		"OTHER CREATE PROCEDURE"},
		{"M", "CREATE AGGREGATE FUNCTION f (x INT) RETURNS INT BEGIN RETURN 1; END",
		"OTHER CREATE FUNCTION"},
		{"m", "CREATE FUNCTION f() RETURNS INT LANGUAGE JAVASCRIPT AS $$ return ';' + \"'\" $$",
		"OTHER CREATE FUNCTION"},
		{"m", "CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 1",
		"OTHER CREATE TRIGGER"},
		{"m", "ALTER EVENT e DISABLE",
		"OTHER ALTER EVENT"},
		{"m", "DROP PROCEDURE IF EXISTS p",
		"OTHER DROP PROCEDURE"},
		{"m", "DROP VIEW v; DROP TABLE t",
		"UNKNOWN 13 the statement was expected to end"},
		{"m", "CREATE USER u@'%' IDENTIFIED BY 'x'",
		"OTHER CREATE USER"},
		{"M", "CREATE ROLE r",
		"OTHER CREATE ROLE"},
		{"m", "GRANT ALL ON *.* TO ``@localhost",
		"OTHER GRANT"},
		{"m", "REVOKE SELECT ON t FROM u",
		"OTHER REVOKE"},
		{"m", "RENAME USER a TO b",
		"OTHER RENAME USER"},
		{"m", "ANALYZE TABLE t",
		"OTHER ANALYZE"},
		{"m", "OPTIMIZE NO_WRITE_TO_BINLOG TABLE t",
		"OTHER OPTIMIZE"},
		{"m", "SET PASSWORD FOR u = 'x'",
		"OTHER SET"},
		{"m", "FLUSH TABLES t",
		"OTHER FLUSH"},
		{"m", "CREATE TABLESPACE s ADD DATAFILE 'x.ibd'",
		"OTHER CREATE TABLESPACE"},
		{"m", "CREATE SPATIAL REFERENCE SYSTEM 4120 NAME 'x'",
		"OTHER CREATE SPATIAL REFERENCE SYSTEM"},
		{"m", "DROP UNDO TABLESPACE x",
		"OTHER DROP TABLESPACE"},
	};

	check(rows, lengthof(rows));
}

static void
lexical(void)
{
	static const Row rows[] = {
		{"m", "/* a */ ALTER /*!50000 TABLE t */ -- x\n ADD # y\n a INT",
		"ALTER TABLE: test.t | ADD COLUMN a int"},
		{"m", "ALTER TABLE t /*!99999 DROP a */ ADD b INT",
		"ALTER TABLE: test.t | ADD COLUMN b int"},
		{"m", "ALTER TABLE t /*M!100100 DROP a */ ADD b INT",
		"ALTER TABLE: test.t | ADD COLUMN b int"},
		{"M", "ALTER TABLE t /*M!100100 DROP a */",
		"ALTER TABLE: test.t | DROP COLUMN a"},
		{"M", "ALTER TABLE t /*!50701 DROP a */",
		"ALTER TABLE: test.t"},
		{"M", "ALTER TABLE t /*!50699 DROP a */",
		"ALTER TABLE: test.t | DROP COLUMN a"},
		{"M", "ALTER TABLE t /*!999999 DROP a, */ DROP b",
		"ALTER TABLE: test.t | DROP COLUMN b"},
		{"m", "ALTER TABLE t /*!99999 DROP /* x */ a */ ADD b INT",
		"ALTER TABLE: test.t | ADD COLUMN b int"},
		{"m", "ALTER TABLE t /*! DROP a",
		"UNKNOWN 24 a comment is not closed"},
		{"m", "ALTER TABLE t DROP a /*",
		"UNKNOWN 21 a comment is not closed"},
		{"ma", "ALTER TABLE \"my\"\"t\" ADD \"a\" INT DEFAULT 'it\\'s'",
		"ALTER TABLE: test.my\"t | ADD COLUMN a int default 'it's'"},
		{"m", "ALTER TABLE t ADD a CHAR(9) DEFAULT \"it\\\"s \\n\"",
		"ALTER TABLE: test.t | ADD COLUMN a char(9) default 'it\"s \n'"},
		{"mn", "ALTER TABLE t ADD a CHAR(9) DEFAULT 'c:\\'",
		"ALTER TABLE: test.t | ADD COLUMN a char(9) default 'c:\\'"},
		{"m", "ALTER TABLE t ADD a CHAR(9) DEFAULT n'x'",
		"ALTER TABLE: test.t | ADD COLUMN a char(9) default 'x'"},
		{"m", "ALTER TABLE t ADD a CHAR(9) DEFAULT 'open",
		"UNKNOWN 36 a string is not closed"},
		{"m", "ALTER TABLE `t DROP a",
		"UNKNOWN 12 a name is not closed"},
		{"m", "ALTER TABLE d.1a DROP 2b, DROP `3 c`",
		"ALTER TABLE: d.1a | DROP COLUMN 2b; DROP COLUMN 3 c"},
		{"m", "ALTER TABLE . t DROP a",
		"ALTER TABLE: test.t | DROP COLUMN a"},
		{"M", "SET STATEMENT max_statement_time = 10, lock_wait_timeout = 1 FOR ALTER TABLE t DROP a",
		"ALTER TABLE: test.t | DROP COLUMN a"},
		{"M", "SET STATEMENT sql_mode = 'ANSI_QUOTES' FOR ALTER TABLE t ADD a CHAR(3) DEFAULT \"x\"",
		"UNKNOWN 39 the statement sets sql_mode and has constants that depend on it"},
		{"M", "SET STATEMENT a = 1",
		"UNKNOWN 19 FOR was expected"},
		{"m", "ALTER TABLE t DROP a; ALTER TABLE t DROP b",
		"UNKNOWN 22 the statement was expected to end"},
		{"m", "ALTER TABLE t DROP a;; -- end",
		"ALTER TABLE: test.t | DROP COLUMN a"},
		{"m", "ALTER TABLE t DROP a \001",
		"UNKNOWN 21 a character is not understood"},
	};

	check(rows, lengthof(rows));
}

static void
unknown(void)
{
	static const Row rows[] = {
		{"m", "INSERT INTO t VALUES (1)",
		"UNKNOWN 0 a statement of definitions was expected"},
		{"m", "CALL p()",
		"UNKNOWN 0 a statement of definitions was expected"},
		{"m", "ALTER TABLE",
		"UNKNOWN 11 a name was expected"},
		{"m", "ALTER TABLE t ADD",
		"UNKNOWN 17 a name was expected"},
		{"m", "ALTER TABLE t ADD a",
		"UNKNOWN 19 a name was expected"},
		{"m", "ALTER TABLE t DROP a,",
		"UNKNOWN 21 a clause of ALTER TABLE was expected"},
		{"m", "ALTER TABLE t ADD a INT ADD b INT",
		"UNKNOWN 24 a comma or the end of ALTER TABLE was expected"},
		{"m", "ALTER TABLE t CHANGE a INT",
		"UNKNOWN 26 a name was expected"},
		{"m", "ALTER TABLE t ADD a INT DEFAULT (1",
		"UNKNOWN 34 a parenthesis is not closed"},
		{"m", "ALTER TABLE t FROB a",
		"UNKNOWN 14 a clause of ALTER TABLE was expected"},
		{"m", "CREATE TABLE t (a ENUM(x'00'))",
		"UNKNOWN 23 a member has a zero byte"},
		{"m", "CREATE TABLE t (a INT,)",
		"UNKNOWN 22 a name was expected"},
		{"m", "CREATE TABLE t (a INT",
		"UNKNOWN 21 \")\" was expected"},
		{"m", "CREATE THING t",
		"UNKNOWN 7 what is made was expected"},
		{"m", "RENAME TABLE a b",
		"UNKNOWN 15 TO was expected"},
		{"m", "DROP TABLE",
		"UNKNOWN 10 a name was expected"},
		{"m", "ALTER TABLE [t 1] ADD a INT",
		"UNKNOWN 12 a name was expected"},
		{"m", "CREATE TABLE t (a INT) FROB",
		"UNKNOWN 23 an option of a table or a query was expected"},
	};

	check(rows, lengthof(rows));
}

/* What a statement may change, by its clauses. */
static void
changes(void)
{
	static const struct
	{
		const char *sql;
		uint32		changes;
	}			rows[] = {
		{"ALTER TABLE t ADD INDEX (a), COMMENT 'x'", SL_DDL_INDEXES | SL_DDL_OPTIONS},
		{"ALTER TABLE t ADD UNIQUE (a)", SL_DDL_KEYS},
		{"CREATE UNIQUE INDEX i ON t (a)", SL_DDL_KEYS},
		{"ALTER TABLE t ADD a INT, RENAME u", SL_DDL_COLUMNS | SL_DDL_NAME},
		{"ALTER TABLE t ALTER a SET INVISIBLE", SL_DDL_COLUMNS},
		{"ALTER TABLE t FORCE, ALGORITHM=COPY, LOCK=NONE", 0},
		{"ALTER TABLE t TRUNCATE PARTITION p", SL_DDL_ROWS},
		{"ALTER TABLE t EXCHANGE PARTITION p WITH TABLE x", SL_DDL_ROWS},
		{"ALTER IGNORE TABLE t FORCE", SL_DDL_ROWS},
		{"TRUNCATE t", SL_DDL_ROWS},
		{"DROP TABLE t", SL_DDL_NAME},
		{"RENAME TABLE a TO b", SL_DDL_NAME},
		{"ANALYZE TABLE t", 0},
		{"CREATE DATABASE d", 0},
		{"what is this", SL_DDL_COLUMNS | SL_DDL_KEYS | SL_DDL_INDEXES | SL_DDL_ROWS | SL_DDL_NAME | SL_DDL_OPTIONS},
	};
	SlMySession s = session_of("m");

	for (int i = 0; i < lengthof(rows); i++)
		CHECK_AT(sl_ddl_changes(sl_ddl_parse(rows[i].sql, strlen(rows[i].sql), &s)) == rows[i].changes, "%s", rows[i].sql);
}

/* Texts that stand in no line of the tables above. */
static void
parts(void)
{
	static const char sql[] = "ALTER TABLE t MODIFY a /* x */ INT  NOT NULL\nDEFAULT 5 FIRST, ADD CHECK (a)";
	SlMySession s = session_of("m");
	SlDdl	   *d = sl_ddl_parse(sql, strlen(sql), &s);

	CHECK(d->kind == SL_DDL_ALTER_TABLE && d->effects[0].nclauses == 2);
	CHECK(strcmp(d->effects[0].clauses[0].column->definition, "INT NOT NULL DEFAULT 5") == 0);
	CHECK(strncmp(sql + d->effects[0].clauses[0].at, "a /*", 4) == 0);
	CHECK(strncmp(sql + d->effects[0].clauses[1].at, "CHECK", 5) == 0);
}

static void
names(void)
{
	CHECK(strcmp(sl_my_folded("AZ\xC3\x84\xC5\xBD\xD0\x96\xCE\xA3\xE2\x82\xAC\xC3\x97"),
				 "az\xC3\xA4\xC5\xBE\xD0\xB6\xCF\x83\xE2\x82\xAC\xC3\x97") == 0);
	CHECK(sl_my_same_name("Abc", "aBC"));
	CHECK(!sl_my_same_name("abc", "abd"));
	/* cut off within a character */
	CHECK(strcmp(sl_my_folded("A\xC3"), "a\xC3") == 0);
}

/* What is too long is not looked at; deep parentheses are no recursion. */
static void
limits(void)
{
	SlMySession s = session_of("m");
	size_t		len = SL_MY_MAX_STATEMENT + 1;
	char	   *sql = palloc(len);
	SlDdl	   *d;

	memset(sql, '(', len);
	memcpy(sql, "CREATE TABLE t (a INT DEFAULT ", 30);
	d = sl_ddl_parse(sql, len, &s);
	CHECK(d->kind == SL_DDL_UNKNOWN && d->err.code == SL_ERR_LIMIT);
	d = sl_ddl_parse(sql, len / 4, &s);
	CHECK(d->kind == SL_DDL_UNKNOWN && d->err.code == SL_ERR_UNSUPPORTED);
}

int
main(void)
{
	RUN(created);
	RUN(types);
	RUN(columns);
	RUN(altered);
	RUN(tables);
	RUN(others);
	RUN(lexical);
	RUN(unknown);
	RUN(changes);
	RUN(parts);
	RUN(names);
	RUN(limits);
	return UNIT_END();
}
