"""Every operation, in every version that knows it, with every choice of its optional fields, survives writing and
reading unchanged."""

import pytest
from bytecode_programs import INSTRUCTIONS, variants

from tileir import bytecode
from tileir.ir.compare import identical
from tileir.ir.diagnostics import DiagnosticError
from tileir.ir.versions import VERSIONS, version_key

CASES = [(op, version) for version in VERSIONS for op in INSTRUCTIONS if op.spec.since <= version]


@pytest.mark.parametrize(("op", "version"), CASES, ids=[f"{op.spec.name}-{version}" for op, version in CASES])
def test_writing_then_reading_gives_the_same_module(op, version):
    for module in variants(op, version_key(version)):
        data = bytecode.encode(module, version)
        again = bytecode.decode(data)
        assert identical(module, again)
        assert bytecode.encode(again, version) == data


@pytest.mark.parametrize("op", INSTRUCTIONS, ids=[op.spec.name for op in INSTRUCTIONS])
def test_the_lowest_version_is_the_first_that_can_write_the_module(op):
    for module in variants(op, version_key(VERSIONS[-1])):
        data = bytecode.encode(module)
        lowest = f"{data[8]}.{data[9]}"
        assert data == bytecode.encode(module, lowest)
        for older in VERSIONS[: VERSIONS.index(lowest)]:
            with pytest.raises(DiagnosticError) as raised:
                bytecode.encode(module, older)
            assert set(raised.value.codes) == {"E0951"}
            assert all("needs bytecode version" in fault.message for fault in raised.value.diagnostics)
