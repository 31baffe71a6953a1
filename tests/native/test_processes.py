"""The native engine among threads, signals and forks, in processes of its own."""

import textwrap

from child import printed

PREPARE = """
import os, signal, sys, threading, time
from generated_models import SMALL, native, random_sentences, random_weights
from sieve.engines.options import Blocked, SearchOptions
from sieve.selection.selectors import FullVocabulary

signal.signal(signal.SIGINT, signal.default_int_handler)
engine = native(SMALL, random_weights(SMALL, seed=1), threads=int(sys.argv[1]))
sentences = random_sentences(0, 4, SMALL.src_vocab_size, 20)
short = SearchOptions(beam_size=2)
# without its end, a translation goes on for some thousand years
endless = SearchOptions(beam_size=2, max_length_factor=1e300, blocked=(Blocked((2,)),))
"""


def script(code: str) -> str:
    return PREPARE + textwrap.dedent(code)


def test_ctrl_c_stops_a_call_and_others_run_meanwhile() -> None:
    """Another thread counts and translates while a call runs that only Ctrl-C ends.

    Python switches threads here only where one lets go: a call that kept the lock of the
    interpreter would never let the other thread press Ctrl-C.
    """
    code = script("""
        sys.setswitchinterval(1e6)
        expected = engine.translate(sentences, FullVocabulary(), short)
        started, counted = threading.Event(), []

        def other():
            started.wait()
            for number in range(25):
                time.sleep(0)
                assert engine.translate(sentences, FullVocabulary(), short) == expected
                counted.append(number)
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=other)
        thread.start()
        started.set()
        try:
            engine.translate(sentences, FullVocabulary(), endless)
        except KeyboardInterrupt:
            thread.join()
            assert engine.translate(sentences, FullVocabulary(), short) == expected
            print("stopped after", len(counted))
    """)
    for threads in ("1", "2", "5"):
        assert printed(code, threads) == "stopped after 25"


def test_ctrl_c_while_only_other_threads_work() -> None:
    """The calling thread may have nothing left to do: it looks out for Ctrl-C all the same."""
    code = script("""
        calls = {
            "translate": lambda: engine.translate(sentences[:2], FullVocabulary(), endless),
            "score": lambda: engine.score(sentences[:2], [[5] * 3_000_000, [6]], FullVocabulary()),
        }
        call = calls[sys.argv[2]]
        for attempt in range(4):  # which thread gets the long sentence is a matter of luck
            timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            try:
                call()
            except KeyboardInterrupt:
                print("stopped", end=" ")
            timer.join()
    """)
    assert printed(code, "2", "translate") == "stopped stopped stopped stopped"
    assert printed(code, "2", "score") == "stopped stopped stopped stopped"


def test_a_process_that_forks_after_use() -> None:
    code = script("""
        import multiprocessing

        expected = engine.translate(sentences, FullVocabulary(), short)

        def translate(_):
            return engine.translate(sentences, FullVocabulary(), short) == expected

        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(pool.map(translate, range(4)))
        assert engine.translate(sentences, FullVocabulary(), short) == expected
    """)
    assert printed(code, "2") == "[True, True, True, True]"


def test_more_threads_than_the_system_gives() -> None:
    code = script("""
        import resource

        expected = engine.translate(sentences, FullVocabulary(), short)
        many = native(SMALL, random_weights(SMALL, seed=1), threads=100_000)
        # no room for the stacks of more threads than a few
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 2**26, used + 2**26))
        found = many.translate(sentences * 25, FullVocabulary(), short)
        assert found == expected * 25
        print("done")
    """)
    assert printed(code, "1") == "done"
