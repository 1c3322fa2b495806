import type { Clock } from "@resource-broker/base";
import { type KubeClient, SECRETS, wait } from "@resource-broker/kube";
import { CommandError } from "../cli/exit-code.ts";
import { type Agent, tokenSecretOf } from "./agent-access.ts";
import { TOKENS } from "./resources.ts";

const MANAGER = { fieldManager: "brokerctl", force: true } as const;
const POLL_MS = 250;
const MAX_POLLS = 40;

export interface Token {
  readonly text: string;
  /** Undefined: it has no end. */
  readonly expiresAt: string | undefined;
  readonly warnings: readonly string[];
}

/** A token that ends by itself. */
export async function requestToken(client: KubeClient, agent: Agent, seconds: number): Promise<Token> {
  const { name, namespace } = agent;
  const { spec, status } = await client.create(
    TOKENS,
    {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      metadata: { name, namespace },
      spec: { expirationSeconds: seconds },
    },
    { subresource: "token" },
  );
  if (status === undefined) throw new CommandError("error", `${client.server} gives no token for ${name}`);
  const { token: text, expirationTimestamp: expiresAt } = status;
  const warning = `the API server gave the token for ${hours(spec.expirationSeconds)} instead of ${hours(seconds)}, until ${expiresAt} (its --service-account-max-token-expiration): issue another in time, or use --long-lived`;
  return { text, expiresAt, warnings: spec.expirationSeconds < seconds ? [warning] : [] };
}

/** The token in the agent's Secret, which is made where it is not there. */
export async function keepToken(client: KubeClient, agent: Agent, clock: Clock): Promise<Token> {
  const secret = tokenSecretOf(agent);
  const { name, namespace } = secret.metadata;
  await client.apply(SECRETS, secret, MANAGER);
  for (let looks = 0; looks < MAX_POLLS; looks += 1) {
    const found = await client.find(SECRETS, { name, namespace: agent.namespace });
    const packed = found?.data?.["token"];
    if (packed !== undefined)
      return { text: Buffer.from(packed, "base64").toString("utf8"), expiresAt: undefined, warnings: [] };
    await wait(POLL_MS, { clock, signal: undefined });
  }
  throw new CommandError(
    "timeout",
    `Secret ${namespace}/${name} gets no token: the cluster's serviceaccount-token controller does not run. Try again, or without --long-lived`,
  );
}

function hours(seconds: number): string {
  return `${Math.round(seconds / 360) / 10} h`;
}
