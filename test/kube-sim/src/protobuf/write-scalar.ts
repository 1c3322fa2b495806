import { parseTime } from "@resource-broker/base";
import type { JsonValue } from "../json.ts";
import { type BackwardWriter, varintTag } from "./backward-writer.ts";
import type { ScalarKind } from "./message-tables.ts";

/** Writes a field whose value is no message of the tables. Undefined: unset. False: the value is not of this kind. */
export type WriteScalar = (
  writer: BackwardWriter,
  fieldNumber: number,
  value: JsonValue | undefined,
) => boolean;

const IS_NUMBER = 0;
const IS_TEXT = 1;

export const WRITE_SCALAR: Readonly<Record<ScalarKind, WriteScalar>> = {
  string(writer, fieldNumber, value = "") {
    if (typeof value !== "string") return false;
    writeText(writer, fieldNumber, value);
    return true;
  },
  bool(writer, fieldNumber, value = false) {
    if (typeof value !== "boolean") return false;
    writeInt(writer, fieldNumber, value ? 1 : 0);
    return true;
  },
  int(writer, fieldNumber, value = 0) {
    if (typeof value !== "number" || !Number.isSafeInteger(value)) return false;
    writeInt(writer, fieldNumber, value);
    return true;
  },
  quantity(writer, fieldNumber, value = "0") {
    if (typeof value !== "string" && typeof value !== "number") return false;
    writeQuantity(writer, fieldNumber, String(value));
    return true;
  },
  time(writer, fieldNumber, value) {
    const since = writer.length();
    if (value !== undefined) {
      const ms = typeof value === "string" ? parseTime(value) : undefined;
      if (ms === undefined) return false;
      // Kubernetes knows no fractions of a second here and still writes that there are none.
      writeInt(writer, 2, 0);
      writeInt(writer, 1, Math.floor(ms / 1000));
    }
    writer.wrap(fieldNumber, since);
    return true;
  },
  "int-or-string"(writer, fieldNumber, value = 0) {
    const isText = typeof value === "string";
    if (!isText && (typeof value !== "number" || !Number.isSafeInteger(value))) return false;
    const since = writer.length();
    writeText(writer, 3, isText ? value : "");
    writeInt(writer, 2, isText ? 0 : value);
    writeInt(writer, 1, isText ? IS_TEXT : IS_NUMBER);
    writer.wrap(fieldNumber, since);
    return true;
  },
  fields(writer, fieldNumber, value) {
    const since = writer.length();
    writeText(writer, 1, JSON.stringify(value));
    writer.wrap(fieldNumber, since);
    return true;
  },
};

export function writeQuantity(writer: BackwardWriter, fieldNumber: number, text: string): void {
  const since = writer.length();
  writeText(writer, 1, text);
  writer.wrap(fieldNumber, since);
}

export function writeText(writer: BackwardWriter, fieldNumber: number, text: string): void {
  const since = writer.length();
  writer.text(text);
  writer.wrap(fieldNumber, since);
}

function writeInt(writer: BackwardWriter, fieldNumber: number, value: number): void {
  writer.int(value);
  writer.uint(varintTag(fieldNumber));
}
