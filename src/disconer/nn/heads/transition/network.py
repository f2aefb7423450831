"""The network of the transition head: spans, the stack, past actions, and the scores of the next action.

Sizes: d of a word vector, s of a span. A *node* is a span on the stack: four vectors of size s, two of the span (a tree
LSTM's hidden state and memory) and two of the stack up to it (an LSTM's).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from disconer.nn.heads.transition.actions import COMPLETING, FIRST_COMPLETE, GROUPS
from disconer.nn.heads.transition.targets import SEEN, Level

LstmState = tuple[Tensor, Tensor]


class StackNodes(nn.Module):
    """Makes nodes: of a word, or of two nodes, above another node of the stack.

    A kept span keeps its state: after RIGHT-REDUCE it still knows of the span that was below it.
    """

    def __init__(self, *, word_size: int, size: int) -> None:
        super().__init__()
        self.size = size
        self.leaf = nn.Linear(word_size, 2 * size)
        self.join = nn.Linear(2 * size, 5 * size)
        self.push = nn.Linear(2 * size, 4 * size)
        self.empty = nn.Parameter(torch.zeros(2 * size))

    def none(self) -> Tensor:
        """The empty stack, as a node.  Shape: (1, 4s)"""
        return torch.cat([torch.zeros_like(self.empty), self.empty])[None]

    def spans_of_words(self, words: Tensor) -> Tensor:
        """Shape: (M, d) -> (M, 2s)"""
        gate, memory = self.leaf(words).chunk(2, -1)
        return torch.cat([gate.sigmoid() * memory.tanh(), memory], -1)

    def spans_of_two(self, left: Tensor, right: Tensor) -> Tensor:
        """A binary tree LSTM over the spans of two nodes.  Shape: (M, 4s), (M, 4s) -> (M, 2s)"""
        (left_hidden, left_memory), (right_hidden, right_memory) = self._span(left), self._span(right)
        gates = self.join(torch.cat([left_hidden, right_hidden], -1))
        gate, keep_left, keep_right, out, new = gates.chunk(5, -1)
        memory = keep_left.sigmoid() * left_memory + keep_right.sigmoid() * right_memory + gate.sigmoid() * new.tanh()
        return torch.cat([out.sigmoid() * memory.tanh(), memory], -1)

    def forward(self, spans: Tensor, below: Tensor) -> Tensor:
        """Nodes of spans above others.  Shape: (M, 2s), (M, 4s) -> (M, 4s)"""
        hidden, memory = below[:, 2 * self.size :].chunk(2, -1)
        gate, keep, out, new = self.push(torch.cat([spans[:, : self.size], hidden], -1)).chunk(4, -1)
        memory = keep.sigmoid() * memory + gate.sigmoid() * new.tanh()
        return torch.cat([spans, out.sigmoid() * memory.tanh(), memory], -1)

    def stack_state(self, nodes: Tensor) -> Tensor:
        """The stack up to each node, for the scores of actions.  Shape: (…, 4s) -> (…, s)"""
        return nodes[..., 2 * self.size : 3 * self.size]

    def in_order(self, levels: list[Level], words: Tensor, left: Tensor, right: Tensor, below: Tensor) -> Tensor:
        """All nodes of a batch, the empty stack first.

        words: of the nodes that are words; any for the others.  Shape: (1 + M, d)
        left, right, below: numbers of nodes.  Shape: (1 + M,) -> (1 + M, 4s)
        """
        leaves = self.spans_of_words(words)
        nodes = self.none().to(leaves.dtype)
        for first, joined, end in levels:
            two = self.spans_of_two(nodes[left[joined:end]], nodes[right[joined:end]])
            spans = torch.cat([leaves[first:joined], two.to(leaves.dtype)])
            nodes = torch.cat([nodes, self(spans, nodes[below[first:end]]).to(leaves.dtype)])
        return nodes

    def _span(self, nodes: Tensor) -> tuple[Tensor, Tensor]:
        hidden, memory = nodes[:, : 2 * self.size].chunk(2, -1)
        return hidden, memory


class PastActions(nn.Module):
    """An LSTM over the actions so far; the action after the last is the start."""

    def __init__(self, *, n_actions: int, size: int) -> None:
        super().__init__()
        self.start = n_actions
        self.vectors = nn.Embedding(n_actions + 1, size)
        self.lstm = nn.LSTM(size, size, batch_first=True)

    def forward(self, actions: Tensor, state: LstmState | None = None) -> tuple[Tensor, LstmState]:
        """Shape: (B, T) -> (B, T, size)"""
        if torch.is_autocast_enabled("cpu"):
            with torch.autocast("cpu", enabled=False):  # not every CPU has an LSTM in bf16
                return self.forward(actions, state)
        states, last = self.lstm(self.vectors(actions).to(self.lstm.weight_ih_l0.dtype), state)
        return states, last


class NextAction(nn.Module):
    """Log probabilities of the next action.

    It sees the three spans on top of the stack, for each of them what a bilinear attention gathers from the sentence,
    the next word, and the actions so far.
    """

    def __init__(
        self, *, word_size: int, stack_size: int, past_size: int, hidden: int, n_actions: int, dropout: float
    ) -> None:
        super().__init__()
        self.attention = nn.Linear(stack_size, SEEN * word_size)
        self.end = nn.Parameter(torch.zeros(word_size))  # the next word, if there is none
        self.dropout = nn.Dropout(dropout)
        self.hidden = nn.Linear(SEEN * (stack_size + word_size) + word_size + past_size, hidden)
        self.output = nn.Linear(hidden, n_actions)
        groups = torch.tensor([*GROUPS, *[COMPLETING] * (n_actions - FIRST_COMPLETE)])
        self.register_buffer("groups", groups, persistent=False)
        self.groups: Tensor

    def forward(
        self,
        words: Tensor,
        word_mask: Tensor,
        stack: Tensor,
        front: Tensor,
        past: Tensor,
        valid: Tensor,
        hints: Tensor | None = None,
    ) -> Tensor:
        """
        words:  Shape: (B, N, d)
        word_mask:  Shape: (B, N)
        stack: the spans on top, the topmost first.  Shape: (B, T, 3, s)
        front: the next word, -1 for none.  Shape: (B, T)
        past:  Shape: (B, T, a)
        valid: groups of actions.  Shape: (B, T, 3)
        hints: what else is known of each action, to be added to the hidden units.  Shape: (B, T, hidden)

        Shape: (B, T, actions); invalid actions have -inf
        """
        gathered = self._gathered(words, word_mask, stack)  # (B, T, 3, d)
        following = torch.cat([words, self.end.to(words.dtype).expand(len(words), 1, -1)], 1)
        place = front.where(front >= 0, words.shape[1])[..., None].expand(-1, -1, words.shape[2])
        features = [stack.flatten(2), gathered.flatten(2), following.gather(1, place), past]
        seen = torch.cat([one.to(words.dtype) for one in features], -1)
        hidden = self.hidden(self.dropout(seen))  # (B, T, hidden)
        hidden = hidden if hints is None else hidden + hints.to(hidden.dtype)
        scores = self.output(self.dropout(hidden.relu())).float()
        allowed = valid[..., self.groups]
        allowed = allowed | ~allowed.any(-1, keepdim=True)  # padding has no valid action, and must not become NaN
        probabilities: Tensor = scores.masked_fill(~allowed, -torch.inf).log_softmax(-1)
        return probabilities

    def _gathered(self, words: Tensor, word_mask: Tensor, stack: Tensor) -> Tensor:
        """What each span gathers from the sentence.  Shape: (B, T, 3, d)"""
        wanted = _each_by_its_own(self.attention, stack)  # (B, T, 3, d)
        scores = (wanted.flatten(1, 2) @ words.mT.to(wanted.dtype)).float()  # (B, 3T, N)
        weights = scores.masked_fill(~word_mask[:, None], -torch.inf).softmax(-1).to(words.dtype)
        gathered: Tensor = (weights @ words).view(*stack.shape[:3], -1)
        return gathered


def _each_by_its_own(layer: nn.Linear, stack: Tensor) -> Tensor:
    """Each of the three spans by its own third of a layer.  Shape: (B, T, 3, s) -> (B, T, 3, d)"""
    thirds = zip(stack.unbind(2), layer.weight.chunk(SEEN), layer.bias.chunk(SEEN), strict=True)
    return torch.stack([nn.functional.linear(one, weight, bias) for one, weight, bias in thirds], 2)
