"""Small things every test needs: waiting with a deadline, ports, users."""
import os
import pwd
import shutil
import socket
import subprocess
import threading
import time

# One knob for slow machines; every deadline below goes through it.
SCALE = float(os.environ.get("SLUICE_TEST_SCALE", "1"))

# Servers refuse to run as root: as root, everything runs as this user.
RUN_AS = os.environ.get("SLUICE_TEST_USER", "postgres")


def scaled(seconds):
    """A deadline in seconds, stretched by SLUICE_TEST_SCALE."""
    return seconds * SCALE


def wait_until(cond, timeout=30, what=None, interval=0.05):
    """Call cond until it returns something true and return that.

    timeout is in seconds.  what (text, or a callable that returns text) says
    in the failure what did not happen.  The only way to wait in these tests.
    """
    deadline = time.monotonic() + scaled(timeout)
    while True:
        value = cond()
        if value:
            return value
        if time.monotonic() > deadline:
            said = what() if callable(what) else what
            raise AssertionError(
                "not within %g s: %s (last value %r)"
                % (scaled(timeout), said or getattr(cond, "__name__", cond), value))
        time.sleep(interval)


_handed_out = set()


def free_port():
    """A TCP port of 127.0.0.1 that nobody listens on, never the same twice."""
    for _ in range(1000):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        if port not in _handed_out:
            _handed_out.add(port)
            return port
    raise AssertionError("no free TCP port")


def pg_bin():
    """The folder of PostgreSQL's programs under test (PG_BIN, --pg-bin)."""
    found = os.environ.get("PG_BIN")
    if not found:
        config = os.environ.get("PG_CONFIG") or shutil.which("pg_config")
        if not config:
            raise AssertionError("no PostgreSQL: set PG_BIN or --pg-bin")
        found = subprocess.check_output([config, "--bindir"], text=True).strip()
    if not os.path.exists(os.path.join(found, "postgres")):
        raise AssertionError("no postgres program in %s" % found)
    return found


def server_uid_gid():
    """Numeric ids that servers run under, None when we are not root."""
    if os.geteuid() != 0:
        return None
    try:
        entry = pwd.getpwnam(RUN_AS)
    except KeyError:
        raise AssertionError(
            "running as root needs a user \"%s\" for the servers" % RUN_AS)
    return entry.pw_uid, entry.pw_gid


def as_server_user(argv):
    """argv, prefixed so that it runs as the servers' user when we are root."""
    ids = server_uid_gid()
    if ids is None:
        return list(argv)
    return ["setpriv", "--reuid", str(ids[0]), "--regid", str(ids[1]),
            "--clear-groups"] + list(argv)


def chown_to_server(path):
    ids = server_uid_gid()
    if ids is not None:
        os.chown(path, *ids)


class Listener:
    """Listens on 127.0.0.1 and gives every connection to serve(socket), one after the other."""

    def __init__(self, serve):
        self.serve = serve
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            self.serve(sock)

    def close(self):
        self.listener.close()
