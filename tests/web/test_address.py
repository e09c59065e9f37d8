"""The address of the page: on this machine alone, and refused with a reason where it cannot be."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.play.web.server import LOOPBACK, bind, new_key


def refused(host: str, port: int) -> Diagnostic:
    with pytest.raises(Failure) as caught:
        bind(host, port)
    (found,) = caught.value.diagnostics
    assert found.code == "TW0006"
    assert found.hint
    return found


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as one:
        one.bind((LOOPBACK, 0))
        one.listen()
        yield one.getsockname()[1]


def test_the_usual_host_is_this_machine_alone() -> None:
    address = bind(LOOPBACK, 0)
    assert address.loopback
    assert address.url("k") == f"http://127.0.0.1:{address.port}/k/"
    address.close()


def test_every_address_is_not_this_machine_alone_but_reached_from_it() -> None:
    address = bind("0.0.0.0", 0)
    assert not address.loopback
    assert address.url("k").startswith("http://127.0.0.1:")
    address.close()


def test_a_name_is_bound_at_all_its_addresses_and_one_port() -> None:
    address = bind("localhost", 0)
    assert address.loopback
    assert {one.getsockname()[1] for one in address.sockets} == {address.port}
    address.close()


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
def test_an_address_of_ipv6_is_in_brackets() -> None:
    try:
        address = bind("::1", 0)
    except Failure:
        pytest.skip("IPv6 is switched off here")
    assert address.loopback
    assert address.url("k").startswith("http://[::1]:")
    address.close()


def test_a_port_that_is_taken(taken: int) -> None:
    found = refused(LOOPBACK, taken)
    assert found.message == f"Port {taken} of 127.0.0.1 is taken by another program."
    assert "--port 0" in found.hint


def test_what_is_no_port() -> None:
    assert refused(LOOPBACK, 70000).message == "70000 is no port."
    assert refused(LOOPBACK, -1).message == "-1 is no port."


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a" * 70, "\udcff"])
def test_what_is_no_host(host: str) -> None:
    assert refused(host, 0).message.startswith("There is no host")


def test_an_address_of_another_machine() -> None:
    assert "cannot be used" in refused("203.0.113.7", 0).message


def test_keys_are_long_and_never_the_same() -> None:
    keys = {new_key() for _ in range(100)}
    assert len(keys) == 100
    assert all(len(key) >= 20 and key.replace("-", "").replace("_", "").isalnum() for key in keys)
