import { createPrivateKey, X509Certificate } from "node:crypto";
import { Fault } from "@resource-broker/base";
import { type KubeConfig, parseKubeconfig, resolveContext } from "@resource-broker/kube";
import { readPem } from "@resource-broker/runtime";

const FLATTEN = "kubectl config view --minify --flatten --raw writes a file with everything in it";
const REMEDY = "use a file with a certificate or a token in it, as liqoctl generate peering-user makes it";
const NO_PROGRAM = `it runs a program on this machine: ${REMEDY}`;
const NO_PATH = `it names a file of this machine: ${FLATTEN}`;
const NO_PASSWORD = `it is a password: ${REMEDY}`;
const NO_IMPERSONATION = "it is impersonation: give the user itself the rights";

type Section = "cluster" | "user" | "context";
type Fields = Readonly<Record<string, unknown>>;

/** Fields that are read, or that affect neither the server nor the identity and are not passed on. */
const ROOT_FIELDS = "apiVersion kind clusters users contexts current-context preferences extensions".split(
  " ",
);
const FIELDS: Readonly<Record<Section, readonly string[]>> = {
  cluster: ["server", "certificate-authority-data", "extensions", "disable-compression"],
  user: ["client-certificate-data", "client-key-data", "token", "extensions"],
  context: ["cluster", "user", "namespace", "extensions"],
};

/** Parsers differ on unusual URLs. */
const PLAIN_ADDRESS = /^https:\/\/[\w.:[\]-]+(?:\/[\w./-]*)?$/iu;

/** Reason and remedy for known fields that are refused. Unknown fields are refused, too. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ["certificate-authority", NO_PATH],
  ["proxy-url", "it leads through a proxy: give an address at which the API server is reached directly"],
  ["insecure-skip-tls-verify", "it trusts anybody who answers: add certificate-authority-data"],
  ["tls-server-name", "it renames the API server: give a server that its certificate is for"],
  ["exec", NO_PROGRAM],
  ["auth-provider", NO_PROGRAM],
  ["tokenFile", NO_PATH],
  ["client-certificate", NO_PATH],
  ["client-key", NO_PATH],
  ["username", NO_PASSWORD],
  ["password", NO_PASSWORD],
  ["as", NO_IMPERSONATION],
  ["as-uid", NO_IMPERSONATION],
  ["as-groups", NO_IMPERSONATION],
  ["as-user-extra", NO_IMPERSONATION],
  ["<<", "it is a merge key: write the fields out"],
]);

/**
 * Reads a kubeconfig that was made by the operators of another cluster. It may name a server and hold
 * credentials; it may not name programs to run or local files. The result holds nothing else, and other programs
 * get a new file with it, never this one. Throws `invalid`; the message contains no value, which may be a secret.
 */
export async function readForeignKubeconfig(text: string, file: string): Promise<KubeConfig> {
  const content = await readPlainYaml(text);
  checkFields(content, ROOT_FIELDS, "it");
  for (const section of ["cluster", "user", "context"] as const) checkSection(content, section);
  const { origin, server, trust, user } = resolveContext(parseKubeconfig(content, file));
  const token = tokenOf(user);
  if (user.certificate === undefined && token === undefined) {
    throw invalid(`user has neither certificate nor token: ${REMEDY}`);
  }
  return {
    origin,
    server,
    namespace: "default",
    trust: {
      insecureSkipVerify: false,
      ...(trust.ca && { ca: pem(certificatesIn(textOf(trust.ca), "cluster.certificate-authority-data")) }),
    },
    user: {
      ...(user.certificate && { certificate: certificateOf(user.certificate) }),
      ...(token === undefined ? {} : { login: { kind: "token", token: pem(token) } as const }),
    },
  };
}

/**
 * Refuses what YAML parsers disagree on: anchors, aliases, tags, duplicate keys, keys that are not text, several
 * documents, another version of YAML.
 */
async function readPlainYaml(text: string): Promise<Fields> {
  // Loaded on first use: it takes 7 MB.
  const { LineCounter, parseAllDocuments, visit } = await import("yaml");
  const lines = new LineCounter();
  const options = { stringKeys: true, logLevel: "error", lineCounter: lines } as const;
  const [document, ...others] = parseAllDocuments(text, options);
  if (document === undefined || others.length > 0) {
    throw invalid(`it must hold one YAML document, not ${document === undefined ? "none" : "several"}`);
  }
  if (document.directives.yaml.explicit === true) throw invalid("%YAML is refused: leave the line out");
  const [error] = document.errors;
  if (error?.code === "DUPLICATE_KEY") {
    throw invalid(`line ${lines.linePos(error.pos[0]).line} has a field that is there twice: remove one`);
  }
  if (error !== undefined) throw invalid(`it is not plain YAML (line ${lines.linePos(error.pos[0]).line})`);
  const refuse = (node: { readonly range?: readonly number[] | null }, what: string): never => {
    throw invalid(
      `line ${lines.linePos(node.range?.[0] ?? 0).line} has ${what}, which is refused: write the plain value`,
    );
  };
  visit(document, {
    Alias: (_, node) => refuse(node, "an alias (*)"),
    Value: (_, node) => {
      if (node.anchor !== undefined) refuse(node, "an anchor (&)");
      if (node.tag !== undefined) refuse(node, "a tag (!)");
    },
  });
  return fieldsOf(document.toJS(), "it");
}

function checkSection(content: Fields, section: Section): void {
  const list = content[`${section}s`];
  if (!Array.isArray(list)) throw invalid(`${section}s must be a list`);
  for (const [index, item] of list.entries()) {
    const place = `${section}s[${index}]`;
    const entry = fieldsOf(item, place);
    checkFields(entry, ["name", section], place);
    const fields = fieldsOf(entry[section], `${place}.${section}`);
    checkFields(fields, FIELDS[section], `${place}.${section}`);
    if (section === "cluster" && !PLAIN_ADDRESS.test(String(fields["server"]))) {
      throw invalid(
        `${place}.cluster.server is not a plain https address: write it like https://10.0.0.1:6443`,
      );
    }
  }
}

function checkFields(fields: Fields, allowed: readonly string[], place: string): void {
  for (const [name, value] of Object.entries(fields)) {
    // Some tools write the default value.
    if (allowed.includes(name) || (name === "insecure-skip-tls-verify" && value === false)) continue;
    const why = REFUSED.get(name) ?? "it is not a known field: remove it";
    throw invalid(`${place === "it" ? "" : `${place}.`}${name} is refused, ${why}`);
  }
}

function fieldsOf(value: unknown, place: string): Fields {
  if (isFields(value)) return value;
  throw invalid(`${place} must hold fields`);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type Material = NonNullable<KubeConfig["trust"]["ca"]>;

function textOf(material: Material): string {
  if (material.kind === "text") return material.text;
  throw invalid(NO_PATH);
}

function tokenOf({ login }: KubeConfig["user"]): string | undefined {
  const token = login?.kind === "token" ? textOf(login.token) : undefined;
  if (token === undefined || /^[\u0021-\u007e]+$/u.test(token)) return token;
  throw invalid("user.token has a blank or a strange character in it: correct it");
}

function pem(text: string): Material {
  return { kind: "text", text };
}

function certificateOf(given: NonNullable<KubeConfig["user"]["certificate"]>) {
  const cert = certificatesIn(textOf(given.cert), "user.client-certificate-data");
  const key = privateKeyIn(textOf(given.key), "user.client-key-data");
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    throw invalid("user.client-key-data is not the key of user.client-certificate-data: replace both");
  }
  return { cert: pem(cert), key: pem(key) };
}

/** Decoded and encoded again, one certificate at a time; text between them is dropped. */
function certificatesIn(text: string, place: string): string {
  const blocks = readPem(text);
  if (blocks.length === 0 || blocks.some(({ label }) => label !== "CERTIFICATE")) {
    throw invalid(`${place} must hold certificates and nothing else: ${FLATTEN}`);
  }
  return readable(place, () => blocks.map(({ der }) => new X509Certificate(der).toString()).join(""));
}

function privateKeyIn(text: string, place: string): string {
  const blocks = readPem(text).filter(({ label }) => label !== "EC PARAMETERS");
  if (blocks.length !== 1) throw invalid(`${place} must hold one private key: ${FLATTEN}`);
  return readable(place, () => createPrivateKey(text).export({ type: "pkcs8", format: "pem" }).toString());
}

function readable(place: string, read: () => string): string {
  try {
    return read();
  } catch {
    throw invalid(`${place} cannot be read: ${FLATTEN}`);
  }
}

function invalid(problem: string): Fault {
  return new Fault("invalid", problem);
}

/** Writes a new kubeconfig from what was checked. */
export function foreignText({ server, trust, user }: KubeConfig): string {
  const name = "provider";
  const base64 = (material: Material | undefined): string | undefined =>
    material && Buffer.from(textOf(material), "utf8").toString("base64");
  // JSON is valid YAML that every parser reads alike. Undefined fields are left out.
  return `${JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server, "certificate-authority-data": base64(trust.ca) } }],
    users: [
      {
        name,
        user: {
          "client-certificate-data": base64(user.certificate?.cert),
          "client-key-data": base64(user.certificate?.key),
          token: tokenOf(user),
        },
      },
    ],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name,
  })}\n`;
}
