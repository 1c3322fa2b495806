import type { JsonObject } from "../json.ts";

/** The version whose behaviour is followed. */
export const SERVER_VERSION: JsonObject = {
  major: "1",
  minor: "32",
  gitVersion: "v1.32.0+kube-sim",
  gitCommit: "",
  gitTreeState: "clean",
  buildDate: "2026-01-01T00:00:00Z",
  goVersion: "none",
  compiler: "none",
  platform: "kube-sim/any",
};
