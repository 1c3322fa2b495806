#!/usr/bin/env node
/**
 * Starts brokerctl on a Node that can run it. The program is TypeScript, which Node runs directly from version 24
 * on; a machine may have an older one first in its PATH, and `npm ci` brings the right one along.
 * This file itself must run on Node 20.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const NEEDED = 24;
const here = dirname(fileURLToPath(import.meta.url));

if (Number.parseInt(process.versions.node, 10) >= NEEDED) await import("../src/main.ts");
else runOn(findNode(here));

/** @param {string | undefined} node */
function runOn(node) {
  if (node === undefined) {
    process.stderr.write(
      `brokerctl: needs Node ${NEEDED} or later; this is ${process.version}. Run "npm ci" in the project's folder to install one.\n`,
    );
    process.exitCode = 1;
    return;
  }
  const program = spawn(node, [join(here, "../src/main.ts"), ...process.argv.slice(2)], { stdio: "inherit" });
  /** @type {NodeJS.Signals[]} */
  const signals = ["SIGTERM", "SIGHUP", "SIGINT"];
  for (const signal of signals) process.on(signal, () => passOn(program, signal));
  program.on("error", (error) => {
    process.stderr.write(`brokerctl: cannot start ${node}: ${error.message}\n`);
    process.exitCode = 1;
  });
  program.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  });
}

/**
 * Ctrl-C on a terminal reaches the program by itself: passing it on would be a second one.
 * @param {import("node:child_process").ChildProcess} program
 * @param {NodeJS.Signals} signal
 */
function passOn(program, signal) {
  if (signal !== "SIGINT" || !process.stdin.isTTY) program.kill(signal);
}

/**
 * The Node that npm installed in this folder or one above it.
 * @param {string} folder
 * @returns {string | undefined}
 */
function findNode(folder) {
  const candidate = join(folder, "node_modules", ".bin", "node");
  if (existsSync(candidate)) return candidate;
  const parent = dirname(folder);
  return parent === folder ? undefined : findNode(parent);
}
