"""The scikit-learn pipeline that people write for such a table: impute, one-hot, standardise, then the same objective.

Hemingway minimises (1/n) sum of losses + lambda/2 |w|^2 with a constant term that the penalty leaves alone. That is
LogisticRegression(C = 1 / (lambda n)), one class against the rest, and Ridge(alpha = lambda n).
"""

import pandas
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

LAMBDA = 1e-4


def predictions(training, held_back, table):
    """What the pipeline, fitted to one frame, says of another."""
    features = [column for column in training.columns if column not in (table.label, *table.index)]
    prepare = lambda frame: with_days(frame[features], table.dates)  # noqa: E731
    training_features = prepare(training)
    pipeline = make_pipeline(preprocessing(training_features), model(table, len(training)))
    pipeline.fit(training_features, training[table.label])
    return pipeline.predict(prepare(held_back))


def with_days(frame, dates):
    """Dates as days, as a number that a linear model can use."""
    days = {name: (pandas.to_datetime(frame[name]) - pandas.Timestamp("1970-01-01")).dt.days for name in dates}
    return frame.assign(**days)


def preprocessing(frame):
    numbers = list(frame.select_dtypes("number").columns)
    texts = [column for column in frame.columns if column not in numbers]
    number = make_pipeline(SimpleImputer(strategy="mean"), StandardScaler())
    text = make_pipeline(
        SimpleImputer(strategy="most_frequent"),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        StandardScaler(),
    )
    return ColumnTransformer([("numbers", number, numbers), ("texts", text, texts)])


def model(table, rows):
    if table.regression:
        return Ridge(alpha=LAMBDA * rows)
    one = LogisticRegression(C=1 / (LAMBDA * rows), max_iter=20_000, tol=1e-6)
    return OneVsRestClassifier(one)
