import { testCertificates, type World, type WorldOptions } from "@resource-broker/testkit";
import { beforeAll, describe } from "vitest";
import type { ApiServerFaults } from "./api-server-faults.ts";
import { testAbsentApiServers } from "./faults/absent-api-servers.ts";
import { type FaultSetup, faultSetup } from "./faults/fault-setup.ts";
import { testKilledProcesses } from "./faults/killed-processes.ts";
import { testLostLedger } from "./faults/lost-ledger.ts";
import { testRotatedCertificates } from "./faults/rotated-certificates.ts";
import { testUnservedRequests } from "./faults/unserved-requests.ts";
import { testWrongClocks } from "./faults/wrong-clocks.ts";

const START_TIMEOUT_MS = 600_000;
/** Above all that a row waits for in turn: servers come and go, and a busy machine is no failure. */
const ROW_TIMEOUT_MS = 120_000;
const LARGE = { cpu: "64", memory: "256Gi" };
/** A broker that was killed in the first second has lost its advertisements: the next are not far. */
const SHORT_INTERVAL = ["--advertisement-requeue-interval=1s"];
/** It says nothing by itself for longer than the tests take. */
const LONG_INTERVAL = ["--advertisement-requeue-interval=10m"];
const SMALL = { cpu: "2", memory: "8Gi" };

/** rome and paris have agents in processes of their own; oslo and lima wait for one whose clock is wrong. */
const CLUSTERS = [
  { name: "rome", nodes: [SMALL], isBehindProxy: true, flags: LONG_INTERVAL },
  { name: "paris", nodes: [LARGE], isBehindProxy: true, flags: SHORT_INTERVAL },
  { name: "oslo", nodes: [SMALL], hasAgent: false },
  { name: "lima", nodes: [LARGE], hasAgent: false },
];

export interface FaultTable {
  /** Who runs the API servers. */
  readonly where: string;
  readonly start: (options: WorldOptions) => Promise<World>;
  readonly servers: ApiServerFaults;
}

export function describeFaults({ where, start, servers }: FaultTable): void {
  describe(`whatever fails on ${where}, one request is one reservation and one pair of instructions`, {
    timeout: ROW_TIMEOUT_MS,
  }, () => {
    let setup: FaultSetup;
    const current = (): FaultSetup => setup;

    beforeAll(async () => {
      const certificates = await testCertificates();
      const world = await start({ clusters: CLUSTERS, certificates });
      setup = faultSetup({ world, certificates, servers });
      return world.dispose;
    }, START_TIMEOUT_MS);

    // All in one world, one after the other: the last ones find what the first ones have left.
    testKilledProcesses(current);
    testAbsentApiServers(current);
    testRotatedCertificates(current);
    testWrongClocks(current);
    testUnservedRequests(current);
    testLostLedger(current);
  });
}
