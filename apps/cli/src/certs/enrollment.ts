import { createPrivateKey, createPublicKey, type KeyObject, type X509Certificate } from "node:crypto";
import { join } from "node:path";
import { generateKeys, makeIntermediateCertificate } from "@resource-broker/runtime";
import type { Host } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import {
  addAdminAuthority,
  adminCopy,
  type Authority,
  dirFlag,
  renewAuthority,
  validityFrom,
} from "./authority.ts";
import { readCertificates } from "./certificate-facts.ts";
import {
  ADMIN_CA,
  ENROLLMENT,
  type FileToWrite,
  folderOf,
  isAnyThere,
  type Layout,
  makePrivateFolder,
  namesIn,
  PUBLIC,
  readText,
  writeFiles,
} from "./files.ts";
import { keyFile, publishCrl, register } from "./issue.ts";

const COMMON_NAME = "Resource Broker Enrollment CA";

export interface EnrollmentOptions {
  readonly now: number;
  readonly days: number;
  readonly keepsKey?: boolean;
}

export function hasEnrollment({ enrollment }: Layout): Promise<boolean> {
  return isAnyThere([join(enrollment, "tls.crt"), join(enrollment, "tls.key")]);
}

/**
 * Makes the authority with which a broker signs the certificates of agents that join. Whoever takes its key can make
 * clusters, but no admins and no broker; and `certs revoke` ends it without a new root.
 */
export async function makeEnrollment(
  authority: Authority,
  { now, days, keepsKey = false }: EnrollmentOptions,
): Promise<Authority> {
  const { layout, issuer, certificate: root } = authority;
  const folder = layout.enrollment;
  const keyPem = keepsKey ? await readText(join(folder, "tls.key")) : undefined;
  const privateKey = keyPem === undefined ? (await generateKeys()).privateKey : createPrivateKey(keyPem);
  const validity = validityFrom(now, days);
  const notAfter = Math.min(validity.notAfter, root.validToDate.getTime());
  const publicKey = createPublicKey(privateKey);
  const certificate = makeIntermediateCertificate(
    { commonName: COMMON_NAME, publicKey, ...validity, notAfter },
    issuer,
  );
  const earlier = await earlierOnes(authority, { publicKey, now });
  const registered = await register(authority, entryOf(certificate, days));
  makePrivateFolder(folder);
  await writeFiles([
    { path: join(folder, "ca.crt"), text: root.toString(), mode: PUBLIC },
    ...(keyPem === undefined ? [keyFile(folder, privateKey)] : []),
    { path: join(folder, "tls.crt"), text: [certificate, ...earlier].join(""), mode: PUBLIC },
  ]);
  return registered;
}

/**
 * The authorities that the new one follows. With a revocation list a broker admits nobody whose issuer it does not know: without
 * them, no agent that has joined could call any more, nor renew its certificate.
 */
async function earlierOnes(
  { layout, register: { issued } }: Authority,
  { publicKey, now }: { readonly publicKey: KeyObject; readonly now: number },
): Promise<readonly X509Certificate[]> {
  const file = join(layout.enrollment, "tls.crt");
  const revoked = new Set(issued.flatMap(({ serial, revoked: at }) => (at === undefined ? [] : [serial])));
  return readCertificates((await readText(file)) ?? "", file).filter(
    (each) =>
      each.validToDate.getTime() > now &&
      !revoked.has(each.serialNumber) &&
      !each.publicKey.equals(publicKey),
  );
}

function entryOf(certificate: X509Certificate, days: number) {
  return {
    serial: certificate.serialNumber,
    name: ENROLLMENT,
    use: "authority",
    admin: false,
    hosts: [],
    days,
    notBefore: certificate.validFromDate.toISOString(),
    notAfter: certificate.validToDate.toISOString(),
  } as const;
}

/**
 * Gives a folder of an earlier version an admin authority. The root gets a new certificate for its old key: the one
 * before allows no authority below it.
 */
export async function upgrade(authority: Authority, host: Host): Promise<Authority> {
  const { layout } = authority;
  const now = host.now();
  await addAdminAuthority(authority, now);
  const renewed = await renewAuthority(layout, now);
  await distribute(renewed);
  await publishCrl(renewed, now);
  host.note(
    `Made an admin authority in ${layout.ca} and a new certificate for the old authority. Give the broker its folder ${layout.broker} again: ca.crt, crl.pem and admin-ca.crt in it are new\n`,
  );
  for (const name of adminsOf(renewed)) {
    host.note(
      `The broker then refuses the certificate of ${name}. Make a new one: brokerctl certs issue ${name} --admin --force${dirFlag(layout)}\n`,
    );
  }
  const [first] = adminsOf(renewed);
  if (first === undefined)
    host.note(`For yourself: brokerctl certs issue <your-name> --admin${dirFlag(layout)}\n`);
  // The number of the list has been saved: read it again with the rest of the register.
  return { ...renewed, register: { ...renewed.register, crlNumber: renewed.register.crlNumber + 1 } };
}

function adminsOf({ register: { issued } }: Authority): readonly string[] {
  return [...new Set(issued.filter(({ admin }) => admin).map(({ name }) => name))];
}

/** Puts the certificates of the authorities into every folder that has them. */
export async function distribute({ layout, certificate, admins }: Authority): Promise<void> {
  const leaves = (await namesIn(layout)).map((name) => folderOf(layout, name));
  const copies = await Promise.all(
    [...leaves, layout.enrollment].map(async (folder): Promise<FileToWrite[]> => {
      if ((await readText(join(folder, "tls.crt"))) === undefined) return [];
      const own = { path: join(folder, "ca.crt"), text: certificate.toString(), mode: PUBLIC } as const;
      const isBroker = folder === layout.broker && admins !== undefined;
      return isBroker ? [own, adminCopy(admins, join(folder, ADMIN_CA))] : [own];
    }),
  );
  await writeFiles(copies.flat());
}

export function noEnrollment(layout: Layout): CommandError {
  return new CommandError(
    "error",
    `there is no ${layout.enrollment}. Make it: brokerctl certs init --upgrade${dirFlag(layout)}`,
  );
}
