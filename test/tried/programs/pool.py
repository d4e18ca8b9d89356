"""pool.py KIND: two processes work for 2.5 s. Told to stop, the parent takes no more work and waits for them."""
import concurrent.futures
import multiprocessing
import os
import signal
import sys
import threading
import time

directory, kind = os.environ["SCRATCH"], sys.argv[1]
stop = threading.Event()


def begin():
    # The pools' own workers have no handlers.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def work(name):
    open(f"{directory}/begun-{name}", "w").close()
    time.sleep(2.5)
    open(f"{directory}/done-{name}", "w").close()


def on_stop(_number, _frame):
    if kind == "exit":
        sys.exit(0)
    stop.set()


def wait_for_stop():
    # A signal just before a wait without a limit begins would be handled after it.
    while not stop.wait(0.05):
        pass


def main():
    if kind == "multiprocessing":
        pool = multiprocessing.Pool(2, begin)
        signal.signal(signal.SIGTERM, on_stop)
        pool.map_async(work, ["one", "two"], chunksize=1)
        wait_for_stop()
        pool.close()
        pool.join()
        return
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context, initializer=begin) as pool:
        for name in ("one", "two"):
            pool.submit(work, name)
        signal.signal(signal.SIGTERM, on_stop)
        wait_for_stop()


main()
