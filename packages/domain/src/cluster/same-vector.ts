import { equals, type ResourceVector } from "../resources/resource-vector.ts";

/** The same as `equals`, but mostly told without making anything: it is asked at every event of every pod. */
export function isSameVector(a: ResourceVector, b: ResourceVector): boolean {
  return (
    a.cpuMillis === b.cpuMillis &&
    a.memoryBytes === b.memoryBytes &&
    a.storageBytes === b.storageBytes &&
    a.gpus === b.gpus &&
    (a.extended === b.extended || equals(a, b))
  );
}
