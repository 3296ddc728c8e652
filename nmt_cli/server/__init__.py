"""Translation over HTTP, in the shapes that existing clients send.

A request, from its bytes to its response:

1. `admission.py` refuses requests that no honest client sends, and bounds the size and time of the rest.
2. A file of `shapes/` reads the request: which texts, from which language to which.
3. `service.py` splits texts into lines, and keeps anything that is not translated.
4. `models.py` chooses the model of that direction, and loads it if necessary.
5. `batching.py` translates the lines of all waiting requests as one batch.
6. The shape writes the answer that its clients read.

No part of any text is logged, and no request leaves the machine.
"""
