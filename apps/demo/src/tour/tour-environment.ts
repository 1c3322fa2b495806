import { type Clock, Fault } from "@resource-broker/base";
import {
  type AdvertisementDTO,
  type AuditEntryDTO,
  advertisementSchema,
  auditPageSchema,
  type DecisionDTO,
  decisionSchema,
  describeProblems,
  HEADER,
  LIMIT,
  PATH,
  type ReservationDTO,
  reservationListSchema,
  type Schema,
  validate,
} from "@resource-broker/contract";
import { apiVersionOf, type ResourceRequest, resourceRequestKind } from "@resource-broker/contract/crd";
import { type BrokerReply, RESOURCE_REQUESTS, type World } from "@resource-broker/testkit";
import { REQUESTER } from "../fleet/small-fleet.ts";

const NAMESPACE = "default";
const HEADERS_ARE_LOWER_CASE = HEADER.ledgerId.toLowerCase();

/** The real world as the steps use it. */
export interface TourEnvironment {
  readonly world: World;
  readonly clock: Clock;
  /** The cluster as the broker has it. */
  readonly account: (cluster: string) => Promise<AdvertisementDTO>;
  /** All reservations that the broker knows, ended ones included. */
  readonly reservations: () => Promise<readonly ReservationDTO[]>;
  readonly decision: (id: string) => Promise<DecisionDTO>;
  readonly audit: () => Promise<readonly AuditEntryDTO[]>;
  /** Made with the broker's database. */
  readonly ledgerId: () => Promise<string>;
  /** Creates a ResourceRequest in the cluster that is short. */
  readonly createRequest: (name: string, spec: ResourceRequest["spec"]) => Promise<ResourceRequest>;
  /** The request as soon as it is as wanted. */
  readonly untilRequest: (
    name: string,
    isAsWanted: (request: ResourceRequest) => boolean,
  ) => Promise<ResourceRequest>;
}

export function tourEnvironment(world: World, clock: Clock): TourEnvironment {
  const requester = world.cluster(REQUESTER);

  const get = async (path: string): Promise<BrokerReply> => {
    const reply = await world.broker.admin().request("GET", path);
    if (reply.status === 200) return reply;
    throw new Fault(
      "internal",
      `GET ${path}: the broker answers ${reply.status}: ${JSON.stringify(reply.body)}`,
    );
  };
  const read = async <T>(path: string, schema: Schema<T>): Promise<T> => {
    const checked = validate(schema, (await get(path)).body);
    if (checked.ok) return checked.value;
    throw new Fault("internal", `GET ${path}: ${describeProblems(checked.problems)}`);
  };

  return {
    world,
    clock,
    account: (cluster) => read(PATH.advertisement(cluster), advertisementSchema),
    reservations: () => read(PATH.reservations, reservationListSchema),
    decision: (id) => read(PATH.decision(id), decisionSchema),
    audit: async () => (await read(`${PATH.audit}?limit=${LIMIT.pageMax}`, auditPageSchema)).items,
    ledgerId: async () => String((await get(PATH.reservations)).headers[HEADERS_ARE_LOWER_CASE]),
    createRequest: (name, spec) =>
      requester.client.create(RESOURCE_REQUESTS, {
        apiVersion: apiVersionOf(resourceRequestKind),
        kind: resourceRequestKind.kind,
        metadata: { name, namespace: NAMESPACE },
        spec,
      }),
    untilRequest: (name, isAsWanted) => requester.until(RESOURCE_REQUESTS, name, isAsWanted),
  };
}
