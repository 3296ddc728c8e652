"""Serves translations over HTTP, with the interfaces of existing clients.

A request, from its bytes to its response:

1. `admission.py` refuses suspicious requests, and limits the size and time of all others.
2. A file of `shapes/` reads the request: which texts, from which language to which.
3. `service.py` splits texts into lines, and keeps anything that is not translated.
4. `models.py` chooses the model of that direction, and loads it if necessary.
5. `batching.py` translates the lines of all waiting requests as one batch.
6. The shape writes the answer in the form that its clients expect.

No part of any text is logged, and no request leaves the machine.
"""
