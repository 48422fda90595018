"""What the figures were measured on and with: machine, versions, command line."""

import datetime
import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

from peers import PACKAGES


def describe(arguments, binary, repeats):
    return {
        "command": " ".join(["./run", *without_folders(arguments)]),
        "date": datetime.date.today().isoformat(),
        "cpu": processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: version(name) for name in PACKAGES},
        "hemingway": hemingway(binary),
        "repeats": repeats,
    }


def without_folders(arguments):
    """A path given on the command line belongs to one machine; its last part says enough."""
    return [a if "/" not in a else Path(a).name for a in arguments]


def processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown processor"


def hemingway(binary):
    if binary is None:
        return "hemingway not run"
    done = subprocess.run([str(binary), "--version"], capture_output=True, text=True)
    return done.stdout.strip() or "hemingway"
