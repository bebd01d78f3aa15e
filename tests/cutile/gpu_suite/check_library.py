"""cuTile's own questions about the GPU and about arguments."""

import torch
from cuda import tile as ct
from cuda.tile._cext import get_compute_capability
from cuda.tile._compile import get_sm_arch
from cuda.tile.compilation import CallingConvention, KernelSignature
from kernels import scale


def test_the_capability():
    assert get_compute_capability() == torch.cuda.get_device_capability()
    major, minor = get_compute_capability()
    assert get_sm_arch() == f"sm_{major}{minor}"


def test_the_signature_of_arguments():
    x = torch.zeros(64, device="cuda")
    convention = CallingConvention.cutile_python_v1()
    signature = KernelSignature.from_kernel_args(scale, (x, 2.0, x.clone(), 16), convention)
    array, factor, _, size = signature.parameters
    assert array.dtype == ct.float32 and array.stride_constant == (1,) and array.shape_divisible_by == (16,)
    assert factor.dtype == ct.float32 and size.value == 16
    assert signature.symbol.startswith("scale_K")
