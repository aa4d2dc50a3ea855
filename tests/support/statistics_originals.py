"""Compute agreement with krippendorff, irrCAC, scikit-learn, statsmodels and SciPy: JSON on stdin, JSON on stdout.

Runs in the environment of `make agreement`, where these packages are and nothing of ours. A case is {"values", "rows"},
with positions on the scale and null for a missing rating.
"""

import json
import math
import sys
import warnings

import krippendorff
import numpy as np
import pandas as pd
from irrCAC.raw import CAC
from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.inter_rater import cohens_kappa

warnings.simplefilter("ignore")


def given(case):
    values = case["values"]
    return [[math.nan if item is None else values[item] for item in row] for row in case["rows"]]


def as_number(found):
    return None if found is None or math.isnan(found) else float(found)


def kappas(case):
    """Of two raters, both by the table and by the columns."""
    values = case["values"]
    full = [row for row in case["rows"] if None not in row]
    if not full:
        return {}
    table = np.zeros((len(values), len(values)))
    for first, second in full:
        table[first, second] += 1
    distances = np.array([[(one - two) ** 2 for two in values] for one in values], dtype=float)
    found = {
        "kappa/statsmodels": cohens_kappa(table, return_results=False),
        "kappa_quadratic/statsmodels": cohens_kappa(table, weights=distances, return_results=False),
    }
    columns = [[values[row[side]] for row in full] for side in (0, 1)]
    found["kappa/sklearn"] = cohen_kappa_score(*columns, labels=values)
    if values == list(range(len(values))):  # its weights are distances of positions
        found["kappa_quadratic/sklearn"] = cohen_kappa_score(*columns, labels=values, weights="quadratic")
    return found


def alphas(case):
    found = {}
    rows = np.array(given(case), dtype=float)
    for level in ("nominal", "interval"):
        try:
            value = krippendorff.alpha(rows.T, value_domain=case["values"], level_of_measurement=level)
        except ValueError:
            value = math.nan
        found[f"alpha_{level}/krippendorff"] = value
    return found


def coefficients(case):
    frame = pd.DataFrame(given(case))
    found = {}
    for level, weights in (("nominal", "identity"), ("interval", "quadratic")):
        cac = CAC(frame, weights=weights, categories=case["values"], digits=15)
        found[f"alpha_{level}/irrCAC"] = cac.krippendorff()["est"]["coefficient_value"]
    return found


def measure(case):
    found = {}
    for statistics in (kappas, alphas, coefficients):
        if statistics is kappas and len(case["rows"][0]) != 2:
            continue
        try:
            found.update(statistics(case))
        except (ZeroDivisionError, ValueError, IndexError, KeyError):
            continue  # a package that cannot take this data says nothing
    return {name: as_number(value) for name, value in found.items()}


def count(counts):
    x, n = counts
    return {
        "limits/scipy": list(binomtest(x, n).proportion_ci(method="exact")),
        "exact/statsmodels": float(mcnemar([[0, x], [n - x, 0]], exact=True).pvalue),
    }


asked = json.load(sys.stdin)
json.dump({"cases": list(map(measure, asked["cases"])), "counts": list(map(count, asked["counts"]))}, sys.stdout)
