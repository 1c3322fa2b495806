import { type Clock, Fault, type Log, toFault } from "@resource-broker/base";
import { type AdvertisementDTO, present } from "@resource-broker/contract";
import { type Advertisement, advertisementKind, apiVersionOf } from "@resource-broker/contract/crd";
import { customResource, failureReporter, type KubeClient } from "@resource-broker/kube";
import { type ConditionUpdate, statusOf } from "../manifests/conditions.ts";
import { MANAGED_BY_LABEL, MANAGER } from "../manifests/labels.ts";
import { applyOwn, patchStatus } from "../manifests/writes.ts";
import type { RecordEvent } from "../events/record-event.ts";
import { NO_BROKER } from "../transport/no-broker.ts";
import type { Publication } from "./publisher.ts";

const ADVERTISEMENTS = customResource(advertisementKind);

export interface MirrorDeps {
  readonly client: Pick<KubeClient, "apply" | "patch">;
  readonly clock: Clock;
  readonly log: Log;
  readonly withoutBroker: boolean;
  readonly recordEvent: RecordEvent;
}

/** Keeps the local Advertisement up to date. A failure does not stop publishing; only the newest state is written. */
export function mirrorWriter(key: MirrorKey, deps: MirrorDeps) {
  const { client, clock, log, withoutBroker } = deps;
  const reporter = failureReporter({ log, clock, fields: { ...key }, what: "writing the Advertisement" });
  let next: Publication | undefined;
  let before: Advertisement["status"];
  let refusal: string | undefined;
  let pending: Promise<void> | undefined;

  const writeOne = async (publication: Publication): Promise<void> => {
    const wanted = mirroredAdvertisement(publication.advertisement, key);
    const written = await applyOwn(client, ADVERTISEMENTS, wanted);
    const outcome = withoutBroker ? "no-broker" : publication;
    const status = mirroredStatus(outcome, written.status ?? before, clock.wallMs());
    await patchStatus(client, ADVERTISEMENTS, { name: key, status });
    before = status;
    if (!withoutBroker) recordRefusal(written, publication);
  };
  /** An outage passes by itself; a refusal needs a person. */
  const recordRefusal = (regarding: Advertisement, publication: Publication): void => {
    const message = publication.ok || publication.fault.retry ? undefined : publication.fault.message;
    if (message !== undefined && message !== refusal)
      deps.recordEvent({ regarding, type: "Warning", reason: "AdvertisementRefused", message });
    refusal = message;
  };

  /** The cluster ID is immutable: an agent with another ID has left the object. */
  const withRemedy = (fault: Fault): Fault => {
    if (fault.code !== "invalid" || !fault.message.includes("clusterID")) return fault;
    const remedy = `kubectl delete advertisement ${key.name} -n ${key.namespace} lets this agent write its own`;
    return new Fault("invalid", `${fault.message}; it was made under another cluster ID: ${remedy}`);
  };

  const drain = async (): Promise<void> => {
    while (next !== undefined) {
      const publication = next;
      next = undefined;
      await writeOne(publication).then(reporter.recovered, (error: unknown) =>
        reporter.failed(withRemedy(toFault(error))),
      );
    }
    pending = undefined;
  };

  return {
    write: (publication: Publication): void => {
      next = publication;
      pending ??= drain();
    },
    /** Resolves when nothing is being written. */
    settled: async (): Promise<void> => {
      await pending;
    },
  };
}

export interface MirrorKey {
  readonly name: string;
  readonly namespace: string;
}

/** The local copy of the advertisement, for kubectl. */
function mirroredAdvertisement(
  { clusterID, resources, timestamp, cost, endpointURL, labels, nodeShapes, gpus, liqo }: AdvertisementDTO,
  { name, namespace }: MirrorKey,
): Advertisement {
  return {
    apiVersion: apiVersionOf(advertisementKind),
    kind: advertisementKind.kind,
    metadata: { name, namespace, labels: { [MANAGED_BY_LABEL]: MANAGER } },
    spec: present({ clusterID, resources, timestamp, cost, endpointURL, labels, nodeShapes, gpus, liqo }),
  };
}

type Status = NonNullable<Advertisement["status"]>;

function mirroredStatus(
  outcome: Publication | "no-broker",
  before: Status | undefined,
  wallMs: number,
): Status {
  const published = publishedCondition(outcome);
  const updates = outcome === "no-broker" ? [published] : [published, completeness(outcome)];
  const phase = outcome === "no-broker" || outcome.ok ? "Active" : "Error";
  const fields: Status = { phase, published: published.status === "True", message: published.message };
  return statusOf(advertisementKind.status, fields, { before, updates, wallMs });
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
