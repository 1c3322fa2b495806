import { type Clock, Fault } from "@resource-broker/base";
import {
  advertisementCall,
  auditPages,
  type CallSender,
  decisionCall,
  queuePages,
  readAll,
  reservationPages,
  type TypedCall,
} from "@resource-broker/client";
import {
  type AdvertisementDTO,
  type AuditEntryDTO,
  type DecisionDTO,
  HEADER,
  type ReservationDTO,
  type WaitingRequestDTO,
} from "@resource-broker/contract";
import { apiVersionOf, type ResourceRequest, resourceRequestKind } from "@resource-broker/contract/crd";
import { RESOURCE_REQUESTS, type World } from "@resource-broker/testkit";
import { REQUESTER } from "../fleet/plan-fleet.ts";

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
  /** What waits, in the order in which it is granted. */
  readonly queue: () => Promise<readonly WaitingRequestDTO[]>;
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

  const request: CallSender["request"] = async (call) => {
    try {
      return await world.broker.api().request(call);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const { status, message } = error;
      throw new Fault("internal", `GET ${call.path}: the broker answers ${status}: ${message}`, {
        cause: error,
      });
    }
  };
  const read = async <T>(call: TypedCall<T>): Promise<T> => (await request(call)).value;

  return {
    world,
    clock,
    account: (cluster) => read(advertisementCall(cluster)),
    reservations: () => readAll({ request }, reservationPages()),
    queue: () => readAll({ request }, queuePages()),
    decision: (id) => read(decisionCall(id)),
    audit: () => readAll({ request }, auditPages()),
    ledgerId: async () =>
      String((await request(reservationPages(undefined, 1))).headers[HEADERS_ARE_LOWER_CASE]),
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
