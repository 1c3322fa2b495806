import { HEADER, PATH } from "@resource-broker/contract";
import { advertisementBody, reply, startFakeBroker } from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { cellsOf, TEST_START } from "../../src/testing/cli.ts";
import { startFleet } from "./testing/fleet.ts";

const POLICY = `
tenants:
  ml: { members: [{ cluster: rome, namespaces: ["ml-*"] }], weight: 2, quota: { cpu: "32", reservations: 5 }, maxPriority: 10 }
`;
const fleet = await startFleet(afterAll, POLICY);
const { expectDialogue } = fleet;
/** All that paris has, and nobody else has that much. */
const LARGE = "--cpu 16 --memory 32Gi";

/** A world whose time passes only while a command waits; what happens then is counted from 1. */
function passing(meanwhile: (waits: number) => Promise<unknown> = async () => undefined) {
  let now = TEST_START;
  let waits = 0;
  const pause = async (ms: number): Promise<void> => {
    now += ms;
    waits++;
    await meanwhile(waits);
  };
  return { now: () => now, pause };
}

/** A request of that cluster that waits: its ID. */
const waits = (name: string, line = LARGE): Promise<string> =>
  fleet.ok(name, `reserve ${line} --wait 1h --no-follow -o name`);

describe("an empty queue", () => {
  test("is said to be empty", async () => {
    await expectDialogue(
      ["ops", "get queue", 0, /^No request waits\.\n$/u],
      ["rome", "get queue", 0, /^No request of rome waits\.\n$/u],
      ["ops", "get queue --requester rome", 0, /^No request of rome waits\.\n$/u],
      ["ops", "get queue --requester rom", 1, "did you mean rome?"],
      ["rome", "get queue --requester paris", 0, "rome sees its own requests only"],
      ["ops", "get requests --all-clusters", 0, "No cluster waits for anything or holds anything."],
      ["ops", "get queue -o json", 0, /^\[\]\n/u],
    );
    const [, ...rows] = cellsOf(await fleet.ok("ops", "get tenants"));
    expect(rows).toEqual([["ml", "yes", "2", "0", "-", "-", "-", "32 CPU, 5 reservations", "-", "0", "-"]]);
  });
});

describe("a queue with requests", () => {
  let [held, first, second] = ["", "", ""];
  beforeAll(async () => {
    held = await fleet.reserve("tokyo", `${LARGE} --duration 1h`);
    first = await waits("rome", `${LARGE} --namespace ml-training`);
    second = await waits("berlin");
  });
  afterAll(async () => {
    for (const id of [second, first, held]) await fleet.ok("ops", `release ${id}`);
  });

  test("is listed in its order, to each cluster its own", async () => {
    const [titles, ...rows] = cellsOf(await fleet.ok("ops", "get queue"));
    expect(titles?.join(" ")).toBe(
      "POSITION NAME CLUSTER TENANT CPU MEMORY GPU PRIORITY REASON NOT BEFORE AGE",
    );
    const times: unknown[] = [expect.stringMatching(/^(in \d+m|-)$/u), expect.stringMatching(/^\d+s$/u)];
    const amounts = ["16", "32Gi", "-", "0", "Capacity"];
    expect(rows).toEqual([
      ["1", first, "rome", "ml", ...amounts, ...times],
      ["2", second, "berlin", "berlin", ...amounts, ...times],
    ]);
    expect(await fleet.ok("rome", "get queue -o name")).toBe(first);
    expect(await fleet.ok("ops", "get queue --requester berlin -o name")).toBe(second);
    const [wide] = cellsOf(await fleet.ok("ops", "get waiting -o wide"));
    expect(wide?.slice(-5).join(" ")).toBe("NAMESPACE SHARE UNTIL KEPT AT MESSAGE");
  });

  test("is one table with what is held, for admins", async () => {
    const [titles, ...rows] = cellsOf(await fleet.ok("ops", "get requests --all-clusters"));
    expect(titles?.join(" ")).toBe("NAME CLUSTER TENANT CPU MEMORY GPU PHASE QUEUE TARGET AGE");
    expect(rows.map((row) => [row[0], row[1], row[2], row[6], row[7], row[8]])).toEqual([
      [first, "rome", "ml", "Pending", "1 of 2", "-"],
      [second, "berlin", "berlin", "Pending", "2 of 2", "-"],
      [held, "tokyo", "tokyo", "Reserved", "-", "paris"],
    ]);
    await expectDialogue(
      ["rome", "get requests --all-clusters", 5, "Its own: brokerctl get queue"],
      ["ops", "get requests --all-clusters -n shop", 2, "leave --namespace out"],
      ["ops", "get requests more --all-clusters", 2, "leave more out"],
      ["ops", "get requests --all-cluster", 2, "did you mean --all-clusters?"],
    );
  });

  test("is shared by tenants, which an admin sees", async () => {
    const rows = cellsOf(await fleet.ok("ops", "get tenants -o wide")).slice(1);
    expect(rows.map((row) => [row[0], row[1], row[4], row[9], row[11], row[12]])).toEqual([
      ["ml", "yes", "-", "1", "0", "10"],
      ["berlin", "no", "-", "1", "0", "-"],
      ["tokyo", "no", "16", "0", "1", "-"],
    ]);
    await expectDialogue(["rome", "get tenants", 5, "An admin's certificate has the right"]);
  });

  test.each(["describe reservation", "get reservations", "explain", "wait --for=phase=Pending"])(
    "shows one with its place by %s",
    async (command) => {
      await expectDialogue(
        ["berlin", `${command} ${second}`, 0, /2 +of 2|position 2 of 2|^POSITION[^]*\n2 /u],
        ["paris", `${command} ${second}`, 1, `there is no reservation "${second}"`],
      );
      expect((await fleet.as("berlin", `${command} ${second.slice(0, -1)}`)).err).toContain(
        `did you mean ${second}?`,
      );
    },
  );

  test("explains what each cluster lacks", async () => {
    const lacks = [/position 2 of 2: no cluster that suits it has room/u, /paris +capacity +16 CPU/u];
    const room = "  paris has 0 of 16 CPU free";
    const later = new RegExp(`${room}, 16 CPU more in (59|60)m \\(\\S+Z\\) when ${held} ends\n`, "u");
    await expectDialogue(
      ["ops", `explain reservation/${second}`, 0, ...lacks, later],
      ["ops", `describe reservation ${second}`, 0, later],
      ["berlin", `explain ${second}`, 0, `Room:\n${room}\n`],
      ["berlin", `describe reservation ${second}`, 0, /Position: +2 of 2\n/u, /Waits until: +in \d+m/u],
      ["berlin", `replay ${second}`, 1, `nothing has been decided about ${second}: Waits for 16 CPU`],
    );
    expect(await fleet.data("berlin", `describe reservation ${second}`)).toMatchObject({
      waiting: { id: second, queue: { position: 2, of: 2 } },
      decision: { requesterID: "berlin" },
    });
  });

  test("is left by release, and then says why", async () => {
    const third = await waits("berlin");
    const line = `release ${third}`;
    expect(await fleet.data("berlin", line)).toMatchObject({ id: third, status: { phase: "Released" } });
    const left = /Left the queue: +\d+s ago[^]*/u;
    await expectDialogue(
      ["berlin", line, 0, `${third} waits no more: Released (ReleasedByRequester)`],
      ["berlin", `describe reservation ${third}`, 0, "Released (ReleasedByRequester)", left],
      ["berlin", `explain ${third}`, 0, left],
      ["berlin", `wait ${third} --for=phase=Active`, 6, "is Released (ReleasedByRequester)"],
    );
  });
});

describe("reserve --wait", () => {
  test("reserves at once what fits, and is refused without --wait", async () => {
    const id = await fleet.reserve("rome", `${LARGE} --wait 1h`);
    await expectDialogue(
      ["berlin", `reserve ${LARGE}`, 3, "paris"],
      ["berlin", `reserve ${LARGE} --no-follow`, 2, "--no-follow needs --wait"],
      ["berlin", `reserve ${LARGE} --wait soon`, 2, '--wait: "soon" is not a duration'],
      ["berlin", `reserve ${LARGE} --wait 1h -n A_B`, 2, "namespace"],
      ["berlin", `reserve ${LARGE} --wait 1h --priority high`, 2, '--priority: "high" must be'],
      ["berlin", `reserve ${LARGE} --wait 1h --priority 1000000001`, 2, "--priority"],
      ["berlin", `reserve ${LARGE} --wait 1h --resumes ""`, 2, "--resumes"],
      ["ops", `reserve ${LARGE} --wait 1h`, 2, "--for rome"],
      ["rome", `release ${id}`, 0],
    );
  });

  test("goes first with the higher priority", async () => {
    const held = await fleet.reserve("tokyo", LARGE);
    const [low, none, high] = [
      await waits("rome", `${LARGE} --priority=-5`),
      await waits("rome"),
      await waits("rome", `${LARGE} --priority 7`),
    ];
    const rows = cellsOf(await fleet.ok("ops", "get queue")).slice(1);
    expect(rows.map((cells) => [cells[1], cells[7]])).toEqual([
      [high, "7"],
      [none, "0"],
      [low, "-5"],
    ]);
    for (const id of [low, none, high, held]) await fleet.ok("ops", `release ${id}`);
  });

  test("says its place while it waits, and ends with the reservation", async () => {
    const held = await fleet.reserve("rome", LARGE);
    const before = await waits("tokyo");
    const world = passing(async (count) => {
      if (count === 2) await fleet.ok("tokyo", `release ${before}`);
      if (count === 4) await fleet.ok("rome", `release ${held}`);
    });
    const { code, out, err } = await fleet.asWith(world, "berlin", `reserve ${LARGE} --wait 1h`);
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(out).toMatch(/ paris .* Reserved /u);
    const lines = err.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^rsv-berlin-\S+ waits in the queue, until 20\S+Z at the latest$/u);
    expect(lines[1]).toMatch(/^Waits for 16 CPU \/ 32Gi Memory at position 2 of 2: /u);
    expect(lines[2]).toMatch(/^Waits for 16 CPU \/ 32Gi Memory at position 1 of 1: /u);
    await fleet.ok("berlin", `release ${out.split("\n")[1]?.split(" ")[0]}`);
  });

  test("asks less often the longer nothing happens", async () => {
    const held = await fleet.reserve("rome", LARGE);
    const pauses: number[] = [];
    const world = {
      pause: async (ms: number) => {
        pauses.push(ms);
        if (pauses.length === 9) await fleet.ok("rome", `release ${held}`);
      },
    };
    const { code, out } = await fleet.asWith(world, "berlin", `reserve ${LARGE} --wait 1h -o name`);
    expect(code).toBe(0);
    expect(pauses.slice(0, 3)).toEqual([1000, 1500, 2250]);
    expect(pauses[8]).toBe(10_000);
    await fleet.ok("berlin", `release ${out.trim()}`);
  });

  test("ends with 6 when somebody takes it out of the queue, and with what to do on Ctrl-C", async () => {
    const held = await fleet.reserve("rome", LARGE);
    let words = (): string => "";
    let isListening = false;
    const onInterrupt = (next: () => string) => {
      [words, isListening] = [next, true];
      return () => void (isListening = false);
    };
    const world = passing(async () => {
      expect(words()).toMatch(/keeps waiting in the queue\. .*brokerctl release rsv-berlin-\S+\n$/u);
      await fleet.ok("ops", `release ${await fleet.ok("berlin", "get queue -o name")}`);
    });
    const line = `reserve ${LARGE} --wait 1h -o json`;
    const { code, out, err } = await fleet.asWith({ ...world, onInterrupt }, "berlin", line);
    expect({ code, out, isListening }).toEqual({ code: 6, out: "", isListening: false });
    expect(err).toMatch(/left the queue without a reservation: Released \(ReleasedByAdmin\)\n$/u);
    await fleet.ok("rome", `release ${held}`);
  });

  test("with a key finds the request that waits, also without --wait", async () => {
    const held = await fleet.reserve("rome", LARGE);
    const id = await waits("berlin", `${LARGE} --key nightly`);
    await expectDialogue(
      ["berlin", `reserve ${LARGE} --key nightly`, 0, id, "A request with this key waits already"],
      ["berlin", "release --key nightly", 0, `${id} waits no more`],
      ["rome", `release ${held}`, 0],
    );
  });
});

describe("where the broker is another", () => {
  const answering = async (script: Parameters<typeof reply>) =>
    (
      await startFakeBroker({
        credentials: fleet.certificates.broker,
        whenDone: onTestFinished,
        script: reply(...script),
      })
    ).url;
  const OLD = { "Broker-Protocol": "2" };
  const NOT_FOUND = { error: "no such path", code: "not-found" };

  test.each(["get queue", "get tenants", "get requests --all-clusters"])(
    "and older, %s names the remedy",
    async (line) => {
      const url = await answering([404, NOT_FOUND, OLD]);
      const { code, err } = await fleet.as("ops", `${line} --broker ${url}`);
      expect(code).toBe(1);
      expect(err).toMatch(
        /is too old for requests that wait: it speaks protocol 2, and 3 is needed\. Upgrade/u,
      );
    },
  );

  test("and older, reserve --wait says why it was refused at once", async () => {
    const url = await answering([409, { error: "no cluster has room", code: "no-capacity" }, OLD]);
    const { err } = await fleet.as("rome", `reserve ${LARGE} --wait 1h --broker ${url}`);
    expect(err).toContain("Upgrade the broker. It answered: no cluster has room");
    expect((await fleet.as("rome", `reserve ${LARGE} --broker ${url}`)).code).toBe(3);
  });

  const WAITING = {
    id: "rsv-rome-k3u7dq2hvmx5b4ta",
    requesterID: "rome",
    tenant: "rome",
    requestedResources: { cpu: "16", memory: "32Gi" },
    status: { phase: "Pending", message: "Waits for 16 CPU" },
    createdAt: "2026-01-15T12:00:00Z",
    until: "2026-01-15T13:00:00Z",
    generation: 1,
    tier: "on-demand",
    priority: 0,
  };

  test("the wait that is over in vain ends with 3", async () => {
    const left = {
      ...WAITING,
      status: { phase: "Failed", message: "Failed (WaitTimeout): paris needs 2 more CPU" },
      reason: "WaitTimeout",
      since: "2026-01-15T11:00:00Z",
      endedAt: WAITING.until,
    };
    const { url } = await startFakeBroker({
      credentials: fleet.certificates.broker,
      whenDone: onTestFinished,
      script: (response, call) =>
        reply(call.method === "POST" ? 202 : 200, call.method === "POST" ? WAITING : left)(response, call),
    });
    const { code, err } = await fleet.as("rome", `reserve ${LARGE} --wait 1h --broker ${url}`);
    expect(code).toBe(3);
    expect(err).toMatch(/: Failed \(WaitTimeout\): paris needs 2 more CPU\n$/u);
    const { out } = await fleet.as("rome", `describe reservation ${WAITING.id} --broker ${url}`);
    expect(out).toMatch(/Waits since: +\S+ ago \(2026-01-15T11:00:00Z\)\n/u);
  });

  test("a broker that is away for a while is asked again; then it is said that the request still waits", async () => {
    let answers = 0;
    const { url } = await startFakeBroker({
      credentials: fleet.certificates.broker,
      whenDone: onTestFinished,
      script: (response, call) => {
        if (call.url.startsWith(PATH.reservations) && call.method === "POST")
          return reply(202, WAITING)(response, call);
        return ++answers === 2
          ? reply(200, WAITING)(response, call)
          : reply(503, { error: "the disk is full", code: "store-unavailable" })(response, call);
      },
    });
    const { code, err } = await fleet.asWith(passing(), "rome", `reserve ${LARGE} --wait 1h --broker ${url}`);
    expect(code).toBe(1);
    const said = err.split("\n").map((line) => line.split(":")[0]);
    expect(said.slice(1, 4)).toEqual([
      "The broker cannot answer now; it is asked again",
      "Waits for 16 CPU",
      "The broker cannot answer now; it is asked again",
    ]);
    expect(err).toContain(`To give it up: brokerctl release ${WAITING.id}\nbrokerctl: the disk is full`);
    expect(answers).toBeGreaterThan(20);
  });
});

describe("drain", () => {
  test("cordons, says what is left and who holds it, and ends when nothing is", async () => {
    const one = await fleet.reserve("rome", "--cpu 1 --memory 1Gi --target tokyo --duration 1h");
    const other = await fleet.reserve("berlin", "--cpu 1 --memory 1Gi --target tokyo");
    const world = passing(async (count) => {
      if (count === 2) await fleet.ok("rome", `release ${one}`);
      if (count === 4) await fleet.ok("berlin", `release ${other}`);
    });
    const line = "drain tokyo --reason disks --no-notice -o json";
    const { code, out, err } = await fleet.asWith(world, "ops", line);
    expect({ code, data: JSON.parse(out) as unknown }).toEqual({
      code: 0,
      data: { clusterID: "tokyo", cordoned: true, drained: true, reservations: [] },
    });
    const [cordoned, two, last] = err.split("\n");
    expect(cordoned).toMatch(/^tokyo is cordoned: .*Nothing is ended by force/u);
    expect(two).toContain("tokyo still lends 2: ");
    expect(two).toMatch(new RegExp(`${one} to rome \\(ends in (59|60)m\\)`, "u"));
    expect(last).toBe(`tokyo still lends 1: ${other} to berlin (until it is released)`);
    await expectDialogue(
      ["rome", "reserve --cpu 1 --memory 1Gi --target tokyo", 3, "tokyo: is cordoned: disks"],
      ["ops", "drain tokyo", 0, /Lends: +nothing; it stays cordoned/u],
      ["ops", "uncordon tokyo", 0],
    );
  });

  test("gives notice, names those that get none, and says when the others end", async () => {
    const body = advertisementBody("rome", { cpu: 1, memoryGi: 4 });
    const headers = { [HEADER.agentProtocol]: "2" };
    await fleet.broker.clientFor("rome").request("POST", PATH.advertisements, { body, headers });
    const told = await fleet.reserve("berlin", "--cpu 1 --memory 1Gi --target tokyo");
    const untold = await fleet.reserve("rome", "--cpu 1 --memory 1Gi --target tokyo");
    const noticed = [
      [
        "berlin",
        `describe reservation ${told}`,
        0,
        /Under notice: +ends in (29|30)m .*: tokyo is drained\n/u,
      ],
      ["berlin", `get reservations ${told}`, 0, /in (29|30)m \(notice\)/u],
      ["rome", `describe reservation ${untold}`, 0, /^((?!notice)[^])*$/u],
    ] as const;
    const world = passing(async (count) => {
      if (count === 1) await expectDialogue(...noticed);
      if (count === 2) await fleet.ok("berlin", `release ${told}`);
      if (count === 4) await fleet.ok("rome", `release ${untold}`);
    });
    const words: string[] = [];
    const onInterrupt = (next: () => string) => {
      words.push(next());
      return () => void words.pop();
    };
    let onCtrlC = "";
    const pause = (ms: number) => {
      onCtrlC = words.join("");
      return world.pause(ms);
    };
    const { code, err } = await fleet.asWith(
      { ...world, pause, onInterrupt },
      "ops",
      "drain tokyo --grace 30m",
    );
    expect({ code, words }).toEqual({ code: 0, words: [] });
    expect(onCtrlC).toMatch(/tokyo stays cordoned, and notices stand\..*brokerctl uncordon tokyo/u);
    const [cordoned, two] = err.split("\n");
    expect(cordoned).toMatch(
      /^tokyo is cordoned: it lends nothing new\. Under notice: 1 of 2 reservations\. /u,
    );
    expect(cordoned).toContain(`know of no notices: ${untold}.`);
    expect(two).toMatch(new RegExp(`${told} to berlin \\(notice: ends in (29|30)m\\)`, "u"));
    expect(two).toContain(`${untold} to rome (until it is released)`);
    await expectDialogue(
      ["ops", "drain tokyo --grace 5m --no-notice", 2, "does not go with --no-notice"],
      ["ops", "drain tokyo --grace 200h", 1, "at most 7 days"],
      ["ops", "uncordon tokyo", 0],
    );
  });

  test("goes on when the broker was away for a moment", async () => {
    let lists = 0;
    const { url } = await startFakeBroker({
      credentials: fleet.certificates.broker,
      whenDone: onTestFinished,
      script: (response, call) => {
        if (call.method === "POST")
          return reply(200, { clusterID: "tokyo", cordoned: true, noticed: [], untold: [] })(response, call);
        return ++lists === 1
          ? reply(503, { error: "broker-2 leads", code: "not-leader" })(response, call)
          : reply(200, [])(response, call);
      },
    });
    const { code, err } = await fleet.asWith(passing(), "ops", `drain tokyo --broker ${url}`);
    expect(code).toBe(0);
    expect(err).toContain("The broker cannot answer now; it is asked again: broker-2 leads");
  });

  test("gives up after the timeout with status 4, and prints what is left", async () => {
    const id = await fleet.reserve("rome", "--cpu 1 --memory 1Gi --target tokyo");
    const { code, out, err } = await fleet.asWith(passing(), "ops", "drain tokyo --timeout 5s");
    expect({ code, isLeft: out.includes(id) }).toEqual({ code: 4, isLeft: true });
    expect(err).toMatch(/tokyo still lends 1 after the timeout, and stays cordoned\./u);
    await expectDialogue(
      ["ops", "uncordon tokyo", 0],
      ["rome", `release ${id}`, 0],
      ["ops", "drain tokio", 1, "did you mean tokyo?"],
      ["rome", "drain paris", 5, "An admin's certificate has the right"],
    );
  });
});
