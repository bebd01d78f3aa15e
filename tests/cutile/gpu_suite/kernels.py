"""Kernels of a suite that was written for a GPU and knows nothing of tileir."""

import torch
from cuda import tile as ct

DEVICE = torch.device("cuda:0")


@ct.kernel
def scale(x, factor, out, size: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(out, (i,), ct.load(x, (i,), (size,)) * factor)


@ct.kernel
def say(x):
    ct.print("tile", ct.bid(0), "holds", ct.sum(ct.load(x, (ct.bid(0),), (4,))))


def scaled(x, factor, size=16, stream=None):
    out = torch.empty_like(x, device=DEVICE)
    stream = torch.cuda.current_stream() if stream is None else stream
    ct.launch(stream, (ct.cdiv(x.shape[0], size),), scale, (x, factor, out, size))
    return out
