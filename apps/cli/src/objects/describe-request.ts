import type { ReservationInstruction, ResourceRequest } from "@resource-broker/contract/crd";
import { type ClusterEvent, EVENTS } from "@resource-broker/kube";
import type { Run } from "../cli/command.ts";
import { stylerFor } from "../output/colour.ts";
import { print } from "../output/print.ts";
import { nameIn, REQUESTS, RESERVATION_INSTRUCTIONS } from "./kinds.ts";
import { type OpenCluster, withCluster } from "./open-cluster.ts";
import type { DESCRIBE_OBJECT_OPTIONS } from "./options.ts";
import { listObjects, readObject } from "./read-objects.ts";
import { lastSeen, type RequestReport, requestText } from "./request-text.ts";

export const describeRequest: Run<typeof DESCRIBE_OBJECT_OPTIONS> = async ({ options, words }, host) => {
  const name = nameIn(words[0] ?? "", [REQUESTS]);
  await withCluster(options, host, async (cluster) => {
    const request = await readObject(cluster, REQUESTS, { name, namespace: cluster.namespace });
    const [instruction, events] = await Promise.all([
      instructionOf(cluster, request),
      eventsOf(cluster, request),
    ]);
    const report: RequestReport = { request, ...(instruction === undefined ? {} : { instruction }), events };
    const textOptions = { now: host.now(), styled: stylerFor(host) };
    print(
      { data: report, table: () => requestText(report, textOptions), names: () => [name] },
      options.output,
      host,
    );
  });
};

/** Agents may keep their instructions in another namespace than people their requests. */
async function instructionOf(
  cluster: OpenCluster,
  { metadata, status }: ResourceRequest,
): Promise<ReservationInstruction | undefined> {
  const reservation = status?.reservationName;
  if (reservation === undefined) return undefined;
  const { namespace = cluster.namespace } = metadata;
  const beside = await cluster.client.find(RESERVATION_INSTRUCTIONS.resource, {
    name: reservation,
    namespace,
  });
  if (beside !== undefined) return beside;
  const elsewhere = await listObjects(cluster, RESERVATION_INSTRUCTIONS, { namespace: undefined }).catch(
    () => [],
  );
  return elsewhere.find(({ spec }) => spec.reservationName === reservation);
}

/** Whoever may not read events still sees the rest. */
async function eventsOf(
  { client }: OpenCluster,
  { metadata }: ResourceRequest,
): Promise<readonly ClusterEvent[]> {
  const { name, namespace = "default", uid } = metadata;
  const found: ClusterEvent[] = [];
  await client
    .list(
      EVENTS,
      { namespace, fieldSelector: `involvedObject.name=${name}` },
      (event) => void found.push(event),
    )
    .catch(() => undefined);
  return found
    .filter(({ involvedObject }) => involvedObject.kind === "ResourceRequest" && involvedObject.uid === uid)
    .toSorted((a, b) => lastSeen(a).localeCompare(lastSeen(b)));
}
