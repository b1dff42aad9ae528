"""A `%%roundtable` cell becomes an await where one can be, and its body arrives byte for byte."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.async_helpers import _asyncio_runner, _trio_runner
from IPython.core.inputtransformer2 import TransformerManager

from rt_notebook.frontends import cell_transform
from rt_notebook.frontends.cell_transform import install, outer_magics, remove, split_cell


class Shell(SimpleNamespace):
    """The part of IPython's shell that the transformer sees, around its real transformers."""

    def __init__(self) -> None:
        manager = TransformerManager()  # type: ignore[no-untyped-call]
        super().__init__(
            manager=manager,
            input_transformers_cleanup=manager.cleanup_transforms,
            autoawait=True,
            loop_runner=_asyncio_runner,
            user_ns={},
        )
        install(self)

    def transform(self, cell: str) -> str:
        return str(self.manager.transform_cell(cell))


def _called(code: str) -> tuple[str, list[Any], bool]:
    """Returns the function a transformed cell calls, its arguments, and whether it is awaited."""
    (statement,) = ast.parse(code).body
    assert isinstance(statement, ast.Expr)
    awaited = isinstance(statement.value, ast.Await)
    call = statement.value.value if isinstance(statement.value, ast.Await) else statement.value
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Attribute)
    return call.func.attr, [ast.literal_eval(argument) for argument in call.args], awaited


def _lines(cell: str) -> list[str]:
    return cell.splitlines(keepends=True)


def test_cell_becomes_await_of_runner() -> None:
    code = Shell().transform("%%roundtable pay  --rounds 2 \nShip?\n")
    assert _called(code) == ("run_cell_async", ["pay  --rounds 2", "Ship?\n", ()], True)


def test_comments_and_blank_lines_may_stand_above() -> None:
    code = Shell().transform("\n# first\n   # second\n\n%%roundtable\nShip?\n")
    assert _called(code)[1] == ["", "Ship?\n", ()]


def test_time_and_capture_stack_in_order() -> None:
    code = Shell().transform("%%time\n# why\n%%capture out\n%%roundtable\nShip?\n")
    assert _called(code)[1] == ["", "Ship?\n", (("time", ""), ("capture", "out"))]


@pytest.mark.parametrize(
    "cell",
    [
        "print(1)\n",
        "%%bash\n%%roundtable\nShip?\n",
        "%%time --no-raise-error\n%%roundtable\nShip?\n",
        "x = 1\n%%roundtable\nShip?\n",
        "%%roundtables\nShip?\n",
        "%roundtable status\n",
        "%%roundtable?\n",
        "# only a comment\n",
        "",
    ],
)
def test_other_cells_stay_as_they_are(cell: str) -> None:
    assert split_cell(_lines(cell)) is None


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_body_arrives_byte_for_byte(body: str) -> None:
    # IPython itself ends every cell with a line break, and so do its own cell magics' bodies.
    expected = body if body.endswith("\n") or not body else body + "\n"
    code = Shell().transform(f"%%roundtable\n{body}")
    assert _called(code)[1] == ["", expected, ()]


def test_body_that_looks_like_prompts_is_kept() -> None:
    body = ">>> import this\n... \nIn [1]: 1\n   indented {x} $y\n\\"
    assert _called(Shell().transform(f"%%roundtable\n{body}\n"))[1][1] == body + "\n"


def test_pasted_and_indented_cells_are_found() -> None:
    shell = Shell()
    assert _called(shell.transform("    %%roundtable\n    Ship?\n"))[1] == ["", "Ship?\n", ()]
    pasted = shell.transform("In [3]: %%roundtable a\n   ...: Ship?\n")
    assert _called(pasted)[1] == ["a", "Ship?\n", ()]


async def _run_code(shell: Shell, cell: str) -> str:
    return shell.transform(cell)


@pytest.fixture
def in_running_cell() -> Any:
    """Gives the function a call stack like that of a running cell."""
    source = "async def run_code(shell, cell):\n    return shell.transform(cell)\n"
    names: dict[str, Any] = {}
    exec(compile(source, "/somewhere/interactiveshell.py", "exec"), names)  # noqa: S102
    return names["run_code"]


@pytest.mark.asyncio
async def test_nested_cell_runs_synchronously(in_running_cell: Any) -> None:
    code = await in_running_cell(Shell(), "# why\n%%roundtable --rounds 2\nShip?\n")
    assert _called(code) == ("run_cell_sync", ["--rounds 2", "Ship?\n"], False)


@pytest.mark.asyncio
async def test_nested_stacked_magics_are_left_to_ipython(in_running_cell: Any) -> None:
    code = await in_running_cell(Shell(), "%%time\n%%roundtable\nShip?\n")
    assert code == "get_ipython().run_cell_magic('time', '', '%%roundtable\\nShip?\\n')\n"


@pytest.mark.asyncio
async def test_loop_alone_is_not_nesting() -> None:
    assert _called(await _run_code(Shell(), "%%roundtable\nShip?\n"))[2]


@pytest.mark.parametrize(
    "setting", [{"autoawait": False}, {"loop_runner": _trio_runner}], ids=["off", "trio"]
)
def test_without_asyncio_autoawait_cell_is_synchronous(setting: dict[str, Any]) -> None:
    shell = Shell()
    vars(shell).update(setting)
    assert _called(shell.transform("%%roundtable\nShip?\n")) == (
        "run_cell_sync",
        ["", "Ship?\n"],
        False,
    )


def test_terminal_lets_person_type_body() -> None:
    manager = Shell().manager
    assert manager.check_complete("%%roundtable\nShip?")[0] == "incomplete"
    assert manager.check_complete("%%roundtable\nShip?\n\n")[0] == "complete"


def test_install_twice_and_remove_leave_no_trace() -> None:
    shell = Shell()
    before = list(TransformerManager().cleanup_transforms)  # type: ignore[no-untyped-call]
    install(shell)
    ours = [step for step in shell.input_transformers_cleanup if step not in before]
    assert len(ours) == 2
    assert ours[0] is ours[1]
    remove(shell)
    assert shell.input_transformers_cleanup == before


def test_transformer_of_earlier_load_is_replaced() -> None:
    shell = Shell()
    earlier = type("CellTransformer", (), {"__module__": cell_transform.__name__})
    shell.input_transformers_cleanup.append(earlier())
    install(shell)
    kinds = [type(step) for step in shell.input_transformers_cleanup]
    assert earlier not in kinds


def test_time_is_printed_after_error_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="no"), outer_magics(Shell(), [("time", "")]):
        raise ValueError("no")
    printed = capsys.readouterr().out
    assert printed.startswith("CPU times: ")
    assert "Wall time: " in printed


def test_captured_output_lands_in_its_variable(capsys: pytest.CaptureFixture[str]) -> None:
    shell = Shell()
    with outer_magics(shell, [("time", ""), ("capture", "out --no-stderr")]):
        print("inside")
    assert shell.user_ns["out"].stdout == "inside\n"
    assert "inside" not in capsys.readouterr().out
