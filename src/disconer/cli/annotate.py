"""`disconer annotate`: a page to make, correct and accept entities, and to train a model on them."""

from __future__ import annotations

import getpass
import logging
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from disconer.cli.serve import HOST, LOOPBACK, NEEDED, TOKEN_VARIABLE
from disconer.core.counting import counted
from disconer.core.errors import DisconerError
from disconer.core.plugins import require
from disconer.formats import format_named, note_unread
from disconer.formats.source import Source

if TYPE_CHECKING:
    from disconer.annotate.project import Settings  # loaded when the command runs: it needs the extra
    from disconer.annotate.suggestions import Suggester
    from disconer.annotate.trainer import Status, Trainer
    from disconer.annotate.workspace import Workspace

PORT = 8010
PAUSE = 0.5  # seconds between two checks on a training run


def annotate(settings: Settings, *, host: str = HOST, port: int = PORT, token: str | None = None) -> None:
    """Serve the page until a signal stops the process."""
    from disconer.annotate.app import LIMITS, create_app
    from disconer.annotate.project import Project
    from disconer.serve.server import bound_socket, make_server

    local = host.startswith(LOOPBACK) or host == "localhost"
    if not local and token is None:
        raise DisconerError(
            f"Anyone who can reach {host} could change your annotations",
            fix=f"Set a token: --token or ${TOKEN_VARIABLE}; or leave out --host.",
        )
    with bound_socket(host, port) as bound:
        project = Project(settings, load_suggester)
        if settings.path.is_dir():
            note_unread(Source(settings.path), format_named("brat"), texts=True)
        for name in settings.annotators if settings.each_in else settings.annotators[:1]:
            _warn_of_unreadable(project.workspace(name))
        if missing := project.never_suggested:
            print(f"note: the model lacks these labels and cannot suggest them: {', '.join(missing)}", file=sys.stderr)
        app = create_app(project, token=token, local=local)
        logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
        address, its_port = bound.getsockname()[:2]
        shown = f"[{address}]" if ":" in address else address
        where = f"annotate {settings.path} on http://{shown}:{its_port} (Ctrl-C to stop)"
        server = make_server(app, LIMITS, on_start=lambda: print(where, file=sys.stderr, flush=True))
        server.run(sockets=[bound])
        project.trainer.stop()


def _warn_of_unreadable(workspace: Workspace) -> None:
    """Say how many documents cannot be read, and why the first of them cannot."""
    if not (ids := workspace.unreadable()):
        return
    try:
        workspace.open(ids[0])
    except DisconerError as error:
        reason = error.without_skipping()
        print(f"warning: {counted(len(ids), 'documents')} cannot be read, the first: {reason}", file=sys.stderr)


def train_on_done(settings: Settings) -> Status:
    """Train on what is done, as the page's button does, and wait for the result."""
    from disconer.annotate.project import Project

    project = Project(settings, load_suggester)
    project.train(settings.annotators[0])
    _follow(project.trainer)
    return project.trainer.wait()


def _follow(trainer: Trainer) -> None:
    """Print each epoch as it ends."""
    status, shown = trainer.status(), 0
    print(
        f"training on {counted(status.n_train, 'documents')}, measuring on {status.n_dev}", file=sys.stderr, flush=True
    )
    while (status := trainer.status()).is_running:
        for epoch, f1 in enumerate(status.dev_f1[shown:], shown + 1):
            print(f"epoch {epoch} of at most {status.epochs}  dev F1 {f1:.2f}", file=sys.stderr, flush=True)
        shown = len(status.dev_f1)
        time.sleep(PAUSE)


def load_suggester(model: str) -> Suggester:
    from disconer.annotate.suggestions import Suggester
    from disconer.predict.recognizer import Recognizer
    from disconer.serve.service import model_names

    print(f"loading {model} …", file=sys.stderr, flush=True)
    (name,) = model_names([model])
    parts = Path(model).parts
    if ".disconer" in parts:
        name = f"training {parts[parts.index('training') + 1]}"
    return Suggester(Recognizer.from_pretrained(model), name, model)


def _report(status: Status) -> None:
    if status.state != "finished" or status.new_f1 is None:
        raise DisconerError("Training did not finish", got=status.message.rstrip(".") or status.state)
    old = "there was no previous model" if status.old_f1 is None else f"the previous model has {status.old_f1:.2f}"
    print(f"dev F1 {status.new_f1:.2f}; {old}.")
    if status.takes_over:
        kept = "It suggests from now on"
    elif status.old_f1 is None:
        kept = "It found nothing, so it does not suggest: annotate more documents, or train longer. The model"
    else:
        kept = "The previous model stays in use; the new one"
    print(f"{kept}: {status.model}")


def _compared(given: list[str]) -> dict[str, Path]:
    pairs = [one.partition("=") for one in given]
    return {name if equals else Path(name).name: Path(path if equals else name) for name, equals, path in pairs}


def annotate_cli(
    path: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder of texts, with or without brat's .ann; or a .jsonl file.")
    ],
    model: Annotated[
        str | None, typer.Option("--model", "-m", metavar="M", help="Model that suggests entities; default: none.")
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="L,…",
            help="Labels, or a YAML file or annotation.conf with them. Default: such a file in FOLDER, or the model's.",
        ),
    ] = None,
    annotators: Annotated[
        list[str] | None,
        typer.Option(
            "--annotator", "-a", metavar="NAME", help="Name of an annotator; repeatable. Default: your user name."
        ),
    ] = None,
    each_in: Annotated[
        Path | None, typer.Option(metavar="OUT", help="Folder for a copy of the documents for each annotator.")
    ] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=PATH", help="Annotations of someone else, shown as suggestions; repeatable."),
    ] = None,
    all_done: Annotated[
        bool, typer.Option("--all-done", help="Mark all documents that have entities as done.")
    ] = False,
    train: Annotated[
        bool, typer.Option("--train", help="Train on the documents that are done and exit, without the page.")
    ] = False,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Setting for training, as in `train`; repeatable."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; a token is required unless it is a loopback address.")
    ] = HOST,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any free port.")] = PORT,
    token: Annotated[
        str | None,
        typer.Option(
            help=f"Token that the page asks for. Visible to other users in the process list; prefer ${TOKEN_VARIABLE}.",
            envvar=TOKEN_VARIABLE,
            show_envvar=True,
        ),
    ] = None,
) -> None:
    """Annotate documents in the browser: entities with gaps and overlaps, suggestions from a model, training.

    Every change is saved at once; relations, attributes and other lines of .ann files stay as they are.
    """
    require("Annotating", "serve", NEEDED)
    from disconer.annotate.project import Settings

    settings = Settings(
        path=path,
        annotators=annotators or [getpass.getuser()],
        each_in=each_in,
        labels=labels,
        model=model,
        compare=_compared(compare or []),
        training=overrides or (),
        all_done=all_done,
    )
    if train:
        _report(train_on_done(settings))
    else:
        annotate(settings, host=host, port=port, token=token)
