"""Statements replayed on layouts (src/bridge/replay), against what the servers' catalogs
say after them."""
import pytest

from lib.replaycases import Replayer, blocks
from lib.replayrandom import RandomDdl

SERVERS = [pytest.param("mariadb10", marks=pytest.mark.long), "mariadb11", "mysql9"]


@pytest.fixture
def replayer(request):
    made = []

    def make(server):
        one = Replayer(server, "replay_%d" % len(made))
        made.append(one)
        return one
    yield make
    for one in made:
        one.end()


def random_rounds(replayer, server, seeds, statements):
    """Rounds of random statements, a seed each; how many were replayed."""
    wrong, replayed, unsure = [], 0, 0
    conn = server.connect(replayer.name)
    for seed in seeds:
        replayer.begin()
        with conn.cursor() as cur:
            cur.execute("USE `%s`" % replayer.name)
        ddl = RandomDdl(seed, conn, server.is_mariadb)
        for sql in ddl.start():
            replayer._command("S", sql)
        for _ in range(statements):
            sql = ddl.statement()
            answer = replayer.replay(sql)
            if answer.startswith("refused "):
                continue
            replayed += 1
            unsure += answer.startswith("unsure ")
            if answer != "same" and not answer.startswith("unsure "):
                wrong.append((seed, sql, answer))
    conn.close()
    assert not wrong, wrong
    assert unsure * 20 <= replayed
    return replayed


@pytest.mark.parametrize("world", SERVERS)
def test_each_clause(request, replayer, world):
    """Every form of every clause comes to what the server made of it."""
    one = replayer(request.getfixturevalue(world))
    wrong, replayed = [], 0
    for lines in blocks():
        one.begin()
        for line in lines:
            fault, counts = one.case(line)
            replayed += counts
            if fault is not None:
                wrong.append(fault)
    assert not wrong, wrong
    assert replayed > 200


@pytest.mark.parametrize("world", SERVERS)
def test_random(request, replayer, world):
    server = request.getfixturevalue(world)
    assert random_rounds(replayer(server), server, range(1, 4), 20) > 10


@pytest.mark.long
@pytest.mark.parametrize("world", SERVERS)
def test_many_random(request, replayer, world):
    server = request.getfixturevalue(world)
    assert random_rounds(replayer(server), server, range(100, 300), 15) > 1000
