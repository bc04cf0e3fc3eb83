"""Who is measured with a MySQL or MariaDB source: pgloader, and sluice-bridge."""
import os
import resource
import shutil
import tempfile
import threading

import mysource
from lib import Bridge, make_bridged_stream, wait_until
from lib.util import chown_to_server
from peers import Peer


def children_cpu():
    """CPU seconds of our children that ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Peak(threading.Thread):
    """The most memory that any one process of a bridge has had, in MiB."""

    def __init__(self, bridge):
        super().__init__(daemon=True)
        self.bridge, self.most, self.over = bridge, 0.0, threading.Event()
        self.start()

    def run(self):
        while not self.over.wait(0.05):
            for pid in self.bridge.tree():
                try:
                    with open("/proc/%d/status" % pid) as f:
                        kb = [int(line.split()[1]) for line in f if line.startswith("VmHWM")]
                except (FileNotFoundError, ProcessLookupError):
                    continue
                self.most = max([self.most] + [k / 1024 for k in kb])

    def end(self):
        self.over.set()
        self.join()
        return self.most


class Pgloader(Peer):
    """LOAD DATABASE with everything at its default, but for memory: for index builds
    as in its manual, and fewer rows in hand, as it says there for a heap that is
    exhausted (it is, now and then, with the default of 100 000)."""

    name = "pgloader"

    def prepare(self):
        s, t = self.src.server, self.dst.server
        self.dir = tempfile.mkdtemp(prefix="sluice-pgloader-", dir="/tmp")
        chown_to_server(self.dir)
        self.command = os.path.join(self.dir, "load")
        with open(self.command, "w") as f:
            f.write("LOAD DATABASE FROM mysql://repl:%s@127.0.0.1:%d/%s\n"
                    "INTO pgsql://postgres@unix:%s:%d/%s\n"
                    "WITH prefetch rows = 25000\n"
                    "SET PostgreSQL PARAMETERS maintenance_work_mem to '512MB'\n"
                    "ALTER SCHEMA '%s' RENAME TO 'public';\n" % (
                        s.repl_password, s.port, self.src.name, t.sockdir, t.port,
                        self.dst.name, self.src.name))
        os.chmod(self.command, 0o644)

    def run(self):
        said = self.program(shutil.which("pgloader"), "--root-dir", self.dir + "/work",
                            self.command, env={"HOME": self.dir})
        if "FATAL" in said or "ERROR" in said:
            raise AssertionError("pgloader:\n" + said[-4000:])

    def clean(self):
        shutil.rmtree(self.dir, ignore_errors=True)


class Bridged(Peer):
    """sync_start into the empty database with a sluice-bridge that runs already,
    everything at its default."""

    name = "sluice"
    bad = ("SELECT state, marker, reason FROM sluice.health WHERE state IN"
           " ('refused', 'failed', 'retrying')")

    def prepare(self):
        self.dst.execute("CREATE EXTENSION sluice")
        self.bridge = Bridge(self.dst)
        self.start_bridge()

    def start_bridge(self):
        """Start the program, and wait until it watches the target."""
        def watches():
            return self.bridge.log_text().count("watching the target")
        before = watches()
        self.bridge.start()
        wait_until(lambda: watches() > before, 30, self.bridge.log_text)
        self.client_cpu, self.peak = 0.0, Peak(self.bridge)

    def run(self):
        options = {"copy_workers": self.args.workers} if self.args.workers else None
        self.stream = make_bridged_stream(
            self.src, self.dst, "cold", server_options={
                "sslmode": mysource.sslmode(self.src.server)},
            **({"options": options} if options else {}))
        self.see("SELECT 1 FROM sluice.health WHERE state = 'streaming' AND NOT EXISTS"
                 " (SELECT FROM sluice.schema_objects WHERE state = 'planned')", self.bad)

    def clean(self):
        """Stop the bridge; its CPU and memory are known then."""
        self.peak = self.peak.end()
        before = children_cpu()
        self.bridge.stop()
        self.client_cpu += children_cpu() - before
