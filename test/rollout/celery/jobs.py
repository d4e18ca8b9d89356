"""A Celery application whose jobs count in Redis how often each has begun and ended."""
import os
import sys
import time

from celery import Celery
from redis import Redis

SOCKET = os.environ["REDIS_SOCKET"]
app = Celery("jobs", broker=f"redis+socket://{SOCKET}")
app.conf.worker_prefetch_multiplier = 1
counts = Redis(unix_socket_path=SOCKET, db=1)


@app.task
def work(number, seconds):
    counts.hincrby("begun", number)
    time.sleep(seconds)
    counts.hincrby("ended", number)


# `jobs.py SECONDS..` queues one job for each.
if __name__ == "__main__":
    for number, seconds in enumerate(sys.argv[1:]):
        app.send_task("jobs.work", [number, float(seconds)])
