"""How a peer's process talks: one line of JSON in, one out. Imports nothing of prefopt."""

import json
import os
import sys
import time


def serve(make):
    """Answer requests on standard input with the methods of ``make(dim, budget, seed)`` until it closes.

    Whatever libraries print goes to standard error.
    """
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    player = None
    for line in sys.stdin:
        request = json.loads(line)
        began = time.process_time()
        try:
            if "start" in request:
                player = make(**request["start"])
                reply = {}
            elif "ask" in request:
                reply = {"slate": [[float(x) for x in row] for row in player.ask()]}
            elif "feed" in request:
                player.feed(*request["feed"])
                reply = {}
            elif "tell" in request:
                player.tell(request["tell"])
                reply = {}
            else:
                reply = {"point": [float(x) for x in player.recommend()]}
            reply["cpu"] = time.process_time() - began
        except Exception as error:  # the reason is the result of this run
            reply = {"error": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(reply) + "\n")
        out.flush()
