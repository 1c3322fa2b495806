import { setTimeout as sleep } from "node:timers/promises";
import {
  type FaultyProxy,
  type PostgresServer,
  type SeededRandom,
  startFaultyProxy,
} from "@resource-broker/testkit";
import type { LedgerSnapshot } from "./ledger-snapshot.ts";
import { snapshotFromPostgres } from "./read-snapshot.ts";
import type { StrikeKind } from "./target.ts";

/** How one replica reaches the ledger. */
export interface LedgerEndpoint {
  /** The value of its `--store`. */
  readonly store: string;
  readonly flags: readonly string[];
  readonly proxy: FaultyProxy;
}

/** A ledger that several replicas share, whoever keeps it. */
export interface SharedLedger {
  /** One for each replica. */
  readonly endpoints: readonly LedgerEndpoint[];
  /** What a strike against the server that keeps it is called. */
  readonly serverKind: StrikeKind;
  /** Harms that server, and lets it come back; says how. */
  readonly strikeServer: (random: SeededRandom, leaseMs: number) => Promise<string>;
  /** What it holds; nobody may be using it. */
  readonly snapshot: () => Promise<LedgerSnapshot>;
  readonly dispose: () => Promise<void>;
}

interface PostgresLedgerOptions {
  readonly schema: string;
  readonly replicas: number;
}

/** A ledger in a schema of its own. */
export async function postgresLedger(
  server: PostgresServer,
  { schema, replicas }: PostgresLedgerOptions,
): Promise<SharedLedger> {
  const proxies = await Promise.all(
    Array.from({ length: replicas }, () => startFaultyProxy({ port: server.port })),
  );
  return {
    endpoints: proxies.map((proxy) => ({
      store: `${server.url({ port: proxy.port })}?schema=${schema}`,
      flags: [],
      proxy,
    })),
    serverKind: "database",
    strikeServer: async (random, leaseMs) => {
      const how = random.pick(["stop", "kill", "pause"] as const) ?? "stop";
      await server[how]();
      if (how !== "pause") {
        await server.start();
        return `database restarted after ${how}`;
      }
      // Longer than any lease: nobody may answer on what they remember.
      await sleep(2 * leaseMs);
      await server.resume();
      return "database hung for two leases";
    },
    snapshot: () => snapshotFromPostgres(`${server.url()}?schema=${schema}`),
    dispose: async () => {
      await Promise.all(proxies.map((proxy) => proxy.close()));
    },
  };
}
