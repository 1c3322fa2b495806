import { createHmac, timingSafeEqual } from "node:crypto";
import type { Clock } from "@resource-broker/base";
import type { ClusterApi } from "../api/cluster-api.ts";
import { StatusError } from "../api/status-error.ts";
import { numberAt, textAt } from "../core/look.ts";
import { SERVICE_ACCOUNTS } from "../core/small-kinds.ts";
import type { JsonObject } from "../json.ts";
import { isJsonObject } from "../json-value.ts";
import type { User } from "./reviews.ts";

/** Tokens of service accounts, as a TokenRequest gives them. */
export interface AccountTokens {
  readonly issue: (account: JsonObject, expiresAtMs: number) => string;
  /** Undefined: it is none of ours, has expired, or its account is gone, even if another of that name is there. */
  readonly userOf: (token: string) => User | undefined;
}

export interface AccountTokensDeps {
  readonly api: Pick<ClusterApi, "get">;
  readonly clock: Pick<Clock, "wallMs">;
  /** What only this cluster knows. */
  readonly secret: string;
}

/** A token carries what it says and a signature, so none has to be remembered. */
export function accountTokens({ api, clock, secret }: AccountTokensDeps): AccountTokens {
  const sign = (claims: string): string => createHmac("sha256", secret).update(claims).digest("base64url");

  const accountIn = (claims: JsonObject): JsonObject | undefined => {
    try {
      const target = { namespace: textAt(claims, "namespace"), name: textAt(claims, "name") };
      return api.get({ definition: SERVICE_ACCOUNTS, ...target });
    } catch (error) {
      if (error instanceof StatusError) return undefined;
      throw error;
    }
  };

  return {
    issue: (account, expiresAtMs) => {
      const [namespace, name, uid] = ["namespace", "name", "uid"].map((field) =>
        textAt(account, `metadata.${field}`),
      );
      const claims = Buffer.from(JSON.stringify({ namespace, name, uid, expiresAtMs })).toString("base64url");
      return `${claims}.${sign(claims)}`;
    },
    userOf: (token) => {
      const [packed = "", signature = ""] = token.split(".");
      if (!isSame(signature, sign(packed))) return undefined;
      const claims: unknown = JSON.parse(Buffer.from(packed, "base64url").toString("utf8"));
      if (!isJsonObject(claims) || numberAt(claims, "expiresAtMs") <= clock.wallMs()) return undefined;
      const account = accountIn(claims);
      if (account === undefined || textAt(account, "metadata.uid") !== textAt(claims, "uid"))
        return undefined;
      return userFor(textAt(claims, "namespace"), textAt(claims, "name"));
    },
  };
}

function userFor(namespace: string, name: string): User {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
  };
}

function isSame(given: string, wanted: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(wanted)];
  return left.length === right.length && timingSafeEqual(left, right);
}
