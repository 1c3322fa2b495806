import { PATH } from "@resource-broker/contract";
import { afterAll, describe, expect, test } from "vitest";
import { cellsOf, TEST_START } from "../../src/testing/cli.ts";
import { startFleet } from "./testing/fleet.ts";

const SMALL = "--cpu 1 --memory 1Gi";
const fleet = await startFleet(afterAll);
const { expectDialogue } = fleet;
const nothing = async (): Promise<void> => undefined;

describe("reservations that are there", async () => {
  /** One that lives, and one that was released. */
  const live = await fleet.reserve("rome", `${SMALL} --duration 1h --target paris`);
  const ended = await fleet.reserve("rome", `${SMALL} --target tokyo`);
  await fleet.ok("rome", `release ${ended}`);

  test("are listed: who lends what to whom, at what price and until when", async () => {
    const [titles, ...rows] = cellsOf(await fleet.ok("ops", "get reservations"));
    expect(titles?.join(" ")).toBe("NAME REQUESTER PROVIDER CPU MEMORY GPU PRICE PHASE EXPIRES AGE");
    const shown = [live, "rome", "paris", "1", "1Gi", "-", "0.04537 EUR/h", "Reserved"];
    const times = [expect.stringMatching(/^in (59|60)m$/u), expect.stringMatching(/^\d+s$/u)];
    expect(rows).toEqual([[...shown, ...times]]);
  });

  test.each([
    ["what lives", "ops", "", [live]],
    ["all", "ops", " --all", [live, ended].toSorted()],
    ["a phase", "ops", " --phase Released", [ended]],
    ["a lender", "ops", " --provider tokyo --all", [ended]],
    ["a borrower", "ops", " --requester tokyo --all", []],
    ["one by its name, ended or not", "ops", ` reservation/${ended}`, [ended]],
    ["what a cluster is party to", "paris", " --all", [live]],
  ])("are only those asked for: %s", async (_, who, flags, shows) => {
    const names = (await fleet.ok(who, `get reservations${flags} -o name`)).split("\n");
    expect(names.filter(Boolean).toSorted()).toEqual(shows);
  });

  test("are none: that is said", async () => {
    await expectDialogue(
      ["berlin", "get reservations", 0, /^There is no reservation\.\n$/u],
      ["tokyo", "get reservations", 0, "--all shows what has ended (1)"],
    );
  });

  test("are watched with -w until the end of what was there", async () => {
    const passing = await fleet.reserve("rome", `${SMALL} --target paris`);
    const steps = [nothing, () => fleet.as("rome", `release ${passing}`), nothing];
    const out = await fleet.watch("get reservations -w", steps);
    expect(cellsOf(out).slice(3)).toEqual([expect.arrayContaining([passing, "Released"])]);
  });

  test("are described with the decision, to the provider without it", async () => {
    const price = /\nPrice: +0.04537 EUR\/h, 0.04537 EUR in all\n/u;
    const resources = /^Name: +rsv-rome-[^]*\nResources: +1 CPU \/ 1Gi Memory\n/u;
    const why = "paris lends 1 CPU / 1Gi Memory to rome.";
    await expectDialogue(["rome", `describe reservation ${live}`, 0, resources, price, why]);
    const data = await fleet.data("rome", `describe reservation ${live}`);
    expect(data).toMatchObject({ reservation: { id: live }, decision: { winner: "paris" } });
    expect(Object.keys(await fleet.data("paris", `describe reservation ${live}`))).toEqual(["reservation"]);
  });

  test.each(["get reservations", "describe reservation", "renew", "release", "wait", "explain", "replay"])(
    "are proposed where %s names one that is not there",
    async (command) => {
      const misspelt = `${live.slice(0, -1)}${live.endsWith("a") ? "b" : "a"}`;
      const says = `there is no reservation "${misspelt}" that rome is party to; did you mean ${live}?`;
      await expectDialogue(
        ["rome", `${command} ${misspelt}`, 1, says],
        ["ops", "describe reservation x", 1, "brokerctl get reservations --all lists them"],
      );
    },
  );
});

describe("reserve, renew and release", () => {
  test("a key reserves once, and is spent when it is released", async () => {
    const line = `reserve ${SMALL} --key job-42 -o name`;
    const first = await fleet.ok("rome", line);
    await expectDialogue(
      ["rome", line, 0, first, "A reservation with this key exists already; nothing new was reserved\n"],
      ["rome", "reserve --cpu 2 --memory 1Gi --key job-42", 6, "job-42 already made"],
      ["rome", "release --key job-42", 0],
      // A late copy of the first request must not book again.
      ["rome", line, 6],
      ["rome", "release --key never-used", 0, "The key is now released"],
      ["rome", `reserve ${SMALL} --key never-used`, 6],
    );
  });

  test("everything that a request can say is asked for", async () => {
    const where = "--region eu-west,asia -l tier=gold --exclude tokyo";
    const made = await fleet.data("rome", `reserve ${SMALL} ${where} --tier spot --duration 90s --storage 0`);
    expect(made).toMatchObject({ targetClusterID: "paris", tier: "spot", status: { phase: "Reserved" } });
  });

  test("it is for the cluster that an admin names, and for nobody else", async () => {
    const line = `reserve ${SMALL} --key job-43 --for paris`;
    expect(await fleet.data("ops", line)).toMatchObject({ requesterID: "paris" });
    await expectDialogue(
      ["ops", line, 0],
      ["ops", `reserve ${SMALL}`, 2, "--for rome"],
      ["ops", "release --key job-43", 2],
      ["ops", "audit", 0, /ops +reserve .* to paris/u],
      ["ops", "release --key job-43 --for paris", 0, "Released"],
      ["rome", `reserve ${SMALL} --for paris`, 5, "may not ask for paris"],
      ["ops", `reserve ${SMALL} --for atlantis`, 1, 'no cluster "atlantis"'],
      ["ops", `quote ${SMALL} --for paris`, 0],
    );
  });

  test("the end moves, where there is one, and comes", async () => {
    const id = await fleet.reserve("rome", `${SMALL} --duration 1m`);
    const endless = await fleet.reserve("rome", SMALL);
    await expectDialogue(
      ["rome", `renew reservation/${id} --duration 5h`, 0, / in [45]h /u],
      ["rome", `release ${id} -o json`, 0, '"reason": "ReleasedByRequester"'],
      ["rome", `renew ${id}`, 6],
      ["rome", `renew ${endless} --duration 5h`, 0, "there was nothing to renew", " never "],
    );
  });
});

describe("wait", () => {
  /** A world whose time passes only while the command waits. */
  function passing(meanwhile: (waits: number) => Promise<unknown> = nothing) {
    let now = TEST_START;
    let waits = 0;
    const pause = async (ms: number): Promise<void> => {
      now += ms;
      waits++;
      await meanwhile(waits);
    };
    return { now: () => now, pause };
  }

  test("ends when the phase has come", async () => {
    const id = await fleet.reserve("rome", SMALL);
    const activate = () => fleet.broker.clientFor("rome").request("POST", PATH.activate(id));
    const active = passing(async (waits) => waits === 2 && activate());
    const line = `wait reservation/${id} --for=phase=Active`;
    expect(await fleet.asWith(active, "rome", line)).toMatchObject({ code: 0, out: / Active /u });
    const released = passing(async (waits) => waits === 1 && fleet.ok("rome", `release ${id}`));
    expect(await fleet.asWith(released, "rome", `wait ${id} --for released`)).toMatchObject({ code: 0 });
    const never = `brokerctl: ${id} is Released (ReleasedByRequester) and will never be Active\n`;
    await expectDialogue(
      ["rome", `wait ${id} --for=ended -o name`, 0, `${id}\n`],
      ["ops", `wait ${id} --for=phase=Active`, 6, never],
    );
  });

  test("gives up after the time given, with status 4", async () => {
    const live = await fleet.reserve("rome", SMALL);
    const err = `brokerctl: ${live} is Reserved after 1.2 s, not ended; --timeout waits longer\n`;
    const line = `wait ${live} --for=ended --timeout 1200ms`;
    expect(await fleet.asWith(passing(), "ops", line)).toEqual({ code: 4, out: "", err });
  });
});
