import { wrong } from "./entry.ts";
import { type Kubeconfig, parseKubeconfig } from "./kubeconfig.ts";

/** What a kubeconfig file's text holds. JSON needs no YAML parser, which costs 7 MB to load. */
export async function readKubeconfig(text: string, file: string): Promise<Kubeconfig> {
  return parseKubeconfig(await contentOf(text, file), file);
}

async function contentOf(text: string, file: string): Promise<unknown> {
  if (text.trim() === "") return {};
  const json = text.trimStart().startsWith("{") ? parseJson(text) : undefined;
  if (json !== undefined) return json;
  const { parse } = await import("yaml");
  try {
    const content: unknown = parse(text, { logLevel: "error" });
    return content;
  } catch (error) {
    const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    throw wrong(
      { place: file },
      `this is not YAML: ${line.replace(/:$/u, "")}; correct it, or name another file`,
    );
  }
}

/** Undefined for what only looks like JSON: YAML may begin with a brace, too. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
