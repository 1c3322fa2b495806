import { describe, expect, test } from "vitest";
import {
  CERT_PATH_MISSING,
  RIGHT,
  read,
  readWrong,
  settingsOf,
  type Wrong,
} from "./testing/read-settings.ts";

describe("the agent's settings", () => {
  test.each([
    { name: "the kubeconfig of the broker's cluster alone", argv: ["--broker-kubeconfig=/hub"] },
    {
      name: "the flag, whatever else is there",
      argv: ["--broker-transport=kubernetes", "--broker-kubeconfig=/hub", ...RIGHT],
    },
  ])("take the kubernetes transport from $name", async ({ argv }) => {
    expect(await read([...argv, "--broker-namespace=hub"])).toMatchObject({
      settings: {
        "broker-transport": "kubernetes",
        "broker-kubeconfig": "/hub",
        "broker-namespace": "hub",
      },
    });
  });

  test("need nothing else where there is no broker", async () => {
    expect(await read(["--broker-transport=none"])).toMatchObject({
      settings: { "broker-transport": "none", "broker-url": [], "broker-cert-path": "" },
    });
  });

  test.each([
    {
      transport: "none",
      argv: [...RIGHT, "--broker-transport=none", "--broker-kubeconfig=/hub"],
      idle: "--broker-url, --broker-cert-path, --broker-kubeconfig",
    },
    {
      transport: "kubernetes",
      argv: [...RIGHT, "--broker-transport=kubernetes", "--broker-kubeconfig=/hub"],
      idle: "--broker-url, --broker-cert-path",
    },
    {
      transport: "http",
      argv: [...RIGHT, "--broker-transport=http", "--broker-kubeconfig=/hub"],
      idle: "--broker-kubeconfig",
    },
  ])("warn of what has no effect with the transport $transport", async ({ transport, argv, idle }) => {
    expect(await read(argv)).toMatchObject({
      warnings: [`${idle}: without effect, because the broker transport is ${transport}`],
    });
  });

  test.each([{ argv: RIGHT }, { argv: ["--broker-kubeconfig=/hub"] }, { argv: ["--broker-transport=none"] }])(
    "warn of nothing where all has effect: $argv",
    async ({ argv }) => {
      expect(await read(argv)).toMatchObject({ warnings: [] });
    },
  );

  test("keep http where the flag says so, beside a kubeconfig", async () => {
    const argv = ["--broker-transport=http", "--broker-kubeconfig=/hub"];
    expect(await settingsOf(argv)).toMatchObject({ "broker-transport": "http" });
  });
});

const URL_HINT = "write for example https://broker.example:8443, several with commas between them";

const WRONG: readonly Wrong[] = [
  {
    name: "an unknown transport",
    argv: ["--broker-transport=ftp"],
    line: '--broker-transport: "ftp" is not one of http, kubernetes, none',
  },
  {
    name: "the kubernetes transport without a kubeconfig",
    alone: true,
    argv: ["--broker-transport=kubernetes"],
    line: "--broker-kubeconfig is missing: name the kubeconfig of the broker's cluster; brokerctl kubeconfig issue <cluster-id> writes one",
  },
  {
    name: "two ways to the broker",
    argv: ["--broker-kubeconfig=/x"],
    line: "--broker-url and --broker-kubeconfig both name the broker: leave one out, or choose with --broker-transport",
  },
  {
    name: "no broker",
    alone: true,
    argv: ["--broker-cert-path=/certs"],
    line: "--broker-url is missing: give the broker's address, for example https://broker.example:8443",
  },
  {
    name: "no certificates",
    alone: true,
    argv: ["--broker-url=https://broker.example:8443"],
    line: CERT_PATH_MISSING,
  },
  {
    name: "a broker without TLS",
    argv: ["--broker-url=http://broker:8443"],
    line: `--broker-url "http://broker:8443": it must begin with https://; ${URL_HINT}`,
  },
  {
    name: "a broker that is no URL",
    argv: ["--broker-url=broker"],
    line: `--broker-url "broker": it is not a URL; ${URL_HINT}`,
  },
  {
    name: "a broker with a path",
    argv: ["--broker-url=https://broker/api/v1"],
    line: `--broker-url "https://broker/api/v1": it must end after the port, the agent adds the rest; ${URL_HINT}`,
  },
  {
    name: "a broker with a password",
    argv: ["--broker-url=https://me:secret@broker"],
    line: `--broker-url "https://broker": the broker accepts certificates, not passwords; ${URL_HINT}`,
  },
  {
    name: "a second broker that is wrong",
    argv: ["--broker-url=https://a:8443,b"],
    line: `--broker-url "b": it is not a URL; ${URL_HINT}`,
  },
];

describe("wrong settings are one line with the remedy", () => {
  test.each(WRONG)("$name", async (wrong) => {
    expect(await readWrong(wrong)).toEqual({ ok: false, problems: [wrong.line] });
  });
});
