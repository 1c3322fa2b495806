import { formatToken, JOIN_SECRET } from "@resource-broker/contract";
import { expect, test } from "vitest";
import { removeToken } from "./join-secret.ts";
import { namedSecret } from "./named-secret.ts";

const name = { name: "resource-broker-join", namespace: "rear-agent" };
const token = { id: "k3u7dq2hvm", secret: "s".repeat(43) };
const text = formatToken(token);
const COPY = "kubectl.kubernetes.io/last-applied-configuration";

/** As `brokerctl invite rome | kubectl apply -f -` leaves it. */
function applied() {
  const manifest = { apiVersion: "v1", kind: "Secret", stringData: { [JOIN_SECRET.token]: text } };
  let stored = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { ...name, annotations: { [COPY]: JSON.stringify(manifest), team: "fleet" } },
    data: {
      [JOIN_SECRET.token]: Buffer.from(text).toString("base64"),
      [JOIN_SECRET.clusterId]: Buffer.from("rome").toString("base64"),
    },
  };
  const client = {
    find: () => Promise.resolve(stored as never),
    update: (_: unknown, object: unknown) => {
      stored = object as typeof stored;
      return Promise.resolve(object as never);
    },
  };
  return { secret: namedSecret(name, client), stored: () => stored };
}

test("nothing of a used token stays in the Secret, nor in the copy that kubectl keeps of it", async () => {
  const { secret, stored } = applied();
  await removeToken(secret, token.id);
  expect(JSON.stringify(stored())).not.toContain(token.secret);
  expect(stored().metadata).toEqual({ ...name, annotations: { team: "fleet" } });
  expect(await secret.find()).toEqual({ [JOIN_SECRET.clusterId]: "rome" });
});

test("another token, which came meanwhile, stays", async () => {
  const { secret, stored } = applied();
  const before = stored();
  await removeToken(secret, "p9x2mm4tqa");
  expect(stored()).toBe(before);
});
