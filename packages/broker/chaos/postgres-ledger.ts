import { type PostgresServer, startFaultyProxy } from "@resource-broker/testkit";
import { snapshotFromPostgres } from "./read-books.ts";
import type { SharedLedger } from "./shared-ledger.ts";

export interface PostgresLedgerOptions {
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
      proxy: proxy,
    })),
    serverKind: "database",
    strikeServer: async (random) => {
      const how = random.chance(0.5) ? "stop" : "kill";
      await server[how]();
      await server.start();
      return `database restarted after ${how}`;
    },
    snapshot: () => snapshotFromPostgres(`${server.url()}?schema=${schema}`),
    dispose: async () => {
      await Promise.all(proxies.map((proxy) => proxy.close()));
    },
  };
}
