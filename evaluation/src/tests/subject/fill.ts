import { readAll, reservationPages } from "@resource-broker/client";
import type { ReservationDTO, ReservationRequestDTO } from "@resource-broker/contract";
import type { BrokerProcess } from "@resource-broker/testkit";
import type { Connection } from "../../measure/load/connection.ts";
import { type Answer, release, reserve } from "./calls.ts";

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

/** What one connection was answered. */
export interface Filled {
  readonly connection: Connection;
  readonly answers: readonly Answer[];
}

/** So many requests, each connection with one on its way at any time. */
export async function fill(connections: readonly Connection[], options: FillOptions): Promise<Filled[]> {
  const { count, request, name, signal, onShare = () => undefined } = options;
  let next = 0;
  let answered = 0;
  const some = async (connection: Connection): Promise<Filled> => {
    const answers: Answer[] = [];
    for (let number = next++; number < count; number = next++) {
      signal.throwIfAborted();
      answers.push(await reserve(connection, request, `${name}-${number}`));
      if (++answered % REPORT_EVERY === 0) onShare(answered / count);
    }
    return { connection, answers };
  };
  return Promise.all(connections.map(some));
}

/** Everybody gives back what it has; each connection one after the other. */
export async function releaseAll(filled: readonly Filled[]): Promise<void> {
  const some = async ({ connection, answers }: Filled): Promise<void> => {
    for (const id of grantedIds(answers)) await release(connection, id);
  };
  await Promise.all(filled.map(some));
}

export function grantedIds(answers: readonly Answer[]): string[] {
  return answers.flatMap(({ status, id }) => (status === 201 && id !== undefined ? [id] : []));
}

/** All of them, as an admin sees them. */
export function listReservations(broker: BrokerProcess): Promise<readonly ReservationDTO[]> {
  return readAll(broker.api(), reservationPages());
}
