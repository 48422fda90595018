"""The rivals: each proposes values for the parameters of an encoding, and is told the seconds that they took.

All of them are given a first schedule, as a user would, and then do what they do by default. A rival is a function of
(parameters, start, measure, evaluations, seed); `measure(values)` gives seconds, or None if the evaluation failed.
"""

import argparse
import os
import random
import tempfile

os.environ["SQLALCHEMY_SILENCE_UBER_WARNING"] = "1"  # about SQLAlchemy 2, which OpenTuner does not know
import opentuner
import optuna
from opentuner import tuningrunmain
from opentuner.api import TuningRunManager
from opentuner.search import manipulator as space

from encoding import Boolean, Count, PerMachine, PerType, Weight

optuna.logging.set_verbosity(optuna.logging.WARNING)
tuningrunmain.init_logging = lambda: None  # it would write opentuner.log into this folder


def random_search(parameters, start, measure, evaluations, seed):
    source = random.Random(seed)
    draw = {Boolean: lambda _: source.random() < 0.5, Count: lambda parameter: source.randint(0, parameter.most),
            Weight: lambda _: source.random()}
    measure(start)
    for _ in range(evaluations - 1):
        measure({parameter.name: draw[type(parameter)](parameter) for parameter in parameters})


def tpe(parameters, start, measure, evaluations, seed, **settings):
    suggest = {Boolean: lambda trial, parameter: trial.suggest_categorical(parameter.name, [False, True]),
               Count: lambda trial, parameter: trial.suggest_int(parameter.name, 0, parameter.most),
               Weight: lambda trial, parameter: trial.suggest_float(parameter.name, 0.0, 1.0)}
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed, **settings))
    study.enqueue_trial(start)
    # A function that gives None is a failed trial to Optuna, as it should be.
    study.optimize(lambda trial: measure({parameter.name: suggest[type(parameter)](trial, parameter)
                                          for parameter in parameters}), n_trials=evaluations)


def tpe_univariate(*run):
    """The default until Optuna 5, which made multivariate=True the default."""
    tpe(*run, multivariate=False)


def auc_bandit(parameters, start, measure, evaluations, seed):
    """OpenTuner through its API; one test at a time, so that each proposal knows all times before it.

    A proposal that was tested before comes back as no proposal, and costs no evaluation; so does a technique that has nothing to
    propose. OpenTuner itself gives up after 500 such generations in a row, and so do we.
    """
    random.seed(seed)
    with tempfile.TemporaryDirectory() as folder:
        words = ["--parallelism", "1", "--database", f"sqlite:///{folder}/results.db", "--no-dups"]
        arguments = argparse.ArgumentParser(parents=opentuner.argparsers()).parse_args(words)
        manager = TuningRunManager(Interface(arguments, parameters, start), arguments)
        tested = idle = 0
        while tested < evaluations and idle <= arguments.bail_threshold:
            desired = manager.get_next_desired_result()
            if desired is None:
                idle += 1
                continue
            tested, idle = tested + 1, 0
            seconds = measure(desired.configuration.data)
            failed = opentuner.Result(state="ERROR", time=float("inf"))
            manager.report_result(desired, failed if seconds is None else opentuner.Result(time=seconds))
        manager.finish()


class Interface(opentuner.MeasurementInterface):
    KINDS = {Boolean: lambda parameter: space.BooleanParameter(parameter.name),
             Count: lambda parameter: space.IntegerParameter(parameter.name, 0, parameter.most),
             Weight: lambda parameter: space.FloatParameter(parameter.name, 0.0, 1.0)}

    def __init__(self, arguments, parameters, start):
        super().__init__(arguments, program_name="schedule")
        self.parameters, self.start = parameters, start

    def manipulator(self):
        found = space.ConfigurationManipulator()
        for parameter in self.parameters:
            found.add_parameter(self.KINDS[type(parameter)](parameter))
        return found

    def seed_configurations(self):
        return [dict(self.start)]

    def run(self, *_):
        raise NotImplementedError("tests are run by auc_bandit")


CATALOGUE = {
    "random": (random_search, PerMachine),
    "optuna": (tpe, PerMachine),
    "optuna-univariate": (tpe_univariate, PerMachine),
    "opentuner": (auc_bandit, PerMachine),
    "random-types": (random_search, PerType),
    "optuna-types": (tpe, PerType),
    "optuna-univariate-types": (tpe_univariate, PerType),
    "opentuner-types": (auc_bandit, PerType),
}
