"""What was measured, a line of JSON for each run, appended as soon as the run ends."""

import json


class Results:
    def __init__(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self.lines = path, []
        if path.exists():
            self.lines = [json.loads(line) for line in path.read_text().splitlines()]

    def keep(self, job, description, ratios):
        line = {"tuner": job.tuner, "experiment": job.experiment, "run": job.number, "optimum": description["optimum"],
                "ratios": [ratio and round(ratio, 4) for ratio in ratios]}
        self.lines.append(line)
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")

    def find(self, job, description, evaluations):
        """The ratios after each evaluation, or None if this run, of so many evaluations, is not there."""
        for line in self.lines:
            same = (line["tuner"], line["experiment"], line["run"]) == (job.tuner, job.experiment, job.number)
            if same and line["optimum"] == description["optimum"] and len(line["ratios"]) == evaluations:
                return line["ratios"]
        return None

    def forget(self, tuners):
        if tuners:
            self.lines = [line for line in self.lines if line["tuner"] not in tuners]
            self.path.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
