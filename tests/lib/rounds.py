"""What crash, network and move tests have in common."""
import glob
import os
import re

import psycopg2

from .oracle import assert_same_rows
from .util import wait_until

# Waits that end soon, for tests in which waits end by their limit.
FAST = {
    "sluice.retry_min": "50ms",
    "sluice.retry_max": "400ms",
    "sluice.connect_timeout": "2s",
    "sluice.query_timeout": "3s",
    "sluice.receive_timeout": "3s",
    "sluice.lock_timeout": "1s",
}

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def fault_points():
    """The names of all points that the source code has."""
    names = set()
    for path in glob.glob(os.path.join(TOP, "src/*/*.c")):
        with open(path) as f:
            names.update(re.findall(r'\bSL_FAULT\("(\w+)"\)', f.read()))
    return sorted(names)


def bridge_fault_points():
    """The names of all points that the bridge has."""
    names = set()
    for path in glob.glob(os.path.join(TOP, "src/bridge/**/*.c"), recursive=True):
        with open(path) as f:
            names.update(re.findall(r'\bBR_FAULT\("(\w+)"\)', f.read()))
    return sorted(names)


def position(stream):
    """The stored position, read past sluice's views; None before the first."""
    return stream.dst.value("SELECT lsn FROM sluice.stream_position WHERE"
                            " stream_id = %s", stream.id)


def confirmed(stream):
    """What the source may forget: confirmed_flush_lsn of the stream's slot."""
    return stream.src.value(
        "SELECT confirmed_flush_lsn FROM pg_catalog.pg_replication_slots"
        " WHERE slot_name = %s",
        stream.dst.value("SELECT slot_name FROM sluice.stream WHERE"
                         " stream_id = %s", stream.id))


def lsn(text):
    high, low = text.split("/")
    return (int(high, 16) << 32) + int(low, 16)


def check_confirmed(stream):
    """Confirmed to the source is never ahead of what the target has stored."""
    said = confirmed(stream)        # first: the position may move meanwhile
    have = position(stream)
    if have is None or said is None:
        return                      # the copy is not over: nothing was confirmed
    assert lsn(said) <= lsn(have), \
        "confirmed %s to the source, only %s is stored here" % (said, have)


def check_equal(stream, tables, timeout="120 s"):
    """Caught up, equal by the oracle, nothing confirmed too early."""
    stream.caught_up(timeout)
    assert_same_rows(stream.src, stream.dst, tables)
    check_confirmed(stream)


def reachable(server, timeout=60):
    """Wait until the server answers again after a crash of its own."""
    wait_until(server.answers, timeout, "%s does not answer" % server.name)


def gone(server, timeout=60):
    """Wait until the postmaster has ended by itself."""
    wait_until(lambda: not server.is_running(), timeout,
               "%s still runs" % server.name)


def arm(target, point):
    """Make the next process that reaches the point die; returns a mark.

    The server ends with it, so that what it stored can be read before
    anything goes on.
    """
    mark = target.log_mark()
    target.reload(**{"sluice.fault_point": point, "restart_after_crash": "off"})
    return mark


def died_at(target, point, mark, timeout=60):
    """Wait for the kill at point; the server is down.  Returns its name."""
    name = point.split(":")[0]
    target.wait_log(r'fault point "%s" reached' % name, mark, timeout=timeout)
    gone(target)
    return name


def refused_start(stream, *markers, **args):
    """sync_start that must end in one of these refusals, raised or recorded.

    Returns (marker, text): whichever way it came, with nothing running after.
    """
    try:
        stream.start(**args)
    except psycopg2.Error as e:
        found = [m for m in markers if str(e).startswith(m + ":")]
        assert found and e.pgcode.startswith("SL"), (e.pgcode, str(e))
        return found[0], str(e)
    row = stream.wait_state("refused", "failed")
    assert row["state"] == "refused" and row["marker"] in markers, row
    return row["marker"], row["reason"]
