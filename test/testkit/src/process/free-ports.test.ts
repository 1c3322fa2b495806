import { once } from "node:events";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { freePorts } from "./free-ports.ts";

test("ports are all different, also those that were given before and are not in use yet", async () => {
  const given = [...(await freePorts(20)), ...(await freePorts(20))];
  expect(new Set(given).size).toBe(40);
});

test("a port can be listened on by whoever it is for", async () => {
  const [port = 0] = await freePorts(1);
  const server = createServer().listen(port, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  expect(server.address()).toMatchObject({ port });
});

test.skipIf(process.platform !== "linux")("a port that another process was given is left alone", async () => {
  const [port = 0] = await freePorts(1);
  const other = createServer().listen(`\0resource-broker-port-${port}`);
  const [error] = (await once(other, "error")) as [Error];
  expect(error).toMatchObject({ code: "EADDRINUSE" });
});
