// Draws a line of text with bars under it, as `disconer render` does (render/html.py): the same classes, the same lanes.

const MAX_LANES = 30; // deeper pieces are counted, not drawn
const NARROW = new Set("iIjlftr.,;:!|'\"()[]{} -");
const WIDE = new Set("mwMW@%");
const CAPTION_SIZE = 0.75; // relative to the text
const CAPTION_GAP = 0.5; // em between two captions
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
const WIDE_SCRIPTS = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u;

// The part of a mark in a line; null where it only touches the line's end.
export function pieceOf(mark, start, end) {
  const { fragments } = mark;
  const fromBefore = fragments[0][0] < start;
  const goesOn = fragments[fragments.length - 1][1] > end;
  const here = fragments
    .filter((one) => one[0] < end && start < one[1])
    .map((one) => [Math.max(one[0], start), Math.min(one[1], end)]);
  const first = fromBefore ? start : here[0]?.[0];
  const last = goesOn ? end : here[here.length - 1]?.[1];
  return first < last ? { mark, fragments: here, start: first, end: last, fromBefore, goesOn } : null;
}

const width = ({ start, end }) => end - start;
const inTurn = (one, other) => width(one) - width(other) || one.start - other.start || one.mark.order - other.mark.order;

// The lane of each reach: the first with room; earlier reaches choose first. Null where all lanes are taken.
export function pack(reaches, maxLanes = MAX_LANES) {
  const lanes = [];
  return reaches.map(([start, end]) => {
    let lane = lanes.findIndex((taken) => taken.every(([from, to]) => to <= start || end <= from));
    if (lane < 0) lane = lanes.length;
    if (lane === maxLanes) return null;
    (lanes[lane] ??= []).push([start, end]);
    return lane;
  });
}

// All segments of a line: [start, end, [{piece, lane, isFragment}, …] by lane].
export function segments(start, end, placed) {
  const edges = new Set([end]);
  for (const { piece } of placed) {
    edges.add(piece.start).add(piece.end);
    for (const [from, to] of piece.fragments) edges.add(from).add(to);
  }
  const found = [];
  let position = start;
  for (const edge of [...edges].sort((one, other) => one - other)) {
    if (position >= edge) continue;
    const from = position;
    const parts = placed
      .filter(({ piece }) => piece.start <= from && edge <= piece.end)
      .map((one) => ({ ...one, isFragment: one.piece.fragments.some(([a, b]) => a <= from && edge <= b) }))
      .sort((one, other) => one.lane - other.lane);
    found.push([from, edge, parts]);
    position = edge;
  }
  return found;
}

function em(character) {
  if (NARROW.has(character)) return 0.3;
  if (WIDE.has(character)) return 0.85;
  if (character !== character.toLowerCase()) return 0.6;
  return WIDE_SCRIPTS.test(character) ? 1.04 : 0.52;
}

// The approximate position of each character in a proportional font, and last the total width.
function ems(string) {
  const places = [0];
  for (const character of string) places.push(places[places.length - 1] + em(character));
  return places;
}

const captionOf = (piece) => (piece.fromBefore ? `… ${piece.mark.caption}` : piece.mark.caption);

function reaches(shown, start, pieces) {
  const places = ems(shown);
  const eitherWay = RIGHT_TO_LEFT.test(shown);
  return pieces.map((piece) => {
    let from = places[piece.start - start];
    let to = places[piece.end - start];
    if (piece.fragments.length) {
      const caption = ems(captionOf(piece));
      const wide = caption[caption.length - 1] * CAPTION_SIZE + CAPTION_GAP;
      const anchor = places[piece.fragments[0][0] - start];
      to = Math.max(to, anchor + wide);
      if (eitherWay) from = Math.min(from, anchor - wide);
    }
    return [from, to];
  });
}

// The nodes of a line. marks: {id, fragments, caption, description, classes, order}.
export function drawLine(text, [start, end], marks) {
  const shown = text.slice(start, end);
  const pieces = marks.map((mark) => pieceOf(mark, start, end)).filter(Boolean).sort(inTurn);
  if (!pieces.length) return [shown ? document.createTextNode(shown) : document.createElement("br")];
  const lanes = pack(reaches(shown, start, pieces));
  const placed = pieces.map((piece, number) => ({ piece, lane: lanes[number] })).filter(({ lane }) => lane !== null);
  const nodes = segments(start, end, placed).map((segment) => drawSegment(text, ...segment));
  if (placed.length < pieces.length) nodes.push(more(pieces.length - placed.length));
  return nodes;
}

function drawSegment(text, start, end, parts) {
  const shown = document.createTextNode(text.slice(start, end));
  if (!parts.length) return shown;
  let outer = null;
  let inner = null;
  let above = -1;
  for (const { piece, lane, isFragment } of parts) {
    const span = document.createElement("span");
    const { mark } = piece;
    span.className = `e ${isFragment ? "f" : "g"} ${mark.classes} ${above < 0 ? `a${lane}` : `b${lane - above}`}`;
    if (start === piece.start && !piece.fromBefore) span.classList.add("h");
    if (end === piece.end && !piece.goesOn) span.classList.add("z");
    span.dataset.e = mark.id;
    if (piece.fragments.length && start === piece.fragments[0][0]) {
      span.dataset.l = captionOf(piece);
      span.setAttribute("role", "note");
      span.setAttribute("aria-label", mark.description);
    }
    if (inner) inner.append(span);
    outer ??= span;
    inner = span;
    above = lane;
  }
  const words = document.createElement("span");
  words.className = `t r${above}`;
  words.append(shown);
  inner.append(words);
  return outer;
}

// Without text of its own, so that places in the line stay those of the text.
function more(hidden) {
  const note = document.createElement("span");
  note.className = "more";
  note.dataset.more = ` + ${hidden} more entities here`;
  return note;
}
