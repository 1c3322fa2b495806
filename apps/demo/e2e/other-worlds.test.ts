import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { postgresPrograms, startPostgres, until } from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";
import { startDemo } from "./testing/demo-process.ts";

const MAIN = join(import.meta.dirname, "../src/main.ts");
const run = promisify(execFile);
/** Only a guard: processes start from their sources, beside other tests. */
const TIMEOUT = { timeout: 180_000 };

interface Piece {
  readonly kind: string;
  readonly broker?: { readonly store: string; readonly url: string };
  readonly steps?: readonly { readonly command: string }[];
  readonly decision?: { readonly requester: string; readonly winner?: string };
}

function startJson(...flags: readonly string[]) {
  const command = [process.execPath, MAIN, "--json", "--no-dashboard", ...flags];
  const demo = startDemo({ command, cwd: import.meta.dirname, env: process.env });
  const pieces = (): Piece[] =>
    demo
      .output()
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Piece);
  return {
    pieces,
    untilKind: (kind: string) =>
      until(`it tells ${kind}`, async () => pieces().find((piece) => piece.kind === kind), 120_000),
    end: async () => {
      demo.interrupt();
      return demo.ended;
    },
  };
}

const hasKubectl = await run("kubectl", ["version", "--client"]).then(
  () => true,
  () => false,
);

test.skipIf(!hasKubectl)(
  "with --interface=kubernetes agents speak through objects, and the broker's cluster shows them (needs kubectl)",
  TIMEOUT,
  async () => {
    const demo = startJson("--clusters=3", "--nodes=2", "--interface=kubernetes");
    const { steps = [] } = await demo.untilKind("ready");
    const shell = async (command = ""): Promise<string> => (await run("sh", ["-c", command])).stdout;
    const [apply, , atHub, quote, remove] = steps.map(({ command }) => command);
    await shell(apply);
    const { decision } = await demo.untilKind("decision");
    expect(decision).toMatchObject({ requester: "rome", winner: expect.stringMatching(/paris|berlin/) });
    await until("the hub shows it", async () => {
      const shown = await shell(atHub);
      expect(shown).toMatch(/^clusteradvertisement\S+rome-adv /m);
      expect(shown).toMatch(/^reservation\S+rsv-rome-\w+ /m);
      return true;
    });
    expect(await shell(quote)).toMatch(/lends 2 CPU \/ 8Gi Memory to rome\.$/m);
    expect(await shell(remove)).toContain("deleted");
    expect(await demo.end()).toEqual({ code: 0 });
    expect(demo.pieces().at(-1)).toEqual({ kind: "ended" });
  },
);

const postgres = postgresPrograms();

test.skipIf(!postgres.isThere)(
  "with --store=postgres://… the ledger is in that database (needs PostgreSQL)",
  TIMEOUT,
  async () => {
    const server = await startPostgres();
    onTestFinished(() => server.dispose());
    const demo = startJson("--clusters=2", `--store=${server.url()}`);
    const { broker } = await demo.untilKind("broker");
    expect(broker?.store).toBe("postgres");
    const { steps = [] } = await demo.untilKind("ready");
    await run("sh", ["-c", steps[3]?.command ?? ""]);
    expect(await server.psql("SELECT count(*) FROM resource_broker.lease")).toContain("1");
    expect(await demo.end()).toEqual({ code: 0 });
  },
);
