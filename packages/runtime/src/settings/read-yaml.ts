import { errorText } from "@resource-broker/base";
import { readText } from "../files/read-text.ts";

/** Larger files take the parser long, and everybody waits for it. */
const MAX_BYTES = 128 * 1024;

/**
 * Reads YAML (or JSON) files of an operator. The parser is loaded only when there is a file, and runs only when its
 * content has changed.
 */
export function yamlReader(): (path: string) => Promise<unknown> {
  const known = new Map<string, { readonly content: string; readonly parsed: unknown }>();
  return async (path) => {
    const content = await contentOf(path);
    const before = known.get(path);
    if (before?.content === content) return before.parsed;
    const parsed = await parseYaml(content, path);
    known.set(path, { content, parsed });
    return parsed;
  };
}

async function contentOf(path: string): Promise<string> {
  const content = await readText(path).catch((cause: unknown) => {
    throw new Error(`cannot read ${path}: ${errorText(cause)}`, { cause });
  });
  if (content.length > MAX_BYTES) throw new Error(`${path} is larger than 128 KiB`);
  return content;
}

/** `path` says in messages where the text comes from. */
export async function parseYaml(content: string, path: string): Promise<unknown> {
  const { parse } = await import("yaml");
  try {
    // Aliases can make a small file huge: none are needed here.
    const parsed: unknown = parse(content, { maxAliasCount: 0 });
    return parsed;
  } catch (cause) {
    throw new Error(`${path} is not YAML: ${errorText(cause)}`, { cause });
  }
}
