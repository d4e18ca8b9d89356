"""Tasks of 3 s for a worker of Celery."""
import os
import time

from celery import Celery

directory = os.environ["SCRATCH"]
app = Celery("tasks", broker=f"redis+socket://{directory}/redis.sock")
app.conf.broker_connection_retry_on_startup = True


def note(kind, number):
    with open(f"{directory}/{kind}-{number}", "a") as file:
        file.write(f"{kind}\n")


@app.task
def slow(number):
    note("begun", number)
    time.sleep(3)
    note("done", number)
