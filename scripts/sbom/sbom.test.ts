import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { bundle } from "../bundle/bundle.ts";
import { packagesOf } from "../bundle/packages.ts";
import {
  type Bom,
  type Lockfile,
  listEverything,
  PROGRAMS,
  programSbom,
  readLockfile,
} from "./program-sbom.ts";

const root = join(import.meta.dirname, "../..");
let everything: Bom;
let lockfile: Lockfile;

beforeAll(async () => {
  everything = await listEverything(root);
  lockfile = await readLockfile(root);
});

const sbomOf = (file: string): Bom => {
  const program = PROGRAMS.find((each) => each.file === file);
  if (program === undefined) throw new Error(`no program has the list ${file}`);
  return programSbom(everything, lockfile, program);
};
const refsIn = ({ components }: Bom): string[] => components.map((each) => each["bom-ref"]);

describe("the list of what a program is made of", () => {
  test("names every package that is in its bundle", async () => {
    const into = await mkdtemp(join(tmpdir(), "sbom-"));
    onTestFinished(() => rm(into, { recursive: true }));
    for (const { file, sources } of await bundle({ root, into })) {
      if (sources.length === 0) continue;
      const packages = await packagesOf(sources);
      const listed = refsIn(sbomOf(file.replace(".mjs", ".cdx.json")));
      expect(listed).toEqual(expect.arrayContaining(packages.map((each) => `${each.name}@${each.version}`)));
    }
  });

  test.each(PROGRAMS)(
    "$file is a graph of its own, of shipped packages that are named in full",
    ({ file, name }) => {
      const { metadata, components, dependencies } = sbomOf(file);
      const names = components.map((each) => each.name);
      for (const tool of ["typescript", "vitest", "vite", "testkit"]) expect(names).not.toContain(tool);
      for (const each of components)
        expect(each).toMatchObject({
          version: expect.stringMatching(/^\d/),
          purl: expect.stringMatching(/^pkg:npm\//),
          licenses: [expect.anything()],
        });
      const refs = new Set([
        metadata.component["bom-ref"],
        ...refsIn({ metadata, components, dependencies }),
      ]);
      expect(metadata.component).toMatchObject({ name, type: "application" });
      expect(new Set(dependencies.map(({ ref }) => ref))).toEqual(refs);
      expect(dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.has(ref))).toEqual([]);
    },
  );

  test("the broker's has the dashboard's packages, the agent's has not", () => {
    expect(refsIn(sbomOf("broker.cdx.json"))).toContainEqual(expect.stringMatching(/^react-dom@/));
    expect(refsIn(sbomOf("agent.cdx.json"))).not.toContainEqual(expect.stringMatching(/^react/));
  });

  test("a package that is not there is no program", () => {
    const wrong = { name: "other", packages: ["@resource-broker/other"] };
    expect(() => programSbom(everything, lockfile, wrong)).toThrow("does not know our package");
  });
});
