import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { NOBODY } from "@resource-broker/contract/crd";
import {
  generateKeys,
  makeCrl,
  makeLeafCertificate,
  type Revocation,
  toKeyPem,
} from "@resource-broker/runtime";
import { checkClusterId } from "../cli/cluster-id.ts";
import type { Host, Run } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import type { CERTS_ISSUE_OPTIONS } from "../commands/local-options.ts";
import { adminCopy, type Authority, dirFlag, type Signer, validityFrom, withAuthority } from "./authority.ts";
import {
  ADMIN_CA,
  BROKER,
  type FileToWrite,
  folderOf,
  holdsKey,
  type Layout,
  layoutOf,
  makePrivateFolder,
  PRIVATE,
  PUBLIC,
  readText,
  writeFiles,
} from "./files.ts";
import { readNamed } from "./read-certificates.ts";
import { type Issued, saveRegister } from "./register.ts";
import { certificatesView } from "./show.ts";

export const issue: Run<typeof CERTS_ISSUE_OPTIONS> = async ({ options, words: [id = ""] }, host) => {
  checkLeafId(id);
  const layout = layoutOf(options.dir);
  const now = host.now();
  await withAuthority(layout, host, async (authority) => {
    const replaces = await holdsKey(layout, id);
    if (replaces && !options.force) throw wouldOverwrite(layout, id);
    const { admin, days } = options;
    await issueLeaf(authority, { name: id, admin, hosts: [], days, now });
    host.note(`Made ${folderOf(layout, id)}: tls.crt, tls.key, ca.crt\n`);
    if (replaces) noteOldOnes(authority, id, host);
  });
  return certificatesView(await readNamed(layout, [id], now), now);
};

/** Refuses what is no cluster ID, and the names of the broker. */
export function checkLeafId(id: string): void {
  if (id === BROKER || id === NOBODY) {
    throw new CommandError(
      "usage",
      `"${id}" is reserved for the broker: the broker refuses a cluster with this ID. Choose another`,
    );
  }
  checkClusterId(id, [BROKER, NOBODY]);
}

function wouldOverwrite(layout: Layout, id: string): CommandError {
  const flag = dirFlag(layout);
  return new CommandError(
    "conflict",
    [
      `${folderOf(layout, id)} holds a key or certificate already; nothing was changed.`,
      `  For a new certificate in time:  brokerctl certs renew ${id}${flag}`,
      `  To replace both regardless:     brokerctl certs issue ${id} --force${flag}`,
    ].join("\n"),
  );
}

/** Replacing the files does not revoke the old certificate: a copy of it can still be used. */
export function noteOldOnes({ register, layout }: Authority, id: string, host: Host): void {
  const now = host.now();
  const alive = register.issued.filter(
    ({ name, use, revoked, notAfter }) =>
      name === id && use !== "authority" && revoked === undefined && Date.parse(notAfter) > now,
  );
  for (const { serial } of alive) {
    host.note(
      `An older certificate stays valid until it expires. To revoke it: brokerctl certs revoke ${serial}${dirFlag(layout)}\n`,
    );
  }
}

/**
 * Signs the revocation lists anew (the authority's, and the admin authority's behind it) and puts them where the broker reads them. Its next update is the authority's own end:
 * TLS refuses every certificate once a list is outdated, and nobody here signs one on a schedule.
 * Returns the files it wrote.
 */
export async function publishCrl(authority: Authority, now: number): Promise<readonly string[]> {
  const { layout, admins } = authority;
  const next = { ...authority.register, crlNumber: authority.register.crlNumber + 1 };
  // The number is saved before it is used: a list may be skipped, but no number is used twice.
  await saveRegister(layout, next);
  const listOf = ({ certificate, issuer }: Signer): string =>
    makeCrl(
      {
        number: next.crlNumber,
        thisUpdate: Math.max(now, certificate.validFromDate.getTime()),
        nextUpdate: certificate.validToDate.getTime(),
        revoked: next.issued.flatMap(toRevocation),
      },
      issuer,
    );
  // Serial numbers are random: one that the other authority gave out does no harm in a list.
  const text = [authority, ...(admins === undefined ? [] : [admins])].map(listOf).join("");
  const copies: FileToWrite[] = [{ path: layout.crl, text, mode: PUBLIC }];
  const hasBroker = (await readText(join(layout.broker, "tls.crt"))) !== undefined;
  if (hasBroker) copies.push({ path: join(layout.broker, "crl.pem"), text, mode: PUBLIC });
  await writeFiles(copies);
  return copies.map(({ path }) => path);
}

function toRevocation({ serial, revoked }: Issued): Revocation[] {
  return revoked === undefined ? [] : [{ serial, at: Date.parse(revoked.at), reason: revoked.reason }];
}

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
  /** Of a request: the private key is elsewhere. */
  readonly publicKey?: KeyObject;
}

/** Signs a certificate and writes its folder as cert-manager would. Returns the authority that knows of it. */
export async function issueLeaf(authority: Authority, request: LeafRequest): Promise<Authority> {
  const { name, admin, hosts } = request;
  const keys = await keysFor(request);
  const signer = (admin ? authority.admins : undefined) ?? authority;
  const use = name === BROKER ? "server" : "client";
  const validity = validityFrom(request.now, request.days);
  const notAfter = Math.min(validity.notAfter, signer.certificate.validToDate.getTime());
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
    signer.issuer,
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
    ...(request.publicKey === undefined ? {} : { fromRequest: true }),
  };
  const registered = await register(authority, issued);
  const { layout, admins } = authority;
  const folder = folderOf(layout, name);
  makePrivateFolder(folder);
  await writeFiles([
    { path: join(folder, "ca.crt"), text: authority.certificate.toString(), mode: PUBLIC },
    ...(name === BROKER && admins !== undefined ? [adminCopy(admins, join(folder, ADMIN_CA))] : []),
    ...(keys.newKey === undefined ? [] : [keyFile(folder, keys.newKey)]),
    { path: join(folder, "tls.crt"), text: certificate.toString(), mode: PUBLIC },
  ]);
  if (request.publicKey !== undefined) await rm(join(folder, "tls.key"), { force: true });
  return registered;
}

/** Before it is written: a registered certificate that was never written does no harm, but an unregistered one cannot be revoked. */
export async function register(authority: Authority, entry: Issued): Promise<Authority> {
  const next = { ...authority.register, issued: [...authority.register.issued, entry] };
  await saveRegister(authority.layout, next);
  return { ...authority, register: next };
}

export function keyFile(folder: string, key: KeyObject): FileToWrite {
  return { path: join(folder, "tls.key"), text: toKeyPem(key), mode: PRIVATE };
}

interface LeafKeys {
  readonly publicKey: KeyObject;
  /** The private key, when it is new and must be written. One that is used again stays as it is. */
  readonly newKey?: KeyObject;
}

async function keysFor({ keyPem, publicKey }: LeafRequest): Promise<LeafKeys> {
  if (publicKey !== undefined) return { publicKey };
  if (keyPem !== undefined) return { publicKey: createPublicKey(createPrivateKey(keyPem)) };
  const keys = await generateKeys();
  return { publicKey: keys.publicKey, newKey: keys.privateKey };
}
