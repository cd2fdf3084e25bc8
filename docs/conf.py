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
    "myst_parser",
    "numpydoc",
    "picture",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
]
exclude_patterns = ["_build", "extensions", "templates"]
templates_path = ["templates"]
language = "en"

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

# Types are in the docstrings, in words
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
default_role = "autolink"
nitpicky = True

html_theme = "pydata_sphinx_theme"
html_title = "hiercomp"
html_sidebars = {page: [] for page in ("install", "tutorial", "model", "tests", "glossary", "other_packages",
                                       "gallery", "notebooks", "changelog")}  # fmt: skip
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
