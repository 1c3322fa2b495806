import { type PostgresServer, startFaultyProxy } from "@resource-broker/testkit";
import { booksInDatabase } from "./read-books.ts";
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
  const ways = await Promise.all(
    Array.from({ length: replicas }, () => startFaultyProxy({ port: server.port })),
  );
  return {
    places: ways.map((way) => ({
      store: `${server.url({ port: way.port })}?schema=${schema}`,
      flags: [],
      way,
    })),
    serverKind: "database",
    strikeServer: async (random) => {
      const how = random.chance(0.5) ? "stop" : "kill";
      await server[how]();
      await server.start();
      return `database restarted after ${how}`;
    },
    books: () => booksInDatabase(`${server.url()}?schema=${schema}`),
    dispose: async () => {
      await Promise.all(ways.map((way) => way.close()));
    },
  };
}
