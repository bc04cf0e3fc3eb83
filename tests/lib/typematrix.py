"""Columns of every type of pg_type, with values by hand.

A Column is a type and its values as SQL expressions; which there are is read
from both servers' pg_type, so that a type nobody thought of fails the test.
"""
import collections

FLOATS = ["0", "-0", "0.1", "NaN", "Infinity", "-Infinity"]
MARK = "it's \\ \"q\" ünïcödé€😀"
LABEL = "x" * 63
LEFT_OVER = "sql:('Infinity'::float8 - 'Infinity'::float8)"     # a NaN with its sign set
NAMED = ["-", "4000000000"]

# Text forms; a leading "sql:" makes it an SQL expression.  By pg_type.typname.
VALUES = {
    "bool": ["t", "f"],
    "bytea": ["\\x" + "".join("%02x" % b for b in range(256)), "\\x", "\\x00",
              "\\x5c7834313432", "\\x5c2e0a", "\\x" + "00ff5c" * 5000],
    "char": ["", "a", "\\", "'", " ", "~"],
    "name": ["", "a b", "n" * 63, "ü" * 31, "MiXeD \"q\""],
    "int2": ["-32768", "32767", "0"],
    "int4": ["-2147483648", "2147483647", "0"],
    "int8": ["-9223372036854775808", "9223372036854775807", "0"],
    "int2vector": ["", "-32768 32767", "1"],
    "oidvector": ["", "0 1 4294967295", "7"],
    "oid": ["0", "4294967295", "26"],
    "tid": ["(0,0)", "(4294967295,65535)", "(1,2)"],
    "xid": ["0", "4294967295", "3"],
    "cid": ["0", "4294967295"],
    "xid8": ["0", "18446744073709551615", "3"],
    "text": ["", "NULL", "\\.", "\\N", "\\x41", "a\tb\n\r\x0b\x01", MARK, "{}", " ",
             "long " * 5000],
    "varchar": ["", "a  ", MARK, "v" * 3000],
    "bpchar": ["", "x ", "   ", MARK],
    "refcursor": ["", "c 1", MARK],
    "json": [' {"a":"it\'s \\"q\\" \\\\ \\u00e9","a":2,  "n":1.0} ', "null", "[1,\n2]",
             "1e400", '"\\u00e9"', "{}", '"' + "j" * 9000 + '"'],
    "jsonb": ['{"n":12345678901234567890.10,"e":1e400}', "null", "[]", "{}", '"é\\n"',
              "[[[[[1.10]]]]]", '{"it\'s": "\\"q\\" \\\\"}', "false", "-0.0"],
    "jsonpath": ["$", 'strict $."a b".c[*] ? (@.d > 1e400 && @.s like_regex "^x")',
                 "lax $.**{2 to last}", "$.a.type()", '"é"'],
    "xml": ["<a>&amp;</a>", '<?xml version="1.0" encoding="UTF-8"?><r>é</r>', "",
            "text <b/>", '<?xml version="1.1"?><r/>', "<!DOCTYPE a><a/>"],
    "point": ["(1e300,-1e-300)", "(-0,0)", "(NaN,Infinity)", "(0.1,0.30000000000000004)",
              "sql:point(%s, 1)" % LEFT_OVER[4:]],
    "lseg": ["[(0,0),(1e300,-1)]", "[(1,1),(1,1)]", "sql:lseg(point(%s, 1), '(1,2)')" % LEFT_OVER[4:]],
    "box": ["(2,2),(1,1)", "(0,0),(-0,-0)", "(1e300,5e-324),(-1e300,0)"],
    "path": ["[(0,0),(1,1)]", "((0,0),(1,1),(2,0))", "[(1,-0)]", "(" + ",".join(
        "(%d,%d)" % (i, i) for i in range(300)) + ")"],
    "polygon": ["((0,0),(1,1),(2,0))", "((1e300,1))", "((0.1,-0),(NaN,3))"],
    "line": ["{1,2,3}", "{0,-1,0}", "{-1,0,5e-324}"],
    "circle": ["<(0,0),0>", "<(1,-2),1e300>", "<(0.1,0.2),Infinity>"],
    "float4": FLOATS + ["1e-45", "-1e-45", "1.1754944e-38", "3.4028235e38", "0.30000001"],
    "float8": FLOATS + ["5e-324", "-5e-324", "2.2250738585072014e-308",
                        "1.7976931348623157e308", "3.141592653589793", LEFT_OVER],
    "numeric": ["0", "0.000", "1.0", "1.00", "-0.000000000000000000000000000001", "NaN",
                "Infinity", "-Infinity", "12345678901234567890.123456789000", "1e131071",
                "0." + "0" * 16382 + "1", "-9999", "10000.0001"],
    "money": ["-92233720368547758.08", "92233720368547758.07", "0", "0.01"],
    "macaddr": ["08:00:2b:01:02:03", "ff:ff:ff:ff:ff:ff", "00:00:00:00:00:00"],
    "macaddr8": ["08:00:2b:01:02:03", "08:00:2b:ff:fe:01:02:03", "ff:ff:ff:ff:ff:ff:ff:ff"],
    "inet": ["10.0.0.1/8", "192.168.0.1", "::1", "fe80::1/64", "::ffff:1.2.3.4", "0.0.0.0/0"],
    "cidr": ["0.0.0.0/0", "10.0.0.0/8", "192.168.1.1/32", "::/0", "2001:db8::/32"],
    "date": ["-infinity", "infinity", "4714-11-24 BC", "0044-03-15 BC", "0001-01-01",
             "1582-10-10", "2000-01-01", "5874897-12-31"],
    "time": ["00:00", "24:00", "23:59:59.999999", "12:34:56.789"],
    "timetz": ["00:00+15:59:59", "24:00-15:59:59", "12:00:00.5+05:30", "04:05:06.789+05:45"],
    "timestamp": ["-infinity", "infinity", "4714-11-24 00:00:00 BC", "0001-01-01 00:00:00",
                  "1582-10-10 01:02:03", "1999-12-31 23:59:59.999999",
                  "294276-12-31 23:59:59.999999"],
    "timestamptz": ["-infinity", "infinity", "4714-11-24 00:00:00+00 BC", "1890-01-01 00:00+05:53:28",
                    "2026-03-29 01:30:00+00", "294276-12-31 23:59:59.999999+00"],
    "interval": ["178000000 years", "-178000000 years", "1 mon -1 day 00:00:00.000001", "0",
                 "-0.000001 s", "2147483647 days", "-2562047788:00:54.775807"],
    "bit": ["", "0", "1", "10" * 40],
    "varbit": ["", "0", "101", "1" * 65],
    "uuid": ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
    "pg_lsn": ["0/0", "FFFFFFFF/FFFFFFFF", "16/B374D848"],
    "tsvector": ["'it''s':1A 'two words':2 'plain':3", "", "'a\\\\b':16383D 'é':1,2,3B", "b a c"],
    "tsquery": ["'two words' & plain:*", "", "'a' <-> 'b' | !'c':AB", "'x' <16384> ( 'y' | 'é' )"],
    "txid_snapshot": ["10:20:10,14,15", "1:1:"],
    "pg_snapshot": ["10:20:10,14,15", "1:1:"],
    "aclitem": ["postgres=arwdDxt/postgres", "=r*/postgres"],
    "regproc": NAMED + ["pg_catalog.now"],
    "regprocedure": NAMED + ["pg_catalog.sum(integer)"],
    "regoper": ["0", "4000000000", "pg_catalog.||/"],
    "regoperator": ["0", "4000000000", "pg_catalog.+(integer,integer)"],
    "regclass": NAMED + ["pg_catalog.pg_class", 'public."An Object"'],
    "regtype": NAMED + ["numeric[]", "pg_catalog.\"char\"", "timestamp with time zone",
                        "public.mood"],
    "regconfig": NAMED + ["pg_catalog.english"],
    "regdictionary": NAMED + ["pg_catalog.simple"],
    "regnamespace": NAMED + ["pg_catalog", "public"],
    "regrole": NAMED + ["postgres"],
    "regcollation": NAMED + ['pg_catalog."C"'],
    # of extensions
    "citext": ["Foo", "foo", "", MARK],
    "hstore": ["", 'a=>1,b=>NULL,"x y"=>"q\\"q"', '""=>""', '"é"=>"NULL"'],
    "ltree": ["Top.Science.Astronomy", "", "a_b.c"],
    "lquery": ["Top.*{1,2}.!a|b@", "*"],
    "ltxtquery": ["Europe & Russia*@ & !Transportation"],
    "cube": ["(1),(2)", "(1e300,-0,3)", "(0.1)", "()"],
    "seg": ["1.0 .. 2.00", "~5.0", ">3", "<1e20"],
    "query_int": ["1&(2|3)&!4"],
    "ean13": ["978-0-393-04002-9"], "isbn": ["0-393-04002-X"], "isbn13": ["978-0-393-04002-9"],
    "ismn": ["9790060115615"], "ismn13": ["9790060115615"], "issn": ["1436-4522"],
    "issn13": ["977-1436-452-00-8"], "upc": ["220356483481"],
    "geometry": ["POINT EMPTY", "SRID=4326;POINT(1 2)", "POINT Z (1 2 3)", "POINTM(1 2 3)",
                 "GEOMETRYCOLLECTION(POINT(1 1),LINESTRING EMPTY)", "POINT(-0.0 1e308)",
                 "POLYGON((0 0,1 0,1 1,0 0))", "CIRCULARSTRING(0 0,1 1,2 0)"],
    "geography": ["SRID=4326;POINT(1 2)", "SRID=4326;LINESTRING(0 0,-179.5 89)"],
    "box2d": ["BOX(0 0,1 1.5)"], "box3d": ["BOX3D(0 0 0,1 1 1.5)"],
    "spheroid": ['SPHEROID["WGS 84",6378137,298.257223563]'],
}

# Types whose input function takes nothing: no column can hold a value.
NO_INPUT = {
    "pg_node_tree", "pg_ndistinct", "pg_dependencies", "pg_mcv_list", "gtsvector",
    "pg_brin_bloom_summary", "pg_brin_minmax_multi_summary", "box2df", "gidx", "ghstore",
    "gbtreekey2", "gbtreekey4", "gbtreekey8", "gbtreekey16", "gbtreekey32", "gbtreekey_var",
    "gtrgm", "intbig_gkey", "ltree_gist",
}

# What goes as text, by typname; see src/pgext/binary_types.c.
TEXT_ONLY = {
    "xml", "aclitem", "int2vector", "oidvector", "tsquery", "query_int", "seg", "ean13", "isbn", "isbn13", "ismn", "ismn13",
    "issn", "issn13", "upc", "box2d", "box3d", "spheroid",
}

RANGES = {
    "int4range": ["empty", "(,)", "[1,)", "(,1]", "[-2147483648,2147483646]", "(1,5)"],
    "int8range": ["empty", "(,)", "[-9223372036854775808,9223372036854775806]", "(1,5)"],
    "numrange": ["empty", "(,)", "[1.10,2.200)", "(,NaN]", "[-Infinity,Infinity]", "(1,1.000]"],
    "tsrange": ["empty", "(,)", "[-infinity,infinity]", '["2000-01-01","2001-01-01 00:00:00.000001")'],
    "tstzrange": ["empty", "[-infinity,infinity)", '(,"4714-11-24 00:00:00+00 BC"]'],
    "daterange": ["empty", "(,)", "[0044-03-15 BC,infinity]", '["4714-11-24 BC","5874897-12-30"]'],
    "float8range": ["empty", "[-0,0.1]", "(5e-324,Infinity)", "[NaN,NaN]"],
    "moodrange": ["empty", "[sad,ok)", "(,\"it's \"]"],
    "itvrange": ["empty", "[1 mon,2 years)", "(,-1 day]"],
}

MODIFIED = {
    "varchar(5)": ["", "abc  ", "éé€😀x"], "character(4)": ["", "x", "éé€😀"],
    "numeric(10,3)": ["0", "1.5", "-9999999.999", "NaN"], "numeric(3,-2)": ["12300", "-99900"],
    "numeric(5,7)": ["0.0012345"], "bit(5)": ["10101", "00000"], "bit varying(7)": ["", "1010101"],
    "timestamp(3) without time zone": ["2000-01-01 00:00:00.123", "infinity"],
    "time(0) without time zone": ["23:59:59", "24:00"],
    "interval(2)": ["1 day 00:00:00.25"], "interval day to second": ["3 days 04:05:06.789"],
    "information_schema.sql_identifier": ["a b", "n" * 63],
    "information_schema.yes_or_no": ["YES", "NO"],
    "information_schema.cardinal_number": ["0", "2147483647"],
    "information_schema.time_stamp": ["2000-01-01 00:00:00.12+00"],
}

# Objects that the values speak of, and types of a user's own.
SETUP = """
SET client_min_messages = error;
CREATE TABLE public."An Object" (x int);
CREATE TYPE public.mood AS ENUM ('sad', 'ok', 'it''s ', 'ünï €', '%s');
CREATE TYPE public.comp AS (a int, b text, gone int, c numeric, "D e" timestamptz[], p point);
ALTER TYPE public.comp DROP ATTRIBUTE gone;
CREATE TYPE public.comp2 AS (m public.mood, c public.comp, j json, n public.comp[]);
CREATE TYPE public.float8range AS RANGE (subtype = float8, subtype_diff = float8mi);
CREATE TYPE public.moodrange AS RANGE (subtype = public.mood);
CREATE TYPE public.itvrange AS RANGE (subtype = interval);
CREATE DOMAIN public.dommood AS public.mood;
CREATE DOMAIN public.domdom AS public.dommood;
CREATE DOMAIN public.domarr AS numeric(10,2)[];
CREATE DOMAIN public.domcomp AS public.comp;
""" % LABEL

# type, values, goes in binary
USER = [
    ("public.mood", ["sad", "ok", "it's ", "ünï €", LABEL], True),
    ("public.mood[]", ["{}", '{sad,NULL,"it\'s "}', "[0:1]={ok,ok}"], False),
    ("public.dommood", ["sad", "ünï €"], True),
    ("public.domdom", ["sad", "ok"], True),
    ("public.domarr", ["{}", "{1.10,NULL,NaN}", "{{1},{2}}"], True),
    ("public.comp", ["(1,\"a \"\"q\"\" \\\\\",1.10,\"{infinity,NULL}\",\"(-0,1)\")", "(,,,,)",
                     "(,\"\",NaN,{},\"(1,2)\")"], True),
    ("public.comp[]", ["{}", '{"(1,x,,,)",NULL}'], False),
    ("public.domcomp", ["(1,x,,,)", "(,,,,)"], True),
    ("public.comp2", ['(sad,"(1,,,,)","{""a"": 1,  ""a"":2}","{""(2,,,,)"",NULL}")', "(,,,)"], False),
    ("public.float8range", RANGES["float8range"], True),
    ("public.moodrange", RANGES["moodrange"], True),
    ("public.moodrange[]", ['{empty,"[sad,ok)"}', "{}"], False),
    ("public.itvrange", RANGES["itvrange"], None),      # as interval does
]

EXTENSIONS = ["citext", "hstore", "ltree", "cube", "seg", "isn", "lo", "intarray", "btree_gist",
              "pg_trgm", "postgis"]

Column = collections.namedtuple("Column", "name type values")
Table = collections.namedtuple("Table", "name columns binary")

TYPES_SQL = """
SELECT n.nspname, t.typname, t.typarray <> 0, ARRAY(
    SELECT r.rngtypid::pg_catalog.regtype::pg_catalog.text FROM pg_catalog.pg_range r
    WHERE r.rngsubtype = t.oid AND r.rngtypid < 10000 ORDER BY 1),
  ARRAY(SELECT r.rngmultitypid::pg_catalog.regtype::pg_catalog.text FROM pg_catalog.pg_range r
    WHERE r.rngsubtype = t.oid AND r.rngtypid < 10000 ORDER BY 1)
FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
WHERE t.typtype = 'b' AND NOT EXISTS
  (SELECT FROM pg_catalog.pg_type e WHERE e.typarray = t.oid)
  AND n.nspname NOT LIKE 'pg\\_temp%%'
ORDER BY t.oid
"""


def quote(name):
    return '"%s"' % name.replace('"', '""')


def literal(text):
    if "\\" in text:
        return "E'%s'" % text.replace("\\", "\\\\").replace("'", "''")
    return "'%s'" % text.replace("'", "''")


def expression(value, sqltype):
    body = value[4:] if value.startswith("sql:") else literal(value)
    return "(%s)::%s" % (body, sqltype)


def arrays(values, element):
    """Empty, all, with NULL, lower bounds, two and six dimensions."""
    one, two = values[0], values[-1]
    return ["'{}'::%s[]" % element,
            "ARRAY[%s]::%s[]" % (", ".join(values), element),
            "ARRAY[NULL, %s, NULL]::%s[]" % (two, element),
            "array_fill(%s, ARRAY[2], ARRAY[-3])::%s[]" % (one, element),
            "ARRAY[ARRAY[%s, %s], ARRAY[%s, NULL]]::%s[]" % (one, two, two, element),
            "array_fill(%s, ARRAY[1,2,1,1,2,1], ARRAY[0,1,2,3,4,5])::%s[]" % (two, element)]


def multiranges(values):
    full = [v for v in values if v not in ("empty", "(,)")]
    return ["{}", "{(,)}"] + ["{%s}" % v for v in full]


class Matrix:
    """The tables of one lane between two servers; binary: the lane."""

    def __init__(self, src, dst, binary):
        self.binary = binary
        self.schema = "lane_b" if binary else "lane_t"
        self.majors = src.server.version(), dst.server.version()
        self.same_intervals = (self.majors[0] >= 17) == (self.majors[1] >= 17)
        self.setup = []
        self.tables = []
        there = {tuple(r[:2]) for r in dst.execute(TYPES_SQL)}
        for schema, name, array, ranges, multis in src.execute(TYPES_SQL):
            if name in NO_INPUT or (schema, name) not in there:
                continue
            assert name in VALUES, "no values for type %s.%s" % (schema, name)
            if self.takes(name):
                self.add_base(schema, name, array, ranges, multis)
        for sqltype, values in MODIFIED.items():
            if not binary or self.same_intervals or "interval" not in sqltype:
                self.add("mod", [(sqltype, [expression(v, sqltype) for v in values])])
        for sqltype, values, in_binary in USER:
            if in_binary is None:
                in_binary = self.same_intervals
            if in_binary or not binary:
                self.add("usr", [(sqltype, [expression(v, sqltype) for v in values])])

    def takes(self, name):
        if not self.binary:
            return True
        if name == "interval":
            return self.same_intervals
        return name not in TEXT_ONLY and not name.startswith("reg")

    def values(self, name):
        found = list(VALUES[name])
        if name == "interval" and min(self.majors) >= 17:
            found += ["infinity", "-infinity"]
        if name == "char":
            found += ["sql:(%d)::int4" % n for n in (-1, -128, -23)]
        return found

    def add_base(self, schema, name, array, ranges, multis):
        sqltype = "%s.%s" % (quote(schema), quote(name))
        values = [expression(v, sqltype) for v in self.values(name)]
        domain = "%s.%s" % (self.schema, quote("d " + name))
        self.setup.append("CREATE DOMAIN %s AS %s" % (domain, sqltype))
        columns = [(sqltype, values), (domain, ["%s::%s" % (v, domain) for v in values])]
        if array and (schema == "pg_catalog" or not self.binary):
            columns.append((sqltype + "[]", arrays(values, sqltype)))
        if not self.binary:
            columns.append((domain + "[]", arrays(
                ["%s::%s" % (v, domain) for v in values], domain)))
        for r, m in zip(ranges, multis):
            columns.append((r, [expression(v, r) for v in RANGES[r]]))
            columns.append((r + "[]", arrays([expression(v, r) for v in RANGES[r]], r)))
            columns.append((m, [expression(v, m) for v in multiranges(RANGES[r])]))
        self.add(name, columns)

    def add(self, name, columns):
        named = [Column("c%d" % i, t, v) for i, (t, v) in enumerate(columns)]
        if not self.binary:         # one such column makes the table go as text
            named.append(Column("x", "xml", ["'<x/>'::xml"]))
        self.tables.append(Table("%s %d%s" % (name, len(self.tables), self.schema[-1]),
                                 named, self.binary))

    # -- SQL ----------------------------------------------------------------

    def rows(self, table):
        """Every value of every column at least once, and a row of NULLs."""
        n = max(len(c.values) for c in table.columns)
        rows = [[c.values[i % len(c.values)] for c in table.columns] for i in range(n)]
        return rows + [["NULL"] * len(table.columns)]

    def name(self, kind, table):
        return "%s.%s" % (self.schema, quote("%s %s" % (kind, table.name)))

    def names(self):
        return [(self.schema, "%s %s" % (kind, t.name)) for t in self.tables for kind in ("key", "full")]

    def ddl(self):
        sql = ["CREATE SCHEMA %s" % self.schema] + self.setup
        for t in self.tables:
            columns = ", ".join("%s %s" % (c.name, c.type) for c in t.columns)
            sql += ["CREATE TABLE %s (id int PRIMARY KEY, %s)" % (self.name("key", t), columns),
                    "CREATE TABLE %s (%s)" % (self.name("full", t), columns),
                    "ALTER TABLE %s REPLICA IDENTITY FULL" % self.name("full", t)]
        return ";\n".join(sql)

    def inserts(self, first):
        sql = []
        for t in self.tables:
            rows = self.rows(t)
            sql.append("INSERT INTO %s VALUES %s" % (self.name("key", t), ", ".join(
                "(%d, %s)" % (first + i, ", ".join(r)) for i, r in enumerate(rows))))
            sql.append("INSERT INTO %s VALUES %s" % (self.name("full", t), ", ".join(
                "(%s)" % ", ".join(r) for r in rows)))
        return ";\n".join(sql)

    def changes(self):
        """Each row takes its neighbour's values; FULL rows change and go."""
        sql = []
        for t in self.tables:
            names = ", ".join(c.name for c in t.columns)
            key, full = self.name("key", t), self.name("full", t)
            n = len(self.rows(t))
            sql.append("UPDATE %s k SET (%s) = ROW(%s) FROM %s o WHERE o.id = k.id / 1000 * 1000"
                       " + (k.id %% 1000 + 1) %% %d" % (
                           key, names, ", ".join("o." + c.name for c in t.columns), key, n))
            nulls = ", ".join("%s = NULL" % c.name for c in t.columns)
            for what, rest in (("UPDATE %s SET " + nulls, 1), ("DELETE FROM %s", 2),
                               ("DELETE FROM %s", 0)):
                sql.append((what + " WHERE ctid IN (SELECT o.ctid FROM (SELECT ctid,"
                            " row_number() OVER (ORDER BY ctid) AS i FROM %s) o"
                            " WHERE o.i %% 4 = %d)") % (full, full, rest))
        return ";\n".join(sql)

    def cells(self):
        """Values that went through copy, insert, update and FULL delete."""
        return 4 * sum(len(self.rows(t)) * len(t.columns) for t in self.tables)
