const MAX_LINES = 12;
const MAX_LENGTH = 1200;
// Colours and cursor movements of a terminal, and whatever else no status may hold.
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const ESCAPES = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b[@-_]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/** What a kubeconfig or a token looks like: people paste statuses into tickets. */
const SECRETS =
  /(eyJ[\w-]{10,}\.[\w-]+\.[\w-]*|(?:token|password|-data)["':= ]+[^\s"',]{8,}|(?<=\bbearer )\S{8,}|(?<=:\/\/)[^\s/@]+(?=@)|^[\w+/=]{40,}$)/gi;
const PRIVATE_KEYS = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*-----|$)/g;
const LEFT_OUT = "(left out)";

/** The last lines of what a program printed, fit for a status: the end says why it failed. */
export function shownOutput(output: string): string {
  const lines = output
    .replaceAll(PRIVATE_KEYS, LEFT_OUT)
    // A carriage return writes a spinner's line anew: only its last form counts.
    .split("\n")
    .map((line) => line.replace(/\r+$/, "").split("\r").at(-1) ?? "")
    .map((line) => line.replaceAll(ESCAPES, "").trim().replaceAll(SECRETS, LEFT_OUT))
    .filter((line) => line !== "");
  const last = lines.slice(-MAX_LINES).join("\n");
  if (last.length <= MAX_LENGTH) return last;
  return `… ${last.slice(-MAX_LENGTH).replace(/^\p{Surrogate}/u, "")}`;
}
