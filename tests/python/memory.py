"""Counts the memory that calls keep, for the tests of NumPy and of PyTorch."""
import gc
import os
import pathlib


def check_calls_keep_none(test, call):
    """Fails the test if many calls, call(0), call(1), ..., take a megabyte more. CALLS in the environment sets
    their number; a tenth of it goes before the measuring."""
    count = int(os.environ.get("CALLS", 20_000))

    def resident_after(count):
        for i in range(count):
            call(i)
        gc.collect()
        pages = pathlib.Path("/proc/self/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGESIZE") // 1024

    resident = resident_after(count // 10)
    for _ in range(3):  # A thread that joins late brings its memory once.
        before, resident = resident, resident_after(count)
        print(f"{count} calls took {resident - before} KiB more")
        if resident - before < 1_000:
            return
    test.fail(f"each time {count} calls took more memory")
