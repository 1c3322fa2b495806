import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../testing/cli.ts";
import { openerOn, openInBrowser } from "./open-in-browser.ts";

const NODE = process.execPath;
/** An address cannot leave its place in the page. */
const URL = 'http://127.0.0.1:8090/#token=abc"><script>&';
const never = new Promise<never>(() => undefined);

/** A program that looks at what it was called with, and leaves what it saw in a file. */
const LOOK = `
  const fs = require("node:fs"), { dirname } = require("node:path");
  const [, out, address] = process.argv;
  const page = new URL(address);
  const mode = (path) => (fs.statSync(path).mode & 0o777).toString(8);
  const modes = [mode(page), mode(dirname(page.pathname))];
  fs.writeFileSync(out, JSON.stringify({ address, modes, text: fs.readFileSync(page, "utf8") }));
`;

test("a browser is called with a page that only this person can read, never with the token; then the page goes", async () => {
  const [home, notes] = [await temporaryFolder(onTestFinished), await temporaryFolder(onTestFinished)];
  const out = join(notes, "seen.json");
  let wasThere = false;
  const untilRead = async () => {
    wasThere = readdirSync(home).length === 1;
  };
  const options = { folders: [home], startTimeout: never, untilRead };
  expect(await openInBrowser(URL, [NODE, "--eval", LOOK, out], options)).toBe(true);
  const seen = JSON.parse(readFileSync(out, "utf8")) as { address: string; modes: string[]; text: string };
  expect(seen.address).toMatch(/^file:\/\/.*\/dashboard\.html$/);
  expect(seen.address).not.toContain("abc");
  expect(seen.modes).toEqual(["600", "700"]);
  const escaped = "http://127.0.0.1:8090/#token=abc&quot;>&lt;script>&amp;";
  for (const place of [`content="0; url=${escaped}"`, `href="${escaped}"`])
    expect(seen.text).toContain(place);
  expect(wasThere).toBe(true);
  expect(readdirSync(home)).toEqual([]);
});

test.each([
  { name: "finds no browser", opener: [NODE, "--eval", "process.exit(3)"] },
  { name: "is not there", opener: ["/no/such/program"] },
] as const)("a program that $name leaves nothing behind, and nobody waits for it", async ({ opener }) => {
  const home = await temporaryFolder(onTestFinished);
  const options = { folders: [home], startTimeout: never, untilRead: () => never };
  expect(await openInBrowser(URL, opener, options)).toBe(false);
  expect(readdirSync(home)).toEqual([]);
});

test("a program that stays with its browser is not waited for", async () => {
  const folders = [await temporaryFolder(onTestFinished)];
  const stays = [NODE, "--eval", "setTimeout(() => undefined, 3000)"] as const;
  const options = { folders, startTimeout: Promise.resolve(), untilRead: () => Promise.resolve() };
  expect(await openInBrowser(URL, stays, options)).toBe(true);
});

test("where one folder cannot be written the next one is used, and without any no browser is called", async () => {
  const folders = ["/no/such/folder", await temporaryFolder(onTestFinished)];
  const called = [NODE, "--eval", ""] as const;
  const options = { startTimeout: never, untilRead: () => Promise.resolve() };
  expect(await openInBrowser(URL, called, { ...options, folders })).toBe(true);
  expect(await openInBrowser(URL, called, { ...options, folders: ["/no/such/folder"] })).toBe(false);
});

test.each([
  { platform: "darwin", program: "open" },
  { platform: "win32", program: "rundll32.exe" },
  { platform: "linux", program: "xdg-open" },
  { platform: "freebsd", program: "xdg-open" },
])("on $platform it is $program", ({ platform, program }) => {
  expect(openerOn(platform)[0]).toBe(program);
});
