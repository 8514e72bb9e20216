"""Texts of tokens: of a tokenizer, and where a patch of an image or a position in a sound is."""


class Texts:
    """Of the tokens of a model's inputs. `tokenizer` may be a processor, which has one."""

    def __init__(self, model, inputs, tokenizer):
        self.model, self.inputs = model, inputs
        of_text = getattr(tokenizer, "tokenizer", tokenizer)
        self.tokenizer = of_text if hasattr(of_text, "convert_ids_to_tokens") else None
        self.sound = getattr(tokenizer, "feature_extractor", tokenizer)
        if tokenizer is not None and self.tokenizer is None and not callable(tokenizer):
            raise ValueError("tokenizer is neither a tokenizer nor a processor (found "
                             f"{type(tokenizer).__name__})")

    def of(self, stack, element, n, config):
        """The texts of the n tokens of a batch element in a stack of layers ("encoder", "vision", ..., or
        "" where the model has one alone), whose configuration is `config`; none if they are not
        known."""
        if stack == "decoder":
            return self.of_ids(self.decoder_ids(), element, n)
        ids = self.of_ids(self.inputs.get("input_ids"), element, n) if stack != "vision" else []
        return ids or self.of_image(element, n, config) or self.of_sound(element, n)

    def decoder_ids(self):
        inputs = self.inputs
        if inputs.get("decoder_input_ids") is None and inputs.get("labels") is not None:
            shifted = getattr(self.model, "prepare_decoder_input_ids_from_labels", None)
            return None if shifted is None else shifted(labels=inputs["labels"])
        return inputs.get("decoder_input_ids")

    def of_ids(self, ids, element, n):
        if ids is None or ids.ndim != 2 or ids.shape[1] != n or element >= ids.shape[0]:
            return []
        ids = ids[element].tolist()
        texts = [] if self.tokenizer is None else self.tokenizer.convert_ids_to_tokens(ids)
        config = self.model.config
        for names, where in ((("image_token_id", "image_token_index"), self.of_image),
                             (("audio_token_id", "audio_token_index"), self.of_sound)):
            number = next((getattr(config, x) for x in names if hasattr(config, x)), None)
            places = [i for i, each in enumerate(ids) if each == number]
            found = self._of_parts(where, element, len(places)) if places else []
            if found:
                texts = list(texts) or [""] * n
                for place, text in zip(places, found):
                    texts[place] = text
        return texts

    def _of_parts(self, where, element, n):
        """The texts of the n tokens that stand for the images or sounds of a batch element."""
        parts = self._images_of(element) if where == self.of_image else 1
        one = where(element, n // parts, None) if n % parts == 0 else []
        prefixes = [f"image {i}, " if parts > 1 else "" for i in range(parts)]
        return [prefix + text for prefix in prefixes for text in one]

    def _images_of(self, element):
        pixels, ids = self.inputs.get("pixel_values"), self.inputs["input_ids"]
        if pixels is None or pixels.ndim < 4:
            return 1
        return pixels.shape[1] if pixels.ndim == 5 else max(1, pixels.shape[0] // ids.shape[0])

    def of_image(self, element, n, config):
        """"patch 3,5": row and column, counted from 0, after the tokens that are no patches."""
        grid = self.inputs.get("image_grid_thw")
        config = self._vision(config)
        if grid is not None:
            return self._of_grid(grid.tolist(), n, config)
        pixels, size = self.inputs.get("pixel_values"), getattr(config, "patch_size", None)
        queries = getattr(self.model.config, "num_query_tokens", None)  # They are no patches.
        if pixels is None or pixels.ndim < 4 or not size or n == queries:
            return []
        high, wide = (size, size) if isinstance(size, int) else tuple(size)[-2:]
        rows, columns = pixels.shape[-2] // high, pixels.shape[-1] // wide
        for pooled in range(1, 17):  # Some models join patches of squares.
            count = rows // pooled * (columns // pooled)
            first = n - count
            if count and 0 <= first <= (8 if pooled == 1 else 0):
                names = ["[CLS]"] + [f"[extra {i}]" for i in range(1, first)]
                return names[:first] + [f"patch {i // (columns // pooled)},{i % (columns // pooled)}"
                                        for i in range(count)]
        return []

    def _vision(self, config):
        if hasattr(config, "patch_size"):
            return config
        own = self.model.config
        return getattr(own, "vision_config", None) or getattr(own, "encoder", None) or own

    def _of_grid(self, grids, n, config):
        """Of images of several sizes (Qwen2-VL's kind): in blocks of patches that are joined later."""
        joined = getattr(config, "spatial_merge_size", 1)
        if getattr(config, "fullatt_block_indexes", None) is not None:
            return []  # The layers see the patches in an order of windows.
        patches = [[(t, r + i, c + j) for t in range(time) for r in range(0, rows, joined)
                    for c in range(0, columns, joined) for i in range(joined) for j in range(joined)]
                   for time, rows, columns in grids]
        if n != sum(map(len, patches)):
            joined_places = [[(t, r // joined, c // joined) for t, r, c in image[::joined ** 2]]
                             for image in patches]
            patches = joined_places
        texts = [(f"image {number}, " if len(grids) > 1 else "") + f"patch {r},{c}"
                 for number, image in enumerate(patches) for t, r, c in image]
        return texts if n == len(texts) else []

    def of_sound(self, element, n, config=None):
        """"0.12 s": where the sound of a position begins."""
        rate = getattr(self.sound, "sampling_rate", 16000)
        features, samples = self.inputs.get("input_features"), self.inputs.get("input_values")
        own = getattr(self.model.config, "inputs_to_logits_ratio", None)
        if features is not None and features.ndim == 3:
            hop = getattr(self.sound, "hop_length", 160)
            bins = getattr(self.model.config, "num_mel_bins", min(features.shape[1:]))
            frames = features.shape[1] if features.shape[2] == bins else features.shape[2]
            step = round(frames / n) * hop
        elif samples is not None and samples.ndim == 2 and own:
            step = own if samples.shape[1] // own >= n - 1 else 0
        else:
            return []
        return [f"{i * step / rate:.2f} s" for i in range(n)] if step else []
