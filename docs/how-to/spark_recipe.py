"""Find entities in a table of texts on Spark.

    spark-submit spark_recipe.py NOTES.parquet FOUND.parquet MODEL [--partitions 64]

NOTES: columns id and text. FOUND: one row per note, with its id and its entities. MODEL: a model folder that every
executor can read.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = """
    id string,
    entities array<struct<
        label: string, kind: string, start: int, end: int, text: string, fragments: array<array<int>>, score: double>>
"""
FIELDS = ("label", "kind", "start", "end", "text", "fragments", "score")


def entity_finder(model: str) -> Callable[[Iterator[pd.DataFrame]], Iterator[pd.DataFrame]]:
    """The function for `mapInPandas`: loads the model once per partition, then streams batches through it."""

    def find(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        import pandas as pd

        from disconer import Recognizer

        recognizer = Recognizer.from_pretrained(model)
        for batch in batches:
            found = [
                [{field: entity.to_dict()[field] for field in FIELDS} for entity in document.entities]
                for document in recognizer.pipe(batch["text"])
            ]
            yield pd.DataFrame({"id": batch["id"], "entities": pd.Series(found, index=batch.index, dtype=object)})

    return find


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notes")
    parser.add_argument("found")
    parser.add_argument("model")
    parser.add_argument("--partitions", type=int, help="tasks, each of which loads the model; as Spark reads the table")
    given = parser.parse_args()

    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName("disconer").getOrCreate()
    notes = spark.read.parquet(given.notes).select("id", "text")
    if given.partitions:
        notes = notes.repartition(given.partitions)
    notes.mapInPandas(entity_finder(given.model), SCHEMA).write.parquet(given.found)
    spark.stop()


if __name__ == "__main__":
    main()
