import { randomBytes, randomInt } from "node:crypto";
import { errorText, isNamespaceName, isRecord, yamlText } from "@resource-broker/base";
import { formatToken, JOIN_SECRET, type JoinToken, parseToken } from "@resource-broker/contract";
import { checkClusterId } from "../cli/cluster-id.ts";
import { CommandError } from "../cli/exit-code.ts";
import { readUrls } from "../connection/find-broker.ts";

/** Where the agent is installed, unless somebody says otherwise. */
const AGENT_NAMESPACE = "rear-agent";

/** What a cluster needs to join. */
export interface Invitation {
  readonly clusterId: string;
  readonly token: JoinToken;
  readonly brokerUrls: readonly string[];
  /** SHA-256 of the SubjectPublicKeyInfo of each authority that the broker's certificate may lead to, hexadecimal. */
  readonly caHashes: readonly string[];
  readonly namespace: string;
}

/** Refuses what the API server would refuse once half of the work is done. */
export function checkNamespace(name: string): void {
  if (isNamespaceName(name)) return;
  throw new CommandError(
    "usage",
    `${JSON.stringify(name)} cannot be a namespace: it needs 1 to 63 of a-z, 0-9 and "-", with a letter or digit at both ends`,
  );
}

const ID_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
const ID_LENGTH = 10;
const SECRET_BYTES = 32;

/** Made here, so that the broker sees the secret only when it is used. */
export function newToken(): JoinToken {
  const letters = Array.from({ length: ID_LENGTH }, () => ID_LETTERS.charAt(randomInt(ID_LETTERS.length)));
  return { id: letters.join(""), secret: randomBytes(SECRET_BYTES).toString("base64url") };
}

/** The values of the Secret, as the agent reads them. */
export function secretValues(invitation: Invitation): Readonly<Record<string, string>> {
  const { clusterId, token, brokerUrls, caHashes } = invitation;
  return {
    [JOIN_SECRET.clusterId]: clusterId,
    [JOIN_SECRET.token]: formatToken(token),
    [JOIN_SECRET.brokerUrls]: brokerUrls.join("\n"),
    [JOIN_SECRET.caHashes]: caHashes.join("\n"),
  };
}

/** For `kubectl apply -f -` and `brokerctl join`. */
export function secretManifest(invitation: Invitation): string {
  return yamlText({
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: JOIN_SECRET.name,
      namespace: invitation.namespace,
      labels: { "app.kubernetes.io/part-of": "resource-broker" },
    },
    type: "Opaque",
    stringData: secretValues(invitation),
  });
}

/** The invitation in a Secret manifest; `source` names it in messages, which never show the token. */
export async function readInvitation(text: string, source: string): Promise<Invitation> {
  if (text.trim() === "")
    throw new CommandError(
      "usage",
      `${source} is empty: it must be what brokerctl invite <cluster-id> prints`,
    );
  const manifest = await parsed(text, source);
  const metadata = recordIn(manifest, "metadata");
  if (manifest["kind"] !== "Secret") throw wrong(source, "it is no Secret");
  const value = (name: string): string => valueIn(manifest, name).trim();
  const clusterId = value(JOIN_SECRET.clusterId);
  if (clusterId === "") throw wrong(source, `it has no ${JOIN_SECRET.clusterId}`);
  checkClusterId(clusterId);
  const token = parseToken(value(JOIN_SECRET.token));
  if (token === undefined) throw wrong(source, `its ${JOIN_SECRET.token} is missing or was not copied whole`);
  const brokerUrls = readUrls(linesOf(value(JOIN_SECRET.brokerUrls)).join(",")).map(({ origin }) => origin);
  if (brokerUrls.length === 0) throw wrong(source, `it has no ${JOIN_SECRET.brokerUrls}`);
  const caHashes = linesOf(value(JOIN_SECRET.caHashes));
  if (caHashes.length === 0 || !caHashes.every((hash) => /^[0-9a-f]{64}$/u.test(hash)))
    throw wrong(source, `its ${JOIN_SECRET.caHashes} are no SHA-256 digests in hexadecimal`);
  const { namespace } = metadata;
  return {
    clusterId,
    token,
    brokerUrls,
    caHashes,
    namespace: typeof namespace === "string" && namespace !== "" ? namespace : AGENT_NAMESPACE,
  };
}

async function parsed(text: string, source: string): Promise<Readonly<Record<string, unknown>>> {
  const { parseYaml } = await import("../connection/yaml-reader.ts");
  const manifest = await parseYaml(text, source).catch((cause: unknown) => {
    // The parser's own words may show the line with the token.
    throw wrong(source, "it is no YAML", new Error(errorText(cause).split("\n")[0]));
  });
  if (!isRecord(manifest)) throw wrong(source, "it is no Secret");
  return manifest;
}

function valueIn(manifest: Readonly<Record<string, unknown>>, name: string): string {
  const plain = recordIn(manifest, "stringData")[name];
  if (typeof plain === "string") return plain;
  const encoded = recordIn(manifest, "data")[name];
  return typeof encoded === "string" ? Buffer.from(encoded, "base64").toString("utf8") : "";
}

function recordIn(value: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>> {
  const found = value[name];
  return isRecord(found) ? found : {};
}

function linesOf(text: string): readonly string[] {
  return text.split(/[\s,]+/u).filter((line) => line !== "");
}

function wrong(source: string, problem: string, cause?: Error): CommandError {
  return new CommandError(
    "usage",
    `${source} is no invitation: ${problem}. Ask an admin of the broker for one: brokerctl invite <cluster-id>`,
    { cause },
  );
}
