"""The harness of the multi-server tests.

    from lib import make_stream, same_rows, wait_until, PgServer

conftest.py has the fixtures (source, target, pair).  Nothing here skips: a
server that cannot be started fails the test.
"""
from .bridgerun import Bridge, make_bridged_stream, make_my_server
from .pgserver import Db, PgServer
from .mysqlserver import MyDb, MySqlServer
from .oracle import assert_same_rows, same_rows
from .secret import find_secret
from .streams import (Stream, both, caught_up_same, cold_stream, conflicts, follow,
                      make_server, make_stream, point_at)
from .util import free_port, scaled, wait_until

__all__ = [
    "Bridge", "Db", "MyDb", "MySqlServer", "PgServer", "Stream", "assert_same_rows",
    "both", "caught_up_same", "cold_stream", "conflicts", "find_secret", "follow",
    "free_port", "make_bridged_stream", "make_my_server", "make_server", "make_stream",
    "point_at", "same_rows", "scaled", "wait_until",
]
