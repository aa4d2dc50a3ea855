"""Send requests over HTTP and read whole responses: no redirects, and no more bytes than a reply can have."""

import zlib
from collections.abc import AsyncIterator
from typing import Any

_MOST_BYTES = 10_000_000
"""The most bytes of a body, packed or not; a long reply has a few hundred thousand."""

_WINDOWS = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}


class BodyError(Exception):
    """A body that cannot be read, and why."""


class ClientError(Exception):
    """A client that cannot be made, because a variable of the environment is wrong, and which."""


_PROXIES = "HTTP_PROXY, HTTPS_PROXY or ALL_PROXY"


def make_client(timeout: float) -> Any:
    """Return an HTTP client for the openai package.

    It does not follow redirects, because they would take the headers, which may hold keys, to another host. It reads
    the body of a response only up to a limit, unpacked, and refuses a body that is packed wrongly.

    Raises:
        ClientError: if the environment names a proxy or certificates that cannot be used.
        ImportError: without that package.
    """
    import openai  # noqa: PLC0415

    class Client(openai.DefaultAsyncHttpxClient):  # of httpx or httpx2, whichever this version of openai uses
        async def send(self, request: Any, **settings: Any) -> Any:
            response = await super().send(request, **{**settings, "stream": True})
            try:
                packing = response.headers.get("content-encoding", "").strip().lower()
                body = await read_body(response.aiter_raw(), packing)
            finally:
                await response.aclose()
            dropped = {"content-encoding", "content-length", "transfer-encoding"}
            headers = [(name, value) for name, value in response.headers.multi_items() if name not in dropped]
            return type(response)(response.status_code, headers=headers, content=body, request=request)

    try:
        return Client(timeout=timeout, follow_redirects=False, headers={"accept-encoding": "gzip, deflate"})
    except ImportError:
        raise ClientError(
            f"{_PROXIES} names a SOCKS proxy, which needs the package socksio; install it with: pip install socksio"
        ) from None
    except OSError as fault:
        why = fault.strerror or "they cannot be read"
        raise ClientError(f"the certificates of SSL_CERT_FILE or SSL_CERT_DIR cannot be used: {why}") from None
    except Exception:  # ValueError, or an error of httpx, which has several names; its text may have a password
        raise ClientError(f"{_PROXIES} is not the address of a proxy, such as http://HOST:PORT") from None


async def read_body(chunks: AsyncIterator[bytes], packing: str) -> bytes:
    """Return the unpacked bytes of a body.

    Raises:
        BodyError: if it is too large, or not packed as `packing` says.
    """
    if packing not in _WINDOWS:
        if packing not in {"", "identity"}:
            raise BodyError(f"the body is packed with `{packing[:40]}`; only gzip and deflate are accepted")
        parts, size = [], 0
        async for chunk in chunks:
            parts.append(chunk)
            size += len(chunk)
            _require_size(size)
        return b"".join(parts)
    unpacker = zlib.decompressobj(_WINDOWS[packing])
    body = bytearray()
    try:
        async for chunk in chunks:
            body += unpacker.decompress(chunk, _MOST_BYTES + 1 - len(body))
            _require_size(len(body))
    except zlib.error:
        raise BodyError(f"the body is not valid {packing}") from None
    if not unpacker.eof:
        raise BodyError(f"the body is cut off inside its {packing} data")
    return bytes(body)


def _require_size(size: int) -> None:
    if size > _MOST_BYTES:
        raise BodyError(f"the body has more than {_MOST_BYTES / 1e6:.0f} MB, the limit for a response")
