"""Predictions by several workers: into one file, into a folder, or a part of an output shared with other machines."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from disconer.core.errors import DisconerError, Where
from disconer.core.ledger import Amount, Ledger
from disconer.core.progress import progress
from disconer.formats import Format, write
from disconer.predict.files import Filled, Folder, annotated
from disconer.predict.inputs import WHOLE, Share, Unit
from disconer.predict.lazy import LazyRecognizer
from disconer.predict.local.folder_record import FolderRecord, n_outputs, refuse_outputs
from disconer.predict.local.jobs import Jobs, default_jobs
from disconer.predict.local.manifest import CHANGED, Identity, Manifest, difference, identify, manifest_path, part_path
from disconer.predict.local.messages import Outcome, Task
from disconer.predict.local.parts import Part, is_current, join_parts, write_joined
from disconer.predict.settings import Annotator, Settings
from disconer.predict.shared.messages import Address, NetworkTask
from disconer.store.names import find_model


@dataclass(frozen=True, slots=True)
class Work:
    """The inputs, and the number of workers.

    given: the inputs' paths with their formats. inputs: their units.
    jobs: the number of workers; None: as many as are useful, which is determined when they are needed.
    """

    given: Sequence[tuple[str, str | None]]
    inputs: Sequence[Unit]
    settings: Settings
    jobs: int | None
    ledger: Ledger

    def into_file(self, out: Path, target: Format, *, force: bool) -> Amount:
        """Predict everything into one file, which does not depend on the number of workers."""
        if self._n_jobs() > 1:
            with self._parts(out, WHOLE) as parts:
                return write_joined(parts, out, target, self.ledger, force=force)
        written = Amount()
        with self._recognizer() as recognizer:
            documents = progress(annotated(self.inputs, recognizer, self.ledger), "documents")
            write(written.counted(documents), out, target.name, self.ledger, force=force)
        return written

    def into_folder(self, out: Path, target: Format, *, force: bool) -> Filled:
        """Fill a folder. If no output is missing, no model is loaded and no worker is started."""
        record = FolderRecord.open(out, target, self.settings, force=force)
        folder = Folder(record.origins(), target, self.ledger, force=force)
        folder.check(self.inputs)
        record.save()
        filled = self._filled(folder)
        filled.others = n_outputs(out, target) - filled.written - filled.done
        return filled

    def _filled(self, folder: Folder) -> Filled:
        if self.jobs != 1 and (done := self._finished(folder)):
            return Filled(done=done)
        if (n_jobs := self._n_jobs()) == 1:
            with self._recognizer() as recognizer:
                for _ in progress(folder.fill(self.inputs, recognizer), "outputs", self._n_outputs(folder.format)):
                    pass
            return folder.filled
        task = self._task(str(folder.path), to=folder.format.name, force=folder.force)
        task = replace(task, made_by=folder.origins.made_by)
        outcomes = self._run([replace(task, share=share) for share in WHOLE.split(n_jobs)])
        return sum((one.filled for one in outcomes), start=Filled())

    def into_part(self, folder: Path, share: Share, *, force: bool) -> Part | None:
        """Predict a shard into a folder of parts; None if it already exists."""
        identity = identify(self.inputs, self.settings, skip_bad=self.ledger.skip_bad)
        finished = manifest_path(folder, share)
        refuse_outputs(folder)
        if finished.exists() and not force:
            self._refuse_another(Manifest.load(finished), identity)
            return None
        finished.unlink(missing_ok=True)
        with self._parts(part_path(folder, share), share) as parts:
            part = join_parts(parts, part_path(folder, share), share, self.ledger)
        Manifest(part, identity).save()
        return part

    def _refuse_another(self, there: Manifest, identity: Identity) -> None:
        if there.identity != identity:
            got = difference(there.identity.to_dict(), identity.to_dict())
        elif not is_current(there.part, self.inputs, skip_bad=self.ledger.skip_bad):
            got = CHANGED
        else:
            return
        raise DisconerError(
            "This part already exists, but of another input, model or settings",
            where=Where(str(manifest_path(there.part.path.parent, there.part.share))),
            got=got,
            fix="Choose another folder for --out, or add --force.",
        )

    def _n_jobs(self) -> int:
        return default_jobs(self.inputs, self.settings) if self.jobs is None else self.jobs

    def _finished(self, folder: Folder) -> int:
        """The number of outputs of a folder if none is missing, else 0; the input is read up to the first that is."""
        ledger = Ledger(skip_bad=self.ledger.skip_bad)
        seen = replace(folder, ledger=ledger, filled=Filled())
        if seen.is_left(self.inputs):
            return 0
        self.ledger.add(ledger)
        return seen.filled.done

    def _n_outputs(self, target: Format) -> int | None:
        """The number of outputs of a folder; None if unknown before everything is read."""
        by_document = target.writes_folder and any(unit.format.name != "text" for unit in self.inputs)
        return None if by_document else len(self.inputs)

    @contextmanager
    def _parts(self, out: Path, share: Share) -> Iterator[list[Part]]:
        """The parts of a shard, in a folder next to `out`, on the same disk."""
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{out.name}.", suffix=".parts", dir=out.parent) as spool:
            task = self._task(spool)
            tasks = [
                replace(task, share=own, out=str(part_path(Path(spool), own))) for own in share.split(self._n_jobs())
            ]
            yield [outcome.part for outcome in self._run(tasks) if outcome.part]

    def _task(self, out: str, *, to: str | None = None, force: bool = False) -> Task:
        settings = replace(self.settings, model=str(find_model(self.settings.model)))  # found once for all workers
        return Task(tuple(self.given), settings, WHOLE, out, to, force, self.ledger.skip_bad)

    def _run(self, tasks: Sequence[Task]) -> list[Outcome]:
        jobs = self._jobs(tasks)
        for _ in progress(jobs.run(), "documents"):
            pass
        return jobs.outcomes

    def _jobs(self, tasks: Sequence[Task]) -> Jobs:
        """The workers of tasks. A GPU has one network for all of them."""
        from disconer.predict.loading import shares_network  # when it is needed: `disconer --help` does not

        if not shares_network(self.settings):
            return Jobs(tasks, self.ledger)
        address = Address.new()
        network = NetworkTask(address, tasks[0].settings, len(tasks))
        return Jobs([replace(task, network=address) for task in tasks], self.ledger, network)

    @contextmanager
    def _recognizer(self) -> Iterator[Annotator]:
        """A recogniser in this process, whose parsing counts are added if the block succeeds."""
        recognizer = LazyRecognizer(self.settings)
        yield recognizer
        recognizer.account(self.ledger)
