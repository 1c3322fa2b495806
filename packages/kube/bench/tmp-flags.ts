import { testCertificates } from "@resource-broker/testkit";
import { rolldown } from "rolldown";
import { run } from "./run.ts";
const build = await rolldown({ input: "/work/main/packages/kube/bench/follower-process.ts", platform: "node" });
await build.write({ file: "/tmp/k2/follower.mjs", format: "esm", codeSplitting: false });
import { readFileSync, writeFileSync } from "node:fs";
writeFileSync("/tmp/k2/follower.mjs", readFileSync("/tmp/k2/follower.mjs","utf8").replace(`tell("synced", report());`, `const show=(w)=>{const m=process.memoryUsage();console.error(w,Object.entries(m).map(([k,v])=>k+"="+(v/1e6).toFixed(1)).join(" "))};show("synced");if(globalThis.gc){gc();show("after gc");}tell("synced", report());`));
for (const flags of process.argv.slice(2)) {
  const f = await run({ size: { nodes: 2000, pods: 60000 }, encoding: "protobuf", program: "/tmp/k2/follower.mjs", nodeFlags: flags.split(" ").filter(Boolean), certificates: await testCertificates(), cores: { server: 0, follower: 1 }, changesPerSecond: 100, changeMs: 2000, settleMs: 1000 });
  console.log(flags, JSON.stringify(f, (k, v) => typeof v === "number" ? Math.round(v * 1000) / 1000 : v));
}
