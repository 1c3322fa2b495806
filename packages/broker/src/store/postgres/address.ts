/** How far the server's certificate is checked, as libpq names it. */
export type SslMode = "disable" | "require" | "verify-ca" | "verify-full";

/** Where a database is, and who we are there. */
export interface PostgresAddress {
  /** A name, an address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  /** Absent: `PGUSER`, or the name of the account that runs the broker. */
  readonly user: string | undefined;
  /** Absent: `PGPASSWORD`, or the passfile. */
  readonly password: string | undefined;
  readonly sslMode: SslMode;
  /** Files: the authority that the server is checked against, and a certificate to show to it. */
  readonly sslRootCert: string | undefined;
  readonly sslCert: string | undefined;
  readonly sslKey: string | undefined;
  /** Where the tables are; two fleets of brokers can share a database. */
  readonly schema: string;
  /** For people and logs: without the password. */
  readonly displayName: string;
}

export type AddressReading =
  | { readonly ok: true; readonly address: PostgresAddress }
  | { readonly ok: false; readonly problem: string };

const DEFAULT_PORT = 5432;
const DEFAULT_SCHEMA = "resource_broker";
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;
const SSL_MODES: readonly SslMode[] = ["disable", "require", "verify-ca", "verify-full"];
const PARAMETERS = ["host", "schema", "sslmode", "sslrootcert", "sslcert", "sslkey"];
const EXAMPLE = "write postgres://user@host:5432/database";

export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text);
}

/** Reads `postgres://user@host:port/database?sslmode=…`. No message repeats the text: it may hold a password. */
export function readAddress(text: string): AddressReading {
  const url = URL.parse(text);
  if (url === null || !isPostgresUrl(text)) return wrong(`it is no URL of a database; ${EXAMPLE}`);
  const problem = wrongParameter(url.searchParams) ?? wrongPath(url);
  if (problem !== undefined) return wrong(problem);
  const address = addressIn(url);
  if (address.host === "") return wrong(`it names no host; ${EXAMPLE}`);
  return address.database === "" ? wrong(`it names no database; ${EXAMPLE}`) : { ok: true, address };
}

function addressIn(url: URL): PostgresAddress {
  const parameter = (name: string): string | undefined => url.searchParams.get(name) ?? undefined;
  const host = parameter("host") ?? bracketless(url.hostname);
  const [user, password, database = ""] = [url.username, url.password, url.pathname.slice(1)].map(decoded);
  const port = Number(url.port) || DEFAULT_PORT;
  const schema = parameter("schema") ?? DEFAULT_SCHEMA;
  const login = user === undefined ? "" : `${user}@`;
  return {
    host,
    port,
    database,
    user,
    password,
    sslMode: SSL_MODES.find((mode) => mode === parameter("sslmode")) ?? safeMode(host),
    sslRootCert: parameter("sslrootcert"),
    sslCert: parameter("sslcert"),
    sslKey: parameter("sslkey"),
    schema,
    displayName: `postgres://${login}${host}:${port}/${database} (schema ${schema})`,
  };
}

function wrongParameter(parameters: URLSearchParams): string | undefined {
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) return `"${unknown}" is no parameter; there are ${PARAMETERS.join(", ")}`;
  const mode = parameters.get("sslmode");
  if (mode !== null && !SSL_MODES.some((each) => each === mode))
    return `sslmode is one of ${SSL_MODES.join(", ")}`;
  const schema = parameters.get("schema");
  if (schema !== null && !SCHEMA_NAME.test(schema))
    return "schema is a name of small letters, digits and underscores";
  const hasCert = parameters.has("sslcert");
  return hasCert === parameters.has("sslkey") ? undefined : "sslcert and sslkey come together";
}

function wrongPath({ pathname, hash }: URL): string | undefined {
  return pathname.slice(1).includes("/") || hash !== ""
    ? `a database has one plain name; ${EXAMPLE}`
    : undefined;
}

/** Local connections need no TLS; all others are encrypted and verify the server. */
function safeMode(host: string): SslMode {
  const isHere = host.startsWith("/") || host === "localhost" || host === "::1" || host.startsWith("127.");
  return isHere ? "disable" : "verify-full";
}

function bracketless(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}

/** Empty: absent. */
function decoded(text: string): string | undefined {
  try {
    return text === "" ? undefined : decodeURIComponent(text);
  } catch {
    return text;
  }
}

function wrong(problem: string): AddressReading {
  return { ok: false, problem };
}
