"""Keys: where they come from, what is said when one is missing, and that none is ever shown."""

from __future__ import annotations

import logging
import pickle
import traceback

import pytest

from rt_notebook.errors import CallError, SeatError
from rt_notebook.providers.api import api_provider, check_api
from rt_notebook.providers.api_doors import KEY_VARIABLES, open_door
from tests.providers.api.sitting import CANARY, MODELS, VENDORS, Sitting
from tests.wire.script import Fail, Raw, Say, Step, ToolUse

pytestmark = pytest.mark.filterwarnings("ignore:.*will reach end-of-life:DeprecationWarning")

every_vendor = pytest.mark.parametrize("vendor", VENDORS)


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai:gpt-5", "OPENAI_API_KEY"),
        ("openai-chat:gpt-4o", "OPENAI_API_KEY"),
        ("anthropic:claude-sonnet-4-6", "ANTHROPIC_API_KEY"),
        ("google:gemini-2.5-pro", "GOOGLE_API_KEY"),
        ("openrouter:a/b", "OPENROUTER_API_KEY"),
    ],
)
def test_missing_key_names_its_variable(model: str, variable: str) -> None:
    with pytest.raises(SeatError, match=variable) as caught:
        check_api(model, seat="Ada", environ={})
    assert str(caught.value) == (
        f"seat 'Ada': no key: set the environment variable {variable}, "
        "or name another one with api_key_env"
    )


def test_named_variable_is_the_only_one_read() -> None:
    with pytest.raises(SeatError, match="set the environment variable MY_KEY"):
        open_door("openai:gpt-5", api_key_env="MY_KEY", environ={"OPENAI_API_KEY": CANARY})


def test_empty_key_is_a_missing_one() -> None:
    with pytest.raises(SeatError, match="OPENAI_API_KEY"):
        open_door("openai:gpt-5", environ={"OPENAI_API_KEY": " \n"})


@pytest.mark.parametrize("variable", KEY_VARIABLES["google"])
def test_google_takes_either_variable(variable: str) -> None:
    door = open_door("google:gemini-2.5-pro", environ={variable: CANARY})
    assert (door.key, door.key_variable) == (CANARY, variable)


def test_line_break_behind_key_is_dropped() -> None:
    assert open_door("openai:gpt-5", environ={"OPENAI_API_KEY": f"{CANARY}\r\n"}).key == CANARY


def test_process_environment_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)
    assert open_door("anthropic:claude-sonnet-4-6").key == CANARY


def test_reprs_hide_the_key() -> None:
    door = open_door("openai:gpt-5", environ={"OPENAI_API_KEY": CANARY})
    provider = api_provider("openai:gpt-5", environ={"OPENAI_API_KEY": CANARY})
    assert CANARY not in f"{door!r} {door} {provider!r} {provider}"
    assert repr(provider) == "ApiProvider(openai:gpt-5)"


LEAKS: dict[str, Step] = {
    "echoed in an error": Fail(401, f"Incorrect API key provided: {CANARY}. Find yours at ..."),
    "masked in an error": Fail(401, f"Incorrect API key provided: {CANARY[:12]}*****{CANARY[-4:]}"),
    "echoed as a header": Fail(400, f'{{"authorization": "Bearer {CANARY}"}}'),
    "echoed in a page": Raw(f"<html>Bearer {CANARY}</html>".encode(), "text/html"),
    "echoed as JSON": Raw(f'{{"key": "{CANARY}"'.encode()),
    "echoed in a refusal": Say(f"I know {CANARY}", stop="refusal"),
    "dropped after an echo": Say(f"{CANARY} and more words to come", ends="drop", pieces=2),
    "a good answer": Say("fine"),
}


@every_vendor
@pytest.mark.asyncio
@pytest.mark.parametrize("leak", LEAKS)
async def test_key_is_shown_nowhere(
    sitting: Sitting, vendor: str, leak: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    sitting.wire.script(LEAKS[leak])
    shown = ""
    try:
        shown += repr(await sitting.ask(vendor))
    except CallError as error:
        shown += f"{error!s} {error!r} {error.facts} {error._render_traceback_()}"
        shown += repr(pickle.loads(pickle.dumps(error)))  # noqa: S301  (our own)
    shown += caplog.text

    assert CANARY not in shown
    assert CANARY[3:20] not in shown
    assert sitting.last.key == CANARY, "it did pay for the call"


@every_vendor
@pytest.mark.asyncio
async def test_traceback_hides_the_key(sitting: Sitting, vendor: str) -> None:
    sitting.wire.script(Fail(401, f"Incorrect API key provided: {CANARY}"))
    error = await sitting.fail(vendor)
    assert CANARY not in "".join(traceback.format_exception(error))


@pytest.mark.asyncio
async def test_key_that_breaks_header_is_hidden(sitting: Sitting) -> None:
    sitting.environ = {"THE_KEY": f"{CANARY}\n{CANARY}ü"}
    error = await sitting.fail("chat")
    assert CANARY not in f"{error} {error.facts}"


@pytest.mark.asyncio
async def test_prompt_stays_out_of_errors(sitting: Sitting) -> None:
    sitting.wire.script(Fail(500), Say("", tools=(ToolUse("nothing", {}),)))
    error = await sitting.fail("chat")
    assert "Be brief." not in f"{error} {error.facts}"


@pytest.mark.asyncio
@every_vendor
async def test_other_keys_stay_at_home(
    sitting: Sitting, vendor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variables in KEY_VARIABLES.values():
        for variable in variables:
            monkeypatch.setenv(variable, "sk-somebody-elses-0123456789")
    await sitting.ask(vendor)
    assert "somebody" not in f"{sitting.last.headers} {sitting.last.path} {sitting.last.body}"


def test_every_vendor_model_can_be_made() -> None:
    for model in MODELS.values():
        check_api(model, base_url="http://127.0.0.1:9", api_key_env="K", environ={"K": CANARY})
