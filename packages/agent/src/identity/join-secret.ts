import { Fault } from "@resource-broker/base";
import { JOIN_SECRET, type JoinToken, parseToken } from "@resource-broker/contract";
import { CLUSTER_ID_FORM, isClusterId } from "@resource-broker/domain";
import type { NamedSecret } from "./named-secret.ts";

/** What `brokerctl invite` wrote. */
export interface Invitation {
  readonly clusterId: string;
  /** Undefined: it was used. */
  readonly token: JoinToken | undefined;
  readonly brokerUrls: readonly string[];
  readonly caHashes: readonly string[];
}

/** The invitation in the Secret; throws a Fault that names what is missing or wrong, never the token. */
export async function readInvitation(secret: NamedSecret): Promise<Invitation> {
  const values = await secret.find();
  if (values === undefined)
    throw problem(secret, "does not exist: brokerctl invite <cluster-id> | kubectl apply -f -");
  const clusterId = (values[JOIN_SECRET.clusterId] ?? "").trim();
  if (!isClusterId(clusterId))
    throw problem(secret, `needs ${JOIN_SECRET.clusterId}: a cluster ID (${CLUSTER_ID_FORM})`);
  const caHashes = lines(values[JOIN_SECRET.caHashes]).map((hash) => hash.toLowerCase());
  if (caHashes.length === 0 || !caHashes.every((hash) => /^[0-9a-f]{64}$/u.test(hash)))
    throw problem(secret, `needs ${JOIN_SECRET.caHashes}: SHA-256 digests in hexadecimal, one per line`);
  const text = values[JOIN_SECRET.token] ?? "";
  const token = parseToken(text);
  if (text.trim() !== "" && token === undefined)
    throw problem(secret, `has a ${JOIN_SECRET.token} that was not copied whole: apply it again`);
  return { clusterId, token, brokerUrls: lines(values[JOIN_SECRET.brokerUrls]), caHashes };
}

/** The broker's addresses alone: an agent that has a certificate needs nothing else of it. */
export async function invitedBrokerUrls(secret: NamedSecret): Promise<readonly string[]> {
  const brokerUrls = lines((await secret.find())?.[JOIN_SECRET.brokerUrls]);
  if (brokerUrls.length > 0) return brokerUrls;
  throw problem(secret, `is gone, or has no ${JOIN_SECRET.brokerUrls}: apply it again, or give --broker-url`);
}

/** Removes the token after its use. Another one, which came meanwhile, stays. */
export async function removeToken(secret: NamedSecret, tokenId: string): Promise<void> {
  await secret.change(({ [JOIN_SECRET.token]: text = "", ...rest }) =>
    parseToken(text)?.id === tokenId ? rest : undefined,
  );
}

function lines(text = ""): string[] {
  return text.split(/[\s,]+/u).filter((line) => line !== "");
}

function problem({ label }: NamedSecret, text: string): Fault {
  return new Fault("invalid", `the Secret ${label} ${text}`);
}
