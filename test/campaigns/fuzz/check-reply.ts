import { isFaultCode, parseJson } from "@resource-broker/base";
import { errorSchema, reservationSchema, validate, waitingRequestSchema } from "@resource-broker/contract";
import type { Attacker, FuzzEnvironment, RawRequest, Reply } from "./environment.ts";
import { thousandths } from "./exact-quantity.ts";

/** What is wrong with a reply, whatever was asked; undefined: nothing. */
export function wrongReply({ method, path }: RawRequest, reply: Reply | undefined): string | undefined {
  if (reply === undefined || reply.status === 0) return undefined;
  const { status, text } = reply;
  const about = `${method} ${path.slice(0, 120)}: ${status} ${text.slice(0, 300)}`;
  if (status >= 500) return isSecondToQueue(reply) ? undefined : `a server error: ${about}`;
  if (status < 400 || method === "HEAD") return undefined;
  const read = validate(errorSchema, parseJson(text));
  if (!read.ok) return `an error that is not one of ours: ${about}`;
  return isFaultCode(read.value.code ?? "") ? undefined : `an error with an unknown code: ${about}`;
}

/** Capacity became free, and more requests wait for it than one look at the queue grants. */
function isSecondToQueue({ status, text }: Reply): boolean {
  return status === 503 && text.includes("waiting requests go first");
}

export function isAccepted(reply: Reply | undefined): boolean {
  return reply !== undefined && reply.status >= 200 && reply.status < 300;
}

/** A grant must be of what was asked, to whom it was asked by. */
export function wrongGrant(
  { parties }: FuzzEnvironment,
  seen: {
    readonly attacker: Attacker;
    readonly value: unknown;
    readonly reply: Reply | undefined;
  },
): string | undefined {
  const { attacker, value, reply } = seen;
  if (reply?.status === 202) return wrongWait({ parties }, { attacker, reply });
  if (reply?.status !== 201) return undefined;
  const read = validate(reservationSchema, parseJson(reply.text));
  if (!read.ok) return `a grant that is no reservation: ${reply.text.slice(0, 300)}`;
  const { id, requesterID, targetClusterID, requestedResources: held } = read.value;
  parties.set(id, [requesterID, targetClusterID]);
  if (requesterID !== attacker.name) return `${attacker.name} was given a reservation of ${requesterID}`;
  const asked = amountsIn(value);
  const isSame = (["cpu", "memory"] as const).every((name) => isSameAmount(name, asked[name], held[name]));
  return isSame ? undefined : `asked for ${JSON.stringify(asked)}, was given ${JSON.stringify(held)}`;
}

/** A request that waits is its requester's alone. */
function wrongWait(
  { parties }: Pick<FuzzEnvironment, "parties">,
  { attacker, reply }: { readonly attacker: Attacker; readonly reply: Reply },
): string | undefined {
  const read = validate(waitingRequestSchema, parseJson(reply.text));
  if (!read.ok) return `a waiting request that is none: ${reply.text.slice(0, 300)}`;
  const { id, requesterID, status } = read.value;
  parties.set(id, [requesterID]);
  if (status.phase !== "Pending") return `202 for a request that is ${status.phase}`;
  return requesterID === attacker.name ? undefined : `${attacker.name} was given a place of ${requesterID}`;
}

/** CPU is counted in thousandths, memory in whole bytes: both rounded up. */
function isSameAmount(name: "cpu" | "memory", asked: unknown, held: string): boolean {
  const [a, b] = [thousandths(String(asked)), thousandths(held)];
  if (a === undefined || b === undefined) return false;
  return name === "cpu" ? a === b : (a + 999n) / 1000n === (b + 999n) / 1000n;
}

function amountsIn(value: unknown): { readonly cpu?: unknown; readonly memory?: unknown } {
  const isThere = typeof value === "object" && value !== null && "requestedResources" in value;
  const asked = isThere ? value.requestedResources : undefined;
  return typeof asked === "object" && asked !== null ? asked : {};
}
