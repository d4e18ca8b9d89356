"""ASGI: an answer in two halves, with 2 s between them."""
import asyncio


async def app(_scope, _receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"23")]})
    await send({"type": "http.response.body", "body": b"first half\n", "more_body": True})
    await asyncio.sleep(2)
    await send({"type": "http.response.body", "body": b"second half\n"})
