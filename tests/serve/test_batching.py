from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from disconer.core.types import Document
from disconer.serve.batching import Batcher, Busy, Closed, Failed
from disconer.serve.settings import Limits
from serve.fakes import WordFinder


def with_batcher(test: Callable[[Batcher, WordFinder], Awaitable[Any]], **limits: Any) -> Any:
    """Run a test on an event loop, with a batcher around a word finder."""

    async def run() -> Any:
        finder = WordFinder()
        batcher = Batcher(finder.annotate, Limits(**limits))
        batcher.start()
        try:
            return await asyncio.wait_for(test(batcher, finder), 20)
        finally:
            finder.may_go_on.set()
            await batcher.close()

    return asyncio.run(run())


def documents(*texts: str) -> list[Document]:
    return [Document(f"text-{number}", text) for number, text in enumerate(texts, 1)]


async def until(condition: Callable[[], object]) -> None:
    while not condition():
        await asyncio.sleep(0.002)


async def hold(batcher: Batcher, finder: WordFinder) -> asyncio.Future[list[Document]]:
    """Get the model stuck with a first text."""
    finder.may_go_on.clear()
    first = asyncio.ensure_future(batcher(documents("first")))
    await until(finder.started.is_set)
    return first


def test_requests_with_and_without_near_misses_share_a_batch() -> None:
    async def test(batcher: Batcher, finder: WordFinder) -> None:
        first = await hold(batcher, finder)
        texts = ["itch", "pain", "itch explode", "itch"]
        asked = [batcher(documents(text), near=number != 3) for number, text in enumerate(texts)]
        answers = asyncio.gather(*asked, return_exceptions=True)
        await until(lambda: batcher.n_waiting == len(texts))
        finder.may_go_on.set()
        found = [one if isinstance(one, Failed) else len(one[0].entities) for one in await answers]
        assert found[:2] == [1, 1]
        assert isinstance(found[2], Failed)  # alone: the others of its batch are answered
        assert found[3] == 0
        await first

    with_batcher(test)


def test_answers_come_back_to_their_own_in_order() -> None:
    async def test(batcher: Batcher, finder: WordFinder) -> None:
        requests = [
            documents(*[f"{'pain ' * (number % 3)}{number} {part}" for part in range(3)]) for number in range(40)
        ]
        answers = await asyncio.gather(*[batcher(request) for request in requests])
        for number, (request, answer) in enumerate(zip(requests, answers, strict=True)):
            assert [(one.id, one.text) for one in answer] == [(one.id, one.text) for one in request]
            assert all(len(one.entities) == number % 3 for one in answer)
        assert max(map(len, finder.batches)) > 3  # requests shared batches

    with_batcher(test)


def test_what_comes_while_the_model_works_goes_together_next() -> None:
    async def test(batcher: Batcher, finder: WordFinder) -> None:
        first = await hold(batcher, finder)
        others = [asyncio.ensure_future(batcher(documents(text))) for text in "abcde"]
        await until(lambda: batcher.n_waiting == 5)
        finder.may_go_on.set()
        await asyncio.gather(first, *others)
        assert finder.batches == [["first"], ["a", "b", "c"], ["d", "e"]]

    with_batcher(test, batch_texts=3)


def test_a_batch_holds_few_characters_but_at_least_a_text() -> None:
    async def test(batcher: Batcher, finder: WordFinder) -> None:
        first = await hold(batcher, finder)
        others = asyncio.ensure_future(batcher(documents("aaaa", "bbbb", "c" * 100, "dddd")))
        await until(lambda: batcher.n_waiting == 4)
        finder.may_go_on.set()
        await asyncio.gather(first, others)
        assert [list(map(len, batch)) for batch in finder.batches[1:]] == [[4, 4], [100], [4]]

    with_batcher(test, batch_characters=10)


def test_an_idle_model_waits_a_moment_for_company() -> None:
    async def test(batcher: Batcher, finder: WordFinder) -> None:
        first = asyncio.ensure_future(batcher(documents("a")))
        await asyncio.sleep(0.05)
        await asyncio.gather(first, batcher(documents("b")))
        assert finder.batches == [["a", "b"]]

    with_batcher(test, batch_texts=2, batch_seconds=10.0)


def test_refuses_what_does_not_fit_into_the_queue() -> None:
    async def test(batcher: Batcher, finder: WordFinder) -> None:
        first = await hold(batcher, finder)
        waiting = asyncio.ensure_future(batcher(documents("a", "b")))
        await until(lambda: batcher.n_waiting == 2)
        with pytest.raises(Busy) as refusal:
            await batcher(documents("c", "d"))
        assert refusal.value.retry_after >= 1
        with pytest.raises(Busy):
            await batcher(documents("c" * 100))
        last = asyncio.ensure_future(batcher(documents("c")))
        finder.may_go_on.set()
        assert [len(answer) for answer in await asyncio.gather(first, waiting, last)] == [1, 2, 1]

    with_batcher(test, queue_texts=3, queue_characters=50)


def test_an_empty_queue_takes_any_request() -> None:
    async def test(batcher: Batcher, finder: WordFinder) -> None:
        assert len(await batcher(documents(*"abcdef"))) == 6

    with_batcher(test, queue_texts=1, queue_characters=1, batch_texts=4)


def test_only_the_text_that_breaks_the_model_fails(caplog: pytest.LogCaptureFixture) -> None:
    async def test(batcher: Batcher, finder: WordFinder) -> None:
        first = await hold(batcher, finder)
        good, bad = [asyncio.ensure_future(batcher(documents(text))) for text in ("pain", "secrets explode")]
        await until(lambda: batcher.n_waiting == 2)
        finder.may_go_on.set()
        await first
        assert len((await good)[0].entities) == 1
        with pytest.raises(Failed):
            await bad
        assert await batcher(documents("later"))

    with caplog.at_level(logging.DEBUG):
        with_batcher(test)
    assert "ValueError" in caplog.text
    assert "secrets" not in caplog.text


def test_a_request_that_was_given_up_costs_nothing() -> None:
    async def test(batcher: Batcher, finder: WordFinder) -> None:
        first = await hold(batcher, finder)
        given_up = asyncio.ensure_future(batcher(documents("a", "b")))
        kept = asyncio.ensure_future(batcher(documents("c")))
        await until(lambda: batcher.n_waiting == 3)
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
        assert batcher.n_waiting == 1
        finder.may_go_on.set()
        await asyncio.gather(first, kept)
        assert finder.batches == [["first"], ["c"]]

    with_batcher(test)


def test_a_request_that_was_given_up_leaves_its_room() -> None:
    async def test(batcher: Batcher, finder: WordFinder) -> None:
        first = await hold(batcher, finder)
        for _ in range(5):
            given_up = asyncio.ensure_future(batcher(documents("a", "b" * 30)))
            await until(lambda: batcher.n_waiting == 2)
            given_up.cancel()
            with pytest.raises(asyncio.CancelledError):
                await given_up
        assert batcher.n_waiting == 0
        finder.may_go_on.set()
        await first

    with_batcher(test, queue_texts=3, queue_characters=50)


def test_closing_finishes_what_was_taken() -> None:
    async def test(batcher: Batcher, finder: WordFinder) -> None:
        first = await hold(batcher, finder)
        waiting = asyncio.ensure_future(batcher(documents(*"abcde")))
        await until(lambda: batcher.n_waiting == 5)
        closing = asyncio.ensure_future(batcher.close())
        await asyncio.sleep(0.01)
        with pytest.raises(Closed):
            await batcher(documents("late"))
        finder.may_go_on.set()
        await closing
        assert [len(answer) for answer in await asyncio.gather(first, waiting)] == [1, 5]

    with_batcher(test, batch_texts=2)


def test_tells_of_each_batch_before_its_answers() -> None:
    told: list[tuple[int, int]] = []

    def watch(texts: int, characters: int, seconds: float) -> None:
        time.sleep(0.1)
        told.append((texts, characters))

    async def run() -> None:
        batcher = Batcher(WordFinder().annotate, Limits(), watch=watch)
        batcher.start()
        await batcher(documents("pain", "no"))
        assert told == [(2, 6)]
        await batcher.close()

    asyncio.run(run())
