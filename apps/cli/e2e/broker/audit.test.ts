import { type AuditEntryDTO, auditPageSchema, validate } from "@resource-broker/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addLine, NO_LINES } from "../../src/audit/verify-chain.ts";
import { type Fleet, startFleet } from "./testing/fleet.ts";

const cleanUps: (() => Promise<void>)[] = [];
let fleet: Fleet;
let lines: readonly AuditEntryDTO[];

beforeAll(async () => {
  fleet = await startFleet((cleanUp) => cleanUps.unshift(cleanUp));
  const id = await fleet.reserve("rome", "--cpu", "4", "--memory", "8Gi");
  await fleet.as("ops", "cordon", "tokyo", "--reason", "maintenance");
  await fleet.as("rome", "release", id);
  lines = JSON.parse((await fleet.as("ops", "audit", "-o", "json")).out) as AuditEntryDTO[];
});
afterAll(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
});

describe("audit", () => {
  test("shows who did what to whom, oldest first", async () => {
    const { code, out } = await fleet.as("ops", "audit");
    expect(code).toBe(0);
    const rows = out
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/ {2,}/u));
    expect(rows[0]).toEqual(["LINE", "AGE", "WHO", "ACTION", "SUBJECT", "MESSAGE"]);
    expect(rows.slice(1).map(([line, , who, action]) => [line, who, action])).toEqual([
      ["1", "broker", "open-adoption"],
      ["2", "rome", "reserve"],
      ["3", "ops", "cordon"],
      ["4", "rome", "release"],
    ]);
    expect(validate(auditPageSchema, { items: lines })).toMatchObject({ ok: true });
  });

  test.each([
    { args: ["--tail", "1"], shows: "4\n" },
    { args: ["--tail", "2"], shows: "3\n4\n" },
    { args: ["--tail", "50"], shows: "1\n2\n3\n4\n" },
    { args: ["--tail", "1", "--all"], shows: "1\n2\n3\n4\n" },
  ])("keeps to $args", async ({ args, shows }) => {
    expect((await fleet.as("ops", "audit", ...args, "-o", "name")).out).toBe(shows);
  });

  test("continues with --follow, a line at a time and without new titles", async () => {
    let out = "";
    let looks = 0;
    const pause = async (): Promise<void> => {
      looks++;
      if (looks === 2) await fleet.as("ops", "uncordon", "tokyo");
      if (looks === 4) throw new Error("enough");
    };
    const following = fleet.asWith(
      { pause, onOut: (text) => (out += text) },
      "ops",
      "audit",
      "-f",
      "--tail",
      "1",
    );
    await expect(following).rejects.toThrow("enough");
    expect(out.trimEnd().split("\n").slice(2)).toEqual([
      expect.stringMatching(/^5 +\d+s +ops +uncordon +tokyo /u),
    ]);
  });

  test("computes the chain again with --verify", async () => {
    const { code, out } = await fleet.as("ops", "audit", "--verify");
    expect(code).toBe(0);
    expect(out).toMatch(/^State: +sound\nLines: +\d+, from number 1 on\nLast hash: +[0-9a-f]{64}\n$/u);
  });

  test("is for admins", async () => {
    expect(await fleet.as("rome", "audit")).toMatchObject({
      code: 5,
      err: expect.stringContaining("--admin"),
    });
  });

  test("verify reads the files instead", async () => {
    const store = `sqlite:${fleet.broker.storeDirectory}`;
    const { code, out } = await fleet.as("nobody", "audit", "verify", "--store", store, "-o", "json");
    expect({ code, ...(JSON.parse(out) as object) }).toMatchObject({ code: 0, problems: [] });
    const slip = await fleet.as("ops", "audit", "verfy");
    expect(slip).toMatchObject({ code: 2, err: expect.stringContaining("did you mean verify?") });
  });
});

describe("a chain", () => {
  const check = (entries: readonly AuditEntryDTO[]) => entries.reduce(addLine, NO_LINES);

  test("as it came from the broker is sound", () => {
    expect(check(lines)).toMatchObject({ lines: 4, first: 1, problem: undefined });
  });

  test("may begin later: older lines are trimmed", () => {
    const { previousHash: _gone, ...second } = lines[1] ?? ({} as AuditEntryDTO);
    expect(check([second, ...lines.slice(2)])).toMatchObject({ lines: 3, first: 2, problem: undefined });
  });

  const changes: readonly { name: string; change: (entry: AuditEntryDTO) => AuditEntryDTO; says: string }[] =
    [
      {
        name: "another message",
        change: (entry) => ({ ...entry, message: "nothing happened" }),
        says: "it differs from the recorded",
      },
      {
        name: "another actor",
        change: (entry) => ({ ...entry, actor: "paris" }),
        says: "it differs from the recorded",
      },
      {
        name: "another time",
        change: (entry) => ({ ...entry, at: "2020-01-01T00:00:00Z" }),
        says: "it differs from the recorded",
      },
      {
        name: "another record",
        change: (entry) => ({ ...entry, record: `${entry.record} ` }),
        says: "its hash",
      },
      { name: "another hash", change: (entry) => ({ ...entry, hash: "0".repeat(64) }), says: "its hash" },
      {
        name: "another line before",
        change: (entry) => ({ ...entry, previousHash: "0".repeat(64) }),
        says: "its previous hash is not the",
      },
    ];
  test.each(changes)("with $name is broken there", ({ change, says }) => {
    const changed = lines.map((entry, index) => (index === 1 ? change(entry) : entry));
    expect(check(changed).problem).toMatch(new RegExp(`^line 2: .*${says}`, "u"));
  });

  test("with a line taken out is broken there", () => {
    expect(check([...lines.slice(0, 1), ...lines.slice(2)]).problem).toContain("lines are missing");
  });
});
