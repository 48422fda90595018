"""A chart as SVG: how often the planner and each rival stay within a factor of the oracle."""

import math

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 930, 430, 70, 50, 40, 320
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555"]
SHOWN = ["one worker (cocoa)", "all machines (newton up to 500 features, else l-bfgs)", "Bayesian optimisation, its choice alone",
         "Bayesian optimisation, with its runs", "system model only (cocoa-plus)", "all machines (cocoa-plus)"]
FURTHEST = 16.0


def shares(cells):
    """For the planner and each rival: the share of cells within each factor of the oracle."""
    lines = {"planner": sorted(ratio(cell.planner("first"), cell) for cell in cells if "first" in cell.reports)}
    for name in SHOWN:
        lines[name] = sorted(ratio(cell.rivals[name], cell) for cell in cells if name in cell.rivals)
    return chart("Cells within a factor of the best fixed configuration", "seconds / the oracle's seconds", "share of cells",
                 {name: steps(ratios, len(ratios)) for name, ratios in lines.items() if ratios}, (0.5, FURTHEST), (0, 1))


def ratio(time, cell):
    seconds, reached = time
    return seconds / cell.oracle if reached else math.inf


def steps(ratios, count):
    points = [(0.5, 0.0)]
    for rank, ratio in enumerate(ratios, 1):
        if ratio > FURTHEST:
            break
        points += [(ratio, points[-1][1]), (ratio, rank / count)]
    return points + [(FURTHEST, points[-1][1])]


def chart(title, x_name, y_name, lines, x_range, y_range):
    across = lambda x: LEFT + (WIDTH - LEFT - RIGHT) * math.log(x / x_range[0]) / math.log(x_range[1] / x_range[0])
    up = lambda y: HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * (y - y_range[0]) / (y_range[1] - y_range[0])
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="DejaVu Sans, sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>', f'<text x="{LEFT}" y="22" font-size="15">{title}</text>']
    for x in (0.5, 1, 2, 4, 8, 16):
        parts.append(f'<line x1="{across(x):.1f}" x2="{across(x):.1f}" y1="{up(y_range[0]):.1f}" y2="{up(y_range[1]):.1f}" stroke="#ddd"/>'
                     f'<text x="{across(x):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{x:g}</text>')
    for y in (0, 0.2, 0.4, 0.6, 0.8, 1):
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{up(y):.1f}" y2="{up(y):.1f}" stroke="#ddd"/>'
                     f'<text x="{LEFT - 8}" y="{up(y) + 4:.1f}" text-anchor="end">{y:.0%}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">{x_name}</text>')
    parts.append(f'<text transform="translate(18 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">{y_name}</text>')
    for at, ((name, points), colour) in enumerate(zip(lines.items(), COLOURS)):
        path = " ".join(f"{across(max(x, x_range[0])):.1f},{up(y):.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{3 if at == 0 else 1.6}"/>')
        y = TOP + 14 + 22 * at
        parts.append(f'<line x1="{WIDTH - RIGHT + 12}" x2="{WIDTH - RIGHT + 34}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="3"/>'
                     f'<text x="{WIDTH - RIGHT + 40}" y="{y + 4}" font-size="10.5">{name}</text>')
    return "\n".join(parts + ["</svg>\n"])
