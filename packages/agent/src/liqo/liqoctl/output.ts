const MAX_LINES = 12;
const MAX_LENGTH = 1200;
// Terminal escapes and other characters that a status must not hold.
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const ESCAPES = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b[@-_]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/** Patterns of kubeconfigs and tokens: statuses are copied into tickets. */
const SECRETS =
  /(eyJ[\w-]{10,}\.[\w-]+\.[\w-]*|(?:token|password|-data)["':= ]+[^\s"',]{8,}|(?<=\bbearer )\S{8,}|(?<=:\/\/)[^\s/@]+(?=@)|^[\w+/=]{40,}$)/gi;
const PRIVATE_KEYS = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*-----|$)/g;
const LEFT_OUT = "(left out)";

/** The last lines of a program's output, safe for a status. */
export function shownOutput(output: string): string {
  const lines = output
    .replaceAll(PRIVATE_KEYS, LEFT_OUT)
    // A carriage return rewrites a spinner's line: only the last text counts.
    .split("\n")
    .map((line) => line.replace(/\r+$/, "").split("\r").at(-1) ?? "")
    .map((line) => line.replaceAll(ESCAPES, "").trim().replaceAll(SECRETS, LEFT_OUT))
    .filter((line) => line !== "");
  const last = lines.slice(-MAX_LINES).join("\n");
  if (last.length <= MAX_LENGTH) return last;
  return `… ${last.slice(-MAX_LENGTH).replace(/^\p{Surrogate}/u, "")}`;
}
