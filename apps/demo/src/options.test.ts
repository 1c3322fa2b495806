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

test.each([
  { name: "nothing", argv: [], options: NOTHING },
  {
    name: "a large fleet",
    argv: ["--clusters", "20", "--nodes=50"],
    options: { ...NOTHING, clusters: 20, nodes: 50 },
  },
  { name: "a folder", argv: ["--keep=here"], options: { ...NOTHING, keep: "here" } },
  { name: "no dashboard", argv: ["--no-dashboard"], options: { ...NOTHING, "no-dashboard": true } },
  { name: "a folder by its old name", argv: ["--dir=here"], options: { ...NOTHING, keep: "here" } },
  {
    name: "a database",
    argv: ["--store=postgres://me:secret@db/broker"],
    options: { ...NOTHING, store: "postgres://me:secret@db/broker" },
  },
  {
    name: "the broker's own cluster",
    argv: ["--interface=kubernetes"],
    options: { ...NOTHING, interface: "kubernetes" },
  },
])("$name can be asked for", ({ argv, options }) => {
  expect(readOptions(argv)).toEqual({ ok: true, options });
});

test.each([
  {
    name: "one cluster alone",
    argv: ["--clusters=1"],
    says: '--clusters: "1" is not a whole number from 2 to 56',
  },
  {
    name: "a port there is not",
    argv: ["--port=70000"],
    says: '--port: "70000" is not a whole number from 1 to 65535',
  },
  {
    name: "an unknown interface",
    argv: ["--interface=grpc"],
    says: '--interface: "grpc" is not one of http, kubernetes',
  },
  {
    name: "an unknown store",
    argv: ["--store=mysql://u:secret@h/d"],
    says: "--store: write sqlite, or postgres://user@host:5432/database",
  },
  {
    name: "both names of a flag",
    argv: ["--dir=a", "--keep=b"],
    says: "--dir is the old name of --keep: give only --keep",
  },
  { name: "a typo", argv: ["--cluster=3"], says: 'unknown argument "cluster": did you mean --clusters?' },
])("$name is refused with the remedy", ({ argv, says }) => {
  expect(readOptions(argv)).toEqual({ ok: false, problems: [says] });
});

test("the help names every flag and fits a usual terminal's width twice over", () => {
  for (const flag of Object.keys(NOTHING)) expect(HELP).toContain(`--${flag}`);
  expect(HELP.split("\n").filter((line) => line.length > 120)).toEqual([]);
});
