"""Writes the reference pages that are made from the code: `make docs`."""

from __future__ import annotations

from pathlib import Path

from neurigraph.settings import Settings, is_machine, sections

DOCS = Path(__file__).resolve().parent.parent / "docs"

SETTINGS_HEAD = """# Settings

All are optional. `neurigraph.toml` in the vault travels with it; `local.toml` in the state
directory (`neurigraph status --json` names it) is for one machine and wins; an environment variable
`NEURIGRAPH_<SECTION>_<NAME>` wins over both. Settings marked *machine* could send text elsewhere or
open files, so the file in the vault cannot set them: a vault that you got from somebody must not be
able to point your daemon at their server. A line that is wrong in the vault's file is ignored and
said at the start; one in `local.toml` stops the start with a line that names it.

```toml
[temperature]
cold_after_days = 14

[vault]
exclude = ["Archive/Old", "*.excalidraw.md"]
```
"""


def settings_page() -> str:
    """The table of settings, a section each."""
    parts = [SETTINGS_HEAD]
    defaults = Settings()
    for section, kind in sections().items():
        parts.append(f"\n## [{section}]\n\n{(kind.__doc__ or '').strip()}\n")
        parts.append("| name | default | what it does |\n|---|---|---|")
        for name, field in kind.model_fields.items():
            default = _shown(getattr(getattr(defaults, section), name))
            machine = " *machine*" if is_machine(field) else ""
            parts.append(f"| `{name}` | `{default}` | {field.description}{machine} |")
    return "\n".join(parts) + "\n"


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{v}"' for v in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


if __name__ == "__main__":
    (DOCS / "settings.md").write_text(settings_page(), "utf-8")
