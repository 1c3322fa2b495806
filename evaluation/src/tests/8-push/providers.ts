import { PATH } from "@resource-broker/contract";
import type { SeededRandom } from "@resource-broker/testkit";
import type { Connection } from "../../measure/load/connection.ts";
import { getText } from "../../measure/load/requests.ts";
import type { OnCleanup } from "../../measure/with-cleanup.ts";
import { read } from "../subject/calls.ts";

/** What an agent does unless it is told otherwise, and what agents of the predecessor do. */
export const POLL_EVERY_MS = 5000;

/** Called with the id of each reservation that a provider reads of. */
export type OnReservation = (id: string) => void;

const EVENT = /event: instruction\r?\ndata: \{"id":"([^"]+)"/g;

/** Keeps a stream open and reads what is pushed. */
export function listen(connection: Connection, onReservation: OnReservation): void {
  let rest = "";
  connection.stream(getText(PATH.instructionStream), (chunk) => {
    rest += chunk.toString("latin1");
    for (const [, id = ""] of rest.matchAll(EVENT)) onReservation(id);
    // An event may be cut in two: its last part waits for the next chunk.
    rest = rest.slice(Math.max(rest.lastIndexOf("\n\n"), 0));
  });
}

/** Asks every five seconds, beginning at a moment of its own. */
export function poll(
  connection: Connection,
  onReservation: OnReservation,
  { random, later: onCleanup }: { readonly random: SeededRandom; readonly later: OnCleanup },
): void {
  const ask = async (): Promise<void> => {
    const list = await read(connection, PATH.instructions);
    for (const each of Array.isArray(list) ? list : []) if (hasId(each)) onReservation(each.id);
  };
  const askOrEnd = (): void =>
    void ask().catch((error: unknown) => {
      // A poller that ends would look like a provider that is never told; the connection was closed at the end of the test.
      if (!connection.isClosed()) throw error;
    });
  let every: NodeJS.Timeout | undefined;
  const first = setTimeout(() => {
    askOrEnd();
    every = setInterval(askOrEnd, POLL_EVERY_MS);
  }, random.below(POLL_EVERY_MS));
  onCleanup(() => {
    clearTimeout(first);
    clearInterval(every);
  });
}

function hasId(value: unknown): value is { readonly id: string } {
  return typeof value === "object" && value !== null && "id" in value && typeof value.id === "string";
}
