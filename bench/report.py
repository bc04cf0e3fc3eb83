"""What a benchmark says about its surroundings and its results."""
import datetime
import os
import platform
import statistics

TICKS = os.sysconf("SC_CLK_TCK")


def environment(server):
    with open("/proc/cpuinfo") as f:
        models = [l.split(":", 1)[1].strip() for l in f if l.startswith("model name")]
    with open("/proc/meminfo") as f:
        memory = int(f.readline().split()[1]) // 1048576
    print("date        %s" % datetime.datetime.now().isoformat(timespec="seconds"))
    print("machine     %d x %s, %d GB, %s" % (
        len(models), models[0] if models else platform.machine(), memory,
        platform.release()))
    print("load before %s" % " ".join("%.2f" % x for x in os.getloadavg()))
    print("server      %s" % server.value("SELECT version()"))


def settings(conf):
    print("settings    %s" % ", ".join("%s=%s" % i for i in sorted(conf.items())))


def _stat(pid):
    with open("/proc/%d/stat" % pid) as f:
        return f.read().rpartition(")")[2].split()


def process_cpu(pid):
    """CPU seconds of one process; NaN when it is gone."""
    try:
        return sum(map(int, _stat(pid)[11:13])) / TICKS
    except (FileNotFoundError, ProcessLookupError):
        return float("nan")


def _children_ticks(top):
    ticks = 0
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = _stat(int(entry))
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(stat[1]) == top:
                ticks += sum(map(int, stat[11:13]))
    return ticks


def cluster_cpu(server):
    """CPU seconds of a cluster so far: postmaster, children, and those ended."""
    top = server.postmaster_pid()
    while True:
        ended = _stat(top)[13:15]
        ticks = _children_ticks(top)
        stat = _stat(top)
        # a child that ended in between would be missing, or count twice
        if stat[13:15] == ended:
            return (ticks + sum(map(int, stat[11:15]))) / TICKS


def spread(values):
    if not values:
        return "-"
    return "%.2f (%.2f-%.2f)" % (statistics.median(values), min(values), max(values))


def closing_table(head, results, kinds):
    """results: {kind: {name: [seconds]}}; kinds: the peers, ours last."""
    wide = max([34] + [len(n) for k in kinds for n in results[k]])
    names = list(dict.fromkeys(n for k in kinds for n in results[k]))
    cells = "%%-%ds" % wide + " %22s" * len(kinds) + " %9s" * (len(kinds) - 1)
    print(cells % tuple([head] + kinds + ["ratio"] * (len(kinds) - 1)))
    for name in names:
        values = [results[k].get(name, []) for k in kinds]
        ours = statistics.median(values[-1]) if values[-1] else None
        ratios = ["%.2f" % (statistics.median(v) / ours) if v and ours else "-"
                  for v in values[:-1]]
        print(cells % tuple([name] + [spread(v) for v in values] + ratios))
