import type { Connection } from "../../measure/load/connection.ts";
import { advertisementFor, requestFor } from "../subject/bodies.ts";
import { type Answer, advertise, release, reserve } from "../subject/calls.ts";
import { ASKED, type Exhaustion, type ProviderSize } from "./results.ts";

/** Once refused, everybody asks so often again: a refusal must stay one. */
const REFUSALS_EACH = 3;

export interface ExhaustionSetup {
  readonly name: string;
  readonly providers: readonly { readonly connection: Connection; readonly provider: ProviderSize }[];
  /** Each asks again and again, all at the same time. */
  readonly requesters: readonly Connection[];
  /** False: the broker has no call for it. */
  readonly canRelease: boolean;
  /** Between the last advertisement and the first request. */
  readonly settle: (connections: readonly Connection[]) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Asks until nothing is left, and a little longer. */
export async function exhaust(setup: ExhaustionSetup): Promise<Exhaustion> {
  const { name, providers, requesters, canRelease, signal } = setup;
  for (const { connection, provider } of providers)
    await advertise(connection, advertisementFor(provider.clusterId, provider));
  await setup.settle([...requesters, ...providers.map(({ connection }) => connection)]);
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
  const [one] = (await Promise.all(requesters.map(askOn))).filter((granted) => granted !== undefined);
  const afterRelease = canRelease && one !== undefined ? { afterRelease: await reserveReleased(one) } : {};
  return {
    name,
    lenders: providers.map(({ provider }) => provider),
    askers: requesters.length,
    answers,
    ...afterRelease,
  };
}

interface Granted {
  readonly connection: Connection;
  readonly id: string;
}

/** What one gives back, another one gets: once. */
async function reserveReleased({ connection, id }: Granted): Promise<number[]> {
  await release(connection, id);
  const request = requestFor(ASKED);
  return [(await reserve(connection, request)).status, (await reserve(connection, request)).status];
}
