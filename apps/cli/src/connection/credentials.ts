import { X509Certificate } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { CommandError } from "../cli/exit-code.ts";

/** The client certificate that authenticates at the broker. */
export interface Credentials {
  readonly folder: string;
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
  /** The certificate's Common Name: the cluster, or the admin. */
  readonly name: string;
  /** True: the certificate has the organizational unit of admins, unless the broker is configured with another. */
  readonly isAdmin: boolean;
}

/** How an admin gets a certificate; the second way is that of installations with cert-manager. */
export const ADMIN_CERTIFICATE =
  "brokerctl certs issue <your-name> --admin, then --certs certs/clusters/<your-name>; with cert-manager: deploy/admin-certificate.sh <your-name>, then --certs <your-name>";

const ADMIN_UNIT = "broker-admin";

export async function readCredentials(folder: string | undefined): Promise<Credentials> {
  if (folder === undefined) throw new CommandError("auth", await nothingNamed());
  // Read one after the other, so that the same problem is reported first each time.
  const cert = await readPem(folder, "tls.crt");
  const key = await readPem(folder, "tls.key");
  const ca = await readPem(folder, "ca.crt");
  return { folder, cert, key, ca, ...ownerOf(folder, cert) };
}

async function readPem(folder: string, name: string): Promise<string> {
  const path = join(folder, name);
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    const why = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
    throw new CommandError(
      "auth",
      `cannot read ${path} (${why}). --certs must name a folder with tls.crt, tls.key and ca.crt; brokerctl certs issue makes one`,
      { cause },
    );
  });
  if (text.includes("-----BEGIN ")) return text;
  throw new CommandError("auth", `${path} contains no PEM block`);
}

function ownerOf(folder: string, cert: string): Pick<Credentials, "name" | "isAdmin"> {
  try {
    const { subject } = new X509Certificate(cert);
    const lines = subject.split("\n");
    const name = lines.find((line) => line.startsWith("CN="))?.slice("CN=".length) ?? "nobody";
    return { name, isAdmin: lines.includes(`OU=${ADMIN_UNIT}`) };
  } catch (cause) {
    throw new CommandError("auth", `${join(folder, "tls.crt")} holds no certificate`, { cause });
  }
}

/** brokerctl writes certificates to this folder. */
async function nothingNamed(): Promise<string> {
  const parent = join("certs", "clusters");
  const [first, ...more] = await readdir(parent).catch(() => []);
  const others = more.length === 0 ? "" : ` (there are ${more.length} more)`;
  const remedy =
    first === undefined
      ? `Make one: ${ADMIN_CERTIFICATE}`
      : `There is one here: --certs ${join(parent, first)}${others}`;
  return `the broker requires a client certificate: name its folder with --certs, BROKERCTL_CERTS or a context. ${remedy}`;
}
