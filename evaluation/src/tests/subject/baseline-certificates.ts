import { X509Certificate } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "@resource-broker/base";
import type { Identity } from "./identity.ts";

/** One to ask and one to lend. */
const LEAST = 2;

/**
 * The clusters that a broker of somebody else knows: one folder each, with tls.crt, tls.key and ca.crt as cert-manager writes
 * them. The Common Name is the cluster's ID, whatever the folder is called.
 */
export async function readBaselineCertificates(folder: string): Promise<Identity[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw new Fault("invalid", `--baseline-certs ${folder}: there is no such folder`, { cause });
  });
  const names = entries.filter((entry) => !entry.isFile()).map(({ name }) => name);
  const identities = await Promise.all(names.toSorted().map((name) => readIdentity(join(folder, name))));
  if (identities.length < LEAST) {
    throw new Fault(
      "invalid",
      `--baseline-certs ${folder}: needs a folder with tls.crt, tls.key and ca.crt for each of at least ${LEAST} clusters; found ${identities.length}`,
    );
  }
  return identities;
}

async function readIdentity(folder: string): Promise<Identity> {
  const read = (name: string): Promise<string> =>
    readFile(join(folder, name), "utf8").catch((cause: unknown) => {
      throw new Fault("invalid", `--baseline-certs: ${join(folder, name)} cannot be read`, { cause });
    });
  const [cert, key, ca] = await Promise.all(["tls.crt", "tls.key", "ca.crt"].map(read));
  if (cert === undefined || key === undefined || ca === undefined) throw new Error("a file was not read");
  return { clusterId: commonNameOf(cert, folder), credentials: { cert, key, ca } };
}

function commonNameOf(cert: string, folder: string): string {
  const { subject } = new X509Certificate(cert);
  const name = /^CN=(.+)$/m.exec(subject)?.[1];
  if (name === undefined)
    throw new Fault("invalid", `--baseline-certs: the certificate in ${folder} has no Common Name`);
  return name;
}
