"""Checks, times and tunes the CUDA kernels beside PyTorch's, in one interleaved run.

Called by run.sh: run.py check|time|tune LIBRARY OUT [--dry-run]. Writes OUT/conelab_gpu_<mode>.h5
(.json where this Python has no h5py) and prints one table. Inputs are random, never zeros; every
output is NaN before a kernel runs. A dry run walks the same way on the CPU, with a stand-in for the
kernels and small sizes: its numbers mean nothing.
"""
import contextlib
import functools
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

try:
    import torch
except ImportError:
    print("run.py: SKIPPED: this Python has no PyTorch")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import formulas
import kernels
import parts
import stand_in
import supervise

PARAMETERS = {"dot": {}, "laplacian": {"gamma": 1.0}, "umbral": {"gamma": 1.0, "radius": 0.5},
              "penumbral": {"gamma": 4.0, "height": 1.0}}
OPERATORS = tuple(PARAMETERS)
# What the portable path alone computes (parts.py).
PORTABLE = ("additive", "dot:axis=query", "dot:graph", "dot:grid", "dot:shaw")
# What both paths compute besides, by the further laws of the fast one (gpu/hopper/layout.h).
LAWS = tuple(f"{name}:{part}" for name in OPERATORS for part in ("alibi", "hype", "t5", "sigmoid", "t5+sigmoid"))
# Besides, on both paths: two batch elements whose groups share heads of k and v.
GROUPED = ("dot:grouped", "umbral:alibi+grouped", "penumbral:grouped")
# Seconds since run.sh began after which a mode opens no new case: check leaves time for the
# sanitizer, the others for the case that is open, whose peers are being compiled.
BUDGET = {"check": 300, "time": 450, "tune": 480}
STARTED = float(os.environ.get("CONELAB_STARTED", time.time()))


class Place:
    """Where things run, and how large they are."""
    dry = False
    device = "cuda"


@contextlib.contextmanager
def rehearsal():
    """On the CPU, with the stand-in."""
    real = kernels.Attention
    Place.dry, Place.device, kernels.Attention = True, "cpu", stand_in.Attention
    try:
        yield
    finally:
        Place.dry, Place.device, kernels.Attention = False, "cuda", real


def settle():
    if not Place.dry:
        torch.cuda.synchronize()


def free_memory():
    if not Place.dry:
        torch.cuda.empty_cache()


def late(mode):
    return time.time() - STARTED > BUDGET[mode]


def tokens(groups, n_q, n_k, d, d_v, seed, device, dtype, share=1):
    """Tokens with a twin and a near-twin in every head of k, so that close pairs are part of every case.
    `share` groups have one head of k and v."""
    generator = torch.Generator("cpu").manual_seed(seed)
    draw = lambda n, c, share=1: torch.randn(groups // share, n, c, generator=generator)
    q, k = draw(n_q, d) / d ** 0.25, draw(n_k, d, share) / d ** 0.25
    v, g = draw(n_k, d_v, share), draw(n_q, d_v)
    if n_q > 2 and n_k > 3:
        k[:, 1] = q[::share, 0]
        k[:, 3] = q[::share, 2] + 1e-4
    return [t.to(device) for t in (q, k, v.to(dtype), g)]


class Case:
    def __init__(self, library, name, dtype, n, d, heads, causal=False, seed=1):
        self.name, part = parts.split(name)
        self.d, self.causal = d, causal
        self.portable_only = name in PORTABLE
        self.q, self.k, self.v, self.grad = tokens(heads * part.batch, n, n, d, d, seed, Place.device, dtype,
                                                   part.share)
        self.parameters = PARAMETERS.get(self.name, {})
        self.ours = kernels.Attention(library, name, self.q, self.k, self.v, self.parameters, causal)

    def placed(self, dtype):
        """Leaves of the graph: base of q and k, heights (or None), value."""
        o = self.ours
        leaf = lambda t: t.detach().to(dtype).requires_grad_()
        heights = [None if p.height is None else leaf(p.height.float() if dtype != torch.float64 else p.height)
                   for p in (o.query, o.key)]
        return leaf(o.query.base), leaf(o.key.base), *heights, leaf(self.v), *map(leaf, o.part.leaves)

    def formula(self, dtype):
        q, k, u, v, value, *leaves = self.placed(dtype)
        if u is not None and dtype in (torch.bfloat16, torch.float16):
            u, v = u.to(dtype), v.to(dtype)
        out = formulas.attention(self.name, q, k, u, v, value, self.parameters, self.d, self.causal,
                                 self.ours.part, leaves)
        return out, (q, k, value, *leaves)


def relative(found, exact, scale):
    """|found - exact| / |exact|, or / `scale` where all of `exact` is zero; NaN shows."""
    difference, norm = (found.double() - exact.double()).norm(), exact.double().norm()
    return float((difference / (norm if norm > 0 else scale)).detach())


# About a millisecond of the device, more than the host needs to queue a call.
WAIT_CYCLES = 2_000_000

# Relative errors that rounding to the type leaves in any case.
ROUNDING = {torch.float32: 2e-5, torch.bfloat16: 1e-2, torch.float16: 2e-3}
PARTS = ("output", "d query", "d key", "d value")
# The bounds of bf16 are three times the errors of the fast penumbral kernels on an H200 (datasets/reference_runs/h200).
# In their emulation those of the other operators are of the same size, as they come from rounding weights
# and dL/dlogit to 8 bits. Twice PyTorch's own error is no bound: its formula has 8 times ours. f16 has three
# bits more; its errors were not measured on a GPU.
MOST_OF_BF16 = dict(zip(PARTS, (4.2e-3, 1.05e-2, 7.2e-3, 7.2e-3)))
OF_BF16 = {torch.bfloat16: 1, torch.float16: 1 / 8}
PATHS = ("", "fast ")


def answer(case, forward, backward):
    """Output and gradients of one path, and whether a second run gives the same bits."""
    ours = case.ours
    ours.output.fill_(math.nan)
    found = forward().clone()
    output = ours.finished().clone()
    ours.prepare_backward(case.grad, forward)
    grads = {k: v.clone() for k, v in backward().items()}
    same = torch.equal(forward(), found) and all(torch.equal(v, grads[k]) for k, v in backward().items())
    return (output, *ours.token_gradients(grads), *ours.leaf_gradients(grads)), same


def variants_agree(case, output):
    """Variants differ in who waits for whom, not in arithmetic: the bits are the same."""
    return all(torch.equal(case.ours.fast_forward(v), output)
               for v in range(1, case.ours.variants()))


def bound(dtype, what, peer):
    """The largest error of an answer that passes, given PyTorch's own."""
    if dtype in OF_BF16 and what in PARTS:
        return MOST_OF_BF16[what] * OF_BF16[dtype]
    # Rounding alone decides where PyTorch's own gradient is NaN (a root at distance 0).
    return max(2 * peer, ROUNDING[dtype]) if math.isfinite(peer) else 5 * ROUNDING[dtype]


def check_case(library, name, dtype, n, d, heads, causal, paths=PATHS):
    case = Case(library, name, dtype, n, d, heads, causal, seed=n + d)
    exact, leaves = case.formula(torch.float64)
    exact_grads = torch.autograd.grad((exact * case.grad.double()).sum(), leaves)
    # With one key a weight is 1 whatever its logit: gradients vanish, and what cancels is their scale.
    scale = case.grad.double().norm() * case.v.double().norm()
    answers = {}
    if "" in paths:
        answers[""] = answer(case, case.ours.forward, case.ours.backward)
    if "fast " in paths and case.ours.fast is not None:
        found, same = answer(case, case.ours.fast_forward, case.ours.fast_backward)
        answers["fast "] = found, same and variants_agree(case, found[0])
    torch_out, torch_leaves = case.formula(dtype)
    torch_grads = torch.autograd.grad((torch_out.float() * case.grad.float()).sum(), torch_leaves)
    rows = []
    names = (*PARTS, *case.ours.part.names)
    wanted = dict(zip(names, zip((exact, *exact_grads), (torch_out, *torch_grads))))
    for path, (found, same) in answers.items():
        for what, mine in zip(names, found):
            ours, peer = (relative(it, wanted[what][0], scale) for it in (mine, wanted[what][1]))
            good = math.isfinite(ours) and ours <= bound(dtype, what, peer) and same
            rows.append({"operator": name, "dtype": str(dtype)[6:], "n": n, "d": d, "causal": causal,
                         "what": path + what, "error": ours, "torch_error": peer, "same_bits": same,
                         "good": good})
    return rows


def questions():
    """(path, operator, dtype, n, d, causal) of all cases: the portable path first, as it is simpler."""
    sizes = [(1, 8), (20, 8)] if Place.dry else [(1, 64), (63, 64), (128, 64), (129, 33), (1025, 64), (257, 128)]
    few = sizes if Place.dry else [(129, 33), (1025, 64), (257, 128)]
    for path in PATHS:
        for name in (OPERATORS + LAWS if path else OPERATORS + PORTABLE + LAWS[:5]) + GROUPED:
            for dtype in (torch.bfloat16, torch.float16) if path else ROUNDING:
                for n, d in few if name in LAWS + GROUPED else sizes:
                    for causal in (False, True):
                        yield path, name, dtype, n, d, causal


def answering(library):
    def answer(path, name, dtype, n, d, causal):
        return check_case(library, name, dtype, n, d, 2, causal, (path,))
    return answer


def load_and_answer(library_path):
    """In a process of its own."""
    return answering(kernels.Kernels(library_path))


def asked(library):
    """(question, whether it was answered, rows or why not) of all cases, each in its turn."""
    if Place.dry:
        return ((q, True, answering(library)(*q)) for q in questions())
    return supervise.ask(questions(), functools.partial(load_and_answer, library.path), lambda q: q[:2])


def failed_row(path, name, dtype, n, d, causal):
    return {"operator": name, "dtype": str(dtype)[6:], "n": n, "d": d, "causal": causal, "what": path + PARTS[0],
            "error": math.nan, "torch_error": math.nan, "same_bits": False, "good": False}


def checked(library, save):
    """Rows of all cases that there is time for."""
    rows, before = [], None
    for question, answered, found in asked(library):
        path, name, dtype, n, d, causal = question
        if not answered:
            print(f"check: {path or 'portable '}{name} {dtype} n={n} d={d} causal={causal}: {found}", flush=True)
        rows += found if answered else [failed_row(*question)]
        if late("check"):
            print(f"check: out of time at {path or 'portable '}{name}, the rest is left out")
            break
        if question[:2] != before:
            save(rows)
        before = question[:2]
    return rows


def run_check(library, save):
    rows = checked(library, save)
    print(f"{'operator':<20} {'dtype':<9} {'what':<12} {'worst error':>12} {'PyTorch':>10}  verdict")
    for name in OPERATORS + PORTABLE + LAWS + GROUPED:
        for dtype in ("float32", "bfloat16", "float16"):
            for what in dict.fromkeys(r["what"] for r in rows if r["operator"] == name):
                mine = [r for r in rows if (r["operator"], r["dtype"], r["what"]) == (name, dtype, what)]
                if not mine:
                    continue
                bad = [r for r in mine if not r["good"]]
                worst = max(mine, key=lambda r: (not math.isfinite(r["error"]), r["error"]))
                print(f"{name:<20} {dtype:<9} {what:<12} {worst['error']:>12.2e} {worst['torch_error']:>10.2e}  "
                      + ("ok" if not bad else f"FAILED at n={bad[0]['n']} d={bad[0]['d']} causal={bad[0]['causal']}"))
    failed = sum(not r["good"] for r in rows)
    print(f"{len(rows) - failed} passed, {failed} failed")
    return rows


class Flush:
    """Overwrites more than the second-level cache holds."""

    def __init__(self):
        if Place.dry:
            self.buffer = torch.empty(1)
            return
        size = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 64 << 20)
        self.buffer = torch.empty(2 * max(size, 32 << 20), dtype=torch.uint8, device="cuda")

    def __call__(self):
        self.buffer.zero_()


def event_seconds(work):
    if Place.dry:
        begin = time.perf_counter()
        work()
        return time.perf_counter() - begin
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    # The device is kept busy while the host queues the work: launching is not part of the time.
    torch.cuda._sleep(WAIT_CYCLES)
    start.record()
    work()
    stop.record()
    stop.synchronize()
    return start.elapsed_time(stop) * 1e-3


def four_axes(t):
    return t[None]


def sdpa(case, backend):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    q, k, _, _, v = case.placed(case.v.dtype)
    q, k, v = four_axes(q), four_axes(k), four_axes(v)

    def run():
        with sdpa_kernel(getattr(SDPBackend, backend)):
            return torch.nn.functional.scaled_dot_product_attention(
                q, k, v, is_causal=case.causal, scale=1 / math.sqrt(case.d))
    return run, (q, k, v)


def published(case, compiled):
    q, k, u, v, value, *leaves = case.placed(case.v.dtype)
    heights = (u, v) if u is None else (u.to(value.dtype), v.to(value.dtype))
    function = torch.compile(formulas.attention, dynamic=False) if compiled else formulas.attention
    return (lambda: function(case.name, q, k, *heights, value, case.parameters, case.d, case.causal,
                             case.ours.part, leaves), (q, k, value, *leaves))


def flex(case):
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    q, k, u, v, value = case.placed(case.v.dtype)
    heights = [None if t is None else four_axes(t.detach().float()) for t in (u, v)]
    norms = [four_axes((t.detach().float() ** 2).sum(-1)) for t in (q, k)]
    mod = formulas.score_mod(case.name, *heights, *norms, case.parameters, case.d)
    mask = None
    if case.causal:
        mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, q.shape[1], k.shape[1])
    function = torch.compile(flex_attention, dynamic=False)
    q, k, value = map(four_axes, (q, k, value))
    return lambda: function(q, k, value, score_mod=mod, block_mask=mask, scale=1.0), (q, k, value)


def peers_of(case):
    if case.portable_only:
        yield "PyTorch eager", functools.partial(published, case, False)
        return
    if case.name == "dot":
        for backend in ("FLASH_ATTENTION", "CUDNN_ATTENTION", "EFFICIENT_ATTENTION"):
            yield "SDPA " + backend.split("_")[0], functools.partial(sdpa, case, backend)
    yield "PyTorch eager", functools.partial(published, case, False)
    if Place.dry:
        return  # Compiling the others takes minutes and shows nothing of the way.
    yield "PyTorch compiled", functools.partial(published, case, True)
    yield "FlexAttention", functools.partial(flex, case)


def keep_compiled_graphs():
    """What is compiled here is walked backward more than once: it must not reuse what it has saved."""
    from torch._functorch import config
    if hasattr(config, "donated_buffer"):
        config.donated_buffer = False


def backward_of(run, leaves, grad):
    """The gradient alone: the graph is kept and walked again."""
    out = run()
    upstream = grad.to(out.dtype).reshape(out.shape)
    return lambda: torch.autograd.grad(out, leaves, upstream, retain_graph=True)


def contenders(case, pass_name):
    """Name -> work of this case's pass; what cannot run says why. Ours runs twice under two names:
    what differs between them is the machine."""
    found = {}
    # PyTorch compiles one function eight times at most, and then runs it uncompiled without a word.
    if not Place.dry:
        torch.compiler.reset()
        keep_compiled_graphs()
    case.ours.prepare_backward(case.grad)
    found["conelab portable"] = case.ours.forward if pass_name == "forward" else case.ours.backward
    if case.ours.fast is not None:
        found["conelab sm_90a"] = case.ours.fast_forward if pass_name == "forward" else case.ours.fast_backward
        found["conelab sm_90a again"] = found["conelab sm_90a"]
    for name, make in peers_of(case):
        try:
            run, leaves = make()
            if pass_name == "forward":
                def work(run=run):
                    with torch.no_grad():
                        return run()
            else:
                work = backward_of(run, leaves, case.grad)
            work()
            settle()
            found[name] = work
        except Exception as error:  # A peer that cannot run is a result, not a failure of ours.
            free_memory()
            print(f"  {case.name} {pass_name} n={case.q.shape[1]}: {name} left out: "
                  f"{str(error).splitlines()[0][:110]}")
    return found


def time_case(case, pass_name, rounds, flush):
    """Rounds in which every contender runs once, in turning order; medians of warm and cold."""
    return rounds_of(contenders(case, pass_name), rounds, flush)


def rounds_of(work, rounds, flush):
    names = list(work)
    warm, cold = {n: [] for n in names}, {n: [] for n in names}
    for name in names:
        for _ in range(2):
            work[name]()
    for r in range(rounds):
        for name in names[r % len(names):] + names[:r % len(names)]:
            work[name]()
            warm[name].append(event_seconds(work[name]))
            flush()
            cold[name].append(event_seconds(work[name]))
    return warm, cold


def flops(case, pass_name):
    groups, n, d = case.q.shape
    seen = case.ours.part.seen()
    pairs = groups * (n * n * (0.5 if case.causal else 1) if seen is None else int(seen.sum()))
    return pairs * d * (4 if pass_name == "forward" else 10)


def run_time(library, save):
    rows, flush = [], Flush()
    # The cases that decide come first: compiling the peers takes most of the time.
    cases = [(16384, 64, 4, torch.bfloat16, False), (4096, 64, 16, torch.bfloat16, True),
             (4096, 128, 16, torch.bfloat16, False), (4096, 64, 16, torch.float16, False),
             (1024, 64, 64, torch.bfloat16, False), (4096, 64, 16, torch.float32, False)]
    if Place.dry:
        cases = [(32, 8, 2, torch.bfloat16, True), (32, 8, 2, torch.float32, False)]
    of_all = [(case, name) for case in cases for name in OPERATORS]
    # PyTorch holds n x n (for additive n x n x d) numbers of each group.
    small = (32, 8, 2, torch.float32, False) if Place.dry else (2048, 32, 2, torch.float32, False)
    of_all[len(OPERATORS):len(OPERATORS)] = [(small, name) for name in PORTABLE]
    print(f"{'operator':<14} {'pass':<8} {'dtype':<8} {'n':>6} {'d':>4} {'causal':<6} {'who':<20} "
          f"{'warm ms':>9} {'cold ms':>9} {'TFLOP/s':>8}")
    for (n, d, groups, dtype, causal), name in of_all:
        if late("time"):
            print("time: out of time, the rest is left out")
            return rows
        case = Case(library, name, dtype, n, d, groups, causal)
        for pass_name in ("forward", "backward"):
            warm, cold = time_case(case, pass_name, 9, flush)
            for who in warm:
                row = {"operator": name, "pass": pass_name, "dtype": str(dtype)[6:], "n": n, "d": d,
                       "groups": groups, "causal": causal, "who": who,
                       "warm": statistics.median(warm[who]), "cold": statistics.median(cold[who]),
                       "warm_samples": warm[who], "cold_samples": cold[who],
                       "flops": flops(case, pass_name)}
                rows.append(row)
                print(f"{name:<14} {pass_name:<8} {row['dtype']:<8} {n:>6} {d:>4} {str(causal):<6} {who:<20} "
                      f"{row['warm'] * 1e3:>9.3f} {row['cold'] * 1e3:>9.3f} "
                      f"{row['flops'] / row['warm'] * 1e-12:>8.1f}", flush=True)
        del case
        free_memory()
        save(rows)
    return rows


def run_tune(library, save):
    """Variants of the fast kernel, in turning order; none is chosen here."""
    rows, flush = [], Flush()
    count = library.code.conelab_fast_variants()
    label = lambda v: (f"consumers={library.code.conelab_fast_consumers(v)} "
                       f"stages={library.code.conelab_fast_stages(v)} "
                       f"turns={library.code.conelab_fast_turns(v)}")
    cases = ((16384, 64, 4, False), (4096, 64, 16, True), (8192, 128, 4, False))
    if Place.dry:
        cases = ((32, 8, 2, True),)
    for n, d, groups, causal in cases:
        for name in OPERATORS:
            if late("tune"):
                print("tune: out of time, the rest is left out")
                return rows
            case = Case(library, name, torch.bfloat16, n, d, groups, causal)
            if case.ours.fast is None:
                print("tune: SKIPPED: this GPU has no fast path (compute capability 9.0)")
                return rows
            works = {label(v): functools.partial(case.ours.fast_forward, v) for v in range(count)}
            warm, cold = rounds_of(works, 15, flush)
            for who in works:
                median = statistics.median(warm[who])
                rows.append({"operator": name, "n": n, "d": d, "groups": groups, "causal": causal, "who": who,
                             "warm": median, "cold": statistics.median(cold[who]),
                             "warm_samples": warm[who], "flops": flops(case, "forward")})
                print(f"{name:<10} n={n:<6} d={d:<4} causal={str(causal):<6} {who:<32} {median * 1e3:9.3f} ms "
                      f"{rows[-1]['flops'] / median * 1e-12:7.1f} TFLOP/s", flush=True)
            save(rows)
    return rows


def query_device():
    """Read only; the card's settings are left alone."""
    fields = "name,driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw,clocks_throttle_reasons.active"
    try:
        run = subprocess.run(["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader"],
                             capture_output=True, text=True, timeout=30)
        return run.stdout.strip() or run.stderr.strip()
    except OSError:
        return "nvidia-smi not found"


def write(path, rows, attributes):
    try:
        import h5py
    except ImportError:
        path = path.with_suffix(".json")
        path.write_text(json.dumps({"attributes": attributes, "rows": rows}, indent=1))
        return path
    with h5py.File(path, "w") as file:
        file.attrs.update(attributes)
        for key in (rows[0] if rows else {}):
            values = [r[key] for r in rows]
            if isinstance(values[0], str):
                file.create_dataset(key, data=values, dtype=h5py.string_dtype())
            elif isinstance(values[0], bool):
                file[key] = [int(v) for v in values]
            else:
                file[key] = values
    return path


def main(mode, library_path, out, *options):
    if "--dry-run" in options:
        print("dry run on the CPU with a stand-in for the kernels: the numbers mean nothing")
        with rehearsal():
            return work(mode, stand_in.Library, out)
    if not torch.cuda.is_available():
        print("run.py: SKIPPED: cuda: no device that PyTorch can use")
        return 77
    return work(mode, kernels.Kernels(library_path), out)


def work(mode, library, out):
    before = query_device()
    print(f"device: {before}; PyTorch {torch.__version__}, CUDA {torch.version.cuda}")

    def save(rows):
        """After every case: what is cut off keeps what it had."""
        attributes = {"mode": mode, "dry_run": int(Place.dry), "device_before": before,
                      "device_after": query_device(), "torch": str(torch.__version__),
                      "cuda": str(torch.version.cuda), "host": platform.platform(),
                      "seconds": time.time() - STARTED}
        return write(pathlib.Path(out) / f"conelab_gpu_{mode}.h5", rows, attributes)

    modes = {"time": run_time, "tune": run_tune, "check": run_check}
    rows = modes[mode](library, save)
    print(f"written: {save(rows)}")
    return 1 if any(not r.get("good", True) for r in rows) or not rows else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
