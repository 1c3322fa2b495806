import { isRecord, parseJson } from "@resource-broker/base";
import { REVOCATION_REASONS, type RevocationReason } from "@resource-broker/runtime";
import { CommandError } from "../cli/exit-code.ts";
import { type Layout, PRIVATE, readText, writeFiles } from "./files.ts";

/** One certificate that the authority signed. Times are RFC 3339. */
export interface Issued {
  readonly serial: string;
  /** A cluster ID, `broker`, or `enrollment`. */
  readonly name: string;
  /** An authority has no other name than `enrollment`, which a cluster may have as well. */
  readonly use: "client" | "server" | "authority";
  readonly admin: boolean;
  readonly hosts: readonly string[];
  /** How long it was to last; the authority's own end may have cut it short. */
  readonly days: number;
  readonly notBefore: string;
  readonly notAfter: string;
  /** True: signed from a request; the key is elsewhere. */
  readonly fromRequest?: boolean;
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
  use: (value) => value === "client" || value === "server" || value === "authority",
  admin: (value) => typeof value === "boolean",
  hosts: (value) => Array.isArray(value) && value.every(isText),
  days: Number.isSafeInteger,
  notBefore: isTime,
  notAfter: isTime,
  fromRequest: (value) => value === undefined || typeof value === "boolean",
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
