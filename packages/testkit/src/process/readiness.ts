import { type ClientRequest, get as httpGet } from "node:http";
import { get as httpsGet } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { PATH } from "@resource-broker/contract";

const HOST = "127.0.0.1";
const ASK_EVERY_MS = 5;
/** Answering costs the program time: where it takes long, it is asked less often. */
const SHARE_OF_THE_WAIT = 0.05;

export interface Endpoints {
  readonly probePort: number;
  /** Absent: the program serves nothing but its probes. */
  readonly api?: { readonly port: number; readonly ca: string };
}

/** Asks until the program says it is ready and its API answers; false when it ends, or takes too long. */
export async function untilReady(
  { probePort, api }: Endpoints,
  { isRunning, withinMs }: { readonly isRunning: () => boolean; readonly withinMs: number },
): Promise<boolean> {
  const beganAt = performance.now();
  const waitedMs = (): number => performance.now() - beganAt;
  const probe = { host: HOST, port: probePort, path: PATH.readiness, agent: false };
  const health = api === undefined ? undefined : { host: HOST, path: PATH.health, agent: false, ...api };
  let isReady = false;
  while (isRunning() && waitedMs() < withinMs) {
    isReady ||= (await statusOf(httpGet(probe))) === 200;
    // The probe may answer a moment before the API's port is open.
    if (isReady && (health === undefined || (await statusOf(httpsGet(health))) === 200)) return true;
    await sleep(Math.max(ASK_EVERY_MS, SHARE_OF_THE_WAIT * waitedMs()));
  }
  return false;
}

/** Undefined: nobody answered. */
function statusOf(sent: ClientRequest): Promise<number | undefined> {
  return new Promise((resolve) => {
    sent.once("response", (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", () => resolve(undefined));
    sent.setTimeout(1000, () => sent.destroy());
  });
}
