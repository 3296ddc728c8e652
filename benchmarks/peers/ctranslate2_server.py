"""A minimal server around CTranslate2, for the benchmark of `nmt translate --serve`: one request, one batch.

    python ctranslate2_server.py TRANSFORMER MODEL THREADS

TRANSFORMER and MODEL are those of `ctranslate2_speed.py`. Answers `POST /translate` with `{"q": [...]}` as
LibreTranslate does, by beam search of size 5 in int8; a thread for each core translates. Says on stderr on which port
it listens. Needs ctranslate2, sentencepiece, starlette, uvicorn and numpy, and nothing of nmt.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from pathlib import Path

import uvicorn
from ctranslate2_speed import limit, open_peer
from sentencepiece import SentencePieceProcessor
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

BEAM = 5


def main() -> None:
    transformer, directory, threads = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    subwords = SentencePieceProcessor(model_file=str(transformer / "joint.spm"))
    translator = open_peer(transformer, directory, subwords, inter_threads=threads, intra_threads=1)

    def translate(lines: list[str]) -> list[str]:
        pieces = subwords.encode(lines, out_type=str)
        longest = limit(max(map(len, pieces)) + 1)
        results = translator.translate_batch(pieces, beam_size=BEAM, max_decoding_length=longest)
        return list(subwords.decode([result.hypotheses[0] for result in results]))

    async def answer(request: Request) -> JSONResponse:
        lines = json.loads(await request.body())["q"]
        return JSONResponse({"translatedText": await asyncio.to_thread(translate, lines)})

    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    print(f"CTranslate2 on http://127.0.0.1:{listener.getsockname()[1]}", file=sys.stderr, flush=True)
    application = Starlette(routes=[Route("/translate", answer, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(application, log_level="error", access_log=False))
    server.run(sockets=[listener])


if __name__ == "__main__":
    main()
