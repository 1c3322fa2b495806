import { readFile } from "node:fs/promises";
import { CONFIG_MAPS } from "@resource-broker/kube";
import type { Values } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import type { OpenCluster } from "../objects/open-cluster.ts";
import type { ISSUE_OPTIONS } from "./options.ts";

type Options = Values<typeof ISSUE_OPTIONS>;

/** The person who gives access, at the broker's cluster. */
export type Admin = OpenCluster;

/** How the agent reaches the API server and knows it. */
export interface Server {
  readonly url: string;
  /** PEM. Undefined: an authority that every system trusts. */
  readonly ca: string | undefined;
  readonly serverName: string | undefined;
}

export async function serverFor(options: Options, admin: Admin): Promise<Server> {
  const { server } = options;
  const { config } = admin;
  return {
    url: server === undefined ? config.server : checkedUrl(server),
    ca: await authorityFor(options, admin),
    serverName: server === undefined ? config.trust.serverName : undefined,
  };
}

async function authorityFor(options: Options, { client, config, namespace }: Admin) {
  const { "certificate-authority": file } = options;
  if (file !== undefined) return readPem(file);
  const { ca, insecureSkipVerify } = config.trust;
  if (ca !== undefined) return ca.kind === "text" ? ca.text : readPem(ca.path);
  if (!insecureSkipVerify) return undefined;
  // A kubeconfig that does not verify the server must not be used to issue tokens. Kubernetes keeps the authority in this ConfigMap.
  const found = await client.find(CONFIG_MAPS, { name: "kube-root-ca.crt", namespace });
  const text = found?.data?.["ca.crt"];
  if (text !== undefined) return text;
  throw new CommandError(
    "error",
    `${config.origin} does not check who answers, and the cluster does not say who signed its certificate: name the file with --certificate-authority`,
  );
}

async function readPem(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new CommandError("error", `cannot read ${path}: ${String(cause)}`, { cause });
  });
  if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
  throw new CommandError("error", `${path} holds no certificate in PEM`);
}

function checkedUrl(text: string): string {
  if (URL.canParse(text) && new URL(text).protocol === "https:") return text.replace(/\/+$/u, "");
  throw new CommandError(
    "usage",
    `--server ${JSON.stringify(text)}: write it like https://broker.example.org:6443`,
  );
}
