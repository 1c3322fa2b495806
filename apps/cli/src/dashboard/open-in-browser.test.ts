import { expect, test } from "vitest";
import { openerOn, openInBrowser } from "./open-in-browser.ts";

const NODE = process.execPath;
const URL = "http://127.0.0.1:8090/#token=abc";
const never = new Promise<never>(() => undefined);

test.each([
  {
    name: "takes it",
    opener: [NODE, "--eval", "process.exit(process.argv[1].includes('#token=') ? 0 : 2)"],
    isTaken: true,
  },
  { name: "finds no browser", opener: [NODE, "--eval", "process.exit(3)"], isTaken: false },
  { name: "is not there", opener: ["/no/such/program"], isTaken: false },
] as const)("a program that $name", async ({ opener, isTaken }) => {
  expect(await openInBrowser(URL, opener, never)).toBe(isTaken);
});

test("a program that stays with its browser is not waited for", async () => {
  const stays = [NODE, "--eval", "setTimeout(() => undefined, 3000)"] as const;
  expect(await openInBrowser(URL, stays, Promise.resolve())).toBe(true);
});

test.each([
  { platform: "darwin", program: "open" },
  { platform: "win32", program: "rundll32.exe" },
  { platform: "linux", program: "xdg-open" },
  { platform: "freebsd", program: "xdg-open" },
])("on $platform it is $program", ({ platform, program }) => {
  expect(openerOn(platform)[0]).toBe(program);
});
