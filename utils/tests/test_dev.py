"""utils/dev setup and the command line, with stand-ins for dpkg, apt and sudo: nothing is installed."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Each stand-in works in the folder $STATE: `lacking` lists the packages that are not installed, `log` what was called.
STANDINS = {
    "dpkg-query": """name="${@: -1}"
grep -qx "$name" "$STATE/lacking" && { echo "dpkg-query: no packages found" >&2; exit 1; }
echo -n installed""",
    "apt-get": """echo "apt-get $*" >> "$STATE/log"
if [ -e "$STATE/locks" ] && [ -s "$STATE/locks" ]; then
  sed -i 1d "$STATE/locks"
  echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1 (apt-get)" >&2
  exit 100
fi
case "$*" in *install*) [ ! -e "$STATE/broken" ] || exit 100; : > "$STATE/lacking" ;; esac""",
    "apt-cache": """grep -qx "$2" "$STATE/unknown" && exit 0
printf '%s:\\n  Installed: (none)\\n  Candidate: 1:22.1.8-1\\n' "$2" """,
    "sudo": """echo "sudo $*" >> "$STATE/log"
exec "$@" """,
    "sleep": """echo "sleep $*" >> "$STATE/log" """,
    "id": 'cat "$STATE/uid"',
}


@pytest.fixture
def machine(tmp_path):
    """Returns run(uid, lacking, unknown, locks, sudo) -> (exit code, output, calls)."""

    def run(uid="0", lacking=(), unknown=(), locks=0, broken=False, arguments=("setup",)):
        commands = tmp_path / "bin"
        commands.mkdir()
        for name, script in STANDINS.items():
            (commands / name).write_text(f"#!/bin/bash\n{script}\n")
            (commands / name).chmod(0o755)
        for name, lines in {"lacking": lacking, "unknown": unknown, "locks": ["x"] * locks, "uid": [uid]}.items():
            (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
        if broken:
            (tmp_path / "broken").touch()
        (tmp_path / "log").touch()
        environment = dict(os.environ, STATE=str(tmp_path), PATH=f"{commands}:{os.environ['PATH']}")
        result = subprocess.run(["bash", str(ROOT / "utils/dev"), *arguments], env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, check=False)
        return result.returncode, result.stdout, (tmp_path / "log").read_text()

    return run


def test_setup_calls_nothing_when_all_is_there(machine):
    code, output, calls = machine()
    assert (code, output, calls) == (0, "== all packages are installed\n", "")


def test_setup_installs_only_what_is_missing(machine):
    code, output, calls = machine(lacking=["ccache", "lld-22"])
    assert code == 0, output
    assert "== installing: lld-22 ccache\n" in output
    assert "install -y --no-install-recommends lld-22 ccache\n" in calls
    assert "sudo" not in calls


def test_setup_uses_sudo_unless_root(machine):
    code, output, calls = machine(uid="1000", lacking=["ccache"])
    assert code == 0, output
    assert all(line.startswith(("sudo ", "apt-get ")) for line in calls.splitlines())
    assert calls.count("sudo ") == 2


def test_setup_waits_for_a_lock(machine):
    code, output, calls = machine(lacking=["ccache"], locks=2)
    assert code == 0, output
    assert output.count("another process holds apt's lock; trying again in 10 seconds") == 2
    assert calls.count("sleep 10") == 2
    assert calls.count(" update") == 3


def test_setup_gives_up_on_a_lock(machine):
    code, output, calls = machine(lacking=["ccache"], locks=1000)
    assert code == 1
    assert "another process has held apt's lock for 15 minutes" in output
    assert calls.count("sleep 10") == 90


def test_setup_says_where_llvm_is(machine):
    code, output, calls = machine(lacking=["libmlir-22-dev", "ccache"], unknown=["libmlir-22-dev"])
    assert code == 1
    assert "apt does not offer: libmlir-22-dev\n" in output
    assert "bookworm-security" in output
    assert "install -y" not in calls


def test_setup_reports_a_failed_installation(machine):
    code, output, _ = machine(lacking=["ccache"], broken=True)
    assert code == 1
    assert "apt could not install the packages above" in output


@pytest.mark.parametrize(
    "arguments, text",
    [
        (["frobnicate"], "there is no command 'frobnicate'"),
        (["test", "--fast"], "'test' does not take '--fast'"),
        (["build", "--preset", "fast"], "expected preset release, debug or gcc, got 'fast'"),
        (["setup", "--full"], "'setup' does not take '--full'"),
    ],
)
def test_wrong_command_lines(machine, arguments, text):
    code, output, calls = machine(arguments=arguments)
    assert code != 0
    assert text in output
    assert calls == ""


def test_help(machine):
    code, output, _ = machine(arguments=["help"])
    assert code == 0
    assert "usage: utils/dev COMMAND" in output
