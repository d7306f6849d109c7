# %% [markdown]
# # Several raters, and a report to publish
#
# Four people find the best tea together over two weeks. Each has a link or a name of their own, nobody sees the others'
# answers, a few questions come back in secret with the sides swapped, and at the end there is a page that says what
# was found, how sure it is, and how reliable everybody was.

# %%
import math
import tempfile
import warnings
from pathlib import Path

import numpy as np

from prefopt import Float, Space, create_study, load_study
from prefopt.report import write_report

folder = Path(tempfile.mkdtemp())

# %% [markdown]
# A study in a file; for several machines, give the URL of a PostgreSQL database instead
# (`storage="postgresql://user@host/database"`, extra `postgres`). One question in eight is a hidden repeat, and some
# are put to several raters, so that they can be compared.

# %%
space = Space([Float("minutes", 1, 6, step=0.5), Float("degrees", 70, 100, step=5)])
study = create_study(
    space,
    storage=str(folder / "tea.db"),
    study_name="tea",
    question="Which cup is better?",
    seed=5,
    budget=80,
    repeats=0.125,
    overlap=0.2,
)
raters = [study.add_rater(name) for name in ("Ann", "Ben", "Cem", "Dora")]
print([rater.id for rater in raters])  # names stay in the storage, pseudonyms are what is published

# %% [markdown]
# What was compared before the study counts as well: designs by their own ids, and who won. The same file read again
# adds nothing.

# %%
(folder / "designs.csv").write_text("id,minutes,degrees\nold-1,2,75\nold-2,3.5,85\nold-3,6,100\n")
(folder / "answers.csv").write_text("winner,loser,tie,rater\nold-2,old-1,,pilot\nold-2,old-3,,pilot\n")
print(study.import_csv(folder / "designs.csv", folder / "answers.csv"), "answers from before")
assert study.import_csv(folder / "designs.csv", folder / "answers.csv") == 0

# %% [markdown]
# Now everybody answers; here they are simulated. All four like three and a half minutes at 85 degrees, but Dora does
# not look: she takes the left cup four times in five.


# %%
def liking(cup):
    return 6 * math.exp(-(((cup["minutes"] - 3.5) / 1.5) ** 2) - ((cup["degrees"] - 85) / 12) ** 2)


people = np.random.default_rng(7)


def answer(study, rater):
    query = study.ask(rater)
    felt = [liking(c.params) + people.gumbel() for c in query.shown]
    taken = int(np.argmax(felt))
    if rater is raters[3] and people.random() < 0.8:
        taken = 0
    study.tell(query, best=query.shown[taken], rater=rater, seconds=float(2 + people.gamma(2, 2)))


for _ in range(21):
    for rater in raters:
        answer(study, rater)

# %% [markdown]
# How reliable is everybody? The test for position bias looks at fixed numbers of answers and spends its error over
# them, so that looking often does not accuse the honest. The default strategy learns how noisy each rater is, too: what
# Dora says counts less already, in the questions asked and in what is recommended.

# %%
found = study.diagnostics()
for line in found.summary():
    print(line)
for line in found.lines():
    print("remark:", line)
biased = [rater.rater for rater in found.raters if rater.places.biased is not None]
assert max(found.raters, key=lambda rater: rater.noise).rater == "rater 4"

# %% [markdown]
# Dora's answers are kept, and do not count from now on; the report gives the reason. The log only ever grows.

# %%
assert biased == ["rater 4"]
study.remove_rater(raters[3], "position bias: the left cup in most questions")
best = study.recommend()
print(best)

# %% [markdown]
# A blind validation round tests the recommendation against the centre, options at random and the runner-up. Nobody can
# tell these questions from the others, and the answers teach the model nothing. Here the centre of the space happens to
# be just what everybody likes, so it is as good as any recommendation can be, and a fair test says so.

# %%
study.validate(3)
while not study.validation().over:
    for rater in raters[:3]:
        answer(study, rater)
print(study.validation())

# %% [markdown]
# Before publishing: can every question be computed again from the log?

# %%
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    replay = study.replay()
print(replay.lines()[0])
assert replay.matches

# %% [markdown]
# The report: a page that needs nothing else and prints well, a table with every appearance (also the unanswered ones,
# in the order shown), and JSON with everything. In the terminal: `prefopt report tea.db`.

# %%
for path in write_report(study, folder / "tea-report.html"):
    print(path.name, path.stat().st_size, "bytes")
page = (folder / "tea-report.html").read_text(encoding="utf-8")
assert "position bias" in page and not any(name in page for name in ("Ann", "Ben", "Cem", "Dora"))

# %% [markdown]
# The data go on to other tools: `study.export_csv("designs.csv", "answers.csv")`, and `study.X`, `study.comparisons`
# for BoTorch's `PairwiseGP`. The recommended cup is among the best tenth of all recipes:

# %%
again = load_study(str(folder / "tea.db"))
cups = [{"minutes": m, "degrees": d} for m in np.arange(1, 6.5, 0.5) for d in range(70, 105, 5)]
better = float(np.mean([liking(cup) > liking(again.recommend().params) for cup in cups]))
print(f"{better:.0%} of all recipes are better")
assert better <= 0.1
