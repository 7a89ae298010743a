"""Recomputes with SciPy, statsmodels and NumPy what the report computed, and compares."""

import itertools
import json
import sys

import numpy as np
import statsmodels.api as sm
from scipy import stats

given = json.load(open(sys.argv[1]))
x, z, y = (np.array(given[name]) for name in "xzy")
groups = np.array(given["groups"])
checked = 0


def check(name, ours, theirs, tolerance=1e-9):
    global checked
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    if not np.allclose(ours, theirs, rtol=tolerance, atol=tolerance):
        sys.exit(f"{name}: ours {ours}, theirs {theirs}")
    checked += 1


r = stats.pearsonr(x, y)
interval = r.confidence_interval(0.95)
check("pearson r", given["pearson"]["r"], r.statistic)
check("pearson p", given["pearson"]["p"], r.pvalue)
check("pearson interval", [given["pearson"]["low"], given["pearson"]["high"]], [interval.low, interval.high])

rho = stats.spearmanr(x, y)
check("spearman rho", given["spearman"]["r"], rho.statistic)
check("spearman p", given["spearman"]["p"], rho.pvalue)
half = stats.norm.ppf(0.975) * np.sqrt((1 + rho.statistic**2 / 2) / (len(x) - 3))
bonett_wright = np.tanh(np.arctanh(rho.statistic) + np.array([-half, half]))
check("spearman interval", [given["spearman"]["low"], given["spearman"]["high"]], bonett_wright)

design = sm.add_constant(np.column_stack([x, z]))
fit = sm.OLS(y, design).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
for place, name in [(1, "x"), (2, "z")]:
    low, high = fit.conf_int()[place]
    ours = given["regression"][name]
    check(f"coefficient of {name}", ours[0], fit.params[place])
    check(f"error, p and interval of {name}", ours[1:], [fit.bse[place], fit.pvalues[place], low, high], 1e-8)
check("r squared", given["regression"]["r_squared"], fit.rsquared)

# Intervals over 3 data seeds and 3 model seeds: Student's over each kind and over pairs, leaving out one at a time.
def half_square(statistic, labels):
    left = np.array([statistic(labels != label) for label in np.unique(labels)])
    spread = (len(left) - 1) / len(left) * ((left - statistic(labels >= 0)) ** 2).sum()
    return stats.t.ppf(0.975, len(left) - 1) ** 2 * spread


# A correlation's spread is taken on the scale of Fisher's z.
for name, statistic, back in [
    ("mean", lambda rows: y[rows].mean(), lambda value: value),
    ("r_over_seeds", lambda rows: np.arctanh(np.corrcoef(z[rows], y[rows])[0, 1]), np.tanh),
]:
    data, model, pairs = (half_square(statistic, labels) for labels in (groups // 3, groups % 3, groups))
    value, half = statistic(groups >= 0), np.sqrt(max(data, model, data + model - pairs))
    check(f"{name} over seeds", given[name], [back(value), back(value - half), back(value + half)])

check("quantile", given["quantile"], np.quantile(y, 0.3))
check("student's t", given["t"], [2 * stats.t.sf(2.5, 7), stats.t.ppf(0.975, 7)])

flips = stats.permutation_test((y[:10],), np.sum, permutation_type="samples", n_resamples=np.inf)
check("sign flips", given["flips"], flips.pvalue)

shuffled = stats.permutation_test(
    (x[:30],),
    lambda a: stats.pearsonr(a, y[:30]).statistic,
    permutation_type="pairings",
    n_resamples=9999,
    rng=np.random.default_rng(0),
)
# Two Monte Carlo estimates of one p: four standard errors of their difference.
spread = 4 * np.sqrt(2 * shuffled.pvalue * (1 - shuffled.pvalue) / 9999) + 1e-3
check("permuted correlation", given["permuted"], shuffled.pvalue, spread)

# Words in runs: an indicator for every run, errors clustered by symbol and by data seed at once. Symbols are once the
# same in all data seeds, once each of one data seed, where both ways come to data seeds alone.
words = given["words"]
explained, runs, data = np.array(words["y"]), np.array(words["runs"]), np.array(words["data"])
columns = np.column_stack(words["columns"])
indicators = (runs[:, None] == np.unique(runs)).astype(float)
design = np.hstack([columns, indicators])
for fitted in words["fits"]:
    symbols = np.array(fitted["symbols"])
    groups = [np.column_stack([symbols, data]), symbols, data]
    fits = [sm.OLS(explained, design).fit(cov_type="cluster", cov_kwds={"groups": g}, use_t=True) for g in groups]
    errors = np.sqrt([np.diag(fit.cov_params())[: columns.shape[1]] for fit in fits])
    for place, ours in enumerate(fitted["effects"]):
        if (errors[0, place] < errors[1:, place] * (1 - 1e-9)).any():
            sys.exit(f"words, column {place}: two ways are less than one, {errors}: nothing is compared")
        low, high = fits[0].conf_int()[place]
        theirs = [fits[0].params[place], errors[0, place], fits[0].pvalues[place], low, high]
        check(f"words, column {place}", ours, theirs, 1e-8)
for place, ours in enumerate(words["left_out"]):
    def slope(rows):
        return np.linalg.lstsq(design[rows], explained[rows], rcond=None)[0][place]

    value, half = slope(data >= 0), np.sqrt(half_square(slope, data))
    check(f"words over data seeds, column {place}", ours, [value, value - half, value + half])

print(f"{checked} quantities agree")
