"""conelab.torch.attention over a group of processes: bits, gradients, training in data parallel, refusals. Needs
the installed package and PyTorch; starts itself with torchrun, as the processes of a group."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import torch
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.nn.parallel import DistributedDataParallel
except ImportError:
    raise unittest.SkipTest("no PyTorch")
try:
    from torch.distributed.fsdp import fully_shard
except ImportError:  # Before PyTorch 2.6.
    fully_shard = None

import conelab.torch
from conelab.torch import attention

PATIENCE = 300
N, HEADS, D = 75, 4, 6
# Similarity, mask, further keywords.
CASES = [("penumbral", "causal", {}), ("umbral", "full", {"radius": 0.5}), ("dot", "causal,window", {"window": 20}),
         ("multiplicative", "padding", {"lengths": [60, 75]})]


def trained_in(similarity, dtype=torch.float64):
    """The parameters that get gradients."""
    if similarity == "multiplicative":
        return {"W": torch.eye(D, dtype=dtype).requires_grad_()}
    name = "scale" if similarity == "dot" else "gamma"
    return {name: torch.full((HEADS,), 1.5, dtype=torch.float64, requires_grad=True)}


def everything(dtype=torch.float64, heads=2):
    """q, k, v and the output's gradient of the whole sequence, which every process draws alike."""
    torch.manual_seed(3)
    return [torch.randn(2, h, N, D, dtype=torch.float64).to(dtype) for h in (HEADS, heads, heads, HEADS)]


def share(x):
    """This process's rows, of unequal numbers."""
    size, rank = dist.get_world_size(), dist.get_rank()
    borders = [N * r * r // size ** 2 if r else 0 for r in range(size + 1)]
    return x[..., borders[rank]:borders[rank + 1], :].clone()


def all_rows(x):
    parts = [None] * dist.get_world_size()
    dist.all_gather_object(parts, x)
    return torch.cat(parts, -2)


def summed(x):
    x = x.clone()
    dist.all_reduce(x)
    return x


def bits(folder):
    """Computes all cases and writes what they give."""
    found = {}
    for number, (similarity, mask, words) in enumerate(CASES):
        for dtype in (torch.float64, torch.float32, torch.bfloat16)[:3 if number == 0 else 1]:
            q, k, v, grad = map(share, everything(dtype))
            trained = trained_in(similarity, dtype)
            for x in (q, k, v):
                x.requires_grad_()
            output, lse = attention(q, k, v, similarity=similarity, mask=mask, group=dist.group.WORLD, threads=1,
                                    return_lse=True, **{**words, **trained})
            output.backward(grad, retain_graph=number == 0)
            if number == 0:  # Once more, and the same is added.
                output.backward(grad)
            found[similarity, dtype] = [all_rows(x.detach()) for x in (output, lse[..., None], q.grad, k.grad, v.grad)
                                        ] + [summed(x.grad) for x in trained.values()]
    q, k, v, _ = map(share, everything())
    found["causal"] = [all_rows(attention(q, k, v, is_causal=True, group=dist.group.WORLD))]
    if dist.get_rank() == 0:
        torch.save(found, pathlib.Path(folder) / f"{dist.get_world_size()}.pt")


def refusals(_):
    group, rank = dist.group.WORLD, dist.get_rank()
    q, k, v, _ = map(share, everything())
    fewer = k[:, :1] if rank == 1 else k

    def says(text, *tensors, kind=ValueError, **words):
        try:
            attention(*tensors, group=group, **words)
        except kind as error:
            assert re.search(text, str(error)) and "\n" not in str(error), str(error)
        else:
            raise AssertionError(f"no error: {text}")

    says("process 1 has another shape of k .*2, 2, 0, 6.*found .*2, 1, 0, 6", q, fewer, v)
    says("process 1 has another call .*gamma=0.0.*gamma=1.0", q, k, v, gamma=float(rank))
    says("process 1 has another call .*gamma=0.0.*gamma=1.0", q, k, v, gamma=torch.tensor(float(rank)))
    says("process 1 has another tensor W", q, k, v, similarity="multiplicative",
         W=torch.eye(D, dtype=q.dtype) * (rank + 1))
    says("process 1 has another type of numbers", *((x.float() if rank else x) for x in (q, k, v)))
    says("process 1 has another wish for gradients", q.requires_grad_() if rank else q, k, v)
    q = q.detach()
    says("process 1 has no tokens", *((x[..., :0, :] if rank else x) for x in (q, k, v)))
    says(r"process 1 has \d+ keys and \d+ values", q, k, v[..., 1:, :] if rank else v)
    says("a mask that is a tensor is computed in one process", q, k, v, mask=torch.ones(3, 3, dtype=torch.bool))
    says("dropout is computed in one process", q, k, v, dropout_p=0.1)
    says("as many keys as queries", q, k[..., 1:, :], v[..., 1:, :], is_causal=True)
    says("is computed in one process", q, k, v, operator="star")
    assert torch.isfinite(attention(q, k, v, group=group)).all()  # All are still together.


class Model(torch.nn.Module):
    def __init__(self, group=None):
        super().__init__()
        torch.manual_seed(1)
        self.into, self.out = torch.nn.Linear(5, 3 * HEADS * D), torch.nn.Linear(HEADS * D, 5)
        self.attend = conelab.torch.Attention("penumbral", heads=HEADS, trained=["gamma"])
        self.group = group

    def forward(self, x):
        q, k, v = self.into(x).unflatten(-1, (3, HEADS, D)).permute(2, 0, 3, 1, 4)
        return self.out(self.attend(q, k, v, mask="causal", group=self.group).transpose(1, 2).flatten(2))


def step(model, x, tokens):
    """One step with a loss that is a mean over all tokens if data parallel takes the mean over processes."""
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = model(x).pow(2).sum() / tokens
    loss.backward()
    optimiser.step()


def parallel(wrapped, group, by_tokens):
    """The parameters after two steps in data parallel, and those of one process with all data."""
    size, rank = dist.get_world_size(), dist.get_rank()
    torch.manual_seed(7)
    x = torch.randn(2 * size, 8 * size, 5)
    own = x[:, 8 * rank:8 * rank + 8] if by_tokens else x[2 * rank:2 * rank + 2]
    plain, model = Model(), wrapped(Model(group))
    for _ in range(2):
        step(plain, x, x.shape[0] * x.shape[1])
        step(model, own, own.shape[0] * own.shape[1])
    return plain, model


def fully_sharded(model):
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    fully_shard(model.attend, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def training(_):
    for wrapped in (DistributedDataParallel, *([] if fully_shard is None else [fully_sharded])):
        for by_tokens in (False, True):
            plain, model = parallel(wrapped, dist.group.WORLD if by_tokens else None, by_tokens)
            for (name, expected), found in zip(plain.named_parameters(), model.parameters()):
                whole = found.full_tensor() if hasattr(found, "full_tensor") else found
                assert torch.allclose(whole, expected, rtol=1e-4, atol=1e-6), (wrapped, by_tokens, name)


def dies(_):
    """Process 1 ends in the middle of a call; the other gets an error at once."""
    q, k, v, _ = map(share, everything())
    if dist.get_rank() == 1:
        from conelab import _group
        _group._Carrier.receive = lambda *_: os._exit(3)
    attention(q, k, v, group=dist.group.WORLD)


class Group(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, processes, what):
        return subprocess.run([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node",
                               str(processes), __file__, what.__name__, self.folder], capture_output=True, text=True,
                              timeout=PATIENCE, env={**os.environ, "OMP_NUM_THREADS": "1"})

    def run_in(self, processes, what):
        done = self.start(processes, what)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])

    def test_any_number_of_processes_gives_the_same_bits(self):
        for processes in (1, 2, 3):
            self.run_in(processes, bits)
        one, *more = (torch.load(self.folder / f"{n}.pt") for n in (1, 2, 3))
        for found in more:
            for case, expected in one.items():
                for number, (a, b) in enumerate(zip(found[case], expected)):
                    self.assertTrue(torch.equal(a, b), (case, number))
        self.check_against_one_call(one)

    def check_against_one_call(self, shared):
        for similarity, mask, words in CASES:
            q, k, v, grad = everything()
            trained = trained_in(similarity)
            for x in (q, k, v):
                x.requires_grad_()
            output, lse = attention(q, k, v, similarity=similarity, mask=mask, return_lse=True,
                                    **{**words, **trained})
            output.backward(grad)
            times = 2 if similarity == CASES[0][0] else 1
            expected = [output, lse[..., None], *(times * x.grad for x in (q, k, v, *trained.values()))]
            for found, x in zip(shared[similarity, torch.float64], expected):
                self.assertTrue(torch.allclose(found, x.detach(), rtol=1e-9, atol=1e-9), similarity)
        q, k, v, _ = everything()
        self.assertTrue(torch.allclose(shared["causal"][0], attention(q, k, v, is_causal=True)))

    def test_a_training_step_in_data_parallel_equals_one_process(self):
        self.run_in(2, training)

    def test_processes_that_do_not_fit_together_are_refused_in_one_line(self):
        self.run_in(2, refusals)

    def test_a_process_that_ends_ends_the_others(self):
        done = self.start(2, dies)
        self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    if "RANK" not in os.environ:
        unittest.main()
    dist.init_process_group("gloo")
    globals()[sys.argv[1]](sys.argv[2])
    dist.destroy_process_group()
