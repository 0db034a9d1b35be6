"""The stream of events that the viewer listens to."""

import asyncio
from contextlib import suppress
from pathlib import Path

from neurigraph.app import event_stream
from vaults import opened


def test_a_reader_who_leaves_in_the_middle_of_a_wait_leaves_nothing_behind(tmp_path: Path) -> None:
    async def leave() -> set[str]:
        stream = event_stream(memory, asyncio.Event())
        assert b"event: status" in await anext(stream)
        waiting = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0.01)
        waiting.cancel()
        with suppress(asyncio.CancelledError):
            await waiting
        await asyncio.sleep(0)
        return {str(t) for t in asyncio.all_tasks() if t is not asyncio.current_task()}

    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        assert asyncio.run(leave()) == set()


def test_events_come_in_the_order_in_which_they_happened(tmp_path: Path) -> None:
    async def hear() -> list[bytes]:
        stream = event_stream(memory, asyncio.Event())
        heard = [await anext(stream)]
        for number in range(3):
            memory.events.publish("changed", number=number)
        heard += [await anext(stream) for _ in range(3)]
        await stream.aclose()  # type: ignore[attr-defined]  # it is a generator
        return heard

    with opened(tmp_path / "vault", tmp_path / "state") as memory:
        heard = asyncio.run(hear())
    assert [f'"number": {n}' in h.decode() for n, h in enumerate(heard[1:])] == [True] * 3
