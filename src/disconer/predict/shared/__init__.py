"""One network on a GPU for many processes: they prepare texts for it and decode its output.

`service` is the process that has the network, in torch. The others have recognisers whose runtime is in `client`, and
load no torch. So only one process uses the GPU, and all cores work for it.

Imports `nn`, `store` and `core`; `service` also `predict.loading` and, when it loads the network, torch.
"""
