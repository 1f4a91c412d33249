// Search results show extracts of pages, which browsers do not let pages of a folder read.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

// Readers who have asked their system for less motion see the first frame of moving pictures.
if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
  for (const picture of document.querySelectorAll('img[src$=".webp"]')) {
    const still = document.createElement("canvas");
    const draw = () => {
      still.width = picture.naturalWidth;
      still.height = picture.naturalHeight;
      still.getContext("2d").drawImage(picture, 0, 0);
      still.setAttribute("role", "img");
      still.setAttribute("aria-label", picture.alt);
      still.style.maxWidth = "100%";
      picture.replaceWith(still);
    };
    if (picture.complete) draw();
    else picture.addEventListener("load", draw);
  }
}

// Wide blocks scroll; the keyboard has to reach them.
for (const block of document.querySelectorAll("div.highlight pre, div.table-wrapper")) {
  block.tabIndex = 0;
  block.setAttribute("role", "region");
  block.setAttribute("aria-label", block.tagName === "PRE" ? "Code" : "Table");
}

// Headings of the sidebar lack their level.
for (const caption of document.querySelectorAll('.caption[role="heading"]')) caption.setAttribute("aria-level", "2");
