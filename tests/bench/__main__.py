"""Costs that Throughline adds to a request, compared in one run: ``python -m tests.bench`` or ``make bench``.

Every target gets a short burst in every round, in turn, so that other load on the machine affects all of them.
Nothing is asserted: read the medians, the CPU times and the ratios.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

from tests.bench import conversations, files, manager
from tests.bench.figures import CLIENTS, table
from tests.bench.processes import Load, Process, running
from tests.bench.targets import PEER, Target, start_peer, start_throughline, start_upstream

_QUICK = (0, 10_000)
_FULL = (0, 10_000, 1_000_000)
_MAX_LEARNING = 40  # requests a burst: each is learned, which takes longer than its reply
_WARM_UP = 20


def main() -> None:
    options = _options()
    if options.files:
        files.main()
        return
    if options.manager:
        manager.main()
        return
    if options.conversations or options.filled:
        conversations.main(options.conversations, options.filled)
        return
    started_at = time.perf_counter()
    options.folder.mkdir(parents=True, exist_ok=True)
    # On the file system of the filled folders, so that their files can be linked.
    with tempfile.TemporaryDirectory(prefix="run-", dir=options.folder) as work, running([]) as processes:
        targets = _start(options, Path(work), processes)
        load = Load()
        processes.append(load)
        rounds = _rounds(load, targets, options)
        for target in targets:
            target.weigh()
    print(f"\n{table([target.figures for target in targets])}\n")
    print(
        f"{rounds} rounds, {time.perf_counter() - started_at:.0f} s in all; load {os.getloadavg()[0]:.1f} on "
        f"{os.cpu_count()} cores. «on» learns from every request, and that work counts in its CPU time; «read» only "
        "recalls. Each request opens another conversation of one of 64 users."
    )
    if not PEER.exists():
        print("LiteLLM's proxy is compared too once `make bench-peers` has installed it.")


def _rounds(load: Load, targets: list[Target], options: argparse.Namespace) -> int:
    """Run rounds until there are enough or another one would take too long; return their number."""
    for target in targets:
        _burst(load, target, clients=1, seconds=5.0, most=_WARM_UP, is_stream=True, is_counted=False)
    started_at = time.perf_counter()
    for number in range(options.rounds):
        if number and (time.perf_counter() - started_at) * (number + 1) / number > options.most_seconds:
            return number
        first = number % len(targets)
        for target in targets[first:] + targets[:first]:
            _round(load, target, options.seconds)
        print(f"round {number + 1} of at most {options.rounds} done", flush=True)
    return int(options.rounds)


def _start(options: argparse.Namespace, work: Path, processes: list[Process | Load]) -> list[Target]:
    upstream, upstream_port = start_upstream(work)
    processes.append(upstream)
    targets = [Target("direct", upstream_port)]
    for memories in options.memories:
        process, port = start_throughline(upstream_port, memories, options.folder, work)
        processes.append(process)
        if not any(target.name == "off" for target in targets):
            targets.append(Target("off", port, process, {"X-Memory-Mode": "off"}))
        size = _size(memories)
        targets.append(Target(f"read {size}", port, process, {"X-Memory-Mode": "read"}))
        targets.append(Target(f"on {size}", port, process, {"X-Memory-Mode": "full"}, learns=True))
    if PEER.exists() and not options.no_peers:
        peer = start_peer(upstream_port, work)
        assert peer.process is not None
        processes.append(peer.process)
        targets.append(peer)
    return targets


def _round(load: Load, target: Target, seconds: float) -> None:
    _burst(load, target, clients=1, seconds=seconds, most=10_000, is_stream=True)
    for clients in CLIENTS:
        _burst(load, target, clients=clients, seconds=seconds, most=10_000, is_stream=False)


def _burst(
    load: Load, target: Target, *, clients: int, seconds: float, most: int, is_stream: bool, is_counted: bool = True
) -> None:
    most = min(most, _MAX_LEARNING) if target.learns else most
    before = target.cpu_s()
    result = load.burst(
        port=target.port, clients=clients, seconds=seconds, most=most, is_stream=is_stream, headers=target.headers
    )
    target.settle()
    if is_counted:
        target.figures.add(result, target.cpu_s() - before, clients=clients, is_stream=is_stream)


def _size(memories: int) -> str:
    for unit, name in ((1_000_000, "M"), (1000, "k")):
        if memories >= unit:
            return f"{memories // unit}{name}"
    return str(memories)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__.splitlines()[0])
    parser.add_argument("--memories", type=int, nargs="+", default=None, help="memories stored, for each a server")
    parser.add_argument("--files", action="store_true", help="what files and images cost, instead; takes two minutes")
    parser.add_argument("--manager", action="store_true", help="the run of `/memory-manager`, instead; some minutes")
    parser.add_argument("--conversations", type=int, default=0, help="import so many of one user, instead")
    parser.add_argument("--filled", type=int, default=0, help="search among so many of one user, instead")
    parser.add_argument("--full", action="store_true", help="a million memories too; filling takes minutes, once")
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp/throughline-bench"), help="filled folders, kept")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.6, help="of one burst")
    parser.add_argument("--most-seconds", type=float, default=110.0, help="no further round after this time")
    parser.add_argument("--no-peers", action="store_true", help="leave LiteLLM's proxy out")
    options = parser.parse_args()
    options.memories = options.memories or (_FULL if options.full else _QUICK)
    return options


if __name__ == "__main__":
    main()
