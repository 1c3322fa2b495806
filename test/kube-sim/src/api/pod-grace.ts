import type { JsonObject } from "../json.ts";
import { objectAt, stringAt } from "../json-access.ts";

const DEFAULT_SECONDS = 30;

/** `graceSeconds` of pods: one that no node runs, or that has ended, has nobody to wait for. */
export function podGrace(pod: JsonObject, asked: number | undefined): number {
  const spec = objectAt(pod, "spec");
  const hasEnded = ["Succeeded", "Failed"].includes(stringAt(objectAt(pod, "status"), "phase"));
  if (stringAt(spec, "nodeName") === "" || hasEnded) return 0;
  const own = spec["terminationGracePeriodSeconds"];
  const seconds = asked ?? (typeof own === "number" ? own : DEFAULT_SECONDS);
  return seconds < 0 ? 1 : seconds;
}
