import { spawn } from "node:child_process";
import { constants } from "node:os";
import { basename, delimiter, join } from "node:path";

const SIGNALS = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);

const ARGUMENTS = [
  "ci",
  "--include=dev", // also where NODE_ENV=production: the tools and Node itself are dev dependencies
  "--engine-strict=false", // npm runs on the old Node here; what it installs runs on the Node it brings
  "--prefer-offline",
  "--fetch-retries=3", // without a network: fail after seconds, where npm's own default is over a minute
  "--fetch-retry-mintimeout=1000",
  "--fetch-retry-maxtimeout=5000",
  "--no-audit",
  "--no-fund",
  "--no-progress",
  "--loglevel=error",
];

/**
 * @typedef {object} NpmResult
 * @property {number} code exit code, as a shell would report it
 * @property {boolean} interrupted stopped by the user, so there is nothing to explain
 * @property {string} output all npm printed
 */

/**
 * Runs `npm ci` in `root`, quietly; a signal to this process is passed on and the child's end awaited.
 * @param {string} root
 * @returns {Promise<NpmResult>}
 */
export function runNpmCi(root) {
  const { command, leading } = npmCommand(process.env);
  const env = { ...process.env, PATH: withoutOwnBin(root, process.env["PATH"] ?? "") };
  return new Promise((resolve) => {
    const child = spawn(command, [...leading, ...ARGUMENTS], {
      cwd: root,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    let interrupted = false;
    const collect = (/** @type {Buffer} */ chunk) => {
      output += chunk.toString();
    };
    const passOn = (/** @type {NodeJS.Signals} */ signal) => {
      interrupted = true;
      child.kill(signal);
    };
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    for (const signal of SIGNALS) process.on(signal, passOn);
    child.on("error", (error) => resolve({ code: 127, interrupted, output: error.message }));
    child.on("close", (code, signal) => {
      for (const name of SIGNALS) process.off(name, passOn);
      resolve({ code: code ?? 128 + constants.signals[signal ?? "SIGTERM"], interrupted, output });
    });
  });
}

/**
 * What to do about a failed install, in one sentence.
 * @param {string} output
 */
export function hintFor(output) {
  return (
    HINTS.find(({ sign }) => sign.test(output))?.hint ??
    "See npm's message above; then run the same command again."
  );
}

const HINTS = [
  {
    sign: /^spawn \S+ ENOENT$/,
    hint: "npm was not found. Install Node.js 20 or later with npm; then run the same command again.",
  },
  {
    sign: /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT)\b/,
    hint: "npm could not reach its registry. Check the network and any proxy; then run the same command again.",
  },
  {
    sign: /\bEUSAGE\b/,
    hint: "package.json and package-lock.json do not match. Run `npm install` once and commit the lockfile.",
  },
  { sign: /\bENOSPC\b/, hint: "The disk is full. Free about 1 GB; then run the same command again." },
  {
    sign: /\b(EACCES|EPERM)\b/,
    hint: "A file may not be written. Check who owns this folder and npm's cache.",
  },
];

/**
 * The npm that started us, on the Node it runs on; else whatever `npm` is in PATH.
 * @param {NodeJS.ProcessEnv} env
 */
function npmCommand(env) {
  const cli = env["npm_execpath"];
  if (cli === undefined || basename(cli) !== "npm-cli.js") return { command: "npm", leading: [] };
  return { command: env["npm_node_execpath"] ?? process.execPath, leading: [cli] };
}

/**
 * `npm ci` deletes node_modules first, so nothing it starts may come from there.
 * @param {string} root
 * @param {string} path
 */
function withoutOwnBin(root, path) {
  const own = join(root, "node_modules", ".bin");
  return path
    .split(delimiter)
    .filter((folder) => folder !== own)
    .join(delimiter);
}
