import { setTimeout as sleep } from "node:timers/promises";
import type { ReservationRequestDTO } from "@resource-broker/contract";
import type { SeededRandom } from "@resource-broker/testkit";
import type { Connection } from "../../measure/load/connection.ts";
import { reserveText } from "../../measure/load/requests.ts";
import { type Answer, answerOf, sendTimed } from "../subject/calls.ts";

/** Between two bursts, so that they do not fall into step with anything; both in milliseconds. */
const PAUSE = { least: 5, most: 40 };

export interface Bursts {
  readonly rounds: number;
  readonly request: ReservationRequestDTO;
  /** Begins every idempotency key. */
  readonly name: string;
  readonly random: SeededRandom;
  readonly signal: AbortSignal;
}

/** Every connection asks in the same moment; the next round begins when all are answered. */
export async function inBursts(connections: readonly Connection[], bursts: Bursts): Promise<Answer[][]> {
  const { rounds, request, name, random, signal } = bursts;
  const answers: Answer[][] = [];
  for (let round = 0; round < rounds; round++) {
    const texts = connections.map((_, at) => reserveText(request, `${name}-${round}-${at}`));
    const sent = connections.map((connection, at) => sendTimed(connection, texts[at] ?? ""));
    answers.push((await Promise.all(sent)).map(answerOf));
    await sleep(random.between(PAUSE.least, PAUSE.most), undefined, { signal });
  }
  return answers;
}
