"""Ed25519 (RFC 8032) as MariaDB's login has it: a password of any length in the place of the 32 random bytes."""
import hashlib

P = 2 ** 255 - 19
ORDER = 2 ** 252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def _x_of(y, sign):
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    assert (x * x - square) % P == 0, "no point of the curve"
    return P - x if x % 2 != sign else x


BASE = (_x_of(4 * pow(5, -1, P) % P, 0), 4 * pow(5, -1, P) % P)


def _add(a, b):
    k = D * a[0] * b[0] * a[1] * b[1] % P
    return ((a[0] * b[1] + a[1] * b[0]) * pow(1 + k, -1, P) % P,
            (a[1] * b[1] + a[0] * b[0]) * pow(1 - k, -1, P) % P)


def _times(n, point):
    out = (0, 1)
    while n:
        if n & 1:
            out = _add(out, point)
        point, n = _add(point, point), n >> 1
    return out


def _packed(point):
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def _point(data):
    n = int.from_bytes(data, "little")
    y = n & (1 << 255) - 1
    return _x_of(y, n >> 255), y


def proves(password, message, signature):
    """Is it the signature of message by that password (bytes)?"""
    half = int.from_bytes(hashlib.sha512(password).digest()[:32], "little")
    key = _times(half & (1 << 254) - 8 | 1 << 254, BASE)
    challenge = hashlib.sha512(signature[:32] + _packed(key) + message).digest()
    ours = _times(int.from_bytes(signature[32:], "little") % ORDER, BASE)
    theirs = _add(_point(signature[:32]), _times(int.from_bytes(challenge, "little") % ORDER, key))
    return len(signature) == 64 and ours == theirs
