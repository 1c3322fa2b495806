import { readFile } from "node:fs/promises";

const MAX_BYTES = 1024 * 1024;

/** Reads a YAML (or JSON) file of an operator. The parser is loaded only when there is a file. */
export async function readYaml(path: string): Promise<unknown> {
  const content = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new Error(`cannot read ${path}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  });
  if (content.length > MAX_BYTES) throw new Error(`${path} is larger than 1 MiB`);
  const { parse } = await import("yaml");
  try {
    // Aliases can make a small file huge: none are needed here.
    const parsed: unknown = parse(content, { maxAliasCount: 0 });
    return parsed;
  } catch (cause) {
    throw new Error(`${path} is not YAML: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}
