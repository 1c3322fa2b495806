import {
  type Advertisement,
  type AdvertisementDTO,
  advertisementKind,
  apiVersionOf,
  fitToSchema,
  formatTime,
} from "@resource-broker/contract";
import { type ConditionUpdate, withConditions } from "../forge/conditions.ts";
import { MANAGED_BY_LABEL, MANAGER } from "../forge/labels.ts";
import { NO_BROKER } from "../transport/no-broker.ts";
import type { Publication } from "./publisher.ts";

export interface MirrorKey {
  readonly name: string;
  readonly namespace: string;
}

/** The local copy of the advertisement, for kubectl. */
export function mirroredAdvertisement(
  { clusterID, resources, timestamp, cost, endpointURL, labels, nodeShapes, gpus, liqo }: AdvertisementDTO,
  { name, namespace }: MirrorKey,
): Advertisement {
  return {
    apiVersion: apiVersionOf(advertisementKind),
    kind: advertisementKind.kind,
    metadata: { name, namespace, labels: { [MANAGED_BY_LABEL]: MANAGER } },
    spec: {
      clusterID,
      resources,
      timestamp,
      ...(cost === undefined ? {} : { cost }),
      ...(endpointURL === undefined ? {} : { endpointURL }),
      ...(labels === undefined ? {} : { labels }),
      ...(nodeShapes === undefined ? {} : { nodeShapes }),
      ...(gpus === undefined ? {} : { gpus }),
      ...(liqo === undefined ? {} : { liqo }),
    },
  };
}

type Status = NonNullable<Advertisement["status"]>;

export function mirroredStatus(
  outcome: Publication | "no-broker",
  before: Status | undefined,
  wallMs: number,
): Status {
  const now = formatTime(wallMs);
  const published = publishedCondition(outcome);
  const conditions = outcome === "no-broker" ? [published] : [published, completeness(outcome)];
  return fitToSchema(advertisementKind.status, {
    phase: outcome === "no-broker" || outcome.ok ? "Active" : "Error",
    published: published.status === "True",
    message: published.message,
    lastUpdateTime: now,
    conditions: withConditions(before?.conditions, conditions, { now, observedGeneration: undefined }),
  });
}

function publishedCondition(outcome: Publication | "no-broker"): ConditionUpdate {
  const type = "Published";
  if (outcome === "no-broker") {
    const message = `${NO_BROKER}: nothing can be reserved here`;
    return { type, status: "False", reason: "NoBroker", message };
  }
  if (outcome.ok) return { type, status: "True", reason: "Accepted", message: "the broker accepted it" };
  const { code, message } = outcome.fault;
  return { type, status: "False", reason: reasonOf(code), message };
}

function completeness({ omitted }: Publication): ConditionUpdate {
  return omitted.length === 0
    ? { type: "Complete", status: "True", reason: "AllStated", message: "nothing is left out" }
    : { type: "Complete", status: "False", reason: "BeyondLimits", message: omitted.join("; ") };
}

/** `store-unavailable` → `StoreUnavailable`: a condition's reason is one CamelCase word. */
function reasonOf(code: string): string {
  return code.replace(/(^|-)([a-z])/g, (_, _dash, letter: string) => letter.toUpperCase());
}
