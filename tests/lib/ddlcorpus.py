"""ddlcorpus.py PROGRAM mysql|mariadb VERSION FOLDER: how many statements of definitions out of a server's own test
suite the parser takes; PROGRAM is built from tests/programs/ddl.c (make build/unit/ddl).

The suite's recorded results (*.result, as in Debian's mariadb-test-data and mysql-testsuite) say which statements a
server took: a statement is echoed, and what the server answered stands on the next line.  Prints each that is not
understood, or not as its first words say, then a line of counts.  Nothing of a suite is kept here.
"""
import os
import re
import subprocess
import sys

BEGIN = re.compile(r"(set statement\b.*\bfor\s+)?(create|alter|drop|rename|truncate)\b", re.I)
# what such a statement begins with, unlike output that begins with the same word
OBJECTS = r"(or\s+replace|temporary|table|tables|index|unique|fulltext|spatial|vector|online|offline|ignore|database|schema|view|" \
          r"algorithm|definer|sql\s+security|procedure|function|aggregate|trigger|event|user|role|server|sequence|logfile|" \
          r"tablespace|undo|resource|package|library)"
TRUE = re.compile(r"(create|alter|drop|rename)\s+%s\b|truncate\s+(table\s+)?[^\s(]" % OBJECTS, re.I)
END = re.compile(r"(;|\||//|\$\$|\$|%|#)\s*$")
# what kind a statement is and of which table, told apart from the parser by its first words alone
COMMENT = re.compile(r"/\*(?!!|M!).*?\*/|/\*M?!\d*|\*/|--\s[^\n]*\n|#[^\n]*\n", re.S)
NAME = r"((?:`(?:[^`]|``)*`|[^\s`().,;]+)(?:\s*\.\s*(?:`(?:[^`]|``)*`|[^\s`().,;]+))?)"
KINDS = [(re.compile(pattern + r"\s*" + NAME, re.I | re.S), kind) for pattern, kind in (
    (r"create\s+(?:or\s+replace\s+)?temporary\s+table\s+(?:if\s+not\s+exists\s+)?", "CREATE TEMPORARY TABLE"),
    (r"create\s+(?:or\s+replace\s+)?table\s+(?:if\s+not\s+exists\s+)?", "CREATE TABLE"),
    (r"alter\s+(?:online\s+|offline\s+)?(?:ignore\s+)?table\s+(?:if\s+exists\s+)?", "ALTER TABLE"),
    (r"drop\s+temporary\s+tables?\s+(?:if\s+exists\s+)?", "DROP TEMPORARY TABLE"),
    (r"drop\s+tables?\s+(?:if\s+exists\s+)?", "DROP TABLE"),
    (r"rename\s+tables?\s+(?:if\s+exists\s+)?", "RENAME TABLE"),
    (r"truncate\s+(?:table\s+)?", "TRUNCATE TABLE"),
    (r"(?:create|drop)\s+(?:database|schema)\s+(?:if\s+(?:not\s+)?exists\s+)?", "DATABASE"),
)]


def statements(path):
    """(statement, accepted) of one recorded result, where it is text in UTF-8."""
    try:
        with open(path, encoding="utf-8") as f:
            lines = f.read().split("\n")
    except UnicodeDecodeError:
        return
    i = 0
    while i < len(lines):
        start = i
        if not BEGIN.match(lines[i]):
            i += 1
            continue
        while i < len(lines) and i - start < 200 and not END.search(lines[i]):
            i += 1
        if i >= len(lines) or i - start >= 200:
            i = start + 1
            continue
        text = END.sub("", "\n".join(lines[start:i + 1]))
        i += 1
        answer = lines[i] if i < len(lines) else ""
        if END.search(lines[i - 1]).group(1) == ";":
            yield text, not answer.startswith("ERROR")


def counts(text):
    """Is it a statement, and none that the suite's own tools have changed?"""
    bare = COMMENT.sub(" ", text).strip()
    bare = re.sub(r"^set\s+statement\b.*?\bfor\s+", "", bare, flags=re.I | re.S)
    return TRUE.match(bare) is not None and not re.search(r"<\w+>|####|\$\w+\$|#sql-", text)


def results(folder):
    """The recorded results below a folder."""
    for top, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if name.endswith(".result"):
                yield os.path.join(top, name)


def unquoted(name):
    """The last part of a name, without quotes."""
    part = re.findall(r"`(?:[^`]|``)*`|[^.\s]+", name)[-1]
    return part[1:-1].replace("``", "`") if part.startswith("`") else part


def expected(text):
    """(kind, table) of a statement by its first words; kind None: another one."""
    text = COMMENT.sub(" ", text).strip()
    text = re.sub(r"^set\s+statement\b.*?\bfor\s+", "", text, flags=re.I | re.S)
    for pattern, kind in KINDS:
        m = pattern.match(text)
        if m:
            return kind, unquoted(m.group(1))
    return None, None


def parsed(program, server, version, texts, *modes):
    """What the program says of each statement."""
    done = subprocess.run([program, server, version] + list(modes), stdout=subprocess.PIPE, check=True,
                          input="".join(text.encode().hex() + "\n" for text in texts).encode())
    # not splitlines: a name may have any character that it splits at
    lines = done.stdout.decode(errors="replace").split("\n")[:-1]
    assert len(lines) == len(texts)
    return dict(zip(texts, lines))


def accepted(folder):
    """Statements that the server took, each once, to the file that has it first."""
    found = {}
    for path in results(folder):
        for text, ok in statements(path):
            if ok and counts(text):
                found.setdefault(text, path)
    return found


def wrong(text, got):
    """Is it another kind, or another table, than its first words say?"""
    kind, name = expected(text)
    if kind in (None, "DATABASE") or name.startswith('"'):
        return False
    return not got.startswith(kind) or "." + " ".join(name.split()) not in " ".join(got.split())


def main(program, server, version, folder):
    found = accepted(folder)
    got = parsed(program, server, version, list(found))
    # a suite's session says its modes long before: what fits under none of them does not count as taken
    for modes in (("ansi",), ("nobackslash",), ("ansi", "nobackslash")):
        again = [text for text in found if got[text].startswith("UNKNOWN")]
        for text, line in parsed(program, server, version, again, *modes).items():
            if not line.startswith("UNKNOWN"):
                got[text] = line
    bad = [text for text in found if got[text].startswith("UNKNOWN") or wrong(text, got[text])]
    for text in bad:
        print("%s\n  %s\n  %s" % (found[text], got[text][:200], " ".join(text.split())[:400]))
    print("%d statements, %d not understood" % (len(found), len(bad)))


if __name__ == "__main__":
    main(*sys.argv[1:])
