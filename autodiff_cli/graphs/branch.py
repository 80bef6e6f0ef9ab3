"""Branch: the conditions under which a step is reached, each within the one before."""

from __future__ import annotations

from ..numbers.recorder import Step


class Branch:
    """A condition that must turn out a certain way, within another branch; without a condition the whole program.

    Equal branches are one object: `inside` makes them.
    """

    __slots__ = ("children", "condition", "depth", "holds", "parent", "serial")

    def __init__(self, parent: Branch | None = None, condition: Step | None = None, holds: bool = True) -> None:
        self.parent = parent
        self.condition = condition
        self.holds = holds
        self.depth: int = parent.depth + 1 if parent else 0
        self.serial = (condition.index, not holds) if condition else (-1, False)
        """Orders the branches of one depth."""
        self.children: dict[tuple[int, bool], Branch] = {}

    def inside(self, condition: Step, holds: bool) -> Branch:
        """The branch within this one where a condition turns out that way."""
        key = (condition.index, holds)
        child = self.children.get(key)
        if child is None:
            child = self.children[key] = Branch(self, condition, holds)
        return child

    @property
    def other(self) -> Branch | None:
        """The branch where this one's condition turns out the other way, if anything is there."""
        if self.parent is None or self.condition is None:
            return None
        return self.parent.children.get((self.condition.index, not self.holds))

    def within(self, other: Branch) -> bool:
        """Whether this branch is the other one or lies inside it."""
        branch: Branch | None = self
        while branch is not None and branch.depth > other.depth:
            branch = branch.parent
        return branch is other

    def line(self) -> list[Branch]:
        """The branches from the outermost to this one, without the whole program."""
        branches: list[Branch] = []
        branch = self
        while branch.parent is not None:
            branches.append(branch)
            branch = branch.parent
        return branches[::-1]
