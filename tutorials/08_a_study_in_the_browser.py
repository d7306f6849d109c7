# %% [markdown]
# # A study in the browser
#
# People answer where they are: on a phone, with a keyboard, with a screen reader. `prefopt serve` gives every rater a
# link, and you a page with the answers, what is recommended and how sure that is. Two commands from nothing:
#
#     pip install 'prefopt-bo[web]'
#     prefopt serve --demo colour
#
# ![the question](pictures/08_question.png)
#
# With a study of your own it is `prefopt serve study.toml`, or a `.db` file that you made in Python. Here we do in
# Python what the command does, and let a simulated rater use the page's own requests.

# %%
import argparse
import json
import math
import threading
import time
import urllib.request

import numpy as np

from prefopt import Float, Space, create_study
from prefopt.web import serve

parser = argparse.ArgumentParser()
parser.add_argument("--quick", action="store_true", help="fewer answers")
quick = parser.parse_known_args()[0].quick

# %% [markdown]
# A small curve with two parameters. What a rater sees is up to a function of the parameters. It may return text,
# `Html`, `Markdown`, a `Path` to a picture, sound or film, bytes, or a matplotlib figure; here it draws an SVG.
# In a study file the same is `render = "python:module:function"`. Items of a list of options that name files
# (`options = ["a.png", "b.wav"]`) need no function at all.

# %%
space = Space([Float("swings", 0.5, 4.5, step=0.5), Float("fading", 0, 4, step=0.5)])


def draw(params):
    xs = np.linspace(0, 1, 120)
    ys = np.exp(-params["fading"] * xs) * np.cos(2 * math.pi * params["swings"] * xs)
    points = " ".join(f"{10 + 380 * x:.0f},{120 - 100 * y:.0f}" for x, y in zip(xs, ys, strict=True))
    pen = 'fill="none" stroke="teal" stroke-width="3"'
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 240">'
    return f'{head}<polyline points="{points}" {pen}/></svg>'.encode()


# %% [markdown]
# `serve` says the links and answers requests until the process ends; here it does so beside this script. Everything
# after the `#` of a link is the rater's secret: the browser keeps it, the study keeps a fingerprint of it, and no log
# has it. A link works as long as you do not make a new one for that rater, also after the server was started again.

# %%
study = create_study(space, seed=3, budget=12 if quick else 30, question="Which curve looks calmer?")
said = []
threading.Thread(
    target=serve, args=(study,), kwargs={"render": draw, "port": 0, "raters": ["Ann"], "say": said.append}, daemon=True
).start()
while not any("control-C" in line for line in said):
    time.sleep(0.05)
print("\n".join(line.partition("#")[0] + "#..." if "#" in line else line for line in said))
origin, token = said[0].partition("Ann: ")[2].split("/#")

# %% [markdown]
# The page asks for a screen and sends answers. Options go by their place on the screen, so nothing tells which one is
# new; every answer has an id, so that sending it twice (a double click, a lost reply) counts once.

# %%


def request(path, body=None):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    content = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(origin + path, content, headers), timeout=60) as reply:
        return json.load(reply)


def calmness(params):
    return 5 - abs(params["swings"] - 1.5) - 0.5 * abs(params["fading"] - 1.5)


person = np.random.default_rng(1)

while (screen := request("/api/screen"))["state"] == "question":
    number = screen["question"]["number"]
    shown = study.find(number).shown  # the simulated rater reads the parameters; a real one sees the pictures
    liked = int(np.argmax([2 * calmness(c.params) + person.gumbel() for c in shown]))
    answer = {"id": f"answer-{number}", "question": number, "kind": "best", "options": [liked], "seconds": 2.0}
    assert request("/api/answers", answer) == request("/api/answers", answer) == {"done": True}
print(screen["message"])

# %% [markdown]
# The answers are in the study as if they had been given in the terminal. On the admin's page you see the same: the
# recommendation, curves with bands, a map, raters, and every answer, which can be taken back or restored.

# %%
best = study.recommend()
print(best)
print(f"{study.answered} answers, {len(study.slices()['curves'])} curves, {len(study.convergence())} moments")
assert study.answered == study.budget  # each was sent twice and counted once
assert calmness(best.params) > np.mean([calmness(space.decode(i)) for i in range(space.domain.size)])

# %% [markdown]
# For raters elsewhere: `prefopt serve study.toml --host 0.0.0.0 --rater Ann --rater Bob` listens on your network.
# Outside of it, put a server with HTTPS before it and say so with `--origin https://study.example`.
