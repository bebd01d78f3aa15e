"""The command as a whole: verbs, help, exit statuses, broken pipes, quickness."""

import subprocess
import sys
from pathlib import Path

import pytest

from tileir.cli import VERBS


def process(*arguments: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "tileir", *arguments], capture_output=True, text=True, **options)


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_every_verb_has_an_example(tileir, verb: str) -> None:
    ran = tileir(verb, "--help")
    assert ran.status == 0
    assert f"  tileir {verb}" in ran.out.partition("examples:")[2]


def test_help_lists_every_verb(tileir) -> None:
    ran = tileir("--help")
    assert ran.status == 0
    for verb, (_, text) in VERBS.items():
        assert f"{verb} " in ran.out
        assert text in ran.out


def test_without_a_verb_help_is_shown_and_the_status_is_usage(tileir) -> None:
    ran = tileir()
    assert ran.status == 2
    assert "verbs:" in ran.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chek"], "no verb 'chek'; did you mean 'check'?"),
        (["xyzzy"], "expected one of check, opt"),
        (["--bogus"], "unrecognized arguments: --bogus"),
        (["check"], "required: FILE"),
        (["check", "--bogus", "a.mlir"], "unrecognized arguments: --bogus"),
        (["run"], "required: FILE\n"),
        (["equiv", "a.mlir"], "required: B\n"),
        (["triton"], "required: SCRIPT.py\n"),
        (["check", "--level", "12.0", "a.mlir"], "invalid choice: '12.0'"),
        (["as", "a.mlir"], "required: -o"),
    ],
)
def test_wrong_usage_is_one_line_and_a_hint(tileir, arguments: list[str], message: str) -> None:
    ran = tileir(*arguments)
    assert ran.status == 2
    assert message in ran.err
    assert "hint: see 'tileir" in ran.err
    assert ran.out == ""


@pytest.mark.parametrize(
    "arguments", [["check", "no.mlir"], ["opt", "no.mlir"], ["run", "no.mlir", "--grid", "1"], ["dis", "no.mlir"]]
)
def test_a_missing_file_is_wrong_usage(tileir, arguments: list[str]) -> None:
    ran = tileir(*arguments)
    assert ran.status == 2
    assert ran.err == f"tileir {arguments[0]}: error: cannot read 'no.mlir': no such file or directory\n"


def test_a_folder_is_no_program(tileir) -> None:
    assert "is a directory" in tileir("check", ".").err


def test_the_version_is_shown(tileir) -> None:
    assert tileir("--version").out.startswith("tileir 0.")


def imported(*arguments: str) -> set[str]:
    """The modules that a command has imported when it ends; a small program is its standard input."""
    code = "import sys\nfrom tileir.cli import main\ntry: main(sys.argv[1:])\nexcept SystemExit: pass\n"
    code += "print(*sys.modules, file=sys.stderr)"
    command = [sys.executable, "-c", code, *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, input="entry @k() {\n}\n")
    return set(ran.stderr.splitlines()[-1].split())


def test_help_imports_no_verb_and_no_library() -> None:
    found = imported("--help")
    assert not found & {"numpy", "rich", "ml_dtypes", "llvmlite", "pygments", "asyncio", "multiprocessing"}
    assert not found & {f"tileir.cli.{verb}" for verb in VERBS}


def test_a_verb_imports_no_other_verb_nor_what_it_does_not_need() -> None:
    found = imported("check", "-")
    assert not found & {"numpy", "llvmlite", "ml_dtypes", "tileir.interp.machine", "tileir.cpu.rules"}
    assert {f"tileir.cli.{verb}" for verb in VERBS} & found == {"tileir.cli.check"}


def test_a_reader_that_leaves_early_is_no_error() -> None:
    ran = process("opt", "-", stdin=subprocess.DEVNULL)
    assert ran.returncode == 2
    shell = f"{sys.executable} -m tileir explain | head -n 1"
    piped = subprocess.run(["bash", "-o", "pipefail", "-c", shell], capture_output=True, text=True)
    assert piped.stderr == ""
    assert piped.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("arguments", ["explain", "check examples/saxpy.mlir", "opt examples/saxpy.mlir", "info"])
def test_a_full_disk_is_said_in_one_line(arguments: str) -> None:
    command = [sys.executable, "-m", "tileir", *arguments.split()]
    with open("/dev/full", "w") as full:
        ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (2, "tileir: error: cannot write the output: no space left on device\n")


def test_python_m_tileir_is_the_command() -> None:
    ran = process("info")
    assert ran.returncode == 0
    assert "interp" in ran.stdout
