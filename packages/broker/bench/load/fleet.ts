import { commonName, makeKeys, type TestCertificates } from "@resource-broker/testkit";
import { type Connection, openConnection } from "./connection.ts";
import { advertise, type Variety } from "./requests.ts";

/** Handshakes under way: enough to keep the broker busy, few enough that none waits until it is given up. */
const HANDSHAKES = 32;

export interface FleetOptions {
  readonly port: number;
  readonly certificates: TestCertificates;
  /** Names begin with it. */
  readonly prefix: string;
  /** The first cluster's number. */
  readonly from: number;
  /** One behind the last one's. */
  readonly to: number;
}

/** Connects that many clusters, each with a certificate and a connection of its own. */
export async function openFleet({
  port,
  certificates,
  prefix,
  from,
  to,
}: FleetOptions): Promise<Connection[]> {
  const keys = makeKeys();
  const fleet: Connection[] = [];
  let next = from;
  const connectSome = async (): Promise<void> => {
    while (next < to) {
      const clusterId = `${prefix}-${next++}`;
      const credentials = certificates.leaf({ subject: [commonName(clusterId)], keys });
      fleet.push(await openConnection({ clusterId, credentials, port }));
    }
  };
  await Promise.all(Array.from({ length: HANDSHAKES }, connectSome));
  return fleet;
}

/** Every cluster advertises once, some at a time. */
export async function advertiseAll(fleet: readonly Connection[], variety?: Variety): Promise<void> {
  let next = 0;
  const some = async (): Promise<void> => {
    for (let each = fleet[next++]; each !== undefined; each = fleet[next++]) {
      const connection = each;
      const status = await new Promise<number>((resolve) =>
        connection.send(advertise(connection.clusterId, variety), resolve),
      );
      if (status !== 200) throw new Error(`${connection.clusterId} cannot advertise: ${status}`);
    }
  };
  await Promise.all(Array.from({ length: HANDSHAKES }, some));
}

export function closeAll(fleet: readonly Connection[]): void {
  for (const connection of fleet) connection.close();
}
