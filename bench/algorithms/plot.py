"""Charts as SVG: lines with markers over logarithmic or linear axes, the legend beside the plot."""

import math
from dataclasses import dataclass, field

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 900, 450, 78, 56, 44, 262
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#444444", "#8c564b"]
MARKS = 14


@dataclass
class Line:
    name: str
    points: list
    colour: int
    dashed: bool = False
    # Where what was asked for was not reached: drawn as crosses.
    ended_early: list = field(default_factory=list)


@dataclass
class Axis:
    name: str
    low: float
    high: float
    base: float = 0  # of the logarithm; 0 is linear

    def place(self, value):
        value = min(max(value, self.low), self.high)
        if self.base:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self):
        if not self.base:
            step = 10 ** math.floor(math.log10((self.high - self.low) / 4))
            step = next(step * by for by in (1, 2, 5, 10) if (self.high - self.low) / (step * by) <= 7)
            count = int((self.high - self.low) / step + 1e-9)
            return [self.low + step * k for k in range(count + 1)]
        first, last = (math.log(end, self.base) for end in (self.low, self.high))
        every = max(1, math.ceil((last - first) / 10))
        return [self.base ** k for k in range(math.ceil(first - 1e-9), math.floor(last + 1e-9) + 1, every)]

    def label(self, value):
        power = round(math.log10(value)) if value > 0 else 0
        if self.base == 10 and not -1 <= power <= 3:
            return f'10<tspan dy="-5" font-size="9">{power}</tspan>'
        return f"{value:g}"


def chart(title, x, y, lines):
    across = lambda value: LEFT + (WIDTH - LEFT - RIGHT) * x.place(value)
    up = lambda value: HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * y.place(value)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
             f'font-family="DejaVu Sans, sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', f'<text x="{LEFT}" y="24" font-size="15">{title}</text>']
    for value in x.ticks():
        at = f"{across(value):.1f}"
        parts.append(f'<line x1="{at}" x2="{at}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#ddd"/>'
                     f'<text x="{at}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{x.label(value)}</text>')
    for value in y.ticks():
        at = up(value)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>'
                     f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{y.label(value)}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{x.name}</text>')
    parts.append(f'<text transform="translate(20 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">{y.name}</text>')
    marked = all(len(line.points) <= MARKS for line in lines)
    for at, line in enumerate(lines):
        parts += drawn(line, across, up, marked)
        parts += legend(line, TOP + 10 + 22 * at)
    return "\n".join(parts + ["</svg>\n"])


def drawn(line, across, up, marked):
    colour = COLOURS[line.colour % len(COLOURS)]
    path = " ".join(f"{across(a):.1f},{up(b):.1f}" for a, b in line.points)
    parts = [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes(line)}/>']
    if marked:
        parts += [f'<circle cx="{across(a):.1f}" cy="{up(b):.1f}" r="3.2" fill="{colour}"/>' for a, b in line.points]
    for a, b in line.ended_early:
        h, v = across(a), up(b)
        parts.append(f'<path d="M{h - 5:.1f} {v - 5:.1f}l10 10m0 -10l-10 10" stroke="{colour}" stroke-width="2.2"/>')
    return parts


def legend(line, y):
    colour, left = COLOURS[line.colour % len(COLOURS)], WIDTH - RIGHT + 14
    return [f'<line x1="{left}" x2="{left + 26}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="2.5"{dashes(line)}/>'
            f'<text x="{left + 33}" y="{y + 4}" font-size="11.5">{line.name}</text>']


def dashes(line):
    return ' stroke-dasharray="6 4"' if line.dashed else ""


def thinned(points, most=160):
    """Fewer points, evenly over the logarithm of their places, with both ends."""
    if len(points) <= most:
        return points
    places = sorted({round(len(points) ** (k / (most - 1))) - 1 for k in range(most)} | {len(points) - 1})
    return [points[place] for place in places]
