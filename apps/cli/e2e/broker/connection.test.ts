import { HEADER } from "@resource-broker/contract";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { NOWHERE, startFakeServer, startPlainServer } from "./testing/fake-server.ts";
import { type Fleet, startFleet } from "./testing/fleet.ts";

const cleanUps: (() => Promise<void>)[] = [];
let fleet: Fleet;

beforeAll(async () => {
  fleet = await startFleet((cleanUp) => cleanUps.unshift(cleanUp));
});
afterAll(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
});

describe("exit status and words", () => {
  const rows: readonly (readonly [code: number, name: string, who: string, command: string, says: string])[] =
    [
      [0, "all is well", "ops", "get clusters", ""],
      [1, "nobody listens", "ops", `get clusters --broker ${NOWHERE}`, `${NOWHERE}: connection refused`],
      [1, "the cluster is unknown", "ops", "get clusters oslo", 'no cluster "oslo"'],
      [
        2,
        "the address is none",
        "ops",
        "get clusters --broker localhost:8443",
        "it must begin with https://",
      ],
      [
        2,
        "the address has a path",
        "ops",
        "get clusters --broker https://x/api",
        "it must end after the port",
      ],
      [2, "the context is unknown", "ops", "get clusters --context eu", 'no context "eu"'],
      [3, "nobody can lend that", "rome", "reserve --cpu 99 --memory 1Gi", "needs 83 more CPU"],
    ];
  test.each(rows)("%i when %s", async (code, _, who, command, says) => {
    const { code: ended, out, err } = await fleet.as(who, ...command.split(" "));
    expect({ ended, hasData: out !== "" }).toEqual({ ended: code, hasData: code === 0 });
    expect(err).toContain(says);
  });

  test("4 when no answer comes", async () => {
    const url = await startFakeServer(fleet.certificates.broker, () => undefined, onTestFinished);
    const late = ["get", "clusters", "--broker", url, "--request-timeout", "50ms"];
    expect(await fleet.as("ops", ...late)).toMatchObject({
      code: 4,
      err: `brokerctl: ${url} gave no answer within 0.05 s; --request-timeout allows more\n`,
    });
  });

  test("1 when what listens is no broker", async () => {
    const page = await startFakeServer(
      fleet.certificates.broker,
      (_, response) => response.end("<html>"),
      onTestFinished,
    );
    expect(await fleet.as("ops", "get", "clusters", "--broker", page)).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        `${page} answers, but not as a broker of this release does (200 "<html>")`,
      ),
    });
    const plain = await startPlainServer(onTestFinished);
    expect(await fleet.as("ops", "get", "clusters", "--broker", plain)).toMatchObject({
      code: 1,
      err: expect.stringContaining("does not use TLS; check the port"),
    });
  });

  test("1 when a broker's answer cannot be understood", async () => {
    const url = await startFakeServer(
      fleet.certificates.broker,
      (_, response) => response.setHeader(HEADER.brokerProtocol, "2").end('{"items": 3}'),
      onTestFinished,
    );
    const { code, err } = await fleet.as("ops", "get", "clusters", "--broker", url);
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining("the answer is invalid: items"),
    });
  });
});

describe("several replicas", () => {
  const onceMore = (urls: readonly string[]) =>
    fleet.as("ops", "get", "clusters", "-o", "name", "--broker", urls.join(","));

  test("are asked until one serves", async () => {
    const body = JSON.stringify({ error: "broker-2 leads", code: "not-leader" });
    const standby = await startFakeServer(
      fleet.certificates.broker,
      (_, response) => response.writeHead(503, { [HEADER.brokerProtocol]: "2" }).end(body),
      onTestFinished,
    );
    expect(await onceMore([NOWHERE, standby, fleet.url])).toMatchObject({ code: 0, err: "" });
    const none = await onceMore([NOWHERE, standby]);
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining("broker-2 leads") });
  });

  test("are not asked in turn about a refusal", async () => {
    const { code } = await fleet.as("rome", "get", "clusters", "--broker", `${fleet.url},${NOWHERE}`);
    expect(code).toBe(5);
  });
});
