import { conditionMessage, formatTime } from "@resource-broker/contract";
import { LIQO_ANNOTATION } from "../objects/labels.ts";
import type { ResourceList, ResourceSlice, ResourceSliceCondition } from "../objects/resource-slice.ts";
import { isSameList } from "./slice-amounts.ts";

/** On a replica: this agent cordoned it, with the reason; absent on a person's cordon. */
export const CORDONED_ANNOTATION = "rear.fluidos.eu/cordoned";

type Status = NonNullable<ResourceSlice["status"]>;

/** The agent's decision about a replica's resources. */
export interface Word {
  readonly status: "Accepted" | "Denied";
  readonly reason: string;
  readonly message: string;
  readonly resources: ResourceList;
}

function resourcesCondition({ status }: ResourceSlice): ResourceSliceCondition | undefined {
  return status?.conditions?.find(({ type }) => type === "Resources");
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
export function statusSaying(slice: ResourceSlice, asked: Word, wallMs: number): Status | undefined {
  const word = { ...asked, message: conditionMessage(asked.message) };
  const { status: said = {} } = slice;
  const before = resourcesCondition(slice);
  if (isSaid(before, word) && isSameList(said.resources ?? {}, word.resources)) return undefined;
  const { resources, ...rest } = word;
  const since = before?.status === word.status ? before.lastTransitionTime : undefined;
  const lastTransitionTime = since ?? formatTime(wallMs);
  const condition: ResourceSliceCondition = { type: "Resources", ...rest, lastTransitionTime };
  const others = (said.conditions ?? []).filter(({ type }) => type !== "Resources");
  return { ...said, conditions: [...others, condition], resources };
}

function isSaid(before: ResourceSliceCondition | undefined, { status, reason, message }: Word): boolean {
  return before?.status === status && before.reason === reason && before.message === message;
}
