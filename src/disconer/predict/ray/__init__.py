"""Prediction on Ray Data: one reader, many actors that hold a model each, one writer.

The reader cuts the input into the `blocks` of every other prediction, and sends them on as fast as actors take them; an
actor finds the entities of a block; `work` writes what comes back, in order, into the `parts` of an output.
Ray moves the blocks, starts actors again that die, and gives them their blocks again; the rest is as it is without Ray.

Only `stream` and `cluster` (which is the service's, too) import Ray, and nothing imports them before
`disconer predict --ray` runs. May import `predict`, `predict.local` and all below.
"""
