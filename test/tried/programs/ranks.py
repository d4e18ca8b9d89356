"""ranks.py SERVER NAME..: a launcher starts its ranks, passes TERM on to each, and waits for them."""
import os
import signal
import subprocess
import sys

directory, server, names = os.environ["SCRATCH"], sys.argv[1], sys.argv[2:]
ranks = [subprocess.Popen([sys.executable, server, directory, name]) for name in names]


def on_stop(_number, _frame):
    for rank in ranks:
        rank.terminate()


signal.signal(signal.SIGTERM, on_stop)
sys.exit(max(rank.wait() for rank in ranks))
