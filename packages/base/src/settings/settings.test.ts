import { describe, expect, test } from "vitest";
import { helpText, parseSettings } from "./parse-settings.ts";
import { choice, duration, integer, list, text, toggle } from "./settings.ts";

const TABLE = {
  "http-port": integer({ description: "Port.", defaultValue: 8443, minimum: 0, maximum: 65_535 }),
  "leader-elect": toggle({ description: "Elect a leader.", defaultValue: false }),
  interval: duration({ description: "How often.", defaultText: "30s" }),
  store: text({ description: "Where.", defaultValue: "sqlite:/var/lib/broker" }),
  format: choice({ description: "Log format.", defaultValue: "json", choices: ["json", "pretty"] }),
  interfaces: list({ description: "Which.", defaultValue: ["http"] }),
};

function parse(argv: readonly string[], env: Record<string, string> = {}, file?: Record<string, unknown>) {
  const ignored = ["zap-*", "enable-http2"];
  const sources = { argv, env, envPrefix: "BROKER_", ignored, ...(file === undefined ? {} : { file }) };
  return parseSettings(TABLE, sources);
}

describe("settings", () => {
  test("have defaults", () => {
    expect(parse([])).toEqual({
      ok: true,
      warnings: [],
      values: {
        "http-port": 8443,
        "leader-elect": false,
        interval: 30_000,
        store: "sqlite:/var/lib/broker",
        format: "json",
        interfaces: ["http"],
      },
    });
  });

  const FILE = { "http-port": 3 };
  test.each([
    ["a flag wins over all", ["--http-port=1"], "2", FILE, 1],
    ["the environment wins over the file", [], "2", FILE, 2],
    ["the file wins over the default", [], undefined, FILE, 3],
    ["a variable that Kubernetes made for a Service counts as unset", [], "tcp://10.0.0.1:8443", FILE, 3],
    ["an empty variable counts as unset", [], "", FILE, 3],
    ["the last flag wins", ["--http-port=1", "--http-port", "4"], undefined, {}, 4],
  ])("%s", (_, argv, variable, file, port) => {
    const env = variable === undefined ? {} : { BROKER_HTTP_PORT: variable };
    expect(parse(argv, env, file)).toMatchObject({ ok: true, values: { "http-port": port } });
  });

  const written = [
    { argv: ["--leader-elect"], values: { "leader-elect": true } },
    { argv: ["--leader-elect=false"], values: { "leader-elect": false } },
    { argv: ["-http-port", "9"], values: { "http-port": 9 } },
    { argv: ["--interval=1m30s"], values: { interval: 90_000 } },
    { argv: ["--interfaces=http, kubernetes"], values: { interfaces: ["http", "kubernetes"] } },
    { argv: ["--store=postgres://x?a=b"], values: { store: "postgres://x?a=b" } },
  ];
  test.each(written)("are read from $argv", ({ argv, values }) => {
    expect(parse(argv)).toMatchObject({ ok: true, values });
  });

  const wrong = [
    { argv: ["--htp-port=1"], problem: 'unknown argument "htp-port": did you mean --http-port?' },
    { argv: ["--prt=1"], problem: 'unknown argument "prt": did you mean --http-port?' },
    { argv: ["--port", "1"], problem: 'unknown argument "port": did you mean --http-port?' },
    { argv: ["--quux"], problem: 'unknown argument "quux": see --help' },
    { argv: ["serve"], problem: 'unknown argument "serve"' },
    { argv: ["--http-port"], problem: "--http-port needs a value: --http-port=N" },
    { argv: ["--http-port=70000"], problem: '--http-port: "70000" is not a whole number from 0 to 65535' },
    { argv: ["--http-port=-1"], problem: '--http-port: "-1" is not a whole number from 0 to 65535' },
    { argv: ["--leader-elect=maybe"], problem: '--leader-elect: "maybe" is neither true nor false' },
    { argv: ["--format=xml"], problem: '--format: "xml" is not one of json, pretty' },
    { argv: ["--interval=5 minutes"], problem: "--interval: " },
    { argv: ["--constructor"], problem: 'unknown argument "constructor"' },
  ];
  test.each(wrong)("refuse $argv", ({ argv, problem }) => {
    const result = parse(argv);
    expect(result.ok ? [] : result.problems).toEqual([expect.stringContaining(problem)]);
  });

  test("refuse unknown names and wrong values in the file, saying where", () => {
    expect(parse([], {}, { "http-prot": 1, interval: "soon" })).toMatchObject({
      ok: false,
      problems: [
        "unknown setting http-prot in the configuration file: did you mean http-port?",
        expect.stringMatching(/^interval in the configuration file: /),
      ],
    });
  });

  test("take flags of earlier programs with a warning", () => {
    expect(parse(["--zap-log-level=debug", "--enable-http2"])).toMatchObject({
      ok: true,
      warnings: [
        "--zap-log-level has no effect and is ignored",
        "--enable-http2 has no effect and is ignored",
      ],
    });
  });
});

test("the help names every flag, its default and its variable", () => {
  const help = helpText(TABLE, { usage: "broker [flags]", summary: "Runs it.", envPrefix: "BROKER_" });
  expect(help).toContain("  --http-port=N\n      Port. Default: 8443. (BROKER_HTTP_PORT)");
  expect(help).toContain("  --leader-elect\n");
  expect(help).toContain("  --format=json|pretty\n");
});
