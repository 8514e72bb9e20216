#!/usr/bin/env python3
"""Computes known answers with 50 digits (mpmath), from definitions, not from this project's code.

Writes the part of each <operator>.txt below the line "# computed". Hyperbolic distances come from
acosh of the Lorentz product, Exp from the hyperboloid, and cones from their inequalities: the height
of the lowest common ancestor is searched, not taken from a closed formula.
"""
import pathlib
import random

from mpmath import (acos, acosh, asin, asinh, atanh, cosh, exp, log1p, mp, mpf, pi, quad, sinh, sqrt,
                    tanh)

mp.dps = 50
HERE = pathlib.Path(__file__).parent


def tokens(seed, n, d, spread=1.0):
    rng = random.Random(seed)
    return [[round(rng.uniform(-2, 2) * spread, 3) for _ in range(d)] for _ in range(n)]


def norm(x):
    return sqrt(sum(c * c for c in x))


def distance(a, b):
    return norm([p - q for p, q in zip(a, b)])


def psi(x, rate=1):
    height = exp(x[-1] * rate)
    return [c * height for c in x[:-1]], height


def xi(x, h):
    height = h / (1 + exp(-x[-1]))
    return [c * height for c in x[:-1]], height


def exponential(x, h=None):
    """Through the hyperboloid: (sinh s v/s, cosh s), then height 1/(t - x_d)."""
    s = norm(x)
    space = [c * sinh(s) / s for c in x]
    height = 1 / (cosh(s) - space[-1])
    base = [c * height for c in space[:-1]]
    return base, height if h is None else min(height, h)


def bisect(inside, low, high):
    """The least height in [low, high] that is `inside`, which is monotone."""
    if inside(low):
        return low
    for _ in range(170):
        middle = (low + high) / 2
        low, high = (low, middle) if inside(middle) else (middle, high)
    return high


def penumbral(u, v, h):
    """Least height of a point w on the axis through u and v with D(u,w) <= s_u - s_w and for v."""
    reach = distance(u[0], v[0])
    s = lambda y, light: sqrt(light * light - y * y)
    if reach <= s(u[1], h) + s(v[1], h):
        spread = lambda y: (s(u[1], h) - s(y, h)) + (s(v[1], h) - s(y, h))
        return bisect(lambda y: reach <= spread(y), max(u[1], v[1]), h)
    # The least light under which a common ancestor exists.
    low = max(u[1], v[1])
    return bisect(lambda light: reach <= s(u[1], light) + s(v[1], light), low, low + reach + h)


def umbral(u, v, r):
    """Least height y with D <= (y - u_d) sinh r + (y - v_d) sinh r, and above both."""
    reach = distance(u[0], v[0])
    low = max(u[1], v[1])
    inside = lambda y: reach <= (2 * y - u[1] - v[1]) * sinh(r)
    return bisect(inside, low, low + reach / sinh(r) + low)


def to_hyperboloid(u):
    """Half-space (x, y) to (x/y, (|x|^2 + y^2 - 1)/(2y); (|x|^2 + y^2 + 1)/(2y))."""
    base, y = u
    square = sum(c * c for c in base) + y * y
    return [c / y for c in base] + [(square - 1) / (2 * y)], (square + 1) / (2 * y)


def lorentz_distance(a, b):
    product = a[1] * b[1] - sum(p * q for p, q in zip(a[0], b[0]))
    return acosh(max(product, mpf(1)))


def pi_map(x):
    length = norm(x[:-1])
    return [c / length * sinh(x[-1]) for c in x[:-1]], cosh(x[-1])


def lift(x):
    """On the hyperboloid above x."""
    return x, sqrt(1 + sum(c * c for c in x))


def times(matrix, x):
    return [sum(mpf(a) * b for a, b in zip(row, x)) for row in matrix]


def climb(low, high):
    """The length of a vertical of the half-space, by its integral."""
    return quad(lambda y: 1 / y, [low, high])


def polar(x, rho_0):
    """A direction and the distance from the source's centre."""
    length = norm(x[:-1])
    return [c / length for c in x[:-1]], rho_0 + log1p(exp(x[-1]))


def ball(x):
    length = norm(x)
    return [c / length for c in x], 2 * atanh(length)


def angle(u, v):
    product = sum(a * b for a, b in zip(u[0], v[0]))
    return acos(max(mpf(-1), min(mpf(1), product)))


def bisect_down(inside, low, high):
    """The largest number in [low, high] that is `inside`, which is monotone."""
    if inside(high):
        return high
    for _ in range(170):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle) else (low, middle)
    return low


def penumbral_finite(u, v, radius):
    """Largest distance of a point on the arc from u to v whose cone holds both."""
    theta = angle(u, v)
    s = lambda rho, light: acos(min(mpf(1), tanh(light) / tanh(rho)))
    top = min(u[1], v[1])
    if theta <= s(u[1], radius) + s(v[1], radius):
        reach = lambda rho: s(u[1], radius) + s(v[1], radius) - 2 * s(rho, radius)
        return bisect_down(lambda rho: theta <= reach(rho), radius, top)
    # The largest light under which a common ancestor exists.
    return bisect_down(lambda light: theta <= s(u[1], light) + s(v[1], light), mpf(10) ** -60, radius)


def umbral_finite(u, v, radius):
    theta = angle(u, v)
    phi = lambda rho, r: asin(min(mpf(1), sinh(r) / sinh(rho)))
    top = min(u[1], v[1])
    if theta <= pi - phi(u[1], radius) - phi(v[1], radius):
        reach = lambda rho: 2 * phi(rho, radius) - phi(u[1], radius) - phi(v[1], radius)
        return bisect_down(lambda rho: theta <= reach(rho), radius, top)
    # The largest objects with a common ancestor, which then lies at their radius.
    smaller = lambda r: theta <= pi - phi(u[1], r) - phi(v[1], r)
    return bisect_down(smaller, mpf(10) ** -60, radius)


def show(x):
    return mp.nstr(x, 21, strip_zeros=True)


def rows(table):
    return "; ".join(" ".join(show(x) for x in row) for row in table)


def plain(table):
    return "; ".join(" ".join(repr(x) for x in row) for row in table)


def case(name, similarity, q, k, pair, place, parameters="", map_name="", tensors=None):
    exact = lambda t: [[mpf(c) for c in row] for row in t]
    places = lambda t: [place(row) for row in exact(t)]
    logits = [[pair(u, v) for v in places(k)] for u in places(q)]
    lines = [f"case {name}", f"similarity {similarity}"]
    if map_name:
        lines.append(f"map {map_name}")
    if parameters:
        lines.append(f"parameters {parameters}")
    lines += [f"q {plain(q)}", f"k {plain(k)}"]
    for key, table in (tensors or {}).items():
        lines.append(f"tensor {key} {plain(table)}")
    lines.append(f"logits {rows(logits)}")
    return "\n".join(lines) + "\n"


def write(name, cases):
    path = HERE / f"{name}.txt"
    text = path.read_text().split("\n# computed\n")[0].rstrip("\n")
    path.write_text(text + "\n\n# computed\n\n" + "\n".join(cases))


def twins(q, offset):
    """The first two rows again, the second moved by `offset` in every coordinate."""
    return [q[0], [c + offset for c in q[1]]]


def attend(u, listed, scale):
    """sum_j softmax_j(scale u.c_j) c_j"""
    weights = [exp(mpf(scale) * sum(a * b for a, b in zip(u, c))) for c in listed]
    return [sum(w * c[k] for w, c in zip(weights, listed)) / sum(weights) for k in range(len(u))]


def star(x, steps, scale, relay=None, masked=False):
    h, n = x, len(x)
    s = relay or [sum(column) / mpf(n) for column in zip(*x)]
    for _ in range(steps):
        ring = [[h[j % n] for j in (i - 1, i, i + 1) if 0 <= j < n or not masked] for i in range(n)]
        h = [attend(h[i], ring[i] + [x[i], s], scale) for i in range(n)]
        s = attend(s, [s] + h, scale)
    return h


def tree_cells_seen(i, n, causal):
    """(level, place) of the cells that token i sees, as the definition lists them."""
    seen = []
    for j in range((n - 1).bit_length() + 1):
        v, bit = i >> j, (i >> (j - 1)) & 1 if j else None
        if v >= 1:
            seen.append((j - 1, 2 * v - 2) if bit == 0 else (j, v - 1))
        if not causal:
            seen.append((j - 1, 2 * v + 3) if bit == 1 else (j, v + 1))
    return [(j, v) for j, v in seen if v << j < n]


def segtree(x, steps, scale, causal=False):
    n = len(x)
    cells = {(j, v): [mpf(0)] * len(x[0]) for j in range((n - 1).bit_length() + 1)
             for v in range(-(-n // 2**j))}
    cells.update({(0, i): row for i, row in enumerate(x)})
    sees = {(j, v): [(j, v)] + (tree_cells_seen(v, n, causal) if j == 0 else
                                [(0, i) for i in range(v << j, min((v + 1) << j, n))])
            for j, v in cells}
    for _ in range(steps):
        cells = {u: attend(cells[u], [cells[w] for w in sees[u]], scale) for u in cells}
    return [cells[0, i] for i in range(n)]


def token_list_case(name, operator, x, output, *lines):
    return "\n".join([f"case {name}", f"operator {operator}", *lines,
                      "q " + plain([[float(c) for c in row] for row in x]),
                      f"output {rows(output)}", ""])


def write_token_lists():
    line = lambda n: [[i + 1] for i in range(n)]
    wide = [[mpf(c) for c in row] for row in tokens(7, 6, 3)]  # The numbers that a double holds.
    cases = []
    for masked in (False, True):
        for steps in (1, 2):
            key = f"parameters scale=1 steps={steps}" + (" boundary=masked" if masked else "")
            cases.append(token_list_case(f"a line, {'masked' if masked else 'cyclic'}, {steps}", "star",
                                         line(3), star(line(3), steps, 1, [mpf(2)], masked), key,
                                         "tensor relay 2"))
    cases.append(token_list_case("the mean for a relay", "star", wide, star(wide, 2, 1 / sqrt(mpf(3)))))
    for n in (1, 2):
        cases.append(token_list_case(f"{n} on a ring", "star", wide[:n], star(wide[:n], 3, mpf(1) / 2),
                                     "parameters scale=0.5 steps=3"))
    write("star", cases)
    cases = []
    for n in (3, 5):
        for steps in ((1, 2) if n == 3 else (2,)):
            for causal in ((False, True) if steps == 2 else (False,)):
                cases.append(token_list_case(
                    f"a line of {n}, {steps}{', causal' if causal else ''}", "segtree", line(n),
                    segtree(line(n), steps, 1, causal), *(["masks causal"] if causal else []),
                    f"parameters scale=1 steps={steps}"))
    cases.append(token_list_case("three columns", "segtree", wide, segtree(wide, 2, 1 / sqrt(mpf(3)))))
    write("segtree", cases)


def volume_preserving(x, A, weighting):
    """Weights and output from the definition; tokens are rows."""
    n, d = x.rows, x.cols
    C = mp.zeros(n)
    for i in range(n):
        for j in range(i):
            one, other = ((x[a, :] * A * x[b, :].T)[0] for a, b in ((i, j), (j, i)))
            C[i, j] = (one - other) / 2 if weighting == "skew" else one / sqrt(mpf(d))
            C[j, i] = -C[i, j]
    weights = ((mp.eye(n) - C) * mp.inverse(mp.eye(n) + C)).T
    return weights, weights * x


def slopes(function, point, step=mpf(10) ** -15):
    """[rows of `point`][columns] of derivatives of a matrix, by differences with 50 digits."""
    def slope(i, j):
        ahead, behind = point.copy(), point.copy()
        ahead[i, j] += step
        behind[i, j] -= step
        return (function(ahead) - function(behind)) / (2 * step)
    return [[slope(i, j) for j in range(point.cols)] for i in range(point.rows)]


def volume_preserving_case(name, x, A, weighting, form):
    x, A = mp.matrix(x), mp.matrix(A)
    weights, output = volume_preserving(x, A, weighting)
    of_x = slopes(lambda moved: volume_preserving(moved, A, weighting)[1], x)
    of_A = slopes(lambda moved: volume_preserving(x, moved, weighting)[1], A)
    total = lambda table: [[mp.chop(sum(m), tol=mpf(10) ** -25) for m in row] for row in table]
    jacobian = mp.matrix([list(m) for row in of_x for m in row])
    lines = [f"case {name}", "operator volume-preserving",
             f"parameters weighting={weighting} form={form}", f"q {rows(x.tolist())}",
             f"tensor A {rows(A.tolist())}", f"output {rows(output.tolist())}"]
    if form == "cubic":
        lines.append(f"weights_are {rows(weights.tolist())}")
    lines += [f"gradient q {rows(total(of_x))}", f"gradient A {rows(total(of_A))}",
              f"determinant {show(mp.det(jacobian))}"]
    return "\n".join(lines) + "\n"


def main():
    write_token_lists()
    q, k = tokens(1, 4, 5), tokens(2, 5, 5)
    near, far = tokens(3, 3, 4, 0.2), tokens(4, 4, 4, 0.2)
    low, light = [x[:-1] + [-4.0] for x in far], [x[:-1] + [30.0] for x in near]

    def penumbral_case(name, q, k, gamma, h, map_name=""):
        place = (lambda x: exponential(x, h)) if map_name == "exp" else (lambda x: xi(x, h))
        return case(name, "penumbral", q, k, lambda u, v: -gamma * penumbral(u, v, h), place,
                    f"gamma={gamma} height={h}", map_name)

    write("penumbral", [
        penumbral_case("searched, wide", q, k, 1.5, 2.5),
        penumbral_case("searched, narrow", near, far, 1, 1),
        penumbral_case("searched, low", near, low, 2, 1),
        penumbral_case("searched, at the light", light, far, 1, 1),
        penumbral_case("searched, near twins", near, twins(near, 1e-7), 1, 1),
        penumbral_case("searched, exp", near, far, 1, 1.25, "exp"),
        *[case(f"distance from the light, {name}", "penumbral", a, b,
               lambda u, v: -1.5 * climb(mpf(2.5), penumbral(u, v, 2.5)), lambda x: xi(x, 2.5),
               "depth=distance gamma=1.5 height=2.5") for name, a, b in (("wide", q, k),
                                                                       ("narrow", near, far))],
    ])

    def umbral_case(name, q, k, gamma, r, map_name="", rate=1, parameters=""):
        place = exponential if map_name == "exp" else (lambda x: psi(x, mpf(rate)))
        return case(name, "umbral", q, k, lambda u, v: -gamma * umbral(u, v, mpf(r)), place,
                    f"gamma={gamma} radius={r}" + parameters, map_name)

    write("umbral", [
        umbral_case("searched", q, k, 0.5, 0.1),
        umbral_case("searched, near twins", q, twins(q, 1e-7), 1, 0.5),
        umbral_case("searched, published map", q, k, 1, 1.5, rate=mpf(1) / 5,
                    parameters=" convention=reference"),
        umbral_case("searched, exp", near, far, 1, 0.75, "exp"),
        case("distance", "umbral", q, k, lambda u, v: -0.5 * climb(1, umbral(u, v, mpf(0.25))), psi,
             "depth=distance gamma=0.5 radius=0.25"),
    ])

    half = lambda beta, c: lambda u, v: -mpf(beta) * lorentz_distance(
        to_hyperboloid(u), to_hyperboloid(v)) - mpf(c)
    write("hyperbolic", [
        case("Lorentz product, half-space", "hyperbolic", q, k, half(1.5, 0.25), psi,
             "model=halfspace beta=1.5 offset=0.25"),
        case("Lorentz product, half-space near twins", "hyperbolic", q, twins(q, 1e-7), half(1, 0),
             psi, "model=halfspace"),
        case("Lorentz product, exp", "hyperbolic", q, k, half(1, 0), exponential, "model=halfspace",
             "exp"),
        case("Lorentz product, hyperboloid", "hyperbolic", q, k,
             lambda u, v: -2 * lorentz_distance(u, v), pi_map, "beta=2"),
        case("Lorentz product, hyperboloid near twins", "hyperbolic", q, twins(q, 1e-7),
             lambda u, v: -lorentz_distance(u, v), pi_map),
        case("Lorentz product, lift", "hyperbolic", q, k, lambda u, v: -lorentz_distance(u, v), lift,
             "", "lift"),
        case("Lorentz product, lift near twins", "hyperbolic", q, twins(q, 1e-7),
             lambda u, v: -lorentz_distance(u, v), lift, "", "lift"),
    ])

    w, u = tokens(7, 3, 4), tokens(8, 3, 4)
    a, v_a = tokens(9, 1, 6)[0], tokens(10, 1, 3)[0]
    leaky = lambda x, slope: x if x > 0 else slope * x
    product = lambda x, y: sum(mpf(p) * q for p, q in zip(x, y))
    write("gat", [
        case("projected", "gat", near, far,
             lambda q, k: leaky(product(a, times(w, q) + times(w, k)), mpf(0.5)), lambda x: x,
             "slope=0.5", "", {"W": w, "a": [a]}),
    ])
    write("additive", [
        case("projected", "additive", near, far,
             lambda q, k: sum(v * tanh(x + y) for v, x, y in zip(v_a, times(w, q), times(u, k))),
             lambda x: x, "", "", {"W": w, "U": u, "v_a": [v_a]}),
    ])

    for name, key, pair in [("penumbral-finite", "source_radius", penumbral_finite),
                            ("umbral-finite", "object_radius", umbral_finite),
                            ("ganea", "K", penumbral_finite)]:
        def finite_case(title, q, k, gamma, number, place=polar, map_name=""):
            radius = asinh(2 * mpf(number)) if name == "ganea" else mpf(number)
            fixed = (lambda x: place(x, radius)) if place is polar else place
            return case(title, name, q, k, lambda u, v: mpf(gamma) * pair(u, v, radius), fixed,
                        f"gamma={gamma} {key}={number}", map_name)

        plane = [tokens(seed, 4, 3) for seed in (5, 6)]
        inner = [[[c / 4 + (0.25 if c > 0 else -0.25) for c in row] for row in t[:3]] for t in plane]
        inner = [[[round(c * 0.7, 4) for c in row] for row in t] for t in inner]
        write(name, [
            finite_case("searched", q, k, 1.5, 0.25),
            finite_case("searched, small source", near, far, 1, 0.0625),
            finite_case("searched, in the plane", plane[0], plane[1], 2, 0.75),
            finite_case("searched, far out", [x[:-1] + [9.5] for x in near],
                        [x[:-1] + [7.25] for x in far], 1, 0.5),
            finite_case("searched, near twins", near, twins(near, 1e-7), 1, 0.5),
            finite_case("searched, points of the ball", inner[0], inner[1], 1, 0.125, ball, "none"),
        ])

    three, skew, any_form = [[1, 0], [0, 1], [1, 1]], [[0, 0.5], [-0.5, 0]], [[1, 2], [3, 4]]
    diagonal = [[1, 0, 0], [0, 2, 0], [0, 0, 3]]
    examples = [[[0 if i != k else 1 for i in range(3)], [1, 1, 1]] for k in range(3)]
    five, turn = tokens(7, 5, 3), [[0, 0.5, -1.25], [-0.5, 0, 0.75], [1.25, -0.75, 0]]
    write("volume-preserving", [
        *(volume_preserving_case(f"{kind}, {form}, {name}", x, A, kind, form)
          for form in ("linear", "cubic")
          for kind, name, x, A in [
              ("skew", "three tokens", three, skew), ("skew", "five tokens", five, turn),
              ("arbitrary", "three tokens", three, any_form),
              ("arbitrary", "five tokens", five, tokens(8, 3, 3)),
              ("arbitrary", "seven tokens", tokens(9, 7, 2), any_form)]),
        *(volume_preserving_case(f"the manual's example {k + 1}", x, diagonal, "arbitrary", "linear")
          for k, x in enumerate(examples)),
    ])

    write("laplacian", [case("distance", "laplacian", q, k, lambda u, v: -mpf(0.5) * distance(u, v),
                             lambda x: x, "gamma=0.5")])
    write("dot", [case("product", "dot", q, k,
                       lambda u, v: sum(a * b for a, b in zip(u, v)) / sqrt(mpf(5)), lambda x: x)])


if __name__ == "__main__":
    main()
