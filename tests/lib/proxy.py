"""A TCP proxy whose links can be cut, frozen, delayed or left half open."""
import itertools
import select
import socket
import struct
import threading
import time


class Proxy:
    """Listens on a port of 127.0.0.1 and forwards to host:port.

    cut()          reset every link; new ones pass
    freeze()       nothing moves any more, in links old and new; no FIN
    thaw()         what was held back goes on
    refuse()       new connections are reset at once
    half_open()    the server's side of the links stays open and silent, the
                   client's side is left without an answer; new ones pass
    delay(s)       every piece of data waits s seconds
    balance(...)   new connections go to these ports in turn
    down_only()    what the client sends is swallowed; the server's data passes
    pass_all()     back to normal for what comes
    """

    def __init__(self, port, host="127.0.0.1"):
        self._host = host
        self._ports = itertools.cycle([port])
        self._lock = threading.Lock()
        self._links = []
        self._frozen = threading.Event()
        self._refuse = False
        self._delay = 0.0
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(64)
        self.port = self._listener.getsockname()[1]
        self.accepted = 0
        self._closed = False
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while not self._closed:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            if self._refuse:
                _reset(client)
                continue
            try:
                server = socket.create_connection(
                    (self._host, next(self._ports)), timeout=10)
                server.settimeout(None)
            except OSError:
                _reset(client)
                continue
            link = _Link(self, client, server)
            with self._lock:
                self._links.append(link)
            threading.Thread(target=link.run, daemon=True).start()

    def _each(self, function):
        with self._lock:
            links = list(self._links)
        for link in links:
            function(link)

    def gone(self, link):
        with self._lock:
            if link in self._links:
                self._links.remove(link)

    def links(self):
        with self._lock:
            return len(self._links)

    def cut(self):
        self._each(lambda link: link.cut())

    def refuse(self):
        self._refuse = True

    def balance(self, *ports):
        self._ports = itertools.cycle(ports)

    def freeze(self):
        self._frozen.set()

    def thaw(self):
        self._frozen.clear()

    def half_open(self):
        """Returns whether there was a link."""
        links = self.links()
        self._each(lambda link: link.abandon())
        return links > 0

    def down_only(self):
        self._each(lambda link: link.swallow())

    def delay(self, seconds):
        self._delay = seconds

    def pass_all(self):
        self._refuse = False
        self._delay = 0.0
        self._frozen.clear()

    def close(self):
        self._closed = True
        self._listener.close()
        self.pass_all()
        self.cut()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class _Link:
    def __init__(self, proxy, client, server):
        self.proxy = proxy
        self.client = client
        self.server = server
        self.dead = False
        self.swallowing = False
        self.abandoned = False

    def run(self):
        """Forward both ways until both sides have ended or the link is cut."""
        socks = [self.client, self.server]
        try:
            while socks and not self.dead:
                if self.proxy._frozen.is_set() or self.abandoned:
                    time.sleep(0.02)
                    continue
                ready, _, _ = select.select(socks, (), (), 0.05)
                for one in ready:
                    if self.proxy._frozen.is_set():
                        break
                    data = one.recv(65536)
                    other = self.server if one is self.client else self.client
                    if not data:        # what came before it is not lost
                        socks.remove(one)
                        other.shutdown(socket.SHUT_WR)
                        continue
                    if self.proxy._delay:
                        time.sleep(self.proxy._delay)
                    if one is self.client and self.swallowing:
                        continue
                    other.sendall(data)
        except (OSError, ValueError):
            pass
        finally:
            _reset(self.client)
            _reset(self.server)
            self.proxy.gone(self)

    def cut(self):
        self.dead = True
        _reset(self.client)
        _reset(self.server)

    def swallow(self):
        self.swallowing = True

    def abandon(self):
        self.abandoned = True


def _reset(sock):
    """Close with RST: as a broken link looks, not as an orderly end."""
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                        struct.pack("ii", 1, 0))
        sock.close()
    except OSError:
        pass
