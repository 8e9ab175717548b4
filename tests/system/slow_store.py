#!/usr/bin/env python3
"""slow_store.py LISTEN-PORT STORE-PORT SECONDS - a network between that is slow: what is sent arrives so much later, both ways
together. Nothing is lost and nothing is held back otherwise. Loopback only; ends with its signal."""
import asyncio
import sys


async def pass_on(reader, writer, seconds):
    """Reads on while earlier bytes are still under way."""
    loop = asyncio.get_running_loop()
    under_way = asyncio.Queue(4096)

    async def deliver():
        while True:
            due, data = await under_way.get()
            await asyncio.sleep(max(0.0, due - loop.time()))
            if not data:
                break
            writer.write(data)
            await writer.drain()

    delivering = asyncio.ensure_future(deliver())
    try:
        while data := await reader.read(65536):
            await under_way.put((loop.time() + seconds, data))
        await under_way.put((loop.time() + seconds, b""))
        await delivering
    except OSError:
        delivering.cancel()
    finally:
        writer.close()


async def main(listen, store, seconds):
    async def serve(reader, writer):
        try:
            there = await asyncio.open_connection("127.0.0.1", store)
        except OSError:
            writer.close()
            return
        await asyncio.gather(
            pass_on(reader, there[1], seconds / 2), pass_on(there[0], writer, seconds / 2), return_exceptions=True
        )

    server = await asyncio.start_server(serve, "127.0.0.1", listen)
    async with server:
        await server.serve_forever()


asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
