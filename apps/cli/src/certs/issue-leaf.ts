import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { join } from "node:path";
import { generateKeys, makeLeafCertificate, toKeyPem } from "@resource-broker/runtime";
import { type Authority, validityFrom } from "./authority.ts";
import { makePrivateFolder, PRIVATE, PUBLIC, writeFiles } from "./files.ts";
import { BROKER, folderOf } from "./layout.ts";
import { type Issued, saveRegister } from "./register.ts";

/** `OU=broker-admin` is what the broker takes for an admin. */
const ADMIN_UNIT = "broker-admin";

export interface LeafRequest {
  /** A cluster ID, or `broker`. */
  readonly name: string;
  readonly admin: boolean;
  /** The broker's names and addresses. */
  readonly hosts: readonly string[];
  readonly days: number;
  readonly now: number;
  /** Reuse this private key (PEM) instead of making one. */
  readonly keyPem?: string;
}

/** Signs a certificate and writes its folder as cert-manager would. Returns the authority that knows of it. */
export async function issueLeaf(authority: Authority, request: LeafRequest): Promise<Authority> {
  const { name, admin, hosts } = request;
  const keys = request.keyPem === undefined ? await generateKeys() : keysFrom(request.keyPem);
  const use = name === BROKER ? "server" : "client";
  const validity = validityFrom(request.now, request.days);
  const notAfter = Math.min(validity.notAfter, authority.certificate.validToDate.getTime());
  const certificate = makeLeafCertificate(
    {
      commonName: name,
      units: admin ? [ADMIN_UNIT] : [],
      usages: [`${use}Auth`],
      hosts,
      publicKey: keys.publicKey,
      notBefore: validity.notBefore,
      notAfter,
    },
    authority.issuer,
  );
  const issued: Issued = {
    serial: certificate.serialNumber,
    name,
    use,
    admin,
    hosts,
    days: request.days,
    notBefore: certificate.validFromDate.toISOString(),
    notAfter: certificate.validToDate.toISOString(),
  };
  const register = { ...authority.register, issued: [...authority.register.issued, issued] };
  // Registered before it is written: a registered certificate that was never written does no harm, but an unregistered one cannot be revoked.
  await saveRegister(authority.layout, register);
  await writeLeafFolder(folderOf(authority.layout, name), {
    cert: certificate.toString(),
    ca: authority.certificate.toString(),
    ...(request.keyPem === undefined ? { key: toKeyPem(keys.privateKey) } : {}),
  });
  return { ...authority, register };
}

interface LeafFiles {
  readonly cert: string;
  readonly ca: string;
  /** Left out: the key that is there stays. */
  readonly key?: string;
}

async function writeLeafFolder(folder: string, { cert, ca, key }: LeafFiles): Promise<void> {
  makePrivateFolder(folder);
  await writeFiles([
    { path: join(folder, "ca.crt"), text: ca, mode: PUBLIC },
    ...(key === undefined ? [] : [{ path: join(folder, "tls.key"), text: key, mode: PRIVATE } as const]),
    { path: join(folder, "tls.crt"), text: cert, mode: PUBLIC },
  ]);
}

function keysFrom(pem: string): { publicKey: KeyObject; privateKey: KeyObject } {
  const privateKey = createPrivateKey(pem);
  return { privateKey, publicKey: createPublicKey(privateKey) };
}
