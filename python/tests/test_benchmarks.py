"""linattn-bench on a few small rows: its CSV file has the documented columns and figures that agree with each other.

How fast anything is, is not tested.
"""

import csv
import pathlib
import re
import subprocess

import pytest

from linattn import runner

BENCH = runner.tool("linattn-bench")
PLOT = pathlib.Path(__file__).parents[2] / "benchmarks/plot.py"
PAGE = pathlib.Path(__file__).parents[2] / "docs/Benchmarks.md"
COLUMNS = ("operator,dtype,B,H,T,K,V,threads,plan,time_ms,spread,tokens_per_s,efficiency,pct_peak,"
           "speedup_onepass,speedup_hand").split(",")
pytestmark = pytest.mark.skipif(not BENCH.exists(), reason="linattn-bench is not built (libbenchmark-dev)")


def bench(*arguments):
    return subprocess.run([str(BENCH), "--benchmark_repetitions=2", "--cpu-time", *arguments], capture_output=True,
                          text=True, timeout=120)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("bench") / "rows.csv"
    done = bench("--quick", "--csv", str(path), "--filter", "(^scan|/H1/T(63|256)/).*threads1/default")
    assert done.returncode == 0, done.stdout + done.stderr
    return path


def test_columns_and_rows(table):
    with open(table, newline="", encoding="utf-8") as file:
        lines = csv.reader(file)
        assert next(lines) == COLUMNS
        rows = [dict(zip(COLUMNS, line)) for line in lines]
    found = {(row["operator"], row["T"], row["K"], row["V"]) for row in rows}
    assert found == ({(op, "256", "128", "128") for op in ["scalar", "gla", "gdn", "kda", "rwkv7"]}
                     | {(op, "256", "64", "64") for op in ["scalar", "gla", "gdn"]}
                     | {(op, "63", "128", "128") for op in ["scalar", "gdn"]}
                     | {("gdn-block", "256", "128", "128"), ("scan", "2048", "16", "2048")})
    assert len(rows) == len(found)
    for row in rows:
        assert (row["dtype"], row["B"], row["H"], row["threads"], row["plan"]) == ("f32", "1", "1", "1", "default")
        seconds = float(row["time_ms"]) / 1e3
        assert float(row["tokens_per_s"]) * seconds == pytest.approx(int(row["T"]), rel=1e-3)
        assert float(row["spread"]) >= 0
        # The efficiency counts operations as the per cent of peak does, unless memory is the limit.
        assert float(row["efficiency"]) >= float(row["pct_peak"]) / 100 * (1 - 1e-3) > 0
        assert float(row["speedup_onepass"]) > 0
        assert row["speedup_hand"] == "" or row["operator"] != "scan" and float(row["speedup_hand"]) > 0


def test_columns_are_documented():
    page = PAGE.read_text(encoding="utf-8")
    documented = re.findall(r"`(\w+)`", " ".join(line.split("|")[1] for line in page.splitlines()
                                                if line.startswith("| `")))
    assert documented == COLUMNS


def test_no_row_matches():
    done = bench("--filter", "no-such-row")
    assert done.returncode == 2
    assert "no row matches 'no-such-row'" in done.stderr


def test_plot(table, tmp_path):
    pytest.importorskip("matplotlib")
    subprocess.run(["/usr/bin/python3", str(PLOT), str(table), str(tmp_path / "plot.png")], check=True, timeout=120)
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
