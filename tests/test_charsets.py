"""Text of every character set: our conversion against the servers' own, every
code point of it."""
import pytest

from lib.programs import convert

SINGLE = {
    "armscii8", "ascii", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852", "cp866",
    "dec8", "geostd8", "greek", "hebrew", "hp8", "keybcs2", "koi8r", "koi8u", "latin1",
    "latin2", "latin5", "latin7", "macce", "macroman", "swe7", "tis620",
}
DOUBLE = {"big5", "cp932", "euckr", "gb2312", "gbk", "sjis", "ujis", "eucjpms", "gb18030"}
WIDE = {"ucs2": 2, "utf16": 2, "utf16le": 2, "utf32": 4}
UTF8 = {"utf8mb3", "utf8mb4", "binary"}
# one in so many of those code points that no table has
STRIDE = 101


def test_all_known(my_server):
    """Not one character set, and not one collation's number, is left out."""
    names = {row[0] for row in my_server.query("SHOW CHARACTER SET")}
    assert names <= SINGLE | DOUBLE | set(WIDE) | UTF8
    table = ("COLLATION_CHARACTER_SET_APPLICABILITY" if my_server.is_mariadb
             else "COLLATIONS")
    rows = my_server.query("SELECT id, character_set_name FROM information_schema." + table)
    assert len(rows) > 200
    wanted = [name.encode().hex() for _, name in rows]
    assert convert(["%08x" % number for number, _ in rows], "collation") == wanted
    assert convert(["00000011", "0000ffff", "ffffffff"], "collation") == ["!none"] * 3


def replaced(charset, data, text):
    """Did the server put a replacement in place of what it could not read?"""
    if not text:
        return True
    if charset in WIDE:
        question = "?".encode({"ucs2": "utf-16-be", "utf16": "utf-16-be", "utf16le": "utf-16-le",
                               "utf32": "utf-32-be"}[charset])
        return "?" in text and data != question
    if "\ufffd" in text and (charset in SINGLE or charset == "big5"):
        return True
    return text.count("?") > data.count(b"?")


def compare(server, charset, codes):
    """codes: an SQL expression of i, from 0 to a count, that is the bytes; and
    the count."""
    expression, count = codes
    with server.connect() as conn, conn.cursor() as cur:
        cur.execute("SET SESSION %s = %d" % (
            "max_recursive_iterations" if server.is_mariadb else "cte_max_recursion_depth",
            count + 1))
        cur.execute(
            "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d), "
            "c AS (SELECT UNHEX(%s) AS b FROM n) "
            "SELECT HEX(b), HEX(CONVERT(CONVERT(b USING %s) USING utf8mb4)) FROM c"
            % (count - 1, expression, charset))
        rows = cur.fetchall()
    assert len(rows) == count
    wrong = []
    converted = 0
    for (data, text), ours in zip(rows, convert([row[0] for row in rows], "charset", charset)):
        raw = bytes.fromhex(data)
        try:
            theirs = bytes.fromhex(text or "").decode()
        except UnicodeDecodeError:
            theirs = ""     # halves of surrogates, which are no UTF-8
        if replaced(charset, raw, theirs):
            good = ours.startswith("!malformed at ") or (
                charset in UTF8 and raw[:1] == b"\0" and ours.startswith("!unsupported at "))
        elif "\0" in theirs:
            good = ours.startswith("!unsupported at ")
        else:
            converted += 1
            good = ours == text.lower()
        if not good:
            wrong.append((data, theirs, ours))
    assert not wrong, "%s: %d of %d differ: %s" % (charset, len(wrong), count, wrong[:10])
    return converted


def number(width, first=0, step=1):
    return "LPAD(HEX(%d + i * %d), %d, '0')" % (first, step, 2 * width)


def names(server, wanted):
    return sorted(wanted & {row[0] for row in server.query("SHOW CHARACTER SET")})


def test_single_bytes(my_server):
    """All 256 bytes of each character set, of those of several bytes too."""
    for charset in names(my_server, SINGLE | DOUBLE):
        assert compare(my_server, charset, (number(1), 256)) >= 90


@pytest.mark.parametrize("charset", sorted(DOUBLE - {"gb18030"}))
def test_two_bytes(my_server, charset):
    assert compare(my_server, charset, (number(2, 0x8000), 0x8000)) > 6000


@pytest.mark.parametrize("charset", ["ujis", "eucjpms"])
def test_three_bytes(my_server, charset):
    """Those after the prefix 0x8f."""
    three = "CONCAT('8F', %s)" % number(2, 0x8000)
    assert compare(my_server, charset, (three, 0x8000)) > 6000


# GB 18030's four bytes: lead, digit, byte, digit
FOUR = ("CONCAT(HEX(129 + {0} DIV 12600), HEX(48 + {0} DIV 1260 MOD 10), "
        "HEX(129 + {0} DIV 10 MOD 126), HEX(48 + {0} MOD 10))")


def test_gb18030(mysql9):
    """Which MySQL alone has: two bytes, the four bytes of the first plane, some of the others."""
    assert compare(mysql9, "gb18030", (number(2, 0x8000), 0x8000)) > 20000
    assert compare(mysql9, "gb18030", (FOUR.format("i"), 4 * 12600)) > 39000
    rest = FOUR.format("(%d + i * %d)" % (4 * 12600, STRIDE))
    assert compare(mysql9, "gb18030", (rest, 122 * 12600 // STRIDE)) > 9000


@pytest.mark.parametrize("charset", sorted(WIDE))
def test_wide(my_server, charset):
    """Each unit alone; pairs of surrogates, and single units followed by one of a pair."""
    width = WIDE[charset]
    assert compare(my_server, charset, (number(width), 0x10000)) > 63000
    if charset == "utf32":
        assert compare(my_server, charset, (number(4, 0x10000, STRIDE), 0x110000 // STRIDE)) > 9000
    elif charset != "ucs2":
        big = "HEX(0xd800 + (i * {0}) DIV 1024 MOD 1024), HEX(0xdc00 + i * {0} MOD 1024)"
        little = ("LPAD(HEX((i * {0}) DIV 1024 MOD 256), 2, '0'), HEX(0xd8 + (i * {0}) DIV 262144), "
                  "LPAD(HEX(i * {0} MOD 256), 2, '0'), HEX(0xdc + i * {0} MOD 1024 DIV 256)")
        pairs = "CONCAT(%s)" % (little if charset == "utf16le" else big).format(STRIDE)
        assert compare(my_server, charset, (pairs, 0x100000 // STRIDE)) > 9000


@pytest.mark.parametrize("charset", sorted(UTF8))
def test_utf8(my_server, charset):
    """Bytes of one, two and three, of which few are characters."""
    assert compare(my_server, charset, (number(1), 256)) == 127
    assert compare(my_server, charset, (number(2, 0xc000), 0x4000)) == 30 * 64
    assert compare(my_server, charset, (number(3, 0xe00000, 31), 0x100000 // 31)) > 1500
    four = compare(my_server, charset, (number(4, 0xf0800000, 9973), 0x8000000 // 9973))
    assert four == 0 if charset == "utf8mb3" else four > 80


@pytest.mark.long
def test_supplementary_planes(my_server):
    """Every code point beyond the first plane."""
    step = 0x20000
    for first in range(0, 0x100000, step):
        compare(my_server, "utf32", (number(4, 0x10000 + first), step))
        pairs = ("CONCAT(HEX(0xd800 + ({0} + i) DIV 1024), HEX(0xdc00 + i MOD 1024))"
                 .format(first))
        compare(my_server, "utf16", (pairs, step))
    if not my_server.is_mariadb:
        for first in range(4 * 12600, 126 * 12600, 126000):
            count = min(126000, 126 * 12600 - first)
            compare(my_server, "gb18030", (FOUR.format("(%d + i)" % first), count))
