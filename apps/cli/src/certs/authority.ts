import { createPrivateKey, type KeyObject, randomBytes, X509Certificate } from "node:crypto";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import {
  authorityName,
  generateKeys,
  type Issuer,
  makeAuthorityCertificate,
  subjectOf,
  toKeyPem,
} from "@resource-broker/runtime";
import type { Host } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import {
  asCommandError,
  type FileToWrite,
  isAnyThere,
  type Layout,
  makePrivateFolder,
  PRIVATE,
  PUBLIC,
  readText,
  withLock,
  writeFiles,
} from "./files.ts";
import { DEFAULT_DIR } from "../commands/local-options.ts";
import { EMPTY_REGISTER, formatRegister, type IssuedRegistry, readRegister } from "./register.ts";

/** A certificate that signs others, with its key. */
export interface Signer {
  readonly certificate: X509Certificate;
  readonly issuer: Issuer;
}

/** The authority of this installation, and the certificates it has signed. */
export interface Authority extends Signer {
  readonly layout: Layout;
  /** Signs admins; undefined in a folder of an earlier version, where the authority itself does. */
  readonly admins: Signer | undefined;
  readonly register: IssuedRegistry;
}

const AUTHORITY_NAME = "Resource Broker CA";
const ADMIN_AUTHORITY_NAME = "Resource Broker Admin CA";
const DAY_MS = 86_400_000;
/** Certificates start a little in the past: the clocks of two machines are never quite the same. */
const CLOCK_SKEW_MS = 5 * 60_000;

export function validityFrom(now: number, days: number): { notBefore: number; notAfter: number } {
  return { notBefore: now - CLOCK_SKEW_MS, notAfter: now + days * DAY_MS };
}

export async function hasAuthority(layout: Layout): Promise<boolean> {
  return isAnyThere([layout.caCert, layout.caKey]);
}

/** Creates the authority in a temporary folder and renames it into place, so that no reader sees half of it. */
export async function createAuthority(layout: Layout, now: number, days: number): Promise<Authority> {
  const signer = await newSigner(AUTHORITY_NAME, validityFrom(now, days));
  const admins = await newSigner(ADMIN_AUTHORITY_NAME, validityFrom(now, days));
  const draft = `${layout.ca}.${signer.certificate.serialNumber}.tmp`;
  makePrivateFolder(draft);
  await writeFiles([
    ...filesOf(signer, join(draft, "ca.crt"), join(draft, "ca.key")),
    ...filesOf(admins, join(draft, "admin-ca.crt"), join(draft, "admin-ca.key")),
    { path: join(draft, "issued.json"), text: formatRegister(EMPTY_REGISTER), mode: PRIVATE },
  ]);
  await move(draft, layout.ca);
  return { layout, ...signer, admins, register: EMPTY_REGISTER };
}

/** Gives a folder of an earlier version its admin authority. */
export async function addAdminAuthority(authority: Authority, now: number): Promise<Authority> {
  const { layout, certificate } = authority;
  const notAfter = certificate.validToDate.getTime();
  const admins = await newSigner(ADMIN_AUTHORITY_NAME, { ...validityFrom(now, 0), notAfter });
  await writeFiles(filesOf(admins, layout.adminCert, layout.adminKey));
  return { ...authority, admins };
}

async function newSigner(name: string, validity: ReturnType<typeof validityFrom>): Promise<Signer> {
  const issuer = { name: authorityName(name), randomBytes, ...(await generateKeys()) };
  return { issuer, certificate: makeAuthorityCertificate(issuer, validity) };
}

function filesOf({ certificate, issuer }: Signer, cert: string, key: string): FileToWrite[] {
  return [
    { path: key, text: toKeyPem(issuer.privateKey), mode: PRIVATE },
    { path: cert, text: certificate.toString(), mode: PUBLIC },
  ];
}

/** Renames the folder of the old authority. Signing keys are never deleted. */
export async function setAside(layout: Layout, now: number): Promise<string> {
  const aside = `${layout.ca}.replaced-${new Date(now).toISOString().replaceAll(/[-:]|\.\d+/gu, "")}`;
  await move(layout.ca, aside);
  return aside;
}

export async function openAuthority(layout: Layout, now: number): Promise<Authority> {
  const certificate = await readAuthorityCertificate(layout);
  if (certificate.validToDate.getTime() <= now) {
    throw new CommandError(
      "error",
      `the authority in ${layout.ca} has expired. Renew it: brokerctl certs renew --ca${dirFlag(layout)}`,
    );
  }
  return authorityOf(layout, certificate);
}

/** Works with the authority while no other brokerctl does. */
export async function withAuthority<Result>(
  layout: Layout,
  host: Host,
  work: (authority: Authority) => Promise<Result>,
): Promise<Result> {
  await openAuthority(layout, host.now()); // before anything is made, the lock's folder included
  return withLock(layout, host, async () => work(await openAuthority(layout, host.now())));
}

/** The same names and keys under new certificates, by default for as long: what they signed before stays good. */
export async function renewAuthority(layout: Layout, now: number, days?: number): Promise<Authority> {
  const certificate = await readAuthorityCertificate(layout);
  const old = await authorityOf(layout, certificate);
  const validity = validityFrom(now, days ?? daysOf(certificate));
  const renewed = <S extends Signer>(signer: S): S => ({
    ...signer,
    certificate: makeAuthorityCertificate(signer.issuer, validity),
  });
  const next = { ...renewed(old), admins: old.admins && renewed(old.admins) };
  const { admins } = next;
  await writeFiles([
    { path: layout.caCert, text: next.certificate.toString(), mode: PUBLIC },
    ...(admins === undefined ? [] : [adminCopy(admins, layout.adminCert)]),
  ]);
  return next;
}

export function adminCopy({ certificate }: Signer, path: string): FileToWrite {
  return { path, text: certificate.toString(), mode: PUBLIC };
}

function daysOf({ validFromDate, validToDate }: X509Certificate): number {
  return Math.max(1, Math.floor((validToDate.getTime() - validFromDate.getTime()) / DAY_MS));
}

/** The certificate alone, whether it has expired or not. */
export async function readAuthorityCertificate(layout: Layout): Promise<X509Certificate> {
  const text = await readText(layout.caCert);
  if (text !== undefined) return parseCertificate(text, layout.caCert);
  throw new CommandError(
    "error",
    `there is no certificate authority in ${layout.ca}. Make one: brokerctl certs init${dirFlag(layout)}`,
  );
}

function parseCertificate(text: string, file: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (error) {
    throw new CommandError("error", `${file} is not a certificate in PEM`, { cause: error });
  }
}

/** ` --dir x` for the commands that messages propose, when it is not the default. */
export function dirFlag({ dir }: Layout): string {
  return dir === DEFAULT_DIR ? "" : ` --dir ${dir}`;
}

async function authorityOf(layout: Layout, certificate: X509Certificate): Promise<Authority> {
  const { adminCert, adminKey } = layout;
  const signer = await signerOf(certificate, layout.caCert, layout.caKey);
  const text = await readText(adminCert);
  const admins =
    text === undefined ? undefined : await signerOf(parseCertificate(text, adminCert), adminCert, adminKey);
  return { layout, ...signer, admins, register: await readRegister(layout) };
}

async function signerOf(certificate: X509Certificate, cert: string, key: string): Promise<Signer> {
  const privateKey = await readAuthorityKey(key);
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new CommandError("error", `${key} is not the key of ${cert}. Restore both from the same backup`);
  }
  const issuer = { name: subjectOf(certificate), publicKey: certificate.publicKey, privateKey, randomBytes };
  return { certificate, issuer };
}

async function readAuthorityKey(file: string): Promise<KeyObject> {
  const text = await readText(file);
  if (text === undefined) {
    throw new CommandError(
      "error",
      `${file} is missing: signing needs it. Run this where the authority's key is kept`,
    );
  }
  try {
    return createPrivateKey(text);
  } catch (error) {
    throw new CommandError("error", `${file} is not a private key in PEM without a password`, {
      cause: error,
    });
  }
}

async function move(from: string, to: string): Promise<void> {
  await rename(from, to).catch((error: unknown) => {
    throw asCommandError(error);
  });
}
