"""Limits on a provider's silence."""

from __future__ import annotations

import pytest

from proxy.upstream.base import Patience, Target, UpstreamRequest, patience
from proxy.upstream.demo import DemoUpstream

READ, HEAD = "x-stainless-read-timeout", "x-stainless-timeout"


@pytest.mark.parametrize(
    ("own", "headers", "expected"),
    [
        (None, {}, Patience(None, None, False)),
        (7.0, {}, Patience(7, None, False)),
        (None, {READ: "600.0"}, Patience(600, None, True)),
        (7.0, {READ: "600.0"}, Patience(7, None, False)),
        (600.0, {READ: "7"}, Patience(7, None, True)),
        (None, {HEAD: "600"}, Patience(None, 600, True)),
        (7.0, {HEAD: "600"}, Patience(7, 600, False)),
        (600.0, {HEAD: "7"}, Patience(600, 7, True)),
        (None, {READ: "9", HEAD: "7"}, Patience(9, 7, True)),
        (7.0, {READ: "NOT_GIVEN", HEAD: "None"}, Patience(7, None, False)),
        (7.0, {READ: "-1", HEAD: "inf"}, Patience(7, None, False)),
        (7.0, {READ: "nan"}, Patience(7, None, False)),
    ],
)
def test_tighter_bound_counts_and_names_its_source(own, headers, expected):
    request = UpstreamRequest("POST", "/chat/completions", headers=list(headers.items()))
    assert patience(request, Target(DemoUpstream(), timeout_s=own)) == expected


def test_streams_have_their_own():
    target = Target(DemoUpstream(), timeout_s=60, stream_timeout_s=5)
    for stream, silence in ((True, 5), (False, 60)):
        request = UpstreamRequest("POST", "/chat/completions", stream=stream)
        assert patience(request, target).silence_s == silence
