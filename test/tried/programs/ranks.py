"""ranks.py SERVER [leave] NAME..: a launcher starts its ranks, passes TERM on to each, and waits for them, or leaves."""
import os
import signal
import subprocess
import sys
import time

directory, server, names = os.environ["SCRATCH"], sys.argv[1], sys.argv[2:]
leaves = names[0] == "leave"
ranks = [subprocess.Popen([sys.executable, server, directory, name]) for name in names[leaves:]]


def on_stop(_number, _frame):
    for rank in ranks:
        rank.terminate()
    if leaves:
        os._exit(0)


signal.signal(signal.SIGTERM, on_stop)
# A signal just before a wait without a limit begins would be handled after it.
while any(rank.poll() is None for rank in ranks):
    time.sleep(0.05)
sys.exit(max(rank.returncode for rank in ranks))
