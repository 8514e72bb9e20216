"""`figure`: formats by ending, the same bytes every time, refusals that leave nothing behind."""
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as xml
from hashlib import sha256

import h5py
import numpy as np

from program import PROGRAM, ROOT, TRACE, ProgramTest, run

GERMAN = f"{TRACE}:/german/layer3"


def endings():
    """The formats of this build: PNG is painted by Qt."""
    without = "without Qt" in run("figure", "cones", "-o", "/nonexistent-folder/x.png").err
    return ("svg", "pdf") if without else ("svg", "pdf", "png")


class Layers(ProgramTest):
    def test_of_an_archive_are_drawn_as_those_of_hdf5(self):
        archive, groups = self.folder / "a.npz", self.folder / "a.h5"
        arrays = {}
        with h5py.File(TRACE) as trace, h5py.File(groups, "w") as copy:
            for layer in range(4):
                for name in "qkv":
                    array = trace[f"german/layer{layer}/{name}"][...]
                    arrays[f"m.{layer}.attn.{name}_proj"] = array
                    copy[f"m.{layer}/{name}"] = array
        np.savez(archive, **arrays)
        names = ("-p", "arrays=q_proj,k_proj,v_proj")

        def pictures(figure, spec, *words):
            path = self.folder / "f.svg"
            self.ok("figure", figure, "-o", path, "--input", spec, *words)
            text = path.read_text()
            return re.findall("data:image/png;base64,([^\"]+)", text), text

        for figure, words in (("heads", ()), ("heatmap", ("-p", "join=rollout"))):
            drawn, text = pictures(figure, f"{archive}:/m.3.attn", *names, *words)
            self.assertEqual(drawn, pictures(figure, f"{groups}:/m.3", *words)[0], figure)
            self.assertTrue(drawn, figure)
            if figure == "heads":
                for layer in range(4):
                    self.assertIn(f">m.{layer}<", text)


class Cones(ProgramTest):
    def test_svg_is_xml_with_real_arcs_and_says_how_it_was_made(self):
        path = self.folder / "cones.svg"
        self.ok("figure", "cones", "-o", path, "-p", "cone=penumbral")
        root = xml.parse(path).getroot()
        self.assertTrue(root.tag.endswith("svg"))
        text = path.read_text()
        self.assertIn("conelab figure cones -p cone=penumbral", text)
        self.assertRegex(text, r'd="[^"]*A')
        self.assert_clean("cones.svg")

    def test_the_same_call_gives_the_same_bytes_in_any_order_of_its_keys(self):
        first, second = ("-p", "cone=umbral"), ("-p", "caption=two keys")
        for ending in endings():
            one, two = self.folder / f"one.{ending}", self.folder / f"two.{ending}"
            for path, keys in ((one, first + second), (two, second + first)):
                self.ok("figure", "cones", "-o", path, *keys)
            self.assertEqual(one.read_bytes(), two.read_bytes(), ending)

    def test_pdf_has_the_width_asked_for_and_text_as_text(self):
        path = self.folder / "cones.PDF"
        self.ok("figure", "cones", "-o", path, "--width", "86mm")
        info = subprocess.run(["pdfinfo", path], capture_output=True, text=True, check=True).stdout
        self.assertRegex(info, r"Page size: +243 x ")
        text = subprocess.run(["pdftotext", path, "-"], capture_output=True, text=True, check=True)
        self.assertIn("LCA", text.stdout)

    def test_only_a_figure_of_its_own_is_replaced(self):
        for ending in endings():
            path = self.folder / f"f.{ending}"
            path.touch()
            self.ok("figure", "cones", "-o", path, "-p", "cone=umbral")
            earlier = path.read_bytes()
            self.ok("figure", "cones", "-o", path, "-p", "cone=penumbral")
            self.assertNotEqual(path.read_bytes(), earlier)
            for content in (b"a letter", b"<?xml?><svg/>", b"%PDF-1.4 a thesis", b"\x89PNG a photograph"):
                path.write_bytes(content)
                for words in (("figure", "cones", "-o", path),
                              ("lca", "--cone", "umbral", "0,1", "1,1", "--figure", path)):
                    self.fails(2, *words, says=[f"f.{ending}: is not a figure of this program", "lost"])
                self.assertEqual(path.read_bytes(), content)
            path.unlink()
        self.assert_clean()

    def test_a_caption_may_stand_in_the_file_alone(self):
        drawn = {}
        for place in ("drawing", "file"):
            path = self.folder / f"{place}.svg"
            self.ok("figure", "cones", "-o", path, "-p", "caption=Two cones", "--caption-in", place)
            drawn[place] = path.read_text()
            self.assertIn("<desc>Two cones. ", drawn[place])
        self.assertIn(">Two cones. ", drawn["drawing"].split("</desc>")[1])
        self.assertNotIn(">Two cones. ", drawn["file"].split("</desc>")[1])
        height = [float(drawn[place].split('height="')[1].split('"')[0].rstrip("pt")) for place in drawn]
        self.assertGreater(height[0], height[1] + 10)

    def test_characters_without_a_glyph_are_named_and_drawn_by_their_numbers(self):
        for ending in ("svg", "pdf"):
            path = self.folder / f"c.{ending}"
            done = self.ok("figure", "cones", "-o", path, "-p", "caption=Tokens: 中 and 文")
            self.assertIn("no embedded font has 中 (U+4E2D), 文 (U+6587): drawn as \\u4E2D", done.err)
            self.assertEqual(done.err.count("\n"), 1)
            if ending == "svg":
                drawn = path.read_text()
                self.assertIn(">Tokens: \\u4E2D and \\u6587", drawn)
                self.assertIn("<desc>Tokens: 中 and 文. ", drawn)
            else:
                text = subprocess.run(["pdftotext", path, "-"], capture_output=True, text=True,
                                      check=True)
                self.assertIn("\\u4E2D", text.stdout)

    def test_json_tells_what_was_drawn(self):
        found = self.ok("figure", "cones", "-o", self.folder / "c.svg", "--json").json()
        self.assertEqual(found["figure"], "cones")
        self.assertEqual(found["format"], "svg")
        self.assertGreater(found["height_pt"], 50)

    def test_a_result_that_is_no_trace_is_named(self):
        attended, tree, out = (self.folder / n for n in ("a.h5", "t.h5", "f.svg"))
        self.ok("attend", GERMAN, "-o", attended, "-s", "dot", "--keep", "gradients")
        self.ok("tree", GERMAN, "-o", tree, "-s", "dot")
        for words in (("figure", "hasse", "-i", attended, "-o", out),
                      ("tree", attended, "-o", self.folder / "o.h5", "-s", "dot"),
                      ("attend", attended, "-o", self.folder / "o.h5", "-s", "dot")):
            self.fails(1, *words, says=("is a result of attend", f"computed from {GERMAN}"))
        self.fails(1, "figure", "heatmap", "-i", tree, "-o", out,
                   says=("is a result of tree", f"computed from {GERMAN}"))

    def test_refusals_leave_nothing_behind(self):
        out = self.folder / "c.svg"
        self.fails(2, "figure", "conse", "-o", out, says="did you mean 'cones'?")
        self.fails(2, "figure", "cones", "-o", out, "-p", "cnoe=umbral", says="'cone'")
        self.fails(2, "figure", "cones", "-o", out, "-p", "cone=ubral", says="did you mean 'umbral'?")
        self.fails(2, "figure", "cones", "-o", out, "-p", "u=1", says="at least 2")
        self.fails(2, "figure", "cones", "-o", out, "-p", "height=tall", says="a number")
        self.fails(2, "figure", "cones", "-o", out, "-p", "u=0,1.5", says="1")
        self.fails(2, "figure", "cones", "-o", out, "--width", "wide", says="wide")
        self.fails(2, "figure", "cones", "-o", self.folder / "c.gif", says=["gif", "svg, pdf, png"])
        self.fails(2, "figure", "cones", "-o", self.folder / "c", says="svg, pdf, png")
        self.fails(2, "figure", "cones", says="--output")
        self.fails(1, "figure", "cones", "-o", self.folder / "no/such/c.svg", says="no/such")
        self.fails(1, "figure", "cones", "-o", "/dev/full/c.svg")
        self.assert_clean()


class Heatmap(ProgramTest):
    def draw(self, *options, out="maps.svg"):
        path = self.folder / out
        self.ok("figure", "heatmap", "-o", path, *options)
        return xml.parse(path).getroot(), path.read_text()

    def test_of_a_trace_names_operators_and_tokens(self):
        _, text = self.draw("-i", GERMAN, "-p", "similarities=dot,umbral", "-p", "head=5")
        for part in ("dot", "umbral", "[CLS]", "MiniLM", "head 5"):
            self.assertIn(part, text)
        self.assertNotIn("penumbral", text)

    def test_of_results_of_attend(self):
        for name in ("dot", "umbral"):
            self.ok("attend", GERMAN, "-o", self.folder / f"{name}.h5", "-s", name, "--keep", "weights")
        files = [word for name in ("dot", "umbral") for word in ("-i", self.folder / f"{name}.h5")]
        _, text = self.draw(*files, "-p", "head=2")
        for part in ("dot", "umbral", "[CLS]", "head 2"):
            self.assertIn(part, text)

    def test_a_result_with_other_axes_is_refused(self):
        path = self.folder / "w.h5"
        for order in ((1, 0, 2, 3), (0, 1, 3, 2)):
            self.ok("attend", GERMAN, "-o", path, "-s", "dot", "--keep", "weights")
            with h5py.File(path, "a") as file:
                group = file["attention/weights"]
                weights = group["weight"][()].transpose(order)
                names = np.array(("batch", "head", "query", "key"))[list(order)]
                del group["weight"]
                group["weight"] = weights
                for axis, name in enumerate(names):
                    group["weight"].dims[axis].attach_scale(group[name])
            self.fails(1, "figure", "heatmap", "-o", self.folder / "m.svg", "-i", path,
                       says=["axes", ", ".join(names)])

    def test_results_of_attend_say_what_they_show(self):
        for name, options in (("a", ("-s", "umbral", "-p", "gamma=" + ",".join(
                map(str, range(1, 13))))), ("b", ("-s", "dot", "--mask", "causal"))):
            self.ok("attend", GERMAN, "-o", self.folder / f"{name}.h5", *options, "--keep", "weights")
        a, b = self.folder / "a.h5", self.folder / "b.h5"
        for figure in ("heatmap", "arcs"):
            path = self.folder / "maps.svg"
            self.ok("figure", figure, "-o", path, "-i", a, "-i", b, "-p", "head=2")
            for part in ("umbral, gamma = 3<", "dot, causal<", "MiniLM-L6-v2, german/layer3, head 2"):
                self.assertIn(part, path.read_text())
            self.fails(2, "figure", figure, "-o", path, "-i", a, "-p", "similarities=dot",
                       says=["similarities=dot", "a.h5 holds the map of umbral, gamma = 1"])
        for reference in ("b", "dot, causal"):
            drawn = self.draw("-i", a, "-i", b, "-p", f"difference={reference}", "-p", "head=2")[1]
            self.assertIn("umbral, gamma = 3 − dot, causal", drawn)
        # Alike but for their inputs: the files tell them apart.
        self.ok("attend", f"{TRACE}:/german/layer0", "-o", self.folder / "c.h5", "-s", "dot", "--mask",
                "causal", "--keep", "weights")
        drawn = self.draw("-i", b, "-i", self.folder / "c.h5")[1]
        for part in (">b<", ">c<", ">head 0"):
            self.assertIn(part, drawn)

    def test_masked_pairs_of_a_trace_are_drawn_as_such(self):
        causal = self.draw("-i", GERMAN, "-p", "similarities=dot:masks=causal", "-p", "quantity=logits")[1]
        self.ok("attend", GERMAN, "-o", self.folder / "m.h5", "-s", "dot", "--mask", "causal", "--keep", "logits")
        stored = self.draw("-i", self.folder / "m.h5", "-p", "quantity=logits")[1]
        for text in (causal, stored):
            self.assertIn("masked", text)
        full = self.draw("-i", GERMAN, "-p", "similarities=dot", "-p", "quantity=logits")[1]
        self.assertNotIn("masked", full)

    def test_maps_that_are_smaller_than_their_axes_are_refused(self):
        path, out = self.folder / "a.h5", self.folder / "o.svg"
        self.ok("attend", GERMAN, "-o", path, "-s", "umbral", "--keep", "weights")
        with h5py.File(path, "r+") as file:
            group = file["attention/weights"]
            scales = [group["weight"].dims[i][0] for i in range(4)]
            del group["weight"]
            group["weight"] = np.zeros((1, 1, 2, 2), "f4")
            for axis, scale in enumerate(scales):
                group["weight"].dims[axis].attach_scale(scale)
        self.fails(1, "figure", "heatmap", "-o", out, "-i", path, "-p", "head=11", says=["weight"])
        self.assertFalse(out.exists())

    def test_results_of_earlier_versions_name_their_operator(self):
        path = self.folder / "a.h5"
        self.ok("attend", GERMAN, "-o", path, "-s", "umbral", "--mask", "causal", "--keep", "weights")
        with h5py.File(path, "r+") as file:
            del file["attention"].attrs["call"]
        self.assertIn("umbral, causal<", self.draw("-i", path)[1])
        with h5py.File(path, "r+") as file:
            file["attention"].attrs["spec"] = "[1"
        self.assertIn(">a<", self.draw("-i", path)[1])

    def test_draws_every_file_or_none(self):
        for name in ("dot", "umbral"):
            self.ok("attend", GERMAN, "-o", self.folder / f"{name}.h5", "-s", name, "--keep", "weights")
        self.ok("attend", GERMAN, "-o", self.folder / "plain.h5", "-s", "dot")
        whole = (self.folder / "dot.h5").read_bytes()
        (self.folder / "cut.h5").write_bytes(whole[:len(whole) // 2])
        (self.folder / "text.h5").write_text("no result\n" * 100)
        held = sorted(p.name for p in self.folder.iterdir())
        for wrong, says in (("missing.h5", "No such file"), ("cut.h5", "truncated"),
                            ("text.h5", "text.h5"), ("plain.h5", "--keep weights")):
            for order in (("dot", wrong, "umbral"), (wrong, "dot"), (wrong,)):
                words = [word for name in order
                         for word in ("-i", self.folder / (name if "." in name else f"{name}.h5"))]
                self.fails(1, "figure", "heatmap", "-o", self.folder / "maps.svg", *words,
                           says=[wrong, says])
        self.fails(1, "figure", "heatmap", "-o", self.folder / "maps.svg", "-i",
                   self.folder / "dot.h5", "-i", TRACE, says="not a result of attend")
        self.assert_clean(*held)

    def test_an_array_alone_is_said_to_be_q_and_k(self):
        array = self.folder / "map.npy"
        np.save(array, np.eye(6))
        out = self.folder / "map.svg"
        self.assertIn("map.npy: there is no k; q is read as k too",
                      self.ok("figure", "heatmap", "-i", array, "-o", out).err)
        self.assertNotIn("no k", self.ok("figure", "heatmap", "-i", GERMAN, "-o", out).err)

    def test_the_other_file_of_a_comparison_is_named(self):
        other = self.folder / "other.h5"
        shutil.copy(TRACE, other)
        path = self.folder / "beside.svg"
        self.ok("figure", "heatmap", "-i", GERMAN, "-o", path, "-p", "similarities=dot", "-p",
                f"beside={other}:/german/layer3")
        text = path.read_text()
        self.assertIn("other.h5: layer3", text)
        self.assertIn("beside other.h5: ", text)

    def test_the_arrays_of_the_other_file_are_q_k_and_v_as_far_as_there_are_any(self):
        query = np.random.default_rng(3).normal(size=(6, 4))
        own, other = self.write("own.h5", query=query), self.write("other.h5", q=query)
        array = self.folder / "other.npy"
        np.save(array, query)
        for beside in (other, array):
            self.ok("figure", "heatmap", "-i", own, "-o", self.folder / "m.svg", "-p", "similarities=dot",
                    "-p", "arrays=query,query,query", "-p", f"beside={beside}", "-p",
                    "beside_arrays=q,k,v")

    def test_a_difference_has_its_own_colour_bar(self):
        _, text = self.draw("-i", GERMAN, "-p", "similarities=umbral,dot", "-p", "difference=dot")
        self.assertIn("umbral − dot", text)

    def test_operators_take_parameters(self):
        def draw(similarities, out):
            return self.draw("-i", GERMAN, "-p", "similarities=" + similarities, out=out)[1]
        plain = draw("penumbral", "a.svg")
        sharp = draw("penumbral:gamma=4:masks=causal", "b.svg")
        self.assertIn("penumbral, gamma = 4, causal", sharp)
        self.assertIn("penumbral", plain)
        self.assertNotIn("gamma", plain.split("</metadata>")[-1])
        text = self.draw("-i", GERMAN, "-p", "similarities=dot,penumbral:gamma=4", "-p",
                         "difference=penumbral:gamma=4")[1]
        self.assertIn("dot − penumbral, gamma = 4", text)
        for wrong, says in (("penumbral:gama=4", "gamma"), ("penumbral:gamma", "KEY=VALUE"),
                            ("penumbral:bias=alibj", "alibi")):
            self.fails(2, "figure", "heatmap", "-o", self.folder / "c.svg", "-i", GERMAN, "-p",
                       "similarities=" + wrong, says=says)

    def test_operators_that_make_heads_take_tokens_of_one(self):
        draw = "P_query=random:P_key=random:P_value=random"
        trace = self.draw("-i", GERMAN, "-p", f"similarities=multi-head:heads=4:scale=.5,2,3,4:{draw}", "-p",
                          "head=5")[1]
        words = [word for each in draw.split(":") for word in ("-p", each)]
        self.ok("attend", GERMAN, "--head", "5", "--operator", "multi-head", "-p", "heads=4", "-p",
                "scale=.5,2,3,4", *words,
                "-o", self.folder / "made.h5", "--keep", "weights", "--dtype", "f64")
        result = self.draw("-i", self.folder / "made.h5", "-p", "head=0", out="result.svg")[1]
        other = self.draw("-i", self.folder / "made.h5", "-p", "head=1", out="other.svg")[1]
        matrices = [re.findall('image/png;base64,([^"]+)"', text)[0] for text in (trace, result, other)]
        self.assertEqual(matrices[0], matrices[1])
        self.assertNotEqual(matrices[0], matrices[2])
        self.assertIn("scale = .5, head 0 of 4", trace)

    def test_weights_with_signs_have_a_bar_of_their_own(self):
        text = self.draw("-i", GERMAN, "-p", "similarities=dot,volume-preserving:A=random:form=cubic")[1]
        self.assertIn("attention weights with signs", text)
        heads = self.folder / "heads.svg"
        self.ok("figure", "heads", "-o", heads, "-i", GERMAN, "-p",
                "similarities=volume-preserving:A=random:form=cubic")
        self.assertIn("attention weights with signs", heads.read_text())

    def test_lists_of_one_number_per_head_contain_commas(self):
        def drawn(gamma):
            text = self.draw("-i", GERMAN, "-p", "head=3", "-p",
                             f"similarities=dot,penumbral:gamma={gamma}:masks=causal,umbral")[1]
            # The font, in the style, and names have a digest that covers the command line.
            return re.sub("(Sans |c)[0-9a-f]{8}", r"\1", text.split("</style>")[-1])
        self.assertEqual(drawn("9,8,7,2.5,6,5,4,3,2,1,1e1,11"), drawn("2.5"))
        self.assertNotEqual(drawn("9,8,7,2.5,6,5,4,3,2,1,1e1,11"), drawn("9"))

    def test_lists_of_one_number_per_axis_stay_whole(self):
        path = self.write(q=np.random.default_rng(1).normal(size=(2, 30, 4)))
        result = self.folder / "result.h5"
        keys = {"grid": "5x6", "hype_mu": ".2,.1;.3,.4", "hype_tau": "1,2", "scale": "1,3"}
        self.ok("attend", path, "-o", result, "--similarity", "dot", "--bias", "hype", "--keep", "weights",
                *(word for key, value in keys.items() for word in ("-p", f"{key}={value}")))
        call = "dot:bias=hype:" + ":".join(f"{key}={value}" for key, value in keys.items())
        for head, mu in (("0", ".2,.1"), ("1", ".3,.4")):
            trace = self.draw("-i", path, "-p", f"head={head}", "-p", f"similarities={call}")[1]
            stored = self.draw("-i", result, "-p", f"head={head}", out="stored.svg")[1]
            for text in (trace, stored):
                self.assertIn(f"hype_mu = {mu}", text)
                self.assertIn("hype_tau = 1,2", text)
                self.assertIn(f"scale = {1 + 2 * int(head)}", text)

    def test_several_traces_under_one_operator_have_different_titles(self):
        layers = [word for n in (0, 3) for word in ("-i", f"{TRACE}:/german/layer{n}")]
        alike = self.draw(*layers, "-p", "similarities=dot", "-p", "head=2")[1]
        for title in (">dot, layer0 · 2<", ">dot, layer3 · 2<"):
            self.assertIn(title, alike)
        more = self.draw(*layers, "-p", "similarities=dot,umbral", "-p", "join=mean")[1]
        for title in (">dot, layer0 · mean<", ">umbral, layer3 · mean<"):
            self.assertIn(title, more)

    def test_of_several_traces_beside_the_ancestors(self):
        trace = ROOT / "datasets/mammals_trace.h5"
        heads = [word for name in ("dot", "umbral") for word in ("-i", f"{trace}:/{name}/seed1")]
        out = self.folder / "seen.svg"
        self.ok("figure", "heatmap", "-o", out, *heads, "-p", "ancestors=yes")
        texts = out.read_text()
        for title in (">ancestors<", ">dot, scale = ", ">umbral, gamma = ", "dot/seed1, head 0; umbral/seed1"):
            self.assertIn(title, texts)
        said = self.ok("figure", "heatmap", "-o", out, *heads[2:], "-p", "similarities=dot,umbral").err
        self.assertIn("the input was made for umbral, gamma = ", said)
        self.fails(2, "figure", "heatmap", "-o", self.folder / "n.svg", "-i", f"{TRACE}:/german/layer3",
                   "-p", "ancestors=yes", says="has no hierarchy")

    def test_refusals(self):
        out = self.folder / "maps.svg"
        self.fails(2, "figure", "heatmap", "-o", out, says="--input")
        self.fails(2, "figure", "heatmap", "-o", out, "-i", GERMAN, "-p", "head=12", says="12")
        self.fails(2, "figure", "heatmap", "-o", out, "-i", GERMAN, "-p", "head=-1", says="head")
        self.fails(2, "figure", "heatmap", "-o", out, "-i", GERMAN, "-p", "low=-inf", "-p", "high=1",
                   says="low=-inf: expected a finite number")
        for figure, typed, said in (("cones", "u=1e300,0.2", "u=1e300,0.2: expected numbers up to 1e+09"),
                                    ("cones", "height=1e300", "height=1e300: expected a number from -1e+09"),
                                    ("determinant", "draws=10000000", "draws=10000000: expected a whole")):
            self.fails(2, "figure", figure, "-o", out, "-p", typed, says=said)
        self.fails(2, "figure", "heatmap", "-o", out, "-i", GERMAN, "-p", "similarities=dto",
                   says="did you mean 'dot'?")
        self.fails(2, "figure", "heatmap", "-o", out, "-i", GERMAN, "-p", "difference=laplacian",
                   says="laplacian")
        self.fails(2, "figure", "heatmap", "-o", out, "-i", GERMAN, "-p", "quantity=weight",
                   says="did you mean 'weights'?")
        self.fails(1, "figure", "heatmap", "-o", out, "-i", "none.h5", says="none.h5")
        self.assert_clean()


class Arcs(ProgramTest):
    def test_of_a_trace_and_of_a_result_are_the_same_arcs(self):
        trace, result = self.folder / "a.svg", self.folder / "b.svg"
        self.ok("figure", "arcs", "-o", trace, "-i", GERMAN, "-p", "similarities=umbral", "-p",
                "head=5", "-p", "top=2")
        self.ok("attend", GERMAN, "-o", self.folder / "umbral.h5", "-s", "umbral", "--keep", "weights",
                "--dtype", "f64")
        self.ok("figure", "arcs", "-o", result, "-i", self.folder / "umbral.h5", "-p", "head=5", "-p",
                "top=2")
        arcs = [[e.get("d") for e in xml.parse(path).iter() if e.tag.endswith("path")]
                for path in (trace, result)]
        self.assertEqual(arcs[0], arcs[1])
        self.assertIn("the 2 strongest", trace.read_text())

    def test_refusals(self):
        out = self.folder / "arcs.svg"
        self.fails(2, "figure", "arcs", "-o", out, "-i", GERMAN, "-p", "arrangement=row", says="'rows'")
        self.fails(2, "figure", "arcs", "-o", out, "-i", GERMAN, "-p", "top=-1", says="top")
        self.fails(2, "figure", "arcs", "-o", out, "-i", GERMAN, "-p", "top=0", says="leaves no arcs")
        self.fails(2, "figure", "arcs", "-o", out, says="--input")
        self.assert_clean()


    def test_says_where_no_weight_is_strong_enough(self):
        path = self.folder / "arcs.svg"
        self.ok("figure", "arcs", "-o", path, "-i", GERMAN, "-p", "threshold=1.5")
        self.assertIn("no weight reaches 1.5", path.read_text())


class Tree(ProgramTest):
    def test_of_a_result_says_what_it_holds(self):
        stored, path = self.folder / "tree.h5", self.folder / "a.svg"
        self.ok("tree", GERMAN, "-o", stored, "-s", "umbral", "-p", "radius=2.5")
        for name in ("tree", "hasse"):
            self.ok("figure", name, "-o", path, "-i", stored, "-p", "head=3")
            self.assertIn("MiniLM-L6-v2, german/layer3, head 3, umbral, radius = 2.5", path.read_text())
            for key in ("similarity=umbral", "tokens=query"):
                self.fails(2, "figure", name, "-o", path, "-i", stored, "-p", key,
                           says=[key, "holds trees of umbral, radius = 2.5"])

    def test_of_a_trace_and_of_a_result_are_the_same_tree(self):
        stored = self.folder / "tree.h5"
        self.ok("tree", GERMAN, "-o", stored, "-s", "umbral")
        for name in ("tree", "hasse"):
            a, b = self.folder / "a.svg", self.folder / "b.svg"
            self.ok("figure", name, "-o", a, "-i", stored, "-p", "head=3", "-p", "caption=c")
            self.ok("figure", name, "-o", b, "-i", GERMAN, "-p", "head=3", "-p", "similarity=umbral",
                    "-p", "caption=c")
            drawn = [[(e.tag, e.get("d"), e.text) for e in xml.parse(path).iter()
                      if e.tag.endswith(("path", "text"))] for path in (a, b)]
            self.assertGreater(len(drawn[0]), 50)
            self.assertEqual(drawn[0], drawn[1])
        self.fails(2, "figure", "tree", "-o", a, "-i", GERMAN, "-p", "tokens=keys", says="'key'")
        self.fails(2, "figure", "tree", "-o", a, "-i", GERMAN, "-p", "similarity=star",
                   says="figure tree takes a similarity, not the operator star")

    def test_tensors_are_drawn_as_by_the_command(self):
        stored = self.folder / "tree.h5"
        self.ok("tree", GERMAN, "-o", stored, "-s", "multiplicative", "-p", "W=random")
        a, b = self.folder / "a.svg", self.folder / "b.svg"
        self.ok("figure", "tree", "-o", a, "-i", stored, "-p", "head=3", "-p", "caption=c")
        self.ok("figure", "tree", "-o", b, "-i", GERMAN, "-p", "head=3", "-p", "caption=c", "-p",
                "similarity=multiplicative:W=random")
        paths = [[e.get("d") for e in xml.parse(path).iter() if e.tag.endswith("path")] for path in (a, b)]
        self.assertGreater(len(paths[0]), 20)
        self.assertEqual(paths[0], paths[1])


class Scaling(ProgramTest):
    def test_of_a_bench(self):
        bench = self.folder / "b.h5"
        self.ok("bench", "-o", bench, "--operators", "dot,umbral", "--lengths", "16..256:x2", "--dims",
                "8", "--heads", "1", "--rounds", "3", "--passes", "forward", "--warm-only")
        for name in ("scaling", "ratio", "roofline"):
            path = self.folder / f"{name}.svg"
            self.ok("figure", name, "-o", path, "-i", bench)
            text = path.read_text()
            self.assertIn("umbral", text)
            self.assertIn("forward, cpu, f32, 1 thread", text)
            self.assertNotIn("no slope", text)
            if name == "roofline":
                self.assertIn("ridge: ", text)
        out = self.folder / "no.svg"
        self.fails(2, "figure", "scaling", "-o", out, "-i", bench, "-p", "pass=backward", says="forward")
        self.fails(2, "figure", "scaling", "-o", out, "-i", bench, "-p", "operators=penumbral",
                   says="penumbral")
        self.fails(2, "figure", "scaling", "-o", out, says="--input")
        self.fails(1, "figure", "scaling", "-o", out, "-i", TRACE, says="bench")
        self.assertFalse(out.exists())

    def test_standard_output_takes_a_figure(self):
        path = self.folder / "c.svg"
        self.ok("figure", "cones", "-o", path)
        for name in ("-", "/dev/stdout"):
            result = self.ok("figure", "cones", "-o", name)
            self.assertEqual((result.out, result.err), (path.read_text(), ""))
            self.fails(2, "figure", "cones", "-o", name, "--json", says="standard output")
        with open(self.folder / "file", "w") as file:  # Not replaced, but written to.
            file.write("before\n")
            file.flush()
            subprocess.run([PROGRAM, "figure", "cones", "-o", "/dev/stdout"], stdout=file, check=True)
        self.assertEqual((self.folder / "file").read_text(), "before\n" + path.read_text())
        (self.folder / "file").unlink()
        self.fails(2, "attend", TRACE, "-o", "-", "-s", "dot", says="standard output")
        self.assert_clean("c.svg")

    def test_growth_joins_several_benches(self):
        self.fails(2, "figure", "growth", "-o", self.folder / "none.svg",
                   says="figure growth takes at least one --input")
        a, b, path = self.folder / "a.h5", self.folder / "b.h5", self.folder / "growth.svg"
        for file, operators, lengths in ((a, "dot", "16..64:x2"),
                                         (b, "agglomerative,dot:masks=strided", "16..256:x2")):
            self.ok("bench", "-o", file, "--operators", operators, "--lengths", lengths, "--dims", "8",
                    "--heads", "1", "--rounds", "3", "--passes", "forward", "--warm-only")
        self.ok("figure", "growth", "-o", path, "-i", a, "-i", b)
        digests = " ".join(sha256(file.read_bytes()).hexdigest() for file in (a, b))
        self.assertIn(f'data="{digests}"', path.read_text())
        for name in ("dot", "agglomerative", "strided"):
            self.assertIn(name, path.read_text())
        self.fails(2, "figure", "growth", "-o", path, "-i", a, "-i", a, says="more than one input")
        self.fails(2, "figure", "scaling", "-o", path, "-i", a, "-i", b, says="one --input")
        self.fails(2, "figure", "growth", "-o", path, says="--input")
        wider = self.folder / "wider.h5"
        self.ok("bench", "-o", wider, "--operators", "dot", "--lengths", "16..64:x2", "--dims", "16",
                "--heads", "1", "--rounds", "3", "--passes", "forward", "--warm-only")
        for files in ((a, wider), (wider, a)):
            self.fails(2, "figure", "growth", "-o", path, "-i", files[0], "-i", files[1],
                       says=f"{files[1]} has no case of dim =")


if __name__ == "__main__":
    unittest.main()
