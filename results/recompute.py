"""Recomputes the numbers of docs/findings.md, of the README's findings and of the pages that are filled beside them, from the tables
in this folder alone: a second reading of docs/formats.md, docs/guide/report.md and docs/guide/claims.md, which shares no code with
the program that filled the pages.

    python results/recompute.py        # needs pandas, pyarrow, numpy, scipy; a minute or so

A line per number: how it compares, the line of the page, the name of the place in its template, what the page has, what comes out here.

    agrees         the digits that are printed, of the value and of both ends of its interval, and its verdict
    one unit off   in the last digit of one of them

These are not in the documentation and are taken as follows: a difference of declines has its interval on no other scale; "nearly all runs at
a bound" is nine in ten; naming an arm in `by` alone leaves it at its first level; a correlation or slope with a measure reads it in the
condition and at the moment of the other; a primary claim that no run can answer, or whose measure the tables do not have, is not counted by
Holm's procedure; an interval for every look has the squared error and the scale of the ordinary one, and 18 looks whatever the cap; claims that
are not primary keep their ordinary intervals."""

import contextlib
import functools
import itertools
import re
import tomllib
from pathlib import Path
import numpy as np
import pandas as pd
from scipy.stats import t as student

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
CLAIMS = HERE.parent / "experiments" / "claims"
FINDINGS = tomllib.loads((DOCS / "findings.toml").read_text())
GROUPS = ("language.", "languages.", "tokenizer.", "mixture.", "train.", "model.")
ARMS = {"tokenizer.share": "all", "tokenizer.cut": "learned", "mixture.withhold": "words", "mixture.schedule": None}
SHORT = {
    "valid": "T1/validity", "grammatical": "T1/grammaticality", "types": "T1/types", "facts": "T1/facts",
    "same_words": "T1/same_words", "other_words": "T1/other_words", "non_words": "T1/non_words",
    "reach.share": "reach/network.allowed.share@0.1", "reach.any": "reach/network.allowed.any@0.1",
    "reach.false": "reach/network.forbidden.share@0.1", "reach.unigram": "reach/unigram.allowed.share@0.1",
    "contrast.facts": "reach/network.facts.logprob", "contrast.facts_masked": "reach/network.facts_masked.logprob",
    "contrast.friend": "contrast/network.friend", "bits": "loss/bits_per_char",
}
CHECKS = ("valid", "grammatical", "types", "facts")
COLUMNS = {"bridge": "bridge.jaccard", "cognate_bridge": "cognate_bridge.jaccard", "overlap": "overlap"}  # once per run


# ---- scales and intervals

IDENTITY = (lambda x: x, lambda x: x)
LOGIT = (lambda p: np.log(p / (1 - p)), lambda x: 1 / (1 + np.exp(-x)))
FISHER = (np.arctanh, np.tanh)


class Estimate:
    """A value and its interval: each data seed is left out in turn, each model seed, and each pair of both."""

    looks = 1  # at which the interval has to be valid together; where there are several, data seeds alone are the sample

    def __init__(self, frame, statistic, scale=IDENTITY, shown=None, floor=None):
        self.scale, self.floor, self.frame, self.statistic = scale, floor, frame, statistic
        value = statistic(frame)
        self.value = value if shown is None else shown
        with np.errstate(all="ignore"):
            self.centre = scale[0](value)
            data, model = frame["seeds.data"].astype(str), frame["seeds.model"].astype(str)
            self.errors = [self.error(statistic, keys) for keys in (data, model, data + "/" + model)]

    def error(self, statistic, keys):
        n = keys.nunique()
        if n < 2:
            return 1, 0.0
        left_out = np.array([self.scale[0](statistic(self.frame[keys != key])) for key in sorted(set(keys))])
        return n, np.sqrt((n - 1) / n * ((left_out - self.centre) ** 2).sum())

    def interval(self, level=0.05):
        level /= self.looks
        data, model, both = (student.ppf(1 - level / 2, n - 1) * se if n > 1 else 0.0 for n, se in self.errors)
        half = data if self.looks > 1 else np.sqrt(max(data**2 + model**2 - both**2, data**2, model**2))
        low, high = self.scale[1](self.centre - half), self.scale[1](self.centre + half)
        if self.floor is not None:  # an order: no narrower than if all runs agreed, and it holds the value
            low, high = self.floor(low, high, level)
            low, high = min(low, self.value), max(high, self.value)
        return low, high


def mean(frame):
    return frame["y"].mean()


def together(by, *parts):
    """Of two estimates one: both are taken again without each seed."""
    of = f"part of {by.__name__}"
    frame = pd.concat([part.frame.assign(**{of: i}) for i, part in enumerate(parts)], ignore_index=True)
    return Estimate(frame, lambda f: by(*(part.statistic(f[f[of] == i]) for i, part in enumerate(parts))))


# ---- tables


class NotMeasured(KeyError):
    """The tables have no such measure in this condition."""


class Study:
    def __init__(self, name):
        self.path = HERE / name
        runs = pd.read_parquet(self.path / "runs.parquet")
        self.runs = runs[runs["state"] == "done"].set_index("run").copy()
        if "languages.D.spoken" in self.runs:  # a third language, or none
            b, d = self.runs["languages.B.spoken"], self.runs["languages.D.spoken"]
            self.runs = self.runs.assign(spoken=np.where(b, "B", np.where(d, "D", "none")))
        self.masked = "C_masked" if "spoken" in self.runs else "B_masked"
        self.settings = [c for c in self.runs if c.startswith(GROUPS) and self.runs[c].astype(str).nunique() > 1]
        self.settings += ["spoken"] if "spoken" in self.runs else []
        study = tomllib.loads((self.path / "study.toml").read_text())
        self.primary = study.get("primary", [])
        self.looks = 18 if "until" in study else 1  # it planned itself: after each data seed from the third to the twentieth
        files = [tomllib.loads((CLAIMS / f"{name}.toml").read_text()) for name in study.get("claims_from", [])]
        self.claims = {c["id"]: c for file in [*files, study] for c in file.get("claims", [])}

    @functools.cached_property
    def words(self):
        words = pd.read_parquet(self.path / "words.parquet")
        words = words[words["masked_in"] == self.masked[0]].copy()
        words["contrast"] = words["contrast_" + self.masked[0]]
        words["log_frequency"] = np.log(words["frequency"].where(words["frequency"] > 0))
        return words

    @functools.lru_cache(maxsize=64)
    def curve(self, measure, condition):
        """A row per run, a column per step."""
        task, metric = SHORT.get(measure, measure).split("/")
        table = pd.read_parquet(self.path / "metrics.parquet", columns=["run", "step", "value"],
                                filters=[("task", "==", task), ("metric", "==", metric), ("condition", "==", condition)])
        if table.empty:
            raise NotMeasured(f"{measure} in {condition}")
        return table.pivot(index="run", columns="step", values="value").reindex(self.runs.index)

    def condition(self, name):
        known = {"masked": self.masked, "target": self.masked[0], "source": "A", "majority": "A", "overall": "all"}
        return known.get(name, name.replace("†", "_masked"))

    def values(self, measure, condition, moment, held={}):
        """A value per run; a decline starts where the runs that are held at these levels peak."""
        if measure == "reach.any or reach.share":  # nearly all runs at a bound, taken as nine in ten
            either = [self.values("reach.any", condition, m) for m in ("peak", "end")]
            measure = "reach.share" if any(saturated(x) for x in either) else "reach.any"
        if measure in COLUMNS:
            return self.frame(self.runs[COLUMNS[measure]], held)["y"]
        if measure in ("fertility", "continuation"):
            return self.runs[f"{measure}.{condition}"]
        curve = self.curve(full_name(measure), condition).loc[self.frame(0.0, held).index]
        end = curve.ffill(axis=1).iloc[:, -1]
        if moment == "end":
            return end
        if moment == "peak":
            return curve.max(axis=1)
        if moment == "own decline":
            return curve.max(axis=1) - end
        if moment in ("before", "decline"):  # from the step at which the mean curve of the other data seeds peaks
            seeds, before = self.runs["seeds.data"].loc[curve.index], pd.Series(np.nan, curve.index)
            for seed in seeds.unique():
                before[seeds == seed] = curve.loc[seeds == seed, curve[seeds != seed].mean().idxmax()]
            return before if moment == "before" else before - end
        return curve[moment]

    def frame(self, y, held):
        frame = self.runs[[*self.settings, "seeds.data", "seeds.model"]].copy()
        frame["y"] = y
        held = {k: v for k, v in held.items() if k in frame}
        return frame[functools.reduce(lambda a, b: a & b, (frame[k].isin(v) for k, v in held.items()), frame["y"].notna())]


def full_name(measure):
    if measure in SHORT:
        return SHORT[measure]
    if measure.startswith("form."):
        return "contrast/network.facts." + measure[5:]
    return measure if "/" in measure else measure.replace(".", "/", 1)


def saturated(values):
    return max((values >= 1).mean(), (values <= 0).mean()) >= 0.9


def is_share(measure):
    name = full_name(measure.split(" or ")[0])
    return name.startswith(("T0", "T1", "T2")) or ".share" in name or ".any" in name


def flat(table, prefix=""):
    """{a: {b: v}} as {"a.b": v}: keys with dots in TOML."""
    out = {}
    for key, value in table.items():
        out.update(flat(value, prefix + key + ".") if isinstance(value, dict) else {prefix + key: value})
    return out


# ---- estimates


def estimate(study, claim, levels=()):
    """Reads `claim`, a table as docs/guide/claims.md has it; `levels` are those of its `by` that a place names."""
    e = claim.get("estimate", claim)
    if "against" in claim:
        e = dict(e, less=study.claims[claim["against"]]["estimate"])
    for key, operation in (("less", np.subtract), ("times", np.multiply)):
        if key in e:
            rest = {k: v for k, v in e.items() if k != key}
            return together(operation, estimate(study, rest), estimate(study, e[key]))
    by = claim.get("by", [])
    kind = next(k for k in ("mean", "difference", "ratio", "effect", "correlation", "slope", "words", "order", "bend") if k in e)
    at = {k: v if isinstance(v, list) else [v] for k, v in flat(e.get("at", {})).items()}
    at.update({k: [level(study, k, v)] for k, v in zip(by, levels)})
    of = flat(e["of"]) if isinstance(e.get("of"), dict) else {}
    if kind != "words":  # arms that nothing names are held at their first level
        at.update({k: [v] for k, v in ARMS.items() if k in study.settings and k not in at and k not in of})
    if "tokenizer.share_p" in of:
        at["tokenizer.share"] = ["random"]
    at = {k: v for k, v in at.items() if v != ["*"]}
    inside = e.get("in", "masked")
    inside = [study.condition(x) for x in (inside if isinstance(inside, list) else [inside])]
    measures = e[kind] if isinstance(e[kind], list) else [e[kind]]
    moments = e.get("moment", "end")
    moments = moments if isinstance(moments, list) else [moments]
    sides = max(len(inside), len(measures), len(moments))
    each = [(measures[min(i, len(measures) - 1)], inside[min(i, len(inside) - 1)], moments[min(i, len(moments) - 1)]) for i in range(sides)]

    if kind == "order":
        return order(study, each, at, e.get("crossing", "first"))
    if kind == "words":
        return jump(study, e, at) if "cutoff" in e else words(study, e, at)
    y = [study.values(*side) for side in each]
    share = is_share(each[0][0])
    if kind == "mean":
        changes = each[0][2] in ("decline", "own decline")
        return Estimate(study.frame(y[0], at), mean, FISHER if share and changes else LOGIT if share else IDENTITY)
    if kind == "ratio":
        return Estimate(study.frame(y[0] / y[1], at), mean)
    if kind in ("correlation", "slope"):
        return over_runs(study, y[0], e, at, each[0])
    if kind == "effect":
        return effect(study, y[0] - y[1] if sides == 2 else y[0], e, at)
    if kind == "bend":
        frame = study.frame(y[0], at)
        ends = [frame[e["of"]].min(), frame[e["of"]].max()]
        inner = lambda f: f.loc[~f[e["of"]].isin(ends), "y"].mean() - f.loc[f[e["of"]].isin(ends), "y"].mean()
        return Estimate(frame, inner, FISHER if share else IDENTITY)
    if not of:
        return Estimate(study.frame(y[0] - y[1], at), mean, FISHER if share else IDENTITY)
    keys = list(of)
    scale = FISHER if share and moments[0] not in ("decline", "own decline") else IDENTITY  # a difference of changes is no difference of two shares
    if measures == ["contrast.facts"] and inside == [study.masked] and e.get("unit") != "runs" and len(keys) == 1:
        return word_difference(study, at, keys[0], of[keys[0]])
    sides = [study.values(*each[0], {**at, keys[0]: [v]}) for v in of[keys[0]]]
    pairs = paired(study, study.frame(pd.concat(sides), at), keys[0], of[keys[0]])
    if len(keys) == 2:
        a, b = of[keys[1]]
        two = lambda f: f.loc[f[keys[1]] == a, "y"].mean() - f.loc[f[keys[1]] == b, "y"].mean()
        return Estimate(pairs[pairs[keys[1]].isin([a, b])], two)
    return Estimate(pairs, mean, scale)


def level(study, key, text):
    values = list(study.runs[key].dropna().unique())
    return next(v for v in values if str(v).lower() == str(text).split(" ")[0] or (not isinstance(v, (str, bool, np.bool_)) and float(v) == float(text)))


def paired(study, frame, key, levels):
    """Runs at the first level beside those at the second, all other settings and seeds equal; y is the difference."""
    skip = {key} | ({"languages.B.spoken", "languages.D.spoken"} if key == "spoken" else set())
    on = [c for c in study.settings if c not in skip] + ["seeds.data", "seeds.model"]
    frame = frame.reset_index()
    first, second = (frame[frame[key] == v][[*on, "run", "y"]] for v in levels)
    pairs = first.merge(second, on=on, suffixes=("", "_second"))
    pairs["y"] -= pairs.pop("y_second")
    return pairs


def word_difference(study, at, key, levels):
    pairs = paired(study, study.frame(0.0, at), key, levels)[["run", "run_second", "seeds.data", "seeds.model"]]
    known = study.words.loc[study.words["contrast"].notna(), ["run", "symbol", "contrast", "pieces", "letters"]]
    first = pairs.merge(known, on="run")
    second = pairs.merge(known, left_on="run_second", right_on="run", suffixes=("", "_")).drop(columns="run_")
    group = ["run", "pieces", "letters"]
    a, b = (x.groupby(group)["contrast"].agg(["mean", "size"]).reset_index() for x in (first, second))
    both = a.merge(b, on=group, suffixes=("_a", "_b")).merge(pairs, on="run")
    both["y"] = both["mean_a"] - both["mean_b"]
    both["weight"] = both["size_a"] * both["size_b"] / (both["size_a"] + both["size_b"])
    return Estimate(both, lambda f: (f["y"] * f["weight"]).sum() / f["weight"].sum())


def predictor(study, key):
    if key in COLUMNS:
        return study.runs[COLUMNS[key]]
    if key in ("similarity", "language.distance"):
        return 1 - study.runs["language.distance"]
    if key == "tokenizer.regime":
        return (study.runs[key] == "balanced").astype(float)
    return np.log2(study.runs[key].astype(float))


def effect(study, y, e, at):
    """Standardised once over all runs; of two predictors, by how much the first exceeds the second in size."""
    of = [x for x in (e["of"] if isinstance(e["of"], list) else [e["of"]])]
    names = [k for k in ("tokenizer.vocab", "tokenizer.regime", "mixture.lambda", "language.distance") if k in study.settings and len(at.get(k, [0, 1])) > 1]
    names = [k for k in names if study.frame(0.0, at)[k].nunique() > 1]
    names += [k for k in of if k in COLUMNS]
    place = [names.index("language.distance" if k == "similarity" else k) for k in of]
    sign = -1 if of == ["language.distance"] else 1
    frame = study.frame(y, at)
    standard = lambda x: (x - x.mean()) / x.std(ddof=0)
    for name in names:
        frame["x:" + name] = standard(predictor(study, name).reindex(frame.index).astype(float))
    frame["y"] = standard(frame["y"])

    def statistic(f):
        x = np.column_stack([np.ones(len(f)), *(f["x:" + k] for k in names)])
        slopes = np.linalg.lstsq(x, f["y"].to_numpy(), rcond=None)[0][1:]
        return abs(slopes[place[0]]) - abs(slopes[place[1]]) if len(place) == 2 else sign * slopes[place[0]]

    return Estimate(frame, statistic)


def over_runs(study, y, e, at, side):
    """A correlation or a slope; what it is with is a column, or a measure in the same condition at the same moment."""
    frame = study.frame(y, at)
    name = COLUMNS.get(e["with"], e["with"])
    x = (study.runs[name] if name in study.runs else study.values(name, *side[1:])).astype(float).reindex(frame.index)
    frame["x"] = np.log2(x) if e["with"] in ("tokenizer.vocab", "mixture.lambda") else x
    within = [k for k in e.get("within", []) if k in frame]

    def statistic(f):
        columns = f[["y", "x"]]
        if within:
            columns = columns - columns.groupby([f[k] for k in within]).transform("mean")
        (yy, xy), (_, xx) = np.cov(columns["y"], columns["x"])
        return xy / xx if "slope" in e else xy / np.sqrt(xx * yy)

    return Estimate(frame, statistic, IDENTITY if "slope" in e else FISHER)


def words(study, e, at):
    """A regression over the words of each run, with an intercept for each run."""
    controls = e.get("controls", ["cognate_bridge", "distance", "letters", "pieces", "log_frequency"])
    table = study.words[["run", e["words"], *controls]].astype({c: float for c in [e["words"], *controls]}).dropna()
    table = table.merge(study.frame(0.0, at)[["seeds.data", "seeds.model"]], left_on="run", right_index=True)
    inside = table[[e["words"], *controls]] - table.groupby("run")[[e["words"], *controls]].transform("mean")
    table[[e["words"], *controls]] = inside
    fit = lambda f: np.linalg.lstsq(f[controls].to_numpy(), f[e["words"]].to_numpy(), rcond=None)[0][controls.index(e["of"])]
    return Estimate(table, fit)


def jump(study, e, at):
    """In each run a line on the rank below the cut-off less one above, at it; the mean of runs by precision, as if all words varied alike."""
    frame = study.frame(0.0, at)
    table = study.words[["run", "rank", e["words"]]].dropna()
    for run in frame.index:
        word, size = table[table["run"] == run], study.runs.loc[run, "tokenizer.vocab"]
        x, y = (word["rank"].to_numpy() + 0.5) / size - 1, word[e["words"]].to_numpy(float)
        near = abs(x) <= e.get("width", 0.25)
        fits = [np.polyfit(x[side], y[side], 1, cov="unscaled") for side in (near & (x < 0), near & (x > 0))]
        frame.loc[run, "y"] = fits[0][0][1] - fits[1][0][1]
        frame.loc[run, "weight"] = 1 / sum(covariance[1, 1] for _, covariance in fits)
    return Estimate(frame, lambda f: (f["y"] * f["weight"]).sum() / f["weight"].sum())


def order(study, sides, at, crossing):
    dates = []
    for measure, condition, _ in sides:
        if crossing == "half":
            dates.append(half_way(study.curve(full_name(measure), condition)))
        else:
            name = full_name(measure).replace("/", "." + condition + ".")
            name = f"emergence.{name}" + (".over_unigram" if name.startswith("reach") else ".lasting" if crossing == "lasting" else "")
            dates.append(study.runs[name].fillna(np.inf))
    frame = study.frame((dates[0] < dates[1]).astype(float), at)
    frame = frame[((dates[0] != dates[1]) & dates[0].notna() & dates[1].notna()).reindex(frame.index)]
    shares = lambda f: (f.groupby("seeds.data")["y"].mean().sum() + 0.5) / (f["seeds.data"].nunique() + 1)
    agreed, (z, back) = Estimate(frame.assign(y=1.0), shares, LOGIT), LOGIT

    def floor(low, high, level):  # of two intervals the wider half, about the centre of this one
        a, b = agreed.interval(level)
        short = max((z(b) - z(a)) / 2 - (z(high) - z(low)) / 2, 0)
        return back(z(low) - short), back(z(high) + short)

    return Estimate(frame, shares, LOGIT, shown=frame["y"].mean(), floor=floor)


def half_way(curves):
    """The first evaluated step at which a curve has come half of the way from its first value to its last; none where it does not rise."""
    dates = {}
    for run, curve in curves.iterrows():
        curve = curve.dropna()
        first, last = curve.iloc[0], curve.iloc[-1]
        dates[run] = curve.index[curve >= (first + last) / 2][0] if last > first else np.nan
    return pd.Series(dates)


def inflation(study):
    """How nearly the other settings determine the bridge."""
    names = [k for k in ("tokenizer.vocab", "tokenizer.regime", "mixture.lambda", "language.distance") if k in study.settings]
    x = np.column_stack([np.ones(len(study.runs)), *(predictor(study, k) for k in names)])
    bridge = study.runs[COLUMNS["bridge"]].to_numpy()
    rest = bridge - x @ np.linalg.lstsq(x, bridge, rcond=None)[0]
    return bridge.var() / rest.var()


# ---- verdicts


def answer(study, name, levels=()):
    """The estimate of a claim by its name."""
    result = estimate(study, FINDINGS.get(study.path.name, {}).get(name) or study.claims[name], levels)
    if name in study.primary:
        result.looks = study.looks
    return result


def decide(claim, result, level=0.05):
    low, high = result.interval(level)
    if max(se for _, se in result.errors) < 1e-12 and result.frame["y"].std() > 1e-12:
        return "inconclusive"  # seeds that agree up to rounding, where their runs do not
    expect = claim["expect"].split()
    bound = float(expect[-1].strip("±"))
    if expect[0] == "within":
        return "supported" if -bound < low and high < bound else "contradicted" if low > bound or high < -bound else "inconclusive"
    if expect[0] == "other":
        return "supported" if low > bound or high < bound else "inconclusive"
    above, below = low > bound, high < bound
    if above or below:
        return "supported" if above == (expect[0] == "above") else "contradicted"
    e = claim.get("estimate", {})
    margin = claim.get("margin", 0.1 if "effect" in e or "correlation" in e else 0.0)
    return "equivalent" if margin and bound - margin < low and high < bound + margin else "inconclusive"


def verdict(study, name):
    """Primary claims are adjusted together by Holm's procedure."""
    claim = FINDINGS.get(study.path.name, {}).get(name) or study.claims[name]
    if "all" in claim:
        parts = {verdict(study, part) for part in claim["all"]}
        return next((v for v in ("not tested", "contradicted", "inconclusive") if v in parts), "supported")
    e = claim.get("estimate", claim)
    if "effect" in e and "bridge" in e["of"] and inflation(study) > 5:
        return "not tested"
    if "order" in e and set(e["order"]) <= set(CHECKS) and isinstance(e["order"], list) and isinstance(e.get("in", ""), str):
        return "not tested"  # each counts among the one before it
    if name not in study.primary:
        return decide(claim, estimate(study, claim))
    open_ = {}
    for p in (p for p in study.primary if "estimate" in study.claims[p]):
        with contextlib.suppress(NotMeasured):
            open_[p] = answer(study, p)
    open_ = {p: r for p, r in open_.items() if len(r.frame)}  # what cannot be tested does not count
    verdicts = {}
    while open_:
        new = {p: decide(study.claims[p], r, 0.05 / len(open_)) for p, r in open_.items()}
        new = {p: v for p, v in new.items() if v != "inconclusive"}
        if not new:
            break
        verdicts.update(new)
        open_ = {p: r for p, r in open_.items() if p not in new}
    return verdicts.get(name, "inconclusive")


@functools.lru_cache(maxsize=None)
def readings(name, claim):
    """The claim under every combination of its readings: what was chosen, the estimate, the verdict."""
    study, claim = study_of(name), study_of(name).claims[claim]
    asked = claim["readings"]
    further = [k for k in study.settings if k not in ("tokenizer.vocab", "mixture.lambda", "language.distance", "tokenizer.regime")]
    ways = study.runs[further].drop_duplicates().to_dict("records") if asked.get("settings") else [{}]
    out = []
    for way, k, counted, moment, crossing in itertools.product(
            ways, *(asked.get(x, [None]) for x in ("K", "counted", "moment", "crossing"))):
        e = dict(claim["estimate"], at=way)
        if counted:
            kind = next(x for x in ("effect", "correlation") if x in e)
            e[kind] = f"reach.network.allowed.{counted}@{k}"
        e.update({key: v for key, v in (("moment", moment), ("crossing", crossing)) if v})
        row = {**way, "K": k, "counted": counted, "read": moment, "result": None, "verdict": "without"}
        if not (counted and saturated(study.values(e[kind], study.masked, moment)[study.frame(0.0, {k: [v] for k, v in way.items()}).index])):
            row["result"] = estimate(study, dict(claim, estimate=e))
            row["verdict"] = decide(claim, row["result"])
        out.append(row)
    return out


# ---- places

PLACE = re.compile(r"\{\{([^}]*)\}\}")
NUMBER = r"[−-]?[\d,]*\.?\d+"
FULL = re.compile(rf"({NUMBER})(?: \[({NUMBER}), ({NUMBER})\])?(?:: ([a-z ]+))?$")


def places(template, page, section):
    """What the page has in each place of its template, line by line; and the lines of the template that the page does not have."""
    lines = page.splitlines()
    start = next((i for i, x in enumerate(lines) if section and x.lstrip("#").strip() == section), 0)
    found, lost = [], []
    for wanted in template.splitlines():
        parts = PLACE.split(wanted)
        if len(parts) == 1:
            continue
        pattern = re.compile(rf"({NUMBER}(?: \[[^]]*\])?|.+?)".join(re.escape(x) for x in parts[::2]))
        for i, line in enumerate(lines[start:], start + 1):
            if match := pattern.fullmatch(line):
                found += [(place, text, i) for place, text in zip(parts[1::2], match.groups())]
                start = i
                break
        else:
            lost += parts[1::2]
    return found, lost


def number(text):
    return float(text.replace("−", "-").replace(",", ""))


def same(printed, value):
    """2: the digits that are printed; 1: one unit of the last of them off; 0: more."""
    digits = len(printed.split(".")[1]) if "." in printed else 0
    off = abs(round(value, digits) - number(printed)) * 10.0**digits
    return 2 if off < 0.5 else 1 if off < 1.5 else 0


@functools.lru_cache(maxsize=None)
def study_of(name):
    return Study(name)


@functools.lru_cache(maxsize=None)
def result_of(key):
    name, _, levels = key.partition("@")
    study, _, claim = name.partition(".")
    return answer(study_of(study), claim, levels.split(",") if levels else ())


def recompute(place, printed):
    """The number of a place as text, and how well the page has it, as `same` says."""
    key, _, form = place.partition(":")
    name = key.split(".")[0]
    if form in ("ended", "seeds"):
        studies = [p.name for p in sorted(HERE.iterdir()) if (p / "runs.parquet").exists()] if key == "all" else [name]
        value = sum(len(study_of(s).runs) for s in studies) if form == "ended" else study_of(name).runs["seeds.data"].nunique()
        return f"{value:,}", 2 * (number(printed) == value)
    if form == "inflation":
        value = inflation(study_of(name))
        return f"{value:.3f}", same(printed, value)
    if form.startswith("setting "):
        values = study_of(name).runs[form.split()[1]].unique()
        return ", ".join(f"{v:,}" for v in values), 2 * (len(values) == 1 and number(printed) == values[0])
    if form in ("least", "least3", "most3"):
        table = FINDINGS[name][key.split(".")[1]]
        study = study_of(name)
        cells = study.runs[table["by"]].drop_duplicates().itertuples(index=False)
        groups = [estimate(study, table, [str(v).lower() for v in cell]).value for cell in cells]
        value = max(groups) if form == "most3" else min(groups)
        return f"{value:.4f}", same(printed, value)
    claim = key.partition("@")[0].partition(".")[2]
    form, *chosen = form.split() or [""]
    if form in ("readings", "supported", "contradicted", "equivalent", "inconclusive", "without", "low", "high", "clear"):
        rows = readings(name, claim)
        for key, value in (x.split("=") for x in chosen):
            rows = [r for r in rows if str(r[key]) == value]
        if form in ("low", "high"):
            value = (min if form == "low" else max)(r["result"].value for r in rows)
            return f"{value:.4f}", same(printed, value)
        clear = lambda r: r["result"] and np.prod(np.sign(r["result"].interval())) > 0
        value = sum(form == "readings" or (clear(r) if form == "clear" else r["verdict"] == form) for r in rows)
        return str(value), 2 * (number(printed) == value)
    if form == "word":
        word = verdict(study_of(name), claim)
        return word, 2 * (word == printed)
    try:
        result = result_of(key)
    except NotMeasured:
        return "not measured", 2 * (printed == "not measured")
    if printed == "in no run do both rise":
        return f"an order in {len(result.frame)} runs", 2 * result.frame.empty
    parts = FULL.match(printed)
    if not parts:
        raise ValueError(f"{printed!r} is no number")
    value, low, high, word = parts.groups()
    text, agrees = f"{result.value:.4f}", same(value, result.value)
    if low:
        bounds = result.interval()
        text += f" [{bounds[0]:.4f}, {bounds[1]:.4f}]"
        agrees = min(agrees, same(low, bounds[0]), same(high, bounds[1]))
    if word:
        mine = verdict(study_of(name), claim)
        text, agrees = f"{text}: {mine}", agrees * (mine == word)
    return text, agrees


def in_words():
    """What the page says in words or in numbers of the template, and what the tables have."""
    only = lambda name, key: "/".join(str(x) for x in sorted(study_of(name).runs[key].unique()))
    now = lambda name, e: "{0:.3f} [{1:.3f}, {2:.3f}]".format((r := estimate(study_of(name), e)).value, *r.interval())
    everything = {"tokenizer.share": "all"}
    for name, says in (("paper", "10,000 steps of 64 at 1e-4, width 256, four layers"), ("budget", "40,000 steps of 256 at 1e-3")):
        keys = ("train.steps", "train.batch", "train.lr", "model.width", "model.layers")
        yield f"{name}, {says}", ", ".join(f"{k} {only(name, k)}" for k in keys)
    yield "spelling, half the steps; the last three quarters are from step 5,000", only("spelling", "train.steps")
    yield "mix, a fifth of translations", only("mix", "mixture.translation")
    yield "sharing, a random half", only("sharing", "tokenizer.share_p")
    budget = study_of("budget")
    valid, grammatical = (budget.curve(full_name(x), "B_masked") for x in ("valid", "grammatical"))
    at_peak = [grammatical.loc[r, s] / valid.loc[r, s] for r, s in grammatical.idxmax(axis=1).items()]
    yield "budget, of the valid answers grammatical at the peak: two maxima divided", f"{(grammatical.max(axis=1) / valid.max(axis=1)).mean():.3f}"
    yield "  the same at one step, that of the most grammatical answers", f"{np.mean(at_peak):.3f}"
    for arm in ("all", "none"):
        at = {"tokenizer.share": arm}
        yield f"sharing-paper, words that are false as often, {arm}", now("sharing-paper", {"mean": "reach.false", "at": at})
    for form in ("source", "own"):
        e = {"mean": f"patch.{form}.same.subject@1", "at": everything}
        yield f"inside, after layer 1 the subject's state brings little, {form}", now("inside", e)
    for n in (3, 4):
        facts = Study("facts")
        facts.runs, facts.looks = facts.runs[facts.runs["seeds.data"] < n], 18
        yield f"facts, had it planned itself, after {n} data seeds", ", ".join(f"{p} {verdict(facts, p)}" for p in facts.primary)
    paper = study_of("paper").runs
    vocab, settings = ["tokenizer.vocab", "tokenizer.regime"], ["mixture.lambda", "language.distance"]
    cells = paper.groupby(vocab + settings).mean(numeric_only=True)
    above = (cells["max.T1.B.types"] > cells["max.T1.B_masked.types"]).groupby(vocab).sum()
    yield "paper, cells of 16 in which types in B are above B†", ", ".join(f"{v} {r} {n}" for (v, r), n in above.items())
    best = cells["max.T1.B_masked.grammaticality"].unstack().loc[2048].idxmax(axis=1).unique()
    yield "paper, grammaticality in B† at |V| 2048 is highest at d", ", ".join(map(str, best))
    for key, says in (
        ("max.reach.B_masked.network.allowed.share@0.1", "the share is highest at |V| 4096, where balanced is ahead"),
        ("emergence.T1.A.types", "by the means types come in A first: A"),
        ("emergence.T1.B.types", "and B after B† but at 8192: B"),
        ("emergence.T1.B_masked.types", "and B†, later as |V| grows"),
    ):
        means = paper.groupby(vocab)[key].mean()
        yield f"paper, {says}", ", ".join(f"{v} {r} {x:.4g}" for (v, r), x in means.items())
    overlap = paper.groupby(vocab + settings[:1])["overlap"].mean().unstack()
    yield "paper, λ raises overlap at |V| 2048 alone, from 0.05 to 0.5", ", ".join(f"{v} {r} {x.iloc[-1] - x.iloc[0]:+.3f}" for (v, r), x in overlap.iterrows())
    inside = study_of("inside")
    curve = inside.curve("inside/translation_back@2", "B_masked")[inside.runs["tokenizer.share"] == "all"]
    up = (curve.iloc[:, -1] > curve.iloc[:, 0]).sum()
    first, last = curve.iloc[:, 0].mean(), curve.iloc[:, -1].mean()
    yield "inside, states come to resemble their translations", f"P@1 is {first:.3f} before training and {last:.3f} after; higher in {up} of {len(curve)} runs"
    for arm in ("none", "other", "cognate", "all"):
        e = {"mean": "contrast.facts", "in": "B", "at": {"tokenizer.share": arm}}
        yield f"overlap, B's own facts are known best where nothing is shared, {arm}", now("overlap", e)
    others = (f"{x} {verdict(study_of('anchors'), x)}" for x in ("order-transfers", "parallel-transfers", "names-transfer", "narrow-transfers"))
    yield "anchors, no gain in withheld facts", ", ".join(others)
    anchors = study_of("anchors")
    cells = anchors.frame(anchors.values("inside.translation_back@2", "B", "end"), {}).groupby(anchors.settings)["y"].mean()
    yield "anchors, P@1 is a few percent at most: means of cells", ", ".join(f"{x:.3f}" for x in sorted(cells))
    for arm in ("all", "none"):
        e = {"difference": "contrast.facts", "of": {"mixture.code_switch": [0.3, 0.0]}, "at": {"tokenizer.share": arm}}
        yield f"swaps, what is known of B's own facts and of A's, {arm}", f"{now('swaps', {**e, 'in': 'B'})}, {now('swaps', {**e, 'in': 'A'})}"
    for x in ("runs", "words", "cka", "alignment"):
        yield f"court, the prediction itself, {x}", now("court", study_of("court").claims[f"predict-{x}"]["estimate"])
    unseen = study_of("inside-long").curve(full_name("inside.translation_back@4"), "B_masked")
    yield "inside-long, P@1 of unseen words is largest before training", f"in {(unseen.idxmax(axis=1) == 0).sum()} of {len(unseen)} runs"


def main():
    totals = {"agrees": 0, "one unit off": 0, "DISAGREES": 0, "not computed": 0}
    for entry in FINDINGS["pages"]:
        page = (DOCS / entry["page"]).resolve()
        template = (DOCS / entry["template"]).read_text()
        found, lost = places(template, page.read_text(), entry.get("section"))
        print(f"\n{page.relative_to(HERE.parent)}")
        if lost:
            print(f"{len(lost)} places stand in lines that the page does not have as its template has them: {', '.join(lost)}")
        for place, printed, line in found:
            try:
                here, agrees = recompute(place, printed)
                status = ("DISAGREES", "one unit off", "agrees")[int(agrees)]
            except (KeyError, ValueError, IndexError, StopIteration) as error:
                status, here = "not computed", f"{type(error).__name__}: {error}"
            totals[status] += 1
            print(f"{status:12} {line:4} {place:38} page {printed:24} here {here}", flush=True)
    print("\n" + ", ".join(f"{n} {what}" for what, n in totals.items()))
    print("\nBeside sentences that have no number of a table")
    for says, here in in_words():
        print(f"  {says}: {here}")


if __name__ == "__main__":
    main()
