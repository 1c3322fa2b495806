import { readAll, reservationPages } from "@resource-broker/client";
import type { ReservationDTO, ReservationRequestDTO } from "@resource-broker/contract";
import type { BrokerProcess } from "@resource-broker/testkit";
import { type Connection, reserveText } from "../../measure/load/connection.ts";
import { type Answer, answerOf, release, sendTimed } from "./calls.ts";

export interface FillOptions {
  readonly count: number;
  readonly request: ReservationRequestDTO;
  /** Begins every idempotency key. */
  readonly name: string;
  readonly signal: AbortSignal;
  /** Told the share that is done now and then. */
  readonly onShare?: (share: number) => void;
}

const REPORT_EVERY = 1000;

/** An answer, and on which connection it came. */
export interface Filled extends Answer {
  readonly connection: Connection;
}

/** So many requests, each connection with one on its way at any time. */
export async function fill(connections: readonly Connection[], options: FillOptions): Promise<Filled[]> {
  const { count, request, name, signal, onShare = () => undefined } = options;
  const answers: Filled[] = [];
  let next = 0;
  const some = async (connection: Connection): Promise<void> => {
    for (let number = next++; number < count; number = next++) {
      signal.throwIfAborted();
      const answer = answerOf(await sendTimed(connection, reserveText(request, `${name}-${number}`)));
      answers.push({ ...answer, connection });
      if (answers.length % REPORT_EVERY === 0) onShare(answers.length / count);
    }
  };
  await Promise.all(connections.map(some));
  return answers;
}

/** Everybody gives back what it has; each connection one after the other. */
export async function releaseAll(filled: readonly Filled[]): Promise<void> {
  const byConnection = new Map<Connection, string[]>();
  for (const { connection, id } of filled) {
    if (id === undefined) continue;
    byConnection.set(connection, [...(byConnection.get(connection) ?? []), id]);
  }
  const some = async ([connection, ids]: readonly [Connection, readonly string[]]): Promise<void> => {
    for (const id of ids) await release(connection, id);
  };
  await Promise.all([...byConnection].map(some));
}

export function grantedIds(answers: readonly Answer[]): string[] {
  return answers.flatMap(({ status, id }) => (status === 201 && id !== undefined ? [id] : []));
}

/** All of them, as an admin sees them. */
export function listReservations(broker: BrokerProcess): Promise<readonly ReservationDTO[]> {
  return readAll(broker.api(), reservationPages());
}
