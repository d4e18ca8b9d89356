"""WSGI: an answer in two halves, with 2 s between them."""
import time


def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    if environ["PATH_INFO"] != "/slow":
        return [b"ok\n"]
    return slow()


def slow():
    yield b"first half\n"
    time.sleep(2)
    yield b"second half\n"


application = app
