"""Statements that are run on a source and replayed on layouts (tests/programs/mysql/replay.c)."""
import itertools
import subprocess

from .programs import program
from .util import scaled

# Blocks with a database each.  A line is a statement to run and replay; "S: " one to run
# only.  "M " is for MariaDB, "m " for MySQL, "? " may be refused (servers and versions
# differ), "U " must come out unsure.
CASES = r"""
S: CREATE TABLE t (id int primary key, a int, b varchar(20), c text)
ALTER TABLE t ADD COLUMN d int NOT NULL DEFAULT 5 AFTER id
ALTER TABLE t ADD e varchar(10) FIRST, ADD f datetime(3) DEFAULT now(3) ON UPDATE current_timestamp(3)
ALTER TABLE t DROP COLUMN e, RENAME COLUMN a TO aa
ALTER TABLE t CHANGE aa b int, CHANGE b aa varchar(20)
ALTER TABLE t RENAME COLUMN aa TO b, RENAME COLUMN b TO aa
ALTER TABLE t MODIFY b varchar(30) CHARACTER SET latin1 NOT NULL DEFAULT 'x'
ALTER TABLE t MODIFY c mediumtext AFTER id
ALTER TABLE t ADD UNIQUE (aa), ADD KEY k (b(5), d), ADD CONSTRAINT u2 UNIQUE (d)
ALTER TABLE t DROP COLUMN d
ALTER TABLE t ADD g int AS (aa + 1) VIRTUAL, ADD h int GENERATED ALWAYS AS (aa * 2) STORED
ALTER TABLE t ADD CHECK (aa > 0), ADD CONSTRAINT ck CHECK (aa < 100)
ALTER TABLE t DROP CONSTRAINT ck
ALTER TABLE t CONVERT TO CHARACTER SET latin1
ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4
ALTER TABLE t ADD j json, ADD e1 enum('a','b') DEFAULT 'b', ADD s1 set('x','y') DEFAULT 'y,x'
ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (id, aa)
ALTER TABLE t RENAME TO t2
CREATE TABLE p (x int primary key)
? ALTER TABLE t2 ADD FOREIGN KEY (aa) REFERENCES p (x) ON DELETE CASCADE
RENAME TABLE p TO pp, t2 TO t3
ALTER TABLE pp CHANGE x y int
ALTER TABLE pp RENAME COLUMN y TO z

S: CREATE TABLE t (id int primary key, a int, b varchar(20), c text)
ALTER TABLE t ADD (d int, e int unsigned NOT NULL)
ALTER TABLE t ADD f int FIRST, ADD g int AFTER f, ADD h int AFTER g
ALTER TABLE t ADD i int AFTER a, ADD j int AFTER i, DROP COLUMN h
ALTER TABLE t DROP COLUMN d, ADD COLUMN d varchar(5)
ALTER TABLE t DROP d, DROP e, DROP f
ALTER TABLE t MODIFY a int AFTER b, MODIFY b varchar(20) AFTER a
ALTER TABLE t MODIFY a bigint FIRST, MODIFY c text FIRST, ADD k int AFTER c
ALTER TABLE t CHANGE a aa int NOT NULL AFTER id, ADD z int AFTER aa
ALTER TABLE t CHANGE aa b int, CHANGE b c varchar(20), CHANGE c aa text
ALTER TABLE t CHANGE b B bigint
ALTER TABLE t RENAME COLUMN B TO b
? ALTER TABLE t ADD C1 int, MODIFY c1 bigint
? ALTER TABLE t ADD C1 int
ALTER TABLE t CHANGE C1 c2 int, ADD C1 int AFTER c2

S: CREATE TABLE t (id int primary key, a int, b varchar(20), c text)
ALTER TABLE t ALTER a SET DEFAULT 7
ALTER TABLE t ALTER COLUMN b SET DEFAULT 'it''s'
ALTER TABLE t ALTER a DROP DEFAULT, ALTER b DROP DEFAULT
ALTER TABLE t ALTER a SET DEFAULT (1 + 2)
ALTER TABLE t ALTER a SET DEFAULT NULL
m ALTER TABLE t ALTER COLUMN a SET INVISIBLE
m ALTER TABLE t ALTER COLUMN a SET VISIBLE
ALTER TABLE t MODIFY a int INVISIBLE
ALTER TABLE t MODIFY a int COMMENT 'it''s'
M ALTER TABLE t ADD COLUMN IF NOT EXISTS a int, ADD COLUMN IF NOT EXISTS n int
M ALTER TABLE t ADD COLUMN IF NOT EXISTS a int
M ALTER TABLE t DROP COLUMN IF EXISTS zz
M ALTER TABLE t DROP COLUMN IF EXISTS n, ADD COLUMN IF NOT EXISTS n bigint
M ALTER TABLE t ADD COLUMN IF NOT EXISTS q int, ADD COLUMN IF NOT EXISTS q bigint
M ALTER TABLE t CHANGE COLUMN IF EXISTS zz zzz int, MODIFY COLUMN IF EXISTS a bigint
M ALTER TABLE t RENAME COLUMN IF EXISTS zz TO yy
M ALTER TABLE t ALTER COLUMN IF EXISTS zz SET DEFAULT 4
M ALTER TABLE IF EXISTS t ADD w int
M ALTER TABLE t ADD KEY IF NOT EXISTS kk (a), ADD INDEX IF NOT EXISTS kk (b(3))
M ALTER TABLE t ADD KEY IF NOT EXISTS kk (b(3))
M ALTER TABLE t ADD UNIQUE IF NOT EXISTS (a)
M ALTER TABLE t ADD UNIQUE IF NOT EXISTS (a)
M ALTER TABLE t DROP KEY IF EXISTS nokey, DROP KEY IF EXISTS kk
M ALTER TABLE t ADD CONSTRAINT IF NOT EXISTS c1 CHECK (a > 0)
M ALTER TABLE t ADD CONSTRAINT IF NOT EXISTS c1 CHECK (a > 1)
M ALTER TABLE t DROP CONSTRAINT IF EXISTS c1, DROP CONSTRAINT IF EXISTS c2
M ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY IF NOT EXISTS (a)
M CREATE INDEX IF NOT EXISTS ix ON t (a)
M DROP INDEX IF EXISTS ixx ON t
M DROP INDEX IF EXISTS ix ON t

S: CREATE TABLE t (id int)
ALTER TABLE t ADD i1 int DEFAULT '05', ADD i2 int DEFAULT 1.6, ADD i3 int(5) ZEROFILL DEFAULT 7, ADD i4 bigint DEFAULT -3, ADD i5 tinyint(1) DEFAULT true, ADD i6 int DEFAULT 0x1F, ADD i7 int DEFAULT b'101', ADD i8 int unsigned DEFAULT +4
ALTER TABLE t ADD d1 decimal(10,2) DEFAULT 1.5, ADD d2 decimal(5,0) DEFAULT '12.5', ADD d3 decimal(8,3) zerofill DEFAULT '1', ADD d4 decimal(3,2) DEFAULT .5, ADD d5 decimal(5,1) DEFAULT -0.05
ALTER TABLE t ADD f1 float DEFAULT 1.50, ADD f2 double DEFAULT '2.250', ADD f3 double(8,2) DEFAULT 1, ADD f4 float DEFAULT 0.1, ADD f5 double DEFAULT 1e3, ADD f6 double DEFAULT -0.0
ALTER TABLE t ADD b1 bit DEFAULT 1, ADD b2 bit(8) DEFAULT b'0101', ADD b3 bit(8) DEFAULT 0, ADD b4 bit(16) DEFAULT 0x1F, ADD b5 bit(8) DEFAULT 'a'
ALTER TABLE t ADD s1 varchar(10) DEFAULT 'a''b\\c', ADD s2 char(5) DEFAULT 'ab  ', ADD s3 varchar(5) DEFAULT '', ADD s4 varchar(5) DEFAULT 5, ADD s5 varchar(5) DEFAULT x'4142', ADD s6 varchar(5) DEFAULT "q", ADD s7 varchar(10) DEFAULT 'ä€', ADD s8 varchar(10) DEFAULT _latin1'abc', ADD s9 varchar(9) DEFAULT 'NULL'
ALTER TABLE t ADD y1 year DEFAULT 99, ADD y2 year DEFAULT '2020', ADD y3 year DEFAULT '0', ADD dd date DEFAULT '2020-1-2', ADD dt datetime DEFAULT '2020-01-02', ADD dt2 datetime(3) DEFAULT '2020-01-02 3:4:5.6', ADD ti time DEFAULT '10:00', ADD ti2 time(2) DEFAULT '-1:02:03.4', ADD ti3 time DEFAULT 5, ADD ti4 time DEFAULT 10203, ADD dd2 date DEFAULT 20200102, ADD dt3 datetime DEFAULT '20200102030405'
ALTER TABLE t ADD e1 enum('a','b') DEFAULT 'B', ADD e2 enum('x','y') NOT NULL DEFAULT 'y', ADD e3 set('a','b','c') DEFAULT 'c,a', ADD e4 set('a') DEFAULT ''
ALTER TABLE t ADD v1 binary(3) DEFAULT 'abc', ADD v2 varbinary(5) DEFAULT 'ab', ADD v3 varbinary(5) DEFAULT x'0102', ADD v4 varbinary(5) DEFAULT ''
M ALTER TABLE t ADD x1 text DEFAULT 'abc', ADD x2 blob DEFAULT 'ab', ADD x3 int DEFAULT (5), ADD x4 varchar(5) DEFAULT ('a'), ADD u1 uuid DEFAULT uuid(), ADD i01 inet6 DEFAULT '::1', ADD u2 uuid DEFAULT '123e4567-e89b-12d3-a456-426655440000'
m ALTER TABLE t ADD x1 text DEFAULT ('abc'), ADD x3 int DEFAULT (5), ADD x4 varchar(5) DEFAULT ('a'), ADD j1 json DEFAULT (json_array())
ALTER TABLE t ADD n1 datetime DEFAULT NOW(), ADD n2 datetime(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE NOW(6), ADD n3 timestamp NULL DEFAULT CURRENT_TIMESTAMP, ADD n4 timestamp(2) NOT NULL DEFAULT localtimestamp(2), ADD n5 date DEFAULT (curdate()), ADD n6 datetime DEFAULT (now() + interval 1 day)
? ALTER TABLE t ADD r1 double DEFAULT (rand())
ALTER TABLE t ADD r2 varchar(30) DEFAULT (concat('a', 'b')), ADD r3 int DEFAULT (id + 1)
? ALTER TABLE t RENAME COLUMN id TO idd

S: CREATE TABLE t (id int auto_increment primary key, a int, KEY (a))
ALTER TABLE t MODIFY id bigint
ALTER TABLE t MODIFY id bigint AUTO_INCREMENT
ALTER TABLE t MODIFY id bigint NOT NULL, DROP PRIMARY KEY, MODIFY a int AUTO_INCREMENT
ALTER TABLE t MODIFY a int
ALTER TABLE t ADD x serial
ALTER TABLE t DROP x
ALTER TABLE t ADD x bigint unsigned AUTO_INCREMENT UNIQUE
? ALTER TABLE t MODIFY x bigint NULL AUTO_INCREMENT

S: CREATE TABLE t (a int, b int, c varchar(10), d text, e int)
ALTER TABLE t ADD PRIMARY KEY (b)
ALTER TABLE t DROP PRIMARY KEY
ALTER TABLE t MODIFY a int PRIMARY KEY
ALTER TABLE t ADD UNIQUE (c), ADD UNIQUE (c), ADD UNIQUE KEY (a, b), ADD UNIQUE a2 (e)
ALTER TABLE t MODIFY c varchar(10) UNIQUE
ALTER TABLE t ADD f int UNIQUE KEY, ADD g int UNIQUE
ALTER TABLE t ADD KEY (d(10)), ADD KEY kd (d(5), c(3)), ADD KEY kc (c(10)), ADD KEY kc2 (c(9) DESC, e)
ALTER TABLE t MODIFY c varchar(9)
ALTER TABLE t MODIFY c varchar(5)
ALTER TABLE t MODIFY c varchar(50)
ALTER TABLE t MODIFY d varchar(100)
ALTER TABLE t MODIFY d varchar(4)
? ALTER TABLE t MODIFY c text
ALTER TABLE t RENAME KEY kd TO kdd, RENAME INDEX kc TO kcc
ALTER TABLE t DROP KEY kdd, ADD KEY kdd (e)
ALTER TABLE t ADD tx varchar(50), ADD FULLTEXT ft (tx)
ALTER TABLE t ADD FULLTEXT KEY (tx)
ALTER TABLE t DROP KEY a2
CREATE UNIQUE INDEX ci ON t (e, f)
CREATE INDEX cj ON t (f DESC)
DROP INDEX ci ON t
m ALTER TABLE t ALTER INDEX cj INVISIBLE
m ALTER TABLE t ALTER INDEX cj VISIBLE
M ALTER TABLE t ALTER INDEX cj IGNORED
m ALTER TABLE t ADD KEY fi ((a + e)), ADD UNIQUE ((lower(c))), ADD INDEX ((e * 2)), ADD INDEX ((e * 3), f)
ALTER TABLE t ADD CONSTRAINT cu UNIQUE (f), ADD CONSTRAINT cu2 UNIQUE KEY cu3 (f, e)
ALTER TABLE t DROP CONSTRAINT cu
m ALTER TABLE t DROP CONSTRAINT `PRIMARY`
? ALTER TABLE t DROP CONSTRAINT PRIMARY KEY
? ALTER TABLE t ADD KEY (f), ADD KEY f (a)
ALTER TABLE t ADD xx int, ADD yy int, ADD KEY (xx), ADD KEY (xx), ADD UNIQUE (xx, yy)
? ALTER TABLE t RENAME COLUMN e TO ee
? ALTER TABLE t DROP COLUMN b
? ALTER TABLE t DROP COLUMN a
? ALTER TABLE t MODIFY c int

S: CREATE TABLE t (a int, b int, c int, KEY kab (a, b), UNIQUE u (b, c), PRIMARY KEY (c))
? ALTER TABLE t DROP a, ADD a bigint
? ALTER TABLE t DROP b, ADD b bigint
? ALTER TABLE t DROP c, ADD c bigint
ALTER TABLE t CHANGE a b int, CHANGE b a int
? ALTER TABLE t DROP COLUMN c
? ALTER TABLE t DROP COLUMN b

S: CREATE TABLE t (a int, b int, KEY kab (a, b))
ALTER TABLE t DROP b
ALTER TABLE t DROP a, ADD z int

S: CREATE TABLE p (id int primary key, x int, y int, UNIQUE (x, y), UNIQUE (y))
S: CREATE TABLE c (id int primary key, p int, q int, r int)
ALTER TABLE c ADD FOREIGN KEY (p) REFERENCES p (id)
ALTER TABLE c ADD CONSTRAINT fq FOREIGN KEY (q, r) REFERENCES p (x, y) ON DELETE SET NULL ON UPDATE CASCADE
ALTER TABLE c ADD FOREIGN KEY fk_name (r) REFERENCES p (y) ON DELETE RESTRICT ON UPDATE NO ACTION
ALTER TABLE c DROP FOREIGN KEY c_ibfk_1
ALTER TABLE c ADD FOREIGN KEY (p) REFERENCES p (id), ADD FOREIGN KEY (q) REFERENCES p (id)
ALTER TABLE c ADD KEY own (p, q)
ALTER TABLE c RENAME COLUMN p TO pp
ALTER TABLE p CHANGE id idd int
RENAME TABLE c TO c2
RENAME TABLE p TO p2
ALTER TABLE c2 RENAME TO c3
ALTER TABLE c3 DROP FOREIGN KEY fq, ADD CONSTRAINT fq2 FOREIGN KEY (q) REFERENCES c3 (id)
ALTER TABLE c3 CHANGE id ident int
RENAME TABLE c3 TO p3, p2 TO c4
? ALTER TABLE p3 ADD s int REFERENCES c4 (idd)
? ALTER TABLE p3 ADD s2 int REFERENCES c4
? ALTER TABLE p3 ADD s3 int CONSTRAINT sfk REFERENCES c4 (idd) ON DELETE CASCADE
? ALTER TABLE p3 MODIFY s int REFERENCES c4 (idd)
? ALTER TABLE p3 DROP CONSTRAINT fq2
M ALTER TABLE p3 DROP FOREIGN KEY IF EXISTS nofk
M ALTER TABLE p3 ADD FOREIGN KEY IF NOT EXISTS fnew (s) REFERENCES c4 (idd)
M ALTER TABLE p3 ADD FOREIGN KEY IF NOT EXISTS fnew (s) REFERENCES c4 (idd)
? ALTER TABLE p3 DROP COLUMN q
? ALTER TABLE c4 DROP COLUMN y
? ALTER TABLE p3 ADD CONSTRAINT FOREIGN KEY (s) REFERENCES C4 (IDD)
DROP TABLE p3
DROP TABLE c4

S: CREATE TABLE t (a int CHECK (a > 0), b int, c int, CONSTRAINT named CHECK (b > c), CHECK (c > 5))
ALTER TABLE t ADD d int CHECK (d > 1)
ALTER TABLE t ADD CHECK (b > 0), ADD CHECK (b > 1), ADD CONSTRAINT n2 CHECK (a > b)
ALTER TABLE t MODIFY a bigint
ALTER TABLE t MODIFY a bigint CHECK (a > 3)
? ALTER TABLE t RENAME COLUMN a TO aa
? ALTER TABLE t CHANGE a aa bigint
? ALTER TABLE t DROP COLUMN d
? ALTER TABLE t DROP COLUMN c
m ALTER TABLE t DROP CHECK named
M ALTER TABLE t DROP CONSTRAINT named
m ALTER TABLE t ADD CHECK (c > 0) NOT ENFORCED
m ALTER TABLE t ALTER CHECK n2 NOT ENFORCED
m ALTER TABLE t ALTER CONSTRAINT n2 ENFORCED
m ALTER TABLE t DROP CHECK t_chk_2, ADD CHECK (c > 2)
M ALTER TABLE t DROP CONSTRAINT CONSTRAINT_1, ADD CHECK (c > 2)
RENAME TABLE t TO t9
ALTER TABLE t9 ADD CHECK (c > 9)
ALTER TABLE t9 RENAME TO t8, ADD CHECK (b > 8)
? ALTER TABLE t8 CHANGE b bb int
ALTER TABLE t8 ADD x varchar(10) CHECK (x <> 'a`b'), ADD y varchar(5) CHECK (y in ('p', 'q'))

S: CREATE TABLE t (a int, g int AS (a + 1), h int AS (a * 2) STORED, s varchar(10), k varchar(20) AS (concat(s, 'x')) STORED)
ALTER TABLE t MODIFY g int AS (a + 2)
? ALTER TABLE t MODIFY h int
? ALTER TABLE t MODIFY k varchar(30)
ALTER TABLE t ADD l int AS (a) VIRTUAL, ADD m int AS (l) STORED
m ALTER TABLE t ADD l2 int AS (a) VIRTUAL NOT NULL
ALTER TABLE t ADD n int GENERATED ALWAYS AS (m + 1) VIRTUAL COMMENT 'c'
? ALTER TABLE t DROP m
ALTER TABLE t ADD KEY (n), ADD UNIQUE (h)
? ALTER TABLE t DROP n, DROP m
M ALTER TABLE t ADD o int AS (a + 5) PERSISTENT

S: CREATE TABLE t (a char(10), b varchar(10), c tinytext, d text, e mediumtext, f enum('a','b'), g char(5) CHARACTER SET binary, h varchar(10) CHARACTER SET latin2, i json, j int, l varchar(20) COLLATE utf8mb4_bin, m longtext, n set('a')) CHARACTER SET latin1
ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4
ALTER TABLE t CONVERT TO CHARACTER SET utf8mb3
ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci
ALTER TABLE t DEFAULT CHARACTER SET latin1
ALTER TABLE t ADD z1 varchar(5), ADD z2 text, ADD z3 varchar(5) CHARACTER SET utf8mb4, ADD z4 varchar(5) COLLATE utf8mb4_unicode_ci, ADD z5 char(5) BINARY, ADD z6 varchar(5) CHARACTER SET utf8mb4 BINARY
ALTER TABLE t COLLATE utf8mb4_general_ci
ALTER TABLE t DEFAULT CHARSET utf8mb4
ALTER TABLE t CHARACTER SET = utf8
ALTER TABLE t ADD y1 nchar(3), ADD y2 national varchar(4), ADD y3 char(3) ascii, ADD y4 char(3) unicode, ADD y5 char(3) byte, ADD y6 text CHARACTER SET utf8, ADD y7 enum('a') CHARACTER SET latin1, ADD y8 varchar(9) CHARACTER SET cp1251, ADD y9 text(10), ADD y10 text(300), ADD y11 text(50) CHARACTER SET latin1, ADD y12 text(30000), ADD y13 blob(10)
ALTER TABLE t CHARSET utf8mb4, ADD x1 varchar(5), MODIFY b varchar(11)
ALTER TABLE t CONVERT TO CHARACTER SET latin1, ADD w1 varchar(5), MODIFY b varchar(12) CHARACTER SET utf8mb4, ADD w2 text
ALTER TABLE t CONVERT TO CHARACTER SET binary

S: CREATE TABLE t (a varchar(20000), b text, c varchar(100)) CHARACTER SET latin1
? ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4
S: SET sql_mode=''
ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4
ALTER TABLE t ADD x varchar(30000), ADD y varbinary(70000)
S: SET sql_mode=DEFAULT

S: CREATE TABLE t (a varchar(20), b text, c tinytext) CHARACTER SET utf8mb4
ALTER TABLE t CONVERT TO CHARACTER SET DEFAULT
M ALTER TABLE t DEFAULT CHARACTER SET DEFAULT
ALTER TABLE t CHARACTER SET binary
ALTER TABLE t ADD d char(3), ADD e varchar(4), ADD f text, ADD g enum('a','b'), ADD h text(10), ADD i varchar(5) CHARACTER SET utf8mb4
ALTER TABLE t CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci
ALTER TABLE t ADD j varchar(5), MODIFY a varchar(20) CHARACTER SET latin1 COLLATE latin1_bin
ALTER TABLE t COLLATE latin1_general_ci
ALTER TABLE t COLLATE latin1_bin, CHARACTER SET latin1
M ALTER TABLE t COLLATE DEFAULT
M ALTER TABLE t ADD k varchar(5) COLLATE DEFAULT

S: CREATE TABLE t (id int, j json, k longtext CHECK (json_valid(k)), v varchar(50)) CHARACTER SET latin1
ALTER TABLE t ADD j2 json NOT NULL, ADD j3 json DEFAULT NULL
ALTER TABLE t RENAME COLUMN j TO jj
ALTER TABLE t CHANGE jj j json
ALTER TABLE t MODIFY j longtext
? ALTER TABLE t MODIFY v json
? ALTER TABLE t MODIFY k longtext CHECK (json_valid(k) and k <> 'a')
M ALTER TABLE t ADD j5 json CHECK (j5 <> 'a'), ADD j6 json COLLATE utf8mb4_unicode_ci, ADD j7 varchar(10) CHECK (json_valid(j7)), ADD j8 longtext CHECK (json_valid(j8))
ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4
M ALTER TABLE t CONVERT TO CHARACTER SET latin1

S: CREATE TABLE t (id int) ENGINE=InnoDB
ALTER TABLE t ENGINE=MyISAM, COMMENT='x', AUTO_INCREMENT=10
ALTER TABLE t ENGINE=innodb ROW_FORMAT=DYNAMIC
ALTER TABLE t COMMENT ''
ALTER TABLE t ADD b int, ENGINE=memory
ALTER TABLE t FORCE
ALTER TABLE t ORDER BY id
ALTER TABLE t ADD c int, ALGORITHM=COPY, LOCK=SHARED
OPTIMIZE TABLE t
TRUNCATE TABLE t
TRUNCATE t
CREATE TABLE t2 LIKE t
CREATE TABLE IF NOT EXISTS t (x int)
CREATE TABLE t3 (a int)
RENAME TABLE t TO tmp, t2 TO t, tmp TO t2
RENAME TABLE t2 TO old, t3 TO t2
M CREATE OR REPLACE TABLE t2 (z int)
DROP TABLE t2, old
DROP TABLE IF EXISTS nothere, t

S: CREATE TABLE t (id int NOT NULL, b int, PRIMARY KEY (id)) PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20))
ALTER TABLE t ADD PARTITION (PARTITION p2 VALUES LESS THAN (30))
ALTER TABLE t REORGANIZE PARTITION p2 INTO (PARTITION p2 VALUES LESS THAN (25), PARTITION p3 VALUES LESS THAN (30))
ALTER TABLE t DROP PARTITION p3
ALTER TABLE t TRUNCATE PARTITION p0
ALTER TABLE t REMOVE PARTITIONING
ALTER TABLE t PARTITION BY HASH (id) PARTITIONS 4
ALTER TABLE t COALESCE PARTITION 2
ALTER TABLE t REBUILD PARTITION ALL
S: CREATE TABLE x LIKE t
S: ALTER TABLE x REMOVE PARTITIONING
ALTER TABLE t EXCHANGE PARTITION p0 WITH TABLE x
M ALTER TABLE x ADD SYSTEM VERSIONING
M ALTER TABLE x DROP SYSTEM VERSIONING

S: SET sql_mode='', explicit_defaults_for_timestamp=OFF
S: CREATE TABLE t (id int)
ALTER TABLE t ADD a timestamp
ALTER TABLE t ADD b timestamp
ALTER TABLE t ADD c timestamp NULL, ADD d timestamp DEFAULT CURRENT_TIMESTAMP, ADD e timestamp(3) NOT NULL, ADD f timestamp DEFAULT '2020-01-01 00:00:00'
ALTER TABLE t MODIFY a timestamp(3)
ALTER TABLE t ADD g timestamp FIRST
? ALTER TABLE t ALTER g DROP DEFAULT
? ALTER TABLE t MODIFY id timestamp ON UPDATE CURRENT_TIMESTAMP
ALTER TABLE t DROP g, DROP a, ADD h timestamp FIRST
S: SET explicit_defaults_for_timestamp=ON
ALTER TABLE t ADD i timestamp, ADD j timestamp NOT NULL
S: SET explicit_defaults_for_timestamp=OFF
ALTER TABLE t ADD kk int
S: SET explicit_defaults_for_timestamp=DEFAULT, sql_mode=DEFAULT

S: CREATE TABLE t (id int primary key)
ALTER TABLE t ADD g geometry, ADD p point NOT NULL, ADD l linestring
m ALTER TABLE t ADD q point SRID 4326 NOT NULL, ADD r geomcollection
M ALTER TABLE t ADD q point REF_SYSTEM_ID=4326
ALTER TABLE t ADD SPATIAL KEY (p)
? ALTER TABLE t ADD KEY (g(10))
ALTER TABLE t ADD x real, ADD y dec(8,2), ADD z bool, ADD b1 bit(5), ADD v long, ADD w int1 unsigned, ADD m mediumint zerofill, ADD f float(30), ADD f7 float(7,3) unsigned
m ALTER TABLE t ADD ve vector(3), ADD ve2 vector
? ALTER TABLE t ADD ve vector(3) NOT NULL
M ALTER TABLE t ADD co varchar(100) COMPRESSED, ADD co2 text COMPRESSED
M ALTER TABLE t CONVERT TO CHARACTER SET latin1
ALTER TABLE t ADD e enum('a','it''s','x\\y','ö'), ADD s set('p','q')
ALTER TABLE t MODIFY e enum('a','it''s','x\\y','ö','z') CHARACTER SET latin1

S: CREATE TABLE t (id int primary key, `date` date, `key` int, `a b` int, `x``y` int)
ALTER TABLE t RENAME COLUMN `date` TO `select`, RENAME COLUMN `a b` TO `c d`
ALTER TABLE t CHANGE `x``y` `z``z` bigint, ADD KEY (`key`), ADD CHECK (`z``z` > 0)
ALTER TABLE t ADD h int AS (`key` + `c d`)
S: SET sql_mode='ANSI_QUOTES,NO_BACKSLASH_ESCAPES'
ALTER TABLE t ADD "q r" varchar(10) DEFAULT 'a\b', ADD i int AS ("key" + 1), ADD s varchar(10) DEFAULT 'it''s'
ALTER TABLE t ADD u varchar(20) AS (concat("q r", '\')) VIRTUAL
ALTER TABLE t CHANGE "q r" "qr" varchar(10), DROP u
S: SET sql_mode=DEFAULT

S: CREATE TABLE t (a int, g int AS (a + 1), h int AS (a * 2) STORED, s varchar(10), d int DEFAULT (a + 1), CHECK (a > s))
? ALTER TABLE t RENAME COLUMN a TO aa
? ALTER TABLE t RENAME COLUMN s TO `s s`
? ALTER TABLE t CHANGE aa a bigint

S: CREATE TABLE t (d datetime default now() on update now(), e datetime on update now(), f timestamp not null default now() on update now(), g datetime(3) default '2020-01-01')
ALTER TABLE t ALTER d DROP DEFAULT, ALTER e SET DEFAULT '2020-01-01', ALTER f DROP DEFAULT
ALTER TABLE t MODIFY d datetime ON UPDATE CURRENT_TIMESTAMP
ALTER TABLE t ALTER d DROP DEFAULT
ALTER TABLE t MODIFY e datetime DEFAULT CURRENT_TIMESTAMP, MODIFY f timestamp NULL

S: CREATE TABLE t (a varchar(5), b text, c char(3) CHARACTER SET latin2) CHARACTER SET utf8mb4
? ALTER TABLE t CONVERT TO CHARACTER SET utf8mb3, DEFAULT CHARACTER SET latin1, ADD d varchar(5)
? ALTER TABLE t DEFAULT CHARACTER SET latin1, CONVERT TO CHARACTER SET utf8mb4, ADD e varchar(5), MODIFY a varchar(6)
? ALTER TABLE t COLLATE utf8mb4_bin, CONVERT TO CHARACTER SET utf8mb4, ADD f varchar(5)
? ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4, COLLATE utf8mb4_unicode_ci, ADD g varchar(5)
ALTER TABLE t CONVERT TO CHARACTER SET latin1, CHARACTER SET latin1

S: CREATE TABLE t (e enum('a','ä'), s set('b','é')) CHARACTER SET latin1
U ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4
"""


class Replayer:
    """The program, working in a database of its own that it drops and makes."""

    def __init__(self, server, name):
        self.name = name
        self.family = "M" if server.is_mariadb else "m"
        self.p = subprocess.Popen([program("replay", "bridge"), name], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.p.stdin.write("host %s\nuser root\n\n" % server.socket)
        self.begin()

    def _command(self, letter, sql):
        self.p.stdin.write("%s %s\n" % (letter, sql.encode().hex()))
        self.p.stdin.flush()
        line = self.p.stdout.readline()
        assert line, self.p.communicate(timeout=scaled(30))[1]
        return line.rstrip("\n")

    def run(self, sql):
        """Run what must be taken, without replaying it."""
        answer = self._command("S", sql)
        assert answer == "ok", (sql, answer)

    def begin(self):
        """An empty database and a session as a client's."""
        for sql in ("SET sql_mode = DEFAULT, time_zone = '+00:00', foreign_key_checks = 0",
                    "DROP DATABASE IF EXISTS `%s`" % self.name,
                    "CREATE DATABASE `%s` CHARACTER SET utf8mb4" % self.name,
                    "USE `%s`" % self.name, "SET foreign_key_checks = 1"):
            self.run(sql)

    def replay(self, sql):
        """Run and replay: "same", "refused ...", "unsure ..." or what differs."""
        return self._command("R", sql)

    def end(self):
        self.run("SET foreign_key_checks = 0")
        self.run("DROP DATABASE `%s`" % self.name)
        self.p.stdin.close()
        assert self.p.wait(timeout=scaled(30)) == 0, self.p.stderr.read()

    def case(self, line):
        """One line of CASES: None, or what is wrong; whether it was replayed."""
        if line.startswith("S: "):
            self.run(line[3:])
            return None, False
        mark = line[0] if line[1] == " " else ""
        sql = line[2:] if mark else line
        if mark in ("M", "m") and mark != self.family:
            return None, False
        answer = self.replay(sql)
        if answer.startswith("refused "):
            return (None if mark == "?" else (sql, answer)), False
        if mark == "U":
            return (None if answer.startswith("unsure ") else (sql, answer)), True
        return (None if answer == "same" else (sql, answer)), True


def blocks():
    """The cases, block by block."""
    for empty, lines in itertools.groupby(CASES.strip("\n").split("\n"), lambda x: not x.strip()):
        if not empty:
            yield list(lines)
