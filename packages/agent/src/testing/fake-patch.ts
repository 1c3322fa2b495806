import { Fault } from "@resource-broker/base";
import type { Patch } from "@resource-broker/kube";
import type { JsonPatchStep } from "@resource-broker/kube/testing";
import type { FakeObject } from "./fake-objects.ts";

/** An object after a patch; as much of JSON patches as the agent sends. */
export function patched(object: FakeObject, patch: Patch): FakeObject {
  switch (patch.kind) {
    case "merge":
      return merged(object, patch.body) as FakeObject;
    case "json":
      return patch.body.reduce(stepped, object);
  }
}

function stepped(object: FakeObject, { op, path, value }: JsonPatchStep): FakeObject {
  if (op === "test" && path === "/metadata/uid") {
    if (object.metadata.uid === value) return object;
    throw new Fault("invalid", `the test of ${path} failed`);
  }
  if (op === "add" && path === "/status") return { ...object, status: value as object };
  throw new Fault("unsupported", `the fake knows no ${op} of ${path}`);
}

/** RFC 7396. */
export function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return structuredClone(patch);
  const isObject = typeof target === "object" && target !== null && !Array.isArray(target);
  const result: Record<string, unknown> = isObject ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
}
