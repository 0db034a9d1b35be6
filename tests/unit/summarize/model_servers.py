"""Small real HTTP servers that speak Ollama's API and OpenAI's, well and badly."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GOOD = {
    "title": "Cough from lisinopril and a switch to losartan",
    "summary": (
        "The user has taken lisinopril 10 mg for six weeks and has had a dry cough, worst at"
        " night, for three weeks, and asked whether the medicine is the cause. The assistant"
        " explained that a dry cough is the best-known side effect of ACE inhibitors and that the"
        " drug should not be stopped without a doctor. Because the user has stage 2 kidney disease,"
        " protein in the urine and a potassium of 4.9, an ARB such as losartan was recommended: it"
        " protects the kidneys without raising bradykinin. Ibuprofen should be avoided, since it"
        " makes a high potassium more likely; paracetamol or a diclofenac gel can be used for the"
        " knee. The user decided to call Dr. Okafor and ask for losartan 50 mg."
    ),
    "keywords": [
        "lisinopril",
        "dry cough",
        "ACE inhibitors",
        "losartan",
        "ARB",
        "kidney disease",
        "potassium",
        "ibuprofen",
        "paracetamol",
        "Dr. Okafor",
    ],
    "decisions": ["Call Dr. Okafor and ask for losartan 50 mg instead of lisinopril."],
    "open_questions": ["When the next potassium test should be."],
}


@dataclass
class ModelServer:
    """What the server answers, and what it was asked. `answers` are taken one by one, the last
    one again and again; an int among them is an HTTP status, `None` a hang."""

    url: str = ""
    answers: list[Any] = field(default_factory=list)
    models: list[dict[str, Any]] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    done_reason: str = "stop"
    refuses: Callable[[dict[str, Any]], bool] = lambda body: False
    released: threading.Event = field(default_factory=threading.Event)

    def next_answer(self) -> Any:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    @property
    def prompts(self) -> list[str]:
        return [body["messages"][-1]["content"] for body in self.asked]


class _Handler(BaseHTTPRequestHandler):
    state: ModelServer

    def log_message(self, format: str, *args: Any) -> None:
        return None

    def send_json(self, status: int, value: Any, kind: str = "application/json") -> None:
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self) -> dict[str, Any]:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.state.asked.append(body)
        self.state.headers.append(dict(self.headers))
        return body

    def do_GET(self) -> None:
        if self.path == "/api/tags":
            self.send_json(200, {"models": self.state.models})
        elif self.path == "/v1/models":
            self.send_json(200, {"data": [{"id": m["name"]} for m in self.state.models]})
        else:
            self.send_json(404, {"error": "not found"})


class _Ollama(_Handler):
    def do_POST(self) -> None:
        body = self.body()
        names = [model["name"] for model in self.state.models]
        if self.path != "/api/chat" or body["model"] not in names:
            self.send_json(404, {"error": f"model '{body['model']}' not found"})
            return
        answer = self.state.next_answer()
        if answer is None:
            self.state.released.wait(10)
        elif isinstance(answer, int):
            self.send_json(answer, {"error": "llama runner process has terminated"})
        else:
            text = answer if isinstance(answer, str) else json.dumps(answer)
            half = len(text) // 2
            parts = [{"content": text[:half]}, {"content": text[half:]}, {"content": ""}]
            lines = [
                {"model": body["model"], "message": {"role": "assistant", **part}, "done": False}
                for part in parts
            ]
            lines[-1] |= {"done": True, "done_reason": self.state.done_reason}
            stream = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
            self.send_json(200, stream, "application/x-ndjson")


class _OpenAI(_Handler):
    def do_POST(self) -> None:
        body = self.body()
        answer = 400 if self.state.refuses(body) else self.state.next_answer()
        if self.path != "/v1/chat/completions":
            self.send_json(404, {"error": {"message": "no such path"}})
        elif answer is None:
            self.state.released.wait(10)
        elif isinstance(answer, int):
            self.send_json(answer, {"error": {"message": "something about response_format"}})
        elif isinstance(answer, bytes):
            self.send_json(200, answer)
        else:
            text = answer if isinstance(answer, str) else json.dumps(answer)
            choice = {
                "message": {"role": "assistant", "content": text},
                "finish_reason": self.state.done_reason,
            }
            self.send_json(200, {"choices": [choice]})


@contextmanager
def serving(handler: type[_Handler]) -> Iterator[ModelServer]:
    state = ModelServer(answers=[GOOD], models=[{"name": "llama3.2:3b"}])
    bound = type("Bound", (handler,), {"state": state})
    server = ThreadingHTTPServer(("127.0.0.1", 0), bound)
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield state
    finally:
        state.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


def ollama_server() -> Any:
    """A server that speaks Ollama's API, as a context manager."""
    return serving(_Ollama)


def openai_server() -> Any:
    """A server that speaks OpenAI's chat completions under `/v1`, as a context manager."""
    return serving(_OpenAI)
