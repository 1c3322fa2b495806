import { HEADER, PATH } from "@resource-broker/contract";
import { CURRENT, reply, startFakeBroker, testCertificates } from "@resource-broker/testkit";
import { expect, onTestFinished, test } from "vitest";
import { clientOf } from "./testing/client-of.ts";

const certificates = await testCertificates();
const [ROME, LATER] = [certificates.cluster("rome"), certificates.cluster("rome")];
const JWS = `aGVhZA.Ym9keQ.${"s".repeat(86)}`;

async function connect(agentIdentity?: Parameters<typeof clientOf>[0]["agentIdentity"]) {
  const broker = await startFakeBroker({ credentials: certificates.broker, whenDone: onTestFinished });
  const { client, rotate } = await clientOf({
    brokerUrls: [broker.url],
    credentials: ROME,
    ...(agentIdentity === undefined ? {} : { agentIdentity }),
  });
  onTestFinished(client.close);
  return { broker, client, rotate };
}

test("every call and stream carries the identity that belongs to its certificate", async () => {
  const { broker, client, rotate } = await connect(({ own }) => `key.${own.serialNumber}`);
  await client.listInstructions();
  rotate(LATER);
  broker.script((response) =>
    response.writeHead(200, { ...CURRENT, "Content-Type": "text/event-stream" }).end(),
  );
  for await (const event of client.watch(new AbortController().signal)) expect(event).toBeUndefined();
  const sent = broker.received
    .filter(({ url }) => url !== PATH.health)
    .map(({ headers }) => headers[HEADER.agentIdentity.toLowerCase()]);
  expect(sent).toEqual([ROME, LATER].map(({ serial }) => `key.${serial}`));
});

test("without an identity the header is left out", async () => {
  const { broker, client } = await connect();
  await client.listInstructions();
  expect(broker.received.some(({ headers }) => HEADER.agentIdentity.toLowerCase() in headers)).toBe(false);
});

test("statements are put, listed and pushed", async () => {
  const { broker, client } = await connect();
  broker.script((response) => response.writeHead(204, CURRENT).end());
  await client.putStatement("paris", JWS);
  expect(broker.received.at(-1)).toMatchObject({
    method: "PUT",
    url: PATH.statement("paris"),
    body: JSON.stringify({ statement: JWS }),
  });
  broker.script(reply(200, [{ from: "paris", statement: JWS }]));
  expect(await client.listStatements()).toEqual([{ from: "paris", statement: JWS }]);
  const lines = [
    { from: "paris", statement: JWS },
    { from: "paris", statement: "no JWS" },
  ].map((data) => `event: statement\ndata: ${JSON.stringify(data)}\n\n`);
  broker.script((response) =>
    response.writeHead(200, { ...CURRENT, "Content-Type": "text/event-stream" }).end(lines.join("")),
  );
  const events = [];
  for await (const event of client.watch(new AbortController().signal)) events.push(event);
  expect(events).toEqual([{ kind: "statement", from: "paris", statement: JWS }]);
});
