"""A MySQL or MariaDB source of the benchmarks: its server, its tables, and what
says that a target has the same values."""
import os
import subprocess

from lib import MySqlServer
from lib.util import as_server_user

CONF = {
    "innodb_buffer_pool_size": "1G",
    "sync_binlog": "0",
    "innodb_flush_log_at_trx_commit": "2",
}
CONF_OF = {
    "mariadb": {"innodb_log_file_size": "2G", "binlog_annotate_row_events": "OFF"},
    "mysql": {"innodb_redo_log_capacity": "2G", "binlog_rows_query_log_events": "OFF"},
}

# Every number from 0 on, a thousand to the power of three of them
NUMBERS = ("CREATE TABLE digits (i int PRIMARY KEY); INSERT INTO digits WITH RECURSIVE d (i) AS"
           " (SELECT 0 UNION ALL SELECT i + 1 FROM d WHERE i < 999) SELECT i FROM d")

MIXED = """CREATE TABLE mixed (
    id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, a int NOT NULL, u int unsigned,
    small smallint, flag tinyint(1) NOT NULL, name varchar(40) NOT NULL, note text,
    total decimal(12,2), ratio double, born date, at datetime(3), seen timestamp(6) NULL,
    kind enum('new', 'paid', 'sent') NOT NULL, raw varbinary(16), doc json,
    UNIQUE KEY by_name (name), KEY by_a (a), KEY by_kind (kind, at))"""

FILL_MIXED = """INSERT INTO mixed SELECT n + 1, n %% 1000, 4000000000 + n %% 1000, n %% 30000, n %% 2,
    left(sha2(n, 224), 32), if(n %% 3, concat('caf\u00e9 ', sha2(n + 1, 224)), NULL),
    n %% 1000000 / 100, n / 8, '1950-01-01' + INTERVAL n %% 20000 DAY,
    '2024-01-01' + INTERVAL n SECOND, '2024-01-01 00:00:00.000001' + INTERVAL n SECOND,
    elt(1 + n %% 3, 'new', 'paid', 'sent'), unhex(left(sha2(n, 224), 32)),
    concat('{"n": ', n, ', "text": "', left(sha2(n, 224), 10), '"}')
    FROM (SELECT x.i * 1000000 + y.i * 1000 + z.i AS n FROM digits x, digits y, digits z
          WHERE x.i <= %(rows)d DIV 1000000) s WHERE n < %(rows)d"""

# table's name up to its digits: (what says a row here, the same on the target)
ROW = {
    "sbtest": ("id, k, c, pad", "id, k, rtrim(c), rtrim(pad)"),
    "single": ("id, a, b, d", "id, a, b, d"),
    "mixed": ("id, a, u, small, flag, name, note, total, ratio, born,"
              " date_format(at, '%%Y-%%m-%%d %%H:%%i:%%s.%%f'),"
              " date_format(seen, '%%Y-%%m-%%d %%H:%%i:%%s.%%f'), kind, hex(raw),"
              " json_unquote(json_extract(doc, '$.n')),"
              " json_unquote(json_extract(doc, '$.text'))",
              "id, a, u, small, flag::int, name, note, total, ratio, born,"
              " to_char(at, 'YYYY-MM-DD HH24:MI:SS.US'),"
              " to_char(seen, 'YYYY-MM-DD HH24:MI:SS.US'), kind,"
              " upper(encode(raw, 'hex')), doc::jsonb->>'n', doc::jsonb->>'text'"),
}


def make(kind):
    """A server of that kind, with what the benchmarks call in database bench."""
    family = "mariadb" if kind.startswith("mariadb") else "mysql"
    server = MySqlServer(kind, conf=dict(CONF, **CONF_OF[family])).start()
    server.execute("CREATE DATABASE bench; GRANT REFERENCES, LOCK TABLES ON *.* TO repl@'%'")
    server.execute(NUMBERS, dbname="bench")
    return server


def fill_mixed(src, rows):
    """Table mixed with so many rows; the tables' names."""
    src.execute("CREATE VIEW digits AS SELECT i FROM bench.digits")
    src.execute(MIXED)
    src.execute(FILL_MIXED % {"rows": rows})
    src.execute("DROP VIEW digits; ANALYZE TABLE mixed")
    return ["mixed"]


def sysbench(src, command, tables, size, *options):
    """sysbench's oltp_read_write on so many tables of size rows each."""
    done = subprocess.run(
        ["sysbench", "oltp_read_write", "--db-driver=mysql", "--mysql-user=root",
         "--mysql-socket=" + src.server.socket, "--mysql-db=" + src.name,
         "--tables=%d" % tables, "--table-size=%d" % size, "--rand-seed=1",
         *options, command],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise AssertionError("sysbench %s failed:\n%s" % (command, done.stdout[-4000:]))


def fill_sbtest(src, tables, size):
    """sysbench's tables, each with its key and one index; their names."""
    sysbench(src, "prepare", tables, size)
    return ["sbtest%d" % (i + 1) for i in range(tables)]


def in_source(src, names):
    """{table: (rows, hash)} of the source."""
    def look(name):
        row = ROW[name.rstrip("0123456789")][0]
        return src.query("SELECT count(*), cast(coalesce(sum(conv(left(sha2(concat_ws('|', "
                         + row.replace("%%", "%") + "), 256), 8), 16, 10)), 0) AS decimal(30))"
                         " FROM " + name)[0]
    return {name: tuple(map(int, look(name))) for name in names}


def in_target(dst, names):
    """The same of the target."""
    def look(name):
        row = ROW[name.rstrip("0123456789")][1]
        return dst.query("SELECT count(*), coalesce(sum(('x' || left(encode(sha256(convert_to("
                         "concat_ws('|', " + row + "), 'UTF8')), 'hex'), 8))::bit(32)::bigint), 0)"
                         " FROM " + name)[0]
    dst.execute("ALTER DATABASE %s SET timezone = 'UTC'" % dst.name)
    return {name: tuple(map(int, look(name))) for name in names}


def indexes(dst, names):
    """How many indexes the tables have on the target, keys among them."""
    return int(dst.query("SELECT count(*) FROM pg_catalog.pg_index WHERE indisvalid AND"
                         " indrelid = ANY (%s::pg_catalog.regclass[])", names)[0][0])


def indexes_in_source(src, names):
    return int(src.query("SELECT count(DISTINCT table_name, index_name) FROM"
                         " information_schema.statistics WHERE table_schema = database()"
                         " AND table_name IN (%s)" % ", ".join("'%s'" % n for n in names))[0][0])


def log_reader(server, position):
    """The server's own client that reads its log from a position to its end, as
    an argv; what it prints goes nowhere."""
    args = ["--read-from-remote-server", "--host=127.0.0.1", "--port=%d" % server.port,
            "--user=repl", "--start-position=%d" % position[1], "--to-last-log", position[0]]
    if server.is_mariadb:
        return as_server_user(["mariadb-binlog", "--no-defaults", "--skip-ssl"] + args)
    return server.tree.argv("mysqlbinlog", "--no-defaults", "--ssl-mode=REQUIRED", *args)


def sslmode(server):
    """Without TLS as the PostgreSQL benchmarks; MySQL's login needs it."""
    return "disable" if server.is_mariadb else "require"
