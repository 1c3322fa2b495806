import type { ResourceVector } from "../resources/resource-vector.ts";
import { vectorKey } from "./node-shapes.ts";

const MAX_INTERNED = 4096;

/** Nodes of one type have the same amounts: returns one shared vector for all of them. */
export function vectorInterner(): (vector: ResourceVector) => ResourceVector {
  const vectors = new Map<string, ResourceVector>();
  return (vector) => {
    const key = vectorKey(vector);
    const known = vectors.get(key);
    if (known !== undefined) return known;
    if (vectors.size >= MAX_INTERNED) vectors.clear();
    vectors.set(key, vector);
    return vector;
  };
}
