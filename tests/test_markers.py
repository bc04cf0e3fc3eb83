"""Every marker and every state of the registries is reached by some test.

A list check: a marker that no expected output and no assertion holds is one
that nobody can reach, or that nobody tried.
"""
import glob
import os
import re

import pytest

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def read(path):
    with open(os.path.join(TOP, path), errors="replace") as f:
        return f.read()


def markers():
    """[(marker, sqlstate, ends, keeps)] of the registry."""
    found = re.findall(r'SL_MARKER\((\w+), "([A-Z0-9-]+)", "(SL\d\d\d)", (\w+), (\w+),',
                       read("src/common/sl_marker.h"))
    assert len(found) > 20
    return [f[1:] for f in found]


def states():
    found = re.findall(r'SL_STATE\(\w+, "(\w+)", "', read("src/common/sl_state.h"))
    assert len(found) >= 8
    return found


def evidence():
    """Text of what tests saw or require: expected outputs and test code."""
    out = {}
    for path in glob.glob(os.path.join(TOP, "expected/*.out")):
        # what the server said, not what the script asked for
        lines = [line for line in read(path).splitlines()
                 if re.match(r"(ERROR|psql:|NOTICE|WARNING|DETAIL| )", line)]
        out[os.path.relpath(path, TOP)] = "\n".join(lines)
    for path in glob.glob(os.path.join(TOP, "tests/test_*.py")):
        if os.path.basename(path) != "test_markers.py":
            out[os.path.relpath(path, TOP)] = read(path)
    return out


@pytest.mark.quick
def test_every_marker_is_reached():
    seen = evidence()
    missing = [m for m, _, _, _ in markers()
               if not any(re.search(r"(?<![A-Z0-9-])%s(?![A-Z0-9-])" % re.escape(m), text)
                          for text in seen.values())]
    assert not missing, "no test reaches: %s" % ", ".join(missing)


@pytest.mark.quick
def test_every_state_is_reached():
    seen = "\n".join(evidence().values())
    missing = [s for s in states() if not re.search(r"""(["']|^|\W)%s\b""" % s, seen)]
    assert not missing, "no test reaches: %s" % ", ".join(missing)


@pytest.mark.quick
def test_markers_are_one_of_a_kind():
    all_of = markers()
    assert len({m for m, _, _, _ in all_of}) == len(all_of)
    assert len({s for _, s, _, _ in all_of}) == len(all_of)


@pytest.mark.quick
def test_every_marker_is_raised_somewhere():
    """A marker without code is a promise nobody keeps."""
    code = "".join(read(p) for p in glob.glob(os.path.join(TOP, "src/*/*.c")))
    symbols = re.findall(r'SL_MARKER\((\w+), "', read("src/common/sl_marker.h"))
    unused = [s for s in symbols if not re.search(r"\bSL_M_%s\b" % s, code)]
    assert not unused, "never raised: %s" % ", ".join(unused)
