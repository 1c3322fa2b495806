import { type Advertisement, advertisementKind, Fault } from "@resource-broker/contract";
import { customResource, failureReporter, type KubeClient, toFault } from "@resource-broker/kube";
import type { Clock, Log } from "@resource-broker/runtime";
import { MANAGER } from "../forge/labels.ts";
import { type MirrorKey, mirroredAdvertisement, mirroredStatus } from "./advertisement-mirror.ts";
import type { Publication } from "./publisher.ts";

const ADVERTISEMENTS = customResource(advertisementKind);

export interface MirrorDeps {
  readonly client: Pick<KubeClient, "apply" | "patch">;
  readonly clock: Clock;
  readonly log: Log;
  readonly withoutBroker: boolean;
}

/** Keeps the local Advertisement up to date. A failure does not stop publishing; only the newest state is written. */
export interface MirrorWriter {
  readonly write: (publication: Publication) => void;
  /** Resolves when nothing is being written. */
  readonly settled: () => Promise<void>;
}

export function mirrorWriter(
  key: MirrorKey,
  { client, clock, log, withoutBroker }: MirrorDeps,
): MirrorWriter {
  const reporter = failureReporter({
    log,
    clock,
    fields: { ...key },
    what: "writing the Advertisement",
  });
  let next: Publication | undefined;
  let before: Advertisement["status"];
  let pending: Promise<void> | undefined;

  const writeOne = async (publication: Publication): Promise<void> => {
    const wanted = mirroredAdvertisement(publication.advertisement, key);
    const written = await client.apply(ADVERTISEMENTS, wanted, { fieldManager: MANAGER, force: true });
    const outcome = withoutBroker ? "no-broker" : publication;
    const status = mirroredStatus(outcome, written.status ?? before, clock.wallMs());
    await client.patch(
      ADVERTISEMENTS,
      { name: key, patch: { kind: "merge", body: { status } } },
      { subresource: "status", fieldManager: MANAGER },
    );
    before = status;
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
    write: (publication) => {
      next = publication;
      pending ??= drain();
    },
    settled: async () => {
      await pending;
    },
  };
}
