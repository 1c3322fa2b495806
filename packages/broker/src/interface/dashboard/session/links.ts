import { hash } from "node:crypto";
import type { MachineTime } from "@resource-broker/runtime";
import type { LinkOrder } from "../../http/ports.ts";

const TOKEN_BYTES = 32;
const LINK_MS = 120_000;
/** Nobody opens so many at once: the oldest go. */
const MAX_LINKS = 100;

export interface IssuedLink {
  readonly token: string;
  readonly validForMs: number;
}

/** Links that each sign one browser in, once. Only a digest of each token is kept: memory that leaks opens nothing. */
export interface Links {
  readonly issue: (order: LinkOrder) => IssuedLink;
  /** What the link was made for; undefined: unknown, used or too old, and nobody learns which. */
  readonly redeem: (token: string) => LinkOrder | undefined;
}

export interface LinksDeps {
  readonly machine: Pick<MachineTime, "monotonicMs">;
  readonly randomBytes: (size: number) => Uint8Array;
}

export function createLinks({ machine, randomBytes }: LinksDeps): Links {
  const open = new Map<string, { readonly order: LinkOrder; readonly until: number }>();

  const forgetOld = (): void => {
    const now = machine.monotonicMs();
    for (const [digest, { until }] of open) if (until <= now || open.size > MAX_LINKS) open.delete(digest);
  };

  return {
    issue: (order) => {
      const token = tokenFrom(randomBytes(TOKEN_BYTES));
      open.set(digestOf(token), { order, until: machine.monotonicMs() + LINK_MS });
      forgetOld();
      return { token, validForMs: LINK_MS };
    },
    redeem: (token) => {
      forgetOld();
      const digest = digestOf(token);
      const link = open.get(digest);
      open.delete(digest);
      return link?.order;
    },
  };
}

export function tokenFrom(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64url");
}

export function digestOf(token: string): string {
  return hash("sha256", token, "hex");
}
