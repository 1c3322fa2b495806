import { type Advertisement, advertisementKind, Fault } from "@resource-broker/contract";
import { customResource, failureReporter, type KubeClient, toFault } from "@resource-broker/kube";
import type { Clock, Log } from "@resource-broker/runtime";
import { MANAGER } from "../forge/labels.ts";
import { type MirrorPlace, mirroredAdvertisement, mirroredStatus } from "./advertisement-mirror.ts";
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
  place: MirrorPlace,
  { client, clock, log, withoutBroker }: MirrorDeps,
): MirrorWriter {
  const writing = failureReporter({
    log,
    clock,
    fields: { ...place },
    what: "writing the Advertisement",
  });
  let next: Publication | undefined;
  let before: Advertisement["status"];
  let underWay: Promise<void> | undefined;

  const writeOne = async (publication: Publication): Promise<void> => {
    const wanted = mirroredAdvertisement(publication.advertisement, place);
    const written = await client.apply(ADVERTISEMENTS, wanted, { fieldManager: MANAGER, force: true });
    const outcome = withoutBroker ? "no-broker" : publication;
    const status = mirroredStatus(outcome, written.status ?? before, clock.wallMs());
    await client.patch(
      ADVERTISEMENTS,
      { name: place, patch: { kind: "merge", body: { status } } },
      { subresource: "status", fieldManager: MANAGER },
    );
    before = status;
  };

  /** The cluster ID is immutable: an agent with another ID has left the object. */
  const withRemedy = (fault: Fault): Fault => {
    if (fault.code !== "invalid" || !fault.message.includes("clusterID")) return fault;
    const remedy = `kubectl delete advertisement ${place.name} -n ${place.namespace} lets this agent write its own`;
    return new Fault("invalid", `${fault.message}; it was made under another cluster ID: ${remedy}`);
  };

  const drain = async (): Promise<void> => {
    while (next !== undefined) {
      const publication = next;
      next = undefined;
      await writeOne(publication).then(writing.recovered, (error: unknown) =>
        writing.failed(withRemedy(toFault(error))),
      );
    }
    underWay = undefined;
  };

  return {
    write: (publication) => {
      next = publication;
      underWay ??= drain();
    },
    settled: async () => {
      await underWay;
    },
  };
}
