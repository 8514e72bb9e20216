"""A peer of `conelab bench`: PyTorch's attention, timed in the same rounds as Conelab's.

    conelab bench -o out.h5 --peer "python3 tests/peers/worker.py" --operators dot,torch_sdpa ...

Answers the protocol of core/bench/worker.h, a line a request. One process
serves all cases. Operators, as far as what they need can be imported:

    torch_sdpa                      scaled_dot_product_attention (fused on the CPU)
    torch_SIMILARITY                the formula written out (formulas.py), eager
    torch_SIMILARITY_compiled       the same under torch.compile
    flex_SIMILARITY                 FlexAttention with the cone as score_mod; forward only on the CPU
    keops_penumbral                 KeOps
    torch_multihead, torch_multihead_causal
                                    torch.nn.MultiheadAttention with 8 heads over all columns of one
                                    head, projections included: what agglomerative is compared to
"""
import gc
import importlib.util
import math
import os
import sys
import time

try:
    import torch
except ImportError:
    sys.exit(f"worker.py: needs PyTorch, which {sys.executable} does not have")

import formulas

SAMPLE_SECONDS = 0.02  # A sample lasts at least this long, in as many runs as that takes.
SHORT_SECONDS = 0.1  # A case whose run is shorter runs ...
WARM_UP_SECONDS = 0.01  # ... for so long before each sample.
PAUSE = 0.05           # Threads of the pool spin after a call; nobody else is timed while they do.
CHECKED_ROWS = 16
MODULE_HEADS = 8
DTYPES = {"f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
PROGRAM_BYTES = 1e9


class Skipped(Exception):
    """The case is not meant to run."""


def kind_of(operator):
    if operator == "torch_sdpa":
        return "fused"
    if operator.startswith("torch_multihead"):
        return "module"
    for prefix in ("flex_", "keops_"):
        if operator.startswith(prefix):
            return prefix[:-1]
    return "compiled" if operator.endswith("_compiled") else "eager"


def similarity_of(operator):
    return "dot" if operator == "torch_sdpa" else operator.split("_")[1]


def operators():
    names = ["torch_sdpa", "torch_multihead", "torch_multihead_causal"]
    for similarity in formulas.LOGITS:
        names += [f"torch_{similarity}", f"torch_{similarity}_compiled"]
    if importlib.util.find_spec("torch.nn.attention.flex_attention"):
        names += ["flex_penumbral", "flex_umbral"]
    if importlib.util.find_spec("pykeops"):
        names.append("keops_penumbral")
    return names


def about():
    text = f"torch {torch.__version__}"
    if importlib.util.find_spec("pykeops"):
        import pykeops
        text += f", pykeops {pykeops.__version__}"
    return text


# ---- cases ---------------------------------------------------------------------------------------

class Words:
    """The words that name a case."""

    def __init__(self, words):
        self.text = words
        self.operator, self.pass_, self.device, dtype = words[:4]
        self.threads, self.dim, self.head, self.length, self.batch = map(int, words[4:9])
        named = dict(word.split("=") for word in words[9:] if "=" in word)
        self.queries = int(named.pop("query_len", self.length))
        self.value_dim = int(named.pop("value_dim", self.dim))
        self.key_head = int(named.pop("key_head", self.head))
        if named:
            raise Skipped(f"the peers do not know {named.popitem()[0]}")
        seeds = [word for word in words[9:] if "=" not in word]
        self.seed = int(seeds[0]) if seeds else 1
        if self.operator not in operators():
            raise ValueError(f"unknown operator {self.operator}")
        if self.device != "cpu":
            raise Skipped(f"the peers run on the cpu only (not on {self.device})")
        if kind_of(self.operator) == "module" and (self.head != 1 or self.dim % MODULE_HEADS):
            raise Skipped(f"{self.operator} needs one head and a multiple of {MODULE_HEADS} columns")
        if self.key_head != self.head and self.operator != "torch_sdpa":
            raise Skipped(f"{self.operator} takes no k with heads of its own")
        if (self.queries, self.value_dim) != (self.length, self.dim) and kind_of(self.operator) in ("module", "keops"):
            raise Skipped(f"{self.operator} takes no k and v with sizes of their own")
        self.dtype = DTYPES[dtype]
        self.backward = self.pass_ != "forward"

    def flops(self):
        pairs = self.queries * self.length * self.head * self.batch
        if kind_of(self.operator) == "module":
            forward = 8 * self.length * self.dim ** 2 * self.batch + 4 * pairs * self.dim
            return forward * {"forward": 1, "backward": 2, "forward+backward": 3}[self.pass_]
        products = {"forward": (2, 2), "backward": (6, 4), "forward+backward": (8, 6)}[self.pass_]
        return pairs * (products[0] * self.dim + products[1] * self.value_dim)

    def peak_bytes(self):
        """At most so many n x n arrays live at once (seen with the memory's high-water mark)."""
        size = torch.tensor([], dtype=self.dtype).element_size()
        arrays = {"eager": 12 if self.backward else 7, "compiled": 6 if self.backward else 3}.get(kind_of(self.operator), 0)
        square = self.queries * self.length * self.head * self.batch * size * arrays
        rows = max(self.queries, self.length) * max(self.dim, self.value_dim)
        return PROGRAM_BYTES + square + 40 * rows * self.head * self.batch * size


def fused(q, k, v):
    grouped = {"enable_gqa": True} if k.shape[1] < q.shape[1] else {}
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, **grouped)


class MultiHead:
    """Self-attention of q by torch.nn.MultiheadAttention, drawn from `seed`; k and v are not read."""

    def __init__(self, case, dtype=None):
        torch.manual_seed(case.seed)
        self.module = torch.nn.MultiheadAttention(case.dim, MODULE_HEADS, bias=False, batch_first=True)
        self.module.to(dtype or case.dtype).train(case.backward)
        self.causal = case.operator.endswith("_causal")

    def __call__(self, q, k, v):
        x = q.squeeze(1)
        mask = None
        if self.causal:
            mask = torch.nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=x.dtype)
        return self.module(x, x, x, need_weights=False, attn_mask=mask, is_causal=self.causal)[0].unsqueeze(1)


_functions = {}
_memory = {}  # Peak and extra bytes of cases measured before: one process serves them all.


def lift_recompile_limits(config):
    """Every case compiles anew. PyTorch before 2.7 has the limits by another name."""
    name = "recompile_limit" if hasattr(config, "recompile_limit") else "cache_size_limit"
    setattr(config, name, 10_000)
    setattr(config, "accumulated_" + name, 10_000)


lift_recompile_limits(torch._dynamo.config)


def function_of(case):
    """The callable of a case; compiled ones are kept, as compiling takes long."""
    kind, similarity = kind_of(case.operator), similarity_of(case.operator)
    if kind == "fused":
        return fused
    if kind == "module":
        return MultiHead(case)
    if kind == "eager":
        return formulas.attention(similarity)
    if kind == "keops":
        return formulas.keops_penumbral
    key = (case.operator, case.threads)
    if key not in _functions:
        plain = formulas.attention(similarity) if kind == "compiled" else formulas.flex_attention_of(similarity)
        _functions[key] = torch.compile(plain, dynamic=False)
    torch._inductor.config.cpp.threads = case.threads
    return _functions[key]


class Case:
    def __init__(self, words):
        self.words = words
        if kind_of(words.operator) == "flex" and words.backward:
            raise Skipped("FlexAttention has no backward pass on the CPU")
        torch.set_num_threads(words.threads)
        generator = torch.Generator().manual_seed(words.seed)
        queries, keys = (words.head, words.queries), (words.key_head, words.length)
        self.q, self.k, self.v, self.grad = (
            torch.randn((words.batch, *sizes), generator=generator).to(words.dtype)
            for sizes in ((*queries, words.dim), (*keys, words.dim), (*keys, words.value_dim),
                          (*queries, words.value_dim)))
        first = self.q[:, ::words.head // words.key_head]
        if words.length >= 4:  # The twins of `bench` (core/bench/case_problem.h): close pairs cancel.
            self.k[:, :, 1] = first[:, :, 0]
        if words.length >= 4 and words.queries >= 3:
            self.k[:, :, 3] = first[:, :, 2]
            self.k[:, :, 3, 0] += 1e-4
        self.inputs = [x.requires_grad_(words.backward) for x in (self.q, self.k, self.v)]
        self.attend = function_of(words)
        self.wanted = self.inputs  # Tensors whose gradients the backward pass computes.
        if kind_of(words.operator) == "module":
            self.wanted = [self.q, *self.attend.module.parameters()]
        self.key = tuple(words.text)
        self.is_warm = False
        self.run_seconds = 0.0  # Of the last sample, or of the first run.

    def run(self):
        """One run; returns its seconds."""
        start = time.perf_counter()
        with torch.set_grad_enabled(self.words.backward):
            output = self.attend(*self.inputs)
            if self.words.pass_ == "backward":
                start = time.perf_counter()
            if self.words.backward:
                torch.autograd.grad(output, self.wanted, self.grad)
        return time.perf_counter() - start

    def facts(self):
        words = self.words
        numbers = sum(x.numel() for x in (self.q, self.k, self.v, self.grad))
        size = numbers * self.q.element_size() * (2 if words.backward else 1)
        return f"facts {words.flops()} {size} {self.row_errors().max().item()}"

    def row_errors(self):
        """Of the output, or of the query's gradient, to the formula in float64: the largest of each
        of some rows [batch, head, row]."""
        if kind_of(self.words.operator) == "module":
            return self.module_errors()
        with torch.set_grad_enabled(self.words.backward):
            output = self.attend(*self.inputs)
        exact_inputs = [x.detach().double() for x in self.inputs]
        exact_inputs[0] = exact_inputs[0][:, :, :CHECKED_ROWS].clone().requires_grad_(self.words.backward)
        for i in (1, 2):
            exact_inputs[i] = exact_inputs[i].repeat_interleave(self.words.head // self.words.key_head, 1)
        exact = exact_attention(similarity_of(self.words.operator))(*exact_inputs)
        if not self.words.backward:
            return (output[:, :, :CHECKED_ROWS].double() - exact).abs().amax(-1)
        mine = torch.autograd.grad(output, self.q, self.grad)[0][:, :, :CHECKED_ROWS]
        right = torch.autograd.grad(exact, exact_inputs[0], self.grad[:, :, :CHECKED_ROWS].double())[0]
        return (mine.double() - right).abs().amax(-1)

    def module_errors(self):
        """The same of a module, whose rows depend on all tokens: of the first batch element."""
        results = []
        for attend, dtype in ((self.attend, self.words.dtype), (MultiHead(self.words, torch.float64), torch.float64)):
            if dtype == torch.float64:
                attend.module.load_state_dict(self.attend.module.state_dict())
            x = self.q[:1].detach().to(dtype).requires_grad_(self.words.backward)
            with torch.set_grad_enabled(self.words.backward):
                output = attend(x, x, x)
            if self.words.backward:
                output = torch.autograd.grad(output, x, self.grad[:1].to(dtype))[0]
            results.append(output[:, :, :CHECKED_ROWS].detach().double())
        return (results[0] - results[1]).abs().amax(-1)

    def warm_up(self):
        """The first run, which compiles; the first time a second one shows the pass's memory."""
        self.run_seconds = self.run()
        self.is_warm = True
        if self.key not in _memory:
            _memory[self.key] = self.measure_memory()

    def measure_memory(self):
        gc.collect()
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        before = status_bytes("VmRSS")
        self.run()
        peak = status_bytes("VmHWM")
        gradients = 0 if self.words.pass_ == "forward" else sum(x.numel() for x in (self.q, self.k, self.v))
        output = 0 if self.words.pass_ == "backward" else self.grad.numel()
        return peak, max(0, peak - before - (gradients + output) * self.q.element_size())

    def sample(self, cold):
        if not self.is_warm:
            self.warm_up()
            time.sleep(PAUSE)
        if self.run_seconds < SHORT_SECONDS:
            warming = 0.0
            while warming < WARM_UP_SECONDS:
                warming += self.run()
        seconds, runs, begin = 0.0, 0, time.perf_counter()
        while runs == 0 or time.perf_counter() - begin < SAMPLE_SECONDS:
            seconds += self.run()
            runs += 1
        self.run_seconds = seconds / runs
        cold_seconds = math.nan
        if cold:
            flush_caches()
            cold_seconds = self.run()
        time.sleep(PAUSE)
        peak, extra = _memory[self.key]
        return f"sample {seconds / runs} {cold_seconds} {runs} nan {peak} {extra} 0"


def exact_attention(similarity):
    """In float64 by direct differences: cdist's products lose digits."""
    def attend(q, k, v):
        cdist = torch.cdist
        torch.cdist = lambda a, b: cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist")
        try:
            return formulas.attention(similarity)(q, k, v)
        finally:
            torch.cdist = cdist
    return attend


def flush_caches():
    torch.ones(2 ** 26, dtype=torch.float32).add_(1)  # 256 MB


def status_bytes(key):
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
    return 0


# ---- the protocol --------------------------------------------------------------------------------

class Server:
    case = None

    def answer(self, line):
        request, *words = line.split()
        if request == "operators":
            return "operators " + " ".join(operators())
        if request == "about":
            return "about " + about()
        if request == "predict":
            words = Words(words)
            return f"predict {words.peak_bytes()} {words.flops()}"
        if request == "case":
            self.case = None
            gc.collect()
            self.case = Case(Words(words))
            return "ready"
        if request == "facts":
            return self.case.facts()
        if request == "sample":
            return self.case.sample(words == ["1"])
        raise ValueError(f"unknown request {request}")


def one_line(error):
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text[:500]


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What libraries print is no answer.
    server = Server()
    for line in sys.stdin:
        try:
            answer = server.answer(line)
        except Skipped as why:
            answer = f"skipped {why}"
        except MemoryError:
            answer = "memory out of memory"
        except Exception as error:  # Whatever goes wrong belongs to this case alone.
            kind = "memory" if "allocate memory" in str(error) else "failed"
            answer = f"{kind} {one_line(error)}"
        print(answer, file=answers, flush=True)


if __name__ == "__main__":
    main()
