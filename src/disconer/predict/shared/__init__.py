"""One network on a GPU for many processes: they prepare texts for it and read what it gives back.

`service` is the process that has the network, in torch. The others have recognisers whose runtime is in `client`, and
load no torch. So a GPU has one program, and as many cores as there are work for it.

Imports `nn`, `store` and `core`; `service` also `predict.loading` and, when it loads the network, torch.
"""
