import {
  type Advertisement,
  type AdvertisementDTO,
  advertisementKind,
  apiVersionOf,
  fitted,
  formatTime,
} from "@resource-broker/contract";
import { type Said, withConditions } from "../forge/conditions.ts";
import { MANAGED_BY_LABEL, MANAGER } from "../forge/labels.ts";
import type { Publication } from "./publisher.ts";

export interface MirrorPlace {
  readonly name: string;
  readonly namespace: string;
}

/** The local copy of what the broker was told, for people with kubectl. */
export function mirroredAdvertisement(
  { clusterID, resources, timestamp, cost, endpointURL, labels, nodeShapes, gpus, liqo }: AdvertisementDTO,
  { name, namespace }: MirrorPlace,
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

export function mirroredStatus(publication: Publication, before: Status | undefined, wallMs: number): Status {
  const now = formatTime(wallMs);
  const message = publication.ok ? "the broker accepted it" : publication.fault.message;
  const said: Said = publication.ok
    ? { type: "Published", status: "True", reason: "Accepted", message }
    : { type: "Published", status: "False", reason: reasonOf(publication.fault.code), message };
  return fitted(advertisementKind.status, {
    phase: publication.ok ? "Active" : "Error",
    published: publication.ok,
    message,
    lastUpdateTime: now,
    conditions: withConditions(before?.conditions, [said], { now, observedGeneration: undefined }),
  });
}

/** `store-unavailable` → `StoreUnavailable`: conditions want one CamelCase word. */
function reasonOf(code: string): string {
  return code.replace(/(^|-)([a-z])/g, (_, _dash, letter: string) => letter.toUpperCase());
}
