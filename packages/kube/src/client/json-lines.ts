import { StringDecoder } from "node:string_decoder";
import { Fault } from "@resource-broker/contract";

/** As large as a frame of Kubernetes' own clients may be. */
const LONGEST_LINE = 16 * 1024 * 1024;

/** Splits a byte stream into lines and parses each as JSON. Chunks may end inside a character. */
export function jsonLines(onValue: (value: unknown) => void): { readonly push: (chunk: Buffer) => void } {
  const decoder = new StringDecoder("utf8");
  let parts: string[] = [];
  let length = 0;
  const take = (text: string): void => {
    parts.push(text);
    length += text.length;
    if (length > LONGEST_LINE) {
      throw new Fault("malformed", `the API server sent a watch event of more than ${LONGEST_LINE} letters`);
    }
  };
  const finish = (): void => {
    const line = parts.length === 1 ? (parts[0] ?? "") : parts.join("");
    parts = [];
    length = 0;
    if (line.trim() !== "") onValue(parse(line));
  };
  return {
    push: (chunk) => {
      const text = decoder.write(chunk);
      let start = 0;
      for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
        take(text.slice(start, end));
        finish();
        start = end + 1;
      }
      if (start < text.length) take(text.slice(start));
    },
  };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new Fault("malformed", "the API server sent a watch event that is not JSON", { cause: error });
  }
}
