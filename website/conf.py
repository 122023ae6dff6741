"""Settings of Sphinx: MyST reads the Markdown as it stands on a forge, Furo lays it out. Nothing is fetched from other
hosts, when the site is built or when it is read."""

from sphinx.highlighting import lexer_classes

from sacpy import __version__
from website.highlighting import Session, Shown

project = "sacpy"
author = "The sacpy authors"
copyright = author
release = version = __version__

extensions = ["myst_parser"]
myst_heading_anchors = 6
myst_url_schemes = ("http", "https", "mailto")
nitpicky = True
source_suffix = {".md": "markdown"}
root_doc = "index"
highlight_language = "text"
lexer_classes.update({alias: lexer for lexer in (Shown, Session) for alias in lexer.aliases})

html_theme = "furo"
html_title = f"sacpy {__version__}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
