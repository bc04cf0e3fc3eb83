"""The bridge's session on its target, by tests/programs/target/session.c: what a
statement's result is, pipelined or not, and what is left after a fault."""
import subprocess

import pytest

from lib import wait_until
from lib.programs import program
from lib.util import scaled

pytestmark = pytest.mark.quick


class Session:
    def __init__(self, db):
        self.process = subprocess.Popen(
            [program("session", "bridge"), "host=%s port=%d dbname=%s user=postgres" % (
                db.server.sockdir, db.server.port, db.name)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def __call__(self, *lines):
        """Give it these lines; the line it answers to each (the last alone, of one)."""
        out = []
        for line in lines:
            self.process.stdin.write(line + "\n")
            out.append(self.process.stdout.readline().rstrip("\n"))
        return out if len(out) > 1 else out[0]

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(scaled(30)) == 0


@pytest.fixture
def db(target, request):
    db = target.fresh_db(request.node.name)
    db.execute("CREATE TABLE p (id int PRIMARY KEY);"
               "CREATE TABLE c (id int REFERENCES p DEFERRABLE INITIALLY DEFERRED)")
    yield db
    db.destroy()


@pytest.fixture
def session(db):
    one = Session(db)
    yield one
    one.close()


def test_a_session_is_pinned(db):
    db.execute("ALTER DATABASE \"%s\" SET statement_timeout = '1s';"
               "ALTER DATABASE \"%s\" SET search_path = pg_temp;"
               "ALTER DATABASE \"%s\" SET DateStyle = 'German';"
               "ALTER DATABASE \"%s\" SET default_transaction_read_only = on;"
               "ALTER DATABASE \"%s\" SET client_encoding = 'LATIN1'" % ((db.name,) * 5))
    session = Session(db)
    assert session("query SHOW statement_timeout", "query SHOW search_path", "query SHOW DateStyle",
                   "query SHOW transaction_read_only", "query SHOW client_encoding") == [
                       "0", "", "ISO, MDY", "off", "UTF8"]
    session.close()


def test_statements_by_themselves(session):
    assert session("query SELECT 1/0") == "fault 22012 division by zero"
    assert session("query SELECT 42", "query SELECT NULL") == ["42", "none"]
    # a COMMIT that commits nothing is a fault, a ROLLBACK is none
    assert session("query BEGIN", "query SELECT 1/0", "query COMMIT") == [
        "none", "fault 22012 division by zero", "fault 25P02 the transaction was rolled back"]
    assert session("query BEGIN", "query ROLLBACK") == ["none", "none"]
    assert session("send SELECT 1").startswith("fault - ")
    assert session("result") == "none"


def test_results_come_in_order(session):
    assert session("pipeline 4") == "ok"
    assert session("query SELECT 1").startswith("fault - ")
    assert session(*("sync SELECT %d" % n for n in range(10))) == ["ok"] * 10
    assert session("end").startswith("fault - results of 10")
    assert session(*["result"] * 11) == [str(n) for n in range(10)] + ["none"]
    assert session("end", "query SELECT 7") == ["ok", "7"]


def test_what_follows_a_fault_is_passed_over_to_its_sync(session):
    session("pipeline 8")
    session("send SELECT 1", "send SELECT 1/0", "sync SELECT 2", "sync SELECT 3")
    assert session(*["result"] * 4) == [
        "1", "fault 22012 division by zero", "fault - a statement before it failed", "3"]
    assert session("end") == "ok"


def test_a_commit_that_fails_is_its_statements_fault(session, db):
    session("pipeline 4")
    session("sync INSERT INTO public.c VALUES (1)", "sync SELECT 2")
    got = session("result", "result")
    assert got[0].startswith("fault 23503 insert or update on table"), got
    assert got[1] == "2"
    assert session("end") == "ok"
    assert db.value("SELECT count(*) FROM c") == 0


def test_polling_does_not_wait(session, db):
    session("pipeline 4")
    lock = db.connect()
    lock.autocommit = False
    lock.cursor().execute("LOCK TABLE p")
    session("sync SELECT count(*) FROM public.p")
    assert session("poll") == "none"
    lock.commit()
    lock.close()
    assert wait_until(lambda: session("poll").replace("none", ""), 30, "the result") == "0"
    assert session("poll", "end") == ["none", "ok"]


def test_results_without_a_sync_come_when_waited_for(session):
    session("pipeline 4")
    session("send SELECT 1")
    assert session("result", "result") == ["1", "none"]
    assert session("sync SELECT 2", "result", "end") == ["ok", "2", "ok"]


def test_reset_from_anywhere(session, db):
    assert session("reset") == "ok"
    session("query BEGIN", "query INSERT INTO public.p VALUES (1)")
    assert session("reset", "query SELECT 1") == ["ok", "1"]
    session("query BEGIN", "query SELECT 1/0")
    assert session("reset", "query SELECT 1") == ["ok", "1"]
    session("pipeline 4")
    session("send INSERT INTO public.p VALUES (2)", "send SELECT 1/0", "send SELECT 2")
    assert session("reset", "query SELECT 1") == ["ok", "1"]
    session("pipeline 2")
    session("query BEGIN", "send BEGIN", "send INSERT INTO public.p VALUES (3)", "sync SELECT 1", "sync SELECT 2")
    assert session("reset", "query SELECT 1") == ["ok", "1"]
    assert db.value("SELECT count(*) FROM p") == 0


def test_a_lost_session_says_so(session, db):
    session("pipeline 8")
    pid = session("sync SELECT pg_catalog.pg_backend_pid()", "result")[1]
    session("sync SELECT pg_catalog.pg_sleep(600)", "sync SELECT 2")
    db.execute("SELECT pg_terminate_backend(%s)", int(pid))
    got = session("result", "result")
    assert got[0].startswith("fault 57P01 lost "), got
    assert got[1].startswith("fault - lost ") or got[1] == "none", got
    assert session("result") == "none"
    assert session("reset").startswith("fault ")


def test_notifications(session, db):
    session("query LISTEN one")
    assert session("notified one") == "no"
    db.execute("NOTIFY two, 'x'")
    db.execute("NOTIFY one, 'x'")
    wait_until(lambda: session("notified one") == "yes", 30, "the notification")
    assert session("notified one") == "no"
