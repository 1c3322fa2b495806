import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { didYouMean } from "../cli/did-you-mean.ts";
import { CommandError } from "../cli/exit-code.ts";
import type { Host } from "../cli/host.ts";

/** One broker of the file. */
export interface Context {
  readonly broker?: string;
  /** Absolute: what is written in the file counts from the file's folder. */
  readonly certs?: string;
}

export interface ConfigFile {
  readonly path: string;
  readonly currentContext: string | undefined;
  readonly contexts: ReadonlyMap<string, Context>;
}

const FILE_FIELDS = ["current-context", "contexts"];
const CONTEXT_FIELDS = ["broker", "certs"];

interface Wanted {
  /** By flag or environment. */
  readonly named: string | undefined;
  /** "needed": a context of the file was asked for. "unused": nothing that it could say counts. */
  readonly use: "needed" | "optional" | "unused";
}

/** The file that was named, or the one in its usual place; undefined when nobody named one and there is none to read. */
export async function readConfigFile(
  { named, use }: Wanted,
  { env, note }: Pick<Host, "env" | "note">,
): Promise<ConfigFile | undefined> {
  const path = named ?? defaultPath(env);
  if (path === undefined) return undefined;
  const found = await readFile(path).then(() => "readable" as const, findingOf);
  if (found === "missing" && named !== undefined)
    throw new CommandError("error", `there is no ${named}: --config names the file with your brokers`);
  if (found === "missing") return undefined;
  if (found === "readable" || named !== undefined || use === "needed") return parseConfig(path, env);
  // HOME may belong to another user, as in many containers: the file is then optional unless it was named.
  if (use === "optional") note(`Warning: ${path} cannot be read and is ignored: ${found.problem}\n`);
  return undefined;
}

function findingOf(error: unknown): "missing" | { readonly problem: string } {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT" || code === "ENOTDIR") return "missing";
  return { problem: error instanceof Error ? error.message : String(error) };
}

function defaultPath(env: Host["env"]): string | undefined {
  const { XDG_CONFIG_HOME: configured, HOME: home } = env;
  if (configured !== undefined && configured !== "") return join(configured, "brokerctl", "config.yaml");
  return home === undefined || home === "" ? undefined : join(home, ".config", "brokerctl", "config.yaml");
}

async function parseConfig(path: string, env: Host["env"]): Promise<ConfigFile> {
  const { yamlReader } = await import("./yaml-reader.ts");
  const parsed = await yamlReader()(path).catch((cause: unknown) => {
    throw new CommandError("error", cause instanceof Error ? cause.message : String(cause), { cause });
  });
  const file = await fieldsOf(parsed ?? {}, FILE_FIELDS, { path, place: "" });
  const contexts = new Map<string, Context>();
  for (const [name, value] of mapOf(file.get("contexts") ?? {}, { path, place: "contexts" })) {
    const place = { path, place: `contexts.${name}` };
    const fields = await fieldsOf(value, CONTEXT_FIELDS, place);
    const broker = textOf(fields.get("broker"), { path, place: `${place.place}.broker` });
    const certs = textOf(fields.get("certs"), { path, place: `${place.place}.certs` });
    contexts.set(name, {
      ...(broker === undefined ? {} : { broker }),
      ...(certs === undefined ? {} : { certs: resolve(dirname(path), atHome(certs, env)) }),
    });
  }
  const currentContext = textOf(file.get("current-context"), { path, place: "current-context" });
  return { path, currentContext, contexts };
}

/** As a shell would read it; a file has no shell. */
function atHome(folder: string, env: Host["env"]): string {
  return folder.replace(/^~(?=\/|$)/u, env["HOME"] ?? "~");
}

interface FieldLocation {
  readonly path: string;
  readonly place: string;
}

function mapOf(value: unknown, place: FieldLocation): ReadonlyMap<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return new Map(Object.entries(value));
  throw wrong(place, "must be a map");
}

async function fieldsOf(
  value: unknown,
  known: readonly string[],
  place: FieldLocation,
): Promise<ReadonlyMap<string, unknown>> {
  const fields = mapOf(value, place);
  for (const name of fields.keys()) {
    if (!known.includes(name))
      throw wrong(place, `has an unknown field ${JSON.stringify(name)}${await didYouMean(name, known)}`);
  }
  return fields;
}

function textOf(value: unknown, place: FieldLocation): string | undefined {
  if (value === undefined || (typeof value === "string" && value !== "")) return value;
  throw wrong(place, "must be a string");
}

function wrong({ path, place }: FieldLocation, problem: string): CommandError {
  return new CommandError("error", `${path}: ${place === "" ? "the file" : place} ${problem}`);
}
