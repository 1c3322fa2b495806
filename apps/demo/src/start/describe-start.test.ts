import { once } from "node:events";
import { createServer } from "node:net";
import { Fault } from "@resource-broker/base";
import { expect, onTestFinished, test } from "vitest";
import { describeStart } from "./describe-start.ts";
import { checkPort } from "./preconditions.ts";

const systemError = (code: string) => Object.assign(new Error(`${code}: write`), { code });

test.each([
  { name: "the system", error: systemError("ENOSPC") },
  {
    name: "SQLite, in the broker's log",
    error: new Error("the broker is not ready after 20000 ms:\nledger.db: the disk is full; free some"),
  },
  { name: "Node, in an agent's log", error: new Error("Error: ENOSPC: no space left on device") },
])("a full disk is reported with the remedy when $name says so", ({ error }) => {
  expect(describeStart(error, "/kept")).toMatchObject({
    message:
      "the disk with /kept is full: free some space there, or name a folder on another disk with --keep",
    cause: error,
  });
});

test.each([
  { code: "EACCES", says: "/kept may not be written by this account; name another folder with --keep" },
  { code: "EROFS", says: "/kept is on a disk that cannot be written; name another folder with --keep" },
  {
    code: "ENOTDIR",
    says: "/kept cannot be made: a part of its path is a file; name another folder with --keep",
  },
  { code: "EEXIST", says: "/kept is a file, not a folder; name another folder with --keep" },
])("$code is reported with the remedy", ({ code, says }) => {
  expect(describeStart(systemError(code), "/kept")).toMatchObject({ code: "invalid", message: says });
});

test("anything else is reported as it is", () => {
  const errors = [new Error("torn"), new Fault("conflict", "in use")];
  expect(errors.map((error) => describeStart(error, "/kept"))).toEqual(errors);
});

test("a busy port is reported with its flag, a free one is fine", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  await expect(checkPort(port)).rejects.toMatchObject({
    code: "conflict",
    message: `--port: another process listens on 127.0.0.1:${port}; stop it, choose another port, or leave --port out`,
  });
  server.close();
  await once(server, "close");
  await expect(checkPort(port)).resolves.toBeUndefined();
});
