import type { Connection } from "../../measure/load/connection.ts";
import { advertisementFor, requestFor } from "../subject/bodies.ts";
import { advertise, type Answer, release, reserve } from "../subject/calls.ts";
import { ASKED, type Exhaustion, type Lender } from "./figures.ts";

/** Once refused, everybody asks so often again: a refusal must stay one. */
const REFUSALS_EACH = 3;

export interface Stage {
  readonly name: string;
  readonly lenders: readonly { readonly connection: Connection; readonly lender: Lender }[];
  /** Each asks again and again, all at the same time. */
  readonly askers: readonly Connection[];
  /** False: the broker has no call for it. */
  readonly canRelease: boolean;
  /** Between the last advertisement and the first request. */
  readonly settle: (connections: readonly Connection[]) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Asks until nothing is left, and a little longer. */
export async function exhaust(stage: Stage): Promise<Exhaustion> {
  const { name, lenders, askers, canRelease, signal } = stage;
  for (const { connection, lender } of lenders)
    await advertise(connection, advertisementFor(lender.clusterId, lender));
  await stage.settle([...askers, ...lenders.map(({ connection }) => connection)]);
  const answers: Answer[] = [];
  const request = requestFor(ASKED);
  const askOn = async (connection: Connection): Promise<Granted | undefined> => {
    let last: Granted | undefined;
    for (let refusals = 0; refusals < REFUSALS_EACH; ) {
      signal.throwIfAborted();
      const answer = await reserve(connection, request);
      answers.push(answer);
      if (answer.status !== 201) refusals++;
      else if (answer.id !== undefined) last = { connection, id: answer.id };
    }
    return last;
  };
  const [one] = (await Promise.all(askers.map(askOn))).filter((granted) => granted !== undefined);
  const afterRelease = canRelease && one !== undefined ? { afterRelease: await lendAgain(one) } : {};
  return {
    name,
    lenders: lenders.map(({ lender }) => lender),
    askers: askers.length,
    answers,
    ...afterRelease,
  };
}

interface Granted {
  readonly connection: Connection;
  readonly id: string;
}

/** What one gives back, another one gets: once. */
async function lendAgain({ connection, id }: Granted): Promise<number[]> {
  await release(connection, id);
  const request = requestFor(ASKED);
  return [(await reserve(connection, request)).status, (await reserve(connection, request)).status];
}
