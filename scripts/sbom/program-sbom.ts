import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** One list for each image in deploy/images. */
export const PROGRAMS: readonly (ProgramParts & { readonly file: string })[] = [
  {
    name: "resource-broker",
    file: "broker.cdx.json",
    packages: ["@resource-broker/broker", "@resource-broker/dashboard"],
  },
  { name: "resource-broker-agent", file: "agent.cdx.json", packages: ["@resource-broker/agent"] },
  { name: "brokerctl", file: "brokerctl.cdx.json", packages: ["@resource-broker/cli"] },
];

/** What we read of CycloneDX 1.5; all the rest is passed on as it is. */
export interface Component {
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly licenses?: readonly unknown[];
}

interface Edges {
  readonly ref: string;
  readonly dependsOn: readonly string[];
}

export interface Bom {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly Edges[];
}

/** What package-lock.json says of our own packages. */
export interface Lockfile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly name?: string;
  readonly version?: string;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

export interface ProgramParts {
  /** What the program is called in the list. */
  readonly name: string;
  /** Our packages that it is made of, beside all that they need. */
  readonly packages: readonly string[];
}

/**
 * The part of the list of everything that one program is made of. `npm sbom --omit=dev` would leave out what a program
 * needs as soon as some development tool needs it, too: so it is followed from package to package instead.
 */
export function programSbom(everything: Bom, lockfile: Lockfile, { name, packages }: ProgramParts): Bom {
  const edges = new Map(everything.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const dev = developmentEdges(lockfile);
  const reached = new Set<string>();
  const follow = (ref: string): void => {
    if (reached.has(ref)) return;
    reached.add(ref);
    for (const next of edges.get(ref) ?? []) if (dev.get(ref)?.has(nameIn(next)) !== true) follow(next);
  };
  const starts = packages.map((each) => refOf(everything, each));
  for (const start of starts) follow(start);
  const { component } = everything.metadata;
  const root = `${name}@${component.version}`;
  return {
    ...everything,
    metadata: { ...everything.metadata, component: { ...component, ...named(name, component.version) } },
    components: everything.components.filter((each) => reached.has(each["bom-ref"])),
    dependencies: [
      { ref: root, dependsOn: starts },
      ...[...reached].map((ref) => ({
        ref,
        dependsOn: (edges.get(ref) ?? []).filter((next) => reached.has(next)),
      })),
    ],
  };
}

function named(name: string, version: string): Pick<Component, "bom-ref" | "name" | "purl"> {
  return { "bom-ref": `${name}@${version}`, name, purl: `pkg:generic/${name}@${version}` };
}

function refOf({ components }: Bom, name: string): string {
  const found = components.find((each) => nameIn(each["bom-ref"]) === name);
  if (found === undefined) throw new Error(`npm sbom does not know our package ${name}`);
  return found["bom-ref"];
}

/** `@scope/name@1.2.3` without its version. */
function nameIn(ref: string): string {
  return ref.slice(0, ref.lastIndexOf("@"));
}

/** By package: what it needs for its development only. Packages of others come without such a list. */
function developmentEdges({ packages }: Lockfile): Map<string, ReadonlySet<string>> {
  const own = Object.values(packages).filter(({ devDependencies }) => devDependencies !== undefined);
  return new Map(
    own.map(({ name = "", version = "", devDependencies = {} }) => [
      `${name}@${version}`,
      new Set(Object.keys(devDependencies)),
    ]),
  );
}

const FLAGS = ["--sbom-format=cyclonedx", "--sbom-type=application", "--package-lock-only"];
const MOST_BYTES = 64 * 1024 * 1024;

/** What package-lock.json holds, as npm lists it. Needs neither the network nor installed packages. */
export async function listEverything(root: string): Promise<Bom> {
  const { stdout } = await promisify(execFile)("npm", ["sbom", ...FLAGS], {
    cwd: root,
    maxBuffer: MOST_BYTES,
  });
  const bom: unknown = JSON.parse(stdout);
  if (isBom(bom)) return bom;
  throw new Error("npm sbom printed no CycloneDX list: npm 10 or newer is needed");
}

function isBom(value: unknown): value is Bom {
  return (
    typeof value === "object" &&
    value !== null &&
    "bomFormat" in value &&
    value.bomFormat === "CycloneDX" &&
    "components" in value &&
    "dependencies" in value
  );
}

export async function readLockfile(root: string): Promise<Lockfile> {
  const lockfile: unknown = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8"));
  if (isLockfile(lockfile)) return lockfile;
  throw new Error("package-lock.json holds no packages: npm 7 or newer writes them");
}

function isLockfile(value: unknown): value is Lockfile {
  return typeof value === "object" && value !== null && "packages" in value;
}
