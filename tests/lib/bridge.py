"""The program sluice-bridge, run by tests."""
import os
import subprocess

from .util import pg_bin, scaled


def bridge_program():
    path = os.path.join(pg_bin(), "sluice-bridge")
    assert os.path.exists(path), "no sluice-bridge in %s" % pg_bin()
    return path


def run_bridge(*argv, stdin="", timeout=120):
    """Run it to its end; a CompletedProcess with text in stdout and stderr."""
    return subprocess.run([bridge_program()] + [str(a) for a in argv], input=stdin,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=scaled(timeout))


def start_bridge(*argv, **kw):
    """Start it, with pipes on all three; a Popen."""
    return subprocess.Popen([bridge_program()] + [str(a) for a in argv],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **kw)


def login_of(server, user="repl", password=None, **params):
    """Parameters to log in to a MySqlServer: TCP, TLS verified, unless params say."""
    out = {"host": "127.0.0.1", "port": server.port, "user": user,
           "password": server.repl_password if password is None else password,
           "sslrootcert": server.ca}
    out.update(params)
    return {k: v for k, v in out.items() if v is not None}


def as_lines(params):
    return "".join("%s=%s\n" % item for item in params.items())


def probe(params, *argv, timeout=120):
    """sluice-bridge probe with these parameters (a dict) on standard input."""
    return run_bridge("probe", *argv, stdin=as_lines(params), timeout=timeout)


def probed(params, *argv):
    """The same, which must succeed: its lines."""
    done = probe(params, *argv)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
