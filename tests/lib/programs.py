"""Programs of tests/programs: the bridge's decoders without the bridge."""
import fcntl
import functools
import os
import subprocess

from .util import scaled

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@functools.lru_cache(maxsize=None)
def program(name, flavour="unit"):
    """Build tests/programs/NAME.c (mysql/NAME.c with flavour "bridge") unless it is up
    to date; its path."""
    pg_config = os.environ.get("PG_CONFIG") or (
        os.path.join(os.environ["PG_BIN"], "pg_config") if os.environ.get("PG_BIN")
        else "pg_config")
    os.makedirs(os.path.join(TOP, "build"), exist_ok=True)
    # files of tests run beside each other
    with open(os.path.join(TOP, "build/programs.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(
            ["make", "-s", "build/%s/%s" % (flavour, name), "PG_CONFIG=" + pg_config], cwd=TOP,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", timeout=scaled(900))
    assert done.returncode == 0, done.stdout
    return os.path.join(TOP, "build", flavour, name)


def convert(lines, *mode):
    """Run "values MODE..." over lines of hexadecimal; its lines of output."""
    lines = list(lines)
    done = subprocess.run([program("values")] + list(mode),
                          input="".join(line + "\n" for line in lines).encode(),
                          stdout=subprocess.PIPE, check=True, timeout=scaled(300))
    out = done.stdout.decode().splitlines()
    assert len(out) == len(lines)
    return out
