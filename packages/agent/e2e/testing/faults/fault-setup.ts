import { PATH, type ReservationDTO } from "@resource-broker/contract";
import type { ResourceRequest } from "@resource-broker/contract/crd";
import {
  PROVIDER_INSTRUCTIONS,
  RESERVATION_INSTRUCTIONS,
  RESOURCE_REQUESTS,
  type TestCertificates,
  type World,
  type WorldCluster,
} from "@resource-broker/testkit";
import { expect } from "vitest";
import type { ApiServerFaults } from "../api-server-faults.ts";
import { type ActiveRequest, askFor, untilActive } from "../resource-request.ts";

const TO_PARIS = { targetClusterID: "paris" };

interface FaultSetupParts {
  readonly world: World;
  readonly certificates: TestCertificates;
  readonly servers: ApiServerFaults;
}

/** A world in which rome borrows from paris, whatever fails. */
export interface FaultSetup extends FaultSetupParts {
  readonly rome: WorldCluster;
  readonly paris: WorldCluster;
  /** rome asks for something of paris. */
  readonly ask: (name: string, spec?: Partial<ResourceRequest["spec"]>) => Promise<ResourceRequest>;
  readonly deleteRequest: (name: string) => Promise<unknown>;
  /** What the broker has for this request, whatever became of it. */
  readonly reservationsOf: (request: ResourceRequest) => Promise<ReservationDTO[]>;
  /** The request was granted once, and both clusters know. */
  readonly expectOneOfEach: (name: string) => Promise<ActiveRequest>;
  readonly isAdvertised: (clusterId: string) => Promise<true | undefined>;
}

export function faultSetup({ world, certificates, servers }: FaultSetupParts): FaultSetup {
  const [rome, paris] = [world.cluster("rome"), world.cluster("paris")];

  const reservationsOf: FaultSetup["reservationsOf"] = async ({ metadata }) => {
    const { body } = await world.broker
      .clientFor("rome")
      .request("GET", `${PATH.reservations}?role=requester`);
    return (body as ReservationDTO[]).filter(({ key }) => key?.startsWith(metadata.uid ?? "") === true);
  };

  const expectOneOfEach = async (name: string): Promise<ActiveRequest> => {
    const active = await untilActive(rome, name);
    const { reservationName: id, request } = active;
    expect(await reservationsOf(request)).toMatchObject([{ id, targetClusterID: "paris" }]);
    await rome.until(RESERVATION_INSTRUCTIONS, id, ({ status }) => status?.delivered === true);
    await paris.until(PROVIDER_INSTRUCTIONS, `${id}-provider`, ({ status }) => status?.enforced === true);
    const same = (await rome.list(RESERVATION_INSTRUCTIONS)).filter(
      ({ metadata }) => metadata.labels?.["rear.fluidos.eu/request-uid"] === request.metadata.uid,
    );
    expect(same.map(({ metadata }) => metadata.name)).toEqual([id]);
    return active;
  };

  return {
    world,
    certificates,
    servers,
    rome,
    paris,
    ask: (name, spec = {}) => askFor(rome, name, { ...TO_PARIS, ...spec }),
    deleteRequest: (name) => rome.client.delete(RESOURCE_REQUESTS, { name, namespace: "default" }),
    reservationsOf,
    expectOneOfEach,
    isAdvertised: async (clusterId) =>
      (await world.broker.admin().request("GET", PATH.advertisement(clusterId))).status === 200 || undefined,
  };
}
