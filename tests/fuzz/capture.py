#!/usr/bin/python3
"""capture.py DSN: records what pgoutput sends into tests/fuzz/corpus/pgoutput.

Run it by hand against a throw-away server with wal_level = logical and
max_prepared_transactions > 0; it makes and drops a database "capture".  Each
scenario becomes one file: a byte for the protocol version, then every message
as a length of four bytes (network order) and its bytes.  Runs of messages of
one type are cut to three, which leaves the stream well-formed and the file small.
"""
import os
import struct
import sys

import psycopg2

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus", "pgoutput")

SETUP = '''
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TABLE plain (id int PRIMARY KEY, a text, b numeric(10,2), c timestamptz, d float8);
CREATE TABLE typed (id bigint PRIMARY KEY, m mood, p pair, d positive, j jsonb, r int4range,
    u uuid, y bytea, arr text[], v varchar(7), bits bit(3));
CREATE TABLE full_id (a int, b text);
ALTER TABLE full_id REPLICA IDENTITY FULL;
CREATE TABLE index_id (a int NOT NULL, b text);
CREATE UNIQUE INDEX index_id_a ON index_id (a);
ALTER TABLE index_id REPLICA IDENTITY USING INDEX index_id_a;
CREATE TABLE nothing_id (a int, b text);
ALTER TABLE nothing_id REPLICA IDENTITY NOTHING;
CREATE TABLE toasted (id int PRIMARY KEY, n int, big text);
ALTER TABLE toasted ALTER big SET STORAGE EXTERNAL;
CREATE TABLE "Odd ""Name""" ("Col 1" int PRIMARY KEY, "sélect" text, g int GENERATED ALWAYS AS (1) STORED);
CREATE TABLE child (id int PRIMARY KEY REFERENCES plain);
CREATE TABLE part (id int PRIMARY KEY, v text) PARTITION BY RANGE (id);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (100);
CREATE TABLE wide (id int PRIMARY KEY);
CREATE PUBLICATION everything FOR ALL TABLES;
CREATE PUBLICATION roots FOR ALL TABLES WITH (publish_via_partition_root = true);
CREATE PUBLICATION inserts FOR ALL TABLES WITH (publish = 'insert');
CREATE PUBLICATION partly FOR TABLE plain (id, a) WHERE (id > 1);
'''

ROWS = [
    "INSERT INTO plain VALUES (1, 'one', 1.50, '2026-01-01 00:00+00', 0.1), (2, NULL, NULL, 'infinity', 'NaN')",
    "UPDATE plain SET a = 'uno' WHERE id = 1",
    "UPDATE plain SET id = 3 WHERE id = 2",
    "DELETE FROM plain WHERE id = 3",
    "INSERT INTO full_id VALUES (1, 'x'), (NULL, '')",
    "UPDATE full_id SET b = 'y'",
    "DELETE FROM full_id WHERE a IS NULL",
    "INSERT INTO index_id VALUES (1, 'x')",
    "UPDATE index_id SET a = 2",
    "DELETE FROM index_id",
    '''INSERT INTO "Odd ""Name""" VALUES (1, 'é€😀')''',
    "INSERT INTO part VALUES (1, 'routed')",
    "UPDATE part SET v = 'again'",
    "DELETE FROM part",
    "DELETE FROM plain",
    "DELETE FROM full_id",
    '''DELETE FROM "Odd ""Name""" ''',
]
TYPES = [
    """INSERT INTO typed VALUES (1, 'ok', '(1,x)', 5, '{"a": [1, null]}', '[1,9)',
       '00000000-0000-0000-0000-000000000001', '\\x00ff', '{a,NULL,"b c"}', 'seven77', B'101')""",
    "UPDATE typed SET m = 'sad', arr = NULL",
    "DELETE FROM typed",
]
TOAST = [
    "INSERT INTO toasted VALUES (1, 1, repeat('0123456789', 210))",
    "UPDATE toasted SET n = 2",
    "UPDATE toasted SET id = 2",
    "ALTER TABLE toasted REPLICA IDENTITY FULL",
    "UPDATE toasted SET n = 3",
    "DELETE FROM toasted",
    "ALTER TABLE toasted REPLICA IDENTITY DEFAULT",
]
TRUNCATES = [
    "TRUNCATE plain CASCADE",
    "TRUNCATE full_id, index_id RESTART IDENTITY",
    "TRUNCATE part, nothing_id RESTART IDENTITY CASCADE",
]
MESSAGES = [
    "SELECT pg_logical_emit_message(false, 'sluice', 'outside')",
    "BEGIN; SELECT pg_logical_emit_message(true, 'sluice', ''); INSERT INTO nothing_id VALUES (1, 'x');"
    " SELECT pg_logical_emit_message(true, '', E'\\\\x00ff80'::bytea); COMMIT",
    "BEGIN; SELECT pg_logical_emit_message(false, 'p', 'q'); ROLLBACK",
]
SHAPES = [
    "INSERT INTO plain VALUES (10)",
    "ALTER TABLE plain ADD e int DEFAULT 7",
    "INSERT INTO plain VALUES (11)",
    "ALTER TABLE plain RENAME e TO f",
    "ALTER TABLE plain ALTER f TYPE bigint",
    "UPDATE plain SET f = 8 WHERE id = 11",
    "ALTER TABLE plain DROP f",
    "DELETE FROM plain WHERE id > 9",
    "DO $$ BEGIN FOR i IN 1..300 LOOP EXECUTE format('ALTER TABLE wide ADD c%s int', i); END LOOP; END $$",
    "INSERT INTO wide VALUES (1)",
    "DROP TABLE wide; CREATE TABLE wide (id int PRIMARY KEY)",
]
BIG = "INSERT INTO full_id SELECT g, repeat('x', 150) FROM generate_series(1, 400) g"
SMALL_BIG = "INSERT INTO plain SELECT g, repeat('y', 150) FROM generate_series(1000, 1400) g"
STREAMED = [
    "BEGIN; %s; UPDATE typed SET v = 'a'; TRUNCATE child; COMMIT" % BIG,
    "BEGIN; %s; SELECT pg_logical_emit_message(true, 'in', 'stream'); SAVEPOINT s; %s; ROLLBACK TO s;"
    " INSERT INTO typed (id, m) VALUES (9, 'ok'); %s; COMMIT" % (BIG, SMALL_BIG, BIG),
    "BEGIN; %s; DELETE FROM full_id; ROLLBACK" % BIG,
    "DELETE FROM full_id; DELETE FROM typed",
]
PREPARED = [
    "BEGIN; INSERT INTO index_id VALUES (7, 'p'); PREPARE TRANSACTION 'gid one'",
    "COMMIT PREPARED 'gid one'",
    "BEGIN; DELETE FROM index_id; PREPARE TRANSACTION 'gid-2'",
    None,
    "ROLLBACK PREPARED 'gid-2'",
]
STREAM_PREPARED = [
    "BEGIN; %s; PREPARE TRANSACTION 'streamed'" % BIG,
    None,
    "COMMIT PREPARED 'streamed'",
    "BEGIN; %s; PREPARE TRANSACTION 'gone'" % BIG,
    None,
    "ROLLBACK PREPARED 'gone'",
    "DELETE FROM full_id",
]
ORIGIN = [
    "SELECT pg_replication_origin_create('elsewhere')",
    "SELECT pg_replication_origin_session_setup('elsewhere')",
    "BEGIN; SELECT pg_replication_origin_xact_setup('1/2345', '2026-01-01 00:00+00');"
    " INSERT INTO nothing_id VALUES (5, 'o'); COMMIT",
    "BEGIN; SELECT pg_replication_origin_xact_setup('1/2346', '2026-01-01 00:00+00');"
    " %s; COMMIT" % BIG,
    "SELECT pg_replication_origin_session_reset()",
    "SELECT pg_replication_origin_drop('elsewhere')",
    "DELETE FROM full_id",
]


def scenarios(major):
    """name, protocol version, options, two-phase slot, statements"""
    stream = {"streaming": "on"}
    yield "rows", 1, {}, False, ROWS
    yield "rows-binary", 1, {"binary": "true"}, False, ROWS
    yield "types", 1, {}, False, TYPES
    yield "types-binary", 2, {"binary": "true"}, False, TYPES
    yield "toast", 1, {}, False, TOAST
    yield "truncate", 2, {}, False, TRUNCATES
    yield "messages", 1, {"messages": "true"}, False, MESSAGES
    yield "shapes", 1, {}, False, SHAPES
    yield "origin", 1, {}, False, ORIGIN
    yield "column-list", 3, {"publication_names": "partly"}, False, ROWS
    yield "roots", 1, {"publication_names": "roots"}, False, ROWS
    yield "stream", 2, dict(stream, messages="true"), False, STREAMED
    yield "stream-origin", 2, stream, False, ORIGIN
    yield "prepared", 3, {"two_phase": "true"}, True, PREPARED
    yield "stream-prepared", 3, dict(stream, two_phase="true"), True, STREAM_PREPARED
    if major >= 16:
        yield "parallel", 4, {"streaming": "parallel", "messages": "true"}, False, STREAMED


def thinned(messages):
    """At most three of a type in a row."""
    last, count = None, 0
    for message in messages:
        count = count + 1 if message[:1] == last else 1
        last = message[:1]
        if count <= 3:
            yield message


def capture(cur, name, version, options, two_phase, statements):
    options = dict({"proto_version": str(version), "publication_names": "everything"}, **options)
    pairs = [word for item in options.items() for word in item]
    messages = []

    def read():
        cur.execute("SELECT data FROM pg_logical_slot_get_binary_changes('capture', NULL, NULL, VARIADIC %s)",
                    (pairs,))
        messages.extend(bytes(row[0]) for row in cur.fetchall())

    cur.execute("SELECT pg_create_logical_replication_slot('capture', 'pgoutput', false, %s)", (two_phase,))
    for statement in statements:
        if statement is None:
            read()
        else:
            cur.execute(statement)
    read()
    cur.execute("SELECT pg_drop_replication_slot('capture')")
    with open(os.path.join(FOLDER, name), "wb") as out:
        out.write(bytes([version]))
        for message in thinned(messages):
            out.write(struct.pack("!I", len(message)) + message)
    return "".join(sorted({chr(m[0]) for m in messages}))


def main():
    dsn = sys.argv[1]
    admin = psycopg2.connect(dsn)
    admin.autocommit = True
    admin.cursor().execute("DROP DATABASE IF EXISTS capture")
    admin.cursor().execute("CREATE DATABASE capture ENCODING 'UTF8' TEMPLATE template0")
    con = psycopg2.connect(dsn, dbname="capture")
    con.autocommit = True
    cur = con.cursor()
    cur.execute("SET logical_decoding_work_mem = '64kB'")
    cur.execute(SETUP)
    major = con.server_version // 10000
    for name, version, options, two_phase, statements in scenarios(major):
        name = "pg%d-%s" % (major, name)
        print("%-24s %s" % (name, capture(cur, name, version, options, two_phase, statements)))
    con.close()
    admin.cursor().execute("DROP DATABASE capture")


main()
