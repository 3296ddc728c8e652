"""Translation over HTTP, in the shapes that existing clients send.

A request, from its bytes to its answer:

1. `security.py` refuses what no honest client sends, and bounds the size and the time of the rest.
2. A file of `shapes/` reads the request: which texts, from which language to which.
3. `texts.py` splits texts into lines, and keeps what is not translated.
4. `models.py` chooses the model of that direction, and loads it if need be.
   `threads.py` has documents and markup read by threads.
5. `batching.py` translates the lines of all requests that wait as one batch.
6. The shape writes the answer that its clients read.

Nothing of any text is logged, and no request leaves the machine.
"""
