#!/usr/bin/python3
"""Draw a CSV file of `utils/dev bench --csv` as a PNG: the efficiency of every row, beside its baselines."""

import argparse
import csv
import sys


def label(row):
    threads = "" if row["threads"] == "1" else f" {row['threads']} threads"
    plan = "" if row["plan"] == "default" else f" {row['plan']}"
    size = f"D{row['K']}" if row["K"] == row["V"] else f"K{row['K']} V{row['V']}"
    return f"{row['operator']} {row['dtype']} B{row['B']} H{row['H']} T{row['T']} {size}{threads}{plan}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("csv", help="from utils/dev bench --csv")
    parser.add_argument("png", help="the picture to write")
    args = parser.parse_args()
    with open(args.csv, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        sys.exit(f"plot.py: {args.csv} has no rows")
    try:
        import matplotlib
    except ImportError:
        sys.exit("plot.py: matplotlib is not installed; on Debian: apt-get install python3-matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    places = range(len(rows))
    efficiencies = [float(row["efficiency"]) for row in rows]
    figure, axes = pyplot.subplots(figsize=(9, 1.5 + 0.22 * len(rows)), layout="tight")
    axes.barh(places, efficiencies, xerr=[e * float(row["spread"]) / 2 for e, row in zip(efficiencies, rows)],
              color="tab:blue", alpha=0.7, label="compiled (bar: half the spread either way)")
    for column, marker, name in [("speedup_onepass", "o", "token loop in C++"), ("speedup_hand", "D", "by hand")]:
        points = [(e / float(row[column]), place) for e, row, place in zip(efficiencies, rows, places) if row[column]]
        axes.scatter([x for x, _ in points], [y for _, y in points], marker=marker, s=18, zorder=3, label=name,
                     color="black" if marker == "D" else "tab:orange")
    axes.set_yticks(places, [label(row) for row in rows], fontsize=7)
    axes.invert_yaxis()
    axes.margins(y=0.01)
    axes.set_xlim(0, min(1.25, 1.05 * max(axes.get_xlim()[1], 0.1)))  # more than 1 is noise
    axes.set_xlabel("efficiency: the least time the recurrence needs on this machine / time")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="lower right", fontsize=7)
    figure.savefig(args.png, dpi=150)


if __name__ == "__main__":
    main()
