import { randomUUID } from "node:crypto";
import type { Clock } from "@resource-broker/base";
import { systemClock } from "@resource-broker/runtime";
import { type PostgresServer, startPostgres } from "@resource-broker/testkit";
import { type PostgresAddress, readAddress } from "../address.ts";
import type { ReplicatedStore } from "../../common/leader-elector.ts";
import { type PostgresStoreOptions, postgresStore } from "../postgres-store.ts";
import type { openSession } from "../session.ts";

const CLOCK = systemClock(() => Math.round(performance.timeOrigin + performance.now()));

/** A ledger of its own on a server that others use as well. */
export interface TestLedger {
  /** A replica with connections of its own. */
  readonly connect: (options?: ReplicaOptions) => ReplicatedStore;
  readonly schema: string;
  /** Runs SQL in which `S` stands for the schema. */
  readonly psql: (sql: string) => Promise<string>;
  /** Takes the lease away from whoever holds it, as the end of its time would. */
  readonly expireLease: () => Promise<void>;
  /** Makes of it what the first version would have left. */
  readonly asFirstVersion: () => Promise<void>;
  readonly remove: () => Promise<void>;
}

export interface ReplicaOptions extends Partial<Omit<PostgresStoreOptions, "address">> {
  /** Of a proxy in between. */
  readonly port?: number;
  readonly database?: string;
  readonly openSession?: typeof openSession;
  readonly clock?: Clock;
}

/** A real server for the ledgers of a test file. */
export async function postgresLedgers() {
  const server = await startPostgres();
  return { ...server, newLedger: () => Promise.resolve(testLedger(server)) };
}

function testLedger(server: PostgresServer): TestLedger {
  const schema = `test_${randomUUID().replaceAll("-", "")}`;
  const psql = (sql: string): Promise<string> => server.psql(sql.replaceAll(/\bS\./g, `${schema}.`));
  return {
    schema,
    psql,
    connect: ({ port = server.port, database = "postgres", openSession, clock = CLOCK, ...options } = {}) => {
      const address = addressOf(`${server.url({ port, database })}?schema=${schema}`);
      const log = { warn: () => undefined };
      const seam = openSession === undefined ? {} : { openSession };
      return postgresStore({ address, replica: "test", ...options }, { clock, log, ...seam });
    },
    expireLease: async () => void (await psql("UPDATE S.lease SET expires_at = now() - interval '1 second'")),
    asFirstVersion: async () =>
      void (await psql(
        "DROP TABLE S.adoption, S.member, S.waiting, S.closed_day, S.table_sum; DELETE FROM S.migration WHERE number > 1",
      )),
    remove: async () => void (await server.psql(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)),
  };
}

export function addressOf(url: string): PostgresAddress {
  const reading = readAddress(url);
  if (!reading.ok) throw new Error(reading.problem);
  return reading.address;
}
