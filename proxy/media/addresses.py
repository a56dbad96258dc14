"""Check for public internet addresses, so that a stranger's URL cannot reach the private network."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address

_UNICAST = IPv6Network("2000::/3")  # what is given out at all; mapped, NAT64 and site-local forms stand outside
_NOT_PUBLIC_6 = tuple(
    IPv6Network(block)
    for block in (
        "2001::/23",  # Teredo, benchmarking, ORCHID …
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which carries any IPv4 address
        "3fff::/20",  # documentation
        "5f00::/16",  # segment routing
    )
)
_RELAYS = IPv4Network("192.88.99.0/24")  # 6to4


def is_public(address: str) -> bool:
    """Whether an IP address is a plain public one: no private, local, shared, reserved, multicast or tunnelled form."""
    try:
        found = ip_address(address)
    except ValueError:
        return False  # also with a zone, which only local addresses have
    if isinstance(found, IPv6Address):
        return found in _UNICAST and found.is_global and not any(found in block for block in _NOT_PUBLIC_6)
    return found.is_global and not found.is_multicast and not found.is_reserved and found not in _RELAYS
