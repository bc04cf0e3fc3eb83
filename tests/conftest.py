"""Fixtures of the multi-server tests; what they are made of is in lib/."""
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from lib import Bridge, MySqlServer, PgServer  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--pg-bin", help="folder of PostgreSQL's programs "
                     "(default: $PG_BIN, else that of pg_config)")


def pytest_configure(config):
    if config.getoption("--pg-bin"):
        os.environ["PG_BIN"] = config.getoption("--pg-bin")
    config.addinivalue_line("markers", "quick: part of make test-quick")
    config.addinivalue_line("markers", "long: only in make test-long")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A skipped test is a failed one: a missing server must be seen."""
    outcome = yield
    report = outcome.get_result()
    if report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = "skipping is not allowed: %s" % (report.longrepr,)


def pytest_runtest_logreport(report):
    """One record a test for tools/run-tests, written as it ends."""
    path = os.environ.get("SLUICE_TEST_RESULTS")
    if not path or (report.passed and report.when != "call"):
        return
    with open(path, "a") as f:
        f.write("%s\1%s%s\1%s\0" % (
            report.outcome, report.nodeid,
            "" if report.when == "call" else " (%s)" % report.when,
            report.longreprtext.replace("\0", "").replace("\1", "")))


def pytest_collectreport(report):
    path = os.environ.get("SLUICE_TEST_RESULTS")
    if path and report.failed:
        with open(path, "a") as f:
            f.write("failed\1%s (collect)\1%s\0" % (
                report.nodeid, report.longreprtext))


@pytest.fixture(scope="session")
def source():
    """The shared source server; scenarios take databases of it."""
    server = PgServer("source", preload="").start()
    yield server
    server.destroy()


@pytest.fixture(scope="session")
def target():
    """The shared target server, with the library preloaded."""
    server = PgServer("target").start()
    yield server
    server.destroy()


@pytest.fixture
def pair(source, target, request):
    """(source Db, target Db with the extension) for one scenario."""
    src = source.fresh_db(request.node.name)
    dst = target.fresh_db(request.node.name, extension=True)
    yield src, dst
    dst.destroy()
    src.destroy()


@pytest.fixture
def dst(target, request):
    """A target Db with the extension, for a source of another kind."""
    db = target.fresh_db(request.node.name, extension=True)
    yield db
    db.destroy()


@pytest.fixture
def make_pg():
    """PgServer(...), started, and destroyed when the test ends."""
    made = []

    def make(name="pg", **kw):
        server = PgServer(name, **kw)
        made.append(server)
        return server.start()
    yield make
    for server in reversed(made):
        server.destroy()


def _shared_mysql(kind):
    @pytest.fixture(scope="session")
    def server():
        one = MySqlServer(kind).start()
        yield one
        one.destroy()
    return server


# The shared servers of other kinds; scenarios take databases of them.
mariadb10 = _shared_mysql("mariadb10.11")
mariadb11 = _shared_mysql("mariadb11.8")
mysql9 = _shared_mysql("mysql")


# The older MariaDB has its turn in the long tests: what differs there has tests of its own.
EACH_SERVER = [pytest.param("mariadb10", marks=pytest.mark.long), "mariadb11", "mysql9"]


@pytest.fixture(params=EACH_SERVER)
def my_server(request):
    """Each of the shared servers in turn."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def my_db(my_server, request):
    """A fresh database on each of the shared servers in turn; a MyDb."""
    db = my_server.fresh_db(request.node.name)
    yield db
    db.destroy()


@pytest.fixture
def make_mysql():
    """MySqlServer(kind, ...), started, and destroyed when the test ends."""
    made = []

    def make(kind, name=None, **conf):
        server = MySqlServer(kind, name, conf)
        made.append(server)
        return server.start()
    yield make
    for server in reversed(made):
        server.destroy()


@pytest.fixture
def make_bridge():
    """Bridge(db, ...), started, and destroyed when the test ends."""
    made = []

    def make(db, **kw):
        made.append(Bridge(db, **kw))
        return made[-1].start()
    yield make
    for bridge in reversed(made):
        bridge.destroy()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """All tests of a file that share a world (a parameter of that name) one after the other.

    pytest groups by a parameter's number in its list, which tells nothing
    where lists of one file are of different lengths.
    """
    files = {}
    for item in items:
        files.setdefault(item.path, len(files))
    items.sort(key=lambda item: (files[item.path], str(getattr(item, "callspec", None) and
                                                       item.callspec.params.get("world", ""))))
