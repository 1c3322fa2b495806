import { formatTime } from "@resource-broker/base";
import { conditionMessage } from "@resource-broker/contract/crd";
import type { ResourceList, ResourceSlice, ResourceSliceCondition } from "../objects/authentication.ts";
import { LIQO_ANNOTATION } from "../objects/labels.ts";
import { isSameList } from "./replica-amounts.ts";

/** On a replica: this agent cordoned it, with the reason; absent on a person's cordon. */
export const CORDONED_ANNOTATION = "rear.fluidos.eu/cordoned";

type Status = NonNullable<ResourceSlice["status"]>;

/** The agent's decision about a replica's resources. */
export interface ResourcesDecision {
  readonly status: "Accepted" | "Denied";
  readonly reason: string;
  readonly message: string;
  readonly resources: ResourceList;
}

export function isAccepted(slice: ResourceSlice): boolean {
  return resourcesCondition(slice)?.status === "Accepted";
}

/** As Liqo reads the annotation: everything but false. */
export function isCordoned({ metadata }: ResourceSlice): boolean {
  const value = metadata.annotations?.[LIQO_ANNOTATION.cordon];
  return value !== undefined && value !== "false" && value !== "False" && value !== "0";
}

export function isCordonedByUs({ metadata }: ResourceSlice): boolean {
  return metadata.annotations?.[CORDONED_ANNOTATION] !== undefined;
}

/** The status with this decision; undefined: it is set. Liqo's other conditions stay. */
export function statusWith(
  slice: ResourceSlice,
  asked: ResourcesDecision,
  wallMs: number,
): Status | undefined {
  const decision = { ...asked, message: conditionMessage(asked.message) };
  const { status: current = {} } = slice;
  const before = resourcesCondition(slice);
  if (isSameDecision(before, decision) && isSameList(current.resources ?? {}, decision.resources))
    return undefined;
  const { resources, ...rest } = decision;
  const since = before?.status === decision.status ? before.lastTransitionTime : undefined;
  const lastTransitionTime = since ?? formatTime(wallMs);
  const condition: ResourceSliceCondition = { type: "Resources", ...rest, lastTransitionTime };
  const others = (current.conditions ?? []).filter(({ type }) => type !== "Resources");
  return { ...current, conditions: [...others, condition], resources };
}

function isSameDecision(
  before: ResourceSliceCondition | undefined,
  { status, reason, message }: ResourcesDecision,
): boolean {
  return before?.status === status && before.reason === reason && before.message === message;
}

function resourcesCondition({ status }: ResourceSlice): ResourceSliceCondition | undefined {
  return status?.conditions?.find(({ type }) => type === "Resources");
}
