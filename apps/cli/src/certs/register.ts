import { REVOCATION_REASONS, type RevocationReason } from "@resource-broker/runtime";
import { CommandError } from "../cli/exit-code.ts";
import { PRIVATE, readText, writeFiles } from "./files.ts";
import type { Layout } from "./layout.ts";

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
export const EMPTY_REGISTER: IssuedRegistry = { crlNumber: 0, issued: [] };

export function formatRegister({ crlNumber, issued }: IssuedRegistry): string {
  return `${JSON.stringify({ version: VERSION, crlNumber, issued }, null, 2)}\n`;
}

export async function saveRegister(layout: Layout, register: IssuedRegistry): Promise<void> {
  await writeFiles([{ path: layout.register, text: formatRegister(register), mode: PRIVATE }]);
}

/**
 * Without its register an authority no longer knows what it revoked, and its next revocation list would let
 * everybody back in: so a missing or damaged one stops every command that signs.
 */
export async function readRegister(layout: Layout): Promise<IssuedRegistry> {
  const text = await readText(layout.register);
  const content = text === undefined ? undefined : parsed(text);
  if (isRegister(content)) return content;
  const problem = text === undefined ? "is missing" : "cannot be read";
  throw new CommandError(
    "error",
    `${layout.register} ${problem}: it says what was issued and revoked. Restore it from a backup, or start over with "brokerctl certs init --force"`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the caller reports it with the file's name
  }
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

function isIssued(entry: unknown): entry is Issued {
  return (
    isRecord(entry) &&
    isText(entry["serial"]) &&
    Number.isSafeInteger(entry["days"]) &&
    isTime(entry["notBefore"]) &&
    isTime(entry["notAfter"]) &&
    isOwner(entry) &&
    (entry["revoked"] === undefined || isRevocation(entry["revoked"]))
  );
}

function isOwner({ name, use, admin, hosts }: Record<string, unknown>): boolean {
  return (
    isText(name) &&
    (use === "client" || use === "server") &&
    typeof admin === "boolean" &&
    Array.isArray(hosts) &&
    hosts.every(isText)
  );
}

function isRevocation(entry: unknown): boolean {
  return (
    isRecord(entry) &&
    isTime(entry["at"]) &&
    isText(entry["reason"]) &&
    Object.hasOwn(REVOCATION_REASONS, entry["reason"])
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isTime(value: unknown): boolean {
  return isText(value) && !Number.isNaN(Date.parse(value));
}
