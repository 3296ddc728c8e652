"""Who may ask, and how often: a request counts for its key, or for the address that it comes from."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple

from nmt_cli.server.errors import RequestError
from nmt_cli.server.keys import Key, KeyFile

MINUTE = 60.0  # seconds
REMEMBERED_CALLERS = 10_000  # whose requests are counted; the one that has not asked for longest is forgotten
NETWORK_BITS = 64  # of an IPv6 address: whoever has one has all that begin like it


class Admission:
    """Checks keys, and counts the requests of each key and of each address without a valid one."""

    def __init__(
        self,
        keys: Sequence[Key] = (),
        file: KeyFile | None = None,
        rate: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`rate` is in requests per minute, for each key without a rate of its own, and for each address."""
        self.keys = tuple(keys)
        self.file = file
        self.rate = rate
        self.counter = RequestCounter(clock)

    @property
    def needs_key(self) -> bool:
        """Whether only requests with a key are answered."""
        return bool(self.keys) or self.file is not None

    def find_key(self, secret: str | None) -> Key | None:
        """Returns the key that a request gave, if it is one of this server's."""
        keys = [*self.keys, *(self.file.list_keys() if self.file is not None else ())]
        matching = [key for key in keys if key.is_equal(secret or "")]  # all are compared, to take the same time
        return matching[0] if matching else None

    def admit_caller(self, secret: str | None, address: str) -> str:
        """Counts a request, and returns the name of its key, empty if none is needed.

        Raises RequestError for a missing or wrong key, and for a caller with too many requests.
        """
        key = self.find_key(secret)
        caller = name_caller(key, address)
        self.counter.count(caller, self.rate if key is None or key.rate is None else key.rate)
        if key is None and self.needs_key:
            raise RequestError(403, "Invalid API key" if secret else "This server asks for an API key")
        return "" if key is None else key.name

    def name_client(self, secret: str | None, address: str) -> str:
        """Returns the name under which the requests of a client are counted."""
        return name_caller(self.find_key(secret), address)

    def admit_by_head(self, secret: str | None, address: str) -> str | None:
        """Does what `admit_caller` does, if the head of a request decides; else, returns None."""
        if secret is not None or not self.needs_key:
            return self.admit_caller(secret, address)
        self.counter.check(name_network(address), self.rate)
        return None


def name_caller(key: Key | None, address: str) -> str:
    return name_network(address) if key is None else f"key {key.name}"


def name_network(address: str) -> str:
    """Returns the network whose requests are counted together: an address, or the beginning of one of IPv6."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or int(parsed) >> NETWORK_BITS)


class Allowance(NamedTuple):
    """The requests that a caller has left, at a time of the clock."""

    left: float
    time: float


class RequestCounter:
    """Counts requests per minute: a caller may send a minute's at once, and then one whenever one is due."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.allowances: OrderedDict[str, Allowance] = OrderedDict()  # the one used last is last

    def check(self, caller: str, rate: int | None) -> float:
        """Returns how many requests a caller has left. Raises RequestError if it is less than one."""
        if rate is None:
            return math.inf
        now = self.clock()
        before = self.allowances.get(caller, Allowance(rate, now))
        left = min(rate, before.left + (now - before.time) * rate / MINUTE)
        if left < 1:
            wait = math.ceil((1 - left) * MINUTE / rate)
            raise RequestError(429, f"more than {rate:,} per minute; try again later", retry_after=wait)
        return left

    def count(self, caller: str, rate: int | None) -> None:
        """Counts a request. Raises RequestError if the caller has none left."""
        left = self.check(caller, rate)
        if rate is None:
            return
        self.allowances[caller] = Allowance(left - 1, self.clock())
        self.allowances.move_to_end(caller)
        if len(self.allowances) > REMEMBERED_CALLERS:
            self.allowances.popitem(last=False)
