"""Makes an SVG file of matplotlib smaller without changing how it looks: about a quarter of the size.

Coordinates have one decimal (a tenth of a point). The ticks of an axis become one path, and so do its grid lines and the
points of a series; a point is a line of no length with round ends. Each style stands once, as a class, and so do the fonts.
"""

import re
import xml.etree.ElementTree as ElementTree
from xml.sax.saxutils import escape, quoteattr

SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
FONT = "font-family:DejaVu Sans,Bitstream Vera Sans,Verdana,Arial,Helvetica,sans-serif"
CURVE = "C"


def number(value):
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def steps_of(data):
    """(letter, coordinates) for each step of a path as matplotlib writes them: M, L, C, Q and z, all absolute."""
    return [(letter, [float(text) for text in numbers.split()]) for letter, numbers in re.findall(r"([MLCQz])([^MLCQz]*)", data)]


def path_text(steps, x=0, y=0):
    """The steps moved by (x, y). A line may follow a move or a line without its letter."""
    text, before = "", ""
    for letter, coordinates in steps:
        moved = " ".join(number(value + (y if i % 2 else x)) for i, value in enumerate(coordinates))
        text += (" " if letter == "L" and before in ("M", "L") else letter) + moved
        before = letter
    return text


def short_style(style):
    """A style without spaces, and without the names of fonts."""
    style = re.sub(r"font: ([\d.]+px) [^;]*", r"font-size:\1", style or "")
    style = re.sub(r"font-family: [^;]*;?", "", style)
    return re.sub(r"\s*([:;,])\s*", r"\1", style).strip().removesuffix(";")


def is_round(steps):
    return any(letter == CURVE for letter, _ in steps)


def point_style(steps, style):
    """The style of lines of no length that look like a marker, which is a filled circle around (0, 0) with an edge."""
    parts = dict(part.split(":") for part in style.split(";"))
    across = 2 * max(abs(value) for _, coordinates in steps for value in coordinates) + float(parts.get("stroke-width", 1))
    return f"fill:none;stroke:{parts['stroke']};stroke-width:{across:g};stroke-linecap:round"


class Drawing:
    """Collects the elements in the order in which they are drawn."""

    def __init__(self, root):
        self.shapes = {path.get("id"): path for defs in root.iter(f"{SVG}defs") for path in defs.iter(f"{SVG}path")}
        self.classes = {}  # style -> name
        self.elements = []  # texts, or lists [attributes, data] of paths
        self.merged = {}  # attributes -> the path of the present axis that has them

    def add_path(self, data, style, clip):
        attributes = self.class_of(style) + (f' clip-path="{clip}"' if clip else "")
        path = self.merged.get(attributes)
        if path is None:
            path = self.merged[attributes] = [attributes, ""]
            self.elements.append(path)
        path[1] += data

    def add_use(self, use, clip):
        shape = self.shapes[use.get(HREF).removeprefix("#")]
        steps, style = steps_of(shape.get("d")), short_style(use.get("style") or shape.get("style"))
        x, y = float(use.get("x")), float(use.get("y"))
        if is_round(steps):
            self.add_path(f"M{number(x)} {number(y)}h0", point_style(steps, style), clip)
        else:
            self.add_path(path_text(steps, x, y), style, clip)

    def add_text(self, node, transform=""):
        pieces = [(piece, (piece.text or "").strip("\n")) for piece in node.iter() if (piece.text or "").strip()]
        texts = [f"<tspan{self.text_attributes(piece)}>{escape(text)}</tspan>" if piece is not node else escape(text.strip())
                 for piece, text in pieces]
        self.elements.append(f"<text{self.text_attributes(node)}{transform}>{''.join(texts)}</text>")

    def class_of(self, style):
        return f' class="{self.classes.setdefault(style, f"s{len(self.classes)}")}"' if style else ""

    def text_attributes(self, node):
        attributes = {name: " ".join(number(float(text)) for text in node.get(name).split()) for name in ("x", "y")
                      if node.get(name)}
        transform = node.get("transform", "")
        if transform and not re.match(r"rotate\(-?0[ )]", transform):
            attributes["transform"] = round_numbers(transform)
        return self.class_of(short_style(node.get("style"))) + "".join(
            f" {name}={quoteattr(value)}" for name, value in attributes.items())

    def walk(self, node, clip=None, in_axis=False):
        for child in node:
            tag, clip_here = child.tag.removeprefix(SVG), child.get("clip-path", clip)
            if not in_axis and tag not in ("use", "text"):
                self.merged = {}  # outside of axes, what is drawn later may cover what was drawn before
            if tag == "g":
                self.walk_group(child, clip_here, in_axis or child.get("id", "").startswith("matplotlib.axis"))
            elif tag == "path" and child.get("d"):
                self.add_path(path_text(steps_of(child.get("d"))), short_style(child.get("style")), clip_here)
            elif tag == "use":
                self.add_use(child, clip_here)
            elif tag == "text":
                self.add_text(child)

    def walk_group(self, group, clip, in_axis):
        transform = group.get("transform")
        if transform is None:
            self.walk(group, clip, in_axis)
            return
        for child in group:
            self.add_text(child, f" transform={quoteattr(round_numbers(transform))}")


def round_numbers(text):
    return re.sub(r"-?\d+\.\d+", lambda match: number(float(match[0])), text)


def compact(text):
    """@param text   of an SVG file that matplotlib has written with svg.fonttype none"""
    root = ElementTree.fromstring(text)
    drawing = Drawing(root)
    drawing.walk(root)
    clips = [f'<clipPath id="{clip.get("id")}"><rect {" ".join(f"{k}={quoteattr(number(float(v)))}" for k, v in clip[0].items())}/>'
             "</clipPath>" for clip in root.iter(f"{SVG}clipPath")]
    lines = [element if isinstance(element, str) else f'<path d="{element[1]}"{element[0]}/>' for element in drawing.elements]
    size = " ".join(f'{name}="{root.get(name)}"' for name in ("width", "height", "viewBox"))
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size} style="stroke-linejoin:round;{FONT}">',
                      "<style>", *(f".{name}{{{style}}}" for style, name in drawing.classes.items()), "</style>",
                      f"<defs>{''.join(clips)}</defs>", *lines, "</svg>"]) + "\n"
