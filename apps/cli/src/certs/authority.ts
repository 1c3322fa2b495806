import { isRecord, parseJson } from "@resource-broker/base";
import { createPrivateKey, type KeyObject, randomBytes, X509Certificate } from "node:crypto";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import {
  authorityName,
  generateKeys,
  type Issuer,
  makeAuthorityCertificate,
  REVOCATION_REASONS,
  type RevocationReason,
  subjectOf,
  toKeyPem,
} from "@resource-broker/runtime";
import type { Host } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";
import {
  asCommandError,
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

/** The authority of this installation, and the certificates it has signed. */
export interface Authority {
  readonly layout: Layout;
  readonly certificate: X509Certificate;
  readonly issuer: Issuer;
  readonly register: IssuedRegistry;
}

const AUTHORITY_NAME = "Resource Broker CA";
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
  const issuer = { name: authorityName(AUTHORITY_NAME), randomBytes, ...(await generateKeys()) };
  const certificate = makeAuthorityCertificate(issuer, validityFrom(now, days));
  const draft = `${layout.ca}.${certificate.serialNumber}.tmp`;
  makePrivateFolder(draft);
  await writeFiles([
    { path: join(draft, "ca.key"), text: toKeyPem(issuer.privateKey), mode: PRIVATE },
    { path: join(draft, "ca.crt"), text: certificate.toString(), mode: PUBLIC },
    { path: join(draft, "issued.json"), text: formatRegister(EMPTY_REGISTER), mode: PRIVATE },
  ]);
  await move(draft, layout.ca);
  return { layout, certificate, issuer, register: EMPTY_REGISTER };
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

/** The same name and key under a new certificate, by default for as long: what it signed before stays good. */
export async function renewAuthority(layout: Layout, now: number, days?: number): Promise<Authority> {
  const certificate = await readAuthorityCertificate(layout);
  const old = await authorityOf(layout, certificate);
  const renewed = makeAuthorityCertificate(old.issuer, validityFrom(now, days ?? daysOf(certificate)));
  await writeFiles([{ path: layout.caCert, text: renewed.toString(), mode: PUBLIC }]);
  return { ...old, certificate: renewed };
}

function daysOf({ validFromDate, validToDate }: X509Certificate): number {
  return Math.max(1, Math.floor((validToDate.getTime() - validFromDate.getTime()) / DAY_MS));
}

/** The certificate alone, whether it has expired or not. */
export async function readAuthorityCertificate(layout: Layout): Promise<X509Certificate> {
  const text = await readText(layout.caCert);
  if (text === undefined) {
    throw new CommandError(
      "error",
      `there is no certificate authority in ${layout.ca}. Make one: brokerctl certs init${dirFlag(layout)}`,
    );
  }
  try {
    return new X509Certificate(text);
  } catch (error) {
    throw new CommandError("error", `${layout.caCert} is not a certificate in PEM`, { cause: error });
  }
}

/** ` --dir x` for the commands that messages propose, when it is not the default. */
export function dirFlag({ dir }: Layout): string {
  return dir === DEFAULT_DIR ? "" : ` --dir ${dir}`;
}

async function authorityOf(layout: Layout, certificate: X509Certificate): Promise<Authority> {
  const privateKey = await readAuthorityKey(layout);
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new CommandError(
      "error",
      `${layout.caKey} is not the key of ${layout.caCert}. Restore both from the same backup`,
    );
  }
  const register = await readRegister(layout);
  const issuer = { name: subjectOf(certificate), publicKey: certificate.publicKey, privateKey, randomBytes };
  return { layout, certificate, issuer, register };
}

async function readAuthorityKey(layout: Layout): Promise<KeyObject> {
  const text = await readText(layout.caKey);
  if (text === undefined) {
    throw new CommandError(
      "error",
      `${layout.caKey} is missing: signing needs it. Run this where the authority's key is kept`,
    );
  }
  try {
    return createPrivateKey(text);
  } catch (error) {
    throw new CommandError("error", `${layout.caKey} is not a private key in PEM without a password`, {
      cause: error,
    });
  }
}

async function move(from: string, to: string): Promise<void> {
  await rename(from, to).catch((error: unknown) => {
    throw asCommandError(error);
  });
}

/** One certificate that the authority signed. Times are RFC 3339. */
export interface Issued {
  readonly serial: string;
  /** A cluster ID, or `broker`. */
  readonly name: string;
  readonly use: "client" | "server";
  readonly admin: boolean;
  readonly hosts: readonly string[];
  /** How long it was to last; the authority's own end may have cut it short. */
  readonly days: number;
  readonly notBefore: string;
  readonly notAfter: string;
  readonly revoked?: { readonly at: string; readonly reason: RevocationReason };
}

export interface IssuedRegistry {
  readonly crlNumber: number;
  readonly issued: readonly Issued[];
}

const VERSION = 1;
const EMPTY_REGISTER: IssuedRegistry = { crlNumber: 0, issued: [] };

function formatRegister({ crlNumber, issued }: IssuedRegistry): string {
  return `${JSON.stringify({ version: VERSION, crlNumber, issued }, null, 2)}\n`;
}

export async function saveRegister(layout: Layout, register: IssuedRegistry): Promise<void> {
  await writeFiles([{ path: layout.register, text: formatRegister(register), mode: PRIVATE }]);
}

/**
 * Without its register an authority no longer knows what it revoked, and its next revocation list would let
 * everybody back in: so a missing or damaged one stops every command that signs.
 */
async function readRegister(layout: Layout): Promise<IssuedRegistry> {
  const text = await readText(layout.register);
  const content = parseJson(text ?? "");
  if (isRegister(content)) return content;
  const problem = text === undefined ? "is missing" : "cannot be read";
  throw new CommandError(
    "error",
    `${layout.register} ${problem}: it says what was issued and revoked. Restore it from a backup, or start over with "brokerctl certs init --force"`,
  );
}

function isRegister(content: unknown): content is IssuedRegistry {
  return (
    isRecord(content) &&
    content["version"] === VERSION &&
    Number.isSafeInteger(content["crlNumber"]) &&
    Array.isArray(content["issued"]) &&
    content["issued"].every(isIssued)
  );
}

const ISSUED_FIELDS: Readonly<Record<keyof Issued, (value: unknown) => boolean>> = {
  serial: isText,
  name: isText,
  use: (value) => value === "client" || value === "server",
  admin: (value) => typeof value === "boolean",
  hosts: (value) => Array.isArray(value) && value.every(isText),
  days: Number.isSafeInteger,
  notBefore: isTime,
  notAfter: isTime,
  revoked: (value) => value === undefined || isRevocation(value),
};

function isIssued(entry: unknown): boolean {
  return isRecord(entry) && Object.entries(ISSUED_FIELDS).every(([name, isGood]) => isGood(entry[name]));
}

function isRevocation(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { at, reason } = value;
  return isTime(at) && isText(reason) && Object.hasOwn(REVOCATION_REASONS, reason);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isTime(value: unknown): boolean {
  return isText(value) && !Number.isNaN(Date.parse(value));
}
