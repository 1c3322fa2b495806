import { hash } from "node:crypto";

export function sha256(text: string): Uint8Array {
  return hash("sha256", text, "buffer");
}
