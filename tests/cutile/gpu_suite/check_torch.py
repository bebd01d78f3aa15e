"""The parts of torch that the suite uses."""

import io

import torch


def test_tensors_say_that_they_are_on_the_gpu():
    for tensor in (torch.zeros(3, device=0), torch.rand(3).to("cuda"), torch.rand(3).to(0), torch.tensor([1.0]).cuda()):
        assert tensor.is_cuda
    model = torch.nn.Linear(4, 4, device="cuda").to("cuda:0").cuda()
    assert model(torch.ones(2, 4, device="cuda")).new_zeros(2, device="cuda").shape == (2,)


def test_pinned_memory():
    x = torch.empty(4, pin_memory=True)
    assert x.is_pinned() and torch.ones(4).pin_memory().to("cuda", non_blocking=True).sum() == 4


def test_what_was_saved_is_loaded_to_the_gpu():
    file = io.BytesIO()
    torch.save({"weight": torch.arange(4)}, file)
    for where in ("cuda", torch.device("cuda", 0), {"cpu": "cuda:0"}, None):
        file.seek(0)
        assert torch.load(file, map_location=where)["weight"].tolist() == [0, 1, 2, 3]


def test_random_numbers_can_be_repeated():
    torch.cuda.manual_seed_all(7)
    state = torch.cuda.get_rng_state()
    first = torch.rand(8, device="cuda")
    with torch.random.fork_rng(devices=["cuda"]):
        torch.rand(100, device="cuda")
    second = torch.rand(8, device="cuda")
    torch.cuda.set_rng_state(state)
    assert torch.equal(torch.rand(8, device="cuda"), first)
    assert torch.equal(torch.rand(8, device="cuda"), second)
    generator = torch.Generator(device="cuda").manual_seed(7)
    assert torch.equal(torch.rand(8, device="cuda", generator=generator), first)


def test_ranges_and_properties():
    torch.cuda.nvtx.range_push("work")
    torch.cuda.nvtx.range_pop()
    with torch.cuda.nvtx.range("more work"):
        properties = torch.cuda.get_device_properties("cuda")
    assert (properties.major, properties.minor) == torch.cuda.get_device_capability()
    assert properties.multi_processor_count > 0 and properties.shared_memory_per_block > 0
    assert properties.total_memory == torch.cuda.mem_get_info()[1]


def test_products_with_a_wider_result():
    a, b = torch.rand(8, 16, device="cuda").half(), torch.rand(16, 8, device="cuda").half()
    for product in (torch.mm(a, b, out_dtype=torch.float32), torch.mm(a, b, torch.float32)):
        assert product.dtype == torch.float32
        torch.testing.assert_close(product, a.float() @ b.float())
    batched = torch.bmm(a[None], b[None], out_dtype=torch.float32)
    torch.testing.assert_close(batched[0], a.float() @ b.float())


def test_graphs_run_again_what_was_captured():
    counter, graph = torch.zeros(4, device="cuda"), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        counter += 1
    before = counter.clone()
    graph.replay()
    assert torch.equal(counter, before + 1)
    assert not torch.cuda.is_current_stream_capturing()
