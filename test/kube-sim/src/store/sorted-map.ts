/** A map whose keys stay in order: a B-tree, so that a write costs a few small moves however many keys there are. */
export interface SortedMap<Value> {
  readonly size: () => number;
  readonly get: (key: string) => Value | undefined;
  readonly set: (key: string, value: Value) => void;
  readonly delete: (key: string) => void;
  /** In order, from the first key ≥ `from`, while keys are < `before`. Not to be used across a write. */
  readonly range: (span: Span) => Generator<readonly [string, Value]>;
  /** How many keys the span holds; whole leaves are counted without looking at their keys. */
  readonly count: (span: Span) => number;
}

/** From the first key on, up to but not including the second; absent: to the end. */
export interface Span {
  readonly from: string;
  readonly before?: string;
}

interface Leaf<Value> {
  readonly keys: string[];
  readonly values: Value[];
}

interface Branch<Value> {
  /** A lower bound of the keys below each child; the first one bounds nothing. */
  readonly keys: string[];
  readonly children: Node<Value>[];
}

type Node<Value> = Leaf<Value> | Branch<Value>;

const MOST_KEYS = 64;

export function sortedMap<Value>(): SortedMap<Value> {
  let root: Node<Value> = { keys: [], values: [] };
  let size = 0;
  return {
    size: () => size,
    get: (key) => {
      const leaf = leafOf(root, key);
      const at = lowerBound(leaf.keys, key);
      return leaf.keys[at] === key ? leaf.values[at] : undefined;
    },
    set: (key, value) => {
      if (put(root, key, value)) size++;
      if (root.keys.length <= MOST_KEYS) return;
      const right = halve(root);
      root = { keys: ["", firstKey(right)], children: [root, right] };
    },
    delete: (key) => {
      if (take(root, key)) size--;
      if (size === 0) root = { keys: [], values: [] };
    },
    range: (span) => within(root, span),
    count: (span) => countWithin(root, span),
  };
}

function isBranch<Value>(node: Node<Value>): node is Branch<Value> {
  return "children" in node;
}

/** The place of the first key ≥ the one asked for. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The place of the child that holds the key, if any does. */
function childAt(keys: readonly string[], key: string): number {
  const at = lowerBound(keys, key);
  return keys[at] === key ? at : Math.max(0, at - 1);
}

function leafOf<Value>(root: Node<Value>, key: string): Leaf<Value> {
  let node = root;
  while (isBranch(node)) {
    const child: Node<Value> | undefined = node.children[childAt(node.keys, key)];
    if (child === undefined) return { keys: [], values: [] };
    node = child;
  }
  return node;
}

function firstKey<Value>(node: Node<Value>): string {
  return node.keys[0] ?? "";
}

function halve<Value>(node: Node<Value>): Node<Value> {
  const keys = node.keys.splice(MOST_KEYS / 2);
  return isBranch(node)
    ? { keys, children: node.children.splice(MOST_KEYS / 2) }
    : { keys, values: node.values.splice(MOST_KEYS / 2) };
}

/** True: the key is new. */
function put<Value>(node: Node<Value>, key: string, value: Value): boolean {
  if (!isBranch(node)) return putInLeaf(node, key, value);
  const at = childAt(node.keys, key);
  const child = node.children[at];
  if (child === undefined) return false;
  const isNew = put(child, key, value);
  if (child.keys.length > MOST_KEYS) {
    const right = halve(child);
    node.keys.splice(at + 1, 0, firstKey(right));
    node.children.splice(at + 1, 0, right);
  }
  return isNew;
}

function putInLeaf<Value>(leaf: Leaf<Value>, key: string, value: Value): boolean {
  const at = lowerBound(leaf.keys, key);
  const isNew = leaf.keys[at] !== key;
  leaf.keys.splice(at, isNew ? 0 : 1, key);
  leaf.values.splice(at, isNew ? 0 : 1, value);
  return isNew;
}

/** True: the key was there. Nodes are not joined when they shrink, only dropped when they are empty. */
function take<Value>(node: Node<Value>, key: string): boolean {
  if (!isBranch(node)) {
    const at = lowerBound(node.keys, key);
    if (node.keys[at] !== key) return false;
    node.keys.splice(at, 1);
    node.values.splice(at, 1);
    return true;
  }
  const at = childAt(node.keys, key);
  const child = node.children[at];
  if (child === undefined || !take(child, key)) return false;
  if (child.keys.length === 0) {
    node.keys.splice(at, 1);
    node.children.splice(at, 1);
  }
  return true;
}

function* within<Value>(node: Node<Value>, span: Span): Generator<readonly [string, Value]> {
  if (isBranch(node)) {
    for (const child of childrenWithin(node, span)) yield* within(child, span);
    return;
  }
  for (let at = lowerBound(node.keys, span.from); at < node.keys.length; at++) {
    const key = node.keys[at];
    const value = node.values[at];
    if (key === undefined || value === undefined) return;
    if (span.before !== undefined && key >= span.before) return;
    yield [key, value];
  }
}

function countWithin<Value>(node: Node<Value>, span: Span): number {
  if (isBranch(node)) {
    return childrenWithin(node, span).reduce((sum, child) => sum + countWithin(child, span), 0);
  }
  const end = span.before === undefined ? node.keys.length : lowerBound(node.keys, span.before);
  return Math.max(0, end - lowerBound(node.keys, span.from));
}

function childrenWithin<Value>(node: Branch<Value>, { from, before }: Span): readonly Node<Value>[] {
  const end = before === undefined ? node.keys.length : Math.max(1, lowerBound(node.keys, before));
  return node.children.slice(childAt(node.keys, from), end);
}
