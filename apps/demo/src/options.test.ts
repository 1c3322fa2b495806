import { expect, test } from "vitest";
import { HELP, readOptions } from "./options.ts";

const NOTHING = {
  clusters: 0,
  nodes: 0,
  store: "sqlite",
  interface: "http",
  keep: "",
  port: 0,
  "no-dashboard": false,
  json: false,
  help: false,
};

const DATABASE = "postgres://me:secret@db/broker";

test.each([
  { argv: [], options: {} },
  { argv: ["--clusters", "20", "--nodes=50"], options: { clusters: 20, nodes: 50 } },
  { argv: ["--keep=here"], options: { keep: "here" } },
  { argv: ["--no-dashboard"], options: { "no-dashboard": true } },
  { argv: ["--dir=here"], options: { keep: "here" } },
  { argv: [`--store=${DATABASE}`], options: { store: DATABASE } },
  { argv: ["--interface=kubernetes"], options: { interface: "kubernetes" } },
])("$argv can be asked for", ({ argv, options }) => {
  expect(readOptions(argv)).toEqual({ ok: true, options: { ...NOTHING, ...options } });
});

test.each([
  { argv: ["--clusters=1"], says: '--clusters: "1" is not a whole number from 2 to 56' },
  { argv: ["--port=70000"], says: '--port: "70000" is not a whole number from 1 to 65535' },
  { argv: ["--interface=grpc"], says: '--interface: "grpc" is not one of http, kubernetes' },
  {
    argv: ["--store=mysql://u:secret@h/d"],
    says: "--store: write sqlite, or postgres://user@host:5432/database",
  },
  { argv: ["--dir=a", "--keep=b"], says: "--dir is the old name of --keep: give only --keep" },
  { argv: ["--cluster=3"], says: 'unknown argument "cluster": did you mean --clusters?' },
])("$argv is refused with the remedy", ({ argv, says }) => {
  expect(readOptions(argv)).toEqual({ ok: false, problems: [says] });
});

test("the help names every flag and fits a usual terminal's width twice over", () => {
  for (const flag of Object.keys(NOTHING)) expect(HELP).toContain(`--${flag}`);
  expect(HELP.split("\n").filter((line) => line.length > 120)).toEqual([]);
});
