"""Fixtures of modules that need a source and a target server of their own.

    servers = server_pair("crash", conf=FAST)
    dbs = database_pair("crash", source_sql=SCHEMA + FILL, target_sql=SCHEMA)
"""
import pytest

from .pgserver import PgServer


def server_pair(name, conf=None):
    """Module fixture: (source, target), the target with the library and conf."""
    @pytest.fixture(scope="module")
    def servers():
        source = PgServer("%s-source" % name, preload="").start()
        target = PgServer("%s-target" % name, conf=conf).start()
        yield source, target
        target.destroy()
        source.destroy()
    return servers


def database_pair(name, source_sql="", target_sql=""):
    """Fixture: (source Db, target Db with the extension) on fixture servers.

    A target that a test left dead or armed is itself again afterwards.
    """
    @pytest.fixture
    def dbs(servers):
        source, target = servers
        src = source.fresh_db(name)
        dst = target.fresh_db(name, extension=True)
        for db, sql in (src, source_sql), (dst, target_sql):
            if sql:
                db.execute(sql)
        yield src, dst
        if not target.is_running():
            target.start()
        target.reload(**{"sluice.fault_point": "", "sluice.autostart": "on"})
        dst.destroy()
        src.destroy()
    return dbs
