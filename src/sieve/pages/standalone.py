"""Templates of the package, filled in: single files, light and dark, also on a phone.

Whatever is filled in is text: nothing in it becomes markup.
"""

from pathlib import Path
from typing import Any

from sieve.errors import require

_PACKAGE = Path(__file__).parents[1]


def render(template: str, **values: object) -> str:
    """The page of a template, which is named by its path in the package."""
    jinja2 = need_templates()
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_PACKAGE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False}
    return str(environment.get_template(template).render(values))


def need_templates() -> Any:
    """Jinja, or an error that says how to install it: for before the work."""
    return require("jinja2", "evaluate", "an HTML page")
