"""XA transactions of a MySQL or MariaDB source, from one session to another."""
import pymysql

from .util import wait_until


def prepare(db, name, *statements):
    """Statements in an XA transaction that is prepared, by a session that ends then."""
    db.execute("XA START '%s'; %s; XA END '%s'; XA PREPARE '%s'" % (name, "; ".join(statements), name, name))


def finish(db, name, how="COMMIT", before=""):
    """Commit or roll back what another session has prepared; it may not have left it yet.

    before   statements for the session that does it
    """
    def done():
        try:
            db.execute("%s XA %s '%s'" % (before, how, name))
            return True
        except pymysql.err.MySQLError as e:
            assert e.args[0] == 1397, e
            return False
    wait_until(done, 30, "XA %s" % how)


def prepared(db):
    """Names of what is prepared on the server."""
    return [row[3] if isinstance(row[3], str) else row[3].decode() for row in db.query("XA RECOVER")]
