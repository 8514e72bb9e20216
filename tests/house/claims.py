#!/usr/bin/env python3
"""README's table of claims, made from the records of studies.

    claims.py                   fails if README.md or the records' claims.md differ from what the records give
    claims.py --write           writes both
    claims.py --take REPORT NAME   keeps the numbers and verdicts of REPORT/report.json, as
                                datasets/reference_runs/studies/NAME.json

resources/readme/claims.md is the table with places: {NAME:NUMBER} is a number of a record, "0.628 ± 0.005" as
.628 ± .005. {NAME!ROW} is the verdict of a comparison with its first operator, as `compare` of a report has
it: yes, no or undecided after p_ROW < .05 and the sign of difference_ROW. {NAME?RELATION} is that of a claim,
{NAME=RELATION} the number on its left. {TASK@COLUMN@OPERATOR|D} is a cell of datasets/reference_runs/tasks/TASK.md, {TASK@?@OPERATOR|D} whether the
operator is better there than the first one.
"""
import json
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[2]
RECORDS = SOURCE / "datasets/reference_runs/studies"
TASKS = SOURCE / "datasets/reference_runs/tasks"
TABLE = SOURCE / "resources/readme/claims.md"
HEAD = "| claim |"


def take(report, name):
    record = json.loads((pathlib.Path(report) / "report.json").read_text())
    numbers = {key: {part: number[part] for part in ("text", "value", "low", "high")}
               for key, number in record["numbers"].items()}
    lines = ",\n".join(f" {json.dumps(key)}: {json.dumps(number, ensure_ascii=False)}"
                       for key, number in numbers.items())
    claims = ",\n".join(f" {json.dumps(claim, ensure_ascii=False)}" for claim in record["claims"])
    (RECORDS / f"{name}.json").write_text(
        f'{{"program": {json.dumps(record["program"])}, "numbers": {{\n{lines}\n}}, "claims": [\n{claims}\n]}}\n')


def short(text):
    """A number without the zero before its point."""
    return re.sub(r"\b0\.(?=\d)", ".", text)


def verdict(numbers, row):
    if not numbers[f"p_{row}"]["value"] < .05:
        return "undecided"
    return "yes" if numbers[f"difference_{row}"]["value"] > 0 else "no"


def cell(task, column, row):
    """A cell of the table of a task, whose row begins with these words."""
    lines = (TASKS / f"{task}.md").read_text().splitlines()
    table = [line.strip("|").replace(" ", "").split("|") for line in lines if line.startswith("|")]
    [line] = [line for line in table if line[:row.count("|") + 1] == row.split("|")]
    if column == "?":
        ahead = line[3].startswith("-") == (table[0][2] in ("bits", "error"))
        return "undecided" if float(line[4]) >= .05 else "yes" if ahead else "no"
    return line[table[0].index(column)].replace("±", " ± ")


def filled(place):
    """What stands for {NAME:NUMBER} and the like."""
    name, kind, what = re.fullmatch(r"([\w-]+?)([:!?=@])(.+)", place).groups()
    if kind == "@":
        return short(cell(name, *what.split("@")))
    record = json.loads((RECORDS / f"{name}.json").read_text())
    if kind == ":":
        number = record["numbers"][what]
        return short(f"{number['value']:.2g}" if what.startswith("p_") else number["text"])
    if kind == "!":
        return verdict(record["numbers"], what)
    [claim] = [claim for claim in record["claims"] if claim["relation"].replace("{", "").replace("}", "") == what]
    if kind == "=":
        return short(claim["left"])
    return {"agrees": "yes", "does not agree": "no"}.get(claim["verdict"], claim["verdict"])


def readme():
    """README.md with the table as the records give it."""
    lines = (SOURCE / "README.md").read_text().splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith(HEAD))
    end = next(i for i in range(begin, len(lines)) if not lines[i].startswith("|"))
    table = [re.sub(r"\{([\w-]+?[:!?=@][^}]+)\}", lambda m: filled(m[1]), line)
             for line in TABLE.read_text().splitlines() if line.startswith("|")]
    return "\n".join(lines[:begin] + table + lines[end:]) + "\n"


def all_claims():
    """claims.md: every claim of every record with its verdict."""
    text = "# Every claim of the studies, and what was measured\n"
    for path in sorted(RECORDS.glob("*.json")):
        claims = json.loads(path.read_text())["claims"]
        if not claims:
            continue
        text += f"\n## {path.stem}\n\n| claim | relation | its left side | holds |\n|---|---|---|---|\n"
        for claim in claims:
            relation = claim["relation"].replace("{", "").replace("}", "")
            text += f"| {claim['says']} | {relation} | {claim['left']} | {claim['verdict']} |\n"
    return text


def main():
    if sys.argv[1:2] == ["--take"]:
        return take(*sys.argv[2:])
    for path, expected in ((SOURCE / "README.md", readme()), (RECORDS / "claims.md", all_claims())):
        if sys.argv[1:] == ["--write"]:
            path.write_text(expected)
        found = path.read_text().splitlines()
        for a, b in zip(expected.splitlines(), found):
            if a != b:
                sys.exit(f"{path.name}: differs from the records (tests/house/claims.py --write):\n  {b}\n  {a}")
        if len(expected.splitlines()) != len(found):
            sys.exit(f"{path.name}: has another number of lines than the records give")
    print(f"{sum(line.startswith('|') for line in TABLE.read_text().splitlines()) - 2} claims agree with their records")


if __name__ == "__main__":
    main()
