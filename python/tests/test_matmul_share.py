"""The share of the state's flops in matmuls that linattn-chunk reports for whole bodies."""

import re
import subprocess

import pytest

from linattn import runner
from linattn.bodies import BODIES
from linattn.cases import Case
from linattn.emit import Writer

# A rank-1 state with ordinary arithmetic, and steps of several tokens already.
NOT_CHUNKED = {"hgrn", "block-causal"}


def remarks(body, key, value, chunk):
    text = Writer(Case(body, key=key, value=value)).text()
    command = [runner.tool("la-opt"), "-", f"--linattn-chunk=chunk={chunk}",
               "--remarks-filter=linattn-chunk", "--remark-format=emitRemark"]
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=True).stderr


@pytest.mark.skipif(not runner.tool("la-opt").exists(), reason="la-opt is not built")
@pytest.mark.parametrize("body", sorted(BODIES.keys() - NOT_CHUNKED))
def test_share(body):
    printed = re.search(r"chunks of 32 tokens, (\d+) % of the state's flops in matmuls",
                        remarks(body, 128, 128, 32))
    assert printed and 80 <= int(printed.group(1)) <= 100
