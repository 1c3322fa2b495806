/**
 * Makes a fresh clone ready: installs dependencies when they are missing or the lockfile changed, else does
 * nothing in a few milliseconds. npm scripts run it first, on whatever Node the machine has (20 or later); what
 * follows in the same npm command then runs on the Node that was installed. `--stamp`, run by npm after an
 * install by hand, only records that the install is done.
 */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { takeInstallLock } from "./bootstrap/install-lock.mjs";
import { readInstallState, reasonToInstall, recordInstall } from "./bootstrap/install-state.mjs";
import { hintFor, runNpmCi } from "./bootstrap/npm-ci.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

if (process.argv.includes("--stamp")) recordInstall(root);
else if (reasonToInstall(readInstallState(root)) !== undefined) process.exitCode = await installOnce();

/** @returns {Promise<number>} exit code */
async function installOnce() {
  const release = await takeInstallLock(join(root, ".bootstrap.lock"), (holder) => {
    console.log(`Dependencies are being installed by another command (process ${holder}); waiting …`);
  });
  try {
    const reason = reasonToInstall(readInstallState(root)); // another command may have done it meanwhile
    return reason === undefined ? 0 : await install(reason);
  } finally {
    release();
  }
}

/** @param {string} reason */
async function install(reason) {
  console.log(`Installing dependencies (${reason}) …`);
  const { code, interrupted, output } = await runNpmCi(root);
  if (interrupted) return code === 0 ? 130 : code;
  if (code !== 0) {
    console.error(output.trimEnd());
    return fail(`Installing dependencies failed. ${hintFor(output)}`, code);
  }
  recordInstall(root);
  const problem = reasonToInstall(readInstallState(root));
  if (problem === undefined) return 0;
  return fail(
    `npm ci finished, but ${problem}. Does npm skip install scripts here? (npm config get ignore-scripts)`,
  );
}

/**
 * @param {string} message
 * @param {number} code
 */
function fail(message, code = 1) {
  console.error(message);
  return code;
}
