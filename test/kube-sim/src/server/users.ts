import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import type { ClusterApi } from "../api/cluster-api.ts";
import { SERVICE_ACCOUNTS } from "../core/kinds.ts";
import { type JsonObject, nameOf, namespaceOf, uidOf } from "../json.ts";

/** Who is asking. There are no roles: whoever gets in may do everything. */
export interface User {
  readonly name: string;
  readonly groups: readonly string[];
}

export interface Users {
  /** Who has a certificate of the cluster's authority, the cluster's token, or a token of a service account. */
  readonly userOf: (request: IncomingMessage) => User | undefined;
  /** A token of a service account, as a TokenRequest gives it. It ends with its account, also if another one of that name exists. */
  readonly issueToken: (account: JsonObject) => string;
}

const ADMINS = ["system:masters", "system:authenticated"];
const TOKEN_BYTES = 24;

export interface UsersDeps {
  readonly api: Pick<ClusterApi, "list">;
  readonly randomBytes: (size: number) => Uint8Array;
  /** The cluster's own. */
  readonly token: string;
}

export function createUsers({ api, randomBytes, token }: UsersDeps): Users {
  const accounts = new Map<string, JsonObject>();
  const accountOf = (given: string): JsonObject | undefined => {
    const account = accounts.get(given);
    if (account === undefined) return undefined;
    const place = { definition: SERVICE_ACCOUNTS, namespace: namespaceOf(account) };
    return api.list(place, {}).items.find((one) => uidOf(one) === uidOf(account));
  };
  return {
    userOf: (request) => {
      const [, given = ""] = /^Bearer (\S+)$/u.exec(request.headers.authorization ?? "") ?? [];
      const name = certificateName(request) ?? (given === token ? "kube-sim:token" : undefined);
      if (name !== undefined) return { name, groups: ADMINS };
      const account = accountOf(given);
      return account === undefined ? undefined : accountUser(account);
    },
    issueToken: (account) => {
      const given = Buffer.from(randomBytes(TOKEN_BYTES)).toString("hex");
      accounts.set(given, account);
      return given;
    },
  };
}

function accountUser(account: JsonObject): User {
  const namespace = namespaceOf(account);
  return {
    name: `system:serviceaccount:${namespace}:${nameOf(account)}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
  };
}

/** Of connections that are open. A certificate stays the same as long as its connection, and reading it takes its time. */
const certificateNames = new WeakMap<TLSSocket, string>();

function certificateName({ socket }: IncomingMessage): string | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const known = certificateNames.get(socket);
  if (known !== undefined) return known;
  const { subject } = socket.getPeerCertificate();
  const names: string | string[] | undefined = subject?.CN;
  const name = Array.isArray(names) ? names[0] : names;
  if (name !== undefined) certificateNames.set(socket, name);
  return name;
}

/** Questions that are posted like objects and never stored. */
export interface Review {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly answer: (user: User) => JsonObject;
}

export const REVIEWS: readonly Review[] = [
  {
    group: "authentication.k8s.io",
    version: "v1",
    plural: "selfsubjectreviews",
    kind: "SelfSubjectReview",
    answer: ({ name, groups }) => ({ userInfo: { username: name, groups } }),
  },
  {
    group: "authorization.k8s.io",
    version: "v1",
    plural: "selfsubjectaccessreviews",
    kind: "SelfSubjectAccessReview",
    answer: () => ({ allowed: true, reason: "the simulated cluster knows no roles" }),
  },
];
