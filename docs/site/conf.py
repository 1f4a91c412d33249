"""Settings of the documentation site. scripts/make-docs runs Sphinx, and says the version and where Doxygen's XML is."""

project = "DynaSOAr"
author = "the DynaSOAr authors"
extensions = ["breathe", "myst_parser", "sphinx_copybutton"]
exclude_patterns = []

# Written pages, as GitHub reads them.
myst_heading_anchors = 6
myst_enable_extensions = ["html_image"]
# Each header reopens the namespace.
suppress_warnings = ["duplicate_declaration.cpp"]

# The reference.
breathe_default_project = "dynasoar"
breathe_show_include = False
breathe_domain_by_extension = {"h": "cpp"}
cpp_id_attributes = ["__device__", "__host__"]
highlight_language = "cpp"
toc_object_entries_show_parents = "hide"
add_function_parentheses = False

html_theme = "furo"
html_title = "DynaSOAr"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_favicon = "static/icon.svg"
html_scaled_image_link = False  # pictures in links would be links in links
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_use_index = False
html_theme_options = {"top_of_page_buttons": []}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
copybutton_exclude = ".linenos, .gp, .go"


def setup(app):
    """In the sidebar, only the present page shows the pages below it. This saves much of the time, and of the size of pages."""
    def collapse(_app, _page, _template, context, _doctree):
        whole = context["toctree"]
        context["toctree"] = lambda **arguments: whole(**{**arguments, "collapse": True})

    app.connect("html-page-context", collapse, priority=400)
