"""Length beyond training: HyPE, ALiBi and RoPE, a model of bytes that reads four times as many tokens."""
from language import Language
from trainer import main


class Length(Language):
    name, title = "length", "Four times the length of training: HyPE, ALiBi, RoPE and no positions"
    text = ("HyPE (Angelotti 2023) is to extend to lengths beyond training as ALiBi does. The model and text are those of "
            "the language model, without a table of positions; \"dot\" knows the order by its causal mask alone. `bits` is at "
            "four times the context, `at training length` at the context itself.")
    operators, dims = ("dot", "dot+alibi", "dot+hype", "dot+rope"), (16,)
    sizes = dict(Language.sizes, context=64)
    positions = False

    def score(self, model, split, sizes):
        return {"bits": self.bits(model, split, 4 * sizes["context"]),
                "at training length": self.bits(model, split, sizes["context"])}


if __name__ == "__main__":
    main(Length())
