"""The recipes are no installed package: processes that tests start look into their folder, too."""

import os
from pathlib import Path

RECIPES = Path(__file__).parents[2] / "recipes"
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(RECIPES), os.environ.get("PYTHONPATH")])
)
