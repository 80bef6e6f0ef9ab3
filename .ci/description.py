"""The package's description: the README without pictures, and without links that lead into the repository."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Description(MetadataHookInterface):
    """Sets the description when a wheel or an sdist is built."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Replace the README by what of it stands alone."""
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = re.sub(r"!\[[^\]]*\]\((?!https?:)[^)]*\)\n*", "", readme)
        text = re.sub(r"\[([^\]]*)\]\((?!https?:)[^)]*\)", r"\1", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
