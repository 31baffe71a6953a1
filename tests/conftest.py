"""What holds for every test."""

import signal

# A shell starts background jobs with SIGINT ignored, and children inherit that: the tests that
# press Ctrl-C on a command would then wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)
