"""Attention that the processes of a group of torch.distributed share: `group` of conelab.torch.attention."""
import hashlib
import itertools
import queue
import threading

import torch
import torch.distributed as dist

from . import _conelab
from .torch import _ELEMENTS, _call_of, _gradient, _names_and_call, _prepared, _readable

_FIRST_TAG = 1 << 24  # Beside those of other messages in the group.
_abandoned = []  # Calls that failed: their memory may still be sent.


class _Message:
    def __init__(self, tensor, view):
        self.tensor, self.view = tensor, view
        self.complete, self.error = False, None


class _Carrier:
    """Sends and receives for the engine. Only who waits for a message learns that it is complete, so that
    a thread for each process and direction waits for the messages there in their order."""

    def __init__(self, group):
        self.group, self.processes = group, dist.get_process_group_ranks(group)
        self.numbers, self.messages, self.waiting, self.threads = itertools.count(), {}, {}, []

    def send(self, to, tag, view):
        tensor = torch.frombuffer(view, dtype=torch.uint8)
        return self._started((True, to), dist.isend(tensor, self.processes[to], self.group, _FIRST_TAG + tag),
                             _Message(tensor, None))

    def receive(self, other, tag, view):
        # Memory of its own: where a call fails, messages may arrive after that of the engine is gone.
        tensor = torch.empty(len(view), dtype=torch.uint8)
        return self._started((False, other), dist.irecv(tensor, self.processes[other], self.group,
                                                        _FIRST_TAG + tag), _Message(tensor, view))

    def done(self, number):
        message = self.messages[number]
        if not message.complete:
            return False
        del self.messages[number]
        if message.error is not None:
            raise message.error
        if message.view is not None:
            torch.frombuffer(message.view, dtype=torch.uint8).copy_(message.tensor)
        return True

    def end(self, succeeded):
        """Ends the threads. After a call that succeeded every message is complete or is about to be, and the
        threads are joined, since one that still waits inside of PyTorch when Python ends aborts the process. After
        one that failed they may wait for ever, and are not."""
        for waiting in self.waiting.values():
            waiting.put(None)
        for thread in self.threads if succeeded else ():
            thread.join()
        self.waiting.clear()
        self.threads.clear()

    def _started(self, way, work, message):
        if way not in self.waiting:
            self.waiting[way] = queue.SimpleQueue()
            self.threads.append(threading.Thread(target=self._wait, args=(self.waiting[way],), daemon=True))
            self.threads[-1].start()
        number = next(self.numbers)
        self.messages[number] = message
        self.waiting[way].put((work, message))
        return number

    @staticmethod
    def _wait(waiting):
        while (entry := waiting.get()) is not None:
            work, message = entry
            try:
                work.wait()
            except Exception as error:
                message.error = error
            message.complete = True


def _agreed(group, own):
    """What each process says, a dictionary, and the same in all of them but for "tokens"."""
    everyone = [None] * dist.get_world_size(group)
    dist.all_gather_object(everyone, own, group=group)
    for rank, said in enumerate(everyone):
        for what, first in everyone[0].items():
            if what != "tokens" and said[what] != first:
                raise ValueError(f"group: process {rank} has another {what} (expected that of process 0, {first}, "
                                 f"found {said[what]})")
        if min(said["tokens"]) == 0:
            raise ValueError(f"group: process {rank} has no tokens (each gives its own consecutive ones)")
        if said["tokens"][1] != said["tokens"][2]:
            raise ValueError(f"group: process {rank} has {said['tokens'][1]} keys and {said['tokens'][2]} values")
    return everyone


def _tensor(name, x):
    return (name, x.data_ptr(), _ELEMENTS[x.dtype], x.shape, x.stride())


def _whole(shape, tokens):
    return (*shape[:-2], tokens, shape[-1])


class _Shared(torch.autograd.Function):
    @staticmethod
    def forward(ctx, text, threads, group, square, wanted, q, k, v, *extra):
        call, names, tensors = _call_of((*map(_readable, (q, k, v)), *extra), text)
        for name, what in (("mask", "a mask that is a tensor"), ("bias", "a bias that is a tensor"),
                           ("dropout", "dropout")):
            if name in names:
                raise ValueError(f"group: {what} is computed in one process (processes share similarities "
                                 "of tokens with the masks full, causal, window, segment and padding)")
        arrays = dict(zip(names[3:], tensors[3:]))
        everyone = _agreed(group, {
            "call": call, "type of numbers": str(q.dtype), "names of tensors": names, "wish for gradients": wanted,
            **{f"shape of {name} but for the tokens": tuple(_whole(x.shape, 0))
               for name, x in (("q", q), ("k", k), ("v", v))},
            **{f"tensor {name}": hashlib.sha256(x.detach().contiguous().view(-1).view(torch.uint8).numpy()
                                                ).hexdigest()[:12] for name, x in arrays.items()},
            "tokens": tuple(x.shape[-2] for x in (q, k, v))})
        queries, keys = ([said["tokens"][i] for said in everyone] for i in (0, 1))
        if square and sum(queries) != sum(keys):
            raise ValueError(f"group: is_causal needs as many keys as queries (found {sum(keys)} and {sum(queries)})")
        shapes = (_whole(q.shape, sum(queries)), *(_whole(x.shape, sum(keys)) for x in (k, v)))
        _, of_forward, of_backward = _prepared(call, names, tuple(x.dtype for x in tensors),
                                               (*shapes, *(tuple(x.shape) for x in arrays.values())),
                                               torch.device("meta"))
        ctx.carrier = _Carrier(group)
        ctx.call = _conelab.GroupCall(call, [_tensor(name, x) for name, x in zip(names, tensors)], queries, keys,
                                      ctx.carrier, dist.get_rank(group))
        ctx.names, ctx.threads, ctx.of_backward = _names_and_call(text)[0], threads, of_backward
        ctx.save_for_backward(q, k, v, *extra)
        (element, whole, _), (wide, rows, _) = of_forward[:2]
        output = q.new_empty(_whole(whole, q.shape[-2]), dtype=element)
        lse = q.new_empty((*rows[:-1], q.shape[-2]), dtype=wide)
        results = [_tensor(tensors[0][0], x) for (*_, tensors), x in zip(of_forward, (output, lse))]
        _carried(ctx, lambda: ctx.call.forward(results, threads))
        ctx.mark_non_differentiable(lse)
        return output, lse

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad, _):
        tensors, grad = ctx.saved_tensors, _readable(grad)
        shapes = dict(zip("qkv", (x.shape for x in tensors)))
        found = {name: grad.new_empty(shapes.get(name, shape), dtype=element)
                 for element, shape, [(name, *_)] in ctx.of_backward if name in ctx.names}
        results = [_tensor(name, x) for name, x in found.items()]
        _carried(ctx, lambda: ctx.call.backward(_tensor("output_grad", grad), results, ctx.threads))
        return (None,) * 5 + tuple(_gradient(found.get(name), x) if wanted else None for name, x, wanted
                                   in zip(ctx.names, tensors, ctx.needs_input_grad[5:]))


def _carried(ctx, work):
    try:
        work()
        ctx.carrier.end(succeeded=True)
    except BaseException:
        _abandoned.append(ctx.call)
        ctx.carrier.end(succeeded=False)
        raise


@torch.compiler.disable
def shared_attention(q, k, v, extra, text, threads, group, square):
    """The output and log-sum-exp of this process's queries. `square`: there must be as many keys as queries."""
    if dist.get_rank(group) < 0:
        raise ValueError("group: this process is not among its processes")
    if not q.is_cpu or torch._C._are_functorch_transforms_active():
        raise NotImplementedError("group: processes share plain tensors on the CPU (no CUDA device, no vmap)")
    wanted = torch.is_grad_enabled() and any(x.requires_grad for x in (q, k, v, *extra))
    return _Shared.apply(text, threads or torch.get_num_threads(), group, square, wanted, q, k, v, *extra)
