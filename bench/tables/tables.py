"""Which public tables, where they lie in which package, and what is known of their licences.

Each is read as the package has it, every cell as text: with empty cells, its own words for them, dates and index columns.
"""

import importlib.util
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import pandas

AS_IT_IS = {"dtype": str, "keep_default_na": False}


@dataclass(frozen=True)
class Table:
    name: str
    label: str
    read: Callable[[], pandas.DataFrame]
    package: str
    licence: str
    regression: bool = False
    # For the pipeline alone; ours has to find out by itself.
    dates: tuple = ()
    index: tuple = ()
    # Whether rows without a label have to be left out: the one thing beside the label that a user has to say.
    unlabelled: bool = False

    @property
    def flags(self):
        return [*(["--regression"] if self.regression else []), *(["--drop-unlabelled"] if self.unlabelled else [])]


def scikit_learn(name):
    """With the names of classes where it has any."""

    def read():
        from sklearn import datasets

        loaded = getattr(datasets, f"load_{name}")(as_frame=True)
        frame = loaded.frame
        if name != "digits" and "target_names" in loaded:
            frame = frame.assign(target=[str(loaded.target_names[which]) for which in loaded.target])
        return as_text(frame)

    return read


def statsmodels(name):
    def read():
        import statsmodels.api

        return as_text(getattr(statsmodels.api.datasets, name).load_pandas().data)

    return read


def vega_json(name):
    return lambda: as_text(pandas.read_json(folder("vega_datasets") / "_data" / name, convert_dates=False))


def file(package, path):
    return lambda: pandas.read_csv(folder(package) / path, **AS_IT_IS)


def orange(path):
    """Orange says in two more lines below the names what the columns are."""
    return lambda: pandas.read_csv(folder("Orange") / path, sep="\t", skiprows=[1, 2], **AS_IT_IS)


def folder(package):
    """Where a package lies, without importing it."""
    return Path(importlib.util.find_spec(package).submodule_search_locations[0])


def as_text(frame):
    return pandas.read_csv(io.StringIO(frame.to_csv(index=False)), **AS_IT_IS)


CC0, UCI = "CC0", "CC BY 4.0 (UCI)"
ORANGE = f"{UCI}; package GPL-3"

TABLES = [
    Table("iris", "target", scikit_learn("iris"), "scikit-learn", UCI),
    Table("wine", "target", scikit_learn("wine"), "scikit-learn", UCI),
    Table("breast_cancer", "target", scikit_learn("breast_cancer"), "scikit-learn", UCI),
    Table("digits", "target", scikit_learn("digits"), "scikit-learn", UCI),
    Table("penguins", "species", file("palmerpenguins", "data/penguins.csv"), "palmerpenguins", CC0),
    Table("penguins_raw", "Sex", file("palmerpenguins", "data/penguins-raw.csv"), "palmerpenguins", CC0,
          dates=("Date Egg",), unlabelled=True),
    Table("titanic", "survived", orange("datasets/titanic.tab"), "orange3", "unknown; package GPL-3"),
    Table("heart_disease", "diameter narrowing", orange("datasets/heart_disease.tab"), "orange3", ORANGE),
    Table("zoo", "type", orange("datasets/zoo.tab"), "orange3", ORANGE, index=("name",)),
    Table("seattle_weather", "weather", file("vega_datasets", "_data/seattle-weather.csv"), "vega_datasets",
          "public domain (NOAA)", dates=("date",)),
    Table("anes96", "vote", statsmodels("anes96"), "statsmodels", "public domain"),
    Table("modechoice", "choice", statsmodels("modechoice"), "statsmodels", "public domain"),
    Table("auto_imports", "price", orange("tests/datasets/imports-85.tab"), "orange3", ORANGE, regression=True,
          unlabelled=True),
    Table("cars", "Miles_per_Gallon", vega_json("cars.json"), "vega_datasets", UCI, regression=True, dates=("Year",),
          unlabelled=True),
    Table("housing", "MEDV", orange("datasets/housing.tab"), "orange3", "unknown (US census); package GPL-3",
          regression=True),
    Table("diabetes", "target", scikit_learn("diabetes"), "scikit-learn", "unknown (Efron et al. 2004)", regression=True),
]
