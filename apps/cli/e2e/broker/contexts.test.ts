import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli } from "../../src/testing/cli.ts";
import { NOWHERE } from "./testing/fake-server.ts";
import { type Fleet, startFleet } from "./testing/fleet.ts";

const cleanUps: (() => Promise<void>)[] = [];
let fleet: Fleet;

beforeAll(async () => {
  fleet = await startFleet((cleanUp) => cleanUps.unshift(cleanUp));
  await mkdir(join(fleet.folder, "empty"));
});
afterAll(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
});

describe("where the broker is", () => {
  /** In a home of its own beside the fleet's certificate folders, with this file. */
  async function inHome(text: (fleet: Fleet) => string): Promise<string> {
    const home = await mkdtemp(join(fleet.folder, "home-"));
    await mkdir(join(home, ".config", "brokerctl"), { recursive: true });
    await writeFile(join(home, ".config", "brokerctl", "config.yaml"), text(fleet));
    return home;
  }
  const FILE = ({ url, folder }: Fleet): string =>
    `current-context: here\ncontexts:\n  here: {broker: "${url}", certs: "${folder}/ops"}\n  gone: {broker: "${NOWHERE}", certs: ../../../ops}\n`;

  const cases: readonly {
    name: string;
    args?: (fleet: Fleet) => readonly string[];
    env?: (fleet: Fleet) => Readonly<Record<string, string>>;
    code: number;
  }[] = [
    { name: "is read from the file's current context", code: 0 },
    { name: "is the context that was named", args: () => ["--context", "gone"], code: 1 },
    {
      name: "is what the environment says before the file",
      env: () => ({ BROKERCTL_BROKER: NOWHERE }),
      code: 1,
    },
    {
      name: "is what the flag says before the environment",
      args: ({ url }) => ["--broker", url],
      env: () => ({ BROKERCTL_BROKER: NOWHERE }),
      code: 0,
    },
    {
      name: "is the named context before the environment",
      args: () => ["--context", "here"],
      env: ({ folder }) => ({ BROKERCTL_BROKER: NOWHERE, BROKERCTL_CERTS: join(folder, "empty") }),
      code: 0,
    },
    {
      name: "is what the flag says before the named context, whose certificates stay",
      args: ({ url }) => ["--context", "gone", "--broker", url],
      code: 0,
    },
    {
      name: "is in the file that was named",
      args: ({ folder }) => ["--config", join(folder, "none.yaml")],
      code: 1,
    },
  ];
  test.each(cases)("$name", async ({ args, env, code }) => {
    const HOME = await inHome(FILE);
    const { code: ended, err } = await runCli(["get", "clusters", ...(args?.(fleet) ?? [])], {
      env: { HOME, ...env?.(fleet) },
    });
    expect({ ended, err }).toEqual({ ended: code, err: code === 0 ? "" : expect.any(String) });
  });

  test.each([
    { name: "no YAML", text: "{", says: "is not YAML" },
    { name: "a list", text: "- a", says: "the file must be a map" },
    {
      name: "a slip in a field",
      text: "current-contxt: a",
      says: 'has an unknown field "current-contxt"; did you mean current-context?',
    },
    {
      name: "a slip in a context",
      text: "contexts: {eu: {cert: x}}",
      says: 'contexts.eu has an unknown field "cert"; did you mean certs?',
    },
    {
      name: "a number for an address",
      text: "contexts: {eu: {broker: 1}}",
      says: "contexts.eu.broker must be a string",
    },
    {
      name: "a context that is not there",
      text: "current-context: ue\ncontexts: {eu: {}}",
      says: "did you mean eu?",
    },
    { name: "nothing", text: "", says: "name its folder with --certs" },
  ])("a file with $name is reported", async ({ text, says }) => {
    const HOME = await inHome(() => text);
    const { code, err } = await runCli(["get", "clusters"], { env: { HOME } });
    expect(code).toBeGreaterThan(0);
    expect(err).toContain(says);
  });

  describe("a file that cannot be read", () => {
    /** A folder in its place: also root, as whom tests may run, cannot read that. */
    async function unreadable(): Promise<{ HOME: string; file: string }> {
      const HOME = await mkdtemp(join(fleet.folder, "home-"));
      const file = join(HOME, ".config", "brokerctl", "config.yaml");
      await mkdir(file, { recursive: true });
      return { HOME, file };
    }
    const given = (): Record<string, string> => ({
      BROKERCTL_BROKER: fleet.url,
      BROKERCTL_CERTS: join(fleet.folder, "ops"),
    });

    test("is left out, with a warning, where only its usual place names it", async () => {
      const { HOME, file } = await unreadable();
      const { err } = await runCli(["get", "clusters", "--broker", fleet.url], { env: { HOME } });
      expect(err).toContain(`Warning: ${file} cannot be read and is ignored: `);
      expect(err).toContain("name its folder with --certs");
    });

    test("is no matter where broker and certificate are given", async () => {
      const { HOME } = await unreadable();
      const { code, err } = await runCli(["get", "clusters"], { env: { HOME, ...given() } });
      expect({ code, err }).toEqual({ code: 0, err: "" });
    });

    test.each([
      { row: "it was named", args: (file: string) => ["--config", file] },
      { row: "a context in it was named", args: () => ["--context", "here"] },
    ])("is an error where $row", async ({ args }) => {
      const { HOME, file } = await unreadable();
      const all = ["get", "clusters", ...args(file)];
      const { code, err } = await runCli(all, { env: { HOME, ...given() } });
      expect(code).toBe(1);
      expect(err).toContain(`cannot read ${file}: `);
    });

    test.each([["--help"], ["version", "--output=json"], ["completion", "bash"], ["certs", "--help"]])(
      "is not looked at by %s %s",
      async (...args) => {
        const { HOME } = await unreadable();
        const { code, err } = await runCli(args, { env: { HOME } });
        expect({ code, err }).toEqual({ code: 0, err: "" });
      },
    );
  });

  test("is found under XDG_CONFIG_HOME, with ~ in the file", async () => {
    const HOME = await inHome(({ url }) => `contexts: {a: {broker: "${url}", certs: ~/../ops}}\n`);
    const env = { HOME, XDG_CONFIG_HOME: join(HOME, ".config") };
    expect(await runCli(["get", "clusters", "--context", "a"], { env })).toMatchObject({ code: 0 });
  });
});
