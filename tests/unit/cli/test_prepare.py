"""What `nmt prepare` says of a preparation that was interrupted."""

from pathlib import Path

import pytest

from nmt_cli.api.prepare import PrepareRequest
from nmt_cli.cli.prepare import offer_resumption
from nmt_cli.cli.render import Screen
from nmt_cli.corpus.config import PrepareOptions
from nmt_cli.corpus.steps.workspace import locate_workspace


@pytest.mark.parametrize("is_kept", [True, False])
def test_an_interruption_names_the_command_that_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], is_kept: bool
) -> None:
    data = tmp_path / "data"
    request = PrepareRequest(corpus=("a b.tsv=2",), config=PrepareOptions(seed=3), data=data, force=True)
    if is_kept:
        locate_workspace(data).mkdir()
    with pytest.raises(KeyboardInterrupt), offer_resumption(Screen(), request):
        raise KeyboardInterrupt
    said = "".join(capsys.readouterr().err.split())
    command = f"nmt prepare 'a b.tsv=2' --seed 3 --data {data} --force --resume"
    assert ("".join(command.split()) in said) == is_kept
    assert is_kept or said == "interrupted:nothingwassaved"
