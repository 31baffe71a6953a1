"""The recipes are no installed package: their folder goes on the path, here and nowhere else."""

import os
import sys
from pathlib import Path

RECIPES = Path(__file__).parents[2] / "recipes"
sys.path.insert(0, str(RECIPES))
# for processes that tests start
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(RECIPES), os.environ.get("PYTHONPATH")])
)
