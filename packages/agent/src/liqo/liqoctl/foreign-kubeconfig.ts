import { createPrivateKey, X509Certificate } from "node:crypto";
import { readPem } from "@resource-broker/runtime";
import type { ForeignAccess } from "./foreign-access.ts";
import {
  invalid,
  isList,
  type PlainFields,
  type PlainValue,
  readStrictYaml,
  shownName,
} from "./strict-yaml.ts";

const FLATTEN = "kubectl config view --minify --flatten --raw writes a file with everything in it";
const REMEDY = "use a file with a certificate or a token in it, as liqoctl generate peering-user makes it";
const NO_PROGRAM = `it runs a program on this machine: ${REMEDY}`;
const NO_PATH = `it names a file of this machine: ${FLATTEN}`;
const NO_PASSWORD = `it is a password: ${REMEDY}`;
const NO_IMPERSONATION = "it is impersonation: give the user itself the rights";
const NO_TRUST = "it trusts anybody who answers: add certificate-authority-data";

/** The known fields of one part of a kubeconfig. A field that is in no list is refused. */
interface Known {
  readonly read: readonly string[];
  /** They affect neither the server nor the identity, and are not passed on. */
  readonly ignored: readonly string[];
  /** Reason and remedy, by field. */
  readonly refused: Readonly<Record<string, string>>;
}

type Section = "cluster" | "user" | "context";

const ROOT: Known = {
  read: ["apiVersion", "kind", "clusters", "users", "contexts", "current-context"],
  ignored: ["preferences", "extensions"],
  refused: {},
};
const ITEM: Record<Section, Known> = {
  cluster: { read: ["name", "cluster"], ignored: [], refused: {} },
  user: { read: ["name", "user"], ignored: [], refused: {} },
  context: { read: ["name", "context"], ignored: [], refused: {} },
};
const ENTRY: Record<Section, Known> = {
  cluster: {
    read: ["server", "certificate-authority-data"],
    ignored: ["extensions", "disable-compression"],
    refused: {
      "certificate-authority": NO_PATH,
      "proxy-url": "it leads through a proxy: give an address at which the API server is reached directly",
      "insecure-skip-tls-verify": NO_TRUST,
      "tls-server-name": "it renames the API server: give a server that its certificate is for",
    },
  },
  user: {
    read: ["client-certificate-data", "client-key-data", "token"],
    ignored: ["extensions"],
    refused: {
      exec: NO_PROGRAM,
      "auth-provider": NO_PROGRAM,
      tokenFile: NO_PATH,
      "client-certificate": NO_PATH,
      "client-key": NO_PATH,
      username: NO_PASSWORD,
      password: NO_PASSWORD,
      as: NO_IMPERSONATION,
      "as-uid": NO_IMPERSONATION,
      "as-groups": NO_IMPERSONATION,
      "as-user-extra": NO_IMPERSONATION,
    },
  },
  context: { read: ["cluster", "user"], ignored: ["namespace", "extensions"], refused: {} },
};

/**
 * Reads a kubeconfig that was made by the operators of another cluster. It may name a server and hold
 * credentials; it may not name programs to run or local files. Throws `invalid` with the field's name.
 */
export async function readForeignKubeconfig(text: string): Promise<ForeignAccess> {
  const root = fieldsOf(await readStrictYaml(text), "it");
  checkFields(root, ROOT, "");
  if ((root.get("kind") ?? "Config") !== "Config" || (root.get("apiVersion") ?? "v1") !== "v1") {
    throw invalid("it is not a kubeconfig: its kind must be Config, and its apiVersion v1");
  }
  const [clusters, users, contexts] = [
    entriesOf(root, "cluster"),
    entriesOf(root, "user"),
    entriesOf(root, "context"),
  ];
  const context = entryOf(contexts, "context", textOf(root, "current-context", ""));
  const cluster = entryOf(clusters, "cluster", textOf(context, "cluster", "context."));
  const user = entryOf(users, "user", textOf(context, "user", "context."));
  const ca = optionalTextOf(cluster, "certificate-authority-data", "cluster.");
  return {
    server: serverOf(textOf(cluster, "server", "cluster.")),
    ...(ca === undefined ? {} : { ca: certificatesIn(ca, "cluster.certificate-authority-data") }),
    ...credentialsOf(user),
  };
}

function entriesOf(root: PlainFields, section: Section): ReadonlyMap<string, PlainFields> {
  const list = root.get(`${section}s`);
  if (!isList(list)) throw invalid(`${section}s must be a list`);
  const entries = new Map<string, PlainFields>();
  for (const [index, item] of list.entries()) {
    const place = `${section}s[${index}].`;
    const named = fieldsOf(item, `${section}s[${index}]`);
    checkFields(named, ITEM[section], place);
    const name = textOf(named, "name", place);
    if (entries.has(name)) throw invalid(`${section} ${shownName(name)} is there twice: remove one`);
    const fields = fieldsOf(named.get(section) ?? null, `${place}${section}`);
    checkFields(fields, ENTRY[section], `${place}${section}.`);
    entries.set(name, fields);
  }
  return entries;
}

function entryOf(entries: ReadonlyMap<string, PlainFields>, section: Section, name: string): PlainFields {
  const entry = entries.get(name);
  if (entry === undefined) throw invalid(`there is no ${section} ${shownName(name)} in it: add it`);
  return entry;
}

function checkFields(fields: PlainFields, { read, ignored, refused }: Known, place: string): void {
  for (const [name, value] of fields) {
    if (read.includes(name) || ignored.includes(name)) continue;
    // Some tools write the default value.
    if (name === "insecure-skip-tls-verify" && value === false) continue;
    const why = Object.hasOwn(refused, name) ? refused[name] : "it is not a known field: remove it";
    throw invalid(`${place}${shownName(name)} is refused, ${why}`);
  }
}

function fieldsOf(value: PlainValue, place: string): PlainFields {
  if (value instanceof Map) return value;
  throw invalid(`${place} must hold fields`);
}

function textOf(fields: PlainFields, name: string, place: string): string {
  const text = optionalTextOf(fields, name, place);
  if (text === undefined) throw invalid(`${place}${name} is missing: ${REMEDY}`);
  return text;
}

function optionalTextOf(fields: PlainFields, name: string, place: string): string | undefined {
  const value = fields.get(name);
  if (value === undefined) return undefined;
  if (typeof value === "string" && value !== "") return value;
  throw invalid(`${place}${name} must be text: put it in quotes, or leave it out`);
}

/** Built again from its parts, because parsers differ on unusual URLs. */
function serverOf(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isPlain =
    url?.protocol === "https:" &&
    url.username + url.password + url.search + url.hash === "" &&
    /^[\w.:[\]-]+$/u.test(url.host) &&
    /^[\w./-]*$/u.test(url.pathname);
  if (url === undefined || !isPlain) {
    throw invalid("cluster.server is not a plain https address: write it like https://10.0.0.1:6443");
  }
  return `https://${url.host}${url.pathname}`.replace(/\/+$/u, "");
}

function credentialsOf(user: PlainFields): Pick<ForeignAccess, "certificate" | "token"> {
  const token = optionalTextOf(user, "token", "user.");
  if (token !== undefined && !/^[\u0021-\u007e]+$/u.test(token)) {
    throw invalid("user.token has a blank or a strange character in it: correct it");
  }
  const [cert, key] = [
    optionalTextOf(user, "client-certificate-data", "user."),
    optionalTextOf(user, "client-key-data", "user."),
  ];
  if (cert === undefined && key === undefined) {
    if (token === undefined) throw invalid(`user has neither certificate nor token: ${REMEDY}`);
    return { token };
  }
  if (cert === undefined || key === undefined) {
    throw invalid("user has only one of client-certificate-data and client-key-data: add the other");
  }
  const certificate = {
    cert: certificatesIn(cert, "user.client-certificate-data"),
    key: privateKeyIn(key, "user.client-key-data"),
  };
  if (!new X509Certificate(certificate.cert).checkPrivateKey(createPrivateKey(certificate.key))) {
    throw invalid("user.client-key-data is not the key of user.client-certificate-data: replace both");
  }
  return { certificate, ...(token === undefined ? {} : { token }) };
}

/** Decoded and encoded again, one certificate at a time; text between them is dropped. */
function certificatesIn(data: string, place: string): string {
  const blocks = readPem(decoded(data, place));
  if (blocks.length === 0 || blocks.some(({ label }) => label !== "CERTIFICATE")) {
    throw invalid(`${place} must hold certificates and nothing else: ${FLATTEN}`);
  }
  return readable(place, () => blocks.map(({ der }) => new X509Certificate(der).toString()).join(""));
}

function privateKeyIn(data: string, place: string): string {
  const pem = decoded(data, place);
  const blocks = readPem(pem).filter(({ label }) => label !== "EC PARAMETERS");
  if (blocks.length !== 1) throw invalid(`${place} must hold one private key: ${FLATTEN}`);
  return readable(place, () => createPrivateKey(pem).export({ type: "pkcs8", format: "pem" }).toString());
}

function readable(place: string, read: () => string): string {
  try {
    return read();
  } catch {
    throw invalid(`${place} cannot be read: ${FLATTEN}`);
  }
}

function decoded(data: string, place: string): string {
  const packed = data.replace(/\s+/gu, "");
  if (!/^[A-Za-z0-9+/]+={0,2}$/u.test(packed)) throw invalid(`${place} is not base64: ${FLATTEN}`);
  return Buffer.from(packed, "base64").toString("utf8");
}
