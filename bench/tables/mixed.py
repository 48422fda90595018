#!/usr/bin/env python3
"""A table as people have them, of any size: numbers, text of few and of many levels, dates, yes and no, missing cells.

    bench/tables/mixed.py FILE BYTES

The label follows from the columns, so that there is something to learn. One block of rows is made and written again and again.
"""

import datetime
import random
import sys
from pathlib import Path

BLOCK = 20_000
HEADER = "amount,age,score,ratio,visits,city,plan,product,joined,active,outcome\n"
MISSING = 0.05


def block(chance):
    cities = [f"city {letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
    products = [f"product-{number:03d}" for number in range(400)]
    plans = ["basic", "plus", '"plus, yearly"', "enterprise"]
    begin = datetime.date(2015, 1, 1)
    return "".join(row(chance, cities, products, plans, begin) for _ in range(BLOCK))


def row(chance, cities, products, plans, begin):
    amount, age, score = chance.lognormvariate(3, 1), chance.randint(18, 90), chance.gauss(0, 1)
    plan, days = chance.randrange(len(plans)), chance.randrange(3650)
    active = chance.random() < 0.6
    margin = score + 0.5 * plan - 0.02 * (age - 50) + (0.8 if active else -0.8) + chance.gauss(0, 1)
    cells = [
        f"{amount:.2f}",
        str(age),
        f"{score:.4f}",
        f"{chance.random():.6f}",
        str(chance.randrange(1000)),
        chance.choice(cities),
        plans[plan],
        chance.choice(products),
        (begin + datetime.timedelta(days=days)).isoformat(),
        "yes" if active else "no",
    ]
    cells = ["" if chance.random() < MISSING else cell for cell in cells]
    return ",".join(cells) + (",won\n" if margin > 0 else ",lost\n")


def write(file, size):
    """At least one block, about as many bytes as are asked for."""
    content = block(random.Random(1)).encode()
    with open(file, "wb") as out:
        out.write(HEADER.encode())
        for _ in range(max(1, round(size / len(content)))):
            out.write(content)


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(float(sys.argv[2])))
