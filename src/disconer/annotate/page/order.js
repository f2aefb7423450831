// Entities and suggestions in the order of the text, and around a place in it.

import { keyOf } from "./text.js";

const reach = ({ fragments }) => fragments[fragments.length - 1][1] - fragments[0][0];

// For sorting: by start, the shorter first.
export const inText = (one, other) =>
  one.fragments[0][0] - other.fragments[0][0] || reach(one) - reach(other) || (keyOf(one) < keyOf(other) ? -1 : 1);

// The number of the first mark from a range on, or with step -1 of the last one up to it.
export function nearest(sorted, range, step) {
  const from = range?.[0] ?? 0;
  if (step > 0) return sorted.findIndex(({ fragments }) => fragments[0][0] >= from);
  return sorted.findLastIndex(({ fragments }) => fragments[0][0] <= from);
}

// The smallest mark that has a fragment around [start, end).
export function smallestAround(marks, start, end) {
  const around = marks.filter(({ fragments }) => fragments.some(([from, to]) => from <= start && end <= to));
  return around.sort((one, other) => reach(one) - reach(other))[0];
}
