"""Links of all written pages: every file and every heading that they name is there.

Usage: links.py <project folder>
"""

import pathlib
import re
import sys


def anchors_of(text):
    """The anchors that headings get: as GitHub makes them."""
    anchors, seen = set(), {}
    for heading in re.findall(r"^#{1,6} (.+)$", without_blocks(text), re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = seen.get(anchor, 0)
        seen[anchor] = count + 1
        anchors.add(anchor if count == 0 else f"{anchor}-{count}")
    return anchors


def without_blocks(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def links_of(text):
    text = re.sub(r"`[^`\n]+`", "", without_blocks(text))
    return re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|href)="([^"]+)"', text)


def problems_of(root, page):
    found = []
    for link in links_of(page.read_text(encoding="utf-8")):
        if re.match(r"(https?|mailto):", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists():
            found.append(f"{page.relative_to(root)}: {link}: there is no such file")
        elif anchor and target.suffix == ".md" and anchor not in anchors_of(target.read_text(encoding="utf-8")):
            found.append(f"{page.relative_to(root)}: {link}: there is no such heading")
    return found


def main(root):
    pages = [page for folder in (".", "docs/**", "apps/**", "benchmarks/**") for page in root.glob(f"{folder}/*.md")]
    problems = [problem for page in pages for problem in problems_of(root, page)]
    print("\n".join(problems) or f"{len(pages)} pages have no broken link")
    return 1 if problems or not pages else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
