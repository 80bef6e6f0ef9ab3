"""A small object store on this machine's loopback that speaks as much of S3's protocol as pyarrow
asks for.

It shows an object only when all of it has come, as S3 does, and can be told to refuse what is put
under some names.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape


class Store(ThreadingHTTPServer):
    """What is stored, by bucket and key."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.objects: dict[str, bytes] = {}
        self.uploads: dict[str, dict[int, bytes]] = {}
        self.refused: str | None = None
        """What is put under a name that matches this expression is refused."""
        self.lock = threading.Lock()

    @property
    def settings(self) -> dict[str, str]:
        """The environment variables by which it is found."""
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.server_address[1]}",
            "AWS_ACCESS_KEY_ID": "somebody",
            "AWS_SECRET_ACCESS_KEY": "something",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_REGION": "us-east-1",
        }


class Handler(BaseHTTPRequestHandler):
    """Answers one request after the other."""

    protocol_version = "HTTP/1.1"
    server: Store

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is said."""

    def begin(self) -> tuple[str, dict[str, str], bytes]:
        """The name that is asked for (`bucket/key`), the parameters, and what comes with it."""
        asked = urlsplit(self.path)
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
        if "aws-chunked" in self.headers.get("Content-Encoding", ""):
            data = unchunked(data)
        parameters = {
            name: found[0] for name, found in parse_qs(asked.query, keep_blank_values=True).items()
        }
        return unquote(asked.path).strip("/"), parameters, data

    def answer(self, code: int, data: bytes = b"", **headers: str) -> None:
        self.send_response(code)
        for name, value in {"Content_Length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def fault(self, code: int, word: str, message: str) -> None:
        self.answer(
            code, f"<Error><Code>{word}</Code><Message>{message}</Message></Error>".encode()
        )

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        name, parameters, _ = self.begin()
        if "/" not in name:
            return self.listing(name, parameters)
        data = self.server.objects.get(name)
        if data is None:
            return self.fault(404, "NoSuchKey", "there is none")
        about = {"ETag": '"x"', "Last_Modified": formatdate(0, usegmt=True)}
        part = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if self.command == "HEAD":
            return self.answer(200, b"", **{**about, "Content_Length": str(len(data))})
        if part is None:
            return self.answer(200, data, **about)
        start, stop = int(part[1]), min(int(part[2] or len(data)) + 1, len(data))
        return self.answer(
            206, data[start:stop], Content_Range=f"bytes {start}-{stop - 1}/{len(data)}", **about
        )

    def listing(self, bucket: str, parameters: dict[str, str]) -> None:
        if not any(name.startswith(bucket + "/") for name in self.server.objects):
            return self.fault(404, "NoSuchBucket", "there is no such bucket")
        prefix, delimiter = parameters.get("prefix", ""), parameters.get("delimiter", "")
        found, folders = [], set()
        for name, data in sorted(self.server.objects.items()):
            key = name.removeprefix(bucket + "/")
            if not name.startswith(bucket + "/") or not key.startswith(prefix):
                continue
            if delimiter and delimiter in key[len(prefix) :]:
                folders.add(prefix + key[len(prefix) :].split(delimiter)[0] + delimiter)
            else:
                found.append((key, len(data)))
        told = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{size}</Size>"
            "<LastModified>2020-01-01T00:00:00.000Z</LastModified></Contents>"
            for key, size in found
        ) + "".join(
            f"<CommonPrefixes><Prefix>{escape(each)}</Prefix></CommonPrefixes>"
            for each in sorted(folders)
        )
        head = f"<Name>{bucket}</Name><KeyCount>{len(found) + len(folders)}</KeyCount><IsTruncated>false</IsTruncated>"
        return self.answer(200, f"<ListBucketResult>{head}{told}</ListBucketResult>".encode())

    def do_PUT(self) -> None:
        name, parameters, data = self.begin()
        if self.server.refused is not None and re.search(self.server.refused, name):
            return self.fault(403, "AccessDenied", "you may not write there")
        with self.server.lock:
            if "uploadId" in parameters:
                self.server.uploads[parameters["uploadId"]][int(parameters["partNumber"])] = data
            else:
                self.server.objects[name] = data
        return self.answer(200, ETag='"x"')

    def do_POST(self) -> None:
        name, parameters, data = self.begin()
        with self.server.lock:
            if "uploads" in parameters:
                ident = f"upload{len(self.server.uploads)}"
                self.server.uploads[ident] = {}
                found = f"<UploadId>{ident}</UploadId>"
                return self.answer(
                    200,
                    f"<InitiateMultipartUploadResult>{found}</InitiateMultipartUploadResult>".encode(),
                )
            if "uploadId" in parameters:
                pieces = self.server.uploads.pop(parameters["uploadId"])
                self.server.objects[name] = b"".join(pieces[number] for number in sorted(pieces))
                text = '<CompleteMultipartUploadResult><ETag>"x"</ETag></CompleteMultipartUploadResult>'
                return self.answer(200, text.encode())
            if "delete" in parameters:
                for key in re.findall(r"<Key>(.*?)</Key>", data.decode()):
                    self.server.objects.pop(f"{name}/{key}", None)
                return self.answer(200, b"<DeleteResult></DeleteResult>")
        return self.fault(400, "InvalidRequest", "what is that?")

    def do_DELETE(self) -> None:
        name, parameters, _ = self.begin()
        with self.server.lock:
            if "uploadId" in parameters:
                self.server.uploads.pop(parameters["uploadId"], None)
            else:
                self.server.objects.pop(name, None)
        return self.answer(204)


def unchunked(data: bytes) -> bytes:
    """What comes in pieces that each say how long they are, and how they are signed."""
    parts = []
    place = 0
    while True:
        end = data.index(b"\r\n", place)
        size = int(data[place:end].split(b";")[0], 16)
        if not size:
            return b"".join(parts)
        parts.append(data[end + 2 : end + 2 + size])
        place = end + 2 + size + 2


@contextmanager
def object_store() -> Iterator[Store]:
    """A store, which is there as long as the context."""
    store = Store()
    thread = threading.Thread(target=store.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield store
    finally:
        store.shutdown()
        thread.join()
        store.server_close()
