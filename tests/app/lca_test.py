"""`lca`: values worked out by hand from the definition of each family."""
import math
import unittest

from program import ProgramTest


class Lca(ProgramTest):
    def answer(self, *arguments):
        return self.ok("lca", "--json", *arguments).json()

    def assert_near(self, found, expected):
        self.assertEqual(len(found), len(expected))
        for a, b in zip(found, expected):
            self.assertAlmostEqual(a, b, delta=1e-12)

    def test_penumbral_with_common_ancestor(self):
        # s = sqrt(1 - 0.36) = 0.8 each, D = 0.4: m = (1.6 - 0.4)/2 = 0.6, height sqrt(1 - 0.36).
        found = self.answer("--cone", "penumbral", "-p", "height=1", "0,0.6", "0.4,0.6")
        self.assertEqual(found["cone"], "penumbral")
        self.assertEqual(found["parameters"]["height"], 1)
        self.assertEqual(found["relation"], "unrelated")
        self.assertTrue(found["has_common_ancestor"])
        self.assert_near([found["base"], found["depth"], found["logit"]], [0.4, -0.8, -0.8])
        self.assert_near([found["potential"][k] for k in ("u", "v", "lca")], [0.8, 0.8, 0.6])
        self.assert_near(found["lca"], [0.2, 0.8])
        self.assertEqual((found["u"], found["v"]), ([0, 0.6], [0.4, 0.6]))

    def test_penumbral_without_common_ancestor(self):
        found = self.answer("--cone", "penumbral", "0,0.6", "4,0.6")
        self.assertFalse(found["has_common_ancestor"])
        self.assertIsNone(found["lca"])
        self.assertIsNone(found["potential"]["lca"])
        self.assert_near([found["depth"]], [-math.sqrt(4 + 0.36)])

    def test_umbral(self):
        # sinh r = 1: height = 4/2 + 1 = 3, halfway between equal heights.
        found = self.answer("--cone", "umbral", "-p", f"radius={math.asinh(1)!r}", "0,1", "4,1")
        self.assert_near([found["depth"]], [-3])
        self.assert_near(found["lca"], [2, 3])
        self.assertEqual(found["relation"], "unrelated")

    def test_the_first_line_states_every_parameter(self):
        for words, says in ((("--cone", "umbral", "-p", "radius=1"), "umbral cones, radius=1 depth=height "),
                            (("--cone", "penumbral", "-p", "depth=distance", "-p", "height=2"),
                             "penumbral cones, height=2 depth=distance "),
                            (("--cone", "ganea"), "ganea cones, K=0.1 (")):
            first = self.ok("lca", *words, "0.1,0.4", "0.2,0.3").out.splitlines()[0]
            self.assertTrue(first.startswith(says), first)

    def test_an_ancestor_is_its_own_lca(self):
        found = self.answer("--cone", "umbral", "-p", "radius=1", "0.1,2", "0.2,0.3")
        self.assertEqual(found["relation"], "u_is_ancestor")
        self.assertEqual(found["lca"], [0.1, 2])
        self.assertEqual(found["depth"], -2)
        turned = self.answer("--cone", "umbral", "-p", "radius=1", "0.2,0.3", "0.1,2")
        self.assertEqual(turned["relation"], "v_is_ancestor")
        same = self.answer("--cone", "umbral", "0.2,0.3", "0.2,0.3")
        self.assertEqual(same["relation"], "equal")

    def test_penumbral_finite(self):
        # Both at distance 1 from the source, 0.3 apart in angle: cos s = tanh R / tanh rho.
        radius, angle, r = 0.5, 0.3, math.tanh(0.5)
        s = math.acos(math.tanh(radius) / math.tanh(1)) - angle / 2
        depth = math.atanh(math.tanh(radius) / math.cos(s))
        found = self.answer("--cone", "penumbral-finite", "-p", f"source_radius={radius}", f"{r!r},0",
                            f"{r * math.cos(angle)!r},{r * math.sin(angle)!r}")
        self.assert_near([found["base"], found["depth"], found["logit"]], [angle, depth, depth])
        at = math.tanh(depth / 2)
        self.assert_near(found["lca"], [at * math.cos(angle / 2), at * math.sin(angle / 2)])

    def test_umbral_finite_and_ganea(self):
        # sinh r = 1, both at sinh rho = 2, a right angle apart: shadows of 30 degrees, that of the
        # LCA (30 + 30 + 90) / 2 = 75 degrees. Ganea: sinh R = 2K = 1, tanh^2 rho = 2/3: potentials
        # of 30 degrees, a tenth of a radian apart.
        r = math.tanh(math.asinh(2) / 2)
        found = self.answer("--cone", "umbral-finite", "-p", f"object_radius={math.asinh(1)!r}",
                            f"{r!r},0", f"0,{r!r}")
        self.assert_near([found["depth"]], [math.asinh(1 / math.sin(math.radians(75)))])
        r = math.tanh(math.atanh(math.sqrt(2 / 3)) / 2)
        found = self.answer("--cone", "ganea", "-p", "K=0.5", f"{r!r},0",
                            f"{r * math.cos(.1)!r},{r * math.sin(.1)!r}")
        depth = math.atanh(math.sqrt(.5) / math.cos(math.radians(30) - .05))
        self.assert_near([found["base"], found["depth"]], [.1, depth])

    def test_a_figure_shows_what_was_computed(self):
        for cone, u, v in [("penumbral", "0.1,0.5", "0.4,0.3"), ("umbral", "0,0.1,0.5", "0,0.4,0.3"),
                           ("ganea", "0.6,0.1", "0.5,0.4"), ("umbral-finite", "0.6,0.1,0", "0.5,0.4,0")]:
            path = str(self.folder / "lca.svg")
            found = self.answer("--cone", cone, "--figure", path, u, v)
            with open(path, encoding="utf-8") as file:
                depth = f"{found['depth']:.4g}".replace("-", "\N{MINUS SIGN}")
                self.assertIn(f"depth {depth}", file.read())
        said = self.ok("lca", "--cone", "umbral", "--figure", path, "0,1", "0,2").out
        self.assertRegex(said.splitlines()[-1], r"lca\.svg: .+ \(\d+ x \d+ pt\)$")
        self.fails(2, "lca", "--cone", "umbral", "--figure", str(self.folder / "lca.gif"), "0,1", "0,2", says="gif")

    def test_points_may_begin_with_a_minus_sign(self):
        plain = self.answer("--cone", "penumbral", "-0.3,0.2", "-.4,0.5")
        dashes = self.answer("--cone", "penumbral", "--", "-0.3,0.2", "-.4,0.5")
        self.assertEqual(plain, dashes)
        self.assertEqual(plain["u"], [-0.3, 0.2])

    def test_other_models_give_the_same_depth(self):
        half = self.answer("--cone", "umbral", "0,1", "1,1")
        ball = self.answer("--cone", "umbral", "--model", "ball", "0,0", "0.4,0.2")
        self.assert_near([ball["depth"]], [half["depth"]])
        self.assertEqual(len(ball["lca"]), 2)

    def test_gamma_scales_the_logit_alone(self):
        found = self.answer("--cone", "umbral", "-p", "gamma=2", "0,1", "1,1")
        self.assert_near([found["logit"]], [2 * found["depth"]])

    def test_the_text_form_says_the_same(self):
        text = self.ok("lca", "--cone", "penumbral", "0,0.6", "0.4,0.6").out
        for part in ("(0.2, 0.8)", "neither is an ancestor", "-0.8", "height=1"):
            self.assertIn(part, text)

    def test_points_outside_the_domain_name_the_bound(self):
        self.fails(2, "lca", "--cone", "penumbral", "0,1.5", "0,0.5", says=["u", "1.5", "1"])
        self.fails(2, "lca", "--cone", "umbral", "0,0.5", "0,-0.5", says="v")
        self.fails(2, "lca", "--cone", "umbral", "-p", "radus=1", "0,0.5", "0,1", says=["radus", "radius"])
        self.fails(2, "lca", "--cone", "umbral-finite", "0.9,0.9", "0,0.5", says="u")
        self.fails(2, "lca", "--cone", "penumbral-finite", "-p", "source_radius=3", "0.1,0", "0,0.5",
                   says=["u", "3"])

    def test_wrong_usage(self):
        self.fails(2, "lca", "--cone", "penumbal", "0,1", "0,2", says="did you mean 'penumbral'?")
        self.fails(2, "lca", "--cone", "umbral", "-p", "radios=1", "0,1", "0,2", says="radius")
        self.fails(2, "lca", "--cone", "umbral", "-p", "radius=wide", "0,1", "0,2", says="radius")
        self.fails(2, "lca", "--cone", "umbral", "-p", "radius", "0,1", "0,2", says="KEY=VALUE")
        self.fails(2, "lca", "--cone", "umbral", "0,one", "0,2", says="0,one")
        self.fails(2, "lca", "--cone", "umbral", "0,1", "0,1,2", says=["2", "3"])
        self.fails(2, "lca", "--cone", "umbral", "0,nan", "0,2", says="u")
        self.fails(2, "lca", "--cone", "umbral", "--model", "bal", "0,0", "0,0", says="'ball'")
        self.fails(2, "lca", "0,1", "0,2", says="--cone")
        self.fails(2, "lca", "--cone", "umbral", "0,1", says="V")


if __name__ == "__main__":
    unittest.main()
