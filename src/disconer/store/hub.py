"""Publishing a model on the Hugging Face Hub. No torch here."""

from __future__ import annotations

from pathlib import Path

from disconer.core.errors import DisconerError, Where, first_line
from disconer.store.names import CARD

_FOLDER = 'from_pretrained("FOLDER")  # the folder of this file'


def push_folder(
    folder: Path, repo_id: str, *, private: bool | None = None, token: str | None = None, message: str = "Add model"
) -> str:
    """Upload a model's folder to a repository, which is created if there is none. Returns its address.

    private: whether a new repository is; None: the account's setting. token: of the account; None: the one that is
    logged in.
    """
    from huggingface_hub import HfApi

    card = folder / CARD
    if card.is_file():
        card.write_text(card_on_hub(card.read_text("utf-8"), repo_id), "utf-8")
    api = HfApi(token=token)
    try:
        address = api.create_repo(repo_id, private=private, exist_ok=True)
        api.upload_folder(repo_id=repo_id, folder_path=folder, commit_message=message)
    except Exception as error:  # whatever the library or its HTTP client raises: nothing was published
        raise DisconerError(
            "The model could not be pushed to the Hub",
            where=Where(repo_id),
            got=first_line(error),
            fix="Check the name, the connection, and that the token (`hf auth login`, or $HF_TOKEN) may write.",
        ) from error
    return str(address)


def card_on_hub(card: str, repo_id: str) -> str:
    """A card whose examples load the model from the Hub."""
    return card.replace(_FOLDER, f'from_pretrained("{repo_id}")').replace("--model FOLDER", f"--model {repo_id}")
