import { OUTPUT } from "../output/output-option.ts";

/** Light on purpose: the help is made from this. */
export const ISSUE_OPTIONS = {
  out: {
    kind: "text",
    value: "file",
    summary: "write the kubeconfig there, readable by its owner only; without it, to standard output",
  },
  duration: {
    kind: "duration",
    value: "time",
    summary: "how long the token is valid (default: 8760h); the API server may grant less",
  },
  "long-lived": {
    kind: "flag",
    summary: "a token that does not expire, stored in a Secret",
  },
  server: {
    kind: "text",
    value: "url",
    summary: "where the agent reaches the API server, if not where you do",
  },
  "certificate-authority": {
    kind: "text",
    value: "file",
    summary: "who signed the API server's certificate, if not the one in your kubeconfig",
  },
  revoke: {
    kind: "flag",
    summary: "remove the access instead: every kubeconfig of this cluster stops working",
  },
  namespace: {
    kind: "text",
    short: "n",
    value: "name",
    summary: "the broker's --http-namespace; without it, that of your context",
  },
  kubeconfig: {
    kind: "text",
    value: "file",
    summary: "your own, for the broker's cluster; without it, as kubectl finds it",
  },
  context: { kind: "text", value: "name", summary: "which context of it; without it, the current one" },
  output: OUTPUT,
} as const;
