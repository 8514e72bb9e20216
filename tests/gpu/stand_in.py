"""Stands in for the kernels where there is no GPU: the same answers from plain float64 formulas, on
the CPU, behind the same calls. For the tests of the scripts and for `run.sh --dry-run`."""
import torch

import formulas
import kernels


def takes(similarity, problem):
    """Whether the fast path takes the call."""
    by_offset = problem.axes <= 1 and not problem.class_bias and not problem.lists and not problem.over_queries
    return by_offset and problem.storage != 1 and Library.names[similarity] != "additive"


class Library:
    """Of the loaded kernels, what the scripts ask."""
    names = ("dot", "laplacian", "umbral", "penumbral", "additive")

    class code:
        conelab_fast_width = staticmethod(lambda which, problem: 64 if takes(which, problem._obj) else 0)
        conelab_similarity_constants = staticmethod(lambda _: 2)
        conelab_fast_variants = staticmethod(lambda: 2)
        conelab_fast_consumers = staticmethod(lambda _: 2)
        conelab_fast_stages = staticmethod(lambda _: 2)
        conelab_fast_turns = staticmethod(lambda variant: 1 - variant)

    @classmethod
    def index(cls, name):
        return cls.names.index(name)


class Attention(kernels.Attention):
    """Computes what the kernels should, in float64, from the same placed tokens."""
    wrong = 0.0  # Share by which outputs are off.
    noise = 0.0  # By how much every number of a gradient is.

    def has_fast_path(self):
        return True

    def graph(self):
        leaf = lambda t: None if t is None else t.double().detach().requires_grad_()
        q, k, u, v, value, *leaves = map(leaf, (self.query.base, self.key.base, self.query.height,
                                                self.key.height, self.value, *self.part.leaves))
        out = formulas.attention(self.name, q, k, u, v, value, self.parameters, self.size, self.causal,
                                 self.part, leaves)
        return out, (q, k, value, *leaves)

    def finished(self):
        return self.output

    def forward(self):
        self.sum.fill_(1)
        self.maximum.fill_(0)
        return self.output.copy_(self.graph()[0].detach() * (1 + self.wrong))

    def fast_forward(self, variant=0):
        return self.forward()

    def prepare_backward(self, output_grad, forward=None):
        self.exact_grad = output_grad.double()
        super().prepare_backward(output_grad, forward)

    def backward(self):
        out, leaves = self.graph()
        grads = torch.autograd.grad((out * self.exact_grad).sum(), leaves)
        self.of_leaves = [grad + self.noise for grad in grads[3:]]
        for name, grad in zip(("query", "key", "value"), grads):
            share = len(self.gradients[name]) // len(grad)  # Of the groups that share a head, equal parts.
            self.gradients[name].copy_((grad + self.noise).repeat_interleave(share, 0) / share)
        for name in ("query_potential", "key_potential", "sums", *self.part.gradient_arrays()):
            self.gradients[name].zero_()
        return self.gradients

    def leaf_gradients(self, arrays):
        return self.of_leaves

    def fast_backward(self):
        return self.backward()
