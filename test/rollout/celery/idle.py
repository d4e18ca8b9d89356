import sys
from jobs import app  # your application

worker = [sys.argv[1]]
stopped = app.control.cancel_consumer("celery", destination=worker, reply=True)
asked = app.control.inspect(worker)
idle = stopped and not asked.reserved()[worker[0]] and not asked.active()[worker[0]]
sys.exit(0 if idle else 1)
