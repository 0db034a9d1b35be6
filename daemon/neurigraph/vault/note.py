"""A note as text and as values: the door to reading, patching, sections, links and edges.

Everything behind it is pure: bytes or text in, values or bytes out. Nothing here touches a file.
"""

from __future__ import annotations

from neurigraph.vault.edges import NOT_EDGES, OWN_KEYS, RawEdge, edges_of, replace_links, set_edge
from neurigraph.vault.frontmatter import Note, body_bytes, read_note
from neurigraph.vault.links import (
    Link,
    edge_alias,
    edge_value,
    parse_link,
    wikilinks,
    with_targets,
)
from neurigraph.vault.markdown import Heading, first_heading, headings, plain_line, plain_text
from neurigraph.vault.patch import new_note, set_keys
from neurigraph.vault.sections import (
    OWN_SECTIONS,
    Section,
    contained,
    section_text,
    sections,
    set_section,
    without_sections,
)
from neurigraph.vault.values import flag, is_memory, is_node, is_owned, names, text, texts

__all__ = [
    "NOT_EDGES",
    "OWN_KEYS",
    "OWN_SECTIONS",
    "Heading",
    "Link",
    "Note",
    "RawEdge",
    "Section",
    "body_bytes",
    "contained",
    "edge_alias",
    "edge_value",
    "edges_of",
    "first_heading",
    "flag",
    "headings",
    "is_memory",
    "is_node",
    "is_owned",
    "names",
    "new_note",
    "parse_link",
    "plain_line",
    "plain_text",
    "read_note",
    "replace_links",
    "section_text",
    "sections",
    "set_edge",
    "set_keys",
    "set_section",
    "text",
    "texts",
    "wikilinks",
    "with_targets",
    "without_sections",
]
