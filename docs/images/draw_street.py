#!/usr/bin/env python3
"""Draws street.png, the picture that the demo looks for text in.

usage: draw_street.py OUT.png

The scene is made up and drawn for this project; the letters are DejaVu fonts'.
Needs Debian's libcairo2 and fonts-dejavu-core and nothing else. It was run once;
the demo uses the PNG that lies beside this file.
"""

import ctypes
import math
import sys

SIZE = 800
cairo = ctypes.CDLL("libcairo.so.2")
for name in ("cairo_image_surface_create", "cairo_create",
             "cairo_pattern_create_linear"):
    getattr(cairo, name).restype = ctypes.c_void_p


def call(name, *args):
    """Calls a cairo function with its first argument a pointer."""
    def convert(value):
        if isinstance(value, float):
            return ctypes.c_double(value)
        return value.encode() if isinstance(value, str) else value
    first = ctypes.c_void_p(args[0])
    return getattr(cairo, name)(first, *(convert(a) for a in args[1:]))


surface = cairo.cairo_image_surface_create(1, SIZE, SIZE)
context = cairo.cairo_create(ctypes.c_void_p(surface))


def draw(name, *args):
    call("cairo_" + name, context, *args)


def colour(text):
    channels = [int(text[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    draw("set_source_rgb", *(float(c) for c in channels))


def box(x, y, width, height, fill, radius=0.0):
    colour(fill)
    if radius == 0:
        draw("rectangle", float(x), float(y), float(width), float(height))
    else:
        draw("new_path")
        for i, (cx, cy) in enumerate([
                (x + width - radius, y + radius),
                (x + width - radius, y + height - radius),
                (x + radius, y + height - radius), (x + radius, y + radius)]):
            draw("arc", float(cx), float(cy), float(radius),
                 math.pi * (i - 1) / 2, math.pi * i / 2)
        draw("close_path")
    draw("fill")


def gradient(x, y, width, height, top, bottom):
    pattern = cairo.cairo_pattern_create_linear(
        ctypes.c_double(0), ctypes.c_double(y), ctypes.c_double(0),
        ctypes.c_double(y + height))
    for at, text in ((0.0, top), (1.0, bottom)):
        channels = [int(text[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        call("cairo_pattern_add_color_stop_rgb", pattern, at,
             *(float(c) for c in channels))
    draw("set_source", ctypes.c_void_p(pattern))
    draw("rectangle", float(x), float(y), float(width), float(height))
    draw("fill")


class Extents(ctypes.Structure):
    _fields_ = [(n, ctypes.c_double) for n in (
        "x_bearing", "y_bearing", "width", "height", "x_advance", "y_advance")]


def words(text, x, y, size, fill, family="DejaVu Sans", bold=True, slant=0):
    """A line of text, centred at x, on the base line y."""
    colour(fill)
    draw("select_font_face", family, slant, int(bold))
    draw("set_font_size", float(size))
    extents = Extents()
    draw("text_extents", text, ctypes.byref(extents))
    draw("move_to", float(x - extents.width / 2 - extents.x_bearing), float(y))
    draw("show_text", text)


def turned(degrees, x, y, paint):
    draw("save")
    draw("translate", float(x), float(y))
    draw("rotate", math.radians(degrees))
    paint()
    draw("restore")


def window(x, y):
    box(x - 6, y - 6, 92, 132, "#d9cdb8")
    gradient(x, y, 80, 120, "#7f9db5", "#bcd0da")
    box(x + 38, y, 4, 120, "#d9cdb8")
    box(x, y + 58, 80, 4, "#d9cdb8")


def house():
    gradient(0, 0, SIZE, 160, "#8fb9d8", "#cfe2ec")
    box(0, 70, 560, 560, "#a4563f")
    for row in range(72, 630, 14):
        box(0, row, 560, 1.5, "#934a35")
    box(560, 40, 240, 590, "#cdb48a")
    box(0, 56, 570, 18, "#6d3a2b")
    for x in (60, 240, 420):
        window(x, 108)
    window(640, 90)


def shop():
    box(30, 262, 500, 86, "#1f4b45", 8)
    box(38, 270, 484, 70, "#24574f", 6)
    words("HARBOUR BAKERY", 280, 319, 42, "#f3e3b3", "DejaVu Serif")
    for i in range(10):
        box(30 + 50 * i, 352, 50, 34, "#f4efe4" if i % 2 else "#b8433a")
    box(50, 396, 300, 190, "#3a2a22")
    gradient(58, 404, 284, 174, "#e9c98c", "#b98a4e")
    words("fresh bread", 200, 456, 36, "#5a2d16", "DejaVu Serif", True, 1)
    words("daily from 6 to 18", 200, 500, 22, "#5a2d16", bold=False)
    for i in range(5):
        box(74 + 54 * i, 534, 44, 26, "#8f5a27", 12)
    box(390, 396, 120, 234, "#2d3f3c")
    box(404, 410, 92, 130, "#9fb8bd")
    box(412, 448, 76, 38, "#fbfbf7", 4)
    words("OPEN", 450, 475, 22, "#b3261e")


def poster():
    box(622, 262, 150, 210, "#12314d", 4)
    words("EBB & FLOW", 697, 304, 18, "#ffd35c")
    words("LIVE", 697, 366, 50, "#ffffff")
    words("Saturday", 697, 410, 24, "#ffd35c")
    words("8 pm Pier 26", 697, 446, 18, "#ffffff", bold=False)


def street_name():
    turned(-4, 685, 520, lambda: (
        box(-108, -26, 216, 46, "#1d4f9c", 6),
        words("RIVER STREET", 0, 9, 25, "#ffffff")))


def bus_stop():
    gradient(0, 630, SIZE, 30, "#b9b4aa", "#a29d93")
    gradient(0, 660, SIZE, 140, "#5b5d61", "#43454a")
    for x in range(-20, SIZE, 160):
        box(x, 735, 90, 8, "#e6e2d3")
    box(556, 486, 9, 200, "#8a8d90")
    box(522, 552, 78, 78, "#f2c230", 8)
    words("BUS", 561, 586, 25, "#1b1b1b")
    words("42", 561, 618, 28, "#1b1b1b")


def van():
    box(70, 640, 330, 106, "#e8eaec", 14)
    box(330, 650, 64, 44, "#54707f", 8)
    words("SLOW TIDE", 196, 690, 32, "#0d5c75")
    words("parcels by boat", 196, 722, 20, "#0d5c75", bold=False)
    for x in (130, 340):
        colour("#222326")
        draw("arc", float(x), 748.0, 27.0, 0.0, 2 * math.pi)
        draw("fill")
        colour("#b9bdc1")
        draw("arc", float(x), 748.0, 12.0, 0.0, 2 * math.pi)
        draw("fill")


for part in (house, shop, poster, street_name, bus_stop, van):
    part()
if call("cairo_surface_write_to_png", surface, sys.argv[1]) != 0:
    sys.exit(f"draw_street.py: cannot write {sys.argv[1]}")
