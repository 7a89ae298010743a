"""Scores LingPy's cognate detection on languages whose cognates are known.

    invitro language export --config family.toml --cldf --out family
    python lexstat.py family

Needs `pip install lingpy`. For every method: B-cubed precision, recall and F-score against the cognate sets of the export. With
`--stems`, words are compared without affixes.
"""

import csv
import pathlib
import sys

from lingpy import LexStat
from lingpy.evaluate.acd import bcubes


def wordlist(folder: pathlib.Path, stems: bool) -> dict[int, list[object]]:
    def table(name: str) -> list[dict[str, str]]:
        with open(folder / name, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    sets = {row["Form_ID"]: row["Cognateset_ID"] for row in table("cognates.csv")}
    # Programs compare the words of one concept: a false friend's cognates under another concept are not theirs to find.
    forms = table("forms.csv")
    groups = sorted({(form["Parameter_ID"], sets[form["ID"]]) for form in forms})
    numbers = {group: number for number, group in enumerate(groups, start=1)}
    rows: dict[int, list[object]] = {0: ["doculect", "concept", "ipa", "tokens", "cogid"]}
    for number, form in enumerate(forms, start=1):
        tokens = list(form["Stem"]) if stems else [s for s in form["Segments"].split() if s != "+"]
        cogid = numbers[form["Parameter_ID"], sets[form["ID"]]]
        rows[number] = [form["Language_ID"], form["Parameter_ID"], "".join(tokens), tokens, cogid]
    return rows


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    lexstat = LexStat(wordlist(folder, "--stems" in sys.argv))
    lexstat.get_scorer(runs=1000)
    print("method    precision  recall  F-score")
    for method, threshold in [("turchin", 0.5), ("edit-dist", 0.75), ("sca", 0.45), ("lexstat", 0.6)]:
        found = method.replace("-", "") + "id"
        lexstat.cluster(method=method, threshold=threshold, ref=found)
        precision, recall, score = bcubes(lexstat, "cogid", found, pprint=False)
        print(f"{method:9} {precision:9.3f} {recall:7.3f} {score:8.3f}")


if __name__ == "__main__":
    main()
