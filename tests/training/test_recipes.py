"""The files that how-to pages hand out."""

from __future__ import annotations

import subprocess
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
import yaml

from disconer import Recognizer
from training.conftest import Run

pytestmark = pytest.mark.slow

GUIDES = Path(__file__).parents[2] / "docs" / "how-to"
BATCHES = [(["a", "b"], ["pain of knees and hands", ""]), (["c"], ["lipitor gave me cramps"])]


def test_the_slurm_script_is_bash() -> None:
    subprocess.run(["bash", "-n", GUIDES / "train-slurm.sh"], check=True)


def test_the_kubernetes_job_and_its_command_agree() -> None:
    service, job = yaml.safe_load_all((GUIDES / "train-kubernetes.yaml").read_text("utf-8"))
    pod = job["spec"]["template"]["spec"]
    arguments = pod["containers"][0]["args"]
    name, domain = job["metadata"]["name"], service["metadata"]["name"]
    assert service["spec"]["selector"] == {"job-name": name}
    assert pod["subdomain"] == domain
    assert f"--rdzv-endpoint={name}-0.{domain}:29500" in arguments
    assert f"--nnodes={job['spec']['completions']}" in arguments
    assert job["spec"]["completions"] == job["spec"]["parallelism"]
    assert {mount["name"] for mount in pod["containers"][0]["volumeMounts"]} == {
        volume["name"] for volume in pod["volumes"]
    }


def test_the_spark_recipe_finds_what_the_recognizer_finds(unbroken: Run) -> None:
    pd = pytest.importorskip("pandas")
    spec = spec_from_file_location("spark_recipe", GUIDES / "spark_recipe.py")
    assert spec
    assert spec.loader
    recipe = module_from_spec(spec)
    spec.loader.exec_module(recipe)
    recognizer = Recognizer.from_pretrained(unbroken.out)
    batches = [pd.DataFrame({"id": ids, "text": texts}, index=range(7, 7 + len(ids))) for ids, texts in BATCHES]
    found = list(recipe.entity_finder(str(unbroken.out))(iter(batches)))
    assert sum(len(entities) for batch in found for entities in batch["entities"]) > 0
    for (ids, texts), batch in zip(BATCHES, found, strict=True):
        assert list(batch["id"]) == ids
        for entities, document in zip(batch["entities"], recognizer.pipe(texts), strict=True):
            assert [(entity["label"], entity["fragments"], entity["score"]) for entity in entities] == [
                (entity.label, [list(fragment) for fragment in entity.fragments], entity.score)
                for entity in document.entities
            ]
