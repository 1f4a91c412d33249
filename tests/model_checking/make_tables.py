#!/usr/bin/env python3
"""Writes the tables of docs/verification.md and of pages beside it from the stored results of the checks.

    make_tables.py            puts each table NAME in the place of what is between <!-- checks:NAME --> and <!-- /checks:NAME -->
    make_tables.py --check    changes nothing; fails if a page is not up to date

The results are made by

    spin/run.py --json results/spin.json
    spin/run.py --mutants --json results/spin_mutants.json
    relacy_block_heap --json results/relacy.json            (in the folder tests/model_checking/relacy of a build)
    mutants.py --quick --json results/mutants.json
    soak --operations 1e11 --json ../soak/results/GPU.json  (and date, GPU, driver and commit added)
    ../faults/plant.py --faults 0 --tests '^dsl$|^dsl/misuse$' --json ../faults/results/named.json
"""
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CHECKERS, ALL_CHECKS = ROOT / "docs/verification/model-checking.md", ROOT / "docs/verification.md"
MUTANT_TABLES, FAULTS = ROOT / "docs/verification/mutants.md", ROOT / "docs/verification/faults.md"
sys.path[:0] = [str(HERE), str(HERE / "spin")]
from mutants_list import MUTANTS  # noqa: E402
from run import SCENARIOS  # noqa: E402


def results(name):
    return json.loads((HERE / "results" / f"{name}.json").read_text(encoding="utf-8"))


def table(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def grouped(number):
    return f"{number:,}".replace(",", " ")


def spin():
    sentences = {scenario.name: scenario.sentence for scenario in SCENARIOS}
    records = results("spin")
    rows = [[f"`{r['scenario']}`", sentences[r["scenario"]], r["processes"], grouped(r["states"]), f"{r['seconds']:.1f}",
             "all" if r["complete"] else "not all", "no error" if r["result"] == "ok" else r["result"]] for r in records]
    total = (f"{len(records)} scenarios, {grouped(sum(r['states'] for r in records))} states, "
             f"{sum(r['seconds'] for r in records):.0f} seconds of search on one core.")
    return table(["scenario", "what", "warps", "states", "s", "explored", "result"], rows) + "\n\n" + total


def relacy():
    records = results("relacy")
    rows = [[f"`{r['scenario']}`", r["about"], r["threads"], r["scheduler"], grouped(r["schedules"]),
             "all" if r["all"] else "a sample", r["error"] or "no error"] for r in records]
    total = (f"{len(records)} scenarios, {grouped(sum(r['schedules'] for r in records))} schedules, "
             f"{sum(r['seconds'] for r in records):.0f} seconds on one core; the seed is in the stored results.")
    return table(["scenario", "what", "threads", "search", "schedules", "explored", "result"], rows) + "\n\n" + total


def mutants():
    rows = []
    records = {record["name"]: record for record in results("mutants")}
    for mutant in MUTANTS:
        place = f"`{mutant['file']}`, `{mutant['function']}`"
        change = f"{mutant['name'].replace('_', ' ')}: {mutant['change']}"
        if mutant["equivalent"]:
            rows.append([place, change, f"equivalent: {mutant['equivalent']}", ""])
            continue
        caught = records[mutant["name"]]["caught"]
        if caught is None:
            rows.append([place, change, "**not caught**", ""])
            continue
        by = f"Relacy, `{caught['scenario']}`" if caught["by"] == "relacy" else caught["by"]
        soon = f"schedule {grouped(caught['schedules'])}, " if caught["schedules"] else ""
        took = "" if caught["seconds"] is None else f"{caught['seconds']:.1f} s"  # unknown if it is from a log
        rows.append([place, change, f"{by}: {caught['error']}", (soon + took).rstrip(", ")])
    defects = [record for record in records.values() if not record["equivalent"]]
    caught = sum(record["caught"] is not None for record in defects)
    total = f"{len(defects)} mutants, {caught} caught; {sum(1 for m in MUTANTS if m['equivalent'])} more are equivalent."
    return table(["place", "change", "caught by", "how soon"], rows) + "\n\n" + total


def spin_mutants():
    changes = {m["name"]: m for m in json.loads((HERE / "spin/mutants.json").read_text(encoding="utf-8"))}
    records = results("spin_mutants")
    rows = [[changes[r["mutant"]]["code_place"], changes[r["mutant"]]["change"],
             f"`{r['scenario']}`: {kind_of(r['result'])}" if r["caught"] else "**not caught**",
             f"{grouped(r['states'])} states"] for r in records]
    total = f"{len(records)} mutants of the models, {sum(r['caught'] for r in records)} caught."
    return table(["place", "change", "caught by", "how soon"], rows) + "\n\n" + total


def kind_of(result):
    """SPIN's message, without the expanded macros."""
    if result == "invalid end state":
        return "hang"
    if "witnessed" in result:
        return "\"heap full\" said falsely"
    return "assertion" if "assertion" in result else result


def named_faults():
    """Those that plant.py plants because they are in its list."""
    records = json.loads((ROOT / "tests/faults/results/named.json").read_text(encoding="utf-8"))["faults"]
    rows = []
    for r in records:
        if r["found"]:
            verdict = f"`{r['found']['test']}`"
        else:
            verdict = f"equivalent: {r['why']}" if r["why"] else "**not found**"
        rows.append([f"`{pathlib.Path(r['file']).name}`", r["operator"], verdict])
    total = f"{len(records)} faults, {sum(r['found'] is not None for r in records)} found."
    return table(["file", "fault", "found by"], rows) + "\n\n" + total


def soak():
    rows = []
    for path in sorted((ROOT / "tests/soak/results").glob("*.json")):
        r = json.loads(path.read_text(encoding="utf-8"))
        wrong = sum(r[name] for name in ("doubled", "lost", "left_over", "damaged", "wrong_class", "miscounted"))
        rows.append([r["device"], grouped(r["operations"]), grouped(r["created"]), grouped(r["refused_full"]),
                     grouped(r["refused_contended"]), f"{r['seconds']:.0f}", wrong, f"{r['date']}, commit {r['commit']}"])
    return table(["device", "operations", "objects created", "refused, full", "refused, contended", "s",
                  "handed out twice, lost or damaged", "when"], rows)


TABLES = {CHECKERS: {"spin": spin, "relacy": relacy}, MUTANT_TABLES: {"mutants": mutants, "spin_mutants": spin_mutants},
          ALL_CHECKS: {"soak": soak}, FAULTS: {"named_faults": named_faults}}


def bring_up_to_date(page, tables):
    text = page.read_text(encoding="utf-8")
    new = text
    for name, make in tables.items():
        begin, end = f"<!-- checks:{name} -->", f"<!-- /checks:{name} -->"
        new, count = re.subn(f"{begin}.*?{end}", lambda _, make=make: f"{begin}\n\n{make()}\n\n{end}", new, flags=re.DOTALL)
        if count != 1:
            sys.exit(f"make_tables: {page} needs the markers {begin} and {end}, once")
    if "--check" in sys.argv[1:]:
        if new != text:
            sys.exit(f"make_tables: {page} is not up to date; run {pathlib.Path(__file__).name}")
    elif new != text:
        page.write_text(new, encoding="utf-8")
        print(f"make_tables: wrote {page.relative_to(ROOT)}")


def main():
    for page, tables in TABLES.items():
        bring_up_to_date(page, tables)


if __name__ == "__main__":
    main()
