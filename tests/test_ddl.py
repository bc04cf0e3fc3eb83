"""Types of columns as the parser of definitions has them, against the servers' own."""
import pytest

from lib.ddlcorpus import parsed
from lib.programs import program

BOTH = [
    "bit", "bit(7)", "bool", "boolean", "tinyint", "tinyint(1)", "tinyint(1) unsigned", "tinyint(3) zerofill", "int1", "smallint", "smallint unsigned",
    "int2", "mediumint", "middleint(4)", "int3 unsigned", "int", "integer(3)", "int(0)", "int4 zerofill", "bigint", "bigint unsigned", "int8",
    "decimal", "decimal(5)", "decimal(0)", "decimal(0,0)", "dec(9,3)", "numeric(4,4) unsigned", "fixed(3,1) zerofill",
    "float", "float(24)", "float(25)", "float(7,3)", "float unsigned", "float4", "double", "double precision", "float8", "real", "real(9,2)",
    "char", "char(3)", "character(4)", "varchar(5)", "char varying(6)", "character varying(7)", "national char(3)", "nchar(2)",
    "national varchar(4)", "nvarchar(5)", "nchar varchar(6)", "nchar varying(7)", "national character varying(8)", "long", "long varchar", "long varbinary",
    "char(3) character set binary", "varchar(3) charset binary", "text character set binary", "char(3) byte", "varchar(5) ascii", "char(2) unicode binary",
    "tinytext", "text", "mediumtext", "longtext", "tinyblob", "blob", "blob(10)", "blob(300)", "blob(70000)", "mediumblob", "longblob",
    "text(10) character set binary", "binary", "binary(5)", "varbinary(3)",
    "enum('a','b')", "enum('a  ','it''s', 'x\\\\y')", "set('q',\"r\")", "enum(x'41', b'01000010')",
    "date", "time", "time(3)", "datetime", "datetime(0)", "datetime(6)", "timestamp(2) null", "year", "year(4)", "json",
    "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection",
]
ONLY = {
    "mariadb": ["uuid", "inet4", "inet6", "inet6(6)", "varchar(9) compressed", "text compressed=zlib", "mariadb_schema.date", "text(0)"],
    "mysql": ["geomcollection", "vector", "vector(3)", "geometry srid 0", "blob(0)"],
}


@pytest.mark.long
def test_types(my_db):
    """Each spelling of a type is what the server stores of it."""
    family = "mariadb" if my_db.server.is_mariadb else "mysql"
    major, minor, patch = my_db.value("SELECT version()").split("-")[0].split(".")[:3]
    version = "%d%02d%02d" % (int(major), int(minor), int(patch))
    spelled = BOTH + ONLY[family]
    statements = ["CREATE TABLE t (a %s)" % one for one in spelled]
    got = parsed(program("ddl"), family, version, statements)
    for one, statement in zip(spelled, statements):
        my_db.execute(statement)
        shown = my_db.value("SELECT column_type FROM information_schema.columns"
                            " WHERE table_schema = database() AND table_name = 't'")
        shown = shown.decode() if isinstance(shown, bytes) else shown
        my_db.execute("DROP TABLE t")
        line = got[statement] + " "
        assert line.startswith("CREATE TABLE: test.t | ADD COLUMN a %s " % shown), (one, shown, line)
