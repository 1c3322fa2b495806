import {
  advertisementRequest,
  type ClusterVariety,
  commonName,
  instructionStreamRequest,
  makeKeys,
  type TestCertificates,
} from "@resource-broker/testkit";
import { type Connection, openConnection } from "./connection.ts";

/** Handshakes under way: enough to keep the broker busy, few enough that none waits until it is given up. */
const AT_ONCE = 32;

export interface FleetOptions {
  readonly port: number;
  readonly certificates: TestCertificates;
  /** Names begin with it. */
  readonly prefix: string;
  /** The first cluster's number. */
  readonly from: number;
  /** One behind the last one's. */
  readonly to: number;
  /** What a cluster does as soon as it is connected: the broker closes connections that say nothing. */
  readonly begin: (connection: Connection) => Promise<void> | void;
}

/** Connects that many clusters, each with a certificate and a connection of its own. */
export async function openFleet(options: FleetOptions): Promise<Connection[]> {
  const { port, certificates, prefix, from, to, begin } = options;
  const keys = makeKeys();
  const fleet: Connection[] = [];
  let next = from;
  const connectSome = async (): Promise<void> => {
    while (next < to) {
      const clusterId = `${prefix}-${next++}`;
      const credentials = certificates.leaf({ subject: [commonName(clusterId)], keys });
      const connection = await openConnection({ clusterId, credentials, port });
      await begin(connection);
      fleet.push(connection);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, connectSome));
  return fleet;
}

export async function advertiseOn(connection: Connection, variety?: ClusterVariety): Promise<void> {
  const request = advertisementRequest(connection.clusterId, variety);
  const status = await new Promise<number>((resolve) => connection.send(request, resolve));
  if (status !== 200) throw new Error(`${connection.clusterId} cannot advertise: ${status}`);
}

/** Every cluster advertises once more, some at a time. */
export async function advertiseAll(fleet: readonly Connection[], variety?: ClusterVariety): Promise<void> {
  let next = 0;
  const some = async (): Promise<void> => {
    for (let each = fleet[next++]; each !== undefined; each = fleet[next++]) await advertiseOn(each, variety);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, some));
}

/** Opens the stream of instructions and reads past what comes. */
export function listenOn(connection: Connection): void {
  connection.stream(instructionStreamRequest(), () => undefined);
}

export function closeAll(fleet: readonly Connection[]): void {
  for (const connection of fleet) connection.close();
}
