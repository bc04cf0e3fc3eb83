"""Random MySQL and MariaDB columns, and what their values are in a row image.

A kind of column says how it is declared, which values it is tried with, how a
SELECT tells a stored value exactly, and how the same text is read off the bytes
of a row image.  Nothing here comes from sluice: it is what its decoder is
compared with.
"""
import struct
import zlib

# -- bytes of a row image as text -------------------------------------------


def _int(size, signed):
    return lambda b: str(int.from_bytes(_exactly(b, size), "little", signed=signed))


def _exactly(b, size):
    assert len(b) == size, "%d bytes, not %d" % (len(b), size)
    return b


def _hex(b):
    return b.hex().upper()


def _padded(size):
    """Trailing zeros are left out of the log."""
    return lambda b: _hex(b.ljust(size, b"\0"))


def _float(b):
    return struct.unpack("<d", struct.pack("<d", struct.unpack("<f", _exactly(b, 4))[0]))[0]


def _double(b):
    return struct.unpack("<d", _exactly(b, 8))[0]


def _decimal(precision, scale):
    def size(digits):
        return digits // 9 * 4 + (0, 1, 1, 2, 2, 3, 3, 4, 4)[digits % 9]

    def groups(b, digits, first_short):
        """The digits of one side of the point."""
        widths = [9] * (digits // 9)
        if digits % 9:
            widths.insert(0 if first_short else len(widths), digits % 9)
        text = ""
        for width in widths:
            n = size(width)
            text += "%0*d" % (width, int.from_bytes(b[:n], "big"))
            b = b[n:]
        return text

    def read(b):
        whole = precision - scale
        _exactly(b, size(whole) + size(scale))
        negative = not b[0] & 0x80
        b = bytes([b[0] ^ 0x80]) + b[1:]
        if negative:
            b = bytes(c ^ 0xff for c in b)
        text = groups(b, whole, True).lstrip("0") or "0"
        if scale:
            text += "." + groups(b[size(whole):], scale, False)
        return "-" + text if negative else text
    return read


def _bits(b):
    return str(int.from_bytes(b, "big"))


def _year(b):
    return "%04d" % (_exactly(b, 1)[0] and _exactly(b, 1)[0] + 1900)


def _date(b):
    n = int.from_bytes(_exactly(b, 3), "little")
    return "%04d-%02d-%02d" % (n >> 9, n >> 5 & 15, n & 31)


def _fraction(b, digits):
    if not digits:
        return ""
    micros = int.from_bytes(b, "big") * 100 ** (3 - len(b))
    return (".%06d" % micros)[:digits + 1]


def _datetime(digits):
    def read(b):
        _exactly(b, 5 + (digits + 1) // 2)
        n = int.from_bytes(b[:5], "big") - 0x8000000000
        day, time = n >> 17, n & 0x1ffff
        return "%04d-%02d-%02d %02d:%02d:%02d" % (
            (day >> 5) // 13, (day >> 5) % 13, day & 31, time >> 12, time >> 6 & 63,
            time & 63) + _fraction(b[5:], digits)
    return read


def _timestamp(digits):
    """As seconds since 1970 and a fraction: the zero one stands for no moment."""
    def read(b):
        _exactly(b, 4 + (digits + 1) // 2)
        return "%d%s" % (int.from_bytes(b[:4], "big"), _fraction(b[4:], digits))
    return read


def _time(digits):
    def read(b):
        extra = (digits + 1) // 2
        _exactly(b, 3 + extra)
        # one signed number, biased by half of its range
        n = int.from_bytes(b, "big") - (0x800000 << 8 * extra)
        sign, n = ("-", -n) if n < 0 else ("", n)
        part = n & (1 << 8 * extra) - 1
        n >>= 8 * extra
        return "%s%02d:%02d:%02d%s" % (
            sign, n >> 12 & 1023, n >> 6 & 63, n & 63,
            _fraction(part.to_bytes(extra, "big"), digits))
    return read


def _compressed(b):
    """MariaDB's COMPRESSED: a byte of method and width, the length, deflated."""
    if not b:
        return ""
    if b[0] == 0:
        return _hex(b[1:])
    width = b[0] & 7
    raw = zlib.decompress(b[1 + width:], -15 if b[0] & 8 else 15)
    assert len(raw) == int.from_bytes(b[1:1 + width], "big")
    return _hex(raw)


# -- columns ----------------------------------------------------------------

class Column:
    """sql: the declaration; values(rnd): a literal; exact: a SELECT's
    expression with %s for the column; read: bytes to what that gives."""

    def __init__(self, sql, values, exact, read, is_blob=False):
        self.sql = sql
        self.values = values
        self.exact = exact
        self.read = read
        self.is_blob = is_blob      # left out by binlog_row_image=NOBLOB


def _pick(*literals):
    return lambda rnd: rnd.choice(literals)


def _range(low, high):
    return lambda rnd: str(rnd.choice((low, high, 0, 1, rnd.randint(low, high))))


def _text(most, letters="ab é€"):
    def values(rnd):
        n = rnd.choice((0, 1, most, rnd.randint(0, most)))
        return "'%s'" % "".join(rnd.choice(letters) for _ in range(n))
    return values


def _bytes(most):
    def values(rnd):
        n = rnd.choice((0, 1, most, rnd.randint(0, most)))
        return "x'%s'" % bytes(rnd.choice((0, 0, 1, 32, 255, rnd.randrange(256)))
                               for _ in range(n)).hex()
    return values


TEXT = "CAST(%s AS CHAR)"
HEX = "HEX(%s)"
NUMBER = "CAST(CAST(%s AS UNSIGNED) AS CHAR)"


def _numbers():
    for name, size in (("TINYINT", 1), ("SMALLINT", 2), ("MEDIUMINT", 3), ("INT", 4),
                       ("BIGINT", 8)):
        top = 1 << 8 * size
        yield Column(name, _range(-top // 2, top // 2 - 1), TEXT, _int(size, True))
        yield Column(name + " UNSIGNED", _range(0, top - 1), TEXT, _int(size, False))
    for precision, scale in ((1, 0), (5, 5), (9, 0), (10, 2), (18, 9), (30, 11), (65, 0), (65, 30)):
        nines = "9" * (precision - scale) or "0"
        nines += "." + "9" * scale if scale else ""
        least = "0." + "0" * (scale - 1) + "1" if scale else "1"
        yield Column("DECIMAL(%d,%d)" % (precision, scale),
                     _pick("0", nines, "-" + nines, least, "-" + least), TEXT,
                     _decimal(precision, scale))
    yield Column("FLOAT", _pick("0", "1.5", "-3.4028234e38", "1.17549435e-38", "16777216", "0.1"),
                 "CAST(%s AS DOUBLE)", _float)
    yield Column("DOUBLE", _pick("0", "-2.5", "1.7976931348623157e308", "2.2250738585072014e-308",
                                 "0.1", "-1e-5"), "%s", _double)
    for bits in (1, 7, 8, 9, 24, 63, 64):
        yield Column("BIT(%d)" % bits, _range(0, (1 << bits) - 1), NUMBER, _bits)


def _times():
    yield Column("YEAR", _pick("1901", "2155", "'0000'", "2024"), TEXT, _year)
    yield Column("DATE", _pick("'1000-01-01'", "'9999-12-31'", "'2024-02-29'", "'0000-00-00'",
                               "'2025-00-15'"), TEXT, _date)
    for digits in range(7):
        frac = ".987654"[:digits + 1] if digits else ""
        least = "." + "0" * (digits - 1) + "1" if digits else ""
        yield Column("TIME(%d)" % digits,
                     _pick("'-838:59:59'", "'838:59:59'", "'00:00:00'", "'-00:00:01%s'" % frac,
                           "'-00:00:00%s'" % least, "'-01:00:00%s'" % least,
                           "'23:59:59%s'" % frac, "'100:08:04%s'" % least), TEXT, _time(digits))
        yield Column("DATETIME(%d)" % digits,
                     _pick("'1000-01-01 00:00:00%s'" % least, "'9999-12-31 23:59:59%s'" % frac,
                           "'0000-00-00 00:00:00'", "'2024-02-29 12:34:56%s'" % frac),
                     TEXT, _datetime(digits))
        yield Column("TIMESTAMP(%d) NULL" % digits,
                     _pick("'1970-01-01 00:00:01'", "'2038-01-19 03:14:07%s'" % frac,
                           "'2024-02-29 12:34:56%s'" % least),
                     "CAST(UNIX_TIMESTAMP(%s) AS CHAR)", _timestamp(digits))


def _strings():
    for charset in ("latin1", "utf8mb4", "ucs2", "gbk"):
        letters = "ab \u00e9" if charset == "latin1" else "ab \u4e2d" if charset == "gbk" else \
            "ab \u00e9\u20ac" if charset == "ucs2" else "ab \u00e9\u20ac\U0001f600"
        for n in (1, 63, 64, 255):
            yield Column("CHAR(%d) CHARACTER SET %s" % (n, charset), _text(n, letters), HEX, _hex)
        for n in (1, 127, 300):
            yield Column("VARCHAR(%d) CHARACTER SET %s" % (n, charset), _text(n, letters), HEX,
                         _hex)
        for name in ("TINYTEXT", "TEXT", "MEDIUMTEXT", "LONGTEXT"):
            yield Column("%s CHARACTER SET %s" % (name, charset), _text(60, letters), HEX, _hex,
                         is_blob=True)
    for n in (1, 20, 255):
        yield Column("BINARY(%d)" % n, _bytes(n), HEX, _padded(n))
    for n in (1, 255, 256):
        yield Column("VARBINARY(%d)" % n, _bytes(n), HEX, _hex)
    for name, most in (("TINYBLOB", 255), ("BLOB", 3000), ("MEDIUMBLOB", 3000), ("LONGBLOB", 3000)):
        yield Column(name, _bytes(most), HEX, _hex, is_blob=True)


def _labelled():
    yield Column("ENUM('a','\u00fc','c') CHARACTER SET latin1", _range(1, 3), NUMBER, _int(1, False))
    yield Column("ENUM(%s)" % ",".join("'l%d'" % i for i in range(300)), _range(1, 300), NUMBER,
                 _int(2, False))
    for n, size in ((1, 1), (8, 1), (9, 2), (17, 3), (25, 4), (33, 8), (64, 8)):
        yield Column("SET(%s)" % ",".join("'l%d'" % i for i in range(n)), _range(0, (1 << n) - 1),
                     NUMBER, _int(size, False))


def _geometries():
    yield Column("GEOMETRY", _pick("ST_GeomFromText('POINT(1 2)')",
                                   "ST_GeomFromText('LINESTRING(0 0,1 1,2 5)')"),
                 HEX, _hex, is_blob=True)
    yield Column("POINT", _pick("ST_GeomFromText('POINT(-1.5 1e10)')"), HEX, _hex, is_blob=True)


def _of_mysql():
    # the text is compared elsewhere; here that no byte is missing or too many
    yield Column("JSON", _pick("'[]'", "'{\"a\": [1, 2.5, \"x\"], \"b\": null}'", "'5'",
                               "JSON_OBJECT('k', REPEAT('v', 70000))"),
                 "CAST(JSON_STORAGE_SIZE(%s) AS CHAR)", lambda b: str(len(b)), is_blob=True)
    yield Column("VECTOR(3)", _pick("TO_VECTOR('[1,2.5,-3]')"), HEX, _hex, is_blob=True)


def _of_mariadb(version):
    yield Column("JSON", _pick("'[]'", "'{\"a\": 1}'"), HEX, _hex, is_blob=True)
    binary = "HEX(CAST(%%s AS BINARY(%d)))"
    yield Column("UUID", _pick("'123e4567-e89b-12d3-a456-426655440000'",
                               "'ffffffff-ffff-ffff-ffff-ffffffffffff'"), binary % 16, _padded(16))
    yield Column("INET6", _pick("'::1'", "'2001:db8::ff00:42:8329'", "'::'"), binary % 16, _padded(16))
    yield Column("INET4", _pick("'10.0.0.1'", "'255.255.255.255'", "'0.0.0.0'"), binary % 4, _padded(4))
    yield Column("TEXT COMPRESSED", _text(60), HEX, _compressed, is_blob=True)
    yield Column("BLOB COMPRESSED", _pick("''", "x'00'", "REPEAT('z', 500)"), HEX, _compressed,
                 is_blob=True)
    yield Column("VARCHAR(100) COMPRESSED", _pick("''", "'a'", "REPEAT('z', 100)"), HEX, _compressed)
    yield Column("VARBINARY(300) COMPRESSED", _bytes(300), HEX, _compressed)
    if version >= (11, 7):
        yield Column("VECTOR(3)", _pick("VEC_FromText('[1,2.5,-3]')"), HEX, _hex)


def columns(mariadb_version=None):
    """All columns that a server has; None: MySQL 9."""
    own = _of_mariadb(mariadb_version) if mariadb_version else _of_mysql()
    return [c for kinds in (_numbers(), _times(), _strings(), _labelled(), _geometries(), own)
            for c in kinds]
