import { dirname, isAbsolute, join } from "node:path";
import { Fault } from "@resource-broker/base";
import type { Material } from "./kube-config.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** A part of a kubeconfig file that is read field by field; whatever is wrong names file and field. */
export interface Entry {
  /** `/home/ada/.kube/config: user "ada"`. */
  readonly place: string;
  readonly file: string;
  readonly fields: Fields;
}

export function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Empty text counts as absent, as in kubectl. */
export function textOf(entry: Entry, name: string): string | undefined {
  const value = entry.fields[name];
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string") return value;
  throw wrong(entry, `${name} must be text, not ${nameOf(value)}: put it in quotes`);
}

export function requiredTextOf(entry: Entry, name: string, remedy: string): string {
  const value = textOf(entry, name);
  if (value === undefined) throw wrong(entry, `${name} is missing: ${remedy}`);
  return value;
}

export function flagOf(entry: Entry, name: string): boolean {
  const value = entry.fields[name];
  if (value === undefined || value === null) return false;
  if (typeof value === "boolean") return value;
  throw wrong(entry, `${name} must be true or false, not ${nameOf(value)}`);
}

export function listOf(entry: Entry, name: string): readonly unknown[] {
  const value = entry.fields[name];
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw wrong(entry, `${name} must be a list, not ${nameOf(value)}`);
}

export function recordOf(entry: Entry, name: string): Entry | undefined {
  const value = entry.fields[name];
  if (value === undefined || value === null) return undefined;
  if (isRecord(value)) return { ...entry, place: `${entry.place}, ${name}`, fields: value };
  throw wrong(entry, `${name} must hold fields, not ${nameOf(value)}`);
}

/** The path of a file, relative ones as seen from the kubeconfig file that names them. */
export function pathOf(entry: Entry, name: string): string | undefined {
  const path = textOf(entry, name);
  return path === undefined ? undefined : besideFile(entry, path);
}

export function besideFile({ file }: Entry, path: string): string {
  return isAbsolute(path) ? path : join(dirname(file), path);
}

/** One line that says where, what, and what to do. */
export function wrong({ place }: Pick<Entry, "place">, problem: string): Fault {
  return new Fault("invalid", `${place}: ${problem}`);
}

/** What kind of value it is; never the value, which may be a secret. */
export function nameOf(value: unknown): string {
  if (value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "fields" : `a ${typeof value}`;
}

/** PEM text from `<name>-data`, else the file that `<name>` names. */
export function pemOf(entry: Entry, name: string): Material | undefined {
  const data = textOf(entry, `${name}-data`);
  if (data !== undefined) return { kind: "text", text: decodePem(entry, `${name}-data`, data) };
  const path = pathOf(entry, name);
  return path === undefined ? undefined : { kind: "file", path };
}

function decodePem(entry: Entry, name: string, data: string): string {
  const packed = data.replace(/\s+/gu, "");
  const text = Buffer.from(packed, "base64").toString("utf8");
  if (!/^[A-Za-z0-9+/]*={0,2}$/u.test(packed) || !text.includes("-----BEGIN ")) {
    throw wrong(
      entry,
      `${name} is not PEM in base64: encode the file with base64 -w0, or name it with ${withoutData(name)}`,
    );
  }
  return text;
}

function withoutData(name: string): string {
  return name.slice(0, -"-data".length);
}
