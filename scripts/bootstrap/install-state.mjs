// Runs on Node 20, before anything is installed: no dependencies, no TypeScript.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const STAMP = "node_modules/.install-stamp";
/** npm's own record of what it put into node_modules; written last. */
const INSTALLED = "node_modules/.package-lock.json";
/** The Node the project runs on. Its install script links it, so it is missing where scripts are off. */
const NODE = "node_modules/.bin/node";

/**
 * @typedef {object} InstallState
 * @property {string} wanted what should be installed: the lockfile's digest and the platform
 * @property {string | undefined} stamped what the last finished install was for
 * @property {string | undefined} missing something the last install brought that is no longer there
 */

/**
 * Why dependencies must be installed now, in words for the user; undefined when they are in place.
 * @param {InstallState} state
 * @returns {string | undefined}
 */
export function reasonToInstall({ wanted, stamped, missing }) {
  if (stamped === undefined) return "first run";
  if (stamped !== wanted) return "package-lock.json changed";
  if (missing !== undefined) return `${missing} is missing`;
  return undefined;
}

/**
 * @param {string} root
 * @returns {InstallState}
 */
export function readInstallState(root) {
  return { wanted: wantedIn(root), stamped: readIfThere(join(root, STAMP)), missing: firstMissing(root) };
}

/** @param {string} root */
export function recordInstall(root) {
  writeFileSync(join(root, STAMP), wantedIn(root));
}

/** @param {string} root */
function wantedIn(root) {
  const digest = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  return `${digest} ${process.platform}-${process.arch}`;
}

/** @param {string} root */
function firstMissing(root) {
  const installed = readIfThere(join(root, INSTALLED));
  if (installed === undefined) return INSTALLED;
  /** @type {(text: string) => { packages: Record<string, unknown> }} */
  const parseLockfile = JSON.parse;
  const lockfile = parseLockfile(installed);
  return [NODE, ...Object.keys(lockfile.packages)].find((path) => !existsSync(join(root, path)));
}

/** @param {string} path */
function readIfThere(path) {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}
