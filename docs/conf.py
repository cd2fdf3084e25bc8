"""Configuration of Sphinx: `python -m sphinx -W --keep-going -b html docs docs/_build/html`."""

from __future__ import annotations

import sys
from pathlib import Path

import hiercomp

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "hiercomp"
author = "The hiercomp developers"
copyright = author
version = release = hiercomp.__version__

extensions = [
    "myst_nb",
    "names",
    "numpydoc",
    "picture",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
]
exclude_patterns = ["_build", "extensions", "inventories", "templates"]
templates_path = ["templates"]
language = "en"

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # scripts/run_notebooks.py runs them
nb_merge_streams = True

# Types are in the docstrings, in words
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"  # but these
numpydoc_xref_aliases = {
    "ndarray": "numpy.ndarray",
    "DataFrame": "pandas.DataFrame",
    "DataTree": "xarray.DataTree",
    "Axes": "matplotlib.axes.Axes",
    "Figure": "matplotlib.figure.Figure",
}
default_role = "autolink"
nitpicky = True
# Types of the standard library and of arrays in docstrings are words, not links
nitpick_ignore_regex = [(r"(py|std):.*", r"(python|numpy):.*")]

# Each project's own inventory, or where its site can't be reached the few names that these pages link to
PROJECTS = {
    "numpy": "https://numpy.org/doc/stable/",
    "scipy": "https://docs.scipy.org/doc/scipy/",
    "pandas": "https://pandas.pydata.org/docs/",
    "xarray": "https://docs.xarray.dev/en/stable/",
    "matplotlib": "https://matplotlib.org/stable/",
    "sklearn": "https://scikit-learn.org/stable/",
    "arviz": "https://python.arviz.org/en/stable/",
}
intersphinx_mapping = {
    name: (url, (None, f"inventories/{name}.inv")) for name, url in PROJECTS.items()
}
intersphinx_timeout = 5  # seconds

html_theme = "pydata_sphinx_theme"
html_title = "hiercomp"
html_sidebars = {page: [] for page in ("install", "tutorial", "model", "tests", "glossary", "other_packages",
                                       "gallery", "changelog")}  # fmt: skip
html_static_path = ["static"]
html_css_files = ["width.css"]
html_show_sourcelink = False
html_show_copyright = False
html_copy_source = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
    "navbar_align": "left",
    "show_nav_level": 2,
    "header_links_before_dropdown": 7,
}
