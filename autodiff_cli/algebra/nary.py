"""Chains of one operation: a sum of many terms, which a graph holds as additions of two, as one operation on all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..graphs.value import Value


class Chains:
    """The graph below some Values as it is drawn: `inputs` of a node are the terms of the chain that it ends.

    A node is only a link of one where it has no name, a single user, and that is the same associative operation.
    Without `roots` there are no chains.
    """

    def __init__(self, roots: Iterable[Value] = ()) -> None:
        ends = [*roots]
        users: dict[Value, Value | None] = dict.fromkeys(ends)
        seen = {*ends}
        stack = [*seen]
        while stack:
            user = stack.pop()
            for node in user._prev:
                if node.primitive.associative:
                    users[node] = None if node in users else user
                if node not in seen:
                    seen.add(node)
                    stack.append(node)
        self.links = {
            node for node, user in users.items() if user and not node.label and node.primitive is user.primitive
        }
        """Nodes that are not drawn."""

    def inputs(self, node: Value) -> tuple[Value, ...]:
        """Return the inputs of a node, with the links of its chain replaced by their own inputs."""
        return tuple([user._prev[place] for user, place in self.edges(node)])

    def edges(self, node: Value) -> Iterator[tuple[Value, int]]:
        """Return the nodes that take these inputs, the node itself or a link of its chain, with each position."""
        waiting = [(node, place) for place in reversed(range(len(node._prev)))]
        while waiting:
            user, place = waiting.pop()
            link = user._prev[place]
            if link in self.links:
                waiting += [(link, place) for place in reversed(range(len(link._prev)))]
            else:
                yield user, place
