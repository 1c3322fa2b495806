import { type Entry, pathOf, textOf, wrong } from "./entry.ts";
import type { Material } from "./kube-config.ts";

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
