"""Makes conelab-signs.ttf: the characters that tokens hold and that neither Liberation Sans nor
DejaVu Sans has. It needs fontTools (Debian: python3-fonttools); the result is part of the tree.

    /usr/bin/python3 resources/fonts/make_signs.py
"""
import pathlib

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

EM = 1000
WIDTH, HEIGHT, STROKE = 250, 300, 62  # Of one small letter.


def box(x0, y0, x1, y1):
    return [(x0, y0), (x0, y1), (x1, y1), (x1, y0)]


def letter(name, x, y):
    """The strokes of a small letter with its lower left corner at (x, y), clockwise."""
    right, top = x + WIDTH, y + HEIGHT
    left_stem = box(x, y, x + STROKE, top)
    right_stem = box(right - STROKE, y, right, top)
    foot = box(x, y, right, y + STROKE)
    diagonal = [(x, top), (x + STROKE, top), (right, y), (right - STROKE, y)]
    return {"N": [left_stem, diagonal, right_stem], "U": [left_stem, right_stem, foot],
            "L": [left_stem, foot]}[name]


def glyph(contours):
    pen = TTGlyphPen(None)
    for contour in contours:
        pen.moveTo(contour[0])
        for point in contour[1:]:
            pen.lineTo(point)
        pen.closePath()
    return pen.glyph()


def main():
    null = letter("N", 40, 430) + letter("U", 320, 215) + letter("L", 600, 0)
    frame = [box(80, 0, 520, 700), [(140, 60), (460, 60), (460, 640), (140, 640)]]
    glyphs = {".notdef": glyph(frame), "null": glyph(null)}
    font = FontBuilder(EM, isTTF=True)
    font.setupGlyphOrder(list(glyphs))
    font.setupCharacterMap({0x2400: "null"})
    font.setupGlyf(glyphs)
    font.setupHorizontalMetrics({".notdef": (600, 80), "null": (890, 40)})
    font.setupHorizontalHeader(ascent=905, descent=-212)
    font.setupNameTable({"familyName": "Conelab Signs", "styleName": "Regular"})
    font.setupOS2(sTypoAscender=905, sTypoDescender=-212, usWinAscent=905, usWinDescent=212)
    font.setupPost()
    font.font["head"].created = font.font["head"].modified = 3_000_000_000
    font.font.recalcTimestamp = False
    font.save(pathlib.Path(__file__).with_name("conelab-signs.ttf"))


if __name__ == "__main__":
    main()
