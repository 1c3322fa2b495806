import { type Entry, pathOf, textOf, wrong } from "./entry.ts";
import { readPlugin } from "./exec-entry.ts";
import type { ExecCluster, Login, User } from "./kube-config.ts";
import { pemOf } from "./material.ts";

/** Unsupported fields that change the identity: ignoring them would authenticate as another user. */
const REFUSED: Readonly<Record<string, string>> = {
  "auth-provider": "Kubernetes has replaced it: use an exec plugin, for example kubelogin",
  as: "impersonation is not supported: give the user itself the rights",
  "as-uid": "impersonation is not supported: give the user itself the rights",
  "as-groups": "impersonation is not supported: give the user itself the rights",
  "as-user-extra": "impersonation is not supported: give the user itself the rights",
};

/** Credentials as kubectl understands them; a plugin counts only where the file holds no token. */
export function readUser(entry: Entry, cluster: ExecCluster): User {
  for (const [name, remedy] of Object.entries(REFUSED)) {
    if ((entry.fields[name] ?? undefined) !== undefined)
      throw wrong(entry, `${name} is not supported: ${remedy}`);
  }
  const certificate = certificateOf(entry);
  const login = loginOf(entry, cluster);
  return {
    ...(certificate === undefined ? {} : { certificate }),
    ...(login === undefined ? {} : { login }),
  };
}

/** A certificate can be shown over TLS only. */
export function needsTls({ fields }: Entry): boolean {
  return ["client-certificate", "client-certificate-data"].some((name) => (fields[name] ?? "") !== "");
}

function certificateOf(entry: Entry): User["certificate"] {
  const cert = pemOf(entry, "client-certificate");
  const key = pemOf(entry, "client-key");
  if (cert !== undefined && key !== undefined) return { cert, key };
  if (cert !== undefined)
    throw wrong(entry, "client-certificate has no client-key: add client-key or client-key-data");
  if (key !== undefined) throw wrong(entry, "client-key has no client-certificate: add it, or its -data");
  return undefined;
}

function loginOf(entry: Entry, cluster: ExecCluster): Login | undefined {
  const token = tokenOf(entry);
  const password = passwordOf(entry);
  if (token !== undefined && password !== undefined) {
    throw wrong(entry, "a token and a username exclude each other: remove one");
  }
  return token ?? readPlugin(entry, cluster) ?? password;
}

/** The file wins over the text: it is the one that is kept fresh. */
function tokenOf(entry: Entry): Login | undefined {
  const path = pathOf(entry, "tokenFile");
  if (path !== undefined) return { kind: "token", token: { kind: "file", path } };
  const text = textOf(entry, "token");
  return text === undefined ? undefined : { kind: "token", token: { kind: "text", text } };
}

function passwordOf(entry: Entry): Login | undefined {
  const username = textOf(entry, "username");
  const password = textOf(entry, "password");
  if (username === undefined && password === undefined) return undefined;
  if (username === undefined) throw wrong(entry, "password has no username: add it");
  return { kind: "password", username, password: password ?? "" };
}
