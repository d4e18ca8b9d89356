"""job.py DIR NAME SECONDS: work that does not look at signals. Those that end a program by default end it."""
import os
import sys
import time

directory, name, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
with open(f"{directory}/begun-{name}", "a") as file:
    file.write(f"{os.getpid()}\n")
end = time.monotonic() + seconds
while time.monotonic() < end:
    print("record", flush=True)
    time.sleep(0.1)
with open(f"{directory}/done-{name}", "a") as file:
    file.write("done\n")
