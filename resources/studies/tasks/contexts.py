"""The near-linear way: heads with two numbers in queries and keys, over contexts of 256 to 16,384 bytes."""
from language import Language
from trainer import main


class Contexts(Language):
    name, title = "contexts", "A language model of bytes with heads of d = 2, by its context"
    text = ("The model and text are those of the language model; queries and keys have 2 numbers a head, so that umbral "
            "cones cost O(n log n), the dot product O(n^2). A step has the same number of bytes at each context. Rates are "
            "chosen at the shortest context.")
    operators, dims, axis = ("dot", "umbral"), (256, 1024, 4096, 16384), "context"
    tuned_at_first = True
    sizes = {"steps": 300, "bytes": 16384, "width": 64, "heads": 4, "blocks": 2}
    quick = {"steps": 4}

    def sizes_at(self, d, sizes):
        return {**sizes, "context": d, "batch": max(1, sizes["bytes"] // d)}

    def attention(self, operator, d, sizes, mask=None):
        return super().attention(operator, 2, sizes, mask)


if __name__ == "__main__":
    main(Contexts())
