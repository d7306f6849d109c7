# %% [markdown]
# # A study in a notebook
#
# `pip install 'prefopt-bo[notebook]'`. The questions appear in the output of a cell, in JupyterLab, VS Code and
# everywhere else that shows [anywidget](https://anywidget.dev) widgets; no cell waits for you, every answer is kept as
# soon as it is given, and running the cell again goes on with the same question.

# %%
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from prefopt import Float, Space, create_study

QUICK = "--quick" in sys.argv
folder = Path(tempfile.mkdtemp())

# %% [markdown]
# Say what can be chosen, and how an option looks: `render` gets its parameters and gives a text, `Markdown`, `Html`, a
# `Path` to a picture, sound or film, a matplotlib figure, or anything that a notebook can display. Here: a colour map's
# gamma and contrast, seen on a picture.

# %%
space = Space([Float("gamma", 0.3, 3, log=True), Float("contrast", 0.2, 2)])
y, x = np.mgrid[0:1:60j, 0:1:90j]
scene = 0.5 + 0.25 * np.sin(9 * x) * np.cos(7 * y) + 0.2 * x


def picture(params):
    figure, ax = plt.subplots(figsize=(3, 2))
    ax.imshow(np.clip(0.5 + params["contrast"] * (scene ** params["gamma"] - 0.5), 0, 1), cmap="gray", vmin=0, vmax=1)
    ax.axis("off")
    plt.close(figure)
    return figure


# %% [markdown]
# With a file, the study outlives the notebook: `load_if_exists=True` opens it again.

# %%
study = create_study(
    space,
    storage=str(folder / "picture.db"),
    study_name="picture",
    load_if_exists=True,
    seed=1,
    budget=12,
    question="Which picture is clearer?",
)
widget = study.widget(render=picture)
widget  # noqa: B018  (the last line of a cell is what the notebook shows)

# %% [markdown]
# Click on the better one, or focus the question and press 1 or 2; `=` says "about the same", `s` skips, `u` takes the
# last answer back. Several raters: `study.widget(rater="Ann")`, each with a question of their own.
#
# Other cells see the answers at once. `widget.observe(lambda change: ..., "answered")` is called after each of them.
# Where nobody clicks (this page was made by a program), a simulated person answers:

# %%
person = np.random.default_rng(0)


def liking(params):
    return -6 * (np.log(params["gamma"]) ** 2 + (params["contrast"] - 1.1) ** 2)


while study.answered < (6 if QUICK else 12):
    query = study.ask()
    noisy = [liking(candidate.params) + person.gumbel() for candidate in query.shown]
    study.tell(query, best=query.shown[int(np.argmax(noisy))])

# %% [markdown]
# What was learned: along each parameter (the other one as recommended, with bands of two standard deviations), the map
# of both, and how sure the recommendation became.

# %%
print(study.recommend())
figure = study.plot()
figure.savefig(folder / "picture.png", dpi=100)
