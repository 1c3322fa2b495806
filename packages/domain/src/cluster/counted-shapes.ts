import type { NodeShape } from "../advertisement/advertisement.ts";
import { fits, type ResourceVector } from "../resources/resource-vector.ts";
import { mergeShapes, vectorKey } from "./node-shapes.ts";

/** The distinct sizes of the counted nodes, kept up to date node by node. */
export interface CountedShapes {
  add(size: ResourceVector): void;
  remove(size: ResourceVector): void;
  /** Whether an empty node could hold the request; at most one comparison for each distinct size. */
  fitsSome(request: ResourceVector): boolean;
  advertised(): readonly NodeShape[];
}

export function countedShapes(): CountedShapes {
  const shapes = new Map<string, NodeShape>();
  // Answers hold until a size appears or the last node of a size goes.
  let answers = new WeakMap<ResourceVector, boolean>();
  let advertised: readonly NodeShape[] | undefined;

  function change(size: ResourceVector, by: 1 | -1): void {
    const key = vectorKey(size);
    const before = shapes.get(key);
    const count = (before?.count ?? 0) + by;
    if (count > 0) shapes.set(key, { count, resources: size });
    else shapes.delete(key);
    if (before === undefined || count <= 0) answers = new WeakMap();
    advertised = undefined;
  }

  function search(request: ResourceVector): boolean {
    for (const shape of shapes.values()) {
      if (fits(request, shape.resources)) return true;
    }
    return false;
  }

  return {
    add: (size) => change(size, 1),
    remove: (size) => change(size, -1),
    fitsSome(request) {
      const known = answers.get(request);
      if (known !== undefined) return known;
      const answer = search(request);
      answers.set(request, answer);
      return answer;
    },
    advertised() {
      advertised ??= mergeShapes(shapes.values());
      return advertised;
    },
  };
}
