"""server.py DIR NAME [patient]: on TERM, INT or QUIT it writes four lines in 2.4 s and ends.

A second stop ends it at once, unless it is patient.
"""
import os
import signal
import sys
import time

directory, name = sys.argv[1], sys.argv[2]
is_patient = sys.argv[3:] == ["patient"]
stops = 0


def note(kind, text):
    with open(f"{directory}/{kind}-{name}", "a") as file:
        file.write(text + "\n")


def on_stop(number, _frame):
    global stops
    stops += 1
    note("heard", signal.Signals(number).name)
    if stops > 1 and is_patient:
        return
    if stops > 1:
        note("end", "forced")
        os._exit(1)
    try:
        for line in range(4):
            print("goodbye", name, line, flush=True)
            time.sleep(0.6)
    except BrokenPipeError:
        note("end", "broken pipe")
        os._exit(9)
    note("end", "clean")
    os._exit(0)


def on_reload(number, _frame):
    # Whatever else the signal ends has ended before the line is written.
    time.sleep(0.3)
    print("reloaded", name, signal.Signals(number).name, flush=True)


for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
    signal.signal(number, on_stop)
for number in (signal.SIGHUP, signal.SIGUSR1):
    signal.signal(number, on_reload)
print("serving", name, flush=True)
note("ready", str(os.getpid()))
# A signal just before a long sleep begins would be handled after it.
while True:
    time.sleep(0.05)
