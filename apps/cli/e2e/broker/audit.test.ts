import type { AuditEntryDTO } from "@resource-broker/contract";
import { afterAll, describe, expect, test } from "vitest";
import { addLine, NO_LINES } from "../../src/audit/audit.ts";
import { cellsOf } from "../../src/testing/cli.ts";
import { startFleet } from "./testing/fleet.ts";

const fleet = await startFleet(afterAll);
const { expectDialogue } = fleet;
const id = await fleet.reserve("rome", "--cpu 4 --memory 8Gi");
await fleet.ok("ops", "cordon tokyo --reason maintenance");
await fleet.ok("rome", `release ${id}`);
const lines = (await fleet.data("ops", "audit")) as AuditEntryDTO[];

describe("audit", () => {
  test("shows who did what to whom, oldest first", async () => {
    const [titles, ...rows] = cellsOf(await fleet.ok("ops", "audit"));
    expect(titles).toEqual(["LINE", "AGE", "WHO", "ACTION", "SUBJECT", "MESSAGE"]);
    const done = ["1 broker open-adoption", "2 rome reserve", "3 ops cordon", "4 rome release"];
    expect(rows.map(([line, , who, action]) => `${line} ${who} ${action}`)).toEqual(done);
  });

  test("keeps to the lines asked for, is for admins, and computes the chain again or reads the files", async () => {
    const sound = /^State: +sound\nLines: +\d+, from number 1 on\nLast hash: +[0-9a-f]{64}\n$/u;
    const store = `--store sqlite:${fleet.broker.storeDirectory}`;
    await expectDialogue(
      ["ops", "audit --tail 2 -o name", 0, /^3\n4\n$/u],
      ["ops", "audit --tail 50 -o name", 0, /^1\n2\n3\n4\n$/u],
      ["ops", "audit --tail 1 --all -o name", 0, /^1\n2\n3\n4\n$/u],
      ["rome", "audit", 5, "--admin"],
      ["ops", "audit --verify", 0, sound],
      ["nobody", `audit verify ${store} -o json`, 0, '"problems": []'],
      ["ops", "audit verfy", 2, "did you mean verify?"],
    );
  });

  test("continues with --follow, a line at a time and without new titles", async () => {
    const nothing = async (): Promise<void> => undefined;
    const steps = [nothing, () => fleet.ok("ops", "uncordon tokyo"), nothing];
    const out = await fleet.watch("audit -f --tail 1", steps);
    const added = [expect.stringMatching(/^5 +\d+s +ops +uncordon +tokyo /u)];
    expect(out.trimEnd().split("\n").slice(2)).toEqual(added);
  });
});

describe("a chain", () => {
  const check = (entries: readonly AuditEntryDTO[]) => entries.reduce(addLine, NO_LINES);

  test("as it came from the broker is sound, and may begin later: older lines are trimmed", () => {
    expect(check(lines)).toMatchObject({ lines: 4, first: 1, problem: undefined });
    const { previousHash: _gone, ...second } = lines[1] ?? ({} as AuditEntryDTO);
    expect(check([second, ...lines.slice(2)])).toMatchObject({ lines: 3, first: 2, problem: undefined });
  });

  const differs = "it differs from the recorded";
  const zeros = "0".repeat(64);
  test.each<[string, (entry: AuditEntryDTO) => Partial<AuditEntryDTO>, string]>([
    ["another message", () => ({ message: "nothing happened" }), differs],
    ["another actor", () => ({ actor: "paris" }), differs],
    ["another time", () => ({ at: "2020-01-01T00:00:00Z" }), differs],
    ["another record", ({ record }) => ({ record: `${record} ` }), "its hash"],
    ["another hash", () => ({ hash: zeros }), "its hash"],
    ["another line before", () => ({ previousHash: zeros }), "its previous hash is not the"],
    ["a line missing before", () => ({ sequence: 3 }), "lines are missing"],
  ])("with %s is broken there", (_, change, says) => {
    const changed = lines.map((entry, index) => (index === 1 ? { ...entry, ...change(entry) } : entry));
    expect(check(changed).problem).toMatch(new RegExp(`^line [23]: .*${says}`, "u"));
  });
});

test("adoption is shown, closed, and opened for a while, by an admin alone and in the audit log", async () => {
  const open = /^Adoption: +open\nReservations made before: +\S+Z\nUntil: +\S+Z\nCause: +created\n$/u;
  await expectDialogue(
    ["ops", "adoption show", 0, open],
    ["ops", "adoption close", 0, /^Adoption: +closed\n[^]*Cause: +closed by ops\n$/u],
    ["ops", "adoption open --for 2h", 0, /^Adoption: +open\n[^]*Cause: +opened by ops\n$/u],
    ["ops", "audit --all", 0, "Adoption closed.", "Adoption (opened): holds made before"],
    ["rome", "adoption open", 5],
    ["ops", "adoption open --for soon", 2],
    ["ops", "adoption open --for 200h", 1, "at most 7 days"],
  );
});
